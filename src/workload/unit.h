/* unit.h: which systemd unit the path of a cgroup belongs to. Thread rule: pure. */
#ifndef VITALS_WORKLOAD_UNIT_H
#define VITALS_WORKLOAD_UNIT_H

#include "util/cursor.h"

/* The last service or scope in the path, as systemd calls it ("session-3.scope",
 * "user@1000.service", "docker-….scope"); borrowed from `path`. Size 0 where there is none. */
struct span unit_of_cgroup(struct span path);

#endif
