/* A library that is opened late: found, not there, and one that lacks what is called. */
#include "check.h"

#include "feed/library.h"

struct names {
    double (*cosine)(double);
    void *other;
};

static void what_is_there_is_set(void)
{
    static struct names table;
    static const struct library_symbol SYMBOLS[] = {{"cos", offsetof(struct names, cosine)}};
    struct library library = {.file = "libm.so.6", .table = &table, .symbols = SYMBOLS, .count = 1};
    if (library_missing(&library) != NULL)
        CHECK_SKIP("no libm.so.6 here");
    CHECK_NOT_NULL(table.cosine);
    CHECK_NEAR(table.cosine(0), 1.0, 1e-9);
    CHECK_NULL(table.other);
    table.cosine = NULL;
    CHECK_NULL(library_missing(&library)); /* once is enough */
    CHECK_NULL(table.cosine);
}

static void what_is_not_there_says_so(void)
{
    struct names table = {.other = NULL};
    struct library library = {.file = "libnobody-has-this.so.7", .table = &table};
    CHECK_CONTAINS(library_missing(&library), "libnobody-has-this.so.7");
    CHECK_NOT_NULL(library_missing(&library));
}

static void one_that_lacks_a_name_is_none(void)
{
    static struct names table;
    static const struct library_symbol SYMBOLS[] = {
        {"cos", offsetof(struct names, cosine)},
        {"a_function_that_nobody_wrote", offsetof(struct names, other)}};
    struct library library = {.file = "libm.so.6", .table = &table, .symbols = SYMBOLS, .count = 2};
    CHECK_CONTAINS(library_missing(&library), "a_function_that_nobody_wrote");
}

static const check_test TESTS[] = {
    {"what is there is set", what_is_there_is_set},
    {"what is not there says so", what_is_not_there_says_so},
    {"one that lacks a name is none", one_that_lacks_a_name_is_none},
};

CHECK_TESTS(TESTS)
