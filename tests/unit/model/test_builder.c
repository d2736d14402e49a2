/* What a builder makes of what it is given: every availability, numbers that JSON cannot hold,
 * mistakes, rows of values, labels and long text. */
#include "snapshot_world.h"

#include <math.h>

/* Every availability, for every type, through every setter. */
static void each_availability_comes_back(void)
{
    vitals_builder *builder = new_builder();
    for (int state = VITALS_AVAILABILITY_MIN; state <= VITALS_AVAILABILITY_MAX; state++) {
        vitals_availability given = (vitals_availability)state;
        vitals_builder_begin(builder);
        open_processes(builder);
        vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1, 0, text(""), 0);
        vitals_builder_u64(builder, VITALS_PROCESS_PID, 5, given);
        vitals_builder_i64(builder, VITALS_PROCESS_NICE, 5, given);
        vitals_builder_f64(builder, VITALS_PROCESS_CPU_SECONDS, 5, given);
        vitals_builder_text(builder, VITALS_PROCESS_NAME, text("five"), given);
        if (state < 0)
            vitals_builder_missing(builder, VITALS_PROCESS_RESIDENT_BYTES, given);
        vitals_snapshot *snapshot = finish(builder);
        const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, NULL);
        uint64_t number = 7;
        int64_t signed_number = 7;
        double real = 7, any = 7;
        vitals_text word = {"7", 1};
        CHECK_CASE(vitals_availability_name(given));
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_PID), state);
        CHECK_INT(vitals_row_u64(row, VITALS_PROCESS_PID, &number), state);
        CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_NICE, &signed_number), state);
        CHECK_INT(vitals_row_f64(row, VITALS_PROCESS_CPU_SECONDS, &real), state);
        CHECK_INT(vitals_row_number(row, VITALS_PROCESS_PID, &any), state);
        CHECK_INT(vitals_row_text(row, VITALS_PROCESS_NAME, &word), state);
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_RESIDENT_BYTES),
                  state < 0 ? state : 0);
        CHECK_UINT(number, state > 0 ? 5 : 7);
        CHECK_INT(signed_number, state > 0 ? 5 : 7);
        CHECK_NEAR(real, state > 0 ? 5 : 7, 0);
        CHECK_NEAR(any, state > 0 ? 5 : 7, 0);
        CHECK_BYTES(word.bytes, word.size, state > 0 ? "five" : "7", state > 0 ? 4u : 1u);
        vitals_snapshot_unref(snapshot);
    }
    vitals_builder_free(builder);
}

static void numbers_stay_within_what_json_can_hold(void)
{
    static const struct {
        uint64_t value, expected;
        vitals_availability state;
    } COUNTS[] = {
        {0, 0, VITALS_HAVE},
        {EXACT_MAX, EXACT_MAX, VITALS_HAVE},
        {EXACT_MAX + 1, EXACT_MAX, VITALS_LOWER_BOUND},
        {UINT64_MAX, EXACT_MAX, VITALS_LOWER_BOUND},
    };
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    open_processes(builder);
    for (size_t i = 0; i < CHECK_COUNT(COUNTS); i++) {
        vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1 + i, 0, text(""), 0);
        vitals_builder_u64(builder, VITALS_PROCESS_PID, COUNTS[i].value, VITALS_HAVE);
    }
    static const double NOT_FINITE[] = {(double)INFINITY, -(double)INFINITY, (double)NAN};
    for (size_t i = 0; i < CHECK_COUNT(NOT_FINITE); i++) {
        vitals_builder_row(builder, VITALS_TABLE_PROCESS, 10 + i, 0, text(""), 0);
        vitals_builder_f64(builder, VITALS_PROCESS_CPU_SECONDS, NOT_FINITE[i], VITALS_ESTIMATE);
    }
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 20, 0, text(""), 0);
    vitals_builder_i64(builder, VITALS_PROCESS_NICE, INT64_MAX, VITALS_HAVE);
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 21, 0, text(""), 0);
    vitals_builder_i64(builder, VITALS_PROCESS_NICE, INT64_MIN, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_PROCESS_CPU_SECONDS, -0.0, VITALS_HAVE);
    vitals_snapshot *snapshot = finish(builder);

    for (size_t i = 0; i < CHECK_COUNT(COUNTS); i++) {
        uint64_t value = 7;
        const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, 1 + i);
        CHECK_INT(vitals_row_u64(row, VITALS_PROCESS_PID, &value), COUNTS[i].state);
        CHECK_UINT(value, COUNTS[i].expected);
    }
    for (size_t i = 0; i < CHECK_COUNT(NOT_FINITE); i++)
        CHECK_INT(
            vitals_row_availability(vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, 10 + i),
                                    VITALS_PROCESS_CPU_SECONDS),
            VITALS_FAILED);
    int64_t most = 0, least = 0;
    double zero = 1;
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, 20);
    CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_NICE, &most), VITALS_LOWER_BOUND);
    row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, 21);
    CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_NICE, &least), VITALS_UPPER_BOUND);
    CHECK_INT(most, (int64_t)EXACT_MAX);
    CHECK_INT(least, -(int64_t)EXACT_MAX);
    CHECK_INT(vitals_row_f64(row, VITALS_PROCESS_CPU_SECONDS, &zero), VITALS_HAVE);
    CHECK_FALSE(signbit(zero));
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
}

static void refused(const char *name, void (*mistake)(vitals_builder *), const char *message)
{
    vitals_builder *builder = new_builder();
    CHECK_CASE(name);
    vitals_builder_begin(builder);
    open_processes(builder);
    add_process(builder, 1);
    mistake(builder);
    add_process(builder, 2); /* harmless */
    check_refused(builder, VITALS_EARGUMENT, message);
    vitals_builder_begin(builder); /* and forgotten */
    open_processes(builder);
    vitals_snapshot_unref(finish(builder));
    vitals_builder_free(builder);
}

static void key_twice(vitals_builder *builder)
{
    add_process(builder, 3);
    add_process(builder, 1);
}

static void key_twice_in_a_row(vitals_builder *builder)
{
    add_process(builder, 1);
}

static void key_too_large(vitals_builder *builder)
{
    add_process(builder, EXACT_MAX + 1);
}

static void table_twice(vitals_builder *builder)
{
    open_processes(builder);
}

static void table_unknown(vitals_builder *builder)
{
    vitals_builder_table(builder, 200, NULL, 0);
}

static void foreign_column(vitals_builder *builder)
{
    static const vitals_metric FOREIGN[] = {VITALS_GPU_INDEX, VITALS_HOST_CPUS};
    vitals_builder_table(builder, VITALS_TABLE_GPU, FOREIGN, 2);
}

static void parent_without_table(vitals_builder *builder)
{
    static const vitals_metric COLUMNS[] = {VITALS_CPU_INDEX};
    vitals_builder_table(builder, VITALS_TABLE_CPU, COLUMNS, 1);
    vitals_builder_row(builder, VITALS_TABLE_CPU, 5, 1, text("0"), 0);
}

static void key_none(vitals_builder *builder)
{
    add_process(builder, 0);
}

static void moment_without_row(vitals_builder *builder)
{
    static const vitals_metric COLUMNS[] = {VITALS_CPU_INDEX};
    vitals_builder_table(builder, VITALS_TABLE_CPU, COLUMNS, 1);
    vitals_builder_read_at(builder, VITALS_CPU_INDEX, 1);
}

static void value_without_row(vitals_builder *builder)
{
    static const vitals_metric COLUMNS[] = {VITALS_CPU_INDEX};
    vitals_builder_table(builder, VITALS_TABLE_CPU, COLUMNS, 1);
    vitals_builder_u64(builder, VITALS_CPU_INDEX, 1, VITALS_HAVE);
}

static void value_of_other_type(vitals_builder *builder)
{
    vitals_builder_f64(builder, VITALS_PROCESS_PID, 1, VITALS_HAVE);
}

static void text_as_number(vitals_builder *builder)
{
    builder_value(builder, VITALS_PROCESS_NAME, value_u64(1));
}

static void no_availability(vitals_builder *builder)
{
    vitals_builder_u64(builder, VITALS_PROCESS_PID, 1, (vitals_availability)7);
}

static void no_reason(vitals_builder *builder)
{
    vitals_builder_missing(builder, VITALS_PROCESS_PID, VITALS_HAVE);
}

static void mistakes_are_told_by_finish(void)
{
    refused("key twice", key_twice, "snapshot: table process has key 1 twice");
    refused("key twice in a row", key_twice_in_a_row, "snapshot: table process has key 1 twice");
    refused("key too large", key_too_large, "snapshot: table process gets a key above 2^53");
    refused("key none", key_none, "snapshot: table process gets the key 0");
    refused("no row for a moment", moment_without_row,
            "snapshot: cpu index is set before there is a row");
    refused("table twice", table_twice, "snapshot: table process is opened twice");
    refused("table unknown", table_unknown, "snapshot: table ? does not exist");
    refused("foreign column", foreign_column, "snapshot: table gpu has no metric 0x0104");
    refused("no parent", parent_without_table,
            "snapshot: table cpu has no parent, and a row names one");
    refused("no row", value_without_row, "snapshot: cpu index is set before there is a row");
    refused("other type", value_of_other_type,
            "snapshot: process pid is set with a value of another type");
    refused("text", text_as_number, "snapshot: process name is text and is set as a number");
    refused("availability", no_availability,
            "snapshot: process pid is set with an invalid availability");
    refused("reason", no_reason, "snapshot: process pid is missing for an invalid reason");

    vitals_builder *builder = new_builder();
    check_refused(builder, VITALS_EARGUMENT, "snapshot: finished before it was begun");
    vitals_builder_free(builder);
    vitals_builder_free(NULL);
    vitals_snapshot_unref(NULL);
}

static void a_begun_snapshot_is_dropped_by_the_next(void)
{
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    open_processes(builder);
    add_process(builder, 1);
    vitals_builder_begin(builder);
    vitals_snapshot *snapshot = finish(builder);
    CHECK_FALSE(vitals_snapshot_has_table(snapshot, VITALS_TABLE_PROCESS));
    vitals_snapshot_unref(snapshot);
    vitals_builder_begin(builder);
    vitals_builder_free(builder);
}

static void sources_fill_rows_with_records(void)
{
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_PROCESS_PID);
    metric_set_add(&wanted, VITALS_PROCESS_NICE);
    metric_set_add(&wanted, VITALS_PROCESS_CPU_SECONDS);
    metric_set_add(&wanted, VITALS_PROCESS_NAME);
    metric_set_add(&wanted, VITALS_PROCESS_USER);
    metric_set_add(&wanted, VITALS_PROCESS_CGROUP);
    metric_set_add(&wanted, VITALS_PROCESS_RESIDENT_BYTES);
    struct values values = {0};
    values_set(&values, VITALS_PROCESS_PID, value_u64(12));
    values_set(&values, VITALS_PROCESS_NICE, value_i64(-3));
    values_set(&values, VITALS_PROCESS_CPU_SECONDS, value_missing(VITALS_DENIED));
    values_set(&values, VITALS_PROCESS_THREADS, value_u64(4)); /* not wanted */
    struct shared_text *name = shared_text_new("zsh", 3);

    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    builder_table_of(builder, VITALS_TABLE_PROCESS, &wanted);
    builder_table_of(builder, VITALS_TABLE_HOST, &wanted); /* nothing of it is wanted */
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1, 0, text("zsh"), 0);
    builder_values(builder, VITALS_TABLE_PROCESS, &values);
    builder_shared(builder, VITALS_PROCESS_NAME, name, VITALS_STALE);
    builder_shared(builder, VITALS_PROCESS_USER, NULL, VITALS_OUTSIDE);
    builder_shared(builder, VITALS_PROCESS_CGROUP, NULL, VITALS_HAVE);
    builder_rest(builder, VITALS_TABLE_PROCESS, VITALS_NOT_YET);
    vitals_snapshot *snapshot = finish(builder);
    shared_text_unref(name);

    const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, NULL);
    uint64_t pid = 0;
    int64_t nice = 0;
    vitals_text word;
    CHECK_FALSE(vitals_snapshot_has_table(snapshot, VITALS_TABLE_HOST));
    CHECK_INT(vitals_row_u64(row, VITALS_PROCESS_PID, &pid), VITALS_HAVE);
    CHECK_UINT(pid, 12);
    CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_NICE, &nice), VITALS_HAVE);
    CHECK_INT(nice, -3);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_CPU_SECONDS), VITALS_DENIED);
    CHECK_INT(vitals_row_text(row, VITALS_PROCESS_NAME, &word), VITALS_STALE);
    CHECK_BYTES(word.bytes, word.size, "zsh", 3);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_USER), VITALS_OUTSIDE);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_CGROUP), VITALS_FAILED);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_RESIDENT_BYTES), VITALS_NOT_YET);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_THREADS), VITALS_NOT_REQUESTED);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
}

static void labels_are_safe_to_print(void)
{
    static const struct {
        const char *given, *expected;
    } LABELS[] = {
        {"", ""},
        {"python3", "python3"},
        {"a\x1b[31mb", "a\xEF\xBF\xBD[31mb"},
        {"two\nlines", "two\xEF\xBF\xBDlines"},
        {"back\\nslash", "back\\nslash"},
        {"caf\xC3\xA9", "caf\xC3\xA9"},
        {"caf\xC3", "caf\xEF\xBF\xBD"},
        {"\xCC\x81x", "\xEF\xBF\xBDx"}, /* a mark with nothing to stand on */
        {"e\xCC\x81x", "e\xCC\x81x"},   /* a mark that has something */
        {"a\xE2\x80\xAE"
         "b",
         "a\xEF\xBF\xBD"
         "b"}, /* right-to-left override */
    };
    vitals_builder *builder = new_builder();
    for (size_t i = 0; i < CHECK_COUNT(LABELS); i++) {
        const char *label = LABELS[i].given;
        for (int pass = 0; pass < 2; pass++) { /* made safe twice is the same as once */
            vitals_builder_begin(builder);
            open_processes(builder);
            vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1, 0, text(label), 0);
            vitals_snapshot *snapshot = finish(builder);
            const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, NULL);
            CHECK_STR(vitals_row_label(row), LABELS[i].expected);
            vitals_snapshot_unref(snapshot);
            label = LABELS[i].expected;
        }
    }
    vitals_builder_free(builder);
}

static void long_labels_are_cut_between_characters(void)
{
    char given[1000];
    vitals_builder *builder = new_builder();
    for (size_t size = 240; size < 270; size++) {
        for (unsigned wide = 0; wide < 2; wide++) {
            size_t used = 0;
            while (used < size)
                used += (size_t)snprintf(given + used, 8, "%s", wide ? "\xC3\xA9" : "x");
            vitals_builder_begin(builder);
            open_processes(builder);
            vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1, 0, text(given), 0);
            vitals_snapshot *snapshot = finish(builder);
            const char *label = vitals_row_label(
                vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, NULL));
            bool cut = used > 255;
            CHECK_UINT(strlen(label), !cut ? used : wide ? 255u - 252u % 2u : 255u);
            if (cut)
                CHECK_STR(label + strlen(label) - 3, "\xE2\x80\xA6");
            CHECK(memcmp(label, given, strlen(label) - (cut ? 3 : 0)) == 0);
            vitals_snapshot_unref(snapshot);
        }
    }
    vitals_builder_free(builder);
}

static void long_text_is_cut_and_says_so(void)
{
    enum { SIZE = SHARED_TEXT_MAX + 10 };
    char *bytes = malloc(2 * SIZE);
    CHECK_NOT_NULL(bytes);
    memset(bytes, 'x', SIZE);
    for (size_t i = 0; i < 2; i++) {
        vitals_builder *builder = new_builder();
        vitals_builder_begin(builder);
        open_processes(builder);
        vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1, 0, text(""), 0);
        vitals_builder_text(builder, VITALS_PROCESS_NAME, (vitals_text){bytes, SIZE - 10 + i},
                            VITALS_HAVE);
        vitals_snapshot *snapshot = finish(builder);
        vitals_text word = {0};
        CHECK_INT(vitals_row_text(vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, NULL),
                                  VITALS_PROCESS_NAME, &word),
                  i == 0 ? VITALS_HAVE : VITALS_LOWER_BOUND);
        CHECK_UINT(word.size, SHARED_TEXT_MAX);
        vitals_snapshot_unref(snapshot);
        vitals_builder_free(builder);
    }
    /* Counted in characters, so that what JSON makes longer is not cut again. */
    for (size_t i = 0; i < SIZE; i++)
        memcpy(bytes + 2 * i, "\xC3\xA9", 2);
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    open_processes(builder);
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1, 0, text(""), 0);
    vitals_builder_text(builder, VITALS_PROCESS_NAME, (vitals_text){bytes, 2 * SIZE}, VITALS_HAVE);
    vitals_snapshot *snapshot = finish(builder);
    vitals_text word = {0};
    CHECK_INT(vitals_row_text(vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, NULL),
                              VITALS_PROCESS_NAME, &word),
              VITALS_LOWER_BOUND);
    CHECK_UINT(word.size, 2 * SHARED_TEXT_MAX);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
    free(bytes);
}

static const check_test tests[] = {
    {"each availability comes back", each_availability_comes_back},
    {"numbers stay within what JSON can hold", numbers_stay_within_what_json_can_hold},
    {"mistakes are told by finish", mistakes_are_told_by_finish},
    {"a begun snapshot is dropped by the next", a_begun_snapshot_is_dropped_by_the_next},
    {"sources fill rows with records", sources_fill_rows_with_records},
    {"labels are safe to print", labels_are_safe_to_print},
    {"long labels are cut between characters", long_labels_are_cut_between_characters},
    {"long text is cut and says so", long_text_is_cut_and_says_so},
};
CHECK_TESTS(tests)
