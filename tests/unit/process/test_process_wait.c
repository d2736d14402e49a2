/* Waiting until a process has ended: our children and other people's. The end of other people's is
 * known where the kernel tells it, so what is expected there depends on it. */
#include "wait_world.h"

#include <pthread.h>
#include <sys/resource.h>

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
    vitals_process_close(process);
    world_close(&world);
}

static void a_child_may_be_left_unreaped(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_exits(7), second = child_exits(8);
    vitals_process *process = opened(&world, pid), *other = opened(&world, second);
    vitals_error error;
    int status;
    CHECK_OK(vitals_process_wait_unreaped(process, VITALS_FOREVER, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 7, 0);
    CHECK_OK(vitals_process_wait_unreaped(process, 0, &error), error);
    CHECK_INT(vitals_process_is_running(process), 1); // a zombie
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK_OK(vitals_process_wait(process, 0, &error), error); // nothing is left to reap
    CHECK_EXIT(process, VITALS_HAVE, 7, 0);

    CHECK_OK(vitals_process_wait_unreaped(other, VITALS_FOREVER, &error), error);
    CHECK_OK(vitals_process_wait(other, 0, &error), error); // this one reaps
    CHECK_EXIT(other, VITALS_HAVE, 8, 0);
    CHECK_INT(waitpid(second, NULL, 0), -1);
    CHECK_INT(errno, ECHILD);
    vitals_process_close(process);
    vitals_process_close(other);
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
    vitals_process_close(process);
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
    vitals_process_close(process);
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
    vitals_process_close(process);
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
    vitals_process_close(process);
    world_close(&counted.world);
}

/* psutil waits its whole timeout for a zombie of another parent. */
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
    vitals_process_close(process);
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
    CHECK_EXIT(process, VITALS_HAVE, 0, 0); // not the 0 that is shown without permission
    vitals_process_close(process);
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
    vitals_process_close(process);
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
        vitals_process_close(handles[i]);
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
    CHECK_INT(vitals_process_wait_several(&process, 1, NULL, NULL, &error), VITALS_EUNSUPPORTED);
    CHECK_INT(vitals_process_signal(process, 0, &error), VITALS_EUNSUPPORTED);
    CHECK_INT(vitals_process_is_running(process), 1);
    vitals_process_close(process);
    world_close(&world);
}

/* As an ordinary user: a handle on another user's process, through its life, as a zombie and
 * reaped. 0, or the number of the failed step. */
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
    vitals_process_close(process);
    return 0;
}

/* The kernel shows the status of a zombie to processes that may trace it, and 0 to all others. That
 * is not taken for 0; and once it is reaped, every holder of a pidfd may know. */
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

/* With SIGCHLD ignored the kernel reaps at once, and waiting is impossible. */
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
    vitals_process_close(process);
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
    vitals_process_close(process);
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
    CHECK_INT(vitals_process_wait_several(&process, 1, NULL, &remaining, &error),
              VITALS_EUNSUPPORTED);
    CHECK_UINT(remaining, 77);
    vitals_process_close(process);
    world_close(&world);
}

/* The handle is then not had at all, rather than one that cannot act. */
static void no_descriptor_left_for_the_pidfd_is_said(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    size_t before = check_open_descriptors();
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
    CHECK_UINT(check_open_descriptors(), before);
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
    {"a child may be left unreaped", a_child_may_be_left_unreaped},
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
    {"a zombie's word is read", a_zombies_word_is_read},
};
CHECK_TESTS(tests)
