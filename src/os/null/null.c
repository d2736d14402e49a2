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
    *host = (struct os_host){
        .stat = -1, .meminfo = -1, .loadavg = -1, .diskstats = -1, .netdev = -1};
}

void os_host_done(struct os_host *host)
{
    (void)host;
}

void os_host_read(struct os_host *host, const struct os *os, const struct metric_set *wanted,
                  struct values *machine, struct os_cpus *cpus)
{
    (void)host;
    (void)os;
    set_unsupported(wanted, VITALS_HOST, machine);
    cpus->count = 0;
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

/* ---- processes: none to be seen ---- */

int os_list_processes(const struct os *os, struct os_pids *pids)
{
    (void)os;
    pids->count = 0;
    return -ENOTSUP;
}

void os_pids_done(struct os_pids *pids)
{
    (void)pids;
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

int os_process_resident_pages(const struct os_process *process, uint64_t *pages)
{
    (void)process;
    (void)pages;
    return -ENOTSUP;
}

int os_process_cpu_ns(const struct os *os, int64_t pid, uint64_t *ns)
{
    (void)os;
    (void)pid;
    (void)ns;
    return -ENOTSUP;
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

bool os_parse_statm(const char *bytes, size_t size, uint64_t *resident_pages)
{
    (void)bytes;
    (void)size;
    (void)resident_pages;
    return false;
}

struct span os_parse_cgroup(const char *bytes, size_t size)
{
    (void)size;
    return (struct span){.bytes = bytes};
}

bool os_user_name(uint64_t uid, char *out, size_t capacity)
{
    (void)uid;
    (void)out;
    (void)capacity;
    return false;
}

/* ---- handles that act ---- */

int os_pidfd_open(const struct os *os, int64_t pid)
{
    (void)os;
    (void)pid;
    return -ENOTSUP;
}

int os_pidfd_signal(int pidfd, int signal)
{
    (void)pidfd;
    (void)signal;
    return -ENOTSUP;
}

uint64_t os_random(const struct os *os)
{
    return os->clock.realtime_ns(os->clock.data);
}
