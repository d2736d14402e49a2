/* count_taskstats.c: the kernel's record of each task that ends, those of the run picked out
 * (exit_records.h). Needs CAP_NET_ADMIN in the first namespaces.
 *
 * It alone knows the largest resident set of every single process, as each ended, and how many
 * there were; children that nobody waited for are in it. A record is written before the process
 * gives its memory back, so that the time of that is missing. */
#include "os/linux/count.h"
#include "os/linux/exit_records.h"
#include "os/linux/taskstats.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Room for what ends within a tick of the launcher; the kernel takes it only as records come. */
enum { ROOM_BYTES = 64 * 1024 * 1024, CPUS_BYTES = 512 };

struct state {
    const struct os *os;
    int socket;
    uint16_t family;
    char cpus[CPUS_BYTES];
    struct exit_tree *tree;
    struct exit_sums sums; /* of the run */
    bool lossy;
    int64_t maker; /* a fork of it shares the socket */
};

static const os_quantities WORTH = 1u << COUNTED_MEMORY_LARGEST_BYTES |
                                   1u << COUNTED_MEMORY_SUM_BYTES | 1u << COUNTED_PROCESSES;

static int tell_cpus(struct state *state, uint16_t attribute)
{
    char reply[TASKSTATS_REPLY];
    struct cursor attributes;
    const struct taskstats_question question = {.family = state->family,
                                                .command = TASKSTATS_CMD_GET,
                                                .attribute = attribute,
                                                .payload = state->cpus,
                                                .size = strlen(state->cpus) + 1};
    int64_t size = taskstats_ask(state->socket, &question, reply);
    if (size < 0)
        return size == -EAGAIN ? 0 : (int)size; /* silence is consent */
    int code = linux_parse_generic(reply, (size_t)size, &attributes);
    return code == -EBADMSG ? 0 : code;
}

static void close_taskstats(void *data)
{
    struct state *state = data;
    if (state->cpus[0] != '\0' && state->socket >= 0 && state->maker == os_self())
        (void)tell_cpus(state, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK);
    os_close_descriptor(state->socket);
    exit_tree_free(state->tree);
}

static int listen_to_all(struct state *state)
{
    const int room = ROOM_BYTES;
    state->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (state->socket < 0)
        return -errno;
    if (setsockopt(state->socket, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
        return -errno;
    int code = taskstats_family(state->socket, &state->family);
    if (code < 0)
        return code;
    int64_t size = linux_read_line(state->os, state->os->sys, "devices/system/cpu/possible",
                                   state->cpus, sizeof state->cpus);
    if (size <= 0 || size + 1 >= (int64_t)sizeof state->cpus) {
        state->cpus[0] = '\0';
        return -ENOTSUP;
    }
    code = tell_cpus(state, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);
    if (code < 0)
        state->cpus[0] = '\0';
    return code;
}

static int open_taskstats(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct state *state = data;
    state->socket = -1;
    if (!options->os->live || options->os->sys < 0)
        return -ENOTSUP;
    state->os = options->os;
    state->maker = os_self();
    int code = listen_to_all(state);
    if (code == 0) {
        state->tree = exit_tree_new((uint32_t)os_self());
        code = state->tree == NULL ? -ENOMEM : 0;
    }
    if (code < 0) {
        linux_trace(state->os, "records of ends by taskstats", -code);
        close_taskstats(state);
        return code;
    }
    *counts = WORTH;
    return 0;
}

/* A reply that is no record is not missed. */
static void take_record(struct state *state, const char *bytes, size_t size)
{
    struct exit_record record;
    if (exit_record_parse(bytes, size, &record) == 0)
        exit_tree_add(state->tree, &record);
}

/* Everything that has come, several with each call. */
static void drain(void *data)
{
    enum { BATCH = 8 };
    struct state *state = data;
    char bytes[BATCH][TASKSTATS_REPLY];
    struct iovec places[BATCH];
    struct mmsghdr messages[BATCH];
    for (;;) {
        for (size_t i = 0; i < BATCH; i++) {
            places[i] = (struct iovec){.iov_base = bytes[i], .iov_len = sizeof bytes[i]};
            messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &places[i], .msg_iovlen = 1}};
        }
        int count = recvmmsg(state->socket, messages, BATCH, MSG_DONTWAIT, NULL);
        if (count < 0 && errno == ENOBUFS)
            state->lossy = true;
        else if (count < 0 && errno != EINTR)
            return;
        for (int i = 0; i < count; i++)
            take_record(state, bytes[i], messages[i].msg_len);
    }
}

static void reaped_taskstats(void *data, const struct os_reaped *child)
{
    struct state *state = data;
    drain(state);
    if (!exit_tree_take(state->tree, (uint32_t)child->pid, &state->sums))
        state->lossy = true;
}

static void read_taskstats(void *data, struct counted *out)
{
    struct state *state = data;
    const struct exit_sums *sums = &state->sums;
    if (sums->processes == 0)
        return;
    const struct {
        enum quantity quantity;
        double value;
        vitals_availability state;
    } FIGURES[] = {
        {COUNTED_CPU_SECONDS, (double)sums->cpu_ns * 1e-9, VITALS_LOWER_BOUND},
        {COUNTED_READ_BYTES, (double)sums->read_bytes, VITALS_LOWER_BOUND},
        {COUNTED_WRITTEN_BYTES, (double)sums->written_bytes, VITALS_LOWER_BOUND},
        {COUNTED_MINOR_FAULTS, (double)sums->minor_faults, VITALS_LOWER_BOUND},
        {COUNTED_MAJOR_FAULTS, (double)sums->major_faults, VITALS_LOWER_BOUND},
        {COUNTED_VOLUNTARY_SWITCHES, (double)sums->voluntary, VITALS_LOWER_BOUND},
        {COUNTED_INVOLUNTARY_SWITCHES, (double)sums->involuntary, VITALS_LOWER_BOUND},
        {COUNTED_PROCESSES, (double)sums->processes, VITALS_HAVE},
        {COUNTED_MEMORY_LARGEST_BYTES, (double)sums->largest_bytes, VITALS_HAVE},
        {COUNTED_MEMORY_SUM_BYTES, (double)sums->sum_bytes, VITALS_HAVE},
    };
    bool lossy = state->lossy || exit_tree_is_cut(state->tree);
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++)
        os_count(out, FIGURES[i].quantity, FIGURES[i].value,
                 lossy && FIGURES[i].state == VITALS_HAVE ? VITALS_LOWER_BOUND : FIGURES[i].state,
                 lossy ? "taskstats, record of each end; some were lost"
                       : "taskstats, record of each end");
}

const struct os_counter count_taskstats = {
    .name = "taskstats",
    .size = sizeof(struct state),
    .worth = WORTH,
    .ended_only = true,
    .open = open_taskstats,
    .reaped = reaped_taskstats,
    .tick = drain,
    .read = read_taskstats,
    .close = close_taskstats,
};
