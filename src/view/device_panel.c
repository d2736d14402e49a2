/* device_panel.c: a box with two lines for each device, or one; bars beside them if there is room;
 * below 79 columns one line with fewer columns.
 *
 * The columns are those of nvidia-smi, which users know. */
#include "view/device_panel.h"

#include <stdio.h>
#include <string.h>

#include "feed/rows.h"
#include "feed/trouble.h"
#include "util/base.h"
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

const vitals_row *device_panel_next(const struct device_panel *panel, const vitals_row *previous)
{
    if (panel->now == NULL)
        return NULL;
    do {
        previous = vitals_snapshot_next(panel->now, VITALS_TABLE_GPU, previous);
    } while (previous != NULL && (vitals_row_parent(previous) != 0 ||
                                  !selection_has_device(&panel->selection, previous)));
    return previous;
}

static const vitals_row *next_part(const struct device_panel *panel, const vitals_row *gpu,
                                   const vitals_row *previous)
{
    return vitals_snapshot_next_child(panel->now, VITALS_TABLE_GPU, vitals_row_key(gpu), previous);
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
    if (is_narrow(panel) || panel->form == FORM_DENSE)
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

static const char *pair(char *left, const char *right, char out[static LINE])
{
    (void)snprintf(out, LINE, "%s / %s", left, right);
    return out;
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

static const vitals_row *find_child(const struct device_panel *panel, vitals_table entity,
                                    const vitals_row *gpu, const char *label)
{
    EACH_CHILD(row, panel->now, entity, vitals_row_key(gpu)) {
        if (strcmp(vitals_row_label(row), label) == 0)
            return row;
    }
    return NULL;
}

enum bar_kind { BAR_MEMORY, BAR_BUSY, BAR_BANDWIDTH, BAR_POWER };

/* A bar of a kind, in a box of so many columns. */
static void device_bar(const struct device_panel_place *place, const vitals_row *gpu,
                       enum bar_kind kind, int x, int columns)
{
    static const char *const LABELS[] = {"MEM", "UTL", "MBW", "PWR"};
    const struct look *look = place->pen->look;
    char note[WORDS] = "";
    struct bar bar = {.label = LABELS[kind],
                      .tracked = place->panel->tracked,
                      .note = note,
                      .note_columns = NOTE};
    bool of_memory = kind == BAR_MEMORY || kind == BAR_BANDWIDTH;
    if (kind == BAR_MEMORY) {
        bar.fraction = true;
        bar.known = cell_ratio(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES,
                               &bar.ratio);
        (void)cell_bytes(gpu, VITALS_GPU_MEMORY_USED_BYTES, note);
    } else if (kind == BAR_POWER) {
        bar.known = cell_ratio(gpu, VITALS_GPU_POWER_WATTS, VITALS_GPU_POWER_LIMIT_WATTS,
                               &bar.ratio);
        (void)cell_number(gpu, VITALS_GPU_POWER_WATTS, "W", note);
    } else {
        double hertz;
        const vitals_row *clock = find_child(place->panel, VITALS_TABLE_GPU_CLOCK, gpu,
                                             of_memory ? "memory" : "sm");
        bar.known = cell_value(
            gpu, of_memory ? VITALS_GPU_MEMORY_BUSY_RATIO : VITALS_GPU_UTILIZATION_RATIO,
            &bar.ratio);
        if (cell_value(clock, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, &hertz))
            (void)snprintf(note, sizeof note, "@ %.0fMHz", hertz / 1e6);
    }
    if (!bar.known && (kind == BAR_MEMORY || kind == BAR_POWER))
        bar.note = NULL; /* a clock is known all the same */

    double age;
    bar.style = draw_load(bar.known, bar.ratio,
                          of_memory ? look->memory_thresholds : look->gpu_thresholds);
    if (trouble_silence(gpu) != NULL)
        bar.style = device_style(look, gpu);
    else if (trouble_age(gpu, &age))
        bar.style |= STYLE_DIM;
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

/* For a long note the load moves to the left. */
static void readings_line(const struct device_panel_place *place, const vitals_row *gpu,
                          const struct cells *cells)
{
    enum { CELLS = 21, LOAD = 8, LOAD_LEAST = 4, NOTE_MOST = CELLS - LOAD_LEAST - 1 };
    int x = cells->x, load = LOAD;
    char text[LINE], state[WORDS] = "P", limit[WORDS];
    ink style = row_style(place, gpu);
    double ratio;
    bool full = cell_value(gpu, VITALS_GPU_FAN_RATIO, &ratio) && ratio >= 1;
    field(place, x, cells->fan, true, style,
          full ? "MAX" : cell_percent(gpu, VITALS_GPU_FAN_RATIO, text));
    x += cells->fan;
    field(place, x, cells->temperature, true, style,
          cell_number(gpu, VITALS_GPU_TEMPERATURE_CELSIUS, "C", text));
    x += cells->temperature;
    if (cell_value(gpu, VITALS_GPU_PERFORMANCE_STATE, &ratio))
        (void)snprintf(state, sizeof state, "P%.0f", ratio);
    else
        (void)cell_not_available(state);
    field(place, x, 5, true, style, state);
    field(place, x + 5, cells->power, true, style,
          pair(cell_number(gpu, VITALS_GPU_POWER_WATTS, "W", state),
               cell_number(gpu, VITALS_GPU_POWER_LIMIT_WATTS, "W", limit), text));
    field(place, X_MIDDLE, 21, true, memory_style(gpu, style), memory_words(gpu, text));

    struct note note;
    bool noted = device_note(place, gpu, NOTE_MOST, &note);
    if (noted && CELLS - LOAD < 1 + canvas_columns(note.text))
        load = CELLS - 1 - canvas_columns(note.text);
    field(place, X_RIGHT, load, true, style, cell_percent(gpu, VITALS_GPU_UTILIZATION_RATIO, text));
    x = X_RIGHT + load;
    if (noted) {
        field(place, x, CELLS - load, true, note.style, note.text);
        return;
    }

    /* The driver's word, as nvidia-smi writes it. */
    static const char *const MODES[][2] = {{"default", "Default"},
                                           {"exclusive_thread", "E. Thread"},
                                           {"exclusive_process", "E. Process"},
                                           {"prohibited", "Prohibited"}};
    const char *mode = cell_text(gpu, VITALS_GPU_COMPUTE_MODE, ascii(place), text, WORDS);
    for (size_t i = 0; i < ARRAY_COUNT(MODES); i++)
        mode = strcmp(text, MODES[i][0]) == 0 ? MODES[i][1] : mode;
    field(place, x, CELLS - load, true, style, mode);
}

/* A MIG device is placed by two numbers; another partition has a name alone. */
static bool is_mig(const vitals_row *part)
{
    return vitals_row_availability(part, VITALS_GPU_GPU_INSTANCE_ID) != VITALS_UNSUPPORTED ||
           vitals_row_availability(part, VITALS_GPU_COMPUTE_INSTANCE_ID) != VITALS_UNSUPPORTED;
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

    /* How busy it is. For a MIG device also how much of BAR1 it uses; if its utilization is not
     * known, BAR1 as nvitop shows it. */
    double busy, ratio;
    char load[WORDS], used[WORDS], share[WORDS] = "N/A";
    const vitals_row *pool = find_child(place->panel, VITALS_TABLE_GPU_POOL, part, "bar1");
    (void)cell_percent(part, VITALS_GPU_UTILIZATION_RATIO, load);
    (void)cell_bytes(pool, VITALS_GPU_POOL_USED_BYTES, used);
    if (cell_ratio(pool, VITALS_GPU_POOL_USED_BYTES, VITALS_GPU_POOL_TOTAL_BYTES, &ratio))
        (void)snprintf(share, sizeof share, "%.0f%%", ratio * 100);
    if (!mig)
        (void)snprintf(text, sizeof text, "UTL:  %s", load);
    else if (cell_value(part, VITALS_GPU_UTILIZATION_RATIO, &busy))
        (void)snprintf(text, sizeof text, "%7s%5s%8s", load, "BAR1", used);
    else
        (void)snprintf(text, sizeof text, "BAR1: %8s / %3s", used, share);
    field(place, X_RIGHT + 1, 20, false, style, text);
    if (place->first > 0)
        device_bar(place, part, BAR_MEMORY, NARROW,
                   place->first + (place->second > 0 ? place->second + 1 : 0));
}

/* ---- rows below 79 columns ---- */

enum { LABEL, DEVICE, TEMPERATURE, POWER, MEMORY, SHARE, BUSY, NARROW_COUNT };

static const struct {
    const char *title;
    int width; /* 0: all that is left */
    int least; /* columns of the screen from which it is there */
} NARROW_COLUMNS[NARROW_COUNT] = {{"GPU", 4, 0},    {"Name", 0, 0},    {"Temp", 5, 0},
                                  {"Power", 6, 50}, {"Memory", 10, 0}, {"Mem%", 7, 46},
                                  {"Util", 5, 0}};

/* NULL: the titles. */
static void narrow_line(const struct device_panel_place *place, const vitals_row *gpu)
{
    int width = place->panel->width, used = 0, at = 1;
    const struct silence *silence = gpu != NULL ? trouble_silence(gpu) : NULL;
    for (int i = 0; i < NARROW_COUNT; i++)
        used += width >= NARROW_COLUMNS[i].least ? NARROW_COLUMNS[i].width : 0;
    for (int i = 0; i < NARROW_COUNT; i++) {
        if (width < NARROW_COLUMNS[i].least)
            continue;
        char text[LINE] = " ";
        double ratio;
        struct note note;
        int columns = i == DEVICE ? width - 3 - used : NARROW_COLUMNS[i].width;
        ink style = gpu != NULL ? row_style(place, gpu) : STYLE_PLAIN;
        if (gpu == NULL)
            (void)snprintf(text, sizeof text, "%s%s", i == DEVICE ? " " : "",
                           NARROW_COLUMNS[i].title);
        else if (i == LABEL)
            (void)snprintf(text, sizeof text, "%s", vitals_row_label(gpu));
        else if (i == DEVICE && device_note(place, gpu, columns - 1, &note)) {
            (void)snprintf(text, sizeof text, " %s", note.text);
            style = note.style;
        } else if (i == DEVICE)
            (void)cell_device(gpu, ascii(place), columns - 1, text + 1, sizeof text - 1);
        else if (i == TEMPERATURE)
            (void)cell_number(gpu, VITALS_GPU_TEMPERATURE_CELSIUS, "C", text);
        else if (i == POWER)
            (void)cell_number(gpu, VITALS_GPU_POWER_WATTS, "W", text);
        else if (i == MEMORY && silence != NULL)
            (void)snprintf(text, sizeof text, "%s", silence->word);
        else if (i == MEMORY)
            (void)cell_bytes(gpu, VITALS_GPU_MEMORY_USED_BYTES, text);
        else if (i == BUSY)
            (void)cell_percent(gpu, VITALS_GPU_UTILIZATION_RATIO, text);
        else if (cell_ratio(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES,
                            &ratio))
            (void)snprintf(text, sizeof text, "%.1f%%", ratio * 100);
        else
            (void)cell_not_available(text);
        field(place, at, columns, i != DEVICE, style, text);
        at += columns;
    }
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

/* The first row of a device where it has two lines. */
static void first_line(const struct device_panel_place *place, const vitals_row *gpu, bool mig)
{
    enum { NAME_COLUMNS = 19, BUS = 16 };
    char text[NAME];
    double on, errors;
    ink style = row_style(place, gpu);
    field(place, X_LEFT, 4, true, style, vitals_row_label(gpu));
    (void)cell_device(gpu, ascii(place), NAME_COLUMNS, text, sizeof text);
    field(place, X_LEFT + 6, NAME_COLUMNS, false, style, text);
    field(place, X_LEFT + 25, 5, true, style, cell_on_off(gpu, VITALS_GPU_PERSISTENCE_MODE, text));
    field(place, X_MIDDLE + 1, BUS, false, style,
          cell_text(gpu, VITALS_GPU_PCI_BUS_ID, ascii(place), text, sizeof text));
    field(place, X_MIDDLE + 17, 4, true, style, cell_on_off(gpu, VITALS_GPU_DISPLAY_ACTIVE, text));
    field(place, X_RIGHT, 9, true, style,
          !mig                                         ? ""
          : !cell_value(gpu, VITALS_GPU_MIG_MODE, &on) ? "N/A"
          : on != 0                                    ? "Enabled"
                                                       : "Disabled");
    bool broken = cell_value(gpu, VITALS_GPU_ECC_ERRORS_UNCORRECTED, &errors) && errors > 0;
    field(place, X_RIGHT + 9, 12, true, broken ? STYLE_TROUBLE : style,
          cell_number(gpu, VITALS_GPU_ECC_ERRORS_UNCORRECTED, "", text));
    bars(place, gpu, BAR_MEMORY, BAR_BANDWIDTH);
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
    EACH_ROW(row, snapshot, VITALS_TABLE_SOURCE) {
        if (strcmp(vitals_row_label(row), "demo") == 0)
            return true;
    }
    return false;
}

void device_panel_missing(const struct device_panel *panel, char *out, size_t capacity)
{
    char message[NAME];
    if (panel->now == NULL) {
        (void)snprintf(out, capacity, "Reading...");
        return;
    }
    if (vitals_snapshot_count(panel->now, VITALS_TABLE_GPU) > 0) {
        (void)snprintf(out, capacity, "%s",
                       panel->selection.only_visible ? "No GPU is visible (CUDA_VISIBLE_DEVICES)."
                                                     : "No GPU was chosen.");
        return;
    }

    (void)snprintf(out, capacity, "No GPU");
    EACH_ROW(row, panel->now, VITALS_TABLE_SOURCE) {
        if (vitals_row_key(row) >= VITALS_SOURCE_BACK_ENDS)
            cell_add(
                out, capacity, "%s%s", out[6] == '\0' ? ": " : "; ",
                cell_text(row, VITALS_SOURCE_MESSAGE, panel->look->ascii, message, sizeof message));
    }
    if (out[6] == '\0')
        cell_add(out, capacity, ".");
}

void device_panel_draw(struct pen *pen, const struct device_panel *panel, int y)
{
    static const char *const HEADS[3][3] = {
        {" GPU  Name        Persistence-M", " Bus-Id        Disp.A ", " Volatile Uncorr. ECC "},
        {" Fan  Temp  Perf  Pwr:Usage/Cap", "         Memory-Usage ", " GPU-Util  Compute M. "},
        {" GPU Fan Temp Perf Pwr:Usg/Cap ", "         Memory-Usage ", " GPU-Util  Compute M. "}};
    struct device_panel_place place = {.pen = pen, .panel = panel, .y = y};
    bool narrow = is_narrow(panel), full = panel->form == FORM_FULL, mig = false;
    struct edges none = {.count = 0}, table = {{0, panel->width - 1}, 2}, title = table;
    const vitals_row *gpu = device_panel_next(panel, NULL);
    double mode;
    split_bars(panel, &place.first, &place.second);
    if (gpu == NULL) {
        char line[LINE];
        device_panel_missing(panel, line, sizeof line);
        field(&place, 0, panel->width, false, STYLE_DIM, line);
        return;
    }

    if (!narrow) {
        title.at[1] = NARROW - 1;
        table = (struct edges){{0, CELL_LEFT + 1, CELL_LEFT + CELL_MIDDLE + 2, NARROW - 1}, 4};
    }
    draw_rule(pen, place.y++, true, &none, &title);
    title_line(&place, gpu);
    draw_edges(pen, place.y++, &title);
    draw_rule(pen, place.y++, false, &title, &table);
    if (narrow) {
        narrow_line(&place, NULL);
        draw_edges(pen, place.y++, &table);
        draw_rule(pen, place.y++, true, &table, &table);
    }
    for (const vitals_row *row = gpu; row != NULL; row = device_panel_next(panel, row))
        mig = mig || cell_value(row, VITALS_GPU_MIG_MODE, &mode);
    for (size_t i = full ? 0 : 2; !narrow && i < (full ? 2u : 3u); i++) {
        field(&place, X_LEFT, CELL_LEFT, false, STYLE_PLAIN, HEADS[i][0]);
        field(&place, X_MIDDLE, CELL_MIDDLE, false, STYLE_PLAIN, HEADS[i][1]);
        field(&place, X_RIGHT, CELL_MIDDLE, false, STYLE_PLAIN,
              i == 0 && mig ? " MIG M.   Uncorr. ECC " : HEADS[i][2]);
        draw_edges(pen, place.y++, &table);
    }

    for (; gpu != NULL; gpu = device_panel_next(panel, gpu)) {
        if (!narrow) {
            device_block(&place, gpu, mig, &table);
            continue;
        }
        narrow_line(&place, gpu);
        draw_edges(pen, place.y++, &table);
        for (const vitals_row *part = NULL; (part = next_part(panel, gpu, part)) != NULL;) {
            narrow_line(&place, part);
            draw_edges(pen, place.y++, &table);
        }
    }
    draw_rule(pen, place.y, true, &table, &none);
}
