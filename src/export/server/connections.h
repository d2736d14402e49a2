/* connections.h: who is connected, how many may be, and for how long.
 *
 * The HTTP library knows only inactivity; here a whole request has a deadline. Where it is full,
 * who has sent nothing whole for longest makes room, so that thousands of connections that only
 * wait keep nobody out who asks. A guest is cut off by shutting its socket down; the library closes
 * it then. One thread. */
#ifndef VITALS_EXPORT_SERVER_CONNECTIONS_H
#define VITALS_EXPORT_SERVER_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    GUESTS_MAX = 256,           /* at once */
    GUESTS_OF_ADDRESS_MAX = 64, /* of one address; sockets in a folder have none */
    GUESTS_ANSWERED_MAX = 40,   /* of those, being answered at once */
    GUESTS_STREAMS_MAX = 32,    /* and listening to events, which the others do not count */
    GUESTS_STREAMS_OF_ADDRESS_MAX = 16
};

#define GUESTS_HEADER_NS  (2 * UINT64_C(1000000000))  /* from its first byte to its last header */
#define GUESTS_TOTAL_NS   (10 * UINT64_C(1000000000)) /* from there to the end of the answer */
#define GUESTS_FIRST_NS   (10 * UINT64_C(1000000000)) /* from connecting to the first byte */
#define GUESTS_IDLE_NS    (60 * UINT64_C(1000000000)) /* between two requests */
#define GUESTS_STALLED_NS (20 * UINT64_C(1000000000)) /* a stream that takes nothing */

enum guest_phase { GUEST_WAITING, GUEST_READING, GUEST_ANSWERED, GUEST_STREAMING, GUEST_PHASES };

struct listener_config;

struct guest {
    struct guest *next, *previous;
    int descriptor;
    struct listener_config *config; /* that it was accepted under; the caller holds it */
    bool has_address;
    unsigned char address[16]; /* IPv4 as IPv6 has it */
    enum guest_phase phase;
    uint64_t since_ns;    /* the phase began; a stream: it last took something */
    uint64_t first_ns;    /* the first byte of the next request was seen; 0: none yet */
    uint64_t bytes_taken; /* until the end of the last request, as the kernel counts */
    bool asked_before;    /* it has had an answer */
    bool paused;          /* it waits for us: a stream that has had all, a password compared */
    bool cut;
};

struct guests {
    struct guest *first;
    size_t count;                  /* of those that are not cut */
    size_t in_phase[GUEST_PHASES]; /* likewise */
    uint64_t evicted, overdue, turned_away;
};

/* A guest of that socket, or NULL: there is no room that could be made, or no memory. */
struct guest *guests_admit(struct guests *guests, int descriptor, const struct sockaddr *address,
                           uint64_t now_ns);

/* It has been closed. */
void guests_leave(struct guests *guests, struct guest *guest);

void guests_enter_phase(struct guests *guests, struct guest *guest, enum guest_phase phase,
                        uint64_t now_ns);

/* Whether one more may be answered. An answer leaves at once where it is taken: who has been taking
 * one for longest when there are too many is cut off for it. */
bool guests_make_room(struct guests *guests);

/* Whether one more of that address may listen to events. */
bool guests_may_listen(const struct guests *guests, const struct guest *comer);

void guests_cut(struct guests *guests, struct guest *guest);

/* Whether both come from the same; who comes through a folder has no address. */
bool guests_same_address(const struct guest *one, const struct guest *other);

/* Cuts off those of another configuration, unless they are being answered just now. */
void guests_cut_outdated(struct guests *guests, const struct listener_config *config);

/* Cuts off who is overdue. Gives how long until the next look, UINT64_MAX where nobody is there. */
uint64_t guests_sweep(struct guests *guests, uint64_t now_ns);

#endif
