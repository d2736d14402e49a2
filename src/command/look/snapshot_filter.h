/* snapshot_filter.h: a snapshot with some of another's rows. */
#ifndef VITALS_COMMAND_LOOK_SNAPSHOT_FILTER_H
#define VITALS_COMMAND_LOOK_SNAPSHOT_FILTER_H

#include <stdbool.h>

#include <vitals/sys/builder.h>
#include <vitals/vitals.h>

/* Copies a snapshot with only those rows of the table process for which `keep` is true, and of
 * gpu_process only theirs; the other tables are copied whole. *out is yours to unref.
 * Errors: EMEMORY. */
typedef bool subset_keep(void *data, const vitals_row *row);
int subset_copy(const vitals_snapshot *snapshot, subset_keep *keep, void *data,
                vitals_builder *builder, vitals_snapshot **out, vitals_error *error);

/* The same with the rows of any table for which `keep` is true. */
int subset_copy_rows(const vitals_snapshot *snapshot, subset_keep *keep, void *data,
                     vitals_builder *builder, vitals_snapshot **out, vitals_error *error);

/* A copy of all of it; `more` is called behind the rows of each table, and may add others. */
typedef void subset_more(void *data, vitals_entity entity, vitals_builder *builder);
int subset_extend(const vitals_snapshot *snapshot, subset_more *more, void *data,
                  vitals_builder *builder, vitals_snapshot **out, vitals_error *error);

#endif
