/* sleepers.c: runs a command beside so many sleeping processes, and ends them with it.
 *
 *     sleepers [--shared] COUNT COMMAND [ARGUMENT…]
 *
 * Where the kernel lets it, all of them live in a pid namespace of their own: its /proc shows the
 * sleepers, the command and us, so that counts are the same on every machine, and whatever happens
 * to us, the kernel ends them. Elsewhere, and with --shared, they live among all other processes.
 * SLEEPERS_SHARED tells the command which: 0 or 1. Exits as the command does; 125 where so many
 * processes cannot be had, with a line that says why. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLEEPERS_MAX = 20000, EXIT_NO_SLEEPERS = 125, EXIT_NO_COMMAND = 127 };

/* ---- sleepers ---- */

static pid_t sleepers[SLEEPERS_MAX];
static size_t sleeper_count;

/* Ends with the process that started it, even if that was killed. */
static void die_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

static void end_sleepers(void)
{
    for (size_t i = 0; i < sleeper_count; i++)
        kill(sleepers[i], SIGKILL);
    for (size_t i = 0; i < sleeper_count; i++)
        waitpid(sleepers[i], NULL, 0);
}

static bool start_sleepers(size_t count)
{
    pid_t self = getpid();
    while (sleeper_count < count) {
        pid_t child = fork();
        if (child == 0) {
            die_with(self);
            for (int descriptor = 0; descriptor < 3; descriptor++)
                close(descriptor); // a pipe of the command's must not stay open because of us
            for (;;)
                pause();
        }
        if (child < 0) {
            fprintf(stderr, "sleepers: only %zu of %zu processes: %s\n", sleeper_count, count,
                    strerror(errno));
            return false;
        }
        sleepers[sleeper_count++] = child;
    }
    return true;
}

/* ---- the command ---- */

static int exit_code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Waits for one child; others that end meanwhile are orphans that came to us. */
static int wait_for(pid_t child)
{
    int status;
    for (;;) {
        pid_t ended = waitpid(-1, &status, 0);
        if (ended == child)
            return exit_code_of(status);
        if (ended < 0 && errno != EINTR)
            return EXIT_NO_SLEEPERS;
    }
}

static int run_beside(size_t count, char **command, bool shared)
{
    if (!start_sleepers(count)) {
        end_sleepers();
        return EXIT_NO_SLEEPERS;
    }
    setenv("SLEEPERS_SHARED", shared ? "1" : "0", 1);
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        die_with(self);
        execvp(command[0], command);
        fprintf(stderr, "sleepers: %s: %s\n", command[0], strerror(errno));
        _exit(EXIT_NO_COMMAND);
    }
    int code = child < 0 ? EXIT_NO_SLEEPERS : wait_for(child);
    end_sleepers();
    return code;
}

/* ---- a namespace of our own ---- */

static bool write_text(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool good = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return good;
}

/* An ordinary user also needs a user namespace, in which the uid stays the same. */
static bool unshare_as_user(void)
{
    char users[64], groups[64];
    snprintf(users, sizeof users, "%u %u 1\n", (unsigned)getuid(), (unsigned)getuid());
    snprintf(groups, sizeof groups, "%u %u 1\n", (unsigned)getgid(), (unsigned)getgid());
    return unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) == 0 &&
           write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", users) &&
           write_text("/proc/self/gid_map", groups);
}

static bool mount_own_proc(void)
{
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

/* An ordinary user has all rights in a user namespace of its own until it executes a program. With
 * them, and undumpable for having got them, our files in /proc would be closed to the command. */
static bool drop_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return geteuid() == 0 ||
           (syscall(SYS_capset, &header, none) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0);
}

/* The first process of the namespace; tells through `ready` that it exists. */
static void be_first(size_t count, char **command, int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!mount_own_proc() || !drop_rights() || write(ready, "y", 1) != 1)
        _exit(EXIT_NO_SLEEPERS);
    close(ready);
    _exit(run_beside(count, command, false));
}

/* Between us and the namespace, so that we keep ours in case it cannot be had. */
static void be_between(size_t count, char **command, int ready, pid_t parent)
{
    die_with(parent);
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0 && !unshare_as_user())
        _exit(EXIT_NO_SLEEPERS);
    pid_t first = fork();
    if (first == 0)
        be_first(count, command, ready);
    close(ready);
    _exit(first < 0 ? EXIT_NO_SLEEPERS : wait_for(first));
}

/* The command's exit code, or -1 where there is no namespace for us. */
static int run_apart(size_t count, char **command)
{
    int ready[2];
    char answer;
    pid_t self = getpid();
    if (pipe2(ready, O_CLOEXEC) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0)
        be_between(count, command, ready[1], self);
    close(ready[1]);
    bool begun = child > 0 && read(ready[0], &answer, 1) == 1;
    close(ready[0]);
    if (child < 0)
        return -1;
    int code = wait_for(child);
    return begun ? code : -1;
}

int main(int argc, char **argv)
{
    bool shared = argc > 1 && strcmp(argv[1], "--shared") == 0;
    char **rest = argv + 1 + shared;
    char *end = NULL;
    unsigned long count = argc - shared >= 3 ? strtoul(rest[0], &end, 10) : 0;
    if (end == NULL || end == rest[0] || *end != '\0' || count > SLEEPERS_MAX) {
        fprintf(stderr, "usage: sleepers [--shared] COUNT COMMAND [ARGUMENT…], at most %d\n",
                SLEEPERS_MAX);
        return 2;
    }
    int code = shared ? -1 : run_apart(count, rest + 1);
    return code >= 0 ? code : run_beside(count, rest + 1, true);
}
