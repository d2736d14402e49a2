/* pid_namespace.c: see pid_namespace.h. */
#include "gpu/pid_namespace.h"

#include <stdlib.h>

enum { STATUS_BYTES = 16 * 1024 };

struct pid_namespace_question {
    const struct os *os;
    const struct gpu_node *nodes;
    uint32_t node_count;
    bool listed; /* pids has every process */
    struct os_pids pids;
};

static bool shows_node(const struct pid_namespace_question *question, int64_t pid)
{
    for (uint32_t i = 0; i < question->node_count; i++) {
        if (os_process_has_device(question->os, pid, question->nodes[i].major,
                                  question->nodes[i].minor))
            return true;
    }
    return false;
}

/* If /proc belongs to an outer namespace: returns the pid there of the process that has the number
 * `inner` in an inner namespace and has the node open; 0: none. */
static int64_t outer_pid(struct pid_namespace_question *question, int64_t inner)
{
    if (!question->listed && os_list_processes(question->os, &question->pids) < 0)
        return 0;
    question->listed = true;
    for (size_t i = 0; i < question->pids.count; i++) {
        int64_t pid = question->pids.items[i];
        if (pid == inner)
            continue;
        struct buffer text = {0};
        struct os_status status = {0}; /* holds its number in the innermost of its namespaces */
        bool cut;
        bool told = os_process_file(question->os, pid, "status", STATUS_BYTES, &text, &cut) == 0 &&
                    os_parse_status(text.bytes, text.size, OS_STATUS_NAMESPACE_PID, &status) &&
                    (status.has & OS_STATUS_NAMESPACE_PID) != 0;
        buffer_done(&text);
        if (told && (int64_t)status.namespace_pid == inner && shows_node(question, pid))
            return pid;
    }
    return 0;
}

static int compare_pids(const void *left, const void *right)
{
    int64_t a = ((const struct gpu_process *)left)->pid;
    int64_t b = ((const struct gpu_process *)right)->pid;
    return (a > b) - (a < b);
}

bool gpu_pids_hold(const vitals_context *context, enum gpu_pids pids)
{
    return context->origin.pid_namespace == OS_FIRST_PID_NAMESPACE &&
           (context->os.live || pids == GPU_PIDS_OF_MACHINE);
}

void gpu_prove(const vitals_context *context, const struct gpu_node *nodes, uint32_t node_count,
               struct gpu_processes *processes)
{
    struct pid_namespace_question question = {
        .os = &context->os, .nodes = nodes, .node_count = node_count};
    bool hold = gpu_pids_hold(context, GPU_PIDS_OF_ASKER);
    bool moved = false;
    for (uint32_t i = 0; i < processes->count; i++) {
        struct gpu_process *process = &processes->items[i];
        if (process->is_ours != VITALS_UNSET)
            continue;
        bool ours = hold || shows_node(&question, process->pid);
        int64_t outer = ours || question.os->live ? 0 : outer_pid(&question, process->pid);
        if (outer != 0) {
            process->pid = outer;
            moved = true;
        }
        process->is_ours = ours || outer != 0 ? VITALS_HAVE : VITALS_OUTSIDE;
    }
    os_pids_done(&question.pids);
    if (!moved)
        return;

    /* Two items with the same pid now are the same process. */
    uint32_t kept = 0;
    qsort(processes->items, processes->count, sizeof processes->items[0], compare_pids);
    for (uint32_t i = 0; i < processes->count; i++) {
        if (kept == 0 || processes->items[kept - 1].pid != processes->items[i].pid)
            processes->items[kept++] = processes->items[i];
    }
    processes->count = kept;
}
