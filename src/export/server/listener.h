/* listener.h: the listening sockets. One thread. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <vitals/vitals.h>

enum { LISTENERS_MAX = 16, LISTENER_PATH = 108, LISTENER_NAME = 160 };

struct listener {
    int descriptor;
    bool inherited; /* inherited (socket activation) */
    bool beyond;    /* not a loopback address or Unix socket: other machines can connect */
    char name[LISTENER_NAME]; /* "127.0.0.1:9847", "[::1]:9847", "unix:/run/vitals.sock" */
    char path[LISTENER_PATH]; /* of a Unix socket that was created here */
    dev_t device;
    ino_t inode; /* of the file at that path, which is removed only if unchanged */
};

/* Opens an address and appends it to `listeners`:
 *     127.0.0.1:9847   [::1]:9847   0.0.0.0:9847    a numeric address; port 0: a free one
 *     localhost:9847                                127.0.0.1, and ::1 if there is IPv6
 *     unix:/run/vitals.sock                         accessible to its owner only
 *     fd:3                                          an inherited socket, as from systemd
 * Addresses at which an inherited socket listens are skipped. `lacks` names the protection that is
 * missing to listen beyond this machine, for the message; NULL: none is. Errors: EARGUMENT
 * (malformed, or not allowed), ESYSTEM (in use, not of this machine), EDENIED, EGONE (no such
 * folder). */
int listeners_open(const char *where, const char *lacks, struct listener *listeners, size_t *count,
                   vitals_error *error);

void listeners_close(struct listener *listeners, size_t count);
