/* json_rows.c: see json_rows.h. */
#include "feed/json_rows.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/memory.h"
#include "util/number.h"

/* ---- where they stand ---- */

enum { IN_ROOT = 1, IN_TABLES, IN_TABLE, DIGITS = 22 };

struct json_rows_scan {
    const char *begin, *at, *end;
    size_t capacity;
    struct json_rows *found;
};

/* From its opening quote to behind the closing one. */
static bool pass_string(struct json_rows_scan *scan)
{
    for (scan->at++; scan->at < scan->end; scan->at++) {
        if (*scan->at == '\\' && scan->at + 1 < scan->end)
            scan->at++;
        else if (*scan->at == '"') {
            scan->at++;
            return true;
        }
    }
    return false;
}

/* From its opening bracket to behind the closing one, whatever their kinds. */
static bool pass_object(struct json_rows_scan *scan)
{
    unsigned long depth = 0;
    while (scan->at < scan->end) {
        char byte = *scan->at;
        if (byte == '"') {
            if (!pass_string(scan))
                return false;
            continue;
        }
        scan->at++;
        if (byte == '{' || byte == '[')
            depth++;
        else if ((byte == '}' || byte == ']') && --depth == 0)
            return true;
    }
    return false;
}

/* An object that is an element of a list. */
static int take_row(struct json_rows_scan *scan)
{
    struct json_rows *found = scan->found;
    const char *from = scan->at;
    if (*from != '{' || !pass_object(scan))
        return 0;
    if (MEMORY_GROW(found->rows, scan->capacity, found->count) < 0)
        return VITALS_EMEMORY;
    found->rows[found->count++] = (struct json_row){.at = (size_t)(from - scan->begin),
                                                    .size = (size_t)(scan->at - from)};
    return 1;
}

static int find(struct json_rows_scan *scan)
{
    static const char TABLES[] = "\"tables\"";
    unsigned long depth = 0;
    bool named = false;  /* the last string of the root was "tables" */
    bool inside = false; /* the member of that name */
    bool listed = false; /* a list in it */
    while (scan->at < scan->end) {
        const char *from = scan->at;
        bool in_list = depth == IN_TABLE && listed;
        if (*from == '"') {
            if (in_list || !pass_string(scan))
                return 0;
            if (depth == IN_ROOT)
                named = (size_t)(scan->at - from) == sizeof TABLES - 1 &&
                        memcmp(from, TABLES, sizeof TABLES - 1) == 0;
            continue;
        }
        bool opens = *from == '{' || *from == '[', closes = *from == '}' || *from == ']';
        if (opens && in_list) {
            int code = take_row(scan);
            if (code <= 0)
                return code;
            continue;
        }
        bool between = *from != '\0' && strchr(" \t\r\n,", *from) != NULL;
        if ((closes && depth == 0) || (in_list && !closes && !between))
            return 0;
        if (opens && depth == IN_ROOT)
            inside = named && *from == '{';
        if (opens && depth == IN_TABLES)
            listed = inside && *from == '[';
        depth += opens;
        depth -= closes;
        if (closes && depth == IN_TABLES)
            listed = false;
        if (closes && depth == IN_ROOT)
            inside = false;
        scan->at++;
    }
    return scan->found->count > 0;
}

int json_rows_find(const char *bytes, size_t size, struct json_rows *out)
{
    struct json_rows found = {.rows = NULL};
    struct json_rows_scan scan = {
        .begin = bytes, .at = bytes, .end = bytes + size, .found = &found};
    int code = find(&scan);
    if (code <= 0) {
        json_rows_done(&found);
        return code;
    }

    /* The document with a number in each row's place, and a blank before it: what stands beside one
     * another without a comma must not make one number. */
    size_t room = size + found.count * DIGITS + 1, from = 0;
    for (size_t i = 0; i < found.count; i++)
        room -= found.rows[i].size;
    char *at = found.frame = memory_resize(NULL, room, 1);
    if (at == NULL) {
        json_rows_done(&found);
        return VITALS_EMEMORY;
    }
    for (size_t i = 0; i < found.count; i++) {
        const struct json_row *row = &found.rows[i];
        memcpy(at, bytes + from, row->at - from);
        at += row->at - from;
        at += snprintf(at, DIGITS, " %zu", i);
        from = row->at + row->size;
    }
    memcpy(at, bytes + from, size - from);
    found.frame_size = (size_t)(at - found.frame) + size - from;
    *out = found;
    return 1;
}

void json_rows_done(struct json_rows *rows)
{
    memory_free(rows->rows);
    memory_free(rows->frame);
    *rows = (struct json_rows){.rows = NULL};
}

/* ---- one in our own form ---- */

struct row_scan {
    const char *at, *end;
};

/* Passes the bytes if they come next. */
static bool pass(struct row_scan *scan, const char *bytes, size_t size)
{
    if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, bytes, size) != 0)
        return false;
    scan->at += size;
    return true;
}

#define PASS(scan, literal) pass(scan, literal, sizeof literal - 1)

static bool pass_name(struct row_scan *scan, vitals_metric metric)
{
    const char *name = vitals_metric_name(metric);
    return PASS(scan, "\"") && pass(scan, name, strlen(name)) && PASS(scan, "\":");
}

static bool take_text(struct row_scan *scan, vitals_text *out)
{
    if (!PASS(scan, "\""))
        return false;
    const char *from = scan->at;
    while (scan->at < scan->end && *scan->at >= ' ' && *scan->at <= '~' && *scan->at != '"' &&
           *scan->at != '\\')
        scan->at++;
    *out = (vitals_text){from, (size_t)(scan->at - from)};
    return PASS(scan, "\"");
}

/* Few digits alone are exact as they are. A number that jansson refuses as too large is left to it.
 */
static bool take_number(struct row_scan *scan, double *out)
{
    enum { EXACT_DIGITS = 15 };
    const char *from = scan->at;
    bool negative = PASS(scan, "-");
    const char *digits = scan->at;
    uint64_t whole = 0;
    if (!number_u64(&scan->at, scan->end, &whole) || (*digits == '0' && scan->at > digits + 1))
        return false;
    bool ends = scan->at < scan->end && strchr(",}", *scan->at) != NULL;
    if (ends && scan->at - digits <= EXACT_DIGITS) {
        *out = negative ? -(double)whole : (double)whole;
        return true;
    }
    scan->at = from;
    return number_f64(&scan->at, scan->end, out) && fabs(*out) < DBL_MAX;
}

static bool take_value(struct row_scan *scan, struct json_cell *out)
{
    *out = (struct json_cell){.kind = CELL_NULL, .state = VITALS_HAVE};
    if (scan->at < scan->end && *scan->at == '"') {
        out->kind = CELL_TEXT;
        return take_text(scan, &out->text);
    }
    if (PASS(scan, "null"))
        return true;
    out->kind = CELL_NUMBER;
    return take_number(scan, &out->number);
}

static bool take_state(struct row_scan *scan, struct json_cell *out)
{
    char name[32];
    vitals_text word;
    if (!take_text(scan, &word) || word.size >= sizeof name)
        return false;
    memcpy(name, word.bytes, word.size);
    name[word.size] = '\0';
    out->state = vitals_availability_from_name(name);
    return true;
}

static bool take_age(struct row_scan *scan, struct json_cell *out)
{
    out->aged = true;
    return take_number(scan, &out->age_ns);
}

/* Members of some columns, in their order, up to the end of their object. */
static bool take_some(struct row_scan *scan, const struct json_columns *columns,
                      struct json_cell *cells, bool (*take)(struct row_scan *, struct json_cell *))
{
    for (size_t i = 0; i < columns->count; i++) {
        const char *before = scan->at;
        if (!pass_name(scan, columns->metrics[i])) {
            scan->at = before;
            continue;
        }
        if (!take(scan, &cells[i]))
            return false;
        if (!PASS(scan, ","))
            return PASS(scan, "}");
    }
    return false;
}

bool own_row_read(vitals_text bytes, const struct json_columns *columns, struct json_row_cells *out)
{
    struct row_scan scan = {bytes.bytes, bytes.bytes + bytes.size};
    out->parent = 0;
    if (!columns->own || !PASS(&scan, "{\"key\":") || !take_number(&scan, &out->key))
        return false;
    if (columns->parented &&
        !(PASS(&scan, ",\"parent\":") && (PASS(&scan, "null") || take_number(&scan, &out->parent))))
        return false;
    if (!PASS(&scan, ",\"label\":") || !take_text(&scan, &out->label) ||
        !PASS(&scan, ",\"age_ns\":") || !take_number(&scan, &out->age_ns))
        return false;
    for (size_t i = 0; i < columns->count; i++) {
        if (!PASS(&scan, ",") || !pass_name(&scan, columns->metrics[i]) ||
            !take_value(&scan, &out->cells[i]))
            return false;
    }
    if (PASS(&scan, ",\"availability\":{") && !take_some(&scan, columns, out->cells, take_state))
        return false;
    if (PASS(&scan, ",\"ages_ns\":{") && !take_some(&scan, columns, out->cells, take_age))
        return false;
    return PASS(&scan, "}") && scan.at == scan.end;
}
