/* usage_request.c: the metrics that usage needs of a snapshot. See usage_data.h.
 *
 * Metrics of the tree are cheap and read at each tick. Those of the machine are read once a second,
 * or at the pace of the options: an observer that records them needs each sample, and a run without
 * one needs its counters at the end only. Metrics for which the kernel walks a process's memory or
 * its threads are read only with details, once a second at most. */
#include "run/usage/usage_data.h"

static const uint64_t SELDOM_NS = NS_PER_SECOND;

/* Metrics that cost much and are seldom of interest. */
static const uint64_t RARELY_NS = 5 * NS_PER_SECOND;
static const uint64_t ROOM_NS = 10 * NS_PER_SECOND;
static const uint64_t LISTS_NS = 60 * NS_PER_SECOND;

// clang-format off

/* Metrics that every tick reads of each process: from its stat, statm and clock. */
static const vitals_metric OF_PROCESSES[] = {
    VITALS_PROCESS_PID, VITALS_PROCESS_PARENT_PID, VITALS_PROCESS_START_SECONDS,
    VITALS_PROCESS_THREADS, VITALS_PROCESS_CPU_SECONDS, VITALS_PROCESS_CPU_USER_SECONDS,
    VITALS_PROCESS_CPU_SYSTEM_SECONDS, VITALS_PROCESS_CHILDREN_USER_SECONDS,
    VITALS_PROCESS_CHILDREN_SYSTEM_SECONDS, VITALS_PROCESS_RESIDENT_BYTES,
    VITALS_PROCESS_SHARED_BYTES, VITALS_PROCESS_VIRTUAL_BYTES, VITALS_PROCESS_MINOR_FAULTS,
    VITALS_PROCESS_MAJOR_FAULTS,
};

/* Files that are opened anew at each reading. A peak that came and went since is seen in the next:
 * not more often, but not much more seldom either. */
static const vitals_metric OF_FILES[] = {
    VITALS_PROCESS_READ_BYTES, VITALS_PROCESS_WRITTEN_BYTES, VITALS_PROCESS_RESIDENT_PEAK_BYTES,
};

/* Metrics that cost more than a read; anonymous pages are in the same file as swapped ones. */
static const vitals_metric OF_DETAILS[] = {
    VITALS_PROCESS_PSS_BYTES, VITALS_PROCESS_USS_BYTES, VITALS_PROCESS_SWAPPED_BYTES,
    VITALS_PROCESS_RESIDENT_ANON_BYTES, VITALS_PROCESS_DESCRIPTORS, VITALS_PROCESS_CALL_READ_BYTES,
    VITALS_PROCESS_CALL_WRITTEN_BYTES, VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES,
    VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES, VITALS_PROCESS_RUN_DELAY_SECONDS,
    VITALS_PROCESS_BLOCK_DELAY_SECONDS,
};

/* In which network a process is it hardly ever changes, and its counters are never reset. */
static const vitals_metric OF_NAMESPACES[] = {
    VITALS_PROCESS_NETWORK_NAMESPACE, VITALS_PROCESS_NETWORK_RECEIVED_BYTES,
    VITALS_PROCESS_NETWORK_TRANSMITTED_BYTES, VITALS_HOST_NETWORK_NAMESPACE,
};

static const vitals_metric OF_MACHINE[] = {
    VITALS_HOST_FORKS, VITALS_HOST_CPU_USER_SECONDS, VITALS_HOST_CPU_NICE_SECONDS,
    VITALS_HOST_CPU_SYSTEM_SECONDS, VITALS_HOST_CPU_IRQ_SECONDS, VITALS_HOST_CPU_SOFTIRQ_SECONDS,
    VITALS_HOST_CPU_BUSY_SECONDS, VITALS_HOST_MEMORY_TOTAL_BYTES, VITALS_HOST_MEMORY_FREE_BYTES,
    VITALS_HOST_MEMORY_AVAILABLE_BYTES, VITALS_HOST_MEMORY_USED_BYTES,
    VITALS_HOST_MEMORY_BUFFERS_BYTES, VITALS_HOST_MEMORY_CACHED_BYTES,
    VITALS_HOST_MEMORY_PAGE_CACHE_BYTES, VITALS_HOST_MEMORY_ACTIVE_BYTES,
    VITALS_HOST_MEMORY_INACTIVE_BYTES, VITALS_HOST_MEMORY_ACTIVE_ANON_BYTES,
    VITALS_HOST_MEMORY_INACTIVE_ANON_BYTES, VITALS_HOST_SWAP_USED_BYTES,
    VITALS_HOST_PACKAGE_ENERGY_JOULES, VITALS_HOST_DRAM_ENERGY_JOULES,
};

/* Counters, a file each, and what the kernel itself makes anew each 5 s. A replay shows the ratio
 * of pressure, which is of the same file as its seconds. */
static const vitals_metric OF_COUNTERS[] = {
    VITALS_HOST_LOAD_1M, VITALS_HOST_TASKS, VITALS_HOST_DISK_READ_BYTES,
    VITALS_HOST_DISK_WRITTEN_BYTES, VITALS_HOST_NETWORK_RECEIVED_BYTES,
    VITALS_HOST_NETWORK_TRANSMITTED_BYTES, VITALS_PRESSURE_RESOURCE, VITALS_PRESSURE_SOME_SECONDS,
    VITALS_PRESSURE_SOME_10S_RATIO,
};

/* All of /proc is listed for it. */
static const vitals_metric OF_LISTS[] = {VITALS_HOST_PROCESSES};

/* Metrics that change slowly: every mount is opened for them, and every cgroup of ours. */
static const vitals_metric OF_ROOM[] = {
    VITALS_HOST_CPUS, VITALS_HOST_CPUS_USABLE, VITALS_HOST_CPUS_ELIGIBLE,
    VITALS_HOST_DISK_SPACE_TOTAL_BYTES, VITALS_HOST_DISK_SPACE_USED_BYTES,
    VITALS_HOST_DISK_SPACE_AVAILABLE_BYTES,
};

static const vitals_metric OF_DEVICES[] = {
    VITALS_SOURCE_STATE, VITALS_SOURCE_MESSAGE, VITALS_GPU_INDEX, VITALS_GPU_VENDOR,
    VITALS_GPU_KERNEL_DRIVER, VITALS_GPU_UUID, VITALS_GPU_PCI_BUS_ID, VITALS_GPU_GPU_INSTANCE_ID,
    VITALS_GPU_COMPUTE_INSTANCE_ID, VITALS_GPU_PROCESSES, VITALS_GPU_UTILIZATION_RATIO,
    VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_GPU_POWER_WATTS,
    VITALS_GPU_ENERGY_JOULES, VITALS_GPU_TEMPERATURE_CELSIUS, VITALS_GPU_PROCESS_PID,
    VITALS_GPU_PROCESS_PROCESS, VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
    VITALS_GPU_PROCESS_UTILIZATION_RATIO, VITALS_GPU_PROCESS_BUSY_SECONDS,
};

// clang-format on

/* 0: at each tick. */
static const struct pace {
    uint64_t machine_ns, counters_ns, lists_ns, room_ns;
} PACES[] = {
    [VITALS_MACHINE_EACH_SECOND] = {SELDOM_NS, SELDOM_NS, SELDOM_NS, ROOM_NS},
    [VITALS_MACHINE_CLOSELY] = {0, 0, 0, SELDOM_NS},
    [VITALS_MACHINE_SELDOM] = {SELDOM_NS, RARELY_NS, LISTS_NS, ROOM_NS},
};

/* A metric that was asked for more often before stays so, but for `exactly`: a run is over before
 * what grows in it is read at the catalogue's own pace, which is that of a machine. Walking a
 * process's memory takes long where there is much of it: the reader of details itself reads the
 * large more seldom. */
static int add(vitals_request *request, const vitals_metric *metrics, size_t count,
               uint64_t every_ns, bool exactly, vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        bool had = vitals_request_has(request, metrics[i]) != 0;
        code = vitals_request_add(request, metrics[i], error);
        bool seldom = !had && every_ns != 0 && vitals_metric_every_ns(metrics[i]) < every_ns;
        if (code == 0 && (exactly || seldom))
            code = vitals_request_set_every(request, metrics[i], every_ns, error);
    }
    return code;
}

int usage_request_memory(vitals_request *request, vitals_error *error)
{
    static const vitals_metric OF_MEMORY[] = {
        VITALS_PROCESS_PSS_BYTES, VITALS_PROCESS_USS_BYTES, VITALS_PROCESS_RESIDENT_SHMEM_BYTES,
        VITALS_PROCESS_PSS_ANON_BYTES, VITALS_PROCESS_PSS_SHMEM_BYTES};
    return add(request, OF_MEMORY, ARRAY_COUNT(OF_MEMORY), SELDOM_NS, true, error);
}

int vitals_usage_request(const vitals_usage *usage, vitals_request *request, vitals_error *error)
{
    const vitals_usage_options *options = &usage->options;
    bool tree = options->launcher != 0 || options->pid_count > 0;
    bool details = tree && options->details != 0;
    const struct pace *pace = &PACES[tree ? options->machine_pace : VITALS_MACHINE_CLOSELY];
    const struct {
        bool wanted;
        const vitals_metric *metrics;
        size_t count;
        uint64_t every_ns;
    } LISTS[] = {
        {true, OF_MACHINE, ARRAY_COUNT(OF_MACHINE), pace->machine_ns},
        {true, OF_COUNTERS, ARRAY_COUNT(OF_COUNTERS), pace->counters_ns},
        {true, OF_LISTS, ARRAY_COUNT(OF_LISTS), pace->lists_ns},
        {true, OF_ROOM, ARRAY_COUNT(OF_ROOM), tree ? pace->room_ns : 0},
        {true, OF_DEVICES, ARRAY_COUNT(OF_DEVICES), 0},
        {tree, OF_PROCESSES, ARRAY_COUNT(OF_PROCESSES), 0},
        {tree, OF_FILES, ARRAY_COUNT(OF_FILES), SELDOM_NS},
        {details, OF_DETAILS, ARRAY_COUNT(OF_DETAILS), SELDOM_NS},
        {details, OF_NAMESPACES, ARRAY_COUNT(OF_NAMESPACES), SELDOM_NS},
    };
    int code = 0;
    for (size_t i = 0; i < ARRAY_COUNT(LISTS) && code == 0; i++) {
        if (LISTS[i].wanted)
            code = add(request, LISTS[i].metrics, LISTS[i].count, LISTS[i].every_ns,
                       LISTS[i].metrics == OF_DETAILS, error);
    }
    if (code == 0 && options->launcher != 0)
        code = vitals_request_set_rows(request, VITALS_ROWS_DESCENDANTS, &options->launcher, 1,
                                       error);
    else if (code == 0 && tree)
        code = vitals_request_set_rows(
            request, options->no_children != 0 ? VITALS_ROWS_LISTED : VITALS_ROWS_TREE,
            options->pids, options->pid_count, error);
    return code;
}
