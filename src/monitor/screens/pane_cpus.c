/* pane_cpus.c: see pane.h.
 *
 * The place of a cell follows from the number of its CPU, ten to a group, so that CPU 317 can be
 * found; an offline CPU leaves its place empty. If there are more CPUs than places, a cell is the
 * busiest of 2, 4, 8 … CPUs, and the words before the cells say so. It is unknown if one of them
 * is, unless another is fully busy. */
#include "monitor/screens/pane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 17, GROUP = 10, CELLS_MOST = 4096, LABEL = 40 };

/* More than Linux can have (NR_CPUS is 8192 at most): a file may say anything. */
enum { NUMBERS_MOST = 65536 };

static const vitals_row *next_cpu(const struct model *model, const vitals_row *cpu)
{
    return row_next(model->machine.now, VITALS_TABLE_CPU, cpu);
}

size_t pane_cpus_count(const struct model *model)
{
    return model->machine.now != NULL ? vitals_snapshot_count(model->machine.now, VITALS_TABLE_CPU)
                                      : 0;
}

/* "17" of "cpu17". */
static const char *number_words(const vitals_row *cpu)
{
    const char *label = vitals_row_label(cpu);
    return strncmp(label, "cpu", 3) == 0 ? label + 3 : label;
}

static int number_of(const vitals_row *cpu)
{
    unsigned long number = strtoul(number_words(cpu), NULL, 10);
    return number < NUMBERS_MOST ? (int)number : NUMBERS_MOST - 1;
}

static bool cpu_busy(const struct model *model, const vitals_row *cpu, double *out)
{
    const struct readings *machine = &model->machine;
    return cell_busy(cpu, machine->previous, VITALS_CPU_BUSY_SECONDS, VITALS_CPU_TOTAL_SECONDS,
                     out) ||
           cell_busy(cpu, machine->older, VITALS_CPU_BUSY_SECONDS, VITALS_CPU_TOTAL_SECONDS, out);
}

/* Rows of bars, and how many stand in each. */
static int bar_rows(const struct model *model, int columns, int *each)
{
    *each = columns / BAR > 0 ? columns / BAR : 1;
    return ((int)pane_cpus_count(model) + *each - 1) / *each;
}

struct cpu_grid {
    int end;    /* of the CPUs' numbers */
    int shared; /* CPUs of a cell */
    int cells, in_row, rows;
    bool grouped;   /* a blank between tens */
    bool captioned; /* a row of words above the cells */
    int label;      /* columns before the cells of a row */
};

/* "CPU 120 ", or in a single row of shared cells "CPU 0-511, max of 8 ". Gives its columns. */
static int label_words(const struct cpu_grid *grid, int row, char out[static LABEL])
{
    int digits = snprintf(NULL, 0, "%d", grid->end - 1);
    if (grid->shared > 1 && !grid->captioned)
        return snprintf(out, LABEL, "CPU 0-%d, max of %d ", grid->end - 1, grid->shared);
    return snprintf(out, LABEL, "%s %*d ", row == 0 ? "CPU" : "   ", digits,
                    row * grid->in_row * grid->shared);
}

/* The least sharing that the room allows. */
static void measure(const struct model *model, int columns, int rows, struct cpu_grid *grid)
{
    char label[LABEL];
    int end = 0; /* one more than the highest number: those that are offline have no row */
    for (const vitals_row *cpu = NULL; (cpu = next_cpu(model, cpu)) != NULL;)
        end = number_of(cpu) >= end ? number_of(cpu) + 1 : end;
    *grid = (struct cpu_grid){.end = end, .shared = 1};
    for (;; grid->shared *= 2) {
        grid->captioned = grid->shared > 1 && rows > 1;
        grid->label = label_words(grid, 0, label);
        grid->cells = (grid->end + grid->shared - 1) / grid->shared;
        int room = columns - grid->label > 1 ? columns - grid->label : 1;
        int groups = (room + 1) / (GROUP + 1);
        grid->grouped = groups > 0 && (rows > 1 || grid->cells <= groups * GROUP);
        grid->in_row = grid->grouped ? groups * GROUP : room;
        grid->rows = (grid->cells + grid->in_row - 1) / grid->in_row;
        bool fits = grid->rows + grid->captioned <= rows && grid->cells <= CELLS_MOST;
        if (fits || grid->cells <= 1)
            return;
    }
}

/* The levels of a cell: unknown, or all of its CPUs are offline, or 0 and up. */
enum { LEVEL_OFFLINE = -2, LEVEL_UNKNOWN = -1, LEVELS = 8 };

static void read_levels(const struct model *model, const struct cpu_grid *grid, signed char *levels)
{
    bool unknown[CELLS_MOST] = {false};
    memset(levels, LEVEL_OFFLINE, (size_t)grid->cells);
    for (const vitals_row *cpu = NULL; (cpu = next_cpu(model, cpu)) != NULL;) {
        double ratio;
        int level = LEVEL_UNKNOWN, cell = number_of(cpu) / grid->shared;
        if (cpu_busy(model, cpu, &ratio))
            level = (int)lround((ratio < 0 ? 0 : ratio > 1 ? 1 : ratio) * (LEVELS - 1));
        if (cell >= grid->cells)
            continue;
        unknown[cell] |= level == LEVEL_UNKNOWN;
        if (level > levels[cell])
            levels[cell] = (signed char)level;
    }
    for (int cell = 0; cell < grid->cells; cell++) {
        if (unknown[cell] && levels[cell] < LEVELS - 1)
            levels[cell] = LEVEL_UNKNOWN;
    }
}

/* "▅ 62%" for each CPU, where one row has room for all. */
enum { FIGURE = 6, FIGURES_MOST = 16 };

static bool has_figures(const struct model *model, const struct cpu_grid *grid,
                        const struct box *box)
{
    return !model->arranged.nvitop && grid->shared == 1 && grid->rows == 1 &&
           grid->cells <= FIGURES_MOST && grid->label + grid->cells * FIGURE <= box->columns;
}

static void draw_figures(struct pen *pen, const struct model *model, const struct cpu_grid *grid,
                         const struct box *box)
{
    char words[16];
    double ratio;
    for (const vitals_row *cpu = NULL; (cpu = next_cpu(model, cpu)) != NULL;) {
        if (!cpu_busy(model, cpu, &ratio))
            continue;
        (void)snprintf(words, sizeof words, "%3.0f%%", ratio * 100);
        (void)canvas_text(pen->canvas, box->x + grid->label + number_of(cpu) * FIGURE + 1, box->y,
                          INK_SOFT, words);
    }
}

void pane_cpus_strip(struct pen *pen, const struct model *model, const struct box *box)
{
    static const char *const GLYPHS[2][LEVELS + 2] = {
        {" ", "·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
        {" ", "?", "_", ".", ":", "-", "=", "+", "*", "#"}};
    char words[96];
    signed char levels[CELLS_MOST];
    struct cpu_grid grid;
    measure(model, box->columns, box->rows, &grid);
    read_levels(model, &grid, levels);
    bool figures = has_figures(model, &grid, box);
    if (grid.captioned) {
        (void)snprintf(words, sizeof words, "%zu CPUs; a cell is the busiest of %d",
                       pane_cpus_count(model), grid.shared);
        canvas_words(pen->canvas, box->x, box->y, box->columns, STYLE_PLAIN, words);
    }
    for (int cell = 0; cell < grid.cells; cell++) {
        int row = cell / grid.in_row, place = cell % grid.in_row, level = levels[cell];
        int x = grid.label +
                (figures ? place * FIGURE : place + (grid.grouped ? place / GROUP : 0));
        int y = box->y + grid.captioned + row;
        if (place == 0) {
            (void)label_words(&grid, row, words);
            canvas_words(pen->canvas, box->x, y, box->columns, STYLE_PLAIN, words);
        }
        ink style = level < 0                 ? STYLE_DIM
                    : !model->arranged.nvitop ? theme_step(INK_LOAD, (double)level / (LEVELS - 1))
                    : pen->look->colorful     ? draw_gradient((double)level / (LEVELS - 1))
                                              : STYLE_CYAN;
        if (x < box->columns && y < box->y + box->rows)
            canvas_repeat(pen->canvas, box->x + x, y, 1, style,
                          GLYPHS[pen->look->ascii][level - LEVEL_OFFLINE]);
    }
    if (figures)
        draw_figures(pen, model, &grid, box);
}

enum cpus_form pane_cpus_form(const struct model *model, int columns, int rows)
{
    struct cpu_grid grid;
    int each;
    if (bar_rows(model, columns, &each) <= rows)
        return CPUS_BARS;
    measure(model, columns, rows, &grid);
    return grid.shared == 1 ? CPUS_CELLS : CPUS_SHARED_CELLS;
}

int pane_cpus_strip_rows(const struct model *model, int columns, int rows)
{
    struct cpu_grid grid;
    if (rows <= 0 || pane_cpus_count(model) == 0)
        return 0;
    measure(model, columns, rows, &grid);
    int needed = grid.rows + grid.captioned;
    return needed < rows ? needed : rows;
}

int pane_cpus_rows(const struct model *model, int columns, int rows)
{
    int each, bars = bar_rows(model, columns, &each);
    return bars <= rows ? bars : pane_cpus_strip_rows(model, columns, rows);
}

void pane_cpus(struct pen *pen, const struct model *model, const struct box *box)
{
    int each, rows = bar_rows(model, box->columns, &each), wide = box->columns / each, place = 0;
    if (box->rows <= 0 || rows == 0)
        return;
    if (rows > box->rows) {
        pane_cpus_strip(pen, model, box);
        return;
    }
    for (const vitals_row *cpu = NULL; (cpu = next_cpu(model, cpu)) != NULL; place++) {
        struct bar bar = {.label = number_words(cpu)};
        bar.known = cpu_busy(model, cpu, &bar.ratio);
        bar.style = bar.known ? STYLE_CYAN : STYLE_DIM;
        draw_bar(pen, box->x + place % each * wide, box->y + place / each, wide - 1, &bar);
    }
}
