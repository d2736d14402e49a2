/* answers.c: what lanes are asked of each process, and what becomes of their answers.
 *
 * A lane reads by pid, so an answer counts only if the process that was asked about still lives
 * when it is taken. Thread rule: the tick thread. */
#include "process/entry.h"

static unsigned details_of(const struct metric_set *wanted)
{
    unsigned bits = 0;
    if (metric_set_has(wanted, VITALS_PROCESS_UID) || metric_set_has(wanted, VITALS_PROCESS_USER))
        bits |= PROCESS_DETAIL_USER;
    if (metric_set_has(wanted, VITALS_PROCESS_COMMAND_LINE))
        bits |= PROCESS_DETAIL_COMMAND;
    if (metric_set_has(wanted, VITALS_PROCESS_CGROUP))
        bits |= PROCESS_DETAIL_CGROUP;
    return bits;
}

static bool is_due(const struct process *process, uint64_t now, uint64_t every_ns)
{
    if (process->state != VITALS_HAVE)
        return false;
    bool old = now >= process->asked_ns && now - process->asked_ns >= every_ns;
    return !process->asked || process->renamed || old;
}

size_t process_table_due(struct process_table *table, const struct metric_set *wanted, uint64_t now,
                         uint64_t every_ns, struct process_want *wants, size_t capacity)
{
    unsigned bits = details_of(wanted);
    size_t count = 0;
    for (size_t i = 0; bits != 0 && i < table->key_count && count < capacity; i++) {
        struct process *process = table->by_key[i];
        if (!tree_has_row(table, process) || !is_due(process, now, every_ns))
            continue;
        wants[count++] = (struct process_want){process->key, process->files.pid, bits};
        process->asked = true;
        process->renamed = false;
        process->asked_ns = now;
    }
    return count;
}

/* Whether the process that was asked about still lives: then every answer since its key was given
 * was its own. */
static bool is_proven(struct process_table *table, struct process *process)
{
    if (!process->kept)
        return process_refresh(table, process, false) && process->state == VITALS_HAVE;
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    return os_process_stat(&process->files, text, &stat) == 0 && process_same_start(process, &stat);
}

/* The new text in place of the old; an equal one is dropped, so that snapshots go on sharing. */
static void take_text(struct shared_text **text, signed char *state, struct shared_text **fresh,
                      signed char fresh_state)
{
    *state = fresh_state;
    if (*fresh != NULL && shared_text_equal(*text, (*fresh)->bytes, (*fresh)->size))
        return;
    shared_text_unref(*text);
    *text = *fresh;
    *fresh = NULL;
}

/* A zombie has given its memory back, and its arguments with it: what was read before stands. */
static void take_command(struct process *process, struct process_detail *answer)
{
    struct process_detail *detail = &process->detail;
    bool zombie = (process->stat.has & OS_STAT_STATE) != 0 && process->stat.state == 'Z';
    bool empty = answer->command == NULL || answer->command->size == 0;
    if (!zombie || !empty)
        take_text(&detail->command, &detail->command_state, &answer->command,
                  answer->command_state);
    else
        detail->command_state = detail->command != NULL ? VITALS_STALE : VITALS_GONE;
}

static void take_answer(struct process *process, struct process_detail *answer)
{
    struct process_detail *detail = &process->detail;
    if ((answer->bits & PROCESS_DETAIL_USER) != 0) {
        detail->uid = answer->uid;
        take_text(&detail->user, &detail->user_state, &answer->user, answer->user_state);
    }
    if ((answer->bits & PROCESS_DETAIL_COMMAND) != 0)
        take_command(process, answer);
    if ((answer->bits & PROCESS_DETAIL_CGROUP) != 0)
        take_text(&detail->cgroup, &detail->cgroup_state, &answer->cgroup, answer->cgroup_state);
}

void process_table_take(struct process_table *table, struct process_detail *details, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct process *process = process_by_key(table, details[i].key);
        if (process != NULL && process->state == VITALS_HAVE && is_proven(table, process))
            take_answer(process, &details[i]);
        process_detail_done(&details[i]);
    }
}
