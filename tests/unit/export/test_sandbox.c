/* What the exporter gives up, and what it keeps. Each in a process of its own: it is for good. */
#include "check.h"

#include "export/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int executes(void)
{
    char *const argv[] = {(char *)"true", NULL};
    (void)execv("/bin/true", argv);
    return errno;
}

static int traces(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : errno;
}

static int opens_protocol(int family, int type, int protocol)
{
    int descriptor = socket(family, type, protocol);
    return descriptor >= 0 ? close(descriptor) : errno;
}

static int opens_socket(int family, int type)
{
    return opens_protocol(family, type, 0);
}

static int opens_packets(void)
{
    return opens_socket(AF_PACKET, SOCK_DGRAM);
}

static int leaves_namespace(void)
{
    return unshare(CLONE_NEWUSER) == 0 ? 0 : errno;
}

static int opens_raw(void)
{
    return opens_socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC);
}

/* Each is another error, or none, for an ordinary user without a filter. */
static int opens_sequences(void)
{
    return opens_socket(AF_INET, SOCK_SEQPACKET);
}

static int opens_sctp(void)
{
    return opens_protocol(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
}

static int opens_udp_lite(void)
{
    return opens_protocol(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDPLITE);
}

static int opens_netlink(void)
{
    return opens_socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC);
}

static int clones_namespace(void)
{
    long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0)
        _exit(0);
    return child > 0 ? 0 : errno;
}

/* The C library's fallback is clone. */
static int clones_unseen(void)
{
    return syscall(435, NULL, 0) == 0 ? 0 : errno;
}

static void *nothing(void *data)
{
    return data;
}

static int goes_on(void)
{
    pthread_t thread;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    if (child < 0 || waitpid(child, NULL, 0) != child)
        return errno;
    return pthread_create(&thread, NULL, nothing, NULL) | pthread_join(thread, NULL);
}

static int talks(void)
{
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    if (getaddrinfo("localhost", "80", &hints, &found) != 0)
        return EHOSTUNREACH;
    freeaddrinfo(found);
    int sixth = opens_socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK);
    return opens_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC) |
           opens_protocol(AF_INET, SOCK_STREAM, IPPROTO_TCP) | opens_socket(AF_INET, SOCK_DGRAM) |
           opens_protocol(AF_INET, SOCK_DGRAM, IPPROTO_UDP) | opens_socket(AF_UNIX, SOCK_STREAM) |
           (sixth == EAFNOSUPPORT ? 0 : sixth);
}

static int reads(void)
{
    int descriptor = open("/proc/self/status", O_RDONLY);
    char byte;
    return descriptor >= 0 && read(descriptor, &byte, 1) == 1 ? close(descriptor) : EIO;
}

static void what_is_refused(void)
{
    static const struct {
        const char *name;
        int (*call)(void);
        int expected;
    } rows[] = {
        {"executes", executes, EPERM},
        {"traces", traces, EPERM},
        {"packets", opens_packets, EPERM},
        {"namespace", leaves_namespace, EPERM},
        {"clone", clones_namespace, EPERM},
        {"clone3", clones_unseen, ENOSYS},
        {"raw", opens_raw, EPERM},
        {"netlink", opens_netlink, EPERM},
        {"sequences", opens_sequences, EPERM},
        {"SCTP", opens_sctp, EPERM},
        {"UDP-Lite", opens_udp_lite, EPERM},
        {"goes on", goes_on, 0},
        {"talks", talks, 0},
        {"reads", reads, 0},
    };
    enum { NO_SANDBOX = 250 };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        int status = 0;
        CHECK_CASE(rows[i].name);
        pid_t child = fork();
        if (child == 0)
            _exit(sandbox_enter() < 0 ? NO_SANDBOX : rows[i].call());
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        if (WEXITSTATUS(status) == NO_SANDBOX)
            CHECK_SKIP("no seccomp filter here");
        CHECK_INT(WEXITSTATUS(status), rows[i].expected);
    }
}

static const check_test tests[] = {{"what is refused", what_is_refused}};
CHECK_TESTS(tests)
