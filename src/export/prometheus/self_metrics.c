/* self_metrics.c: see exposition.h. */

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "export/prometheus/exposition_page.h"

const struct self_family self_families[] = {
    {"process_cpu_seconds_total", "CPU time that the program which answers has used.",
     VITALS_PROCESS_CPU_SECONDS},
    {"process_resident_memory_bytes", "Its memory that is resident.",
     VITALS_PROCESS_RESIDENT_BYTES},
    {"process_virtual_memory_bytes", "Its address space.", VITALS_PROCESS_VIRTUAL_BYTES},
    {"process_start_time_seconds", "When it was started, since 1970.",
     VITALS_PROCESS_START_SECONDS},
    {"process_open_fds", "Descriptors that it has open.", VITALS_PROCESS_DESCRIPTORS},
    {"process_max_fds", "Descriptors that it may have open.", 0},
};
const size_t self_families_count = sizeof self_families / sizeof self_families[0];

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
    for (size_t i = 0; i < self_families_count && code == 0; i++) {
        if (self_families[i].metric != 0)
            code = vitals_request_add(metrics->request, self_families[i].metric, NULL);
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

void self_metrics_write(struct self_metrics *metrics, struct exposition_page *page)
{
    vitals_snapshot *answer;
    struct rlimit limit;
    if (metrics == NULL ||
        vitals_process_ask(metrics->process, metrics->request, &answer, NULL) < 0)
        return;
    const vitals_row *row = vitals_snapshot_next(answer, VITALS_TABLE_PROCESS, NULL);
    const vitals_row *host = vitals_snapshot_next(answer, VITALS_TABLE_HOST, NULL);
    for (size_t i = 0; i < self_families_count; i++) {
        const vitals_metric metric = self_families[i].metric;
        double value = 0, booted = 0;
        bool known = metric == 0 ? getrlimit(RLIMIT_NOFILE, &limit) == 0
                                 : row != NULL && vitals_row_number(row, metric, &value) > 0;
        if (metric == 0 && known)
            value = (double)limit.rlim_cur;
        if (metric == VITALS_PROCESS_START_SECONDS) /* counts from the machine's start */
            known = known && host != NULL &&
                    vitals_row_number(host, VITALS_HOST_BOOT_TIME_SECONDS, &booted) > 0;
        if (!known)
            continue;
        page_family(page, "", self_families[i].name, family_type(self_families[i].name),
                    self_families[i].help);
        page_sample(page);
        page_value(page, value + booted);
    }
    vitals_snapshot_unref(answer);
}
