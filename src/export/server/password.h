/* password.h: users and passwords of HTTP basic authentication.
 *
 * A comparison with bcrypt takes 50 ms to 2 s, so each runs on a thread of its own. A password that
 * was right is recognized afterwards by a keyed hash of user, hash and password, so that a scrape
 * does not cost a bcrypt each time. Wrong passwords are not kept. One thread at a time, besides the
 * threads that are started here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "export/keyed_hash.h"

enum { PASSWORD_USER = 128, PASSWORD_SIZE = 256, PASSWORDS_KNOWN = 64 };

/* A user of the configuration, with the bcrypt hash of the password. */
struct password_user {
    char *name, *hash;
};

struct password_users {
    struct password_user *list;
    size_t count;
};

/* The content of an Authorization header. */
struct password_given {
    char user[PASSWORD_USER];
    char password[PASSWORD_SIZE];
};

/* Returns false if the header is missing (NULL), of another scheme, malformed or too long. */
bool password_parse(const char *authorization, struct password_given *out);

/* Returns whether it is a bcrypt hash of a cost from 4 to 14. */
bool password_hash_fits(const char *hash);

struct password_digest {
    unsigned char bytes[KEYED_DIGEST];
};

/* The newest passwords that were right. All zeros is empty. */
struct password_cache {
    struct password_digest known[PASSWORDS_KNOWN];
    size_t filled, next; /* the oldest is replaced */
};

/* Returns whether this password of this user was right before and the user still has that hash. */
bool password_is_known(const struct password_cache *cache, const struct password_users *users,
                       const struct password_given *given);

/* A comparison that runs. */
struct password_comparison;

/* Starts one. For an unknown user it takes as long and fails. Writes to `notify`, an eventfd, when
 * it is done. Returns NULL if there is no memory or no thread. */
struct password_comparison *comparison_start(const struct password_users *users,
                                             const struct password_given *given, int notify);

bool comparison_is_done(const struct password_comparison *comparison);

/* Waits for its end, frees it and returns whether the password was right. If so, adds it to the
 * cache. */
bool comparison_finish(struct password_comparison *comparison, struct password_cache *cache);
