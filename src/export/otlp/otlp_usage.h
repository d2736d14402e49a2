/* otlp_usage.h: encodes a run's usage as OpenTelemetry's metrics: `process.*` for its first
 * process, `vitals.run.` for its tree, and the tree's use of each device.
 *
 * One thread. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "export/otlp/otlp_writer.h"
#include "export/usage_line.h"

struct otlp_job {
    int64_t pid;         /* of the first process; 0 if not known */
    uint64_t started_ns; /* since 1970: counters count from here */
};

/* Reads "job" of the export_config; missing values are `now_ns`, or 0. */
void otlp_job_read(const json_t *job, uint64_t now_ns, struct otlp_job *out);

/* Returns the row of the first process: that of the job's pid or, if it is not known, the oldest
 * one without a parent, whose pid is kept. NULL if it has no row. */
const vitals_row *otlp_job_process(struct otlp_job *job, const vitals_snapshot *snapshot);

void otlp_usage_write(struct otlp_writer *writer, struct counter_map *sums,
                      const struct usage_line *usage, const struct otlp_job *job);

/* Encodes the account (docs/account.md): counters continue from `last`, which may be NULL, and
 * never decrease; peaks, means, the exit code and the end are gauges. */
void otlp_account_write(struct otlp_writer *writer, const json_t *account,
                        const struct usage_line *last, const struct otlp_job *job, uint64_t now_ns);
