/* Any bytes as one of the lists of sockets below /proc/PID/net, the first byte says which: no read
 * past the end, addresses lie within the list's text and hold no NUL, and a list of what was asked
 * for has nothing else. */
#include "os/linux/sockets/sockets.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct socket_group GROUPS[] = {
    {AF_INET, SOCK_STREAM, IPPROTO_TCP, "tcp", NET_INET, false},
    {AF_INET6, SOCK_STREAM, IPPROTO_TCP, "tcp6", NET_INET, false},
    {AF_INET, SOCK_RAW, IPPROTO_RAW, "raw", NET_INET, false},
    {AF_UNIX, 0, 0, "unix", NET_UNIX, false},
    {AF_NETLINK, 0, 0, "netlink", NET_NETLINK, false},
    {AF_PACKET, 0, 0, "packet", NET_PACKET, false},
    {AF_INET, 0, IPPROTO_SCTP, "sctp/eps", NET_SCTP_ENDPOINTS, false},
    {AF_INET, 0, IPPROTO_SCTP, "sctp/assocs", NET_SCTP_ASSOCIATIONS, false},
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_text(const struct socket_list *list, unsigned has, size_t at, size_t size)
{
    if (!has || size == 0)
        return;
    require(at <= list->text.size && size <= list->text.size - at);
    require(memchr(list->text.bytes + at, '\0', size) == NULL);
}

static void require_list(const struct socket_list *list, const struct socket_group *group)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct socket_info *info = &list->items[i];
        require(socket_list_asks(list, info->inode));
        require(info->family == group->family || group->protocol == IPPROTO_SCTP);
        require(info->inode != 0 || (info->has & SOCKET_UID) == 0);
        require((info->has & SOCKET_REMOTE_PORT) == 0 || info->remote_port != 0);
        require(info->local_port <= UINT16_MAX || group->family == AF_NETLINK);
        require_text(list, info->has & SOCKET_LOCAL, info->local_at, info->local_size);
        require_text(list, info->has & SOCKET_REMOTE, info->remote_at, info->remote_size);
    }
}

static size_t parse(const char *bytes, size_t size, const struct socket_group *group,
                    struct hash *only)
{
    struct socket_list list = {.only = only, .missing = only != NULL ? only->count : 0};
    net_parse(bytes, size, group, &list);
    require_list(&list, group);
    size_t found = only != NULL ? only->count - list.missing : list.count;
    socket_list_done(&list);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *bytes = (const char *)data + 1;
    const struct socket_group *group = &GROUPS[data[0] % ARRAY_COUNT(GROUPS)];
    size_t all = parse(bytes, size - 1, group, NULL);

    struct hash only = {0};
    if (hash_set(&only, 1001, SOCKET_MISSING) == 0 && hash_set(&only, 7, SOCKET_MISSING) == 0)
        require(parse(bytes, size - 1, group, &only) <= all);
    hash_done(&only);

    uint64_t count = 0;
    if (net_parse_protocols(bytes, size - 1, "MPTCP", &count))
        require(count <= INT32_MAX);
    return 0;
}
