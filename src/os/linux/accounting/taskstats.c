/* taskstats.c: what the kernel sums up over the threads of a process, by generic netlink
 * (Documentation/accounting/taskstats.rst).
 *
 * A socket is opened, asked and closed at each call: nothing is kept, and nothing is waited for,
 * since the kernel answers before sending returns. Thread rule: any thread. */
#include "os/linux/accounting/taskstats.h"
#include "os/linux/netlink.h"
#include "os/linux/process/process_metrics.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <stdalign.h>
#include <string.h>
#include <sys/socket.h>

enum {
    REPLY_BYTES = TASKSTATS_REPLY,
    ASK_BYTES = 1024,
    HEADERS = NETLINK_HEADER + sizeof(struct genlmsghdr),
};

/* ---- answers ---- */

int linux_parse_generic(const char *bytes, size_t size, struct cursor *attributes)
{
    struct cursor cursor = cursor_over(bytes, size);
    struct nlmsghdr header;
    struct span payload;
    if (netlink_message_next(&cursor, &header, &payload) <= 0)
        return -EBADMSG;
    int error = header.nlmsg_type == NLMSG_ERROR ? netlink_error(payload) : 0;
    if (error < 0)
        return error;
    if (header.nlmsg_type == NLMSG_ERROR || payload.size < sizeof(struct genlmsghdr))
        return -EBADMSG;
    *attributes = cursor_over(payload.bytes + sizeof(struct genlmsghdr),
                              payload.size - sizeof(struct genlmsghdr));
    return 0;
}

int linux_parse_family(const char *bytes, size_t size, uint16_t *id)
{
    struct cursor attributes;
    struct span value;
    int result = linux_parse_generic(bytes, size, &attributes);
    if (result < 0)
        return result;
    if (!netlink_attribute_find(attributes, CTRL_ATTR_FAMILY_ID, &value) || value.size < sizeof *id)
        return -EBADMSG;
    memcpy(id, value.bytes, sizeof *id);
    return 0;
}

/* Kernels have appended to the struct since 2006: a field that is not there fails. */
static bool take(struct span stats, size_t place, uint64_t *out)
{
    if (stats.size < place + sizeof *out)
        return false;
    memcpy(out, stats.bytes + place, sizeof *out);
    return true;
}

int linux_parse_taskstats(const char *bytes, size_t size, struct linux_taskstats *out)
{
    struct cursor attributes;
    struct span nested, stats;
    struct linux_taskstats found;
    int result = linux_parse_generic(bytes, size, &attributes);
    if (result < 0)
        return result;
    if (!netlink_attribute_find(attributes, TASKSTATS_TYPE_AGGR_TGID, &nested) ||
        !netlink_attribute_find(cursor_over(nested.bytes, nested.size), TASKSTATS_TYPE_STATS,
                                &stats))
        return -EBADMSG;
    if (!take(stats, offsetof(struct taskstats, cpu_count), &found.runs) ||
        !take(stats, offsetof(struct taskstats, cpu_delay_total), &found.run_delay_ns) ||
        !take(stats, offsetof(struct taskstats, blkio_delay_total), &found.block_delay_ns) ||
        !take(stats, offsetof(struct taskstats, swapin_delay_total), &found.swap_delay_ns) ||
        !take(stats, offsetof(struct taskstats, nvcsw), &found.voluntary) ||
        !take(stats, offsetof(struct taskstats, nivcsw), &found.involuntary) ||
        !take(stats, offsetof(struct taskstats, freepages_delay_total), &found.reclaim_delay_ns))
        return -EBADMSG;
    *out = found;
    return 0;
}

/* ---- questions ---- */

int64_t taskstats_ask(int descriptor, const struct taskstats_question *question,
                      char reply[static REPLY_BYTES])
{
    alignas(struct nlmsghdr) char bytes[ASK_BYTES] = {0};
    struct nlattr attribute = {.nla_len = (uint16_t)(NETLINK_ATTRIBUTE_HEADER + question->size),
                               .nla_type = question->attribute};
    size_t size = HEADERS + netlink_aligned(attribute.nla_len);
    if (size > sizeof bytes)
        return -EINVAL;
    struct nlmsghdr header = {
        .nlmsg_len = (uint32_t)size, .nlmsg_type = question->family, .nlmsg_flags = NLM_F_REQUEST};
    struct genlmsghdr generic = {.cmd = question->command, .version = 1};
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + NETLINK_HEADER, &generic, sizeof generic);
    memcpy(bytes + HEADERS, &attribute, sizeof attribute);
    memcpy(bytes + HEADERS + NETLINK_ATTRIBUTE_HEADER, question->payload, question->size);
    if (send(descriptor, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return -errno;
    ssize_t got = recv(descriptor, reply, REPLY_BYTES, MSG_DONTWAIT);
    return got < 0 ? -errno : got;
}

int taskstats_family(int descriptor, uint16_t *family)
{
    char reply[REPLY_BYTES];
    const struct taskstats_question question = {.family = GENL_ID_CTRL,
                                                .command = CTRL_CMD_GETFAMILY,
                                                .attribute = CTRL_ATTR_FAMILY_NAME,
                                                .payload = TASKSTATS_GENL_NAME,
                                                .size = sizeof TASKSTATS_GENL_NAME};
    int64_t size = taskstats_ask(descriptor, &question, reply);
    int result = size < 0 ? (int)size : linux_parse_family(reply, (size_t)size, family);
    return result == -ENOENT ? -ENOTSUP : result; // a kernel without, or a namespace
}

int linux_taskstats(const struct os *os, int64_t pid, struct linux_taskstats *out)
{
    if (!os->live || pid < 1 || pid > INT32_MAX)
        return -ENOTSUP;
    char reply[REPLY_BYTES];
    uint32_t group = (uint32_t)pid;
    struct taskstats_question stats = {.command = TASKSTATS_CMD_GET,
                                       .attribute = TASKSTATS_CMD_ATTR_TGID,
                                       .payload = &group,
                                       .size = sizeof group};
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    int64_t result = descriptor < 0 ? -errno : taskstats_family(descriptor, &stats.family);
    if (result == 0)
        result = taskstats_ask(descriptor, &stats, reply);
    if (result >= 0)
        result = linux_parse_taskstats(reply, (size_t)result, out);
    os_close_descriptor(descriptor);
    if (result < 0)
        linux_trace(os, "taskstats", (int)-result);
    return (int)result;
}
