/* What the page is sent of a sample: what is missing says why, rates, whose rows, hostile names. */
#include "check.h"

#include "export/sample.h"
#include "export/server/page.h"

#include <jansson.h>

/* Two processes, of which one is on the device, a second apart. */
static const char DOCUMENT[] =
    "{\"schema\":1,\"vitals\":\"0.1.0\",\"host\":{\"name\":\"%s\",\"boot_id\":\"b\","
    "\"pid_namespace\":1},\"realtime_ns\":\"1795188600123000000\",\"boottime_ns\":\"%u000000000\","
    "\"monotonic_ns\":\"%u000000000\",\"stream\":7,\"sequence\":%u,\"columns\":{"
    "\"gpu\":[\"name\",\"utilization_ratio\",\"memory_used_bytes\",\"temperature_celsius\"],"
    "\"process\":[\"pid\",\"name\",\"cpu_seconds\",\"command_line\"],"
    "\"gpu_process\":[\"pid\",\"process\"]},"
    "\"states\":{\"process\":\"lower_bound\"},\"tables\":{"
    "\"gpu\":[{\"key\":1,\"parent\":null,\"label\":\"0\",\"age_ns\":0,\"name\":\"H200\","
    "\"utilization_ratio\":null,\"memory_used_bytes\":150754820096,\"temperature_celsius\":61,"
    "\"availability\":{\"utilization_ratio\":\"denied\",\"temperature_celsius\":\"stale\"},"
    "\"ages_ns\":{\"temperature_celsius\":1500000000}}],"
    "\"process\":[{\"key\":3,\"parent\":null,\"label\":\"p\",\"age_ns\":0,\"pid\":30,\"name\":\"%"
    "s\","
    "\"cpu_seconds\":%u.5,\"command_line\":\"secret\\u0000\"},"
    "{\"key\":4,\"parent\":null,\"label\":\"q\",\"age_ns\":0,\"pid\":40,\"name\":\"idle\","
    "\"cpu_seconds\":1,\"command_line\":\"secret\\u0000\"}],"
    "\"gpu_process\":[{\"key\":1,\"parent\":1,\"label\":\"30\",\"age_ns\":0,\"pid\":30,"
    "\"process\":3}]}}";

static struct sample *moment_at(unsigned second, const char *name)
{
    static char json[20000];
    int size = snprintf(json, sizeof json, DOCUMENT, name, second, second, second, name,
                        2 * second);
    CHECK(size > 0 && (size_t)size < sizeof json);
    struct sample *moment = sample_new(json, (size_t)size, 1);
    CHECK_NOT_NULL(moment);
    if (sample_snapshot(moment) == NULL)
        CHECK_FAIL("%s", "the sample is no snapshot");
    return moment;
}

/* The document of second 11, with rates since second 10. */
static json_t *view_of(const char *name, bool every_process, struct buffer *text)
{
    struct sample *older = moment_at(10, name), *newer = moment_at(11, name);
    json_error_t error;
    *text = (struct buffer){.bytes = NULL};
    struct view_sample sample = {sample_snapshot(newer), sample_snapshot(older), REDACT_OFF};
    view_write(text, &sample, every_process ? &sample : NULL);
    CHECK_FALSE(text->failed);
    json_t *view = json_loadb(text->bytes, text->size, JSON_REJECT_DUPLICATES, &error);
    if (view == NULL)
        CHECK_FAIL("%s at %d", error.text, error.position);
    sample_unref(older);
    sample_unref(newer);
    return view;
}

static const json_t *cell(const json_t *view, const char *table, size_t row, const char *column)
{
    const json_t *of = json_object_get(json_object_get(view, "tables"), table);
    json_t *name;
    size_t i;
    json_array_foreach(json_object_get(of, "columns"), i, name)
    {
        if (strcmp(json_string_value(name), column) == 0)
            return json_array_get(json_array_get(json_object_get(of, "rows"), row), i);
    }
    return NULL;
}

static size_t rows_of(const json_t *view, const char *table)
{
    return json_array_size(
        json_object_get(json_object_get(json_object_get(view, "tables"), table), "rows"));
}

static void what_is_missing_says_why_and_what_is_doubtful_how(void)
{
    struct buffer text;
    json_t *view = view_of("python", true, &text);
    const json_t *missing = cell(view, "gpu", 0, "utilization_ratio");
    const json_t *stale = cell(view, "gpu", 0, "temperature_celsius");
    CHECK_UINT(json_array_size(missing), 1);
    CHECK_STR(json_string_value(json_array_get(missing, 0)), "denied");
    CHECK_UINT(json_array_size(stale), 2);
    CHECK_STR(json_string_value(json_array_get(stale, 0)), "stale");
    CHECK_INT(json_integer_value(json_array_get(stale, 1)), 61);
    CHECK_INT(json_integer_value(cell(view, "gpu", 0, "memory_used_bytes")), 150754820096);
    CHECK(json_is_null(cell(view, "gpu", 0, "parent")));
    CHECK_STR(json_string_value(json_object_get(
                  json_object_get(json_object_get(view, "tables"), "process"), "state")),
              "lower_bound");
    json_decref(view);
    buffer_done(&text);
}

static void counters_are_rates_and_what_nobody_asked_for_is_no_column(void)
{
    struct buffer text;
    json_t *view = view_of("python", true, &text);
    CHECK_NEAR(json_number_value(cell(view, "process", 0, "cpu_seconds_per_second")), 2, 1e-9);
    CHECK_NEAR(json_number_value(cell(view, "process", 1, "cpu_seconds_per_second")), 0, 1e-9);
    CHECK_NULL(cell(view, "process", 0, "cpu_seconds"));
    CHECK_NULL(cell(view, "process", 0, "resident_bytes"));
    CHECK_NULL(json_object_get(json_object_get(view, "tables"), "disk"));
    json_decref(view);
    buffer_done(&text);
}

static void without_an_older_sample_no_rate_is_made_up(void)
{
    struct sample *moment = moment_at(11, "python");
    struct buffer text = {.bytes = NULL};
    struct view_sample sample = {sample_snapshot(moment), NULL, REDACT_OFF};
    view_write(&text, &sample, &sample);
    json_t *view = json_loadb(text.bytes, text.size, 0, NULL);
    const json_t *rate = cell(view, "process", 0, "cpu_seconds_per_second");
    CHECK_UINT(json_array_size(rate), 1);
    CHECK_STR(json_string_value(json_array_get(rate, 0)), "not_yet");
    json_decref(view);
    buffer_done(&text);
    sample_unref(moment);
}

static void users_of_devices_alone_unless_all_are_wanted(void)
{
    struct buffer text;
    json_t *few = view_of("python", false, &text);
    CHECK_UINT(rows_of(few, "process"), 1);
    CHECK_INT(json_integer_value(cell(few, "process", 0, "pid")), 30);
    CHECK_STR(json_string_value(json_object_get(few, "processes")), "few");
    json_decref(few);
    buffer_done(&text);
    json_t *all = view_of("python", true, &text);
    CHECK_UINT(rows_of(all, "process"), 2);
    json_decref(all);
    buffer_done(&text);
}

/* Those of another sampler have other keys, and rates of their own. */
static void every_process_may_be_another_samplers(void)
{
    static const char LISTED[] =
        "{\"schema\":1,\"vitals\":\"0.1.0\",\"host\":{\"name\":\"h\",\"boot_id\":\"b\","
        "\"pid_namespace\":1},\"realtime_ns\":\"1795188600123000000\","
        "\"boottime_ns\":\"%u000000000\",\"monotonic_ns\":\"%u000000000\",\"stream\":8,"
        "\"sequence\":%u,\"columns\":{\"process\":[\"pid\",\"cpu_seconds\"]},\"states\":{},"
        "\"tables\":{\"process\":[{\"key\":91,\"parent\":null,\"label\":\"q\",\"age_ns\":0,"
        "\"pid\":40,\"cpu_seconds\":1},{\"key\":92,\"parent\":null,\"label\":\"p\",\"age_ns\":0,"
        "\"pid\":30,\"cpu_seconds\":%u}]}}";
    struct sample *older = moment_at(10, "python"), *newer = moment_at(11, "python"), *listed[2];
    struct buffer text = {.bytes = NULL};
    for (unsigned i = 0; i < 2; i++) {
        char json[1000];
        int size = snprintf(json, sizeof json, LISTED, 20 + i, 20 + i, i, 3 * i);
        listed[i] = sample_new(json, (size_t)size, 1);
    }
    struct view_sample sample = {sample_snapshot(newer), sample_snapshot(older), REDACT_OFF};
    struct view_sample every = {sample_snapshot(listed[1]), sample_snapshot(listed[0]), REDACT_OFF};
    CHECK_NOT_NULL(every.snapshot);
    view_write(&text, &sample, &every);
    json_t *view = json_loadb(text.bytes, text.size, JSON_REJECT_DUPLICATES, NULL);
    CHECK_UINT(rows_of(view, "process"), 2);
    CHECK_INT(json_integer_value(cell(view, "process", 1, "key")), 92);
    CHECK_NEAR(json_number_value(cell(view, "process", 1, "cpu_seconds_per_second")), 3, 1e-9);
    CHECK_INT(json_integer_value(cell(view, "gpu_process", 0, "process")), 92);
    CHECK_INT(json_integer_value(json_object_get(view, "stream")), 7);
    json_decref(view);
    buffer_done(&text);
    sample_unref(listed[0]);
    sample_unref(listed[1]);
    sample_unref(older);
    sample_unref(newer);
}

static void no_command_line_goes_to_the_page(void)
{
    struct buffer text;
    json_t *view = view_of("python", true, &text);
    CHECK_NULL(strstr(text.bytes, "secret"));
    json_decref(view);
    buffer_done(&text);
}

static void hostile_names_are_words_on_one_line(void)
{
    static const struct {
        const char *json, *shown;
    } CASES[] = {
        {"<script>x</script>", "<script>x</script>"}, /* the page makes text of it, never markup */
        {"a\\nb\\u001b[31m", "a\\nb\\e[31m"},
        {"\\u202eevil", "\\u{202e}evil"},
        {"\\\"quote\\\\n", "\"quote\\\\n"},
        {"\\u2028", "\\u{2028}"},
        {"\\u0000", "\\x00"},
        {"zero\\u200bwidth", "zero\\u{200b}width"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct buffer text;
        json_t *view = view_of(CASES[i].json, true, &text);
        CHECK_CASE(CASES[i].json);
        CHECK_STR(json_string_value(cell(view, "process", 0, "name")), CASES[i].shown);
        CHECK_NULL(memchr(text.bytes, '\n', text.size));
        json_decref(view);
        buffer_done(&text);
    }
}

static void long_text_is_cut_and_says_so(void)
{
    char name[4000];
    struct buffer text;
    for (size_t i = 0; i + 2 < sizeof name; i += 2)
        memcpy(name + i, "\xc3\xa9", 3);
    json_t *view = view_of(name, true, &text);
    const char *shown = json_string_value(cell(view, "process", 0, "name"));
    CHECK_NOT_NULL(shown);
    CHECK(strlen(shown) < 600);
    CHECK_STR(shown + strlen(shown) - 3, "…");
    json_decref(view);
    buffer_done(&text);
}

static const check_test tests[] = {
    {"what is missing says why, what is doubtful how",
     what_is_missing_says_why_and_what_is_doubtful_how},
    {"counters are rates, what nobody asked for is no column",
     counters_are_rates_and_what_nobody_asked_for_is_no_column},
    {"without an older sample no rate is made up", without_an_older_sample_no_rate_is_made_up},
    {"users of devices alone, unless all are wanted", users_of_devices_alone_unless_all_are_wanted},
    {"every process may be another sampler's", every_process_may_be_another_samplers},
    {"no command line goes to the page", no_command_line_goes_to_the_page},
    {"hostile names are words on one line", hostile_names_are_words_on_one_line},
    {"long text is cut and says so", long_text_is_cut_and_says_so},
};

CHECK_TESTS(tests)
