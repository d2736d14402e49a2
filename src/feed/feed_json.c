/* feed_json.c: a JSON document becomes a snapshot, member by member; jansson reads the JSON itself,
 * one row at a time, except for rows in the form that vitals writes (json_rows.h).
 *
 * All numbers are read as doubles: the form has none above 2^53, and larger ones are strings. */
#include "feed/feed_json.h"
#include "feed/built_without.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if VITALS_WITH_JANSSON
#include <jansson.h>

#include "feed/json_rows.h"
#include "util/number.h"
#endif

enum { PATH_SHOWN = 100 };

int feed_fail(const struct feed_place *place, int code, vitals_error *error, const char *format,
              ...)
{
    char what[128], path[PATH_SHOWN];
    size_t size = strlen(place->path);
    const char *end = size >= PATH_SHOWN ? place->path + size - PATH_SHOWN + 1 : place->path;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    (void)vitals_text_format(vitals_text_of(end), VITALS_TEXT_ASCII, path, sizeof path);
    error->code = (vitals_code)code;
    error->detail = 0;
    if (place->line > 0)
        snprintf(error->message, sizeof error->message, "%s:%llu: %s", path,
                 (unsigned long long)place->line, what);
    else
        snprintf(error->message, sizeof error->message, "%s: %s", path, what);
    return code;
}

#if VITALS_WITH_JANSSON

/* A document that is being read. The first mistake is in `error`; it ends the reading. */
struct feed_json_reader {
    const struct feed_place *place;
    vitals_builder *builder;
    vitals_error *error;
    uint64_t monotonic_ns;
    const char *bytes;
    size_t size;
    struct json_rows rows;        /* of the document, which are not in its tree; or none */
    struct json_columns columns;  /* of the table that is read */
    struct json_row_cells values; /* of the row that is read */
    /* where we are, for messages: "tables.gpu[3]" */
    const char *table;
    size_t row;
};

/* An error of the document: what is wrong, as printf. */
#define REFUSE(reader, ...) feed_fail((reader)->place, VITALS_EFORMAT, (reader)->error, __VA_ARGS__)

static int wrong(const struct feed_json_reader *reader, const char *member, const char *what)
{
    if (reader->table == NULL)
        return REFUSE(reader, "%s %s", member, what);
    return REFUSE(reader, "tables.%s[%zu].%s %s", reader->table, reader->row, member, what);
}

static const size_t FLAGS = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;

static int fail_syntax(const struct feed_json_reader *reader)
{
    char what[160];
    struct feed_place at = *reader->place;
    json_error_t syntax;
    json_t *whole = json_loadb(reader->bytes, reader->size, FLAGS, &syntax);
    if (whole != NULL) {
        json_decref(whole);
        return wrong(reader, "it", "cannot be read");
    }
    if (syntax.line > 1)
        at.line += (uint64_t)syntax.line - 1;
    (void)vitals_text_format(vitals_text_of(syntax.text), VITALS_TEXT_ASCII, what, sizeof what);
    if (syntax.line < 0) { /* not the document's fault: there is no library to read it with */
        at.line = 0;
        return feed_fail(&at, VITALS_EUNSUPPORTED, reader->error, "%s", what);
    }
    return feed_fail(&at, VITALS_EFORMAT, reader->error, "column %d: this is no JSON: %s",
                     syntax.column, what);
}

/* ---- values ---- */

static bool is_whole(double number, double minimum)
{
    return number >= minimum && number <= (double)EXACT_MAX && number == floor(number);
}

/* NaN for what is no number. */
static double number_of(const json_t *value)
{
    return json_is_real(value) ? json_real_value(value) : (double)NAN;
}

static vitals_text text_of(const json_t *value)
{
    return (vitals_text){json_string_value(value), json_string_length(value)};
}

static int take_whole(const struct feed_json_reader *reader, double number, const char *member,
                      uint64_t *out)
{
    if (!is_whole(number, 0))
        return wrong(reader, member, "is no whole number from 0 to 2^53");
    *out = (uint64_t)number;
    return 0;
}

static int read_whole(const struct feed_json_reader *reader, const json_t *object,
                      const char *member, uint64_t *out)
{
    return take_whole(reader, number_of(json_object_get(object, member)), member, out);
}

/* Decimal digits in a string, as instants are written. */
static int read_instant(const struct feed_json_reader *reader, const json_t *root,
                        const char *member, uint64_t *out)
{
    const json_t *value = json_object_get(root, member);
    const char *digits = json_string_value(value);
    char again[NUMBER_TEXT]; /* the same, unless there are zeros before it, or it is too large */
    if (digits == NULL || !number_is_u64(digits, out) ||
        number_print_u64(again, *out) != json_string_length(value) || strcmp(again, digits) != 0)
        return wrong(reader, member, "is no string of decimal digits below 2^64");
    return 0;
}

static int read_text(const struct feed_json_reader *reader, const json_t *object,
                     const char *member, vitals_text *out)
{
    const json_t *value = json_object_get(object, member);
    if (!json_is_string(value))
        return wrong(reader, member, "is no text");
    *out = text_of(value);
    return 0;
}

/* One column of a row: its value, or the reason why there is none. */
static int put_cell(const struct feed_json_reader *reader, vitals_metric metric,
                    const struct json_cell *cell)
{
    const char *name = vitals_metric_name(metric);
    vitals_availability state = cell->state;
    bool null = cell->kind == CELL_NULL;
    if (cell->kind == CELL_MISSING)
        return wrong(reader, name, "is missing");
    if (state == VITALS_UNSET)
        return wrong(reader, name, "has an availability that is none");
    if (null && state > 0)
        return wrong(reader, name, "is null without a reason");
    if (!null && state < 0)
        return wrong(reader, name, "has a value and a reason why it has none");
    if (null) {
        vitals_builder_missing(reader->builder, metric, state);
        return 0;
    }

    double number = cell->kind == CELL_NUMBER ? cell->number : (double)NAN;
    switch (vitals_metric_type(metric)) {
    case VITALS_U64:
        if (!is_whole(number, 0))
            return wrong(reader, name, "is no whole number from 0 to 2^53");
        vitals_builder_u64(reader->builder, metric, (uint64_t)number, state);
        return 0;
    case VITALS_I64:
        if (!is_whole(number, -(double)EXACT_MAX))
            return wrong(reader, name, "is no whole number from -2^53 to 2^53");
        vitals_builder_i64(reader->builder, metric, (int64_t)number, state);
        return 0;
    case VITALS_F64:
        if (cell->kind != CELL_NUMBER)
            return wrong(reader, name, "is no number");
        vitals_builder_f64(reader->builder, metric, number, state);
        return 0;
    case VITALS_TEXT:
        if (cell->kind != CELL_TEXT)
            return wrong(reader, name, "is no text");
        vitals_builder_text(reader->builder, metric, cell->text, state);
        return 0;
    }
    return wrong(reader, name, "is of no type");
}

/* ---- rows ---- */

/* When something was read: the snapshot's clock less its age. `member` is for messages. */
static int take_moment(const struct feed_json_reader *reader, double age, const char *member,
                       uint64_t *out)
{
    if (!is_whole(age, -(double)EXACT_MAX))
        return wrong(reader, member, "is no whole number");
    uint64_t size = (uint64_t)fabs(age);
    if (age >= 0 ? size > reader->monotonic_ns : size > UINT64_MAX - reader->monotonic_ns)
        return wrong(reader, member, "reaches beyond the clock");
    *out = age >= 0 ? reader->monotonic_ns - size : reader->monotonic_ns + size;
    return 0;
}

static int put_row(const struct feed_json_reader *reader, vitals_table entity)
{
    const struct json_columns *columns = &reader->columns;
    const struct json_row_cells *row = &reader->values;
    uint64_t key = 0, parent = 0, moment = 0;
    if (take_whole(reader, row->key, "key", &key) < 0 ||
        take_whole(reader, row->parent, "parent", &parent) < 0)
        return VITALS_EFORMAT;
    if (row->label.bytes == NULL)
        return wrong(reader, "label", "is no text");
    if (take_moment(reader, row->age_ns, "age_ns", &moment) < 0)
        return VITALS_EFORMAT;
    vitals_builder_row(reader->builder, entity, key, parent, row->label, moment);
    for (size_t i = 0; i < columns->count; i++) {
        int result = put_cell(reader, columns->metrics[i], &row->cells[i]);
        if (result < 0)
            return result;
    }

    /* The moments of values that were not read with their row. */
    for (size_t i = 0; i < columns->count; i++) {
        if (!row->cells[i].aged)
            continue;
        if (take_moment(reader, row->cells[i].age_ns, "ages_ns", &moment) < 0)
            return VITALS_EFORMAT;
        vitals_builder_read_at(reader->builder, columns->metrics[i], moment);
    }
    return 0;
}

/* The values of a row as jansson has it. */
static int read_row(struct feed_json_reader *reader, const json_t *row, vitals_table entity)
{
    struct json_row_cells *out = &reader->values;
    const json_t *words = json_object_get(row, "availability");
    const json_t *ages = json_object_get(row, "ages_ns");
    const json_t *parent = reader->columns.parented ? json_object_get(row, "parent") : json_null();
    if (words != NULL && !json_is_object(words))
        return wrong(reader, "availability", "is no object");
    if (ages != NULL && !json_is_object(ages))
        return wrong(reader, "ages_ns", "is no object");
    out->key = number_of(json_object_get(row, "key"));
    out->parent = json_is_null(parent) ? 0 : number_of(parent);
    out->label = text_of(json_object_get(row, "label"));
    out->age_ns = number_of(json_object_get(row, "age_ns"));
    for (size_t i = 0; i < reader->columns.count; i++) {
        const char *name = vitals_metric_name(reader->columns.metrics[i]);
        const json_t *value = json_object_get(row, name), *age = json_object_get(ages, name);
        const json_t *word = json_object_get(words, name);
        out->cells[i] = (struct json_cell){
            .kind = value == NULL           ? CELL_MISSING
                    : json_is_null(value)   ? CELL_NULL
                    : json_is_real(value)   ? CELL_NUMBER
                    : json_is_string(value) ? CELL_TEXT
                                            : CELL_OTHER,
            .number = number_of(value),
            .text = text_of(value),
            .state = word == NULL ? VITALS_HAVE
                                  : vitals_availability_from_name(json_string_value(word)),
            .aged = age != NULL,
            .age_ns = number_of(age),
        };
    }
    return put_row(reader, entity);
}

static json_t *load_row(const struct feed_json_reader *reader, const struct json_row *row)
{
    return json_loadb(reader->bytes + row->at, row->size, FLAGS, NULL);
}

/* A row by its number in the document. */
static int read_numbered(struct feed_json_reader *reader, const json_t *number, vitals_table entity)
{
    double place = number_of(number);
    if (!is_whole(place, 0) || place >= (double)reader->rows.count)
        return wrong(reader, "it", "is no row");
    struct json_row *found = &reader->rows.rows[(size_t)place];
    const vitals_text bytes = {reader->bytes + found->at, found->size};
    if (own_row_read(bytes, &reader->columns, &reader->values)) {
        found->read = true;
        return put_row(reader, entity);
    }
    json_t *row = load_row(reader, found);
    if (row == NULL)
        return fail_syntax(reader);
    found->read = true;
    int result = read_row(reader, row, entity);
    json_decref(row);
    return result;
}

/* A table of those of its columns that we know. */
static int read_table(struct feed_json_reader *reader, const json_t *columns, const json_t *rows,
                      vitals_table entity)
{
    struct json_columns *known = &reader->columns;
    const char *table = vitals_table_name(entity);
    known->count = 0;
    known->parented = vitals_table_parent(entity) != 0;
    known->own = true;
    if (!json_is_array(columns))
        return REFUSE(reader, "columns.%s is no list", table);
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const char *name = json_string_value(json_array_get(columns, i));
        vitals_metric metric = name != NULL ? vitals_metric_find(entity, name) : 0;
        if (name == NULL)
            return REFUSE(reader, "columns.%s[%zu] is no name", table, i);
        if (metric != 0 && known->count == ROW_METRICS_MAX)
            return REFUSE(reader, "columns.%s has too many names", table);
        known->own = known->own && metric > (i > 0 ? known->metrics[i - 1] : 0);
        if (metric != 0)
            known->metrics[known->count++] = metric;
    }
    vitals_builder_table(reader->builder, entity, known->metrics, known->count);

    if (!json_is_array(rows))
        return REFUSE(reader, "tables.%s is no list", table);
    int result = 0;
    reader->table = table;
    for (reader->row = 0; result == 0 && reader->row < json_array_size(rows); reader->row++) {
        const json_t *row = json_array_get(rows, reader->row);
        result = (reader->rows.count > 0 ? read_numbered : read_row)(reader, row, entity);
    }
    reader->table = NULL;
    return result;
}

static int read_tables(struct feed_json_reader *reader, const json_t *root)
{
    const json_t *states = json_object_get(root, "states");
    const json_t *columns = json_object_get(root, "columns");
    const json_t *tables = json_object_get(root, "tables");
    if (!json_is_object(columns))
        return wrong(reader, "columns", "is no object");
    if (!json_is_object(tables))
        return wrong(reader, "tables", "is no object");
    if (states != NULL && !json_is_object(states))
        return wrong(reader, "states", "is no object");
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        const char *name = vitals_table_name(entity);
        const json_t *names = json_object_get(columns, name), *rows = json_object_get(tables, name);
        int result = 0;
        if (names != NULL || rows != NULL)
            result = read_table(reader, names, rows, entity);
        if (result < 0)
            return result;

        /* How complete its rows are: HAVE where the document does not say. */
        const json_t *word = json_object_get(states, name);
        const char *text = json_string_value(word);
        vitals_availability state = text != NULL ? vitals_availability_from_name(text)
                                                 : VITALS_UNSET;
        if (word != NULL && state == VITALS_UNSET)
            return REFUSE(reader, "states.%s is no availability", name);
        if (word != NULL)
            vitals_builder_state(reader->builder, entity, state);
    }
    return 0;
}

/* ---- the document ---- */

static int read_head(struct feed_json_reader *reader, const json_t *root)
{
    const json_t *host = json_object_get(root, "host");
    vitals_text name, boot_id;
    uint64_t pid_namespace = 0, realtime_ns = 0, boottime_ns = 0, stream = 0, sequence = 0;
    uint64_t schema = 0;
    if (!json_is_object(root) || json_object_get(root, "schema") == NULL)
        return REFUSE(reader, "this is JSON, but no snapshot of vitals");
    if (read_whole(reader, root, "schema", &schema) < 0)
        return VITALS_EFORMAT;
    if (schema > VITALS_SCHEMA)
        return REFUSE(reader, "a newer vitals wrote this: its form is %llu, ours is %d",
                      (unsigned long long)schema, VITALS_SCHEMA);
    if (schema < 1)
        return wrong(reader, "schema", "is below 1");
    if (!json_is_object(host))
        return wrong(reader, "host", "is no object");
    if (read_text(reader, host, "name", &name) < 0 ||
        read_text(reader, host, "boot_id", &boot_id) < 0 ||
        read_whole(reader, host, "pid_namespace", &pid_namespace) < 0 ||
        read_instant(reader, root, "realtime_ns", &realtime_ns) < 0 ||
        read_instant(reader, root, "boottime_ns", &boottime_ns) < 0 ||
        read_instant(reader, root, "monotonic_ns", &reader->monotonic_ns) < 0 ||
        read_whole(reader, root, "stream", &stream) < 0 ||
        read_whole(reader, root, "sequence", &sequence) < 0)
        return VITALS_EFORMAT;
    vitals_builder_origin(reader->builder, name, boot_id, pid_namespace);
    vitals_builder_stream(reader->builder, stream);
    vitals_builder_moment(reader->builder, realtime_ns, boottime_ns, reader->monotonic_ns,
                          sequence);
    return 0;
}

static int read_document(struct feed_json_reader *reader)
{
    bool cut = reader->rows.count > 0;
    json_t *root = json_loadb(cut ? reader->rows.frame : reader->bytes,
                              cut ? reader->rows.frame_size : reader->size, FLAGS, NULL);
    if (root == NULL)
        return fail_syntax(reader);
    vitals_builder_begin(reader->builder);
    int result = read_head(reader, root);
    if (result == 0)
        result = read_tables(reader, root);

    /* Rows of unknown tables are passed over, but must be JSON. */
    for (size_t i = 0; i < reader->rows.count && result == 0; i++) {
        const struct json_row *row = &reader->rows.rows[i];
        json_t *loaded = row->read ? NULL : load_row(reader, row);
        if (!row->read && loaded == NULL)
            result = fail_syntax(reader);
        json_decref(loaded);
    }
    json_decref(root);
    return result;
}

int feed_json_read(const struct feed_place *place, const char *bytes, size_t size,
                   vitals_builder *builder, vitals_snapshot **out, vitals_error *error)
{
    struct feed_json_reader reader = {
        .place = place, .builder = builder, .error = error, .bytes = bytes, .size = size};
    vitals_error problem;
    if (json_rows_find(bytes, size, &reader.rows) == VITALS_EMEMORY)
        return feed_fail(place, VITALS_EMEMORY, error, "no memory");
    int result = read_document(&reader);
    json_rows_done(&reader.rows);
    if (result < 0)
        return result;
    result = vitals_builder_finish(builder, out, &problem);
    if (result < 0)
        return feed_fail(place, result == VITALS_EMEMORY ? VITALS_EMEMORY : VITALS_EFORMAT, error,
                         "%s", problem.message);
    return 0;
}

#else

int feed_json_read(const struct feed_place *place, const char *bytes, size_t size,
                   vitals_builder *builder, vitals_snapshot **out, vitals_error *error)
{
    (void)bytes, (void)size, (void)builder, (void)out;
    return feed_fail(place, VITALS_EUNSUPPORTED, error, BUILT_WITHOUT_JSON);
}

#endif
