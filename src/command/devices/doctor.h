/* doctor.h: wraps the commands of a remedy in `vitals doctor`. */
#pragma once

#include <stddef.h>

/* Breaks a safe command line into lines of at most `columns` that a shell reads as one command: at
 * blanks outside of quotes and comments, with a backslash at the end. Returns the number of bytes
 * of `line` in the first part; the backslash is needed if that is not all. */
size_t doctor_break(const char *line, size_t columns);
