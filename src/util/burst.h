/* burst.h: gives memory back to the kernel once a burst is over. The C library keeps freed blocks
 * between others for what comes next; after thousands of processes have gone that is most of the
 * heap. For programs of ours alone: a heap that a caller shares is the caller's. Thread rule: one
 * thread at a time. */
#pragma once

#include <stddef.h>

/* An object of zeros is ready. */
struct burst {
    size_t most;
    unsigned calm; /* steps since the size was more than half of the most */
};

/* To be called with the size of each sample, in any unit. */
void burst_step(struct burst *burst, size_t size);
