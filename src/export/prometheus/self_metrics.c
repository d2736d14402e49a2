/* self_metrics.c: see exposition.h. */

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "export/prometheus/exposition_page.h"

static const struct {
    const char *name;
    vitals_metric metric; /* 0: the limit of descriptors */
    const char *help;
} FAMILIES[] = {
    {"process_cpu_seconds_total", VITALS_PROCESS_CPU_SECONDS,
     "CPU time that the program which answers has used."},
    {"process_resident_memory_bytes", VITALS_PROCESS_RESIDENT_BYTES,
     "Its memory that is resident."},
    {"process_virtual_memory_bytes", VITALS_PROCESS_VIRTUAL_BYTES, "Its address space."},
    {"process_start_time_seconds", VITALS_PROCESS_START_SECONDS,
     "When it was started, since 1970."},
    {"process_open_fds", VITALS_PROCESS_DESCRIPTORS, "Descriptors that it has open."},
    {"process_max_fds", 0, "Descriptors that it may have open."},
};

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
    for (size_t i = 0; i < sizeof FAMILIES / sizeof FAMILIES[0] && code == 0; i++) {
        if (FAMILIES[i].metric != 0)
            code = vitals_request_add(metrics->request, FAMILIES[i].metric, NULL);
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
    for (size_t i = 0; i < sizeof FAMILIES / sizeof FAMILIES[0]; i++) {
        const vitals_metric metric = FAMILIES[i].metric;
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
        page_family(page, "", FAMILIES[i].name, family_type(FAMILIES[i].name), FAMILIES[i].help);
        page_sample(page);
        page_value(page, value + booted);
    }
    vitals_snapshot_unref(answer);
}
