/* Command lines in a sample's document: what of them leaves this machine, and that nothing else of
 * it changes. */
#include "check.h"

#include "export/redact.h"

static void written(const char *json, enum redact_form form, const char *expected)
{
    struct buffer text = {.bytes = NULL};
    command_lines_write(&text, json, strlen(json), form);
    CHECK_FALSE(text.failed);
    CHECK_STR(text.bytes, expected);
    buffer_done(&text);
}

#define ROW(line)                                                                            \
    "{\"columns\":{\"process\":[\"pid\",\"command_line\"]},\"pid\":1,\"command_line\":" line \
    ",\"x\":2}"

static void each_form_tells_as_much_as_it_says(void)
{
    static const char SECRET[] = ROW(
        "\"/bin/psql\\u0000--password\\u0000hunter2\\u0000-h\\u0000db\\u0000\"");
    written(SECRET, REDACT_FULL, SECRET);
    written(SECRET, REDACT_OFF, ROW("\"\""));
    written(SECRET, REDACT_ARGV0, ROW("\"/bin/psql\\u0000\""));
    written(SECRET, REDACT_REDACTED, ROW("\"/bin/psql --password *** -h db\\u0000\""));
}

static void what_is_missing_or_empty_stays(void)
{
    static const char *const SAME[] = {ROW("null"), ROW("\"\""), "{}", "{\"command_line\":7}"};
    for (size_t i = 0; i < CHECK_COUNT(SAME); i++) {
        CHECK_CASE(SAME[i]);
        written(SAME[i], REDACT_REDACTED, SAME[i]);
        written(SAME[i], REDACT_OFF, SAME[i]);
    }
}

static void no_name_hides_a_command_line_or_looks_like_one(void)
{
    /* A name that quotes the member, one that ends in a backslash, and the line behind them. */
    static const char TRICK[] = "{\"name\":\"\\\"command_line\\\":\\\"kept\\\"\",\"user\":\"\\\\\","
                                "\"command_line\":\"sh\\u0000-c\\u0000echo \\\"}\\u0000\"}";
    written(TRICK, REDACT_OFF,
            "{\"name\":\"\\\"command_line\\\":\\\"kept\\\"\",\"user\":\"\\\\\","
            "\"command_line\":\"\"}");
    written(TRICK, REDACT_ARGV0,
            "{\"name\":\"\\\"command_line\\\":\\\"kept\\\"\",\"user\":\"\\\\\","
            "\"command_line\":\"sh\\u0000\"}");
}

static void an_end_in_the_middle_is_no_end_of_us(void)
{
    written("{\"command_line\":\"sh", REDACT_OFF, "{\"command_line\":\"sh");
    written("{\"command_line\":\"sh\\", REDACT_ARGV0, "{\"command_line\":\"sh\\");
    written("{\"command_line\":\"\\ud800\"}", REDACT_ARGV0, "{\"command_line\":\"\"}");
}

static const check_test tests[] = {
    {"each form tells as much as it says", each_form_tells_as_much_as_it_says},
    {"what is missing or empty stays", what_is_missing_or_empty_stays},
    {"no name hides a command line or looks like one",
     no_name_hides_a_command_line_or_looks_like_one},
    {"an end in the middle is no end of us", an_end_in_the_middle_is_no_end_of_us},
};

CHECK_TESTS(tests)
