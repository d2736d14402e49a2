/* What a live monitor keeps for looking back, by its own thread: found again, in a file or in
 * memory, and never waited for. */
#include "fake_clock.h"
#include "monitor_world.h"

#include <stdatomic.h>
#include <unistd.h>

#include "monitor/history/live_history.h"

static const struct monitor_process PROCESSES[] = {
    {10, 1, "ana", "one", 10, 0.25, 5, 1, 100, false},
    {20, 1, "ben", "two", 20, 0.5, 5, 1, 200, false},
};
static const struct monitor_world WORLD = {PROCESSES, CHECK_COUNT(PROCESSES), 1};

static vitals_builder *builder;
static struct live_history *history;
static struct timeline machine, all;

/* A disk that does not answer while it is told not to. */
static atomic_bool hanging;
static atomic_uint readings;

static ssize_t read_a_disk(int descriptor, void *bytes, size_t size, off_t offset)
{
    while (atomic_load(&hanging))
        real_sleep_ns(1000000);
    ssize_t got = pread(descriptor, bytes, size, offset);
    atomic_fetch_add(&readings, 1);
    return got;
}

static void begin(const char *folder)
{
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    CHECK_OK(live_history_new(folder, read_a_disk, &history, &error), error);
    live_history_timeline(history, LIVE_MACHINE, &machine);
    live_history_timeline(history, LIVE_ALL, &all);
}

static void end(void)
{
    timeline_close(&machine);
    timeline_close(&all);
    live_history_free(history);
    vitals_builder_free(builder);
}

static uint64_t count(const struct timeline *timeline)
{
    struct timeline_span span;
    vitals_error error;
    CHECK_OK(timeline->span(timeline->data, &span, &error), error);
    return span.count;
}

static void add(enum live_part part, double seconds, uint64_t sequence)
{
    vitals_snapshot *snapshot = world_at(builder, &WORLD, seconds, sequence);
    const struct timeline *timeline = part == LIVE_MACHINE ? &machine : &all;
    uint64_t before = count(timeline);
    live_history_add(history, part, snapshot);
    vitals_snapshot_unref(snapshot);
    for (int i = 0; i < 10000 && count(timeline) == before; i++)
        real_sleep_ns(1000000); /* its thread writes it */
    CHECK_UINT(count(timeline), before + 1);
}

static double given(const struct timeline *timeline, uint64_t seconds, uint64_t *sequence)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    int code = timeline->at(timeline->data, seconds * MONITOR_SECOND, &snapshot, &error);
    CHECK_INT(code, 1);
    double found = (double)vitals_snapshot_realtime_ns(snapshot) / MONITOR_SECOND;
    *sequence = vitals_snapshot_sequence(snapshot);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_PROCESS), CHECK_COUNT(PROCESSES));
    vitals_snapshot_unref(snapshot);
    return found;
}

static void looks_back(const char *folder)
{
    uint64_t sequence;
    vitals_snapshot *snapshot;
    vitals_error error;
    begin(folder);
    CHECK_UINT(count(&machine), 0);
    CHECK_INT(machine.at(machine.data, 1, &snapshot, &error), 0);
    for (uint64_t i = 0; i < 100; i++) {
        add(LIVE_MACHINE, 1000 + (double)i, i + 1);
        if (i % 10 == 0)
            add(LIVE_ALL, 1000 + (double)i, 500 + i);
    }
    CHECK_NULL(live_history_news(history));
    CHECK_NEAR(given(&machine, 1050, &sequence), 1050, 1e-6);
    CHECK_UINT(sequence, 51);
    CHECK_NEAR(given(&machine, 5000, &sequence), 1099, 1e-6);
    CHECK_NEAR(given(&machine, 1, &sequence), 1000, 1e-6);
    CHECK_NEAR(given(&all, 1055, &sequence), 1050, 1e-6);
    CHECK_UINT(sequence, 550);
    CHECK_INT(all.next(all.data, &snapshot, &error), 1);
    CHECK_UINT(vitals_snapshot_sequence(snapshot), 560);
    vitals_snapshot_unref(snapshot);
    CHECK_INT(all.previous(all.data, &snapshot, &error), 1);
    CHECK_UINT(vitals_snapshot_sequence(snapshot), 550);
    vitals_snapshot_unref(snapshot);
    end();
}

static void it_is_found_again_in_a_file(void)
{
    char folder[] = "/tmp/vitals-history-XXXXXX";
    CHECK_NOT_NULL(mkdtemp(folder));
    looks_back(folder);
    CHECK_INT(rmdir(folder), 0); /* the file has no name there */
}

static void it_is_found_again_in_memory(void)
{
    looks_back(NULL);
}

static void a_folder_that_cannot_hold_it_is_said_once(void)
{
    uint64_t sequence;
    begin("/nonexistent/folder");
    const char *news = live_history_news(history);
    CHECK_NOT_NULL(news);
    CHECK_CONTAINS(news, "/nonexistent/folder");
    CHECK_CONTAINS(news, "memory");
    CHECK_NULL(live_history_news(history));
    add(LIVE_MACHINE, 1000, 1);
    CHECK_NEAR(given(&machine, 1000, &sequence), 1000, 1e-6);
    end();
}

/* An hour is kept, what is older goes. */
static void what_is_older_than_an_hour_goes(void)
{
    uint64_t sequence;
    begin(NULL);
    for (uint64_t i = 0; i < 5; i++)
        add(LIVE_MACHINE, 1000 + (double)i, i + 1);
    vitals_snapshot *late = world_at(builder, &WORLD, 1000 + 3700, 9);
    live_history_add(history, LIVE_MACHINE, late);
    vitals_snapshot_unref(late);
    for (int i = 0; i < 10000 && count(&machine) != 1; i++)
        real_sleep_ns(1000000);
    CHECK_UINT(count(&machine), 1);
    CHECK_NEAR(given(&machine, 1, &sequence), 4700, 1e-6);
    end();
}

/* Where an hour of all does not fit, the hour is kept and not the last minutes of it. */
static void of_much_less_is_kept_of_each_minute(void)
{
    enum { CAME = 400 };
    struct timeline_span span;
    vitals_error error;
    begin(NULL);
    for (uint64_t i = 0; i < CAME; i++) {
        vitals_snapshot *snapshot = world_at(builder, &WORLD, 1000 + (double)i / 100, i + 1);
        live_history_add(history, LIVE_MACHINE, snapshot);
        vitals_snapshot_unref(snapshot);
        real_sleep_ns(2000000);
    }
    add(LIVE_ALL, 1000, 1); /* behind all of these */
    CHECK_OK(machine.span(machine.data, &span, &error), error);
    CHECK(span.count > 1 && span.count < CAME / 2);
    CHECK_UINT(span.first_ns, 1000 * (uint64_t)MONITOR_SECOND);
    end();
}

/* More at once than its thread can take: some are left out, and nothing is lost track of. */
static void nobody_waits_for_it(void)
{
    vitals_error error;
    vitals_snapshot *snapshot = NULL;
    begin(NULL);
    for (uint64_t i = 0; i < 500; i++) {
        snapshot = world_at(builder, &WORLD, 1000 + (double)i, i + 1);
        live_history_add(history, LIVE_MACHINE, snapshot);
        vitals_snapshot_unref(snapshot);
    }
    while (machine.at(machine.data, UINT64_MAX, &snapshot, &error) == 0)
        real_sleep_ns(1000000);
    vitals_snapshot_unref(snapshot);
    CHECK(count(&machine) <= 500);
    end(); /* with what still stands in the queue */
}

static void begin_with_a_disk(void)
{
    char folder[] = "/tmp/vitals-history-XXXXXX";
    CHECK_NOT_NULL(mkdtemp(folder));
    begin(folder);
    CHECK_INT(rmdir(folder), 0);
    for (uint64_t i = 0; i < 5; i++)
        add(LIVE_MACHINE, 1000 + (double)i, i + 1);
}

static void gives_up(const struct timeline *timeline)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {.code = 0};
    CHECK_INT(timeline->at(timeline->data, UINT64_MAX, &snapshot, &error), VITALS_ETIMEOUT);
    CHECK_NULL(snapshot);
    CHECK_CONTAINS(error.message, "does not answer");
}

/* A key is answered all the same; what came meanwhile is kept, and all is found once it answers. */
static void a_disk_that_hangs_stops_nobody(void)
{
    uint64_t sequence;
    vitals_snapshot *snapshot = NULL;
    struct timeline_span span;
    vitals_error error = {.code = 0};
    begin_with_a_disk();
    CHECK_NEAR(given(&machine, 1002, &sequence), 1002, 1e-6);
    atomic_store(&hanging, true);
    gives_up(&machine);
    gives_up(&machine);
    gives_up(&all);
    CHECK_INT(machine.span(machine.data, &span, &error), VITALS_ETIMEOUT);
    CHECK_NULL(live_history_news(history));
    for (uint64_t i = 5; i < 60; i++) {
        vitals_snapshot *late = world_at(builder, &WORLD, 1000 + (double)i, i + 1);
        live_history_add(history, LIVE_MACHINE, late);
        vitals_snapshot_unref(late);
    }
    atomic_store(&hanging, false);
    int code = VITALS_ETIMEOUT;
    for (int i = 0; i < 10000 && code == VITALS_ETIMEOUT; i++) {
        code = machine.next(machine.data, &snapshot, &error);
        real_sleep_ns(1000000);
    }
    CHECK_INT(code, 1); /* it goes on where it stood, whatever was asked meanwhile */
    CHECK_UINT(vitals_snapshot_sequence(snapshot), 4);
    vitals_snapshot_unref(snapshot);
    for (int i = 0; i < 10000 && count(&machine) <= 5; i++)
        real_sleep_ns(1000000);
    CHECK(count(&machine) > 5);
    end();
}

/* The end does not wait either: its thread is left behind, and frees what it has. */
static void one_can_end_while_it_hangs(void)
{
    begin_with_a_disk();
    atomic_store(&hanging, true);
    gives_up(&machine);
    unsigned before = atomic_load(&readings);
    end();
    atomic_store(&hanging, false);
    for (int i = 0; i < 10000 && atomic_load(&readings) == before; i++)
        real_sleep_ns(1000000);
    CHECK(atomic_load(&readings) > before);
}

static const check_test tests[] = {
    {"it is found again in a file", it_is_found_again_in_a_file},
    {"it is found again in memory", it_is_found_again_in_memory},
    {"a folder that cannot hold it is said once", a_folder_that_cannot_hold_it_is_said_once},
    {"what is older than an hour goes", what_is_older_than_an_hour_goes},
    {"of much less is kept of each minute", of_much_less_is_kept_of_each_minute},
    {"nobody waits for it", nobody_waits_for_it},
    {"a disk that hangs stops nobody", a_disk_that_hangs_stops_nobody},
    {"one can end while it hangs", one_can_end_while_it_hangs},
};
CHECK_TESTS(tests)
