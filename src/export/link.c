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
#include <strings.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/wire.h"
#include "util/base.h"
#include "util/buffer.h"
#include "util/error.h"

enum {
    HEARD_MAX = 64 * 1024, /* longest reply; longer ones are ignored */
    KEPT_MAX = 64 * 1024,  /* buffer that is kept after a long line was sent */
    ROOM = 1024 * 1024     /* socket buffer requested from the kernel */
};
static const uint64_t EXPORT_CONFIG_NS = 2000000000;

struct link {
    /* writing */
    int out;
    struct buffer kept; /* the rest of a line that was sent in part */
    size_t kept_sent;
    bool torn; /* the last line was cut off and lacks its newline */
    bool slow; /* a wait for room timed out, and nothing was sent since */
    bool gone;
    uint64_t dropped;
    int hurry;   /* readable when waiting must end; -1: none */
    int process; /* pidfd of the program; -1: none */
    pid_t pid;   /* of the program */

    /* reading replies */
    int in;
    struct wire *replies; /* reads `in` */
};

/* Returns the moment at which a wait is over; 0: no wait. */
static uint64_t deadline_after(uint64_t wait_ns)
{
    return wait_ns > 0 ? saturating_add(clock_now_ns(), wait_ns) : 0;
}

/* Waits until the descriptor is ready, the deadline, or `hurry`. Returns whether it is ready. */
static bool wait_for(const struct link *link, int descriptor, short events, uint64_t deadline_ns)
{
    enum { BOTH = 2 };
    struct pollfd wanted[BOTH] = {{.fd = descriptor, .events = events},
                                  {.fd = link->hurry, .events = POLLIN}};
    for (;;) {
        uint64_t left = (clock_left_ns(deadline_ns) + 999999) / 1000000;
        int got = poll(wanted, BOTH, left < INT_MAX ? (int)left : INT_MAX);
        if (got > 0 || (got < 0 && errno != EINTR))
            return got > 0 && wanted[0].revents != 0;
        if (got == 0 && clock_now_ns() >= deadline_ns)
            return false;
    }
}

/* ---- start ---- */

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

/* The variables that the program and its libraries read. It parses what networks send, and need not
 * hold the secrets of the shell that started us. */
static bool is_passed_on(const char *variable)
{
    static const char *const BEGINNINGS[] = {"MLFLOW_",
                                             "OTEL_",
                                             "VITALS_",
                                             "XDG_",
                                             "LC_",
                                             "LANG",
                                             "LD_",
                                             "CURL_",
                                             "SSL_CERT_",
                                             "MALLOC_",
                                             "GLIBC_",
                                             "ASAN_",
                                             "LSAN_",
                                             "UBSAN_",
                                             "TSAN_",
                                             "OPENSSL_",
                                             "GNUTLS_",
                                             "P11_KIT_",
                                             "NIX_SSL_CERT_FILE=",
                                             "RES_OPTIONS=",
                                             "LOCALDOMAIN=",
                                             "HOSTALIASES=",
                                             "HOME=",
                                             "PATH=",
                                             "TMPDIR=",
                                             "TZ",
                                             "PYTHON",
                                             "SLURM_JOB_ID=",
                                             "KUBERNETES_SERVICE_HOST=",
                                             "PBS_JOBID=",
                                             "LSB_JOBID="};
    static const char *const PROXIES[] = {"http_proxy=", "https_proxy=", "all_proxy=", "no_proxy="};
    bool passed = false;
    for (size_t i = 0; i < sizeof BEGINNINGS / sizeof BEGINNINGS[0] && !passed; i++)
        passed = strncmp(variable, BEGINNINGS[i], strlen(BEGINNINGS[i])) == 0;
    for (size_t i = 0; i < sizeof PROXIES / sizeof PROXIES[0] && !passed; i++)
        passed = strncasecmp(variable, PROXIES[i], strlen(PROXIES[i])) == 0;
    return passed;
}

/* Executes the program; on failure reports errno to `failure`. The inherited socket (-1: none) is
 * moved to its number last, because another descriptor may have had that number. */
static void become(const struct link_program *program, int lines, int says, int failure)
{
    const int activation_socket = program->activation_socket;
    enum { KEPT = STDERR_FILENO + 1, MANY = 65536 };
    const char *const argv[] = {"tell", NULL};
    (void)setsid();
    if (dup2(lines, STDIN_FILENO) >= 0 && dup2(says, STDOUT_FILENO) >= 0 &&
        dup2(says, STDERR_FILENO) >= 0 &&
        (failure == KEPT || dup3(failure, KEPT, O_CLOEXEC) >= 0) &&
        (activation_socket < 0 || dup2(activation_socket, LINK_ACTIVATION_SOCKET) >= 0)) {
        failure = KEPT;

        /* Closes inherited descriptors, since other processes may wait for their end of file. */
        int first = (activation_socket < 0 ? KEPT : LINK_ACTIVATION_SOCKET) + 1;
#ifdef SYS_close_range
        if (syscall(SYS_close_range, first, ~0u, 0) == 0)
            first = MANY;
#endif
        for (int descriptor = first; descriptor < MANY; descriptor++)
            close(descriptor);

        const struct sigaction usual = {.sa_handler = SIG_DFL};
        sigset_t none;
        for (int number = 1; number < NSIG; number++)
            (void)sigaction(number, &usual, NULL);
        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        enum { VARIABLES_MAX = 1024 };
        char *passed[VARIABLES_MAX + 1];
        size_t count = 0;
        char *const *at = program->environment != NULL ? program->environment : environ;
        for (; at != NULL && *at != NULL && count < VARIABLES_MAX; at++)
            if (is_passed_on(*at))
                passed[count++] = *at;
        passed[count] = NULL;
        execve(program->path, (char *const *)argv, passed);
    }
    tell_started(failure, 0, errno);
    _exit(127);
}

/* Moves descriptors above standard input, output and error, which the caller may have closed: what
 * is printed there is not ours, and become() replaces them. Returns 0, or a positive errno. */
static int move_up(int *descriptors, int count)
{
    for (int i = 0; i < count; i++) {
        if (descriptors[i] < 0 || descriptors[i] > STDERR_FILENO)
            continue;
        int moved = fcntl(descriptors[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (moved < 0)
            return errno;
        close(descriptors[i]);
        descriptors[i] = moved;
    }
    return 0;
}

/* Starts the program as a grandchild, so that it need not be waited for. Returns 0, or the positive
 * errno of the call that failed. */
static int start(struct link *link, const struct link_program *program, int lines, int says)
{
    int ends[2], status;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    int why = move_up(ends, 2);
    if (why != 0) {
        close(ends[0]);
        close(ends[1]);
        return why;
    }
    pid_t child = fork();
    if (child == 0) {
        pid_t second = fork();
        if (second == 0)
            become(program, lines, says, ends[1]);
        tell_started(ends[1], second, second < 0 ? errno : 0);
        _exit(0);
    }
    why = child < 0 ? errno : 0;
    close(ends[1]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;

    /* Both children report, until they have exited or executed the program. A process that another
     * thread forked meanwhile may keep the pipe open. */
    struct started one;
    uint64_t deadline_ns = clock_now_ns() + EXPORT_CONFIG_NS;
    for (ssize_t size = 1; child > 0 && size != 0;) {
        if (!wait_for(link, ends[0], POLLIN, deadline_ns)) {
            why = link->pid > 0 ? why : ETIMEDOUT;
            break;
        }
        size = read(ends[0], &one, sizeof one);
        if (size < 0 && errno != EINTR)
            break;
        if (size > 0 && one.pid > 0)
            link->pid = one.pid;
        if (size > 0 && one.why > 0)
            why = one.why;
    }
    close(ends[0]);
    return why;
}

static int cannot_start(vitals_error *error, const char *program, int why)
{
    int code = why == ENOENT || why == ENOTDIR ? VITALS_EGONE
               : why == EACCES || why == EPERM ? VITALS_EDENIED
               : why == ENOMEM                 ? VITALS_EMEMORY
                                               : VITALS_ESYSTEM;
    return error_set(error, code, why, "the exporter, %.119s: %s", program,
                     why == ENOENT ? "not installed (package vitals-exporter)" : strerror(why));
}

int link_open(const struct link_program *program, const char *export_config, struct link **out,
              vitals_error *error)
{
    const int room = ROOM;
    int lines[2] = {-1, -1}, says[2] = {-1, -1}, why;
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL)
        return cannot_start(error, program->path, ENOMEM);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines) < 0 || pipe2(says, O_CLOEXEC) < 0)
        why = errno;
    else if ((why = move_up(lines, 2)) == 0 && (why = move_up(says, 2)) == 0 &&
             (link->replies = wire_new(says[0], HEARD_MAX)) == NULL)
        why = ENOMEM;
    if (why != 0) {
        for (int i = 0; i < 2; i++) {
            (void)close(lines[i]);
            (void)close(says[i]);
        }
        free(link);
        return cannot_start(error, program->path, why);
    }
    (void)setsockopt(lines[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    (void)fcntl(lines[1], F_SETFL, O_NONBLOCK);
    (void)fcntl(says[0], F_SETFL, O_NONBLOCK);
    link->out = lines[1];
    link->in = says[0];
    link->hurry = link->process = -1;
    why = start(link, program, lines[0], says[1]);
    close(lines[0]);
    close(says[1]);

    /* If the program's end of the socket is still open after pidfd_open, the pid was not reused in
     * between. */
    struct pollfd other = {.fd = link->out, .events = 0};
    link->process = link->pid > 0 ? (int)syscall(SYS_pidfd_open, link->pid, 0) : -1;
    int moved = move_up(&link->process, 1);
    if (link->process >= 0 && (moved != 0 || poll(&other, 1, 0) != 0)) {
        close(link->process);
        link->process = -1;
    }

    /* A program that has exited is no failure here, because its replies can still be read. */
    if (why == 0) {
        (void)!(link_write(link, export_config, strlen(export_config), EXPORT_CONFIG_NS) &&
                link_write(link, "\n", 1, EXPORT_CONFIG_NS));
        if (link->gone || (link->kept.size == 0 && link->dropped == 0)) {
            *out = link;
            return 0;
        }
    }
    (void)link_close(link, 0, false, NULL, NULL);
    return why != 0
               ? cannot_start(error, program->path, why)
               : error_set(error, VITALS_ESYSTEM, EPIPE,
                           "the exporter, %.119s: the exporter does not read its configuration",
                           program->path);
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
    struct buffer *kept = &link->kept;
    if (kept->size > 0)
        link->kept_sent += push(link, kept->bytes + link->kept_sent, kept->size - link->kept_sent,
                                deadline_ns);
    if (link->kept_sent < kept->size)
        return false;
    link->kept_sent = 0;
    if (kept->capacity > KEPT_MAX)
        buffer_done(kept);
    buffer_reset(kept);
    return true;
}

bool link_write(struct link *link, const char *line, size_t size, uint64_t wait_ns)
{
    uint64_t deadline_ns = deadline_after(wait_ns);
    size_t sent = 0;
    if (push_kept(link, deadline_ns) && !link->gone &&
        !(link->torn && push(link, "\n", 1, deadline_ns) == 0)) {
        link->torn = false;
        sent = push(link, line, size, deadline_ns);
    }
    if (sent == size)
        return true;

    /* Keeps the rest of the line. Without memory the line lacks its newline, which is sent before
     * the next line. */
    bool begun = sent > 0 && !link->gone;
    if (begun) {
        buffer_append(&link->kept, line + sent, size - sent);
        link->torn = link->kept.failed;
    }
    bool kept = begun && !link->torn;
    link->dropped += !kept;
    return kept;
}

bool link_flush(struct link *link, uint64_t wait_ns)
{
    link->slow = false;
    return push_kept(link, deadline_after(wait_ns));
}

uint64_t link_dropped(const struct link *link)
{
    return link->dropped;
}

/* ---- reading ---- */

int link_hear(struct link *link, uint64_t wait_ns, char **line)
{
    uint64_t deadline_ns = deadline_after(wait_ns);
    size_t size;
    int got;
    while ((got = wire_next(link->replies, line, &size)) == 0 &&
           wait_for(link, link->in, POLLIN, deadline_ns))
        ;
    return got;
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

/* Closes all but the descriptor that is written to. */
static void close_heard(const struct link *link)
{
    close(link->in);
    if (link->process >= 0)
        close(link->process);
}

void link_abandon(const struct link *link)
{
    close(link->out);
    close_heard(link);
}

enum link_end link_close(struct link *link, uint64_t wait_ns, bool ends,
                         void (*hear)(void *data, const char *line), void *data)
{
    static const char DONE[] = "{\"done\":";
    enum link_end end = LINK_LEFT;
    if (link == NULL)
        return LINK_DONE;
    uint64_t deadline_ns = deadline_after(wait_ns);
    (void)link_flush(link, wait_ns);
    link_finish(link);
    close(link->out);

    /* Reads at least what is there already. */
    for (uint64_t left_ns = 1; end == LINK_LEFT && left_ns > 0;) {
        char *line;
        left_ns = clock_left_ns(deadline_ns);
        int got = link_hear(link, left_ns, &line);
        if (got == 0)
            break;
        if (got < 0)
            end = LINK_GONE;
        else if (strncmp(line, DONE, sizeof DONE - 1) == 0)
            end = LINK_DONE;
        else if (hear != NULL)
            hear(data, line);
    }

    if (ends && end == LINK_LEFT && link->process >= 0)
        (void)syscall(SYS_pidfd_send_signal, link->process, SIGKILL, NULL, 0);
    close_heard(link);
    wire_free(link->replies);
    buffer_done(&link->kept);
    free(link);
    return end;
}
