/* Snapshots as bytes that say what has changed: the same again, and nothing else that is taken. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "record/frame/frame.h"

#define SECOND_NS UINT64_C(1000000000)

static const vitals_metric METRICS[] = {VITALS_PROCESS_PID, VITALS_PROCESS_NAME,
                                        VITALS_PROCESS_CPU_SECONDS, VITALS_PROCESS_RESIDENT_BYTES};
enum { METRIC_COUNT = sizeof METRICS / sizeof METRICS[0], ROWS = 40 };

static vitals_text text_of(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

/* A row in every state that there is: some are missing, some of another moment, some come and go.
 */
static void add_row(vitals_builder *builder, uint64_t key, uint64_t number)
{
    const char *const NAMES[] = {"", "init", "a name \xff\n", "worker"};
    uint64_t stamp_ns = number * SECOND_NS + key % 3;
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, key, key % 5 == 0 ? 1 : 0,
                       text_of(NAMES[(key + number / 9) % 4]), stamp_ns);
    vitals_builder_u64(builder, VITALS_PROCESS_PID, key + 1000, VITALS_HAVE);
    vitals_builder_text(builder, VITALS_PROCESS_NAME, text_of(NAMES[(key + number) % 4]),
                        key % 7 == 0 ? VITALS_STALE : VITALS_HAVE);
    vitals_builder_read_at(builder, VITALS_PROCESS_NAME, (number / 3 * 3) * SECOND_NS);
    if ((key + number) % 6 == 0)
        vitals_builder_missing(builder, VITALS_PROCESS_CPU_SECONDS, VITALS_DENIED);
    else
        vitals_builder_f64(builder, VITALS_PROCESS_CPU_SECONDS,
                           (double)key * 0.1 + (double)(key % 2 * number), VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_PROCESS_RESIDENT_BYTES, 4096 * (1 + (key ^ number) % 9),
                       VITALS_LOWER_BOUND);
    vitals_builder_read_at(builder, VITALS_PROCESS_RESIDENT_BYTES, stamp_ns + key);
}

static vitals_snapshot *make(vitals_builder *builder, uint64_t number, size_t columns)
{
    vitals_snapshot *snapshot = NULL;
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text_of("here"), text_of("boot"), 4026531836u);
    vitals_builder_stream(builder, 77);
    vitals_builder_moment(builder, number * SECOND_NS + 3, number * SECOND_NS + 2,
                          number * SECOND_NS + 1, number + 1);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, METRICS, columns);
    vitals_builder_state(builder, VITALS_TABLE_PROCESS,
                         number % 2 == 0 ? VITALS_HAVE : VITALS_LOWER_BOUND);
    for (uint64_t key = 1; key <= ROWS; key++) {
        if ((key + number) % 8 != 0)
            add_row(builder, key, number);
    }
    CHECK_INT(vitals_builder_finish(builder, &snapshot, NULL), 0);
    return snapshot;
}

static void is_the_same(const vitals_snapshot *a, const vitals_snapshot *b)
{
    struct buffer one = {0}, other = {0};
    CHECK_INT(vitals_snapshot_json(a, text_write, &one, NULL), 0);
    CHECK_INT(vitals_snapshot_json(b, text_write, &other, NULL), 0);
    CHECK(one.size == other.size && memcmp(one.bytes, other.bytes, one.size) == 0);
    buffer_done(&one);
    buffer_done(&other);
}

/* Told by none, by itself, by those before and by those behind. */
static void what_is_written_is_read_again(void)
{
    enum { NUMBERS = 12 };
    vitals_builder *builder = NULL, *reader = NULL;
    vitals_snapshot *made[NUMBERS + 1] = {NULL}, *read = NULL;
    struct buffer bytes = {0};
    CHECK_INT(vitals_builder_new(&builder, NULL), 0);
    CHECK_INT(vitals_builder_new(&reader, NULL), 0);
    for (size_t i = 0; i < NUMBERS; i++)
        made[i] = make(builder, i, METRIC_COUNT);
    for (size_t base = 0; base <= NUMBERS; base++) {
        for (size_t i = 0; i < NUMBERS; i++) {
            CHECK(made[base] == NULL || change_fits(made[base], made[i]));
            CHECK(change_write(made[base], made[i], &bytes));
            CHECK_INT(change_read(made[base], bytes.bytes, bytes.size, reader, &read), 0);
            is_the_same(read, made[i]);
            vitals_snapshot_unref(read);
            size_t size = bytes.size;
            CHECK(change_write(NULL, made[i], &bytes));
            if (base == i)
                CHECK(size < bytes.size / 4); /* the moment, ages, and an end */
        }
    }
    for (size_t i = 0; i < NUMBERS; i++)
        vitals_snapshot_unref(made[i]);
    buffer_done(&bytes);
    vitals_builder_free(reader);
    vitals_builder_free(builder);
}

static void other_columns_do_not_fit(void)
{
    vitals_builder *builder = NULL;
    CHECK_INT(vitals_builder_new(&builder, NULL), 0);
    vitals_snapshot *all = make(builder, 0, METRIC_COUNT), *some = make(builder, 1, 2);
    CHECK(!change_fits(all, some));
    CHECK(!change_fits(some, all));
    CHECK(change_fits(all, all));
    vitals_snapshot_unref(all);
    vitals_snapshot_unref(some);
    vitals_builder_free(builder);
}

/* Whatever a disk gives back: a snapshot or a message, never more than there is. */
static void broken_bytes_are_refused(void)
{
    vitals_builder *builder = NULL, *reader = NULL;
    struct buffer bytes = {0};
    CHECK_INT(vitals_builder_new(&builder, NULL), 0);
    CHECK_INT(vitals_builder_new(&reader, NULL), 0);
    vitals_snapshot *base = make(builder, 0, METRIC_COUNT), *next = make(builder, 5, METRIC_COUNT);
    for (int told = 0; told < 2; told++) {
        const vitals_snapshot *by = told ? base : NULL;
        CHECK(change_write(by, next, &bytes));
        for (size_t size = 0; size < bytes.size; size++) {
            char *part = malloc(size + 1); /* so that a reading behind its end is found */
            vitals_snapshot *read = NULL;
            CHECK(part != NULL);
            memcpy(part, bytes.bytes, size);
            CHECK_INT(change_read(by, part, size, reader, &read), VITALS_EFORMAT);
            CHECK_NULL(read);
            free(part);
            for (unsigned flip = 1; flip < 256; flip *= 4) {
                bytes.bytes[size] = (char)((unsigned char)bytes.bytes[size] ^ flip);
                if (change_read(by, bytes.bytes, bytes.size, reader, &read) == 0)
                    vitals_snapshot_unref(read);
                bytes.bytes[size] = (char)((unsigned char)bytes.bytes[size] ^ flip);
            }
        }
    }
    vitals_snapshot_unref(base);
    vitals_snapshot_unref(next);
    buffer_done(&bytes);
    vitals_builder_free(reader);
    vitals_builder_free(builder);
}

/* A table, a column or a column's type that this version does not define. */
static void what_a_newer_vitals_wrote_is_told_apart(void)
{
    static const char *const ENDS[] = {"\x7f", "\x03\x01\xff\x01\x01", "\x03\x01\x02\x09"};
    vitals_builder *reader = NULL;
    CHECK_INT(vitals_builder_new(&reader, NULL), 0);
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        char bytes[32] = "\x01\x01\x01\x01\x07\x01\x01h\x01"
                         "b";
        vitals_snapshot *read = NULL;
        size_t size = 10;
        memcpy(bytes + size, ENDS[i], strlen(ENDS[i]));
        CHECK_INT(change_read(NULL, bytes, size + strlen(ENDS[i]), reader, &read),
                  VITALS_EUNSUPPORTED);
        CHECK_NULL(read);
    }
    vitals_builder_free(reader);
}

static const check_test tests[] = {
    {"what is written is read again", what_is_written_is_read_again},
    {"other columns do not fit", other_columns_do_not_fit},
    {"broken bytes are refused", broken_bytes_are_refused},
    {"what a newer vitals wrote is told apart", what_a_newer_vitals_wrote_is_told_apart},
};

CHECK_TESTS(tests)
