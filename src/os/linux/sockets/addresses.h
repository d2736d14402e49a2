/* addresses.h: rows of the table network_address from what getifaddrs(3) gives.
 *
 * Thread rule: pure but for the facts. */
#ifndef VITALS_OS_LINUX_SOCKETS_ADDRESSES_H
#define VITALS_OS_LINUX_SOCKETS_ADDRESSES_H

#include "model/row_batch.h"
#include <ifaddrs.h>

/* One row per address; families other than inet, inet6 and link are passed over. */
void addresses_write(const struct ifaddrs *list, struct row_batch *out);

#endif
