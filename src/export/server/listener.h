/* listener.h: a socket that others come to. One thread. */
#ifndef VITALS_EXPORT_SERVER_LISTENER_H
#define VITALS_EXPORT_SERVER_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

#include <vitals/vitals.h>

enum { LISTENERS_MAX = 16, LISTENER_PATH = 108, LISTENER_NAME = 160 };

struct listener {
    int descriptor;
    bool handed;              /* by whoever started us */
    bool beyond;              /* the loopback and the file system: others' machines can come */
    char name[LISTENER_NAME]; /* "127.0.0.1:9847", "[::1]:9847", "unix:/run/vitals.sock" */
    char path[LISTENER_PATH]; /* of a socket in a folder that was made here */
    dev_t device;
    ino_t inode; /* what stands at the path, if it is still that */
};

/* Opens what was asked for, adding to `listeners`:
 *     127.0.0.1:9847   [::1]:9847   0.0.0.0:9847    an address; port 0 is one that is free
 *     localhost:9847                                127.0.0.1, and ::1 where there is one
 *     unix:/run/vitals.sock                         for its owner alone
 *     fd:3                                          one that was handed down, as systemd does
 * What a socket that was handed down listens at already is not opened again.
 * `lacks`: what is missing for it to be reached from elsewhere, for the message; NULL: it may.
 * Errors: EARGUMENT (no such address, or it may not be), ESYSTEM (in use, not of this machine),
 * EDENIED, EGONE (no such folder). */
int listeners_open(const char *where, const char *lacks, struct listener *listeners, size_t *count,
                   vitals_error *error);

void listeners_close(struct listener *listeners, size_t count);

#endif
