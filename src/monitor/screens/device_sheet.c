/* device_sheet.c: see device_sheet.h. */
#include "monitor/screens/device_sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/trouble.h"
#include "monitor/screens/pane.h"
#include "view/canvas.h"
#include "view/cell_text.h"
#include "view/device_metrics.h"

enum { TEXT = DEVICE_VALUE, LIST = 2048 };

#define G(suffix)      VITALS_GPU_##suffix
#define ENGINE(suffix) VITALS_GPU_ENGINE_##suffix
#define SENSOR(suffix) VITALS_GPU_SENSOR_##suffix
#define CLOCK(suffix)  VITALS_GPU_CLOCK_##suffix
#define POOL(suffix)   VITALS_GPU_POOL_##suffix
#define LINK(suffix)   VITALS_GPU_LINK_##suffix
#define ERROR(suffix)  VITALS_GPU_ERROR_##suffix
#define PEER(suffix)   VITALS_GPU_PEER_##suffix

/* ---- lines ---- */

struct device_sheet_writer {
    struct device_sheet *sheet;
    const struct sheet_view *view;
    const char *title; /* of a section that has no line yet; NULL */
    bool failed;
};

void device_sheet_done(struct device_sheet *sheet)
{
    free(sheet->items);
    *sheet = (struct device_sheet){0};
}

static struct fact *add(struct device_sheet_writer *writer)
{
    struct device_sheet *sheet = writer->sheet;
    if (sheet->count == sheet->capacity) {
        size_t capacity = sheet->capacity > 0 ? sheet->capacity * 2 : 64;
        struct fact *items = capacity <= FACTS_MOST
                                 ? realloc(sheet->items, capacity * sizeof *items)
                                 : NULL;
        writer->failed |= items == NULL;
        if (items == NULL)
            return NULL;
        sheet->items = items;
        sheet->capacity = capacity;
    }
    struct fact *fact = &sheet->items[sheet->count++];
    memset(fact, 0, sizeof *fact);
    return fact;
}

/* The part of a text that fits in so many columns; it ends behind a comma, where less than half of
 * them stays empty so, or else behind a blank. */
static size_t fitting(const char *text, int columns)
{
    size_t at = 0, blank = 0, comma = 0;
    int used = 0, wide = 0;
    for (size_t size; (size = canvas_next(text + at, &wide)) > 0 && used + wide <= columns &&
                      at + size < FACT_TEXT;) {
        used += wide;
        at += size;
        if (text[at - 1] == ' ')
            blank = at;
        if (blank == at && at > 1 && text[at - 2] == ',' && used >= columns / 2)
            comma = at;
    }
    if (text[at] == '\0' || blank == 0)
        return at;
    return comma > 0 ? comma : blank;
}

/* A safe text behind its label; what is too long goes on in the next line. */
static void put(struct device_sheet_writer *writer, const char *label, ink style, const char *text)
{
    int room = writer->sheet->columns - FACT_INDENT;
    struct fact *fact;
    if (writer->title != NULL && (fact = add(writer)) != NULL) {
        (void)snprintf(fact->label, sizeof fact->label, "%s", writer->title);
        fact->title = true;
    }
    writer->title = NULL;
    do {
        size_t size = fitting(text, room > 8 ? room : 8);
        if ((fact = add(writer)) == NULL)
            return;
        (void)snprintf(fact->label, sizeof fact->label, "%s", label);
        (void)snprintf(fact->text, sizeof fact->text, "%.*s", (int)size, text);
        fact->style = style;
        label = "";
        text += size;
        if (size == 0)
            return;
    } while (*text != '\0');
}

/* ---- values ---- */

static bool ascii(const struct device_sheet_writer *writer)
{
    return writer->view->model->options->look.ascii;
}

/* "N/A: not yet" */
static void reason_words(vitals_availability reason, char *out)
{
    (void)snprintf(out, WORDS, "N/A: %.40s", vitals_availability_name(reason));
    for (char *c = out; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
}

/* A row's value in words; returns false if there is none. */
static bool value_words(const struct device_sheet_writer *writer, const vitals_row *row,
                        vitals_metric metric, char out[static TEXT])
{
    const struct device_form form = {.ascii = ascii(writer), .compact = true};
    vitals_text text;
    if (vitals_metric_type(metric) == VITALS_TEXT &&
        (vitals_row_text(row, metric, &text) <= 0 || text.size == 0))
        return false;
    return device_value(row, NULL, metric, &form, out) > 0;
}

/* How busy a row has been, or why that is not known. */
static void busy_words(const struct device_sheet_writer *writer, const vitals_row *row,
                       vitals_metric share, char out[static TEXT])
{
    const struct device_form form = {.ascii = ascii(writer), .compact = true};
    if (device_value(row, writer->view->older, share, &form, out) <= 0)
        reason_words(vitals_row_availability(row, share), out);
}

/* Appends ", label value" if there is a value. */
static void append(const struct device_sheet_writer *writer, const vitals_row *row,
                   const char *label, vitals_metric metric, char out[static TEXT])
{
    char value[TEXT];
    size_t used = strlen(out);
    if (value_words(writer, row, metric, value) && used < TEXT)
        (void)snprintf(out + used, TEXT - used, "%s%s%.300s", used > 0 ? ", " : "", label, value);
}

/* ---- the device's own values: a table ---- */

static void put_engines(struct device_sheet_writer *writer);
static void put_pools(struct device_sheet_writer *writer);
static void put_energy(struct device_sheet_writer *writer);
static void put_clocks(struct device_sheet_writer *writer);
static void put_throttle(struct device_sheet_writer *writer);
static void put_sensors(struct device_sheet_writer *writer);
static void put_links(struct device_sheet_writer *writer);
static void put_errors(struct device_sheet_writer *writer);
static void put_parent(struct device_sheet_writer *writer);
static void put_parts(struct device_sheet_writer *writer);
static void put_peers(struct device_sheet_writer *writer);

// clang-format off
/* The sections in their order here; what stands behind their own values. */
static const struct {
    enum device_section section;
    const char *title; /* NULL: that of `vitals device` */
    void (*put[2])(struct device_sheet_writer *writer);
} SECTIONS[] = {
    {DEVICE_LOAD, NULL, {put_engines, NULL}},
    {DEVICE_MEMORY, NULL, {put_pools, NULL}},
    {DEVICE_POWER, NULL, {put_energy, NULL}},
    {DEVICE_CLOCKS, NULL, {put_clocks, put_throttle}},
    {DEVICE_SENSORS, "Heat", {put_sensors, NULL}},
    {DEVICE_PCIE, NULL, {NULL, NULL}},
    {DEVICE_ERRORS, NULL, {put_errors, NULL}},
    {DEVICE_IDENTITY, NULL, {NULL, NULL}},
    {DEVICE_DRIVER, NULL, {NULL, NULL}},
};

/* Sections that are tables alone. */
static const struct {
    const char *title;
    void (*put)(struct device_sheet_writer *writer);
} OTHERS[] = {
    {"Whole device", put_parent}, {"Partitions", put_parts}, {"Links", put_links},
    {"Peers", put_peers},
};
// clang-format on

static void put_entry(struct device_sheet_writer *writer, const struct device_metric *entry)
{
    const vitals_row *gpu = writer->view->gpu;
    const struct device_form form = {.ascii = ascii(writer), .compact = true};
    char text[TEXT], whole[TEXT];
    double part, most;
    vitals_availability state = device_value(gpu, writer->view->older, entry->metric, &form, text);
    if (state <= 0) {
        if (entry->flags & DEVICE_ALWAYS) {
            reason_words(vitals_row_availability(gpu, entry->metric), text);
            put(writer, entry->brief, STYLE_DIM, text);
        }
        return;
    }

    size_t used = strlen(text);
    if (entry->of != 0 && value_words(writer, gpu, entry->of, whole)) {
        used += (size_t)snprintf(text + used, sizeof text - used, " of %.100s", whole);
        if (strcmp(vitals_metric_unit(entry->metric), "") != 0 &&
            cell_value(gpu, entry->metric, &part) && cell_value(gpu, entry->of, &most) && most > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, " (%.0f%%)",
                                     part / most * 100);
    }
    if (vitals_row_availability(gpu, entry->metric) > VITALS_HAVE && used < sizeof text) {
        (void)snprintf(text + used, sizeof text - used, ", %s", vitals_availability_name(state));
        for (char *c = text + used; *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
    }
    bool alarm = (entry->flags & DEVICE_ALARM) && cell_value(gpu, entry->metric, &part) && part > 0;
    put(writer, entry->brief, alarm ? STYLE_TROUBLE : STYLE_PLAIN, text);
}

/* ---- tables ---- */

static const vitals_row *next(const struct device_sheet_writer *writer, vitals_entity entity,
                              const vitals_row *previous)
{
    const vitals_row *gpu = writer->view->gpu;
    return vitals_snapshot_next_child(vitals_row_snapshot(gpu), entity, vitals_row_key(gpu),
                                      previous);
}

static void safe_label(const struct device_sheet_writer *writer, const vitals_row *row,
                       char out[static WORDS])
{
    const char *label = vitals_row_label(row);
    (void)vitals_text_format((vitals_text){label, strlen(label)},
                             ascii(writer) ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out, WORDS);
}

static void put_row(struct device_sheet_writer *writer, const vitals_row *row, const char *text)
{
    char label[WORDS];
    safe_label(writer, row, label);
    if (text[0] != '\0')
        put(writer, label, STYLE_PLAIN, text);
}

static void put_engines(struct device_sheet_writer *writer)
{
    for (const vitals_row *row = NULL; (row = next(writer, VITALS_GPU_ENGINE, row)) != NULL;) {
        char text[TEXT];
        busy_words(writer, row, ENGINE(UTILIZATION_RATIO), text);
        append(writer, row, "of ", ENGINE(CAPACITY), text);
        put_row(writer, row, text);
    }
}

static void put_pools(struct device_sheet_writer *writer)
{
    for (const vitals_row *row = NULL; (row = next(writer, VITALS_GPU_POOL, row)) != NULL;) {
        char text[TEXT] = "", total[TEXT];
        append(writer, row, "", POOL(USED_BYTES), text);
        size_t used = strlen(text);
        if (value_words(writer, row, POOL(TOTAL_BYTES), total))
            (void)snprintf(text + used, sizeof text - used, "%s of %.100s", used == 0 ? "N/A" : "",
                           total);
        put_row(writer, row, text);
    }
}

static void put_energy(struct device_sheet_writer *writer)
{
    char text[TEXT];
    const struct device_form form = {.compact = true};
    if (!writer->view->has_energy)
        return;
    device_number_words(G(ENERGY_JOULES), writer->view->energy_joules, &form, text);
    put(writer, "since opened", STYLE_PLAIN, text);
}

static void put_clocks(struct device_sheet_writer *writer)
{
    for (const vitals_row *row = NULL; (row = next(writer, VITALS_GPU_CLOCK, row)) != NULL;) {
        char text[TEXT] = "", most[TEXT];
        append(writer, row, "", CLOCK(FREQUENCY_HERTZ), text);
        size_t used = strlen(text);
        if (used > 0 && value_words(writer, row, CLOCK(FREQUENCY_MAX_HERTZ), most))
            (void)snprintf(text + used, sizeof text - used, " of %.100s", most);
        append(writer, row, "asked ", CLOCK(FREQUENCY_REQUESTED_HERTZ), text);
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
    put(writer, "held down by",
        any     ? STYLE_TROUBLE
        : known ? STYLE_PLAIN
                : STYLE_DIM,
        any     ? causes
        : known ? "nothing"
                : text);
    text[0] = '\0';
    append(writer, gpu, "", G(THROTTLE_REASONS), text);
    if (text[0] != '\0')
        put(writer, "reasons", STYLE_PLAIN, text);
    text[0] = '\0';
    append(writer, gpu, "power ", G(THROTTLED_POWER_SECONDS), text);
    append(writer, gpu, "heat ", G(THROTTLED_THERMAL_SECONDS), text);
    if (text[0] != '\0')
        put(writer, "so long by", STYLE_PLAIN, text);
}

static void put_sensors(struct device_sheet_writer *writer)
{
    for (const vitals_row *row = NULL; (row = next(writer, VITALS_GPU_SENSOR, row)) != NULL;) {
        char text[TEXT] = "";
        append(writer, row, "", SENSOR(TEMPERATURE_CELSIUS), text);
        append(writer, row, "high ", SENSOR(HIGH_CELSIUS), text);
        append(writer, row, "critical ", SENSOR(CRITICAL_CELSIUS), text);
        append(writer, row, "", SENSOR(FAN_RPM), text);
        append(writer, row, "", SENSOR(FAN_RATIO), text);
        append(writer, row, "", SENSOR(VOLTAGE_VOLTS), text);
        append(writer, row, "", SENSOR(POWER_WATTS), text);
        append(writer, row, "limit ", SENSOR(POWER_LIMIT_WATTS), text);
        put_row(writer, row, text);
    }
}

static void append_rate(const struct device_sheet_writer *writer, const vitals_row *row,
                        const char *label, vitals_metric counter, char out[static TEXT])
{
    double rate = 0;
    char words[WORDS];
    size_t used = strlen(out);
    bool known = writer->view->older != NULL &&
                 vitals_row_rate(row, writer->view->older, counter, &rate) > 0;
    if (!known && vitals_row_availability(row, counter) <= 0)
        return;
    (void)snprintf(out + used, TEXT - used, "%s%s%s", used > 0 ? ", " : "", label,
                   cell_rate(known, rate, words));
}

static void append_count(const struct device_sheet_writer *writer, const vitals_row *row,
                         const char *label, vitals_metric metric, char out[static TEXT])
{
    double count;
    if (cell_value(row, metric, &count) && count > 0)
        append(writer, row, label, metric, out);
}

/* The kind of a link, unless its label begins with it: "nvlink3" is one of NVLink. */
static void append_kind(const struct device_sheet_writer *writer, const vitals_row *row,
                        char out[static TEXT])
{
    vitals_text kind;
    if (vitals_row_text(row, LINK(KIND), &kind) <= 0 ||
        strncmp(vitals_row_label(row), kind.bytes, kind.size) != 0)
        append(writer, row, "", LINK(KIND), out);
}

static void put_links(struct device_sheet_writer *writer)
{
    for (const vitals_row *row = NULL; (row = next(writer, VITALS_GPU_LINK, row)) != NULL;) {
        char text[TEXT] = "";
        double up;
        append_kind(writer, row, text);
        append(writer, row, "version ", LINK(VERSION), text);
        append(writer, row, "to ", LINK(REMOTE_KIND), text);
        append(writer, row, "", LINK(REMOTE_PCI_BUS_ID), text);
        if (cell_value(row, LINK(ACTIVE), &up) && up == 0)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), ", down");
        append(writer, row, "at most ", LINK(SPEED_BYTES_PER_SECOND), text);
        append_rate(writer, row, "in ", LINK(RECEIVED_BYTES), text);
        append_rate(writer, row, "out ", LINK(TRANSMITTED_BYTES), text);
        append_count(writer, row, "replays ", LINK(REPLAY_ERRORS), text);
        append_count(writer, row, "recoveries ", LINK(RECOVERY_ERRORS), text);
        append_count(writer, row, "CRC ", LINK(CRC_ERRORS), text);
        put_row(writer, row, text);
    }
}

static void put_errors(struct device_sheet_writer *writer)
{
    for (const vitals_row *row = NULL; (row = next(writer, VITALS_GPU_ERROR, row)) != NULL;) {
        char text[TEXT] = "";
        append(writer, row, "uncorrected ", ERROR(UNCORRECTED), text);
        append(writer, row, "corrected ", ERROR(CORRECTED), text);
        append(writer, row, "deferred ", ERROR(DEFERRED), text);
        append_count(writer, row, "uncorrected ever ", ERROR(UNCORRECTED_EVER), text);
        append_count(writer, row, "corrected ever ", ERROR(CORRECTED_EVER), text);
        put_row(writer, row, text);
    }
}

/* Values that a partition shares with the others. */
static void put_parent(struct device_sheet_writer *writer)
{
    const vitals_row *gpu = writer->view->gpu;
    const vitals_row *parent = vitals_row_parent(gpu) == 0
                                   ? NULL
                                   : vitals_snapshot_find(vitals_row_snapshot(gpu), VITALS_GPU,
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
    if (text[0] != '\0')
        put(writer, "now", STYLE_PLAIN, text);
}

static void put_parts(struct device_sheet_writer *writer)
{
    for (const vitals_row *row = NULL; (row = next(writer, VITALS_GPU, row)) != NULL;) {
        char text[TEXT] = "", total[TEXT], words[TEXT];
        append(writer, row, "", G(NAME), text);
        append(writer, row, "", G(PARTITION_KIND), text);
        append(writer, row, "", G(MEMORY_USED_BYTES), text);
        size_t used = strlen(text);
        if (value_words(writer, row, G(MEMORY_TOTAL_BYTES), total))
            used += (size_t)snprintf(text + used, sizeof text - used, " of %.100s", total);
        busy_words(writer, row, G(UTILIZATION_RATIO), words);
        if (used < sizeof text)
            (void)snprintf(text + used, sizeof text - used, ", busy %.100s", words);
        append(writer, row, "", G(POWER_WATTS), text);
        put_row(writer, row, text);
    }
}

static void put_peers(struct device_sheet_writer *writer)
{
    for (const vitals_row *row = NULL; (row = next(writer, VITALS_GPU_PEER, row)) != NULL;) {
        char text[TEXT] = "";
        append(writer, row, "", PEER(PATH), text);
        append(writer, row, "", PEER(KIND), text);
        append(writer, row, "", PEER(PEER_PCI_BUS_ID), text);
        append_count(writer, row, "links ", PEER(LINKS), text);
        append(writer, row, "", PEER(LINK_KIND), text);
        put_row(writer, row, text);
    }
}

/* ---- what is not there ---- */

/* The labels of the values that are missing for one reason. Values that were not requested are left
 * out. */
static void put_missing(struct device_sheet_writer *writer, vitals_availability reason)
{
    char text[LIST];
    size_t used = (size_t)snprintf(text, sizeof text, "%s: ", vitals_availability_help(reason));
    bool any = false;
    for (size_t i = 0; i < device_metric_count && used + FACT_LABEL + 2 < sizeof text; i++) {
        double number;
        const struct device_metric *entry = &device_metrics[i];
        if (entry->brief == NULL ||
            vitals_row_availability(writer->view->gpu, entry->metric) != reason ||
            (device_is_number(entry->metric) &&
             device_metric_number(writer->view->gpu, writer->view->older, entry->metric, &number) >
                 0))
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", any ? ", " : "",
                                 entry->brief);
        any = true;
    }
    if (any)
        put(writer, "N/A", STYLE_DIM, text);
}

/* ---- the whole ---- */

bool device_sheet_fill(struct device_sheet *sheet, const struct sheet_view *view, int columns)
{
    struct device_sheet_writer writer = {.sheet = sheet, .view = view};
    sheet->count = 0;
    sheet->columns = columns;
    for (size_t i = 0; i < sizeof SECTIONS / sizeof SECTIONS[0]; i++) {
        enum device_section section = SECTIONS[i].section;
        writer.title = SECTIONS[i].title != NULL ? SECTIONS[i].title
                                                 : device_sections[section].title;
        for (size_t j = 0; j < device_metric_count; j++) {
            if (device_metrics[j].section == section && device_metrics[j].brief != NULL)
                put_entry(&writer, &device_metrics[j]);
        }
        for (size_t j = 0; j < 2 && SECTIONS[i].put[j] != NULL; j++)
            SECTIONS[i].put[j](&writer);
    }
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        writer.title = OTHERS[i].title;
        OTHERS[i].put(&writer);
    }
    writer.title = "Not available";
    for (int reason = VITALS_NOT_YET; reason > VITALS_AVAILABILITY_MIN; reason--)
        put_missing(&writer, (vitals_availability)reason);
    return !writer.failed;
}
