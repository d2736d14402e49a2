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
#ifndef VITALS_OS_LINUX_ACCOUNTING_EXIT_RECORDS_H
#define VITALS_OS_LINUX_ACCOUNTING_EXIT_RECORDS_H

#include "util/base.h"

struct exit_record {
    uint32_t pid, group, parent; /* thread, its process, and the process's parent */
    bool last;                   /* the last thread of the process */
    uint64_t cpu_ns, user_us, system_us;
    uint64_t resident_peak_bytes; /* since the process's last exec */
    uint64_t read_bytes, written_bytes;
    uint64_t minor_faults, major_faults;
    uint64_t voluntary, involuntary;
};

/* Usage of ended processes: of one process and all its descendants. */
struct exit_sums {
    uint64_t processes;
    uint64_t cpu_ns, user_us, system_us;
    uint64_t largest_bytes, sum_bytes;
    uint64_t read_bytes, written_bytes;
    uint64_t minor_faults, major_faults;
    uint64_t voluntary, involuntary;
};
void exit_sums_add(struct exit_sums *to, const struct exit_sums *from);

/* Returns what one record adds: the last record of a process includes its peak. */
struct exit_sums exit_record_sums(const struct exit_record *record);

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

#endif
