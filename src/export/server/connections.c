/* connections.c: see connections.h. */
#include "export/server/connections.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS UINT64_C(250000000) /* how often deadlines are checked */

/* Returns how many bytes the kernel has received for it, or 0 if the kernel does not count. */
static uint64_t bytes_received(const struct connection *connection)
{
    struct tcp_info info = {.tcpi_bytes_received = 0};
    socklen_t size = sizeof info;
    if (!connection->has_address ||
        getsockopt(connection->descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    return info.tcpi_bytes_received;
}

void connection_cut(struct connections *connections, struct connection *connection)
{
    if (connection->cut)
        return;
    connection->cut = true;
    connections->count--;
    connections->in_phase[connection->phase]--;
    (void)shutdown(connection->descriptor, SHUT_RDWR);
}

void connections_cut_outdated(struct connections *connections, const struct listener_config *config)
{
    for (struct connection *connection = connections->first; connection != NULL;
         connection = connection->next) {
        if (connection->config != config && connection->phase != CONNECTION_ANSWERED)
            connection_cut(connections, connection);
    }
}

/* ---- accepting and closing ---- */

bool connection_same_address(const struct connection *one, const struct connection *other)
{
    return one->has_address && other->has_address &&
           memcmp(one->address, other->address, sizeof one->address) == 0;
}

/* Cuts off the connection that has been longest in this phase (or in both of the first two), of
 * that address or (NULL) of all. Returns false if there is none. */
static bool evict(struct connections *connections, enum connection_phase phase,
                  const struct connection *like)
{
    struct connection *longest = NULL;
    for (struct connection *each = connections->first; each != NULL; each = each->next) {
        bool waits = each->phase == CONNECTION_WAITING || each->phase == CONNECTION_READING;
        bool fits = phase == CONNECTION_WAITING ? waits : each->phase == phase && !each->paused;
        if (fits && !each->cut && (like == NULL || connection_same_address(each, like)) &&
            (longest == NULL || each->since_ns < longest->since_ns))
            longest = each;
    }
    if (longest == NULL)
        return false;
    connection_cut(connections, longest);
    connections->evicted++;
    return true;
}

struct connection *connections_admit(struct connections *connections, int descriptor,
                                     const struct sockaddr *address, uint64_t now_ns)
{
    static const unsigned char AS_IPV6[12] = {[10] = 0xff, [11] = 0xff};
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        return NULL;
    connection->descriptor = descriptor;
    connection->since_ns = now_ns;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
        memcpy(connection->address, AS_IPV6, sizeof AS_IPV6);
        memcpy(connection->address + sizeof AS_IPV6, &four->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
        memcpy(connection->address, &six->sin6_addr, sizeof connection->address);
    }
    connection->has_address = address->sa_family == AF_INET || address->sa_family == AF_INET6;

    /* If all places are taken, the one that waits longest without a complete request makes room. */
    size_t like = 0;
    for (const struct connection *each = connections->first; each != NULL; each = each->next)
        like += !each->cut && connection_same_address(each, connection);
    bool many = like >= CONNECTIONS_OF_ADDRESS_MAX;
    if ((many || connections->count >= CONNECTIONS_MAX) &&
        !evict(connections, CONNECTION_WAITING, many ? connection : NULL)) {
        connections->turned_away++;
        free(connection);
        return NULL;
    }
    connection->next = connections->first;
    connections->first = connection;
    connections->count++;
    connections->in_phase[connection->phase]++;
    return connection;
}

void connections_remove(struct connections *connections, struct connection *connection)
{
    if (!connection->cut) {
        connections->count--;
        connections->in_phase[connection->phase]--;
    }
    struct connection **at = &connections->first;
    while (*at != connection)
        at = &(*at)->next;
    *at = connection->next;
    free(connection);
}

void connection_enter_phase(struct connections *connections, struct connection *connection,
                            enum connection_phase phase, uint64_t now_ns)
{
    if (!connection->cut) {
        connections->in_phase[connection->phase]--;
        connections->in_phase[phase]++;
    }
    if (phase == CONNECTION_WAITING) {
        connection->asked_before = true;
        connection->first_ns = 0;
        connection->bytes_taken = bytes_received(connection);
    }
    /* The deadline of the headers runs from the first byte, so it is not set again. */
    if (phase != CONNECTION_READING || connection->first_ns == 0)
        connection->since_ns = now_ns;
    connection->phase = phase;
}

bool connections_make_room(struct connections *connections)
{
    return connections->in_phase[CONNECTION_ANSWERED] < CONNECTIONS_ANSWERED_MAX ||
           evict(connections, CONNECTION_ANSWERED, NULL);
}

bool connections_may_stream(const struct connections *connections,
                            const struct connection *accepted)
{
    size_t like = 0;
    if (connections->in_phase[CONNECTION_STREAMING] >= CONNECTIONS_STREAMS_MAX)
        return false;
    for (const struct connection *connection = connections->first; connection != NULL;
         connection = connection->next)
        like += connection->phase == CONNECTION_STREAMING && !connection->cut &&
                connection_same_address(connection, accepted);
    return like < CONNECTIONS_STREAMS_OF_ADDRESS_MAX;
}

/* ---- deadlines ---- */

uint64_t connections_sweep(struct connections *connections, uint64_t now_ns)
{
    for (struct connection *connection = connections->first; connection != NULL;
         connection = connection->next) {
        uint64_t since_ns = connection->since_ns, first_ns = connection->first_ns, most_ns;
        bool waits = connection->phase == CONNECTION_WAITING;
        if (connection->cut)
            continue;
        if (waits && first_ns == 0 && bytes_received(connection) > connection->bytes_taken)
            connection->first_ns = first_ns = now_ns;

        if (connection->phase == CONNECTION_STREAMING) {
            most_ns = connection->paused ? UINT64_MAX : CONNECTIONS_STALLED_NS;
        } else if (connection->phase == CONNECTION_ANSWERED) {
            most_ns = CONNECTIONS_TOTAL_NS;
        } else if (waits && first_ns == 0) {
            most_ns = connection->asked_before ? CONNECTIONS_IDLE_NS : CONNECTIONS_FIRST_NS;
        } else { /* the deadline of the headers runs from the first byte */
            most_ns = CONNECTIONS_HEADER_NS;
            since_ns = first_ns != 0 ? first_ns : since_ns;
        }
        if (now_ns <= since_ns || now_ns - since_ns <= most_ns)
            continue;
        connection_cut(connections, connection);
        connections->overdue++;
    }
    return connections->first != NULL ? LOOK_NS : UINT64_MAX;
}
