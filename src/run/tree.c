/* tree.c: see tree.h. */
#include "run/tree.h"

#include "model/request.h"
#include "os/launch.h"
#include "process/table.h"
#include "util/hash.h"
#include <vitals/process.h>

#include <math.h>

/* Less than a clock tick. */
static const double START_APART = 0.001;

/* ---- membership ---- */

static bool has_pid(const vitals_row *row, vitals_metric metric, int64_t *out)
{
    uint64_t pid;
    if (vitals_row_u64(row, metric, &pid) <= 0)
        return false;
    *out = (int64_t)pid;
    return true;
}

/* True if the chain of parents leads to us without passing an excluded process. Parents may change
 * while they are listed, so the length of the chain is limited. */
static bool is_ours(const struct tree *tree, const struct hash *parents, int64_t pid)
{
    enum { DEPTH_MOST = 4096 };
    if (pid == os_self())
        return false;
    for (int depth = 0; depth < DEPTH_MOST; depth++) {
        for (size_t i = 0; i < tree->not_ours_count; i++) {
            if (tree->not_ours[i] == pid)
                return false;
        }
        if (tree->below != 0 && pid == tree->below)
            return true;
        const uintptr_t *parent = hash_find(parents, (uint64_t)pid);
        if (parent == NULL)
            return false;
        pid = (int64_t)*parent;
        if (pid == os_self())
            return tree->below == 0;
    }
    return false;
}

/* Calls `each` for every one that lives. */
static int for_each(const struct tree *tree, struct metric_set *wanted,
                    void (*each)(const struct tree *, const vitals_row *, void *), void *data)
{
    int64_t root = os_self(), pid, parent;
    vitals_snapshot *snapshot = NULL;
    vitals_builder *builder = NULL;
    struct hash parents = {0}; /* pid → its parent's */
    struct process_table *table = process_table_new(tree->context);
    metric_set_add(wanted, VITALS_PROCESS_PID);
    metric_set_add(wanted, VITALS_PROCESS_PARENT_PID);
    metric_set_add(wanted, VITALS_PROCESS_STATE);

    /* Everything below us, ourselves included. */
    int code = table == NULL ? VITALS_EMEMORY : vitals_builder_new(&builder, NULL);
    if (code == 0) {
        process_table_select(table, VITALS_ROWS_TREE, &root, 1);
        code = process_table_tick(table, wanted);
    }
    if (code == 0) {
        vitals_builder_begin(builder);
        process_table_write(table, builder, wanted);
        code = vitals_builder_finish(builder, &snapshot, NULL);
    }
    vitals_builder_free(builder);
    process_table_free(table);

    const vitals_row *row = NULL;
    while (code == 0 && (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL) {
        if (has_pid(row, VITALS_PROCESS_PID, &pid) &&
            has_pid(row, VITALS_PROCESS_PARENT_PID, &parent) &&
            hash_set(&parents, (uint64_t)pid, (uintptr_t)parent) < 0)
            code = VITALS_EMEMORY;
    }
    while (code == 0 && (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL) {
        vitals_text state;
        bool zombie = vitals_row_text(row, VITALS_PROCESS_STATE, &state) > 0 && state.size == 6 &&
                      state.bytes[0] == 'z';
        if (!zombie && has_pid(row, VITALS_PROCESS_PID, &pid) && is_ours(tree, &parents, pid))
            each(tree, row, data);
    }
    hash_done(&parents);
    vitals_snapshot_unref(snapshot);
    return code;
}

/* ---- what lives ---- */

static void add(const struct tree *tree, const vitals_row *row, void *data)
{
    (void)tree;
    struct tree_sum *sum = data;
    double seconds;
    sum->processes++;
    if (vitals_row_f64(row, VITALS_PROCESS_CPU_SECONDS, &seconds) > 0)
        sum->cpu_seconds += seconds;
    else
        sum->cut = true;
}

int tree_sum(const struct tree *tree, struct tree_sum *out)
{
    struct metric_set wanted = {0};
    *out = (struct tree_sum){0};
    metric_set_add(&wanted, VITALS_PROCESS_CPU_SECONDS);
    return for_each(tree, &wanted, add, out);
}

/* ---- signals ---- */

struct signalling {
    int signal;
    int64_t count;
};

/* To the process of that row, and no later one that was given its pid. */
static void send(const struct tree *tree, const vitals_row *row, void *data)
{
    struct signalling *signalling = data;
    vitals_process *process = NULL;
    double start;
    int64_t pid;
    if (!has_pid(row, VITALS_PROCESS_PID, &pid) ||
        vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &start) <= 0 ||
        vitals_process_open(tree->context, pid, &process, NULL) < 0)
        return; /* it has ended */
    if (fabs(vitals_process_start_seconds(process) - start) < START_APART &&
        vitals_process_signal(process, signalling->signal, NULL) == 0)
        signalling->count++;
    vitals_process_free(process);
}

int64_t tree_signal(const struct tree *tree, int signal)
{
    struct metric_set wanted = {0};
    struct signalling signalling = {.signal = signal};
    metric_set_add(&wanted, VITALS_PROCESS_START_SECONDS);
    int code = for_each(tree, &wanted, send, &signalling);
    return code < 0 ? code : signalling.count;
}
