/* pane_machine.c: the machine on the usual main screen: a line of words, tiles with charts or bars
 * in a line, and a strip of all CPUs. */
#include <stdio.h>
#include <string.h>

#include "monitor/history/parse_time.h"
#include "monitor/screens/pane.h"
#include "util/base.h"
#include "view/host_bars.h"

enum { LINE = 256, GAP = 2, TILES = 3 };

/* Charts move with every column, which is most of what a terminal is sent: the first draws a third
 * of what 2 s would. */
const int chart_seconds[CHART_SPANS] = {6, 20, 60, 2};

/* Columns of a tile of the machine. */
static int tile_columns(const struct model *model)
{
    return (model->width - 2 - (TILES - 1) * GAP) / TILES;
}

/* The first minutes of a live monitor fill the charts faster; once full they are never less than
 * half full. */
int pane_seconds(const struct model *model)
{
    static const int FIRST[] = {1, 2, 4};
    int columns = model->width < NARROW ? model->width - 2 : tile_columns(model);
    for (size_t i = 0;
         model->arranged.span == 0 && model->options->replay == NULL && i < ARRAY_COUNT(FIRST);
         i++) {
        if ((int)model->history->cpu.count <= columns * FIRST[i])
            return FIRST[i];
    }
    return chart_seconds[model->arranged.span];
}

/* The newest seconds that charts leave out: they end now while the time that is looked at is in
 * them, so that a line moves over charts that stand still. Further back it stands in the middle. */
static size_t chart_ago(const struct model *model)
{
    size_t ago = model_ago(model), each = (size_t)pane_seconds(model);
    size_t columns = (size_t)(tile_columns(model) > 2 ? tile_columns(model) : 2);
    return ago / each + 1 < columns ? 0 : ago - columns / 2 * each;
}

struct graph pane_chart(const struct model *model, const struct history *history, double most,
                        ink ramp, bool down)
{
    size_t ago = model_ago(model);
    return (struct graph){.history = history,
                          .ago = chart_ago(model),
                          .most = most,
                          .down = down,
                          .style = ramp,
                          .steps = INK_STEPS,
                          .seconds = pane_seconds(model),
                          .mark = ago > 0 ? ago + 1 : 0};
}

/* The highest temperature of the processors; false if no sensor of theirs is known. */
static bool cpu_temperature(const struct model *model, double *out)
{
    static const char *const CHIPS[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal",
                                        "x86_pkg_temp"};
    bool found = false;
    double celsius;
    char chip[WORDS];
    for (const vitals_row *row = NULL;
         (row = row_next(model->machine.now, VITALS_TABLE_SENSOR, row)) != NULL;) {
        if (!cell_value(row, VITALS_SENSOR_TEMPERATURE_CELSIUS, &celsius))
            continue;
        (void)cell_text(row, VITALS_SENSOR_CHIP, true, chip, sizeof chip);
        for (size_t i = 0; i < sizeof CHIPS / sizeof CHIPS[0]; i++) {
            if (strcmp(chip, CHIPS[i]) != 0 || (found && celsius <= *out))
                continue;
            *out = celsius;
            found = true;
        }
    }
    return found;
}

/* "2.4GHz 51°C" */
static void cpu_words(const struct model *model, char out[static WORDS])
{
    double number;
    out[0] = '\0';
    if (cell_value(model_host(model), VITALS_HOST_CPU_FREQUENCY_HERTZ, &number))
        cell_add(out, WORDS, "%.1fGHz", number / 1e9);
    if (cpu_temperature(model, &number))
        cell_add(out, WORDS, "%s%.0f%sC", out[0] != '\0' ? " " : "", number,
                 model->options->look.ascii ? "" : "°");
}

/* Adds "battery 80%, 2:10:00 left". */
static void add_battery(const struct model *model, char out[static LINE])
{
    for (const vitals_row *row = NULL;
         (row = row_next(model->machine.now, VITALS_TABLE_SENSOR, row)) != NULL;) {
        char state[WORDS], left[WORDS] = "";
        double ratio, seconds;
        if (!cell_value(row, VITALS_SENSOR_CHARGE_RATIO, &ratio))
            continue;
        (void)cell_text(row, VITALS_SENSOR_STATE, true, state, sizeof state);
        bool charges = strcmp(state, "charging") == 0;
        if (cell_value(row, VITALS_SENSOR_REMAINING_SECONDS, &seconds))
            (void)vitals_human_duration(seconds, left);
        cell_add(out, LINE, "  battery %.0f%%%s%s%s", ratio * 100, charges ? ", charging" : "",
                 left[0] != '\0' ? ", " : "", left);
        return;
    }
}

/* "3d 4:05", "4:05": without seconds, which would be drawn anew each second. */
static char *uptime_words(double seconds, char out[static WORDS])
{
    enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
    unsigned long long whole = seconds > 0 && seconds < 1e15 ? (unsigned long long)seconds : 0;
    int used = whole >= DAY ? snprintf(out, WORDS, "%llud ", whole / DAY) : 0;
    (void)snprintf(out + used, WORDS - (size_t)used, "%llu:%02llu", whole % DAY / HOUR,
                   whole % HOUR / MINUTE);
    return out;
}

void pane_header(struct pen *pen, const struct model *model)
{
    const struct monitor_options *options = model->options;
    const vitals_row *host = model_host(model);
    char text[LINE], words[WORDS], load[WORDS], name[WORDS * 2] = "";
    double number;
    if (model->machine.now != NULL)
        (void)cell_safe(vitals_snapshot_host(model->machine.now), options->look.ascii, name,
                        sizeof name);
    int x = 1;
    x += canvas_text(pen->canvas, x, 0, INK_TITLE, name[0] != '\0' ? name : "vitals");

    /* What is not as usual stands at the right, and takes the place of words. */
    char past[WORDS], time[TIME_WORDS] = "";
    if (model->away && model->machine.now != NULL)
        format_time(vitals_snapshot_realtime_ns(model->machine.now), false, time);
    (void)snprintf(past, sizeof past, " PAST %.12s%s", time, time[0] != '\0' ? " " : "");
    const char *const TAGS[] = {past, " paused: p goes on ", " demo ", " root "};
    const bool SHOWN[] = {model->away, model->paused, model_is_demo(model),
                          options->root && options->readonly == NULL};
    int end = model->width - 1;
    for (size_t i = 0; i < sizeof TAGS / sizeof TAGS[0]; i++) {
        int wide = (int)strlen(TAGS[i]);
        if (!SHOWN[i] || end - wide - 1 < x)
            continue;
        end -= wide;
        (void)canvas_text(pen->canvas, end, 0,
                          INK_NOTICE | STYLE_REVERSE | (i == 0 ? STYLE_BOLD : 0), TAGS[i]);
        end -= 1;
    }

    text[0] = '\0';
    if (model->machine.now != NULL && cell_time(model->machine.now, words))
        cell_add(text, sizeof text, "  %s", words);
    if (cell_value(host, VITALS_HOST_UPTIME_SECONDS, &number))
        cell_add(text, sizeof text, "  up %s", uptime_words(number, words));
    if (cell_value(host, VITALS_HOST_LOAD_1M, &number)) {
        host_load_words(host, "  load", 0, load, sizeof load);
        cell_add(text, sizeof text, "%s", load);
    }
    add_battery(model, text);
    if (cell_value(host, VITALS_HOST_TASKS, &number)) {
        cell_add(text, sizeof text, "  %.0f tasks", number);
        if (cell_value(host, VITALS_HOST_TASKS_RUNNING, &number))
            cell_add(text, sizeof text, ", %.0f running", number);
    }
    draw_fit(text, end - x);
    if (canvas_columns(text) <= end - x)
        (void)canvas_text(pen->canvas, x, 0, INK_SOFT, text);
}

/* ---- tiles ---- */

/* The next of 1, 2 and 5 times a power of ten, or of 1024 and so on: a scale that seldom changes.
 */
double pane_scale(double most)
{
    static const double STEPS[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    double unit = 1024;
    for (; unit < 1e18; unit *= 1024) {
        for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
            if (most <= STEPS[i] * unit)
                return STEPS[i] * unit;
        }
    }
    return unit;
}

char *pane_begin(const struct model *model, int columns, char out[static WORDS])
{
    enum { COLUMNS_LEAST = 20 };
    size_t ago = model_ago(model), all = (size_t)(columns * pane_seconds(model));
    char distance[TIME_WORDS], time[TIME_WORDS] = "";
    out[0] = '\0';
    if (columns < COLUMNS_LEAST)
        return out;
    format_distance((ago > 0 ? ago : all) * NS_PER_SECOND, distance);
    if (ago > 0)
        format_time(vitals_snapshot_realtime_ns(model->machine.now), false, time);
    (void)snprintf(out, WORDS, "%.24s ago%s%.12s", distance, ago > 0 ? ", " : "", time);
    return out;
}

struct shares {
    bool has_cpu, has_memory, has_swap;
    double cpu, memory, swap;
};

static struct shares shares_of(const struct model *model)
{
    const vitals_row *host = model_host(model);
    struct shares own;
    own.has_cpu = model_cpu_ratio(model, &own.cpu);
    own.has_memory = cell_ratio(host, VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES,
                                &own.memory);
    own.has_swap = cell_ratio(host, VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES,
                              &own.swap);
    return own;
}

char *pane_amount(const vitals_row *row, vitals_metric used, vitals_metric total,
                  char out[static WORDS * 2])
{
    double part, whole, unit = 1024;
    static const char *const UNITS[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t at = 0;
    out[0] = '\0';
    if (!cell_value(row, used, &part) || !cell_value(row, total, &whole))
        return out;
    for (; at + 1 < sizeof UNITS / sizeof UNITS[0] && whole >= unit * 1000; at++)
        unit *= 1024;
    (void)snprintf(out, WORDS * 2, part / unit < 99.95 ? "%.1f/%.0f%s" : "%.0f/%.0f%s", part / unit,
                   whole / unit, UNITS[at]);
    return out;
}

/* The share of all CPU time that some counters have together since the last reading. */
static bool share_of(const struct model *model, const vitals_metric *counters, size_t count,
                     double *out)
{
    const vitals_row *host = model_host(model);
    double share;
    *out = 0;
    for (size_t i = 0; i < count && counters[i] != 0; i++) {
        if (!cell_busy(host, model->machine.previous, counters[i], VITALS_HOST_CPU_TOTAL_SECONDS,
                       &share) &&
            !cell_busy(host, model->machine.older, counters[i], VITALS_HOST_CPU_TOTAL_SECONDS,
                       &share))
            return false;
        *out += share > 0 ? share : 0;
    }
    return true;
}

/* Adds "user 38% sys 12% wait  1%", as far as there is room, in columns that do not change. */
static void add_shares(const struct model *model, int columns, char out[static WORDS * 2])
{
    static const struct {
        const char *name;
        vitals_metric counters[3];
    } SHARES[] = {
        {"user", {VITALS_HOST_CPU_USER_SECONDS, VITALS_HOST_CPU_NICE_SECONDS}},
        {"sys",
         {VITALS_HOST_CPU_SYSTEM_SECONDS, VITALS_HOST_CPU_IRQ_SECONDS,
          VITALS_HOST_CPU_SOFTIRQ_SECONDS}},
        {"wait", {VITALS_HOST_CPU_IOWAIT_SECONDS}},
    };
    char words[WORDS];
    double share;
    for (size_t i = 0; i < ARRAY_COUNT(SHARES); i++) {
        if (!share_of(model, SHARES[i].counters, ARRAY_COUNT(SHARES[i].counters), &share))
            continue;
        (void)snprintf(words, sizeof words, "%s%s %2.0f%%", out[0] != '\0' ? " " : "",
                       SHARES[i].name, share * 100);
        if (canvas_columns(out) + canvas_columns(words) > columns)
            return;
        (void)strcat(out, words);
    }
}

/* Adds what is cached and available behind "mem 21% 108/503GiB", in its unit, as far as there is
 * room. */
static void add_amounts(const vitals_row *host, int columns, char out[static LINE])
{
    static const struct {
        vitals_metric metric;
        const char *name;
    } AMOUNTS[] = {{VITALS_HOST_MEMORY_CACHED_BYTES, "cached"},
                   {VITALS_HOST_MEMORY_AVAILABLE_BYTES, "available"}};
    char amount[WORDS * 2], more[WORDS * 2];
    for (size_t i = 0; i < ARRAY_COUNT(AMOUNTS); i++) {
        const char *unit = pane_amount(host, AMOUNTS[i].metric, VITALS_HOST_MEMORY_TOTAL_BYTES,
                                       amount);
        size_t digits = strcspn(unit, "/");
        unit += digits;
        unit += strspn(unit, "/0123456789");
        (void)snprintf(more, sizeof more, "  %s %.*s%s", AMOUNTS[i].name, (int)digits, amount,
                       unit);
        if (digits == 0 || canvas_columns(out) + canvas_columns(more) > columns)
            return;
        (void)strcat(out, more);
    }
}

void pane_pair(struct pen *pen, const struct box *box, struct tile *tile, const struct graph *up,
               const struct graph *down)
{
    tile->note = "";
    tile->value_style = STYLE_BOLD | theme_step(up->style, 0.9);
    tile->left_style = theme_step(down->style, 0.9);
    tile->up = up;
    tile->down = down;
    draw_tile(pen, box, tile);
}

static void draw_work(struct pen *pen, const struct model *model, const struct box *box)
{
    const struct shares own = shares_of(model);
    const vitals_row *host = model_host(model);
    char value[WORDS] = "", name[WORDS * 2] = "", left[LINE] = "", right[WORDS * 2] = "";
    enum { SWAP = 10, TITLE = 12 };
    char amount[WORDS * 2], begin[WORDS];
    struct graph up = pane_chart(model, &model->history->cpu, 1, INK_LOAD, false);
    struct graph down = pane_chart(model, &model->history->memory, 1, INK_HELD, true);
    if (own.has_cpu)
        (void)snprintf(value, sizeof value, "%.1f%%", own.cpu * 100);
    cpu_words(model, name);
    add_shares(model, box->columns - TITLE, name);
    (void)pane_amount(host, VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES, amount);
    if (own.has_memory)
        (void)snprintf(left, sizeof left, "mem %.0f%% %s", own.memory * 100, amount);
    if (own.has_swap)
        (void)snprintf(right, sizeof right, "swap %.0f%%", own.swap * 100);
    if (own.has_memory)
        add_amounts(host, box->columns - (own.has_swap ? SWAP : 0), left);
    struct tile tile = {.label = "CPU",
                        .name = name,
                        .value = value,
                        .left = left,
                        .right = right,
                        .begin = pane_begin(model, box->columns, begin)};
    pane_pair(pen, box, &tile, &up, &down);
}

/* An interface of the sums: what it carries now, and since it is counted. */
enum { INTERFACES = 4 };
struct interface {
    const vitals_row *row;
    double rate, bytes;
};

/* The busiest, in that order; returns how many. */
static size_t busiest_interfaces(const struct model *model, struct interface out[static INTERFACES])
{
    size_t count = 0;
    double counted, numbers[4];
    for (const vitals_row *row = NULL;
         (row = row_next(model->machine.now, VITALS_TABLE_NETWORK, row)) != NULL;) {
        if (!cell_value(row, VITALS_NETWORK_COUNTED, &counted) || counted == 0 ||
            !model_rate(model, row, VITALS_NETWORK_RECEIVED_BYTES, &numbers[0]) ||
            !model_rate(model, row, VITALS_NETWORK_TRANSMITTED_BYTES, &numbers[1]) ||
            !cell_value(row, VITALS_NETWORK_RECEIVED_BYTES, &numbers[2]) ||
            !cell_value(row, VITALS_NETWORK_TRANSMITTED_BYTES, &numbers[3]))
            continue;
        struct interface own = {row, numbers[0] + numbers[1], numbers[2] + numbers[3]};
        size_t at = count;
        while (at > 0 && (out[at - 1].rate < own.rate ||
                          (out[at - 1].rate <= own.rate && out[at - 1].bytes < own.bytes)))
            at--;
        if (at == INTERFACES)
            continue;
        count += count < INTERFACES;
        memmove(out + at + 1, out + at, (count - at - 1) * sizeof *out);
        out[at] = own;
    }
    return count;
}

/* "wlan0 1.20MiB/s  eth0 48KiB/s", as many as have room; the busiest one's name otherwise. */
static void interface_words(const struct model *model, int columns, char out[static LINE])
{
    enum { RATE = 13 };
    struct interface each[INTERFACES];
    char name[WORDS], words[WORDS];
    size_t count = busiest_interfaces(model, each), fits = 0;
    for (int wide = -1; fits < count; fits++) {
        wide += RATE + canvas_columns(cell_text(each[fits].row, VITALS_NETWORK_NAME,
                                                model->options->look.ascii, name, sizeof name));
        if (wide > columns)
            break;
    }
    bool rates = fits > 1;
    out[0] = '\0';
    for (size_t i = 0; i < (rates ? fits : count > 0); i++) {
        (void)cell_text(each[i].row, VITALS_NETWORK_NAME, model->options->look.ascii, name,
                        sizeof name);
        cell_add(out, LINE, "%s%s%s%s", i > 0 ? "  " : "", name, rates ? " " : "",
                 rates ? cell_rate(true, each[i].rate, words) : "");
    }
}

static void draw_flow(struct pen *pen, const struct model *model, const struct box *box,
                      const char *label, const char *const words[2], enum traffic_kind first)
{
    enum { TITLE = 24 };
    char name[LINE] = "";
    if (first == TRAFFIC_IN)
        interface_words(model, box->columns - TITLE, name);
    char values[2][WORDS], value[WORDS * 2] = "", left[WORDS * 2] = "", right[WORDS * 2] = "";
    double rates[2], most = 0, highest;
    bool known[2];
    size_t seconds = (size_t)(box->columns * pane_seconds(model));
    for (size_t i = 0; i < 2; i++) {
        known[i] = model_rate(model, model_host(model), traffic_metrics[first + i], &rates[i]);
        (void)cell_rate(known[i], rates[i], values[i]);
        if (history_most(&model->history->traffic[first + i], chart_ago(model), seconds,
                         &highest) &&
            highest > most)
            most = highest;
    }
    most = pane_scale(most);
    struct graph up = pane_chart(model, &model->history->traffic[first], most, INK_IN, false);
    struct graph down = pane_chart(model, &model->history->traffic[first + 1], most, INK_OUT, true);
    if (known[0])
        (void)snprintf(value, sizeof value, "%s %s", words[0], values[0]);
    if (known[1])
        (void)snprintf(left, sizeof left, "%s %s", words[1], values[1]);
    char scale[WORDS];
    if (known[0] || known[1])
        (void)snprintf(right, sizeof right, "full: %s", cell_rate(true, most, scale));
    struct tile tile = {.label = label, .name = name, .value = value, .left = left, .right = right};
    pane_pair(pen, box, &tile, &up, &down);
}

static const char *const DISK_WORDS[] = {"read", "written"}, *const NETWORK_WORDS[] = {"in", "out"};

/* ---- without charts ---- */

/* A label, a bar, and words in columns of their own; returns the column behind them. */
static int draw_share(struct pen *pen, int x, int y, int columns, const char *label, bool known,
                      double ratio, ink ramp, const char *words)
{
    char percent[WORDS];
    int label_columns = canvas_columns(label) + 1, words_columns = canvas_columns(words);
    if (!known)
        return x;
    (void)canvas_text(pen->canvas, x, y, INK_TITLE, label);
    struct gauge gauge = {
        .x = x + label_columns, .y = y, .known = known, .ratio = ratio, .ramp = ramp};
    gauge.columns = columns - label_columns - 6 - (words_columns > 0 ? words_columns + 1 : 0);
    if (gauge.columns < 0) { /* no room for the words */
        words = "";
        gauge.columns = columns - label_columns - 6;
    }
    draw_gauge(pen, &gauge);
    int at = gauge.x + (gauge.columns > 0 ? gauge.columns : 0);
    (void)snprintf(percent, sizeof percent, "%5.1f%%", ratio * 100);
    at += canvas_text(pen->canvas, at, y, STYLE_BOLD | theme_step(ramp, 0.9), percent);
    (void)canvas_text(pen->canvas, at + 1, y, INK_SOFT, words);
    return x + columns + GAP;
}

static void draw_bars(struct pen *pen, const struct model *model, int y)
{
    enum { SWAP_LEAST = 34 };
    const struct shares own = shares_of(model);
    char amount[WORDS * 2], words[WORDS], text[LINE], a[WORDS], b[WORDS];
    int columns = (model->width - 2 - GAP) / 2, x = 1;
    int swap = own.has_swap && columns >= SWAP_LEAST ? columns / 3 : 0;
    cpu_words(model, words);
    x = draw_share(pen, x, y, columns, "CPU", own.has_cpu, own.cpu, INK_LOAD, words);
    x = columns + GAP + 1;
    (void)pane_amount(model_host(model), VITALS_HOST_MEMORY_USED_BYTES,
                      VITALS_HOST_MEMORY_TOTAL_BYTES, amount);
    x = draw_share(pen, x, y, columns - (swap > 0 ? swap + GAP : 0), "MEM", own.has_memory,
                   own.memory, INK_HELD, amount);
    (void)draw_share(pen, x, y, swap, "SWP", own.has_swap, own.swap, INK_HELD, "");

    /* Disks and networks: a pair of words for each, as far as there is room. */
    static const enum traffic_kind FIRST[] = {TRAFFIC_READ, TRAFFIC_IN};
    static const char *const LABELS[] = {"Disk", "Net"};
    for (size_t i = 0; i < 2; i++) {
        static const char *const SHORT[] = {"R", "W"};
        const char *const *names = i == 0 ? DISK_WORDS : NETWORK_WORDS;
        const vitals_row *host = model_host(model);
        double read, written;
        if (!model_rate(model, host, traffic_metrics[FIRST[i]], &read) ||
            !model_rate(model, host, traffic_metrics[FIRST[i] + 1], &written))
            continue;
        x = 1 + (int)i * (columns + GAP);
        (void)snprintf(text, sizeof text, "%s %s  %s %s", names[0], cell_rate(true, read, a),
                       names[1], cell_rate(true, written, b));
        if (i == 0 && canvas_columns(text) > columns - 5)
            (void)snprintf(text, sizeof text, "%s %s  %s %s", SHORT[0], a, SHORT[1], b);
        draw_fit(text, columns - 5);
        if (canvas_columns(text) > columns - 5 || strchr(text, '/') == NULL)
            continue;
        (void)canvas_text(pen->canvas, x, y + 1, INK_TITLE, LABELS[i]);
        canvas_words(pen->canvas, x + 5, y + 1, columns - 5, INK_SOFT, text);
    }
}

/* "tasks wait for CPUs 1%, memory 0%, disks 3%" of the last ten seconds; "" if that is not known.
 */
static void pressure_words(const struct model *model, char out[static LINE])
{
    static const char *const NAMES[][2] = {{"cpu", "CPUs"}, {"memory", "memory"}, {"io", "disks"}};
    char scope[WORDS], resource[WORDS], words[WORDS];
    out[0] = '\0';
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        for (const vitals_row *row = NULL;
             (row = row_next(model->machine.now, VITALS_TABLE_PRESSURE, row)) != NULL;) {
            double ratio;
            (void)cell_text(row, VITALS_PRESSURE_SCOPE, true, scope, sizeof scope);
            (void)cell_text(row, VITALS_PRESSURE_RESOURCE, true, resource, sizeof resource);
            if (strcmp(scope, "cgroup") == 0 || strcmp(resource, NAMES[i][0]) != 0 ||
                !cell_value(row, VITALS_PRESSURE_SOME_10S_RATIO, &ratio))
                continue;
            cell_add(out, LINE, "%s %s %s", out[0] == '\0' ? "tasks wait for" : ",", NAMES[i][1],
                     cell_percent(row, VITALS_PRESSURE_SOME_10S_RATIO, words));
        }
    }
}

void pane_cores(struct pen *pen, const struct model *model, int y, int rows)
{
    enum { ROOM = 64, PRESSURE = 52 };
    char text[LINE];
    int count = (int)pane_cpus_count(model);
    struct box box = {1, y, model->width - 2, rows};
    pressure_words(model, text);
    if (rows == 1 && box.columns - count - count / 10 >= ROOM && text[0] != '\0') {
        (void)canvas_text(pen->canvas, model->width - 1 - canvas_columns(text), y, INK_SOFT, text);
        box.columns -= PRESSURE;
    }
    pane_cpus_strip(pen, model, &box);
}

int pane_machine_rows(int charts)
{
    return charts > 0 ? charts + 2 : 2;
}

void pane_machine(struct pen *pen, const struct model *model, int y, int charts)
{
    if (model_host(model) == NULL)
        return;
    if (charts == 0) {
        draw_bars(pen, model, y);
        return;
    }
    int wide = tile_columns(model);
    struct box box = {1, y, model->width - 2 - (TILES - 1) * (wide + GAP), charts + 2};
    draw_work(pen, model, &box);
    box.x += box.columns + GAP;
    box.columns = wide;
    draw_flow(pen, model, &box, "Disk", DISK_WORDS, TRAFFIC_READ);
    box.x += wide + GAP;
    draw_flow(pen, model, &box, "Net", NETWORK_WORDS, TRAFFIC_IN);
}
