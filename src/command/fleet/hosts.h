/* hosts.h: the machines of --hosts, for top and select. One thread. */
#pragma once

#include "command/command.h"
#include "fleet/fleet.h"

/* Reads the list and starts the process that asks: each machine once if `interval_ns` is 0. Returns
 * 0, or an exit code after a message; hosts_close is for both. */
int hosts_open(const struct settings *settings, uint64_t interval_ns, struct fleet *fleet,
               struct fleet_link **link);
void hosts_close(struct fleet *fleet, struct fleet_link *link);

/* Waits until something has come of each machine, which is at most what --host-timeout says for
 * each request. Returns 0, or an exit code after a message. */
int hosts_wait(const struct settings *settings, struct fleet *fleet, struct fleet_link *link);

/* Prints which machines do not answer, a line each, at most a few. Returns how many do. */
size_t hosts_tell_silent(const struct fleet *fleet);
