/* world.h: what a vitals_context is. Made in src/sampler/context.c, which knows all rooms.
 *
 * Immutable but for the count: a worker that was left behind in a driver still holds the world that
 * it was given, so the last one to go frees it.
 *
 * The demo invents two things in two rooms: devices, and the work of processes on them. These
 * processes are chosen with the world, so that both agree from the first reading on. */
#pragma once

#include "os/os.h"
#include <stdatomic.h>

/* A process that the demo has on its devices, and the work that is made up for it. */
struct world_player {
    int64_t pid;                         /* 0: no live process */
    uint64_t start_ticks;                /* when it began: a pid may be another's later */
    const char *cgroup;                  /* where it would be; NULL: nothing is made up for it */
    const char *pod, *space, *container; /* what Kubernetes would call it; "" outside of a pod */
};

struct vitals_context {
    atomic_uint refs;
    struct os os;
    struct os_origin origin;
    uint32_t max_descriptors;
    double driver_share; /* of the wall time, that calls into one vendor's driver may take */
    uint64_t seed;
    char *nvml_path;              /* NULL: by the loader's rules */
    char *backends;               /* NULL: all but demo */
    char *demo;                   /* never NULL */
    struct world_player *players; /* of the demo, else none */
    size_t player_count;
};
