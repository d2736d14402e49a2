/* A child that waits for a word before its exec: what happens if it is killed before, and if
 * another thread's fork holds the pipe that says that it has begun. */
#include "check.h"

#include "os/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct os_child spawn(const char *const *argv)
{
    struct os_child child;
    const struct os_command command = {.argv = argv};
    CHECK_INT(os_spawn(&command, &child), 0);
    return child;
}

/* The other end of the pipe that tells of a failure, as a fork between its making and its closing
 * would have it. */
static int hold(const struct os_child *child)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", child->failure);
    return open(path, O_WRONLY | O_CLOEXEC);
}

static void reap(struct os_child *child)
{
    CHECK_INT(waitpid((pid_t)child->pid, NULL, 0), child->pid);
    os_close_descriptor(child->pidfd);
}

/* Without SIGPIPE, which would end the caller. */
static void one_that_is_killed_before_was_not_started(void)
{
    static const char *const ARGV[] = {"sleep", "60", NULL};
    siginfo_t info = {0};
    struct os_child child = spawn(ARGV);
    CHECK_INT(kill((pid_t)child.pid, SIGKILL), 0);
    CHECK_INT(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
    CHECK_INT(os_spawn_go(&child), ESRCH);
    reap(&child);
}

static void it_begins_whoever_holds_the_pipe(void)
{
    static const char *const ARGV[] = {"sleep", "60", NULL};
    struct os_child child = spawn(ARGV);
    int held = hold(&child);
    if (held < 0)
        CHECK_SKIP("no /proc that opens a pipe again");
    CHECK_INT(os_spawn_go(&child), 0);
    CHECK_INT(kill((pid_t)child.pid, 0), 0);
    CHECK_INT(kill((pid_t)child.pid, SIGKILL), 0);
    reap(&child);
    close(held);
}

static void its_failure_is_told_whoever_holds_the_pipe(void)
{
    static const char *const ARGV[] = {"vitals-no-such-command", NULL};
    struct os_child child = spawn(ARGV);
    int held = hold(&child);
    CHECK_INT(os_spawn_go(&child), ENOENT);
    reap(&child);
    os_close_descriptor(held);
}

static void one_that_ends_at_once_has_begun(void)
{
    static const char *const ARGV[] = {"true", NULL};
    struct os_child child = spawn(ARGV);
    int held = hold(&child);
    CHECK_INT(os_spawn_go(&child), 0);
    reap(&child);
    os_close_descriptor(held);
}

/* By a ^Z between our word and its exec, say: a caller that waited for the exec would never see the
 * stop. */
static void one_that_is_stopped_has_begun(void)
{
    static const char *const ARGV[] = {"sleep", "60", NULL};
    siginfo_t info = {0};
    struct os_child child = spawn(ARGV);
    CHECK_INT(kill((pid_t)child.pid, SIGSTOP), 0);
    CHECK_INT(waitid(P_PID, (id_t)child.pid, &info, WSTOPPED | WNOWAIT), 0);
    CHECK_INT(os_spawn_go(&child), 0);
    CHECK_INT(waitid(P_PID, (id_t)child.pid, &info, WSTOPPED | WNOHANG), 0);
    CHECK_INT(info.si_pid, child.pid); /* it is there to be seen still */
    CHECK_INT(kill((pid_t)child.pid, SIGKILL), 0);
    reap(&child);
}

static const check_test tests[] = {
    {"one that is killed before was not started", one_that_is_killed_before_was_not_started},
    {"it begins, whoever holds the pipe", it_begins_whoever_holds_the_pipe},
    {"its failure is told, whoever holds the pipe", its_failure_is_told_whoever_holds_the_pipe},
    {"one that ends at once has begun", one_that_ends_at_once_has_begun},
    {"one that is stopped has begun", one_that_is_stopped_has_begun},
};
CHECK_TESTS(tests)
