/* password.c: see password.h. */
#include "export/server/password.h"

#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "util/base.h"
#include "util/thread.h"

#if VITALS_WITH_CRYPT
#include <crypt.h>
#endif

enum { COST_MAX = 14, HASH_SIZE = 60, HASH_SALT_SIZE = 29 };

struct password_comparison {
    pthread_t thread;
    int notify;
    atomic_bool done;
    bool equal; /* written by the thread */
    bool unknown_user;
    char password[PASSWORD_SIZE], hash[HASH_SIZE + 1];
    struct password_digest digest;
#if VITALS_WITH_CRYPT
    struct crypt_data work;
#endif
};

/* ---- header and configuration ---- */

bool password_parse(const char *authorization, struct password_given *out)
{
    static const char BASIC[] = "Basic ";
    gnutls_datum_t decoded;

    if (authorization == NULL || strncasecmp(authorization, BASIC, sizeof BASIC - 1) != 0)
        return false;
    const char *text = authorization + sizeof BASIC - 1;
    text += strspn(text, " ");
    const gnutls_datum_t encoded = {(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)};
    if (encoded.size == 0 || gnutls_base64_decode2(&encoded, &decoded) < 0)
        return false;

    const char *user = (const char *)decoded.data;
    const char *colon = decoded.size > 0 ? memchr(user, ':', decoded.size) : NULL;
    bool fits = colon != NULL && memchr(user, '\0', decoded.size) == NULL;
    if (fits) {
        size_t user_size = (size_t)(colon - user), password_size = decoded.size - user_size - 1;
        fits = user_size < sizeof out->user && password_size < sizeof out->password;
        if (fits) {
            memcpy(out->user, user, user_size);
            out->user[user_size] = '\0';
            memcpy(out->password, colon + 1, password_size);
            out->password[password_size] = '\0';
        }
    }
    explicit_bzero(decoded.data, decoded.size);
    gnutls_free(decoded.data);
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

/* Returns NULL if there is no such user. */
static const char *hash_of(const struct password_users *users, const char *name)
{
    for (size_t i = 0; i < users->count; i++) {
        if (strcmp(users->list[i].name, name) == 0)
            return users->list[i].hash;
    }
    return NULL;
}

/* ---- passwords that were right ---- */

/* Each part is hashed with its NUL, so that two different triples never give the same bytes
 * (CVE-2022-46146). */
static struct password_digest digest_of(const struct password_given *given, const char *hash)
{
    struct password_digest digest;
    char bytes[PASSWORD_USER + HASH_SIZE + 1 + PASSWORD_SIZE];
    const char *const parts[] = {given->user, hash, given->password};
    size_t size = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t length = strlen(parts[i]) + 1;
        memcpy(bytes + size, parts[i], length);
        size += length;
    }
    keyed_digest(bytes, size, digest.bytes);
    explicit_bzero(bytes, sizeof bytes);
    return digest;
}

bool password_is_known(const struct password_cache *cache, const struct password_users *users,
                       const struct password_given *given)
{
    const char *hash = hash_of(users, given->user);
    bool known = false;
    if (hash == NULL)
        return false;
    struct password_digest digest = digest_of(given, hash);
    for (size_t i = 0; i < cache->filled; i++)
        known |= gnutls_memcmp(cache->known[i].bytes, digest.bytes, KEYED_DIGEST) == 0;
    return known;
}

/* ---- comparisons ---- */

static void comparison_free(struct password_comparison *comparison)
{
    explicit_bzero(comparison, sizeof *comparison);
    free(comparison);
}

#if VITALS_WITH_CRYPT
static void *compare(void *data)
{
    struct password_comparison *comparison = data;
    const uint64_t one = 1;
    const char *made = crypt_rn(comparison->password, comparison->hash, &comparison->work,
                                (int)sizeof comparison->work);
    comparison->equal = made != NULL && strlen(made) == HASH_SIZE &&
                        gnutls_memcmp(made, comparison->hash, HASH_SIZE) == 0;
    atomic_store(&comparison->done, true);
    ssize_t written = write(comparison->notify, &one, sizeof one);
    (void)written;
    return NULL;
}

struct password_comparison *comparison_start(const struct password_users *users,
                                             const struct password_given *given, int notify)
{
    struct password_comparison *comparison = calloc(1, sizeof *comparison);
    const char *hash = hash_of(users, given->user);
    if (comparison == NULL)
        return NULL;
    comparison->notify = notify;
    atomic_init(&comparison->done, false);
    comparison->unknown_user = hash == NULL;
    memcpy(comparison->password, given->password, sizeof comparison->password);
    memcpy(comparison->hash, hash != NULL ? hash : users->list[0].hash, HASH_SIZE);
    if (hash == NULL) /* the cost and salt of another user */
        memset(comparison->hash + HASH_SALT_SIZE, '.', HASH_SIZE - HASH_SALT_SIZE);

    comparison->digest = digest_of(given, comparison->hash);
    if (thread_start(&comparison->thread, "vitals-password", 0, compare, comparison) == 0)
        return comparison;
    comparison_free(comparison);
    return NULL;
}
#else
struct password_comparison *comparison_start(const struct password_users *users UNUSED,
                                             const struct password_given *given UNUSED,
                                             int notify UNUSED)
{
    return NULL;
}
#endif

bool comparison_is_done(const struct password_comparison *comparison)
{
    return atomic_load(&comparison->done);
}

bool comparison_finish(struct password_comparison *comparison, struct password_cache *cache)
{
    (void)pthread_join(comparison->thread, NULL);
    bool right = comparison->equal && !comparison->unknown_user;
    if (right) {
        cache->known[cache->next] = comparison->digest;
        cache->next = (cache->next + 1) % PASSWORDS_KNOWN;
        cache->filled += cache->filled < PASSWORDS_KNOWN;
    }
    comparison_free(comparison);
    return right;
}
