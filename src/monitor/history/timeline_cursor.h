/* timeline_cursor.h: what a screen needs to show a moment that was kept: the snapshots of it, and
 * those before it that rates are made of. Which moment, and when another, the player says
 * (player.h).
 *
 * What it gives follows from the moment alone, never from how one came there. One thread at a time.
 */
#ifndef VITALS_MONITOR_HISTORY_TIMELINE_CURSOR_H
#define VITALS_MONITOR_HISTORY_TIMELINE_CURSOR_H

#include "monitor/model.h"
#include "record/replay/timeline.h"

/* Snapshots up to a moment, the oldest about a window before it. */
enum { TRAIL_MOST = 34 };
struct trail {
    vitals_snapshot *items[TRAIL_MOST];
    int64_t places[TRAIL_MOST]; /* where each lies in the timeline */
    size_t count;
};

/* A timeline and where it stands. Snapshots are known by their places: the clock may have been set
 * back while they were kept. */
struct reel {
    struct timeline timeline; /* its `data` may be NULL: there is none */
    struct trail trail;
    bool tried;                   /* many were broken, the last time that one went on … */
    bool tried_forward;           /* in this direction … */
    int64_t tried_from, tried_to; /* from this place, up to this one */
};

struct past {
    struct reel machine; /* the machine and its devices, or everything */
    struct reel all;     /* every process, where they were kept beside it */
    uint64_t window_ns;  /* of rates of processes */
    int64_t peeked;      /* the place of what past_peek gave last */
    vitals_error apart;  /* why there are no processes of where it stands; code 0: nothing failed */
};

/* Timelines are taken over, and closed in the end. `all` may be NULL. */
void past_init(struct past *past, struct timeline machine, const struct timeline *all,
               uint64_t window_ns);
void past_done(struct past *past);

/* Stands at the newest snapshot that is not after the moment, or at the first. 1; 0: there is none;
 * negative: VITALS_E…, and it stands where it was. Where processes alone cannot be read there are
 * none, and `apart` says why. */
int past_at(struct past *past, uint64_t realtime_ns, vitals_error *error);

/* Stands so many snapshots further (below 0: back), as far as there are any: 1 where it moved. */
int past_step(struct past *past, int steps, vitals_error *error);

/* The snapshot after the one that it stands at, without going there: yours to unref. 0: none yet.
 */
int past_peek(struct past *past, vitals_snapshot **out, vitals_error *error);

/* Goes on to one that `past_peek` gave, which is taken over. */
void past_follow(struct past *past, vitals_snapshot *next);

/* Where it stands, borrowed; NULL: nowhere yet. And its realtime; 0. */
const vitals_snapshot *past_now(const struct past *past);
uint64_t past_moment_ns(const struct past *past);

/* The reel that has every process at this moment; else that of the machine. */
struct reel *past_processes(struct past *past);

/* Where a reel stands, borrowed, and its place; and the snapshot before that of a place, which is
 * told then: yours to unref. 0: none. */
const vitals_snapshot *reel_now(const struct reel *reel);
int64_t reel_place(const struct reel *reel);
int reel_before(struct reel *reel, int64_t *place, vitals_snapshot **out, vitals_error *error);

/* As readings of a model, references of their own. */
void past_readings(const struct past *past, struct readings *machine, struct readings *all);

#endif
