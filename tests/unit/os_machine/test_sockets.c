/* The table socket: what every kind of socket of this process becomes, by sock_diag and by
 * /proc/PID/net, and that both ways tell the same. */
#include "socket_world.h"

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>

/* ---- every kind, both ways ---- */

static void check_internet(int family, const char *name, const char *local)
{
    int listener = listening(family);
    int client = connected(family, SOCK_STREAM, port_of(listener));
    int server = accepted(listener);
    int datagrams = bound(family, SOCK_DGRAM);
    int sender = connected(family, SOCK_DGRAM, port_of(datagrams));
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        check_line(listener, "%s stream tcp [%s] %u [] <unsupported> listen", name, local,
                   port_of(listener));
        check_line(client, "%s stream tcp [%s] %u [%s] %u established", name, local,
                   port_of(client), local, port_of(listener));
        check_line(server, "%s stream tcp [%s] %u [%s] %u established", name, local,
                   port_of(listener), local, port_of(client));
        check_line(datagrams, "%s datagram udp [%s] %u [] <unsupported> none", name, local,
                   port_of(datagrams));
        check_line(sender, "%s datagram udp [%s] %u [%s] %u none", name, local, port_of(sender),
                   local, port_of(datagrams));
        CHECK_UINT(number_of(need_row(getpid(), client), VITALS_SOCKET_UID), getuid());
        os_close(&os);
    }
    close_all();
}

static void inet_sockets_have_both_ends(void)
{
    check_internet(AF_INET, "inet", "127.0.0.1");
}

static void inet6_sockets_have_both_ends(void)
{
    if (!has_inet6())
        CHECK_SKIP("there is no ::1 here");
    check_internet(AF_INET6, "inet6", "::1");
}

static void a_mapped_address_is_inet6(void)
{
    if (!has_inet6())
        CHECK_SKIP("there is no IPv6 here");
    int listener = keep(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    union address any = {.inet6 = {.sin6_family = AF_INET6}};
    int off = 0;
    setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(listener, &any.any, sizeof any.inet6) != 0 || listen(listener, 1) != 0)
        CHECK_FAIL("bind: %s", strerror(errno));
    int client = connected(AF_INET, SOCK_STREAM, port_of(listener));
    int server = accepted(listener);
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        check_line(listener, "inet6 stream tcp [::] %u [] <unsupported> listen", port_of(listener));
        check_line(server,
                   "inet6 stream tcp [::ffff:127.0.0.1] %u [::ffff:127.0.0.1] %u established",
                   port_of(listener), port_of(client));
        os_close(&os);
    }
    close_all();
}

static void queues_are_told(void)
{
    int listener = listening(AF_INET);
    int client = connected(AF_INET, SOCK_STREAM, port_of(listener));
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        // One connection waits; what bounds the backlog is no byte to be sent.
        const struct batch_row *row = need_row(getpid(), listener);
        CHECK_UINT(number_of(row, VITALS_SOCKET_RECEIVE_QUEUE_BYTES), 1);
        CHECK_STR(shown(row, VITALS_SOCKET_SEND_QUEUE_BYTES), "<unsupported>");
        os_close(&os);
    }
    int server = accepted(listener);
    CHECK_INT(send(client, "hello", 5, 0), 5);
    char byte;
    CHECK_INT(recv(server, &byte, 1, MSG_PEEK), 1); // so it has arrived
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        CHECK_UINT(number_of(need_row(getpid(), server), VITALS_SOCKET_RECEIVE_QUEUE_BYTES), 5);
        os_close(&os);
    }
    close_all();
}

static void check_queue(int descriptor, vitals_metric metric, int state, uint64_t least,
                        uint64_t most)
{
    const struct batch_cell *cell = batch_find(&batch, need_row(getpid(), descriptor), metric);
    CHECK_NOT_NULL(cell);
    CHECK_INT(cell->state, state);
    if (state > 0 && (cell->as.u64 < least || cell->as.u64 > most))
        CHECK_FAIL("%llu waiting", (unsigned long long)cell->as.u64);
}

static const vitals_metric IN = VITALS_SOCKET_RECEIVE_QUEUE_BYTES;
static const vitals_metric OUT = VITALS_SOCKET_SEND_QUEUE_BYTES;

/* Of one byte that waits in a datagram the kernel tells the memory that it takes. */
static void memory_is_not_bytes(void)
{
    int datagrams = bound(AF_INET, SOCK_DGRAM);
    int sender = connected(AF_INET, SOCK_DGRAM, port_of(datagrams));
    CHECK_INT(send(sender, "x", 1, 0), 1);
    struct pollfd arrival = {.fd = datagrams, .events = POLLIN};
    CHECK_INT(poll(&arrival, 1, 10000), 1);
    int streams[2], messages[2], packets[2];
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, streams), 0);
    CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, messages), 0);
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, packets), 0);
    for (size_t i = 0; i < 2; i++) {
        keep(streams[i]), keep(messages[i]), keep(packets[i]);
        CHECK_INT(send(streams[0], "abc", 3, 0), 3);
        CHECK_INT(send(messages[0], "abc", 3, 0), 3);
        CHECK_INT(send(packets[0], "abc", 3, 0), 3);
    }
    int netlink = keep(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
    struct sockaddr own = {.sa_family = AF_NETLINK};
    CHECK_INT(bind(netlink, &own, 12), 0);
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        int exact = way == 0 ? VITALS_HAVE : VITALS_UNSUPPORTED;
        int estimate = way == 0 ? VITALS_ESTIMATE : VITALS_UNSUPPORTED;
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        check_queue(datagrams, IN, VITALS_ESTIMATE, 1, 100000);
        check_queue(sender, OUT, VITALS_ESTIMATE, 0, 100000);
        check_queue(netlink, IN, VITALS_ESTIMATE, 0, 0);
        check_queue(streams[1], IN, exact, 6, 6);
        check_queue(streams[0], OUT, estimate, 6, 100000);
        check_queue(packets[1], IN, exact, 6, 6);
        check_queue(messages[1], IN, estimate, 3, 3);
        os_close(&os);
    }
    close_all();
}

static void unix_sockets_keep_their_names(void)
{
    struct tree tree = tree_new();
    char path[108];
    int size = snprintf(path, sizeof path, "%s/a b\nc ", tree.path);
    static const char ABSTRACT[] = "\0vitals test\0\0x";
    int listener = unix_bound(SOCK_STREAM, path, (size_t)size);
    CHECK_INT(listen(listener, 1), 0);
    int client = unix_connected(SOCK_STREAM, path, (size_t)size);
    int server = accepted(listener);
    int datagrams = unix_bound(SOCK_DGRAM, ABSTRACT, sizeof ABSTRACT - 1);
    int sender = unix_connected(SOCK_DGRAM, ABSTRACT, sizeof ABSTRACT - 1);
    int pair[2];
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    keep(pair[0]), keep(pair[1]);
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        bool peers = way == 0; // the file does not tell them
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        check_line(listener, "unix stream unix [%s/a b\\nc ] <unsupported> [] <unsupported> listen",
                   tree.path);
        char remote[128];
        snprintf(remote, sizeof remote, peers ? "[%s/a b\\nc ]" : "<unsupported>", tree.path);
        const struct batch_row *row = need_row(getpid(), client);
        CHECK_STR(shown(row, VITALS_SOCKET_LOCAL_ADDRESS), "");
        CHECK_STR(shown(row, VITALS_SOCKET_STATE), "established");
        check_line(server,
                   "unix stream unix [%s/a b\\nc ] <unsupported> [%s] <unsupported> "
                   "established",
                   tree.path, peers ? "" : "<unsupported>");
        check_line(client,
                   peers ? "unix stream unix [] <unsupported> [%s/a b\\nc ] <unsupported> "
                           "established"
                         : "unix stream unix [] <unsupported> [<unsupported>] <unsupported> "
                           "established%.0s",
                   tree.path);
        row = need_row(getpid(), datagrams); // its state changes when a client connects
        CHECK_STR(shown(row, VITALS_SOCKET_LOCAL_ADDRESS), "@vitals test@@x");
        CHECK_STR(shown(row, VITALS_SOCKET_TYPE), "datagram");
        if (peers)
            CHECK_STR(shown(row, VITALS_SOCKET_REMOTE_ADDRESS), "");
        CHECK_STR(shown(need_row(getpid(), sender), VITALS_SOCKET_REMOTE_ADDRESS),
                  peers ? "@vitals test@@x" : "<unsupported>");
        check_line(pair[0], "unix seqpacket unix [] <unsupported> [%s] <unsupported> established",
                   peers ? "" : "<unsupported>");
        os_close(&os);
    }
    close_all();
    tree_free(&tree);
}

/* An address of this machine that is valid on one interface only; false where there is none. */
static bool find_link_local(struct sockaddr_in6 *out)
{
    struct ifaddrs *list = NULL;
    CHECK_INT(getifaddrs(&list), 0);
    bool found = false;
    for (const struct ifaddrs *item = list; item != NULL && !found; item = item->ifa_next) {
        if (item->ifa_addr == NULL || item->ifa_addr->sa_family != AF_INET6)
            continue;
        memcpy(out, item->ifa_addr, sizeof *out);
        found = IN6_IS_ADDR_LINKLOCAL(&out->sin6_addr);
    }
    freeifaddrs(list);
    return found;
}

static void link_local_addresses_have_scopes(void)
{
    struct sockaddr_in6 address;
    if (!find_link_local(&address))
        CHECK_SKIP("no interface has a link-local address");
    int datagrams = keep(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    address.sin6_port = 0;
    if (bind(datagrams, (struct sockaddr *)&address, sizeof address) != 0) {
        close_all();
        CHECK_SKIP("the link-local address is not ready");
    }
    char text[INET6_ADDRSTRLEN], name[IF_NAMESIZE], expected[128];
    inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text);
    CHECK_NOT_NULL(if_indextoname(address.sin6_scope_id, name));
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        snprintf(expected, sizeof expected, way == 0 ? "%s%%%s" : "%s%.0s", text, name);
        CHECK_STR(shown(need_row(getpid(), datagrams), VITALS_SOCKET_LOCAL_ADDRESS), expected);
        os_close(&os);
    }
    close_all();
}

static void other_families_have_rows(void)
{
    int netlink = keep(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
    struct sockaddr own = {.sa_family = AF_NETLINK};
    CHECK_INT(bind(netlink, &own, 12), 0);
    int raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
    int packet = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(3));
    bool may = raw >= 0 && packet >= 0;
    if (may) {
        keep(raw), keep(packet);
        struct sockaddr_ll place = {.sll_family = AF_PACKET,
                                    .sll_protocol = htons(3),
                                    .sll_ifindex = (int)if_nametoindex("lo")};
        CHECK_INT(bind(packet, (struct sockaddr *)&place, sizeof place), 0);
    }
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        const struct batch_row *row = need_row(getpid(), netlink);
        CHECK_STR(shown(row, VITALS_SOCKET_FAMILY), "netlink");
        CHECK_STR(shown(row, VITALS_SOCKET_PROTOCOL), "route");
        CHECK_STR(shown(row, VITALS_SOCKET_TYPE), way == 0 ? "raw" : "<unsupported>");
        CHECK(number_of(row, VITALS_SOCKET_LOCAL_PORT) != 0);
        if (may) {
            check_line(raw, "inet raw icmp [0.0.0.0] <unsupported> [] <unsupported> none");
            char index[16];
            snprintf(index, sizeof index, "%u", if_nametoindex("lo"));
            check_line(packet, "packet raw all [%s] <unsupported> [] <unsupported> none",
                       way == 0 ? "lo" : index);
        }
        os_close(&os);
    }
    close_all();
    if (!may)
        CHECK_SKIP("raw and packet sockets are not permitted");
}

static void every_descriptor_has_its_row(void)
{
    int listener = listening(AF_INET);
    int twin = keep(fcntl(listener, F_DUPFD_CLOEXEC, 40));
    int third = keep(fcntl(listener, F_DUPFD_CLOEXEC, 20));
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        uint64_t last = 0;
        for (size_t i = 0; i < batch.row_count; i++) {
            uint64_t descriptor = number_of(&batch.rows[i], VITALS_SOCKET_DESCRIPTOR);
            CHECK(i == 0 || descriptor > last);
            CHECK_UINT(batch.rows[i].key, i + 1);
            last = descriptor;
        }
        const int all[] = {listener, twin, third};
        for (size_t i = 0; i < CHECK_COUNT(all); i++)
            check_line(all[i], "inet stream tcp [127.0.0.1] %u [] <unsupported> listen",
                       port_of(listener));
        os_close(&os);
    }
    close_all();
}

/* Neither the kernel's lists nor psutil know a socket that was never bound. */
static void what_no_list_has_keeps_its_row(void)
{
    int fresh = keep(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    struct os os = open_way(0);
    CHECK_INT(read_process(&os, getpid()), 0);
    const struct batch_row *row = need_row(getpid(), fresh);
    CHECK(number_of(row, VITALS_SOCKET_INODE) != 0);
    CHECK_STR(line_of(row), "inet stream tcp [<unsupported>] <unsupported> [<unsupported>] "
                            "<unsupported> <unsupported>");
    os_close(&os);
    os = open_way(1); // of another /proc not even the family can be asked
    CHECK_INT(read_process(&os, getpid()), 0);
    CHECK_STR(shown(need_row(getpid(), fresh), VITALS_SOCKET_FAMILY), "<unsupported>");
    os_close(&os);
    close_all();
}

static void what_is_bound_and_idle_is_closed(void)
{
    int idle = bound(AF_INET, SOCK_STREAM);
    struct os os = open_way(0);
    CHECK_INT(read_process(&os, getpid()), 0);
    const char *state = shown(need_row(getpid(), idle), VITALS_SOCKET_STATE);
    if (strcmp(state, "<unsupported>") == 0) {
        os_close(&os);
        close_all();
        CHECK_SKIP("this kernel does not list it (before Linux 6.8)");
    }
    check_line(idle, "inet stream tcp [127.0.0.1] %u [] <unsupported> close", port_of(idle));
    os_close(&os);
    close_all();
}

static void only_what_is_wanted_is_told(void)
{
    int listener = listening(AF_INET);
    struct os os = open_way(0);
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_SOCKET_INODE);
    batch_reset(&batch, &wanted);
    CHECK_INT(os_process_table(&os, getpid(), VITALS_TABLE_SOCKET, &batch), 0);
    CHECK(batch.row_count >= 1);
    CHECK_UINT(batch.count, batch.row_count);
    CHECK_INT(batch.states[VITALS_TABLE_SOCKET], VITALS_HAVE);
    os_close(&os);
    (void)listener;
    close_all();
}

/* ---- both ways are one ---- */

struct told {
    int descriptor;
    char columns[VITALS_SOCKET_SEND_QUEUE_BYTES - VITALS_SOCKET_FAMILY + 1][128];
};

static size_t tell(struct told *out, size_t capacity)
{
    size_t count = size_min(batch.row_count, capacity);
    for (size_t i = 0; i < count; i++) {
        out[i].descriptor = (int)number_of(&batch.rows[i], VITALS_SOCKET_DESCRIPTOR);
        for (size_t c = 0; c < CHECK_COUNT(out[i].columns); c++)
            snprintf(out[i].columns[c], sizeof out[i].columns[c], "%s",
                     shown(&batch.rows[i], (vitals_metric)(VITALS_SOCKET_FAMILY + c)));
    }
    return count;
}

/* Where the file says nothing, it does not say something else. */
static void both_ways_tell_the_same(void)
{
    static struct told ways[2][SOCKETS];
    size_t counts[2];
    int listener = listening(AF_INET);
    connected(AF_INET, SOCK_STREAM, port_of(listener));
    accepted(listener);
    connected(AF_INET, SOCK_DGRAM, port_of(bound(AF_INET, SOCK_DGRAM)));
    if (has_inet6()) {
        int other = listening(AF_INET6);
        connected(AF_INET6, SOCK_STREAM, port_of(other));
        connected(AF_INET6, SOCK_DGRAM, port_of(bound(AF_INET6, SOCK_DGRAM)));
    }
    int named = unix_bound(SOCK_SEQPACKET, "\0a b", 4);
    CHECK_INT(listen(named, 3), 0);
    unix_connected(SOCK_SEQPACKET, "\0a b", 4);
    keep(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 4));
    for (size_t way = 0; way < 2; way++) {
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        counts[way] = tell(ways[way], SOCKETS);
        os_close(&os);
    }
    CHECK_UINT(counts[0], counts[1]);
    size_t same = 0;
    for (size_t i = 0; i < counts[0]; i++) {
        CHECK_INT(ways[0][i].descriptor, ways[1][i].descriptor);
        for (size_t c = 0; c < CHECK_COUNT(ways[0][i].columns); c++) {
            if (strcmp(ways[1][i].columns[c], "<unsupported>") == 0)
                continue;
            CHECK_STR(ways[1][i].columns[c], ways[0][i].columns[c]);
            same++;
        }
    }
    CHECK(same >= counts[0] * 9);
    close_all();
}

/* ---- when memory is out, and what is left open ---- */

static void check_failing_memory(int (*read_it)(const struct os *os))
{
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        size_t descriptors = check_open_descriptors();
        int result = -ENOMEM;
        for (uint64_t nth = 1; result == -ENOMEM; nth++) {
            batch_done(&batch);
            int64_t live = memory_live();
            memory_fail_at(nth);
            result = read_it(&os);
            memory_fail_at(0);
            CHECK(result == -ENOMEM || result == 0);
            batch_done(&batch);
            CHECK_INT(memory_live(), live);
            CHECK(nth < 2000);
        }
        CHECK_UINT(check_open_descriptors(), descriptors);
        os_close(&os);
    }
}

static int read_self(const struct os *os)
{
    return read_process(os, getpid());
}

static void the_nth_allocation_may_fail(void)
{
    int listener = listening(AF_INET);
    connected(AF_INET, SOCK_STREAM, port_of(listener));
    unix_bound(SOCK_DGRAM, "\0nth", 4);
    keep(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    check_failing_memory(read_self);
    check_failing_memory(read_machine);
    close_all();
}

static const check_test tests[] = {
    {"inet sockets have both ends", inet_sockets_have_both_ends},
    {"inet6 sockets have both ends", inet6_sockets_have_both_ends},
    {"a mapped address is inet6", a_mapped_address_is_inet6},
    {"queues are told", queues_are_told},
    {"unix sockets keep their names", unix_sockets_keep_their_names},
    {"memory is not bytes", memory_is_not_bytes},
    {"link-local addresses have scopes", link_local_addresses_have_scopes},
    {"other families have rows", other_families_have_rows},
    {"every descriptor has its row", every_descriptor_has_its_row},
    {"what no list has keeps its row", what_no_list_has_keeps_its_row},
    {"what is bound and idle is closed", what_is_bound_and_idle_is_closed},
    {"only what is wanted is told", only_what_is_wanted_is_told},
    {"both ways tell the same", both_ways_tell_the_same},
    {"the nth allocation may fail", the_nth_allocation_may_fail},
};
CHECK_TESTS(tests)
