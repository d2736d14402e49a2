/* otlp_snapshot.h: a snapshot as OpenTelemetry's metrics: the machine, its GPUs, what works on it.
 *
 * Missing values have no point. Sums are of the moment at which they were read, all else of the
 * snapshot's. One thread. */
#ifndef VITALS_EXPORT_OTLP_OTLP_SNAPSHOT_H
#define VITALS_EXPORT_OTLP_OTLP_SNAPSHOT_H

#include <jansson.h>
#include <vitals/vitals.h>

#include "export/otlp/otlp_series.h"
#include "export/otlp/otlp_writer.h"

/* Which processes are told of, and how a user is named. */
struct otlp_look {
    enum { OTLP_PROCESSES_OFF, OTLP_PROCESSES_WORKLOAD, OTLP_PROCESSES_PID } processes;
    size_t most_processes;
    enum { OTLP_USER_NAME, OTLP_USER_UID, OTLP_USER_HASH, OTLP_USER_OFF } user;
    uint64_t since_ns; /* since 1970: when we began to look */
};

/* As "serve" of the first line has it; of NULL: workloads, users by name. */
void otlp_look_read(const json_t *serve, struct otlp_look *look);

void otlp_snapshot_write(struct otlp_writer *writer, struct otlp_series *series,
                         const vitals_snapshot *snapshot, const struct otlp_look *look);

#endif
