/* json_rows.c: see json_rows.h. */
#include "feed/json_rows.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vitals/vitals.h>

enum { IN_ROOT = 1, IN_TABLES, IN_TABLE, FIRST_ROWS = 64, DIGITS = 22 };

struct json_rows_scan {
    const char *begin, *at, *end;
    unsigned long depth;
    bool named;  /* the last string of the root was "tables" */
    bool inside; /* the member of that name */
    bool listed; /* a list in it */
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

static int keep_row(struct json_rows_scan *scan, const char *from)
{
    struct json_rows *found = scan->found;
    if (found->count == scan->capacity) {
        size_t capacity = scan->capacity > 0 ? 2 * scan->capacity : FIRST_ROWS;
        struct json_row *rows = realloc(found->rows, capacity * sizeof *rows);
        if (rows == NULL)
            return VITALS_EMEMORY;
        found->rows = rows;
        scan->capacity = capacity;
    }
    found->rows[found->count++] = (struct json_row){.at = (size_t)(from - scan->begin),
                                                    .size = (size_t)(scan->at - from)};
    return 1;
}

static int take_string(struct json_rows_scan *scan)
{
    static const char TABLES[] = "\"tables\"";
    const char *from = scan->at;
    if (!pass_string(scan))
        return 0;
    if (scan->depth == IN_ROOT)
        scan->named = (size_t)(scan->at - from) == sizeof TABLES - 1 &&
                      memcmp(from, TABLES, sizeof TABLES - 1) == 0;
    return 1;
}

static int take_opening(struct json_rows_scan *scan)
{
    const char *from = scan->at;
    if (scan->depth == IN_TABLE && scan->listed)
        return *from == '{' && pass_object(scan) ? keep_row(scan, from) : 0;
    if (scan->depth == IN_ROOT)
        scan->inside = scan->named && *from == '{';
    if (scan->depth == IN_TABLES)
        scan->listed = scan->inside && *from == '[';
    scan->depth++;
    scan->at++;
    return 1;
}

static int take_closing(struct json_rows_scan *scan)
{
    if (scan->depth == 0)
        return 0;
    scan->depth--;
    scan->at++;
    if (scan->depth == IN_TABLES)
        scan->listed = false;
    if (scan->depth == IN_ROOT)
        scan->inside = false;
    return 1;
}

static int take_other(struct json_rows_scan *scan)
{
    bool between = *scan->at != '\0' && strchr(" \t\r\n,", *scan->at) != NULL;
    if (scan->depth == IN_TABLE && scan->listed && !between)
        return 0;
    scan->at++;
    return 1;
}

static int find(struct json_rows_scan *scan)
{
    int code = 1;
    while (code > 0 && scan->at < scan->end) {
        char byte = *scan->at;
        if (byte == '"')
            code = scan->depth == IN_TABLE && scan->listed ? 0 : take_string(scan);
        else if (byte == '{' || byte == '[')
            code = take_opening(scan);
        else if (byte == '}' || byte == ']')
            code = take_closing(scan);
        else
            code = take_other(scan);
    }
    return code > 0 && scan->found->count == 0 ? 0 : code;
}

/* The document with a number in each row's place, and a blank before it: what stands beside one
 * another without a comma must not make one number. */
static int make_frame(const char *bytes, size_t size, struct json_rows *found)
{
    size_t room = size + found->count * DIGITS + 1, from = 0;
    for (size_t i = 0; i < found->count; i++)
        room -= found->rows[i].size;
    char *at = found->frame = malloc(room);
    if (at == NULL)
        return VITALS_EMEMORY;
    for (size_t i = 0; i < found->count; i++) {
        const struct json_row *row = &found->rows[i];
        memcpy(at, bytes + from, row->at - from);
        at += row->at - from;
        at += snprintf(at, DIGITS, " %zu", i);
        from = row->at + row->size;
    }
    memcpy(at, bytes + from, size - from);
    found->frame_size = (size_t)(at - found->frame) + size - from;
    return 1;
}

int json_rows_find(const char *bytes, size_t size, struct json_rows *out)
{
    struct json_rows found = {.rows = NULL};
    struct json_rows_scan scan = {
        .begin = bytes, .at = bytes, .end = bytes + size, .found = &found};
    int code = find(&scan);
    if (code > 0)
        code = make_frame(bytes, size, &found);
    if (code > 0)
        *out = found;
    else
        json_rows_done(&found);
    return code;
}

void json_rows_done(struct json_rows *rows)
{
    free(rows->rows);
    free(rows->frame);
    *rows = (struct json_rows){.rows = NULL};
}
