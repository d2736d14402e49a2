/* frames_database.h: finds and decodes the frames of a recording by number or time. One thread.
 *
 * feed_database.c reads them in order, timeline_database.c in both directions. */
#pragma once

#include "record/sqlite/database.h"

#include "record/frame/frame.h"
#include "record/replay/timeline.h"

struct frames {
    char *path;
    sqlite3 *database;
    sqlite3_stmt *find[4]; /* by enum timeline_place */
    sqlite3_stmt *read;
    struct frame_decoder decoder;
};

/* Errors: those of database_open, EUNSUPPORTED: it holds no snapshots, EMEMORY. */
int frames_open(struct frames *frames, const char *path, vitals_error *error);
void frames_close(struct frames *frames);

/* Finds the number of the frame at a place relative to a number or a time. Returns 1, 0 if there is
 * none, or ESYSTEM, EFORMAT. */
int frames_find(struct frames *frames, enum timeline_place place, int64_t argument, int64_t *number,
                vitals_error *error);

/* Decodes a frame that exists. Errors: EFORMAT, EUNSUPPORTED (frames_is_broken), EMEMORY,
 * ESYSTEM. */
int frames_read(struct frames *frames, int64_t number, vitals_snapshot **out, vitals_error *error);

/* True if an error concerns one frame only. */
bool frames_is_broken(int code);
