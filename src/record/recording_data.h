/* recording_data.h: a recording as its readers fill it. One thread.
 *
 * A reader names its series, then tells row by row what stands in them, then marks, attributes and
 * figures. Rows are folded as they come; for the curves they are thinned where they would take more
 * than CELLS_MAX numbers, so that a file of any length fits. */
#ifndef VITALS_RECORD_RECORDING_DATA_H
#define VITALS_RECORD_RECORDING_DATA_H

#include <stdio.h>

#include "feed/text.h"
#include "record/recording.h"
#include "record/sample.h"
#include <vitals/sys/account.h>

enum {
    CELLS_MAX = 16 * 1024 * 1024,
    SERIES_READ_MAX = 4096,
    PHASES_MAX = 1000000,
    PHASES_OPEN_MAX = 4096,
    TEXT_READ_MAX = 64 * 1024
};

/* What all rows of a series come to. */
struct aggregate {
    uint64_t count;
    double first, last, least, largest;
    double last_seconds;
    double area, weight; /* of the mean over time */
    double growth;       /* a counter that runs backwards has begun anew */
    double total;        /* of a column that tells growth: the sum so far */
    bool rate;           /* a mean over the time before it */
};

struct open_phase {
    size_t phase; /* in phases */
    int64_t pid, tid;
};

struct recording {
    char *path;
    const char *format;
    struct text problem;
    vitals_account *account;
    bool account_stored; /* figures came with the file */

    struct series *series;
    struct aggregate *aggregates;
    size_t series_count, series_capacity;
    size_t series_next; /* behind the one that was asked for last: a reader asks in one order */
    double *row;        /* that is being told */
    double *ages;       /* of its values, where they are older than it */
    double **own;       /* a series' own seconds, where it ever had an age; else NULL */
    double row_seconds;
    double *seconds; /* of all series */
    size_t rows, rows_capacity;
    uint64_t rows_told, stride; /* every stride-th is kept */
    double first_seconds, last_seconds;
    uint64_t backwards; /* rows before their predecessor */

    struct recorded_phase *phases;
    size_t phase_count, phase_capacity;
    struct open_phase *open;
    size_t open_count;
    uint64_t phases_lost, ends_lost;
    bool no_memory;
    bool damaged; /* a page of it cannot be read */
};

/* All of these remember that memory is out and do nothing more; recording_open reports it. */

/* A series by its index; the same again where name and subject are known. SIZE_MAX: no room. */
size_t recording_series_index(struct recording *recording, const char *name, const char *unit,
                              const char *subject, bool counter);
void recording_series_label(struct recording *recording, size_t index, const char *label);

void recording_row(struct recording *recording, double seconds);
void recording_value(struct recording *recording, size_t index, double value);
void recording_growth(struct recording *recording, size_t index, double growth);
/* That its value of this row was read so many seconds before. */
void recording_age(struct recording *recording, size_t index, double age_seconds);
void recording_row_end(struct recording *recording);

void recording_mark(struct recording *recording, bool begins, const char *name, double seconds,
                    int64_t pid, int64_t tid);
void recording_attribute(struct recording *recording, const char *name, vitals_text text);
/* Whether any machine may have it: nothing is less than nothing, or more than 2^64 bytes. */
bool recording_is_possible(const char *unit, double value);
void recording_figure(struct recording *recording, const vitals_figure_form *form);

/* Adds a sentence to what is wrong with it; an empty one is none. */
void recording_wrong(struct recording *recording, const char *format, ...) VITALS_FORMAT(2, 3);

/* Makes an account of what the rows of each series come to (aggregate.c). */
void aggregate_account(struct recording *recording);

/* Completes a recording after its rows: makes the account if none was stored, and the problem text.
 * Errors: EMEMORY. */
int recording_finish(struct recording *recording, vitals_error *error);

/* An ordinary file, to be read: a FIFO or a device would never end; "-": a copy of standard input,
 * which does. NULL: EGONE, EDENIED, ESYSTEM,
 * EARGUMENT. */
FILE *recording_file(const char *path, vitals_error *error);

/* ---- readers; each is given the whole file, in its way ---- */

/* Any CSV. Errors: EFORMAT (none of the forms that we know), ESYSTEM, EMEMORY. */
int read_tables(struct recording *recording, FILE *file, vitals_error *error);

/* resource-tracker-rs's lines of JSON, or an account. Errors: EFORMAT, EUNSUPPORTED, EMEMORY. */
int read_json(struct recording *recording, FILE *file, vitals_error *error);

/* Ours, or gpu_tracker's. Errors: EFORMAT, EUNSUPPORTED (newer, or built without SQLite), EMEMORY.
 */
int read_database(struct recording *recording, vitals_error *error);

#endif
