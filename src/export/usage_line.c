/* usage_line.c: see usage_line.h. */
#include "export/usage_line.h"

#include <stdio.h>
#include <string.h>

#include "feed/rows.h"
#include "util/memory.h"
#include "util/number.h"

static const char *const SCOPES[] = {[VITALS_SCOPE_TREE] = "tree",
                                     [VITALS_SCOPE_ROOT] = "root",
                                     [VITALS_SCOPE_DESCENDANTS] = "descendants",
                                     [VITALS_SCOPE_SYSTEM] = "system",
                                     [VITALS_SCOPE_GPU] = "gpu"};

enum { SCOPE_COUNT = ARRAY_COUNT(SCOPES) };

/* ---- writing ---- */

void usage_line_write(struct buffer *line, const vitals_snapshot *snapshot,
                      const vitals_usage *usage)
{
    const vitals_usage_value *value = NULL;
    bool any = false;
    bool gone[SCOPE_COUNT] = {false}; /* all processes of it have ended */
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

static struct usage_line_subject *take_subject(struct usage_line *line, vitals_scope scope,
                                               const char *subject)
{
    /* Values of one subject follow each other. */
    for (size_t i = line->count; i-- > 0;) {
        struct usage_line_subject *known = &line->subjects[i];
        if (known->scope == scope && strcmp(known->subject, subject) == 0)
            return known;
    }
    if (line->count == USAGE_SUBJECTS ||
        MEMORY_GROW(line->subjects, line->capacity, line->count) != 0)
        return NULL;
    struct usage_line_subject *added = &line->subjects[line->count++];
    *added = (struct usage_line_subject){.scope = scope, .subject = subject};
    return added;
}

/* [SCOPE,SUBJECT,MEASURE,STATE,VALUE] */
static void read_value(struct usage_line *line, const json_t *value)
{
    const char *words[4];
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        words[i] = json_string_value(json_array_get(value, i));
    if (words[0] == NULL || words[1] == NULL || words[2] == NULL)
        return;
    size_t scope = 1, measure = (size_t)vitals_measure_find(words[2]);
    while (scope < SCOPE_COUNT && strcmp(SCOPES[scope], words[0]) != 0)
        scope++;
    if (scope == SCOPE_COUNT || measure == 0 || measure >= USAGE_MEASURES)
        return;
    struct usage_line_subject *subject = take_subject(line, (vitals_scope)scope, words[1]);
    if (subject == NULL || subject->figures[measure].state != VITALS_UNSET)
        return;

    const json_t *number = json_array_get(value, 4);
    vitals_availability state = vitals_availability_from_name(words[3] != NULL ? words[3] : "");
    if (state == VITALS_UNSET || (state > 0 && !json_is_number(number)))
        state = VITALS_FAILED;
    subject->figures[measure] = (struct usage_figure){state, json_number_value(number)};
}

struct usage_line *usage_line_new(json_t *usage)
{
    const json_t *values = json_object_get(usage, "values"), *value;
    struct usage_line *line = usage != NULL ? memory_alloc(sizeof *line) : NULL;
    size_t i;
    if (line == NULL)
        return NULL;
    *line = (struct usage_line){.holders = 1,
                                .realtime_ns = usage_line_ns(usage, "realtime_ns"),
                                .monotonic_ns = usage_line_ns(usage, "monotonic_ns"),
                                .json = json_incref(usage)};
    json_array_foreach(values, i, value)
    {
        read_value(line, value);
    }
    return line;
}

struct usage_line *usage_line_ref(struct usage_line *line)
{
    line->holders++;
    return line;
}

void usage_line_unref(struct usage_line *line)
{
    if (line == NULL || --line->holders > 0)
        return;
    json_decref(line->json);
    memory_free(line->subjects);
    memory_free(line);
}

const struct usage_line_subject *usage_line_find(const struct usage_line *line, vitals_scope scope,
                                                 const char *subject)
{
    for (size_t i = 0; line != NULL && i < line->count; i++) {
        const struct usage_line_subject *known = &line->subjects[i];
        if (known->scope == scope && (subject == NULL || strcmp(known->subject, subject) == 0))
            return known;
    }
    return NULL;
}

vitals_availability usage_value(const struct usage_line_subject *subject, vitals_measure measure,
                                double *out)
{
    if (subject == NULL || (size_t)measure >= USAGE_MEASURES ||
        subject->figures[measure].state == VITALS_UNSET)
        return VITALS_NOT_REQUESTED;
    if (subject->figures[measure].state > 0)
        *out = subject->figures[measure].value;
    return subject->figures[measure].state;
}

bool usage_is_new(vitals_availability state)
{
    return state > 0 && state != VITALS_STALE;
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
