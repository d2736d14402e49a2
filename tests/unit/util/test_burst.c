/* Memory of a burst goes back to the kernel. */
#include "check.h"

#include "util/burst.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 32 * 1024, BYTES = 1000, SOON = 20, STEPS = 200 };

static size_t resident_bytes(void)
{
    size_t size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%zu %zu", &size, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void what_a_burst_held_goes_back(void)
{
    static char *blocks[BLOCKS + 1];
    struct burst burst = {0};
#ifndef __GLIBC__
    CHECK_SKIP("this C library decides by itself");
#endif
    if (CHECK_SANITIZED)
        CHECK_SKIP("a sanitizer has a heap of its own");
    if (resident_bytes() == 0)
        CHECK_SKIP("no /proc here");
    for (size_t i = 0; i <= BLOCKS; i++) {
        blocks[i] = malloc(BYTES);
        CHECK_NOT_NULL(blocks[i]);
        memset(blocks[i], 1, BYTES);
    }
    burst_step(&burst, BLOCKS);
    size_t most = resident_bytes();
    for (size_t i = 0; i < BLOCKS / 2; i++)
        free(blocks[i]);
    burst_step(&burst, 1);
    CHECK(resident_bytes() > most - (size_t)BLOCKS * BYTES / 4); /* the C library keeps it */
    for (int i = 0; i < SOON; i++)
        burst_step(&burst, 1);
    CHECK(resident_bytes() < most - (size_t)BLOCKS * BYTES / 4);
    for (size_t i = BLOCKS / 2; i < BLOCKS; i++) /* the last one stays, at the end of the heap */
        free(blocks[i]);
    for (int i = 0; i < STEPS; i++) /* and what was released later */
        burst_step(&burst, 1);
    CHECK(resident_bytes() < most - (size_t)BLOCKS * BYTES / 4 * 3);
    CHECK_UINT(burst.most, 1);
    free(blocks[BLOCKS]);
}

static void a_short_fall_is_no_end(void)
{
    struct burst burst = {0};
    for (int i = 0; i < STEPS; i++) {
        burst_step(&burst, 1000);
        for (int j = 0; j < 4; j++)
            burst_step(&burst, 1);
    }
    CHECK_UINT(burst.most, 1000);
}

static const check_test tests[] = {
    {"what a burst held goes back", what_a_burst_held_goes_back},
    {"a short fall is no end", a_short_fall_is_no_end},
};
CHECK_TESTS(tests)
