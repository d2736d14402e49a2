/* link.c: see link.h. Lines are written to a socket, which returns EPIPE instead of raising
 * SIGPIPE and can be shut down for all processes that hold it. Replies come through a pipe. */
#include "export/link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/clock.h"

enum {
    HEARD_MAX = 64 * 1024, /* longest reply; longer ones are ignored */
    KEPT_MAX = 64 * 1024,  /* buffer that is kept after a long line was sent */
    ROOM = 1024 * 1024     /* socket buffer requested from the kernel */
};
static const uint64_t HELLO_NS = 2000000000;

struct link {
    /* writing */
    int out;
    char *kept; /* the rest of a line that was sent in part */
    size_t kept_size, kept_sent, kept_capacity;
    bool torn; /* the last line was cut off and lacks its newline */
    bool slow; /* a wait for room timed out, and nothing was sent since */
    bool gone;
    uint64_t dropped;
    int hurry;   /* readable when waiting must end; -1: none */
    int process; /* pidfd of the program; -1: none */
    pid_t pid;   /* of the program */

    /* reading replies */
    int in;
    char heard[HEARD_MAX + 1];
    size_t heard_size, heard_given; /* bytes in `heard`, and how many of them were returned */
    bool passing;                   /* inside a line that is too long */
};

/* ---- start ---- */

/* Closes inherited descriptors, since other processes may wait for their end of file. */
static void close_all_but(int most)
{
    enum { MANY = 65536 };
#ifdef SYS_close_range
    if (syscall(SYS_close_range, most + 1, ~0u, 0) == 0)
        return;
#endif
    for (int descriptor = most + 1; descriptor < MANY; descriptor++)
        close(descriptor);
}

static void take_usual_signals(void)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &usual, NULL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Report of either child to the parent: the pid of the program, or why it cannot start. */
struct started {
    pid_t pid;
    int why; /* positive errno */
};

static void tell_started(int descriptor, pid_t pid, int why)
{
    const struct started started = {.pid = pid, .why = why};
    ssize_t ignored = write(descriptor, &started, sizeof started);
    (void)ignored;
}

/* Descriptors of the program, numbered above the standard streams. */
struct ends {
    int lines, says;
    int handed; /* -1: nothing */
};

/* Executes the program, in a grandchild, so that it need not be waited for; on failure reports
 * errno to `failure`. The inherited socket is moved to its number last, because another descriptor
 * may have had that number. */
static void become(const char *program, const struct ends *own, int failure)
{
    enum { KEPT = STDERR_FILENO + 1 };
    const char *const argv[] = {"tell", NULL};
    (void)setsid();
    if (dup2(own->lines, STDIN_FILENO) >= 0 && dup2(own->says, STDOUT_FILENO) >= 0 &&
        dup2(own->says, STDERR_FILENO) >= 0 &&
        (failure == KEPT || dup3(failure, KEPT, O_CLOEXEC) >= 0) &&
        (own->handed < 0 || dup2(own->handed, LINK_HANDED) >= 0)) {
        failure = KEPT;
        close_all_but(own->handed < 0 ? KEPT : LINK_HANDED);
        take_usual_signals();
        execv(program, (char *const *)argv);
    }
    tell_started(failure, 0, errno);
    _exit(127);
}

/* Reads the reports until both children have exited or executed the program. */
static struct started hear_started(int descriptor)
{
    struct started all = {.pid = 0}, one;
    for (ssize_t size; (size = read(descriptor, &one, sizeof one)) != 0;) {
        if (size < 0 && errno != EINTR)
            break;
        if (size < 0)
            continue;
        all.pid = one.pid > 0 ? one.pid : all.pid;
        all.why = one.why > 0 ? one.why : all.why;
    }
    return all;
}

/* Returns 0, or the positive errno of the call that failed. */
static int start(const char *program, const struct ends *own, pid_t *pid)
{
    struct started started = {.pid = 0};
    int ends[2], status;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    pid_t child = fork();
    if (child == 0) {
        pid_t second = fork();
        if (second == 0)
            become(program, own, ends[1]);
        tell_started(ends[1], second, second < 0 ? errno : 0);
        _exit(0);
    }
    started.why = child < 0 ? errno : 0;
    close(ends[1]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0)
        started = hear_started(ends[0]);
    close(ends[0]);
    *pid = started.pid;
    return started.why;
}

/* Returns a pidfd of the program, or -1. If its end of the socket is still open after pidfd_open,
 * the pid was not reused in between. */
static int hold_process(pid_t pid, int lines)
{
#ifdef SYS_pidfd_open
    struct pollfd other = {.fd = lines, .events = 0};
    int process = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (process < 0 || poll(&other, 1, 0) == 0)
        return process;
    close(process);
#else
    (void)pid, (void)lines;
#endif
    return -1;
}

static int fail(vitals_error *error, int code, int detail, const char *program, const char *why)
{
    char safe[120];
    if (error == NULL)
        return code;
    error->code = code;
    error->detail = detail;
    (void)vitals_text_format((vitals_text){program, strlen(program)}, VITALS_TEXT_ASCII, safe,
                             sizeof safe);
    (void)snprintf(error->message, sizeof error->message, "%s, the program that tells others: %s",
                   safe, why);
    return code;
}

static int cannot_start(vitals_error *error, const char *program, int why)
{
    int code = why == ENOENT || why == ENOTDIR ? VITALS_EGONE
               : why == EACCES || why == EPERM ? VITALS_EDENIED
               : why == ENOMEM                 ? VITALS_EMEMORY
                                               : VITALS_ESYSTEM;
    return fail(error, code, why, program, strerror(why));
}

/* Makes the socket and the pipe. */
static bool make_ends(int lines[2], int says[2])
{
    const int room = ROOM;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines) < 0)
        return false;
    if (pipe2(says, O_CLOEXEC) < 0) {
        int why = errno;
        close(lines[0]);
        close(lines[1]);
        errno = why;
        return false;
    }
    (void)setsockopt(lines[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    (void)fcntl(lines[1], F_SETFL, O_NONBLOCK);
    (void)fcntl(says[0], F_SETFL, O_NONBLOCK);
    return true;
}

/* Sends the first line. Succeeds even if the program has exited, because its replies can still be
 * read. */
static bool say_hello(struct link *link, const char *hello)
{
    (void)!(link_write(link, hello, strlen(hello), HELLO_NS) &&
            link_write(link, "\n", 1, HELLO_NS));
    return link->gone || (link->kept_size == 0 && link->dropped == 0);
}

int link_open(const char *program, const char *hello, int handed, struct link **out,
              vitals_error *error)
{
    int lines[2], says[2];
    pid_t pid = 0;
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL)
        return cannot_start(error, program, ENOMEM);
    if (!make_ends(lines, says)) {
        int why = errno;
        free(link);
        return cannot_start(error, program, why);
    }
    link->out = lines[1];
    link->in = says[0];
    link->hurry = -1;
    const struct ends own = {.lines = lines[0], .says = says[1], .handed = handed};
    int why = start(program, &own, &pid);
    close(lines[0]);
    close(says[1]);
    link->pid = pid;
    link->process = hold_process(pid, link->out);
    if (why == 0 && say_hello(link, hello)) {
        *out = link;
        return 0;
    }
    (void)link_close(link, 0, NULL, NULL);
    return why != 0 ? cannot_start(error, program, why)
                    : fail(error, VITALS_ESYSTEM, EPIPE, program, "it does not read");
}

int64_t link_pid(const struct link *link)
{
    return link->pid;
}

int link_descriptor(const struct link *link)
{
    return link->out;
}

/* ---- writing ---- */

void link_hurry_by(struct link *link, int descriptor)
{
    link->hurry = descriptor;
}

/* Waits until the descriptor is ready, the deadline, or `hurry`. Returns whether it is ready. */
static bool wait_for(const struct link *link, int descriptor, short events, uint64_t deadline_ns)
{
    enum { BOTH = 2 };
    struct pollfd wanted[BOTH] = {{.fd = descriptor, .events = events},
                                  {.fd = link->hurry, .events = POLLIN}};
    for (;;) {
        uint64_t now = clock_now_ns();
        uint64_t left = deadline_ns > now ? (deadline_ns - now + 999999) / 1000000 : 0;
        int got = poll(wanted, BOTH, left < INT_MAX ? (int)left : INT_MAX);
        if (got > 0 || (got < 0 && errno != EINTR))
            return got > 0 && wanted[0].revents != 0;
        if (got == 0 && clock_now_ns() >= deadline_ns)
            return false;
    }
}

/* Returns how many bytes were sent by the deadline (0: without waiting). */
static size_t push(struct link *link, const char *bytes, size_t size, uint64_t deadline_ns)
{
    size_t sent = 0;
    while (sent < size && !link->gone) {
        ssize_t count = send(link->out, bytes + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0) {
            sent += (size_t)count;
            link->slow = false;
        } else if (count < 0 && errno == EAGAIN) {
            if (deadline_ns == 0 || link->slow)
                break;
            link->slow = !wait_for(link, link->out, POLLOUT, deadline_ns);
        } else if (count < 0 && errno != EINTR && errno != ENOBUFS && errno != ENOMEM) {
            link->gone = true;
        } else if (count < 0 && errno != EINTR) {
            break;
        }
    }
    return sent;
}

static bool push_kept(struct link *link, uint64_t deadline_ns)
{
    link->kept_sent += push(link, link->kept + link->kept_sent, link->kept_size - link->kept_sent,
                            deadline_ns);
    if (link->kept_sent < link->kept_size)
        return false;
    link->kept_size = link->kept_sent = 0;
    if (link->kept_capacity > KEPT_MAX) {
        free(link->kept);
        link->kept = NULL;
        link->kept_capacity = 0;
    }
    return true;
}

/* Keeps the rest of a line. Without memory the line lacks its newline, which is sent before the
 * next line. */
static bool keep(struct link *link, const char *bytes, size_t size)
{
    if (size > link->kept_capacity) {
        char *room = realloc(link->kept, size);
        if (room == NULL) {
            link->torn = true;
            return false;
        }
        link->kept = room;
        link->kept_capacity = size;
    }
    memcpy(link->kept, bytes, size);
    link->kept_size = size;
    return true;
}

static bool write_line(struct link *link, const char *line, size_t size, uint64_t deadline_ns)
{
    if (!push_kept(link, deadline_ns) || link->gone)
        return false;
    if (link->torn && push(link, "\n", 1, deadline_ns) == 0)
        return false;
    link->torn = false;
    size_t sent = push(link, line, size, deadline_ns);
    if (sent == size)
        return true;
    return sent > 0 && !link->gone && keep(link, line + sent, size - sent);
}

bool link_write(struct link *link, const char *line, size_t size, uint64_t wait_ns)
{
    if (write_line(link, line, size, wait_ns > 0 ? clock_now_ns() + wait_ns : 0))
        return true;
    link->dropped++;
    return false;
}

bool link_flush(struct link *link, uint64_t wait_ns)
{
    link->slow = false;
    return push_kept(link, wait_ns > 0 ? clock_now_ns() + wait_ns : 0);
}

uint64_t link_dropped(const struct link *link)
{
    return link->dropped;
}

/* ---- reading ---- */

/* Returns a complete line of the bytes that were read. */
static bool take_heard(struct link *link, char **line)
{
    char *from = link->heard + link->heard_given;
    char *newline = memchr(from, '\n', link->heard_size - link->heard_given);
    if (newline == NULL)
        return false;
    *newline = '\0';
    *line = from;
    link->heard_given += (size_t)(newline - from) + 1;
    return true;
}

/* Likewise, but skips the rest of a line that was too long. */
static bool next_heard(struct link *link, char **line)
{
    while (take_heard(link, line)) {
        if (!link->passing)
            return true;
        link->passing = false;
    }
    return false;
}

static void make_room(struct link *link)
{
    link->heard_size -= link->heard_given;
    memmove(link->heard, link->heard + link->heard_given, link->heard_size);
    link->heard_given = 0;
    if (link->heard_size < HEARD_MAX && !link->passing)
        return;
    link->passing = true;
    link->heard_size = 0;
}

int link_hear(struct link *link, uint64_t wait_ns, char **line)
{
    uint64_t deadline_ns = wait_ns > 0 ? clock_now_ns() + wait_ns : 0;
    while (!next_heard(link, line)) {
        make_room(link);
        ssize_t count = read(link->in, link->heard + link->heard_size,
                             HEARD_MAX - link->heard_size);
        if (count == 0)
            return -1;
        if (count > 0)
            link->heard_size += (size_t)count;
        else if (errno == EAGAIN && !(wait_ns > 0 && wait_for(link, link->in, POLLIN, deadline_ns)))
            return 0;
        else if (errno != EAGAIN && errno != EINTR)
            return -1;
    }
    return 1;
}

int link_hearing(const struct link *link)
{
    return link->in;
}

/* ---- the end ---- */

void link_finish(struct link *link)
{
    (void)shutdown(link->out, SHUT_WR);
}

static enum link_end hear_out(struct link *link, uint64_t deadline_ns,
                              void (*hear)(void *data, const char *line), void *data)
{
    static const char DONE[] = "{\"done\":";
    uint64_t now, left_ns = 1;
    while (left_ns > 0) { /* read at least what is there already */
        char *line;
        left_ns = (now = clock_now_ns()) < deadline_ns ? deadline_ns - now : 0;
        int got = link_hear(link, left_ns, &line);
        if (got < 0)
            return LINK_GONE;
        if (got == 0)
            break;
        if (strncmp(line, DONE, sizeof DONE - 1) == 0)
            return LINK_DONE;
        if (hear != NULL)
            hear(data, line);
    }
    return LINK_LEFT;
}

static void kill_program(const struct link *link)
{
#ifdef SYS_pidfd_send_signal
    if (link->process >= 0)
        (void)syscall(SYS_pidfd_send_signal, link->process, SIGKILL, NULL, 0);
#else
    (void)link;
#endif
}

static enum link_end finish(struct link *link, uint64_t wait_ns, bool ends,
                            void (*hear)(void *data, const char *line), void *data)
{
    if (link == NULL)
        return LINK_DONE;
    uint64_t deadline_ns = clock_now_ns() + wait_ns;
    (void)link_flush(link, wait_ns);
    link_finish(link);
    close(link->out);
    enum link_end end = hear_out(link, deadline_ns, hear, data);
    if (ends && end == LINK_LEFT)
        kill_program(link);
    close(link->in);
    if (link->process >= 0)
        close(link->process);
    free(link->kept);
    free(link);
    return end;
}

enum link_end link_close(struct link *link, uint64_t wait_ns,
                         void (*hear)(void *data, const char *line), void *data)
{
    return finish(link, wait_ns, false, hear, data);
}

enum link_end link_end(struct link *link, uint64_t wait_ns,
                       void (*hear)(void *data, const char *line), void *data)
{
    return finish(link, wait_ns, true, hear, data);
}
