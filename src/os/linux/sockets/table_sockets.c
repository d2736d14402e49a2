/* table_sockets.c: the table socket: of our network namespace, and of one process.
 *
 * A process's sockets are those of its network namespace, which may be another one: then its own
 * /proc/PID/net is read. A socket that is in no list (never bound, made in a namespace that the
 * process has left since, or of a family without a list) keeps its row, with the fields that are
 * known. Thread rule: any thread; sock_diag reports the calling thread's network namespace. */
#include "os/linux/sockets/sockets.h"
#include "os/linux/tables.h"

#include "util/number.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* If several groups have one inode, the first one is the socket of the process: an mptcp socket
 * before the tcp flows that carry it, an sctp endpoint before its associations. The file of unix
 * sockets has names that any user can choose, so it comes last. */
static const struct socket_group GROUPS[] = {
    {AF_INET, SOCK_STREAM, SOCKET_MPTCP, NULL, NET_INET, true},
    {AF_INET6, SOCK_STREAM, SOCKET_MPTCP, NULL, NET_INET, true},
    {AF_INET, SOCK_STREAM, IPPROTO_TCP, "tcp", NET_INET, true},
    {AF_INET6, SOCK_STREAM, IPPROTO_TCP, "tcp6", NET_INET, true},
    {AF_INET, SOCK_DGRAM, IPPROTO_UDP, "udp", NET_INET, true},
    {AF_INET6, SOCK_DGRAM, IPPROTO_UDP, "udp6", NET_INET, true},
    {AF_NETLINK, 0, 0, "netlink", NET_NETLINK, true},
    {AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE, "udplite", NET_INET, true},
    {AF_INET6, SOCK_DGRAM, IPPROTO_UDPLITE, "udplite6", NET_INET, true},
    {AF_INET, SOCK_RAW, IPPROTO_RAW, "raw", NET_INET, true},
    {AF_INET6, SOCK_RAW, IPPROTO_RAW, "raw6", NET_INET, true},
    {AF_INET, SOCK_DGRAM, IPPROTO_ICMP, "icmp", NET_INET, false},
    {AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6, "icmp6", NET_INET, false},
    {AF_PACKET, 0, 0, "packet", NET_PACKET, true},
    {AF_VSOCK, 0, 0, NULL, NET_INET, true},
    {AF_INET, 0, IPPROTO_SCTP, "sctp/eps", NET_SCTP_ENDPOINTS, false},
    {AF_INET, 0, IPPROTO_SCTP, "sctp/assocs", NET_SCTP_ASSOCIATIONS, false},
    {AF_UNIX, 0, 0, "unix", NET_UNIX, true},
};

/* ---- from the kernel to a list ---- */

enum { PATH_TEXT = 64 };

struct sockets_reading {
    const struct os *os;
    struct socket_list *list;
    struct socket_diag diag;
    struct buffer text; /* content of the current file */
    const char *prefix; /* "123/net", below os->proc */
    int error;          /* the first error that may hide sockets; 0: none */
    bool answered;      /* at least one list could be read, even an empty one */
};

static int read_text(struct sockets_reading *reading, const char *name)
{
    char path[PATH_TEXT];
    buffer_reset(&reading->text);
    snprintf(path, sizeof path, "%s/%s", reading->prefix, name);
    bool cut = false;
    int result = linux_read_file(reading->os, reading->os->proc, path, 0, SOCKET_FILE_LIMIT,
                                 &reading->text, &cut);
    reading->list->cut |= cut;
    return result;
}

static int read_dump(struct sockets_reading *reading, const struct socket_group *group)
{
    size_t first = reading->list->count;
    if (!group->diag || reading->diag.netlink < 0)
        return -ENOTSUP;
    /* A dump of mptcp visits every hash slot, a millisecond without any result on most machines:
     * reading the count of such sockets costs less. */
    const char *name = group->family == AF_INET ? "MPTCP" : "MPTCPv6";
    uint64_t count;
    if (group->protocol == SOCKET_MPTCP && read_text(reading, "protocols") >= 0 &&
        net_parse_protocols(reading->text.bytes, reading->text.size, name, &count) && count == 0)
        return -ENOTSUP;
    int result = socket_diag_read(&reading->diag, reading->os, group, reading->list);
    if (result >= 0 && group->family == AF_UNIX)
        socket_list_peers(reading->list, first);
    reading->answered |= result >= 0;
    return result;
}

/* Reads all groups, or as many as needed to find the requested sockets. `own`: those of the calling
 * thread's network namespace, which sock_diag can report. */
static int read_sockets(const struct os *os, const char *prefix, bool own, struct socket_list *list)
{
    struct sockets_reading reading = {
        .os = os, .list = list, .diag = {.netlink = -ENOTSUP}, .prefix = prefix};
    list->here = own;
    if (own)
        socket_diag_open(&reading.diag, os);
    /* Unix first if it is dumped: many processes have no other sockets, and a dump cannot be
     * forged. */
    size_t left = ARRAY_COUNT(GROUPS);
    if (read_dump(&reading, &GROUPS[left - 1]) >= 0)
        left--;
    for (size_t i = 0; i < left && !list->failed; i++) {
        if (list->only != NULL && list->missing == 0)
            break;
        const struct socket_group *group = &GROUPS[i];
        int result = read_dump(&reading, group);
        if (result < 0 && result != -ENOMEM && group->file != NULL) {
            result = read_text(&reading, group->file);
            // Rows read before an error are valid.
            if (reading.text.size != 0)
                net_parse(reading.text.bytes, reading.text.size, group, list);
        }
        reading.answered |= result >= 0;
        /* An error which means that the kernel lacks this kind is ignored: there are no such
         * sockets. */
        if (result < 0 && result != -ENOENT && os_availability(result) != VITALS_UNSUPPORTED &&
            reading.error == 0)
            reading.error = result;
    }
    socket_diag_close(&reading.diag);
    buffer_done(&reading.text);
    if (list->failed)
        return -ENOMEM;
    return reading.error == 0 && !reading.answered ? -ENOTSUP : reading.error;
}

/* ---- from a list to rows ---- */

struct socket_name {
    uint32_t number;
    const char *name;
};

static const struct socket_name FAMILIES[] = {
    {AF_UNIX, "unix"},       {AF_INET, "inet"},     {AF_INET6, "inet6"},
    {AF_NETLINK, "netlink"}, {AF_PACKET, "packet"}, {AF_VSOCK, "vsock"},
    {AF_XDP, "xdp"},         {AF_ALG, "alg"},       {AF_TIPC, "tipc"},
};

static const struct socket_name TYPES[] = {
    {SOCK_STREAM, "stream"}, {SOCK_DGRAM, "datagram"},      {SOCK_RAW, "raw"},
    {SOCK_RDM, "rdm"},       {SOCK_SEQPACKET, "seqpacket"}, {SOCK_DCCP, "dccp"},
};

/* TCP's numbers; the last is bound, and neither listening nor connected. */
static const struct socket_name STATES[] = {{SOCKET_STATELESS, "none"},
                                            {SOCKET_ESTABLISHED, "established"},
                                            {2, "syn_sent"},
                                            {3, "syn_received"},
                                            {4, "fin_wait1"},
                                            {5, "fin_wait2"},
                                            {6, "time_wait"},
                                            {SOCKET_CLOSE, "close"},
                                            {8, "close_wait"},
                                            {9, "last_ack"},
                                            {SOCKET_LISTEN, "listen"},
                                            {11, "closing"},
                                            {12, "new_syn_received"},
                                            {13, "close"}};

/* Internet protocols (/etc/protocols; mptcp is Linux's own). */
static const struct socket_name INTERNET[] = {
    {0, "ip"},     {1, "icmp"},   {2, "igmp"},      {4, "ipip"},  {6, "tcp"},
    {17, "udp"},   {33, "dccp"},  {41, "ipv6"},     {46, "rsvp"}, {47, "gre"},
    {50, "esp"},   {51, "ah"},    {58, "icmpv6"},   {89, "ospf"}, {103, "pim"},
    {112, "vrrp"}, {132, "sctp"}, {136, "udplite"}, {255, "raw"}, {SOCKET_MPTCP, "mptcp"},
};

/* linux/netlink.h */
static const struct socket_name NETLINK[] = {
    {0, "route"},          {2, "usersock"},    {3, "firewall"},        {4, "sock_diag"},
    {5, "nflog"},          {6, "xfrm"},        {7, "selinux"},         {8, "iscsi"},
    {9, "audit"},          {10, "fib_lookup"}, {11, "connector"},      {12, "netfilter"},
    {13, "ip6_fw"},        {14, "dnrtmsg"},    {15, "kobject_uevent"}, {16, "generic"},
    {18, "scsitransport"}, {19, "ecryptfs"},   {20, "rdma"},           {21, "crypto"},
    {22, "smc"},
};

/* linux/if_ether.h */
static const struct socket_name ETHERNET[] = {
    {0x0000, "none"}, {0x0003, "all"}, {0x0800, "ip"},   {0x0806, "arp"}, {0x8100, "vlan"},
    {0x86DD, "ipv6"}, {0x888E, "pae"}, {0x88CC, "lldp"}, {0x88F7, "ptp"},
};

static const struct socket_name UNIX[] = {{0, "unix"}};
static const struct socket_name VSOCK[] = {{0, "vsock"}};

static const struct {
    uint16_t family;
    const struct socket_name *names;
    size_t count;
} PROTOCOLS[] = {
    {AF_INET, INTERNET, ARRAY_COUNT(INTERNET)},  {AF_INET6, INTERNET, ARRAY_COUNT(INTERNET)},
    {AF_NETLINK, NETLINK, ARRAY_COUNT(NETLINK)}, {AF_PACKET, ETHERNET, ARRAY_COUNT(ETHERNET)},
    {AF_UNIX, UNIX, ARRAY_COUNT(UNIX)},          {AF_VSOCK, VSOCK, ARRAY_COUNT(VSOCK)},
};

/* A row being written. */
struct row {
    struct row_batch *out;
    const struct socket_list *list;
    const struct socket_info *info;
};

/* True if the socket lacks the field: the row then has the reason. */
static bool is_missing(const struct row *row, vitals_metric metric, unsigned bit)
{
    if ((row->info->has & bit) != 0)
        return false;
    batch_set_missing(row->out, metric,
                      row->info->missing != 0 ? row->info->missing : VITALS_UNSUPPORTED);
    return true;
}

static void put_name(const struct row *row, vitals_metric metric, unsigned bit,
                     const struct socket_name *names, size_t count, uint32_t number)
{
    if (is_missing(row, metric, bit))
        return;
    for (size_t i = 0; i < count; i++) {
        if (names[i].number == number) {
            batch_set_string(row->out, metric, names[i].name);
            return;
        }
    }
    char text[NUMBER_TEXT];
    batch_set_text(row->out, metric, (struct span){text, number_print_u64(text, number)});
}

static void put_number(const struct row *row, vitals_metric metric, unsigned bit, uint64_t number)
{
    if (!is_missing(row, metric, bit))
        batch_set_u64(row->out, metric, number);
}

static void put_queue(const struct row *row, vitals_metric metric, unsigned bit, uint64_t number)
{
    const struct socket_info *info = row->info;
    /* For a listener the send field is the limit of its backlog, or 0, instead of bytes to send. */
    bool is_none = bit == SOCKET_SEND && (info->has & SOCKET_STATE) != 0 &&
                   info->state == SOCKET_LISTEN;
    if (is_none)
        batch_set_missing(row->out, metric, VITALS_UNSUPPORTED);
    if (is_none || is_missing(row, metric, bit))
        return;

    /* An exact count is in bytes (for a listener, in connections). For most kinds the kernel
     * reports the memory used, for unix datagrams the size of the first one; and a tcp connection
     * that is being opened or closed counts as an additional byte. */
    bool goes_on = info->state == SOCKET_ESTABLISHED || info->state == SOCKET_LISTEN;
    bool is_tcp = info->protocol == IPPROTO_TCP && info->type == SOCK_STREAM &&
                  (info->family == AF_INET || info->family == AF_INET6);
    bool is_exact = info->family == AF_UNIX ? bit == SOCKET_RECEIVE && info->type != SOCK_DGRAM
                                            : is_tcp && goes_on;
    struct value value = value_u64(number);
    if (!is_exact || (info->has & SOCKET_STATE) == 0)
        value.state = VITALS_ESTIMATE;
    batch_set_value(row->out, metric, value);
}

static void put_text(const struct row *row, vitals_metric metric, unsigned bit, size_t at,
                     size_t size)
{
    if (!is_missing(row, metric, bit))
        batch_set_text(row->out, metric,
                       (struct span){size != 0 ? row->list->text.bytes + at : "", size});
}

/* Sets the socket's own columns; the caller sets those of its holder. */
static void put_socket(struct row_batch *out, const struct socket_list *list,
                       const struct socket_info *info, uint64_t key)
{
    if (batch_add_row(out, VITALS_TABLE_SOCKET, key, (struct span){"", 0}) == NULL)
        return;
    const struct row row = {out, list, info};
    put_name(&row, VITALS_SOCKET_FAMILY, SOCKET_FAMILY, FAMILIES, ARRAY_COUNT(FAMILIES),
             info->family);
    put_name(&row, VITALS_SOCKET_TYPE, SOCKET_TYPE, TYPES, ARRAY_COUNT(TYPES), info->type);
    const struct socket_name *names = NULL;
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(PROTOCOLS); i++) {
        if (PROTOCOLS[i].family == info->family) {
            names = PROTOCOLS[i].names;
            count = PROTOCOLS[i].count;
        }
    }
    put_name(&row, VITALS_SOCKET_PROTOCOL, SOCKET_PROTOCOL, names, count, info->protocol);
    put_text(&row, VITALS_SOCKET_LOCAL_ADDRESS, SOCKET_LOCAL, info->local_at, info->local_size);
    put_number(&row, VITALS_SOCKET_LOCAL_PORT, SOCKET_LOCAL_PORT, info->local_port);
    put_text(&row, VITALS_SOCKET_REMOTE_ADDRESS, SOCKET_REMOTE, info->remote_at, info->remote_size);
    put_number(&row, VITALS_SOCKET_REMOTE_PORT, SOCKET_REMOTE_PORT, info->remote_port);
    put_name(&row, VITALS_SOCKET_STATE, SOCKET_STATE, STATES, ARRAY_COUNT(STATES), info->state);
    batch_set_u64(out, VITALS_SOCKET_INODE, info->inode);
    put_number(&row, VITALS_SOCKET_UID, SOCKET_UID, info->uid);
    put_queue(&row, VITALS_SOCKET_RECEIVE_QUEUE_BYTES, SOCKET_RECEIVE, info->receive_bytes);
    put_queue(&row, VITALS_SOCKET_SEND_QUEUE_BYTES, SOCKET_SEND, info->send_bytes);
}

static void put_owner(struct row_batch *out, const struct socket_owner *owner)
{
    batch_set_u64(out, VITALS_SOCKET_PID, (uint64_t)owner->pid);
    batch_set_u64(out, VITALS_SOCKET_DESCRIPTOR, owner->descriptor);
}

/* True if the record comes from a line that any user can put into the file of unix sockets, and the
 * kernel says that the descriptor is a socket of another family. */
static bool is_forged(const struct os *os, const struct socket_owner *owner,
                      const struct socket_info *info)
{
    struct socket_info known = {0};
    return info->forgeable && socket_owner_protocol(os, owner, &known) &&
           known.family != info->family;
}

/* ---- of one process ---- */

/* `error`: why a list could not be read that may have the sockets that no list has. */
static void write_process(const struct os *os, const struct socket_owners *owners,
                          const struct socket_list *list, int error, struct row_batch *out)
{
    for (size_t i = 0; i < owners->count && !out->failed; i++) {
        const struct socket_owner *owner = &owners->items[i];
        const uintptr_t *index = list->only != NULL ? hash_find(list->only, owner->inode) : NULL;
        struct socket_info unlisted = {.inode = owner->inode};
        bool listed = index != NULL && *index != SOCKET_MISSING &&
                      !is_forged(os, owner, &list->items[*index]);
        if (index != NULL && !listed) {
            unlisted.missing = (signed char)(error != 0 ? os_availability(error) : 0);
            if (!socket_owner_protocol(os, owner, &unlisted))
                unlisted.has = 0;
            if (socket_owner_inode(os, owner) != owner->inode) /* closed, and the number reused */
                unlisted = (struct socket_info){.inode = owner->inode, .missing = VITALS_GONE};
        }
        put_socket(out, list, listed ? &list->items[*index] : &unlisted, i + 1);
        put_owner(out, owner);
    }
}

static int read_process(const struct os *os, const struct socket_owners *owners,
                        struct hash *inodes, struct socket_list *list)
{
    if (hash_reserve(inodes, owners->count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < owners->count; i++)
        if (hash_set(inodes, owners->items[i].inode, SOCKET_MISSING) < 0)
            return -ENOMEM;
    list->only = inodes;
    list->missing = inodes->count;
    const struct socket_owner *first = &owners->items[0];
    char folder[PATH_TEXT], prefix[PATH_TEXT + sizeof "/net"];
    if (first->thread != 0)
        snprintf(folder, sizeof folder, "%lld/task/%lld", (long long)first->pid,
                 (long long)first->thread);
    else
        snprintf(folder, sizeof folder, "%lld", (long long)first->pid);
    snprintf(prefix, sizeof prefix, "%s/net", folder);

    /* Is it in the network namespace of the calling thread? */
    char path[PATH_TEXT + sizeof "/ns/net"];
    struct stat ours, its;
    snprintf(path, sizeof path, "%s/ns/net", folder);
    bool own = os->live &&
               (fstatat(os->proc, "thread-self/ns/net", &ours, 0) == 0 ||
                fstatat(os->proc, "self/ns/net", &ours, 0) == 0) &&
               fstatat(os->proc, path, &its, 0) == 0 && ours.st_ino == its.st_ino &&
               ours.st_dev == its.st_dev;
    return read_sockets(os, prefix, own, list);
}

int table_process_sockets(const struct os *os, int64_t pid, struct row_batch *out)
{
    struct socket_owners owners = {0};
    struct socket_list list = {0};
    struct hash inodes = {0};
    int error = 0, result = socket_owners_read(&owners, os, pid);
    if (result < 0)
        goto done;
    owners.count = size_min(owners.count, SOCKETS_MAX);

    bool more = false; /* more than /proc/PID/fd shows */
    for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
        vitals_metric metric = metric_of(VITALS_TABLE_SOCKET, number);
        more |= metric != VITALS_SOCKET_INODE && metric != VITALS_SOCKET_PID &&
                metric != VITALS_SOCKET_DESCRIPTOR && batch_wants(out, metric);
    }
    if (owners.count != 0 && more)
        error = read_process(os, &owners, &inodes, &list);
    result = error == -ENOMEM ? error : 0;
    if (result == 0)
        write_process(os, &owners, &list, error, out);
    if (owners.cut || owners.denied || owners.count == SOCKETS_MAX)
        batch_state(out, VITALS_TABLE_SOCKET, VITALS_LOWER_BOUND);
    if (out->failed)
        result = -ENOMEM;
done:
    socket_owners_done(&owners);
    socket_list_done(&list);
    hash_done(&inodes);
    return result;
}

/* ---- of our network namespace ---- */

/* A process that ends in the meantime has no sockets. */
static void note_error(struct socket_owners *owners, int error)
{
    if (error >= 0 || os_availability(error) == VITALS_GONE)
        return;
    if (os_availability(error) == VITALS_DENIED)
        owners->denied = true;
    else
        owners->cut = true;
}

/* Reads the owners of all processes, in order. Some may be denied, or (hidepid=2) not even visible;
 * then pid 1 is not. */
static int read_owners(const struct os *os, struct socket_owners *owners)
{
    struct os_pids pids = {0};
    int result = os_list_processes(os, &pids);
    owners->denied = os->live && result >= 0 && (pids.count == 0 || pids.items[0] != 1);
    for (size_t i = 0; i < pids.count && result >= 0; i++) {
        int error = socket_owners_read(owners, os, pids.items[i]);
        if (error == -ENOMEM)
            result = error;
        else
            note_error(owners, error);
    }
    os_pids_done(&pids);
    if (result < 0 && result != -ENOMEM) { // the sockets are known even if their owners are not
        note_error(owners, result);
        owners->cut |= !owners->denied;
        result = 0;
    }
    return result < 0 ? result : socket_owners_index(owners);
}

/* Writes one row for each descriptor that holds the socket, or one without an owner; at most
 * `room`. */
static size_t write_socket(const struct os *os, const struct socket_list *list,
                           const struct socket_info *info, const struct socket_owners *owners,
                           size_t room, struct row_batch *out)
{
    const struct socket_owner *owner = info->inode != 0 ? socket_owners_first(owners, info->inode)
                                                        : NULL;
    if (owner != NULL && is_forged(os, owner, info))
        return 0;
    size_t rows = 0;
    for (; owner != NULL && rows < room && !out->failed; rows++) {
        put_socket(out, list, info, 0);
        put_owner(out, owner);
        owner = socket_owners_next(owners, owner);
    }
    if (rows != 0)
        return rows;
    put_socket(out, list, info, 0);
    vitals_availability why = VITALS_UNSUPPORTED; /* no owner was found */
    if (info->inode != 0 && owners->cut)
        why = VITALS_FAILED;
    else if (info->inode != 0 && owners->denied)
        why = VITALS_DENIED;
    batch_set_missing(out, VITALS_SOCKET_PID, why);
    batch_set_missing(out, VITALS_SOCKET_DESCRIPTOR, why);
    return 1;
}

int table_sockets(const struct os *os, struct row_batch *out)
{
    /* The folders with our own lists: that of the calling thread, which may have its own
     * namespace. */
    static const char *const PREFIXES[] = {"thread-self/net", "self/net"};
    const char *prefix = "net";
    struct stat status;
    for (size_t i = ARRAY_COUNT(PREFIXES); i-- > 0;)
        if (fstatat(os->proc, PREFIXES[i], &status, 0) == 0)
            prefix = PREFIXES[i];

    struct socket_owners owners = {0};
    struct socket_list list = {0};
    int error = read_sockets(os, prefix, os->live, &list), result = 0;
    if (error == -ENOMEM || (error < 0 && list.count == 0))
        result = error;
    else if (batch_wants(out, VITALS_SOCKET_PID) || batch_wants(out, VITALS_SOCKET_DESCRIPTOR))
        result = read_owners(os, &owners);
    size_t rows = 0;
    for (size_t i = 0; i < list.count && result >= 0 && rows < SOCKETS_MAX && !out->failed; i++)
        rows += write_socket(os, &list, &list.items[i], &owners, SOCKETS_MAX - rows, out);
    if (error < 0 || list.cut || owners.denied || owners.cut || rows >= SOCKETS_MAX)
        batch_state(out, VITALS_TABLE_SOCKET, VITALS_LOWER_BOUND);
    if (out->failed)
        result = -ENOMEM;
    socket_owners_done(&owners);
    socket_list_done(&list);
    return result;
}
