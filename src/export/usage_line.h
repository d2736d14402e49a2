/* usage_line.h: what a run's tree and machine used by one sample, as a line of the wire.
 *
 *     {"usage":{"realtime_ns":"…","monotonic_ns":"…","values":
 *         [["tree","","cpu_seconds","have",12.5], [SCOPE,SUBJECT,MEASURE,STATE,VALUE or null], …]}}
 *
 * Scopes are tree, root, descendants, system and gpu; measures those of src/run/measures.def; a
 * counter's value is since the first sample. It follows the snapshot that it was made of. */
#ifndef VITALS_EXPORT_USAGE_LINE_H
#define VITALS_EXPORT_USAGE_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "feed/text.h"

/* Writes it, newline included. */
void usage_line_write(struct text *line, const vitals_snapshot *snapshot,
                      const vitals_usage *usage);

/* What stands under "usage", to be asked for many values: each costs one look, whatever the length
 * of the line. Borrows the JSON. Without memory it searches the line each time. */
struct usage_line {
    const json_t *values;
    struct usage_place {
        uint64_t hash;
        const json_t *value;
        bool any; /* of whatever subject */
    } * places;   /* NULL: no memory */
    size_t mask;
};

void usage_line_read(struct usage_line *line, const json_t *usage);
void usage_line_done(struct usage_line *line);

/* A value of it. Above zero *out is set. `subject` NULL: the first of that scope. */
vitals_availability usage_line_value(const struct usage_line *line, const char *scope,
                                     const char *subject, const char *measure, double *out);

/* Whether a value was read since the sample before: what is told again is no reading of this one.
 */
bool usage_line_is_new(vitals_availability state);

/* When it was sampled; 0: the line does not say. */
uint64_t usage_line_realtime_ns(const json_t *usage);

#endif
