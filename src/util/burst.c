/* burst.c: see burst.h. */
#include "util/burst.h"

#include "util/buffer.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* In steps: after the first the snapshots of the burst have been used again, after the second
 * everything that shrinks slowly is small. */
enum { CALM = 8, SETTLED = 48 };

void burst_step(struct burst *burst, size_t size, struct buffer *kept)
{
    burst->most = size_max(burst->most, size);
    burst->calm = size < burst->most / 2 ? burst->calm + 1 : 0;
    if (burst->calm != CALM && burst->calm != SETTLED)
        return;
    if (burst->calm == SETTLED)
        *burst = (struct burst){.most = size};
    if (kept != NULL)
        buffer_done(kept);
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}
