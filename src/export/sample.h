/* sample.h: a sample from the input: its JSON and its snapshot.
 *
 * Immutable and reference-counted; any thread. The JSON is parsed at the first call of
 * sample_snapshot, so that a sample which is not used costs only a copy. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

struct sample;

/* Copies the line. `came_ns` is the monotonic time of its arrival. Returns NULL without memory. */
struct sample *sample_new(const char *json, size_t size, uint64_t came_ns);

struct sample *sample_ref(struct sample *sample);
void sample_unref(struct sample *sample); /* accepts NULL */

/* Returns the document of `vitals --json` without a newline, borrowed. */
const char *sample_json(const struct sample *sample, size_t *size);
uint64_t sample_came_ns(const struct sample *sample);

/* Returns the snapshot, borrowed; NULL if the line is none, or without a sample (NULL). The first
 * call parses the JSON: some ms for 1000 processes. */
const vitals_snapshot *sample_snapshot(struct sample *sample);
