/* live_history.h: what a live monitor has seen, kept for looking back: the machine, and of the
 * times when they were looked at every process.
 *
 * A thread makes frames of snapshots and writes them into files that are unlinked at once
 * (history_ring.h), so that a screen that shows now waits for no disk: at most 64 MiB of both
 * together, 2 MiB in memory where there is no room on a disk. Queries go to that thread too, and
 * fail after 300 ms if a disk does not answer it; until it does, at once. The owner is one thread.
 */
#pragma once

#include "record/replay/history_ring.h"

struct live_history;

enum live_part { LIVE_MACHINE, LIVE_ALL, LIVE_PARTS };

/* `folder`: of the files; NULL: memory alone. `read` as in history_ring_options. Errors: EMEMORY,
 * ESYSTEM (no thread). */
int live_history_new(const char *folder, history_ring_read *read, struct live_history **out,
                     vitals_error *error);

/* The thread is told to end, and left behind if it hangs in a file. Accepts NULL. */
void live_history_free(struct live_history *history);

/* Queues a snapshot to be kept; never waits: if the thread is far behind the snapshot is dropped.
 */
void live_history_add(struct live_history *history, enum live_part part,
                      const vitals_snapshot *snapshot);

/* To look back; there is no `close`. They must not outlive the history. Errors beside the ring's:
 * ETIMEOUT. */
void live_history_timeline(struct live_history *history, enum live_part part, struct timeline *out);

/* Why there is less than there should be, once; NULL: nothing new. Borrowed. */
const char *live_history_news(struct live_history *history);
