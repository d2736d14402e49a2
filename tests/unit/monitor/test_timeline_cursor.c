/* Looking back: a recording on the screens, and the last hour of a live monitor. The timeline is in
 * memory and the clock is a number, so that nothing here waits. */
#include "monitor_world.h"

#include <math.h>
#include <stdlib.h>

static const struct monitor_process PROCESSES[] = {
    {10, 1, "ana", "one", 10, 0.25, 5, 1, 100, false},
    {20, 1, "ben", "two", 20, 0.5, 5, 1, 200, false},
};
static const struct monitor_world WORLD = {PROCESSES, CHECK_COUNT(PROCESSES), 1};

/* ---- snapshots that were kept: moments in seconds ---- */

enum { KEPT_MOST = 4096 };

static struct {
    double seconds[KEPT_MOST];
    size_t count, first; /* those before `first` have been dropped */
    long at;             /* that was given last; -1: none */
    size_t given;        /* how often one was made */
    const struct recorded_phase *phases;
    size_t phase_count;
    bool broken;
} kept;

static vitals_builder *kept_builder;
static uint64_t now_ns;

static int give(long place, vitals_snapshot **out, vitals_error *error)
{
    if (kept.broken) {
        *error = (vitals_error){.code = VITALS_EFORMAT, .message = "it is broken"};
        return VITALS_EFORMAT;
    }
    if (place < (long)kept.first || place >= (long)kept.count)
        return 0;
    *out = world_at(kept_builder, &WORLD, kept.seconds[place], (uint64_t)place + 1);
    kept.at = place;
    kept.given++;
    return 1;
}

static int kept_span(void *data, struct timeline_span *out, vitals_error *error)
{
    (void)data;
    (void)error;
    *out = (struct timeline_span){.count = kept.count - kept.first};
    if (kept.count > kept.first) {
        out->first_ns = (uint64_t)(kept.seconds[kept.first] * MONITOR_SECOND);
        out->last_ns = (uint64_t)(kept.seconds[kept.count - 1] * MONITOR_SECOND);
    }
    return 0;
}

static int kept_at(void *data, uint64_t realtime_ns, vitals_snapshot **out, vitals_error *error)
{
    long place = (long)kept.count - 1;
    (void)data;
    while (place > (long)kept.first &&
           (uint64_t)(kept.seconds[place] * MONITOR_SECOND) > realtime_ns)
        place--;
    return give(place, out, error);
}

static int kept_next(void *data, vitals_snapshot **out, vitals_error *error)
{
    (void)data;
    long place = kept.at + 1;
    return give(place < (long)kept.first ? (long)kept.first : place, out, error);
}

static int kept_previous(void *data, vitals_snapshot **out, vitals_error *error)
{
    (void)data;
    return give(kept.at - 1, out, error);
}

static const struct recorded_phase *kept_phases(void *data, size_t *count)
{
    (void)data;
    *count = kept.phase_count;
    return kept.phases;
}

static int64_t kept_place(void *data)
{
    (void)data;
    return kept.at;
}

static void kept_stand(void *data, int64_t place)
{
    (void)data;
    kept.at = (long)place;
}

static const struct timeline TIMELINE = {.span = kept_span,
                                         .at = kept_at,
                                         .next = kept_next,
                                         .previous = kept_previous,
                                         .place = kept_place,
                                         .stand = kept_stand,
                                         .phases = kept_phases};

static uint64_t clock_now(void *data)
{
    (void)data;
    return now_ns;
}

static const vitals_clock CLOCK = {.size = sizeof CLOCK, .monotonic_ns = clock_now};

/* From `first` on, `step` apart, so many. */
static void keep(double first, double step, size_t count)
{
    for (size_t i = 0; i < count && kept.count < KEPT_MOST; i++)
        kept.seconds[kept.count++] = first + step * (double)i;
}

/* ---- a monitor over them ---- */

static struct monitor monitor;
static struct player player;
static struct monitor_options options;

static void forget(void)
{
    memset(&kept, 0, sizeof kept);
    kept.at = -1;
    now_ns = 5000 * (uint64_t)MONITOR_SECOND;
}

static void make(bool file)
{
    vitals_error error;
    struct timeline_cursor cursor;
    options = world_options();
    if (file)
        options.readonly = "this is a recording";
    CHECK_OK(vitals_builder_new(&kept_builder, &error), error);
    CHECK_INT(monitor_init(&monitor, &options), 0);
    monitor.model.same = true;
    monitor_resize(&monitor, 100, 40);
    timeline_cursor_init(&cursor, TIMELINE, NULL, model_window_ns(&monitor.model));
    player_init(&player, &monitor.model, &CLOCK, cursor, file);
    monitor.player = &player;
}

static void open_file(const char *at, bool playing)
{
    vitals_error error;
    make(true);
    CHECK_OK(player_begin(&player, at, playing, &error), error);
    monitor_settle(&monitor);
}

/* What a live monitor has seen so far is kept. */
static void open_live(void)
{
    make(false);
    for (size_t i = 0; i < kept.count; i++)
        model_add_machine(&monitor.model, world_at(kept_builder, &WORLD, kept.seconds[i], i + 1));
    monitor_settle(&monitor);
}

static void comes(double seconds)
{
    keep(seconds, 1, 1);
    model_add_machine(&monitor.model, world_at(kept_builder, &WORLD, seconds, kept.count));
    monitor_settle(&monitor);
}

static void close_all(void)
{
    monitor.player = NULL;
    player_done(&player);
    world_close(&monitor, kept_builder);
}

static double shown(void)
{
    return (double)vitals_snapshot_realtime_ns(monitor.model.machine.now) / MONITOR_SECOND;
}

static void seconds_pass(double seconds)
{
    now_ns += (uint64_t)(seconds * MONITOR_SECOND);
    (void)player_turn(&player);
    monitor_settle(&monitor);
}

static const char *status(void)
{
    static char words[PLAYER_WORDS];
    if (!player_words(&player, false, ON_MAIN, words))
        words[0] = '\0';
    return words;
}

/* ---- a recording ---- */

static void a_recording_begins_at_its_begin(void)
{
    forget();
    keep(1000, 1, 100);
    open_file(NULL, false);
    CHECK_NEAR(shown(), 1000, 1e-6);
    CHECK_CONTAINS(status(), "00:16:40 of 00:16:40–00:18:19, 0 %");
    CHECK_CONTAINS(status(), "stands");
    CHECK_CONTAINS(world_screen(&monitor), "one");
    close_all();
}

static void keys_step_and_jump(void)
{
    forget();
    keep(1000, 1, 2000);
    open_file(NULL, false);
    static const struct {
        const char *keys;
        double seconds;
    } STEPS[] = {{"}", 1001}, {"}}", 1003}, {"{", 1002},    {")", 1012},      {"w", 1072},
                 {"b", 1012}, {"(", 1002},  {"\x06", 1602}, {"E", 2999},      {"}", 2999},
                 {"{", 2998}, {"|", 1000},  {"{", 1000},    {"((b\x02", 1000}};
    for (size_t i = 0; i < CHECK_COUNT(STEPS); i++) {
        CHECK_CASE(STEPS[i].keys);
        press_keys(&monitor, STEPS[i].keys);
        CHECK_NEAR(shown(), STEPS[i].seconds, 1e-6);
    }
    CHECK_FALSE(monitor.quit);
    close_all();
}

static void one_goes_to_a_time(void)
{
    forget();
    keep(1000, 1, 200);
    open_file(NULL, false);
    press_keys(&monitor, "@00:18\n");
    CHECK_NEAR(shown(), 1080, 1e-6);
    press_keys(&monitor, "@50%\n");
    CHECK_NEAR(shown(), 1099, 1e-6);
    press_keys(&monitor, "@-10\n");
    CHECK_NEAR(shown(), 1089, 1e-6);
    press_keys(&monitor, "@soon\n");
    CHECK_CONTAINS(monitor.model.message, "\"soon\" is not a time");
    CHECK_NEAR(shown(), 1089, 1e-6);
    press_keys(&monitor, "@12");
    press_code(&monitor, INPUT_ESCAPE);
    CHECK_NEAR(shown(), 1089, 1e-6);
    close_all();
}

static void it_plays_at_its_speed(void)
{
    forget();
    keep(1000, 1, 500);
    open_file(NULL, true);
    seconds_pass(0.5);
    CHECK_NEAR(shown(), 1000, 1e-6);
    CHECK_NEAR((double)player_patience_ns(&player) / 1e9, 0.5, 1e-6);
    seconds_pass(0.5);
    CHECK_NEAR(shown(), 1001, 1e-6);
    seconds_pass(3);
    CHECK_NEAR(shown(), 1004, 1e-6);
    press_keys(&monitor, "xx");
    CHECK_CONTAINS(status(), "plays 4x");
    seconds_pass(2);
    CHECK_NEAR(shown(), 1012, 1e-6);
    press_keys(&monitor, "p");
    seconds_pass(100);
    CHECK_NEAR(shown(), 1012, 1e-6);
    CHECK_UINT(player_patience_ns(&player), UINT64_MAX);
    press_keys(&monitor, "pX");
    CHECK_CONTAINS(status(), "plays 2x");
    seconds_pass(1);
    CHECK_NEAR(shown(), 1014, 1e-6);
    close_all();
}

/* A day in which nothing was recorded is not waited for. */
static void a_gap_is_shortened(void)
{
    forget();
    keep(1000, 1, 10);
    keep(90000, 1, 10);
    open_file("end", false);
    press_keys(&monitor, "|p");
    for (int i = 0; i < 12; i++)
        seconds_pass(1);
    CHECK(shown() >= 90000);
    close_all();
}

static void a_recording_that_grows_is_followed(void)
{
    forget();
    keep(1000, 1, 10);
    open_file("end", true);
    seconds_pass(1);
    CHECK_NEAR(shown(), 1009, 1e-6);
    CHECK_CONTAINS(status(), "waits for more");
    keep(1010, 1, 1);
    seconds_pass(1.1);
    CHECK_NEAR(shown(), 1010, 1e-6);
    seconds_pass(1.1);
    CHECK_CONTAINS(status(), "waits for more");
    close_all();
}

/* The clock was set back by an hour in its midst. */
static void a_clock_that_was_set_back_stops_nothing(void)
{
    forget();
    keep(5000, 1, 5);
    keep(1000, 1, 5);
    open_file(NULL, true);
    CHECK_NEAR(shown(), 5000, 1e-6);
    press_keys(&monitor, "p}}}}}");
    CHECK_NEAR(shown(), 1000, 1e-6);
    press_keys(&monitor, "{");
    CHECK_NEAR(shown(), 5004, 1e-6);
    press_keys(&monitor, "p");
    for (int i = 0; i < 8; i++)
        seconds_pass(1);
    CHECK_NEAR(shown(), 1004, 1e-6);
    CHECK_CONTAINS(status(), "waits for more");
    close_all();
}

/* Further apart than a key goes. */
static void keys_move_where_snapshots_are_rare(void)
{
    forget();
    keep(1000, 120, 10);
    open_file(NULL, false);
    press_keys(&monitor, ")");
    CHECK_NEAR(shown(), 1120, 1e-6);
    press_keys(&monitor, "w");
    CHECK_NEAR(shown(), 1240, 1e-6);
    press_keys(&monitor, "(");
    CHECK_NEAR(shown(), 1120, 1e-6);
    close_all();
}

static void marks_are_gone_to(void)
{
    static const struct recorded_phase PHASES[] = {{"load", 1010.5, 1020.25, 1, 1, 0},
                                                   {"train\x1b[31m", 1030, (double)NAN, 1, 1, 0}};
    forget();
    keep(1000, 1, 100);
    kept.phases = PHASES;
    kept.phase_count = 2;
    open_file(NULL, false);
    static const struct {
        const char *keys, *phase;
        double seconds;
    } STEPS[] = {{"m", "in load", 1011},  {"m", "", 1021}, {"m", "in train", 1030},
                 {"m", "in train", 1030}, {"'", "", 1021}, {"'", "in load", 1011},
                 {"'", "in load", 1011},  {")", "", 1021}, {"m", "in train", 1030}};
    for (size_t i = 0; i < CHECK_COUNT(STEPS); i++) {
        CHECK_CASE(STEPS[i].keys);
        press_keys(&monitor, STEPS[i].keys);
        CHECK_NEAR(shown(), STEPS[i].seconds, 1e-6);
        CHECK_CONTAINS(status(), STEPS[i].phase);
        CHECK((strstr(status(), ", in ") != NULL) == (STEPS[i].phase[0] != '\0'));
    }
    CHECK(strchr(status(), '\x1b') == NULL); /* a name is text from outside */
    close_all();
}

/* What a screen shows follows from the moment, however one came there. */
static void the_way_does_not_matter(void)
{
    static const char *const WAYS[] = {"E@00:18\n", "|w)))))){{}}", "|@00:18\n", "E{@00:18\n"};
    char first[65536] = "";
    forget();
    keep(1000, 1, 300);
    for (size_t i = 0; i < CHECK_COUNT(WAYS); i++) {
        CHECK_CASE(WAYS[i]);
        kept.at = -1;
        open_file(NULL, false);
        press_keys(&monitor, WAYS[i]);
        if (i == 1)
            press_keys(&monitor, "@00:18\n");
        while (monitor_recall(&monitor, 16))
            ;
        const char *screen = world_screen(&monitor);
        if (i == 0)
            (void)snprintf(first, sizeof first, "%s", screen);
        else
            CHECK_STR(screen, first);
        close_all();
    }
}

/* Graphs after a jump equal those of a monitor that ran all the time. */
static void graphs_after_a_jump(void)
{
    enum { SEEN = 300 };
    forget();
    keep(1000, 1, 600);
    open_file("end", false);
    CHECK_UINT(monitor.model.history->memory.count, 1);
    size_t before = kept.given;
    while (monitor_recall(&monitor, 16))
        CHECK(kept.given < before + 1000); /* as far as is seen, and no further */
    for (size_t i = 0; i < SEEN; i++) {
        CHECK_NEAR(history_get(&monitor.model.history->cpu, i), 0.25, 1e-6);
        CHECK_NEAR(history_get(&monitor.model.history->memory, i), 0.25, 1e-6);
        CHECK_NEAR(history_get(&monitor.model.history->gpu_busy, i), 0.5, 1e-6);
        CHECK_NEAR(history_get(&monitor.model.history->devices[0].memory, i), 0.1, 1e-6);
    }
    press_keys(&monitor, "b"); /* and again from there */
    while (monitor_recall(&monitor, 16))
        ;
    CHECK_UINT(monitor.model.history->cpu.newest,
               history_second((uint64_t)(1539.0 * MONITOR_SECOND)));
    CHECK_NEAR(history_get(&monitor.model.history->cpu, SEEN - 1), 0.25, 1e-6);
    close_all();
}

static void a_gap_stays_empty(void)
{
    forget();
    keep(1000, 1, 100);
    keep(1200, 1, 100);
    open_file("end", false);
    while (monitor_recall(&monitor, 16))
        ;
    CHECK_NEAR(history_get(&monitor.model.history->memory, 50), 0.25, 1e-6);
    CHECK(isnan(history_get(&monitor.model.history->memory, 150)));
    CHECK_NEAR(history_get(&monitor.model.history->memory, 250), 0.25, 1e-6);
    close_all();
}

/* The graphs of one process too. */
static void a_process_has_its_past(void)
{
    forget();
    keep(1000, 1, 300);
    open_file("end", false);
    press_code(&monitor, INPUT_DOWN);
    press_code(&monitor, INPUT_ENTER);
    CHECK_INT(monitor.depth, 2);
    size_t before = kept.given;
    while (monitor_recall(&monitor, 16))
        ;
    CHECK(kept.given > before + 100);
    CHECK_CONTAINS(world_screen(&monitor), "HOST-CPU: 25.0%  MAX: 25.0%");
    press_keys(&monitor, "b{");
    while (monitor_recall(&monitor, 16))
        ;
    CHECK_NEAR(shown(), 1238, 1e-6);
    CHECK_CONTAINS(world_screen(&monitor), "HOST-CPU: 25.0%  MAX: 25.0%");
    close_all();
}

static void a_process_has_its_past_live_too(void)
{
    forget();
    keep(1000, 1, 300);
    open_live();
    press_code(&monitor, INPUT_DOWN);
    press_code(&monitor, INPUT_ENTER);
    size_t before = kept.given;
    while (monitor_recall(&monitor, 16)) /* at now they begin with what was kept too */
        ;
    CHECK(kept.given > before + 100);
    CHECK_FALSE(monitor.model.away);
    press_keys(&monitor, "b");
    before = kept.given;
    while (monitor_recall(&monitor, 16))
        ;
    CHECK(kept.given > before + 100);
    CHECK_CONTAINS(world_screen(&monitor), "HOST-CPU: 25.0%  MAX: 25.0%");
    CHECK_UINT(monitor.model.history->cpu.count, 300); /* those of the machine have been there */
    press_keys(&monitor, "E");
    CHECK_FALSE(monitor_recall(&monitor, 16));
    close_all();
}

static void rates_are_of_a_window(void)
{
    static const double STEPS[] = {0.05, 0.1, 1, 2, 10};
    for (size_t i = 0; i < CHECK_COUNT(STEPS); i++) {
        double ratio, cores;
        forget();
        keep(1000, STEPS[i], 400);
        open_file("50%", false);
        const struct readings *machine = &monitor.model.machine;
        uint64_t age_ns = vitals_snapshot_monotonic_ns(machine->now) -
                          vitals_snapshot_monotonic_ns(machine->older);
        CHECK(age_ns >= (uint64_t)(1.7 * MONITOR_SECOND));
        CHECK(age_ns <= (uint64_t)((2 + STEPS[i]) * MONITOR_SECOND));
        CHECK(model_cpu_ratio(&monitor.model, &ratio));
        CHECK_NEAR(ratio, 0.25, 1e-6);
        CHECK(item_cpu(&monitor.model, monitor.model.list.items[0].process, &cores));
        close_all();
    }
}

static void nobody_of_the_past_is_signalled(void)
{
    forget();
    keep(1000, 1, 20);
    open_file(NULL, false);
    press_code(&monitor, INPUT_DOWN);
    press_keys(&monitor, "K");
    CHECK_INT(monitor.depth, 1);
    CHECK_CONTAINS(monitor.model.message, "this is a recording: no signal is sent");
    press_keys(&monitor, "e");
    CHECK_INT(monitor.depth, 2);
    CHECK_CONTAINS(world_screen(&monitor), "it is asked of a living process; a recording has none");
    close_all();
}

static void what_is_broken_is_said(void)
{
    vitals_error error;
    forget();
    make(true);
    CHECK_INT(player_begin(&player, NULL, true, &error), VITALS_EGONE);
    close_all();
    forget();
    keep(1000, 1, 20);
    make(true);
    CHECK_INT(player_begin(&player, "soon", true, &error), VITALS_EARGUMENT);
    close_all();
    open_file(NULL, true);
    kept.broken = true;
    seconds_pass(2);
    CHECK_CONTAINS(monitor.model.message, "broken");
    CHECK_FALSE(player.playing);
    CHECK_NEAR(shown(), 1000, 1e-6);
    press_keys(&monitor, "wE|@50%\n'm{}");
    CHECK_NEAR(shown(), 1000, 1e-6);
    kept.broken = false;
    press_keys(&monitor, "}");
    CHECK_NEAR(shown(), 1001, 1e-6);
    close_all();
}

static void one_snapshot_is_enough(void)
{
    forget();
    keep(1000, 1, 1);
    open_file("34%", true);
    seconds_pass(3);
    CHECK_CONTAINS(status(), "100 %");
    press_keys(&monitor, "{}()bw|ExXm'p");
    CHECK_NEAR(shown(), 1000, 1e-6);
    close_all();
}

/* ---- the last hour of a live monitor ---- */

static void a_live_monitor_looks_back(void)
{
    forget();
    keep(1000, 1, 100);
    open_live();
    CHECK_STR(status(), "");
    CHECK_INT(monitor.model.height, 40);
    press_keys(&monitor, "{");
    CHECK_NEAR(shown(), 1098, 1e-6);
    CHECK_CONTAINS(status(), "1 s ago");
    CHECK_CONTAINS(status(),
                   "E or Esc: back to now  { } a reading  b w a minute  @ go to  00:18:18");
    CHECK_INT(monitor.model.height, 39); /* the last row says so */
    press_code(&monitor, INPUT_ESCAPE);  /* first of all back to now */
    CHECK_NEAR(shown(), 1099, 1e-6);
    CHECK_STR(status(), "");
    press_keys(&monitor, "{");
    press_code(&monitor, INPUT_DOWN);
    press_code(&monitor, INPUT_ENTER); /* on a page it closes that */
    CHECK_CONTAINS(world_screen(&monitor), "E: back to now");
    press_code(&monitor, INPUT_ESCAPE);
    CHECK(monitor.model.away);
    press_keys(&monitor, "b");
    CHECK_NEAR(shown(), 1038, 1e-6);
    CHECK_UINT(model_ago(&monitor.model), 61);
    comes(1100); /* it goes on meanwhile */
    CHECK_NEAR(shown(), 1038, 1e-6);
    CHECK_CONTAINS(status(), "1 min 2 s ago");
    CHECK_UINT(model_ago(&monitor.model), 62);
    CHECK_NEAR(history_get(&monitor.model.history->cpu, 62), 0.25, 1e-6);
    press_code(&monitor, INPUT_DOWN);
    press_keys(&monitor, "K");
    CHECK_CONTAINS(monitor.model.message, "this is the past");
    press_keys(&monitor, "e");
    CHECK_CONTAINS(monitor.model.message, "living process (E goes to now)");
    CHECK_INT(monitor.depth, 1);
    press_keys(&monitor, "@-10min\n");
    CHECK_NEAR(shown(), 1000, 1e-6);
    CHECK_CONTAINS(monitor.model.message, "history begins 00:16:40, 1 min 40 s ago; shown instead");
    press_keys(&monitor, "E");
    CHECK_NEAR(shown(), 1100, 1e-6);
    CHECK_STR(status(), "");
    CHECK_UINT(model_ago(&monitor.model), 0);
    CHECK_INT(monitor.model.height, 40);
    /* and as it would be without */
    CHECK_NEAR((double)vitals_snapshot_realtime_ns(monitor.model.machine.previous) / 1e9, 1099,
               1e-6);
    close_all();
}

static void what_is_held_is_where_one_steps_from(void)
{
    forget();
    keep(1000, 1, 50);
    open_live();
    press_keys(&monitor, "p");
    comes(1050);
    comes(1051);
    CHECK_NEAR(shown(), 1049, 1e-6);
    press_keys(&monitor, "{");
    CHECK_NEAR(shown(), 1048, 1e-6);
    press_keys(&monitor, "}}");
    CHECK_NEAR(shown(), 1050, 1e-6);
    press_keys(&monitor, "}}");
    CHECK_NEAR(shown(), 1051, 1e-6); /* beyond the last is now */
    CHECK_FALSE(monitor.model.away || monitor.model.paused);
    close_all();
}

static void playing_arrives_at_now(void)
{
    forget();
    keep(1000, 1, 100);
    open_live();
    press_keys(&monitor, "(p");
    seconds_pass(5);
    CHECK_NEAR(shown(), 1094, 1e-6);
    CHECK_CONTAINS(status(), "plays 1x");
    press_keys(&monitor, "xx");
    seconds_pass(3);
    seconds_pass(1);
    CHECK_FALSE(monitor.model.away);
    CHECK_NEAR(shown(), 1099, 1e-6);
    CHECK_FALSE(player.playing);
    close_all();
}

/* What was shown has fallen out meanwhile. */
static void what_fell_out_is_passed_over(void)
{
    forget();
    keep(1000, 1, 100);
    open_live();
    press_keys(&monitor, "|");
    CHECK_NEAR(shown(), 1000, 1e-6);
    kept.first = 50;
    press_keys(&monitor, "}");
    CHECK_NEAR(shown(), 1050, 1e-6);
    press_keys(&monitor, "bb{");
    CHECK_NEAR(shown(), 1050, 1e-6);
    close_all();
}

static void nothing_kept_is_said(void)
{
    forget();
    make(false);
    press_keys(&monitor, "{");
    CHECK_CONTAINS(monitor.model.message, "no earlier reading yet");
    press_keys(&monitor, "@-5min\n");
    press_keys(&monitor, "m'b|E");
    CHECK_FALSE(monitor.model.away);
    close_all();
}

static const check_test tests[] = {
    {"a recording begins at its begin", a_recording_begins_at_its_begin},
    {"keys step and jump", keys_step_and_jump},
    {"one goes to a time", one_goes_to_a_time},
    {"it plays at its speed", it_plays_at_its_speed},
    {"a gap is shortened", a_gap_is_shortened},
    {"a recording that grows is followed", a_recording_that_grows_is_followed},
    {"a clock that was set back stops nothing", a_clock_that_was_set_back_stops_nothing},
    {"keys move where snapshots are rare", keys_move_where_snapshots_are_rare},
    {"marks are gone to", marks_are_gone_to},
    {"the way does not matter", the_way_does_not_matter},
    {"graphs after a jump", graphs_after_a_jump},
    {"a gap stays empty", a_gap_stays_empty},
    {"a process has its past", a_process_has_its_past},
    {"a process has its past live too", a_process_has_its_past_live_too},
    {"rates are of a window", rates_are_of_a_window},
    {"nobody of the past is signalled", nobody_of_the_past_is_signalled},
    {"what is broken is said", what_is_broken_is_said},
    {"one snapshot is enough", one_snapshot_is_enough},
    {"a live monitor looks back", a_live_monitor_looks_back},
    {"what is held is where one steps from", what_is_held_is_where_one_steps_from},
    {"playing arrives at now", playing_arrives_at_now},
    {"what fell out is passed over", what_fell_out_is_passed_over},
    {"nothing kept is said", nothing_kept_is_said},
};
CHECK_TESTS(tests)
