/* table.h: every process that lives, who it is, and what was read of it.
 *
 * Identity: a process gets its key once a descriptor of its stat file is kept open; as long as that
 * still reads, it is the same process, whatever happens to its pid. Beyond max_descriptors identity
 * is (pid, start), read anew at each tick. A key is never given again.
 *
 * A tick: process_table_tick lists and reads; lanes read details (command line, user, cgroup);
 * process_table_write makes rows in the order of keys.
 * Thread rule: the tick thread, but for process_detail_read and process_detail_done. */
#ifndef VITALS_PROCESS_TABLE_H
#define VITALS_PROCESS_TABLE_H

#include "core/hash.h"
#include "core/shared_text.h"
#include "os/world.h"
#include "snapshot/builder.h"
#include <vitals/request.h>

/* What a lane reads of a process. */
enum {
    PROCESS_DETAIL_USER = 1u << 0, /* uid and user */
    PROCESS_DETAIL_COMMAND = 1u << 1,
    PROCESS_DETAIL_CGROUP = 1u << 2
};

struct process_want {
    uint64_t key;
    int64_t pid;
    unsigned bits;
};

/* The lane's answer. Texts are owned by it until process_table_take takes them. */
struct process_detail {
    uint64_t key;
    int64_t pid;
    unsigned bits;
    struct value uid;
    signed char user_state, command_state, cgroup_state;
    uint64_t read_ns; /* set by who calls process_detail_read */
    struct shared_text *user, *command, *cgroup;
};

/* Names of users, kept for 60 s. Belongs to the lane's thread. process/user_cache.c */
struct user_cache;
struct user_cache *user_cache_new(void); /* NULL when memory is out */
void user_cache_free(struct user_cache *cache);

/* On a lane: reads one process. Never fails: what cannot be read has its reason. */
void process_detail_read(const vitals_context *context, struct user_cache *users,
                         const struct process_want *want, struct process_detail *out);
void process_detail_done(struct process_detail *detail);

struct process_table; /* process/table.c */

/* NULL when memory is out. */
struct process_table *process_table_new(const vitals_context *context);
void process_table_free(struct process_table *table);

/* Which rows the request selects, a sum of enum vitals_rows. `pids` is borrowed and must outlive
 * the table. */
void process_table_select(struct process_table *table, unsigned rows, const int64_t *pids,
                          size_t count);

/* Lists /proc and reads every process as the metrics that are due need (stat of all; statm, clock,
 * status and io of those that will have a row); values of metrics that are not due stay as they
 * were. Returns 0 or VITALS_EMEMORY; where /proc cannot be listed
 * the table is empty and process_table_state says why. */
int process_table_tick(struct process_table *table, const struct metric_set *due);

/* VITALS_HAVE, or why /proc could not be listed; and how many processes it listed. */
vitals_availability process_table_state(const struct process_table *table);
size_t process_table_listed(const struct process_table *table);

/* Fills `wants` (room for `capacity`) with processes whose details are wanted and due (new,
 * renamed, or older than every_ns), marks those asked for, and returns how many. What did not fit
 * is given by the next call. */
size_t process_table_due(struct process_table *table, const struct metric_set *wanted,
                         uint64_t now_ns, uint64_t every_ns, struct process_want *wants,
                         size_t capacity);

/* Takes answers (and their texts) where the process is still the one that was asked about: proven
 * by its kept stat, which is read again. Others are freed. */
void process_table_take(struct process_table *table, struct process_detail *details, size_t count);

/* The key of the process that has the pid now, or 0. For joining a driver's pids. */
uint64_t process_table_key(const struct process_table *table, int64_t pid);

/* The same, and meets the process first where only users of devices have rows: then nobody else is
 * ever opened. */
uint64_t process_table_meet(struct process_table *table, int64_t pid);

/* For VITALS_ROWS_GPU_USERS: marks the process as used by a device in this tick. Call between tick
 * and write; reads what the row needs where the tick had not. */
void process_table_mark(struct process_table *table, uint64_t key, const struct metric_set *wanted);

/* Opens the table process, where wanted, and writes the rows. */
void process_table_write(const struct process_table *table, vitals_builder *builder,
                         const struct metric_set *wanted);

#endif
