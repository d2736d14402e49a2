/* exposition_run.h: what a run tells of itself in a file of its own: the families of runs.
 *
 * Of the machine it tells nothing: another file or /metrics does, and a series stands once for the
 * collector that reads them all. Sampled while it runs; at the end it has the account's figures,
 * which the kernel counted, and no gauge of now. One thread at a time. */
#ifndef VITALS_EXPORT_PROMETHEUS_EXPOSITION_RUN_H
#define VITALS_EXPORT_PROMETHEUS_EXPOSITION_RUN_H

#include <jansson.h>
#include <stdint.h>

#include "export/body.h"

struct exposition_run;

/* Of the first line's job. `number` is a number of it that no other run of the machine has
 * meanwhile. NULL when memory is out. */
struct exposition_run *exposition_run_new(const json_t *export_config, int64_t number,
                                          uint64_t now_ns);
void exposition_run_free(struct exposition_run *run); /* accepts NULL */

/* What stands under "usage". */
void exposition_run_usage(struct exposition_run *run, const json_t *usage);

/* The last line, whose account says when; where it does not, or is NULL, it is `now_ns`, since
 * 1970. */
void exposition_run_end(struct exposition_run *run, const json_t *account, const json_t *status,
                        uint64_t now_ns);

/* Nobody says any more how it goes on: what is of now is left out from here on. */
void exposition_run_leave(struct exposition_run *run);

/* The text; the caller's to body_unref. NULL when memory is out. */
struct body *exposition_run_render(const struct exposition_run *run);

#endif
