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
#include "util/hash.h"

/* Writes the line, newline included. */
void usage_line_write(struct buffer *line, const vitals_snapshot *snapshot,
                      const vitals_usage *usage);

/* The value of "usage", indexed: a look-up does not depend on the length of the line. Borrows the
 * JSON. If memory is out a look-up searches the line. */
struct usage_line {
    const json_t *values;
    struct hash index; /* by scope, subject and measure */
    bool partial;      /* memory was out */
};

void usage_line_read(struct usage_line *line, const json_t *usage);
void usage_line_done(struct usage_line *line);

/* Reads a value: sets *out if the result is above zero. `subject` NULL: the first of that scope. */
vitals_availability usage_line_value(const struct usage_line *line, const char *scope,
                                     const char *subject, const char *measure, double *out);

/* Returns whether a value was read since the sample before; an older one is not a reading of this
 * sample. */
bool usage_line_is_new(vitals_availability state);

/* Lists the devices of a line in its order, at most USAGE_DEVICES; borrowed from it. */
enum { USAGE_DEVICES = 256 };
size_t usage_line_devices(const json_t *usage, const char *devices[static USAGE_DEVICES]);

/* Returns the row of a device of a line; NULL if the snapshot (NULL: none) does not have it. */
const vitals_row *usage_line_gpu(const vitals_snapshot *snapshot, const char *uuid);

/* Writes the name of that device in metrics: "gpu_0", or "gpu_1_0" for a partition, by the label of
 * its row, else by its UUID. */
void usage_line_gpu_name(const vitals_snapshot *snapshot, const char *uuid, char *out, size_t size);

/* Returns a time, which is digits in JSON; 0 if there is none. Accepts NULL. */
uint64_t usage_line_ns(const json_t *object, const char *member);

/* Returns the time of the sample; 0 if the line does not state it. */
uint64_t usage_line_realtime_ns(const json_t *usage);

/* The begin and end of a run as its account states them, in ns since 1970; 0 if it does not say.
 * Accept NULL. */
uint64_t account_began_ns(const json_t *account);
uint64_t account_ended_ns(const json_t *account);
