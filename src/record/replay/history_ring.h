/* history_ring.h: the newest snapshots, as frames (frame.h) in a file without a name or in memory.
 * The oldest are dropped when it is full.
 *
 * Memory: a place of 24 bytes for each snapshot, the newest key and buffers for a frame. Nothing is
 * synced. One thread at a time: threads that share it lock around it. */
#pragma once

#include <sys/types.h>

#include "record/replay/timeline.h"

struct history_ring;

/* pread(2), or a test's replacement. */
typedef ssize_t history_ring_read(int descriptor, void *bytes, size_t size, off_t offset);

struct history_ring_options {
    const char *folder;      /* where the file is made; NULL: in memory */
    uint64_t most_bytes;     /* of the file; 0: 64 MiB */
    uint64_t most_memory;    /* bytes if there is no file or its disk is full; 0: 2 MiB */
    uint64_t most_ns;        /* how far back; 0: as far as there is room */
    history_ring_read *read; /* NULL: pread */
};

/* Falls back to memory if the folder cannot hold it: see history_ring_problem. Errors: EMEMORY. */
int history_ring_new(const struct history_ring_options *options, struct history_ring **out,
                     vitals_error *error);
void history_ring_free(struct history_ring *ring);

/* Adds a snapshot that is newer than all stored ones. If the disk is full, the file keeps its size.
 * If that part cannot be written either, the stored snapshots are dropped and memory is used: no
 * error, see history_ring_problem. Errors: EMEMORY: this snapshot is not stored. Cost: a comparison
 * of each value and one write. */
int history_ring_add(struct history_ring *ring, const vitals_snapshot *snapshot,
                     vitals_error *error);

/* Returns why there is less room than requested ("/tmp: No space left on device; …"), or "". */
const char *history_ring_problem(const struct history_ring *ring);

/* Returns the bytes in use. */
uint64_t history_ring_size(const struct history_ring *ring);

/* Opens a cursor over the snapshots. It must not outlive the ring. If the snapshot given last has
 * been dropped, `next` goes on with the oldest. Errors: EMEMORY. */
int history_ring_timeline(struct history_ring *ring, struct timeline *out, vitals_error *error);
