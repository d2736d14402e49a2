/* exit_listener.c: see exit_listener.h. */
#include "os/linux/accounting/exit_listener.h"

#include "os/launch.h"
#include "os/linux/accounting/taskstats.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Room for what ends between two drains; the kernel takes it only as records come. */
enum {
    ROOM_BYTES = 64 * 1024 * 1024,
    BATCH = 8,
    /* More than the room holds, at 1 KiB a record and more; so there is an end however fast they
     * come. */
    BATCHES_MAX = 16384
};

static int tell_cpus(const struct exit_listener *listener, uint16_t attribute)
{
    char reply[TASKSTATS_REPLY];
    struct cursor attributes;
    const struct taskstats_question question = {.family = listener->family,
                                                .command = TASKSTATS_CMD_GET,
                                                .attribute = attribute,
                                                .payload = listener->cpus,
                                                .size = strlen(listener->cpus) + 1};
    int64_t size = taskstats_ask(listener->socket, &question, reply);
    if (size < 0)
        return size == -EAGAIN ? 0 : (int)size; /* silence is consent */
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

/* A reply that is no record is not missed. */
void exit_listener_drain(struct exit_listener *listener,
                         void (*take)(void *data, const struct exit_record *record), void *data)
{
    char bytes[BATCH][TASKSTATS_REPLY];
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
    if (listener->socket >= 0)
        os_close_descriptor(listener->socket);
    listener->socket = -1;
    listener->cpus[0] = '\0';
}
