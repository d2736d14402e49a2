/* Text from outside in its five forms: harmless, readable, and cut only between characters. */
#include "check.h"

#include <vitals/text.h>

#define TEXT(literal)                  \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

typedef struct form_row {
    const char *name;
    vitals_text text;
    const char *forms[VITALS_TEXT_LABEL]; /* TERMINAL, ASCII, JSON, CSV, LABEL */
    size_t columns;                       /* as TERMINAL */
} form_row;

static const form_row rows[] = {
    {"plain",
     TEXT("python3 train.py"),
     {"python3 train.py", "python3 train.py", "python3 train.py", "python3 train.py",
      "python3 train.py"},
     16},
    {"empty", TEXT(""), {"", "", "", "\"\"", ""}, 0},
    {"known controls",
     TEXT("a\nb\tc\rd\x1b[2J"),
     {"a\\nb\\tc\\rd\\e[2J", "a\\nb\\tc\\rd\\e[2J", "a\\nb\\tc\\rd\\u001b[2J",
      "a\\nb\\tc\\rd\\e[2J",
      "a\\nb\xEF\xBF\xBD"
      "c\xEF\xBF\xBD"
      "d\xEF\xBF\xBD[2J"},
     15},
    {"other controls",
     TEXT("\0\a\b\f\x7f"),
     {"\\x00\\x07\\x08\\x0c\\x7f", "\\x00\\x07\\x08\\x0c\\x7f", "\\u0000\\u0007\\b\\f\\u007f",
      "\\x00\\x07\\x08\\x0c\\x7f", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
     20},
    {"C1 as a character",
     TEXT("\xC2\x9B"
          "31m"),
     {"\\u{9b}31m", "\\u{9b}31m", "\\u009b31m", "\\u{9b}31m",
      "\xEF\xBF\xBD"
      "31m"},
     9},
    {"C1 as a byte",
     TEXT("\x9B"
          "31m"),
     {"\\x9b31m", "\\x9b31m",
      "\xEF\xBF\xBD"
      "31m",
      "\\x9b31m",
      "\xEF\xBF\xBD"
      "31m"},
     7},
    {"broken UTF-8",
     TEXT("\xE2\x82(\xFF"),
     {"\\xe2\\x82(\\xff", "\\xe2\\x82(\\xff", "\xEF\xBF\xBD(\xEF\xBF\xBD", "\\xe2\\x82(\\xff",
      "\xEF\xBF\xBD(\xEF\xBF\xBD"},
     13},
    {"an overlong slash",
     TEXT("\xC0\xAF"),
     {"\\xc0\\xaf", "\\xc0\\xaf", "\xEF\xBF\xBD\xEF\xBF\xBD", "\\xc0\\xaf",
      "\xEF\xBF\xBD\xEF\xBF\xBD"},
     8},
    {"a right-to-left override",
     TEXT("\u202Eexe.txt"),
     {"\\u{202e}exe.txt", "\\u{202e}exe.txt", "\\u202eexe.txt", "\\u{202e}exe.txt",
      "\xEF\xBF\xBD"
      "exe.txt"},
     15},
    {"separators and a zero-width space",
     TEXT("\u2028\u2029\u200B"),
     {"\\u{2028}\\u{2029}\\u{200b}", "\\u{2028}\\u{2029}\\u{200b}", "\\u2028\\u2029\\u200b",
      "\\u{2028}\\u{2029}\\u{200b}", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
     24},
    {"an invisible tag beyond the first plane",
     TEXT("\U000E0041"),
     {"\\u{e0041}", "\\u{e0041}", "\\udb40\\udc41", "\\u{e0041}", "\xEF\xBF\xBD"},
     9},
    {"a hidden character whose low byte is 0",
     TEXT("\u0600"),
     {"\\u{600}", "\\u{600}", "\\u0600", "\\u{600}", "\xEF\xBF\xBD"},
     7},
    {"a mark on a letter",
     TEXT("e\u0301"),
     {"e\u0301", "e\\u{301}", "e\u0301", "e\u0301", "e\u0301"},
     1},
    {"a mark on nothing",
     TEXT("\u0301e"),
     {"\\u{301}e", "\\u{301}e", "\u0301e", "\\u{301}e", "\u0301e"},
     8},
    {"a mark on an escape",
     TEXT("\n\u0301"),
     {"\\n\\u{301}", "\\n\\u{301}", "\\n\u0301", "\\n\\u{301}", "\\n\u0301"},
     9},
    {"Han and emoji",
     TEXT("\u65E5\U0001F600"),
     {"\u65E5\U0001F600", "\\u{65e5}\\u{1f600}", "\u65E5\U0001F600", "\u65E5\U0001F600",
      "\u65E5\U0001F600"},
     4},
    {"quotes and commas",
     TEXT("a,\"b\""),
     {"a,\"b\"", "a,\"b\"", "a,\\\"b\\\"", "\"a,\"\"b\"\"\"", "a,\\\"b\\\""},
     5},
    {"blanks at the ends", TEXT(" a "), {" a ", " a ", " a ", "\" a \"", " a "}, 3},
    {"a backslash that means nothing",
     TEXT("C:\\Users\\"),
     {"C:\\Users\\", "C:\\Users\\", "C:\\\\Users\\\\", "C:\\Users\\", "C:\\\\Users\\\\"},
     9},
    {"backslashes that would read as escapes",
     TEXT("\\n\\x2d\\u\\\\"),
     {"\\\\n\\\\x2d\\\\u\\\\\\", "\\\\n\\\\x2d\\\\u\\\\\\", "\\\\n\\\\x2d\\\\u\\\\\\\\",
      "\\\\n\\\\x2d\\\\u\\\\\\", "\\\\n\\\\x2d\\\\u\\\\\\\\"},
     14},
    {"a backslash before an escape",
     TEXT("\\\n"),
     {"\\\\\\n", "\\\\\\n", "\\\\\\n", "\\\\\\n", "\\\\\\n"},
     4},
};

static void each_form_is_as_documented(void)
{
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].name);
        for (int form = VITALS_TEXT_TERMINAL; form <= VITALS_TEXT_LABEL; form++) {
            char out[256];
            const char *expected = rows[i].forms[form - 1];
            size_t size = vitals_text_format(rows[i].text, (vitals_text_form)form, out, sizeof out);
            CHECK_STR(out, expected);
            CHECK_UINT(size, strlen(expected));
        }
        CHECK_UINT(vitals_text_columns(rows[i].text, VITALS_TEXT_TERMINAL), rows[i].columns);
        CHECK_UINT(vitals_text_columns(rows[i].text, VITALS_TEXT_ASCII),
                   strlen(rows[i].forms[VITALS_TEXT_ASCII - 1]));
    }
}

/* At each capacity: bounded, terminated, the whole size told, and a beginning of the whole. */
static void a_cut_is_a_beginning(void)
{
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].name);
        for (int form = VITALS_TEXT_TERMINAL; form <= VITALS_TEXT_LABEL; form++) {
            const char *whole = rows[i].forms[form - 1];
            size_t needed = strlen(whole);
            for (size_t capacity = 0; capacity <= needed + 1; capacity++) {
                char *out = malloc(capacity + 1);
                memset(out, '#', capacity + 1);
                CHECK_UINT(vitals_text_format(rows[i].text, (vitals_text_form)form, out, capacity),
                           needed);
                CHECK_INT(out[capacity], '#');
                if (capacity > 0)
                    CHECK(strlen(out) < capacity);
                if (capacity > 0 && form != VITALS_TEXT_CSV) /* which closes its quotes */
                    CHECK_BYTES(out, strlen(out), whole, strlen(out));
                free(out);
            }
        }
    }
}

static void nothing_is_cut_in_two(void)
{
    static const struct {
        const char *name;
        vitals_text text;
        vitals_text_form form;
        size_t capacity;
        const char *out;
    } cuts[] = {
        {"an escape",
         TEXT("ab\x1b"
              "c"),
         VITALS_TEXT_TERMINAL, 4, "ab"},
        {"an escape, and what follows it would fit", TEXT("\x01z"), VITALS_TEXT_TERMINAL, 3, ""},
        {"a character", TEXT("a\u65E5"), VITALS_TEXT_TERMINAL, 4, "a"},
        {"a character that just fits", TEXT("a\u65E5"), VITALS_TEXT_TERMINAL, 5, "a\u65E5"},
        {"a pair of surrogates", TEXT("\U000E0041"), VITALS_TEXT_JSON, 12, ""},
        {"a quoted field", TEXT("a,b,c"), VITALS_TEXT_CSV, 6, "\"a,b\""},
        {"a doubled quote", TEXT("a\"b"), VITALS_TEXT_CSV, 5, "\"a\""},
        {"a field without room for its quotes", TEXT("a,b"), VITALS_TEXT_CSV, 2, ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(cuts); i++) {
        char out[64];
        CHECK_CASE(cuts[i].name);
        vitals_text_format(cuts[i].text, cuts[i].form, out, cuts[i].capacity);
        CHECK_STR(out, cuts[i].out);
    }
}

static void columns_are_never_exceeded(void)
{
    static const struct {
        const char *name;
        vitals_text text;
        size_t columns;
        const char *out;
        size_t used;
        size_t needed;
    } fits[] = {
        {"all of it", TEXT("abc"), 3, "abc", 3, 3},
        {"a beginning", TEXT("abc"), 2, "ab", 2, 3},
        {"none", TEXT("abc"), 0, "", 0, 3},
        {"half a wide character", TEXT("a\u65E5\u672C"), 4, "a\u65E5", 3, 7},
        {"a mark behind the last column", TEXT("ae\u0301x"), 2, "ae\u0301", 2, 5},
        {"half an escape",
         TEXT("a\x1b"
              "b"),
         2, "a", 1, 4},
        {"nothing narrow after what was left out", TEXT("\u65E5x"), 1, "", 0, 4},
    };
    for (size_t i = 0; i < CHECK_COUNT(fits); i++) {
        char out[64];
        size_t used = 99;
        CHECK_CASE(fits[i].name);
        CHECK_UINT(vitals_text_fit(fits[i].text, VITALS_TEXT_TERMINAL, fits[i].columns, out,
                                   sizeof out, &used),
                   fits[i].needed);
        CHECK_STR(out, fits[i].out);
        CHECK_UINT(used, fits[i].used);
    }
    char small[3];
    size_t used;
    vitals_text_fit((vitals_text)TEXT("abcdef"), VITALS_TEXT_TERMINAL, 5, small, sizeof small,
                    &used);
    CHECK_STR(small, "ab");
    CHECK_UINT(used, 2);
}

static void a_label_ends_within_its_bytes(void)
{
    char bytes[300];
    char out[300];
    memset(bytes, 'x', sizeof bytes);
    CHECK_UINT(vitals_text_format((vitals_text){bytes, 128}, VITALS_TEXT_LABEL, out, sizeof out),
               128);
    CHECK_UINT(vitals_text_format((vitals_text){bytes, 129}, VITALS_TEXT_LABEL, out, sizeof out),
               128);
    CHECK_STR(out + 124, "x\u2026");
    for (size_t i = 0; i < sizeof bytes; i++) /* escapes of two bytes, behind an odd one */
        bytes[i] = i == 0 ? 'x' : '"';
    vitals_text_format((vitals_text){bytes, sizeof bytes}, VITALS_TEXT_LABEL, out, sizeof out);
    CHECK_STR(out + 123, "\\\"\u2026");
}

static void a_form_that_is_none_is_the_most_careful(void)
{
    char out[64];
    vitals_text text = TEXT("\u65E5\n");
    vitals_text_format(text, (vitals_text_form)0, out, sizeof out);
    CHECK_STR(out, "\\u{65e5}\\n");
    vitals_text_format(text, (vitals_text_form)77, out, sizeof out);
    CHECK_STR(out, "\\u{65e5}\\n");
    CHECK_UINT(vitals_text_format((vitals_text){NULL, 0}, VITALS_TEXT_TERMINAL, out, sizeof out),
               0);
    CHECK_STR(out, "");
}

/* Reads our escapes back, by the description in text.h alone. */
static size_t unescape(const char *at, char *out)
{
    static const char letters[] = "ntre";
    static const char controls[] = "\n\t\r\x1b";
    size_t size = 0;
    while (*at != '\0') {
        const char *letter = at[0] == '\\' && at[1] != '\0' ? strchr(letters, at[1]) : NULL;
        if (letter != NULL) {
            out[size++] = controls[letter - letters];
            at += 2;
        } else if (at[0] == '\\' && at[1] == 'x') {
            char hex[3] = {at[2], at[3], '\0'};
            out[size++] = (char)strtol(hex, NULL, 16);
            at += 4;
        } else if (at[0] == '\\' && at[1] == 'u') {
            char *end;
            unsigned long character = strtoul(at + 3, &end, 16);
            CHECK(*end == '}');
            int shift = character < 0x800 ? 6 : character < 0x10000 ? 12 : 18;
            out[size++] = (char)((shift == 6    ? 0xC0
                                  : shift == 12 ? 0xE0
                                                : 0xF0) |
                                 character >> shift);
            for (shift -= 6; shift >= 0; shift -= 6)
                out[size++] = (char)(0x80 | (character >> shift & 0x3F));
            at = end + 1;
        } else {
            at += at[0] == '\\' && at[1] == '\\';
            out[size++] = *at++;
        }
    }
    return size;
}

static void what_is_escaped_can_be_read_back(void)
{
    static const char alphabet[] = "\\\\\\\\nxu{}e \n\x1b\0\x80\xFF\xC2\x9B\xE2\x80\xAE\xCC\x81";
    uint64_t state = 7;
    for (int round = 0; round < 20000; round++) {
        char bytes[24];
        char out[512];
        char back[512];
        for (size_t i = 0; i < sizeof bytes; i++) {
            state = state * UINT64_C(6364136223846793005) + 1;
            bytes[i] = alphabet[(state >> 33) % (sizeof alphabet - 1)];
        }
        vitals_text text = {bytes, sizeof bytes};
        vitals_text_format(text, round % 2 ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out,
                           sizeof out);
        CHECK_CASE(out);
        size_t size = unescape(out, back);
        CHECK_BYTES(back, size, bytes, sizeof bytes);
    }
}

static const check_test tests[] = {
    {"each form is as documented", each_form_is_as_documented},
    {"a cut is a beginning", a_cut_is_a_beginning},
    {"nothing is cut in two", nothing_is_cut_in_two},
    {"columns are never exceeded", columns_are_never_exceeded},
    {"a label ends within its bytes", a_label_ends_within_its_bytes},
    {"a form that is none is the most careful", a_form_that_is_none_is_the_most_careful},
    {"what is escaped can be read back", what_is_escaped_can_be_read_back},
};
CHECK_TESTS(tests)
