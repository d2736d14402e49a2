/* unprivileged.h: gives up the privileges of root after everything that needs them is open. */
#ifndef VITALS_EXPORT_SERVER_UNPRIVILEGED_H
#define VITALS_EXPORT_SERVER_UNPRIVILEGED_H

#include <jansson.h>

#include "export/server/web_config.h"

/* Changes the user from root to "nobody", for all threads and irrevocably; the program cannot be
 * dumped any more. If a file of the configuration can then not be read again, reports that. Does
 * nothing for other users, or if another publisher writes files. Errors: ESYSTEM (the kernel
 * refuses). */
int unprivileged_become(const json_t *hello, const struct web_config *config, vitals_error *error);

#endif
