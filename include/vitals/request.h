/* request.h: what to read. Nothing is read that no request needs.
 *
 * A request names metrics, chooses rows, and may slow metrics down. It is used by one thread at a
 * time; a sampler copies what it needs of it. No function here but vitals_snapshot_take_request
 * makes a system call. */
#ifndef VITALS_REQUEST_H
#define VITALS_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_request vitals_request;

/* Which processes get a row: of any of these. Devices are narrowed by vitals_request_set_devices,
 * the other tables are not. */
enum vitals_rows {
    VITALS_ROWS_ALL = 1,
    VITALS_ROWS_GPU_USERS = 2, /* that a device's driver names */
    VITALS_ROWS_LISTED = 4,    /* the given processes */
    VITALS_ROWS_DESCENDANTS =
        8,                /* all that descend from the given ones, also once they are orphans */
    VITALS_ROWS_TREE = 12 /* the given ones and what descends from them */
};

/* Makes a request for the metrics of the sets; 0: none yet. *out is yours to free; free accepts
 * NULL. Errors: EARGUMENT (a set that is none), EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_request_new(unsigned sets, vitals_request **out,
                                                 vitals_error *error) VITALS_NONNULL(2);
VITALS_API void vitals_request_free(vitals_request *request);

/* Adds a metric, or removes it. Errors: EARGUMENT (no such metric). */
VITALS_API VITALS_CHECKED int vitals_request_add(vitals_request *request, vitals_metric metric,
                                                 vitals_error *error) VITALS_NONNULL(1);
VITALS_API VITALS_CHECKED int vitals_request_remove(vitals_request *request, vitals_metric metric,
                                                    vitals_error *error) VITALS_NONNULL(1);

/* Adds the metrics of a table, but for those of process that a request must name (their reading
 * costs something: docs/metrics.md). Errors: EARGUMENT (no such table). */
VITALS_API VITALS_CHECKED int vitals_request_add_table(vitals_request *request, vitals_table entity,
                                                       vitals_error *error) VITALS_NONNULL(1);

/* Adds all metrics of a table, also those that vitals_request_add_table leaves out. Some are dear,
 * as what comes from smaps of every process: for a live handle (process.h) or few rows rather than
 * for each tick. Errors: as above. */
VITALS_API VITALS_CHECKED int vitals_request_add_all(vitals_request *request, vitals_table entity,
                                                     vitals_error *error) VITALS_NONNULL(1);

/* Chooses the rows of the table process, a sum of enum vitals_rows; pids matter to LISTED and
 * DESCENDANTS. A pid means the process that has it when the sampler first looks: a pid
 * that does not exist is no error and has no row, also if a process gets that number later. The
 * last choice holds. Where the request names no metric of the tables process and workload, the
 * choice does not matter: none but users of GPUs is opened, and only for gpu_process.process.
 * Errors: EARGUMENT (no or an unknown choice, a pid below 1, no pid), EMEMORY.
 */
VITALS_API VITALS_CHECKED int vitals_request_set_rows(vitals_request *request, unsigned rows,
                                                      const int64_t *pids, size_t count,
                                                      vitals_error *error) VITALS_NONNULL(1);

/* Chooses the devices that are read: the rows of the table gpu, and what belongs to them in other
 * tables. A name is a label ("0", "0:1"), a PCI address, or a UUID or its beginning
 * (vitals_gpu_find); a device comes with its partitions. Only chosen devices are read: one metric
 * of one of eight devices costs the driver's calls for one. A name that no device has is no error
 * and has no row, and one that several have chooses all of them. The last choice holds; `count` 0
 * is all devices. Errors: EARGUMENT (no name of any of these kinds), EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_request_set_devices(vitals_request *request,
                                                         const char *const *names, size_t count,
                                                         vitals_error *error) VITALS_NONNULL(1);

/* Reads a metric no more often than this; 0, or less than the interval, is at every tick. Without a
 * call the catalogue's cadence holds (vitals_metric_every_ns). A metric that is not due keeps its
 * last value and availability, and vitals_row_read_ns says from when it is. The table cpu is one
 * file and is read as a whole at every tick, whatever the cadence of its metrics. Errors: EARGUMENT
 * (no such metric). */
VITALS_API VITALS_CHECKED int vitals_request_set_every(vitals_request *request,
                                                       vitals_metric metric, uint64_t every_ns,
                                                       vitals_error *error) VITALS_NONNULL(1);

/* Sets the time from tick to tick, 10 ms to 1 day; the default is 1 s. Errors: EARGUMENT. */
VITALS_API VITALS_CHECKED int vitals_request_set_interval(vitals_request *request,
                                                          uint64_t interval_ns, vitals_error *error)
    VITALS_NONNULL(1);

/* Returns 1 if the request names the metric, else 0. */
VITALS_API int vitals_request_has(const vitals_request *request, vitals_metric metric)
    VITALS_NONNULL(1);

/* Takes one snapshot of a request, as vitals_snapshot_take does of sets: for tables that are in no
 * set, and for chosen rows. The cadence does not matter. Errors: EARGUMENT (an empty request, a
 * table that only a live handle answers), EMEMORY. Cost: that of vitals_snapshot_take, for what the
 * request names. */
VITALS_API VITALS_CHECKED int vitals_snapshot_take_request(vitals_context *context,
                                                           const vitals_request *request,
                                                           vitals_snapshot **out,
                                                           vitals_error *error)
    VITALS_NONNULL(1, 2, 3);

#ifdef __cplusplus
}
#endif

#endif
