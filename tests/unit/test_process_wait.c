/* Waiting until processes have ended: our children, other people's, and several at once. The end of
 * other people's is known where the kernel tells it, so what is expected there depends on it. */
#include "process_world.h"

#include "fake_clock.h"
#include "process/live.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <vitals/process.h>

#define SECOND UINT64_C(1000000000)

/* ---- a world whose waits are counted ---- */

struct counted {
    struct world world;
    struct fake_clock fake;
    vitals_clock clock;
    int waits;
    uint64_t last_deadline_ns;
    pid_t victims[4]; /* children that end, one after the other, while it is waited next */
};

static uint64_t counted_now(void *data)
{
    struct counted *counted = data;
    return counted->fake.clock.monotonic_ns(&counted->fake);
}

static int counted_wait(void *data, int descriptor, uint64_t deadline_ns)
{
    struct counted *counted = data;
    counted->waits++;
    counted->last_deadline_ns = deadline_ns;
    for (size_t i = 0; i < CHECK_COUNT(counted->victims) && counted->victims[i] != 0; i++) {
        siginfo_t info;
        kill(counted->victims[i], i == 0 ? SIGTERM : SIGKILL);
        waitid(P_PID, (id_t)counted->victims[i], &info, WEXITED | WNOWAIT);
        counted->victims[i] = 0;
    }
    return counted->fake.clock.wait_until(&counted->fake, descriptor, deadline_ns);
}

/* A wait with a deadline that is far away is over at once, unless something can be read. */
static void counted_open(struct counted *counted)
{
    *counted = (struct counted){0};
    world_open(&counted->world, NULL, 0);
    fake_clock_init(&counted->fake);
    counted->world.context.os.clock = (vitals_clock){.size = sizeof(vitals_clock),
                                                     .data = counted,
                                                     .monotonic_ns = counted_now,
                                                     .boottime_ns = counted_now,
                                                     .realtime_ns = counted_now,
                                                     .wait_until = counted_wait};
}

static vitals_process *opened(struct world *world, int64_t pid)
{
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_open(&world->context, pid, &process, &error), error);
    return process;
}

/* ---- children, and children of another ---- */

static pid_t child_exits(int code)
{
    pid_t pid = child_fork();
    if (pid == 0)
        _exit(code);
    return pid;
}

static void await_zombie(pid_t child)
{
    siginfo_t info;
    CHECK_INT(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

/* A process whose parent is another child of ours. It ends when it reads a byte, with that as its
 * code; 'K' kills it. */
struct stranger {
    pid_t parent, pid;
    int end;    /* to the stranger */
    int order;  /* to its parent: 'z' wait until it is a zombie, 'r' reap it */
    int answer; /* from its parent: its pid, then one byte for each order */
};

static void stranger_live(int end)
{
    char byte = 0;
    ssize_t size = read(end, &byte, 1);
    if (byte == 'K')
        raise(SIGKILL);
    _exit(size == 1 ? byte : 99);
}

static _Noreturn void parent_live(int end, int order, int answer)
{
    pid_t pid = child_fork();
    if (pid == 0)
        stranger_live(end);
    if (write(answer, &pid, sizeof pid) != sizeof pid)
        _exit(1);
    for (char byte; read(order, &byte, 1) == 1;) {
        siginfo_t info;
        waitid(P_PID, (id_t)pid, &info, byte == 'z' ? WEXITED | WNOWAIT : WEXITED);
        if (write(answer, &byte, 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static struct stranger stranger_new(void)
{
    int end[2], order[2], answer[2];
    CHECK(pipe2(end, O_CLOEXEC) == 0 && pipe2(order, O_CLOEXEC) == 0 &&
          pipe2(answer, O_CLOEXEC) == 0);
    pid_t parent = child_fork();
    if (parent == 0) {
        close(order[1]); // so that its end is seen
        parent_live(end[0], order[0], answer[1]);
    }
    close(end[0]);
    close(order[0]);
    close(answer[1]);
    struct stranger stranger = {parent, 0, end[1], order[1], answer[0]};
    CHECK_INT(read(stranger.answer, &stranger.pid, sizeof stranger.pid), sizeof stranger.pid);
    return stranger;
}

static void stranger_end(const struct stranger *stranger, char code)
{
    CHECK_INT(write(stranger->end, &code, 1), 1);
}

static void stranger_order(const struct stranger *stranger, char order)
{
    CHECK_INT(write(stranger->order, &order, 1), 1);
    CHECK_INT(read(stranger->answer, &order, 1), 1);
}

static void stranger_done(const struct stranger *stranger)
{
    kill(stranger->pid, SIGKILL); // not reaped before its parent ends, so still its own
    close(stranger->end);
    close(stranger->order);
    close(stranger->answer);
    child_end(stranger->parent);
}

/* PIDFD_INFO_EXIT, Linux 6.15. */
static bool kernel_tells_everybody(void)
{
    struct utsname name;
    int major = 0, minor = 0;
    CHECK_INT(uname(&name), 0);
    CHECK_INT(sscanf(name.release, "%d.%d", &major, &minor), 2);
    return major > 6 || (major == 6 && minor >= 15);
}

static size_t descriptors_open(void)
{
    DIR *folder = opendir("/proc/self/fd");
    CHECK_NOT_NULL(folder);
    size_t count = 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* Code and signal are 9 where nothing is told: untouched. */
#define CHECK_EXIT(process, state_, code_, signal_)                                           \
    do {                                                                                      \
        int got_code_ = 9, got_signal_ = 9;                                                   \
        CHECK_INT(vitals_process_exit_status((process), &got_code_, &got_signal_), (state_)); \
        CHECK_INT(got_code_, (code_));                                                        \
        CHECK_INT(got_signal_, (signal_));                                                    \
        CHECK_INT(vitals_process_exit_status((process), NULL, NULL), (state_));               \
    } while (0)

static vitals_wait wait_of(uint64_t timeout_ns, vitals_ended *ended, void *data)
{
    vitals_wait how;
    vitals_wait_init(&how, sizeof how);
    how.timeout_ns = timeout_ns;
    how.ended = ended;
    how.data = data;
    return how;
}

/* ---- one at a time ---- */

static void a_child_is_reaped_and_its_code_told(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_exits(7);
    vitals_process *process = opened(&world, pid);
    vitals_error error;
    CHECK_OK(vitals_process_wait(process, VITALS_FOREVER, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 7, 0);
    CHECK_INT(waitpid(pid, NULL, 0), -1);
    CHECK_INT(errno, ECHILD);
    CHECK_INT(vitals_process_is_running(process), 0);
    CHECK_OK(vitals_process_wait(process, 0, &error), error); // the same again
    CHECK_EXIT(process, VITALS_HAVE, 7, 0);
    CHECK_OK(vitals_process_wait(process, VITALS_FOREVER, &error), error);
    vitals_process_free(process);
    world_close(&world);
}

static void a_signal_that_ended_it_is_told(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    vitals_process *process = opened(&world, pid);
    vitals_error error;
    CHECK_OK(vitals_process_signal(process, SIGTERM, &error), error);
    CHECK_OK(vitals_process_wait(process, VITALS_FOREVER, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 0, SIGTERM);
    vitals_process_free(process);
    world_close(&world);
}

/* Such children do not send SIGCHLD, and waitpid without __WALL does not see them. */
static void a_child_that_ends_in_silence_is_reaped(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = (pid_t)syscall(SYS_clone, 0ul, NULL, NULL, NULL, 0ul);
    if (pid == 0)
        _exit(6);
    CHECK(pid > 0);
    vitals_process *process = opened(&world, pid);
    vitals_error error;
    CHECK_OK(vitals_process_wait(process, VITALS_FOREVER, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 6, 0);
    CHECK_INT(waitpid(pid, NULL, __WALL), -1);
    vitals_process_free(process);
    world_close(&world);
}

static void without_time_it_only_looks(void)
{
    struct counted counted;
    counted_open(&counted);
    pid_t pid = child_new();
    vitals_process *process = opened(&counted.world, pid);
    vitals_error error;
    CHECK_INT(vitals_process_wait(process, 0, &error), VITALS_ETIMEOUT);
    CHECK_CONTAINS(error.message, "still lives");
    CHECK_EXIT(process, VITALS_NOT_YET, 9, 9);
    CHECK_OK(vitals_process_signal(process, SIGSTOP, &error), error);
    siginfo_t info;
    CHECK_INT(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
    CHECK_INT(vitals_process_wait(process, 0, NULL), VITALS_ETIMEOUT); // that is no end
    kill(pid, SIGKILL);
    await_zombie(pid);
    CHECK_OK(vitals_process_wait(process, 0, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 0, SIGKILL);
    CHECK_INT(counted.waits, 0);
    vitals_process_free(process);
    world_close(&counted.world);
}

static void the_time_is_that_of_the_context(void)
{
    struct counted counted;
    counted_open(&counted);
    pid_t pid = child_new();
    vitals_process *process = opened(&counted.world, pid);
    vitals_error error;
    uint64_t begin = fake_clock_now(&counted.fake);
    CHECK_INT(vitals_process_wait(process, 86400 * SECOND, &error), VITALS_ETIMEOUT);
    CHECK_UINT(fake_clock_now(&counted.fake) - begin, 86400 * SECOND);
    CHECK_INT(counted.waits, 1);
    // So long that the sum wraps: that is for ever, and it ends with the process.
    kill(pid, SIGKILL);
    CHECK_OK(vitals_process_wait(process, VITALS_FOREVER - 1, &error), error);
    vitals_process_free(process);
    world_close(&counted.world);
}

/* psutil waits anew, for its whole timeout, for a zombie of somebody else. */
static void a_zombie_of_somebody_else_has_ended(void)
{
    struct counted counted;
    counted_open(&counted);
    struct stranger stranger = stranger_new();
    vitals_process *process = opened(&counted.world, stranger.pid);
    vitals_error error;
    stranger_end(&stranger, 3);
    stranger_order(&stranger, 'z');
    CHECK_OK(vitals_process_wait(process, SECOND, &error), error);
    CHECK_INT(counted.waits, 0);
    CHECK_INT(vitals_process_is_running(process), 1); // it has its pid still
    CHECK_EXIT(process, VITALS_HAVE, 3, 0);           // of our own user: /proc/PID/stat tells
    stranger_order(&stranger, 'r');
    CHECK_OK(vitals_process_wait(process, SECOND, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 3, 0);
    vitals_process_free(process);
    stranger_done(&stranger);
    world_close(&counted.world);
}

static void a_zombie_that_exited_with_0_is_known_too(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    struct stranger stranger = stranger_new();
    vitals_process *process = opened(&world, stranger.pid);
    vitals_error error;
    stranger_end(&stranger, 0);
    stranger_order(&stranger, 'z');
    CHECK_OK(vitals_process_wait(process, SECOND, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 0, 0); // which is not the 0 of who may not see it
    vitals_process_free(process);
    stranger_done(&stranger);
    world_close(&world);
}

static void somebody_elses_end_is_waited_for(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    struct stranger stranger = stranger_new();
    vitals_process *process = opened(&world, stranger.pid);
    vitals_error error;
    CHECK_INT(vitals_process_wait(process, 1, &error), VITALS_ETIMEOUT);
    stranger_end(&stranger, 'K');
    CHECK_OK(vitals_process_wait(process, VITALS_FOREVER, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 0, SIGKILL);
    vitals_process_free(process);
    stranger_done(&stranger);
    world_close(&world);
}

static void how_the_reaped_ended_is_known_where_the_kernel_tells(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    struct stranger stranger = stranger_new();
    vitals_process *early = opened(&world, stranger.pid), *late = opened(&world, stranger.pid);
    vitals_process *handles[] = {early, late};
    vitals_error error;
    CHECK_INT(vitals_process_wait(early, 0, NULL), VITALS_ETIMEOUT);
    stranger_end(&stranger, 5);
    stranger_order(&stranger, 'r');
    bool told = kernel_tells_everybody();
    for (size_t i = 0; i < CHECK_COUNT(handles); i++) { // whether it was waited for before or not
        error = (vitals_error){.message = "untouched"};
        CHECK_OK(vitals_process_wait(handles[i], VITALS_FOREVER, &error), error);
        CHECK_EXIT(handles[i], told ? VITALS_HAVE : VITALS_UNSUPPORTED, told ? 5 : 9, told ? 0 : 9);
        CHECK_STR(error.message, "untouched");
        CHECK_INT(vitals_process_signal(handles[i], SIGTERM, NULL), VITALS_EGONE);
        vitals_process_free(handles[i]);
    }
    stranger_done(&stranger);
    world_close(&world);
}

/* A kernel or a sandbox without pidfd: everything else goes on. */
static void without_a_pidfd_nobody_is_waited_for(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    CHECK(process->pidfd >= 0);
    os_close_descriptor(process->pidfd);
    process->pidfd = -ENOSYS;
    vitals_error error;
    CHECK_INT(vitals_process_wait(process, 0, &error), VITALS_EUNSUPPORTED);
    CHECK_CONTAINS(error.message, "no pidfd");
    CHECK_INT(vitals_processes_wait(&process, 1, NULL, NULL, &error), VITALS_EUNSUPPORTED);
    CHECK_INT(vitals_process_signal(process, 0, &error), VITALS_EUNSUPPORTED);
    CHECK_INT(vitals_process_is_running(process), 1);
    vitals_process_free(process);
    world_close(&world);
}

/* As nobody: a handle on the stranger, through its life, as a zombie and reaped. 0, or which step
 * did not go as it should. */
static int watch_as_nobody(struct world *world, int64_t pid, int said, int heard)
{
    vitals_process *process;
    int code = 9, signal = 9;
    char byte = 'z';
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
        return 40;
    if (vitals_process_open(&world->context, pid, &process, NULL) < 0)
        return 41;
    if (vitals_process_wait(process, SECOND, NULL) < 0)
        return 42;
    if (vitals_process_exit_status(process, &code, &signal) != VITALS_DENIED || code != 9)
        return 43;
    if (write(said, &byte, 1) != 1 || read(heard, &byte, 1) != 1)
        return 44;
    bool told = kernel_tells_everybody();
    vitals_availability state = vitals_process_exit_status(process, &code, &signal);
    if (state != (told ? VITALS_HAVE : VITALS_UNSUPPORTED) || code != (told ? 3 : 9))
        return 45;
    vitals_process_free(process);
    return 0;
}

/* The kernel shows the status of a zombie to who may trace it, and 0 to everybody else. That is not
 * taken for 0; and once it is reaped, all who held a pidfd may know. */
static void what_may_not_be_seen_is_told_later(void)
{
    if (geteuid() != 0)
        CHECK_SKIP("needs root, to become somebody else");
    struct world world;
    world_open(&world, NULL, 0);
    struct stranger stranger = stranger_new();
    stranger_end(&stranger, 3);
    stranger_order(&stranger, 'z');
    int said[2], heard[2];
    CHECK(pipe2(said, O_CLOEXEC) == 0 && pipe2(heard, O_CLOEXEC) == 0);
    pid_t other = child_fork();
    if (other == 0) {
        close(heard[1]);
        _exit(watch_as_nobody(&world, stranger.pid, said[1], heard[0]));
    }
    close(said[1]);
    char byte;
    if (read(said[0], &byte, 1) == 1) {
        stranger_order(&stranger, 'r');
        CHECK_INT(write(heard[1], "r", 1), 1);
    }
    int status;
    CHECK_INT(waitpid(other, &status, 0), other);
    close(said[0]);
    close(heard[0]);
    close(heard[1]);
    stranger_done(&stranger);
    world_close(&world);
    if (WEXITSTATUS(status) == 41)
        CHECK_SKIP("/proc hides the processes of others");
    CHECK_INT(status, 0);
}

/* With SIGCHLD ignored the kernel reaps at once, and nobody can wait. */
static void children_that_nobody_reaps_end_too(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    CHECK_INT(sigaction(SIGCHLD, &ignore, &before), 0);
    pid_t pid = child_new();
    vitals_process *process = opened(&world, pid);
    vitals_error error;
    CHECK_INT(vitals_process_wait(process, 0, NULL), VITALS_ETIMEOUT);
    kill(pid, SIGKILL);
    CHECK_OK(vitals_process_wait(process, VITALS_FOREVER, &error), error);
    sigaction(SIGCHLD, &before, NULL);
    bool told = kernel_tells_everybody();
    CHECK_EXIT(process, told ? VITALS_HAVE : VITALS_UNSUPPORTED, told ? 0 : 9, told ? SIGKILL : 9);
    vitals_process_free(process);
    world_close(&world);
}

/* ---- its first thread is not the process ---- */

static void *end_the_process(void *data)
{
    char byte;
    if (read(*(int *)data, &byte, 1) == 1)
        _exit(8);
    return NULL;
}

static void the_end_of_its_first_thread_is_no_end(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    int go[2];
    CHECK_INT(pipe2(go, O_CLOEXEC), 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, end_the_process, &go[0]) != 0)
            _exit(1);
        syscall(SYS_exit, 0); // of this thread only
    }
    vitals_process *process = opened(&world, pid);
    struct os_stat stat;
    char text[OS_STAT_TEXT];
    struct os_process files;
    CHECK_INT(os_process_open(&world.context.os, pid, false, &files), 0);
    do // nothing tells of a thread's end
        CHECK_INT(os_process_stat(&files, text, &stat), 0);
    while (stat.state != 'Z' && sched_yield() == 0);
    os_process_close(&files);
    vitals_error error;
    CHECK_INT(vitals_process_wait(process, 0, NULL), VITALS_ETIMEOUT);
    CHECK_INT(write(go[1], "x", 1), 1);
    CHECK_OK(vitals_process_wait(process, VITALS_FOREVER, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 8, 0);
    vitals_process_free(process);
    close(go[0]);
    close(go[1]);
    world_close(&world);
}

static void processes_of_another_proc_cannot_be_waited_for(void)
{
    struct world world;
    world_open(&world, check_fixture("proc/linux-6.18"), 0);
    vitals_process *process = opened(&world, 700);
    vitals_error error;
    size_t remaining = 77;
    CHECK_INT(vitals_process_wait(process, 0, &error), VITALS_EUNSUPPORTED);
    CHECK_CONTAINS(error.message, "another /proc");
    CHECK_INT(vitals_process_descriptor(process), -1);
    CHECK_EXIT(process, VITALS_UNSUPPORTED, 9, 9);
    CHECK_INT(vitals_processes_wait(&process, 1, NULL, &remaining, &error), VITALS_EUNSUPPORTED);
    CHECK_UINT(remaining, 77);
    vitals_process_free(process);
    world_close(&world);
}

/* The handle is then not had at all, rather than one that cannot act. */
static void no_descriptor_left_for_the_pidfd_is_said(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    size_t before = descriptors_open();
    struct rlimit limit, tight;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    int next = dup(STDOUT_FILENO);
    CHECK(next >= 0);
    close(next);
    tight = (struct rlimit){(rlim_t)next + 1, limit.rlim_max}; // for stat, and no more
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &tight), 0);
    vitals_process *process = NULL;
    vitals_error error = {0};
    int code = vitals_process_open(&world.context, getpid(), &process, &error);
    setrlimit(RLIMIT_NOFILE, &limit);
    CHECK_INT(code, VITALS_ESYSTEM);
    CHECK_INT(error.detail, EMFILE);
    CHECK_NULL(process);
    CHECK_UINT(descriptors_open(), before);
    world_close(&world);
}

/* ---- several at once ---- */

struct ends {
    vitals_process *order[64];
    int signals[64];
    size_t count, stop_at; /* stops as the stop_at-th is told; 0: never */
    vitals_process *also;  /* waited for from within, at the first end */
    int also_code;
};

static int note_end(void *data, vitals_process *process)
{
    struct ends *ends = data;
    ends->order[ends->count] = process;
    ends->signals[ends->count] = 99;
    (void)!vitals_process_exit_status(process, NULL, &ends->signals[ends->count++]);
    vitals_process *also = ends->also;
    ends->also = NULL;
    if (also != NULL)
        ends->also_code = vitals_process_wait(also, VITALS_FOREVER, NULL);
    return ends->count == ends->stop_at;
}

static void all_are_told_of_once_in_the_order_of_their_end(void)
{
    enum { COUNT = 5 };
    struct counted counted;
    counted_open(&counted);
    pid_t pids[COUNT];
    vitals_process *processes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        pids[i] = child_new();
        processes[i] = opened(&counted.world, pids[i]);
    }
    vitals_error error;
    size_t remaining = 77;
    struct ends ends = {0};
    vitals_wait how = wait_of(10 * SECOND, note_end, &ends);
    CHECK_OK(vitals_processes_wait(processes, COUNT, &how, &remaining, &error), error);
    CHECK_UINT(remaining, COUNT);
    CHECK_UINT(ends.count, 0);
    CHECK_INT(counted.waits, 1); // for all of them

    static const int order[] = {2, 3, 0, 4};
    child_end(pids[2]); // reaped by us: it comes first, and is as the kernel tells
    for (size_t i = 1; i < CHECK_COUNT(order); i++)
        counted.victims[i - 1] = pids[order[i]];
    CHECK_OK(vitals_processes_wait(processes, COUNT, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 1);
    CHECK_UINT(ends.count, CHECK_COUNT(order));
    for (size_t i = 0; i < ends.count; i++) {
        CHECK(ends.order[i] == processes[order[i]]);
        if (i > 0)
            CHECK_INT(ends.signals[i], i == 1 ? SIGTERM : SIGKILL);
    }
    CHECK_INT(waitpid(pids[0], NULL, 0), -1); // reaped

    // Those that had ended before are told of again, the last one when it ends.
    ends = (struct ends){0};
    kill(pids[1], SIGKILL);
    how.timeout_ns = VITALS_FOREVER;
    CHECK_OK(vitals_processes_wait(processes, COUNT, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    CHECK_UINT(ends.count, COUNT);
    CHECK(ends.order[COUNT - 1] == processes[1]);
    for (int i = 0; i < COUNT; i++)
        vitals_process_free(processes[i]);
    world_close(&counted.world);
}

static void the_time_holds_for_all_together(void)
{
    struct counted counted;
    counted_open(&counted);
    pid_t ending = child_new(), staying = child_new();
    vitals_process *processes[] = {opened(&counted.world, ending), opened(&counted.world, staying)};
    vitals_error error;
    size_t remaining = 77;
    uint64_t begin = fake_clock_now(&counted.fake);
    kill(ending, SIGKILL);
    await_zombie(ending);
    vitals_wait how = wait_of(60 * SECOND, NULL, NULL);
    CHECK_OK(vitals_processes_wait(processes, 2, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 1);
    CHECK_UINT(counted.last_deadline_ns, begin + 60 * SECOND);
    CHECK_UINT(fake_clock_now(&counted.fake), begin + 60 * SECOND);
    counted.waits = 0;
    how.timeout_ns = 0;
    CHECK_OK(vitals_processes_wait(processes, 2, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 1);
    CHECK_INT(counted.waits, 0);
    vitals_process_free(processes[0]);
    vitals_process_free(processes[1]);
    child_end(staying);
    world_close(&counted.world);
}

/* The same handle twice, another handle of the same process, and a wait from within. */
static void odd_lists_are_told_of_whole(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t one = child_new(), two = child_new();
    vitals_process *first = opened(&world, one), *second = opened(&world, two);
    vitals_process *again = opened(&world, one);
    vitals_process *list[] = {first, second, first, again};
    vitals_error error;
    size_t remaining = 77;
    struct ends ends = {.also = second, .also_code = 77};
    vitals_wait how = wait_of(0, note_end, &ends);
    CHECK_OK(vitals_processes_wait(list, 4, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 4);
    kill(one, SIGKILL);
    kill(two, SIGKILL);
    how.timeout_ns = VITALS_FOREVER;
    CHECK_OK(vitals_processes_wait(list, 4, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    CHECK_UINT(ends.count, 4);
    CHECK_INT(ends.also_code, 0);
    size_t times = 0;
    for (size_t i = 0; i < ends.count; i++)
        times += ends.order[i] == first;
    CHECK_UINT(times, 2);
    CHECK_OK(vitals_processes_wait(list, 0, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    remaining = 77;
    CHECK_OK(vitals_processes_wait(NULL, 0, NULL, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    list[1] = NULL;
    remaining = 77;
    CHECK_INT(vitals_processes_wait(list, 2, NULL, &remaining, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "process 2 of 2 is NULL");
    CHECK_INT(vitals_processes_wait(NULL, 2, NULL, &remaining, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "no list");
    CHECK_UINT(remaining, 77);
    vitals_process_free(first);
    vitals_process_free(second);
    vitals_process_free(again);
    world_close(&world);
}

/* Who is told stops it, at whatever place: the others are told of by a later call. */
static void who_is_told_can_stop_it(void)
{
    enum { COUNT = 4 };
    struct counted counted;
    counted_open(&counted);
    vitals_process *processes[COUNT + 1];
    pid_t pids[COUNT];
    for (int i = 0; i < COUNT; i++) {
        pids[i] = child_exits(i);
        processes[i] = opened(&counted.world, pids[i]);
        await_zombie(pids[i]);
    }
    processes[COUNT] = processes[0];
    for (size_t stop_at = 1; stop_at <= COUNT + 1; stop_at++) { // the first call finds them ended
        struct ends ends = {.stop_at = stop_at};
        vitals_wait how = wait_of(VITALS_FOREVER, note_end, &ends);
        size_t remaining = 77;
        vitals_error error;
        CHECK_OK(vitals_processes_wait(processes, COUNT + 1, &how, &remaining, &error), error);
        CHECK_UINT(ends.count, stop_at);
        CHECK_UINT(remaining, COUNT + 1 - stop_at);
    }
    CHECK_INT(counted.waits, 0);
    for (int i = 0; i < COUNT; i++) {
        CHECK_EXIT(processes[i], VITALS_HAVE, i, 0);
        vitals_process_free(processes[i]);
    }
    world_close(&counted.world);
}

/* A caller of another release: a shorter struct is none, a longer one may ask for nothing more. */
static void options_of_another_release_are_judged(void)
{
    struct {
        vitals_wait known;
        uint64_t more;
    } newer;
    vitals_error error;
    vitals_wait_init(&newer.known, sizeof newer);
    CHECK_UINT(newer.known.size, sizeof newer);
    CHECK(newer.known.timeout_ns == VITALS_FOREVER && newer.known.ended == NULL);
    CHECK_OK(vitals_processes_wait(NULL, 0, &newer.known, NULL, &error), error);
    newer.more = 1;
    CHECK_INT(vitals_processes_wait(NULL, 0, &newer.known, NULL, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "vitals_wait: the caller was built against a newer vitals");
    newer.known.size = sizeof(vitals_wait) - 1;
    CHECK_INT(vitals_processes_wait(NULL, 0, &newer.known, NULL, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_processes_wait(NULL, 0, &(vitals_wait){0}, NULL, NULL), VITALS_EARGUMENT);
}

/* For somebody's own loop. */
static void its_descriptor_can_be_polled(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    vitals_process *process = opened(&world, pid);
    struct pollfd watched = {.fd = vitals_process_descriptor(process), .events = POLLIN};
    CHECK(watched.fd >= 0);
    CHECK_INT(fcntl(watched.fd, F_GETFD), FD_CLOEXEC);
    CHECK_INT(poll(&watched, 1, 0), 0);
    kill(pid, SIGKILL);
    CHECK_INT(poll(&watched, 1, -1), 1);
    CHECK((watched.revents & POLLIN) != 0);
    CHECK_EXIT(process, VITALS_NOT_YET, 9, 9); // which does not look
    CHECK_INT(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    vitals_error error;
    CHECK_OK(vitals_process_wait(process, 0, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 0, SIGKILL);
    vitals_process_free(process);
    world_close(&world);
}

/* More than one batch of what the kernel hands out at once. */
static void many_are_waited_for(void)
{
    enum { MANY = 150 };
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *processes[MANY];
    size_t before = descriptors_open();
    for (int i = 0; i < MANY; i++)
        processes[i] = opened(&world, child_exits(i));
    vitals_error error;
    size_t remaining = 77;
    CHECK_OK(vitals_processes_wait(processes, MANY, NULL, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(vitals_process_wait(processes[i], 0, &error), error);
        CHECK_EXIT(processes[i], VITALS_HAVE, i, 0);
        vitals_process_free(processes[i]);
    }
    CHECK_UINT(descriptors_open(), before);
    world_close(&world);
}

static void running_out_of_memory_is_said(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    int64_t live = memory_live();
    size_t descriptors = descriptors_open();
    int code = VITALS_EMEMORY;
    vitals_wait only_looks = wait_of(0, NULL, NULL);
    for (uint64_t nth = 1; code != 0; nth++) {
        CHECK(nth < 20);
        vitals_process *process = NULL;
        memory_fail_at(nth);
        code = vitals_process_open(&world.context, pid, &process, NULL);
        if (code == 0)
            code = vitals_processes_wait(&process, 1, &only_looks, NULL, NULL);
        if (code == 0)
            code = vitals_process_wait(process, 0, NULL) == VITALS_ETIMEOUT ? 0 : -99;
        memory_fail_at(0);
        CHECK(code == 0 || code == VITALS_EMEMORY);
        vitals_process_free(process);
        CHECK_INT(memory_live(), live);
        CHECK_UINT(descriptors_open(), descriptors);
    }
    child_end(pid);
    world_close(&world);
}

/* ---- the word in a zombie's stat ---- */

#define NUMBERS_4_TO_51                                                                           \
    "1 5 5 0 -1 4194308 0 0 0 0 0 0 0 0 20 0 1 0 900 0 0 184 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 " \
    "0 0 0 "                                                                                      \
    "0 0 0 0 0 0"

static void a_zombies_word_is_read(void)
{
    static const struct {
        const char *name, *text;
        int status; /* -1: none */
    } rows[] = {
        {"exit 7", "5 (x) Z " NUMBERS_4_TO_51 " 1792\n", 1792},
        {"killed", "5 (x) Z " NUMBERS_4_TO_51 " 9\n", 9},
        {"a name full of fields", "5 (a) Z 1 2) Z " NUMBERS_4_TO_51 " 256\n", 256},
        {"no zombie", "5 (x) S " NUMBERS_4_TO_51 " 9\n", -1},
        {"cut", "5 (x) Z " NUMBERS_4_TO_51 " 17", -1},
        {"one field less", "5 (x) Z " NUMBERS_4_TO_51 "\n", -1},
        {"too large", "5 (x) Z " NUMBERS_4_TO_51 " 65536\n", -1},
        {"negative", "5 (x) Z " NUMBERS_4_TO_51 " -1\n", -1},
        {"no stat", "hello\n", -1},
        {"empty", "", -1},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].name);
        int status = -1;
        bool found = os_parse_stat_exit(rows[i].text, strlen(rows[i].text), &status);
        CHECK_INT(found, rows[i].status >= 0);
        CHECK_INT(status, rows[i].status);
    }
}

static const check_test tests[] = {
    {"a child is reaped and its code told", a_child_is_reaped_and_its_code_told},
    {"a signal that ended it is told", a_signal_that_ended_it_is_told},
    {"a child that ends in silence is reaped", a_child_that_ends_in_silence_is_reaped},
    {"without time it only looks", without_time_it_only_looks},
    {"the time is that of the context", the_time_is_that_of_the_context},
    {"a zombie of somebody else has ended", a_zombie_of_somebody_else_has_ended},
    {"a zombie that exited with 0 is known too", a_zombie_that_exited_with_0_is_known_too},
    {"somebody else's end is waited for", somebody_elses_end_is_waited_for},
    {"how the reaped ended is known where the kernel tells",
     how_the_reaped_ended_is_known_where_the_kernel_tells},
    {"without a pidfd nobody is waited for", without_a_pidfd_nobody_is_waited_for},
    {"no descriptor left for the pidfd is said", no_descriptor_left_for_the_pidfd_is_said},
    {"what may not be seen is told later", what_may_not_be_seen_is_told_later},
    {"children that nobody reaps end too", children_that_nobody_reaps_end_too},
    {"the end of its first thread is no end", the_end_of_its_first_thread_is_no_end},
    {"processes of another /proc cannot be waited for",
     processes_of_another_proc_cannot_be_waited_for},
    {"all are told of once, in the order of their end",
     all_are_told_of_once_in_the_order_of_their_end},
    {"the time holds for all together", the_time_holds_for_all_together},
    {"odd lists are told of whole", odd_lists_are_told_of_whole},
    {"who is told can stop it", who_is_told_can_stop_it},
    {"options of another release are judged", options_of_another_release_are_judged},
    {"its descriptor can be polled", its_descriptor_can_be_polled},
    {"many are waited for", many_are_waited_for},
    {"running out of memory is said", running_out_of_memory_is_said},
    {"a zombie's word is read", a_zombies_word_is_read},
};
CHECK_MAIN(tests)
