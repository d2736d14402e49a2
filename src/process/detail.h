/* detail.h: what detail.c asks of user_cache.c. Thread rule: the thread that owns the cache. */
#ifndef VITALS_PROCESS_DETAIL_H
#define VITALS_PROCESS_DETAIL_H

#include "process/table.h"

enum user_kind { USER_NAME, GROUP_NAME };

/* The name of the user or of the group, or the number where it has none; borrowed until the next
 * call. NULL when memory is out. *lacking is set where a descriptor was refused: the name is then
 * the one before, or the number. May block. */
const struct shared_text *user_cache_name(struct user_cache *cache, const vitals_clock *clock,
                                          enum user_kind kind, uint64_t id, bool *lacking);

/* What Kubernetes calls containers, made when it is first asked for; NULL when memory is out. */
struct workload_names *user_cache_containers(struct user_cache *cache);

/* What of a process is known already. */
/* Sets those of container, unit, slurm_job, slurm_step, pod, pod_name, pod_namespace,
 * container_name and workload that are wanted, of the newest row, whose cgroup and uid are known.
 * May block. False where a descriptor was refused. */
bool work_add(const vitals_context *context, struct user_cache *cache, int64_t pid,
              const struct batch_row *row, struct row_batch *out);
/* The process, where the demo made up its work; else NULL. */
const struct world_player *work_player(const vitals_context *context, int64_t pid);

#endif
