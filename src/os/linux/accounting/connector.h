/* connector.h: receives the kernel's event of each birth (the process connector) and picks out
 * those of some trees (births.h). From Linux 6.6 on an ordinary user may listen; before it needs
 * CAP_NET_ADMIN. It works only in the first namespaces.
 *
 * The kernel does not report every event that it could not deliver. After the first loss that it
 * reports, no more events are taken: a pid that was reused unheard would make children of excluded
 * processes ours. Thread rule: one thread at a time; a fork of the process that opened it only
 * closes its descriptor. */
#ifndef VITALS_OS_LINUX_ACCOUNTING_CONNECTOR_H
#define VITALS_OS_LINUX_ACCOUNTING_CONNECTOR_H

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

/* Expects zeros. It may be drained and closed, and receives no events. */
void connector_init(struct connector *connector);

/* Begins to listen for what is born in those trees, and finds what lives there now. 0, or negative
 * errno: it hears of nothing. */
int connector_open(struct connector *connector, const struct os *os, const struct os_trees *trees);

/* Whether there is more to come; after a loss there is not. */
bool connector_is_open(const struct connector *connector);

/* Whether it keeps little: an ordinary user has the room that the administrator allows, by default
 * for some 500 births. */
bool connector_is_narrow(const struct connector *connector);

/* Takes all that has come until now. */
void connector_drain(struct connector *connector);

void connector_close(struct connector *connector);

#endif
