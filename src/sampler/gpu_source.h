/* gpu_source.h: the workers of one vendor's driver.
 *
 * Everything that enters the driver happens here: loading it, listing devices, reading them. One
 * worker serves all devices of a vendor until a call hangs for two seconds; then its device stays
 * with that thread (quarantine) and a new worker takes the others. What the driver costs is
 * measured, and devices are asked so seldom that all calls together take at most one hundredth of
 * the time. Thread rule: the tick thread; only the service's functions run on workers. */
#ifndef VITALS_SAMPLER_GPU_SOURCE_H
#define VITALS_SAMPLER_GPU_SOURCE_H

#include "gpu/table.h"
#include "sampler/worker.h"

struct gpu_source;

/* For one back end, of that number in its rows; NULL when memory is out. Nothing is loaded yet. */
struct gpu_source *gpu_source_new(vitals_context *context, struct worker_event *event,
                                  const struct gpu_backend *backend, unsigned number);

/* Ends its workers; those that hang are left behind at the deadline. Telling them before does not
 * wait, so that several sources end at the same time. */
void gpu_source_tell_end(struct gpu_source *source);
void gpu_source_free(struct gpu_source *source, uint64_t deadline_ns);
void gpu_source_forget(struct gpu_source *source);

/* At the begin of a tick: asks whatever is due; never waits. */
void gpu_source_ask(struct gpu_source *source, const struct metric_set *wanted,
                    const struct metric_set *due, uint64_t now_ns, uint64_t interval_ns);

/* Within a tick: asks devices that were found since, so that they are in it already. */
void gpu_source_ask_new(struct gpu_source *source, const struct metric_set *wanted,
                        uint64_t now_ns);

/* Whether the users of a device can be told as soon as there is a sweep of /proc; and asks for them
 * with it. `is_old`: it is none of this tick, and there will be none; then the answer is stale, or
 * timed_out where there was never one (NULL). */
bool gpu_source_waits(const struct gpu_source *source);
void gpu_source_ask_users(struct gpu_source *source, const struct metric_set *wanted,
                          struct gpu_sweep *swept, bool is_old, uint64_t now_ns);

/* Takes what has been answered into the table. Returns 0 or VITALS_EMEMORY. */
int gpu_source_collect(struct gpu_source *source, struct gpu_table *table);

/* Whether everything that was asked in this tick is answered, a quarantined device left out, and
 * what is waited for but briefly as soon as that is over. */
bool gpu_source_settled(const struct gpu_source *source);

/* When the first of these brief waits is over; the deadline where there is none. */
uint64_t gpu_source_patience(const struct gpu_source *source, uint64_t deadline_ns);

/* At the end of a tick: marks devices that have not answered, isolates hanging ones. Whether others
 * were freed by that, and answer now. */
bool gpu_source_late(struct gpu_source *source, struct gpu_table *table, uint64_t now_ns);

/* Its rows in the table diagnosis, which must be open. One that has not answered in time has a row
 * that says so, its older findings are stale, and the table is LOWER_BOUND. */
void gpu_source_write_diagnosis(const struct gpu_source *source, vitals_builder *builder,
                                uint64_t stamp_ns);

/* Its row in the table `source`. */
void gpu_source_write(const struct gpu_source *source, vitals_builder *builder, uint64_t stamp_ns);

#endif
