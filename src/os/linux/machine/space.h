/* space.h: the space of a mounted file system, by statvfs.
 *
 * A dead file server holds the task that asks, beyond any signal, and a process does not end while
 * one of its threads is held. So a child process asks for the file systems that may do so (network,
 * FUSE): it shares nothing with this one and is left behind if it is held. The calling thread waits
 * for it all the same, but ends with its process. Thread rule:
 * workers, and callers of vitals_table_read. */
#pragma once

#include "os/linux/machine/mounts.h"

/* One reading: at most one child. Begins with zeros. */
struct space_reader {
    int64_t child; /* 0: not started; -1: this process asks itself */
    int socket;
};

/* Returns 0, or a negative errno. -ESTALE: another file system was mounted over it. */
int space_read(struct space_reader *reader, const struct os *os, const struct mount *mount,
               struct statvfs *space);
void space_done(struct space_reader *reader);
