/* one_shot.c: the report as a whole: when, devices, host, processes. */
#include "report/panel.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const vitals_metric REPORT_METRICS[] = {
    VITALS_HOST_UPTIME_SECONDS,
    VITALS_HOST_LOAD_1M,
    VITALS_HOST_LOAD_5M,
    VITALS_HOST_LOAD_15M,
    VITALS_HOST_CPU_BUSY_SECONDS,
    VITALS_HOST_CPU_TOTAL_SECONDS,
    VITALS_HOST_MEMORY_TOTAL_BYTES,
    VITALS_HOST_MEMORY_USED_BYTES,
    VITALS_HOST_SWAP_TOTAL_BYTES,
    VITALS_HOST_SWAP_USED_BYTES,
    VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES,
    VITALS_HOST_CGROUP_MEMORY_USED_BYTES,
    VITALS_HOST_CGROUP_CPU_LIMIT_CORES,
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
    VITALS_PROCESS_PID,
    VITALS_PROCESS_START_SECONDS,
    VITALS_PROCESS_NAME,
    VITALS_PROCESS_STATE,
    VITALS_PROCESS_THREADS,
    VITALS_PROCESS_CPU_SECONDS,
    VITALS_PROCESS_RESIDENT_BYTES,
    VITALS_PROCESS_USER,
    VITALS_PROCESS_COMMAND_LINE,
    VITALS_GPU_PROCESS_PID,
    VITALS_GPU_PROCESS_PROCESS,
    VITALS_GPU_PROCESS_TYPE,
    VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
    VITALS_GPU_PROCESS_UTILIZATION_RATIO,
    VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO,
    VITALS_SOURCE_MESSAGE,
};
const size_t REPORT_METRIC_COUNT = sizeof(REPORT_METRICS) / sizeof(REPORT_METRICS[0]);

static size_t choose_width(const struct view *view)
{
    size_t columns = view->options->width;
    if (columns < NARROW)
        return NARROW; /* the table's own width: a terminal folds it, a file does not care */
    if (columns < WIDE)
        return columns;
    size_t widest = panel_processes_width(view);
    size_t wanted = columns < widest ? columns : widest;
    size_t least = columns < COMFORTABLE ? columns : COMFORTABLE;
    return wanted > least ? wanted : least;
}

static bool is_demo(const struct view *view)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(view->now, VITALS_SOURCE, row)) != NULL;) {
        if (strcmp(vitals_row_label(row), "demo") == 0)
            return true;
    }
    return false;
}

/* The snapshot's own moment, in the reader's time zone. */
static void time_line(struct paint *paint, const struct view *view)
{
    char text[64];
    time_t seconds = (time_t)(vitals_snapshot_realtime_ns(view->now) / 1000000000u);
    struct tm parts;
    if (localtime_r(&seconds, &parts) == NULL ||
        strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Y", &parts) == 0)
        return;
    paint_text(paint, COLOR_PLAIN, text);
    if (is_demo(view))
        paint_text(paint, COLOR_YELLOW, "   DEMO: these devices are invented");
    paint_end(paint);
}

int report_one_shot(const vitals_snapshot *snapshot, const vitals_snapshot *older,
                    const struct report_options *options, vitals_write *write, void *data)
{
    struct paint paint;
    struct view view = {.now = snapshot, .older = older, .options = options};
    view.width = choose_width(&view);
    paint_init(&paint, options, write, data);
    time_line(&paint, &view);
    panel_devices(&paint, &view);
    panel_host(&paint, &view);
    paint_end(&paint);
    panel_processes(&paint, &view);
    return paint_done(&paint);
}

static bool has_device(const vitals_snapshot *snapshot, uint64_t index)
{
    struct report_options only = {.devices = &index, .device_count = 1};
    struct view view = {.now = snapshot, .options = &only};
    for (const vitals_row *gpu = NULL;
         (gpu = vitals_snapshot_next(snapshot, VITALS_GPU, gpu)) != NULL;) {
        if (panel_shows_device(&view, gpu))
            return true;
    }
    return false;
}

size_t report_missing_devices(const vitals_snapshot *snapshot, const struct report_options *options,
                              uint64_t *missing)
{
    size_t count = 0;
    for (size_t i = 0; i < options->device_count; i++) {
        if (!has_device(snapshot, options->devices[i]))
            missing[count++] = options->devices[i];
    }
    return count;
}
