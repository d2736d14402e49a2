/* worker.h: a thread and a mailbox, for what may take its time.
 *
 * A job is a block of plain data with a question in it. The owner fills the question and asks; the
 * worker's thread works it off, in the order of asking, and puts the answer beside the question;
 * the owner collects. Whoever's turn it is not leaves the block alone, so nothing else is shared.
 * The owner never waits for a worker but on the event's descriptor, until a deadline.
 *
 * A thread inside a driver can neither be stopped nor be waited for. So a worker is counted: it
 * belongs to its owner and to its thread, and whichever goes last frees it. What work needs (its
 * world) is counted in the same way.
 *
 * Locks: one mutex per worker, a leaf: nothing is called while it is held.
 * Thread rule: all functions are the owner's (the tick thread); only `work` runs on the worker. */
#ifndef VITALS_SAMPLER_WORKER_H
#define VITALS_SAMPLER_WORKER_H

#include "os/world.h"

/* Where answers are announced: one descriptor for all workers of a sampler. Counted. */
struct worker_event;

struct worker_event *worker_event_new(
    vitals_context *context); /* NULL: no descriptor or no memory */
void worker_event_unref(struct worker_event *event);

/* Waits until something was answered since the last call, or the deadline: true, false. */
bool worker_event_wait(struct worker_event *event, uint64_t deadline_ns);

/* What a worker does. `world` is shared by the workers of one source and counted by them. */
struct worker_service {
    const char *name;                      /* of the thread, at most 15 bytes */
    void (*work)(void *world, void *data); /* on the worker's thread */
    void (*world_ref)(void *world);        /* any thread */
    void (*world_unref)(void *world);      /* any thread */
    void (*data_free)(void *data);         /* any thread */
};

enum worker_job_state {
    WORKER_IDLE,    /* the owner may fill the question and ask */
    WORKER_ASKED,   /* waits for its turn */
    WORKER_RUNNING, /* the thread is in it */
    WORKER_DONE     /* the answer is there and waits to be collected */
};

struct worker;

/* NULL when there is no memory or no thread. */
struct worker *worker_new(struct worker_event *event, const struct worker_service *service,
                          void *world);

/* Adds a job; the worker owns `data` from now on. Its number, or -1 when the worker is full (then
 * data is still yours). */
int worker_add(struct worker *worker, void *data);

/* Takes a job that is not running back out of the worker, and its data with it. */
void *worker_remove(struct worker *worker, int job);

/* Its data: yours to touch while the job is idle, and after collect until the next ask. */
void *worker_data(struct worker *worker, int job);

enum worker_job_state worker_state(struct worker *worker, int job);

/* Asks; the job must be idle. */
void worker_ask(struct worker *worker, int job);

/* True where an answer was there: the job is idle again and its data may be read. */
bool worker_collect(struct worker *worker, int job);

/* The job that the thread is in, and since when (monotonic); -1 for none. */
int worker_running(struct worker *worker, uint64_t *since_ns);

/* Tells the thread to end as soon as it comes back, and does not wait for it. */
void worker_tell_end(struct worker *worker);

/* The same, and waits for that until the deadline; then the thread is left behind, and the worker
 * is not yours any more. */
void worker_end(struct worker *worker, uint64_t deadline_ns);

#endif
