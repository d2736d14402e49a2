/* Runs that were not launched by us: a command that is our child, ourselves, its states. The checks
 * hold at any load. */
#include "check.h"

#include "util/memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vitals/mark.h>
#include <vitals/vitals.h>

static vitals_error error;

static vitals_run *open_command(const char *const *argv, const char *methods)
{
    vitals_run_options options;
    vitals_run *run = NULL;
    vitals_run_options_init(&options, sizeof options);
    options.argv = (char *const *)argv;
    options.methods = methods;
    options.interval_ns = 20000000;
    CHECK_OK(vitals_run_open(&options, &run, &error), error);
    return run;
}

static vitals_account *account_of(vitals_run *run)
{
    vitals_account *account = NULL;
    CHECK_OK(vitals_run_account(run, &account, &error), error);
    return account;
}

static vitals_account *run_to_its_end(const char *const *argv, const char *methods)
{
    vitals_run *run = open_command(argv, methods);
    CHECK_OK(vitals_run_start(run, &error), error);
    CHECK_INT(vitals_run_wait(run, 60 * NS_PER_SECOND, &error), 1);
    CHECK_OK(vitals_run_stop(run, &error), error);
    vitals_account *account = account_of(run);
    vitals_run_close(run);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1); /* nothing of it is left for us to reap */
    return account;
}

static double figure(const vitals_account *account, const char *name, vitals_availability *state)
{
    double value = -1;
    const vitals_figure *found = vitals_account_find(account, name, "");
    *state = found != NULL ? vitals_figure_value(found, &value) : VITALS_UNSET;
    return value;
}

static bool attribute_is(const vitals_account *account, const char *name, const char *expected)
{
    vitals_text text = vitals_account_attribute(account, name);
    return text.size == strlen(expected) && memcmp(text.bytes, expected, text.size) == 0;
}

static void a_command_is_accounted_for(void)
{
    static const char *const ARGV[] = {"sh", "-c", "exit 7", NULL};
    vitals_availability state;
    vitals_account *account = run_to_its_end(ARGV, NULL);
    CHECK_INT(vitals_account_exit_code(account), 7);
    CHECK_INT(vitals_account_signal(account), 0);
    CHECK(attribute_is(account, "state", "complete"));
    CHECK(attribute_is(account, "command", "sh -c 'exit 7'"));
    CHECK(figure(account, "cpu_seconds", &state) >= 0);
    CHECK(state == VITALS_HAVE || state == VITALS_LOWER_BOUND);
    CHECK(figure(account, "wall_seconds", &state) > 0);
    vitals_account_free(account);
}

/* By the constants of account.h and measures.h; each name is one of the library's. */
static void names_are_constants(void)
{
    static const char *const ARGV[] = {"sh", "-c", "sleep 0.1", NULL};
    static const char *const FIGURES[] = {
        VITALS_FIGURE_WALL_SECONDS, VITALS_FIGURE_CPU_SECONDS, VITALS_FIGURE_PROCESSES,
        VITALS_FIGURE_MEMORY_RESIDENT_PEAK_BYTES, VITALS_FIGURE_THREADS_PEAK};
    vitals_account *account = run_to_its_end(ARGV, VITALS_METHOD_WAIT4);
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        CHECK_CASE(FIGURES[i]);
        CHECK_NOT_NULL(vitals_account_find(account, FIGURES[i], ""));
    }
    CHECK(attribute_is(account, VITALS_ATTRIBUTE_STATE, VITALS_RUN_COMPLETE));
    CHECK(attribute_is(account, VITALS_ATTRIBUTE_METHODS, VITALS_METHOD_WAIT4));
    vitals_account_free(account);
    CHECK_STR(vitals_measure_name(VITALS_MEASURE_MEMORY_RESIDENT_BYTES), "memory_resident_bytes");
    CHECK_INT(vitals_measure_find("cpu_seconds"), VITALS_MEASURE_CPU_SECONDS);
}

static void a_signal_that_ends_it_is_told(void)
{
    static const char *const ARGV[] = {"sh", "-c", "kill -9 $$", NULL};
    vitals_account *account = run_to_its_end(ARGV, NULL);
    CHECK_INT(vitals_account_exit_code(account), 128 + SIGKILL);
    CHECK_INT(vitals_account_signal(account), SIGKILL);
    vitals_account_free(account);
}

static void a_command_that_is_none_says_so(void)
{
    static const char *const ARGV[] = {"vitals-no-such-command", NULL};
    vitals_account *account = run_to_its_end(ARGV, NULL);
    CHECK_INT(vitals_account_exit_code(account), 127);
    vitals_text failure = vitals_account_failure(account);
    CHECK(memmem(failure.bytes, failure.size, "not found", 9) != NULL);
    vitals_account_free(account);
}

/* Without a cgroup and without perf: a process that was left behind is in no wait4. The command has
 * a child, as otherwise none could be. */
static void what_wait4_alone_counts_is_a_lower_bound(void)
{
    static const char *const ARGV[] = {
        "sh", "-c", "(exit 0); i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", NULL};
    vitals_availability state;
    vitals_account *account = run_to_its_end(ARGV, "wait4");
    CHECK(figure(account, "cpu_seconds", &state) > 0);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    CHECK(attribute_is(account, "rungs", "wait4"));
    vitals_account_free(account);
}

/* Whatever counts the CPU time: I/O of a process that the command did not reap is in no wait4. */
static void what_others_reap_leaves_bounds(void)
{
    static const char *const ARGV[] = {"sh", "-c", "(true &)", NULL};
    static const char *const NAMES[] = {"minor_faults", "voluntary_switches", "disk_read_bytes"};
    vitals_account *account = run_to_its_end(ARGV, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        const vitals_figure *told = vitals_account_find(account, NAMES[i], "");
        double value;
        CHECK_CASE(NAMES[i]);
        CHECK_NOT_NULL(told);
        if (strncmp(vitals_figure_source(told), "wait4", 5) == 0)
            CHECK_INT(vitals_figure_value(told, &value), VITALS_LOWER_BOUND);
    }
    vitals_account_free(account);
}

static void each_state_comes_once(void)
{
    int ends[2];
    char word[64] = "";
    CHECK_INT(pipe(ends), 0);
    char line[64];
    snprintf(line, sizeof line, "echo $$ >&%d; exec sleep 60", ends[1]);
    const char *const argv[] = {"sh", "-c", line, NULL};
    vitals_run *run = open_command(argv, "wait4");
    CHECK_INT(vitals_run_state(run), VITALS_RUN_NEW);
    CHECK_INT(vitals_run_stop(run, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_run_wait(run, 0, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_run_exclude(run, 0, &error), VITALS_EARGUMENT);
    CHECK_OK(vitals_run_exclude(run, getpid(), &error), error);
    CHECK_OK(vitals_run_start(run, &error), error);
    CHECK_INT(vitals_run_exclude(run, 1, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_run_state(run), VITALS_RUN_STARTED);
    CHECK_INT(vitals_run_start(run, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "started already");
    CHECK_INT(vitals_run_wait(run, 10 * NS_PER_MS, &error), 0);
    CHECK_INT(vitals_run_wait(run, 0, &error), 0); /* only looks */
    vitals_account *account = account_of(run);
    CHECK(attribute_is(account, "state", "running"));
    CHECK_INT((long long)vitals_account_attribute(account, "exit").size, 0);
    vitals_account_free(account);
    CHECK_OK(vitals_run_stop(run, &error), error);
    CHECK_INT(vitals_run_state(run), VITALS_RUN_STOPPED);
    CHECK_INT(vitals_run_start(run, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_run_stop(run, &error), VITALS_EARGUMENT);
    vitals_run_close(run);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), 0); /* it goes on, and is ours now */
    CHECK(read(ends[0], word, sizeof word - 1) > 0);
    pid_t pid = (pid_t)strtol(word, NULL, 10);
    CHECK(pid > 1);
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    close(ends[0]);
    close(ends[1]);
}

/* A run that never begins leaves no process behind, and its command has not run. */
static void one_that_is_not_started_never_runs(void)
{
    char path[] = "/tmp/vitals-test-XXXXXX", line[128];
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    snprintf(line, sizeof line, "echo ran >%s", path);
    const char *const argv[] = {"sh", "-c", line, NULL};
    int64_t before = memory_live();
    vitals_run_close(open_command(argv, "wait4"));
    CHECK_INT(memory_live(), before);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_INT(lseek(descriptor, 0, SEEK_END), 0);
    close(descriptor);
    unlink(path);
}

static void options_that_mean_nothing_are_refused(void)
{
    static const char *const NOTHING[] = {NULL}, *const ARGV[] = {"true", NULL};
    const int64_t pid = getpid();
    vitals_usage_options usage;
    vitals_run_options options;
    vitals_run *run = NULL;
    vitals_run_options_init(&options, sizeof options);
    options.argv = (char *const *)NOTHING;
    CHECK_INT(vitals_run_open(&options, &run, &error), VITALS_EARGUMENT);
    options.argv = (char *const *)ARGV;
    options.limit_ns = 1;
    CHECK_INT(vitals_run_open(&options, &run, &error), VITALS_EUNSUPPORTED);
    CHECK_CONTAINS(error.message, "vitals_run_command");
    options.limit_ns = 0;
    vitals_usage_options_init(&usage, sizeof usage);
    usage.pids = &pid;
    usage.pid_count = 1;
    options.usage = &usage;
    CHECK_INT(vitals_run_open(&options, &run, &error), VITALS_EARGUMENT);
    CHECK(run == NULL);
}

/* A program of another release: it has none of what came later, or asks for what is not known. */
static void an_observer_of_another_release_is_judged(void)
{
    static const char *const ARGV[] = {"true", NULL};
    struct {
        vitals_run_observer known;
        uint64_t more;
    } newer;
    vitals_run_options options;
    vitals_run *run = NULL;
    vitals_account *account = NULL;
    vitals_run_options_init(&options, sizeof options);
    vitals_run_observer_init(&newer.known, sizeof newer);
    CHECK_UINT(newer.known.size, sizeof newer);
    CHECK(newer.known.sample == NULL && newer.more == 0);
    options.argv = (char *const *)ARGV;
    options.observer = &newer.known;
    CHECK_OK(vitals_run_open(&options, &run, &error), error);
    vitals_run_close(run);
    newer.more = 1;
    CHECK_INT(vitals_run_open(&options, &run, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "vitals_run_observer: the caller was built for a newer");
    CHECK_INT(vitals_run_command(&options, &account, &error), VITALS_EARGUMENT);
    newer.known = (vitals_run_observer){.size = 0};
    CHECK_INT(vitals_run_open(&options, &run, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "vitals_run_observer has size 0");
}

/* The caller's own: signals, handlers, children, subreaper. */
static void nothing_of_the_caller_is_changed(void)
{
    static const char *const ARGV[] = {"sh", "-c", "exit 0", NULL};
    sigset_t before = {0}, after = {0};
    struct sigaction child;
    pid_t other = fork();
    if (other == 0)
        _exit(3);
    sigprocmask(SIG_SETMASK, NULL, &before);
    vitals_run *run = open_command(ARGV, NULL);
    CHECK_OK(vitals_run_start(run, &error), error);
    CHECK_INT(vitals_run_wait(run, 60 * NS_PER_SECOND, &error), 1);
    vitals_run_close(run);
    sigprocmask(SIG_SETMASK, NULL, &after);
    sigaction(SIGCHLD, NULL, &child);
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    CHECK(child.sa_handler == SIG_DFL);
    int status;
    CHECK_INT(waitpid(other, &status, 0), other); /* it was not reaped for us */
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

/* ---- marks ---- */

struct told_marks {
    int count;
    char names[4][32];
    int begins[4];
    int64_t pids[4];
};

static int on_mark(void *data, const vitals_mark *mark, vitals_error *why)
{
    struct told_marks *told = data;
    (void)why;
    if (told->count < 4) {
        snprintf(told->names[told->count], sizeof told->names[0], "%s", mark->name);
        told->begins[told->count] = mark->begins;
        told->pids[told->count] = mark->pid;
    }
    told->count++;
    return 0;
}

static vitals_run *open_marked(char *const *argv, const vitals_usage_options *usage,
                               const char *marks_path, struct told_marks *told)
{
    vitals_run_options options;
    vitals_run_observer observer;
    vitals_run *run = NULL;
    vitals_run_options_init(&options, sizeof options);
    vitals_run_observer_init(&observer, sizeof observer);
    observer.data = told;
    observer.mark = on_mark;
    options.argv = argv;
    options.usage = usage;
    options.observer = &observer; /* is copied */
    options.interval_ns = 20000000;
    options.marks_path = marks_path;
    CHECK_OK(vitals_run_open(&options, &run, &error), error);
    return run;
}

static void marks_of_our_own_are_told(void)
{
    struct told_marks told = {0};
    char path[300];
    vitals_run *run = open_marked(NULL, NULL, "", &told);
    snprintf(path, sizeof path, "%s", vitals_run_marks_path(run));
    CHECK(path[0] == '/');
    CHECK_INT(setenv("VITALS_MARKS", path, 1), 0);
    CHECK_OK(vitals_run_start(run, &error), error);
    VITALS_BEGIN("load");
    VITALS_END("load");
    CHECK_OK(vitals_run_stop(run, &error), error); /* what was written before is told */
    unsetenv("VITALS_MARKS");
    CHECK_INT(told.count, 2);
    CHECK_STR(told.names[0], "load");
    CHECK_STR(told.names[1], "load");
    CHECK_INT(told.begins[0], 1);
    CHECK_INT(told.begins[1], 0);
    CHECK_INT(told.pids[0], getpid());
    vitals_run_close(run);
    CHECK_INT(access(path, F_OK), -1);

    run = open_marked(NULL, NULL, NULL, &told); /* who asks for none has no file */
    CHECK_STR(vitals_run_marks_path(run), "");
    vitals_run_close(run);
}

/* A command has the file in its environment, beside what it inherits; ours stays as it is. */
static void marks_of_a_command_are_told(void)
{
    char script[] = "[ \"$INHERITED\" = yes ] && echo begin load >>\"$VITALS_MARKS\"";
    char shell[] = "sh", command[] = "-c";
    char *const argv[] = {shell, command, script, NULL};
    struct told_marks told = {0};
    char path[300];
    CHECK_INT(setenv("INHERITED", "yes", 1), 0);
    vitals_run *run = open_marked(argv, NULL, "", &told);
    snprintf(path, sizeof path, "%s", vitals_run_marks_path(run));
    CHECK(path[0] == '/');
    CHECK_OK(vitals_run_start(run, &error), error);
    CHECK_INT(vitals_run_wait(run, 60 * NS_PER_SECOND, &error), 1);
    CHECK_OK(vitals_run_stop(run, &error), error);
    vitals_run_close(run);
    CHECK(getenv("VITALS_MARKS") == NULL);
    CHECK_INT(told.count, 1);
    CHECK_STR(told.names[0], "load");
    CHECK_INT(access(path, F_OK), -1);
}

/* More than a tick reads: the stop reads the rest. */
static void many_marks_are_told_by_the_stop(void)
{
    enum { MANY = 200000 };
    struct told_marks told = {0};
    vitals_run *run = open_marked(NULL, NULL, "", &told);
    CHECK_OK(vitals_run_start(run, &error), error);
    FILE *marks = fopen(vitals_run_marks_path(run), "a");
    CHECK(marks != NULL);
    for (int i = 0; i < MANY; i++)
        fprintf(marks, "begin the part of the work with the number %d\n", i);
    CHECK_INT(fclose(marks), 0);
    CHECK_OK(vitals_run_stop(run, &error), error);
    CHECK_INT(told.count, MANY);
    vitals_run_close(run);
}

/* A process that runs already, with a file of its own choice. */
static void marks_of_a_pid_are_told_from_now_on(void)
{
    struct told_marks told = {0};
    char path[] = "/tmp/vitals-test-XXXXXX", old[] = "begin\told\n", byte = 'x';
    int descriptor = mkstemp(path), ends[2];
    CHECK(descriptor >= 0);
    CHECK_INT(write(descriptor, old, sizeof old - 1), (long)sizeof old - 1);
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        setenv("VITALS_MARKS", path, 1);
        (void)!read(ends[0], &byte, 1);
        VITALS_BEGIN("epoch 1");
        _exit(0);
    }
    const int64_t pid = child;
    vitals_usage_options usage;
    vitals_usage_options_init(&usage, sizeof usage);
    usage.pids = &pid;
    usage.pid_count = 1;
    vitals_run *run = open_marked(NULL, &usage, path, &told);
    CHECK_STR(vitals_run_marks_path(run), path);
    CHECK_OK(vitals_run_start(run, &error), error);
    CHECK_INT(write(ends[1], &byte, 1), 1);
    CHECK_INT(vitals_run_wait(run, 60 * NS_PER_SECOND, &error), 1);
    CHECK_OK(vitals_run_stop(run, &error), error);
    vitals_run_close(run);
    CHECK_INT(told.count, 1);
    CHECK_STR(told.names[0], "epoch 1");
    CHECK_INT(told.pids[0], child);
    CHECK_INT(waitpid(child, NULL, 0), child);
    CHECK_INT(lseek(descriptor, 0, SEEK_END) > (long)sizeof old, 1); /* it stays, whole */
    close(descriptor);
    close(ends[0]);
    close(ends[1]);
    CHECK_INT(unlink(path), 0);
}

/* ---- our own threads ---- */

static void burn(double seconds)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < seconds);
}

/* A thread of the program that is called as ours are. It burns from stage 1 to stage 2, and ends at
 * stage 3. */
static void *burn_in_disguise(void *data)
{
    atomic_int *stage = data;
    pthread_setname_np(pthread_self(), "vitals-program");
    while (atomic_load(stage) < 1)
        usleep(1000);
    burn(0.3);
    atomic_store(stage, 2);
    while (atomic_load(stage) < 3)
        usleep(1000);
    return NULL;
}

static void a_name_makes_no_thread_ours(void)
{
    pthread_t thread;
    atomic_int stage = 0;
    vitals_run_options options;
    vitals_availability state;
    vitals_run *run = NULL;
    vitals_run_options_init(&options, sizeof options);
    CHECK_OK(vitals_run_open(&options, &run, &error), error);
    CHECK_INT(pthread_create(&thread, NULL, burn_in_disguise, &stage), 0);
    CHECK_OK(vitals_run_start(run, &error), error);
    atomic_store(&stage, 1);
    while (atomic_load(&stage) < 2)
        usleep(1000);
    vitals_account *account = account_of(run);
    CHECK(figure(account, VITALS_FIGURE_OWN_THREADS, &state) >= 1);
    CHECK(figure(account, VITALS_FIGURE_OWN_CPU_SECONDS, &state) < 0.25);
    vitals_account_free(account);
    atomic_store(&stage, 3);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_OK(vitals_run_stop(run, &error), error);
    vitals_run_close(run);
}

/* What vitals itself uses in the process that it measures is told apart, and is the rest of what
 * the program used: by its one thread's own clock. */
static void our_own_threads_are_told_apart(void)
{
    struct timespec before, after;
    vitals_run_options options;
    vitals_availability state;
    vitals_run *run = NULL;
    vitals_run_options_init(&options, sizeof options);
    options.interval_ns = 10000000; /* often, so that there is something to tell */
    CHECK_OK(vitals_run_open(&options, &run, &error), error);
    CHECK_OK(vitals_run_start(run, &error), error);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    burn((double)before.tv_sec + (double)before.tv_nsec / 1e9 + 0.3);
    vitals_account *account = account_of(run);
    CHECK(figure(account, VITALS_FIGURE_OWN_THREADS, &state) >= 1);
    CHECK_INT(state, VITALS_HAVE);
    double early = figure(account, VITALS_FIGURE_OWN_CPU_SECONDS, &state);
    CHECK(early > 0);
    vitals_account_free(account);
    CHECK_OK(vitals_run_stop(run, &error), error);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    account = account_of(run);
    double all = figure(account, VITALS_FIGURE_CPU_SECONDS, &state);
    double own = figure(account, VITALS_FIGURE_OWN_CPU_SECONDS, &state);
    double program = (double)(after.tv_sec - before.tv_sec) +
                     (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    CHECK(state == VITALS_HAVE || state == VITALS_LOWER_BOUND);
    CHECK(own >= early);
    /* A few clock steps, and what the sampler did between the two readings. */
    CHECK_NEAR(all - own, program, 0.06);
    vitals_account_free(account);
    vitals_run_close(run);
}

/* ---- children of other threads ---- */

struct birth {
    int hold; /* it ends when this does */
    pid_t pid;
};

static void *give_birth(void *data)
{
    struct birth *birth = data;
    char byte;
    birth->pid = fork();
    if (birth->pid == 0) {
        (void)!read(birth->hold, &byte, 1);
        _exit(3);
    }
    return NULL;
}

/* /proc lists it with the thread that forked it, which has ended. */
static void a_child_of_another_thread_is_not_reaped(void)
{
    int ends[2], status;
    pthread_t thread;
    vitals_usage_options usage;
    vitals_run_options options;
    vitals_run *run = NULL;
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(fcntl(ends[1], F_SETFD, FD_CLOEXEC), 0);
    struct birth birth = {.hold = ends[0]};
    CHECK_INT(pthread_create(&thread, NULL, give_birth, &birth), 0);
    pthread_join(thread, NULL);
    CHECK(birth.pid > 0);
    const int64_t pid = birth.pid;
    vitals_run_options_init(&options, sizeof options);
    vitals_usage_options_init(&usage, sizeof usage);
    usage.pids = &pid;
    usage.pid_count = 1;
    options.usage = &usage;
    options.interval_ns = 20000000;
    CHECK_OK(vitals_run_open(&options, &run, &error), error);
    CHECK_OK(vitals_run_start(run, &error), error);
    CHECK_INT(kill(birth.pid, SIGTERM), 0);
    CHECK_INT(vitals_run_wait(run, 60 * NS_PER_SECOND, &error), 1);
    vitals_account *account = account_of(run);
    vitals_run_close(run);
    CHECK_INT(waitpid(birth.pid, &status, 0), birth.pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    vitals_text told = vitals_account_attribute(account, "exit");
    CHECK(told.size == 0 || attribute_is(account, "exit", "143")); /* before Linux 5.4 unknown */
    vitals_account_free(account);
    close(ends[0]);
    close(ends[1]);
}

/* As multiprocessing does: what it copied is freed, and what is its parent's stays. */
static void a_fork_that_frees_it_leaves_it_alone(void)
{
    static const char *const ARGV[] = {"sh", "-c", "exit 7", NULL};
    vitals_run *run = open_command(ARGV, NULL);
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        vitals_run_close(run);
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(vitals_run_start(run, &error), error);
    CHECK_INT(vitals_run_wait(run, 60 * NS_PER_SECOND, &error), 1);
    vitals_account *account = account_of(run);
    CHECK_INT(vitals_account_exit_code(account), 7);
    vitals_account_free(account);
    vitals_run_close(run);
}

static const struct check_test tests[] = {
    {"a command is accounted for", a_command_is_accounted_for},
    {"names are constants", names_are_constants},
    {"a signal that ends it is told", a_signal_that_ends_it_is_told},
    {"a command that is none says so", a_command_that_is_none_says_so},
    {"what wait4 alone counts is a lower bound", what_wait4_alone_counts_is_a_lower_bound},
    {"what others reap leaves bounds", what_others_reap_leaves_bounds},
    {"each state comes once", each_state_comes_once},
    {"one that is not started never runs", one_that_is_not_started_never_runs},
    {"options that mean nothing are refused", options_that_mean_nothing_are_refused},
    {"an observer of another release is judged", an_observer_of_another_release_is_judged},
    {"nothing of the caller is changed", nothing_of_the_caller_is_changed},
    {"marks of our own are told", marks_of_our_own_are_told},
    {"marks of a command are told", marks_of_a_command_are_told},
    {"many marks are told by the stop", many_marks_are_told_by_the_stop},
    {"marks of a pid are told from now on", marks_of_a_pid_are_told_from_now_on},
    {"a name makes no thread ours", a_name_makes_no_thread_ours},
    {"our own threads are told apart", our_own_threads_are_told_apart},
    {"a child of another thread is not reaped", a_child_of_another_thread_is_not_reaped},
    {"a fork that frees it leaves it alone", a_fork_that_frees_it_leaves_it_alone},
};
CHECK_TESTS(tests)
