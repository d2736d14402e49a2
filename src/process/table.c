/* table.c: who lives, tick by tick: the list of pids against the processes that are known.
 *
 * Two orders of the same entries are kept: by pid, to be merged with what /proc lists, and by key,
 * in which rows are written. Keys only grow, so a new process is the last of that order.
 * Nothing is allocated while no process comes, goes or changes its name.
 * Thread rule: the tick thread. */
#include "process/entry.h"

#include "core/memory.h"

#include <errno.h>
#include <string.h>

enum { STATUS_LIMIT = 64 * 1024, IO_LIMIT = 4096 };

/* ---- finding ---- */

struct process *process_by_pid(const struct process_table *table, int64_t pid)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->by_pid[middle]->files.pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < table->count && table->by_pid[low]->files.pid == pid;
    return found ? table->by_pid[low] : NULL;
}

struct process *process_by_key(const struct process_table *table, uint64_t key)
{
    size_t low = 0, high = table->key_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->by_key[middle]->key < key)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < table->key_count && table->by_key[low]->key == key;
    return found ? table->by_key[low] : NULL;
}

uint64_t process_table_key(const struct process_table *table, int64_t pid)
{
    const struct process *process = process_by_pid(table, pid);
    return process != NULL ? process->key : 0;
}

/* ---- reading one ---- */

static uint64_t now_ns(const struct process_table *table)
{
    const vitals_clock *clock = &table->context->os.clock;
    return clock->monotonic_ns(clock->data);
}

static struct value extra_of(unsigned has, unsigned bit, uint64_t number)
{
    return (has & bit) != 0 ? value_u64(number) : value_missing(VITALS_UNSUPPORTED);
}

static void read_status(struct process_table *table, struct process *process)
{
    struct os_status status;
    int result = descriptors_file(table, process, "status", STATUS_LIMIT);
    if (result == 0 && !os_parse_status(table->text.bytes, table->text.size, &status))
        result = -EBADMSG;
    process->peak = result < 0 ? value_missing(os_availability(result))
                               : extra_of(status.has, OS_STATUS_PEAK, status.peak_bytes);
}

static void read_io(struct process_table *table, struct process *process)
{
    struct os_io io;
    int result = descriptors_file(table, process, "io", IO_LIMIT);
    if (result == 0 && !os_parse_io(table->text.bytes, table->text.size, &io))
        result = -EBADMSG;
    if (result < 0) {
        process->read = process->written = value_missing(os_availability(result));
        return;
    }
    process->read = extra_of(io.has, OS_IO_READ, io.read_bytes);
    process->written = extra_of(io.has, OS_IO_WRITTEN, io.written_bytes);
}

static void read_resident(struct process_table *table, struct process *process)
{
    uint64_t pages;
    int result = descriptors_resident_pages(table, process, &pages);
    process->resident = result < 0
                            ? value_missing(os_availability(result))
                            : value_u64(saturating_mul(pages, table->context->os.page_bytes));
}

static void read_cpu(struct process_table *table, struct process *process)
{
    uint64_t ns;
    int result = os_process_cpu_ns(&table->context->os, process->files.pid, &ns);
    process->cpu = result < 0 ? value_missing(os_availability(result))
                              : value_f64((double)ns / 1e9);
}

/* One moment for all that one tick reads of a process: what is not due keeps its own. */
static void stamp_extras(struct process *process, unsigned extras, uint64_t now)
{
    if ((extras & EXTRA_RESIDENT) != 0)
        process->resident_ns = now;
    if ((extras & EXTRA_CPU) != 0)
        process->cpu_ns = now;
    if ((extras & EXTRA_STATUS) != 0)
        process->peak_ns = now;
    if ((extras & EXTRA_IO) != 0)
        process->io_ns = now;
}

/* All by pid, so that stat must be read after it: that proves whose these are. The CPU clock comes
 * last, next to the stamp that rates will be made with. One that had no row in the tick before has
 * everything read, due or not. */
static void read_extras(struct process_table *table, struct process *process)
{
    bool had_row = process->extras_tick != 0 && process->extras_tick + 1 >= table->tick;
    unsigned extras = had_row ? table->extras : table->extras_ever;
    if ((extras & EXTRA_STATUS) != 0)
        read_status(table, process);
    if ((extras & EXTRA_IO) != 0)
        read_io(table, process);
    if ((extras & EXTRA_RESIDENT) != 0)
        read_resident(table, process);
    uint64_t now = process->stamp_ns = now_ns(table);
    if ((extras & EXTRA_CPU) != 0)
        read_cpu(table, process);
    stamp_extras(process, extras, now);
    process->extras_tick = table->tick;
}

static void take_name(struct process_table *table, struct process *process, struct span name)
{
    if (shared_text_equal(process->name, name.bytes, name.size))
        return;
    struct shared_text *text = shared_text_new(name.bytes, name.size);
    if (text == NULL) {
        table->out_of_memory = true;
        return;
    }
    process->renamed = process->name != NULL;
    shared_text_unref(process->name);
    process->name = text;
}

/* A kernel worker shows what it works on in its name, and has no arguments that could change. */
static bool is_kernel_thread(const struct os_stat *stat)
{
    return (stat->has & OS_STAT_VIRTUAL) != 0 && stat->virtual_bytes == 0;
}

bool process_same_start(const struct process *process, const struct os_stat *stat)
{
    bool known = (process->stat.has & stat->has & OS_STAT_START) != 0;
    return !known || process->stat.start_ticks == stat->start_ticks;
}

/* With stat open: extras, then stat. False where the process ended or is another. */
static bool observe(struct process_table *table, struct process *process, bool extras)
{
    if (extras && tree_expects_row(table, process))
        read_extras(table, process);
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    int result = os_process_stat(&process->files, text, &stat);
    if (result == -ESRCH || (result == 0 && !process_same_start(process, &stat)))
        return false;
    if (result < 0) {
        process->state = os_availability(result);
        return true;
    }
    take_name(table, process, stat.name);
    process->renamed = process->renamed && !is_kernel_thread(&stat);
    stat.name = (struct span){0};
    process->stat = stat;
    process->state = VITALS_HAVE;
    return true;
}

/* One whose stat is not kept: identity is (pid, start). Where it could never be read, it stays the
 * same while it cannot, and who then can be read is new. */
static bool refresh_unkept(struct process_table *table, struct process *process, bool extras)
{
    bool identified = (process->stat.has & OS_STAT_START) != 0;
    int result = descriptors_open(table, process);
    if (result < 0) {
        bool ended = result == -ENOENT || result == -ESRCH;
        process->stamp_ns = now_ns(table);
        return !ended && !identified;
    }
    bool same = identified || process->state != VITALS_DENIED;
    same = same && observe(table, process, extras);
    if (same)
        descriptors_settle(table, process);
    else
        descriptors_close(table, process);
    return same;
}

bool process_refresh(struct process_table *table, struct process *process, bool extras)
{
    table->current = process;
    bool same = process->kept ? observe(table, process, extras)
                              : refresh_unkept(table, process, extras);
    table->current = NULL;
    return same;
}

/* ---- coming and going ---- */

static void process_free(struct process *process)
{
    shared_text_unref(process->name);
    process_detail_done(&process->detail);
    memory_free(process);
}

static void process_retire(struct process_table *table, struct process *process)
{
    tree_leave(table, process);
    descriptors_close(table, process);
    process->key = 0;
}

static struct process *process_new(int64_t pid)
{
    struct process *process = memory_alloc(sizeof *process);
    if (process == NULL)
        return NULL;
    process->files = (struct os_process){.pid = pid, .stat = -1, .statm = -1};
    process->detail.uid = value_missing(VITALS_NOT_YET);
    process->detail.user_state = VITALS_NOT_YET;
    process->detail.command_state = VITALS_NOT_YET;
    process->detail.cgroup_state = VITALS_NOT_YET;
    return process;
}

/* Reads what a new pid is. False where it has ended since it was listed. */
static bool process_begin(struct process_table *table, struct process *process)
{
    table->current = process;
    int result = descriptors_open(table, process);
    bool alive = result == 0 ? observe(table, process, true)
                             : result != -ENOENT && result != -ESRCH;
    if (result < 0) {
        process->state = os_availability(result);
        process->stamp_ns = now_ns(table);
    }
    table->current = NULL;
    return alive;
}

static struct process *process_meet(struct process_table *table, int64_t pid)
{
    struct process *process = process_new(pid);
    if (process == NULL) {
        table->out_of_memory = true;
        return NULL;
    }
    process->key = table->last_key + 1;
    tree_meet(table, process);
    if (!process_begin(table, process)) {
        process_retire(table, process);
        process_free(process);
        return NULL;
    }
    if (process->files.stat >= 0)
        descriptors_settle(table, process);
    table->last_key++;
    table->by_key[table->key_count++] = process;
    return process;
}

/* ---- a tick ---- */

/* Room for everything that the listed pids may need, so that the merge cannot stop half-way. */
static int reserve(struct process_table *table)
{
    size_t needed = table->pids.count;
    if (table->next_capacity < needed) {
        void *items = memory_resize(table->next, needed * 2, sizeof *table->next);
        if (items == NULL)
            return -1;
        table->next = items;
        table->next_capacity = needed * 2;
    }
    needed += table->key_count;
    if (table->key_capacity < needed) {
        void *items = memory_resize(table->by_key, needed * 2, sizeof *table->by_key);
        if (items == NULL)
            return -1;
        table->by_key = items;
        table->key_capacity = needed * 2;
    }
    return tree_prepare(table);
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

static void swap_orders(struct process_table *table, size_t count)
{
    struct process **items = table->by_pid;
    size_t capacity = table->capacity;
    table->by_pid = table->next;
    table->capacity = table->next_capacity;
    table->next = items;
    table->next_capacity = capacity;
    table->count = count;
}

/* Who has a row only because a device names him is met when it does. */
static bool meets_all(const struct process_table *table)
{
    return table->rows != VITALS_ROWS_GPU_USERS;
}

static void merge(struct process_table *table)
{
    size_t old = 0, count = 0;
    for (size_t i = 0; i < table->pids.count; i++) {
        int64_t pid = table->pids.items[i];
        while (old < table->count && table->by_pid[old]->files.pid < pid)
            process_retire(table, table->by_pid[old++]);
        struct process *process = NULL;
        if (old < table->count && table->by_pid[old]->files.pid == pid)
            process = table->by_pid[old++];
        if (process != NULL && !process_refresh(table, process, true)) {
            process_retire(table, process);
            process = NULL;
        }
        if (process == NULL && meets_all(table))
            process = process_meet(table, pid);
        if (process != NULL)
            table->next[count++] = process;
    }
    while (old < table->count)
        process_retire(table, table->by_pid[old++]);
    swap_orders(table, count);
    sweep(table);
}

static const struct {
    vitals_metric metric;
    unsigned extra;
} EXTRAS[] = {
    {VITALS_PROCESS_RESIDENT_BYTES, EXTRA_RESIDENT},    {VITALS_PROCESS_CPU_SECONDS, EXTRA_CPU},
    {VITALS_PROCESS_RESIDENT_PEAK_BYTES, EXTRA_STATUS}, {VITALS_PROCESS_READ_BYTES, EXTRA_IO},
    {VITALS_PROCESS_WRITTEN_BYTES, EXTRA_IO},
};

static unsigned extras_of(const struct metric_set *wanted)
{
    unsigned extras = 0;
    for (size_t i = 0; i < ARRAY_COUNT(EXTRAS); i++)
        if (metric_set_has(wanted, EXTRAS[i].metric))
            extras |= EXTRAS[i].extra;
    return extras;
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
    table->out_of_memory = false;
    table->extras = extras_of(due);
    table->extras_ever |= table->extras;
    int result = os_list_processes(&table->context->os, &table->pids);
    if (result == -ENOMEM)
        return VITALS_EMEMORY;
    table->state = result < 0 ? os_availability(result) : VITALS_HAVE;
    if (result < 0) {
        table->pids.count = 0;
        retire_all(table);
        return 0;
    }
    if (reserve(table) < 0)
        return VITALS_EMEMORY;
    descriptors_share(table);
    merge(table);
    tree_grow(table);
    return table->out_of_memory ? VITALS_EMEMORY : 0;
}

static bool is_listed(const struct process_table *table, int64_t pid)
{
    size_t low = 0, high = table->pids.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->pids.items[middle] < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->pids.count && table->pids.items[low] == pid;
}

/* The order of pids has room for everybody who is listed. */
static void insert_by_pid(struct process_table *table, struct process *process)
{
    size_t place = table->count;
    while (place > 0 && table->by_pid[place - 1]->files.pid > process->files.pid)
        place--;
    memmove(table->by_pid + place + 1, table->by_pid + place,
            (table->count - place) * sizeof *table->by_pid);
    table->by_pid[place] = process;
    table->count++;
}

uint64_t process_table_meet(struct process_table *table, int64_t pid)
{
    uint64_t key = process_table_key(table, pid);
    if (key != 0 || meets_all(table) || !is_listed(table, pid))
        return key;
    struct process *process = process_meet(table, pid);
    if (process == NULL)
        return 0;
    insert_by_pid(table, process);
    return process->key;
}

void process_table_mark(struct process_table *table, uint64_t key, const struct metric_set *wanted)
{
    struct process *process = process_by_key(table, key);
    if (process == NULL || process->marked == table->tick)
        return;
    process->marked = table->tick;
    table->extras_ever |= extras_of(wanted);
    if (process->extras_tick != table->tick && tree_has_row(table, process))
        process_refresh(table, process, true);
}

/* ---- the table itself ---- */

struct process_table *process_table_new(const vitals_context *context)
{
    struct process_table *table = memory_alloc(sizeof *table);
    if (table == NULL)
        return NULL;
    table->context = context;
    table->state = VITALS_NOT_YET;
    table->rows = VITALS_ROWS_ALL;
    table->budget = descriptors_budget(context);
    if (state_words_new(table->words) < 0) {
        process_table_free(table);
        return NULL;
    }
    return table;
}

void process_table_free(struct process_table *table)
{
    if (table == NULL)
        return;
    retire_all(table);
    state_words_free(table->words);
    os_pids_done(&table->pids);
    hash_done(&table->roots);
    buffer_done(&table->text);
    memory_free(table->by_pid);
    memory_free(table->next);
    memory_free(table->by_key);
    memory_free(table);
}

void process_table_select(struct process_table *table, unsigned rows, const int64_t *pids,
                          size_t count)
{
    table->rows = rows;
    table->chosen = pids;
    table->chosen_count = count;
    table->chosen_anew = true;
}

vitals_availability process_table_state(const struct process_table *table)
{
    return table->state;
}

size_t process_table_listed(const struct process_table *table)
{
    return table->pids.count;
}
