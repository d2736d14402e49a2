/* births.h: the kernel's event of each process that is born anywhere on the machine (the process
 * connector, linux/cn_proc.h), and which of them belong to a tree.
 *
 * A birth names the process and its parent. A child of a member is a member; a pid that is heard of
 * again is another process. Births come in their order: no process has a child before it was born.
 *
 * Pure but for memory; one thread at a time. */
#pragma once

#include "util/hash.h"

struct births {
    struct hash members; /* by pid; ended processes are still in it */
    uint64_t count;      /* processes that were ever in it */
    uint32_t question;   /* the `ack` of ours; that of the answer is the next */
    bool cut;            /* memory was short, or there were too many */
    bool heard;          /* the kernel said yes to our question */
    bool settled; /* all that lived at the beginning are in: a birth of one of those is another's */
    void (*added)(void *data, uint32_t pid);     /* each member, as it comes; may be NULL */
    void (*forgotten)(void *data, uint32_t pid); /* a member whose pid is another's now; or NULL */
    void *data;
};

/* Adds a process that lives. A member is not counted again. */
void births_add(struct births *births, uint32_t pid);
bool births_has(const struct births *births, uint32_t pid);

/* A process that has ended, and whose children were all heard of: it need not be remembered. */
void births_remove(struct births *births, uint32_t pid);

/* One datagram of the kernel: births of any number, answers, and what is none of ours. */
void births_take(struct births *births, const char *bytes, size_t size);

void births_done(struct births *births);
