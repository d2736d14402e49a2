/* timeline_cursor.c: see timeline_cursor.h. */
#include "monitor/history/timeline_cursor.h"

#include <string.h>

static void recent_clear(struct recent_snapshots *recent)
{
    for (size_t i = 0; i < recent->count; i++)
        vitals_snapshot_unref(recent->items[i].snapshot);
    recent->count = 0;
}

/* True if the first is old enough for rates: deadlines jitter, so nearly a window counts as one. */
static bool recent_reaches(const struct recent_snapshots *recent, size_t first, uint64_t window_ns)
{
    if (recent->count <= first + 1)
        return false;
    uint64_t now_ns = vitals_snapshot_monotonic_ns(recent->items[recent->count - 1].snapshot);
    uint64_t then_ns = vitals_snapshot_monotonic_ns(recent->items[first].snapshot);
    return now_ns > then_ns && now_ns - then_ns >= window_ns - window_ns / 8;
}

static void recent_drop(struct recent_snapshots *recent, size_t at)
{
    vitals_snapshot_unref(recent->items[at].snapshot);
    memmove(recent->items + at, recent->items + at + 1,
            (--recent->count - at) * sizeof recent->items[0]);
}

/* Snapshots of another boot or machine are never compared. */
static bool goes_on(const vitals_snapshot *then, const vitals_snapshot *now)
{
    return vitals_snapshot_monotonic_ns(now) >= vitals_snapshot_monotonic_ns(then);
}

/* An older one than all; takes it over. */
static void recent_prepend(struct recent_snapshots *recent, vitals_snapshot *snapshot,
                           int64_t place)
{
    memmove(recent->items + 1, recent->items, recent->count++ * sizeof recent->items[0]);
    recent->items[0] = (struct recent_snapshot){snapshot, place};
}

const vitals_snapshot *timeline_reader_now(const struct timeline_reader *reader)
{
    const struct recent_snapshots *recent = &reader->recent;
    return recent->count > 0 ? recent->items[recent->count - 1].snapshot : NULL;
}

int64_t timeline_reader_place(const struct timeline_reader *reader)
{
    const struct recent_snapshots *recent = &reader->recent;
    return recent->count > 0 ? recent->items[recent->count - 1].place : 0;
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

/* Stands at a snapshot, which is taken over, as if it had always been there: with the window before
 * it. Snapshots before it may be broken; that is no error of this one. */
static int timeline_reader_settle(struct timeline_reader *reader, vitals_snapshot *snapshot,
                                  int64_t place, uint64_t window_ns, vitals_error *error)
{
    struct recent_snapshots *recent = &reader->recent;
    uint64_t moment_ns = vitals_snapshot_realtime_ns(snapshot);
    vitals_snapshot *older = NULL;
    int code = 1;
    recent_clear(recent);
    recent_prepend(recent, snapshot, place);
    while (code == 1 && !recent_reaches(recent, 0, window_ns) && recent->count < RECENT_MOST - 1) {
        code = timeline_reader_move(reader, recent->items[0].place, false, &older, error);
        if (code == 1 && !goes_on(older, recent->items[0].snapshot)) {
            vitals_snapshot_unref(older);
            return 1;
        }
        if (code == 1)
            recent_prepend(recent, older, place_of(reader));
    }

    /* Snapshots come so often that one cannot go there step by step. */
    if (code >= 0 && !recent_reaches(recent, 0, window_ns) && recent->count == RECENT_MOST - 1 &&
        moment_ns >= window_ns) {
        code = timeline_reader_at(reader, moment_ns - window_ns + window_ns / 8, &older, error);
        if (code == 1 && goes_on(older, recent->items[0].snapshot) &&
            place_of(reader) < recent->items[0].place)
            recent_prepend(recent, older, place_of(reader));
        else if (code == 1)
            vitals_snapshot_unref(older);
    }
    return code == VITALS_EMEMORY ? code : 1;
}

static void timeline_reader_done(struct timeline_reader *reader)
{
    recent_clear(&reader->recent);
    timeline_close(&reader->timeline);
}

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

/* Brings the processes of about the time at which the machine stands: those that are some windows
 * old belong to another time. If they cannot be read there are none. */
static int settle_all(struct timeline_cursor *cursor)
{
    enum { WINDOWS = 6 }; /* a live history may keep every fifth alone */
    struct timeline_reader *all = &cursor->all;
    uint64_t moment_ns = timeline_cursor_time_ns(cursor);
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {.code = 0};
    cursor->apart = error;
    if (all->timeline.at == NULL || moment_ns == 0)
        return 1;
    int code = timeline_reader_at(all, moment_ns, &snapshot, &error);
    uint64_t given_ns = code == 1 ? vitals_snapshot_realtime_ns(snapshot) : 0;
    bool near = code == 1 && given_ns <= moment_ns &&
                moment_ns - given_ns <= WINDOWS * cursor->window_ns;
    bool same = near && timeline_reader_now(all) != NULL &&
                timeline_reader_place(all) == place_of(all);
    if (near && !same)
        code = timeline_reader_settle(all, snapshot, place_of(all), cursor->window_ns, &error);
    else if (code == 1)
        vitals_snapshot_unref(snapshot);
    if (code < 0)
        cursor->apart = error;
    if (code < 0 || !near)
        recent_clear(&all->recent);
    return 1;
}

/* Stands at the snapshot that the machine's timeline gave last; takes it over. */
static int settle(struct timeline_cursor *cursor, vitals_snapshot *snapshot, vitals_error *error)
{
    int code = timeline_reader_settle(&cursor->machine, snapshot, place_of(&cursor->machine),
                                      cursor->window_ns, error);
    return code == 1 ? settle_all(cursor) : code;
}

int timeline_cursor_at(struct timeline_cursor *cursor, uint64_t realtime_ns, vitals_error *error)
{
    vitals_snapshot *snapshot = NULL;
    int code = timeline_reader_at(&cursor->machine, realtime_ns, &snapshot, error);
    return code == 1 ? settle(cursor, snapshot, error) : code;
}

int timeline_cursor_step(struct timeline_cursor *cursor, bool forward, vitals_error *error)
{
    vitals_snapshot *snapshot = NULL;
    int code = timeline_reader_move(&cursor->machine, timeline_reader_place(&cursor->machine),
                                    forward, &snapshot, error);
    return code == 1 ? settle(cursor, snapshot, error) : code;
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
    struct recent_snapshots *recent = &cursor->machine.recent;
    if (recent->count > 0 && !goes_on(recent->items[recent->count - 1].snapshot, next))
        recent_clear(recent);
    if (recent->count == RECENT_MOST) /* the one behind the first: the first is far away enough */
        recent_drop(recent, 1);
    recent->items[recent->count++] = (struct recent_snapshot){next, cursor->peeked};
    while (recent_reaches(recent, 1, cursor->window_ns))
        recent_drop(recent, 0);
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
    out->now = vitals_snapshot_ref(recent->items[recent->count - 1].snapshot);
    out->next_older = vitals_snapshot_ref(out->now);
    if (recent->count < 2)
        return;
    out->previous = vitals_snapshot_ref(recent->items[recent->count - 2].snapshot);
    out->older = vitals_snapshot_ref(recent->items[0].snapshot);
}

void timeline_cursor_readings(const struct timeline_cursor *cursor, struct readings *machine,
                              struct readings *all)
{
    fill(&cursor->machine.recent, machine);
    fill(&cursor->all.recent, all);
}
