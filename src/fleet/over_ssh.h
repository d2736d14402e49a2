/* over_ssh.h: asks machines on which no server runs: starts `vitals --json` there over ssh, a
 * process for each machine that goes on as long as it answers. A machine whose ssh fails says ssh's
 * last words; ssh never asks for a password. Reading never waits. One thread. */
#pragma once

#include "fleet/fleet.h"

struct over_ssh;

/* An interval of 0: each once. A machine is silent that says nothing for the timeout and an
 * interval. Errors: EMEMORY, ESYSTEM. */
int over_ssh_open(const struct fleet *fleet, uint64_t interval_ns, uint64_t timeout_ns,
                  struct over_ssh **out, vitals_error *error);
void over_ssh_close(struct over_ssh *own); /* accepts NULL */

/* The descriptor that can be read when something came, or is due. */
int over_ssh_descriptor(const struct over_ssh *own);

/* Takes what has come. Returns how many answers that were. */
int over_ssh_read(struct over_ssh *own, struct fleet *fleet);
