/* CSV whose devices come later: it stays one table, and where it cannot it says so. A database says
 * when a device was read. */
#include "record_world.h"

#include <sys/stat.h>

#include "record/sqlite/database.h"

static void sample_with(struct recorder *recorder, uint64_t number, const char *const *devices)
{
    struct filled_sample sample;
    vitals_error error = {.message = ""};
    record_fill(&sample, number);
    for (; *devices != NULL; devices++)
        record_add(&sample, "device_power_watts", VITALS_SCOPE_GPU, *devices, 100 + (double)number);
    CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
    CHECK_STR(error.message, "");
}

static void put_mark(struct recorder *recorder, const char *name)
{
    const vitals_mark mark = {
        .begins = 1, .name = name, .monotonic_ns = 5500000000, .pid = 7, .tid = 8, .told = 1};
    vitals_error error;
    CHECK_INT(recorder_mark(recorder, &mark, &error), 0);
}

static void close_recorder(struct recorder *recorder)
{
    vitals_error error;
    CHECK_INT(recorder_close(recorder, &error), 0);
}

/* Fields of each line: those in quotes may hold commas. */
static void is_rectangle(const char *text, size_t lines)
{
    size_t fields = 1, first = 0, seen = 0;
    bool quoted = false;
    for (; *text != '\0'; text++) {
        quoted = quoted != (*text == '"');
        fields += *text == ',' && !quoted;
        if (*text != '\n' || quoted)
            continue;
        first = seen == 0 ? fields : first;
        CHECK_UINT(fields, first);
        fields = 1;
        seen++;
    }
    CHECK_UINT(seen, lines);
}

static void a_later_device_gets_its_column(void)
{
    static const char *const NONE[] = {NULL}, *const ONE[] = {"GPU-2", NULL},
                             *const BOTH[] = {"GPU-3,\"y", "GPU-2", NULL};
    struct record_world world;
    record_world_open(&world, "a.csv");
    struct recorder *recorder = record_open(&world, NULL);
    sample_with(recorder, 0, NONE);
    put_mark(recorder, "a, \"quoted\"\nname");
    sample_with(recorder, 1, NONE);
    sample_with(recorder, 2, ONE);
    sample_with(recorder, 3, BOTH);
    sample_with(recorder, 4, NONE);
    sample_with(recorder, 5, BOTH);
    close_recorder(recorder);
    is_rectangle(record_text(world.path), 8);
    struct recording *recording = record_read(world.path);
    double before = record_value(recording, "device_power_watts", "GPU-2", 1);
    CHECK(before != before);
    CHECK_NEAR(record_value(recording, "device_power_watts", "GPU-2", 2), 102, 0);
    before = record_value(recording, "device_power_watts", "GPU-3,\"y", 2);
    CHECK(before != before);
    CHECK_NEAR(record_value(recording, "device_power_watts", "GPU-3,\"y", 3), 103, 0);
    before = record_value(recording, "device_power_watts", "GPU-2", 4);
    CHECK(before != before);
    CHECK_NEAR(record_value(recording, "device_power_watts", "GPU-2", 5), 105, 0);
    CHECK_UINT(recording_find(recording, "cpu_cores", "")->count, 6);
    CHECK_NEAR(record_value(recording, "cpu_cores", "root", 0), 0.4, 0);
    recording_close(recording);
    record_world_close(&world);
}

/* The file is another one then: with the same rights, and with no way to make it another's. */
static void the_wider_file_is_as_private(void)
{
    static const char *const NONE[] = {NULL}, *const ONE[] = {"GPU-2", NULL};
    struct record_world world;
    struct stat status;
    char victim[200], fresh[200];
    record_world_open(&world, "a.csv");
    (void)snprintf(victim, sizeof victim, "%s/victim", world.folder);
    (void)snprintf(fresh, sizeof fresh, "%s.new", world.path);
    FILE *file = fopen(victim, "w");
    CHECK_NOT_NULL(file);
    CHECK(fputs("mine", file) >= 0 && fclose(file) == 0);
    struct recorder *recorder = record_open(&world, NULL);
    CHECK_INT(chmod(world.path, 0600), 0);
    sample_with(recorder, 0, NONE);
    CHECK_INT(symlink(victim, fresh), 0);
    sample_with(recorder, 1, ONE);
    close_recorder(recorder);
    CHECK_STR(record_text(victim), "mine");
    CHECK_INT(stat(world.path, &status), 0);
    CHECK_INT((long long)(status.st_mode & 0777), 0600);
    CHECK_INT(lstat(fresh, &status), 0); /* nor is another file there removed */
    record_world_close(&world);
}

/* Its name is a link by now: the samples go on as they were, and the attributes say what is left
 * out. */
static void under_another_name_it_stays_as_it_was(void)
{
    static const char *const NONE[] = {NULL}, *const ONE[] = {"GPU-2", NULL};
    struct record_world world;
    record_world_open(&world, "a.csv");
    struct recorder *recorder = record_open(&world, NULL);
    for (uint64_t i = 0; i < 20; i++)
        sample_with(recorder, i, NONE);
    char moved[200];
    struct stat status;
    (void)snprintf(moved, sizeof moved, "%s/moved", world.folder);
    CHECK_INT(rename(world.path, moved), 0);
    CHECK_INT(symlink(moved, world.path), 0);
    sample_with(recorder, 20, ONE);
    sample_with(recorder, 21, ONE);
    close_recorder(recorder);
    CHECK_INT(lstat(world.path, &status), 0);
    CHECK(S_ISLNK(status.st_mode));
    is_rectangle(record_text(world.path), 23);
    struct recording *recording = record_read(world.path);
    CHECK(recording_find(recording, "device_power_watts", "GPU-2") == NULL);
    CHECK_UINT(recording_find(recording, "cpu_cores", "")->count, 22);
#if VITALS_WITH_JANSSON
    vitals_text said = vitals_account_attribute(recording_account(recording), "series_left_out");
    CHECK(said.size > 0);
#endif
    recording_close(recording);
    record_world_close(&world);
}

static void without_a_header_no_column_is_added(void)
{
    static const char *const NONE[] = {NULL}, *const ONE[] = {"GPU-2", NULL};
    struct record_world world;
    struct recorder *recorder = NULL;
    vitals_error error;
    record_world_open(&world, "a.csv");
    const struct recorder_options options = {.path = world.path, .no_header = true};
    CHECK_INT(recorder_open(&options, &recorder, &error), 0);
    sample_with(recorder, 0, NONE);
    sample_with(recorder, 1, ONE);
    close_recorder(recorder);
    is_rectangle(record_text(world.path), 2);
    record_world_close(&world);
}

#if VITALS_WITH_SQLITE

static int64_t ask(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    CHECK_INT(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return number;
}

/* One row for what was read together; none for what is as old as its sample. */
static void a_database_says_when_a_device_was_read(void)
{
    struct record_world world;
    struct filled_sample sample;
    vitals_error error;
    sqlite3 *database = NULL;
    if (!VITALS_WITH_SQLITE)
        return;
    record_world_open(&world, "a.db");
    struct recorder *recorder = record_open(&world, NULL);
    record_fill(&sample, 0);
    record_add(&sample, "device_power_watts", VITALS_SCOPE_GPU, "GPU-2", 1);
    record_add(&sample, "device_temperature_celsius", VITALS_SCOPE_GPU, "GPU-2", 2);
    record_add(&sample, "device_memory_used_bytes", VITALS_SCOPE_GPU, "GPU-2", 3);
    for (size_t i = 0; i < sample.content.count; i++)
        sample.values[i].read_ns = sample.content.monotonic_ns - 2000000;
    for (size_t i = sample.content.count - 3; i < sample.content.count; i++)
        sample.values[i].read_ns -= 300000000;
    sample.values[sample.content.count - 1].read_ns -= 100000000;
    CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
    close_recorder(recorder);
    CHECK_INT(database_open(world.path, DATABASE_READ, false, &database, &error), 0);
    CHECK_INT(ask(database, "SELECT count(*) FROM moments"), 2);
    CHECK_INT(ask(database, "SELECT monotonic_ns FROM moments JOIN series ON id=series WHERE "
                            "name='device_power_watts'"),
              5000000000 - 302000000);
    CHECK_INT(ask(database, "SELECT monotonic_ns FROM moments JOIN series ON id=series WHERE "
                            "name='device_memory_used_bytes'"),
              5000000000 - 402000000);
    (void)sqlite3_close_v2(database);
    record_world_close(&world);
}

#endif

static const check_test tests[] = {
    {"a later device gets its column", a_later_device_gets_its_column},
    {"the wider file is as private", the_wider_file_is_as_private},
    {"under another name it stays as it was", under_another_name_it_stays_as_it_was},
    {"without a header no column is added", without_a_header_no_column_is_added},
#if VITALS_WITH_SQLITE
    {"a database says when a device was read", a_database_says_when_a_device_was_read},
#endif
};
CHECK_TESTS(tests)
