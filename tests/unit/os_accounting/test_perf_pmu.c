/* Counters of a performance monitoring unit: the kernel's own of software, which every machine has,
 * stands for a device's. */
#include "check.h"

#include "os/linux/accounting/count.h"
#include "os/os.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct os open_os(const char *proc_root, const char *sys_root)
{
    struct os os;
    vitals_options options = {.size = sizeof options, .proc_root = proc_root, .sys_root = sys_root};
    vitals_error error;
    CHECK_OK(os_open(&os, &options, &error), error);
    return os;
}

static const struct os_perf_event CLOCK = {{PERF_COUNT_SW_CPU_CLOCK, 0, 0}};
static const struct os_perf_event SWITCHES = {{PERF_COUNT_SW_CONTEXT_SWITCHES, 0, 0}};

static void counters_of_a_group_are_read_together(void)
{
    struct os os = open_os(NULL, NULL);
    struct os_perf perf = {0};
    uint64_t first[2], now[2];
    int result = os_perf_add(&os, &perf, PERF_TYPE_SOFTWARE, 0, &CLOCK);
    if (result == -EACCES || result == -EPERM || result == -ENOSYS || result == -ENOTSUP)
        CHECK_SKIP("counting a whole CPU is not permitted here");
    CHECK_INT(result, 0);
    CHECK_INT(os_perf_add(&os, &perf, PERF_TYPE_SOFTWARE, 0, &SWITCHES), 0);
    CHECK_UINT(perf.count, 2);
    CHECK_INT(os_perf_read(&perf, first), 0);
    uint64_t begin_ns = os.clock.monotonic_ns(os.clock.data), spent_ns;
    do {
        CHECK_INT(os_perf_read(&perf, now), 0);
        spent_ns = os.clock.monotonic_ns(os.clock.data) - begin_ns;
    } while (now[0] == first[0] && spent_ns < 10 * NS_PER_SECOND);
    CHECK(now[0] > first[0]);
    CHECK(now[0] - first[0] <= spent_ns + NS_PER_SECOND); // it counts nanoseconds
    CHECK(now[1] >= first[1]);
    os_perf_close(&perf);
    CHECK_UINT(perf.count, 0);
    CHECK_INT(os_perf_read(&perf, now), -ENODATA);
    os_close(&os);
}

static void what_the_unit_does_not_have_changes_nothing(void)
{
    struct os os = open_os(NULL, NULL);
    struct os_perf perf = {0};
    static const struct os_perf_event none = {{PERF_COUNT_SW_MAX + 100, 0, 0}};
    int result = os_perf_add(&os, &perf, PERF_TYPE_SOFTWARE, 0, &none);
    CHECK(result < 0);
    CHECK(os_perf_add(&os, &perf, UINT32_MAX, 0, &CLOCK) < 0);
    CHECK_UINT(perf.count, 0);
    perf.count = OS_PERF_EVENTS;
    CHECK_INT(os_perf_add(&os, &perf, PERF_TYPE_SOFTWARE, 0, &CLOCK), -E2BIG);
    os_close(&os);
}

/* A type of another machine's /sys would be another unit here. */
static void over_files_of_another_machine_nothing_is_counted(void)
{
    struct os_perf perf = {0};
    struct os os = open_os(check_fixture("proc/facts"), NULL);
    CHECK_INT(os_perf_add(&os, &perf, PERF_TYPE_SOFTWARE, 0, &CLOCK), -ENOTSUP);
    os_close(&os);
    os = open_os(NULL, check_fixture("host/sensors/sys"));
    CHECK_INT(os_perf_add(&os, &perf, PERF_TYPE_SOFTWARE, 0, &CLOCK), -ENOTSUP);
    os_close(&os);
    CHECK_UINT(perf.count, 0);
}

static void what_was_stolen_is_no_cpu_time(void)
{
    static const struct {
        const char *name;
        double seconds;
        uint64_t before, now;
        double left; /* -1: not known */
    } ROWS[] = {
        {"nothing is ever stolen", 3, 0, 0, 3},
        {"nothing meanwhile: less than a tick", 3, 70, 70, 2.99},
        {"some", 3, 70, 169, 2},
        {"more than there was, from other CPUs", 3, 70, 900, 0},
        {"the count went backwards", 3, 70, 69, -1},
        {"it began anew", 3, 70, 0, -1},
    };
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        double left = -1;
        CHECK_CASE(ROWS[i].name);
        CHECK_INT(count_without_stolen(ROWS[i].seconds, ROWS[i].before, ROWS[i].now, 100, &left),
                  ROWS[i].left >= 0);
        CHECK_NEAR(left, ROWS[i].left, 1e-9);
    }
}

static void put_stolen(const char *folder, unsigned ticks)
{
    char path[96];
    (void)snprintf(path, sizeof path, "%s/stat", folder);
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    fprintf(file, "cpu  5 0 5 900 0 0 0 %u 0 0\n", ticks);
    CHECK_INT(fclose(file), 0);
}

/* A child that works for 0.2 s, of which another machine's /proc/stat says that 50 ms were stolen.
 */
static void perf_tells_no_stolen_time(void)
{
    enum { TICKS = 5, BEFORE = 70 };
    char folder[] = "/tmp/vitals-perf-XXXXXX", path[96];
    int go[2];
    os_quantities counts;
    struct counted told[COUNTED_COUNT] = {0};
    CHECK_NOT_NULL(mkdtemp(folder));
    put_stolen(folder, BEFORE);
    struct os os = open_os(folder, NULL);
    const struct os_count_options options = {.os = &os};
    void *state = calloc(1, count_perf.size);
    os.live = true; /* its pids are ours */
    CHECK_INT(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(go[1]);
        (void)!read(go[0], &byte, 1);
        while (clock() < CLOCKS_PER_SEC / 5)
            ;
        _exit(0);
    }
    CHECK(pid > 0);
    bool permitted = count_perf.open(state, &options, &counts) == 0 &&
                     count_perf.child(state, pid, &counts) == 0;
    close(go[0]);
    close(go[1]);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    put_stolen(folder, BEFORE + TICKS);
    if (permitted)
        count_perf.read(state, told);
    double clock = permitted ? count_perf.most_cpu_seconds(state) : 0;
    count_perf.close(state);
    free(state);
    os_close(&os);
    (void)snprintf(path, sizeof path, "%s/stat", folder);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(folder), 0);
    if (!permitted)
        CHECK_SKIP("perf is not permitted here");
    CHECK_INT(told[COUNTED_CPU_SECONDS].value.state, VITALS_LOWER_BOUND);
    CHECK(clock >= 0.1);
    CHECK_NEAR(told[COUNTED_CPU_SECONDS].value.as.f64, clock - (TICKS + 1) / os.ticks_per_second,
               1e-9);
}

static const check_test tests[] = {
    {"what was stolen is no CPU time", what_was_stolen_is_no_cpu_time},
    {"perf tells no stolen time", perf_tells_no_stolen_time},
    {"counters of a group are read together", counters_of_a_group_are_read_together},
    {"what the unit does not have changes nothing", what_the_unit_does_not_have_changes_nothing},
    {"over files of another machine nothing is counted",
     over_files_of_another_machine_nothing_is_counted},
};
CHECK_TESTS(tests)
