/* feed_database.c: the snapshots of a recording as a feed that can seek. Broken ones are skipped,
 * and reported after all others. */
#include "record/recording.h"
#include "record/sqlite/database.h"

#include <stdlib.h>

#include "record/error.h"

struct database_feed {
    struct frames frames;
    int64_t after; /* number of the frame given last */
    bool ended;    /* an error was returned; nothing more is given */
    uint64_t broken;
    vitals_error why; /* of the first that is broken */
};

/* A recording that grows is read up to its current end. */
static int feed_next(void *data, vitals_snapshot **out, vitals_error *error)
{
    struct database_feed *feed = data;
    int code = 0;
    while (!feed->ended) {
        code = frames_find(&feed->frames, TIMELINE_AFTER, feed->after, &feed->after, error);
        if (code == 0 && feed->broken == 0)
            return 0;
        if (code == 0) {
            *error = feed->why;
            feed->broken = 0;
            feed->ended = true;
            return error->code;
        }
        if (code == 1)
            code = frames_read(&feed->frames, feed->after, out, error);
        else
            feed->ended = true;
        if (code == 0)
            return 1;
        if (feed->ended || !frames_is_broken(code))
            feed->ended = true;
        else if (feed->broken++ == 0)
            feed->why = *error;
    }
    return code;
}

/* Returns the number before it. */
static int64_t before(int64_t number)
{
    return number > 0 ? number - 1 : -1;
}

static int feed_seek(void *data, uint64_t realtime_ns, vitals_error *error)
{
    struct database_feed *feed = data;
    int64_t moment = realtime_ns < INT64_MAX ? (int64_t)realtime_ns : INT64_MAX;
    int code = frames_find(&feed->frames, TIMELINE_FROM_TIME, moment, &feed->after, error);
    if (code < 0)
        return code;
    /* if all are before it: those still to come */
    if (code == 1)
        feed->after = before(feed->after);
    else if (frames_find(&feed->frames, TIMELINE_BEFORE, INT64_MAX, &feed->after, error) <= 0)
        feed->after = -1;
    feed->ended = false;
    return 0;
}

/* Broken frames do not count. */
static int feed_last(void *data, unsigned count, vitals_error *error)
{
    struct database_feed *feed = data;
    int64_t number = INT64_MAX;
    int code = 1;
    while (count > 0 &&
           (code = frames_find(&feed->frames, TIMELINE_BEFORE, number, &number, error)) == 1) {
        vitals_snapshot *snapshot = NULL;
        code = frames_read(&feed->frames, number, &snapshot, error);
        vitals_snapshot_unref(snapshot);
        if (code < 0 && !frames_is_broken(code))
            return code;
        count -= code == 0;
    }
    if (code < 0 && !frames_is_broken(code))
        return code;
    feed->after = number == INT64_MAX ? -1 : before(number);
    feed->ended = false;
    return 0;
}

static void close_feed(void *data)
{
    struct database_feed *feed = data;
    frames_close(&feed->frames);
    free(feed);
}

int recording_feed(const char *path, struct feed *out, vitals_error *error)
{
    struct database_feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL)
        return record_no_memory(path, error);
    feed->after = -1;
    int code = frames_open(&feed->frames, path, error);
    if (code < 0) {
        free(feed);
        return code;
    }
    *out = (struct feed){
        .data = feed, .next = feed_next, .seek = feed_seek, .last = feed_last, .close = close_feed};
    return 0;
}
