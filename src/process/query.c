/* query.c: everything that a request names of one process, in one pass.
 *
 * The files are read by pid, in no order that matters; the handle's stat comes last, and proves
 * that all of them were this process's own. Thread rule: one thread at a time per handle. */
#include "process/query_result.h"

#include "model/request.h"
#include "util/error.h"

#include <errno.h>

/* Tables that a process answers for: its own, and the sockets that it holds. */
static bool is_asked(vitals_entity entity)
{
    return entity_is_of_handle(entity) || entity == VITALS_SOCKET;
}

static bool wants_anything(const struct metric_set *wanted)
{
    for (vitals_entity entity = 0; (entity = vitals_entity_next(entity)) != 0;)
        if ((entity == VITALS_PROCESS || is_asked(entity)) && metric_set_has_entity(wanted, entity))
            return true;
    return false;
}

/* What was asked, and the identity of the rows of each table: between two answers a key may have
 * been given again (a number of a thread), and a rate must not mix the two. */
static struct metric_set with_identities(const struct metric_set *asked)
{
    struct metric_set all = *asked;
    for (vitals_entity entity = 0; (entity = vitals_entity_next(entity)) != 0;)
        if (is_asked(entity) && metric_set_has_entity(asked, entity))
            metric_set_add_identities(&all, entity);
    return all;
}

/* Rows belong to the process; what the system gives no key gets its place. */
static void adopt(struct row_batch *batch, vitals_entity entity, uint64_t parent)
{
    bool owned = entity_is_of_handle(entity);
    for (size_t i = 0; i < batch->row_count; i++) {
        batch->rows[i].parent = owned ? parent : 0;
        if (batch->rows[i].key == 0)
            batch->rows[i].key = i + 1;
    }
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
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    builder_table_of(answer->builder, entity, wanted);
    if (result < 0) {
        vitals_builder_state(answer->builder, entity, os_availability(result));
        return 0;
    }
    adopt(batch, entity, key);
    builder_batch_rows(answer->builder, batch, entity, now_ns);
    return 0;
}

static int ask_tables(struct query_result *answer, const struct metric_set *wanted, uint64_t key,
                      vitals_error *error)
{
    struct row_batch batch = {0};
    int code = 0;
    for (vitals_entity entity = 0; code == 0 && (entity = vitals_entity_next(entity)) != 0;)
        if (is_asked(entity) && metric_set_has_entity(wanted, entity))
            code = ask_table(answer, entity, wanted, &batch, key, error);
    batch_done(&batch);
    return code;
}

/* The handle's process as a reader sees it: its start is known, so that stat proves it. */
static struct process subject_of(const vitals_process *process)
{
    return (struct process){
        .key = answer_own_key(process),
        .files = {.pid = process->files.pid, .stat = process->files.stat, .statm = -1},
        .stat = {.has = OS_STAT_START, .start_ticks = process->start_ticks},
    };
}

static int fill(struct query_result *answer, struct process *subject,
                const struct metric_set *wanted, vitals_error *error)
{
    int code = ask_tables(answer, wanted, subject->key, error);
    if (code == 0)
        code = answer_read(answer, subject, error);
    if (code == 0)
        return error_set(error, VITALS_EGONE, 0, "process %lld has ended",
                         (long long)subject->files.pid);
    if (code > 0)
        answer_row(answer, subject, 0);
    return code < 0 ? code : 0;
}

int vitals_process_ask(vitals_process *process, const vitals_request *request,
                       vitals_snapshot **out, vitals_error *error)
{
    if (!wants_anything(&request->wanted))
        return error_set(error, VITALS_EARGUMENT, 0,
                         "the request names nothing that a process could answer");
    struct query_result answer;
    struct process subject = subject_of(process);
    struct metric_set wanted = with_identities(&request->wanted);
    int code = answer_begin(&answer, process, &wanted, error);
    if (code == 0)
        code = fill(&answer, &subject, &wanted, error);
    if (code == 0)
        code = answer_finish(&answer, out, error);
    os_close_descriptor(subject.files.statm);
    process_done(&subject);
    answer_done(&answer);
    return code;
}
