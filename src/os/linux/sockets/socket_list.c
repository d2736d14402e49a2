/* socket_list.c: see sockets.h: the list of sockets, and the formatting of their addresses. Uses
 * neither netlink nor /proc. Thread rule: one thread per list. */
#include "os/linux/sockets/sockets.h"

#include "util/memory.h"
#include "util/number.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

void socket_list_done(struct socket_list *list)
{
    memory_free(list->items);
    buffer_done(&list->text);
    *list = (struct socket_list){0};
}

bool socket_list_asks(const struct socket_list *list, uint64_t inode)
{
    return list->only == NULL || (inode != 0 && hash_find(list->only, inode) != NULL);
}

struct socket_info *socket_list_add(struct socket_list *list, const struct socket_info *info)
{
    if (list->count >= SOCKETS_MAX) {
        list->cut = true;
        return NULL;
    }
    if (list->failed || list->text.failed ||
        MEMORY_GROW(list->items, list->capacity, list->count) < 0) {
        list->failed = true;
        return NULL;
    }
    struct socket_info *added = &list->items[list->count];
    *added = *info;
    if (added->inode == 0) /* closed by its owner: the kernel reports uid 0, which is not its
                            * owner */
        added->has &= ~(unsigned)SOCKET_UID;
    uintptr_t *place = list->only != NULL ? hash_find(list->only, added->inode) : NULL;
    if (place != NULL && *place == SOCKET_MISSING) {
        *place = list->count;
        list->missing--;
    }
    list->count++;
    return added;
}

void socket_list_cut_back(struct socket_list *list, size_t count)
{
    for (size_t i = count; i < list->count && list->only != NULL; i++) {
        uintptr_t *place = hash_find(list->only, list->items[i].inode);
        if (place != NULL && *place != SOCKET_MISSING && *place >= count) {
            *place = SOCKET_MISSING;
            list->missing++;
        }
    }
    list->count = size_min(list->count, count);
}

static size_t keep(struct socket_list *list, struct span text)
{
    size_t at = list->text.size;
    buffer_append(&list->text, text.bytes, text.size);
    list->failed |= list->text.failed;
    return at;
}

void socket_list_local(struct socket_list *list, struct socket_info *info, struct span text)
{
    info->local_at = keep(list, text);
    info->local_size = (uint32_t)text.size;
    info->has |= SOCKET_LOCAL;
}

void socket_list_remote(struct socket_list *list, struct socket_info *info, struct span text)
{
    info->remote_at = keep(list, text);
    info->remote_size = (uint32_t)text.size;
    info->has |= SOCKET_REMOTE;
}

void socket_list_unix_name(struct socket_list *list, struct socket_info *info, struct span name)
{
    socket_list_local(list, info, name);
    if (list->failed || name.size == 0)
        return;
    char *at = list->text.bytes + info->local_at;
    for (size_t i = 0; i < name.size; i++)
        if (at[i] == '\0')
            at[i] = '@';
}

/* `out` has at least IF_NAMESIZE bytes; returns the length. */
static size_t interface_text(const struct socket_list *list, uint32_t index,
                             char out[static NUMBER_TEXT])
{
    _Static_assert(IF_NAMESIZE <= NUMBER_TEXT, "either fits");
    if (list->here && if_indextoname(index, out) != NULL)
        return strnlen(out, IF_NAMESIZE);
    return number_print_u64(out, index);
}

void socket_list_interface(struct socket_list *list, struct socket_info *info, uint32_t index)
{
    char text[NUMBER_TEXT];
    size_t size = index != 0 ? interface_text(list, index, text) : 0;
    socket_list_local(list, info, (struct span){text, size});
}

/* ---- internet addresses ---- */

enum { ADDRESS_TEXT = INET6_ADDRSTRLEN + 1 + NUMBER_TEXT };

/* Faster than a general formatter: a table has thousands of addresses. */
static size_t print_inet(const unsigned char *address, char *out)
{
    size_t used = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned byte = address[i];
        if (byte >= 100)
            out[used++] = (char)('0' + byte / 100);
        if (byte >= 10)
            out[used++] = (char)('0' + byte / 10 % 10);
        out[used++] = (char)('0' + byte % 10);
        if (i < 3)
            out[used++] = '.';
    }
    return used;
}

static struct span print_address(const struct socket_list *list, uint16_t family,
                                 const unsigned char *address, uint32_t interface,
                                 char out[static ADDRESS_TEXT])
{
    if (family == AF_INET)
        return (struct span){out, print_inet(address, out)};
    if (inet_ntop(AF_INET6, address, out, INET6_ADDRSTRLEN) == NULL)
        return (struct span){out, 0};
    /* With its scope if it is link-local and the kernel reported it. */
    size_t used = strlen(out);
    if (interface != 0 && address[0] == 0xFE && (address[1] & 0xC0) == 0x80) {
        out[used++] = '%';
        used += interface_text(list, interface, out + used);
    }
    return (struct span){out, used};
}

void socket_list_ends(struct socket_list *list, struct socket_info *info,
                      const struct socket_ends *ends)
{
    static const unsigned char ZERO[16];
    char text[ADDRESS_TEXT];
    uint16_t family = info->family;
    socket_list_local(list, info, print_address(list, family, ends->local, ends->interface, text));
    info->local_port = ends->local_port;
    if (ends->local_port != 0)
        info->has |= SOCKET_LOCAL_PORT;
    bool none = ends->remote_port == 0 && memcmp(ends->remote, ZERO, sizeof ZERO) == 0;
    struct span remote = {"", 0};
    if (!none)
        remote = print_address(list, family, ends->remote, ends->interface, text);
    socket_list_remote(list, info, remote);
    info->remote_port = ends->remote_port;
    if (ends->remote_port != 0)
        info->has |= SOCKET_REMOTE_PORT;
}

void socket_list_peers(struct socket_list *list, size_t first)
{
    struct hash by_inode = {0};
    for (size_t i = first; i < list->count && !list->failed; i++)
        if (list->items[i].family == AF_UNIX && (list->items[i].has & SOCKET_LOCAL) != 0)
            list->failed = hash_set(&by_inode, list->items[i].inode, i) < 0;
    for (size_t i = first; i < list->count && !list->failed; i++) {
        struct socket_info *info = &list->items[i];
        if (info->family != AF_UNIX || info->peer == 0)
            continue;
        const uintptr_t *index = hash_find(&by_inode, info->peer);
        if (index == NULL)
            continue; /* the peer is in another network namespace */
        const struct socket_info *peer = &list->items[*index];
        info->remote_at = peer->local_at;
        info->remote_size = peer->local_size;
        info->has |= SOCKET_REMOTE;
    }
    hash_done(&by_inode);
}
