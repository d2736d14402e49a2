/* socket_diag.c: sockets from the kernel, through NETLINK_SOCK_DIAG (sock_diag(7)).
 *
 * One dump per group, of the calling thread's network namespace. It takes a third of the time of
 * the text files, and has more: bound sockets that do not listen (Linux 6.8), the exact names of
 * unix sockets and their peers, the scope of link-local addresses. If a module is missing the
 * kernel returns ENOENT, at once or at the end of the dump, and the files of /proc are used. Thread
 * rule: one thread per struct socket_diag. */
#include "os/linux/sockets/sockets.h"

#include "os/linux/netlink.h"
#include "util/number.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink_diag.h>
#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <linux/vm_sockets_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

/* The kernel's numbers, which older headers lack. */
enum {
    REQUEST_PROTOCOL = 3, /* INET_DIAG_REQ_PROTOCOL */
    UNIX_SHOW_UID = 0x40, /* UDIAG_SHOW_UID, Linux 5.3 */
    UNIX_UID = 7,         /* UNIX_DIAG_UID */
    MEMORY_RECEIVE = 0,   /* SK_MEMINFO_RMEM_ALLOC */
    MEMORY_SEND = 2,      /* SK_MEMINFO_WMEM_ALLOC */
};

/* The kernel sends at most 32 KiB at once, if the buffer has room for it. */
enum { RECEIVE_ROOM = 32 * 1024, RECEIVE_SECONDS = 2 };

_Static_assert(sizeof(struct inet_diag_msg) == 72, "the kernel's layout");
_Static_assert(sizeof(struct unix_diag_msg) == 16, "the kernel's layout");
_Static_assert(sizeof(struct netlink_diag_msg) == 28, "the kernel's layout");
_Static_assert(sizeof(struct packet_diag_msg) == 16, "the kernel's layout");
_Static_assert(sizeof(struct vsock_diag_msg) == 32, "the kernel's layout");

struct request {
    struct nlmsghdr header;
    union request_body {
        uint8_t family; /* first member of all */
        struct {
            struct inet_diag_req_v2 request;
            struct nlattr attribute; /* for protocols above 255 */
            uint32_t protocol;
        } inet;
        struct unix_diag_req unix_;
        struct netlink_diag_req netlink;
        struct packet_diag_req packet;
        struct vsock_diag_req vsock;
    } as;
};

_Static_assert(offsetof(struct request, as) == NETLINK_HEADER, "one behind the other");

/* ---- one socket of an answer ---- */

static void take_queues(struct socket_info *info, struct span value, size_t receive, size_t send)
{
    uint32_t number;
    if (netlink_u32(value, receive, &number)) {
        info->receive_bytes = number;
        info->has |= SOCKET_RECEIVE;
    }
    if (netlink_u32(value, send, &number)) {
        info->send_bytes = number;
        info->has |= SOCKET_SEND;
    }
}

static void take_inet(struct span message, const struct socket_group *group,
                      struct socket_list *list, struct socket_info *info)
{
    struct inet_diag_msg found;
    memcpy(&found, message.bytes, sizeof found);
    info->has |= SOCKET_UID | SOCKET_RECEIVE | SOCKET_SEND;
    info->type = group->type;
    info->protocol = group->protocol;
    info->uid = found.idiag_uid;
    info->receive_bytes = found.idiag_rqueue;
    info->send_bytes = found.idiag_wqueue;
    if (group->type == SOCK_STREAM)
        info->state = found.idiag_state;
    struct socket_ends ends = {
        .local_port = ntohs(found.id.idiag_sport),
        .remote_port = ntohs(found.id.idiag_dport),
        .interface = found.id.idiag_if,
    };
    size_t bytes = group->family == AF_INET ? 4 : 16;
    memcpy(ends.local, found.id.idiag_src, bytes);
    memcpy(ends.remote, found.id.idiag_dst, bytes);
    if (group->type == SOCK_RAW) { /* the protocol is in the place of the port */
        info->protocol = ends.local_port;
        ends.local_port = 0;
    }
    socket_list_ends(list, info, &ends);
}

static void take_unix(struct span message, const struct socket_group *group UNUSED,
                      struct socket_list *list, struct socket_info *info)
{
    struct unix_diag_msg found;
    memcpy(&found, message.bytes, sizeof found);
    info->type = found.udiag_type;
    info->state = found.udiag_state;
    struct span name = {"", 0};
    bool has_peer = false;
    struct cursor cursor = cursor_over(message.bytes + sizeof found, message.size - sizeof found);
    for (struct netlink_attribute attribute; netlink_attribute_next(&cursor, &attribute);) {
        if (attribute.type == UNIX_DIAG_NAME)
            name = attribute.value;
        else if (attribute.type == UNIX_DIAG_PEER)
            has_peer = netlink_u32(attribute.value, 0, &info->peer);
        else if (attribute.type == UNIX_DIAG_RQLEN)
            take_queues(info, attribute.value, 0, 1);
        else if (attribute.type == UNIX_UID && netlink_u32(attribute.value, 0, &info->uid))
            info->has |= SOCKET_UID;
    }
    /* Without the NUL after a path; that of an abstract name comes before it. */
    const char *end = name.size > 0 && name.bytes[0] != '\0' ? memchr(name.bytes, '\0', name.size)
                                                             : NULL;
    if (end != NULL)
        name.size = (size_t)(end - name.bytes);
    socket_list_unix_name(list, info, name);
    if (!has_peer) // a datagram socket is established once a peer connects to it
        socket_list_remote(list, info, (struct span){"", 0});
}

static void take_netlink(struct span message, const struct socket_group *group UNUSED,
                         struct socket_list *list, struct socket_info *info)
{
    struct netlink_diag_msg found;
    memcpy(&found, message.bytes, sizeof found);
    info->has |= SOCKET_LOCAL_PORT;
    info->type = found.ndiag_type;
    info->protocol = found.ndiag_protocol;
    info->local_port = found.ndiag_portid;
    struct cursor cursor = cursor_over(message.bytes + sizeof found, message.size - sizeof found);
    for (struct netlink_attribute attribute; netlink_attribute_next(&cursor, &attribute);)
        if (attribute.type == NETLINK_DIAG_MEMINFO)
            take_queues(info, attribute.value, MEMORY_RECEIVE, MEMORY_SEND);
    socket_list_local(list, info, (struct span){"", 0});
    socket_list_remote(list, info, (struct span){"", 0});
}

static void take_packet(struct span message, const struct socket_group *group UNUSED,
                        struct socket_list *list, struct socket_info *info)
{
    struct packet_diag_msg found;
    memcpy(&found, message.bytes, sizeof found);
    info->type = found.pdiag_type;
    info->protocol = found.pdiag_num;
    uint32_t interface = 0;
    struct cursor cursor = cursor_over(message.bytes + sizeof found, message.size - sizeof found);
    for (struct netlink_attribute attribute; netlink_attribute_next(&cursor, &attribute);) {
        if (attribute.type == PACKET_DIAG_INFO)
            netlink_u32(attribute.value, 0, &interface);
        else if (attribute.type == PACKET_DIAG_MEMINFO)
            take_queues(info, attribute.value, MEMORY_RECEIVE, MEMORY_SEND);
        else if (attribute.type == PACKET_DIAG_UID && netlink_u32(attribute.value, 0, &info->uid))
            info->has |= SOCKET_UID;
    }
    socket_list_interface(list, info, interface);
    socket_list_remote(list, info, (struct span){"", 0});
}

static void take_vsock(struct span message, const struct socket_group *group UNUSED,
                       struct socket_list *list, struct socket_info *info)
{
    struct vsock_diag_msg found;
    memcpy(&found, message.bytes, sizeof found);
    info->type = found.vdiag_type;
    info->state = found.vdiag_state;
    info->local_port = found.vdiag_src_port;
    info->remote_port = found.vdiag_dst_port;
    char text[NUMBER_TEXT];
    socket_list_local(list, info, (struct span){text, number_print_u64(text, found.vdiag_src_cid)});
    if (found.vdiag_src_port != UINT32_MAX) // VMADDR_PORT_ANY
        info->has |= SOCKET_LOCAL_PORT;
    bool connected = found.vdiag_dst_port != 0 && found.vdiag_dst_port != UINT32_MAX;
    size_t size = connected ? number_print_u64(text, found.vdiag_dst_cid) : 0;
    socket_list_remote(list, info, (struct span){text, size});
    if (connected)
        info->has |= SOCKET_REMOTE_PORT;
}

/* ---- request and answer of each family ---- */

static const union request_body ASK_INET = {.inet.request.idiag_states = UINT32_MAX};
static const union request_body ASK_UNIX = {
    .unix_ = {.udiag_states = UINT32_MAX,
              .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN | UNIX_SHOW_UID}};
static const union request_body ASK_NETLINK = {
    .netlink = {.sdiag_protocol = NDIAG_PROTO_ALL, .ndiag_show = NDIAG_SHOW_MEMINFO}};
static const union request_body ASK_PACKET = {.packet.pdiag_show = PACKET_SHOW_INFO |
                                                                   PACKET_SHOW_MEMINFO};
static const union request_body ASK_VSOCK = {.vsock.vdiag_states = UINT32_MAX};

static const struct diag_family {
    uint16_t family;
    const union request_body *request;
    size_t request_size;
    size_t message_size,
        inode_at; /* offset in the fixed part of an answer, which begins with the family */
    void (*take)(struct span message, const struct socket_group *group, struct socket_list *list,
                 struct socket_info *info);
} FAMILIES[] = {
#define MESSAGE(type, inode) sizeof(struct type), offsetof(struct type, inode)
    {AF_INET, &ASK_INET, sizeof ASK_INET.inet.request, MESSAGE(inet_diag_msg, idiag_inode),
     take_inet},
    {AF_INET6, &ASK_INET, sizeof ASK_INET.inet.request, MESSAGE(inet_diag_msg, idiag_inode),
     take_inet},
    {AF_UNIX, &ASK_UNIX, sizeof ASK_UNIX.unix_, MESSAGE(unix_diag_msg, udiag_ino), take_unix},
    {AF_NETLINK, &ASK_NETLINK, sizeof ASK_NETLINK.netlink, MESSAGE(netlink_diag_msg, ndiag_ino),
     take_netlink},
    {AF_PACKET, &ASK_PACKET, sizeof ASK_PACKET.packet, MESSAGE(packet_diag_msg, pdiag_ino),
     take_packet},
    {AF_VSOCK, &ASK_VSOCK, sizeof ASK_VSOCK.vsock, MESSAGE(vsock_diag_msg, vdiag_ino), take_vsock},
#undef MESSAGE
};

static const struct diag_family *family_of(const struct socket_group *group)
{
    for (size_t i = 0; i < ARRAY_COUNT(FAMILIES); i++)
        if (FAMILIES[i].family == group->family)
            return &FAMILIES[i];
    return NULL;
}

int socket_diag_parse(const char *bytes, size_t size, const struct socket_group *group,
                      uint32_t sequence, struct socket_list *list)
{
    const struct diag_family *family = family_of(group);
    if (family == NULL)
        return -EAFNOSUPPORT;
    struct cursor cursor = cursor_over(bytes, size);
    struct nlmsghdr header;
    struct span payload;
    int next = 0;
    while (!list->failed && (next = netlink_message_next(&cursor, &header, &payload)) > 0) {
        if (header.nlmsg_seq != sequence)
            continue;
        if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) {
            int error = netlink_error(payload);
            return error != 0 ? error : 1;
        }
        if (header.nlmsg_type == NLMSG_OVERRUN)
            return -ENOBUFS;
        struct socket_info info = {
            .has = SOCKET_FAMILY | SOCKET_TYPE | SOCKET_PROTOCOL | SOCKET_STATE,
            .family = group->family,
            .state = SOCKET_STATELESS,
        };
        uint32_t inode;
        if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || payload.size < family->message_size ||
            (unsigned char)payload.bytes[0] != group->family ||
            !netlink_u32((struct span){payload.bytes + family->inode_at, sizeof inode}, 0, &inode))
            continue;
        /* All unix sockets, requested or not: one may be the peer of another. */
        if (group->family != AF_UNIX && !socket_list_asks(list, inode))
            continue;
        info.inode = inode;
        family->take(payload, group, list, &info);
        socket_list_add(list, &info);
    }
    return list->failed ? -ENOMEM : next;
}

/* ---- the conversation ---- */

void socket_diag_open(struct socket_diag *diag, const struct os *os)
{
    *diag = (struct socket_diag){
        .netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
    if (diag->netlink < 0) {
        diag->netlink = -errno;
        linux_trace(os, "sock_diag", errno);
        return;
    }
    /* The kernel answers before it returns; the timeout only guards against an endless wait. */
    struct timeval patience = {.tv_sec = RECEIVE_SECONDS};
    setsockopt(diag->netlink, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

void socket_diag_close(struct socket_diag *diag)
{
    os_close_descriptor(diag->netlink);
    buffer_done(&diag->room);
    *diag = (struct socket_diag){.netlink = -EBADF};
}

/* Receives into the buffer; returns the number of bytes, or a negative errno. */
static int64_t receive(struct socket_diag *diag)
{
    struct sockaddr_nl from;
    ssize_t size;
    do { /* skips messages that the kernel did not send */
        socklen_t length = sizeof from;
        from = (struct sockaddr_nl){0};
        size = recvfrom(diag->netlink, diag->room.bytes, RECEIVE_ROOM, MSG_TRUNC,
                        (struct sockaddr *)&from, &length);
    } while ((size < 0 && errno == EINTR) || (size >= 0 && from.nl_pid != 0));
    if (size < 0)
        return -errno;
    return size > RECEIVE_ROOM ? -EMSGSIZE : size;
}

int socket_diag_read(struct socket_diag *diag, const struct os *os,
                     const struct socket_group *group, struct socket_list *list)
{
    if (diag->netlink < 0)
        return diag->netlink;
    if (buffer_reserve(&diag->room, RECEIVE_ROOM) == NULL)
        return -ENOMEM;
    const struct diag_family *family = family_of(group);
    if (family == NULL)
        return -EAFNOSUPPORT;

    struct request request = {.header = {.nlmsg_type = SOCK_DIAG_BY_FAMILY,
                                         .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                                         .nlmsg_seq = ++diag->sequence},
                              .as = *family->request};
    size_t length = sizeof request.header + family->request_size;
    request.as.family = (uint8_t)group->family;
    if (family->take == take_inet && group->protocol <= UINT8_MAX) {
        request.as.inet.request.sdiag_protocol = (uint8_t)group->protocol;
    } else if (family->take == take_inet) {
        request.as.inet.attribute = (struct nlattr){
            .nla_len = NETLINK_ATTRIBUTE_HEADER + sizeof(uint32_t), .nla_type = REQUEST_PROTOCOL};
        request.as.inet.protocol = group->protocol;
        length += NETLINK_ATTRIBUTE_HEADER + sizeof(uint32_t);
    }
    request.header.nlmsg_len = (uint32_t)length;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent;
    do
        sent = sendto(diag->netlink, &request, length, 0, (const struct sockaddr *)&kernel,
                      sizeof kernel);
    while (sent < 0 && errno == EINTR);

    size_t first = list->count;
    int result = sent < 0 ? -errno : 0;
    while (result == 0) {
        int64_t size = receive(diag);
        result = size < 0    ? (int)size
                 : size == 0 ? -EBADMSG
                             : socket_diag_parse(diag->room.bytes, (size_t)size, group,
                                                 diag->sequence, list);
        if (list->only != NULL && list->missing == 0 && group->family != AF_UNIX && result == 0)
            break; /* all requested sockets were found; closing the descriptor ends the dump */
    }
    if (result < 0) {
        linux_trace(os, "sock_diag", -result);
        socket_list_cut_back(list, first);
        return result;
    }
    return 0;
}
