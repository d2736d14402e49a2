/* taskstats.c: the kernel's accounting of tasks, by generic netlink
 * (Documentation/accounting/taskstats.rst): its sums over the threads of a process, and its record
 * of each task that ends.
 *
 * For sums a socket is opened, asked and closed at each call: nothing is kept, and nothing is
 * waited for, since the kernel answers before sending returns. Thread rule: as taskstats.h says. */
#include "os/linux/accounting/taskstats.h"
#include "os/launch.h"
#include "os/linux/netlink.h"
#include "os/linux/process/process_metrics.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdalign.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum {
    REPLY_BYTES = 4096,
    ASK_BYTES = 1024,
    HEADERS = NETLINK_HEADER + sizeof(struct genlmsghdr),
};

struct taskstats_question {
    uint16_t family, attribute;
    uint8_t command;
    const void *payload;
    size_t size;
};

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

/* Kernels have appended to the struct since 2006: up to the newest field that is needed. */
enum { STATS_BYTES = offsetof(struct taskstats, freepages_delay_total) + sizeof(uint64_t) };

int linux_parse_taskstats(const char *bytes, size_t size, struct linux_taskstats *out)
{
    struct cursor attributes;
    struct span nested, told;
    struct taskstats stats;
    int result = linux_parse_generic(bytes, size, &attributes);
    if (result < 0)
        return result;
    if (!netlink_attribute_find(attributes, TASKSTATS_TYPE_AGGR_TGID, &nested) ||
        !netlink_attribute_find(cursor_over(nested.bytes, nested.size), TASKSTATS_TYPE_STATS,
                                &told) ||
        told.size < STATS_BYTES)
        return -EBADMSG;
    memcpy(&stats, told.bytes, STATS_BYTES);
    *out = (struct linux_taskstats){.voluntary = stats.nvcsw,
                                    .involuntary = stats.nivcsw,
                                    .runs = stats.cpu_count,
                                    .run_delay_ns = stats.cpu_delay_total,
                                    .block_delay_ns = stats.blkio_delay_total,
                                    .swap_delay_ns = stats.swapin_delay_total,
                                    .reclaim_delay_ns = stats.freepages_delay_total};
    return 0;
}

/* Sends a query and receives the answer. Returns its size or a negative errno: -EAGAIN if there was
 * no answer, because the kernel answers before send returns. */
static int64_t taskstats_ask(int descriptor, const struct taskstats_question *question,
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

/* Reads the number of the family taskstats. Returns -ENOTSUP if there is none. */
static int taskstats_family(int descriptor, uint16_t *family)
{
    char reply[REPLY_BYTES];
    const struct taskstats_question question = {.family = GENL_ID_CTRL,
                                                .command = CTRL_CMD_GETFAMILY,
                                                .attribute = CTRL_ATTR_FAMILY_NAME,
                                                .payload = TASKSTATS_GENL_NAME,
                                                .size = sizeof TASKSTATS_GENL_NAME};
    int64_t size = taskstats_ask(descriptor, &question, reply);
    int result = size < 0 ? (int)size : linux_parse_family(reply, (size_t)size, family);
    return result == -ENOENT ? -ENOTSUP : result; /* a kernel without taskstats, or a namespace */
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

/* Buffer for tasks that end between two drains; the kernel allocates it only as records arrive. */
enum {
    ROOM_BYTES = 64 * 1024 * 1024,
    BATCH = 8,
    /* More than the buffer holds, at 1 KiB or more per record; so the loop ends however fast they
     * arrive. */
    BATCHES_MAX = 16384
};

static int tell_cpus(const struct exit_listener *listener, uint16_t attribute)
{
    char reply[REPLY_BYTES];
    struct cursor attributes;
    const struct taskstats_question question = {.family = listener->family,
                                                .command = TASKSTATS_CMD_GET,
                                                .attribute = attribute,
                                                .payload = listener->cpus,
                                                .size = strlen(listener->cpus) + 1};
    int64_t size = taskstats_ask(listener->socket, &question, reply);
    if (size < 0)
        return size == -EAGAIN ? 0 : (int)size; /* no answer means success */
    int code = linux_parse_generic(reply, (size_t)size, &attributes);
    return code == -EBADMSG ? 0 : code;
}

int exit_listener_open(struct exit_listener *listener, const struct os *os)
{
    const int room = ROOM_BYTES;
    *listener = (struct exit_listener){.os = os, .socket = -1, .maker = os_self()};
    if (!os->live || os->sys < 0)
        return -ENOTSUP;
    listener->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    int code = 0;
    if (listener->socket < 0 ||
        setsockopt(listener->socket, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
        code = -errno;
    if (code == 0)
        code = taskstats_family(listener->socket, &listener->family);
    if (code == 0) {
        int64_t size = linux_read_line(os, os->sys, "devices/system/cpu/possible", listener->cpus,
                                       sizeof listener->cpus);
        bool told = size > 0 && size + 1 < (int64_t)sizeof listener->cpus;
        code = told ? tell_cpus(listener, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK) : -ENOTSUP;
    }
    if (code == 0)
        return 0;
    listener->cpus[0] = '\0';
    linux_trace(os, "records of ends by taskstats", -code);
    exit_listener_close(listener);
    return code;
}

/* A reply that is not a record is ignored. */
void exit_listener_drain(struct exit_listener *listener,
                         void (*take)(void *data, const struct exit_record *record), void *data)
{
    char bytes[BATCH][REPLY_BYTES];
    struct iovec places[BATCH];
    struct mmsghdr messages[BATCH];
    struct exit_record record;
    for (int batches = 0; listener->socket >= 0 && batches < BATCHES_MAX; batches++) {
        for (size_t i = 0; i < BATCH; i++) {
            places[i] = (struct iovec){.iov_base = bytes[i], .iov_len = sizeof bytes[i]};
            messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &places[i], .msg_iovlen = 1}};
        }
        int count = recvmmsg(listener->socket, messages, BATCH, MSG_DONTWAIT, NULL);
        if (count < 0 && errno == ENOBUFS)
            listener->lossy = true;
        else if (count < 0 && errno != EINTR)
            return;
        for (int i = 0; i < count; i++) {
            if (exit_record_parse(bytes[i], messages[i].msg_len, &record) == 0)
                take(data, &record);
        }
    }
}

void exit_listener_close(struct exit_listener *listener)
{
    if (listener->socket >= 0 && listener->cpus[0] != '\0' && listener->maker == os_self())
        (void)tell_cpus(listener, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK);
    os_close_descriptor(listener->socket);
    listener->socket = -1;
    listener->cpus[0] = '\0';
}
