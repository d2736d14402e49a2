/* 09_sampler.c: a sampler with a thread of its own; the program's loop waits with poll(2). */
#include <poll.h>
#include <stdio.h>
#include <vitals/vitals.h>

int main(void)
{
    vitals_error error;
    vitals_context *context = NULL;
    vitals_request *request = NULL;
    vitals_sampler *sampler = NULL;
    vitals_subscription *subscription = NULL;
    if (vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_request_new(VITALS_SET_MACHINE, &request, &error) < 0 ||
        vitals_request_set_interval(request, 200000000, &error) < 0 ||
        vitals_sampler_new(context, request, &sampler, &error) < 0 ||
        vitals_subscription_new(sampler, &subscription, &error) < 0 ||
        vitals_sampler_start(sampler, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    vitals_snapshot *older = NULL;
    struct pollfd ready = {.fd = vitals_subscription_descriptor(subscription), .events = POLLIN};
    for (int seen = 0; seen < 4 && poll(&ready, 1, 10000) > 0; seen++) {
        vitals_snapshot *newer = vitals_subscription_latest(subscription);
        if (newer == NULL)
            continue;
        double cpus;
        const vitals_row *host = vitals_snapshot_next(newer, VITALS_TABLE_HOST, NULL);
        if (vitals_row_rate(host, older, VITALS_HOST_CPU_BUSY_SECONDS, &cpus) > 0)
            printf("%.2f CPUs busy\n", cpus);
        vitals_snapshot_unref(older);
        older = newer;
    }
    vitals_snapshot_unref(older);
    vitals_subscription_free(subscription);
    vitals_sampler_free(sampler); /* ends its thread */
    vitals_request_free(request);
    vitals_context_free(context);
}
