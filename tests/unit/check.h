/* The assertions of our unit tests. cmocka runs them, but only check.c sees cmocka, whose header
 * defines macros such as fail() and skip() over common names.
 *
 *     #include "check.h"
 *
 *     static void empty_text_has_no_width(void)
 *     {
 *         CHECK_UINT(text_width(""), 0);
 *     }
 *
 *     static const check_test tests[] = {
 *         {"an empty text has no width", empty_text_has_no_width},
 *     };
 *     CHECK_TESTS(tests)
 *
 * Each CHECK… ends its test at the first mismatch and prints the expression, what came and what was
 * expected. In a loop over a table, CHECK_CASE names the row, so that the message says which it
 * was. Only the thread that runs the test may check: others hand their result over to it. */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_test {
    const char *name; /* a sentence: what holds */
    void (*run)(void);
} check_test;

/* Where an assertion stands and what it says. */
typedef struct check_place {
    const char *file;
    int line;
    const char *expression;
} check_place;

#define CHECK_PLACE(expression) ((check_place){__FILE__, __LINE__, (expression)})

#define CHECK(condition)        check_true(CHECK_PLACE(#condition), (condition))
#define CHECK_FALSE(condition)  check_true(CHECK_PLACE("!(" #condition ")"), !(condition))
#define CHECK_NULL(pointer)     check_true(CHECK_PLACE(#pointer " == NULL"), (pointer) == NULL)
#define CHECK_NOT_NULL(pointer) check_true(CHECK_PLACE(#pointer " != NULL"), (pointer) != NULL)

/* Whole numbers; CHECK_UINT where the values do not fit a signed 64-bit integer. */
#define CHECK_INT(actual, expected)  check_int(CHECK_PLACE(#actual), (actual), (expected))
#define CHECK_UINT(actual, expected) check_uint(CHECK_PLACE(#actual), (actual), (expected))

/* |actual - expected| <= tolerance; a NaN is never near. */
#define CHECK_NEAR(actual, expected, tolerance) \
    check_near(CHECK_PLACE(#actual), (actual), (expected), (tolerance))

/* NUL-terminated; either side may be NULL. */
#define CHECK_STR(actual, expected) check_str(CHECK_PLACE(#actual), (actual), (expected))

/* The text holds the part. */
#define CHECK_CONTAINS(actual, part) check_contains(CHECK_PLACE(#actual), (actual), (part))

#define CHECK_BYTES(actual, actual_size, expected, expected_size) \
    check_bytes(CHECK_PLACE(#actual), (actual), (actual_size), (expected), (expected_size))

/* A call that returns 0 or a negative code and fills a vitals_error: shows the error's message. */
#define CHECK_OK(call, error)                                         \
    do {                                                              \
        int check_result_ = (call);                                   \
        check_ok(CHECK_PLACE(#call), check_result_, (error).message); \
    } while (0)

/* Ends the test as failed, with a message like printf's. */
#define CHECK_FAIL(...) check_fail(CHECK_PLACE("CHECK_FAIL"), __VA_ARGS__)

/* Ends the test as skipped: the machine lacks what it needs. */
#define CHECK_SKIP(reason) check_skip((reason))

/* CHECK_SANITIZED, from the build, is 1 where a sanitizer is compiled in: memory and time are then
 * not those of the program, and what measures them skips. */

/* Names the row of a table in every message from here to the end of the test; NULL: no row. */
#define CHECK_CASE(name) check_case((name))

#define CHECK_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Makes the list one of its program's, under the name of the file (check_program.c). */
#define CHECK_TESTS(tests)                                         \
    __attribute__((constructor)) static void check_register_(void) \
    {                                                              \
        check_register(__FILE__, (tests), CHECK_COUNT(tests));     \
    }

void check_register(const char *file, const check_test *tests, size_t count);
int check_main(const check_test *tests, size_t count);
void check_case(const char *name);
void check_true(check_place place, bool condition);
void check_int(check_place place, intmax_t actual, intmax_t expected);
void check_uint(check_place place, uintmax_t actual, uintmax_t expected);
void check_near(check_place place, double actual, double expected, double tolerance);
void check_str(check_place place, const char *actual, const char *expected);
void check_contains(check_place place, const char *actual, const char *part);
void check_bytes(check_place place, const void *actual, size_t actual_size, const void *expected,
                 size_t expected_size);
void check_ok(check_place place, int result, const char *message);
_Noreturn void check_skip(const char *reason);
_Noreturn void check_fail(check_place place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The path of a file or folder below tests/fixtures/, until the next call. */
const char *check_fixture(const char *name);

/* Likewise, of a tree that has a file `links`: its copy in the build folder has them. */
const char *check_linked_fixture(const char *name);

/* Makes an empty folder "vitals-NAME-…" for many small files, in memory if the machine has such a
 * place; `path` gets where it is. The test fails if it cannot be made. */
void check_folder(char *path, size_t capacity, const char *name);

/* How many descriptors this process has open, and always the same few more: to compare with what it
 * said before. */
size_t check_open_descriptors(void);

/* The bytes of a file below tests/fixtures/, with a NUL behind them that does not count; the test
 * fails if there is none. The caller frees with free(). */
char *check_read(const char *name, size_t *size);

#endif
