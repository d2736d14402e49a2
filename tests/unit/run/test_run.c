/* vitals_run_command as a program calls it. What the command and its descendants notice is in
 * tests/command/test_run.py. */
#include "check.h"

#include "run/account.h"
#include "util/base.h"
#include "util/memory.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vitals/vitals.h>

static vitals_error error;

static vitals_options nowhere(void)
{
    vitals_options world;
    vitals_options_init(&world, sizeof world);
    world.backends = ""; /* no driver of this machine */
    return world;
}

static int run(const char *const *argv, vitals_account **account)
{
    vitals_options world = nowhere();
    vitals_run_options options;
    vitals_run_options_init(&options, sizeof options);
    options.argv = (char *const *)argv;
    options.world = &world;
    return vitals_run_command(&options, account, &error);
}

static vitals_account *run_shell(const char *line)
{
    const char *argv[] = {"sh", "-c", line, NULL};
    vitals_account *account = NULL;
    CHECK_OK(run(argv, &account), error);
    CHECK_NOT_NULL(account);
    return account;
}

static void options_that_cannot_be_run_are_refused(void)
{
    static const char *const TRUE[] = {"true", NULL}, *const NONE[] = {NULL};
    vitals_account *account = NULL;
    vitals_run_options options;
    vitals_run_options_init(&options, sizeof options);
    CHECK_INT(vitals_run_command(&options, &account, &error), VITALS_EARGUMENT);
    options.argv = (char *const *)NONE;
    CHECK_INT(vitals_run_command(&options, &account, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "no command");
    options.argv = (char *const *)TRUE;
    static const uint64_t OUTSIDE[] = {0, 10 * NS_PER_MS - 1, 86400 * NS_PER_SECOND + 1,
                                       UINT64_MAX};
    for (size_t i = 0; i < CHECK_COUNT(OUTSIDE); i++) {
        options.interval_ns = OUTSIDE[i];
        CHECK_INT(vitals_run_command(&options, &account, &error), VITALS_EARGUMENT);
        CHECK_CONTAINS(error.message, "10 ms to 1 day");
    }
    options.interval_ns = NS_PER_SECOND;
    options.size = offsetof(vitals_run_options, child_descriptors); /* less than the first had */
    CHECK_INT(vitals_run_command(&options, &account, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "vitals_run_options");
    CHECK_NULL(account);
}

static void *wait_to_be_joined(void *data)
{
    sem_wait(data);
    return NULL;
}

static void a_process_with_several_threads_is_refused(void)
{
    static const char *const TRUE[] = {"true", NULL};
    vitals_account *account = NULL;
    pthread_t thread;
    sem_t end;
    if (CHECK_SANITIZED)
        CHECK_SKIP("a sanitizer has threads of its own");
    sem_init(&end, 0, 0);
    CHECK_INT(pthread_create(&thread, NULL, wait_to_be_joined, &end), 0);
    CHECK_INT(run(TRUE, &account), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "one thread");
    sem_post(&end);
    pthread_join(thread, NULL);
    CHECK_NULL(account);
}

static void the_caller_is_no_subreaper_afterwards(void)
{
    int adopts = 9;
    vitals_account_free(run_shell("exit 0"));
    CHECK_INT(prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0), 0);
    CHECK_INT(adopts, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    vitals_account_free(run_shell("exit 0"));
    CHECK_INT(prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0), 0);
    CHECK_INT(adopts, 1);
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

/* Of every signal, however the run ended: the handler, its flags and whether it is blocked. */
static void every_signal_is_as_it_was(void)
{
    enum { SIGNALS = 65 };
    static const char *const ENDS[][4] = {{"sh", "-c", "exit 3", NULL},
                                          {"sh", "-c", "kill -KILL $$", NULL},
                                          {"vitals-no-such-command", NULL}};
    static struct sigaction before[SIGNALS], after[SIGNALS];
    sigset_t mask_before, mask_after;
    struct sigaction usual, ignore = {.sa_handler = SIG_IGN};
    CHECK_INT(sigaction(SIGUSR2, &ignore, &usual), 0); /* one that is not as at the start */
    for (size_t i = 0; i < CHECK_COUNT(ENDS); i++) {
        vitals_account *account = NULL;
        int adopts = 9;
        CHECK_CASE(ENDS[i][0]);
        for (int signal = 1; signal < SIGNALS; signal++)
            (void)sigaction(signal, NULL, &before[signal]);
        sigprocmask(SIG_SETMASK, NULL, &mask_before);
        CHECK_OK(run(ENDS[i], &account), error);
        vitals_account_free(account);
        sigprocmask(SIG_SETMASK, NULL, &mask_after);
        CHECK_INT(prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0), 0);
        CHECK_INT(adopts, 0);
        for (int signal = 1; signal < SIGNALS; signal++) {
            (void)sigaction(signal, NULL, &after[signal]);
            CHECK(after[signal].sa_handler == before[signal].sa_handler);
            CHECK_INT(after[signal].sa_flags, before[signal].sa_flags);
            CHECK_INT(sigismember(&mask_after, signal), sigismember(&mask_before, signal));
        }
    }
    CHECK_CASE(NULL);
    CHECK_INT(sigaction(SIGUSR2, &usual, NULL), 0);
}

static int64_t run_in(vitals_options *world)
{
    static const char *const EXIT[] = {"sh", "-c", "exit 5", NULL};
    vitals_account *account = NULL;
    vitals_run_options options;
    vitals_run_options_init(&options, sizeof options);
    options.argv = (char *const *)EXIT;
    options.world = world;
    int code = vitals_run_command(&options, &account, &error);
    if (code == 0)
        code = vitals_account_exit_code(account);
    vitals_account_free(account);
    return code;
}

/* A caller that was built against a newer vitals: its structs are longer. */
static void a_newer_callers_options_are_taken_where_they_ask_for_nothing_new(void)
{
    static const char *const EXIT[] = {"sh", "-c", "exit 6", NULL};
    struct {
        vitals_run_options known;
        uint64_t new_one;
    } options;
    struct {
        vitals_options known;
        uint64_t new_one;
    } world = {.known = nowhere()};
    vitals_account *account = NULL;
    vitals_run_options_init(&options.known, sizeof options);
    CHECK_UINT(options.known.size, sizeof options);
    CHECK_UINT(options.new_one, 0);
    options.known.argv = (char *const *)EXIT;
    options.known.world = &world.known;
    world.known.size = sizeof world;
    CHECK_OK(vitals_run_command(&options.known, &account, &error), error);
    CHECK_INT(vitals_account_exit_code(account), 6);
    vitals_account_free(account);
    account = NULL;

    options.new_one = 1;
    CHECK_INT(vitals_run_command(&options.known, &account, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "newer vitals");
    options.new_one = 0;
    world.new_one = 1;
    CHECK_INT(vitals_run_command(&options.known, &account, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "vitals_options");
    CHECK_CONTAINS(error.message, "newer vitals");
    CHECK_NULL(account);
}

static uint64_t no_time(void *data)
{
    return vitals_clock_system()->monotonic_ns(data);
}

static int no_wait(void *data, int descriptor, uint64_t deadline_ns)
{
    (void)data;
    (void)descriptor;
    (void)deadline_ns;
    return -EIO;
}

static void a_clock_that_cannot_wait_costs_the_command_nothing(void)
{
    vitals_options world = nowhere();
    vitals_clock clock = {.size = sizeof clock,
                          .monotonic_ns = no_time,
                          .boottime_ns = no_time,
                          .realtime_ns = no_time,
                          .wait_until = no_wait};
    world.clock = &clock;
    CHECK_INT(run_in(&world), 5);
    clock.size = 0;
    CHECK_INT(run_in(&world), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "vitals_clock");
    clock.size = sizeof clock;
    clock.wait_until = NULL;
    CHECK_INT(run_in(&world), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "vitals_clock");
}

static void the_exit_code_is_what_a_shell_would_say(void)
{
    static const struct {
        const char *line;
        int code, signal;
    } ROWS[] = {
        {"exit 0", 0, 0},
        {"exit 7", 7, 0},
        {"exit 255", 255, 0},
        {"kill -TERM $$", 128 + SIGTERM, SIGTERM},
        {"kill -KILL $$", 128 + SIGKILL, SIGKILL},
    };
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].line);
        vitals_account *account = run_shell(ROWS[i].line);
        CHECK_INT(vitals_account_exit_code(account), ROWS[i].code);
        CHECK_INT(vitals_account_signal(account), ROWS[i].signal);
        CHECK_UINT(vitals_account_failure(account).size, 0);
        vitals_account_free(account);
    }
    vitals_account_free(NULL);
}

static void a_command_that_cannot_be_started_says_why(void)
{
    static const struct {
        const char *name;
        int code;
        const char *why;
    } ROWS[] = {
        {"vitals-no-such-command", 127, "vitals-no-such-command: command not found"},
        {"/dev/null/x", 126, "ot a directory"},
        {"/", 126, "/: Is a directory"},
    };
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].name);
        const char *argv[] = {ROWS[i].name, NULL};
        vitals_account *account = NULL;
        CHECK_OK(run(argv, &account), error);
        CHECK_INT(vitals_account_exit_code(account), ROWS[i].code);
        CHECK_INT(vitals_account_signal(account), 0);
        CHECK_CONTAINS(vitals_account_failure(account).bytes, ROWS[i].why);
        vitals_account_free(account);
    }
}

static void every_figure_says_what_it_is_and_how_it_was_got(void)
{
    vitals_account *account = run_shell("sleep 0.05");
    size_t count = 0;
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL; count++) {
        const char *name = vitals_figure_name(figure);
        CHECK_CASE(name);
        CHECK(strlen(name) > 0);
        CHECK(strlen(vitals_figure_source(figure)) > 0);
        const char *subject = vitals_figure_subject(figure);
        CHECK(vitals_account_find(account, name, subject) == figure); /* each once */
        const char *unit = vitals_figure_unit(figure);
        size_t tail = strlen(unit) <= strlen(name) ? strlen(name) - strlen(unit) : 0;
        CHECK_STR(name + tail, unit); /* a name ends in its unit */
        double value = -1;
        vitals_availability state = vitals_figure_value(figure, &value);
        CHECK(state != VITALS_UNSET);
        CHECK((value >= 0) == (state > 0));
    }
    CHECK_CASE(NULL);
    CHECK(count >= 10);
    CHECK_NULL(vitals_account_find(account, "no such figure", ""));
    CHECK_NULL(vitals_account_find(account, "cpu_seconds", "no such device"));
    vitals_account_free(account);
}

static double figure(const vitals_account *account, const char *name)
{
    double value = -1;
    const vitals_figure *found = vitals_account_find(account, name, "");
    CHECK_NOT_NULL(found);
    CHECK(vitals_figure_value(found, &value) > 0);
    return value;
}

/* The kernel's own clock of what this process has waited for. */
static void runs_do_not_count_each_others_processes(void)
{
    vitals_account *heavy = run_shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done");
    vitals_account *light = run_shell("exit 0");
    CHECK(figure(heavy, "cpu_seconds") > 0.02);
    CHECK(figure(light, "cpu_seconds") < figure(heavy, "cpu_seconds") / 4);
    CHECK_NEAR(figure(light, "processes"), 1, 0);
    vitals_account_free(heavy);
    vitals_account_free(light);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1); /* and none is left behind */
    CHECK_INT(errno, ECHILD);
}

/* ---- what is left behind ---- */

static void on_child(int signal)
{
    (void)signal;
}

static void the_caller_gets_back_what_was_its_own(void)
{
    struct sigaction mine = {.sa_handler = on_child}, found;
    sigset_t mask, after;
    CHECK_INT(sigaction(SIGCHLD, &mine, NULL), 0);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    CHECK_INT(sigprocmask(SIG_SETMASK, &mask, NULL), 0);
    size_t descriptors = check_open_descriptors();
    int64_t live = memory_live();
    for (int i = 0; i < 3; i++)
        vitals_account_free(run_shell("exit 1"));
    CHECK_UINT(check_open_descriptors(), descriptors);
    CHECK_INT(memory_live(), live);
    CHECK_INT(sigaction(SIGCHLD, NULL, &found), 0);
    CHECK(found.sa_handler == on_child);
    CHECK_INT(sigprocmask(SIG_SETMASK, NULL, &after), 0);
    for (int number = 1; number < 32; number++)
        CHECK_INT(sigismember(&after, number), number == SIGUSR2);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* How much stands in the file by now. */
static int64_t written(int file)
{
    return lseek(file, 0, SEEK_END);
}

/* Where an error is returned the command has not run, and where it has run nothing fails. */
static void any_allocation_may_fail(void)
{
    char path[] = "/tmp/vitals-run-XXXXXX", line[128];
    int file = mkstemp(path);
    CHECK(file >= 0);
    (void)snprintf(line, sizeof line, "echo >> %s; exit 7", path);
    const char *const command[] = {"sh", "-c", line, NULL};
    int64_t live = memory_live();
    size_t descriptors = check_open_descriptors();
    int refused = 0, runs = 0;
    for (uint64_t n = 1; n < 90; n++) {
        char name[32];
        snprintf(name, sizeof name, "allocation %llu", (unsigned long long)n);
        CHECK_CASE(name);
        vitals_account *account = NULL;
        memory_fail_at(n);
        int code = run(command, &account);
        memory_fail_at(0);
        if (code < 0) {
            CHECK_NULL(account);
            refused++;
        } else {
            CHECK_INT(vitals_account_exit_code(account), 7);
            vitals_account_free(account);
            runs++;
        }
        CHECK_INT(written(file), runs);
        CHECK_INT(memory_live(), live);
        CHECK_UINT(check_open_descriptors(), descriptors);
    }
    CHECK(refused >= 3);
    CHECK(runs >= 30);
    close(file);
    CHECK_INT(unlink(path), 0);
}

static const check_test tests[] = {
    {"a process with several threads is refused", a_process_with_several_threads_is_refused},
    {"the caller is no subreaper afterwards", the_caller_is_no_subreaper_afterwards},
    {"every signal is as it was", every_signal_is_as_it_was},
    {"options that cannot be run are refused", options_that_cannot_be_run_are_refused},
    {"a newer caller's options are taken where they ask for nothing new",
     a_newer_callers_options_are_taken_where_they_ask_for_nothing_new},
    {"a clock that cannot wait costs the command nothing",
     a_clock_that_cannot_wait_costs_the_command_nothing},
    {"the exit code is what a shell would say", the_exit_code_is_what_a_shell_would_say},
    {"a command that cannot be started says why", a_command_that_cannot_be_started_says_why},
    {"every figure says what it is and how it was got",
     every_figure_says_what_it_is_and_how_it_was_got},
    {"runs do not count each other's processes", runs_do_not_count_each_others_processes},
    {"the caller gets back what was its own", the_caller_gets_back_what_was_its_own},
    {"any allocation may fail", any_allocation_may_fail},
};
CHECK_TESTS(tests)
