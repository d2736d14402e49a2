/* sweep_parse.c: parses one fdinfo of a DRM driver, in the form of
 * Documentation/gpu/drm-usage-stats.rst, and in that of amdgpu before it (Linux 5.14 to 5.18): no
 * prefix, kB, and a percentage of each ring. Keys are looked up by prefix; the rest of the key
 * names an engine or a region. Thread rule: pure. */
#include "gpu/sweep.h"

#include "util/number.h"

#include <string.h>

struct parser {
    struct sweep_client *out;
    bool is_drm, is_old;          /* keys of this dialect were found */
    bool resident[SWEEP_REGIONS]; /* from its own key, not from that of older kernels */
};

struct fdinfo_field {
    const char *prefix;
    void (*take)(struct parser *parser, struct span name, struct span value, int which);
    int which;
};

static struct span trim(struct span text)
{
    while (text.size > 0 && (unsigned char)text.bytes[0] <= ' ')
        text.bytes++, text.size--;
    while (text.size > 0 && (unsigned char)text.bytes[text.size - 1] <= ' ')
        text.size--;
    return text;
}

/* ---- values ---- */

struct sweep_parse_unit {
    const char *name;
    uint64_t factor;
};

static const struct sweep_parse_unit NONE[] = {{"", 1}, {0}};
static const struct sweep_parse_unit NANOSECONDS[] = {{"", 1}, {"ns", 1}, {0}};
static const struct sweep_parse_unit BYTES[] = {
    {"", 1}, {"B", 1}, {"KiB", 1 << 10}, {"kB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {0}};

/* Parses "12 KiB"; returns false if it is not a number with one of these units. Saturates. */
static bool read_number(struct span value, const struct sweep_parse_unit *units, uint64_t *out)
{
    struct cursor cursor = cursor_over(value.bytes, value.size);
    uint64_t number;
    if (!number_u64(&cursor.at, cursor.end, &number))
        return false;
    struct span unit = trim((struct span){cursor.at, (size_t)(cursor.end - cursor.at)});
    while (units->name != NULL && !span_equal(unit, units->name))
        units++;
    *out = saturating_mul(number, units->factor);
    return units->name != NULL;
}

/* Returns false if there is no room, or it has a blank. */
static bool copy_name(struct span text, char *out, size_t capacity)
{
    if (text.size == 0 || text.size >= capacity)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if ((unsigned char)text.bytes[i] <= ' ')
            return false;
    }
    memcpy(out, text.bytes, text.size);
    out[text.size] = '\0';
    return true;
}

/* ---- engines ---- */

/* Returns the engine of that name, a new one if needed; NULL if there is no room. */
static struct sweep_engine *find_engine(struct parser *parser, struct span name)
{
    struct sweep_client *out = parser->out;
    for (uint32_t i = 0; i < out->engine_count; i++) {
        if (span_equal(name, out->engines[i].name))
            return &out->engines[i];
    }
    if (out->engine_count == SWEEP_ENGINES)
        return NULL;
    struct sweep_engine engine = {.capacity = 1};
    if (!copy_name(name, engine.name, sizeof engine.name))
        return NULL;
    out->engines[out->engine_count] = engine;
    return &out->engines[out->engine_count++];
}

enum { BUSY, CAPACITY, CYCLES, TOTAL };

static void take_engine(struct parser *parser, struct span name, struct span value, int which)
{
    uint64_t number;
    if (!read_number(value, which == BUSY ? NANOSECONDS : NONE, &number))
        return;
    if (which == CAPACITY && (number == 0 || number > UINT32_MAX))
        return; /* forbidden by the kernel's document */
    struct sweep_engine *engine = find_engine(parser, name);
    if (engine == NULL)
        return;
    switch (which) {
    case BUSY:
        engine->has_busy = true;
        engine->busy_ns = number;
        break;
    case CAPACITY: engine->capacity = (uint32_t)number; break;
    case CYCLES:
        engine->has_cycles = true;
        engine->cycles = number;
        break;
    case TOTAL:
        engine->has_total = true;
        engine->total_cycles = number;
        break;
    }
}

/* "gfx0: 12.3%" is 12.03 %: that kernel printed hundredths without the leading zero. */
static void take_percentage(struct parser *parser, struct span name, struct span value)
{
    struct cursor cursor = cursor_over(value.bytes, value.size);
    uint64_t whole, hundredths = 0;
    if (!number_u64(&cursor.at, cursor.end, &whole))
        return;
    if (cursor_literal(&cursor, ".") && !number_u64(&cursor.at, cursor.end, &hundredths))
        return;
    if (!cursor_literal(&cursor, "%") || !cursor_done(&cursor) || hundredths > 99)
        return;
    struct sweep_engine *engine = find_engine(parser, name);
    if (engine == NULL)
        return;
    engine->has_percent = true;
    engine->percent = (double)whole + (double)hundredths / 100;
}

enum { MEMORY = -1 }; /* otherwise the value's offset in struct sweep_region */

static void take_region(struct parser *parser, struct span name, struct span value, int which)
{
    struct sweep_client *out = parser->out;
    uint64_t bytes;
    uint32_t at = 0;
    if (!read_number(value, BYTES, &bytes))
        return;
    while (at < out->region_count && !span_equal(name, out->regions[at].name))
        at++;
    if (at == SWEEP_REGIONS)
        return;
    struct sweep_region *region = &out->regions[at];
    if (at == out->region_count) {
        struct sweep_region fresh = {0};
        if (!copy_name(name, fresh.name, sizeof fresh.name))
            return;
        *region = fresh;
        out->region_count++;
    }
    bool *told = &parser->resident[at];
    if (which == MEMORY && *told)
        return; /* the older name of the same value */
    size_t place = which == MEMORY ? offsetof(struct sweep_region, resident) : (size_t)which;
    *told |= which == (int)offsetof(struct sweep_region, resident);
    struct value number = value_u64(bytes);
    memcpy((char *)region + place, &number, sizeof number);
}

/* ---- identity ---- */

static void take_driver(struct parser *parser, struct span name, struct span value, int which)
{
    (void)which;
    if (name.size != 0)
        return;
    parser->is_drm = true;
    (void)copy_name(value, parser->out->driver, sizeof parser->out->driver);
}

static void take_address(struct parser *parser, struct span name, struct span value, int which)
{
    (void)which;
    if (name.size == 0)
        (void)copy_name(value, parser->out->pdev, sizeof parser->out->pdev);
}

static void take_id(struct parser *parser, struct span name, struct span value, int which)
{
    (void)which;
    uint64_t id;
    if (name.size != 0 || !read_number(value, NONE, &id))
        return;
    parser->out->has_id = true;
    parser->out->id = id;
}

#define REGION(field) (int)offsetof(struct sweep_region, field)

/* The first match counts, so a longer prefix stands before a shorter one that it begins with. */
static const struct fdinfo_field FIELDS[] = {
    {"drm-driver", take_driver, 0},
    {"drm-pdev", take_address, 0},
    {"drm-client-id", take_id, 0},
    {"drm-engine-capacity-", take_engine, CAPACITY},
    {"drm-engine-", take_engine, BUSY},
    {"drm-cycles-", take_engine, CYCLES},
    {"drm-total-cycles-", take_engine, TOTAL},
    {"drm-memory-", take_region, MEMORY},
    {"drm-total-", take_region, REGION(total)},
    {"drm-shared-", take_region, REGION(shared)},
    {"drm-resident-", take_region, REGION(resident)},
};

/* ---- amdgpu before Linux 5.19 ---- */

static void take_old(struct parser *parser, struct span key, struct span value)
{
    static const char MEMORY_KEY[] = " mem";
    size_t tail = sizeof MEMORY_KEY - 1;
    if (span_equal(key, "pdev")) {
        parser->is_old = true;
        take_address(parser, (struct span){0}, value, 0);
    } else if (!parser->is_old || parser->is_drm) {
        return; /* in other drivers these keys have another meaning */
    } else if (span_equal(key, "pasid")) {
        /* The process's address space on the device: one for each open file, so it identifies a
         * client as drm-client-id does today. */
        uint64_t id;
        if (read_number(value, NONE, &id) && id != 0) {
            parser->out->has_id = true;
            parser->out->id = id;
        }
    } else if (key.size > tail && memcmp(key.bytes + key.size - tail, MEMORY_KEY, tail) == 0) {
        take_region(parser, (struct span){key.bytes, key.size - tail}, value, MEMORY);
    } else {
        take_percentage(parser, key, value);
    }
}

bool sweep_parse(struct span text, struct sweep_client *out)
{
    struct parser parser = {.out = out};
    out->driver[0] = out->pdev[0] = '\0';
    out->has_id = false;
    out->id = 0;
    out->engine_count = out->region_count = 0;
    struct cursor cursor = cursor_over(text.bytes, text.size);
    for (struct span line; cursor_line(&cursor, &line);) {
        struct cursor rest = cursor_over(line.bytes, line.size);
        struct span key;
        if (!cursor_until(&rest, ':', &key))
            continue;
        struct span value = trim((struct span){rest.at, (size_t)(rest.end - rest.at)});
        size_t i = 0;
        while (i < ARRAY_COUNT(FIELDS) && !span_starts(key, FIELDS[i].prefix))
            i++;
        if (i == ARRAY_COUNT(FIELDS)) {
            take_old(&parser, key, value);
            continue;
        }
        size_t size = strlen(FIELDS[i].prefix);
        FIELDS[i].take(&parser, (struct span){key.bytes + size, key.size - size}, value,
                       FIELDS[i].which);
    }
    static const char OLD[] = "amdgpu";
    if (parser.is_old && !parser.is_drm)
        memcpy(out->driver, OLD, sizeof OLD);
    return parser.is_drm || (parser.is_old && out->has_id);
}
