/* screen_alerts.c: what needed attention within the time that is kept, with begin and end, the
 * newest first. Readings are gone through backwards, some at a time, while the screen is open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/history/parse_time.h"
#include "monitor/screens/screen.h"
#include "util/base.h"

enum { ALERTS_MOST = 200, LINE = 256, HEAD = 2 };

/* Readings without it that are so far apart end an alert. */
static const uint64_t PAUSE_NS = 15 * NS_PER_SECOND;

static const struct hint HINTS[] = {
    {INPUT_ENTER, "Enter", "goes to that time"}, {'h', "h", "help"}, {'q', "q", "back"}};

struct alert {
    struct concern what;
    uint64_t from_ns, until_ns; /* realtime */
    uint64_t told_ns;           /* from when on the main screen says so */
};

struct alerts {
    struct alert items[ALERTS_MOST]; /* ends fall */
    int count, place, top;
    uint64_t oldest_ns, newest_ns; /* of the readings that were looked at */
    struct model *then;            /* the model with an older reading */
    int64_t kept_place;            /* of the oldest one */
    bool whole;                    /* there is no older one */
};

/* True if both say the same but for figures, and for what was added behind a comma. */
static bool is_same(const struct concern *a, const struct concern *b)
{
    size_t size = strcspn(a->says, "0123456789,");
    return strcmp(a->subject, b->subject) == 0 && size == strcspn(b->says, "0123456789,") &&
           strncmp(a->says, b->says, size) == 0;
}

/* Keeps the words that say most: the longer, of equal length those with the greater figure. */
static void keep_words(struct concern *kept, const struct concern *other)
{
    size_t old = strlen(kept->says), size = strlen(other->says);
    if (size > old || (size == old && strcmp(other->says, kept->says) > 0))
        memcpy(kept->says, other->says, sizeof kept->says);
    kept->is_trouble = kept->is_trouble || other->is_trouble;
}

static bool is_later(const struct alert *a, const struct alert *b)
{
    return a->until_ns != b->until_ns ? a->until_ns > b->until_ns : a->from_ns >= b->from_ns;
}

/* At its place by its end, then its begin. If there is no room the oldest is left out. */
static void insert(struct alerts *alerts, const struct alert *alert)
{
    int place = 0;
    while (place < alerts->count && is_later(&alerts->items[place], alert))
        place++;
    if (place == ALERTS_MOST)
        return;
    alerts->count += alerts->count < ALERTS_MOST;
    memmove(&alerts->items[place + 1], &alerts->items[place],
            (size_t)(alerts->count - 1 - place) * sizeof alerts->items[0]);
    alerts->items[place] = *alert;
}

/* At a time, or from a time to another one. */
static void note(struct alerts *alerts, const struct alert *noted)
{
    struct alert alert = *noted;
    for (int i = 0; i < alerts->count; i++) {
        struct alert *old = &alerts->items[i];
        if (!is_same(&old->what, &alert.what) || alert.from_ns > old->until_ns + PAUSE_NS ||
            alert.until_ns + PAUSE_NS < old->from_ns)
            continue;
        keep_words(&alert.what, &old->what);
        alert.from_ns = uint64_min(alert.from_ns, old->from_ns);
        alert.until_ns = uint64_max(alert.until_ns, old->until_ns);
        alert.told_ns = uint64_min(alert.told_ns, old->told_ns);
        alerts->count--;
        memmove(old, old + 1, (size_t)(alerts->count - i) * sizeof *old);
        break;
    }
    insert(alerts, &alert);
}

static void look(struct alerts *alerts, const struct model *model)
{
    struct concerns concerns = {.apart = true};
    uint64_t now_ns = vitals_snapshot_realtime_ns(model->machine.now);
    concerns_collect(model, &concerns);
    for (size_t i = 0; i < concerns.count; i++) {
        uint64_t lasted_ns = (uint64_t)(concerns.items[i].seconds * 1e9);
        struct alert alert = {concerns.items[i], now_ns > lasted_ns ? now_ns - lasted_ns : 0,
                              now_ns, now_ns};
        if (lasted_ns > 0) /* memory that is held is told after a while */
            alert.told_ns = uint64_min(alert.from_ns + model_held_after_ns(model), now_ns);
        note(alerts, &alert);
    }
    if (alerts->oldest_ns == 0 || now_ns < alerts->oldest_ns)
        alerts->oldest_ns = now_ns;
    alerts->newest_ns = now_ns > alerts->newest_ns ? now_ns : alerts->newest_ns;
}

/* Older readings, for so long that a key does not wait. */
static void look_back(struct monitor *monitor, struct alerts *alerts)
{
    const uint64_t BUSY_NS = 20000000, begun_ns = monitor_now_ns(monitor);
    enum { AT_ONCE = 256 };
    vitals_snapshot *older = NULL;
    if (alerts->whole || monitor->player == NULL || alerts->then == NULL) {
        alerts->whole = true;
        return;
    }
    *alerts->then = monitor->model;
    alerts->then->idle = (struct idle_gpus){.newest_ns = 0}; /* which is of now */
    for (int i = 0; i < AT_ONCE && monitor_now_ns(monitor) - begun_ns < BUSY_NS; i++) {
        alerts->whole = player_before(monitor->player, &alerts->kept_place, &older) != 1;
        if (alerts->whole)
            return;
        alerts->then->machine.now = older;
        look(alerts, alerts->then);
        vitals_snapshot_unref(older);
    }
}

static void settle(struct monitor *monitor, void *state)
{
    struct alerts *alerts = state;
    const struct model *model = &monitor->model;
    if (!model->away && model->machine.now != NULL)
        look(alerts, model);
    look_back(monitor, alerts);
    alerts->place = place_within(alerts->place, alerts->count - 1);
    alerts->top = scroll_to(alerts->top, alerts->place, screen_lines(monitor), alerts->count);
}

static uint64_t patience_ns(const void *state)
{
    return ((const struct alerts *)state)->whole ? 0 : 1;
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    enum { FROM = 3, NARROW_WIDTH = 64 };
    static const char *const MARKS[2][2] = {{"●", "▲"}, {"*", "!"}};
    const struct alerts *alerts = state;
    const struct model *model = &monitor->model;
    char first[TIME_WORDS], last[TIME_WORDS], line[LINE];
    const struct time_span span = {alerts->oldest_ns, alerts->newest_ns, alerts->newest_ns};
    bool dated = time_span_is_dated(&span);
    int width = model->width, end = model->height - 1;
    bool narrow = width < NARROW_WIDTH; /* no room for how long, nor for "before" */
    int time = dated ? 16 : 9, until = FROM + time + (narrow ? 0 : 8);
    int lasted = until + time + 1, says = lasted + (narrow ? 0 : 12);
    format_time(alerts->oldest_ns, dated, first);
    format_time(alerts->newest_ns, dated, last);
    int x = 1 + canvas_text(pen->canvas, 1, 0, INK_TITLE, "What needed attention");
    (void)snprintf(line, sizeof line, "  %s to %s%s", first, last,
                   alerts->whole ? "" : ", looking further back");
    canvas_words(pen->canvas, x, 0, width - x, INK_SOFT,
                 alerts->newest_ns != 0 ? line : "  Reading...");
    canvas_words(pen->canvas, FROM, 1, width - FROM, INK_SOFT, "from");
    canvas_words(pen->canvas, until, 1, width - until, INK_SOFT, "until");
    canvas_words(pen->canvas, lasted, 1, width - lasted, INK_SOFT, narrow ? "" : "for");
    canvas_words(pen->canvas, says, 1, width - says, INK_SOFT, "what");
    if (alerts->count == 0 && alerts->whole)
        (void)canvas_text(pen->canvas, FROM, HEAD, INK_WELL, "nothing");

    for (int i = alerts->top, y = HEAD; i < alerts->count && y < end; i++, y++) {
        const struct alert *alert = &alerts->items[i];
        bool lasts = alert->until_ns == alerts->newest_ns,
             longer = alerts->whole && alert->from_ns == span.first_ns;
        /* One color over the chosen row. */
        ink chosen = i == alerts->place ? STYLE_BOLD | STYLE_REVERSE | STYLE_CYAN : STYLE_PLAIN;
        bool is_chosen = chosen != STYLE_PLAIN;
        ink mark = alert->what.is_trouble ? INK_TROUBLE : INK_NOTICE;
        canvas_words(pen->canvas, 0, y, width, chosen, "");
        (void)canvas_text(pen->canvas, 1, y, is_chosen ? chosen : mark,
                          MARKS[pen->look->ascii][alert->what.is_trouble]);
        format_time(alert->from_ns, dated, first);
        (void)snprintf(line, sizeof line, "%s%s", longer && !narrow ? "before " : "", first);
        canvas_words(pen->canvas, FROM, y, until - FROM - 1, chosen, line);
        format_time(alert->until_ns, dated, last);
        canvas_words(pen->canvas, until, y, lasted - until - 1,
                     chosen | (lasts ? STYLE_BOLD : STYLE_PLAIN), lasts ? "now" : last);
        format_distance(alert->until_ns - alert->from_ns, last);
        canvas_words(pen->canvas, lasted, y, says - lasted - 1, is_chosen ? chosen : INK_SOFT,
                     last);
        (void)snprintf(line, sizeof line, "%s %s", alert->what.subject, alert->what.says);
        canvas_words(pen->canvas, says, y, width - says,
                     lasts && alert->what.is_trouble && !is_chosen ? INK_TROUBLE : chosen, line);
    }
    hints_draw(pen, model, HINTS, ARRAY_COUNT(HINTS));
}

static bool act(struct monitor *monitor, void *state, enum action action, int argument UNUSED)
{
    struct alerts *alerts = state;
    int by = action_lines(action, monitor->model.height - HEAD - 2, alerts->count);
    if (action != ACTION_ALERTS) {
        alerts->place = place_within(alerts->place + by, alerts->count);
        return by != 0;
    }
    if (alerts->count == 0 || monitor->player == NULL)
        return true;
    uint64_t told_ns = alerts->items[alerts->place].told_ns;
    monitor_close(monitor);
    player_show(monitor->player, told_ns);
    return true;
}

static bool click(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct alerts *alerts = state;
    int at = alerts->top + event->y - HEAD, by = input_lines(event, 0, 0);
    if (event->code != INPUT_CLICK)
        return by == 0 || act(monitor, alerts, by < 0 ? ACTION_UP : ACTION_DOWN, 0);
    if (hints_click(monitor, event, HINTS, ARRAY_COUNT(HINTS)) || event->y < HEAD ||
        at >= alerts->count)
        return true;
    bool again = at == alerts->place;
    alerts->place = at;
    return !again || act(monitor, alerts, ACTION_ALERTS, 0);
}

static int open_alerts(struct monitor *monitor UNUSED, void *state)
{
    struct alerts *alerts = state;
    alerts->then = malloc(sizeof *alerts->then);
    alerts->kept_place = -1;
    return 0;
}

static void close_alerts(void *state)
{
    free(((struct alerts *)state)->then);
}

const struct screen screen_alerts = {
    .name = "alerts",
    .bit = ON_ALERTS,
    .size = sizeof(struct alerts),
    .open = open_alerts,
    .draw = draw,
    .act = act,
    .click = click,
    .settle = settle,
    .patience_ns = patience_ns,
    .close = close_alerts,
};
