/* A run's usage as a line of the wire: written of real values, and read back as the same. */
#include "check.h"

#include <stdlib.h>
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
    struct usage_line *told = usage_line_new(json_object_get(document, "usage"));
    CHECK_NOT_NULL(told);
    CHECK_UINT(told->realtime_ns, vitals_snapshot_realtime_ns(snapshot));
    CHECK_UINT(told->monotonic_ns, vitals_snapshot_monotonic_ns(snapshot));
    for (const vitals_usage_value *one = NULL; (one = vitals_usage_next(usage, one)) != NULL;) {
        double value = -1;
        CHECK_CASE(vitals_measure_name(one->measure));
        vitals_availability state = state_of(usage, one);
        const struct usage_line_subject *subject = usage_line_find(told, one->scope, one->subject);
        CHECK_INT(usage_value(subject, one->measure, &value), state);
        CHECK(state > 0 ? value == one->value : value == -1);
        have += state > 0;
        count++;
    }
    CHECK(count > 20);
    CHECK(have > 10);
    usage_line_unref(told);
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
        {"{\"values\":[[\"tree\",7,\"cpu_cores\",\"have\",1]]}", VITALS_NOT_REQUESTED},
        {"{\"values\":[[\"tree\",\"\",\"no_measure\",\"have\",1]]}", VITALS_NOT_REQUESTED},
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
        struct usage_line *told = usage_line_new(line);
        const struct usage_line_subject *tree = usage_line_find(told, VITALS_SCOPE_TREE, NULL);
        CHECK_INT(usage_value(tree, VITALS_MEASURE_CPU_CORES, &value), LINES[i].is);
        usage_line_unref(told);
        CHECK(LINES[i].is > 0 ? value == 2 : value == -1);
        json_decref(line);
    }
    static const char *const MOMENTS[] = {"{}", "{\"realtime_ns\":1}", "{\"realtime_ns\":\"-1\"}",
                                          "{\"realtime_ns\":\"99999999999999999999\"}",
                                          "{\"realtime_ns\":\"\"}"};
    for (size_t i = 0; i < sizeof MOMENTS / sizeof MOMENTS[0]; i++) {
        json_t *line = json_loads(MOMENTS[i], 0, NULL);
        CHECK_CASE(MOMENTS[i]);
        struct usage_line *told = usage_line_new(line);
        CHECK_UINT(told->realtime_ns, 0);
        usage_line_unref(told);
        json_decref(line);
    }
}

/* Of what stands twice the first; of any subject the first of the scope; no more subjects than
 * there is room for. */
static void the_first_of_many_is_found(void)
{
    enum { MANY = 3 * USAGE_SUBJECTS };
    json_t *usage = json_object(), *values = json_array();
    for (int i = 0; i < MANY; i++) {
        char subject[16];
        (void)snprintf(subject, sizeof subject, "%d", i / 2); /* each twice */
        json_array_append_new(values, json_pack("[s,s,s,s,i]", i % 3 == 0 ? "disk" : "gpu", subject,
                                                "device_power_watts", "have", i));
    }
    json_object_set_new(usage, "values", values);
    struct usage_line *told = usage_line_new(usage);
    CHECK_UINT(told->count, USAGE_SUBJECTS);
    for (size_t i = 0; i < told->count; i++) {
        const struct usage_line_subject *gpu = &told->subjects[i];
        int number = atoi(gpu->subject);
        double value = -1;
        CHECK(usage_line_find(told, VITALS_SCOPE_GPU, gpu->subject) == gpu);
        CHECK_INT(usage_value(gpu, VITALS_MEASURE_DEVICE_POWER_WATTS, &value), VITALS_HAVE);
        CHECK((int)value == 2 * number + (2 * number % 3 == 0));
        CHECK_INT(usage_value(gpu, VITALS_MEASURE_CPU_CORES, &value), VITALS_NOT_REQUESTED);
    }
    CHECK(usage_line_find(told, VITALS_SCOPE_GPU, NULL) == told->subjects);
    CHECK_NULL(usage_line_find(told, VITALS_SCOPE_GPU, "none"));
    CHECK_NULL(usage_line_find(told, VITALS_SCOPE_TREE, NULL));
    usage_line_unref(told);
    json_decref(usage);
}

static const check_test tests[] = {
    {"it reads back as it was", it_reads_back_as_it_was},
    {"what is wrong is no value", what_is_wrong_is_no_value},
    {"the first of many is found", the_first_of_many_is_found},
};
CHECK_TESTS(tests)
