/* usage_line.c: see usage_line.h. */
#include "export/usage_line.h"

#include <stdio.h>
#include <string.h>

#include "feed/rows.h"
#include "util/number.h"

static const char *const SCOPES[] = {[VITALS_SCOPE_TREE] = "tree",
                                     [VITALS_SCOPE_ROOT] = "root",
                                     [VITALS_SCOPE_DESCENDANTS] = "descendants",
                                     [VITALS_SCOPE_SYSTEM] = "system",
                                     [VITALS_SCOPE_GPU] = "gpu"};

static const size_t SCOPE_COUNT = sizeof SCOPES / sizeof SCOPES[0];

/* ---- writing ---- */

void usage_line_write(struct buffer *line, const vitals_snapshot *snapshot,
                      const vitals_usage *usage)
{
    const vitals_usage_value *value = NULL;
    bool any = false;
    bool gone[sizeof SCOPES / sizeof SCOPES[0]] = {false}; /* all processes of it have ended */
    const vitals_measure processes = vitals_measure_find("processes");
    while ((value = vitals_usage_next(usage, value)) != NULL) {
        if (value->measure == processes && value->state == VITALS_GONE && value->scope >= 1 &&
            (size_t)value->scope < SCOPE_COUNT)
            gone[value->scope] = true;
    }

    buffer_format(line,
                  "{\"usage\":{\"realtime_ns\":\"%llu\",\"monotonic_ns\":\"%llu\",\"values\":[",
                  (unsigned long long)vitals_snapshot_realtime_ns(snapshot),
                  (unsigned long long)vitals_snapshot_monotonic_ns(snapshot));
    while ((value = vitals_usage_next(usage, value)) != NULL) {
        if (value->scope < 1 || (size_t)value->scope >= SCOPE_COUNT)
            continue;
        /* Usage of processes that ended since the last sample is not known, and not 0. */
        bool rate = value->state > 0 && !vitals_measure_is_counter(value->measure);
        vitals_availability state = rate && gone[value->scope] ? VITALS_GONE : value->state;
        buffer_format(line, "%s[\"%s\",\"", any ? "," : "", SCOPES[value->scope]);
        text_safe(line, vitals_text_of(value->subject), VITALS_TEXT_JSON);
        buffer_format(line, "\",\"%s\",\"%s\",", vitals_measure_name(value->measure),
                      vitals_availability_name(state));
        if (state > 0)
            text_number(line, value->value);
        else
            buffer_string(line, "null");
        buffer_byte(line, ']');
        any = true;
    }
    buffer_string(line, "]}}\n");
}

/* ---- reading ---- */

enum { COLUMN_SCOPE, COLUMN_SUBJECT, COLUMN_MEASURE, COLUMN_STATE, COLUMN_VALUE };

static bool is_string(const json_t *value, const char *wanted)
{
    const char *string = json_string_value(value);
    return string != NULL && strcmp(string, wanted) == 0;
}

/* `subject` NULL: any. */
static bool is_of(const json_t *one, const char *scope, const char *subject, const char *measure)
{
    return is_string(json_array_get(one, COLUMN_MEASURE), measure) &&
           is_string(json_array_get(one, COLUMN_SCOPE), scope) &&
           (subject == NULL || is_string(json_array_get(one, COLUMN_SUBJECT), subject));
}

static uint64_t key_of(const char *scope, const char *subject, const char *measure)
{
    const char *const words[] = {scope, subject != NULL ? subject : "\n", measure};
    uint64_t key = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        key = hash_join(key, hash_bytes(words[i], strlen(words[i])));
    return key;
}

void usage_line_read(struct usage_line *line, const json_t *usage)
{
    const json_t *values = json_object_get(usage, "values");
    *line = (struct usage_line){.values = values};
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *one = json_array_get(values, i);
        const char *scope = json_string_value(json_array_get(one, COLUMN_SCOPE));
        const char *subject = json_string_value(json_array_get(one, COLUMN_SUBJECT));
        const char *measure = json_string_value(json_array_get(one, COLUMN_MEASURE));
        if (scope == NULL || measure == NULL)
            continue;
        /* By its subject, and by any; the first value of a key wins. */
        const uint64_t keys[] = {key_of(scope, subject, measure), key_of(scope, NULL, measure)};
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            if (hash_find(&line->index, keys[k]) == NULL &&
                hash_set(&line->index, keys[k], (uintptr_t)one) != 0)
                line->partial = true;
        }
    }
}

void usage_line_done(struct usage_line *line)
{
    hash_done(&line->index);
    *line = (struct usage_line){.values = NULL};
}

vitals_availability usage_line_value(const struct usage_line *line, const char *scope,
                                     const char *subject, const char *measure, double *out)
{
    const uintptr_t *found = hash_find(&line->index, key_of(scope, subject, measure));
    const json_t *one = found != NULL ? (const json_t *)*found : NULL;
    if (!is_of(one, scope, subject, measure))
        one = NULL;
    for (size_t i = 0; line->partial && one == NULL && i < json_array_size(line->values); i++) {
        if (is_of(json_array_get(line->values, i), scope, subject, measure))
            one = json_array_get(line->values, i);
    }

    const json_t *number = json_array_get(one, COLUMN_VALUE);
    const char *state = json_string_value(json_array_get(one, COLUMN_STATE));
    if (one == NULL)
        return VITALS_NOT_REQUESTED;
    vitals_availability is = vitals_availability_from_name(state != NULL ? state : "");
    if (is == VITALS_UNSET || (is > 0 && !json_is_number(number)))
        return VITALS_FAILED;
    if (is > 0)
        *out = json_number_value(number);
    return is;
}

bool usage_line_is_new(vitals_availability state)
{
    return state > 0 && state != VITALS_STALE;
}

size_t usage_line_devices(const json_t *usage, const char *devices[static USAGE_DEVICES])
{
    const json_t *values = json_object_get(usage, "values"), *value;
    size_t count = 0, i;
    json_array_foreach(values, i, value)
    {
        const char *subject = json_string_value(json_array_get(value, COLUMN_SUBJECT));
        bool known = subject == NULL || !is_string(json_array_get(value, COLUMN_SCOPE), "gpu");
        for (size_t d = 0; d < count && !known; d++)
            known = strcmp(devices[d], subject) == 0;
        if (!known && count < USAGE_DEVICES)
            devices[count++] = subject;
    }
    return count;
}

const vitals_row *usage_line_gpu(const vitals_snapshot *snapshot, const char *uuid)
{
    vitals_text text;
    if (snapshot == NULL)
        return NULL;
    EACH_ROW(row, snapshot, VITALS_TABLE_GPU) {
        if (vitals_row_text(row, VITALS_GPU_UUID, &text) > 0 && text.size == strlen(uuid) &&
            memcmp(text.bytes, uuid, text.size) == 0)
            return row;
    }
    return NULL;
}

void usage_line_gpu_name(const vitals_snapshot *snapshot, const char *uuid, char *out, size_t size)
{
    const vitals_row *row = usage_line_gpu(snapshot, uuid);
    (void)snprintf(out, size, "gpu_%s", row != NULL ? vitals_row_label(row) : uuid);
    for (char *at = out; *at != '\0'; at++) {
        bool plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                     (*at >= 'A' && *at <= 'Z') || *at == '_' || *at == '-' || *at == '.';
        *at = plain ? *at : '_';
    }
}

uint64_t usage_line_realtime_ns(const json_t *usage)
{
    return usage_line_ns(usage, "realtime_ns");
}

uint64_t usage_line_ns(const json_t *object, const char *member)
{
    const char *digits = json_string_value(json_object_get(object, member));
    uint64_t ns = 0;
    bool known = digits != NULL && strlen(digits) <= 19 && number_is_u64(digits, &ns);
    return known ? ns : 0;
}

/* ---- the account ---- */

uint64_t account_began_ns(const json_t *account)
{
    return usage_line_ns(json_object_get(account, "attributes"), "started_ns");
}

uint64_t account_ended_ns(const json_t *account)
{
    const json_t *figures = json_object_get(account, "figures");
    uint64_t began_ns = account_began_ns(account);
    for (size_t i = 0; i < json_array_size(figures) && began_ns > 0; i++) {
        const json_t *figure = json_array_get(figures, i);
        const char *name = json_string_value(json_object_get(figure, "name"));
        double seconds = json_number_value(json_object_get(figure, "value"));
        if (name != NULL && strcmp(name, "wall_seconds") == 0 && seconds >= 0 && seconds < 1e9)
            return began_ns + (uint64_t)(seconds * 1e9);
    }
    return 0;
}
