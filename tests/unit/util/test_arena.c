/* The arena: aligned and zeroed, and quiet once it has seen its largest tick. */
#include "check.h"

#include "util/arena.h"
#include "util/memory.h"

#include <malloc.h>
#include <stdalign.h>

static void memory_is_aligned_zeroed_and_apart(void)
{
    struct arena arena = {0};
    char *last = NULL;
    for (size_t size = 0; size < 200; size++) {
        char *block = arena_alloc(&arena, size);
        CHECK_NOT_NULL(block);
        CHECK_UINT((uintptr_t)block % alignof(max_align_t), 0);
        CHECK(block != last);
        for (size_t i = 0; i < size; i++)
            CHECK_INT(block[i], 0);
        memset(block, 'x', size);
        last = block;
    }
    arena_done(&arena);
}

static void what_was_used_before_is_zero_again(void)
{
    struct arena arena = {0};
    memset(arena_alloc(&arena, 5000), 'x', 5000);
    arena_reset(&arena);
    const char *again = arena_alloc(&arena, 5000);
    for (size_t i = 0; i < 5000; i++)
        CHECK_INT(again[i], 0);
    arena_done(&arena);
}

static bool tick(struct arena *arena, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (arena_array(arena, i % 50, 16) == NULL || arena_copy(arena, "name", 4) == NULL)
            return false;
    return true;
}

static void a_steady_tick_allocates_nothing(void)
{
    struct arena arena = {0};
    CHECK(tick(&arena, 3000));
    arena_reset(&arena);
    uint64_t asked = memory_asked();
    for (int i = 0; i < 5; i++) {
        CHECK(tick(&arena, 3000));
        arena_reset(&arena);
    }
    CHECK_UINT(memory_asked(), asked);
    arena_done(&arena);
}

static void a_block_larger_than_any_is_given(void)
{
    struct arena arena = {0};
    char *small = arena_copy(&arena, "small", 5);
    char *large = arena_alloc(&arena, 10 << 20);
    CHECK_NOT_NULL(large);
    memset(large, 'x', 10 << 20);
    CHECK_STR(small, "small");
    CHECK_STR(arena_copy(&arena, NULL, 0), "");
    CHECK_NULL(arena_array(&arena, SIZE_MAX / 2, 4));
    CHECK_NULL(arena_alloc(&arena, SIZE_MAX));
    CHECK_NULL(arena_copy(&arena, "", SIZE_MAX));
    arena_done(&arena);
}

static void every_failed_allocation_is_survived(void)
{
    int64_t live = memory_live();
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        struct arena arena = {0};
        uint64_t asked = memory_asked();
        memory_fail_at(nth);
        CHECK(tick(&arena, 3000) || memory_asked() - asked >= nth);
        arena_reset(&arena); /* joining the blocks may fail; the pieces then serve */
        CHECK(tick(&arena, 3000) || memory_asked() - asked >= nth);
        failed = memory_asked() - asked >= nth;
        memory_fail_at(0);
        arena_done(&arena);
        CHECK_INT(memory_live(), live);
    }
}

/* Thousands of processes come and go; now and then a tick is a large one. */
static void what_is_hardly_used_goes_back(void)
{
    struct arena arena = {0};
    for (int i = 0; i < 8192; i++)
        CHECK_NOT_NULL(arena_alloc(&arena, 1024));
    arena_reset(&arena);
    for (int i = 0; i < 7; i++) {
        CHECK_NOT_NULL(arena_alloc(&arena, 1000));
        arena_reset(&arena);
    }
    CHECK(malloc_usable_size(arena.first) >= 8192 * 1024);
    CHECK_NOT_NULL(arena_alloc(&arena, 4096 * 1024));
    arena_reset(&arena);
    for (int i = 0; i < 8; i++) {
        CHECK(malloc_usable_size(arena.first) >= 8192 * 1024);
        CHECK_NOT_NULL(arena_alloc(&arena, 1000));
        arena_reset(&arena);
    }
    CHECK(malloc_usable_size(arena.first) < 64 * 1024);
    CHECK_NOT_NULL(arena_alloc(&arena, 1000));
    arena_done(&arena);
}

static const check_test tests[] = {
    {"memory is aligned, zeroed and apart", memory_is_aligned_zeroed_and_apart},
    {"what was used before is zero again", what_was_used_before_is_zero_again},
    {"a steady tick allocates nothing", a_steady_tick_allocates_nothing},
    {"a block larger than any is given", a_block_larger_than_any_is_given},
    {"what is hardly used goes back", what_is_hardly_used_goes_back},
    {"every failed allocation is survived", every_failed_allocation_is_survived},
};
CHECK_TESTS(tests)
