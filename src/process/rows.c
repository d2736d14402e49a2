/* rows.c: the rows of the table process, from what the tick read.
 *
 * Each column is one line of a table: a field of stat, or a function. Nothing is read here.
 * Thread rule: the tick thread. */
#include "process/entry.h"

#include <string.h>

/* ---- states as words ---- */

enum { STATE_UNKNOWN = STATE_WORDS - 1 };

static const struct {
    const char *letters;
    const char *word;
} STATES[STATE_WORDS] = {
    {"R", "running"},      {"S", "sleeping"}, {"D", "disk_sleep"}, {"T", "stopped"},
    {"t", "tracing_stop"}, {"Z", "zombie"},   {"Xx", "dead"},      {"I", "idle"},
    {"P", "parked"},       {"", "unknown"},
};

int state_words_new(struct shared_text *words[static STATE_WORDS])
{
    for (size_t i = 0; i < STATE_WORDS; i++) {
        words[i] = shared_text_new(STATES[i].word, strlen(STATES[i].word));
        if (words[i] == NULL)
            return -1;
    }
    return 0;
}

void state_words_free(struct shared_text *words[static STATE_WORDS])
{
    for (size_t i = 0; i < STATE_WORDS; i++)
        shared_text_unref(words[i]);
}

static struct shared_text *word_of(const struct process_table *table, char letter)
{
    for (size_t i = 0; letter != '\0' && i < STATE_UNKNOWN; i++)
        if (strchr(STATES[i].letters, letter) != NULL)
            return table->words[i];
    return table->words[STATE_UNKNOWN];
}

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
};

static struct value ticks(const struct process_table *table, const struct process *process,
                          unsigned bit, uint64_t count)
{
    if ((process->stat.has & bit) == 0)
        return value_missing(VITALS_FAILED);
    return value_f64((double)count / table->context->os.ticks_per_second);
}

static struct value start_of(const struct process_table *table, const struct process *process)
{
    return ticks(table, process, OS_STAT_START, process->stat.start_ticks);
}

static struct value user_of(const struct process_table *table, const struct process *process)
{
    return ticks(table, process, OS_STAT_TIMES, process->stat.user_ticks);
}

static struct value system_of(const struct process_table *table, const struct process *process)
{
    return ticks(table, process, OS_STAT_TIMES, process->stat.system_ticks);
}

/* Clock ticks where the process's clock cannot be read: an estimate, in larger steps. */
static struct value cpu_of(const struct process_table *table, const struct process *process)
{
    if (process->cpu.state > 0 || process->cpu.state == VITALS_GONE)
        return process->cpu;
    const struct os_stat *stat = &process->stat;
    struct value value = ticks(table, process, OS_STAT_TIMES,
                               saturating_add(stat->user_ticks, stat->system_ticks));
    if (value.state > 0)
        value.state = VITALS_ESTIMATE;
    return value;
}

/* The field of stat lags behind on many CPUs: an estimate, where statm cannot be read. */
static struct value resident_of(const struct process_table *table, const struct process *process)
{
    if (process->resident.state > 0 || process->resident.state == VITALS_GONE ||
        (process->stat.has & OS_STAT_RESIDENT) == 0)
        return process->resident;
    struct value value = value_u64(
        saturating_mul(process->stat.resident_pages, table->context->os.page_bytes));
    value.state = VITALS_ESTIMATE;
    return value;
}

/* Kernel threads never have it, and a zombie no longer. */
static struct value peak_of(const struct process_table *table, const struct process *process)
{
    (void)table;
    bool zombie = (process->stat.has & OS_STAT_STATE) != 0 && process->stat.state == 'Z';
    if (process->peak.state == VITALS_UNSUPPORTED && zombie)
        return value_missing(VITALS_GONE);
    return process->peak;
}

static struct value read_of(const struct process_table *table, const struct process *process)
{
    (void)table;
    return process->read;
}

static struct value written_of(const struct process_table *table, const struct process *process)
{
    (void)table;
    return process->written;
}

static struct value uid_of(const struct process_table *table, const struct process *process)
{
    (void)table;
    return process->detail.uid;
}

/* `moment`: where the process says when the value was read; 0: with its row. */
static const struct {
    vitals_metric metric;
    struct value (*get)(const struct process_table *table, const struct process *process);
    uint16_t moment;
} NUMBERS[] = {
    {VITALS_PROCESS_START_SECONDS, start_of, 0},
    {VITALS_PROCESS_CPU_SECONDS, cpu_of, offsetof(struct process, cpu_ns)},
    {VITALS_PROCESS_CPU_USER_SECONDS, user_of, 0},
    {VITALS_PROCESS_CPU_SYSTEM_SECONDS, system_of, 0},
    {VITALS_PROCESS_RESIDENT_BYTES, resident_of, offsetof(struct process, resident_ns)},
    {VITALS_PROCESS_UID, uid_of, offsetof(struct process, detail.read_ns)},
    {VITALS_PROCESS_RESIDENT_PEAK_BYTES, peak_of, offsetof(struct process, peak_ns)},
    {VITALS_PROCESS_READ_BYTES, read_of, offsetof(struct process, io_ns)},
    {VITALS_PROCESS_WRITTEN_BYTES, written_of, offsetof(struct process, io_ns)},
};

/* The columns that the snapshot has, found once and not for each row. */
struct columns {
    unsigned char fields[ARRAY_COUNT(FIELDS)], numbers[ARRAY_COUNT(NUMBERS)];
    size_t field_count, number_count;
};

static struct columns columns_of(const vitals_builder *builder)
{
    struct columns columns = {0};
    for (size_t i = 0; i < ARRAY_COUNT(FIELDS); i++)
        if (builder_wants(builder, FIELDS[i].metric))
            columns.fields[columns.field_count++] = (unsigned char)i;
    for (size_t i = 0; i < ARRAY_COUNT(NUMBERS); i++)
        if (builder_wants(builder, NUMBERS[i].metric))
            columns.numbers[columns.number_count++] = (unsigned char)i;
    return columns;
}

static void write_numbers(const struct process_table *table, const struct process *process,
                          const struct columns *columns, vitals_builder *builder)
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
    for (size_t i = 0; i < columns->number_count; i++) {
        unsigned char at = columns->numbers[i];
        builder_value(builder, NUMBERS[at].metric, NUMBERS[at].get(table, process));
        uint64_t moment = 0;
        if (NUMBERS[at].moment != 0)
            memcpy(&moment, (const char *)process + NUMBERS[at].moment, sizeof moment);
        if (moment != 0 && moment != process->stamp_ns)
            vitals_builder_read_at(builder, NUMBERS[at].metric, moment);
    }
}

static void write_texts(const struct process_table *table, const struct process *process,
                        vitals_builder *builder)
{
    bool has_state = (process->stat.has & OS_STAT_STATE) != 0;
    struct shared_text *word = has_state ? word_of(table, process->stat.state) : NULL;
    const struct process_detail *detail = &process->detail;
    builder_shared(builder, VITALS_PROCESS_STATE, word, has_state ? VITALS_HAVE : VITALS_FAILED);
    builder_shared(builder, VITALS_PROCESS_NAME, process->name,
                   process->name != NULL ? VITALS_HAVE : VITALS_FAILED);
    static const vitals_metric LATER[] = {VITALS_PROCESS_USER, VITALS_PROCESS_COMMAND_LINE,
                                          VITALS_PROCESS_CGROUP};
    for (size_t i = 0; detail->read_ns != 0 && i < ARRAY_COUNT(LATER); i++)
        vitals_builder_read_at(builder, LATER[i], detail->read_ns);
    builder_shared(builder, VITALS_PROCESS_USER, detail->user, detail->user_state);
    builder_shared(builder, VITALS_PROCESS_COMMAND_LINE, detail->command, detail->command_state);
    builder_shared(builder, VITALS_PROCESS_CGROUP, detail->cgroup, detail->cgroup_state);
}

static void write_row(const struct process_table *table, const struct process *process,
                      const struct columns *columns, vitals_builder *builder)
{
    vitals_text label = {"", 0};
    if (process->name != NULL)
        label = (vitals_text){process->name->bytes, process->name->size};
    const struct process *parent = tree_parent(table, process);
    vitals_builder_row(builder, VITALS_PROCESS, process->key, parent != NULL ? parent->key : 0,
                       label, process->stamp_ns);
    builder_value(builder, VITALS_PROCESS_PID, value_u64((uint64_t)process->files.pid));
    if (process->state != VITALS_HAVE) {
        builder_rest(builder, VITALS_PROCESS, process->state);
        return;
    }
    write_numbers(table, process, columns, builder);
    write_texts(table, process, builder);
}

void process_table_write(const struct process_table *table, vitals_builder *builder,
                         const struct metric_set *wanted)
{
    if (!metric_set_has_entity(wanted, VITALS_PROCESS))
        return;
    builder_table_of(builder, VITALS_PROCESS, wanted);
    struct columns columns = columns_of(builder);
    for (size_t i = 0; i < table->key_count; i++)
        if (tree_has_row(table, table->by_key[i]))
            write_row(table, table->by_key[i], &columns, builder);
}
