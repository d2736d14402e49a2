/* Ten thousand calls of everything, on a living and on a dead process and of the machine: no block
 * of memory and no descriptor stays behind. AddressSanitizer names each leak, so that a tenth will
 * do.
 *
 * What gives thousands of rows or walks a process's memory is called less often, and says how
 * often. A round before the count lets caches and pools find their size. */
#include "check.h"

#include "util/memory.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vitals/process.h>
#include <vitals/sampler.h>
#include <vitals/vitals.h>

enum {
    CALLS = CHECK_SANITIZED ? 1000 : 10000,
    DEAR_CALLS = CALLS / 20,
    MACHINE_CALLS = CALLS / 50,
    FIRST_CALLS = 20,
};

/* ---- the process ---- */

static vitals_context *context;
static vitals_process *subject;
static int64_t subject_pid;
static bool alive;

static pid_t sleeper_new(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    CHECK(pid > 0);
    return pid;
}

static void sleeper_end(pid_t pid)
{
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

/* A worker gives its things back when its thread ends, a moment after its sampler was freed: those
 * of the first calls may have been there when it was counted. */
static void settle(int64_t live, size_t open)
{
    for (int i = 0; i < 5000 && (memory_live() > live || check_open_descriptors() > open); i++)
        usleep(1000);
    CHECK(memory_live() <= live);
    CHECK(check_open_descriptors() <= open);
}

/* What a call on the subject may say: done while it lives, else that it is gone. */
static void expect(int code, const vitals_error *error)
{
    if (alive)
        CHECK_OK(code, *error);
    else
        CHECK_INT(code, VITALS_EGONE);
}

/* ---- the calls ---- */

static void ask(const vitals_request *request)
{
    vitals_snapshot *answer = NULL;
    vitals_error error;
    expect(vitals_process_ask(subject, request, &answer, &error), &error);
    vitals_snapshot_unref(answer);
}

static void relatives(vitals_relation relation)
{
    vitals_snapshot *answer = NULL;
    vitals_error error;
    expect(vitals_process_relatives(subject, relation, NULL, &answer, &error), &error);
    vitals_snapshot_unref(answer);
}

static void call_open(void)
{
    vitals_process *other = NULL;
    vitals_error error;
    expect(vitals_process_open(context, subject_pid, &other, &error), &error);
    vitals_process_close(other);
}

static void call_is_running(void)
{
    CHECK_INT(vitals_process_is_running(subject), alive);
}

static void call_parent(void)
{
    relatives(VITALS_PARENT);
}

static void call_ancestors(void)
{
    relatives(VITALS_ANCESTORS);
}

static void call_children(void)
{
    relatives(VITALS_CHILDREN);
}

static void call_descendants(void)
{
    relatives(VITALS_DESCENDANTS);
}

static void call_signal(void)
{
    vitals_error error;
    expect(vitals_process_signal(subject, 0, &error), &error);
}

static void call_wait(void)
{
    int code = vitals_process_wait(subject, 0, NULL);
    CHECK_INT(code, alive ? VITALS_ETIMEOUT : 0);
    CHECK((vitals_process_exit_status(subject, NULL, NULL) == VITALS_NOT_YET) == alive);
}

static int count_ended(void *data, vitals_process *process)
{
    (void)process;
    ++*(int *)data;
    return 0;
}

static void call_wait_for_several(void)
{
    int ended = 0;
    size_t remaining = 9;
    vitals_error error;
    vitals_process *const all[] = {subject};
    vitals_wait how;
    vitals_wait_init(&how, sizeof how);
    how.timeout_ns = 0;
    how.ended = count_ended;
    how.data = &ended;
    CHECK_OK(vitals_process_wait_several(all, 1, &how, &remaining, &error), error);
    CHECK_UINT(remaining, alive ? 1 : 0);
    CHECK_INT(ended, alive ? 0 : 1);
}

static void call_nice(void)
{
    vitals_error error;
    expect(vitals_process_set_nice(subject, 19, &error), &error);
}

static void call_io_priority(void)
{
    vitals_error error;
    expect(vitals_process_set_io_priority(subject, VITALS_IO_IDLE, 0, &error), &error);
}

static void call_affinity(void)
{
    vitals_error error;
    expect(vitals_process_set_affinity(subject, NULL, 0, &error), &error);
}

static void call_limit(void)
{
    vitals_error error;
    expect(vitals_process_set_limit(subject, "core", 0, 0, &error), &error);
}

static void call_wrong(void)
{
    vitals_process *other = NULL;
    vitals_error error;
    CHECK_INT(vitals_process_open(context, -1, &other, &error), VITALS_EARGUMENT);
    CHECK(vitals_process_signal(subject, 9999, &error) < 0);
    CHECK(vitals_process_set_nice(subject, 99, &error) < 0);
    CHECK(vitals_process_set_limit(subject, "no such limit", 1, 1, &error) < 0);
    CHECK_NULL(other);
}

/* ---- counting ---- */

static void many(const char *name, void (*function)(void), int calls)
{
    CHECK_CASE(name);
    for (int i = 0; i < FIRST_CALLS; i++)
        function();
    size_t open = check_open_descriptors();
    int64_t live = memory_live();
    for (int i = 0; i < calls; i++)
        function();
    settle(live, open);
}

static const struct {
    const char *name;
    void (*function)(void);
    int calls;
} calls[] = {
    {"open", call_open, CALLS},
    {"is_running", call_is_running, CALLS},
    {"parent", call_parent, CALLS},
    {"ancestors", call_ancestors, CALLS},
    {"children", call_children, DEAR_CALLS},       /* each reads all of /proc */
    {"descendants", call_descendants, DEAR_CALLS}, /* likewise */
    {"signal", call_signal, CALLS},
    {"wait", call_wait, CALLS},
    {"wait for several", call_wait_for_several, CALLS},
    {"set_nice", call_nice, CALLS},
    {"set_io_priority", call_io_priority, CALLS},
    {"set_affinity", call_affinity, CALLS},
    {"set_limit", call_limit, CALLS},
    {"wrong arguments", call_wrong, CALLS},
};

/* Tables that are a process's own, and socket; mappings walk its memory. */
static const struct {
    vitals_table entity;
    int calls;
} asked[] = {
    {VITALS_TABLE_PROCESS, CALLS},
    {VITALS_TABLE_THREAD, CALLS},
    {VITALS_TABLE_DESCRIPTOR, CALLS},
    {VITALS_TABLE_MAPPING, DEAR_CALLS},
    {VITALS_TABLE_MAPPED_FILE, DEAR_CALLS},
    {VITALS_TABLE_ENVIRONMENT, CALLS},
    {VITALS_TABLE_LIMIT, CALLS},
    {VITALS_TABLE_SOCKET, DEAR_CALLS},
};

static vitals_request *current;

static void call_ask(void)
{
    ask(current);
}

static vitals_request *request_new(void)
{
    vitals_request *request = NULL;
    vitals_error error;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    return request;
}

/* Every column of the table process, the dear ones of smaps too. */
static void add_all_columns(vitals_request *request)
{
    vitals_error error;
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        if (vitals_metric_table(metric) == VITALS_TABLE_PROCESS)
            CHECK_OK(vitals_request_add(request, metric, &error), error);
}

static void everything(void)
{
    for (size_t i = 0; i < CHECK_COUNT(calls); i++)
        many(calls[i].name, calls[i].function, calls[i].calls);
    for (size_t i = 0; i < CHECK_COUNT(asked); i++) {
        vitals_error error;
        current = request_new();
        CHECK_OK(vitals_request_add_table(current, asked[i].entity, &error), error);
        many(vitals_table_name(asked[i].entity), call_ask, asked[i].calls);
        vitals_request_free(current);
    }
    current = request_new();
    add_all_columns(current);
    many("every column", call_ask, DEAR_CALLS);
    vitals_request_free(current);
    current = NULL;
}

/* ---- the tests ---- */

static void with_context(void (*test)(void))
{
    vitals_options options;
    vitals_error error;
    vitals_options_init(&options, sizeof options);
    options.backends = "";
    int64_t live = memory_live();
    size_t open = check_open_descriptors();
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    test();
    vitals_context_free(context);
    settle(live, open);
}

static void on_a_living_process(void)
{
    vitals_error error;
    pid_t pid = sleeper_new();
    subject_pid = pid;
    alive = true;
    CHECK_OK(vitals_process_open(context, pid, &subject, &error), error);
    everything();
    CHECK_INT(vitals_process_is_running(subject), 1);
    vitals_process_close(subject);
    sleeper_end(pid);
}

static void on_a_dead_process(void)
{
    vitals_error error;
    pid_t pid = sleeper_new();
    subject_pid = pid;
    alive = true;
    CHECK_OK(vitals_process_open(context, pid, &subject, &error), error);
    current = request_new();
    add_all_columns(current);
    call_ask(); /* whatever a handle keeps open, it keeps now */
    vitals_request_free(current);
    sleeper_end(pid);
    alive = false;
    everything();
    vitals_process_close(subject);
}

static void take_once(void)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_snapshot_take_request(context, current, &snapshot, &error), error);
    vitals_snapshot_unref(snapshot);
}

/* A sampler keeps what it learned, and a steady tick of it allocates nothing: tested elsewhere.
 * Here whole lives of samplers, with every table that a machine answers. */
static void of_the_machine(void)
{
    static const vitals_table tables[] = {
        VITALS_TABLE_HOST,     VITALS_TABLE_CPU,
        VITALS_TABLE_DISK,     VITALS_TABLE_NETWORK,
        VITALS_TABLE_PRESSURE, VITALS_TABLE_FILESYSTEM,
        VITALS_TABLE_SENSOR,   VITALS_TABLE_LOGIN,
        VITALS_TABLE_SOCKET,   VITALS_TABLE_NETWORK_ADDRESS,
        VITALS_TABLE_PROCESS,
    };
    for (size_t i = 0; i < CHECK_COUNT(tables); i++) {
        vitals_error error;
        current = request_new();
        CHECK_OK(vitals_request_add_table(current, tables[i], &error), error);
        many(vitals_table_name(tables[i]), take_once, MACHINE_CALLS);
        vitals_request_free(current);
    }
    current = NULL;
}

static void a_living_process(void)
{
    with_context(on_a_living_process);
}

static void a_dead_process(void)
{
    with_context(on_a_dead_process);
}

static void the_machine(void)
{
    with_context(of_the_machine);
}

static const check_test tests[] = {
    {"ten thousand calls on a living process leave nothing behind", a_living_process},
    {"ten thousand calls on a dead process leave nothing behind", a_dead_process},
    {"two hundred readings of each table of the machine leave nothing behind", the_machine},
};
CHECK_TESTS(tests)
