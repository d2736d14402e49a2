/* What tests of src/host/ share: roots from fixtures, a reading as a snapshot, and numbers of it.
 */
#ifndef TESTS_UNIT_HOST_WORLD_H
#define TESTS_UNIT_HOST_WORLD_H

#include "check.h"

#include "host/host.h"
#include "util/memory.h"

#include <limits.h>

static inline struct metric_set host_everything(void)
{
    struct metric_set set = {0};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        metric_set_add(&set, metric);
    return set;
}

/* Every metric of a table. */
static inline struct metric_set host_table(vitals_table entity)
{
    struct metric_set set = {0};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        if (vitals_metric_table(metric) == entity)
            metric_set_add(&set, metric);
    return set;
}

/* The folders proc, sys and etc of a fixture, or of any other folder. */
static inline void host_world_open(vitals_context *world, const char *folder)
{
    char proc[PATH_MAX], sys[PATH_MAX], etc[PATH_MAX];
    snprintf(proc, sizeof proc, "%s/proc", folder);
    snprintf(sys, sizeof sys, "%s/sys", folder);
    snprintf(etc, sizeof etc, "%s/etc", folder);
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.proc_root = proc;
    options.sys_root = sys;
    options.etc_root = etc;
    vitals_error error;
    *world = (vitals_context){0};
    CHECK_OK(os_open(&world->os, &options, &error), error);
}

static inline void host_world_fixture(vitals_context *world, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "host/%s", name);
    host_world_open(world, check_fixture(path));
}

/* What the host holds, as a snapshot. */
static inline vitals_snapshot *host_snapshot(struct host *host, const struct metric_set *wanted,
                                             uint64_t stamp_ns)
{
    vitals_builder *builder;
    vitals_error error;
    vitals_snapshot *snapshot;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_builder_begin(builder);
    host_write(host, builder, wanted, value_u64(1), stamp_ns);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    vitals_builder_free(builder);
    return snapshot;
}

/* Everything of a fixture at once: files and workers. */
static inline vitals_snapshot *host_take_fixture(const char *name)
{
    struct metric_set wanted = host_everything(), part;
    vitals_context world;
    struct host host;
    struct row_batch batch = {0};
    host_world_fixture(&world, name);
    host_init(&host);
    CHECK_INT(host_read(&host, &world, &wanted, 1), 0);
    for (int i = 0; i < HOST_LATES; i++) {
        CHECK(host_cache_part((enum host_cache)i, &wanted, &part));
        host_cache_read(&world, (enum host_cache)i, &part, NULL, &batch);
        CHECK_INT(host_cache_take(&host, (enum host_cache)i, &batch, 1), 0);
    }
    vitals_snapshot *snapshot = host_snapshot(&host, &wanted, 1);
    batch_done(&batch);
    host_done(&host);
    os_close(&world.os);
    return snapshot;
}

/* The row with the label; NULL where there is none. */
static inline const vitals_row *host_row(const vitals_snapshot *snapshot, vitals_table entity,
                                         const char *label)
{
    for (const vitals_row *row = NULL; (row = vitals_snapshot_next(snapshot, entity, row)) != NULL;)
        if (strcmp(vitals_row_label(row), label) == 0)
            return row;
    return NULL;
}

static inline double host_number(const vitals_row *row, vitals_metric metric)
{
    double number = 0;
    CHECK_NOT_NULL(row);
    int state = vitals_row_number(row, metric, &number);
    if (state <= 0)
        CHECK_FAIL("%s of %s is %s", vitals_metric_name(metric), vitals_row_label(row),
                   vitals_availability_name(state));
    return number;
}

static inline void host_check(const vitals_row *row, vitals_metric metric, double expected)
{
    double number = host_number(row, metric);
    double slack = (expected < 0 ? -expected : expected) * 1e-12;
    if (number < expected - slack || number > expected + slack)
        CHECK_FAIL("%s of %s is %.17g, expected %.17g", vitals_metric_name(metric),
                   vitals_row_label(row), number, expected);
}

static inline void host_check_text(const vitals_row *row, vitals_metric metric,
                                   const char *expected)
{
    vitals_text text = {"", 0};
    CHECK_NOT_NULL(row);
    int state = vitals_row_text(row, metric, &text);
    if (state <= 0 || text.size != strlen(expected) || memcmp(text.bytes, expected, text.size) != 0)
        CHECK_FAIL("%s of %s is \"%.*s\" (%s), expected \"%s\"", vitals_metric_name(metric),
                   vitals_row_label(row), (int)text.size, text.bytes,
                   vitals_availability_name(state), expected);
}

static inline void host_check_state(const vitals_row *row, vitals_metric metric, int expected)
{
    CHECK_NOT_NULL(row);
    int state = vitals_row_availability(row, metric);
    if (state != expected)
        CHECK_FAIL("%s of %s is %s, expected %s", vitals_metric_name(metric), vitals_row_label(row),
                   vitals_availability_name(state), vitals_availability_name(expected));
}

#endif
