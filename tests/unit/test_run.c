/* vitals_run_command as a program calls it. What the command and its descendants notice is in
 * tests/command/test_run.py. */
#include "check.h"

#include "core/base.h"
#include "core/memory.h"
#include "run/account.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
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
    options.argv = argv;
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
    options.argv = NONE;
    CHECK_INT(vitals_run_command(&options, &account, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "no command");
    options.argv = TRUE;
    static const uint64_t OUTSIDE[] = {0, 10 * NS_PER_MS - 1, 86400 * NS_PER_SECOND + 1,
                                       UINT64_MAX};
    for (size_t i = 0; i < CHECK_COUNT(OUTSIDE); i++) {
        options.interval_ns = OUTSIDE[i];
        CHECK_INT(vitals_run_command(&options, &account, &error), VITALS_EARGUMENT);
        CHECK_CONTAINS(error.message, "10 ms to 1 day");
    }
    options.interval_ns = NS_PER_SECOND;
    options.size--;
    CHECK_INT(vitals_run_command(&options, &account, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "vitals_run_options");
    CHECK_NULL(account);
}

static int64_t run_in(vitals_options *world)
{
    static const char *const EXIT[] = {"sh", "-c", "exit 5", NULL};
    vitals_account *account = NULL;
    vitals_run_options options;
    vitals_run_options_init(&options, sizeof options);
    options.argv = EXIT;
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
    options.known.argv = EXIT;
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
        {"/", 126, "ermission denied"},
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
        CHECK_STR(vitals_figure_subject(figure), "");
        CHECK_STR(vitals_figure_label(figure), "");
        CHECK(vitals_account_find(account, name, "") == figure); /* each name once */
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

/* ---- figures of facts ---- */

static void devices_are_told_apart_by_their_uuid(void)
{
    static struct watch_report watched = {
        .gpu_count = 2,
        .gpus = {{.label = "0",
                  .used = true,
                  .uuid = "GPU-a",
                  .memory_peak_bytes = {.as.u64 = 1 << 20, .state = VITALS_SAMPLED},
                  .busy_seconds = {.as.f64 = 5, .state = VITALS_SAMPLED}},
                 {.label = "1:0",
                  .used = true,
                  .memory_peak_bytes = {.state = VITALS_UNSUPPORTED},
                  .busy_seconds = {.state = VITALS_NOT_YET}}}};
    struct run_facts facts = {
        .wall_seconds = 10, .interval_ns = 250 * NS_PER_MS, .watched = &watched};
    vitals_account *account = account_new();
    double value = -1;
    account_fill(account, &facts);
    const vitals_figure *ratio = vitals_account_find(account, "gpu_busy_ratio", "GPU-a");
    CHECK_INT(vitals_figure_value(ratio, &value), VITALS_SAMPLED);
    CHECK_NEAR(value, 0.5, 1e-9);
    CHECK_STR(vitals_figure_label(ratio), "GPU 0");
    CHECK_STR(vitals_figure_source(ratio), "driver, every 250 ms");
    const vitals_figure *busy = vitals_account_find(account, "gpu_busy_seconds", "GPU-a");
    CHECK_INT(vitals_figure_value(busy, &value), VITALS_SAMPLED);
    CHECK_NEAR(value, 5, 1e-9);
    const vitals_figure *memory = vitals_account_find(account, "gpu_memory_peak_bytes", "1:0");
    CHECK_INT(vitals_figure_value(memory, &value), VITALS_UNSUPPORTED);
    CHECK_STR(vitals_figure_label(memory), "GPU 1:0");
    CHECK_STR(vitals_figure_source(memory), vitals_availability_help(VITALS_UNSUPPORTED));
    CHECK_NULL(vitals_account_find(account, "gpu_busy_ratio", ""));
    vitals_account_free(account);
}

static void who_tells_nothing_of_its_devices_is_said(void)
{
    static struct watch_report watched = {
        .gpu_count = 3,
        .gpus = {{.label = "0", .uuid = "GPU-a", .unread = VITALS_TIMED_OUT},
                 {.label = "1", .unread = VITALS_DENIED},
                 {.label = "2"}},
        .gpus_left_out = 3,
        .source_count = 4,
        .sources = {{.label = "nvidia", .message = "no permission", .state = VITALS_DENIED},
                    {.label = "silent", .state = VITALS_NOT_YET},
                    {.label = "absent", .message = "no library", .state = VITALS_UNSUPPORTED},
                    {.label = "well", .message = "2 devices", .state = VITALS_HAVE}}};
    static const struct {
        const char *subject, *label, *source;
        vitals_availability state;
    } ROWS[] = {{"GPU-a", "GPU 0", "the driver has not answered", VITALS_TIMED_OUT},
                {"1", "GPU 1", NULL, VITALS_DENIED},
                {"nvidia", "GPU nvidia", "no permission", VITALS_DENIED},
                {"silent", "GPU silent", "the driver has not answered", VITALS_NOT_YET}};
    static const char *const SAY_NOTHING[] = {"2", "absent", "well"};
    struct run_facts facts = {
        .wall_seconds = 10, .interval_ns = NS_PER_SECOND, .watched = &watched};
    vitals_account *account = account_new();
    double value = -1;
    account_fill(account, &facts);
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        const char *source = ROWS[i].source;
        CHECK_CASE(ROWS[i].subject);
        const vitals_figure *memory = vitals_account_find(account, "gpu_memory_peak_bytes",
                                                          ROWS[i].subject);
        CHECK_NOT_NULL(memory);
        CHECK_INT(vitals_figure_value(memory, &value), ROWS[i].state);
        CHECK_STR(vitals_figure_label(memory), ROWS[i].label);
        CHECK_STR(vitals_figure_source(memory),
                  source != NULL ? source : vitals_availability_help(ROWS[i].state));
        CHECK_NULL(vitals_account_find(account, "gpu_busy_ratio", ROWS[i].subject));
    }
    for (size_t i = 0; i < CHECK_COUNT(SAY_NOTHING); i++) {
        CHECK_CASE(SAY_NOTHING[i]);
        CHECK_NULL(vitals_account_find(account, "gpu_memory_peak_bytes", SAY_NOTHING[i]));
    }
    CHECK_CASE(NULL);
    const vitals_figure *left = vitals_account_find(account, "gpus_not_counted", "");
    CHECK_NOT_NULL(left);
    CHECK_INT(vitals_figure_value(left, &value), VITALS_LOWER_BOUND);
    CHECK_NEAR(value, 3, 0);
    vitals_account_free(account);
}

static void every_device_of_a_full_report_has_its_figures(void)
{
    static struct watch_report watched;
    struct run_facts facts = {
        .wall_seconds = 10, .interval_ns = NS_PER_SECOND, .left = 1, .watched = &watched};
    watched.gpu_count = WATCH_GPUS_MAX;
    for (unsigned i = 0; i < WATCH_GPUS_MAX; i++) {
        snprintf(watched.gpus[i].label, WATCH_LABEL, "%u", i);
        watched.gpus[i].used = true;
        watched.gpus[i].memory_peak_bytes = value_u64(i);
    }
    watched.source_count = WATCH_SOURCES_MAX;
    for (unsigned i = 0; i < WATCH_SOURCES_MAX; i++)
        watched.sources[i].state = VITALS_FAILED;
    watched.gpus_left_out = 1;
    vitals_account *account = account_new();
    double value = -1;
    account_fill(account, &facts);
    const vitals_figure *last = vitals_account_find(account, "gpu_memory_peak_bytes", "127");
    CHECK_NOT_NULL(last);
    CHECK_INT(vitals_figure_value(last, &value), VITALS_HAVE);
    CHECK_NEAR(value, 127, 0);
    CHECK_NOT_NULL(vitals_account_find(account, "gpus_not_counted", ""));
    vitals_account_free(account);
}

static void a_sampler_that_did_not_answer_is_said(void)
{
    struct run_facts facts = {.wall_seconds = 1, .interval_ns = NS_PER_SECOND};
    vitals_account *account = account_new();
    double value;
    account_fill(account, &facts);
    const vitals_figure *low = vitals_account_find(account, "memory_peak_low_bytes", "");
    CHECK_INT(vitals_figure_value(low, &value), VITALS_TIMED_OUT);
    CHECK_STR(vitals_figure_source(low), "the sampler had no time to answer");
    vitals_account_free(account);
}

/* ---- what is left behind ---- */

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK_NOT_NULL(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

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
    size_t descriptors = open_descriptors();
    int64_t live = memory_live();
    for (int i = 0; i < 3; i++)
        vitals_account_free(run_shell("exit 1"));
    CHECK_UINT(open_descriptors(), descriptors);
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

static void any_allocation_may_fail(void)
{
    static const char *const COMMAND[] = {"sh", "-c", "exit 7", NULL};
    int64_t live = memory_live();
    size_t descriptors = open_descriptors();
    int refused = 0, runs = 0;
    for (uint64_t n = 1; n < 60 && runs < 10; n++) {
        char name[32];
        snprintf(name, sizeof name, "allocation %llu", (unsigned long long)n);
        CHECK_CASE(name);
        vitals_account *account = NULL;
        memory_fail_at(n);
        int code = run(COMMAND, &account);
        memory_fail_at(0);
        if (code < 0) {
            CHECK_NULL(account);
            refused++;
            CHECK_INT(runs, 0); /* nothing fails any more once the command has begun */
        } else {
            CHECK_INT(vitals_account_exit_code(account), 7);
            vitals_account_free(account);
            runs++;
        }
        CHECK_INT(memory_live(), live);
        CHECK_UINT(open_descriptors(), descriptors);
    }
    CHECK(refused >= 3);
    CHECK_INT(runs, 10);
}

static const check_test tests[] = {
    {"options that cannot be run are refused", options_that_cannot_be_run_are_refused},
    {"a newer caller's options are taken where they ask for nothing new",
     a_newer_callers_options_are_taken_where_they_ask_for_nothing_new},
    {"a clock that cannot wait costs the command nothing",
     a_clock_that_cannot_wait_costs_the_command_nothing},
    {"the exit code is what a shell would say", the_exit_code_is_what_a_shell_would_say},
    {"a command that cannot be started says why", a_command_that_cannot_be_started_says_why},
    {"every figure says what it is and how it was got",
     every_figure_says_what_it_is_and_how_it_was_got},
    {"devices are told apart by their UUID", devices_are_told_apart_by_their_uuid},
    {"who tells nothing of its devices is said", who_tells_nothing_of_its_devices_is_said},
    {"every device of a full report has its figures",
     every_device_of_a_full_report_has_its_figures},
    {"a sampler that did not answer is said", a_sampler_that_did_not_answer_is_said},
    {"runs do not count each other's processes", runs_do_not_count_each_others_processes},
    {"the caller gets back what was its own", the_caller_gets_back_what_was_its_own},
    {"any allocation may fail", any_allocation_may_fail},
};
CHECK_MAIN(tests)
