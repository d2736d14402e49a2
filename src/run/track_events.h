/* track_events.h: processes of a tree that came and went between two samples, of a run that we are
 * no launcher of: what the kernel tells of births and ends (os/ends.h).
 *
 * It is a lower bound, as samples are; whichever is more has missed less, and is told. Thread rule:
 * one thread at a time. */
#ifndef VITALS_RUN_TRACK_EVENTS_H
#define VITALS_RUN_TRACK_EVENTS_H

#include "os/ends.h"
#include "run/counted.h"
#include "run/usage/usage_data.h"

struct followed;

/* Of those trees. NULL where the kernel tells us nothing, or memory is out. */
struct followed *followed_new(const struct os *os, const struct os_trees *trees);
void followed_free(struct followed *followed); /* accepts NULL, as all below do */

/* Once a second at least, and FOLLOWED_NEWS_NS after followed_news is readable: a descriptor; -1
 * where once a second will do. */
#define FOLLOWED_TICK_NS NS_PER_SECOND
#define FOLLOWED_NEWS_NS (20 * NS_PER_MS)
void followed_tick(struct followed *followed);
int followed_news(const struct followed *followed);

/* Fills in what nobody better counted, and samples have missed. True where there was any. */
bool followed_read(struct followed *followed, const vitals_usage *usage, struct counted *out);

/* "taskstats connector ", as far as they count; a blank behind each. */
const char *followed_rungs(const struct followed *followed);

#endif
