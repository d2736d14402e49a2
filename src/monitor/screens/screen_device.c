/* screen_device.c: one device: its last minutes, all of its values, and the processes that use it.
 *
 * Values that only this screen shows are read by a sampler that lives as long as the screen,
 * because some of them are slow. A printed screen takes them from the given snapshots. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "feed/rows.h"
#include "feed/trouble.h"
#include "monitor/screens/device_sheet.h"
#include "monitor/screens/screen.h"
#include "monitor/source.h"
#include "util/base.h"

enum { OWN_TILES = 2, HEAD = 1, LINE = 400, GAP = 2, USERS_FEW = 10 };
enum { CHARTS_LEAST = 14 }; /* rows of a screen that has charts */

static const struct hint HINTS[] = {
    {INPUT_LEFT, "Left", "previous"},
    {INPUT_RIGHT, "Right", "next"},
    {'z', "z", "time"},
    {'h', "h", "help"},
    {'q', "q", "back"},
};

/* The row of a section on the page, which may be higher than the screen. */
struct screen_device_part {
    size_t first, count; /* of the lines */
    int column, y;
};
enum { PARTS_MOST = 16 };

/* What went through its PCIe and its links since the screen was opened. Only this screen asks for
 * it, as some drivers take a second to say it: so there is no history of before. A graph is shown
 * from the second value on. One of zeros knows nothing. */
enum { TRAFFIC_WAYS = 2 };
struct device_traffic {
    struct {
        struct history in, out; /* bytes a second */
    } ways[TRAFFIC_WAYS];
    uint64_t newest_ns;
};

struct screen_device {
    uint64_t key; /* of the row in the machine's snapshots */
    struct readings details;
    struct source_stream stream;
    bool has_first; /* what its counter of energy was when the screen was opened */
    double first_joules;
    struct device_traffic traffic;
    unsigned epoch; /* of the model, that the traffic is of */
    struct device_sheet sheet;
    struct screen_device_part parts[PARTS_MOST];
    size_t part_count;
    int columns, page; /* how many columns of sections; rows of everything below the graphs */
    int users_y;       /* where its users stand there: above the sections where they are few */
    int top;           /* the first row that is seen */
};

static const vitals_row *row_of(const struct model *model, const struct screen_device *device)
{
    return model->machine.now != NULL
               ? vitals_snapshot_find(model->machine.now, VITALS_TABLE_GPU, device->key)
               : NULL;
}

/* Two samplers may have met devices in another order: their identifiers tell which is which. */
static const vitals_row *detail_of(const struct screen_device *device, const vitals_row *gpu)
{
    static const vitals_metric IDENTITIES[] = {VITALS_GPU_UUID, VITALS_GPU_PCI_BUS_ID};
    const vitals_snapshot *now = device->details.now;
    for (size_t i = 0; now != NULL && i < ARRAY_COUNT(IDENTITIES); i++) {
        vitals_text own, other;
        if (vitals_row_text(gpu, IDENTITIES[i], &own) <= 0 || own.size == 0)
            continue;
        for (const vitals_row *row = NULL; (row = row_next(now, VITALS_TABLE_GPU, row)) != NULL;) {
            if (vitals_row_text(row, IDENTITIES[i], &other) > 0 && other.size == own.size &&
                memcmp(own.bytes, other.bytes, own.size) == 0 &&
                strcmp(vitals_row_label(row), vitals_row_label(gpu)) == 0)
                return row;
        }
    }
    return NULL;
}

/* ---- traffic ---- */

/* NAN where nothing is known of any; of what is known of some no sum is made. */
static double sum_links(const struct sheet_view *view, vitals_metric counter)
{
    double sum = (double)NAN, rate;
    const vitals_snapshot *now = vitals_row_snapshot(view->gpu);
    EACH_CHILD(link, now, VITALS_TABLE_GPU_LINK, vitals_row_key(view->gpu)) {
        if (vitals_row_availability(link, counter) == VITALS_UNSUPPORTED)
            continue;
        if (vitals_row_rate(link, view->older, counter, &rate) <= 0)
            return (double)NAN;
        sum = isnan(sum) ? rate : sum + rate;
    }
    return sum;
}

static const char *const WAYS[TRAFFIC_WAYS] = {"PCIe", "Links"};

static void add_traffic(struct device_traffic *traffic, const struct sheet_view *view)
{
    uint64_t now_ns = vitals_snapshot_monotonic_ns(vitals_row_snapshot(view->gpu));
    double in, out;
    if (now_ns <= traffic->newest_ns)
        return;
    traffic->newest_ns = now_ns;
    if (!cell_fresh(view->gpu, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, &in))
        in = (double)NAN;
    if (!cell_fresh(view->gpu, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, &out))
        out = (double)NAN;
    history_add(&traffic->ways[0].in, now_ns, in);
    history_add(&traffic->ways[0].out, now_ns, out);
    history_add(&traffic->ways[1].in, now_ns, sum_links(view, VITALS_GPU_LINK_RECEIVED_BYTES));
    history_add(&traffic->ways[1].out, now_ns, sum_links(view, VITALS_GPU_LINK_TRANSMITTED_BYTES));
}

static size_t count_known(const struct history *history)
{
    enum { ENOUGH = 2 };
    size_t count = 0;
    for (size_t i = 0; i < history->count && count < ENOUGH; i++)
        count += isnan(history_get(history, i)) ? 0 : 1;
    return count;
}

static bool is_seen(const struct device_traffic *traffic, int way)
{
    return count_known(&traffic->ways[way].in) > 1 || count_known(&traffic->ways[way].out) > 1;
}

/* How many graphs there are to be seen. */
static int count_traffic(const struct device_traffic *traffic)
{
    int count = 0;
    for (int i = 0; i < TRAFFIC_WAYS; i++)
        count += is_seen(traffic, i);
    return count;
}

static void draw_traffic(const struct device_traffic *traffic, const struct model *model, int place,
                         struct pen *pen, const struct box *box)
{
    int way = 0;
    for (; way < TRAFFIC_WAYS; way++) {
        if (is_seen(traffic, way) && place-- == 0)
            break;
    }
    if (way == TRAFFIC_WAYS)
        return;

    /* Received bytes grow up, sent bytes down, on one scale. They end now. */
    char in_words[WORDS * 2], out_words[WORDS * 2], rate[WORDS], scale[WORDS * 2];
    size_t seconds = (size_t)(box->columns * pane_seconds(model));
    const struct history *in = &traffic->ways[way].in, *out = &traffic->ways[way].out;
    double most = 0, other = 0, in_now = history_get(in, 0), out_now = history_get(out, 0);
    (void)history_most(in, 0, seconds, &most);
    (void)history_most(out, 0, seconds, &other);
    most = pane_scale(other > most ? other : most);
    (void)snprintf(in_words, sizeof in_words, "in %s", cell_rate(!isnan(in_now), in_now, rate));
    (void)snprintf(out_words, sizeof out_words, "out %s",
                   cell_rate(!isnan(out_now), out_now, rate));
    (void)snprintf(scale, sizeof scale, "full: %s", cell_rate(true, most, rate));
    struct graph up = pane_chart(model, in, most, INK_IN, false);
    struct graph down = pane_chart(model, out, most, INK_OUT, true);
    up.ago = up.mark = down.ago = down.mark = 0;
    struct tile tile = {
        .label = WAYS[way], .name = "", .value = in_words, .left = out_words, .right = scale};
    pane_pair(pen, box, &tile, &up, &down);
}

/* ---- the page ---- */

static int column_width(const struct screen_device *device, int width)
{
    return (width - 2 - (device->columns - 1) * GAP) / device->columns;
}

/* Sections one below the other, in columns of about one height. */
static void place_parts(struct screen_device *device, int begin)
{
    device->part_count = 0;
    for (size_t i = 0; i < device->sheet.count; i++) {
        if (device->sheet.items[i].title && device->part_count < PARTS_MOST)
            device->parts[device->part_count++] = (struct screen_device_part){.first = i};
        if (device->part_count > 0)
            device->parts[device->part_count - 1].count++;
    }
    int total = (int)(device->sheet.count + device->part_count);
    int aim = (total + device->columns - 1) / device->columns, column = 0, y = 0;
    device->page = begin;
    for (size_t i = 0; i < device->part_count; i++) {
        struct screen_device_part *part = &device->parts[i];
        if (y > 0 && y + (int)part->count / 2 > aim && column + 1 < device->columns) {
            column++;
            y = 0;
        }
        part->column = column;
        part->y = begin + y;
        y += (int)part->count + 1;
        device->page = begin + y > device->page ? begin + y : device->page;
    }
}

static void lay_out(struct screen_device *device, const struct model *model, const vitals_row *gpu)
{
    enum { TWO = 88, THREE = 140 };
    /* The values that only this screen requests are current and are not kept. */
    const vitals_row *detail = model->away ? NULL : detail_of(device, gpu);
    struct sheet_view view = {.model = model,
                              .gpu = detail != NULL ? detail : gpu,
                              .load_first = model->height < CHARTS_LEAST};
    view.older = detail != NULL ? device->details.older : model->machine.older;
    if (view.older == vitals_row_snapshot(view.gpu))
        view.older = NULL;

    /* Traffic is of now; for a time of the past there is none. */
    if (device->epoch != model->epoch)
        device->traffic = (struct device_traffic){.newest_ns = 0};
    device->epoch = model->epoch;
    if (!model->away)
        add_traffic(&device->traffic, &view);
    double joules;
    if (cell_value(view.gpu, VITALS_GPU_ENERGY_JOULES, &joules)) {
        if (!device->has_first)
            device->first_joules = joules;
        device->has_first = true;
        view.has_energy = joules > device->first_joules;
        view.energy_joules = joules - device->first_joules;
    }

    device->columns = model->width >= THREE ? 3 : model->width >= TWO ? 2 : 1;
    (void)device_sheet_fill(&device->sheet, &view, column_width(device, model->width));
    int users = device_users_rows(model, gpu);
    bool first = users <= USERS_FEW;
    place_parts(device, first ? users + 1 : 0);
    device->users_y = first ? 0 : device->page;
    device->page += first ? 0 : users;
}

/* Tiles, the last of which are of its traffic. */
struct screen_device_place {
    int columns, count, tile_rows; /* of the tiles: in a row, in all, rows of each */
    int y, rows;                   /* of the page's part that is seen */
};

static void places(const struct model *model, const struct screen_device *device,
                   struct screen_device_place *place)
{
    enum { LEAST = 4, MOST = 11, TILE_LEAST = 38 };
    int room = model->height / 3, count = OWN_TILES + count_traffic(&device->traffic);
    int most = (model->width - 2 + GAP) / (TILE_LEAST + GAP);
    *place = (struct screen_device_place){.y = HEAD, .rows = model->height - HEAD - 1};
    if (model->height < CHARTS_LEAST)
        return;
    most = most < 1 ? 1 : most;
    int lines = (count + most - 1) / most;
    place->columns = (count + lines - 1) / lines;
    if (room / lines < LEAST)
        lines = room / LEAST;
    if (lines == 0)
        return;
    place->count = lines * place->columns < count ? lines * place->columns : count;
    place->tile_rows = room / lines < MOST ? room / lines : MOST;
    place->y += lines * place->tile_rows;
    place->rows -= lines * place->tile_rows;
}

static void scroll(const struct model *model, struct screen_device *device)
{
    struct screen_device_place place;
    places(model, device, &place);
    device->top = scroll_to(device->top, -1, place.rows, device->page);
}

static void settle(struct monitor *monitor, void *state)
{
    static const uint64_t WINDOW_NS = 2 * NS_PER_SECOND;
    struct screen_device *device = state;
    const struct model *model = &monitor->model;
    vitals_snapshot *details = device->stream.subscription != NULL
                                   ? vitals_subscription_latest(device->stream.subscription)
                                   : NULL;
    if (details != NULL && model->paused && device->details.now != NULL)
        vitals_snapshot_unref(details);
    else if (details != NULL)
        readings_add(&device->details, details, WINDOW_NS);
    const vitals_row *gpu = row_of(model, device);
    if (gpu != NULL)
        lay_out(device, model, gpu);
    scroll(model, device);
}

static const struct device_subject {
    const char *word, *unit, *ascii;
    double factor; /* of the value, for the unit */
    vitals_metric metric, most;
    double usual;   /* what a full column stands for where nothing says it */
    size_t history; /* where it stands in struct device_history */
    ink ramp;
} SUBJECTS[2 * OWN_TILES] = {
    {"", "%", "%", 100, VITALS_GPU_UTILIZATION_RATIO, 0, 1, offsetof(struct device_history, busy),
     INK_LOAD},
    {"mem ", "%", "%", 100, VITALS_GPU_MEMORY_USED_BYTES, 0, 1,
     offsetof(struct device_history, memory), INK_HELD},
    {"", "W", "W", 1, VITALS_GPU_POWER_WATTS, VITALS_GPU_POWER_LIMIT_WATTS, 1,
     offsetof(struct device_history, power), INK_IN},
    {"temp ", "°C", "C", 1, VITALS_GPU_TEMPERATURE_CELSIUS, 0, 100,
     offsetof(struct device_history, temperature), INK_OUT},
};

/* A tile of two of the subjects: the first in its title, the other below. */
static void draw_subjects(struct pen *pen, const struct model *model, const vitals_row *gpu,
                          int which, const struct box *box)
{
    static const char *const LABELS[OWN_TILES] = {"Utilization", "Power"};
    static const struct history none;
    const struct device_history *all = model_device_history(model, vitals_row_key(gpu));
    const struct silence *silence = trouble_silence(gpu);
    char words[2][LINE] = {"", ""}, amount[WORDS * 2], why[LINE] = "", peaks[LINE] = "";
    char begin[WORDS];
    size_t ago = model_ago(model), seconds = (size_t)(box->columns * pane_seconds(model));
    struct graph graphs[2];
    for (int i = 0; i < 2; i++) {
        const struct device_subject *own = &SUBJECTS[2 * which + i];
        const char *unit = pen->look->ascii ? own->ascii : own->unit;
        const struct history *history =
            all != NULL ? (const struct history *)((const char *)all + own->history) : &none;
        double now = history_get(history, ago), most = own->usual, highest = 0, full;
        bool limited = own->most != 0 && cell_value(gpu, own->most, &full) && full > 0;
        most = limited ? full : most;
        if (history_most(history, ago, seconds, &highest))
            cell_add(peaks, sizeof peaks, "%s %.0f%s", peaks[0] != '\0' ? "," : "peak",
                     highest * own->factor, unit);
        graphs[i] = pane_chart(model, history, highest > most ? highest : most, own->ramp, i > 0);
        (void)pane_amount(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES, amount);
        if (isnan(now) && i == 0)
            (void)snprintf(why, sizeof why, "%s%s", silence != NULL ? "" : "N/A, ",
                           silence != NULL ? silence->word
                                           : vitals_availability_help(
                                                 vitals_row_availability(gpu, own->metric)));
        else if (isnan(now))
            (void)snprintf(words[i], LINE, "%sN/A", own->word);
        else if (limited)
            (void)snprintf(words[i], LINE, "%s%.0f/%.0f%s", own->word, now, full, unit);
        else
            (void)snprintf(words[i], LINE, "%s%.0f%s %s", own->word, now * own->factor, unit,
                           own->metric == VITALS_GPU_MEMORY_USED_BYTES ? amount : "");
    }
    words[0][strcspn(words[0], " ")] = '\0';
    struct tile tile = {.label = LABELS[which],
                        .name = why,
                        .value = words[0],
                        .left = words[1],
                        .right = peaks,
                        .begin = which == 0 ? pane_begin(model, box->columns, begin) : NULL};
    pane_pair(pen, box, &tile, &graphs[0], &graphs[1]);
}

static size_t position(const struct model *model, const struct screen_device *device, size_t *count)
{
    size_t place = 0;
    *count = 0;
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL;) {
        ++*count;
        if (vitals_row_key(gpu) == device->key)
            place = *count;
    }
    return place;
}

/* "GPU 1:0  H100 80GB  held 23 min         2 of 8" */
static void draw_head(struct pen *pen, const struct model *model,
                      const struct screen_device *device, const vitals_row *gpu)
{
    char line[LINE], name[WORDS * 4], held[IDLE_WORDS], which[WORDS], note[TROUBLE_WORDS];
    double seconds;
    size_t count, place = position(model, device, &count);
    (void)cell_device(gpu, pen->look->ascii, 120, name, sizeof name);
    (void)snprintf(line, sizeof line, "GPU %.40s  %s", vitals_row_label(gpu), name);
    int x = 1 + canvas_text(pen->canvas, 1, 0, INK_TITLE, line);
    if (vitals_row_parent(gpu) != 0)
        x += canvas_text(pen->canvas, x, 0, INK_SOFT, "  a partition");
    const struct silence *silence = trouble_silence(gpu);
    if (silence != NULL)
        (void)snprintf(line, sizeof line, "  %s", silence->word);
    else if (trouble_note(gpu, sizeof note, note))
        (void)snprintf(line, sizeof line, "  %s", note);
    else
        line[0] = '\0';
    ink style = pane_device_is_ill(gpu) ? INK_TROUBLE : silence != NULL ? INK_SOFT : INK_NOTICE;
    x += canvas_text(pen->canvas, x, 0, style, line);
    if (model_idle(model, gpu, &seconds)) {
        (void)snprintf(line, sizeof line, "  %s, and not used", idle_words(seconds, held));
        x += canvas_text(pen->canvas, x, 0, INK_NOTICE, line);
    }
    (void)snprintf(which, sizeof which, "%zu of %zu", place, count);
    int at = model->width - 1 - canvas_columns(which);
    if (at > x + 1)
        (void)canvas_text(pen->canvas, at, 0, INK_SOFT, which);
}

static void draw_page(struct pen *pen, const struct model *model,
                      const struct screen_device *device, const vitals_row *gpu,
                      const struct screen_device_place *place)
{
    int columns = column_width(device, model->width);
    for (size_t i = 0; i < device->part_count; i++) {
        const struct screen_device_part *part = &device->parts[i];
        int x = 1 + part->column * (columns + GAP);
        for (size_t j = 0; j < part->count; j++) {
            const struct fact *fact = &device->sheet.items[part->first + j];
            int row = part->y + (int)j - device->top;
            if (row < 0 || row >= place->rows)
                continue;
            canvas_words(pen->canvas, x, place->y + row, fact->title ? columns : FACT_INDENT - 1,
                         fact->title ? INK_TITLE : INK_SOFT, fact->label);
            if (!fact->title)
                canvas_words(pen->canvas, x + FACT_INDENT, place->y + row, columns - FACT_INDENT,
                             fact->style, fact->text);
        }
    }
    int row = device->users_y - device->top, hidden = row < 0 ? -row : 0;
    row = row < 0 ? 0 : row;
    struct box box = {1, place->y + row, model->width - 2, place->rows - row};
    int rows = device_users_rows(model, gpu) - hidden;
    box.rows = box.rows < rows ? box.rows : rows;
    if (box.rows > 0)
        device_users_draw(pen, model, gpu, &box, hidden);
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct screen_device *device = state;
    const struct model *model = &monitor->model;
    const vitals_row *gpu = row_of(model, device);
    struct screen_device_place place;
    places(model, device, &place);
    if (gpu == NULL)
        (void)canvas_text(pen->canvas, 1, 0, INK_NOTICE, "this device is not there any more");
    else {
        draw_head(pen, model, device, gpu);
        for (int i = 0; i < place.count; i++) {
            int column = i % place.columns, inside = model->width - 2 + GAP;
            int left = inside * column / place.columns;
            int right = inside * (column + 1) / place.columns - GAP;
            struct box box = {1 + left, HEAD + i / place.columns * place.tile_rows, right - left,
                              place.tile_rows};
            if (i < OWN_TILES)
                draw_subjects(pen, model, gpu, i, &box);
            else
                draw_traffic(&device->traffic, model, i - OWN_TILES, pen, &box);
        }
        draw_page(pen, model, device, gpu, &place);
    }
    hints_draw(pen, model, HINTS, ARRAY_COUNT(HINTS));
}

/* The next one, the one before; round and round. The panel's choice follows. */
static void step(struct monitor *monitor, struct screen_device *device, int by)
{
    struct model *model = &monitor->model;
    size_t count, place = position(model, device, &count);
    if (count == 0)
        return;
    size_t wanted = (place + count + (by < 0 ? count - 1 : 1) + count - 1) % count;
    const vitals_row *gpu = model_next_device(model, NULL);
    for (; wanted > 0; wanted--)
        gpu = model_next_device(model, gpu);
    device->key = model->device = vitals_row_key(gpu);
    device->has_first = false;
    device->traffic = (struct device_traffic){.newest_ns = 0};
    device->top = 0;
    settle(monitor, device);
}

static bool act(struct monitor *monitor, void *state, enum action action, int argument)
{
    struct screen_device *device = state;
    struct screen_device_place place;
    places(&monitor->model, device, &place);
    switch ((int)action) {
    case ACTION_SIDEWAYS: step(monitor, device, argument); return true;
    case ACTION_SPAN: monitor_span(monitor); return true;
    default: break;
    }
    int by = action_lines(action, place.rows > 2 ? place.rows - 1 : 1, device->page);
    device->top += by;
    scroll(&monitor->model, device);
    return by != 0;
}

static bool click(struct monitor *monitor, void *state, const struct input_event *event)
{
    enum { STEP = 3 };
    struct screen_device *device = state;
    int aside = input_columns(event);
    if (hints_click(monitor, event, HINTS, ARRAY_COUNT(HINTS)))
        return true;
    device->top += STEP * input_lines(event, 0, 0);
    if (aside != 0)
        step(monitor, device, aside);
    scroll(&monitor->model, device);
    return true;
}

static int descriptor(const void *state)
{
    const struct screen_device *device = state;
    return device->stream.subscription != NULL
               ? vitals_subscription_descriptor(device->stream.subscription)
               : -1;
}

static int open_device(struct monitor *monitor, void *state)
{
    struct screen_device *device = state;
    const struct model *model = &monitor->model;
    const vitals_snapshot *now = model->machine.now;

    /* The one that was chosen, else the one of the selected process, else the first. */
    const vitals_row *gpu = NULL;
    if (now != NULL && model->has_device)
        gpu = vitals_snapshot_find(now, VITALS_TABLE_GPU, model->device);
    else if (now != NULL && model->has_selected && model->selected.gpu != 0)
        gpu = vitals_snapshot_find(now, VITALS_TABLE_GPU, model->selected.gpu);
    if (gpu == NULL)
        gpu = model_next_device(model, NULL);
    if (gpu == NULL) {
        model_say(&monitor->model, "there is no device to look at");
        return -1;
    }
    device->key = vitals_row_key(gpu);
    device->columns = 1;

    /* Without a sampler of its own the screen shows what the others do. */
    if (monitor->options->context != NULL)
        (void)source_stream_open(&device->stream, monitor->options, MONITOR_DETAILS, NULL, NULL);
    return 0;
}

static void close_device(void *state)
{
    struct screen_device *device = state;
    source_stream_close(&device->stream);
    readings_done(&device->details);
    device_sheet_done(&device->sheet);
}

const struct screen screen_device = {
    .name = "device",
    .bit = ON_DEVICE,
    .size = sizeof(struct screen_device),
    .open = open_device,
    .draw = draw,
    .act = act,
    .click = click,
    .settle = settle,
    .descriptor = descriptor,
    .close = close_device,
};
