/* logins.h: users logged in, from bytes: records of utmp and files of logind's sessions.
 *
 * Pure, total, fuzzed. Borrowed strings point into the bytes. Thread rule: pure. */
#ifndef VITALS_OS_LINUX_MACHINE_LOGINS_H
#define VITALS_OS_LINUX_MACHINE_LOGINS_H

#include "util/cursor.h"

struct login {
    struct span user, terminal, host;
    struct span display;  /* of a session: the X display, by which utmp may call its terminal */
    double start_seconds; /* since 1970; 0: not known */
    uint64_t pid;         /* 0: not known */
};

/* The next record of a user in utmp from *at on, which is moved behind it; false at the end. A last
 * record that is not whole is none. */
bool login_next_utmp(const char *bytes, size_t size, size_t *at, struct login *out);

/* A file of /run/systemd/sessions; false where it is no session of a user, or one that closes. */
bool login_parse_session(const char *bytes, size_t size, struct login *out);

/* Whether both are one login: of one user, by one process or at one terminal. */
bool login_same(const struct login *record, const struct login *session);

#endif
