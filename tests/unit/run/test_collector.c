/* Windows over samples. The samples are a live machine's, of ourselves: what is checked holds at
 * any load. */
#include "check.h"
#include "usage_world.h"
#include "util/base.h"

#include <time.h>
#include <unistd.h>

static vitals_error error;

static vitals_collector *new_collector(uint64_t interval_ns)
{
    vitals_run_options options;
    vitals_collector *collector = NULL;
    vitals_run_options_init(&options, sizeof options);
    options.interval_ns = interval_ns;
    CHECK_OK(vitals_collector_new(&options, &collector, &error), error);
    return collector;
}

/* Until the window has a value of the measure. */
static double wait_for_value(vitals_collector *collector, const char *window, const char *measure,
                             vitals_scope scope, const char *subject)
{
    for (int i = 0; i < 500; i++) {
        vitals_collection *collection = NULL;
        CHECK_OK(vitals_collector_collect(collector, &collection, &error), error);
        const vitals_collected *found = vitals_collection_find(
            collection, window, vitals_measure_find(measure), scope, subject);
        double value = found != NULL && found->state > 0 ? found->last : (double)NAN;
        vitals_collection_free(collection);
        if (!isnan(value))
            return value;
        usleep(20000);
    }
    CHECK_FAIL("no sample of %s in 10 s", measure);
}

static void tags_that_mean_nothing_are_refused(void)
{
    static const char LONG[] = "0123456789012345678901234567890123456789012345678901234567890123";
    static const char *const ROWS[] = {"", "a/b", LONG};
    vitals_collector *collector = new_collector(1000000000);
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++)
        CHECK_INT(vitals_collector_begin(collector, ROWS[i], &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_collector_end(collector, NULL, NULL, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_collector_reset(collector, "train", &error), VITALS_EARGUMENT);
    CHECK_OK(vitals_collector_begin(collector, "train", &error), error);
    CHECK_INT(vitals_collector_begin(collector, "train", &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "train is open already");
    CHECK_INT(vitals_collector_end(collector, "epoch", NULL, &error), VITALS_EARGUMENT);
    CHECK_OK(vitals_collector_end(collector, "train", NULL, &error), error);
    CHECK_OK(vitals_collector_begin(collector, "train", &error), error); /* and once more */
    vitals_collector_free(collector);
    vitals_collector_free(NULL);
}

static void windows_nest_and_end_together(void)
{
    vitals_collector *collector = new_collector(20000000);
    vitals_collection *last = NULL;
    CHECK_OK(vitals_collector_begin(collector, "train", &error), error);
    CHECK_OK(vitals_collector_begin(collector, "epoch", &error), error);
    CHECK_OK(vitals_collector_begin(collector, "batch", &error), error);
    CHECK(wait_for_value(collector, "train/epoch/batch", "memory_resident_bytes", VITALS_SCOPE_TREE,
                         "") > 0);
    CHECK(wait_for_value(collector, "train", "memory_used_bytes", VITALS_SCOPE_SYSTEM, "system") >
          0);
    CHECK_OK(vitals_collector_end(collector, "epoch", &last, &error), error);
    const vitals_collected *batch = vitals_collection_find(
        last, "train/epoch/batch", VITALS_MEASURE_MEMORY_RESIDENT_BYTES, VITALS_SCOPE_TREE, "");
    CHECK_NOT_NULL(batch);
    CHECK(batch->least > 0 && batch->least <= batch->mean && batch->mean <= batch->most);
    CHECK(batch->seconds > 0);
    CHECK_NULL(vitals_collection_find(last, "train", VITALS_MEASURE_MEMORY_RESIDENT_BYTES,
                                      VITALS_SCOPE_TREE, ""));
    vitals_collection_free(last);
    CHECK_OK(vitals_collector_collect(collector, &last, &error), error);
    CHECK_NULL(vitals_collection_find(last, "train/epoch", VITALS_MEASURE_MEMORY_RESIDENT_BYTES,
                                      VITALS_SCOPE_TREE, ""));
    CHECK_NOT_NULL(vitals_collection_find(last, "train", VITALS_MEASURE_MEMORY_RESIDENT_BYTES,
                                          VITALS_SCOPE_TREE, ""));
    vitals_collection_free(last);
    vitals_collector_free(collector);
}

static volatile double sink;

static void spend_cpu(double seconds)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    do {
        for (int i = 0; i < 100000; i++)
            sink = sink + i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9 <
             seconds);
}

/* A counter's window begins with what was sampled last: what was spent before is not in it. */
static void a_counter_grows_from_its_windows_begin(void)
{
    vitals_collector *collector = new_collector(20000000);
    CHECK_OK(vitals_collector_begin(collector, "all", &error), error);
    (void)wait_for_value(collector, "all", "cpu_seconds", VITALS_SCOPE_TREE, "");
    spend_cpu(0.5);
    double all = 0;
    for (int i = 0; i < 500 && all < 0.4; i++) {
        all = wait_for_value(collector, "all", "cpu_seconds", VITALS_SCOPE_TREE, "");
        usleep(10000);
    }
    CHECK(all >= 0.4);
    CHECK_OK(vitals_collector_begin(collector, "later", &error), error);
    double later = wait_for_value(collector, "all/later", "cpu_seconds", VITALS_SCOPE_TREE, "");
    CHECK(later < 0.4);
    CHECK_OK(vitals_collector_reset(collector, NULL, &error), error);
    CHECK(wait_for_value(collector, "all", "cpu_seconds", VITALS_SCOPE_TREE, "") < 0.4);
    vitals_collector_free(collector);
}

struct told {
    int times;
    double seconds;
    bool found;
};

static int on_collect(void *data, const vitals_collection *collection)
{
    struct told *told = data;
    for (const vitals_collected *item = NULL;
         (item = vitals_collection_next(collection, item)) != NULL;) {
        told->found = told->found || strcmp(item->window, "daemon") == 0;
        told->seconds = item->seconds;
    }
    return ++told->times >= 3;
}

static void a_callback_is_told_until_it_has_enough(void)
{
    vitals_collector *collector = new_collector(20000000);
    struct told told = {0};
    CHECK_INT(vitals_collector_set_every(collector, "daemon", 0, on_collect, &told, &error),
              VITALS_EARGUMENT);
    CHECK_OK(
        vitals_collector_set_every(collector, "daemon", 300 * NS_PER_MS, on_collect, &told, &error),
        error);
    CHECK_INT(
        vitals_collector_set_every(collector, "other", 300 * NS_PER_MS, on_collect, &told, &error),
        VITALS_EARGUMENT);
    (void)wait_for_value(collector, "daemon", "cpu_seconds", VITALS_SCOPE_TREE, "");
    usleep(1500000);
    vitals_collector_free(collector); /* waits for the thread: what it wrote can be read */
    CHECK(told.times >= 1 && told.times <= 3);
    CHECK(told.found);
    CHECK(told.seconds > 0);
}

static const check_test tests[] = {
    {"tags that mean nothing are refused", tags_that_mean_nothing_are_refused},
    {"windows nest and end together", windows_nest_and_end_together},
    {"a counter grows from its window's begin", a_counter_grows_from_its_windows_begin},
    {"a callback is told until it has enough", a_callback_is_told_until_it_has_enough},
};
CHECK_TESTS(tests)
