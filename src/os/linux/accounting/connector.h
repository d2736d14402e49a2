/* connector.h: receives the kernel's event of each birth (the process connector) and selects those
 * of some trees (births.h).
 *
 * Since Linux 6.6 any user may listen; before it needs CAP_NET_ADMIN. It works only in the initial
 * namespaces. The kernel does not report every event that it could not deliver. After the first
 * reported loss no more events are taken: if a pid was reused unnoticed, children of excluded
 * processes would count. Thread rule: one thread at a time; a fork of the process that opened it
 * only closes its descriptor. */
#pragma once

#include "os/ends.h"
#include "os/linux/linux.h"
#include "os/linux/process/births.h"

struct connector {
    const struct os *os;
    int socket;    /* -1: none */
    int64_t maker; /* a fork of it shares the socket */
    bool lossy;
    struct births births;
};

/* Expects zeros. A connector that was only initialized may be drained and closed; it receives no
 * events. */
void connector_init(struct connector *connector);

/* Begins to listen for births in those trees, and finds the processes that live there now. Returns
 * 0, or a negative errno: it then receives no events. */
int connector_open(struct connector *connector, const struct os *os, const struct os_trees *trees);

/* True if more events may arrive; false after a loss. */
bool connector_is_open(const struct connector *connector);

/* True if its buffer is small: an ordinary user gets the size that the administrator allows, by
 * default for some 500 births. */
bool connector_is_narrow(const struct connector *connector);

/* Takes all events that have arrived. */
void connector_drain(struct connector *connector);

/* Counts the processes born so far. */
void connector_read(const struct connector *connector, struct counted *out);

void connector_close(struct connector *connector);
