/* recording_data.h: a recording while a reader fills it. One thread.
 *
 * A reader adds series, then the values of each row, then marks, attributes and figures. Rows are
 * aggregated as they come. Curves of more than CELLS_MAX numbers are thinned, so that a file of any
 * length fits. */
#pragma once

#include <stdio.h>

#include "feed/text.h"
#include "record/recording.h"
#include "record/sample.h"
#include <vitals/sys/account.h>

enum { CELLS_MAX = 16 * 1024 * 1024, SERIES_READ_MAX = 4096, TEXT_READ_MAX = 64 * 1024 };
enum { RECORDED_PHASES_MAX = 1000000, PHASES_OPEN_MAX = 4096 };

/* The statistics over all rows of a series. */
struct aggregate {
    uint64_t count;
    double last, least, largest;
    double last_seconds;
    double area, weight; /* of the mean over time */
    double growth;       /* a counter that runs backwards has restarted */
    double total;        /* of a column that holds growth: the sum so far */
    bool rate;           /* a value is the mean of the time before it */
};

/* The values of a series beside its curve. */
struct series_state {
    struct aggregate aggregate;
    double value; /* in the row that is being told; NaN: missing */
    double age;   /* seconds by which that value is older than its row; 0: not */
    double *own;  /* read times of a series that ever had an age, or NULL */
};

struct open_phase {
    size_t phase; /* in phases */
    int64_t pid, tid;
};

struct recording {
    char *path;
    const char *format;
    struct buffer problem;
    vitals_account *account;
    bool account_stored; /* the file holds figures */

    struct series *series;
    struct series_state *states; /* one for each series */
    size_t series_count, series_capacity;
    size_t series_next; /* after the one found last: readers ask in a fixed order */
    double row_seconds;
    double *seconds; /* of all series */
    size_t rows, rows_capacity;
    uint64_t rows_seen, stride; /* every stride-th is kept */
    double first_seconds, last_seconds;
    uint64_t backwards; /* rows that are earlier than the one before */

    struct recorded_phase *phases;
    size_t phase_count, phase_capacity;
    struct open_phase *open;
    size_t open_count;
    uint64_t phases_lost, ends_lost;
    bool no_memory;
    bool damaged; /* SQLite cannot read a page of it */
};

/* If memory is out, these functions set `no_memory` and do nothing more; recording_open reports
 * it. */

/* Adds a series, or finds one of that name and subject. Returns its index; SIZE_MAX if there is no
 * room. */
size_t recording_series_index(struct recording *recording, const char *name, const char *unit,
                              const char *subject, bool counter);

/* The same for a measure; a name that vitals has no measure of has no unit, and is a gauge. */
size_t recording_measure_index(struct recording *recording, const char *measure,
                               const char *subject);
void recording_series_label(struct recording *recording, size_t index, const char *label);

void recording_row(struct recording *recording, double seconds);
void recording_value(struct recording *recording, size_t index, double value);
void recording_growth(struct recording *recording, size_t index, double growth);
/* Sets how many seconds before its row the value was read. */
void recording_age(struct recording *recording, size_t index, double age_seconds);
void recording_row_end(struct recording *recording);

void recording_mark(struct recording *recording, bool begins, const char *name, double seconds,
                    int64_t pid, int64_t tid);
void recording_attribute(struct recording *recording, const char *name, vitals_text text);
/* True if a machine can have that value: not negative, and at most 2^64 bytes. */
bool recording_is_possible(const char *unit, double value);
void recording_figure(struct recording *recording, const vitals_figure_form *form);

/* Adds a sentence to `problem`; an empty one is ignored. */
void recording_wrong(struct recording *recording, const char *format, ...) VITALS_FORMAT(2, 3);

/* Makes an account of what the rows of each series come to. */
void aggregate_account(struct recording *recording);

/* Completes a recording after its rows: makes the account if none was stored, and the problem text.
 * Errors: EMEMORY. */
int recording_finish(struct recording *recording, vitals_error *error);

/* Opens a regular file (a FIFO or a device would never end), or a copy of standard input for "-".
 * NULL on error: EGONE, EDENIED, ESYSTEM, EARGUMENT. */
FILE *recording_file(const char *path, vitals_error *error);

/* ---- readers; each is given the whole file, in its way ---- */

/* Reads CSV. Errors: EFORMAT (an unknown form), ESYSTEM, EMEMORY. */
int read_tables(struct recording *recording, FILE *file, vitals_error *error);

/* Reads lines of JSON of resource-tracker-rs, or an account. Errors: EFORMAT, EUNSUPPORTED,
 * EMEMORY. */
int read_json(struct recording *recording, FILE *file, vitals_error *error);

/* Reads SQLite of vitals or gpu_tracker. Errors: EFORMAT, EUNSUPPORTED (a newer form, or built
 * without SQLite), EMEMORY. */
int read_database(struct recording *recording, vitals_error *error);
