/* What is older than its sample: read back, a value stands where it was read, so that its growth is
 * over the right time. */
#include "record_world.h"

#include "record/recording.h"
#include "record/sqlite/database.h"
#include "report/html.h"
#include "report/phases.h"

#include <math.h>

#if VITALS_WITH_SQLITE

enum { SAMPLES = 5 };

static const double AGES[SAMPLES] = {0.1, 0.6, 0, 0.3, 0.9};

/* A device of 100 W, its energy read so long before each sample; of one sample it is not read. */
static void record(const struct record_world *world, size_t unread)
{
    vitals_error error = {.message = ""};
    struct recorder *recorder = record_open(world, NULL);
    for (size_t i = 0; i < SAMPLES; i++) {
        struct filled_sample sample;
        record_fill(&sample, i);
        size_t first = sample.content.count;
        double seconds = (double)i - AGES[i];
        if (i != unread)
            record_add(&sample, "device_energy_joules", VITALS_SCOPE_GPU, "GPU-2", 100 * seconds);
        record_add(&sample, "device_power_watts", VITALS_SCOPE_GPU, "GPU-2", 100);
        record_add(&sample, "device_memory_used_bytes", VITALS_SCOPE_GPU, "GPU-3", 1);
        for (size_t k = 0; k < sample.content.count; k++)
            sample.values[k].read_ns = sample.content.monotonic_ns;
        for (size_t k = first; k + 1 < sample.content.count; k++)
            sample.values[k].read_ns -= (uint64_t)llround(AGES[i] * 1e9);
        CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
    }
    CHECK_INT(recorder_close(recorder, &error), 0);
}

static const struct series *find(const struct recording *recording, const char *name,
                                 const char *subject)
{
    const struct series *series = recording_find(recording, name, subject);
    CHECK_NOT_NULL(series);
    CHECK_UINT(series->count, SAMPLES);
    return series;
}

/* What was recorded, but for a reading that was not made (SAMPLES: each was), read back. */
static struct recording *recorded(struct record_world *world, size_t unread)
{
    struct recording *recording = NULL;
    vitals_error error = {.message = ""};
    if (!VITALS_WITH_SQLITE)
        CHECK_SKIP("no SQLite here");
    record_world_open(world, "a.db");
    record(world, unread);
    CHECK_INT(recording_open(world->path, &recording, &error), 0);
    return recording;
}

static void a_value_stands_where_it_was_read(void)
{
    struct record_world world;
    struct recording *recording = recorded(&world, SAMPLES);
    const struct series *energy = find(recording, "device_energy_joules", "GPU-2");
    const struct series *power = find(recording, "device_power_watts", "GPU-2");
    const struct series *other = find(recording, "device_memory_used_bytes", "GPU-3");
    for (size_t i = 0; i < SAMPLES; i++) {
        CHECK_NEAR(other->seconds[i] - energy->seconds[i], AGES[i], 1e-5);
        CHECK_NEAR(power->seconds[i], energy->seconds[i], 0);
    }
    for (size_t i = 1; i < SAMPLES; i++)
        CHECK_NEAR((energy->values[i] - energy->values[i - 1]) /
                       (energy->seconds[i] - energy->seconds[i - 1]),
                   100, 0.01);
    recording_close(recording);
    record_world_close(&world);
}

/* Whatever a file says, seconds never go back: they are searched. */
static void what_is_missing_stands_with_the_one_before(void)
{
    struct record_world world;
    struct recording *recording = recorded(&world, 3);
    const struct series *energy = find(recording, "device_energy_joules", "GPU-2");
    CHECK(isnan(energy->values[3]));
    CHECK_NEAR(energy->seconds[3], energy->seconds[2], 0);
    for (size_t i = 1; i < SAMPLES; i++)
        CHECK(energy->seconds[i] >= energy->seconds[i - 1]);
    recording_close(recording);
    record_world_close(&world);
}

/* As older vitals wrote them, and what a hostile file may say. */
static void a_recording_without_them_or_with_nonsense_is_read(void)
{
    static const char *const STATEMENTS[] = {
        "DROP TABLE moments",
        "UPDATE moments SET monotonic_ns=-1",
        "UPDATE moments SET monotonic_ns=9223372036854775807",
        "UPDATE moments SET monotonic_ns='x', series=series+100000",
        "DELETE FROM moments; INSERT INTO moments VALUES(-5,-5,-5),(1,4000000000,1)",
    };
    if (!VITALS_WITH_SQLITE)
        CHECK_SKIP("no SQLite here");
    for (size_t i = 0; i < CHECK_COUNT(STATEMENTS); i++) {
        struct record_world world;
        struct recording *recording = NULL;
        sqlite3 *database = NULL;
        vitals_error error = {.message = ""};
        CHECK_CASE(STATEMENTS[i]);
        record_world_open(&world, "a.db");
        record(&world, SAMPLES);
        CHECK_INT(sqlite3_open_v2(world.path, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
        CHECK_INT(sqlite3_exec(database, STATEMENTS[i], NULL, NULL, NULL), SQLITE_OK);
        (void)sqlite3_close_v2(database);
        CHECK_INT(recording_open(world.path, &recording, &error), 0);
        const struct series *energy = find(recording, "device_energy_joules", "GPU-2");
        const struct series *other = find(recording, "cpu_seconds", "");
        for (size_t k = 0; k < SAMPLES; k++)
            CHECK_NEAR(energy->seconds[k], other->seconds[k], 1e-5);
        recording_close(recording);
        record_world_close(&world);
    }
}

/* A series that came late is the last column, and stands among those of its subject in a sample. */
static void one_that_came_late_stands_where_it_was_read(void)
{
    struct record_world world;
    vitals_error error = {.message = ""};
    if (!VITALS_WITH_SQLITE)
        CHECK_SKIP("no SQLite here");
    record_world_open(&world, "a.db");
    struct recorder *recorder = record_open(&world, NULL);
    for (size_t i = 0; i < SAMPLES; i++) {
        struct filled_sample sample;
        record_begin(&sample, i);
        record_add(&sample, "device_energy_joules", VITALS_SCOPE_GPU, "GPU-2", 1);
        if (i > 0)
            record_add(&sample, "device_temperature_celsius", VITALS_SCOPE_GPU, "GPU-2", 50);
        record_add(&sample, "device_power_watts", VITALS_SCOPE_GPU, "GPU-2", 100);
        record_add(&sample, "device_memory_used_bytes", VITALS_SCOPE_GPU, "GPU-3", 1);
        for (size_t k = 0; k < sample.content.count; k++)
            sample.values[k].read_ns = sample.content.monotonic_ns;
        for (size_t k = 0; k + 1 < sample.content.count; k++)
            sample.values[k].read_ns -= i % 2 == 0 && k > 0 ? 200000000 : 600000000;
        CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
    }
    CHECK_INT(recorder_close(recorder, &error), 0);
    struct recording *recording = record_read(world.path);
    const struct series *first = find(recording, "device_energy_joules", "GPU-2");
    const struct series *late = find(recording, "device_temperature_celsius", "GPU-2");
    const struct series *behind = find(recording, "device_power_watts", "GPU-2");
    const struct series *other = find(recording, "device_memory_used_bytes", "GPU-3");
    for (size_t i = 1; i < SAMPLES; i++) {
        double age = i % 2 == 0 ? 0.2 : 0.6;
        CHECK_NEAR(other->seconds[i] - first->seconds[i], 0.6, 1e-5);
        CHECK_NEAR(other->seconds[i] - late->seconds[i], age, 1e-5);
        CHECK_NEAR(other->seconds[i] - behind->seconds[i], age, 1e-5);
        CHECK_NEAR(other->seconds[i] - RECORD_BEGIN_SECONDS, (double)i, 1e-5);
    }
    recording_close(recording);
    record_world_close(&world);
}

/* The run's own values are late in all samples but the first; of the machine all are from then. */
static void record_late(const struct record_world *world)
{
    vitals_error error = {.message = ""};
    struct recorder *recorder = record_open(world, NULL);
    for (size_t i = 0; i < SAMPLES; i++) {
        struct filled_sample sample;
        vitals_mark mark = {.begins = i == 1, .name = "step", .pid = 1, .tid = 1};
        record_fill(&sample, i);
        mark.monotonic_ns = sample.content.monotonic_ns + (i == 1 ? 900000000u : 100000000u);
        for (size_t k = 0; k < sample.content.count; k++)
            if (i > 0 && sample.values[k].subject[0] == '\0')
                sample.values[k].read_ns = sample.content.monotonic_ns - 600000000;
        CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
        if (i == 1 || i == 2)
            CHECK_INT(recorder_mark(recorder, &mark, &error), 0);
    }
    CHECK_INT(recorder_close(recorder, &error), 0);
}

/* When samples were taken no series tells: any may be older. */
static void samples_are_counted_when_they_were_taken(void)
{
    struct record_world world;
    struct phases phases;
    struct charts charts;
    vitals_error error = {.message = ""};
    if (!VITALS_WITH_SQLITE)
        CHECK_SKIP("no SQLite here");
    record_world_open(&world, "a.db");
    record_late(&world);
    struct recording *recording = record_read(world.path);
    CHECK_INT(phases_of(recording, &phases, &error), 0);
    CHECK_UINT(phases.whole.timepoints, SAMPLES);
    CHECK_UINT(phases.count, 1);
    CHECK_UINT(phases.items[0].timepoints, 1);
    CHECK_UINT(phases.items[0].non_empty, 1);
    phases_done(&phases);
    CHECK_INT(charts_of(recording, &charts), 0);
    CHECK_UINT(charts.points, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++)
        CHECK_NEAR(charts.seconds[i], (double)i, 1e-5);
    CHECK_STR(charts.items[0].id, "cpu");
    CHECK_UINT(charts.items[0].line_count, 2);
    for (size_t i = 0; i < SAMPLES; i++) {
        CHECK_NEAR(charts.items[0].lines[0].values[i], 0.6, 1e-9);
        CHECK_NEAR(charts.items[0].lines[1].values[i], 1.75, 1e-9);
    }
    charts_done(&charts);
    recording_close(recording);
    record_world_close(&world);
}

#else

static void without_sqlite_there_are_none(void)
{
    CHECK_SKIP("built without SQLite");
}

#endif

static const check_test tests[] = {
#if VITALS_WITH_SQLITE
    {"a value stands where it was read", a_value_stands_where_it_was_read},
    {"what is missing stands with the one before", what_is_missing_stands_with_the_one_before},
    {"a recording without them, or with nonsense, is read",
     a_recording_without_them_or_with_nonsense_is_read},
    {"one that came late stands where it was read", one_that_came_late_stands_where_it_was_read},
    {"samples are counted when they were taken", samples_are_counted_when_they_were_taken},
#else
    {"without SQLite there are none", without_sqlite_there_are_none},
#endif
};
CHECK_TESTS(tests)
