/* feed_json.c: a JSON document becomes a snapshot, member by member; jansson reads the JSON itself,
 * one row at a time.
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
#endif

enum { PATH_SHOWN = 100 };

int feed_fail(const struct feed_place *place, int code, vitals_error *error, const char *format,
              ...)
{
    char what[128], path[PATH_SHOWN];
    size_t size = strlen(place->path);
    const char *end = size > PATH_SHOWN ? place->path + size - PATH_SHOWN : place->path;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    (void)vitals_text_format((vitals_text){end, strlen(end)}, VITALS_TEXT_ASCII, path, sizeof path);
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

static const double EXACT_MAX = 9007199254740992.0; /* 2^53 */
enum { METRICS_MAX = 256 };

/* A document that is being read. The first mistake is in `error`; it ends the reading. */
struct feed_json_reader {
    const struct feed_place *place;
    vitals_builder *builder;
    vitals_error *error;
    uint64_t monotonic_ns;
    const char *bytes;
    size_t size;
    struct json_rows rows; /* of the document, which are not in its tree; or none */
    /* where we are, for messages: "tables.gpu[3]" */
    const char *table;
    size_t row;
};

/* One column of the row that is being read. */
struct feed_json_cell {
    vitals_metric metric;
    vitals_availability availability;
    const json_t *value;
};

static int wrong(const struct feed_json_reader *reader, const char *member, const char *what)
{
    if (reader->table == NULL)
        return feed_fail(reader->place, VITALS_EFORMAT, reader->error, "%s %s", member, what);
    return feed_fail(reader->place, VITALS_EFORMAT, reader->error, "tables.%s[%zu].%s %s",
                     reader->table, reader->row, member, what);
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
    (void)vitals_text_format((vitals_text){syntax.text, strlen(syntax.text)}, VITALS_TEXT_ASCII,
                             what, sizeof what);
    if (syntax.line < 0) { /* not the document's fault: there is no library to read it with */
        at.line = 0;
        return feed_fail(&at, VITALS_EUNSUPPORTED, reader->error, "%s", what);
    }
    return feed_fail(&at, VITALS_EFORMAT, reader->error, "column %d: this is no JSON: %s",
                     syntax.column, what);
}

/* --- Values -------------------------------------------------------------------------------------
 */

static bool is_whole(const json_t *value, double minimum, double *out)
{
    double number = json_real_value(value);
    if (!json_is_real(value) || number < minimum || number > EXACT_MAX || number != floor(number))
        return false;
    *out = number;
    return true;
}

static int read_whole(const struct feed_json_reader *reader, const json_t *object,
                      const char *member, uint64_t *out)
{
    double number;
    if (!is_whole(json_object_get(object, member), 0, &number))
        return wrong(reader, member, "is no whole number from 0 to 2^53");
    *out = (uint64_t)number;
    return 0;
}

/* Decimal digits in a string, as instants are written. */
static int read_instant(const struct feed_json_reader *reader, const json_t *root,
                        const char *member, uint64_t *out)
{
    const json_t *value = json_object_get(root, member);
    const char *digits = json_string_value(value);
    uint64_t number = 0;
    bool good = digits != NULL && json_string_length(value) == strlen(digits) && *digits != '\0' &&
                (digits[0] != '0' || digits[1] == '\0');
    for (; good && *digits != '\0'; digits++) {
        uint64_t digit = (uint64_t)(*digits - '0');
        good = *digits >= '0' && *digits <= '9' && number <= (UINT64_MAX - digit) / 10;
        number = number * 10 + digit;
    }
    if (!good)
        return wrong(reader, member, "is no string of decimal digits below 2^64");
    *out = number;
    return 0;
}

static int read_text(const struct feed_json_reader *reader, const json_t *object,
                     const char *member, vitals_text *out)
{
    const json_t *value = json_object_get(object, member);
    if (!json_is_string(value))
        return wrong(reader, member, "is no text");
    *out = (vitals_text){json_string_value(value), json_string_length(value)};
    return 0;
}

static int put_value(const struct feed_json_reader *reader, const struct feed_json_cell *cell)
{
    double number = json_real_value(cell->value);
    const char *name = vitals_metric_name(cell->metric);
    switch (vitals_metric_type(cell->metric)) {
    case VITALS_U64:
        if (!is_whole(cell->value, 0, &number))
            return wrong(reader, name, "is no whole number from 0 to 2^53");
        vitals_builder_u64(reader->builder, cell->metric, (uint64_t)number, cell->availability);
        return 0;
    case VITALS_I64:
        if (!is_whole(cell->value, -EXACT_MAX, &number))
            return wrong(reader, name, "is no whole number from -2^53 to 2^53");
        vitals_builder_i64(reader->builder, cell->metric, (int64_t)number, cell->availability);
        return 0;
    case VITALS_F64:
        if (!json_is_real(cell->value))
            return wrong(reader, name, "is no number");
        vitals_builder_f64(reader->builder, cell->metric, number, cell->availability);
        return 0;
    case VITALS_TEXT:
        if (!json_is_string(cell->value))
            return wrong(reader, name, "is no text");
        vitals_builder_text(
            reader->builder, cell->metric,
            (vitals_text){json_string_value(cell->value), json_string_length(cell->value)},
            cell->availability);
        return 0;
    }
    return wrong(reader, name, "is of no type");
}

/* The word in the row's `availability`; HAVE where there is none. */
static int read_availability(const struct feed_json_reader *reader, const json_t *words,
                             struct feed_json_cell *cell)
{
    const char *name = vitals_metric_name(cell->metric);
    const json_t *word = json_object_get(words, name);
    cell->availability = VITALS_HAVE;
    if (word != NULL) {
        const char *text = json_string_value(word);
        cell->availability = text != NULL ? vitals_availability_from_name(text) : VITALS_UNSET;
    }
    if (cell->availability == VITALS_UNSET)
        return wrong(reader, name, "has an availability that is none");
    if (json_is_null(cell->value) && cell->availability > 0)
        return wrong(reader, name, "is null without a reason");
    if (!json_is_null(cell->value) && cell->availability < 0)
        return wrong(reader, name, "has a value and a reason why it has none");
    return 0;
}

static int read_cell(const struct feed_json_reader *reader, const json_t *row, vitals_metric metric)
{
    const char *name = vitals_metric_name(metric);
    struct feed_json_cell cell = {.metric = metric, .value = json_object_get(row, name)};
    if (cell.value == NULL)
        return wrong(reader, name, "is missing");
    int result = read_availability(reader, json_object_get(row, "availability"), &cell);
    if (result < 0)
        return result;
    if (!json_is_null(cell.value))
        return put_value(reader, &cell);
    vitals_builder_missing(reader->builder, metric, cell.availability);
    return 0;
}

/* --- Tables -------------------------------------------------------------------------------------
 */

/* When something was read: the snapshot's clock less its age. `member` is for messages. */
static int read_moment(const struct feed_json_reader *reader, const json_t *value,
                       const char *member, uint64_t *out)
{
    double age;
    if (!is_whole(value, -EXACT_MAX, &age))
        return wrong(reader, member, "is no whole number");
    uint64_t size = (uint64_t)fabs(age);
    if (age >= 0 ? size > reader->monotonic_ns : size > UINT64_MAX - reader->monotonic_ns)
        return wrong(reader, member, "reaches beyond the clock");
    *out = age >= 0 ? reader->monotonic_ns - size : reader->monotonic_ns + size;
    return 0;
}

/* The moments of values that were not read with their row. Columns that we do not know are passed
 * over. */
static int read_ages(const struct feed_json_reader *reader, const json_t *row, vitals_entity entity)
{
    const json_t *ages = json_object_get(row, "ages_ns");
    if (ages == NULL)
        return 0;
    if (!json_is_object(ages))
        return wrong(reader, "ages_ns", "is no object");
    for (void *at = json_object_iter((json_t *)(uintptr_t)ages); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)ages, at)) {
        uint64_t moment;
        vitals_metric metric = vitals_metric_find(entity, json_object_iter_key(at));
        if (metric == 0)
            continue;
        if (read_moment(reader, json_object_iter_value(at), "ages_ns", &moment) < 0)
            return VITALS_EFORMAT;
        vitals_builder_read_at(reader->builder, metric, moment);
    }
    return 0;
}

static int read_parent(const struct feed_json_reader *reader, const json_t *row,
                       vitals_entity entity, uint64_t *out)
{
    const json_t *parent = json_object_get(row, "parent");
    *out = 0;
    if (vitals_entity_parent(entity) == 0 || json_is_null(parent))
        return 0;
    return read_whole(reader, row, "parent", out);
}

static int read_row_head(const struct feed_json_reader *reader, const json_t *row,
                         vitals_entity entity)
{
    uint64_t key = 0, parent = 0, stamp_ns = 0;
    vitals_text label;
    const json_t *words = json_object_get(row, "availability");
    if (words != NULL && !json_is_object(words))
        return wrong(reader, "availability", "is no object");
    if (read_whole(reader, row, "key", &key) < 0 || read_parent(reader, row, entity, &parent) < 0 ||
        read_text(reader, row, "label", &label) < 0 ||
        read_moment(reader, json_object_get(row, "age_ns"), "age_ns", &stamp_ns) < 0)
        return VITALS_EFORMAT;
    vitals_builder_row(reader->builder, entity, key, parent, label, stamp_ns);
    return 0;
}

/* Opens the table with those of its columns that we know. */
static int read_columns(struct feed_json_reader *reader, const json_t *names, vitals_entity entity,
                        vitals_metric *metrics, size_t *count)
{
    *count = 0;
    if (!json_is_array(names))
        return feed_fail(reader->place, VITALS_EFORMAT, reader->error, "columns.%s is no list",
                         vitals_entity_name(entity));
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name == NULL)
            return feed_fail(reader->place, VITALS_EFORMAT, reader->error,
                             "columns.%s[%zu] is no name", vitals_entity_name(entity), i);
        vitals_metric metric = vitals_metric_find(entity, name);
        if (metric == 0)
            continue;
        if (*count == METRICS_MAX)
            return feed_fail(reader->place, VITALS_EFORMAT, reader->error,
                             "columns.%s has too many names", vitals_entity_name(entity));
        metrics[(*count)++] = metric;
    }
    vitals_builder_table(reader->builder, entity, metrics, *count);
    return 0;
}

static int read_row(const struct feed_json_reader *reader, const json_t *row, vitals_entity entity,
                    const vitals_metric *metrics, size_t count)
{
    int result = read_row_head(reader, row, entity);
    for (size_t i = 0; result == 0 && i < count; i++)
        result = read_cell(reader, row, metrics[i]);
    return result == 0 ? read_ages(reader, row, entity) : result;
}

static json_t *load_row(const struct feed_json_reader *reader, const struct json_row *row)
{
    return json_loadb(reader->bytes + row->at, row->size, FLAGS, NULL);
}

/* A row by its number in the document. */
static int read_numbered(const struct feed_json_reader *reader, const json_t *number,
                         vitals_entity entity, const vitals_metric *metrics, size_t count)
{
    double place;
    if (!is_whole(number, 0, &place) || place >= (double)reader->rows.count)
        return wrong(reader, "it", "is no row");
    struct json_row *found = &reader->rows.rows[(size_t)place];
    json_t *row = load_row(reader, found);
    if (row == NULL)
        return fail_syntax(reader);
    found->read = true;
    int result = read_row(reader, row, entity, metrics, count);
    json_decref(row);
    return result;
}

static int read_table(struct feed_json_reader *reader, const json_t *columns, const json_t *rows,
                      vitals_entity entity)
{
    vitals_metric metrics[METRICS_MAX];
    size_t count;
    if (read_columns(reader, columns, entity, metrics, &count) < 0)
        return VITALS_EFORMAT;
    if (!json_is_array(rows))
        return feed_fail(reader->place, VITALS_EFORMAT, reader->error, "tables.%s is no list",
                         vitals_entity_name(entity));
    int result = 0;
    reader->table = vitals_entity_name(entity);
    for (reader->row = 0; result == 0 && reader->row < json_array_size(rows); reader->row++) {
        const json_t *row = json_array_get(rows, reader->row);
        result = (reader->rows.count > 0 ? read_numbered : read_row)(reader, row, entity, metrics,
                                                                     count);
    }
    reader->table = NULL;
    return result;
}

/* How complete the rows of the table are: HAVE where the document does not say. */
static int read_state(struct feed_json_reader *reader, const json_t *states, vitals_entity entity)
{
    const json_t *word = json_object_get(states, vitals_entity_name(entity));
    if (word == NULL)
        return 0;
    const char *name = json_string_value(word);
    vitals_availability state = name != NULL ? vitals_availability_from_name(name) : VITALS_UNSET;
    if (state == VITALS_UNSET)
        return feed_fail(reader->place, VITALS_EFORMAT, reader->error,
                         "states.%s is no availability", vitals_entity_name(entity));
    vitals_builder_state(reader->builder, entity, state);
    return 0;
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
    int result = 0;
    for (vitals_entity entity = vitals_entity_next((vitals_entity)0); entity != 0 && result == 0;
         entity = vitals_entity_next(entity)) {
        const json_t *names = json_object_get(columns, vitals_entity_name(entity));
        const json_t *rows = json_object_get(tables, vitals_entity_name(entity));
        if (names != NULL || rows != NULL)
            result = read_table(reader, names, rows, entity);
        if (result == 0)
            result = read_state(reader, states, entity);
    }
    return result;
}

/* Rows of unknown tables: they are skipped, but must be valid JSON. */
static int read_rest(const struct feed_json_reader *reader)
{
    for (size_t i = 0; i < reader->rows.count; i++) {
        const struct json_row *row = &reader->rows.rows[i];
        json_t *loaded = row->read ? NULL : load_row(reader, row);
        if (!row->read && loaded == NULL)
            return fail_syntax(reader);
        json_decref(loaded);
    }
    return 0;
}

/* --- The document -------------------------------------------------------------------------------
 */

static int read_schema(const struct feed_json_reader *reader, const json_t *root)
{
    uint64_t schema = 0;
    if (!json_is_object(root) || json_object_get(root, "schema") == NULL)
        return feed_fail(reader->place, VITALS_EFORMAT, reader->error,
                         "this is JSON, but no snapshot of vitals");
    if (read_whole(reader, root, "schema", &schema) < 0)
        return VITALS_EFORMAT;
    if (schema > VITALS_SCHEMA)
        return feed_fail(reader->place, VITALS_EFORMAT, reader->error,
                         "a newer vitals wrote this: its form is %llu, ours is %d",
                         (unsigned long long)schema, VITALS_SCHEMA);
    return schema < 1 ? wrong(reader, "schema", "is below 1") : 0;
}

static int read_head(struct feed_json_reader *reader, const json_t *root)
{
    const json_t *host = json_object_get(root, "host");
    vitals_text name, boot_id;
    uint64_t pid_namespace = 0, realtime_ns = 0, boottime_ns = 0, stream = 0, sequence = 0;
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
    int result = read_schema(reader, root);
    if (result == 0)
        result = read_head(reader, root);
    if (result == 0)
        result = read_tables(reader, root);
    if (result == 0)
        result = read_rest(reader);
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
