/* entry.h: the table from inside: what is known of one process, and how the files of this room
 * divide the work (table.c: who lives; answers.c: what lanes read; descriptors.c: what is kept
 * open; tree.c: which rows; rows.c: writing them). Thread rule: the tick thread. */
#ifndef VITALS_PROCESS_ENTRY_H
#define VITALS_PROCESS_ENTRY_H

#include "process/table.h"

struct process {
    uint64_t key; /* 0: ended, to be freed */
    struct os_process files;
    bool kept; /* its stat stays open, and counts; else it is open while it is read */

    vitals_availability state; /* of its stat: HAVE, or why only the pid is known */
    struct os_stat stat;       /* the newest reading; the name in it is not used */
    struct shared_text *name;  /* NULL: none was read */
    uint64_t stamp_ns;

    /* Beside stat, read for those that have a row. */
    uint64_t extras_tick; /* 0: never */
    struct value resident, cpu, peak, read, written;
    uint64_t resident_ns, cpu_ns, peak_ns, io_ns; /* when those were read */

    bool root;       /* the request names it */
    bool in_tree;    /* a root, or once the descendant of one */
    uint64_t judged; /* the tick in which tree.c found it not to be in the tree */
    uint64_t marked; /* the tick in which a device named it */

    bool asked, renamed;
    uint64_t asked_ns;
    struct process_detail detail; /* the newest answer of a lane */
};

/* Which extras a tick needs. */
enum { EXTRA_RESIDENT = 1u << 0, EXTRA_CPU = 1u << 1, EXTRA_STATUS = 1u << 2, EXTRA_IO = 1u << 3 };

/* The kernel's letters, as words. */
enum { STATE_WORDS = 10 };

struct process_table {
    const vitals_context *context;
    vitals_availability state; /* of the list */
    struct os_pids pids;
    uint64_t tick, last_key;
    unsigned extras;      /* due in this tick */
    unsigned extras_ever; /* that were due at any time */
    bool out_of_memory;

    struct process **by_pid, **next; /* `next` becomes by_pid at the end of a tick */
    size_t count, capacity, next_capacity;
    struct process **by_key;
    size_t key_count, key_capacity;

    unsigned rows;         /* enum vitals_rows */
    const int64_t *chosen; /* borrowed */
    size_t chosen_count;
    bool chosen_anew;  /* `roots` is to be made again */
    struct hash roots; /* chosen pid → the key of the process that had it first; 0: none yet */

    size_t budget; /* of kept descriptors */
    size_t stats_kept, statms_kept;
    const struct process *current; /* being read: its files stay open */

    struct buffer text; /* of the file being read */
    struct shared_text *words[STATE_WORDS];
};

/* ---- table.c ---- */

struct process *process_by_pid(const struct process_table *table, int64_t pid);
struct process *process_by_key(const struct process_table *table, uint64_t key);

/* Reads it anew, and its extras where they are asked for and it has a row. False where it ended or
 * is another. */
bool process_refresh(struct process_table *table, struct process *process, bool extras);

/* Whether this stat can be the process's: it started at the same moment, as far as is known. */
bool process_same_start(const struct process *process, const struct os_stat *stat);

/* ---- descriptors.c ---- */

size_t descriptors_budget(const vitals_context *context);

/* At the beginning of a tick: as many statm as the stats of all listed processes leave room for. */
void descriptors_share(struct process_table *table);

/* As the functions of os.h; where the process runs out of descriptors, kept ones are given up. */
int descriptors_open(struct process_table *table, struct process *process);
int descriptors_file(struct process_table *table, struct process *process, const char *name,
                     size_t limit);
int descriptors_resident_pages(struct process_table *table, struct process *process,
                               uint64_t *pages);

/* After a reading: keeps stat where there is room, else closes it. */
void descriptors_settle(struct process_table *table, struct process *process);
void descriptors_close(struct process_table *table, struct process *process);

/* ---- tree.c ---- */

/* Takes over a new choice. Returns 0, or -1 when memory is out. */
int tree_prepare(struct process_table *table);
void tree_meet(struct process_table *table, struct process *process);  /* a new one */
void tree_leave(struct process_table *table, struct process *process); /* it ended */

/* After all were read: finds who has come into the tree, and reads what their rows need. */
void tree_grow(struct process_table *table);

/* Whether the process will have a row, as far as is known while it is read. */
bool tree_expects_row(const struct process_table *table, const struct process *process);

/* Its parent where that is known and older; NULL where it has none here. */
struct process *tree_parent(const struct process_table *table, const struct process *process);

/* Whether it has one. */
bool tree_has_row(const struct process_table *table, const struct process *process);

/* ---- rows.c ---- */

/* Returns 0, or -1 when memory is out. */
int state_words_new(struct shared_text *words[static STATE_WORDS]);
void state_words_free(struct shared_text *words[static STATE_WORDS]);

#endif
