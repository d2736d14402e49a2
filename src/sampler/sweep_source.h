/* sweep_source.h: the worker that looks through /proc for who has a GPU open.
 *
 * One for all vendors. It is asked only in ticks in which a back end waits for it, so a machine
 * without such a device never pays. Thread rule: the tick thread. */
#ifndef VITALS_SAMPLER_SWEEP_SOURCE_H
#define VITALS_SAMPLER_SWEEP_SOURCE_H

#include "gpu/sweep.h"
#include "model/builder.h"
#include "sampler/worker.h"

struct sweep_source;

/* NULL: no memory. Its thread begins with the first question. */
struct sweep_source *sweep_source_new(vitals_context *context, struct worker_event *event);

void sweep_source_tell_end(struct sweep_source *source);
void sweep_source_free(struct sweep_source *source, uint64_t deadline_ns);
void sweep_source_forget(struct sweep_source *source);

/* Asks for a sweep, unless one is on its way or was answered since sweep_source_begin. */
void sweep_source_begin(struct sweep_source *source);
void sweep_source_ask(struct sweep_source *source);

/* Takes an answer; *out is the newest there is, still the source's, or NULL. */
enum sweep_answer {
    SWEEP_NONE,  /* it may still come in this tick */
    SWEEP_FRESH, /* it is of this tick */
    SWEEP_OLD    /* there will be none in this tick: a driver hangs, or memory is out */
};
enum sweep_answer sweep_source_collect(struct sweep_source *source, struct gpu_sweep **out);

/* At the end of a tick: counts an answer that did not come. */
void sweep_source_late(struct sweep_source *source);

/* Its row in the table `source`; none where it was never asked. */
void sweep_source_write(const struct sweep_source *source, vitals_builder *builder,
                        uint64_t stamp_ns);

#endif
