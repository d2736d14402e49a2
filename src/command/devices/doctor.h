/* doctor.h: how `vitals doctor` breaks the commands of a remedy. */
#ifndef VITALS_COMMAND_DEVICES_DOCTOR_H
#define VITALS_COMMAND_DEVICES_DOCTOR_H

#include <stddef.h>

/* Breaks a safe command line into lines of at most `columns` where a shell reads them as one: at
 * blanks outside of quotes and comments, behind which a backslash stands. Returns how many bytes of
 * `line` the first one takes; the backslash is needed where that is not all. */
size_t doctor_break(const char *line, size_t columns);

#endif
