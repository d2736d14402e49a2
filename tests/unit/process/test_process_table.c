/* The table of processes on trees of files that a test writes: identities, rows and their values.
 */
#include "process_world.h"

/* ---- on files ---- */

static void rows_hold_what_the_files_say(void)
{
    struct world world;
    world_open(&world, check_fixture("proc/linux-6.18"), 0);
    world_tick(&world);
    CHECK_INT(process_table_state(world.table), VITALS_HAVE);
    CHECK_UINT(process_table_listed(world.table), 5); // "0123" is no pid
    CHECK_UINT(world_count(&world), 5);
    const vitals_row *row = world_need(&world, 700);
    double tick = 1 / world.context.os.ticks_per_second;
    CHECK_UINT(vitals_row_key(row), process_table_key_at(world.table, 700, 0));
    CHECK_STR(vitals_row_label(row), "python3");
    CHECK_TEXT(row, VITALS_PROCESS_NAME, "python3");
    CHECK_TEXT(row, VITALS_PROCESS_STATE, "running");
    CHECK_UINT(row_u64(row, VITALS_PROCESS_PARENT_PID), 1);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_THREADS), 12);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_MINOR_FAULTS), 54321);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_MAJOR_FAULTS), 21);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_VIRTUAL_BYTES), 123456789);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_RESIDENT_BYTES), 2500 * world.context.os.page_bytes);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_RESIDENT_PEAK_BYTES), 81920 * 1024);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_READ_BYTES), 123);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_WRITTEN_BYTES), 456);
    CHECK_NEAR(row_f64(row, VITALS_PROCESS_START_SECONDS), 5000 * tick, 1e-9);
    CHECK_NEAR(row_f64(row, VITALS_PROCESS_CPU_USER_SECONDS), 123456 * tick, 1e-9);
    CHECK_NEAR(row_f64(row, VITALS_PROCESS_CPU_SYSTEM_SECONDS), 789 * tick, 1e-9);
    int64_t nice = 0;
    CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_NICE, &nice), VITALS_HAVE);
    CHECK_INT(nice, -5);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_CPU), 3);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_PROCESS_GROUP), 700);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_SESSION), 699);
    int64_t priority = 0;
    CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_PRIORITY, &priority), VITALS_HAVE);
    CHECK_INT(priority, 15);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_REALTIME_PRIORITY), 40);
    CHECK_TEXT(row, VITALS_PROCESS_SCHEDULING_POLICY, "batch");
    CHECK_NEAR(row_f64(row, VITALS_PROCESS_CHILDREN_USER_SECONDS), 31 * tick, 1e-9);
    CHECK_NEAR(row_f64(row, VITALS_PROCESS_CHILDREN_SYSTEM_SECONDS), 32 * tick, 1e-9);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_SHARED_BYTES), 900 * world.context.os.page_bytes);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_TEXT_BYTES), 1 * world.context.os.page_bytes);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_DATA_BYTES), 2000 * world.context.os.page_bytes);
    world_close(&world);
}

/* Pids of another machine's /proc are not ours to use in system calls. */
static void cpu_time_of_a_foreign_proc_is_an_estimate(void)
{
    struct world world;
    world_open(&world, check_fixture("proc/linux-6.18"), 0);
    CHECK_FALSE(world.context.os.live);
    CHECK_STR(world.context.origin.host, "node17");
    CHECK_STR(world.context.origin.boot_id, "11111111-2222-4333-8444-555555555555");
    world_tick(&world);
    double seconds;
    const vitals_row *row = world_need(&world, 700);
    CHECK_INT(vitals_row_f64(row, VITALS_PROCESS_CPU_SECONDS, &seconds), VITALS_ESTIMATE);
    CHECK_NEAR(seconds, (123456 + 789) / world.context.os.ticks_per_second, 1e-9);
    world_close(&world);
}

static void what_a_process_does_not_have_says_why(void)
{
    struct world world;
    world_open(&world, check_fixture("proc/linux-6.18"), 0);
    world_tick(&world);
    world_details(&world, 1, NS_PER_SECOND);
    CHECK_OK(world_write(&world, NULL), (vitals_error){0});
    const vitals_row *thread = world_need(&world, 2), *zombie = world_need(&world, 702);
    CHECK_INT(vitals_row_availability(thread, VITALS_PROCESS_RESIDENT_PEAK_BYTES),
              VITALS_UNSUPPORTED);
    CHECK_INT(vitals_row_availability(zombie, VITALS_PROCESS_RESIDENT_PEAK_BYTES), VITALS_GONE);
    CHECK_TEXT(zombie, VITALS_PROCESS_STATE, "zombie");
    CHECK_TEXT(thread, VITALS_PROCESS_COMMAND_LINE, "");
    CHECK_INT(vitals_row_availability(thread, VITALS_PROCESS_COMMAND_LINE), VITALS_HAVE);
    CHECK_INT(vitals_row_availability(zombie, VITALS_PROCESS_COMMAND_LINE), VITALS_GONE);
    world_close(&world);

    world_open(&world, check_fixture("proc/linux-2.4"), 0);
    world_tick(&world);
    const vitals_row *old = world_need(&world, 5);
    CHECK_INT(vitals_row_availability(old, VITALS_PROCESS_READ_BYTES), VITALS_GONE);
    world_close(&world);
}

static void hostile_names_come_through_untouched(void)
{
    struct world world;
    world_open(&world, check_fixture("proc/hostile"), 0);
    world_tick(&world);
    CHECK_TEXT(world_need(&world, 10), VITALS_PROCESS_NAME, "a) R 9 9 9 (b");
    CHECK_TEXT(world_need(&world, 11), VITALS_PROCESS_NAME, "two\nlines");
    CHECK_TEXT(world_need(&world, 12), VITALS_PROCESS_NAME, "\x1b[2J\xff\t\xc3");
    CHECK_TEXT(world_need(&world, 21), VITALS_PROCESS_STATE, "unknown");
    static const int64_t BROKEN[] = {14, 15, 18, 19};
    for (size_t i = 0; i < CHECK_COUNT(BROKEN); i++) {
        const vitals_row *row = world_need(&world, BROKEN[i]);
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_NAME), VITALS_FAILED);
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_THREADS), VITALS_FAILED);
    }
    const vitals_row *cut = world_need(&world, 13);
    CHECK_UINT(row_u64(cut, VITALS_PROCESS_PARENT_PID), 1);
    CHECK_INT(vitals_row_availability(cut, VITALS_PROCESS_CPU_USER_SECONDS), VITALS_FAILED);
    CHECK_INT(vitals_row_availability(cut, VITALS_PROCESS_START_SECONDS), VITALS_FAILED);
    const vitals_row *huge = world_need(&world, 20);
    uint64_t bytes;
    CHECK_INT(vitals_row_u64(huge, VITALS_PROCESS_VIRTUAL_BYTES, &bytes), VITALS_LOWER_BOUND);
    CHECK_UINT(bytes, EXACT_MAX);
    world_close(&world);
}

/* No value of any row may be left unset, whatever the files hold. */
static void every_value_has_a_state(void)
{
    static const char *const TREES[] = {"proc/hostile", "proc/linux-2.4", "proc/linux-6.18", NULL};
    for (size_t i = 0; i < CHECK_COUNT(TREES); i++) {
        CHECK_CASE(TREES[i] != NULL ? TREES[i] : "live");
        struct world world;
        world_open(&world, TREES[i] != NULL ? check_fixture(TREES[i]) : NULL, 0);
        world_tick(&world);
        const vitals_row *row = NULL;
        while ((row = vitals_snapshot_next(world.snapshot, VITALS_TABLE_PROCESS, row)) != NULL)
            for (vitals_metric metric = vitals_metric_next((vitals_metric)0); metric != 0;
                 metric = vitals_metric_next(metric))
                if (vitals_metric_table(metric) == VITALS_TABLE_PROCESS &&
                    vitals_row_availability(row, metric) == VITALS_UNSET)
                    CHECK_FAIL("%s of %s is unset", vitals_metric_name(metric),
                               vitals_row_label(row));
        world_close(&world);
    }
}

static void a_key_is_never_given_again(void)
{
    for (uint32_t descriptors = 0; descriptors < 3; descriptors++) { // 1: only one is kept
        struct tree tree = tree_new();
        struct world world;
        tree_process(&tree, 300, "low", 1, 100);
        tree_process(&tree, 400, "high", 1, 100);
        world_open(&world, tree.path, descriptors);
        world_tick(&world);
        uint64_t low = process_table_key_at(world.table, 300, 0);
        uint64_t high = process_table_key_at(world.table, 400, 0);
        CHECK(low != 0 && high > low);
        world_tick(&world);
        CHECK_UINT(process_table_key_at(world.table, 300, 0), low);
        CHECK_UINT(process_table_key_at(world.table, 400, 0), high);
        tree_process(&tree, 400, "reused", 1, 101);
        tree_process(&tree, 200, "pids have wrapped", 1, 102);
        world_tick(&world);
        uint64_t reused = process_table_key_at(world.table, 400, 0);
        uint64_t wrapped = process_table_key_at(world.table, 200, 0);
        CHECK(reused > high && wrapped > high && reused != wrapped);
        CHECK_UINT(process_table_key_at(world.table, 300, 0), low);
        uint64_t before = 0;
        const vitals_row *row = NULL;
        while ((row = vitals_snapshot_next(world.snapshot, VITALS_TABLE_PROCESS, row)) != NULL) {
            CHECK(vitals_row_key(row) > before);
            before = vitals_row_key(row);
        }
        tree_remove(&tree, 300);
        world_tick(&world);
        CHECK_UINT(process_table_key_at(world.table, 300, 0), 0);
        CHECK_UINT(world_count(&world), 2);
        tree_process(&tree, 300, "low", 1, 100);
        world_tick(&world);
        CHECK(process_table_key_at(world.table, 300, 0) > wrapped);
        world_close(&world);
        tree_free(&tree);
    }
}

/* hidepid=1 lists processes that it does not show. Directories without search permission look
 * alike, except to root, so the test drops root. */
static void who_may_not_be_read_has_a_row_all_the_same(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 10, "open", 1, 100);
    tree_process(&tree, 11, "closed", 1, 100);
    char path[128];
    snprintf(path, sizeof path, "%s/11", tree.path);
    chmod(tree.path, 0755);
    chmod(path, 0);
    bool root = geteuid() == 0;
    if (root && seteuid(65534) != 0) {
        tree_free(&tree);
        CHECK_SKIP("cannot become nobody");
    }
    world_open(&world, tree.path, 0);
    world_tick(&world);
    const vitals_row *row = world_need(&world, 11);
    uint64_t key = vitals_row_key(row);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_NAME), VITALS_DENIED);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_START_SECONDS), VITALS_DENIED);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_COMMAND_LINE), VITALS_DENIED);
    CHECK_UINT(world_details(&world, 1, 1), 1); // it is not asked for details
    world_tick(&world);
    CHECK_UINT(vitals_row_key(world_need(&world, 11)), key);
    if (root && seteuid(0) != 0)
        CHECK_FAIL("cannot become root again");
    chmod(path, 0755);
    world_tick(&world);
    row = world_need(&world, 11);
    CHECK_TEXT(row, VITALS_PROCESS_NAME, "closed");
    CHECK(vitals_row_key(row) > key); // without proof, no row is continued
    world_close(&world);
    tree_free(&tree);
}

static void a_missing_proc_is_said(void)
{
    vitals_options options = {.size = sizeof options, .proc_root = "/nowhere/at/all"};
    struct os os;
    vitals_error error;
    CHECK_INT(os_open(&os, &options, &error), VITALS_EGONE);
    CHECK_CONTAINS(error.message, "/nowhere/at/all");

    struct tree tree = tree_new();
    struct world world;
    world_open(&world, tree.path, 0);
    tree_free(&tree);
    world_tick(&world);
    CHECK_INT(process_table_state(world.table), VITALS_GONE);
    CHECK_UINT(world_count(&world), 0);
    world_close(&world);
}

/* ---- which rows ---- */

static void a_list_selects_those_processes(void)
{
    struct tree tree = tree_new();
    struct world world;
    static const int64_t PIDS[] = {11, 13, 77};
    for (int64_t pid = 10; pid < 15; pid++)
        tree_process(&tree, pid, "p", 1, 100);
    world_open(&world, tree.path, 0);
    process_table_select(world.table, VITALS_ROWS_LISTED, PIDS, 3);
    world_tick(&world);
    CHECK_UINT(world_count(&world), 2);
    world_need(&world, 11), world_need(&world, 13);
    CHECK_UINT(process_table_listed(world.table), 5);
    CHECK(process_table_key_at(world.table, 12, 0) != 0); // for joining, row or none
    process_table_only_chosen(world.table, true);
    world_tick(&world);
    CHECK_UINT(world_count(&world), 2);
    CHECK_UINT(process_table_key_at(world.table, 12, 0), 0); // unless nothing is joined
    CHECK_UINT(process_table_listed(world.table), 5);
    process_table_only_chosen(world.table, false);
    world_tick(&world);
    tree_process(&tree, 77, "late", 1, 300);
    tree_process(&tree, 13, "who got the pid", 1, 301);
    world_tick(&world);
    CHECK_UINT(world_count(&world), 2);
    world_need(&world, 77);
    CHECK_NULL(world_row(&world, 13));
    CHECK_UINT(world_details(&world, 1, 1), 2); // details too of these only
    world_close(&world);
    tree_free(&tree);
}

static void a_tree_keeps_whom_it_has_seen(void)
{
    struct tree tree = tree_new();
    struct world world;
    static const int64_t ROOT = 50;
    tree_process(&tree, 1, "init", 0, 1);
    tree_process(&tree, 50, "root", 1, 100);
    tree_process(&tree, 51, "child", 50, 101);
    tree_process(&tree, 40, "grandchild, pids wrapped", 51, 102);
    tree_process(&tree, 60, "other", 1, 100);
    tree_process(&tree, 61, "other's child", 60, 101);
    world_open(&world, tree.path, 0);
    process_table_select(world.table, VITALS_ROWS_TREE, &ROOT, 1);
    world_tick(&world);
    CHECK_UINT(world_count(&world), 3);
    CHECK_UINT(row_u64(world_need(&world, 40), VITALS_PROCESS_RESIDENT_BYTES),
               7 * world.context.os.page_bytes);

    // The child dies, its child goes to init, and has one more.
    tree_remove(&tree, 51);
    tree_process(&tree, 40, "grandchild, pids wrapped", 1, 102);
    tree_process(&tree, 41, "great-grandchild", 40, 103);
    world_tick(&world);
    CHECK_UINT(world_count(&world), 3);
    world_need(&world, 40), world_need(&world, 41), world_need(&world, 50);

    // The root dies; a process that gets its pid is not meant, nor are its children.
    tree_process(&tree, 50, "somebody", 1, 900);
    tree_process(&tree, 52, "somebody's child", 50, 901);
    world_tick(&world);
    CHECK_UINT(world_count(&world), 2);
    CHECK_NULL(world_row(&world, 50));
    CHECK_NULL(world_row(&world, 52));

    // Another choice of the same table.
    static const int64_t OTHER = 60;
    process_table_select(world.table, VITALS_ROWS_TREE, &OTHER, 1);
    world_tick(&world);
    CHECK_UINT(world_count(&world), 2);
    world_need(&world, 60), world_need(&world, 61);
    world_close(&world);
    tree_free(&tree);
}

static void a_tree_survives_parents_that_cannot_be(void)
{
    struct tree tree = tree_new();
    struct world world;
    static const int64_t ROOT = 10;
    tree_process(&tree, 10, "root", 11, 100); // in a ring
    tree_process(&tree, 11, "a", 12, 100);
    tree_process(&tree, 12, "b", 11, 100);
    tree_process(&tree, 13, "its own parent", 13, 100);
    tree_process(&tree, 14, "older than its parent", 10, 50);
    tree_process(&tree, 15, "child", 10, 100);
    world_open(&world, tree.path, 0);
    process_table_select(world.table, VITALS_ROWS_TREE, &ROOT, 1);
    world_tick(&world);
    CHECK_UINT(world_count(&world), 2);
    world_need(&world, 15);
    world_close(&world);
    tree_free(&tree);
}

static void only_users_of_a_device_have_a_row(void)
{
    struct tree tree = tree_new();
    struct world world;
    for (int64_t pid = 10; pid < 13; pid++)
        tree_process(&tree, pid, "p", 1, 100);
    world_open(&world, tree.path, 0);
    process_table_select(world.table, VITALS_ROWS_GPU_USERS, NULL, 0);
    world_tick(&world);
    CHECK_UINT(world_count(&world), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(process_table_tick(world.table, &world.wanted), 0);
        CHECK_UINT(process_table_use(world.table, 99, &world.wanted), 0); // it is not listed
        uint64_t key = process_table_use(world.table, 11, &world.wanted);
        CHECK(key != 0);
        CHECK_UINT(process_table_use(world.table, 11, &world.wanted), key);
        CHECK_UINT(process_table_key_at(world.table, 11, 0), key);
        CHECK_UINT(process_table_key_at(world.table, 12, 0), 0); // not named, and so never opened
        CHECK_OK(world_write(&world, NULL), (vitals_error){0});
        CHECK_UINT(world_count(&world), 1);
        CHECK_UINT(row_u64(world_need(&world, 11), VITALS_PROCESS_RESIDENT_BYTES),
                   7 * world.context.os.page_bytes);
    }
    world_tick(&world);
    CHECK_UINT(world_count(&world), 0);
    world_close(&world);
    tree_free(&tree);
}

static void what_is_not_due_keeps_its_value(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 10, "p", 1, 100);
    tree_text(&tree, 10, "io", "read_bytes: 5\nwrite_bytes: 6\n");
    world_open(&world, tree.path, 0);
    world_tick(&world);
    tree_text(&tree, 10, "statm", "20 9 3 1 0 4 0\n");
    tree_text(&tree, 10, "io", "read_bytes: 7\nwrite_bytes: 8\n");
    tree_process(&tree, 11, "new", 1, 100);
    tree_text(&tree, 10, "statm", "20 9 3 1 0 4 0\n");
    struct metric_set due = {0};
    metric_set_add(&due, VITALS_PROCESS_RESIDENT_BYTES);
    CHECK_INT(process_table_tick(world.table, &due), 0);
    CHECK_OK(world_write(&world, NULL), (vitals_error){0});
    const vitals_row *row = world_need(&world, 10);
    uint64_t bytes;
    CHECK_UINT(row_u64(row, VITALS_PROCESS_RESIDENT_BYTES), 9 * world.context.os.page_bytes);
    CHECK_INT(vitals_row_u64(row, VITALS_PROCESS_READ_BYTES, &bytes), VITALS_HAVE);
    CHECK_UINT(bytes, 5);
    // It says from when it is, so that no rate is made of a value that was not read again.
    CHECK_UINT(vitals_row_read_ns(row, VITALS_PROCESS_READ_BYTES) < vitals_row_stamp_ns(row), 1);
    // A new one has everything that was ever due.
    CHECK_INT(vitals_row_availability(world_need(&world, 11), VITALS_PROCESS_READ_BYTES),
              VITALS_GONE);
    world_close(&world);
    tree_free(&tree);
}

/* ---- memory ---- */

static void a_steady_tick_allocates_nothing(void)
{
    struct tree tree = tree_new();
    for (int64_t pid = 1; pid < 100; pid++)
        tree_process(&tree, pid, "p", 1, 100);
    static const int64_t ROOT = 1;
    static const unsigned ROWS[] = {VITALS_ROWS_ALL, VITALS_ROWS_TREE, VITALS_ROWS_LISTED,
                                    VITALS_ROWS_GPU_USERS};
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        struct world world;
        world_open(&world, tree.path, 80); // some are kept and some are not
        process_table_select(world.table, ROWS[i], &ROOT, 1);
        for (int tick = 0; tick < 3; tick++) {
            world_tick(&world);
            (void)process_table_use(world.table, 5, &world.wanted);
        }
        uint64_t asked = memory_asked();
        for (int tick = 0; tick < 5; tick++) {
            CHECK_INT(process_table_tick(world.table, &world.wanted), 0);
            (void)process_table_use(world.table, 5, &world.wanted);
        }
        CHECK_UINT(memory_asked(), asked);
        world_close(&world);
    }
    tree_free(&tree);
}

/* Two ticks with a change between them; returns the first failure. */
static int two_ticks(struct world *world, const struct tree *tree)
{
    vitals_error error;
    tree_remove(tree, 14);
    tree_process(tree, 10, "p", 1, 100);
    int code = process_table_tick(world->table, &world->wanted);
    if (code == 0)
        code = world_write(world, &error);
    memory_fail_at(0);
    tree_process(tree, 14, "new", 10, 300);
    tree_process(tree, 10, "renamed", 1, 100);
    return code;
}

/* The n-th allocation fails, for every n: the tick says so, nothing leaks, the next one is whole.
 */
static void running_out_of_memory_is_survived(void)
{
    struct tree tree = tree_new();
    for (int64_t pid = 10; pid < 14; pid++) {
        tree_process(&tree, pid, "p", 1, 100);
        tree_text(&tree, pid, "cmdline", "a\0b");
        tree_text(&tree, pid, "status", "Name:\tp\nUid:\t0\t0\t0\t0\n");
        tree_text(&tree, pid, "cgroup", "0::/a\n");
    }
    int64_t live = memory_live();
    static const int64_t ROOT = 10;
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        CHECK(nth < 1000);
        struct world world;
        world_open(&world, tree.path, 6);
        process_table_select(world.table, nth % 2 ? VITALS_ROWS_ALL : VITALS_ROWS_TREE, &ROOT, 1);
        memory_fail_at(nth);
        failed = two_ticks(&world, &tree) != 0;
        memory_fail_at(nth);
        world_details(&world, 1, 1);
        memory_fail_at(0);
        memory_fail_at(nth);
        int code = process_table_tick(world.table, &world.wanted);
        memory_fail_at(0);
        CHECK(code == 0 || code == VITALS_EMEMORY);
        world_tick(&world);
        CHECK_TEXT(world_need(&world, 10), VITALS_PROCESS_NAME, "renamed");
        if (nth % 2)
            CHECK_UINT(world_count(&world), 5);
        world_close(&world);
        CHECK_INT(memory_live(), live);
    }
    tree_free(&tree);
}

static const check_test tests[] = {
    {"rows hold what the files say", rows_hold_what_the_files_say},
    {"CPU time of a foreign /proc is an estimate", cpu_time_of_a_foreign_proc_is_an_estimate},
    {"what a process does not have says why", what_a_process_does_not_have_says_why},
    {"hostile names come through untouched", hostile_names_come_through_untouched},
    {"every value has a state", every_value_has_a_state},
    {"a key is never given again", a_key_is_never_given_again},
    {"who may not be read has a row all the same", who_may_not_be_read_has_a_row_all_the_same},
    {"a missing /proc is said", a_missing_proc_is_said},
    {"a list selects those processes", a_list_selects_those_processes},
    {"a tree keeps whom it has seen", a_tree_keeps_whom_it_has_seen},
    {"a tree survives parents that cannot be", a_tree_survives_parents_that_cannot_be},
    {"only users of a device have a row", only_users_of_a_device_have_a_row},
    {"what is not due keeps its value", what_is_not_due_keeps_its_value},
    {"a steady tick allocates nothing", a_steady_tick_allocates_nothing},
    {"running out of memory is survived", running_out_of_memory_is_survived},
};
CHECK_TESTS(tests)
