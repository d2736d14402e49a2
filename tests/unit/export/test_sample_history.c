/* The last hour, as the server keeps it for its page: what is a point, what a gap, what is
 * forgotten, and that its document is JSON whatever a device is called. */
#include "check.h"

#include "export/sample.h"
#include "export/server/page.h"

#include <jansson.h>

enum { SECOND = 1000000000 };
static const uint64_t ORIGIN_NS = 90000ull * SECOND, WALL_NS = 1795188600ull * SECOND;

/* A machine with one device; what its JSON is made of. */
struct point {
    double at;   /* seconds since the beginning */
    double wall; /* the wall clock's, likewise; 0: the same */
    unsigned stream;
    const char *busy, *memory; /* of the host: values or null */
    const char *gpus;          /* rows; NULL: none */
};

static struct sample *sample_of(const struct point *point)
{
    static char json[200000];
    uint64_t after = (uint64_t)(point->at * SECOND), boot = ORIGIN_NS + after;
    uint64_t wall = point->wall != 0 ? (uint64_t)(point->wall * SECOND) : after;
    int size = snprintf(
        json, sizeof json,
        "{\"schema\":1,\"vitals\":\"0.1.0\",\"host\":{\"name\":\"n\",\"boot_id\":\"b\","
        "\"pid_namespace\":1},\"realtime_ns\":\"%llu\",\"boottime_ns\":\"%llu\","
        "\"monotonic_ns\":\"%llu\",\"stream\":%u,\"sequence\":%u,\"columns\":{"
        "\"host\":[\"cpu_busy_seconds\",\"memory_used_bytes\"],"
        "\"gpu\":[\"utilization_ratio\",\"busy_seconds\",\"power_watts\"]},\"tables\":{"
        "\"host\":[{\"key\":1,\"label\":\"host\",\"age_ns\":0,\"cpu_busy_seconds\":%s,"
        "\"memory_used_bytes\":%s%s}],\"gpu\":[%s]}}",
        (unsigned long long)(WALL_NS + wall), (unsigned long long)boot, (unsigned long long)boot,
        point->stream != 0 ? point->stream : 7, 1 + (unsigned)point->at, point->busy, point->memory,
        strcmp(point->memory, "null") == 0 ? ",\"availability\":{\"memory_used_bytes\":\"denied\"}"
                                           : "",
        point->gpus != NULL ? point->gpus : "");
    CHECK(size > 0 && (size_t)size < sizeof json);
    struct sample *moment = sample_new(json, (size_t)size, boot);
    CHECK_NOT_NULL(moment);
    if (sample_snapshot(moment) == NULL)
        CHECK_FAIL("%s", "the sample is no snapshot");
    return moment;
}

static void take(struct history_store *history, const struct point *point)
{
    struct sample *moment = sample_of(point);
    history_take(history, sample_snapshot(moment));
    sample_unref(moment);
}

static json_t *document_of(const struct history_store *history)
{
    struct buffer text = {.bytes = NULL};
    json_error_t error;
    history_write(history, &text);
    CHECK_FALSE(text.failed);
    json_t *document = json_loadb(text.bytes, text.size, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL)
        CHECK_FAIL("%s at %d", error.text, error.position);
    buffer_done(&text);
    return document;
}

static const json_t *values_of(const json_t *document, const char *metric, const char *label)
{
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(document, "lines"), i, line)
    {
        if (strcmp(json_string_value(json_object_get(line, "metric")), metric) == 0 &&
            strcmp(json_string_value(json_object_get(line, "label")), label) == 0)
            return json_object_get(line, "values");
    }
    return NULL;
}

static double value_at(const json_t *values, size_t i)
{
    const json_t *value = json_array_get(values, i);
    CHECK(json_is_number(value));
    return json_number_value(value);
}

static void a_point_every_five_seconds_with_the_rate_between(void)
{
    struct history_store *history = history_new();
    char busy[32];
    for (int second = 0; second < 60; second++) {
        snprintf(busy, sizeof busy, "%.1f", 100 + 2.5 * second);
        take(history, &(struct point){.at = second, .busy = busy, .memory = "4096"});
    }
    json_t *document = document_of(history);
    const json_t *times = json_object_get(document, "realtime_ms");
    const json_t *rates = values_of(document, "cpu_busy_seconds_per_second", "host");
    const json_t *memory = values_of(document, "memory_used_bytes", "host");
    CHECK_UINT(json_array_size(times), 12);
    CHECK_UINT(json_array_size(rates), 12);
    CHECK(json_is_null(json_array_get(rates, 0)));
    for (size_t i = 1; i < 12; i++) {
        CHECK_INT(json_integer_value(json_array_get(times, i)) -
                      json_integer_value(json_array_get(times, i - 1)),
                  5000);
        CHECK_NEAR(value_at(rates, i), 2.5, 1e-4);
        CHECK_NEAR(value_at(memory, i), 4096, 0);
    }
    CHECK_INT(json_integer_value(json_array_get(times, 11)),
              (json_int_t)(WALL_NS / 1000000) + 55000);
    json_decref(document);
    history_free(history);
}

static void what_was_missing_is_a_gap_and_never_zero(void)
{
    struct history_store *history = history_new();
    take(history, &(struct point){.at = 0, .busy = "1", .memory = "4096"});
    take(history, &(struct point){.at = 5, .busy = "1", .memory = "null"});
    take(history, &(struct point){.at = 10, .busy = "1", .memory = "0"});
    json_t *document = document_of(history);
    const json_t *memory = values_of(document, "memory_used_bytes", "host");
    CHECK_NEAR(value_at(memory, 0), 4096, 0);
    CHECK(json_is_null(json_array_get(memory, 1)));
    CHECK_NEAR(value_at(memory, 2), 0, 0);
    CHECK_NOT_NULL(json_object_get(json_object_get(document, "availability"), "denied"));
    json_decref(document);
    history_free(history);
}

#define GPU(key, label, use, busy, power)                                    \
    "{\"key\":" key ",\"parent\":null,\"label\":\"" label "\",\"age_ns\":0," \
    "\"utilization_ratio\":" use ",\"busy_seconds\":" busy ",\"power_watts\":" power "}"

/* A device whose driver does not count: how busy it is, and how good that is. */
#define USE(busy, quality, age_ns)                                                        \
    "{\"key\":1,\"parent\":null,\"label\":\"0\",\"age_ns\":0,\"utilization_ratio\":" busy \
    ",\"busy_seconds\":null,\"power_watts\":90,\"availability\":{" quality                \
    "\"busy_seconds\":\"unsupported\"},\"ages_ns\":{\"utilization_ratio\":" age_ns "}}"
#define LATE "\"utilization_ratio\":\"stale\","

static void what_came_late_is_no_point_again(void)
{
    static const struct {
        const char *gpu;
        double use; /* below 0: null */
    } POINTS[] = {
        {USE("0.5", "", "1000"), 0.5},
        {USE("0.5", LATE, "5000000000"), -1}, /* the same again */
        {USE("0.5", LATE, "10000000000"), -1},
        {USE("0.7", LATE, "1000000000"), 0.7}, /* it was late, and is of this point */
        {USE("0.7", LATE, "6000000000"), -1},
        {USE("0.9", "", "1000"), 0.9},
    };
    struct history_store *history = history_new();
    for (size_t i = 0; i < CHECK_COUNT(POINTS); i++)
        take(history,
             &(struct point){
                 .at = 5.0 * (double)i, .busy = "1", .memory = "1", .gpus = POINTS[i].gpu});
    json_t *document = document_of(history);
    const json_t *use = values_of(document, "utilization_ratio", "0");
    const json_t *power = values_of(document, "power_watts", "0");
    for (size_t i = 0; i < CHECK_COUNT(POINTS); i++) {
        CHECK_NEAR(value_at(power, i), 90, 0);
        if (POINTS[i].use < 0)
            CHECK(json_is_null(json_array_get(use, i)));
        else
            CHECK_NEAR(value_at(use, i), POINTS[i].use, 1e-6);
    }
    json_decref(document);
    history_free(history);
}

static void an_hour_is_kept_and_no_more(void)
{
    struct history_store *history = history_new();
    char memory[32];
    for (unsigned point = 0; point < 1000; point++) {
        snprintf(memory, sizeof memory, "%u", point);
        take(history,
             &(struct point){.at = 5.0 * point,
                             .busy = "1",
                             .memory = memory,
                             .gpus = point < 100 ? GPU("1", "0", "0.5", "1", "90") : NULL});
        /* The device's last value was at point 99. */
        if (point == 99 + HISTORY_POINTS - 1 || point == 99 + HISTORY_POINTS) {
            json_t *document = document_of(history);
            const json_t *power = values_of(document, "power_watts", "0");
            CHECK_CASE(memory);
            CHECK_INT(power != NULL, point < 99 + HISTORY_POINTS);
            if (power != NULL)
                CHECK_NEAR(value_at(power, 0), 90, 0);
            json_decref(document);
        }
    }
    json_t *document = document_of(history);
    const json_t *values = values_of(document, "memory_used_bytes", "host");
    CHECK_UINT(json_array_size(values), HISTORY_POINTS);
    CHECK_NEAR(value_at(values, 0), 1000 - HISTORY_POINTS, 0);
    CHECK_NEAR(value_at(values, HISTORY_POINTS - 1), 999, 0);
    json_decref(document);
    history_free(history);
}

static void a_device_is_as_busy_as_its_counter_says(void)
{
    struct history_store *history = history_new();
    take(history, &(struct point){
                      .at = 0, .busy = "1", .memory = "1", .gpus = GPU("1", "0", "1", "10", "1")});
    take(history, &(struct point){
                      .at = 5, .busy = "1", .memory = "1", .gpus = GPU("1", "0", "1", "11", "1")});
    take(history, &(struct point){
                      .at = 10, .busy = "1", .memory = "1", .gpus = GPU("1", "0", "1", "17", "1")});
    json_t *document = document_of(history);
    const json_t *use = values_of(document, "utilization_ratio", "0");
    CHECK_NEAR(value_at(use, 0), 1, 0);      /* there is no window yet: as the driver says */
    CHECK_NEAR(value_at(use, 1), 0.2, 1e-4); /* one second of five */
    CHECK_NEAR(value_at(use, 2), 1, 0);      /* six of five: no more than all */
    json_decref(document);
    history_free(history);
}

static void times_grow_whatever_is_done_to_the_wall_clock(void)
{
    struct history_store *history = history_new();
    take(history, &(struct point){.at = 5, .wall = 9000, .busy = "1", .memory = "1"});
    take(history, &(struct point){.at = 10, .wall = 20, .busy = "1", .memory = "1"});
    take(history, &(struct point){.at = 15, .wall = 25, .busy = "1", .memory = "1"});
    json_t *document = document_of(history);
    const json_t *times = json_object_get(document, "realtime_ms");
    json_int_t end = (json_int_t)(WALL_NS / 1000000) + 25000;
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(json_integer_value(json_array_get(times, i)), end - 5000 * (json_int_t)(2 - i));
    json_decref(document);
    history_free(history);
}

static void another_sampler_begins_anew(void)
{
    struct history_store *history = history_new();
    take(history, &(struct point){.at = 0, .busy = "1", .memory = "1"});
    take(history, &(struct point){.at = 5, .busy = "1", .memory = "1"});
    take(history, &(struct point){.at = 10, .stream = 8, .busy = "1", .memory = "1"});
    json_t *document = document_of(history);
    CHECK_UINT(json_array_size(json_object_get(document, "realtime_ms")), 1);
    json_decref(document);
    history_free(history);
}

static void what_is_too_many_is_left_out_and_counted(void)
{
    static char gpus[150000];
    size_t size = 0;
    enum { GPUS = 400 };
    for (unsigned i = 1; i <= GPUS; i++)
        size += (size_t)snprintf(gpus + size, sizeof gpus - size,
                                 "%s{\"key\":%u,\"parent\":null,\"label\":\"%u\",\"age_ns\":0,"
                                 "\"utilization_ratio\":0.5,\"busy_seconds\":1,\"power_watts\":9}",
                                 i > 1 ? "," : "", i, i);
    struct history_store *history = history_new();
    take(history, &(struct point){.at = 0, .busy = "1", .memory = "1", .gpus = gpus});
    take(history, &(struct point){.at = 5, .busy = "1", .memory = "1", .gpus = gpus});
    json_t *document = document_of(history);
    CHECK_UINT(json_array_size(json_object_get(document, "lines")), HISTORY_LINES_MAX);
    /* Lines wanted by the last point: both of the host, two of each device. */
    CHECK_INT(json_integer_value(json_object_get(document, "left_out")),
              2 + 2 * GPUS - HISTORY_LINES_MAX);
    json_decref(document);
    history_free(history);
}

static void rates_are_made_with_what_came_a_second_ago(void)
{
    struct history_store *history = history_new();
    uint64_t newest = 0;
    CHECK_NULL(history_before(history));
    for (int tenth = 0; tenth < 100; tenth++) {
        struct sample *moment = sample_of(
            &(struct point){.at = tenth / 10.0, .busy = "1", .memory = "1"});
        newest = vitals_snapshot_boottime_ns(sample_snapshot(moment));
        history_take(history, sample_snapshot(moment));
        sample_unref(moment);
        if (tenth < 18)
            continue;
        uint64_t ago = newest - vitals_snapshot_boottime_ns(history_before(history));
        CHECK(ago >= 900000000 && ago < 1900000000);
    }
    history_free(history);
}

static const check_test tests[] = {
    {"a point every five seconds, with the rate between",
     a_point_every_five_seconds_with_the_rate_between},
    {"what was missing is a gap and never zero", what_was_missing_is_a_gap_and_never_zero},
    {"what came late is no point again", what_came_late_is_no_point_again},
    {"an hour is kept, and no more", an_hour_is_kept_and_no_more},
    {"a device is as busy as its counter says", a_device_is_as_busy_as_its_counter_says},
    {"times grow, whatever is done to the wall clock",
     times_grow_whatever_is_done_to_the_wall_clock},
    {"another sampler begins anew", another_sampler_begins_anew},
    {"what is too many is left out and counted", what_is_too_many_is_left_out_and_counted},
    {"rates are made with what came a second ago", rates_are_made_with_what_came_a_second_ago},
};

CHECK_TESTS(tests)
