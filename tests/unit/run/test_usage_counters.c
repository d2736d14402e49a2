/* Usages: what counts in a tree of processes that come and go, and counts once. */
#include "usage_world.h"

static struct world world;

/* ---- CPU time ---- */

static void who_was_there_before_counts_from_then(void)
{
    world_init(&world);
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    root->start = 10;
    root->cpu = 1000;
    root->children_user = 300;
    vitals_usage *usage = usage_of_pid(10);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0, 0);
    root->cpu = 1001.5;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1.5, 1e-9);
    CHECK_NEAR(tree(usage, "cpu_cores"), 1.5, 1e-9);
    CHECK_NEAR(tree(usage, "cpu_ratio"), 1.5 / 4, 1e-9);
    world_done(&world, usage);
}

static void who_is_born_in_the_run_counts_from_birth(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5)->start = 10;
    vitals_usage *usage = usage_of_pid(10);
    world_tick(&world, usage);
    world_add(&world, 2, 1, 11, 10)->cpu = 0.75;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0.75, 1e-9);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_ROOT, "cpu_seconds", NULL), 0, 0);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_DESCENDANTS, "cpu_seconds", NULL), 0.75, 1e-9);
    world_done(&world, usage);
}

static void a_launchers_children_count_from_birth(void)
{
    world_init(&world);
    world_add(&world, 1, 99, 10, 5)->cpu = 0.25;
    world_add(&world, 2, 99, 11, 6)->cpu = 50; /* outside the tree */
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0.25, 1e-9);
    CHECK_NEAR(tree(usage, "processes"), 1, 0);
    world_done(&world, usage);
}

/* A child of 1 s was seen with 0.4 of it; the parent's counter tells the whole, once. */
static void what_a_reaped_child_did_is_counted_once(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10)->cpu = 0.4;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0.4, 1e-9);
    world_end(&world, 2);
    world_find(&world, 1)->children_user = 1;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1, 1e-9);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1, 1e-9);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_ROOT, "cpu_seconds", NULL), 0, 0);
    world_done(&world, usage);
}

static void children_between_two_snapshots_are_seen_in_their_parent(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    for (int i = 0; i < 100; i++) {
        world_tick(&world, usage);
        world_find(&world, 1)->children_user = 0.05 * (i + 1);
    }
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 5, 1e-9);
    world_done(&world, usage);
}

/* The kernel tells children's time in steps of 10 ms, each cut: a thousand of them must not add up.
 */
static void the_kernels_rounding_does_not_add_up(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    double truth = 0;
    for (int i = 0; i < 1000; i++) {
        world_add(&world, (uint64_t)(2 + i), 1, 11, 10)->cpu = 0.057;
        world_tick(&world, usage);
        world_end(&world, (uint64_t)(2 + i));
        truth += 0.057;
        world_find(&world, 1)->children_user = floor(truth * 100) / 100;
    }
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), truth, 0.02);
    world_done(&world, usage);
}

/* The parent was read after it had waited, the child before it was gone: both in one snapshot. */
static void a_child_that_is_read_beside_its_own_end_counts_once(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10)->cpu = 2;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world_find(&world, 1)->children_user = 2;
    world_tick(&world, usage);
    world_end(&world, 2);
    world_tick(&world, usage);
    world_find(&world, 1)->cpu = 2.5;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 4.5, 1e-9);
    world_done(&world, usage);
}

/* And the other way round: the parent was read before it waited. */
static void a_child_whose_end_comes_later_counts_once(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10)->cpu = 2;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world_end(&world, 2);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 2, 1e-9);
    world_find(&world, 1)->children_user = 2.1;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 2.1, 1e-9);
    world_done(&world, usage);
}

/* The children of a process that ignores SIGCHLD are in no counter. */
static void children_that_nobody_waits_for_keep_their_share(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of_launcher(5);
    for (int i = 0; i < 10; i++) {
        world_add(&world, (uint64_t)(2 + i), 1, 11, 10)->cpu = 0.5;
        world_tick(&world, usage);
        world_end(&world, (uint64_t)(2 + i));
    }
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 5, 1e-9);
    world_done(&world, usage);
}

/* A shell ignores SIGCHLD; its parent's wait gets only the shell's own usage. */
static void what_nobody_waited_for_hides_nothing_of_others(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10)->cpu = 0.1;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world_add(&world, 3, 2, 12, 11)->cpu = 4;
    world_tick(&world, usage);
    world_end(&world, 3);
    world_tick(&world, usage);
    world_tick(&world, usage); /* the shell is read after its child's end */
    world_end(&world, 2);
    world_find(&world, 1)->children_user = 0.1;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 4.1, 1e-9);
    world_find(&world, 1)->children_user = 1.1; /* a child that was never seen */
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 5.1, 1e-9);
    world_done(&world, usage);
}

static void a_family_that_ends_at_once_is_handed_up(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10)->cpu = 0.1;
    world_add(&world, 3, 2, 12, 11)->cpu = 0.2;
    world_add(&world, 4, 3, 13, 12)->cpu = 0.3;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world_end(&world, 2);
    world_end(&world, 3);
    world_end(&world, 4);
    world_find(&world, 1)->children_user = 0.7;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0.7, 1e-9);
    world_done(&world, usage);
}

/* Its parent is then a reaper outside; no process of ours gets its exit. */
static void an_orphan_stays_and_keeps_its_share(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5)->start = 10;
    world_add(&world, 2, 1, 11, 10);
    vitals_usage *usage = usage_of_pid(10);
    world_tick(&world, usage);
    world_end(&world, 1);
    struct world_process *orphan = world_find(&world, 2);
    orphan->parent = 900;
    orphan->parent_pid = 1;
    orphan->cpu = 3;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 3, 1e-9);
    world_end(&world, 2);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 3, 1e-9);
    world_done(&world, usage);
}

static void what_a_child_did_before_the_run_is_not_the_runs(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5)->start = 10;
    struct world_process *child = world_add(&world, 2, 1, 11, 10);
    child->start = 11;
    child->cpu = 100;
    vitals_usage *usage = usage_of_pid(10);
    world_tick(&world, usage);
    child->cpu = 101;
    world_tick(&world, usage);
    world_end(&world, 2);
    world_find(&world, 1)->children_user = 101.5; /* half a second that no snapshot saw */
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1.5, 1e-9);
    world_done(&world, usage);
}

static void rows_that_are_each_others_parents_end(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 3, 11, 12)->cpu = 1;
    world_add(&world, 3, 2, 12, 11)->cpu = 1;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 0, 0);
    world_find(&world, 2)->parent = 1;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 2, 0);
    world_find(&world, 2)->parent = 3;
    world_tick(&world, usage);
    world.process_count = 0;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 2, 0);
    world_done(&world, usage);
}

static void strangers_and_all_below_them_are_left_out(void)
{
    world_init(&world);
    const int64_t stranger = 11;
    vitals_usage_options options;
    vitals_usage_options_init(&options, sizeof options);
    options.launcher = 5;
    options.excluded_pids = &stranger;
    options.excluded_count = 1;
    world_add(&world, 1, 0, 10, 5)->cpu = 1;
    world_add(&world, 2, 0, 11, 5)->cpu = 10;
    world_add(&world, 3, 2, 12, 11)->cpu = 100;
    vitals_usage *usage = usage_of(&options);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1, 0);
    world_end(&world, 2);
    world_add(&world, 4, 1, 11, 10)->cpu = 7; /* another process with that number */
    world_find(&world, 4)->start = 9000;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 8, 0);
    world_done(&world, usage);
}

static void no_children_means_the_named_alone(void)
{
    world_init(&world);
    const int64_t pid = 10;
    vitals_usage_options options;
    vitals_usage_options_init(&options, sizeof options);
    options.pids = &pid;
    options.pid_count = 1;
    options.no_children = 1;
    world_add(&world, 1, 0, 10, 5);
    vitals_usage *usage = usage_of(&options);
    world_tick(&world, usage);
    world_add(&world, 2, 1, 11, 10)->cpu = 10;
    world_find(&world, 1)->cpu = 1;
    world_find(&world, 1)->children_user = 30;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_seconds"), 1, 0);
    CHECK_NEAR(tree(usage, "processes"), 1, 0);
    vitals_availability state;
    (void)newest(usage, VITALS_SCOPE_DESCENDANTS, "processes", &state);
    CHECK_INT(state, VITALS_NOT_REQUESTED);
    world_done(&world, usage);
}

/* ---- input and output ---- */

static void input_of_a_reaped_child_is_counted_once(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5)->read = 100;
    world_add(&world, 2, 1, 11, 10)->read = 1000;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "disk_read_bytes"), 1100, 0);
    world_end(&world, 2);
    world_find(&world, 1)->read = 100 + 1500; /* its own, and all that the child read */
    world_find(&world, 1)->children_user = 0.1;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "disk_read_bytes"), 1600, 0);
    vitals_availability state;
    CHECK_NEAR(newest(usage, VITALS_SCOPE_ROOT, "disk_read_bytes", &state), 600, 0);
    CHECK_INT(state, VITALS_UPPER_BOUND); /* 500 of it were the child's, which is unknown */
    world_done(&world, usage);
}

static void what_cannot_be_read_is_a_lower_bound_and_never_nought(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5)->read = 100;
    world_add(&world, 2, 1, 11, 10)->io = VITALS_DENIED;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "disk_read_bytes", &state), 100, 0);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    world_done(&world, usage);
    world_init(&world);
    world_add(&world, 1, 0, 10, 5)->io = VITALS_DENIED;
    usage = usage_of_launcher(5);
    world_tick(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "disk_read_bytes", &state);
    CHECK_INT(state, VITALS_DENIED);
    (void)figure_of(usage, "disk_read_bytes", "", &state);
    CHECK_INT(state, VITALS_DENIED);
    world_done(&world, usage);
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
};
CHECK_TESTS(tests)
