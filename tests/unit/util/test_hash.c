/* The hash against a plain array that does the same. */
#include "check.h"

#include "util/hash.h"
#include "util/memory.h"

enum { KEYS = 512 };

/* Keys that fall into few places, and the extremes. */
static uint64_t key_of(size_t i)
{
    return i == 1 ? UINT64_MAX : (uint64_t)i << (i % 3 * 20);
}

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 33;
}

static void it_agrees_with_an_array(void)
{
    struct hash hash = {0};
    static uintptr_t model[KEYS];
    static bool present[KEYS];
    size_t count = 0;
    uint64_t state = 1;
    for (int step = 0; step < 100000; step++) {
        size_t i = random_next(&state) % KEYS;
        if (random_next(&state) % 2 == 0) {
            count += !present[i];
            model[i] = (uintptr_t)step;
            present[i] = true;
            CHECK_INT(hash_set(&hash, key_of(i), model[i]), 0);
        } else {
            count -= present[i];
            present[i] = false;
            hash_remove(&hash, key_of(i));
        }
        CHECK_UINT(hash.count, count);
        size_t other = random_next(&state) % KEYS;
        const uintptr_t *value = hash_find(&hash, key_of(other));
        CHECK((value != NULL) == present[other]);
        if (value != NULL)
            CHECK_UINT(*value, model[other]);
    }
    for (size_t i = 0; i < KEYS; i++)
        CHECK((hash_find(&hash, key_of(i)) != NULL) == present[i]);
    hash_done(&hash);
}

static void an_empty_one_has_nothing(void)
{
    struct hash hash = {0};
    CHECK_NULL(hash_find(&hash, 0));
    hash_remove(&hash, 0);
    hash_reset(&hash);
    hash_done(&hash);
}

static void reset_keeps_the_memory(void)
{
    struct hash hash = {0};
    for (uint64_t key = 0; key < 100; key++)
        CHECK_INT(hash_set(&hash, key, 1), 0);
    hash_reset(&hash);
    CHECK_NULL(hash_find(&hash, 5));
    uint64_t asked = memory_asked();
    for (uint64_t key = 1000; key < 1100; key++)
        CHECK_INT(hash_set(&hash, key, 2), 0);
    CHECK_UINT(memory_asked(), asked);
    hash_done(&hash);
}

static void every_failed_allocation_is_survived(void)
{
    int64_t live = memory_live();
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        struct hash hash = {0};
        uint64_t set = 0;
        failed = false;
        memory_fail_at(nth);
        for (uint64_t key = 0; key < 1000 && !failed; key++) {
            failed = hash_set(&hash, key, (uintptr_t)key + 1) < 0;
            set += !failed;
        }
        memory_fail_at(0);
        CHECK_UINT(hash.count, set);
        for (uint64_t key = 0; key < set; key++)
            CHECK_UINT(*hash_find(&hash, key), key + 1);
        hash_done(&hash);
        CHECK_INT(memory_live(), live);
        CHECK(nth < 20);
    }
}

static void bytes_that_differ_hash_apart(void)
{
    CHECK(hash_bytes("a", 1) != hash_bytes("b", 1));
    CHECK(hash_bytes("", 0) != hash_bytes("\0", 1));
    CHECK(hash_bytes("ab", 2) != hash_bytes("ba", 2));
    CHECK(hash_bytes("same", 4) == hash_bytes("same!", 4));
}

/* Each byte counts, at every size and wherever the text stands in memory; so does the order. */
static void each_byte_counts(void)
{
    enum { MOST = 40 };
    char bytes[MOST + 8];
    for (size_t size = 1; size <= MOST; size++) {
        memset(bytes, 'x', sizeof bytes);
        uint64_t whole = hash_bytes(bytes, size);
        CHECK(whole != hash_bytes(bytes, size - 1));
        CHECK_UINT(hash_bytes(bytes + size % 8, size), whole);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = 'y';
            CHECK(hash_bytes(bytes, size) != whole);
            bytes[i] = 'x';
        }
        memset(bytes, 0, sizeof bytes);
        CHECK(hash_bytes(bytes, size) != hash_bytes(bytes, size - 1));
    }
    CHECK(hash_join(1, 2) != hash_join(2, 1));
    CHECK(hash_join(hash_join(0, 1), 2) != hash_join(hash_join(0, 2), 1));
}

/* Names made to collide, with the hash function but not its seed known. */
static void chosen_names_do_not_meet(void)
{
    enum { NAMES = 8 };
    struct {
        uint64_t chosen, fitted;
    } names[NAMES];
    for (uint64_t i = 0; i < NAMES; i++) {
        uint64_t before = hash_join(sizeof names[0], i);
        names[i].chosen = i;
        names[i].fitted = before * UINT64_C(0x9e3779b97f4a7c15) ^ 42;
        CHECK_UINT(hash_join(before, names[i].fitted), hash_join(0, 42));
        for (uint64_t j = 0; j < i; j++)
            CHECK(hash_bytes(&names[i], sizeof names[i]) != hash_bytes(&names[j], sizeof names[j]));
    }
}

static void room_can_be_made_ahead(void)
{
    struct hash hash = {0};
    memory_fail_at(1);
    CHECK_INT(hash_reserve(&hash, KEYS), -1);
    memory_fail_at(0);
    CHECK_INT(hash_reserve(&hash, SIZE_MAX), -1);
    CHECK_NULL(hash_find(&hash, 0));
    CHECK_INT(hash_set(&hash, 7, 70), 0);
    CHECK_INT(hash_reserve(&hash, KEYS), 0);
    uint64_t asked = memory_asked();
    CHECK_INT(hash_reserve(&hash, 1), 0);
    for (size_t i = 1; i < KEYS; i++)
        CHECK_INT(hash_set(&hash, 1000 + i, i), 0);
    CHECK_UINT(memory_asked(), asked);
    CHECK_UINT(*hash_find(&hash, 7), 70);
    CHECK_UINT(*hash_find(&hash, 1000 + KEYS - 1), KEYS - 1);
    hash_done(&hash);
}

static const check_test tests[] = {
    {"it agrees with an array", it_agrees_with_an_array},
    {"an empty one has nothing", an_empty_one_has_nothing},
    {"reset keeps the memory", reset_keeps_the_memory},
    {"every failed allocation is survived", every_failed_allocation_is_survived},
    {"bytes that differ hash apart", bytes_that_differ_hash_apart},
    {"each byte counts", each_byte_counts},
    {"chosen names do not meet", chosen_names_do_not_meet},
    {"room can be made ahead", room_can_be_made_ahead},
};
CHECK_TESTS(tests)
