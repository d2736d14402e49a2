/* worker.h: a thread and a mailbox, for what may take its time.
 *
 * A job is a block of plain data with a question in it. The owner fills the question and asks; the
 * lane's thread works it off, in the order of asking, and puts the answer beside the question; the
 * owner collects. Whoever's turn it is not leaves the block alone, so nothing else is shared. The
 * owner never waits for a lane but on the hub's descriptor, until a deadline.
 *
 * A thread inside a driver can neither be stopped nor be waited for. So a lane is counted: it
 * belongs to its owner and to its thread, and whichever goes last frees it. What work needs (its
 * world) is counted in the same way.
 *
 * Locks: one mutex per lane, a leaf: nothing is called while it is held.
 * Thread rule: all functions are the owner's (the tick thread); only `work` runs on the lane. */
#ifndef VITALS_SAMPLER_WORKER_H
#define VITALS_SAMPLER_WORKER_H

#include "os/world.h"

/* Where answers are announced: one descriptor for all lanes of a sampler. Counted. */
struct lane_hub;

struct lane_hub *lane_hub_new(vitals_context *context); /* NULL: no descriptor or no memory */
void lane_hub_unref(struct lane_hub *hub);

/* Waits until something was answered since the last call, or the deadline: true, false. */
bool lane_hub_wait(struct lane_hub *hub, uint64_t deadline_ns);

/* What a lane does. `world` is shared by the lanes of one source and counted by them. */
struct lane_service {
    const char *name;                      /* of the thread, at most 15 bytes */
    void (*work)(void *world, void *data); /* on the lane's thread */
    void (*world_ref)(void *world);        /* any thread */
    void (*world_unref)(void *world);      /* any thread */
    void (*data_free)(void *data);         /* any thread */
};

enum lane_job_state {
    LANE_IDLE,    /* the owner may fill the question and ask */
    LANE_ASKED,   /* waits for its turn */
    LANE_RUNNING, /* the thread is in it */
    LANE_DONE     /* the answer is there and waits to be collected */
};

struct lane;

/* NULL when there is no memory or no thread. */
struct lane *lane_new(struct lane_hub *hub, const struct lane_service *service, void *world);

/* Adds a job; the lane owns `data` from now on. Its number, or -1 when the lane is full (then data
 * is still yours). */
int lane_add(struct lane *lane, void *data);

/* Takes a job that is not running back out of the lane, and its data with it. */
void *lane_remove(struct lane *lane, int job);

/* Its data: yours to touch while the job is idle, and after collect until the next ask. */
void *lane_data(struct lane *lane, int job);

enum lane_job_state lane_state(struct lane *lane, int job);

/* Asks; the job must be idle. */
void lane_ask(struct lane *lane, int job);

/* True where an answer was there: the job is idle again and its data may be read. */
bool lane_collect(struct lane *lane, int job);

/* The job that the thread is in, and since when (monotonic); -1 for none. */
int lane_running(struct lane *lane, uint64_t *since_ns);

/* Tells the thread to end as soon as it comes back, and does not wait for it. */
void lane_tell_end(struct lane *lane);

/* The same, and waits for that until the deadline; then the thread is left behind, and the lane is
 * not yours any more. */
void lane_end(struct lane *lane, uint64_t deadline_ns);

#endif
