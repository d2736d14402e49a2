/* burst.c: see burst.h. */
#include "util/burst.h"

#include "util/base.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Trims after 8, 16, 32, 64 and 128 steps: a recording's key, for one, is freed after 60. */
enum { CALM = 8, SETTLED = 128 };

void burst_step(struct burst *burst, size_t size)
{
    burst->most = size_max(burst->most, size);
    burst->calm = size < burst->most / 2 ? burst->calm + 1 : 0;
    if (burst->calm < CALM || (burst->calm & (burst->calm - 1)) != 0)
        return;
    if (burst->calm == SETTLED)
        *burst = (struct burst){.most = size};
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}
