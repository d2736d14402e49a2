/* Snapshots: a reader gets what a builder put in, in the order of keys, however many hold the
 * snapshot and however often its memory is reused. */
#include "snapshot_world.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vitals/history.h>
#include <vitals/psutil.h>

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
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_PROCESS), 100);
    size_t count = 0;
    const uint64_t *keys = vitals_snapshot_keys(snapshot, VITALS_TABLE_PROCESS, &count);
    CHECK_UINT(count, 100);
    uint64_t key = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL;) {
        CHECK(vitals_snapshot_row(snapshot, VITALS_TABLE_PROCESS, key) == row);
        CHECK_UINT(keys[key], key + 1);
        check_process(row, ++key);
        CHECK(vitals_row_snapshot(row) == snapshot);
    }
    CHECK_UINT(key, 100);
    CHECK_NULL(vitals_snapshot_row(snapshot, VITALS_TABLE_PROCESS, 100));
    CHECK_NULL(vitals_snapshot_row(snapshot, VITALS_TABLE_PROCESS, SIZE_MAX));
    vitals_snapshot_unref(snapshot);
}

static void what_was_not_asked_for_is_not_there(void)
{
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    open_processes(builder);
    add_process(builder, 1);
    /* A source offers all it knows: these columns and tables are not open. */
    vitals_builder_row(builder, VITALS_TABLE_GPU, 1, 0, text("0"), 0);
    vitals_builder_row(builder, 77, 1, 0, text("0"), 0);
    vitals_builder_u64(builder, VITALS_PROCESS_THREADS, 1, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_GPU_POWER_WATTS, 1, VITALS_HAVE);
    vitals_builder_missing(builder, VITALS_HOST_NAME, VITALS_DENIED);
    size_t place = 0;
    CHECK_UINT(builder_next(builder, VITALS_TABLE_PROCESS, &place), VITALS_PROCESS_PID);
    while (builder_next(builder, VITALS_TABLE_PROCESS, &place) != 0)
        continue;
    CHECK_UINT(place, CHECK_COUNT(PROCESS_COLUMNS));
    place = 0;
    CHECK_UINT(builder_next(builder, VITALS_TABLE_HOST, &place), 0);
    CHECK_UINT(builder_next(builder, 77, &place), 0);
    vitals_snapshot *snapshot = finish(builder);

    CHECK(vitals_snapshot_has_table(snapshot, VITALS_TABLE_PROCESS));
    CHECK_FALSE(vitals_snapshot_has_table(snapshot, VITALS_TABLE_GPU));
    CHECK_FALSE(vitals_snapshot_has_table(snapshot, 0));
    CHECK_FALSE(vitals_snapshot_has_table(snapshot, 77));
    CHECK(vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_NAME));
    CHECK_FALSE(vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_THREADS));
    CHECK_FALSE(vitals_snapshot_has_metric(snapshot, 0x08ff));
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), 0);
    CHECK_NULL(vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, NULL));
    CHECK_NULL(vitals_snapshot_find(snapshot, VITALS_TABLE_GPU, 1));
    CHECK_NULL(vitals_snapshot_row(snapshot, VITALS_TABLE_GPU, 0));
    size_t keys = 7;
    CHECK_NULL(vitals_snapshot_keys(snapshot, VITALS_TABLE_GPU, &keys));
    CHECK_UINT(keys, 0);
    CHECK_NULL(vitals_snapshot_keys(snapshot, 77, NULL));
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, 1);
    CHECK_NOT_NULL(row);
    CHECK_NULL(vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row));

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

/* What a look-up returns that finds nothing may be handed on: there is no value. */
static void no_row_has_no_value(void)
{
    uint64_t number = 7;
    int64_t pid = 7;
    double real = 7;
    char out[64];
    vitals_text given = {"7", 1};
    vitals_error error;
    vitals_history *history = NULL;
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    open_processes(builder);
    vitals_snapshot *snapshot = finish(builder);
    const vitals_row *none = vitals_snapshot_find_pid(snapshot, 1);
    CHECK_NULL(none);
    CHECK_INT(vitals_row_u64(none, VITALS_PROCESS_PID, &number), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_i64(none, VITALS_PROCESS_NICE, &pid), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_f64(none, VITALS_PROCESS_CPU_SECONDS, &real), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_text(none, VITALS_PROCESS_NAME, &given), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_number(none, VITALS_PROCESS_PID, &real), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_availability(none, VITALS_PROCESS_PID), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_pid(none, &pid), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_rate(none, snapshot, VITALS_PROCESS_CPU_SECONDS, &real),
              VITALS_WRONG_METRIC);
    CHECK_INT(vitals_row_growth(none, snapshot, VITALS_PROCESS_CPU_SECONDS, &real, NULL),
              VITALS_WRONG_METRIC);
    CHECK_UINT(vitals_row_read_ns(none, VITALS_PROCESS_PID), 0);
    CHECK(isnan(vitals_row_age_seconds(none, VITALS_PROCESS_PID)));
    CHECK_STR(vitals_row_string(none, VITALS_PROCESS_PID, VITALS_TEXT_TERMINAL, out, sizeof out),
              "wrong_metric");
    CHECK_STR(vitals_row_command(none, VITALS_TEXT_TERMINAL, out, sizeof out), "wrong_metric");
    CHECK_STR(vitals_row_label(none), "");
    CHECK_NULL(vitals_row_snapshot(none));
    CHECK_INT(vitals_row_table(none), VITALS_TABLE_NONE);
    CHECK_UINT(vitals_row_key(none) + vitals_row_parent(none) + vitals_row_stamp_ns(none), 0);
    CHECK_INT(vitals_psutil_create_time(none, &real), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_psutil_cpu_percent(none, NULL, &real), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_psutil_memory_percent(none, &real), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_psutil_system_cpu_percent(none, NULL, &real), VITALS_WRONG_METRIC);
    CHECK_INT(vitals_psutil_memory_used(none, &number), VITALS_WRONG_METRIC);
    CHECK_OK(vitals_history_new(0, &history, &error), error);
    CHECK_INT(vitals_history_rate(history, none, VITALS_PROCESS_CPU_SECONDS, &real),
              VITALS_WRONG_METRIC);
    vitals_history_free(history);
    CHECK_UINT(number, 7);
    CHECK_INT(pid, 7);
    CHECK_NEAR(real, 7, 0);
    CHECK_STR(given.bytes, "7");
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
}

static void a_process_is_found_by_its_pid(void)
{
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    open_processes(builder);
    for (uint64_t key = 1; key <= 50; key++)
        add_process(builder, key);
    vitals_snapshot *snapshot = finish(builder);
    for (uint64_t key = 1; key <= 50; key++) {
        int64_t pid = 0;
        const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, key);
        CHECK_INT(vitals_row_pid(row, &pid), VITALS_HAVE);
        CHECK(vitals_snapshot_find_pid(snapshot, pid) == row);
    }
    CHECK_NULL(vitals_snapshot_find_pid(snapshot, -1));
    CHECK_NULL(vitals_snapshot_find_pid(snapshot, INT64_MAX));
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
             (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL;) {
            check_process(row, ++key);
            CHECK(vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, key) == row);
        }
        CHECK_UINT(key, COUNT);
        CHECK_NULL(vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, 0));
        CHECK_NULL(vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, COUNT + 1));

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
            CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_PROCESS), count);
            for (unsigned key = 1; key <= count; key++)
                check_process(vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, key), key);
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
    CHECK_NOT_NULL(vitals_snapshot_keys(empty, VITALS_TABLE_PROCESS, &count));
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
    vitals_builder_table(builder, VITALS_TABLE_GPU_CLOCK, CLOCKS, 1);
    for (uint64_t key = 1; key <= 30; key++) {
        vitals_builder_row(builder, VITALS_TABLE_GPU_CLOCK, key, key % 3, text("sm"), 0);
        vitals_builder_f64(builder, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, (double)key, VITALS_HAVE);
    }
    vitals_snapshot *snapshot = finish(builder);
    for (uint64_t parent = 0; parent < 3; parent++) {
        unsigned count = 0;
        uint64_t last = 0;
        for (const vitals_row *row = NULL;
             (row = vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU_CLOCK, parent, row)) !=
             NULL;
             count++) {
            CHECK_UINT(vitals_row_parent(row), parent);
            CHECK(vitals_row_key(row) > last);
            last = vitals_row_key(row);
        }
        CHECK_UINT(count, 10);
    }
    CHECK_NULL(vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU_CLOCK, 9, NULL));
    CHECK_NULL(vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU, 0, NULL));
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
            vitals_builder_row(builder, VITALS_TABLE_PROCESS, key, (random >> 33) % PARENTS,
                               text(""), 0);
        }
        vitals_snapshot *snapshot = finish(builder);
        size_t found = 0;
        for (uint64_t parent = 0; parent <= PARENTS; parent++) {
            const vitals_row *child = NULL;
            for (size_t i = 0; i < rows; i++) {
                const vitals_row *row = vitals_snapshot_row(snapshot, VITALS_TABLE_PROCESS, i);
                if (vitals_row_parent(row) != parent)
                    continue;
                child = vitals_snapshot_next_child(snapshot, VITALS_TABLE_PROCESS, parent, child);
                CHECK(child == row);
                found++;
            }
            CHECK_NULL(vitals_snapshot_next_child(snapshot, VITALS_TABLE_PROCESS, parent, child));
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
            vitals_builder_row(builder, VITALS_TABLE_PROCESS, key, 0, text(""), 1000 + key);
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
            const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, key);
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

/* ---- memory ---- */

static const char *command_of(const vitals_snapshot *snapshot, uint64_t key)
{
    vitals_text command;
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, key);
    CHECK_NOT_NULL(row);
    CHECK(vitals_row_text(row, VITALS_PROCESS_COMMAND_LINE, &command) > 0);
    return command.bytes;
}

/* Rows that follow each other often say the same: that stands once. */
static void equal_texts_of_neighbours_stand_once(void)
{
    static const char *const COMMANDS[] = {"same", "same", "other", "same", NULL, "same", "", ""};
    static const vitals_metric COLUMNS[] = {VITALS_PROCESS_COMMAND_LINE};
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, COLUMNS, CHECK_COUNT(COLUMNS));
    for (size_t i = 0; i < CHECK_COUNT(COMMANDS); i++) {
        vitals_builder_row(builder, VITALS_TABLE_PROCESS, i + 1, 0, text(""), 1);
        if (COMMANDS[i] != NULL)
            vitals_builder_text(builder, COLUMNS[0], text(COMMANDS[i]), VITALS_HAVE);
        else
            vitals_builder_missing(builder, COLUMNS[0], VITALS_DENIED);
    }
    vitals_snapshot *snapshot = finish(builder);
    vitals_builder_free(builder);
    for (size_t i = 0; i < CHECK_COUNT(COMMANDS); i++)
        if (COMMANDS[i] != NULL)
            CHECK_STR(command_of(snapshot, i + 1), COMMANDS[i]);
    CHECK(command_of(snapshot, 1) == command_of(snapshot, 2));
    CHECK(command_of(snapshot, 7) == command_of(snapshot, 8));
    CHECK(command_of(snapshot, 4) != command_of(snapshot, 6)); // a missing one stands between
    vitals_snapshot_unref(snapshot);
}

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
        vitals_builder_row(builder, VITALS_TABLE_PROCESS, rows - i, (rows - i) / 4, text("label"),
                           i);
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
        CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_PROCESS), STEADY_ROWS);
        vitals_snapshot_unref(last);
        last = snapshot;
    }
    CHECK_UINT(memory_asked() - asked, 0);
    vitals_snapshot_unref(last);
    vitals_builder_free(builder);
    drop_names(names, STEADY_ROWS);
    CHECK_INT(memory_live(), live);
}

/* As many were held at once as are kept for reuse; afterwards one at a time is enough. */
static void what_a_burst_named_is_forgotten(void)
{
    enum { HELD = 4 };
    static struct shared_text *names[HELD];
    int64_t live = memory_live();
    new_names(names, HELD);
    vitals_builder *builder = new_builder();
    vitals_snapshot *held[HELD];
    for (size_t i = 0; i < HELD; i++) {
        held[i] = tick(builder, names, HELD, NULL);
        CHECK_NOT_NULL(held[i]);
    }
    for (size_t i = 0; i < HELD; i++)
        vitals_snapshot_unref(held[i]);
    for (size_t i = 0; i < HELD; i++)
        vitals_snapshot_unref(tick(builder, names, 0, NULL));
    for (size_t i = 0; i < HELD; i++)
        CHECK_UINT(atomic_load(&names[i]->refs), 1);
    vitals_builder_free(builder);
    drop_names(names, HELD);
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
        CHECK_UINT(vitals_snapshot_count(held[i], VITALS_TABLE_PROCESS), i + 1);
        vitals_snapshot *shared = vitals_snapshot_ref(held[i]);
        vitals_snapshot_unref(held[i]);
        vitals_text word = {0};
        CHECK_INT(vitals_row_text(vitals_snapshot_find(shared, VITALS_TABLE_PROCESS, 1),
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
             (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL;) {
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
            vitals_builder_row(builder, VITALS_TABLE_PROCESS, key, 0, text("x"), 0);
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

/* As free(3) does: the snapshot would be written again while another reader has it. */
static void one_that_is_released_twice_ends_the_program(void)
{
    int status;
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    open_processes(builder);
    add_process(builder, 1);
    vitals_snapshot *snapshot = finish(builder);
    vitals_snapshot_unref(vitals_snapshot_ref(snapshot));
    check_process(vitals_snapshot_row(snapshot, VITALS_TABLE_PROCESS, 0), 1);
    vitals_snapshot_unref(snapshot);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const struct rlimit none = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGABRT, SIG_DFL);
        vitals_snapshot_unref(snapshot);
        _exit(0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    CHECK_INT(WTERMSIG(status), SIGABRT);
    vitals_builder_free(builder);
}

static const check_test tests[] = {
    {"one that is released twice ends the program", one_that_is_released_twice_ends_the_program},
    {"equal texts of neighbours stand once", equal_texts_of_neighbours_stand_once},
    {"what goes in comes out", what_goes_in_comes_out},
    {"what was not asked for is not there", what_was_not_asked_for_is_not_there},
    {"no row has no value", no_row_has_no_value},
    {"a process is found by its pid", a_process_is_found_by_its_pid},
    {"rows come in the order of keys", rows_come_in_the_order_of_keys},
    {"small tables of every order are sorted", small_tables_of_every_order_are_sorted},
    {"columns are numbers side by side", columns_are_numbers_side_by_side},
    {"children are found by their parent", children_are_found_by_their_parent},
    {"a tree is walked as if searched", a_tree_is_walked_as_if_searched},
    {"a value may have a moment of its own", a_value_may_have_a_moment_of_its_own},
    {"a steady stream allocates nothing", a_steady_stream_allocates_nothing},
    {"what a burst named is forgotten", what_a_burst_named_is_forgotten},
    {"snapshots outlive the builder and are never reused while held",
     snapshots_outlive_the_builder_and_are_never_reused_while_held},
    {"any allocation may fail", any_allocation_may_fail},
    {"readers in other threads see whole snapshots", readers_in_other_threads_see_whole_snapshots},
};
CHECK_TESTS(tests)
