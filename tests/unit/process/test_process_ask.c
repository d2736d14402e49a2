/* Answers of a live handle: every column and table of one process, for every user and at every
 * stage of its life. */
#include "process_world.h"

#include <pthread.h>
#include <sys/resource.h>
#include <vitals/process.h>
#include <vitals/vitals.h>

static vitals_request *request_of(const vitals_metric *metrics, size_t count)
{
    vitals_request *request;
    vitals_error error;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    for (size_t i = 0; i < count; i++)
        CHECK_OK(vitals_request_add(request, metrics[i], &error), error);
    return request;
}

static bool is_of_process(vitals_table entity)
{
    return entity == VITALS_TABLE_PROCESS || entity == VITALS_TABLE_SOCKET ||
           vitals_table_parent(entity) == VITALS_TABLE_PROCESS;
}

/* Everything that a process can answer. */
static vitals_request *request_all(void)
{
    vitals_request *request = request_of(NULL, 0);
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        if (is_of_process(vitals_metric_table(metric)) || metric == VITALS_HOST_BOOT_TIME_SECONDS ||
            metric == VITALS_HOST_MEMORY_TOTAL_BYTES || metric == VITALS_HOST_LOAD_1M)
            CHECK_INT(vitals_request_add(request, metric, NULL), 0);
    return request;
}

static vitals_process *opened(struct world *world, int64_t pid)
{
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_open(&world->context, pid, &process, &error), error);
    return process;
}

static vitals_snapshot *asked(vitals_process *process, const vitals_request *request)
{
    vitals_snapshot *answer = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_ask(process, request, &answer, &error), error);
    CHECK_UINT(vitals_snapshot_count(answer, VITALS_TABLE_PROCESS), 1);
    return answer;
}

static const vitals_row *row_of(const vitals_snapshot *answer)
{
    return vitals_snapshot_row(answer, VITALS_TABLE_PROCESS, 0);
}

static const vitals_row *find_text(const vitals_snapshot *answer, vitals_metric metric,
                                   const char *text)
{
    const vitals_row *row = NULL;
    vitals_text found;
    while ((row = vitals_snapshot_next(answer, vitals_metric_table(metric), row)) != NULL)
        if (vitals_row_text(row, metric, &found) > 0 && found.size == strlen(text) &&
            memcmp(found.bytes, text, found.size) == 0)
            return row;
    return NULL;
}

static const vitals_row *find_number(const vitals_snapshot *answer, vitals_metric metric,
                                     uint64_t number)
{
    const vitals_row *row = NULL;
    uint64_t found;
    while ((row = vitals_snapshot_next(answer, vitals_metric_table(metric), row)) != NULL)
        if (vitals_row_u64(row, metric, &found) > 0 && found == number)
            return row;
    return NULL;
}

/* Every value of every row has a state that an answer may have. */
static void check_states(const vitals_snapshot *answer)
{
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        vitals_table entity = vitals_metric_table(metric);
        if (!vitals_snapshot_has_metric(answer, metric))
            continue;
        CHECK_CASE(vitals_metric_name(metric));
        for (const vitals_row *row = NULL;
             (row = vitals_snapshot_next(answer, entity, row)) != NULL;) {
            vitals_availability state = vitals_row_availability(row, metric);
            CHECK(state != VITALS_UNSET && state != VITALS_NOT_YET &&
                  state != VITALS_NOT_REQUESTED && state != VITALS_WRONG_METRIC);
        }
    }
    CHECK_CASE(NULL);
}

/* ---- ourselves ---- */

static void check_texts(const vitals_row *row)
{
    char path[4096], bytes[65536];
    vitals_text text = row_text(row, VITALS_PROCESS_COMMAND_LINE);
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t size = read(file, bytes, sizeof bytes);
    close(file);
    CHECK(size > 0);
    CHECK_BYTES(text.bytes, text.size, bytes, (size_t)size);
    size = readlink("/proc/self/exe", path, sizeof path);
    text = row_text(row, VITALS_PROCESS_EXECUTABLE);
    CHECK_BYTES(text.bytes, text.size, path, (size_t)size);
    size = readlink("/proc/self/cwd", path, sizeof path);
    text = row_text(row, VITALS_PROCESS_WORKING_DIRECTORY);
    CHECK_BYTES(text.bytes, text.size, path, (size_t)size);
    CHECK_TEXT(row, VITALS_PROCESS_STATE, "running");
    CHECK_TEXT(row, VITALS_PROCESS_SCHEDULING_POLICY, "other");
}

static void we_know_ourselves(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    vitals_request *request = request_all();
    vitals_snapshot *answer = asked(process, request);
    const vitals_row *row = row_of(answer);
    check_states(answer);
    check_texts(row);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_PID), (uint64_t)getpid());
    CHECK_UINT(row_u64(row, VITALS_PROCESS_PARENT_PID), (uint64_t)getppid());
    CHECK_UINT(row_u64(row, VITALS_PROCESS_PROCESS_GROUP), (uint64_t)getpgrp());
    CHECK_UINT(row_u64(row, VITALS_PROCESS_SESSION), (uint64_t)getsid(0));
    CHECK_UINT(row_u64(row, VITALS_PROCESS_UID), getuid());
    CHECK_UINT(row_u64(row, VITALS_PROCESS_EFFECTIVE_GID), getegid());
    CHECK(row_u64(row, VITALS_PROCESS_PSS_BYTES) > 0);
    CHECK(row_u64(row, VITALS_PROCESS_TEXT_BYTES) > 0);
    CHECK(row_u64(row, VITALS_PROCESS_DATA_BYTES) > 0);
    CHECK(row_u64(row, VITALS_PROCESS_SHARED_BYTES) > 0);

    // Of host only what goes with a process.
    const vitals_row *host = vitals_snapshot_row(answer, VITALS_TABLE_HOST, 0);
    CHECK(row_u64(host, VITALS_HOST_MEMORY_TOTAL_BYTES) >
          row_u64(row, VITALS_PROCESS_RESIDENT_BYTES));
    CHECK_FALSE(vitals_snapshot_has_metric(answer, VITALS_HOST_LOAD_1M));

    // A row of an answer leads to its process, as one of a sampler's does.
    vitals_process *again = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_of(&world.context, row, &again, &error), error);
    CHECK_INT(vitals_process_pid(again), getpid());
    vitals_process_close(again);
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
}

static void our_tables_are_ours(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    vitals_request *request = request_all();
    int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    vitals_snapshot *answer = asked(process, request);
    uint64_t key = vitals_row_key(row_of(answer));
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        if (entity == VITALS_TABLE_PROCESS || vitals_table_parent(entity) != VITALS_TABLE_PROCESS)
            continue;
        CHECK_CASE(vitals_table_name(entity));
        CHECK_INT(vitals_snapshot_state(answer, entity), VITALS_HAVE);
        CHECK(vitals_snapshot_count(answer, entity) > 0);
        const vitals_row *row = NULL;
        while ((row = vitals_snapshot_next(answer, entity, row)) != NULL)
            CHECK_UINT(vitals_row_parent(row), key);
    }
    CHECK_CASE(NULL);
    const vitals_row *row = find_number(answer, VITALS_DESCRIPTOR_NUMBER, (uint64_t)file);
    CHECK_NOT_NULL(row);
    CHECK_TEXT(row, VITALS_DESCRIPTOR_PATH, "/dev/null");
    CHECK_NOT_NULL(find_number(answer, VITALS_THREAD_TID, (uint64_t)getpid()));
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    row = find_text(answer, VITALS_LIMIT_NAME, "nofile");
    CHECK_NOT_NULL(row);
    CHECK_UINT(row_u64(row, VITALS_LIMIT_SOFT), limit.rlim_cur);
    close(file);
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
}

static void what_no_process_answers_is_refused(void)
{
    static const vitals_metric HOST[] = {VITALS_HOST_MEMORY_TOTAL_BYTES, VITALS_HOST_LOAD_1M};
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    vitals_snapshot *answer = NULL;
    vitals_error error;
    for (size_t count = 0; count <= CHECK_COUNT(HOST); count++) {
        vitals_request *request = request_of(HOST, count);
        CHECK_INT(vitals_process_ask(process, request, &answer, &error), VITALS_EARGUMENT);
        CHECK_CONTAINS(error.message, "names no metric or table of a process");
        CHECK_NULL(answer);
        vitals_request_free(request);
    }
    vitals_process_close(process);
    world_close(&world);
}

/* Whose table it is stands in the answer in any case. */
static void a_table_alone_has_its_process(void)
{
    static const vitals_metric LIMIT[] = {VITALS_LIMIT_NAME};
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    vitals_request *request = request_of(LIMIT, 1);
    vitals_snapshot *answer = asked(process, request);
    const vitals_row *row = row_of(answer);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_PID), (uint64_t)getpid());
    CHECK_NEAR(row_f64(row, VITALS_PROCESS_START_SECONDS), vitals_process_start_seconds(process),
               1e-9);
    CHECK_FALSE(vitals_snapshot_has_metric(answer, VITALS_PROCESS_NAME));
    CHECK_FALSE(vitals_snapshot_has_metric(answer, VITALS_LIMIT_SOFT));
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
}

static void two_answers_give_a_rate(void)
{
    static const vitals_metric CPU[] = {VITALS_PROCESS_CPU_SECONDS, VITALS_PROCESS_MINOR_FAULTS};
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    vitals_request *request = request_of(CPU, 2);
    vitals_snapshot *older = asked(process, request), *newer = asked(process, request);
    uint64_t begin = vitals_snapshot_monotonic_ns(older);
    double rate = 0, seconds = row_f64(row_of(older), VITALS_PROCESS_CPU_SECONDS);
    while (row_f64(row_of(newer), VITALS_PROCESS_CPU_SECONDS) < seconds + 0.05) {
        vitals_snapshot_unref(newer);
        newer = asked(process, request); // busy until it shows
        CHECK(vitals_snapshot_monotonic_ns(newer) - begin < 30 * NS_PER_SECOND);
    }
    CHECK_UINT(vitals_snapshot_stream(newer), vitals_snapshot_stream(older));
    CHECK_UINT(vitals_row_key(row_of(newer)), vitals_row_key(row_of(older)));
    CHECK(vitals_snapshot_sequence(newer) > vitals_snapshot_sequence(older));
    CHECK_INT(vitals_row_rate(row_of(newer), older, VITALS_PROCESS_CPU_SECONDS, &rate),
              VITALS_HAVE);
    CHECK(rate > 0 && rate < 1.5);
    vitals_snapshot_unref(older);
    vitals_snapshot_unref(newer);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
}

static void tree_thread(const struct tree *tree, uint64_t start, uint64_t run_ns)
{
    char text[512];
    snprintf(text, sizeof text,
             "11 (worker) S 1 1 1 0 -1 4194304 11 0 2 0 100 50 0 0 20 0 3 0 %llu 8192 5 0 1 1 0 0 "
             "0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             (unsigned long long)start);
    tree_text(tree, 10, "task/11/stat", text);
    snprintf(text, sizeof text, "%llu 5 7\n", (unsigned long long)run_ns);
    tree_text(tree, 10, "task/11/schedstat", text);
}

/* A thread's number is given again: what one ran is not subtracted from what the other did. */
static void a_rate_mixes_no_two_threads(void)
{
    static const vitals_metric CPU[] = {VITALS_THREAD_CPU_SECONDS};
    struct tree tree = tree_new();
    struct world world;
    char path[128];
    tree_process(&tree, 10, "a", 1, 100);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/10/task%s", tree.path, i == 0 ? "" : "/11");
        CHECK_INT(mkdir(path, 0755), 0);
    }
    tree_thread(&tree, 100, 1000000000);
    world_open(&world, tree.path, 0);
    vitals_process *process = opened(&world, 10);
    vitals_request *request = request_of(CPU, 1);
    vitals_snapshot *older = asked(process, request);
    tree_thread(&tree, 100, 2000000000);
    vitals_snapshot *newer = asked(process, request);
    tree_thread(&tree, 700, 3000000000);
    vitals_snapshot *other = asked(process, request);
    const vitals_row *row = vitals_snapshot_row(newer, VITALS_TABLE_THREAD, 0);
    double growth = 0;
    CHECK_INT(vitals_row_growth(row, older, CPU[0], &growth, NULL), VITALS_HAVE);
    CHECK_NEAR(growth, 1, 1e-9);
    row = vitals_snapshot_row(other, VITALS_TABLE_THREAD, 0);
    CHECK_UINT(row_u64(row, VITALS_THREAD_TID), 11); // its identity is there, asked for or not
    CHECK_INT(vitals_row_growth(row, newer, CPU[0], &growth, NULL), VITALS_NOT_YET);
    vitals_snapshot_unref(older);
    vitals_snapshot_unref(newer);
    vitals_snapshot_unref(other);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
    tree_free(&tree);
}

/* ---- others ---- */

static void *tell_and_stay(void *data)
{
    const int *tell = data;
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    do { // until the first thread has ended
        int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
        ssize_t size = read(file, text, sizeof text);
        close(file);
        if (size <= 0 || !os_parse_stat(text, (size_t)size, &stat))
            _exit(1);
        sched_yield();
    } while (stat.state != 'Z');
    if (write(*tell, "x", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* The kernel shows it as a zombie without memory, and it works on with all that it had. */
static void a_process_outlives_its_first_thread(void)
{
    if (CHECK_SANITIZED)
        CHECK_SKIP("a forked child of a sanitized program begins no thread");
    struct world world;
    int tell[2];
    char byte;
    CHECK_INT(pipe(tell), 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, tell_and_stay, &tell[1]) != 0)
            _exit(1);
        syscall(SYS_exit, 0); // of the thread alone
    }
    CHECK_INT(read(tell[0], &byte, 1), 1);
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, pid);
    vitals_request *request = request_all();
    vitals_snapshot *answer = asked(process, request);
    world_tick(&world);
    const vitals_row *rows[] = {row_of(answer), world_need(&world, pid)};
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_TEXT(rows[i], VITALS_PROCESS_STATE, "zombie"); // the kernel's word
        CHECK_UINT(row_u64(rows[i], VITALS_PROCESS_THREADS), 2);
        CHECK(row_u64(rows[i], VITALS_PROCESS_RESIDENT_BYTES) > 0);
        CHECK(row_u64(rows[i], VITALS_PROCESS_VIRTUAL_BYTES) > 0);
        CHECK(row_u64(rows[i], VITALS_PROCESS_DATA_BYTES) > 0);
        CHECK_INT(vitals_row_availability(rows[i], VITALS_PROCESS_RESIDENT_BYTES), VITALS_HAVE);
    }
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
    child_end(pid);
    close(tell[0]);
    close(tell[1]);
}

/* The same by files that tell of no other thread: then nothing is known, and not 0. */
static void memory_that_nobody_tells_is_not_known(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 10, "a", 1, 100);
    tree_text(&tree, 10, "stat",
              "10 (a) Z 1 1 1 0 -1 4194304 11 0 2 0 100 50 0 0 20 0 3 0 100 0 0 0 0 0 0 0 0 0 0 0 "
              "0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    tree_text(&tree, 10, "statm", "0 0 0 0 0 0 0\n");
    world_open(&world, tree.path, 0);
    vitals_process *process = opened(&world, 10);
    vitals_request *request = request_all();
    vitals_snapshot *answer = asked(process, request);
    CHECK_INT(vitals_row_availability(row_of(answer), VITALS_PROCESS_RESIDENT_BYTES), VITALS_GONE);
    CHECK(vitals_row_availability(row_of(answer), VITALS_PROCESS_VIRTUAL_BYTES) <= 0);
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
    tree_free(&tree);
}

#define LETTERS "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9" /* 14 bytes */

/* A name of 15 bytes may be cut; the first argument tells the rest where it begins alike. */
static void a_name_is_told_whole(void)
{
    static const struct {
        const char *name, *arguments;
        size_t size; /* of the arguments */
        const char *whole;
    } cases[] = {
#define ARGUMENTS(text) text, sizeof(text)
        {"fourteen-bytes", ARGUMENTS("/bin/fourteen-bytes-and-more"), "fourteen-bytes"},
        {"fifteen-bytes-x", ARGUMENTS("fifteen-bytes-x\0-a"), "fifteen-bytes-x"},
        {"sixteen-bytes-x", ARGUMENTS("/usr/bin/sixteen-bytes-xx\0/a/b"), "sixteen-bytes-xx"},
        {"sixteen-bytes-x", ARGUMENTS("./with blank/sixteen-bytes-x y\0"), "sixteen-bytes-x y"},
        {"sixteen-bytes-x", ARGUMENTS("another-program-of-that"), "sixteen-bytes-x"},
        {"sixteen-bytes-x", "sixteen-bytes-xyz: master", 25, "sixteen-bytes-xyz:"},
        {"sixteen-bytes-x", "", 0, "sixteen-bytes-x"},
        {LETTERS "\xc3", ARGUMENTS("/x/" LETTERS LETTERS), LETTERS LETTERS},
        {"x) S 1 (y-fifte", ARGUMENTS("x) S 1 (y-fifteen"), "x) S 1 (y-fifteen"},
        {"kworker/u8:1-events_unbound", "", 0, "kworker/u8:1-events_unbound"},
    };
    struct tree tree = tree_new();
    struct world world;
    vitals_text text;
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        tree_process(&tree, 10 + (int64_t)i, cases[i].name, 1, 100);
        tree_put(&tree, 10 + (int64_t)i, "cmdline", cases[i].arguments, cases[i].size);
    }
    tree_process(&tree, 9, "without-arguments", 1, 100);
    world_open(&world, tree.path, 0);
    vitals_request *request = request_all();
    world_tick(&world);
    world_details(&world, 1, 1000);
    world_tick(&world);
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].arguments);
        vitals_process *process = opened(&world, 10 + (int64_t)i);
        vitals_snapshot *answer = asked(process, request);
        const vitals_row *rows[] = {row_of(answer), world_need(&world, 10 + (int64_t)i)};
        for (size_t j = 0; j < CHECK_COUNT(rows); j++) {
            CHECK_INT(vitals_row_text(rows[j], VITALS_PROCESS_PROGRAM_NAME, &text), VITALS_HAVE);
            CHECK_BYTES(text.bytes, text.size, cases[i].whole, strlen(cases[i].whole));
        }
        vitals_snapshot_unref(answer);
        vitals_process_close(process);
    }
    CHECK_CASE("arguments that cannot be read");
    CHECK_INT(vitals_row_text(world_need(&world, 9), VITALS_PROCESS_PROGRAM_NAME, &text),
              VITALS_LOWER_BOUND);
    CHECK_BYTES(text.bytes, text.size, "without-arguments", 17);
    vitals_request_free(request);
    world_close(&world);
    tree_free(&tree);
}

static void a_zombie_still_answers(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    vitals_process *process = opened(&world, pid);
    vitals_request *request = request_all();
    kill(pid, SIGKILL);
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    vitals_snapshot *answer = asked(process, request);
    const vitals_row *row = row_of(answer);
    check_states(answer);
    CHECK_TEXT(row, VITALS_PROCESS_STATE, "zombie");
    CHECK_UINT(row_u64(row, VITALS_PROCESS_UID), getuid());
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_COMMAND_LINE), VITALS_GONE);
    CHECK(vitals_row_availability(row, VITALS_PROCESS_PSS_BYTES) < 0);
    CHECK(vitals_row_availability(row, VITALS_PROCESS_EXECUTABLE) < 0);
    CHECK_UINT(vitals_snapshot_count(answer, VITALS_TABLE_DESCRIPTOR), 0);
    CHECK_UINT(vitals_snapshot_count(answer, VITALS_TABLE_MAPPING), 0);
    vitals_snapshot_unref(answer);

    waitpid(pid, NULL, 0);
    vitals_error error;
    vitals_snapshot *none = NULL;
    CHECK_INT(vitals_process_ask(process, request, &none, &error), VITALS_EGONE);
    CHECK_CONTAINS(error.message, "has ended");
    CHECK_NULL(none);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
}

static void nobody_else_answers(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    vitals_process *process = opened(&world, pid);
    vitals_request *request = request_all();
    child_end(pid);
    bool same = child_with_pid(pid) == pid;
    vitals_snapshot *answer = NULL;
    CHECK_INT(vitals_process_ask(process, request, &answer, NULL), VITALS_EGONE);
    if (same)
        child_end(pid);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
    if (!same)
        CHECK_SKIP("may not choose a pid (clone3 set_tid)");
}

static void a_kernel_thread_has_no_memory(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    world_tick(&world);
    const vitals_row *row = world_row(&world, 2);
    if (row == NULL || row_u64(row, VITALS_PROCESS_VIRTUAL_BYTES) != 0) {
        world_close(&world);
        CHECK_SKIP("pid 2 is no kernel thread here");
    }
    vitals_process *process = opened(&world, 2);
    vitals_request *request = request_all();
    vitals_snapshot *answer = asked(process, request);
    row = row_of(answer);
    check_states(answer);
    CHECK_TEXT(row, VITALS_PROCESS_NAME, "kthreadd");
    CHECK_TEXT(row, VITALS_PROCESS_COMMAND_LINE, "");
    uint64_t bytes = 0;
    CHECK(vitals_row_u64(row, VITALS_PROCESS_PSS_BYTES, &bytes) <= 0 || bytes == 0);
    CHECK_UINT(vitals_snapshot_count(answer, VITALS_TABLE_ENVIRONMENT), 0);
    CHECK_UINT(vitals_snapshot_count(answer, VITALS_TABLE_MAPPING), 0);
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
}

/* In a child without privileges: 0, or the line of the failed check. */
static int ask_as_nobody(pid_t pid)
{
    struct world world;
    vitals_process *process;
    vitals_snapshot *answer;
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return __LINE__;
    world_open(&world, NULL, 0);
    if (vitals_process_open(&world.context, pid, &process, NULL) != 0 ||
        vitals_process_ask(process, request_all(), &answer, NULL) != 0)
        return __LINE__;
    const vitals_row *row = row_of(answer);
    if (vitals_row_availability(row, VITALS_PROCESS_COMMAND_LINE) != VITALS_HAVE ||
        vitals_row_availability(row, VITALS_PROCESS_UID) != VITALS_HAVE ||
        vitals_row_availability(row, VITALS_PROCESS_CPU_SECONDS) != VITALS_HAVE ||
        vitals_row_availability(row, VITALS_PROCESS_RESIDENT_BYTES) != VITALS_HAVE)
        return __LINE__;
    static const vitals_metric DENIED[] = {
        VITALS_PROCESS_PSS_BYTES,     VITALS_PROCESS_USS_BYTES,  VITALS_PROCESS_EXECUTABLE,
        VITALS_PROCESS_READ_BYTES,    VITALS_PROCESS_READ_CALLS, VITALS_PROCESS_ROOT_DIRECTORY,
        VITALS_PROCESS_PID_NAMESPACE,
    };
    for (size_t i = 0; i < CHECK_COUNT(DENIED); i++)
        if (vitals_row_availability(row, DENIED[i]) != VITALS_DENIED)
            return __LINE__ * 100 + (int)i;
    static const vitals_table TABLES[] = {VITALS_TABLE_DESCRIPTOR, VITALS_TABLE_MAPPING,
                                          VITALS_TABLE_ENVIRONMENT};
    for (size_t i = 0; i < CHECK_COUNT(TABLES); i++)
        if (vitals_snapshot_state(answer, TABLES[i]) != VITALS_DENIED ||
            vitals_snapshot_count(answer, TABLES[i]) != 0)
            return __LINE__ * 100 + (int)i;
    if (vitals_snapshot_count(answer, VITALS_TABLE_THREAD) == 0)
        return __LINE__;
    return 0;
}

static void nobody_is_told_what_is_denied(void)
{
    if (geteuid() != 0)
        CHECK_SKIP("only root can become nobody");
    if (CHECK_SANITIZED)
        CHECK_SKIP("a forked child of a sanitized program ends with its leaks");
    int tell[2], line = -1;
    CHECK(pipe(tell) == 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        line = ask_as_nobody(getppid());
        _exit(write(tell[1], &line, sizeof line) == sizeof line ? 0 : 1);
    }
    close(tell[1]);
    CHECK(read(tell[0], &line, sizeof line) == sizeof line);
    CHECK_INT(line, 0); // else the line of this file
    close(tell[0]);
    waitpid(pid, NULL, 0);
}

static void files_of_a_tree_answer_too(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 10, "a) R 1 (b", 1, 100);
    tree_text(&tree, 10, "cmdline", "a b");
    tree_text(&tree, 10, "status", "Name:\tUid: 7\nUid:\t1\t2\t3\t4\nGid:\t0\t0\t0\t0\n");
    tree_text(&tree, 10, "environ", "A=1");
    world_open(&world, tree.path, 0);
    vitals_process *process = opened(&world, 10);
    vitals_request *request = request_all();
    vitals_snapshot *answer = asked(process, request);
    const vitals_row *row = row_of(answer);
    check_states(answer);
    CHECK_STR(vitals_row_label(row), "a) R 1 (b");
    CHECK_TEXT(row, VITALS_PROCESS_COMMAND_LINE, "a b");
    CHECK_UINT(row_u64(row, VITALS_PROCESS_UID), 1);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_EFFECTIVE_UID), 2);
    CHECK_TEXT(row, VITALS_PROCESS_GROUP, "root");
    CHECK_NOT_NULL(find_text(answer, VITALS_ENVIRONMENT_NAME, "A"));
    vitals_snapshot_unref(answer);

    tree_process(&tree, 10, "a", 1, 101); // one tick later: another process
    CHECK_INT(vitals_process_ask(process, request, &answer, NULL), VITALS_EGONE);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
    tree_free(&tree);
}

/* ---- what it costs ---- */

static void ten_thousand_answers_leave_nothing(void)
{
    static const vitals_metric SOME[] = {
        VITALS_PROCESS_NAME,        VITALS_PROCESS_COMMAND_LINE,
        VITALS_PROCESS_USER,        VITALS_PROCESS_RESIDENT_BYTES,
        VITALS_PROCESS_CPU_SECONDS, VITALS_LIMIT_NAME,
        VITALS_LIMIT_SOFT,          VITALS_ENVIRONMENT_NAME,
    };
    enum { ASKS = 10000 };
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    vitals_process *process = opened(&world, pid);
    vitals_request *request = request_of(SOME, CHECK_COUNT(SOME));
    vitals_snapshot_unref(asked(process, request));
    size_t descriptors = check_open_descriptors();
    int64_t live = memory_live();
    for (int i = 0; i < ASKS; i++)
        vitals_snapshot_unref(asked(process, request));
    CHECK_UINT(check_open_descriptors(), descriptors);
    CHECK_INT(memory_live(), live);
    child_end(pid);
    vitals_snapshot *none = NULL;
    for (int i = 0; i < ASKS; i++)
        CHECK_INT(vitals_process_ask(process, request, &none, NULL), VITALS_EGONE);
    for (int i = 0; i < ASKS; i++)
        CHECK_INT(vitals_process_open(&world.context, pid, &process, NULL), VITALS_EGONE);
    CHECK_UINT(check_open_descriptors(), descriptors);
    CHECK_INT(memory_live(), live);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
}

static int count_bytes(void *data, const char *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)data += size;
    return 0;
}

static void *read_answer(void *data)
{
    const vitals_snapshot *answer = data;
    size_t bytes = 0;
    for (int i = 0; i < 20; i++) {
        vitals_snapshot *held = vitals_snapshot_ref(answer);
        if (vitals_snapshot_json(held, count_bytes, &bytes, NULL) != 0)
            bytes = 0;
        vitals_snapshot_unref(held);
    }
    return (void *)bytes;
}

static void threads_read_one_answer(void)
{
    enum { THREADS = 4 };
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    vitals_request *request = request_all();
    vitals_snapshot *answer = asked(process, request);
    pthread_t threads[THREADS];
    void *bytes[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, read_answer, answer), 0);
    for (int i = 0; i < 10; i++) // the handle is asked again meanwhile
        vitals_snapshot_unref(asked(process, request));
    for (size_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], &bytes[i]), 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(bytes[i] != NULL && bytes[i] == bytes[0]);
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
}

static void running_out_of_memory_is_said(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    vitals_request *request = request_all();
    int64_t live = memory_live();
    int code = VITALS_EMEMORY;
    uint64_t nth;
    for (nth = 1; code != 0; nth++) {
        CHECK(nth < 5000);
        vitals_process *process = opened(&world, pid);
        vitals_snapshot *answer = NULL;
        memory_fail_at(nth);
        code = vitals_process_ask(process, request, &answer, NULL);
        memory_fail_at(0);
        CHECK(code == 0 || (code == VITALS_EMEMORY && answer == NULL));
        vitals_snapshot_unref(answer);
        vitals_process_close(process);
        CHECK_INT(memory_live(), live);
        if (code == 0 && nth < 20)
            code = VITALS_EMEMORY; // one that can be done without
    }
    CHECK(nth > 20);
    child_end(pid);
    vitals_request_free(request);
    world_close(&world);
}

static const check_test tests[] = {
    {"we know ourselves", we_know_ourselves},
    {"our tables are ours", our_tables_are_ours},
    {"what no process answers is refused", what_no_process_answers_is_refused},
    {"a table alone has its process", a_table_alone_has_its_process},
    {"two answers give a rate", two_answers_give_a_rate},
    {"a rate mixes no two threads", a_rate_mixes_no_two_threads},
    {"a process outlives its first thread", a_process_outlives_its_first_thread},
    {"memory that nobody tells is not known", memory_that_nobody_tells_is_not_known},
    {"a name is told whole", a_name_is_told_whole},
    {"a zombie still answers", a_zombie_still_answers},
    {"nobody else answers", nobody_else_answers},
    {"a kernel thread has no memory", a_kernel_thread_has_no_memory},
    {"nobody is told what is denied", nobody_is_told_what_is_denied},
    {"files of a tree answer too", files_of_a_tree_answer_too},
    {"ten thousand answers leave nothing", ten_thousand_answers_leave_nothing},
    {"threads read one answer", threads_read_one_answer},
    {"running out of memory is said", running_out_of_memory_is_said},
};
CHECK_TESTS(tests)
