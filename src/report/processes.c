/* processes.c: see processes.h. A process that was there in the first snapshot counts from what it
 * had used by then, one that came later from its birth. */
#include "report/processes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/recording.h"
#include "util/memory.h"

enum { COUNTERS = 3, SLOTS = 262144 };

_Static_assert(SLOTS > 2 * PROCESSES_MAX, "there is a free slot within a few steps");

struct processes_table {
    struct process_use *items;
    size_t count, capacity;
    uint32_t *slots; /* of items, by pid and start; 0: free, else index + 1 */
    bool first;      /* this is the first snapshot */
    double second;
};

static const vitals_metric METRICS[COUNTERS] = {
    VITALS_PROCESS_CPU_SECONDS, VITALS_PROCESS_READ_BYTES, VITALS_PROCESS_WRITTEN_BYTES};

static double *counter_of(struct process_use *use, size_t which)
{
    return which == 0 ? &use->cpu_seconds : which == 1 ? &use->read_bytes : &use->written_bytes;
}

/* ---- identity ---- */

static size_t first_slot(int64_t pid)
{
    return (size_t)((uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15) >> 32) % SLOTS;
}

static size_t slot_of(const struct processes_table *table, int64_t pid, double start)
{
    size_t at = first_slot(pid);
    while (table->slots[at] != 0) {
        const struct process_use *use = &table->items[table->slots[at] - 1];
        if (use->pid == pid && use->start == start)
            break;
        at = (at + 1) % SLOTS;
    }
    return at;
}

/* The process of this snapshot that has the pid; NULL: none. */
static struct process_use *present(const struct processes_table *table, int64_t pid)
{
    for (size_t at = first_slot(pid); table->slots[at] != 0; at = (at + 1) % SLOTS) {
        struct process_use *use = &table->items[table->slots[at] - 1];
        if (use->pid == pid && use->last_second == table->second)
            return use;
    }
    return NULL;
}

/* ---- one row ---- */

static void fold_row(struct processes_table *table, const vitals_row *row)
{
    double pid = 0, start = 0, value;
    if (vitals_row_number(row, VITALS_PROCESS_PID, &pid) <= 0)
        return;
    (void)(vitals_row_number(row, VITALS_PROCESS_START_SECONDS, &start) > 0);
    size_t slot = slot_of(table, (int64_t)pid, start);
    bool known = table->slots[slot] != 0;
    if (!known) {
        if (table->count == PROCESSES_MAX ||
            MEMORY_GROW(table->items, table->capacity, table->count) != 0)
            return;
        table->slots[slot] = (uint32_t)++table->count;
    }
    struct process_use *use = &table->items[table->slots[slot] - 1];
    if (!known)
        *use = (struct process_use){.pid = (int64_t)pid,
                                    .start = start,
                                    .cpu_seconds = -1,
                                    .read_bytes = -1,
                                    .written_bytes = -1,
                                    .memory_bytes = -1,
                                    .gpu_bytes = -1,
                                    .first_second = table->second};
    use->last_second = table->second;
    vitals_text text;
    bool line = vitals_row_text(row, VITALS_PROCESS_COMMAND_LINE, &text) > 0 && text.size > 0;
    if (line)
        (void)vitals_text_command(text, use->name, sizeof use->name);
    else if (!use->titled) /* a program may be another than it began as */
        (void)snprintf(use->name, sizeof use->name, "%s", vitals_row_label(row));
    use->titled = use->titled || line;
    for (size_t i = 0; i < COUNTERS; i++) {
        if (vitals_row_number(row, METRICS[i], &value) <= 0)
            continue;
        if (*counter_of(use, i) < 0)
            use->bases[i] = table->first ? value : 0;
        double grown = value - use->bases[i];
        if (grown >= *counter_of(use, i))
            *counter_of(use, i) = grown;
    }
    if (vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES, &value) > 0 &&
        value > use->memory_bytes)
        use->memory_bytes = value;
}

static void fold(struct processes_table *table, const vitals_snapshot *snapshot)
{
    table->second = (double)vitals_snapshot_realtime_ns(snapshot) / 1e9;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL;)
        fold_row(table, row);
    if (vitals_snapshot_next(snapshot, VITALS_TABLE_GPU_PROCESS, NULL) == NULL)
        return;
    /* The memory that each holds on all devices at this time. */
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU_PROCESS, row)) != NULL;) {
        double pid, value;
        struct process_use *use = vitals_row_number(row, VITALS_GPU_PROCESS_PID, &pid) > 0 &&
                                          vitals_row_number(
                                              row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &value) > 0
                                      ? present(table, (int64_t)pid)
                                      : NULL;
        if (use == NULL)
            continue;
        use->gpu_now = use->gpu_second == table->second ? use->gpu_now + value : value;
        use->gpu_second = table->second;
        use->gpu_bytes = use->gpu_now > use->gpu_bytes ? use->gpu_now : use->gpu_bytes;
    }
}

/* ---- all ---- */

static int by_use(const void *a, const void *b)
{
    const struct process_use *left = a, *right = b;
    if (left->cpu_seconds != right->cpu_seconds)
        return left->cpu_seconds > right->cpu_seconds ? -1 : 1;
    if (left->memory_bytes != right->memory_bytes)
        return left->memory_bytes > right->memory_bytes ? -1 : 1;
    return left->pid < right->pid ? -1 : left->pid > right->pid;
}

static void drop_strangers(struct processes_table *table, int64_t root_pid)
{
    const struct process_use *root = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < table->count && root == NULL; i++) {
        if (table->items[i].pid == root_pid)
            root = &table->items[i];
    }
    if (root == NULL)
        return;
    const struct process_use first = *root;
    for (size_t i = 0; i < table->count; i++) {
        /* Start times have a resolution of 10 ms; within that pids give the order. */
        const struct process_use *use = &table->items[i];
        if (use->start > first.start || (use->start == first.start && use->pid >= first.pid))
            table->items[kept++] = *use;
    }
    table->count = kept;
}

void processes_of(const char *path, int64_t root, struct process_list *out)
{
    struct processes_table table = {.first = true};
    struct feed feed;
    vitals_snapshot *snapshot;
    vitals_error error;
    *out = (struct process_list){.count = 0};
    if (recording_feed(path, &feed, &error) < 0)
        return;
    table.slots = calloc(SLOTS, sizeof *table.slots);
    while (table.slots != NULL && feed.next(feed.data, &snapshot, &error) > 0) {
        fold(&table, snapshot);
        vitals_snapshot_unref(snapshot);
        table.first = false;
    }
    feed_close(&feed);
    free(table.slots);
    drop_strangers(&table, root);
    if (table.count > 0)
        qsort(table.items, table.count, sizeof *table.items, by_use);
    size_t shown = table.count < PROCESSES_SHOWN ? table.count : PROCESSES_SHOWN;
    *out = (struct process_list){table.items, shown, table.count - shown};
}

void processes_done(struct process_list *list)
{
    memory_free(list->items);
    *list = (struct process_list){.count = 0};
}
