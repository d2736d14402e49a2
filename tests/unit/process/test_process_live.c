/* The live handle: it answers for one process and for no later one with its pid. */
#include "process_world.h"

#include <pthread.h>
#include <vitals/process.h>

static vitals_process *opened(struct world *world, int64_t pid)
{
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_open(&world->context, pid, &process, &error), error);
    return process;
}

static void a_handle_knows_its_process(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    world_tick(&world);
    vitals_process *process = opened(&world, getpid());
    CHECK_INT(vitals_process_pid(process), getpid());
    CHECK_INT(vitals_process_is_running(process), 1);
    CHECK_NEAR(vitals_process_start_seconds(process),
               row_f64(world_need(&world, getpid()), VITALS_PROCESS_START_SECONDS), 1e-9);
    vitals_process_close(process);
    vitals_process_close(NULL);
    world_close(&world);
}

static void what_is_no_process_is_refused(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_INT(vitals_process_open(&world.context, 0, &process, &error), VITALS_EARGUMENT);
    CHECK_STR(error.message, "0 is not a pid; pids begin at 1");
    CHECK_INT(vitals_process_open(&world.context, INT64_MIN, &process, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "-9223372036854775808 is not a pid");
    static const int64_t HUGE_PIDS[] = {4194305, INT32_MAX, INT64_C(1) << 32 | 1, INT64_MAX};
    for (size_t i = 0; i < CHECK_COUNT(HUGE_PIDS); i++) {
        CHECK_INT(vitals_process_open(&world.context, HUGE_PIDS[i], &process, &error),
                  VITALS_EGONE);
        CHECK_CONTAINS(error.message, "never that large");
    }
    pid_t pid = child_new();
    child_end(pid);
    CHECK_INT(vitals_process_open(&world.context, pid, &process, &error), VITALS_EGONE);
    CHECK_CONTAINS(error.message, "no process has the pid");
    CHECK_INT(vitals_process_open(&world.context, pid, &process, NULL), VITALS_EGONE);
    CHECK_NULL(process);
    world_close(&world);
}

struct thread_test {
    struct world *world;
    vitals_error error;
    pid_t thread;
    int code;
};

static void *open_own_thread(void *data)
{
    struct thread_test *test = data;
    vitals_process *process = NULL;
    test->thread = (pid_t)syscall(SYS_gettid);
    test->code = vitals_process_open(&test->world->context, test->thread, &process, &test->error);
    return NULL;
}

static void a_thread_is_no_process(void)
{
    struct world world;
    struct thread_test test = {.world = &world};
    pthread_t thread;
    char part[64];
    world_open(&world, NULL, 0);
    CHECK_INT(pthread_create(&thread, NULL, open_own_thread, &test), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(test.code, VITALS_EGONE);
    snprintf(part, sizeof part, "pid %d: it is the id of a thread of process %d", test.thread,
             getpid());
    CHECK_CONTAINS(test.error.message, part);
    world_close(&world);
}

static void a_signal_reaches_the_process(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    vitals_process *process = opened(&world, pid);
    vitals_error error;
    CHECK_INT(vitals_process_signal(process, 9999, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "9999");
    CHECK_OK(vitals_process_signal(process, SIGTERM, &error), error);
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    CHECK_INT(info.si_status, SIGTERM);
    CHECK_INT(vitals_process_is_running(process), 1); // a zombie has its pid still
    waitpid(pid, NULL, 0);
    CHECK_INT(vitals_process_is_running(process), 0);
    CHECK_INT(vitals_process_signal(process, SIGTERM, &error), VITALS_EGONE);
    vitals_process_close(process);
    world_close(&world);
}

static void nobody_else_gets_the_signal(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    vitals_process *process = opened(&world, pid);
    world_tick(&world);
    child_end(pid);
    if (child_with_pid(pid) != pid) {
        vitals_process_close(process);
        world_close(&world);
        CHECK_SKIP("may not choose a pid (clone3 set_tid)");
    }
    vitals_error error;
    CHECK_INT(vitals_process_is_running(process), 0);
    CHECK_INT(vitals_process_signal(process, SIGKILL, &error), VITALS_EGONE);
    CHECK_INT(waitpid(pid, NULL, WNOHANG), 0); // it lives
    child_end(pid);
    vitals_process_close(process);
    world_close(&world);
}

/* A row of a recording is found again by pid and start, where boot and namespace are the same. */
static void a_row_leads_to_its_process(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    world_tick(&world);
    const vitals_row *row = world_need(&world, pid);
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_INT(vitals_process_of(&world.context, NULL, &process, &error), VITALS_EARGUMENT);
    CHECK_OK(vitals_process_of(&world.context, row, &process, &error), error);
    CHECK_INT(vitals_process_pid(process), pid);
    vitals_process_close(process);
    process = NULL;

    struct os_origin origin = world.context.origin;
    world.context.origin.pid_namespace++;
    CHECK_INT(vitals_process_of(&world.context, row, &process, &error), VITALS_EGONE);
    world.context.origin = origin;
    world.context.origin.boot_id[0] ^= 1;
    CHECK_INT(vitals_process_of(&world.context, row, &process, &error), VITALS_EGONE);
    world.context.origin = origin;

    child_end(pid);
    CHECK_INT(vitals_process_of(&world.context, row, &process, &error), VITALS_EGONE);
    metric_set_remove(&world.wanted, VITALS_PROCESS_START_SECONDS);
    world_tick(&world);
    row = world_need(&world, getpid());
    CHECK_INT(vitals_process_of(&world.context, row, &process, &error), VITALS_EARGUMENT);
    CHECK_NULL(process);
    world_close(&world);
}

static void another_start_is_another_process(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 10, "a", 1, 100);
    world_open(&world, tree.path, 0);
    world_tick(&world);
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_of(&world.context, world_need(&world, 10), &process, &error), error);
    CHECK_INT(vitals_process_signal(process, SIGTERM, &error), VITALS_EUNSUPPORTED);
    tree_process(&tree, 10, "a", 1, 101); // one tick later
    vitals_process *other = NULL;
    CHECK_INT(vitals_process_of(&world.context, world_need(&world, 10), &other, &error),
              VITALS_EGONE);
    CHECK_INT(vitals_process_is_running(process), 0);
    vitals_process_close(process);
    world_close(&world);
    tree_free(&tree);
}

static void running_out_of_memory_is_said(void)
{
    struct world world;
    world_open(&world, check_fixture("proc/linux-6.18"), 0);
    int64_t live = memory_live();
    int code = VITALS_EMEMORY;
    for (uint64_t nth = 1; code != 0; nth++) {
        CHECK(nth < 100);
        vitals_process *process = NULL;
        memory_fail_at(nth);
        code = vitals_process_open(&world.context, 700, &process, NULL);
        memory_fail_at(0);
        CHECK(code == 0 || code == VITALS_EMEMORY);
        vitals_process_close(process);
        CHECK_INT(memory_live(), live);
    }
    world_close(&world);
}

static const check_test tests[] = {
    {"a handle knows its process", a_handle_knows_its_process},
    {"what is no process is refused", what_is_no_process_is_refused},
    {"a thread is no process", a_thread_is_no_process},
    {"a signal reaches the process", a_signal_reaches_the_process},
    {"nobody else gets the signal", nobody_else_gets_the_signal},
    {"a row leads to its process", a_row_leads_to_its_process},
    {"another start is another process", another_start_is_another_process},
    {"running out of memory is said", running_out_of_memory_is_said},
};
CHECK_TESTS(tests)
