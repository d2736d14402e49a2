/* Where the monitor's snapshots come from, over this machine: other columns are read beside what
 * runs, and take its place when they have rates. */
#include "check.h"
#include "fake_clock.h"

#include <poll.h>
#include <unistd.h>

#include "monitor/source.h"

enum { PATIENCE = 20000 }; /* ms, of a busy machine */

static vitals_context *context;
static struct monitor_options options;
static struct monitor_source *source;

static const struct wants none = {.count = 0};

static void begin(void)
{
    vitals_error error;
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    options = (struct monitor_options){.context = context, .interval_ns = 300000000};
    CHECK_OK(source_open(&options, &source, &error), error);
    source_want(source, &none);
    CHECK(source_has_all(source));
}

static void end(void)
{
    source_close(source);
    vitals_context_free(context);
}

static vitals_snapshot *next_of_all(void)
{
    vitals_snapshot *snapshot = NULL;
    for (int i = 0; i < PATIENCE && (snapshot = source_all(source)) == NULL; i++)
        real_sleep_ns(1000000);
    CHECK_NOT_NULL(snapshot);
    return snapshot;
}

static const vitals_row *own_row(const vitals_snapshot *snapshot)
{
    uint64_t pid;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL;) {
        if (vitals_row_u64(row, VITALS_PROCESS_PID, &pid) > 0 && pid == (uint64_t)getpid())
            return row;
    }
    return NULL;
}

static struct wants one_more(vitals_metric metric)
{
    struct wants wants = {.count = 0};
    wants_add(&wants, metric);
    return wants;
}

/* Until a snapshot of another stream: the first of two, which come at once. */
static vitals_snapshot *first_of_another(uint64_t stream, unsigned *meanwhile)
{
    vitals_snapshot *snapshot = next_of_all();
    for (*meanwhile = 0; vitals_snapshot_stream(snapshot) == stream; ++*meanwhile) {
        CHECK(source_has_all(source));
        vitals_snapshot_unref(snapshot);
        snapshot = next_of_all();
    }
    return snapshot;
}

static void another_column_comes_with_rates(void)
{
    double cpus;
    unsigned meanwhile;
    begin();
    vitals_snapshot *old = next_of_all();
    uint64_t stream = vitals_snapshot_stream(old);
    CHECK(!vitals_snapshot_has_metric(old, VITALS_PROCESS_NICE));
    vitals_snapshot_unref(old);

    struct wants wants = one_more(VITALS_PROCESS_NICE);
    source_want(source, &wants);
    CHECK(source_descriptor(source, SOURCE_NEXT) >= 0);
    vitals_snapshot *first = first_of_another(stream, &meanwhile);
    CHECK(meanwhile > 0); /* those of before were given as ever */
    CHECK_INT(source_descriptor(source, SOURCE_NEXT), -1);
    vitals_snapshot *second = source_all(source);
    CHECK_NOT_NULL(second);
    CHECK_UINT(vitals_snapshot_stream(first), vitals_snapshot_stream(second));
    CHECK(vitals_snapshot_has_metric(second, VITALS_PROCESS_NICE));
    CHECK(vitals_row_rate(own_row(second), first, VITALS_PROCESS_CPU_SECONDS, &cpus) > 0);
    vitals_snapshot_unref(first);
    vitals_snapshot_unref(second);
    end();
}

/* A call between two readings gets nothing. */
static void each_is_given_once(void)
{
    uint64_t last = 0;
    begin();
    for (int i = 0; i < 4; i++) {
        vitals_snapshot *snapshot = next_of_all();
        CHECK(vitals_snapshot_sequence(snapshot) > last);
        last = vitals_snapshot_sequence(snapshot);
        vitals_snapshot_unref(snapshot);
    }
    end();
}

/* The request is taken back: what runs continues. */
static void what_is_taken_back_ends_nothing(void)
{
    begin();
    vitals_snapshot *snapshot = next_of_all();
    uint64_t stream = vitals_snapshot_stream(snapshot);
    vitals_snapshot_unref(snapshot);
    struct wants wants = one_more(VITALS_PROCESS_NICE);
    source_want(source, &wants);
    source_want(source, &none);
    CHECK_INT(source_descriptor(source, SOURCE_NEXT), -1);
    for (int i = 0; i < 5; i++) {
        snapshot = next_of_all();
        CHECK_UINT(vitals_snapshot_stream(snapshot), stream);
        vitals_snapshot_unref(snapshot);
    }
    end();
}

/* From a screen of all processes to one without, which has other columns, and back. */
static void back_and_forth_begins_nothing(void)
{
    begin();
    vitals_snapshot *snapshot = next_of_all();
    uint64_t stream = vitals_snapshot_stream(snapshot);
    vitals_snapshot_unref(snapshot);
    for (int i = 0; i < 5; i++) {
        source_want(source, NULL);
        CHECK_INT(source_descriptor(source, SOURCE_NEXT), -1);
        CHECK_FALSE(source_has_all(source));
        CHECK_NULL(source_all(source));
        source_want(source, &none);
        snapshot = next_of_all();
        CHECK_UINT(vitals_snapshot_stream(snapshot), stream);
        vitals_snapshot_unref(snapshot);
    }

    /* What is not wanted any more while it begins is closed. */
    struct wants wants = one_more(VITALS_PROCESS_NICE);
    source_want(source, &wants);
    CHECK(source_descriptor(source, SOURCE_NEXT) >= 0);
    source_want(source, NULL);
    CHECK_INT(source_descriptor(source, SOURCE_NEXT), -1);
    source_want(source, &wants);
    CHECK(source_descriptor(source, SOURCE_NEXT) >= 0);
    end();
}

/* Within three intervals, nothing comes any more. */
static bool is_quiet(void)
{
    struct pollfd come = {.fd = source_descriptor(source, SOURCE_ALL), .events = POLLIN};
    return poll(&come, 1, (int)(3 * options.interval_ns / 1000000)) == 0;
}

static void what_is_not_wanted_is_not_read(void)
{
    enum { TRIES = 20 };
    begin();
    vitals_snapshot *snapshot = next_of_all();
    uint64_t stream = vitals_snapshot_stream(snapshot);
    vitals_snapshot_unref(snapshot);
    source_want(source, NULL);
    int tries = 0;
    do { /* a reading may be on its way */
        CHECK_NULL(source_all(source));
    } while (!is_quiet() && ++tries < TRIES);
    CHECK(tries < TRIES);
    source_want(source, &none);
    snapshot = next_of_all();
    CHECK_UINT(vitals_snapshot_stream(snapshot), stream);
    vitals_snapshot_unref(snapshot);
    end();
}

/* Closed at every step of it: nothing is left behind, which a sanitizer would see. */
static void it_can_end_at_any_moment(void)
{
    for (unsigned step = 0; step < 4; step++) {
        unsigned meanwhile;
        begin();
        vitals_snapshot *snapshot = next_of_all();
        uint64_t stream = vitals_snapshot_stream(snapshot);
        vitals_snapshot_unref(snapshot);
        struct wants wants = one_more(VITALS_PROCESS_NICE);
        source_want(source, &wants);
        if (step == 1)
            vitals_snapshot_unref(next_of_all());
        if (step == 2)
            vitals_snapshot_unref(first_of_another(stream, &meanwhile));
        if (step == 3) {
            wants = one_more(VITALS_PROCESS_UID);
            source_want(source, &wants);
        }
        end();
    }
}

static const check_test tests[] = {
    {"another column comes with rates", another_column_comes_with_rates},
    {"each is given once", each_is_given_once},
    {"what is taken back ends nothing", what_is_taken_back_ends_nothing},
    {"back and forth begins nothing", back_and_forth_begins_nothing},
    {"what is not wanted is not read", what_is_not_wanted_is_not_read},
    {"it can end at any moment", it_can_end_at_any_moment},
};

CHECK_TESTS(tests)
