/* The cursor: bounded steps over bytes that need not end in NUL. */
#include "check.h"

#include "util/cursor.h"

static struct cursor over(const char *text)
{
    return cursor_over(text, strlen(text));
}

static void lines_end_at_newlines_and_at_the_end(void)
{
    struct cursor cursor = over("one\n\nthree");
    struct span line;
    CHECK(cursor_line(&cursor, &line) && span_equal(line, "one"));
    CHECK(cursor_line(&cursor, &line) && span_equal(line, ""));
    CHECK(cursor_line(&cursor, &line) && span_equal(line, "three"));
    CHECK_FALSE(cursor_line(&cursor, &line));
    CHECK(span_equal(line, "three"));
    cursor = over("a\n");
    CHECK(cursor_line(&cursor, &line) && span_equal(line, "a"));
    CHECK_FALSE(cursor_line(&cursor, &line));
}

static void words_are_parted_by_blanks(void)
{
    struct cursor cursor = over("  MemTotal:\t 42 kB ");
    struct span word;
    CHECK(cursor_word(&cursor, &word) && span_equal(word, "MemTotal:"));
    uint64_t number;
    CHECK(cursor_u64(&cursor, &number));
    CHECK_UINT(number, 42);
    CHECK(cursor_word(&cursor, &word) && span_starts(word, "k"));
    CHECK_FALSE(cursor_word(&cursor, &word));
    CHECK(cursor_done(&cursor));
}

static void what_does_not_fit_does_not_move(void)
{
    struct cursor cursor = over("  name) S -12");
    uint64_t u;
    int64_t i;
    struct span span;
    CHECK_FALSE(cursor_u64(&cursor, &u));
    CHECK_FALSE(cursor_literal(&cursor, "name"));
    CHECK_FALSE(cursor_until(&cursor, '(', &span));
    CHECK(cursor_until(&cursor, ')', &span) && span_equal(span, "  name"));
    CHECK(cursor_literal(&cursor, " S"));
    CHECK_FALSE(cursor_u64(&cursor, &u));
    CHECK(cursor_i64(&cursor, &i));
    CHECK_INT(i, -12);
    CHECK_FALSE(cursor_literal(&cursor, "x"));
    CHECK(cursor_literal(&cursor, ""));
}

static void nothing_behind_the_end_is_read(void)
{
    static const char text[] = {'1', '2', '3'};
    struct cursor cursor = cursor_over(text, 2);
    uint64_t number;
    CHECK(cursor_u64(&cursor, &number));
    CHECK_UINT(number, 12);
    struct span span;
    CHECK_FALSE(cursor_until(&cursor, '3', &span));
    CHECK_FALSE(cursor_literal(&cursor, "3"));
    CHECK_FALSE(span_starts((struct span){text, 1}, "12"));
}

static const check_test tests[] = {
    {"lines end at newlines and at the end", lines_end_at_newlines_and_at_the_end},
    {"words are parted by blanks", words_are_parted_by_blanks},
    {"what does not fit does not move", what_does_not_fit_does_not_move},
    {"nothing behind the end is read", nothing_behind_the_end_is_read},
};
CHECK_TESTS(tests)
