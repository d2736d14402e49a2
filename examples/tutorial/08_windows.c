/* 08_windows.c: what this program itself used in each part of its work. */
#include <stdio.h>
#include <vitals/vitals.h>

static unsigned long work(unsigned long steps)
{
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < steps; i++)
        sum = sum * 31 + i;
    return sum;
}

int main(void)
{
    static const char *const parts[] = {"load", "train"};
    vitals_error error;
    vitals_collector *collector = NULL;
    vitals_run_options options;
    vitals_run_options_init(&options, sizeof options);
    options.interval_ns = 10000000;
    if (vitals_collector_new(&options, &collector, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        vitals_collection *used = NULL;
        int code = vitals_collector_begin(collector, parts[i], &error);
        work(200000000 * (i + 1));
        if (code < 0 || vitals_collector_end(collector, NULL, &used, &error) < 0)
            return fprintf(stderr, "%s\n", error.message), 1;

        /* Of a counter `last` is what it grew by in the window. */
        const vitals_collected *cpu = vitals_collection_find(
            used, parts[i], VITALS_MEASURE_CPU_SECONDS, VITALS_SCOPE_TREE, "");
        if (cpu != NULL && cpu->state > 0)
            printf("%-6s %.3f s of CPU in %.3f s\n", parts[i], cpu->last, cpu->seconds);
        vitals_collection_free(used);
    }
    vitals_collector_free(collector);
}
