/* worker.h: a thread and a mailbox, for calls that may block, and the detection of calls that hang.
 *
 * A job is a block of plain data with a question in it. The owner fills the question and asks; the
 * worker's thread works the jobs off in the order of asking and puts the answer beside the
 * question; the owner collects. At any time exactly one of the two may touch the block, so nothing
 * else is shared. The owner never waits for a worker except on the event's descriptor, until a
 * deadline.
 *
 * A thread inside a driver can neither be stopped nor be waited for. So a worker is counted: it
 * belongs to its owner and to its thread, and the last of the two frees it. Data
 * that its jobs share is counted in the same way.
 *
 * A job that works on several items of which each may hang (processes, mounts, devices) tells its
 * gate before and after each. If the thread makes no progress for WORKER_HANG_NS, it hangs; the
 * owner may then give it up and ask a new worker, which avoids that item.
 *
 * Locks: one mutex per worker, a leaf: nothing is called while it is held.
 * Thread rule: all functions are the owner's (the tick thread); only `work` and the functions of
 * its gate run on the worker. */
#pragma once

#include "os/world.h"

#include <stdatomic.h>

/* Without progress for so long, a thread hangs. */
#define WORKER_HANG_NS (2 * NS_PER_SECOND)

/* Where answers are announced: one descriptor for all workers of a sampler. Counted. */
struct worker_event;

struct worker_event *worker_event_new(
    vitals_context *context); /* NULL: no descriptor or no memory */
void worker_event_unref(struct worker_event *event);

/* Waits until a worker has answered all that it was asked, or the deadline: true, false. */
bool worker_event_wait(struct worker_event *event, uint64_t deadline_ns);

/* The state that jobs share beside their data. Counted; a source may extend it by a struct that
 * begins with it. */
struct worker_world {
    atomic_uint refs;
    vitals_context *context;
    void *own;                                /* of the source */
    void (*done)(struct worker_world *world); /* frees what is in it; may be NULL; any thread */
};

/* A zeroed struct of `size` bytes that begins with a world, with one reference. NULL: no memory. */
void *worker_world_new(vitals_context *context, size_t size,
                       void (*done)(struct worker_world *world));
void worker_world_unref(struct worker_world *world); /* any thread; accepts NULL */

/* The functions of a kind of worker. `work` runs on its thread; data_free on any. */
struct worker_service {
    const char *name; /* of the thread, at most 15 bytes */
    void (*work)(struct worker_world *world, void *data, const struct os_gate *gate);
    void (*data_free)(void *data);
};

enum worker_job_state {
    WORKER_IDLE,    /* the owner may fill the question and ask */
    WORKER_ASKED,   /* waits for its turn */
    WORKER_RUNNING, /* the thread is in it */
    WORKER_DONE     /* the answer is there and waits to be collected */
};

struct worker;

/* Takes a reference of the world. NULL: no memory or no thread. */
struct worker *worker_new(struct worker_event *event, const struct worker_service *service,
                          struct worker_world *world);

enum { WORKER_JOBS_MAX = 400 };

/* Adds a job; the worker owns `data` from now on. Its number, or -1 if the worker is full (then
 * data is still the caller's). */
int worker_add(struct worker *worker, void *data);

/* Takes a job that is not running back out of the worker, and its data with it. */
void *worker_remove(struct worker *worker, int job);

/* Its data: the owner may touch it while the job is idle. */
void *worker_data(struct worker *worker, int job);

enum worker_job_state worker_state(struct worker *worker, int job);

/* Asks; the job must be idle. */
void worker_ask(struct worker *worker, int job);

/* True if an answer was there: the job is idle again and its data may be read. How long the last
 * answer took. */
bool worker_collect(struct worker *worker, int job);
uint64_t worker_spent_ns(struct worker *worker, int job);

/* ---- hangs ---- */

/* Whether its thread hangs; then in which job, and in which item of it (0: in none). */
bool worker_hangs(struct worker *worker, int *job, uint64_t *item);

/* Its thread passes over all items behind this one, for good. False if it has left the item: then
 * nothing changes. */
bool worker_give_up(struct worker *worker, uint64_t item);

/* Its thread passes over these items from now on, instead of those named before; at most
 * WORKER_AVOIDED of them. */
enum { WORKER_AVOIDED = 8 };
void worker_avoid(struct worker *worker, const uint64_t *items, size_t count);

/* ---- the end ---- */

/* Tells the thread to end as soon as it comes back, and does not wait for it. */
void worker_tell_end(struct worker *worker);

/* The same, and waits for that until the deadline; then the thread is left behind. The worker is no
 * longer the caller's. */
void worker_end(struct worker *worker, uint64_t deadline_ns);
