/* Keys of rows that have none: the same as long as a row is there, never given again, unique. */
#include "host_world.h"

static struct row_batch batch;

/* Sensors by words "chip/name". */
static void rows(const char *words)
{
    struct metric_set wanted = host_table(VITALS_TABLE_SENSOR);
    char chip[16], name[16];
    int size;
    batch_reset(&batch, &wanted);
    while (sscanf(words, " %15[^/ ]/%15[^ ]%n", chip, name, &size) == 2) {
        CHECK_NOT_NULL(batch_add_row(&batch, VITALS_TABLE_SENSOR, 0, (struct span){"x", 1}));
        batch_set_string(&batch, VITALS_SENSOR_CHIP, chip);
        batch_set_string(&batch, VITALS_SENSOR_NAME, name);
        batch_set_f64(&batch, VITALS_SENSOR_TEMPERATURE_CELSIUS, (double)size); // no identity
        words += size;
    }
}

static void keys_stay_and_are_never_given_again(void)
{
    static const struct {
        const char *rows;
        uint64_t keys[4];
    } steps[] = {
        {"a/x b/x b/y", {1, 2, 3}},
        {"b/y a/x b/x", {3, 1, 2}}, // in another order
        {"a/x b/x b/x", {1, 2, 4}}, // one twice: by its order
        {"b/x b/x b/y", {2, 4, 5}}, // b/y is another one now, and a/x left
        {"b/x a/x", {2, 6}},
        {"b/x", {2}},
        {"", {0}},
        {"b/x b/x", {7, 8}},
    };
    struct identities identities = {0};
    for (size_t i = 0; i < CHECK_COUNT(steps); i++) {
        CHECK_CASE(steps[i].rows);
        rows(steps[i].rows);
        CHECK_INT(identities_give(&identities, &batch, VITALS_TABLE_SENSOR), 0);
        for (size_t j = 0; j < batch.row_count; j++)
            CHECK_UINT(batch.rows[j].key, steps[i].keys[j]);
        CHECK_UINT(identities.count, batch.row_count); // nothing of those that left is kept
    }
    identities_done(&identities);
    batch_done(&batch);
}

/* Where one text ends and the next begins is part of an identity. */
static void texts_do_not_run_together(void)
{
    struct identities identities = {0};
    rows("ab/c a/bc");
    CHECK_INT(identities_give(&identities, &batch, VITALS_TABLE_SENSOR), 0);
    CHECK_UINT(batch.rows[0].key, 1);
    CHECK_UINT(batch.rows[1].key, 2);
    rows("a/bc ab/c");
    CHECK_INT(identities_give(&identities, &batch, VITALS_TABLE_SENSOR), 0);
    CHECK_UINT(batch.rows[0].key, 2);
    CHECK_UINT(batch.rows[1].key, 1);
    identities_done(&identities);
    batch_done(&batch);
}

static void keys_that_are_there_stay(void)
{
    struct identities identities = {0};
    rows("a/x b/x");
    batch.rows[0].key = 77;
    CHECK_INT(identities_give(&identities, &batch, VITALS_TABLE_SENSOR), 0);
    CHECK_UINT(batch.rows[0].key, 77);
    CHECK_UINT(batch.rows[1].key, 1);
    identities_done(&identities);
    batch_done(&batch);
}

/* As duplicates of one descriptor are: to find each its place again and again would take minutes.
 */
static void many_of_one_identity(void)
{
    enum { ROWS = 200000 };
    struct metric_set wanted = host_table(VITALS_TABLE_SENSOR);
    struct identities identities = {0};
    for (int reading = 0; reading < 2; reading++) {
        batch_reset(&batch, &wanted);
        for (size_t i = 0; i < ROWS; i++) {
            batch_add_row(&batch, VITALS_TABLE_SENSOR, 0, (struct span){"x", 1});
            batch_set_string(&batch, VITALS_SENSOR_CHIP, "a");
        }
        CHECK_INT(identities_give(&identities, &batch, VITALS_TABLE_SENSOR), 0);
        for (size_t i = 0; i < ROWS; i++)
            CHECK_UINT(batch.rows[i].key, i + 1);
    }
    identities_done(&identities);
    batch_done(&batch);
}

static void no_failed_allocation_is_lost(void)
{
    int64_t live = memory_live();
    for (uint64_t nth = 1;; nth++) {
        struct identities identities = {0};
        rows("a/x b/x c/x d/x e/x");
        memory_fail_at(nth);
        uint64_t asked = memory_asked();
        int code = identities_give(&identities, &batch, VITALS_TABLE_SENSOR);
        bool reached = memory_asked() - asked >= nth;
        memory_fail_at(0);
        CHECK_INT(code, reached ? VITALS_EMEMORY : 0);
        CHECK_INT(identities_give(&identities, &batch, VITALS_TABLE_SENSOR), 0);
        identities_done(&identities);
        batch_done(&batch);
        CHECK_INT(memory_live(), live);
        if (!reached)
            return;
    }
}

static const check_test tests[] = {
    {"keys stay and are never given again", keys_stay_and_are_never_given_again},
    {"texts do not run together", texts_do_not_run_together},
    {"keys that are there stay", keys_that_are_there_stay},
    {"many of one identity", many_of_one_identity},
    {"no failed allocation is lost", no_failed_allocation_is_lost},
};
CHECK_TESTS(tests)
