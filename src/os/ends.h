/* ends.h: follows trees of running processes by the kernel's events: each birth, and the accounting
 * record of each end.
 *
 * So processes that come and go between two samples are counted, whichever process reaps them, and
 * also after their parents have ended. On new kernels every user may receive births; records of
 * ends need root. Nothing is changed. Thread rule: one thread at a time. */
#pragma once

#include "os/counted.h"
#include "os/os.h"

struct os_ends;

/* The roots and all below them, without the excluded ones and all below those. */
struct os_trees {
    const int64_t *roots, *excluded_pids;
    size_t root_count, excluded_count;
};

/* Follows those trees from now on. Returns 0, or a negative errno if nothing is reported here. */
int os_ends_open(const struct os *os, const struct os_trees *trees, struct os_ends **out);
void os_ends_free(struct os_ends *ends); /* accepts NULL */

/* Takes what was told, once a second at least, as the kernel keeps only so much. Where it keeps too
 * little for a second, soon after os_ends_news is readable too: a descriptor, -1 elsewhere. */
void os_ends_drain(struct os_ends *ends);
int os_ends_news(const struct os_ends *ends);

/* How many there were; with records also what they used since: all that have ended, and those that
 * live by their clocks, as far as clocks tell. Lower bounds all, as what a process does behind its
 * record is not in it; but COUNTED_MEMORY_SUM_BYTES, of those that have ended alone. Quantities
 * that it does not count are left as they are. */
void os_ends_read(struct os_ends *ends, struct counted *out);

/* "taskstats connector " or "connector ", a blank behind each. */
const char *os_ends_names(const struct os_ends *ends);
