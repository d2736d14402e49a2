/* timeline_cursor.c: see timeline_cursor.h. */
#include "monitor/history/timeline_cursor.h"

#include <string.h>

/* ---- a trail ---- */

static void recent_clear(struct recent_snapshots *recent)
{
    for (size_t i = 0; i < recent->count; i++)
        vitals_snapshot_unref(recent->items[i]);
    recent->count = 0;
}

static uint64_t age_ns(const vitals_snapshot *now, const vitals_snapshot *then)
{
    uint64_t a = vitals_snapshot_monotonic_ns(now), b = vitals_snapshot_monotonic_ns(then);
    return a > b ? a - b : 0;
}

/* True if the first is old enough for rates: deadlines jitter, so nearly a window counts as one. */
static bool recent_reaches(const struct recent_snapshots *recent, size_t first, uint64_t window_ns)
{
    return recent->count > first + 1 && age_ns(recent->items[recent->count - 1],
                                               recent->items[first]) >= window_ns - window_ns / 8;
}

static void recent_drop(struct recent_snapshots *recent, size_t at)
{
    size_t behind = --recent->count - at;
    vitals_snapshot_unref(recent->items[at]);
    memmove(recent->items + at, recent->items + at + 1, behind * sizeof recent->items[0]);
    memmove(recent->places + at, recent->places + at + 1, behind * sizeof recent->places[0]);
}

/* Snapshots of another boot or machine are never compared. */
static bool goes_on(const vitals_snapshot *then, const vitals_snapshot *now)
{
    return vitals_snapshot_monotonic_ns(now) >= vitals_snapshot_monotonic_ns(then);
}

/* The newest; takes it over. */
static void recent_append(struct recent_snapshots *recent, vitals_snapshot *snapshot, int64_t place,
                          uint64_t window_ns)
{
    if (recent->count > 0 && !goes_on(recent->items[recent->count - 1], snapshot))
        recent_clear(recent);
    if (recent->count == RECENT_MOST) /* the one behind the first: the first is far away enough */
        recent_drop(recent, 1);
    recent->places[recent->count] = place;
    recent->items[recent->count++] = snapshot;
    while (recent_reaches(recent, 1, window_ns))
        recent_drop(recent, 0);
}

/* An older one than all; takes it over. */
static void recent_prepend(struct recent_snapshots *recent, vitals_snapshot *snapshot,
                           int64_t place)
{
    memmove(recent->items + 1, recent->items, recent->count * sizeof recent->items[0]);
    memmove(recent->places + 1, recent->places, recent->count++ * sizeof recent->places[0]);
    recent->items[0] = snapshot;
    recent->places[0] = place;
}

/* ---- a reel ---- */

static bool timeline_reader_is(const struct timeline_reader *reader)
{
    return reader->timeline.at != NULL;
}

const vitals_snapshot *timeline_reader_now(const struct timeline_reader *reader)
{
    return reader->recent.count > 0 ? reader->recent.items[reader->recent.count - 1] : NULL;
}

int64_t timeline_reader_place(const struct timeline_reader *reader)
{
    return reader->recent.count > 0 ? reader->recent.places[reader->recent.count - 1] : 0;
}

/* The place of the one that the timeline gave last. */
static int64_t place_of(const struct timeline_reader *reader)
{
    return reader->timeline.place(reader->timeline.data);
}

static int timeline_reader_at(struct timeline_reader *reader, uint64_t realtime_ns,
                              vitals_snapshot **out, vitals_error *error)
{
    return reader->timeline.at(reader->timeline.data, realtime_ns, out, error);
}

/* Reads the snapshot after, or before, a place. If so many are broken that the timeline gives up,
 * the next attempt continues there. */
static int timeline_reader_move(struct timeline_reader *reader, int64_t from, bool forward,
                                vitals_snapshot **out, vitals_error *error)
{
    const struct timeline *timeline = &reader->timeline;
    bool again = reader->tried && reader->tried_forward == forward && reader->tried_from == from;
    timeline->stand(timeline->data, again ? reader->tried_to : from);
    int code = forward ? timeline->next(timeline->data, out, error)
                       : timeline->previous(timeline->data, out, error);
    reader->tried = code < 0;
    reader->tried_forward = forward;
    reader->tried_from = from;
    reader->tried_to = place_of(reader);
    return code;
}

/* The window before the snapshot that the trail ends with. */
static int timeline_reader_lead(struct timeline_reader *reader, uint64_t window_ns,
                                vitals_error *error)
{
    struct recent_snapshots *recent = &reader->recent;
    uint64_t moment_ns = vitals_snapshot_realtime_ns(timeline_reader_now(reader));
    vitals_snapshot *older = NULL;
    int code = 1;
    while (code == 1 && !recent_reaches(recent, 0, window_ns) && recent->count < RECENT_MOST - 1) {
        code = timeline_reader_move(reader, recent->places[0], false, &older, error);
        if (code == 1 && !goes_on(older, recent->items[0])) {
            vitals_snapshot_unref(older);
            return 0;
        }
        if (code == 1)
            recent_prepend(recent, older, place_of(reader));
    }
    if (code < 0 || recent_reaches(recent, 0, window_ns) || recent->count < RECENT_MOST - 1 ||
        moment_ns < window_ns)
        return code;
    /* Snapshots come so often that one cannot go there step by step. */
    code = timeline_reader_at(reader, moment_ns - window_ns + window_ns / 8, &older, error);
    if (code == 1 && goes_on(older, recent->items[0]) && place_of(reader) < recent->places[0])
        recent_prepend(recent, older, place_of(reader));
    else if (code == 1)
        vitals_snapshot_unref(older);
    return code;
}

/* Stands at a snapshot, which is taken over, as if it had always been there. */
static int timeline_reader_settle(struct timeline_reader *reader, vitals_snapshot *snapshot,
                                  int64_t place, uint64_t window_ns, vitals_error *error)
{
    recent_clear(&reader->recent);
    reader->recent.places[0] = place;
    reader->recent.items[reader->recent.count++] = snapshot;
    int code = timeline_reader_lead(reader, window_ns, error);
    /* Snapshots before it may be broken; that is no error of this one. */
    return code == VITALS_EMEMORY ? code : 1;
}

static void timeline_reader_done(struct timeline_reader *reader)
{
    recent_clear(&reader->recent);
    timeline_close(&reader->timeline);
}

/* ---- both ---- */

void timeline_cursor_init(struct timeline_cursor *cursor, struct timeline machine,
                          const struct timeline *all, uint64_t window_ns)
{
    *cursor = (struct timeline_cursor){.machine.timeline = machine, .window_ns = window_ns};
    if (all != NULL)
        cursor->all.timeline = *all;
}

void timeline_cursor_done(struct timeline_cursor *cursor)
{
    timeline_reader_done(&cursor->machine);
    timeline_reader_done(&cursor->all);
}

const vitals_snapshot *timeline_cursor_now(const struct timeline_cursor *cursor)
{
    return timeline_reader_now(&cursor->machine);
}

uint64_t timeline_cursor_time_ns(const struct timeline_cursor *cursor)
{
    return timeline_cursor_now(cursor) != NULL
               ? vitals_snapshot_realtime_ns(timeline_cursor_now(cursor))
               : 0;
}

/* Processes of about the moment at which the machine stands: those that are some windows old belong
 * to another time. */
static int bring_all(struct timeline_cursor *cursor, vitals_error *error)
{
    enum { WINDOWS = 6 }; /* a live history may keep every fifth alone */
    struct timeline_reader *all = &cursor->all;
    uint64_t moment_ns = timeline_cursor_time_ns(cursor);
    vitals_snapshot *snapshot = NULL;
    if (!timeline_reader_is(all) || moment_ns == 0)
        return 1;
    int code = timeline_reader_at(all, moment_ns, &snapshot, error);
    if (code < 0)
        return code;
    uint64_t given_ns = code == 1 ? vitals_snapshot_realtime_ns(snapshot) : 0;
    if (code == 0 || given_ns > moment_ns || moment_ns - given_ns > WINDOWS * cursor->window_ns) {
        if (code == 1)
            vitals_snapshot_unref(snapshot);
        recent_clear(&all->recent);
        return 1;
    }
    if (timeline_reader_now(all) != NULL && timeline_reader_place(all) == place_of(all)) {
        vitals_snapshot_unref(snapshot);
        return 1;
    }
    return timeline_reader_settle(all, snapshot, place_of(all), cursor->window_ns, error);
}

/* The machine has moved: where its processes cannot be read there are none, not those of another
 * moment. */
static int settle_all(struct timeline_cursor *cursor)
{
    vitals_error error = {.code = 0};
    int code = bring_all(cursor, &error);
    cursor->apart = code < 0 ? error : (vitals_error){.code = 0};
    if (code < 0)
        recent_clear(&cursor->all.recent);
    return 1;
}

int timeline_cursor_at(struct timeline_cursor *cursor, uint64_t realtime_ns, vitals_error *error)
{
    vitals_snapshot *snapshot = NULL;
    int code = timeline_reader_at(&cursor->machine, realtime_ns, &snapshot, error);
    if (code == 1)
        code = timeline_reader_settle(&cursor->machine, snapshot, place_of(&cursor->machine),
                                      cursor->window_ns, error);
    return code == 1 ? settle_all(cursor) : code;
}

int timeline_cursor_step(struct timeline_cursor *cursor, int steps, vitals_error *error)
{
    bool forward = steps > 0;
    int code = 1, moved = 0;
    vitals_snapshot *snapshot = NULL, *found = NULL;
    int64_t place = timeline_reader_place(&cursor->machine);
    for (int left = forward ? steps : -steps; code == 1 && left > 0; left--) {
        code = timeline_reader_move(&cursor->machine, place, forward, &found, error);
        if (code != 1)
            break;
        vitals_snapshot_unref(snapshot);
        snapshot = found;
        place = place_of(&cursor->machine);
        moved = 1;
    }
    if (moved == 0)
        return code;
    code = timeline_reader_settle(&cursor->machine, snapshot, place, cursor->window_ns, error);
    return code == 1 ? settle_all(cursor) : code;
}

int timeline_cursor_peek(struct timeline_cursor *cursor, vitals_snapshot **out, vitals_error *error)
{
    if (timeline_cursor_now(cursor) == NULL)
        return 0;
    int code = timeline_reader_move(&cursor->machine, timeline_reader_place(&cursor->machine), true,
                                    out, error);
    cursor->peeked = place_of(&cursor->machine);
    return code;
}

void timeline_cursor_follow(struct timeline_cursor *cursor, vitals_snapshot *next)
{
    recent_append(&cursor->machine.recent, next, cursor->peeked, cursor->window_ns);
    (void)settle_all(cursor);
}

struct timeline_reader *timeline_cursor_processes(struct timeline_cursor *cursor)
{
    return cursor->all.recent.count > 0 ? &cursor->all : &cursor->machine;
}

int timeline_reader_before(struct timeline_reader *reader, int64_t *place, vitals_snapshot **out,
                           vitals_error *error)
{
    int code = timeline_reader_move(reader, *place, false, out, error);
    if (code == 1)
        *place = place_of(reader);
    return code;
}

static void fill(const struct recent_snapshots *recent, struct readings *out)
{
    *out = (struct readings){0};
    if (recent->count == 0)
        return;
    out->now = vitals_snapshot_ref(recent->items[recent->count - 1]);
    out->next_older = vitals_snapshot_ref(out->now);
    if (recent->count < 2)
        return;
    out->previous = vitals_snapshot_ref(recent->items[recent->count - 2]);
    out->older = vitals_snapshot_ref(recent->items[0]);
}

void timeline_cursor_readings(const struct timeline_cursor *cursor, struct readings *machine,
                              struct readings *all)
{
    fill(&cursor->machine.recent, machine);
    fill(&cursor->all.recent, all);
}
