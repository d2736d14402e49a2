/* exit_records.h: the kernel's record of each task that ends anywhere on the machine (taskstats),
 * and the tree that it belonged to.
 *
 * A record names its process and the parent of that, not the tree. A parent that ended before has
 * handed its children on; so at each end the parent either lives, or is the process that adopts
 * orphans. The usage of a process and all below it is therefore kept under its pid until it ends,
 * and is then added to its parent's. The usage that reaches a child of the launcher is the run's. A
 * child that no process has waited for may be the launcher's to reap when its parent has ended: its
 * usage went to that parent, and nothing of it is missing.
 *
 * Pure but for memory; one thread at a time. */
#ifndef VITALS_OS_LINUX_ACCOUNTING_EXIT_RECORDS_H
#define VITALS_OS_LINUX_ACCOUNTING_EXIT_RECORDS_H

#include "util/base.h"

struct exit_record {
    uint32_t pid, group, parent; /* of a thread; its process; that one's parent */
    bool last;                   /* the process ended with it */
    uint64_t cpu_ns, user_us, system_us;
    uint64_t resident_peak_bytes; /* of the process's present program */
    uint64_t read_bytes, written_bytes;
    uint64_t minor_faults, major_faults;
    uint64_t voluntary, involuntary;
};

/* Usage of ended processes: of one process and all below it. */
struct exit_sums {
    uint64_t processes;
    uint64_t cpu_ns, user_us, system_us;
    uint64_t largest_bytes, sum_bytes;
    uint64_t read_bytes, written_bytes;
    uint64_t minor_faults, major_faults;
    uint64_t voluntary, involuntary;
};
void exit_sums_add(struct exit_sums *to, const struct exit_sums *from);

/* What one record adds: the peak of a process with its last one. */
struct exit_sums exit_record_sums(const struct exit_record *record);

/* One message of the kernel. 0, or -EBADMSG, -ENOTSUP (a kernel before 5.16 does not say whose
 * thread it was), or the kernel's own error. */
int exit_record_parse(const char *bytes, size_t size, struct exit_record *out);

struct exit_tree;

/* NULL where memory is out. */
struct exit_tree *exit_tree_new(uint32_t launcher);
void exit_tree_add(struct exit_tree *tree, const struct exit_record *record);

/* Takes what ended below a child of the launcher that was reaped, and is the run's. False where no
 * record of its end was seen. */
bool exit_tree_take(struct exit_tree *tree, uint32_t pid, struct exit_sums *sums);

/* Whether memory was short, and so something is missing. */
bool exit_tree_is_cut(const struct exit_tree *tree);

/* Accepts NULL. */
void exit_tree_free(struct exit_tree *tree);

#endif
