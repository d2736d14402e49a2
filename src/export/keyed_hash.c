/* keyed_hash.c: see keyed_hash.h. */
#include "export/keyed_hash.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static unsigned char key[KEYED_DIGEST]; /* written under key_once */

/* GnuTLS fails here only if its self-tests failed. Then names could not be hidden, and series of
 * different users would meet. */
static void require(int status)
{
    if (status < 0)
        abort();
}

static void draw_key(void)
{
    require(gnutls_rnd(GNUTLS_RND_KEY, key, sizeof key));
}

static uint64_t first_bytes(const unsigned char digest[KEYED_DIGEST])
{
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof hash; i++)
        hash = hash << 8 | digest[i];
    return hash;
}

void keyed_digest(const void *bytes, size_t size, unsigned char digest[static KEYED_DIGEST])
{
    (void)pthread_once(&key_once, draw_key);
    require(gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, sizeof key, bytes, size, digest));
}

uint64_t keyed_hash(const void *bytes, size_t size)
{
    unsigned char digest[KEYED_DIGEST];
    keyed_digest(bytes, size, digest);
    return first_bytes(digest);
}

uint64_t stable_hash(const void *bytes, size_t size)
{
    unsigned char digest[KEYED_DIGEST];
    require(gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, size, digest));
    return first_bytes(digest);
}
