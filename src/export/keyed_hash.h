/* keyed_hash.h: short hashes of text from outside, made by GnuTLS. Any thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* HMAC-SHA256 with a random key that lives as long as this process: equal texts have equal hashes,
 * but the hash does not allow to try out texts, and the next process gives another one. */
uint64_t keyed_hash(const void *bytes, size_t size);

/* All of it. */
enum { KEYED_DIGEST = 32 };
void keyed_digest(const void *bytes, size_t size, unsigned char digest[static KEYED_DIGEST]);

/* SHA-256: the same in every process. Printed as %016llx it is the start of what sha256sum prints.
 */
uint64_t stable_hash(const void *bytes, size_t size);
