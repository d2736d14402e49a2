/* Any bytes as messages of netlink, and what each holds as attributes, one level of nests deep:
 * every span lies within what it was taken from, and each step goes on. */
#include "os/linux/netlink.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_within(struct span span, const char *from, size_t size)
{
    require(span.bytes >= from && span.size <= size);
    require((size_t)(span.bytes - from) <= size - span.size);
}

static void walk_attributes(struct span span, unsigned depth)
{
    struct cursor cursor = cursor_over(span.bytes, span.size);
    struct netlink_attribute found;
    const char *before = cursor.at;
    while (netlink_attribute_next(&cursor, &found)) {
        require(cursor.at > before && cursor.at <= cursor.end);
        require((found.type & ~0x3FFFu) == 0);
        require_within(found.value, span.bytes, span.size);
        struct span first;
        require(netlink_attribute_find(cursor_over(span.bytes, span.size), found.type, &first));
        require(first.bytes <= found.value.bytes);
        uint32_t number;
        require(netlink_u32(found.value, 0, &number) == (found.value.size >= sizeof number));
        if (depth > 0)
            walk_attributes(found.value, depth - 1);
        before = cursor.at;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct cursor cursor = cursor_over(bytes, size);
    struct nlmsghdr header;
    struct span payload;
    const char *before = cursor.at;
    int next;
    while ((next = netlink_message_next(&cursor, &header, &payload)) > 0) {
        require(cursor.at > before && cursor.at <= cursor.end);
        require_within(payload, bytes, size);
        require(payload.size == header.nlmsg_len - sizeof header);
        require(netlink_error(payload) <= 0);
        walk_attributes(payload, 1);
        if (payload.size >= 4) // behind the header of generic netlink
            walk_attributes((struct span){payload.bytes + 4, payload.size - 4}, 1);
        before = cursor.at;
    }
    return 0;
}
