/* count.h: the accounting methods of os/count.h on Linux, one file each. */
#pragma once

#include "os/count.h"
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/linux.h"

/* State that is read once for all methods. Only the first two members are always valid. */
struct count_shared {
    bool looked;                    /* the launcher's cgroups were read */
    bool elsewhere;                 /* a requested cgroup is not at the usual place */
    size_t size;                    /* of memberships; 0: not known */
    char memberships[4096];         /* text of self/cgroup */
    struct cgroup_found last_asked; /* valid until a cgroup is found elsewhere */
    struct cgroups cgroups;         /* from then on: all that the methods use */
};

/* Returns the launcher's cgroup of a controller that a method uses; valid until the next call. */
const struct cgroup_found *count_cgroup(const struct os_count_options *options,
                                        enum cgroup_controller controller);

/* Writes the path of a process's version 2 cgroup into `text`; returns false if it is not known. */
enum { COUNT_TEXT = 4096 };
bool count_membership(const struct os *os, int64_t pid, char text[static COUNT_TEXT],
                      struct span *place);

/* CPU seconds without what was stolen from all CPUs between two readings in ticks. Returns false if
 * that is not known: some hypervisors let their count go backwards. count_perf.c */
bool count_without_stolen(double seconds, uint64_t before, uint64_t now, double per_second,
                          double *out);

extern const struct os_counter count_cgroup2, count_scope, count_perf, count_taskstats,
    count_cgroup1, count_connector, count_wait;
