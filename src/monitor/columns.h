/* columns.h: the columns of the list of processes: a table.
 *
 * A new column is a row in columns.c: its title, how wide it is, what it says of a line, what a
 * sort by it compares. */
#ifndef VITALS_MONITOR_COLUMNS_H
#define VITALS_MONITOR_COLUMNS_H

#include "monitor/cell_text.h"
#include "monitor/model.h"

struct column {
    const char *title;
    const char *name; /* in the help: "GPU memory" */
    int width;        /* with the blank before it; 0: all that is left */
    bool left;        /* aligned */
    bool host;        /* part of what moves sideways */
    unsigned views;   /* enum view */
    int rank;         /* the lowest is dropped first where there is no room */
    char letter;      /* that sorts by it, behind `o`; 0: nothing does */
    bool falling;     /* the most first */
    void (*words)(const struct model *model, const struct item *item, char *out);
    bool (*value)(const struct model *model, const struct item *item, double *out);
    bool (*text)(const struct model *model, const struct item *item, char *out, size_t capacity);
};

extern const struct column list_columns[];
extern const size_t list_column_count;

/* Which are shown in so many columns of a view, in their order. */
struct column_choice {
    const struct column *shown[16];
    int x[16]; /* where each begins, its blank included */
    size_t count;
    size_t fixed; /* how many of them do not move sideways */
    int command;  /* columns left for the last one */
};
void columns_choose(enum view view, bool devices, int width, struct column_choice *choice);

/* The sort behind a letter, of a view; 0: none. The next or previous one that the view has. */
unsigned columns_sort(enum view view, char letter);
unsigned columns_sort_step(enum view view, unsigned sort, int step);

/* A sort's column; NULL for 0. */
const struct column *columns_sorted(unsigned sort);

#endif
