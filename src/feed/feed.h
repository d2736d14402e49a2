/* feed.h: snapshots, wherever they come from.
 *
 * A view or a publisher asks a feed for the next snapshot and never knows whether a sampler or a
 * file gives it. The snapshot's own clock is "now". One thread at a time per feed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <vitals/vitals.h>

struct feed {
    void *data;

    /* 1: *out is yours to unref. 0: no more will come. Negative: VITALS_E…, and *error says why. */
    int (*next)(void *data, vitals_snapshot **out, vitals_error *error);

    /* The next snapshot given will be the first whose realtime_ns is not before `realtime_ns`.
     * 0, or a negative VITALS_E…. NULL where a feed only goes forward. */
    int (*seek)(void *data, uint64_t realtime_ns, vitals_error *error);

    /* The next snapshots given will be the last `count`, or all where there are fewer. 0, or a
     * negative VITALS_E…. NULL where a feed must be read to its end for that. */
    int (*last)(void *data, unsigned count, vitals_error *error);

    void (*close)(void *data);
};

/* An interval: one snapshot is taken when the feed is opened, and no other. */
#define FEED_ONCE UINT64_MAX

struct feed_sampler_options {
    const vitals_request *request; /* need not live on */
    uint64_t interval_ns; /* between snapshots; 0: each at once when it is asked for; FEED_ONCE */
    int cancel;           /* a descriptor that ends the feed once it can be read; -1: none */
    bool owns_context;    /* frees the context with the feed, also if it cannot be opened */
};

/* Reads this machine, in the caller's thread: the first snapshot at once, the others at absolute
 * deadlines; one that is missed is skipped. A context that is not its own must outlive the feed.
 * Errors: those of vitals_sampler_new. */
int feed_sampler_open(vitals_context *context, const struct feed_sampler_options *options,
                      struct feed *out, vitals_error *error);

/* Reads snapshots as JSON, one or many after each other, from a file ("-": standard input). Every
 * error of its form names the file, the line and what is wrong there. A file that can be rewound
 * can seek. A document larger than 64 MiB is refused.
 * Errors: EGONE, EDENIED, ESYSTEM (it cannot be opened), EUNSUPPORTED (built without JSON). */
int feed_file_open(const char *path, struct feed *out, vitals_error *error);

/* The same from a descriptor, of which the feed keeps a copy; `name` is for messages.
 * Errors: ESYSTEM, EMEMORY. */
int feed_descriptor_open(int descriptor, const char *name, struct feed *out, vitals_error *error);

/* Closes what was opened; harmless on zeroed memory. */
void feed_close(struct feed *feed);
