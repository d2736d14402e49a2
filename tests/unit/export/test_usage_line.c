/* A run's usage as a line of the wire: written of real values, and read back as the same. */
#include "check.h"

#include <time.h>
#include <unistd.h>

#include "export/usage_line.h"

/* Two samples of ourselves, far enough apart for a rate. */
static void take_samples(vitals_usage *usage, vitals_snapshot **last)
{
    vitals_context *context;
    vitals_request *request;
    vitals_sampler *sampler;
    CHECK_INT(vitals_context_new(NULL, &context, NULL), 0);
    CHECK_INT(vitals_request_new(0, &request, NULL), 0);
    CHECK_INT(vitals_usage_request(usage, request, NULL), 0);
    CHECK_INT(vitals_sampler_new(context, request, &sampler, NULL), 0);
    for (int i = 0; i < 2; i++) {
        if (i > 0)
            (void)nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
        vitals_snapshot_unref(*last);
        CHECK_INT(vitals_sampler_take(sampler, last, NULL), 0);
        CHECK_INT(vitals_usage_add(usage, *last, NULL), 0);
    }
    vitals_sampler_free(sampler);
    vitals_request_free(request);
    vitals_context_free(context);
}

/* As it is told: no rate of a scope that has no process is. */
static vitals_availability state_of(const vitals_usage *usage, const vitals_usage_value *value)
{
    const vitals_measure processes = vitals_measure_find("processes");
    bool gone = false;
    for (const vitals_usage_value *one = NULL; (one = vitals_usage_next(usage, one)) != NULL;)
        gone |= one->measure == processes && one->scope == value->scope &&
                one->state == VITALS_GONE;
    bool rate = value->state > 0 && !vitals_measure_is_counter(value->measure);
    return rate && gone ? VITALS_GONE : value->state;
}

static void it_reads_back_as_it_was(void)
{
    static const char *const SCOPES[] = {"", "tree", "root", "descendants", "system", "gpu"};
    vitals_usage_options options;
    vitals_usage *usage;
    vitals_snapshot *snapshot = NULL;
    struct buffer line = {.bytes = NULL};
    size_t count = 0, have = 0;
    const int64_t self = getpid();
    vitals_usage_options_init(&options, sizeof options);
    options.pids = &self;
    options.pid_count = 1;
    CHECK_INT(vitals_usage_new(&options, &usage, NULL), 0);
    take_samples(usage, &snapshot);
    usage_line_write(&line, snapshot, usage);
    CHECK_FALSE(line.failed);
    CHECK(strchr(line.bytes, '\n') == line.bytes + line.size - 1);
    json_t *document = json_loadb(line.bytes, line.size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *read = json_object_get(document, "usage");
    CHECK_NOT_NULL(read);
    CHECK_UINT(usage_line_realtime_ns(read), vitals_snapshot_realtime_ns(snapshot));
    struct usage_line told;
    usage_line_read(&told, read);
    for (const vitals_usage_value *one = NULL; (one = vitals_usage_next(usage, one)) != NULL;) {
        double value = -1;
        CHECK_CASE(vitals_measure_name(one->measure));
        vitals_availability state = state_of(usage, one);
        CHECK_INT(usage_line_value(&told, SCOPES[one->scope], one->subject,
                                   vitals_measure_name(one->measure), &value),
                  state);
        CHECK(state > 0 ? value == one->value : value == -1);
        have += state > 0;
        count++;
    }
    CHECK(count > 20);
    CHECK(have > 10);
    usage_line_done(&told);
    json_decref(document);
    buffer_done(&line);
    vitals_snapshot_unref(snapshot);
    vitals_usage_free(usage);
}

/* A line from an unknown program. */
static void what_is_wrong_is_no_value(void)
{
    static const struct {
        const char *line;
        vitals_availability is;
    } LINES[] = {
        {"{}", VITALS_NOT_REQUESTED},
        {"{\"values\":7}", VITALS_NOT_REQUESTED},
        {"{\"values\":[7,[],[[]],[\"tree\"]]}", VITALS_NOT_REQUESTED},
        {"{\"values\":[[\"tree\",\"\",\"cpu_cores\"]]}", VITALS_FAILED},
        {"{\"values\":[[\"tree\",\"\",\"cpu_cores\",\"have\"]]}", VITALS_FAILED},
        {"{\"values\":[[\"tree\",\"\",\"cpu_cores\",\"have\",\"1\"]]}", VITALS_FAILED},
        {"{\"values\":[[\"tree\",\"\",\"cpu_cores\",\"nonsense\",1]]}", VITALS_FAILED},
        {"{\"values\":[[\"tree\",\"\",\"cpu_cores\",\"denied\",1]]}", VITALS_DENIED},
        {"{\"values\":[[\"root\",\"\",\"cpu_cores\",\"have\",1]]}", VITALS_NOT_REQUESTED},
        {"{\"values\":[[\"tree\",\"\",\"cpu_cores\",\"sampled\",2]]}", VITALS_SAMPLED},
    };
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
        double value = -1;
        json_t *line = json_loads(LINES[i].line, 0, NULL);
        CHECK_CASE(LINES[i].line);
        struct usage_line told;
        usage_line_read(&told, line);
        CHECK_INT(usage_line_value(&told, "tree", NULL, "cpu_cores", &value), LINES[i].is);
        usage_line_done(&told);
        CHECK(LINES[i].is > 0 ? value == 2 : value == -1);
        json_decref(line);
    }
    static const char *const MOMENTS[] = {"{}", "{\"realtime_ns\":1}", "{\"realtime_ns\":\"-1\"}",
                                          "{\"realtime_ns\":\"99999999999999999999\"}",
                                          "{\"realtime_ns\":\"\"}"};
    for (size_t i = 0; i < sizeof MOMENTS / sizeof MOMENTS[0]; i++) {
        json_t *line = json_loads(MOMENTS[i], 0, NULL);
        CHECK_CASE(MOMENTS[i]);
        CHECK_UINT(usage_line_realtime_ns(line), 0);
        json_decref(line);
    }
}

/* Of what stands twice the first; of any subject the first of the scope; the same without places.
 */
static void the_first_of_many_is_found(void)
{
    enum { MANY = 3000 };
    json_t *usage = json_object(), *values = json_array();
    struct usage_line told, poor;
    for (int i = 0; i < MANY; i++) {
        char subject[16];
        (void)snprintf(subject, sizeof subject, "%d", i / 2); /* each twice */
        json_array_append_new(values, json_pack("[s,s,s,s,i]", i % 3 == 0 ? "disk" : "gpu", subject,
                                                "power_watts", "have", i));
    }
    json_object_set_new(usage, "values", values);
    usage_line_read(&told, usage);
    poor = (struct usage_line){.values = told.values, .partial = true};
    for (int i = 0; i < MANY; i++) {
        const json_t *one = json_array_get(values, (size_t)i);
        const char *scope = json_string_value(json_array_get(one, 0));
        const char *subject = json_string_value(json_array_get(one, 1));
        double value = -1, slow = -1;
        CHECK_INT(usage_line_value(&told, scope, subject, "power_watts", &value), VITALS_HAVE);
        CHECK_INT(usage_line_value(&poor, scope, subject, "power_watts", &slow), VITALS_HAVE);
        CHECK(value == slow && value <= i && value >= i - 1);
    }
    double value = -1;
    CHECK_INT(usage_line_value(&told, "gpu", NULL, "power_watts", &value), VITALS_HAVE);
    CHECK(value == 1);
    CHECK_INT(usage_line_value(&told, "gpu", "none", "power_watts", &value), VITALS_NOT_REQUESTED);
    CHECK_INT(usage_line_value(&told, "tree", NULL, "power_watts", &value), VITALS_NOT_REQUESTED);
    usage_line_done(&told);
    json_decref(usage);
}

static const check_test tests[] = {
    {"it reads back as it was", it_reads_back_as_it_was},
    {"what is wrong is no value", what_is_wrong_is_no_value},
    {"the first of many is found", the_first_of_many_is_found},
};
CHECK_TESTS(tests)
