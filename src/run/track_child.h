/* track_child.h: a command that a run of ours starts, without being its launcher: nothing of the
 * process that calls is changed. It is our child and is reaped by us; what it leaves behind is
 * not, and is counted where a cgroup or perf counts it. See run.h and track.c.
 *
 *     new (forked, held back) ──► go ──► tick … ──► reap, when its descriptor tells ──► read
 *
 * Thread rule: one thread at a time. */
#pragma once

#include "run/account.h"

#include <vitals/run.h>

struct track_child;

/* Errors: EUNSUPPORTED (a limit, kill_tree), EMEMORY, ESYSTEM. The options are borrowed. */
int track_child_new(const struct os *os, const vitals_run_options *options,
                    struct track_child **out, vitals_error *error);

/* A command that was never started ends unseen. In a fork of the process that made it nothing is
 * ended and no cgroup removed: they belong to the parent. Accepts NULL. */
void track_child_free(struct track_child *tracked);

int64_t track_child_pid(const struct track_child *tracked);

/* Lets it begin. It returns when the command has begun, or cannot: then a positive errno, to be
 * handed to track_child_failed. Any thread, once. */
int track_child_go(struct track_child *tracked);
void track_child_failed(struct track_child *tracked, int failed);

/* Every ACCOUNTING_TICK_NS while it runs, or a little later. */
void track_child_tick(struct track_child *tracked);

/* Records the end of the child if it has ended; other code of the process may have reaped it
 * before. */
void track_child_reap(struct track_child *tracked);

/* Writes the counts so far into the outcome of a run; its texts live in it. `left`: some of its
 * tree still run. */
void track_child_metrics(struct track_child *tracked, bool left, struct run_outcome *outcome);

/* Why a command could not be started, and what a shell would say. */
void track_child_failure(const char *argument, int failed, struct run_outcome *outcome);
