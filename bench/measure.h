/* measure.h: what the programs of bench/ share: two clocks, and one line of output per figure.
 *
 * Time is CPU time of all threads of the process, because that is what a machine loses to us; the
 * wall stands beside it. Of each the least and the median of several sweeps are printed: on a busy
 * machine the least is the one to compare.
 * Thread rule: one thread. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

enum { MEASURE_SWEEPS = 4096 };

/* Sweeps over the same processes. */
struct measure {
    size_t count;
    uint64_t cpu_ns[MEASURE_SWEEPS], wall_ns[MEASURE_SWEEPS];
    uint64_t cpu_begin, wall_begin;
};

void measure_begin(struct measure *measure);
void measure_end(struct measure *measure);

/* "case=plain phase=first processes=1003 us_min=… us_median=… wall_min=… wall_median=…", per
 * process and without a newline. */
void measure_print(struct measure *measure, const char *name, const char *phase, size_t processes);

/* A whole number from a command line, or an end with a line that says what is wrong. */
size_t measure_argument(const char *program, const char *text, size_t maximum);

/* As many open files as this user may have: both sides keep one or two per process. */
void measure_raise_descriptors(void);

#endif
