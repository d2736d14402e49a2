/* What is read seldom is read once more in the end, so that nothing that was counted is lost. */
#include "process_world.h"

#include "fake_clock.h"
#include "model/request.h"
#include "sampler/context.h"

#include <vitals/vitals.h>

static struct tree tree;
static struct fake_clock *fake;
static vitals_context *context;
static vitals_sampler *sampler;
static int64_t live;

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", tree.path, name);
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
}

static void put_busy(unsigned ticks)
{
    char text[128];
    snprintf(text, sizeof text, "cpu  %u 0 0 1000 0 0 0 0 0 0\ncpu0 %u 0 0 1000 0 0 0 0 0 0\n",
             ticks, ticks);
    put("stat", text);
}

/* Each metric each hour. */
static void begin(const vitals_metric *metrics, size_t count)
{
    vitals_request *request = NULL;
    vitals_options options;
    vitals_error error;
    live = memory_live();
    tree = tree_new();
    put_busy(100);
    put("loadavg", "0.50 0.25 0.10 1/100 7\n");
    fake = fake_clock_new();
    vitals_options_init(&options, sizeof options);
    options.proc_root = tree.path;
    options.sys_root = tree.path;
    options.clock = &fake->clock;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(vitals_request_add(request, metrics[i], &error), error);
        CHECK_OK(vitals_request_set_every(request, metrics[i], 3600 * NS_PER_SECOND, &error),
                 error);
    }
    CHECK_OK(vitals_request_set_interval(request, NS_PER_SECOND, &error), error);
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    CHECK_OK(vitals_sampler_new(context, request, &sampler, &error), error);
    vitals_request_free(request);
}

static void end(void)
{
    uint64_t until = real_now_ns() + 20 * NS_PER_SECOND;
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    tree_free(&tree);
    while (memory_live() != live && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    CHECK_INT(memory_live(), live);
}

/* Of the machine; below zero: it has none. */
static double read_host(vitals_metric metric, bool last)
{
    vitals_snapshot *snapshot = NULL;
    double value = -1;
    fake_clock_advance(fake, NS_PER_SECOND / 2);
    CHECK_INT(last ? sampler_take_last(sampler, &snapshot) : sampler_take_soon(sampler, &snapshot),
              0);
    const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    CHECK_NOT_NULL(row);
    if (vitals_row_number(row, metric, &value) <= 0)
        value = -1;
    vitals_snapshot_unref(snapshot);
    return value;
}

static void what_grew_is_read_in_the_end(void)
{
    static const vitals_metric METRICS[] = {VITALS_HOST_CPU_BUSY_SECONDS};
    begin(METRICS, CHECK_COUNT(METRICS));
    double first = read_host(METRICS[0], false);
    CHECK(first > 0);
    put_busy(700);
    CHECK_NEAR(read_host(METRICS[0], false), first, 1e-9); /* not yet its turn */
    CHECK_NEAR(read_host(METRICS[0], true), 7 * first, 1e-6);
    put_busy(900); /* and in no tick but that */
    CHECK_NEAR(read_host(METRICS[0], false), 7 * first, 1e-6);
    end();
}

/* What tells of the moment is read as often as each second at most, in the end too. */
static void what_tells_of_the_moment_may_be_a_second_old(void)
{
    static const vitals_metric METRICS[] = {VITALS_HOST_LOAD_1M};
    begin(METRICS, CHECK_COUNT(METRICS));
    CHECK_NEAR(read_host(METRICS[0], false), 0.5, 1e-9);
    put("loadavg", "2.50 0.25 0.10 1/100 7\n");
    CHECK_NEAR(read_host(METRICS[0], true), 0.5, 1e-9);
    fake_clock_advance(fake, NS_PER_SECOND);
    CHECK_NEAR(read_host(METRICS[0], true), 2.5, 1e-9);
    end();
}

static const check_test tests[] = {
    {"what grew is read in the end", what_grew_is_read_in_the_end},
    {"what tells of the moment may be a second old", what_tells_of_the_moment_may_be_a_second_old},
};
CHECK_TESTS(tests)
