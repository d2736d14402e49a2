/* device_sheet.c: see device_sheet.h. */
#include "monitor/screens/device_sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/trouble.h"
#include "monitor/screens/device_words.h"
#include "monitor/screens/pane.h"
#include "view/canvas.h"
#include "view/cell_text.h"

enum { TEXT = 512, LIST = 2048 };

#define G(suffix)      VITALS_GPU_##suffix
#define ENGINE(suffix) VITALS_GPU_ENGINE_##suffix
#define SENSOR(suffix) VITALS_GPU_SENSOR_##suffix
#define CLOCK(suffix)  VITALS_GPU_CLOCK_##suffix
#define POOL(suffix)   VITALS_GPU_POOL_##suffix
#define LINK(suffix)   VITALS_GPU_LINK_##suffix
#define ERROR(suffix)  VITALS_GPU_ERROR_##suffix
#define PEER(suffix)   VITALS_GPU_PEER_##suffix

/* ---- lines ---- */

struct writer {
    struct device_sheet *sheet;
    const struct device_view *view;
    const char *title; /* of a section that has no line yet; NULL */
    bool failed;
};

void device_sheet_done(struct device_sheet *sheet)
{
    free(sheet->items);
    *sheet = (struct device_sheet){0};
}

static struct fact *add(struct writer *writer)
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
static void put(struct writer *writer, const char *label, ink style, const char *text)
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

static bool ascii(const struct writer *writer)
{
    return writer->view->model->options->look.ascii;
}

/* A row's value in words; false where there is none. */
static bool value_words(const struct writer *writer, const vitals_row *row, vitals_metric metric,
                        char out[static TEXT])
{
    double number;
    vitals_text text;
    if (vitals_metric_type(metric) == VITALS_TEXT) {
        if (vitals_row_text(row, metric, &text) <= 0 || text.size == 0)
            return false;
        (void)cell_text(row, metric, ascii(writer), out, TEXT);
        return true;
    }
    if (!cell_value(row, metric, &number))
        return false;
    (void)unit_words(metric, number, ascii(writer), out);
    return true;
}

bool fact_ratio(const vitals_row *row, const vitals_snapshot *older, vitals_metric share,
                vitals_metric counter, double *out)
{
    return cell_value(row, share, out) ||
           (row != NULL && older != NULL && vitals_row_rate(row, older, counter, out) > 0);
}

/* Appends ", label value" where there is one. */
static void append(const struct writer *writer, const vitals_row *row, const char *label,
                   vitals_metric metric, char out[static TEXT])
{
    char value[TEXT];
    size_t used = strlen(out);
    if (value_words(writer, row, metric, value) && used < TEXT)
        (void)snprintf(out + used, TEXT - used, "%s%s%.300s", used > 0 ? ", " : "", label, value);
}

/* ---- the device's own values: a table ---- */

enum { USUAL, SWITCH, ALARM, ALWAYS };

/* `of`: what it is a part of, or 0. */
struct entry {
    const char *title; /* begins a section; NULL */
    const char *label;
    vitals_metric metric, of;
    int kind;
};

static void put_engines(struct writer *writer);
static void put_pools(struct writer *writer);
static void put_energy(struct writer *writer);
static void put_clocks(struct writer *writer);
static void put_throttle(struct writer *writer);
static void put_sensors(struct writer *writer);
static void put_links(struct writer *writer);
static void put_errors(struct writer *writer);
static void put_parent(struct writer *writer);
static void put_parts(struct writer *writer);
static void put_peers(struct writer *writer);

// One metric, one line; a section's tables follow its lines.
// clang-format off
static const struct entry ENTRIES[] = {
    {"Load", "utilization", G(UTILIZATION_RATIO), 0, ALWAYS},
    {NULL, "memory busy", G(MEMORY_BUSY_RATIO), 0, USUAL},
    {NULL, "SMs active", G(SM_ACTIVE_RATIO), 0, USUAL},
    {NULL, "SM occupancy", G(SM_OCCUPANCY_RATIO), 0, USUAL},
    {NULL, "tensor cores", G(TENSOR_ACTIVE_RATIO), 0, USUAL},
    {NULL, "bandwidth", G(MEMORY_BANDWIDTH_RATIO), 0, USUAL},
    {NULL, "busy in all", G(BUSY_SECONDS), 0, USUAL},
    {NULL, "processes", G(PROCESSES), 0, USUAL},
    {NULL, "runtime", G(RUNTIME_STATUS), 0, USUAL},
    {NULL, "asleep in all", G(IDLE_RESIDENCY_SECONDS), 0, USUAL},
    {"Memory", "used", G(MEMORY_USED_BYTES), G(MEMORY_TOTAL_BYTES), ALWAYS},
    {NULL, "free", G(MEMORY_FREE_BYTES), 0, USUAL},
    {NULL, "reserved", G(MEMORY_RESERVED_BYTES), 0, USUAL},
    {NULL, "bus bits", G(MEMORY_BUS_BITS), 0, USUAL},
    {NULL, "unified", G(UNIFIED_MEMORY), 0, SWITCH},
    {"Power", "now", G(POWER_WATTS), G(POWER_LIMIT_WATTS), ALWAYS},
    {NULL, "limit set", G(POWER_LIMIT_SET_WATTS), 0, USUAL},
    {NULL, "limit usual", G(POWER_LIMIT_DEFAULT_WATTS), 0, USUAL},
    {NULL, "limit from", G(POWER_LIMIT_MIN_WATTS), 0, USUAL},
    {NULL, "limit up to", G(POWER_LIMIT_MAX_WATTS), 0, USUAL},
    {NULL, "energy", G(ENERGY_JOULES), 0, ALWAYS},
    {"Clocks", "state", G(PERFORMANCE_STATE), 0, USUAL},
    {NULL, "level", G(PERFORMANCE_LEVEL), 0, USUAL},
    {"Heat", "core", G(TEMPERATURE_CELSIUS), 0, ALWAYS},
    {NULL, "fan", G(FAN_RATIO), 0, USUAL},
    {"PCI Express", "generation", G(PCIE_GENERATION), G(PCIE_GENERATION_MAX), USUAL},
    {NULL, "lanes", G(PCIE_WIDTH), G(PCIE_WIDTH_MAX), USUAL},
    {NULL, "received", G(PCIE_RECEIVED_BYTES_PER_SECOND), 0, ALWAYS},
    {NULL, "sent", G(PCIE_TRANSMITTED_BYTES_PER_SECOND), 0, ALWAYS},
    {NULL, "replays", G(PCIE_REPLAYS), 0, USUAL},
    {"Errors", "ECC", G(ECC_MODE), 0, SWITCH},
    {NULL, "uncorrected", G(ECC_ERRORS_UNCORRECTED), 0, ALARM},
    {NULL, "corrected", G(ECC_ERRORS_CORRECTED), 0, USUAL},
    {NULL, "uncorr. ever", G(ECC_ERRORS_UNCORRECTED_EVER), 0, USUAL},
    {NULL, "corr. ever", G(ECC_ERRORS_CORRECTED_EVER), 0, USUAL},
    {NULL, "retired", G(RETIRED_PAGES_UNCORRECTED), 0, USUAL},
    {NULL, "retired corr.", G(RETIRED_PAGES_CORRECTED), 0, USUAL},
    {NULL, "to be retired", G(RETIRED_PAGES_PENDING), 0, ALARM},
    {NULL, "remapped", G(REMAPPED_ROWS_UNCORRECTED), 0, USUAL},
    {NULL, "remapped corr.", G(REMAPPED_ROWS_CORRECTED), 0, USUAL},
    {NULL, "to be remapped", G(REMAPPED_ROWS_PENDING), 0, ALARM},
    {NULL, "remap failed", G(REMAPPED_ROWS_FAILED), 0, ALARM},
    {NULL, "Xid errors", G(XID_ERRORS), 0, ALARM},
    {NULL, "newest Xid", G(XID_LAST), 0, USUAL},
    {"Identity", "UUID", G(UUID), 0, USUAL},
    {NULL, "vendor", G(VENDOR), 0, USUAL},
    {NULL, "PCI", G(PCI_BUS_ID), 0, USUAL},
    {NULL, "node", G(DEVICE_NODE), 0, USUAL},
    {NULL, "driver", G(DRIVER_VERSION), 0, USUAL},
    {NULL, "kernel driver", G(KERNEL_DRIVER), 0, USUAL},
    {NULL, "CUDA", G(CUDA_VERSION), 0, USUAL},
    {NULL, "firmware", G(VBIOS_VERSION), 0, USUAL},
    {NULL, "serial", G(SERIAL), 0, USUAL},
    {NULL, "board", G(BOARD_PART_NUMBER), 0, USUAL},
    {NULL, "architecture", G(ARCHITECTURE), 0, USUAL},
    {NULL, "capability", G(COMPUTE_CAPABILITY), 0, USUAL},
    {NULL, "processors", G(MULTIPROCESSORS), 0, USUAL},
    {NULL, "kind", G(PARTITION_KIND), 0, USUAL},
    {NULL, "GPU instance", G(GPU_INSTANCE_ID), 0, USUAL},
    {NULL, "compute inst.", G(COMPUTE_INSTANCE_ID), 0, USUAL},
    {NULL, "compute part.", G(COMPUTE_PARTITION), 0, USUAL},
    {NULL, "memory part.", G(MEMORY_PARTITION), 0, USUAL},
    {NULL, "NUMA node", G(NUMA_NODE), 0, USUAL},
    {NULL, "nearest CPUs", G(LOCAL_CPUS), 0, USUAL},
    {NULL, "persistence", G(PERSISTENCE_MODE), 0, SWITCH},
    {NULL, "compute mode", G(COMPUTE_MODE), 0, USUAL},
    {NULL, "MIG", G(MIG_MODE), 0, SWITCH},
    {NULL, "MIG next", G(MIG_MODE_PENDING), 0, SWITCH},
    {NULL, "display", G(DISPLAY_ACTIVE), 0, SWITCH},
};
enum { ENTRIES_COUNT = sizeof ENTRIES / sizeof ENTRIES[0] };

/* What stands behind a section's own values. */
static const struct {
    const char *title;
    void (*put)(struct writer *writer);
} TABLES[] = {
    {"Load", put_engines}, {"Memory", put_pools}, {"Power", put_energy}, {"Clocks", put_clocks},
    {"Clocks", put_throttle}, {"Heat", put_sensors}, {"Errors", put_errors},
};

/* Sections that are tables alone. */
static const struct {
    const char *title;
    void (*put)(struct writer *writer);
} OTHERS[] = {
    {"Whole device", put_parent}, {"Partitions", put_parts}, {"Links", put_links},
    {"Peers", put_peers},
};
// clang-format on

/* "N/A: not yet" */
static void reason_words(vitals_availability reason, char *out)
{
    (void)snprintf(out, WORDS, "N/A: %.40s", vitals_availability_name(reason));
    for (char *c = out; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
}

static ink entry_style(const struct writer *writer, const struct entry *entry)
{
    double number;
    bool alarm = entry->kind == ALARM && cell_value(writer->view->gpu, entry->metric, &number) &&
                 number > 0;
    return alarm ? STYLE_TROUBLE : STYLE_PLAIN;
}

static void put_entry(struct writer *writer, const struct entry *entry)
{
    const vitals_row *gpu = writer->view->gpu;
    char text[TEXT], whole[TEXT];
    double part, most, ratio;
    bool known = value_words(writer, gpu, entry->metric, text);
    if (!known && entry->metric == G(UTILIZATION_RATIO) &&
        fact_ratio(gpu, writer->view->older, entry->metric, G(BUSY_SECONDS), &ratio)) {
        (void)unit_words(G(UTILIZATION_RATIO), ratio, false, text);
        known = true;
    }
    if (!known && entry->kind != ALWAYS)
        return;
    if (!known)
        reason_words(vitals_row_availability(gpu, entry->metric), text);
    else if (entry->kind == SWITCH)
        (void)cell_on_off(gpu, entry->metric, text);
    else if (entry->of != 0 && value_words(writer, gpu, entry->of, whole)) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, " of %.100s", whole);
        used = strlen(text);
        if (strcmp(vitals_metric_unit(entry->metric), "") != 0 &&
            cell_value(gpu, entry->metric, &part) && cell_value(gpu, entry->of, &most) && most > 0)
            (void)snprintf(text + used, sizeof text - used, " (%.0f%%)", part / most * 100);
    }
    vitals_availability state = vitals_row_availability(gpu, entry->metric);
    if (known && state > VITALS_HAVE) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, ", %s", vitals_availability_name(state));
        for (char *c = text + used; *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
    }
    put(writer, entry->label, known ? entry_style(writer, entry) : STYLE_DIM, text);
}

/* ---- tables ---- */

static const vitals_row *next(const struct writer *writer, vitals_entity entity,
                              const vitals_row *previous)
{
    const vitals_row *gpu = writer->view->gpu;
    return vitals_snapshot_next_child(vitals_row_snapshot(gpu), entity, vitals_row_key(gpu),
                                      previous);
}

static void safe_label(const struct writer *writer, const vitals_row *row, char out[static WORDS])
{
    const char *label = vitals_row_label(row);
    (void)vitals_text_format((vitals_text){label, strlen(label)},
                             ascii(writer) ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out, WORDS);
}

static void put_row(struct writer *writer, const vitals_row *row, const char *text)
{
    char label[WORDS];
    safe_label(writer, row, label);
    if (text[0] != '\0')
        put(writer, label, STYLE_PLAIN, text);
}

static void put_engines(struct writer *writer)
{
    for (const vitals_row *row = NULL; (row = next(writer, VITALS_GPU_ENGINE, row)) != NULL;) {
        char text[TEXT] = "";
        double ratio;
        if (fact_ratio(row, writer->view->older, ENGINE(UTILIZATION_RATIO), ENGINE(BUSY_SECONDS),
                       &ratio))
            (void)unit_words(G(UTILIZATION_RATIO), ratio, false, text);
        else
            reason_words(vitals_row_availability(row, ENGINE(UTILIZATION_RATIO)), text);
        append(writer, row, "of ", ENGINE(CAPACITY), text);
        put_row(writer, row, text);
    }
}

static void put_pools(struct writer *writer)
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

static void put_energy(struct writer *writer)
{
    char text[WORDS];
    if (!writer->view->has_energy)
        return;
    (void)unit_words(G(ENERGY_JOULES), writer->view->energy_joules, false, text);
    put(writer, "since opened", STYLE_PLAIN, text);
}

static void put_clocks(struct writer *writer)
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

/* What holds the clocks down, in one line; nothing, only where every cause is known. */
static void put_throttle(struct writer *writer)
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

static void put_sensors(struct writer *writer)
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

static void append_rate(const struct writer *writer, const vitals_row *row, const char *label,
                        vitals_metric counter, char out[static TEXT])
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

static void append_count(const struct writer *writer, const vitals_row *row, const char *label,
                         vitals_metric metric, char out[static TEXT])
{
    double count;
    if (cell_value(row, metric, &count) && count > 0)
        append(writer, row, label, metric, out);
}

/* What kind a link is, unless its label begins with that: "nvlink3" is one of NVLink. */
static void append_kind(const struct writer *writer, const vitals_row *row, char out[static TEXT])
{
    vitals_text kind;
    if (vitals_row_text(row, LINK(KIND), &kind) <= 0 ||
        strncmp(vitals_row_label(row), kind.bytes, kind.size) != 0)
        append(writer, row, "", LINK(KIND), out);
}

static void put_links(struct writer *writer)
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

static void put_errors(struct writer *writer)
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

/* What a partition shares with the others. */
static void put_parent(struct writer *writer)
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

static void put_parts(struct writer *writer)
{
    for (const vitals_row *row = NULL; (row = next(writer, VITALS_GPU, row)) != NULL;) {
        char text[TEXT] = "", total[TEXT], words[WORDS];
        double ratio;
        append(writer, row, "", G(NAME), text);
        append(writer, row, "", G(PARTITION_KIND), text);
        append(writer, row, "", G(MEMORY_USED_BYTES), text);
        size_t used = strlen(text);
        if (value_words(writer, row, G(MEMORY_TOTAL_BYTES), total))
            used += (size_t)snprintf(text + used, sizeof text - used, " of %.100s", total);
        if (fact_ratio(row, writer->view->older, G(UTILIZATION_RATIO), G(BUSY_SECONDS), &ratio))
            (void)unit_words(G(UTILIZATION_RATIO), ratio, false, words);
        else
            reason_words(vitals_row_availability(row, G(UTILIZATION_RATIO)), words);
        if (used < sizeof text)
            (void)snprintf(text + used, sizeof text - used, ", busy %s", words);
        append(writer, row, "", G(POWER_WATTS), text);
        put_row(writer, row, text);
    }
}

static void put_peers(struct writer *writer)
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

/* The labels of what is missing for one reason. Of what nobody asked for nothing is known. */
static void put_missing(struct writer *writer, vitals_availability reason)
{
    char text[LIST];
    size_t used = (size_t)snprintf(text, sizeof text, "%s: ", vitals_availability_help(reason));
    bool any = false;
    for (size_t i = 0; i < ENTRIES_COUNT && used + FACT_LABEL + 2 < sizeof text; i++) {
        double number;
        const struct entry *entry = &ENTRIES[i];
        if (vitals_row_availability(writer->view->gpu, entry->metric) != reason ||
            (entry->metric == G(UTILIZATION_RATIO) &&
             fact_ratio(writer->view->gpu, writer->view->older, entry->metric, G(BUSY_SECONDS),
                        &number)))
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", any ? ", " : "",
                                 entry->label);
        any = true;
    }
    if (any)
        put(writer, "N/A", STYLE_DIM, text);
}

/* ---- the whole ---- */

static void put_tables(struct writer *writer, const char *title)
{
    for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
        if (strcmp(TABLES[i].title, title) == 0)
            TABLES[i].put(writer);
    }
}

bool device_sheet_fill(struct device_sheet *sheet, const struct device_view *view, int columns)
{
    struct writer writer = {.sheet = sheet, .view = view};
    const char *title = NULL;
    sheet->count = 0;
    sheet->columns = columns;
    for (size_t i = 0; i < ENTRIES_COUNT; i++) {
        if (ENTRIES[i].title != NULL)
            writer.title = title = ENTRIES[i].title;
        put_entry(&writer, &ENTRIES[i]);
        if (i + 1 == ENTRIES_COUNT || ENTRIES[i + 1].title != NULL)
            put_tables(&writer, title);
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
