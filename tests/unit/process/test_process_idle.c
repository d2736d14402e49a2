/* Every process, with states read seldom: one that has not run keeps its values, and any activity
 * is still seen in the next reading. Live: a child of ours. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vitals/vitals.h>

static vitals_context *context;
static vitals_sampler *sampler;
static pid_t child;
static int orders[2], answers[2];

/* Does what it is told: 'm' takes 32 MiB, 'e' ends. */
static void obey(void)
{
    char order;
    enum { BYTES = 32 << 20 };
    while (read(orders[0], &order, 1) == 1) {
        if (order == 'e')
            _exit(0);
        char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                            0);
        if (memory != MAP_FAILED)
            memset(memory, 1, BYTES);
        ssize_t ignored = write(answers[1], &order, 1);
        (void)ignored;
    }
    _exit(0);
}

static void begin(void)
{
    static const vitals_metric METRICS[] = {VITALS_PROCESS_PID, VITALS_PROCESS_STATE,
                                            VITALS_PROCESS_CPU_SECONDS,
                                            VITALS_PROCESS_RESIDENT_BYTES};
    vitals_request *request = NULL;
    vitals_error error;
    CHECK_INT(pipe(orders), 0);
    CHECK_INT(pipe(answers), 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)close(orders[1]);
        obey();
    }
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    for (size_t i = 0; i < CHECK_COUNT(METRICS); i++)
        CHECK_OK(vitals_request_add(request, METRICS[i], &error), error);
    CHECK_OK(vitals_request_set_every(request, VITALS_PROCESS_STATE, UINT64_C(3600) * 1000000000u,
                                      &error),
             error);
    CHECK_OK(vitals_request_set_interval(request, 10000000, &error), error);
    CHECK_OK(vitals_request_set_rows(request, VITALS_ROWS_ALL, NULL, 0, &error), error);
    CHECK_OK(vitals_sampler_new(context, request, &sampler, &error), error);
    vitals_request_free(request);
}

static void end(void)
{
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    for (int i = 0; i < 2; i++) {
        (void)close(orders[i]);
        (void)close(answers[i]);
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
}

static vitals_snapshot *take(void)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    return snapshot;
}

/* Of the child; false: it has no row. */
static bool look(double *resident, double *seconds, char state[static 32])
{
    vitals_snapshot *snapshot = take();
    bool found = false;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL;) {
        uint64_t pid = 0;
        vitals_text text = {"", 0};
        if (vitals_row_u64(row, VITALS_PROCESS_PID, &pid) <= 0 || pid != (uint64_t)child)
            continue;
        found = vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES, resident) > 0 &&
                vitals_row_number(row, VITALS_PROCESS_CPU_SECONDS, seconds) > 0 &&
                vitals_row_text(row, VITALS_PROCESS_STATE, &text) > 0;
        (void)vitals_text_format(text, VITALS_TEXT_ASCII, state, 32);
    }
    vitals_snapshot_unref(snapshot);
    return found;
}

static void what_it_does_is_seen_at_once(void)
{
    double before = 0, after = 0, seconds = 0, more = 0;
    char state[32], byte = 'm';
    begin();
    for (int i = 0; i < 5; i++)
        CHECK(look(&before, &seconds, state));
    CHECK_STR(state, "sleeping");
    CHECK_INT(write(orders[1], &byte, 1), 1);
    CHECK_INT(read(answers[0], &byte, 1), 1);
    CHECK(look(&after, &more, state));
    CHECK(after >= before + (30 << 20));
    CHECK(more > seconds);
    end();
}

static void its_state_too(void)
{
    double resident = 0, seconds = 0;
    char state[32];
    int status;
    begin();
    for (int i = 0; i < 5; i++)
        CHECK(look(&resident, &seconds, state));
    CHECK_INT(kill(child, SIGSTOP), 0);
    CHECK_INT(waitpid(child, &status, WUNTRACED), child);
    CHECK(look(&resident, &seconds, state));
    CHECK_STR(state, "stopped");
    CHECK_INT(kill(child, SIGCONT), 0);
    CHECK_INT(waitpid(child, &status, WCONTINUED), child);
    end();
}

static void its_end_too(void)
{
    double resident = 0, seconds = 0;
    char state[32], byte = 'e';
    siginfo_t info;
    begin();
    for (int i = 0; i < 5; i++)
        CHECK(look(&resident, &seconds, state));
    CHECK_INT(write(orders[1], &byte, 1), 1);
    CHECK_INT(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    (void)look(&resident, &seconds, state); /* a zombie has no memory to tell of */
    CHECK_STR(state, "zombie");
    CHECK_INT(waitpid(child, NULL, 0), child);
    CHECK_FALSE(look(&resident, &seconds, state));
    end();
}

static const check_test tests[] = {
    {"what it does is seen at once", what_it_does_is_seen_at_once},
    {"its state too", its_state_too},
    {"its end too", its_end_too},
};
CHECK_TESTS(tests)
