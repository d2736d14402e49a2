/* ps_columns.h: the columns of `vitals ps`: a table of those that ps(1) has names for, and every
 * metric of a process.
 *
 * A column has a value for each row, which sorts and goes into CSV, and a form for people. Nothing
 * is read here: rows have what the columns' metrics were requested for. One thread. */
#pragma once

#include "command/command.h"
#include "feed/text.h"
#include "view/device_metrics.h"
#include "view/paint.h"

/* How a value is written for people. */
enum ps_show {
    SHOW_COUNT = 1,
    SHOW_BYTES,    /* 28.45M; with --bytes all of them */
    SHOW_PERCENT,  /* of a ratio: 12.5 */
    SHOW_DURATION, /* of seconds: 1:10:56 */
    SHOW_SECONDS,  /* 4256 */
    SHOW_START,    /* of a moment since boot: 14:05, Nov12, 2023 */
    SHOW_DATE,     /* of the same: Fri Nov 20 14:05:11 2026 */
    SHOW_REAL,     /* 2.5 */
    SHOW_OCTAL,
    SHOW_TEXT,
    SHOW_COMMAND /* arguments as a shell reads them */
};

enum { PS_NEEDS = 8, PS_TITLE = DEVICE_LABEL, PS_COLUMNS_MAX = 120 };

/* A value of a row. `text` may point into `composed`: not to be moved. */
struct ps_value {
    vitals_availability availability;
    bool is_text;
    double number;
    vitals_text text;
    char composed[96];
};

/* The snapshots and options that values depend on. */
struct ps_view {
    const vitals_snapshot *now;
    const vitals_snapshot *older; /* what rates are made against; NULL: averages over a life */
    bool ascii;
    bool bytes; /* memory in bytes */
    bool local; /* of this machine: its names of groups are those of the snapshot */
};

struct ps_kind; /* a row of the table */

struct ps_column {
    const struct ps_kind *kind; /* NULL: the metric as it is */
    vitals_metric metric;       /* 0 where a kind makes its value of several */
    enum ps_show show;
    bool by_default; /* it was not named: STAT has no L, which needs a file more of each process */
    const char *key; /* its title in CSV */
    char title[PS_TITLE];
};

struct ps_columns {
    struct ps_column items[PS_COLUMNS_MAX];
    size_t count;
};

/* "pid", "rss=MEM". `option` is how a message calls where it stood. 0, or EXIT_USAGE after a
 * message that suggests the nearest name. */
int ps_column_find(const char *option, const char *name, struct ps_column *out);

/* Every name by index, the names of ps(1) first; NULL after the last. */
const char *ps_column_word(size_t index);

/* Makes a column of a metric of any table; its title is its name in capitals, without its unit. */
void ps_column_of(vitals_metric metric, struct ps_column *out);

/* The columns if none are named: those of `ps aux`; `full`: of `ps -f`. */
void ps_columns_default(struct ps_columns *out, bool full);

/* A file may hold the real user only: it then stands for the effective one, under the same title.
 */
void ps_columns_fall_back(struct ps_columns *columns, const vitals_snapshot *snapshot);

/* Adds what its values are made of. */
int ps_column_request(const struct ps_column *column, vitals_request *request, vitals_error *error);

/* Whether numbers stand in it. */
bool ps_column_is_number(const struct ps_column *column);

void ps_column_value(const struct ps_column *column, const struct ps_view *view,
                     const vitals_row *row, struct ps_value *out);

/* As the metric has it, where there is one: "" of no terminal, 0 of no priority. */
void ps_column_exact(const struct ps_column *column, const struct ps_view *view,
                     const vitals_row *row, struct ps_value *out);

/* The value as a person reads it, safe for a terminal; N/A where there is none. The string lives in
 * `out`, which remembers that memory ran out: it is then empty. So the next two. */
const char *ps_column_cell(const struct ps_column *column, const struct ps_view *view,
                           const vitals_row *row, struct buffer *out, enum color *color);

/* The value as a field of CSV; empty where there is none. */
const char *ps_column_field(const struct ps_column *column, const struct ps_view *view,
                            const vitals_row *row, struct buffer *out);

/* A process's command line into `out`, safe; [name] of a kernel thread. */
const char *ps_command(const vitals_row *row, bool ascii, struct buffer *out, enum color *color);
