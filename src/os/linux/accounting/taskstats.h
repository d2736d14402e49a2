/* taskstats.h: receives the kernel's record of each task that ends anywhere on the machine
 * (taskstats). Needs CAP_NET_ADMIN in the first namespaces. exit_records.h and ends.c find the tree
 * that a record belongs to.
 *
 * Thread rule: one thread at a time; a fork of the process that opened it only closes its
 * descriptor. */
#ifndef VITALS_OS_LINUX_ACCOUNTING_TASKSTATS_H
#define VITALS_OS_LINUX_ACCOUNTING_TASKSTATS_H

#include "os/linux/accounting/exit_records.h"
#include "os/linux/linux.h"

/* The attributes of the one message of generic netlink that an answer is. 0, the errno that it is,
 * or -EBADMSG. */
int linux_parse_generic(const char *bytes, size_t size, struct cursor *attributes);

enum { EXIT_LISTENER_CPUS = 512 };

struct exit_listener {
    const struct os *os;
    int socket; /* -1: none */
    uint16_t family;
    char cpus[EXIT_LISTENER_CPUS]; /* as the kernel was told; empty: it was not */
    bool lossy;                    /* it could not deliver every one */
    int64_t maker;                 /* a fork of it shares the socket */
};

/* 0, or negative errno: it is closed. */
int exit_listener_open(struct exit_listener *listener, const struct os *os);

/* Hands over every record that has come until now, in the order of ends of each CPU. */
void exit_listener_drain(struct exit_listener *listener,
                         void (*take)(void *data, const struct exit_record *record), void *data);

/* One that was opened in vain, or closed before, may be closed. */
void exit_listener_close(struct exit_listener *listener);

#endif
