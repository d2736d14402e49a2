/* measure.c: see measure.h. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void measure_begin(struct measure *measure)
{
    measure->wall_begin = read_ns(CLOCK_MONOTONIC);
    measure->cpu_begin = read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void measure_end(struct measure *measure)
{
    if (measure->count == MEASURE_SWEEPS)
        return;
    measure->cpu_ns[measure->count] = read_ns(CLOCK_PROCESS_CPUTIME_ID) - measure->cpu_begin;
    measure->wall_ns[measure->count] = read_ns(CLOCK_MONOTONIC) - measure->wall_begin;
    measure->count++;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void print_pair(const char *name, uint64_t *ns, size_t count, size_t processes)
{
    if (count == 0 || processes == 0)
        return;
    qsort(ns, count, sizeof *ns, compare);
    double scale = 1e3 * (double)processes;
    printf(" %s_min=%.4f %s_median=%.4f", name, (double)ns[0] / scale, name,
           (double)ns[count / 2] / scale);
}

void measure_print(struct measure *measure, const char *name, const char *phase, size_t processes)
{
    printf("case=%s phase=%s processes=%zu", name, phase, processes);
    print_pair("us", measure->cpu_ns, measure->count, processes);
    print_pair("wall", measure->wall_ns, measure->count, processes);
}

size_t measure_argument(const char *program, const char *text, size_t maximum)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    if (end != text && *end == '\0' && text[0] != '-' && number <= maximum)
        return (size_t)number;
    fprintf(stderr, "%s: \"%s\" is not a number up to %zu\n", program, text, maximum);
    exit(2);
}

void measure_raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        perror("descriptors");
}
