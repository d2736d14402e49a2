/* siphash.c: see siphash.h; J.-P. Aumasson, D. J. Bernstein: SipHash: a fast short-input PRF. */
#include "export/server/siphash.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "export/clock.h"

static uint64_t rotated(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

static void rounds(uint64_t v[4], unsigned count)
{
    for (; count > 0; count--) {
        v[0] += v[1];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[0] = rotated(v[0], 32);
        v[2] += v[3];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[2] = rotated(v[2], 32);
    }
}

/* Little-endian; the rest of a word is zeros. */
static uint64_t word_at(const unsigned char *bytes, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

uint64_t siphash(const uint64_t key[2], const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                     key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    size_t left = size;
    for (; left >= 8; left -= 8, at += 8) {
        uint64_t word = word_at(at, 8);
        v[3] ^= word;
        rounds(v, 2);
        v[0] ^= word;
    }
    uint64_t last = word_at(at, left) | (uint64_t)(size & 0xff) << 56;
    v[3] ^= last;
    rounds(v, 2);
    v[0] ^= last;
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- the key of this start ---- */

static pthread_once_t drawn = PTHREAD_ONCE_INIT;
static uint64_t start_key[2]; /* set by draw, and never after */

/* Where the kernel has no random bytes yet, the clocks are what is left. */
static void draw(void)
{
    if (getrandom(start_key, sizeof start_key, GRND_NONBLOCK) != (ssize_t)sizeof start_key) {
        start_key[0] = clock_now_ns();
        start_key[1] = clock_realtime_ns();
    }
}

uint64_t siphash_of_start(const void *bytes, size_t size)
{
    (void)pthread_once(&drawn, draw);
    return siphash(start_key, bytes, size);
}
