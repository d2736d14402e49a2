/* Recordings in parts: each stands alone, with what belongs to it beside it. */
#include "record_world.h"

#include "record/sqlite/database.h"

static struct recorder *open_parts(const struct record_world *world, const char *format,
                                   unsigned keep)
{
    const struct recorder_options options = {.path = world->path,
                                             .format = format,
                                             .interval_ns = 1000000000,
                                             .rotate_ns = UINT64_C(3000000000),
                                             .keep = keep};
    struct recorder *recorder = NULL;
    vitals_error error = {.message = ""};
    CHECK_INT(recorder_open(&options, &recorder, &error), 0);
    CHECK_STR(error.message, "");
    return recorder;
}

static void put_mark(struct recorder *recorder, const char *name, bool begins, uint64_t second)
{
    const vitals_mark mark = {.begins = begins,
                              .name = name,
                              .monotonic_ns = UINT64_C(5000000000) + second * 1000000000u,
                              .pid = 71,
                              .tid = 71,
                              .told = 1};
    vitals_error error = {.message = ""};
    CHECK_INT(recorder_mark(recorder, &mark, &error), 0);
    CHECK_STR(error.message, "");
}

/* Ten seconds in parts of three: "long" is open through all of them, "short" in the first alone. */
static void record_parts(const struct record_world *world, const char *format, unsigned keep)
{
    struct recorder *recorder = open_parts(world, format, keep);
    vitals_error error;
    record_samples(recorder, 0, 1);
    put_mark(recorder, "long", true, 0);
    put_mark(recorder, "short", true, 1);
    put_mark(recorder, "short", false, 2);
    record_samples(recorder, 1, 10);
    put_mark(recorder, "long", false, 9);
    CHECK_INT(recorder_close(recorder, &error), 0);
}

static const struct recorded_phase *only_phase(const struct recording *recording)
{
    size_t count;
    const struct recorded_phase *phases = recording_phases(recording, &count);
    CHECK_UINT(count, 1);
    CHECK_STR(phases[0].name, "long");
    CHECK_NEAR(phases[0].begin, RECORD_BEGIN_SECONDS, 1e-3);
    return phases;
}

static void check_parts(const char *name, const char *format)
{
    struct record_world world;
    char part[200];
    size_t count;
    record_world_open(&world, name);
    record_parts(&world, format, 0);
    struct recording *last = record_read(world.path);
    CHECK_STR(recording_problem(last), "");
    CHECK_NEAR(only_phase(last)->end, RECORD_BEGIN_SECONDS + 9, 1e-3);
    recording_close(last);
    (void)snprintf(part, sizeof part, "%s.2", world.path);
    struct recording *second = record_read(part);
    CHECK_STR(recording_problem(second), "");
    CHECK(only_phase(second)->end != only_phase(second)->end); /* it went on */
    recording_close(second);
    (void)snprintf(part, sizeof part, "%s.1", world.path);
    struct recording *first = record_read(part);
    (void)recording_phases(first, &count);
    CHECK_UINT(count, 2);
    recording_close(first);
    record_world_close(&world);
}

static void a_phase_goes_on_in_the_next_part(void)
{
    if (VITALS_WITH_SQLITE)
        check_parts("a.db", NULL);
#if VITALS_WITH_JANSSON
    check_parts("a.csv", "vitals-csv");
#endif
}

/* gpu_tracker's phases stand in a file of their own, which moves with its part. */
static void what_stands_beside_moves_with_its_part(void)
{
    check_parts("g.csv", "gpu-tracker");
}

static bool exists(const struct record_world *world, const char *name)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", world->folder, name);
    return access(path, F_OK) == 0;
}

static void the_oldest_part_goes_with_what_is_beside_it(void)
{
    struct record_world world;
    record_world_open(&world, "g.csv");
    record_parts(&world, "gpu-tracker", 1);
    CHECK(exists(&world, "g.csv") && exists(&world, "g.sub.csv"));
    CHECK(exists(&world, "g.csv.3") && exists(&world, "g.csv.sub.3"));
    CHECK_FALSE(exists(&world, "g.csv.2") || exists(&world, "g.csv.sub.2"));
    CHECK_FALSE(exists(&world, "g.csv.1") || exists(&world, "g.csv.sub.1"));
    record_world_close(&world);
}

static const check_test tests[] = {
    {"a phase goes on in the next part", a_phase_goes_on_in_the_next_part},
    {"what stands beside moves with its part", what_stands_beside_moves_with_its_part},
    {"the oldest part goes with what is beside it", the_oldest_part_goes_with_what_is_beside_it},
};
CHECK_TESTS(tests)
