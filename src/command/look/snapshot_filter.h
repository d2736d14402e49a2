/* snapshot_filter.h: a snapshot with some of another's rows. */
#ifndef VITALS_COMMAND_LOOK_SNAPSHOT_FILTER_H
#define VITALS_COMMAND_LOOK_SNAPSHOT_FILTER_H

#include <stdbool.h>

#include <vitals/sys/builder.h>
#include <vitals/vitals.h>

/* Copies a snapshot with only those rows of the table process for which `keep` is true, and of
 * gpu_process only theirs; the other tables are copied whole. *out is yours to unref.
 * Errors: EMEMORY. */
typedef bool snapshot_keep(void *data, const vitals_row *row);
int snapshot_filter_processes(const vitals_snapshot *snapshot, snapshot_keep *keep, void *data,
                              vitals_builder *builder, vitals_snapshot **out, vitals_error *error);

/* The same with the rows of any table for which `keep` is true. */
int snapshot_filter_rows(const vitals_snapshot *snapshot, snapshot_keep *keep, void *data,
                         vitals_builder *builder, vitals_snapshot **out, vitals_error *error);

/* A copy of all of it; `more` is called behind the rows of each table, and may add others. */
typedef void snapshot_more(void *data, vitals_entity entity, vitals_builder *builder);
int snapshot_extend(const vitals_snapshot *snapshot, snapshot_more *more, void *data,
                    vitals_builder *builder, vitals_snapshot **out, vitals_error *error);

#endif
