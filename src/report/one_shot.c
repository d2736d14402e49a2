/* one_shot.c: the report that `vitals -1` prints: time, devices, host, processes.
 *
 * Each part is drawn on a canvas of its own rows and printed. */
#include "report/report.h"

#include <stdio.h>
#include <string.h>

#include "report/one_shot.h"

// clang-format off
const vitals_metric REPORT_METRICS[] = {
    VITALS_HOST_UPTIME_SECONDS, VITALS_HOST_LOAD_1M, VITALS_HOST_LOAD_5M, VITALS_HOST_LOAD_15M,
    VITALS_HOST_CPU_BUSY_SECONDS, VITALS_HOST_CPU_TOTAL_SECONDS, VITALS_HOST_MEMORY_TOTAL_BYTES,
    VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES, VITALS_HOST_SWAP_USED_BYTES,
    VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, VITALS_HOST_CGROUP_MEMORY_USED_BYTES,
    VITALS_HOST_CGROUP_CPU_LIMIT_CORES,
    VITALS_GPU_NAME, VITALS_GPU_PCI_BUS_ID, VITALS_GPU_DRIVER_VERSION, VITALS_GPU_CUDA_VERSION,
    VITALS_GPU_GPU_INSTANCE_ID, VITALS_GPU_COMPUTE_INSTANCE_ID, VITALS_GPU_MEMORY_TOTAL_BYTES,
    VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_MEMORY_BUSY_RATIO,
    VITALS_GPU_POWER_WATTS, VITALS_GPU_POWER_LIMIT_WATTS, VITALS_GPU_TEMPERATURE_CELSIUS,
    VITALS_GPU_FAN_RATIO, VITALS_GPU_PERFORMANCE_STATE, VITALS_GPU_COMPUTE_MODE,
    VITALS_GPU_PERSISTENCE_MODE, VITALS_GPU_DISPLAY_ACTIVE, VITALS_GPU_MIG_MODE,
    VITALS_GPU_ECC_ERRORS_UNCORRECTED, VITALS_GPU_THROTTLED_BY_POWER,
    VITALS_GPU_THROTTLED_BY_TEMPERATURE, VITALS_GPU_THROTTLED_BY_CURRENT,
    VITALS_GPU_THROTTLED_OTHERWISE, VITALS_GPU_THROTTLE_REASONS, VITALS_GPU_XID_ERRORS,
    VITALS_GPU_XID_LAST, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, VITALS_GPU_POOL_TOTAL_BYTES,
    VITALS_GPU_POOL_USED_BYTES,
    VITALS_PROCESS_PID, VITALS_PROCESS_START_SECONDS, VITALS_PROCESS_NAME, VITALS_PROCESS_STATE,
    VITALS_PROCESS_THREADS, VITALS_PROCESS_CPU_SECONDS, VITALS_PROCESS_RESIDENT_BYTES,
    VITALS_PROCESS_USER, VITALS_PROCESS_COMMAND_LINE,
    VITALS_GPU_PROCESS_PID, VITALS_GPU_PROCESS_PROCESS, VITALS_GPU_PROCESS_TYPE,
    VITALS_GPU_PROCESS_MEMORY_USED_BYTES, VITALS_GPU_PROCESS_UTILIZATION_RATIO,
    VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO,
    VITALS_SOURCE_MESSAGE,
};
// clang-format on
const size_t REPORT_METRIC_COUNT = sizeof(REPORT_METRICS) / sizeof(REPORT_METRICS[0]);

enum { COMFORTABLE = 140 };

/* A line of its own width, which a terminal may fold. */
static void print_line(struct page *page, ink style, const char *text)
{
    if (!page_begin(page, canvas_columns(text), 1))
        return;
    (void)canvas_text(&page->canvas, 0, 0, style, text);
    page_end(page);
}

/* ---- the parts ---- */

static void print_devices(struct page *page)
{
    enum { LINE = 4096 };
    const struct device_panel panel = {.now = page->now,
                                       .look = &page->options->look,
                                       .selection = page->options->selection,
                                       .width = page->width,
                                       .form = FORM_FULL};
    if (device_panel_next(&panel, NULL) == NULL) {
        char line[LINE];
        device_panel_missing(&panel, line, sizeof line);
        print_line(page, STYLE_DIM, line);
        return;
    }
    if (!page_begin(page, page->width, device_panel_rows(&panel)))
        return;
    device_panel_draw(&page->pen, &panel, 0);
    page_end(page);
}

static void print_host(struct page *page)
{
    enum { LOAD_COLUMNS = 5 };
    struct host_bars bars = {.host = vitals_snapshot_next(page->now, VITALS_HOST, NULL),
                             .width = page->width,
                             .load_columns = LOAD_COLUMNS};
    if (bars.host == NULL || !page_begin(page, page->width, HOST_BARS_ROWS))
        return;
    bars.cpu_known = host_cpu_ratio(page->now, page->older, &bars.cpu_ratio);
    host_bars_draw(&page->pen, &bars, 0);
    page_end(page);

    /* A line about our own cgroup if it allows less than the machine has. */
    double cores;
    char count[WORDS] = "", used[WORDS], limit[WORDS], line[4 * WORDS];
    bool has_cores = cell_value(bars.host, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, &cores);
    bool has_limit = vitals_row_availability(bars.host, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES) > 0;
    if (has_cores)
        (void)snprintf(count, sizeof count, " at most %.4g CPUs", cores);
    if (has_limit)
        (void)snprintf(line, sizeof line, "[ our cgroup:%s%s memory %s of at most %s ]", count,
                       has_cores ? "," : "",
                       cell_bytes(bars.host, VITALS_HOST_CGROUP_MEMORY_USED_BYTES, used),
                       cell_bytes(bars.host, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, limit));
    else
        (void)snprintf(line, sizeof line, "[ our cgroup:%s ]", count);
    if (has_cores || has_limit)
        print_line(page, STYLE_PLAIN, line);
}

/* ---- the whole ---- */

int report_one_shot(const vitals_snapshot *snapshot, const vitals_snapshot *older,
                    const struct one_shot_options *options, vitals_write *write, void *data)
{
    struct page page = {
        .options = options, .now = snapshot, .older = older, .write = write, .data = data};
    page.pen = (struct pen){&page.canvas, &options->look};

    /* Below NARROW columns the report keeps that width: a terminal folds it. */
    int columns = options->width;
    page.width = columns < NARROW ? NARROW : columns;
    if (columns >= WIDE) {
        int widest = one_shot_processes_width(&page);
        int wanted = columns < widest ? columns : widest;
        int least = columns < COMFORTABLE ? columns : COMFORTABLE;
        page.width = wanted > least ? wanted : least;
    }

    static const char DEMO[] = "   DEMO: these devices are invented";
    char time[WORDS];
    if (cell_time(page.now, time) && page_begin(&page, WORDS + (int)sizeof DEMO, 1)) {
        int x = canvas_text(&page.canvas, 0, 0, STYLE_PLAIN, time);
        if (device_panel_is_demo(page.now))
            (void)canvas_text(&page.canvas, x, 0, STYLE_YELLOW, DEMO);
        page_end(&page);
    }
    print_devices(&page);
    print_host(&page);
    print_line(&page, STYLE_PLAIN, "");
    one_shot_processes(&page);
    canvas_done(&page.canvas);
    return page.code;
}

size_t report_missing_devices(const vitals_snapshot *snapshot, const struct selection *selection,
                              uint64_t *missing)
{
    size_t count = 0;
    for (size_t i = 0; i < selection->device_count; i++) {
        const vitals_row *gpu = NULL;
        while ((gpu = vitals_snapshot_next(snapshot, VITALS_GPU, gpu)) != NULL &&
               selection_device_index(gpu) != selection->devices[i])
            ;
        if (gpu == NULL)
            missing[count++] = selection->devices[i];
    }
    return count;
}

/* ---- what back ends say of themselves, where there are no devices to be shown ---- */

bool report_is_back_end(const vitals_row *source)
{
    return vitals_row_key(source) >= VITALS_SOURCE_BACK_ENDS;
}

const vitals_row *report_next_back_end(const vitals_snapshot *snapshot, const vitals_row *after)
{
    const vitals_row *row = after;
    do
        row = vitals_snapshot_next(snapshot, VITALS_SOURCE, row);
    while (row != NULL && !report_is_back_end(row));
    return row;
}

bool report_was_kept(const vitals_row *back_end)
{
    char state[WORDS];
    (void)cell_text(back_end, VITALS_SOURCE_STATE, true, state, sizeof state);
    return strcmp(state, "N/A") != 0 && strcmp(state, "have") != 0 &&
           strcmp(state, "unsupported") != 0;
}
