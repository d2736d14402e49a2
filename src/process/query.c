/* query.c: everything that a request names of one process, in one pass.
 *
 * The files are read by pid, in no order that matters; the handle's stat comes last, and proves
 * that all of them were this process's own. Thread rule: one thread at a time per handle. */
#include "process/live.h"

#include "model/request.h"
#include "util/error.h"

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

int answer_begin(struct query_result *answer, vitals_process *process,
                 const struct metric_set *wanted, vitals_error *error)
{
    const struct os *os = &process->context->os;
    const struct os_origin *origin = &process->context->origin;
    *answer = (struct query_result){.process = process, .reader = {.context = process->context}};
    struct metric_set *mine = &answer->wanted;
    memcpy(mine->bits[VITALS_PROCESS], wanted->bits[VITALS_PROCESS],
           sizeof mine->bits[VITALS_PROCESS]);
    metric_set_add(mine, VITALS_PROCESS_PID);
    metric_set_add(mine, VITALS_PROCESS_START_SECONDS);
    for (size_t i = 0; i < ARRAY_COUNT(OF_HOST); i++)
        if (metric_set_has(wanted, OF_HOST[i]))
            metric_set_add(mine, OF_HOST[i]);
    detail_wanted(mine, &answer->details);
    answer->extras = reader_extras(mine);

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

int answer_read(struct query_result *answer, struct process *process, vitals_error *error)
{
    bool details = metric_set_has_entity(&answer->details, VITALS_PROCESS);
    if (details) {
        detail_reset(&answer->batch, &answer->details);
        answer->details_ns = reader_now(&answer->reader);
        int result = detail_read(answer->process->context, answer->process->users, process->key,
                                 process->files.pid, &answer->batch);
        if (result == -ENOMEM)
            return out_of_memory(error);
    }
    bool same = reader_observe(&answer->reader, process, answer->extras);
    if (answer->reader.out_of_memory)
        return out_of_memory(error);
    // Here every stat is fresh: one that does not tell when it started proves nothing.
    if (!same || process->state != VITALS_HAVE || (process->stat.has & OS_STAT_START) == 0)
        return 0;
    if (details)
        detail_take(process, &answer->batch, &answer->batch.rows[0], &answer->details,
                    process->stat.state == 'Z', answer->details_ns);
    return 1;
}

void answer_row(struct query_result *answer, const struct process *process, uint64_t parent)
{
    rows_write(&answer->reader, process, parent, &answer->columns, answer->builder);
}

int answer_finish(struct query_result *answer, vitals_snapshot **out, vitals_error *error)
{
    enum { HOST_KEY = 1 };
    vitals_builder *builder = answer->builder;
    const struct os *os = &answer->process->context->os;
    if (metric_set_has_entity(&answer->wanted, VITALS_HOST)) {
        struct os_host files;
        struct os_machine machine = {0};
        os_host_init(&files);
        os_host_read(&files, os, &answer->wanted, &machine);
        builder_table_of(builder, VITALS_HOST, &answer->wanted);
        vitals_builder_row(builder, VITALS_HOST, HOST_KEY, 0, (vitals_text){"host", 4},
                           reader_now(&answer->reader));
        builder_values(builder, VITALS_HOST, &machine.values);
        builder_rest(builder, VITALS_HOST, VITALS_UNSUPPORTED);
        os_machine_done(&machine);
        os_host_done(&files);
    }
    const vitals_clock *clock = &os->clock;
    vitals_builder_moment(builder, clock->realtime_ns(clock->data), clock->boottime_ns(clock->data),
                          clock->monotonic_ns(clock->data), answer->process->asked + 1);
    int code = vitals_builder_finish(builder, out, error);
    answer->process->asked += code == 0;
    return code;
}

void answer_done(struct query_result *answer)
{
    vitals_builder_free(answer->builder);
    batch_done(&answer->batch);
    buffer_done(&answer->reader.text);
}

/* ---- one process ---- */

/* Tables that a process answers for: its own, and the sockets that it holds. */
static bool is_asked(vitals_entity entity)
{
    return entity_is_of_handle(entity) || entity == VITALS_SOCKET;
}

static int ask_table(struct query_result *answer, vitals_entity entity,
                     const struct metric_set *wanted, struct row_batch *batch, uint64_t key,
                     vitals_error *error)
{
    const vitals_process *process = answer->process;
    uint64_t now_ns = reader_now(&answer->reader);
    batch_reset(batch, wanted);
    int result = os_process_table(&process->context->os, process->files.pid, entity, batch);
    if (result == -ENOMEM || batch->failed)
        return out_of_memory(error);
    builder_table_of(answer->builder, entity, wanted);
    if (result < 0) {
        vitals_builder_state(answer->builder, entity, os_availability(result));
        return 0;
    }
    /* Rows belong to the process; what the system gives no key gets its place. */
    for (size_t i = 0; i < batch->row_count; i++) {
        batch->rows[i].parent = entity_is_of_handle(entity) ? key : 0;
        if (batch->rows[i].key == 0)
            batch->rows[i].key = i + 1;
    }
    builder_batch_rows(answer->builder, batch, entity, now_ns);
    return 0;
}

int vitals_process_ask(vitals_process *process, const vitals_request *request,
                       vitals_snapshot **out, vitals_error *error)
{
    /* What was asked, and the identity of the rows of each table: between two answers a key may
     * have been given again (a number of a thread), and a rate must not mix the two. */
    struct metric_set wanted = request->wanted;
    bool any = metric_set_has_entity(&wanted, VITALS_PROCESS);
    for (vitals_entity entity = 0; (entity = vitals_entity_next(entity)) != 0;) {
        if (!is_asked(entity) || !metric_set_has_entity(&request->wanted, entity))
            continue;
        any = true;
        metric_set_add_identities(&wanted, entity);
    }
    if (!any)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "the request names nothing that a process could answer");

    /* Its start is known, so that stat proves it. The pid of a tree of files may have no key. */
    uint64_t key = answer_key(process->files.pid, process->start_ticks);
    struct process subject = {
        .key = key != 0 ? key : 1,
        .files = {.pid = process->files.pid, .stat = process->files.stat, .statm = -1},
        .stat = {.has = OS_STAT_START, .start_ticks = process->start_ticks},
    };
    struct query_result answer;
    struct row_batch batch = {0};
    int code = answer_begin(&answer, process, &wanted, error);
    for (vitals_entity entity = 0; code == 0 && (entity = vitals_entity_next(entity)) != 0;)
        if (is_asked(entity) && metric_set_has_entity(&wanted, entity))
            code = ask_table(&answer, entity, &wanted, &batch, subject.key, error);
    if (code == 0) {
        code = answer_read(&answer, &subject, error);
        if (code == 0)
            code = error_set(error, VITALS_EGONE, 0, "process %lld has ended",
                             (long long)subject.files.pid);
    }
    if (code > 0) {
        answer_row(&answer, &subject, 0);
        code = answer_finish(&answer, out, error);
    }
    os_close_descriptor(subject.files.statm);
    process_done(&subject);
    batch_done(&batch);
    answer_done(&answer);
    return code;
}
