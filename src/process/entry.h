/* entry.h: the table from inside, and how its files divide the work (table.c: which processes live;
 * activity.c: which must be read; query_queue.c: what workers are asked; tree.c: which have rows).
 * Thread rule: the tick thread. */
#pragma once

#include "process/table.h"
#include "util/hash.h"

enum { ACTIVITY_TEXT = 1024 };

struct process_table {
    struct process_reader reader;
    vitals_availability state; /* of the list */
    bool hides;                /* /proc does not list all for us */
    struct os_pids pids;
    uint64_t tick, last_key;
    bool may_skip_idle;   /* an idle process is not read again */
    unsigned extras;      /* due in this tick */
    unsigned extras_ever; /* that were due at any time */
    bool state_ever;      /* the state was due at any time */
    bool details_ever;    /* what workers read was due at any time */
    bool later; /* in this tick statm of new ones is read when the workers' answers are taken */
    bool once;  /* process_table_once */

    struct process **by_pid, **next; /* `next` becomes by_pid at the end of a tick */
    size_t count, capacity, next_capacity;
    struct process **by_key;
    size_t key_count, key_capacity;

    unsigned rows;         /* enum vitals_rows */
    const int64_t *chosen; /* borrowed */
    size_t chosen_count;
    bool only_chosen;  /* process_table_only_chosen */
    bool chosen_anew;  /* `roots` is to be made again */
    struct hash roots; /* chosen pid → the key of the process that had it first; 0: none yet */

    size_t listed; /* in /proc, when all were listed last, or counted */
    struct os_process_count process_count;
    uint64_t counted_ns; /* when they were listed for the number last */
    bool complete;       /* in this tick: `pids` are all that are in /proc */
    struct missing_pid { /* a device names it, and it was not in /proc; pid 0: none */
        int64_t pid;
        uint64_t looked_ns;
    } absent[64];
    bool scanning_tree;    /* in this tick: only the tree is looked at */
    bool no_new_pid;       /* none was given since the tick before */
    bool last_pid_lies;    /* a process was started, and it was the same */
    uint64_t tree_threads; /* of the tree, in the tick before */
    uint64_t scanned_ns;   /* when all were read last, */
    uint64_t scan_ns;      /* and how long that took */
    int64_t last_pid;      /* that was given, when children were listed last; -1: not known */
    int64_t newest_pid;    /* the same in this tick (activity.c) */
    int newest_pid_file;   /* where that is read; -1: not open */
    int64_t watcher;       /* it is passed over, and so is what it starts; 0: none */

    void (*met)(void *data); /* see process_table_tell; may be NULL */
    void *met_data;
    size_t met_count, tell_at;           /* since it was told; of so many it is told next */
    struct new_processes *new_processes; /* in a tick in which all are new; else NULL */
    size_t read_ahead;                   /* how many of those it met in this tick came read */

    struct os_task_iterator *iterator; /* NULL: the kernel does not tell, or it is not worth it */
    bool iterator_tried, merging;
    uint64_t readings;                    /* of processes, in all ticks before */
    const struct os_task_digest *resting; /* of this tick, borrowed from digests */
    size_t resting_count;
    struct os_pids omitted; /* those that it does not tell, when /proc was listed last */
    uint64_t omitted_ns, told_again_ns; /* when that was; not to be asked before */

    struct activity_cgroup {
        int file;   /* 0: there is none, or it is not trusted */
        int folder; /* of the group that it is of */
        struct os_pids members;
        char text[ACTIVITY_TEXT];
        size_t size;
        bool rests;           /* no process has run since the tick before */
        bool checking, wrong; /* all are looked at nevertheless; one did run */
        uint64_t checked_ns;
        uint64_t held_ns; /* when it held all known processes; 0: not since one ran */
    } cgroup;

    size_t budget;    /* of kept descriptors */
    uint64_t ceiling; /* of those that may be kept */
    size_t stats_kept, statms_kept;
    const struct process *current; /* being read: its files stay open */
};

/* ---- table.c ---- */

struct process *process_by_pid(const struct process_table *table, int64_t pid);
struct process *process_by_key(const struct process_table *table, uint64_t key);

/* Reads it anew, and its extras where they are asked for and it has a row. False where it ended or
 * is another. */
bool process_refresh(struct process_table *table, struct process *process, bool extras);

/* Gives up what was read ahead, else a quarter of what is kept; false where nothing is left.
 * `owner` is the table. */
bool descriptors_relieve(void *owner);

/* Closes the files of one, and reads first what was to be read of them later. */
void descriptors_close(struct process_table *table, struct process *process);

/* ---- new_processes.c: many that are met at once, read by several threads ---- */

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

/* ---- activity.c: the one answer to what a tick must look at ---- */

/* At the beginning of a tick. */
void activity_begin(struct process_table *table, const struct metric_set *due);

/* Fills `pids` with the processes to be looked at: all, or fewer if that is enough. 0 or a negative
 * errno. */
int activity_list(struct process_table *table, const struct metric_set *due);

/* Whether what was read of it holds, and has been stamped so; else it may have run, or is new, and
 * is to be read. `extras`: the files beside stat that are to be read of it. */
bool activity_is_idle(struct process_table *table, struct process *process, unsigned extras);

/* After all were read. Those with a key above this one are new. */
void activity_end(struct process_table *table, uint64_t last_key);

/* With the table. */
void activity_done(struct process_table *table);

/* ---- tree.c ---- */

/* Takes over a new choice. Returns 0, or -1 when memory is out. */
int tree_prepare(struct process_table *table);
void tree_meet(struct process_table *table, struct process *process);  /* a new one */
void tree_leave(struct process_table *table, struct process *process); /* it ended */

/* After all were read: finds the processes that have come into the tree, and reads what their rows
 * need. */
void tree_grow(struct process_table *table);

/* Whether the process will have a row, as far as is known while it is read. */
bool tree_expects_row(const struct process_table *table, const struct process *process);

/* Its parent where that is known and older; NULL where it has none here. */
struct process *tree_parent(const struct process_table *table, const struct process *process);

/* Whether it has one. */
bool tree_has_row(const struct process_table *table, const struct process *process);
