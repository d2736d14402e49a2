/* parse_smaps.c: sums of /proc/PID/smaps_rollup, and of smaps where a kernel before 4.14 has no
 * such file. Lines are known by their labels alone, since kernels add new ones, and some have no
 * number or no unit (VmFlags, ProtectionKey). Pure. */
#include "os/linux/process/process_metrics.h"

#include <string.h>

static const struct {
    const char *label;
    size_t place;
    unsigned bit;
} LINES[] = {
    {"Pss:", offsetof(struct linux_smaps, pss_bytes), SMAPS_PSS},
    {"Private_Clean:", offsetof(struct linux_smaps, private_clean_bytes), SMAPS_CLEAN},
    {"Private_Dirty:", offsetof(struct linux_smaps, private_dirty_bytes), SMAPS_DIRTY},
    {"Private_Hugetlb:", offsetof(struct linux_smaps, private_hugetlb_bytes), SMAPS_HUGETLB},
    {"SwapPss:", offsetof(struct linux_smaps, swap_pss_bytes), SMAPS_SWAP_PSS},
    {"AnonHugePages:", offsetof(struct linux_smaps, thp_bytes), SMAPS_THP},
};

static void add_line(struct span line, struct linux_smaps *sum)
{
    for (size_t i = 0; i < ARRAY_COUNT(LINES); i++) {
        struct cursor rest = cursor_over(line.bytes, line.size);
        uint64_t number, total;
        if (!cursor_literal(&rest, LINES[i].label))
            continue;
        if (!cursor_u64(&rest, &number))
            return;
        char *place = (char *)sum + LINES[i].place;
        memcpy(&total, place, sizeof total);
        total = saturating_add(total, saturating_mul(number, 1024));
        memcpy(place, &total, sizeof total);
        sum->has |= LINES[i].bit;
        return;
    }
}

size_t linux_add_smaps(const char *bytes, size_t size, struct linux_smaps *sum)
{
    const char *end = size != 0 ? memrchr(bytes, '\n', size) : NULL;
    if (end == NULL)
        return 0;
    struct cursor cursor = cursor_over(bytes, (size_t)(end + 1 - bytes));
    for (struct span line; cursor_line(&cursor, &line);)
        add_line(line, sum);
    return (size_t)(end + 1 - bytes);
}
