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

/* Everything below us, ourselves included, with what is asked of it. */
static int take_snapshot(const struct tree *tree, const struct metric_set *wanted,
                         vitals_snapshot **out)
{
    int64_t root = os_self();
    struct process_table *table = process_table_new(tree->context);
    vitals_builder *builder = NULL;
    int code = table == NULL ? VITALS_EMEMORY : vitals_builder_new(&builder, NULL);
    if (code == 0) {
        process_table_select(table, VITALS_ROWS_TREE, &root, 1);
        code = process_table_tick(table, wanted);
    }
    if (code == 0) {
        vitals_builder_begin(builder);
        process_table_write(table, builder, wanted);
        code = vitals_builder_finish(builder, out, NULL);
    }
    vitals_builder_free(builder);
    process_table_free(table);
    return code;
}

/* ---- membership ---- */

/* The parent of each process, of one snapshot. */
struct parents {
    const struct tree *tree;
    struct hash of; /* pid → its parent's */
};

static bool has_pid(const vitals_row *row, vitals_metric metric, int64_t *out)
{
    uint64_t pid;
    if (vitals_row_u64(row, metric, &pid) <= 0)
        return false;
    *out = (int64_t)pid;
    return true;
}

static int note_parents(struct parents *parents, const vitals_snapshot *snapshot)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        int64_t pid, parent;
        if (has_pid(row, VITALS_PROCESS_PID, &pid) &&
            has_pid(row, VITALS_PROCESS_PARENT_PID, &parent) &&
            hash_set(&parents->of, (uint64_t)pid, (uintptr_t)parent) < 0)
            return VITALS_EMEMORY;
    }
    return 0;
}

static bool is_not_ours(const struct tree *tree, int64_t pid)
{
    for (size_t i = 0; i < tree->not_ours_count; i++) {
        if (tree->not_ours[i] == pid)
            return true;
    }
    return false;
}

/* True if the chain of parents leads to us without passing an excluded process. Parents may change
 * while they are listed, so the length of the chain is limited. */
static bool is_ours(const struct parents *parents, int64_t pid)
{
    enum { DEPTH_MOST = 4096 };
    if (pid == os_self())
        return false;
    for (int depth = 0; depth < DEPTH_MOST && !is_not_ours(parents->tree, pid); depth++) {
        if (parents->tree->below != 0 && pid == parents->tree->below)
            return true;
        const uintptr_t *parent = hash_find(&parents->of, (uint64_t)pid);
        if (parent == NULL)
            return false;
        pid = (int64_t)*parent;
        if (pid == os_self())
            return parents->tree->below == 0;
    }
    return false;
}

static bool is_zombie(const vitals_row *row)
{
    vitals_text state;
    return vitals_row_text(row, VITALS_PROCESS_STATE, &state) > 0 && state.size == 6 &&
           state.bytes[0] == 'z';
}

/* Calls `each` for every one that lives. */
static int for_each(const struct tree *tree, struct metric_set *wanted,
                    void (*each)(const struct tree *, const vitals_row *, void *), void *data)
{
    vitals_snapshot *snapshot = NULL;
    struct parents parents = {.tree = tree};
    metric_set_add(wanted, VITALS_PROCESS_PID);
    metric_set_add(wanted, VITALS_PROCESS_PARENT_PID);
    metric_set_add(wanted, VITALS_PROCESS_STATE);
    int code = take_snapshot(tree, wanted, &snapshot);
    if (code == 0)
        code = note_parents(&parents, snapshot);
    for (const vitals_row *row = NULL;
         code == 0 && (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        int64_t pid;
        if (has_pid(row, VITALS_PROCESS_PID, &pid) && is_ours(&parents, pid) && !is_zombie(row))
            each(tree, row, data);
    }
    hash_done(&parents.of);
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

/* The process of that row, and no later one that was given its pid. */
static vitals_process *open_process(const struct tree *tree, const vitals_row *row)
{
    vitals_process *process = NULL;
    double start;
    int64_t pid;
    if (!has_pid(row, VITALS_PROCESS_PID, &pid) ||
        vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &start) <= 0 ||
        vitals_process_open(tree->context, pid, &process, NULL) < 0)
        return NULL; // it has ended
    if (fabs(vitals_process_start_seconds(process) - start) < START_APART)
        return process;
    vitals_process_free(process);
    return NULL;
}

static void send(const struct tree *tree, const vitals_row *row, void *data)
{
    struct signalling *signalling = data;
    vitals_process *process = open_process(tree, row);
    if (process == NULL)
        return;
    if (vitals_process_signal(process, signalling->signal, NULL) == 0)
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
