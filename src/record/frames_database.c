/* frames_database.c: the snapshots of a recording as a feed that can seek. One is held at a time.
 */
#include "record/database.h"
#include "record/delta.h"
#include "record/recording.h"

#if VITALS_WITH_SQLITE

#include <stdlib.h>
#include <string.h>

#include "feed/feed_json.h"
#include "record/tick.h"

struct frames {
    char *path;
    sqlite3 *database;
    sqlite3_stmt *next, *key;
    int64_t key_sequence; /* of key_json; -1: none */
    int64_t after;        /* the sequence of the frame that was given last */
    uint64_t from_ns;     /* by seek; 0: none */
    uint64_t number;      /* of frames given, for messages */
    struct bytes json, delta, key_json;
    vitals_builder *builder;
    bool broken; /* an error was told; nothing more is given */
};

/* What a row holds, as it was before it was packed. `statement` stands on it: encoding, content. */
static int read_content(struct frames *frames, sqlite3_stmt *statement, int column, bool delta,
                        struct bytes *out, vitals_error *error)
{
    const unsigned char *name = sqlite3_column_text(statement, column);
    const struct packing *packing = packing_find(name != NULL ? (const char *)name : "");
    const void *content = sqlite3_column_blob(statement, column + 1);
    size_t size = (size_t)sqlite3_column_bytes(statement, column + 1);
    content = content != NULL ? content : "";
    if (packing == NULL)
        return record_fail(VITALS_EUNSUPPORTED, frames->path, error,
                           "its snapshots are packed in a way that a newer vitals knows");
    if (packing->delta != delta)
        return record_fail(VITALS_EFORMAT, frames->path, error, "a snapshot in it has no key");
    if (packing->packed)
        return packed_inflate(content, size, out, frames->path, error);
    out->size = 0;
    return bytes_write(out, content, size) == 0
               ? 0
               : record_fail(VITALS_EMEMORY, frames->path, error, "out of memory");
}

/* The frame that others are told by; the newest is kept. */
static int read_key(struct frames *frames, int64_t sequence, vitals_error *error)
{
    if (frames->key_sequence == sequence)
        return 0;
    frames->key_sequence = -1;
    (void)sqlite3_bind_int64(frames->key, 1, sequence);
    int code = sqlite3_step(frames->key) == SQLITE_ROW
                   ? read_content(frames, frames->key, 0, false, &frames->key_json, error)
                   : record_fail(VITALS_EFORMAT, frames->path, error,
                                 "a snapshot in it has lost its key");
    (void)sqlite3_reset(frames->key);
    if (code == 0)
        frames->key_sequence = sequence;
    return code;
}

static int read_delta(struct frames *frames, vitals_error *error)
{
    int code = read_key(frames, sqlite3_column_int64(frames->next, 1), error);
    if (code == 0)
        code = read_content(frames, frames->next, 2, true, &frames->delta, error);
    if (code == 0 && !delta_read(&frames->key_json, frames->delta.data, frames->delta.size,
                                 PACKED_MAX, &frames->json))
        code = record_fail(VITALS_EFORMAT, frames->path, error,
                           "a snapshot in it cannot be put together");
    return code;
}

static int read_frame(struct frames *frames, vitals_snapshot **out, vitals_error *error)
{
    struct feed_place place = {frames->path, ++frames->number};
    bool delta = sqlite3_column_type(frames->next, 1) != SQLITE_NULL;
    int code = delta ? read_delta(frames, error)
                     : read_content(frames, frames->next, 2, false, &frames->json, error);
    if (code == 0)
        code = feed_json_read(&place, frames->json.data, frames->json.size, frames->builder, out,
                              error);
    return code == 0 ? 1 : code;
}

/* A recording that grows is read as far as it goes now. */
static int frames_next(void *data, vitals_snapshot **out, vitals_error *error)
{
    struct frames *frames = data;
    if (frames->broken)
        return 0;
    (void)sqlite3_reset(frames->next);
    (void)sqlite3_bind_int64(frames->next, 1, frames->after);
    (void)sqlite3_bind_int64(frames->next, 2, (sqlite3_int64)frames->from_ns);
    int result = sqlite3_step(frames->next), code = 0;
    if (result == SQLITE_ROW) {
        frames->after = sqlite3_column_int64(frames->next, 0);
        code = read_frame(frames, out, error);
    } else if (result != SQLITE_DONE) {
        code = database_fail(frames->database, frames->path, error);
    }
    (void)sqlite3_reset(frames->next);
    frames->broken = code < 0;
    return code;
}

static int frames_seek(void *data, uint64_t realtime_ns, vitals_error *error)
{
    struct frames *frames = data;
    (void)error;
    frames->after = -1;
    frames->from_ns = realtime_ns < INT64_MAX ? realtime_ns : INT64_MAX;
    frames->broken = false;
    return 0;
}

static int frames_last(void *data, unsigned count, vitals_error *error)
{
    struct frames *frames = data;
    sqlite3_stmt *statement = NULL;
    int code = database_prepare(frames->database, frames->path,
                                "SELECT sequence FROM frames ORDER BY sequence DESC LIMIT 1 "
                                "OFFSET ?1",
                                &statement, error);
    if (code < 0)
        return code;
    (void)sqlite3_bind_int64(statement, 1, count > 0 ? count - 1 : 0);
    frames->after = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) - 1
                                                          : -1;
    frames->from_ns = 0;
    (void)sqlite3_finalize(statement);
    return 0;
}

static void frames_close(void *data)
{
    struct frames *frames = data;
    (void)sqlite3_finalize(frames->next);
    (void)sqlite3_finalize(frames->key);
    (void)sqlite3_close_v2(frames->database);
    vitals_builder_free(frames->builder);
    bytes_done(&frames->json);
    bytes_done(&frames->delta);
    bytes_done(&frames->key_json);
    free(frames->path);
    free(frames);
}

static int open_frames(struct frames *frames, const char *path, vitals_error *error)
{
    int code = database_open(path, DATABASE_READ, false, &frames->database, error);
    if (code < 0)
        return code;
    if (!database_has_table(frames->database, "frames"))
        return record_fail(VITALS_EUNSUPPORTED, path, error, "holds no snapshots");
    code = database_prepare(
        frames->database, path,
        "SELECT sequence,key,encoding,content FROM frames WHERE sequence>?1 AND "
        "time_ns>=?2 ORDER BY sequence LIMIT 1",
        &frames->next, error);
    if (code == 0)
        code = database_prepare(frames->database, path,
                                "SELECT encoding,content FROM frames WHERE sequence=?1 AND key IS "
                                "NULL",
                                &frames->key, error);
    if (code == 0)
        code = vitals_builder_new(&frames->builder, error);
    return code;
}

int recording_feed(const char *path, struct feed *out, vitals_error *error)
{
    struct frames *frames = calloc(1, sizeof *frames);
    if (frames == NULL || (frames->path = strdup(path)) == NULL) {
        free(frames);
        return record_fail(VITALS_EMEMORY, path, error, "out of memory");
    }
    frames->after = frames->key_sequence = -1;
    int code = open_frames(frames, path, error);
    if (code < 0) {
        frames_close(frames);
        return code;
    }
    *out = (struct feed){.data = frames,
                         .next = frames_next,
                         .seek = frames_seek,
                         .last = frames_last,
                         .close = frames_close};
    return 0;
}

#else

#include "record/tick.h"

int recording_feed(const char *path, struct feed *out, vitals_error *error)
{
    (void)out;
    return record_fail(VITALS_EUNSUPPORTED, path, error, "%s", DATABASE_ABSENT);
}

#endif
