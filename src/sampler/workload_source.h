/* workload_source.h: the table workload: who works for what, and what the cgroups of that count.
 *
 * The processes' own worker says what each works for; when a tick has that, one worker more reads
 * the files of the cgroups, and the tick waits for it as for the others. Reading takes at most a
 * fiftieth of the wall: where there are many, figures are older. Thread rule: the tick thread. */
#ifndef VITALS_SAMPLER_WORKLOAD_SOURCE_H
#define VITALS_SAMPLER_WORKLOAD_SOURCE_H

#include "process/table.h"
#include "sampler/worker.h"

struct workload_source;

/* NULL when memory, a thread or a descriptor is out. `wanted` must outlive it. */
struct workload_source *workload_source_new(vitals_context *context, struct worker_event *event,
                                            const struct metric_set *wanted);
void workload_source_free(struct workload_source *source, uint64_t deadline_ns);
void workload_source_forget(struct workload_source *source);

/* Looks who works for what, and asks for what is due of that; once in a tick, by its now_ns. 0 or
 * VITALS_EMEMORY. */
int workload_source_ask(struct workload_source *source, struct process_table *processes,
                        const struct metric_set *due, uint64_t now_ns);

/* Takes an answer. 0 or VITALS_EMEMORY. */
int workload_source_collect(struct workload_source *source);

/* Whether it was asked in the tick that says this now_ns, and has answered or is known to be late.
 */
bool workload_source_settled(const struct workload_source *source, uint64_t now_ns);

/* At the deadline. */
void workload_source_late(struct workload_source *source);

/* Before rows are written: what is known by now. */
void workload_source_look(struct workload_source *source, struct process_table *processes);

/* The rows, and the one in the table source. */
void workload_source_write(const struct workload_source *source,
                           const struct process_table *processes, vitals_builder *builder,
                           uint64_t stamp_ns);
void workload_source_write_source(const struct workload_source *source, vitals_builder *builder,
                                  uint64_t stamp_ns);

#endif
