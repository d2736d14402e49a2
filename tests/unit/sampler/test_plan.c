/* Which metrics are read at which tick. */
#include "check.h"

#include "sampler/tick.h"

#include <vitals/error.h>

static const vitals_metric SLOW = VITALS_HOST_LOAD_1M, EACH = VITALS_HOST_UPTIME_SECONDS;
static const uint64_t START_NS = 1000 * NS_PER_SECOND;

static struct plan plan;
static vitals_request *request;

static void begin(uint64_t interval_ns, uint64_t every_ns)
{
    vitals_error error;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_request_add(request, SLOW, &error), error);
    CHECK_OK(vitals_request_add(request, EACH, &error), error);
    CHECK_OK(vitals_request_set_every(request, SLOW, every_ns, &error), error);
    CHECK_OK(vitals_request_set_every(request, EACH, 0, &error), error);
    CHECK_OK(vitals_request_set_interval(request, interval_ns, &error), error);
    plan_init(&plan, request);
}

static void end(void)
{
    vitals_request_free(request);
}

static bool is_due_at(uint64_t after_ns)
{
    struct metric_set due;
    plan_due(&plan, START_NS + after_ns, false, &due);
    CHECK(metric_set_has(&due, EACH));
    CHECK_FALSE(metric_set_has(&due, VITALS_HOST_LOAD_5M)); /* not asked for */
    return metric_set_has(&due, SLOW);
}

static void five_seconds_at_ticks_of_one_stay_five(void)
{
    begin(NS_PER_SECOND, 5 * NS_PER_SECOND);
    for (uint64_t tick = 0; tick < 100; tick++)
        CHECK_INT(is_due_at(tick * NS_PER_SECOND), tick % 5 == 0);
    end();
}

static void ticks_that_come_a_little_early_or_late_count_as_on_time(void)
{
    /* Jitter of a tenth either way, as a loaded machine has it. */
    static const int64_t JITTER_MS[] = {0, 100, -100, 90, -50, 100, -100};
    begin(NS_PER_SECOND, 5 * NS_PER_SECOND);
    unsigned count = 0;
    for (uint64_t tick = 0; tick < 1000; tick++) {
        int64_t jitter = tick == 0 ? 0 : JITTER_MS[tick % CHECK_COUNT(JITTER_MS)];
        count += is_due_at(tick * NS_PER_SECOND + (uint64_t)(jitter * (int64_t)NS_PER_MS));
    }
    CHECK_UINT(count, 200);
    end();
}

static void a_cadence_between_ticks_waits_for_the_next(void)
{
    begin(NS_PER_SECOND, 1500 * NS_PER_MS);
    for (uint64_t tick = 0; tick < 10; tick++)
        CHECK_INT(is_due_at(tick * NS_PER_SECOND), tick % 2 == 0);
    end();
}

static void a_cadence_below_the_interval_is_every_tick(void)
{
    begin(10 * NS_PER_SECOND, NS_PER_SECOND);
    for (uint64_t tick = 0; tick < 5; tick++)
        CHECK(is_due_at(tick * 10 * NS_PER_SECOND));
    end();
}

static void after_a_pause_it_is_due_once(void)
{
    begin(NS_PER_SECOND, 5 * NS_PER_SECOND);
    CHECK(is_due_at(0));
    CHECK(is_due_at(3600 * NS_PER_SECOND));
    CHECK_FALSE(is_due_at(3601 * NS_PER_SECOND));
    end();
}

static void the_largest_cadence_is_once(void)
{
    begin(NS_PER_SECOND, UINT64_MAX);
    CHECK(is_due_at(0));
    CHECK_FALSE(is_due_at(86400 * NS_PER_SECOND));
    end();
}

/* What has grown since is in no later reading, however young the last one is. */
static void a_counter_is_read_at_the_end(void)
{
    static const vitals_metric COUNTER = VITALS_HOST_FORKS;
    vitals_error error;
    struct metric_set due;
    begin(100 * NS_PER_MS, 5 * NS_PER_SECOND);
    CHECK_OK(vitals_request_add(request, COUNTER, &error), error);
    CHECK_OK(vitals_request_set_every(request, COUNTER, 5 * NS_PER_SECOND, &error), error);
    plan_init(&plan, request);
    plan_due(&plan, START_NS, false, &due);
    CHECK(metric_set_has(&due, COUNTER));
    plan_due(&plan, START_NS + 100 * NS_PER_MS, false, &due);
    CHECK_FALSE(metric_set_has(&due, COUNTER));
    plan_due(&plan, START_NS + 150 * NS_PER_MS, true, &due);
    CHECK(metric_set_has(&due, COUNTER));
    CHECK_FALSE(metric_set_has(&due, SLOW)); /* a gauge was right a moment ago */
    end();
}

static void metrics_of_one_cadence_take_turns_together(void)
{
    static const struct {
        vitals_metric metric;
        uint64_t every_ns;
    } COLUMNS[] = {
        {VITALS_PROCESS_USER, 60},
        {VITALS_PROCESS_COMMAND_LINE, 20},
        {VITALS_PROCESS_CGROUP, 60},
        {VITALS_PROCESS_DESCRIPTORS, 0},
    };
    vitals_error error;
    struct metric_set among = {0};
    struct plan_turn turns[3];
    begin(NS_PER_SECOND, 5 * NS_PER_SECOND);
    CHECK_UINT(plan_turns(&plan, &among, turns, 3), 0);
    for (size_t i = 0; i < CHECK_COUNT(COLUMNS); i++) {
        CHECK_OK(vitals_request_add(request, COLUMNS[i].metric, &error), error);
        CHECK_OK(vitals_request_set_every(request, COLUMNS[i].metric, COLUMNS[i].every_ns, &error),
                 error);
        metric_set_add(&among, COLUMNS[i].metric);
    }
    plan_init(&plan, request);
    CHECK_UINT(plan_turns(&plan, &among, turns, 3), 3);
    CHECK_UINT(turns[0].every_ns, 0);
    CHECK_UINT(turns[1].every_ns, 20);
    CHECK_UINT(turns[2].every_ns, 60);
    CHECK(metric_set_has(&turns[1].wanted, VITALS_PROCESS_COMMAND_LINE));
    CHECK(metric_set_has(&turns[2].wanted, VITALS_PROCESS_USER));
    CHECK(metric_set_has(&turns[2].wanted, VITALS_PROCESS_CGROUP));
    CHECK_FALSE(metric_set_has(&turns[2].wanted, VITALS_PROCESS_DESCRIPTORS));

    // More cadences than turns: nothing is read more seldom than it was asked for.
    CHECK_UINT(plan_turns(&plan, &among, turns, 2), 2);
    CHECK_UINT(turns[0].every_ns, 0);
    CHECK_UINT(turns[1].every_ns, 60);
    CHECK(metric_set_has(&turns[0].wanted, VITALS_PROCESS_COMMAND_LINE));
    CHECK_UINT(plan_turns(&plan, &among, turns, 1), 1);
    CHECK_UINT(turns[0].every_ns, 0);
    CHECK(metric_set_has(&turns[0].wanted, VITALS_PROCESS_CGROUP));
    end();
}

static const check_test tests[] = {
    {"five seconds at ticks of one stay five", five_seconds_at_ticks_of_one_stay_five},
    {"ticks that come a little early or late count as on time",
     ticks_that_come_a_little_early_or_late_count_as_on_time},
    {"a cadence between ticks waits for the next", a_cadence_between_ticks_waits_for_the_next},
    {"a cadence below the interval is every tick", a_cadence_below_the_interval_is_every_tick},
    {"after a pause it is due once", after_a_pause_it_is_due_once},
    {"the largest cadence is once", the_largest_cadence_is_once},
    {"a counter is read at the end", a_counter_is_read_at_the_end},
    {"metrics of one cadence take turns together", metrics_of_one_cadence_take_turns_together},
};
CHECK_TESTS(tests)
