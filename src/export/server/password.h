/* password.h: who may ask: users with passwords, as HTTP's basic authentication has them.
 *
 * A password that was right is known again by a keyed hash of it, of its user and of the hash that
 * it was compared with, each with its length, so that not every scrape costs a bcrypt. What was
 * wrong is not kept. One thread at a time. */
#ifndef VITALS_EXPORT_SERVER_PASSWORD_H
#define VITALS_EXPORT_SERVER_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>

#include "export/server/hasher.h"

enum { PASSWORD_USER = 128 };

struct password_user {
    char *name, *hash;
};

/* What an Authorization header holds. */
struct password_given {
    char user[PASSWORD_USER];
    char password[HASHER_PASSWORD];
};

/* False: it is missing, of another scheme, malformed or too long. */
bool password_parse(const char *authorization, struct password_given *out);

/* Whether it is a hash by bcrypt that can be compared within a second or two. */
bool password_hash_fits(const char *hash);

struct passwords;

/* Borrows the users. NULL: no memory, or no random numbers. */
struct passwords *passwords_new(const struct password_user *users, size_t count);
void passwords_free(struct passwords *passwords); /* accepts NULL */

/* Takes over what `from` knows: of users whose hash is another now it is worth nothing. */
void passwords_inherit(struct passwords *passwords, const struct passwords *from);

/* Whether this one was found right before. */
bool passwords_know(const struct passwords *passwords, const struct password_given *given);

/* The comparison to be made, against a hash that no password has where there is no such user, so
 * that it takes as long. NULL when memory is out. */
struct comparison *passwords_compare(const struct passwords *passwords,
                                     const struct password_given *given);

/* Whether it was right; keeps it if so. */
bool passwords_learn(struct passwords *passwords, const struct password_given *given,
                     const struct comparison *comparison);

#endif
