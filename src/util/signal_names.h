/* signal_names.h: the names of signals, without SIG, as kill(1) lists them.
 *
 * Constant data, any thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

enum { SIGNAL_NAME_SIZE = 16 };

/* The names by index, with their numbers; NULL after the last. A number may have two names, the
 * usual one first. Real-time signals are not among them. */
const char *signal_names_at(size_t index, int *number);

/* "TERM"; NULL where the number has no such name. */
const char *signal_names_find(int number);

/* "TERM", "RTMIN+3", or the number of one without a name; `out` (SIGNAL_NAME_SIZE) may hold it. */
const char *signal_names_format(int number, char *out);

/* Writes the names of a mask in which bit 0 is signal 1, as /proc/PID/status has it, joined by
 * commas: RTMIN+3 for real-time signals, numbers for the two that the C library keeps for itself;
 * all, or empty for none. */
void signal_names_of_mask(uint64_t mask, struct buffer *out);
