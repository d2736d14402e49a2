/* process_metrics_memory.c: private and shared memory of a process: PSS, USS, swap, huge pages.
 *
 * The kernel walks every page of the process for it and holds the lock of its address space
 * meanwhile, so this is read only on demand. Thread rule: any thread. */
#include "os/linux/process/process_metrics.h"

#include <errno.h>
#include <string.h>

enum {
    ROLLUP_LIMIT = 64 * 1024,
    PIECE = 64 * 1024,
    SMAPS_LIMIT = 1 << 28 /* a million mappings have half of that */
};

/* Keeps the end of the text from `taken` on: a line that goes on in the next piece. */
static void keep_rest(struct buffer *text, size_t taken)
{
    size_t size = text->size - taken;
    if (size >= PIECE) // longer than any line
        size = 0;
    memmove(text->bytes, text->bytes + taken, size);
    text->size = size;
    text->bytes[size] = '\0';
}

/* Everything to the end of the file, by pieces. *cut: there was more than anybody has. */
static int add_pieces(struct buffer *text, int descriptor, struct linux_smaps *sum, bool *cut)
{
    buffer_reset(text);
    for (uint64_t offset = 0; offset < SMAPS_LIMIT;) {
        char *at = buffer_reserve(text, PIECE);
        if (at == NULL)
            return -ENOMEM;
        int64_t size = linux_read(descriptor, at, PIECE, offset);
        if (size <= 0)
            return (int)size;
        buffer_advance(text, (size_t)size);
        offset += (uint64_t)size;
        keep_rest(text, linux_add_smaps(text->bytes, text->size, sum));
    }
    *cut = true;
    return 0;
}

/* smaps ends early where the process ends or begins another program: then not even its first line
 * is there any more. smaps_rollup says so by itself. */
static bool has_ended(int descriptor)
{
    char byte;
    return linux_read(descriptor, &byte, 1, 0) <= 0;
}

static int add_file(struct metrics_reading *reading, const char *name, bool in_parts,
                    struct linux_smaps *sum, bool *cut)
{
    char path[PROCESS_PATH];
    if (!linux_process_path(path, reading->pid, name))
        return -EINVAL;
    int descriptor = linux_open(reading->os, reading->os->proc, path, 0);
    if (descriptor < 0)
        return descriptor;
    int result = add_pieces(&reading->text, descriptor, sum, cut);
    if (result == 0 && in_parts && has_ended(descriptor))
        *cut = true;
    os_close_descriptor(descriptor);
    return result;
}

/* Nothing but the kernel's threads lives without memory: they share none and have none. */
static vitals_availability state_without(struct metrics_reading *reading, struct linux_smaps *sum)
{
    enum metrics_kind kind = metrics_kind_of(reading);
    if (kind != METRICS_KERNEL_THREAD)
        return kind == METRICS_NOT_KNOWN ? batch_reason(reading, -ENOENT) : VITALS_GONE;
    sum->has = SMAPS_PSS | SMAPS_CLEAN | SMAPS_DIRTY | SMAPS_SWAP_PSS | SMAPS_THP;
    return VITALS_HAVE;
}

static vitals_availability sum_up(struct metrics_reading *reading, struct linux_smaps *sum)
{
    bool cut = false;
    int result = add_file(reading, "smaps_rollup", false, sum, &cut);
    if (result == -ENOENT) // before 4.14, or it is gone
        result = add_file(reading, "smaps", true, sum, &cut);
    if (result == -ESRCH || (result == 0 && sum->has == 0))
        return state_without(reading, sum);
    if (result < 0)
        return batch_reason(reading, result);
    return cut ? VITALS_LOWER_BOUND : VITALS_HAVE;
}

void metrics_read_memory(struct metrics_reading *reading, const vitals_metric *metrics)
{
    struct linux_smaps sum = {0};
    vitals_availability state = sum_up(reading, &sum);
    if (state <= 0) {
        batch_missing_all(reading->out, metrics, state);
        return;
    }
    uint64_t private = saturating_add(sum.private_clean_bytes, sum.private_dirty_bytes);
    const struct {
        vitals_metric metric;
        uint64_t bytes;
        unsigned bits;
    } values[] = {
        {VITALS_PROCESS_PSS_BYTES, sum.pss_bytes, SMAPS_PSS},
        {VITALS_PROCESS_USS_BYTES, saturating_add(private, sum.private_hugetlb_bytes),
         SMAPS_CLEAN | SMAPS_DIRTY},
        {VITALS_PROCESS_SWAP_PSS_BYTES, sum.swap_pss_bytes, SMAPS_SWAP_PSS},
        {VITALS_PROCESS_THP_BYTES, sum.thp_bytes, SMAPS_THP},
    };
    for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
        if ((sum.has & values[i].bits) == values[i].bits)
            fact_u64_as(reading->out, values[i].metric, values[i].bytes, state);
        else
            batch_set_missing(reading->out, values[i].metric, VITALS_UNSUPPORTED);
    }
}
