/* Counted allocation: what is asked, what lives, what is made to fail. */
#include "check.h"

#include "util/memory.h"

static void blocks_are_zeroed_and_counted(void)
{
    uint64_t asked = memory_asked();
    int64_t live = memory_live();
    unsigned char *block = memory_array(100, 3);
    CHECK_NOT_NULL(block);
    for (size_t i = 0; i < 300; i++)
        CHECK_INT(block[i], 0);
    void *empty = memory_alloc(0);
    CHECK_NOT_NULL(empty);
    CHECK_UINT(memory_asked() - asked, 2);
    CHECK_INT(memory_live() - live, 2);
    memory_free(block);
    memory_free(empty);
    memory_free(NULL);
    CHECK_INT(memory_live() - live, 0);
}

static void sizes_that_overflow_are_refused(void)
{
    int64_t live = memory_live();
    CHECK_NULL(memory_array(SIZE_MAX / 2, 3));
    CHECK_NULL(memory_alloc(SIZE_MAX));
    char *block = memory_resize(NULL, 1, 4);
    CHECK_NOT_NULL(block);
    memcpy(block, "abc", 4);
    CHECK_NULL(memory_resize(block, SIZE_MAX / 2, 3));
    CHECK_STR(block, "abc");
    memory_free(block);
    CHECK_INT(memory_live(), live);
}

static void resizing_keeps_the_bytes(void)
{
    int64_t live = memory_live();
    char *block = memory_resize(NULL, 4, 1);
    memcpy(block, "abc", 4);
    block = memory_resize(block, 4000, 1);
    CHECK_NOT_NULL(block);
    CHECK_STR(block, "abc");
    CHECK_INT(memory_live() - live, 1);
    memory_free(block);
}

static void only_the_nth_fails(void)
{
    memory_fail_at(2);
    void *first = memory_alloc(1);
    void *second = memory_alloc(1);
    void *third = memory_alloc(1);
    memory_fail_at(0);
    CHECK_NOT_NULL(first);
    CHECK_NULL(second);
    CHECK_NOT_NULL(third);
    memory_free(first);
    memory_free(third);
}

static void an_array_grows_by_doubling(void)
{
    int *items = NULL;
    size_t capacity = 0;
    uint64_t asked = memory_asked();
    for (size_t count = 0; count < 1000; count++) {
        CHECK_INT(memory_grow((void **)&items, &capacity, count, sizeof *items), 0);
        items[count] = (int)count;
    }
    for (int i = 0; i < 1000; i++)
        CHECK_INT(items[i], i);
    CHECK(memory_asked() - asked < 12);
    size_t before = capacity;
    memory_fail_at(1);
    CHECK_INT(memory_grow((void **)&items, &capacity, capacity, sizeof *items), -1);
    memory_fail_at(0);
    CHECK_UINT(capacity, before);
    CHECK_INT(items[999], 999);
    memory_free(items);
}

static const check_test tests[] = {
    {"blocks are zeroed and counted", blocks_are_zeroed_and_counted},
    {"sizes that overflow are refused", sizes_that_overflow_are_refused},
    {"resizing keeps the bytes", resizing_keeps_the_bytes},
    {"only the n-th allocation fails", only_the_nth_fails},
    {"an array grows by doubling", an_array_grows_by_doubling},
};
CHECK_TESTS(tests)
