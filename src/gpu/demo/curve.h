/* curve.h: a load that moves, made of nothing but a seed.
 *
 * A closed curve through made-up points: straight between two, the same again after the last. So
 * its integral (busy time, energy) is exact at any moment and needs no memory, and no libm decides
 * a last digit. Thread rule: pure. */
#ifndef VITALS_GPU_DEMO_CURVE_H
#define VITALS_GPU_DEMO_CURVE_H

#include "util/base.h"

enum { DEMO_POINTS = 64, DEMO_POINT_SECONDS = 6 };

/* A curve of zeros is flat and 0. */
struct demo_curve {
    double points[DEMO_POINTS];
};

/* A curve between two heights. */
void demo_curve_init(struct demo_curve *curve, uint64_t seed, double low, double high);
double demo_curve_at(const struct demo_curve *curve, double seconds);

/* From 0 to then. */
double demo_curve_integral(const struct demo_curve *curve, double seconds);

#endif
