/* sampler.h: carries out a request, tick by tick.
 *
 * A sampler keeps what it learned: descriptors of processes, devices, the last values. Either you
 * take snapshots with it (in your own thread), or it runs a thread of its own and leaves the newest
 * snapshot in a slot; then neither side waits for the other.
 *
 * Slow sources are read on workers: at the deadline (half the interval, at most 100 ms) a tick goes
 * on with the last value, marked stale. The first vitals_sampler_take alone waits longer, up to 2.2
 * s, for sources that have never answered: loading a driver may take that long. Over many processes
 * (64 and more) it also starts up to three threads, as there are CPUs for them, that read with the
 * caller's and have ended when it returns; so does a tick that meets everybody anew.
 *
 * The threads of a sampler, by their names; each sleeps unless it reads. All but the first begin
 * with the sampler, or with the first tick that needs them:
 *
 *     vitals-tick      vitals_sampler_start: one
 *     vitals-first     a tick that meets many processes: up to three, which end with it
 *     vitals-machine   VITALS_SET_MACHINE: what of it may block
 *     vitals-mounts    VITALS_SET_FILESYSTEMS, table mount
 *     vitals-sensors   VITALS_SET_SENSORS
 *     vitals-tables    the tables network_address, login and socket
 *     vitals-files     VITALS_SET_PROCESSES: command lines, users and other columns that may block
 *     vitals-memory    columns that the kernel sums up over a process's memory, as pss_bytes
 *     vitals-groups    the table workload
 *     vitals-gpu       VITALS_SET_GPUS: one for each back end, or device that may hang
 *     vitals-sweep     VITALS_SET_GPUS: users of devices whose driver does not list them
 *
 * VITALS_SET_SOURCES has none of its own. A worker whose call hangs is replaced by another one, up
 * to four or eight times.
 *
 * One thread at a time per sampler, but for vitals_sampler_latest and subscriptions, which any
 * thread may use. After fork(2) the child can only free it: context.h. */
#ifndef VITALS_SAMPLER_H
#define VITALS_SAMPLER_H

#include <vitals/request.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_sampler vitals_sampler;

/* Makes a sampler; *out is yours to free, the request may be freed at once. Reads nothing yet.
 * Errors: EARGUMENT (an empty request, a table that only a live handle answers), EMEMORY (also: no
 * thread or no descriptor to be had). Cost: it starts the threads of slow sources. */
VITALS_API VITALS_CHECKED int vitals_sampler_new(vitals_context *context,
                                                 const vitals_request *request,
                                                 vitals_sampler **out, vitals_error *error)
    VITALS_NONNULL(1, 2, 3);

/* Frees a sampler and stops its thread. A worker that hangs in a driver is left behind, never
 * cancelled: the call returns within the deadline all the same. Accepts NULL. */
VITALS_API void vitals_sampler_free(vitals_sampler *sampler);

/* Takes a snapshot now, in the caller's thread; *out is yours to unref. Errors: EMEMORY, EARGUMENT
 * (its own thread runs, another thread is in take or start, or this is a child of fork). Cost: the
 * first call opens what it reads and waits for slow sources. Each later one makes, for a process,
 * one to three system calls, seven beyond max_descriptors (context.h); one for each file of the
 * machine; and allocates nothing. */
VITALS_API VITALS_CHECKED int vitals_sampler_take(vitals_sampler *sampler, vitals_snapshot **out,
                                                  vitals_error *error) VITALS_NONNULL(1, 2);

/* Waits for the next tick, then takes a snapshot, as vitals_sampler_take: the loop of a program
 * that samples in its own thread. The first call does not wait. The second waits for the request's
 * interval, and later ones for absolute deadlines, an interval apart: one that has passed is
 * skipped and counted (source.missed_ticks). It waits by the context's clock and cannot be woken: a
 * program that waits for other things too uses a subscription. Errors: ESYSTEM (the clock cannot
 * wait), and those of vitals_sampler_take. Cost: that of vitals_sampler_take, and one sleep. */
VITALS_API VITALS_CHECKED int vitals_sampler_next(vitals_sampler *sampler, vitals_snapshot **out,
                                                  vitals_error *error) VITALS_NONNULL(1, 2);

/* Starts the thread: one tick at once and then one at each interval, at absolute deadlines; a tick
 * that is missed is skipped and counted. Errors: ESYSTEM, EARGUMENT (runs already, or this is a
 * child of fork). Cost: one thread; each tick costs what vitals_sampler_take does. */
VITALS_API VITALS_CHECKED int vitals_sampler_start(vitals_sampler *sampler, vitals_error *error)
    VITALS_NONNULL(1);

/* Returns the newest snapshot of the thread, yours to unref, or NULL if there is none yet, and in a
 * child of fork. Never waits. Any thread. Cost: no system call. */
VITALS_API vitals_snapshot *vitals_sampler_latest(vitals_sampler *sampler) VITALS_NONNULL(1);

/* Ends the thread and returns within the deadline. Does nothing if none runs. */
VITALS_API void vitals_sampler_stop(vitals_sampler *sampler) VITALS_NONNULL(1);

/* One consumer of a sampler's snapshots. Each has a descriptor of its own, so that none takes a
 * wake-up from another. */
typedef struct vitals_subscription vitals_subscription;

/* Makes a subscription; *out is yours to free, before the sampler. Free accepts NULL.
 * Errors: EMEMORY, ESYSTEM (no descriptor), EARGUMENT (a child of fork). Any thread. Cost: one
 * descriptor, and one system call at each tick. */
VITALS_API VITALS_CHECKED int vitals_subscription_new(vitals_sampler *sampler,
                                                      vitals_subscription **out,
                                                      vitals_error *error) VITALS_NONNULL(1, 2);
VITALS_API void vitals_subscription_free(vitals_subscription *subscription);

/* Returns a descriptor that poll(2) finds readable while there is a snapshot that this subscription
 * has not returned. Owned by the subscription. */
VITALS_API int vitals_subscription_descriptor(const vitals_subscription *subscription)
    VITALS_NONNULL(1);

/* Returns the newest snapshot, as vitals_sampler_latest does; the descriptor is not readable until
 * there is a newer one. */
VITALS_API vitals_snapshot *vitals_subscription_latest(vitals_subscription *subscription)
    VITALS_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
