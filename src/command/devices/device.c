/* device.c: `vitals device`: everything about each device: as text, as columns, as CSV or as JSON,
 * once or again and again. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/devices/device_list.h"
#include "command/grid.h"
#include "command/options/option.h"
#include "command/output.h"
#include "feed/rows.h"
#include "feed/snapshot_filter.h"
#include "report/report.h"

enum { COLUMNS_MOST = 128 };

/* A column of -o: a metric of the table gpu, or 0: the label. */
struct device_column {
    vitals_metric metric;
    const char *name;
    char title[DEVICE_LABEL];
};

struct shown_device {
    const struct settings *settings;
    struct device_column columns[COLUMNS_MOST];
    size_t column_count;
    struct grid grid;
    vitals_builder *builder; /* of --json */
    size_t printed;          /* readings so far */
};

/* ---- columns ---- */

const char *device_column_word(size_t index)
{
    if (index == 0)
        return "label";
    vitals_metric metric = vitals_metric_next_of(VITALS_TABLE_GPU, 0);
    while (metric != 0 && --index > 0)
        metric = vitals_metric_next_of(VITALS_TABLE_GPU, metric);
    return vitals_metric_name(metric);
}

static int add_column(struct shown_device *device, const char *word)
{
    struct device_column *column = &device->columns[device->column_count];
    size_t size = strcspn(word, "=");
    char name[DEVICE_LABEL] = "";
    if (device->column_count == COLUMNS_MOST)
        return command_fail(EXIT_USAGE, "-o: more than %d columns", COLUMNS_MOST);
    for (size_t i = 0; i < size && size < sizeof name; i++)
        name[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
    bool is_label = size == 5 && memcmp(word, "label", 5) == 0;
    column->metric = is_label ? 0 : vitals_metric_find(VITALS_TABLE_GPU, name);
    if (!is_label && column->metric == 0)
        return command_fail_unknown("-o: no column", word, "", device_column_word,
                                    "vitals metrics lists those of gpu");
    column->name = is_label ? "label" : vitals_metric_name(column->metric);
    if (word[size] == '=') {
        (void)vitals_text_format(vitals_text_of(word + size + 1), VITALS_TEXT_TERMINAL,
                                 column->title, sizeof column->title);
    } else {
        snprintf(column->title, sizeof column->title, "%s", column->name);
        for (char *c = column->title; *c != '\0'; c++)
            *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    }
    device->column_count++;
    return 0;
}

/* ---- what is asked for ---- */

/* Without columns, everything in every table of devices, and the processes that use them. */
static int make_request(const struct shown_device *device, vitals_request **out,
                        vitals_error *error)
{
    static const vitals_metric IDENTITY[] = {VITALS_GPU_INDEX,
                                             VITALS_GPU_UUID,
                                             VITALS_GPU_PCI_BUS_ID,
                                             VITALS_GPU_GPU_INSTANCE_ID,
                                             VITALS_GPU_COMPUTE_INSTANCE_ID,
                                             0};
    static const vitals_table SOURCE[] = {VITALS_TABLE_SOURCE, 0};
    static const vitals_metric PROCESS[] = {VITALS_PROCESS_PID,   VITALS_PROCESS_START_SECONDS,
                                            VITALS_PROCESS_NAME,  VITALS_PROCESS_USER,
                                            VITALS_PROCESS_STATE, VITALS_PROCESS_COMMAND_LINE};
    bool everything = device->column_count == 0;
    int code = command_request(IDENTITY, SOURCE, out, error);
    for (size_t i = 0; i < device->column_count && code == 0; i++) {
        vitals_metric metric = device->columns[i].metric;
        if (metric != 0)
            code = vitals_request_add(*out, metric, error);
        if (code == 0 && metric == VITALS_GPU_UTILIZATION_RATIO)
            code = vitals_request_add(*out, VITALS_GPU_BUSY_SECONDS, error);
    }
    for (vitals_table entity = 0;
         everything && code == 0 && (entity = vitals_table_next(entity)) != 0;) {
        if (entity == VITALS_TABLE_GPU || vitals_table_parent(entity) == VITALS_TABLE_GPU)
            code = vitals_request_add_all(*out, entity, error);
    }
    if (everything && code == 0)
        code = command_request_add(*out, PROCESS, ARRAY_COUNT(PROCESS), error);
    if (everything && code == 0)
        code = command_request_add(*out, REPORT_WORK_METRICS, REPORT_WORK_METRIC_COUNT, error);
    if (everything && code == 0)
        code = vitals_request_set_rows(*out, VITALS_ROWS_GPU_USERS, NULL, 0, error);
    return code;
}

/* ---- forms ---- */

/* The named devices in the order of their rows; a partition stands below its device. */
static int print_text(const struct shown_device *device, const vitals_snapshot *now,
                      const vitals_snapshot *older, const struct device_list *list,
                      struct output *output)
{
    const struct device_view view = {device->settings, older,
                                     (size_t)device->settings->look.line_width};
    struct paint paint;
    int code = 0;
    bool first = device->printed == 0;
    paint_init(&paint, device->settings->look.color, output_write, output);
    EACH_ROW(row, now, VITALS_TABLE_GPU) {
        if (!device_list_has(list, row))
            continue;
        if (!first)
            paint_end(&paint);
        first = false;
        code |= device_paint(row, &view, &paint);
    }
    (void)paint_done(&paint);
    return code == 0 ? EXIT_DONE : command_fail(EXIT_CANNOT, "out of memory");
}

static int print_table(struct shown_device *device, const vitals_snapshot *now,
                       const vitals_snapshot *older, const struct device_list *list,
                       struct output *output)
{
    struct grid_form form = {.width = (size_t)device->settings->look.line_width,
                             .titles = !device->settings->table.no_header};
    const struct device_form words = device_form_of(device->settings);
    grid_reset(&device->grid);
    for (size_t i = 0; i < device->column_count; i++) {
        const struct device_column *column = &device->columns[i];
        bool number = column->metric != 0 && vitals_metric_type(column->metric) != VITALS_TEXT;
        grid_column(&device->grid, column->title, number ? ALIGN_RIGHT : ALIGN_LEFT, 0);
    }
    EACH_ROW(row, now, VITALS_TABLE_GPU) {
        for (size_t i = 0; i < device->column_count && device_list_has(list, row); i++) {
            vitals_metric metric = device->columns[i].metric;
            char value[DEVICE_VALUE];
            vitals_availability availability = VITALS_HAVE;
            if (metric == 0)
                snprintf(value, sizeof value, "%s", vitals_row_label(row));
            else
                availability = device_value(row, older, metric, &words, value);
            grid_cell(&device->grid, availability > 0 ? COLOR_PLAIN : COLOR_DIM, value);
        }
    }
    if (grid_least(&device->grid, &form) > form.width)
        form.width = 0; /* devices that were named are not left out */
    return grid_print(&device->grid, &form, device->settings->look.color, device->printed > 0,
                      output);
}

/* Leaves out the rows of devices that were not named, and the processes that do not use a named
 * device. */
struct device_kept {
    const vitals_snapshot *snapshot;
    const struct device_list *list;
};

static bool is_kept(void *data, const vitals_row *row)
{
    const struct device_kept *kept = data;
    vitals_table entity = vitals_row_table(row);
    if (entity == VITALS_TABLE_PROCESS) {
        EACH_ROW(user, kept->snapshot, VITALS_TABLE_GPU_PROCESS) {
            uint64_t own;
            if (vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &own) > 0 &&
                own == vitals_row_key(row) && device_list_has(kept->list, user))
                return true;
        }
        return false;
    }
    if (entity == VITALS_TABLE_GPU || vitals_table_parent(entity) == VITALS_TABLE_GPU)
        return device_list_has(kept->list, row);
    return true;
}

static int print_json(struct shown_device *device, const vitals_snapshot *now,
                      const struct device_list *list, struct output *output)
{
    vitals_error error;
    vitals_snapshot *subset = NULL;
    struct device_kept kept = {now, list};
    const struct snapshot_changes changes = {.keep = is_kept, .data = &kept};
    int code = device->builder != NULL ? 0 : vitals_builder_new(&device->builder, &error);
    if (code == 0)
        code = snapshot_copy(now, &changes, device->builder, &subset, &error);
    code = code == 0 ? command_print_json(subset, output)
                     : command_fail(EXIT_CANNOT, "%s", error.message);
    vitals_snapshot_unref(subset);
    return code;
}

/* Base units; empty if there is no value. */
static void print_csv(const struct shown_device *device, const vitals_snapshot *now,
                      const vitals_snapshot *older, const struct device_list *list,
                      struct output *output)
{
    size_t count = device->column_count;
    bool titles = device->printed == 0 && !device->settings->table.no_header;
    for (size_t i = 0; titles && i < count; i++)
        output_format(output, "%s%s", device->columns[i].name, i + 1 < count ? "," : "\n");
    EACH_ROW(row, now, VITALS_TABLE_GPU) {
        for (size_t i = 0; i < count && device_list_has(list, row); i++) {
            vitals_metric metric = device->columns[i].metric;
            bool is_text = metric == 0 || vitals_metric_type(metric) == VITALS_TEXT;
            char field[DEVICE_VALUE * 2];
            vitals_text text = vitals_text_of(vitals_row_label(row));
            double number;
            if (is_text && (metric == 0 || vitals_row_text(row, metric, &text) > 0)) {
                (void)vitals_text_format(text, VITALS_TEXT_CSV, field, sizeof field);
                output_text(output, field);
            } else if (!is_text && device_metric_number(row, older, metric, &number) > 0) {
                bool whole = number == floor(number) && fabs(number) < 1e16;
                output_format(output, whole ? "%.0f" : "%.15g", number);
            }
            output_text(output, i + 1 < count ? "," : "\n");
        }
    }
}

static int print_one(struct shown_device *device, const vitals_snapshot *now,
                     const vitals_snapshot *older, struct output *output)
{
    const struct settings *settings = device->settings;
    struct device_list list;
    int code = device_list(now, &settings->arguments.words, &list), printed = EXIT_DONE;
    if (settings->look.json)
        printed = print_json(device, now, &list, output);
    else if (settings->table.csv)
        print_csv(device, now, older, &list, output);
    else if (device->column_count == 0)
        printed = print_text(device, now, older, &list, output);
    else if (list.count > 0 || !settings->look.terminal)
        printed = print_table(device, now, older, &list, output);
    if (device->printed == 0 && vitals_snapshot_count(now, VITALS_TABLE_GPU) == 0)
        (void)command_tell_no_devices(now);
    else if (device->printed == 0 && code != EXIT_DONE)
        command_tell_kept(now);
    device->printed++;
    (void)output_flush(output);
    device_list_done(&list);
    return printed != EXIT_DONE ? printed : code;
}

/* ---- once, or again and again ---- */

/* A single output: two readings, because some drivers only count and a share needs two; from a
 * file, the last two. */
static int print_feed(struct shown_device *device, struct feed *feed, struct output *output)
{
    const struct sampling_settings *sampling = &device->settings->sampling;
    const char *from = device->settings->machine.from;
    uint64_t left = sampling->count > 0 ? sampling->count : UINT64_MAX;
    vitals_snapshot *older = NULL, *now = NULL;
    vitals_error error;
    int code = EXIT_DONE, got = 0;
    if (sampling->interval_given) {
        while (left-- > 0 && output_open(output) &&
               (got = command_read_next(feed, &older, &now, &error)) > 0) {
            int result = print_one(device, now, older, output);
            code = device->printed == 1 ? result : code;
        }
    } else {
        got = command_read_first(&device->settings->machine, feed, &older, &now, &error);
        while (from != NULL && got > 0)
            got = command_read_next(feed, &older, &now, &error);
        if (from == NULL && got > 0 && sampling->delay_ns > 0) {
            command_wait_until(clock_now_ns() + sampling->delay_ns);
            got = command_read_next(feed, &older, &now, &error);
        }
        if (got >= 0 && now != NULL)
            code = command_tell_partial(now, print_one(device, now, older, output));
        else if (got >= 0)
            code = command_fail(EXIT_CANNOT, "%s: no snapshot in it", command_safe(from));
    }
    vitals_snapshot_unref(older);
    vitals_snapshot_unref(now);
    return got < 0 ? command_fail(EXIT_CANNOT, "%s", error.message) : code;
}

int command_device(const struct settings *settings)
{
    static struct shown_device device; /* too large for the stack */
    vitals_request *request = NULL;
    vitals_error error;
    struct feed feed = {0};
    bool repeated = settings->sampling.interval_given;
    uint64_t interval_ns = repeated ? settings->sampling.interval_ns : 0;
    const struct settings_words *words = &settings->table.columns;
    const char *word;
    int code = words->given && words->count == 0
                   ? command_fail(
                         EXIT_USAGE,
                         "-o needs the name of a column (vitals metrics lists those of gpu)")
                   : 0;
    device.settings = settings;
    for (size_t i = 0; i < words->count && code == 0; i++)
        code = add_column(&device, words->items[i]);
    bool all = !words->given && settings->table.csv; // CSV without -o has every column
    for (size_t i = 0; all && code == 0 && (word = device_column_word(i)) != NULL; i++)
        code = add_column(&device, word);
    if (code != 0)
        return code;

    int cancel = repeated ? command_interrupts() : -1;
    code = make_request(&device, &request, &error);
    if (code == 0 && interval_ns > 0)
        code = vitals_request_set_interval(request, interval_ns, &error);
    if (code < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    else
        code = command_feed(&settings->machine, request, interval_ns, cancel, &feed);
    vitals_request_free(request);
    if (code == 0) {
        struct output *output = output_begin(STDOUT_FILENO);
        code = output_done(output, print_feed(&device, &feed, output));
        feed_close(&feed);
    }
    grid_done(&device.grid);
    vitals_builder_free(device.builder);
    return code;
}
