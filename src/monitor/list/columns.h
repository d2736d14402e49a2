/* columns.h: the columns of the list of processes: a table.
 *
 * A new column is a row in columns.c: its name, how wide it is, what it says of a line, what a sort
 * by it compares. One of a metric of a process needs no function. */
#pragma once

#include "monitor/model.h"
#include "view/cell_text.h"

/* How a value is written. Memory can also be written as a share. */
enum show {
    SHOW_COUNT,
    SHOW_BYTES,
    SHOW_SHARE,   /* whole percent */
    SHOW_PERCENT, /* with one decimal */
    SHOW_CPU,     /* cores as percent of one */
    SHOW_RATE,    /* bytes a second */
    SHOW_PER_SECOND,
    SHOW_DURATION,
    SHOW_TEXT
};

/* The total that a share of memory is of. */
enum whole { WHOLE_NONE, WHOLE_MEMORY, WHOLE_SWAP, WHOLE_DEVICES };

struct column {
    const char *key; /* in layouts and on the chooser, as vitals ps has it where that has it */
    const char *title;
    const char *name; /* in the help: "GPU memory" */
    int width;        /* with the blank before it; 0: all that is left */
    bool left;        /* aligned */
    bool host;        /* from the first such column on, all columns scroll sideways */
    unsigned views;   /* enum view: may be shown there */
    unsigned usual;   /* likewise: is shown by default */
    unsigned wide;    /* likewise, where there is much room */
    int rank;         /* the lowest is dropped first if there is no room */
    char letter;      /* that sorts by it, behind `o`; 0: nothing does */
    bool falling;     /* the most first */
    bool sum;         /* a group has it too, as a sum */
    bool once;        /* likewise, and a process counts once, on however many devices it is */
    enum show show;
    enum whole whole;
    vitals_metric metric;      /* of a process, if there is no function; 0: there is one */
    vitals_metric user_metric; /* likewise, of gpu_process */
    vitals_metric made_of;     /* what the value is computed from; limits its availability */
    vitals_metric needs[3];
    enum group_by by; /* its text is the name of this group of the process */
    /* Words of a line if `show` does not suffice. */
    void (*words)(const struct model *model, const struct item *item, char *out);
    bool (*value)(const struct model *model, const struct item *item, double *out);
};

extern const struct column list_columns[];
extern const size_t list_column_count;

/* The text of a column for a line in at most WORDS bytes, as wide as it is; and its title. */
void column_words(const struct column *column, const struct model *model, const struct item *item,
                  char *out);
void column_title(const struct column *column, const struct model *model, char *out);

/* Pads a text to a number of columns, with blanks before it, or behind it if it is aligned at the
 * left. A longer text stays whole. Returns the bytes. */
size_t column_pad(const char *text, int width, bool left, char *out, size_t capacity);

/* True if a sort by the column compares texts, else values. */
bool column_sorts(const struct column *column);
bool column_is_text(const struct column *column);
bool column_value(const struct column *column, const struct model *model, const struct item *item,
                  double *out);
bool column_text(const struct column *column, const struct model *model, const struct item *item,
                 char *out, size_t capacity);

/* Which of two whole texts comes first, of lines that have both. */
int column_compare(const struct column *column, const struct model *model, const struct item *a,
                   const struct item *b);

/* How much of a sum is known: nothing to add, no value known, a part, all of it. */
enum sum { SUM_NOTHING, SUM_UNKNOWN, SUM_LEAST, SUM_WHOLE };
enum sum group_sum(const struct group *group, const struct column *column, double *out);

/* True if a value of a line is a lower bound. */
bool column_is_least(const struct column *column, const struct item *item);

/* True if the list can have values in the column: not those of devices if there are none. */
bool column_has_values(const struct model *model, const struct column *column);

/* True if it is read only for its own sake, for every process about once a tick. */
bool column_is_dear(const struct column *column);

/* True if the column may be so much wider or narrower than usual: less than WORDS in all. */
bool column_may_be(const struct column *column, int wider);

/* By its key; list_column_count: there is none. By the title of one that there is. */
size_t column_find(const char *key, size_t size);
const struct column *column_titled(const char *title);

/* The columns of a view as they are by default; `wide` as in struct arrangement. */
void columns_usual(enum view view, bool wide, struct arranged_columns *out);

/* The columns that a person sees in a view, in order, whatever room there is. */
void columns_of(const struct arrangement *arrangement, enum view view,
                struct arranged_columns *out);

/* Which are shown in so many columns of the screen, in their order. */
struct column_choice {
    const struct column *shown[ARRANGED_COLUMNS];
    int x[ARRANGED_COLUMNS];     /* where each begins, its blank included */
    int width[ARRANGED_COLUMNS]; /* likewise */
    size_t count;
    size_t fixed; /* how many of them do not move sideways */
    int command;  /* columns left for the last one */
    int trend;    /* columns of a line of CPU over time, in those of %CPU; 0: there is none */
};
void columns_choose(const struct model *model, int width, struct column_choice *choice);

/* The sort behind a letter, of a view; 0: none. The next or previous one that the view has. */
unsigned columns_sort(enum view view, char letter);
unsigned columns_sort_step(enum view view, unsigned sort, int step);

/* A sort's column; NULL for 0. */
const struct column *columns_sorted(unsigned sort);
