/* The table of processes and its late details: when they are due, which thread reads them, and
 * where an answer goes that comes after its process has ended. */
#include "process_world.h"

#include "process/workloads.h"

#include <sys/resource.h>

static void details_come_from_a_worker(void)
{
    struct world world;
    world_open(&world, check_fixture("proc/linux-6.18"), 0);
    world_tick(&world);
    const vitals_row *row = world_need(&world, 700);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_USER), VITALS_NOT_YET);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_COMMAND_LINE), VITALS_NOT_YET);
    CHECK_UINT(world_details(&world, 1, NS_PER_SECOND), 5);
    world_tick(&world);
    row = world_need(&world, 700);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_UID), 0);
    CHECK_TEXT(row, VITALS_PROCESS_USER, "root");
    CHECK_TEXT(row, VITALS_PROCESS_COMMAND_LINE, "python3\0train.py\0--name\0two words\0\0");
    CHECK_TEXT(row, VITALS_PROCESS_CGROUP, "/system.slice/job.service");
    row = world_need(&world, 701);
    CHECK_TEXT(row, VITALS_PROCESS_USER, "4000000001"); // no user has that number
    CHECK_TEXT(row, VITALS_PROCESS_COMMAND_LINE, "sh\0-c\0true");
    world_close(&world);
}

static void details_are_asked_for_when_they_are_due(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 10, "a", 1, 100);
    tree_process(&tree, 11, "b", 1, 100);
    world_open(&world, tree.path, 0);
    world_tick(&world);
    CHECK_UINT(world_details(&world, 100, 50), 2);
    CHECK_UINT(world_details(&world, 120, 50), 0); // though nothing could be read: not at once
    tree_process(&tree, 11, "execed", 1, 100);
    world_tick(&world);
    CHECK_UINT(world_details(&world, 121, 50), 1);
    CHECK_UINT(world_details(&world, 150, 50), 1); // the other one is old
    static struct process_batch batches[3];        // what did not fit is given by the next call
    for (size_t i = 0; i < 3; i++)
        CHECK_UINT(world_due(&world, &batches[i], 500, 50, 1), i < 2);
    CHECK(batches[0].wants[0].key != batches[1].wants[0].key);
    CHECK_UINT(world_details(&world, 1000, 50), 0); // a worker has the questions still
    for (size_t i = 0; i < 2; i++) {
        process_batch_read(&world.context, world.users, &batches[i], NULL);
        process_table_take(world.table, &batches[i]);
        batch_done(&batches[i].rows);
    }
    CHECK_UINT(world_details(&world, 1000, 50), 2);
    world_close(&world);
    tree_free(&tree);
}

/* Its stat tells that it has none: its file is not opened. */
static void a_kernel_thread_has_no_arguments(void)
{
    enum { KERNEL_THREAD = 4194304 | 0x200000 };
    struct tree tree = tree_new();
    struct world world;
    char text[256];
    tree_process(&tree, 10, "job", 1, 100);
    tree_process(&tree, 11, "kworker/0:1", 2, 100);
    snprintf(text, sizeof text,
             "11 (kworker/0:1) I 2 0 0 0 -1 %d 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 0\n",
             KERNEL_THREAD);
    tree_text(&tree, 11, "stat", text);
    for (int64_t pid = 10; pid <= 11; pid++)
        tree_put(&tree, pid, "cmdline", "job\0-v", 7);
    world_open(&world, tree.path, 0);
    world_tick(&world);
    CHECK_UINT(world_details(&world, 1, NS_PER_SECOND), 2);
    world_tick(&world);
    CHECK_TEXT(world_need(&world, 10), VITALS_PROCESS_COMMAND_LINE, "job\0-v\0");
    CHECK_TEXT(world_need(&world, 11), VITALS_PROCESS_COMMAND_LINE, "");
    CHECK_TEXT(world_need(&world, 11), VITALS_PROCESS_PROGRAM_NAME, "kworker/0:1");
    world_close(&world);
    tree_free(&tree);
}

/* Asks the processes for one column alone; returns how many were asked. */
static size_t take_turn(struct world *world, unsigned turn, vitals_metric metric, uint64_t now_ns,
                        uint64_t every_ns)
{
    struct metric_set wanted = {0};
    metric_set_add(&wanted, metric);
    struct process_question question = {turn, 1, &every_ns, &wanted};
    size_t count = process_table_due(world->table, &question, now_ns, &world->batch, PROCESS_BATCH);
    process_batch_read(&world->context, world->users, &world->batch, NULL);
    process_table_take(world->table, &world->batch);
    return count;
}

static void columns_of_two_cadences_are_read_apart(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 10, "a", 1, 100);
    tree_text(&tree, 10, "cmdline", "old");
    tree_text(&tree, 10, "cgroup", "0::/old\n");
    world_open(&world, tree.path, 0);
    world_tick(&world);
    CHECK_UINT(take_turn(&world, 0, VITALS_PROCESS_COMMAND_LINE, 100, 50), 1);
    CHECK_UINT(take_turn(&world, 1, VITALS_PROCESS_CGROUP, 100, 10), 1);
    tree_text(&tree, 10, "cmdline", "new");
    tree_text(&tree, 10, "cgroup", "0::/new\n");
    CHECK_UINT(take_turn(&world, 0, VITALS_PROCESS_COMMAND_LINE, 120, 50), 0);
    CHECK_UINT(take_turn(&world, 1, VITALS_PROCESS_CGROUP, 120, 10), 1);
    world_tick(&world);
    const vitals_row *row = world_need(&world, 10);
    CHECK_TEXT(row, VITALS_PROCESS_COMMAND_LINE, "old");
    CHECK_TEXT(row, VITALS_PROCESS_CGROUP, "/new");
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_UID), VITALS_NOT_YET);
    // Each says from when it is.
    CHECK(vitals_row_read_ns(row, VITALS_PROCESS_COMMAND_LINE) <
          vitals_row_read_ns(row, VITALS_PROCESS_CGROUP));
    CHECK(vitals_row_read_ns(row, VITALS_PROCESS_CGROUP) < vitals_row_stamp_ns(row));
    // Both turns at once, where both are due.
    static const uint64_t EVERY[] = {50, 10};
    struct process_question both = {0, 2, EVERY, &world.wanted};
    CHECK_UINT(process_table_due(world.table, &both, 140, &world.batch, PROCESS_BATCH), 0);
    CHECK_UINT(process_table_due(world.table, &both, 150, &world.batch, PROCESS_BATCH), 1);
    static struct process_batch other;
    CHECK_UINT(process_table_due(world.table, &both, 300, &other, PROCESS_BATCH), 0);
    process_batch_read(&world.context, world.users, &world.batch, NULL);
    process_table_take(world.table, &world.batch);
    world_tick(&world);
    CHECK_TEXT(world_need(&world, 10), VITALS_PROCESS_COMMAND_LINE, "new");
    CHECK_UINT(take_turn(&world, 1, VITALS_PROCESS_CGROUP, 155, 10), 0);
    // Another program: everything of it is due.
    tree_process(&tree, 10, "execed", 1, 100);
    world_tick(&world);
    CHECK_UINT(take_turn(&world, 0, VITALS_PROCESS_COMMAND_LINE, 156, 50), 1);
    CHECK_UINT(take_turn(&world, 1, VITALS_PROCESS_CGROUP, 156, 10), 1);
    world_close(&world);
    tree_free(&tree);
}

static void what_reads_the_same_is_kept(void)
{
    struct world world;
    world_open(&world, check_fixture("proc/linux-6.18"), 0);
    world_tick(&world);
    world_details(&world, 1, 1);
    for (uint64_t now = 2; now < 5; now++) {
        CHECK_UINT(world_due(&world, &world.batch, now, 1, PROCESS_BATCH), 5);
        process_batch_read(&world.context, world.users, &world.batch, NULL);
        uint64_t asked = memory_asked();
        process_table_take(world.table, &world.batch);
        CHECK_UINT(memory_asked(), asked);
    }
    world_close(&world);
}

/* A zombie has no arguments any more: the name from them stays, and is marked as old. A process
 * that died before they were read has the kernel's name, which may be cut. */
static void a_zombie_keeps_its_whole_name(void)
{
    struct tree tree = tree_new();
    struct world world;
    vitals_text text;
    tree_process(&tree, 10, "sixteen-bytes-x", 1, 100);
    tree_put(&tree, 10, "cmdline", "/bin/sixteen-bytes-xx", sizeof "/bin/sixteen-bytes-xx");
    world_open(&world, tree.path, 0);
    world_tick(&world);
    CHECK_UINT(world_details(&world, 1, 10), 1);
    world_tick(&world);
    CHECK_TEXT(world_need(&world, 10), VITALS_PROCESS_PROGRAM_NAME, "sixteen-bytes-xx");
    for (int64_t pid = 10; pid <= 11; pid++) {
        char stat[512];
        snprintf(stat, sizeof stat,
                 "%lld (sixteen-bytes-x) Z 1 1 1 0 -1 4194304 11 0 2 0 100 50 0 0 20 0 1 0 100 0 0 "
                 "0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
                 (long long)pid);
        tree_text(&tree, pid, "stat", stat);
        tree_text(&tree, pid, "statm", "0 0 0 0 0 0 0\n");
        tree_text(&tree, pid, "cmdline", "");
    }
    world_tick(&world);
    CHECK_UINT(world_details(&world, 20, 10), 2);
    world_tick(&world);
    CHECK_INT(vitals_row_text(world_need(&world, 10), VITALS_PROCESS_PROGRAM_NAME, &text),
              VITALS_STALE);
    CHECK_BYTES(text.bytes, text.size, "sixteen-bytes-xx", 16);
    CHECK_INT(vitals_row_text(world_need(&world, 11), VITALS_PROCESS_PROGRAM_NAME, &text),
              VITALS_LOWER_BOUND);
    CHECK_BYTES(text.bytes, text.size, "sixteen-bytes-x", 15);
    world_close(&world);
    tree_free(&tree);
}

/* Long command lines do not pile up: a process that does not fit in a batch is asked again at once.
 */
static void a_batch_has_an_end(void)
{
    enum { COUNT = 12, SIZE = 1 << 20 };
    struct tree tree = tree_new();
    struct world world;
    char *long_line = malloc(SIZE);
    CHECK_NOT_NULL(long_line);
    memset(long_line, 'x', SIZE);
    for (int64_t pid = 10; pid < 10 + COUNT; pid++) {
        tree_process(&tree, pid, "p", 1, 100);
        long_line[0] = (char)('a' + pid); // equal ones would be kept once
        tree_put(&tree, pid, "cmdline", long_line, SIZE);
    }
    free(long_line);
    world_open(&world, tree.path, 0);
    world_tick(&world);
    size_t asked = 0, rounds = 0;
    for (size_t count; (count = take_turn(&world, 0, VITALS_PROCESS_COMMAND_LINE, 1, 50)) > 0;) {
        asked += count;
        CHECK(++rounds < COUNT);
    }
    CHECK(rounds > 1);
    CHECK(asked > COUNT);
    world_tick(&world);
    for (int64_t pid = 10; pid < 10 + COUNT; pid++)
        CHECK(row_text(world_need(&world, pid), VITALS_PROCESS_COMMAND_LINE).size > SIZE / 2);
    world_close(&world);
    tree_free(&tree);
}

struct early {
    struct world *world;
    struct process_batch batches[8];
    size_t count;
};

static void ask_early(void *data)
{
    struct early *early = data;
    CHECK(early->count < CHECK_COUNT(early->batches));
    struct process_batch *batch = &early->batches[early->count++];
    CHECK(world_due(early->world, batch, 1, 50, PROCESS_BATCH) > 0);
    process_batch_read(&early->world->context, early->world->users, batch, NULL);
}

/* A first tick over many processes lets workers begin before it has read the last of them. */
static void workers_may_begin_within_a_tick(void)
{
    enum { COUNT = 300 };
    struct tree tree = tree_new();
    struct world world;
    static struct early early;
    for (int64_t pid = 1000; pid < 1000 + COUNT; pid++) {
        tree_process(&tree, pid, "p", 1, 100);
        tree_text(&tree, pid, "cmdline", "early");
    }
    world_open(&world, tree.path, 0);
    early = (struct early){.world = &world};
    process_table_tell(world.table, ask_early, &early);
    world_tick(&world);
    CHECK_UINT(early.count, 4); // after 24, 72, 168 and 296 of them
    size_t asked = 0;
    for (size_t i = 0; i < early.count; i++)
        asked += early.batches[i].count;
    CHECK_UINT(world_details(&world, 1, 50), COUNT - asked);
    for (size_t i = 0; i < early.count; i++) {
        process_table_take(world.table, &early.batches[i]);
        batch_done(&early.batches[i].rows);
    }
    world_tick(&world); // no process is new: no message
    CHECK_UINT(early.count, 4);
    for (int64_t pid = 1000; pid < 1000 + COUNT; pid++)
        CHECK_TEXT(world_need(&world, pid), VITALS_PROCESS_COMMAND_LINE, "early");
    world_close(&world);
    tree_free(&tree);
}

static void terminals_are_named(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 10, "daemon", 1, 100);
    tree_text(&tree, 11, "stat",
              "11 (shell) S 1 11 11 34819 42 4194304 11 0 2 0 100 50 0 0 20 0 3 0 100 8192 5 0 1 1 "
              "0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    tree_text(&tree, 12, "stat", "12 (cut) S 1 1 1 348");
    world_open(&world, tree.path, 0);
    for (int tick = 0; tick < 2; tick++) {
        world_tick(&world);
        const vitals_row *daemon = world_need(&world, 10), *shell = world_need(&world, 11);
        CHECK_TEXT(shell, VITALS_PROCESS_TERMINAL, "pts/3");
        CHECK_UINT(row_u64(shell, VITALS_PROCESS_FOREGROUND_GROUP), 42);
        CHECK_TEXT(daemon, VITALS_PROCESS_TERMINAL, "");
        CHECK_INT(vitals_row_availability(daemon, VITALS_PROCESS_FOREGROUND_GROUP),
                  VITALS_UNSUPPORTED);
        CHECK_INT(vitals_row_availability(world_need(&world, 12), VITALS_PROCESS_TERMINAL),
                  VITALS_FAILED);
    }
    world_close(&world);
    tree_free(&tree);
}

static void a_late_answer_for_another_process_is_dropped(void)
{
    for (uint32_t descriptors = 0; descriptors < 2; descriptors++) {
        struct tree tree = tree_new();
        struct world world;
        tree_process(&tree, 9, "first, which has the only descriptor", 1, 100);
        tree_process(&tree, 10, "a", 1, 100);
        tree_text(&tree, 10, "cmdline", "old");
        world_open(&world, tree.path, descriptors);
        world_tick(&world);
        struct process_batch *batch = &world.batch;
        CHECK_UINT(world_due(&world, batch, 1, 50, 2), 2);
        process_batch_read(&world.context, world.users, batch, NULL);
        tree_process(&tree, 10, "a", 1, 200); // another start: another process
        process_table_take(world.table, batch);
        CHECK_OK(world_write(&world, NULL), (vitals_error){0});
        CHECK_INT(vitals_row_availability(world_need(&world, 10), VITALS_PROCESS_COMMAND_LINE),
                  VITALS_NOT_YET);
        world_close(&world);
        tree_free(&tree);
    }
}

static void a_late_answer_of_the_dead_is_dropped(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    int64_t chosen = pid;
    process_table_select(world.table, VITALS_ROWS_LISTED, &chosen, 1);
    world_tick(&world);
    CHECK_UINT(world_due(&world, &world.batch, 1, 50, PROCESS_BATCH), 1);
    process_batch_read(&world.context, world.users, &world.batch, NULL);
    child_end(pid);
    struct workloads workloads = {0};
    workloads_collect(&workloads, world.table);
    CHECK(workloads.unknown); // it may live, as far as is known
    process_table_take(world.table, &world.batch);
    workloads_collect(&workloads, world.table);
    CHECK_FALSE(workloads.unknown);
    CHECK_UINT(workloads.count, 0);
    workloads_done(&workloads);
    CHECK_OK(world_write(&world, NULL), (vitals_error){0});
    CHECK_INT(vitals_row_availability(world_need(&world, pid), VITALS_PROCESS_COMMAND_LINE),
              VITALS_NOT_YET);
    world_close(&world);
}

/* As on a worker, which finds no descriptor left. Returns what became of the answer. */
static enum process_taken read_without_descriptors(struct world *world, uint64_t now_ns)
{
    struct rlimit before, none;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    CHECK_UINT(world_due(world, &world->batch, now_ns, NS_PER_SECOND, 8), 2);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    process_batch_read(&world->context, world->users, &world->batch, NULL);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
    return process_table_take(world->table, &world->batch);
}

/* It has not answered: what was known stands, and it is due again at once. */
static void without_descriptors_nobody_has_answered(void)
{
    struct tree tree = tree_new();
    struct world world;
    for (int64_t pid = 10; pid <= 20; pid += 10) {
        tree_process(&tree, pid, "job", 1, 500);
        tree_text(&tree, pid, "status", "Name:\tjob\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n");
        tree_put(&tree, pid, "cmdline", "job\0-v", 7);
    }
    world_open(&world, tree.path, 0);
    world_tick(&world);
    for (uint64_t turn = 0; turn < 2; turn++) {
        uint64_t now_ns = 1 + turn * 2 * NS_PER_SECOND;
        CHECK_INT(read_without_descriptors(&world, now_ns), PROCESS_RELIEVED);
        world_tick(&world);
        const vitals_row *row = world_need(&world, 20);
        vitals_availability expected = turn == 0 ? VITALS_NOT_YET : VITALS_HAVE;
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_COMMAND_LINE), expected);
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_USER), expected);
        if (turn == 1)
            CHECK_TEXT(row, VITALS_PROCESS_USER, "root");
        CHECK_UINT(world_details(&world, now_ns, NS_PER_SECOND), 2);
        world_tick(&world);
        row = world_need(&world, 20);
        CHECK_TEXT(row, VITALS_PROCESS_COMMAND_LINE, "job\0-v\0");
        CHECK_TEXT(row, VITALS_PROCESS_USER, "root");
    }
    // Until there is nothing left to give up.
    enum process_taken taken = PROCESS_RELIEVED;
    for (uint64_t turn = 4; taken == PROCESS_RELIEVED && turn < 20; turn++)
        taken = read_without_descriptors(&world, turn * 2 * NS_PER_SECOND);
    CHECK_INT(taken, PROCESS_REFUSED);
    world_close(&world);
    tree_free(&tree);
}

static const check_test tests[] = {
    {"without descriptors nobody has answered", without_descriptors_nobody_has_answered},
    {"details come from a lane", details_come_from_a_worker},
    {"details are asked for when they are due", details_are_asked_for_when_they_are_due},
    {"columns of two cadences are read apart", columns_of_two_cadences_are_read_apart},
    {"a kernel thread has no arguments", a_kernel_thread_has_no_arguments},
    {"what reads the same is kept", what_reads_the_same_is_kept},
    {"a zombie keeps its whole name", a_zombie_keeps_its_whole_name},
    {"a batch has an end", a_batch_has_an_end},
    {"lanes may begin within a tick", workers_may_begin_within_a_tick},
    {"terminals are named", terminals_are_named},
    {"a late answer for another process is dropped", a_late_answer_for_another_process_is_dropped},
    {"a late answer of the dead is dropped", a_late_answer_of_the_dead_is_dropped},
};
CHECK_TESTS(tests)
