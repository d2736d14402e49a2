/* Processes that have a row because a device names them: /proc is not listed for those that are
 * known, and yet none is taken for another. On the machine that the test runs on. */
#include "process_world.h"

#include "process/entry.h"

#include <pthread.h>

/* Goes on where a test says so, however busy the machine is. */
static uint64_t moment_ns;

static uint64_t moment(void *data)
{
    (void)data;
    return moment_ns;
}

static void begin(struct world *world, uint32_t max_descriptors)
{
    world_open(world, NULL, max_descriptors);
    moment_ns = 1000 * NS_PER_SECOND;
    world->context.os.clock.monotonic_ns = moment;
    CHECK(world->context.os.live);
    process_table_select(world->table, VITALS_ROWS_GPU_USERS, NULL, 0);
    CHECK_INT(process_table_tick(world->table, &world->wanted), 0);
}

/* A tick in which a device names these. Whether /proc was listed in it. */
static bool tick(struct world *world, const pid_t *pids, size_t count)
{
    vitals_error error;
    CHECK_INT(process_table_tick(world->table, &world->wanted), 0);
    for (size_t i = 0; i < count; i++)
        (void)process_table_use(world->table, pids[i], &world->wanted);
    CHECK_OK(world_write(world, &error), error);
    return world->table->complete;
}

static void those_who_are_known_need_no_list(void)
{
    struct world world;
    begin(&world, 0);
    pid_t pids[] = {child_new(), child_new()};
    CHECK(tick(&world, pids, 1));
    CHECK_UINT(world_count(&world), 1);
    uint64_t key = vitals_row_key(world_need(&world, pids[0]));
    for (unsigned i = 0; i < 3; i++) {
        CHECK_FALSE(tick(&world, pids, 1));
        CHECK_UINT(vitals_row_key(world_need(&world, pids[0])), key);
    }
    CHECK(tick(&world, pids, 2)); // a new one is met at once
    CHECK_UINT(vitals_row_key(world_need(&world, pids[0])), key);
    CHECK(vitals_row_key(world_need(&world, pids[1])) > key);
    CHECK_FALSE(tick(&world, pids, 2));
    CHECK_UINT(world_count(&world), 2);
    CHECK_INT(process_table_state(world.table), VITALS_HAVE);
    child_end(pids[0]);
    child_end(pids[1]);
    world_close(&world);
}

static void who_ended_has_no_row(uint32_t max_descriptors)
{
    struct world world;
    begin(&world, max_descriptors);
    pid_t pids[] = {child_new(), child_new()};
    (void)tick(&world, pids, 2);
    CHECK_UINT(world_count(&world), 2);
    child_end(pids[0]);
    (void)tick(&world, pids + 1, 1);
    CHECK_NULL(world_row(&world, pids[0]));
    CHECK_UINT(process_table_key_at(world.table, pids[0], 0), 0);
    (void)world_need(&world, pids[1]);
    // A driver may name it for a while: it is looked for once.
    (void)tick(&world, pids, 2);
    CHECK_FALSE(tick(&world, pids, 2));
    CHECK_UINT(world_count(&world), 1);
    child_end(pids[1]);
    world_close(&world);
}

static void who_ended_has_no_row_anymore(void)
{
    who_ended_has_no_row(0);
}

/* Identity is (pid, start) then. */
static void nor_has_he_without_descriptors(void)
{
    who_ended_has_no_row(1);
}

static void a_pid_that_is_given_anew_is_another(void)
{
    struct world world;
    begin(&world, 0);
    pid_t pid = child_new();
    (void)tick(&world, &pid, 1);
    uint64_t key = vitals_row_key(world_need(&world, pid));
    child_end(pid);
    if (child_with_pid(pid) != pid) {
        world_close(&world);
        CHECK_SKIP("pids cannot be chosen here");
    }
    CHECK(tick(&world, &pid, 1));
    CHECK(vitals_row_key(world_need(&world, pid)) > key);
    CHECK_UINT(world_count(&world), 1);
    child_end(pid);
    world_close(&world);
}

struct sleeper {
    pthread_barrier_t barrier;
    pid_t thread;
};

static void *sleep_in_thread(void *data)
{
    struct sleeper *sleeper = data;
    sleeper->thread = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(&sleeper->barrier);
    pthread_barrier_wait(&sleeper->barrier);
    return NULL;
}

/* Its number opens a folder of /proc, and is no process's. */
static void a_thread_is_no_process(void)
{
    struct world world;
    struct sleeper sleeper;
    pthread_t thread;
    begin(&world, 0);
    CHECK_INT(pthread_barrier_init(&sleeper.barrier, NULL, 2), 0);
    CHECK_INT(pthread_create(&thread, NULL, sleep_in_thread, &sleeper), 0);
    pthread_barrier_wait(&sleeper.barrier);
    bool listed = tick(&world, &sleeper.thread, 1);
    size_t count = world_count(&world);
    bool again = tick(&world, &sleeper.thread, 1);
    pthread_barrier_wait(&sleeper.barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&sleeper.barrier);
    CHECK(listed);
    CHECK_UINT(count, 0);
    CHECK_FALSE(again);
    world_close(&world);
}

static void who_was_not_there_is_looked_for_again(void)
{
    struct world world;
    begin(&world, 0);
    pid_t pid = child_new();
    child_end(pid);
    CHECK(tick(&world, &pid, 1));
    CHECK_FALSE(tick(&world, &pid, 1));
    moment_ns += 3 * NS_PER_SECOND;
    CHECK(tick(&world, &pid, 1));
    world_close(&world);
}

static void how_many_there_are_needs_the_list(void)
{
    struct world world;
    begin(&world, 0);
    pid_t pid = child_new();
    (void)tick(&world, &pid, 1);
    metric_set_add(&world.wanted, VITALS_HOST_PROCESSES);
    size_t before = process_table_listed(world.table);
    pid_t more[64];
    for (size_t i = 0; i < CHECK_COUNT(more); i++)
        more[i] = child_new();
    CHECK(tick(&world, &pid, 1));
    CHECK(before > 0 && process_table_listed(world.table) >= CHECK_COUNT(more));
    CHECK_UINT(world_count(&world), 1);
    for (size_t i = 0; i < CHECK_COUNT(more); i++)
        child_end(more[i]);
    child_end(pid);
    world_close(&world);
}

/* More than there was room for when they were listed. */
static void there_is_room_for_all_who_are_named(void)
{
    enum { MANY = 200 };
    struct world world;
    begin(&world, 0);
    pid_t pids[MANY];
    for (size_t i = 0; i < MANY; i++)
        pids[i] = child_new();
    for (size_t i = 0; i <= MANY; i += 40)
        (void)tick(&world, pids, i);
    CHECK_UINT(world_count(&world), MANY);
    CHECK_FALSE(tick(&world, pids, MANY));
    for (size_t i = 0; i < MANY; i++)
        child_end(pids[i]);
    (void)tick(&world, pids, MANY);
    CHECK_UINT(world_count(&world), 0);
    world_close(&world);
}

static const check_test tests[] = {
    {"those who are known need no list", those_who_are_known_need_no_list},
    {"who ended has no row anymore", who_ended_has_no_row_anymore},
    {"nor has he without descriptors", nor_has_he_without_descriptors},
    {"a pid that is given anew is another", a_pid_that_is_given_anew_is_another},
    {"a thread is no process", a_thread_is_no_process},
    {"who was not there is looked for again", who_was_not_there_is_looked_for_again},
    {"how many there are needs the list", how_many_there_are_needs_the_list},
    {"there is room for all who are named", there_is_room_for_all_who_are_named},
};
CHECK_TESTS(tests)
