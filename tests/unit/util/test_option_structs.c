/* Structs of options that grow: callers and libraries of different releases. What the real ones do
 * with it is in test_run.c. */
#include "check.h"

#include "util/options.h"

static vitals_error error;

/* The same struct in its first, second and third release; the library is the second. */
struct first {
    size_t size;
    uint64_t a;
};

struct second {
    size_t size;
    uint64_t a, b;
};

struct third {
    size_t size;
    uint64_t a, b, c;
};

static const struct second DEFAULTS = {.a = 1, .b = 2};
static const struct options_form FORM = {.name = "struct second",
                                         .defaults = &DEFAULTS,
                                         .size = sizeof(struct second),
                                         .first = sizeof(struct first)};

static void init_writes_what_the_caller_has_and_no_byte_more(void)
{
    for (size_t size = 0; size <= sizeof(struct third) + 8; size++) {
        char name[16];
        snprintf(name, sizeof name, "%zu bytes", size);
        CHECK_CASE(name);
        unsigned char bytes[sizeof(struct third) + 16];
        memset(bytes, 0xAA, sizeof bytes);
        options_init(&FORM, bytes, size);
        for (size_t i = size; i < sizeof bytes; i++)
            CHECK_UINT(bytes[i], 0xAA);
        for (size_t i = sizeof(struct second); i < size; i++)
            CHECK_UINT(bytes[i], 0);
    }
    CHECK_CASE(NULL);
    struct third options;
    options_init(&FORM, &options, sizeof options);
    CHECK_UINT(options.size, sizeof options);
    CHECK_UINT(options.a, 1);
    CHECK_UINT(options.b, 2);
    CHECK_UINT(options.c, 0);
}

static void an_older_caller_gets_the_defaults_of_what_it_does_not_know(void)
{
    struct first given;
    struct second out;
    options_init(&FORM, &given, sizeof given);
    given.a = 7;
    CHECK_OK(options_take(&FORM, &given, &out, &error), error);
    CHECK_UINT(out.size, sizeof out);
    CHECK_UINT(out.a, 7);
    CHECK_UINT(out.b, 2);
}

static void a_newer_caller_may_not_ask_for_what_we_do_not_know(void)
{
    struct third given;
    struct second out = {.a = 5};
    options_init(&FORM, &given, sizeof given);
    given.b = 8;
    CHECK_OK(options_take(&FORM, &given, &out, &error), error);
    CHECK_UINT(out.size, sizeof out);
    CHECK_UINT(out.b, 8);
    unsigned char *bytes = (unsigned char *)&given;
    for (size_t i = sizeof out; i < sizeof given; i++) {
        bytes[i] = 1;
        out.a = 5;
        CHECK_INT(options_take(&FORM, &given, &out, &error), VITALS_EARGUMENT);
        CHECK_UINT(out.a, 5); /* untouched */
        bytes[i] = 0;
    }
    CHECK_STR(error.message, "struct second: the caller was built for a newer vitals and sets "
                             "members that this one does not know");
}

static void a_size_that_none_has_is_refused(void)
{
    static const size_t NONE[] = {0, 1, sizeof(struct first) - 1, OPTIONS_SIZE_MAX + 1, SIZE_MAX};
    struct second given = DEFAULTS, out = {.a = 5};
    for (size_t i = 0; i < CHECK_COUNT(NONE); i++) {
        given.size = NONE[i];
        CHECK_INT(options_take(&FORM, &given, &out, &error), VITALS_EARGUMENT);
        CHECK_CONTAINS(error.message, "struct second has size ");
        CHECK_UINT(out.a, 5);
        CHECK_INT(options_take(&FORM, &given, &out, NULL), VITALS_EARGUMENT);
    }
}

static const check_test tests[] = {
    {"init writes what the caller has and no byte more",
     init_writes_what_the_caller_has_and_no_byte_more},
    {"an older caller gets the defaults of what it does not know",
     an_older_caller_gets_the_defaults_of_what_it_does_not_know},
    {"a newer caller may not ask for what we do not know",
     a_newer_caller_may_not_ask_for_what_we_do_not_know},
    {"a size that none has is refused", a_size_that_none_has_is_refused},
};
CHECK_TESTS(tests)
