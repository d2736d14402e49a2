/* unprivileged.h: gives up root's rights, once everything that needs them is open. */
#ifndef VITALS_EXPORT_SERVER_UNPRIVILEGED_H
#define VITALS_EXPORT_SERVER_UNPRIVILEGED_H

#include <jansson.h>

#include "export/server/web_config.h"

/* Of root makes "nobody", for good and all threads of this program, which the kernel may not even
 * dump any more. The configuration has been read by then; where only root could read it again once
 * it changes, says so. Stays root where another publisher of the first line writes files. Who is
 * not root stays who he is. Errors: ESYSTEM (the kernel refuses). */
int unprivileged_become(const json_t *hello, const struct web_config *config, vitals_error *error);

#endif
