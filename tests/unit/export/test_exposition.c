/* Documents for Prometheus, of moments that are written here. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "export/keyed_hash.h"
#include "export/prometheus/exposition.h"

/* A moment of the stream at so many seconds after its start; `columns` and `tables` are JSON. */
static struct sample *moment_at(unsigned seconds, const char *columns, const char *tables)
{
    struct buffer json = {.bytes = NULL};
    buffer_format(&json,
                  "{\"schema\":1,\"vitals\":\"0.1.0\",\"host\":{\"name\":\"n\",\"boot_id\":\"b\","
                  "\"pid_namespace\":7},\"time\":\"2026-01-05T10:00:00.000000000Z\","
                  "\"realtime_ns\":\"%u000000000\",\"boottime_ns\":\"%u000000000\","
                  "\"monotonic_ns\":\"%u000000000\",\"stream\":5,\"sequence\":%u,"
                  "\"columns\":{%s},\"tables\":{%s}}",
                  1767607200 + seconds, 100 + seconds, 100 + seconds, seconds + 1, columns, tables);
    struct sample *moment = sample_new(json.bytes, json.size, (uint64_t)seconds * 1000000000);
    CHECK_NOT_NULL(sample_snapshot(moment));
    buffer_done(&json);
    return moment;
}

static const struct exposition_options PLAIN = {
    .level = EXPOSITION_PID, .max_processes = 1000, .interval_ns = 1000000000};

static char *document(struct exposition *exposition, struct sample *moment,
                      enum exposition_format format, uint64_t now_ns)
{
    const struct exposition_self self = {.now_ns = now_ns};
    struct body *body = exposition_render(exposition, moment, format, &self);
    CHECK_NOT_NULL(body);
    size_t size;
    const char *bytes = body_bytes(body, &size);
    char *copy = malloc(size + 1);
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    CHECK_UINT(strlen(copy), size);
    body_unref(body);
    return copy;
}

/* The document of one moment; the caller's to free. Takes the moment over. */
static char *rendered(const struct exposition_options *options, struct sample *moment,
                      enum exposition_format format)
{
    struct exposition *exposition = exposition_new(options);
    exposition_count(exposition, moment);
    char *text = document(exposition, moment, format, 0);
    exposition_free(exposition);
    sample_unref(moment);
    return text;
}

static void check_lacks(const char *text, const char *part)
{
    CHECK_CASE(part);
    CHECK_NULL(strstr(text, part));
}

/* ---- the text ---- */

static const char GPU_COLUMNS[] = "\"gpu\":[\"index\",\"uuid\",\"name\",\"power_watts\","
                                  "\"energy_joules\",\"utilization_ratio\"]";

static struct sample *two_gpus(void)
{
    return moment_at(
        0, GPU_COLUMNS,
        "\"gpu\":[{\"key\":1,\"parent\":null,\"label\":\"0\",\"age_ns\":0,\"index\":0,"
        "\"uuid\":\"GPU-a\",\"name\":\"one\",\"power_watts\":1.5,\"energy_joules\":3,"
        "\"utilization_ratio\":0},"
        "{\"key\":2,\"parent\":null,\"label\":\"1\",\"age_ns\":0,\"index\":1,\"uuid\":\"GPU-b\","
        "\"name\":\"two\",\"power_watts\":null,\"energy_joules\":7,\"utilization_ratio\":0.25,"
        "\"availability\":{\"power_watts\":\"denied\"}}]");
}

static void text_has_heads_and_samples(void)
{
    char *text = rendered(&PLAIN, two_gpus(), EXPOSITION_TEXT);
    CHECK_CONTAINS(text, "# HELP vitals_gpu_power_watts Power draw of the whole board.\n"
                         "# TYPE vitals_gpu_power_watts gauge\n"
                         "vitals_gpu_power_watts{gpu=\"0\",uuid=\"GPU-a\"} 1.5\n");
    CHECK_CONTAINS(text, "# TYPE vitals_gpu_energy_joules_total counter\n"
                         "vitals_gpu_energy_joules_total{gpu=\"0\",uuid=\"GPU-a\"} 3\n"
                         "vitals_gpu_energy_joules_total{gpu=\"1\",uuid=\"GPU-b\"} 7\n");
    CHECK_CONTAINS(text, "vitals_gpu_info{gpu=\"1\",uuid=\"GPU-b\",name=\"two\"} 1\n");
    check_lacks(text, "# UNIT");
    check_lacks(text, "# EOF");
    free(text);
}

static void openmetrics_names_counters_and_units(void)
{
    char *text = rendered(&PLAIN, two_gpus(), EXPOSITION_OPENMETRICS);
    CHECK_CONTAINS(text, "# TYPE vitals_gpu_energy_joules counter\n"
                         "# UNIT vitals_gpu_energy_joules joules\n"
                         "# HELP vitals_gpu_energy_joules Energy since the driver was loaded.\n"
                         "vitals_gpu_energy_joules_total{gpu=\"0\",uuid=\"GPU-a\"} 3\n");
    CHECK_STR(text + strlen(text) - 6, "# EOF\n");
    free(text);
}

/* What is missing has no sample; what is 0 has one. */
static void missing_is_no_sample_and_zero_is_one(void)
{
    char *text = rendered(&PLAIN, two_gpus(), EXPOSITION_TEXT);
    check_lacks(text, "vitals_gpu_power_watts{gpu=\"1\"");
    check_lacks(text, "vitals_gpu_fan_rpm");
    CHECK_CONTAINS(text, "vitals_gpu_utilization_ratio{gpu=\"0\",uuid=\"GPU-a\"} 0\n");
    free(text);
}

static void nothing_yet_is_a_document(void)
{
    struct exposition *exposition = exposition_new(&PLAIN);
    char *text = document(exposition, NULL, EXPOSITION_OPENMETRICS, 0);
    CHECK_CONTAINS(text, "vitals_build_info{version=");
    CHECK_STR(text + strlen(text) - 6, "# EOF\n");
    free(text);
    exposition_free(exposition);
}

/* ---- age ---- */

static struct sample *stale_gpu(unsigned age_seconds)
{
    char rows[400];
    (void)snprintf(rows, sizeof rows,
                   "\"gpu\":[{\"key\":1,\"parent\":null,\"label\":\"0\",\"age_ns\":%u000000000,"
                   "\"index\":0,\"uuid\":\"u\",\"name\":\"x\",\"power_watts\":9,"
                   "\"energy_joules\":1,\"utilization_ratio\":1,"
                   "\"availability\":{\"power_watts\":\"stale\"}}]",
                   age_seconds);
    return moment_at(50, GPU_COLUMNS, rows);
}

static void stale_values_leave_after_three_intervals(void)
{
    char *young = rendered(&PLAIN, stale_gpu(3), EXPOSITION_TEXT);
    char *old = rendered(&PLAIN, stale_gpu(4), EXPOSITION_TEXT);
    CHECK_CONTAINS(young, "vitals_gpu_power_watts{gpu=\"0\",uuid=\"u\"} 9\n");
    check_lacks(old, "vitals_gpu_power_watts");
    CHECK_CONTAINS(old, "vitals_gpu_utilization_ratio");
    free(young);
    free(old);
}

static void an_old_moment_leaves_what_is_ours(void)
{
    struct exposition *exposition = exposition_new(&PLAIN);
    struct sample *moment = moment_at(
        0, "\"source\":[\"state\",\"call_seconds\"],\"host\":[\"load_1m\"]",
        "\"source\":[{\"key\":1,\"label\":\"machine\",\"age_ns\":0,\"state\":\"have\","
        "\"call_seconds\":0.5}],"
        "\"host\":[{\"key\":1,\"label\":\"host\",\"age_ns\":0,\"load_1m\":2}]");
    exposition_count(exposition, moment);
    char *now = document(exposition, moment, EXPOSITION_TEXT, 1000000000);
    char *later = document(exposition, moment, EXPOSITION_TEXT, 60000000000);
    CHECK_FALSE(exposition_is_stale(exposition, moment, 1000000000));
    CHECK(exposition_is_stale(exposition, moment, 60000000000));
    CHECK_CONTAINS(now, "vitals_host_load1 2\n");
    CHECK_CONTAINS(now, "vitals_collector_success{collector=\"machine\"} 1\n");
    check_lacks(later, "vitals_host_load1");
    CHECK_CONTAINS(later, "vitals_collector_last_success_timestamp_seconds{collector=\"machine\"} "
                          "1767607200\n");
    free(now);
    free(later);
    sample_unref(moment);
    exposition_free(exposition);
}

/* A driver that this machine has no device of has not failed. */
static void what_is_not_there_has_not_failed(void)
{
    char *text = rendered(
        &PLAIN,
        moment_at(0, "\"source\":[\"state\"]",
                  "\"source\":[{\"key\":1,\"label\":\"a\",\"age_ns\":0,\"state\":\"have\"},"
                  "{\"key\":2,\"label\":\"b\",\"age_ns\":0,\"state\":\"unsupported\"},"
                  "{\"key\":3,\"label\":\"c\",\"age_ns\":0,\"state\":\"denied\"},"
                  "{\"key\":4,\"label\":\"d\",\"age_ns\":0,\"state\":\"lower_bound\"}]"),
        EXPOSITION_TEXT);
    CHECK_CONTAINS(text, "vitals_collector_success{collector=\"a\"} 1\n");
    CHECK_CONTAINS(text, "vitals_collector_success{collector=\"c\"} 0\n");
    CHECK_CONTAINS(text, "vitals_collector_success{collector=\"d\"} 1\n");
    check_lacks(text, "vitals_collector_success{collector=\"b\"}");
    check_lacks(text, "timestamp_seconds{collector=\"c\"}");
    free(text);
}

/* Where each fan has its speed, what stands for all of them is left out. */
static void a_device_speaks_where_its_parts_do_not(void)
{
    char *text = rendered(
        &PLAIN,
        moment_at(0, "\"gpu\":[\"uuid\",\"fan_ratio\"],\"gpu_sensor\":[\"fan_ratio\"]",
                  "\"gpu\":[{\"key\":1,\"parent\":null,\"label\":\"0\",\"age_ns\":0,"
                  "\"uuid\":\"a\",\"fan_ratio\":0.5},"
                  "{\"key\":2,\"parent\":null,\"label\":\"1\",\"age_ns\":0,"
                  "\"uuid\":\"b\",\"fan_ratio\":0.75}],"
                  "\"gpu_sensor\":[{\"key\":1,\"parent\":2,\"label\":\"fan0\",\"age_ns\":0,"
                  "\"fan_ratio\":0.25}]"),
        EXPOSITION_TEXT);
    CHECK_CONTAINS(text, "vitals_gpu_fan_ratio{gpu=\"0\",uuid=\"a\",fan=\"all\"} 0.5\n");
    CHECK_CONTAINS(text, "vitals_gpu_fan_ratio{gpu=\"1\",uuid=\"b\",fan=\"fan0\"} 0.25\n");
    check_lacks(text, "uuid=\"b\",fan=\"all\"");
    free(text);
}

/* ---- hostile names, and the same twice ---- */

static void labels_are_escaped_and_short(void)
{
    struct buffer rows = {.bytes = NULL};
    buffer_string(&rows, "\"process\":[{\"key\":1,\"parent\":null,\"label\":\"1\",\"age_ns\":0,"
                         "\"pid\":1,\"name\":\"a\\\"b\\\\c\\nd} 1\\n# EOF\",\"user\":\"");
    for (int i = 0; i < 300; i++)
        buffer_string(&rows, "\xc3\xa9");
    buffer_string(&rows, "\"}]");
    char *text = rendered(&PLAIN,
                          moment_at(0, "\"process\":[\"pid\",\"name\",\"user\"]", rows.bytes),
                          EXPOSITION_TEXT);
    CHECK_CONTAINS(text, "comm=\"a\\\"b\\\\c\\nd} 1\\n# EOF\"");
    const char *user = strstr(text, "user=\"");
    CHECK_NOT_NULL(user);
    CHECK(strchr(user + 6, '"') - (user + 6) <= 128);
    check_lacks(text, "\n# EOF");
    free(text);
    buffer_done(&rows);
}

static void a_series_stands_once(void)
{
    char *text = rendered(
        &PLAIN,
        moment_at(0, "\"network\":[\"name\",\"received_bytes\"]",
                  "\"network\":[{\"key\":1,\"label\":\"a\",\"age_ns\":0,\"name\":\"eth0\","
                  "\"received_bytes\":1},{\"key\":2,\"label\":\"b\",\"age_ns\":0,"
                  "\"name\":\"eth0\",\"received_bytes\":2}]"),
        EXPOSITION_TEXT);
    CHECK_CONTAINS(text, "vitals_host_network_receive_bytes_total{device=\"eth0\"} 1\n");
    check_lacks(text, "{device=\"eth0\"} 2");
    free(text);
}

/* ---- processes, workloads, users ---- */

static const char WORK_COLUMNS[] =
    "\"gpu\":[\"index\",\"uuid\"],\"process\":[\"pid\",\"name\",\"user\",\"uid\",\"workload\","
    "\"resident_bytes\",\"threads\",\"read_bytes\"],"
    "\"gpu_process\":[\"pid\",\"process\",\"type\",\"memory_used_bytes\",\"utilization_ratio\","
    "\"busy_seconds\"],\"workload\":[\"id\",\"kind\",\"user\",\"memory_used_bytes\"]";

static const char DENIED[] = "null,\"availability\":{\"memory_used_bytes\":\"denied\"}";

/* Counters of processes stand before gauges of workloads; the second workload's memory may be
 * missing. */
static struct sample *three_workloads(const char *memory_of_second)
{
    char rows[1500];
    (void)snprintf(
        rows, sizeof rows,
        "\"process\":[{\"key\":5,\"parent\":null,\"label\":\"p\",\"age_ns\":0,\"pid\":5,\"read_"
        "bytes\":70},"
        "{\"key\":6,\"parent\":null,\"label\":\"q\",\"age_ns\":0,\"pid\":6,\"read_bytes\":70}],"
        "\"workload\":[{\"key\":1,\"label\":\"a\",\"age_ns\":0,\"id\":\"a\",\"processes\":1,"
        "\"memory_used_bytes\":9,\"memory_peak_bytes\":9,\"cpu_seconds\":50,\"oom_kills\":3},"
        "{\"key\":2,\"label\":\"b\",\"age_ns\":0,\"id\":\"b\",\"processes\":2,"
        "\"memory_used_bytes\":%s,\"memory_peak_bytes\":9,\"cpu_seconds\":50,\"oom_kills\":3},"
        "{\"key\":3,\"label\":\"c\",\"age_ns\":0,\"id\":\"c\",\"processes\":4,"
        "\"memory_used_bytes\":5,\"memory_peak_bytes\":9,\"cpu_seconds\":50,\"oom_kills\":3}]",
        memory_of_second);
    return moment_at(0,
                     "\"process\":[\"pid\",\"read_bytes\"],"
                     "\"workload\":[\"id\",\"processes\",\"memory_used_bytes\","
                     "\"memory_peak_bytes\",\"cpu_seconds\",\"oom_kills\"]",
                     rows);
}

static void what_is_aggregated_is_summed_by_family(void)
{
    struct exposition_options options = PLAIN;
    options.max_processes = 1;
    struct exposition *exposition = exposition_new(&options);
    for (int i = 0; i < 2; i++) { /* and nothing is left for the next document */
        struct sample *moment = three_workloads("6");
        char *text = document(exposition, moment, EXPOSITION_TEXT, 0);
        CHECK_CONTAINS(text, "vitals_workload_processes{workload=\"other\"} 6\n");
        CHECK_CONTAINS(text, "vitals_workload_memory_used_bytes{workload=\"other\"} 11\n");
        check_lacks(text, "vitals_workload_memory_peak_bytes{workload=\"other\"}");
        check_lacks(text, "vitals_workload_oom_kills_total{workload=\"other\"}");
        CHECK_CONTAINS(text, "vitals_workload_memory_peak_bytes{workload=\"a\"} 9\n");
        free(text);
        sample_unref(moment);
    }
    exposition_free(exposition);
}

static void a_sum_lacks_nothing(void)
{
    struct exposition_options options = PLAIN;
    options.max_processes = 1;
    char *text = rendered(&options, three_workloads(DENIED), EXPOSITION_TEXT);
    check_lacks(text, "vitals_workload_memory_used_bytes{workload=\"other\"}");
    CHECK_CONTAINS(text, "vitals_workload_processes{workload=\"other\"} 6\n");
    free(text);
}

static const char WORK_GPU[] = "\"gpu\":[{\"key\":1,\"parent\":null,\"label\":\"0\",\"age_ns\":0,"
                               "\"index\":0,\"uuid\":\"u\"}],";

/* Processes 11, 12 … of `ada`, each on the device with busy seconds of its own. */
static struct sample *working(unsigned seconds, const double *busy, size_t count)
{
    struct buffer rows = {.bytes = NULL};
    buffer_string(&rows, WORK_GPU);
    buffer_string(&rows, "\"process\":[");
    for (size_t i = 0; i < count; i++)
        buffer_format(&rows,
                      "%s{\"key\":%zu,\"parent\":null,\"label\":\"p\",\"age_ns\":0,\"pid\":%zu,"
                      "\"name\":\"p\",\"user\":\"ada\",\"uid\":1000,\"workload\":\"user:ada\","
                      "\"resident_bytes\":%zu,\"threads\":2,\"read_bytes\":5}",
                      i > 0 ? "," : "", i + 1, i + 11, 100 * (i + 1));
    buffer_string(&rows, "],\"gpu_process\":[");
    for (size_t i = 0; i < count; i++)
        buffer_format(&rows,
                      "%s{\"key\":%zu,\"parent\":1,\"label\":\"p\",\"age_ns\":0,\"pid\":%zu,"
                      "\"process\":%zu,\"type\":\"C\",\"memory_used_bytes\":%zu,"
                      "\"utilization_ratio\":0.25,\"busy_seconds\":%.3f}",
                      i > 0 ? "," : "", i + 21, i + 11, i + 1, 1000 * (i + 1), busy[i]);
    buffer_string(&rows, "],\"workload\":[{\"key\":31,\"label\":\"w\",\"age_ns\":0,"
                         "\"id\":\"user:ada\",\"kind\":\"user\",\"user\":\"ada\","
                         "\"memory_used_bytes\":77}]");
    struct sample *moment = moment_at(seconds, WORK_COLUMNS, rows.bytes);
    buffer_done(&rows);
    return moment;
}

static const double BUSY[] = {1, 2, 4, 8};

static void workloads_have_sums(void)
{
    char *text = rendered(&PLAIN, working(0, BUSY, 3), EXPOSITION_TEXT);
    CHECK_CONTAINS(text, "vitals_workload_gpu_memory_used_bytes{gpu=\"0\",uuid=\"u\","
                         "workload=\"user:ada\"} 6000\n");
    CHECK_CONTAINS(text, "vitals_workload_gpu_utilization_ratio{gpu=\"0\",uuid=\"u\","
                         "workload=\"user:ada\"} 0.75\n");
    CHECK_CONTAINS(text, "vitals_workload_memory_used_bytes{workload=\"user:ada\"} 77\n");
    CHECK_CONTAINS(text,
                   "vitals_workload_info{workload=\"user:ada\",kind=\"user\",user=\"ada\"} 1");
    CHECK_CONTAINS(text, "vitals_process_info{pid=\"11\",comm=\"p\",user=\"ada\","
                         "workload=\"user:ada\"} 1\n");
    free(text);
}

static char *counted(struct exposition *exposition, struct sample *moment)
{
    exposition_count(exposition, moment);
    char *text = document(exposition, moment, EXPOSITION_TEXT, 0);
    sample_unref(moment);
    return text;
}

/* A process that ends takes nothing away from what its workload used. */
static void what_a_workload_used_never_shrinks(void)
{
    static const char FAMILY[] = "vitals_workload_gpu_busy_seconds_total{gpu=\"0\",uuid=\"u\","
                                 "workload=\"user:ada\"} ";
    static const double LATER[] = {1.5, 2};
    char expected[sizeof FAMILY + 16];
    struct exposition *exposition = exposition_new(&PLAIN);
    char *first = counted(exposition, working(0, BUSY, 3));
    char *second = counted(exposition, working(1, LATER, 2));
    struct sample *third = working(2, LATER, 1);
    exposition_count(exposition, third);
    char *twice = counted(exposition, third); /* counted twice is counted once */
    (void)snprintf(expected, sizeof expected, "%s7\n", FAMILY);
    CHECK_CONTAINS(first, expected);
    (void)snprintf(expected, sizeof expected, "%s7.5\n", FAMILY);
    CHECK_CONTAINS(second, expected);
    CHECK_CONTAINS(twice, expected);
    free(first);
    free(second);
    free(twice);
    exposition_free(exposition);
}

static void rows_beyond_the_cap_are_aggregated(void)
{
    struct exposition_options options = PLAIN;
    options.max_processes = 2;
    char *text = rendered(&options, working(0, BUSY, 4), EXPOSITION_TEXT);
    CHECK_CONTAINS(text, "vitals_series_dropped{scope=\"processes\"} 2\n");
    CHECK_CONTAINS(text, "vitals_process_resident_memory_bytes{pid=\"14\"} 400\n");
    CHECK_CONTAINS(text, "vitals_process_resident_memory_bytes{pid=\"other\"} 300\n");
    CHECK_CONTAINS(text, "vitals_gpu_process_memory_used_bytes{gpu=\"0\",uuid=\"u\","
                         "pid=\"other\"} 3000\n");
    CHECK_CONTAINS(text, "vitals_gpu_process_utilization_ratio{gpu=\"0\",uuid=\"u\",pid=\"other\","
                         "engine=\"sm\"} 0.5\n");
    check_lacks(text, "vitals_process_resident_memory_bytes{pid=\"11\"}");
    check_lacks(text, "vitals_process_read_bytes_total{pid=\"other\"}");
    check_lacks(text, "vitals_process_info{pid=\"other\"}");
    free(text);
}

/* Two compute processes of a device with a partition: one is on the partition. */
static struct sample *divided(unsigned processes, const char *memory)
{
    char rows[1000];
    (void)snprintf(
        rows, sizeof rows,
        "\"gpu\":[{\"key\":1,\"parent\":null,\"label\":\"0\",\"age_ns\":0,\"uuid\":\"u\","
        "\"processes\":%u},"
        "{\"key\":2,\"parent\":1,\"label\":\"0:0\",\"age_ns\":0,\"uuid\":\"v\",\"processes\":1}],"
        "\"gpu_process\":[{\"key\":3,\"parent\":1,\"label\":\"p\",\"age_ns\":0,\"pid\":7,"
        "\"type\":\"C+G\",\"memory_used_bytes\":5},"
        "{\"key\":4,\"parent\":2,\"label\":\"p\",\"age_ns\":0,\"pid\":8,\"type\":\"C\","
        "\"memory_used_bytes\":6},"
        "{\"key\":5,\"parent\":2,\"label\":\"p\",\"age_ns\":0,\"pid\":9,\"type\":\"C\","
        "\"memory_used_bytes\":%s}]",
        processes, memory);
    return moment_at(0,
                     "\"gpu\":[\"uuid\",\"processes\"],"
                     "\"gpu_process\":[\"pid\",\"type\",\"memory_used_bytes\"]",
                     rows);
}

static void processes_on_partitions_count(void)
{
    static const char COMPUTE[] = "vitals_gpu_processes{gpu=\"0\",uuid=\"u\",type=\"compute\"} 3\n";
    static const char GRAPHICS[] =
        "vitals_gpu_processes{gpu=\"0\",uuid=\"u\",type=\"graphics\"} 1\n";
    static const char UNKNOWN[] = "vitals_workload_gpu_memory_used_bytes{gpu=\"0:0\",uuid=\"v\","
                                  "workload=\"unknown\"}";
    char *all = rendered(&PLAIN, divided(3, "7"), EXPOSITION_TEXT);
    char *unseen = rendered(&PLAIN, divided(4, DENIED), EXPOSITION_TEXT);
    CHECK_CONTAINS(all, COMPUTE);
    CHECK_CONTAINS(all, GRAPHICS);
    CHECK_CONTAINS(all, UNKNOWN);
    check_lacks(unseen, "vitals_gpu_processes{");
    check_lacks(unseen, UNKNOWN); /* of one of two the memory is not known */
    CHECK_CONTAINS(unseen, "uuid=\"u\",workload=\"unknown\"} 5\n");
    free(all);
    free(unseen);
}

static void levels_say_what_is_told(void)
{
    struct exposition_options options = PLAIN;
    options.level = EXPOSITION_WORKLOAD;
    char *workloads = rendered(&options, working(0, BUSY, 2), EXPOSITION_TEXT);
    options.level = EXPOSITION_OFF;
    char *none = rendered(&options, working(0, BUSY, 2), EXPOSITION_TEXT);
    CHECK_CONTAINS(workloads, "vitals_workload_info");
    check_lacks(workloads, "pid=");
    check_lacks(none, "workload=");
    check_lacks(none, "pid=");
    check_lacks(none, "ada");
    CHECK_CONTAINS(none, "vitals_gpu_info");
    free(workloads);
    free(none);
}

static void users_are_named_as_wanted(void)
{
    char hash[17];
    struct exposition_options options = PLAIN;
    (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)keyed_hash("ada", 3));
    options.user = EXPOSITION_USER_HASH;
    char *hashed = rendered(&options, working(0, BUSY, 1), EXPOSITION_TEXT);
    options.user = EXPOSITION_USER_UID;
    char *numbered = rendered(&options, working(0, BUSY, 1), EXPOSITION_TEXT);
    options.user = EXPOSITION_USER_OFF;
    char *nameless = rendered(&options, working(0, BUSY, 1), EXPOSITION_TEXT);
    check_lacks(hashed, "\"ada\""); /* a hash may have "ada" among its digits */
    check_lacks(hashed, ":ada\"");
    CHECK_CONTAINS(hashed, hash);
    check_lacks(numbered, "ada");
    CHECK_CONTAINS(numbered, "user=\"1000\",workload=\"user:1000\"");
    CHECK_CONTAINS(numbered, "vitals_workload_info{workload=\"user:1000\"");
    CHECK_CONTAINS(numbered, "uuid=\"u\",workload=\"user:1000\"} 1000\n");
    check_lacks(nameless, "ada");
    check_lacks(nameless, "user=");
    free(hashed);
    free(numbered);
    free(nameless);
}

/* Ids that are alike for longer than a label may be stay apart. */
static void long_workloads_stay_apart(void)
{
    struct buffer rows = {.bytes = NULL};
    buffer_string(&rows, "\"workload\":[");
    for (int i = 0; i < 2; i++) {
        buffer_format(&rows,
                      "%s{\"key\":%d,\"label\":\"w\",\"age_ns\":0,\"id\":\"unit:", i > 0 ? "," : "",
                      i + 1);
        for (int n = 0; n < 200; n++)
            buffer_byte(&rows, 'x');
        buffer_format(&rows, "%d\",\"memory_used_bytes\":%d}", i, i + 1);
    }
    buffer_string(&rows, "]");
    char *text = rendered(&PLAIN,
                          moment_at(0, "\"workload\":[\"id\",\"memory_used_bytes\"]", rows.bytes),
                          EXPOSITION_TEXT);
    CHECK_CONTAINS(text, "\"} 1\n");
    CHECK_CONTAINS(text, "\"} 2\n");
    free(text);
    buffer_done(&rows);
}

/* ---- what is seen from moment to moment ---- */

static struct sample *failing(unsigned seconds, unsigned errors, unsigned newest)
{
    char rows[300];
    (void)snprintf(rows, sizeof rows,
                   "\"gpu\":[{\"key\":1,\"parent\":null,\"label\":\"0\",\"age_ns\":0,"
                   "\"uuid\":\"u\",\"xid_errors\":%u,\"xid_last\":%u}]",
                   errors, newest);
    return moment_at(seconds, "\"gpu\":[\"uuid\",\"xid_errors\",\"xid_last\"]", rows);
}

static void an_error_has_the_time_when_it_was_seen(void)
{
    struct exposition *exposition = exposition_new(&PLAIN);
    char *first = counted(exposition, failing(0, 1, 31));
    char *same = counted(exposition, failing(5, 1, 31));
    char *next = counted(exposition, failing(9, 2, 79));
    CHECK_CONTAINS(first, "vitals_gpu_xid_last_timestamp_seconds{gpu=\"0\",uuid=\"u\",xid=\"31\"} "
                          "1767607200\n");
    CHECK_CONTAINS(same, "xid=\"31\"} 1767607200\n");
    CHECK_CONTAINS(next, "xid=\"79\"} 1767607209\n");
    free(first);
    free(same);
    free(next);
    exposition_free(exposition);
}

/* ---- options, hashes ---- */

static int read_options(const char *config, struct exposition_options *out)
{
    json_t *member = json_loads(config, 0, NULL);
    json_t *hello = json_loads("{\"interval_seconds\":2,\"cmdline\":\"argv0\"}", 0, NULL);
    vitals_error error;
    CHECK_NOT_NULL(member);
    int code = exposition_options_read(member, hello, out, &error);
    json_decref(member);
    json_decref(hello);
    return code;
}

static void options_are_read(void)
{
    struct exposition_options options;
    CHECK_INT(read_options("{}", &options), 0);
    CHECK_INT(options.level, EXPOSITION_WORKLOAD);
    CHECK_INT(options.user, EXPOSITION_USER_NAME);
    CHECK_INT(options.cmdline, REDACT_ARGV0);
    CHECK_UINT(options.interval_ns, 2000000000);
    CHECK_UINT(options.max_processes, EXPOSITION_PROCESSES);
    CHECK_FALSE(options.nvitop);
    CHECK_INT(read_options("{\"processes\":\"pid\",\"label_user\":\"hash\",\"max_processes\":9,"
                           "\"compat\":\"nvitop-exporter\"}",
                           &options),
              0);
    CHECK_INT(options.level, EXPOSITION_PID);
    CHECK_INT(options.user, EXPOSITION_USER_HASH);
    CHECK_UINT(options.max_processes, 9);
    CHECK(options.nvitop);
    CHECK_INT(read_options("{\"processes\":\"some\"}", &options), VITALS_EARGUMENT);
    CHECK_INT(read_options("{\"label_user\":\"who\"}", &options), VITALS_EARGUMENT);
    CHECK_INT(read_options("{\"compat\":\"dcgm\"}", &options), VITALS_EARGUMENT);
}

static void only_a_stable_hash_is_known(void)
{
    CHECK_UINT(stable_hash("abc", 3), 0xba7816bf8f01cfeau); /* FIPS 180-4 */
    CHECK_UINT(keyed_hash("abc", 3), keyed_hash("abc", 3));
    CHECK(keyed_hash("abc", 3) != keyed_hash("abd", 3));
    CHECK(keyed_hash("abc", 3) != stable_hash("abc", 3));
}

static const check_test tests[] = {
    {"text has heads and samples", text_has_heads_and_samples},
    {"OpenMetrics names counters and units", openmetrics_names_counters_and_units},
    {"missing is no sample and zero is one", missing_is_no_sample_and_zero_is_one},
    {"nothing yet is a document", nothing_yet_is_a_document},
    {"stale values leave after three intervals", stale_values_leave_after_three_intervals},
    {"an old moment leaves what is ours", an_old_moment_leaves_what_is_ours},
    {"what is not there has not failed", what_is_not_there_has_not_failed},
    {"a device speaks where its parts do not", a_device_speaks_where_its_parts_do_not},
    {"labels are escaped and short", labels_are_escaped_and_short},
    {"a series stands once", a_series_stands_once},
    {"workloads have sums", workloads_have_sums},
    {"what a workload used never shrinks", what_a_workload_used_never_shrinks},
    {"rows beyond the cap are aggregated", rows_beyond_the_cap_are_aggregated},
    {"what is aggregated is summed by family", what_is_aggregated_is_summed_by_family},
    {"a sum lacks nothing", a_sum_lacks_nothing},
    {"processes on partitions count", processes_on_partitions_count},
    {"levels say what is told", levels_say_what_is_told},
    {"users are named as wanted", users_are_named_as_wanted},
    {"long workloads stay apart", long_workloads_stay_apart},
    {"an error has the time when it was seen", an_error_has_the_time_when_it_was_seen},
    {"options are read", options_are_read},
    {"a stable hash is the same everywhere, a keyed one is not", only_a_stable_hash_is_known},
};

CHECK_TESTS(tests)
