/* no_database.c: recordings in SQLite for a program without it: each fails with the reason. */
#include "record/format.h"
#include "record/recording_data.h"
#include "record/replay/timeline.h"
#include "record/sqlite/database.h"

static int refuse(const char *path, vitals_error *error)
{
    return record_fail(VITALS_EUNSUPPORTED, path, error, "%s", DATABASE_ABSENT);
}

static int refuse_to_record(struct recorder *recorder, vitals_error *error)
{
    return refuse(recorder->path, error);
}

const struct format FORMAT_DATABASE = {
    .name = "vitals", .state_size = 1, .begin = refuse_to_record};
const struct format FORMAT_GPU_TRACKER_DATABASE = {
    .name = "gpu-tracker-sqlite", .state_size = 1, .begin = refuse_to_record};

int database_put_account(const char *path, const vitals_account *account UNUSED,
                         vitals_error *error)
{
    return refuse(path, error);
}

int read_database(struct recording *recording, vitals_error *error)
{
    return refuse(recording->path, error);
}

int recording_feed(const char *path, struct feed *out UNUSED, vitals_error *error)
{
    return refuse(path, error);
}

int timeline_database_open(const char *path, struct timeline *out UNUSED, vitals_error *error)
{
    return refuse(path, error);
}
