/* request.c: what the screens show, as metrics. */
#include <string.h>

#include "monitor/screens/screen.h"
#include "report/report.h"
#include "util/base.h"

/* Metrics of the machine and its devices. */
// clang-format off
#define HOST(suffix) VITALS_HOST_##suffix
#define GPU(suffix)  VITALS_GPU_##suffix
#define USER(suffix) VITALS_GPU_PROCESS_##suffix
static const vitals_metric MACHINE[] = {
    HOST(UPTIME_SECONDS), HOST(LOAD_1M), HOST(LOAD_5M), HOST(LOAD_15M), HOST(TASKS),
    HOST(TASKS_RUNNING), HOST(CPU_BUSY_SECONDS), HOST(CPU_TOTAL_SECONDS), HOST(CPU_USER_SECONDS),
    HOST(CPU_NICE_SECONDS), HOST(CPU_SYSTEM_SECONDS), HOST(CPU_IRQ_SECONDS),
    HOST(CPU_SOFTIRQ_SECONDS), HOST(CPU_IOWAIT_SECONDS), HOST(MEMORY_TOTAL_BYTES),
    HOST(MEMORY_USED_BYTES), HOST(MEMORY_CACHED_BYTES), HOST(MEMORY_AVAILABLE_BYTES),
    HOST(SWAP_TOTAL_BYTES), HOST(SWAP_USED_BYTES), HOST(DISK_READ_BYTES),
    HOST(DISK_WRITTEN_BYTES), HOST(NETWORK_RECEIVED_BYTES), HOST(NETWORK_TRANSMITTED_BYTES),
    HOST(CGROUP_MEMORY_LIMIT_BYTES), HOST(CGROUP_MEMORY_USED_BYTES), HOST(CGROUP_CPU_LIMIT_CORES),
    HOST(CPU_FREQUENCY_HERTZ), VITALS_CPU_BUSY_SECONDS, VITALS_CPU_TOTAL_SECONDS,
    VITALS_SENSOR_CHIP, VITALS_SENSOR_TEMPERATURE_CELSIUS, VITALS_SENSOR_CHARGE_RATIO,
    VITALS_SENSOR_REMAINING_SECONDS, VITALS_SENSOR_STATE,
    VITALS_PRESSURE_RESOURCE, VITALS_PRESSURE_SCOPE, VITALS_PRESSURE_SOME_10S_RATIO,
    VITALS_NETWORK_NAME, VITALS_NETWORK_COUNTED, VITALS_NETWORK_RECEIVED_BYTES,
    VITALS_NETWORK_TRANSMITTED_BYTES,
    GPU(VENDOR), GPU(UUID), GPU(NAME), GPU(PCI_BUS_ID), GPU(DRIVER_VERSION), GPU(CUDA_VERSION),
    GPU(GPU_INSTANCE_ID), GPU(COMPUTE_INSTANCE_ID), GPU(MEMORY_TOTAL_BYTES), GPU(MEMORY_USED_BYTES),
    GPU(UTILIZATION_RATIO), GPU(MEMORY_BUSY_RATIO), GPU(POWER_WATTS), GPU(POWER_LIMIT_WATTS),
    GPU(TEMPERATURE_CELSIUS), GPU(FAN_RATIO), GPU(PERFORMANCE_STATE), GPU(COMPUTE_MODE),
    GPU(PERSISTENCE_MODE), GPU(DISPLAY_ACTIVE), GPU(MIG_MODE), GPU(ECC_ERRORS_UNCORRECTED),
    GPU(THROTTLED_BY_POWER), GPU(THROTTLED_BY_TEMPERATURE), GPU(THROTTLED_BY_CURRENT),
    GPU(THROTTLED_OTHERWISE), GPU(THROTTLE_REASONS), GPU(XID_ERRORS), GPU(XID_LAST),
    GPU(CLOCK_FREQUENCY_HERTZ), GPU(POOL_TOTAL_BYTES), GPU(POOL_USED_BYTES),
    USER(PID), USER(PROCESS), USER(TYPE), USER(MEMORY_USED_BYTES), USER(UTILIZATION_RATIO),
    USER(MEMORY_BUSY_RATIO), USER(ENCODER_RATIO), USER(DECODER_RATIO),
    VITALS_SOURCE_STATE, VITALS_SOURCE_MESSAGE,
};

/* Of devices, but not on the screen of nvitop: a driver takes 20 ms to measure traffic over PCIe. */
static const vitals_metric WORK[] = {
    GPU(ENGINE_UTILIZATION_RATIO), GPU(PCIE_RECEIVED_BYTES_PER_SECOND),
    GPU(PCIE_TRANSMITTED_BYTES_PER_SECOND),
};
// clang-format on

static const vitals_metric PROCESSES[] = {
    VITALS_PROCESS_PID,          VITALS_PROCESS_PARENT_PID,     VITALS_PROCESS_START_SECONDS,
    VITALS_PROCESS_NAME,         VITALS_PROCESS_STATE,          VITALS_PROCESS_THREADS,
    VITALS_PROCESS_CPU_SECONDS,  VITALS_PROCESS_RESIDENT_BYTES, VITALS_PROCESS_USER,
    VITALS_PROCESS_COMMAND_LINE,
};

/* Of the users of devices: what the list shows of these where it has room. */
static const vitals_metric USERS[] = {
    VITALS_PROCESS_READ_BYTES,     VITALS_PROCESS_WRITTEN_BYTES, VITALS_PROCESS_SLURM_JOB,
    VITALS_PROCESS_SLURM_STEP,     VITALS_PROCESS_POD,           VITALS_PROCESS_POD_NAME,
    VITALS_PROCESS_CONTAINER_NAME, VITALS_PROCESS_CONTAINER,
};

/* The metrics of each part. */
static const struct {
    bool machine, processes, details;
    unsigned rows; /* 0: no process has one */
} PARTS[] = {
    [MONITOR_MACHINE] = {true, true, false, VITALS_ROWS_GPU_USERS},
    [MONITOR_ALL] = {false, true, false, VITALS_ROWS_ALL},
    [MONITOR_BOTH] = {true, true, false, VITALS_ROWS_ALL},
    [MONITOR_DETAILS] = {false, false, true, 0},
    [MONITOR_EVERYTHING] = {true, true, true, VITALS_ROWS_ALL},
};

static int add(vitals_request *request, const vitals_metric *metrics, size_t count,
               vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = vitals_request_add(request, metrics[i], error);
    return code;
}

/* Metrics that are read less often. A process that has not run since is not read again unless
 * states are requested at each tick; names are read again when the name of the program changes. */
// clang-format off
#define PROCESS(suffix) VITALS_PROCESS_##suffix
static const struct {
    enum monitor_part part;
    unsigned seconds;
    vitals_metric metrics[16]; /* ends with 0 */
} SELDOM[] = {
    {MONITOR_MACHINE, 2,
     {HOST(DISK_READ_BYTES), HOST(DISK_WRITTEN_BYTES), HOST(NETWORK_RECEIVED_BYTES),
      HOST(NETWORK_TRANSMITTED_BYTES), VITALS_NETWORK_NAME, VITALS_NETWORK_COUNTED,
      VITALS_NETWORK_RECEIVED_BYTES, VITALS_NETWORK_TRANSMITTED_BYTES,
      GPU(ENGINE_UTILIZATION_RATIO), GPU(PCIE_RECEIVED_BYTES_PER_SECOND),
      GPU(PCIE_TRANSMITTED_BYTES_PER_SECOND), PROCESS(READ_BYTES), PROCESS(WRITTEN_BYTES)}},
    {MONITOR_MACHINE, 5,
     {HOST(CGROUP_MEMORY_USED_BYTES), HOST(TASKS), HOST(TASKS_RUNNING), VITALS_PRESSURE_RESOURCE,
      VITALS_PRESSURE_SCOPE, VITALS_PRESSURE_SOME_10S_RATIO}},
    {MONITOR_MACHINE, 10,
     {HOST(CPU_FREQUENCY_HERTZ), VITALS_SENSOR_CHIP, VITALS_SENSOR_TEMPERATURE_CELSIUS}},
    {MONITOR_MACHINE, 30,
     {HOST(CGROUP_MEMORY_LIMIT_BYTES), HOST(CGROUP_CPU_LIMIT_CORES), VITALS_SENSOR_CHARGE_RATIO,
      VITALS_SENSOR_REMAINING_SECONDS, VITALS_SENSOR_STATE, PROCESS(SLURM_JOB),
      PROCESS(SLURM_STEP), PROCESS(POD), PROCESS(POD_NAME), PROCESS(CONTAINER),
      PROCESS(CONTAINER_NAME), PROCESS(STATE), PROCESS(USER), PROCESS(COMMAND_LINE)}},
    /* Only the first tick waits for these: a picture has what it read. */
    {MONITOR_BOTH, 3600,
     {GPU(PCIE_RECEIVED_BYTES_PER_SECOND), GPU(PCIE_TRANSMITTED_BYTES_PER_SECOND)}},
    /* Those of the cgroup are for a report alone. */
    {MONITOR_ALL, 30,
     {HOST(CGROUP_MEMORY_LIMIT_BYTES), HOST(CGROUP_CPU_LIMIT_CORES),
      HOST(CGROUP_MEMORY_USED_BYTES), PROCESS(STATE), PROCESS(USER), PROCESS(COMMAND_LINE)}},
};
// clang-format on

/* Machine and devices each second or at the interval, if that is shorter; processes at it. */
static int set_times(vitals_request *request, const struct monitor_options *options,
                     enum monitor_part part, vitals_error *error)
{
    static const vitals_metric MOVING[] = {VITALS_PROCESS_THREADS, VITALS_PROCESS_CPU_SECONDS,
                                           VITALS_PROCESS_RESIDENT_BYTES};
    uint64_t interval_ns = options->interval_ns == 0 ? 2 * NS_PER_SECOND : options->interval_ns;
    bool often = part == MONITOR_MACHINE || part == MONITOR_DETAILS;
    uint64_t tick_ns = often && interval_ns > NS_PER_SECOND ? NS_PER_SECOND : interval_ns;
    int code = vitals_request_set_interval(request, tick_ns, error);
    for (size_t i = 0; PARTS[part].processes && i < ARRAY_COUNT(MOVING) && code == 0; i++)
        code = vitals_request_set_every(request, MOVING[i], tick_ns < interval_ns ? interval_ns : 0,
                                        error);
    for (size_t i = 0; i < ARRAY_COUNT(SELDOM); i++) {
        /* Rates need two readings within the interval; a gauge needs one. */
        uint64_t every_ns = SELDOM[i].seconds * NS_PER_SECOND;
        bool seldom = every_ns > 2 * NS_PER_SECOND || interval_ns >= every_ns;
        const vitals_metric *metric = SELDOM[i].metrics;
        for (; SELDOM[i].part == part && *metric != 0 && code == 0; metric++) {
            bool waits = seldom || vitals_metric_kind(*metric) == VITALS_GAUGE;
            code = vitals_request_set_every(request, *metric, waits ? every_ns : 0, error);
        }
    }
    return code;
}

int monitor_request(const struct monitor_options *options, enum monitor_part part,
                    vitals_request **out, vitals_error *error)
{
    vitals_request *request = NULL;
    int code = vitals_request_new(0, &request, error);
    if (code == 0 && PARTS[part].machine)
        code = add(request, MACHINE, ARRAY_COUNT(MACHINE), error);
    bool nvitop = options->arrangement != NULL && options->arrangement->nvitop;
    if (code == 0 && PARTS[part].machine && !nvitop)
        code = add(request, WORK, ARRAY_COUNT(WORK), error);

    /* Everything in every table of devices but their users. Some of it is slow, so it is requested
     * only while a device is shown. */
    for (vitals_metric metric = 0;
         PARTS[part].details && code == 0 && (metric = vitals_metric_next(metric)) != 0;) {
        vitals_table entity = vitals_metric_table(metric);
        if (entity == VITALS_TABLE_GPU ||
            (vitals_table_parent(entity) == VITALS_TABLE_GPU && entity != VITALS_TABLE_GPU_PROCESS))
            code = vitals_request_add(request, metric, error);
    }

    /* For processes also the metrics of the report that belong to this part. */
    if (code == 0 && PARTS[part].processes)
        code = add(request, PROCESSES, ARRAY_COUNT(PROCESSES), error);
    if (code == 0 && PARTS[part].processes && PARTS[part].machine)
        code = add(request, USERS, ARRAY_COUNT(USERS), error);
    for (size_t i = 0; PARTS[part].processes && i < REPORT_METRIC_COUNT && code == 0; i++) {
        vitals_metric metric = REPORT_METRICS[i];
        if (part != MONITOR_ALL || metric >> 8 == VITALS_TABLE_PROCESS ||
            metric >> 8 == VITALS_TABLE_HOST)
            code = vitals_request_add(request, metric, error);
    }

    /* The metrics that the first layout needs, if all come in one request. */
    if (code == 0 && PARTS[part].machine && PARTS[part].rows == VITALS_ROWS_ALL &&
        options->arrangement != NULL) {
        struct wants wants;
        wants_of(options->arrangement, VIEW_DEVICES | VIEW_ALL, &wants);
        code = wants_request(&wants, request, error);
    }
    if (code == 0 && PARTS[part].rows != 0)
        code = vitals_request_set_rows(request, PARTS[part].rows, NULL, 0, error);
    if (code == 0)
        code = set_times(request, options, part, error);
    if (code < 0)
        vitals_request_free(request);
    else
        *out = request;
    return code;
}

enum monitor_part monitor_part_of(const char *screen)
{
    bool details = screen != NULL && strcmp(screen, screen_device.name) == 0;
    return details ? MONITOR_EVERYTHING : MONITOR_BOTH;
}
