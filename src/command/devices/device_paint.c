/* device_paint.c: a device as text: sections of single values and of its tables.
 *
 * view/device_metrics.c says which metric is in which section; all others are listed under "More".
 * Missing values are named at the end of their section, with --verbose the reasons. */
#include "command/devices/device_list.h"

#include <stdio.h>
#include <string.h>

#include "command/grid.h"
#include "command/processes/ps_columns.h"
#include "feed/rows.h"
#include "report/report.h"
#include "view/cell_text.h"

enum { LABEL = 30, METRICS_MOST = 40, LINE = 2048 };

#define G(suffix) VITALS_GPU_##suffix

struct sheet {
    const struct device_view *view;
    struct device_form form;
    const vitals_row *device;
    const vitals_snapshot *snapshot;
    struct paint *paint;
    vitals_availability lost; /* why nothing can be read of it; HAVE: it can be read */
    bool failed;
};

/* ---- lines ---- */

static void put_title(struct sheet *sheet, const char *title)
{
    paint_end(sheet->paint);
    paint_text(sheet->paint, COLOR_BOLD, title);
    paint_end(sheet->paint);
}

static vitals_availability state_of(const struct sheet *sheet, vitals_metric metric)
{
    double number;
    if (vitals_metric_type(metric) == VITALS_TEXT)
        return vitals_row_availability(sheet->device, metric);
    return device_metric_number(sheet->device, sheet->view->older, metric, &number);
}

/* ---- what is missing ---- */

/* Prints a line such as "N/A serial, firmware (VBIOS)" for one reason, or for all reasons (0).
 * Metrics that a partition or this vendor cannot have, and metrics that are missing for the same
 * reason as the whole device, are listed only with --verbose. */
static void put_missing(struct sheet *sheet, const vitals_metric *metrics, size_t count,
                        vitals_availability reason)
{
    bool verbose = sheet->view->settings->look.verbose;
    char line[LINE] = "", label[DEVICE_LABEL];
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof line - DEVICE_LABEL - 4; i++) {
        const struct device_metric *own = device_metric_find(metrics[i]);
        vitals_availability state = state_of(sheet, metrics[i]);
        vitals_text vendor;
        bool usual = vitals_row_parent(sheet->device) != 0 ||
                     (own != NULL && own->owner != NULL &&
                      vitals_row_text(sheet->device, G(VENDOR), &vendor) > 0 &&
                      !command_text_is(sheet->device, G(VENDOR), own->owner));
        bool listed = verbose || (state != sheet->lost && (state != VITALS_UNSUPPORTED || !usual));
        if (state > 0 || !listed || (reason != 0 && state != reason))
            continue;
        device_label(metrics[i], label);
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", used > 0 ? ", " : "",
                                 label);
    }
    if (used == 0)
        return;
    if (reason != 0)
        (void)snprintf(line + used, sizeof line - used, ": %s", vitals_availability_help(reason));
    paint_labelled(sheet->paint, LABEL, sheet->view->width, "N/A", COLOR_DIM, line);
    paint_end(sheet->paint);
}

/* ---- tables ---- */

/* Titles of columns whose name is unclear, or repeats the title of its section. */
static const char *title_of(vitals_metric metric, char out[static DEVICE_LABEL])
{
    static const struct {
        vitals_metric metric;
        const char *title;
    } TITLES[] = {
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "BUSY"},
        {VITALS_GPU_ENGINE_BUSY_SECONDS, "BUSY IN ALL"},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "NOW"},
        {VITALS_GPU_CLOCK_FREQUENCY_REQUESTED_HERTZ, "ASKED FOR"},
        {VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ, "LOWEST"},
        {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "HIGHEST"},
        {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "TEMP"},
        {VITALS_GPU_SENSOR_FAN_RPM, "FAN"},
        {VITALS_GPU_SENSOR_FAN_RATIO, "OF MOST"},
        {VITALS_GPU_SENSOR_POWER_LIMIT_WATTS, "LIMIT"},
        {VITALS_GPU_SENSOR_POWER_BURST_LIMIT_WATTS, "IN A BURST"},
        {VITALS_GPU_LINK_ACTIVE, "UP"},
        {VITALS_GPU_LINK_REMOTE_KIND, "TO"},
        {VITALS_GPU_LINK_REMOTE_PCI_BUS_ID, "ADDRESS"},
        {VITALS_GPU_LINK_REPLAY_ERRORS, "REPLAYS"},
        {VITALS_GPU_LINK_RECOVERY_ERRORS, "RECOVERIES"},
        {VITALS_GPU_LINK_CRC_ERRORS, "CRC"},
        {VITALS_GPU_PROCESS_UTILIZATION_RATIO, "BUSY"},
        {VITALS_GPU_PROCESS_MEMORY_USED_BYTES, "MEMORY"},
        {VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES, "OF THE HOST"},
        {VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO, "BANDWIDTH"},
        {VITALS_GPU_PROCESS_ENCODER_RATIO, "ENC"},
        {VITALS_GPU_PROCESS_DECODER_RATIO, "DEC"},
        {VITALS_GPU_PROCESS_VIDEO_RATIO, "VIDEO"},
        {VITALS_GPU_PROCESS_VIDEO_ENHANCE_RATIO, "ENHANCE"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(TITLES); i++) {
        if (TITLES[i].metric == metric)
            return TITLES[i].title;
    }
    device_label(metric, out);
    for (char *c = out; *c != '\0'; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    return out;
}

static void put_cell(struct sheet *sheet, struct grid *grid, const vitals_row *row,
                     vitals_metric metric)
{
    char value[DEVICE_VALUE];
    vitals_availability availability = device_value(row, sheet->view->older, metric, &sheet->form,
                                                    value);
    grid_cell(grid, availability > 0 ? COLOR_PLAIN : COLOR_DIM, value);
}

/* Adds a column for each metric of which a row has a value. Returns the number of columns. */
static size_t add_columns(const struct sheet *sheet, struct grid *grid, vitals_table entity,
                          const vitals_metric *metrics, size_t count, vitals_metric *shown,
                          char (*titles)[DEVICE_LABEL])
{
    uint64_t key = vitals_row_key(sheet->device);
    size_t used = 0;
    for (size_t i = 0; i < count && metrics[i] != 0; i++) {
        const vitals_row *row = NULL;
        bool is_text = vitals_metric_type(metrics[i]) == VITALS_TEXT, known = false;
        double number;
        while (!known && (row = vitals_snapshot_next_child(sheet->snapshot, entity, key, row)))
            known = is_text
                        ? vitals_row_availability(row, metrics[i]) > 0
                        : device_metric_number(row, sheet->view->older, metrics[i], &number) > 0;
        if (!known)
            continue;
        grid_column(grid, title_of(metrics[i], titles[used]),
                    vitals_metric_type(metrics[i]) == VITALS_TEXT ? ALIGN_LEFT : ALIGN_RIGHT, 0);
        shown[used++] = metrics[i];
    }
    return used;
}

static void put_table(struct sheet *sheet, const struct device_section_form *section)
{
    const struct grid_form form = {.indent = 2, .width = sheet->view->width, .titles = true};
    vitals_metric shown[DEVICE_COLUMNS];
    char titles[DEVICE_COLUMNS][DEVICE_LABEL], label[DEVICE_VALUE];
    struct grid grid = {0};
    grid_column(&grid, "", ALIGN_LEFT, 0);
    size_t count = add_columns(sheet, &grid, section->table, section->columns, DEVICE_COLUMNS,
                               shown, titles);
    EACH_CHILD(row, sheet->snapshot, section->table, vitals_row_key(sheet->device)) {
        grid_cell(&grid, COLOR_PLAIN,
                  cell_safe(vitals_text_of(vitals_row_label(row)), sheet->form.ascii, label,
                            sizeof label));
        for (size_t i = 0; i < count; i++)
            put_cell(sheet, &grid, row, shown[i]);
    }
    if (count > 0)
        sheet->failed |= grid_paint(&grid, &form, sheet->paint) < 0;
    grid_done(&grid);
}

/* ---- processes ---- */

static void put_processes(struct sheet *sheet)
{
    static const vitals_metric COLUMNS[] = {VITALS_GPU_PROCESS_PID,
                                            VITALS_GPU_PROCESS_TYPE,
                                            VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
                                            VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES,
                                            VITALS_GPU_PROCESS_UTILIZATION_RATIO,
                                            VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO,
                                            VITALS_GPU_PROCESS_ENCODER_RATIO,
                                            VITALS_GPU_PROCESS_DECODER_RATIO,
                                            VITALS_GPU_PROCESS_VIDEO_RATIO,
                                            VITALS_GPU_PROCESS_VIDEO_ENHANCE_RATIO};
    enum { COUNT = ARRAY_COUNT(COLUMNS) };
    const struct grid_form form = {.indent = 2, .width = sheet->view->width, .titles = true};
    bool ascii = sheet->view->settings->look.ascii, narrow = form.width > 0 && form.width < 100;
    vitals_metric shown[COUNT];
    char titles[COUNT][DEVICE_LABEL], words[DEVICE_VALUE];
    struct grid grid = {0};
    uint64_t key = vitals_row_key(sheet->device);
    if (vitals_snapshot_next_child(sheet->snapshot, VITALS_TABLE_GPU_PROCESS, key, NULL) == NULL)
        return;
    put_title(sheet, "Processes");
    size_t count = add_columns(sheet, &grid, VITALS_TABLE_GPU_PROCESS, COLUMNS, COUNT, shown,
                               titles);
    grid_column(&grid, "USER", ALIGN_LEFT, 16);
    bool work = false; /* a process belongs to a job, a pod, a container or a service */
    EACH_CHILD(row, sheet->snapshot, VITALS_TABLE_GPU_PROCESS, key)
        work |= report_work(row_process(row), true, words, sizeof words);
    if (work)
        grid_column(&grid, "WORK", ALIGN_LEFT, narrow ? 16 : 24);
    grid_column(&grid, "COMMAND", ALIGN_LEFT, 0);

    struct buffer text = {0};
    EACH_CHILD(row, sheet->snapshot, VITALS_TABLE_GPU_PROCESS, key) {
        char name[DEVICE_VALUE] = "N/A";
        const vitals_row *process = row_process(row);
        enum color color = COLOR_DIM;
        const char *command = "N/A";
        if (process != NULL) {
            (void)device_value(process, NULL, VITALS_PROCESS_USER, &sheet->form, name);
            command = ps_command(process, ascii, &text, &color);
        } else if (vitals_row_availability(row, VITALS_GPU_PROCESS_PROCESS) == VITALS_OUTSIDE) {
            command = "outside this pid namespace";
        }
        for (size_t i = 0; i < count; i++)
            put_cell(sheet, &grid, row, shown[i]);
        grid_cell(&grid, process != NULL ? COLOR_PLAIN : COLOR_DIM, name);
        if (work)
            grid_cell(&grid, COLOR_PLAIN,
                      report_work(process, ascii, words, sizeof words) ? words : "-");
        grid_cell(&grid, color, command);
    }
    sheet->failed |= text.failed || grid_paint(&grid, &form, sheet->paint) < 0;
    buffer_done(&text);
    grid_done(&grid);
}

/* ---- the whole ---- */

static void put_metric(struct sheet *sheet, vitals_metric metric)
{
    const struct device_metric *own = device_metric_find(metric);
    const vitals_row *device = sheet->device;
    char label[DEVICE_LABEL], value[DEVICE_VALUE], note[160] = "";
    enum color color = COLOR_PLAIN;
    double number, part, whole;
    device_label(metric, label);
    vitals_availability availability = device_value(device, sheet->view->older, metric,
                                                    &sheet->form, value);
    if (own != NULL && vitals_row_number(device, metric, &number) > 0 && number != 0)
        color = own->flags & DEVICE_ALARM     ? COLOR_RED
                : own->flags & DEVICE_WARNING ? COLOR_YELLOW
                                              : COLOR_PLAIN;
    paint_labelled(sheet->paint, LABEL, sheet->view->width, label, color, value);

    /* Adds the share of the total, and the quality of the number. */
    if ((metric == G(MEMORY_USED_BYTES) || metric == G(MEMORY_FREE_BYTES)) &&
        vitals_row_number(device, metric, &part) > 0 &&
        vitals_row_number(device, G(MEMORY_TOTAL_BYTES), &whole) > 0 && whole > 0)
        snprintf(note, sizeof note, "  %.0f %%", part / whole * 100);
    if (availability > VITALS_HAVE) {
        size_t used = strlen(note);
        snprintf(note + used, sizeof note - used, "  (%s)", vitals_availability_name(availability));
        for (char *c = note + used; *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
    }
    paint_text(sheet->paint, COLOR_DIM, note);
    paint_end(sheet->paint);
}

/* `form`: NULL if the section has no table. A section without any value is shown only with
 * --verbose. */
static void put_section(struct sheet *sheet, const char *title, const vitals_metric *metrics,
                        size_t count, const struct device_section_form *form)
{
    bool verbose = sheet->view->settings->look.verbose;
    bool has_rows = form != NULL && form->table != 0 &&
                    vitals_snapshot_next_child(sheet->snapshot, form->table,
                                               vitals_row_key(sheet->device), NULL) != NULL;
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        known += state_of(sheet, metrics[i]) > 0;
    if (known == 0 && !has_rows && !(verbose && count > 0))
        return;

    put_title(sheet, title);
    for (size_t i = 0; i < count; i++) {
        if (state_of(sheet, metrics[i]) > 0)
            put_metric(sheet, metrics[i]);
    }
    if (!verbose)
        put_missing(sheet, metrics, count, 0);
    for (int reason = -1; verbose && reason >= VITALS_AVAILABILITY_MIN; reason--)
        put_missing(sheet, metrics, count, (vitals_availability)reason);
    if (has_rows)
        put_table(sheet, form);
}

int device_paint(const vitals_row *device, const struct device_view *view, struct paint *paint)
{
    static const struct {
        vitals_availability reason;
        enum color color;
        const char *words;
    } LOST[] = {
        {VITALS_GONE, COLOR_RED, "  lost: its driver does not reach it any more"},
        {VITALS_SUSPENDED, COLOR_YELLOW, "  asleep, and left so"},
        {VITALS_TIMED_OUT, COLOR_YELLOW, "  its driver does not answer"},
    };
    struct sheet sheet = {.view = view,
                          .device = device,
                          .snapshot = vitals_row_snapshot(device),
                          .paint = paint,
                          .lost = VITALS_HAVE};
    vitals_metric metrics[METRICS_MOST], metric = 0;
    sheet.form = device_form_of(view->settings);

    /* "1:0 3g.40gb", and why the device as a whole cannot be read. */
    char label[DEVICE_VALUE], name[DEVICE_VALUE], line[2 * DEVICE_VALUE + 8];
    (void)cell_safe(vitals_text_of(vitals_row_label(device)), sheet.form.ascii, label,
                    sizeof label);
    (void)device_value(device, NULL, G(NAME), &sheet.form, name);
    snprintf(line, sizeof line, "%s  %s", label, name);
    paint_text(paint, COLOR_BOLD, line);
    if (vitals_row_parent(device) != 0)
        paint_text(paint, COLOR_DIM, "  a partition");
    for (size_t i = 0; i < ARRAY_COUNT(LOST); i++) {
        if (state_of(&sheet, G(MEMORY_USED_BYTES)) == LOST[i].reason) {
            sheet.lost = LOST[i].reason;
            paint_text(paint, LOST[i].color, LOST[i].words);
        }
    }
    paint_end(paint);

    for (size_t i = 0; i < DEVICE_SECTIONS; i++) {
        size_t count = 0;
        for (size_t j = 0; j < device_metric_count && count < METRICS_MOST; j++) {
            if (device_metrics[j].section == i)
                metrics[count++] = device_metrics[j].metric;
        }
        put_section(&sheet, device_sections[i].title, metrics, count, &device_sections[i]);
    }

    size_t count = 0; /* metrics that are in no section; the name is in the header */
    while ((metric = vitals_metric_next_of(VITALS_TABLE_GPU, metric)) != 0 &&
           count < METRICS_MOST) {
        if (metric != G(NAME) && device_metric_find(metric) == NULL)
            metrics[count++] = metric;
    }
    put_section(&sheet, "More", metrics, count, NULL);
    put_processes(&sheet);
    return sheet.failed ? -1 : 0;
}
