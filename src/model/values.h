/* values.h: numbers with their availability, on their way from a source to a row.
 *
 * Plain data without pointers: a worker copies it as bytes. Text travels beside it. Zeroed memory
 * is all VITALS_UNSET. */
#pragma once

#include "model/catalogue.h"
#include <vitals/availability.h>

/* The state of a number that is made of two: the worse of those above zero; bounds from both sides
 * leave an estimate. */
vitals_availability state_worse(vitals_availability a, vitals_availability b);

struct value {
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
    } as;
    signed char state; /* a vitals_availability */
};

/* The values of one row, by the metric's number. */
struct values {
    struct value at[METRIC_NUMBERS];
};

/* When each of them was read, where they are not all read together; 0: never. */
struct moments {
    uint64_t at[METRIC_NUMBERS];
};

static inline struct value value_u64(uint64_t number)
{
    return (struct value){.as.u64 = number, .state = VITALS_HAVE};
}

static inline struct value value_i64(int64_t number)
{
    return (struct value){.as.i64 = number, .state = VITALS_HAVE};
}

static inline struct value value_f64(double number)
{
    return (struct value){.as.f64 = number, .state = VITALS_HAVE};
}

static inline struct value value_missing(vitals_availability reason)
{
    return (struct value){.state = (signed char)reason};
}

static inline void values_set(struct values *values, vitals_metric metric, struct value value)
{
    values->at[metric_number(metric)] = value;
}
