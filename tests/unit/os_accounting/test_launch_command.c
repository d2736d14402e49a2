/* What becomes of a command's process between its fork and its exec, whether it has memory of its
 * own until then or shares ours: where it is looked for, what it gets back, what is left over. */
#include "check.h"

#include "os/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 256, LONG_BYTES = 5000 /* beyond PATH_MAX */ };

static const bool SHARED[] = {false, true};
static char folder[] = "/tmp/vitals-launch-XXXXXX";

static void put(const char *name, const char *text, mode_t mode)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(file >= 0);
    CHECK_INT(write(file, text, strlen(text)), (intmax_t)strlen(text));
    CHECK_INT(fchmod(file, mode), 0);
    CHECK_INT(close(file), 0);
}

static void drop(const char *name)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_INT(remove(path), 0);
}

/* Its exit code; negative errno where it could not be started. */
static int run(const char *const *argv, const char *path, bool shared)
{
    char variable[LONG_BYTES + 2 * PATH_BYTES];
    int status = 0;
    (void)snprintf(variable, sizeof variable, "PATH=%s", path != NULL ? path : "");
    const char *const environment[] = {"MARK=7", path != NULL ? variable : NULL, NULL};
    const struct os_command command = {
        .argv = argv, .environment = environment, .shares_memory = shared};
    struct os_child child;
    CHECK_INT(os_spawn(&command, &child), 0);
    int failed = os_spawn_go(&child);
    CHECK_INT(waitpid((pid_t)child.pid, &status, 0), child.pid);
    os_child_done(&child);
    return failed != 0 ? -failed : WEXITSTATUS(status);
}

static void it_is_looked_for_as_by_a_shell(void)
{
    char second[PATH_BYTES + 64], denied[PATH_BYTES + 64], behind[LONG_BYTES + PATH_BYTES];
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(second, sizeof second, "/nonexistent:%s:/bin", folder);
    (void)snprintf(denied, sizeof denied, "%s:/nonexistent", folder);
    memset(behind, 'x', LONG_BYTES);
    (void)snprintf(behind + LONG_BYTES, PATH_BYTES, ":%s", folder);
    put("tool", "#!/bin/sh\nexit $MARK\n", 0700);
    put("plain", "exit $(($MARK + $#))\n", 0700);
    put("closed", "#!/bin/sh\n", 0600);
    const struct {
        const char *name, *path;
        int code;
    } CASES[] = {
        {"tool", second, 7},
        {"tool", behind, 7},
        {"plain", second, 9},
        {"closed", denied, -EACCES},
        {"vitals-no-such", denied, -ENOENT},
        {"tool", "", -ENOENT},
        {"", second, -ENOENT},
        {"sh", NULL, 0},
        {"/bin/sh", "", 0},
        {"./tool", second, -ENOENT},
        {"/bin", second, -EISDIR},
        {"/bin/sh/x", NULL, -ENOTDIR},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES) * CHECK_COUNT(SHARED); i++) {
        size_t place = i / CHECK_COUNT(SHARED);
        const char *const SHELL[] = {CASES[place].name, "-c", "exit 0", NULL};
        CHECK_CASE(CASES[place].name);
        CHECK_INT(run(SHELL, CASES[place].path, SHARED[i % CHECK_COUNT(SHARED)]),
                  CASES[place].code);
    }
    CHECK_CASE(NULL);
    drop("tool");
    drop("plain");
    drop("closed");
    CHECK_INT(rmdir(folder), 0);
}

static int next_descriptor(void)
{
    int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK_INT(close(descriptor), 0);
    return descriptor;
}

/* Those that fail end in the midst of our memory: nothing of it may be theirs. */
static void many_leave_nothing_behind(void)
{
    enum { ROUNDS = 200 };
    static const char *const GOOD[] = {"true", NULL}, *const BAD[] = {"vitals-no-such", NULL};
    int before = next_descriptor();
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_INT(run(GOOD, "/bin:/usr/bin", true), 0);
        CHECK_INT(run(BAD, "/bin:/usr/bin", true), -ENOENT);
    }
    CHECK_INT(next_descriptor(), before);
}

static void it_gets_its_signals_back(void)
{
    static const char *const LINES[] = {"^SigBlk:.0*200$", "^SigIgn:.[0-9a-f]*[13579bdf]....$"};
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, SIGUSR1);
    CHECK_INT(sigprocmask(SIG_SETMASK, &ours, &before), 0);
    void (*handler)(int) = signal(SIGCHLD, SIG_IGN);
    for (size_t i = 0; i < CHECK_COUNT(SHARED) * CHECK_COUNT(LINES); i++) {
        const char *const argv[] = {"grep", "-q", LINES[i / CHECK_COUNT(SHARED)],
                                    "/proc/self/status", NULL};
        struct os_signals signals = {.before = NULL};
        struct os_child child;
        int status = 0;
        CHECK_INT(os_signals_take(&signals), 0);
        const struct os_command command = {
            .argv = argv, .signals = &signals, .shares_memory = SHARED[i % CHECK_COUNT(SHARED)]};
        CHECK_INT(os_spawn(&command, &child), 0);
        CHECK_INT(os_spawn_go(&child), 0);
        CHECK_INT(waitpid((pid_t)child.pid, &status, 0), child.pid);
        os_child_done(&child);
        os_signals_restore(&signals);
        CHECK_INT(status, 0);
    }
    (void)signal(SIGCHLD, handler);
    CHECK_INT(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

static volatile sig_atomic_t *elsewhere; /* of all processes */
static pid_t ours;

static void on_signal(int signal)
{
    (void)signal;
    if (getpid() != ours)
        ++*elsewhere;
}

/* How it ended that was sent a signal before its exec, which we handle, or ignore. */
static int sent_before_its_exec(bool shared, bool takes, void (*handler)(int))
{
    static const char *const argv[] = {"true", NULL};
    struct os_signals signals = {.before = NULL};
    struct os_child child;
    int status = 0;
    void (*before)(int) = signal(SIGVTALRM, handler);
    if (takes)
        CHECK_INT(os_signals_take(&signals), 0);
    const struct os_command command = {
        .argv = argv, .signals = takes ? &signals : NULL, .shares_memory = shared};
    CHECK_INT(os_spawn(&command, &child), 0);
    CHECK_INT(kill((pid_t)child.pid, SIGVTALRM), 0);
    CHECK_INT(os_spawn_go(&child), 0);
    CHECK_INT(waitpid((pid_t)child.pid, &status, 0), child.pid);
    os_child_done(&child);
    os_signals_restore(&signals);
    CHECK(signal(SIGVTALRM, before) == handler); /* ours is as it was */
    return status;
}

static void a_handler_of_ours_never_runs_in_it(void)
{
    sigset_t before = {0}, after = {0};
    elsewhere = mmap(NULL, sizeof *elsewhere, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0);
    CHECK(elsewhere != MAP_FAILED);
    ours = getpid();
    CHECK_INT(sigprocmask(SIG_SETMASK, NULL, &before), 0);
    for (int i = 0; i < 4; i++) {
        bool shared = SHARED[i % 2], takes = i / 2 != 0;
        int status = sent_before_its_exec(shared, takes, on_signal);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM);
        CHECK_INT(sent_before_its_exec(shared, takes, SIG_IGN), 0);
    }
    CHECK_INT(*elsewhere, 0);
    CHECK_INT(sigprocmask(SIG_SETMASK, NULL, &after), 0);
    CHECK_INT(memcmp(&before, &after, sizeof before), 0);
    CHECK_INT(munmap((void *)(uintptr_t)elsewhere, sizeof *elsewhere), 0);
}

/* What the terminal sent before there was a command has reached us alone. The kernel's own signals
 * are told from others' by their code, and so is one that it sends for a pipe. */
static void what_came_before_it_is_passed_on(void)
{
    int ends[2];
    struct os_signals signals = {.before = NULL};
    bool forward = true;
    CHECK_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    CHECK_INT(os_signals_take(&signals), 0);
    CHECK_INT(fcntl(ends[0], F_SETOWN, getpid()), 0);
    CHECK_INT(fcntl(ends[0], F_SETSIG, SIGUSR2), 0);
    CHECK_INT(fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK), 0);
    CHECK_INT(write(ends[1], "a", 1), 1);
    os_signals_missed(&signals);
    CHECK_INT(os_signals_next(&signals, 0, &forward), SIGUSR2);
    CHECK(forward);
    CHECK_INT(write(ends[1], "b", 1), 1);
    CHECK_INT(os_signals_next(&signals, 0, &forward), SIGUSR2);
    CHECK_FALSE(forward);
    os_signals_restore(&signals);
    close(ends[0]);
    close(ends[1]);
}

static const check_test tests[] = {
    {"it is looked for as by a shell", it_is_looked_for_as_by_a_shell},
    {"many leave nothing behind", many_leave_nothing_behind},
    {"it gets its signals back", it_gets_its_signals_back},
    {"a handler of ours never runs in it", a_handler_of_ours_never_runs_in_it},
    {"what came before it is passed on", what_came_before_it_is_passed_on},
};
CHECK_TESTS(tests)
