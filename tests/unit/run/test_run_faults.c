/* Runs whose clock is not as it should be: set while they run, asleep meanwhile, going back, or
 * leaping ahead; and signals that come from the kernel. What a kill or a full disk does is in
 * tests/command/test_run_faults.py. */
#include "check.h"

#include "util/base.h"
#include "util/memory.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>
#include <vitals/vitals.h>

static const uint64_t HOUR = 3600 * NS_PER_SECOND;

/* What each clock is ahead of the machine's, and from when on. */
struct faulty {
    uint64_t from_ns; /* of the machine's monotonic clock */
    int64_t monotonic, boottime, realtime;
    unsigned asked; /* of realtime: it is set anew each time */
};

static uint64_t shifted(const struct faulty *faulty, uint64_t now, int64_t by)
{
    const vitals_clock *machine = vitals_clock_system();
    return machine->monotonic_ns(machine->data) >= faulty->from_ns ? now + (uint64_t)by : now;
}

static uint64_t monotonic(void *data)
{
    const vitals_clock *machine = vitals_clock_system();
    const struct faulty *faulty = data;
    return shifted(faulty, machine->monotonic_ns(machine->data), faulty->monotonic);
}

static uint64_t boottime(void *data)
{
    const vitals_clock *machine = vitals_clock_system();
    const struct faulty *faulty = data;
    return shifted(faulty, machine->boottime_ns(machine->data), faulty->boottime);
}

/* To and fro. */
static uint64_t realtime(void *data)
{
    const vitals_clock *machine = vitals_clock_system();
    struct faulty *faulty = data;
    int64_t by = faulty->asked++ % 2 == 0 ? faulty->realtime : -faulty->realtime;
    return shifted(faulty, machine->realtime_ns(machine->data), by);
}

/* Deadlines are of the clock that is ahead; what is more than a second away is not waited for. */
static int wait_until(void *data, int descriptor, uint64_t deadline_ns)
{
    const vitals_clock *machine = vitals_clock_system();
    uint64_t now = monotonic(data), here = machine->monotonic_ns(machine->data);
    uint64_t wait = deadline_ns > now ? deadline_ns - now : 0;
    if (wait > NS_PER_SECOND)
        wait = NS_PER_SECOND;
    return machine->wait_until(machine->data, descriptor, here + wait);
}

static vitals_error error;

struct outcome {
    int exit_code, signal;
    double wall_seconds, cores;
    bool limited;
};

static double figure(const vitals_account *account, const char *name)
{
    const vitals_figure *found = vitals_account_find(account, name, "");
    double value;
    return found != NULL && vitals_figure_value(found, &value) > 0 ? value : (double)NAN;
}

static struct outcome run(struct faulty *faulty, const char *line, uint64_t limit_ns)
{
    const vitals_clock *machine = vitals_clock_system();
    const char *argv[] = {"sh", "-c", line, NULL};
    vitals_clock clock = {.size = sizeof clock,
                          .data = faulty,
                          .monotonic_ns = monotonic,
                          .boottime_ns = boottime,
                          .realtime_ns = realtime,
                          .wait_until = wait_until};
    vitals_options world;
    vitals_run_options options;
    vitals_account *account = NULL;
    vitals_options_init(&world, sizeof world);
    vitals_run_options_init(&options, sizeof options);
    faulty->from_ns = machine->monotonic_ns(machine->data) + 200 * NS_PER_MS;
    world.backends = "";
    world.clock = &clock;
    options.world = &world;
    options.argv = (char *const *)argv;
    options.interval_ns = 50 * NS_PER_MS;
    options.limit_ns = limit_ns;
    options.limit_grace_ns = 100 * NS_PER_MS;
    CHECK_OK(vitals_run_command(&options, &account, &error), error);
    struct outcome outcome = {.exit_code = vitals_account_exit_code(account),
                              .signal = vitals_account_signal(account),
                              .wall_seconds = figure(account, "wall_seconds"),
                              .cores = figure(account, "cpu_cores"),
                              .limited = vitals_account_attribute(account, "limit").size > 0};
    vitals_account_free(account);
    return outcome;
}

/* A command of half a second or somewhat more, in the middle of which the clock changes. */
static const char HALF_A_SECOND[] = "sleep 0.5; exit 5";

static void check_half_a_second(const struct outcome *outcome)
{
    CHECK_INT(outcome->exit_code, 5);
    CHECK_FALSE(outcome->limited);
    CHECK(outcome->wall_seconds > 0.4);
    CHECK(outcome->wall_seconds < 60);
    CHECK(!(outcome->cores > 2)); /* a shell and a sleep */
}

static void a_clock_that_is_set_changes_nothing(void)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        struct faulty faulty = {.realtime = sign * 400 * 24 * (int64_t)HOUR};
        struct outcome outcome = run(&faulty, HALF_A_SECOND, HOUR);
        check_half_a_second(&outcome);
    }
}

/* What suspends the machine stops the monotonic clock, and that since boot goes on. */
static void sleep_of_the_machine_is_no_time_of_the_run(void)
{
    struct faulty faulty = {.boottime = 30 * (int64_t)HOUR, .realtime = 30 * (int64_t)HOUR};
    struct outcome outcome = run(&faulty, HALF_A_SECOND, HOUR);
    check_half_a_second(&outcome);
}

/* Processes are told apart by when they began: a clock that leaps must not save one from its end.
 */
static void what_began_before_a_leap_can_be_killed(void)
{
    struct faulty faulty = {.boottime = 30 * (int64_t)HOUR, .realtime = -30 * (int64_t)HOUR};
    struct outcome outcome = run(
        &faulty, "trap '' TERM; (trap '' TERM; sleep 61 & wait) & sleep 62", 400 * NS_PER_MS);
    CHECK_INT(outcome.limited, 1);
    CHECK_INT(outcome.signal, SIGKILL);
    CHECK(outcome.wall_seconds < 50);
}

/* No kernel does it, but a program's own clock may. */
static void a_clock_that_goes_back_ends_nobody(void)
{
    struct faulty faulty = {.monotonic = -(int64_t)HOUR / 60};
    struct outcome outcome = run(&faulty, HALF_A_SECOND, HOUR);
    CHECK_INT(outcome.exit_code, 5);
    CHECK_FALSE(outcome.limited);
    CHECK(outcome.wall_seconds >= 0);
    CHECK(outcome.wall_seconds < 60);
}

/* A virtual machine that was stopped: its time is over, as every other clock of it says. */
static void a_clock_that_leaps_is_believed(void)
{
    struct faulty faulty = {.monotonic = 2 * (int64_t)HOUR};
    struct outcome outcome = run(&faulty, "sleep 60", HOUR);
    CHECK_INT(outcome.limited, 1);
    CHECK_INT(outcome.signal, SIGTERM);
    CHECK(outcome.wall_seconds >= 7200);
}

/* ---- signals ---- */

static int told;

static void on_profile(int signal)
{
    told = signal;
}

/* What a program handles is its own; what it does not is meant for the command. */
static void a_callers_own_signals_stay_its_own(void)
{
    struct faulty faulty = {.asked = 0};
    const struct sigaction action = {.sa_handler = on_profile};
    char line[160];
    CHECK_INT(sigaction(SIGPROF, &action, NULL), 0);
    (void)snprintf(line, sizeof line, "kill -PROF %d; sleep 0.3; exit 5", (int)getpid());
    struct outcome outcome = run(&faulty, line, 0);
    CHECK_INT(outcome.exit_code, 5);
    CHECK_INT(told, SIGPROF);
    (void)signal(SIGPROF, SIG_DFL);
    (void)snprintf(line, sizeof line, "kill -PROF %d; exec sleep 60", (int)getpid());
    outcome = run(&faulty, line, 0);
    CHECK_INT(outcome.signal, SIGPROF);
}

static const check_test tests[] = {
    {"a clock that is set changes nothing", a_clock_that_is_set_changes_nothing},
    {"sleep of the machine is no time of the run", sleep_of_the_machine_is_no_time_of_the_run},
    {"what began before a leap can be killed", what_began_before_a_leap_can_be_killed},
    {"a clock that goes back ends nobody", a_clock_that_goes_back_ends_nobody},
    {"a clock that leaps is believed", a_clock_that_leaps_is_believed},
    {"a caller's own signals stay its own", a_callers_own_signals_stay_its_own},
};
CHECK_TESTS(tests)
