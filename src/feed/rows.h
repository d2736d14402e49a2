/* rows.h: loops over the rows of a snapshot. */
#pragma once

#include <stdbool.h>

#include <vitals/vitals.h>

#define EACH_ROW(row, snapshot, table) \
    for (const vitals_row *row = NULL; \
         (row = vitals_snapshot_next((snapshot), (table), row)) != NULL;)

#define EACH_CHILD(row, snapshot, table, parent) \
    for (const vitals_row *row = NULL;           \
         (row = vitals_snapshot_next_child((snapshot), (table), (parent), row)) != NULL;)

/* Returns the process of a row of gpu_process (may be NULL), or NULL if it has no row. */
static inline const vitals_row *row_process(const vitals_row *user)
{
    uint64_t key;
    return vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) > 0
               ? vitals_snapshot_find(vitals_row_snapshot(user), VITALS_TABLE_PROCESS, key)
               : NULL;
}

/* Returns the row of gpu_process behind `use` (NULL: the first) that is of the process, or NULL.
 * There are few users, so the table is searched from there. */
static inline const vitals_row *row_next_use(const vitals_row *process, const vitals_row *use)
{
    const vitals_snapshot *snapshot = vitals_row_snapshot(process);
    uint64_t key;
    while ((use = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU_PROCESS, use)) != NULL &&
           !(vitals_row_u64(use, VITALS_GPU_PROCESS_PROCESS, &key) > 0 &&
             key == vitals_row_key(process)))
        continue;
    return use;
}

static inline bool row_uses_gpu(const vitals_row *process)
{
    return row_next_use(process, NULL) != NULL;
}
