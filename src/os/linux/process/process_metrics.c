/* process_metrics.c: the columns of one process that are read beside the ticks: which file each
 * comes from, and the files that hold one thing. See process_metrics.h. Thread rule: any thread. */
#include "os/linux/process/process_metrics.h"

#include "model/words.h"
#include "util/number.h"
#include "util/shared_text.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- what readers share ---- */

int metrics_file(struct metrics_reading *reading, const char *name, size_t limit, bool *cut)
{
    buffer_reset(&reading->text);
    *cut = false;
    return os_process_file(reading->os, reading->pid, name, limit, &reading->text, cut);
}

const struct os_stat *metrics_stat(struct metrics_reading *reading)
{
    char text[OS_STAT_TEXT];
    if (!reading->stat_read) {
        reading->stat_read = true;
        reading->stat_error = os_stat_of(reading->os, reading->pid, text, &reading->stat);
        reading->stat.name = (struct span){"", 0}; // it lay in `text`
    }
    return reading->stat_error < 0 ? NULL : &reading->stat;
}

enum process_kind metrics_kind_of(struct metrics_reading *reading)
{
    const struct os_stat *stat = metrics_stat(reading);
    return stat == NULL ? PROCESS_UNKNOWN : linux_kind_of(stat);
}

vitals_availability batch_reason(struct metrics_reading *reading, int error)
{
    if (error != -ENOENT)
        return os_availability(error);
    enum process_kind kind = metrics_kind_of(reading);
    if (kind == PROCESS_ORDINARY || kind == PROCESS_KERNEL_THREAD)
        return VITALS_UNSUPPORTED;
    return kind == PROCESS_UNKNOWN && reading->stat_error < 0 ? os_availability(reading->stat_error)
                                                              : VITALS_GONE;
}

void batch_set_numbers(struct row_batch *out, const struct metrics_number *numbers, size_t count,
                       unsigned has, vitals_availability state, vitals_availability missing)
{
    for (size_t i = 0; i < count; i++)
        if ((has & numbers[i].bits) == numbers[i].bits)
            batch_set_u64_as(out, numbers[i].metric, numbers[i].number, state);
        else
            batch_set_missing(out, numbers[i].metric, missing);
}

void batch_missing_all(struct row_batch *out, const vitals_metric *metrics,
                       vitals_availability reason)
{
    for (; *metrics != 0; metrics++)
        batch_set_missing(out, *metrics, reason);
}

bool batch_wants_any(const struct row_batch *out, const vitals_metric *metrics)
{
    for (; *metrics != 0; metrics++)
        if (batch_wants(out, *metrics))
            return true;
    return false;
}

/* ---- texts ---- */

/* Whether the file gave less than there is, for want of a page or because another program began. A
 * title that was written over the arguments may be longer than they were, or end at a NUL; what was
 * cut ends with a page. Short arguments that end at a NUL are whole but for the rarest of cuts, and
 * asking would cost each process another file. */
static bool is_short(const struct metrics_reading *reading)
{
    const uint64_t page = 4096; // or a multiple
    uint64_t size = reading->text.size;
    struct linux_stat_memory memory;
    if (size != 0 && size < page && reading->text.bytes[size - 1] == '\0')
        return false;
    if (!linux_stat_memory(reading->os, reading->pid, &memory) || size >= memory.arguments.size)
        return false;
    return size % page == 0 || (memory.arguments.start + size) % page == 0;
}

/* The arguments as the kernel gives them: one that a process wrote over with its title may lack the
 * last NUL, and is not taken apart. */
static void read_command_line(struct metrics_reading *reading, const vitals_metric *metrics)
{
    enum { REPLACING_TRIES = 8 };
    bool cut;
    int result = metrics_file(reading, "cmdline", SHARED_TEXT_MAX, &cut);
    if (result == 0 && !cut && is_short(reading)) {
        result = metrics_file(reading, "cmdline", SHARED_TEXT_MAX, &cut);
        cut = cut || (result == 0 && is_short(reading));
    }

    // A process that replaces its program has no arguments for a moment.
    for (int tries = 0; result == 0 && reading->text.size == 0 && tries < REPLACING_TRIES;
         tries++) {
        if (metrics_kind_of(reading) != PROCESS_ORDINARY ||
            !linux_lacks_memory(reading->os, reading->pid))
            break;
        sched_yield();
        result = metrics_file(reading, "cmdline", SHARED_TEXT_MAX, &cut);
    }
    if (result < 0)
        batch_missing_all(reading->out, metrics, batch_reason(reading, result));
    else if (reading->text.size == 0 && metrics_kind_of(reading) == PROCESS_ZOMBIE)
        batch_missing_all(reading->out, metrics, VITALS_GONE);
    else
        batch_set_text_as(reading->out, VITALS_PROCESS_COMMAND_LINE,
                          (struct span){reading->text.bytes, reading->text.size},
                          cut ? VITALS_LOWER_BOUND : VITALS_HAVE);
}

static void read_cgroup(struct metrics_reading *reading, const vitals_metric *metrics)
{
    enum { CGROUP_LIMIT = 64 * 1024 };
    bool cut;
    int result = metrics_file(reading, "cgroup", CGROUP_LIMIT, &cut);
    struct span path = {"", 0};
    if (result == 0)
        path = os_parse_cgroup(reading->text.bytes, reading->text.size);
    if (path.size != 0)
        batch_set_text(reading->out, VITALS_PROCESS_CGROUP, path);
    else
        batch_missing_all(reading->out, metrics,
                          result < 0 ? batch_reason(reading, result) : VITALS_UNSUPPORTED);
}

static void read_wait_channel(struct metrics_reading *reading, const vitals_metric *metrics)
{
    char text[1024]; // the kernel's symbols have up to 511
    int64_t size = linux_process_line(reading->os, reading->pid, "wchan", text, sizeof text);
    if (size < 0)
        batch_missing_all(reading->out, metrics, batch_reason(reading, (int)size));
    else
        batch_set_string(reading->out, VITALS_PROCESS_WAIT_CHANNEL,
                         strcmp(text, "0") == 0 ? "" : text);
}

/* As ps(1), the module that answers in attr/current. EINVAL: none does (fs/proc/base.c). */
static void read_security_label(struct metrics_reading *reading, const vitals_metric *metrics)
{
    char text[1024];
    int64_t size = linux_process_line(reading->os, reading->pid, "attr/current", text, sizeof text);
    if (size == -EINVAL)
        batch_missing_all(reading->out, metrics, VITALS_UNSUPPORTED);
    else if (size < 0)
        batch_missing_all(reading->out, metrics, batch_reason(reading, (int)size));
    else
        batch_set_string(reading->out, VITALS_PROCESS_SECURITY_LABEL, text);
}

static void read_numbers(struct metrics_reading *reading, const vitals_metric *metrics UNUSED)
{
    static const struct {
        vitals_metric metric;
        const char *name;
        bool is_signed;
        uint64_t none; /* the number that says that there is none; 0: each is one */
    } NUMBERS[] = {
        {VITALS_PROCESS_LOGIN_UID, "loginuid", false, UINT32_MAX},
        {VITALS_PROCESS_OOM_SCORE, "oom_score", false, 0},
        {VITALS_PROCESS_OOM_SCORE_ADJUST, "oom_score_adj", true, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(NUMBERS); i++) {
        vitals_metric metric = NUMBERS[i].metric;
        if (!batch_wants(reading->out, metric))
            continue;
        char text[NUMBER_TEXT];
        int64_t integer = 0, size = linux_process_line(reading->os, reading->pid, NUMBERS[i].name,
                                                       text, sizeof text);
        uint64_t natural = 0;
        if (size < 0) {
            batch_set_missing(reading->out, metric, batch_reason(reading, (int)size));
            continue;
        }
        const char *at = text, *end = text + size;
        bool read = NUMBERS[i].is_signed ? number_i64(&at, end, &integer)
                                         : number_u64(&at, end, &natural);
        if (!read || at != end)
            batch_set_missing(reading->out, metric, VITALS_FAILED);
        else if (NUMBERS[i].is_signed)
            batch_set_i64(reading->out, metric, integer);
        else if (natural == NUMBERS[i].none && natural != 0)
            batch_set_missing(reading->out, metric, VITALS_UNSUPPORTED);
        else
            batch_set_u64(reading->out, metric, natural);
    }
}

/* ---- I/O ---- */

static void read_io(struct metrics_reading *reading, const vitals_metric *metrics)
{
    enum { IO_LIMIT = 4096 };
    struct os_io io;
    bool cut;
    int result = metrics_file(reading, "io", IO_LIMIT, &cut);
    if (result < 0 || !os_parse_io(reading->text.bytes, reading->text.size, &io)) {
        batch_missing_all(reading->out, metrics,
                          result < 0 ? batch_reason(reading, result) : VITALS_FAILED);
        return;
    }
#define NUMBER(name, member, label, metric) {VITALS_PROCESS_##metric, OS_IO_##name, io.member},
    const struct metrics_number numbers[] = {
        OS_IO_METRICS(NUMBER){VITALS_PROCESS_READ_BYTES, OS_IO_READ, io.read_bytes},
        {VITALS_PROCESS_WRITTEN_BYTES, OS_IO_WRITTEN, io.written_bytes}};
#undef NUMBER
    batch_set_numbers(reading->out, numbers, ARRAY_COUNT(numbers), io.has, VITALS_HAVE,
                      VITALS_FAILED);
}

/* As ioprio_get(2) packs it: the class above thirteen bits, of which the lower three are the level
 * and the others hints to the device. */
static void read_io_priority(struct metrics_reading *reading, const vitals_metric *metrics)
{
    enum { WHO_PROCESS = 1, CLASS_SHIFT = 13, LEVEL_MASK = 7, REALTIME = 1, BEST_EFFORT = 2 };
    struct row_batch *out = reading->out;
    long packed = -1;
    errno = ENOTSUP;
    if (reading->os->live && reading->pid <= INT32_MAX)
        packed = syscall(SYS_ioprio_get, WHO_PROCESS, (int)reading->pid);
    if (packed < 0) {
        batch_missing_all(out, metrics, os_availability(errno));
        return;
    }
    unsigned long class = (unsigned long)packed >> CLASS_SHIFT;
    const char *word = words_io_class(class);
    if (word != NULL)
        batch_set_string(out, VITALS_PROCESS_IO_CLASS, word);
    else
        batch_set_missing(out, VITALS_PROCESS_IO_CLASS, VITALS_FAILED);
    if (class == REALTIME || class == BEST_EFFORT)
        batch_set_u64(out, VITALS_PROCESS_IO_LEVEL, (unsigned long)packed & LEVEL_MASK);
    else
        batch_set_missing(out, VITALS_PROCESS_IO_LEVEL, VITALS_UNSUPPORTED);
}

/* ---- the reader of each metric ---- */

#define METRICS(...)                                     ((const vitals_metric[]){__VA_ARGS__, 0})
#define METRICS_OF(...)                                  ((const vitals_metric[]){__VA_ARGS__ 0})
#define STATUS_METRIC(name, member, label, form, metric) VITALS_PROCESS_##metric,
#define IO_METRIC(name, member, label, metric)           VITALS_PROCESS_##metric,

static const struct {
    const vitals_metric *metrics; /* ended by 0 */
    metrics_reader *read;
    bool owned; /* of memory and files, which all threads have in common */
} READERS[] = {
    {METRICS_OF(OS_STATUS_METRICS(STATUS_METRIC) VITALS_PROCESS_CAPABILITIES,
                VITALS_PROCESS_CAPABILITIES_PERMITTED, VITALS_PROCESS_SECCOMP,
                VITALS_PROCESS_CPUS_ALLOWED, VITALS_PROCESS_CPUS_ALLOWED_LIST,
                VITALS_PROCESS_SUPPLEMENTARY_GIDS, VITALS_PROCESS_SIGNALS_BLOCKED,
                VITALS_PROCESS_SIGNALS_IGNORED, VITALS_PROCESS_SIGNALS_CAUGHT,
                VITALS_PROCESS_SIGNALS_PENDING, ),
     metrics_read_status, true},
    {METRICS(VITALS_PROCESS_COMMAND_LINE), read_command_line, true},
    {METRICS(VITALS_PROCESS_CGROUP), read_cgroup, false},
    {METRICS(VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES, VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES,
             VITALS_PROCESS_RUN_DELAY_SECONDS, VITALS_PROCESS_BLOCK_DELAY_SECONDS,
             VITALS_PROCESS_SWAP_DELAY_SECONDS, VITALS_PROCESS_RECLAIM_DELAY_SECONDS),
     metrics_read_waits, false},
    {METRICS(VITALS_PROCESS_PSS_BYTES, VITALS_PROCESS_USS_BYTES, VITALS_PROCESS_SWAP_PSS_BYTES,
             VITALS_PROCESS_THP_BYTES, VITALS_PROCESS_PSS_ANON_BYTES, VITALS_PROCESS_PSS_FILE_BYTES,
             VITALS_PROCESS_PSS_SHMEM_BYTES),
     metrics_read_memory, true},
    {METRICS(VITALS_PROCESS_DESCRIPTORS), metrics_read_descriptors, true},
    {METRICS(VITALS_PROCESS_EXECUTABLE, VITALS_PROCESS_EXECUTABLE_DELETED), metrics_read_executable,
     true},
    {METRICS(VITALS_PROCESS_WORKING_DIRECTORY, VITALS_PROCESS_ROOT_DIRECTORY),
     metrics_read_directory, true},
    {METRICS(VITALS_PROCESS_PID_NAMESPACE, VITALS_PROCESS_NETWORK_NAMESPACE,
             VITALS_PROCESS_MOUNT_NAMESPACE, VITALS_PROCESS_USER_NAMESPACE,
             VITALS_PROCESS_CGROUP_NAMESPACE, VITALS_PROCESS_IPC_NAMESPACE,
             VITALS_PROCESS_UTS_NAMESPACE, VITALS_PROCESS_TIME_NAMESPACE),
     metrics_read_namespaces, true},
    {METRICS(VITALS_PROCESS_NETWORK_RECEIVED_BYTES, VITALS_PROCESS_NETWORK_TRANSMITTED_BYTES),
     metrics_read_network, true},
    {METRICS(VITALS_PROCESS_LOGIN_UID, VITALS_PROCESS_OOM_SCORE, VITALS_PROCESS_OOM_SCORE_ADJUST),
     read_numbers, false},
    {METRICS(VITALS_PROCESS_WAIT_CHANNEL), read_wait_channel, false},
    {METRICS(VITALS_PROCESS_SECURITY_LABEL), read_security_label, false},
    {METRICS(VITALS_PROCESS_IO_CLASS, VITALS_PROCESS_IO_LEVEL), read_io_priority, false},
    {METRICS_OF(OS_IO_METRICS(IO_METRIC) VITALS_PROCESS_READ_BYTES, VITALS_PROCESS_WRITTEN_BYTES, ),
     read_io, false},
};

/* True if the value is missing because the first thread has ended, though its process lives. Its fd
 * folder is empty and belongs to root, so that the owner of the process is denied it. */
static bool is_bare(const struct batch_cell *cell)
{
    if (cell->metric == VITALS_PROCESS_DESCRIPTORS)
        return cell->state > 0 ? cell->as.u64 == 0
                               : cell->state == VITALS_GONE || cell->state == VITALS_DENIED;
    if (cell->state != VITALS_GONE)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(READERS); i++)
        for (const vitals_metric *at = READERS[i].metrics; READERS[i].owned && *at != 0; at++)
            if (*at == cell->metric)
                return true;
    return false;
}

static void read_wanted(struct metrics_reading *reading)
{
    for (size_t i = 0; i < ARRAY_COUNT(READERS); i++)
        if (batch_wants_any(reading->out, READERS[i].metrics))
            READERS[i].read(reading, READERS[i].metrics);
}

/* Asks a thread that goes on for what the first one, which has ended, could not tell from `first`
 * on. Nothing where none does: it is a zombie. */
static void ask_living_thread(struct metrics_reading *reading, size_t first)
{
    struct row_batch *out = reading->out;
    while (first < out->count && !is_bare(&out->items[first]))
        first++;
    if (out->failed || first == out->count || metrics_kind_of(reading) != PROCESS_ZOMBIE)
        return;
    struct os threads;
    int64_t living = linux_living_thread(reading->os, reading->pid, &threads);
    if (living == 0)
        return;

    // Such values are taken back, and alone are wanted of the other thread.
    struct metric_set wanted = out->wanted;
    size_t kept = first;
    out->wanted = (struct metric_set){0};
    for (size_t i = first; i < out->count; i++) {
        if (is_bare(&out->items[i]))
            metric_set_add(&out->wanted, out->items[i].metric);
        else
            out->items[kept++] = out->items[i];
    }
    out->rows[out->row_count - 1].count -= out->count - kept;
    out->count = kept;

    struct metrics_reading other = {.os = &threads, .pid = living, .out = out};
    read_wanted(&other);
    out->wanted = wanted;
    buffer_done(&other.text);
    os_close_descriptor(threads.proc);
}

bool os_process_metrics(const struct os *os, int64_t pid, struct row_batch *out)
{
    bool lacking = false;
    struct os noting = *os;
    noting.lacking = &lacking;
    struct metrics_reading reading = {.os = &noting, .pid = pid, .out = out};
    size_t first = out->count;
    read_wanted(&reading);
    ask_living_thread(&reading, first);
    buffer_done(&reading.text);
    return !lacking;
}
