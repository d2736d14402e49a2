/* Any bytes as a receipt from sock_diag, the first byte says of which family: no read past the end,
 * and addresses lie within the list's text. */
#include "os/linux/sockets/sockets.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEQUENCE = 1 };

static const struct socket_group GROUPS[] = {
    {AF_INET, SOCK_STREAM, IPPROTO_TCP, NULL, NET_INET, true},
    {AF_INET6, SOCK_DGRAM, IPPROTO_UDP, NULL, NET_INET, true},
    {AF_INET, SOCK_RAW, IPPROTO_RAW, NULL, NET_INET, true},
    {AF_UNIX, 0, 0, NULL, NET_INET, true},
    {AF_NETLINK, 0, 0, NULL, NET_INET, true},
    {AF_PACKET, 0, 0, NULL, NET_INET, true},
    {AF_VSOCK, 0, 0, NULL, NET_INET, true},
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const struct socket_group *group = &GROUPS[data[0] % ARRAY_COUNT(GROUPS)];
    struct socket_list list = {0};
    int result = socket_diag_parse((const char *)data + 1, size - 1, group, SEQUENCE, &list);
    require(result <= 1);
    socket_list_peers(&list, 0);
    for (size_t i = 0; i < list.count; i++) {
        const struct socket_info *info = &list.items[i];
        require(info->family == group->family);
        require(info->inode <= UINT32_MAX);
        require_text(&list, info->has & SOCKET_LOCAL, info->local_at, info->local_size);
        require_text(&list, info->has & SOCKET_REMOTE, info->remote_at, info->remote_size);
    }
    socket_list_cut_back(&list, 0);
    require(list.count == 0);
    socket_list_done(&list);
    return 0;
}
