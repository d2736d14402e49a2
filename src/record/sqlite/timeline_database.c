/* timeline_database.c: a timeline over a recording. A file that grows is read anew at each call. */
#include "record/replay/timeline.h"
#include "record/sqlite/database.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "record/error.h"
#include "record/recording_data.h"

struct database_timeline {
    struct timeline_state state; /* a number is a frame's */
    struct frames frames;
    sqlite3_stmt *span, *marks;
    int64_t told_mark; /* rowid of the newest mark that was read */
    dev_t device;      /* of the file that was opened */
    ino_t inode;
    bool moved; /* another file has its name now */
};

/* Returns EGONE if another file has the name now (--rotate): SQLite would read that file's log into
 * this one. */
static int check_moved(struct database_timeline *timeline, vitals_error *error)
{
    struct stat status;
    const char *path = timeline->frames.path;
    if (!timeline->moved && timeline->inode != 0 && stat(path, &status) == 0)
        timeline->moved = status.st_dev != timeline->device || status.st_ino != timeline->inode;
    return timeline->moved
               ? record_fail(VITALS_EGONE, path, error,
                             "was rotated: its name is now another file's; open it again")
               : 0;
}

/* ---- how much there is ---- */

static uint64_t number_at(sqlite3_stmt *statement, int column)
{
    int64_t value = sqlite3_column_int64(statement, column);
    return value > 0 ? (uint64_t)value : 0;
}

static int span(void *data, struct timeline_span *out, vitals_error *error)
{
    struct database_timeline *timeline = data;
    sqlite3_stmt *statement = timeline->span;
    int code = check_moved(timeline, error);
    if (code < 0)
        return code;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *out = (struct timeline_span){number_at(statement, 0), number_at(statement, 1),
                                      number_at(statement, 2)};
    else
        code = database_fail(timeline->frames.database, timeline->frames.path, error);
    (void)sqlite3_reset(statement);
    return code;
}

/* ---- snapshots ---- */

static int find(void *data, enum timeline_place place, int64_t argument, int64_t *number,
                vitals_error *error)
{
    struct database_timeline *timeline = data;
    int code = check_moved(timeline, error);
    return code < 0 ? code : frames_find(&timeline->frames, place, argument, number, error);
}

static int read_frame(void *data, int64_t number, vitals_snapshot **out, vitals_error *error)
{
    struct database_timeline *timeline = data;
    return frames_read(&timeline->frames, number, out, error);
}

static const struct timeline_store STORE = {find, read_frame};

/* ---- phases ---- */

static const struct recorded_phase *phases(void *data, size_t *count)
{
    struct database_timeline *timeline = data;
    vitals_error error;
    sqlite3_stmt *statement = check_moved(timeline, &error) == 0 ? timeline->marks : NULL;
    if (statement == NULL)
        return recording_phases(timeline->state.recording, count);
    (void)sqlite3_bind_int64(statement, 1, timeline->told_mark);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        timeline->told_mark = sqlite3_column_int64(statement, 0);
        const unsigned char *name = sqlite3_column_text(statement, 3);
        recording_mark(timeline->state.recording, sqlite3_column_int(statement, 2) != 0,
                       name != NULL ? (const char *)name : "", sqlite3_column_double(statement, 1),
                       sqlite3_column_int64(statement, 4), sqlite3_column_int64(statement, 5));
    }
    (void)sqlite3_reset(statement);
    return recording_phases(timeline->state.recording, count);
}

/* ---- opening ---- */

static void close_timeline(void *data)
{
    struct database_timeline *timeline = data;
    (void)sqlite3_finalize(timeline->span);
    (void)sqlite3_finalize(timeline->marks);
    frames_close(&timeline->frames);
    recording_close(timeline->state.recording);
    free(timeline);
}

int timeline_database_open(const char *path, struct timeline *out, vitals_error *error)
{
    /* By the indexes: frames are numbered without gaps. */
    static const char SPAN[] = "SELECT (SELECT min(time_ns) FROM frames),"
                               "(SELECT max(time_ns) FROM frames),"
                               "(SELECT max(sequence) FROM frames)-"
                               "(SELECT min(sequence) FROM frames)+1";
    struct database_timeline *timeline = calloc(1, sizeof *timeline);
    struct recording *recording = calloc(1, sizeof *recording);
    if (timeline == NULL || recording == NULL) {
        free(timeline);
        free(recording);
        return record_no_memory(path, error);
    }
    timeline->state.store = &STORE;
    timeline->state.recording = recording;
    timeline->told_mark = -1;
    struct stat status;
    int code = frames_open(&timeline->frames, path, error);
    if (code == 0 && stat(path, &status) == 0) {
        timeline->device = status.st_dev;
        timeline->inode = status.st_ino;
    }
    sqlite3 *database = timeline->frames.database;
    if (code == 0)
        code = database_prepare(database, path, SPAN, &timeline->span, error);
    if (code == 0 && database_has_table(database, "marks"))
        code = database_prepare(database, path,
                                "SELECT rowid,time,begins,name,pid,tid FROM marks WHERE rowid>?1 "
                                "ORDER BY rowid",
                                &timeline->marks, error);
    if (code < 0) {
        close_timeline(timeline);
        return code;
    }
    *out = timeline_over(&timeline->state);
    out->span = span;
    out->phases = phases;
    out->close = close_timeline;
    return 0;
}
