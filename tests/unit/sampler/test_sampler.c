/* Ticks, the slot between a sampler's thread and all other threads, and what must not grow in a
 * day. */
#include "check.h"

#include "fake_clock.h"
#include "util/base.h"
#include "util/memory.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vitals/vitals.h>

enum { SLOWED = CHECK_SANITIZED ? 20 : 1 };

/* ---- a small machine, and samplers over it ---- */

static vitals_error error;
static vitals_context *context;
static vitals_sampler *sampler;
static struct fake_clock fake;
static int64_t live_before;
static char root[64];

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
}

static const char *const FILES[] = {"7/stat", "7/statm", "7/status", "loadavg", "meminfo", "stat"};

static void machine_new(void)
{
    char path[128];
    check_folder(root, sizeof root, "sampler");
    snprintf(path, sizeof path, "%s/7", root);
    CHECK_INT(mkdir(path, 0700), 0);
    put("7/stat", "7 (job) S 1 7 7 0 -1 4194560 9 0 0 0 11 12 0 0 20 0 1 0 500 8192 100 0\n");
    put("7/statm", "200 100 50 1 0 80 0\n");
    put("7/status", "Name:\tjob\nUid:\t0\t0\t0\t0\nVmHWM:\t   400 kB\n");
    put("loadavg", "0.50 0.25 0.10 1/100 7\n");
    put("meminfo", "MemTotal: 1000 kB\nMemFree: 400 kB\nMemAvailable: 500 kB\n");
    put("stat", "cpu 1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nctxt 5\nprocesses 9\n");
}

static void machine_free(void)
{
    char path[128];
    for (size_t i = 0; i < CHECK_COUNT(FILES); i++) {
        snprintf(path, sizeof path, "%s/%s", root, FILES[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/7", root);
    rmdir(path);
    rmdir(root);
}

static vitals_request *small_request(uint64_t interval_ns)
{
    static const vitals_metric WANTED[] = {
        VITALS_HOST_LOAD_1M,        VITALS_HOST_MEMORY_FREE_BYTES, VITALS_HOST_CPU_BUSY_SECONDS,
        VITALS_PROCESS_PID,         VITALS_PROCESS_RESIDENT_BYTES, VITALS_PROCESS_CPU_SECONDS,
        VITALS_SOURCE_MISSED_TICKS, VITALS_SOURCE_CALLS,
    };
    vitals_request *request = NULL;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    for (size_t i = 0; i < CHECK_COUNT(WANTED); i++)
        CHECK_OK(vitals_request_add(request, WANTED[i], &error), error);
    CHECK_OK(vitals_request_set_interval(request, interval_ns, &error), error);
    return request;
}

static void begin_request(vitals_request *request, const vitals_options *options)
{
    CHECK_OK(vitals_context_new(options, &context, &error), error);
    CHECK_OK(vitals_sampler_new(context, request, &sampler, &error), error);
    vitals_request_free(request);
}

/* The small machine under the fake clock. */
static void begin_small(uint64_t interval_ns)
{
    live_before = memory_live();
    machine_new();
    fake_clock_init(&fake);
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.proc_root = root;
    options.clock = &fake.clock;
    begin_request(small_request(interval_ns), &options);
}

static void check_nothing_left(void)
{
    uint64_t until = real_now_ns() + 20 * NS_PER_SECOND;
    while (memory_live() != live_before && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    CHECK_INT(memory_live(), live_before);
}

static void end(void)
{
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    check_nothing_left();
}

static void end_small(void)
{
    atomic_store(&fake.manual, false);
    atomic_store(&fake.near_ns, 4 * NS_PER_SECOND); /* so that workers end before the clock does */
    end();
    machine_free();
}

static bool readable(int descriptor)
{
    struct pollfd watched = {.fd = descriptor, .events = POLLIN};
    return poll(&watched, 1, 0) == 1;
}

static uint64_t newest(void)
{
    vitals_snapshot *snapshot = vitals_sampler_latest(sampler);
    uint64_t sequence = snapshot != NULL ? vitals_snapshot_sequence(snapshot) : 0;
    vitals_snapshot_unref(snapshot);
    return sequence;
}

static void wait_for_sequence(uint64_t sequence)
{
    uint64_t until = real_now_ns() + 50 * NS_PER_SECOND;
    while (newest() < sequence && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS / 5);
    CHECK(newest() >= sequence);
}

static void wait_readable(int descriptor)
{
    struct pollfd watched = {.fd = descriptor, .events = POLLIN};
    CHECK_INT(poll(&watched, 1, 20000), 1);
}

static uint64_t missed_ticks(const vitals_snapshot *snapshot)
{
    uint64_t missed = UINT64_MAX;
    const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_TABLE_SOURCE, NULL);
    CHECK_NOT_NULL(row);
    CHECK_STR(vitals_row_label(row), "sampler");
    CHECK_INT(vitals_row_u64(row, VITALS_SOURCE_MISSED_TICKS, &missed), VITALS_HAVE);
    return missed;
}

/* ---- taking ---- */

static void an_empty_request_is_refused(void)
{
    vitals_request *request = NULL;
    vitals_sampler *none = NULL;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    CHECK_INT(vitals_sampler_new(context, request, &none, &error), VITALS_EARGUMENT);
    CHECK_NULL(none);
    vitals_request_free(request);
    vitals_context_free(context);
    vitals_sampler_free(NULL);
}

static void a_tick_on_demand_has_the_number_of_its_turn(void)
{
    begin_small(NS_PER_SECOND);
    CHECK_NULL(vitals_sampler_latest(sampler));
    for (uint64_t turn = 1; turn <= 3; turn++) {
        vitals_snapshot *snapshot = NULL;
        CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
        CHECK_UINT(vitals_snapshot_sequence(snapshot), turn);
        CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_PROCESS), 1);
        vitals_snapshot_unref(snapshot);
    }
    vitals_sampler_stop(sampler); /* harmless */
    end_small();
}

static void steady_ticks_allocate_nothing(void)
{
    begin_small(NS_PER_SECOND);
    uint64_t asked = 0;
    for (int turn = 0; turn < 100; turn++) {
        vitals_snapshot *snapshot = NULL;
        CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
        vitals_snapshot_unref(snapshot);
        fake_clock_advance(&fake, NS_PER_SECOND);
        if (turn == 10)
            asked = memory_asked();
    }
    CHECK_UINT(memory_asked(), asked);
    end_small();
}

static void a_snapshot_outlives_sampler_and_context(void)
{
    vitals_snapshot *snapshot = NULL;
    double load;
    begin_small(NS_PER_SECOND);
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    CHECK_INT(vitals_row_f64(host, VITALS_HOST_LOAD_1M, &load), VITALS_HAVE);
    CHECK_NEAR(load, 0.5, 1e-9);
    vitals_snapshot_unref(snapshot);
    check_nothing_left();
    machine_free();
}

/* What a tick asks of slow files is asked once in it, also where rows follow from devices. */
static void users_of_devices_are_looked_up_once_a_tick(void)
{
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.backends = "demo";
    options.demo = "self";
    vitals_request *request = NULL;
    live_before = memory_live();
    CHECK_OK(vitals_request_new(VITALS_SET_EVERYTHING, &request, &error), error);
    CHECK_OK(vitals_request_set_rows(request, VITALS_ROWS_GPU_USERS, NULL, 0, &error), error);
    for (vitals_metric metric = vitals_metric_next((vitals_metric)0); metric != 0;
         metric = vitals_metric_next(metric))
        CHECK_OK(vitals_request_set_every(request, metric, 0, &error), error);
    begin_request(request, &options);
    uint64_t begun = real_now_ns();
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    CHECK(real_now_ns() - begun < 2 * NS_PER_SECOND); /* it does not spend its whole patience */
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_SOURCE, row)) != NULL;) {
        uint64_t calls = 0;
        if (strcmp(vitals_row_label(row), "files") != 0)
            continue;
        CHECK_INT(vitals_row_u64(row, VITALS_SOURCE_CALLS, &calls), VITALS_HAVE);
        if (calls < 1 || calls > 20) /* not thousands: one for the machine, and some batches */
            CHECK_FAIL("%llu calls", (unsigned long long)calls);
    }
    vitals_snapshot_unref(snapshot);
    end();
}

/* ---- the thread ---- */

/* More snapshots at once than a builder keeps for use again, so that it has all that it ever keeps.
 */
static void hold_some(void)
{
    vitals_snapshot *held[8];
    for (size_t i = 0; i < CHECK_COUNT(held); i++) {
        wait_for_sequence(i == 0 ? 1 : vitals_snapshot_sequence(held[i - 1]) + 1);
        held[i] = vitals_sampler_latest(sampler);
    }
    for (size_t i = 0; i < CHECK_COUNT(held); i++)
        vitals_snapshot_unref(held[i]);
}

static void a_day_costs_no_memory_and_no_descriptors(void)
{
    const uint64_t WARM = 1000, DAY = 86400 / SLOWED;
    begin_small(NS_PER_SECOND);
    atomic_store(&fake.near_ns, 0); /* no worker is asked here */
    uint64_t begun = fake_clock_now(&fake);
    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    hold_some();
    wait_for_sequence(WARM);
    vitals_sampler_stop(sampler);
    int64_t live = memory_live();
    size_t descriptors = check_open_descriptors();
    uint64_t asked = memory_asked();
    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    wait_for_sequence(DAY);
    vitals_sampler_stop(sampler);
    CHECK_INT(memory_live(), live);
    CHECK_UINT(check_open_descriptors(), descriptors);
    CHECK(memory_asked() - asked < 100); /* only if a snapshot was held for long */
    vitals_snapshot *last = vitals_sampler_latest(sampler);
    double by_clock = (double)(fake_clock_now(&fake) - begun) / 1e9;
    double ticks = (double)(vitals_snapshot_sequence(last) + missed_ticks(last));
    CHECK_NEAR(by_clock, ticks, 5); /* absolute deadlines: nothing drifts */
    vitals_snapshot_unref(last);
    end_small();
}

/* To the next deadline or beyond it, once the thread waits for one. */
static void advance(uint64_t by_ns)
{
    fake_clock_wait_for_waiter(&fake);
    fake_clock_advance(&fake, by_ns);
}

static void missed_ticks_are_skipped_and_counted(void)
{
    begin_small(NS_PER_SECOND);
    atomic_store(&fake.manual, true);
    uint64_t first = fake_clock_now(&fake);
    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    wait_for_sequence(1);
    advance(NS_PER_SECOND);
    wait_for_sequence(2);
    advance(5 * NS_PER_SECOND);
    wait_for_sequence(3);
    fake_clock_wait_for_waiter(&fake);
    CHECK_UINT(newest(), 3); /* one reading, not five */
    advance(NS_PER_SECOND);
    wait_for_sequence(4);
    vitals_snapshot *snapshot = vitals_sampler_latest(sampler);
    CHECK_UINT(missed_ticks(snapshot), 4);
    CHECK_UINT(vitals_snapshot_monotonic_ns(snapshot), first + 7 * NS_PER_SECOND);
    vitals_snapshot_unref(snapshot);
    end_small();
}

static void the_descriptor_is_readable_exactly_while_there_is_something_new(void)
{
    begin_small(NS_PER_SECOND);
    atomic_store(&fake.manual, true);
    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    vitals_subscription *one = NULL, *other = NULL;
    CHECK_OK(vitals_subscription_new(sampler, &one, &error), error);
    CHECK_OK(vitals_subscription_new(sampler, &other, &error), error);
    int descriptor = vitals_subscription_descriptor(one);
    for (int round = 0; round < 3; round++) {
        wait_readable(descriptor);
        wait_readable(vitals_subscription_descriptor(other)); /* both are woken, each by its own */
        CHECK(readable(descriptor));                          /* looking at it changes nothing */
        vitals_snapshot *first = vitals_subscription_latest(one);
        CHECK_NOT_NULL(first);
        CHECK_FALSE(readable(descriptor));
        CHECK(readable(vitals_subscription_descriptor(other)));
        vitals_snapshot *again = vitals_subscription_latest(one);
        CHECK(first == again);
        CHECK_FALSE(readable(descriptor));
        vitals_snapshot *same = vitals_subscription_latest(other);
        CHECK(first == same);
        vitals_snapshot_unref(first);
        vitals_snapshot_unref(again);
        vitals_snapshot_unref(same);
        advance(NS_PER_SECOND);
    }
    wait_readable(descriptor);
    advance(NS_PER_SECOND);
    fake_clock_wait_for_waiter(&fake);
    vitals_snapshot_unref(vitals_subscription_latest(one)); /* two were new: told of once */
    CHECK_FALSE(readable(descriptor));
    vitals_subscription *late = NULL;
    CHECK_OK(vitals_subscription_new(sampler, &late, &error), error);
    CHECK(readable(vitals_subscription_descriptor(late))); /* there is one that it has not seen */
    vitals_subscription_free(other);
    vitals_subscription_free(one);
    vitals_subscription_free(late);
    vitals_subscription_free(NULL);
    end_small();
}

static void a_running_sampler_cannot_be_taken_or_started_twice(void)
{
    vitals_snapshot *snapshot = NULL;
    begin_small(NS_PER_SECOND);
    atomic_store(&fake.manual, true);
    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    CHECK_INT(vitals_sampler_take(sampler, &snapshot, &error), VITALS_EARGUMENT);
    CHECK_NULL(snapshot);
    CHECK_INT(vitals_sampler_start(sampler, &error), VITALS_EARGUMENT);
    vitals_sampler_stop(sampler);
    vitals_sampler_stop(sampler);
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    uint64_t sequence = vitals_snapshot_sequence(snapshot);
    vitals_snapshot_unref(snapshot);
    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    wait_for_sequence(sequence + 1);
    end_small();
}

/* Takes the next snapshot, which must be of that time; a tick may wait 100 ms for a worker. Returns
 * the ticks that were missed before. */
static uint64_t next_at(uint64_t due_ns)
{
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_sampler_next(sampler, &snapshot, &error), error);
    CHECK(fake_clock_now(&fake) >= due_ns && fake_clock_now(&fake) < due_ns + NS_PER_SECOND / 4);
    uint64_t missed = missed_ticks(snapshot);
    vitals_snapshot_unref(snapshot);
    return missed;
}

/* Without a thread: each tick at its deadline, and what is missed is counted. */
static void a_program_waits_for_its_next_tick(void)
{
    vitals_snapshot *snapshot = NULL;
    begin_small(NS_PER_SECOND);
    CHECK_OK(vitals_sampler_next(sampler, &snapshot, &error), error); /* at once */
    vitals_snapshot_unref(snapshot);
    uint64_t begun_ns = fake_clock_now(&fake);
    for (uint64_t i = 1; i < 5; i++) {
        fake_clock_advance(&fake, NS_PER_SECOND / 3); /* what the program does meanwhile */
        CHECK_UINT(next_at(begun_ns + i * NS_PER_SECOND), 0);
    }
    fake_clock_advance(&fake, 3 * NS_PER_SECOND + NS_PER_SECOND / 3);
    uint64_t late_ns = fake_clock_now(&fake); /* by 2.33 s: two are missed */
    CHECK_UINT(next_at(late_ns), 0);
    CHECK_UINT(next_at(begun_ns + 8 * NS_PER_SECOND), 2);

    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    CHECK_INT(vitals_sampler_next(sampler, &snapshot, &error), VITALS_EARGUMENT);
    end_small();
}

/* ---- several threads ---- */

struct reader {
    pthread_t thread;
    atomic_bool *stop;
    atomic_uint seen;
    uint64_t last;
    bool backwards, broken;
};

static void *reader_main(void *argument)
{
    struct reader *reader = argument;
    while (!atomic_load(reader->stop)) {
        vitals_snapshot *snapshot = vitals_sampler_latest(sampler);
        if (snapshot == NULL)
            continue;
        double load;
        uint64_t sequence = vitals_snapshot_sequence(snapshot);
        const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
        reader->broken |= host == NULL ||
                          vitals_row_f64(host, VITALS_HOST_LOAD_1M, &load) != VITALS_HAVE;
        reader->backwards |= sequence < reader->last;
        atomic_fetch_add(&reader->seen, sequence != reader->last);
        reader->last = sequence;
        vitals_snapshot_unref(snapshot);
    }
    return NULL;
}

static void any_thread_may_ask_for_the_latest(void)
{
    enum { READERS = 4 };
    static struct reader readers[READERS];
    atomic_bool stop;
    atomic_init(&stop, false);
    begin_small(10 * NS_PER_MS);
    atomic_store(&fake.near_ns, 0);
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.stop = &stop};
        atomic_init(&readers[i].seen, 0);
        CHECK_INT(pthread_create(&readers[i].thread, NULL, reader_main, &readers[i]), 0);
    }
    CHECK_OK(vitals_sampler_start(sampler, &error), error); /* also while they ask */
    wait_for_sequence(2000 / SLOWED);
    for (int i = 0; i < READERS; i++)
        while (atomic_load(&readers[i].seen) == 0)
            sched_yield(); /* beside a load one may come late to its CPU */
    atomic_store(&stop, true);
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        CHECK_FALSE(readers[i].broken);
        CHECK_FALSE(readers[i].backwards);
    }
    end_small();
}

/* ---- forks ---- */

/* What a child is told that uses a sampler of its parent's: 0, or the number of what was wrong. */
static int use_in_a_child(vitals_subscription *subscription)
{
    vitals_snapshot *snapshot = NULL;
    vitals_subscription *another = NULL;
    int64_t live = memory_live();
    if (vitals_sampler_take(sampler, &snapshot, &error) != VITALS_EARGUMENT || snapshot != NULL)
        return 1;
    if (strstr(error.message, "created before fork") == NULL)
        return 2;
    if (vitals_sampler_start(sampler, NULL) != VITALS_EARGUMENT)
        return 3;
    if (vitals_subscription_new(sampler, &another, NULL) != VITALS_EARGUMENT || another != NULL)
        return 4;
    if (vitals_sampler_latest(sampler) != NULL || vitals_subscription_latest(subscription) != NULL)
        return 5;
    vitals_subscription_free(subscription);
    return memory_live() < live ? 0 : 6;
}

/* A context is data: a sampler of the child's own is as good as any. */
static int take_in_a_child(void)
{
    vitals_request *request = NULL;
    vitals_sampler *own = NULL;
    vitals_snapshot *snapshot = NULL;
    if (vitals_request_new(0, &request, NULL) < 0 ||
        vitals_request_add(request, VITALS_HOST_LOAD_1M, NULL) < 0 ||
        vitals_sampler_new(context, request, &own, NULL) < 0 ||
        vitals_sampler_take(own, &snapshot, NULL) < 0)
        return 7;
    int wrong = vitals_snapshot_count(snapshot, VITALS_TABLE_HOST) == 1 ? 0 : 8;
    vitals_snapshot_unref(snapshot);
    vitals_sampler_free(own);
    vitals_request_free(request);
    return wrong;
}

static void free_in_a_child(void)
{
    vitals_subscription *subscription = NULL;
    CHECK_OK(vitals_subscription_new(sampler, &subscription, &error), error);
    pid_t child = fork();
    if (child == 0) {
        int wrong = use_in_a_child(subscription);
        if (wrong == 0)
            wrong = take_in_a_child();
        if (wrong != 0)
            _exit(wrong);
        vitals_sampler_stop(sampler);
        vitals_sampler_free(sampler);
        vitals_context_free(context);
        _exit(42);
    }
    int status = 0;
    uint64_t until = real_now_ns() + 20 * NS_PER_SECOND;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    if (ended == 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        CHECK_FAIL("the child still runs");
    }
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 42);
    vitals_subscription_free(subscription);
}

static void a_child_may_free_and_its_parent_goes_on(void)
{
    begin_small(10 * NS_PER_MS);
    atomic_store(&fake.near_ns, 0);
    free_in_a_child();
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    vitals_snapshot_unref(snapshot);
    free_in_a_child();
    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    for (int i = 0; i < 50 / SLOWED; i++) {
        uint64_t sequence = newest();
        free_in_a_child();
        wait_for_sequence(sequence + 2);
    }
    end_small();
}

/* ---- no memory ---- */

/* One whole use; 0 or the first code. */
static int use_all(void)
{
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.backends = "demo";
    // A machine of a few processes, however many live on this one: each is an allocation.
    char proc[256], sys[256];
    snprintf(proc, sizeof proc, "%s", check_fixture("hostile/plain/proc"));
    snprintf(sys, sizeof sys, "%s", check_fixture("hostile/plain/sys"));
    options.proc_root = proc;
    options.sys_root = sys;
    vitals_request *request = NULL;
    int64_t self = 700;
    context = NULL, sampler = NULL;
    int code = vitals_context_new(&options, &context, &error);
    if (code == 0)
        code = vitals_request_new(VITALS_SET_EVERYTHING, &request, &error);
    if (code == 0)
        code = vitals_request_set_rows(request, VITALS_ROWS_LISTED, &self, 1, &error);
    if (code == 0)
        code = vitals_sampler_new(context, request, &sampler, &error);
    for (int turn = 0; turn < 2 && code == 0; turn++) {
        vitals_snapshot *snapshot = NULL;
        code = vitals_sampler_take(sampler, &snapshot, &error);
        CHECK((code == 0) == (snapshot != NULL));
        vitals_snapshot_unref(snapshot);
    }
    vitals_sampler_free(sampler);
    vitals_request_free(request);
    vitals_context_free(context);
    return code;
}

static void any_allocation_may_fail(void)
{
    live_before = memory_live();
    CHECK_INT(use_all(), 0);
    check_nothing_left();
    uint64_t asked = memory_asked();
    CHECK_INT(use_all(), 0);
    uint64_t all = memory_asked() - asked;
    uint64_t failed = 0;
    /* Threads share the count, so that a run may ask for a few more or less. */
    for (uint64_t n = 1; n <= all + 20; n++) {
        char name[32];
        snprintf(name, sizeof name, "allocation %llu", (unsigned long long)n);
        CHECK_CASE(name);
        memory_fail_at(n);
        int code = use_all();
        memory_fail_at(0);
        if (code != 0)
            CHECK_INT(code, VITALS_EMEMORY);
        failed += code != 0;
        check_nothing_left();
    }
    CHECK(failed > 10);
    CHECK_CASE(NULL);
    CHECK_INT(use_all(), 0);
}

/* ---- drivers that hang ---- */

static uint64_t source_number(const vitals_snapshot *snapshot, const char *name,
                              vitals_metric metric)
{
    uint64_t number = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_SOURCE, row)) != NULL;) {
        if (strcmp(vitals_row_label(row), name) == 0 &&
            vitals_row_u64(row, metric, &number) == VITALS_HAVE)
            return number;
    }
    CHECK_FAIL("no %s", name);
}

/* The second of the devices takes five seconds for each call. */
static void check_second_hangs(const vitals_options *options, const char *name)
{
    live_before = memory_live();
    vitals_request *request = NULL;
    CHECK_OK(vitals_request_new(VITALS_SET_GPUS | VITALS_SET_MACHINE | VITALS_SET_SOURCES, &request,
                                &error),
             error);
    CHECK_OK(vitals_request_set_interval(request, 200 * NS_PER_MS, &error), error);
    begin_request(request, options);
    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    vitals_subscription *subscription = NULL;
    CHECK_OK(vitals_subscription_new(sampler, &subscription, &error), error);
    uint64_t begun = real_now_ns(), quarantined = 0, timeouts = 0;
    bool had = false, stale_or_late = false;
    while (real_now_ns() < begun + 8 * NS_PER_SECOND && !had) {
        wait_readable(vitals_subscription_descriptor(subscription));
        vitals_snapshot *snapshot = vitals_subscription_latest(subscription);
        uint64_t since = real_now_ns() - begun, now = vitals_snapshot_monotonic_ns(snapshot);
        const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
        CHECK(now - vitals_row_stamp_ns(host) < NS_PER_SECOND);
        size_t index = 0;
        for (const vitals_row *gpu = NULL;
             (gpu = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, gpu)) != NULL; index++) {
            vitals_availability state = vitals_row_availability(gpu,
                                                                VITALS_GPU_TEMPERATURE_CELSIUS);
            if (index == 1) { /* what comes after five seconds is of then, and says so */
                uint64_t read_ns = vitals_row_read_ns(gpu, VITALS_GPU_TEMPERATURE_CELSIUS);
                CHECK(state != VITALS_HAVE || now - read_ns < 2 * NS_PER_SECOND);
                had |= state > 0;
                stale_or_late |= state == VITALS_STALE || state == VITALS_TIMED_OUT;
            } else if (since > 3 * NS_PER_SECOND) {
                CHECK_INT(state, VITALS_HAVE);
                CHECK(now - vitals_row_stamp_ns(gpu) < 2 * NS_PER_SECOND);
            }
        }
        CHECK(index >= 2 || since < 3 * NS_PER_SECOND);
        uint64_t q = source_number(snapshot, name, VITALS_SOURCE_QUARANTINED);
        quarantined = q > quarantined ? q : quarantined;
        timeouts = source_number(snapshot, name, VITALS_SOURCE_TIMEOUTS);
        vitals_snapshot_unref(snapshot);
    }
    vitals_subscription_free(subscription);
    CHECK(had);
    CHECK(stale_or_late);
    CHECK_UINT(quarantined, 1);
    CHECK(timeouts >= 10);
    begun = real_now_ns();
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    CHECK(real_now_ns() - begun < NS_PER_SECOND);
    check_nothing_left();
}

static void the_demo_that_hangs_hangs_alone(void)
{
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.backends = "demo";
    options.demo = "hang";
    check_second_hangs(&options, "demo");
}

static void a_simulated_driver_that_hangs_hangs_alone(void)
{
    char library[1024], scenario[1024];
    const char *build = getenv("VITALS_BUILD"), *source = getenv("VITALS_SOURCE");
    if (build == NULL || source == NULL)
        CHECK_SKIP("VITALS_BUILD and VITALS_TABLE_SOURCE say where the simulated driver is");
    snprintf(library, sizeof library, "%s/tests/nvml/r580/libnvidia-ml.so.1", build);
    snprintf(scenario, sizeof scenario, "%s/tests/nvml/scenarios/hanging.conf", source);
    if (access(library, R_OK) != 0)
        CHECK_SKIP("the simulated driver is not built");
    setenv("VITALS_NVML_SCENARIO", scenario, 1);
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.backends = "nvidia";
    options.nvml_path = library;
    check_second_hangs(&options, "nvidia");
}

static void *take_often(void *data)
{
    atomic_uint *refused = data;
    for (int i = 0; i < 300 || (atomic_load(refused) == 0 && i < 1000000); i++) {
        vitals_snapshot *snapshot = NULL;
        vitals_error mine;
        int code = vitals_sampler_take(sampler, &snapshot, &mine);
        if (code != 0 &&
            (code != VITALS_EARGUMENT || strstr(mine.message, "another thread") == NULL))
            atomic_store(refused, UINT_MAX / 2);
        atomic_fetch_add(refused, code != 0);
        vitals_snapshot_unref(snapshot);
    }
    return NULL;
}

static void a_second_thread_is_refused(void)
{
    pthread_t threads[4];
    atomic_uint refused = 0;
    begin_small(NS_PER_SECOND);
    for (size_t i = 0; i < CHECK_COUNT(threads); i++)
        CHECK_INT(pthread_create(&threads[i], NULL, take_often, &refused), 0);
    for (size_t i = 0; i < CHECK_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    CHECK(refused > 0);
    CHECK(refused < UINT_MAX / 2);
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    vitals_snapshot_unref(snapshot);
    end_small();
}

static uint64_t interface_read_ns(void)
{
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_TABLE_NETWORK, NULL);
    CHECK_NOT_NULL(row);
    uint64_t read_ns = vitals_row_read_ns(row, VITALS_NETWORK_RECEIVED_BYTES);
    vitals_snapshot_unref(snapshot);
    fake_clock_advance(&fake, NS_PER_SECOND);
    return read_ns;
}

static void interfaces_are_read_as_often_as_asked(void)
{
    static const vitals_metric ASKED[] = {VITALS_NETWORK_NAME, VITALS_NETWORK_RECEIVED_BYTES};
    live_before = memory_live();
    fake_clock_init(&fake);
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.clock = &fake.clock;
    vitals_request *request = NULL;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_request_set_interval(request, NS_PER_SECOND, &error), error);
    for (size_t i = 0; i < CHECK_COUNT(ASKED); i++) {
        CHECK_OK(vitals_request_add(request, ASKED[i], &error), error);
        CHECK_OK(vitals_request_set_every(request, ASKED[i], 2 * NS_PER_SECOND, &error), error);
    }
    begin_request(request, &options);
    uint64_t first = interface_read_ns();
    CHECK_UINT(interface_read_ns(), first);
    CHECK_UINT(interface_read_ns(), first + 2 * NS_PER_SECOND);
    end();
}

static const check_test tests[] = {
    {"interfaces are read as often as asked", interfaces_are_read_as_often_as_asked},
    {"a second thread is refused", a_second_thread_is_refused},
    {"an empty request is refused", an_empty_request_is_refused},
    {"a tick on demand has the number of its turn", a_tick_on_demand_has_the_number_of_its_turn},
    {"steady ticks allocate nothing", steady_ticks_allocate_nothing},
    {"a snapshot outlives sampler and context", a_snapshot_outlives_sampler_and_context},
    {"users of devices are looked up once a tick", users_of_devices_are_looked_up_once_a_tick},
    {"a day costs no memory and no descriptors", a_day_costs_no_memory_and_no_descriptors},
    {"missed ticks are skipped and counted", missed_ticks_are_skipped_and_counted},
    {"the descriptor is readable exactly while there is something new",
     the_descriptor_is_readable_exactly_while_there_is_something_new},
    {"a running sampler cannot be taken or started twice",
     a_running_sampler_cannot_be_taken_or_started_twice},
    {"a program waits for its next tick", a_program_waits_for_its_next_tick},
    {"any thread may ask for the latest", any_thread_may_ask_for_the_latest},
    {"a child may free and its parent goes on", a_child_may_free_and_its_parent_goes_on},
    {"any allocation may fail", any_allocation_may_fail},
    {"the demo that hangs hangs alone", the_demo_that_hangs_hangs_alone},
    {"a simulated driver that hangs hangs alone", a_simulated_driver_that_hangs_hangs_alone},
};
CHECK_TESTS(tests)
