/* disks.h: the table disk, and what all disks together did.
 *
 * Counted is a whole disk that stands on no other: no partition, nothing in memory or in a file, no
 * dm, md or their like, whose bytes are counted below them, and of an NVMe device with several
 * paths the device and not its paths. What a loop device holds is counted where its file lies; a
 * disk that a server holds (nbd, rbd) is counted here. Where none is counted there are no sums.
 * Thread rule: the tick thread. */
#ifndef VITALS_HOST_DISKS_H
#define VITALS_HOST_DISKS_H

#include "host/devices.h"
#include "model/answer_cache.h"

/* Takes a reading, and sets the sums among the machine's values where it was one. Returns 0 or
 * VITALS_EMEMORY. */
int disks_take(struct devices *disks, const struct os *os, const struct os_devices *reading,
               struct values *machine);

/* Writes the rows into the open table. */
void disks_write(const struct devices *disks, const struct answer_cache *cache,
                 vitals_builder *builder, uint64_t stamp_ns);

#endif
