/* What search.h finds, against looking at every item. */
#include "check.h"

#include "util/search.h"

enum { ITEMS = 40 };

struct item {
    char before[8];
    uint64_t key;
    uint8_t behind;
};

/* Sorted; 3 apart, the first 1, so that there are keys between, before and behind them. */
static void fill(struct item *items, size_t count)
{
    memset(items, 0xFF, count * sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i].key = 1 + 3 * i;
}

static bool is_before(const void *item, const void *key)
{
    return ((const struct item *)item)->key < *(const uint64_t *)key;
}

static void it_finds_each_key_and_no_other(void)
{
    struct item items[ITEMS];
    fill(items, ITEMS);
    for (size_t count = 0; count <= ITEMS; count++)
        for (uint64_t key = 0; key < 3 * ITEMS + 4; key++) {
            struct item *expected = NULL;
            for (size_t i = 0; i < count; i++)
                expected = items[i].key == key ? &items[i] : expected;
            struct search_number number = {offsetof(struct item, key), key};
            CHECK(search_find(items, count, sizeof *items, number) == expected);
        }
}

static void it_gives_the_place_where_a_key_would_stand(void)
{
    struct item items[ITEMS];
    fill(items, ITEMS);
    for (size_t count = 0; count <= ITEMS; count++)
        for (uint64_t key = 0; key < 3 * ITEMS + 4; key++) {
            size_t expected = 0;
            while (expected < count && items[expected].key < key)
                expected++;
            CHECK_UINT(search_place(items, count, sizeof *items, &key, is_before), expected);
        }
}

static void of_equal_items_it_gives_the_first(void)
{
    struct item items[ITEMS];
    fill(items, ITEMS);
    for (size_t i = 10; i < 30; i++)
        items[i].key = 40;
    uint64_t key = 40;
    CHECK_UINT(search_place(items, ITEMS, sizeof *items, &key, is_before), 10);
    struct search_number number = {offsetof(struct item, key), 40};
    CHECK(search_find(items, ITEMS, sizeof *items, number) == &items[10]);
}

static void it_takes_the_ends_of_the_range(void)
{
    uint64_t numbers[] = {0, 1, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        CHECK(search_find(numbers, ARRAY_COUNT(numbers), sizeof *numbers,
                          (struct search_number){0, numbers[i]}) == &numbers[i]);
    struct search_number other = {0, UINT64_MAX / 2};
    CHECK(search_find(numbers, ARRAY_COUNT(numbers), sizeof *numbers, other) == NULL);
}

static void an_empty_list_may_be_no_list(void)
{
    CHECK(search_find(NULL, 0, sizeof(uint64_t), (struct search_number){0, 7}) == NULL);
    CHECK_UINT(search_place(NULL, 0, sizeof(uint64_t), "", is_before), 0);
}

static const check_test tests[] = {
    {"it finds each key and no other", it_finds_each_key_and_no_other},
    {"it gives the place where a key would stand", it_gives_the_place_where_a_key_would_stand},
    {"of equal items it gives the first", of_equal_items_it_gives_the_first},
    {"it takes the ends of the range", it_takes_the_ends_of_the_range},
    {"an empty list may be no list", an_empty_list_may_be_no_list},
};
CHECK_TESTS(tests)
