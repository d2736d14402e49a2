/* The table thread: on live threads with names that look like other fields, and on trees. */
#include "table_world.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

/* ---- live threads ---- */

/* A thread that does something, tells it, and then stands still until it is let go. */
struct worker {
    pthread_t thread;
    const char *name;
    void (*work)(struct worker *worker);
    pid_t tid;
    double cpu_seconds; /* when it stood still */
    int told, go;       /* ends of pipes */
};

static void *worker_run(void *data)
{
    struct worker *worker = data;
    worker->tid = (pid_t)syscall(SYS_gettid);
    prctl(PR_SET_NAME, worker->name);
    if (worker->work != NULL)
        worker->work(worker);
    char byte = 0;
    if (write(worker->told, &byte, 1) != 1 || read(worker->go, &byte, 1) != 0)
        abort();
    return NULL;
}

struct crew {
    struct worker *workers;
    size_t count;
    int told[2], go[2];
};

/* It has told, and now it sleeps: the kernel says so of it when it has left its CPU. */
static void wait_until_asleep(pid_t tid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    for (const char *state = NULL; state == NULL || strncmp(state, ") S ", 4) != 0;) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t size = read(file, text, sizeof text - 1);
        text[size > 0 ? size : 0] = '\0';
        close(file);
        state = strrchr(text, ')');
        sched_yield();
    }
}

/* They stand still when this returns. */
static void crew_start(struct crew *crew, struct worker *workers, size_t count)
{
    *crew = (struct crew){.workers = workers, .count = count};
    CHECK_INT(pipe(crew->told), 0);
    CHECK_INT(pipe(crew->go), 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    for (size_t i = 0; i < count; i++) {
        workers[i].told = crew->told[1];
        workers[i].go = crew->go[0];
        CHECK_INT(pthread_create(&workers[i].thread, &attributes, worker_run, &workers[i]), 0);
    }
    pthread_attr_destroy(&attributes);
    char byte;
    for (size_t i = 0; i < count; i++)
        CHECK_INT(read(crew->told[0], &byte, 1), 1);
    for (size_t i = 0; i < count; i++)
        if (workers[i].tid > 0)
            wait_until_asleep(workers[i].tid);
}

/* Ours, and those that a sanitizer runs beside them. */
static size_t own_threads(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    CHECK_NOT_NULL(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void crew_end(struct crew *crew)
{
    close(crew->go[1]);
    for (size_t i = 0; i < crew->count; i++)
        pthread_join(crew->workers[i].thread, NULL);
    close(crew->go[0]);
    close(crew->told[0]);
    close(crew->told[1]);
}

static void a_name_cannot_pose_as_other_fields(void)
{
    struct worker workers[] = {
        {.name = ") S 1"},
        {.name = "a) R 9 9 9 (b"},
        {.name = "two\nlines"},
        {.name = "x)"},
    };
    struct crew crew;
    crew_start(&crew, workers, CHECK_COUNT(workers));
    CHECK(own_threads() > CHECK_COUNT(workers));
    struct asked asked;
    ask(&asked, NULL, getpid(), VITALS_TABLE_THREAD);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, own_threads());
    for (size_t i = 0; i < CHECK_COUNT(workers); i++) {
        CHECK_CASE(workers[i].name);
        const struct batch_row *row = need_row(&asked, (uint64_t)workers[i].tid);
        CHECK(row == need_label(&asked, workers[i].name));
        CHECK_UINT(u64_of(&asked, row, VITALS_THREAD_TID), (uint64_t)workers[i].tid);
        check_text(&asked, row, VITALS_THREAD_NAME, workers[i].name);
        CHECK(f64_of(&asked, row, VITALS_THREAD_CPU_USER_SECONDS) < 1);
        CHECK(f64_of(&asked, row, VITALS_THREAD_START_SECONDS) >=
              f64_of(&asked, need_row(&asked, (uint64_t)getpid()), VITALS_THREAD_START_SECONDS));
    }
    check_text(&asked, need_row(&asked, (uint64_t)getpid()), VITALS_THREAD_STATE, "running");
    asked_done(&asked);
    crew_end(&crew);
}

static double own_cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void burn(struct worker *worker)
{
    while ((worker->cpu_seconds = own_cpu_seconds()) < 0.05) {}
}

static void cpu_time_is_in_nanoseconds(void)
{
    struct worker workers[] = {{.name = "burner", .work = burn}, {.name = "idler"}};
    struct crew crew;
    crew_start(&crew, workers, CHECK_COUNT(workers));
    struct asked asked;
    ask(&asked, NULL, getpid(), VITALS_TABLE_THREAD);
    check_asked(&asked);
    const struct batch_row *row = need_label(&asked, "burner");
    double seconds = f64_of(&asked, row, VITALS_THREAD_CPU_SECONDS);
    bool counted = state_of(&asked, row, VITALS_THREAD_CPU_SECONDS) == VITALS_HAVE;
    double idle = f64_of(&asked, need_label(&asked, "idler"), VITALS_THREAD_CPU_SECONDS);
    asked_done(&asked);
    crew_end(&crew);
    if (!counted)
        CHECK_SKIP("this kernel does not count the time of threads in nanoseconds");
    CHECK(seconds >= workers[0].cpu_seconds);
    CHECK_NEAR(seconds, workers[0].cpu_seconds, 0.01);
    CHECK(idle < 0.02);
}

static void take_a_policy(struct worker *worker)
{
    const struct sched_param parameters = {0};
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    if (sched_setscheduler(worker->tid, SCHED_BATCH, &parameters) != 0 ||
        setpriority(PRIO_PROCESS, (id_t)worker->tid, 7) != 0 ||
        sched_setaffinity(worker->tid, sizeof first, &first) != 0)
        worker->tid = -errno;
}

static void each_thread_has_its_own_scheduling(void)
{
    struct worker workers[] = {{.name = "batch", .work = take_a_policy}, {.name = "plain"}};
    struct crew crew;
    crew_start(&crew, workers, CHECK_COUNT(workers));
    struct asked asked;
    ask(&asked, NULL, getpid(), VITALS_TABLE_THREAD);
    check_asked(&asked);
    bool refused = workers[0].tid < 0;
    if (!refused) {
        const struct batch_row *batch = need_label(&asked, "batch");
        check_text(&asked, batch, VITALS_THREAD_SCHEDULING_POLICY, "batch");
        check_text(&asked, batch, VITALS_THREAD_CPUS_ALLOWED_LIST, "0");
        CHECK_UINT(u64_of(&asked, batch, VITALS_THREAD_NICE), 7);
        CHECK_UINT(u64_of(&asked, batch, VITALS_THREAD_CPU), 0);
        CHECK_UINT(u64_of(&asked, batch, VITALS_THREAD_REALTIME_PRIORITY), 0);
        CHECK(u64_of(&asked, batch, VITALS_THREAD_VOLUNTARY_CONTEXT_SWITCHES) > 0);
        const struct batch_row *plain = need_label(&asked, "plain");
        check_text(&asked, plain, VITALS_THREAD_SCHEDULING_POLICY, "other");
    }
    asked_done(&asked);
    crew_end(&crew);
    if (refused)
        CHECK_SKIP("may not change the scheduling of a thread (no CPU 0?)");
}

static void a_thousand_threads_are_read(void)
{
    enum { COUNT = 1000 };
    static struct worker workers[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        workers[i] = (struct worker){.name = "many"};
    struct crew crew;
    crew_start(&crew, workers, COUNT);
    CHECK(own_threads() > COUNT);
    struct asked asked;
    ask(&asked, NULL, getpid(), VITALS_TABLE_THREAD);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, own_threads());
    CHECK_INT(asked_state(&asked), VITALS_HAVE);
    for (size_t i = 0; i < COUNT; i++)
        CHECK_NOT_NULL(find_row(&asked, (uint64_t)workers[i].tid));
    asked_done(&asked);
    crew_end(&crew);
}

static void *come_and_go(void *data)
{
    (void)data;
    return NULL;
}

static void *breed(void *stop)
{
    while (!atomic_load((atomic_bool *)stop)) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, come_and_go, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return NULL;
}

/* Each row is whole or not there. */
static void threads_that_end_meanwhile_have_no_row(void)
{
    atomic_bool stop = false;
    pthread_t breeder;
    CHECK_INT(pthread_create(&breeder, NULL, breed, &stop), 0);
    bool good = true;
    for (int i = 0; i < 200; i++) {
        struct asked asked;
        ask(&asked, NULL, getpid(), VITALS_TABLE_THREAD);
        good = good && asked.result == 0 && asked.batch.row_count >= 2;
        for (size_t row = 0; row < asked.batch.row_count; row++)
            good = good && state_of(&asked, &asked.batch.rows[row], VITALS_THREAD_STATE) > 0;
        asked_done(&asked);
    }
    atomic_store(&stop, true);
    pthread_join(breeder, NULL);
    CHECK(good);
}

static void a_zombie_has_its_first_thread(void)
{
    pid_t pid = child_zombie();
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_THREAD);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 1);
    check_text(&asked, need_row(&asked, (uint64_t)pid), VITALS_THREAD_STATE, "zombie");
    asked_done(&asked);
    waitpid(pid, NULL, 0);
    ask(&asked, NULL, pid, VITALS_TABLE_THREAD);
    CHECK_INT(os_availability(asked.result), VITALS_GONE);
    CHECK_UINT(asked.batch.row_count, 0);
    asked_done(&asked);
}

static void anybody_may_ask(void)
{
    CHECK_INT(asked_by_another_user(getpid(), VITALS_TABLE_THREAD), 0);
}

/* ---- trees ---- */

/* cpu 3, realtime priority 40, policy 1 */
static const char STAT[] = "7 (seven) S 1 1 1 0 -1 64 11 0 2 0 150 50 0 0 20 0 3 0 500 8192 5 0 0 "
                           "0 0 0 0 0 0 0 0 0 0 0 17 3 40 1 0 0 0 0 0 0 0 0 0 0 0\n";

static void nothing_is_opened_for_what_is_not_wanted(void)
{
    struct tree tree = tree_new();
    tree_folder(&tree, 5, "task");
    tree_folder(&tree, 5, "task/7");
    struct asked asked;
    ask_one(&asked, tree.path, 5, VITALS_THREAD_TID);
    check_asked(&asked);
    CHECK_NOT_NULL(find_label(&asked, "7"));
    asked_done(&asked);
    tree_text(&tree, 5, "task/7/stat", STAT); // neither schedstat nor status
    ask_one(&asked, tree.path, 5, VITALS_THREAD_MAJOR_FAULTS);
    check_asked(&asked);
    CHECK_UINT(u64_of(&asked, need_label(&asked, "seven"), VITALS_THREAD_MAJOR_FAULTS), 2);
    asked_done(&asked);
    ask_one(&asked, tree.path, 5, VITALS_THREAD_VOLUNTARY_CONTEXT_SWITCHES);
    CHECK_INT(asked.result, -ESRCH); // a thread without status is one that ended
    asked_done(&asked);
    tree_free(&tree);
}

static void ticks_stand_in_for_nanoseconds(void)
{
    static const char *const SCHEDSTATS[] = {NULL, "0 0 0\n", "", "12", "9 9 9", "x y z\n"};
    struct tree tree = tree_new();
    tree_folder(&tree, 5, "task");
    tree_folder(&tree, 5, "task/7");
    tree_text(&tree, 5, "task/7/stat", STAT);
    for (size_t i = 0; i < CHECK_COUNT(SCHEDSTATS); i++) {
        CHECK_CASE(SCHEDSTATS[i] != NULL ? SCHEDSTATS[i] : "no schedstat");
        if (SCHEDSTATS[i] != NULL)
            tree_text(&tree, 5, "task/7/schedstat", SCHEDSTATS[i]);
        struct asked asked;
        ask_one(&asked, tree.path, 5, VITALS_THREAD_CPU_SECONDS);
        check_asked(&asked);
        const struct batch_row *row = need_row(&asked, 7);
        CHECK_INT(state_of(&asked, row, VITALS_THREAD_CPU_SECONDS), VITALS_ESTIMATE);
        CHECK_NEAR(f64_of(&asked, row, VITALS_THREAD_CPU_SECONDS), 200 / asked.os.ticks_per_second,
                   1e-9);
        asked_done(&asked);
        ask_one(&asked, tree.path, 5, VITALS_THREAD_RUN_DELAY_SECONDS);
        CHECK_INT(state_of(&asked, need_row(&asked, 7), VITALS_THREAD_RUN_DELAY_SECONDS),
                  VITALS_UNSUPPORTED);
        asked_done(&asked);
    }
    tree_text(&tree, 5, "task/7/schedstat", "0 0 1\n"); // counted, and has run less than a tick
    struct asked fresh;
    ask_one(&fresh, tree.path, 5, VITALS_THREAD_CPU_SECONDS);
    CHECK_INT(state_of(&fresh, need_row(&fresh, 7), VITALS_THREAD_CPU_SECONDS), VITALS_HAVE);
    CHECK_NEAR(f64_of(&fresh, need_row(&fresh, 7), VITALS_THREAD_CPU_SECONDS), 0, 0);
    asked_done(&fresh);
    tree_text(&tree, 5, "task/7/schedstat", "1500000000 250000000 9\n");
    tree_text(&tree, 5, "task/7/status",
              "Name:\tvoluntary_ctxt_switches:\t9\nState:\tS\nCpus_allowed_list:\t0-3,8\n"
              "voluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t34\n");
    struct asked asked;
    ask(&asked, tree.path, 5, VITALS_TABLE_THREAD);
    check_asked(&asked);
    const struct batch_row *row = need_row(&asked, 7);
    CHECK_INT(state_of(&asked, row, VITALS_THREAD_CPU_SECONDS), VITALS_HAVE);
    CHECK_NEAR(f64_of(&asked, row, VITALS_THREAD_CPU_SECONDS), 1.5, 1e-12);
    CHECK_NEAR(f64_of(&asked, row, VITALS_THREAD_RUN_DELAY_SECONDS), 0.25, 1e-12);
    CHECK_NEAR(f64_of(&asked, row, VITALS_THREAD_START_SECONDS), 500 / asked.os.ticks_per_second,
               1e-9);
    check_text(&asked, row, VITALS_THREAD_SCHEDULING_POLICY, "fifo");
    CHECK_UINT(u64_of(&asked, row, VITALS_THREAD_REALTIME_PRIORITY), 40);
    CHECK_UINT(u64_of(&asked, row, VITALS_THREAD_CPU), 3);
    CHECK_UINT(u64_of(&asked, row, VITALS_THREAD_VOLUNTARY_CONTEXT_SWITCHES), 12);
    CHECK_UINT(u64_of(&asked, row, VITALS_THREAD_INVOLUNTARY_CONTEXT_SWITCHES), 34);
    check_text(&asked, row, VITALS_THREAD_CPUS_ALLOWED_LIST, "0-3,8");
    asked_done(&asked);
    tree_free(&tree);
}

static void what_is_no_thread_is_passed_over(void)
{
    static const char *const FOLDERS[] = {
        "task", "task/7", "task/8", "task/nine", "task/1x", "task/99999999999999999999", "task/-3"};
    struct tree tree = tree_new();
    for (size_t i = 0; i < CHECK_COUNT(FOLDERS); i++)
        tree_folder(&tree, 5, FOLDERS[i]);
    tree_text(&tree, 5, "task/7/stat", STAT);
    tree_text(&tree, 5, "task/7/status", "Name:\tseven\n");
    tree_text(&tree, 5, "task/8/stat", "no stat at all");
    tree_text(&tree, 5, "task/8/status", "nor a status");
    struct asked asked;
    ask(&asked, tree.path, 5, VITALS_TABLE_THREAD);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 2);
    CHECK_INT(state_of(&asked, need_row(&asked, 8), VITALS_THREAD_NAME), VITALS_FAILED);
    CHECK_INT(state_of(&asked, need_row(&asked, 8), VITALS_THREAD_CPU_SECONDS), VITALS_UNSET);
    asked_done(&asked);
    tree_free(&tree);
}

/* The kernel's 4 was never used; what is new is not left out. */
static void a_policy_that_is_new_is_unknown(void)
{
    struct tree tree = tree_new();
    tree_folder(&tree, 5, "task");
    tree_folder(&tree, 5, "task/7");
    tree_text(&tree, 5, "task/7/stat",
              "7 (seven) ? 1 1 1 0 -1 64 11 0 2 0 150 50 0 0 20 0 3 0 500 8192 5 0 0 "
              "0 0 0 0 0 0 0 0 0 0 0 17 3 40 4 0 0 0 0 0 0 0 0 0 0 0\n");
    static const vitals_metric WORDS[] = {VITALS_THREAD_SCHEDULING_POLICY, VITALS_THREAD_STATE};
    for (size_t i = 0; i < CHECK_COUNT(WORDS); i++) {
        struct asked asked;
        ask_one(&asked, tree.path, 5, WORDS[i]);
        check_asked(&asked);
        check_text(&asked, need_row(&asked, 7), WORDS[i], "unknown");
        asked_done(&asked);
    }
    tree_free(&tree);
}

static void memory_that_runs_out_is_told(void)
{
    struct worker workers[] = {{.name = "one"}, {.name = "two"}};
    struct crew crew;
    crew_start(&crew, workers, CHECK_COUNT(workers));
    check_memory(NULL, getpid(), VITALS_TABLE_THREAD);
    crew_end(&crew);
}

static const check_test tests[] = {
    {"a name cannot pose as other fields", a_name_cannot_pose_as_other_fields},
    {"CPU time is in nanoseconds", cpu_time_is_in_nanoseconds},
    {"each thread has its own scheduling", each_thread_has_its_own_scheduling},
    {"a thousand threads are read", a_thousand_threads_are_read},
    {"threads that end meanwhile have no row", threads_that_end_meanwhile_have_no_row},
    {"a zombie has its first thread", a_zombie_has_its_first_thread},
    {"anybody may ask", anybody_may_ask},
    {"nothing is opened for what is not wanted", nothing_is_opened_for_what_is_not_wanted},
    {"ticks stand in for nanoseconds", ticks_stand_in_for_nanoseconds},
    {"what is no thread is passed over", what_is_no_thread_is_passed_over},
    {"a policy that is new is unknown", a_policy_that_is_new_is_unknown},
    {"memory that runs out is told", memory_that_runs_out_is_told},
};

CHECK_TESTS(tests)
