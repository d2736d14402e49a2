/* track_child.h: a command that a run of ours starts, without being its launcher: nothing of the
 * process that calls is changed. It is our child and is reaped by us; what it leaves behind is
 * not, and is counted where a cgroup or perf counts it. See run.h and track.c.
 *
 *     new (forked, held back) ──► go ──► tick … ──► reap, when its descriptor tells ──► read
 *
 * Thread rule: one thread at a time. */
#ifndef VITALS_RUN_TRACK_CHILD_H
#define VITALS_RUN_TRACK_CHILD_H

#include "run/account.h"

#include <vitals/run.h>

struct launched;

/* Errors: EUNSUPPORTED (a limit, kill_tree), EMEMORY, ESYSTEM. The options are borrowed. */
int launched_new(const struct os *os, const vitals_run_options *options, struct launched **out,
                 vitals_error *error);

/* A command that was never let go ends unseen. In a fork of who made it nothing ends and no cgroup
 * goes: they are our parent's. Accepts NULL. */
void launched_free(struct launched *launched);

int64_t launched_pid(const struct launched *launched);

/* Lets it begin. It returns when the command has begun, or cannot: then a positive errno, to be
 * handed to launched_failed. Any thread, once. */
int launched_go(struct launched *launched);
void launched_failed(struct launched *launched, int failed);

/* Every LADDER_TICK_NS while it runs, or a little later. */
void launched_tick(struct launched *launched);

/* Takes note of its end, where it has ended; somebody else may have done so before. */
void launched_reap(struct launched *launched);

/* What is known by now, into the facts of a run; their texts live in it. `left`: some of its tree
 * still run. */
void launched_facts(struct launched *launched, bool left, struct run_facts *facts);

/* Why a command could not be started, and what a shell would say. */
void launched_failure(const char *argument, int failed, struct run_facts *facts);

#endif
