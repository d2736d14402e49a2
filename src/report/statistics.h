/* statistics.h: least, largest, mean and spread of numbers, and whether two sets of them differ by
 * more than chance. Pure. */
#ifndef VITALS_REPORT_STATISTICS_H
#define VITALS_REPORT_STATISTICS_H

#include <stddef.h>

struct statistics {
    size_t count;
    double min, max, mean, total;
    double std;        /* of the population: divided by count */
    double square_sum; /* of distances from the mean */
};

/* Adds one at a time: begin with zeroed memory. */
void statistics_add(struct statistics *statistics, double value);

/* The standard deviation of a sample: divided by count - 1; 0 for fewer than two. */
double statistics_deviation(const struct statistics *statistics);

/* How probable it is that two sets with one mean come out as different as these (Welch's t-test,
 * two-sided). 1 where either has fewer than two; 0 or 1 where neither varies. */
double statistics_welch(const struct statistics *a, const struct statistics *b);

#endif
