/* Text of a snapshot: strings that end in NUL, whole columns, and any value as a person reads it.
 */
#include "snapshot_world.h"

#include "feed/feed_json.h"
#include "feed/text.h"
#include <math.h>
#include <vitals/vitals.h>

static const vitals_metric COLUMNS[] = {
    VITALS_PROCESS_NAME, VITALS_PROCESS_COMMAND_LINE, VITALS_PROCESS_STATE,
    VITALS_PROCESS_PID,  VITALS_PROCESS_NICE,         VITALS_PROCESS_RESIDENT_BYTES,
};

/* A snapshot whose rows come in the order of `keys`; only the first has every value. */
static vitals_snapshot *three_rows(void)
{
    static const uint64_t KEYS[] = {30, 10, 20};
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    vitals_builder_moment(builder, 1, 2, 5000000000, 1);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, COLUMNS, CHECK_COUNT(COLUMNS));
    for (size_t i = 0; i < CHECK_COUNT(KEYS); i++) {
        vitals_builder_row(builder, VITALS_TABLE_PROCESS, KEYS[i], 0, text("row"), 3000000000);
        vitals_builder_text(builder, VITALS_PROCESS_NAME, text("before"), VITALS_HAVE);
        vitals_builder_text(builder, VITALS_PROCESS_COMMAND_LINE, text(""), VITALS_HAVE);
        vitals_builder_missing(builder, VITALS_PROCESS_STATE, VITALS_NOT_YET);
        vitals_builder_u64(builder, VITALS_PROCESS_PID, KEYS[i] * 100, VITALS_HAVE);
        vitals_builder_missing(builder, VITALS_PROCESS_RESIDENT_BYTES, VITALS_DENIED);
        vitals_builder_i64(builder, VITALS_PROCESS_NICE, -5, VITALS_HAVE);
        if (KEYS[i] == 10) {
            static const char ARGUMENTS[] = "/bin/sh\0-c\0echo 'a\nb'";
            vitals_builder_text(builder, VITALS_PROCESS_NAME, text("s\x1bh"), VITALS_HAVE);
            vitals_builder_text(builder, VITALS_PROCESS_COMMAND_LINE,
                                (vitals_text){ARGUMENTS, sizeof ARGUMENTS}, VITALS_HAVE);
            vitals_builder_u64(builder, VITALS_PROCESS_RESIDENT_BYTES, 3 << 20, VITALS_HAVE);
            vitals_builder_read_at(builder, VITALS_PROCESS_RESIDENT_BYTES, 1000000000);
        } else if (KEYS[i] == 20) {
            vitals_builder_missing(builder, VITALS_PROCESS_NAME, VITALS_GONE);
        } else {
            vitals_builder_text(builder, VITALS_PROCESS_STATE, text("zombie"), VITALS_HAVE);
        }
    }
    vitals_snapshot *snapshot = finish(builder);
    vitals_builder_free(builder);
    return snapshot;
}

/* Checks every text of a snapshot, by row and by column; returns how many there were. */
static size_t check_texts(const vitals_snapshot *snapshot)
{
    size_t found = 0;
    vitals_text host = vitals_snapshot_host(snapshot), boot = vitals_snapshot_boot_id(snapshot);
    CHECK_INT(host.bytes[host.size], 0);
    CHECK_INT(boot.bytes[boot.size], 0);
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        const signed char *states = NULL;
        size_t count = 77, place = 0;
        vitals_table table = vitals_metric_table(metric);
        const vitals_text *texts = vitals_snapshot_texts(snapshot, metric, &states, &count);
        CHECK_CASE(vitals_metric_name(metric));
        if (!vitals_snapshot_has_metric(snapshot, metric) ||
            vitals_metric_type(metric) != VITALS_TEXT) {
            CHECK_NULL(texts);
            CHECK_NULL(states);
            CHECK_UINT(count, 0);
            continue;
        }
        CHECK_NOT_NULL(texts);
        CHECK_UINT(count, vitals_snapshot_count(snapshot, table));
        for (const vitals_row *row = NULL;
             (row = vitals_snapshot_next(snapshot, table, row)) != NULL; place++) {
            vitals_text given = {"", 0};
            CHECK_INT(vitals_row_text(row, metric, &given), states[place]);
            CHECK_UINT(texts[place].size, given.size);
            CHECK(states[place] <= 0 || texts[place].bytes == given.bytes);
            CHECK(given.bytes[given.size] == '\0');
            found += states[place] > 0;
        }
        CHECK_UINT(place, count);

        /* Packed: the same bytes, and nothing behind them. */
        int64_t *offsets = malloc((count + 1) * sizeof *offsets);
        size_t size = vitals_snapshot_pack_texts(snapshot, metric, NULL, 0, NULL);
        char *packed = malloc(size + 1);
        CHECK(offsets != NULL && packed != NULL);
        packed[size] = 'x';
        CHECK_UINT(vitals_snapshot_pack_texts(snapshot, metric, packed, size, offsets), size);
        CHECK_INT(packed[size], 'x');
        CHECK_INT(offsets[0], 0);
        CHECK_UINT((size_t)offsets[count], size);
        for (size_t i = 0; i < count; i++)
            CHECK_BYTES(packed + offsets[i], (size_t)(offsets[i + 1] - offsets[i]),
                        texts[i].size != 0 ? texts[i].bytes : "", texts[i].size);
        free(offsets);
        free(packed);
    }
    return found;
}

static void every_text_ends_in_nul(void)
{
    vitals_snapshot *built = three_rows(), *read = NULL, *live = NULL;
    CHECK_UINT(check_texts(built), 6);
    vitals_snapshot_unref(built);

    /* Everything that there is to read here, and devices of the demo. */
    vitals_error error;
    vitals_options options;
    vitals_context *context = NULL;
    vitals_options_init(&options, sizeof options);
    options.backends = "demo";
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    CHECK_OK(vitals_snapshot_take(context, VITALS_SET_EVERYTHING, &live, &error), error);
    CHECK(check_texts(live) > 20);

    /* The same read back from JSON. */
    struct buffer document = {0};
    vitals_builder *builder = new_builder();
    CHECK_OK(vitals_snapshot_json(live, text_write, &document, &error), error);
    CHECK_OK(feed_json_read(&(struct feed_place){"live", 1}, document.bytes, document.size, builder,
                            &read, &error),
             error);
    CHECK_UINT(check_texts(read), check_texts(live));
    buffer_done(&document);
    vitals_builder_free(builder);
    vitals_snapshot_unref(read);
    vitals_snapshot_unref(live);
    vitals_context_free(context);
}

static void a_missing_text_is_empty(void)
{
    vitals_snapshot *snapshot = three_rows();
    const signed char *states;
    size_t count;
    const vitals_text *names = vitals_snapshot_texts(snapshot, VITALS_PROCESS_NAME, &states,
                                                     &count);
    CHECK_UINT(count, 3);
    CHECK_BYTES(names[0].bytes, names[0].size, "s\x1bh", 3);
    CHECK_INT(states[1], VITALS_GONE);
    CHECK_STR(names[1].bytes, "");
    CHECK_UINT(names[1].size, 0);
    CHECK_STR(names[2].bytes, "before");
    CHECK_NULL(vitals_snapshot_texts(snapshot, VITALS_PROCESS_PID, NULL, NULL));
    CHECK_NULL(vitals_snapshot_column(snapshot, VITALS_PROCESS_NAME, NULL, NULL));
    int64_t untouched = 77;
    CHECK_UINT(vitals_snapshot_pack_texts(snapshot, VITALS_PROCESS_PID, NULL, 0, &untouched), 0);
    CHECK_INT(untouched, 77);
    char few[5] = "....";
    CHECK_UINT(vitals_snapshot_pack_texts(snapshot, VITALS_PROCESS_NAME, few, 4, NULL), 9);
    CHECK_BYTES(few, 4, "s\x1bh\x62", 4);
    vitals_snapshot_unref(snapshot);
}

static const char *string_of(const vitals_snapshot *snapshot, uint64_t key, vitals_metric metric)
{
    static char out[64];
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, key);
    CHECK_NOT_NULL(row);
    return vitals_row_string(row, metric, VITALS_TEXT_TERMINAL, out, sizeof out);
}

static const char *command_of(const vitals_snapshot *snapshot, uint64_t key)
{
    static char out[64];
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, key);
    CHECK_NOT_NULL(row);
    return vitals_row_command(row, VITALS_TEXT_TERMINAL, out, sizeof out);
}

static void any_value_is_a_string(void)
{
    vitals_snapshot *snapshot = three_rows();
    CHECK_STR(string_of(snapshot, 10, VITALS_PROCESS_NAME), "s\\eh");
    CHECK_STR(string_of(snapshot, 10, VITALS_PROCESS_PID), "1000");
    CHECK_STR(string_of(snapshot, 10, VITALS_PROCESS_NICE), "-5");
    CHECK_STR(string_of(snapshot, 10, VITALS_PROCESS_RESIDENT_BYTES), "3.00MiB");
    CHECK_STR(string_of(snapshot, 20, VITALS_PROCESS_RESIDENT_BYTES), "denied");
    CHECK_STR(string_of(snapshot, 20, VITALS_PROCESS_NAME), "gone");
    CHECK_STR(string_of(snapshot, 20, VITALS_PROCESS_COMMAND_LINE), "");
    CHECK_STR(string_of(snapshot, 10, VITALS_PROCESS_COMMAND_LINE), command_of(snapshot, 10));
    CHECK_STR(string_of(snapshot, 10, VITALS_PROCESS_THREADS), "not_requested");
    CHECK_STR(string_of(snapshot, 10, VITALS_GPU_NAME), "wrong_metric");
    CHECK_STR(string_of(snapshot, 10, 0xffff), "wrong_metric");

    /* Cut, and no room at all. */
    char out[4] = "...";
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, 10);
    CHECK_STR(vitals_row_string(row, VITALS_PROCESS_PID, VITALS_TEXT_CSV, out, sizeof out), "100");
    CHECK_STR(vitals_row_string(row, VITALS_PROCESS_PID, VITALS_TEXT_CSV, NULL, 0), "");
    CHECK_STR(vitals_row_command(row, VITALS_TEXT_CSV, NULL, 0), "");
    vitals_snapshot_unref(snapshot);
}

static void a_command_is_one_line(void)
{
    vitals_snapshot *snapshot = three_rows();
    CHECK_STR(command_of(snapshot, 10), "/bin/sh -c 'echo '\\''a\\nb'\\'''");
    CHECK_STR(command_of(snapshot, 20), "gone");
    CHECK_STR(command_of(snapshot, 30), "[before] (zombie)");
    vitals_snapshot_unref(snapshot);
}

/* Longer than what is on the stack; each byte counts, and a cut one ends in NUL. */
static void a_long_command_is_whole(void)
{
    enum { SIZE = 20000 };
    static char line[SIZE], out[SIZE + 1];
    memset(line, 'a', SIZE);
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, COLUMNS, CHECK_COUNT(COLUMNS));
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1, 0, text("1"), 1);
    vitals_builder_text(builder, VITALS_PROCESS_COMMAND_LINE, (vitals_text){line, SIZE},
                        VITALS_HAVE);
    vitals_snapshot *snapshot = finish(builder);
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, 1);
    static const size_t ROOMS[] = {1, 2, 4095, 4096, 4097, 5000, SIZE + 1};
    for (size_t i = 0; i < CHECK_COUNT(ROOMS); i++) {
        memset(out, 'z', sizeof out);
        const char *given = vitals_row_command(row, VITALS_TEXT_ASCII, out, ROOMS[i]);
        CHECK(given == out);
        CHECK_UINT(strlen(given), ROOMS[i] - 1);
    }
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
}

static void a_gpu_process_has_the_command_of_its_process(void)
{
    static const vitals_metric NAMES[] = {VITALS_PROCESS_NAME};
    static const vitals_metric USERS[] = {VITALS_GPU_PROCESS_PROCESS, VITALS_GPU_PROCESS_PID};
    char out[32];
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, NAMES, 1);
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 7, 0, text("7"), 1);
    vitals_builder_text(builder, VITALS_PROCESS_NAME, text("train"), VITALS_HAVE);
    vitals_builder_table(builder, VITALS_TABLE_GPU_PROCESS, USERS, 2);
    vitals_builder_row(builder, VITALS_TABLE_GPU_PROCESS, 1, 1, text("7"), 1);
    vitals_builder_u64(builder, VITALS_GPU_PROCESS_PROCESS, 7, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_GPU_PROCESS_PID, 4711, VITALS_HAVE);
    vitals_builder_row(builder, VITALS_TABLE_GPU_PROCESS, 2, 1, text("8"), 1);
    vitals_builder_missing(builder, VITALS_GPU_PROCESS_PROCESS, VITALS_OUTSIDE);
    vitals_builder_missing(builder, VITALS_GPU_PROCESS_PID, VITALS_OUTSIDE);
    vitals_snapshot *snapshot = finish(builder);
    const vitals_row *user = vitals_snapshot_find(snapshot, VITALS_TABLE_GPU_PROCESS, 1);
    const vitals_row *stranger = vitals_snapshot_find(snapshot, VITALS_TABLE_GPU_PROCESS, 2);
    /* Not in brackets: whether it has arguments was not asked. */
    CHECK_STR(vitals_row_command(user, VITALS_TEXT_TERMINAL, out, sizeof out), "train");
    CHECK_STR(vitals_row_command(stranger, VITALS_TEXT_TERMINAL, out, sizeof out), "outside");
    int64_t pid = 77;
    CHECK_INT(vitals_row_pid(user, &pid), VITALS_HAVE);
    CHECK_INT(pid, 4711);
    CHECK_INT(vitals_row_pid(stranger, &pid), VITALS_OUTSIDE);
    CHECK_INT(pid, 4711);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
}

static void an_age_is_never_below_zero(void)
{
    vitals_snapshot *snapshot = three_rows();
    const vitals_row *row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, 10);
    int64_t pid = 0;
    CHECK_NEAR(vitals_row_age_seconds(row, VITALS_PROCESS_NAME), 2, 0);
    CHECK_NEAR(vitals_row_age_seconds(row, VITALS_PROCESS_RESIDENT_BYTES), 4, 0);
    CHECK(isnan(vitals_row_age_seconds(row, VITALS_PROCESS_THREADS)));
    CHECK(isnan(vitals_row_age_seconds(row, VITALS_GPU_NAME)));
    CHECK_INT(vitals_row_pid(row, &pid), VITALS_HAVE);
    CHECK_INT(pid, 1000);
    vitals_snapshot_unref(snapshot);

    /* Read after the snapshot's moment was noted, and after its row. */
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    vitals_builder_moment(builder, 1, 2, 500, 1);
    vitals_builder_table(builder, VITALS_TABLE_HOST, (vitals_metric[]){VITALS_HOST_PROCESSES}, 1);
    vitals_builder_row(builder, VITALS_TABLE_HOST, 1, 0, text("host"), 400);
    vitals_builder_u64(builder, VITALS_HOST_PROCESSES, 3, VITALS_HAVE);
    vitals_builder_read_at(builder, VITALS_HOST_PROCESSES, 600);
    snapshot = finish(builder);
    row = vitals_snapshot_find(snapshot, VITALS_TABLE_HOST, 1);
    CHECK_UINT(vitals_row_read_ns(row, VITALS_HOST_PROCESSES), 600);
    CHECK_NEAR(vitals_row_age_seconds(row, VITALS_HOST_PROCESSES), 0, 0);
    CHECK_INT(vitals_row_pid(row, &pid), VITALS_WRONG_METRIC);
    CHECK_INT(pid, 1000);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
}

static void a_number_has_the_words_of_its_unit(void)
{
    static const struct {
        vitals_metric metric;
        double value;
        const char *words;
    } CASES[] = {
        {VITALS_PROCESS_RESIDENT_BYTES, 3 << 20, "3.00MiB"},
        {VITALS_PROCESS_RESIDENT_BYTES, -1, "0B"},
        {VITALS_NETWORK_MTU_BYTES, 1500, "1500B"},
        {VITALS_NETWORK_SPEED_BYTES_PER_SECOND, 125e6, "119.2MiB/s"},
        {VITALS_DESCRIPTOR_FLAGS, 0100001, "0100001"},
        {VITALS_PROCESS_UMASK, 0, "0000"},
        {VITALS_PROCESS_CPU_SECONDS, 0.25, "0.250 s"},
        {VITALS_PROCESS_CPU_SECONDS, 12.34, "12.3 s"},
        {VITALS_PROCESS_CPU_SECONDS, 4256, "1:10:56"},
        {VITALS_GPU_UTILIZATION_RATIO, 0, "0 %"},
        {VITALS_GPU_UTILIZATION_RATIO, 0.034, "3.4 %"},
        {VITALS_GPU_UTILIZATION_RATIO, 0.97, "97 %"},
        {VITALS_GPU_POWER_WATTS, 212.4, "212 W"},
        {VITALS_GPU_POWER_WATTS, 4.25, "4.2 W"},
        {VITALS_GPU_ENERGY_JOULES, 7200e3, "2.00 kWh"},
        {VITALS_GPU_TEMPERATURE_CELSIUS, 61, "61 \xC2\xB0\x43"},
        {VITALS_HOST_LOAD_1M, 0.417, "0.42"},
        {VITALS_HOST_LOAD_1M, 2, "2.00"},
        {VITALS_PROCESS_THREADS, 12, "12"},
        {VITALS_PROCESS_THREADS, 2.5, "2.50"},
        {VITALS_PROCESS_THREADS, 9007199254740992.0, "9007199254740992"},
        {VITALS_PROCESS_THREADS, (double)NAN, "N/A"},
        {VITALS_GPU_POWER_WATTS, (double)INFINITY, "N/A"},
        {VITALS_GPU_POWER_WATTS, 1e300, "1e300 W"},
        {0xffff, 3, "3"},
    };
    char out[VITALS_HUMAN];
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].words);
        CHECK_STR(vitals_metric_format(CASES[i].metric, CASES[i].value, VITALS_TEXT_TERMINAL, out),
                  CASES[i].words);
    }
    CHECK_STR(vitals_metric_format(VITALS_GPU_TEMPERATURE_CELSIUS, 61, VITALS_TEXT_ASCII, out),
              "61 C");
}

/* Moments, masks and limits: as amounts of their unit they say nothing. */
static void a_value_reads_as_a_person_expects(void)
{
    static const vitals_metric PROCESS[] = {VITALS_PROCESS_START_SECONDS, VITALS_PROCESS_UMASK,
                                            VITALS_PROCESS_KERNEL_FLAGS};
    static const vitals_metric LIMIT[] = {VITALS_LIMIT_SOFT, VITALS_LIMIT_HARD,
                                          VITALS_LIMIT_SOFT_UNLIMITED, VITALS_LIMIT_HARD_UNLIMITED};
    static const vitals_metric HOST[] = {VITALS_HOST_BOOT_TIME_SECONDS, VITALS_HOST_UPTIME_SECONDS};
    vitals_builder *builder = new_builder();
    vitals_builder_begin(builder);
    /* Read 1000 s after boot, at 2024-02-29T23:59:58.5Z. */
    vitals_builder_moment(builder, UINT64_C(1709251198500000000), UINT64_C(1000000000000), 5, 1);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, PROCESS, CHECK_COUNT(PROCESS));
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1, 0, text("1"), 1);
    vitals_builder_f64(builder, VITALS_PROCESS_START_SECONDS, 1002.25, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_PROCESS_UMASK, 022, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_PROCESS_KERNEL_FLAGS, 0x400140, VITALS_HAVE);
    vitals_builder_table(builder, VITALS_TABLE_HOST, HOST, CHECK_COUNT(HOST));
    vitals_builder_row(builder, VITALS_TABLE_HOST, 1, 0, text("1"), 1);
    vitals_builder_f64(builder, VITALS_HOST_BOOT_TIME_SECONDS, 1709250198.5, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_HOST_UPTIME_SECONDS, 1000, VITALS_HAVE);
    vitals_builder_table(builder, VITALS_TABLE_LIMIT, LIMIT, CHECK_COUNT(LIMIT));
    vitals_builder_row(builder, VITALS_TABLE_LIMIT, 1, 0, text("nofile"), 1);
    vitals_builder_u64(builder, VITALS_LIMIT_SOFT, 1024, VITALS_HAVE);
    vitals_builder_missing(builder, VITALS_LIMIT_HARD, VITALS_UNSUPPORTED);
    vitals_builder_u64(builder, VITALS_LIMIT_SOFT_UNLIMITED, 0, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_LIMIT_HARD_UNLIMITED, 1, VITALS_HAVE);
    vitals_builder_row(builder, VITALS_TABLE_LIMIT, 2, 0, text("denied"), 1);
    for (size_t i = 0; i < CHECK_COUNT(LIMIT); i++)
        vitals_builder_missing(builder, LIMIT[i], VITALS_DENIED);
    vitals_snapshot *snapshot = finish(builder);
    vitals_builder_free(builder);
    static const struct {
        vitals_table table;
        uint64_t key;
        vitals_metric metric;
        const char *words;
    } CASES[] = {
        {VITALS_TABLE_PROCESS, 1, VITALS_PROCESS_START_SECONDS, "2024-03-01T00:00:00Z"},
        {VITALS_TABLE_PROCESS, 1, VITALS_PROCESS_UMASK, "0022"},
        {VITALS_TABLE_PROCESS, 1, VITALS_PROCESS_KERNEL_FLAGS, "0x400140"},
        {VITALS_TABLE_HOST, 1, VITALS_HOST_BOOT_TIME_SECONDS, "2024-02-29T23:43:18Z"},
        {VITALS_TABLE_HOST, 1, VITALS_HOST_UPTIME_SECONDS, "16:40"},
        {VITALS_TABLE_LIMIT, 1, VITALS_LIMIT_SOFT, "1024"},
        {VITALS_TABLE_LIMIT, 1, VITALS_LIMIT_HARD, "unlimited"},
        {VITALS_TABLE_LIMIT, 2, VITALS_LIMIT_HARD, "denied"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        char out[32];
        const vitals_row *row = vitals_snapshot_find(snapshot, CASES[i].table, CASES[i].key);
        CHECK_STR(vitals_row_string(row, CASES[i].metric, VITALS_TEXT_ASCII, out, sizeof out),
                  CASES[i].words);
    }
    vitals_snapshot_unref(snapshot);
}

static void a_string_becomes_a_text(void)
{
    vitals_text given = vitals_text_of("abc");
    CHECK_BYTES(given.bytes, given.size, "abc", 3);
    CHECK_UINT(vitals_text_of(NULL).size, 0);
    CHECK_STR(vitals_text_of(NULL).bytes, "");
}

static const check_test tests[] = {
    {"every text ends in NUL", every_text_ends_in_nul},
    {"a missing text is empty", a_missing_text_is_empty},
    {"any value is a string", any_value_is_a_string},
    {"a command is one line", a_command_is_one_line},
    {"a long command is whole", a_long_command_is_whole},
    {"a gpu_process has the command of its process", a_gpu_process_has_the_command_of_its_process},
    {"an age is never below zero", an_age_is_never_below_zero},
    {"a number has the words of its unit", a_number_has_the_words_of_its_unit},
    {"a value reads as a person expects", a_value_reads_as_a_person_expects},
    {"a string becomes a text", a_string_becomes_a_text},
};
CHECK_TESTS(tests)
