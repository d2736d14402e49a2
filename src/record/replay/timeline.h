/* timeline.h: a cursor over stored snapshots: at a time, the next, the previous.
 *
 * A recording, a file of JSON and the monitor's last hour (history_ring.h) provide one. It holds
 * one snapshot at a time, so that memory does not depend on the size of the file. All times are
 * realtime_ns of snapshots. One thread at a time. */
#pragma once

#include "record/recording.h"

struct timeline_span {
    uint64_t first_ns, last_ns; /* of the oldest and the newest snapshot; 0: none */
    uint64_t count;
};

struct timeline {
    void *data;

    /* Gets the span as it is now: a file may grow. After its name was given to another file
     * (--rotate), this and all functions that give snapshots return EGONE. Cost: two look-ups.
     * Returns 0 or a negative VITALS_E…. */
    int (*span)(void *data, struct timeline_span *out, vitals_error *error);

    /* Moves to the newest snapshot that is not after `realtime_ns` and gives it; if all are after
     * it, the first; for UINT64_MAX the one written last, even if the clock was set back. Broken
     * snapshots are skipped, to newer ones first, and named by `problem`. Returns 1 (the caller
     * unrefs *out), 0 if there are none, or a negative VITALS_E…. */
    int (*at)(void *data, uint64_t realtime_ns, vitals_snapshot **out, vitals_error *error);

    /* Gives the snapshot after, or before, the one given last; at first the first, or the last.
     * Returns as `at`; 0: none there (yet), and the position stays. */
    int (*next)(void *data, vitals_snapshot **out, vitals_error *error);
    int (*previous)(void *data, vitals_snapshot **out, vitals_error *error);

    /* Gets the position of the snapshot given last, and moves back to it. Positions rise in the
     * order of writing, whatever the clock said. A snapshot that is gone meanwhile is no error. */
    int64_t (*place)(void *data);
    void (*stand)(void *data, int64_t place);

    /* Returns the phases of all threads by their beginnings, borrowed until the next call; NULL if
     * none are known. Reads only new ones. */
    const struct recorded_phase *(*phases)(void *data, size_t *count);

    /* Returns the problems so far, a sentence a line, or "". */
    const char *(*problem)(void *data);

    void (*close)(void *data);
};

/* Opens a recording with snapshots (SQLite) or a file of JSON that can be rewound, whose documents
 * are indexed once, about 1 s a GB. JSON that was cut off is read as far as it is whole. Errors:
 * those of recording_open; EUNSUPPORTED: it holds no snapshots (a CSV, an account), or is a pipe;
 * EFORMAT. The message says what to do instead. */
int timeline_open(const char *path, struct timeline *out, vitals_error *error);

/* ---- what provides one ---- */

enum timeline_place {
    TIMELINE_AFTER,
    TIMELINE_BEFORE,
    TIMELINE_UNTIL_TIME,
    TIMELINE_FROM_TIME /* for frames_find alone */
};

/* How stored snapshots are found and read; the rest of a timeline follows from it. */
struct timeline_store {
    /* Finds the number of the snapshot next after, or before, a number, or of the newest that is
     * not after a time in ns. Returns 1, 0 if there is none, or a negative VITALS_E…. */
    int (*find)(void *data, enum timeline_place place, int64_t argument, int64_t *number,
                vitals_error *error);

    /* Returns 0 or a negative VITALS_E…; EFORMAT and EUNSUPPORTED concern one snapshot, which is
     * skipped. */
    int (*read)(void *data, int64_t number, vitals_snapshot **out, vitals_error *error);
};

/* The data of a timeline begins with it. */
struct timeline_state {
    const struct timeline_store *store;
    bool placed;
    int64_t number; /* of the snapshot given last, if `placed` */
    bool broken;    /* a snapshot could not be read; `why` says the reason */
    vitals_error why;
    struct recording *recording; /* its phases and problems; NULL: none */
};

/* Returns a timeline over the state's store; `span` and `close` are left to be set. */
struct timeline timeline_over(struct timeline_state *state);

/* The readers that timeline_open chooses from. */
int timeline_database_open(const char *path, struct timeline *out, vitals_error *error);
int timeline_json_open(const char *path, struct timeline *out, vitals_error *error);

/* Adds a time to a span whose first_ns begins as UINT64_MAX. */
static inline void timeline_widen(struct timeline_span *span, uint64_t realtime_ns)
{
    if (realtime_ns < span->first_ns)
        span->first_ns = realtime_ns;
    if (realtime_ns > span->last_ns)
        span->last_ns = realtime_ns;
}

/* Closes a timeline; a zeroed one is ignored. */
void timeline_close(struct timeline *timeline);

/* Returns the newest phase that is open at that time, or NULL. */
const struct recorded_phase *timeline_phase_at(const struct timeline *timeline,
                                               uint64_t realtime_ns);

/* Finds the nearest beginning or end of a phase that is more than 1 µs after that time (`direction`
 * 1), or before it (-1). Returns false if there is none. */
bool timeline_nearest_mark(const struct timeline *timeline, uint64_t realtime_ns, int direction,
                           uint64_t *out);
