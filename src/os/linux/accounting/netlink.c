/* netlink.c: see netlink.h. Structures are copied before use, because messages need not be
 * aligned. */
#include "os/linux/netlink.h"

#include <errno.h>
#include <string.h>

_Static_assert(NETLINK_HEADER % 4 == 0 && NETLINK_ATTRIBUTE_HEADER % 4 == 0,
               "nothing stands between a header and what it heads");

enum { ERRNO_MAX = 4095 };

static size_t left_of(const struct cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

int netlink_message_next(struct cursor *cursor, struct nlmsghdr *header, struct span *payload)
{
    size_t left = left_of(cursor);
    struct nlmsghdr found;
    if (left < sizeof found)
        return 0;
    memcpy(&found, cursor->at, sizeof found);
    if (found.nlmsg_len < sizeof found || found.nlmsg_len > left)
        return -EBADMSG;
    *header = found;
    *payload = (struct span){cursor->at + sizeof found, found.nlmsg_len - sizeof found};
    cursor->at += size_min(netlink_aligned(found.nlmsg_len), left);
    return 1;
}

int netlink_error(struct span payload)
{
    int32_t error;
    if (payload.size < sizeof error)
        return 0;
    memcpy(&error, payload.bytes, sizeof error);
    return error < 0 && error >= -ERRNO_MAX ? error : 0;
}

bool netlink_attribute_next(struct cursor *cursor, struct netlink_attribute *out)
{
    size_t left = left_of(cursor);
    struct nlattr found;
    if (left < sizeof found)
        return false;
    memcpy(&found, cursor->at, sizeof found);
    if (found.nla_len < sizeof found || found.nla_len > left)
        return false;
    *out = (struct netlink_attribute){
        .type = found.nla_type & (unsigned)NLA_TYPE_MASK,
        .value = {cursor->at + sizeof found, found.nla_len - sizeof found},
    };
    cursor->at += size_min(netlink_aligned(found.nla_len), left);
    return true;
}

bool netlink_attribute_find(struct cursor cursor, unsigned type, struct span *value)
{
    for (struct netlink_attribute found; netlink_attribute_next(&cursor, &found);) {
        if (found.type == type) {
            *value = found.value;
            return true;
        }
    }
    return false;
}

bool netlink_u32(struct span value, size_t index, uint32_t *out)
{
    if (value.size / sizeof *out <= index)
        return false;
    memcpy(out, value.bytes + index * sizeof *out, sizeof *out);
    return true;
}
