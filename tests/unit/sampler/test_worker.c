/* A thread and its mailbox: which thread owns what at which time, and what happens to a thread that
 * hangs. */
#include "check.h"

#include "fake_clock.h"
#include "sampler/context.h"
#include "sampler/worker.h"
#include "util/memory.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vitals/context.h>
#include <vitals/error.h>

/* What the workers of a test share. */
struct world {
    struct worker_world base; /* the test has a reference too, so that it is never freed */
    atomic_int order;         /* how many jobs have begun */
    atomic_bool open;         /* a job that hangs goes on once this is set */
    atomic_bool signals_blocked;
};

struct job {
    bool hangs;
    unsigned items; /* how many it has: it hangs in the third */
    unsigned read;  /* answer: a bit for each that it was let into */
    int place;      /* answer: the how many-th it was */
};

static struct world world;

static void work(struct worker_world *base, void *data, const struct os_gate *gate)
{
    struct world *shared = (struct world *)base;
    struct job *job = data;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    atomic_store(&shared->signals_blocked,
                 sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGCHLD) == 1 &&
                     sigismember(&mask, SIGABRT) == 1 && sigismember(&mask, SIGSEGV) == 0);
    job->place = atomic_fetch_add(&shared->order, 1) + 1;
    for (unsigned item = 1; item <= job->items; item++) {
        if (!gate->enter(gate->data, item))
            continue;
        job->read |= 1u << item;
        while (item == 3 && !atomic_load(&shared->open))
            real_sleep_ns(NS_PER_MS);
        gate->leave(gate->data, item);
    }
    while (job->hangs && !atomic_load(&shared->open))
        real_sleep_ns(NS_PER_MS);
}

static const struct worker_service SERVICE = {
    .name = "test", .work = work, .data_free = memory_free};

static vitals_context *context;
static struct worker_event *event;
static struct worker *worker;
static int64_t live_before;

static void begin_with(const vitals_clock *clock)
{
    vitals_options options;
    vitals_error error;
    vitals_options_init(&options, sizeof options);
    options.clock = clock;
    live_before = memory_live();
    atomic_init(&world.base.refs, 1);
    atomic_init(&world.order, 0);
    atomic_init(&world.open, false);
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    event = worker_event_new(context);
    CHECK_NOT_NULL(event);
    worker = worker_new(event, &SERVICE, &world.base);
    CHECK_NOT_NULL(worker);
}

static void begin(void)
{
    begin_with(NULL);
}

static uint64_t in_ms(uint64_t milliseconds)
{
    return real_now_ns() + milliseconds * NS_PER_MS;
}

/* Everything is given back, at the latest when the last thread has ended. */
static void check_nothing_left(void)
{
    uint64_t until = in_ms(10000);
    while ((memory_live() != live_before || atomic_load(&world.base.refs) != 1) &&
           real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    CHECK_INT(memory_live(), live_before);
    CHECK_INT(atomic_load(&world.base.refs), 1);
}

static void end(void)
{
    worker_end(worker, in_ms(10000));
    worker_event_unref(event);
    vitals_context_free(context);
    check_nothing_left();
}

static int add_job(bool hangs)
{
    struct job *job = memory_alloc(sizeof(*job));
    CHECK_NOT_NULL(job);
    job->hangs = hangs;
    int number = worker_add(worker, job);
    CHECK(number >= 0);
    return number;
}

static void wait_for(int job, enum worker_job_state state)
{
    uint64_t until = in_ms(10000);
    while (worker_state(worker, job) != state && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS / 10);
    CHECK_INT(worker_state(worker, job), state);
}

static int place_of(int job)
{
    return ((struct job *)worker_data(worker, job))->place;
}

/* Each wake of the owner's thread costs a switch of threads. */
static void all_that_was_asked_is_announced_once(void)
{
    begin();
    int first = add_job(false), second = add_job(true);
    worker_ask(worker, first);
    worker_ask(worker, second);
    wait_for(first, WORKER_DONE);
    CHECK_FALSE(worker_event_wait(event, in_ms(50)));
    atomic_store(&world.open, true);
    CHECK(worker_event_wait(event, in_ms(10000)));
    CHECK(worker_collect(worker, first));
    CHECK(worker_collect(worker, second));
    CHECK_FALSE(worker_event_wait(event, in_ms(50)));
    end();
}

static void a_question_is_answered_once(void)
{
    begin();
    int job = add_job(false);
    CHECK_INT(worker_state(worker, job), WORKER_IDLE);
    CHECK_FALSE(worker_collect(worker, job));
    worker_ask(worker, job);
    CHECK(worker_event_wait(event, in_ms(10000)));
    CHECK(worker_collect(worker, job));
    CHECK_INT(place_of(job), 1);
    CHECK_INT(worker_state(worker, job), WORKER_IDLE);
    CHECK_FALSE(worker_collect(worker, job));
    CHECK(atomic_load(&world.signals_blocked));
    end();
}

static void jobs_run_in_the_order_of_asking(void)
{
    enum { JOBS = 40 };
    begin();
    int first = add_job(true), jobs[JOBS];
    for (int i = 0; i < JOBS; i++)
        jobs[i] = add_job(false);
    worker_ask(worker, first); /* so that all others are asked while the worker is busy */
    wait_for(first, WORKER_RUNNING);
    for (int i = 0; i < JOBS; i++)
        worker_ask(worker, jobs[(i * 7) % JOBS]); /* 7 and 40 share no factor: each once */
    atomic_store(&world.open, true);
    for (int i = 0; i < JOBS; i++) {
        int job = jobs[(i * 7) % JOBS];
        wait_for(job, WORKER_DONE);
        CHECK_INT(place_of(job), i + 2);
    }
    end();
}

static void the_hub_waits_until_the_deadline_and_no_longer(void)
{
    begin();
    CHECK_FALSE(worker_event_wait(event, in_ms(5)));
    CHECK_FALSE(worker_event_wait(event, 0));
    int job = add_job(false);
    worker_ask(worker, job);
    wait_for(job, WORKER_DONE);
    CHECK(worker_event_wait(event, in_ms(10000)));
    CHECK_FALSE(worker_event_wait(event, in_ms(5))); /* told once */
    end();
}

/* A clock that a test sets forward. */
static atomic_uint_fast64_t ahead_ns;

static uint64_t ahead(void *data)
{
    (void)data;
    return real_now_ns() + atomic_load(&ahead_ns);
}

static void a_job_without_progress_hangs(void)
{
    vitals_clock clock = *vitals_clock_system();
    clock.monotonic_ns = ahead;
    uint64_t item;
    int running;
    begin_with(&clock);
    CHECK_FALSE(worker_hangs(worker, &running, &item));
    CHECK_INT(running, -1);
    int job = add_job(true);
    worker_ask(worker, job);
    wait_for(job, WORKER_RUNNING);
    CHECK_FALSE(worker_hangs(worker, &running, &item));
    CHECK_INT(running, job);
    atomic_store(&ahead_ns, WORKER_HANG_NS);
    CHECK(worker_hangs(worker, &running, &item));
    CHECK_INT(running, job);
    CHECK_UINT(item, 0);
    CHECK_FALSE(worker_give_up(worker, 7));
    atomic_store(&world.open, true);
    wait_for(job, WORKER_DONE);
    CHECK_FALSE(worker_hangs(worker, &running, &item));
    end();
    atomic_store(&ahead_ns, 0);
}

/* A job of items 1 to 5 hangs in the third. */
static void a_job_that_is_given_up_reads_no_more_items(void)
{
    static const uint64_t AVOIDED[] = {2};
    uint64_t item = 0, until = in_ms(10000);
    int running;
    begin();
    int job = add_job(true);
    ((struct job *)worker_data(worker, job))->items = 5;
    worker_avoid(worker, AVOIDED, CHECK_COUNT(AVOIDED));
    worker_ask(worker, job);
    while (item != 3 && real_now_ns() < until)
        (void)worker_hangs(worker, &running, &item);
    CHECK_UINT(item, 3);
    CHECK_FALSE(worker_give_up(worker, 1)); /* it has left that one */
    CHECK(worker_give_up(worker, 3));
    atomic_store(&world.open, true);
    wait_for(job, WORKER_DONE);
    CHECK_UINT(((struct job *)worker_data(worker, job))->read, 1 << 1 | 1 << 3);
    end();
}

static void what_runs_cannot_be_taken_out_and_anything_else_can(void)
{
    begin();
    int hanging = add_job(true), waiting = add_job(false), idle = add_job(false);
    worker_ask(worker, hanging);
    wait_for(hanging, WORKER_RUNNING);
    worker_ask(worker, waiting);
    CHECK_NULL(worker_remove(worker, hanging));
    void *taken[] = {worker_remove(worker, waiting), worker_remove(worker, idle)};
    for (size_t i = 0; i < CHECK_COUNT(taken); i++) {
        CHECK_NOT_NULL(taken[i]);
        memory_free(taken[i]);
    }
    CHECK_INT(add_job(false), waiting); /* its place is free again */
    atomic_store(&world.open, true);
    wait_for(hanging, WORKER_DONE);
    CHECK_INT(atomic_load(&world.order), 1); /* what was taken out never ran */
    end();
}

static void a_full_worker_says_so_and_leaves_the_data(void)
{
    enum { MORE_THAN_FIT = 1000 };
    begin();
    int added = 0;
    for (; added < MORE_THAN_FIT; added++) {
        struct job *job = memory_alloc(sizeof(*job));
        if (worker_add(worker, job) < 0) {
            memory_free(job);
            break;
        }
    }
    CHECK(added >= 129 && added < MORE_THAN_FIT); /* every device of a back end and its scan */
    end();
}

static void ending_leaves_a_hanging_thread_behind(void)
{
    begin();
    int job = add_job(true), never = add_job(false);
    worker_ask(worker, job);
    wait_for(job, WORKER_RUNNING);
    worker_ask(worker, never);
    uint64_t begun = real_now_ns();
    worker_end(worker, begun + 50 * NS_PER_MS);
    CHECK(real_now_ns() - begun >= 50 * NS_PER_MS);
    worker_event_unref(event);
    vitals_context_free(context);
    CHECK(memory_live() > live_before); /* the thread holds its share … */
    CHECK_INT(atomic_load(&world.base.refs), 2);
    atomic_store(&world.open, true);
    check_nothing_left();                    /* … and gives it back by itself */
    CHECK_INT(atomic_load(&world.order), 1); /* what was asked behind it did not run any more */
}

static void ending_with_an_answer_that_nobody_took_frees_it(void)
{
    begin();
    int job = add_job(false);
    worker_ask(worker, job);
    wait_for(job, WORKER_DONE);
    end();
}

static void many_workers_are_told_to_end_at_once(void)
{
    enum { WORKERS = 8 };
    begin();
    struct worker *workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = worker_new(event, &SERVICE, &world.base);
        CHECK_NOT_NULL(workers[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        worker_tell_end(workers[i]);
    for (int i = 0; i < WORKERS; i++)
        worker_end(workers[i], in_ms(10000));
    CHECK_INT(atomic_load(&world.base.refs), 2);
    end();
}

static void workers_without_memory_or_descriptors_are_none(void)
{
    begin();
    memory_fail_at(1);
    struct worker *none = worker_new(event, &SERVICE, &world.base);
    struct worker_event *no_event = NULL;
    memory_fail_at(1);
    no_event = worker_event_new(context);
    memory_fail_at(0);
    CHECK_NULL(none);
    CHECK_NULL(no_event);
    worker_event_unref(NULL);
    end();
}

static atomic_uint waits;

static int cannot_wait(void *data, int descriptor, uint64_t deadline_ns)
{
    (void)data;
    (void)descriptor;
    (void)deadline_ns;
    atomic_fetch_add(&waits, 1);
    return -1;
}

static void with_a_clock_that_cannot_wait_the_thread_ends(void)
{
    vitals_clock clock = *vitals_clock_system();
    clock.wait_until = cannot_wait;
    vitals_options options;
    vitals_error error;
    vitals_options_init(&options, sizeof(options));
    options.clock = &clock;
    live_before = memory_live();
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    event = worker_event_new(context);
    worker = worker_new(event, &SERVICE, &world.base);
    CHECK_NOT_NULL(worker);
    uint64_t until = in_ms(10000);
    while (atomic_load(&waits) == 0 && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS / 10);
    real_sleep_ns(5 * NS_PER_MS); /* one that spins does so thousands of times meanwhile */
    end();
    CHECK_UINT(atomic_load(&waits), 2); /* the thread's, and worker_end's */
}

static const check_test tests[] = {
    {"a question is answered once", a_question_is_answered_once},
    {"all that was asked is announced once", all_that_was_asked_is_announced_once},
    {"jobs run in the order of asking", jobs_run_in_the_order_of_asking},
    {"the hub waits until the deadline and no longer",
     the_hub_waits_until_the_deadline_and_no_longer},
    {"a job without progress hangs", a_job_without_progress_hangs},
    {"a job that is given up reads no more items", a_job_that_is_given_up_reads_no_more_items},
    {"what runs cannot be taken out and anything else can",
     what_runs_cannot_be_taken_out_and_anything_else_can},
    {"a full worker says so and leaves the data", a_full_worker_says_so_and_leaves_the_data},
    {"ending leaves a hanging thread behind", ending_leaves_a_hanging_thread_behind},
    {"ending with an answer that nobody took frees it",
     ending_with_an_answer_that_nobody_took_frees_it},
    {"many workers are told to end at once", many_workers_are_told_to_end_at_once},
    {"with a clock that cannot wait the thread ends",
     with_a_clock_that_cannot_wait_the_thread_ends},
    {"workers without memory or descriptors are none",
     workers_without_memory_or_descriptors_are_none},
};
CHECK_TESTS(tests)
