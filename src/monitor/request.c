/* request.c: what the screens show, as metrics. */
#include "monitor/monitor.h"

/* Of the machine and its devices. */
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

static int add(vitals_request *request, const vitals_metric *metrics, size_t count,
               vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = vitals_request_add(request, metrics[i], error);
    return code;
}

/* Of what is asked for beside the screens, that which belongs to the part. */
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

/* Machine and devices each second or at the interval, if that is shorter; processes at it. */
static int set_times(vitals_request *request, const struct monitor_options *options,
                     enum monitor_part part, vitals_error *error)
{
    static const uint64_t SECOND_NS = 1000000000u;
    static const vitals_metric MOVING[] = {VITALS_PROCESS_STATE, VITALS_PROCESS_THREADS,
                                           VITALS_PROCESS_CPU_SECONDS,
                                           VITALS_PROCESS_RESIDENT_BYTES};
    uint64_t interval_ns = options->interval_ns == 0 ? 2 * SECOND_NS : options->interval_ns;
    uint64_t tick_ns = part == MONITOR_MACHINE && interval_ns > SECOND_NS ? SECOND_NS : interval_ns;
    int code = vitals_request_interval(request, tick_ns, error);
    for (size_t i = 0; i < sizeof MOVING / sizeof MOVING[0] && code == 0; i++)
        code = vitals_request_every(request, MOVING[i], tick_ns < interval_ns ? interval_ns : 0,
                                    error);
    return code;
}

int monitor_request(const struct monitor_options *options, enum monitor_part part,
                    vitals_request **out, vitals_error *error)
{
    vitals_request *request = NULL;
    int code = vitals_request_new(0, &request, error);
    if (code == 0 && part != MONITOR_ALL)
        code = add(request, MACHINE, sizeof MACHINE / sizeof MACHINE[0], error);
    if (code == 0)
        code = add(request, PROCESSES, sizeof PROCESSES / sizeof PROCESSES[0], error);
    if (code == 0)
        code = add_extra(request, options, part, error);
    if (code == 0)
        code = vitals_request_rows(
            request, part == MONITOR_MACHINE ? VITALS_ROWS_GPU_USERS : VITALS_ROWS_ALL, NULL, 0,
            error);
    if (code == 0)
        code = set_times(request, options, part, error);
    if (code < 0)
        vitals_request_free(request);
    else
        *out = request;
    return code;
}
