/* relatives.c: the parents and children of a process.
 *
 * Upwards each parent's stat is read. Downwards no file in /proc tells all children for certain
 * (task/TID/children is the list of a thread, and omits some while their siblings end), so stat of
 * every process is read once, and the tree made of that. A parent is never younger than its child:
 * a younger one only has the number. Processes that may not be read are omitted, and the answer
 * says so. Thread rule: one thread at a time per handle. */
#include "process/live.h"

#include "model/request.h"
#include "util/error.h"
#include "util/hash.h"
#include "util/memory.h"
#include "util/search.h"

#include <errno.h>
#include <stdlib.h>

enum kin_mark { UNKNOWN, WANTED, OTHER, SUBJECT };

struct relatives_kin {
    int64_t pid;
    struct os_stat stat; /* the name in it is not used */
    size_t name_at, name_size;
    uint64_t stamp_ns;
    enum kin_mark mark;
};

struct relatives_family {
    const vitals_process *process;
    struct relatives_kin *items; /* in the order of pids, once all are found */
    size_t count, capacity;
    struct hash above; /* on the way up: the pids that are known */
    struct buffer names;
    bool partial; /* some process may not be read */
};

/* ---- reading ---- */

static int fail(int result, const char *what, vitals_error *error)
{
    if (result == -ENOMEM)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    return error_system(error, -result, "%s", what);
}

/* Adds a process: 0, or negative errno where its stat cannot be read or does not tell enough. */
static int read_kin(struct relatives_family *family, int64_t pid)
{
    const struct os *os = &family->process->context->os;
    struct os_process files;
    char text[OS_STAT_TEXT];
    struct relatives_kin kin = {.pid = pid, .stamp_ns = os->clock.monotonic_ns(os->clock.data)};
    int result = os_process_open(os, pid, false, &files);
    if (result < 0)
        return result;
    result = os_process_stat(&files, text, &kin.stat);
    os_process_close(&files);
    if (result < 0)
        return result;
    unsigned needed = OS_STAT_START | OS_STAT_PARENT;
    if ((kin.stat.has & needed) != needed || answer_key(pid, 0) == 0)
        return -EBADMSG;
    void *items = family->items;
    kin.name_at = family->names.size;
    kin.name_size = kin.stat.name.size;
    buffer_append(&family->names, kin.stat.name.bytes, kin.stat.name.size);
    if (family->names.failed ||
        memory_grow(&items, &family->capacity, family->count, sizeof *family->items) < 0)
        return -ENOMEM;
    kin.stat.name = (struct span){0};
    family->items = items;
    family->items[family->count++] = kin;
    return 0;
}

static bool is_gone(int result)
{
    return result == -ENOENT || result == -ESRCH;
}

/* Whether the failure is our own lack of memory or descriptors. */
static bool is_ours(int result)
{
    return result == -ENOMEM || result == -EMFILE || result == -ENFILE;
}

static int compare_pids(const void *a, const void *b)
{
    int64_t x = ((const struct relatives_kin *)a)->pid, y = ((const struct relatives_kin *)b)->pid;
    return (x > y) - (x < y);
}

static struct relatives_kin *kin_of(const struct relatives_family *family, int64_t pid)
{
    struct search_number number = {offsetof(struct relatives_kin, pid), (uint64_t)pid};
    return search_find(family->items, family->count, sizeof *family->items, number);
}

static bool may_be_parent(const struct os_stat *parent, const struct os_stat *child)
{
    return parent->start_ticks <= child->start_ticks;
}

/* Its parent, among those that were read. */
static struct relatives_kin *parent_of(const struct relatives_family *family,
                                       const struct relatives_kin *kin)
{
    struct relatives_kin *parent = kin_of(family, kin->stat.parent_pid);
    bool real = parent != NULL && parent != kin && may_be_parent(&parent->stat, &kin->stat);
    return real ? parent : NULL;
}

/* ---- upwards ---- */

/* The stat of the newest one on the way up: as it was read, or `again`; 0 or negative errno. */
static int last_stat(const struct relatives_family *family, bool again, struct os_stat *stat)
{
    char text[OS_STAT_TEXT];
    if (family->count == 0)
        return os_process_stat(&family->process->files, text, stat);
    const struct relatives_kin *last = &family->items[family->count - 1];
    *stat = last->stat;
    if (!again)
        return 0;
    struct os_process files;
    int result = os_process_open(&family->process->context->os, last->pid, false, &files);
    if (result == 0) {
        result = os_process_stat(&files, text, stat);
        os_process_close(&files);
    }
    bool same = result < 0 || stat->start_ticks == last->stat.start_ticks;
    return same ? result : -ESRCH;
}

/* Adds the parent of the last one: 1; 0: there is none; or a negative errno. A parent that has
 * ended meanwhile has left its child to another, so the child is asked again. */
static int climb(struct relatives_family *family)
{
    enum { TRIES = 8 };
    struct os_stat child;
    int64_t before = 0;
    bool hidden = false;
    for (int i = 0; i < TRIES; i++) {
        int result = last_stat(family, i > 0, &child);
        if (result < 0)
            return is_gone(result) ? 0 : result;
        if ((child.has & OS_STAT_PARENT) == 0 || child.parent_pid < 1 ||
            child.parent_pid == family->process->files.pid ||
            hash_find(&family->above, (uint64_t)child.parent_pid) != NULL)
            return 0;
        if (child.parent_pid == before) { // it is there, and hidden; or it never was its parent
            family->partial |= hidden;
            return 0;
        }
        before = child.parent_pid;
        result = read_kin(family, before);
        if (result == 0 && may_be_parent(&family->items[family->count - 1].stat, &child)) {
            family->items[family->count - 1].mark = WANTED;
            return hash_set(&family->above, (uint64_t)before, 1) < 0 ? -ENOMEM : 1;
        }
        hidden = result < 0;
        if (result == 0) {
            family->count--; // it only has its number
        } else if (!is_gone(result)) {
            family->partial = true;
            return is_ours(result) ? result : 0;
        }
    }
    return 0;
}

/* ---- downwards ---- */

static int find_down(struct relatives_family *family, bool all, vitals_error *error)
{
    const struct os *os = &family->process->context->os;
    struct os_pids pids = {0};
    int result = os_list_processes(os, &pids);
    if (result == 0) // in a pid namespace of ours there is always a first process: some are hidden
        family->partial = os->live && (pids.count == 0 || pids.items[0] != 1);
    for (size_t i = 0; result == 0 && i < pids.count; i++) {
        int read = read_kin(family, pids.items[i]);
        if (is_ours(read))
            result = read;
        else if (read < 0 && !is_gone(read))
            family->partial = true;
    }
    os_pids_done(&pids);
    if (result < 0)
        return fail(result, "the list of processes", error);

    struct relatives_kin *subject = kin_of(family, family->process->files.pid);
    if (subject == NULL || subject->stat.start_ticks != family->process->start_ticks)
        return 0; // it has ended, which the proof will say
    subject->mark = SUBJECT;
    for (size_t i = 0; i < family->count; i++) {
        struct relatives_kin *kin = &family->items[i];
        if (!all) {
            if (kin->stat.parent_pid == subject->pid && parent_of(family, kin) == subject)
                kin->mark = WANTED;
            continue;
        }
        /* Up to the first that is known, and the way is marked: each is judged once. */
        struct relatives_kin *at = kin;
        for (; at != NULL && at->mark == UNKNOWN; at = parent_of(family, at))
            at->mark = OTHER;
        bool wanted = at != NULL && at->mark != OTHER;
        for (struct relatives_kin *up = kin; wanted && up != at; up = parent_of(family, up))
            up->mark = WANTED;
    }
    return 0;
}

/* ---- the answer ---- */

/* Reads the rest of a process and writes its row; what stands in stat is known from the scan. A
 * process with the pid that started in the same clock tick but has another parent is another
 * process; or it has lost its parent, and descends from it no more. */
static int write_kin(struct query_result *answer, struct relatives_family *family,
                     const struct relatives_kin *kin, vitals_error *error)
{
    struct process process = {
        .key = answer_key(kin->pid, kin->stat.start_ticks),
        .files = {.pid = kin->pid, .stat = -1, .statm = -1},
        .state = VITALS_HAVE,
        .stat = kin->stat,
        .name = shared_text_new(family->names.bytes + kin->name_at, kin->name_size),
        .stamp_ns = kin->stamp_ns,
    };
    if (process.name == NULL)
        return fail(-ENOMEM, "", error);

    int code = 1; // 0: it has ended
    if (answer->extras != 0 || metric_set_has_entity(&answer->details, VITALS_PROCESS)) {
        int result = reader_open(&answer->reader, &process);
        if (is_ours(result))
            code = fail(result, "a relative of a process", error);
        else
            code = result < 0 ? 0 : answer_read(answer, &process, error);
        os_process_close(&process.files);
        bool downwards = family->above.count == 0;
        if (code > 0 && downwards && process.stat.parent_pid != kin->stat.parent_pid) {
            family->partial = true;
            code = 0;
        }
    }
    if (code > 0) {
        const struct relatives_kin *parent = parent_of(family, kin);
        bool told = parent != NULL && (parent->mark == WANTED || parent->mark == SUBJECT);
        answer_row(answer, &process, told ? answer_key(parent->pid, parent->stat.start_ticks) : 0);
    }
    process_done(&process);
    return code < 0 ? code : 0;
}

int vitals_process_relatives(vitals_process *process, vitals_relation relation,
                             const vitals_request *request, vitals_snapshot **out,
                             vitals_error *error)
{
    struct metric_set wanted = {0};
    if (request != NULL)
        wanted = request->wanted;
    metric_set_add(&wanted, VITALS_PROCESS_PARENT_PID);
    struct relatives_family family = {.process = process};
    struct query_result answer;
    int code = answer_begin(&answer, process, &wanted, error);
    if (code == 0) {
        bool all = relation == VITALS_ANCESTORS || relation == VITALS_DESCENDANTS;
        int up = 0;
        if (relation == VITALS_PARENT || relation == VITALS_ANCESTORS)
            do
                up = climb(&family);
            while (up > 0 && all);
        else if (relation == VITALS_CHILDREN || relation == VITALS_DESCENDANTS)
            code = find_down(&family, all, error);
        else
            code = error_set(error, VITALS_EARGUMENT, 0, "relation %d: there is no such one",
                             (int)relation);
        if (up < 0)
            code = fail(up, "the parents of a process", error);
        if (family.count != 0)
            qsort(family.items, family.count, sizeof *family.items, compare_pids);
    }
    for (size_t i = 0; i < family.count && code == 0; i++)
        if (family.items[i].mark == WANTED)
            code = write_kin(&answer, &family, &family.items[i], error);
    if (code == 0 && family.partial)
        vitals_builder_state(answer.builder, VITALS_PROCESS, VITALS_LOWER_BOUND);
    if (code == 0)
        code = live_prove(process, error);
    if (code == 0)
        code = answer_finish(&answer, out, error);
    answer_done(&answer);
    hash_done(&family.above);
    buffer_done(&family.names);
    memory_free(family.items);
    return code;
}
