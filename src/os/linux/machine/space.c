/* space.c: see space.h. */
#include "os/linux/machine/space.h"

#include "util/cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* To copy the page tables of a larger process holds it up: such a one asks itself. */
static const uint64_t CHILD_RESIDENT_MAX = 256 << 20;

struct space_answer {
    int error;
    struct statvfs space;
};

/* The members of a mount that it takes to ask. */
enum { QUESTION_SIZE = offsetof(struct mount, source) };

static int ask(const struct os *os, const struct mount *mount, bool btrfs, struct statvfs *space)
{
    static const char ROOT[] = "self/root";
    char path[sizeof ROOT + MOUNT_TEXT];
    struct stat status;
    if (mount->point.cut)
        return -ENAMETOOLONG;
    memcpy(path, ROOT, sizeof ROOT - 1);
    memcpy(path + sizeof ROOT - 1, mount->point.bytes, mount->point.size + 1);
    int descriptor = linux_open(os, os->proc, path, O_PATH);
    if (descriptor < 0)
        return descriptor;
    int error = fstatvfs(descriptor, space) == 0 ? 0 : -errno;
    /* Inside a btrfs subvolume the device number differs from that of the mount. */
    if (error == 0 && os->live && !btrfs && fstat(descriptor, &status) == 0 &&
        (major(status.st_dev) != mount->major || minor(status.st_dev) != mount->minor))
        error = -ESTALE;
    os_close_descriptor(descriptor);
    return error;
}

/* ---- the child ---- */

/* Only system calls: another thread may have held any lock. Keeps nothing open that others wait
 * for. */
_Noreturn static void answer_all(const struct os *os, int socket)
{
    struct os own = *os;
    struct mount mount;
    unsigned first = (unsigned)(socket < os->proc ? socket : os->proc);
    unsigned second = (unsigned)(socket < os->proc ? os->proc : socket);
    own.trace = NULL;
    own.lacking = NULL;
    if (first > 0)
        linux_close_from(0, first - 1);
    if (second > first + 1)
        linux_close_from(first + 1, second - 1);
    linux_close_from(second + 1, ~0u);
    (void)!chdir("/");
    (void)prctl(PR_SET_NAME, "vitals-mounts");
    while (recv(socket, &mount, QUESTION_SIZE, 0) == QUESTION_SIZE) {
        struct space_answer answer = {.error = 0};
        answer.error = ask(&own, &mount, false, &answer.space);
        if (send(socket, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer)
            break;
    }
    _exit(0);
}

static bool is_small(const struct os *os)
{
    char text[128];
    int64_t size = linux_read_line(os, os->proc, "self/statm", text, sizeof text);
    struct os_statm pages;
    return size > 0 && os_parse_statm(text, (size_t)size, &pages) &&
           pages.resident < CHILD_RESIDENT_MAX / (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Its end sends no signal, and no wait() of the program that this library is in finds it. Not
 * fork(), which runs handlers of that program. */
static void start(struct space_reader *reader, const struct os *os)
{
    int pair[2];
    reader->child = -1;
    if (!os->live || os->proc < 0 || !is_small(os) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return;
    sigset_t all, before; /* no handler of the program runs in the child */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    long child = syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
    if (child == 0)
        answer_all(os, pair[1]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    os_close_descriptor(pair[1]);
    reader->socket = pair[0];
    reader->child = child;
    if (child < 0)
        os_close_descriptor(pair[0]);
}

int space_read(struct space_reader *reader, const struct os *os, const struct mount *mount,
               struct statvfs *space)
{
    struct space_answer answer;
    bool may_hang = mount_is_remote(mount) ||
                    (mount->type.size >= 4 && memcmp(mount->type.bytes, "fuse", 4) == 0);
    if (may_hang && reader->child == 0)
        start(reader, os);
    if (!may_hang || reader->child < 0)
        return ask(os, mount, span_equal(mount->type, "btrfs"), space);

    ssize_t got = -1, sent;
    do
        sent = send(reader->socket, mount, QUESTION_SIZE, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent == QUESTION_SIZE) {
        do
            got = recv(reader->socket, &answer, sizeof answer, 0);
        while (got < 0 && errno == EINTR);
    }
    if (got != (ssize_t)sizeof answer)
        return -EIO;
    *space = answer.space;
    return answer.error;
}

void space_done(struct space_reader *reader)
{
    if (reader->child <= 0)
        return;
    (void)shutdown(reader->socket, SHUT_RDWR); /* a fork of the program may have a copy */
    os_close_descriptor(reader->socket);
    while (waitpid((pid_t)reader->child, NULL, __WALL) < 0 && errno == EINTR)
        ;
}
