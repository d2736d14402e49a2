/* sample.h: a sample from the input: its JSON and its snapshot.
 *
 * Immutable and reference-counted; any thread. The JSON is parsed at the first call of
 * moment_snapshot, so that a sample which is not used costs only a copy. */
#ifndef VITALS_EXPORT_SAMPLE_H
#define VITALS_EXPORT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

struct moment;

/* Copies the line. `came_ns` is the monotonic time of its arrival. Returns NULL without memory. */
struct moment *moment_new(const char *json, size_t size, uint64_t came_ns);

struct moment *moment_ref(struct moment *moment);
void moment_unref(struct moment *moment); /* accepts NULL */

/* Returns the document of `vitals --json` without a newline, borrowed. */
const char *moment_json(const struct moment *moment, size_t *size);
uint64_t moment_came_ns(const struct moment *moment);

/* Returns the snapshot, borrowed, or NULL and the error if the line is not a snapshot; the same at
 * each call. The first call parses the JSON: some ms for 1000 processes. */
const vitals_snapshot *moment_snapshot(struct moment *moment, vitals_error *error);

#endif
