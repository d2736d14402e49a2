/* mathematics.c: functions of <math.h> under their own names, each of which opens libm at the first
 * call (library.h): charts and comparisons need it, and no start pays for it. One that is called
 * and is not in the list is a link error. What `vitals run` does must call none.
 *
 * Without the library all give NaN. What takes a few instructions stands here: the monitor's
 * screens round and compare, and would open 0.3 MiB for nothing else. Thread rule: any thread. */
#if VITALS_LATE_MATHEMATICS
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed/library.h"

#define OF_ONE(FUNCTION)                  \
    FUNCTION(double, exp, (double)NAN)    \
    FUNCTION(double, exp2, (double)NAN)   \
    FUNCTION(double, lgamma, (double)NAN) \
    FUNCTION(double, log, (double)NAN)    \
    FUNCTION(double, log10, (double)NAN)  \
    FUNCTION(double, log2, (double)NAN)   \
    FUNCTION(double, sqrt, (double)NAN)

#define OF_TWO(FUNCTION) FUNCTION(fmod) FUNCTION(pow)

#define HIDDEN __attribute__((visibility("hidden")))

static struct {
#define ONE(result, name, none) result (*name)(double a);
#define TWO(name)               double (*name)(double a, double b);
    OF_ONE(ONE)
    OF_TWO(TWO)
#undef ONE
#undef TWO
    double (*fma)(double a, double b, double c);
} mathematics;

static bool is_open(void)
{
#define ONE(result, name, none) TWO(name)
#define TWO(name)               {#name, offsetof(__typeof__(mathematics), name)},
    static const struct library_symbol SYMBOLS[] = {
        OF_ONE(ONE) OF_TWO(TWO) //
        {"fma", offsetof(__typeof__(mathematics), fma)},
    };
#undef ONE
#undef TWO
    static struct library library = {.file = "libm.so.6",
                                     .table = &mathematics,
                                     .symbols = SYMBOLS,
                                     .count = sizeof(SYMBOLS) / sizeof(SYMBOLS[0])};
    return library_missing(&library) == NULL;
}

#define DEFINE_ONE(result, name, none)                 \
    HIDDEN result name(double a)                       \
    {                                                  \
        return is_open() ? mathematics.name(a) : none; \
    }
OF_ONE(DEFINE_ONE)
#undef DEFINE_ONE

#define DEFINE_TWO(name)                                         \
    HIDDEN double name(double a, double b)                       \
    {                                                            \
        return is_open() ? mathematics.name(a, b) : (double)NAN; \
    }
OF_TWO(DEFINE_TWO)
#undef DEFINE_TWO

HIDDEN double fma(double a, double b, double c)
{
    return is_open() ? mathematics.fma(a, b, c) : (double)NAN;
}

/* ---- what needs no library ---- */

/* Halves away from zero; exact: a number that is not below 2^52 has no fraction, and what is left
 * of any other without its own is told without an error. */
HIDDEN double round(double a)
{
    static const double WHOLE = 4503599627370496.0;
    if (!(a > -WHOLE && a < WHOLE))
        return a;
    double whole = (double)(int64_t)a, rest = a - whole;
    whole += rest >= 0.5 ? 1 : rest <= -0.5 ? -1 : 0;
    return copysign(whole, a);
}

HIDDEN long long llround(double a)
{
    static const double MOST = 9223372036854775808.0;
    return a >= -MOST && a < MOST ? (long long)round(a) : LLONG_MIN;
}

HIDDEN long lround(double a)
{
    static const double MOST = -2 * (double)(LONG_MIN / 2);
    return a >= -MOST && a < MOST ? (long)round(a) : LONG_MIN;
}

HIDDEN double fmax(double a, double b)
{
    return isnan(a) || a < b ? b : a;
}

HIDDEN double fmin(double a, double b)
{
    return isnan(a) || a > b ? b : a;
}
#else
typedef int mathematics_is_linked;
#endif
