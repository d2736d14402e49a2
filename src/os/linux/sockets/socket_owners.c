/* socket_owners.c: finds the sockets among the descriptors of a process. /proc/PID/fd is listed and
 * each link read relative to its descriptor: one system call per link, and nothing is opened.
 * Thread rule: one thread per struct socket_owners. */
#include "os/linux/sockets/sockets.h"

#include "util/memory.h"
#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LINK_TEXT = 64, PATH_TEXT = 128 };

void socket_owners_done(struct socket_owners *owners)
{
    memory_free(owners->items);
    os_pids_done(&owners->numbers);
    hash_done(&owners->first);
    *owners = (struct socket_owners){0};
}

/* Returns 0 with the inode of "socket:[123]", or with 0 if it is not a socket; else a negative
 * errno. A file with that name is shown with a path before it. */
static int read_inode(int directory, const char *name, uint64_t *inode)
{
    char link[LINK_TEXT];
    ssize_t size = readlinkat(directory, name, link, sizeof link);
    struct cursor cursor = cursor_over(link, size > 0 ? (size_t)size : 0);
    if (!cursor_literal(&cursor, "socket:[") || !number_u64(&cursor.at, cursor.end, inode) ||
        !cursor_literal(&cursor, "]") || !cursor_done(&cursor))
        *inode = 0;
    return size < 0 ? -errno : 0;
}

/* Reads the descriptors of `shown` below /proc, or below the folder of threads. */
static int read_folder(struct socket_owners *owners, const struct os *os, int64_t shown,
                       struct socket_owner owner)
{
    struct os_pids *numbers = &owners->numbers;
    numbers->count = 0;
    int directory = linux_process_open(os, shown, "fd", O_DIRECTORY);
    if (directory < 0)
        return directory;
    bool cut;
    int result = linux_numbers_read(directory, SOCKET_OWNERS_MAX, numbers, &cut);
    owners->cut |= cut;

    /* Entries listed before an error are valid. */
    size_t denied = 0;
    for (size_t i = 0; i < numbers->count && result != -ENOMEM; i++) {
        char name[NUMBER_TEXT];
        owner.descriptor = (uint64_t)numbers->items[i];
        number_print_u64(name, owner.descriptor);
        int code = read_inode(directory, name, &owner.inode);
        bool is_denied = os_availability(code) == VITALS_DENIED;
        denied += code < 0 && is_denied;
        owners->cut |= code < 0 && !is_denied && os_availability(code) != VITALS_GONE;
        if (owner.inode == 0)
            continue;
        if (owners->count >= SOCKET_OWNERS_MAX) {
            owners->cut = true;
        } else if (MEMORY_GROW(owners->items, owners->capacity, owners->count) < 0) {
            result = -ENOMEM;
        } else {
            owners->items[owners->count++] = owner;
        }
    }
    os_close_descriptor(directory);

    /* The folder may be readable although none of its links is: the process is protected even from
     * root. */
    bool all = denied != 0 && denied == numbers->count;
    owners->denied |= denied != 0 && !all;
    return result == 0 && all ? -EACCES : result;
}

int socket_owners_read(struct socket_owners *owners, const struct os *os, int64_t pid)
{
    struct socket_owner owner = {.pid = pid};
    int result = read_folder(owners, os, pid, owner);
    bool is_bare = result == 0 || result == -ESRCH || result == -EACCES;
    if (owners->numbers.count != 0 || !is_bare)
        return result;
    /* The process has none, or access is denied: the reason does not matter if there is no other
     * thread that could show more. */
    char path[PATH_TEXT];
    struct stat status;
    snprintf(path, sizeof path, "%lld/task", (long long)pid);
    if ((result == 0 || (result == -EACCES && owners->denied)) && os->live &&
        fstatat(os->proc, path, &status, 0) == 0 && status.st_nlink == 3)
        return result;
    struct os threads;
    int64_t thread = linux_living_thread(os, pid, &threads);
    if (thread == 0) /* without a folder of threads this is not known */
        return threads.proc >= 0 ? 0 : result;
    if (thread != pid) {
        owner.thread = thread;
        result = read_folder(owners, &threads, thread, owner);
    }
    os_close_descriptor(threads.proc);
    return result;
}

/* ---- by inode ---- */

int socket_owners_index(struct socket_owners *owners)
{
    hash_reset(&owners->first);
    if (hash_reserve(&owners->first, owners->count) < 0)
        return -ENOMEM;
    for (size_t i = owners->count; i-- > 0;) { /* backwards, so that the first item comes first */
        struct socket_owner *owner = &owners->items[i];
        const uintptr_t *behind = hash_find(&owners->first, owner->inode);
        owner->next = behind != NULL ? *behind + 1 : 0;
        if (hash_set(&owners->first, owner->inode, i) < 0)
            return -ENOMEM;
    }
    return 0;
}

const struct socket_owner *socket_owners_first(const struct socket_owners *owners, uint64_t inode)
{
    const uintptr_t *place = hash_find(&owners->first, inode);
    return place != NULL ? &owners->items[*place] : NULL;
}

const struct socket_owner *socket_owners_next(const struct socket_owners *owners,
                                              const struct socket_owner *owner)
{
    return owner->next != 0 ? &owners->items[owner->next - 1] : NULL;
}

/* ---- read one descriptor again ---- */

static void print_path(const struct socket_owner *owner, char out[static PATH_TEXT])
{
    long long pid = owner->pid, thread = owner->thread;
    unsigned long long descriptor = owner->descriptor;
    if (thread != 0)
        snprintf(out, PATH_TEXT, "%lld/task/%lld/fd/%llu", pid, thread, descriptor);
    else
        snprintf(out, PATH_TEXT, "%lld/fd/%llu", pid, descriptor);
}

uint64_t socket_owner_inode(const struct os *os, const struct socket_owner *owner)
{
    char path[PATH_TEXT];
    print_path(owner, path);
    uint64_t inode;
    return read_inode(os->proc, path, &inode) == 0 ? inode : 0;
}

/* ---- protocol from the kernel's name ---- */

enum { TYPE = SOCKET_TYPE, NUMBER = SOCKET_PROTOCOL, BOTH = TYPE | NUMBER };

static const struct {
    const char *name; /* of struct proto */
    unsigned has;     /* fields known besides the family */
    uint16_t family, type;
    uint32_t protocol;
} PROTOCOLS[] = {
    {"TCP", BOTH, AF_INET, SOCK_STREAM, IPPROTO_TCP},
    {"TCPv6", BOTH, AF_INET6, SOCK_STREAM, IPPROTO_TCP},
    {"UDP", BOTH, AF_INET, SOCK_DGRAM, IPPROTO_UDP},
    {"UDPv6", BOTH, AF_INET6, SOCK_DGRAM, IPPROTO_UDP},
    {"UDP-Lite", BOTH, AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE},
    {"UDPLITEv6", BOTH, AF_INET6, SOCK_DGRAM, IPPROTO_UDPLITE},
    {"PING", BOTH, AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
    {"PINGv6", BOTH, AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6},
    {"MPTCP", BOTH, AF_INET, SOCK_STREAM, SOCKET_MPTCP},
    {"MPTCPv6", BOTH, AF_INET6, SOCK_STREAM, SOCKET_MPTCP},
    {"SCTP", NUMBER, AF_INET, 0, IPPROTO_SCTP},
    {"SCTPv6", NUMBER, AF_INET6, 0, IPPROTO_SCTP},
    {"UNIX-STREAM", BOTH, AF_UNIX, SOCK_STREAM, 0},
    {"UNIX", NUMBER, AF_UNIX, 0, 0}, /* before Linux 5.15 also stream sockets */
    {"AF_VSOCK", NUMBER, AF_VSOCK, 0, 0},
    /* Names that do not determine the protocol number. */
    {"RAW", TYPE, AF_INET, SOCK_RAW, 0},
    {"RAWv6", TYPE, AF_INET6, SOCK_RAW, 0},
    {"NETLINK", 0, AF_NETLINK, 0, 0},
    {"PACKET", 0, AF_PACKET, 0, 0},
    {"XDP", TYPE, AF_XDP, SOCK_RAW, 0},
    {"ALG", TYPE, AF_ALG, SOCK_SEQPACKET, 0},
    {"TIPC", 0, AF_TIPC, 0, 0},
};

bool socket_owner_protocol(const struct os *os, const struct socket_owner *owner,
                           struct socket_info *info)
{
    if (!os->live)
        return false;
    /* The process may replace the descriptor by a file whose file system never answers: so the file
     * is first opened with O_PATH, which does not access the file system, and then examined through
     * our own descriptor, which the process cannot change. */
    char path[PATH_TEXT], name[LINK_TEXT];
    print_path(owner, path);
    int held = linux_open(os, os->proc, path, O_PATH);
    if (held < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", held);
    uint64_t inode;
    ssize_t size = -1;
    if (read_inode(AT_FDCWD, path, &inode) == 0 && inode == owner->inode)
        size = getxattr(path, "system.sockprotoname", name, sizeof name - 1);
    os_close_descriptor(held);
    if (size <= 0)
        return false;
    name[size] = '\0';
    for (size_t i = 0; i < ARRAY_COUNT(PROTOCOLS); i++) {
        if (strcmp(name, PROTOCOLS[i].name) != 0)
            continue;
        info->has = PROTOCOLS[i].has | SOCKET_FAMILY;
        info->family = PROTOCOLS[i].family;
        info->type = PROTOCOLS[i].type;
        info->protocol = PROTOCOLS[i].protocol;
    }
    return true; /* for an unknown name nothing is known */
}
