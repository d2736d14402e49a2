/* process_metrics_memory.c: private and shared memory of a process: PSS, USS, swap, huge pages.
 *
 * The kernel walks every page of the process for it and holds the lock of its address space
 * meanwhile, so this is read only on demand. Lines are known by their labels alone, since kernels
 * add new ones, and some have no number or no unit (VmFlags). Thread rule: any thread. */
#include "os/linux/process/process_metrics.h"

#include <errno.h>
#include <string.h>

enum {
    PIECE = 64 * 1024,
    SMAPS_LIMIT = 1 << 28 /* a million mappings have half of that */
};

size_t linux_add_smaps(const char *bytes, size_t size, struct linux_smaps *sum)
{
    static const struct {
        const char *label;
        size_t place;
        unsigned bit;
    } LINES[] = {
        {"Pss:", offsetof(struct linux_smaps, pss_bytes), SMAPS_PSS},
        {"Pss_Anon:", offsetof(struct linux_smaps, pss_anon_bytes), SMAPS_PSS_ANON},
        {"Pss_File:", offsetof(struct linux_smaps, pss_file_bytes), SMAPS_PSS_FILE},
        {"Pss_Shmem:", offsetof(struct linux_smaps, pss_shmem_bytes), SMAPS_PSS_SHMEM},
        {"Private_Clean:", offsetof(struct linux_smaps, private_clean_bytes), SMAPS_CLEAN},
        {"Private_Dirty:", offsetof(struct linux_smaps, private_dirty_bytes), SMAPS_DIRTY},
        {"Private_Hugetlb:", offsetof(struct linux_smaps, private_hugetlb_bytes), SMAPS_HUGETLB},
        {"SwapPss:", offsetof(struct linux_smaps, swap_pss_bytes), SMAPS_SWAP_PSS},
        {"AnonHugePages:", offsetof(struct linux_smaps, thp_bytes), SMAPS_THP},
    };
    const char *end = size != 0 ? memrchr(bytes, '\n', size) : NULL;
    if (end == NULL)
        return 0;
    struct cursor cursor = cursor_over(bytes, (size_t)(end + 1 - bytes));
    for (struct span line; cursor_line(&cursor, &line);) {
        struct cursor rest = cursor_over(line.bytes, line.size);
        uint64_t number, total;
        size_t i = 0;
        while (i < ARRAY_COUNT(LINES) && !cursor_literal(&rest, LINES[i].label))
            i++;
        if (i == ARRAY_COUNT(LINES) || !cursor_u64(&rest, &number))
            continue;
        char *place = (char *)sum + LINES[i].place;
        memcpy(&total, place, sizeof total);
        total = saturating_add(total, saturating_mul(number, 1024));
        memcpy(place, &total, sizeof total);
        sum->has |= LINES[i].bit;
    }
    return (size_t)(end + 1 - bytes);
}

/* Adds up a file by pieces. *cut: there was more than any process has, or it ended early: smaps
 * ends where the process ends or begins another program, and then not even its first line is there
 * any more. smaps_rollup says so by itself. */
static int add_file(struct metrics_reading *reading, const char *name, bool may_end_early,
                    struct linux_smaps *sum, bool *cut)
{
    struct buffer *text = &reading->text;
    int descriptor = linux_process_open(reading->os, reading->pid, name, 0);
    if (descriptor < 0)
        return descriptor;
    uint64_t offset = 0;
    int64_t size = 1;
    buffer_reset(text);
    while (size > 0 && offset < SMAPS_LIMIT) {
        char *at = buffer_reserve(text, PIECE);
        size = at != NULL ? linux_read(descriptor, at, PIECE, offset) : -ENOMEM;
        if (size <= 0)
            break;
        buffer_advance(text, (size_t)size);
        offset += (uint64_t)size;

        // The last line goes on in the next piece, unless it is longer than any.
        size_t taken = linux_add_smaps(text->bytes, text->size, sum);
        text->size = text->size - taken < PIECE ? text->size - taken : 0;
        memmove(text->bytes, text->bytes + taken, text->size);
        text->bytes[text->size] = '\0';
    }
    char byte;
    *cut = size > 0 || (size == 0 && may_end_early && linux_read(descriptor, &byte, 1, 0) <= 0);
    os_close_descriptor(descriptor);
    return size < 0 ? (int)size : 0;
}

void metrics_read_memory(struct metrics_reading *reading, const vitals_metric *metrics)
{
    struct linux_smaps sum = {0};
    bool cut = false;
    int result = add_file(reading, "smaps_rollup", false, &sum, &cut);
    if (result == -ENOENT) // before 4.14, or it is gone
        result = add_file(reading, "smaps", true, &sum, &cut);
    vitals_availability state = cut ? VITALS_LOWER_BOUND : VITALS_HAVE;
    if (result == -ESRCH || (result == 0 && sum.has == 0)) {
        // Only the kernel's threads live without memory: they share none and have none.
        enum process_kind kind = metrics_kind_of(reading);
        state = kind == PROCESS_KERNEL_THREAD ? VITALS_HAVE
                : kind == PROCESS_UNKNOWN     ? batch_reason(reading, -ENOENT)
                                              : VITALS_GONE;
        sum.has = ~0u;
    } else if (result < 0) {
        state = batch_reason(reading, result);
    }
    if (state <= 0) {
        batch_missing_all(reading->out, metrics, state);
        return;
    }
    uint64_t private = saturating_add(sum.private_clean_bytes, sum.private_dirty_bytes);
    const struct metrics_number numbers[] = {
        {VITALS_PROCESS_PSS_BYTES, SMAPS_PSS, sum.pss_bytes},
        {VITALS_PROCESS_PSS_ANON_BYTES, SMAPS_PSS_ANON, sum.pss_anon_bytes},
        {VITALS_PROCESS_PSS_FILE_BYTES, SMAPS_PSS_FILE, sum.pss_file_bytes},
        {VITALS_PROCESS_PSS_SHMEM_BYTES, SMAPS_PSS_SHMEM, sum.pss_shmem_bytes},
        {VITALS_PROCESS_USS_BYTES, SMAPS_CLEAN | SMAPS_DIRTY,
         saturating_add(private, sum.private_hugetlb_bytes)},
        {VITALS_PROCESS_SWAP_PSS_BYTES, SMAPS_SWAP_PSS, sum.swap_pss_bytes},
        {VITALS_PROCESS_THP_BYTES, SMAPS_THP, sum.thp_bytes},
    };
    batch_set_numbers(reading->out, numbers, ARRAY_COUNT(numbers), sum.has, state,
                      VITALS_UNSUPPORTED);
}
