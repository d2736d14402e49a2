/* history_ring.h: the snapshots of the last while, kept small, for looking back: whole ones now and
 * then and what differs from them (change.h), in an unlinked file that nobody else sees. The oldest
 * go when it is full.
 *
 * In memory: a place of each snapshot (24 bytes), the newest whole one and room for its bytes.
 * Nothing is synced. One thread at a time; who adds in one thread and looks in another locks around
 * it. */
#ifndef VITALS_RECORD_REPLAY_HISTORY_RING_H
#define VITALS_RECORD_REPLAY_HISTORY_RING_H

#include <sys/types.h>

#include "record/replay/timeline.h"

struct history_ring;

/* pread(2), or what a test has in its place. */
typedef ssize_t history_ring_read(int descriptor, void *bytes, size_t size, off_t offset);

struct history_ring_options {
    const char *folder;      /* of the file, which has no name; NULL: memory alone */
    uint64_t most_bytes;     /* of the file; 0: 64 MiB */
    uint64_t most_memory;    /* where there is no file, or its disk is full; 0: 2 MiB */
    uint64_t most_ns;        /* how far back at most; 0: as far as there is room for */
    history_ring_read *read; /* NULL: pread */
};

/* A folder that cannot hold it is no error: see history_ring_problem. Errors: EMEMORY. */
int history_ring_new(const struct history_ring_options *options, struct history_ring **out,
                     vitals_error *error);
void history_ring_free(struct history_ring *ring);

/* Adds a snapshot that is newer than all there are. Where the disk is full the file stays as large
 * as it is; where that cannot be written either, memory is used from there on and what was kept is
 * given up: no error, see history_ring_problem. Errors: EMEMORY: this one is not kept, all others
 * are. Costs a comparison of each value and one write. */
int history_ring_add(struct history_ring *ring, const vitals_snapshot *snapshot,
                     vitals_error *error);

/* Why there is less room than was asked for ("/tmp: No space left on device; …"); "": nothing is
 * wrong. */
const char *history_ring_problem(const struct history_ring *ring);

/* Bytes that are in use, of the file or of memory. */
uint64_t history_ring_size(const struct history_ring *ring);

/* To look back; it must not outlive the ring. Where the one that was given last has fallen out,
 * `next` goes on with the oldest that is left. Errors: EMEMORY. */
int history_ring_timeline(struct history_ring *ring, struct timeline *out, vitals_error *error);

#endif
