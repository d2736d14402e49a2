/* usage_line.c: see usage_line.h. */
#include "export/usage_line.h"

#include <stdlib.h>
#include <string.h>

static const char *const SCOPES[] = {[VITALS_SCOPE_TREE] = "tree",
                                     [VITALS_SCOPE_ROOT] = "root",
                                     [VITALS_SCOPE_DESCENDANTS] = "descendants",
                                     [VITALS_SCOPE_SYSTEM] = "system",
                                     [VITALS_SCOPE_GPU] = "gpu"};

static const size_t SCOPE_COUNT = sizeof SCOPES / sizeof SCOPES[0];

/* ---- writing ---- */

void usage_line_write(struct text *line, const vitals_snapshot *snapshot, const vitals_usage *usage)
{
    size_t count;
    const vitals_usage_value *values = vitals_usage_values(usage, &count);
    bool any = false;
    bool gone[sizeof SCOPES / sizeof SCOPES[0]] = {false}; /* all processes of it have ended */
    const vitals_measure processes = vitals_measure_find("processes");
    for (size_t i = 0; i < count; i++) {
        if (values[i].measure == processes && values[i].state == VITALS_GONE &&
            values[i].scope >= 1 && (size_t)values[i].scope < SCOPE_COUNT)
            gone[values[i].scope] = true;
    }

    text_format(line, "{\"usage\":{\"realtime_ns\":\"%llu\",\"monotonic_ns\":\"%llu\",\"values\":[",
                (unsigned long long)vitals_snapshot_realtime_ns(snapshot),
                (unsigned long long)vitals_snapshot_monotonic_ns(snapshot));
    for (size_t i = 0; i < count; i++) {
        const vitals_usage_value *value = &values[i];
        if (value->scope < 1 || (size_t)value->scope >= SCOPE_COUNT)
            continue;
        /* What ended processes did since the last sample is not known, and not 0. */
        bool rate = value->state > 0 && !vitals_measure_is_counter(value->measure);
        vitals_availability state = rate && gone[value->scope] ? VITALS_GONE : value->state;
        text_format(line, "%s[\"%s\",\"", any ? "," : "", SCOPES[value->scope]);
        text_safe(line, (vitals_text){value->subject, strlen(value->subject)}, VITALS_TEXT_JSON);
        text_format(line, "\",\"%s\",\"%s\",", vitals_measure_name(value->measure),
                    vitals_availability_name(state));
        if (state > 0)
            text_number(line, value->value);
        else
            text_string(line, "null");
        text_byte(line, ']');
        any = true;
    }
    text_string(line, "]}}\n");
}

/* ---- reading ---- */

enum { COLUMN_SCOPE, COLUMN_SUBJECT, COLUMN_MEASURE, COLUMN_STATE, COLUMN_VALUE };

/* The key of a value. */
struct usage_key {
    const char *scope, *subject, *measure; /* NULL: the first subject */
};

static bool is_string(const json_t *value, const char *wanted)
{
    const char *string = json_string_value(value);
    return string != NULL && strcmp(string, wanted) == 0;
}

static bool has_key(const json_t *one, const struct usage_key *key)
{
    return is_string(json_array_get(one, COLUMN_MEASURE), key->measure) &&
           is_string(json_array_get(one, COLUMN_SCOPE), key->scope) &&
           (key->subject == NULL || is_string(json_array_get(one, COLUMN_SUBJECT), key->subject));
}

static uint64_t hash_of(const struct usage_key *key)
{
    const char *const words[] = {key->scope, key->subject != NULL ? key->subject : "\n",
                                 key->measure};
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        for (const char *at = words[i];; at++) {
            hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
            if (*at == '\0')
                break;
        }
    }
    return hash ^ hash >> 32;
}

/* Returns the place of that key, or the free one for it. */
static struct usage_place *find_place(const struct usage_line *line, const struct usage_key *key)
{
    uint64_t hash = hash_of(key);
    for (size_t i = (size_t)hash & line->mask;; i = (i + 1) & line->mask) {
        struct usage_place *place = &line->places[i];
        if (place->value == NULL || (place->hash == hash && place->any == (key->subject == NULL) &&
                                     has_key(place->value, key)))
            return place;
    }
}

/* The first value of a key wins. */
static void put_place(struct usage_line *line, const struct usage_key *key, const json_t *value)
{
    struct usage_place *place = find_place(line, key);
    if (place->value == NULL)
        *place = (struct usage_place){hash_of(key), value, key->subject == NULL};
}

void usage_line_read(struct usage_line *line, const json_t *usage)
{
    const json_t *values = json_object_get(usage, "values");
    size_t count = json_array_size(values), capacity = 16;
    *line = (struct usage_line){.values = values};
    while (capacity < 4 * count) /* each by its subject and by none, half of the places empty */
        capacity *= 2;
    line->mask = capacity - 1;
    line->places = calloc(capacity, sizeof *line->places);
    for (size_t i = 0; i < count && line->places != NULL; i++) {
        const json_t *one = json_array_get(values, i);
        struct usage_key key = {json_string_value(json_array_get(one, COLUMN_SCOPE)),
                                json_string_value(json_array_get(one, COLUMN_SUBJECT)),
                                json_string_value(json_array_get(one, COLUMN_MEASURE))};
        if (key.scope == NULL || key.measure == NULL)
            continue;
        if (key.subject != NULL)
            put_place(line, &key, one);
        key.subject = NULL;
        put_place(line, &key, one);
    }
}

void usage_line_done(struct usage_line *line)
{
    free(line->places);
    *line = (struct usage_line){.values = NULL};
}

vitals_availability usage_line_value(const struct usage_line *line, const char *scope,
                                     const char *subject, const char *measure, double *out)
{
    const struct usage_key key = {scope, subject, measure};
    const json_t *one = line->places != NULL ? find_place(line, &key)->value : NULL;
    for (size_t i = 0; line->places == NULL && one == NULL && i < json_array_size(line->values);
         i++) {
        if (has_key(json_array_get(line->values, i), &key))
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

/* ---- the account ---- */

uint64_t account_began_ns(const json_t *account)
{
    const json_t *attributes = json_object_get(account, "attributes");
    const char *began = json_string_value(json_object_get(attributes, "started_ns"));
    return began != NULL ? strtoull(began, NULL, 10) : 0;
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
