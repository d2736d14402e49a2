/* read_times.c: see read_times.h. */
#include "record/sqlite/database.h"

#if VITALS_WITH_SQLITE

#include "record/sqlite/read_times.h"

#include <string.h>

static void next(struct read_times *times)
{
    if (times->statement == NULL)
        return;
    if (sqlite3_step(times->statement) != SQLITE_ROW) {
        read_times_end(times);
        return;
    }
    times->sample = sqlite3_column_int64(times->statement, 0);
    times->series = sqlite3_column_int64(times->statement, 1);
    times->monotonic_ns = sqlite3_column_int64(times->statement, 2);
}

void read_times_begin(struct read_times *times, sqlite3 *database)
{
    static const char SQL[] = "SELECT sample,series,monotonic_ns FROM moments "
                              "ORDER BY sample,series";
    *times = (struct read_times){.statement = NULL};
    if (database_has_table(database, "moments") &&
        sqlite3_prepare_v2(database, SQL, -1, &times->statement, NULL) == SQLITE_OK)
        next(times);
}

void read_times_end(struct read_times *times)
{
    (void)sqlite3_finalize(times->statement);
    times->statement = NULL;
}

void read_times_apply(struct read_times *times, struct recording *recording, int64_t sample,
                      int64_t monotonic_ns, const size_t *series_of, size_t count)
{
    const char *subject = NULL;
    double age = 0;
    while (times->statement != NULL && times->sample < sample)
        next(times);
    if (times->statement == NULL || times->sample != sample)
        return;
    for (size_t i = 0; i < count; i++) {
        while (times->statement != NULL && times->sample == sample &&
               times->series < (int64_t)i + 1)
            next(times);
        if (series_of[i] == SIZE_MAX)
            continue;
        const char *own = recording->series[series_of[i]].subject;
        bool told = times->statement != NULL && times->sample == sample &&
                    times->series == (int64_t)i + 1;
        if (told) {
            /* A file may lie: a value cannot be newer than its sample. */
            int64_t read_ns = times->monotonic_ns;
            age = read_ns > 0 && read_ns < monotonic_ns ? (double)(monotonic_ns - read_ns) / 1e9
                                                        : 0;
        } else if (subject == NULL || strcmp(subject, own) != 0)
            age = 0;
        subject = own;
        if (age > 0)
            recording_age(recording, series_of[i], age);
    }
}

#endif
