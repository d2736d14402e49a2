/* attach.h: the cgroups of running processes, and the counters in their files.
 *
 * A container, a systemd service or a job step has its own cgroups. Their counters include all
 * processes in them, seen or not. This file lists the members; run/track_cgroup.c decides whether
 * they are the tree to measure. Nothing is changed. Thread rule: one thread at a time. */
#pragma once

#include "os/counted.h"
#include "os/os.h"

struct os_tracked_cgroup;

/* The cgroups of a process: of version 2, and of each controller of version 1 that counts; never
 * the top of what we see, which holds everything. *out is NULL where there is none. Returns 0 or
 * negative errno. */
int os_attach(const struct os *os, int64_t pid, struct os_tracked_cgroup **out);
void os_tracked_cgroup_free(struct os_tracked_cgroup *attached); /* accepts NULL */

/* How many there are, and what each is called: "cgroup2", "cgroup1". */
size_t os_tracked_cgroup_count(const struct os_tracked_cgroup *attached);
const char *os_tracked_cgroup_name(const struct os_tracked_cgroup *attached, size_t which);

/* Adds the processes in it and below it. Negative errno: it cannot be said. */
int os_tracked_cgroup_list(const struct os_tracked_cgroup *attached, size_t which,
                           struct os_pids *pids);

/* Whether a process is in it or below it; true where that cannot be read. */
bool os_tracked_cgroup_holds(struct os_tracked_cgroup *attached, size_t which, int64_t pid);

/* The cgroup's counts since it was made; quantities that it does not count are left as they are. */
void os_tracked_cgroup_read(const struct os_tracked_cgroup *attached, size_t which,
                            struct counted *out);

/* The parent of a process; 0 where it has none that we see, negative where it is gone. */
int64_t os_parent_of(const struct os *os, int64_t pid);
