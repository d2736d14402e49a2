/* processes.c: the processes that use a card or a partition: those that have a node of it open (a
 * sweep of /proc), and those that compute on it (KFD, for all users).
 *
 * Queues of ROCm pass by the kernel, so that of compute a descriptor shows memory but no time; KFD
 * has the compute units that a process uses at this moment, and the time of its copy engines. KFD's
 * pids are those of the machine: in another pid namespace they are not taken for ours. */
#include "gpu/amd/state.h"
#include "gpu/pid_namespace.h"

#include <string.h>

struct kfd_walk {
    const struct amd *amd;
    const struct amd_device *device;
    const struct metric_set *wanted;
    struct gpu_processes *out;
    bool pids_hold;
};

static struct value *at(struct gpu_process *process, vitals_metric metric)
{
    return &process->at[metric_number(metric)];
}

/* A value replaces a missing one; KFD's reason is used only if there is no other. */
static void set(const struct kfd_walk *walk, struct gpu_process *process, vitals_metric metric,
                struct value value)
{
    struct value *known = at(process, metric);
    if (metric_set_has(walk->wanted, metric) && (value.state > 0 || known->state == VITALS_UNSET))
        *known = value;
}

/* What its descriptors show may hold the same memory: the larger of both is true. */
static void merge_memory(const struct kfd_walk *walk, struct gpu_process *process,
                         struct value memory)
{
    const struct value *known = at(process, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    if (known->state <= 0 || memory.state <= 0 || memory.as.u64 > known->as.u64)
        set(walk, process, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, memory);
}

/* Of user queues, which the kernel's count does not hold. */
static void merge_copy(const struct kfd_walk *walk, struct gpu_process *process,
                       struct value seconds)
{
    const struct value *known = at(process, VITALS_GPU_PROCESS_COPY_SECONDS);
    if (known->state > 0 && seconds.state > 0)
        seconds.as.f64 += known->as.f64;
    set(walk, process, VITALS_GPU_PROCESS_COPY_SECONDS, seconds);
}

/* Of as many units as the node has. */
static void merge_units(const struct kfd_walk *walk, struct gpu_process *process,
                        struct value units, uint64_t all)
{
    const struct value *known = at(process, VITALS_GPU_PROCESS_UTILIZATION_RATIO);
    struct value ratio = value_missing(units.state > 0 ? VITALS_UNSUPPORTED
                                                       : (vitals_availability)units.state);
    if (units.state > 0 && all > 0) {
        uint64_t used = units.as.u64 < all ? units.as.u64 : all; // whole units, rounded up
        ratio = value_f64((double)used / (double)all);
        ratio.state = VITALS_SAMPLED;
    }
    if (known->state <= 0 || ratio.state <= 0 || ratio.as.f64 > known->as.f64)
        set(walk, process, VITALS_GPU_PROCESS_UTILIZATION_RATIO, ratio);
}

static void merge(const struct kfd_walk *walk, const struct kfd_node *node,
                  const struct kfd_usage *usage, struct gpu_process *process)
{
    process->uses |= GPU_COMPUTE;
    merge_memory(walk, process, usage->memory_bytes);
    if (usage->copy_seconds.state != VITALS_UNSET)
        merge_copy(walk, process, usage->copy_seconds);
    if (usage->compute_units.state != VITALS_UNSET)
        merge_units(walk, process, usage->compute_units, kfd_compute_units(&node->properties));
}

static bool is_ours(const struct gpu_processes *list, int64_t pid)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].pid == pid)
            return list->items[i].is_ours == VITALS_HAVE;
    return false;
}

static bool take_process(const char *name, void *data)
{
    struct kfd_walk *walk = data;
    const struct kfd_node *node = &walk->device->nodes[0];
    const struct metric_set *wanted = walk->wanted;
    struct kfd_usage usage;
    int64_t pid;
    unsigned what = KFD_MEMORY;
    if (metric_set_has(wanted, VITALS_GPU_PROCESS_COPY_SECONDS))
        what |= KFD_COPY;
    if (metric_set_has(wanted, VITALS_GPU_PROCESS_UTILIZATION_RATIO))
        what |= KFD_UNITS;
    if (!kfd_parse_pid(name, &pid) ||
        !kfd_read_usage(&walk->amd->context->os, name, node->gpu_id, what, &usage))
        return true;
    // A process of this namespace may have the number of a foreign one.
    if (!walk->pids_hold && is_ours(walk->out, pid))
        return true;
    struct gpu_process *process = gpu_processes_put(walk->out, pid);
    if (process != NULL)
        merge(walk, node, &usage, process);
    return process != NULL;
}

static void add_compute(struct amd *amd, const struct amd_device *device,
                        const struct metric_set *wanted, struct gpu_processes *out)
{
    struct kfd_walk walk = {amd, device, wanted, out,
                            gpu_pids_hold(amd->context, GPU_PIDS_OF_MACHINE)};
    if (device->node_count == 0)
        return;
    if (kfd_list_processes(&amd->context->os, take_process, &walk) == 0 &&
        out->state == VITALS_NOT_YET)
        out->state = VITALS_HAVE;
}

static void add_clients(struct amd_device *device, const struct gpu_sweep *swept,
                        struct gpu_processes *out)
{
    const struct gpu_identity *who = &device->who;
    struct clients_device clients = {
        .pci_bus_id = who->pci_bus_id,
        .nodes = who->nodes,
        .node_count = who->node_count,
        .by_node = device->partition >= 0,
        .unified = device->unified,
    };
    clients_update(&device->clients, &clients, swept, out);
}

/* Whether its memory is the machine's, where no sample has asked yet. */
static void learn(struct amd *amd, struct amd_device *device)
{
    const struct os *os = &amd->context->os;
    if (device->partition < 0 && !device->sensors_known && !pci_is_asleep(os, device->folder, NULL))
        amd_learn_sensors(&(struct amd_reader){.os = os, .device = device});
}

/* A divided card's processes are those of its partitions. */
void amd_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                   const struct metric_set *wanted, struct gpu_processes *out)
{
    struct amd *amd = state;
    struct amd_device *device = amd->devices[slot];
    const vitals_clock *clock = &amd->context->os.clock;
    char path[OS_SYS_PATH];
    uint64_t stamp_ns = clock->monotonic_ns(clock->data);
    out->count = 0;
    out->cut = false;
    out->state = VITALS_HAVE;
    if (!pci_path(path, device->folder, "vendor") || !os_sys_exists(&amd->context->os, path)) {
        out->state = VITALS_GONE;
    } else if (!device->partitioned) {
        learn(amd, device);
        add_clients(device, swept, out);
        add_compute(amd, device, wanted, out);
    }
    out->stamp_ns = stamp_ns;
}
