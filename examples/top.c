/* top.c: the ten processes that used the CPUs most in a second, in CPUs. */
#include <stdio.h>
#include <string.h>
#include <vitals/vitals.h>

int main(void)
{
    vitals_error error;
    vitals_context *context;
    vitals_request *request;
    vitals_sampler *sampler;
    vitals_snapshot *taken[2]; /* a rate needs two */
    if (vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_request_new(VITALS_SET_PROCESSES, &request, &error) < 0 ||
        vitals_sampler_new(context, request, &sampler, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;
    const vitals_clock *clock = vitals_context_clock(context);
    for (uint64_t i = 0, start = clock->monotonic_ns(clock->data); i < 2; i++) {
        clock->wait_until(clock->data, -1, start + i * 1000000000);
        if (vitals_sampler_take(sampler, &taken[i], &error) < 0)
            return fprintf(stderr, "%s\n", error.message), 1;
    }
    struct {
        double cpus;
        const char *name;
    } top[11] = {{0}}; /* in order; the last one has no place */
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(taken[1], VITALS_TABLE_PROCESS, row));) {
        double cpus;
        size_t at = 10;
        if (vitals_row_rate(row, taken[0], VITALS_PROCESS_CPU_SECONDS, &cpus) <= 0)
            continue;
        while (at > 0 && (top[at - 1].name == NULL || top[at - 1].cpus < cpus))
            at--;
        memmove(&top[at + 1], &top[at], (10 - at) * sizeof *top);
        top[at].cpus = cpus;
        top[at].name = vitals_row_label(row);
    }
    for (size_t i = 0; i < 10 && top[i].name != NULL; i++)
        printf("%6.2f  %s\n", top[i].cpus, top[i].name);
    vitals_snapshot_unref(taken[0]);
    vitals_snapshot_unref(taken[1]);
    vitals_sampler_free(sampler);
    vitals_request_free(request);
    vitals_context_free(context);
}
