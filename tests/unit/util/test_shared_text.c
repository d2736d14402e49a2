/* Shared text: counted, equal by its bytes, cut where it is absurdly long. */
#include "check.h"

#include "util/memory.h"
#include "util/shared_text.h"

static void it_lives_until_the_last_unref(void)
{
    int64_t live = memory_live();
    struct shared_text *text = shared_text_new("a\0b", 3);
    CHECK_NOT_NULL(text);
    CHECK_BYTES(text->bytes, text->size + 1, "a\0b", 4);
    CHECK(shared_text_ref(text) == text);
    shared_text_unref(text);
    CHECK_INT(memory_live(), live + 1);
    shared_text_unref(text);
    CHECK_INT(memory_live(), live);
    shared_text_unref(NULL);
}

static void equal_means_the_same_bytes(void)
{
    struct shared_text *text = shared_text_new("abc", 3);
    CHECK(shared_text_equal(text, "abcd", 3));
    CHECK_FALSE(shared_text_equal(text, "abd", 3));
    CHECK_FALSE(shared_text_equal(text, "abcd", 4));
    shared_text_unref(text);
    struct shared_text *empty = shared_text_new(NULL, 0);
    CHECK_STR(empty->bytes, "");
    CHECK(shared_text_equal(empty, NULL, 0));
    shared_text_unref(empty);
}

static void text_beyond_the_cap_is_cut(void)
{
    size_t size = SHARED_TEXT_MAX + 10;
    char *bytes = calloc(1, size);
    struct shared_text *text = shared_text_new(bytes, size);
    free(bytes);
    CHECK_NOT_NULL(text);
    CHECK_UINT(text->size, SHARED_TEXT_MAX);
    shared_text_unref(text);
}

static void a_failed_allocation_is_null(void)
{
    int64_t live = memory_live();
    memory_fail_at(1);
    struct shared_text *text = shared_text_new("abc", 3);
    memory_fail_at(0);
    CHECK_NULL(text);
    CHECK_INT(memory_live(), live);
}

static const check_test tests[] = {
    {"it lives until the last unref", it_lives_until_the_last_unref},
    {"equal means the same bytes", equal_means_the_same_bytes},
    {"text beyond the cap is cut", text_beyond_the_cap_is_cut},
    {"a failed allocation is NULL", a_failed_allocation_is_null},
};
CHECK_TESTS(tests)
