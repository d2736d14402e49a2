/* count_connector.c: how many processes there were at least, by the kernel's word of each birth
 * (the process connector). From Linux 6.6 on an ordinary user may listen; before it needs
 * CAP_NET_ADMIN.
 *
 * Nobody listens for a job that is over at once. Who lived when listening began is found by their
 * parents; who had come and gone before is not, and the kernel does not tell of every word that it
 * could not deliver. So it is never exact. From the first loss that it tells the count stands: a
 * pid that was given again unheard would make children of strangers ours. */
#include "os/linux/births.h"
#include "os/linux/count.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* What is over by then is not worth it. */
static const uint64_t AFTER_NS = 4 * NS_PER_MS;

enum {
    ROOM_BYTES = 8 * 1024 * 1024,
    DATAGRAM = 512,
    BATCH = 8,
    ALL_THREADS = 2 /* more than one: the children of each are listed */
};

struct state {
    const struct os *os;
    uint32_t root;
    uint64_t begin_ns;
    int socket;    /* above 0: open */
    int64_t maker; /* a fork of it shares the socket */
    bool tried, listened, lossy;
    struct births births;
};

static const os_quantities WORTH = 1u << COUNTED_PROCESSES;

static uint64_t now_ns(const struct state *state)
{
    const vitals_clock *clock = &state->os->clock;
    return clock->monotonic_ns(clock->data);
}

static int open_connector(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct state *state = data;
    if (!options->os->live)
        return -ENOTSUP;
    state->os = options->os;
    *counts = 0; /* it is not known yet whether we may */
    return 0;
}

static int child_connector(void *data, int64_t pid, os_quantities *counts)
{
    struct state *state = data;
    (void)counts;
    state->root = (uint32_t)pid;
    state->begin_ns = now_ns(state);
    return 0;
}

static bool ask(const struct state *state, uint32_t operation, size_t words)
{
    const uint32_t said[] = {operation, PROC_EVENT_FORK};
    const size_t length = words * sizeof said[0];
    const struct cn_msg message = {
        .id = {CN_IDX_PROC, CN_VAL_PROC}, .ack = state->births.question, .len = (uint16_t)length};
    const size_t size = sizeof(struct nlmsghdr) + sizeof message + length;
    const struct nlmsghdr header = {.nlmsg_len = (uint32_t)size, .nlmsg_type = NLMSG_DONE};
    char question[sizeof header + sizeof message + sizeof said];
    memcpy(question, &header, sizeof header);
    memcpy(question + sizeof header, &message, sizeof message);
    memcpy(question + sizeof header + sizeof message, said, length);
    return send(state->socket, question, size, 0) == (ssize_t)size;
}

/* Without a word of goodbye the kernel goes on telling nobody. */
static void stop(struct state *state)
{
    if (state->socket > 0 && state->births.heard && state->maker == os_self())
        (void)ask(state, PROC_CN_MCAST_IGNORE, 1);
    if (state->socket > 0)
        os_close_descriptor(state->socket);
    state->socket = 0;
}

/* After a loss nothing comes until all that came before it is read (netlink_overrun of
 * net/netlink/af_netlink.c): that is ours still, and nothing shall follow it. */
static void leave(struct state *state)
{
    const int group = CN_IDX_PROC;
    if (state->lossy ||
        setsockopt(state->socket, SOL_NETLINK, NETLINK_DROP_MEMBERSHIP, &group, sizeof group) != 0)
        stop(state);
    state->lossy = true;
}

/* Everything that has come, several with each call. */
static void drain(struct state *state)
{
    char bytes[BATCH][DATAGRAM];
    struct sockaddr_nl from[BATCH];
    struct iovec places[BATCH];
    struct mmsghdr messages[BATCH];
    while (state->socket > 0) {
        for (size_t i = 0; i < BATCH; i++) {
            places[i] = (struct iovec){.iov_base = bytes[i], .iov_len = sizeof bytes[i]};
            messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &places[i],
                                                       .msg_iovlen = 1,
                                                       .msg_name = &from[i],
                                                       .msg_namelen = sizeof from[i]}};
        }
        int count = recvmmsg(state->socket, messages, BATCH, MSG_DONTWAIT, NULL);
        if (count < 0 && errno == ENOBUFS) {
            leave(state);
        } else if (count < 0 && errno != EINTR) {
            if (state->lossy)
                stop(state);
            return;
        }
        for (int i = 0; i < count; i++) {
            bool whole = (messages[i].msg_hdr.msg_flags & MSG_TRUNC) == 0;
            if (whole && from[i].nl_pid == 0) /* of the kernel */
                births_take(&state->births, bytes[i], messages[i].msg_len);
        }
    }
}

static bool listens(struct state *state)
{
    const struct sockaddr_nl group = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
    const int room = ROOM_BYTES;
    state->maker = os_self();
    state->births.question = (uint32_t)state->maker;
    state->socket = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
    if (state->socket <= 0 ||
        bind(state->socket, (const struct sockaddr *)&group, sizeof group) != 0)
        return false;
    if (setsockopt(state->socket, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
        (void)setsockopt(state->socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (!ask(state, PROC_CN_MCAST_LISTEN, 1))
        return false;
    drain(state); /* the answer is there when the call returns */
    /* Linux 6.6 is told which events are wanted, and keeps its answer back then too. */
    return state->births.heard && ask(state, PROC_CN_MCAST_LISTEN, 2);
}

/* Everything below the command. */
static void find_living(struct state *state)
{
    struct os_pids pids = {0};
    (void)os_pids_append(&pids, state->root); /* without memory there are fewer */
    for (size_t i = 0; i < pids.count; i++) {
        births_add(&state->births, (uint32_t)pids.items[i]);
        (void)os_list_children(state->os, pids.items[i], ALL_THREADS, &pids);
    }
    os_pids_done(&pids);
}

static void begin(struct state *state)
{
    state->tried = true;
    births_add(&state->births, state->root);
    if (!listens(state)) {
        linux_trace(state->os, "births by the process connector", errno);
        stop(state);
        return;
    }
    state->listened = true;
    find_living(state);
    drain(state);
    state->births.settled = true;
}

static void tick_connector(void *data)
{
    struct state *state = data;
    if (state->socket > 0)
        drain(state);
    else if (!state->tried && state->root != 0 && now_ns(state) >= state->begin_ns + AFTER_NS)
        begin(state);
}

/* One of whom we had not heard was ours too, where all that were heard of are remembered. */
static void reaped_connector(void *data, const struct os_reaped *child)
{
    struct state *state = data;
    state->tried |= state->socket <= 0; /* it is too late to begin */
    drain(state);
    if (state->socket > 0 && !state->births.cut)
        births_add(&state->births, (uint32_t)child->pid);
}

static void read_connector(void *data, struct counted *out)
{
    struct state *state = data;
    if (!state->listened)
        return;
    drain(state);
    os_count(out, COUNTED_PROCESSES, (double)state->births.count, VITALS_LOWER_BOUND,
             state->lossy || state->births.cut ? "heard of by the process connector; some were lost"
                                               : "heard of by the process connector");
}

static bool is_idle_connector(const void *data)
{
    const struct state *state = data;
    return !state->listened;
}

static void close_connector(void *data)
{
    struct state *state = data;
    stop(state);
    births_done(&state->births);
}

const struct os_counter count_connector = {
    .name = "connector",
    .size = sizeof(struct state),
    .worth = WORTH,
    .open = open_connector,
    .child = child_connector,
    .tick = tick_connector,
    .reaped = reaped_connector,
    .is_idle = is_idle_connector,
    .read = read_connector,
    .close = close_connector,
};
