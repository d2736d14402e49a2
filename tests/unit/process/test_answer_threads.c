/* Answers of a live handle in several threads: read by all at once while the handle answers anew,
 * and freed by the last; and handles of one process in several threads, which share the context.
 * Under ThreadSanitizer this is the test for races. */
#include "process_world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <vitals/process.h>

static vitals_process *opened(struct world *world, int64_t pid)
{
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_open(&world->context, pid, &process, &error), error);
    return process;
}

/* All that can be asked of a process. */
static vitals_request *request_of_everything(void)
{
    vitals_request *request = NULL;
    vitals_error error;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    for (vitals_metric metric = (vitals_metric)0; (metric = vitals_metric_next(metric)) != 0;) {
        vitals_table entity = vitals_metric_table(metric);
        if (entity == VITALS_TABLE_PROCESS || entity == VITALS_TABLE_SOCKET ||
            vitals_table_parent(entity) == VITALS_TABLE_PROCESS)
            CHECK_OK(vitals_request_add(request, metric, &error), error);
    }
    return request;
}

/* ---- reading ---- */

/* FNV-1a. */
static void mix(uint64_t *sum, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        *sum = (*sum ^ at[i]) * UINT64_C(1099511628211);
}

static int mix_json(void *data, const char *bytes, size_t size)
{
    mix(data, bytes, size);
    return 0;
}

static void mix_value(uint64_t *sum, const vitals_row *row, vitals_metric metric)
{
    vitals_text text;
    double number = 0;
    signed char state = (signed char)vitals_row_availability(row, metric);
    uint64_t read_ns = vitals_row_read_ns(row, metric);
    if (vitals_row_text(row, metric, &text) > 0)
        mix(sum, text.bytes, text.size);
    else if (vitals_row_number(row, metric, &number) > 0)
        mix(sum, &number, sizeof number);
    mix(sum, &state, 1);
    mix(sum, &read_ns, sizeof read_ns);
}

/* Everything that an answer says, in every way of saying it. */
static uint64_t sum_of(const vitals_snapshot *answer)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (vitals_metric metric = (vitals_metric)0; (metric = vitals_metric_next(metric)) != 0;) {
        vitals_table entity = vitals_metric_table(metric);
        const vitals_row *row = NULL;
        while ((row = vitals_snapshot_next(answer, entity, row)) != NULL)
            mix_value(&sum, row, metric);
    }
    if (vitals_snapshot_json(answer, mix_json, &sum, NULL) < 0)
        return 0;
    return sum;
}

/* ---- one answer, many readers ---- */

enum { READERS = 6, ROUNDS = 15 };

struct reader {
    pthread_t thread;
    vitals_snapshot *answer; /* its own reference */
    uint64_t sum;
    atomic_int *unequal;
};

static void *read_again_and_again(void *data)
{
    struct reader *reader = data;
    for (int i = 0; i < ROUNDS; i++) {
        vitals_snapshot *shared = vitals_snapshot_ref(reader->answer);
        if (sum_of(shared) != reader->sum)
            atomic_fetch_add(reader->unequal, 1);
        vitals_snapshot_unref(shared);
    }
    vitals_snapshot_unref(reader->answer);
    return NULL;
}

static void one_answer_is_read_by_many(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    vitals_request *request = request_of_everything();
    vitals_snapshot *answer = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_ask(process, request, &answer, &error), error);
    CHECK(vitals_snapshot_count(answer, VITALS_TABLE_PROCESS) == 1);
    CHECK(vitals_snapshot_count(answer, VITALS_TABLE_DESCRIPTOR) > 0);
    CHECK(vitals_snapshot_count(answer, VITALS_TABLE_ENVIRONMENT) > 0);

    atomic_int unequal = 0;
    struct reader readers[READERS];
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){
            .answer = vitals_snapshot_ref(answer), .sum = sum_of(answer), .unequal = &unequal};
        CHECK_INT(pthread_create(&readers[i].thread, NULL, read_again_and_again, &readers[i]), 0);
    }
    vitals_snapshot_unref(answer);
    // Meanwhile the handle goes on: names of users and states are shared with the first answer.
    int failed = 0;
    for (int i = 0; i < ROUNDS; i++) {
        vitals_snapshot *next = NULL;
        failed += vitals_process_ask(process, request, &next, NULL) != 0;
        vitals_snapshot_unref(next);
    }
    vitals_process_close(process); // answers outlive their handle
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i].thread, NULL);
    CHECK_INT(atomic_load(&unequal), 0);
    CHECK_INT(failed, 0);
    vitals_request_free(request);
    world_close(&world);
}

/* ---- one process, a handle in each thread ---- */

struct asker {
    pthread_t thread;
    struct world *world;
    const vitals_request *request;
    int64_t pid;
    pthread_barrier_t *begin;
    int failed;              /* calls that did not do what they should */
    int code, signal;        /* how it ended, */
    vitals_availability how; /* as far as that is told */
};

static void *ask_and_wait(void *data)
{
    struct asker *asker = data;
    vitals_process *process = NULL;
    if (vitals_process_open(&asker->world->context, asker->pid, &process, NULL) != 0) {
        asker->failed = 100;
        pthread_barrier_wait(asker->begin);
        return NULL;
    }
    for (int i = 0; i < ROUNDS; i++) {
        vitals_snapshot *answer = NULL;
        asker->failed += vitals_process_ask(process, asker->request, &answer, NULL) != 0;
        vitals_snapshot_unref(answer);
        asker->failed += vitals_process_signal(process, 0, NULL) != 0;
    }
    asker->failed += vitals_process_wait(process, 0, NULL) != VITALS_ETIMEOUT;
    pthread_barrier_wait(asker->begin); // all have their pidfd: the end may come
    asker->failed += vitals_process_wait(process, VITALS_FOREVER, NULL) != 0;
    asker->how = vitals_process_exit_status(process, &asker->code, &asker->signal);
    vitals_process_close(process);
    return NULL;
}

static void a_process_has_a_handle_in_each_thread(void)
{
    enum { ASKERS = 4 };
    struct world world;
    world_open(&world, NULL, 0);
    vitals_request *request = request_of_everything();
    pid_t pid = child_new();
    pthread_barrier_t begin;
    CHECK_INT(pthread_barrier_init(&begin, NULL, ASKERS + 1), 0);
    struct asker askers[ASKERS];
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (struct asker){
            .world = &world, .request = request, .pid = pid, .begin = &begin};
        CHECK_INT(pthread_create(&askers[i].thread, NULL, ask_and_wait, &askers[i]), 0);
    }
    pthread_barrier_wait(&begin);
    kill(pid, SIGKILL);
    int known = 0;
    for (int i = 0; i < ASKERS; i++)
        pthread_join(askers[i].thread, NULL);
    for (int i = 0; i < ASKERS; i++) {
        CHECK_INT(askers[i].failed, 0);
        known += askers[i].how == VITALS_HAVE;
        CHECK_INT(askers[i].signal, askers[i].how == VITALS_HAVE ? SIGKILL : 0);
    }
    CHECK(known >= 1); // one of them reaped it; the others are told where the kernel tells
    CHECK_INT(waitpid(pid, NULL, 0), -1);
    pthread_barrier_destroy(&begin);
    vitals_request_free(request);
    world_close(&world);
}

static const check_test tests[] = {
    {"one answer is read by many", one_answer_is_read_by_many},
    {"a process has a handle in each thread", a_process_has_a_handle_in_each_thread},
};
CHECK_TESTS(tests)
