/* pane_host.c: CPU, memory, swap and load: as graphs with their averages, or in two lines.
 *
 * Beside the graphs stand those of the devices or, without any, each CPU, disks, networks and
 * pressure. With devices, disks, networks and many CPUs stand below if there is room. */
#include <stdio.h>
#include <string.h>

#include "monitor/screens/pane.h"
#include "util/base.h"
#include "view/host_bars.h"

enum { CPU_ROWS = 5, MEMORY_ROWS = 4, GRAPHS = CPU_ROWS + 1 + MEMORY_ROWS + 1 };
enum { MEAN_SECONDS = 120, FACTS_MOST = 5, FACT = 160 };
enum { ROOM = 24 }; /* from this height on more than bars of the machine is shown */

static bool has_pane(const struct model *model)
{
    return model->width >= WIDE;
}

static bool has_devices(const struct model *model)
{
    return model_device_count(model) > 0;
}

/* ---- facts: a line of words each ---- */

struct facts {
    char lines[FACTS_MOST][FACT];
    size_t count;
};

static char *rate_words(const struct model *model, vitals_metric metric, char *out)
{
    double rate = 0;
    bool known = model_rate(model, model_host(model), metric, &rate);
    return cell_rate(known, rate, out);
}

static void collect_facts(const struct model *model, struct facts *facts)
{
    enum { IN, OUT, PRESSURE, TASKS, CGROUP };
    const vitals_row *host = model_host(model);
    const vitals_snapshot *now = model->machine.now;
    char a[WORDS], b[WORDS], uptime[WORDS], count[WORDS] = "";
    double number;
    (void)snprintf(facts->lines[IN], FACT, "Disk read %s, written %s",
                   rate_words(model, VITALS_HOST_DISK_READ_BYTES, a),
                   rate_words(model, VITALS_HOST_DISK_WRITTEN_BYTES, b));
    (void)snprintf(facts->lines[OUT], FACT, "Network in %s, out %s",
                   rate_words(model, VITALS_HOST_NETWORK_RECEIVED_BYTES, a),
                   rate_words(model, VITALS_HOST_NETWORK_TRANSMITTED_BYTES, b));

    /* The share of the last ten seconds in which some task of the machine waited. A recording
     * without such rows has none. */
    char *line = facts->lines[PRESSURE];
    size_t begin = (size_t)snprintf(line, FACT, "Pressure");
    for (const vitals_row *row = NULL; (row = row_next(now, VITALS_TABLE_PRESSURE, row)) != NULL;) {
        (void)cell_text(row, VITALS_PRESSURE_SCOPE, true, a, sizeof a);
        if (strcmp(a, "cgroup") != 0)
            cell_add(line, FACT, "%s %s %s", line[begin] != '\0' ? "," : "",
                     cell_text(row, VITALS_PRESSURE_RESOURCE, true, a, sizeof a),
                     cell_percent(row, VITALS_PRESSURE_SOME_10S_RATIO, b));
    }
    if (line[begin] == '\0')
        cell_add(line, FACT, " N/A");

    (void)cell_not_available(uptime);
    if (cell_value(host, VITALS_HOST_UPTIME_SECONDS, &number))
        (void)vitals_human_duration(number, uptime);
    (void)snprintf(facts->lines[TASKS], FACT, "Tasks %s, %s running; up %s",
                   cell_number(host, VITALS_HOST_TASKS, "", a),
                   cell_number(host, VITALS_HOST_TASKS_RUNNING, "", b), uptime);

    /* The limits of our own cgroup if they are below the machine's. */
    facts->count = CGROUP;
    if (cell_value(host, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, &number))
        (void)snprintf(count, sizeof count, " at most %.4g CPUs;", number);
    (void)cell_bytes(host, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, b);
    if (b[0] != 'N' || count[0] != '\0')
        (void)snprintf(facts->lines[facts->count++], FACT, "Our cgroup:%s memory %s of %s", count,
                       cell_bytes(host, VITALS_HOST_CGROUP_MEMORY_USED_BYTES, a), b);
}

static int fact_count(const struct model *model)
{
    struct facts facts;
    collect_facts(model, &facts);
    return (int)facts.count;
}

/* ---- disks and networks: where there are devices, or in one line ---- */

bool pane_host_has_traffic(const struct model *model)
{
    bool any = false;
    for (size_t i = 0; i < TRAFFIC_KINDS; i++)
        any = any || vitals_row_availability(model_host(model), traffic_metrics[i]) > 0;
    return any && has_devices(model);
}

/* In one line from nvitop's least width on. */
static int traffic_rows(const struct model *model)
{
    return model->width >= NARROW ? 1 : 2;
}

/* Each value takes ten columns at most, and none is cut. */
static const struct traffic_words {
    int rows, columns;
    const char *read, *written, *in, *out; /* in: NULL: there is no room for networks */
} TRAFFIC_WORDS[] = {
    {1, 75, "Disk read ", ", written ", "; Net in ", ", out "},
    {1, 66, "Disk R ", ", W ", "; Net in ", ", out "},
    {1, 0, "Disk R ", ", W ", NULL, NULL},
    {2, 41, "Disk read ", ", written ", "Network in ", ", out "},
    {2, 0, "Disk R ", ", W ", "Net in ", ", out "},
};

static void draw_traffic(struct pen *pen, const struct model *model, const struct box *box)
{
    char line[FACT], read[WORDS], written[WORDS], in[WORDS], out[WORDS];
    const struct traffic_words *words = TRAFFIC_WORDS;
    int rows = box->rows > 1 ? 2 : 1, columns = box->columns > 0 ? box->columns : 0;
    while (words->rows != rows || words->columns > columns)
        words++;
    int y = box->y;
    (void)snprintf(line, sizeof line, "%s%s%s%s", words->read,
                   rate_words(model, VITALS_HOST_DISK_READ_BYTES, read), words->written,
                   rate_words(model, VITALS_HOST_DISK_WRITTEN_BYTES, written));
    if (rows == 2) {
        canvas_words(pen->canvas, box->x, y++, columns, STYLE_PLAIN, line);
        line[0] = '\0';
    }
    if (words->in != NULL)
        cell_add(line, sizeof line, "%s%s%s%s", words->in,
                 rate_words(model, VITALS_HOST_NETWORK_RECEIVED_BYTES, in), words->out,
                 rate_words(model, VITALS_HOST_NETWORK_TRANSMITTED_BYTES, out));
    canvas_words(pen->canvas, box->x, y, columns, STYLE_PLAIN, line);
}

/* From so many on they are shown beside devices too. */
enum { MANY_CPUS = 17 };

/* Rows for CPUs where these have the whole width. */
static int cpu_rows_most(const struct model *model)
{
    enum { LEAST = 4, SHARE = 6 };
    return model->height / SHARE > LEAST ? model->height / SHARE : LEAST;
}

/* CPUs beside devices, whose rows and users have priority. */
static int cpu_rows_beside_devices(const struct model *model)
{
    enum { STEP = 12 };
    if (pane_cpus_count(model) < MANY_CPUS || model->mode == MONITOR_COMPACT ||
        model->height < ROOM)
        return 0;
    return pane_cpus_rows(model, model->width - 4, 1 + (model->height - ROOM) / STEP);
}

/* ---- the pane beside the graphs, without devices ---- */

enum { PANE_LEAST = 46, PANE_STEP = 11, PANE_EDGES = 4 };

/* Up to half of the width, where that shows more of each CPU. */
static int pane_wide(const struct model *model, enum cpus_form *found)
{
    int rows = GRAPHS - fact_count(model);
    for (enum cpus_form form = CPUS_BARS; form <= CPUS_CELLS; form++) {
        for (int wide = PANE_LEAST; wide == PANE_LEAST || wide <= model->width / 2;
             wide += PANE_STEP) {
            *found = pane_cpus_form(model, wide - PANE_EDGES, rows);
            if (*found == form)
                return wide;
        }
    }
    *found = CPUS_SHARED_CELLS;
    return PANE_LEAST;
}

/* True if the CPUs stand below the graphs with a cell each, as the pane has no room for that. */
static bool has_cpus_below(const struct model *model)
{
    enum { TALL = 36 };
    enum cpus_form form;
    if (!has_pane(model) || has_devices(model) || model->height < TALL)
        return false;
    (void)pane_wide(model, &form);
    return form == CPUS_SHARED_CELLS &&
           pane_cpus_form(model, model->width - 4, cpu_rows_most(model)) != CPUS_SHARED_CELLS;
}

struct region {
    int left, columns; /* inside its vertical lines */
    int y;
};

static void overlay(struct pen *pen, const struct region *region, int y, char *text)
{
    draw_fit(text, region->columns);
    int wide = canvas_text(pen->canvas, region->left, y, STYLE_BOLD, text);
    if (wide > 0 && wide < region->columns && text[strlen(text) - 1] != ' ')
        (void)canvas_text(pen->canvas, region->left + wide, y, STYLE_BOLD, " ");
}

/* " CPU: 24.0%  mean 12.3% " */
static void legend(const struct model *model, const struct history *history, const char *label,
                   bool known, double now, const char *more, char *out)
{
    double mean;
    (void)snprintf(out, FACT, " %s: ", label);
    cell_add(out, FACT, known ? "%.1f%%" : "N/A", now * 100);
    if (more != NULL)
        cell_add(out, FACT, " (%s)", more);
    if (history_mean(history, model_ago(model), MEAN_SECONDS, &mean))
        cell_add(out, FACT, "  mean %.1f%%", mean * 100);
    cell_add(out, FACT, " ");
}

/* CPU, memory and swap of the last minutes, with their averages. */
static void host_graphs(struct pen *pen, const struct model *model, const struct region *region)
{
    const struct {
        const struct history *history;
        int y, rows, words_y;
        ink style;
        const char *label;
        vitals_metric used, total; /* 0: CPU */
    } PARTS[] = {
        {&model->history->cpu, 0, CPU_ROWS, 1, STYLE_CYAN, "CPU", 0, 0},
        {&model->history->memory, CPU_ROWS + 1, MEMORY_ROWS, GRAPHS - 2, STYLE_MAGENTA, "MEM",
         VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES},
        {&model->history->swap, CPU_ROWS + 1 + MEMORY_ROWS, 1, GRAPHS - 1, STYLE_BLUE, "SWP",
         VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES},
    };
    const vitals_row *host = model_host(model);
    char line[FACT], used[WORDS];
    for (size_t i = 0; i < ARRAY_COUNT(PARTS); i++) {
        double ratio = 0;
        struct box box = {region->left, region->y + PARTS[i].y, region->columns, PARTS[i].rows};
        struct graph graph = {.history = PARTS[i].history,
                              .ago = model_ago(model),
                              .most = 1,
                              .down = i == 1,
                              .style = PARTS[i].style};
        draw_graph(pen, &box, &graph);
        bool cpu = i == 0, known = cpu ? model_cpu_ratio(model, &ratio)
                                       : cell_ratio(host, PARTS[i].used, PARTS[i].total, &ratio);
        legend(model, PARTS[i].history, PARTS[i].label, known, ratio,
               cpu || (i == 2 && !known) ? NULL : cell_bytes(host, PARTS[i].used, used), line);
        overlay(pen, region, region->y + PARTS[i].words_y, line);
    }
    host_load_words(host, " Load Average:", 0, line, FACT);
    cell_add(line, FACT, " ");
    overlay(pen, region, region->y, line);
}

/* The graphs of the chosen device, or of that of the selected process, or the mean of all. */
static void device_graphs(struct pen *pen, const struct model *model, const struct region *region)
{
    uint64_t key = model->has_device     ? model->device
                   : model->has_selected ? model->selected.gpu
                                         : 0;
    const struct device_history *own = model_device_history(model, key);
    const struct history *memory = own != NULL ? &own->memory : &model->history->gpu_memory;
    const struct history *busy = own != NULL ? &own->busy : &model->history->gpu_busy;
    const vitals_row *gpu = own != NULL ? vitals_snapshot_find(model->machine.now, VITALS_TABLE_GPU,
                                                               own->key)
                                        : NULL;
    const char *which = gpu != NULL                     ? vitals_row_label(gpu)
                        : model_device_count(model) > 1 ? "AVG"
                                                        : "";
    size_t ago = model_ago(model);
    for (int i = 0; i < 2; i++) {
        char label[WORDS], line[FACT];
        const struct history *history = i == 0 ? memory : busy;
        double now = history_get(history, ago);
        bool known = now == now;
        struct box box = {region->left, region->y + i * (CPU_ROWS + 1), region->columns, CPU_ROWS};
        struct graph graph = {
            .history = history,
            .ago = ago,
            .most = 1,
            .down = i > 0,
            .style = draw_load(known, now,
                               i == 0 ? pen->look->memory_thresholds : pen->look->gpu_thresholds)};
        draw_graph(pen, &box, &graph);
        (void)snprintf(label, sizeof label, "%.40s%s%s", which, which[0] != '\0' ? " " : "",
                       i == 0 ? "GPU MEM" : "GPU UTL");
        legend(model, history, label, known, now, NULL, line);
        overlay(pen, region, region->y + i * (GRAPHS - 1), line);
    }
}

static void draw_facts(struct pen *pen, const struct model *model, const struct box *box)
{
    struct facts facts;
    collect_facts(model, &facts);
    for (int i = 0; i < (int)facts.count && i < box->rows; i++)
        canvas_words(pen->canvas, box->x, box->y + i, box->columns, STYLE_PLAIN, facts.lines[i]);
}

/* CPUs above facts, or beside devices above disks and networks. */
static void draw_machine(struct pen *pen, const struct model *model, const struct box *box)
{
    bool devices = has_devices(model);
    struct box cpus = *box, rest = *box;
    cpus.rows = devices ? cpu_rows_beside_devices(model)
                        : pane_cpus_rows(model, box->columns, box->rows - fact_count(model));
    rest.y += cpus.rows;
    rest.rows -= cpus.rows;
    pane_cpus(pen, model, &cpus);
    if (!devices)
        draw_facts(pen, model, &rest);
    else if (rest.rows > 0)
        draw_traffic(pen, model, &rest);
}

/* Rows below the graphs, where what the machine does has no pane of its own. */
static int machine_rows(const struct model *model, bool traffic)
{
    int columns = model->width - 4, rows = 0;
    if (has_devices(model))
        rows = cpu_rows_beside_devices(model) + (traffic ? traffic_rows(model) : 0);
    else if (has_cpus_below(model) || !has_pane(model))
        rows = pane_cpus_rows(model, columns, cpu_rows_most(model)) +
               (has_pane(model) ? 0 : fact_count(model));
    return rows > 0 ? rows + 1 : 0;
}

static void draw_full(struct pen *pen, const struct model *model, int y, bool traffic,
                      const struct edges *above)
{
    bool pane = has_pane(model), devices = has_devices(model);
    enum cpus_form form;
    int left = !pane     ? model->width - 1
               : devices ? NARROW - 1
                         : model->width - pane_wide(model, &form);
    struct edges edges = {{0, left}, 2}, middle = edges, none = {.count = 0};
    if (pane)
        edges.at[edges.count++] = model->width - 1;
    draw_rule(pen, y, true, above, &edges);
    struct region region = {1, left - 1, y + 1};
    for (int row = 0; row < GRAPHS; row++)
        draw_edges(pen, region.y + row, &edges);
    if (pane && devices)
        middle = edges;
    draw_rule(pen, region.y + CPU_ROWS, false, &middle, &middle);
    if (pane && !devices)
        draw_edges(pen, region.y + CPU_ROWS, &(struct edges){{model->width - 1}, 1});
    draw_time_marks(pen, 0, left, region.y + CPU_ROWS);
    host_graphs(pen, model, &region);
    if (pane) {
        struct region right = {left + 1, model->width - left - 2, y + 1};
        struct box box = {right.left + 1, right.y, right.columns - 2, GRAPHS};
        if (devices) {
            device_graphs(pen, model, &right);
            draw_time_marks(pen, left, model->width - 1, region.y + CPU_ROWS);
        } else if (has_cpus_below(model)) {
            draw_facts(pen, model, &box);
        } else {
            draw_machine(pen, model, &box);
        }
    }

    /* Figures without room above stand below a rule. */
    int bottom = region.y + GRAPHS, rows = machine_rows(model, traffic);
    struct box box = {2, bottom + 1, model->width - 4, rows - 1};
    if (rows > 0) {
        struct edges whole = {{0, model->width - 1}, 2};
        draw_rule(pen, bottom, false, &edges, &whole);
        for (int row = 1; row < rows; row++)
            draw_edges(pen, bottom + row, &whole);
        if (pane && !devices)
            pane_cpus(pen, model, &box);
        else
            draw_machine(pen, model, &box);
        edges = whole;
    }
    draw_rule(pen, bottom + rows, true, &edges, &none);
}

int pane_host_rows(const struct model *model, bool full, bool traffic)
{
    if (model_host(model) == NULL)
        return 0;
    if (full)
        return GRAPHS + 1 + machine_rows(model, traffic) + !has_devices(model);
    if (has_devices(model))
        return 2 + cpu_rows_beside_devices(model) + (traffic ? traffic_rows(model) : 0);

    /* Without devices: rows for what else the machine does, or one line of it. */
    if (model->mode == MONITOR_COMPACT || model->height < ROOM)
        return 3;
    return 2 + pane_cpus_rows(model, model->width, cpu_rows_most(model)) + fact_count(model);
}

void pane_host(struct pen *pen, const struct model *model, int y, bool full, bool traffic,
               const struct edges *above)
{
    if (model_host(model) == NULL)
        return;
    if (full) {
        draw_full(pen, model, has_devices(model) ? y - 1 : y, traffic, above);
        return;
    }
    struct host_bars bars = {.host = model_host(model), .width = model->width};
    bars.cpu_known = model_cpu_ratio(model, &bars.cpu_ratio);
    host_bars_draw(pen, &bars, y);
    struct box box = {0, y + 2, model->width, pane_host_rows(model, false, traffic) - 2};
    if (has_devices(model)) {
        box.x += 2;
        box.columns -= 4;
    }
    if (has_devices(model) || box.rows > 1)
        draw_machine(pen, model, &box);
    else
        draw_traffic(pen, model, &box);
}
