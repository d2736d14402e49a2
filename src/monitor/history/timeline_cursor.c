/* timeline_cursor.c: see timeline_cursor.h. */
#include "monitor/history/timeline_cursor.h"

#include <string.h>

/* ---- a trail ---- */

static void trail_clear(struct trail *trail)
{
    for (size_t i = 0; i < trail->count; i++)
        vitals_snapshot_unref(trail->items[i]);
    trail->count = 0;
}

static uint64_t age_ns(const vitals_snapshot *now, const vitals_snapshot *then)
{
    uint64_t a = vitals_snapshot_monotonic_ns(now), b = vitals_snapshot_monotonic_ns(then);
    return a > b ? a - b : 0;
}

/* Whether the first is old enough to make rates with: deadlines jitter, what is nearly a window old
 * is one old. */
static bool trail_reaches(const struct trail *trail, size_t first, uint64_t window_ns)
{
    return trail->count > first + 1 &&
           age_ns(trail->items[trail->count - 1], trail->items[first]) >= window_ns - window_ns / 8;
}

static void trail_drop(struct trail *trail, size_t at)
{
    size_t behind = --trail->count - at;
    vitals_snapshot_unref(trail->items[at]);
    memmove(trail->items + at, trail->items + at + 1, behind * sizeof trail->items[0]);
    memmove(trail->places + at, trail->places + at + 1, behind * sizeof trail->places[0]);
}

/* Of a boot or a machine that is another one nothing is compared. */
static bool goes_on(const vitals_snapshot *then, const vitals_snapshot *now)
{
    return vitals_snapshot_monotonic_ns(now) >= vitals_snapshot_monotonic_ns(then);
}

/* The newest; takes it over. */
static void trail_append(struct trail *trail, vitals_snapshot *snapshot, int64_t place,
                         uint64_t window_ns)
{
    if (trail->count > 0 && !goes_on(trail->items[trail->count - 1], snapshot))
        trail_clear(trail);
    if (trail->count == TRAIL_MOST) /* the one behind the first: the first is far away enough */
        trail_drop(trail, 1);
    trail->places[trail->count] = place;
    trail->items[trail->count++] = snapshot;
    while (trail_reaches(trail, 1, window_ns))
        trail_drop(trail, 0);
}

/* An older one than all; takes it over. */
static void trail_prepend(struct trail *trail, vitals_snapshot *snapshot, int64_t place)
{
    memmove(trail->items + 1, trail->items, trail->count * sizeof trail->items[0]);
    memmove(trail->places + 1, trail->places, trail->count++ * sizeof trail->places[0]);
    trail->items[0] = snapshot;
    trail->places[0] = place;
}

/* ---- a reel ---- */

static bool reel_is(const struct reel *reel)
{
    return reel->timeline.at != NULL;
}

const vitals_snapshot *reel_now(const struct reel *reel)
{
    return reel->trail.count > 0 ? reel->trail.items[reel->trail.count - 1] : NULL;
}

int64_t reel_place(const struct reel *reel)
{
    return reel->trail.count > 0 ? reel->trail.places[reel->trail.count - 1] : 0;
}

/* The place of the one that the timeline gave last. */
static int64_t place_of(const struct reel *reel)
{
    return reel->timeline.place(reel->timeline.data);
}

static int reel_at(struct reel *reel, uint64_t realtime_ns, vitals_snapshot **out,
                   vitals_error *error)
{
    return reel->timeline.at(reel->timeline.data, realtime_ns, out, error);
}

/* What follows the one that lies at a place, or goes before it. Where so many are broken that the
 * timeline gives up, the next attempt goes on where that was. */
static int reel_move(struct reel *reel, int64_t from, bool forward, vitals_snapshot **out,
                     vitals_error *error)
{
    const struct timeline *timeline = &reel->timeline;
    bool again = reel->tried && reel->tried_forward == forward && reel->tried_from == from;
    timeline->stand(timeline->data, again ? reel->tried_to : from);
    int code = forward ? timeline->next(timeline->data, out, error)
                       : timeline->previous(timeline->data, out, error);
    reel->tried = code < 0;
    reel->tried_forward = forward;
    reel->tried_from = from;
    reel->tried_to = place_of(reel);
    return code;
}

/* The window before the snapshot that the trail ends with. */
static int reel_lead(struct reel *reel, uint64_t window_ns, vitals_error *error)
{
    struct trail *trail = &reel->trail;
    uint64_t moment_ns = vitals_snapshot_realtime_ns(reel_now(reel));
    vitals_snapshot *older = NULL;
    int code = 1;
    while (code == 1 && !trail_reaches(trail, 0, window_ns) && trail->count < TRAIL_MOST - 1) {
        code = reel_move(reel, trail->places[0], false, &older, error);
        if (code == 1 && !goes_on(older, trail->items[0])) {
            vitals_snapshot_unref(older);
            return 0;
        }
        if (code == 1)
            trail_prepend(trail, older, place_of(reel));
    }
    if (code < 0 || trail_reaches(trail, 0, window_ns) || trail->count < TRAIL_MOST - 1 ||
        moment_ns < window_ns)
        return code;
    /* Snapshots come so often that one cannot go there step by step. */
    code = reel_at(reel, moment_ns - window_ns + window_ns / 8, &older, error);
    if (code == 1 && goes_on(older, trail->items[0]) && place_of(reel) < trail->places[0])
        trail_prepend(trail, older, place_of(reel));
    else if (code == 1)
        vitals_snapshot_unref(older);
    return code;
}

/* Stands at a snapshot, which is taken over, as if it had always been there. */
static int reel_settle(struct reel *reel, vitals_snapshot *snapshot, int64_t place,
                       uint64_t window_ns, vitals_error *error)
{
    trail_clear(&reel->trail);
    reel->trail.places[0] = place;
    reel->trail.items[reel->trail.count++] = snapshot;
    int code = reel_lead(reel, window_ns, error);
    /* What goes before it may be broken; the snapshot itself is not. */
    return code == VITALS_EMEMORY ? code : 1;
}

static void reel_done(struct reel *reel)
{
    trail_clear(&reel->trail);
    timeline_close(&reel->timeline);
}

/* ---- both ---- */

void past_init(struct past *past, struct timeline machine, const struct timeline *all,
               uint64_t window_ns)
{
    *past = (struct past){.machine.timeline = machine, .window_ns = window_ns};
    if (all != NULL)
        past->all.timeline = *all;
}

void past_done(struct past *past)
{
    reel_done(&past->machine);
    reel_done(&past->all);
}

const vitals_snapshot *past_now(const struct past *past)
{
    return reel_now(&past->machine);
}

uint64_t past_moment_ns(const struct past *past)
{
    return past_now(past) != NULL ? vitals_snapshot_realtime_ns(past_now(past)) : 0;
}

/* Processes of about the moment at which the machine stands: those that are some windows old belong
 * to another time. */
static int bring_all(struct past *past, vitals_error *error)
{
    enum { WINDOWS = 6 }; /* a diary may keep every fifth alone */
    struct reel *all = &past->all;
    uint64_t moment_ns = past_moment_ns(past);
    vitals_snapshot *snapshot = NULL;
    if (!reel_is(all) || moment_ns == 0)
        return 1;
    int code = reel_at(all, moment_ns, &snapshot, error);
    if (code < 0)
        return code;
    uint64_t given_ns = code == 1 ? vitals_snapshot_realtime_ns(snapshot) : 0;
    if (code == 0 || given_ns > moment_ns || moment_ns - given_ns > WINDOWS * past->window_ns) {
        if (code == 1)
            vitals_snapshot_unref(snapshot);
        trail_clear(&all->trail);
        return 1;
    }
    if (reel_now(all) != NULL && reel_place(all) == place_of(all)) {
        vitals_snapshot_unref(snapshot);
        return 1;
    }
    return reel_settle(all, snapshot, place_of(all), past->window_ns, error);
}

/* The machine has moved: where its processes cannot be read there are none, not those of another
 * moment. */
static int settle_all(struct past *past)
{
    vitals_error error = {.code = 0};
    int code = bring_all(past, &error);
    past->apart = code < 0 ? error : (vitals_error){.code = 0};
    if (code < 0)
        trail_clear(&past->all.trail);
    return 1;
}

int past_at(struct past *past, uint64_t realtime_ns, vitals_error *error)
{
    vitals_snapshot *snapshot = NULL;
    int code = reel_at(&past->machine, realtime_ns, &snapshot, error);
    if (code == 1)
        code = reel_settle(&past->machine, snapshot, place_of(&past->machine), past->window_ns,
                           error);
    return code == 1 ? settle_all(past) : code;
}

int past_step(struct past *past, int steps, vitals_error *error)
{
    bool forward = steps > 0;
    int code = 1, moved = 0;
    vitals_snapshot *snapshot = NULL, *found = NULL;
    int64_t place = reel_place(&past->machine);
    for (int left = forward ? steps : -steps; code == 1 && left > 0; left--) {
        code = reel_move(&past->machine, place, forward, &found, error);
        if (code != 1)
            break;
        vitals_snapshot_unref(snapshot);
        snapshot = found;
        place = place_of(&past->machine);
        moved = 1;
    }
    if (moved == 0)
        return code;
    code = reel_settle(&past->machine, snapshot, place, past->window_ns, error);
    return code == 1 ? settle_all(past) : code;
}

int past_peek(struct past *past, vitals_snapshot **out, vitals_error *error)
{
    if (past_now(past) == NULL)
        return 0;
    int code = reel_move(&past->machine, reel_place(&past->machine), true, out, error);
    past->peeked = place_of(&past->machine);
    return code;
}

void past_follow(struct past *past, vitals_snapshot *next)
{
    trail_append(&past->machine.trail, next, past->peeked, past->window_ns);
    (void)settle_all(past);
}

struct reel *past_processes(struct past *past)
{
    return past->all.trail.count > 0 ? &past->all : &past->machine;
}

int reel_before(struct reel *reel, int64_t *place, vitals_snapshot **out, vitals_error *error)
{
    int code = reel_move(reel, *place, false, out, error);
    if (code == 1)
        *place = place_of(reel);
    return code;
}

static void fill(const struct trail *trail, struct readings *out)
{
    *out = (struct readings){0};
    if (trail->count == 0)
        return;
    out->now = vitals_snapshot_ref(trail->items[trail->count - 1]);
    out->next_older = vitals_snapshot_ref(out->now);
    if (trail->count < 2)
        return;
    out->previous = vitals_snapshot_ref(trail->items[trail->count - 2]);
    out->older = vitals_snapshot_ref(trail->items[0]);
}

void past_readings(const struct past *past, struct readings *machine, struct readings *all)
{
    fill(&past->machine.trail, machine);
    fill(&past->all.trail, all);
}
