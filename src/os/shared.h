/* shared.h: memory that two processes of ours share, and files that are replaced as a whole.
 *
 * Thread rule: any thread, its own memory and its own path each. */
#ifndef VITALS_OS_SHARED_H
#define VITALS_OS_SHARED_H

#include "util/base.h"

/* Zeroed pages that a child which is forked later has too; a page that nobody writes costs nothing.
 * NULL where there are none. */
void *os_shared_new(size_t size);
void os_shared_free(void *memory, size_t size); /* accepts NULL */

/* Puts the bytes at the path in one step: whoever reads it finds the old or the new, never a part,
 * whenever we are killed. The file is ours alone (mode 0600). 0 or a negative errno; on failure the
 * old one stands. */
int os_replace_file(const char *path, const void *bytes, size_t size);

#endif
