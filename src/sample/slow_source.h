/* slow_source.h: the lane for files that may block: command lines, users, cgroups.
 *
 * A command line waits for the lock of a process's memory, a user name for a directory server: so a
 * thread of its own reads them, in batches, and a tick takes what is there by its deadline.
 * Thread rule: the tick thread. */
#ifndef VITALS_SAMPLE_SLOW_SOURCE_H
#define VITALS_SAMPLE_SLOW_SOURCE_H

#include "host/host.h"
#include "process/table.h"
#include "sample/lane.h"

struct slow_source;

struct slow_source *slow_source_new(vitals_context *context, struct lane_hub *hub);
void slow_source_free(struct slow_source *source, uint64_t deadline_ns);
void slow_source_forget(struct slow_source *source);

/* Asks for the details that are due and for the machine's slow metrics in `due`. Every call of a
 * tick says the same now_ns, so that nothing is asked for twice in it. */
void slow_source_ask(struct slow_source *source, struct process_table *processes,
                     const struct metric_set *wanted, const struct metric_set *due, uint64_t now_ns,
                     uint64_t details_every_ns);

/* Whether more is due than there was room for: to be asked again once something was collected. */
bool slow_source_has_more(const struct slow_source *source);

/* Hands over what was answered. */
void slow_source_collect(struct slow_source *source, struct process_table *processes,
                         struct host *host);

bool slow_source_settled(const struct slow_source *source);

/* At the deadline. */
void slow_source_late(struct slow_source *source);

void slow_source_write(const struct slow_source *source, vitals_builder *builder,
                       uint64_t stamp_ns);

#endif
