/* exposition_sums.h: values that are accumulated over snapshots, because no single one has them.
 *
 * The device time of a workload includes that of ended processes; the last reading of a source and
 * the first sight of an error are known only from earlier snapshots. One thread at a time. */
#pragma once

#include <stdbool.h>

#include <vitals/vitals.h>

#include "export/counter_map.h"

/* All zeros is empty. */
struct exposition_sums {
    uint64_t stream, sequence;    /* of the last snapshot; keys are valid within a stream */
    struct counter_map processes; /* by key of gpu_process: its busy seconds */
    struct counter_map workloads; /* by exposition_workload_key: busy seconds */
    struct counter_map sources;   /* by key of source: `last` is call_seconds, `value` its growth */
    struct counter_map errors;    /* by key of gpu: `last` counts Xids, `value` is the newest */
};

void exposition_sums_add(struct exposition_sums *sums, const vitals_snapshot *snapshot);
void exposition_sums_done(struct exposition_sums *sums);

/* Returns the workload's id of a row of gpu_process; false if not known. */
bool exposition_workload_of(const vitals_row *row, vitals_text *id);

/* Returns the state of a source; VITALS_UNSET if it has none. */
vitals_availability exposition_state_of(const vitals_row *row);

/* Returns the key of a workload of a device in `workloads`. */
uint64_t exposition_workload_key(uint64_t gpu, vitals_text id);
