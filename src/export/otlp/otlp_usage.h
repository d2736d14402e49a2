/* otlp_usage.h: what a run used as OpenTelemetry's metrics: `process.*` for its first process, and
 * `vitals.run.` with our own names for its tree, and what its tree used of each device.
 *
 * One thread. */
#ifndef VITALS_EXPORT_OTLP_OTLP_USAGE_H
#define VITALS_EXPORT_OTLP_OTLP_USAGE_H

#include <jansson.h>
#include <stdint.h>

#include "export/otlp/otlp_series.h"
#include "export/otlp/otlp_writer.h"

struct otlp_job {
    int64_t pid;         /* of the first process; 0: not known */
    uint64_t started_ns; /* since 1970: counters count from here */
};

/* As "job" of the first line has it; what it lacks is `now_ns`, or 0. */
void otlp_job_read(const json_t *job, uint64_t now_ns, struct otlp_job *out);

/* The row of the first process: of the job's pid, or, where that is not known, the eldest without a
 * parent among them, whose pid it becomes. NULL: it has none. */
const vitals_row *otlp_job_process(struct otlp_job *job, const vitals_snapshot *snapshot);

/* What stands under "usage" of a line of the wire (usage_line.h). */
void otlp_usage_write(struct otlp_writer *writer, struct otlp_series *series, const json_t *usage,
                      const struct otlp_job *job);

/* The account at the end (docs/account.md): counters go on where `last`, which may be NULL, left
 * them and never back; peaks, means, the exit code and the end are gauges. */
void otlp_account_write(struct otlp_writer *writer, const json_t *account, const json_t *last,
                        const struct otlp_job *job, uint64_t now_ns);

#endif
