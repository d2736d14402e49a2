/* read_samples.h: when values of a recording were read that are older than their samples: the rows
 * of the table `moments`, beside those of `samples`, in one pass.
 *
 * A row holds for its series and those of its subject behind it, up to the next that is told.
 * Thread rule: one thread at a time. */
#ifndef VITALS_RECORD_SQLITE_READ_SAMPLES_H
#define VITALS_RECORD_SQLITE_READ_SAMPLES_H

#include "record/recording_data.h"
#include "record/sqlite/database.h"

struct moments {
    sqlite3_stmt *statement; /* NULL: there are none, or no more */
    int64_t sample, series, monotonic_ns;
};

/* A recording may have no such table; then nothing is told. */
void moments_begin(struct moments *moments, sqlite3 *database);

/* What the next sample has, its number going up: `series_of` is by the number of a series, from 1
 * to `count`, its index, or SIZE_MAX. Before recording_row_end. */
void moments_tell(struct moments *moments, struct recording *recording, int64_t sample,
                  int64_t monotonic_ns, const size_t *series_of, size_t count);

void moments_end(struct moments *moments);

#endif
