/* new_processes.h: many new processes, read by several threads at once.
 *
 * A first tick reads the files of all processes, which takes a thousand times as long as anything
 * else in it: helpers that live no longer than the tick read ahead of the thread that gives keys.
 * They read what cannot wait (stat and what stands beside it), each process for itself, and know
 * nothing of the table. What they could not read for want of memory, the table reads itself; if few
 * descriptors are left, the reading ahead ends, and what was read ahead is closed: workers and the
 * program need some as well. Thread rule: the tick thread. */
#ifndef VITALS_PROCESS_NEW_PROCESSES_H
#define VITALS_PROCESS_NEW_PROCESSES_H

#include "process/reader.h"

/* More do not pay: what follows is done by one thread. */
enum { NEW_PROCESSES_HELPERS = 3 };

struct new_process {
    struct process *process; /* NULL: not made yet */
    bool read;               /* what follows is known */
    int result;              /* of opening its stat */
    bool observed;           /* as reader_observe; false where result < 0 */
};

/* Opens and reads a process of which only the pid is known. */
void new_process_read(struct process_reader *reader, struct new_process *one, unsigned extras);

/* A process of which only the pid is known; NULL when memory is out. Freed with process_done and
 * memory_free. */
struct process *new_process_process(int64_t pid);

struct new_processes;

/* Begins to read them, by as many threads beside the caller's as can be had of `helpers`. The pids
 * are borrowed. NULL when memory is out. */
struct new_processes *new_processes_start(const vitals_context *context, const int64_t *pids,
                                          size_t count, unsigned extras, unsigned helpers);

/* Ends the reading ahead, to get descriptors, and closes what was not taken: from now on `read` is
 * false. Returns whether there was any. */
bool new_processes_give_up(struct new_processes *ahead);

/* The next of the pids; the caller's thread reads on while that one is not there yet. Where it
 * could not be read, `read` is false. Its process is the caller's from now on. */
struct new_process new_processes_next(struct new_processes *ahead);

/* Frees those that were not taken. Accepts NULL. */
void new_processes_free(struct new_processes *ahead);

#endif
