/* Usages: what is made of snapshots that a test builds. */
#include "usage_world.h"

#include "core/memory.h"

static struct world world;

static void begin(void)
{
    world_init(&world);
}

static void end(vitals_usage *usage)
{
    vitals_usage_free(usage);
    vitals_builder_free(world.builder);
}

/* ---- CPU time ---- */

static void who_was_there_before_counts_from_then(void)
{
    begin();
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    root->start = 10;
    root->cpu = 1000;
    root->children_user = 300;
    vitals_usage *usage = usage_of_pid(10);
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0, 0);
    root->cpu = 1001.5;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1.5, 1e-9);
    CHECK_NEAR(tree(usage, "cpu_cores"), 1.5, 1e-9);
    CHECK_NEAR(tree(usage, "cpu_ratio"), 1.5 / 4, 1e-9);
    end(usage);
}

static void who_is_born_in_the_run_counts_from_birth(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5)->start = 10;
    vitals_usage *usage = usage_of_pid(10);
    world_fold(&world, usage);
    world_add(&world, 2, 1, 11, 10)->cpu = 0.75;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0.75, 1e-9);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_ROOT, "cpu_seconds", NULL), 0, 0);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_DESCENDANTS, "cpu_seconds", NULL), 0.75, 1e-9);
    end(usage);
}

static void a_launchers_children_count_from_birth(void)
{
    begin();
    world_add(&world, 1, 99, 10, 5)->cpu = 0.25;
    world_add(&world, 2, 99, 11, 6)->cpu = 50; /* nobody's of ours */
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0.25, 1e-9);
    CHECK_NEAR(tree(usage, "processes"), 1, 0);
    end(usage);
}

/* A child of 1 s was seen with 0.4 of it; the parent's counter tells the whole, once. */
static void what_a_reaped_child_did_is_counted_once(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10)->cpu = 0.4;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0.4, 1e-9);
    world_end(&world, 2);
    world_find(&world, 1)->children_user = 1;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1, 1e-9);
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1, 1e-9);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_ROOT, "cpu_seconds", NULL), 0, 0);
    end(usage);
}

static void children_between_two_snapshots_are_seen_in_their_parent(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    for (int i = 0; i < 100; i++) {
        world_fold(&world, usage);
        world_find(&world, 1)->children_user = 0.05 * (i + 1);
    }
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 5, 1e-9);
    end(usage);
}

/* The kernel tells children's time in steps of 10 ms, each cut: a thousand of them must not add up.
 */
static void the_kernels_rounding_does_not_add_up(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    double truth = 0;
    for (int i = 0; i < 1000; i++) {
        world_add(&world, (uint64_t)(2 + i), 1, 11, 10)->cpu = 0.057;
        world_fold(&world, usage);
        world_end(&world, (uint64_t)(2 + i));
        truth += 0.057;
        world_find(&world, 1)->children_user = floor(truth * 100) / 100;
    }
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), truth, 0.02);
    end(usage);
}

/* The parent was read after it had waited, the child before it was gone: both in one snapshot. */
static void a_child_that_is_read_beside_its_own_end_counts_once(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10)->cpu = 2;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world_find(&world, 1)->children_user = 2;
    world_fold(&world, usage);
    world_end(&world, 2);
    world_fold(&world, usage);
    world_find(&world, 1)->cpu = 2.5;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 4.5, 1e-9);
    end(usage);
}

/* And the other way round: the parent was read before it waited. */
static void a_child_whose_end_comes_later_counts_once(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10)->cpu = 2;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world_end(&world, 2);
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 2, 1e-9);
    world_find(&world, 1)->children_user = 2.1;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 2.1, 1e-9);
    end(usage);
}

/* Who ignores SIGCHLD has its children in nobody's counter. */
static void children_that_nobody_waits_for_keep_their_share(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    for (int i = 0; i < 10; i++) {
        world_add(&world, (uint64_t)(2 + i), 1, 11, 10)->cpu = 0.5;
        world_fold(&world, usage);
        world_end(&world, (uint64_t)(2 + i));
    }
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 5, 1e-9);
    end(usage);
}

/* A shell ignores SIGCHLD; who waits for the shell gets only what the shell itself did. */
static void what_nobody_waited_for_hides_nothing_of_others(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10)->cpu = 0.1;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world_add(&world, 3, 2, 12, 11)->cpu = 4;
    world_fold(&world, usage);
    world_end(&world, 3);
    world_fold(&world, usage);
    world_fold(&world, usage); /* the shell is read after its child's end */
    world_end(&world, 2);
    world_find(&world, 1)->children_user = 0.1;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 4.1, 1e-9);
    world_find(&world, 1)->children_user = 1.1; /* a child that nobody saw */
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 5.1, 1e-9);
    end(usage);
}

static void a_family_that_ends_at_once_is_handed_up(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10)->cpu = 0.1;
    world_add(&world, 3, 2, 12, 11)->cpu = 0.2;
    world_add(&world, 4, 3, 13, 12)->cpu = 0.3;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world_end(&world, 2);
    world_end(&world, 3);
    world_end(&world, 4);
    world_find(&world, 1)->children_user = 0.7;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0.7, 1e-9);
    end(usage);
}

/* Its parent is a reaper then, outside; nobody of ours is told of its end. */
static void an_orphan_stays_and_keeps_its_share(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5)->start = 10;
    world_add(&world, 2, 1, 11, 10);
    vitals_usage *usage = usage_of_pid(10);
    world_fold(&world, usage);
    world_end(&world, 1);
    struct world_process *orphan = world_find(&world, 2);
    orphan->parent = 900;
    orphan->parent_pid = 1;
    orphan->cpu = 3;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 3, 1e-9);
    world_end(&world, 2);
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 3, 1e-9);
    end(usage);
}

static void what_a_child_did_before_the_run_is_not_the_runs(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5)->start = 10;
    struct world_process *child = world_add(&world, 2, 1, 11, 10);
    child->start = 11;
    child->cpu = 100;
    vitals_usage *usage = usage_of_pid(10);
    world_fold(&world, usage);
    child->cpu = 101;
    world_fold(&world, usage);
    world_end(&world, 2);
    world_find(&world, 1)->children_user = 101.5; /* half a second that no snapshot saw */
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1.5, 1e-9);
    end(usage);
}

static void rows_that_are_each_others_parents_end(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 3, 11, 12)->cpu = 1;
    world_add(&world, 3, 2, 12, 11)->cpu = 1;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0, 0);
    world_find(&world, 2)->parent = 1;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 2, 0);
    world_find(&world, 2)->parent = 3;
    world_fold(&world, usage);
    world.process_count = 0;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 2, 0);
    end(usage);
}

static void strangers_and_all_below_them_are_left_out(void)
{
    begin();
    const int64_t stranger = 11;
    vitals_usage_options options;
    vitals_usage_options_init(&options, sizeof options);
    options.launcher = 5;
    options.strangers = &stranger;
    options.stranger_count = 1;
    world_add(&world, 1, 0, 10, 5)->cpu = 1;
    world_add(&world, 2, 0, 11, 5)->cpu = 10;
    world_add(&world, 3, 2, 12, 11)->cpu = 100;
    vitals_usage *usage = usage_of(&options);
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1, 0);
    world_end(&world, 2);
    world_add(&world, 4, 1, 11, 10)->cpu = 7; /* another process with that number */
    world_find(&world, 4)->start = 9000;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 8, 0);
    end(usage);
}

static void no_children_means_the_named_alone(void)
{
    begin();
    const int64_t pid = 10;
    vitals_usage_options options;
    vitals_usage_options_init(&options, sizeof options);
    options.pids = &pid;
    options.pid_count = 1;
    options.no_children = 1;
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of(&options);
    world_fold(&world, usage);
    world_add(&world, 2, 1, 11, 10)->cpu = 10;
    world_find(&world, 1)->cpu = 1;
    world_find(&world, 1)->children_user = 30;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1, 0);
    CHECK_NEAR(tree(usage, "processes"), 1, 0);
    end(usage);
}

/* ---- input and output ---- */

static void input_of_a_reaped_child_is_counted_once(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5)->read = 100;
    world_add(&world, 2, 1, 11, 10)->read = 1000;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "disk_read_bytes"), 1100, 0);
    world_end(&world, 2);
    world_find(&world, 1)->read = 100 + 1500; /* its own, and all that the child read */
    world_find(&world, 1)->children_user = 0.1;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "disk_read_bytes"), 1600, 0);
    vitals_availability state;
    CHECK_NEAR(newest(usage, VITALS_SCOPE_ROOT, "disk_read_bytes", &state), 600, 0);
    CHECK_INT(state, VITALS_UPPER_BOUND); /* 500 of it were the child's, and nobody can know */
    end(usage);
}

static void what_cannot_be_read_is_a_lower_bound_and_never_nought(void)
{
    begin();
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5)->read = 100;
    world_add(&world, 2, 1, 11, 10)->io = VITALS_DENIED;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "disk_read_bytes", &state), 100, 0);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    end(usage);
    begin();
    world_add(&world, 1, 0, 10, 5)->io = VITALS_DENIED;
    usage = usage_of_launcher(5);
    world_fold(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "disk_read_bytes", &state);
    CHECK_INT(state, VITALS_DENIED);
    (void)figure_of(usage, "disk_read_bytes", "", &state);
    CHECK_INT(state, VITALS_DENIED);
    end(usage);
}

/* ---- gauges ---- */

static void a_mean_is_over_time(void)
{
    begin();
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    root->resident = 100;
    world_fold(&world, usage);
    world_fold(&world, usage);
    world.seconds += 8; /* nine seconds in all, from 100 to 300 */
    root->resident = 300;
    world_fold(&world, usage);
    CHECK_NEAR(figure_of(usage, "memory_resident_mean_bytes", "", NULL), (100 + 200 * 9) / 10.0,
               1e-6);
    CHECK_NEAR(figure_of(usage, "memory_resident_peak_bytes", "", NULL), 300, 0);
    CHECK_NEAR(figure_of(usage, "memory_resident_min_bytes", "", NULL), 100, 0);
    CHECK_NEAR(figure_of(usage, "threads_peak", "", NULL), 1, 0);
    end(usage);
}

static void what_is_missing_is_in_no_mean(void)
{
    begin();
    vitals_availability state;
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    root->resident = 100;
    world_fold(&world, usage);
    world_fold(&world, usage);
    root->resident = (double)NAN;
    world_fold(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "memory_resident_bytes", &state);
    CHECK_INT(state, VITALS_DENIED);
    world.seconds += 100;
    root->resident = 100;
    world_fold(&world, usage);
    world_fold(&world, usage);
    CHECK_NEAR(figure_of(usage, "memory_resident_mean_bytes", "", NULL), 100, 1e-9);
    CHECK_NEAR(figure_of(usage, "memory_resident_min_bytes", "", NULL), 100, 0);
    end(usage);
}

/* A tree that has ended holds nothing: that is no least value of its memory. */
static void the_end_of_a_tree_is_no_reading(void)
{
    begin();
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5)->resident = 500;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world.process_count = 0;
    world_fold(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "memory_resident_bytes", &state);
    CHECK_INT(state, VITALS_GONE);
    CHECK_NEAR(figure_of(usage, "memory_resident_min_bytes", "", NULL), 500, 0);
    CHECK_NEAR(figure_of(usage, "memory_peak_low_bytes", "", &state), 500, 0);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    end(usage);
}

static void shared_pages_are_counted_once(void)
{
    begin();
    vitals_availability state;
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    root->resident = 1000;
    root->unique = 400;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 600, 0);
    CHECK_INT(state, VITALS_HAVE);
    CHECK_NEAR(tree(usage, "memory_both_bytes"), 1000, 0);
    struct world_process *child = world_add(&world, 2, 1, 11, 10);
    child->resident = 900;
    child->unique = 100;
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 800, 0);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    CHECK_NEAR(tree(usage, "memory_private_bytes"), 500, 0);
    CHECK_NEAR(tree(usage, "memory_both_bytes"), 1300, 0);
    end(usage);
}

static void every_processs_own_peak_is_summed(void)
{
    begin();
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5)->peak = 4000;
    world_add(&world, 2, 1, 11, 10)->peak = 2000;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world_end(&world, 2);
    world_find(&world, 1)->peak = 5000;
    world_fold(&world, usage);
    CHECK_NEAR(figure_of(usage, "memory_peak_high_bytes", "", &state), 7000, 0);
    CHECK_INT(state, VITALS_ESTIMATE);
    CHECK_NEAR(figure_of(usage, "processes_seen", "", NULL), 2, 0);
    end(usage);
}

/* ---- time ---- */

/* The realtime clock is stepped, the machine sleeps for a day: neither is time in which the run
 * ran. */
static void steps_of_the_clock_and_sleep_do_not_count(void)
{
    begin();
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world.realtime -= 86400;
    root->cpu = 1;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_cores"), 1, 1e-9);
    world.realtime += 2 * 86400; /* asleep: the monotonic clock stood still */
    root->cpu = 2;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_cores"), 1, 1e-9);
    CHECK_NEAR(figure_of(usage, "wall_seconds", "", NULL), 2, 1e-9);
    CHECK_NEAR(figure_of(usage, "cpu_mean_cores", "", NULL), 1, 1e-9);
    end(usage);
}

static void a_snapshot_that_is_not_newer_is_passed_over(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5)->cpu = 1;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world.seconds -= 1;
    world_find(&world, 1)->cpu = 9;
    world_fold(&world, usage);
    CHECK_UINT(vitals_usage_count(usage), 1);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1, 0);
    end(usage);
}

static void cores_need_a_window(void)
{
    begin();
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "cpu_cores", &state);
    CHECK_INT(state, VITALS_NOT_YET);
    world.seconds -= 0.99;
    world_find(&world, 1)->children_user = 0.01; /* one step of the kernel's in 10 ms */
    world_fold(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "cpu_cores", &state);
    CHECK_INT(state, VITALS_NOT_YET);
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_cores"), 0.01 / 1.01, 1e-9);
    end(usage);
}

/* A recording of two samplers: keys begin anew and mean others. */
static void keys_of_another_stream_mean_others(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5)->cpu = 4;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world.stream = 8;
    world.processes[0].cpu = 3; /* the same key, another process */
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 7, 1e-9);
    end(usage);
}

static void a_list_that_cannot_be_read_ends_nobody(void)
{
    begin();
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5)->cpu = 4;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world.listed = VITALS_DENIED;
    world_fold(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "cpu_seconds", &state);
    CHECK_INT(state, VITALS_DENIED);
    world.listed = 0;
    world.processes[0].cpu = 5;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 5, 1e-9);
    end(usage);
}

/* ---- the machine ---- */

static void the_machine_counts_from_the_first_snapshot(void)
{
    begin();
    vitals_usage *usage = usage_of(NULL);
    world.host_busy = 500;
    world_fold(&world, usage);
    world.host_busy = 502;
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "cpu_seconds", NULL), 2, 1e-9);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "cpu_cores", NULL), 2, 1e-9);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "cpu_ratio", NULL), 0.25, 1e-9);
    CHECK_NEAR(figure_of(usage, "memory_used_peak_bytes", "system", NULL), 1e9, 0);
    end(usage);
}

/* ---- what is read more seldom than snapshots are taken ---- */

/* Twenty snapshots a second, of which one reads the machine anew. */
static void what_was_not_read_anew_is_stale(void)
{
    static const char *const NAMES[] = {"memory_used_bytes", "disk_read_bytes", "cpu_seconds",
                                        "cpu_cores"};
    begin();
    vitals_availability state;
    vitals_usage *usage = usage_of(NULL);
    for (int i = 0; i < 61; i++) {
        world.seconds = 100 + i * 0.05;
        world.host_read = 100 + i / 20;
        world.host_disk = 1e9 * (i / 20);
        world.host_busy = 500 + 2 * (i / 20);
        world.host_memory = 1e9 * (1 + i / 20);
        world_fold(&world, usage);
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
    end(usage);
}

/* What grew since the private pages were counted is in no sum but the one that was read anew. */
static void a_walk_of_memory_counts_once(void)
{
    begin();
    vitals_availability state;
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    root->resident = root->proportional = 1000;
    root->unique = 900;
    vitals_usage *usage = usage_of_launcher(5);
    world.detail_read = world.seconds;
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_pss_bytes", &state), 1000, 0);
    CHECK_INT(state, VITALS_HAVE);
    root->resident = 5000;
    world_fold(&world, usage);
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
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_pss_bytes", &state), 3000, 0);
    CHECK_INT(state, VITALS_HAVE);
    CHECK_NEAR(figure_of(usage, "memory_pss_mean_bytes", "", NULL), 2000, 1e-6);
    end(usage);
}

/* As of a program that changes who it is: what is told is of the time before. */
static void what_is_denied_later_was_seen_for_a_part(void)
{
    begin();
    vitals_availability peak, mean;
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    root->proportional = 1000;
    vitals_usage *usage = usage_of_launcher(5);
    world.detail_read = world.seconds;
    world_fold(&world, usage);
    (void)figure_of(usage, "memory_pss_peak_bytes", "", &peak);
    CHECK_INT(peak, VITALS_SAMPLED);
    world.detail_read = world.seconds;
    root->proportional = (double)NAN;
    world_fold(&world, usage);
    CHECK_NEAR(figure_of(usage, "memory_pss_peak_bytes", "", &peak), 1000, 0);
    CHECK_INT(peak, VITALS_LOWER_BOUND);
    (void)figure_of(usage, "memory_pss_mean_bytes", "", &mean);
    CHECK_INT(mean, VITALS_ESTIMATE);
    end(usage);
}

/* ---- devices ---- */

static void add_gpu(const char *label, const char *uuid)
{
    world.gpus[world.gpu_count] = (struct world_gpu){.key = 50 + world.gpu_count,
                                                     .label = label,
                                                     .uuid = uuid,
                                                     .vendor = "nvidia",
                                                     .utilization = 0.5};
    world.gpu_count++;
}

static struct world_client *add_client(uint64_t key, uint64_t gpu, uint64_t process)
{
    struct world_client *client = &world.clients[world.client_count++];
    *client = (struct world_client){.key = key, .gpu = gpu, .process = process};
    return client;
}

static void the_trees_share_of_a_device_is_told_apart(void)
{
    begin();
    world_add(&world, 1, 0, 10, 5);
    add_gpu("0", "GPU-a");
    add_gpu("1", "GPU-b");
    struct world_client *ours = add_client(70, 50, 1), *others = add_client(71, 50, 0);
    ours->memory = 1000;
    ours->busy = 0.5;
    ours->utilization = 0.3;
    others->memory = 9000;
    others->busy = 100;
    vitals_usage *usage = usage_of_launcher(5);
    world.seconds += 1;
    world_fold(&world, usage);
    ours->busy = 1.5;
    ours->memory = 800;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "gpu_memory_bytes"), 800, 0);
    CHECK_NEAR(tree(usage, "gpu_busy_seconds"), 1.5, 1e-9);
    CHECK_NEAR(figure_of(usage, "gpu_memory_peak_bytes", "GPU-a", NULL), 1000, 0);
    CHECK_NEAR(figure_of(usage, "gpu_utilization_peak_ratio", "GPU-a", NULL), 0.3, 1e-9);
    vitals_availability state;
    (void)figure_of(usage, "gpu_memory_peak_bytes", "GPU-b", &state);
    CHECK_INT(state, VITALS_UNSET); /* it was not used: no figure */
    (void)figure_of(usage, "device_memory_used_peak_bytes", "GPU-b", &state);
    CHECK_INT(state, VITALS_SAMPLED);
    world.client_count = 1;
    world.clients[0] = *others;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "gpu_busy_seconds"), 1.5, 1e-9);
    end(usage);
}

/* A driver's counter may be older than the process that the run began. */
static void busy_time_from_before_is_not_the_runs(void)
{
    begin();
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    add_gpu("0", "GPU-a");
    struct world_client *ours = add_client(70, 50, 1);
    ours->busy = 2428;
    vitals_usage *usage = usage_of_launcher(5);
    world.seconds += 1;
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "gpu_busy_seconds"), 0, 0);
    ours->busy += 0.5;
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "gpu_busy_seconds", &state), 0.5, 1e-9);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    CHECK_NEAR(figure_of(usage, "gpu_busy_ratio", "GPU-a", NULL), 0.5, 1e-9);
    struct world_client *late = add_client(71, 50, 2);
    world_add(&world, 2, 1, 11, 10)->start = 3600 + world.seconds - 0.5;
    late->busy = 0.25; /* as much as it can have done */
    world_fold(&world, usage);
    CHECK_NEAR(tree(usage, "gpu_busy_seconds"), 0.75, 1e-9);
    end(usage);
}

/* Several that use a device at a time each have a share; together it is busy once. */
static void a_device_is_never_busier_than_all_the_time(void)
{
    begin();
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10);
    add_gpu("0", "GPU-a");
    struct world_client *first = add_client(70, 50, 1), *second = add_client(71, 50, 2);
    vitals_usage *usage = usage_of_launcher(5);
    for (int i = 0; i < 3; i++) {
        world_fold(&world, usage);
        first->busy += 1;
        second->busy += 1;
    }
    CHECK_NEAR(tree(usage, "gpu_busy_seconds"), 4, 1e-9);
    CHECK_NEAR(figure_of(usage, "gpu_busy_ratio", "GPU-a", &state), 1, 0);
    CHECK_INT(state, VITALS_ESTIMATE);
    end(usage);
}

static void energy_is_shared_by_busy_time(void)
{
    begin();
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    add_gpu("0", "GPU-a");
    world.gpus[0].energy = 10000;
    struct world_client *ours = add_client(70, 50, 1);
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    world.gpus[0].energy = 10100; /* alone: all of it */
    ours->busy = 0.1;
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "gpu_energy_joules", &state), 100, 1e-9);
    CHECK_INT(state, VITALS_SAMPLED);
    struct world_client *others = add_client(71, 50, 0);
    others->busy = 0.3;
    ours->busy = 0.2;
    world.gpus[0].energy = 10200;
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "gpu_energy_joules", &state), 125, 1e-9);
    CHECK_INT(state, VITALS_ESTIMATE);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_GPU, "device_energy_joules", NULL), 200, 1e-9);
    end(usage);
}

static void a_lost_device_keeps_what_it_had_told(void)
{
    begin();
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    add_gpu("0", "GPU-a");
    add_client(70, 50, 1)->busy = 2;
    vitals_usage *usage = usage_of_launcher(5);
    world.seconds += 3;
    world_fold(&world, usage);
    world.gpu_count = world.client_count = 0;
    world_fold(&world, usage);
    (void)newest(usage, VITALS_SCOPE_GPU, "gpu_busy_seconds", &state);
    CHECK_INT(state, VITALS_GONE);
    CHECK_NEAR(figure_of(usage, "gpu_busy_seconds", "GPU-a", &state), 2, 1e-9);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    end(usage);
}

static void what_a_lost_device_did_not_tell_is_not_nothing(void)
{
    static const struct {
        double seen;
        vitals_availability peak;
    } CASES[] = {{0, VITALS_GONE}, {50, VITALS_LOWER_BOUND}};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        begin();
        vitals_availability state;
        world_add(&world, 1, 0, 10, 5);
        add_gpu("0", "GPU-a");
        if (CASES[i].seen > 0)
            add_client(70, 50, 1)->memory = CASES[i].seen;
        vitals_usage *usage = usage_of_launcher(5);
        world_fold(&world, usage);
        world.seconds += 1;
        world.gpu_count = world.client_count = 0;
        world_fold(&world, usage);
        double peak = figure_of(usage, "gpu_memory_peak_bytes", "", &state);
        CHECK_INT(state, CASES[i].peak);
        if (state > 0)
            CHECK_NEAR(peak, CASES[i].seen, 0);
        end(usage);
    }
}

static void who_tells_nothing_of_its_users_is_said(void)
{
    begin();
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    add_gpu("0", "GPU-a");
    world.gpus[0].processes = VITALS_DENIED;
    vitals_usage *usage = usage_of_launcher(5);
    world_fold(&world, usage);
    (void)figure_of(usage, "gpu_memory_peak_bytes", "GPU-a", &state);
    CHECK_INT(state, VITALS_DENIED);
    (void)newest(usage, VITALS_SCOPE_TREE, "gpu_memory_bytes", &state);
    CHECK_INT(state, VITALS_DENIED);
    end(usage);
}

static void devices_are_chosen_by_name_and_by_brand(void)
{
    static const char *const FIRST[] = {"GPU-aaaa", NULL};
    begin();
    vitals_usage_options options;
    vitals_usage_options_init(&options, sizeof options);
    options.devices = FIRST;
    add_gpu("0", "GPU-aaaa-1");
    add_gpu("1", "GPU-bbbb-2");
    world.gpus[1].vendor = "amd";
    vitals_usage *usage = usage_of(&options);
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "devices", NULL), 1, 0);
    vitals_usage_free(usage);
    options.devices = NULL;
    options.brand = "amd";
    usage = usage_of(&options);
    world_fold(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "devices", NULL), 1, 0);
    CHECK_NEAR(figure_of(usage, "device_memory_used_peak_bytes", "GPU-bbbb-2", NULL), 5000, 0);
    end(usage);
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
    begin();
    add_gpu("0", "GPU-a");
    world_add(&world, 1, 0, 10, 5)->cpu = 1;
    add_client(70, 50, 1)->busy = 2;
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
    end(NULL);
}

static const check_test tests[] = {
    {"who was there before counts from then", who_was_there_before_counts_from_then},
    {"who is born in the run counts from birth", who_is_born_in_the_run_counts_from_birth},
    {"a launcher's children count from birth", a_launchers_children_count_from_birth},
    {"what a reaped child did is counted once", what_a_reaped_child_did_is_counted_once},
    {"children between two snapshots are seen in their parent",
     children_between_two_snapshots_are_seen_in_their_parent},
    {"the kernel's rounding does not add up", the_kernels_rounding_does_not_add_up},
    {"a child that is read beside its own end counts once",
     a_child_that_is_read_beside_its_own_end_counts_once},
    {"a child whose end comes later counts once", a_child_whose_end_comes_later_counts_once},
    {"children that nobody waits for keep their share",
     children_that_nobody_waits_for_keep_their_share},
    {"what nobody waited for hides nothing of others",
     what_nobody_waited_for_hides_nothing_of_others},
    {"a family that ends at once is handed up", a_family_that_ends_at_once_is_handed_up},
    {"an orphan stays and keeps its share", an_orphan_stays_and_keeps_its_share},
    {"what a child did before the run is not the run's",
     what_a_child_did_before_the_run_is_not_the_runs},
    {"rows that are each other's parents end", rows_that_are_each_others_parents_end},
    {"strangers and all below them are left out", strangers_and_all_below_them_are_left_out},
    {"no children means the named alone", no_children_means_the_named_alone},
    {"input of a reaped child is counted once", input_of_a_reaped_child_is_counted_once},
    {"what cannot be read is a lower bound and never nought",
     what_cannot_be_read_is_a_lower_bound_and_never_nought},
    {"a mean is over time", a_mean_is_over_time},
    {"what is missing is in no mean", what_is_missing_is_in_no_mean},
    {"the end of a tree is no reading", the_end_of_a_tree_is_no_reading},
    {"shared pages are counted once", shared_pages_are_counted_once},
    {"every process's own peak is summed", every_processs_own_peak_is_summed},
    {"steps of the clock and sleep do not count", steps_of_the_clock_and_sleep_do_not_count},
    {"a snapshot that is not newer is passed over", a_snapshot_that_is_not_newer_is_passed_over},
    {"cores need a window", cores_need_a_window},
    {"keys of another stream mean others", keys_of_another_stream_mean_others},
    {"a list that cannot be read ends nobody", a_list_that_cannot_be_read_ends_nobody},
    {"the machine counts from the first snapshot", the_machine_counts_from_the_first_snapshot},
    {"the tree's share of a device is told apart", the_trees_share_of_a_device_is_told_apart},
    {"what was not read anew is stale", what_was_not_read_anew_is_stale},
    {"a walk of memory counts once", a_walk_of_memory_counts_once},
    {"what is denied later was seen for a part", what_is_denied_later_was_seen_for_a_part},
    {"busy time from before is not the run's", busy_time_from_before_is_not_the_runs},
    {"a device is never busier than all the time", a_device_is_never_busier_than_all_the_time},
    {"energy is shared by busy time", energy_is_shared_by_busy_time},
    {"a lost device keeps what it had told", a_lost_device_keeps_what_it_had_told},
    {"what a lost device did not tell is not nothing",
     what_a_lost_device_did_not_tell_is_not_nothing},
    {"who tells nothing of its users is said", who_tells_nothing_of_its_users_is_said},
    {"devices are chosen by name and by brand", devices_are_chosen_by_name_and_by_brand},
    {"options that mean nothing are refused", options_that_mean_nothing_are_refused},
    {"figures come in the unit that was asked for", figures_come_in_the_unit_that_was_asked_for},
    {"every measure has a name of its own", every_measure_has_a_name_of_its_own},
    {"any allocation may fail", any_allocation_may_fail},
};
CHECK_MAIN(tests)
