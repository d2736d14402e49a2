/* netlink.h: the parts of every netlink answer: messages, and the attributes in them (netlink(7),
 * linux/netlink.h).
 *
 * The kernel wrote them, and a size may still be wrong: each step is bounded by the bytes left.
 * Knows no family and makes no system calls. Thread rule: pure. */
#pragma once

#include "util/cursor.h"

#include <linux/netlink.h>

enum {
    NETLINK_HEADER = sizeof(struct nlmsghdr),
    NETLINK_ATTRIBUTE_HEADER = sizeof(struct nlattr),
};

/* Messages and attributes begin at multiples of four; the macros of linux/netlink.h are signed. */
static inline size_t netlink_aligned(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

/* The next message and what lies behind its header. 1; 0 at the end, where too little is left for a
 * header; -EBADMSG where its size is nonsense. */
int netlink_message_next(struct cursor *cursor, struct nlmsghdr *header, struct span *payload);

/* Returns the negative errno of an NLMSG_ERROR or NLMSG_DONE, or 0 for success or if it has none.
 */
int netlink_error(struct span payload);

struct netlink_attribute {
    unsigned type; /* without its two flags */
    struct span value;
};

/* The next attribute; false at the end, and from where a size is nonsense. */
bool netlink_attribute_next(struct cursor *cursor, struct netlink_attribute *out);

/* The value of the first one of that type; false where there is none. */
bool netlink_attribute_find(struct cursor cursor, unsigned type, struct span *value);

/* A number at a place of an array of them; false where it is too short. */
bool netlink_u32(struct span value, size_t index, uint32_t *out);
