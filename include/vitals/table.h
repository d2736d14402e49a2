/* table.h: the rows of one table, read directly and handed to the caller one by one: for what is
 * asked once and not watched, at the least cost. No thread is started and no snapshot made; what a
 * sampler would read on a thread of its own is read in the caller's. */
#ifndef VITALS_TABLE_H
#define VITALS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/error.h>
#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A value that was read directly: its metric's type says which member has it. */
typedef struct vitals_value {
    vitals_availability availability; /* below 0: there is no value */
    uint64_t u64;
    int64_t i64;
    double f64;
    vitals_text text; /* of vitals_process_read in the caller's room, of a row borrowed */
} vitals_value;

/* Receives one row: the values of the metrics that were asked for, in their order. Values and texts
 * are borrowed until it returns. Returns 0 to go on, anything else for no more rows. */
typedef int vitals_row_fn(void *data, const vitals_value *values, size_t count);

/* Reads metrics of a table of the machine, now and in the caller's thread, and calls `row` for each
 * of its rows. All metrics are of one table: mount, filesystem, sensor, network_address, login,
 * socket; or host, cpu, disk and network, of which those that a sampler reads beside its ticks
 * (price WORKER: docs/metrics.md) and that are no sum over other tables, and the names of disks and
 * interfaces. Those of disk and network that describe a device (speed, model, flags) cost a file
 * for each.
 * Returns 0; or 1 where some rows may be missing or be cut (LOWER_BOUND). Errors: EARGUMENT (no
 * metric, metrics of two tables, of a process, or that a tick reads), EDENIED, EGONE, EUNSUPPORTED
 * (another table, or this machine has none), ESYSTEM, EMEMORY; `row` is then not called. Thread:
 * any. Cost: the system calls of the table alone. May block: filesystem with its space while a file
 * server is away, sensor for a second. */
VITALS_API VITALS_CHECKED int vitals_table_read(vitals_context *context,
                                                const vitals_metric *metrics, size_t count,
                                                vitals_row_fn *row, void *data, vitals_error *error)
    VITALS_NONNULL(1, 2, 4);

#ifdef __cplusplus
}
#endif

#endif
