/*
 * value.c - see value.h. The number syntax is the scenario's, not a general one: base 10 or 0x,
 * binary byte suffixes only, no fractions.
 */
#include "value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SWING_STEPS = 10 };

static const struct {
    const char *name;
    uint64_t factor;
} suffixes[] = {
    {"", 1}, {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}, {"TiB", 1ull << 40},
};

static bool parse_span(uint64_t *out, const char *text, size_t size)
{
    char copy[48];
    if (size == 0 || size >= sizeof copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (strcmp(copy, "max") == 0) {
        *out = UINT64_MAX;
        return true;
    }
    bool negative = copy[0] == '-';
    const char *digits = copy + negative;
    if (!isdigit((unsigned char)digits[0]))
        return false;
    char *end;
    bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    uint64_t number = strtoull(digits, &end, hexadecimal ? 16 : 10);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(end, suffixes[i].name) == 0) {
            number *= suffixes[i].factor;
            *out = negative ? 0 - number : number;
            return true;
        }
    }
    return false;
}

bool value_parse_integer(uint64_t *out, const char *text)
{
    return parse_span(out, text, strlen(text));
}

static bool parse_error(struct value *value, const char *text)
{
    uint64_t code = NVML_ERROR_NOT_SUPPORTED;
    if (strcmp(text, "N/A") != 0) {
        if (strncmp(text, "error:", 6) != 0 || !value_parse_integer(&code, text + 6) || code == 0 ||
            code > 9999)
            return false;
    }
    *value = (struct value){.kind = VALUE_ERROR, .result = (nvml_return)code};
    return true;
}

bool value_parse_number(struct value *value, const char *text)
{
    struct value parsed = {.kind = VALUE_CONSTANT};
    if (parse_error(&parsed, text)) {
        value_done(value);
        *value = parsed;
        return true;
    }
    if (strcmp(text, "now") == 0) {
        value_done(value);
        *value = (struct value){.kind = VALUE_NOW};
        return true;
    }
    size_t size = strlen(text);
    const char *cut = strstr(text, "..");
    size_t mark = 2;
    if (cut) {
        parsed.kind = VALUE_SWING;
    } else if ((cut = strchr(text, '+'))) {
        bool per_second = size > 2 && strcmp(text + size - 2, "/s") == 0;
        parsed.kind = per_second ? VALUE_PER_SECOND : VALUE_PER_CALL;
        size -= per_second ? 2 : 0;
        mark = 1;
    }
    if (!parse_span(&parsed.first, text, cut ? (size_t)(cut - text) : size))
        return false;
    if (cut && !parse_span(&parsed.second, cut + mark, (size_t)(text + size - cut) - mark))
        return false;
    if (parsed.kind == VALUE_SWING && parsed.second < parsed.first)
        return false;
    value_done(value);
    *value = parsed;
    return true;
}

static int hexadecimal_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* One escape after its backslash: \n \t \r \e \\ \" \xNN. Returns the bytes read, 0 if malformed.
 */
static size_t unescape(char *out, const char *text)
{
    static const char names[] = "ntre\\\"";
    static const char bytes[] = "\n\t\r\033\\\"";
    if (text[0] == 'x') {
        int high = hexadecimal_digit(text[1]);
        int low = high < 0 ? -1 : hexadecimal_digit(text[2]);
        *out = (char)(high * 16 + low);
        return low < 0 ? 0 : 3;
    }
    const char *found = text[0] ? strchr(names, text[0]) : NULL;
    *out = found ? bytes[found - names] : '\0';
    return found ? 1 : 0;
}

bool value_parse_text(struct value *value, const char *text)
{
    struct value parsed = {.kind = VALUE_TEXT};
    if (parse_error(&parsed, text)) {
        value_done(value);
        *value = parsed;
        return true;
    }
    size_t size = strlen(text);
    if (size >= 2 && text[0] == '"' && text[size - 1] == '"') {
        text++;
        size -= 2;
    }
    char *out = parsed.text = malloc(size + 1);
    if (!out)
        return false;
    for (size_t i = 0; i < size;) {
        size_t used = 1;
        if (text[i] != '\\')
            *out++ = text[i];
        else if ((used = unescape(out++, text + i + 1)) == 0)
            return free(parsed.text), false;
        else
            used++;
        i += used;
    }
    *out = '\0';
    value_done(value);
    *value = parsed;
    return true;
}

bool value_parse_duration(uint64_t *out_ns, const char *text)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    size_t size = strlen(text);
    if (strcmp(text, "0") == 0) {
        *out_ns = 0;
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t unit = strlen(units[i].name);
        if (size > unit && strcmp(text + size - unit, units[i].name) == 0 &&
            parse_span(out_ns, text, size - unit)) {
            *out_ns *= units[i].ns;
            return true;
        }
    }
    return false;
}

static uint64_t swing(const struct value *value)
{
    uint64_t place = value->reads % (uint64_t)(2 * SWING_STEPS);
    uint64_t up = place <= SWING_STEPS ? place : 2 * SWING_STEPS - place;
    uint64_t width = value->second - value->first;
    return value->first + width / SWING_STEPS * up + width % SWING_STEPS * up / SWING_STEPS;
}

nvml_return value_peek(const struct value *value, uint64_t elapsed_ns, uint64_t *out)
{
    switch (value->kind) {
    case VALUE_UNSET:
    case VALUE_TEXT: return NVML_ERROR_NOT_SUPPORTED;
    case VALUE_ERROR: return value->result;
    case VALUE_NOW: {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        *out = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
        break;
    }
    case VALUE_CONSTANT: *out = value->first; break;
    case VALUE_SWING: *out = swing(value); break;
    case VALUE_PER_CALL: *out = value->first + value->second * value->reads; break;
    case VALUE_PER_SECOND:
        *out = value->first + (uint64_t)((double)value->second * ((double)elapsed_ns / 1e9));
        break;
    }
    return NVML_SUCCESS;
}

nvml_return value_read(struct value *value, uint64_t elapsed_ns, uint64_t *out)
{
    nvml_return result = value_peek(value, elapsed_ns, out);
    value->reads++;
    return result;
}

bool value_copy(struct value *to, const struct value *from)
{
    char *text = NULL;
    if (from->text && !(text = strdup(from->text)))
        return false;
    value_done(to);
    *to = *from;
    to->text = text;
    return true;
}

void value_done(struct value *value)
{
    free(value->text);
    *value = (struct value){.kind = VALUE_UNSET};
}
