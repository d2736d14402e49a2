/* rows.h: loops over the rows of a snapshot, for rooms that include <vitals/snapshot.h>. */
#ifndef VITALS_UTIL_ROWS_H
#define VITALS_UTIL_ROWS_H

#define EACH_ROW(row, snapshot, table) \
    for (const vitals_row *row = NULL; \
         (row = vitals_snapshot_next((snapshot), (table), row)) != NULL;)

#define EACH_CHILD(row, snapshot, table, parent) \
    for (const vitals_row *row = NULL;           \
         (row = vitals_snapshot_next_child((snapshot), (table), (parent), row)) != NULL;)

#endif
