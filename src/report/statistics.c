/* statistics.c: see statistics.h. */
#include "report/statistics.h"

#include <math.h>

/* Welford's recurrence: exact enough for bytes of terabytes. */
void statistics_add(struct statistics *statistics, double value)
{
    double before = value - statistics->mean;
    statistics->count++;
    statistics->mean += before / (double)statistics->count;
    statistics->square_sum += before * (value - statistics->mean);
    statistics->total += value;
    if (statistics->count == 1 || value < statistics->min)
        statistics->min = value;
    if (statistics->count == 1 || value > statistics->max)
        statistics->max = value;
}

double statistics_deviation(const struct statistics *statistics)
{
    if (statistics->count < 2)
        return (double)NAN;
    return sqrt(statistics->square_sum / (double)(statistics->count - 1));
}

double statistics_gpu_tracker_std(const struct statistics *statistics)
{
    return statistics->count > 0 ? sqrt(statistics->square_sum / (double)statistics->count)
                                 : (double)NAN;
}

/* The continued fraction of the incomplete beta function, by Lentz's method (Abramowitz and Stegun
 * 26.5.8). */
static double beta_fraction(double a, double b, double x)
{
    enum { TERMS = 300 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double result = d;
    for (int i = 1; i <= TERMS; i++) {
        double m = i;
        const double steps[2] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                 -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        double change = 1;
        for (int half = 0; half < 2; half++) {
            d = 1 + steps[half] * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + steps[half] / c;
            c = fabs(c) < tiny ? tiny : c;
            change = d * c;
            result *= change;
        }
        if (fabs(change - 1) < 1e-14)
            break;
    }
    return result;
}

/* I_x(a, b). */
static double beta_share(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double statistics_welch(const struct statistics *a, const struct statistics *b)
{
    if (a->count < 2 || b->count < 2)
        return 1;
    double na = (double)a->count, nb = (double)b->count;
    double va = a->square_sum / (na - 1) / na, vb = b->square_sum / (nb - 1) / nb;
    if (va + vb <= 0)
        return a->mean == b->mean ? 1 : 0;
    double t = (a->mean - b->mean) / sqrt(va + vb);
    double freedom = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
    /* With sets of one size the limit is never reached: there it is the most that can come out. */
    double few = fmin(na, nb), many = fmax(na, nb);
    freedom = fmin(freedom, (few - 1) * (1 + few / many));
    return beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}
