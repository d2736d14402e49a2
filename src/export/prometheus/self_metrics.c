/* self_metrics.c: see self_metrics.h. */
#include "export/prometheus/self_metrics.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SELF_CPU, SELF_RESIDENT, SELF_VIRTUAL, SELF_START, SELF_OPEN, SELF_MOST };

// clang-format off
const struct metric_family self_metric_families[SELF_METRIC_FAMILIES] = {
    [SELF_CPU] = {.name = "process_cpu_seconds_total", .parts = {{VITALS_PROCESS_CPU_SECONDS, NULL}},
                  .help = "CPU time that the program which answers has used."},
    [SELF_RESIDENT] = {.name = "process_resident_memory_bytes", .parts = {{VITALS_PROCESS_RESIDENT_BYTES, NULL}},
                       .help = "Its memory that is resident."},
    [SELF_VIRTUAL] = {.name = "process_virtual_memory_bytes", .parts = {{VITALS_PROCESS_VIRTUAL_BYTES, NULL}},
                      .help = "Its address space."},
    [SELF_START] = {.name = "process_start_time_seconds", .parts = {{VITALS_PROCESS_START_SECONDS, NULL}},
                    .help = "When it was started, since 1970."},
    [SELF_OPEN] = {.name = "process_open_fds", .parts = {{VITALS_PROCESS_DESCRIPTORS, NULL}},
                   .help = "Descriptors that it has open."},
    [SELF_MOST] = {.name = "process_max_fds", .help = "Descriptors that it may have open."},
};
// clang-format on

struct self_metrics {
    vitals_context *context;
    vitals_request *request;
    vitals_process *process;
};

struct self_metrics *self_metrics_new(void)
{
    struct self_metrics *metrics = calloc(1, sizeof *metrics);
    vitals_options options;
    if (metrics == NULL)
        return NULL;
    vitals_options_init(&options, sizeof options);
    options.backends = ""; /* without devices */
    int code = vitals_context_new(&options, &metrics->context, NULL);
    if (code == 0)
        code = vitals_process_open(metrics->context, getpid(), &metrics->process, NULL);
    if (code == 0)
        code = vitals_request_new(0, &metrics->request, NULL);
    if (code == 0)
        code = vitals_request_add(metrics->request, VITALS_HOST_BOOT_TIME_SECONDS, NULL);
    for (size_t i = 0; i < SELF_METRIC_FAMILIES && code == 0; i++) {
        vitals_metric metric = self_metric_families[i].parts[0].metric;
        if (metric != 0)
            code = vitals_request_add(metrics->request, metric, NULL);
    }
    if (code == 0)
        return metrics;
    self_metrics_free(metrics);
    return NULL;
}

void self_metrics_free(struct self_metrics *metrics)
{
    if (metrics == NULL)
        return;
    vitals_request_free(metrics->request);
    vitals_process_close(metrics->process);
    vitals_context_free(metrics->context);
    free(metrics);
}

size_t self_metrics_read(struct self_metrics *metrics,
                         struct exposition_figure figures[SELF_METRIC_FAMILIES])
{
    vitals_snapshot *answer;
    struct rlimit limit;
    size_t count = 0;
    if (vitals_process_ask(metrics->process, metrics->request, &answer, NULL) < 0)
        return 0;
    const vitals_row *row = vitals_snapshot_next(answer, VITALS_TABLE_PROCESS, NULL);
    const vitals_row *host = vitals_snapshot_next(answer, VITALS_TABLE_HOST, NULL);
    for (size_t i = 0; i < SELF_METRIC_FAMILIES; i++) {
        vitals_metric metric = self_metric_families[i].parts[0].metric;
        double value = 0, booted = 0;
        bool known = i == SELF_MOST ? getrlimit(RLIMIT_NOFILE, &limit) == 0
                                    : row != NULL && vitals_row_number(row, metric, &value) > 0;
        if (i == SELF_MOST && known)
            value = (double)limit.rlim_cur;
        if (i == SELF_START) /* from since the machine's start to since 1970 */
            known = known && host != NULL &&
                    vitals_row_number(host, VITALS_HOST_BOOT_TIME_SECONDS, &booted) > 0;
        if (known)
            figures[count++] = (struct exposition_figure){&self_metric_families[i], value + booted};
    }
    vitals_snapshot_unref(answer);
    return count;
}
