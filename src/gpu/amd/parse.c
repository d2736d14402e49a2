/* parse.c: see parse.h. */
#include "gpu/amd/parse.h"

#include "util/number.h"

#include <string.h>

enum { MEGAHERTZ_MAX = 10000, LANES_MAX = 64 };

/* A line of a pp_dpm_* table. */
struct dpm_level {
    bool is_sleep, is_starred;
    struct span text; /* between the colon and the star */
};

static bool next_level(struct cursor *lines, struct dpm_level *out)
{
    struct span line, index;
    uint64_t number;
    while (cursor_line(lines, &line)) {
        struct cursor cursor = cursor_over(line.bytes, line.size);
        cursor_blanks(&cursor);
        if (!cursor_until(&cursor, ':', &index) || index.size == 0)
            continue;
        struct cursor digits = cursor_over(index.bytes, index.size);
        out->is_sleep = index.size == 1 && ((index.bytes[0] >= 'A' && index.bytes[0] <= 'Z') ||
                                            (index.bytes[0] >= 'a' && index.bytes[0] <= 'z'));
        if (!out->is_sleep && (!cursor_u64(&digits, &number) || !cursor_done(&digits)))
            continue;
        while (!cursor_done(&cursor) && memchr(" \t\r", cursor.end[-1], sizeof " \t\r") != NULL)
            cursor.end--;
        out->is_starred = !cursor_done(&cursor) && cursor.end[-1] == '*';
        cursor.end -= out->is_starred;
        out->text = (struct span){cursor.at, (size_t)(cursor.end - cursor.at)};
        return true;
    }
    return false;
}

/* If several levels are starred the last one counts, and the value is an estimate if their bits
 * differ. */
static void set_now(struct value *now, struct value found)
{
    bool differs = now->state != VITALS_UNSET && now->as.u64 != found.as.u64;
    signed char state = now->state;
    *now = found;
    if (differs || state == VITALS_ESTIMATE)
        now->state = VITALS_ESTIMATE;
}

bool amd_dpm_levels_parse(struct span text, struct amd_dpm_levels *out)
{
    struct cursor lines = cursor_over(text.bytes, text.size);
    struct dpm_level level;
    uint64_t megahertz;
    *out = (struct amd_dpm_levels){0};
    while (next_level(&lines, &level)) {
        struct cursor cursor = cursor_over(level.text.bytes, level.text.size);
        if (!cursor_u64(&cursor, &megahertz) || megahertz > MEGAHERTZ_MAX ||
            (!cursor_literal(&cursor, "Mhz") && !cursor_literal(&cursor, "MHz")))
            continue;
        double hertz = (double)megahertz * 1e6;
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

static const struct {
    double least; /* gigatransfers per second */
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
           number_u64(&cursor.at, cursor.end, width) && *width > 0 && *width <= LANES_MAX;
}

bool amd_link_levels_parse(struct span text, struct amd_link_levels *out)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    struct dpm_level level;
    uint64_t generation, width;
    bool found = false;
    *out = (struct amd_link_levels){0};
    while (next_level(&cursor, &level)) {
        if (!parse_link(level.text, &generation, &width))
            continue;
        found = true;
        if (level.is_starred) {
            set_now(&out->generation, value_u64(generation));
            set_now(&out->width, value_u64(width));
        }
    }
    return found;
}

bool amd_errors_parse(struct span text, struct amd_errors *out)
{
    *out = (struct amd_errors){0};
    const struct {
        const char *word;
        struct value *value;
    } words[] = {{"ue:", &out->uncorrected}, {"ce:", &out->corrected}, {"de:", &out->deferred}};
    struct cursor lines = cursor_over(text.bytes, text.size);
    bool found = false;
    for (struct span line; cursor_line(&lines, &line);) {
        struct cursor cursor = cursor_over(line.bytes, line.size);
        cursor_blanks(&cursor);
        for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
            uint64_t number;
            if (!cursor_literal(&cursor, words[i].word) || !cursor_u64(&cursor, &number))
                continue;
            *words[i].value = value_u64(number);
            found = true;
        }
    }
    return found;
}

void amd_bad_pages_parse(struct span text, struct amd_bad_pages *out)
{
    struct cursor lines = cursor_over(text.bytes, text.size);
    *out = (struct amd_bad_pages){0};
    for (struct span line; cursor_line(&lines, &line);) {
        struct cursor cursor = cursor_over(line.bytes, line.size);
        struct span word;
        uint64_t number;
        cursor_blanks(&cursor);
        if (!number_hex(&cursor.at, cursor.end, &number) || !cursor_until(&cursor, ':', &word) ||
            !cursor_until(&cursor, ':', &word) || !cursor_word(&cursor, &word))
            continue;
        out->retired += span_equal(word, "R");
        out->pending += span_equal(word, "P");
    }
}
