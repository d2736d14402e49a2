/* reader.c: see reader.h.
 *
 * Files are read by pid, so stat, which the owner keeps open or has just opened, is read after
 * them: as long as it reads, the process has lived, and they were its own. Thread rule: one thread
 * at a time per reader and process. */
#include "process/reader.h"

#include "util/memory.h"

#include <errno.h>

enum { STATUS_LIMIT = 64 * 1024, IO_LIMIT = 4096 };

uint64_t reader_now(const struct process_reader *reader)
{
    return os_now_ns(&reader->context->os);
}

/* ---- files ---- */

/* Whether an opening that failed for want of descriptors is worth another try. */
static bool try_again(struct process_reader *reader, int result)
{
    return (result == -EMFILE || result == -ENFILE) && reader->relieve != NULL &&
           reader->relieve(reader->owner);
}

int reader_open(struct process_reader *reader, struct process *process)
{
    int result;
    do
        result = os_process_open(&reader->context->os, process->files.pid, false, &process->files);
    while (try_again(reader, result));
    return result;
}

static int read_file(struct process_reader *reader, const struct process *process, const char *name,
                     size_t limit)
{
    int result;
    bool cut;
    do {
        buffer_reset(&reader->text);
        result = os_process_file(&reader->context->os, process->files.pid, name, limit,
                                 &reader->text, &cut);
    } while (try_again(reader, result));
    return result;
}

/* ---- beside stat ---- */

static const struct {
    vitals_metric metric;
    unsigned extra;
} EXTRAS[] = {
    {VITALS_PROCESS_RESIDENT_BYTES, EXTRA_STATM},
    {VITALS_PROCESS_SHARED_BYTES, EXTRA_STATM},
    {VITALS_PROCESS_TEXT_BYTES, EXTRA_STATM},
    {VITALS_PROCESS_DATA_BYTES, EXTRA_STATM},
    {VITALS_PROCESS_CPU_SECONDS, EXTRA_CPU},
    {VITALS_PROCESS_RESIDENT_PEAK_BYTES, EXTRA_STATUS},
    {VITALS_PROCESS_READ_BYTES, EXTRA_IO},
    {VITALS_PROCESS_WRITTEN_BYTES, EXTRA_IO},
    {VITALS_PROCESS_TERMINAL, EXTRA_TERMINAL},
};

unsigned reader_extras(const struct metric_set *wanted)
{
    unsigned extras = 0;
    for (size_t i = 0; i < ARRAY_COUNT(EXTRAS); i++)
        if (metric_set_has(wanted, EXTRAS[i].metric))
            extras |= EXTRAS[i].extra;
    return extras;
}

static struct value extra_of(unsigned has, unsigned bit, uint64_t number)
{
    return (has & bit) != 0 ? value_u64(number) : value_missing(VITALS_UNSUPPORTED);
}

int reader_statm(struct process_reader *reader, struct process *process)
{
    int result = os_process_statm(&process->files, &process->statm);
    vitals_availability state = result < 0 ? os_availability(result) : VITALS_HAVE;
    const struct os_statm *statm = &process->statm;
    if (result == 0 && (process->stat.has & OS_STAT_VIRTUAL) != 0 &&
        process->stat.virtual_bytes != 0 && statm->resident == 0 && statm->text == 0 &&
        statm->data == 0)
        state = VITALS_GONE; // it gave its memory back since its stat was read
    process->statm_state = (signed char)state;
    process->statm_ns = process->measured_ns = reader_now(reader);
    process->statm_due = false;
    return result;
}

/* One moment for all that is read of a process at once: what is not due keeps its own. */
static void stamp_extras(struct process *process, unsigned extras, uint64_t now)
{
    if ((extras & EXTRA_STATM) != 0)
        process->statm_ns = now;
    if ((extras & EXTRA_CPU) != 0)
        process->cpu_ns = now;
    if ((extras & EXTRA_STATUS) != 0)
        process->peak_ns = now;
    if ((extras & EXTRA_IO) != 0)
        process->io_ns = now;
}

/* The CPU clock comes last, next to the stamp that rates will be made with. */
static void read_extras(struct process_reader *reader, struct process *process, unsigned extras)
{
    /* A process that has not run since these files were read has read and written nothing, and its
     * peak is what it was. Two files that are opened anew each time cost ten times a look at its
     * clock. */
    unsigned files = extras & (EXTRA_STATUS | EXTRA_IO);
    uint64_t ns;
    bool rested = false;
    if (files != 0 && os_process_cpu_ns(&reader->context->os, process->files.pid, &ns) >= 0) {
        struct activity_mark *mark = &process->activity.files;
        rested = mark->extras == files && mark->mark == ns && ns != 0;
        *mark = (struct activity_mark){.mark = ns, .extras = files};
    }
    if ((extras & EXTRA_STATUS) != 0 && !rested) {
        struct os_status status;
        int result = read_file(reader, process, "status", STATUS_LIMIT);
        if (result == 0 &&
            !os_parse_status(reader->text.bytes, reader->text.size, OS_STATUS_PEAK, &status))
            result = -EBADMSG;
        process->peak = result < 0 ? value_missing(os_availability(result))
                                   : extra_of(status.has, OS_STATUS_PEAK, status.peak_bytes);
    }
    if ((extras & EXTRA_IO) != 0 && !rested) {
        struct os_io io;
        int result = read_file(reader, process, "io", IO_LIMIT);
        if (result == 0 && !os_parse_io(reader->text.bytes, reader->text.size, &io))
            result = -EBADMSG;
        process->read = process->written = value_missing(os_availability(result));
        if (result == 0) {
            process->read = extra_of(io.has, OS_IO_READ, io.read_bytes);
            process->written = extra_of(io.has, OS_IO_WRITTEN, io.written_bytes);
        }
    }
    if ((extras & EXTRA_STATM) != 0) {
        int result = 0;
        if (process->files.statm < 0)
            do
                result = os_process_open_statm(&reader->context->os, &process->files);
            while (try_again(reader, result));
        process->statm_due = (extras & EXTRA_LATER) != 0 && result == 0;
        if (result == 0 && !process->statm_due)
            result = os_process_statm(&process->files, &process->statm);
        if (!process->statm_due)
            process->statm_state = (signed char)(result < 0 ? os_availability(result)
                                                            : VITALS_HAVE);
    }

    uint64_t now = process->stamp_ns = reader_now(reader);
    if ((extras & EXTRA_CPU) != 0) {
        int result = os_process_cpu_ns(&reader->context->os, process->files.pid, &ns);
        process->cpu = result < 0 ? value_missing(os_availability(result))
                                  : value_f64((double)ns / 1e9);
    }
    stamp_extras(process, extras, now);
    if ((extras & EXTRA_STATM) != 0)
        process->measured_ns = now;
}

void reader_stamp(struct process *process, unsigned extras, uint64_t now_ns)
{
    process->stamp_ns = now_ns;
    stamp_extras(process, extras, now_ns);
}

/* ---- stat ---- */

/* Looked up when it changes, which it does once in a life. */
static void take_terminal(struct process_reader *reader, struct process *process,
                          const struct os_stat *stat)
{
    int64_t device = (stat->has & OS_STAT_TERMINAL) != 0 ? stat->terminal : 0;
    if (device == process->terminal_device)
        return;
    struct shared_text *text = NULL;
    if (device != 0) {
        char name[OS_TERMINAL_TEXT];
        size_t size = os_terminal_name(&reader->context->os, device, name);
        text = shared_text_new(name, size);
        if (text == NULL) {
            reader->out_of_memory = true;
            return;
        }
    }
    shared_text_unref(process->terminal);
    process->terminal = text;
    process->terminal_device = device;
}

bool process_same_start(const struct process *process, const struct os_stat *stat)
{
    bool known = (process->stat.has & stat->has & OS_STAT_START) != 0;
    return !known || process->stat.start_ticks == stat->start_ticks;
}

/* A process goes on where its first thread has ended. That one gives its memory back a moment
 * before it says so, and tells then of none. Another thread has its memory still; where none tells
 * of it, it is not known, and never 0. */
static int read_elsewhere(struct process_reader *reader, struct process *process,
                          char text[static OS_STAT_TEXT], struct os_stat *stat)
{
    unsigned needed = OS_STAT_THREADS | OS_STAT_VIRTUAL;
    if ((stat->has & needed) != needed || stat->threads <= 1 || stat->virtual_bytes != 0)
        return 0;
    uint64_t virtual_bytes;
    int found = os_process_memory(&reader->context->os, process->files.pid, &virtual_bytes,
                                  &process->statm);
    int result = os_process_stat(&process->files, text, stat); // proves whose it was
    process->statm_state = (signed char)(found < 0 ? VITALS_GONE : VITALS_HAVE);
    process->statm_ns = process->stamp_ns;
    process->statm_due = false;
    stat->has &= ~(unsigned)OS_STAT_RESIDENT;
    stat->virtual_bytes = found < 0 ? 0 : virtual_bytes;
    if (found < 0)
        stat->has &= ~(unsigned)OS_STAT_VIRTUAL;
    return result;
}

bool reader_observe(struct process_reader *reader, struct process *process, unsigned extras)
{
    read_extras(reader, process, extras);
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    int result = os_process_stat(&process->files, text, &stat);
    if (result == 0)
        result = read_elsewhere(reader, process, text, &stat);
    if (result == -ESRCH || (result == 0 && !process_same_start(process, &stat)))
        return false;
    if (result < 0) {
        process->state = os_availability(result);
        return true;
    }

    if (!shared_text_equal(process->name, stat.name.bytes, stat.name.size)) {
        struct shared_text *name = shared_text_new(stat.name.bytes, stat.name.size);
        reader->out_of_memory |= name == NULL;
        if (name != NULL) {
            process->renamed = process->name != NULL;
            shared_text_unref(process->name);
            process->name = name;
        }
    }
    /* A kernel worker shows what it works on in its name, and has no arguments that could change.
     */
    if ((stat.has & OS_STAT_VIRTUAL) != 0 && stat.virtual_bytes == 0)
        process->renamed = false;
    if ((extras & EXTRA_TERMINAL) != 0)
        take_terminal(reader, process, &stat);
    stat.name = (struct span){0};
    process->stat = stat;
    process->state = VITALS_HAVE;
    return true;
}

void process_done(struct process *process)
{
    shared_text_unref(process->name);
    shared_text_unref(process->terminal);
    for (size_t i = 0; i < process->detail_count; i++)
        if (vitals_metric_type(process->details[i].metric) == VITALS_TEXT)
            shared_text_unref(process->details[i].as.text);
    memory_free(process->details);
    process->name = process->terminal = NULL;
    process->details = NULL;
    process->detail_count = process->detail_capacity = 0;
}
