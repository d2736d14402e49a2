/* read_samples.c: see read_samples.h. */
#include "record/sqlite/database.h"

#if VITALS_WITH_SQLITE

#include "record/sqlite/read_samples.h"

#include <string.h>

static void next(struct moments *moments)
{
    if (moments->statement == NULL)
        return;
    if (sqlite3_step(moments->statement) != SQLITE_ROW) {
        moments_end(moments);
        return;
    }
    moments->sample = sqlite3_column_int64(moments->statement, 0);
    moments->series = sqlite3_column_int64(moments->statement, 1);
    moments->monotonic_ns = sqlite3_column_int64(moments->statement, 2);
}

void moments_begin(struct moments *moments, sqlite3 *database)
{
    static const char SQL[] = "SELECT sample,series,monotonic_ns FROM moments "
                              "ORDER BY sample,series";
    *moments = (struct moments){.statement = NULL};
    if (database_has_table(database, "moments") &&
        sqlite3_prepare_v2(database, SQL, -1, &moments->statement, NULL) == SQLITE_OK)
        next(moments);
}

void moments_end(struct moments *moments)
{
    (void)sqlite3_finalize(moments->statement);
    moments->statement = NULL;
}

/* Of what a file says nothing is believed that was read behind its sample. */
static double age_of(int64_t sample_ns, int64_t read_ns)
{
    return read_ns > 0 && read_ns < sample_ns ? (double)(sample_ns - read_ns) / 1e9 : 0;
}

void moments_tell(struct moments *moments, struct recording *recording, int64_t sample,
                  int64_t monotonic_ns, const size_t *series_of, size_t count)
{
    const char *subject = NULL;
    double age = 0;
    while (moments->statement != NULL && moments->sample < sample)
        next(moments);
    if (moments->statement == NULL || moments->sample != sample)
        return;
    for (size_t i = 0; i < count; i++) {
        while (moments->statement != NULL && moments->sample == sample &&
               moments->series < (int64_t)i + 1)
            next(moments);
        if (series_of[i] == SIZE_MAX)
            continue;
        const char *own = recording->series[series_of[i]].subject;
        bool told = moments->statement != NULL && moments->sample == sample &&
                    moments->series == (int64_t)i + 1;
        if (told)
            age = age_of(monotonic_ns, moments->monotonic_ns);
        else if (subject == NULL || strcmp(subject, own) != 0)
            age = 0;
        subject = own;
        if (age > 0)
            recording_age(recording, series_of[i], age);
    }
}

#endif
