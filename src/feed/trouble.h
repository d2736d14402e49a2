/* trouble.h: what is wrong with a device, in a few words, for every view of devices. Pure.
 *
 * There are two kinds. A silence stands in place of the memory: nothing can be read of the device.
 * A note stands beside values that can be read: hardware errors, the age of values that are not
 * fresh, and what holds the clocks down. Words and their order are tables in trouble.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

struct silence {
    vitals_availability reason;
    const char *word;
    bool is_fault; /* false: the device is well, and asleep */
};

/* NULL: something can be read, or it is missing for a reason that is no trouble. */
const struct silence *trouble_silence(const vitals_row *gpu);

/* Returns true if a reading that every view shows is stale, and the age of the oldest of these. */
bool trouble_age(const vitals_row *gpu, double *seconds);

/* "Xid 79", "ECC 2, Xid 63", "throttled: heat, power", "5 s old": the gravest first, then what fits
 * in so many columns; the gravest is said even where it does not. Returns false if nothing is
 * wrong. ASCII. */
enum { TROUBLE_WORDS = 128 };
bool trouble_note(const vitals_row *gpu, size_t columns, char out[static TROUBLE_WORDS]);

/* Writes the causes of throttling: "heat, power"; "" if none is known. Returns false if some cause
 * cannot be read, with the reason of the first of these. */
bool trouble_throttle(const vitals_row *gpu, char out[static TROUBLE_WORDS],
                      vitals_availability *reason);

/* Says why no process of a device is listed, if that is no proof that there is none; else NULL. */
const char *trouble_users(const vitals_snapshot *snapshot);

/* "5 s", "23 min", "7 h", "4 days" */
enum { SPAN_WORDS = 24 };
char *span_words(double seconds, char out[static SPAN_WORDS]);
