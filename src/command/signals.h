/* signals.h: signals by name. */
#ifndef VITALS_COMMAND_SIGNALS_H
#define VITALS_COMMAND_SIGNALS_H

#include <stddef.h>

/* Of "TERM", "SIGTERM", "term", "15", "RTMIN+3". -1 after a message that suggests the nearest. */
int signal_number(const char *word);

/* The names by index; NULL after the last. */
const char *signal_word(size_t index);

/* "TERM"; `out` (16 bytes) is for those that have a number only. */
const char *signal_name(int number, char *out);

#endif
