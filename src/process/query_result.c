/* query_result.c: see query_result.h. */
#include "process/query_result.h"

#include "process/detail.h"
#include "util/error.h"
#include "util/memory.h"

#include <errno.h>
#include <string.h>

/* A pid has 22 bits (the kernel's PID_MAX_LIMIT); the rest tells when it started, and comes round
 * after 248 days of clock ticks. */
enum { PID_BITS = 22, START_BITS = 53 - PID_BITS };

uint64_t answer_key(int64_t pid, uint64_t start_ticks)
{
    if (pid < 1 || pid >> PID_BITS != 0)
        return 0;
    return (uint64_t)pid << START_BITS | (start_ticks & ((UINT64_C(1) << START_BITS) - 1));
}

uint64_t answer_own_key(const vitals_process *process)
{
    uint64_t key = answer_key(process->files.pid, process->start_ticks);
    return key != 0 ? key : 1; // of a tree of files
}

static vitals_text text_of(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

static int out_of_memory(vitals_error *error)
{
    return error_set(error, VITALS_EMEMORY, 0, "out of memory");
}

/* What of the table host goes with a process: for shares and dates. */
static const vitals_metric OF_HOST[] = {VITALS_HOST_MEMORY_TOTAL_BYTES,
                                        VITALS_HOST_BOOT_TIME_SECONDS};

static void choose(struct query_result *answer, const struct metric_set *wanted)
{
    struct metric_set *mine = &answer->wanted;
    *mine = (struct metric_set){0};
    memcpy(mine->bits[VITALS_PROCESS], wanted->bits[VITALS_PROCESS],
           sizeof mine->bits[VITALS_PROCESS]);
    metric_set_add(mine, VITALS_PROCESS_PID);
    metric_set_add(mine, VITALS_PROCESS_START_SECONDS);
    for (size_t i = 0; i < ARRAY_COUNT(OF_HOST); i++)
        if (metric_set_has(wanted, OF_HOST[i]))
            metric_set_add(mine, OF_HOST[i]);
    detail_wanted(mine, &answer->details);
    answer->extras = reader_extras(mine);
}

int answer_begin(struct query_result *answer, vitals_process *process,
                 const struct metric_set *wanted, vitals_error *error)
{
    const struct os *os = &process->context->os;
    const struct os_origin *origin = &process->context->origin;
    *answer = (struct query_result){.process = process, .reader = {.context = process->context}};
    choose(answer, wanted);
    bool details = metric_set_has_entity(&answer->details, VITALS_PROCESS);
    if (details && process->users == NULL && (process->users = user_cache_new()) == NULL)
        return out_of_memory(error);
    int code = vitals_builder_new(&answer->builder, error);
    if (code < 0)
        return code;
    if (process->stream == 0)
        process->stream = os_random(os) % EXACT_MAX + 1;
    vitals_builder_begin(answer->builder);
    vitals_builder_origin(answer->builder, text_of(origin->host), text_of(origin->boot_id),
                          origin->pid_namespace);
    vitals_builder_stream(answer->builder, process->stream);
    builder_table_of(answer->builder, VITALS_PROCESS, &answer->wanted);
    rows_columns(&answer->columns, &answer->wanted);
    return 0;
}

static int read_details(struct query_result *answer, const struct process *process,
                        vitals_error *error)
{
    detail_reset(&answer->batch, &answer->details);
    answer->facts_ns = reader_now(&answer->reader);
    int result = detail_read(answer->process->context, answer->process->users, process->key,
                             process->files.pid, &answer->batch);
    return result == -ENOMEM ? out_of_memory(error) : 0;
}

int answer_read(struct query_result *answer, struct process *process, vitals_error *error)
{
    bool details = metric_set_has_entity(&answer->details, VITALS_PROCESS);
    if (details && read_details(answer, process, error) < 0)
        return VITALS_EMEMORY;
    bool same = reader_observe(&answer->reader, process, answer->extras);
    if (answer->reader.out_of_memory)
        return out_of_memory(error);
    // Here every stat is fresh: one that does not tell when it started proves nothing.
    if (!same || process->state != VITALS_HAVE || (process->stat.has & OS_STAT_START) == 0)
        return 0;
    if (details)
        detail_take(process, &answer->batch, &answer->batch.rows[0], &answer->details,
                    process->stat.state == 'Z', answer->facts_ns);
    return 1;
}

void answer_row(struct query_result *answer, const struct process *process, uint64_t parent)
{
    rows_write(&answer->reader, process, parent, &answer->columns, answer->builder);
}

static void write_host(struct query_result *answer)
{
    enum { HOST_KEY = 1 };
    vitals_builder *builder = answer->builder;
    if (!metric_set_has_entity(&answer->wanted, VITALS_HOST))
        return;
    struct os_host files;
    struct os_machine machine = {0};
    os_host_init(&files);
    os_host_read(&files, &answer->process->context->os, &answer->wanted, &machine);
    builder_table_of(builder, VITALS_HOST, &answer->wanted);
    vitals_builder_row(builder, VITALS_HOST, HOST_KEY, 0, (vitals_text){"host", 4},
                       reader_now(&answer->reader));
    builder_values(builder, VITALS_HOST, &machine.values);
    builder_rest(builder, VITALS_HOST, VITALS_UNSUPPORTED);
    os_machine_done(&machine);
    os_host_done(&files);
}

int answer_finish(struct query_result *answer, vitals_snapshot **out, vitals_error *error)
{
    const vitals_clock *clock = &answer->process->context->os.clock;
    write_host(answer);
    vitals_builder_moment(answer->builder, clock->realtime_ns(clock->data),
                          clock->boottime_ns(clock->data), clock->monotonic_ns(clock->data),
                          answer->process->asked + 1);
    int code = vitals_builder_finish(answer->builder, out, error);
    answer->process->asked += code == 0;
    return code;
}

void answer_done(struct query_result *answer)
{
    vitals_builder_free(answer->builder);
    batch_done(&answer->batch);
    buffer_done(&answer->reader.text);
}
