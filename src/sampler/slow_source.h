/* slow_source.h: the sources of what may block of a process: command lines, users, shared memory.
 *
 * A command line waits for the lock of a process's memory, a user name for a directory server: so a
 * thread of its own reads them, in batches, and a tick takes what is there by its deadline. Reading
 * PSS walks through a process's memory and takes its time by the size of it: it has a worker of its
 * own, which only the first tick waits for.
 *
 * While a worker is late, what it was asked for is STALE or TIMED_OUT. A process that hangs is left
 * to its thread (source.h), up to four for each worker; it is not asked again until its thread
 * comes back, and what that brings counts. */
#ifndef VITALS_SAMPLER_SLOW_SOURCE_H
#define VITALS_SAMPLER_SLOW_SOURCE_H

#include "sampler/plan.h"
#include "sampler/source.h"

/* For the columns of processes that the plan wants of workers; no such columns, no threads. Returns
 * 0 or VITALS_EMEMORY. */
int slow_sources_add(struct sources *sources, const struct plan *plan);

#endif
