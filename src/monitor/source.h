/* source.h: where the snapshots come from: samplers with threads of their own. Nothing here waits
 * for a driver. One thread. */
#pragma once

#include "monitor/monitor.h"

struct monitor_source;

/* Starts reading; *out is yours to close. Errors: those of a sampler. */
int source_open(const struct monitor_options *options, struct monitor_source **out,
                vitals_error *error);
void source_close(struct monitor_source *source);

/* Begins to read every process: these metrics beside the usual ones. If others are already read, a
 * second sampler reads the new set and replaces the first with its second reading, so that rates
 * never disappear. NULL: none is to be read; the sampler is stopped, and closed after 30 s. */
void source_want(struct monitor_source *source, const struct wants *wants);

/* True if every process is being read. */
bool source_has_all(const struct monitor_source *source);

/* Makes the second reading of all processes if it is due: their rates are there at once, not after
 * an interval. For how long nothing is due; UINT64_MAX: for ever. */
void source_turn(struct monitor_source *source);
uint64_t source_patience_ns(const struct monitor_source *source);

/* A descriptor that can be read when there is a snapshot; -1: none. `NEXT` is what is to take the
 * place of all. */
enum source_stream_kind { SOURCE_MACHINE, SOURCE_ALL, SOURCE_NEXT, SOURCE_STREAMS };
int source_descriptor(const struct monitor_source *source, enum source_stream_kind kind);

/* The newest snapshot that was not given yet, yours to unref; NULL: none. For all processes it is
 * called until there is none: another stream begins with two. */
vitals_snapshot *source_machine(struct monitor_source *source);
vitals_snapshot *source_all(struct monitor_source *source);

/* ---- single samplers, which begin and end while the monitor goes on ---- */

struct source_stream {
    vitals_sampler *sampler;
    vitals_subscription *subscription;
    uint64_t given; /* the number of the last one; 0: none was given */
};

/* Starts a sampler for a part of the screens and also for `wants`, which may be NULL, as `error`.
 * On an error the stream is closed. */
int source_stream_open(struct source_stream *stream, const struct monitor_options *options,
                       enum monitor_part part, const struct wants *wants, vitals_error *error);

/* Ending a sampler waits for its tick, and so for a driver: that is left to a thread. Waits itself
 * if no thread can be started or if too many already wait. */
void source_stream_close(struct source_stream *stream);

/* Until all of them have ended: before their context does. */
void source_streams_wait(void);
