/* base.h: the handful of words that every room uses.
 *
 * Knows no operating system and no vitals type. Nothing here allocates or fails.
 * Thread rule: everything is pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A parameter that a function has because of its type alone. */
#define UNUSED __attribute__((unused))

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS     UINT64_C(1000000)

/* The largest integer that a JSON reader keeps exact (2^53). Counters saturate here. */
#define EXACT_MAX UINT64_C(9007199254740992)

static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t saturating_mul(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static inline size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline uint64_t uint64_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t uint64_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}
