/* query_queue.c: what workers are asked of each process, and what becomes of their answers.
 *
 * A worker reads by pid, so an answer counts only if the process that was asked about still lives
 * when it is taken. If the worker hangs in a process, its owner gives the batch up: only the answer
 * of that process counts, once it comes, and the others are asked anew. Thread rule: the tick
 * thread, but for process_batch_read and _done. */
#include "process/entry.h"

#include <errno.h>

/* ---- asking ---- */

/* Reading one process may take at most this fraction of the wall time. A reading that took longer
 * than HUNG_NS was waiting and not working: that is left to workers that are left behind. */
enum { SHARE = 100 };
static const uint64_t LONG_NS = NS_PER_MS, HUNG_NS = NS_PER_SECOND / 2;

/* Other processes may change it even while it is idle: what it shares, what is taken from it. By
 * the word of the kernel a process is idle for long, and is then asked less often still. */
static const uint64_t RESTING_NS = 5 * NS_PER_SECOND, RESTING_LONG_NS = 120 * NS_PER_SECOND;
static const uint64_t SELDOM_NS = 15 * NS_PER_SECOND;

static bool is_due(const struct process *process, const struct process_question *question,
                   uint64_t now)
{
    const struct process_activity *activity = &process->activity;
    if (process->state != VITALS_HAVE)
        return false;
    for (unsigned i = 0; i < question->turn_count; i++) {
        const struct process_turn *turn = &process->turns[question->turn + i];
        bool is_work = turn->spent_ns >= LONG_NS && turn->spent_ns < HUNG_NS;
        uint64_t pause_ns = uint64_max(question->every_ns[i], is_work ? turn->spent_ns * SHARE : 0);
        /* A process that has not run since it was asked is asked again later. */
        if (activity->digest.mark != 0 && activity->digest.mark == turn->digest &&
            pause_ns >= SELDOM_NS)
            pause_ns = uint64_max(pause_ns, RESTING_LONG_NS);
        else if (activity->clock.mark != 0 && activity->clock.mark == turn->cpu_ns)
            pause_ns = uint64_max(pause_ns, RESTING_NS);
        bool old = now >= turn->asked_ns && now - turn->asked_ns >= pause_ns;
        if (turn->pending || (turn->asked && !old))
            return false;
    }
    return true;
}

static bool is_kernel_thread(const struct process *process)
{
    const struct os_stat *stat = &process->stat;
    const unsigned needed = OS_STAT_STATE | OS_STAT_FLAGS;
    return (stat->has & needed) == needed && stat->state != 'Z' &&
           (stat->flags & OS_KERNEL_THREAD) != 0;
}

size_t process_table_due(struct process_table *table, const struct process_question *question,
                         uint64_t now, struct process_batch *batch, size_t capacity)
{
    batch->turn = question->turn;
    batch->turn_count = question->turn_count;
    batch->count = 0;
    detail_wanted(question->wanted, &batch->wanted);
    if (!metric_set_has_entity(&batch->wanted, VITALS_TABLE_PROCESS))
        return 0;
    capacity = size_min(capacity, PROCESS_BATCH);
    for (size_t i = 0; i < table->key_count && batch->count < capacity; i++) {
        struct process *process = table->by_key[i];
        bool ended = process->key == 0; // in this very tick
        if (ended || !is_due(process, question, now) || !tree_has_row(table, process))
            continue;
        batch->wants[batch->count++] = (struct process_want){process->key, process->files.pid,
                                                             is_kernel_thread(process)};
        for (unsigned j = question->turn; j < question->turn + question->turn_count; j++) {
            struct process_turn *turn = &process->turns[j];
            turn->asked = turn->pending = true;
            turn->asked_ns = now;
            turn->cpu_ns = process->activity.clock.mark;
            turn->digest = process->activity.digest.mark;
        }
    }
    return batch->count;
}

void process_batch_read(const vitals_context *context, struct user_cache *users,
                        struct process_batch *batch, const struct os_gate *gate)
{
    static const size_t TEXT_LIMIT = 4 << 20;
    const vitals_clock *clock = &context->os.clock;
    struct row_batch *rows = &batch->rows;
    detail_reset(rows, &batch->wanted);
    for (size_t i = 0; i < batch->count && rows->text.size < TEXT_LIMIT; i++) {
        const struct process_want *want = &batch->wants[i];
        if (gate != NULL && !gate->enter(gate->data, want->key))
            break;
        batch->read_ns[i] = clock->monotonic_ns(clock->data);
        int result = detail_read(context, users, want, rows);
        batch->spent_ns[i] = clock->monotonic_ns(clock->data) - batch->read_ns[i];
        if (gate != NULL)
            gate->leave(gate->data, want->key);

        if (result == -ENOMEM)
            break;
        batch->refused[i] = result < 0;
    }
}

/* ---- taking ---- */

/* Whether the process that was asked about still lives: then every answer since its key was given
 * was its own. In a real /proc a kept statm says so as stat does, and costs the kernel a third; of
 * a new process it is read here for the first time. */
static bool is_proven(struct process_table *table, struct process *process, bool state,
                      bool *zombie)
{
    *zombie = false;
    if (!process->kept) {
        bool same = process_refresh(table, process, false) && process->state == VITALS_HAVE;
        *zombie = process->stat.state == 'Z';
        return same;
    }
    struct os_statm statm;
    if (!state && process->files.statm >= 0 && table->reader.context->os.live)
        return process->statm_due ? reader_statm(&table->reader, process) == 0
                                  : os_process_statm(&process->files, &statm) == 0;
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    int result = os_process_stat(&process->files, text, &stat);
    *zombie = result == 0 && stat.state == 'Z';
    return result == 0 && process_same_start(process, &stat);
}

static bool is_awaited(const struct process *process)
{
    bool awaited = false;
    for (unsigned i = 0; i < PROCESS_TURNS; i++)
        awaited |= process->turns[i].pending;
    return awaited;
}

/* False where there were no descriptors to read it with. */
static bool take(struct process_table *table, const struct process_batch *batch, size_t index)
{
    struct process *process = process_by_key(table, batch->wants[index].key);
    if (process == NULL)
        return true;
    // A process that was not read because memory was out is read in its next turn; one for which
    // there was no room or no descriptor, again at once.
    bool failed = batch->rows.failed, reached = !failed && index < batch->rows.row_count;
    bool refused = reached && batch->refused[index], read = reached && !refused;
    for (unsigned i = batch->turn; i < batch->turn + batch->turn_count; i++) {
        struct process_turn *turn = &process->turns[i];
        turn->pending = false;
        turn->asked = turn->asked && (read || failed);
        turn->spent_ns = read ? batch->spent_ns[index] : turn->spent_ns;
    }
    if (!read || process->state != VITALS_HAVE)
        return !refused;
    const struct batch_row *row = &batch->rows.rows[index];
    /* An answer without arguments means something else of a zombie: they are gone. */
    bool of_command = !batch->wants[index].kernel_thread &&
                      (metric_set_has(&batch->wanted, VITALS_PROCESS_COMMAND_LINE) ||
                       metric_set_has(&batch->wanted, VITALS_PROCESS_PROGRAM_NAME));
    const struct batch_cell *cell = batch_find(&batch->rows, row, VITALS_PROCESS_COMMAND_LINE);
    bool empty = cell == NULL || cell->state <= 0 || cell->as.text.size == 0;
    bool zombie;
    if (is_proven(table, process, of_command && empty, &zombie))
        detail_take(process, &batch->rows, row, &batch->wanted, zombie, batch->read_ns[index]);
    else
        process->gone_tick = table->tick;
    if (table->once && !is_awaited(process))
        descriptors_close(table, process);
    return true;
}

enum process_taken process_table_take(struct process_table *table, struct process_batch *batch)
{
    static const size_t KEPT_MAX = 1 << 20;
    bool all = true;
    for (size_t i = 0; i < batch->count; i++)
        all = take(table, batch, i) && all;
    batch->count = 0;
    if (batch->rows.text.capacity > KEPT_MAX)
        batch_done(&batch->rows);
    if (all)
        return PROCESS_TAKEN;
    return descriptors_relieve(table) ? PROCESS_RELIEVED : PROCESS_REFUSED;
}

/* ---- questions without an answer ---- */

void process_batch_keep(struct process_batch *batch, uint64_t key)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->wants[i].key != key)
            batch->wants[i].key = 0;
}

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

/* Earlier answers become stale. A process without one gets TIMED_OUT, or stays NOT_YET if memory is
 * out. */
static void time_out(struct process *process, const struct metric_set *wanted,
                     struct row_batch *batch)
{
    struct metric_set never = *wanted;
    for (size_t i = 0; i < process->detail_count; i++) {
        struct process_detail *detail = &process->details[i];
        if (!metric_set_has(wanted, detail->metric))
            continue;
        metric_set_remove(&never, detail->metric);
        if (detail->state > 0)
            detail->state = VITALS_STALE;
        else if (detail->state == VITALS_NOT_YET)
            detail->state = VITALS_TIMED_OUT;
    }
    if (!metric_set_has_entity(&never, VITALS_TABLE_PROCESS))
        return;

    batch_reset(batch, &never);
    const struct batch_row *row = batch_add_row(batch, VITALS_TABLE_PROCESS, process->key,
                                                (struct span){"", 0});
    for (unsigned number = 1; row != NULL && number < METRIC_NUMBERS; number++)
        if (metric_set_has(&never, metric_of(VITALS_TABLE_PROCESS, number)))
            batch_set_missing(batch, metric_of(VITALS_TABLE_PROCESS, number), VITALS_TIMED_OUT);
    if (!batch->failed)
        detail_take(process, batch, row, &never, false, 0);
}

void process_table_late(struct process_table *table, const struct process_question *question,
                        uint64_t now_ns)
{
    struct metric_set wanted;
    struct row_batch batch = {0};
    detail_wanted(question->wanted, &wanted);
    for (size_t i = 0; i < table->key_count; i++) {
        struct process *process = table->by_key[i];
        bool overdue = false;
        for (unsigned j = 0; j < question->turn_count; j++) {
            const struct process_turn *turn = &process->turns[question->turn + j];
            overdue |= turn->pending || !turn->asked ||
                       (now_ns >= turn->asked_ns &&
                        now_ns - turn->asked_ns >= question->every_ns[j]);
        }
        if (overdue && process->key != 0 && process->state == VITALS_HAVE &&
            tree_has_row(table, process))
            time_out(process, &wanted, &batch);
    }
    batch_done(&batch);
}
