/* request.c: what the screens show, as metrics. */
#include <string.h>

#include "monitor/screens/screen.h"

/* Metrics of the machine and its devices. */
static const vitals_metric MACHINE[] = {
    VITALS_HOST_UPTIME_SECONDS,
    VITALS_HOST_LOAD_1M,
    VITALS_HOST_LOAD_5M,
    VITALS_HOST_LOAD_15M,
    VITALS_HOST_TASKS,
    VITALS_HOST_TASKS_RUNNING,
    VITALS_HOST_CPU_BUSY_SECONDS,
    VITALS_HOST_CPU_TOTAL_SECONDS,
    VITALS_HOST_MEMORY_TOTAL_BYTES,
    VITALS_HOST_MEMORY_USED_BYTES,
    VITALS_HOST_SWAP_TOTAL_BYTES,
    VITALS_HOST_SWAP_USED_BYTES,
    VITALS_HOST_DISK_READ_BYTES,
    VITALS_HOST_DISK_WRITTEN_BYTES,
    VITALS_HOST_NETWORK_RECEIVED_BYTES,
    VITALS_HOST_NETWORK_TRANSMITTED_BYTES,
    VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES,
    VITALS_HOST_CGROUP_MEMORY_USED_BYTES,
    VITALS_HOST_CGROUP_CPU_LIMIT_CORES,
    VITALS_CPU_BUSY_SECONDS,
    VITALS_CPU_TOTAL_SECONDS,
    VITALS_PRESSURE_RESOURCE,
    VITALS_PRESSURE_SCOPE,
    VITALS_PRESSURE_SOME_10S_RATIO,
    VITALS_GPU_VENDOR,
    VITALS_GPU_UUID,
    VITALS_GPU_NAME,
    VITALS_GPU_PCI_BUS_ID,
    VITALS_GPU_DRIVER_VERSION,
    VITALS_GPU_CUDA_VERSION,
    VITALS_GPU_GPU_INSTANCE_ID,
    VITALS_GPU_COMPUTE_INSTANCE_ID,
    VITALS_GPU_MEMORY_TOTAL_BYTES,
    VITALS_GPU_MEMORY_USED_BYTES,
    VITALS_GPU_UTILIZATION_RATIO,
    VITALS_GPU_MEMORY_BUSY_RATIO,
    VITALS_GPU_POWER_WATTS,
    VITALS_GPU_POWER_LIMIT_WATTS,
    VITALS_GPU_TEMPERATURE_CELSIUS,
    VITALS_GPU_FAN_RATIO,
    VITALS_GPU_PERFORMANCE_STATE,
    VITALS_GPU_COMPUTE_MODE,
    VITALS_GPU_PERSISTENCE_MODE,
    VITALS_GPU_DISPLAY_ACTIVE,
    VITALS_GPU_MIG_MODE,
    VITALS_GPU_ECC_ERRORS_UNCORRECTED,
    VITALS_GPU_THROTTLED_BY_POWER,
    VITALS_GPU_THROTTLED_BY_TEMPERATURE,
    VITALS_GPU_THROTTLED_BY_CURRENT,
    VITALS_GPU_THROTTLED_OTHERWISE,
    VITALS_GPU_THROTTLE_REASONS,
    VITALS_GPU_XID_ERRORS,
    VITALS_GPU_XID_LAST,
    VITALS_GPU_CLOCK_FREQUENCY_HERTZ,
    VITALS_GPU_POOL_TOTAL_BYTES,
    VITALS_GPU_POOL_USED_BYTES,
    VITALS_GPU_PROCESS_PID,
    VITALS_GPU_PROCESS_PROCESS,
    VITALS_GPU_PROCESS_TYPE,
    VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
    VITALS_GPU_PROCESS_UTILIZATION_RATIO,
    VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO,
    VITALS_GPU_PROCESS_ENCODER_RATIO,
    VITALS_GPU_PROCESS_DECODER_RATIO,
    VITALS_SOURCE_STATE,
    VITALS_SOURCE_MESSAGE,
};

static const vitals_metric PROCESSES[] = {
    VITALS_PROCESS_PID,          VITALS_PROCESS_PARENT_PID,     VITALS_PROCESS_START_SECONDS,
    VITALS_PROCESS_NAME,         VITALS_PROCESS_STATE,          VITALS_PROCESS_THREADS,
    VITALS_PROCESS_CPU_SECONDS,  VITALS_PROCESS_RESIDENT_BYTES, VITALS_PROCESS_USER,
    VITALS_PROCESS_COMMAND_LINE,
};

/* The metrics of each part. */
static const struct {
    bool machine, processes, details;
    unsigned rows; /* 0: no process has one */
} PARTS[] = {
    [MONITOR_MACHINE] = {.machine = true, .processes = true, .rows = VITALS_ROWS_GPU_USERS},
    [MONITOR_ALL] = {.processes = true, .rows = VITALS_ROWS_ALL},
    [MONITOR_BOTH] = {.machine = true, .processes = true, .rows = VITALS_ROWS_ALL},
    [MONITOR_DETAILS] = {.details = true},
    [MONITOR_EVERYTHING] = {.machine = true,
                            .processes = true,
                            .details = true,
                            .rows = VITALS_ROWS_ALL},
};

static int add(vitals_request *request, const vitals_metric *metrics, size_t count,
               vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = vitals_request_add(request, metrics[i], error);
    return code;
}

/* The extra metrics that belong to the part. */
static int add_extra(vitals_request *request, const struct monitor_options *options,
                     enum monitor_part part, vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < options->extra_count && code == 0; i++) {
        vitals_metric metric = options->extra[i];
        if (part != MONITOR_ALL || metric >> 8 == VITALS_PROCESS || metric >> 8 == VITALS_HOST)
            code = vitals_request_add(request, metric, error);
    }
    return code;
}

/* Everything in every table of devices but their users. Some of it is slow, so it is requested only
 * while a device is shown. */
static int add_details(vitals_request *request, vitals_error *error)
{
    int code = 0;
    for (vitals_metric metric = 0; code == 0 && (metric = vitals_metric_next(metric)) != 0;) {
        vitals_entity entity = vitals_metric_entity(metric);
        if (entity == VITALS_GPU ||
            (vitals_entity_parent(entity) == VITALS_GPU && entity != VITALS_GPU_PROCESS))
            code = vitals_request_add(request, metric, error);
    }
    return code;
}

/* The metrics that the first layout needs, if all come in one request. */
static int add_arranged(vitals_request *request, const struct monitor_options *options,
                        vitals_error *error)
{
    struct wants wants;
    if (options->arrangement == NULL)
        return 0;
    wants_of(options->arrangement, VIEW_DEVICES | VIEW_ALL, &wants);
    return wants_request(&wants, request, error);
}

static const uint64_t SECOND_NS = 1000000000u;

/* Metrics that are read less often. A process that has not run since is not read again unless
 * states are requested at each tick; names are read again when the name of the program changes. */
static const struct {
    enum monitor_part part;
    vitals_metric metric;
    unsigned seconds;
} SELDOM[] = {
    {MONITOR_MACHINE, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, 30},
    {MONITOR_MACHINE, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, 30},
    {MONITOR_MACHINE, VITALS_HOST_CGROUP_MEMORY_USED_BYTES, 5},
    {MONITOR_MACHINE, VITALS_HOST_TASKS, 5},
    {MONITOR_MACHINE, VITALS_HOST_TASKS_RUNNING, 5},
    {MONITOR_MACHINE, VITALS_HOST_DISK_READ_BYTES, 2},
    {MONITOR_MACHINE, VITALS_HOST_DISK_WRITTEN_BYTES, 2},
    {MONITOR_MACHINE, VITALS_HOST_NETWORK_RECEIVED_BYTES, 2},
    {MONITOR_MACHINE, VITALS_HOST_NETWORK_TRANSMITTED_BYTES, 2},
    {MONITOR_MACHINE, VITALS_PRESSURE_RESOURCE, 5},
    {MONITOR_MACHINE, VITALS_PRESSURE_SCOPE, 5},
    {MONITOR_MACHINE, VITALS_PRESSURE_SOME_10S_RATIO, 5},
    {MONITOR_ALL, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, 30}, /* these for a report alone */
    {MONITOR_ALL, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, 30},
    {MONITOR_ALL, VITALS_HOST_CGROUP_MEMORY_USED_BYTES, 30},
    {MONITOR_ALL, VITALS_PROCESS_STATE, 30},
    {MONITOR_ALL, VITALS_PROCESS_USER, 30},
    {MONITOR_ALL, VITALS_PROCESS_COMMAND_LINE, 30},
};

/* Machine and devices each second or at the interval, if that is shorter; processes at it. */
static int set_times(vitals_request *request, const struct monitor_options *options,
                     enum monitor_part part, vitals_error *error)
{
    static const vitals_metric MOVING[] = {VITALS_PROCESS_THREADS, VITALS_PROCESS_CPU_SECONDS,
                                           VITALS_PROCESS_RESIDENT_BYTES};
    uint64_t interval_ns = options->interval_ns == 0 ? 2 * SECOND_NS : options->interval_ns;
    bool often = part == MONITOR_MACHINE || part == MONITOR_DETAILS;
    uint64_t tick_ns = often && interval_ns > SECOND_NS ? SECOND_NS : interval_ns;
    int code = vitals_request_interval(request, tick_ns, error);
    for (size_t i = 0; PARTS[part].processes && i < sizeof MOVING / sizeof MOVING[0] && code == 0;
         i++)
        code = vitals_request_every(request, MOVING[i], tick_ns < interval_ns ? interval_ns : 0,
                                    error);
    for (size_t i = 0; i < sizeof SELDOM / sizeof SELDOM[0] && code == 0; i++) {
        if (SELDOM[i].part == part)
            code = vitals_request_every(request, SELDOM[i].metric, SELDOM[i].seconds * SECOND_NS,
                                        error);
    }
    return code;
}

int monitor_request(const struct monitor_options *options, enum monitor_part part,
                    vitals_request **out, vitals_error *error)
{
    vitals_request *request = NULL;
    int code = vitals_request_new(0, &request, error);
    if (code == 0 && PARTS[part].machine)
        code = add(request, MACHINE, sizeof MACHINE / sizeof MACHINE[0], error);
    if (code == 0 && PARTS[part].details)
        code = add_details(request, error);
    if (code == 0 && PARTS[part].processes)
        code = add(request, PROCESSES, sizeof PROCESSES / sizeof PROCESSES[0], error);
    if (code == 0 && PARTS[part].processes)
        code = add_extra(request, options, part, error);
    if (code == 0 && PARTS[part].machine && PARTS[part].rows == VITALS_ROWS_ALL)
        code = add_arranged(request, options, error);
    if (code == 0 && PARTS[part].rows != 0)
        code = vitals_request_rows(request, PARTS[part].rows, NULL, 0, error);
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
