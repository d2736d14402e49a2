/* launch.c: a launcher's system calls. See os/launch.h.
 *
 * Accounting rests on three facts of the kernel: an orphan goes to the nearest subreaper; a child
 * that was waited for adds its usage to its parent's; and wait4 tells both, to the microsecond and
 * to the block of 512 bytes. */
#include "os/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/linux/launch/command.h"
#include "os/linux/linux.h"
#include "util/memory.h"

enum { BLOCK_BYTES = 512, KIB = 1024, SIGNALS_KNOWN = 64 };

_Static_assert(OS_SIGNAL_KILL == SIGKILL && OS_SIGNAL_TERM == SIGTERM, "the same everywhere");
const int os_signal_continue = SIGCONT;

/* Forwarded to the command, whether handled here or not. Others only if they have no handler: a
 * handler is the affair of the program that we are part of. KILL and STOP cannot be. */
static const int FORWARDED[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,  SIGUSR2,
                                SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH, SIGALRM};

int64_t os_self(void)
{
    return getpid();
}

uint64_t os_own_peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * KIB : 0;
}

int os_become_subreaper(bool *before)
{
    int set = 0;
    (void)prctl(PR_GET_CHILD_SUBREAPER, &set, 0, 0, 0);
    *before = set != 0;
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? 0 : -errno;
}

void os_end_subreaper(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

bool os_is_single_thread(void)
{
#if defined(__SANITIZE_THREAD__)
    return true; /* the sanitizer has a thread of its own */
#else
    /* The kernel counts the threads in the links of this folder, beside "." and "..". */
    struct stat status;
    return stat("/proc/self/task", &status) != 0 || status.st_nlink <= 3;
#endif
}

/* ---- the channel ---- */

int os_channel(int ends[static 2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : -errno;
}

int os_channel_send(int end, const void *message, size_t size)
{
    ssize_t sent = send(end, message, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? -errno : 0;
}

int64_t os_channel_receive(int end, void *message, size_t capacity)
{
    ssize_t size = recv(end, message, capacity, MSG_DONTWAIT);
    return size < 0 ? -errno : size;
}

/* ---- signals ---- */

/* Given back to the command. If SIGCHLD stayed ignored, the kernel would reap our children. */
struct launch_before {
    sigset_t mask;
    struct sigaction child;
};

int os_signals_take(struct os_signals *signals)
{
    struct launch_before *before = memory_alloc(sizeof(*before));
    if (before == NULL)
        return -ENOMEM;
    sigset_t set;
    sigemptyset(&set);
    for (int signal = 1; signal <= SIGRTMAX; signal++) {
        struct sigaction action;
        bool is_handled = sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
                          action.sa_handler != SIG_IGN;
        if (!is_handled)
            (void)sigaddset(&set, signal); /* the C library's own are refused */
    }
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < ARRAY_COUNT(FORWARDED); i++)
        sigaddset(&set, FORWARDED[i]);
    signals->descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals->descriptor < 0) {
        int failed = errno;
        memory_free(before);
        return -failed;
    }
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &usual, &before->child);
    sigprocmask(SIG_BLOCK, &set, &before->mask);
    signals->before = before;
    return 0;
}

void os_signals_restore(struct os_signals *signals)
{
    struct launch_before *before = signals->before;
    if (before == NULL)
        return;
    bool forward;
    while (os_signals_next(signals, 0, &forward) != 0)
        ;
    sigaction(SIGCHLD, &before->child, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
    close(signals->descriptor);
    memory_free(before);
    signals->before = NULL;
}

static bool is_job_control(int signal)
{
    return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

void os_signals_missed(struct os_signals *signals)
{
    sigset_t pending;
    if (sigpending(&pending) != 0)
        return;
    for (int signal = 1; signal <= SIGNALS_KNOWN; signal++) {
        if (sigismember(&pending, signal) == 1)
            signals->missed |= UINT64_C(1) << (signal - 1);
    }
}

int os_signals_next(struct os_signals *signals, int64_t command, bool *forward)
{
    struct signalfd_siginfo info;
    while (read(signals->descriptor, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        int signal = (int)info.ssi_signo;
        if (signal == SIGCHLD)
            continue;
        if (is_job_control(signal) || signal == SIGCONT)
            signals->told_to_stop = signal != SIGCONT;
        uint64_t bit = signal >= 1 && signal <= SIGNALS_KNOWN ? UINT64_C(1) << (signal - 1) : 0;
        bool missed = (signals->missed & bit) != 0;
        signals->missed &= ~bit;

        /* The terminal signals its whole foreground group (code SI_KERNEL): the command too, unless
         * it made a group of its own. A hangup goes only to the leader of the session, and an alarm
         * to the process that set it before it became us: `perl -e 'alarm 60; exec @ARGV' vitals
         * run …`. The kernel reports SIGPIPE and SIGXFSZ as sent by ourselves. */
        bool to_us_alone = signal == SIGALRM || (signal == SIGHUP && getsid(0) == getpid());
        bool told = !to_us_alone && (command <= 0 || getpgid((pid_t)command) == getpgrp());
        bool our_own = info.ssi_code == SI_USER && (pid_t)info.ssi_pid == getpid();
        *forward = info.ssi_code <= 0 ? !our_own : missed || !told;
        return signal;
    }
    return 0;
}

/* ---- job control ---- */

bool os_child_stops_us(const struct os_signals *signals, int64_t pid, int signal)
{
    pid_t group = getpgid((pid_t)pid);
    sigset_t pending;
    if (signal != SIGSTOP)
        return is_job_control(signal);
    if (group == getpgrp()) /* a ^Z that was not read yet counts as well */
        return signals->told_to_stop ||
               (sigpending(&pending) == 0 && sigismember(&pending, SIGTSTP) == 1);

    /* Whether typed input goes to that group or to ours, which cannot read it now. */
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        pid_t front = tcgetpgrp(stream);
        if (front > 0)
            return front == group || front == getpgrp();
    }
    return false;
}

/* By the same signal, so that the process that watches us, another launcher for instance, sees what
 * we saw. A group whose shell has gone is not stopped by it: no process would continue it. */
void os_stop_self(struct os_signals *signals, int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    (void)raise(signal); /* it is blocked */
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    signals->told_to_stop = false;
}

/* ---- the command ---- */

bool os_child_goes_on(int64_t pid, int signal)
{
    siginfo_t info = {0};
    return signal == SIGCONT && waitid(P_PID, (id_t)pid, &info, WCONTINUED | WNOHANG) == 0 &&
           info.si_pid == pid;
}

/* Opens a pidfd of our own child, whatever /proc is used; -1 if the kernel has no pidfds. */
static int pidfd_of_child(pid_t pid)
{
    const struct os here = {.live = true};
    int pidfd = os_pidfd_open(&here, pid);
    return pidfd < 0 ? -1 : pidfd;
}

int os_child_signal(int64_t pid, int pidfd, int signal)
{
    if (pidfd >= 0)
        return os_pidfd_signal(pidfd, signal);
    return kill((pid_t)pid, signal) == 0 ? 0 : -errno; // its pid is taken until we reap it
}

int os_spawn(const struct os_command *command, struct os_child *child)
{
    int go[2] = {-1, -1}, failure[2] = {-1, -1};
    if (os_channel(go) < 0 || pipe2(failure, O_CLOEXEC) != 0) {
        int failed = errno;
        os_close_descriptor(go[0]);
        os_close_descriptor(go[1]);
        return -failed;
    }
    const struct launch_before *before = command->signals != NULL ? command->signals->before : NULL;
    struct command_signals signals = {.children_ignored = false};
    if (before != NULL)
        signals = (struct command_signals){before->child.sa_handler == SIG_IGN, before->mask};
    const struct command_ends ends = {.go = go[0], .go_other = go[1], .failure = failure[1]};
    *child = (struct os_child){.go = go[1], .failure = failure[0], .end = failure[1]};
    child->pid = command_fork(command, before != NULL ? &signals : NULL, &ends, &child->pidfd,
                              &child->memory);
    close(go[0]);
    close(failure[1]);
    if (child->pid < 0) {
        close(go[1]);
        close(failure[0]);
        return (int)child->pid;
    }
    if (child->pidfd < 0)
        child->pidfd = pidfd_of_child((pid_t)child->pid);
    return 0;
}

/* Waits until its exec failed, or closed the pipe. If another process forked from this program
 * keeps the pipe open: until the child ends, or is seen to have begun or to be stopped. */
static bool wait_for_failure(const struct os_child *child)
{
    enum { STEP_MS = 20, BLIND_STEPS = 100 /* then it counts as begun */, NAME = 64 };
    struct pollfd watched[] = {{.fd = child->failure, .events = POLLIN},
                               {.fd = child->pidfd, .events = POLLIN}};
    for (int blind = 0; blind < BLIND_STEPS;) {
        int ready = poll(watched, ARRAY_COUNT(watched), STEP_MS);
        if (ready > 0)
            break;
        if (ready < 0 && errno == EINTR)
            continue;

        /* A ^Z may have stopped it between our word and its exec. A later wait sees that again. */
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)child->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == child->pid)
            break;

        /* Its exec has closed what exec closes if /proc shows no second end of our pipe there. */
        char path[NAME], ours[NAME], its[NAME];
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", child->failure);
        ssize_t size = readlink(path, ours, sizeof(ours));
        (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)child->pid, child->end);
        ssize_t other = readlink(path, its, sizeof(its));
        if (size > 0 && (other != size || memcmp(ours, its, (size_t)size) != 0))
            break;
        blind += size <= 0; /* it shows nothing */
    }
    return poll(watched, 1, 0) > 0;
}

int os_spawn_go(struct os_child *child)
{
    int failed = os_channel_send(child->go, "", 1) < 0 ? ESRCH : 0;
    close(child->go);
    ssize_t size = 0;
    bool seen = failed == 0 && wait_for_failure(child);
    if (seen)
        size = read(child->failure, &failed, sizeof(failed));
    close(child->failure);
    child->go = child->failure = -1;
    if (seen && size == 0) { /* else it may still be on its way */
        command_begun(child->memory);
        child->memory = NULL;
    }
    return size == 0 || size == (ssize_t)sizeof(failed) ? failed : 0;
}

void os_child_done(struct os_child *child)
{
    os_close_descriptor(child->pidfd);
    command_begun(child->memory);
    child->pidfd = -1;
    child->memory = NULL;
}

/* ---- the helper ---- */

enum { ORPHAN_SECONDS = 3 };

/* One with a channel sees it there and has this long to end what it was at; where it hangs in a
 * driver it is ended. A signal that no terminal sends. */
static void on_orphan(int signal UNUSED)
{
    alarm(ORPHAN_SECONDS);
}

static void prepare_for_orphanage(bool told)
{
    const struct sigaction action = {.sa_handler = on_orphan, .sa_flags = SA_RESTART};
    const struct sigaction end = {.sa_handler = SIG_DFL};
    sigset_t blocked;
    sigaction(SIGRTMAX, &action, NULL);
    sigaction(SIGALRM, &end, NULL);
    sigfillset(&blocked);
    sigdelset(&blocked, SIGRTMAX);
    sigdelset(&blocked, SIGALRM);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    prctl(PR_SET_PDEATHSIG, told ? SIGRTMAX : SIGKILL);
}

int os_fork_helper(const struct os_helper *helper, int64_t *pid, int *pidfd)
{
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0)
        return -errno;
    if (child == 0) {
        prepare_for_orphanage(helper->channel >= 0);
        if (getppid() != parent)
            _exit(0);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int i = 0; i < 3 && null >= 0; i++)
            (void)dup2(null, i);

        /* Closes what lies between those that it keeps, from the lowest on. */
        for (int first = STDERR_FILENO + 1, next = first; next >= 0; first = next + 1) {
            next = helper->channel >= first ? helper->channel : -1;
            for (size_t i = 0; i < OS_HELPER_KEEPS; i++) {
                int kept = helper->kept[i];
                if (kept >= first && (next < 0 || kept < next))
                    next = kept;
            }
            linux_close_from((unsigned)first, next >= 0 ? (unsigned)next - 1 : ~0u);
        }
        helper->main(helper->data);
        _exit(0);
    }
    *pid = child;
    *pidfd = pidfd_of_child(child);
    return 0;
}

/* ---- ends ---- */

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

enum os_child_change os_child_next(int64_t *pid)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0)
        return errno == ECHILD ? OS_CHILD_LAST : OS_CHILD_NONE;
    if (info.si_pid == 0)
        return OS_CHILD_NONE;
    *pid = info.si_pid;
    return info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED ? OS_CHILD_STOPPED
                                                                      : OS_CHILD_ENDED;
}

/* __WALL: those too that tell their end by another signal. */
bool os_child_is_none(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 && errno == ECHILD;
}

bool os_child_is_unreaped(int pidfd)
{
    enum { BY_PIDFD = 3 }; /* P_PIDFD, Linux 5.4; else EINVAL */
    siginfo_t info = {0};
    return pidfd < 0 ||
           waitid((idtype_t)BY_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ||
           errno != ECHILD;
}

enum os_child_change os_reap(int64_t child, struct os_reaped *out)
{
    struct rusage usage;
    int status;
    pid_t pid = wait4((pid_t)child, &status, WUNTRACED | WNOHANG, &usage);
    if (pid <= 0)
        return OS_CHILD_NONE;
    *out = (struct os_reaped){.pid = pid};
    if (WIFSTOPPED(status)) {
        out->signal = WSTOPSIG(status);
        return OS_CHILD_STOPPED;
    }
    out->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    out->dumped = WIFSIGNALED(status) && WCOREDUMP(status);
    out->usage = (struct os_usage){.user_seconds = seconds(usage.ru_utime),
                                   .system_seconds = seconds(usage.ru_stime),
                                   .read_bytes = (uint64_t)usage.ru_inblock * BLOCK_BYTES,
                                   .written_bytes = (uint64_t)usage.ru_oublock * BLOCK_BYTES,
                                   .minor_faults = (uint64_t)usage.ru_minflt,
                                   .major_faults = (uint64_t)usage.ru_majflt,
                                   .voluntary_switches = (uint64_t)usage.ru_nvcsw,
                                   .involuntary_switches = (uint64_t)usage.ru_nivcsw,
                                   .largest_bytes = (uint64_t)usage.ru_maxrss * KIB};
    return OS_CHILD_ENDED;
}

void os_reap_one(int64_t pid)
{
    (void)waitpid((pid_t)pid, NULL, WNOHANG);
}

int64_t os_children(const struct os *os, int64_t *pids, size_t capacity)
{
    struct os_pids children = {0};
    int code = os_list_children(os, getpid(), 1, &children);
    int64_t count = (int64_t)children.count;
    for (size_t i = 0; i < children.count && i < capacity; i++)
        pids[i] = children.items[i];
    os_pids_done(&children);
    return code < 0 ? code : count;
}

bool os_signal_is_end(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}
