/* machine_source.h: the sources of the machine: what of it cannot be read on the tick thread.
 *
 * One source with a worker for each kind of host.h that is wanted, so that a file server that hangs
 * delays no sensor. A kind that does not answer is not asked again until it does; its values become
 * stale. A mount that hangs is left to its thread (source.h), up to eight of them. */
#ifndef VITALS_SAMPLER_MACHINE_SOURCE_H
#define VITALS_SAMPLER_MACHINE_SOURCE_H

#include "sampler/source.h"

/* Adds those that are wanted. Returns 0 or VITALS_EMEMORY. */
int machine_sources_add(struct sources *sources, const struct metric_set *wanted);

#endif
