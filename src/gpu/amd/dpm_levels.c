/* dpm_levels.c: see dpm_levels.h. */
#include "gpu/amd/dpm_levels.h"

#include "util/number.h"

enum { MEGAHERTZ_MAX = 10000, WORKERS_MAX = 64 };

/* A line of such a table. */
struct dpm_level {
    bool is_sleep, is_starred;
    struct span text; /* between the colon and the star */
};

static struct span trim(struct span text)
{
    while (text.size > 0 &&
           (text.bytes[text.size - 1] == ' ' || text.bytes[text.size - 1] == '\t' ||
            text.bytes[text.size - 1] == '\0' || text.bytes[text.size - 1] == '\r'))
        text.size--;
    return text;
}

static bool is_letter(char byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

static bool parse_level(struct span line, struct dpm_level *out)
{
    struct cursor cursor = cursor_over(line.bytes, line.size);
    struct span index;
    uint64_t number;
    cursor_blanks(&cursor);
    if (!cursor_until(&cursor, ':', &index) || index.size == 0)
        return false;
    struct cursor digits = cursor_over(index.bytes, index.size);
    out->is_sleep = index.size == 1 && is_letter(index.bytes[0]);
    if (!out->is_sleep && (!cursor_u64(&digits, &number) || !cursor_done(&digits)))
        return false;
    out->text = trim((struct span){cursor.at, (size_t)(cursor.end - cursor.at)});
    out->is_starred = out->text.size > 0 && out->text.bytes[out->text.size - 1] == '*';
    if (out->is_starred)
        out->text.size--;
    return true;
}

static bool next_level(struct cursor *cursor, struct dpm_level *out)
{
    struct span line;
    while (cursor_line(cursor, &line))
        if (parse_level(line, out))
            return true;
    return false;
}

/* Of several that are starred the last counts; that they differ is said. */
static void set_now(struct value *now, struct value found)
{
    bool differs = now->state != VITALS_UNSET && now->as.u64 != found.as.u64;
    signed char state = now->state;
    *now = found;
    if (differs || state == VITALS_ESTIMATE)
        now->state = VITALS_ESTIMATE;
}

/* ---- clocks ---- */

static bool parse_hertz(struct span text, double *out)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    uint64_t megahertz;
    if (!cursor_u64(&cursor, &megahertz) || megahertz > MEGAHERTZ_MAX ||
        (!cursor_literal(&cursor, "Mhz") && !cursor_literal(&cursor, "MHz")))
        return false;
    *out = (double)megahertz * 1e6;
    return true;
}

bool amd_dpm_levels_parse(struct span text, struct amd_dpm_levels *out)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    struct dpm_level level;
    double hertz;
    *out = (struct amd_dpm_levels){0};
    while (next_level(&cursor, &level)) {
        if (!parse_hertz(level.text, &hertz))
            continue;
        if (level.is_starred)
            set_now(&out->now, value_f64(hertz));
        if (level.is_sleep)
            continue;
        if (out->lowest.state == VITALS_UNSET || hertz < out->lowest.as.f64)
            out->lowest = value_f64(hertz);
        if (out->highest.state == VITALS_UNSET || hertz > out->highest.as.f64)
            out->highest = value_f64(hertz);
    }
    return out->now.state != VITALS_UNSET || out->highest.state != VITALS_UNSET;
}

/* ---- the PCIe link ---- */

static const struct {
    double least; /* gigatransfers a second */
    unsigned generation;
} generations[] = {{63.0, 6}, {31.0, 5}, {15.0, 4}, {7.0, 3}, {4.0, 2}, {2.0, 1}};

static bool parse_link(struct span text, uint64_t *generation, uint64_t *width)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    double speed;
    cursor_blanks(&cursor);
    if (!number_f64(&cursor.at, cursor.end, &speed) || speed > 100.0)
        return false;
    cursor_blanks(&cursor);
    if (!cursor_literal(&cursor, "GT/s"))
        return false;
    *generation = 0;
    for (size_t i = 0; i < ARRAY_COUNT(generations) && *generation == 0; i++)
        if (speed >= generations[i].least)
            *generation = generations[i].generation;
    cursor_literal(&cursor, ",");
    cursor_blanks(&cursor);
    return *generation != 0 && cursor_literal(&cursor, "x") &&
           number_u64(&cursor.at, cursor.end, width) && *width > 0 && *width <= WORKERS_MAX;
}

static void set_highest(struct value *highest, uint64_t found)
{
    if (highest->state == VITALS_UNSET || found > highest->as.u64)
        *highest = value_u64(found);
}

bool amd_link_levels_parse(struct span text, struct amd_link_levels *out)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    struct dpm_level level;
    uint64_t generation, width;
    *out = (struct amd_link_levels){0};
    while (next_level(&cursor, &level)) {
        if (!parse_link(level.text, &generation, &width))
            continue;
        if (level.is_starred) {
            set_now(&out->generation, value_u64(generation));
            set_now(&out->width, value_u64(width));
        }
        set_highest(&out->generation_highest, generation);
        set_highest(&out->width_highest, width);
    }
    return out->generation_highest.state != VITALS_UNSET;
}
