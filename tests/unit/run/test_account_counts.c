/* How many processes a run had, in all and at once, and what a machine did meanwhile: what may be
 * called exact of it. */
#include "account_world.h"

#include "util/base.h"

static vitals_error error;
static struct counted counts[COUNTED_COUNT];

static void begin_counts(void)
{
    for (size_t i = 0; i < COUNTED_COUNT; i++)
        counts[i] = (struct counted){.value = value_missing(VITALS_UNSUPPORTED)};
}

static void count(enum quantity quantity, double value, const char *source)
{
    if (value <= 0)
        return;
    counts[quantity].value = value_f64(value);
    snprintf(counts[quantity].source, sizeof counts[quantity].source, "%s", source);
}

static void add(vitals_account *account, const char *name, const char *subject, double value,
                vitals_availability state)
{
    const vitals_figure_form form = {.size = sizeof(vitals_figure_form),
                                     .name = name,
                                     .subject = subject,
                                     .source = "a test",
                                     .state = state,
                                     .value = value};
    CHECK_OK(vitals_account_add(account, &form, &error), error);
}

/* Of a run with these counts. */
static vitals_account *account_of(const vitals_account *watched, uint64_t reaped)
{
    vitals_account *account = account_new();
    const struct run_outcome outcome = {
        .wall_seconds = 1, .reaped = reaped, .counted = counts, .watched = watched};
    account_fill(account, &outcome);
    return account;
}

/* ---- processes ---- */

static void who_counted_fewer_than_there_were_is_not_exact(void)
{
    static const struct {
        const char *what;
        double counted, seen;
        uint64_t reaped;
        double told;
        vitals_availability state;
    } ROWS[] = {
        {"all", 4, 4, 2, 4, VITALS_HAVE},
        {"more than samples saw", 9, 4, 2, 9, VITALS_HAVE},
        {"fewer than samples saw", 2, 4, 1, 4, VITALS_LOWER_BOUND},
        {"fewer than were reaped", 2, 1, 3, 3, VITALS_LOWER_BOUND},
        {"not at all", 0, 4, 7, 7, VITALS_LOWER_BOUND},
    };
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].what);
        vitals_availability state;
        vitals_account *watched = new_account();
        begin_counts();
        count(COUNTED_PROCESSES, ROWS[i].counted, "taskstats");
        add(watched, "processes_seen", "", ROWS[i].seen, VITALS_LOWER_BOUND);
        vitals_account *account = account_of(watched, ROWS[i].reaped);
        CHECK_NEAR(value_of(account, "processes", "", &state), ROWS[i].told, 0);
        CHECK_INT(state, ROWS[i].state);
        vitals_account_free(account);
        vitals_account_free(watched);
    }
}

static void who_left_the_cgroup_is_more_than_its_tasks(void)
{
    static const struct {
        const char *what;
        double tasks, total, seen;
        vitals_availability tasks_state, state;
    } ROWS[] = {
        {"nobody knows how many there were", 2, 0, 22, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
        {"more came than were seen at once", 2, 90, 22, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
        {"fewer in all than were seen at once", 2, 3, 22, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
        {"there were no more in all", 2, 22, 22, VITALS_LOWER_BOUND, VITALS_HAVE},
        {"nobody left", 22, 22, 22, VITALS_HAVE, VITALS_HAVE},
    };
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].what);
        vitals_availability state;
        vitals_account *watched = new_account();
        begin_counts();
        count(COUNTED_TASKS_PEAK, ROWS[i].tasks, "pids.peak");
        count(COUNTED_PROCESSES, ROWS[i].total, "taskstats");
        add(watched, "processes_peak", "", ROWS[i].seen, VITALS_SAMPLED);
        add(watched, "processes_seen", "", ROWS[i].seen, VITALS_LOWER_BOUND);
        vitals_account *account = account_of(watched, 1);
        CHECK_NEAR(value_of(account, "processes_peak", "", &state), ROWS[i].seen, 0);
        CHECK_INT(state, ROWS[i].state);
        CHECK_NEAR(value_of(account, "tasks_peak", "", &state), ROWS[i].seen, 0);
        CHECK_INT(state, ROWS[i].tasks_state);
        vitals_account_free(account);
        vitals_account_free(watched);
    }
}

/* Records of ends know nothing of what still runs: the sampled count may be the larger. */
static void of_two_counts_of_bytes_the_larger_has_missed_less(void)
{
    static const struct {
        const char *what;
        double counted, sampled, told;
        vitals_availability counted_state, state;
    } ROWS[] = {
        {"more was counted", 900, 700, 900, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
        {"more was sampled", 100, 700, 700, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
        {"all was counted", 100, 700, 100, VITALS_HAVE, VITALS_HAVE},
    };
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].what);
        vitals_availability state;
        vitals_account *watched = new_account();
        const vitals_figure_form sampled = {.size = sizeof(vitals_figure_form),
                                            .name = "call_written_bytes",
                                            .unit = "bytes",
                                            .source = "a test",
                                            .state = VITALS_SAMPLED,
                                            .value = ROWS[i].sampled};
        begin_counts();
        count(COUNTED_CALL_WRITTEN_BYTES, ROWS[i].counted, "taskstats");
        counts[COUNTED_CALL_WRITTEN_BYTES].value.state = (signed char)ROWS[i].counted_state;
        CHECK_OK(vitals_account_add(watched, &sampled, &error), error);
        vitals_account *account = account_of(watched, 1);
        CHECK_NEAR(value_of(account, "call_written_bytes", "", &state), ROWS[i].told, 0);
        CHECK_INT(state, ROWS[i].state);
        vitals_account_free(account);
        vitals_account_free(watched);
    }
}

/* If one figure of a cgroup is a bound, so are its others: they lack the pages and CPU time of a
 * process that has left. */
static void a_cgroup_that_somebody_left_tells_bounds(void)
{
    static const struct {
        const char *source;
        double seen;
        vitals_availability state;
    } ROWS[] = {{"cgroup v2", 2, VITALS_HAVE},
                {"cgroup v2", 9, VITALS_LOWER_BOUND},
                {"wait4", 9, VITALS_HAVE}};
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        vitals_availability state;
        vitals_account *watched = new_account();
        begin_counts();
        count(COUNTED_TASKS_PEAK, 3, "cgroup v2 pids.peak");
        count(COUNTED_MEMORY_PEAK_BYTES, 5e6, ROWS[i].source);
        count(COUNTED_READ_BYTES, 4096, ROWS[i].source);
        add(watched, "processes_peak", "", ROWS[i].seen, VITALS_SAMPLED);
        vitals_account *account = account_of(watched, 1);
        (void)value_of(account, "memory_peak_bytes", "", &state);
        CHECK_INT(state, ROWS[i].state);
        (void)value_of(account, "disk_read_bytes", "", &state);
        CHECK_INT(state, ROWS[i].state);
        vitals_account_free(account);
        vitals_account_free(watched);
    }
}

/* As of a file in the page cache that one process maps: it was charged to its first reader. */
static void pages_of_files_show_nobody_who_left(void)
{
    static const struct {
        double private, anonymous;
        vitals_availability state;
    } ROWS[] = {{300e6, 4e6, VITALS_HAVE}, {300e6, 290e6, VITALS_LOWER_BOUND}};
    static const char *const NAMES[] = {"cpu_seconds", "memory_peak_bytes", "disk_read_bytes"};
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        vitals_availability state;
        vitals_account *watched = new_account();
        begin_counts();
        count(COUNTED_MEMORY_PEAK_BYTES, 5e6, "cgroup v1");
        count(COUNTED_CPU_SECONDS, 2, "cgroup v1");
        count(COUNTED_READ_BYTES, 4096, "cgroup v1");
        add(watched, "memory_private_peak_bytes", "", ROWS[i].private, VITALS_SAMPLED);
        add(watched, ANONYMOUS_LARGEST, "", ROWS[i].anonymous, VITALS_LOWER_BOUND);
        vitals_account *account = account_of(watched, 1);
        for (size_t k = 0; k < CHECK_COUNT(NAMES); k++) {
            CHECK_CASE(NAMES[k]);
            (void)value_of(account, NAMES[k], "", &state);
            CHECK_INT(state, ROWS[i].state);
        }
        vitals_account_free(account);
        vitals_account_free(watched);
    }
}

/* A cgroup counts tasks, of which threads are some. */
static void threads_are_no_processes(void)
{
    static const struct {
        const char *what;
        double tasks, total, seen, told;
        vitals_availability state;
    } ROWS[] = {
        {"one process of many threads", 51, 1, 1, 1, VITALS_HAVE},
        {"as many were seen at once", 4, 0, 4, 4, VITALS_HAVE},
        {"threads, or processes between samples", 51, 0, 2, 2, VITALS_SAMPLED},
        {"nobody was seen, and only tasks are known", 3, 0, 0, 3, VITALS_UPPER_BOUND},
        {"nobody was seen of a single task", 1, 0, 0, 1, VITALS_HAVE},
        {"more came than were there at once", 4, 90, 3, 3, VITALS_SAMPLED},
        {"there were no more in all", 0, 3, 3, 3, VITALS_HAVE},
    };
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].what);
        vitals_availability state;
        vitals_account *watched = new_account();
        begin_counts();
        count(COUNTED_TASKS_PEAK, ROWS[i].tasks, "pids.peak");
        count(COUNTED_PROCESSES, ROWS[i].total, "taskstats");
        if (ROWS[i].seen > 0)
            add(watched, "processes_peak", "", ROWS[i].seen, VITALS_SAMPLED);
        vitals_account *account = account_of(watched, 1);
        CHECK_NEAR(value_of(account, "processes_peak", "", &state), ROWS[i].told, 0);
        CHECK_INT(state, ROWS[i].state);
        if (ROWS[i].tasks > 0) {
            CHECK_NEAR(value_of(account, "tasks_peak", "", &state), ROWS[i].tasks, 0);
            CHECK_INT(state, VITALS_HAVE);
        }
        vitals_account_free(account);
        vitals_account_free(watched);
    }
}

/* ---- the machine ---- */

/* What it did before the first sample is in no counter of ours. */
static void counters_of_the_machine_begin_with_the_first_sample(void)
{
    static const struct {
        const char *what;
        double sampled_seconds;
        vitals_availability state;
    } ROWS[] = {{"from the beginning", 1, VITALS_HAVE}, {"later", 0.9, VITALS_LOWER_BOUND}};
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].what);
        vitals_availability state;
        vitals_account *watched = new_account();
        begin_counts();
        add(watched, "wall_seconds", "", ROWS[i].sampled_seconds, VITALS_SAMPLED);
        add(watched, "disk_written_bytes", "system", 4096, VITALS_HAVE);
        add(watched, "memory_used_peak_bytes", "system", 1e9, VITALS_SAMPLED);
        vitals_account *account = account_of(watched, 0);
        (void)value_of(account, "disk_written_bytes", "system", &state);
        CHECK_INT(state, ROWS[i].state);
        (void)value_of(account, "memory_used_peak_bytes", "system", &state);
        CHECK_INT(state, VITALS_SAMPLED);
        vitals_account_free(account);
        vitals_account_free(watched);
    }
}

static const check_test tests[] = {
    {"who counted fewer than there were is not exact",
     who_counted_fewer_than_there_were_is_not_exact},
    {"threads are no processes", threads_are_no_processes},
    {"who left the cgroup is more than its tasks", who_left_the_cgroup_is_more_than_its_tasks},
    {"of two counts of bytes the larger has missed less",
     of_two_counts_of_bytes_the_larger_has_missed_less},
    {"a cgroup that somebody left tells bounds", a_cgroup_that_somebody_left_tells_bounds},
    {"pages of files show nobody who left", pages_of_files_show_nobody_who_left},
    {"counters of the machine begin with the first sample",
     counters_of_the_machine_begin_with_the_first_sample},
};
CHECK_TESTS(tests)
