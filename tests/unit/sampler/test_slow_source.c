/* A walk through a process's memory runs on a worker of its own and delays no tick; a process that
 * cannot be read at all delays no other for long, and is read again once it can be.
 *
 * That process really hangs: its command line is not in the tree, so opening it fails, and the
 * trace callback blocks the worker's thread until the test lets it go. */
#include "process_world.h"

#include "fake_clock.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <vitals/vitals.h>

enum { BIG = 512 << 20 };

/* A child with so much memory in small pages; it is all there when this returns. */
static pid_t big_child_new(void)
{
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        char *block = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            _exit(1);
        madvise(block, BIG, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < BIG; at += 4096)
            block[at] = 1;
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    return pid;
}

static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* What one walk costs, by doing it. */
static uint64_t walk_ns(pid_t pid)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            return 0;
        uint64_t begin = thread_ns();
        CHECK(read(file, text, sizeof text) > 0);
        uint64_t spent = thread_ns() - begin;
        least = spent < least ? spent : least;
        close(file);
    }
    return least;
}

static vitals_request *request_of(pid_t pid, bool memory)
{
    vitals_request *request;
    int64_t pids[] = {pid};
    CHECK_INT(vitals_request_new(VITALS_SET_SOURCES, &request, NULL), 0);
    CHECK_INT(vitals_request_add(request, VITALS_PROCESS_PID, NULL), 0);
    CHECK_INT(vitals_request_add(request, VITALS_PROCESS_RESIDENT_BYTES, NULL), 0);
    if (memory) {
        CHECK_INT(vitals_request_add(request, VITALS_PROCESS_PSS_BYTES, NULL), 0);
        CHECK_INT(vitals_request_set_every(request, VITALS_PROCESS_PSS_BYTES, 0, NULL), 0);
    }
    CHECK_INT(vitals_request_set_rows(request, VITALS_ROWS_LISTED, pids, 1, NULL), 0);
    return request;
}

static const vitals_row *source_of(const vitals_snapshot *snapshot, const char *label)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(snapshot, VITALS_TABLE_SOURCE, row)) != NULL)
        if (strcmp(vitals_row_label(row), label) == 0)
            return row;
    return NULL;
}

static vitals_snapshot *take(vitals_sampler *sampler)
{
    vitals_snapshot *snapshot;
    vitals_error error;
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    return snapshot;
}

static void a_walk_delays_no_tick(void)
{
    enum { TICKS = 20 };
    vitals_context *context;
    vitals_sampler *sampler;
    vitals_error error;
    pid_t pid = big_child_new();
    uint64_t walk = walk_ns(pid);
    if (walk == 0) {
        child_end(pid);
        CHECK_SKIP("a kernel without smaps_rollup, or one that does not show it");
    }
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    vitals_request *request = request_of(pid, true);
    CHECK_OK(vitals_sampler_new(context, request, &sampler, &error), error);

    // The first tick waits, so that a single reading is whole.
    vitals_snapshot *snapshot = take(sampler);
    const vitals_row *row = vitals_snapshot_row(snapshot, VITALS_TABLE_PROCESS, 0);
    CHECK(row_u64(row, VITALS_PROCESS_PSS_BYTES) >= BIG);
    CHECK_NOT_NULL(source_of(snapshot, "memory"));
    vitals_snapshot_unref(snapshot);

    // The others take what is there: they cost what a tick without it costs, and not all of them
    // wait for the walk.
    vitals_request *plain = request_of(pid, false);
    vitals_sampler *other;
    CHECK_OK(vitals_sampler_new(context, plain, &other, &error), error);
    uint64_t least = UINT64_MAX, least_plain = UINT64_MAX;
    bool waited = true;
    for (int i = 0; i < TICKS; i++) {
        const vitals_clock *clock = vitals_clock_system();
        uint64_t begin_ns = clock->monotonic_ns(clock->data), begin = thread_ns();
        snapshot = take(sampler);
        uint64_t between = thread_ns();
        vitals_snapshot_unref(take(other));
        uint64_t end = thread_ns();
        least = between - begin < least ? between - begin : least;
        least_plain = end - between < least_plain ? end - between : least_plain;
        row = vitals_snapshot_row(snapshot, VITALS_TABLE_PROCESS, 0);
        CHECK(row_u64(row, VITALS_PROCESS_PSS_BYTES) >= BIG);
        waited = waited && vitals_row_read_ns(row, VITALS_PROCESS_PSS_BYTES) >= begin_ns;
        vitals_snapshot_unref(snapshot);
    }
    CHECK_FALSE(waited);
    if (!CHECK_SANITIZED)
        CHECK(least < least_plain + walk / 2);
    vitals_sampler_free(other);
    vitals_request_free(plain);
    vitals_sampler_free(sampler);
    vitals_request_free(request);
    vitals_context_free(context);
    child_end(pid);
}

static size_t threads_of_ours(void)
{
    char text[8192];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    const char *line = strstr(text, "\nThreads:");
    return line != NULL ? strtoul(line + 9, NULL, 10) : 0;
}

static void what_nobody_asks_for_has_no_worker(void)
{
    vitals_context *context;
    vitals_sampler *sampler;
    vitals_error error;
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    vitals_request *request = request_of(getpid(), false);
    size_t threads = threads_of_ours();
    CHECK_OK(vitals_sampler_new(context, request, &sampler, &error), error);
    vitals_snapshot *snapshot = take(sampler);
    CHECK_UINT(threads_of_ours(), threads);
    CHECK_NULL(source_of(snapshot, "memory"));
    vitals_snapshot_unref(snapshot);
    vitals_sampler_free(sampler);
    vitals_request_free(request);
    vitals_context_free(context);
}

static void running_out_of_memory_is_said(void)
{
    vitals_context *context;
    vitals_error error;
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    vitals_request *request = request_of(getpid(), true);
    CHECK_INT(vitals_request_add(request, VITALS_PROCESS_COMMAND_LINE, NULL), 0);
    int64_t live = memory_live();
    int code = VITALS_EMEMORY;
    uint64_t nth;
    for (nth = 1; code != 0; nth++) {
        CHECK(nth < 200);
        vitals_sampler *sampler = NULL;
        memory_fail_at(nth);
        code = vitals_sampler_new(context, request, &sampler, NULL);
        memory_fail_at(0);
        CHECK(code == 0 || code == VITALS_EMEMORY);
        vitals_sampler_free(sampler);
        CHECK_INT(memory_live(), live);
    }
    CHECK(nth > 5);
    vitals_request_free(request);
    vitals_context_free(context);
}

/* ---- processes that cannot be read ---- */

enum { SOUND = 7, HANGS = 10, LAST = 20 }; /* from HANGS on processes may hang */

/* Real time for a wait: where an answer will come, and where none will. */
static const uint64_t PATIENT = 5 * NS_PER_SECOND, IN_VAIN = 100 * NS_PER_MS;

static struct {
    struct fake_clock *fake;
    struct tree tree;
    vitals_context *context;
    vitals_sampler *sampler;
    int64_t live;
    double spent;
    atomic_bool hang;
    atomic_int inside, calls;
    uint32_t kept;          /* max_descriptors */
    struct rlimit limit;    /* of descriptors, in the end */
    atomic_int refuse_from; /* with the command line of this process on there are none */
    atomic_int refusals;    /* of the last process's command line, until there are some again */
} stage;

/* On the worker: takes all descriptors away, and gives them back once that was noticed. */
static void refuse(const char *line)
{
    struct rlimit none = stage.limit;
    char first[32];
    none.rlim_cur = 1; // of so many poll(2) wants to be able to watch
    snprintf(first, sizeof first, "%d/cmdline: No such", atomic_load(&stage.refuse_from));
    if (strstr(line, first) != NULL) {
        atomic_store(&stage.refuse_from, 0);
        setrlimit(RLIMIT_NOFILE, &none);
    }
    if (strstr(line, "20/cmdline: Too many open files") != NULL &&
        atomic_fetch_sub(&stage.refusals, 1) == 1)
        setrlimit(RLIMIT_NOFILE, &stage.limit);
}

static void trace(void *data, const char *line)
{
    (void)data;
    if (atomic_load(&stage.refusals) > 0)
        refuse(line);
    if (strstr(line, "/cmdline: ") == NULL || !atomic_load(&stage.hang))
        return;
    atomic_fetch_add(&stage.calls, 1);
    atomic_fetch_add(&stage.inside, 1);
    while (atomic_load(&stage.hang))
        real_sleep_ns(NS_PER_MS);
    atomic_fetch_sub(&stage.inside, 1);
}

static void put_process(int64_t pid)
{
    tree_process(&stage.tree, pid, "job", 1, 500);
    tree_text(&stage.tree, pid, "status", "Name:\tjob\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n");
    tree_text(&stage.tree, pid, "cgroup", "0::/work\n");
    tree_put(&stage.tree, pid, "cmdline", "job\0-v", 7);
}

/* From now on it hangs, or fails where nothing hangs. The next tick waits in vain. */
static void break_process(int64_t pid)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%lld/cmdline", stage.tree.path, (long long)pid);
    CHECK_INT(unlink(path), 0);
    stage.fake->grace_ns = IN_VAIN;
}

static void stage_begin(void)
{
    static const vitals_metric WANTED[] = {
        VITALS_PROCESS_PID,        VITALS_PROCESS_COMMAND_LINE, VITALS_PROCESS_USER,
        VITALS_PROCESS_CGROUP,     VITALS_SOURCE_STATE,         VITALS_SOURCE_TIMEOUTS,
        VITALS_SOURCE_QUARANTINED, VITALS_SOURCE_CALL_SECONDS,  VITALS_SOURCE_CALLS,
    };
    vitals_request *request;
    vitals_options options;
    vitals_error error;
    stage.live = memory_live();
    stage.spent = 0;
    atomic_store(&stage.calls, 0);
    stage.tree = tree_new();
    stage.fake = fake_clock_new();
    stage.fake->grace_ns = PATIENT;
    vitals_options_init(&options, sizeof options);
    options.proc_root = stage.tree.path;
    options.clock = &stage.fake->clock;
    options.trace = trace;
    options.max_descriptors = stage.kept;
    CHECK_OK(vitals_context_new(&options, &stage.context, &error), error);
    CHECK_INT(vitals_request_new(0, &request, NULL), 0);
    for (size_t i = 0; i < CHECK_COUNT(WANTED); i++)
        CHECK_INT(vitals_request_add(request, WANTED[i], NULL), 0);
    CHECK_INT(vitals_request_set_every(request, VITALS_PROCESS_COMMAND_LINE, 0, NULL), 0);
    CHECK_INT(vitals_request_set_every(request, VITALS_PROCESS_USER, 0, NULL), 0);
    CHECK_INT(vitals_request_set_every(request, VITALS_PROCESS_CGROUP, NS_PER_SECOND, NULL), 0);
    CHECK_OK(vitals_sampler_new(stage.context, request, &stage.sampler, &error), error);
    vitals_request_free(request);
}

/* Lets threads go that hang, and waits until none of them looks at the clock any more. */
static void stage_end(void)
{
    uint64_t until = real_now_ns() + 20 * NS_PER_SECOND;
    atomic_store(&stage.hang, false);
    vitals_sampler_free(stage.sampler);
    vitals_context_free(stage.context);
    while (memory_live() != stage.live && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    CHECK_INT(memory_live(), stage.live);
    tree_free(&stage.tree);
}

/* A tick. By the fake clock it takes only the time that it waits in vain; a second passes after it.
 * `seconds`: what it took. */
static vitals_snapshot *stage_tick(double *seconds)
{
    vitals_snapshot *snapshot;
    vitals_error error;
    CHECK_OK(vitals_sampler_take(stage.sampler, &snapshot, &error), error);
    double spent = row_f64(source_of(snapshot, "sampler"), VITALS_SOURCE_CALL_SECONDS);
    *seconds = spent - stage.spent;
    stage.spent = spent;
    fake_clock_advance(stage.fake, NS_PER_SECOND);
    stage.fake->grace_ns = PATIENT;
    return snapshot;
}

static const vitals_row *process_of(const vitals_snapshot *snapshot, uint64_t pid)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL)
        if (row_u64(row, VITALS_PROCESS_PID) == pid)
            return row;
    CHECK_FAIL("process %llu has no row", (unsigned long long)pid);
    return NULL;
}

static void check_details(const vitals_snapshot *snapshot, uint64_t pid, int command, int user)
{
    const vitals_row *row = process_of(snapshot, pid);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_COMMAND_LINE), command);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_USER), user);
    if (command > 0)
        CHECK_TEXT(row, VITALS_PROCESS_COMMAND_LINE, "job\0-v\0");
}

static void check_source(const vitals_snapshot *snapshot, const char *state, uint64_t timeouts,
                         uint64_t quarantined)
{
    const vitals_row *row = source_of(snapshot, "files");
    vitals_text text = row_text(row, VITALS_SOURCE_STATE);
    CHECK_BYTES(text.bytes, text.size, state, strlen(state));
    CHECK_UINT(row_u64(row, VITALS_SOURCE_TIMEOUTS), timeouts);
    CHECK_UINT(row_u64(row, VITALS_SOURCE_QUARANTINED), quarantined);
}

static void a_process_that_hangs_delays_nobody_for_long(void)
{
    enum { HAVE = VITALS_HAVE, STALE = VITALS_STALE, NONE = VITALS_UNSUPPORTED };
    static const struct {
        const char *name;
        bool hang;
        int sound, hangs, user;
        const char *state;
        uint64_t timeouts, quarantined;
        double seconds;
    } steps[] = {
        {"all answer", false, HAVE, HAVE, HAVE, "have", 0, 0, 0},
        {"one hangs, and the tick waits", true, STALE, STALE, STALE, "stale", 1, 0, 0.1},
        {"no tick waits again", true, STALE, STALE, STALE, "stale", 2, 0, 0},
        {"it is left behind", true, STALE, STALE, STALE, "have", 3, 1, 0},
        {"the others are asked", true, HAVE, STALE, STALE, "have", 3, 1, 0},
        {"and again", true, HAVE, STALE, STALE, "have", 3, 1, 0},
        {"and it too, when it is back", false, HAVE, NONE, HAVE, "have", 3, 0, 0},
        {"and again", false, HAVE, NONE, HAVE, "have", 3, 0, 0},
    };
    stage_begin();
    put_process(SOUND);
    put_process(HANGS);
    put_process(LAST);
    for (size_t i = 0; i < CHECK_COUNT(steps); i++) {
        CHECK_CASE(steps[i].name);
        if (i == 1)
            break_process(HANGS);
        if (i == 4)
            put_process(LAST + 1); // a new process is no worse off
        bool back = atomic_exchange(&stage.hang, steps[i].hang) && !steps[i].hang;
        vitals_snapshot *snapshot;
        double seconds;
        do { // its thread is back at some time
            snapshot = stage_tick(&seconds);
            back = back && row_u64(source_of(snapshot, "files"), VITALS_SOURCE_QUARANTINED) != 0;
            if (back)
                vitals_snapshot_unref(snapshot);
        } while (back);
        check_details(snapshot, SOUND, steps[i].sound, steps[i].sound);
        check_details(snapshot, LAST, steps[i].sound, steps[i].sound);
        if (i >= 4)
            check_details(snapshot, LAST + 1, HAVE, HAVE);
        check_details(snapshot, HANGS, steps[i].hangs, steps[i].user);
        check_source(snapshot, steps[i].state, steps[i].timeouts, steps[i].quarantined);
        CHECK_NEAR(seconds, steps[i].seconds, 1e-6);
        vitals_snapshot_unref(snapshot);
    }
    CHECK_INT(atomic_load(&stage.calls), 1);
    stage_end();
}

/* One reading waits as long as it takes to know that one hangs, and has the others. */
/* A first tick may be the only one: it asks again, at once where the table had some to give up, and
 * else after a moment. */
static void a_first_tick_without_descriptors_asks_again(void)
{
    for (uint32_t kept = 1; kept <= 2; kept++) {
        double seconds;
        CHECK_INT(getrlimit(RLIMIT_NOFILE, &stage.limit), 0);
        stage.kept = kept;
        stage_begin();
        put_process(HANGS);
        put_process(LAST);
        break_process(HANGS);
        stage.fake->grace_ns = PATIENT;
        atomic_store(&stage.refuse_from, HANGS);
        atomic_store(&stage.refusals, 5);
        vitals_snapshot *snapshot = stage_tick(&seconds);
        CHECK_INT(atomic_load(&stage.refusals), 0);
        check_details(snapshot, LAST, VITALS_HAVE, VITALS_HAVE);
        check_source(snapshot, "have", 0, 0);
        CHECK(seconds < 2);
        vitals_snapshot_unref(snapshot);
        stage_end();
    }
    stage.kept = 0;
}

static void who_hangs_from_the_first_timed_out(void)
{
    double seconds;
    stage_begin();
    put_process(SOUND);
    put_process(HANGS);
    put_process(LAST);
    break_process(HANGS);
    atomic_store(&stage.hang, true);
    stage.fake->grace_ns = NS_PER_SECOND; // and then for the others
    vitals_snapshot *snapshot = stage_tick(&seconds);
    check_details(snapshot, SOUND, VITALS_HAVE, VITALS_HAVE);
    check_details(snapshot, HANGS, VITALS_TIMED_OUT, VITALS_TIMED_OUT);
    check_details(snapshot, LAST, VITALS_HAVE, VITALS_HAVE);
    check_source(snapshot, "have", 1, 1);
    CHECK(seconds < 2.31);
    vitals_snapshot_unref(snapshot);
    stage_end();
}

/* Four threads are left behind, and no more: then the source timed out, until one comes back. */
static void not_every_process_gets_a_thread(void)
{
    enum { TICKS = 20, MANY = 6 };
    double seconds, all = 0;
    vitals_snapshot *snapshot = NULL;
    stage_begin();
    put_process(SOUND);
    for (int i = 0; i < MANY; i++)
        put_process(HANGS + i);
    vitals_snapshot_unref(stage_tick(&seconds));
    for (int i = 0; i < MANY; i++)
        break_process(HANGS + i);
    atomic_store(&stage.hang, true);
    for (int i = 0; i < TICKS; i++) {
        vitals_snapshot_unref(snapshot);
        stage.fake->grace_ns = IN_VAIN;
        snapshot = stage_tick(&seconds);
        all += seconds;
    }
    for (int i = 0; i < 500 && atomic_load(&stage.inside) < 5; i++)
        real_sleep_ns(10 * NS_PER_MS); /* a busy machine starts a thread late */
    CHECK_INT(atomic_load(&stage.inside), 5);
    CHECK_UINT(row_u64(source_of(snapshot, "files"), VITALS_SOURCE_QUARANTINED), 4);
    vitals_text state = row_text(source_of(snapshot, "files"), VITALS_SOURCE_STATE);
    CHECK_BYTES(state.bytes, state.size, "timed_out", 9);
    check_details(snapshot, HANGS + MANY - 1, VITALS_STALE, VITALS_STALE);
    CHECK(all < 0.51); // each is waited for once
    atomic_store(&stage.hang, false);
    do { // all come back
        vitals_snapshot_unref(snapshot);
        snapshot = stage_tick(&seconds);
    } while (row_u64(source_of(snapshot, "files"), VITALS_SOURCE_QUARANTINED) != 0);
    for (int i = 0; i < 5; i++) { // a worker may be late once more on a busy machine
        vitals_snapshot_unref(snapshot);
        snapshot = stage_tick(&seconds);
    }
    check_details(snapshot, SOUND, VITALS_HAVE, VITALS_HAVE);
    for (int i = 0; i < MANY; i++)
        check_details(snapshot, (uint64_t)(HANGS + i), VITALS_UNSUPPORTED, VITALS_HAVE);
    vitals_snapshot_unref(snapshot);
    stage_end();
}

/* Each allocation of the tick that leaves one behind fails once; the process is left behind then or
 * with the next. */
static void no_memory_for_another_worker_is_survived(void)
{
    bool failed = true;
    uint64_t nth = 1;
    for (; failed; nth++) {
        CHECK(nth < 60);
        double seconds;
        stage_begin();
        put_process(SOUND);
        put_process(HANGS);
        vitals_snapshot_unref(stage_tick(&seconds));
        break_process(HANGS);
        atomic_store(&stage.hang, true);
        vitals_snapshot_unref(stage_tick(&seconds));
        vitals_snapshot_unref(stage_tick(&seconds));
        vitals_snapshot *snapshot = NULL;
        uint64_t asked = memory_asked();
        memory_fail_at(nth);
        int code = vitals_sampler_take(stage.sampler, &snapshot, NULL);
        memory_fail_at(0);
        failed = memory_asked() - asked >= nth;
        CHECK(code == 0 || (failed && code == VITALS_EMEMORY));
        vitals_snapshot_unref(snapshot);
        vitals_snapshot_unref(stage_tick(&seconds));
        snapshot = stage_tick(&seconds);
        CHECK_UINT(row_u64(source_of(snapshot, "files"), VITALS_SOURCE_QUARANTINED), 1);
        check_details(snapshot, HANGS, VITALS_STALE, VITALS_STALE);
        check_details(snapshot, SOUND, VITALS_HAVE, VITALS_HAVE);
        vitals_snapshot_unref(snapshot);
        stage_end();
    }
    CHECK(nth > 3);
}

/* Nothing is read of one that hangs; to say so of it in each tick takes no memory. */
static void ticks_beside_one_that_hangs_allocate_nothing(void)
{
    uint64_t asked = 0;
    double seconds;
    stage_begin();
    put_process(HANGS);
    vitals_snapshot_unref(stage_tick(&seconds));
    break_process(HANGS);
    atomic_store(&stage.hang, true);
    for (int i = 0; i < 30; i++) {
        vitals_snapshot_unref(stage_tick(&seconds));
        if (i == 10)
            asked = memory_asked();
    }
    CHECK_UINT(memory_asked(), asked);
    stage_end();
}

static const check_test tests[] = {
    {"a process that hangs delays nobody for long", a_process_that_hangs_delays_nobody_for_long},
    {"a first tick without descriptors asks again", a_first_tick_without_descriptors_asks_again},
    {"who hangs from the first timed out", who_hangs_from_the_first_timed_out},
    {"not every process gets a thread", not_every_process_gets_a_thread},
    {"no memory for another lane is survived", no_memory_for_another_worker_is_survived},
    {"ticks beside one that hangs allocate nothing", ticks_beside_one_that_hangs_allocate_nothing},
    {"a walk delays no tick", a_walk_delays_no_tick},
    {"what nobody asks for has no lane", what_nobody_asks_for_has_no_worker},
    {"running out of memory is said", running_out_of_memory_is_said},
};
CHECK_TESTS(tests)
