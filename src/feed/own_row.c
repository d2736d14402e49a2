/* own_row.c: see own_row.h. */
#include "feed/own_row.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "util/number.h"

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
