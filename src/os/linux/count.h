/* count.h: the mechanisms of os/count.h that Linux has, one file each. */
#ifndef VITALS_OS_LINUX_COUNT_H
#define VITALS_OS_LINUX_COUNT_H

#include "os/count.h"
#include "os/linux/cgroup.h"
#include "os/linux/linux.h"

/* What is read once for all of them. */
struct count_shared {
    bool looked;
    struct cgroups cgroups;
};

/* Where our own cgroup is, of every controller that somebody counts by. */
const struct cgroups *count_cgroups(const struct os_count_options *options);

extern const struct os_counter count_cgroup2, count_systemd, count_perf, count_taskstats,
    count_cgroup1, count_connector, count_wait;

#endif
