/* 03_top.c: what each process used of the CPUs in half a second. A rate needs two snapshots. */
#include <stdio.h>
#include <vitals/vitals.h>

int main(void)
{
    vitals_error error;
    vitals_context *context = NULL;
    vitals_request *request = NULL;
    vitals_sampler *sampler = NULL;
    vitals_snapshot *older = NULL, *newer = NULL;
    if (vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_request_new(VITALS_SET_PROCESSES, &request, &error) < 0 ||
        vitals_request_set_interval(request, 500000000, &error) < 0 ||
        vitals_sampler_new(context, request, &sampler, &error) < 0 ||
        vitals_sampler_next(sampler, &older, &error) < 0 || /* at once */
        vitals_sampler_next(sampler, &newer, &error) < 0)   /* half a second later */
        return fprintf(stderr, "%s\n", error.message), 1;

    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(newer, VITALS_TABLE_PROCESS, row)) != NULL) {
        double cpus;
        if (vitals_row_rate(row, older, VITALS_PROCESS_CPU_SECONDS, &cpus) > 0 && cpus >= 0.01)
            printf("%6.1f %%  %s\n", cpus * 100, vitals_row_label(row));
    }
    vitals_snapshot_unref(older);
    vitals_snapshot_unref(newer);
    vitals_sampler_free(sampler);
    vitals_request_free(request);
    vitals_context_free(context);
}
