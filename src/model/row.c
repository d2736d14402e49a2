/* row.c: one row, and one value of it with how good it is.
 *
 * An integer is never handed out as a double or the other way round, but by vitals_row_number. No
 * row is one of no table, so that what a look-up returns needs no check of its own.
 * Thread rule: any thread. */
#include "model/snapshot.h"

#include <math.h>

const vitals_snapshot *vitals_row_snapshot(const vitals_row *row)
{
    return row != NULL ? row->table->snapshot : NULL;
}

vitals_table vitals_row_table(const vitals_row *row)
{
    return row != NULL ? row->table->entity : VITALS_TABLE_NONE;
}

uint64_t vitals_row_key(const vitals_row *row)
{
    return row != NULL ? row_key(row) : 0;
}

uint64_t vitals_row_parent(const vitals_row *row)
{
    return row != NULL ? row->parent : 0;
}

uint64_t vitals_row_stamp_ns(const vitals_row *row)
{
    return row != NULL ? row->stamp_ns : 0;
}

const char *vitals_row_label(const vitals_row *row)
{
    return row != NULL ? row->label : "";
}

/* The metric's column, or NULL and in `why` the reason. */
static const struct snapshot_column *find(const vitals_row *row, vitals_metric metric,
                                          vitals_availability *why)
{
    const struct snapshot_column *column = NULL;
    if (row != NULL && metric >> 8 == row->table->entity)
        column = table_column(row->table, metric);
    if (column == NULL)
        *why = row != NULL && vitals_metric_table(metric) == row->table->entity
                   ? VITALS_NOT_REQUESTED
                   : VITALS_WRONG_METRIC;
    return column;
}

/* The column that holds the value, if that has this type, and its state. */
static vitals_availability look(const vitals_row *row, vitals_metric metric, vitals_type type,
                                const struct snapshot_column **out)
{
    vitals_availability state = VITALS_UNSET;
    const struct snapshot_column *column = find(row, metric, &state);
    if (column == NULL)
        return vitals_metric_type(metric) == type ? state : VITALS_WRONG_METRIC;
    if (column->type != type)
        return VITALS_WRONG_METRIC;
    *out = column;
    return (vitals_availability)column->states[row_index(row)];
}

vitals_availability vitals_row_u64(const vitals_row *row, vitals_metric metric, uint64_t *out)
{
    const struct snapshot_column *column;
    vitals_availability state = look(row, metric, VITALS_U64, &column);
    if (state > 0)
        *out = column->cells[row_index(row)].u64;
    return state;
}

vitals_availability vitals_row_i64(const vitals_row *row, vitals_metric metric, int64_t *out)
{
    const struct snapshot_column *column;
    vitals_availability state = look(row, metric, VITALS_I64, &column);
    if (state > 0)
        *out = column->cells[row_index(row)].i64;
    return state;
}

vitals_availability vitals_row_f64(const vitals_row *row, vitals_metric metric, double *out)
{
    const struct snapshot_column *column;
    vitals_availability state = look(row, metric, VITALS_F64, &column);
    if (state > 0)
        *out = column->cells[row_index(row)].f64;
    return state;
}

vitals_availability vitals_row_text(const vitals_row *row, vitals_metric metric, vitals_text *out)
{
    const struct snapshot_column *column;
    vitals_availability state = look(row, metric, VITALS_TEXT, &column);
    if (state > 0)
        *out = column->texts[row_index(row)];
    return state;
}

vitals_availability vitals_row_number(const vitals_row *row, vitals_metric metric, double *out)
{
    vitals_type type = vitals_metric_type(metric);
    const struct snapshot_column *column;
    if (type == VITALS_TEXT)
        return VITALS_WRONG_METRIC;
    vitals_availability state = look(row, metric, type, &column);
    if (state <= 0)
        return state;
    const union snapshot_cell *cell = &column->cells[row_index(row)];
    *out = type == VITALS_U64   ? (double)cell->u64
           : type == VITALS_I64 ? (double)cell->i64
                                : cell->f64;
    return state;
}

vitals_availability vitals_row_availability(const vitals_row *row, vitals_metric metric)
{
    vitals_availability state = VITALS_UNSET;
    const struct snapshot_column *column = find(row, metric, &state);
    return column != NULL ? (vitals_availability)column->states[row_index(row)] : state;
}

uint64_t vitals_row_read_ns(const vitals_row *row, vitals_metric metric)
{
    vitals_availability why;
    const struct snapshot_column *column = find(row, metric, &why);
    return column != NULL ? column_read_ns(column, row) : 0;
}

double vitals_row_age_seconds(const vitals_row *row, vitals_metric metric)
{
    vitals_availability why;
    const struct snapshot_column *column = find(row, metric, &why);
    if (column == NULL)
        return (double)NAN;
    /* A value may come in after the snapshot's moment was noted, or be told to be from then. */
    uint64_t now_ns = row->table->snapshot->monotonic_ns, then_ns = column_read_ns(column, row);
    return now_ns > then_ns ? (double)(now_ns - then_ns) / (double)NS_PER_SECOND : 0;
}

vitals_availability vitals_row_pid(const vitals_row *row, int64_t *out)
{
    vitals_table entity = vitals_row_table(row);
    vitals_metric metric = entity == VITALS_TABLE_PROCESS ? VITALS_PROCESS_PID
                                                          : vitals_metric_find(entity, "pid");
    uint64_t pid; /* at most 2^53 */
    vitals_availability state = metric != 0 ? vitals_row_u64(row, metric, &pid)
                                            : VITALS_WRONG_METRIC;
    if (state > 0)
        *out = (int64_t)pid;
    return state;
}
