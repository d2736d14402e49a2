/* busiest.c: which processes have used the CPUs most, second by second.
 *
 * A rate needs two snapshots; the program keeps the older one itself. */
#include <stdio.h>
#include <vitals/vitals.h>

static void print_busy(const vitals_snapshot *now, const vitals_snapshot *before)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(now, VITALS_TABLE_PROCESS, row));) {
        double cores;
        char safe[64];
        vitals_text name;
        if (vitals_row_rate(row, before, VITALS_PROCESS_CPU_SECONDS, &cores) <= 0 || cores < 0.01 ||
            vitals_row_text(row, VITALS_PROCESS_NAME, &name) <= 0)
            continue;
        vitals_text_format(name, VITALS_TEXT_TERMINAL, safe, sizeof safe);
        printf("%6.1f %%  %s\n", cores * 100, safe);
    }
    puts("");
}

int main(void)
{
    vitals_error error;
    vitals_context *context = NULL;
    vitals_request *request = NULL;
    vitals_sampler *sampler = NULL;
    vitals_snapshot *before = NULL, *now = NULL;
    if (vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_request_new(VITALS_SET_PROCESSES, &request, &error) < 0 ||
        vitals_sampler_new(context, request, &sampler, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    const vitals_clock *clock = vitals_context_clock(context);
    for (int i = 0; i < 4 && vitals_sampler_take(sampler, &now, &error) == 0; i++) {
        if (before != NULL)
            print_busy(now, before);
        vitals_snapshot_unref(before);
        before = now;
        clock->wait_until(clock->data, -1, clock->monotonic_ns(clock->data) + 1000000000u);
    }
    vitals_snapshot_unref(before);
    vitals_sampler_free(sampler);
    vitals_request_free(request);
    vitals_context_free(context);
}
