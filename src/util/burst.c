/* burst.c: see burst.h. */
#include "util/burst.h"

#include "util/base.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Steps until nothing holds the burst any more: an older snapshot, a table that shrinks slowly. */
enum { CALM = 8 };

void burst_step(struct burst *burst, size_t size)
{
    burst->most = size_max(burst->most, size);
    burst->calm = size < burst->most / 2 ? burst->calm + 1 : 0;
    if (burst->calm < CALM)
        return;
    *burst = (struct burst){.most = size};
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}
