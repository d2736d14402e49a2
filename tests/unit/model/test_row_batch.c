/* Facts: rows on their way from the system, and how complete a table says it is. */
#include "check.h"

#include "model/builder.h"
#include "util/memory.h"

static struct span span_of(const char *string)
{
    return (struct span){string, strlen(string)};
}

static struct metric_set set_of(const vitals_metric *metrics, size_t count)
{
    struct metric_set set = {0};
    for (size_t i = 0; i < count; i++)
        metric_set_add(&set, metrics[i]);
    return set;
}

static const vitals_metric WANTED[] = {VITALS_SENSOR_NAME, VITALS_SENSOR_TEMPERATURE_CELSIUS,
                                       VITALS_FILESYSTEM_TOTAL_BYTES, VITALS_PROCESS_NICE};

/* Two rows of one table around one of another. */
static void fill(struct row_batch *batch)
{
    batch_add_row(batch, VITALS_TABLE_SENSOR, 7, span_of("Core 0"));
    batch_set_string(batch, VITALS_SENSOR_NAME, "Core 0");
    batch_set_string(batch, VITALS_SENSOR_CHIP, "nobody asks");
    batch_set_f64(batch, VITALS_SENSOR_TEMPERATURE_CELSIUS, 41.5);
    batch_add_row(batch, VITALS_TABLE_FILESYSTEM, 3, span_of("/"));
    batch_set_u64(batch, VITALS_FILESYSTEM_TOTAL_BYTES, 1000);
    batch_add_row(batch, VITALS_TABLE_SENSOR, 9, span_of("fan"));
    batch_set_missing(batch, VITALS_SENSOR_TEMPERATURE_CELSIUS, VITALS_DENIED);
    batch_state(batch, VITALS_TABLE_SENSOR, VITALS_LOWER_BOUND);
}

static void rows_reach_the_snapshot_with_their_table_s_state(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct row_batch batch = {0};
    vitals_builder *builder = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    batch_reset(&batch, &wanted);
    fill(&batch);
    CHECK_FALSE(batch.failed);
    vitals_builder_begin(builder);
    builder_table_of(builder, VITALS_TABLE_SENSOR, &wanted);
    builder_table_of(builder, VITALS_TABLE_FILESYSTEM, &wanted);
    builder_batch_rows(builder, &batch, VITALS_TABLE_SENSOR, 5);
    builder_batch_rows(builder, &batch, VITALS_TABLE_FILESYSTEM, 6);
    builder_batch_rows(builder, &batch, VITALS_TABLE_DISK, 6); /* a table that was not opened */
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);

    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_SENSOR), 2);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_SENSOR), VITALS_LOWER_BOUND);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_FILESYSTEM), VITALS_HAVE);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_DISK), VITALS_NOT_REQUESTED);
    const vitals_row *row = vitals_snapshot_row(snapshot, VITALS_TABLE_SENSOR, 0);
    CHECK_UINT(vitals_row_key(row), 7);
    CHECK_STR(vitals_row_label(row), "Core 0");
    double celsius = 0;
    vitals_text name = {0};
    CHECK_INT(vitals_row_f64(row, VITALS_SENSOR_TEMPERATURE_CELSIUS, &celsius), VITALS_HAVE);
    CHECK_NEAR(celsius, 41.5, 0);
    CHECK_INT(vitals_row_text(row, VITALS_SENSOR_NAME, &name), VITALS_HAVE);
    CHECK_BYTES(name.bytes, name.size, "Core 0", 6);
    row = vitals_snapshot_row(snapshot, VITALS_TABLE_SENSOR, 1);
    CHECK_INT(vitals_row_availability(row, VITALS_SENSOR_TEMPERATURE_CELSIUS), VITALS_DENIED);
    CHECK_INT(vitals_row_availability(row, VITALS_SENSOR_NAME), VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
    batch_done(&batch);
}

static void what_nobody_wants_is_passed_over(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct row_batch batch = {0};
    batch_reset(&batch, &wanted);
    batch_set_i64(&batch, VITALS_PROCESS_NICE, 1); /* before there is a row */
    CHECK_UINT(batch.count, 0);
    const struct batch_row *row = batch_add_row(&batch, VITALS_TABLE_PROCESS, 1, span_of(""));
    batch_set_i64(&batch, VITALS_PROCESS_NICE, -3);
    batch_set_u64(&batch, VITALS_PROCESS_PID, 4);
    batch_set_value(&batch, VITALS_PROCESS_NICE, (struct value){0}); /* UNSET says nothing */
    CHECK_UINT(batch.count, 1);
    CHECK_NOT_NULL(batch_find(&batch, row, VITALS_PROCESS_NICE));
    CHECK_INT(batch_find(&batch, row, VITALS_PROCESS_NICE)->as.i64, -3);
    CHECK_NULL(batch_find(&batch, row, VITALS_PROCESS_PID));
    batch_done(&batch);
}

static void used_again_it_asks_for_no_memory(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct row_batch batch = {0};
    batch_reset(&batch, &wanted);
    fill(&batch);
    uint64_t before = memory_asked();
    for (int i = 0; i < 100; i++) {
        batch_reset(&batch, &wanted);
        CHECK_INT(batch.states[VITALS_TABLE_SENSOR], VITALS_HAVE);
        fill(&batch);
    }
    CHECK_UINT(memory_asked(), before);
    batch_done(&batch);
}

static void any_allocation_may_fail(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    int64_t before = memory_live();
    bool whole = false;
    for (uint64_t nth = 1; !whole; nth++) {
        CHECK(nth < 100);
        struct row_batch batch = {0};
        batch_reset(&batch, &wanted);
        memory_fail_at(nth);
        fill(&batch);
        memory_fail_at(0);
        whole = !batch.failed;
        CHECK(!whole || batch.row_count == 3);
        batch_done(&batch);
        CHECK_INT(memory_live(), before);
    }
}

/* Thousands of rows may tell of one file, whose path is as long as a page. */
static void equal_texts_of_neighbours_are_kept_once(void)
{
    enum { ROWS = 100, LONG = 3000 };
    char path[LONG];
    memset(path, 'p', sizeof path);
    const struct span text = {path, sizeof path};
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct row_batch batch = {0};
    batch_reset(&batch, &wanted);
    for (uint64_t key = 1; key <= ROWS; key++) {
        batch_add_row(&batch, VITALS_TABLE_SENSOR, key, text);
        batch_set_text(&batch, VITALS_SENSOR_NAME, text);
    }
    CHECK_UINT(batch.text.size, BATCH_LABEL_MAX + LONG);
    const struct batch_row *last = &batch.rows[ROWS - 1];
    CHECK_BYTES(batch_label(&batch, last).bytes, batch_label(&batch, last).size, path,
                BATCH_LABEL_MAX);
    const struct batch_cell *cell = batch_find(&batch, last, VITALS_SENSOR_NAME);
    CHECK_NOT_NULL(cell);
    CHECK_BYTES(batch_span(&batch, cell).bytes, batch_span(&batch, cell).size, path, LONG);
    path[0] = 'q';
    batch_add_row(&batch, VITALS_TABLE_SENSOR, ROWS + 1, span_of("s"));
    batch_set_text(&batch, VITALS_SENSOR_NAME, text);
    cell = batch_find(&batch, &batch.rows[ROWS], VITALS_SENSOR_NAME);
    CHECK_NOT_NULL(cell);
    CHECK_BYTES(batch_span(&batch, cell).bytes, batch_span(&batch, cell).size, path, LONG);
    CHECK_INT(batch.states[VITALS_TABLE_SENSOR], VITALS_HAVE);
    batch_done(&batch);
}

static void text_has_an_end_and_says_so(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct row_batch batch = {.text_max = 20};
    batch_reset(&batch, &wanted);
    batch_add_row(&batch, VITALS_TABLE_SENSOR, 1, span_of("first"));
    batch_set_string(&batch, VITALS_SENSOR_NAME, "0123456789");
    CHECK_INT(batch.states[VITALS_TABLE_SENSOR], VITALS_HAVE);
    batch_add_row(&batch, VITALS_TABLE_SENSOR, 2, span_of("2nd"));
    batch_set_string(&batch, VITALS_SENSOR_NAME, "abcdefghij");
    const struct batch_cell *cell = batch_find(&batch, &batch.rows[1], VITALS_SENSOR_NAME);
    CHECK_NOT_NULL(cell);
    CHECK_INT(cell->state, VITALS_LOWER_BOUND);
    CHECK_BYTES(batch_span(&batch, cell).bytes, batch_span(&batch, cell).size, "ab", 2);
    CHECK_INT(batch.states[VITALS_TABLE_SENSOR], VITALS_LOWER_BOUND);
    CHECK_INT(batch_find(&batch, &batch.rows[0], VITALS_SENSOR_NAME)->state, VITALS_HAVE);
    CHECK_FALSE(batch.failed);
    batch_done(&batch);
}

static void a_table_can_be_read_once_more(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct row_batch batch = {0};
    batch_reset(&batch, &wanted);
    struct batch_mark empty = batch_mark(&batch);
    batch_add_row(&batch, VITALS_TABLE_PROCESS, 1, span_of("kept"));
    batch_set_i64(&batch, VITALS_PROCESS_NICE, 4);
    struct batch_mark mark = batch_mark(&batch);
    for (int i = 0; i < 3; i++) {
        fill(&batch);
        CHECK_UINT(batch.row_count, 4);
        batch_rewind(&batch, mark);
    }
    CHECK_UINT(batch.row_count, 1);
    CHECK_UINT(batch.count, 1);
    CHECK_BYTES(batch.text.bytes, batch.text.size, "kept", 4);
    batch_rewind(&batch, empty);
    CHECK_UINT(batch.row_count + batch.count + batch.text.size, 0);
    batch_done(&batch);
}

static void a_state_that_is_none_is_a_mistake(void)
{
    static const int NONE[] = {0, VITALS_AVAILABILITY_MIN - 1, VITALS_AVAILABILITY_MAX + 1};
    for (size_t i = 0; i < CHECK_COUNT(NONE); i++) {
        vitals_metric metric = VITALS_SENSOR_NAME;
        vitals_builder *builder = NULL;
        vitals_snapshot *snapshot = NULL;
        vitals_error error;
        CHECK_OK(vitals_builder_new(&builder, &error), error);
        vitals_builder_begin(builder);
        vitals_builder_table(builder, VITALS_TABLE_SENSOR, &metric, 1);
        vitals_builder_state(builder, VITALS_TABLE_SENSOR, (vitals_availability)NONE[i]);
        CHECK_INT(vitals_builder_finish(builder, &snapshot, &error), VITALS_EARGUMENT);
        vitals_builder_free(builder);
    }
}

static const check_test tests[] = {
    {"rows reach the snapshot with their table's state",
     rows_reach_the_snapshot_with_their_table_s_state},
    {"what nobody wants is passed over", what_nobody_wants_is_passed_over},
    {"used again it asks for no memory", used_again_it_asks_for_no_memory},
    {"any allocation may fail", any_allocation_may_fail},
    {"equal texts of neighbours are kept once", equal_texts_of_neighbours_are_kept_once},
    {"text has an end and says so", text_has_an_end_and_says_so},
    {"a table can be read once more", a_table_can_be_read_once_more},
    {"a state that is none is a mistake", a_state_that_is_none_is_a_mistake},
};
CHECK_TESTS(tests)
