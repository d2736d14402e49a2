/* sample.h: one sample as it came over the pipe: its JSON, and the snapshot that it holds.
 *
 * Immutable and counted; any thread may read one and share it. Its JSON is read as a snapshot when
 * somebody first asks for that, so that samples that nobody looks at cost no more than the copy. */
#ifndef VITALS_EXPORT_SAMPLE_H
#define VITALS_EXPORT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

struct moment;

/* Copies the line. `came_ns` is when it came, by the monotonic clock of this machine. NULL when
 * memory is out. */
struct moment *moment_new(const char *json, size_t size, uint64_t came_ns);

struct moment *moment_ref(struct moment *moment);
void moment_unref(struct moment *moment); /* accepts NULL */

/* The document of `vitals --json`, without a newline; lives as long as the moment. */
const char *moment_json(const struct moment *moment, size_t *size);
uint64_t moment_came_ns(const struct moment *moment);

/* The snapshot; borrowed, lives as long as the moment. NULL, and the error says why, where the line
 * holds none; the same answer each time. Costs the reading of the JSON once: some ms for 1000
 * processes. */
const vitals_snapshot *moment_snapshot(struct moment *moment, vitals_error *error);

#endif
