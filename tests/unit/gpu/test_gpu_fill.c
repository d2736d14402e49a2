/* Filling a sample: rows in any order, what is wanted alone, and a device that is always there. */
#include "gpu_sample.h"

#include "gpu/fill.h"
#include "util/memory.h"

#include <string.h>

static struct gpu_sample sample;

static void begin(const vitals_metric *metrics)
{
    struct metric_set wanted = {0};
    for (; *metrics != 0; metrics++)
        metric_set_add(&wanted, *metrics);
    batch_reset(&sample.batch, &wanted);
    gpu_fill_begin(&sample, 42);
}
#define ASKED(...)          \
    (const vitals_metric[]) \
    {                       \
        __VA_ARGS__, 0      \
    }

static const struct batch_row *row(vitals_table entity, const char *label)
{
    return gpu_sample_row(&sample, entity, label);
}

static const struct batch_cell *cell(vitals_metric metric, const char *label)
{
    return gpu_sample_fact(&sample, metric, label);
}

static void a_row_is_made_of_readings_in_any_order(void)
{
    begin(ASKED(VITALS_GPU_POWER_WATTS, VITALS_GPU_CLOCK_FREQUENCY_HERTZ,
                VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ));
    gpu_fill_child(&sample, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm", value_f64(1));
    gpu_fill_child(&sample, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "memory", value_f64(2));
    gpu_fill(&sample, VITALS_GPU_POWER_WATTS, value_f64(3));
    gpu_fill_child(&sample, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "sm", value_f64(4));
    gpu_fill(&sample, VITALS_GPU_POWER_WATTS, value_f64(5)); /* takes the place of the first */
    CHECK(gpu_fill_has(&sample, VITALS_GPU_POWER_WATTS));
    gpu_fill_end(&sample);
    CHECK_UINT(sample.stamp_ns, 42);
    CHECK_INT(sample.state, VITALS_HAVE);
    CHECK_UINT(sample.batch.row_count, 3);
    CHECK_NEAR(cell(VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm")->as.f64, 1, 0);
    CHECK_NEAR(cell(VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "sm")->as.f64, 4, 0);
    CHECK_NULL(cell(VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "memory"));
    CHECK_NEAR(cell(VITALS_GPU_POWER_WATTS, "")->as.f64, 5, 0);
}

static void a_row_without_a_value_is_listed(void)
{
    begin(ASKED(VITALS_GPU_CLOCK_FREQUENCY_HERTZ));
    gpu_fill_child(&sample, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm", value_missing(VITALS_UNSET));
    CHECK_NOT_NULL(row(VITALS_TABLE_GPU_CLOCK, "sm"));
    CHECK_NULL(cell(VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm"));
}

static void what_is_not_wanted_is_passed_over(void)
{
    begin(ASKED(VITALS_GPU_POWER_WATTS, VITALS_GPU_SENSOR_FAN_RPM));
    gpu_fill(&sample, VITALS_GPU_ENERGY_JOULES, value_f64(1));
    gpu_fill_text(&sample, VITALS_GPU_SERIAL, "x");
    gpu_fill_child(&sample, VITALS_GPU_POOL_TOTAL_BYTES, "bar1", value_u64(1));
    CHECK_FALSE(gpu_fill_has(&sample, VITALS_GPU_ENERGY_JOULES));
    /* A table of which anything is wanted is listed whole, with what is wanted of it. */
    gpu_fill_child(&sample, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", value_f64(50));
    gpu_fill_end(&sample);
    CHECK_NULL(row(VITALS_TABLE_GPU_POOL, "bar1"));
    CHECK_NOT_NULL(row(VITALS_TABLE_GPU_SENSOR, "gpu"));
    CHECK_NULL(cell(VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu"));
}

static void a_device_that_has_nothing_of_it_is_there(void)
{
    begin(ASKED(VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND));
    gpu_fill_end(&sample);
    CHECK_NOT_NULL(row(VITALS_TABLE_GPU, ""));
    begin(ASKED(VITALS_GPU_SENSOR_FAN_RPM)); /* the device itself was not asked for */
    gpu_fill_end(&sample);
    CHECK_NULL(row(VITALS_TABLE_GPU, ""));
}

static void texts_and_labels_have_room_or_say_so(void)
{
    char longest[GPU_TEXT + 40];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    begin(ASKED(VITALS_GPU_SERIAL, VITALS_GPU_SENSOR_FAN_RPM));
    gpu_fill_text(&sample, VITALS_GPU_SERIAL, longest);
    gpu_fill_child(&sample, VITALS_GPU_SENSOR_FAN_RPM, longest, value_f64(1));
    gpu_fill_child(&sample, VITALS_GPU_SENSOR_FAN_RPM, longest, value_f64(2));
    gpu_fill_end(&sample);
    CHECK_INT(cell(VITALS_GPU_SERIAL, "")->state, VITALS_LOWER_BOUND);
    CHECK_UINT(batch_span(&sample.batch, cell(VITALS_GPU_SERIAL, "")).size, GPU_TEXT - 1);
    longest[GPU_LABEL - 1] = '\0';
    CHECK_NEAR(cell(VITALS_GPU_SENSOR_FAN_RPM, longest)->as.f64, 2, 0);
    CHECK_UINT(sample.batch.row_count, 2);
}

static void what_has_no_room_is_said_to_be_cut(void)
{
    begin(ASKED(VITALS_GPU_SENSOR_FAN_RPM));
    for (int i = 0; i < GPU_FILL_MAX + 5; i++) {
        char label[GPU_LABEL];
        snprintf(label, sizeof label, "fan%d", i);
        gpu_fill_child(&sample, VITALS_GPU_SENSOR_FAN_RPM, label, value_f64(i));
    }
    gpu_fill_end(&sample);
    CHECK_UINT(sample.batch.row_count, GPU_FILL_MAX);
    CHECK_INT(sample.batch.states[VITALS_TABLE_GPU_SENSOR], VITALS_LOWER_BOUND);
}

static void a_lost_device_has_no_rows(void)
{
    begin(ASKED(VITALS_GPU_POWER_WATTS));
    gpu_fill(&sample, VITALS_GPU_POWER_WATTS, value_f64(3));
    gpu_fill_lose(&sample, VITALS_SUSPENDED);
    CHECK_INT(sample.state, VITALS_SUSPENDED);
    CHECK_UINT(sample.batch.row_count, 0);
}

static void scaled_numbers_that_cannot_be_are_failed(void)
{
    CHECK_NEAR(gpu_fill_percent(50, 100).as.f64, 0.5, 0);
    CHECK_INT(gpu_fill_percent(101, 100).state, VITALS_FAILED);
    CHECK_NEAR(gpu_fill_scaled(2500, 1e-3, 10000).as.f64, 2.5, 1e-12);
    CHECK_INT(gpu_fill_scaled(UINT64_MAX, 1e-3, 10000).state, VITALS_FAILED);
}

static void no_allocation_that_fails_does_harm(void)
{
    for (uint64_t nth = 1; nth < 20; nth++) {
        batch_done(&sample.batch);
        memory_fail_at(nth);
        begin(ASKED(VITALS_GPU_POWER_WATTS, VITALS_GPU_SERIAL, VITALS_GPU_SENSOR_FAN_RPM));
        gpu_fill(&sample, VITALS_GPU_POWER_WATTS, value_f64(3));
        gpu_fill_text(&sample, VITALS_GPU_SERIAL, "serial");
        gpu_fill_child(&sample, VITALS_GPU_SENSOR_FAN_RPM, "fan0", value_f64(1));
        gpu_fill_end(&sample);
        memory_fail_at(0);
        CHECK(sample.batch.failed || sample.batch.row_count == 2);
        if (!sample.batch.failed) {
            CHECK(nth > 2);
            batch_done(&sample.batch);
            return;
        }
    }
    CHECK_FAIL("it never had enough memory");
}

static const check_test tests[] = {
    {"a row is made of readings in any order", a_row_is_made_of_readings_in_any_order},
    {"a row without a value is listed", a_row_without_a_value_is_listed},
    {"what is not wanted is passed over", what_is_not_wanted_is_passed_over},
    {"a device that has nothing of it is there", a_device_that_has_nothing_of_it_is_there},
    {"texts and labels have room, or say so", texts_and_labels_have_room_or_say_so},
    {"what has no room is said to be cut", what_has_no_room_is_said_to_be_cut},
    {"a lost device has no rows", a_lost_device_has_no_rows},
    {"scaled numbers that cannot be are failed", scaled_numbers_that_cannot_be_are_failed},
    {"no allocation that fails does harm", no_allocation_that_fails_does_harm},
};
CHECK_TESTS(tests)
