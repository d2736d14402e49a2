/* timeline_cursor.h: what a screen needs to show a moment that was kept: the snapshots of it, and
 * those before it that rates are made of. Which moment, and when another, the player says
 * (player.h).
 *
 * What it gives follows from the moment alone, never from how one came there. One thread at a time.
 */
#pragma once

#include "monitor/model.h"
#include "record/replay/timeline.h"

/* Snapshots up to a moment, the oldest about a window before it. */
enum { RECENT_MOST = 34 };
struct recent_snapshots {
    struct recent_snapshot {
        vitals_snapshot *snapshot;
        int64_t place; /* where it lies in the timeline */
    } items[RECENT_MOST];
    size_t count;
};

/* A timeline and where it stands. Snapshots are known by their places: the clock may have been set
 * back while they were kept. */
struct timeline_reader {
    struct timeline timeline; /* its `data` may be NULL: there is none */
    struct recent_snapshots recent;
    bool tried;                   /* many were broken, the last time that one went on … */
    bool tried_forward;           /* in this direction … */
    int64_t tried_from, tried_to; /* from this place, up to this one */
};

struct timeline_cursor {
    struct timeline_reader machine; /* the machine and its devices, or everything */
    struct timeline_reader all;     /* every process, where they were kept beside it */
    uint64_t window_ns;             /* of rates of processes */
    int64_t peeked;                 /* the place of what timeline_cursor_peek gave last */
    vitals_error apart; /* why there are no processes of where it stands; code 0: nothing failed */
};

/* Timelines are taken over, and closed in the end. `all` may be NULL. */
void timeline_cursor_init(struct timeline_cursor *cursor, struct timeline machine,
                          const struct timeline *all, uint64_t window_ns);
void timeline_cursor_done(struct timeline_cursor *cursor);

/* Moves to the newest snapshot that is not after the time, or to the first. Returns 1; 0: there is
 * none; negative: VITALS_E…, and it stays where it was. If only the processes cannot be read there
 * are none, and `apart` holds the reason. */
int timeline_cursor_at(struct timeline_cursor *cursor, uint64_t realtime_ns, vitals_error *error);

/* Moves to the next snapshot, or the one before. Returns as timeline_cursor_at. */
int timeline_cursor_step(struct timeline_cursor *cursor, bool forward, vitals_error *error);

/* The snapshot after the one that it stands at, without going there: yours to unref. 0: none yet.
 */
int timeline_cursor_peek(struct timeline_cursor *cursor, vitals_snapshot **out,
                         vitals_error *error);

/* Goes on to one that `timeline_cursor_peek` gave, which is taken over. */
void timeline_cursor_follow(struct timeline_cursor *cursor, vitals_snapshot *next);

/* The snapshot at the cursor, borrowed; NULL: none yet. And its realtime, or 0. */
const vitals_snapshot *timeline_cursor_now(const struct timeline_cursor *cursor);
uint64_t timeline_cursor_time_ns(const struct timeline_cursor *cursor);

/* The reader that has every process at this time; else that of the machine. */
struct timeline_reader *timeline_cursor_processes(struct timeline_cursor *cursor);

/* The snapshot at a reader, borrowed, and its place. timeline_reader_before: the one before a
 * place, which it updates; yours to unref. 0: none. */
const vitals_snapshot *timeline_reader_now(const struct timeline_reader *reader);
int64_t timeline_reader_place(const struct timeline_reader *reader);
int timeline_reader_before(struct timeline_reader *reader, int64_t *place, vitals_snapshot **out,
                           vitals_error *error);

/* The readings of a model at the cursor; references of their own. */
void timeline_cursor_readings(const struct timeline_cursor *cursor, struct readings *machine,
                              struct readings *all);
