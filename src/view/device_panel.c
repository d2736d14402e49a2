/* device_panel.c: a box with two lines for each device, or one; bars beside them if there is room;
 * below 79 columns one line with fewer columns.
 *
 * The columns are those of nvidia-smi, which users know. */
#include "view/device_panel.h"

#include <stdio.h>
#include <string.h>

#include "feed/trouble.h"
#include "view/cell_text.h"

enum { CELL_LEFT = 31, CELL_MIDDLE = 22, NOTE = 10, NAME = 256, LINE = NAME + 2 * WORDS + 32 };

/* A row of the panel that is being drawn. */
struct device_panel_place {
    struct pen *pen;
    const struct device_panel *panel;
    int y;
    int first, second; /* columns inside the boxes of bars; 0: there is none */
};

/* Words about a device in place of what its cell usually says. */
struct note {
    char text[TROUBLE_WORDS];
    ink style;
};

static bool ascii(const struct device_panel_place *place)
{
    return place->pen->look->ascii;
}

/* ---- geometry ---- */

static bool is_narrow(const struct device_panel *panel)
{
    return panel->width < NARROW;
}

static void split_bars(const struct device_panel *panel, int *first, int *second)
{
    int inside = panel->width - NARROW - 1;
    *first = *second = 0;
    if (panel->width < WIDE)
        return;
    *first = panel->width < WIDEST ? inside : (inside - 1) / 2;
    *second = panel->width < WIDEST ? 0 : inside - 1 - *first;
}

static void edges_of(const struct device_panel *panel, bool split, struct edges *edges)
{
    int first, second;
    split_bars(panel, &first, &second);
    if (is_narrow(panel)) {
        *edges = (struct edges){{0, panel->width - 1}, 2};
        return;
    }
    *edges = (struct edges){{0, CELL_LEFT + 1, CELL_LEFT + CELL_MIDDLE + 2, NARROW - 1}, 4};
    if (first > 0 && split && second > 0)
        edges->at[edges->count++] = NARROW + first;
    if (first > 0)
        edges->at[edges->count++] = panel->width - 1;
}

static void title_edges(const struct device_panel *panel, struct edges *edges)
{
    *edges = (struct edges){{0, is_narrow(panel) ? panel->width - 1 : NARROW - 1}, 2};
}

const vitals_row *device_panel_next(const struct device_panel *panel, const vitals_row *previous)
{
    if (panel->now == NULL)
        return NULL;
    do {
        previous = vitals_snapshot_next(panel->now, VITALS_GPU, previous);
    } while (previous != NULL && (vitals_row_parent(previous) != 0 ||
                                  !selection_has_device(&panel->selection, previous)));
    return previous;
}

static const vitals_row *next_part(const struct device_panel *panel, const vitals_row *gpu,
                                   const vitals_row *previous)
{
    return vitals_snapshot_next_child(panel->now, VITALS_GPU, vitals_row_key(gpu), previous);
}

void device_panel_edges(const struct device_panel *panel, struct edges *out)
{
    const vitals_row *last = NULL;
    for (const vitals_row *gpu = NULL; (gpu = device_panel_next(panel, gpu)) != NULL;)
        last = gpu;
    *out = (struct edges){.count = 0};
    if (last != NULL)
        edges_of(panel, next_part(panel, last, NULL) == NULL, out);
}

int device_panel_rows(const struct device_panel *panel)
{
    int devices = 0, parts = 0, parents = 0;
    for (const vitals_row *gpu = NULL; (gpu = device_panel_next(panel, gpu)) != NULL;) {
        bool any = false;
        devices++;
        for (const vitals_row *part = NULL; (part = next_part(panel, gpu, part)) != NULL;) {
            parts++;
            any = true;
        }
        parents += any;
    }
    if (devices == 0)
        return 1;
    if (is_narrow(panel))
        return 6 + devices + parts;
    if (panel->form == FORM_DENSE)
        return 6 + devices + parts;
    return panel->form == FORM_FULL ? 6 + 3 * devices + parts + parents
                                    : 5 + 2 * devices + parts + parents;
}

/* Follows the order in which device_panel_draw draws. */
const vitals_row *device_panel_at(const struct device_panel *panel, int row)
{
    enum { NARROW_HEAD = 5 };
    bool narrow = is_narrow(panel), rules = !narrow && panel->form != FORM_DENSE;
    int lines = !narrow && panel->form == FORM_FULL ? 2 : 1;
    int at = narrow ? NARROW_HEAD : panel->form == FORM_FULL ? 5 : 4;
    for (const vitals_row *gpu = NULL; (gpu = device_panel_next(panel, gpu)) != NULL;) {
        bool begun = false;
        at += rules || (!narrow && gpu == device_panel_next(panel, NULL));
        if (row >= at && row < at + lines)
            return gpu;
        at += lines;
        for (const vitals_row *part = NULL; (part = next_part(panel, gpu, part)) != NULL; at++) {
            at += rules && !begun;
            begun = true;
            if (row == at)
                return part;
        }
    }
    return NULL;
}

/* ---- words ---- */

ink device_style(const struct look *look, const vitals_row *gpu)
{
    double memory = 0, busy = 0, age;
    const struct silence *silence = trouble_silence(gpu);
    if (silence != NULL)
        return silence->is_fault ? STYLE_MAGENTA : STYLE_DIM;
    ink dim = trouble_age(gpu, &age) ? STYLE_DIM : STYLE_PLAIN;
    bool has_memory = cell_ratio(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES,
                                 &memory);
    bool has_busy = cell_value(gpu, VITALS_GPU_UTILIZATION_RATIO, &busy);
    ink a = draw_load(has_memory, memory, look->memory_thresholds);
    ink b = draw_load(has_busy, busy, look->gpu_thresholds);
    if (vitals_row_parent(gpu) != 0 && !has_busy)
        return a | dim;
    if (a == STYLE_RED || b == STYLE_RED)
        return STYLE_RED | dim;
    return (a == STYLE_YELLOW || b == STYLE_YELLOW ? STYLE_YELLOW : STYLE_GREEN) | dim;
}

/* If a process is selected, its device stands out and the others step back. */
static ink row_style(const struct device_panel_place *place, const vitals_row *gpu)
{
    const struct device_panel *panel = place->panel;
    ink style = device_style(panel->look, gpu);
    if (panel->chosen != 0)
        return panel->chosen == vitals_row_key(gpu) ? style | STYLE_BOLD | STYLE_REVERSE : style;
    if (panel->selected != 0)
        return style | (panel->selected == vitals_row_key(gpu) ? STYLE_BOLD : STYLE_DIM);
    return style;
}

static void field(const struct device_panel_place *place, int x, int columns, bool right, ink style,
                  const char *text)
{
    struct canvas_field at = {
        .x = x, .y = place->y, .columns = columns, .right = right, .style = style};
    canvas_field(place->pen->canvas, &at, text);
}

static const char *mig_mode(const vitals_row *gpu)
{
    double on;
    return !cell_value(gpu, VITALS_GPU_MIG_MODE, &on) ? "N/A" : on != 0 ? "Enabled" : "Disabled";
}

/* The trouble of a device, or else the caller's note. */
static bool device_note(const struct device_panel_place *place, const vitals_row *gpu, int columns,
                        struct note *out)
{
    const struct device_panel *panel = place->panel;
    out->style = STYLE_TROUBLE;
    if (trouble_note(gpu, (size_t)columns, out->text))
        return true;
    out->style = STYLE_BOLD | STYLE_YELLOW;
    return panel->note != NULL && panel->note(panel->data, gpu, out->text);
}

/* The driver's word, as nvidia-smi writes it. */
static const char *compute_mode(const struct device_panel_place *place, const vitals_row *gpu,
                                char *out)
{
    static const char *const NAMES[][2] = {{"default", "Default"},
                                           {"exclusive_thread", "E. Thread"},
                                           {"exclusive_process", "E. Process"},
                                           {"prohibited", "Prohibited"}};
    (void)cell_text(gpu, VITALS_GPU_COMPUTE_MODE, ascii(place), out, WORDS);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strcmp(out, NAMES[i][0]) == 0)
            return NAMES[i][1];
    }
    return out;
}

static void fan_words(const vitals_row *gpu, char *out)
{
    double ratio;
    if (cell_value(gpu, VITALS_GPU_FAN_RATIO, &ratio) && ratio >= 1)
        (void)snprintf(out, WORDS, "MAX");
    else
        (void)cell_percent(gpu, VITALS_GPU_FAN_RATIO, out);
}

static const char *pair(char *left, const char *right, char out[static LINE])
{
    (void)snprintf(out, LINE, "%s / %s", left, right);
    return out;
}

static const char *power_words(const vitals_row *gpu, char out[static LINE])
{
    char usage[WORDS], limit[WORDS];
    return pair(cell_number(gpu, VITALS_GPU_POWER_WATTS, "W", usage),
                cell_number(gpu, VITALS_GPU_POWER_LIMIT_WATTS, "W", limit), out);
}

static const char *memory_words(const vitals_row *gpu, char out[static LINE])
{
    char used[WORDS], total[WORDS];
    const struct silence *silence = trouble_silence(gpu);
    if (silence != NULL) {
        (void)snprintf(out, LINE, "%s", silence->word);
        return out;
    }
    return pair(cell_bytes(gpu, VITALS_GPU_MEMORY_USED_BYTES, used),
                cell_bytes(gpu, VITALS_GPU_MEMORY_TOTAL_BYTES, total), out);
}

static const vitals_row *find_child(const struct device_panel *panel, vitals_entity entity,
                                    const vitals_row *gpu, const char *label)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next_child(panel->now, entity, vitals_row_key(gpu), row)) !=
         NULL;) {
        if (strcmp(vitals_row_label(row), label) == 0)
            return row;
    }
    return NULL;
}

/* ---- bars ---- */

enum bar_kind { BAR_MEMORY, BAR_BUSY, BAR_BANDWIDTH, BAR_POWER };

static void clock_note(const struct device_panel_place *place, const vitals_row *gpu,
                       const char *label, char *out)
{
    double hertz;
    const vitals_row *row = find_child(place->panel, VITALS_GPU_CLOCK, gpu, label);
    out[0] = '\0';
    if (cell_value(row, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, &hertz))
        (void)snprintf(out, WORDS, "@ %.0fMHz", hertz / 1e6);
}

static void fill_bar(const struct device_panel_place *place, const vitals_row *gpu,
                     enum bar_kind kind, struct bar *bar, char *note)
{
    const struct look *look = place->pen->look;
    const unsigned *thresholds = look->gpu_thresholds;
    static const char *const LABELS[] = {"MEM", "UTL", "MBW", "PWR"};
    *bar = (struct bar){.label = LABELS[kind], .note = note, .note_columns = NOTE};
    switch (kind) {
    case BAR_MEMORY:
        bar->fraction = true;
        bar->known = cell_ratio(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES,
                                &bar->ratio);
        (void)cell_bytes(gpu, VITALS_GPU_MEMORY_USED_BYTES, note);
        thresholds = look->memory_thresholds;
        break;
    case BAR_BUSY:
        bar->known = cell_value(gpu, VITALS_GPU_UTILIZATION_RATIO, &bar->ratio);
        clock_note(place, gpu, "sm", note);
        break;
    case BAR_BANDWIDTH:
        bar->known = cell_value(gpu, VITALS_GPU_MEMORY_BUSY_RATIO, &bar->ratio);
        clock_note(place, gpu, "memory", note);
        thresholds = look->memory_thresholds;
        break;
    case BAR_POWER:
        bar->known = cell_ratio(gpu, VITALS_GPU_POWER_WATTS, VITALS_GPU_POWER_LIMIT_WATTS,
                                &bar->ratio);
        (void)cell_number(gpu, VITALS_GPU_POWER_WATTS, "W", note);
        break;
    }
    double age;
    if (!bar->known && (kind == BAR_MEMORY || kind == BAR_POWER))
        bar->note = NULL; /* a clock is known all the same */
    bar->style = draw_load(bar->known, bar->ratio, thresholds);
    if (trouble_silence(gpu) != NULL)
        bar->style = device_style(look, gpu);
    else if (trouble_age(gpu, &age))
        bar->style |= STYLE_DIM;
}

static void device_bar(const struct device_panel_place *place, const vitals_row *gpu,
                       enum bar_kind kind, int x, int columns)
{
    char note[WORDS];
    struct bar bar;
    fill_bar(place, gpu, kind, &bar, note);
    draw_bar(place->pen, x + 1, place->y, columns - 2, &bar);
}

/* One or two bars, in the boxes beside a row. */
static void bars(const struct device_panel_place *place, const vitals_row *gpu, enum bar_kind first,
                 enum bar_kind second)
{
    if (place->first > 0)
        device_bar(place, gpu, first, NARROW, place->first);
    if (place->second > 0)
        device_bar(place, gpu, second, NARROW + place->first + 1, place->second);
}

/* ---- rows from 79 columns on ---- */

enum { X_LEFT = 1, X_MIDDLE = CELL_LEFT + 2, X_RIGHT = CELL_LEFT + CELL_MIDDLE + 3 };

static void first_line(const struct device_panel_place *place, const vitals_row *gpu, bool mig)
{
    char text[NAME];
    enum { NAME_COLUMNS = 19, BUS = 16 };
    ink style = row_style(place, gpu);
    field(place, X_LEFT, 4, true, style, vitals_row_label(gpu));
    (void)cell_device(gpu, ascii(place), NAME_COLUMNS, text, sizeof text);
    field(place, X_LEFT + 6, NAME_COLUMNS, false, style, text);
    field(place, X_LEFT + 25, 5, true, style, cell_on_off(gpu, VITALS_GPU_PERSISTENCE_MODE, text));
    field(place, X_MIDDLE + 1, BUS, false, style,
          cell_text(gpu, VITALS_GPU_PCI_BUS_ID, ascii(place), text, sizeof text));
    field(place, X_MIDDLE + 17, 4, true, style, cell_on_off(gpu, VITALS_GPU_DISPLAY_ACTIVE, text));
    field(place, X_RIGHT, 9, true, style, mig ? mig_mode(gpu) : "");
    double errors;
    bool broken = cell_value(gpu, VITALS_GPU_ECC_ERRORS_UNCORRECTED, &errors) && errors > 0;
    field(place, X_RIGHT + 9, 12, true, broken ? STYLE_TROUBLE : style,
          cell_number(gpu, VITALS_GPU_ECC_ERRORS_UNCORRECTED, "", text));
    bars(place, gpu, BAR_MEMORY, BAR_BANDWIDTH);
}

/* Columns of fan, temperature, state (5) and power. */
struct cells {
    int x, fan, temperature, power;
};

/* "lost" stands out of the row that says nothing else. */
static ink memory_style(const vitals_row *gpu, ink style)
{
    const struct silence *silence = trouble_silence(gpu);
    return silence != NULL && silence->is_fault ? style | STYLE_BOLD : style;
}

/* How busy it is, and a note or the compute mode; for a long note the load moves to the left. */
static void load_cells(const struct device_panel_place *place, const vitals_row *gpu, ink style)
{
    enum { CELLS = 21, LOAD = 8, LOAD_LEAST = 4, NOTE_MOST = CELLS - LOAD_LEAST - 1 };
    char text[WORDS];
    struct note note;
    int load = LOAD;
    bool noted = device_note(place, gpu, NOTE_MOST, &note);
    if (noted && CELLS - LOAD < 1 + canvas_columns(note.text))
        load = CELLS - 1 - canvas_columns(note.text);
    field(place, X_RIGHT, load, true, style, cell_percent(gpu, VITALS_GPU_UTILIZATION_RATIO, text));
    if (noted)
        field(place, X_RIGHT + load, CELLS - load, true, note.style, note.text);
    else
        field(place, X_RIGHT + load, CELLS - load, true, style, compute_mode(place, gpu, text));
}

static void readings_line(const struct device_panel_place *place, const vitals_row *gpu,
                          const struct cells *cells)
{
    int x = cells->x;
    char text[LINE], temperature[WORDS], state[WORDS];
    ink style = row_style(place, gpu);
    fan_words(gpu, text);
    field(place, x, cells->fan, true, style, text);
    char degree[WORDS];
    (void)snprintf(temperature, sizeof temperature, "%s",
                   cell_number(gpu, VITALS_GPU_TEMPERATURE_CELSIUS, "C", degree));
    x += cells->fan;
    field(place, x, cells->temperature, true, style, temperature);
    x += cells->temperature;
    char number[WORDS];
    (void)cell_number(gpu, VITALS_GPU_PERFORMANCE_STATE, "", number);
    (void)snprintf(state, sizeof state, "%s%.60s", number[0] == 'N' ? "" : "P", number);
    field(place, x, 5, true, style, state);
    field(place, x + 5, cells->power, true, style, power_words(gpu, text));
    field(place, X_MIDDLE, 21, true, memory_style(gpu, style), memory_words(gpu, text));
    load_cells(place, gpu, style);
}

/* A MIG device is placed by two numbers; another partition has a name alone. */
static bool is_mig(const vitals_row *part)
{
    return vitals_row_availability(part, VITALS_GPU_GPU_INSTANCE_ID) != VITALS_UNSUPPORTED ||
           vitals_row_availability(part, VITALS_GPU_COMPUTE_INSTANCE_ID) != VITALS_UNSUPPORTED;
}

/* How busy a partition is. For a MIG device also how much of BAR1 it uses; if its utilization is
 * not known, BAR1 as nvitop shows it. */
static void load_words(const struct device_panel_place *place, const vitals_row *part,
                       char out[static LINE])
{
    double busy, ratio;
    char load[WORDS], used[WORDS], share[WORDS] = "N/A";
    const vitals_row *pool = find_child(place->panel, VITALS_GPU_POOL, part, "bar1");
    (void)cell_percent(part, VITALS_GPU_UTILIZATION_RATIO, load);
    (void)cell_bytes(pool, VITALS_GPU_POOL_USED_BYTES, used);
    if (cell_ratio(pool, VITALS_GPU_POOL_USED_BYTES, VITALS_GPU_POOL_TOTAL_BYTES, &ratio))
        (void)snprintf(share, sizeof share, "%.0f%%", ratio * 100);

    if (!is_mig(part))
        (void)snprintf(out, LINE, "UTL:  %s", load);
    else if (cell_value(part, VITALS_GPU_UTILIZATION_RATIO, &busy))
        (void)snprintf(out, LINE, "%7s%5s%8s", load, "BAR1", used);
    else
        (void)snprintf(out, LINE, "BAR1: %8s / %3s", used, share);
}

static void part_line(const struct device_panel_place *place, const vitals_row *part)
{
    char text[LINE], name[NAME], instance[WORDS], compute[WORDS];
    ink style = row_style(place, part);
    bool mig = is_mig(part);
    (void)cell_device(part, ascii(place), mig ? 12 : 24, name, sizeof name);
    (void)snprintf(text, sizeof text, "%s", name);
    if (mig)
        (void)snprintf(text, sizeof text, "%s @ GI/CI: %s/%s", name,
                       cell_number(part, VITALS_GPU_GPU_INSTANCE_ID, "", instance),
                       cell_number(part, VITALS_GPU_COMPUTE_INSTANCE_ID, "", compute));
    field(place, X_LEFT, 4, true, style, vitals_row_label(part));
    field(place, X_LEFT + 4, 26, true, style, text);
    field(place, X_MIDDLE, 21, true, memory_style(part, style), memory_words(part, text));
    load_words(place, part, text);
    field(place, X_RIGHT + 1, 20, false, style, text);
    if (place->first > 0)
        device_bar(place, part, BAR_MEMORY, NARROW,
                   place->first + (place->second > 0 ? place->second + 1 : 0));
}

/* ---- rows below 79 columns ---- */

struct narrow_column {
    const char *title;
    int width; /* 0: all that is left */
    int least; /* columns of the screen from which it is there */
    void (*words)(const struct device_panel_place *place, const vitals_row *gpu, char *out);
};

static void narrow_label(const struct device_panel_place *place, const vitals_row *gpu, char *out)
{
    (void)place;
    (void)snprintf(out, LINE, "%s", vitals_row_label(gpu));
}

static void narrow_temperature(const struct device_panel_place *place, const vitals_row *gpu,
                               char *out)
{
    (void)place;
    (void)cell_number(gpu, VITALS_GPU_TEMPERATURE_CELSIUS, "C", out);
}

static void narrow_power(const struct device_panel_place *place, const vitals_row *gpu, char *out)
{
    (void)place;
    (void)cell_number(gpu, VITALS_GPU_POWER_WATTS, "W", out);
}

static void narrow_memory(const struct device_panel_place *place, const vitals_row *gpu, char *out)
{
    (void)place;
    const struct silence *silence = trouble_silence(gpu);
    if (silence != NULL)
        (void)snprintf(out, LINE, "%s", silence->word);
    else
        (void)cell_bytes(gpu, VITALS_GPU_MEMORY_USED_BYTES, out);
}

static void narrow_share(const struct device_panel_place *place, const vitals_row *gpu, char *out)
{
    double ratio;
    (void)place;
    if (cell_ratio(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES, &ratio))
        (void)snprintf(out, LINE, "%.1f%%", ratio * 100);
    else
        (void)cell_not_available(out);
}

static void narrow_busy(const struct device_panel_place *place, const vitals_row *gpu, char *out)
{
    (void)place;
    (void)cell_percent(gpu, VITALS_GPU_UTILIZATION_RATIO, out);
}

static const struct narrow_column NARROW_COLUMNS[] = {
    {"GPU", 4, 0, narrow_label},        {"Name", 0, 0, NULL},
    {"Temp", 5, 0, narrow_temperature}, {"Power", 6, 50, narrow_power},
    {"Memory", 10, 0, narrow_memory},   {"Mem%", 7, 46, narrow_share},
    {"Util", 5, 0, narrow_busy},
};
enum { NARROW_COUNT = sizeof NARROW_COLUMNS / sizeof NARROW_COLUMNS[0] };

/* NULL: the titles. */
static void narrow_line(const struct device_panel_place *place, const vitals_row *gpu)
{
    int width = place->panel->width, used = 0, at = 1;
    char text[LINE];
    ink style = gpu != NULL ? row_style(place, gpu) : STYLE_PLAIN;
    for (size_t i = 0; i < NARROW_COUNT; i++)
        used += width >= NARROW_COLUMNS[i].least ? NARROW_COLUMNS[i].width : 0;
    for (size_t i = 0; i < NARROW_COUNT; i++) {
        const struct narrow_column *column = &NARROW_COLUMNS[i];
        if (width < column->least)
            continue;
        int columns = column->width > 0 ? column->width : width - 3 - used;
        ink own = style;
        if (gpu == NULL)
            (void)snprintf(text, sizeof text, "%s%s", column->words == NULL ? " " : "",
                           column->title);
        else if (column->words != NULL)
            column->words(place, gpu, text);
        else {
            struct note note;
            text[0] = ' ';
            if (device_note(place, gpu, columns - 1, &note)) {
                (void)snprintf(text + 1, sizeof text - 1, "%s", note.text);
                own = note.style;
            } else
                (void)cell_device(gpu, ascii(place), columns - 1, text + 1, sizeof text - 1);
        }
        field(place, at, columns, column->words != NULL, own, text);
        at += columns;
    }
}

/* ---- the box ---- */

static bool any_mig(const struct device_panel *panel)
{
    double mode;
    for (const vitals_row *gpu = NULL; (gpu = device_panel_next(panel, gpu)) != NULL;) {
        if (cell_value(gpu, VITALS_GPU_MIG_MODE, &mode))
            return true;
    }
    return false;
}

static void title_line(const struct device_panel_place *place, const vitals_row *gpu)
{
    char text[NAME], line[LINE];
    (void)snprintf(line, sizeof line, "VITALS %s", vitals_version_text());
    field(place, 2, 18, false, STYLE_PLAIN, line);
    (void)cell_text(gpu, VITALS_GPU_DRIVER_VERSION, ascii(place), text, sizeof text);
    if (is_narrow(place->panel)) {
        (void)snprintf(line, sizeof line, "Driver: %s", text);
        field(place, 20, place->panel->width - 22, true, STYLE_PLAIN, line);
        return;
    }
    (void)snprintf(line, sizeof line, "Driver Version: %s", text);
    field(place, 20, 29, false, STYLE_PLAIN, line);
    (void)cell_text(gpu, VITALS_GPU_CUDA_VERSION, ascii(place), text, sizeof text);
    (void)snprintf(line, sizeof line, "CUDA Driver Version: %s", text);
    field(place, 49, 28, true, STYLE_PLAIN, line);
}

static void header_lines(struct device_panel_place *place, bool full, bool mig,
                         const struct edges *table)
{
    static const char *const LINES[3][3] = {
        {" GPU  Name        Persistence-M", " Bus-Id        Disp.A ", " Volatile Uncorr. ECC "},
        {" Fan  Temp  Perf  Pwr:Usage/Cap", "         Memory-Usage ", " GPU-Util  Compute M. "},
        {" GPU Fan Temp Perf Pwr:Usg/Cap ", "         Memory-Usage ", " GPU-Util  Compute M. "}};
    for (size_t i = full ? 0 : 2; i < (full ? 2u : 3u); i++) {
        field(place, X_LEFT, CELL_LEFT, false, STYLE_PLAIN, LINES[i][0]);
        field(place, X_MIDDLE, CELL_MIDDLE, false, STYLE_PLAIN, LINES[i][1]);
        field(place, X_RIGHT, CELL_MIDDLE, false, STYLE_PLAIN,
              i == 0 && mig ? " MIG M.   Uncorr. ECC " : LINES[i][2]);
        draw_edges(place->pen, place->y++, table);
    }
}

/* A device, its partitions, and the rule above each. `above` is what the row before had. */
static void device_block(struct device_panel_place *place, const vitals_row *gpu, bool mig,
                         struct edges *above)
{
    enum form form = place->panel->form;
    struct edges split, whole;
    bool first = gpu == device_panel_next(place->panel, NULL), begun = false;
    edges_of(place->panel, true, &split);
    edges_of(place->panel, false, &whole);
    if (first || form != FORM_DENSE)
        draw_rule(place->pen, place->y++, first, above, &split);
    if (form == FORM_FULL) {
        first_line(place, gpu, mig);
        draw_edges(place->pen, place->y++, &split);
        readings_line(place, gpu, &(struct cells){X_LEFT, 4, 6, 15});
        bars(place, gpu, BAR_BUSY, BAR_POWER);
    } else {
        readings_line(place, gpu, &(struct cells){X_LEFT + 4, 4, 5, 13});
        field(place, X_LEFT, 4, true, row_style(place, gpu), vitals_row_label(gpu));
        bars(place, gpu, BAR_MEMORY, BAR_BUSY);
    }
    draw_edges(place->pen, place->y++, &split);
    *above = split;
    for (const vitals_row *part = NULL; (part = next_part(place->panel, gpu, part)) != NULL;) {
        if (!begun && form != FORM_DENSE)
            draw_rule(place->pen, place->y++, false, above, &whole);
        begun = true;
        part_line(place, part);
        draw_edges(place->pen, place->y++, &whole);
        *above = whole;
    }
}

bool device_panel_is_demo(const vitals_snapshot *snapshot)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_SOURCE, row)) != NULL;) {
        if (strcmp(vitals_row_label(row), "demo") == 0)
            return true;
    }
    return false;
}

void device_panel_missing(const struct device_panel *panel, char *out, size_t capacity)
{
    char message[NAME];
    size_t used;
    if (panel->now == NULL) {
        (void)snprintf(out, capacity, "Reading...");
        return;
    }
    if (vitals_snapshot_count(panel->now, VITALS_GPU) > 0) {
        (void)snprintf(out, capacity, "%s",
                       panel->selection.only_visible ? "No GPU is visible (CUDA_VISIBLE_DEVICES)."
                                                     : "No GPU was chosen.");
        return;
    }

    used = (size_t)snprintf(out, capacity, "No GPU");
    for (const vitals_row *row = NULL;
         used < capacity && (row = vitals_snapshot_next(panel->now, VITALS_SOURCE, row)) != NULL;) {
        if (vitals_row_key(row) < VITALS_SOURCE_BACK_ENDS)
            continue;
        (void)cell_text(row, VITALS_SOURCE_MESSAGE, panel->look->ascii, message, sizeof message);
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", out[6] == '\0' ? ": " : "; ",
                                 message);
    }
    if (strcmp(out, "No GPU") == 0)
        (void)snprintf(out, capacity, "No GPU.");
}

static void narrow_panel(struct device_panel_place *place)
{
    struct edges box = {{0, place->panel->width - 1}, 2}, none = {.count = 0};
    const vitals_row *gpu = device_panel_next(place->panel, NULL);
    draw_rule(place->pen, place->y++, true, &none, &box);
    title_line(place, gpu);
    draw_edges(place->pen, place->y++, &box);
    draw_rule(place->pen, place->y++, false, &box, &box);
    narrow_line(place, NULL);
    draw_edges(place->pen, place->y++, &box);
    draw_rule(place->pen, place->y++, true, &box, &box);
    for (; gpu != NULL; gpu = device_panel_next(place->panel, gpu)) {
        narrow_line(place, gpu);
        draw_edges(place->pen, place->y++, &box);
        for (const vitals_row *part = NULL; (part = next_part(place->panel, gpu, part)) != NULL;) {
            narrow_line(place, part);
            draw_edges(place->pen, place->y++, &box);
        }
    }
    draw_rule(place->pen, place->y, true, &box, &none);
}

void device_panel_draw(struct pen *pen, const struct device_panel *panel, int y)
{
    struct device_panel_place place = {.pen = pen, .panel = panel, .y = y};
    struct edges title, table, above, none = {.count = 0};
    const vitals_row *gpu = device_panel_next(panel, NULL);
    bool mig = any_mig(panel);
    split_bars(panel, &place.first, &place.second);
    if (gpu == NULL) {
        char line[LINE];
        device_panel_missing(panel, line, sizeof line);
        field(&place, 0, panel->width, false, STYLE_DIM, line);
        return;
    }
    if (is_narrow(panel)) {
        narrow_panel(&place);
        return;
    }
    title_edges(panel, &title);
    table = (struct edges){{0, CELL_LEFT + 1, CELL_LEFT + CELL_MIDDLE + 2, NARROW - 1}, 4};
    draw_rule(pen, place.y++, true, &none, &title);
    title_line(&place, gpu);
    draw_edges(pen, place.y++, &title);
    draw_rule(pen, place.y++, false, &title, &table);
    header_lines(&place, panel->form == FORM_FULL, mig, &table);
    above = table;
    for (; gpu != NULL; gpu = device_panel_next(panel, gpu))
        device_block(&place, gpu, mig, &above);
    draw_rule(pen, place.y, true, &above, &none);
}
