/* table.c: which processes live, tick by tick: the list of pids against the processes that are
 * known.
 *
 * Two orders of the same entries are kept: by pid, to be merged with the list, and by key, in which
 * rows are written. Keys only grow, so a new process is the last of that order. Nothing is
 * allocated while no process starts, ends or changes its name. Thread rule: the tick thread. */
#include "process/entry.h"

#include "util/memory.h"
#include "util/search.h"

#include <errno.h>

/* ---- finding ---- */

static bool is_pid_before(const void *item, const void *pid)
{
    return (*(struct process *const *)item)->files.pid < *(const int64_t *)pid;
}

static bool is_key_before(const void *item, const void *key)
{
    return (*(struct process *const *)item)->key < *(const uint64_t *)key;
}

struct process *process_by_pid(const struct process_table *table, int64_t pid)
{
    size_t low = search_place(table->by_pid, table->count, sizeof *table->by_pid, &pid,
                              is_pid_before);
    bool found = low < table->count && table->by_pid[low]->files.pid == pid;
    return found ? table->by_pid[low] : NULL;
}

struct process *process_by_key(const struct process_table *table, uint64_t key)
{
    size_t low = search_place(table->by_key, table->key_count, sizeof *table->by_key, &key,
                              is_key_before);
    bool found = low < table->key_count && table->by_key[low]->key == key;
    return found ? table->by_key[low] : NULL;
}

uint64_t process_table_key_at(const struct process_table *table, int64_t pid, uint64_t start_ticks)
{
    const struct process *process = process_by_pid(table, pid);
    bool other = process != NULL && start_ticks != 0 && (process->stat.has & OS_STAT_START) != 0 &&
                 process->stat.start_ticks != start_ticks;
    return process != NULL && !other ? process->key : 0;
}

/* ---- which files stay open ---- */

/* Within max_descriptors. A kept stat is identity and saves two system calls per tick, so stats
 * come first; a kept statm saves two as well and takes what the stats of all listed processes
 * leave. A process without one is opened, read and closed at each tick. The last few that the
 * program may open are never kept: its workers and the program itself need some. If the system
 * refuses more all the same (EMFILE, ENFILE), a quarter of what is kept is given up and the budget
 * with it: reading goes on. */

uint64_t descriptors_ceiling(void)
{
    enum { SPARE_MOST = 64, SPARE_SHARE = 8 };
    uint64_t limit = os_descriptor_limit();
    uint64_t share = limit / SPARE_SHARE;
    return limit - (share < SPARE_MOST ? share : SPARE_MOST);
}

static size_t kept(const struct process_table *table)
{
    return table->stats_kept + table->statms_kept;
}

/* Files whose reading was put off are read before they are closed. */
static void read_due(struct process_table *table, struct process *process)
{
    if (process->statm_due)
        (void)reader_statm(&table->reader, process);
}

static void close_files(struct process_table *table, struct process *process)
{
    table->stats_kept -= process->kept;
    table->statms_kept -= process->files.statm >= 0;
    process->kept = false;
    os_process_close(&process->files);
}

void descriptors_close(struct process_table *table, struct process *process)
{
    read_due(table, process);
    close_files(table, process);
}

static void drop_statm(struct process_table *table, struct process *process)
{
    read_due(table, process);
    os_close_descriptor(process->files.statm);
    process->files.statm = -1;
    table->statms_kept--;
}

/* Closes kept statm, the newest processes first, until no more than `quota` are left. */
static void shrink_statms(struct process_table *table, size_t quota)
{
    for (size_t i = table->key_count; i > 0 && table->statms_kept > quota; i--) {
        struct process *process = table->by_key[i - 1];
        if (process != table->current && process->files.statm >= 0)
            drop_statm(table, process);
    }
}

bool descriptors_relieve(void *owner)
{
    struct process_table *table = owner;
    if (table->new_processes != NULL && new_processes_give_up(table->new_processes))
        return true;
    size_t before = kept(table);
    table->budget = before / 4 * 3;
    size_t stats = size_min(table->stats_kept, table->budget);
    shrink_statms(table, table->budget - stats);

    size_t stat_quota = table->budget - size_min(table->statms_kept, table->budget);
    for (size_t i = table->key_count; i > 0 && table->stats_kept > stat_quota; i--) {
        struct process *process = table->by_key[i - 1];
        if (process != table->current && process->kept)
            descriptors_close(table, process);
    }
    os_trace(&table->reader.context->os, "out of descriptors: %zu of %zu kept ones closed",
             before - kept(table), before);
    return kept(table) < before;
}

/* After a reading: keeps stat where there is room, else closes it. */
static void settle_stat(struct process_table *table, struct process *process)
{
    if (kept(table) >= table->budget || descriptors_is_high(table->ceiling, process->files.stat)) {
        descriptors_close(table, process);
        return;
    }
    process->kept = true;
    table->stats_kept++;
}

/* ---- reading one ---- */

/* One that had no row in the tick before has everything read, due or not. */
static unsigned extras_for(const struct process_table *table, const struct process *process)
{
    bool had_row = process->extras_tick != 0 && process->extras_tick + 1 >= table->tick;
    bool is_new = process->extras_tick == 0;
    return had_row ? table->extras
                   : table->extras_ever | (is_new && table->later ? EXTRA_LATER : 0);
}

/* After a reading. `extras`: whether they were among it. */
static void note(struct process_table *table, struct process *process, bool had_statm, bool extras)
{
    if (!had_statm && process->files.statm >= 0) { // kept where there is room
        table->statms_kept++;
        size_t stats = table->once ? 0 : size_min(table->listed, table->budget);
        if (table->statms_kept > table->budget - stats || kept(table) > table->budget ||
            descriptors_is_high(table->ceiling, process->files.statm))
            drop_statm(table, process);
    }
    if (extras)
        process->extras_tick = table->tick;
    for (size_t i = 0; process->renamed && i < PROCESS_TURNS; i++)
        process->turns[i].asked = false;
    process->renamed = false;
}

/* With stat open: extras, then stat. False if the process ended or is another. */
static bool observe(struct process_table *table, struct process *process, bool extras)
{
    bool had_statm = process->files.statm >= 0;
    unsigned wanted = extras ? extras_for(table, process) : 0;
    bool same = reader_observe(&table->reader, process, wanted);
    note(table, process, had_statm, extras);
    return same;
}

bool process_refresh(struct process_table *table, struct process *process, bool extras)
{
    extras = extras && tree_expects_row(table, process);
    if (activity_is_idle(table, process, extras ? extras_for(table, process) : 0)) {
        note(table, process, true, extras);
        return true;
    }

    table->current = process;
    if (process->kept) {
        bool same = observe(table, process, extras);
        table->current = NULL;
        return same;
    }
    /* Identity is (pid, start). A process that could never be read stays the same while it cannot
     * be read; once it can, it is new. */
    bool identified = (process->stat.has & OS_STAT_START) != 0;
    bool same = identified || process->state != VITALS_DENIED;
    int result = reader_open(&table->reader, process);
    if (result == -EMFILE || result == -ENFILE || result == -ENOMEM) {
        /* For want of room here: what was read last stands, with its moment. */
        process->activity.digest.mark = process->activity.clock.mark = 0;
        same = true;
    } else if (result < 0) {
        process->stamp_ns = reader_now(&table->reader);
        same = !process_is_gone(result) && !identified;
    } else {
        same = same && observe(table, process, extras);
        if (same)
            settle_stat(table, process);
        else
            close_files(table, process);
    }
    table->current = NULL;
    return same;
}

/* ---- coming and going ---- */

static void process_free(struct process *process)
{
    process_done(process);
    memory_free(process);
}

static void process_retire(struct process_table *table, struct process *process)
{
    tree_leave(table, process);
    close_files(table, process);
    process->key = 0;
}

/* NULL if memory is out or it has ended since it was listed. `marked`: a device names it. */
static struct process *process_meet(struct process_table *table, int64_t pid, bool marked)
{
    struct new_process new_process = {0};
    if (table->new_processes != NULL)
        new_process = new_processes_next(table->new_processes);
    table->read_ahead += new_process.read;
    struct process *process = new_process.process;
    if (process == NULL)
        process = new_process.process = new_process_process(pid);
    if (process == NULL) {
        table->reader.out_of_memory = true;
        return NULL;
    }
    process->key = table->last_key + 1;
    process->marked = marked ? table->tick : 0;
    tree_meet(table, process);

    bool extras = tree_expects_row(table, process), lives;
    table->current = process;
    if (!new_process.read)
        new_process_read(&table->reader, &new_process, extras ? extras_for(table, process) : 0);
    table->current = NULL;
    if (new_process.result == 0) {
        note(table, process, false, extras);
        lives = new_process.observed;
    } else {
        process->state = os_availability(new_process.result);
        process->stamp_ns = reader_now(&table->reader);
        lives = !process_is_gone(new_process.result);
    }
    if (!lives) {
        process_retire(table, process);
        process_free(process);
        return NULL;
    }
    if (process->files.stat >= 0)
        settle_stat(table, process);
    table->last_key++;
    table->by_key[table->key_count++] = process;
    return process;
}

/* ---- a tick ---- */

/* Room for so many in one of the orders. */
static bool make_room(struct process ***order, size_t *capacity, size_t needed)
{
    if (*capacity >= needed)
        return true;
    void *items = memory_resize(*order, needed * 2, sizeof **order);
    if (items == NULL)
        return false;
    *order = items;
    *capacity = needed * 2;
    return true;
}

/* Drops those that ended from the order of keys. */
static void sweep(struct process_table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->key_count; i++) {
        struct process *process = table->by_key[i];
        if (process->key != 0)
            table->by_key[kept++] = process;
        else
            process_free(process);
    }
    table->key_count = kept;
}

/* In the first tick all are new: worth threads that read ahead, if there are CPUs for them and
 * descriptors for all. If it is the only one, what is read ahead of the workers costs more than it
 * gains: few files are open at a time then. NULL: not so. */
static struct new_processes *read_ahead(const struct process_table *table)
{
    enum { EACH = 32 }; // processes that are worth a thread
    const vitals_context *context = table->reader.context;
    size_t count = table->pids.count;
    bool everybody = table->count == 0 && (table->rows & VITALS_ROWS_ALL) != 0 &&
                     table->watcher == 0;
    bool few_open = table->once && table->details_ever;
    if (!everybody || few_open || count < 2 * EACH || count > table->budget / 2)
        return NULL;
    size_t helpers = size_min(os_cpus_usable(&context->os) - 1, count / EACH);
    helpers = size_min(helpers, NEW_PROCESSES_HELPERS);
    return helpers == 0
               ? NULL
               : new_processes_start(context, table->pids.items, count,
                                     extras_for(table, &(struct process){0}), (unsigned)helpers);
}

/* Processes that are not listed have ended. If only the tree was listed, those outside it are as
 * they were. */
static void pass_over(struct process_table *table, size_t *old, size_t *count, int64_t pid)
{
    for (; *old < table->count && table->by_pid[*old]->files.pid < pid; (*old)++) {
        struct process *process = table->by_pid[*old];
        if (table->scanning_tree && !process->in_tree)
            table->next[(*count)++] = process;
        else
            process_retire(table, process);
    }
}

static void merge(struct process_table *table)
{
    enum { FEW = 24, MANY = 128, ONCE = 32 };
    const size_t most = table->once ? ONCE : MANY;
    table->met_count = 0;
    table->tell_at = FEW;
    size_t old = 0, count = 0;
    for (size_t i = 0; i < table->pids.count; i++) {
        int64_t pid = table->pids.items[i];
        pass_over(table, &old, &count, pid);
        struct process *process = NULL;
        if (pid == table->watcher)
            continue;
        if (old < table->count && table->by_pid[old]->files.pid == pid)
            process = table->by_pid[old++];
        if (process != NULL && !process_refresh(table, process, true)) {
            process_retire(table, process);
            process = NULL;
        }
        if (process == NULL &&
            table->rows != VITALS_ROWS_GPU_USERS) { // else met when a device names it
            process = process_meet(table, pid, false);
            /* Tells of the first soon, so that workers begin; the more there are, the more at once.
             */
            if (++table->met_count >= table->tell_at) {
                table->tell_at = size_min(table->tell_at * 2, most);
                table->met_count = 0;
                if (table->met != NULL)
                    table->met(table->met_data);
            }
        }
        if (process != NULL)
            table->next[count++] = process;
    }
    pass_over(table, &old, &count, INT64_MAX);

    struct process **items = table->by_pid;
    size_t capacity = table->capacity;
    table->by_pid = table->next;
    table->capacity = table->next_capacity;
    table->next = items;
    table->next_capacity = capacity;
    table->count = count;
    sweep(table);
}

static void retire_all(struct process_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        process_retire(table, table->by_pid[i]);
    table->count = 0;
    sweep(table);
}

int process_table_tick(struct process_table *table, const struct metric_set *due)
{
    table->tick++;
    table->reader.out_of_memory = false;
    table->extras = reader_extras(due);
    table->state_ever = table->state_ever || metric_set_has(due, VITALS_PROCESS_STATE);
    table->extras_ever |= table->extras;
    struct metric_set details;
    detail_wanted(due, &details);
    table->details_ever |= metric_set_has_entity(&details, VITALS_TABLE_PROCESS);
    uint64_t last_key = table->last_key;
    activity_begin(table, due);
    uint64_t begin_ns = reader_now(&table->reader);
    int result = activity_list(table, due);
    if (result == -ENOMEM)
        return VITALS_EMEMORY;
    table->state = result < 0 ? os_availability(result) : VITALS_HAVE;
    if (table->tick == 1)
        table->hides = os_hides_processes(&table->reader.context->os);
    if (result < 0) {
        table->pids.count = 0;
        retire_all(table);
        return 0;
    }

    /* Room for all that the listed pids may need, so that the merge cannot stop half-way. */
    size_t needed = table->pids.count + (table->scanning_tree ? table->count : 0);
    if (!make_room(&table->next, &table->next_capacity, needed) ||
        !make_room(&table->by_key, &table->key_capacity, needed + table->key_count) ||
        tree_prepare(table) < 0)
        return VITALS_EMEMORY;
    if (!table->scanning_tree) {
        /* As many statm as the stats of all listed processes leave room for. */
        table->ceiling = descriptors_ceiling();
        shrink_statms(table, table->budget - size_min(table->listed, table->budget));
        table->later = table->details_ever &&
                       (table->once || table->pids.count <= table->budget / 2);
    }
    table->read_ahead = 0;
    table->new_processes = read_ahead(table);
    table->merging = true;
    merge(table);
    table->merging = false;
    new_processes_free(table->new_processes);
    table->new_processes = NULL;
    tree_grow(table);
    activity_end(table, last_key);
    if (!table->scanning_tree) {
        table->scanned_ns = reader_now(&table->reader);
        table->scan_ns = table->scanned_ns - begin_ns;
    }
    return table->reader.out_of_memory ? VITALS_EMEMORY : 0;
}

/* One that a device names, and that is not known. */
static struct process *meet_user(struct process_table *table, int64_t pid)
{
    static const uint64_t ABSENT_NS = 2 * NS_PER_SECOND;
    uint64_t now_ns = reader_now(&table->reader);
    /* /proc is listed if a device names a new pid, once in a tick. A pid that is not in it then (of
     * another namespace, of a thread, of a process that has ended) is not looked for again for a
     * while. Its place is its own, or that of the one that was looked for longest ago. */
    struct missing_pid *absent = NULL, *place = &table->absent[0];
    for (size_t i = 0; i < ARRAY_COUNT(table->absent); i++) {
        struct missing_pid *missing = &table->absent[i];
        if (missing->pid == pid)
            absent = missing;
        if (missing->looked_ns < place->looked_ns)
            place = missing;
    }
    if (!table->complete && absent != NULL && now_ns < saturating_add(absent->looked_ns, ABSENT_NS))
        return NULL;
    struct os_pids *pids = &table->pids;
    if (!table->complete) {
        if (os_list_processes(&table->reader.context->os, pids) < 0)
            pids->count = 0;
        else
            table->listed = pids->count;
        table->complete = true;
    }
    struct search_number number = {0, (uint64_t)pid};
    if (search_find(pids->items, pids->count, sizeof *pids->items, number) == NULL) {
        *(absent != NULL ? absent : place) = (struct missing_pid){pid, now_ns};
        return NULL;
    }
    if (absent != NULL)
        *absent = (struct missing_pid){0};

    if (!make_room(&table->by_pid, &table->capacity, table->count + 1) ||
        !make_room(&table->by_key, &table->key_capacity, table->key_count + 1)) {
        table->reader.out_of_memory = true;
        return NULL;
    }
    struct process *process = process_meet(table, pid, true);
    if (process == NULL)
        return NULL;
    size_t at = table->count++;
    for (; at > 0 && table->by_pid[at - 1]->files.pid > pid; at--)
        table->by_pid[at] = table->by_pid[at - 1];
    table->by_pid[at] = process;
    return process;
}

uint64_t process_table_use(struct process_table *table, int64_t pid,
                           const struct metric_set *wanted)
{
    struct process *process = process_by_pid(table, pid);
    if (process != NULL && process->marked == table->tick)
        return process->key;
    table->extras_ever |= reader_extras(wanted);
    if (process == NULL && table->rows == VITALS_ROWS_GPU_USERS)
        process = meet_user(table, pid);
    if (process == NULL)
        return 0;
    process->marked = table->tick;
    if (process->extras_tick != table->tick && tree_has_row(table, process))
        process_refresh(table, process, true);
    return process->key;
}

void process_table_write(struct process_table *table, vitals_builder *builder,
                         const struct metric_set *wanted)
{
    if (!metric_set_has_entity(wanted, VITALS_TABLE_PROCESS))
        return;
    builder_table_of(builder, VITALS_TABLE_PROCESS, wanted);
    vitals_builder_state(builder, VITALS_TABLE_PROCESS, process_table_state(table));
    struct row_columns columns;
    rows_columns(&columns, wanted);
    for (size_t i = 0; i < table->key_count; i++) {
        struct process *process = table->by_key[i];
        if (!tree_has_row(table, process))
            continue;
        if (process->statm_due) // no worker has answered
            (void)reader_statm(&table->reader, process);
        const struct process *parent = tree_parent(table, process);
        rows_write(&table->reader, process, parent != NULL ? parent->key : 0, &columns, builder);
    }
}

/* ---- the table itself ---- */

struct process_table *process_table_new(const vitals_context *context)
{
    struct process_table *table = memory_alloc(sizeof *table);
    if (table == NULL)
        return NULL;
    table->reader = (struct process_reader){
        .context = context, .relieve = descriptors_relieve, .owner = table};
    table->state = VITALS_NOT_YET;
    table->rows = VITALS_ROWS_ALL;
    table->last_pid = table->newest_pid_file = -1;
    uint64_t limit = os_descriptor_limit();
    uint64_t budget = context->max_descriptors; /* a program that embeds us needs most of them */
    if (budget == 0)
        budget = limit / 8 < 256 ? limit / 8 : 256;
    else if (budget > limit / 4 * 3)
        budget = limit / 4 * 3;
    table->budget = budget < SIZE_MAX ? (size_t)budget : SIZE_MAX;
    return table;
}

void process_table_free(struct process_table *table)
{
    if (table == NULL)
        return;
    retire_all(table);
    activity_done(table);
    os_close_descriptor(table->newest_pid_file);
    os_pids_done(&table->pids);
    hash_done(&table->roots);
    buffer_done(&table->reader.text);
    memory_free(table->by_pid);
    memory_free(table->next);
    memory_free(table->by_key);
    memory_free(table);
}

void process_table_only_chosen(struct process_table *table, bool only)
{
    table->only_chosen = only;
}

void process_table_select(struct process_table *table, unsigned rows, const int64_t *pids,
                          size_t count)
{
    table->rows = rows;
    table->chosen = pids;
    table->chosen_count = count;
    table->chosen_anew = true;
}

void process_table_watcher(struct process_table *table, int64_t pid)
{
    table->watcher = pid;
}

void process_table_once(struct process_table *table)
{
    table->once = true;
}

void process_table_watch_cgroup(struct process_table *table, int file, int folder)
{
    table->cgroup.file = file;
    table->cgroup.folder = folder;
}

void process_table_tell(struct process_table *table, void (*met)(void *data), void *data)
{
    table->met = met;
    table->met_data = data;
}

vitals_availability process_table_state(const struct process_table *table)
{
    return table->state == VITALS_HAVE && table->hides ? VITALS_LOWER_BOUND : table->state;
}

size_t process_table_listed(const struct process_table *table)
{
    return table->listed;
}
