/* slow_source.h: the workers for what of a process may block: command lines, users, shared memory.
 *
 * A command line waits for the lock of a process's memory, a user name for a directory server: so a
 * thread of its own reads them, in batches, and a tick takes what is there by its deadline. What
 * walks through a process's memory (PSS) takes its time by the size of it, and has a worker of its
 * own, which only the first tick waits for.
 *
 * A worker that does not answer by the deadline is not waited for until it does; what it was asked
 * for is STALE or TIMED_OUT till then. Where one process holds it for 2 s it is left behind in that
 * process, and a new thread asks the others; up to four times. Such a process is not asked again
 * until its thread comes back, and what that brings counts.
 * Thread rule: the tick thread. */
#ifndef VITALS_SAMPLER_SLOW_SOURCE_H
#define VITALS_SAMPLER_SLOW_SOURCE_H

#include "process/table.h"
#include "sampler/plan.h"
#include "sampler/worker.h"

struct slow_source;

/* For the columns of processes that the plan wants of workers; there are no threads where there are
 * no such columns. */
struct slow_source *slow_source_new(vitals_context *context, struct worker_event *event,
                                    const struct plan *plan);
void slow_source_free(struct slow_source *source, uint64_t deadline_ns);
void slow_source_forget(struct slow_source *source);

/* Asks for the details that are due. Every call of a tick says the same now_ns, so that nothing is
 * asked for twice in it. */
void slow_source_ask(struct slow_source *source, struct process_table *processes, uint64_t now_ns);

/* Whether more is due than there was room for: to be asked again once something was collected. */
bool slow_source_has_more(const struct slow_source *source);

/* Whether some were not answered for want of descriptors: to be asked again when others may have
 * closed theirs. */
bool slow_source_refused(const struct slow_source *source);

/* Hands over what was answered. */
void slow_source_collect(struct slow_source *source, struct process_table *processes);

/* Whether all is answered that a tick waits for; who was late does not count until it answers. */
bool slow_source_settled(const struct slow_source *source, bool first_tick);

/* At the deadline, with the now_ns of the tick's asking. Returns whether a process was left behind,
 * so that the others can be asked at once where they were not answered yet. */
bool slow_source_late(struct slow_source *source, struct process_table *processes, uint64_t now_ns,
                      bool first_tick);

void slow_source_write(const struct slow_source *source, vitals_builder *builder,
                       uint64_t stamp_ns);

#endif
