/* Any bytes as a record of taskstats, and any order of ends: nothing is read beyond the bytes, each
 * process is counted at most once, and no memory is left. */
#include "os/linux/accounting/exit_records.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LAUNCHER = 3, STEP = 4 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Few pids, so that they meet: which process ended, its parent, and whether it was the last thread.
 */
static void ends(const uint8_t *data, size_t size)
{
    struct exit_tree *tree = exit_tree_new(LAUNCHER);
    struct exit_sums sums = {0};
    uint64_t processes = 0;
    for (size_t i = 0; tree != NULL && i + STEP <= size; i += STEP) {
        const bool last = data[i + 2] % 4 != 0;
        const uint64_t peak = last ? data[i + 3] : 0;
        const struct exit_record record = {.pid = data[i] % 16u,
                                           .group = data[i] % 16u,
                                           .parent = data[i + 1] % 16u,
                                           .last = last,
                                           .used = {.processes = last,
                                                    .cpu_ns = data[i + 3],
                                                    .largest_bytes = peak,
                                                    .sum_bytes = peak}};
        if (data[i + 2] % 8 == 7) {
            (void)exit_tree_take(tree, record.pid, &sums);
        } else {
            processes += record.last ? 1 : 0;
            exit_tree_add(tree, &record);
        }
        require(sums.processes <= processes);
        require(sums.largest_bytes <= sums.sum_bytes && sums.largest_bytes <= UINT8_MAX);
    }
    exit_tree_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t live = memory_live();
    struct exit_record record = {0};
    int code = exit_record_parse((const char *)data, size, &record);
    require(code <= 0);
    if (code < 0)
        require(record.pid == 0 && record.used.cpu_ns == 0);
    ends(data, size);
    require(memory_live() == live);
    return 0;
}
