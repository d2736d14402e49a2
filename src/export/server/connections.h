/* connections.h: the open connections: how many there may be, and for how long.
 *
 * libmicrohttpd knows only a timeout of inactivity; here a whole request has a deadline. If all
 * places are taken, the connection that has waited longest without a complete request is closed,
 * so that thousands of idle connections keep no request out. A connection is cut off by shutting
 * its socket down; libmicrohttpd then closes it. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    CONNECTIONS_MAX = 256,           /* at once */
    CONNECTIONS_OF_ADDRESS_MAX = 64, /* of one address; Unix sockets have none */
    CONNECTIONS_ANSWERED_MAX = 40,   /* of those, with an answer under way */
    CONNECTIONS_STREAMS_MAX = 32,    /* event streams, which are not among those */
    CONNECTIONS_STREAMS_OF_ADDRESS_MAX = 16
};

#define CONNECTIONS_HEADER_NS  (2 * UINT64_C(1000000000))  /* first byte to last header */
#define CONNECTIONS_TOTAL_NS   (10 * UINT64_C(1000000000)) /* last header to end of the answer */
#define CONNECTIONS_FIRST_NS   (10 * UINT64_C(1000000000)) /* accept to first byte */
#define CONNECTIONS_IDLE_NS    (60 * UINT64_C(1000000000)) /* between two requests */
#define CONNECTIONS_STALLED_NS (20 * UINT64_C(1000000000)) /* a stream not being read */

enum connection_phase {
    CONNECTION_WAITING,
    CONNECTION_READING,
    CONNECTION_ANSWERED,
    CONNECTION_STREAMING,
    CONNECTION_PHASES
};

struct listener_config;

struct connection {
    struct connection *next;
    int descriptor;
    struct listener_config *config; /* that it was accepted under; counted by the caller */
    bool has_address;
    unsigned char address[16]; /* IPv4 addresses are mapped to IPv6 */
    enum connection_phase phase;
    uint64_t since_ns;    /* start of the phase; of a stream: when the client last read */
    uint64_t first_ns;    /* when the first byte of the next request was seen; 0: not yet */
    uint64_t bytes_taken; /* received until the end of the last request, counted by the kernel */
    bool asked_before;    /* at least one answer has been sent */
    bool paused;          /* suspended: the stream has sent all, or a password is compared */
    bool cut;
};

struct connections {
    struct connection *first;
    size_t count;                       /* without those that are cut */
    size_t in_phase[CONNECTION_PHASES]; /* likewise */
    uint64_t evicted, overdue, turned_away;
};

/* Adds a connection. Returns NULL if all places are taken by active ones, or without memory. */
struct connection *connections_admit(struct connections *connections, int descriptor,
                                     const struct sockaddr *address, uint64_t now_ns);

/* Removes a connection whose socket has been closed. */
void connections_remove(struct connections *connections, struct connection *connection);

void connection_enter_phase(struct connections *connections, struct connection *connection,
                            enum connection_phase phase, uint64_t now_ns);

/* Returns whether one more answer may be sent. If too many are under way, the one that has taken
 * longest is cut off, because its client reads too slowly. */
bool connections_make_room(struct connections *connections);

/* Returns whether the address of this connection may have one more event stream. */
bool connections_may_stream(const struct connections *connections,
                            const struct connection *accepted);

void connection_cut(struct connections *connections, struct connection *connection);

/* Returns whether both have the same address. False for Unix sockets, which have none. */
bool connection_same_address(const struct connection *one, const struct connection *other);

/* Cuts off connections of other configurations, unless an answer is under way. */
void connections_cut_outdated(struct connections *connections,
                              const struct listener_config *config);

/* Cuts off connections past their deadline. Returns the time until the next check, or UINT64_MAX
 * if there are no connections. */
uint64_t connections_sweep(struct connections *connections, uint64_t now_ns);
