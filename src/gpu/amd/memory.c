/* memory.c: size and use of a card's memory.
 *
 * A processor with graphics reserves a small part of the machine's memory (vram in its files) and
 * uses as much of the rest as it needs (gtt): its memory is the sum of both, an estimate, and at
 * most the machine's memory. */
#include "gpu/amd/state.h"

#include <stdio.h>
#include <string.h>

struct pool {
    struct value total, used;
};

static struct pool read_pool(struct amd_reader *reader, const char *name)
{
    char file[64];
    struct pool pool;
    snprintf(file, sizeof file, "mem_info_%s_total", name);
    pool.total = amd_read_number(reader, file);
    snprintf(file, sizeof file, "mem_info_%s_used", name);
    pool.used = amd_read_number(reader, file);
    if (pool.total.state > 0 && pool.used.state > 0 && pool.used.as.u64 > pool.total.as.u64)
        pool.used = value_missing(VITALS_FAILED);
    return pool;
}

static void fill_pool(struct amd_reader *reader, const char *label, const struct pool *pool)
{
    if (pool->total.state == VITALS_UNSUPPORTED && pool->used.state == VITALS_UNSUPPORTED)
        return;
    gpu_fill_child(reader->sample, VITALS_GPU_POOL_TOTAL_BYTES, label, pool->total);
    gpu_fill_child(reader->sample, VITALS_GPU_POOL_USED_BYTES, label, pool->used);
}

static struct value sum(struct value a, struct value b)
{
    if (a.state <= 0 || b.state <= 0)
        return a.state <= 0 ? a : b;
    struct value both = value_u64(saturating_add(a.as.u64, b.as.u64));
    both.state = VITALS_ESTIMATE;
    return both;
}

static struct pool unite(struct amd_reader *reader, const struct pool *vram, const struct pool *gtt)
{
    struct pool both = {sum(vram->total, gtt->total), sum(vram->used, gtt->used)};
    char text[128]; /* "MemTotal:       15728640 kB" is the first line */
    uint64_t kilobytes, most = 0;
    int result = os_proc_text(reader->os, "meminfo", text, sizeof text);
    struct cursor cursor = cursor_over(text, result < 0 ? 0 : strlen(text));
    if (cursor_literal(&cursor, "MemTotal:") && cursor_u64(&cursor, &kilobytes))
        most = saturating_mul(kilobytes, 1024);
    if (both.total.state > 0 && most > 0 && both.total.as.u64 > most) {
        both.total.as.u64 = most;
        if (both.used.state > 0 && both.used.as.u64 > most)
            both.total.as.u64 = both.used.as.u64;
    }
    return both;
}

/* No file has the memory in use of a partition: the sum over its compute processes is a lower
 * bound. */
static void read_partition(struct amd_reader *reader)
{
    const struct kfd_node *node = &reader->device->nodes[0];
    struct os_sys_names names;
    struct value sum = {.state = VITALS_LOWER_BOUND};
    int64_t pid;
    struct kfd_memory memory;
    kfd_read_memory(reader->os, node->number, &memory);
    if (memory.bytes == 0)
        return;
    gpu_fill(reader->sample, VITALS_GPU_MEMORY_TOTAL_BYTES, value_u64(memory.bytes));
    if (!amd_wants(reader, VITALS_GPU_MEMORY_USED_BYTES))
        return;
    os_sys_names(&names, reader->os, KFD_PROCESSES);
    for (const char *name; (name = kfd_next_process(&names, &pid)) != NULL;) {
        struct kfd_usage usage;
        if (kfd_read_usage(reader->os, name, node->gpu_id, KFD_MEMORY, &usage) &&
            usage.memory_bytes.state > 0)
            sum.as.u64 = saturating_add(sum.as.u64, usage.memory_bytes.as.u64);
    }
    if (names.result < 0)
        return;
    if (sum.as.u64 > memory.bytes)
        sum = value_missing(VITALS_FAILED);
    gpu_fill(reader->sample, VITALS_GPU_MEMORY_USED_BYTES, sum);
}

void amd_read_memory(struct amd_reader *reader)
{
    bool of_pools = gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_POOL);
    bool of_device = amd_wants(reader, VITALS_GPU_MEMORY_TOTAL_BYTES) ||
                     amd_wants(reader, VITALS_GPU_MEMORY_USED_BYTES) ||
                     amd_wants(reader, VITALS_GPU_MEMORY_FREE_BYTES);
    if (!of_pools && !of_device && !amd_wants(reader, VITALS_GPU_UNIFIED_MEMORY))
        return;
    if (reader->device->partition >= 0) {
        if (of_device)
            read_partition(reader);
        return;
    }
    amd_learn_sensors(reader);
    bool unified = reader->device->unified;
    gpu_fill(reader->sample, VITALS_GPU_UNIFIED_MEMORY, value_u64(unified));
    if (!of_pools && !of_device)
        return;
    struct pool vram = read_pool(reader, "vram"), gtt = {0};
    if (of_pools || unified)
        gtt = read_pool(reader, "gtt");
    struct pool own = unified ? unite(reader, &vram, &gtt) : vram;
    gpu_fill(reader->sample, VITALS_GPU_MEMORY_TOTAL_BYTES, own.total);
    gpu_fill(reader->sample, VITALS_GPU_MEMORY_USED_BYTES, own.used);
    if (own.total.state > 0 && own.used.state > 0) {
        struct value free = own.total;
        free.as.u64 -= own.used.as.u64;
        gpu_fill(reader->sample, VITALS_GPU_MEMORY_FREE_BYTES, free);
    }
    if (!of_pools)
        return;
    struct pool visible = read_pool(reader, "vis_vram");
    if (unified)
        fill_pool(reader, "vram", &vram);
    else
        fill_pool(reader, "vram_visible", &visible);
    fill_pool(reader, "gtt", &gtt);
}
