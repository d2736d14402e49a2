/* player.c: see player.h. */
#include "monitor/history/player.h"

#include <stdio.h>
#include <string.h>

#include "monitor/history/parse_time.h"
#include "monitor/screens/pane.h"
#include "util/base.h"
#include "util/error.h"

enum { SPEED_MOST = 6, AT_ONCE = 64, GAP_SECONDS = 10, GAP_STEPS = 5 };

/* A key waits no longer while snapshots are read. */
static const uint64_t BUSY_NS = 20000000;

static uint64_t now_ns(const struct player *player)
{
    return player->clock->monotonic_ns(player->clock->data);
}

static struct timeline *timeline(struct player *player)
{
    return &player->cursor.machine.timeline;
}

void player_init(struct player *player, struct model *model, const vitals_clock *clock,
                 struct timeline_cursor cursor, bool file)
{
    *player = (struct player){.cursor = cursor, .model = model, .clock = clock, .file = file};
}

static void drop_ahead(struct player *player)
{
    vitals_snapshot_unref(player->ahead);
    player->ahead = NULL;
    player->at_end = false;
}

static void drop_filled(struct player *player)
{
    vitals_snapshot_unref(player->filled);
    player->filled = NULL;
}

void player_done(struct player *player)
{
    drop_ahead(player);
    drop_filled(player);
    timeline_cursor_done(&player->cursor);
}

/* ---- what is shown ---- */

/* From where one is, playing counts anew. */
static void count_anew(struct player *player)
{
    player->begun_ns = now_ns(player);
    player->begun_moment_ns = timeline_cursor_time_ns(&player->cursor);
}

static void show(struct player *player)
{
    struct readings machine, all;
    struct timeline *kept = timeline(player);
    timeline_cursor_readings(&player->cursor, &machine, &all);
    model_show(player->model, &machine, &all);

    /* The next problem of the timeline that was not shown yet. */
    const char *problem = kept->problem != NULL ? kept->problem(kept->data) : "";
    if (strlen(problem) > player->told) {
        const char *line = problem + player->told;
        player->told = strlen(problem);
        model_say(player->model, "%.*s", (int)strcspn(line, "\n"), line);
    }
    if (player->cursor.apart.code != 0)
        model_say(player->model, "%s", player->cursor.apart.message);
}

void player_fill_anew(struct player *player)
{
    vitals_error error;
    drop_filled(player);
    /* From now on back: the cursor of a live monitor stands nowhere. */
    const vitals_snapshot *now = player->model->machine.now;
    if (!player->file && !player->model->away &&
        (now == NULL ||
         timeline_cursor_at(&player->cursor, vitals_snapshot_realtime_ns(now), &error) != 1))
        return;
    player->fills = timeline_cursor_processes(&player->cursor);
    player->fills_model = false;
    if (timeline_reader_now(player->fills) == NULL)
        return;
    player->filled = vitals_snapshot_ref(timeline_reader_now(player->fills));
    player->filled_place = timeline_reader_place(player->fills);
}

/* At a moment that does not follow the last one. */
static void show_anew(struct player *player)
{
    const vitals_snapshot *now = timeline_cursor_now(&player->cursor);
    drop_ahead(player);
    drop_filled(player);
    player->model->epoch++;
    if (player->file) { /* graphs of a live monitor go on, and are looked at further back */
        const struct recent_snapshots *recent = &player->cursor.machine.recent;
        model_graphs_begin(player->model,
                           recent->count > 1 ? recent->items[recent->count - 2].snapshot : NULL,
                           now);
    }
    player_fill_anew(player);
    player->fills_model = player->file;
    count_anew(player);
    show(player);
}

/* False: it could not be looked at, for the reason that is said; what was known stands. */
static bool measure(struct player *player)
{
    vitals_error error;
    struct timeline *kept = timeline(player);
    player->spanned_ns = now_ns(player);
    if (kept->span == NULL || kept->span(kept->data, &player->span, &error) >= 0)
        return true;
    model_say(player->model, "%s", error.message);
    return false;
}

/* Shows the result of a step. */
static void arrive(struct player *player, int code, const vitals_error *error)
{
    if (code == 1)
        show_anew(player);
    else if (code < 0)
        model_say(player->model, "%s", error->message);
    (void)measure(player);
}

/* ---- now and away, of a live monitor ---- */

static bool is_away(const struct player *player)
{
    return player->file || player->model->away;
}

static void go_back_to_now(struct player *player)
{
    drop_ahead(player);
    drop_filled(player);
    player->playing = false;
    model_return(player->model);
}

/* The time that a step starts from: for a live monitor the time on the screen. */
static uint64_t from_ns(const struct player *player)
{
    const vitals_snapshot *now = player->model->machine.now;
    return is_away(player) ? timeline_cursor_time_ns(&player->cursor)
           : now != NULL   ? vitals_snapshot_realtime_ns(now)
                           : 0;
}

static uint64_t last_ns(const struct player *player)
{
    const vitals_snapshot *now = player->model->away ? player->model->aside_machine.now : NULL;
    return now != NULL ? vitals_snapshot_realtime_ns(now) : player->span.last_ns;
}

/* To a moment; what is not before the last is the end. */
static void jump(struct player *player, uint64_t moment_ns)
{
    vitals_error error = {.code = 0};
    if (!measure(player))
        return;
    if (!player->file && (moment_ns >= player->span.last_ns || player->span.count < 2)) {
        if (player->model->away)
            go_back_to_now(player);
        else if (player->span.count < 2)
            model_say(player->model, "no earlier reading yet");
        return;
    }
    bool leaves = !is_away(player);
    if (leaves)
        model_leave(player->model);
    int code = timeline_cursor_at(&player->cursor, moment_ns, &error);
    if (code != 1 && leaves)
        model_return(player->model);
    if (code == 0)
        model_say(player->model, "nothing is kept");
    arrive(player, code, &error);
}

/* To the first snapshot that is not before a moment. */
static void jump_behind(struct player *player, uint64_t moment_ns)
{
    vitals_error error = {.code = 0};
    jump(player, moment_ns);
    if (is_away(player) && from_ns(player) < moment_ns &&
        timeline_cursor_step(&player->cursor, true, &error) == 1)
        arrive(player, 1, &error);
}

void player_show(struct player *player, uint64_t realtime_ns)
{
    player->playing = false;
    jump_behind(player, realtime_ns);
}

int player_before(struct player *player, int64_t *place, vitals_snapshot **out)
{
    vitals_error error;
    struct timeline *kept = timeline(player);
    if (*place >= 0)
        return timeline_reader_before(&player->cursor.machine, place, out, &error);
    int code = kept->at(kept->data, UINT64_MAX, out, &error);
    if (code == 1)
        *place = kept->place(kept->data);
    return code;
}

static void play(struct player *player)
{
    player->playing = !player->playing;
    drop_ahead(player);
    count_anew(player);
}

/* To the next snapshot, or the one before. */
static void step(struct player *player, bool forward)
{
    vitals_error error = {.code = 0};
    uint64_t here_ns = from_ns(player);
    player->playing = false;
    if (!is_away(player)) {
        if (!forward)
            jump(player, here_ns > 0 ? here_ns - 1 : 0);
        return;
    }
    int code = timeline_cursor_step(&player->cursor, forward, &error);
    if (code == 0 && forward && !player->file) {
        go_back_to_now(player);
        return;
    }
    if (code == 0)
        model_say(player->model, forward ? "this is the end" : "this is the beginning");
    arrive(player, code, &error);
}

/* By seconds; if snapshots lie further apart, to the next one. */
static void move(struct player *player, int seconds)
{
    vitals_error error = {.code = 0};
    uint64_t here_ns = from_ns(player);
    uint64_t by_ns = (uint64_t)(seconds < 0 ? -seconds : seconds) * NS_PER_SECOND;
    bool was_away = is_away(player);
    if (seconds > 0 && !was_away)
        return;
    int64_t place = timeline_reader_place(&player->cursor.machine);
    jump(player, seconds > 0 ? here_ns + by_ns : here_ns > by_ns ? here_ns - by_ns : 0);
    if (!was_away || !is_away(player) || timeline_reader_place(&player->cursor.machine) != place)
        return;
    int code = timeline_cursor_step(&player->cursor, seconds > 0, &error);
    if (code != 0)
        arrive(player, code, &error);
}

/* To the first snapshot that is not before the next mark, or the one before. */
static void go_to_mark(struct player *player, int direction)
{
    uint64_t mark_ns, here_ns = from_ns(player);
    size_t count = 0;
    if (here_ns == player->marked_moment_ns)
        here_ns = player->marked_ns; /* which lies between two snapshots */
    struct timeline *kept = timeline(player);
    if (kept->phases == NULL || kept->phases(kept->data, &count) == NULL || count == 0) {
        model_say(player->model, "there are no marks (vitals mark)");
        return;
    }
    if (!timeline_nearest_mark(kept, here_ns, direction, &mark_ns)) {
        model_say(player->model,
                  direction > 0 ? "there is no later mark" : "there is no earlier mark");
        return;
    }
    jump_behind(player, mark_ns);
    player->marked_ns = mark_ns;
    player->marked_moment_ns = from_ns(player);
}

bool player_act(struct player *player, enum action action, int argument)
{
    switch ((int)action) {
    case ACTION_TIME_SAMPLE: step(player, argument > 0); return true;
    case ACTION_TIME_SECONDS: move(player, argument); return true;
    case ACTION_TIME_END: jump(player, argument < 0 ? 0 : UINT64_MAX); return true;
    case ACTION_TIME_SPEED:
        if (argument > 0 && player->speed < SPEED_MOST)
            player->speed++;
        if (argument < 0 && player->speed > 0)
            player->speed--;
        count_anew(player);
        if (is_away(player) && !player->playing)
            play(player);
        return true;
    case ACTION_TIME_MARK: go_to_mark(player, argument); return true;
    case ACTION_PAUSE:
        if (is_away(player))
            play(player);
        return is_away(player);
    default: return false;
    }
}

static struct time_span span_of(const struct player *player)
{
    return (struct time_span){player->span.first_ns, last_ns(player), from_ns(player)};
}

bool player_go(struct player *player, const char *moment)
{
    uint64_t found_ns;
    (void)measure(player);
    struct time_span span = span_of(player);
    if (!parse_time(moment, &span, &found_ns))
        return false;
    jump(player, found_ns);
    /* Of a recording the last row says which time it has. */
    if (player->model->away && found_ns > 0 && found_ns < span.first_ns) {
        char first[TIME_WORDS], ago[TIME_WORDS];
        format_time(span.first_ns, false, first);
        format_distance(span.last_ns - span.first_ns, ago);
        model_say(player->model, "history begins %s, %s ago; shown instead", first, ago);
    }
    return true;
}

int player_begin(struct player *player, const char *at, bool playing, vitals_error *error)
{
    int code = timeline_cursor_at(&player->cursor, 0, error);
    if (code == 0)
        return error_set(error, VITALS_EGONE, 0, "there is no snapshot in it");
    if (code < 0)
        return code;
    arrive(player, code, error);
    if (at != NULL && at[0] == '-')
        jump(player, UINT64_MAX); /* so long before the end */
    if (at != NULL && !player_go(player, at))
        return error_set(error, VITALS_EARGUMENT, 0,
                         "that is not a time; write 12:03, 12:03:07, 2026-11-22 12:03, +5min, -90, "
                         "34%%, begin or end");
    player->playing = playing;
    count_anew(player);
    return 0;
}

/* ---- playing ---- */

static uint64_t due_ns(const struct player *player)
{
    uint64_t next_ns = vitals_snapshot_realtime_ns(player->ahead);
    uint64_t by_ns = next_ns > player->begun_moment_ns ? next_ns - player->begun_moment_ns : 0;
    return player->begun_ns + (by_ns >> player->speed);
}

/* Looks for a next snapshot; a file that grows is asked once a second. */
static bool look_ahead(struct player *player)
{
    vitals_error error;
    const struct recent_snapshots *recent = &player->cursor.machine.recent;
    uint64_t now = now_ns(player), here_ns = timeline_cursor_time_ns(&player->cursor);
    if (player->ahead != NULL)
        return true;
    if (player->at_end && now - player->asked_ns < NS_PER_SECOND)
        return false;
    bool waited = player->at_end;
    int code = timeline_cursor_peek(&player->cursor, &player->ahead, &error);
    player->asked_ns = now;
    player->at_end = code != 1;
    if (code < 0) {
        player->playing = false;
        model_say(player->model, "%s", error.message);
    }
    if (code != 1)
        return false;
    uint64_t ahead_ns = vitals_snapshot_realtime_ns(player->ahead);
    if (waited || ahead_ns < here_ns) { /* it has just been written, or the clock was set back */
        player->begun_moment_ns = ahead_ns;
        player->begun_ns = now;
    }

    /* A gap in which nothing was kept is skipped. */
    uint64_t step_ns = 0, due = due_ns(player);
    if (recent->count > 1)
        step_ns = here_ns - vitals_snapshot_realtime_ns(recent->items[recent->count - 2].snapshot);
    if (ahead_ns >= here_ns && due > now && due - now > GAP_SECONDS * NS_PER_SECOND &&
        step_ns > 0 && ahead_ns - here_ns > GAP_STEPS * step_ns) {
        player->begun_moment_ns = ahead_ns;
        player->begun_ns = now + NS_PER_SECOND;
    }
    return true;
}

bool player_turn(struct player *player)
{
    bool changed = false;
    if (!is_away(player) || !player->playing)
        return false;
    if (now_ns(player) - player->spanned_ns >= NS_PER_SECOND) {
        (void)measure(player);
        changed = true;
    }
    uint64_t begun_ns = now_ns(player);
    for (int i = 0; i < AT_ONCE && now_ns(player) - begun_ns < BUSY_NS; i++) {
        if (!look_ahead(player)) {
            if (player->file || !player->playing)
                return changed;
            go_back_to_now(player);
            return true;
        }
        if (due_ns(player) > now_ns(player))
            return changed;
        vitals_snapshot *next = player->ahead;
        player->ahead = NULL;
        if (player->file)
            model_graphs_add(player->model, next);
        timeline_cursor_follow(&player->cursor, next);
        show(player);
        changed = true;
    }
    count_anew(player); /* as fast as it can */
    return true;
}

uint64_t player_patience_ns(const struct player *player)
{
    uint64_t now = now_ns(player), until = now;
    if (!is_away(player) || !player->playing)
        return UINT64_MAX;
    if (player->ahead != NULL)
        until = due_ns(player);
    else if (player->at_end)
        until = player->asked_ns + NS_PER_SECOND;
    return until > now ? until - now : 0;
}

bool player_fill(struct player *player, int most,
                 void (*each)(void *data, const struct model *then), void *data)
{
    /* The seconds that graphs show, or for which a device may have been held; limited, as a
     * recording may be of weeks. */
    enum { MEANS = 120 };
    const uint64_t HELD_NS = 4 * 3600 * NS_PER_SECOND;
    const uint64_t SEEN_NS =
        (uint64_t)(player->model->width * chart_seconds[player->model->arranged.span] + MEANS) *
        NS_PER_SECOND;
    const vitals_snapshot *now = player->filled != NULL ? timeline_reader_now(player->fills) : NULL;
    if (now == NULL)
        drop_filled(player); /* it has been left meanwhile */
    uint64_t begun_ns = now_ns(player);
    for (int i = 0; i < most && player->filled != NULL && now_ns(player) - begun_ns < BUSY_NS;
         i++) {
        vitals_error error;
        vitals_snapshot *older = NULL;
        bool held = player->fills_model && idle_gpus_goes_back(&player->model->idle);
        int code = timeline_reader_before(player->fills, &player->filled_place, &older, &error);
        uint64_t then_ns = code == 1 ? vitals_snapshot_monotonic_ns(older) : 0;
        if (code != 1 || then_ns > vitals_snapshot_monotonic_ns(player->filled) ||
            vitals_snapshot_monotonic_ns(now) - then_ns > (held ? HELD_NS : SEEN_NS)) {
            vitals_snapshot_unref(older);
            drop_filled(player);
            break;
        }

        if (player->fills_model)
            model_graphs_add_before(player->model, player->filled, older);
        if (each != NULL && player->filled != now) {
            struct model then = *player->model;
            struct readings readings = {.now = player->filled, .previous = older, .older = older};
            bool all = player->fills == &player->cursor.all;
            then.machine = all ? (struct readings){.now = NULL} : readings;
            then.all = all ? readings : (struct readings){.now = NULL};
            each(data, &then);
        }
        drop_filled(player);
        player->filled = older;
    }
    return player->filled != NULL;
}

bool player_words(const struct player *player, bool ascii, unsigned screen,
                  char out[static PLAYER_WORDS])
{
    if (!is_away(player))
        return false;
    struct time_span span = span_of(player);
    const struct timeline *kept = &player->cursor.machine.timeline;
    char now[TIME_WORDS], first[TIME_WORDS], last[TIME_WORDS], name[80];
    bool dated = player->file && time_span_is_dated(&span);
    format_time(span.now_ns, dated, now);
    out[0] = '\0';
    if (player->file) {
        uint64_t length_ns = span.last_ns > span.first_ns ? span.last_ns - span.first_ns : 0;
        uint64_t at_ns = span.now_ns > span.first_ns ? span.now_ns - span.first_ns : 0;
        unsigned percent = length_ns == 0 || at_ns >= length_ns
                               ? 100
                               : (unsigned)((double)at_ns / (double)length_ns * 100);
        format_time(span.first_ns, dated, first);
        format_time(span.last_ns, dated, last);
        cell_add(out, PLAYER_WORDS, "%s of %s%s%s, %u %%", now, first, ascii ? "-" : "–", last,
                 percent);
    } else {
        format_distance(span.last_ns > span.now_ns ? span.last_ns - span.now_ns : 0, last);
        if (screen & ON_TIMES)
            cell_add(out, PLAYER_WORDS, "%s: back to now  { } a reading  b w a minute  @ go to  ",
                     screen & ON_LISTS ? "E or Esc" : "E");
        cell_add(out, PLAYER_WORDS, "%s", now);
    }

    /* The path of a recording is untrusted text. */
    const struct recorded_phase *phase = kept->phases != NULL ? timeline_phase_at(kept, span.now_ns)
                                                              : NULL;
    if (phase != NULL) {
        (void)vitals_text_format((vitals_text){phase->name, strlen(phase->name)},
                                 VITALS_TEXT_TERMINAL, name, sizeof name);
        cell_add(out, PLAYER_WORDS, ", in %s", name);
    }
    if (player->playing && player->at_end)
        cell_add(out, PLAYER_WORDS, ", waits for more");
    else if (player->playing)
        cell_add(out, PLAYER_WORDS, ", plays %ux", 1u << player->speed);
    else if (player->file)
        cell_add(out, PLAYER_WORDS, ", stands");
    if (player->file)
        cell_add(out, PLAYER_WORDS, "  { } ( ) b w move, p %s, h helps",
                 player->playing ? "holds" : "plays");
    else
        cell_add(out, PLAYER_WORDS, "  %s ago  C-b C-f 10 min  p %s", last,
                 player->playing ? "holds" : "plays");
    return true;
}
