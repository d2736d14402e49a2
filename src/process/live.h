/* live.h: a live handle from inside. One thread at a time per handle. */
#pragma once

#include "os/world.h"
#include <vitals/process.h>

struct vitals_process {
    const vitals_context *context;
    struct os_process files; /* stat is kept: while it reads, the pid is this process's own; statm
                                once it was asked for, as long as descriptors are few */
    int pidfd;               /* its own for certain; negative: the pids of another /proc, or a
                                kernel that has none */
    uint64_t start_ticks;
    uint64_t stream, asked;   /* whose keys its answers have, and how many there were */
    struct user_cache *users; /* NULL: no name was asked for yet */
    bool unreaped;            /* the last wait that saw its end left it a zombie */
    bool ended;               /* it was waited for, */
    struct os_exit how;       /* and this is what was learned; NOT_YET before */
};

/* 0 while the process lives, else VITALS_EGONE with its message. */
int live_prove(const vitals_process *process, vitals_error *error);

/* Keeps a statm that was opened, as long as descriptors are few: a program may hold many handles,
 * and descriptors for its own work. Closes it else. */
void live_keep_statm(vitals_process *process, int statm);

/* How it ended, where the kernel tells; a child of the caller is not reaped. NOT_YET while
 * it lives. Nothing of it is kept. */
vitals_availability live_how_ended(const vitals_process *process, struct os_exit *out);
