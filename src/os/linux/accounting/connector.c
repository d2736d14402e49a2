/* connector.c: see connector.h. */
#include "os/linux/accounting/connector.h"

#include "os/count.h"
#include "os/launch.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    ROOM_BYTES = 8 * 1024 * 1024,
    DATAGRAM = 512,
    BATCH = 8,
    /* More than the receive buffer holds, at 768 bytes or more per event: everything that had
     * arrived before the call is read, and the loop ends even if events arrive as fast as they are
     * read. */
    BATCHES_MAX = 4096,
    NARROW_BYTES = 2 * 1024 * 1024,
    ALL_THREADS = 2 /* above one: the children of each thread are listed */
};

static bool ask(const struct connector *connector, uint32_t operation, size_t words)
{
    const uint32_t said[] = {operation, PROC_EVENT_FORK};
    const size_t length = words * sizeof said[0];
    const struct cn_msg message = {.id = {CN_IDX_PROC, CN_VAL_PROC},
                                   .ack = connector->births.question,
                                   .len = (uint16_t)length};
    const size_t size = sizeof(struct nlmsghdr) + sizeof message + length;
    const struct nlmsghdr header = {.nlmsg_len = (uint32_t)size, .nlmsg_type = NLMSG_DONE};
    char question[sizeof header + sizeof message + sizeof said];
    memcpy(question, &header, sizeof header);
    memcpy(question + sizeof header, &message, sizeof message);
    memcpy(question + sizeof header + sizeof message, said, length);
    return send(connector->socket, question, size, 0) == (ssize_t)size;
}

/* Without PROC_CN_MCAST_IGNORE the kernel continues to send events that have no listener. */
static void stop(struct connector *connector)
{
    if (connector->socket >= 0 && connector->births.heard && connector->maker == os_self())
        (void)ask(connector, PROC_CN_MCAST_IGNORE, 1);
    os_close_descriptor(connector->socket);
    connector->socket = -1;
}

/* Reads all pending events, several with each call. */
void connector_drain(struct connector *connector)
{
    const int group = CN_IDX_PROC;
    char bytes[BATCH][DATAGRAM];
    struct sockaddr_nl from[BATCH];
    struct iovec places[BATCH];
    struct mmsghdr messages[BATCH];
    for (int batches = 0; connector->socket >= 0 && batches < BATCHES_MAX; batches++) {
        for (size_t i = 0; i < BATCH; i++) {
            places[i] = (struct iovec){.iov_base = bytes[i], .iov_len = sizeof bytes[i]};
            messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &places[i],
                                                       .msg_iovlen = 1,
                                                       .msg_name = &from[i],
                                                       .msg_namelen = sizeof from[i]}};
        }
        int count = recvmmsg(connector->socket, messages, BATCH, MSG_DONTWAIT, NULL);
        if (count < 0 && errno == ENOBUFS) {
            /* After a loss no event arrives until all earlier ones are read (netlink_overrun of
             * net/netlink/af_netlink.c): those are still used, but none after them. */
            if (connector->lossy || setsockopt(connector->socket, SOL_NETLINK,
                                               NETLINK_DROP_MEMBERSHIP, &group, sizeof group) != 0)
                stop(connector);
            connector->lossy = true;
        } else if (count < 0 && errno != EINTR) {
            if (connector->lossy)
                stop(connector);
            return;
        }
        for (int i = 0; i < count; i++) {
            bool whole = (messages[i].msg_hdr.msg_flags & MSG_TRUNC) == 0;
            if (whole && from[i].nl_pid == 0) /* sent by the kernel */
                births_take(&connector->births, bytes[i], messages[i].msg_len);
        }
    }
}

static bool listens(struct connector *connector)
{
    const struct sockaddr_nl group = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
    const int room = ROOM_BYTES;
    connector->maker = os_self();
    connector->births.question = (uint32_t)connector->maker;
    connector->socket = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
    if (connector->socket < 0 ||
        bind(connector->socket, (const struct sockaddr *)&group, sizeof group) != 0)
        return false;
    if (setsockopt(connector->socket, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
        (void)setsockopt(connector->socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (!ask(connector, PROC_CN_MCAST_LISTEN, 1))
        return false;
    connector_drain(connector); /* the answer has arrived when the call returns */
    /* Since Linux 6.6 the wanted events are selected here; this request also keeps its answer
     * back. */
    return connector->births.heard && ask(connector, PROC_CN_MCAST_LISTEN, 2);
}

static bool is_excluded(const struct os_trees *trees, int64_t pid)
{
    for (size_t i = 0; i < trees->excluded_count; i++) {
        if (trees->excluded_pids[i] == pid)
            return true;
    }
    return false;
}

void connector_init(struct connector *connector)
{
    connector->socket = -1;
}

int connector_open(struct connector *connector, const struct os *os, const struct os_trees *trees)
{
    connector->os = os;
    for (size_t i = 0; i < trees->root_count; i++)
        births_add(&connector->births, (uint32_t)trees->roots[i]);
    if (!listens(connector)) {
        int failed = errno != 0 ? errno : ENOTSUP;
        linux_trace(os, "births by the process connector", failed);
        stop(connector);
        return -failed;
    }
    struct os_pids pids = {0}; /* living processes, each before its children */
    for (size_t i = 0; i < trees->root_count; i++)
        (void)os_pids_append(&pids, trees->roots[i]); /* without memory, fewer are known */
    for (size_t i = 0; i < pids.count; i++) {
        if (is_excluded(trees, pids.items[i]))
            continue;
        births_add(&connector->births, (uint32_t)pids.items[i]);
        (void)os_list_children(os, pids.items[i], ALL_THREADS, &pids);
    }
    os_pids_done(&pids);
    connector_drain(connector);
    connector->births.settled = true;
    return 0;
}

bool connector_is_open(const struct connector *connector)
{
    return connector->socket >= 0;
}

bool connector_is_narrow(const struct connector *connector)
{
    int room = 0;
    socklen_t size = sizeof room;
    return connector->socket >= 0 &&
           getsockopt(connector->socket, SOL_SOCKET, SO_RCVBUF, &room, &size) == 0 &&
           room < NARROW_BYTES;
}

void connector_read(const struct connector *connector, struct counted *out)
{
    os_count(out, COUNTED_PROCESSES, (double)connector->births.count, VITALS_LOWER_BOUND,
             connector->lossy || connector->births.cut
                 ? "heard of by the process connector; some were lost"
                 : "heard of by the process connector");
}

void connector_close(struct connector *connector)
{
    stop(connector);
    births_done(&connector->births);
}
