/* frames_database.h: the frames of a recording that is SQLite, found by their number or their
 * time. Below it feed_database.c gives them forth, timeline_database.c forth and back. One thread.
 */
#ifndef VITALS_RECORD_SQLITE_FRAMES_DATABASE_H
#define VITALS_RECORD_SQLITE_FRAMES_DATABASE_H

#include "record/sqlite/database.h"

#if VITALS_WITH_SQLITE

#include "record/frame/frame.h"

struct frames {
    char *path;
    sqlite3 *database;
    sqlite3_stmt *find[4]; /* by enum frames_place */
    sqlite3_stmt *read;
    struct frame_decoder decoder;
};

enum frames_place { FRAMES_AFTER, FRAMES_BEFORE, FRAMES_UNTIL_TIME, FRAMES_FROM_TIME };

/* Errors: those of database_open, EUNSUPPORTED: it holds no snapshots, EMEMORY. */
int frames_open(struct frames *frames, const char *path, vitals_error *error);
void frames_close(struct frames *frames);

/* The number of the frame next to the number, or the moment, that is said. 1; 0: there is none;
 * negative: ESYSTEM, EFORMAT. */
int frames_find(struct frames *frames, enum frames_place place, int64_t argument, int64_t *number,
                vitals_error *error);

/* The snapshot of a frame, which must be there. Errors: EFORMAT, EUNSUPPORTED (frames_is_broken),
 * EMEMORY, ESYSTEM. */
int frames_read(struct frames *frames, int64_t number, vitals_snapshot **out, vitals_error *error);

/* Whether an error is of one frame, and others may be whole. */
bool frames_is_broken(int code);

#endif
#endif
