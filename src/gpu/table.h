/* table.h: every device that was seen, its newest readings, and its rows. A device gets its key
 * from its UUID, once; it is never given to another. Readings come from workers as plain data and
 * are copied in; values that do not arrive in time stay and become stale. Thread rule: the tick
 * thread. */
#pragma once

#include "gpu/backend.h"
#include "model/builder.h"
#include "model/request.h"

struct gpu_table;

struct gpu_table *gpu_table_new(void);

/* Narrows the table to the devices that the request names; it must live as long as the table. */
void gpu_table_choose(struct gpu_table *table, const struct vitals_request *request);
bool gpu_table_is_chosen(const struct gpu_table *table, unsigned backend, uint32_t slot);

void gpu_table_free(struct gpu_table *table);

/* Takes a scan of back end `backend` (its index in gpu_backends): new devices get keys, devices
 * that no longer exist lose their rows. Returns 0 or VITALS_EMEMORY. */
int gpu_table_scan(struct gpu_table *table, unsigned backend, const struct gpu_scan *scan);

/* Tells whether the first scan of back end `backend` is under way: until it has ended, the table
 * gpu is LOWER_BOUND, or NOT_YET without a row. */
void gpu_table_scans(struct gpu_table *table, unsigned backend, bool scans);

/* Takes readings of a device; metrics that were not requested keep their older value. The memory of
 * the sample's batch may be swapped with that of the table. On VITALS_EMEMORY the older reading
 * stays. */
int gpu_table_sample(struct gpu_table *table, unsigned backend, uint32_t slot,
                     struct gpu_sample *sample);

/* The same for values of the device from other sources than its driver: the state of the driver is
 * unchanged. */
int gpu_table_claims(struct gpu_table *table, unsigned backend, uint32_t slot,
                     struct gpu_sample *sample);

/* Takes a list that was requested with `wanted`. The number of processes (VITALS_GPU_PROCESSES)
 * comes from the lists; for a partitioned device it is the sum over its partitions. */
int gpu_table_processes(struct gpu_table *table, unsigned backend, uint32_t slot,
                        const struct metric_set *wanted, const struct gpu_processes *processes);

/* Marks requested values of a device that did not answer in this tick: stale, or timed_out if there
 * is no older value. */
void gpu_table_late(struct gpu_table *table, unsigned backend, uint32_t slot,
                    const struct metric_set *asked);

/* Marks values as stale that are older than the request allows (cache_age); also lists of
 * processes. */
void gpu_table_age(struct gpu_table *table, const struct vitals_request *request, uint64_t now_ns);

/* Calls visit for each pid of our namespace on any device, so that VITALS_ROWS_GPU_USERS can be
 * marked. */
void gpu_table_each_pid(const struct gpu_table *table, void (*visit)(void *data, int64_t pid),
                        void *data);

/* Returns the key of the process with this pid and start time (0: not known), or 0 if there is none
 * here. */
typedef uint64_t gpu_find_process(const void *data, int64_t pid, uint64_t start_ticks);

/* Reads where the devices are plugged in, for the table gpu_peer: some small files of /sys for each
 * of them and for each network adapter; nothing if all is unchanged. Returns 0 or EMEMORY. */
int gpu_table_look_around(struct gpu_table *table, const struct os *os,
                          const struct metric_set *wanted);

/* Opens the wanted gpu tables and writes their rows: gpu, children, peers, processes. The table of
 * processes is LOWER_BOUND if a device does not report all of its own; if none reports any, it has
 * that device's reason (DENIED has priority). Processes are joined by `find` (NULL: not requested);
 * a pid that never existed is VITALS_OUTSIDE, one that existed before is VITALS_GONE. A pid that
 * now belongs to another process gets a new row: so the table is not const. Allocates nothing. */
void gpu_table_write(struct gpu_table *table, vitals_builder *builder,
                     const struct metric_set *wanted, gpu_find_process *find, const void *data,
                     uint64_t stamp_ns);
