/* track_cgroup.h: counts of the target's own cgroups, for a run without a launcher.
 *
 * A cgroup counts for the tree if it holds the tree and nothing else: it includes processes that
 * came and went between samples. Its members are checked now and then: other processes in it make
 * its counts an upper bound, processes of the tree outside a lower one. Others may come and go
 * between two checks, so the counts are exact only while samples of the tree explain its CPU time,
 * else an upper bound; a process that used almost none is not noticed. Thread rule: one thread at a
 * time. */
#pragma once

#include "os/counted.h"
#include "run/usage/usage_data.h"

struct track_cgroup;

/* Counts the tree of that process by its cgroup. NULL if it has no cgroup that could hold the tree
 * alone, or if memory is out. */
struct track_cgroup *track_cgroup_new(const struct os *os, int64_t root);
void track_cgroup_free(struct track_cgroup *cgroup); /* accepts NULL */

/* Looks at it, with the snapshot that was added to the usage last. The first look decides. */
void track_cgroup_look(struct track_cgroup *cgroup, const vitals_usage *usage,
                       const vitals_snapshot *snapshot);

/* COUNTED_COUNT figures, as they were read last; false where there is not one. */
bool track_cgroup_read(const struct track_cgroup *cgroup, struct counted *out);

/* "cgroup2 cgroup1 ", as far as they count; a blank behind each. */
void track_cgroup_names(const struct track_cgroup *cgroup, char *out, size_t capacity);
