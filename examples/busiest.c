/* busiest.c: which processes have used the CPUs most, second by second. */
#include <stdio.h>
#include <vitals/vitals.h>

static void print_busy(const vitals_history *history, const vitals_snapshot *now)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(now, VITALS_TABLE_PROCESS, row)) != NULL) {
        char line[80];
        double cores;
        if (vitals_history_rate(history, row, VITALS_PROCESS_CPU_SECONDS, &cores) > 0 &&
            cores >= 0.01)
            printf("%6.1f %%  %s\n", cores * 100,
                   vitals_row_command(row, VITALS_TEXT_TERMINAL, line, sizeof line));
    }
    puts("");
}

int main(void)
{
    vitals_error error;
    vitals_context *context = NULL;
    vitals_request *request = NULL;
    vitals_sampler *sampler = NULL;
    vitals_history *history = NULL;
    vitals_snapshot *now = NULL;
    if (vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_request_new(VITALS_SET_PROCESSES, &request, &error) < 0 ||
        vitals_sampler_new(context, request, &sampler, &error) < 0 ||
        vitals_history_new(0, &history, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    const vitals_clock *clock = vitals_context_clock(context);
    for (int i = 0; i < 4 && vitals_sampler_take(sampler, &now, &error) == 0; i++) {
        vitals_history_add(history, now);
        print_busy(history, now);
        vitals_snapshot_unref(now);
        clock->wait_until(clock->data, -1, clock->monotonic_ns(clock->data) + 1000000000u);
    }
    vitals_history_free(history);
    vitals_sampler_free(sampler);
    vitals_request_free(request);
    vitals_context_free(context);
}
