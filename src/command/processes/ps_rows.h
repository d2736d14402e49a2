/* ps_rows.h: the processes that `vitals ps` and `vitals kill` show: chosen, sorted, as a tree. */
#pragma once

#include "command/processes/filter.h"
#include "command/processes/ps_columns.h"

enum { PS_KEYS_MAX = 8 };

struct ps_order {
    struct ps_column columns[PS_KEYS_MAX];
    bool descending[PS_KEYS_MAX];
    size_t count;
};

/* Parses --sort. Returns 0, or EXIT_USAGE after a message. */
int ps_order_init(struct ps_order *order, const struct settings_words *words);

struct ps_row {
    const vitals_row *process;
    const struct ps_value *keys; /* what it is sorted by */
    double pid;
    size_t parent, first, next; /* of the tree: places among the rows, plus one; 0: none */
};

struct ps_rows {
    struct ps_row *items; /* in the order in which they are shown, unless `shown` is there */
    size_t count;
    size_t *shown; /* the tree's order: places among the rows */
    struct ps_value *values;
};

/* Those of a snapshot that pass, sorted: what is missing last, equals by pid; `limit` (0: none) of
 * them. They live as long as the snapshot. 0, or EXIT_CANNOT after a message. */
int ps_rows_choose(struct ps_rows *rows, struct filter *filter, const struct ps_order *order,
                   const struct ps_view *view, uint64_t limit);

/* Children below their parents, siblings as they were sorted. 0, or EXIT_CANNOT after a message. */
int ps_rows_tree(struct ps_rows *rows);

/* The row at a place of what is shown. */
const struct ps_row *ps_rows_at(const struct ps_rows *rows, size_t place);

/* The branches that a row of the tree hangs on: "│  ├─ ". */
enum { PS_BRANCHES = 512 };
void ps_rows_branches(const struct ps_rows *rows, const struct ps_row *row, bool ascii,
                      char out[PS_BRANCHES]);

void ps_rows_done(struct ps_rows *rows);
