/* availability.h: how good a value is, or why there is none.
 *
 * A closed list; the numbers never change. Above zero there is a value, below zero there is none.
 * Zero means that the value was never written: a bug, which a test looks for in every output. The
 * functions here are pure: any thread. */
#ifndef VITALS_AVAILABILITY_H
#define VITALS_AVAILABILITY_H

#include <vitals/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vitals_availability {
    VITALS_HAVE = 1,        /* as the source gives it */
    VITALS_STALE = 2,       /* the source did not answer in time: an older value;
                             * vitals_row_read_ns says from when. A value that was not due keeps
                             * its availability */
    VITALS_ESTIMATE = 3,    /* computed by a model, or a share of a total */
    VITALS_LOWER_BOUND = 4, /* the true value is at least this */
    VITALS_UPPER_BOUND = 5, /* the true value is at most this */
    VITALS_SAMPLED = 6,     /* from samples; what happened between them was not seen */

    VITALS_UNSET = 0, /* a bug of vitals */

    VITALS_NOT_REQUESTED = -1, /* the request does not name this metric */
    VITALS_NOT_YET = -2,       /* needs another reading */
    VITALS_UNSUPPORTED = -3,   /* does not apply, or this device, driver or kernel
                                * does not have it */
    VITALS_DENIED = -4,        /* permission */
    VITALS_GONE = -5,          /* the process ended, the device is lost */
    VITALS_SUSPENDED = -6,     /* the device sleeps and was not woken */
    VITALS_TIMED_OUT = -7,     /* no answer in time, and no older one */
    VITALS_FAILED = -8,        /* the source answered with an error or with nonsense */
    VITALS_OUTSIDE = -9,       /* it belongs to another pid namespace */
    VITALS_WRONG_METRIC = -10  /* a metric of another table or type, or no row */
} vitals_availability;

enum { VITALS_AVAILABILITY_MIN = -10, VITALS_AVAILABILITY_MAX = 6 };

/* Returns the name of an availability, as JSON has it: "stale", "not_yet". Never NULL; "unset" for
 * a number outside the list. */
VITALS_API const char *vitals_availability_name(vitals_availability availability);

/* Returns the availability with a name (vitals_availability_name); VITALS_UNSET if there is none.
 */
VITALS_API vitals_availability vitals_availability_from_name(const char *name);

/* Returns an availability in a few words for a person: "needs a second reading". Never NULL. */
VITALS_API const char *vitals_availability_help(vitals_availability availability);

#ifdef __cplusplus
}
#endif

#endif
