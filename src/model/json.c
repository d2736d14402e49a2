/* json.c: a snapshot as one JSON document; docs/json.md describes it. Reading it back is
 * src/feed's. Thread rule: any thread. */
#include "model/json_writer.h"
#include "model/snapshot.h"

#include "util/error.h"
#include "util/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <vitals/version.h>

/* Nanoseconds pass 2^53 and are decimal strings, as in OTLP. */
static void put_instant(struct json_writer *writer, const char *before, uint64_t ns)
{
    writer_raw(writer, before);
    writer_raw(writer, "\"");
    writer_u64(writer, ns);
    writer_raw(writer, "\"");
}

/* RFC 3339 in UTC. */
static void put_time(struct json_writer *writer, uint64_t realtime_ns)
{
    char text[NUMBER_TEXT + 16] = "\"";
    size_t size = 1 + number_print_date(text + 1, realtime_ns / NS_PER_SECOND);
    snprintf(text + size, sizeof text - size, ".%09uZ\"", (unsigned)(realtime_ns % NS_PER_SECOND));
    writer_raw(writer, text);
}

/* ---- tables ---- */

/* "name": before a member. A comma stands before it, except for the first member of an object. */
static void put_key(struct json_writer *writer, const char *before, const char *name,
                    size_t name_size)
{
    size_t size = strlen(before);
    char *at = writer_room(writer, size + name_size + 3);
    memcpy(at, before, size);
    at[size] = '"';
    memcpy(at + size + 1, name, name_size);
    memcpy(at + size + 1 + name_size, "\":", 2);
    writer->used += size + name_size + 3;
}

static void put_state(struct json_writer *writer, const char *before, const char *name,
                      vitals_availability state)
{
    put_key(writer, before, name, strlen(name));
    writer_raw(writer, "\"");
    writer_raw(writer, vitals_availability_name(state));
    writer_raw(writer, "\"");
}

/* Which columns each table has, also where it has no row. */
static void put_columns(struct json_writer *writer, const struct table *table)
{
    writer_raw(writer, "[");
    for (size_t i = 0; i < table->column_count; i++) {
        writer_raw(writer, i == 0 ? "\"" : ",\"");
        writer_raw(writer, table->columns[i].name);
        writer_raw(writer, "\"");
    }
    writer_raw(writer, "]");
}

static void put_value(struct json_writer *writer, const struct snapshot_column *column,
                      size_t index)
{
    if (column->states[index] <= 0) {
        writer_raw(writer, "null");
        return;
    }
    switch (column->type) {
    case VITALS_U64: writer_u64(writer, column->cells[index].u64); break;
    case VITALS_I64: writer_i64(writer, column->cells[index].i64); break;
    case VITALS_F64: writer_f64(writer, column->cells[index].f64); break;
    case VITALS_TEXT:
        writer_text(writer, column->texts[index].bytes, column->texts[index].size);
        break;
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

static void put_row(struct json_writer *writer, const struct table *table, size_t index)
{
    const vitals_row *row = &table->rows[index];
    int64_t row_age = age_of(table->snapshot, row->stamp_ns), age;
    writer_raw(writer, "{\"key\":");
    writer_u64(writer, table->keys[index]);
    if (vitals_table_parent(table->entity) != 0) {
        writer_raw(writer, ",\"parent\":");
        if (row->parent != 0)
            writer_u64(writer, row->parent);
        else
            writer_raw(writer, "null");
    }
    writer_raw(writer, ",\"label\":");
    writer_string(writer, row->label);
    writer_raw(writer, ",\"age_ns\":");
    writer_i64(writer, row_age);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct snapshot_column *column = &table->columns[i];
        put_key(writer, ",", column->name, column->name_size);
        put_value(writer, column, index);
    }

    /* The states of those values that are not simply there. */
    const char *before = ",\"availability\":{";
    for (size_t i = 0; i < table->column_count; i++) {
        const struct snapshot_column *column = &table->columns[i];
        if (column->states[index] == VITALS_HAVE)
            continue;
        put_state(writer, before, column->name, (vitals_availability)column->states[index]);
        before = ",";
    }
    writer_raw(writer, before[1] == '\0' ? "}" : "");

    /* The ages of those values that were not read with their row. */
    before = ",\"ages_ns\":{";
    for (size_t i = 0; i < table->column_count; i++) {
        const struct snapshot_column *column = &table->columns[i];
        if (!column_lags(column, index) ||
            (age = age_of(table->snapshot, column_read_ns(column, row))) == row_age)
            continue;
        put_key(writer, before, column->name, column->name_size);
        writer_i64(writer, age);
        before = ",";
    }
    writer_raw(writer, before[1] == '\0' ? "}}" : "}");
}

static void put_rows(struct json_writer *writer, const struct table *table)
{
    writer_raw(writer, "[");
    for (size_t i = 0; i < table->count && writer->stopped == 0; i++) {
        writer_raw(writer, i != 0 ? "," : "");
        put_row(writer, table, i);
    }
    writer_raw(writer, "]");
}

/* An object with a member for each table. */
static void put_tables(struct json_writer *writer, const vitals_snapshot *snapshot,
                       void (*put_table)(struct json_writer *, const struct table *))
{
    const char *before = "{";
    for (unsigned i = 0; i <= ENTITY_MAX; i++) {
        const struct table *table = snapshot_table(snapshot, i);
        if (table == NULL)
            continue;
        const char *name = vitals_table_name(table->entity);
        put_key(writer, before, name, strlen(name));
        put_table(writer, table);
        before = ",";
    }
    writer_raw(writer, before[0] == '{' ? "{}" : "}");
}

int vitals_file_write(void *file, const char *bytes, size_t size)
{
    errno = 0;
    bool whole = fwrite(bytes, 1, size, file) == size;
    return whole ? 0 : errno != 0 ? errno : EIO;
}

int vitals_snapshot_json(const vitals_snapshot *snapshot, vitals_write_fn *write, void *data,
                         vitals_error *error)
{
    struct json_writer writer;
    writer_init(&writer, write, data);
    writer_raw(&writer, "{\"schema\":");
    writer_u64(&writer, VITALS_SCHEMA);
    writer_raw(&writer, ",\"vitals\":\"" VITALS_VERSION "\",\"host\":{\"name\":");
    writer_text(&writer, snapshot->host.bytes, snapshot->host.size);
    writer_raw(&writer, ",\"boot_id\":");
    writer_text(&writer, snapshot->boot_id.bytes, snapshot->boot_id.size);
    writer_raw(&writer, ",\"pid_namespace\":");
    writer_u64(&writer, snapshot->pid_namespace);
    writer_raw(&writer, "},\"time\":");
    put_time(&writer, snapshot->realtime_ns);
    put_instant(&writer, ",\"realtime_ns\":", snapshot->realtime_ns);
    put_instant(&writer, ",\"boottime_ns\":", snapshot->boottime_ns);
    put_instant(&writer, ",\"monotonic_ns\":", snapshot->monotonic_ns);
    writer_raw(&writer, ",\"stream\":");
    writer_u64(&writer, snapshot->stream);
    writer_raw(&writer, ",\"sequence\":");
    writer_u64(&writer, snapshot->sequence);
    writer_raw(&writer, ",\"columns\":");
    put_tables(&writer, snapshot, put_columns);

    /* The states of those tables whose rows are not simply all there. */
    const char *before = ",\"states\":{";
    for (unsigned i = 0; i <= ENTITY_MAX; i++) {
        const struct table *table = snapshot_table(snapshot, i);
        if (table == NULL || table->state == VITALS_HAVE)
            continue;
        put_state(&writer, before, vitals_table_name(table->entity),
                  (vitals_availability)table->state);
        before = ",";
    }
    writer_raw(&writer, before[1] == '\0' ? "}" : "");

    writer_raw(&writer, ",\"tables\":");
    put_tables(&writer, snapshot, put_rows);
    writer_raw(&writer, "}");
    if (writer_finish(&writer) != 0)
        return error_set(error, VITALS_ESYSTEM, writer.stopped, "snapshot: the writer stopped");
    return 0;
}
