/* attributes.c: gpu_metrics of revision 1.9, which describes itself.
 *
 * After the header stands a 32-bit number of attributes, then each of them: a 64-bit description
 * (count, identifier, type, unit) directly followed by that many numbers. A record is taken whole
 * or not at all: every description must make sense, none may occur twice, and the attributes must
 * end where the record does. No such record has been seen by the authors, so anything that is not
 * exactly as described is rejected. Thread rule: pure. */
#include "gpu/amd/metrics.h"

#include <string.h>

enum { HEADER = 8, DESCRIPTION = 8, ATTRIBUTES_MAX = 256, IDS = 1024 };

/* The kernel's unit numbers. */
enum attribute_unit {
    UNIT_NONE,
    UNIT_MEGAHERTZ,
    UNIT_CELSIUS,
    UNIT_WATTS,
    UNIT_NS,
    UNIT_10_NS,
    UNIT_GIGATRANSFERS,
    UNIT_100_MEGATRANSFERS,
    UNIT_GIGABYTES,
    UNIT_KILOBYTES,
    UNIT_PERCENT
};

/* Types come in pairs, unsigned and signed, of 1, 2, 4 and 8 bytes. */
enum { TYPES = 8 };

struct amd_attribute {
    unsigned count, id, type, unit;
    const char *at; /* of its numbers */
};

static unsigned width_of(const struct amd_attribute *attribute)
{
    return 1u << (attribute->type / 2);
}

static const struct attribute_number {
    uint16_t id;
    enum attribute_unit unit;
    enum amd_number number;
    enum amd_aggregate aggregate;
    struct amd_unit scale;
} numbers[] = {
    {0, UNIT_CELSIUS, AMD_JUNCTION_CELSIUS, AMD_LARGEST, {1.0, 250}},
    {1, UNIT_CELSIUS, AMD_MEMORY_CELSIUS, AMD_LARGEST, {1.0, 250}},
    {2, UNIT_CELSIUS, AMD_VR_SOC_CELSIUS, AMD_LARGEST, {1.0, 250}},
    {3, UNIT_WATTS, AMD_SOCKET_WATTS, AMD_LARGEST, {1.0, 5000}},
    {4, UNIT_PERCENT, AMD_GFX_RATIO, AMD_LARGEST, {0.01, 100}},
    {5, UNIT_PERCENT, AMD_MEMORY_RATIO, AMD_LARGEST, {0.01, 100}},
    {16, UNIT_NONE, AMD_PCIE_LANES, AMD_LARGEST, {1.0, 64}},
    {17, UNIT_100_MEGATRANSFERS, AMD_PCIE_TRANSFERS, AMD_LARGEST, {1.0, 1280}},
    {25, UNIT_NONE, AMD_PCIE_REPLAYS, AMD_LARGEST, {1.0, EXACT_MAX}},
    {33, UNIT_MEGAHERTZ, AMD_GFX_HERTZ, AMD_LARGEST, {1e6, 10000}},
    {34, UNIT_MEGAHERTZ, AMD_SOC_HERTZ, AMD_LARGEST, {1e6, 10000}},
    {35, UNIT_MEGAHERTZ, AMD_VCLK0_HERTZ, AMD_LARGEST, {1e6, 10000}},
    {36, UNIT_MEGAHERTZ, AMD_DCLK0_HERTZ, AMD_LARGEST, {1e6, 10000}},
    {37, UNIT_MEGAHERTZ, AMD_MEMORY_HERTZ, AMD_LARGEST, {1e6, 10000}},
    {41, UNIT_PERCENT, AMD_JPEG_RATIO, AMD_MEAN, {0.01, 100}},
    {42, UNIT_PERCENT, AMD_VIDEO_RATIO, AMD_MEAN, {0.01, 100}},
};

/* Residencies follow each other as enum amd_residency does. */
enum { FIRST_RESIDENCY = 10, LAST_RESIDENCY = 14 };
enum { RECEIVED = 29, TRANSMITTED = 30, LINK_STATUS = 31 };

static void take(const struct amd_attribute *attribute, struct amd_metrics *out)
{
    unsigned width = width_of(attribute);
    uint64_t number;
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        const struct attribute_number *known = &numbers[i];
        if (known->id == attribute->id && (unsigned)known->unit == attribute->unit)
            amd_metrics_take(out, known->number,
                             amd_metrics_aggregate(attribute->at, width, attribute->count,
                                                   known->aggregate, known->scale));
    }
    for (unsigned i = 0; i < attribute->count && i < AMD_XGMI_LINKS; i++) {
        if (!amd_metrics_number(attribute->at + (size_t)i * width, width, &number))
            continue;
        if (attribute->id == RECEIVED && attribute->unit == UNIT_KILOBYTES)
            out->received[i] = amd_metrics_carried(number);
        else if (attribute->id == TRANSMITTED && attribute->unit == UNIT_KILOBYTES)
            out->transmitted[i] = amd_metrics_carried(number);
        else if (attribute->id == LINK_STATUS && number <= 1)
            out->link_active[i] = value_u64(number);
    }
    if (attribute->id >= FIRST_RESIDENCY && attribute->id <= LAST_RESIDENCY &&
        amd_metrics_number(attribute->at, width, &number))
        out->residencies[attribute->id - FIRST_RESIDENCY] = value_u64(number);
}

/* Reads the attribute at *at, and advances *at. */
static bool next(struct span record, size_t *at, struct amd_attribute *out)
{
    uint64_t description;
    if (record.size - *at < DESCRIPTION ||
        !amd_metrics_number(record.bytes + *at, DESCRIPTION, &description) ||
        description > UINT32_MAX)
        return false;
    *at += DESCRIPTION;
    out->count = description & 0x3FF;
    out->id = description >> 10 & 0x3FF;
    out->type = description >> 20 & 0xF;
    out->unit = description >> 24 & 0xFF;
    out->at = record.bytes + *at;
    if (out->count == 0 || out->type >= TYPES || out->unit > UNIT_PERCENT)
        return false;
    size_t size = (size_t)width_of(out) * out->count;
    if (size > record.size - *at)
        return false;
    *at += size;
    return true;
}

bool amd_metrics_parse_attributes(struct span record, struct amd_metrics *out)
{
    bool seen[IDS] = {false};
    uint64_t count = 0;
    if (record.size < HEADER || !amd_metrics_number(record.bytes + 4, 4, &count) ||
        count > ATTRIBUTES_MAX)
        return false;
    struct amd_metrics found = {.format = 1, .content = 9};
    size_t at = HEADER;
    for (uint64_t i = 0; i < count; i++) {
        struct amd_attribute attribute;
        if (!next(record, &at, &attribute) || seen[attribute.id])
            return false;
        seen[attribute.id] = true;
        if (attribute.type % 2 == 0) /* no attribute of a signed type is used */
            take(&attribute, &found);
    }
    if (at != record.size)
        return false;
    *out = found;
    return true;
}
