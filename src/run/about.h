/* about.h: the facts of a run beside its figures: command, user, host, folder and time.
 *
 * Nothing here may wait for a network: a user is looked up in /etc/passwd alone.
 * Thread rule: any thread. */
#ifndef VITALS_RUN_ABOUT_H
#define VITALS_RUN_ABOUT_H

#include "sampler/context.h"
#include <vitals/account.h>

/* Sets command (of argv, where there is one), working_directory, user, host, boot_id, version and
 * started_ns (`begin_ns` as the realtime clock has it). What finds no memory is missing. */
void about_fill(vitals_account *account, const vitals_context *context, const char *const *argv,
                uint64_t begin_ns);

#endif
