/* wire.h: reads the input of the exporter: lines of JSON, one document each.
 *
 *     {"tell":1, "serve":{…}, "mlflow":{…}, …}     first: a member per publisher that is wanted
 *     {"schema":1, …}                              a snapshot, in the form of vitals --json
 *     {"processes":{"schema":1, …}}                another sampler's: every process, nothing else
 *     {"usage":{…}}                                what the processes of a run used (usage_line.h)
 *     {"account":{…},"status":{…},"until_ns":"…"}  the end of a run, its account, and when the
 *                                                  command exits (monotonic)
 *     {"artifacts":["/path",…]}                    files of the run, to be opened now
 *
 * Other lines are ignored and counted. A run whose input ends without an account has an unknown
 * end. One thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct wire;

enum { WIRE_LINE_MAX = 64 * 1024 * 1024 };

/* Ignores lines of more than `most` bytes. The descriptor stays the caller's. Returns NULL without
 * memory. */
struct wire *wire_new(int descriptor, size_t most);
void wire_free(struct wire *wire); /* accepts NULL */

/* Returns 1 and sets *line to the next line, NUL-terminated without its newline and valid until
 * the next call; 0 if there is no complete line yet; -1 at the end. Reads at most once, and does
 * not wait if the descriptor is non-blocking. Lines that are too long and an incomplete
 * last line are ignored. */
int wire_next(struct wire *wire, char **line, size_t *size);

uint64_t wire_passed_over(const struct wire *wire);

/* Returns the bytes of its buffer, which it gives back when nothing is left in it and the
 * non-blocking descriptor has no more. */
size_t wire_held(const struct wire *wire);
