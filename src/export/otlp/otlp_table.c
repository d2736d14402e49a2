/* otlp_table.c: see otlp.h. */
#include "export/otlp/otlp.h"

#include <stdio.h>
#include <string.h>

#include "feed/rows.h"

/* ---- computed values ---- */

/* 1 if the state that is the source's value is the worst that the device reports. */
static vitals_availability is_state(const struct otlp_source *source, const vitals_row *gpu,
                                    double *out)
{
    enum { OK, DEGRADED, PREDICTED_FAILURE, FAILED };
    static const char *const NAMES[] = {"ok", "degraded", "predicted_failure", "failed"};
    static const struct {
        vitals_metric metric;
        int state; /* reported if it is not 0 */
    } SIGNS[] = {
        {VITALS_GPU_THROTTLED_BY_TEMPERATURE, DEGRADED},
        {VITALS_GPU_THROTTLED_BY_CURRENT, DEGRADED},
        {VITALS_GPU_THROTTLED_OTHERWISE, DEGRADED},
        {VITALS_GPU_RETIRED_PAGES_PENDING, PREDICTED_FAILURE},
        {VITALS_GPU_REMAPPED_ROWS_PENDING, PREDICTED_FAILURE},
        {VITALS_GPU_REMAPPED_ROWS_FAILED, FAILED},
    };
    int worst = -1;
    for (size_t i = 0; i < sizeof SIGNS / sizeof SIGNS[0]; i++) {
        uint64_t value;
        if (vitals_row_u64(gpu, SIGNS[i].metric, &value) <= 0)
            continue;
        int sign = value > 0 ? SIGNS[i].state : OK;
        worst = sign > worst ? sign : worst;
    }
    if (worst < 0)
        return VITALS_UNSUPPORTED;
    *out = strcmp(NAMES[worst], source->constant) == 0 ? 1 : 0;
    return VITALS_HAVE;
}

/* The age of the process, by the machine's uptime. */
static vitals_availability uptime_of(const struct otlp_source *source UNUSED,
                                     const vitals_row *process, double *out)
{
    double start, now = (double)vitals_snapshot_boottime_ns(vitals_row_snapshot(process)) / 1e9;
    vitals_availability state = vitals_row_f64(process, VITALS_PROCESS_START_SECONDS, &start);
    if (state > 0)
        *out = now > start ? now - start : 0;
    return state;
}

/* ---- rows that stand for parts that are not reported ---- */

static bool no_sensor_says(const vitals_row *gpu, vitals_metric metric)
{
    const vitals_snapshot *snapshot = vitals_row_snapshot(gpu);
    EACH_CHILD(sensor, snapshot, VITALS_TABLE_GPU_SENSOR, vitals_row_key(gpu)) {
        if (vitals_row_availability(sensor, metric) > 0)
            return false;
    }
    return true;
}

static bool has_no_thermometer(const vitals_row *gpu)
{
    return no_sensor_says(gpu, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS);
}

static bool has_no_fan(const vitals_row *gpu)
{
    return no_sensor_says(gpu, VITALS_GPU_SENSOR_FAN_RATIO);
}

static bool is_counted(const vitals_row *row)
{
    vitals_table entity = vitals_row_table(row);
    vitals_metric metric = entity == VITALS_TABLE_DISK      ? VITALS_DISK_COUNTED
                           : entity == VITALS_TABLE_NETWORK ? VITALS_NETWORK_COUNTED
                                                            : VITALS_FILESYSTEM_COUNTED;
    uint64_t counted;
    return vitals_row_u64(row, metric, &counted) > 0 && counted > 0;
}

/* A workload that is a single container. */
static bool is_container(const vitals_row *workload)
{
    vitals_text kind;
    return vitals_row_text(workload, VITALS_WORKLOAD_KIND, &kind) > 0 && kind.size == 3 &&
           (memcmp(kind.bytes, "k8s", 3) == 0 || memcmp(kind.bytes, "ctr", 3) == 0);
}

/* ---- the table ---- */

#define GAUGE(name_, unit_, ...)                                                        \
    {                                                                                   \
        .as = {.name = name_, .unit = unit_, .kind = OTLP_GAUGE}, .metric = __VA_ARGS__ \
    }
#define UP_DOWN(name_, unit_, ...)                                                        \
    {                                                                                     \
        .as = {.name = name_, .unit = unit_, .kind = OTLP_UP_DOWN}, .metric = __VA_ARGS__ \
    }
#define COUNTER(name_, unit_, ...)                                                        \
    {                                                                                     \
        .as = {.name = name_, .unit = unit_, .kind = OTLP_COUNTER}, .metric = __VA_ARGS__ \
    }

#define WITH(name, said) .key = name, .constant = said
#define DISK             .subject = OTLP_DISK, .holds = is_counted
#define INTERFACE        .subject = OTLP_INTERFACE, .holds = is_counted
#define NETWORK_DEVICE   .subject = OTLP_NETWORK_DEVICE, .holds = is_counted
#define FILESYSTEM       .subject = OTLP_FILESYSTEM, .holds = is_counted
#define PRESSURE         .subject = OTLP_PRESSURE
#define GPU              .subject = OTLP_GPU
#define OUR_GPU          .subject = OTLP_OUR_GPU
#define HARDWARE         .subject = OTLP_HARDWARE
#define SENSOR           .subject = OTLP_GPU_SENSOR
#define PART(key)        .subject = OTLP_GPU_PART, .part = key
#define PROCESS          .subject = OTLP_PROCESS, .origin = OTLP_SINCE_START_OF_PROCESS
#define ON_GPU           .subject = OTLP_GPU_PROCESS, .origin = OTLP_SINCE_WE_LOOK
#define WORKLOAD         .subject = OTLP_WORKLOAD

#define CPU_MODE   "cpu.mode"
#define DISK_WAY   "disk.io.direction"
#define NET_WAY    "network.io.direction"
#define STATE      "system.memory.state"
#define SLAB_STATE "system.memory.linux.slab.state"
#define PAGING     "system.paging.state"
#define FS_STATE   "system.filesystem.state"
#define TASK       "hw.gpu.task"
#define HW_STATE   "hw.state"
#define LIMIT      "hw.limit_type"
#define ERROR      "error.type"
#define ENGINE     "vitals.gpu.engine"
#define REASON     "vitals.gpu.throttle.reason"
#define SEVERITY   "vitals.gpu.ecc.severity"

// One metric, one line.
// clang-format off
const struct otlp_source otlp_sources[] = {

    /* The machine. */
    COUNTER("system.cpu.time", "s", VITALS_HOST_CPU_USER_SECONDS, WITH(CPU_MODE, "user")),
    COUNTER("system.cpu.time", "s", VITALS_HOST_CPU_NICE_SECONDS, WITH(CPU_MODE, "nice")),
    COUNTER("system.cpu.time", "s", VITALS_HOST_CPU_SYSTEM_SECONDS, WITH(CPU_MODE, "system")),
    COUNTER("system.cpu.time", "s", VITALS_HOST_CPU_IDLE_SECONDS, WITH(CPU_MODE, "idle")),
    COUNTER("system.cpu.time", "s", VITALS_HOST_CPU_IOWAIT_SECONDS, WITH(CPU_MODE, "iowait")),
    COUNTER("system.cpu.time", "s", VITALS_HOST_CPU_IRQ_SECONDS, .plus = VITALS_HOST_CPU_SOFTIRQ_SECONDS, WITH(CPU_MODE, "interrupt")),
    COUNTER("system.cpu.time", "s", VITALS_HOST_CPU_STEAL_SECONDS, WITH(CPU_MODE, "steal")),
    GAUGE("system.cpu.frequency", "Hz", VITALS_CPU_FREQUENCY_HERTZ, .subject = OTLP_CPU),
    UP_DOWN("system.cpu.logical.count", "{cpu}", VITALS_HOST_CPUS),
    UP_DOWN("system.cpu.physical.count", "{cpu}", VITALS_HOST_CPUS_PHYSICAL),
    GAUGE("system.uptime", "s", VITALS_HOST_UPTIME_SECONDS),
    UP_DOWN("system.memory.usage", "By", VITALS_HOST_MEMORY_TOTAL_BYTES, .minus = {VITALS_HOST_MEMORY_FREE_BYTES, VITALS_HOST_MEMORY_BUFFERS_BYTES, VITALS_HOST_MEMORY_CACHED_BYTES}, WITH(STATE, "used")),
    UP_DOWN("system.memory.usage", "By", VITALS_HOST_MEMORY_FREE_BYTES, WITH(STATE, "free")),
    UP_DOWN("system.memory.usage", "By", VITALS_HOST_MEMORY_BUFFERS_BYTES, WITH(STATE, "buffers")),
    UP_DOWN("system.memory.usage", "By", VITALS_HOST_MEMORY_CACHED_BYTES, WITH(STATE, "cached")),
    UP_DOWN("system.memory.limit", "By", VITALS_HOST_MEMORY_TOTAL_BYTES),
    UP_DOWN("system.memory.linux.available", "By", VITALS_HOST_MEMORY_AVAILABLE_BYTES),
    UP_DOWN("system.memory.linux.shared", "By", VITALS_HOST_MEMORY_SHARED_BYTES),
    UP_DOWN("system.memory.linux.slab.usage", "By", VITALS_HOST_MEMORY_SLAB_RECLAIMABLE_BYTES, WITH(SLAB_STATE, "reclaimable")),
    UP_DOWN("system.memory.linux.slab.usage", "By", VITALS_HOST_MEMORY_SLAB_BYTES, .minus = {VITALS_HOST_MEMORY_SLAB_RECLAIMABLE_BYTES}, WITH(SLAB_STATE, "unreclaimable")),
    UP_DOWN("system.paging.usage", "By", VITALS_HOST_SWAP_USED_BYTES, WITH(PAGING, "used")),
    UP_DOWN("system.paging.usage", "By", VITALS_HOST_SWAP_FREE_BYTES, WITH(PAGING, "free")),
    UP_DOWN("system.process.count", "{process}", VITALS_HOST_PROCESSES),
    COUNTER("system.process.created", "{process}", VITALS_HOST_FORKS),
    COUNTER("system.disk.io", "By", VITALS_DISK_READ_BYTES, DISK, WITH(DISK_WAY, "read")),
    COUNTER("system.disk.io", "By", VITALS_DISK_WRITTEN_BYTES, DISK, WITH(DISK_WAY, "write")),
    COUNTER("system.disk.operations", "{operation}", VITALS_DISK_READS, DISK, WITH(DISK_WAY, "read")),
    COUNTER("system.disk.operations", "{operation}", VITALS_DISK_WRITES, DISK, WITH(DISK_WAY, "write")),
    COUNTER("system.disk.operation_time", "s", VITALS_DISK_READ_SECONDS, DISK, WITH(DISK_WAY, "read")),
    COUNTER("system.disk.operation_time", "s", VITALS_DISK_WRITE_SECONDS, DISK, WITH(DISK_WAY, "write")),
    COUNTER("system.disk.merged", "{operation}", VITALS_DISK_READS_MERGED, DISK, WITH(DISK_WAY, "read")),
    COUNTER("system.disk.merged", "{operation}", VITALS_DISK_WRITES_MERGED, DISK, WITH(DISK_WAY, "write")),
    COUNTER("system.disk.io_time", "s", VITALS_DISK_BUSY_SECONDS, DISK),
    UP_DOWN("system.disk.limit", "By", VITALS_DISK_SIZE_BYTES, DISK),
    UP_DOWN("system.filesystem.usage", "By", VITALS_FILESYSTEM_USED_BYTES, FILESYSTEM, WITH(FS_STATE, "used")),
    UP_DOWN("system.filesystem.usage", "By", VITALS_FILESYSTEM_AVAILABLE_BYTES, FILESYSTEM, WITH(FS_STATE, "free")),
    UP_DOWN("system.filesystem.usage", "By", VITALS_FILESYSTEM_FREE_BYTES, FILESYSTEM, .minus = {VITALS_FILESYSTEM_AVAILABLE_BYTES}, WITH(FS_STATE, "reserved")),
    UP_DOWN("system.filesystem.limit", "By", VITALS_FILESYSTEM_TOTAL_BYTES, FILESYSTEM),
    COUNTER("system.network.io", "By", VITALS_NETWORK_RECEIVED_BYTES, INTERFACE, WITH(NET_WAY, "receive")),
    COUNTER("system.network.io", "By", VITALS_NETWORK_TRANSMITTED_BYTES, INTERFACE, WITH(NET_WAY, "transmit")),
    COUNTER("system.network.errors", "{error}", VITALS_NETWORK_RECEIVE_ERRORS, INTERFACE, WITH(NET_WAY, "receive")),
    COUNTER("system.network.errors", "{error}", VITALS_NETWORK_TRANSMIT_ERRORS, INTERFACE, WITH(NET_WAY, "transmit")),
    COUNTER("system.network.packet.dropped", "{packet}", VITALS_NETWORK_RECEIVE_DROPS, INTERFACE, WITH(NET_WAY, "receive")),
    COUNTER("system.network.packet.dropped", "{packet}", VITALS_NETWORK_TRANSMIT_DROPS, INTERFACE, WITH(NET_WAY, "transmit")),
    COUNTER("system.network.packet.count", "{packet}", VITALS_NETWORK_RECEIVED_PACKETS, NETWORK_DEVICE, WITH(NET_WAY, "receive")),
    COUNTER("system.network.packet.count", "{packet}", VITALS_NETWORK_TRANSMITTED_PACKETS, NETWORK_DEVICE, WITH(NET_WAY, "transmit")),
    GAUGE("vitals.host.load_1m", "{task}", VITALS_HOST_LOAD_1M),
    GAUGE("vitals.host.load_5m", "{task}", VITALS_HOST_LOAD_5M),
    GAUGE("vitals.host.load_15m", "{task}", VITALS_HOST_LOAD_15M),
    COUNTER("vitals.host.package_energy", "J", VITALS_HOST_PACKAGE_ENERGY_JOULES),
    COUNTER("vitals.host.dram_energy", "J", VITALS_HOST_DRAM_ENERGY_JOULES),
    COUNTER("vitals.host.oom_kills", "{process}", VITALS_HOST_OOM_KILLS),
    COUNTER("vitals.host.pressure_some", "s", VITALS_PRESSURE_SOME_SECONDS, PRESSURE),
    COUNTER("vitals.host.pressure_full", "s", VITALS_PRESSURE_FULL_SECONDS, PRESSURE),

    /* Devices, by the hardware conventions. */
    GAUGE("hw.gpu.utilization", "1", VITALS_GPU_UTILIZATION_RATIO, GPU, WITH(TASK, "general")),
    GAUGE("hw.gpu.utilization", "1", VITALS_GPU_ENGINE_UTILIZATION_RATIO, GPU, .only = "encoder", WITH(TASK, "encoder")),
    GAUGE("hw.gpu.utilization", "1", VITALS_GPU_ENGINE_UTILIZATION_RATIO, GPU, .only = "decoder", WITH(TASK, "decoder")),
    UP_DOWN("hw.gpu.memory.usage", "By", VITALS_GPU_MEMORY_USED_BYTES, GPU),
    UP_DOWN("hw.gpu.memory.limit", "By", VITALS_GPU_MEMORY_TOTAL_BYTES, GPU),
    COUNTER("hw.energy", "J", VITALS_GPU_ENERGY_JOULES, HARDWARE),
    GAUGE("hw.power", "W", VITALS_GPU_POWER_WATTS, HARDWARE),
    COUNTER("hw.errors", "{error}", VITALS_GPU_ECC_ERRORS_CORRECTED, HARDWARE, WITH(ERROR, "corrected")),
    COUNTER("hw.errors", "{error}", VITALS_GPU_ECC_ERRORS_UNCORRECTED, HARDWARE, WITH(ERROR, "uncorrected")),
    UP_DOWN("hw.status", "1", VITALS_GPU_INDEX, HARDWARE, .value = is_state, WITH(HW_STATE, "ok")),
    UP_DOWN("hw.status", "1", VITALS_GPU_INDEX, HARDWARE, .value = is_state, WITH(HW_STATE, "degraded")),
    UP_DOWN("hw.status", "1", VITALS_GPU_INDEX, HARDWARE, .value = is_state, WITH(HW_STATE, "predicted_failure")),
    UP_DOWN("hw.status", "1", VITALS_GPU_INDEX, HARDWARE, .value = is_state, WITH(HW_STATE, "failed")),
    GAUGE("hw.temperature", "Cel", VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, SENSOR),
    GAUGE("hw.temperature", "Cel", VITALS_GPU_TEMPERATURE_CELSIUS, SENSOR, .holds = has_no_thermometer),
    GAUGE("hw.temperature.limit", "Cel", VITALS_GPU_SENSOR_HIGH_CELSIUS, SENSOR, WITH(LIMIT, "throttled")),
    GAUGE("hw.temperature.limit", "Cel", VITALS_GPU_SENSOR_CRITICAL_CELSIUS, SENSOR, WITH(LIMIT, "critical")),
    GAUGE("hw.fan.speed", "rpm", VITALS_GPU_SENSOR_FAN_RPM, SENSOR),
    GAUGE("hw.fan.speed_ratio", "1", VITALS_GPU_SENSOR_FAN_RATIO, SENSOR),
    GAUGE("hw.fan.speed_ratio", "1", VITALS_GPU_FAN_RATIO, SENSOR, .holds = has_no_fan),

    /* Devices, without a name in the conventions. */
    COUNTER("vitals.gpu.busy", "s", VITALS_GPU_BUSY_SECONDS, OUR_GPU, .origin = OTLP_SINCE_WE_LOOK),
    GAUGE("vitals.gpu.memory_busy", "1", VITALS_GPU_MEMORY_BUSY_RATIO, OUR_GPU),
    UP_DOWN("vitals.gpu.memory_reserved", "By", VITALS_GPU_MEMORY_RESERVED_BYTES, OUR_GPU),
    GAUGE("vitals.gpu.power_limit", "W", VITALS_GPU_POWER_LIMIT_WATTS, OUR_GPU),
    GAUGE("vitals.gpu.performance_state", "{state}", VITALS_GPU_PERFORMANCE_STATE, OUR_GPU),
    GAUGE("vitals.gpu.processes", "{process}", VITALS_GPU_PROCESSES, OUR_GPU),
    GAUGE("vitals.gpu.sm_active", "1", VITALS_GPU_SM_ACTIVE_RATIO, OUR_GPU),
    GAUGE("vitals.gpu.sm_occupancy", "1", VITALS_GPU_SM_OCCUPANCY_RATIO, OUR_GPU),
    GAUGE("vitals.gpu.tensor_active", "1", VITALS_GPU_TENSOR_ACTIVE_RATIO, OUR_GPU),
    GAUGE("vitals.gpu.memory_bandwidth", "1", VITALS_GPU_MEMORY_BANDWIDTH_RATIO, OUR_GPU),
    GAUGE("vitals.gpu.throttle_active", "{state}", VITALS_GPU_THROTTLED_BY_POWER, OUR_GPU, WITH(REASON, "power")),
    GAUGE("vitals.gpu.throttle_active", "{state}", VITALS_GPU_THROTTLED_BY_TEMPERATURE, OUR_GPU, WITH(REASON, "temperature")),
    GAUGE("vitals.gpu.throttle_active", "{state}", VITALS_GPU_THROTTLED_BY_CURRENT, OUR_GPU, WITH(REASON, "current")),
    GAUGE("vitals.gpu.throttle_active", "{state}", VITALS_GPU_THROTTLED_OTHERWISE, OUR_GPU, WITH(REASON, "other")),
    COUNTER("vitals.gpu.throttle", "s", VITALS_GPU_THROTTLED_POWER_SECONDS, OUR_GPU, WITH(REASON, "power")),
    COUNTER("vitals.gpu.throttle", "s", VITALS_GPU_THROTTLED_THERMAL_SECONDS, OUR_GPU, WITH(REASON, "temperature")),
    COUNTER("vitals.gpu.ecc_errors_lifetime", "{error}", VITALS_GPU_ECC_ERRORS_CORRECTED_EVER, OUR_GPU, WITH(SEVERITY, "corrected")),
    COUNTER("vitals.gpu.ecc_errors_lifetime", "{error}", VITALS_GPU_ECC_ERRORS_UNCORRECTED_EVER, OUR_GPU, WITH(SEVERITY, "uncorrected")),
    COUNTER("vitals.gpu.row_remaps", "{row}", VITALS_GPU_REMAPPED_ROWS_CORRECTED, OUR_GPU, WITH(SEVERITY, "corrected")),
    COUNTER("vitals.gpu.row_remaps", "{row}", VITALS_GPU_REMAPPED_ROWS_UNCORRECTED, OUR_GPU, WITH(SEVERITY, "uncorrected")),
    GAUGE("vitals.gpu.row_remap_pending", "{state}", VITALS_GPU_REMAPPED_ROWS_PENDING, OUR_GPU),
    GAUGE("vitals.gpu.row_remap_failed", "{state}", VITALS_GPU_REMAPPED_ROWS_FAILED, OUR_GPU),
    GAUGE("vitals.gpu.retired_pages", "{page}", VITALS_GPU_RETIRED_PAGES_CORRECTED, OUR_GPU, WITH(SEVERITY, "corrected")),
    GAUGE("vitals.gpu.retired_pages", "{page}", VITALS_GPU_RETIRED_PAGES_UNCORRECTED, OUR_GPU, WITH(SEVERITY, "uncorrected")),
    COUNTER("vitals.gpu.xid_errors", "{error}", VITALS_GPU_XID_ERRORS, OUR_GPU, .origin = OTLP_SINCE_WE_LOOK),
    GAUGE("vitals.gpu.xid_last", "{code}", VITALS_GPU_XID_LAST, OUR_GPU),
    GAUGE("vitals.gpu.ecc_mode", "{state}", VITALS_GPU_ECC_MODE, OUR_GPU),
    GAUGE("vitals.gpu.mig_mode", "{state}", VITALS_GPU_MIG_MODE, OUR_GPU),
    GAUGE("vitals.gpu.persistence_mode", "{state}", VITALS_GPU_PERSISTENCE_MODE, OUR_GPU),
    GAUGE("vitals.gpu.accounting_mode", "{state}", VITALS_GPU_ACCOUNTING_MODE, OUR_GPU),
    GAUGE("vitals.gpu.pcie_link_generation", "{generation}", VITALS_GPU_PCIE_GENERATION, OUR_GPU),
    GAUGE("vitals.gpu.pcie_link_width", "{lane}", VITALS_GPU_PCIE_WIDTH, OUR_GPU),
    GAUGE("vitals.gpu.pcie_link_max_generation", "{generation}", VITALS_GPU_PCIE_GENERATION_MAX, OUR_GPU),
    GAUGE("vitals.gpu.pcie_link_max_width", "{lane}", VITALS_GPU_PCIE_WIDTH_MAX, OUR_GPU),
    COUNTER("vitals.gpu.pcie_replays", "{replay}", VITALS_GPU_PCIE_REPLAYS, OUR_GPU),
    GAUGE("vitals.gpu.pcie_throughput", "By/s", VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, OUR_GPU, WITH(NET_WAY, "receive")),
    GAUGE("vitals.gpu.pcie_throughput", "By/s", VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, OUR_GPU, WITH(NET_WAY, "transmit")),
    GAUGE("vitals.gpu.engine_utilization", "1", VITALS_GPU_ENGINE_UTILIZATION_RATIO, PART(ENGINE), .other_than = {"encoder", "decoder"}),
    COUNTER("vitals.gpu.engine_busy", "s", VITALS_GPU_ENGINE_BUSY_SECONDS, PART(ENGINE)),
    GAUGE("vitals.gpu.clock", "Hz", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, PART("vitals.gpu.clock")),
    GAUGE("vitals.gpu.clock_max", "Hz", VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, PART("vitals.gpu.clock")),
    GAUGE("vitals.gpu.pool_used", "By", VITALS_GPU_POOL_USED_BYTES, PART("vitals.gpu.pool")),
    GAUGE("vitals.gpu.pool_total", "By", VITALS_GPU_POOL_TOTAL_BYTES, PART("vitals.gpu.pool")),
    COUNTER("vitals.gpu.interconnect", "By", VITALS_GPU_LINK_RECEIVED_BYTES, PART("vitals.gpu.link"), WITH(NET_WAY, "receive")),
    COUNTER("vitals.gpu.interconnect", "By", VITALS_GPU_LINK_TRANSMITTED_BYTES, PART("vitals.gpu.link"), WITH(NET_WAY, "transmit")),
    COUNTER("vitals.gpu.interconnect_errors", "{error}", VITALS_GPU_LINK_REPLAY_ERRORS, PART("vitals.gpu.link"), WITH("error.type", "replay")),
    COUNTER("vitals.gpu.interconnect_errors", "{error}", VITALS_GPU_LINK_RECOVERY_ERRORS, PART("vitals.gpu.link"), WITH("error.type", "recovery")),
    COUNTER("vitals.gpu.interconnect_errors", "{error}", VITALS_GPU_LINK_CRC_ERRORS, PART("vitals.gpu.link"), WITH("error.type", "crc")),
    GAUGE("vitals.gpu.process.memory_used", "By", VITALS_GPU_PROCESS_MEMORY_USED_BYTES, ON_GPU),
    GAUGE("vitals.gpu.process.utilization", "1", VITALS_GPU_PROCESS_UTILIZATION_RATIO, ON_GPU, WITH(ENGINE, "sm")),
    GAUGE("vitals.gpu.process.utilization", "1", VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO, ON_GPU, WITH(ENGINE, "memory")),
    GAUGE("vitals.gpu.process.utilization", "1", VITALS_GPU_PROCESS_ENCODER_RATIO, ON_GPU, WITH(ENGINE, "encoder")),
    GAUGE("vitals.gpu.process.utilization", "1", VITALS_GPU_PROCESS_DECODER_RATIO, ON_GPU, WITH(ENGINE, "decoder")),
    GAUGE("vitals.gpu.process.utilization", "1", VITALS_GPU_PROCESS_VIDEO_RATIO, ON_GPU, WITH(ENGINE, "video")),
    GAUGE("vitals.gpu.process.utilization", "1", VITALS_GPU_PROCESS_VIDEO_ENHANCE_RATIO, ON_GPU, WITH(ENGINE, "video_enhance")),
    COUNTER("vitals.gpu.process.busy", "s", VITALS_GPU_PROCESS_BUSY_SECONDS, ON_GPU),
    COUNTER("vitals.gpu.process.engine_busy", "s", VITALS_GPU_PROCESS_GRAPHICS_SECONDS, ON_GPU, WITH(ENGINE, "graphics")),
    COUNTER("vitals.gpu.process.engine_busy", "s", VITALS_GPU_PROCESS_COMPUTE_SECONDS, ON_GPU, WITH(ENGINE, "compute")),
    COUNTER("vitals.gpu.process.engine_busy", "s", VITALS_GPU_PROCESS_COPY_SECONDS, ON_GPU, WITH(ENGINE, "copy")),
    COUNTER("vitals.gpu.process.engine_busy", "s", VITALS_GPU_PROCESS_ENCODER_SECONDS, ON_GPU, WITH(ENGINE, "encoder")),
    COUNTER("vitals.gpu.process.engine_busy", "s", VITALS_GPU_PROCESS_DECODER_SECONDS, ON_GPU, WITH(ENGINE, "decoder")),
    COUNTER("vitals.gpu.process.engine_busy", "s", VITALS_GPU_PROCESS_VIDEO_SECONDS, ON_GPU, WITH(ENGINE, "video")),
    COUNTER("vitals.gpu.process.engine_busy", "s", VITALS_GPU_PROCESS_VIDEO_ENHANCE_SECONDS, ON_GPU, WITH(ENGINE, "video_enhance")),

    /* Processes. */
    GAUGE("process.uptime", "s", VITALS_PROCESS_START_SECONDS, PROCESS, .value = uptime_of, .as.help = "Time since the process began."),
    COUNTER("process.cpu.time", "s", VITALS_PROCESS_CPU_USER_SECONDS, PROCESS, WITH(CPU_MODE, "user")),
    COUNTER("process.cpu.time", "s", VITALS_PROCESS_CPU_SYSTEM_SECONDS, PROCESS, WITH(CPU_MODE, "system")),
    UP_DOWN("process.memory.usage", "By", VITALS_PROCESS_RESIDENT_BYTES, PROCESS),
    UP_DOWN("process.memory.virtual", "By", VITALS_PROCESS_VIRTUAL_BYTES, PROCESS),
    COUNTER("process.disk.io", "By", VITALS_PROCESS_READ_BYTES, PROCESS, WITH(DISK_WAY, "read")),
    COUNTER("process.disk.io", "By", VITALS_PROCESS_WRITTEN_BYTES, PROCESS, WITH(DISK_WAY, "write")),
    UP_DOWN("process.thread.count", "{thread}", VITALS_PROCESS_THREADS, PROCESS),
    UP_DOWN("process.unix.file_descriptor.count", "{file_descriptor}", VITALS_PROCESS_DESCRIPTORS, PROCESS),
    COUNTER("process.context_switches", "{context_switch}", VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES, PROCESS, WITH("process.context_switch.type", "voluntary")),
    COUNTER("process.context_switches", "{context_switch}", VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES, PROCESS, WITH("process.context_switch.type", "involuntary")),
    COUNTER("process.paging.faults", "{fault}", VITALS_PROCESS_MINOR_FAULTS, PROCESS, WITH("system.paging.fault.type", "minor")),
    COUNTER("process.paging.faults", "{fault}", VITALS_PROCESS_MAJOR_FAULTS, PROCESS, WITH("system.paging.fault.type", "major")),

    /* Workloads. */
    COUNTER("container.cpu.time", "s", VITALS_WORKLOAD_CPU_SECONDS, WORKLOAD, .holds = is_container),
    UP_DOWN("container.memory.usage", "By", VITALS_WORKLOAD_MEMORY_USED_BYTES, WORKLOAD, .holds = is_container),
    GAUGE("vitals.workload.processes", "{process}", VITALS_WORKLOAD_PROCESSES, WORKLOAD),
    GAUGE("vitals.workload.memory_used", "By", VITALS_WORKLOAD_MEMORY_USED_BYTES, WORKLOAD),
    GAUGE("vitals.workload.memory_peak", "By", VITALS_WORKLOAD_MEMORY_PEAK_BYTES, WORKLOAD),
    COUNTER("vitals.workload.cpu", "s", VITALS_WORKLOAD_CPU_SECONDS, WORKLOAD),
    COUNTER("vitals.workload.oom_kills", "{process}", VITALS_WORKLOAD_OOM_KILLS, WORKLOAD),
};
// clang-format on

const size_t otlp_sources_count = sizeof otlp_sources / sizeof otlp_sources[0];

/* ---- our own names ---- */

const char *otlp_unit(const char *unit, const char *name, char *out, size_t capacity)
{
    static const char *const UNITS[][2] = {
        {"bytes", "By"}, {"seconds", "s"}, {"ratio", "1"}, {"celsius", "Cel"}, {"watts", "W"},
        {"joules", "J"}, {"hertz", "Hz"},  {"volts", "V"}, {"rpm", "rpm"},     {"cores", "{cpu}"},
    };
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (strcmp(unit, UNITS[i][0]) == 0)
            return UNITS[i][1];
    }
    /* Counts that the conventions count too have their annotation, in the singular. */
    static const char *const COUNTED[][2] = {
        {"minor_faults", "{fault}"},
        {"major_faults", "{fault}"},
        {"threads", "{thread}"},
        {"processes", "{process}"},
        {"descriptors", "{file_descriptor}"},
        {"voluntary_switches", "{context_switch}"},
        {"involuntary_switches", "{context_switch}"},
    };
    for (size_t i = 0; i < sizeof COUNTED / sizeof COUNTED[0] && unit[0] == '\0'; i++) {
        if (strcmp(name, COUNTED[i][0]) == 0)
            return COUNTED[i][1];
    }
    (void)snprintf(out, capacity, "{%s}", unit[0] != '\0' ? unit : name);
    return out;
}

size_t otlp_stem(const char *name, const char *unit)
{
    size_t size = strlen(name), tail = strlen(unit);
    bool ends = tail > 0 && size > tail + 1 && strcmp(name + size - tail, unit) == 0 &&
                name[size - tail - 1] == '_';
    /* OpenTelemetry has no unit for cores, and a share of CPUs differs from CPU time. */
    bool kept = strcmp(unit, "cores") == 0 || strcmp(unit, "ratio") == 0;
    return ends && !kept ? size - tail - 1 : size;
}
