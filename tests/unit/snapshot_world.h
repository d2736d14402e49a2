/* What the tests of snapshots share: a builder, a table of processes, rows to put in and to check.
 * Everything is static: each test program includes it once. */
#ifndef TESTS_UNIT_SNAPSHOT_WORLD_H
#define TESTS_UNIT_SNAPSHOT_WORLD_H

#include "check.h"

#include "model/builder.h"
#include "util/memory.h"

static inline vitals_text text(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

static inline vitals_builder *new_builder(void)
{
    vitals_builder *builder = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    return builder;
}

static inline vitals_snapshot *finish(vitals_builder *builder)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    CHECK_NOT_NULL(snapshot);
    return snapshot;
}

/* Finish must fail and say this. */
static inline void check_refused(vitals_builder *builder, vitals_code code, const char *message)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {0};
    CHECK_INT(vitals_builder_finish(builder, &snapshot, &error), code);
    CHECK_INT(error.code, code);
    CHECK_STR(error.message, message);
    CHECK_NULL(snapshot);
    CHECK_INT(vitals_builder_finish(builder, &snapshot, NULL), code);
}

static const vitals_metric PROCESS_COLUMNS[] = {
    VITALS_PROCESS_NAME,        VITALS_PROCESS_PID,  VITALS_PROCESS_START_SECONDS,
    VITALS_PROCESS_CPU_SECONDS, VITALS_PROCESS_NICE, VITALS_PROCESS_RESIDENT_BYTES,
};

static inline void open_processes(vitals_builder *builder)
{
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, PROCESS_COLUMNS,
                         CHECK_COUNT(PROCESS_COLUMNS));
}

static inline void add_process(vitals_builder *builder, uint64_t key)
{
    char name[32];
    snprintf(name, sizeof name, "process %u", (unsigned)key);
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, key, 0, text(name), 1000 + key);
    vitals_builder_text(builder, VITALS_PROCESS_NAME, text(name), VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_PROCESS_PID, key * 10, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_PROCESS_START_SECONDS, (double)key / 4, VITALS_HAVE);
    vitals_builder_i64(builder, VITALS_PROCESS_NICE, -(int64_t)key, VITALS_HAVE);
}

static inline void check_process(const vitals_row *row, uint64_t key)
{
    char name[32];
    uint64_t pid = 0;
    int64_t nice = 0;
    double start = 0;
    vitals_text given = {0};
    snprintf(name, sizeof name, "process %u", (unsigned)key);
    CHECK_NOT_NULL(row);
    CHECK_UINT(vitals_row_table(row), VITALS_TABLE_PROCESS);
    CHECK_UINT(vitals_row_key(row), key);
    CHECK_UINT(vitals_row_parent(row), 0);
    CHECK_UINT(vitals_row_stamp_ns(row), 1000 + key);
    CHECK_STR(vitals_row_label(row), name);
    CHECK_INT(vitals_row_text(row, VITALS_PROCESS_NAME, &given), VITALS_HAVE);
    CHECK_BYTES(given.bytes, given.size, name, strlen(name));
    CHECK_INT(vitals_row_u64(row, VITALS_PROCESS_PID, &pid), VITALS_HAVE);
    CHECK_UINT(pid, key * 10);
    CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_NICE, &nice), VITALS_HAVE);
    CHECK_INT(nice, -(int64_t)key);
    CHECK_INT(vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &start), VITALS_HAVE);
    CHECK_NEAR(start, (double)key / 4, 0);
}

#endif
