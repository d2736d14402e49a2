/* count.h: the mechanisms of os/count.h that Linux has, one file each. */
#ifndef VITALS_OS_LINUX_ACCOUNTING_COUNT_H
#define VITALS_OS_LINUX_ACCOUNTING_COUNT_H

#include "os/count.h"
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/linux.h"

/* State that is read once for all of them. Only the first two are set from the beginning. */
struct count_shared {
    bool looked;                    /* for what we are in */
    bool elsewhere;                 /* a cgroup asked for is not at the usual places */
    size_t size;                    /* of what we are in; 0: not known */
    char memberships[4096];         /* as self/cgroup names it */
    struct cgroup_found last_asked; /* while nothing is elsewhere */
    struct cgroups cgroups;         /* from then on: all in use by the mechanisms */
};

/* Our own cgroup of a controller that a mechanism counts by; valid until the next call. */
const struct cgroup_found *count_cgroup(const struct os_count_options *options,
                                        enum cgroup_controller controller);

/* The path of a process's cgroup of version 2, in `text`; false where it is not told. */
enum { COUNT_TEXT = 4096 };
bool count_membership(const struct os *os, int64_t pid, char text[static COUNT_TEXT],
                      struct span *place);

extern const struct os_counter count_cgroup2, count_scope, count_perf, count_taskstats,
    count_cgroup1, count_connector, count_wait;

#endif
