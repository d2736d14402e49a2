/* panel_devices.c: a box with two lines for each device, one for each partition, and bars beside
 * them where the terminal is wide enough.
 *
 *     |  0  H100 80GB HBM3        On | 00000000:17:00.0 Off | Disabled           0 | MEM:
 * |||| 31.2% | | 31%   41C   P0    312W / 700W |  24.96GiB / 80.00GiB |     42%      Default | UTL:
 * ||||| 42% |
 *
 * Columns are nvidia-smi's, which everybody reads without thinking. */
#include "report/panel.h"

#include "feed/trouble.h"

#include <stdio.h>
#include <string.h>

enum { CELL_LEFT = 31, CELL_MIDDLE = 22, NOTE = 10, DEVICE_NAME = 256 };

static const struct edges TITLE = {{0, NARROW - 1}, 2};
static const struct edges TABLE = {{0, CELL_LEFT + 1, CELL_LEFT + CELL_MIDDLE + 2, NARROW - 1}, 4};

/* ---- geometry ---- */

/* Inner widths of the columns of bars; 0: there is none. */
struct bars {
    size_t first, second;
};

static struct bars bars_of(const struct view *view)
{
    if (view->width < WIDE)
        return (struct bars){0, 0};
    size_t inside = view->width - NARROW - 1;
    if (view->width < WIDEST)
        return (struct bars){inside, 0};
    return (struct bars){(inside - 1) / 2, inside - 1 - (inside - 1) / 2};
}

static struct edges edges_of(const struct view *view, bool split)
{
    struct bars bars = bars_of(view);
    struct edges edges = TABLE;
    if (bars.first == 0)
        return edges;
    if (split && bars.second > 0)
        edges.at[edges.count++] = NARROW + bars.first;
    edges.at[edges.count++] = view->width - 1;
    return edges;
}

/* ---- words ---- */

static const char *on_off(const vitals_row *gpu, vitals_metric metric)
{
    uint64_t on;
    return vitals_row_u64(gpu, metric, &on) > 0 ? (on != 0 ? "On" : "Off") : "N/A";
}

/* The product without its maker's name; what is too long loses its beginning, since the end tells
 * two devices apart. */
static void device_name(const struct view *view, const vitals_row *gpu, size_t columns,
                        char out[static DEVICE_NAME])
{
    static const char MAKER[] = "NVIDIA ";
    char name[DEVICE_NAME - 2];
    panel_text(view, gpu, VITALS_GPU_NAME, name, sizeof(name));
    const char *start = name;
    if (strncmp(start, MAKER, sizeof(MAKER) - 1) == 0)
        start += sizeof(MAKER) - 1;
    if (paint_columns(start) <= columns) {
        (void)snprintf(out, DEVICE_NAME, "%s", start);
        return;
    }
    while (paint_columns(start) > columns - 2) {
        do {
            start++;
        } while (((unsigned char)*start & 0xc0) == 0x80);
    }
    (void)snprintf(out, DEVICE_NAME, "..%s", start);
}

static void fan(const vitals_row *gpu, char out[static PANEL_TEXT])
{
    double ratio;
    if (vitals_row_f64(gpu, VITALS_GPU_FAN_RATIO, &ratio) > 0 && ratio >= 1)
        (void)snprintf(out, PANEL_TEXT, "MAX");
    else
        panel_percent(gpu, VITALS_GPU_FAN_RATIO, out);
}

static const char *mig_mode(const vitals_row *gpu)
{
    uint64_t on;
    if (vitals_row_u64(gpu, VITALS_GPU_MIG_MODE, &on) <= 0)
        return "N/A";
    return on != 0 ? "Enabled" : "Disabled";
}

/* The driver's word, as nvidia-smi writes it. */
static const char *compute_mode(const struct view *view, const vitals_row *gpu,
                                char out[static PANEL_TEXT])
{
    static const char *const WORDS[][2] = {{"default", "Default"},
                                           {"exclusive_thread", "E. Thread"},
                                           {"exclusive_process", "E. Process"},
                                           {"prohibited", "Prohibited"}};
    panel_text(view, gpu, VITALS_GPU_COMPUTE_MODE, out, PANEL_TEXT);
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        if (strcmp(out, WORDS[i][0]) == 0)
            return WORDS[i][1];
    }
    return out;
}

static const vitals_row *find_child(const struct view *view, vitals_entity entity,
                                    const vitals_row *gpu, const char *label)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next_child(view->now, entity, vitals_row_key(gpu), row)) != NULL;) {
        if (strcmp(vitals_row_label(row), label) == 0)
            return row;
    }
    return NULL;
}

/* ---- bars ---- */

static void begin_bar(struct paint *paint)
{
    paint_text(paint, COLOR_PLAIN, " ");
}

static void end_bar(struct paint *paint)
{
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
}

static void memory_bar(struct paint *paint, const struct view *view, const vitals_row *gpu,
                       size_t columns)
{
    char used[PANEL_TEXT];
    struct bar bar = {.label = "MEM",
                      .fraction = true,
                      .note_columns = NOTE,
                      .note = panel_bytes(gpu, VITALS_GPU_MEMORY_USED_BYTES, used)};
    bar.availability = panel_ratio(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES,
                                   &bar.ratio);
    bar.color = paint_load(bar.availability, bar.ratio, view->options->memory_thresholds);
    if (bar.availability <= 0)
        bar.note = NULL;
    begin_bar(paint);
    paint_bar(paint, &bar, columns - 2);
    end_bar(paint);
}

static void clock_note(const struct view *view, const vitals_row *gpu, const char *label,
                       char out[static PANEL_TEXT])
{
    double hertz;
    const vitals_row *row = find_child(view, VITALS_GPU_CLOCK, gpu, label);
    out[0] = '\0';
    if (row != NULL && vitals_row_f64(row, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, &hertz) > 0)
        (void)snprintf(out, PANEL_TEXT, "@ %.0fMHz", hertz / 1e6);
}

static void ratio_bar(struct paint *paint, const struct view *view, const vitals_row *gpu,
                      const char *label, size_t columns)
{
    bool memory = strcmp(label, "MBW") == 0;
    char note[PANEL_TEXT];
    clock_note(view, gpu, memory ? "memory" : "sm", note);
    struct bar bar = {.label = label, .note = note, .note_columns = NOTE};
    bar.availability = vitals_row_f64(
        gpu, memory ? VITALS_GPU_MEMORY_BUSY_RATIO : VITALS_GPU_UTILIZATION_RATIO, &bar.ratio);
    bar.color = paint_load(bar.availability, bar.ratio,
                           memory ? view->options->memory_thresholds
                                  : view->options->gpu_thresholds);
    begin_bar(paint);
    paint_bar(paint, &bar, columns - 2);
    end_bar(paint);
}

static void power_bar(struct paint *paint, const struct view *view, const vitals_row *gpu,
                      size_t columns)
{
    char watts[PANEL_TEXT];
    struct bar bar = {.label = "PWR",
                      .note_columns = NOTE,
                      .note = panel_number(gpu, VITALS_GPU_POWER_WATTS, "%.0fW", watts)};
    bar.availability = panel_ratio(gpu, VITALS_GPU_POWER_WATTS, VITALS_GPU_POWER_LIMIT_WATTS,
                                   &bar.ratio);
    bar.color = paint_load(bar.availability, bar.ratio, view->options->gpu_thresholds);
    if (bar.availability <= 0)
        bar.note = NULL;
    begin_bar(paint);
    paint_bar(paint, &bar, columns - 2);
    end_bar(paint);
}

/* ---- rows ---- */

static void first_line(struct paint *paint, const struct view *view, const vitals_row *gpu,
                       bool mig)
{
    char name[DEVICE_NAME], bus[PANEL_TEXT], ecc[PANEL_TEXT];
    enum { NAME = 19, BUS = 16 };
    enum color color = panel_device_color(view, gpu);
    struct bars bars = bars_of(view);
    device_name(view, gpu, NAME, name);
    paint_edge(paint);
    paint_cell(paint, color, ALIGN_RIGHT, 4, vitals_row_label(gpu));
    paint_text(paint, COLOR_PLAIN, "  ");
    paint_cell(paint, color, ALIGN_LEFT, NAME, name);
    paint_cell(paint, color, ALIGN_RIGHT, 5, on_off(gpu, VITALS_GPU_PERSISTENCE_MODE));
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_cell(paint, color, ALIGN_LEFT, BUS,
               panel_text(view, gpu, VITALS_GPU_PCI_BUS_ID, bus, sizeof(bus)));
    paint_cell(paint, color, ALIGN_RIGHT, 4, on_off(gpu, VITALS_GPU_DISPLAY_ACTIVE));
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    paint_cell(paint, color, ALIGN_RIGHT, 9, mig ? mig_mode(gpu) : "");
    double errors;
    bool broken = vitals_row_number(gpu, VITALS_GPU_ECC_ERRORS_UNCORRECTED, &errors) > 0 &&
                  errors > 0;
    paint_cell(paint, broken ? COLOR_MAGENTA : color, ALIGN_RIGHT, 12,
               panel_number(gpu, VITALS_GPU_ECC_ERRORS_UNCORRECTED, "%.0f", ecc));
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    if (bars.first > 0)
        memory_bar(paint, view, gpu, bars.first);
    if (bars.second > 0)
        ratio_bar(paint, view, gpu, "MBW", bars.second);
    paint_end(paint);
}

static void power_words(const vitals_row *gpu, char *out, size_t capacity)
{
    char usage[PANEL_TEXT], limit[PANEL_TEXT];
    (void)snprintf(out, capacity, "%s / %s",
                   panel_number(gpu, VITALS_GPU_POWER_WATTS, "%.0fW", usage),
                   panel_number(gpu, VITALS_GPU_POWER_LIMIT_WATTS, "%.0fW", limit));
}

static void memory_words(const vitals_row *gpu, char *out, size_t capacity)
{
    char used[PANEL_TEXT], total[PANEL_TEXT];
    const struct silence *silence = trouble_silence(gpu);
    if (silence != NULL) {
        (void)snprintf(out, capacity, "%s", silence->word);
        return;
    }
    (void)snprintf(out, capacity, "%s / %s", panel_bytes(gpu, VITALS_GPU_MEMORY_USED_BYTES, used),
                   panel_bytes(gpu, VITALS_GPU_MEMORY_TOTAL_BYTES, total));
}

/* How busy it is, and what is wrong with it or else the compute mode; for a long note the load
 * moves to the left. */
static void load_cells(struct paint *paint, const struct view *view, const vitals_row *gpu)
{
    enum { CELLS = 21, LOAD = 8, LOAD_LEAST = 4, NOTE_MOST = CELLS - LOAD_LEAST - 1 };
    char text[PANEL_TEXT], note[TROUBLE_WORDS];
    enum color color = panel_device_color(view, gpu);
    size_t load = LOAD;
    bool noted = trouble_note(gpu, NOTE_MOST, note);
    if (noted && CELLS - LOAD < 1 + strlen(note))
        load = CELLS - 1 - strlen(note);
    paint_cell(paint, color, ALIGN_RIGHT, load,
               panel_percent(gpu, VITALS_GPU_UTILIZATION_RATIO, text));
    paint_cell(paint, noted ? COLOR_MAGENTA : color, ALIGN_RIGHT, CELLS - load,
               noted ? note : compute_mode(view, gpu, text));
}

static void second_line(struct paint *paint, const struct view *view, const vitals_row *gpu)
{
    char text[2 * PANEL_TEXT + 8];
    enum color color = panel_device_color(view, gpu);
    struct bars bars = bars_of(view);
    paint_edge(paint);
    fan(gpu, text);
    paint_cell(paint, color, ALIGN_RIGHT, 4, text);
    paint_cell(paint, color, ALIGN_RIGHT, 6,
               panel_number(gpu, VITALS_GPU_TEMPERATURE_CELSIUS, "%.0fC", text));
    paint_cell(paint, color, ALIGN_RIGHT, 5,
               panel_number(gpu, VITALS_GPU_PERFORMANCE_STATE, "P%.0f", text));
    power_words(gpu, text, sizeof(text));
    paint_cell(paint, color, ALIGN_RIGHT, 15, text);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    memory_words(gpu, text, sizeof(text));
    paint_cell(paint, color, ALIGN_RIGHT, 21, text);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    load_cells(paint, view, gpu);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    if (bars.first > 0)
        ratio_bar(paint, view, gpu, "UTL", bars.first);
    if (bars.second > 0)
        power_bar(paint, view, gpu, bars.second);
    paint_end(paint);
}

static void bar1_words(const struct view *view, const vitals_row *gpu, char *out, size_t capacity)
{
    double ratio;
    char used[PANEL_TEXT], percent[16];
    const vitals_row *pool = find_child(view, VITALS_GPU_POOL, gpu, "bar1");
    bool known = pool != NULL && panel_ratio(pool, VITALS_GPU_POOL_USED_BYTES,
                                             VITALS_GPU_POOL_TOTAL_BYTES, &ratio) > 0;
    (void)snprintf(percent, sizeof(percent), known ? "%.0f%%" : "N/A", known ? ratio * 100 : 0);
    (void)snprintf(out, capacity, "BAR1: %8s / %3s",
                   panel_bytes(pool, VITALS_GPU_POOL_USED_BYTES, used), percent);
}

/* A MIG device is placed by two numbers; another partition has a name alone. */
static bool is_mig(const vitals_row *part)
{
    return vitals_row_availability(part, VITALS_GPU_GPU_INSTANCE_ID) != VITALS_UNSUPPORTED ||
           vitals_row_availability(part, VITALS_GPU_COMPUTE_INSTANCE_ID) != VITALS_UNSUPPORTED;
}

/* Of a MIG device how busy it is, below its device's, and how much of BAR1 it uses; where that is
 * not told, BAR1 as nvitop has it. */
static void load_words(const struct view *view, const vitals_row *part, char *out, size_t capacity)
{
    double ratio;
    char busy[PANEL_TEXT], used[PANEL_TEXT];
    bool known = vitals_row_f64(part, VITALS_GPU_UTILIZATION_RATIO, &ratio) > 0;
    panel_percent(part, VITALS_GPU_UTILIZATION_RATIO, busy);
    if (!is_mig(part))
        (void)snprintf(out, capacity, "UTL:  %s", busy);
    else if (known)
        (void)snprintf(out, capacity, "%7s%5s%8s", busy, "BAR1",
                       panel_bytes(find_child(view, VITALS_GPU_POOL, part, "bar1"),
                                   VITALS_GPU_POOL_USED_BYTES, used));
    else
        bar1_words(view, part, out, capacity);
}

static void partition_words(const struct view *view, const vitals_row *part, char *out,
                            size_t capacity)
{
    char name[DEVICE_NAME], gi[PANEL_TEXT], ci[PANEL_TEXT];
    device_name(view, part, is_mig(part) ? 12 : 24, name);
    if (!is_mig(part)) {
        (void)snprintf(out, capacity, "%s", name);
        return;
    }
    (void)snprintf(out, capacity, "%s @ GI/CI: %s/%s", name,
                   panel_number(part, VITALS_GPU_GPU_INSTANCE_ID, "%.0f", gi),
                   panel_number(part, VITALS_GPU_COMPUTE_INSTANCE_ID, "%.0f", ci));
}

static void partition_line(struct paint *paint, const struct view *view, const vitals_row *part)
{
    char text[DEVICE_NAME + 2 * PANEL_TEXT + 16];
    enum color color = panel_device_color(view, part);
    struct bars bars = bars_of(view);
    paint_edge(paint);
    paint_cell(paint, color, ALIGN_RIGHT, 4, vitals_row_label(part));
    partition_words(view, part, text, sizeof(text));
    paint_cell(paint, color, ALIGN_RIGHT, 26, text);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    memory_words(part, text, sizeof(text));
    paint_cell(paint, color, ALIGN_RIGHT, 21, text);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    paint_text(paint, COLOR_PLAIN, " ");
    load_words(view, part, text, sizeof(text));
    paint_cell(paint, color, ALIGN_LEFT, 20, text);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    if (bars.first > 0)
        memory_bar(paint, view, part, bars.first + (bars.second > 0 ? bars.second + 1 : 0));
    paint_end(paint);
}

/* ---- the box ---- */

static bool any_mig(const struct view *view)
{
    uint64_t mode;
    for (const vitals_row *gpu = NULL;
         (gpu = vitals_snapshot_next(view->now, VITALS_GPU, gpu)) != NULL;) {
        if (vitals_row_u64(gpu, VITALS_GPU_MIG_MODE, &mode) > 0)
            return true;
    }
    return false;
}

static void title_line(struct paint *paint, const struct view *view, const vitals_row *gpu)
{
    char line[PANEL_TEXT * 4], driver[PANEL_TEXT], cuda[PANEL_TEXT], left[PANEL_TEXT * 2];
    (void)snprintf(left, sizeof(left), "VITALS %s", vitals_version_text());
    paint_edge(paint);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_cell(paint, COLOR_PLAIN, ALIGN_LEFT, 18, left);
    (void)snprintf(line, sizeof(line), "Driver Version: %s",
                   panel_text(view, gpu, VITALS_GPU_DRIVER_VERSION, driver, sizeof(driver)));
    paint_cell(paint, COLOR_PLAIN, ALIGN_LEFT, 29, line);
    (void)snprintf(line, sizeof(line), "CUDA Driver Version: %s",
                   panel_text(view, gpu, VITALS_GPU_CUDA_VERSION, cuda, sizeof(cuda)));
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, 28, line);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    paint_end(paint);
}

static void header_lines(struct paint *paint, bool mig)
{
    static const char *const LINES[2][3] = {
        {" GPU  Name        Persistence-M", " Bus-Id        Disp.A ", " Volatile Uncorr. ECC "},
        {" Fan  Temp  Perf  Pwr:Usage/Cap", "         Memory-Usage ", " GPU-Util  Compute M. "}};
    for (size_t i = 0; i < 2; i++) {
        paint_edge(paint);
        paint_text(paint, COLOR_PLAIN, LINES[i][0]);
        paint_edge(paint);
        paint_text(paint, COLOR_PLAIN, LINES[i][1]);
        paint_edge(paint);
        paint_text(paint, COLOR_PLAIN, i == 0 && mig ? " MIG M.   Uncorr. ECC " : LINES[i][2]);
        paint_edge(paint);
        paint_end(paint);
    }
}

/* A device, its partitions, and the rule above each. `above` is what the row before had. */
static void device_block(struct paint *paint, const struct view *view, const vitals_row *gpu,
                         bool mig, bool first, struct edges *above)
{
    struct edges split = edges_of(view, true), whole = edges_of(view, false);
    paint_rule(paint, first, above, &split);
    first_line(paint, view, gpu, mig);
    second_line(paint, view, gpu);
    *above = split;
    bool begun = false;
    for (const vitals_row *part = NULL;
         (part = vitals_snapshot_next_child(view->now, VITALS_GPU, vitals_row_key(gpu), part)) !=
         NULL;) {
        if (!begun)
            paint_rule(paint, false, above, &whole);
        begun = true;
        partition_line(paint, view, part);
        *above = whole;
    }
}

/* Why there is no device: what the back ends say, or that none was asked. */
static void no_devices(struct paint *paint, const struct view *view)
{
    bool any = vitals_snapshot_count(view->now, VITALS_GPU) > 0;
    bool told = any;
    if (any)
        paint_text(paint, COLOR_DIM,
                   view->options->devices_visible ? "No GPU is visible (CUDA_VISIBLE_DEVICES)."
                                                  : "No GPU was chosen.");
    for (const vitals_row *row = NULL;
         !any && (row = report_next_back_end(view->now, row)) != NULL;) {
        char message[256];
        panel_text(view, row, VITALS_SOURCE_MESSAGE, message, sizeof(message));
        paint_text(paint, COLOR_DIM, told ? "; " : "No GPU: ");
        paint_text(paint, COLOR_DIM, message);
        told = true;
    }
    if (!told)
        paint_text(paint, COLOR_DIM, "No GPU.");
    paint_end(paint);
}

void panel_devices(struct paint *paint, const struct view *view)
{
    bool mig = any_mig(view), first = true;
    struct edges above = TABLE;
    for (const vitals_row *gpu = NULL;
         (gpu = vitals_snapshot_next(view->now, VITALS_GPU, gpu)) != NULL;) {
        if (vitals_row_parent(gpu) != 0 || !panel_shows_device(view, gpu))
            continue;
        if (first) {
            paint_rule(paint, true, &(struct edges){.count = 0}, &TITLE);
            title_line(paint, view, gpu);
            paint_rule(paint, false, &TITLE, &TABLE);
            header_lines(paint, mig);
        }
        device_block(paint, view, gpu, mig, first, &above);
        first = false;
    }
    if (first)
        no_devices(paint, view);
    else
        paint_rule(paint, true, &above, &(struct edges){.count = 0});
}
