/* ps_rows.c: see ps_rows.h. */
#include "command/processes/ps_rows.h"
#include "feed/rows.h"
#include "util/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ps_order_init(struct ps_order *order, const struct settings_words *words)
{
    order->count = 0;
    for (size_t i = 0; i < words->count; i++) {
        const char *name = words->items[i];
        bool descending = name[0] == '-';
        if (order->count == PS_KEYS_MAX)
            return command_fail(EXIT_USAGE, "--sort: more than %d columns", PS_KEYS_MAX);
        if (ps_column_find("--sort", name + (name[0] == '-' || name[0] == '+'),
                           &order->columns[order->count]) != 0)
            return EXIT_USAGE;
        order->descending[order->count++] = descending;
    }
    return 0;
}

/* The order of the sort that is under way: qsort(3) passes no context. */
static const struct ps_order *current;

static int compare_rows(const void *first, const void *second)
{
    const struct ps_row *a = first, *b = second;
    for (size_t i = 0; i < current->count; i++) {
        const struct ps_value *x = &a->keys[i], *y = &b->keys[i];
        bool has_x = x->availability > 0, has_y = y->availability > 0;
        if (has_x != has_y)
            return has_x ? -1 : 1;
        int by = 0;
        if (has_x && x->is_text && y->is_text) {
            size_t size = x->text.size < y->text.size ? x->text.size : y->text.size;
            by = memcmp(x->text.bytes, y->text.bytes, size);
            by = by != 0 ? by : (x->text.size > y->text.size) - (x->text.size < y->text.size);
        } else if (has_x) {
            by = (x->number > y->number) - (x->number < y->number);
        }
        if (by != 0)
            return current->descending[i] ? -by : by;
    }
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    uint64_t x = vitals_row_key(a->process), y = vitals_row_key(b->process);
    return (x > y) - (x < y);
}

/* The one that was started last, or first: of several in the same clock tick the one with the
 * highest pid, or the lowest. */
static void keep_one(struct ps_rows *rows, bool newest)
{
    size_t best = rows->count;
    double best_start = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double start;
        if (vitals_row_number(rows->items[i].process, VITALS_PROCESS_START_SECONDS, &start) <= 0)
            continue;
        bool later = best == rows->count || start > best_start ||
                     (start == best_start && rows->items[i].pid > rows->items[best].pid);
        if (best == rows->count || later == newest) {
            best = i;
            best_start = start;
        }
    }
    if (best < rows->count)
        rows->items[0] = rows->items[best];
    rows->count = best < rows->count ? 1 : 0;
}

int ps_rows_choose(struct ps_rows *rows, struct filter *filter, const struct ps_order *order,
                   const struct ps_view *view, uint64_t limit)
{
    size_t all = vitals_snapshot_count(view->now, VITALS_TABLE_PROCESS);
    *rows = (struct ps_rows){.items = calloc(all + 1, sizeof *rows->items)};
    if (rows->items == NULL)
        return command_fail(EXIT_CANNOT, "out of memory");
    EACH_ROW(row, view->now, VITALS_TABLE_PROCESS) {
        struct ps_row one = {.process = row};
        if (!filter_passes(filter, row) ||
            (filter->means != NULL && !filter->means(filter->data, row)))
            continue;
        if (vitals_row_number(row, VITALS_PROCESS_PID, &one.pid) <= 0)
            one.pid = -1;
        rows->items[rows->count++] = one;
    }
    if (filter->choice->newest || filter->choice->oldest)
        keep_one(rows, filter->choice->newest);
    rows->values = calloc(rows->count * order->count + 1, sizeof *rows->values);
    if (rows->values == NULL)
        return command_fail(EXIT_CANNOT, "out of memory");

    for (size_t i = 0; i < rows->count; i++) {
        struct ps_value *values = rows->values + i * order->count;
        rows->items[i].keys = values;
        for (size_t j = 0; j < order->count; j++)
            ps_column_value(&order->columns[j], view, rows->items[i].process, &values[j]);
    }

    current = order;
    qsort(rows->items, rows->count, sizeof *rows->items, compare_rows);
    if (limit > 0 && rows->count > limit)
        rows->count = (size_t)limit;
    return 0;
}

void ps_rows_done(struct ps_rows *rows)
{
    free(rows->items);
    free(rows->shown);
    free(rows->values);
    *rows = (struct ps_rows){0};
}

int ps_rows_tree(struct ps_rows *rows)
{
    struct hash places = {0}; /* of the rows, plus one, by their keys */
    rows->shown = calloc(rows->count + 1, sizeof *rows->shown);
    bool memory = rows->shown != NULL;
    for (size_t i = 0; i < rows->count && memory; i++)
        memory = hash_set(&places, vitals_row_key(rows->items[i].process), i + 1) == 0;
    for (size_t i = 0; i < rows->count && memory; i++) {
        uint64_t key = vitals_row_parent(rows->items[i].process);
        const uintptr_t *parent = key != 0 ? hash_find(&places, key) : NULL;
        rows->items[i].parent = parent != NULL ? *parent : 0;
    }
    hash_done(&places);
    if (!memory)
        return command_fail(EXIT_CANNOT, "out of memory");

    /* In a file parents may form a cycle: one row of it becomes a root. Each row is visited once:
     * `marks` has the row from which it was reached first. */
    size_t *marks = rows->shown;
    for (size_t i = 0; i < rows->count; i++) {
        size_t at = i + 1;
        while (at != 0 && marks[at - 1] == 0) {
            marks[at - 1] = i + 1;
            at = rows->items[at - 1].parent;
        }
        if (at != 0 && marks[at - 1] == i + 1)
            rows->items[at - 1].parent = 0;
    }

    /* Links each row to its parent; from the last to the first, so that siblings keep their
     * order. */
    size_t at = 0;
    for (size_t i = rows->count; i > 0; i--) {
        struct ps_row *row = &rows->items[i - 1];
        size_t *first = row->parent != 0 ? &rows->items[row->parent - 1].first : &at;
        row->next = *first;
        *first = i;
    }

    size_t count = 0;
    while (at != 0) {
        const struct ps_row *row = &rows->items[at - 1];
        rows->shown[count++] = at - 1;
        if (row->first != 0) {
            at = row->first;
            continue;
        }
        while (row->next == 0 && row->parent != 0)
            row = &rows->items[row->parent - 1];
        at = row->next;
    }

    return 0;
}

const struct ps_row *ps_rows_at(const struct ps_rows *rows, size_t place)
{
    return &rows->items[rows->shown != NULL ? rows->shown[place] : place];
}

void ps_rows_branches(const struct ps_rows *rows, const struct ps_row *row, bool ascii,
                      char out[PS_BRANCHES])
{
    enum { LEVELS = 40 };
    const char *forms[LEVELS];
    size_t levels = 0, used = 0;
    for (const struct ps_row *up = row; up->parent != 0 && levels < LEVELS;
         up = &rows->items[up->parent - 1]) {
        bool last = up->next == 0;
        if (up == row)
            forms[levels++] = ascii ? (last ? "`- " : "|- ") : last ? "└─ " : "├─ ";
        else
            forms[levels++] = last ? "   " : ascii ? "|  " : "│  ";
    }
    out[0] = '\0';
    while (levels > 0 && used < PS_BRANCHES - 1)
        used += (size_t)snprintf(out + used, PS_BRANCHES - used, "%s", forms[--levels]);
}
