/* table_addresses.c: the table network_address, of the calling thread's network namespace.
 *
 * It uses getifaddrs(3), which asks the kernel through netlink. If os shows the /proc of another
 * machine or namespace these would not be its addresses, so the table is empty. Thread rule: any
 * thread. */
#include "os/linux/sockets/sockets.h"
#include "os/linux/tables.h"

#include "util/number.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* The C library keeps longer hardware addresses than sockaddr_ll has room for: Infiniband's have 20
 * bytes, and 24 are the most. */
enum { LINK_BYTES_MAX = 24, TEXT_MAX = INET6_ADDRSTRLEN + 1 + NUMBER_TEXT + LINK_BYTES_MAX * 3 };

static struct span print_link(const struct sockaddr *address, char out[static TEXT_MAX])
{
    unsigned char size;
    const char *bytes = (const char *)address;
    memcpy(&size, bytes + offsetof(struct sockaddr_ll, sll_halen), 1);
    size_t used = 0;
    for (size_t i = 0; i < size_min(size, LINK_BYTES_MAX); i++) {
        unsigned char byte;
        memcpy(&byte, bytes + offsetof(struct sockaddr_ll, sll_addr) + i, 1);
        used += (size_t)snprintf(out + used, TEXT_MAX - used, "%s%02x", i != 0 ? ":" : "", byte);
    }
    return (struct span){out, used};
}

static struct span print_inet6(const struct sockaddr *address, char out[static TEXT_MAX])
{
    struct sockaddr_in6 copy;
    memcpy(&copy, address, sizeof copy);
    if (inet_ntop(AF_INET6, &copy.sin6_addr, out, INET6_ADDRSTRLEN) == NULL)
        return (struct span){"", 0};
    size_t used = strlen(out);
    if (copy.sin6_scope_id == 0)
        return (struct span){out, used};

    /* The scope of a link-local address: the interface, which has a column of its own. */
    _Static_assert(IF_NAMESIZE <= NUMBER_TEXT, "either fits");
    out[used++] = '%';
    if (if_indextoname(copy.sin6_scope_id, out + used) != NULL)
        used += strnlen(out + used, IF_NAMESIZE);
    else
        used += number_print_u64(out + used, copy.sin6_scope_id);
    return (struct span){out, used};
}

static struct span print_inet(const struct sockaddr *address, char out[static TEXT_MAX])
{
    struct sockaddr_in copy;
    memcpy(&copy, address, sizeof copy);
    if (inet_ntop(AF_INET, &copy.sin_addr, out, INET_ADDRSTRLEN) == NULL)
        return (struct span){"", 0};
    return (struct span){out, strlen(out)};
}

static const struct address_family {
    int family;
    const char *name;
    struct span (*print)(const struct sockaddr *address, char out[static TEXT_MAX]);
    size_t at, size; /* place of the address in its sockaddr; 0 if it has no netmask */
} FAMILIES[] = {
    {AF_INET, "inet", print_inet, offsetof(struct sockaddr_in, sin_addr), 4},
    {AF_INET6, "inet6", print_inet6, offsetof(struct sockaddr_in6, sin6_addr), 16},
    {AF_PACKET, "link", print_link, 0, 0},
};

/* Returns an empty text if there is no address, or one of another family. */
static struct span print(const struct address_family *family, const struct sockaddr *address,
                         char out[static TEXT_MAX])
{
    if (address == NULL || address->sa_family != family->family)
        return (struct span){"", 0};
    return family->print(address, out);
}

/* Sets the other address of an interface with that flag. The C library repeats the address itself
 * if the kernel reported no other one: that is ignored. */
static void put_other(const struct address_family *family, const struct ifaddrs *item,
                      unsigned flag, const struct sockaddr *other, struct span own,
                      vitals_metric metric, struct row_batch *out)
{
    char text[TEXT_MAX];
    struct span printed = {"", 0};
    if ((item->ifa_flags & flag) != 0)
        printed = print(family, other, text);
    bool is_own = printed.size == own.size && memcmp(printed.bytes, own.bytes, own.size) == 0;
    batch_set_text(out, metric, is_own ? (struct span){"", 0} : printed);
}

void addresses_write(const struct ifaddrs *list, struct row_batch *out)
{
    for (const struct ifaddrs *item = list; item != NULL && !out->failed; item = item->ifa_next) {
        const struct address_family *family = NULL;
        for (size_t i = 0; i < ARRAY_COUNT(FAMILIES) && item->ifa_addr != NULL; i++)
            if (FAMILIES[i].family == item->ifa_addr->sa_family)
                family = &FAMILIES[i];
        if (family == NULL || item->ifa_name == NULL)
            continue;
        char text[TEXT_MAX], mask_text[TEXT_MAX];
        const char *mask = (const char *)item->ifa_netmask;
        struct span name = {item->ifa_name, strlen(item->ifa_name)};
        if (batch_add_row(out, VITALS_TABLE_NETWORK_ADDRESS, 0, name) == NULL)
            return;
        struct span address = print(family, item->ifa_addr, text);
        batch_set_text(out, VITALS_NETWORK_ADDRESS_INTERFACE, name);
        batch_set_string(out, VITALS_NETWORK_ADDRESS_FAMILY, family->name);
        batch_set_text(out, VITALS_NETWORK_ADDRESS_ADDRESS, address);

        /* The family of a mask is not always set; its bytes have the form of the address. */
        if (mask != NULL && family->size != 0) {
            uint64_t bits = 0; /* bits up to the first 0 */
            while (bits < family->size * 8 &&
                   (mask[family->at + bits / 8] >> (7 - bits % 8) & 1) != 0)
                bits++;
            batch_set_u64(out, VITALS_NETWORK_ADDRESS_PREFIX_LENGTH, bits);
            batch_set_text(out, VITALS_NETWORK_ADDRESS_NETMASK,
                           family->print(item->ifa_netmask, mask_text));
        } else {
            batch_set_missing(out, VITALS_NETWORK_ADDRESS_PREFIX_LENGTH, VITALS_UNSUPPORTED);
            batch_set_missing(out, VITALS_NETWORK_ADDRESS_NETMASK, VITALS_UNSUPPORTED);
        }
        put_other(family, item, IFF_BROADCAST, item->ifa_broadaddr, address,
                  VITALS_NETWORK_ADDRESS_BROADCAST, out);
        put_other(family, item, IFF_POINTOPOINT, item->ifa_dstaddr, address,
                  VITALS_NETWORK_ADDRESS_PEER, out);
    }
}

int table_addresses(const struct os *os, struct row_batch *out)
{
    if (!os->live)
        return -ENOTSUP;
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list) != 0)
        return -errno;
    addresses_write(list, out);
    freeifaddrs(list);
    return out->failed ? -ENOMEM : 0;
}
