/* A source that answers late, and what histories make of it: a stale value is of the second in
 * which it was read, and of no other. */
#include "monitor_world.h"

#include <math.h>

enum { SECOND = 1000000000, BEGIN = 1000 };

/* What a device says at a second: a value that was read `age` seconds ago, and is stale if that is
 * not 0. Below 0: nothing, for `lost` or since no answer came in time. */
struct query_result {
    double busy, age;
    vitals_availability lost;
};

static vitals_builder *builder;
static struct monitor_options options;
static struct model model;

static void put_reading(vitals_metric metric, double value, double second, double age)
{
    vitals_availability state = age > 0 ? VITALS_STALE : VITALS_HAVE;
    if (vitals_metric_type(metric) == VITALS_F64)
        vitals_builder_f64(builder, metric, value, state);
    else
        vitals_builder_u64(builder, metric, (uint64_t)value, state);
    vitals_builder_read_at(builder, metric, (uint64_t)((second - age) * SECOND));
}

/* Two devices: one that answers as it is told, and one that is always half busy. */
static vitals_snapshot *snapshot_at(size_t second, const struct query_result *answer)
{
    static const vitals_metric GPU[] = {VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_GPU_MEMORY_USED_BYTES,
                                        VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_POWER_WATTS};
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    double now = BEGIN + (double)second;
    uint64_t now_ns = (uint64_t)(now * SECOND);
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text_of("n01"), text_of("boot"), 1);
    vitals_builder_stream(builder, 7);
    vitals_builder_moment(builder, now_ns, now_ns, now_ns, second + 1);
    vitals_builder_table(builder, VITALS_TABLE_GPU, GPU, CHECK_COUNT(GPU));
    for (unsigned i = 0; i < 2; i++) {
        double busy = i == 0 ? answer->busy : 0.5, age = i == 0 ? answer->age : 0;
        vitals_availability lost = answer->lost != 0 ? answer->lost : VITALS_TIMED_OUT;
        vitals_builder_row(builder, VITALS_TABLE_GPU, i + 1, 0, text_of(i == 0 ? "0" : "1"),
                           now_ns);
        put_number(builder, VITALS_GPU_MEMORY_TOTAL_BYTES, 80.0 * (double)GIB);
        for (size_t j = 1; busy < 0 && j < CHECK_COUNT(GPU); j++)
            vitals_builder_missing(builder, GPU[j], lost);
        if (busy < 0)
            continue;
        put_reading(VITALS_GPU_MEMORY_USED_BYTES, busy * 80.0 * (double)GIB, now, age);
        put_reading(VITALS_GPU_UTILIZATION_RATIO, busy, now, age);
        put_reading(VITALS_GPU_POWER_WATTS, busy * 700, now, age);
    }
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    return snapshot;
}

/* As `want` says of each second; below 0: nothing is known. */
static void check_histories(const struct query_result *answers, const double *want, size_t count)
{
    const struct device_history *own = model_device_history(&model, 1);
    CHECK_NOT_NULL(own);
    const struct history *histories[] = {&own->busy, &own->memory, &own->power};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < 3; j++) {
            double value = history_get(histories[j], count - 1 - i);
            double scale = j == 2 ? 700 : 1;
            if (want[i] < 0 ? !isnan(value) : !(fabs(value - want[i] * scale) < 1e-3))
                CHECK_FAIL("history %zu, second %zu: %g, not %g", j, i, value, want[i] * scale);
        }
        bool both = answers[i].busy >= 0 && answers[i].age == 0;
        CHECK(isnan(history_get(&model.history->gpu_busy, count - 1 - i)) == !both);
    }
}

static void forward(const struct query_result *answers, const double *want, size_t count)
{
    CHECK_INT(model_init(&model, &options), 0);
    for (size_t i = 0; i < count; i++)
        model_add_machine(&model, snapshot_at(i, &answers[i]));
    check_histories(answers, want, count);
    model_done(&model);
}

/* As a recording is looked back over. */
static void backward(const struct query_result *answers, const double *want, size_t count)
{
    vitals_snapshot *known = snapshot_at(count - 1, &answers[count - 1]);
    CHECK_INT(model_init(&model, &options), 0);
    model_graphs_begin(&model, NULL, known);
    for (size_t i = count - 1; i-- > 0;) {
        vitals_snapshot *older = snapshot_at(i, &answers[i]);
        model_graphs_add_before(&model, known, older);
        vitals_snapshot_unref(known);
        known = older;
    }
    vitals_snapshot_unref(known);
    check_histories(answers, want, count);
    model_done(&model);
}

static void check_both(const struct query_result *answers, const double *want, size_t count)
{
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    forward(answers, want, count);
    backward(answers, want, count);
    vitals_builder_free(builder);
}

static void a_source_that_hangs_draws_no_line(void)
{
    static const struct query_result ANSWERS[] = {{0.2, 0, 0}, {0.3, 0, 0}, {0.3, 1, 0},
                                                  {0.3, 2, 0}, {0.3, 3, 0}, {0.3, 4, 0},
                                                  {0.9, 0, 0}, {0.8, 0, 0}};
    static const double WANT[] = {0.2, 0.3, -1, -1, -1, -1, 0.9, 0.8};
    check_both(ANSWERS, WANT, CHECK_COUNT(WANT));
}

/* Each answer comes a second after its question, so that none is ever fresh: all are kept. */
static void a_source_that_is_always_late_is_kept(void)
{
    static const struct query_result ANSWERS[] = {
        {-1, 0, 0}, {0.1, 1, 0}, {0.2, 1, 0}, {0.3, 1, 0}, {0.4, 1, 0}};
    static const double WANT[] = {0.1, 0.2, 0.3, 0.4, -1};
    check_both(ANSWERS, WANT, CHECK_COUNT(WANT));
}

/* The first answer of a device that takes five seconds for each. */
static void an_answer_that_took_long_is_of_then(void)
{
    static const struct query_result ANSWERS[] = {{-1, 0, 0},  {-1, 0, 0}, {-1, 0, 0},
                                                  {-1, 0, 0},  {-1, 0, 0}, {0.7, 5, 0},
                                                  {0.7, 6, 0}, {0.7, 7, 0}};
    static const double WANT[] = {0.7, -1, -1, -1, -1, -1, -1, -1};
    check_both(ANSWERS, WANT, CHECK_COUNT(WANT));
}

/* Where one of the two is late nothing is known of their mean; what one does not have is in none.
 */
static void a_mean_of_what_is_missing_is_missing(void)
{
    static const struct query_result ANSWERS[] = {
        {0.1, 0, 0},
        {0.1, 1, 0},
        {-1, 0, VITALS_TIMED_OUT},
        {-1, 0, VITALS_FAILED},
        {-1, 0, VITALS_NOT_YET},
        {-1, 0, VITALS_UNSUPPORTED},
        {-1, 0, VITALS_DENIED},
        {-1, 0, VITALS_SUSPENDED},
        {-1, 0, VITALS_GONE},
        {0.3, 0, 0},
    };
    static const double MEANS[] = {0.3, -1, -1, -1, -1, 0.5, 0.5, 0.5, 0.5, 0.4};
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    CHECK_INT(model_init(&model, &options), 0);
    for (size_t i = 0; i < CHECK_COUNT(ANSWERS); i++) {
        model_add_machine(&model, snapshot_at(i, &ANSWERS[i]));
        const struct history *const means[] = {&model.history->gpu_busy,
                                               &model.history->gpu_memory};
        for (size_t j = 0; j < CHECK_COUNT(means); j++) {
            double mean = history_get(means[j], 0);
            if (MEANS[i] < 0 ? !isnan(mean) : !(fabs(mean - MEANS[i]) < 1e-5))
                CHECK_FAIL("mean %zu, second %zu: %g, not %g", j, i, mean, MEANS[i]);
        }
    }
    model_done(&model);
    vitals_builder_free(builder);
}

static void a_lost_device_is_called_so(void)
{
    static const struct query_result LOST = {-1, 0, VITALS_GONE};
    static struct monitor monitor;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    CHECK_INT(monitor_init(&monitor, &options), 0);
    monitor_resize(&monitor, 80, 40);
    model_add_machine(&monitor.model, snapshot_at(0, &LOST));
    monitor_settle(&monitor);
    press_keys(&monitor, "d\n");
    CHECK_CONTAINS(world_screen(&monitor), " Utilization lost ");
    world_close(&monitor, builder);
}

static const check_test tests[] = {
    {"a source that hangs draws no line", a_source_that_hangs_draws_no_line},
    {"a source that is always late is kept", a_source_that_is_always_late_is_kept},
    {"an answer that took long is of then", an_answer_that_took_long_is_of_then},
    {"a mean of what is missing is missing", a_mean_of_what_is_missing_is_missing},
    {"a lost device is called so", a_lost_device_is_called_so},
};
CHECK_TESTS(tests)
