/* frames_database.c: see database.h. One snapshot is held at a time. */
#include "record/sqlite/database.h"

#include <stdlib.h>
#include <string.h>

#include "record/error.h"

int frames_open(struct frames *frames, const char *path, vitals_error *error)
{
    static const char *const FIND[] = {
        [TIMELINE_AFTER] =
            "SELECT sequence FROM frames WHERE sequence>?1 ORDER BY sequence LIMIT 1",
        [TIMELINE_BEFORE] = "SELECT sequence FROM frames WHERE sequence<?1 ORDER BY sequence DESC "
                            "LIMIT 1",
        [TIMELINE_UNTIL_TIME] =
            "SELECT sequence FROM frames WHERE time_ns<=?1 ORDER BY time_ns DESC,"
            "sequence DESC LIMIT 1",
        [TIMELINE_FROM_TIME] = "SELECT sequence FROM frames WHERE time_ns>=?1 ORDER BY time_ns,"
                               "sequence LIMIT 1",
    };
    _Static_assert(sizeof FIND / sizeof FIND[0] == sizeof frames->find / sizeof frames->find[0],
                   "a statement for each place");
    *frames = (struct frames){.path = strdup(path)};
    int code = frames->path == NULL
                   ? record_no_memory(path, error)
                   : database_open(path, DATABASE_READ, false, &frames->database, error);
    if (code == 0)
        code = database_check_form(frames->database, path, error);
    if (code == 0 && !database_has_table(frames->database, "frames"))
        code = record_fail(VITALS_EUNSUPPORTED, path, error,
                           "holds no snapshots; vitals report shows what is in it");
    if (code == 0)
        code = database_prepare(frames->database, path,
                                "SELECT key,encoding,content FROM frames WHERE sequence=?1",
                                &frames->read, error);
    for (size_t i = 0; i < sizeof FIND / sizeof FIND[0] && code == 0; i++)
        code = database_prepare(frames->database, path, FIND[i], &frames->find[i], error);
    if (code < 0)
        frames_close(frames);
    return code;
}

void frames_close(struct frames *frames)
{
    for (size_t i = 0; i < sizeof frames->find / sizeof frames->find[0]; i++)
        (void)sqlite3_finalize(frames->find[i]);
    (void)sqlite3_finalize(frames->read);
    (void)sqlite3_close_v2(frames->database);
    frame_decoder_done(&frames->decoder);
    free(frames->path);
    *frames = (struct frames){.path = NULL};
}

int frames_find(struct frames *frames, enum timeline_place place, int64_t argument, int64_t *number,
                vitals_error *error)
{
    sqlite3_stmt *statement = frames->find[place];
    (void)sqlite3_bind_int64(statement, 1, argument);
    int result = sqlite3_step(statement), code = 0;
    if (result == SQLITE_ROW) {
        /* In a damaged index the next number may be one that was passed before: a loop over it
         * would have no end. */
        int64_t found = sqlite3_column_int64(statement, 0);
        if ((place == TIMELINE_AFTER && found <= argument) ||
            (place == TIMELINE_BEFORE && found >= argument))
            code = record_fail(VITALS_EFORMAT, frames->path, error,
                               "its snapshots are out of order from number %lld on",
                               (long long)found);
        else
            *number = found;
        code = code < 0 ? code : 1;
    } else if (result != SQLITE_DONE) {
        code = database_fail(frames->database, frames->path, error);
    }
    (void)sqlite3_reset(statement);
    return code;
}

/* Reads the row of a frame; EFORMAT if it is missing. The content is borrowed until the statement
 * is reset. */
static int read_row(struct frames *frames, int64_t number, struct frame *out, int64_t *key,
                    vitals_error *error)
{
    (void)sqlite3_bind_int64(frames->read, 1, number);
    int result = sqlite3_step(frames->read);
    if (result == SQLITE_DONE)
        return record_fail(VITALS_EFORMAT, frames->path, error,
                           "a snapshot in it has lost its key");
    if (result != SQLITE_ROW)
        return database_fail(frames->database, frames->path, error);
    const unsigned char *encoding = sqlite3_column_text(frames->read, 1);
    const void *content = sqlite3_column_blob(frames->read, 2);
    *out = (struct frame){
        .whole = sqlite3_column_type(frames->read, 0) == SQLITE_NULL,
        .encoding = frame_encoding_find(encoding != NULL ? (const char *)encoding : ""),
        .content = content != NULL ? content : "",
        .size = (size_t)sqlite3_column_bytes(frames->read, 2)};
    *key = sqlite3_column_int64(frames->read, 0);
    return 0;
}

int frames_read(struct frames *frames, int64_t number, vitals_snapshot **out, vitals_error *error)
{
    struct frame frame;
    int64_t key = 0, above;
    int code = read_row(frames, number, &frame, &key, error);
    if (code == 0 && !frame.whole && !frame_decoder_has_key(&frames->decoder, key)) {
        (void)sqlite3_reset(frames->read);
        code = read_row(frames, key, &frame, &above, error);
        if (code == 0 && !frame.whole)
            code = record_fail(VITALS_EFORMAT, frames->path, error,
                               "a snapshot in it has lost its key");
        if (code == 0)
            code = frame_decode_key(&frames->decoder, key, &frame, frames->path, error);
        (void)sqlite3_reset(frames->read);
        if (code == 0)
            code = read_row(frames, number, &frame, &key, error);
    }
    if (code == 0)
        code = frame_decode(&frames->decoder, number, &frame, frames->path, out, error);
    (void)sqlite3_reset(frames->read);
    return code;
}

bool frames_is_broken(int code)
{
    return code == VITALS_EFORMAT || code == VITALS_EUNSUPPORTED;
}
