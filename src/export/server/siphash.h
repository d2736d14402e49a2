/* siphash.h: SipHash-2-4, which without its key tells nothing of what was hashed. Any thread. */
#ifndef VITALS_EXPORT_SERVER_SIPHASH_H
#define VITALS_EXPORT_SERVER_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *bytes, size_t size);

/* With a key that this program draws at its start and never tells: the same text has the same hash
 * until it ends, and another in the next program. */
uint64_t siphash_of_start(const void *bytes, size_t size);

#endif
