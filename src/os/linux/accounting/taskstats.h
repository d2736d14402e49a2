/* taskstats.h: receives the kernel's record of each task that ends anywhere on the machine
 * (taskstats). Needs CAP_NET_ADMIN in the initial namespaces. exit_records.h and ends.c find the
 * tree of a record. Thread rule: one thread at a time; a fork of the process that opened it only
 * closes its descriptor. */
#pragma once

#include "os/linux/accounting/exit_records.h"
#include "os/linux/linux.h"

/* Parses the attributes of a generic netlink answer of one message. Returns 0, the message's errno,
 * or -EBADMSG. */
int linux_parse_generic(const char *bytes, size_t size, struct cursor *attributes);

enum { EXIT_LISTENER_CPUS = 512 };

struct exit_listener {
    const struct os *os;
    int socket; /* -1: none */
    uint16_t family;
    char cpus[EXIT_LISTENER_CPUS]; /* as registered with the kernel; empty: not registered */
    bool lossy;                    /* the kernel could not deliver all records */
    int64_t maker;                 /* a fork of it shares the socket */
};

/* Returns 0, or a negative errno: the listener is then closed. */
int exit_listener_open(struct exit_listener *listener, const struct os *os);

/* Passes on every record that has arrived, in the order of ends of each CPU. */
void exit_listener_drain(struct exit_listener *listener,
                         void (*take)(void *data, const struct exit_record *record), void *data);

/* Accepts a listener that failed to open, or is closed already. */
void exit_listener_close(struct exit_listener *listener);
