/* workload_source.h: the source of the table workload: which processes work for what, and what the
 * cgroups of that count.
 *
 * The processes' own worker says what each works for; when a tick has that, another worker reads
 * the files of the cgroups, and the tick waits for it as for the others. Reading takes at most a
 * fiftieth of the wall time: with many workloads, figures are older. */
#ifndef VITALS_SAMPLER_WORKLOAD_SOURCE_H
#define VITALS_SAMPLER_WORKLOAD_SOURCE_H

#include "sampler/source.h"

/* Adds it if the table is wanted. Returns 0 or VITALS_EMEMORY. */
int workload_source_add(struct sources *sources, const struct metric_set *wanted);

#endif
