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

struct track_events;

/* Of those trees. NULL where the kernel tells us nothing, or memory is out. */
struct track_events *track_events_new(const struct os *os, const struct os_trees *trees);
void track_events_free(struct track_events *events); /* accepts NULL, as all below do */

/* Once a second at least, and TRACK_EVENTS_NEWS_NS after track_events_news is readable: a
 * descriptor; -1 where once a second will do. */
#define TRACK_EVENTS_TICK_NS NS_PER_SECOND
#define TRACK_EVENTS_NEWS_NS (20 * NS_PER_MS)
void track_events_tick(struct track_events *events);
int track_events_news(const struct track_events *events);

/* Fills in what no better method counted and samples missed. True if there was any. */
bool track_events_read(struct track_events *events, const vitals_usage *usage, struct counted *out);

/* "taskstats connector ", as far as they count; a blank behind each. */
const char *track_events_names(const struct track_events *events);

#endif
