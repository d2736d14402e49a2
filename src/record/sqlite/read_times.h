/* read_times.h: the times at which values older than their samples were read: the rows of the table
 * `moments`, read in parallel with those of `samples`.
 *
 * A row holds for its series and the following ones of its subject, up to the next row. One
 * thread. */
#ifndef VITALS_RECORD_SQLITE_READ_TIMES_H
#define VITALS_RECORD_SQLITE_READ_TIMES_H

#include "record/recording_data.h"
#include "record/sqlite/database.h"

struct read_times {
    sqlite3_stmt *statement; /* NULL: none, or no more */
    int64_t sample, series, monotonic_ns;
};

/* A recording without the table has no such times. */
void read_times_begin(struct read_times *times, sqlite3 *database);

/* Sets the ages of the next sample; sample numbers rise. `series_of` gives the index of each series
 * from 1 to `count`, or SIZE_MAX. Call it before recording_row_end. */
void read_times_apply(struct read_times *times, struct recording *recording, int64_t sample,
                      int64_t monotonic_ns, const size_t *series_of, size_t count);

void read_times_end(struct read_times *times);

#endif
