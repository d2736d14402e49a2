/* Measures the program itself and prints the time between its own marks:
 *
 *     own_phases
 *     load      0.02 s
 *     train     0.31 s
 *
 * The run makes a file for marks; mark.h writes to the one that VITALS_MARKS names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vitals/mark.h>
#include <vitals/vitals.h>

struct phase {
    char name[64];
    uint64_t begin_ns;
};

/* Called in the run's thread. */
static int on_mark(void *data, const vitals_mark *mark, vitals_error *error)
{
    struct phase *phase = data;
    (void)error;
    if (mark->begins) {
        snprintf(phase->name, sizeof phase->name, "%s", mark->name);
        phase->begin_ns = mark->monotonic_ns;
    } else if (strcmp(phase->name, mark->name) == 0) {
        printf("%-8s %5.2f s\n", mark->name, (double)(mark->monotonic_ns - phase->begin_ns) / 1e9);
    }
    return 0;
}

static unsigned long work(unsigned long steps)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < steps; i++)
        sum = sum * 31 + i;
    return sum;
}

int main(void)
{
    struct phase phase = {"", 0};
    vitals_error error;
    vitals_run *run = NULL;
    vitals_run_options options;
    vitals_run_observer observer;
    vitals_run_observer_init(&observer, sizeof observer);
    observer.data = &phase;
    observer.mark = on_mark;
    vitals_run_options_init(&options, sizeof options);
    options.observer = &observer;
    options.interval_ns = 100000000;
    options.marks_path = ""; /* the run makes the file */
    int code = vitals_run_open(&options, &run, &error);
    if (code == 0)
        code = setenv("VITALS_MARKS", vitals_run_marks_path(run), 1);
    if (code == 0)
        code = vitals_run_start(run, &error);
    if (code < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    VITALS_BEGIN("load");
    unsigned long sum = work(20000000);
    VITALS_END("load");
    VITALS_BEGIN("train");
    sum += work(200000000);
    VITALS_END("train");

    code = vitals_run_stop(run, &error); /* every mark is told before this returns */
    vitals_run_close(run);
    return code < 0 || sum == 1;
}
