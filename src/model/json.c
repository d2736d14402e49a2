/* json.c: a snapshot as one JSON document; docs/json.md describes it.
 *
 * Written through a buffer on the stack: nothing is allocated, whatever the snapshot holds.
 * Reading it back is src/feed's.
 * Thread rule: any thread. */
#include "model/snapshot.h"

#include "util/error.h"
#include "util/number.h"

#include <string.h>
#include <vitals/version.h>

enum {
    BUFFER = 16 * 1024,
    PART = 2048,     /* bytes of a text that are escaped at once */
    ESCAPE = 6,      /* a byte becomes at most \u0000 */
    PUNCTUATION = 4, /* ,"": */
    PART_MAX = PART * ESCAPE + 1
};

_Static_assert(PART_MAX <= BUFFER, "an escaped part fits an empty buffer");

struct json_writer {
    vitals_write *write;
    void *data;
    int stopped; /* what write returned; not 0: nothing more is written */
    size_t used;
    char bytes[BUFFER];
};

static void flush(struct json_writer *writer)
{
    if (writer->stopped == 0 && writer->used != 0)
        writer->stopped = writer->write(writer->data, writer->bytes, writer->used);
    writer->used = 0;
}

/* Room for `size` more bytes, at most BUFFER. */
static char *room(struct json_writer *writer, size_t size)
{
    if (size > BUFFER - writer->used)
        flush(writer);
    return writer->bytes + writer->used;
}

static void put(struct json_writer *writer, const char *bytes, size_t size)
{
    memcpy(room(writer, size), bytes, size);
    writer->used += size;
}

static void put_string(struct json_writer *writer, const char *string)
{
    put(writer, string, strlen(string));
}

static void put_u64(struct json_writer *writer, uint64_t value)
{
    writer->used += number_print_u64(room(writer, NUMBER_TEXT), value);
}

static void put_i64(struct json_writer *writer, int64_t value)
{
    writer->used += number_print_i64(room(writer, NUMBER_TEXT), value);
}

static void put_f64(struct json_writer *writer, double value)
{
    writer->used += number_print_f64(room(writer, NUMBER_TEXT), value);
}

/* Nanoseconds pass 2^53 and are decimal strings, as in OTLP. */
static void put_instant(struct json_writer *writer, uint64_t ns)
{
    put(writer, "\"", 1);
    put_u64(writer, ns);
    put(writer, "\"", 1);
}

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* How much of a long text may be escaped by itself: never a part of a character. A character has
 * at most three bytes behind its first. */
static size_t part_size(const char *bytes, size_t size)
{
    if (size <= PART)
        return size;
    size_t cut = PART;
    for (int i = 0; i < 3 && continues(bytes[cut]); i++)
        cut--;
    return cut;
}

static void put_text(struct json_writer *writer, const char *bytes, size_t size)
{
    put(writer, "\"", 1);
    while (size != 0) {
        size_t part = part_size(bytes, size);
        size_t capacity = part * ESCAPE + 1;
        vitals_text text = {bytes, part};
        char *at = room(writer, capacity);
        writer->used += vitals_text_format(text, VITALS_TEXT_JSON, at, capacity);
        bytes += part;
        size -= part;
    }
    put(writer, "\"", 1);
}

/* ---- the moment ---- */

/* Days since 1970 as a date of the Gregorian calendar, counted in eras of 400 years that begin
 * with March, so that the leap day is a year's last. */
static void date_of(uint64_t days, unsigned *year, unsigned *month, unsigned *day)
{
    uint64_t since = days + 719468; /* 0000-03-01 */
    uint64_t era = since / 146097;
    unsigned of_era = (unsigned)(since % 146097);
    unsigned year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned from_march = (5 * of_year + 2) / 153;
    *day = of_year - (153 * from_march + 2) / 5 + 1;
    *month = from_march < 10 ? from_march + 3 : from_march - 9;
    *year = (unsigned)(era * 400) + year_of_era + (*month <= 2);
}

static void put_digits(struct json_writer *writer, uint64_t value, size_t digits, char behind)
{
    char *at = room(writer, digits + 1);
    for (size_t i = digits; i-- != 0; value /= 10)
        at[i] = (char)('0' + value % 10);
    at[digits] = behind;
    writer->used += digits + 1;
}

/* RFC 3339 in UTC. */
static void put_time(struct json_writer *writer, uint64_t realtime_ns)
{
    uint64_t seconds = realtime_ns / NS_PER_SECOND;
    unsigned year, month, day;
    date_of(seconds / 86400, &year, &month, &day);
    put(writer, "\"", 1);
    put_digits(writer, year, 4, '-');
    put_digits(writer, month, 2, '-');
    put_digits(writer, day, 2, 'T');
    put_digits(writer, seconds % 86400 / 3600, 2, ':');
    put_digits(writer, seconds % 3600 / 60, 2, ':');
    put_digits(writer, seconds % 60, 2, '.');
    put_digits(writer, realtime_ns % NS_PER_SECOND, 9, 'Z');
    put(writer, "\"", 1);
}

static void put_head(struct json_writer *writer, const vitals_snapshot *snapshot)
{
    put_string(writer, "{\"schema\":");
    put_u64(writer, VITALS_SCHEMA);
    put_string(writer, ",\"vitals\":\"" VITALS_VERSION "\",\"host\":{\"name\":");
    put_text(writer, snapshot->host.bytes, snapshot->host.size);
    put_string(writer, ",\"boot_id\":");
    put_text(writer, snapshot->boot_id.bytes, snapshot->boot_id.size);
    put_string(writer, ",\"pid_namespace\":");
    put_u64(writer, snapshot->pid_namespace);
    put_string(writer, "},\"time\":");
    put_time(writer, snapshot->realtime_ns);
    put_string(writer, ",\"realtime_ns\":");
    put_instant(writer, snapshot->realtime_ns);
    put_string(writer, ",\"boottime_ns\":");
    put_instant(writer, snapshot->boottime_ns);
    put_string(writer, ",\"monotonic_ns\":");
    put_instant(writer, snapshot->monotonic_ns);
    put_string(writer, ",\"stream\":");
    put_u64(writer, snapshot->stream);
    put_string(writer, ",\"sequence\":");
    put_u64(writer, snapshot->sequence);
}

/* ---- tables ---- */

/* ,"name": before a member; the first of an object has no comma. */
static void put_key(struct json_writer *writer, bool first, const char *name, size_t size)
{
    char *at = room(writer, size + PUNCTUATION);
    if (!first)
        *at++ = ',';
    *at++ = '"';
    memcpy(at, name, size);
    memcpy(at + size, "\":", 2);
    writer->used += size + PUNCTUATION - first;
}

/* Which columns each table has, also where it has no row. */
static void put_columns(struct json_writer *writer, const struct table *table)
{
    put(writer, "[", 1);
    for (size_t i = 0; i < table->column_count; i++) {
        put_string(writer, i == 0 ? "\"" : ",\"");
        put(writer, table->columns[i].name, table->columns[i].name_size);
        put(writer, "\"", 1);
    }
    put(writer, "]", 1);
}

static void put_value(struct json_writer *writer, const struct snapshot_column *column,
                      size_t index)
{
    const union snapshot_cell *cell = &column->cells[index];
    if (column->states[index] <= 0) {
        put(writer, "null", 4);
        return;
    }
    switch (column->type) {
    case VITALS_U64: put_u64(writer, cell->u64); break;
    case VITALS_I64: put_i64(writer, cell->i64); break;
    case VITALS_F64: put_f64(writer, cell->f64); break;
    case VITALS_TEXT: put_text(writer, cell->text->bytes, cell->text->size); break;
    }
}

/* How long before the snapshot's moment something was read; beyond 2^53 ns (104 days) that. */
static int64_t age_of(const vitals_snapshot *snapshot, uint64_t then)
{
    uint64_t now = snapshot->monotonic_ns;
    uint64_t size = now >= then ? now - then : then - now;
    int64_t age = (int64_t)(size < EXACT_MAX ? size : EXACT_MAX);
    return now >= then ? age : -age;
}

/* Whether the value has an age of its own, and which. */
static bool has_age(const struct snapshot_column *column, const vitals_row *row, int64_t *age)
{
    const vitals_snapshot *snapshot = row->table->snapshot;
    if (!column_lags(column, row_index(row)))
        return false;
    *age = age_of(snapshot, column_read_ns(column, row));
    return *age != age_of(snapshot, row->stamp_ns);
}

/* The states of those values that are not simply there. */
static void put_availability(struct json_writer *writer, const struct table *table, size_t index)
{
    put_string(writer, ",\"availability\":{");
    bool first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct snapshot_column *column = &table->columns[i];
        vitals_availability state = (vitals_availability)column->states[index];
        if (state == VITALS_HAVE)
            continue;
        put_key(writer, first, column->name, column->name_size);
        put(writer, "\"", 1);
        put_string(writer, vitals_availability_name(state));
        put(writer, "\"", 1);
        first = false;
    }
    put(writer, "}", 1);
}

/* The ages of those values that were not read with their row. */
static void put_ages(struct json_writer *writer, const vitals_row *row)
{
    const struct table *table = row->table;
    bool first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct snapshot_column *column = &table->columns[i];
        int64_t age;
        if (!has_age(column, row, &age))
            continue;
        put_string(writer, first ? ",\"ages_ns\":{" : "");
        put_key(writer, first, column->name, column->name_size);
        put_i64(writer, age);
        first = false;
    }
    put_string(writer, first ? "" : "}");
}

static void put_row(struct json_writer *writer, const struct table *table, size_t index)
{
    const vitals_row *row = &table->rows[index];
    put_string(writer, "{\"key\":");
    put_u64(writer, table->keys[index]);
    if (vitals_entity_parent(table->entity) != 0) {
        put_string(writer, ",\"parent\":");
        if (row->parent != 0)
            put_u64(writer, row->parent);
        else
            put(writer, "null", 4);
    }
    put_string(writer, ",\"label\":");
    put_text(writer, row->label, strlen(row->label));
    put_string(writer, ",\"age_ns\":");
    put_i64(writer, age_of(table->snapshot, row->stamp_ns));
    bool plain = true;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct snapshot_column *column = &table->columns[i];
        put_key(writer, false, column->name, column->name_size);
        put_value(writer, column, index);
        plain = plain && column->states[index] == VITALS_HAVE;
    }
    if (!plain)
        put_availability(writer, table, index);
    put_ages(writer, row);
    put(writer, "}", 1);
}

static void put_rows(struct json_writer *writer, const struct table *table)
{
    put(writer, "[", 1);
    for (size_t i = 0; i < table->count && writer->stopped == 0; i++) {
        if (i != 0)
            put(writer, ",", 1);
        put_row(writer, table, i);
    }
    put(writer, "]", 1);
}

/* An object with a member for each table. */
static void put_tables(struct json_writer *writer, const vitals_snapshot *snapshot,
                       void (*put_table)(struct json_writer *, const struct table *))
{
    put(writer, "{", 1);
    bool first = true;
    for (unsigned i = 0; i <= ENTITY_MAX; i++) {
        const struct table *table = snapshot_table(snapshot, i);
        if (table == NULL)
            continue;
        const char *name = vitals_entity_name(table->entity);
        put_key(writer, first, name, strlen(name));
        put_table(writer, table);
        first = false;
    }
    put(writer, "}", 1);
}

/* The states of those tables whose rows are not simply all there; nothing where all are. */
static void put_states(struct json_writer *writer, const vitals_snapshot *snapshot)
{
    bool first = true;
    for (unsigned i = 0; i <= ENTITY_MAX; i++) {
        const struct table *table = snapshot_table(snapshot, i);
        if (table == NULL || table->state == VITALS_HAVE)
            continue;
        const char *name = vitals_entity_name(table->entity);
        put_string(writer, first ? ",\"states\":{" : "");
        put_key(writer, first, name, strlen(name));
        put(writer, "\"", 1);
        put_string(writer, vitals_availability_name((vitals_availability)table->state));
        put(writer, "\"", 1);
        first = false;
    }
    put_string(writer, first ? "" : "}");
}

int vitals_snapshot_json(const vitals_snapshot *snapshot, vitals_write *write, void *data,
                         vitals_error *error)
{
    struct json_writer writer;
    writer.write = write;
    writer.data = data;
    writer.stopped = 0;
    writer.used = 0;
    put_head(&writer, snapshot);
    put_string(&writer, ",\"columns\":");
    put_tables(&writer, snapshot, put_columns);
    put_states(&writer, snapshot);
    put_string(&writer, ",\"tables\":");
    put_tables(&writer, snapshot, put_rows);
    put(&writer, "}", 1);
    flush(&writer);
    if (writer.stopped != 0)
        return error_set(error, VITALS_ESYSTEM, writer.stopped, "snapshot: the writer stopped");
    return 0;
}
