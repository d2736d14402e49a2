/* memory.c: size and use of a card's memory.
 *
 * An ioctl on the card's render node returns the size and, with CAP_PERFMON, the use by all users
 * together. The node is closed at once, so that this process is no client of the card. The ioctl
 * keeps a card awake for a moment, so an idle card is queried rarely and its last value is an
 * estimate. Without the ioctl, the size of the PCI aperture is used if it is plausible, and the
 * memory of the visible processes is a lower bound of the use. The layouts are those of the
 * kernel's uapi headers i915_drm.h and xe_drm.h, which are fixed. */
#include "gpu/intel/events.h"
#include "gpu/intel/state.h"

#include "util/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW_TEXT = 2048, MEMORY_WINDOW = 2 };

/* A window of up to this size shows part of the memory; a larger one, all of it. */
static const uint64_t SMALL_WINDOW = UINT64_C(256) << 20;

#define IDLE_PAUSE_NS    (10 * NS_PER_SECOND) /* longer than an idle card needs to fall asleep */
#define REFUSED_PAUSE_NS (60 * NS_PER_SECOND)

enum { ANSWER_MAX = 64 * 1024 };

enum { I915_QUERY = 0x39, I915_QUERY_MEMORY_REGIONS = 4 };

struct i915_query {
    uint32_t count, flags;
    uint64_t items;
};

struct i915_query_item {
    uint64_t id;
    int32_t length; /* 0: the driver sets it; negative: errno */
    uint32_t flags;
    uint64_t data;
};

_Static_assert(sizeof(struct i915_query) == 16, "drm_i915_query");
_Static_assert(sizeof(struct i915_query_item) == 24, "drm_i915_query_item");
_Static_assert(offsetof(struct i915_query_item, data) == 16, "drm_i915_query_item");

enum { XE_DEVICE_QUERY = 0, XE_QUERY_MEMORY_REGIONS = 1 };

struct xe_query {
    uint64_t extensions;
    uint32_t query, size; /* size 0: the driver sets it; else it must match */
    uint64_t data, reserved[2];
};

_Static_assert(sizeof(struct xe_query) == 40, "drm_xe_device_query");
_Static_assert(offsetof(struct xe_query, data) == 16, "drm_xe_device_query");

/* ---- answers ---- */

/* A memory region, in the same form for both drivers: drm_i915_memory_region_info,
 * drm_xe_mem_region. The answer begins with their number, in 16 bytes for i915 and in 8 for xe. */
enum { DEVICE_MEMORY = 1, I915_HEAD = 16, XE_HEAD = 8 };

struct intel_region {
    uint16_t kind, instance;
    uint32_t reserved;
    uint64_t size;    /* i915, all bits set: not known */
    uint64_t part;    /* i915: unallocated bytes, equal to size without permission; xe: used bytes,
                       * 0 without permission */
    uint64_t rest[8]; /* the part visible to the CPU, and reserved fields */
};
_Static_assert(sizeof(struct intel_region) == 88, "drm_i915_memory_region_info, drm_xe_mem_region");
_Static_assert(offsetof(struct intel_region, part) == 16, "the same");

/* Adds one region of the card's own memory. A card always has some memory in use: 0 means not
 * reported. */
static void add_region(struct intel_memory *out, uint64_t size, uint64_t used)
{
    bool first = out->total.state == VITALS_UNSET;
    if (size == 0 || size > EXACT_MAX || used > size) {
        out->total = out->used = value_missing(VITALS_FAILED);
        return;
    }
    if (!first && out->total.state <= 0)
        return;
    uint64_t total = saturating_add(first ? 0 : out->total.as.u64, size);
    if (total > EXACT_MAX) {
        out->total = out->used = value_missing(VITALS_FAILED);
        return;
    }
    out->total = value_u64(total);
    if (used == 0 || (!first && out->used.state == VITALS_UNSET))
        out->used = value_missing(VITALS_UNSET);
    else
        out->used = value_u64(saturating_add(first ? 0 : out->used.as.u64, used));
}

bool intel_parse_memory(const void *bytes, size_t size, bool is_xe, struct intel_memory *out)
{
    size_t head = is_xe ? XE_HEAD : I915_HEAD;
    uint32_t count;
    if (size < head)
        return false;
    memcpy(&count, bytes, sizeof count);
    if (count > (size - head) / sizeof(struct intel_region))
        return false;
    out->total = out->used = value_missing(VITALS_UNSET);
    for (uint32_t i = 0; i < count; i++) {
        struct intel_region region;
        memcpy(&region, (const char *)bytes + head + i * sizeof region, sizeof region);
        if (region.kind != DEVICE_MEMORY || (!is_xe && region.size == UINT64_MAX))
            continue;
        if (!is_xe)
            region.part = region.part <= region.size ? region.size - region.part : 0;
        add_region(out, region.size, region.part);
    }
    return true;
}

/* ---- queries ---- */

/* Fills `data` (NULL: only returns the size) and returns the size, or a negative errno. */
typedef int64_t intel_query(const struct intel_asking *asking, int descriptor, void *data,
                            size_t size);

static int64_t query_i915(const struct intel_asking *asking, int descriptor, void *data,
                          size_t size)
{
    struct i915_query_item item = {.id = I915_QUERY_MEMORY_REGIONS,
                                   .length = (int32_t)size,
                                   .data = (uint64_t)(uintptr_t)data};
    struct i915_query query = {.count = 1, .items = (uint64_t)(uintptr_t)&item};
    int result = asking->ask(descriptor, I915_QUERY, &query, sizeof query);
    return result < 0 ? result : item.length;
}

static int64_t query_xe(const struct intel_asking *asking, int descriptor, void *data, size_t size)
{
    struct xe_query query = {.query = XE_QUERY_MEMORY_REGIONS,
                             .size = (uint32_t)size,
                             .data = (uint64_t)(uintptr_t)data};
    int result = asking->ask(descriptor, XE_DEVICE_QUERY, &query, sizeof query);
    return result < 0 ? result : (int64_t)query.size;
}

/* Returns 0 or a negative errno. */
static int ask(const struct intel *intel, struct intel_slot *slot)
{
    const bool is_xe = strcmp(slot->driver, "i915") != 0;
    intel_query *query = is_xe ? query_xe : query_i915;
    const struct gpu_node *node = &slot->render_node;
    const struct intel_asking *asking = intel->asking;
    struct intel_memory told = {0};
    void *bytes = NULL;
    int result = 0;
    int descriptor = asking->open(&intel->context->os, slot->render, node->major, node->minor);
    if (descriptor < 0)
        return descriptor;
    int64_t size = query(asking, descriptor, NULL, 0), filled = 0;
    if (size <= 0 || size > ANSWER_MAX)
        result = size < 0 ? (int)size : -EBADMSG;
    else if ((bytes = memory_alloc((size_t)size)) == NULL)
        result = -ENOMEM;
    else if ((filled = query(asking, descriptor, bytes, (size_t)size)) < 0)
        result = (int)filled;
    else if (filled != size || !intel_parse_memory(bytes, (size_t)size, is_xe, &told))
        result = -EBADMSG;
    memory_free(bytes);
    asking->close(descriptor);
    if (result == 0) {
        slot->memory.total = told.total;
        slot->memory.used = told.used;
    }
    return result;
}

void intel_read_memory(struct intel *intel, struct intel_slot *slot, uint64_t now_ns,
                       const struct gpu_sample *sample)
{
    struct intel_memory *memory = &slot->memory;
    bool wanted = gpu_fill_wants(sample, VITALS_GPU_MEMORY_TOTAL_BYTES) ||
                  gpu_fill_wants(sample, VITALS_GPU_MEMORY_USED_BYTES) ||
                  gpu_fill_wants(sample, VITALS_GPU_MEMORY_FREE_BYTES);
    if (!wanted || slot->integrated || slot->render[0] == '\0')
        return;

    /* A query does not keep a card awake that is working, but may keep one awake that is idle. */
    uint64_t pause_ns = memory->error < 0 ? REFUSED_PAUSE_NS : IDLE_PAUSE_NS;
    bool works = slot->utilization.state > 0 && slot->utilization.state != VITALS_UPPER_BOUND &&
                 slot->utilization.as.f64 > 0;
    bool is_due = memory->asked_ns == 0 || now_ns - memory->asked_ns >= pause_ns ||
                  (works && memory->error == 0);
    if (!is_due) {
        if (memory->used.state > 0)
            memory->used.state = VITALS_ESTIMATE;
        return;
    }
    memory->total = memory->used = value_missing(VITALS_UNSET);
    memory->error = ask(intel, slot);
    memory->asked_ns = now_ns;
}

bool intel_memory_is_swept(const struct os *os, const struct intel_slot *slot)
{
    char node[48];
    if (slot->integrated || slot->render[0] == '\0')
        return true;
    if (slot->memory.asked_ns != 0)
        return slot->memory.used.state == VITALS_UNSET;
    snprintf(node, sizeof node, "dri/%s", slot->render);
    return !os->live || os_dev_access(os, node) < 0;
}

/* ---- other sources ---- */

void intel_fill_window(const struct os *os, const struct intel_slot *slot,
                       struct gpu_sample *sample)
{
    char text[WINDOW_TEXT];
    uint64_t size;
    if (!gpu_fill_wants(sample, VITALS_GPU_MEMORY_TOTAL_BYTES) &&
        !gpu_fill_wants_table(sample, VITALS_TABLE_GPU_POOL))
        return;
    if (pci_text(os, slot->folder, "resource", text, sizeof text) < 0 ||
        !event_parse_window((struct span){text, strlen(text)}, MEMORY_WINDOW, &size))
        return;
    gpu_fill_child(sample, VITALS_GPU_POOL_TOTAL_BYTES, "vram_visible", value_u64(size));
    if (size <= SMALL_WINDOW)
        return;
    struct value total = value_u64(size); /* a power of two; the memory may be smaller */
    total.state = VITALS_ESTIMATE;
    gpu_fill(sample, VITALS_GPU_MEMORY_TOTAL_BYTES, total);
}

void intel_fill_memory(const struct intel_slot *slot, struct gpu_sample *sample)
{
    const struct clients *clients = &slot->clients;
    const struct intel_memory *memory = &slot->memory;
    struct value used = memory->used, system = clients->system_memory_bytes;
    if (memory->total.state != VITALS_UNSET)
        gpu_fill(sample, VITALS_GPU_MEMORY_TOTAL_BYTES, memory->total);
    if (used.state > 0 && memory->total.state > 0) {
        struct value free = value_u64(memory->total.as.u64 - used.as.u64);
        free.state = used.state;
        gpu_fill(sample, VITALS_GPU_MEMORY_FREE_BYTES, free);
    }
    if (used.state == VITALS_UNSET) /* memory of the visible processes */
        used = clients->stamp_ns == 0 ? value_missing(VITALS_NOT_YET)
               : slot->integrated     ? system
                                      : clients->memory_bytes;
    if (used.state != VITALS_UNSET)
        gpu_fill(sample, VITALS_GPU_MEMORY_USED_BYTES, used);
    if (clients->stamp_ns != 0 && system.state != VITALS_UNSET)
        gpu_fill_child(sample, VITALS_GPU_POOL_USED_BYTES, "system", system);
}
