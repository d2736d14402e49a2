/* select_environment.h: the environment variables that tell a job which devices are its own. */
#ifndef VITALS_COMMAND_DEVICES_SELECT_ENVIRONMENT_H
#define VITALS_COMMAND_DEVICES_SELECT_ENVIRONMENT_H

#include "command/command.h"

/* The environment of a job on these devices, all of one vendor: ours, without what would hide some
 * of them, and with the variable of their vendor. 0, or -1: out of memory. */
struct environment {
    char **items; /* ends with NULL */
    char *own;    /* the one that was made */
};
int select_environment(const vitals_row *const *rows, size_t count, struct environment *out);
void select_environment_done(struct environment *environment);

/* The identifier of a device; its number among those of its vendor, partitions counted; and the
 * variable that its vendor's programs read, NULL if none is known. */
enum { SELECT_ID = 128 };
void select_uuid(const vitals_row *row, char out[static SELECT_ID]);
uint64_t select_ordinal(const vitals_row *row);
const char *select_variable(const vitals_row *row);

#endif
