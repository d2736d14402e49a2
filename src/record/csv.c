/* csv.c: see csv.h. */
#include "record/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

bool csv_init(struct csv *csv, csv_take *take, void *data)
{
    *csv = (struct csv){.take = take, .data = data, .line = 1, .row_line = 1};
    csv->starts = malloc(CSV_FIELDS_MAX * sizeof *csv->starts);
    csv->fields = malloc(CSV_FIELDS_MAX * sizeof *csv->fields);
    return csv->starts != NULL && csv->fields != NULL;
}

void csv_done(struct csv *csv)
{
    memory_free(csv->bytes);
    free(csv->starts);
    free(csv->fields);
    *csv = (struct csv){.stopped = csv->stopped};
}

static void put(struct csv *csv, char byte)
{
    if (csv->used >= CSV_ROW_MAX) {
        csv->too_long = true;
        return;
    }
    if (csv->used == csv->capacity && MEMORY_GROW(csv->bytes, csv->capacity, csv->used) < 0) {
        csv->failed = true;
        return;
    }
    csv->bytes[csv->used++] = byte;
}

static void begin_field(struct csv *csv)
{
    if (csv->count == CSV_FIELDS_MAX) {
        csv->too_long = true;
        return;
    }
    csv->starts[csv->count++] = csv->used;
    csv->quoted = csv->in_quotes = csv->quote_before = false;
}

static void begin_row(struct csv *csv)
{
    csv->used = csv->count = 0;
    csv->first_quoted = csv->too_long = csv->started = false;
    csv->row_line = csv->line;
}

static void end_row(struct csv *csv)
{
    put(csv, '\0');
    bool empty = csv->count <= 1 && csv->used <= 1 && !csv->first_quoted;
    if (csv->too_long)
        csv->skipped_rows++;
    if (!empty && !csv->too_long && !csv->failed && csv->stopped == 0) {
        for (size_t i = 0; i < csv->count; i++)
            csv->fields[i] = csv->bytes + csv->starts[i];
        const struct csv_row row = {csv->fields, csv->count, csv->first_quoted, csv->row_line};
        csv->stopped = csv->take(csv->data, &row);
    }
    begin_row(csv);
}

int csv_push(struct csv *csv, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size && csv->stopped == 0 && !csv->failed; i++) {
        const char byte = bytes[i];
        if (!csv->started) {
            csv->started = true;
            begin_field(csv);
        }
        csv->line += byte == '\n';

        /* A quote in a quoted field ends it; two stand for one. */
        if (csv->in_quotes && byte == '"') {
            if (csv->quote_before)
                put(csv, byte);
            csv->quote_before = !csv->quote_before;
            continue;
        }
        if (csv->in_quotes && !csv->quote_before) {
            put(csv, byte != '\0' ? byte : ' ');
            continue;
        }
        csv->in_quotes = csv->quote_before = false;

        if (byte == ',') {
            put(csv, '\0');
            begin_field(csv);
        } else if (byte == '\n') {
            end_row(csv);
        } else if (byte == '"' && !csv->quoted &&
                   csv->used == csv->starts[csv->count > 0 ? csv->count - 1 : 0]) {
            csv->quoted = csv->in_quotes = true;
            csv->first_quoted = csv->first_quoted || csv->count == 1;
        } else if (byte != '\r') {
            put(csv, byte != '\0' ? byte : ' ');
        }
    }
    return csv->failed ? -1 : csv->stopped;
}

bool csv_end(struct csv *csv)
{
    bool any = csv->started;
    begin_row(csv);
    return any;
}

bool csv_number(const char *field, double *out)
{
    size_t size = strlen(field);
    char *end;
    if (size == 0 || size > 64 || strspn(field, "0123456789+-.eE") != size)
        return false;
    double value = strtod(field, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    *out = value;
    return true;
}
