/* device_sheet.c: see device_sheet.h. */
#include "monitor/screens/device_sheet.h"

#include <stdio.h>
#include <string.h>

#include "feed/rows.h"
#include "feed/trouble.h"
#include "monitor/screens/pane.h"
#include "util/memory.h"
#include "view/canvas.h"
#include "view/cell_text.h"
#include "view/device_metrics.h"

enum { TEXT = DEVICE_VALUE, LIST = 2048 };

#define G(suffix) VITALS_GPU_##suffix

struct device_sheet_writer {
    struct device_sheet *sheet;
    const struct sheet_view *view;
    struct device_form form;
    const char *title; /* of a section that has no line yet; NULL */
    bool failed;
};

void device_sheet_done(struct device_sheet *sheet)
{
    memory_free(sheet->items);
    *sheet = (struct device_sheet){0};
}

static struct fact *add(struct device_sheet_writer *writer)
{
    struct device_sheet *sheet = writer->sheet;
    if (sheet->count == FACTS_MOST ||
        MEMORY_GROW(sheet->items, sheet->capacity, sheet->count) < 0) {
        writer->failed = true;
        return NULL;
    }
    struct fact *fact = &sheet->items[sheet->count++];
    memset(fact, 0, sizeof *fact);
    return fact;
}

/* Adds a safe text behind its label. A text that is too long is broken behind a comma if that
 * leaves less than half of the line empty, else behind a blank. */
static void put(struct device_sheet_writer *writer, const char *label, ink style, const char *text)
{
    int room = writer->sheet->columns - FACT_INDENT;
    struct fact *fact;
    room = room > 8 ? room : 8;
    if (text[0] == '\0')
        return;
    if (writer->title != NULL && (fact = add(writer)) != NULL) {
        (void)snprintf(fact->label, sizeof fact->label, "%s", writer->title);
        fact->title = true;
    }
    writer->title = NULL;
    do {
        size_t at = 0, blank = 0, comma = 0;
        int used = 0, wide = 0;
        for (size_t size; (size = canvas_next(text + at, &wide)) > 0 && used + wide <= room &&
                          at + size < FACT_TEXT;) {
            used += wide;
            at += size;
            if (text[at - 1] == ' ')
                blank = at;
            if (blank == at && at > 1 && text[at - 2] == ',' && used >= room / 2)
                comma = at;
        }
        if (text[at] != '\0' && blank > 0)
            at = comma > 0 ? comma : blank;
        if ((fact = add(writer)) == NULL)
            return;
        (void)snprintf(fact->label, sizeof fact->label, "%s", label);
        (void)snprintf(fact->text, sizeof fact->text, "%.*s", (int)at, text);
        fact->style = style;
        label = "";
        text += at;
        if (at == 0)
            return;
    } while (*text != '\0');
}

static void blank_underlines(char *text)
{
    for (; *text != '\0'; text++)
        *text = *text == '_' ? ' ' : *text;
}

/* "N/A: not yet" */
static void reason_words(vitals_availability reason, char *out)
{
    (void)snprintf(out, WORDS, "N/A: %.40s", vitals_availability_name(reason));
    blank_underlines(out);
}

/* A row's value in words; returns false if there is none. */
static bool value_words(const struct device_sheet_writer *writer, const vitals_row *row,
                        vitals_metric metric, char out[static TEXT])
{
    vitals_text text;
    if (vitals_metric_type(metric) == VITALS_TEXT &&
        (vitals_row_text(row, metric, &text) <= 0 || text.size == 0))
        return false;
    return device_value(row, NULL, metric, &writer->form, out) > 0;
}

/* Appends ", label value" if there is a value. */
static void append(const struct device_sheet_writer *writer, const vitals_row *row,
                   const char *label, vitals_metric metric, char out[static TEXT])
{
    char value[TEXT];
    if (value_words(writer, row, metric, value))
        cell_add(out, TEXT, "%s%s%.300s", out[0] != '\0' ? ", " : "", label, value);
}

static void put_entry(struct device_sheet_writer *writer, const struct device_metric *entry)
{
    const vitals_row *gpu = writer->view->gpu;
    char text[TEXT], whole[TEXT];
    double part, most;
    vitals_availability state = device_value(gpu, writer->view->older, entry->metric, &writer->form,
                                             text);
    if (state <= 0 && !(entry->flags & DEVICE_ALWAYS))
        return;
    if (state <= 0) {
        reason_words(vitals_row_availability(gpu, entry->metric), text);
        put(writer, entry->brief, INK_SOFT, text);
        return;
    }

    if (entry->of != 0 && value_words(writer, gpu, entry->of, whole)) {
        cell_add(text, sizeof text, " of %.100s", whole);
        if (strcmp(vitals_metric_unit(entry->metric), "") != 0 &&
            cell_value(gpu, entry->metric, &part) && cell_value(gpu, entry->of, &most) && most > 0)
            cell_add(text, sizeof text, " (%.0f%%)", part / most * 100);
    }
    if (vitals_row_availability(gpu, entry->metric) > VITALS_HAVE) {
        size_t used = strlen(text);
        cell_add(text, sizeof text, ", %s", vitals_availability_name(state));
        blank_underlines(text + used);
    }
    bool alarm = (entry->flags & DEVICE_ALARM) && cell_value(gpu, entry->metric, &part) && part > 0;
    put(writer, entry->brief, alarm ? INK_TROUBLE : STYLE_PLAIN, text);
}

/* How a value of a row stands in its line: behind ", " and its label, or as said. */
enum sheet_how {
    AS_VALUE,
    AS_WHOLE, /* " of 16GiB", behind N/A if nothing stands before it */
    AS_MOST,  /* the same only behind a value */
    AS_SHARE, /* how busy the row has been, or why that is not known */
    AS_RATE,  /* of a counter */
    AS_COUNT, /* left out at 0 */
    AS_KIND,  /* left out if the row's label begins with it: "nvlink3" */
    AS_DOWN   /* a word at 0 */
};

// clang-format off
static const struct sheet_cell {
    const char *label;
    vitals_metric metric;
    enum sheet_how how;
} CELLS[] = {
    {"", G(ENGINE_UTILIZATION_RATIO), AS_SHARE}, {"of ", G(ENGINE_CAPACITY), AS_VALUE},
    {"", G(POOL_USED_BYTES), AS_VALUE}, {"", G(POOL_TOTAL_BYTES), AS_WHOLE},
    {"", G(CLOCK_FREQUENCY_HERTZ), AS_VALUE}, {"", G(CLOCK_FREQUENCY_MAX_HERTZ), AS_MOST},
    {"asked ", G(CLOCK_FREQUENCY_REQUESTED_HERTZ), AS_VALUE},

    {"", G(SENSOR_TEMPERATURE_CELSIUS), AS_VALUE}, {"high ", G(SENSOR_HIGH_CELSIUS), AS_VALUE},
    {"critical ", G(SENSOR_CRITICAL_CELSIUS), AS_VALUE}, {"", G(SENSOR_FAN_RPM), AS_VALUE},
    {"", G(SENSOR_FAN_RATIO), AS_VALUE}, {"", G(SENSOR_VOLTAGE_VOLTS), AS_VALUE},
    {"", G(SENSOR_POWER_WATTS), AS_VALUE}, {"limit ", G(SENSOR_POWER_LIMIT_WATTS), AS_VALUE},

    {"", G(LINK_KIND), AS_KIND}, {"version ", G(LINK_VERSION), AS_VALUE},
    {"to ", G(LINK_REMOTE_KIND), AS_VALUE}, {"", G(LINK_REMOTE_PCI_BUS_ID), AS_VALUE},
    {"down", G(LINK_ACTIVE), AS_DOWN}, {"at most ", G(LINK_SPEED_BYTES_PER_SECOND), AS_VALUE},
    {"in ", G(LINK_RECEIVED_BYTES), AS_RATE}, {"out ", G(LINK_TRANSMITTED_BYTES), AS_RATE},
    {"replays ", G(LINK_REPLAY_ERRORS), AS_COUNT},
    {"recoveries ", G(LINK_RECOVERY_ERRORS), AS_COUNT}, {"CRC ", G(LINK_CRC_ERRORS), AS_COUNT},

    {"uncorrected ", G(ERROR_UNCORRECTED), AS_VALUE}, {"corrected ", G(ERROR_CORRECTED), AS_VALUE},
    {"deferred ", G(ERROR_DEFERRED), AS_VALUE},
    {"uncorrected ever ", G(ERROR_UNCORRECTED_EVER), AS_COUNT},
    {"corrected ever ", G(ERROR_CORRECTED_EVER), AS_COUNT},

    {"", G(NAME), AS_VALUE}, {"", G(PARTITION_KIND), AS_VALUE},
    {"", G(MEMORY_USED_BYTES), AS_VALUE}, {"", G(MEMORY_TOTAL_BYTES), AS_WHOLE},
    {"busy ", G(UTILIZATION_RATIO), AS_SHARE}, {"", G(POWER_WATTS), AS_VALUE},

    {"", G(PEER_PATH), AS_VALUE}, {"", G(PEER_KIND), AS_VALUE},
    {"", G(PEER_PEER_PCI_BUS_ID), AS_VALUE}, {"links ", G(PEER_LINKS), AS_COUNT},
    {"", G(PEER_LINK_KIND), AS_VALUE},
};
// clang-format on

static void append_cell(const struct device_sheet_writer *writer, const vitals_row *row,
                        const struct sheet_cell *cell, char out[static TEXT])
{
    const vitals_snapshot *older = writer->view->older;
    bool first = out[0] == '\0';
    char value[TEXT] = "";
    double number = 0;
    vitals_text kind;
    bool known = cell_value(row, cell->metric, &number);
    if ((cell->how == AS_DOWN && (!known || number != 0)) ||
        (cell->how == AS_COUNT && number <= 0) ||
        (cell->how == AS_KIND && vitals_row_text(row, cell->metric, &kind) > 0 &&
         strncmp(vitals_row_label(row), kind.bytes, kind.size) == 0))
        return;
    switch (cell->how) {
    case AS_WHOLE:
    case AS_MOST:
        if (value_words(writer, row, cell->metric, value) && (!first || cell->how == AS_WHOLE))
            cell_add(out, TEXT, "%s of %.100s", first ? "N/A" : "", value);
        return;
    case AS_SHARE:
        if (device_value(row, older, cell->metric, &writer->form, value) <= 0)
            reason_words(vitals_row_availability(row, cell->metric), value);
        break;
    case AS_RATE:
        if (older != NULL && vitals_row_rate(row, older, cell->metric, &number) > 0)
            (void)cell_rate(true, number, value);
        else if (known)
            (void)cell_not_available(value);
        else
            return;
        break;
    case AS_DOWN: break;
    case AS_KIND:
    case AS_COUNT:
    case AS_VALUE: append(writer, row, cell->label, cell->metric, out); return;
    }
    cell_add(out, TEXT, "%s%s%.300s", first ? "" : ", ", cell->label, value);
}

static void put_row(struct device_sheet_writer *writer, const vitals_row *row, const char *text)
{
    char label[WORDS];
    put(writer,
        cell_safe(vitals_text_of(vitals_row_label(row)), writer->form.ascii, label, sizeof label),
        STYLE_PLAIN, text);
}

static void put_table(struct device_sheet_writer *writer, vitals_table table)
{
    const vitals_row *gpu = writer->view->gpu;
    const vitals_snapshot *now = vitals_row_snapshot(gpu);
    EACH_CHILD(row, now, table, vitals_row_key(gpu)) {
        char text[TEXT] = "";
        for (size_t i = 0; i < ARRAY_COUNT(CELLS); i++) {
            if (vitals_metric_table(CELLS[i].metric) == table)
                append_cell(writer, row, &CELLS[i], text);
        }
        put_row(writer, row, text);
    }
}

/* The causes of throttling in one line; "nothing" only if every cause is known. */
static void put_throttle(struct device_sheet_writer *writer)
{
    const vitals_row *gpu = writer->view->gpu;
    char text[TEXT] = "", causes[TROUBLE_WORDS];
    vitals_availability reason;
    bool known = trouble_throttle(gpu, causes, &reason), any = causes[0] != '\0';
    if (!any && !known)
        reason_words(reason, text);
    put(writer, "throttled by",
        any && pane_device_is_ill(gpu) ? INK_TROUBLE
        : any                          ? INK_NOTICE
        : known                        ? STYLE_PLAIN
                                       : INK_SOFT,
        any     ? causes
        : known ? "nothing"
                : text);
    text[0] = '\0';
    append(writer, gpu, "", G(THROTTLE_REASONS), text);
    put(writer, "reasons", STYLE_PLAIN, text);
    text[0] = '\0';
    append(writer, gpu, "power ", G(THROTTLED_POWER_SECONDS), text);
    append(writer, gpu, "heat ", G(THROTTLED_THERMAL_SECONDS), text);
    put(writer, "so long by", STYLE_PLAIN, text);
}

/* Values that a partition shares with the others. */
static void put_parent(struct device_sheet_writer *writer)
{
    const vitals_row *gpu = writer->view->gpu;
    const vitals_row *parent = vitals_snapshot_find(vitals_row_snapshot(gpu), VITALS_TABLE_GPU,
                                                    vitals_row_parent(gpu));
    char text[TEXT] = "";
    if (parent == NULL)
        return;
    append(writer, parent, "", G(NAME), text);
    append(writer, parent, "", G(PCI_BUS_ID), text);
    put_row(writer, parent, text);
    text[0] = '\0';
    append(writer, parent, "", G(UTILIZATION_RATIO), text);
    append(writer, parent, "", G(POWER_WATTS), text);
    append(writer, parent, "limit ", G(POWER_LIMIT_WATTS), text);
    append(writer, parent, "", G(TEMPERATURE_CELSIUS), text);
    append(writer, parent, "fan ", G(FAN_RATIO), text);
    append(writer, parent, "used ", G(MEMORY_USED_BYTES), text);
    put(writer, "now", STYLE_PLAIN, text);
}

/* The sections in their order here. */
static const struct {
    enum device_section section; /* DEVICE_SECTIONS: none */
    const char *title;           /* NULL: that of `vitals device`, as its table */
    vitals_table table;
} SECTIONS[] = {
    {DEVICE_CLOCKS, NULL, 0},
    {DEVICE_LOAD, NULL, 0},
    {DEVICE_MEMORY, NULL, 0},
    {DEVICE_POWER, NULL, 0},
    {DEVICE_SENSORS, "Heat", VITALS_TABLE_GPU_SENSOR},
    {DEVICE_PCIE, NULL, 0},
    {DEVICE_ERRORS, NULL, 0},
    {DEVICE_IDENTITY, NULL, 0},
    {DEVICE_DRIVER, NULL, 0},
    {DEVICE_SECTIONS, "Whole device", 0},
    {DEVICE_SECTIONS, "Partitions", VITALS_TABLE_GPU},
    {DEVICE_LINKS, NULL, 0},
    {DEVICE_SECTIONS, "Peers", VITALS_TABLE_GPU_PEER},
};

bool device_sheet_fill(struct device_sheet *sheet, const struct sheet_view *view, int columns)
{
    struct device_sheet_writer writer = {.sheet = sheet, .view = view};
    writer.form = (struct device_form){.ascii = view->model->options->look.ascii, .compact = true};
    sheet->count = 0;
    sheet->columns = columns;
    for (size_t place = 0; place < ARRAY_COUNT(SECTIONS); place++) {
        size_t i = place < 2 && view->load_first ? 1 - place : place;
        enum device_section section = SECTIONS[i].section;
        bool shared = SECTIONS[i].title == NULL;
        writer.title = shared ? device_sections[section].title : SECTIONS[i].title;
        for (size_t j = 0; j < device_metric_count; j++) {
            if (device_metrics[j].section == section && device_metrics[j].brief != NULL)
                put_entry(&writer, &device_metrics[j]);
        }
        put_table(&writer, shared ? device_sections[section].table : SECTIONS[i].table);
        if (section == DEVICE_CLOCKS)
            put_throttle(&writer);
        if (section == DEVICE_SECTIONS && SECTIONS[i].table == 0)
            put_parent(&writer);
        if (section == DEVICE_POWER && view->has_energy) {
            char text[TEXT];
            device_number_words(G(ENERGY_JOULES), view->energy_joules, &writer.form, text);
            put(&writer, "since opened", STYLE_PLAIN, text);
        }
    }

    /* The labels of the values that are missing, by reason. Values that were not requested are left
     * out. */
    writer.title = "Not available";
    for (int reason = VITALS_NOT_YET; reason > VITALS_AVAILABILITY_MIN; reason--) {
        char text[LIST];
        size_t begin = (size_t)snprintf(
            text, sizeof text, "%s: ", vitals_availability_help((vitals_availability)reason));
        for (size_t i = 0; i < device_metric_count; i++) {
            double number;
            const struct device_metric *entry = &device_metrics[i];
            if (entry->brief == NULL ||
                vitals_row_availability(view->gpu, entry->metric) != reason ||
                device_metric_number(view->gpu, view->older, entry->metric, &number) > 0)
                continue;
            cell_add(text, sizeof text, "%s%s", text[begin] != '\0' ? ", " : "", entry->brief);
        }
        if (text[begin] != '\0')
            put(&writer, "N/A", INK_SOFT, text);
    }
    return !writer.failed;
}
