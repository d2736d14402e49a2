/* table.h: every process that lives, its identity, and what was read of it.
 *
 * Identity: a process gets its key once a descriptor of its stat file is kept open; as long as that
 * still reads, it is the same process, whatever happens to its pid. Beyond max_descriptors identity
 * is (pid, start). A key is never given again.
 *
 * A tick: process_table_tick lists and reads; workers read what may block (command lines, users,
 * shared memory), in batches; process_table_write makes rows in the order of keys. Thread rule: the
 * tick thread, but for process_batch_read and _done. */
#pragma once

#include "process/reader.h"
#include <vitals/request.h>

/* A question to a worker about several processes, and its answer: a row for each of the first
 * `rows.row_count` of them. The texts of one batch are limited; processes that did not fit are
 * asked again. */
enum { PROCESS_BATCH = 256 };

struct process_batch {
    unsigned turn, turn_count; /* question: see process_table_due */
    struct metric_set wanted;  /* question */
    struct process_want wants[PROCESS_BATCH];
    size_t count;
    struct row_batch rows;            /* answer; its memory is kept from batch to batch */
    uint64_t read_ns[PROCESS_BATCH];  /* answer: when it was begun, */
    uint64_t spent_ns[PROCESS_BATCH]; /* and how long it took */
    bool refused[PROCESS_BATCH];      /* answer: there were no descriptors to read it with */
};

/* On a worker: reads what is asked. Never fails: what cannot be read has its reason. The items of
 * the gate are the keys of processes; the reading ends at one that it refuses. NULL: no gate. */
void process_batch_read(const vitals_context *context, struct user_cache *users,
                        struct process_batch *batch, const struct os_gate *gate);

struct process_table; /* process/table.c */

/* NULL when memory is out. */
struct process_table *process_table_new(const vitals_context *context);
void process_table_free(struct process_table *table);

/* Which rows the request selects, a sum of enum vitals_rows. `pids` is borrowed and must outlive
 * the table. */
void process_table_select(struct process_table *table, unsigned rows, const int64_t *pids,
                          size_t count);

/* For VITALS_ROWS_LISTED: opens nothing of processes that have no row. For requests that join no
 * other table with processes: process_table_key_at then knows the listed ones only. */
void process_table_only_chosen(struct process_table *table, bool only);

/* The watcher of a run, a child of the one root, its launcher: it is passed over, and the root
 * adopts the orphans below it. 0: there is none. */
void process_table_watcher(struct process_table *table, int64_t pid);

/* No tick comes after the next one, which is the first: the files of a process are closed once its
 * workers have answered. */
void process_table_once(struct process_table *table);

/* A file, borrowed, whose text changes whenever a process of a cgroup runs, and the folder of that
 * cgroup; 0: none. It counts while the cgroup holds all of the tree but its root. */
void process_table_watch_cgroup(struct process_table *table, int file, int folder);

/* Whether it told in the newest tick that no process has run since the one before. */
bool process_table_is_idle(const struct process_table *table);

/* Lists /proc (not where users of devices alone have rows) and reads every process as
 * the metrics that are due need (stat of all; statm, clock, status and io of those that will have a
 * row); values of metrics that are not due stay as they were. Returns 0 or VITALS_EMEMORY; where
 * /proc cannot be listed the table is empty and process_table_state says why. */
int process_table_tick(struct process_table *table, const struct metric_set *due);

/* VITALS_HAVE; LOWER_BOUND if /proc hides processes from us (as the first tick found it); or why
 * /proc could not be listed. And how many processes it listed. */
vitals_availability process_table_state(const struct process_table *table);
size_t process_table_listed(const struct process_table *table);

/* Metrics that workers read have PROCESS_TURNS cadences, each with its number; those that come
 * together are read together, `turn_count` from `turn` on, with the cadence of each. */
struct process_question {
    unsigned turn, turn_count;
    const uint64_t *every_ns;
    const struct metric_set *wanted;
};

/* Calls `met` after about every hundred processes of a tick, so that the caller can already queue
 * those of process_table_due: workers then read while the tick goes on. */
void process_table_tell(struct process_table *table, void (*met)(void *data), void *data);

/* Fills the batch with at most `capacity` processes of which all of this is due (new, renamed, or
 * asked longer ago than every_ns, and not being asked), and returns how many. A process that takes
 * long to read, as one with much memory does, is asked so seldom that it takes at most a hundredth
 * of the wall time. What did not fit is given by the next call. */
size_t process_table_due(struct process_table *table, const struct process_question *question,
                         uint64_t now_ns, struct process_batch *batch, size_t capacity);

/* Takes the answers of processes that are still the ones that were asked about: proven by their
 * kept stat, which is read again. The batch is empty then. A process that could not be read for
 * want of descriptors has not answered, and is due again. */
enum process_taken {
    PROCESS_TAKEN,
    PROCESS_REFUSED, /* some of them */
    PROCESS_RELIEVED /* likewise, but descriptors were given up for them: worth asking at once */
};
enum process_taken process_table_take(struct process_table *table, struct process_batch *batch);

/* ---- what a worker does not answer ---- */

/* Keeps only this process of an answer to a batch that was given up. */
void process_batch_keep(struct process_batch *batch, uint64_t key);

/* The batch was not answered, so its processes are due again. The batch is only read. */
void process_table_return(struct process_table *table, const struct process_batch *batch);

/* While it is held, nothing of those turns is due of the process. */
void process_table_hold(struct process_table *table, uint64_t key, unsigned turn,
                        unsigned turn_count, bool held);

/* At a deadline: the values of processes of which any of this is due or asked for become STALE, and
 * those that never came TIMED_OUT, until there is an answer. */
void process_table_late(struct process_table *table, const struct process_question *question,
                        uint64_t now_ns);

/* The key of the process that has the pid now and began then (0: whenever it began), or 0. For
 * joining a driver's pids. */
uint64_t process_table_key_at(const struct process_table *table, int64_t pid, uint64_t start_ticks);

/* A device names this pid in this tick: call between tick and write. If only users of devices have
 * rows, the first such call opens the process. Returns its key; 0: there is no such process. */
uint64_t process_table_use(struct process_table *table, int64_t pid,
                           const struct metric_set *wanted);

/* Opens the table process if it is wanted and writes its rows. Values that no worker has delivered
 * are read first. */
void process_table_write(struct process_table *table, vitals_builder *builder,
                         const struct metric_set *wanted);
