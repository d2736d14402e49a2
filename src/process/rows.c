/* rows.c: the row of a process in the table process, from what was read of it.
 *
 * Each column is one line of a table: a field of stat, or a function; or it is what a worker read.
 * Nothing is read here. Thread rule: one thread at a time per reader and process. */
#include "process/reader.h"

#include "model/words.h"

#include <string.h>

/* ---- numbers ---- */

static struct value ticks(const struct process_reader *reader, const struct process *process,
                          unsigned bit, uint64_t count)
{
    if ((process->stat.has & bit) == 0)
        return value_missing(VITALS_FAILED);
    return value_f64((double)count / reader->context->os.ticks_per_second);
}

/* Clock ticks where the process's clock cannot be read: an estimate, in larger steps. */
static struct value cpu_of(const struct process_reader *reader, const struct process *process)
{
    if (process->cpu.state > 0 || process->cpu.state == VITALS_GONE)
        return process->cpu;
    const struct os_stat *stat = &process->stat;
    struct value value = ticks(reader, process, OS_STAT_TIMES,
                               saturating_add(stat->user_ticks, stat->system_ticks));
    if (value.state > 0)
        value.state = VITALS_ESTIMATE;
    return value;
}

static struct value pages_of(const struct process_reader *reader, const struct process *process,
                             unsigned bit, uint64_t pages)
{
    if (process->statm_state <= 0)
        return value_missing((vitals_availability)process->statm_state);
    if ((process->statm.has & bit) == 0)
        return value_missing(VITALS_FAILED);
    return value_u64(saturating_mul(pages, reader->context->os.page_bytes));
}

/* The field of stat lags behind on many CPUs: an estimate, where statm cannot be read. */
static struct value resident_of(const struct process_reader *reader, const struct process *process)
{
    const struct os_stat *stat = &process->stat;
    struct value value = pages_of(reader, process, OS_STATM_RESIDENT, process->statm.resident);
    if (value.state > 0 || value.state == VITALS_GONE || (stat->has & OS_STAT_RESIDENT) == 0)
        return value;
    value = value_u64(saturating_mul(stat->resident_pages, reader->context->os.page_bytes));
    value.state = VITALS_ESTIMATE;
    return value;
}

/* Kernel threads never have it, and a zombie no longer. */
static struct value peak_of(const struct process_reader *reader UNUSED,
                            const struct process *process)
{
    bool zombie = (process->stat.has & OS_STAT_STATE) != 0 && process->stat.state == 'Z';
    if (process->peak.state == VITALS_UNSUPPORTED && zombie)
        return value_missing(VITALS_GONE);
    return process->peak;
}

static struct value foreground_of(const struct process_reader *reader UNUSED,
                                  const struct process *process)
{
    const struct os_stat *stat = &process->stat;
    if ((stat->has & OS_STAT_FOREGROUND) == 0)
        return value_missing(VITALS_FAILED);
    if (stat->foreground_group < 1) // -1 where it has no terminal
        return value_missing(VITALS_UNSUPPORTED);
    return value_u64((uint64_t)stat->foreground_group);
}

/* A column: where it stands in a process (a field of stat as it is, or in clock ticks; of statm, in
 * pages; or a value), or the function that makes it. `moment`: where the process says when it was
 * read; 0: with its row. */
static const struct {
    vitals_metric metric;
    enum { STAT, TICKS, PAGES, VALUE, MADE } kind;
    uint16_t place;
    unsigned bit;
    uint16_t moment;
    struct value (*make)(const struct process_reader *reader, const struct process *process);
} COLUMNS[] = {
#define PLACE(field) offsetof(struct process, field)
    {VITALS_PROCESS_PARENT_PID, STAT, PLACE(stat.parent_pid), OS_STAT_PARENT, 0, NULL},
    {VITALS_PROCESS_THREADS, STAT, PLACE(stat.threads), OS_STAT_THREADS, 0, NULL},
    {VITALS_PROCESS_VIRTUAL_BYTES, STAT, PLACE(stat.virtual_bytes), OS_STAT_VIRTUAL, 0, NULL},
    {VITALS_PROCESS_MINOR_FAULTS, STAT, PLACE(stat.minor_faults), OS_STAT_FAULTS, 0, NULL},
    {VITALS_PROCESS_MAJOR_FAULTS, STAT, PLACE(stat.major_faults), OS_STAT_FAULTS, 0, NULL},
    {VITALS_PROCESS_NICE, STAT, PLACE(stat.nice), OS_STAT_NICE, 0, NULL},
    {VITALS_PROCESS_CPU, STAT, PLACE(stat.cpu), OS_STAT_CPU, 0, NULL},
    {VITALS_PROCESS_PROCESS_GROUP, STAT, PLACE(stat.process_group), OS_STAT_GROUP, 0, NULL},
    {VITALS_PROCESS_SESSION, STAT, PLACE(stat.session), OS_STAT_SESSION, 0, NULL},
    {VITALS_PROCESS_KERNEL_FLAGS, STAT, PLACE(stat.flags), OS_STAT_FLAGS, 0, NULL},
    {VITALS_PROCESS_PRIORITY, STAT, PLACE(stat.priority), OS_STAT_PRIORITY, 0, NULL},
    {VITALS_PROCESS_REALTIME_PRIORITY, STAT, PLACE(stat.realtime_priority), OS_STAT_POLICY, 0,
     NULL},
    {VITALS_PROCESS_START_SECONDS, TICKS, PLACE(stat.start_ticks), OS_STAT_START, 0, NULL},
    {VITALS_PROCESS_CPU_USER_SECONDS, TICKS, PLACE(stat.user_ticks), OS_STAT_TIMES, 0, NULL},
    {VITALS_PROCESS_CPU_SYSTEM_SECONDS, TICKS, PLACE(stat.system_ticks), OS_STAT_TIMES, 0, NULL},
    {VITALS_PROCESS_CHILDREN_USER_SECONDS, TICKS, PLACE(stat.children_user_ticks), OS_STAT_CHILDREN,
     0, NULL},
    {VITALS_PROCESS_CHILDREN_SYSTEM_SECONDS, TICKS, PLACE(stat.children_system_ticks),
     OS_STAT_CHILDREN, 0, NULL},
    {VITALS_PROCESS_SHARED_BYTES, PAGES, PLACE(statm.shared), OS_STATM_SHARED, PLACE(statm_ns),
     NULL},
    {VITALS_PROCESS_TEXT_BYTES, PAGES, PLACE(statm.text), OS_STATM_TEXT, PLACE(statm_ns), NULL},
    {VITALS_PROCESS_DATA_BYTES, PAGES, PLACE(statm.data), OS_STATM_DATA, PLACE(statm_ns), NULL},
    {VITALS_PROCESS_READ_BYTES, VALUE, PLACE(read), 0, PLACE(io_ns), NULL},
    {VITALS_PROCESS_WRITTEN_BYTES, VALUE, PLACE(written), 0, PLACE(io_ns), NULL},
    {VITALS_PROCESS_CPU_SECONDS, MADE, 0, 0, PLACE(cpu_ns), cpu_of},
    {VITALS_PROCESS_RESIDENT_BYTES, MADE, 0, 0, PLACE(statm_ns), resident_of},
    {VITALS_PROCESS_RESIDENT_PEAK_BYTES, MADE, 0, 0, PLACE(peak_ns), peak_of},
    {VITALS_PROCESS_FOREGROUND_GROUP, MADE, 0, 0, 0, foreground_of},
#undef PLACE
};

static struct value column_value(const struct process_reader *reader, const struct process *process,
                                 size_t column)
{
    unsigned bit = COLUMNS[column].bit;
    const char *place = (const char *)process + COLUMNS[column].place;
    struct value value = value_missing(VITALS_FAILED);
    uint64_t number;
    switch (COLUMNS[column].kind) {
    case STAT:
        if ((process->stat.has & bit) != 0) {
            memcpy(&value.as, place, sizeof value.as);
            value.state = VITALS_HAVE;
        }
        return value;
    case TICKS: memcpy(&number, place, sizeof number); return ticks(reader, process, bit, number);
    case PAGES:
        memcpy(&number, place, sizeof number);
        return pages_of(reader, process, bit, number);
    case VALUE: memcpy(&value, place, sizeof value); return value;
    case MADE: break;
    }
    return COLUMNS[column].make(reader, process);
}

bool rows_number(const struct process_reader *reader, const struct process *process,
                 vitals_metric metric, struct value *out)
{
    for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++) {
        if (COLUMNS[i].metric != metric)
            continue;
        *out = column_value(reader, process, i);
        return true;
    }
    return false;
}

/* ---- the row ---- */

_Static_assert(ARRAY_COUNT(COLUMNS) <= ARRAY_COUNT(((struct row_columns *)0)->numbers),
               "each column has a place");

void rows_columns(struct row_columns *out, const struct metric_set *wanted)
{
    *out = (struct row_columns){.wanted = wanted};
    for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++)
        if (metric_set_has(wanted, COLUMNS[i].metric))
            out->numbers[out->number_count++] = (unsigned char)i;
    vitals_metric metrics[METRIC_NUMBERS];
    size_t count = metric_set_list(wanted, VITALS_TABLE_PROCESS, metrics);
    for (size_t i = 0; i < count; i++)
        if (vitals_metric_price(metrics[i]) == VITALS_PRICE_WORKER)
            out->details[out->detail_count++] = metrics[i];
}

static void write_word(vitals_builder *builder, vitals_metric metric, bool known, const char *word)
{
    vitals_builder_text(builder, metric, vitals_text_of(word), known ? VITALS_HAVE : VITALS_FAILED);
}

static void write_detail(const struct process *process, const struct process_detail *detail,
                         vitals_builder *builder)
{
    enum { KERNEL_NAME = 15 };
    vitals_availability state = (vitals_availability)detail->state;
    struct shared_text *name = process->name, *text = detail->as.text;
    if (detail->metric == VITALS_PROCESS_PROGRAM_NAME) {
        /* The name, or the longer name that the kernel may have cut: the last part of the first
         * argument, which the worker has read. Bytes are compared: a letter may be cut in its
         * middle. */
        bool cut = name != NULL && name->size >= KERNEL_NAME;
        if (!cut || text == NULL || text->size < name->size ||
            memcmp(text->bytes, name->bytes, name->size) != 0) {
            state = VITALS_HAVE;
            if (name == NULL)
                state = VITALS_FAILED;
            else if (cut && text == NULL)
                state = VITALS_LOWER_BOUND;
            text = name;
        }
        builder_shared(builder, detail->metric, text, state);
    } else if (vitals_metric_type(detail->metric) == VITALS_TEXT) {
        builder_shared(builder, detail->metric, text, state);
    } else {
        builder_value(builder, detail->metric,
                      (struct value){.as.u64 = detail->as.number, .state = detail->state});
    }
    if (detail->read_ns != 0)
        vitals_builder_read_at(builder, detail->metric, detail->read_ns);
}

void rows_write(const struct process_reader *reader, const struct process *process, uint64_t parent,
                const struct row_columns *columns, vitals_builder *builder)
{
    vitals_text label = {"", 0};
    if (process->name != NULL)
        label = (vitals_text){process->name->bytes, process->name->size};
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, process->key, parent, label,
                       process->stamp_ns);
    builder_value(builder, VITALS_PROCESS_PID, value_u64((uint64_t)process->files.pid));
    if (process->state != VITALS_HAVE) {
        builder_rest(builder, VITALS_TABLE_PROCESS, process->state);
        return;
    }

    for (size_t i = 0; i < columns->number_count; i++) {
        unsigned char at = columns->numbers[i];
        struct value value = column_value(reader, process, at);
        builder_value(builder, COLUMNS[at].metric, value);
        uint64_t moment = 0;
        /* An estimate is of stat, which was read with the row. */
        if (COLUMNS[at].moment != 0 && value.state != VITALS_ESTIMATE)
            memcpy(&moment, (const char *)process + COLUMNS[at].moment, sizeof moment);
        if (moment != 0 && moment != process->stamp_ns)
            vitals_builder_read_at(builder, COLUMNS[at].metric, moment);
    }

    const struct os_stat *stat = &process->stat;
    if (metric_set_has(columns->wanted, VITALS_PROCESS_STATE))
        write_word(builder, VITALS_PROCESS_STATE, (stat->has & OS_STAT_STATE) != 0,
                   words_state(stat->state));
    if (metric_set_has(columns->wanted, VITALS_PROCESS_SCHEDULING_POLICY))
        write_word(builder, VITALS_PROCESS_SCHEDULING_POLICY, (stat->has & OS_STAT_POLICY) != 0,
                   words_policy(stat->policy));
    if (metric_set_has(columns->wanted, VITALS_PROCESS_NAME))
        builder_shared(builder, VITALS_PROCESS_NAME, process->name,
                       process->name != NULL ? VITALS_HAVE : VITALS_FAILED);
    if (metric_set_has(columns->wanted, VITALS_PROCESS_TERMINAL) && process->terminal_device != 0 &&
        (stat->has & OS_STAT_TERMINAL) != 0)
        builder_shared(builder, VITALS_PROCESS_TERMINAL, process->terminal, VITALS_HAVE);
    else if (metric_set_has(columns->wanted, VITALS_PROCESS_TERMINAL))
        write_word(builder, VITALS_PROCESS_TERMINAL, (stat->has & OS_STAT_TERMINAL) != 0, "");

    /* Both are in the order of metrics. */
    const struct process_detail *details = process->details; /* NULL if there is none */
    for (size_t i = 0, at = 0; i < columns->detail_count; i++) {
        while (at < process->detail_count && details[at].metric < columns->details[i])
            at++;
        if (at < process->detail_count && details[at].metric == columns->details[i])
            write_detail(process, &details[at], builder);
        else
            vitals_builder_missing(builder, columns->details[i], VITALS_NOT_YET);
    }
}
