/* null.c: an operating system that provides nothing: the template for a port.
 *
 * To port vitals, copy this folder, name the copy in meson_options.txt and replace one function
 * after the other. Functions that are left as they are return "unsupported", and the rooms above go
 * on without them. Only ISO C is used. Thread rule: as in the headers of src/os. */
#include "os/attach.h"
#include "os/count.h"
#include "os/ends.h"
#include "os/launch.h"
#include "os/marks.h"
#include "os/os.h"
#include "os/shared.h"
#include "util/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

/* A function that cannot be provided, by its declaration. */
#define RETURNS(type, declaration, value) \
    type declaration                      \
    {                                     \
        return value;                     \
    }
#define SETS(type, declaration, statement, value) \
    type declaration                              \
    {                                             \
        statement;                                \
        return value;                             \
    }
#define UNSUPPORTED(declaration) RETURNS(int, declaration, -ENOTSUP)
#define DOES(declaration, statement) \
    void declaration                 \
    {                                \
        statement;                   \
    }
#define DOES_NOTHING(declaration) DOES(declaration, (void)0)

/* ---- time, from ISO C ---- */

static uint64_t now_ns(void *data)
{
    struct timespec now;
    if (timespec_get(&now, TIME_UTC) != TIME_UTC)
        return 0;
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static int wait_until(void *data, int descriptor, uint64_t deadline_ns)
{
    if (descriptor >= 0)
        return -ENOTSUP;
    for (uint64_t now; (now = now_ns(NULL)) < deadline_ns;) {
        uint64_t left = deadline_ns - now;
        struct timespec pause = {.tv_sec = 1};
        if (left < NS_PER_SECOND)
            pause = (struct timespec){.tv_nsec = (long)left};
        thrd_sleep(&pause, NULL);
    }
    return 0;
}

const vitals_clock *os_clock(void)
{
    static const vitals_clock clock = {
        .size = sizeof(clock),
        .monotonic_ns = now_ns,
        .boottime_ns = now_ns,
        .realtime_ns = now_ns,
        .wait_until = wait_until,
    };
    return &clock;
}

/* ---- the roots ---- */

int os_open(struct os *os, const vitals_options *options, vitals_error *error)
{
    *os = (struct os){
        .proc = -1,
        .sys = -1,
        .dev = -1,
        .etc = -1,
        .run = -1,
        .share = -1,
        .var = -1,
        .ticks_per_second = 1,
        .page_bytes = 1,
        .clock = options->clock != NULL ? *options->clock : *os_clock(),
        .trace = options->trace,
        .trace_data = options->trace_data,
    };
    return 0;
}

DOES_NOTHING(os_close(struct os *os))
RETURNS(size_t, os_cpus_usable(const struct os *os), 1)
RETURNS(uint64_t, os_descriptor_limit(void), 0)
RETURNS(bool, os_hides_processes(const struct os *os), false)

void os_trace(const struct os *os, const char *format, ...)
{
    if (os->trace == NULL)
        return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    os->trace(os->trace_data, line);
}

RETURNS(vitals_availability, os_availability(int error), VITALS_UNSUPPORTED)
DOES(os_read_origin(const struct os *os, struct os_origin *out),
     *out = (struct os_origin){.host = "unknown"})

/* ---- events ---- */

UNSUPPORTED(os_event_new(void))
DOES_NOTHING(os_event_set(int event))
DOES_NOTHING(os_event_clear(int event))
DOES_NOTHING(os_close_descriptor(int descriptor))

/* ---- the machine ---- */

/* Marks every requested metric of a table as unsupported. */
static void set_unsupported(const struct metric_set *wanted, vitals_table entity,
                            struct values *values)
{
    for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
        vitals_metric metric = metric_of(entity, number);
        if (metric_set_has(wanted, metric))
            values_set(values, metric, value_missing(VITALS_UNSUPPORTED));
    }
}

DOES(os_host_init(struct os_host *host), *host = (struct os_host){.stat = -1})
DOES_NOTHING(os_host_done(struct os_host *host))

void os_host_read(struct os_host *host, const struct os *os, const struct metric_set *wanted,
                  struct os_machine *out)
{
    *out = (struct os_machine){.disks.state = VITALS_UNSUPPORTED,
                               .networks.state = VITALS_UNSUPPORTED};
    set_unsupported(wanted, VITALS_TABLE_HOST, &out->values);
}

DOES_NOTHING(os_machine_done(struct os_machine *machine))

void os_disk_kind(const struct os *os, const char *name, const char *disk, bool *partition,
                  struct os_device_kind *out)
{
    *partition = false;
    *out = (struct os_device_kind){"disk", 1};
}

void os_network_kind(const struct os *os, const char *name, struct os_device_kind *out)
{
    *out = (struct os_device_kind){"ethernet", 1};
}

DOES_NOTHING(os_read_machine(const struct os *os, struct row_batch *out))

void os_read_kernel(const struct os *os, char *out, size_t capacity)
{
    if (capacity > 0)
        out[0] = '\0';
}

DOES_NOTHING(os_read_own_cgroup(const struct os *os, const struct metric_set *wanted,
                                struct values *machine))

struct os_groups {
    char nothing;
};

struct os_groups *os_groups_new(void)
{
    static struct os_groups none;
    return &none;
}

DOES_NOTHING(os_groups_free(struct os_groups *groups))
DOES_NOTHING(os_groups_find(struct os_groups *groups, const struct os *os))
DOES_NOTHING(os_groups_metrics(const struct os_groups *groups, const struct os *os,
                               struct span path, struct row_batch *out))
UNSUPPORTED(os_read_table(const struct os *os, vitals_table entity, struct row_batch *out))
UNSUPPORTED(os_read_filesystem_of(const struct os *os, const char *path, struct row_batch *out))
UNSUPPORTED(os_read_filesystems(const struct os *os, const struct os_gate *gate,
                                struct row_batch *out))

/* ---- folders of /var ---- */

RETURNS(int, os_var_changed(const struct os *os, const char *path, uint64_t *changed_ns), -ENOENT)
RETURNS(int, os_var_list(const struct os *os, const char *path, os_var_visit *visit, void *data),
        -ENOENT)
RETURNS(int, os_job_files_open(const struct os *os, enum os_job_files where, const char *path),
        -ENOENT)
SETS(int, os_note_read(int folder, const char *name, char *out, size_t capacity, size_t *size),
     *size = 0, -ENOENT)

/* ---- files of /usr/share and /sys ---- */

RETURNS(int,
        os_share_lines(const struct os *os, const char *path,
                       void (*take)(struct span line, void *data), void *data),
        -ENOENT)
SETS(int, os_sys_text(const struct os *os, const char *path, char *out, size_t capacity),
     out[0] = '\0', -ENOENT)
SETS(int,
     os_sys_bytes(const struct os *os, const char *path, void *out, size_t capacity, size_t *size),
     *size = 0, -ENOENT)
RETURNS(int, os_sys_u64(const struct os *os, const char *path, uint64_t *out), -ENOENT)
RETURNS(int, os_sys_i64(const struct os *os, const char *path, int64_t *out), -ENOENT)
RETURNS(bool, os_sys_exists(const struct os *os, const char *path), false)
RETURNS(int, os_sys_is_kept(const struct os *os, const char *root, const char *path), -ENOENT)
RETURNS(bool, os_sys_hides(const struct os *os, int error), true)
DOES(os_sys_names(struct os_sys_names *names, const struct os *os, const char *format, ...),
     names->result = -ENOENT)
RETURNS(const char *, os_sys_next(struct os_sys_names *names), NULL)
SETS(int, os_sys_link(const struct os *os, const char *path, char *out, size_t capacity),
     out[0] = '\0', -ENOENT)
SETS(int, os_sys_real(const struct os *os, const char *path, char *out, size_t capacity),
     out[0] = '\0', -ENOENT)

/* ---- performance counters of devices ---- */

UNSUPPORTED(os_perf_add(const struct os *os, struct os_perf *perf, uint32_t type, unsigned cpu,
                        const struct os_perf_event *event))
RETURNS(int, os_perf_read(const struct os_perf *perf, uint64_t *values), -ENODATA)
DOES(os_perf_close(struct os_perf *perf), perf->count = 0)

/* ---- DRM devices ---- */

UNSUPPORTED(os_drm_open(const struct os *os, const char *name, uint32_t major, uint32_t minor))
DOES_NOTHING(os_drm_close(int descriptor))
RETURNS(bool, os_drm_is_ours(int64_t pid, uint64_t descriptor), false)
UNSUPPORTED(os_drm_ask(int descriptor, unsigned command, void *argument, size_t size))

/* ---- open DRM and accel devices ---- */

SETS(int, os_gpu_opens_read(const struct os *os, int64_t pid, struct os_gpu_opens *out),
     out->count = 0, -ENOTSUP)
RETURNS(uint64_t, os_descriptor_count(const struct os *os, int64_t pid, struct os_gpu_opens *opens),
        0)
DOES_NOTHING(os_gpu_opens_done(struct os_gpu_opens *opens))
SETS(int,
     os_gpu_fdinfo(const struct os *os, int64_t pid, uint64_t descriptor, char *out,
                   size_t capacity, size_t *size),
     *size = 0, -ENOTSUP)

/* ---- processes ---- */

UNSUPPORTED(os_list_and_learn(const struct os *os, struct os_pids *pids,
                              struct os_process_count *count))
RETURNS(bool, os_count_processes(const struct os *os, struct os_process_count *count, size_t *out),
        false)
SETS(int, os_list_processes(const struct os *os, struct os_pids *pids), pids->count = 0, -ENOTSUP)
UNSUPPORTED(os_task_iterator_open(const struct os *os, struct os_task_iterator **out))
UNSUPPORTED(os_task_iterator_read(struct os_task_iterator *iterator,
                                  const struct os_task_digest **items, size_t *count))
DOES_NOTHING(os_task_iterator_close(struct os_task_iterator *iterator))
DOES_NOTHING(os_pids_done(struct os_pids *pids))
UNSUPPORTED(os_pids_append(struct os_pids *pids, int64_t pid))
DOES_NOTHING(os_pids_settle(struct os_pids *pids))
UNSUPPORTED(os_list_group(int folder, struct os_pids *pids))
UNSUPPORTED(os_list_children(const struct os *os, int64_t pid, uint64_t threads,
                             struct os_pids *pids))
RETURNS(int64_t, os_read_kept(int descriptor, char *out, size_t capacity), -ENOTSUP)
RETURNS(int64_t, os_last_pid(const struct os *os, int *kept), -1)
UNSUPPORTED(os_process_open(const struct os *os, int64_t pid, bool statm,
                            struct os_process *process))
UNSUPPORTED(os_thread_open(const struct os *os, int64_t pid, int64_t tid,
                           struct os_process *thread))
UNSUPPORTED(os_process_open_statm(const struct os *os, struct os_process *process))
DOES_NOTHING(os_process_close(struct os_process *process))
UNSUPPORTED(os_process_stat(const struct os_process *process, char text[static OS_STAT_TEXT],
                            struct os_stat *out))
UNSUPPORTED(os_stat_of(const struct os *os, int64_t pid, char text[static OS_STAT_TEXT],
                       struct os_stat *out))
SETS(size_t,
     os_terminal_name(const struct os *os, int64_t device, char out[static OS_TERMINAL_TEXT]),
     out[0] = '\0', 0)
UNSUPPORTED(os_process_statm(const struct os_process *process, struct os_statm *out))
UNSUPPORTED(os_process_memory(const struct os *os, int64_t pid, uint64_t *virtual_bytes,
                              struct os_statm *statm))
UNSUPPORTED(os_process_cpu_ns(const struct os *os, int64_t pid, uint64_t *ns))
RETURNS(bool,
        os_process_has_device(const struct os *os, int64_t pid, uint32_t major, uint32_t minor),
        false)
UNSUPPORTED(os_process_file(const struct os *os, int64_t pid, const char *name, size_t limit,
                            struct buffer *out, bool *cut))

/* ---- texts of /proc ---- */

RETURNS(bool, os_parse_stat(const char *bytes, size_t size, struct os_stat *out), false)
RETURNS(bool, os_parse_stat_exit(const char *bytes, size_t size, int *status), false)
RETURNS(bool,
        os_parse_status(const char *bytes, size_t size, unsigned wanted, struct os_status *out),
        false)
RETURNS(bool, os_parse_io(const char *bytes, size_t size, struct os_io *out), false)
RETURNS(bool, os_parse_statm(const char *bytes, size_t size, struct os_statm *out), false)

struct span os_parse_cgroup(const char *bytes, size_t size)
{
    return (struct span){.bytes = bytes};
}

RETURNS(bool, os_process_metrics(const struct os *os, int64_t pid, struct row_batch *out), true)
UNSUPPORTED(os_process_table(const struct os *os, int64_t pid, vitals_table entity,
                             struct row_batch *out))
RETURNS(int, os_user_name(uint64_t uid, char *out, size_t capacity), -ENOENT)
RETURNS(int, os_group_name(uint64_t gid, char *out, size_t capacity), -ENOENT)

/* ---- handles on processes ---- */

UNSUPPORTED(os_pidfd_open(const struct os *os, int64_t pid))
UNSUPPORTED(os_compare_maps(const struct os *os, int64_t first, int64_t second))
UNSUPPORTED(os_pidfd_signal(int pidfd, int signal))
UNSUPPORTED(os_pidfd_ended(int pidfd))
DOES(os_pidfd_exit(const struct os *os, int pidfd, const struct os_process *process, bool reap,
                   struct os_exit *out),
     *out = (struct os_exit){.state = VITALS_UNSUPPORTED})

UNSUPPORTED(os_watch_new(void))
UNSUPPORTED(os_watch_add(int watch, int descriptor, uint64_t tag))
DOES_NOTHING(os_watch_remove(int watch, int descriptor))
UNSUPPORTED(os_watch_ready(int watch, uint64_t *tags, size_t capacity))
UNSUPPORTED(os_process_set_nice(const struct os *os, int64_t pid, int nice))
UNSUPPORTED(os_process_set_io_priority(const struct os *os, int64_t pid, unsigned io_class,
                                       unsigned level))
UNSUPPORTED(os_process_set_affinity(const struct os *os, int64_t pid, const unsigned *cpus,
                                    size_t count, struct os_affinity *why))
UNSUPPORTED(os_process_set_limit(const struct os *os, int64_t pid, const char *name, uint64_t soft,
                                 uint64_t hard))
RETURNS(const char *, os_limit_name(size_t index), NULL)

uint64_t os_random(const struct os *os)
{
    return os->clock.realtime_ns(os->clock.data);
}

int os_proc_text(const struct os *os, const char *path, char *out, size_t capacity)
{
    if (capacity > 0)
        out[0] = '\0';
    return -ENOTSUP;
}

UNSUPPORTED(os_dev_access(const struct os *os, const char *path))

/* ---- launching (os/launch.h) ---- */

const int os_signal_continue = 0;

RETURNS(int64_t, os_self(void), 0)
RETURNS(uint64_t, os_own_peak_bytes(void), 0)
UNSUPPORTED(os_become_subreaper(bool *before))
DOES_NOTHING(os_end_subreaper(void))
bool os_is_single_thread(void)
{
    return true;
}

UNSUPPORTED(os_channel(int ends[static 2]))
UNSUPPORTED(os_channel_send(int end, const void *message, size_t size))
RETURNS(int64_t, os_channel_receive(int end, void *message, size_t capacity), -ENOTSUP)
UNSUPPORTED(os_signals_take(struct os_signals *signals))
DOES_NOTHING(os_signals_restore(struct os_signals *signals))
DOES_NOTHING(os_signals_missed(struct os_signals *signals))
RETURNS(int, os_signals_next(struct os_signals *signals, int64_t command, bool *forward), 0)
RETURNS(bool, os_child_stops_us(const struct os_signals *signals, int64_t pid, int signal), false)
RETURNS(bool, os_signal_is_end(int signal), false)
DOES_NOTHING(os_stop_self(struct os_signals *signals, int signal))
UNSUPPORTED(os_spawn(const struct os_command *command, struct os_child *child))
RETURNS(int, os_spawn_go(struct os_child *child), ENOTSUP)
UNSUPPORTED(os_fork_helper(const struct os_helper *helper, int64_t *pid, int *pidfd))
RETURNS(enum os_child_change, os_child_next(int64_t *pid), OS_CHILD_LAST)
RETURNS(bool, os_child_is_none(void), false)
RETURNS(bool, os_child_is_unreaped(int pidfd), false)
RETURNS(enum os_child_change, os_reap(int64_t pid, struct os_reaped *out), OS_CHILD_NONE)
DOES_NOTHING(os_reap_one(int64_t pid))
RETURNS(int64_t, os_children(const struct os *os, int64_t *pids, size_t capacity), 0)
DOES_NOTHING(os_child_done(struct os_child *child))
UNSUPPORTED(os_child_signal(int64_t pid, int pidfd, int signal))
RETURNS(bool, os_child_goes_on(int64_t pid, int signal), false)

/* ---- marks, tracked cgroups, ends, accounting ---- */

SETS(int, os_marks_make(struct os_marks *out, const char *runtime_folder),
     *out = (struct os_marks){.held = -1}, -ENOTSUP)
SETS(int, os_marks_use(struct os_marks *out, const char *path),
     *out = (struct os_marks){.held = -1}, -ENOTSUP)
DOES_NOTHING(os_marks_tidy(const struct os_marks *marks))
DOES_NOTHING(os_marks_remove(struct os_marks *marks))
RETURNS(const char **, os_marks_environment(const struct os_marks *marks, const char *const *base),
        NULL)

int os_marks_open(const struct os_marks *marks, struct os_marks_reader *out)
{
    *out = (struct os_marks_reader){.file = -1, .watch = -1};
    return -ENOTSUP;
}

DOES_NOTHING(os_marks_close(struct os_marks_reader *reader))

struct os_marks_reading os_marks_read(struct os_marks_reader *reader, char *out, size_t capacity)
{
    return (struct os_marks_reading){.size = -ENOTSUP};
}

RETURNS(int, os_marks_watch(struct os_marks_reader *reader), -1)
SETS(int, os_attach(const struct os *os, int64_t pid, struct os_tracked_cgroup **out), *out = NULL,
     0)
DOES_NOTHING(os_tracked_cgroup_free(struct os_tracked_cgroup *attached))
RETURNS(size_t, os_tracked_cgroup_count(const struct os_tracked_cgroup *attached), 0)
RETURNS(const char *,
        os_tracked_cgroup_name(const struct os_tracked_cgroup *attached, size_t which), "")
RETURNS(int,
        os_tracked_cgroup_list(const struct os_tracked_cgroup *attached, size_t which,
                               struct os_pids *pids),
        0)
RETURNS(bool,
        os_tracked_cgroup_holds(struct os_tracked_cgroup *attached, size_t which, int64_t pid),
        false)
DOES_NOTHING(os_tracked_cgroup_read(const struct os_tracked_cgroup *attached, size_t which,
                                    struct counted *out))
RETURNS(int64_t, os_parent_of(const struct os *os, int64_t pid), 0)
UNSUPPORTED(os_ends_open(const struct os *os, const struct os_trees *trees, struct os_ends **out))
DOES_NOTHING(os_ends_free(struct os_ends *ends))
DOES_NOTHING(os_ends_drain(struct os_ends *ends))
RETURNS(int, os_ends_news(const struct os_ends *ends), -1)
DOES_NOTHING(os_ends_read(struct os_ends *ends, struct counted *out))
RETURNS(const char *, os_ends_names(const struct os_ends *ends), "")
UNSUPPORTED(os_self_folder(char *out, size_t capacity))
UNSUPPORTED(os_self_user(const struct os *os, char *out, size_t capacity))
RETURNS(void *, os_shared_new(size_t size), NULL)
DOES_NOTHING(os_shared_free(void *memory, size_t size))
UNSUPPORTED(os_replace_file(const char *path, const void *bytes, size_t size))

const struct os_counter *const os_counters[] = {NULL};

void *os_count_shared_new(void)
{
    return memory_alloc(1);
}
