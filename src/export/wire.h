/* wire.h: what comes over the pipe: lines of JSON, a document each.
 *
 *     {"tell":1, "serve":{…}, "mlflow":{…}, …}     first: what is wanted, a member per publisher
 *     {"schema":1, …}                              a snapshot, as vitals --json prints it
 *     {"processes":{"schema":1, …}}                another sampler's: every process, and nothing
 * else
 *     {"usage":{…}}                                what a run's tree used by then (usage_line.h)
 *     {"mark":{…}}                                 a phase of a run begins or ends
 *     {"account":{…},"status":{…},"until_ns":"…"}  the end of a run, and its account; when who
 * tells it goes away (monotonic)
 *     {"artifacts":["/path",…]}                    files of it, to be opened now
 *
 * Lines that hold anything else are passed over and counted. The end of the pipe is the end of it
 * all; without an account, of a run that nobody saw the end of. One thread. */
#ifndef VITALS_EXPORT_WIRE_H
#define VITALS_EXPORT_WIRE_H

#include <stddef.h>
#include <stdint.h>

struct wire;

enum { WIRE_LINE_MAX = 64 * 1024 * 1024 };

/* Reads from the descriptor, which stays the caller's. NULL when memory is out. */
struct wire *wire_new(int descriptor);
void wire_free(struct wire *wire);

/* 1: *line is the next one, without its newline and NUL-terminated, until the next call; 0: there
 * is no whole one now; -1: no more will come. Reads at most once; never waits where the descriptor
 * does not. A line of more than WIRE_LINE_MAX bytes, and what stands behind the last newline, is
 * passed over. */
int wire_next(struct wire *wire, char **line, size_t *size);

uint64_t wire_passed_over(const struct wire *wire);

#endif
