/* Snapshots: what a builder puts in is what a reader gets out, in order, with how good it is; the
 * n-th failed allocation harms nothing; and a steady stream allocates nothing. */
#include "check.h"

#include "core/memory.h"
#include "snapshot/builder.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

static vitals_text text(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

static vitals_builder *new_builder(void)
{
    vitals_builder *builder = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    return builder;
}

static vitals_snapshot *finish(vitals_builder *builder)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    CHECK_NOT_NULL(snapshot);
    return snapshot;
}

/* Finish must fail and say this. */
static void check_refused(vitals_builder *builder, vitals_code code, const char *message)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {0};
    CHECK_INT(vitals_builder_finish(builder, &snapshot, &error), code);
    CHECK_INT(error.code, code);
    CHECK_STR(error.message, message);
    CHECK_NULL(snapshot);
    CHECK_INT(vitals_builder_finish(builder, &snapshot, NULL), code);
}

static const vitals_metric PROCESS_COLUMNS[] = {
    VITALS_PROCESS_NAME,        VITALS_PROCESS_PID,  VITALS_PROCESS_START_SECONDS,
    VITALS_PROCESS_CPU_SECONDS, VITALS_PROCESS_NICE, VITALS_PROCESS_RESIDENT_BYTES,
};

static void open_processes(vitals_builder *builder)
{
    vitals_builder_table(builder, VITALS_PROCESS, PROCESS_COLUMNS, CHECK_COUNT(PROCESS_COLUMNS));
}

static void add_process(vitals_builder *builder, uint64_t key)
{
    char name[32];
    snprintf(name, sizeof name, "process %u", (unsigned)key);
    vitals_builder_row(builder, VITALS_PROCESS, key, 0, text(name), 1000 + key);
    vitals_builder_text(builder, VITALS_PROCESS_NAME, text(name), VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_PROCESS_PID, key * 10, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_PROCESS_START_SECONDS, (double)key / 4, VITALS_HAVE);
    vitals_builder_i64(builder, VITALS_PROCESS_NICE, -(int64_t)key, VITALS_HAVE);
}

static void check_process(const vitals_row *row, uint64_t key)
{
    char name[32];
    uint64_t pid = 0;
    int64_t nice = 0;
    double start = 0;
    vitals_text given = {0};
    snprintf(name, sizeof name, "process %u", (unsigned)key);
    CHECK_NOT_NULL(row);
    CHECK_UINT(vitals_row_entity(row), VITALS_PROCESS);
    CHECK_UINT(vitals_row_key(row), key);
    CHECK_UINT(vitals_row_parent(row), 0);
    CHECK_UINT(vitals_row_stamp_ns(row), 1000 + key);
    CHECK_STR(vitals_row_label(row), name);
    CHECK_INT(vitals_row_text(row, VITALS_PROCESS_NAME, &given), VITALS_HAVE);
    CHECK_BYTES(given.bytes, given.size, name, strlen(name));
    CHECK_INT(vitals_row_u64(row, VITALS_PROCESS_PID, &pid), VITALS_HAVE);
    CHECK_UINT(pid, key * 10);
    CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_NICE, &nice), VITALS_HAVE);
    CHECK_INT(nice, -(int64_t)key);
    CHECK_INT(vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &start), VITALS_HAVE);
    CHECK_NEAR(start, (double)key / 4, 0);
}

static void what_goes_in_comes_out(void)
{
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text("box\n"), text("b00t"), 4026531836);
    vitals_builder_stream(builder, 5);
    vitals_builder_moment(builder, 1, 2, 3, 4);
    open_processes(builder);
    for (uint64_t key = 1; key <= 100; key++)
        add_process(builder, key);
    vitals_snapshot *snapshot = finish(builder);
    vitals_builder_free(builder); /* the snapshot outlives it */

    vitals_text host = vitals_snapshot_host(snapshot), boot = vitals_snapshot_boot_id(snapshot);
    CHECK_BYTES(host.bytes, host.size, "box\xEF\xBF\xBD", 6);
    CHECK_BYTES(boot.bytes, boot.size, "b00t", 4);
    CHECK_UINT(vitals_snapshot_pid_namespace(snapshot), 4026531836);
    CHECK_UINT(vitals_snapshot_realtime_ns(snapshot), 1);
    CHECK_UINT(vitals_snapshot_boottime_ns(snapshot), 2);
    CHECK_UINT(vitals_snapshot_monotonic_ns(snapshot), 3);
    CHECK_UINT(vitals_snapshot_sequence(snapshot), 4);
    CHECK_UINT(vitals_snapshot_stream(snapshot), 5);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_PROCESS), 100);
    size_t count = 0;
    const uint64_t *keys = vitals_snapshot_keys(snapshot, VITALS_PROCESS, &count);
    CHECK_UINT(count, 100);
    uint64_t key = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        CHECK(vitals_snapshot_row(snapshot, VITALS_PROCESS, key) == row);
        CHECK_UINT(keys[key], key + 1);
        check_process(row, ++key);
        CHECK(vitals_row_snapshot(row) == snapshot);
    }
    CHECK_UINT(key, 100);
    CHECK_NULL(vitals_snapshot_row(snapshot, VITALS_PROCESS, 100));
    CHECK_NULL(vitals_snapshot_row(snapshot, VITALS_PROCESS, SIZE_MAX));
    vitals_snapshot_unref(snapshot);
}

static void what_was_not_asked_for_is_not_there(void)
{
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    open_processes(builder);
    add_process(builder, 1);
    /* A source offers all it knows: these columns and tables are not open. */
    vitals_builder_row(builder, VITALS_GPU, 1, 0, text("0"), 0);
    vitals_builder_row(builder, 77, 1, 0, text("0"), 0);
    vitals_builder_u64(builder, VITALS_PROCESS_THREADS, 1, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_GPU_POWER_WATTS, 1, VITALS_HAVE);
    vitals_builder_missing(builder, VITALS_HOST_NAME, VITALS_DENIED);
    CHECK(builder_wants(builder, VITALS_PROCESS_PID));
    CHECK_FALSE(builder_wants(builder, VITALS_PROCESS_THREADS));
    CHECK_FALSE(builder_wants(builder, VITALS_HOST_NAME));
    CHECK_FALSE(builder_wants(builder, 0xffffffff));
    vitals_snapshot *snapshot = finish(builder);

    CHECK(vitals_snapshot_has_entity(snapshot, VITALS_PROCESS));
    CHECK_FALSE(vitals_snapshot_has_entity(snapshot, VITALS_GPU));
    CHECK_FALSE(vitals_snapshot_has_entity(snapshot, 0));
    CHECK_FALSE(vitals_snapshot_has_entity(snapshot, 77));
    CHECK(vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_NAME));
    CHECK_FALSE(vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_THREADS));
    CHECK_FALSE(vitals_snapshot_has_metric(snapshot, 0x08ff));
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_GPU), 0);
    CHECK_NULL(vitals_snapshot_next(snapshot, VITALS_GPU, NULL));
    CHECK_NULL(vitals_snapshot_find(snapshot, VITALS_GPU, 1));
    CHECK_NULL(vitals_snapshot_row(snapshot, VITALS_GPU, 0));
    size_t keys = 7;
    CHECK_NULL(vitals_snapshot_keys(snapshot, VITALS_GPU, &keys));
    CHECK_UINT(keys, 0);
    CHECK_NULL(vitals_snapshot_keys(snapshot, 77, NULL));
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_PROCESS, 1);
    CHECK_NOT_NULL(row);
    CHECK_NULL(vitals_snapshot_next(snapshot, VITALS_GPU, row));

    uint64_t number = 7;
    int64_t signed_number = 7;
    double real = 7;
    vitals_text given = {"7", 1};
    CHECK_INT(vitals_row_u64(row, VITALS_PROCESS_THREADS, &number), VITALS_NOT_REQUESTED);
    CHECK_INT(vitals_row_number(row, VITALS_PROCESS_THREADS, &real), VITALS_NOT_REQUESTED);
    CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_THREADS), VITALS_NOT_REQUESTED);
    CHECK_INT(vitals_row_f64(row, VITALS_PROCESS_THREADS, &real), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_u64(row, VITALS_GPU_INDEX, &number), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_availability(row, VITALS_GPU_INDEX), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_u64(row, 0x08ff, &number), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_number(row, 0x08ff, &real), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_availability(row, 0), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_u64(row, VITALS_PROCESS_NICE, &number), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_PID, &signed_number), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_f64(row, VITALS_PROCESS_PID, &real), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_text(row, VITALS_PROCESS_PID, &given), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_number(row, VITALS_PROCESS_NAME, &real), VITALS_WRONG_METRIC);
    CHECK_UINT(number, 7);
    CHECK_INT(signed_number, 7);
    CHECK_NEAR(real, 7, 0);
    CHECK_STR(given.bytes, "7");
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
}

static void rows_come_in_the_order_of_keys(void)
{
    enum { COUNT = 1000 };
    for (unsigned seed = 0; seed < 3; seed++) {
        vitals_builder *builder = new_builder();
        vitals_builder_begin(builder);
        open_processes(builder);
        /* A permutation of 1 … COUNT: 7 has no factor in common with 1000. */
        for (unsigned i = 0; i < COUNT; i++)
            add_process(builder, (i * 7 + seed) % COUNT + 1);
        vitals_snapshot *snapshot = finish(builder);
        uint64_t key = 0;
        for (const vitals_row *row = NULL;
             (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
            check_process(row, ++key);
            CHECK(vitals_snapshot_find(snapshot, VITALS_PROCESS, key) == row);
        }
        CHECK_UINT(key, COUNT);
        CHECK_NULL(vitals_snapshot_find(snapshot, VITALS_PROCESS, 0));
        CHECK_NULL(vitals_snapshot_find(snapshot, VITALS_PROCESS, COUNT + 1));

        const signed char *states = NULL;
        size_t count = 0;
        const uint64_t *pids = vitals_snapshot_column(snapshot, VITALS_PROCESS_PID, &states,
                                                      &count);
        CHECK_UINT(count, COUNT);
        for (size_t i = 0; i < count; i++) {
            CHECK_UINT(pids[i], (i + 1) * 10);
            CHECK_INT(states[i], VITALS_HAVE);
        }
        vitals_snapshot_unref(snapshot);
        vitals_builder_free(builder);
    }
}

static void small_tables_of_every_order_are_sorted(void)
{
    /* All orders of up to five keys. */
    static const unsigned FACTORIAL[] = {1, 1, 2, 6, 24, 120};
    vitals_builder *builder = new_builder();
    for (unsigned count = 0; count <= 5; count++) {
        for (unsigned order = 0; order < FACTORIAL[count]; order++) {
            bool taken[6] = {false};
            vitals_builder_begin(builder);
            open_processes(builder);
            for (unsigned left = count, rest = order; left > 0; left--) {
                unsigned skip = rest / FACTORIAL[left - 1];
                rest %= FACTORIAL[left - 1];
                unsigned key = 1;
                while (taken[key] || skip-- > 0)
                    key++;
                taken[key] = true;
                add_process(builder, key);
            }
            vitals_snapshot *snapshot = finish(builder);
            CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_PROCESS), count);
            for (unsigned key = 1; key <= count; key++)
                check_process(vitals_snapshot_find(snapshot, VITALS_PROCESS, key), key);
            vitals_snapshot_unref(snapshot);
        }
    }
    vitals_builder_free(builder);
}

static void columns_are_numbers_side_by_side(void)
{
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    open_processes(builder);
    vitals_snapshot *empty = finish(builder);
    size_t count = 7;
    const signed char *states = NULL;
    CHECK_NOT_NULL(vitals_snapshot_column(empty, VITALS_PROCESS_PID, &states, &count));
    CHECK_NOT_NULL(states);
    CHECK_UINT(count, 0);
    CHECK_NOT_NULL(vitals_snapshot_column(empty, VITALS_PROCESS_PID, NULL, NULL));
    CHECK_NOT_NULL(vitals_snapshot_keys(empty, VITALS_PROCESS, &count));
    CHECK_UINT(count, 0);
    static const vitals_metric NONE[] = {VITALS_PROCESS_NAME, VITALS_PROCESS_THREADS,
                                         VITALS_GPU_INDEX, 0x08ff, 0};
    for (size_t i = 0; i < CHECK_COUNT(NONE); i++) {
        signed char some;
        states = &some;
        count = 7;
        CHECK_NULL(vitals_snapshot_column(empty, NONE[i], &states, &count));
        CHECK_NULL(states);
        CHECK_UINT(count, 0);
        CHECK_NULL(vitals_snapshot_column(empty, NONE[i], NULL, NULL));
    }
    vitals_snapshot_unref(empty);
    vitals_builder_free(builder);
}

static void children_are_found_by_their_parent(void)
{
    static const vitals_metric CLOCKS[] = {VITALS_GPU_CLOCK_FREQUENCY_HERTZ};
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    vitals_builder_table(builder, VITALS_GPU_CLOCK, CLOCKS, 1);
    for (uint64_t key = 1; key <= 30; key++) {
        vitals_builder_row(builder, VITALS_GPU_CLOCK, key, key % 3, text("sm"), 0);
        vitals_builder_f64(builder, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, (double)key, VITALS_HAVE);
    }
    vitals_snapshot *snapshot = finish(builder);
    for (uint64_t parent = 0; parent < 3; parent++) {
        unsigned count = 0;
        uint64_t last = 0;
        for (const vitals_row *row = NULL;
             (row = vitals_snapshot_next_child(snapshot, VITALS_GPU_CLOCK, parent, row)) != NULL;
             count++) {
            CHECK_UINT(vitals_row_parent(row), parent);
            CHECK(vitals_row_key(row) > last);
            last = vitals_row_key(row);
        }
        CHECK_UINT(count, 10);
    }
    CHECK_NULL(vitals_snapshot_next_child(snapshot, VITALS_GPU_CLOCK, 9, NULL));
    CHECK_NULL(vitals_snapshot_next_child(snapshot, VITALS_GPU, 0, NULL));
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
}

/* Random parents, of which some have no row, against a search through all rows. */
static void a_tree_is_walked_as_if_searched(void)
{
    enum { ROWS = 60, PARENTS = 12 };
    uint64_t random = 1;
    vitals_builder *builder = new_builder();
    for (unsigned round = 0; round < 200; round++) {
        vitals_builder_begin(builder);
        open_processes(builder);
        unsigned rows = round % ROWS;
        for (unsigned i = 0; i < rows; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            /* Keys in the order of rows, and in none: 7 has no factor in common with 61. */
            uint64_t key = round % 2 ? i + 1 : i * 7 % 61 + 1;
            vitals_builder_row(builder, VITALS_PROCESS, key, (random >> 33) % PARENTS, text(""), 0);
        }
        vitals_snapshot *snapshot = finish(builder);
        size_t found = 0;
        for (uint64_t parent = 0; parent <= PARENTS; parent++) {
            const vitals_row *child = NULL;
            for (size_t i = 0; i < rows; i++) {
                const vitals_row *row = vitals_snapshot_row(snapshot, VITALS_PROCESS, i);
                if (vitals_row_parent(row) != parent)
                    continue;
                child = vitals_snapshot_next_child(snapshot, VITALS_PROCESS, parent, child);
                CHECK(child == row);
                found++;
            }
            CHECK_NULL(vitals_snapshot_next_child(snapshot, VITALS_PROCESS, parent, child));
        }
        CHECK_UINT(found, rows);
        vitals_snapshot_unref(snapshot);
    }
    vitals_builder_free(builder);
}

/* ---- when it was read ---- */

static void a_value_may_have_a_moment_of_its_own(void)
{
    vitals_builder *builder = new_builder();
    for (unsigned pass = 0; pass < 3; pass++) { /* the memory is used again */
        vitals_builder_begin(builder);
        open_processes(builder);
        for (uint64_t key = 40; key >= 1; key--) { /* grows, and is put in order */
            vitals_builder_row(builder, VITALS_PROCESS, key, 0, text(""), 1000 + key);
            vitals_builder_read_at(builder, VITALS_PROCESS_CPU_SECONDS, 1000 + key);
            vitals_builder_u64(builder, VITALS_PROCESS_PID, 5, VITALS_HAVE);
            if (key % 3 == pass)
                vitals_builder_read_at(builder, VITALS_PROCESS_PID, key);
            vitals_builder_read_at(builder, VITALS_PROCESS_NAME, 2000 + key); /* later, and first */
            vitals_builder_text(builder, VITALS_PROCESS_NAME, text("x"), VITALS_STALE);
            vitals_builder_read_at(builder, VITALS_PROCESS_RESIDENT_BYTES, 7);
            vitals_builder_missing(builder, VITALS_PROCESS_RESIDENT_BYTES, VITALS_DENIED);
            vitals_builder_read_at(builder, VITALS_PROCESS_NICE, 7);
            vitals_builder_read_at(builder, VITALS_PROCESS_NICE, 1000 + key); /* the last holds */
            vitals_builder_i64(builder, VITALS_PROCESS_NICE, 5, VITALS_HAVE);
            vitals_builder_read_at(builder, VITALS_PROCESS_THREADS, 7); /* not open */
            vitals_builder_read_at(builder, VITALS_GPU_INDEX, 7);
        }
        vitals_snapshot *snapshot = finish(builder);
        for (uint64_t key = 1; key <= 40; key++) {
            const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_PROCESS, key);
            CHECK_UINT(vitals_row_stamp_ns(row), 1000 + key);
            CHECK_UINT(vitals_row_read_ns(row, VITALS_PROCESS_PID),
                       key % 3 == pass ? key : 1000 + key);
            CHECK_UINT(vitals_row_read_ns(row, VITALS_PROCESS_NAME), 2000 + key);
            CHECK_UINT(vitals_row_read_ns(row, VITALS_PROCESS_RESIDENT_BYTES), 1000 + key);
            CHECK_UINT(vitals_row_read_ns(row, VITALS_PROCESS_NICE), 1000 + key);
            CHECK_UINT(vitals_row_read_ns(row, VITALS_PROCESS_CPU_SECONDS), 1000 + key);
            CHECK_UINT(vitals_row_read_ns(row, VITALS_PROCESS_THREADS), 0);
            CHECK_UINT(vitals_row_read_ns(row, VITALS_GPU_INDEX), 0);
            CHECK_UINT(vitals_row_read_ns(row, 0), 0);
        }
        vitals_snapshot_unref(snapshot);
    }
    vitals_builder_free(builder);
}

/* Every availability, for every type, through every setter. */
static void each_availability_comes_back(void)
{
    vitals_builder *builder = new_builder();
    for (int state = VITALS_AVAILABILITY_MIN; state <= VITALS_AVAILABILITY_MAX; state++) {
        vitals_availability given = (vitals_availability)state;
        vitals_builder_begin(builder);
        open_processes(builder);
        vitals_builder_row(builder, VITALS_PROCESS, 1, 0, text(""), 0);
        vitals_builder_u64(builder, VITALS_PROCESS_PID, 5, given);
        vitals_builder_i64(builder, VITALS_PROCESS_NICE, 5, given);
        vitals_builder_f64(builder, VITALS_PROCESS_CPU_SECONDS, 5, given);
        vitals_builder_text(builder, VITALS_PROCESS_NAME, text("five"), given);
        if (state < 0)
            vitals_builder_missing(builder, VITALS_PROCESS_RESIDENT_BYTES, given);
        vitals_snapshot *snapshot = finish(builder);
        const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_PROCESS, NULL);
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
        vitals_builder_row(builder, VITALS_PROCESS, 1 + i, 0, text(""), 0);
        vitals_builder_u64(builder, VITALS_PROCESS_PID, COUNTS[i].value, VITALS_HAVE);
    }
    static const double NOT_FINITE[] = {(double)INFINITY, -(double)INFINITY, (double)NAN};
    for (size_t i = 0; i < CHECK_COUNT(NOT_FINITE); i++) {
        vitals_builder_row(builder, VITALS_PROCESS, 10 + i, 0, text(""), 0);
        vitals_builder_f64(builder, VITALS_PROCESS_CPU_SECONDS, NOT_FINITE[i], VITALS_ESTIMATE);
    }
    vitals_builder_row(builder, VITALS_PROCESS, 20, 0, text(""), 0);
    vitals_builder_i64(builder, VITALS_PROCESS_NICE, INT64_MAX, VITALS_HAVE);
    vitals_builder_row(builder, VITALS_PROCESS, 21, 0, text(""), 0);
    vitals_builder_i64(builder, VITALS_PROCESS_NICE, INT64_MIN, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_PROCESS_CPU_SECONDS, -0.0, VITALS_HAVE);
    vitals_snapshot *snapshot = finish(builder);

    for (size_t i = 0; i < CHECK_COUNT(COUNTS); i++) {
        uint64_t value = 7;
        const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_PROCESS, 1 + i);
        CHECK_INT(vitals_row_u64(row, VITALS_PROCESS_PID, &value), COUNTS[i].state);
        CHECK_UINT(value, COUNTS[i].expected);
    }
    for (size_t i = 0; i < CHECK_COUNT(NOT_FINITE); i++)
        CHECK_INT(vitals_row_availability(vitals_snapshot_find(snapshot, VITALS_PROCESS, 10 + i),
                                          VITALS_PROCESS_CPU_SECONDS),
                  VITALS_FAILED);
    int64_t most = 0, least = 0;
    double zero = 1;
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_PROCESS, 20);
    CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_NICE, &most), VITALS_LOWER_BOUND);
    row = vitals_snapshot_find(snapshot, VITALS_PROCESS, 21);
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
    vitals_builder_table(builder, VITALS_GPU, FOREIGN, 2);
}

static void parent_without_table(vitals_builder *builder)
{
    static const vitals_metric COLUMNS[] = {VITALS_CPU_INDEX};
    vitals_builder_table(builder, VITALS_CPU, COLUMNS, 1);
    vitals_builder_row(builder, VITALS_CPU, 5, 1, text("0"), 0);
}

static void key_none(vitals_builder *builder)
{
    add_process(builder, 0);
}

static void moment_without_row(vitals_builder *builder)
{
    static const vitals_metric COLUMNS[] = {VITALS_CPU_INDEX};
    vitals_builder_table(builder, VITALS_CPU, COLUMNS, 1);
    vitals_builder_read_at(builder, VITALS_CPU_INDEX, 1);
}

static void value_without_row(vitals_builder *builder)
{
    static const vitals_metric COLUMNS[] = {VITALS_CPU_INDEX};
    vitals_builder_table(builder, VITALS_CPU, COLUMNS, 1);
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
            "snapshot: process pid is set with an availability that is none");
    refused("reason", no_reason, "snapshot: process pid is missing for a reason that is none");

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
    CHECK_FALSE(vitals_snapshot_has_entity(snapshot, VITALS_PROCESS));
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
    builder_table_of(builder, VITALS_PROCESS, &wanted);
    builder_table_of(builder, VITALS_HOST, &wanted); /* nothing of it is wanted */
    vitals_builder_row(builder, VITALS_PROCESS, 1, 0, text("zsh"), 0);
    builder_values(builder, VITALS_PROCESS, &values);
    builder_shared(builder, VITALS_PROCESS_NAME, name, VITALS_STALE);
    builder_shared(builder, VITALS_PROCESS_USER, NULL, VITALS_OUTSIDE);
    builder_shared(builder, VITALS_PROCESS_CGROUP, NULL, VITALS_HAVE);
    builder_rest(builder, VITALS_PROCESS, VITALS_NOT_YET);
    vitals_snapshot *snapshot = finish(builder);
    shared_text_unref(name);

    const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_PROCESS, NULL);
    uint64_t pid = 0;
    int64_t nice = 0;
    vitals_text word;
    CHECK_FALSE(vitals_snapshot_has_entity(snapshot, VITALS_HOST));
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
            vitals_builder_row(builder, VITALS_PROCESS, 1, 0, text(label), 0);
            vitals_snapshot *snapshot = finish(builder);
            const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_PROCESS, NULL);
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
            vitals_builder_row(builder, VITALS_PROCESS, 1, 0, text(given), 0);
            vitals_snapshot *snapshot = finish(builder);
            const char *label = vitals_row_label(
                vitals_snapshot_next(snapshot, VITALS_PROCESS, NULL));
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
        vitals_builder_row(builder, VITALS_PROCESS, 1, 0, text(""), 0);
        vitals_builder_text(builder, VITALS_PROCESS_NAME, (vitals_text){bytes, SIZE - 10 + i},
                            VITALS_HAVE);
        vitals_snapshot *snapshot = finish(builder);
        vitals_text word = {0};
        CHECK_INT(vitals_row_text(vitals_snapshot_next(snapshot, VITALS_PROCESS, NULL),
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
    vitals_builder_row(builder, VITALS_PROCESS, 1, 0, text(""), 0);
    vitals_builder_text(builder, VITALS_PROCESS_NAME, (vitals_text){bytes, 2 * SIZE}, VITALS_HAVE);
    vitals_snapshot *snapshot = finish(builder);
    vitals_text word = {0};
    CHECK_INT(vitals_row_text(vitals_snapshot_next(snapshot, VITALS_PROCESS, NULL),
                              VITALS_PROCESS_NAME, &word),
              VITALS_LOWER_BOUND);
    CHECK_UINT(word.size, 2 * SHARED_TEXT_MAX);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
    free(bytes);
}

/* ---- memory ---- */

enum { STEADY_ROWS = 1000 };

/* One tick: rows with texts that live longer than it. */
static vitals_snapshot *tick(vitals_builder *builder, struct shared_text **names, size_t rows,
                             vitals_error *error)
{
    vitals_snapshot *snapshot = NULL;
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text("host"), text("boot"), 1);
    open_processes(builder);
    for (size_t i = 0; i < rows; i++) {
        vitals_builder_row(builder, VITALS_PROCESS, rows - i, (rows - i) / 4, text("label"), i);
        vitals_builder_u64(builder, VITALS_PROCESS_PID, i, VITALS_HAVE);
        vitals_builder_read_at(builder, VITALS_PROCESS_PID, i / 2);
        builder_shared(builder, VITALS_PROCESS_NAME, names[i], VITALS_HAVE);
    }
    return vitals_builder_finish(builder, &snapshot, error) < 0 ? NULL : snapshot;
}

static void new_names(struct shared_text **names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        names[i] = shared_text_new("some name", 9);
        CHECK_NOT_NULL(names[i]);
    }
}

static void drop_names(struct shared_text **names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_UINT(atomic_load(&names[i]->refs), 1); /* no snapshot holds it any more */
        shared_text_unref(names[i]);
    }
}

static void a_steady_stream_allocates_nothing(void)
{
    static struct shared_text *names[STEADY_ROWS];
    int64_t live = memory_live();
    new_names(names, STEADY_ROWS);
    vitals_builder *builder = new_builder();
    vitals_snapshot *last = NULL;
    uint64_t asked = 0;
    for (unsigned i = 0; i < 105; i++) {
        if (i == 5)
            asked = memory_asked();
        /* A consumer keeps the newest, and gives back the one before. */
        vitals_snapshot *snapshot = tick(builder, names, STEADY_ROWS, NULL);
        CHECK_NOT_NULL(snapshot);
        CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_PROCESS), STEADY_ROWS);
        vitals_snapshot_unref(last);
        last = snapshot;
    }
    CHECK_UINT(memory_asked() - asked, 0);
    vitals_snapshot_unref(last);
    vitals_builder_free(builder);
    drop_names(names, STEADY_ROWS);
    CHECK_INT(memory_live(), live);
}

static void snapshots_outlive_the_builder_and_are_never_reused_while_held(void)
{
    enum { HELD = 20 };
    static struct shared_text *names[HELD];
    int64_t live = memory_live();
    new_names(names, HELD);
    vitals_builder *builder = new_builder();
    vitals_snapshot *held[HELD];
    for (size_t i = 0; i < HELD; i++) {
        held[i] = tick(builder, names, i + 1, NULL);
        CHECK_NOT_NULL(held[i]);
    }
    vitals_builder_free(builder);
    for (size_t i = 0; i < HELD; i++) {
        CHECK_UINT(vitals_snapshot_count(held[i], VITALS_PROCESS), i + 1);
        vitals_snapshot *shared = vitals_snapshot_ref(held[i]);
        vitals_snapshot_unref(held[i]);
        vitals_text word = {0};
        CHECK_INT(vitals_row_text(vitals_snapshot_find(shared, VITALS_PROCESS, 1),
                                  VITALS_PROCESS_NAME, &word),
                  VITALS_HAVE);
        CHECK_BYTES(word.bytes, word.size, "some name", 9);
        vitals_snapshot_unref(shared);
    }
    drop_names(names, HELD);
    CHECK_INT(memory_live(), live);
}

/* Every allocation of two ticks fails once; nothing crashes, nothing leaks, finish says so. */
static void any_allocation_may_fail(void)
{
    enum { ROWS = 300 };
    static struct shared_text *names[ROWS];
    int64_t live = memory_live();
    new_names(names, ROWS);
    unsigned failures = 0;
    for (uint64_t nth = 1;; nth++) {
        vitals_builder *builder = NULL;
        vitals_error error = {0};
        unsigned failed = 0;
        memory_fail_at(nth);
        if (vitals_builder_new(&builder, &error) < 0) {
            CHECK_INT(error.code, VITALS_EMEMORY);
            failures++;
            continue;
        }
        for (unsigned i = 0; i < 3; i++) {
            error.code = VITALS_OK;
            vitals_snapshot *snapshot = tick(builder, names, i == 0 ? 3 : ROWS, &error);
            failed += snapshot == NULL;
            CHECK_INT(error.code, snapshot != NULL ? VITALS_OK : VITALS_EMEMORY);
            vitals_snapshot_unref(snapshot);
        }
        bool all_passed = failed == 0;
        memory_fail_at(0);
        vitals_builder_free(builder);
        failures += failed;
        if (all_passed && nth > 20)
            break;
    }
    CHECK(failures > 5);
    drop_names(names, ROWS);
    CHECK_INT(memory_live(), live);
}

/* ---- threads ---- */

enum { READERS = 2, TICKS = 300 };

static _Atomic(vitals_snapshot *) slots[READERS];
static atomic_uint mistakes;
static atomic_bool over;

/* Takes what is in its slot, reads all of it, gives it back. */
static void *read_slot(void *data)
{
    _Atomic(vitals_snapshot *) *slot = data;
    while (!atomic_load(&over) || atomic_load(slot) != NULL) {
        vitals_snapshot *snapshot = atomic_exchange(slot, NULL);
        if (snapshot == NULL)
            continue;
        uint64_t sequence = vitals_snapshot_sequence(snapshot);
        for (const vitals_row *row = NULL;
             (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
            uint64_t pid = 0;
            vitals_text word = {"", 0};
            bool right = vitals_row_u64(row, VITALS_PROCESS_PID, &pid) > 0 && pid == sequence &&
                         vitals_row_text(row, VITALS_PROCESS_NAME, &word) > 0 && word.size == 9;
            atomic_fetch_add(&mistakes, right ? 0 : 1);
        }
        vitals_snapshot_unref(snapshot);
    }
    return NULL;
}

static void readers_in_other_threads_see_whole_snapshots(void)
{
    enum { ROWS = 40 };
    static struct shared_text *names[ROWS];
    int64_t live = memory_live();
    new_names(names, ROWS);
    pthread_t readers[READERS];
    for (size_t i = 0; i < READERS; i++)
        CHECK_INT(pthread_create(&readers[i], NULL, read_slot, &slots[i]), 0);
    vitals_builder *builder = new_builder();
    for (uint64_t sequence = 1; sequence <= TICKS; sequence++) {
        vitals_builder_begin(builder);
        vitals_builder_moment(builder, 0, 0, 0, sequence);
        open_processes(builder);
        for (uint64_t key = 1; key <= ROWS; key++) {
            vitals_builder_row(builder, VITALS_PROCESS, key, 0, text("x"), 0);
            vitals_builder_u64(builder, VITALS_PROCESS_PID, sequence, VITALS_HAVE);
            builder_shared(builder, VITALS_PROCESS_NAME, names[key - 1], VITALS_HAVE);
        }
        vitals_snapshot *snapshot = finish(builder);
        for (size_t i = 0; i < READERS; i++)
            vitals_snapshot_unref(atomic_exchange(&slots[i], vitals_snapshot_ref(snapshot)));
        vitals_snapshot_unref(snapshot);
    }
    vitals_builder_free(builder);
    atomic_store(&over, true);
    for (size_t i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    CHECK_UINT(atomic_load(&mistakes), 0);
    drop_names(names, ROWS);
    CHECK_INT(memory_live(), live);
}

static const check_test tests[] = {
    {"what goes in comes out", what_goes_in_comes_out},
    {"what was not asked for is not there", what_was_not_asked_for_is_not_there},
    {"rows come in the order of keys", rows_come_in_the_order_of_keys},
    {"small tables of every order are sorted", small_tables_of_every_order_are_sorted},
    {"columns are numbers side by side", columns_are_numbers_side_by_side},
    {"children are found by their parent", children_are_found_by_their_parent},
    {"a tree is walked as if searched", a_tree_is_walked_as_if_searched},
    {"a value may have a moment of its own", a_value_may_have_a_moment_of_its_own},
    {"each availability comes back", each_availability_comes_back},
    {"numbers stay within what JSON can hold", numbers_stay_within_what_json_can_hold},
    {"mistakes are told by finish", mistakes_are_told_by_finish},
    {"a begun snapshot is dropped by the next", a_begun_snapshot_is_dropped_by_the_next},
    {"sources fill rows with records", sources_fill_rows_with_records},
    {"labels are safe to print", labels_are_safe_to_print},
    {"long labels are cut between characters", long_labels_are_cut_between_characters},
    {"long text is cut and says so", long_text_is_cut_and_says_so},
    {"a steady stream allocates nothing", a_steady_stream_allocates_nothing},
    {"snapshots outlive the builder and are never reused while held",
     snapshots_outlive_the_builder_and_are_never_reused_while_held},
    {"any allocation may fail", any_allocation_may_fail},
    {"readers in other threads see whole snapshots", readers_in_other_threads_see_whole_snapshots},
};
CHECK_MAIN(tests)
