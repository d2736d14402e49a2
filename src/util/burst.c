/* burst.c: see burst.h. */
#include "util/burst.h"

#include "util/base.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* In steps, and at 16, 32, 64: a recording's key, say, is replaced after 60 samples. */
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
