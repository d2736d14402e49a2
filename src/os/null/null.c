/* An operating system that tells nothing: what a port begins with.
 *
 * Copy this folder, name it in meson_options.txt, and replace one function after the other; what is
 * still as here answers "unsupported", and everything above goes on. Only ISO C is used, so that it
 * compiles wherever vitals does. It never allocates and keeps no state.
 * Thread rule: as os.h says. */
#include "os/os.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

/* ---- time: the one thing that ISO C knows ---- */

static uint64_t now_ns(void *data)
{
    (void)data;
    struct timespec now;
    if (timespec_get(&now, TIME_UTC) != TIME_UTC)
        return 0;
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static int wait_until(void *data, int descriptor, uint64_t deadline_ns)
{
    (void)data;
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

/* ---- the world: opens, and holds nothing ---- */

int os_open(struct os *os, const vitals_options *options, vitals_error *error)
{
    (void)error;
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

void os_close(struct os *os)
{
    (void)os;
}

size_t os_cpus_usable(const struct os *os)
{
    (void)os;
    return 1;
}

uint64_t os_descriptor_limit(void)
{
    return 0;
}

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

vitals_availability os_availability(int error)
{
    (void)error;
    return VITALS_UNSUPPORTED;
}

void os_read_origin(const struct os *os, struct os_origin *out)
{
    (void)os;
    *out = (struct os_origin){.host = "unknown"};
}

/* ---- waking: without descriptors nobody can be waited for ---- */

int os_event_new(void)
{
    return -ENOTSUP;
}

void os_event_set(int event)
{
    (void)event;
}

void os_event_clear(int event)
{
    (void)event;
}

void os_close_descriptor(int descriptor)
{
    (void)descriptor;
}

/* ---- the machine ---- */

/* Every wanted metric of a table gets its reason. */
static void set_unsupported(const struct metric_set *wanted, vitals_entity entity,
                            struct values *values)
{
    for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
        vitals_metric metric = metric_of(entity, number);
        if (metric_set_has(wanted, metric))
            values_set(values, metric, value_missing(VITALS_UNSUPPORTED));
    }
}

void os_host_init(struct os_host *host)
{
    *host = (struct os_host){.stat = -1};
}

void os_host_done(struct os_host *host)
{
    (void)host;
}

void os_host_read(struct os_host *host, const struct os *os, const struct metric_set *wanted,
                  struct os_machine *out)
{
    (void)host;
    (void)os;
    *out = (struct os_machine){.disks.state = VITALS_UNSUPPORTED,
                               .networks.state = VITALS_UNSUPPORTED};
    set_unsupported(wanted, VITALS_HOST, &out->values);
}

void os_machine_done(struct os_machine *machine)
{
    (void)machine;
}

void os_disk_kind(const struct os *os, const char *name, const char *disk, bool *partition,
                  struct os_device_kind *out)
{
    (void)os;
    (void)name;
    (void)disk;
    *partition = false;
    *out = (struct os_device_kind){"disk", 1};
}

void os_network_kind(const struct os *os, const char *name, struct os_device_kind *out)
{
    (void)os;
    (void)name;
    *out = (struct os_device_kind){"ethernet", 1};
}

void os_read_machine(const struct os *os, struct row_batch *out)
{
    (void)os;
    (void)out;
}

void os_read_kernel(const struct os *os, char *out, size_t capacity)
{
    (void)os;
    if (capacity > 0)
        out[0] = '\0';
}

void os_read_own_cgroup(const struct os *os, const struct metric_set *wanted,
                        struct values *machine)
{
    (void)os;
    (void)wanted;
    (void)machine; // os_host_read has already said why
}

struct os_groups {
    char nothing;
};

struct os_groups *os_groups_new(void)
{
    static struct os_groups none;
    return &none;
}

void os_groups_free(struct os_groups *groups)
{
    (void)groups;
}

void os_groups_find(struct os_groups *groups, const struct os *os)
{
    (void)groups, (void)os;
}

void os_groups_metrics(const struct os_groups *groups, const struct os *os, struct span path,
                       struct row_batch *out)
{
    (void)groups, (void)os, (void)path, (void)out;
}

int os_read_table(const struct os *os, vitals_entity entity, struct row_batch *out)
{
    (void)os;
    (void)entity;
    (void)out;
    return -ENOTSUP;
}

int os_read_filesystems(const struct os *os, const struct os_gate *gate, struct row_batch *out)
{
    (void)os;
    (void)gate;
    (void)out;
    return -ENOTSUP;
}

/* ---- folders of /var: there are none ---- */

int os_var_changed(const struct os *os, const char *path, uint64_t *changed_ns)
{
    (void)os, (void)path, (void)changed_ns;
    return -ENOENT;
}

int os_var_list(const struct os *os, const char *path, os_var_visit *visit, void *data)
{
    (void)os, (void)path, (void)visit, (void)data;
    return -ENOENT;
}

int os_job_files_open(const struct os *os, enum os_job_files where, const char *path)
{
    (void)os, (void)where, (void)path;
    return -ENOENT;
}

int os_note_read(int folder, const char *name, char *out, size_t capacity, size_t *size)
{
    (void)folder, (void)name, (void)out, (void)capacity;
    *size = 0;
    return -ENOENT;
}

/* ---- files of /usr/share and /sys: there are none ---- */

int os_share_lines(const struct os *os, const char *path,
                   void (*take)(struct span line, void *data), void *data)
{
    (void)os, (void)path, (void)take, (void)data;
    return -ENOENT;
}

int os_sys_text(const struct os *os, const char *path, char *out, size_t capacity)
{
    (void)os, (void)path, (void)capacity;
    out[0] = '\0';
    return -ENOENT;
}

int os_sys_bytes(const struct os *os, const char *path, void *out, size_t capacity, size_t *size)
{
    (void)os, (void)path, (void)out, (void)capacity;
    *size = 0;
    return -ENOENT;
}

int os_sys_u64(const struct os *os, const char *path, uint64_t *out)
{
    (void)os, (void)path, (void)out;
    return -ENOENT;
}

int os_sys_i64(const struct os *os, const char *path, int64_t *out)
{
    (void)os, (void)path, (void)out;
    return -ENOENT;
}

bool os_sys_exists(const struct os *os, const char *path)
{
    (void)os, (void)path;
    return false;
}

int os_sys_list(const struct os *os, const char *path, os_sys_visit *visit, void *data)
{
    (void)os, (void)path, (void)visit, (void)data;
    return -ENOENT;
}

int os_sys_link(const struct os *os, const char *path, char *out, size_t capacity)
{
    (void)os, (void)path, (void)capacity;
    out[0] = '\0';
    return -ENOENT;
}

int os_sys_real(const struct os *os, const char *path, char *out, size_t capacity)
{
    (void)os, (void)path, (void)capacity;
    out[0] = '\0';
    return -ENOENT;
}

/* ---- counters of devices: none ---- */

int os_perf_add(const struct os *os, struct os_perf *perf, uint32_t type, unsigned cpu,
                const struct os_perf_event *event)
{
    (void)os, (void)perf, (void)type, (void)cpu, (void)event;
    return -ENOTSUP;
}

int os_perf_read(const struct os_perf *perf, uint64_t *values)
{
    (void)perf, (void)values;
    return -ENODATA;
}

void os_perf_close(struct os_perf *perf)
{
    perf->count = 0;
}

/* ---- DRM devices: none ---- */

int os_drm_open(const struct os *os, const char *name, uint32_t major, uint32_t minor)
{
    (void)os, (void)name, (void)major, (void)minor;
    return -ENOTSUP;
}

void os_drm_close(int descriptor)
{
    (void)descriptor;
}

bool os_drm_is_ours(int64_t pid, uint64_t descriptor)
{
    (void)pid, (void)descriptor;
    return false;
}

int os_drm_ask(int descriptor, unsigned command, void *argument, size_t size)
{
    (void)descriptor, (void)command, (void)argument, (void)size;
    return -ENOTSUP;
}

/* ---- who has a DRM or accel device open: nobody ---- */

int os_gpu_opens_read(const struct os *os, int64_t pid, struct os_gpu_opens *out)
{
    (void)os, (void)pid;
    out->count = 0;
    return -ENOTSUP;
}

uint64_t os_descriptor_count(const struct os *os, int64_t pid, struct os_gpu_opens *opens)
{
    (void)os, (void)pid, (void)opens;
    return 0;
}

void os_gpu_opens_done(struct os_gpu_opens *opens)
{
    (void)opens;
}

int os_gpu_fdinfo(const struct os *os, int64_t pid, uint64_t descriptor, char *out, size_t capacity,
                  size_t *size)
{
    (void)os, (void)pid, (void)descriptor, (void)out, (void)capacity;
    *size = 0;
    return -ENOTSUP;
}

/* ---- processes: none to be seen ---- */

int os_list_processes(const struct os *os, struct os_pids *pids)
{
    (void)os;
    pids->count = 0;
    return -ENOTSUP;
}

int os_task_iterator_open(const struct os *os, struct os_task_iterator **out)
{
    (void)os;
    (void)out;
    return -ENOTSUP;
}

int os_task_iterator_read(struct os_task_iterator *iterator, const struct os_task_digest **items,
                          size_t *count)
{
    (void)iterator;
    (void)items;
    (void)count;
    return -ENOTSUP;
}

void os_task_iterator_close(struct os_task_iterator *iterator)
{
    (void)iterator;
}

void os_pids_done(struct os_pids *pids)
{
    (void)pids;
}

int os_list_numbers(const struct os *os, const char *folder, struct os_pids *pids)
{
    (void)os;
    (void)folder;
    (void)pids;
    return -ENOTSUP;
}

int os_pids_append(struct os_pids *pids, int64_t pid)
{
    (void)pids;
    (void)pid;
    return -ENOTSUP;
}

void os_pids_settle(struct os_pids *pids)
{
    (void)pids;
}

int os_list_group(int folder, struct os_pids *pids)
{
    (void)folder;
    (void)pids;
    return -ENOTSUP;
}

int os_list_children(const struct os *os, int64_t pid, uint64_t threads, struct os_pids *pids)
{
    (void)os;
    (void)pid;
    (void)threads;
    (void)pids;
    return -ENOTSUP;
}

int64_t os_read_kept(int descriptor, char *out, size_t capacity)
{
    (void)descriptor;
    (void)out;
    (void)capacity;
    return -ENOTSUP;
}

int64_t os_last_pid(const struct os *os, int *kept)
{
    (void)os;
    (void)kept;
    return -1;
}

int os_process_open(const struct os *os, int64_t pid, bool statm, struct os_process *process)
{
    (void)os;
    (void)pid;
    (void)statm;
    (void)process;
    return -ENOTSUP;
}

int os_process_open_statm(const struct os *os, struct os_process *process)
{
    (void)os;
    (void)process;
    return -ENOTSUP;
}

void os_process_close(struct os_process *process)
{
    (void)process;
}

int os_process_stat(const struct os_process *process, char text[static OS_STAT_TEXT],
                    struct os_stat *out)
{
    (void)process;
    (void)text;
    (void)out;
    return -ENOTSUP;
}

size_t os_terminal_name(const struct os *os, int64_t device, char out[static OS_TERMINAL_TEXT])
{
    (void)os;
    (void)device;
    out[0] = '\0';
    return 0;
}

int os_process_statm(const struct os_process *process, struct os_statm *out)
{
    (void)process;
    (void)out;
    return -ENOTSUP;
}

int os_process_memory(const struct os *os, int64_t pid, uint64_t *virtual_bytes,
                      struct os_statm *statm)
{
    (void)os;
    (void)pid;
    (void)virtual_bytes;
    (void)statm;
    return -ENOTSUP;
}

int os_process_cpu_ns(const struct os *os, int64_t pid, uint64_t *ns)
{
    (void)os;
    (void)pid;
    (void)ns;
    return -ENOTSUP;
}

bool os_process_has_device(const struct os *os, int64_t pid, uint32_t major, uint32_t minor)
{
    (void)os, (void)pid, (void)major, (void)minor;
    return false;
}

int os_process_file(const struct os *os, int64_t pid, const char *name, size_t limit,
                    struct buffer *out, bool *cut)
{
    (void)os;
    (void)pid;
    (void)name;
    (void)limit;
    (void)out;
    (void)cut;
    return -ENOTSUP;
}

/* ---- the texts of /proc: another system has its own ---- */

bool os_parse_stat(const char *bytes, size_t size, struct os_stat *out)
{
    (void)bytes;
    (void)size;
    (void)out;
    return false;
}

bool os_parse_stat_exit(const char *bytes, size_t size, int *status)
{
    (void)bytes;
    (void)size;
    (void)status;
    return false;
}

bool os_parse_status(const char *bytes, size_t size, struct os_status *out)
{
    (void)bytes;
    (void)size;
    (void)out;
    return false;
}

bool os_parse_io(const char *bytes, size_t size, struct os_io *out)
{
    (void)bytes;
    (void)size;
    (void)out;
    return false;
}

bool os_parse_statm(const char *bytes, size_t size, struct os_statm *out)
{
    (void)bytes;
    (void)size;
    (void)out;
    return false;
}

struct span os_parse_cgroup(const char *bytes, size_t size)
{
    (void)size;
    return (struct span){.bytes = bytes};
}

bool os_process_metrics(const struct os *os, int64_t pid, struct row_batch *out)
{
    (void)os;
    (void)pid;
    (void)out; // what is not said is unsupported
    return true;
}

int os_process_table(const struct os *os, int64_t pid, vitals_entity entity, struct row_batch *out)
{
    (void)os;
    (void)pid;
    (void)entity;
    (void)out;
    return -ENOTSUP;
}

int os_user_name(uint64_t uid, char *out, size_t capacity)
{
    (void)uid;
    (void)out;
    (void)capacity;
    return -ENOENT;
}

int os_group_name(uint64_t gid, char *out, size_t capacity)
{
    (void)gid;
    (void)out;
    (void)capacity;
    return -ENOENT;
}

/* ---- handles that act ---- */

int os_pidfd_open(const struct os *os, int64_t pid)
{
    (void)os;
    (void)pid;
    return -ENOTSUP;
}

int os_compare_maps(const struct os *os, int64_t first, int64_t second)
{
    (void)os;
    (void)first;
    (void)second;
    return -ENOTSUP;
}

int os_pidfd_signal(int pidfd, int signal)
{
    (void)pidfd;
    (void)signal;
    return -ENOTSUP;
}

int os_pidfd_ended(int pidfd)
{
    (void)pidfd;
    return -ENOTSUP;
}

void os_pidfd_exit(const struct os *os, int pidfd, const struct os_process *process,
                   struct os_exit *out)
{
    (void)os;
    (void)pidfd;
    (void)process;
    *out = (struct os_exit){.state = VITALS_UNSUPPORTED};
}

void os_pidfd_exit_seen(const struct os *os, int pidfd, const struct os_process *process,
                        struct os_exit *out)
{
    os_pidfd_exit(os, pidfd, process, out);
}

int os_watch_new(void)
{
    return -ENOTSUP;
}

int os_watch_add(int watch, int descriptor, uint64_t tag)
{
    (void)watch;
    (void)descriptor;
    (void)tag;
    return -ENOTSUP;
}

void os_watch_remove(int watch, int descriptor)
{
    (void)watch;
    (void)descriptor;
}

int os_watch_ready(int watch, uint64_t *tags, size_t capacity)
{
    (void)watch;
    (void)tags;
    (void)capacity;
    return -ENOTSUP;
}

int os_process_set_nice(const struct os *os, int64_t pid, int nice)
{
    (void)os;
    (void)pid;
    (void)nice;
    return -ENOTSUP;
}

int os_process_set_io_priority(const struct os *os, int64_t pid, unsigned io_class, unsigned level)
{
    (void)os;
    (void)pid;
    (void)io_class;
    (void)level;
    return -ENOTSUP;
}

int os_process_set_affinity(const struct os *os, int64_t pid, const unsigned *cpus, size_t count,
                            struct os_affinity *why)
{
    (void)os;
    (void)pid;
    (void)cpus;
    (void)count;
    (void)why;
    return -ENOTSUP;
}

int os_process_set_limit(const struct os *os, int64_t pid, const char *name, uint64_t soft,
                         uint64_t hard)
{
    (void)os;
    (void)pid;
    (void)name;
    (void)soft;
    (void)hard;
    return -ENOTSUP;
}

const char *os_limit_name(size_t index)
{
    (void)index;
    return NULL;
}

uint64_t os_random(const struct os *os)
{
    return os->clock.realtime_ns(os->clock.data);
}

int os_proc_text(const struct os *os, const char *path, char *out, size_t capacity)
{
    (void)os;
    (void)path;
    if (capacity > 0)
        out[0] = '\0';
    return -ENOTSUP;
}

int os_dev_access(const struct os *os, const char *path)
{
    (void)os;
    (void)path;
    return -ENOTSUP;
}
