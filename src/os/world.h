/* world.h: what a vitals_context is. Made in src/sample/context.c, which knows all rooms.
 *
 * Immutable but for the count: a lane that was left behind in a driver still holds the world that
 * it was given, so the last one to go frees it. */
#ifndef VITALS_OS_WORLD_H
#define VITALS_OS_WORLD_H

#include "os/os.h"
#include <stdatomic.h>

struct vitals_context {
    atomic_uint refs;
    struct os os;
    struct os_origin origin;
    uint32_t max_descriptors;
    uint64_t seed;
    char *nvml_path; /* NULL: by the loader's rules */
    char *backends;  /* NULL: all but demo */
    char *demo;      /* never NULL */
};

#endif
