/* cell_text.h: values of rows in words, in the formats of nvitop; "N/A" if there is none. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

enum { WORDS = 64, WORDS_COMMAND = 1024 };

/* Each writes at least WORDS bytes into `out`, which is returned; `row` may be NULL. */
char *cell_percent(const vitals_row *row, vitals_metric metric, char *out); /* "42%" */
char *cell_share(const vitals_row *row, vitals_metric metric, char *out);   /* "42" */
char *cell_bytes(const vitals_row *row, vitals_metric metric, char *out);
char *cell_number(const vitals_row *row, vitals_metric metric, const char *unit, char *out);
char *cell_on_off(const vitals_row *row, vitals_metric metric, char *out);
char *cell_not_available(char *out);

/* Text from outside, safe. cell_text: of a row. */
char *cell_safe(vitals_text text, bool ascii, char *out, size_t capacity);
char *cell_text(const vitals_row *row, vitals_metric metric, bool ascii, char *out,
                size_t capacity);

/* A state's word as ps(1) writes it: "R"; '?' for one that is none. */
char cell_state(const char *word);

/* The text in place of a command if only a device knows the process: why. */
const char *cell_stranger(vitals_availability reason);

/* The command line as a shell would read it, or the name in brackets, marked where it is a
 * zombie's; where nothing is known of either, why. */
char *cell_command(const vitals_row *process, bool ascii, char out[static WORDS_COMMAND]);

/* The bytes of the program at the begin of a command line, which stands out: with an interpreter
 * its script or module too. The folders of a path are taken out of `command`, as its end tells
 * more. */
size_t cell_program(char *command);

/* When a snapshot was taken, in the local time zone; returns false if that cannot be said. */
bool cell_time(const vitals_snapshot *snapshot, char out[static WORDS]);

/* "12.3MiB/s" */
char *cell_rate(bool known, double bytes_per_second, char *out);

/* The next row of a table; NULL at the end, or without a snapshot. */
const vitals_row *row_next(const vitals_snapshot *snapshot, vitals_table entity,
                           const vitals_row *previous);

/* The share of a row's total time since an older snapshot in which it was busy. */
bool cell_busy(const vitals_row *row, const vitals_snapshot *older, vitals_metric busy,
               vitals_metric total, double *out);

/* A part of a whole; false where one of the two is missing. */
bool cell_ratio(const vitals_row *row, vitals_metric part, vitals_metric whole, double *out);
bool cell_value(const vitals_row *row, vitals_metric metric, double *out);

/* The same of a value that was read for this snapshot: an older one, told again because the source
 * was late, is no value of this moment. */
bool cell_fresh(const vitals_row *row, vitals_metric metric, double *out);

/* Writes behind a text, as much as there is room for. */
void cell_add(char *text, size_t capacity, const char *format, ...) VITALS_FORMAT(3, 4);

/* Cut at its right with a mark ("+", ".") to so many columns. */
void cell_cut(char *text, int columns, const char *mark);

/* The product without its maker's name; what is too long loses its beginning, since the end tells
 * two devices apart. */
char *cell_device(const vitals_row *gpu, bool ascii, int columns, char *out, size_t capacity);

/* True if `part` occurs in `text`, ignoring the case of ASCII letters. */
bool cell_hold(const char *text, const char *part);
