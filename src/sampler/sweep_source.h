/* sweep_source.h: the source of all open GPU devices, by one pass over /proc.
 *
 * One for all vendors. It is asked only in ticks in which a back end waits for it, so a machine
 * without such a device never pays. A driver that hangs keeps its device and its thread (source.h);
 * up to four threads. */
#ifndef VITALS_SAMPLER_SWEEP_SOURCE_H
#define VITALS_SAMPLER_SWEEP_SOURCE_H

#include "gpu/sweep.h"
#include "sampler/source.h"

/* NULL: no memory. Its thread begins with the first question. */
struct source *sweep_source_add(struct sources *sources);

/* Asks for a sweep, unless one of this tick is on its way or was answered, and takes an answer.
 * *out is the newest there is, still the source's, or NULL. */
enum sweep_answer {
    SWEEP_NONE,  /* it may still come in this tick */
    SWEEP_FRESH, /* it is of this tick */
    SWEEP_OLD    /* there will be none in this tick: a driver hangs, or memory is out */
};
enum sweep_answer sweep_source_take(struct source *source, struct gpu_sweep **out);

#endif
