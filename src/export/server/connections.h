/* connections.h: who is connected, how many may be, and for how long.
 *
 * The HTTP library knows only inactivity; here a whole request has a deadline. Where it is full,
 * who has sent nothing whole for longest makes room, so that thousands of connections that only
 * wait keep nobody out who asks. A connection is cut off by shutting its socket down; the library
 * closes it then. One thread. */
#ifndef VITALS_EXPORT_SERVER_CONNECTIONS_H
#define VITALS_EXPORT_SERVER_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    CONNECTIONS_MAX = 256,           /* at once */
    CONNECTIONS_OF_ADDRESS_MAX = 64, /* of one address; sockets in a folder have none */
    CONNECTIONS_ANSWERED_MAX = 40,   /* of those, being answered at once */
    CONNECTIONS_STREAMS_MAX = 32,    /* and listening to events, which the others do not count */
    CONNECTIONS_STREAMS_OF_ADDRESS_MAX = 16
};

#define CONNECTIONS_HEADER_NS \
    (2 * UINT64_C(1000000000)) /* from its first byte to its last header */
#define CONNECTIONS_TOTAL_NS   (10 * UINT64_C(1000000000)) /* from there to the end of the answer */
#define CONNECTIONS_FIRST_NS   (10 * UINT64_C(1000000000)) /* from connecting to the first byte */
#define CONNECTIONS_IDLE_NS    (60 * UINT64_C(1000000000)) /* between two requests */
#define CONNECTIONS_STALLED_NS (20 * UINT64_C(1000000000)) /* a stream that takes nothing */

enum connection_phase {
    CONNECTION_WAITING,
    CONNECTION_READING,
    CONNECTION_ANSWERED,
    CONNECTION_STREAMING,
    CONNECTION_PHASES
};

struct listener_config;

struct connection {
    struct connection *next, *previous;
    int descriptor;
    struct listener_config *config; /* that it was accepted under; the caller holds it */
    bool has_address;
    unsigned char address[16]; /* IPv4 as IPv6 has it */
    enum connection_phase phase;
    uint64_t since_ns;    /* the phase began; a stream: it last took something */
    uint64_t first_ns;    /* the first byte of the next request was seen; 0: none yet */
    uint64_t bytes_taken; /* until the end of the last request, as the kernel counts */
    bool asked_before;    /* it has had an answer */
    bool paused;          /* it waits for us: a stream that has had all, a password compared */
    bool cut;
};

struct connections {
    struct connection *first;
    size_t count;                       /* of those that are not cut */
    size_t in_phase[CONNECTION_PHASES]; /* likewise */
    uint64_t evicted, overdue, turned_away;
};

/* A connection of that socket, or NULL: there is no room that could be made, or no memory. */
struct connection *connections_admit(struct connections *connections, int descriptor,
                                     const struct sockaddr *address, uint64_t now_ns);

/* It has been closed. */
void connections_remove(struct connections *connections, struct connection *connection);

void connection_enter_phase(struct connections *connections, struct connection *connection,
                            enum connection_phase phase, uint64_t now_ns);

/* Whether one more may be answered. An answer leaves at once where it is taken: who has been taking
 * one for longest when there are too many is cut off for it. */
bool connections_make_room(struct connections *connections);

/* Whether one more of that address may listen to events. */
bool connections_may_stream(const struct connections *connections,
                            const struct connection *accepted);

void connection_cut(struct connections *connections, struct connection *connection);

/* Whether both come from the same; who comes through a folder has no address. */
bool connection_same_address(const struct connection *one, const struct connection *other);

/* Cuts off those of another configuration, unless they are being answered just now. */
void connections_cut_outdated(struct connections *connections,
                              const struct listener_config *config);

/* Cuts off who is overdue. Gives how long until the next look, UINT64_MAX where nobody is there. */
uint64_t connections_sweep(struct connections *connections, uint64_t now_ns);

#endif
