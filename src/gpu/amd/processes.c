/* processes.c: the processes that use a card or a partition: those that have a node of it open (a
 * sweep of /proc), and those that compute on it (KFD, for all users).
 *
 * Queues of ROCm bypass the kernel, so a descriptor of a compute process shows memory but no time;
 * KFD reports the compute units that a process uses at this time, and the time of its copy engines.
 * KFD's pids are those of the machine: in another pid namespace they are not used as ours. */
#include "gpu/amd/state.h"
#include "gpu/pid_namespace.h"

#include <string.h>

static struct value *at(struct gpu_process *process, vitals_metric metric)
{
    return &process->at[metric_number(metric)];
}

/* A value replaces a missing one; KFD's reason is used only if there is no other. */
static void set(const struct metric_set *wanted, struct gpu_process *process, vitals_metric metric,
                struct value value)
{
    struct value *known = at(process, metric);
    if (metric_set_has(wanted, metric) && (value.state > 0 || known->state == VITALS_UNSET))
        *known = value;
}

static bool is_ours(const struct gpu_processes *list, int64_t pid)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].pid == pid)
            return list->items[i].is_ours == VITALS_HAVE;
    return false;
}

/* Adds what KFD tells of a process to its row. */
static void add_usage(const struct kfd_node *node, const struct metric_set *wanted,
                      struct kfd_usage usage, struct gpu_process *process)
{
    process->uses |= GPU_COMPUTE;

    /* The process's descriptors may report the same memory: the larger value counts. */
    const struct value *known = at(process, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    if (known->state <= 0 || usage.memory_bytes.state <= 0 ||
        usage.memory_bytes.as.u64 > known->as.u64)
        set(wanted, process, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, usage.memory_bytes);

    /* Time of user queues, which the kernel's count does not include. */
    known = at(process, VITALS_GPU_PROCESS_COPY_SECONDS);
    if (known->state > 0 && usage.copy_seconds.state > 0)
        usage.copy_seconds.as.f64 += known->as.f64;
    if (usage.copy_seconds.state != VITALS_UNSET)
        set(wanted, process, VITALS_GPU_PROCESS_COPY_SECONDS, usage.copy_seconds);

    /* Ratio of the node's units: whole units, rounded up. */
    struct value units = usage.compute_units, ratio = units;
    uint64_t all = kfd_compute_units(&node->properties);
    if (units.state > 0 && all > 0) {
        ratio = value_f64((double)(units.as.u64 < all ? units.as.u64 : all) / (double)all);
        ratio.state = VITALS_SAMPLED;
    } else if (units.state > 0) {
        ratio = value_missing(VITALS_UNSUPPORTED);
    }
    known = at(process, VITALS_GPU_PROCESS_UTILIZATION_RATIO);
    if (units.state != VITALS_UNSET &&
        (known->state <= 0 || ratio.state <= 0 || ratio.as.f64 > known->as.f64))
        set(wanted, process, VITALS_GPU_PROCESS_UTILIZATION_RATIO, ratio);
}

/* Adds the processes that compute on the device. Returns false if they cannot be listed. */
static bool add_processes(const struct amd *amd, const struct amd_device *device,
                          const struct metric_set *wanted, struct gpu_processes *out)
{
    const struct os *os = &amd->context->os;
    const struct kfd_node *node = &device->nodes[0];
    bool pids_hold = gpu_pids_hold(amd->context, GPU_PIDS_OF_MACHINE);
    unsigned what = KFD_MEMORY;
    if (metric_set_has(wanted, VITALS_GPU_PROCESS_COPY_SECONDS))
        what |= KFD_COPY;
    if (metric_set_has(wanted, VITALS_GPU_PROCESS_UTILIZATION_RATIO))
        what |= KFD_UNITS;
    struct os_sys_names names;
    int64_t pid;
    os_sys_names(&names, os, KFD_PROCESSES);
    for (const char *name; (name = kfd_next_process(&names, &pid)) != NULL;) {
        struct kfd_usage usage;
        if (!kfd_read_usage(os, name, node->gpu_id, what, &usage))
            continue;
        /* A process of this namespace may have the same pid as a process outside. */
        if (!pids_hold && is_ours(out, pid))
            continue;
        struct gpu_process *process = gpu_processes_put(out, pid);
        if (process == NULL)
            break;
        add_usage(node, wanted, usage, process);
    }
    return names.result == 0;
}

/* The processes of a divided card are listed with its partitions. */
void amd_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                   const struct metric_set *wanted, struct gpu_processes *out)
{
    struct amd *amd = state;
    struct amd_device *device = amd->devices[slot];
    const struct os *os = &amd->context->os;
    uint64_t stamp_ns = os_now_ns(os);
    out->state = VITALS_HAVE;
    if (!pci_exists(os, device->folder, "vendor")) {
        out->state = VITALS_GONE;
    } else if (!device->partitioned) {
        /* Find out if the memory is the machine's, if no sample has done so yet. */
        if (device->partition < 0 && !device->sensors_known &&
            !pci_is_asleep(os, device->folder, NULL))
            amd_learn_sensors(&(struct amd_reader){.os = os, .device = device});

        clients_update(&device->clients, &device->who, device->unified, swept, out);

        if (device->node_count != 0 && add_processes(amd, device, wanted, out) &&
            out->state == VITALS_NOT_YET)
            out->state = VITALS_HAVE;
    }
    out->stamp_ns = stamp_ns;
}
