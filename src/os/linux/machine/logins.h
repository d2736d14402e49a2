/* logins.h: parsers for users logged in: records of utmp and files of logind's sessions. Pure,
 * total, fuzzed. Borrowed strings point into the bytes. Thread rule: pure. */
#pragma once

#include "util/cursor.h"

struct login {
    struct span user, terminal, host;
    struct span display;  /* of a session: the X display, which utmp may have as the terminal */
    double start_seconds; /* since 1970; 0: not known */
    uint64_t pid;         /* 0: not known */
};

/* Takes the next record of a user in utmp from *at, and advances it; returns false at the end. An
 * incomplete last record is ignored. */
bool login_next_utmp(const char *bytes, size_t size, size_t *at, struct login *out);

/* Parses a file of /run/systemd/sessions; returns false if it is not a user's session, or a closing
 * one. */
bool login_parse_session(const char *bytes, size_t size, struct login *out);

/* True if both are one login: of one user, by one process or at one terminal. */
bool login_same(const struct login *record, const struct login *session);
