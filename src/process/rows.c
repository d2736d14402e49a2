/* rows.c: the row of a process in the table process, from what was read of it.
 *
 * Each column is one line of a table: a field of stat, or a function; or it is what a worker read.
 * Nothing is read here. Thread rule: one thread at a time per reader and process. */
#include "process/reader.h"

#include "model/words.h"

#include <string.h>

/* ---- numbers ---- */

/* Fields of stat that stand in a row as they are. */
static const struct {
    vitals_metric metric;
    uint16_t place;
    unsigned bit;
} FIELDS[] = {
    {VITALS_PROCESS_PARENT_PID, offsetof(struct os_stat, parent_pid), OS_STAT_PARENT},
    {VITALS_PROCESS_THREADS, offsetof(struct os_stat, threads), OS_STAT_THREADS},
    {VITALS_PROCESS_VIRTUAL_BYTES, offsetof(struct os_stat, virtual_bytes), OS_STAT_VIRTUAL},
    {VITALS_PROCESS_MINOR_FAULTS, offsetof(struct os_stat, minor_faults), OS_STAT_FAULTS},
    {VITALS_PROCESS_MAJOR_FAULTS, offsetof(struct os_stat, major_faults), OS_STAT_FAULTS},
    {VITALS_PROCESS_NICE, offsetof(struct os_stat, nice), OS_STAT_NICE},
    {VITALS_PROCESS_CPU, offsetof(struct os_stat, cpu), OS_STAT_CPU},
    {VITALS_PROCESS_PROCESS_GROUP, offsetof(struct os_stat, process_group), OS_STAT_GROUP},
    {VITALS_PROCESS_SESSION, offsetof(struct os_stat, session), OS_STAT_SESSION},
    {VITALS_PROCESS_PRIORITY, offsetof(struct os_stat, priority), OS_STAT_PRIORITY},
    {VITALS_PROCESS_REALTIME_PRIORITY, offsetof(struct os_stat, realtime_priority), OS_STAT_POLICY},
};

static struct value ticks(const struct process_reader *reader, const struct process *process,
                          unsigned bit, uint64_t count)
{
    if ((process->stat.has & bit) == 0)
        return value_missing(VITALS_FAILED);
    return value_f64((double)count / reader->context->os.ticks_per_second);
}

static struct value start_of(const struct process_reader *reader, const struct process *process)
{
    return ticks(reader, process, OS_STAT_START, process->stat.start_ticks);
}

static struct value user_of(const struct process_reader *reader, const struct process *process)
{
    return ticks(reader, process, OS_STAT_TIMES, process->stat.user_ticks);
}

static struct value system_of(const struct process_reader *reader, const struct process *process)
{
    return ticks(reader, process, OS_STAT_TIMES, process->stat.system_ticks);
}

static struct value children_user_of(const struct process_reader *reader,
                                     const struct process *process)
{
    return ticks(reader, process, OS_STAT_CHILDREN, process->stat.children_user_ticks);
}

static struct value children_system_of(const struct process_reader *reader,
                                       const struct process *process)
{
    return ticks(reader, process, OS_STAT_CHILDREN, process->stat.children_system_ticks);
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

static struct value shared_of(const struct process_reader *reader, const struct process *process)
{
    return pages_of(reader, process, OS_STATM_SHARED, process->statm.shared);
}

static struct value text_of(const struct process_reader *reader, const struct process *process)
{
    return pages_of(reader, process, OS_STATM_TEXT, process->statm.text);
}

static struct value data_of(const struct process_reader *reader, const struct process *process)
{
    return pages_of(reader, process, OS_STATM_DATA, process->statm.data);
}

/* Kernel threads never have it, and a zombie no longer. */
static struct value peak_of(const struct process_reader *reader, const struct process *process)
{
    (void)reader;
    bool zombie = (process->stat.has & OS_STAT_STATE) != 0 && process->stat.state == 'Z';
    if (process->peak.state == VITALS_UNSUPPORTED && zombie)
        return value_missing(VITALS_GONE);
    return process->peak;
}

static struct value read_of(const struct process_reader *reader, const struct process *process)
{
    (void)reader;
    return process->read;
}

static struct value written_of(const struct process_reader *reader, const struct process *process)
{
    (void)reader;
    return process->written;
}

static struct value foreground_of(const struct process_reader *reader,
                                  const struct process *process)
{
    (void)reader;
    const struct os_stat *stat = &process->stat;
    if ((stat->has & OS_STAT_FOREGROUND) == 0)
        return value_missing(VITALS_FAILED);
    if (stat->foreground_group < 1) // -1 where it has no terminal
        return value_missing(VITALS_UNSUPPORTED);
    return value_u64((uint64_t)stat->foreground_group);
}

/* `moment`: where the process says when the value was read; 0: with its row. */
static const struct {
    vitals_metric metric;
    struct value (*get)(const struct process_reader *reader, const struct process *process);
    uint16_t moment;
} NUMBERS[] = {
    {VITALS_PROCESS_START_SECONDS, start_of, 0},
    {VITALS_PROCESS_CPU_SECONDS, cpu_of, offsetof(struct process, cpu_ns)},
    {VITALS_PROCESS_CPU_USER_SECONDS, user_of, 0},
    {VITALS_PROCESS_CPU_SYSTEM_SECONDS, system_of, 0},
    {VITALS_PROCESS_CHILDREN_USER_SECONDS, children_user_of, 0},
    {VITALS_PROCESS_CHILDREN_SYSTEM_SECONDS, children_system_of, 0},
    {VITALS_PROCESS_RESIDENT_BYTES, resident_of, offsetof(struct process, statm_ns)},
    {VITALS_PROCESS_SHARED_BYTES, shared_of, offsetof(struct process, statm_ns)},
    {VITALS_PROCESS_TEXT_BYTES, text_of, offsetof(struct process, statm_ns)},
    {VITALS_PROCESS_DATA_BYTES, data_of, offsetof(struct process, statm_ns)},
    {VITALS_PROCESS_RESIDENT_PEAK_BYTES, peak_of, offsetof(struct process, peak_ns)},
    {VITALS_PROCESS_READ_BYTES, read_of, offsetof(struct process, io_ns)},
    {VITALS_PROCESS_WRITTEN_BYTES, written_of, offsetof(struct process, io_ns)},
    {VITALS_PROCESS_FOREGROUND_GROUP, foreground_of, 0},
};

/* ---- the row ---- */

_Static_assert(ARRAY_COUNT(FIELDS) <= ARRAY_COUNT(((struct row_columns *)0)->fields),
               "each field has a place");
_Static_assert(ARRAY_COUNT(NUMBERS) <= ARRAY_COUNT(((struct row_columns *)0)->numbers),
               "each number has a place");

void rows_columns(struct row_columns *out, const struct metric_set *wanted)
{
    *out = (struct row_columns){
        .name = metric_set_has(wanted, VITALS_PROCESS_NAME),
        .state = metric_set_has(wanted, VITALS_PROCESS_STATE),
        .policy = metric_set_has(wanted, VITALS_PROCESS_SCHEDULING_POLICY),
        .terminal = metric_set_has(wanted, VITALS_PROCESS_TERMINAL),
    };
    for (size_t i = 0; i < ARRAY_COUNT(FIELDS); i++)
        if (metric_set_has(wanted, FIELDS[i].metric))
            out->fields[out->field_count++] = (unsigned char)i;
    for (size_t i = 0; i < ARRAY_COUNT(NUMBERS); i++)
        if (metric_set_has(wanted, NUMBERS[i].metric))
            out->numbers[out->number_count++] = (unsigned char)i;
    for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
        vitals_metric metric = metric_of(VITALS_PROCESS, number);
        if (metric_set_has(wanted, metric) && vitals_metric_price(metric) == VITALS_PRICE_LANE)
            out->details[out->detail_count++] = metric;
    }
}

static void write_fields(const struct process *process, const struct row_columns *columns,
                         vitals_builder *builder)
{
    for (size_t i = 0; i < columns->field_count; i++) {
        unsigned char at = columns->fields[i];
        struct value value = value_missing(VITALS_FAILED);
        if ((process->stat.has & FIELDS[at].bit) != 0) {
            memcpy(&value.as, (const char *)&process->stat + FIELDS[at].place, sizeof value.as);
            value.state = VITALS_HAVE;
        }
        builder_value(builder, FIELDS[at].metric, value);
    }
}

static void write_numbers(const struct process_reader *reader, const struct process *process,
                          const struct row_columns *columns, vitals_builder *builder)
{
    for (size_t i = 0; i < columns->number_count; i++) {
        unsigned char at = columns->numbers[i];
        builder_value(builder, NUMBERS[at].metric, NUMBERS[at].get(reader, process));
        uint64_t moment = 0;
        if (NUMBERS[at].moment != 0)
            memcpy(&moment, (const char *)process + NUMBERS[at].moment, sizeof moment);
        if (moment != 0 && moment != process->stamp_ns)
            vitals_builder_read_at(builder, NUMBERS[at].metric, moment);
    }
}

static void write_word(vitals_builder *builder, vitals_metric metric, bool known, const char *word)
{
    vitals_builder_text(builder, metric, (vitals_text){word, strlen(word)},
                        known ? VITALS_HAVE : VITALS_FAILED);
}

static void write_terminal(const struct process *process, vitals_builder *builder)
{
    if ((process->stat.has & OS_STAT_TERMINAL) == 0)
        vitals_builder_missing(builder, VITALS_PROCESS_TERMINAL, VITALS_FAILED);
    else if (process->terminal_device == 0)
        vitals_builder_text(builder, VITALS_PROCESS_TERMINAL, (vitals_text){"", 0}, VITALS_HAVE);
    else
        builder_shared(builder, VITALS_PROCESS_TERMINAL, process->terminal, VITALS_HAVE);
}

static void write_texts(const struct process *process, const struct row_columns *columns,
                        vitals_builder *builder)
{
    const struct os_stat *stat = &process->stat;
    if (columns->state)
        write_word(builder, VITALS_PROCESS_STATE, (stat->has & OS_STAT_STATE) != 0,
                   words_state(stat->state));
    if (columns->policy)
        write_word(builder, VITALS_PROCESS_SCHEDULING_POLICY, (stat->has & OS_STAT_POLICY) != 0,
                   words_policy(stat->policy));
    if (columns->name)
        builder_shared(builder, VITALS_PROCESS_NAME, process->name,
                       process->name != NULL ? VITALS_HAVE : VITALS_FAILED);
    if (columns->terminal)
        write_terminal(process, builder);
}

/* The name, or what it is the beginning of, where the kernel may have cut it. What the worker read
 * is the last part of the first argument. Bytes are compared: a letter may be cut in its middle. */
static void write_program_name(const struct process *process, const struct process_detail *detail,
                               vitals_builder *builder)
{
    enum { KERNEL_NAME = 15 };
    struct shared_text *name = process->name, *program = detail->as.text;
    vitals_availability state = VITALS_HAVE;
    if (name == NULL) {
        state = VITALS_FAILED;
    } else if (name->size >= KERNEL_NAME && program == NULL) {
        state = VITALS_LOWER_BOUND;
    } else if (name->size >= KERNEL_NAME && program->size >= name->size &&
               memcmp(program->bytes, name->bytes, name->size) == 0) {
        state = (vitals_availability)detail->state;
        name = program;
    }
    builder_shared(builder, VITALS_PROCESS_PROGRAM_NAME, name, state);
}

static void write_detail(const struct process *process, const struct process_detail *detail,
                         vitals_builder *builder)
{
    vitals_availability state = (vitals_availability)detail->state;
    if (detail->metric == VITALS_PROCESS_PROGRAM_NAME)
        write_program_name(process, detail, builder);
    else if (vitals_metric_type(detail->metric) == VITALS_TEXT)
        builder_shared(builder, detail->metric, detail->as.text, state);
    else
        builder_value(builder, detail->metric,
                      (struct value){.as.u64 = detail->as.number, .state = detail->state});
    if (detail->read_ns != 0)
        vitals_builder_read_at(builder, detail->metric, detail->read_ns);
}

/* Both are in the order of metrics. */
static void write_details(const struct process *process, const struct row_columns *columns,
                          vitals_builder *builder)
{
    size_t at = 0;
    for (size_t i = 0; i < columns->detail_count; i++) {
        while (at < process->detail_count && process->details[at].metric < columns->details[i])
            at++;
        if (at < process->detail_count && process->details[at].metric == columns->details[i])
            write_detail(process, &process->details[at], builder);
        else
            vitals_builder_missing(builder, columns->details[i], VITALS_NOT_YET);
    }
}

void rows_write(const struct process_reader *reader, const struct process *process, uint64_t parent,
                const struct row_columns *columns, vitals_builder *builder)
{
    vitals_text label = {"", 0};
    if (process->name != NULL)
        label = (vitals_text){process->name->bytes, process->name->size};
    vitals_builder_row(builder, VITALS_PROCESS, process->key, parent, label, process->stamp_ns);
    builder_value(builder, VITALS_PROCESS_PID, value_u64((uint64_t)process->files.pid));
    if (process->state != VITALS_HAVE) {
        builder_rest(builder, VITALS_PROCESS, process->state);
        return;
    }
    write_fields(process, columns, builder);
    write_numbers(reader, process, columns, builder);
    write_texts(process, columns, builder);
    write_details(process, columns, builder);
}
