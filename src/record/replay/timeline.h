/* timeline.h: snapshots that were kept, by time: at a moment, one further, one back.
 *
 * A recording, a file of JSON and what a monitor keeps (history_ring.h) all give one. It stands
 * between two snapshots, as a cursor does; one is held at a time, so that memory is that of one
 * snapshot whatever the size of the file. All times are realtime_ns of snapshots. One thread at a
 * time. */
#ifndef VITALS_RECORD_REPLAY_TIMELINE_H
#define VITALS_RECORD_REPLAY_TIMELINE_H

#include "record/recording.h"

struct timeline_span {
    uint64_t first_ns, last_ns; /* the oldest, the newest; 0 where there is none */
    uint64_t count;
};

struct timeline {
    void *data;

    /* What there is now: a file that is being written grows. Once another has its name (--rotate),
     * this and all that gives snapshots fail with EGONE. Costs two look-ups, no snapshot.
     * 0, or a negative VITALS_E…. */
    int (*span)(void *data, struct timeline_span *out, vitals_error *error);

    /* Stands behind the newest snapshot that is not after `realtime_ns` and gives it: where all are
     * after it, the first; of UINT64_MAX the last that was written, which is not the newest where
     * the clock was set back. 1: *out is yours to unref; `next` and `previous` go on from it. 0:
     * there is none at all. Negative: VITALS_E…. One that is broken is passed over, towards the
     * newer first, and said by `problem`. */
    int (*at)(void *data, uint64_t realtime_ns, vitals_snapshot **out, vitals_error *error);

    /* The one after, or before, that which was given last; before any: the first, the last.
     * As `at`; 0: none there (yet): where it stands stays. */
    int (*next)(void *data, vitals_snapshot **out, vitals_error *error);
    int (*previous)(void *data, vitals_snapshot **out, vitals_error *error);

    /* Where the one lies that was given last: numbers rise as they were written, whatever the clock
     * said. And to stand there again; one that has gone meanwhile is no error. */
    int64_t (*place)(void *data);
    void (*stand)(void *data, int64_t place);

    /* Phases of all threads in the order of their beginnings; as of this call, borrowed until the
     * next. NULL where what is kept knows none. Read anew only where there are more. */
    const struct recorded_phase *(*phases)(void *data, size_t *count);

    /* What is wrong with it and was passed over, a sentence a line; "": nothing so far. */
    const char *(*problem)(void *data);

    void (*close)(void *data);
};

/* A recording with snapshots (SQLite), or a file of JSON that can be rewound: its documents are
 * looked up once, 1 s a GB or so. JSON that was cut off is read as far as it goes.
 * Errors: those of recording_open; EUNSUPPORTED: it holds no snapshots (a CSV, an account), or the
 * file is a pipe; EFORMAT. The message says what to do instead. */
int timeline_open(const char *path, struct timeline *out, vitals_error *error);

/* A snapshot more of a span whose first_ns begins as UINT64_MAX. */
static inline void timeline_widen(struct timeline_span *span, uint64_t realtime_ns)
{
    if (realtime_ns < span->first_ns)
        span->first_ns = realtime_ns;
    if (realtime_ns > span->last_ns)
        span->last_ns = realtime_ns;
}

/* Closes what was opened; harmless on zeroed memory. */
void timeline_close(struct timeline *timeline);

/* The phase that a moment is in: of those that are open then, the one that began last. NULL: none.
 */
const struct recorded_phase *timeline_phase_at(const struct timeline *timeline,
                                               uint64_t realtime_ns);

/* The nearest beginning or end of a phase after the moment, or before it, by more than 1 µs.
 * False: none. */
bool timeline_mark_after(const struct timeline *timeline, uint64_t realtime_ns, uint64_t *out);
bool timeline_mark_before(const struct timeline *timeline, uint64_t realtime_ns, uint64_t *out);

#endif
