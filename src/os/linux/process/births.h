/* births.h: the kernel's word of each process that is born anywhere on the machine (the process
 * connector, linux/cn_proc.h), and which of them are of a tree.
 *
 * A birth names the process and its parent. Who is born of a member is one; a pid that is heard of
 * again is another process. Births come in their order: nobody has a child before it was born.
 *
 * Pure but for memory; one thread at a time. */
#ifndef VITALS_OS_LINUX_PROCESS_BIRTHS_H
#define VITALS_OS_LINUX_PROCESS_BIRTHS_H

#include "util/hash.h"

struct births {
    struct hash members; /* by pid; one who has ended is still in it */
    uint64_t count;      /* processes that were ever in it */
    uint32_t question;   /* the `ack` of ours; that of the answer is the next */
    bool cut;            /* memory was short, or there were too many */
    bool heard;          /* the kernel said yes to our question */
    bool settled; /* who lived when it began is in it: a birth of one of those is another's */
    void (*added)(void *data, uint32_t pid);     /* each member, as it comes; NULL: nobody asks */
    void (*forgotten)(void *data, uint32_t pid); /* a member whose pid is another's now; or NULL */
    void *data;
};

/* One who lives. Whoever is a member already is not counted again. */
void births_add(struct births *births, uint32_t pid);
bool births_has(const struct births *births, uint32_t pid);

/* One who has ended, and whose children were all heard of: it need not be remembered. */
void births_remove(struct births *births, uint32_t pid);

/* One datagram of the kernel: births of any number, answers, and what is none of ours. */
void births_take(struct births *births, const char *bytes, size_t size);

void births_done(struct births *births);

#endif
