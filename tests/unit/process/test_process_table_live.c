/* The table of processes on the machine that the test runs on: children that come, change and end,
 * and fewer descriptors than there are processes. */
#include "process_world.h"

#include "process/entry.h"

#include <grp.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <time.h>

static void a_child_appears_changes_and_ends(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    CHECK(world.context.os.live);
    CHECK(world.context.origin.pid_namespace != 0);
    int start[2], ready[2];
    CHECK(pipe(start) == 0 && pipe(ready) == 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        prctl(PR_SET_NAME, "before");
        char byte = 0;
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        if (read(start[0], &byte, 1) != 1)
            _exit(1);
        // The write end of `ready` closes with the exec, which is how the parent knows.
        fcntl(ready[1], F_SETFD, FD_CLOEXEC);
        execl("/bin/sleep", "sleep", "1000", (char *)NULL);
        _exit(1);
    }
    char byte;
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    world_tick(&world);
    world_details(&world, 1, NS_PER_SECOND);
    world_tick(&world);
    const vitals_row *row = world_need(&world, pid);
    uint64_t key = vitals_row_key(row);
    CHECK_TEXT(row, VITALS_PROCESS_NAME, "before");
    CHECK_UINT(row_u64(row, VITALS_PROCESS_PARENT_PID), (uint64_t)getpid());
    CHECK_UINT(row_u64(row, VITALS_PROCESS_UID), getuid());

    CHECK(write(start[1], "x", 1) == 1);
    CHECK(read(ready[0], &byte, 1) == 0);
    world_tick(&world);
    CHECK_UINT(world_details(&world, 2, NS_PER_SECOND) > 0, 1); // renamed: due at once
    world_tick(&world);
    row = world_need(&world, pid);
    CHECK_UINT(vitals_row_key(row), key);
    CHECK_TEXT(row, VITALS_PROCESS_NAME, "sleep");
    CHECK_TEXT(row, VITALS_PROCESS_COMMAND_LINE, "sleep\0001000\0");

    kill(pid, SIGKILL);
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    world_details(&world, 10 * NS_PER_SECOND, NS_PER_SECOND);
    world_tick(&world);
    world_details(&world, 20 * NS_PER_SECOND, NS_PER_SECOND);
    world_tick(&world);
    row = world_need(&world, pid);
    CHECK_UINT(vitals_row_key(row), key);
    CHECK_TEXT(row, VITALS_PROCESS_STATE, "zombie");
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_COMMAND_LINE), VITALS_STALE);
    waitpid(pid, NULL, 0);
    world_tick(&world);
    CHECK_NULL(world_row(&world, pid));
    CHECK_UINT(process_table_key_at(world.table, pid, 0), 0);
    close(start[0]), close(start[1]), close(ready[0]);
    world_close(&world);
}

static void cpu_time_is_that_of_the_process(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    struct timespec before, after;
    double seconds;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    world_tick(&world);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    CHECK_INT(vitals_row_f64(world_need(&world, getpid()), VITALS_PROCESS_CPU_SECONDS, &seconds),
              VITALS_HAVE);
    CHECK(seconds >= (double)before.tv_sec + (double)before.tv_nsec / 1e9);
    CHECK(seconds <= (double)after.tv_sec + (double)after.tv_nsec / 1e9);
    world_close(&world);
}

static void memory_is_that_of_the_process(void)
{
    enum { BYTES = 64 << 20, SLACK = 8 << 20 };
    if (CHECK_SANITIZED)
        CHECK_SKIP("a sanitizer takes memory of its own");
    struct world world;
    world_open(&world, NULL, 0);
    world_tick(&world);
    uint64_t before = row_u64(world_need(&world, getpid()), VITALS_PROCESS_RESIDENT_BYTES);
    char *block = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(block != MAP_FAILED);
    memset(block, 1, BYTES);
    world_tick(&world);
    uint64_t during = row_u64(world_need(&world, getpid()), VITALS_PROCESS_RESIDENT_BYTES);
    CHECK_NEAR((double)during - (double)before, BYTES, SLACK);
    munmap(block, BYTES);
    world_tick(&world);
    const vitals_row *row = world_need(&world, getpid());
    CHECK_NEAR((double)row_u64(row, VITALS_PROCESS_RESIDENT_BYTES), (double)before, SLACK);
    CHECK_NEAR((double)row_u64(row, VITALS_PROCESS_RESIDENT_PEAK_BYTES), (double)during, SLACK);
    world_close(&world);
}

/* The worst case for identity by pid and start: both agree within one clock tick. */
static void a_reused_pid_is_another_process(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    bool same_tick = false;
    for (int attempt = 0; attempt < 20 && !same_tick; attempt++) {
        pid_t pid = child_new();
        world_tick(&world);
        const vitals_row *row = world_need(&world, pid);
        uint64_t key = vitals_row_key(row);
        double start = row_f64(row, VITALS_PROCESS_START_SECONDS);
        child_end(pid);
        if (child_with_pid(pid) != pid) {
            world_close(&world);
            CHECK_SKIP("may not choose a pid (clone3 set_tid)");
        }
        world_tick(&world);
        row = world_need(&world, pid);
        same_tick = row_f64(row, VITALS_PROCESS_START_SECONDS) == start;
        CHECK(vitals_row_key(row) > key);
        child_end(pid);
    }
    world_close(&world);
}

enum { CROWD = 600 };

static void crowd_new(pid_t crowd[static CROWD])
{
    for (size_t i = 0; i < CROWD; i++)
        crowd[i] = child_new();
}

static void crowd_end(const pid_t crowd[static CROWD])
{
    for (size_t i = 0; i < CROWD; i++)
        kill(crowd[i], SIGKILL);
    for (size_t i = 0; i < CROWD; i++)
        waitpid(crowd[i], NULL, 0);
}

static void check_crowd(const struct world *world, const pid_t crowd[static CROWD],
                        uint64_t keys[static CROWD])
{
    for (size_t i = 0; i < CROWD; i++) {
        uint64_t key = process_table_key_at(world->table, crowd[i], 0);
        const vitals_row *row = vitals_snapshot_find(world->snapshot, VITALS_TABLE_PROCESS, key);
        CHECK_NOT_NULL(row);
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_START_SECONDS), VITALS_HAVE);
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_RESIDENT_BYTES), VITALS_HAVE);
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_CPU_SECONDS), VITALS_HAVE);
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_READ_BYTES), VITALS_HAVE);
        CHECK(keys[i] == 0 || keys[i] == key);
        keys[i] = key;
    }
}

/* As `prlimit --nofile=256` does: fewer descriptors than processes, and more than the table has. */
static void few_descriptors_lose_nobody(void)
{
    pid_t crowd[CROWD];
    uint64_t keys[CROWD] = {0};
    crowd_new(crowd);
    struct rlimit limit, few;
    getrlimit(RLIMIT_NOFILE, &limit);
    few = limit;
    few.rlim_cur = 256;
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    static const uint32_t BUDGETS[] = {0, 100, 100000}; // the last one is more than there are
    for (size_t i = 0; i < CHECK_COUNT(BUDGETS); i++) {
        struct world world;
        memset(keys, 0, sizeof keys);
        world_open(&world, NULL, BUDGETS[i]);
        for (int tick = 0; tick < 3; tick++) {
            world_tick(&world);
            check_crowd(&world, crowd, keys);
        }
        world_close(&world);
    }
    setrlimit(RLIMIT_NOFILE, &limit);
    crowd_end(crowd);
}

/* Another thread of our process takes all descriptors while the table runs. */
static void descriptors_are_given_up_when_they_run_out(void)
{
    pid_t crowd[CROWD];
    uint64_t keys[CROWD] = {0};
    crowd_new(crowd);
    struct rlimit limit, fewer;
    getrlimit(RLIMIT_NOFILE, &limit);
    fewer = limit;
    fewer.rlim_cur = 900;
    CHECK(setrlimit(RLIMIT_NOFILE, &fewer) == 0);
    struct world world;
    world_open(&world, NULL, 500);
    world_tick(&world);
    check_crowd(&world, crowd, keys);
    int taken[900], count = 0;
    while (count < 900 && (taken[count] = dup(0)) >= 0)
        count++;
    for (int tick = 0; tick < 2; tick++) {
        world_tick(&world);
        check_crowd(&world, crowd, keys);
    }
    while (count > 0)
        close(taken[--count]);
    world_close(&world);
    setrlimit(RLIMIT_NOFILE, &limit);
    crowd_end(crowd);
}

/* What a program that embeds the library is left with, if it says nothing. */
static void few_descriptors_are_kept_unless_asked(void)
{
    static const struct {
        rlim_t limit;
        uint32_t asked;
        size_t kept;
    } CASES[] = {{1024, 0, 128},   {4096, 0, 256},           {20, 0, 2},
                 {4096, 300, 300}, {4096, UINT32_MAX, 3072}, {1024, UINT32_MAX, 768}};
    struct rlimit limit, other;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        other = limit;
        other.rlim_cur = CASES[i].limit;
        if (other.rlim_cur > limit.rlim_max)
            CHECK_SKIP("the limit of descriptors is too low");
        CHECK(setrlimit(RLIMIT_NOFILE, &other) == 0);
        struct vitals_context context = {.max_descriptors = CASES[i].asked};
        struct process_table *table = process_table_new(&context);
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        CHECK_NOT_NULL(table);
        CHECK_UINT(table->budget, CASES[i].kept);
        process_table_free(table);
    }
}

static void nothing_is_loaded_into_the_kernel_unless_asked(void)
{
    vitals_options options;
    vitals_context *context;
    struct os_task_iterator *iterator;
    for (int asked = 0; asked < 2; asked++) {
        vitals_options_init(&options, sizeof options);
        CHECK_INT(options.bpf, 0);
        options.bpf = asked;
        CHECK_INT(vitals_context_new(&options, &context, NULL), 0);
        CHECK_INT(context->os.bpf, asked);
        if (!asked)
            CHECK_INT(os_task_iterator_open(&context->os, &iterator), -ENOTSUP);
        vitals_context_free(context);
    }
}

/* ---- hidden ---- */

/* As an ordinary user: 0, or the number of what was wrong. */
static int check_hidden(const char *proc, unsigned rows)
{
    struct world world;
    world_open(&world, proc, 0);
    int64_t self = getpid();
    process_table_select(world.table, rows, &self, 1);
    for (int tick = 0; tick < 5; tick++) {
        world_tick(&world);
        if (process_table_state(world.table) != VITALS_LOWER_BOUND)
            return 3;
        if (vitals_snapshot_state(world.snapshot, VITALS_TABLE_PROCESS) != VITALS_LOWER_BOUND)
            return 4;
        if (world_row(&world, self) == NULL)
            return 5;
    }
    world_close(&world);
    return 0;
}

static void a_table_says_that_processes_are_hidden(void)
{
    if (geteuid() != 0)
        CHECK_SKIP("only root can mount a /proc that hides processes");
    if (CHECK_SANITIZED)
        CHECK_SKIP("a forked child of a sanitized program ends with its leaks");
    static const char *const OPTIONS[] = {"hidepid=0", "hidepid=2", "hidepid=2,gid=65533"};
    struct tree tree = tree_new();
    chmod(tree.path, 0755);
    for (size_t i = 0; i < CHECK_COUNT(OPTIONS); i++) {
        pid_t pid = child_fork();
        if (pid == 0) {
            const gid_t group = 65533;
            if (unshare(CLONE_NEWNS) != 0 ||
                mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
                mount("proc", tree.path, "proc", 0, OPTIONS[i]) != 0)
                _exit(77);
            struct world world;
            world_open(&world, tree.path, 0);
            world_tick(&world);
            if (i < 2 && process_table_state(world.table) != VITALS_HAVE)
                _exit(1); // root's group is the one that sees all, where no other is named
            if (setgroups(i == 2, &group) != 0 || setgid(65534) != 0 || setuid(65534) != 0 ||
                prctl(PR_SET_DUMPABLE, 1) != 0)
                _exit(2);
            if (i == 1)
                _exit(check_hidden(tree.path, VITALS_ROWS_ALL) +
                      check_hidden(tree.path, VITALS_ROWS_TREE) * 10);
            world_open(&world, tree.path, 0);
            world_tick(&world);
            _exit(process_table_state(world.table) == VITALS_HAVE ? 0 : 6);
        }
        int status;
        waitpid(pid, &status, 0);
        CHECK(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
            CHECK_SKIP("may not make a mount namespace and mount /proc");
        CHECK_INT(WEXITSTATUS(status), 0);
    }
    tree_free(&tree);
}

/* With few descriptors too: what is answered makes room. */
static void the_only_tick_closes_what_was_answered(void)
{
    static const uint32_t DESCRIPTORS[] = {0, 16};
    for (size_t i = 0; i < CHECK_COUNT(DESCRIPTORS); i++) {
        struct world world;
        world_open(&world, NULL, DESCRIPTORS[i]);
        world.wanted = (struct metric_set){0};
        metric_set_add(&world.wanted, VITALS_PROCESS_PID);
        metric_set_add(&world.wanted, VITALS_PROCESS_RESIDENT_BYTES);
        metric_set_add(&world.wanted, VITALS_PROCESS_COMMAND_LINE);
        process_table_once(world.table);
        CHECK_INT(process_table_tick(world.table, &world.wanted), 0);
        CHECK(world.table->stats_kept > 0 && world.table->statms_kept > 0);
        CHECK(world_details(&world, 1, NS_PER_SECOND) > 0);
        CHECK_UINT(world.table->stats_kept + world.table->statms_kept, 0);
        vitals_error error;
        CHECK_OK(world_write(&world, &error), error);
        const vitals_row *row = world_need(&world, getpid());
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_RESIDENT_BYTES), VITALS_HAVE);
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_COMMAND_LINE), VITALS_HAVE);
        world_close(&world);
    }
}

static const check_test tests[] = {
    {"a child appears, changes and ends", a_child_appears_changes_and_ends},
    {"CPU time is that of the process", cpu_time_is_that_of_the_process},
    {"memory is that of the process", memory_is_that_of_the_process},
    {"a reused pid is another process", a_reused_pid_is_another_process},
    {"few descriptors lose nobody", few_descriptors_lose_nobody},
    {"descriptors are given up when they run out", descriptors_are_given_up_when_they_run_out},
    {"few descriptors are kept unless asked", few_descriptors_are_kept_unless_asked},
    {"the only tick closes what was answered", the_only_tick_closes_what_was_answered},
    {"nothing is loaded into the kernel unless asked",
     nothing_is_loaded_into_the_kernel_unless_asked},
    {"a table says that processes are hidden", a_table_says_that_processes_are_hidden},
};
CHECK_TESTS(tests)
