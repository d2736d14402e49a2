/* Rates: growth of a counter between two snapshots, and every reason why there is none. */
#include "check.h"

#include "util/base.h"
#include <vitals/sys/builder.h>

#include <math.h>

static vitals_text text(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

/* One process at one moment. */
struct moment {
    uint64_t stamp_ns;
    double cpu_seconds;
    vitals_availability state;
    uint64_t key;
    const char *boot_id;
    uint64_t pid_namespace;
    uint64_t pid;
    uint64_t stream;
    uint64_t read_ns; /* of the counters; 0: with the row */
};

static struct moment moment(uint64_t stamp_ns, double cpu_seconds)
{
    return (struct moment){stamp_ns, cpu_seconds, VITALS_HAVE, 1, "boot", 1, 100, 9, 0};
}

static vitals_builder *new_builder(void)
{
    vitals_builder *builder = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    return builder;
}

static vitals_snapshot *finish_and_free(vitals_builder *builder)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    vitals_builder_free(builder);
    return snapshot;
}

static vitals_snapshot *snapshot_of(struct moment at)
{
    static const vitals_metric COLUMNS[] = {VITALS_PROCESS_PID, VITALS_PROCESS_CPU_SECONDS,
                                            VITALS_PROCESS_MINOR_FAULTS, VITALS_PROCESS_NAME};
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text("host"), text(at.boot_id), at.pid_namespace);
    vitals_builder_stream(builder, at.stream);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, COLUMNS, CHECK_COUNT(COLUMNS));
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, at.key, 0, text("x"), at.stamp_ns);
    vitals_builder_u64(builder, VITALS_PROCESS_PID, at.pid, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_PROCESS_CPU_SECONDS, at.cpu_seconds, at.state);
    bool countable = at.cpu_seconds >= 0 && at.cpu_seconds < 1e19;
    vitals_builder_u64(builder, VITALS_PROCESS_MINOR_FAULTS,
                       countable ? (uint64_t)at.cpu_seconds : 0, at.state);
    if (at.read_ns != 0) {
        vitals_builder_read_at(builder, VITALS_PROCESS_CPU_SECONDS, at.read_ns);
        vitals_builder_read_at(builder, VITALS_PROCESS_MINOR_FAULTS, at.read_ns);
    }
    return finish_and_free(builder);
}

/* What comes out between the two; where there is no number, 77 stays. */
struct query_result {
    vitals_availability rate_state, growth_state;
    double rate, growth, window_seconds;
};

static struct query_result between(struct moment older, struct moment newer, vitals_metric metric)
{
    vitals_snapshot *before = snapshot_of(older), *now = snapshot_of(newer);
    const vitals_row *row = vitals_snapshot_next(now, VITALS_TABLE_PROCESS, NULL);
    struct query_result answer = {.rate = 77, .growth = 77, .window_seconds = 77};
    answer.rate_state = vitals_row_rate(row, before, metric, &answer.rate);
    answer.growth_state = vitals_row_growth(row, before, metric, &answer.growth,
                                            &answer.window_seconds);
    vitals_snapshot_unref(before);
    vitals_snapshot_unref(now);
    return answer;
}

static void check_none(struct query_result answer, vitals_availability state)
{
    CHECK_INT(answer.rate_state, state);
    CHECK_INT(answer.growth_state, state);
    CHECK_NEAR(answer.rate, 77, 0);
    CHECK_NEAR(answer.growth, 77, 0);
    CHECK_NEAR(answer.window_seconds, 77, 0);
}

enum { S = 1000000000 };

static void a_counter_that_grew_has_a_rate(void)
{
    struct query_result answer = between(moment(5 * (uint64_t)S, 10), moment(9 * (uint64_t)S, 13),
                                         VITALS_PROCESS_CPU_SECONDS);
    CHECK_INT(answer.rate_state, VITALS_HAVE);
    CHECK_INT(answer.growth_state, VITALS_HAVE);
    CHECK_NEAR(answer.rate, 0.75, 0);
    CHECK_NEAR(answer.growth, 3, 0);
    CHECK_NEAR(answer.window_seconds, 4, 0);

    answer = between(moment(S, 10), moment(2 * (uint64_t)S, 10), VITALS_PROCESS_CPU_SECONDS);
    CHECK_INT(answer.rate_state, VITALS_HAVE);
    CHECK_NEAR(answer.rate, 0, 0); /* idle is a number */
}

static void counts_have_rates_over_any_window(void)
{
    struct query_result answer = between(moment(1000, 10), moment(1001, 12),
                                         VITALS_PROCESS_MINOR_FAULTS);
    CHECK_INT(answer.rate_state, VITALS_HAVE);
    CHECK_NEAR(answer.rate, 2e9, 1);
    CHECK_NEAR(answer.growth, 2, 0);
}

static void there_is_none_without_an_older_row(void)
{
    struct moment newer = moment(2 * (uint64_t)S, 2), older = moment(S, 1);
    vitals_snapshot *now = snapshot_of(newer);
    const vitals_row *row = vitals_snapshot_next(now, VITALS_TABLE_PROCESS, NULL);
    double out = 77;
    CHECK_INT(vitals_row_rate(row, NULL, VITALS_PROCESS_CPU_SECONDS, &out), VITALS_NOT_YET);
    CHECK_INT(vitals_row_growth(row, NULL, VITALS_PROCESS_CPU_SECONDS, &out, NULL), VITALS_NOT_YET);
    CHECK_INT(vitals_row_rate(row, now, VITALS_PROCESS_CPU_SECONDS, &out), VITALS_NOT_YET);
    CHECK_NEAR(out, 77, 0);
    vitals_snapshot_unref(now);

    struct moment other = older;
    other.key = 2;
    check_none(between(other, newer, VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);
    other = older;
    other.boot_id = "another boot";
    check_none(between(other, newer, VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);
    other.boot_id = "boo";
    check_none(between(other, newer, VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);
    other = older;
    other.pid_namespace = 2;
    check_none(between(other, newer, VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);
    /* A key of another sampler: the same number, another process. */
    other = older;
    other.stream = 8;
    check_none(between(other, newer, VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);
    other.stream = 0;
    check_none(between(other, newer, VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);
}

/* Without the sampler's id, values that do not move tell things apart. */
static void without_a_stream_a_thing_must_look_the_same(void)
{
    struct moment newer = moment(2 * (uint64_t)S, 2), older = moment(S, 1);
    newer.stream = older.stream = 0;
    CHECK_INT(between(older, newer, VITALS_PROCESS_CPU_SECONDS).rate_state, VITALS_HAVE);
    older.pid = 101;
    check_none(between(older, newer, VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);
}

static vitals_snapshot *device(const char *uuid, vitals_availability state, uint64_t stamp_ns)
{
    static const vitals_metric COLUMNS[] = {VITALS_GPU_UUID, VITALS_GPU_COMPUTE_MODE,
                                            VITALS_GPU_ENERGY_JOULES};
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    vitals_builder_table(builder, VITALS_TABLE_GPU, COLUMNS, CHECK_COUNT(COLUMNS));
    vitals_builder_row(builder, VITALS_TABLE_GPU, 1, 0, text("0"), stamp_ns);
    vitals_builder_text(builder, VITALS_GPU_UUID, text(uuid), state);
    vitals_builder_text(builder, VITALS_GPU_COMPUTE_MODE, text(stamp_ns == S ? "default" : "x"),
                        VITALS_HAVE); /* a gauge may move */
    vitals_builder_f64(builder, VITALS_GPU_ENERGY_JOULES, 5, VITALS_HAVE);
    return finish_and_free(builder);
}

static void names_that_do_not_move_are_compared(void)
{
    static const struct {
        const char *older, *newer;
        vitals_availability state, expected;
    } CASES[] = {
        {"GPU-1", "GPU-1", VITALS_HAVE, VITALS_HAVE},
        {"GPU-1", "GPU-2", VITALS_HAVE, VITALS_NOT_YET},
        {"GPU-1", "GPU-12", VITALS_HAVE, VITALS_NOT_YET},
        {"GPU-1", "GPU-2", VITALS_DENIED, VITALS_HAVE}, /* not known is not different */
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        vitals_snapshot *older = device(CASES[i].older, VITALS_HAVE, S);
        vitals_snapshot *newer = device(CASES[i].newer, CASES[i].state, 2 * (uint64_t)S);
        const vitals_row *row = vitals_snapshot_next(newer, VITALS_TABLE_GPU, NULL);
        double out;
        CHECK_CASE(CASES[i].newer);
        CHECK_INT(vitals_row_growth(row, older, VITALS_GPU_ENERGY_JOULES, &out, NULL),
                  CASES[i].expected);
        vitals_snapshot_unref(older);
        vitals_snapshot_unref(newer);
    }
}

/* A value that is not read at each tick: its own two moments count, not those of the rows. */
static void the_window_is_between_the_readings_of_the_value(void)
{
    struct moment older = moment(10 * (uint64_t)S, 1), newer = moment(11 * (uint64_t)S, 3);
    older.read_ns = 4 * (uint64_t)S;
    newer.read_ns = 8 * (uint64_t)S;
    struct query_result answer = between(older, newer, VITALS_PROCESS_CPU_SECONDS);
    CHECK_INT(answer.rate_state, VITALS_HAVE);
    CHECK_NEAR(answer.rate, 0.5, 0);
    CHECK_NEAR(answer.window_seconds, 4, 0);

    older.read_ns = newer.read_ns; /* it was not due: the same reading */
    check_none(between(older, newer, VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);
    older.read_ns = newer.read_ns + 1;
    check_none(between(older, newer, VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);

    older.read_ns = 8 * (uint64_t)S - 8999; /* nine steps of 1 µs, of the value's time */
    CHECK_INT(between(older, newer, VITALS_PROCESS_CPU_SECONDS).rate_state, VITALS_NOT_YET);
    older.read_ns--;
    CHECK_INT(between(older, newer, VITALS_PROCESS_CPU_SECONDS).rate_state, VITALS_HAVE);
}

static void there_is_none_where_older_is_not_older(void)
{
    check_none(between(moment(S, 1), moment(S, 2), VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);
    check_none(between(moment(2 * (uint64_t)S, 1), moment(S, 2), VITALS_PROCESS_CPU_SECONDS),
               VITALS_NOT_YET);
}

static void there_is_none_where_the_counter_ran_backwards(void)
{
    check_none(between(moment(S, 2), moment(2 * (uint64_t)S, 1.999), VITALS_PROCESS_CPU_SECONDS),
               VITALS_NOT_YET);
    check_none(between(moment(S, 9), moment(2 * (uint64_t)S, 8), VITALS_PROCESS_MINOR_FAULTS),
               VITALS_NOT_YET);
}

/* cpu_seconds steps by 1 µs, and by 10 ms where it is an estimate. */
static void a_rate_needs_ten_steps(void)
{
    static const struct {
        const char *name;
        vitals_availability older, newer;
        uint64_t window_ns;
        vitals_availability expected;
    } CASES[] = {
        {"fine, too short", VITALS_HAVE, VITALS_HAVE, 8999, VITALS_NOT_YET},
        {"fine, ten steps", VITALS_HAVE, VITALS_HAVE, 10000, VITALS_HAVE},
        {"fine, a little early", VITALS_HAVE, VITALS_HAVE, 9000, VITALS_HAVE},
        {"newer is coarse, too short", VITALS_HAVE, VITALS_ESTIMATE, 89999999, VITALS_NOT_YET},
        {"newer is coarse, ten steps", VITALS_HAVE, VITALS_ESTIMATE, 90000000, VITALS_ESTIMATE},
        {"older is coarse, too short", VITALS_ESTIMATE, VITALS_HAVE, 89999999, VITALS_NOT_YET},
        {"older is coarse, ten steps", VITALS_ESTIMATE, VITALS_HAVE, 100000000, VITALS_ESTIMATE},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct moment older = moment(S, 1), newer = moment(S + CASES[i].window_ns, 2);
        older.state = CASES[i].older;
        newer.state = CASES[i].newer;
        struct query_result answer = between(older, newer, VITALS_PROCESS_CPU_SECONDS);
        CHECK_CASE(CASES[i].name);
        CHECK_INT(answer.rate_state, CASES[i].expected);
        if (CASES[i].expected < 0)
            CHECK_NEAR(answer.rate, 77, 0);
        CHECK(answer.growth_state > 0); /* growth needs no shortest window */
        CHECK_NEAR(answer.growth, 1, 0);
    }
}

static void it_is_as_good_as_the_worse_value(void)
{
    static const struct {
        vitals_availability older, newer, expected;
    } CASES[] = {
        {VITALS_HAVE, VITALS_HAVE, VITALS_HAVE},
        {VITALS_HAVE, VITALS_SAMPLED, VITALS_SAMPLED},
        {VITALS_SAMPLED, VITALS_HAVE, VITALS_SAMPLED},
        {VITALS_SAMPLED, VITALS_ESTIMATE, VITALS_ESTIMATE},
        {VITALS_HAVE, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
        {VITALS_HAVE, VITALS_UPPER_BOUND, VITALS_UPPER_BOUND},
        {VITALS_SAMPLED, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
        /* Less then means more growth. */
        {VITALS_LOWER_BOUND, VITALS_HAVE, VITALS_UPPER_BOUND},
        {VITALS_UPPER_BOUND, VITALS_HAVE, VITALS_LOWER_BOUND},
        {VITALS_UPPER_BOUND, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
        {VITALS_LOWER_BOUND, VITALS_UPPER_BOUND, VITALS_UPPER_BOUND},
        {VITALS_LOWER_BOUND, VITALS_LOWER_BOUND, VITALS_ESTIMATE},
        {VITALS_ESTIMATE, VITALS_LOWER_BOUND, VITALS_ESTIMATE},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct moment older = moment(S, 1), newer = moment(3 * (uint64_t)S, 2);
        older.state = CASES[i].older;
        newer.state = CASES[i].newer;
        struct query_result answer = between(older, newer, VITALS_PROCESS_CPU_SECONDS);
        char name[64];
        snprintf(name, sizeof name, "%s then %s", vitals_availability_name(older.state),
                 vitals_availability_name(newer.state));
        CHECK_CASE(name);
        CHECK_INT(answer.rate_state, CASES[i].expected);
        CHECK_INT(answer.growth_state, CASES[i].expected);
        CHECK_NEAR(answer.rate, 0.5, 0);
    }
}

static void what_is_stale_or_missing_has_none(void)
{
    for (int state = VITALS_AVAILABILITY_MIN; state <= VITALS_STALE; state++) {
        if (state == VITALS_HAVE)
            continue;
        struct moment older = moment(S, 1), newer = moment(2 * (uint64_t)S, 2);
        CHECK_CASE(vitals_availability_name((vitals_availability)state));
        newer.state = (vitals_availability)state;
        check_none(between(older, newer, VITALS_PROCESS_CPU_SECONDS),
                   state == VITALS_STALE ? VITALS_NOT_YET : (vitals_availability)state);
        newer.state = VITALS_HAVE;
        older.state = (vitals_availability)state;
        check_none(between(older, newer, VITALS_PROCESS_CPU_SECONDS), VITALS_NOT_YET);
    }
}

static void only_counters_have_rates(void)
{
    struct moment older = moment(S, 1), newer = moment(2 * (uint64_t)S, 2);
    check_none(between(older, newer, VITALS_PROCESS_PID), VITALS_WRONG_METRIC);
    check_none(between(older, newer, VITALS_PROCESS_RESIDENT_BYTES), VITALS_WRONG_METRIC);
    check_none(between(older, newer, VITALS_PROCESS_NAME), VITALS_WRONG_METRIC);
    check_none(between(older, newer, VITALS_HOST_FORKS), VITALS_WRONG_METRIC);
    check_none(between(older, newer, 0x08ff), VITALS_WRONG_METRIC);
    check_none(between(older, newer, VITALS_PROCESS_MAJOR_FAULTS), VITALS_NOT_REQUESTED);
}

static void what_cannot_be_a_number_is_none(void)
{
    struct query_result answer = between(moment(S, -1e308), moment(2 * (uint64_t)S, 1e308),
                                         VITALS_PROCESS_CPU_SECONDS);
    check_none(answer, VITALS_FAILED);
    answer = between(moment(S, 0), moment(S + 10000, 1e308), VITALS_PROCESS_CPU_SECONDS);
    CHECK_INT(answer.rate_state, VITALS_FAILED);
    CHECK_INT(answer.growth_state, VITALS_HAVE);
    CHECK_NEAR(answer.rate, 77, 0);
}

/* A count that has reached 2^53 stands still there; that is no rate of 0. */
static void a_saturated_counter_has_none(void)
{
    struct moment older = moment(S, 9.1e15), newer = moment(2 * (uint64_t)S, 9.2e15);
    check_none(between(older, newer, VITALS_PROCESS_MINOR_FAULTS), VITALS_NOT_YET);
    older.cpu_seconds = 9007199254740000;
    struct query_result answer = between(older, newer, VITALS_PROCESS_MINOR_FAULTS);
    CHECK_INT(answer.rate_state, VITALS_LOWER_BOUND);
    CHECK_NEAR(answer.growth, 992, 0);
}

static const check_test tests[] = {
    {"a counter that grew has a rate", a_counter_that_grew_has_a_rate},
    {"counts have rates over any window", counts_have_rates_over_any_window},
    {"there is none without an older row", there_is_none_without_an_older_row},
    {"without a stream a thing must look the same", without_a_stream_a_thing_must_look_the_same},
    {"names that do not move are compared", names_that_do_not_move_are_compared},
    {"the window is between the readings of the value",
     the_window_is_between_the_readings_of_the_value},
    {"there is none where older is not older", there_is_none_where_older_is_not_older},
    {"there is none where the counter ran backwards",
     there_is_none_where_the_counter_ran_backwards},
    {"a rate needs ten steps", a_rate_needs_ten_steps},
    {"it is as good as the worse value", it_is_as_good_as_the_worse_value},
    {"what is stale or missing has none", what_is_stale_or_missing_has_none},
    {"only counters have rates", only_counters_have_rates},
    {"what cannot be a number is none", what_cannot_be_a_number_is_none},
    {"a saturated counter has none", a_saturated_counter_has_none},
};
CHECK_TESTS(tests)
