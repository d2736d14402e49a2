/* Tables of the machine that are read in the caller's thread: as a snapshot has them. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vitals/vitals.h>

struct rows {
    const vitals_metric *metrics;
    size_t count;
    char *seen; /* the texts of each row, joined */
};

static void add(struct rows *rows, vitals_text text)
{
    size_t size = strlen(rows->seen);
    rows->seen = realloc(rows->seen, size + text.size + 2);
    CHECK(rows->seen != NULL);
    memcpy(rows->seen + size, text.bytes, text.size);
    memcpy(rows->seen + size + text.size, "|", 2);
}

static int take_row(void *data, const vitals_value *values, size_t count)
{
    struct rows *rows = data;
    for (size_t i = 0; i < count; i++)
        add(rows, values[i].availability > 0 ? values[i].text : vitals_text_of("-"));
    rows->count++;
    return 0;
}

static void a_table_is_that_of_a_snapshot(void)
{
    static const vitals_metric TABLES[][2] = {
        {VITALS_MOUNT_MOUNT_POINT, VITALS_MOUNT_TYPE},
        {VITALS_FILESYSTEM_MOUNT_POINT, VITALS_FILESYSTEM_OPTIONS},
        {VITALS_NETWORK_ADDRESS_INTERFACE, VITALS_NETWORK_ADDRESS_FAMILY},
        {VITALS_NETWORK_NAME, VITALS_NETWORK_FLAGS},
        {VITALS_DISK_NAME, VITALS_DISK_MODEL},
    };
    vitals_context *context = NULL;
    vitals_error error;
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    for (size_t i = 0; i < CHECK_COUNT(TABLES); i++) {
        vitals_request *request = NULL;
        vitals_snapshot *snapshot = NULL;
        vitals_table table = vitals_metric_table(TABLES[i][0]);
        struct rows direct = {.metrics = TABLES[i], .seen = calloc(1, 1)};
        struct rows taken = direct;
        taken.seen = calloc(1, 1);
        CHECK_OK(vitals_request_new(0, &request, &error), error);
        for (size_t k = 0; k < 2; k++)
            CHECK_OK(vitals_request_add(request, TABLES[i][k], &error), error);
        CHECK_OK(vitals_snapshot_take_request(context, request, &snapshot, &error), error);
        CHECK(vitals_table_read(context, TABLES[i], 2, take_row, &direct, &error) >= 0);
        size_t count = vitals_snapshot_count(snapshot, table);
        for (size_t row = 0; row < count; row++)
            for (size_t k = 0; k < 2; k++) {
                vitals_text text = vitals_text_of("-");
                (void)!vitals_row_text(vitals_snapshot_row(snapshot, table, row), TABLES[i][k],
                                       &text);
                add(&taken, text);
            }
        CHECK_UINT(direct.count, count);
        CHECK_UINT(strlen(direct.seen), strlen(taken.seen)); // in the order of keys there
        free(direct.seen);
        free(taken.seen);
        vitals_snapshot_unref(snapshot);
        vitals_request_free(request);
    }
    vitals_context_free(context);
}

static void what_is_no_such_table_is_refused(void)
{
    static const vitals_metric NOT[][2] = {
        {VITALS_MOUNT_TYPE, VITALS_FILESYSTEM_TYPE},
        {VITALS_PROCESS_NAME, VITALS_PROCESS_NAME},
        {VITALS_THREAD_TID, VITALS_THREAD_TID},
        {VITALS_HOST_CPU_USER_SECONDS, VITALS_HOST_CPU_USER_SECONDS},
        {VITALS_NETWORK_FLAGS, VITALS_NETWORK_RECEIVED_BYTES},
        {VITALS_HOST_DISK_SPACE_USED_BYTES, VITALS_HOST_DISK_SPACE_USED_BYTES},
        {VITALS_HOST_PACKAGE_ENERGY_JOULES, VITALS_HOST_PACKAGE_ENERGY_JOULES},
        {(vitals_metric)0xffff, VITALS_MOUNT_TYPE},
    };
    vitals_context *context = NULL;
    vitals_error error;
    struct rows rows = {.count = 0};
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    for (size_t i = 0; i < CHECK_COUNT(NOT); i++)
        CHECK_INT(vitals_table_read(context, NOT[i], 2, take_row, &rows, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_table_read(context, NOT[0], 0, take_row, &rows, NULL), VITALS_EARGUMENT);
    const vitals_metric gpu = VITALS_GPU_INDEX;
    CHECK_INT(vitals_table_read(context, &gpu, 1, take_row, &rows, &error), VITALS_EUNSUPPORTED);
    CHECK_UINT(rows.count, 0);
    vitals_context_free(context);
}

/* No rows and no error would say that the machine has no disks. */
static void what_is_not_there_is_no_empty_table(void)
{
    static const vitals_metric ABSENT[] = {VITALS_DISK_NAME, VITALS_NETWORK_NAME, VITALS_MOUNT_TYPE,
                                           VITALS_FILESYSTEM_TYPE};
    char folder[128];
    vitals_options options = {.size = sizeof options, .proc_root = folder, .sys_root = folder};
    vitals_context *context = NULL;
    vitals_error error;
    struct rows rows = {.count = 0};
    check_folder(folder, sizeof folder, "empty");
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    for (size_t i = 0; i < CHECK_COUNT(ABSENT); i++)
        CHECK_INT(vitals_table_read(context, &ABSENT[i], 1, take_row, &rows, &error),
                  VITALS_EUNSUPPORTED);
    CHECK_UINT(rows.count, 0);
    vitals_context_free(context);
    CHECK_INT(rmdir(folder), 0);
}

static const check_test tests[] = {
    {"a table is that of a snapshot", a_table_is_that_of_a_snapshot},
    {"what is no such table is refused", what_is_no_such_table_is_refused},
    {"what is not there is no empty table", what_is_not_there_is_no_empty_table},
};
CHECK_TESTS(tests)
