/* A history: of samples that come when a timer lets them each has a rate, over the window that was
 * asked for, and few snapshots are held for it. */
#include "snapshot_world.h"

#include "model/snapshot.h"
#include <math.h>
#include <vitals/vitals.h>

static const uint64_t START_NS = 1000 * NS_PER_SECOND;

static const vitals_metric COLUMNS[] = {VITALS_PROCESS_PID, VITALS_PROCESS_CPU_SECONDS,
                                        VITALS_PROCESS_NAME};

struct history_world {
    vitals_builder *builder;
    vitals_history *history;
    uint64_t stream;
    uint64_t tick;
    vitals_availability state; /* of CPU times; an estimate moves in steps of 10 ms */
};

static struct history_world world_new(uint64_t window_ns)
{
    struct history_world world = {.builder = new_builder(), .stream = 9, .state = VITALS_ESTIMATE};
    vitals_error error;
    CHECK_OK(vitals_history_new(window_ns, &world.history, &error), error);
    return world;
}

static void world_done(struct history_world *world)
{
    vitals_history_free(world->history);
    vitals_builder_free(world->builder);
}

/* Rows of the keys 1 … count, of which the n-th uses n CPUs, at a moment from the start. */
static vitals_snapshot *sample(struct history_world *world, uint64_t after_ns, uint64_t count)
{
    vitals_builder_begin(world->builder);
    vitals_builder_stream(world->builder, world->stream);
    vitals_builder_moment(world->builder, 1, 1, START_NS + after_ns, ++world->tick);
    vitals_builder_table(world->builder, VITALS_TABLE_PROCESS, COLUMNS, CHECK_COUNT(COLUMNS));
    for (uint64_t key = 1; key <= count; key++) {
        vitals_builder_row(world->builder, VITALS_TABLE_PROCESS, key, 0, text("x"),
                           START_NS + after_ns);
        vitals_builder_u64(world->builder, VITALS_PROCESS_PID, key, VITALS_HAVE);
        vitals_builder_f64(world->builder, VITALS_PROCESS_CPU_SECONDS,
                           (double)key * (double)after_ns / 1e9, world->state);
        vitals_builder_text(world->builder, VITALS_PROCESS_NAME, text("x"), VITALS_HAVE);
    }
    return finish(world->builder);
}

static vitals_availability rate_of(const struct history_world *world,
                                   const vitals_snapshot *snapshot, uint64_t key, double *out)
{
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, key);
    CHECK_NOT_NULL(row);
    return vitals_history_rate(world->history, row, VITALS_PROCESS_CPU_SECONDS, out);
}

/* Early and late by turns: a tick of 100 ms comes up to 4 ms early or late. */
static uint64_t jitter_ns(uint64_t tick)
{
    static const uint64_t JITTER_MS[] = {4, 0, 8, 1, 7, 3, 5, 2, 6};
    return JITTER_MS[tick % CHECK_COUNT(JITTER_MS)] * NS_PER_MS;
}

static void every_tick_has_a_rate(void)
{
    static const uint64_t INTERVALS_MS[] = {10, 20, 50, 100, 110, 250, 1000, 10000};
    static const uint64_t WINDOWS_MS[] = {0, 100, 1000, 5000, 60000};
    for (size_t i = 0; i < CHECK_COUNT(INTERVALS_MS); i++) {
        for (size_t w = 0; w < CHECK_COUNT(WINDOWS_MS); w++) {
            struct history_world world = world_new(WINDOWS_MS[w] * NS_PER_MS);
            char name[64];
            snprintf(name, sizeof name, "every %d ms, window %d ms", (int)INTERVALS_MS[i],
                     (int)WINDOWS_MS[w]);
            CHECK_CASE(name);
            for (uint64_t tick = 0; tick < 300; tick++) {
                uint64_t interval_ns = INTERVALS_MS[i] * NS_PER_MS;
                uint64_t jitter = interval_ns >= 100 * NS_PER_MS ? jitter_ns(tick) : 0;
                vitals_snapshot *snapshot = sample(&world, tick * interval_ns + jitter, 2);
                double rate = 77;
                vitals_history_add(world.history, snapshot);
                vitals_availability state = rate_of(&world, snapshot, 2, &rate);
                CHECK_INT(state, tick * INTERVALS_MS[i] >= 90 ? VITALS_ESTIMATE : VITALS_NOT_YET);
                if (state > 0)
                    CHECK_NEAR(rate, 2, 1e-6);
                vitals_snapshot_unref(snapshot);
            }
            world_done(&world);
        }
    }
}

/* A process that was idle and works from a moment on: the rate says over which time it looks. */
static double rate_after_idle(uint64_t window_ns, uint64_t interval_ns)
{
    struct history_world world = world_new(window_ns);
    double rate = 0;
    for (uint64_t tick = 0; tick <= 100; tick++) {
        vitals_builder_begin(world.builder);
        vitals_builder_stream(world.builder, 9);
        vitals_builder_moment(world.builder, 1, 1, START_NS + tick * interval_ns, tick + 1);
        vitals_builder_table(world.builder, VITALS_TABLE_PROCESS, COLUMNS, CHECK_COUNT(COLUMNS));
        vitals_builder_row(world.builder, VITALS_TABLE_PROCESS, 1, 0, text("x"),
                           START_NS + tick * interval_ns);
        vitals_builder_f64(world.builder, VITALS_PROCESS_CPU_SECONDS, tick == 100 ? 1 : 0,
                           VITALS_ESTIMATE);
        vitals_snapshot *snapshot = finish(world.builder);
        vitals_history_add(world.history, snapshot);
        if (tick == 100)
            CHECK_INT(rate_of(&world, snapshot, 1, &rate), VITALS_ESTIMATE);
        vitals_snapshot_unref(snapshot);
    }
    world_done(&world);
    return rate;
}

static void a_rate_is_over_its_window(void)
{
    CHECK_NEAR(1 / rate_after_idle(0, 100 * NS_PER_MS), 0.1, 1e-9);
    CHECK_NEAR(1 / rate_after_idle(0, 10 * NS_PER_MS), 0.1, 0.03);
    CHECK_NEAR(1 / rate_after_idle(0, NS_PER_SECOND), 1, 1e-9);
    CHECK_NEAR(1 / rate_after_idle(NS_PER_SECOND, 100 * NS_PER_MS), 1.1, 0.234);
    CHECK_NEAR(1 / rate_after_idle(5 * NS_PER_SECOND, 100 * NS_PER_MS), 5.5, 1.17);
    CHECK_NEAR(1 / rate_after_idle(NS_PER_SECOND, 3 * NS_PER_SECOND), 3, 1e-9);
}

static void a_young_row_has_the_rate_of_its_life(void)
{
    struct history_world world = world_new(10 * NS_PER_SECOND);
    double rate = 77;
    for (uint64_t tick = 0; tick < 30; tick++) {
        vitals_snapshot *snapshot = sample(&world, tick * NS_PER_SECOND, tick < 28 ? 1 : 2);
        vitals_history_add(world.history, snapshot);
        if (tick == 28)
            CHECK_INT(rate_of(&world, snapshot, 2, &rate), VITALS_NOT_YET);
        if (tick == 29)
            CHECK_INT(rate_of(&world, snapshot, 2, &rate), VITALS_ESTIMATE);
        vitals_snapshot_unref(snapshot);
    }
    CHECK_NEAR(rate, 2, 1e-6);
    world_done(&world);
}

static void another_stream_begins_anew(void)
{
    struct history_world world = world_new(NS_PER_SECOND);
    double rate = 77;
    for (uint64_t tick = 0; tick < 6; tick++) {
        world.stream = tick < 3 ? 9 : 10;
        vitals_snapshot *snapshot = sample(&world, tick * NS_PER_SECOND, 1);
        vitals_history_add(world.history, snapshot);
        vitals_history_add(world.history, snapshot); /* once more: passed over */
        CHECK_INT(rate_of(&world, snapshot, 1, &rate),
                  tick % 3 != 0 ? VITALS_ESTIMATE : VITALS_NOT_YET);
        vitals_snapshot_unref(snapshot);
    }
    world_done(&world);
}

static void what_has_no_rate_says_why(void)
{
    struct history_world world = world_new(0);
    vitals_snapshot *snapshot = sample(&world, 0, 3);
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, 1);
    double rate = 77;
    CHECK_INT(vitals_history_rate(world.history, row, VITALS_PROCESS_CPU_SECONDS, &rate),
              VITALS_NOT_YET); /* an empty history */
    vitals_history_add(world.history, snapshot);
    CHECK_INT(vitals_history_rate(world.history, row, VITALS_PROCESS_PID, &rate),
              VITALS_WRONG_METRIC);
    CHECK_INT(vitals_history_rate(world.history, row, VITALS_PROCESS_MINOR_FAULTS, &rate),
              VITALS_NOT_REQUESTED);
    CHECK_NEAR(rate, 77, 0);
    vitals_error error;
    vitals_history *none = NULL;
    CHECK_INT(vitals_history_new(86401 * NS_PER_SECOND, &none, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "at most a day");
    CHECK_NULL(none);
    vitals_history_free(NULL);
    vitals_snapshot_unref(snapshot);
    world_done(&world);
}

static void a_column_of_rates(void)
{
    struct history_world world = world_new(0);
    for (uint64_t tick = 0; tick < 3; tick++) {
        double rates[4] = {7, 7, 7, 7};
        signed char states[4] = {0};
        vitals_snapshot *snapshot = sample(&world, tick * NS_PER_SECOND, tick == 1 ? 2 : 3);
        vitals_history_add(world.history, snapshot);
        CHECK_UINT(vitals_history_rates(world.history, snapshot, VITALS_PROCESS_CPU_SECONDS, rates,
                                        states, 4),
                   tick == 1 ? 2 : 3);
        CHECK_INT(states[0], tick == 0 ? VITALS_NOT_YET : VITALS_ESTIMATE);
        CHECK(tick == 0 ? isnan(rates[0]) : fabs(rates[0] - 1) < 1e-9);
        CHECK(tick == 0 ? isnan(rates[1]) : fabs(rates[1] - 2) < 1e-9);
        CHECK_NEAR(rates[3], 7, 0);
        CHECK_UINT(vitals_history_rates(world.history, snapshot, VITALS_PROCESS_CPU_SECONDS, NULL,
                                        NULL, 0),
                   tick == 1 ? 2 : 3);
        CHECK_UINT(vitals_history_rates(world.history, snapshot, VITALS_CPU_BUSY_SECONDS, rates,
                                        states, 4),
                   0);
        vitals_snapshot_unref(snapshot);
    }
    world_done(&world);
}

/* How many snapshots a history holds after many ticks: those beyond it are freed. */
static void few_are_held(void)
{
    static const struct {
        uint64_t interval_ms, window_ms;
        size_t most;
    } CASES[] = {{100, 0, 3}, {1000, 0, 3}, {100, 1000, 12}, {10, 1000, 30}, {10, 86400000, 64}};
    enum { TICKS = 2000 };
    static vitals_snapshot *all[TICKS];
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct history_world world = world_new(CASES[i].window_ms * NS_PER_MS);
        size_t held = 0;
        char name[64];
        snprintf(name, sizeof name, "every %d ms, window %d ms", (int)CASES[i].interval_ms,
                 (int)CASES[i].window_ms);
        CHECK_CASE(name);
        for (uint64_t tick = 0; tick < TICKS; tick++) {
            all[tick] = sample(&world, tick * CASES[i].interval_ms * NS_PER_MS, 1);
            vitals_history_add(world.history, all[tick]);
        }
        vitals_builder_free(world.builder); /* it keeps its last few */
        for (size_t tick = 0; tick < TICKS; tick++)
            held += atomic_load(&all[tick]->refs) > 1;
        CHECK(held >= 2 && held <= CASES[i].most);
        vitals_history_free(world.history);
        for (size_t tick = 0; tick < TICKS; tick++) {
            CHECK_UINT(atomic_load(&all[tick]->refs), 1);
            vitals_snapshot_unref(all[tick]);
        }
    }
}

static const check_test tests[] = {
    {"every tick has a rate", every_tick_has_a_rate},
    {"a rate is over its window", a_rate_is_over_its_window},
    {"a young row has the rate of its life", a_young_row_has_the_rate_of_its_life},
    {"another stream begins anew", another_stream_begins_anew},
    {"what has no rate says why", what_has_no_rate_says_why},
    {"a column of rates", a_column_of_rates},
    {"few are held", few_are_held},
};
CHECK_TESTS(tests)
