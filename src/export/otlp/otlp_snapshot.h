/* otlp_snapshot.h: encodes a snapshot as OpenTelemetry's metrics: the machine, its GPUs, workloads.
 *
 * Missing values have no point. A sum has the time of its reading, all else that of the snapshot.
 * One thread. */
#ifndef VITALS_EXPORT_OTLP_OTLP_SNAPSHOT_H
#define VITALS_EXPORT_OTLP_OTLP_SNAPSHOT_H

#include <jansson.h>
#include <vitals/vitals.h>

#include "export/otlp/otlp_series.h"
#include "export/otlp/otlp_writer.h"

/* Selection of processes, and how a user is named. */
struct otlp_look {
    enum { OTLP_PROCESSES_OFF, OTLP_PROCESSES_WORKLOAD, OTLP_PROCESSES_PID } processes;
    size_t most_processes;
    enum { OTLP_USER_NAME, OTLP_USER_UID, OTLP_USER_HASH, OTLP_USER_OFF } user;
    uint64_t since_ns; /* start of the exporter, since 1970 */
};

/* Reads "serve" of the export_config; NULL gives workloads, and users by name. */
void otlp_look_read(const json_t *serve, struct otlp_look *look);

void otlp_snapshot_write(struct otlp_writer *writer, struct otlp_series *series,
                         const vitals_snapshot *snapshot, const struct otlp_look *look);

#endif
