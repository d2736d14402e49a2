/* machine_source.h: the workers of the machine: what of it cannot be read on the tick thread.
 *
 * One worker for each kind of host.h that is wanted, so that a file server that hangs delays no
 * sensor. A kind that does not answer is not asked again until it does; its values grow stale, and
 * its source's row says so. A mount that hangs for 2 s is left to its thread and the others get a
 * new one, up to eight times.
 *
 * Thread rule: the tick thread. */
#ifndef VITALS_SAMPLER_MACHINE_SOURCE_H
#define VITALS_SAMPLER_MACHINE_SOURCE_H

#include "host/host.h"
#include "sampler/worker.h"

struct machine_source;

struct machine_source *machine_source_new(vitals_context *context, struct worker_event *event,
                                          const struct metric_set *wanted);
void machine_source_free(struct machine_source *source, uint64_t deadline_ns);
void machine_source_forget(struct machine_source *source);

/* Asks for what is due, of tables as a whole where any of it is. Every call of a tick says the same
 * now_ns, so that nothing is asked for twice in it. */
void machine_source_ask(struct machine_source *source, const struct metric_set *due,
                        uint64_t now_ns);

/* Hands over what was answered. Returns 0 or VITALS_EMEMORY. */
int machine_source_collect(struct machine_source *source, struct host *host);

/* Whether all has answered that a tick waits for: who was late does not count until it answers. */
bool machine_source_settled(const struct machine_source *source);

/* At the deadline. Returns whether a mount was left behind, so that the others can be asked at once
 * where they were not answered yet. */
bool machine_source_late(struct machine_source *source, struct host *host);

void machine_source_write(const struct machine_source *source, vitals_builder *builder,
                          uint64_t stamp_ns);

#endif
