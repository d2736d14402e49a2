/* One value of one process in one call. */
#include "process_world.h"

#include <sys/wait.h>
#include <unistd.h>
#include <vitals/vitals.h>

static vitals_context *context_new(void)
{
    vitals_context *context = NULL;
    vitals_error error;
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    return context;
}

static void we_know_our_own_values(void)
{
    vitals_context *context = context_new();
    vitals_error error;
    uint64_t threads = 0;
    int64_t nice_value = 77;
    double seconds = -1;
    char words[64];
    CHECK_OK(vitals_process_u64(context, getpid(), VITALS_PROCESS_THREADS, &threads, &error),
             error);
    CHECK(threads >= 1);
    CHECK_OK(vitals_process_i64(context, getpid(), VITALS_PROCESS_NICE, &nice_value, &error),
             error);
    CHECK(nice_value >= -20 && nice_value <= 19);
    CHECK_OK(vitals_process_f64(context, getpid(), VITALS_PROCESS_CPU_SECONDS, &seconds, &error),
             error);
    CHECK(seconds >= 0);
    CHECK_OK(
        vitals_process_string(context, getpid(), VITALS_PROCESS_NAME, words, sizeof words, &error),
        error);
    CHECK_STR(words, "unit_process");
    CHECK_OK(vitals_process_string(context, getpid(), VITALS_PROCESS_RESIDENT_BYTES, words,
                                   sizeof words, &error),
             error);
    CHECK_CONTAINS(words, "iB");
    CHECK_OK(vitals_process_string(context, getpid(), VITALS_PROCESS_COMMAND_LINE, words,
                                   sizeof words, &error),
             error);
    CHECK_CONTAINS(words, "unit");
    CHECK_OK(vitals_process_string(context, getpid(), VITALS_PROCESS_NAME, NULL, 0, &error), error);
    vitals_context_free(context);
}

static void what_there_is_not_is_an_error(void)
{
    vitals_context *context = context_new();
    vitals_error error;
    uint64_t number = 77;
    char words[8] = "before";
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    siginfo_t info;
    CHECK_INT(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);

    /* A zombie has no memory any more; then the pid is free. */
    CHECK_INT(vitals_process_string(context, child, VITALS_PROCESS_EXECUTABLE, words, sizeof words,
                                    &error),
              VITALS_EGONE);
    CHECK_CONTAINS(error.message, "executable");
    CHECK_INT(waitpid(child, NULL, 0), child);
    CHECK_INT(vitals_process_u64(context, child, VITALS_PROCESS_THREADS, &number, &error),
              VITALS_EGONE);
    CHECK_INT(vitals_process_u64(context, 0, VITALS_PROCESS_THREADS, &number, &error),
              VITALS_EARGUMENT);
    CHECK_INT(vitals_process_u64(context, getpid(), VITALS_PROCESS_NICE, &number, &error),
              VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "another type");
    CHECK_INT(vitals_process_u64(context, getpid(), VITALS_GPU_INDEX, &number, &error),
              VITALS_EARGUMENT);
    CHECK_INT(vitals_process_u64(context, getpid(), (vitals_metric)0xffff, &number, NULL),
              VITALS_EARGUMENT);
    CHECK_UINT(number, 77);
    CHECK_STR(words, "before");
    vitals_context_free(context);
}

static const check_test tests[] = {
    {"we know our own values", we_know_our_own_values},
    {"what there is not is an error", what_there_is_not_is_an_error},
};
CHECK_TESTS(tests)
