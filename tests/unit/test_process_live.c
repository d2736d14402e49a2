/* The live handle: it answers for one process and for nobody who has its pid later. */
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
    vitals_process_free(process);
    vitals_process_free(NULL);
    world_close(&world);
}

static void what_is_no_process_is_refused(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_INT(vitals_process_open(&world.context, 0, &process, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_process_open(&world.context, -1, &process, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_process_open(&world.context, INT64_MAX, &process, &error), VITALS_EGONE);
    pid_t pid = child_new();
    child_end(pid);
    CHECK_INT(vitals_process_open(&world.context, pid, &process, &error), VITALS_EGONE);
    CHECK_CONTAINS(error.message, "no process has the pid");
    CHECK_INT(vitals_process_open(&world.context, pid, &process, NULL), VITALS_EGONE);
    CHECK_NULL(process);
    world_close(&world);
}

static void *tell_thread_id(void *data)
{
    struct world *world = data;
    vitals_process *process = NULL;
    pid_t thread = (pid_t)syscall(SYS_gettid);
    return (void *)(intptr_t)vitals_process_open(&world->context, thread, &process, NULL);
}

static void a_thread_is_no_process(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pthread_t thread;
    void *code;
    CHECK_INT(pthread_create(&thread, NULL, tell_thread_id, &world), 0);
    CHECK_INT(pthread_join(thread, &code), 0);
    CHECK_INT((intptr_t)code, VITALS_EGONE);
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
    vitals_environment *environment;
    CHECK_INT(vitals_process_environment(process, &environment, &error), VITALS_EGONE);
    vitals_process_free(process);
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
        vitals_process_free(process);
        world_close(&world);
        CHECK_SKIP("may not choose a pid (clone3 set_tid)");
    }
    vitals_error error;
    CHECK_INT(vitals_process_is_running(process), 0);
    CHECK_INT(vitals_process_signal(process, SIGKILL, &error), VITALS_EGONE);
    vitals_environment *environment;
    CHECK_INT(vitals_process_environment(process, &environment, &error), VITALS_EGONE);
    CHECK_INT(waitpid(pid, NULL, WNOHANG), 0); // it lives
    child_end(pid);
    vitals_process_free(process);
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
    CHECK_OK(vitals_process_of(&world.context, row, &process, &error), error);
    CHECK_INT(vitals_process_pid(process), pid);
    vitals_process_free(process);
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
    vitals_process_free(process);
    world_close(&world);
    tree_free(&tree);
}

#define CHECK_ENTRY(environment, index, name_, value_)                        \
    do {                                                                      \
        vitals_text found_ = vitals_environment_name((environment), (index)); \
        CHECK_BYTES(found_.bytes, found_.size, (name_), sizeof(name_) - 1);   \
        found_ = vitals_environment_value((environment), (index));            \
        CHECK_BYTES(found_.bytes, found_.size, (value_), sizeof(value_) - 1); \
    } while (0)

static void an_environment_is_whole(void)
{
    struct world world;
    world_open(&world, check_fixture("proc/linux-6.18"), 0);
    vitals_process *process = opened(&world, 700);
    vitals_environment *environment = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_environment(process, &environment, &error), error);
    CHECK_UINT(vitals_environment_count(environment), 6);
    CHECK_ENTRY(environment, 0, "PATH", "/usr/bin:/bin");
    CHECK_ENTRY(environment, 1, "EMPTY", "");
    CHECK_ENTRY(environment, 2, "NOEQUALS", ""); // two empty strings stood before it
    CHECK_ENTRY(environment, 3, "PATH", "/opt/bin");
    CHECK_ENTRY(environment, 4, "", "odd");
    CHECK_ENTRY(environment, 5, "LAST", "no NUL behind it");
    CHECK_ENTRY(environment, 6, "", ""); // beyond the end
    CHECK_INT(vitals_environment_truncated(environment), 0);
    vitals_text found = {"untouched", 9};
    CHECK_INT(vitals_environment_find(environment, "NOBODY", &found), 0);
    CHECK_BYTES(found.bytes, found.size, "untouched", 9);
    CHECK_INT(vitals_environment_find(environment, "PATH", &found), 1);
    CHECK_BYTES(found.bytes, found.size, "/opt/bin", 8); // the last one holds
    vitals_environment_free(environment);
    vitals_environment_free(NULL);
    CHECK_INT(vitals_process_environment(process, &environment, NULL), 0);
    vitals_environment_free(environment);
    vitals_process_free(process);

    process = opened(&world, 701); // it has no such file
    CHECK_INT(vitals_process_environment(process, &environment, &error), VITALS_EGONE);
    vitals_process_free(process);
    world_close(&world);
}

static void a_long_environment_is_cut_and_says_so(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 10, "a", 1, 100);
    size_t size = (16 << 20) + 1;
    char *bytes = malloc(size);
    CHECK_NOT_NULL(bytes);
    memset(bytes, 'x', size);
    tree_put(&tree, 10, "environ", bytes, size - 1);
    world_open(&world, tree.path, 0);
    vitals_process *process = opened(&world, 10);
    vitals_environment *environment;
    vitals_error error;
    CHECK_OK(vitals_process_environment(process, &environment, &error), error);
    CHECK_INT(vitals_environment_truncated(environment), 0);
    vitals_environment_free(environment);
    tree_put(&tree, 10, "environ", bytes, size);
    CHECK_OK(vitals_process_environment(process, &environment, &error), error);
    CHECK_INT(vitals_environment_truncated(environment), 1);
    CHECK_UINT(vitals_environment_name(environment, 0).size, 16 << 20);
    vitals_environment_free(environment);
    free(bytes);
    vitals_process_free(process);
    world_close(&world);
    tree_free(&tree);
}

static void a_kernel_thread_has_an_empty_environment(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    world_tick(&world);
    const vitals_row *row = world_row(&world, 2); // kthreadd, where it is in our namespace
    if (row == NULL || geteuid() != 0 || row_u64(row, VITALS_PROCESS_VIRTUAL_BYTES) != 0) {
        world_close(&world);
        CHECK_SKIP("no kernel thread that may be read");
    }
    vitals_process *process = opened(&world, 2);
    vitals_environment *environment;
    vitals_error error;
    CHECK_OK(vitals_process_environment(process, &environment, &error), error);
    CHECK_UINT(vitals_environment_count(environment), 0);
    vitals_environment_free(environment);
    vitals_process_free(process);
    world_close(&world);
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
        vitals_environment *environment = NULL;
        memory_fail_at(nth);
        code = vitals_process_open(&world.context, 700, &process, NULL);
        if (code == 0)
            code = vitals_process_environment(process, &environment, NULL);
        memory_fail_at(0);
        CHECK(code == 0 || code == VITALS_EMEMORY);
        vitals_environment_free(environment);
        vitals_process_free(process);
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
    {"an environment is whole", an_environment_is_whole},
    {"a long environment is cut and says so", a_long_environment_is_cut_and_says_so},
    {"a kernel thread has an empty environment", a_kernel_thread_has_an_empty_environment},
    {"running out of memory is said", running_out_of_memory_is_said},
};
CHECK_MAIN(tests)
