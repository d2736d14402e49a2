/* roots.c: the world that a context opens: three directories, the units of /proc, and whose pids
 * it shows. Keeps nothing beyond struct os. Thread rule: as os.h says. */
#include "os/linux/linux.h"

#include "util/error.h"
#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_root(const struct os *os, const char *path)
{
    // O_PATH: a place to open below, which asks for no permission to list.
    return linux_open(os, AT_FDCWD, path, O_PATH | O_DIRECTORY);
}

/* -1 where it is not there: a machine without it still has processes. */
static int open_other(const struct os *os, const char *chosen, const char *usual)
{
    int root = open_root(os, chosen != NULL ? chosen : usual);
    return root < 0 ? -1 : root;
}

/* The inode of a pid namespace by its path below /proc; 0: not known. */
static uint64_t namespace_inode(const struct os *os, const char *path)
{
    struct stat status;
    return fstatat(os->proc, path, &status, 0) == 0 ? (uint64_t)status.st_ino : 0;
}

/* Whether pids of this /proc are those of our own system calls. "self" alone could agree by chance
 * if the mount belongs to an outer namespace, such as /host/proc in a container. */
static bool shows_our_pids(const struct os *os)
{
    char target[NUMBER_TEXT], own[NUMBER_TEXT], text[4096];
    ssize_t size = readlinkat(os->proc, "self", target, sizeof target);
    int expected = snprintf(own, sizeof own, "%lld", (long long)getpid());
    if (size != expected || memcmp(target, own, (size_t)size) != 0)
        return false;
    if (namespace_inode(os, "self/ns/pid") == OS_FIRST_PID_NAMESPACE)
        return true; // it has no outer one

    // "NSpid:" gives a pid for each namespace from that of the mount inwards, since Linux 4.1.
    int64_t read = linux_read_line(os, os->proc, "self/status", text, sizeof text);
    struct cursor cursor = cursor_over(text, read > 0 ? (size_t)read : 0);
    size_t depth = 0;
    for (struct span line; depth == 0 && cursor_line(&cursor, &line);) {
        struct cursor rest = cursor_over(line.bytes, line.size);
        if (cursor_literal(&rest, "NSpid:"))
            for (uint64_t pid; cursor_u64(&rest, &pid);)
                depth++;
    }
    return depth <= 1;
}

int os_open(struct os *os, const vitals_options *options, vitals_error *error)
{
    struct os opened = {
        .proc = -1,
        .sys = -1,
        .dev = -1,
        .etc = -1,
        .run = -1,
        .share = -1,
        .var = -1,
        .clock = options->clock != NULL ? *options->clock : *os_clock(),
        .trace = options->trace,
        .trace_data = options->trace_data,
        .bpf = options->bpf != 0,
    };
    const char *proc_root = options->proc_root != NULL ? options->proc_root : "/proc";
    opened.proc = open_root(&opened, proc_root);
    if (opened.proc < 0)
        return error_system(error, -opened.proc, "%s", proc_root);
    opened.sys = open_other(&opened, options->sys_root, "/sys");
    opened.dev = open_other(&opened, options->dev_root, "/dev");
    opened.etc = open_other(&opened, options->etc_root, "/etc");
    opened.run = open_other(&opened, options->run_root, "/run");
    opened.share = open_other(&opened, options->share_root, "/usr/share");
    opened.var = open_other(&opened, options->var_root, "/var");

    long ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
    opened.ticks_per_second = (double)(ticks > 0 ? ticks : 100);
    opened.page_bytes = page > 0 ? (uint64_t)page : 4096;
    opened.live = shows_our_pids(&opened);
    *os = opened;
    return 0;
}

void os_close(struct os *os)
{
    os_close_descriptor(os->proc);
    os_close_descriptor(os->sys);
    os_close_descriptor(os->dev);
    os_close_descriptor(os->etc);
    os_close_descriptor(os->run);
    os_close_descriptor(os->share);
    os_close_descriptor(os->var);
    os->proc = os->sys = os->dev = os->etc = os->run = os->share = os->var = -1;
}

uint64_t os_descriptor_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (uint64_t)limit.rlim_cur : 1024;
}

static const struct {
    int number;
    vitals_availability reason;
} REASONS[] = {
    {EACCES, VITALS_DENIED},       {EPERM, VITALS_DENIED},
    {ENOENT, VITALS_GONE},         {ESRCH, VITALS_GONE},
    {ENODEV, VITALS_UNSUPPORTED},  {ENXIO, VITALS_UNSUPPORTED},
    {ENOSYS, VITALS_UNSUPPORTED},  {ENOTSUP, VITALS_UNSUPPORTED},
    {ENOTTY, VITALS_UNSUPPORTED},  {ENOPROTOOPT, VITALS_UNSUPPORTED},
    {ETIMEDOUT, VITALS_TIMED_OUT},
};

vitals_availability os_availability(int error)
{
    int number = error < 0 ? -error : error;
    for (size_t i = 0; i < ARRAY_COUNT(REASONS); i++)
        if (REASONS[i].number == number)
            return REASONS[i].reason;
    return VITALS_FAILED;
}

void os_read_origin(const struct os *os, struct os_origin *out)
{
    linux_read_line(os, os->proc, "sys/kernel/hostname", out->host, sizeof out->host);
    linux_read_line(os, os->proc, "sys/kernel/random/boot_id", out->boot_id, sizeof out->boot_id);

    // The namespace whose pids /proc shows: ours where it is live, else that of its init, which
    // only a few may see. 0: not known.
    const char *path = os->live ? "self/ns/pid" : "1/ns/pid";
    out->pid_namespace = namespace_inode(os, path);
    if (out->pid_namespace == 0)
        linux_trace(os, path, errno);
}

uint64_t os_random(const struct os *os)
{
    uint64_t number;
    if (syscall(SYS_getrandom, &number, sizeof number, GRND_NONBLOCK) == (long)sizeof number)
        return number;
    return os->clock.realtime_ns(os->clock.data) ^ ((uint64_t)getpid() << 40);
}
