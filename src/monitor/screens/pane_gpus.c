/* pane_gpus.c: the devices on the usual main screen: a tile with charts each, or a line each.
 *
 * Every figure has a column of its own. A figure that is not known leaves its place empty; why a
 * device says nothing stands there in words. */
#include <stdio.h>
#include <string.h>

#include "feed/rows.h"
#include "feed/trouble.h"
#include "monitor/screens/pane.h"
#include "util/base.h"

enum { LINE = 256, GAP = 2 };

int pane_gpus_count(const struct model *model)
{
    int count = 0;
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL;)
        count++;
    return count;
}

/* How many tiles stand in a row. */
static int tiles_in_row(const struct model *model)
{
    enum { TILE_LEAST = 38 };
    int count = pane_gpus_count(model), most = (model->width - 2 + GAP) / (TILE_LEAST + GAP);
    most = most < 1 ? 1 : most;
    int rows = (count + most - 1) / most;
    return rows > 0 ? (count + rows - 1) / rows : 1;
}

int pane_gpus_rows(const struct model *model, int charts)
{
    int count = pane_gpus_count(model), each = tiles_in_row(model);
    if (count == 0)
        return 0;
    return charts > 0 ? (count + each - 1) / each * (charts + 2) : 1 + count; /* with titles */
}

/* What is said of a device beside its figures. */
struct remark {
    char text[TROUBLE_WORDS];
    ink style;
};

static void remark_on(const struct model *model, const vitals_row *gpu, int columns,
                      struct remark *out)
{
    char idle[IDLE_WORDS];
    double seconds;
    const struct silence *silence = trouble_silence(gpu);
    out->style = pane_device_is_ill(gpu) ? INK_TROUBLE : INK_NOTICE;
    out->text[0] = '\0';
    if (silence != NULL) {
        out->style = silence->is_fault ? INK_TROUBLE : INK_SOFT;
        (void)snprintf(out->text, sizeof out->text, "%s", silence->word);
    } else if (pane_device_is_mute(gpu)) {
        static const char NONE[] = "no values: vitals doctor";
        (void)snprintf(out->text, sizeof out->text, "%.*s", columns < (int)strlen(NONE) ? 9 : 24,
                       NONE);
    } else if (!trouble_note(gpu, (size_t)columns, out->text) && model_idle(model, gpu, &seconds))
        (void)snprintf(out->text, sizeof out->text, "%s", idle_words(seconds, idle));
}

struct readings_words {
    char busy[WORDS], memory[WORDS * 2], share[WORDS], celsius[WORDS], power[WORDS * 2];
    bool has_busy, has_share;
    double busy_ratio, share_ratio;
};

static void read_words(const struct model *model, const vitals_row *gpu,
                       struct readings_words *words)
{
    double number, limit;
    *words = (struct readings_words){.has_busy = false};
    words->has_busy = cell_value(gpu, VITALS_GPU_UTILIZATION_RATIO, &words->busy_ratio);
    words->has_share = cell_ratio(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES,
                                  &words->share_ratio);
    if (words->has_busy)
        (void)snprintf(words->busy, WORDS, "%.0f%%", words->busy_ratio * 100);
    if (words->has_share)
        (void)snprintf(words->share, WORDS, "%.0f%%", words->share_ratio * 100);
    (void)pane_amount(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES,
                      words->memory);
    if (cell_value(gpu, VITALS_GPU_TEMPERATURE_CELSIUS, &number))
        (void)snprintf(words->celsius, WORDS, "%.0f%sC", number,
                       model->options->look.ascii ? "" : "°");
    if (!cell_value(gpu, VITALS_GPU_POWER_WATTS, &number))
        return;
    if (cell_value(gpu, VITALS_GPU_POWER_LIMIT_WATTS, &limit))
        (void)snprintf(words->power, WORDS, "%.0f/%.0fW", number, limit);
    else
        (void)snprintf(words->power, WORDS, "%.0fW", number);
}

/* "1.8/0.6GiB/s": bytes over PCIe to the device and from it, in at most 12 columns. */
static bool pcie_words(const vitals_row *gpu, char out[static WORDS])
{
    static const char *const UNITS[] = {"KiB/s", "MiB/s", "GiB/s", "TiB/s"};
    double to, from, unit = 1024;
    size_t at = 0;
    if (!cell_value(gpu, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, &to) ||
        !cell_value(gpu, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, &from))
        return false;
    double most = to > from ? to : from;
    for (; at + 1 < ARRAY_COUNT(UNITS) && most >= unit * 999.5; at++)
        unit *= 1024;
    int digits = most < unit * 9.95;
    (void)snprintf(out, WORDS, "%.*f/%.*f%s", digits, to / unit, digits, from / unit, UNITS[at]);
    return true;
}

/* "8/12%": how busy the encoder and the decoder are, or the one engine that does both; false while
 * they do nothing. */
static bool video_words(const vitals_row *gpu, char out[static WORDS])
{
    static const char *const LABELS[] = {"encoder", "decoder", "video"};
    double ratios[ARRAY_COUNT(LABELS)] = {-1, -1, -1};
    const vitals_snapshot *now = vitals_row_snapshot(gpu);
    EACH_CHILD(row, now, VITALS_TABLE_GPU_ENGINE, vitals_row_key(gpu)) {
        for (size_t i = 0; i < ARRAY_COUNT(LABELS); i++) {
            if (strcmp(vitals_row_label(row), LABELS[i]) == 0)
                (void)cell_value(row, VITALS_GPU_ENGINE_UTILIZATION_RATIO, &ratios[i]);
        }
    }
    out[0] = '\0';
    if (ratios[2] >= 0.005)
        (void)snprintf(out, WORDS, "%.0f%%", ratios[2] * 100);
    else if (ratios[0] >= 0 && ratios[1] >= 0 && ratios[0] + ratios[1] >= 0.005)
        (void)snprintf(out, WORDS, "%.0f/%.0f%%", ratios[0] * 100, ratios[1] * 100);
    return out[0] != '\0';
}

/* Where there is nothing else to say: what goes over PCIe, and how busy its video engines are. */
static void add_work(const vitals_row *gpu, int columns, struct remark *remark)
{
    enum { PCIE_MOST = 24 }; /* so that it does not come and go with its digits */
    char words[WORDS];
    if (remark->text[0] != '\0')
        return;
    remark->style = INK_SOFT;
    if (columns >= PCIE_MOST && pcie_words(gpu, words)) {
        cell_add(remark->text, TROUBLE_WORDS, "PCIe in/out %s", words);
        columns -= PCIE_MOST + 2;
    }
    if (video_words(gpu, words) && (int)strlen("enc/dec ") + canvas_columns(words) <= columns)
        cell_add(remark->text, TROUBLE_WORDS, "%senc/dec %s", remark->text[0] != '\0' ? "  " : "",
                 words);
}

/* Parts of a line, each two columns from the next: the last ones come first, as room is short. */
static void right_words(const struct model *model, const vitals_row *gpu,
                        const struct readings_words *words, int columns, char out[static LINE])
{
    char clock[WORDS] = "", fan[WORDS] = "", former[LINE];
    const char *const PARTS[] = {words->power, words->celsius, fan, clock};
    double number;
    EACH_CHILD(row, model->machine.now, VITALS_TABLE_GPU_CLOCK, vitals_row_key(gpu)) {
        const char *label = vitals_row_label(row);
        if ((strcmp(label, "sm") == 0 || strcmp(label, "graphics") == 0) &&
            cell_value(row, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, &number))
            (void)snprintf(clock, sizeof clock, "%.0fMHz", number / 1e6);
    }
    if (cell_value(gpu, VITALS_GPU_FAN_RATIO, &number))
        (void)snprintf(fan, sizeof fan, "fan %.0f%%", number * 100);
    out[0] = '\0';
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        memcpy(former, out, LINE);
        int wide = canvas_columns(PARTS[i]) + canvas_columns(out) + 2;
        if (PARTS[i][0] != '\0' && (wide <= columns || i < 2))
            (void)snprintf(out, LINE, "%s%s%.200s", PARTS[i], former[0] != '\0' ? "  " : "",
                           former);
    }
}

static bool is_chosen(const struct model *model, const vitals_row *gpu)
{
    return model->has_device && model->device == vitals_row_key(gpu);
}

/* Where not all lines fit: all devices above a level of urgency have one, and the first of it. */
enum urgency { CALM, NOTED, ILL, CHOSEN, URGENCIES };
struct line_choice {
    int level, left;
};

static int urgency_of(const struct model *model, const vitals_row *gpu)
{
    struct remark remark;
    if (is_chosen(model, gpu))
        return CHOSEN;
    remark_on(model, gpu, TROUBLE_WORDS, &remark);
    if (remark.text[0] == '\0' || remark.style == INK_SOFT) /* it sleeps */
        return CALM;
    return pane_device_is_ill(gpu) ? ILL : NOTED;
}

static struct line_choice choose_lines(const struct model *model, const struct layout *layout)
{
    int counts[URGENCIES] = {0}, level = CHOSEN, left = layout->device_rows - 2;
    if (layout->device_charts > 0 || layout->device_rows > pane_gpus_count(model))
        return (struct line_choice){CALM - 1, 0};
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL;)
        counts[urgency_of(model, gpu)]++;
    for (; level > CALM && counts[level] <= left; level--)
        left -= counts[level];
    return (struct line_choice){level, left};
}

/* The next device that has a line. The order never changes: trouble that comes or goes moves no
 * other device. */
static const vitals_row *next_shown(const struct model *model, struct line_choice *choice,
                                    const vitals_row *gpu)
{
    while ((gpu = model_next_device(model, gpu)) != NULL) {
        int urgency = choice->level < CALM ? CALM : urgency_of(model, gpu);
        if (urgency > choice->level || (urgency == choice->level && choice->left-- > 0))
            return gpu;
    }
    return NULL;
}

const vitals_row *pane_gpus_at(const struct model *model, const struct layout *layout, int x, int y)
{
    int row = y - layout->devices_y, each = tiles_in_row(model), place = row - 1;
    if (row < (layout->device_charts == 0) || row >= layout->device_rows)
        return NULL;
    if (layout->device_charts > 0) {
        int wide = (model->width - 2 + GAP) / each, column = wide > 0 ? (x - 1) / wide : 0;
        place = row / (layout->device_charts + 2) * each + (column < each ? column : each - 1);
    }
    struct line_choice choice = choose_lines(model, layout);
    const vitals_row *gpu = NULL;
    while ((gpu = next_shown(model, &choice, gpu)) != NULL && place > 0)
        place--;
    return gpu;
}

/* Words of an old value step back. */
static ink aged(const vitals_row *gpu, ink style)
{
    double age;
    return trouble_age(gpu, &age) ? INK_SOFT : style;
}

static void draw_device_tile(struct pen *pen, const struct model *model, const vitals_row *gpu,
                             const struct box *box)
{
    enum { NAME_LEAST = 6, NAME_MOST = 24, REST = 9 }; /* blanks, a piece of the rule, "100%" */
    const struct device_history *own = model_device_history(model, vitals_row_key(gpu));
    struct readings_words words;
    struct remark remark;
    char name[WORDS * 2], left[LINE] = "", right[LINE];
    double limit = 1;
    read_words(model, gpu, &words);
    remark_on(model, gpu, box->columns - 14, &remark);
    (void)cell_device(gpu, pen->look->ascii, NAME_MOST, name, sizeof name);
    int wide = canvas_columns(name) > NAME_LEAST ? canvas_columns(name) : NAME_LEAST;
    add_work(gpu, box->columns - REST - wide - canvas_columns(vitals_row_label(gpu)), &remark);
    if (words.has_share)
        (void)snprintf(left, sizeof left, "mem %s %s", words.share, words.memory);
    right_words(model, gpu, &words, box->columns - canvas_columns(left) - 1, right);

    struct graph up = {.history = NULL}, down = up;
    if (own != NULL) {
        const struct {
            const struct history *history;
            double most;
            ink ramp;
        } SECONDS[SECOND_KINDS] = {
            [SECOND_MEMORY] = {&own->memory, 1, INK_HELD},
            [SECOND_POWER] = {&own->power, 0, INK_IN},
            [SECOND_TEMPERATURE] = {&own->temperature, 100, INK_OUT},
        };
        enum second_chart second = model->arranged.second;
        double most = SECONDS[second].most;
        if (second == SECOND_POWER)
            most = cell_value(gpu, VITALS_GPU_POWER_LIMIT_WATTS, &limit) ? limit : 1000;
        up = pane_chart(model, &own->busy, 1, INK_LOAD, false);
        down = pane_chart(model, SECONDS[second].history, most, SECONDS[second].ramp, true);
    }
    /* A device that never says how busy it is has one chart; one that is lost keeps both. */
    bool both = own != NULL &&
                vitals_row_availability(gpu, VITALS_GPU_UTILIZATION_RATIO) != VITALS_UNSUPPORTED;
    if (!both)
        down.down = false; /* alone */
    draw_tile(pen, box,
              &(struct tile){.label = vitals_row_label(gpu),
                             .name = name,
                             .value = words.busy,
                             .value_style = aged(gpu, STYLE_BOLD | theme_step(INK_LOAD, 0.9)),
                             .note = remark.text,
                             .note_style = remark.style,
                             .left = left,
                             .left_style = aged(gpu, theme_step(INK_HELD, 0.9)),
                             .right = right,
                             .up = both          ? &up
                                   : own != NULL ? &down
                                                 : NULL,
                             .down = both ? &down : NULL,
                             .chosen = is_chosen(model, gpu)});
}

/* Columns of a line, with the blank before them. */
enum { LABEL = 5, PERCENT = 5, GAUGE_LEAST = 6 };

/* The figures behind the bars; what does not fit is left out, the last first. */
enum { MEMORY, CELSIUS, POWER, PCIE, FIGURES };
static const struct {
    const char *title;
    int columns;
} FIGURE[FIGURES] = {{"", 13}, {" temp ", 6}, {" power ", 10}, {" PCIe in/out ", 14}};

struct line_form {
    int name, gauge, remark;
    int figures[FIGURES]; /* columns; 0: left out */
};

/* True if some device tells what goes over PCIe, or is about to. */
static bool has_pcie(const struct model *model)
{
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL;) {
        vitals_availability state = vitals_row_availability(
            gpu, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
        if (state > 0 || state == VITALS_NOT_YET || state == VITALS_TIMED_OUT)
            return true;
    }
    return false;
}

static struct line_form form_of(const struct model *model)
{
    enum { NAME = 18, NAME_LEAST = 10, REMARK = 24, GAUGE_MOST = 32, GAUGES_MORE = 20 };
    struct line_form form = {.name = NAME_LEAST, .gauge = GAUGE_LEAST};
    int left = model->width - 2 - LABEL - NAME_LEAST - 2 * (PERCENT + GAUGE_LEAST + 1);
    if (left < 0) { /* no bars: a percentage each */
        left += 2 * GAUGE_LEAST;
        form.gauge = 0;
    }
    for (int i = 0; i < PCIE; i++) {
        form.figures[i] = left >= FIGURE[i].columns ? FIGURE[i].columns : 0;
        left -= form.figures[i];
    }
    int more = left < NAME - NAME_LEAST ? left : NAME - NAME_LEAST;
    form.name += more > 0 ? more : 0;
    left -= more;
    if (left >= REMARK + 2) {
        form.remark = REMARK;
        left -= REMARK + 1;
    }
    if (left >= FIGURE[PCIE].columns + GAUGES_MORE && has_pcie(model))
        form.figures[PCIE] = FIGURE[PCIE].columns;
    left -= form.figures[PCIE];
    if (form.gauge > 0 && left > 1)
        form.gauge += left / 2 < GAUGE_MOST - form.gauge ? left / 2 : GAUGE_MOST - form.gauge;
    return form;
}

static int draw_words(struct pen *pen, int x, int y, int columns, bool right, ink style,
                      const char *text)
{
    struct canvas_field field = {
        .x = x, .y = y, .columns = columns - 1, .right = right, .style = style};
    if (text[0] != '\0')
        canvas_field(pen->canvas, &field, text);
    return x + columns;
}

static void draw_device_line(struct pen *pen, const struct model *model, const vitals_row *gpu,
                             int y)
{
    const struct line_form form = form_of(model);
    struct readings_words words;
    struct remark remark;
    char name[WORDS * 2], pcie[WORDS] = "";
    ink chosen = is_chosen(model, gpu) ? STYLE_REVERSE : 0;
    read_words(model, gpu, &words);
    remark_on(model, gpu, form.remark > 0 ? form.remark - 1 : form.name - 1, &remark);
    add_work(gpu, form.remark - 1, &remark);
    (void)cell_device(gpu, pen->look->ascii, form.name - 1, name, sizeof name);
    int x = draw_words(pen, 0, y, LABEL, true, INK_TITLE | chosen, vitals_row_label(gpu));
    bool instead = form.remark == 0 && remark.text[0] != '\0';
    x = draw_words(pen, x, y, form.name, false, instead ? remark.style : STYLE_PLAIN,
                   instead ? remark.text : name);

    const struct {
        const char *percent;
        bool known;
        double ratio;
        ink ramp;
    } BARS[] = {{words.busy, words.has_busy, words.busy_ratio, INK_LOAD},
                {words.share, words.has_share, words.share_ratio, INK_HELD}};
    for (size_t i = 0; i < 2; i++) {
        struct gauge gauge = {x, y, form.gauge, BARS[i].known, BARS[i].ratio, BARS[i].ramp};
        draw_gauge(pen, &gauge);
        x += form.gauge;
        x = draw_words(pen, x, y, PERCENT + 1, true,
                       aged(gpu, STYLE_BOLD | theme_step(BARS[i].ramp, 0.9)), BARS[i].percent);
    }
    const char *const figures[FIGURES] = {words.memory, words.celsius, words.power, pcie};
    (void)pcie_words(gpu, pcie);
    for (size_t i = 0; i < FIGURES; i++)
        x = draw_words(pen, x, y, form.figures[i], true, INK_SOFT, figures[i]);
    if (form.remark > 0)
        (void)draw_words(pen, x + 1, y, form.remark, false, remark.style, remark.text);
}

/* The titles of the lines, in a rule. */
static void draw_titles(struct pen *pen, const struct model *model, int y)
{
    const struct line_form form = form_of(model);
    int x = LABEL + form.name;
    if (!pen->look->plain)
        canvas_repeat(pen->canvas, 1, y, model->width - 2, INK_FRAME, pen->look->ascii ? "-" : "─");
    (void)canvas_text(pen->canvas, 1, y, INK_TITLE, "Devices ");
    for (int i = 0; i < 2; i++, x += form.gauge + PERCENT + 1)
        (void)canvas_text(pen->canvas, x - 1, y, INK_SOFT, i == 0 ? " busy " : " memory ");
    for (size_t i = 0; i < FIGURES; i++) {
        x += form.figures[i];
        if (form.figures[i] > 0)
            (void)canvas_text(pen->canvas, x - (int)strlen(FIGURE[i].title), y, INK_SOFT,
                              FIGURE[i].title);
    }
}

void pane_gpus(struct pen *pen, const struct model *model, const struct layout *layout)
{
    int each = tiles_in_row(model), place = 0, rows = layout->device_rows;
    int y = layout->devices_y, count = pane_gpus_count(model);
    char text[WORDS];
    struct line_choice choice = choose_lines(model, layout);
    for (const vitals_row *gpu = NULL; rows > 0 && (gpu = next_shown(model, &choice, gpu)) != NULL;
         place++) {
        int mark_x = 0, mark_y = y + 1 + place;
        if (layout->device_charts > 0) {
            int column = place % each, inside = model->width - 2 + GAP;
            int x = inside * column / each, end = inside * (column + 1) / each - GAP;
            struct box box = {1 + x, y + place / each * (layout->device_charts + 2), end - x,
                              layout->device_charts + 2};
            draw_device_tile(pen, model, gpu, &box);
            mark_x = box.x - 1;
            mark_y = box.y;
        } else {
            draw_device_line(pen, model, gpu, y + 1 + place);
        }
        if (is_chosen(model, gpu))
            (void)canvas_text(pen->canvas, mark_x, mark_y, INK_TITLE, pen->look->ascii ? ">" : "▶");
    }
    if (layout->device_charts == 0 && rows > 0)
        draw_titles(pen, model, y);
    if (layout->device_charts == 0 && rows > 1 && rows < count + 1) {
        (void)snprintf(text, sizeof text, "%d more devices", count + 2 - rows);
        (void)canvas_text(pen->canvas, 5, y + rows - 1, INK_SOFT, text);
    }
}
