/* watchdog.h: ends this program some time after its input was closed, whatever its threads wait
 * for.
 *
 * A thread of its own, which blocks all signals and takes no lock. */
#ifndef VITALS_EXPORT_SERVER_WATCHDOG_H
#define VITALS_EXPORT_SERVER_WATCHDOG_H

#include <stdint.h>

/* Ends the process `patience_ns` after the other end of the descriptor was closed, even if input
 * is left to read. To be called once. Without a thread there is no watchdog. */
void watchdog_start(int descriptor, uint64_t patience_ns);

#endif
