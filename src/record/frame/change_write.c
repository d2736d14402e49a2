/* change_write.c: writes a snapshot as bytes. See change_layout.h. */
#include <string.h>

#include "record/frame/change_layout.h"

/* ---- what a snapshot has ---- */

size_t change_columns(const vitals_snapshot *snapshot, vitals_entity entity,
                      struct change_column *out)
{
    size_t count = 0;
    for (vitals_metric metric = vitals_metric_next((vitals_metric)(entity << 8) - 1);
         metric != 0 && metric >> 8 == entity && count < CHANGE_COLUMNS;
         metric = vitals_metric_next(metric)) {
        if (!vitals_snapshot_has_metric(snapshot, metric))
            continue;
        struct change_column *column = &out[count++];
        *column = (struct change_column){.metric = metric, .type = vitals_metric_type(metric)};
        column->cells = vitals_snapshot_column(snapshot, metric, &column->states, NULL);
    }
    return count;
}

void change_cell_get(const struct change_column *column, const vitals_row *row, size_t place,
                     struct change_cell *out)
{
    out->bits = 0;
    out->text = (vitals_text){"", 0};
    if (column->cells == NULL) {
        out->state = vitals_row_text(row, column->metric, &out->text);
    } else {
        out->state = column->states[place];
        if (out->state > 0)
            out->bits = column->cells[place];
    }
    out->read_ns = 0;
}

static bool same_text(vitals_text a, vitals_text b)
{
    return a.size == b.size && (a.bytes == b.bytes || memcmp(a.bytes, b.bytes, a.size) == 0);
}

bool change_fits(const vitals_snapshot *base, const vitals_snapshot *snapshot)
{
    if (vitals_snapshot_stream(base) != vitals_snapshot_stream(snapshot) ||
        vitals_snapshot_pid_namespace(base) != vitals_snapshot_pid_namespace(snapshot) ||
        !same_text(vitals_snapshot_host(base), vitals_snapshot_host(snapshot)) ||
        !same_text(vitals_snapshot_boot_id(base), vitals_snapshot_boot_id(snapshot)))
        return false;
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        if (vitals_snapshot_has_metric(base, metric) !=
            vitals_snapshot_has_metric(snapshot, metric))
            return false;
    return true;
}

/* ---- bytes ---- */

struct change_writer {
    struct text *out;
    bool failed;
    uint64_t alike; /* equal slots since the last step */
};

static void put(struct change_writer *writer, const void *bytes, size_t size)
{
    if (!writer->failed && text_write(writer->out, bytes, size) != 0)
        writer->failed = true;
}

static void put_number(struct change_writer *writer, uint64_t number)
{
    unsigned char bytes[10];
    size_t size = 0;
    for (; number > 0x7F; number >>= 7)
        bytes[size++] = (unsigned char)(number | 0x80);
    bytes[size++] = (unsigned char)number;
    put(writer, bytes, size);
}

/* Modulo 2^64: a difference may have either sign. */
static void put_signed(struct change_writer *writer, uint64_t number)
{
    put_number(writer, number << 1 ^ (number >> 63 ? UINT64_MAX : 0));
}

static void put_text(struct change_writer *writer, vitals_text text)
{
    put_number(writer, text.size);
    put(writer, text.bytes, text.size);
}

static void put_step(struct change_writer *writer, unsigned step)
{
    unsigned char byte = (unsigned char)step;
    put_number(writer, writer->alike);
    put(writer, &byte, 1);
    writer->alike = 0;
}

/* ---- a table ---- */

struct change_telling {
    struct change_writer *writer;
    struct change_table base, now;
    size_t count; /* columns */
    struct change_column base_columns[CHANGE_COLUMNS], columns[CHANGE_COLUMNS];
    struct change_reading readings[CHANGE_COLUMNS];
    uint64_t age_ns, key; /* of the row before */

    /* The row that is being written. */
    const vitals_row *row, *base_row; /* NULL: the base has none */
    uint64_t stamp_ns;
};

/* Returns the flag of the read time; 0 if it follows from the row above. */
static unsigned tell_read(struct change_telling *telling, size_t column, struct change_cell *cell,
                          struct change_cell *base)
{
    struct change_reading *reading = &telling->readings[column];
    vitals_metric metric = telling->columns[column].metric;
    unsigned way = 0;
    cell->read_ns = vitals_row_read_ns(telling->row, metric);
    if (cell->read_ns == telling->stamp_ns && (reading->way | CELL_NOW) == CELL_NOW)
        return 0; /* the common case: the base is not read */
    if (base->state > 0)
        base->read_ns = vitals_row_read_ns(telling->base_row, metric);
    if (cell->read_ns != change_read_ns(reading, reading->way, base, telling->stamp_ns))
        way = cell->read_ns == telling->stamp_ns ? CELL_NOW
              : cell->read_ns == base->read_ns   ? CELL_SINCE
                                                 : CELL_THEN;
    if (way != 0)
        reading->way = way;
    reading->read_ns = cell->read_ns;
    return way;
}

static void tell_cell(struct change_telling *telling, size_t place, struct change_cell *cell,
                      struct change_cell *base)
{
    struct change_writer *writer = telling->writer;
    const struct change_column *column = &telling->columns[place];
    unsigned flags = cell->state != base->state ? CELL_STATE : 0;
    if (cell->state > 0 && (cell->bits != base->bits || !same_text(cell->text, base->text)))
        flags |= CELL_VALUE;
    if (cell->state > 0)
        flags |= tell_read(telling, place, cell, base);
    if (flags == 0) {
        writer->alike++;
        return;
    }
    put_step(writer, STEP_CELL | flags);
    if (flags & CELL_STATE)
        put_signed(writer, (uint64_t)(int64_t)cell->state);
    if (flags & CELL_VALUE && column->type == VITALS_TEXT)
        put_text(writer, cell->text);
    else if (flags & CELL_VALUE && column->type == VITALS_F64)
        put(writer, &cell->bits, sizeof cell->bits);
    else if (flags & CELL_VALUE)
        put_signed(writer, cell->bits - base->bits);
    if (flags & CELL_THEN)
        put_signed(writer, telling->stamp_ns - cell->read_ns);
}

/* `base` is NULL if it lacks the row. */
static void tell_row(struct change_telling *telling, const vitals_row *base, size_t base_place,
                     size_t place)
{
    struct change_writer *writer = telling->writer;
    const vitals_row *row = telling->row;
    const char *label = vitals_row_label(row);
    telling->base_row = base;
    telling->stamp_ns = vitals_row_stamp_ns(row);

    uint64_t age_ns = vitals_snapshot_monotonic_ns(telling->now.snapshot) - telling->stamp_ns;
    if (base != NULL && age_ns == telling->age_ns) {
        writer->alike++;
    } else {
        put_step(writer, base == NULL ? STEP_FRESH : STEP_AGE);
        put_signed(writer, age_ns - telling->age_ns);
    }
    if (base == NULL) {
        put_number(writer, vitals_row_key(row) - telling->key);
        put_number(writer, vitals_row_parent(row));
        put_text(writer, (vitals_text){label, strlen(label)});
    }
    telling->age_ns = age_ns;
    telling->key = vitals_row_key(row);

    for (size_t i = 0; i < telling->count; i++) {
        struct change_cell then = {.text = {"", 0}}, now;
        if (base != NULL)
            change_cell_get(&telling->base_columns[i], base, base_place, &then);
        change_cell_get(&telling->columns[i], row, place, &now);
        tell_cell(telling, i, &now, &then);
    }
}

static const vitals_row *row_of(const struct change_table *table, size_t place)
{
    return place < table->count ? vitals_snapshot_row(table->snapshot, table->entity, place) : NULL;
}

static struct change_table table_of(const vitals_snapshot *snapshot, vitals_entity entity)
{
    struct change_table table = {.snapshot = snapshot, .entity = entity};
    if (snapshot != NULL)
        table.count = vitals_snapshot_count(snapshot, entity);
    return table;
}

static void tell_table(struct change_telling *telling, const vitals_snapshot *base,
                       const vitals_snapshot *snapshot, vitals_entity entity)
{
    struct change_writer *writer = telling->writer;
    telling->base = table_of(base, entity);
    telling->now = table_of(snapshot, entity);
    telling->age_ns = telling->key = 0;
    telling->count = change_columns(snapshot, entity, telling->columns);
    memset(telling->readings, 0, telling->count * sizeof *telling->readings);
    if (base != NULL) {
        (void)change_columns(base, entity, telling->base_columns);
    } else {
        put_number(writer, entity);
        put_number(writer, telling->count);
        for (size_t i = 0; i < telling->count; i++) {
            put_number(writer, telling->columns[i].metric & 0xFF);
            put_number(writer, telling->columns[i].type);
        }
    }
    put_signed(writer, (uint64_t)(int64_t)vitals_snapshot_state(snapshot, entity));
    /* Both tables are sorted by key. */
    size_t old = 0;
    for (size_t place = 0; place < telling->now.count; place++) {
        const vitals_row *row = row_of(&telling->now, place), *was;
        size_t gone = 0;
        while ((was = row_of(&telling->base, old)) != NULL &&
               vitals_row_key(was) < vitals_row_key(row)) {
            old++;
            gone++;
        }
        if (gone > 0) {
            put_step(writer, STEP_GONE);
            put_number(writer, gone);
        }
        bool known = was != NULL && vitals_row_key(was) == vitals_row_key(row) &&
                     vitals_row_parent(was) == vitals_row_parent(row) &&
                     strcmp(vitals_row_label(was), vitals_row_label(row)) == 0;
        telling->row = row;
        tell_row(telling, known ? was : NULL, old, place);
        old += known;
    }
    put_step(writer, STEP_END);
}

bool change_write(const vitals_snapshot *base, const vitals_snapshot *snapshot, struct text *out)
{
    struct change_writer writer = {.out = out};
    struct change_telling telling = {.writer = &writer};
    text_reset(out);
    put_number(&writer, vitals_snapshot_realtime_ns(snapshot));
    put_number(&writer, vitals_snapshot_boottime_ns(snapshot));
    put_number(&writer, vitals_snapshot_monotonic_ns(snapshot));
    put_number(&writer, vitals_snapshot_sequence(snapshot));
    if (base == NULL) {
        put_number(&writer, vitals_snapshot_stream(snapshot));
        put_number(&writer, vitals_snapshot_pid_namespace(snapshot));
        put_text(&writer, vitals_snapshot_host(snapshot));
        put_text(&writer, vitals_snapshot_boot_id(snapshot));
    }
    for (vitals_entity entity = 0; (entity = vitals_entity_next(entity)) != 0;)
        if (vitals_snapshot_has_entity(snapshot, entity))
            tell_table(&telling, base, snapshot, entity);
    if (base == NULL)
        put_number(&writer, 0);
    return !writer.failed;
}
