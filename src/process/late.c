/* late.c: what becomes of a question that a worker does not answer.
 *
 * If the worker hangs in a process, its owner gives the batch up: only the answer of that process
 * counts, once it comes, and the others are asked anew. Thread rule: the tick thread. */
#include "process/entry.h"

/* ---- in a batch ---- */

void process_batch_keep(struct process_batch *batch, uint64_t key)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->wants[i].key != key)
            batch->wants[i].key = 0;
}

/* ---- in the table ---- */

void process_table_return(struct process_table *table, const struct process_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct process *process = process_by_key(table, batch->wants[i].key);
        for (unsigned j = batch->turn; process != NULL && j < batch->turn + batch->turn_count; j++)
            process->turns[j].asked = process->turns[j].pending = false;
    }
}

void process_table_hold(struct process_table *table, uint64_t key, unsigned turn,
                        unsigned turn_count, bool held)
{
    struct process *process = process_by_key(table, key);
    for (unsigned i = turn; process != NULL && i < turn + turn_count; i++)
        process->turns[i].pending = held;
}

static bool is_overdue(const struct process *process, const struct process_question *question,
                       uint64_t now_ns)
{
    for (unsigned i = 0; i < question->turn_count; i++) {
        unsigned turn = question->turn + i;
        uint64_t asked_ns = process->turns[turn].asked_ns;
        bool old = now_ns >= asked_ns && now_ns - asked_ns >= question->every_ns[i];
        if (process->turns[turn].pending || !process->turns[turn].asked || old)
            return true;
    }
    return false;
}

/* Makes what was answered before stale; `never` is what was not. */
static void make_stale(struct process *process, const struct metric_set *wanted,
                       struct metric_set *never)
{
    *never = *wanted;
    for (size_t i = 0; i < process->detail_count; i++) {
        struct process_detail *detail = &process->details[i];
        if (!metric_set_has(wanted, detail->metric))
            continue;
        metric_set_remove(never, detail->metric);
        if (detail->state > 0)
            detail->state = VITALS_STALE;
        else if (detail->state == VITALS_NOT_YET)
            detail->state = VITALS_TIMED_OUT;
    }
}

/* As if the process had answered so. Without memory for it, it stays NOT_YET. */
static void time_out(struct process *process, const struct metric_set *never,
                     struct row_batch *batch)
{
    batch_reset(batch, never);
    const struct batch_row *row = batch_add_row(batch, VITALS_PROCESS, process->key,
                                                (struct span){"", 0});
    for (unsigned number = 1; row != NULL && number < METRIC_NUMBERS; number++)
        if (metric_set_has(never, metric_of(VITALS_PROCESS, number)))
            batch_set_missing(batch, metric_of(VITALS_PROCESS, number), VITALS_TIMED_OUT);
    if (!batch->failed)
        detail_take(process, batch, row, never, false, 0);
}

void process_table_late(struct process_table *table, const struct process_question *question,
                        uint64_t now_ns)
{
    struct metric_set wanted, never;
    struct row_batch batch = {0};
    detail_wanted(question->wanted, &wanted);
    for (size_t i = 0; i < table->key_count; i++) {
        struct process *process = table->by_key[i];
        if (process->key == 0 || process->state != VITALS_HAVE || !tree_has_row(table, process) ||
            !is_overdue(process, question, now_ns))
            continue;
        make_stale(process, &wanted, &never);
        if (metric_set_has_entity(&never, VITALS_PROCESS))
            time_out(process, &never, &batch);
    }
    batch_done(&batch);
}
