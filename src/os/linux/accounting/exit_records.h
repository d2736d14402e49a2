/* exit_records.h: the kernel's record of each task that ends anywhere on the machine (taskstats),
 * and the tree to which it belonged.
 *
 * A record names its process and that process's parent, not the tree. The children of a parent that
 * ended earlier were reparented; so at each end the parent either lives, or is the process that
 * adopts orphans. The usage of a process and all its descendants is therefore kept under its pid
 * until it ends, and is then added to its parent's. Usage that reaches a child of the launcher
 * belongs to the run. A child that no process has waited for may be reaped by the launcher after
 * its parent has ended: its usage was added to that parent, and nothing of it is missing. Pure
 * except for memory; one thread at a time. */
#pragma once

#include "util/base.h"

/* Usage of ended processes, of one process and all its descendants: a member, how two of them are
 * joined, and the figure and scale in which it is told. */
#define EXIT_SUMS(X)                                                \
    X(processes, saturating_add, COUNTED_PROCESSES, 1)              \
    X(cpu_ns, saturating_add, COUNTED_CPU_SECONDS, 1e-9)            \
    X(user_us, saturating_add, COUNTED_CPU_USER_SECONDS, 1e-6)      \
    X(system_us, saturating_add, COUNTED_CPU_SYSTEM_SECONDS, 1e-6)  \
    X(largest_bytes, uint64_max, COUNTED_MEMORY_LARGEST_BYTES, 1)   \
    X(sum_bytes, saturating_add, COUNTED_MEMORY_SUM_BYTES, 1)       \
    X(read_bytes, saturating_add, COUNTED_READ_BYTES, 1)            \
    X(written_bytes, saturating_add, COUNTED_WRITTEN_BYTES, 1)      \
    X(minor_faults, saturating_add, COUNTED_MINOR_FAULTS, 1)        \
    X(major_faults, saturating_add, COUNTED_MAJOR_FAULTS, 1)        \
    X(voluntary, saturating_add, COUNTED_VOLUNTARY_SWITCHES, 1)     \
    X(involuntary, saturating_add, COUNTED_INVOLUNTARY_SWITCHES, 1) \
    X(call_read_bytes, saturating_add, COUNTED_CALL_READ_BYTES, 1)  \
    X(call_written_bytes, saturating_add, COUNTED_CALL_WRITTEN_BYTES, 1)
#define EXIT_SUM(member, ...) uint64_t member;
struct exit_sums {
    EXIT_SUMS(EXIT_SUM)
};
void exit_sums_add(struct exit_sums *to, const struct exit_sums *from);

struct exit_record {
    uint32_t pid, group, parent; /* thread, its process, and the process's parent */
    bool last;                   /* the last thread: it has the peak since the last exec */
    struct exit_sums used;
};

/* Parses one message of the kernel. Returns 0, -EBADMSG, -ENOTSUP (a kernel before 5.16 does not
 * name the thread's process), or the kernel's own error. */
int exit_record_parse(const char *bytes, size_t size, struct exit_record *out);

struct exit_tree;

/* Returns NULL if memory is exhausted. */
struct exit_tree *exit_tree_new(uint32_t launcher);
void exit_tree_add(struct exit_tree *tree, const struct exit_record *record);

/* Takes the usage below a reaped child of the launcher, which belongs to the run. Returns false if
 * no record of its end was seen. */
bool exit_tree_take(struct exit_tree *tree, uint32_t pid, struct exit_sums *sums);

/* True if memory was exhausted, and so records are missing. */
bool exit_tree_is_cut(const struct exit_tree *tree);

/* Accepts NULL. */
void exit_tree_free(struct exit_tree *tree);
