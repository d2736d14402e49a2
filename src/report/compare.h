/* compare.h: what several sessions used, figure by figure, against the first of them.
 *
 * A session is one or several runs of the same thing. */
#pragma once

#include <vitals/record/comparison.h>

#include "report/phases.h"

/* A difference is reported if chance makes it less probable than this. */
#define COMPARE_CHANCE 0.01

struct session {
    const char *name;
    const struct recording **runs;
    struct phases *phases; /* of each run */
    size_t count;
};

/* How a session stands to the first. */
struct verdict {
    vitals_verdict kind;
    double change;      /* of the means, of the first's: -0.2 is 20 % less; NaN: of nothing */
    double probability; /* of the same or more by chance; NaN where runs are too few to tell */
    bool unlike;        /* got in another way than the first's */
};

/* The values of one session for a figure. */
struct compared_session {
    struct statistics values; /* over runs */
    vitals_availability state;
    struct verdict verdict;
};

/* A figure, or what a phase used. */
struct compared {
    const char *phase; /* NULL: of the whole run */
    const char *name, *subject, *label, *unit;
    struct compared_session *sessions;
};

struct comparison {
    const struct session *sessions;
    size_t session_count;
    struct compared *items;
    size_t count, capacity;
};

/* Errors: EMEMORY. comparison_done frees what was filled; names are borrowed from runs. */
int compare_sessions(const struct session *sessions, size_t count, struct comparison *out,
                     vitals_error *error);
void comparison_done(struct comparison *comparison);

int comparison_text(const struct comparison *comparison, const struct account_view *view,
                    vitals_write_fn *write, void *data);
int comparison_json(const struct comparison *comparison, vitals_write_fn *write, void *data);

/* gpu_tracker's comparison of sessions, by one statistic: "mean", "min", "max", "std". */
bool comparison_knows(const char *statistic);
int comparison_gpu_tracker(const struct comparison *comparison, const struct account_view *view,
                           const char *statistic, vitals_write_fn *write, void *data);

/* The phase of a session that goes with one of the first's: of that name, else, where only numbers
 * behind the last colon differ, the one in the same place. NULL: none. */
const struct phase *comparison_pair(const struct phases *first, const struct phase *phase,
                                    const struct phases *others);
