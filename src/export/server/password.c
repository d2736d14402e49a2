/* password.c: see password.h. */
#include "export/server/password.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "export/server/siphash.h"

enum { KNOWN = 64, COST_MAX = 14, HASH_SIZE = 60 };

/* Two hashes by two keys: 128 bits that nobody can guess without the keys. */
struct known {
    uint64_t words[2];
};

/* Right ones that are known; the oldest makes room. */
struct passwords {
    const struct password_user *users;
    size_t count;
    uint64_t keys[2][2];
    struct known known[KNOWN];
    size_t filled, next;
    char nobody[HASHER_HASH]; /* the hash of no password, as costly as that of a user */
};

/* ---- the header ---- */

static int digit64(char byte)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = byte != '\0' ? strchr(DIGITS, byte) : NULL;
    return at != NULL ? (int)(at - DIGITS) : -1;
}

/* Bytes of base64; false where it is malformed, too long, or holds a NUL. */
static bool decode(const char *text, char *out, size_t room)
{
    size_t size = strlen(text), used = 0;
    unsigned bits = 0, held = 0;
    while (size > 0 && text[size - 1] == '=')
        size--;
    for (size_t i = 0; i < size; i++) {
        int digit = digit64(text[i]);
        if (digit < 0 || used + 1 >= room)
            return false;
        held = (held << 6 | (unsigned)digit) & 0xfffU;
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        out[used] = (char)(held >> bits);
        if (out[used++] == '\0')
            return false;
    }
    out[used] = '\0';
    return true;
}

bool password_parse(const char *authorization, struct password_given *out)
{
    static const char BASIC[] = "Basic ";
    char both[PASSWORD_USER + HASHER_PASSWORD];
    bool fits = false;
    if (authorization == NULL || strncasecmp(authorization, BASIC, sizeof BASIC - 1) != 0)
        return false;
    const char *text = authorization + sizeof BASIC - 1;
    char *colon = decode(text + strspn(text, " "), both, sizeof both) ? strchr(both, ':') : NULL;
    if (colon != NULL && colon - both < PASSWORD_USER && strlen(colon + 1) < HASHER_PASSWORD) {
        *colon = '\0';
        memcpy(out->user, both, strlen(both) + 1);
        memcpy(out->password, colon + 1, strlen(colon + 1) + 1);
        fits = true;
    }
    explicit_bzero(both, sizeof both);
    return fits;
}

bool password_hash_fits(const char *hash)
{
    static const char DIGITS[] = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    if (strlen(hash) != HASH_SIZE || hash[0] != '$' || hash[1] != '2' ||
        strchr("aby", hash[2]) == NULL || hash[3] != '$' || hash[6] != '$' ||
        strspn(hash + 4, "0123456789") != 2 || strspn(hash + 7, DIGITS) != HASH_SIZE - 7)
        return false;
    int cost = (hash[4] - '0') * 10 + hash[5] - '0';
    return cost >= 4 && cost <= COST_MAX;
}

/* ---- those that are known ---- */

struct passwords *passwords_new(const struct password_user *users, size_t count)
{
    struct passwords *passwords = calloc(1, sizeof *passwords);
    if (passwords == NULL ||
        getrandom(passwords->keys, sizeof passwords->keys, 0) != (ssize_t)sizeof passwords->keys) {
        free(passwords);
        return NULL;
    }
    passwords->users = users;
    passwords->count = count;
    /* The salt and the cost of a user, and a digest that no password is likely to have. */
    memcpy(passwords->nobody, count > 0 ? users[0].hash : "", count > 0 ? HASH_SIZE : 0);
    for (size_t i = HASH_SIZE - 31; count > 0 && i < HASH_SIZE; i++)
        passwords->nobody[i] = '.';
    return passwords;
}

void passwords_free(struct passwords *passwords)
{
    if (passwords != NULL)
        explicit_bzero(passwords, sizeof *passwords);
    free(passwords);
}

void passwords_inherit(struct passwords *passwords, const struct passwords *from)
{
    memcpy(passwords->keys, from->keys, sizeof passwords->keys);
    memcpy(passwords->known, from->known, sizeof passwords->known);
    passwords->filled = from->filled;
    passwords->next = from->next;
}

static const char *hash_of(const struct passwords *passwords, const char *user)
{
    for (size_t i = 0; i < passwords->count; i++) {
        if (strcmp(passwords->users[i].name, user) == 0)
            return passwords->users[i].hash;
    }
    return NULL;
}

static struct known digest(const struct passwords *passwords, const struct password_given *given,
                           const char *hash)
{
    char bytes[PASSWORD_USER + HASHER_HASH + HASHER_PASSWORD + 3];
    size_t size = 0;
    const char *const parts[] = {given->user, hash, given->password};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t length = strlen(parts[i]) + 1; /* with its NUL, which none of them holds */
        memcpy(bytes + size, parts[i], length);
        size += length;
    }
    struct known value = {
        {siphash(passwords->keys[0], bytes, size), siphash(passwords->keys[1], bytes, size)}};
    explicit_bzero(bytes, sizeof bytes);
    return value;
}

bool passwords_know(const struct passwords *passwords, const struct password_given *given)
{
    const char *hash = hash_of(passwords, given->user);
    if (hash == NULL)
        return false;
    struct known value = digest(passwords, given, hash);
    bool known = false;
    for (size_t i = 0; i < passwords->filled; i++)
        known |= ((passwords->known[i].words[0] ^ value.words[0]) |
                  (passwords->known[i].words[1] ^ value.words[1])) == 0;
    return known;
}

struct comparison *passwords_compare(const struct passwords *passwords,
                                     const struct password_given *given)
{
    struct comparison *comparison = calloc(1, sizeof *comparison);
    const char *hash = hash_of(passwords, given->user);
    if (comparison == NULL)
        return NULL;
    if (hash == NULL)
        hash = passwords->nobody;
    memcpy(comparison->password, given->password, sizeof comparison->password);
    memcpy(comparison->hash, hash, strlen(hash) + 1);
    return comparison;
}

bool passwords_learn(struct passwords *passwords, const struct password_given *given,
                     const struct comparison *comparison)
{
    const char *hash = hash_of(passwords, given->user);
    if (!comparison->equal || hash == NULL || strcmp(hash, comparison->hash) != 0)
        return false;
    passwords->known[passwords->next] = digest(passwords, given, hash);
    passwords->next = (passwords->next + 1) % KNOWN;
    passwords->filled += passwords->filled < KNOWN;
    return true;
}
