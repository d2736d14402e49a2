/* run_config.h: the first line sent to the exporter (wire.h), which configures it: a member for
 * each destination, and the values that they share (docs/telling.md). That of a run is made here,
 * of the options of <vitals/record/exporter.h>, for the command and for programs alike.
 *
 * Command lines are passed on only as far as `command_line` permits, so that no mistake in the
 * exporter can export more. */
#pragma once

#include <vitals/record/exporter.h>

#include "feed/text.h"
#include "report/json_form.h"

/* Begin the line; `program`: "run", "track", "record", "serve", "send". */
void run_config_begin(struct json_form *form, struct buffer *out, const char *program);
void run_config_shared(struct json_form *form, const char *command_line, uint64_t interval_ns,
                       uint64_t patience_ns);

/* Puts nothing for NULL and "". */
void run_config_put(struct json_form *form, const char *key, const char *string);

/* Puts a destination with one value; nothing for NULL. */
void run_config_destination(struct json_form *form, const char *name, const char *key,
                            const char *value);

/* Writes the whole line of a run, without a newline. `out->failed`: memory is exhausted. */
void run_config_write(const char *program, const vitals_exporter_options *options,
                      struct buffer *out);
