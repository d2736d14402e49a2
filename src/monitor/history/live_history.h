/* live_history.h: what a live monitor has seen, kept for looking back: the machine, and of the
 * times when they were looked at every process.
 *
 * A thread makes frames of snapshots and writes them into files that nobody else sees
 * (history_ring.h), so that a screen that shows now waits for no disk: at most 64 MiB of both
 * together, 2 MiB in memory where there is no room on a disk. Whoever looks back asks that thread
 * too, and gives up after 300 ms where a disk does not answer it; until it does, at once. The owner
 * is one thread. */
#ifndef VITALS_MONITOR_HISTORY_LIVE_HISTORY_H
#define VITALS_MONITOR_HISTORY_LIVE_HISTORY_H

#include "record/replay/history_ring.h"

struct diary;

enum diary_page { DIARY_MACHINE, DIARY_ALL, DIARY_PAGES };

/* `folder`: of the files; NULL: memory alone. `read` as in history_ring_options. Errors: EMEMORY,
 * ESYSTEM (no thread). */
int diary_new(const char *folder, history_ring_read *read, struct diary **out, vitals_error *error);

/* The thread is told to end, and left behind where it hangs in a file. Accepts NULL. */
void diary_free(struct diary *diary);

/* Keeps a snapshot, in a while. Waits for nobody: where the thread is far behind it is left out. */
void diary_add(struct diary *diary, enum diary_page page, const vitals_snapshot *snapshot);

/* To look back; there is no `close`. They must not outlive the diary. Errors beside the ring's:
 * ETIMEOUT. */
void diary_timeline(struct diary *diary, enum diary_page page, struct timeline *out);

/* Why there is less than there should be, once; NULL: nothing new. Borrowed. */
const char *diary_news(struct diary *diary);

#endif
