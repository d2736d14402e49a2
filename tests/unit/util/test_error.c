/* Errors: a code, a detail and one line that is safe to print. */
#include "check.h"

#include "util/error.h"

#include <errno.h>
#include <limits.h>

static void every_code_has_a_name(void)
{
    static const char *const names[] = {"ok",     "argument",    "memory", "system", "gone",
                                        "denied", "unsupported", "format", "timeout"};
    for (int i = 0; i < (int)CHECK_COUNT(names); i++)
        CHECK_STR(vitals_code_name((vitals_code)(i == 0 ? 0 : -100 - i)), names[i]);
    static const int none[] = {1, -1, -100, -109, 200, INT_MAX, INT_MIN};
    for (size_t i = 0; i < CHECK_COUNT(none); i++)
        CHECK_STR(vitals_code_name((vitals_code)none[i]), "unknown");
}

static void a_message_is_one_safe_line(void)
{
    vitals_error error;
    CHECK_INT(error_set(&error, VITALS_EARGUMENT, 5, "bad name \"%s\"", "a\nb\x1b[2J\xFF"),
              VITALS_EARGUMENT);
    CHECK_INT(error.code, VITALS_EARGUMENT);
    CHECK_INT(error.detail, 5);
    CHECK_STR(error.message, "bad name \"a\\nb\\e[2J\\xff\"");
    CHECK_INT(error_set(NULL, VITALS_EGONE, 0, "nobody %s", "listens"), VITALS_EGONE);
}

static void an_errno_becomes_a_code(void)
{
    static const struct {
        int number;
        vitals_code code;
        const char *end;
    } rows[] = {
        {EACCES, VITALS_EDENIED, ": Permission denied"},
        {EPERM, VITALS_EDENIED, ": Operation not permitted"},
        {ENOENT, VITALS_EGONE, ": No such file or directory"},
        {ESRCH, VITALS_EGONE, ": No such process"},
        {ENOMEM, VITALS_EMEMORY, NULL},
        {EIO, VITALS_ESYSTEM, NULL},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        vitals_error error;
        CHECK_INT(error_system(&error, rows[i].number, "/proc/%d", 7), rows[i].code);
        CHECK_INT(error.detail, rows[i].number);
        CHECK_CONTAINS(error.message, "/proc/7: ");
        if (rows[i].end != NULL)
            CHECK_CONTAINS(error.message, rows[i].end);
        CHECK_INT(error_system(NULL, rows[i].number, "x"), rows[i].code);
    }
}

static void the_reason_survives_a_long_name(void)
{
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    vitals_error error;
    error_system(&error, EACCES, "/dev/%s", name);
    CHECK_CONTAINS(error.message, "n\u2026: Permission denied");
    CHECK(strlen(error.message) < sizeof error.message);
    error_set(&error, VITALS_EFORMAT, 0, "%s", name);
    CHECK_UINT(strlen(error.message), sizeof error.message - 1);
    CHECK_CONTAINS(error.message, "n\u2026");
}

static const check_test tests[] = {
    {"every code has a name", every_code_has_a_name},
    {"a message is one safe line", a_message_is_one_safe_line},
    {"an errno becomes a code", an_errno_becomes_a_code},
    {"the reason survives a long name", the_reason_survives_a_long_name},
};
CHECK_TESTS(tests)
