/* parse_meminfo.c: /proc/meminfo, and the watermarks of /proc/zoneinfo.
 *
 * Lines are "Key:   number kB"; the blank behind the colon may be missing, and kernels add keys
 * at will. Kernels before 3.14 do not say how much is available, and some containers say 0: then
 * it is estimated in the kernel's own way (its change 34e431b0ae39), from the watermarks.
 * Thread rule: pure. */
#include "os/linux/machine/host_files.h"

enum { KILO = 1024 };

static const struct host_field FIELDS[] = {
    {"MemTotal", VITALS_HOST_MEMORY_TOTAL_BYTES, KILO},
    {"MemFree", VITALS_HOST_MEMORY_FREE_BYTES, KILO},
    {"MemAvailable", VITALS_HOST_MEMORY_AVAILABLE_BYTES, KILO},
    {"Buffers", VITALS_HOST_MEMORY_BUFFERS_BYTES, KILO},
    {"Cached", VITALS_HOST_MEMORY_PAGE_CACHE_BYTES, KILO},
    {"Active", VITALS_HOST_MEMORY_ACTIVE_BYTES, KILO},
    {"Inactive", VITALS_HOST_MEMORY_INACTIVE_BYTES, KILO},
    {"Active(anon)", VITALS_HOST_MEMORY_ACTIVE_ANON_BYTES, KILO},
    {"Inactive(anon)", VITALS_HOST_MEMORY_INACTIVE_ANON_BYTES, KILO},
    {"Active(file)", VITALS_HOST_MEMORY_ACTIVE_FILE_BYTES, KILO},
    {"Inactive(file)", VITALS_HOST_MEMORY_INACTIVE_FILE_BYTES, KILO},
    {"SwapTotal", VITALS_HOST_SWAP_TOTAL_BYTES, KILO},
    {"SwapFree", VITALS_HOST_SWAP_FREE_BYTES, KILO},
    {"Dirty", VITALS_HOST_MEMORY_DIRTY_BYTES, KILO},
    {"Shmem", VITALS_HOST_MEMORY_SHARED_BYTES, KILO},
    {"Slab", VITALS_HOST_MEMORY_SLAB_BYTES, KILO},
    {"SReclaimable", VITALS_HOST_MEMORY_SLAB_RECLAIMABLE_BYTES, KILO},
    {"Committed_AS", VITALS_HOST_MEMORY_COMMITTED_BYTES, KILO},
    /* pages, whose size follows later */
    {"HugePages_Total", VITALS_HOST_MEMORY_HUGE_TOTAL_BYTES, 1},
    {"HugePages_Free", VITALS_HOST_MEMORY_HUGE_FREE_BYTES, 1},
};

static bool known(const struct values *machine, vitals_metric metric, uint64_t *bytes)
{
    const struct value *value = &machine->at[metric_number(metric)];
    if (value->state <= 0)
        return false;
    *bytes = value->as.u64;
    return true;
}

void host_parse_meminfo(const char *bytes, size_t size, struct values *machine)
{
    static const vitals_metric HUGE[] = {VITALS_HOST_MEMORY_HUGE_TOTAL_BYTES,
                                         VITALS_HOST_MEMORY_HUGE_FREE_BYTES};
    struct cursor text = cursor_over(bytes, size);
    struct span line, key;
    uint64_t huge_kilo = 0, number;
    while (host_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (!cursor_until(&at, ':', &key))
            continue;
        if (span_equal(key, "Hugepagesize"))
            (void)cursor_u64(&at, &huge_kilo);
        else
            host_field_set(FIELDS, ARRAY_COUNT(FIELDS), key, &at, machine);
    }
    /* From pages to bytes; unknown without the size of a page. */
    uint64_t huge = saturating_mul(huge_kilo, KILO);
    for (size_t i = 0; i < ARRAY_COUNT(HUGE); i++)
        if (known(machine, HUGE[i], &number))
            values_set(machine, HUGE[i],
                       huge != 0 ? value_u64(saturating_mul(number, huge)) : (struct value){0});
    if (known(machine, VITALS_HOST_MEMORY_AVAILABLE_BYTES, &number) && number == 0)
        values_set(machine, VITALS_HOST_MEMORY_AVAILABLE_BYTES, (struct value){0});
}

bool host_parse_zoneinfo(const char *bytes, size_t size, uint64_t *pages)
{
    struct cursor text = cursor_over(bytes, size);
    struct span line, word;
    bool found = false;
    uint64_t sum = 0, low;
    while (host_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (!cursor_word(&at, &word) || !span_equal(word, "low") || !cursor_u64(&at, &low))
            continue;
        sum = saturating_add(sum, low);
        found = true;
    }
    if (found)
        *pages = sum;
    return found;
}

/* The part of a cache that can be reclaimed: half of it, or the watermarks, must stay. */
static uint64_t reclaimable(uint64_t cache, uint64_t low)
{
    uint64_t half = cache / 2;
    return cache - (half < low ? half : low);
}

static struct value estimate(uint64_t bytes)
{
    return (struct value){.as.u64 = bytes, .state = VITALS_ESTIMATE};
}

/* whole − part, with the availability of the part. */
static void derive_used(struct values *machine, vitals_metric whole, vitals_metric part,
                        vitals_metric used)
{
    uint64_t all, rest;
    if (!known(machine, whole, &all) || !known(machine, part, &rest))
        return;
    struct value value = machine->at[metric_number(part)];
    value.as.u64 = all - rest;
    values_set(machine, used, rest <= all ? value : value_missing(VITALS_FAILED));
}

void host_derive_memory(struct values *machine, const uint64_t *low)
{
    uint64_t available, total, active, inactive, free_bytes = 0, cached = 0, slab = 0;
    bool has_free = known(machine, VITALS_HOST_MEMORY_FREE_BYTES, &free_bytes);
    bool has_cached = known(machine, VITALS_HOST_MEMORY_PAGE_CACHE_BYTES, &cached);
    bool has_slab = known(machine, VITALS_HOST_MEMORY_SLAB_RECLAIMABLE_BYTES, &slab);
    bool has_available = known(machine, VITALS_HOST_MEMORY_AVAILABLE_BYTES, &available);
    if (!has_available && has_free) {
        bool by_marks = low != NULL &&
                        known(machine, VITALS_HOST_MEMORY_ACTIVE_FILE_BYTES, &active) &&
                        known(machine, VITALS_HOST_MEMORY_INACTIVE_FILE_BYTES, &inactive);
        available = saturating_add(free_bytes, cached);
        if (by_marks) {
            uint64_t files = reclaimable(saturating_add(active, inactive), *low);
            available = saturating_add(free_bytes, files);
            available = saturating_add(available, reclaimable(slab, *low));
            available = available > *low ? available - *low : 0;
        }
        has_available = by_marks || has_cached;
        if (has_available)
            values_set(machine, VITALS_HOST_MEMORY_AVAILABLE_BYTES, estimate(available));
    }
    /* LXC: the container's total with the host's available memory; free memory is the
     * container's. */
    if (has_available && known(machine, VITALS_HOST_MEMORY_TOTAL_BYTES, &total) &&
        available > total)
        values_set(machine, VITALS_HOST_MEMORY_AVAILABLE_BYTES,
                   has_free && free_bytes <= total ? estimate(free_bytes)
                                                   : value_missing(VITALS_FAILED));
    derive_used(machine, VITALS_HOST_MEMORY_TOTAL_BYTES, VITALS_HOST_MEMORY_AVAILABLE_BYTES,
                VITALS_HOST_MEMORY_USED_BYTES);
    derive_used(machine, VITALS_HOST_SWAP_TOTAL_BYTES, VITALS_HOST_SWAP_FREE_BYTES,
                VITALS_HOST_SWAP_USED_BYTES);
    struct value value = value_u64(saturating_add(cached, slab));
    value.state = has_slab ? VITALS_HAVE : VITALS_LOWER_BOUND;
    if (has_cached)
        values_set(machine, VITALS_HOST_MEMORY_CACHED_BYTES, value);
}
