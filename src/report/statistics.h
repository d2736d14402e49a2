/* statistics.h: least, largest, mean and spread of numbers, and whether two sets of them differ by
 * more than chance. Pure. */
#pragma once

#include <stddef.h>

struct statistics {
    size_t count;
    double min, max, mean, total;
    double square_sum; /* of distances from the mean */
};

/* Adds one at a time: begin with zeroed memory. */
void statistics_add(struct statistics *statistics, double value);

/* The standard deviation: of a sample, divided by count - 1; NaN for fewer than two. */
double statistics_deviation(const struct statistics *statistics);

/* Divided by count, as gpu_tracker does: for its forms alone. */
double statistics_gpu_tracker_std(const struct statistics *statistics);

/* How probable it is that two sets with one mean come out as different as these (Welch's t-test,
 * two-sided). If one set is much smaller, that test finds a difference too often (4 % of the time
 * instead of 1 % with 2 and 10): the degrees of freedom are limited there. 1 where either has fewer
 * than two; 0 or 1 where neither varies. */
double statistics_welch(const struct statistics *a, const struct statistics *b);
