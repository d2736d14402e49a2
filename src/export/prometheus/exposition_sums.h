/* exposition_sums.h: what is added up from moment to moment, since no single one holds it.
 *
 * What a workload did on a device outlives the processes that did it; when a source was last read,
 * and when an error was first seen, is known by who watched. One thread at a time. */
#ifndef VITALS_EXPORT_PROMETHEUS_EXPOSITION_SUMS_H
#define VITALS_EXPORT_PROMETHEUS_EXPOSITION_SUMS_H

#include <stdbool.h>

#include <vitals/vitals.h>

#include "export/prometheus/counter_map.h"

/* Zeros are an empty one. */
struct exposition_sums {
    uint64_t stream, sequence;    /* of the last moment; keys mean something within a stream */
    struct counter_map processes; /* by key of gpu_process: its busy seconds */
    struct counter_map workloads; /* by key of gpu and hash of the workload: busy seconds */
    struct counter_map sources;   /* by key of source: `last` is call_seconds, `value` what grew */
    struct counter_map errors;    /* by key of gpu: `last` counts Xids, `value` is the newest */
};

/* How long a workload that has no process on a device is remembered: then its sum begins anew. */
enum { SUMS_TURNS = 600 };

void exposition_sums_add(struct exposition_sums *sums, const vitals_snapshot *snapshot);
void exposition_sums_done(struct exposition_sums *sums);

/* The id of what a row of gpu_process works for; false: not known. */
bool exposition_workload_of(const vitals_row *row, vitals_text *id);

/* The state of a source; VITALS_UNSET: it says none. */
vitals_availability exposition_state_of(const vitals_row *row);

/* The key of a workload in `workloads`. */
uint64_t exposition_workload_key(vitals_text id);

#endif
