/* What the exporter gives up, and what it keeps. Each in a process of its own: it is for good. */
#include "check.h"

#include "export/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
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

static int opens_socket(int family, int type)
{
    int descriptor = socket(family, type, 0);
    return descriptor >= 0 ? close(descriptor) : errno;
}

static int opens_packets(void)
{
    return opens_socket(AF_PACKET, SOCK_DGRAM);
}

static int leaves_namespace(void)
{
    return unshare(CLONE_NEWUSER) == 0 ? 0 : errno;
}

static int talks(void)
{
    return opens_socket(AF_INET, SOCK_STREAM) | opens_socket(AF_INET6, SOCK_STREAM) |
           opens_socket(AF_UNIX, SOCK_STREAM) | opens_socket(AF_NETLINK, SOCK_RAW);
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
