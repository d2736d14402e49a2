/* Messages and attributes of netlink: answers of a kernel, and sizes that lie. */
#include "check.h"

#include "os/linux/netlink.h"

#include <errno.h>
#include <linux/genetlink.h>

/* Bytes that end where their memory does, so that a memory checker sees a step beyond. */
static char *exactly(const void *bytes, size_t size)
{
    char *copy = malloc(size != 0 ? size : 1);
    CHECK_NOT_NULL(copy);
    if (size != 0)
        memcpy(copy, bytes, size);
    return copy;
}

static void a_kernels_answer_is_walked(void)
{
    size_t size;
    char *text = check_read("netlink/family", &size);
    struct cursor cursor = cursor_over(text, size);
    struct nlmsghdr header;
    struct span payload, value;
    CHECK_INT(netlink_message_next(&cursor, &header, &payload), 1);
    CHECK_UINT(header.nlmsg_type, GENL_ID_CTRL);
    CHECK_UINT(payload.size, size - NETLINK_HEADER);
    CHECK_INT(netlink_message_next(&cursor, &header, &payload), 0);
    struct cursor attributes = cursor_over(payload.bytes + sizeof(struct genlmsghdr),
                                           payload.size - sizeof(struct genlmsghdr));
    static const unsigned TYPES[] = {
        CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_VERSION,
        CTRL_ATTR_HDRSIZE,     CTRL_ATTR_MAXATTR,   CTRL_ATTR_OPS,
    };
    struct cursor walk = attributes;
    struct netlink_attribute found;
    for (size_t i = 0; i < CHECK_COUNT(TYPES); i++) {
        CHECK(netlink_attribute_next(&walk, &found));
        CHECK_UINT(found.type, TYPES[i]);
    }
    CHECK_FALSE(netlink_attribute_next(&walk, &found));
    CHECK(netlink_attribute_find(attributes, CTRL_ATTR_FAMILY_NAME, &value));
    CHECK_BYTES(value.bytes, value.size, "TASKSTATS", sizeof "TASKSTATS");
    CHECK(netlink_attribute_find(attributes, CTRL_ATTR_OPS, &value));
    CHECK_UINT(value.size, 40);
    CHECK_FALSE(netlink_attribute_find(attributes, CTRL_ATTR_MCAST_GROUPS, &value));
    free(text);
}

/* Two messages of which the second's size is `length`, and `left` bytes of it are there. */
static int second_message(uint32_t length, size_t left)
{
    const struct nlmsghdr first = {.nlmsg_len = NETLINK_HEADER + 1, .nlmsg_seq = 7};
    const struct nlmsghdr second = {.nlmsg_len = length, .nlmsg_seq = 8};
    char bytes[128] = {0};
    memcpy(bytes, &first, sizeof first);
    memcpy(bytes + NETLINK_HEADER + 4, &second, sizeof second); // where the next multiple of 4 is
    char *copy = exactly(bytes, NETLINK_HEADER + 4 + left);
    struct cursor cursor = cursor_over(copy, NETLINK_HEADER + 4 + left);
    struct nlmsghdr header;
    struct span payload;
    CHECK_INT(netlink_message_next(&cursor, &header, &payload), 1);
    CHECK_UINT(payload.size, 1);
    int result = netlink_message_next(&cursor, &header, &payload);
    CHECK_UINT(header.nlmsg_seq, result > 0 ? 8 : 7); // untouched where there is none
    free(copy);
    return result;
}

static void sizes_of_messages_may_lie(void)
{
    static const struct {
        uint32_t length;
        size_t left;
        int expected;
    } cases[] = {
        {16, 16, 1},        {20, 20, 1},        {20, 19, -EBADMSG},
        {17, 20, 1},        {15, 16, -EBADMSG}, {0, 16, -EBADMSG},
        {16, 15, 0},        {16, 0, 0},         {UINT32_MAX, 40, -EBADMSG},
        {17, 16, -EBADMSG},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char name[48];
        snprintf(name, sizeof name, "%u of %zu", cases[i].length, cases[i].left);
        CHECK_CASE(name);
        CHECK_INT(second_message(cases[i].length, cases[i].left), cases[i].expected);
    }
    char lone[NETLINK_HEADER + 1] = {NETLINK_HEADER + 1}; // its padding lies beyond the end
    struct cursor cursor = cursor_over(lone, sizeof lone);
    struct nlmsghdr header;
    struct span payload;
    if (*(const unsigned char *)&(uint16_t){1} == 1) {
        CHECK_INT(netlink_message_next(&cursor, &header, &payload), 1);
        CHECK(cursor_done(&cursor));
    }
}

/* One attribute of four bytes, then one that says `length`, of which `left` bytes are there. */
static size_t count_attributes(uint16_t length, size_t left)
{
    const struct nlattr first = {.nla_len = 8, .nla_type = 1};
    const struct nlattr second = {.nla_len = length, .nla_type = NLA_F_NESTED | 2};
    char bytes[64] = {0};
    memcpy(bytes, &first, sizeof first);
    memcpy(bytes + 8, &second, sizeof second);
    char *copy = exactly(bytes, 8 + left);
    struct cursor cursor = cursor_over(copy, 8 + left);
    struct netlink_attribute found;
    size_t count = 0;
    while (netlink_attribute_next(&cursor, &found)) {
        count++;
        CHECK_UINT(found.type, count); // without its flags
        CHECK_UINT(found.value.size, count == 1 ? 4u : length - 4u);
    }
    free(copy);
    return count;
}

static void sizes_of_attributes_may_lie(void)
{
    static const struct {
        uint16_t length;
        size_t left, expected;
    } cases[] = {
        {4, 4, 2}, {7, 7, 2}, {8, 8, 2}, {8, 7, 1},  {3, 8, 1},
        {0, 8, 1}, {4, 3, 1}, {4, 0, 1}, {9, 12, 2}, {UINT16_MAX, 8, 1},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char name[48];
        snprintf(name, sizeof name, "%u of %zu", cases[i].length, cases[i].left);
        CHECK_CASE(name);
        CHECK_UINT(count_attributes(cases[i].length, cases[i].left), cases[i].expected);
    }
}

static void numbers_and_errors_need_their_bytes(void)
{
    const uint32_t numbers[] = {11, 12};
    uint32_t out = 99;
    struct span value = {(const char *)numbers, sizeof numbers};
    CHECK(netlink_u32(value, 1, &out));
    CHECK_UINT(out, 12);
    CHECK_FALSE(netlink_u32(value, 2, &out));
    CHECK_FALSE(netlink_u32(value, SIZE_MAX, &out));
    value.size--;
    CHECK_FALSE(netlink_u32(value, 1, &out));
    CHECK_UINT(out, 12);
    static const struct {
        int32_t number;
        size_t size;
        int expected;
    } cases[] = {
        {-EPERM, 4, -EPERM}, {-EPERM, 3, 0}, {0, 4, 0},         {5, 4, 0},
        {-4095, 4, -4095},   {-4096, 4, 0},  {INT32_MIN, 4, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++)
        CHECK_INT(netlink_error((struct span){(const char *)&cases[i].number, cases[i].size}),
                  cases[i].expected);
}

static const check_test tests[] = {
    {"a kernel's answer is walked", a_kernels_answer_is_walked},
    {"sizes of messages may lie", sizes_of_messages_may_lie},
    {"sizes of attributes may lie", sizes_of_attributes_may_lie},
    {"numbers and errors need their bytes", numbers_and_errors_need_their_bytes},
};
CHECK_TESTS(tests)
