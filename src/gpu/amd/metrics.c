/* metrics.c: see metrics.h. The layouts of gpu_metrics are tables: one row gives the place of a
 * number in some revisions. */
#include "gpu/amd/metrics.h"

#include <stdio.h>
#include <string.h>

/* A unit of the record: its factor to the base unit, and the largest plausible number; a larger one
 * is FAILED. */
struct amd_unit {
    double factor;
    uint64_t most;
};

/* How the instances of a quantity are aggregated: engines are averaged. */
enum amd_aggregate { AMD_LARGEST, AMD_MEAN };

static enum amd_aggregate aggregate_of(enum amd_number number)
{
    return number == AMD_VIDEO_RATIO || number == AMD_JPEG_RATIO ? AMD_MEAN : AMD_LARGEST;
}

/* Revisions that share a layout from some field on. */
// clang-format off
enum revision {
    V1_1 = 1u << 0, V1_2 = 1u << 1, V1_3 = 1u << 2, V1_4 = 1u << 3, V1_5 = 1u << 4,
    V1_6 = 1u << 5, V1_7 = 1u << 6, V1_8 = 1u << 7, V2_1 = 1u << 8, V2_2 = 1u << 9,
    V2_3 = 1u << 10, V2_4 = 1u << 11, V3_0 = 1u << 12,
    BOARDS = V1_1 | V1_2 | V1_3,
    INSTINCT = V1_4 | V1_5 | V1_6 | V1_7 | V1_8,
    PROCESSORS = V2_1 | V2_2 | V2_3 | V2_4
};
// clang-format on

/* Places of the partitions' blocks. Within a block: u32 gfx, then u16 jpeg, then u16 video. */
struct blocks {
    uint16_t count_at, at, stride, jpegs;
};
enum { BLOCK_GFX = 8, BLOCK_VIDEO = 4 };

static const struct gpu_metrics_layout {
    uint8_t format, content;
    uint16_t size;
    enum revision revision;
    uint16_t link, clocks; /* of INSTINCT: where these groups of numbers begin */
    struct blocks blocks;
} layouts[] = {
    {1, 1, 96, V1_1, 0, 0, {0}},
    {1, 2, 104, V1_2, 0, 0, {0}},
    {1, 3, 120, V1_3, 0, 0, {0}},
    {1, 4, 288, V1_4, 48, 240, {0}},
    {1, 5, 360, V1_5, 112, 312, {0}},
    {1, 6, 1664, V1_6, 60, 264, {306, 312, 168, 32}},
    {1, 7, 2208, V1_7, 68, 296, {338, 344, 232, 32}},
    {1, 8, 3872, V1_8, 68, 296, {338, 344, 440, 40}},
    {2, 1, 120, V2_1, 0, 0, {0}},
    {2, 2, 128, V2_2, 0, 0, {0}},
    {2, 3, 152, V2_3, 0, 0, {0}},
    {2, 4, 168, V2_4, 0, 0, {0}},
    {3, 0, 264, V3_0, 0, 0, {0}},
};

/* Boards use whole units; processors hundredths of a degree and of a percent, and thousandths of a
 * watt (documented by the kernel for revisions 2.4 and 3.0; before, it differed). Of revision 3.0
 * graphics are in percent with most firmware (smu_v14_0_0_ppt.c). Where the unit depends on chip or
 * firmware: see amd_record. */
#define CELSIUS       1.0, 250
#define CENTI         0.01, 25000
#define PERCENT       0.01, 100
#define PERCENT_CENTI 0.0001, 10000
#define WATTS         1.0, 5000
#define MILLIWATTS    0.001, 1000000
#define MEGAHERTZ     1e6, 10000
#define MILLIVOLTS    0.001, 5000

/* A row is `run` numbers in the order of enum amd_number, consecutive from `at` in the record or in
 * a group; each is aggregated from `count` values of `width` bytes. */
enum metrics_group { RECORD, LINK, CLOCKS };
static const struct gpu_metrics_field {
    unsigned revisions;
    enum amd_number number;
    uint8_t run;
    enum metrics_group group;
    uint16_t at;
    uint8_t width, count;
    struct amd_unit unit;
} fields[] = {
    {BOARDS, AMD_EDGE_CELSIUS, 6, RECORD, 4, 2, 1, {CELSIUS}},
    {BOARDS, AMD_HBM0_CELSIUS, 4, RECORD, 88, 2, 1, {CELSIUS}},
    {BOARDS, AMD_GFX_RATIO, 3, RECORD, 16, 2, 1, {PERCENT}},
    {BOARDS, AMD_SOCKET_WATTS, 1, RECORD, 22, 2, 1, {WATTS}},
    {BOARDS, AMD_GFX_HERTZ, 3, RECORD, 54, 2, 1, {MEGAHERTZ}},
    {BOARDS, AMD_VCLK0_HERTZ, 4, RECORD, 60, 2, 1, {MEGAHERTZ}},
    {BOARDS, AMD_FAN_RPM, 1, RECORD, 72, 2, 1, {1.0, 20000}},
    {BOARDS, AMD_PCIE_LANES, 1, RECORD, 74, 2, 1, {1.0, 64}},
    {BOARDS, AMD_PCIE_TRANSFERS, 1, RECORD, 76, 2, 1, {1.0, 1280}},
    {V1_3, AMD_SOC_VOLTS, 1, RECORD, 104, 2, 1, {MILLIVOLTS}},
    {V1_3, AMD_GFX_VOLTS, 1, RECORD, 106, 2, 1, {MILLIVOLTS}},
    {V1_3, AMD_MEMORY_VOLTS, 1, RECORD, 108, 2, 1, {MILLIVOLTS}},

    {INSTINCT, AMD_JUNCTION_CELSIUS, 2, RECORD, 4, 2, 1, {CELSIUS}},
    {INSTINCT, AMD_VR_SOC_CELSIUS, 1, RECORD, 8, 2, 1, {CELSIUS}},
    {INSTINCT, AMD_SOCKET_WATTS, 1, RECORD, 10, 2, 1, {WATTS}},
    {INSTINCT, AMD_GFX_RATIO, 2, RECORD, 12, 2, 1, {PERCENT}},
    {V1_4 | V1_5, AMD_VIDEO_RATIO, 1, RECORD, 16, 2, 4, {PERCENT}},
    {V1_5, AMD_JPEG_RATIO, 1, RECORD, 24, 2, 32, {PERCENT}},
    {INSTINCT, AMD_PCIE_LANES, 1, LINK, 0, 2, 1, {1.0, 64}},
    {INSTINCT, AMD_PCIE_TRANSFERS, 1, LINK, 2, 2, 1, {1.0, 1280}},
    {V1_4 | V1_5, AMD_PCIE_REPLAYS, 1, LINK, 40, 8, 1, {1.0, EXACT_MAX}},
    {V1_6 | V1_7 | V1_8, AMD_PCIE_REPLAYS, 1, LINK, 44, 8, 1, {1.0, EXACT_MAX}},
    {INSTINCT, AMD_GFX_HERTZ, 1, CLOCKS, 0, 2, 8, {MEGAHERTZ}},
    {INSTINCT, AMD_SOC_HERTZ, 1, CLOCKS, 16, 2, 4, {MEGAHERTZ}},
    {INSTINCT, AMD_VCLK0_HERTZ, 1, CLOCKS, 24, 2, 4, {MEGAHERTZ}},
    {INSTINCT, AMD_DCLK0_HERTZ, 1, CLOCKS, 32, 2, 4, {MEGAHERTZ}},
    {INSTINCT, AMD_MEMORY_HERTZ, 1, CLOCKS, 40, 2, 1, {MEGAHERTZ}},

    {PROCESSORS, AMD_EDGE_CELSIUS, 1, RECORD, 4, 2, 1, {CENTI}},
    {PROCESSORS, AMD_SOC_CELSIUS, 1, RECORD, 6, 2, 1, {CENTI}},
    {PROCESSORS, AMD_GFX_RATIO, 1, RECORD, 28, 2, 1, {PERCENT_CENTI}},
    {PROCESSORS, AMD_VIDEO_RATIO, 1, RECORD, 30, 2, 1, {PERCENT_CENTI}},
    {V2_4, AMD_SOCKET_WATTS, 1, RECORD, 40, 2, 1, {MILLIWATTS}},
    {PROCESSORS, AMD_GFX_HERTZ, 6, RECORD, 76, 2, 1, {MEGAHERTZ}},
    {V2_4, AMD_SOC_VOLTS, 1, RECORD, 154, 2, 1, {MILLIVOLTS}},
    {V2_4, AMD_GFX_VOLTS, 1, RECORD, 156, 2, 1, {MILLIVOLTS}},

    {V3_0, AMD_EDGE_CELSIUS, 1, RECORD, 4, 2, 1, {CENTI}},
    {V3_0, AMD_SOC_CELSIUS, 1, RECORD, 6, 2, 1, {CENTI}},
    {V3_0, AMD_SKIN_CELSIUS, 1, RECORD, 40, 2, 1, {CENTI}},
    {V3_0, AMD_GFX_RATIO, 1, RECORD, 42, 2, 1, {PERCENT_CENTI}},
    {V3_0, AMD_VIDEO_RATIO, 1, RECORD, 44, 2, 1, {PERCENT_CENTI}},
    {V3_0, AMD_SOCKET_WATTS, 1, RECORD, 112, 4, 1, {MILLIWATTS}},
    {V3_0, AMD_GFX_HERTZ, 2, RECORD, 174, 2, 1, {MEGAHERTZ}},
    {V3_0, AMD_FABRIC_HERTZ, 2, RECORD, 182, 2, 1, {MEGAHERTZ}},
    {V3_0, AMD_MEMORY_HERTZ, 1, RECORD, 186, 2, 1, {MEGAHERTZ}},
};

/* Counters that are kept unchanged: runs of `count` values, consecutive from `at`. */
#define PLACE(field) offsetof(struct amd_metrics, field)

static const struct counters {
    unsigned revisions;
    size_t place; /* offset of the first struct value */
    uint16_t at;
    uint8_t width, count;
} counters[] = {
    {BOARDS | V1_4, PLACE(energy), 24, 8, 1},
    {V1_5, PLACE(energy), 88, 8, 1},
    {V1_6, PLACE(energy), 16, 8, 1},
    {V1_7 | V1_8, PLACE(energy), 24, 8, 1},
    {V1_3, PLACE(throttle), 112, 8, 1},
    {V2_2 | V2_3 | V2_4, PLACE(throttle), 120, 8, 1},
    {V1_6, PLACE(residencies[AMD_RESIDENCY_PROCHOT]), 36, 4, 5},
    {V1_7 | V1_8, PLACE(residencies[AMD_RESIDENCY_PROCHOT]), 44, 4, 5},
    {V3_0, PLACE(residencies[AMD_RESIDENCY_PROCHOT]), 228, 4, 1},
    {V3_0, PLACE(residencies[AMD_RESIDENCY_SPL]), 232, 4, 6},
    {V1_4, PLACE(received), 104, 8, 8},
    {V1_4, PLACE(transmitted), 168, 8, 8},
    {V1_5, PLACE(received), 176, 8, 8},
    {V1_5, PLACE(transmitted), 240, 8, 8},
    {V1_6, PLACE(received), 128, 8, 8},
    {V1_6, PLACE(transmitted), 192, 8, 8},
    {V1_7 | V1_8, PLACE(received), 136, 8, 8},
    {V1_7 | V1_8, PLACE(transmitted), 200, 8, 8},
    {V1_7 | V1_8, PLACE(link_active), 264, 2, 8},
};

/* Reads an unsigned little-endian number of `width` bytes; returns false if it is all ones. */
static bool read_number(const char *at, unsigned width, uint64_t *out)
{
    uint64_t number = 0;
    bool ones = true;
    for (unsigned i = 0; i < width; i++) {
        unsigned byte = (unsigned char)at[i];
        number |= (uint64_t)byte << (8 * i);
        ones &= byte == 0xFF;
    }
    *out = number;
    return !ones;
}

/* Aggregates `count` consecutive numbers of `width` bytes, except those that are all ones, and
 * scales the result. */
static struct value aggregate_numbers(const char *at, unsigned width, unsigned count,
                                      enum amd_aggregate aggregate, struct amd_unit unit)
{
    uint64_t sum = 0, largest = 0, number;
    unsigned told = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!read_number(at + (size_t)i * width, width, &number))
            continue;
        if (number > unit.most)
            return value_missing(VITALS_FAILED);
        told++;
        sum = saturating_add(sum, number);
        largest = number > largest ? number : largest;
    }
    if (told == 0)
        return value_missing(VITALS_UNSET);
    double result = aggregate == AMD_MEAN ? (double)sum / told : (double)largest;
    return value_f64(result * unit.factor);
}

/* Stores a number; 0 of a sensor means that there is none. */
static void store(struct amd_metrics *out, enum amd_number number, struct value value)
{
    if ((number <= AMD_SKIN_CELSIUS || (number >= AMD_GFX_VOLTS && number <= AMD_MEMORY_VOLTS)) &&
        value.state > 0 && value.as.f64 <= 0.0)
        value = value_missing(VITALS_UNSET);
    out->numbers[number] = value;
}

/* Converts kilobytes carried by XGMI to bytes. */
static struct value carried(uint64_t kilobytes)
{
    struct value bytes = value_u64(saturating_mul(kilobytes, 1024));
    bytes.state = VITALS_ESTIMATE; // of 1000 or of 1024: not documented
    return bytes;
}

/* ---- revision 1.9, which describes itself ----
 *
 * After the header stands a 32-bit number of attributes, then each of them: a 64-bit description
 * (count, identifier, type, unit) directly followed by that many numbers. A record is taken whole
 * or not at all: every description must make sense, none may occur twice, and the attributes must
 * end where the record does. No such record has been seen by the authors, and the form is known
 * only from the kernel's patches, so anything that is not exactly as described is rejected. */

enum { ATTRIBUTES_HEADER = 8, DESCRIPTION = 8, ATTRIBUTES_MAX = 256, IDS = 1024 };

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
    struct amd_unit scale;
} attributes_known[] = {
    {0, UNIT_CELSIUS, AMD_JUNCTION_CELSIUS, {1.0, 250}},
    {1, UNIT_CELSIUS, AMD_MEMORY_CELSIUS, {1.0, 250}},
    {2, UNIT_CELSIUS, AMD_VR_SOC_CELSIUS, {1.0, 250}},
    {3, UNIT_WATTS, AMD_SOCKET_WATTS, {1.0, 5000}},
    {4, UNIT_PERCENT, AMD_GFX_RATIO, {0.01, 100}},
    {5, UNIT_PERCENT, AMD_MEMORY_RATIO, {0.01, 100}},
    {16, UNIT_NONE, AMD_PCIE_LANES, {1.0, 64}},
    {17, UNIT_100_MEGATRANSFERS, AMD_PCIE_TRANSFERS, {1.0, 1280}},
    {25, UNIT_NONE, AMD_PCIE_REPLAYS, {1.0, EXACT_MAX}},
    {33, UNIT_MEGAHERTZ, AMD_GFX_HERTZ, {1e6, 10000}},
    {34, UNIT_MEGAHERTZ, AMD_SOC_HERTZ, {1e6, 10000}},
    {35, UNIT_MEGAHERTZ, AMD_VCLK0_HERTZ, {1e6, 10000}},
    {36, UNIT_MEGAHERTZ, AMD_DCLK0_HERTZ, {1e6, 10000}},
    {37, UNIT_MEGAHERTZ, AMD_MEMORY_HERTZ, {1e6, 10000}},
    {41, UNIT_PERCENT, AMD_JPEG_RATIO, {0.01, 100}},
    {42, UNIT_PERCENT, AMD_VIDEO_RATIO, {0.01, 100}},
};

/* Residencies follow each other as enum amd_residency does. */
enum { FIRST_RESIDENCY = 10, LAST_RESIDENCY = 14 };
enum { RECEIVED = 29, TRANSMITTED = 30, LINK_STATUS = 31 };

static void take_attribute(const struct amd_attribute *attribute, struct amd_metrics *out)
{
    unsigned width = width_of(attribute);
    uint64_t number;
    for (size_t i = 0; i < ARRAY_COUNT(attributes_known); i++) {
        const struct attribute_number *known = &attributes_known[i];
        if (known->id == attribute->id && (unsigned)known->unit == attribute->unit)
            store(out, known->number,
                  aggregate_numbers(attribute->at, width, attribute->count,
                                    aggregate_of(known->number), known->scale));
    }
    for (unsigned i = 0; i < attribute->count && i < AMD_XGMI_LINKS; i++) {
        if (!read_number(attribute->at + (size_t)i * width, width, &number))
            continue;
        if (attribute->id == RECEIVED && attribute->unit == UNIT_KILOBYTES)
            out->received[i] = carried(number);
        else if (attribute->id == TRANSMITTED && attribute->unit == UNIT_KILOBYTES)
            out->transmitted[i] = carried(number);
        else if (attribute->id == LINK_STATUS && number <= 1)
            out->link_active[i] = value_u64(number);
    }
    if (attribute->id >= FIRST_RESIDENCY && attribute->id <= LAST_RESIDENCY &&
        read_number(attribute->at, width, &number))
        out->residencies[attribute->id - FIRST_RESIDENCY] = value_u64(number);
}

/* Reads the attribute at *at, and advances *at. */
static bool next(struct span record, size_t *at, struct amd_attribute *out)
{
    uint64_t description;
    if (record.size - *at < DESCRIPTION ||
        !read_number(record.bytes + *at, DESCRIPTION, &description) || description > UINT32_MAX)
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

static bool parse_attributes(struct span record, struct amd_metrics *out)
{
    bool seen[IDS] = {false};
    uint64_t count = 0;
    if (record.size < ATTRIBUTES_HEADER || !read_number(record.bytes + 4, 4, &count) ||
        count > ATTRIBUTES_MAX)
        return false;
    struct amd_metrics found = {.format = 1, .content = 9};
    size_t at = ATTRIBUTES_HEADER;
    for (uint64_t i = 0; i < count; i++) {
        struct amd_attribute attribute;
        if (!next(record, &at, &attribute) || seen[attribute.id])
            return false;
        seen[attribute.id] = true;
        if (attribute.type % 2 == 0) /* no attribute of a signed type is used */
            take_attribute(&attribute, &found);
    }
    if (at != record.size)
        return false;
    *out = found;
    return true;
}

/* ---- a record ---- */

enum { HEADER = 4 };

bool amd_metrics_parse(const char *bytes, size_t size, struct amd_metrics *out)
{
    *out = (struct amd_metrics){0};
    if (size < HEADER)
        return false;
    uint64_t told = 0;
    read_number(bytes, 2, &told);
    unsigned format = (unsigned char)bytes[2], content = (unsigned char)bytes[3];
    if (told > size)
        return false;
    if (format == 1 && content == 9)
        return parse_attributes((struct span){bytes, (size_t)told}, out);
    const struct gpu_metrics_layout *layout = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(layouts); i++)
        if (layouts[i].format == format && layouts[i].content == content && layouts[i].size == told)
            layout = &layouts[i];
    if (layout == NULL)
        return false;
    out->format = format;
    out->content = content;

    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        const struct gpu_metrics_field *field = &fields[i];
        if (!(field->revisions & (unsigned)layout->revision))
            continue;
        const uint16_t groups[] = {[RECORD] = 0, [LINK] = layout->link, [CLOCKS] = layout->clocks};
        const char *at = bytes + groups[field->group] + field->at;
        for (unsigned j = 0; j < field->run; j++, at += field->width)
            store(out, field->number + j,
                  aggregate_numbers(at, field->width, field->count, aggregate_of(field->number + j),
                                    field->unit));
    }

    for (size_t i = 0; i < ARRAY_COUNT(counters); i++) {
        const struct counters *run = &counters[i];
        bool is_kilobytes = run->place == PLACE(received) || run->place == PLACE(transmitted);
        uint64_t number;
        for (unsigned j = 0; j < run->count && (run->revisions & (unsigned)layout->revision); j++) {
            if (!read_number(bytes + run->at + (size_t)j * run->width, run->width, &number))
                continue;
            struct value value = is_kilobytes ? carried(number) : value_u64(number);
            /* 2: XGMI does not know the state */
            if (run->place == PLACE(link_active) && number > 1)
                value = value_missing(VITALS_UNSET);
            memcpy((char *)out + run->place + j * sizeof value, &value, sizeof value);
        }
    }

    static const struct amd_unit percent = {PERCENT};
    uint64_t count = 0;
    if (layout->blocks.at != 0 && read_number(bytes + layout->blocks.count_at, 2, &count) &&
        count <= AMD_PARTITIONS) {
        out->partition_count = (uint32_t)count;
        for (uint32_t i = 0; i < count; i++) {
            const char *at = bytes + layout->blocks.at + (size_t)i * layout->blocks.stride;
            struct amd_partition *partition = &out->partitions[i];
            partition->gfx_ratio = aggregate_numbers(at, 4, BLOCK_GFX, AMD_MEAN, percent);
            at += (size_t)4 * BLOCK_GFX;
            partition->jpeg_ratio = aggregate_numbers(at, 2, layout->blocks.jpegs, AMD_MEAN,
                                                      percent);
            at += (size_t)2 * layout->blocks.jpegs;
            partition->video_ratio = aggregate_numbers(at, 2, BLOCK_VIDEO, AMD_MEAN, percent);
        }
    }

    out->energy_known = (layout->revision & INSTINCT) != 0;
    return true;
}

/* ---- why a card's clocks are reduced ---- */

/* amdgpu's bits, common to all cards (SMU_THROTTLER_… of its amdgpu_smu.h). */
static const struct {
    uint8_t bit, cause;
    const char *word;
} bits_known[] = {
    {0, AMD_BY_POWER, "ppt0"},         {1, AMD_BY_POWER, "ppt1"},
    {2, AMD_BY_POWER, "ppt2"},         {3, AMD_BY_POWER, "ppt3"},
    {4, AMD_BY_POWER, "spl"},          {5, AMD_BY_POWER, "fppt"},
    {6, AMD_BY_POWER, "sppt"},         {7, AMD_BY_POWER, "sppt_apu"},
    {16, AMD_BY_CURRENT, "tdc_gfx"},   {17, AMD_BY_CURRENT, "tdc_soc"},
    {18, AMD_BY_CURRENT, "tdc_mem"},   {19, AMD_BY_CURRENT, "tdc_vdd"},
    {20, AMD_BY_CURRENT, "tdc_cvip"},  {21, AMD_BY_CURRENT, "edc_cpu"},
    {22, AMD_BY_CURRENT, "edc_gfx"},   {23, AMD_BY_CURRENT, "apcc"},
    {32, AMD_BY_HEAT, "temp_gpu"},     {33, AMD_BY_HEAT, "temp_core"},
    {34, AMD_BY_HEAT, "temp_mem"},     {35, AMD_BY_HEAT, "temp_edge"},
    {36, AMD_BY_HEAT, "temp_hotspot"}, {37, AMD_BY_HEAT, "temp_soc"},
    {38, AMD_BY_HEAT, "temp_vr_gfx"},  {39, AMD_BY_HEAT, "temp_vr_soc"},
    {40, AMD_BY_HEAT, "temp_vr_mem0"}, {41, AMD_BY_HEAT, "temp_vr_mem1"},
    {42, AMD_BY_HEAT, "temp_liquid0"}, {43, AMD_BY_HEAT, "temp_liquid1"},
    {44, AMD_BY_HEAT, "vrhot0"},       {45, AMD_BY_HEAT, "vrhot1"},
    {46, AMD_BY_HEAT, "prochot_cpu"},  {47, AMD_BY_HEAT, "prochot_gfx"},
    {56, AMD_BY_POWER, "ppm"},         {57, AMD_BY_OTHER, "fit"},
};

static const struct {
    enum amd_cause cause;
    const char *word;
} residencies_known[AMD_RESIDENCIES] = {
    [AMD_RESIDENCY_PROCHOT] = {AMD_BY_HEAT, "prochot"},
    [AMD_RESIDENCY_PPT] = {AMD_BY_POWER, "ppt"},
    [AMD_RESIDENCY_SOCKET_HEAT] = {AMD_BY_HEAT, "socket_thm"},
    [AMD_RESIDENCY_VR_HEAT] = {AMD_BY_HEAT, "vr_thm"},
    [AMD_RESIDENCY_HBM_HEAT] = {AMD_BY_HEAT, "hbm_thm"},
    [AMD_RESIDENCY_SPL] = {AMD_BY_POWER, "spl"},
    [AMD_RESIDENCY_FPPT] = {AMD_BY_POWER, "fppt"},
    [AMD_RESIDENCY_SPPT] = {AMD_BY_POWER, "sppt"},
    [AMD_RESIDENCY_CORE_HEAT] = {AMD_BY_HEAT, "thm_core"},
    [AMD_RESIDENCY_GFX_HEAT] = {AMD_BY_HEAT, "thm_gfx"},
    [AMD_RESIDENCY_SOC_HEAT] = {AMD_BY_HEAT, "thm_soc"},
};

static void add(struct amd_throttle *out, enum amd_cause cause, const char *word)
{
    size_t used = strlen(out->reasons);
    out->by[cause] = true;
    snprintf(out->reasons + used, sizeof out->reasons - used, used > 0 ? ",%s" : "%s", word);
}

void amd_throttle_of_bits(uint64_t bits, struct amd_throttle *out)
{
    *out = (struct amd_throttle){0};
    for (size_t i = 0; i < ARRAY_COUNT(bits_known); i++) {
        uint64_t bit = UINT64_C(1) << bits_known[i].bit;
        if (bits & bit)
            add(out, (enum amd_cause)bits_known[i].cause, bits_known[i].word);
        bits &= ~bit;
    }
    for (unsigned i = 0; i < 64; i++) {
        char word[16];
        if (!(bits >> i & 1))
            continue;
        snprintf(word, sizeof word, "bit%u", i);
        add(out, AMD_BY_OTHER, word);
    }
}

bool amd_throttle_of_residencies(const struct value *before, const struct value *now,
                                 struct amd_throttle *out)
{
    bool told = false;
    *out = (struct amd_throttle){0};
    for (size_t i = 0; i < AMD_RESIDENCIES; i++) {
        if (before[i].state <= 0 || now[i].state <= 0)
            continue;
        told = true;
        if (now[i].as.u64 > before[i].as.u64)
            add(out, residencies_known[i].cause, residencies_known[i].word);
    }
    return told;
}
