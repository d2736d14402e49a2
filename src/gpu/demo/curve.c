/* curve.c: see curve.h. */
#include "gpu/demo/curve.h"

/* Between 0 and 1, the same for the same seed and number. */
static double chance(uint64_t seed, uint64_t number)
{
    uint64_t x = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + number * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 31)) * UINT64_C(0x94d049bb133111eb);
    x = (x ^ (x >> 29)) * UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return (double)(x >> 11) / (double)(UINT64_C(1) << 53);
}

void demo_curve_init(struct demo_curve *curve, uint64_t seed, double low, double high)
{
    for (unsigned i = 0; i < DEMO_POINTS; i++)
        curve->points[i] = low + (high - low) * chance(seed, i);
}

static double point(const struct demo_curve *curve, uint64_t number)
{
    return curve->points[number % DEMO_POINTS];
}

double demo_curve_at(const struct demo_curve *curve, double seconds)
{
    double place = seconds / DEMO_POINT_SECONDS;
    uint64_t before = (uint64_t)place;
    double part = place - (double)before;
    return point(curve, before) * (1 - part) + point(curve, before + 1) * part;
}

double demo_curve_integral(const struct demo_curve *curve, double seconds)
{
    uint64_t before = (uint64_t)(seconds / DEMO_POINT_SECONDS);
    double round = 0, sum = 0;
    for (unsigned i = 0; i < DEMO_POINTS; i++) {
        double piece = (point(curve, i) + point(curve, i + 1)) / 2 * DEMO_POINT_SECONDS;
        round += piece;
        if (i < before % DEMO_POINTS)
            sum += piece;
    }
    double rest = seconds - (double)(before * DEMO_POINT_SECONDS);
    double last = (point(curve, before) + demo_curve_at(curve, seconds)) / 2 * rest;
    return (double)(before / DEMO_POINTS) * round + sum + last;
}
