/* memory.c: counted allocation, with a failure that a test can place.
 *
 * Not a pool: malloc is fast enough where a steady tick does not call it. */
#include "util/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Any thread; the numbers order nothing else, so relaxed is enough. */
static atomic_uint_fast64_t asked;
static atomic_int_fast64_t live;
static atomic_uint_fast64_t fail_in; /* 0: never */

/* Counts a request; false where a test wants this one to fail. */
static bool admit(void)
{
    atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    uint_fast64_t left = atomic_load_explicit(&fail_in, memory_order_relaxed);
    while (left != 0) {
        if (atomic_compare_exchange_weak_explicit(&fail_in, &left, left - 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return left != 1;
    }
    return true;
}

static void *born(void *block)
{
    if (block != NULL)
        atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return block;
}

/* malloc(0) may give NULL, which would read as a failure. */
static bool bytes_of(size_t count, size_t size, size_t *bytes)
{
    if (size != 0 && count > SIZE_MAX / size)
        return false;
    *bytes = size_max(count * size, 1);
    return *bytes <= PTRDIFF_MAX;
}

void *memory_array(size_t count, size_t size)
{
    size_t bytes;
    if (!admit() || !bytes_of(count, size, &bytes))
        return NULL;
    return born(calloc(1, bytes));
}

void *memory_alloc(size_t size)
{
    return memory_array(1, size);
}

char *memory_string(const char *string)
{
    char *copy = memory_alloc(strlen(string) + 1);
    return copy != NULL ? strcpy(copy, string) : NULL;
}

void *memory_resize(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (!admit() || !bytes_of(count, size, &bytes))
        return NULL;
    if (block == NULL)
        return born(malloc(bytes));
    return realloc(block, bytes);
}

void memory_free(void *block)
{
    if (block == NULL)
        return;
    atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(block);
}

/* `items` is the place of a pointer of any type, so it is read and written as bytes. */
int memory_grow(void *items, size_t *capacity, size_t count, size_t size)
{
    void *grown;
    if (count < *capacity)
        return 0;
    size_t wanted = size_max(*capacity, 8);
    if (wanted > SIZE_MAX / 2)
        return -1;
    if (*capacity != 0)
        wanted *= 2;
    wanted = size_max(wanted, count + 1);
    memcpy(&grown, items, sizeof grown);
    grown = memory_resize(grown, wanted, size);
    if (grown == NULL)
        return -1;
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return 0;
}

uint64_t memory_asked(void)
{
    return atomic_load_explicit(&asked, memory_order_relaxed);
}

int64_t memory_live(void)
{
    return atomic_load_explicit(&live, memory_order_relaxed);
}

void memory_fail_at(uint64_t nth)
{
    atomic_store_explicit(&fail_in, nth, memory_order_relaxed);
}
