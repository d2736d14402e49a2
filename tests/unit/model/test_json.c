/* The JSON form of a snapshot: its very bytes, what hostile text becomes, and what happens where
 * the writer stops. That it reads back to the same bytes is proven where it is read. */
#include "check.h"

#include "util/base.h"
#include "util/buffer.h"
#include "util/memory.h"
#include "util/shared_text.h"
#include <errno.h>
#include <vitals/sys/builder.h>
#include <vitals/version.h>

static vitals_text text(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

static vitals_builder *begin(void)
{
    vitals_builder *builder = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_builder_begin(builder);
    return builder;
}

static vitals_snapshot *finish(vitals_builder *builder)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    vitals_builder_free(builder);
    return snapshot;
}

static int append(void *data, const char *bytes, size_t size)
{
    CHECK(size > 0);
    buffer_append(data, bytes, size);
    return 0;
}

/* The document; the caller ends it with buffer_done. Gives the snapshot back. */
static struct buffer json_of(vitals_snapshot *snapshot)
{
    struct buffer out = {0};
    vitals_error error;
    CHECK_OK(vitals_snapshot_json(snapshot, append, &out, &error), error);
    CHECK_FALSE(out.failed);
    CHECK_UINT(strlen(out.bytes), out.size);
    vitals_snapshot_unref(snapshot);
    return out;
}

static void add_gpus(vitals_builder *builder)
{
    static const vitals_metric COLUMNS[] = {
        VITALS_GPU_INDEX,       VITALS_GPU_NAME,          VITALS_GPU_MEMORY_USED_BYTES,
        VITALS_GPU_POWER_WATTS, VITALS_GPU_ENERGY_JOULES, VITALS_GPU_TEMPERATURE_CELSIUS,
    };
    vitals_builder_table(builder, VITALS_TABLE_GPU, COLUMNS, CHECK_COUNT(COLUMNS));
    vitals_builder_row(builder, VITALS_TABLE_GPU, 1, 0, text("0"), 86399999000000);
    vitals_builder_u64(builder, VITALS_GPU_INDEX, 0, VITALS_HAVE);
    vitals_builder_text(builder, VITALS_GPU_NAME, text("NVIDIA H200"), VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_GPU_MEMORY_USED_BYTES, 150754820096, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_GPU_POWER_WATTS, 412.375, VITALS_STALE);
    vitals_builder_read_at(builder, VITALS_GPU_POWER_WATTS, 86398499000000);
    vitals_builder_missing(builder, VITALS_GPU_ENERGY_JOULES, VITALS_UNSUPPORTED);
    vitals_builder_f64(builder, VITALS_GPU_TEMPERATURE_CELSIUS, 61, VITALS_HAVE);
    vitals_builder_row(builder, VITALS_TABLE_GPU, 2, 1, text("0:1"), 86399999000000);
    vitals_builder_u64(builder, VITALS_GPU_INDEX, 1, VITALS_HAVE);
    vitals_builder_text(builder, VITALS_GPU_NAME, text("MIG 1g.18gb"), VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_GPU_MEMORY_USED_BYTES, 0, VITALS_HAVE);
    vitals_builder_read_at(builder, VITALS_GPU_MEMORY_USED_BYTES, 86399999000000);
    vitals_builder_missing(builder, VITALS_GPU_POWER_WATTS, VITALS_UNSUPPORTED);
    vitals_builder_missing(builder, VITALS_GPU_ENERGY_JOULES, VITALS_UNSUPPORTED);
    vitals_builder_missing(builder, VITALS_GPU_TEMPERATURE_CELSIUS, VITALS_DENIED);
}

static void add_process(vitals_builder *builder)
{
    static const vitals_metric COLUMNS[] = {
        VITALS_PROCESS_PID,  VITALS_PROCESS_NAME,         VITALS_PROCESS_STATE,
        VITALS_PROCESS_NICE, VITALS_PROCESS_COMMAND_LINE, VITALS_PROCESS_CPU_SECONDS,
    };
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, COLUMNS, CHECK_COUNT(COLUMNS));
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 7, 3, text("py\"thon3"), 86400000000000);
    vitals_builder_u64(builder, VITALS_PROCESS_PID, 4321, VITALS_HAVE);
    vitals_builder_text(builder, VITALS_PROCESS_NAME, text("py\"thon3"), VITALS_HAVE);
    vitals_builder_text(builder, VITALS_PROCESS_STATE, text("running"), VITALS_HAVE);
    vitals_builder_i64(builder, VITALS_PROCESS_NICE, -5, VITALS_HAVE);
    vitals_builder_text(builder, VITALS_PROCESS_COMMAND_LINE,
                        (vitals_text){"python3\0train.py\0--lr\0"
                                      "1e-4\0",
                                      27},
                        VITALS_HAVE);
    vitals_builder_read_at(builder, VITALS_PROCESS_COMMAND_LINE, 86392000000000);
    vitals_builder_f64(builder, VITALS_PROCESS_CPU_SECONDS, 12.25, VITALS_ESTIMATE);
}

/* tests/fixtures/snapshot/golden.json, which docs/json.md explains. */
static void the_form_is_as_documented(void)
{
    vitals_builder *builder = begin();
    vitals_builder_origin(builder, text("node17"), text("6f5902ac-237a-4f27-bd08-f85a2ab1d13c"),
                          4026531836);
    vitals_builder_stream(builder, 5083746519028374);
    vitals_builder_moment(builder, 1795188600123456789, 90000000000000, 86400000000000, 42);
    add_process(builder); /* tables come in the order of their numbers all the same */
    add_gpus(builder);
    vitals_builder_table(builder, VITALS_TABLE_GPU_SENSOR,
                         (const vitals_metric[]){VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS}, 1);
    struct buffer out = json_of(finish(builder));
    size_t size;
    char *golden = check_read("snapshot/golden.json", &size);
    CHECK(size > 1 && golden[size - 1] == '\n');
    CHECK_BYTES(out.bytes, out.size, golden, size - 1);
    free(golden);
    buffer_done(&out);
}

static void an_empty_snapshot_is_a_document_too(void)
{
    struct buffer out = json_of(finish(begin()));
    CHECK_STR(out.bytes, "{\"schema\":1,\"vitals\":\"" VITALS_VERSION
                         "\",\"host\":{\"name\":\"\",\"boot_id\":\"\",\"pid_namespace\":0},"
                         "\"time\":\"1970-01-01T00:00:00.000000000Z\",\"realtime_ns\":\"0\","
                         "\"boottime_ns\":\"0\",\"monotonic_ns\":\"0\",\"stream\":0,\"sequence\":0,"
                         "\"columns\":{},\"tables\":{}}");
    buffer_done(&out);
}

static void what_nobody_wrote_is_seen(void)
{
    vitals_builder *builder = begin();
    vitals_builder_table(builder, VITALS_TABLE_CPU, (const vitals_metric[]){VITALS_CPU_INDEX}, 1);
    vitals_builder_row(builder, VITALS_TABLE_CPU, 1, 0, text("cpu0"), 0);
    struct buffer out = json_of(finish(builder));
    CHECK_CONTAINS(out.bytes, "{\"cpu\":[{\"key\":1,\"label\":\"cpu0\",\"age_ns\":0,"
                              "\"index\":null,\"availability\":{\"index\":\"unset\"}}]}}");
    buffer_done(&out);
}

static void each_availability_has_its_word(void)
{
    for (int state = VITALS_AVAILABILITY_MIN; state <= VITALS_AVAILABILITY_MAX; state++) {
        vitals_availability given = (vitals_availability)state;
        const char *word = vitals_availability_name(given);
        char expected[128];
        vitals_builder *builder = begin();
        vitals_builder_table(builder, VITALS_TABLE_CPU, (const vitals_metric[]){VITALS_CPU_INDEX},
                             1);
        vitals_builder_row(builder, VITALS_TABLE_CPU, 1, 0, text("cpu0"), 0);
        vitals_builder_u64(builder, VITALS_CPU_INDEX, 3, given);
        struct buffer out = json_of(finish(builder));
        CHECK_CASE(word);
        if (given == VITALS_HAVE)
            snprintf(expected, sizeof expected, "\"index\":3}]}}");
        else
            snprintf(expected, sizeof expected,
                     "\"index\":%s,\"availability\":{\"index\":\"%s\"}}]}}",
                     state > 0 ? "3" : "null", word);
        CHECK_CONTAINS(out.bytes, expected);
        buffer_done(&out);
    }
}

static void check_head(uint64_t realtime_ns, const char *time)
{
    vitals_builder *builder = begin();
    vitals_builder_moment(builder, realtime_ns, 0, 0, 1);
    struct buffer out = json_of(finish(builder));
    char expected[128];
    snprintf(expected, sizeof expected, "\"time\":\"%s\",\"realtime_ns\":\"%llu\",", time,
             (unsigned long long)realtime_ns);
    CHECK_CONTAINS(out.bytes, expected);
    buffer_done(&out);
}

static void times_are_dates_of_the_calendar(void)
{
    static const uint64_t NS = 1000000000;
    check_head(0, "1970-01-01T00:00:00.000000000Z");
    check_head(1, "1970-01-01T00:00:00.000000001Z");
    check_head(951782399 * NS, "2000-02-28T23:59:59.000000000Z");
    check_head(951782400 * NS, "2000-02-29T00:00:00.000000000Z");
    check_head(951868800 * NS, "2000-03-01T00:00:00.000000000Z");
    check_head(1709164800 * NS, "2024-02-29T00:00:00.000000000Z");
    check_head(1767225599 * NS + 999999999, "2025-12-31T23:59:59.999999999Z");
    check_head(4107542400 * NS, "2100-03-01T00:00:00.000000000Z");
    check_head(UINT64_MAX, "2554-07-21T23:34:33.709551615Z");
}

static void check_age(uint64_t monotonic_ns, uint64_t stamp_ns, const char *age)
{
    vitals_builder *builder = begin();
    vitals_builder_table(builder, VITALS_TABLE_CPU, NULL, 0);
    vitals_builder_row(builder, VITALS_TABLE_CPU, 1, 0, text("cpu0"), stamp_ns);
    vitals_builder_moment(builder, 0, 0, monotonic_ns, 1);
    struct buffer out = json_of(finish(builder));
    char expected[128];
    snprintf(expected, sizeof expected,
             "\"columns\":{\"cpu\":[]},\"tables\":{\"cpu\":"
             "[{\"key\":1,\"label\":\"cpu0\",\"age_ns\":%s}]}}",
             age);
    CHECK_CONTAINS(out.bytes, expected);
    buffer_done(&out);
}

static void ages_are_exact_or_104_days(void)
{
    check_age(1000, 400, "600");
    check_age(400, 1000, "-600");
    check_age(EXACT_MAX, 0, "9007199254740992");
    check_age(UINT64_MAX, 0, "9007199254740992");
    check_age(0, UINT64_MAX, "-9007199254740992");
}

/* Seen only where it is not the row's, and where JSON can tell the two apart. */
static void check_own_age(uint64_t stamp_ns, uint64_t read_ns, vitals_availability state,
                          const char *rest)
{
    vitals_builder *builder = begin();
    vitals_builder_table(builder, VITALS_TABLE_CPU, (const vitals_metric[]){VITALS_CPU_INDEX}, 1);
    vitals_builder_row(builder, VITALS_TABLE_CPU, 1, 0, text("cpu0"), stamp_ns);
    vitals_builder_u64(builder, VITALS_CPU_INDEX, 3, state);
    vitals_builder_read_at(builder, VITALS_CPU_INDEX, read_ns);
    vitals_builder_moment(builder, 0, 0, 2 * EXACT_MAX, 1);
    struct buffer out = json_of(finish(builder));
    CHECK_CONTAINS(out.bytes, rest);
    buffer_done(&out);
}

static void a_value_tells_its_own_age(void)
{
    const uint64_t now = 2 * EXACT_MAX;
    check_own_age(now, now, VITALS_HAVE, "\"index\":3}]}}");
    check_own_age(now, now - 5, VITALS_HAVE, "\"index\":3,\"ages_ns\":{\"index\":5}}]}}");
    check_own_age(now - 5, now, VITALS_HAVE, "\"index\":3,\"ages_ns\":{\"index\":0}}]}}");
    check_own_age(now, now + 5, VITALS_HAVE, "\"index\":3,\"ages_ns\":{\"index\":-5}}]}}");
    check_own_age(now, 0, VITALS_HAVE, "\"ages_ns\":{\"index\":9007199254740992}}]}}");
    check_own_age(1, 0, VITALS_HAVE, "\"age_ns\":9007199254740992,\"index\":3}]}}");
    check_own_age(now, 0, VITALS_DENIED, "\"availability\":{\"index\":\"denied\"}}]}}");
    check_own_age(now, now - 5, VITALS_STALE,
                  "\"availability\":{\"index\":\"stale\"},\"ages_ns\":{\"index\":5}}]}}");
}

static void keys_and_counts_go_to_2_to_the_53(void)
{
    vitals_builder *builder = begin();
    vitals_builder_moment(builder, 0, 0, 0, UINT64_MAX);
    vitals_builder_stream(builder, EXACT_MAX + 1);                  /* likewise */
    vitals_builder_origin(builder, text(""), text(""), UINT64_MAX); /* cannot be: not known */
    vitals_builder_table(builder, VITALS_TABLE_GPU, (const vitals_metric[]){VITALS_GPU_INDEX}, 1);
    vitals_builder_row(builder, VITALS_TABLE_GPU, EXACT_MAX, EXACT_MAX, text("x"), 0);
    vitals_builder_u64(builder, VITALS_GPU_INDEX, UINT64_MAX, VITALS_HAVE);
    struct buffer out = json_of(finish(builder));
    CHECK_CONTAINS(out.bytes, "\"pid_namespace\":0}");
    CHECK_CONTAINS(out.bytes, "\"stream\":0,\"sequence\":9007199254740992,");
    CHECK_CONTAINS(out.bytes, "{\"key\":9007199254740992,\"parent\":9007199254740992,");
    CHECK_CONTAINS(out.bytes, "\"index\":9007199254740992,"
                              "\"availability\":{\"index\":\"lower_bound\"}}");
    buffer_done(&out);
}

/* ---- text ---- */

/* What stands between the quotes of a process's name. */
static struct buffer name_in_json(vitals_text name)
{
    vitals_builder *builder = begin();
    vitals_builder_table(builder, VITALS_TABLE_PROCESS,
                         (const vitals_metric[]){VITALS_PROCESS_NAME}, 1);
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1, 0, text(""), 0);
    vitals_builder_text(builder, VITALS_PROCESS_NAME, name, VITALS_HAVE);
    struct buffer out = json_of(finish(builder));
    static const char BEFORE[] = "\"age_ns\":0,\"name\":\"";
    char *from = strstr(out.bytes, BEFORE);
    CHECK_NOT_NULL(from);
    from += sizeof BEFORE - 1;
    CHECK_STR(out.bytes + out.size - 5, "\"}]}}");
    out.size -= (size_t)(from - out.bytes) + 5;
    memmove(out.bytes, from, out.size);
    out.bytes[out.size] = '\0';
    return out;
}

static void hostile_text_stays_inside_its_string(void)
{
    static const struct {
        const char *given;
        size_t size;
        const char *expected;
    } CASES[] = {
        {"", 0, ""},
        {"\",\"pid\":1,\"x\":\"", 15, "\\\",\\\"pid\\\":1,\\\"x\\\":\\\""},
        {"a\nb\\c", 5, "a\\nb\\\\c"},
        {"nul\0s\0", 6, "nul\\u0000s\\u0000"},
        {"\x1b[2J", 4, "\\u001b[2J"},
        {"\xff\xfe", 2, "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"caf\xC3\xA9", 5, "caf\xC3\xA9"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct buffer out = name_in_json((vitals_text){CASES[i].given, CASES[i].size});
        CHECK_CASE(CASES[i].expected);
        CHECK_STR(out.bytes, CASES[i].expected);
        buffer_done(&out);
    }
}

/* Long text is escaped in parts; where they meet must not be seen, whatever lies there. */
static void long_text_is_as_if_escaped_at_once(void)
{
    static const char *const UNITS[] = {
        "x",  "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\x80", "\xF0\x9F\x98", "\x01",
        "\"", "\xC3",     "\xE2\x82",     "\xF3\xA0\x81\x81", /* hidden: a pair of escapes */
    };
    enum { SIZE = 20000 };
    char *bytes = malloc(SIZE + 8);
    char *expected = malloc(SIZE * 6 + 1);
    CHECK(bytes != NULL && expected != NULL);
    for (size_t unit = 0; unit < CHECK_COUNT(UNITS); unit++) {
        for (size_t shift = 0; shift < 5; shift++) {
            size_t size = shift, unit_size = strlen(UNITS[unit]);
            memset(bytes, 'a', shift);
            for (; size < SIZE; size += unit_size)
                memcpy(bytes + size, UNITS[unit], unit_size);
            vitals_text name = {bytes, SIZE}; /* cut anywhere */
            size_t expected_size = vitals_text_format(name, VITALS_TEXT_JSON, expected,
                                                      SIZE * 6 + 1);
            struct buffer out = name_in_json(name);
            CHECK_BYTES(out.bytes, out.size, expected, expected_size);
            buffer_done(&out);
        }
    }
    free(bytes);
    free(expected);
}

static void the_longest_text_passes(void)
{
    char *bytes = malloc(SHARED_TEXT_MAX);
    CHECK_NOT_NULL(bytes);
    memset(bytes, 0, SHARED_TEXT_MAX);
    struct buffer out = name_in_json((vitals_text){bytes, SHARED_TEXT_MAX});
    CHECK_UINT(out.size, 6u * SHARED_TEXT_MAX);
    buffer_done(&out);
    free(bytes);
}

/* ---- the writer ---- */

static vitals_snapshot *many_rows(size_t count)
{
    vitals_builder *builder = begin();
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, (const vitals_metric[]){VITALS_PROCESS_PID},
                         1);
    for (size_t i = 0; i < count; i++) {
        vitals_builder_row(builder, VITALS_TABLE_PROCESS, i + 1, 0, text("some process"), 0);
        vitals_builder_u64(builder, VITALS_PROCESS_PID, i, VITALS_HAVE);
    }
    return finish(builder);
}

struct limited {
    unsigned calls, allowed;
};

static int write_some(void *data, const char *bytes, size_t size)
{
    struct limited *limited = data;
    (void)bytes;
    (void)size;
    return ++limited->calls > limited->allowed ? 32 : 0;
}

static void a_writer_that_stops_is_not_called_again(void)
{
    vitals_snapshot *snapshot = many_rows(2000);
    struct limited limited = {.allowed = UINT32_MAX};
    vitals_error error = {0};
    CHECK_OK(vitals_snapshot_json(snapshot, write_some, &limited, &error), error);
    unsigned calls = limited.calls;
    CHECK(calls > 3);
    for (unsigned allowed = 0; allowed < calls; allowed++) {
        limited = (struct limited){.allowed = allowed};
        CHECK_INT(vitals_snapshot_json(snapshot, write_some, &limited, &error), VITALS_ESYSTEM);
        CHECK_UINT(limited.calls, allowed + 1);
        CHECK_INT(error.detail, 32);
        CHECK_STR(error.message, "snapshot: the writer stopped");
    }
    limited = (struct limited){.allowed = 0};
    CHECK_INT(vitals_snapshot_json(snapshot, write_some, &limited, NULL), VITALS_ESYSTEM);
    vitals_snapshot_unref(snapshot);
}

static void writing_allocates_nothing(void)
{
    vitals_snapshot *snapshot = many_rows(2000);
    struct limited limited = {.allowed = UINT32_MAX};
    uint64_t asked = memory_asked();
    CHECK_INT(vitals_snapshot_json(snapshot, write_some, &limited, NULL), 0);
    CHECK_UINT(memory_asked() - asked, 0);
    vitals_snapshot_unref(snapshot);
}

static void a_stream_is_a_writer(void)
{
    vitals_snapshot *snapshot = many_rows(3);
    vitals_error error;
    char *bytes = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&bytes, &size), *full = fopen("/dev/full", "w");
    CHECK_NOT_NULL(memory);
    CHECK_NOT_NULL(full);
    CHECK_OK(vitals_snapshot_json(snapshot, vitals_file_write, memory, &error), error);
    CHECK_INT(fclose(memory), 0);
    struct buffer whole = json_of(snapshot); /* which gives the snapshot back */
    CHECK_BYTES(bytes, size, whole.bytes, whole.size);
    free(bytes);
    buffer_done(&whole);

    snapshot = many_rows(3);
    setbuf(full, NULL);
    CHECK_INT(vitals_snapshot_json(snapshot, vitals_file_write, full, &error), VITALS_ESYSTEM);
    CHECK_INT(error.detail, ENOSPC);
    fclose(full);
    vitals_snapshot_unref(snapshot);
}

static const check_test tests[] = {
    {"the form is as documented", the_form_is_as_documented},
    {"an empty snapshot is a document too", an_empty_snapshot_is_a_document_too},
    {"what nobody wrote is seen", what_nobody_wrote_is_seen},
    {"each availability has its word", each_availability_has_its_word},
    {"times are dates of the calendar", times_are_dates_of_the_calendar},
    {"ages are exact or 104 days", ages_are_exact_or_104_days},
    {"a value tells its own age", a_value_tells_its_own_age},
    {"keys and counts go to 2 to the 53", keys_and_counts_go_to_2_to_the_53},
    {"hostile text stays inside its string", hostile_text_stays_inside_its_string},
    {"long text is as if escaped at once", long_text_is_as_if_escaped_at_once},
    {"the longest text passes", the_longest_text_passes},
    {"a writer that stops is not called again", a_writer_that_stops_is_not_called_again},
    {"writing allocates nothing", writing_allocates_nothing},
    {"a stream is a writer", a_stream_is_a_writer},
};
CHECK_TESTS(tests)
