/* One value of one process in one call; values that a handle reads directly. */
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

/* In stat, which a zombie has too. */
static const vitals_metric IN_STAT[] = {VITALS_PROCESS_NAME,
                                        VITALS_PROCESS_STATE,
                                        VITALS_PROCESS_TERMINAL,
                                        VITALS_PROCESS_PARENT_PID,
                                        VITALS_PROCESS_THREADS,
                                        VITALS_PROCESS_MINOR_FAULTS,
                                        VITALS_PROCESS_NICE,
                                        VITALS_PROCESS_CPU,
                                        VITALS_PROCESS_SESSION,
                                        VITALS_PROCESS_KERNEL_FLAGS,
                                        VITALS_PROCESS_PRIORITY,
                                        VITALS_PROCESS_CPU_USER_SECONDS,
                                        VITALS_PROCESS_CHILDREN_SYSTEM_SECONDS};

static const vitals_metric DIRECT[] = {VITALS_PROCESS_PID,
                                       VITALS_PROCESS_START_SECONDS,
                                       VITALS_PROCESS_CPU_SECONDS,
                                       VITALS_PROCESS_RESIDENT_BYTES,
                                       VITALS_PROCESS_VIRTUAL_BYTES,
                                       VITALS_PROCESS_SHARED_BYTES,
                                       VITALS_PROCESS_TEXT_BYTES,
                                       VITALS_PROCESS_DATA_BYTES,
                                       VITALS_PROCESS_UID,
                                       VITALS_PROCESS_GID,
                                       VITALS_PROCESS_SAVED_UID,
                                       VITALS_PROCESS_READ_BYTES,
                                       VITALS_PROCESS_WRITTEN_BYTES,
                                       VITALS_PROCESS_READ_CALLS,
                                       VITALS_PROCESS_CALL_READ_BYTES,
                                       VITALS_PROCESS_OOM_SCORE_ADJUST,
                                       VITALS_PROCESS_DESCRIPTORS,
                                       VITALS_PROCESS_EXECUTABLE,
                                       VITALS_PROCESS_WORKING_DIRECTORY,
                                       VITALS_PROCESS_COMMAND_LINE,
                                       VITALS_PROCESS_IO_CLASS,
                                       VITALS_PROCESS_IO_LEVEL,
                                       VITALS_PROCESS_CPUS_ALLOWED_LIST};

static void check_value(vitals_metric metric, const vitals_value *value, const vitals_row *row)
{
    CHECK_INT(value->availability, vitals_row_availability(row, metric));
    if (value->availability <= 0)
        return;
    uint64_t number;
    int64_t integer;
    double real;
    vitals_text text;
    switch (vitals_metric_type(metric)) {
    case VITALS_F64:
        CHECK_INT(vitals_row_f64(row, metric, &real), value->availability);
        CHECK(value->f64 == real);
        break;
    case VITALS_U64:
        CHECK_INT(vitals_row_u64(row, metric, &number), value->availability);
        CHECK_UINT(value->u64, number);
        break;
    case VITALS_I64:
        CHECK_INT(vitals_row_i64(row, metric, &integer), value->availability);
        CHECK_INT(value->i64, integer);
        break;
    default:
        CHECK_INT(vitals_row_text(row, metric, &text), value->availability);
        CHECK(value->text.size == text.size &&
              memcmp(value->text.bytes, text.bytes, text.size) == 0);
    }
}

/* A value that is read directly is that of an answer. */
static void what_is_read_directly_is_the_same(void)
{
    enum { ALL = CHECK_COUNT(DIRECT) + CHECK_COUNT(IN_STAT) };
    vitals_context *context = context_new();
    vitals_process *process = NULL;
    vitals_request *request = NULL;
    vitals_snapshot *answer = NULL;
    vitals_metric all[ALL];
    vitals_value values[ALL];
    char text[8192];
    vitals_error error;
    pid_t child = child_new();
    CHECK_INT(kill(child, SIGSTOP), 0); // so that nothing of it changes
    CHECK_INT(waitpid(child, NULL, WUNTRACED), child);
    CHECK_OK(vitals_process_open(context, child, &process, &error), error);
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    memcpy(all, DIRECT, sizeof DIRECT);
    memcpy(all + CHECK_COUNT(DIRECT), IN_STAT, sizeof IN_STAT);
    for (size_t i = 0; i < ALL; i++)
        CHECK_OK(vitals_request_add(request, all[i], &error), error);
    CHECK_OK(vitals_process_ask(process, request, &answer, &error), error);
    const vitals_row *row = vitals_snapshot_row(answer, VITALS_TABLE_PROCESS, 0);
    for (int twice = 0; twice < 2; twice++) {
        CHECK_INT(vitals_process_read(process, all, ALL, values, text, sizeof text), 1);
        for (size_t i = 0; i < ALL; i++)
            check_value(all[i], &values[i], row);
    }
    for (size_t i = 0; i < ALL; i++) {
        CHECK_INT(vitals_process_read(process, &all[i], 1, values, text, sizeof text), 1);
        check_value(all[i], values, row);
    }

    /* Made of others, of another table or none; and of one that has ended only what stat has. */
    static const vitals_metric NOT[] = {VITALS_PROCESS_PROGRAM_NAME, VITALS_PROCESS_USER,
                                        VITALS_HOST_MEMORY_TOTAL_BYTES, (vitals_metric)0xffff};
    for (size_t i = 0; i < CHECK_COUNT(NOT); i++) {
        const vitals_metric both[] = {VITALS_PROCESS_UID, NOT[i]};
        CHECK_INT(vitals_process_read(process, both, 2, values, text, sizeof text), 0);
    }
    CHECK_INT(vitals_process_read(process, DIRECT, 0, values, text, sizeof text), 0);
    const vitals_metric path = VITALS_PROCESS_EXECUTABLE, name = VITALS_PROCESS_NAME;
    CHECK_INT(vitals_process_read(process, &path, 1, values, text, 3), 0);
    CHECK_INT(vitals_process_read(process, &name, 1, values, text, 3), 0);
    siginfo_t info;
    CHECK_INT(kill(child, SIGKILL), 0);
    CHECK_INT(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    for (int reaped = 0; reaped < 2; reaped++) {
        for (size_t i = 0; i < ALL; i++)
            CHECK_INT(vitals_process_read(process, &all[i], 1, values, text, sizeof text),
                      i >= CHECK_COUNT(DIRECT) && !reaped);
        CHECK_INT(vitals_process_is_running(process), !reaped);
        if (!reaped)
            CHECK_INT(waitpid(child, NULL, 0), child);
    }
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    vitals_context_free(context);
}

/* ---- rows that are read directly ---- */

struct rows {
    const vitals_snapshot *answer;
    const vitals_metric *metrics;
    size_t count, most;
};

static int compare_row(void *data, const vitals_value *values, size_t count)
{
    struct rows *rows = data;
    const vitals_row *row = vitals_snapshot_row(rows->answer, vitals_metric_table(rows->metrics[0]),
                                                rows->count++);
    for (size_t i = 0; i < count && row != NULL; i++)
        check_value(rows->metrics[i], &values[i], row);
    CHECK(row != NULL);
    return rows->count == rows->most;
}

static void check_tables(vitals_process *process)
{
    static const vitals_metric TABLES[][3] = {
        {VITALS_THREAD_TID, VITALS_THREAD_NAME, VITALS_THREAD_CPU_USER_SECONDS},
        {VITALS_ENVIRONMENT_NAME, VITALS_ENVIRONMENT_VALUE, VITALS_ENVIRONMENT_NAME},
        {VITALS_LIMIT_SOFT, VITALS_LIMIT_NAME, VITALS_LIMIT_HARD_UNLIMITED},
        {VITALS_DESCRIPTOR_NUMBER, VITALS_DESCRIPTOR_PATH, VITALS_DESCRIPTOR_DELETED},
        {VITALS_MAPPING_ADDRESSES, VITALS_MAPPING_PATH, VITALS_MAPPING_SIZE_BYTES},
    };
    for (size_t i = 0; i < CHECK_COUNT(TABLES); i++) {
        vitals_request *request = NULL;
        vitals_snapshot *answer = NULL;
        vitals_error error;
        CHECK_OK(vitals_request_new(0, &request, &error), error);
        for (size_t k = 0; k < 3; k++)
            CHECK_OK(vitals_request_add(request, TABLES[i][k], &error), error);
        CHECK_OK(vitals_process_ask(process, request, &answer, &error), error);
        struct rows rows = {.answer = answer, .metrics = TABLES[i]};
        CHECK_OK(vitals_process_read_table(process, TABLES[i], 3, compare_row, &rows, &error),
                 error);
        CHECK_UINT(rows.count, vitals_snapshot_count(answer, vitals_metric_table(TABLES[i][0])));
        CHECK(rows.count > 0);
        struct rows first = {.answer = answer, .metrics = TABLES[i], .most = 1};
        CHECK_OK(vitals_process_read_table(process, TABLES[i], 3, compare_row, &first, &error),
                 error);
        CHECK_UINT(first.count, 1);
        vitals_snapshot_unref(answer);
        vitals_request_free(request);
    }
}

static void rows_that_are_read_directly_are_those_of_an_answer(void)
{
    static const vitals_metric NOT[][2] = {{VITALS_PROCESS_NAME, VITALS_PROCESS_NAME},
                                           {VITALS_THREAD_TID, VITALS_LIMIT_SOFT},
                                           {VITALS_MOUNT_TYPE, VITALS_MOUNT_TYPE},
                                           {(vitals_metric)0xffff, VITALS_THREAD_TID}};
    const vitals_metric variable = VITALS_ENVIRONMENT_NAME, tid = VITALS_THREAD_TID;
    vitals_context *context = context_new();
    vitals_process *process = NULL;
    vitals_error error;
    siginfo_t info;
    pid_t child = child_new();
    CHECK_INT(kill(child, SIGSTOP), 0);
    CHECK_INT(waitpid(child, NULL, WUNTRACED), child);
    CHECK_OK(vitals_process_open(context, child, &process, &error), error);
    check_tables(process);
    struct rows rows = {.metrics = &variable};
    for (size_t i = 0; i < CHECK_COUNT(NOT); i++)
        CHECK_INT(vitals_process_read_table(process, NOT[i], 2, compare_row, &rows, &error),
                  VITALS_EARGUMENT);
    CHECK_INT(vitals_process_read_table(process, &tid, 0, compare_row, &rows, NULL),
              VITALS_EARGUMENT);
    CHECK_INT(kill(child, SIGKILL), 0);
    CHECK_INT(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    CHECK_INT(vitals_process_read_table(process, &variable, 1, compare_row, &rows, &error),
              VITALS_EGONE);
    CHECK_INT(waitpid(child, NULL, 0), child);
    CHECK_INT(vitals_process_read_table(process, &tid, 1, compare_row, &rows, &error),
              VITALS_EGONE);
    CHECK_UINT(rows.count, 0);
    vitals_process_close(process);
    vitals_context_free(context);
}

static const check_test tests[] = {
    {"we know our own values", we_know_our_own_values},
    {"what there is not is an error", what_there_is_not_is_an_error},
    {"what is read directly is the same", what_is_read_directly_is_the_same},
    {"rows that are read directly are those of an answer",
     rows_that_are_read_directly_are_those_of_an_answer},
};
CHECK_TESTS(tests)
