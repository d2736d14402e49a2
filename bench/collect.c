/* collect.c: the cost of a collector's windows to the program that opens them, through the public
 * API.
 *
 *     collect CASE ROUNDS
 *
 *     window   one begins and ends, unread, beside no other; what it says is made at its end
 *     nested   the same inside of two others, as a batch of an epoch of a training
 *     dropped  one begins and ends, and its result is not read
 *     read     the values of two open windows, as a callback gets them
 *     sample   one sample added to two open windows, its reading of the machine included: this
 *              program alone, each 50 ms, for a tenth of the rounds; CPU time of all threads
 *
 * Prints lines like floor.c and table.c, for one call each: microseconds of CPU, measures in the
 * result, allocations. Linked with the hidden symbols of the library for that count alone. */
#include "measure.h"

#include "util/memory.h"
#include <vitals/collector.h>
#include <vitals/vitals.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t INTERVAL_NS = UINT64_C(50) * 1000 * 1000;

static void check(int code, const vitals_error *error)
{
    if (code >= 0)
        return;
    fprintf(stderr, "collect: %s\n", error->message);
    exit(1);
}

static void pause_ns(uint64_t ns)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
                                  .tv_nsec = (long)(ns % 1000000000)};
    (void)nanosleep(&time, NULL);
}

static size_t count_of(const vitals_collection *collection)
{
    size_t count = 0;
    for (const vitals_collected *item = NULL;
         (item = vitals_collection_next(collection, item)) != NULL;)
        count++;
    return count;
}

struct bench {
    vitals_collector *collector;
    size_t measures;      /* in the last answer */
    uint64_t allocations; /* of the last round */
};

static void begin(const struct bench *bench, const char *tag)
{
    vitals_error error;
    check(vitals_collector_begin(bench->collector, tag, &error), &error);
}

static void do_window(struct bench *bench)
{
    vitals_collection *collection = NULL;
    vitals_error error;
    begin(bench, "batch");
    check(vitals_collector_end(bench->collector, "batch", &collection, &error), &error);
    bench->measures = count_of(collection);
    vitals_collection_free(collection);
}

static void do_dropped(struct bench *bench)
{
    vitals_error error;
    begin(bench, "batch");
    check(vitals_collector_end(bench->collector, "batch", NULL, &error), &error);
}

static void do_read(struct bench *bench)
{
    vitals_collection *collection = NULL;
    vitals_error error;
    check(vitals_collector_collect(bench->collector, &collection, &error), &error);
    bench->measures = count_of(collection);
    vitals_collection_free(collection);
}

static void do_sample(struct bench *bench)
{
    (void)bench;
    pause_ns(INTERVAL_NS);
}

static const struct bench_case {
    const char *name;
    void (*once)(struct bench *bench);
    size_t around; /* windows that are open meanwhile */
    bool slow;     /* it waits for a sample */
} CASES[] = {
    {"window", do_window, 0, false},   {"nested", do_window, 2, false},
    {"dropped", do_dropped, 0, false}, {"read", do_read, 2, false},
    {"sample", do_sample, 2, true},
};

static const struct bench_case *find_case(const char *name)
{
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        if (strcmp(CASES[i].name, name) == 0)
            return &CASES[i];
    }
    fprintf(stderr, "collect: no case %s\n", name);
    exit(2);
}

/* Its thread runs from the first window on, and knows of the machine after a sample. The samples of
 * all cases but one are far apart. */
static void open_collector(struct bench *bench, const struct bench_case *which)
{
    static const char *const TAGS[] = {"train", "epoch"};
    vitals_run_options options;
    vitals_error error;
    vitals_run_options_init(&options, sizeof options);
    options.interval_ns = which->slow ? INTERVAL_NS : UINT64_C(3600) * 1000000000;
    check(vitals_collector_new(&options, &bench->collector, &error), &error);
    begin(bench, "first");
    do
        pause_ns(INTERVAL_NS);
    while (do_read(bench), bench->measures == 0);
    check(vitals_collector_end(bench->collector, "first", NULL, &error), &error);
    for (size_t i = 0; i < which->around; i++)
        begin(bench, TAGS[i]);
}

int main(int count, char **words)
{
    static struct measure measure;
    struct bench bench = {.collector = NULL};
    if (count != 3) {
        fprintf(stderr, "usage: collect CASE ROUNDS\n");
        return 2;
    }
    const struct bench_case *which = find_case(words[1]);
    size_t rounds = measure_argument("collect", words[2], MEASURE_SWEEPS);
    rounds = which->slow ? rounds / 10 + 1 : rounds;
    open_collector(&bench, which);
    for (size_t i = 0; i < rounds; i++) {
        uint64_t before = memory_asked();
        measure_begin(&measure);
        which->once(&bench);
        measure_end(&measure);
        bench.allocations = memory_asked() - before;
    }
    measure_print(&measure, which->name, "collect", 1);
    printf(" rows=%zu allocations=%" PRIu64 "\n", bench.measures, bench.allocations);
    vitals_collector_free(bench.collector);
    return 0;
}
