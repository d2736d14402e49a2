/* clock.h: the clock that a context uses.
 *
 * Every instant and every wait of the library goes through one of these records, so that a test
 * runs a day in a second. All times are nanoseconds.
 *
 * The record is copied where it is handed in; what its functions use is not. If a driver's call
 * can hang (every context that asks for real devices), a thread that cannot be ended is left in it
 * and uses the clock when the call returns: the functions and `data` must then live until the
 * process ends, not only until the context is freed. */
#ifndef VITALS_CLOCK_H
#define VITALS_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No longest time for a wait. */
#define VITALS_FOREVER UINT64_MAX

/* Grows at its end only. No function may be NULL. */
typedef struct vitals_clock {
    size_t size; /* sizeof(vitals_clock), set by the caller */
    void *data;  /* handed to each function; see above how long it must live */

    uint64_t (*monotonic_ns)(void *data); /* for intervals: CLOCK_MONOTONIC */
    uint64_t (*boottime_ns)(void *data);  /* since boot, suspend included: CLOCK_BOOTTIME */
    uint64_t (*realtime_ns)(void *data);  /* since 1970, may step: CLOCK_REALTIME */

    /* Returns 1 as soon as `descriptor` can be read (-1: there is none), 0 once the monotonic
     * clock has reached the deadline (UINT64_MAX: never), or a negative errno, which ends the
     * sampler's thread that asked. Called from several threads at once. */
    int (*wait_until)(void *data, int descriptor, uint64_t deadline_ns);
} vitals_clock;

/* Returns the system's clock. Never NULL, never freed. Any thread. */
VITALS_API const vitals_clock *vitals_clock_system(void);

#ifdef __cplusplus
}
#endif

#endif
