/* usage_line.c: see usage_line.h. */
#include "publish/usage_line.h"

#include <string.h>

static const char *const SCOPES[] = {[VITALS_SCOPE_TREE] = "tree",
                                     [VITALS_SCOPE_ROOT] = "root",
                                     [VITALS_SCOPE_DESCENDANTS] = "descendants",
                                     [VITALS_SCOPE_SYSTEM] = "system",
                                     [VITALS_SCOPE_GPU] = "gpu"};

static const size_t SCOPE_COUNT = sizeof SCOPES / sizeof SCOPES[0];

/* ---- written ---- */

static void put_instant(struct text *line, const char *name, uint64_t ns)
{
    text_format(line, "\"%s\":\"%llu\",", name, (unsigned long long)ns);
}

static void put_value(struct text *line, const vitals_usage_value *value)
{
    text_format(line, "[\"%s\",\"", SCOPES[value->scope]);
    text_safe(line, (vitals_text){value->subject, strlen(value->subject)}, VITALS_TEXT_JSON);
    text_format(line, "\",\"%s\",\"%s\",", vitals_measure_name(value->measure),
                vitals_availability_name(value->state));
    if (value->state > 0)
        text_number(line, value->value);
    else
        text_string(line, "null");
    text_byte(line, ']');
}

void usage_line_write(struct text *line, const vitals_snapshot *snapshot, const vitals_usage *usage)
{
    size_t count;
    const vitals_usage_value *values = vitals_usage_values(usage, &count);
    bool any = false;
    text_string(line, "{\"usage\":{");
    put_instant(line, "realtime_ns", vitals_snapshot_realtime_ns(snapshot));
    put_instant(line, "monotonic_ns", vitals_snapshot_monotonic_ns(snapshot));
    text_string(line, "\"values\":[");
    for (size_t i = 0; i < count; i++) {
        if (values[i].scope < 1 || (size_t)values[i].scope >= SCOPE_COUNT)
            continue;
        if (any)
            text_byte(line, ',');
        put_value(line, &values[i]);
        any = true;
    }
    text_string(line, "]}}\n");
}

/* ---- read ---- */

static bool is_string(const json_t *value, const char *wanted)
{
    const char *string = json_string_value(value);
    return string != NULL && strcmp(string, wanted) == 0;
}

vitals_availability usage_line_value(const json_t *usage, const char *scope, const char *subject,
                                     const char *measure, double *out)
{
    const json_t *values = json_object_get(usage, "values");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *one = json_array_get(values, i), *number = json_array_get(one, 4);
        const char *state = json_string_value(json_array_get(one, 3));
        if (!is_string(json_array_get(one, 0), scope) ||
            !is_string(json_array_get(one, 2), measure) ||
            (subject != NULL && !is_string(json_array_get(one, 1), subject)))
            continue;
        vitals_availability is = vitals_availability_from_name(state != NULL ? state : "");
        if (is == VITALS_UNSET || (is > 0 && !json_is_number(number)))
            return VITALS_FAILED;
        if (is > 0)
            *out = json_number_value(number);
        return is;
    }
    return VITALS_NOT_REQUESTED;
}

uint64_t usage_line_realtime_ns(const json_t *usage)
{
    const char *digits = json_string_value(json_object_get(usage, "realtime_ns"));
    uint64_t ns = 0;
    size_t size = digits != NULL ? strlen(digits) : 0;
    if (size == 0 || size > 19 || strspn(digits, "0123456789") != size)
        return 0;
    for (size_t i = 0; i < size; i++)
        ns = ns * 10 + (uint64_t)(digits[i] - '0');
    return ns;
}
