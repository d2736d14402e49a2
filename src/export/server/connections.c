/* connections.c: see connections.h. */
#include "export/server/connections.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS UINT64_C(250000000) /* how often deadlines are looked at */

static void read_address(const struct sockaddr *address, struct guest *guest)
{
    static const unsigned char AS_IPV6[12] = {[10] = 0xff, [11] = 0xff};
    if (address->sa_family == AF_INET) {
        memcpy(guest->address, AS_IPV6, sizeof AS_IPV6);
        memcpy(guest->address + sizeof AS_IPV6,
               &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        memcpy(guest->address, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr,
               sizeof guest->address);
    }
    guest->has_address = address->sa_family == AF_INET || address->sa_family == AF_INET6;
}

/* What the kernel has received for it, and 0 where it does not count. */
static uint64_t bytes_received(const struct guest *guest)
{
    struct tcp_info info = {.tcpi_bytes_received = 0};
    socklen_t size = sizeof info;
    if (!guest->has_address ||
        getsockopt(guest->descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    return info.tcpi_bytes_received;
}

void guests_cut(struct guests *guests, struct guest *guest)
{
    if (guest->cut)
        return;
    guest->cut = true;
    guests->count--;
    guests->in_phase[guest->phase]--;
    (void)shutdown(guest->descriptor, SHUT_RDWR);
}

void guests_cut_outdated(struct guests *guests, const struct listener_config *config)
{
    for (struct guest *guest = guests->first; guest != NULL; guest = guest->next) {
        if (guest->config != config && guest->phase != GUEST_ANSWERED)
            guests_cut(guests, guest);
    }
}

/* ---- coming and going ---- */

bool guests_same_address(const struct guest *one, const struct guest *other)
{
    return one->has_address && other->has_address &&
           memcmp(one->address, other->address, sizeof one->address) == 0;
}

/* Who has sent nothing whole for longest: of that address, or of all. */
static struct guest *longest_waiting(const struct guests *guests, const struct guest *like)
{
    struct guest *longest = NULL;
    for (struct guest *guest = guests->first; guest != NULL; guest = guest->next) {
        bool waits = guest->phase == GUEST_WAITING || guest->phase == GUEST_READING;
        if (waits && !guest->cut && (like == NULL || guests_same_address(guest, like)) &&
            (longest == NULL || guest->since_ns < longest->since_ns))
            longest = guest;
    }
    return longest;
}

static bool make_room_for(struct guests *guests, const struct guest *comer)
{
    size_t like = 0;
    for (const struct guest *guest = guests->first; guest != NULL; guest = guest->next)
        like += !guest->cut && guests_same_address(guest, comer);
    if (like < GUESTS_OF_ADDRESS_MAX && guests->count < GUESTS_MAX)
        return true;
    struct guest *victim = longest_waiting(guests, like < GUESTS_OF_ADDRESS_MAX ? NULL : comer);
    if (victim == NULL)
        return false;
    guests_cut(guests, victim);
    guests->evicted++;
    return true;
}

struct guest *guests_admit(struct guests *guests, int descriptor, const struct sockaddr *address,
                           uint64_t now_ns)
{
    struct guest *guest = calloc(1, sizeof *guest);
    if (guest == NULL)
        return NULL;
    guest->descriptor = descriptor;
    guest->since_ns = now_ns;
    read_address(address, guest);
    if (!make_room_for(guests, guest)) {
        guests->turned_away++;
        free(guest);
        return NULL;
    }
    guest->next = guests->first;
    if (guest->next != NULL)
        guest->next->previous = guest;
    guests->first = guest;
    guests->count++;
    guests->in_phase[guest->phase]++;
    return guest;
}

void guests_leave(struct guests *guests, struct guest *guest)
{
    if (!guest->cut) {
        guests->count--;
        guests->in_phase[guest->phase]--;
    }
    if (guest->previous != NULL)
        guest->previous->next = guest->next;
    else
        guests->first = guest->next;
    if (guest->next != NULL)
        guest->next->previous = guest->previous;
    free(guest);
}

void guests_enter_phase(struct guests *guests, struct guest *guest, enum guest_phase phase,
                        uint64_t now_ns)
{
    if (!guest->cut) {
        guests->in_phase[guest->phase]--;
        guests->in_phase[phase]++;
    }
    if (phase == GUEST_WAITING) {
        guest->asked_before = true;
        guest->first_ns = 0;
        guest->bytes_taken = bytes_received(guest);
    }
    /* Its deadline for the headers runs from the first byte, and that goes on. */
    if (phase != GUEST_READING || guest->first_ns == 0)
        guest->since_ns = now_ns;
    guest->phase = phase;
}

bool guests_make_room(struct guests *guests)
{
    struct guest *longest = NULL;
    if (guests->in_phase[GUEST_ANSWERED] < GUESTS_ANSWERED_MAX)
        return true;
    for (struct guest *guest = guests->first; guest != NULL; guest = guest->next) {
        if (guest->phase == GUEST_ANSWERED && !guest->cut && !guest->paused &&
            (longest == NULL || guest->since_ns < longest->since_ns))
            longest = guest;
    }
    if (longest == NULL)
        return false;
    guests_cut(guests, longest);
    guests->evicted++;
    return true;
}

bool guests_may_listen(const struct guests *guests, const struct guest *comer)
{
    size_t like = 0;
    if (guests->in_phase[GUEST_STREAMING] >= GUESTS_STREAMS_MAX)
        return false;
    for (const struct guest *guest = guests->first; guest != NULL; guest = guest->next)
        like += guest->phase == GUEST_STREAMING && !guest->cut && guests_same_address(guest, comer);
    return like < GUESTS_STREAMS_OF_ADDRESS_MAX;
}

/* ---- deadlines ---- */

static bool is_overdue(struct guest *guest, uint64_t now_ns)
{
    uint64_t lasted = now_ns > guest->since_ns ? now_ns - guest->since_ns : 0;
    switch (guest->phase) {
    case GUEST_WAITING:
        if (guest->first_ns == 0 && bytes_received(guest) > guest->bytes_taken)
            guest->first_ns = now_ns;
        if (guest->first_ns != 0)
            return now_ns - guest->first_ns > GUESTS_HEADER_NS;
        return lasted > (guest->asked_before ? GUESTS_IDLE_NS : GUESTS_FIRST_NS);
    case GUEST_READING:
        return now_ns - (guest->first_ns != 0 ? guest->first_ns : guest->since_ns) >
               GUESTS_HEADER_NS;
    case GUEST_ANSWERED: return lasted > GUESTS_TOTAL_NS;
    case GUEST_STREAMING: return !guest->paused && lasted > GUESTS_STALLED_NS;
    case GUEST_PHASES: break;
    }
    return false;
}

uint64_t guests_sweep(struct guests *guests, uint64_t now_ns)
{
    for (struct guest *guest = guests->first; guest != NULL; guest = guest->next) {
        if (guest->cut || !is_overdue(guest, now_ns))
            continue;
        guests_cut(guests, guest);
        guests->overdue++;
    }
    return guests->first != NULL ? LOOK_NS : UINT64_MAX;
}
