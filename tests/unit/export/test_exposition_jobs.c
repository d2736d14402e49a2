/* Which job a device works for, in documents for Prometheus: what its processes prove, else what a
 * scheduler's file claims. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "export/prometheus/exposition.h"

#define ROW(key, parent, label) \
    "{\"key\":" #key ",\"parent\":" #parent ",\"label\":\"" label "\",\"age_ns\":0,"

/* Two devices; `tables` holds their jobs. */
static char *rendered(enum exposition_level level, const char *tables)
{
    struct buffer json = {.bytes = NULL};
    buffer_format(&json,
                  "{\"schema\":1,\"vitals\":\"0.1.0\",\"host\":{\"name\":\"n\",\"boot_id\":\"b\","
                  "\"pid_namespace\":7},\"time\":\"2026-01-05T10:00:00.000000000Z\","
                  "\"realtime_ns\":\"1767607200000000000\",\"boottime_ns\":\"100000000000\","
                  "\"monotonic_ns\":\"100000000000\",\"stream\":5,\"sequence\":1,\"columns\":{"
                  "\"gpu\":[\"uuid\"],\"gpu_job\":[\"job_id\",\"workload\"],"
                  "\"process\":[\"pid\",\"workload\"],\"gpu_process\":[\"pid\",\"process\"]},"
                  "\"tables\":{\"gpu\":[" ROW(1, null, "0") "\"uuid\":\"GPU-a\"}," ROW(
                      2, null, "1") "\"uuid\":\"GPU-b\"}]%s}}",
                  tables);
    struct sample *moment = sample_new(json.bytes, json.size, 0);
    CHECK_NOT_NULL(sample_snapshot(moment));
    buffer_done(&json);
    const struct exposition_options options = {
        .level = level, .max_processes = 1000, .interval_ns = 1000000000};
    const struct exposition_self self = {.now_ns = 0};
    struct exposition *exposition = exposition_new(&options);
    exposition_count(exposition, moment);
    struct body *body = exposition_render(exposition, moment, EXPOSITION_TEXT, &self);
    CHECK_NOT_NULL(body);
    size_t size;
    const char *bytes = body_bytes(body, &size);
    char *copy = malloc(size + 1);
    CHECK_NOT_NULL(copy);
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    body_unref(body);
    exposition_free(exposition);
    sample_unref(moment);
    return copy;
}

/* All of the family, and nothing else of it. */
static void check_jobs(const char *text, const char *expected)
{
    char found[2048] = "";
    for (const char *at = text; (at = strstr(at, "\nvitals_gpu_job_info{")) != NULL;) {
        at++;
        size_t size = strcspn(at, "\n") + 1, before = strlen(found);
        CHECK(before + size < sizeof found);
        memcpy(found + before, at, size);
        found[before + size] = '\0';
        at += size - 2;
    }
    CHECK_STR(found, expected);
}

#define CLAIMS                                                                                  \
    ",\"gpu_job\":[" ROW(1, 1, "12") "\"job_id\":\"12\",\"workload\":\"slurm:12\"}," ROW(       \
        2, 2, "7.pbs") ""                                                                       \
                       "\"job_id\":\"7.pbs\",\"workload\":null,\"availability\":{\"workload\":" \
                       "\"unsupported\"}}]"

#define NOBODY ",\"process\":[],\"gpu_process\":[]"

static void a_file_tells_where_no_process_does(void)
{
    char *text = rendered(EXPOSITION_WORKLOAD, CLAIMS NOBODY);
    CHECK_CONTAINS(text, "# TYPE vitals_gpu_job_info gauge\n");
    check_jobs(text, "vitals_gpu_job_info{gpu=\"0\",uuid=\"GPU-a\",workload=\"slurm:12\","
                     "job_id=\"12\",by=\"prolog\"} 1\n"
                     "vitals_gpu_job_info{gpu=\"1\",uuid=\"GPU-b\",job_id=\"7.pbs\","
                     "by=\"prolog\"} 1\n");
    free(text);
}

static void a_process_of_a_job_proves_it(void)
{
    char *text = rendered(
        EXPOSITION_WORKLOAD,
        CLAIMS ",\"process\":[" ROW(11, null, "50") "\"pid\":50,\"workload\":\"slurm:99.0\"}," ROW(
            12, null,
            "51") "\"pid\":51,\"workload\":\"slurm:99.0\"}," ROW(13, null,
                                                                 "52") ""
                                                                       "\"pid\":52,\"workload\":"
                                                                       "\"k8s:shop/web/"
                                                                       "nginx\"}],\"gpu_process\":"
                                                                       "[" ROW(
                                                                           1, 1,
                                                                           "50") "\"pid\":50,"
                                                                                 "\"process\":11}"
                                                                                 "," ROW(
                                                                                     2, 1,
                                                                                     "51") "\"p"
                                                                                           "id"
                                                                                           "\":"
                                                                                           "51,"
                                                                                           "\"p"
                                                                                           "roc"
                                                                                           "ess"
                                                                                           "\":"
                                                                                           "12}"
                                                                                           "," ROW(
                                                                                               3, 1,
                                                                                               "52") "\"pid\":52,\"process\":13}]");
    check_jobs(text, "vitals_gpu_job_info{gpu=\"0\",uuid=\"GPU-a\",workload=\"slurm:99.0\","
                     "job_id=\"99\",by=\"process\"} 1\n"
                     "vitals_gpu_job_info{gpu=\"0\",uuid=\"GPU-a\",workload=\"k8s:shop/web/nginx\","
                     "by=\"process\"} 1\n"
                     "vitals_gpu_job_info{gpu=\"1\",uuid=\"GPU-b\",job_id=\"7.pbs\","
                     "by=\"prolog\"} 1\n");
    free(text);
}

/* A service on the device, as a monitoring daemon, says nothing of whose it is. */
static void who_is_no_job_proves_none(void)
{
    char *text = rendered(
        EXPOSITION_WORKLOAD,
        CLAIMS ",\"process\":[" ROW(
            11, null, "50") "\"pid\":50,\"workload\":\"unit:dcgm.service\"}],"
                            "\"gpu_process\":[" ROW(1, 1, "50") "\"pid\":50,\"process\":11}]");
    CHECK_CONTAINS(text, "workload=\"slurm:12\",job_id=\"12\",by=\"prolog\"} 1\n");
    free(text);
}

static void where_workloads_are_off_no_job_is_told(void)
{
    char *text = rendered(EXPOSITION_OFF, CLAIMS NOBODY);
    check_jobs(text, "");
    free(text);
}

static const check_test tests[] = {
    {"a file tells where no process does", a_file_tells_where_no_process_does},
    {"a process of a job proves it", a_process_of_a_job_proves_it},
    {"who is no job proves none", who_is_no_job_proves_none},
    {"where workloads are off no job is told", where_workloads_are_off_no_job_is_told},
};
CHECK_TESTS(tests)
