/* pane_host.c: CPU, memory, swap and load: as graphs with their averages, or in two lines.
 *
 * Beside the graphs stand those of the devices or, without any, each CPU, disks, networks and
 * pressure. With devices, disks, networks and many CPUs stand below if there is room. */
#include <stdio.h>
#include <string.h>

#include "monitor/screens/pane.h"
#include "monitor/screens/pane_cpus.h"
#include "view/host_bars.h"

enum { CPU_ROWS = 5, MEMORY_ROWS = 4, GRAPHS = CPU_ROWS + 1 + MEMORY_ROWS + 1 };
enum { MEAN_SECONDS = 120, FACTS_MOST = 8, FACT = 160 };
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

static char *next_fact(struct facts *facts)
{
    return facts->count < FACTS_MOST ? facts->lines[facts->count++] : facts->lines[FACTS_MOST - 1];
}

static char *rate_words(const struct model *model, vitals_metric metric, char *out)
{
    double rate = 0;
    bool known = model_rate(model, model_host(model), metric, &rate);
    return cell_rate(known, rate, out);
}

static void add_traffic(const struct model *model, struct facts *facts)
{
    char in[WORDS], out[WORDS];
    (void)snprintf(next_fact(facts), FACT, "Disk read %s, written %s",
                   rate_words(model, VITALS_HOST_DISK_READ_BYTES, in),
                   rate_words(model, VITALS_HOST_DISK_WRITTEN_BYTES, out));
    (void)snprintf(next_fact(facts), FACT, "Network in %s, out %s",
                   rate_words(model, VITALS_HOST_NETWORK_RECEIVED_BYTES, in),
                   rate_words(model, VITALS_HOST_NETWORK_TRANSMITTED_BYTES, out));
}

static bool is_text(const vitals_row *row, vitals_metric metric, const char *word)
{
    vitals_text text;
    return vitals_row_text(row, metric, &text) > 0 && text.size == strlen(word) &&
           memcmp(text.bytes, word, text.size) == 0;
}

/* The share of the last ten seconds in which some task of the machine waited. A recording without
 * such rows has none. */
static void add_pressure(const struct model *model, struct facts *facts)
{
    char *line = next_fact(facts), ratio[WORDS], name[WORDS];
    size_t used = (size_t)snprintf(line, FACT, "Pressure");
    bool any = false;
    for (const vitals_row *row = NULL;
         model->machine.now != NULL &&
         (row = vitals_snapshot_next(model->machine.now, VITALS_PRESSURE, row)) != NULL;) {
        if (is_text(row, VITALS_PRESSURE_SCOPE, "cgroup") || used >= FACT)
            continue;
        used += (size_t)snprintf(line + used, FACT - used, "%s %s %s", any ? "," : "",
                                 cell_text(row, VITALS_PRESSURE_RESOURCE, true, name, sizeof name),
                                 cell_percent(row, VITALS_PRESSURE_SOME_10S_RATIO, ratio));
        any = true;
    }
    if (!any)
        (void)snprintf(line, FACT, "Pressure N/A");
}

static void add_tasks(const struct model *model, struct facts *facts)
{
    char tasks[WORDS], running[WORDS], uptime[WORDS];
    double seconds;
    const vitals_row *host = model_host(model);
    (void)cell_not_available(uptime);
    if (cell_value(host, VITALS_HOST_UPTIME_SECONDS, &seconds))
        (void)vitals_human_duration(seconds, uptime);
    (void)snprintf(next_fact(facts), FACT, "Tasks %s, %s running; up %s",
                   cell_number(host, VITALS_HOST_TASKS, "", tasks),
                   cell_number(host, VITALS_HOST_TASKS_RUNNING, "", running), uptime);
}

/* The limits of our own cgroup if they are below the machine's. */
static void add_cgroup(const struct model *model, struct facts *facts)
{
    double cores;
    char used[WORDS], limit[WORDS], count[WORDS] = "";
    const vitals_row *host = model_host(model);
    if (cell_value(host, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, &cores))
        (void)snprintf(count, sizeof count, " at most %.4g CPUs;", cores);
    (void)cell_bytes(host, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, limit);
    if (limit[0] == 'N' && count[0] == '\0')
        return;
    (void)snprintf(next_fact(facts), FACT, "Our cgroup:%s memory %s of %s", count,
                   cell_bytes(host, VITALS_HOST_CGROUP_MEMORY_USED_BYTES, used), limit);
}

static void collect_facts(const struct model *model, struct facts *facts)
{
    facts->count = 0;
    add_traffic(model, facts);
    add_pressure(model, facts);
    add_tasks(model, facts);
    add_cgroup(model, facts);
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
    static const vitals_metric COUNTERS[] = {
        VITALS_HOST_DISK_READ_BYTES, VITALS_HOST_DISK_WRITTEN_BYTES,
        VITALS_HOST_NETWORK_RECEIVED_BYTES, VITALS_HOST_NETWORK_TRANSMITTED_BYTES};
    const vitals_row *host = model_host(model);
    bool any = false;
    for (size_t i = 0; host != NULL && i < sizeof COUNTERS / sizeof COUNTERS[0]; i++)
        any = any || vitals_row_availability(host, COUNTERS[i]) > 0;
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
    struct canvas_field field = {.x = box->x, .y = box->y, .columns = columns};
    int used = snprintf(line, sizeof line, "%s%s%s%s", words->read,
                        rate_words(model, VITALS_HOST_DISK_READ_BYTES, read), words->written,
                        rate_words(model, VITALS_HOST_DISK_WRITTEN_BYTES, written));
    if (rows == 2) {
        canvas_field(pen->canvas, &field, line);
        field.y++;
        used = 0;
    }
    if (words->in != NULL)
        (void)snprintf(line + used, sizeof line - (size_t)used, "%s%s%s%s", words->in,
                       rate_words(model, VITALS_HOST_NETWORK_RECEIVED_BYTES, in), words->out,
                       rate_words(model, VITALS_HOST_NETWORK_TRANSMITTED_BYTES, out));
    canvas_field(pen->canvas, &field, line);
}

/* ---- each CPU ---- */

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

static int pane_left(const struct model *model)
{
    enum cpus_form form;
    if (!has_pane(model))
        return model->width - 1;
    return has_devices(model) ? NARROW - 1 : model->width - pane_wide(model, &form);
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

/* ---- graphs ---- */

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
    size_t used = (size_t)snprintf(out, FACT, " %s: ", label);
    used += (size_t)snprintf(out + used, FACT - used, known ? "%.1f%%" : "N/A", now * 100);
    if (more != NULL)
        used += (size_t)snprintf(out + used, FACT - used, " (%s)", more);
    if (history_mean(history, model_ago(model), MEAN_SECONDS, &mean))
        used += (size_t)snprintf(out + used, FACT - used, "  mean %.1f%%", mean * 100);
    (void)snprintf(out + used, FACT - used, " ");
}

static void host_graphs(struct pen *pen, const struct model *model, const struct region *region)
{
    size_t ago = model_ago(model);
    struct box box = {region->left, region->y, region->columns, CPU_ROWS};
    struct graph graph = {.history = &model->cpu, .ago = ago, .most = 1, .style = STYLE_CYAN};
    draw_graph(pen, &box, &graph);
    box.y += CPU_ROWS + 1;
    box.rows = MEMORY_ROWS;
    graph = (struct graph){
        .history = &model->memory, .ago = ago, .most = 1, .down = true, .style = STYLE_MAGENTA};
    draw_graph(pen, &box, &graph);
    box.y += MEMORY_ROWS;
    box.rows = 1;
    graph = (struct graph){.history = &model->swap, .ago = ago, .most = 1, .style = STYLE_BLUE};
    draw_graph(pen, &box, &graph);
}

static void host_legends(struct pen *pen, const struct model *model, const struct region *region)
{
    const vitals_row *host = model_host(model);
    char line[FACT], used[WORDS];
    double ratio = 0;
    (void)host_load_words(host, " Load Average:", 0, line, FACT - 1);
    (void)strcat(line, " ");
    overlay(pen, region, region->y, line);
    bool known = model_cpu_ratio(model, &ratio);
    legend(model, &model->cpu, "CPU", known, ratio, NULL, line);
    overlay(pen, region, region->y + 1, line);
    known = cell_ratio(host, VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES, &ratio);
    legend(model, &model->memory, "MEM", known, ratio,
           cell_bytes(host, VITALS_HOST_MEMORY_USED_BYTES, used), line);
    overlay(pen, region, region->y + GRAPHS - 2, line);
    known = cell_ratio(host, VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES, &ratio);
    legend(model, &model->swap, "SWP", known, ratio,
           known ? cell_bytes(host, VITALS_HOST_SWAP_USED_BYTES, used) : NULL, line);
    overlay(pen, region, region->y + GRAPHS - 1, line);
}

/* The graphs of the chosen device, or of that of the selected process, or the mean of all. */
static void device_graphs(struct pen *pen, const struct model *model, const struct region *region)
{
    const struct device_history *own = model->has_device
                                           ? model_device_history(model, model->device)
                                       : model->has_selected
                                           ? model_device_history(model, model->selected.gpu)
                                           : NULL;
    const struct history *memory = own != NULL ? &own->memory : &model->gpu_memory;
    const struct history *busy = own != NULL ? &own->busy : &model->gpu_busy;
    const vitals_row *gpu = own != NULL
                                ? vitals_snapshot_find(model->machine.now, VITALS_GPU, own->key)
                                : NULL;
    const struct look *look = pen->look;
    size_t ago = model_ago(model);
    char label[WORDS], line[FACT], which[48];
    (void)snprintf(which, sizeof which, "%.40s",
                   gpu != NULL                     ? vitals_row_label(gpu)
                   : model_device_count(model) > 1 ? "AVG"
                                                   : "");
    double now = history_get(memory, ago);
    bool known = now == now;
    struct box box = {region->left, region->y, region->columns, CPU_ROWS};
    struct graph graph = {.history = memory,
                          .ago = ago,
                          .most = 1,
                          .style = draw_load(known, now, look->memory_thresholds)};
    draw_graph(pen, &box, &graph);
    (void)snprintf(label, sizeof label, "%s%sGPU MEM", which, which[0] != '\0' ? " " : "");
    legend(model, memory, label, known, now, NULL, line);
    overlay(pen, region, region->y, line);
    now = history_get(busy, ago);
    known = now == now;
    box.y += CPU_ROWS + 1;
    graph.history = busy;
    graph.down = true;
    graph.style = draw_load(known, now, look->gpu_thresholds);
    draw_graph(pen, &box, &graph);
    (void)snprintf(label, sizeof label, "%s%sGPU UTL", which, which[0] != '\0' ? " " : "");
    legend(model, busy, label, known, now, NULL, line);
    overlay(pen, region, region->y + GRAPHS - 1, line);
}

static void draw_facts(struct pen *pen, const struct model *model, const struct box *box)
{
    struct facts facts;
    collect_facts(model, &facts);
    for (size_t i = 0; i < facts.count && (int)i < box->rows; i++) {
        struct canvas_field field = {.x = box->x, .y = box->y + (int)i, .columns = box->columns};
        canvas_field(pen->canvas, &field, facts.lines[i]);
    }
}

/* CPUs above facts. */
static void draw_machine(struct pen *pen, const struct model *model, const struct box *box)
{
    int most = box->rows - fact_count(model);
    struct box cpus = {box->x, box->y, box->columns, pane_cpus_rows(model, box->columns, most)};
    struct box rest = {box->x, box->y + cpus.rows, box->columns, box->rows - cpus.rows};
    pane_cpus(pen, model, &cpus);
    draw_facts(pen, model, &rest);
}

/* CPUs above disks and networks. */
static void draw_beside_devices(struct pen *pen, const struct model *model, const struct box *box)
{
    struct box cpus = {box->x, box->y, box->columns, cpu_rows_beside_devices(model)};
    struct box rest = {box->x, box->y + cpus.rows, box->columns, box->rows - cpus.rows};
    pane_cpus(pen, model, &cpus);
    if (rest.rows > 0)
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

/* Below a rule that ends what stands above it; gives the row behind. */
static int draw_more(struct pen *pen, const struct model *model, int y, int rows,
                     struct edges *edges)
{
    struct edges whole = {{0, model->width - 1}, 2};
    struct box box = {2, y + 1, model->width - 4, rows - 1};
    if (rows == 0)
        return y;
    draw_rule(pen, y, false, edges, &whole);
    for (int row = 1; row < rows; row++)
        draw_edges(pen, y + row, &whole);
    if (has_devices(model))
        draw_beside_devices(pen, model, &box);
    else if (has_pane(model))
        pane_cpus(pen, model, &box);
    else
        draw_machine(pen, model, &box);
    *edges = whole;
    return y + rows;
}

static void draw_full(struct pen *pen, const struct model *model, int y, bool traffic,
                      const struct edges *above)
{
    struct edges edges = {{0, pane_left(model)}, 2}, none = {.count = 0};
    struct edges middle = edges;
    if (has_pane(model))
        edges.at[edges.count++] = model->width - 1;
    draw_rule(pen, y, true, above, &edges);
    struct region region = {1, edges.at[1] - 1, y + 1};
    for (int row = 0; row < GRAPHS; row++)
        draw_edges(pen, region.y + row, &edges);
    host_graphs(pen, model, &region);
    if (has_pane(model) && has_devices(model))
        middle = edges;
    draw_rule(pen, region.y + CPU_ROWS, false, &middle, &middle);
    if (has_pane(model) && !has_devices(model)) {
        struct edges right = {{model->width - 1}, 1};
        draw_edges(pen, region.y + CPU_ROWS, &right);
    }
    draw_time_marks(pen, 0, edges.at[1], region.y + CPU_ROWS);
    host_legends(pen, model, &region);
    if (has_pane(model)) {
        struct region right = {edges.at[1] + 1, model->width - edges.at[1] - 2, y + 1};
        struct box box = {right.left + 1, right.y, right.columns - 2, GRAPHS};
        if (has_devices(model)) {
            device_graphs(pen, model, &right);
            draw_time_marks(pen, edges.at[1], model->width - 1, region.y + CPU_ROWS);
        } else if (has_cpus_below(model)) {
            draw_facts(pen, model, &box);
        } else {
            draw_machine(pen, model, &box);
        }
    }
    int bottom = draw_more(pen, model, region.y + GRAPHS, machine_rows(model, traffic), &edges);
    draw_rule(pen, bottom, true, &edges, &none);
}

/* ---- two lines ---- */

/* Without devices: rows for what else the machine does, or one line of it. */
static int more_rows(const struct model *model)
{
    if (model->mode == MONITOR_COMPACT || model->height < ROOM)
        return 1;
    return pane_cpus_rows(model, model->width, cpu_rows_most(model)) + fact_count(model);
}

int pane_host_rows(const struct model *model, bool full, bool traffic)
{
    if (model_host(model) == NULL)
        return 0;
    if (full)
        return GRAPHS + 1 + machine_rows(model, traffic) + !has_devices(model);
    if (has_devices(model))
        return 2 + cpu_rows_beside_devices(model) + (traffic ? traffic_rows(model) : 0);
    return 2 + more_rows(model);
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
    if (has_devices(model)) {
        struct box box = {2, y + 2, model->width - 4, pane_host_rows(model, false, traffic) - 2};
        draw_beside_devices(pen, model, &box);
    } else if (!has_devices(model) && more_rows(model) > 1) {
        struct box box = {0, y + 2, model->width, more_rows(model)};
        draw_machine(pen, model, &box);
    } else if (!has_devices(model)) {
        struct box box = {0, y + 2, model->width, 1};
        draw_traffic(pen, model, &box);
    }
}
