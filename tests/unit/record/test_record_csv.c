/* The reader of CSV: fields, quotes, ends of lines, whatever way the bytes come. */
#include "check.h"

#include "feed/text.h"
#include "record/csv.h"
#include "record/sample.h"

struct seen {
    char text[4096]; /* fields in brackets, rows ended by ; */
    size_t rows;
};

static int note(void *data, const struct csv_row *row)
{
    struct seen *seen = data;
    seen->rows++;
    for (size_t i = 0; i < row->count; i++) {
        (void)strncat(seen->text, "[", sizeof seen->text - strlen(seen->text) - 1);
        (void)strncat(seen->text, row->fields[i], sizeof seen->text - strlen(seen->text) - 1);
        (void)strncat(seen->text, "]", sizeof seen->text - strlen(seen->text) - 1);
    }
    (void)strncat(seen->text, ";", sizeof seen->text - strlen(seen->text) - 1);
    return 0;
}

static bool read_text(const char *text, size_t size, size_t step, struct seen *seen)
{
    struct csv csv;
    *seen = (struct seen){.rows = 0};
    CHECK(csv_init(&csv, note, seen));
    for (size_t at = 0; at < size; at += step)
        CHECK_INT(csv_push(&csv, text + at, at + step < size ? step : size - at), 0);
    bool cut = csv_end(&csv);
    csv_done(&csv);
    return cut;
}

static void rows_are_the_same_however_the_bytes_are_cut(void)
{
    static const struct {
        const char *text, *rows;
        bool cut;
    } cases[] = {
        {"a,b\n1,2\n", "[a][b];[1][2];", false},
        {"a,b\r\n1,2\r\n", "[a][b];[1][2];", false},
        {"\"a\",\"b,\"\"c\"\"\"\n", "[a][b,\"c\"];", false},
        {"\"two\nlines\",x\n", "[two\nlines][x];", false},
        {"1,,\n", "[1][][];", false},
        {"\"\"\n", "[];", false},
        {"\n\n1\n\n", "[1];", false},
        {"1,2\n3,4", "[1][2];", true},
        {"1,\"2\n", "", true},
        {"a\"b,c\n", "[a\"b][c];", false},
        {"\"a\"b,c\n", "[ab][c];", false},
    };
    struct seen seen;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t step = 1; step < 8; step++) {
            CHECK_INT(read_text(cases[i].text, strlen(cases[i].text), step, &seen), cases[i].cut);
            CHECK_STR(seen.text, cases[i].rows);
        }
}

static void a_nul_is_a_space(void)
{
    struct seen seen;
    CHECK_FALSE(read_text("a\0b,c\n", 6, 3, &seen));
    CHECK_STR(seen.text, "[a b][c];");
}

static void a_row_that_is_too_wide_is_passed_over(void)
{
    struct csv csv;
    struct seen seen = {.rows = 0};
    CHECK(csv_init(&csv, note, &seen));
    for (int i = 0; i < CSV_FIELDS_MAX + 10; i++)
        CHECK_INT(csv_push(&csv, "1,", 2), 0);
    CHECK_INT(csv_push(&csv, "1\n2,3\n", 6), 0);
    CHECK_UINT(csv.skipped_rows, 1);
    CHECK_STR(seen.text, "[2][3];");
    csv_done(&csv);
}

static void a_row_without_end_takes_no_more_than_its_limit(void)
{
    static char chunk[64 * 1024];
    struct csv csv;
    struct seen seen = {.rows = 0};
    memset(chunk, 'x', sizeof chunk);
    CHECK(csv_init(&csv, note, &seen));
    for (int i = 0; i < 3 * CSV_ROW_MAX / (int)sizeof chunk; i++)
        CHECK_INT(csv_push(&csv, chunk, sizeof chunk), 0);
    CHECK(csv.capacity <= 2 * (size_t)CSV_ROW_MAX);
    CHECK_INT(csv_push(&csv, "\n5\n", 3), 0);
    CHECK_STR(seen.text, "[5];");
    csv_done(&csv);
}

static void only_numbers_are_numbers(void)
{
    static const char *const good[] = {"0", "-1", "1.5", "1e3", "+2", ".5", "1795333702.516"};
    static const char *const bad[] = {"",   "nan",   "inf", "0x10", "1,5",   "1 ",
                                      " 1", "1e400", "e",   "-",    "1.2.3", "--1"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(csv_number(good[i], &value));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_FALSE(csv_number(bad[i], &value));
}

static void numbers_are_written_as_short_as_they_read_back(void)
{
    static const struct {
        double value;
        const char *words;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {1, "1"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {1e300, "1e+300"},
                 {9007199254740992.0, "9007199254740992"}};
    char words[NUMBER_WORDS];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        number_shortest(cases[i].value, words);
        CHECK_STR(words, cases[i].words);
    }
}

static void rounded_numbers_look_as_python_writes_them(void)
{
    static const struct {
        double value;
        int decimals;
        bool point;
        const char *words;
    } cases[] = {{0, 4, true, "0"},
                 {1, 4, true, "1.0"},
                 {0.81, 6, true, "0.81"},
                 {53.6875, 4, true, "53.6875"},
                 {10, 0, false, "10"},
                 {100, 2, true, "100.0"},
                 {1795333702.516, 3, false, "1795333702.516"},
                 {-0.00001, 4, true, "0"},
                 {1e17, 2, false, "1e+17"}};
    char words[NUMBER_WORDS];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        number_rounded(cases[i].value, cases[i].decimals, cases[i].point, words);
        CHECK_STR(words, cases[i].words);
    }
}

static const check_test tests[] = {
    {"rows are the same however the bytes are cut", rows_are_the_same_however_the_bytes_are_cut},
    {"a NUL is a space", a_nul_is_a_space},
    {"a row that is too wide is passed over", a_row_that_is_too_wide_is_passed_over},
    {"a row without end takes no more than its limit",
     a_row_without_end_takes_no_more_than_its_limit},
    {"only numbers are numbers", only_numbers_are_numbers},
    {"numbers are written as short as they read back",
     numbers_are_written_as_short_as_they_read_back},
    {"rounded numbers look as Python writes them", rounded_numbers_look_as_python_writes_them},
};
CHECK_TESTS(tests)
