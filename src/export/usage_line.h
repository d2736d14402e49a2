/* usage_line.h: the usage of a run's tree and of the machine at one sample, as a line of the wire.
 *
 *     {"usage":{"realtime_ns":"…","monotonic_ns":"…","values":
 *         [["tree","","cpu_seconds","have",12.5], [SCOPE,SUBJECT,MEASURE,STATE,VALUE or null], …]}}
 *
 * Scopes are tree, root, descendants, system and gpu; measures are those of src/run/measures.def. A
 * counter's value is since the first sample. The line follows its snapshot. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "feed/text.h"

/* Writes the line, newline included. */
void usage_line_write(struct buffer *line, const vitals_snapshot *snapshot,
                      const vitals_usage *usage);

enum { USAGE_MEASURES = 128, USAGE_SUBJECTS = 260 /* with 256 devices */ };

/* What a line says of the tree, its root, its descendants, the machine, or a device. */
struct usage_line_subject {
    vitals_scope scope;
    const char *subject; /* UUID of a device; borrowed from the line */
    struct usage_figure {
        vitals_availability state;
        double value;          /* if state is above zero */
    } figures[USAGE_MEASURES]; /* by measure */
};

/* A line that was read. If a value occurs twice, the first one counts. Values of an unknown scope
 * or measure are left out, and so are those that memory is not enough for. One thread. */
struct usage_line {
    size_t holders;
    uint64_t realtime_ns, monotonic_ns;  /* 0: the line does not state it */
    struct usage_line_subject *subjects; /* in the order of the line */
    size_t count, capacity;
    json_t *json; /* that texts are borrowed from */
};

/* Reads the value of "usage". Returns NULL for NULL, or without memory. */
struct usage_line *usage_line_new(json_t *usage);
struct usage_line *usage_line_ref(struct usage_line *line);
void usage_line_unref(struct usage_line *line); /* accepts NULL */

/* Returns the subject of a scope, NULL if the line has none; `subject` NULL: the first. */
const struct usage_line_subject *usage_line_find(const struct usage_line *line, vitals_scope scope,
                                                 const char *subject);

/* Reads a value: sets *out if the result is above zero. NULL has none. */
vitals_availability usage_value(const struct usage_line_subject *subject, vitals_measure measure,
                                double *out);

/* Returns whether a value was read since the sample before; an older one is not a reading of this
 * sample. */
bool usage_is_new(vitals_availability state);

/* Returns the row of a device of a line; NULL if the snapshot (NULL: none) does not have it. */
const vitals_row *usage_line_gpu(const vitals_snapshot *snapshot, const char *uuid);

/* Writes the name of that device in metrics: "gpu_0", or "gpu_1_0" for a partition, by the label of
 * its row, else by its UUID. */
void usage_line_gpu_name(const vitals_snapshot *snapshot, const char *uuid, char *out, size_t size);

/* Returns a time, which is digits in JSON; 0 if there is none. Accepts NULL. */
uint64_t usage_line_ns(const json_t *object, const char *member);

/* The begin and end of a run as its account states them, in ns since 1970; 0 if it does not say.
 * Accept NULL. */
uint64_t account_began_ns(const json_t *account);
uint64_t account_ended_ns(const json_t *account);
