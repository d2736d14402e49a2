/* A row in the form that vitals writes is read without jansson. A row that differs in anything is
 * left to jansson. test_round_trip compares both. */
#include "check.h"

#include "feed/json_rows.h"

static const struct json_columns COLUMNS = {
    .metrics = {VITALS_GPU_NAME, VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_GPU_POWER_WATTS},
    .count = 3,
    .parented = true,
    .own = true,
};

#define HEAD  "{\"key\":7,\"parent\":null,\"label\":\"0\",\"age_ns\":-5"
#define CELLS ",\"name\":\"A 1\",\"memory_total_bytes\":80,\"power_watts\":0.25"

static bool read(const char *row, struct json_row_cells *out)
{
    return own_row_read((vitals_text){row, strlen(row)}, &COLUMNS, out);
}

static void own_rows_are_read(void)
{
    static struct json_row_cells row;
    CHECK(read(HEAD CELLS "}", &row));
    CHECK(row.key == 7 && row.parent == 0 && row.age_ns == -5);
    CHECK_BYTES(row.label.bytes, row.label.size, "0", 1);
    CHECK_BYTES(row.cells[0].text.bytes, row.cells[0].text.size, "A 1", 3);
    CHECK(row.cells[1].number == 80 && row.cells[2].number == 0.25);
    CHECK_INT(row.cells[1].state, VITALS_HAVE);
    CHECK_FALSE(row.cells[1].aged);

    CHECK(read(HEAD
               ",\"name\":null,\"memory_total_bytes\":1e3,\"power_watts\":-12345678901234567890"
               ",\"availability\":{\"name\":\"denied\",\"power_watts\":\"stale\"}"
               ",\"ages_ns\":{\"memory_total_bytes\":9}}",
               &row));
    CHECK_INT(row.cells[0].kind, CELL_NULL);
    CHECK_INT(row.cells[0].state, VITALS_DENIED);
    CHECK_INT(row.cells[2].state, VITALS_STALE);
    CHECK(row.cells[1].number == 1000 && row.cells[2].number == -12345678901234567890.0);
    CHECK(row.cells[1].aged && row.cells[1].age_ns == 9 && !row.cells[2].aged);
}

static void other_rows_are_left(void)
{
    static const char *const ROWS[] = {
        "",
        "{",
        HEAD CELLS,
        HEAD CELLS "} ",
        HEAD " " CELLS "}",
        HEAD "}",
        HEAD CELLS ",\"new\":1}",
        HEAD CELLS ",\"name\":\"twice\"}",
        HEAD CELLS ",\"availability\":{}}",
        HEAD CELLS ",\"availability\":{\"name\":\"denied\"}",
        HEAD CELLS ",\"availability\":{\"name\":\"denied\",}}",
        HEAD CELLS ",\"availability\":{\"name\":\"denied\",\"name\":\"denied\"}}",
        HEAD CELLS ",\"availability\":{\"power_watts\":\"stale\",\"name\":\"denied\"}}",
        HEAD CELLS ",\"ages_ns\":{\"name\":1},\"availability\":{\"name\":\"stale\"}}",
        HEAD CELLS ",\"ages_ns\":{\"name\":null}}",
        HEAD ",\"memory_total_bytes\":80,\"name\":\"A\",\"power_watts\":1}",
        HEAD ",\"name\":\"\\u0041\",\"memory_total_bytes\":80,\"power_watts\":1}",
        HEAD ",\"name\":\"\303\244\",\"memory_total_bytes\":80,\"power_watts\":1}",
        HEAD ",\"name\":\"\t\",\"memory_total_bytes\":80,\"power_watts\":1}",
        HEAD ",\"name\":true,\"memory_total_bytes\":80,\"power_watts\":1}",
        HEAD ",\"name\":{},\"memory_total_bytes\":80,\"power_watts\":1}",
        HEAD ",\"name\":\"A\",\"memory_total_bytes\":080,\"power_watts\":1}",
        HEAD ",\"name\":\"A\",\"memory_total_bytes\":80.,\"power_watts\":1}",
        HEAD ",\"name\":\"A\",\"memory_total_bytes\":.5,\"power_watts\":1}",
        HEAD ",\"name\":\"A\",\"memory_total_bytes\":+5,\"power_watts\":1}",
        HEAD ",\"name\":\"A\",\"memory_total_bytes\":5e,\"power_watts\":1}",
        HEAD ",\"name\":\"A\",\"memory_total_bytes\":1e999,\"power_watts\":1}",
        HEAD ",\"name\":\"A\",\"memory_total_bytes\":-,\"power_watts\":1}",
        "{\"key\":7,\"label\":\"0\",\"age_ns\":5" CELLS "}",
    };
    static struct json_row_cells row;
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i]);
        CHECK_FALSE(read(ROWS[i], &row));
    }
    struct json_columns others = COLUMNS;
    others.own = false;
    CHECK_FALSE(own_row_read((vitals_text){HEAD CELLS "}", strlen(HEAD CELLS "}")}, &others, &row));
}

/* The row ends where it is said to end: nothing behind it is looked at. */
static void every_part_of_a_row_is_left(void)
{
    static const char ROW[] = HEAD CELLS
        ",\"availability\":{\"name\":\"stale\"},\"ages_ns\":{\"name\":1}}";
    static struct json_row_cells row;
    for (size_t size = 0; size < sizeof ROW - 1; size++) {
        char *part = malloc(size > 0 ? size : 1);
        CHECK_NOT_NULL(part);
        memcpy(part, ROW, size);
        CHECK_FALSE(own_row_read((vitals_text){part, size}, &COLUMNS, &row));
        free(part);
    }
}

static const check_test tests[] = {
    {"own rows are read", own_rows_are_read},
    {"other rows are left", other_rows_are_left},
    {"every part of a row is left", every_part_of_a_row_is_left},
};
CHECK_TESTS(tests)
