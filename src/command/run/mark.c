/* mark.c: `vitals mark`: writes the begin and end of a phase into the file of the run around it,
 * and runs a command between the two.
 *
 * A mark never affects the job: if it cannot be written, a message says so and the exit code stays
 * the command's; a run that is over is not mentioned. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/command.h"
#include "util/file.h"
#include <vitals/mark.h>

enum { NAME_MOST = 200, SIGNAL_EXIT = 128 };

/* Writes a mark; `pid` is the process of the phase. Only a plain file is written, and only up to
 * the file size limit, beyond which the kernel would send a signal. */
static void mark(const struct look_settings *look, const struct environment_settings *environment,
                 const char *what, const char *name, long pid)
{
    const char *path = environment->marks;
    char safe[NAME_MOST + 1], line[320];
    const char *distrust = NULL;
    struct stat is;
    size_t used = 0;
    if (path == NULL || path[0] != '/') {
        if (look->verbose)
            (void)command_fail(
                0, "\"%s\" is not marked: not started by vitals run (VITALS_MARKS is not set)",
                command_safe(name));
        return;
    }
    for (; used < NAME_MOST && name[used] != '\0'; used++)
        safe[used] = (unsigned char)name[used] < 0x20 || name[used] == 0x7F ? ' ' : name[used];
    safe[used] = '\0';
    int size = snprintf(line, sizeof line, "%s\t%s\t%llu\t%ld\t%ld\n", what, safe,
                        (unsigned long long)clock_now_ns(), pid, pid);

    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    int failed = file < 0 ? errno : 0;
    if (file >= 0) {
        errno = 0;
        if (!vitals_mark_fits(file, size))
            failed = EFBIG;
        else if (file_is_privileged() &&
                 (fstat(file, &is) < 0 || (distrust = file_distrust(&is)) != NULL))
            failed = EPERM;
        else if (write(file, line, (size_t)size) != size)
            failed = errno != 0 ? errno : ENOSPC;
        close(file);
    }
    if (failed != 0 && (failed != ENOENT || look->verbose))
        (void)command_fail(0, "%s: %s; \"%s\" is not marked", command_safe(path),
                           distrust != NULL ? distrust : strerror(failed), command_safe(name));
}

static bool is_job_control(int signal)
{
    return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Reads all state changes of the child. Returns its wait status once it has ended, else -1. */
static int look_at(pid_t child, bool *told_to_stop)
{
    int status;
    pid_t changed;
    while ((changed = waitpid(child, &status, WNOHANG | WUNTRACED)) != 0) {
        if (changed < 0 && errno == EINTR)
            continue;
        if (changed < 0)
            return 0;
        if (!WIFSTOPPED(status))
            return status;

        /* As the launcher of `vitals run` does, stop too if job control stopped the command, if the
         * command stopped itself because of job control, or if it is a shell that suspends. */
        int signal = WSTOPSIG(status);
        pid_t group = getpgid(child), front = tcgetpgrp(STDERR_FILENO);
        bool stops_us = is_job_control(signal);
        sigset_t set;
        if (signal == SIGSTOP && group != getpgrp())
            stops_us = front == group || front == getpgrp();
        else if (signal == SIGSTOP) /* a SIGTSTP may still be pending */
            stops_us = *told_to_stop || (sigpending(&set) == 0 && sigismember(&set, SIGTSTP) == 1);
        if (!stops_us)
            continue; // only the command was stopped

        /* Stop this process with the signal that stopped the command, which is blocked here, until
         * the process group is continued. */
        sigemptyset(&set);
        sigaddset(&set, signal);
        (void)raise(signal);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        sigprocmask(SIG_BLOCK, &set, NULL);
        *told_to_stop = false;
    }
    return -1;
}

static int wait_for(pid_t child, const sigset_t *watched)
{
    bool told_to_stop = false;
    for (;;) {
        int status = look_at(child, &told_to_stop);
        if (status >= 0)
            return status;
        siginfo_t info;
        int signal = sigwaitinfo(watched, &info);
        if (is_job_control(signal) || signal == SIGCONT)
            told_to_stop = signal != SIGCONT;
        if (signal <= 0 || signal == SIGCHLD)
            continue;

        /* The terminal's signals go to the whole group, and SIGALRM to the process that set it
         * before it became us; a signal of our own write carries our pid. */
        bool sent = info.si_code <= 0;
        if (sent ? info.si_code != SI_USER || info.si_pid != getpid()
                 : signal == SIGALRM || getpgid(child) != getpgrp())
            (void)kill(child, signal); // not reaped, so the pid is its own
    }
}

int command_mark(const struct settings *settings)
{
    const struct settings_words *words = &settings->arguments.words;
    const char *what = words->count > 0 ? words->items[0] : "";
    bool known = strcmp(what, "begin") == 0 || strcmp(what, "end") == 0;
    if (settings->arguments.command_argc > 0 && words->count == 1 && what[0] != '\0') {
        const struct sigaction usual = {.sa_handler = SIG_DFL};
        struct sigaction child_before; /* these two the command gets back */
        sigset_t watched, mask_before;
        sigfillset(&watched); /* signals to this process are meant for the command */
        sigaction(SIGCHLD, &usual, &child_before); // if it is ignored, the kernel reaps children
        sigprocmask(SIG_BLOCK, &watched, &mask_before);
        mark(&settings->look, &settings->environment, "begin", what, getpid());
        pid_t child = fork();
        if (child < 0)
            return command_fail(EXIT_CANNOT_RUN, "cannot start a process: %s", strerror(errno));
        if (child == 0) {
            sigaction(SIGCHLD, &child_before, NULL);
            sigprocmask(SIG_SETMASK, &mask_before, NULL);
            _exit(command_execute(&settings->arguments, settings->arguments.command_argv[0],
                                  environ));
        }
        int status = wait_for(child, &watched);
        mark(&settings->look, &settings->environment, "end", what, getpid());
        if (!WIFSIGNALED(status))
            return WEXITSTATUS(status);
        if (WTERMSIG(status) == SIGINT)
            command_end_interrupted();
        return SIGNAL_EXIT + WTERMSIG(status);
    }
    if (settings->arguments.command_argc > 0)
        return command_fail(EXIT_USAGE,
                            "mark: write one name before --, as in: vitals mark load -- ./load.sh");
    if (!known || words->count != 2 || words->items[1][0] == '\0')
        return command_fail(
            EXIT_USAGE,
            "mark: write begin NAME, end NAME, or NAME -- COMMAND; quote a name of several words");
    mark(&settings->look, &settings->environment, what, words->items[1], getppid());
    return EXIT_DONE;
}
