/* device_paint.c: a device as text: sections of single values and of its tables.
 *
 * view/device_metrics.c says which metric is in which section; all others are listed under "More".
 * Missing values are named at the end of their section, with --verbose the reasons. */
#include "command/devices/device_paint.h"

#include <stdio.h>
#include <string.h>

#include "command/grid.h"
#include "command/processes/ps_columns.h"
#include "report/report.h"

enum { LABEL = 30, METRICS_MOST = 40, LINE = 2048 };

#define G(suffix) VITALS_GPU_##suffix

struct device_paint_section {
    const char *title;
    vitals_metric metrics[METRICS_MOST];
    size_t count;
    const struct device_section_form *form; /* NULL: it has no table */
};

struct sheet {
    const struct device_view *view;
    struct device_form form;
    const vitals_row *device;
    const vitals_snapshot *snapshot;
    struct paint *paint;
    vitals_availability lost; /* why nothing can be read of it; HAVE: something can */
    bool failed;
};

/* ---- lines ---- */

static void put_title(struct sheet *sheet, const char *title)
{
    paint_end(sheet->paint);
    paint_text(sheet->paint, COLOR_BOLD, title);
    paint_end(sheet->paint);
}

static enum color color_of(const struct sheet *sheet, vitals_metric metric)
{
    const struct device_metric *own = device_metric_find(metric);
    double number;
    if (own == NULL || vitals_row_number(sheet->device, metric, &number) <= 0 || number == 0)
        return COLOR_PLAIN;
    return own->flags & DEVICE_ALARM     ? COLOR_RED
           : own->flags & DEVICE_WARNING ? COLOR_YELLOW
                                         : COLOR_PLAIN;
}

static vitals_availability state_of(const struct sheet *sheet, vitals_metric metric)
{
    double number;
    if (vitals_metric_type(metric) == VITALS_TEXT)
        return vitals_row_availability(sheet->device, metric);
    return device_metric_number(sheet->device, sheet->view->older, metric, &number);
}

/* ---- what is missing ---- */

/* True if only devices of another vendor, or only partitions, have the metric. */
static bool is_of_others(const struct sheet *sheet, vitals_metric metric)
{
    const struct device_metric *own = device_metric_find(metric);
    vitals_text vendor = {"", 0};
    if (own == NULL || own->owner == NULL ||
        vitals_row_text(sheet->device, G(VENDOR), &vendor) <= 0)
        return false;
    return vendor.size != strlen(own->owner) || memcmp(vendor.bytes, own->owner, vendor.size) != 0;
}

/* A metric that a partition or this vendor cannot have is listed as missing only with --verbose. */
static bool is_worth_telling(const struct sheet *sheet, vitals_metric metric,
                             vitals_availability state)
{
    bool usual = vitals_row_parent(sheet->device) != 0 || is_of_others(sheet, metric);
    if (state > 0 || sheet->view->settings->look.verbose)
        return state <= 0;
    return state != sheet->lost && (state != VITALS_UNSUPPORTED || !usual);
}

/* "N/A  serial, firmware (VBIOS)"; with --verbose one line for each reason. */
static void put_missing_for(struct sheet *sheet, const vitals_metric *metrics, size_t count,
                            vitals_availability reason)
{
    char line[LINE] = "", label[DEVICE_LABEL];
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof line - DEVICE_LABEL - 4; i++) {
        vitals_availability own = state_of(sheet, metrics[i]);
        if (!is_worth_telling(sheet, metrics[i], own) || (reason != 0 && own != reason))
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

static void put_missing(struct sheet *sheet, const vitals_metric *metrics, size_t count)
{
    if (!sheet->view->settings->look.verbose) {
        put_missing_for(sheet, metrics, count, 0);
        return;
    }
    for (int reason = -1; reason >= VITALS_AVAILABILITY_MIN; reason--)
        put_missing_for(sheet, metrics, count, (vitals_availability)reason);
}

/* ---- tables ---- */

static bool has_value(const struct sheet *sheet, vitals_entity entity, vitals_metric metric)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next_child(sheet->snapshot, entity, vitals_row_key(sheet->device),
                                           row)) != NULL;) {
        double number;
        if (vitals_metric_type(metric) == VITALS_TEXT
                ? vitals_row_availability(row, metric) > 0
                : device_metric_number(row, sheet->view->older, metric, &number) > 0)
            return true;
    }
    return false;
}

static void safe_label(const struct sheet *sheet, const vitals_row *row,
                       char out[static DEVICE_VALUE])
{
    const char *label = vitals_row_label(row);
    (void)vitals_text_format((vitals_text){label, strlen(label)},
                             sheet->view->settings->look.ascii ? VITALS_TEXT_ASCII
                                                               : VITALS_TEXT_TERMINAL,
                             out, DEVICE_VALUE);
}

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
    };
    for (size_t i = 0; i < sizeof TITLES / sizeof TITLES[0]; i++) {
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

/* Columns that no row has a value for are left out. */
static void put_table(struct sheet *sheet, const struct device_section_form *section)
{
    const struct grid_form form = {.indent = 2, .width = sheet->view->width, .titles = true};
    vitals_metric shown[DEVICE_COLUMNS];
    char titles[DEVICE_COLUMNS][DEVICE_LABEL], label[DEVICE_VALUE];
    struct grid grid = {0};
    size_t count = 0;
    grid_column(&grid, "", ALIGN_LEFT, 0);
    for (size_t i = 0; i < DEVICE_COLUMNS && section->columns[i] != 0; i++) {
        vitals_metric metric = section->columns[i];
        if (!has_value(sheet, section->table, metric))
            continue;
        grid_column(&grid, title_of(metric, titles[count]),
                    device_is_number(metric) ? ALIGN_RIGHT : ALIGN_LEFT, 0);
        shown[count++] = metric;
    }
    for (const vitals_row *row = NULL;
         count > 0 &&
         (row = vitals_snapshot_next_child(sheet->snapshot, section->table,
                                           vitals_row_key(sheet->device), row)) != NULL;) {
        safe_label(sheet, row, label);
        grid_cell(&grid, COLOR_PLAIN, label);
        for (size_t i = 0; i < count; i++)
            put_cell(sheet, &grid, row, shown[i]);
    }
    if (count > 0)
        sheet->failed |= grid_paint(&grid, &form, sheet->paint) < 0;
    grid_done(&grid);
}

/* ---- processes ---- */

static const vitals_row *process_of(const struct sheet *sheet, const vitals_row *user)
{
    uint64_t key;
    if (vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
        return NULL;
    return vitals_snapshot_find(sheet->snapshot, VITALS_PROCESS, key);
}

/* True if a process of the device belongs to a job, a pod, a container or a service. */
static bool has_work(const struct sheet *sheet)
{
    char work[DEVICE_VALUE];
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next_child(sheet->snapshot, VITALS_GPU_PROCESS,
                                           vitals_row_key(sheet->device), row)) != NULL;) {
        if (report_work(process_of(sheet, row), true, work, sizeof work))
            return true;
    }
    return false;
}

static void put_processes(struct sheet *sheet)
{
    static const vitals_metric COLUMNS[] = {VITALS_GPU_PROCESS_PID,
                                            VITALS_GPU_PROCESS_TYPE,
                                            VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
                                            VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES,
                                            VITALS_GPU_PROCESS_UTILIZATION_RATIO,
                                            VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO,
                                            VITALS_GPU_PROCESS_ENCODER_RATIO,
                                            VITALS_GPU_PROCESS_DECODER_RATIO};
    enum { COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };
    const struct grid_form form = {.indent = 2, .width = sheet->view->width, .titles = true};
    vitals_metric shown[COUNT];
    char titles[COUNT][DEVICE_LABEL];
    struct grid grid = {0};
    size_t count = 0;
    const vitals_row *row = NULL;
    uint64_t key = vitals_row_key(sheet->device);
    bool work = has_work(sheet), narrow = form.width > 0 && form.width < 100;
    if (vitals_snapshot_next_child(sheet->snapshot, VITALS_GPU_PROCESS, key, NULL) == NULL)
        return;
    put_title(sheet, "Processes");
    for (size_t i = 0; i < COUNT; i++) {
        if (!has_value(sheet, VITALS_GPU_PROCESS, COLUMNS[i]))
            continue;
        shown[count] = COLUMNS[i];
        grid_column(&grid, title_of(COLUMNS[i], titles[count]),
                    device_is_number(COLUMNS[i]) ? ALIGN_RIGHT : ALIGN_LEFT, 0);
        count++;
    }
    grid_column(&grid, "USER", ALIGN_LEFT, 16);
    if (work)
        grid_column(&grid, "WORK", ALIGN_LEFT, narrow ? 16 : 24);
    grid_column(&grid, "COMMAND", ALIGN_LEFT, 0);
    while ((row = vitals_snapshot_next_child(sheet->snapshot, VITALS_GPU_PROCESS, key, row))) {
        struct ps_text text = {0};
        char name[DEVICE_VALUE] = "N/A", words[DEVICE_VALUE];
        const vitals_row *process = process_of(sheet, row);
        enum color color = COLOR_DIM;
        const char *command = "N/A";
        bool ascii = sheet->view->settings->look.ascii;
        if (process != NULL) {
            (void)device_value(process, NULL, VITALS_PROCESS_USER, &sheet->form, name);
            command = ps_command(process, ascii, &text, &color);
        } else if (vitals_row_availability(row, VITALS_GPU_PROCESS_PROCESS) == VITALS_OUTSIDE) {
            command = "outside this pid namespace";
        }
        sheet->failed |= command == NULL;
        for (size_t i = 0; i < count; i++)
            put_cell(sheet, &grid, row, shown[i]);
        grid_cell(&grid, process != NULL ? COLOR_PLAIN : COLOR_DIM, name);
        if (work)
            grid_cell(&grid, COLOR_PLAIN,
                      report_work(process, ascii, words, sizeof words) ? words : "-");
        grid_cell(&grid, color, command != NULL ? command : "");
        ps_text_done(&text);
    }
    sheet->failed |= grid_paint(&grid, &form, sheet->paint) < 0;
    grid_done(&grid);
}

/* ---- the whole ---- */

/* A section of which nothing is known is left to --verbose. */
static void put_section(struct sheet *sheet, const struct device_paint_section *section)
{
    size_t known = 0;
    vitals_entity table = section->form != NULL ? section->form->table : 0;
    bool has_rows = table != 0 &&
                    vitals_snapshot_next_child(sheet->snapshot, table,
                                               vitals_row_key(sheet->device), NULL) != NULL;
    for (size_t i = 0; i < section->count; i++)
        known += state_of(sheet, section->metrics[i]) > 0;
    if (known == 0 && !has_rows && !(sheet->view->settings->look.verbose && section->count > 0))
        return;

    put_title(sheet, section->title);
    for (size_t i = 0; i < section->count; i++) {
        if (state_of(sheet, section->metrics[i]) > 0) {
            vitals_metric metric = section->metrics[i];
            char label[DEVICE_LABEL], value[DEVICE_VALUE];
            device_label(metric, label);
            vitals_availability availability = device_value(sheet->device, sheet->view->older,
                                                            metric, &sheet->form, value);
            paint_labelled(sheet->paint, LABEL, sheet->view->width, label, color_of(sheet, metric),
                           value);

            /* Adds the share of the total and the quality of the number. */
            double part, whole;
            char note[160] = "";
            if ((metric == G(MEMORY_USED_BYTES) || metric == G(MEMORY_FREE_BYTES)) &&
                vitals_row_number(sheet->device, metric, &part) > 0 &&
                vitals_row_number(sheet->device, G(MEMORY_TOTAL_BYTES), &whole) > 0 && whole > 0)
                snprintf(note, sizeof note, "  %.0f %%", part / whole * 100);
            if (availability > VITALS_HAVE) {
                size_t used = strlen(note);
                snprintf(note + used, sizeof note - used, "  (%s)",
                         vitals_availability_name(availability));
                for (char *c = note + used; *c != '\0'; c++)
                    *c = *c == '_' ? ' ' : *c;
            }
            paint_text(sheet->paint, COLOR_DIM, note);

            paint_end(sheet->paint);
        }
    }
    put_missing(sheet, section->metrics, section->count);
    if (has_rows)
        put_table(sheet, section->form);
}

static const struct {
    vitals_availability reason;
    enum color color;
    const char *words;
} LOST[] = {
    {VITALS_GONE, COLOR_RED, "  lost: its driver does not reach it any more"},
    {VITALS_SUSPENDED, COLOR_YELLOW, "  asleep, and left so"},
    {VITALS_TIMED_OUT, COLOR_YELLOW, "  its driver does not answer"},
};

static vitals_availability find_lost(const struct sheet *sheet)
{
    vitals_availability state = state_of(sheet, G(MEMORY_USED_BYTES));
    for (size_t i = 0; i < sizeof LOST / sizeof LOST[0]; i++) {
        if (LOST[i].reason == state)
            return state;
    }
    return VITALS_HAVE;
}

int device_paint(const vitals_row *device, const struct device_view *view, struct paint *paint)
{
    struct sheet sheet = {
        .view = view, .device = device, .snapshot = vitals_row_snapshot(device), .paint = paint};
    sheet.form = device_form_of(view->settings);
    sheet.lost = find_lost(&sheet);

    /* "1:0  3g.40gb", and what is wrong with it as a whole. */
    char label[DEVICE_VALUE], name[DEVICE_VALUE], line[2 * DEVICE_VALUE + 8];
    safe_label(&sheet, sheet.device, label);
    (void)device_value(sheet.device, NULL, G(NAME), &sheet.form, name);
    snprintf(line, sizeof line, "%s  %s", label, name);
    paint_text(sheet.paint, COLOR_BOLD, line);
    if (vitals_row_parent(sheet.device) != 0)
        paint_text(sheet.paint, COLOR_DIM, "  a partition");
    for (size_t i = 0; i < sizeof LOST / sizeof LOST[0]; i++) {
        if (LOST[i].reason == sheet.lost)
            paint_text(sheet.paint, LOST[i].color, LOST[i].words);
    }
    paint_end(sheet.paint);

    for (size_t i = 0; i < DEVICE_SECTIONS; i++) {
        struct device_paint_section section = {.title = device_sections[i].title,
                                               .form = &device_sections[i]};
        for (size_t j = 0; j < device_metric_count && section.count < METRICS_MOST; j++) {
            if (device_metrics[j].section == i)
                section.metrics[section.count++] = device_metrics[j].metric;
        }
        put_section(&sheet, &section);
    }

    /* The metrics that are in no section; the name stands in the head. */
    struct device_paint_section more = {.title = "More"};
    for (vitals_metric metric = 0;
         (metric = vitals_metric_next(metric)) != 0 && more.count < METRICS_MOST;) {
        if (vitals_metric_entity(metric) == VITALS_GPU && metric != G(NAME) &&
            device_metric_find(metric) == NULL)
            more.metrics[more.count++] = metric;
    }
    put_section(&sheet, &more);

    put_processes(&sheet);
    return sheet.failed ? -1 : 0;
}
