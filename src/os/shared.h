/* shared.h: memory that two processes of ours share, and files that are replaced as a whole.
 *
 * Thread rule: any thread, its own memory and its own path each. */
#pragma once

#include "util/base.h"

/* Zeroed pages that a child forked later shares; a page that is never written costs nothing. NULL
 * if there are none. */
void *os_shared_new(size_t size);
void os_shared_free(void *memory, size_t size); /* accepts NULL */

/* Replaces the file at the path in one step: a reader finds the old or the new bytes, never a part,
 * whenever we are killed. Only our user may read it (mode 0600). 0 or a negative errno; on failure
 * the old one stands. */
int os_replace_file(const char *path, const void *bytes, size_t size);
