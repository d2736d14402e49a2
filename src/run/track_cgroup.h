/* track_cgroup.h: what the target's own cgroups count, of a run that we are no launcher of.
 *
 * A cgroup speaks for the tree where it holds the tree and nothing else: whoever of the tree came
 * and went unseen is in its counts. Whether it still does is looked at now and then: others in it
 * make its counts an upper bound, processes that left it a lower one. Between two looks others may
 * come and go: its counts are told as exact only while its CPU time is what samples of the tree
 * explain, else as an upper bound; who used next to none of that is not noticed.
 * Thread rule: one thread at a time. */
#ifndef VITALS_RUN_TRACK_CGROUP_H
#define VITALS_RUN_TRACK_CGROUP_H

#include "run/counted.h"
#include "run/usage/usage_data.h"

struct track_cgroup;

/* Of the tree of that process. NULL where it has no cgroup that could be, or memory is out. */
struct track_cgroup *track_cgroup_new(const struct os *os, int64_t root);
void track_cgroup_free(struct track_cgroup *cgroup); /* accepts NULL */

/* Looks at it, with the snapshot that was folded into the usage last. The first look decides. */
void track_cgroup_look(struct track_cgroup *cgroup, const vitals_usage *usage,
                       const vitals_snapshot *snapshot);

/* COUNTED_COUNT figures, as they were read last; false where there is not one. */
bool track_cgroup_read(const struct track_cgroup *cgroup, struct counted *out);

/* "cgroup2 cgroup1 ", as far as they count; a blank behind each. */
void track_cgroup_names(const struct track_cgroup *cgroup, char *out, size_t capacity);

#endif
