/* snapshot_filter.h: copies a snapshot with a part of its rows and columns. */
#pragma once

#include <stdbool.h>

#include <vitals/sys/builder.h>
#include <vitals/vitals.h>

/* Which rows and which columns are copied, a table without any being left out; and a function that
 * is called after the rows of each table and may add others. Each may be NULL. */
struct snapshot_changes {
    bool (*column)(vitals_metric metric);
    bool (*keep)(void *data, const vitals_row *row);
    void (*more)(void *data, vitals_table entity, vitals_builder *builder);
    void *data;
};

/* Copies a snapshot. The caller unrefs *out. Errors: EMEMORY. */
int snapshot_copy(const vitals_snapshot *snapshot, const struct snapshot_changes *changes,
                  vitals_builder *builder, vitals_snapshot **out, vitals_error *error);
