/* Thousands of random snapshots, hostile in every value that an outsider chooses: each becomes one
 * JSON document, is read back, and becomes the same bytes again. The generator is our own, so that
 * a failure comes back by its number. */
#include "check.h"

#include "feed/feed_json.h"
#include "util/base.h"
#include "util/buffer.h"

#include <math.h>

enum { ROUNDS = 3000, ROWS_MAX = 6, TEXT_MAX = 40, COLUMNS_MAX = 256 };

static uint64_t state;

static uint64_t any(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t mixed = (state ^ (state >> 33)) * 0xff51afd7ed558ccdu;
    return mixed ^ (mixed >> 29);
}

static uint64_t below(uint64_t limit)
{
    return (any() >> 11) % limit;
}

/* Small, or of any size up to the limit: borders are where mistakes are. */
static uint64_t up_to(uint64_t limit)
{
    uint64_t number = any() >> below(64);
    return below(4) == 0 ? limit - below(3) : number <= limit ? number : limit;
}

static uint64_t key(void)
{
    return 1 + up_to(EXACT_MAX - 1);
}

static vitals_text words(char bytes[TEXT_MAX])
{
    static const char *const PIECES[] = {
        "python3",
        "\0",
        "\n",
        "\"",
        "\\",
        "\x1b[2J",
        "\x7f",
        "caf\xC3\xA9",
        "\xC3",
        "\xE2\x82\xAC",
        "\xED\xA0\x80",
        "\xF0\x9F\x98\x80",
        "\xE2\x80\xAE",
        "\xCC\x81",
        "\xF4\x90",
        "</script>",
        " ",
        "\xEF\xBF\xBD",
    };
    size_t size = 0;
    for (uint64_t left = below(8); left != 0; left--) {
        const char *piece = PIECES[below(CHECK_COUNT(PIECES))];
        size_t piece_size = *piece == '\0' ? 1 : strlen(piece);
        if (size + piece_size > TEXT_MAX)
            break;
        memcpy(bytes + size, piece, piece_size);
        size += piece_size;
    }
    return (vitals_text){bytes, size};
}

static double real(void)
{
    double number;
    uint64_t bits = any();
    switch (below(4)) {
    case 0: return (double)below(1000) / 8;
    case 1: return -(double)up_to(EXACT_MAX);
    case 2: return (double)any() / 3e9;
    default: memcpy(&number, &bits, sizeof number); return number; /* not finite, subnormal */
    }
}

static vitals_availability any_state(void)
{
    int span = VITALS_AVAILABILITY_MAX - VITALS_AVAILABILITY_MIN + 1;
    vitals_availability given = VITALS_HAVE;
    if (below(2) == 0)
        given = (vitals_availability)((int)below((uint64_t)span) + VITALS_AVAILABILITY_MIN);
    return given != VITALS_UNSET ? given : VITALS_NOT_YET;
}

static void set_value(vitals_builder *builder, vitals_metric metric)
{
    char bytes[TEXT_MAX];
    vitals_availability given = any_state();
    switch (vitals_metric_type(metric)) {
    case VITALS_U64: vitals_builder_u64(builder, metric, up_to(UINT64_MAX), given); break;
    case VITALS_I64: vitals_builder_i64(builder, metric, (int64_t)any() >> below(64), given); break;
    case VITALS_F64: vitals_builder_f64(builder, metric, real(), given); break;
    case VITALS_TEXT: vitals_builder_text(builder, metric, words(bytes), given); break;
    }
}

static void add_rows(vitals_builder *builder, vitals_table entity, const vitals_metric *columns,
                     size_t count, uint64_t now_ns)
{
    char bytes[TEXT_MAX];
    uint64_t next = key();
    for (uint64_t rows = below(ROWS_MAX); rows != 0; rows--) {
        uint64_t parent = vitals_table_parent(entity) != 0 && below(2) ? key() : 0;
        uint64_t stamp_ns = below(3) != 0 ? now_ns - up_to(now_ns) : up_to(UINT64_MAX);
        vitals_builder_row(builder, entity, next, parent, words(bytes), stamp_ns);
        for (size_t i = 0; i < count; i++) {
            set_value(builder, columns[i]);
            if (below(4) == 0)
                vitals_builder_read_at(builder, columns[i], up_to(UINT64_MAX));
        }
        next = next % EXACT_MAX + 1; /* not always the next larger */
    }
}

static vitals_snapshot *random_snapshot(vitals_builder *builder)
{
    char host[TEXT_MAX], boot_id[TEXT_MAX];
    uint64_t now_ns = up_to(UINT64_MAX);
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, words(host), words(boot_id), up_to(UINT64_MAX));
    vitals_builder_stream(builder, up_to(UINT64_MAX));
    vitals_builder_moment(builder, up_to(UINT64_MAX), up_to(UINT64_MAX), now_ns, up_to(UINT64_MAX));
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        vitals_metric columns[COLUMNS_MAX];
        size_t count = 0;
        if (below(2) == 0)
            continue;
        for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
            if (vitals_metric_table(metric) == entity && below(3) == 0)
                columns[count++] = metric;
        vitals_builder_table(builder, entity, columns, count);
        vitals_builder_state(builder, entity, any_state());
        add_rows(builder, entity, columns, count, now_ns);
    }
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    return snapshot;
}

static int append(void *data, const char *bytes, size_t size)
{
    buffer_append(data, bytes, size);
    return 0;
}

/* Writes it and gives it back. */
static void write_json(vitals_snapshot *snapshot, struct buffer *out)
{
    vitals_error error;
    CHECK_OK(vitals_snapshot_json(snapshot, append, out, &error), error);
    CHECK_FALSE(out->failed);
    vitals_snapshot_unref(snapshot);
}

/* A blank in each row: it is no longer in the form that vitals writes, and jansson reads it. */
static void add_blanks(const struct buffer *document, struct buffer *out)
{
    static const char BEGIN[] = "{\"key\":";
    for (size_t i = 0; i < document->size; i++) {
        bool row = document->size - i >= sizeof BEGIN &&
                   memcmp(document->bytes + i, BEGIN, sizeof BEGIN - 1) == 0;
        buffer_append(out, document->bytes + i, 1);
        buffer_string(out, row ? " " : "");
    }
}

static void what_is_read_back_is_the_same(void)
{
    static const struct feed_place HERE = {.path = "here", .line = 1};
    vitals_builder *writer = NULL, *reader = NULL;
    vitals_error error = {0};
    CHECK_OK(vitals_builder_new(&writer, &error), error);
    CHECK_OK(vitals_builder_new(&reader, &error), error);
    for (unsigned round = 0; round < ROUNDS; round++) {
        char name[32];
        struct buffer first = {0}, second = {0}, blanks = {0}, third = {0};
        vitals_snapshot *again = NULL;
        snprintf(name, sizeof name, "round %u", round);
        CHECK_CASE(name);
        state = round;
        write_json(random_snapshot(writer), &first);
        int result = feed_json_read(&HERE, first.bytes, first.size, reader, &again, &error);
        if (result == VITALS_EUNSUPPORTED)
            CHECK_SKIP("built without jansson");
        CHECK_OK(result, error);
        write_json(again, &second);
        CHECK_BYTES(second.bytes, second.size, first.bytes, first.size);
        add_blanks(&first, &blanks);
        CHECK_OK(feed_json_read(&HERE, blanks.bytes, blanks.size, reader, &again, &error), error);
        write_json(again, &third);
        CHECK_BYTES(third.bytes, third.size, first.bytes, first.size);
        buffer_done(&first);
        buffer_done(&second);
        buffer_done(&blanks);
        buffer_done(&third);
    }
    vitals_builder_free(writer);
    vitals_builder_free(reader);
}

static const check_test tests[] = {
    {"what is read back is the same", what_is_read_back_is_the_same},
};
CHECK_TESTS(tests)
