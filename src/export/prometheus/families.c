/* families.c: every family, in the order in which they are written. See families.h. */
#include "export/prometheus/families.h"

#include <stdio.h>
#include <string.h>

#define GPU "gpu, uuid"

/* A family of one metric. Everything that the row does not state follows from the metric. */
#define FROM(metric) .parts = {{metric, NULL}}

// clang-format off
const struct metric_family families[] = {
    /* ---- the exporter itself ---- */
    {.name = "build_info", .writer = FAMILY_BUILD, .labels = "version",
     .help = "The version of vitals; always 1."},
    {FROM(VITALS_SOURCE_STATE), .name = "collector_success", .writer = FAMILY_COLLECTOR_SUCCESS,
     .help = "Whether the source could be read in its last run, 0 or 1. What this machine does "
             "not have is not listed."},
    {FROM(VITALS_SOURCE_CALL_SECONDS), .name = "collector_duration_seconds",
     .writer = FAMILY_COLLECTOR_DURATION,
     .help = "Time that the calls of the source took between the last two samples."},
    {.name = "collector_last_success_timestamp_seconds", .writer = FAMILY_COLLECTOR_LAST,
     .labels = "collector",
     .help = "When the source was last read, since 1970: its age is how old its values are."},
    {.name = "series_dropped", .writer = FAMILY_DROPPED, .labels = "scope",
     .help = "Rows of this sample beyond the cap, which have no series of their own."},
    {.name = "http_requests_total", .writer = FAMILY_REQUESTS, .labels = "code",
     .help = "Requests that this server answered, by status."},
    {.name = "http_rejected_total", .writer = FAMILY_REJECTED, .labels = "reason",
     .help = "Requests and connections that this server refused, by why."},

    /* ---- devices ---- */
    {.name = "gpu_info", .writer = FAMILY_GPU_INFO,
     .labels = GPU ", vendor, name, driver, driver_version, pci_bus_id, minor, numa_node",
     .parts = {{VITALS_GPU_VENDOR, NULL}, {VITALS_GPU_NAME, NULL},
               {VITALS_GPU_KERNEL_DRIVER, NULL}, {VITALS_GPU_DRIVER_VERSION, NULL},
               {VITALS_GPU_PCI_BUS_ID, NULL}, {VITALS_GPU_DEVICE_NODE, NULL},
               {VITALS_GPU_NUMA_NODE, NULL}}, .help = "What the device is; always 1."},
    {FROM(VITALS_GPU_UTILIZATION_RATIO)},
    {FROM(VITALS_GPU_BUSY_SECONDS)},
    {FROM(VITALS_GPU_MEMORY_BUSY_RATIO)},
    {FROM(VITALS_GPU_ENGINE_UTILIZATION_RATIO)},
    {FROM(VITALS_GPU_ENGINE_BUSY_SECONDS)},
    {FROM(VITALS_GPU_SM_ACTIVE_RATIO),
     .help = "Share of multiprocessors with a warp at work, by hardware counters."},
    {FROM(VITALS_GPU_SM_OCCUPANCY_RATIO),
     .help = "Share of possible warps that were resident, by hardware counters."},
    {FROM(VITALS_GPU_MEMORY_BANDWIDTH_RATIO), .name = "gpu_dram_active_ratio",
     .help = "Share of memory bandwidth in use, by hardware counters."},
    {.name = "gpu_pipe_active_ratio", .part_label = "pipe",
     .parts = {{VITALS_GPU_TENSOR_ACTIVE_RATIO, "tensor"}},
     .help = "Share of cycles in which the pipe was active, by hardware counters."},
    {FROM(VITALS_GPU_MEMORY_TOTAL_BYTES)},
    {FROM(VITALS_GPU_MEMORY_USED_BYTES)},
    {FROM(VITALS_GPU_MEMORY_FREE_BYTES)},
    {FROM(VITALS_GPU_MEMORY_RESERVED_BYTES)},
    {FROM(VITALS_GPU_POOL_TOTAL_BYTES)},
    {FROM(VITALS_GPU_POOL_USED_BYTES)},
    {FROM(VITALS_GPU_POWER_WATTS)},
    {FROM(VITALS_GPU_POWER_LIMIT_WATTS)},
    {FROM(VITALS_GPU_ENERGY_JOULES)},
    {.name = "gpu_temperature_celsius", .row_label = "sensor",
     .parts = {{VITALS_GPU_TEMPERATURE_CELSIUS, "gpu"},
               {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, NULL}},
     .help = "Temperature; the sensor gpu is the core."},
    {.name = "gpu_temperature_limit_celsius", .part_label = "limit",
     .parts = {{VITALS_GPU_SENSOR_HIGH_CELSIUS, "slowdown"},
               {VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "shutdown"}},
     .help = "From where on clocks are lowered, and from where on it switches itself off."},
    {.name = "gpu_fan_ratio", .row_label = "fan",
     .parts = {{VITALS_GPU_SENSOR_FAN_RATIO, NULL}, {VITALS_GPU_FAN_RATIO, "all"}},
     .help = "Fan speed of its maximum; all is what is known where fans are not told apart."},
    {FROM(VITALS_GPU_SENSOR_FAN_RPM), .name = "gpu_fan_rpm", .row_label = "fan"},
    {FROM(VITALS_GPU_CLOCK_FREQUENCY_HERTZ), .name = "gpu_clock_hertz",
     .help = "Frequency of the clock."},
    {FROM(VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ), .name = "gpu_clock_max_hertz"},
    {.name = "gpu_throttle_active", .part_label = "reason",
     .parts = {{VITALS_GPU_THROTTLED_BY_POWER, "power"},
               {VITALS_GPU_THROTTLED_BY_TEMPERATURE, "temperature"},
               {VITALS_GPU_THROTTLED_BY_CURRENT, "current"},
               {VITALS_GPU_THROTTLED_OTHERWISE, "other"}},
     .help = "Whether the reason holds its clocks down now, 0 or 1."},
    {.name = "gpu_throttle_seconds_total", .part_label = "reason",
     .parts = {{VITALS_GPU_THROTTLED_POWER_SECONDS, "power"},
               {VITALS_GPU_THROTTLED_THERMAL_SECONDS, "temperature"}},
     .help = "Time that the reason held its clocks down, since the driver was loaded."},
    {FROM(VITALS_GPU_PERFORMANCE_STATE)},
    {FROM(VITALS_GPU_PCIE_REPLAYS)},
    {FROM(VITALS_GPU_PCIE_GENERATION), .name = "gpu_pcie_link_generation"},
    {FROM(VITALS_GPU_PCIE_WIDTH), .name = "gpu_pcie_link_width"},
    {FROM(VITALS_GPU_PCIE_GENERATION_MAX), .name = "gpu_pcie_link_max_generation"},
    {FROM(VITALS_GPU_PCIE_WIDTH_MAX), .name = "gpu_pcie_link_max_width"},
    {FROM(VITALS_GPU_LINK_RECEIVED_BYTES), .name = "gpu_interconnect_receive_bytes_total",
     .writer = FAMILY_GPU_LINKS, .help = "Bytes received over all direct links to other devices."},
    {FROM(VITALS_GPU_LINK_TRANSMITTED_BYTES), .name = "gpu_interconnect_transmit_bytes_total",
     .writer = FAMILY_GPU_LINKS, .help = "Bytes sent over all direct links to other devices."},
    {.name = "gpu_interconnect_errors_total", .writer = FAMILY_GPU_LINKS,
     .parts = {{VITALS_GPU_LINK_REPLAY_ERRORS, NULL}, {VITALS_GPU_LINK_RECOVERY_ERRORS, NULL},
               {VITALS_GPU_LINK_CRC_ERRORS, NULL}},
     .help = "Replays, recoveries and CRC errors of all direct links."},
    {.name = "gpu_ecc_errors_total", .part_label = "severity",
     .parts = {{VITALS_GPU_ECC_ERRORS_CORRECTED, "corrected"},
               {VITALS_GPU_ECC_ERRORS_UNCORRECTED, "uncorrected"}},
     .help = "ECC errors since the driver was loaded."},
    {.name = "gpu_ecc_errors_lifetime_total", .part_label = "severity",
     .parts = {{VITALS_GPU_ECC_ERRORS_CORRECTED_EVER, "corrected"},
               {VITALS_GPU_ECC_ERRORS_UNCORRECTED_EVER, "uncorrected"}},
     .help = "ECC errors in the life of the board; those since the driver was loaded are in it."},
    {.name = "gpu_row_remaps_total", .part_label = "severity",
     .parts = {{VITALS_GPU_REMAPPED_ROWS_CORRECTED, "corrected"},
               {VITALS_GPU_REMAPPED_ROWS_UNCORRECTED, "uncorrected"}},
     .help = "Rows of memory replaced by spare ones, in the life of the board."},
    {.name = "gpu_retired_pages", .part_label = "cause",
     .parts = {{VITALS_GPU_RETIRED_PAGES_CORRECTED, "corrected"},
               {VITALS_GPU_RETIRED_PAGES_UNCORRECTED, "uncorrected"}},
     .help = "Pages of memory taken out of use, by the kind of error that did it."},
    {FROM(VITALS_GPU_REMAPPED_ROWS_PENDING), .name = "gpu_row_remap_pending"},
    {FROM(VITALS_GPU_REMAPPED_ROWS_FAILED), .name = "gpu_row_remap_failed"},
    {FROM(VITALS_GPU_XID_ERRORS)},
    {.name = "gpu_xid_last_timestamp_seconds", .writer = FAMILY_XID_LAST, .labels = GPU ", xid",
     .parts = {{VITALS_GPU_XID_LAST, NULL}, {VITALS_GPU_XID_ERRORS, NULL}},
     .help = "When the newest Xid error was first seen here, since 1970, and its number."},
    {FROM(VITALS_GPU_ECC_MODE)},
    {FROM(VITALS_GPU_MIG_MODE)},
    {FROM(VITALS_GPU_PERSISTENCE_MODE)},
    {FROM(VITALS_GPU_ACCOUNTING_MODE)},
    {.name = "gpu_processes", .writer = FAMILY_GPU_PROCESSES, .labels = GPU ", type",
     .parts = {{VITALS_GPU_PROCESSES, NULL}, {VITALS_GPU_PROCESS_TYPE, NULL}},
     .help = "Processes on the device that compute and that draw; one that does both is in both."},

    /* ---- partitions ---- */
    {.name = "gpu_partition_info", .writer = FAMILY_PARTITION_INFO,
     .labels = "uuid, parent_uuid, gi, ci, profile",
     .parts = {{VITALS_GPU_GPU_INSTANCE_ID, NULL}, {VITALS_GPU_COMPUTE_INSTANCE_ID, NULL},
               {VITALS_GPU_NAME, NULL}},
     .help = "A MIG instance, an XCP or a tile, and the device that it is of; always 1."},
    {FROM(VITALS_GPU_MEMORY_TOTAL_BYTES), .name = "gpu_partition_memory_total_bytes",
     .writer = FAMILY_PARTITION, .labels = "uuid, parent_uuid", .help = "Memory of the partition."},
    {FROM(VITALS_GPU_MEMORY_USED_BYTES), .name = "gpu_partition_memory_used_bytes",
     .writer = FAMILY_PARTITION, .labels = "uuid, parent_uuid",
     .help = "Memory of the partition in use."},
    {FROM(VITALS_GPU_SM_ACTIVE_RATIO), .name = "gpu_partition_sm_active_ratio",
     .writer = FAMILY_PARTITION, .labels = "uuid, parent_uuid",
     .help = "Share of the partition's multiprocessors with a warp at work."},

    /* ---- processes, where each has series of its own ---- */
    {FROM(VITALS_GPU_PROCESS_MEMORY_USED_BYTES)},
    {.name = "gpu_process_utilization_ratio", .part_label = "engine",
     .parts = {{VITALS_GPU_PROCESS_UTILIZATION_RATIO, "sm"},
               {VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO, "memory"},
               {VITALS_GPU_PROCESS_ENCODER_RATIO, "encoder"},
               {VITALS_GPU_PROCESS_DECODER_RATIO, "decoder"},
               {VITALS_GPU_PROCESS_VIDEO_RATIO, "video"},
               {VITALS_GPU_PROCESS_VIDEO_ENHANCE_RATIO, "video_enhance"}},
     .help = "Its share of the engine in the driver's newest sample."},
    {.name = "gpu_process_engine_busy_seconds_total", .part_label = "engine",
     .parts = {{VITALS_GPU_PROCESS_GRAPHICS_SECONDS, "render"},
               {VITALS_GPU_PROCESS_COMPUTE_SECONDS, "compute"},
               {VITALS_GPU_PROCESS_COPY_SECONDS, "copy"},
               {VITALS_GPU_PROCESS_ENCODER_SECONDS, "encoder"},
               {VITALS_GPU_PROCESS_DECODER_SECONDS, "decoder"},
               {VITALS_GPU_PROCESS_VIDEO_SECONDS, "video"},
               {VITALS_GPU_PROCESS_VIDEO_ENHANCE_SECONDS, "video_enhance"}},
     .help = "Time that it kept the engine busy, as the kernel counts it."},
    {.name = "process_info", .writer = FAMILY_PROCESS_INFO, .labels = "pid, comm, user, workload",
     .parts = {{VITALS_PROCESS_NAME, NULL}, {VITALS_PROCESS_USER, NULL},
               {VITALS_PROCESS_UID, NULL}, {VITALS_PROCESS_WORKLOAD, NULL}},
     .help = "The process, whose it is and what it works for; always 1."},
    {FROM(VITALS_PROCESS_START_SECONDS), .name = "process_start_time_seconds",
     .writer = FAMILY_PROCESS_START,
     .help = "When it started, since 1970; tells apart those that had the pid."},
    {FROM(VITALS_PROCESS_RESIDENT_BYTES), .name = "process_resident_memory_bytes"},
    {FROM(VITALS_PROCESS_THREADS)},
    {FROM(VITALS_PROCESS_DESCRIPTORS), .name = "process_open_fds"},
    {.name = "process_cpu_seconds_total", .part_label = "mode",
     .parts = {{VITALS_PROCESS_CPU_USER_SECONDS, "user"},
               {VITALS_PROCESS_CPU_SYSTEM_SECONDS, "system"}}, .help = "CPU time that it used."},
    {FROM(VITALS_PROCESS_READ_BYTES)},
    {FROM(VITALS_PROCESS_WRITTEN_BYTES)},

    /* ---- workloads ---- */
    {.name = "workload_info", .writer = FAMILY_WORKLOAD_INFO,
     .labels = "workload, kind, user, slurm_job_id, slurm_step_id, slurm_sluid, "
               "k8s_namespace_name, k8s_pod_name, k8s_container_name, container_id, unit",
     .parts = {{VITALS_WORKLOAD_KIND, NULL}, {VITALS_WORKLOAD_USER, NULL},
               {VITALS_WORKLOAD_SLURM_JOB_ID, NULL}, {VITALS_WORKLOAD_SLURM_STEP_ID, NULL},
               {VITALS_WORKLOAD_SLURM_SLUID, NULL}, {VITALS_WORKLOAD_K8S_NAMESPACE_NAME, NULL},
               {VITALS_WORKLOAD_K8S_POD_NAME, NULL}, {VITALS_WORKLOAD_K8S_CONTAINER_NAME, NULL},
               {VITALS_WORKLOAD_CONTAINER_ID, NULL}, {VITALS_WORKLOAD_UNIT, NULL}},
     .help = "A job, a container, a service or a user; always 1. Labels that would be empty are "
             "left out."},
    {FROM(VITALS_GPU_PROCESS_MEMORY_USED_BYTES), .name = "workload_gpu_memory_used_bytes",
     .writer = FAMILY_WORKLOAD_GPU, .level = EXPOSITION_WORKLOAD, .labels = GPU ", workload",
     .help = "Device memory of its processes."},
    {FROM(VITALS_GPU_PROCESS_UTILIZATION_RATIO), .name = "workload_gpu_utilization_ratio",
     .writer = FAMILY_WORKLOAD_GPU, .level = EXPOSITION_WORKLOAD, .labels = GPU ", workload",
     .help = "Its processes' share of the device in the driver's newest sample."},
    {FROM(VITALS_GPU_PROCESS_BUSY_SECONDS), .name = "workload_gpu_busy_seconds_total",
     .writer = FAMILY_WORKLOAD_GPU_BUSY, .level = EXPOSITION_WORKLOAD, .labels = GPU ", workload",
     .help = "Integral of its processes' share over time, those that have ended too: "
             "GPU-seconds."},
    {.name = "gpu_job_info", .writer = FAMILY_GPU_JOB, .level = EXPOSITION_WORKLOAD,
     .labels = GPU ", workload, job_id, by",
     .parts = {{VITALS_GPU_JOB_JOB_ID, NULL}, {VITALS_GPU_JOB_WORKLOAD, NULL},
               {VITALS_GPU_PROCESS_PROCESS, NULL}},
     .help = "A job that the device works for; always 1. By process: one of its processes is on "
             "the device. By prolog: none of a job is, and a scheduler's file allots the device "
             "to it."},
    {FROM(VITALS_WORKLOAD_PROCESSES)},
    {FROM(VITALS_WORKLOAD_MEMORY_USED_BYTES)},
    {FROM(VITALS_WORKLOAD_MEMORY_PEAK_BYTES), .unsummed = true},
    {FROM(VITALS_WORKLOAD_CPU_SECONDS)},
    {FROM(VITALS_WORKLOAD_OOM_KILLS)},

    /* ---- the machine ---- */
    {.name = "host_cpu_seconds_total", .part_label = "mode",
     .parts = {{VITALS_HOST_CPU_USER_SECONDS, "user"}, {VITALS_HOST_CPU_NICE_SECONDS, "nice"},
               {VITALS_HOST_CPU_SYSTEM_SECONDS, "system"}, {VITALS_HOST_CPU_IDLE_SECONDS, "idle"},
               {VITALS_HOST_CPU_IOWAIT_SECONDS, "iowait"}, {VITALS_HOST_CPU_IRQ_SECONDS, "irq"},
               {VITALS_HOST_CPU_SOFTIRQ_SECONDS, "softirq"},
               {VITALS_HOST_CPU_STEAL_SECONDS, "steal"}}, .help = "CPU time of all CPUs together."},
    {FROM(VITALS_HOST_CPUS)},
    {FROM(VITALS_HOST_LOAD_1M), .name = "host_load1"},
    {FROM(VITALS_HOST_LOAD_5M), .name = "host_load5"},
    {FROM(VITALS_HOST_LOAD_15M), .name = "host_load15"},
    {FROM(VITALS_HOST_BOOT_TIME_SECONDS)},
    {FROM(VITALS_HOST_MEMORY_TOTAL_BYTES)},
    {FROM(VITALS_HOST_MEMORY_AVAILABLE_BYTES)},
    {FROM(VITALS_HOST_SWAP_TOTAL_BYTES)},
    {FROM(VITALS_HOST_SWAP_USED_BYTES)},
    {FROM(VITALS_NETWORK_RECEIVED_BYTES), .name = "host_network_receive_bytes_total"},
    {FROM(VITALS_NETWORK_TRANSMITTED_BYTES), .name = "host_network_transmit_bytes_total",
     .help = "Bytes sent."},
    {FROM(VITALS_DISK_READ_BYTES), .name = "host_disk_read_bytes_total",
     .help = "Bytes read from the disk, its partitions included."},
    {FROM(VITALS_DISK_WRITTEN_BYTES), .name = "host_disk_written_bytes_total",
     .help = "Bytes written to the disk, its partitions included."},
    {FROM(VITALS_FILESYSTEM_TOTAL_BYTES), .name = "host_filesystem_size_bytes",
     .help = "Size of the file system."},
    {FROM(VITALS_FILESYSTEM_AVAILABLE_BYTES), .name = "host_filesystem_avail_bytes"},
    {FROM(VITALS_PRESSURE_SOME_SECONDS), .name = "host_pressure_waiting_seconds_total",
     .help = "Time that some task stood still for want of the resource."},
    {.name = "host_energy_joules_total", .part_label = "domain",
     .parts = {{VITALS_HOST_PACKAGE_ENERGY_JOULES, "package"},
               {VITALS_HOST_DRAM_ENERGY_JOULES, "dram"}},
     .help = "Energy that the processors count, packages and memory (RAPL)."},

    /* ---- tracked runs: vitals run --textfile ---- */
#define RUN(family, writer_, help_) .name = family, .writer = writer_, .help = help_
    {RUN("run_info", FAMILY_RUN_INFO, "A run, what it is called and whose it is; always 1."),
     .labels = "run, name, user"},
    {RUN("run_cpu_seconds_total", FAMILY_RUN, "CPU time of all its processes."),
     .measure = "cpu_seconds", .figure = "cpu_seconds"},
    {RUN("run_read_bytes_total", FAMILY_RUN, "Bytes that they made storage read."),
     .measure = "disk_read_bytes", .figure = "disk_read_bytes"},
    {RUN("run_written_bytes_total", FAMILY_RUN, "Bytes that they made storage write."),
     .measure = "disk_written_bytes", .figure = "disk_written_bytes"},
    {RUN("run_gpu_busy_seconds_total", FAMILY_RUN, "Time that they kept the device busy."),
     .labels = "run, uuid", .measure = "gpu_busy_seconds", .figure = "gpu_busy_seconds"},
    {RUN("run_gpu_energy_joules_total", FAMILY_RUN, "Their share of the device's energy, by busy time: an estimate."),
     .labels = "run, uuid", .measure = "gpu_energy_joules", .figure = "gpu_energy_joules"},
    {RUN("run_memory_bytes", FAMILY_RUN, "Sum of their resident set sizes, while it runs."),
     .measure = "memory_resident_bytes"},
    {RUN("run_memory_peak_bytes", FAMILY_RUN, "The most that it was in a sample; from its end on what the kernel counted, page cache " "included, where it did."),
     .measure = "memory_resident_bytes", .figure = "memory_peak_bytes"},
    {RUN("run_gpu_memory_bytes", FAMILY_RUN, "Device memory that they hold, while it runs."),
     .labels = "run, uuid", .measure = "gpu_memory_bytes"},
    {RUN("run_gpu_memory_peak_bytes", FAMILY_RUN, "The most that it was."), .labels = "run, uuid",
     .measure = "gpu_memory_bytes", .figure = "gpu_memory_peak_bytes"},
    {RUN("run_start_time_seconds", FAMILY_RUN_START, "When it started, since 1970.")},
    {RUN("run_end_time_seconds", FAMILY_RUN_END, "When it had ended, since 1970; else not there.")},
    {RUN("run_exit_code", FAMILY_RUN_EXIT, "How it ended, as a shell says it: 128 and the signal that ended it.")},
#undef RUN
};
// clang-format on
const size_t families_count = sizeof families / sizeof families[0];

// clang-format off
const vitals_metric families_identities[] = {
    VITALS_GPU_INDEX, VITALS_GPU_UUID, VITALS_GPU_PROCESS_PID, VITALS_GPU_PROCESS_PROCESS,
    VITALS_PROCESS_PID, VITALS_PROCESS_UID, VITALS_PROCESS_USER, VITALS_PROCESS_WORKLOAD,
    VITALS_WORKLOAD_ID, VITALS_WORKLOAD_CLAIMED, VITALS_HOST_BOOT_TIME_SECONDS, VITALS_NETWORK_NAME,
    VITALS_DISK_NAME, VITALS_DISK_COUNTED, VITALS_FILESYSTEM_MOUNT_POINT, VITALS_FILESYSTEM_TYPE,
    VITALS_FILESYSTEM_PSEUDO, VITALS_PRESSURE_RESOURCE, VITALS_PRESSURE_SCOPE, 0,
};
// clang-format on

/* ---- what follows from the metric ---- */

// clang-format off
const struct family_table family_tables[] = {
    {.entity = VITALS_TABLE_HOST},
    {.entity = VITALS_TABLE_GPU, .own = "gpu", .more = {{"uuid", VITALS_GPU_UUID}}},
    {.entity = VITALS_TABLE_GPU_ENGINE, .of_gpu = true, .row_label = "engine"},
    {.entity = VITALS_TABLE_GPU_SENSOR, .of_gpu = true, .row_label = "sensor"},
    {.entity = VITALS_TABLE_GPU_CLOCK, .of_gpu = true, .row_label = "clock"},
    {.entity = VITALS_TABLE_GPU_POOL, .of_gpu = true, .row_label = "pool"},
    {.entity = VITALS_TABLE_GPU_LINK, .of_gpu = true},
    {.entity = VITALS_TABLE_SOURCE, .own = "collector"},
    {.entity = VITALS_TABLE_DISK, .more = {{"device", VITALS_DISK_NAME}}},
    {.entity = VITALS_TABLE_NETWORK, .more = {{"device", VITALS_NETWORK_NAME}}},
    {.entity = VITALS_TABLE_FILESYSTEM,
     .more = {{"mountpoint", VITALS_FILESYSTEM_MOUNT_POINT}, {"fstype", VITALS_FILESYSTEM_TYPE}}},
    {.entity = VITALS_TABLE_PRESSURE, .more = {{"resource", VITALS_PRESSURE_RESOURCE}}},
    {VITALS_TABLE_WORKLOAD, EXPOSITION_WORKLOAD, .more = {{"workload", VITALS_WORKLOAD_ID}}},
    {VITALS_TABLE_PROCESS, EXPOSITION_PID, .more = {{"pid", VITALS_PROCESS_PID}}},
    {VITALS_TABLE_GPU_PROCESS, EXPOSITION_PID, true, .more = {{"pid", VITALS_GPU_PROCESS_PID}}},
};
// clang-format on
const size_t family_tables_count = sizeof family_tables / sizeof family_tables[0];

/* Returns the table of the first metric; the machine's, which has no labels, if the family reads no
 * table. */
static const struct family_table *table_of(const struct metric_family *family)
{
    vitals_table entity = vitals_metric_table(family->parts[0].metric);
    size_t i = family_tables_count;
    while (--i > 0 && family_tables[i].entity != entity)
        ;
    return &family_tables[i];
}

const char *family_name(const struct metric_family *family, char out[FAMILY_NAME_SIZE])
{
    vitals_metric metric = family->parts[0].metric;
    if (family->name != NULL)
        return family->name;
    (void)snprintf(out, FAMILY_NAME_SIZE, "%s_%s%s", vitals_table_name(vitals_metric_table(metric)),
                   vitals_metric_name(metric),
                   vitals_metric_kind(metric) == VITALS_COUNTER ? "_total" : "");
    return out;
}

const char *family_help(const struct metric_family *family)
{
    return family->help != NULL ? family->help : vitals_metric_help(family->parts[0].metric);
}

enum exposition_level family_level(const struct metric_family *family)
{
    if (family->writer >= FAMILY_RUN)
        return EXPOSITION_RUN;
    return family->level != 0 ? (enum exposition_level)family->level : table_of(family)->level;
}

const char *family_row_label(const struct metric_family *family)
{
    return family->row_label != NULL ? family->row_label : table_of(family)->row_label;
}

void family_labels(const struct metric_family *family, char out[FAMILY_LABELS_SIZE])
{
    const struct family_table *table = table_of(family);
    const char *const LABELS[] = {table->of_gpu ? GPU : NULL, table->own,
                                  table->more[0].name,        table->more[1].name,
                                  family_row_label(family),   family->part_label};
    out[0] = '\0';
    if (family->labels != NULL || family->writer >= FAMILY_RUN) {
        (void)snprintf(out, FAMILY_LABELS_SIZE, "%s",
                       family->labels != NULL ? family->labels : "run");
        return;
    }
    for (size_t i = 0; i < sizeof LABELS / sizeof LABELS[0]; i++) {
        size_t size = strlen(out);
        if (LABELS[i] != NULL)
            (void)snprintf(out + size, FAMILY_LABELS_SIZE - size, "%s%s", size > 0 ? ", " : "",
                           LABELS[i]);
    }
}

/* ---- what follows from the name ---- */

static const char *const UNITS[] = {
    "seconds", "bytes", "ratio", "celsius", "joules", "watts", "hertz", "volts", "rpm",
};

/* Returns whether `name` (size bytes) ends in _word. */
static bool ends_in(const char *name, size_t size, const char *word)
{
    size_t length = strlen(word);
    return size > length && name[size - length - 1] == '_' &&
           memcmp(name + size - length, word, length) == 0;
}

enum family_type family_type(const char *name)
{
    return ends_in(name, strlen(name), "total") ? FAMILY_COUNTER : FAMILY_GAUGE;
}

const char *family_unit(const char *name)
{
    size_t size = strlen(name);
    if (ends_in(name, size, "total"))
        size -= sizeof "_total" - 1;
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (ends_in(name, size, UNITS[i]))
            return UNITS[i];
    }
    return "";
}

/* ---- what must be sampled ---- */

bool family_is_exported(const struct metric_family *family, enum exposition_level level)
{
    return family_level(family) <= level;
}

static int add_metric(vitals_request *request, vitals_metric metric, enum exposition_level level,
                      vitals_error *error)
{
    vitals_table entity = vitals_metric_table(metric);
    bool of_processes = entity == VITALS_TABLE_WORKLOAD || entity == VITALS_TABLE_GPU_PROCESS ||
                        entity == VITALS_TABLE_PROCESS;
    if (of_processes && level < EXPOSITION_WORKLOAD)
        return 0;
    return vitals_request_add(request, metric, error);
}

int metric_selection_add(vitals_request *request, enum exposition_level level, bool nvitop,
                         vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; families_identities[i] != 0 && code == 0; i++)
        code = add_metric(request, families_identities[i], level, error);
    for (size_t i = 0; i < families_count && code == 0; i++) {
        const struct metric_family *family = &families[i];
        if (!family_is_exported(family, level))
            continue;
        for (size_t p = 0; p < FAMILY_PARTS && family->parts[p].metric != 0 && code == 0; p++)
            code = add_metric(request, family->parts[p].metric, level, error);
    }

    for (size_t i = 0; nvitop && nvitop_identities[i] != 0 && code == 0; i++)
        code = add_metric(request, nvitop_identities[i], level, error);
    for (size_t i = 0; nvitop && i < nvitop_families_count; i++) {
        const struct nvitop_family *family = &nvitop_families[i];
        for (size_t p = 0; p < NVITOP_READS && family->reads[p] != 0 && code == 0; p++)
            code = add_metric(request, family->reads[p], level, error);
    }
    return code;
}

/* ---- the families of nvitop-exporter ---- */

#define MIB     (1.0 / 1048576)
#define PERCENT 100.0
#define MHZ     1e-6

// clang-format off
#define ROW(rows, name, help, scale, metric) \
    {name, help, NULL, scale, {VITALS_##metric}, NVITOP_##rows, NVITOP_PLAIN}
#define BELOW(name, help, scale, label, metric) \
    {name, help, label, scale, {VITALS_##metric}, NVITOP_DEVICES, NVITOP_PLAIN}
#define OF(rows, how, name, help, scale, ...) \
    {name, help, NULL, scale, {__VA_ARGS__}, NVITOP_##rows, NVITOP_##how}

// One family, one line.
const struct nvitop_family nvitop_families[] = {
    ROW(HOST, "host_uptime_Second", "Time since boot.", 1, HOST_UPTIME_SECONDS),
    OF(HOST, PART, "host_cpu_percent_Percentage", "Busy share of all CPUs.", PERCENT, VITALS_HOST_CPU_BUSY_SECONDS, VITALS_HOST_CPU_TOTAL_SECONDS),
    ROW(HOST, "host_virtual_memory_total_MiB", "Memory.", MIB, HOST_MEMORY_TOTAL_BYTES),
    ROW(HOST, "host_virtual_memory_used_MiB", "Memory in use.", MIB, HOST_MEMORY_USED_BYTES),
    ROW(HOST, "host_virtual_memory_free_MiB", "Memory that holds nothing.", MIB, HOST_MEMORY_FREE_BYTES),
    OF(HOST, REST, "host_virtual_memory_percent_Percentage", "Share of memory that is not available.", PERCENT, VITALS_HOST_MEMORY_AVAILABLE_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES),
    ROW(HOST, "host_swap_memory_total_MiB", "Swap space.", MIB, HOST_SWAP_TOTAL_BYTES),
    ROW(HOST, "host_swap_memory_used_MiB", "Swap space in use.", MIB, HOST_SWAP_USED_BYTES),
    ROW(HOST, "host_swap_memory_free_MiB", "Swap space that is free.", MIB, HOST_SWAP_FREE_BYTES),
    OF(HOST, SHARE, "host_swap_memory_percent_Percentage", "Share of swap space in use.", PERCENT, VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES),
    ROW(HOST, "host_load_average_1m_Percentage", "Load average over one minute.", 1, HOST_LOAD_1M),
    ROW(HOST, "host_load_average_5m_Percentage", "Load average over five minutes.", 1, HOST_LOAD_5M),
    ROW(HOST, "host_load_average_15m_Percentage", "Load average over fifteen minutes.", 1, HOST_LOAD_15M),

    ROW(NETWORKS, "host_net_io_tx_data_MiB", "Data sent.", MIB, NETWORK_TRANSMITTED_BYTES),
    ROW(NETWORKS, "host_net_io_rx_data_MiB", "Data received.", MIB, NETWORK_RECEIVED_BYTES),
    ROW(NETWORKS, "host_net_io_tx_packets_Packet", "Packets sent.", 1, NETWORK_TRANSMITTED_PACKETS),
    ROW(NETWORKS, "host_net_io_rx_packets_Packet", "Packets received.", 1, NETWORK_RECEIVED_PACKETS),
    ROW(DISKS, "host_disk_io_read_data_MiB", "Data read.", MIB, DISK_READ_BYTES),
    ROW(DISKS, "host_disk_io_write_data_MiB", "Data written.", MIB, DISK_WRITTEN_BYTES),
    ROW(FILESYSTEMS, "host_disk_usage_total_MiB", "Size of the file system.", MIB, FILESYSTEM_TOTAL_BYTES),
    ROW(FILESYSTEMS, "host_disk_usage_used_MiB", "What is used of it.", MIB, FILESYSTEM_USED_BYTES),
    ROW(FILESYSTEMS, "host_disk_usage_free_MiB", "What anybody may still use of it.", MIB, FILESYSTEM_AVAILABLE_BYTES),
    OF(FILESYSTEMS, SHARE, "host_disk_usage_percent_Percentage", "Used share of what anybody may use.", PERCENT, VITALS_FILESYSTEM_USED_BYTES, VITALS_FILESYSTEM_USED_BYTES, VITALS_FILESYSTEM_AVAILABLE_BYTES),

    ROW(DEVICES, "gpu_utilization_Percentage", "Busy share of the device.", PERCENT, GPU_UTILIZATION_RATIO),
    ROW(DEVICES, "gpu_memory_utilization_Percentage", "Busy share of its memory controller.", PERCENT, GPU_MEMORY_BUSY_RATIO),
    BELOW("gpu_encoder_utilization_Percentage", "Busy share of the encoder.", PERCENT, "encoder", GPU_ENGINE_UTILIZATION_RATIO),
    BELOW("gpu_decoder_utilization_Percentage", "Busy share of the decoder.", PERCENT, "decoder", GPU_ENGINE_UTILIZATION_RATIO),
    ROW(DEVICES, "gpu_memory_total_MiB", "Device memory.", MIB, GPU_MEMORY_TOTAL_BYTES),
    ROW(DEVICES, "gpu_memory_used_MiB", "Device memory in use.", MIB, GPU_MEMORY_USED_BYTES),
    ROW(DEVICES, "gpu_memory_free_MiB", "Device memory that is free.", MIB, GPU_MEMORY_FREE_BYTES),
    OF(DEVICES, SHARE, "gpu_memory_percent_Percentage", "Share of device memory in use.", PERCENT, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES),
    BELOW("gpu_clock_sm_MHz", "Clock of the multiprocessors.", MHZ, "sm", GPU_CLOCK_FREQUENCY_HERTZ),
    BELOW("gpu_clock_memory_MHz", "Clock of the memory.", MHZ, "memory", GPU_CLOCK_FREQUENCY_HERTZ),
    BELOW("gpu_clock_graphics_MHz", "Clock of the graphics.", MHZ, "graphics", GPU_CLOCK_FREQUENCY_HERTZ),
    BELOW("gpu_clock_video_MHz", "Clock of the video engines.", MHZ, "video", GPU_CLOCK_FREQUENCY_HERTZ),
    ROW(DEVICES, "gpu_power_usage_W", "Power draw.", 1, GPU_POWER_WATTS),
    ROW(DEVICES, "gpu_power_limit_W", "Power limit.", 1, GPU_POWER_LIMIT_WATTS),
    ROW(DEVICES, "gpu_temperature_C", "Temperature of the core.", 1, GPU_TEMPERATURE_CELSIUS),
    ROW(DEVICES, "gpu_fan_speed_Percentage", "Fan speed of its maximum.", PERCENT, GPU_FAN_RATIO),
    ROW(DEVICES, "gpu_pcie_tx_throughput_MiBps", "Sent over PCIe.", MIB, GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND),
    ROW(DEVICES, "gpu_pcie_rx_throughput_MiBps", "Received over PCIe.", MIB, GPU_PCIE_RECEIVED_BYTES_PER_SECOND),
    OF(DEVICES, LINK_SUM, "gpu_nvlink_total_tx_throughput_MiBps", "Sent over all links.", MIB, VITALS_GPU_LINK_TRANSMITTED_BYTES),
    OF(DEVICES, LINK_SUM, "gpu_nvlink_total_rx_throughput_MiBps", "Received over all links.", MIB, VITALS_GPU_LINK_RECEIVED_BYTES),
    OF(DEVICES, LINK_MEAN, "gpu_nvlink_mean_tx_throughput_MiBps", "Sent over a link, on average.", MIB, VITALS_GPU_LINK_TRANSMITTED_BYTES),
    OF(DEVICES, LINK_MEAN, "gpu_nvlink_mean_rx_throughput_MiBps", "Received over a link, on average.", MIB, VITALS_GPU_LINK_RECEIVED_BYTES),
    OF(LINKS, RATE, "gpu_nvlink_tx_throughput_MiBps", "Sent over the link.", MIB, VITALS_GPU_LINK_TRANSMITTED_BYTES),
    OF(LINKS, RATE, "gpu_nvlink_rx_throughput_MiBps", "Received over the link.", MIB, VITALS_GPU_LINK_RECEIVED_BYTES),

    OF(PROCESSES, SINCE, "process_running_time_Second", "How long it has lived.", 1, VITALS_PROCESS_START_SECONDS, VITALS_HOST_UPTIME_SECONDS),
    OF(PROCESSES, RATE, "process_cpu_percent_Percentage", "CPU time used; 100 is one core.", PERCENT, VITALS_PROCESS_CPU_SECONDS),
    ROW(PROCESSES, "process_rss_memory_MiB", "Its resident memory.", MIB, PROCESS_RESIDENT_BYTES),
    OF(PROCESSES, SHARE, "process_memory_percent_Percentage", "The same, of the machine's.", PERCENT, VITALS_PROCESS_RESIDENT_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES),
    ROW(PROCESSES, "process_gpu_memory_MiB", "Its device memory.", MIB, GPU_PROCESS_MEMORY_USED_BYTES),
    ROW(PROCESSES, "process_gpu_sm_utilization_Percentage", "Its share of the device.", PERCENT, GPU_PROCESS_UTILIZATION_RATIO),
    ROW(PROCESSES, "process_gpu_memory_utilization_Percentage", "Its share of memory bandwidth.", PERCENT, GPU_PROCESS_MEMORY_BUSY_RATIO),
    ROW(PROCESSES, "process_gpu_encoder_utilization_Percentage", "Its share of the encoder.", PERCENT, GPU_PROCESS_ENCODER_RATIO),
    ROW(PROCESSES, "process_gpu_decoder_utilization_Percentage", "Its share of the decoder.", PERCENT, GPU_PROCESS_DECODER_RATIO),
};
const size_t nvitop_families_count = sizeof nvitop_families / sizeof nvitop_families[0];

const vitals_metric nvitop_identities[] = {
    VITALS_GPU_INDEX, VITALS_GPU_NAME, VITALS_GPU_UUID, VITALS_GPU_VENDOR,
    VITALS_GPU_DRIVER_VERSION, VITALS_GPU_CUDA_VERSION, VITALS_GPU_PROCESS_PID,
    VITALS_GPU_PROCESS_PROCESS, VITALS_GPU_LINK_ACTIVE, VITALS_PROCESS_PID, VITALS_PROCESS_UID,
    VITALS_PROCESS_USER, VITALS_PROCESS_NAME, VITALS_PROCESS_STATE, VITALS_PROCESS_COMMAND_LINE, 0,
};
// clang-format on
