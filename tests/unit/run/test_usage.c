/* Usages: what is made of snapshots that a test builds. Counters and devices have files of their
 * own. */
#include "usage_world.h"

#include "util/memory.h"

static struct world world;

/* ---- gauges ---- */

static void a_mean_is_over_time(void)
{
    world_init(&world);
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    root->resident = 100;
    world_tick(&world, usage);
    world_tick(&world, usage);
    world.seconds += 8; /* nine seconds in all, from 100 to 300 */
    root->resident = 300;
    world_tick(&world, usage);
    CHECK_NEAR(figure_of(usage, "memory_resident_mean_bytes", "", NULL), (100 + 200 * 9) / 10.0,
               1e-6);
    CHECK_NEAR(figure_of(usage, "memory_resident_peak_bytes", "", NULL), 300, 0);
    CHECK_NEAR(figure_of(usage, "memory_resident_min_bytes", "", NULL), 100, 0);
    CHECK_NEAR(figure_of(usage, "threads_peak", "", NULL), 1, 0);
    world_done(&world, usage);
}

static void what_is_missing_is_in_no_mean(void)
{
    world_init(&world);
    vitals_availability state;
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    root->resident = 100;
    world_tick(&world, usage);
    world_tick(&world, usage);
    root->resident = (double)NAN;
    world_tick(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "memory_resident_bytes", &state);
    CHECK_INT(state, VITALS_DENIED);
    world.seconds += 100;
    root->resident = 100;
    world_tick(&world, usage);
    world_tick(&world, usage);
    CHECK_NEAR(figure_of(usage, "memory_resident_mean_bytes", "", NULL), 100, 1e-9);
    CHECK_NEAR(figure_of(usage, "memory_resident_min_bytes", "", NULL), 100, 0);
    world_done(&world, usage);
}

/* A tree that has ended holds nothing: that is no least value of its memory. */
static void the_end_of_a_tree_is_no_reading(void)
{
    world_init(&world);
    vitals_availability state;
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    root->resident = root->peak = 500;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world.process_count = 0;
    world_tick(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "memory_resident_bytes", &state);
    CHECK_INT(state, VITALS_GONE);
    CHECK_NEAR(figure_of(usage, "memory_resident_min_bytes", "", NULL), 500, 0);
    CHECK_NEAR(figure_of(usage, "memory_peak_low_bytes", "", &state), 500, 0);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    world_done(&world, usage);
}

static void shared_pages_are_counted_once(void)
{
    world_init(&world);
    vitals_availability state;
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    root->resident = 1000;
    root->unique = 400;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 600, 0);
    CHECK_INT(state, VITALS_ESTIMATE); /* nothing tells yet that it stands still */
    root->walked = world.seconds - 0.5;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 600, 0);
    CHECK_INT(state, VITALS_HAVE);
    CHECK_NEAR(tree(usage, "memory_both_bytes"), 1000, 0);
    root->walked = 0; /* now */
    struct world_process *child = world_add(&world, 2, 1, 11, 10);
    child->resident = 900;
    child->unique = 100;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 800, 0);
    CHECK_INT(state, VITALS_ESTIMATE);
    CHECK_NEAR(tree(usage, "memory_private_bytes"), 500, 0);
    CHECK_NEAR(tree(usage, "memory_both_bytes"), 1300, 0);
    world_done(&world, usage);
}

static void anonymous_pages_are_told_of_the_largest_process(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5)->anonymous = 300;
    world_add(&world, 2, 1, 11, 10)->anonymous = 700;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world_end(&world, 2);
    world_find(&world, 1)->anonymous = 200;
    world_tick(&world, usage);
    CHECK_NEAR(figure_of(usage, "memory_anonymous_largest_bytes", "", &state), 700, 0);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    world_done(&world, usage);
}

static void every_processs_own_peak_is_summed(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5)->peak = 4000;
    world_add(&world, 2, 1, 11, 10)->peak = 2000;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world_end(&world, 2);
    world_find(&world, 1)->peak = 5000;
    world_tick(&world, usage);
    CHECK_NEAR(figure_of(usage, "memory_peak_sum_bytes", "", &state), 7000, 0);
    CHECK_INT(state, VITALS_ESTIMATE);
    CHECK_NEAR(figure_of(usage, "processes_seen", "", NULL), 2, 0);
    world_done(&world, usage);
}

/* ---- time ---- */

/* The realtime clock is stepped, the machine sleeps for a day: neither is time in which the run
 * ran. */
static void steps_of_the_clock_and_sleep_do_not_count(void)
{
    world_init(&world);
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world.realtime -= 86400;
    root->cpu = 1;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_cores"), 1, 1e-9);
    world.realtime += 2 * 86400; /* asleep: the monotonic clock stood still */
    root->cpu = 2;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_cores"), 1, 1e-9);
    CHECK_NEAR(figure_of(usage, "wall_seconds", "", NULL), 2, 1e-9);
    CHECK_NEAR(figure_of(usage, "cpu_mean_cores", "", NULL), 1, 1e-9);
    world_done(&world, usage);
}

static void a_snapshot_that_is_not_newer_is_passed_over(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5)->cpu = 1;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world.seconds -= 1;
    world_find(&world, 1)->cpu = 9;
    world_tick(&world, usage);
    CHECK_UINT(vitals_usage_count(usage), 1);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1, 0);
    world_done(&world, usage);
}

static void cores_need_a_window(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "cpu_cores", &state);
    CHECK_INT(state, VITALS_NOT_YET);
    world.seconds -= 0.99;
    world_find(&world, 1)->children_user = 0.01; /* one step of the kernel's in 10 ms */
    world_tick(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "cpu_cores", &state);
    CHECK_INT(state, VITALS_NOT_YET);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_cores"), 0.01 / 1.01, 1e-9);
    world_done(&world, usage);
}

/* At an interval of ten steps of the clock a snapshot that comes a little early is not left out. */
static void an_early_snapshot_has_cores(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    for (int i = 0; i < 20; i++) {
        double seconds = i % 2 == 0 ? 0.095 : 0.105;
        world.seconds -= 1 - seconds;
        world.host_busy += seconds;
        world_find(&world, 1)->children_user += seconds;
        world_tick(&world, usage);
        CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "cpu_cores", &state), 1, 1e-6);
        CHECK(state > 0 && state != VITALS_STALE);
        CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "cpu_cores", &state), 1, 1e-6);
        CHECK(state > 0 && state != VITALS_STALE);
    }
    world_done(&world, usage);
}

/* A recording of two samplers: keys begin anew and mean others. */
static void keys_of_another_stream_mean_others(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5)->cpu = 4;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world.stream = 8;
    world.processes[0].cpu = 3; /* the same key, another process */
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 7, 1e-9);
    world_done(&world, usage);
}

static void a_list_that_cannot_be_read_ends_nobody(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5)->cpu = 4;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world.listed = VITALS_DENIED;
    world_tick(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "cpu_seconds", &state);
    CHECK_INT(state, VITALS_DENIED);
    world.listed = 0;
    world.processes[0].cpu = 5;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 5, 1e-9);
    world_done(&world, usage);
}

/* ---- the machine ---- */

static void the_machine_counts_from_the_first_snapshot(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of(NULL);
    world.host_busy = 500;
    world_tick(&world, usage);
    world.host_busy = 502;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "cpu_seconds", NULL), 2, 1e-9);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "cpu_cores", NULL), 2, 1e-9);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "cpu_ratio", NULL), 0.25, 1e-9);
    CHECK_NEAR(figure_of(usage, "memory_used_peak_bytes", "system", NULL), 1e9, 0);
    world_done(&world, usage);
}

/* ---- what is read more seldom than snapshots are taken ---- */

/* Twenty snapshots a second, of which one reads the machine anew. */
static void what_was_not_read_anew_is_stale(void)
{
    static const char *const NAMES[] = {"memory_used_bytes", "disk_read_bytes", "cpu_seconds",
                                        "cpu_cores"};
    world_init(&world);
    vitals_availability state;
    vitals_usage *usage = usage_of(NULL);
    for (int i = 0; i < 61; i++) {
        world.seconds = 100 + i * 0.05;
        world.host_read = 100 + i / 20;
        world.host_disk = 1e9 * (i / 20);
        world.host_busy = 500 + 2 * (i / 20);
        world.host_memory = 1e9 * (1 + i / 20);
        world_tick(&world, usage);
        for (size_t k = 0; k < CHECK_COUNT(NAMES) && i >= 20; k++) {
            (void)newest(usage, VITALS_SCOPE_SYSTEM, NAMES[k], &state);
            /* CPU time of the machine is counted by ticks. */
            vitals_availability fresh = k == 2 ? VITALS_ESTIMATE : VITALS_HAVE;
            CHECK_CASE(NAMES[k]);
            CHECK_INT(state, i % 20 == 0 ? fresh : VITALS_STALE);
        }
    }
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "disk_read_bytes", NULL), 3e9, 0);
    CHECK_NEAR(figure_of(usage, "disk_read_bytes", "system", &state), 3e9, 0);
    CHECK_INT(state, VITALS_HAVE);
    CHECK_NEAR(figure_of(usage, "cpu_peak_cores", "system", NULL), 2, 1e-9);
    CHECK_NEAR(figure_of(usage, "memory_used_mean_bytes", "system", &state), 2.5e9, 1);
    CHECK_INT(state, VITALS_SAMPLED);
    world_done(&world, usage);
}

/* What grew since the private pages were counted is in no sum but the one that was read anew. */
static void a_walk_of_memory_counts_once(void)
{
    world_init(&world);
    vitals_availability state;
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    root->resident = root->proportional = 1000;
    root->unique = 900;
    vitals_usage *usage = usage_of_launcher(5);
    world.detail_read = world.seconds;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_pss_bytes", &state), 1000, 0);
    CHECK_INT(state, VITALS_HAVE);
    root->resident = 5000;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_pss_bytes", &state), 1000, 0);
    CHECK_INT(state, VITALS_STALE);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_private_bytes", &state), 900, 0);
    CHECK_INT(state, VITALS_STALE);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 100, 0);
    CHECK_INT(state, VITALS_STALE);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_both_bytes", &state), 5000, 0);
    CHECK_INT(state, VITALS_ESTIMATE);
    (void)newest(usage, VITALS_SCOPE_TREE, "memory_resident_bytes", &state);
    CHECK_INT(state, VITALS_HAVE);
    world.detail_read = world.seconds;
    root->proportional = 3000;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_pss_bytes", &state), 3000, 0);
    CHECK_INT(state, VITALS_HAVE);
    CHECK_NEAR(figure_of(usage, "memory_pss_mean_bytes", "", NULL), 2000, 1e-6);
    world_done(&world, usage);
}

/* As of a program that changes its user: the figures are of the time before. */
static void what_is_denied_later_was_seen_for_a_part(void)
{
    world_init(&world);
    vitals_availability peak, mean;
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    root->proportional = 1000;
    vitals_usage *usage = usage_of_launcher(5);
    world.detail_read = world.seconds;
    world_tick(&world, usage);
    (void)figure_of(usage, "memory_pss_peak_bytes", "", &peak);
    CHECK_INT(peak, VITALS_SAMPLED);
    world.detail_read = world.seconds;
    root->proportional = (double)NAN;
    world_tick(&world, usage);
    CHECK_NEAR(figure_of(usage, "memory_pss_peak_bytes", "", &peak), 1000, 0);
    CHECK_INT(peak, VITALS_LOWER_BOUND);
    (void)figure_of(usage, "memory_pss_mean_bytes", "", &mean);
    CHECK_INT(mean, VITALS_ESTIMATE);
    world_done(&world, usage);
}

/* ---- options, units, memory ---- */

static void options_that_mean_nothing_are_refused(void)
{
    static const int64_t NO_PID = 0;
    const struct {
        const char *name;
        vitals_usage_options options;
    } ROWS[] = {
        {"pid 0", {.pids = &NO_PID, .pid_count = 1}},
        {"cores below 0", {.expected_cores = -1}},
        {"cores NaN", {.expected_cores = (double)NAN}},
        {"cores without end", {.expected_cores = (double)INFINITY}},
        {"brand", {.brand = "matrox"}},
    };
    vitals_error error;
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        vitals_usage_options options = ROWS[i].options;
        vitals_usage *usage = NULL;
        CHECK_CASE(ROWS[i].name);
        options.size = sizeof options;
        CHECK_INT(vitals_usage_new(&options, &usage, &error), VITALS_EARGUMENT);
        CHECK_NULL(usage);
    }
}

static void figures_come_in_the_unit_that_was_asked_for(void)
{
    static const struct {
        double value;
        const char *from, *to;
        double out;
    } ROWS[] = {
        {2e9, "bytes", "gigabytes", 2},
        {0x1p31, "bytes", "gibibytes", 2},
        {1, "tebibytes", "bytes", 0x1p40},
        {7200, "seconds", "hours", 2},
        {3, "days", "minutes", 4320},
        {5, "", "", 5},
        {5, "watts", "", 5},
        {5, "watts", "watts", 5},
    };
    double out = -1;
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_INT(vitals_usage_convert(ROWS[i].value, ROWS[i].from, ROWS[i].to, &out), 0);
        CHECK_NEAR(out, ROWS[i].out, 1e-9);
    }
    CHECK_INT(vitals_usage_convert(1, "bytes", "hours", &out), VITALS_EARGUMENT);
    CHECK_INT(vitals_usage_convert(1, "bytes", "gigs", &out), VITALS_EARGUMENT);
    CHECK_INT(vitals_usage_convert(1, "watts", "bytes", &out), VITALS_EARGUMENT);
}

static void every_measure_has_a_name_of_its_own(void)
{
    size_t found = 0;
    for (vitals_measure measure = 0; measure < 300; measure++) {
        const char *name = vitals_measure_name(measure);
        if (name == NULL)
            continue;
        found++;
        CHECK_UINT(vitals_measure_find(name), measure);
        CHECK_NOT_NULL(vitals_measure_unit(measure));
        CHECK(strlen(vitals_measure_help(measure)) > 10);
    }
    CHECK(found > 60);
    CHECK_UINT(vitals_measure_find("no such measure"), 0);
}

static void any_allocation_may_fail(void)
{
    world_init(&world);
    world_add_gpu(&world, "0", "GPU-a");
    world_add(&world, 1, 0, 10, 5)->cpu = 1;
    world_add_client(&world, 70, 50, 1)->busy = 2;
    vitals_snapshot *snapshot = world_snapshot(&world);
    const int64_t live = memory_live();
    int refused = 0;
    for (uint64_t nth = 1; nth < 60; nth++) {
        vitals_usage *usage = NULL;
        vitals_account *account = NULL;
        vitals_usage_options options;
        vitals_usage_options_init(&options, sizeof options);
        options.launcher = 5;
        options.brand = "nvidia";
        memory_fail_at(nth);
        int code = vitals_usage_new(&options, &usage, NULL);
        if (code == 0)
            code = vitals_usage_add(usage, snapshot, NULL);
        if (code == 0)
            code = vitals_usage_account(usage, &account, NULL);
        memory_fail_at(0);
        refused += code < 0;
        vitals_account_free(account);
        vitals_usage_free(usage);
        CHECK_INT(memory_live(), live);
    }
    CHECK(refused > 5);
    vitals_snapshot_unref(snapshot);
    world_done(&world, NULL);
}

static const check_test tests[] = {
    {"a mean is over time", a_mean_is_over_time},
    {"what is missing is in no mean", what_is_missing_is_in_no_mean},
    {"the end of a tree is no reading", the_end_of_a_tree_is_no_reading},
    {"shared pages are counted once", shared_pages_are_counted_once},
    {"anonymous pages are told of the largest process",
     anonymous_pages_are_told_of_the_largest_process},
    {"every process's own peak is summed", every_processs_own_peak_is_summed},
    {"steps of the clock and sleep do not count", steps_of_the_clock_and_sleep_do_not_count},
    {"a snapshot that is not newer is passed over", a_snapshot_that_is_not_newer_is_passed_over},
    {"cores need a window", cores_need_a_window},
    {"an early snapshot has cores", an_early_snapshot_has_cores},
    {"keys of another stream mean others", keys_of_another_stream_mean_others},
    {"a list that cannot be read ends nobody", a_list_that_cannot_be_read_ends_nobody},
    {"the machine counts from the first snapshot", the_machine_counts_from_the_first_snapshot},
    {"what was not read anew is stale", what_was_not_read_anew_is_stale},
    {"a walk of memory counts once", a_walk_of_memory_counts_once},
    {"what is denied later was seen for a part", what_is_denied_later_was_seen_for_a_part},
    {"options that mean nothing are refused", options_that_mean_nothing_are_refused},
    {"figures come in the unit that was asked for", figures_come_in_the_unit_that_was_asked_for},
    {"every measure has a name of its own", every_measure_has_a_name_of_its_own},
    {"any allocation may fail", any_allocation_may_fail},
};
CHECK_TESTS(tests)
