/* hasher.h: compares passwords with their bcrypt hashes, which takes 50 ms and more each, by
 * libcrypt on a thread of its own, one after another.
 *
 * What waits is bounded, so that guessing costs one core at most and no memory. The thread belongs
 * to nobody: who closes does not wait for it, and whoever is last frees. */
#ifndef VITALS_EXPORT_SERVER_HASHER_H
#define VITALS_EXPORT_SERVER_HASHER_H

#include <stdbool.h>

enum {
    HASHER_WAITING = 32,   /* at once */
    HASHER_OF_ADDRESS = 2, /* of one address, which who asks must see to */
    HASHER_PASSWORD = 256,
    HASHER_HASH = 64
};

struct hasher;

/* One comparison; the caller's, and the hasher's from hasher_ask until hasher_next gives it back.
 */
struct comparison {
    char password[HASHER_PASSWORD];
    char hash[HASHER_HASH];
    bool equal; /* the answer */
    void *data; /* the caller's own */
    struct comparison *next;
};

/* Writes to the descriptor (an eventfd) when one is done. NULL: no memory or no thread. */
struct hasher *hasher_new(int notify);
void hasher_free(struct hasher *hasher); /* accepts NULL; frees what waits */

/* False: too many wait. */
bool hasher_ask(struct hasher *hasher, struct comparison *comparison);

/* One that is done, to be freed by comparison_free; NULL: none. */
struct comparison *hasher_next(struct hasher *hasher);

void comparison_free(struct comparison *comparison); /* wipes the password */

#endif
