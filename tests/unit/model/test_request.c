/* What may be asked for, and what is refused with a reason. */
#include "check.h"

#include "model/request.h"
#include "util/memory.h"

#include <vitals/error.h>

static vitals_error error;

static vitals_request *request_of(unsigned sets)
{
    vitals_request *request = NULL;
    CHECK_OK(vitals_request_new(sets, &request, &error), error);
    return request;
}

static void a_set_that_is_none_is_refused(void)
{
    vitals_request *request = NULL;
    CHECK_INT(vitals_request_new(16, &request, &error), VITALS_EARGUMENT);
    CHECK_INT(error.code, VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "0x10");
    CHECK_NULL(request);
}

static void sets_ask_for_their_tables_and_no_other(void)
{
    vitals_request *request = request_of(VITALS_SET_MACHINE);
    CHECK(vitals_request_has(request, VITALS_HOST_LOAD_1M));
    CHECK(vitals_request_has(request, VITALS_CPU_INDEX));
    CHECK_FALSE(vitals_request_has(request, VITALS_PROCESS_PID));
    CHECK_FALSE(vitals_request_has(request, VITALS_GPU_NAME));
    vitals_request_free(request);
    request = request_of(0);
    CHECK_FALSE(vitals_request_has(request, VITALS_HOST_LOAD_1M));
    vitals_request_free(request);
    vitals_request_free(NULL);
}

static void metrics_come_and_go(void)
{
    vitals_request *request = request_of(0);
    CHECK_OK(vitals_request_add(request, VITALS_PROCESS_PID, &error), error);
    CHECK(vitals_request_has(request, VITALS_PROCESS_PID));
    CHECK_OK(vitals_request_remove(request, VITALS_PROCESS_PID, &error), error);
    CHECK_FALSE(vitals_request_has(request, VITALS_PROCESS_PID));
    vitals_request_free(request);
}

static void a_metric_that_is_none_is_refused(void)
{
    static const unsigned NONE[] = {0, 1, 0x0100, 0x01ff, 0x7f01, 0xffffffff};
    vitals_request *request = request_of(VITALS_SET_EVERYTHING);
    for (size_t i = 0; i < CHECK_COUNT(NONE); i++) {
        vitals_metric metric = (vitals_metric)NONE[i];
        CHECK_INT(vitals_request_add(request, metric, &error), VITALS_EARGUMENT);
        CHECK_INT(vitals_request_remove(request, metric, &error), VITALS_EARGUMENT);
        CHECK_INT(vitals_request_set_every(request, metric, 1, &error), VITALS_EARGUMENT);
        CHECK_FALSE(vitals_request_has(request, metric));
    }
    CHECK_INT(vitals_request_add(request, (vitals_metric)0, NULL), VITALS_EARGUMENT);
    vitals_request_free(request);
}

static void an_interval_is_of_ten_milliseconds_to_a_day(void)
{
    static const struct {
        const char *name;
        uint64_t ns;
        int code;
    } ROWS[] = {
        {"zero", 0, VITALS_EARGUMENT},
        {"below ten milliseconds", 10 * NS_PER_MS - 1, VITALS_EARGUMENT},
        {"ten milliseconds", 10 * NS_PER_MS, 0},
        {"a day", 86400 * NS_PER_SECOND, 0},
        {"above a day", 86400 * NS_PER_SECOND + 1, VITALS_EARGUMENT},
        {"the largest", UINT64_MAX, VITALS_EARGUMENT},
    };
    vitals_request *request = request_of(VITALS_SET_MACHINE);
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].name);
        uint64_t before = request->interval_ns;
        CHECK_INT(vitals_request_set_interval(request, ROWS[i].ns, &error), ROWS[i].code);
        CHECK_UINT(request->interval_ns, ROWS[i].code == 0 ? ROWS[i].ns : before);
    }
    vitals_request_free(request);
}

static void rows_that_cannot_be_are_refused_and_the_last_choice_holds(void)
{
    static const int64_t GOOD[] = {7, 9}, BAD[] = {7, 0}, NEGATIVE[] = {-4};
    vitals_request *request = request_of(VITALS_SET_PROCESSES);
    CHECK_OK(vitals_request_set_rows(request, VITALS_ROWS_TREE, GOOD, 2, &error), error);
    CHECK_INT(vitals_request_set_rows(request, VITALS_ROWS_TREE, NULL, 0, &error),
              VITALS_EARGUMENT);
    CHECK_INT(vitals_request_set_rows(request, VITALS_ROWS_LISTED, NULL, 2, &error),
              VITALS_EARGUMENT);
    CHECK_INT(vitals_request_set_rows(request, VITALS_ROWS_LISTED, BAD, 2, &error),
              VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "pid 0");
    CHECK_INT(vitals_request_set_rows(request, VITALS_ROWS_LISTED, NEGATIVE, 1, &error),
              VITALS_EARGUMENT);
    CHECK_INT(vitals_request_set_rows(request, 16, GOOD, 2, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_request_set_rows(request, 0, GOOD, 2, &error), VITALS_EARGUMENT);
    CHECK_INT(request->rows, VITALS_ROWS_TREE);
    CHECK_UINT(request->pid_count, 2);
    CHECK_INT(request->pids[1], 9);
    CHECK_OK(vitals_request_set_rows(request, VITALS_ROWS_LISTED, GOOD, 1, &error), error);
    CHECK_UINT(request->pid_count, 1);
    vitals_request_free(request);
}

static void pids_do_not_matter_where_all_rows_are_wanted(void)
{
    vitals_request *request = request_of(VITALS_SET_PROCESSES);
    CHECK_OK(vitals_request_set_rows(request, VITALS_ROWS_ALL, NULL, 3, &error), error);
    CHECK_OK(vitals_request_set_rows(request, VITALS_ROWS_GPU_USERS, NULL, 3, &error), error);
    CHECK_UINT(request->pid_count, 0);
    vitals_request_free(request);
}

static void a_copy_stands_alone(void)
{
    int64_t pids[] = {3, 4};
    vitals_request *request = request_of(VITALS_SET_EVERYTHING);
    CHECK_OK(vitals_request_set_rows(request, VITALS_ROWS_LISTED, pids, 2, &error), error);
    CHECK_OK(vitals_request_set_every(request, VITALS_HOST_LOAD_1M, 77, &error), error);
    vitals_request *copy = request_copy(request);
    CHECK_NOT_NULL(copy);
    vitals_request_free(request);
    CHECK_UINT(copy->pid_count, 2);
    CHECK_INT(copy->pids[0], 3);
    CHECK_INT(copy->rows, VITALS_ROWS_LISTED);
    CHECK_UINT(copy->every_ns[VITALS_TABLE_HOST][metric_number(VITALS_HOST_LOAD_1M)], 77);
    vitals_request_free(copy);
}

static void a_copy_without_memory_is_none_and_leaks_nothing(void)
{
    int64_t pid = 3;
    vitals_request *request = request_of(VITALS_SET_PROCESSES);
    CHECK_OK(vitals_request_set_rows(request, VITALS_ROWS_TREE, &pid, 1, &error), error);
    int64_t before = memory_live();
    for (uint64_t n = 1; n <= 2; n++) {
        memory_fail_at(n);
        vitals_request *copy = request_copy(request);
        memory_fail_at(0);
        CHECK_NULL(copy);
        CHECK_INT(memory_live(), before);
    }
    vitals_request_free(request);
}

static void a_table_is_asked_for_without_what_must_be_named(void)
{
    vitals_request *request = NULL;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_request_add_table(request, VITALS_TABLE_SOCKET, &error), error);
    CHECK(vitals_request_has(request, VITALS_SOCKET_INODE));
    CHECK(vitals_request_has(request, VITALS_SOCKET_PID));
    CHECK_FALSE(vitals_request_has(request, VITALS_PROCESS_PID));
    CHECK_OK(vitals_request_add_table(request, VITALS_TABLE_PROCESS, &error), error);
    CHECK(vitals_request_has(request, VITALS_PROCESS_PID));
    CHECK_FALSE(vitals_request_has(request, VITALS_PROCESS_PSS_BYTES));
    CHECK_INT(vitals_request_add_table(request, ENTITY_MAX + 1, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_request_add_table(request, 0, NULL), VITALS_EARGUMENT);
    vitals_request_free(request);
}

static void all_of_a_table_is_asked_for(void)
{
    vitals_request *request = request_of(0);
    CHECK_OK(vitals_request_add_all(request, VITALS_TABLE_PROCESS, &error), error);
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        CHECK_CASE(vitals_metric_name(metric));
        CHECK_INT(vitals_request_has(request, metric),
                  vitals_metric_table(metric) == VITALS_TABLE_PROCESS);
    }
    CHECK_INT(vitals_request_add_all(request, 0, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_request_add_all(request, 0x7f, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "127");
    vitals_request_free(request);
}

static const check_test tests[] = {
    {"a set that is none is refused", a_set_that_is_none_is_refused},
    {"sets ask for their tables and no other", sets_ask_for_their_tables_and_no_other},
    {"metrics come and go", metrics_come_and_go},
    {"a metric that is none is refused", a_metric_that_is_none_is_refused},
    {"an interval is of ten milliseconds to a day", an_interval_is_of_ten_milliseconds_to_a_day},
    {"rows that cannot be are refused and the last choice holds",
     rows_that_cannot_be_are_refused_and_the_last_choice_holds},
    {"pids do not matter where all rows are wanted", pids_do_not_matter_where_all_rows_are_wanted},
    {"a table is asked for without what must be named",
     a_table_is_asked_for_without_what_must_be_named},
    {"all of a table is asked for", all_of_a_table_is_asked_for},
    {"a copy stands alone", a_copy_stands_alone},
    {"a copy without memory is none and leaks nothing",
     a_copy_without_memory_is_none_and_leaks_nothing},
};
CHECK_TESTS(tests)
