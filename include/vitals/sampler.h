/* sampler.h: carries out a request, tick by tick.
 *
 * A sampler keeps what it learned: descriptors of processes, devices, the last values. Either you
 * take snapshots with it (in your own thread), or it runs a thread of its own and leaves the newest
 * snapshot in a slot; then nobody waits for anybody. Slow sources are read on lanes: at the
 * deadline (half the interval, at most 100 ms) a tick goes on with the last value, marked stale.
 *
 * One thread at a time per sampler, but for vitals_sampler_latest, which any thread may call. */
#ifndef VITALS_SAMPLER_H
#define VITALS_SAMPLER_H

#include <vitals/request.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_sampler vitals_sampler;

/* *out is yours to free; the request may be freed at once. Reads nothing yet.
 * Errors: EARGUMENT (an empty request), EMEMORY, ESYSTEM (no thread, no descriptor). */
VITALS_API VITALS_CHECKED int vitals_sampler_new(vitals_context *context,
                                                 const vitals_request *request,
                                                 vitals_sampler **out, vitals_error *error)
    VITALS_NONNULL(1, 2, 3);

/* Stops its thread. A lane that hangs in a driver is left behind, never cancelled: the call
 * returns within the deadline all the same. Accepts NULL. */
VITALS_API void vitals_sampler_free(vitals_sampler *sampler);

/* One tick, now, in the caller's thread; *out is yours to unref.
 * Errors: EMEMORY, EARGUMENT (its own thread runs). */
VITALS_API VITALS_CHECKED int vitals_sampler_take(vitals_sampler *sampler, vitals_snapshot **out,
                                                  vitals_error *error) VITALS_NONNULL(1, 2);

/* Starts the thread: one tick at once and then one at each interval, at absolute deadlines; a
 * tick that is missed is skipped and counted. Errors: ESYSTEM, EARGUMENT (runs already). */
VITALS_API VITALS_CHECKED int vitals_sampler_start(vitals_sampler *sampler, vitals_error *error)
    VITALS_NONNULL(1);

/* Can be read (poll) whenever the slot holds a snapshot that latest has not given yet.
 * Owned by the sampler; -1 before start. */
VITALS_API int vitals_sampler_descriptor(const vitals_sampler *sampler) VITALS_NONNULL(1);

/* The newest snapshot, yours to unref, or NULL where there is none yet. Never waits. */
VITALS_API vitals_snapshot *vitals_sampler_latest(vitals_sampler *sampler) VITALS_NONNULL(1);

/* Ends the thread and returns within the deadline. Harmless where none runs. */
VITALS_API void vitals_sampler_stop(vitals_sampler *sampler) VITALS_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
