/* otlp_snapshot.h: encodes a snapshot as OpenTelemetry's metrics: the machine, its GPUs, workloads.
 *
 * Missing values have no point. A sum has the time of its reading, all else that of the snapshot.
 * One thread. */
#pragma once

#include <vitals/vitals.h>

#include "export/otlp/otlp_table.h"
#include "export/otlp/otlp_writer.h"
#include "export/prometheus/exposition.h"

struct otlp_look {
    struct exposition_options options; /* selection of processes, and how a user is named */
    uint64_t since_ns;                 /* start of the exporter, since 1970 */
};

void otlp_snapshot_write(struct otlp_writer *writer, struct counter_map *sums,
                         const vitals_snapshot *snapshot, const struct otlp_look *look);

/* ---- otlp_describe.c: rows by OpenTelemetry's attributes; texts are made safe ---- */

/* Adds all attributes of a point of this source and row. */
void otlp_describe(struct otlp_attributes *attributes, const vitals_row *row,
                   const struct otlp_source *source, const struct otlp_look *look);

/* Adds the id of a device: its UUID, or its index if it has none. Returns false if it has neither.
 */
bool otlp_describe_device(struct otlp_attributes *attributes, const char *key,
                          const vitals_row *gpu);

/* Adds the workload that a text of the row names; `row` may be NULL. The id of a workload without a
 * job contains the user's name, which is a hash if names are not exported. An id that is too long
 * is cut, with a hash of all of it, so that two ids stay different. */
void otlp_describe_workload(struct otlp_attributes *attributes, const vitals_row *row,
                            vitals_metric metric, const struct otlp_look *look);

/* Adds the workload of a run's first process, and what is known of it; nothing if no row states it.
 */
void otlp_describe_job(struct otlp_attributes *attributes, const vitals_row *process,
                       const struct otlp_look *look);
