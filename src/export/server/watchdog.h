/* watchdog.h: ends this program once nobody feeds it any more, whatever its threads wait for.
 *
 * A thread of its own, which blocks all signals and takes no lock. */
#ifndef VITALS_EXPORT_SERVER_WATCHDOG_H
#define VITALS_EXPORT_SERVER_WATCHDOG_H

#include <stdint.h>

/* So long after the other end of the descriptor was closed, read or not. Once; where there can be
 * no thread, nobody watches. */
void watchdog_start(int descriptor, uint64_t patience_ns);

#endif
