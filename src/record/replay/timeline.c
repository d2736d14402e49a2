/* timeline.c: see timeline.h. Chooses the reader of a file, and finds phases by time. */
#include "record/replay/timeline.h"

#include <math.h>
#include <string.h>

#include "record/recording_data.h"

int timeline_open(const char *path, struct timeline *out, vitals_error *error)
{
    if (strcmp(path, "-") == 0)
        return record_fail(VITALS_EUNSUPPORTED, "standard input", error,
                           "has no way back; write it to a file first");
    int code = recording_has_frames(path) ? timeline_database_open(path, out, error)
                                          : timeline_json_open(path, out, error);
    if (code != VITALS_EUNSUPPORTED)
        return code;

    /* It has no snapshots: another recording, or none. */
    struct recording *recording = NULL;
    code = recording_open(path, &recording, error);
    recording_close(recording);
    return code < 0 ? code
                    : record_fail(VITALS_EUNSUPPORTED, path, error,
                                  "holds no snapshots; vitals report shows what is in it");
}

void timeline_close(struct timeline *timeline)
{
    if (timeline->close != NULL)
        timeline->close(timeline->data);
    *timeline = (struct timeline){.data = NULL};
}

/* ---- a timeline over a store ---- */

enum { BROKEN_MOST = 16 }; /* snapshots that one call skips */

static int64_t place(void *data)
{
    return ((struct timeline_state *)data)->number;
}

static void stand(void *data, int64_t number)
{
    struct timeline_state *state = data;
    state->number = number;
    state->placed = true;
}

static const char *problem(void *data)
{
    return recording_problem(((struct timeline_state *)data)->recording);
}

/* Returns 1, or 0 if the snapshot is broken and is skipped. */
static int try_read(struct timeline_state *state, int64_t number, vitals_snapshot **out,
                    vitals_error *error)
{
    int code = state->store->read(state, number, out, error);
    if (code == 0) {
        stand(state, number);
        return 1;
    }
    if (code != VITALS_EFORMAT && code != VITALS_EUNSUPPORTED)
        return code;
    if (!state->broken && state->recording != NULL)
        recording_wrong(state->recording, "some of its snapshots cannot be read: %s",
                        error->message);
    state->broken = true;
    state->why = *error;
    return 0;
}

/* Gives the nearest readable snapshot after *number, or before it. Returns 0 if there is none, or
 * sets *full after BROKEN_MOST broken ones: then *number is the last of them. */
static int walk(struct timeline_state *state, enum timeline_place direction, int64_t *number,
                vitals_snapshot **out, bool *full, vitals_error *error)
{
    *full = false;
    for (int i = 0; i < BROKEN_MOST; i++) {
        int code = state->store->find(state, direction, *number, number, error);
        if (code != 1)
            return code;
        code = try_read(state, *number, out, error);
        if (code != 0)
            return code;
    }
    *full = true;
    return 0;
}

/* The newest and the first are found by number, all others by time. */
static int at(void *data, uint64_t realtime_ns, vitals_snapshot **out, vitals_error *error)
{
    struct timeline_state *state = data;
    const struct timeline_store *store = state->store;
    bool newest = realtime_ns >= INT64_MAX, full;
    int64_t number, before;
    int code = store->find(state, newest ? TIMELINE_BEFORE : TIMELINE_UNTIL_TIME,
                           newest ? INT64_MAX : (int64_t)realtime_ns, &number, error);
    if (code == 0 && !newest)
        code = store->find(state, TIMELINE_AFTER, -1, &number, error);
    if (code <= 0)
        return code;

    before = number;
    code = try_read(state, number, out, error);
    if (code == 0)
        code = walk(state, TIMELINE_AFTER, &number, out, &full, error);
    if (code == 0)
        code = walk(state, TIMELINE_BEFORE, &before, out, &full, error);
    if (code != 0)
        return code;
    *error = state->why;
    return error->code;
}

/* If too many are broken, the position moves past them, and the next call goes on from there. */
static int go(struct timeline_state *state, enum timeline_place direction, int64_t number,
              vitals_snapshot **out, vitals_error *error)
{
    bool full;
    int code = walk(state, direction, &number, out, &full, error);
    if (code != 0 || !full)
        return code;
    stand(state, number);
    *error = state->why;
    return error->code;
}

static int next(void *data, vitals_snapshot **out, vitals_error *error)
{
    struct timeline_state *state = data;
    return go(state, TIMELINE_AFTER, state->placed ? state->number : -1, out, error);
}

static int previous(void *data, vitals_snapshot **out, vitals_error *error)
{
    struct timeline_state *state = data;
    return go(state, TIMELINE_BEFORE, state->placed ? state->number : INT64_MAX, out, error);
}

struct timeline timeline_over(struct timeline_state *state)
{
    return (struct timeline){.data = state,
                             .at = at,
                             .next = next,
                             .previous = previous,
                             .place = place,
                             .stand = stand,
                             .problem = problem};
}

/* ---- phases ---- */

static const struct recorded_phase *phases_of(const struct timeline *timeline, size_t *count)
{
    *count = 0;
    return timeline->phases != NULL ? timeline->phases(timeline->data, count) : NULL;
}

const struct recorded_phase *timeline_phase_at(const struct timeline *timeline,
                                               uint64_t realtime_ns)
{
    size_t count;
    const struct recorded_phase *phases = phases_of(timeline, &count), *found = NULL;
    double seconds = (double)realtime_ns / 1e9;
    for (size_t i = 0; i < count; i++)
        if (phases[i].begin <= seconds && !(phases[i].end <= seconds) &&
            (found == NULL || phases[i].begin >= found->begin))
            found = &phases[i];
    return found;
}

/* Keeps the moment that is nearest to `seconds` in that direction. */
static void take_nearer(double moment, double seconds, int direction, double *nearest)
{
    static const double APART = 1e-6; /* the resolution of a double of Unix seconds */
    if ((moment - seconds) * direction > APART && (moment - *nearest) * direction < 0)
        *nearest = moment;
}

bool timeline_nearest_mark(const struct timeline *timeline, uint64_t realtime_ns, int direction,
                           uint64_t *out)
{
    static const double MOST_SECONDS = 1.8e10; /* the most that 64 bits of nanoseconds hold */
    size_t count;
    const struct recorded_phase *phases = phases_of(timeline, &count);
    double seconds = (double)realtime_ns / 1e9, nearest = direction * (double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        take_nearer(phases[i].begin, seconds, direction, &nearest);
        if (!isnan(phases[i].end))
            take_nearer(phases[i].end, seconds, direction, &nearest);
    }
    if (!isfinite(nearest) || nearest < 0 || nearest > MOST_SECONDS)
        return false;
    *out = (uint64_t)(nearest * 1e9);
    return true;
}
