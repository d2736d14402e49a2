/* recording_options.h: what run, track and record have in common of where a recording goes.
 *
 * Thread rule: one thread. */
#ifndef VITALS_COMMAND_OPTIONS_RECORDING_OPTIONS_H
#define VITALS_COMMAND_OPTIONS_RECORDING_OPTIONS_H

#include "command/command.h"
#include "record/recorder.h"

/* Takes --rotate and --keep over; 0, or an exit code after what is wrong was said. */
int recording_take_rotation(struct recorder_options *options,
                            const struct recording_settings *recording);

/* Whether a recording can stand there: a regular file, or nothing yet. 0, or an exit code after
 * what is wrong was said; `option` is how the file was named ("--record "). */
int recording_check_place(const char *option, const char *path);

/* What to say behind the message of a recorder that could not be opened there: the way out where a
 * file is in the way, or "". `code` is what it returned. */
const char *recording_way_out(const struct recorder_options *options, const char *path, int code);

/* FILE.3.db of FILE.db: of the third of several runs. False where it is too long. */
bool recording_numbered(const char *path, uint64_t number, char *out, size_t capacity);

#endif
