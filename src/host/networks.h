/* networks.h: the table network, and what all interfaces together did.
 *
 * Counted are the interfaces whose traffic is no other's: never loopback; where there is hardware,
 * that alone, because what a bridge, a bond, a VLAN, a veth or a tunnel carries passes it too or
 * stays within the machine; where there is none, as in a container, the ends of links that lead out
 * of it (veth, macvlan); where not even those are, tunnels, and then whatever is left; last what
 * stands on another interface that is seen here, for its traffic passes that one.
 * Thread rule: the tick thread. */
#ifndef VITALS_HOST_NETWORKS_H
#define VITALS_HOST_NETWORKS_H

#include "host/devices.h"
#include "model/answer_cache.h"

/* As of disks.h. */
int networks_take(struct devices *networks, const struct os *os, const struct os_devices *reading,
                  struct values *machine);
void networks_write(const struct devices *networks, const struct answer_cache *cache,
                    vitals_builder *builder, uint64_t stamp_ns);

#endif
