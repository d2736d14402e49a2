/* The tree of a few processes is followed without listing the machine: on the machine that the test
 * runs on, with children of its own. */
#include "process_world.h"

#include "process/entry.h"

#include <pthread.h>

static struct world world;
static int64_t self;

static void follow_ourselves(void)
{
    world_open(&world, NULL, 0);
    self = getpid();
    process_table_select(world.table, VITALS_ROWS_DESCENDANTS, &self, 1);
    world_tick(&world);
    world_tick(&world); /* these look at all */
    if (world.table->listed < 12)
        CHECK_SKIP("few processes here: all are looked at, as that is as cheap");
}

/* Ticks until one looks at the tree alone: on a machine where the lists are cheaper. */
static void tick_alone(void)
{
    for (int i = 0; i < 20; i++) {
        world_tick(&world);
        if (world.table->scanning_tree)
            return;
    }
    CHECK_SKIP("this kernel lists no children, or this machine has too few processes");
}

static pid_t sleeper(void)
{
    pid_t pid = child_fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static void who_is_born_and_ends_is_seen_in_the_next_tick(void)
{
    follow_ourselves();
    tick_alone();
    size_t known = world.table->count;
    pid_t pid = sleeper();
    tick_alone();
    uint64_t key = vitals_row_key(world_need(&world, pid));
    CHECK(world.table->count >= known); /* a process outside the tree keeps its values */
    tick_alone();
    CHECK_UINT(vitals_row_key(world_need(&world, pid)), key);
    end(pid);
    tick_alone();
    CHECK_NULL(world_row(&world, pid));
    world_close(&world);
}

/* A child's child, born between the same two ticks. */
static void grandchildren_are_seen_with_their_parents(void)
{
    int told[2];
    pid_t grandchild = 0;
    follow_ourselves();
    tick_alone();
    CHECK_INT(pipe(told), 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        pid_t below = child_fork();
        if (below != 0 && write(told[1], &below, sizeof below) != (ssize_t)sizeof below)
            _exit(1);
        pause();
        _exit(0);
    }
    CHECK_INT(read(told[0], &grandchild, sizeof grandchild), sizeof grandchild);
    tick_alone();
    (void)world_need(&world, pid);
    (void)world_need(&world, grandchild);
    end(pid);
    kill(grandchild, SIGKILL);
    close(told[0]), close(told[1]);
    world_close(&world);
}

static void *fork_in_thread(void *data)
{
    _Atomic pid_t *out = data;
    *out = sleeper();
    pause();
    return NULL;
}

/* trackers.md 2.4-2: the children of the first thread are not all. */
static void children_of_other_threads_are_seen(void)
{
    pthread_t thread;
    static _Atomic pid_t pid;
    follow_ourselves();
    CHECK_INT(pthread_create(&thread, NULL, fork_in_thread, &pid), 0);
    while (pid == 0)
        usleep(1000);
    tick_alone(); /* learns how many threads we have */
    tick_alone();
    (void)world_need(&world, pid);
    end(pid);
    world_close(&world); /* the thread sleeps until the program ends */
}

static volatile sig_atomic_t woken;

static void wake(int signal)
{
    (void)signal;
    woken = 1;
}

/* Sleeps until it is told to fork once, and sleeps again. */
static pid_t forker(void)
{
    pid_t pid = child_fork();
    if (pid != 0)
        return pid;
    signal(SIGUSR1, wake);
    while (!woken)
        pause();
    (void)sleeper();
    for (;;)
        pause();
}

/* A process that has not run is not read again, and its values are still known; once it ran, it is
 * read. */
static void who_sleeps_is_left_alone(void)
{
    static const vitals_metric WANTED[] = {
        VITALS_PROCESS_PID, VITALS_PROCESS_PARENT_PID, VITALS_PROCESS_CPU_SECONDS,
        VITALS_PROCESS_RESIDENT_BYTES, VITALS_PROCESS_READ_BYTES};
    double before, after;
    follow_ourselves();
    memset(&world.wanted, 0, sizeof world.wanted);
    for (size_t i = 0; i < CHECK_COUNT(WANTED); i++)
        metric_set_add(&world.wanted, WANTED[i]);
    pid_t pid = forker();
    usleep(20000); /* until it sleeps */
    for (int i = 0; i < 3; i++)
        world_tick(&world);
    const struct process *process = process_by_pid(world.table, pid);
    CHECK_NOT_NULL(process);
    uint64_t looked_ns = process->activity.clock.read_ns, stamp_ns = process->stamp_ns;
    const vitals_row *row = world_need(&world, pid);
    CHECK(vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES, &before) > 0);
    world_tick(&world);
    if (process->activity.clock.read_ns != looked_ns &&
        process->activity.clock.read_ns - looked_ns < 4000000000u)
        CHECK_SKIP("something woke the sleeper");
    row = world_need(&world, pid);
    CHECK(vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES, &after) > 0);
    CHECK_NEAR(after, before, 0);
    CHECK(process->stamp_ns > stamp_ns);
    CHECK_UINT(vitals_row_read_ns(row, VITALS_PROCESS_RESIDENT_BYTES), process->stamp_ns);
    kill(pid, SIGUSR1);
    bool born = false;
    for (int i = 0; i < 200 && !born; i++) {
        usleep(10000);
        world_tick(&world);
        for (row = NULL;
             (row = vitals_snapshot_next(world.snapshot, VITALS_TABLE_PROCESS, row)) != NULL &&
             !born;) {
            uint64_t parent = 0;
            born = vitals_row_u64(row, VITALS_PROCESS_PARENT_PID, &parent) > 0 &&
                   (pid_t)parent == pid;
        }
    }
    CHECK(born);
    end(pid);
    world_tick(&world);
    CHECK_NULL(world_row(&world, pid));
    world_close(&world);
}

static const check_test tests[] = {
    {"who sleeps is left alone", who_sleeps_is_left_alone},
    {"who is born and ends is seen in the next tick",
     who_is_born_and_ends_is_seen_in_the_next_tick},
    {"grandchildren are seen with their parents", grandchildren_are_seen_with_their_parents},
    {"children of other threads are seen", children_of_other_threads_are_seen},
};
CHECK_TESTS(tests)
