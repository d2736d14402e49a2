/* table.h: the rows of many machines: by device, machine, user or job, sorted and filtered, as
 * text, on a canvas and as JSON.
 *
 * Rows borrow from the fleet and live until its next change. A sum of which a part is missing is a
 * lower bound and marked as such; without any part it is missing. One thread. */
#pragma once

#include "fleet/fleet.h"
#include "fleet/names.h"
#include "view/draw.h"

enum fleet_by { FLEET_BY_GPU, FLEET_BY_NODE, FLEET_BY_USER, FLEET_BY_JOB, FLEET_BYS };

/* A sum or the most of what is known. */
struct fleet_figure {
    double value;
    unsigned known, missing;
};

enum { FLEET_NAME = 64, FLEET_LIST = 160 };

/* Words, between blanks; safe to print. */
struct fleet_list {
    char words[FLEET_LIST];
    bool cut; /* there are more */
};

struct fleet_row {
    const struct fleet_host *host; /* of a device, a machine; else NULL */
    const vitals_row *gpu;         /* of a device; NULL: the machine has none, or does not answer */
    bool cut; /* stands for the devices of a machine that are too many to be shown */
    char user[FLEET_NAME], job[FLEET_NAME]; /* of a user, a job; "" */
    struct fleet_list users, jobs;          /* of a device, a machine */
    unsigned hosts, gpus, free;
    struct fleet_figure busy, used, total, power, heat, idle, load, age;
};

struct fleet_table {
    enum fleet_by by;
    struct fleet_row *rows;
    size_t count, capacity;
    size_t gpus, free; /* of all machines that answer, whatever is filtered */
    char where[512];   /* free devices: "node01 0,1  node02 3", as many as fit */
};

/* How rows are arranged. */
struct fleet_order {
    enum fleet_by by;
    const char *sort; /* name of a column, or NULL: as it comes, users and jobs by their memory */
    bool reversed;
    const char *filter; /* words that a row must hold, !word: must not; NULL: all rows */
};

/* Builds the rows anew. Errors: EMEMORY. */
int fleet_table_build(struct fleet_table *table, const struct fleet *fleet,
                      const struct fleet_order *order);
void fleet_table_done(struct fleet_table *table); /* accepts zeros */

/* True if a machine tells of more than is shown of one: devices, or uses of them by users and jobs.
 * A sum by machine is of all. */
bool fleet_is_cut(const struct fleet *fleet, const struct fleet_host *host);

/* True if a device can be had: no job has it, no program computes on it, nearly all of its memory
 * is free. What is not known is not free. */
bool fleet_is_free(const vitals_row *gpu);

/* ---- columns: columns.c ---- */

enum { FLEET_CELL = 192 };

/* From FLEET_PERCENT on the member of the row is a struct fleet_figure. */
enum fleet_kind {
    FLEET_HOST,
    FLEET_LABEL,
    FLEET_DEVICE,
    FLEET_TEXT,
    FLEET_LISTED,
    FLEET_COUNT,
    FLEET_PERCENT,
    FLEET_BYTES,
    FLEET_WATTS,
    FLEET_CELSIUS,
    FLEET_NUMBER,
    FLEET_SPAN,
    FLEET_AGE
};

struct fleet_column {
    const char *name; /* of --sort, and in capitals the heading */
    const char *key;  /* in JSON */
    int width;        /* 0: what is left */
    bool right;
    unsigned bys; /* bits of 1 << enum fleet_by */
    enum fleet_kind kind;
    size_t offset; /* of the member of the row */
};
extern const struct fleet_column fleet_columns[]; /* ends with a name of NULL */

/* Writes a cell, safe to print. */
void fleet_cell(const struct fleet_column *column, const struct fleet_row *row, bool ascii,
                char out[static FLEET_CELL]);

/* Returns the figure of a column, or NULL if it is none of figures. */
const struct fleet_figure *fleet_figure(const struct fleet_column *column,
                                        const struct fleet_row *row);

/* True if the figure is a mean of the devices of which it is known: the utilization of a machine.
 */
bool fleet_is_mean(const struct fleet_column *column, const struct fleet_row *row);

/* Returns the value of a column with a figure that is known: a sum, or such a mean. The utilization
 * of a user, a job is the sum over its processes for each device. */
double fleet_value(const struct fleet_column *column, const struct fleet_row *row);

/* Returns the column of a name in a table, or NULL. */
const struct fleet_column *fleet_column_find(const char *name, enum fleet_by by);

/* ---- drawing ---- */

struct fleet_view {
    const struct fleet *fleet;
    const struct fleet_table *table;
    const struct fleet_order *order;
    uint64_t now_ns;
};

enum { FLEET_HEAD_ROWS = 3 };

/* How many answer, where a device is free, what does not answer; and the headings. */
void fleet_draw_head(struct pen *pen, const struct fleet_view *view);
void fleet_draw_row(struct pen *pen, int y, const struct fleet_view *view, size_t index);

/* All of it as text of so many columns, and as one JSON document with a newline. Errors: EMEMORY,
 * ESYSTEM (the writer stopped). */
int fleet_print(const struct fleet_view *view, const struct look *look, int width, bool styles,
                vitals_write_fn *write, void *data);
int fleet_print_json(const struct fleet_view *view, vitals_write_fn *write, void *data);
