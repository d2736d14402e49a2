/* exposition_run.h: the exposition of a run, in a file of its own: the families of runs.
 *
 * It has no families of the machine: another file or /metrics has them, and the collector that
 * reads them all must see a series once. Values are sampled while the run lives; at its end they
 * are the account's figures, and current values are removed. One thread at a time. */
#ifndef VITALS_EXPORT_PROMETHEUS_EXPOSITION_RUN_H
#define VITALS_EXPORT_PROMETHEUS_EXPOSITION_RUN_H

#include <jansson.h>
#include <stdint.h>

#include "export/body.h"

struct exposition_run;

/* Creates one from the export_config's job. `number` distinguishes it from other running ones on
 * the machine. Returns NULL if memory is out. */
struct exposition_run *exposition_run_new(const json_t *export_config, int64_t number,
                                          uint64_t now_ns);
void exposition_run_free(struct exposition_run *run); /* accepts NULL */

/* Takes the value of "usage". */
void exposition_run_usage(struct exposition_run *run, const json_t *usage);

/* Takes the last line; the end is that of the account, or `now_ns`, since 1970, if it has none or
 * is NULL. */
void exposition_run_end(struct exposition_run *run, const json_t *account, const json_t *status,
                        uint64_t now_ns);

/* Removes the current values: no more samples come. */
void exposition_run_leave(struct exposition_run *run);

/* Returns the text; the caller calls body_unref. NULL if memory is out. */
struct body *exposition_run_render(const struct exposition_run *run);

#endif
