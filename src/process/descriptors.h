/* descriptors.h: how many descriptors are left to workers and to the program.
 *
 * The kernel gives the lowest number that is free, so a high one tells that few are left in the
 * whole program. Thread rule: pure but for the limit, which is the whole program's. */
#ifndef VITALS_PROCESS_DESCRIPTORS_H
#define VITALS_PROCESS_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/* From this number on a descriptor is one of the last: of 64, or an eighth of all where those are
 * fewer. */
uint64_t descriptors_ceiling(void);

static inline bool descriptors_is_high(uint64_t ceiling, int descriptor)
{
    return descriptor >= 0 && (uint64_t)descriptor >= ceiling;
}

#endif
