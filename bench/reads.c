/* reads.c: the floor under ask.c: the calls that no answer can avoid, with nothing done to what
 * they give but looking at each byte once.
 *
 *     reads CASE PID ROUNDS
 *
 *     name         stat, kept open
 *     scalars      stat, kept open; statm, status and cmdline
 *     environment  environ, and stat, which proves that it was its own
 *     limits       limits, likewise
 *     memory       smaps_rollup and statm, likewise
 *     maps         smaps, likewise; maps_sum the same
 *     files        a listing of fd; of each its link, its kind (statx) and its position (fdinfo)
 *     threads      a listing of task, and stat of each
 *     sockets      a listing of fd, of each its link, and one dump by sock_diag: TCP over IPv4
 *     all_sockets  the same of all processes, and dumps of TCP, UDP and unix sockets
 *     children     a listing of /proc, and stat of each
 *
 * Prints as ask.c does: microseconds of CPU for one round. */
#include "measure.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile unsigned long sink;

/* What comes is looked at, each byte once. */
static void look_at(const char *bytes, size_t size)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += (unsigned char)bytes[i];
    sink += sum;
}

static size_t read_file(int folder, const char *path)
{
    static char text[256 * 1024];
    int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    size_t all = 0;
    for (ssize_t size; (size = read(file, text, sizeof text)) > 0; all += (size_t)size)
        look_at(text, (size_t)size);
    close(file);
    return all;
}

/* Calls `look` with each number in a folder, relative to it; gives how many there were. */
static size_t each(const char *path, void (*look)(int folder, const char *name))
{
    DIR *folder = opendir(path);
    size_t count = 0;
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        look(dirfd(folder), entry->d_name);
        count++;
    }
    if (folder != NULL)
        closedir(folder);
    return count;
}

static void look_link(int folder, const char *name)
{
    char path[4096];
    sink += (unsigned long)readlinkat(folder, name, path, sizeof path);
}

static void look_links(int folder, const char *name)
{
    char path[64];
    (void)folder;
    snprintf(path, sizeof path, "/proc/%s/fd", name);
    each(path, look_link);
}

static void look_file(int folder, const char *name)
{
    char info[64];
    struct statx status;
    look_link(folder, name);
    if (statx(folder, name, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status) == 0)
        sink += status.stx_ino;
    snprintf(info, sizeof info, "../fdinfo/%s", name);
    read_file(folder, info);
}

static void look_stat(int folder, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/stat", name);
    read_file(folder, path);
}

/* ---- dumps of sock_diag ---- */

struct dump {
    int family; /* 0: none */
    int protocol;
};

union question {
    struct inet_diag_req_v2 inet;
    struct unix_diag_req local;
};

static int ask(int netlink, const struct dump *dump)
{
    struct {
        struct nlmsghdr header;
        union question as;
    } request = {.header = {.nlmsg_len = sizeof request.header + sizeof request.as.inet,
                            .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
    request.as.inet = (struct inet_diag_req_v2){.sdiag_family = (__u8)dump->family,
                                                .sdiag_protocol = (__u8)dump->protocol,
                                                .idiag_states = UINT32_MAX};
    if (dump->family == AF_UNIX) {
        request.header.nlmsg_len = sizeof request.header + sizeof request.as.local;
        request.as.local = (struct unix_diag_req){.sdiag_family = AF_UNIX,
                                                  .udiag_states = UINT32_MAX,
                                                  .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER};
    }
    return send(netlink, &request, request.header.nlmsg_len, 0) < 0 ? -1 : 0;
}

/* One after another, until the message that ends each: it comes alone or last. */
static void read_dumps(const struct dump *dumps)
{
    static char room[32 * 1024];
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    for (; dumps->family != 0 && ask(netlink, dumps) == 0; dumps++) {
        struct nlmsghdr header = {0};
        for (ssize_t size; header.nlmsg_type != NLMSG_DONE && header.nlmsg_type != NLMSG_ERROR &&
                           (size = recv(netlink, room, sizeof room, 0)) > 0;) {
            look_at(room, (size_t)size);
            for (size_t at = 0; at + sizeof header <= (size_t)size;) {
                memcpy(&header, room + at, sizeof header);
                at += ((size_t)header.nlmsg_len + 3) / 4 * 4;
                if (header.nlmsg_len == 0)
                    header.nlmsg_type = NLMSG_ERROR; // no message: there is no more
                if (header.nlmsg_type == NLMSG_ERROR)
                    break;
            }
        }
    }
    close(netlink);
}

/* What one file after another gives, the first being kept open. */
static size_t read_files(int process, int kept, const char *const *files)
{
    char text[4096];
    size_t all = 0;
    ssize_t size = kept >= 0 ? pread(kept, text, sizeof text, 0) : 0;
    if (size > 0)
        look_at(text, (size_t)size);
    for (; *files != NULL; files++)
        all += read_file(process, *files);
    return all + (size_t)(size > 0 ? size : 0);
}

static const struct {
    const char *name;
    bool kept;            /* stat is read too, and stays open */
    const char *files[4]; /* of the process, to their ends */
    const char *folder;   /* or each number in one */
    void (*look)(int folder, const char *name);
    struct dump dumps[6]; /* and these, to their ends */
} cases[] = {
    {.name = "name", .kept = true, .files = {NULL}},
    {.name = "scalars", .kept = true, .files = {"statm", "status", "cmdline", NULL}},
    {.name = "environment", .kept = true, .files = {"environ", NULL}},
    {.name = "limits", .kept = true, .files = {"limits", NULL}},
    {.name = "memory", .kept = true, .files = {"smaps_rollup", "statm", NULL}},
    {.name = "maps", .kept = true, .files = {"smaps", NULL}},
    {.name = "maps_sum", .kept = true, .files = {"smaps", NULL}},
    {.name = "files", .folder = "fd", .look = look_file},
    {.name = "threads", .folder = "task", .look = look_stat},
    {.name = "sockets", .folder = "fd", .look = look_link, .dumps = {{AF_INET, IPPROTO_TCP}}},
    {.name = "all_sockets",
     .folder = "..",
     .look = look_links,
     .dumps = {{AF_INET, IPPROTO_TCP},
               {AF_INET6, IPPROTO_TCP},
               {AF_INET, IPPROTO_UDP},
               {AF_INET6, IPPROTO_UDP},
               {AF_UNIX, 0}}},
    {.name = "children", .folder = "..", .look = look_stat},
};

int main(int argc, char **argv)
{
    static struct measure measure;
    size_t at = 0, count = sizeof cases / sizeof cases[0], found = 0;
    while (argc == 4 && at < count && strcmp(cases[at].name, argv[1]) != 0)
        at++;
    if (argc != 4 || at == count) {
        fprintf(stderr, "usage: reads CASE PID ROUNDS, where CASE is\n");
        for (size_t i = 0; i < count; i++)
            fprintf(stderr, "    %s\n", cases[i].name);
        return 2;
    }
    char root[32], path[64];
    snprintf(root, sizeof root, "/proc/%zu", measure_argument("reads", argv[2], 1 << 22));
    size_t rounds = measure_argument("reads", argv[3], MEASURE_SWEEPS);
    int process = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int kept = cases[at].kept ? openat(process, "stat", O_RDONLY | O_CLOEXEC) : -1;
    snprintf(path, sizeof path, "%s/%s", root, cases[at].folder != NULL ? cases[at].folder : "");
    for (size_t i = 0; i < rounds; i++) {
        measure_begin(&measure);
        found = cases[at].look != NULL ? each(path, cases[at].look)
                                       : read_files(process, kept, cases[at].files);
        if (cases[at].dumps[0].family != 0)
            read_dumps(cases[at].dumps);
        measure_end(&measure);
    }
    if (rounds > 0 && found == 0) {
        fprintf(stderr, "reads: nothing of %s in %s\n", argv[1], root);
        return 1;
    }
    measure_print(&measure, argv[1], "ask", 1);
    printf(" rows=%zu allocations=0\n", found);
    return 0;
}
