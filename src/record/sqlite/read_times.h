/* read_times.h: when values of a recording were read that are older than their samples: the rows
 * of the table `moments`, beside those of `samples`, in one pass.
 *
 * A row holds for its series and those of its subject behind it, up to the next that is told.
 * Thread rule: one thread at a time. */
#ifndef VITALS_RECORD_SQLITE_READ_TIMES_H
#define VITALS_RECORD_SQLITE_READ_TIMES_H

#include "record/recording_data.h"
#include "record/sqlite/database.h"

struct read_times {
    sqlite3_stmt *statement; /* NULL: there are none, or no more */
    int64_t sample, series, monotonic_ns;
};

/* A recording may have no such table; then nothing is told. */
void read_times_begin(struct read_times *times, sqlite3 *database);

/* What the next sample has, its number going up: `series_of` is by the number of a series, from 1
 * to `count`, its index, or SIZE_MAX. Before recording_row_end. */
void read_times_apply(struct read_times *times, struct recording *recording, int64_t sample,
                      int64_t monotonic_ns, const size_t *series_of, size_t count);

void read_times_end(struct read_times *times);

#endif
