/* tree.h: the processes of a run that live, as the launcher sees them below itself.
 *
 * All of /proc is listed for it, so it is asked seldom: at the end, and when all are to be ended.
 * Each is signalled through its pidfd, after it has proven to be the one that was listed.
 * Thread rule: the launcher's thread. */
#ifndef VITALS_RUN_TREE_H
#define VITALS_RUN_TREE_H

#include "sampler/context.h"

struct tree {
    vitals_context *context;
    int64_t below;           /* only this one and what is below it; 0: all that is below us */
    const int64_t *not_ours; /* children of ours that are no part of it, nor what is below them */
    size_t not_ours_count;
};

/* What lives of it. */
struct tree_sum {
    uint64_t processes;
    double cpu_seconds;
    bool cut; /* of some the time could not be read */
};

/* 0, or a negative VITALS_E…: nothing is known. */
int tree_sum(const struct tree *tree, struct tree_sum *out);

/* How many were signalled, zombies passed over; negative VITALS_E…. */
int64_t tree_signal(const struct tree *tree, int signal);

#endif
