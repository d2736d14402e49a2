/* timeline.c: see timeline.h. Chooses the reader of a file, and finds phases by time. */
#include "record/replay/timeline.h"

#include <math.h>
#include <string.h>

#include "record/recording_data.h"

int timeline_open(const char *path, struct timeline *out, vitals_error *error)
{
    if (strcmp(path, "-") == 0)
        return record_fail(VITALS_EUNSUPPORTED, "standard input", error,
                           "cannot be gone back in; write it to a file first");
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
                                  "holds no snapshots; vitals report tells what is in it");
}

void timeline_close(struct timeline *timeline)
{
    if (timeline->close != NULL)
        timeline->close(timeline->data);
    *timeline = (struct timeline){.data = NULL};
}

/* ---- where a timeline is ---- */

int64_t timeline_state_place(void *data)
{
    return ((struct timeline_state *)data)->number;
}

void timeline_state_stand(void *data, int64_t number)
{
    struct timeline_state *state = data;
    state->number = number;
    state->placed = true;
}

const char *timeline_state_problem(void *data)
{
    return recording_problem(((struct timeline_state *)data)->recording);
}

void timeline_state_skip(struct timeline_state *state, const vitals_error *error)
{
    if (!state->broken)
        recording_wrong(state->recording, "some of its snapshots cannot be read: %s",
                        error->message);
    state->broken = true;
    state->why = *error;
}

int timeline_state_give_up(const struct timeline_state *state, vitals_error *error)
{
    *error = state->why;
    return error->code;
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

/* Keeps the moment that is nearest after `seconds`, or before it if `sign` is -1. */
static void take_nearer(double moment, double seconds, double sign, double *nearest)
{
    static const double APART = 1e-6; /* the resolution of a double of Unix seconds */
    if ((moment - seconds) * sign > APART && (moment - *nearest) * sign < 0)
        *nearest = moment;
}

static bool nearest_mark(const struct timeline *timeline, uint64_t realtime_ns, double sign,
                         uint64_t *out)
{
    static const double MOST_SECONDS = 1.8e10; /* the most that 64 bits of nanoseconds hold */
    size_t count;
    const struct recorded_phase *phases = phases_of(timeline, &count);
    double seconds = (double)realtime_ns / 1e9, nearest = sign * (double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        take_nearer(phases[i].begin, seconds, sign, &nearest);
        if (!isnan(phases[i].end))
            take_nearer(phases[i].end, seconds, sign, &nearest);
    }
    if (!isfinite(nearest) || nearest < 0 || nearest > MOST_SECONDS)
        return false;
    *out = (uint64_t)(nearest * 1e9);
    return true;
}

bool timeline_mark_after(const struct timeline *timeline, uint64_t realtime_ns, uint64_t *out)
{
    return nearest_mark(timeline, realtime_ns, 1, out);
}

bool timeline_mark_before(const struct timeline *timeline, uint64_t realtime_ns, uint64_t *out)
{
    return nearest_mark(timeline, realtime_ns, -1, out);
}
