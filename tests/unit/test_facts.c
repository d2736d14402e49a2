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
static void fill(struct facts *facts)
{
    facts_row(facts, VITALS_SENSOR, 7, span_of("Core 0"));
    fact_string(facts, VITALS_SENSOR_NAME, "Core 0");
    fact_string(facts, VITALS_SENSOR_CHIP, "nobody asks");
    fact_f64(facts, VITALS_SENSOR_TEMPERATURE_CELSIUS, 41.5);
    facts_row(facts, VITALS_FILESYSTEM, 3, span_of("/"));
    fact_u64(facts, VITALS_FILESYSTEM_TOTAL_BYTES, 1000);
    facts_row(facts, VITALS_SENSOR, 9, span_of("fan"));
    fact_missing(facts, VITALS_SENSOR_TEMPERATURE_CELSIUS, VITALS_DENIED);
    facts_state(facts, VITALS_SENSOR, VITALS_LOWER_BOUND);
}

static void rows_reach_the_snapshot_with_their_table_s_state(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct facts facts = {0};
    vitals_builder *builder = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    facts_reset(&facts, &wanted);
    fill(&facts);
    CHECK_FALSE(facts.failed);
    vitals_builder_begin(builder);
    builder_table_of(builder, VITALS_SENSOR, &wanted);
    builder_table_of(builder, VITALS_FILESYSTEM, &wanted);
    builder_facts_rows(builder, &facts, VITALS_SENSOR, 5);
    builder_facts_rows(builder, &facts, VITALS_FILESYSTEM, 6);
    builder_facts_rows(builder, &facts, VITALS_DISK, 6); /* nobody opened it */
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);

    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_SENSOR), 2);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_SENSOR), VITALS_LOWER_BOUND);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_FILESYSTEM), VITALS_HAVE);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_DISK), VITALS_NOT_REQUESTED);
    const vitals_row *row = vitals_snapshot_row(snapshot, VITALS_SENSOR, 0);
    CHECK_UINT(vitals_row_key(row), 7);
    CHECK_STR(vitals_row_label(row), "Core 0");
    double celsius = 0;
    vitals_text name = {0};
    CHECK_INT(vitals_row_f64(row, VITALS_SENSOR_TEMPERATURE_CELSIUS, &celsius), VITALS_HAVE);
    CHECK_NEAR(celsius, 41.5, 0);
    CHECK_INT(vitals_row_text(row, VITALS_SENSOR_NAME, &name), VITALS_HAVE);
    CHECK_BYTES(name.bytes, name.size, "Core 0", 6);
    row = vitals_snapshot_row(snapshot, VITALS_SENSOR, 1);
    CHECK_INT(vitals_row_availability(row, VITALS_SENSOR_TEMPERATURE_CELSIUS), VITALS_DENIED);
    CHECK_INT(vitals_row_availability(row, VITALS_SENSOR_NAME), VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
    facts_done(&facts);
}

static void what_nobody_wants_is_passed_over(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct facts facts = {0};
    facts_reset(&facts, &wanted);
    fact_i64(&facts, VITALS_PROCESS_NICE, 1); /* before there is a row */
    CHECK_UINT(facts.count, 0);
    const struct fact_row *row = facts_row(&facts, VITALS_PROCESS, 1, span_of(""));
    fact_i64(&facts, VITALS_PROCESS_NICE, -3);
    fact_u64(&facts, VITALS_PROCESS_PID, 4);
    fact_value(&facts, VITALS_PROCESS_NICE, (struct value){0}); /* UNSET says nothing */
    CHECK_UINT(facts.count, 1);
    CHECK_NOT_NULL(fact_find(&facts, row, VITALS_PROCESS_NICE));
    CHECK_INT(fact_find(&facts, row, VITALS_PROCESS_NICE)->as.i64, -3);
    CHECK_NULL(fact_find(&facts, row, VITALS_PROCESS_PID));
    facts_done(&facts);
}

static void used_again_it_asks_for_no_memory(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct facts facts = {0};
    facts_reset(&facts, &wanted);
    fill(&facts);
    uint64_t before = memory_asked();
    for (int i = 0; i < 100; i++) {
        facts_reset(&facts, &wanted);
        CHECK_INT(facts.states[VITALS_SENSOR], VITALS_HAVE);
        fill(&facts);
    }
    CHECK_UINT(memory_asked(), before);
    facts_done(&facts);
}

static void any_allocation_may_fail(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    int64_t before = memory_live();
    bool whole = false;
    for (uint64_t nth = 1; !whole; nth++) {
        CHECK(nth < 100);
        struct facts facts = {0};
        facts_reset(&facts, &wanted);
        memory_fail_at(nth);
        fill(&facts);
        memory_fail_at(0);
        whole = !facts.failed;
        CHECK(!whole || facts.row_count == 3);
        facts_done(&facts);
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
    struct facts facts = {0};
    facts_reset(&facts, &wanted);
    for (uint64_t key = 1; key <= ROWS; key++) {
        facts_row(&facts, VITALS_SENSOR, key, text);
        fact_text(&facts, VITALS_SENSOR_NAME, text);
    }
    CHECK_UINT(facts.text.size, FACTS_LABEL_MAX + LONG);
    const struct fact_row *last = &facts.rows[ROWS - 1];
    CHECK_BYTES(fact_label(&facts, last).bytes, fact_label(&facts, last).size, path,
                FACTS_LABEL_MAX);
    const struct fact *fact = fact_find(&facts, last, VITALS_SENSOR_NAME);
    CHECK_NOT_NULL(fact);
    CHECK_BYTES(fact_span(&facts, fact).bytes, fact_span(&facts, fact).size, path, LONG);
    path[0] = 'q';
    facts_row(&facts, VITALS_SENSOR, ROWS + 1, span_of("s"));
    fact_text(&facts, VITALS_SENSOR_NAME, text);
    fact = fact_find(&facts, &facts.rows[ROWS], VITALS_SENSOR_NAME);
    CHECK_NOT_NULL(fact);
    CHECK_BYTES(fact_span(&facts, fact).bytes, fact_span(&facts, fact).size, path, LONG);
    CHECK_INT(facts.states[VITALS_SENSOR], VITALS_HAVE);
    facts_done(&facts);
}

static void text_has_an_end_and_says_so(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct facts facts = {.text_max = 20};
    facts_reset(&facts, &wanted);
    facts_row(&facts, VITALS_SENSOR, 1, span_of("first"));
    fact_string(&facts, VITALS_SENSOR_NAME, "0123456789");
    CHECK_INT(facts.states[VITALS_SENSOR], VITALS_HAVE);
    facts_row(&facts, VITALS_SENSOR, 2, span_of("2nd"));
    fact_string(&facts, VITALS_SENSOR_NAME, "abcdefghij");
    const struct fact *fact = fact_find(&facts, &facts.rows[1], VITALS_SENSOR_NAME);
    CHECK_NOT_NULL(fact);
    CHECK_INT(fact->state, VITALS_LOWER_BOUND);
    CHECK_BYTES(fact_span(&facts, fact).bytes, fact_span(&facts, fact).size, "ab", 2);
    CHECK_INT(facts.states[VITALS_SENSOR], VITALS_LOWER_BOUND);
    CHECK_INT(fact_find(&facts, &facts.rows[0], VITALS_SENSOR_NAME)->state, VITALS_HAVE);
    CHECK_FALSE(facts.failed);
    facts_done(&facts);
}

static void a_table_can_be_read_once_more(void)
{
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct facts facts = {0};
    facts_reset(&facts, &wanted);
    struct facts_mark empty = facts_mark(&facts);
    facts_row(&facts, VITALS_PROCESS, 1, span_of("kept"));
    fact_i64(&facts, VITALS_PROCESS_NICE, 4);
    struct facts_mark mark = facts_mark(&facts);
    for (int i = 0; i < 3; i++) {
        fill(&facts);
        CHECK_UINT(facts.row_count, 4);
        facts_rewind(&facts, mark);
    }
    CHECK_UINT(facts.row_count, 1);
    CHECK_UINT(facts.count, 1);
    CHECK_BYTES(facts.text.bytes, facts.text.size, "kept", 4);
    facts_rewind(&facts, empty);
    CHECK_UINT(facts.row_count + facts.count + facts.text.size, 0);
    facts_done(&facts);
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
        vitals_builder_table(builder, VITALS_SENSOR, &metric, 1);
        vitals_builder_state(builder, VITALS_SENSOR, (vitals_availability)NONE[i]);
        CHECK_INT(vitals_builder_finish(builder, &snapshot, &error), VITALS_EARGUMENT);
        vitals_builder_free(builder);
    }
}

/* Who says how many rows come pays for memory once; who says too few, or asks for more than there
 * is, loses nothing. */
static void room_can_be_made_ahead(void)
{
    enum { ROWS = 500 };
    struct metric_set wanted = set_of(WANTED, CHECK_COUNT(WANTED));
    struct facts facts = {0};
    facts_reset(&facts, &wanted);
    facts_reserve(&facts, VITALS_SENSOR, ROWS);
    uint64_t asked = memory_asked();
    facts_reserve(&facts, VITALS_SENSOR, ROWS);
    for (size_t i = 1; i <= ROWS; i++) {
        facts_row(&facts, VITALS_SENSOR, i, (struct span){"", 0});
        fact_missing(&facts, VITALS_SENSOR_NAME, VITALS_DENIED);
    }
    CHECK_UINT(memory_asked(), asked + 1); // for text
    CHECK_UINT(facts.row_count, ROWS);
    facts_row(&facts, VITALS_SENSOR, ROWS + 1, span_of("one more"));
    facts_reserve(&facts, VITALS_SENSOR, SIZE_MAX);
    CHECK(facts.failed);
    facts_reset(&facts, &wanted);
    facts_reserve(&facts, VITALS_DISK, ROWS); // of a table that is not wanted
    CHECK_FALSE(facts.failed);
    facts_done(&facts);
    for (uint64_t nth = 1; nth <= 2; nth++) {
        facts_reset(&facts, &wanted);
        memory_fail_at(nth);
        facts_reserve(&facts, VITALS_SENSOR, ROWS);
        memory_fail_at(0);
        CHECK(facts.failed);
        CHECK_NULL(facts_row(&facts, VITALS_SENSOR, 1, span_of("s")));
        facts_done(&facts);
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
    {"room can be made ahead", room_can_be_made_ahead},
    {"a state that is none is a mistake", a_state_that_is_none_is_a_mistake},
};
CHECK_MAIN(tests)
