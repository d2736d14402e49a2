/* change.c: see frame.h.
 *
 * Numbers have 7 bits a byte, the low ones first; signed ones have the sign in their lowest bit.
 * First come the times and, without a base, the origin. Each table follows with its state and rows;
 * without a base also with its entity and columns, each column as the number and the type of its
 * metric.
 *
 * A row is a list of slots: its head and its columns. A slot that equals the base's takes no byte:
 * each step begins with the number of equal slots before it, and the last step ends the table. If a
 * row is complete, an equal slot opens the next row of the base. */
#include "record/frame/frame.h"

#include <string.h>

/* ---- the layout ---- */

enum change_step {
    STEP_END,   /* of the table; the base's remaining rows have gone */
    STEP_GONE,  /* so many rows of the base */
    STEP_FRESH, /* a row that the base lacks: key, age, parent, label */
    STEP_AGE,   /* the base's next row, with another age than the row before */
    STEP_CELL   /* and above: a column, with these flags */
};
enum change_flag {
    CELL_STATE = 8,  /* its state follows */
    CELL_VALUE = 16, /* its value follows; of an integer the difference */
    /* The read time; it holds for the rows below in the column until another is given. */
    CELL_THEN = 32, /* how long before its row follows; the rows below were read at the same time */
    CELL_NOW = 64,  /* with its row: the default of a column */
    CELL_SINCE = 128 /* not read since the base */
};
enum { CELL_READ = CELL_THEN | CELL_NOW | CELL_SINCE };

/* A table of one snapshot, column by column. */
enum { CHANGE_COLUMNS = 256 };
struct change_column {
    vitals_metric metric;
    vitals_type type;
    const uint64_t *cells; /* NULL of text */
    const signed char *states;
};
struct change_table {
    const vitals_snapshot *snapshot; /* NULL: none, and no rows */
    vitals_table entity;
    size_t count; /* rows */
};

struct change_cell {
    int state;
    uint64_t bits; /* of a number that is available */
    vitals_text text;
    uint64_t read_ns; /* of an available value; change_cell_get does not set it */
};

/* How the column's last value was read. */
struct change_reading {
    unsigned way; /* of CELL_READ; 0: CELL_NOW */
    uint64_t read_ns;
};

/* Returns when a value was read. `base` is of the same row. */
static inline uint64_t change_read_ns(const struct change_reading *reading, unsigned way,
                                      const struct change_cell *base, uint64_t stamp_ns)
{
    return way == CELL_THEN ? reading->read_ns : way == CELL_SINCE ? base->read_ns : stamp_ns;
}

/* ---- what a snapshot has ---- */

/* Lists the columns of an entity that a snapshot has; at most CHANGE_COLUMNS. */
static size_t change_columns(const vitals_snapshot *snapshot, vitals_table entity,
                             struct change_column *out)
{
    size_t count = 0;
    vitals_metric metric = 0;
    while (count < CHANGE_COLUMNS && (metric = vitals_metric_next_of(entity, metric)) != 0) {
        if (!vitals_snapshot_has_metric(snapshot, metric))
            continue;
        struct change_column *column = &out[count++];
        *column = (struct change_column){.metric = metric, .type = vitals_metric_type(metric)};
        column->cells = vitals_snapshot_column(snapshot, metric, &column->states, NULL);
    }
    return count;
}

/* Gets a value of a row of that snapshot, `place` from 0. */
static void change_cell_get(const struct change_column *column, const vitals_row *row, size_t place,
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
    struct buffer *out;
    bool failed;
    uint64_t alike; /* equal slots since the last step */

    /* The table that is being written. */
    struct change_table base, now;
    size_t count; /* columns */
    struct change_column base_columns[CHANGE_COLUMNS], columns[CHANGE_COLUMNS];
    struct change_reading readings[CHANGE_COLUMNS];
    uint64_t age_ns, key; /* of the row before */

    /* The row that is being written. */
    const vitals_row *row, *base_row; /* NULL: the base has none */
    uint64_t stamp_ns;
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

/* Returns the flag of the read time; 0 if it follows from the row above. */
static unsigned write_read_time(struct change_writer *writer, size_t column,
                                struct change_cell *cell, struct change_cell *base)
{
    struct change_reading *reading = &writer->readings[column];
    vitals_metric metric = writer->columns[column].metric;
    unsigned way = 0;
    cell->read_ns = vitals_row_read_ns(writer->row, metric);
    if (cell->read_ns == writer->stamp_ns && (reading->way | CELL_NOW) == CELL_NOW)
        return 0; /* the common case: the base is not read */
    if (base->state > 0)
        base->read_ns = vitals_row_read_ns(writer->base_row, metric);
    if (cell->read_ns != change_read_ns(reading, reading->way, base, writer->stamp_ns))
        way = cell->read_ns == writer->stamp_ns ? CELL_NOW
              : cell->read_ns == base->read_ns  ? CELL_SINCE
                                                : CELL_THEN;
    if (way != 0)
        reading->way = way;
    reading->read_ns = cell->read_ns;
    return way;
}

static void write_cell(struct change_writer *writer, size_t place, struct change_cell *cell,
                       struct change_cell *base)
{
    const struct change_column *column = &writer->columns[place];
    unsigned flags = cell->state != base->state ? CELL_STATE : 0;
    if (cell->state > 0 && (cell->bits != base->bits || !same_text(cell->text, base->text)))
        flags |= CELL_VALUE;
    if (cell->state > 0)
        flags |= write_read_time(writer, place, cell, base);
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
        put_signed(writer, writer->stamp_ns - cell->read_ns);
}

/* `base` is NULL if it lacks the row. */
static void write_row(struct change_writer *writer, const vitals_row *base, size_t base_place,
                      size_t place)
{
    const vitals_row *row = writer->row;
    const char *label = vitals_row_label(row);
    writer->base_row = base;
    writer->stamp_ns = vitals_row_stamp_ns(row);

    uint64_t age_ns = vitals_snapshot_monotonic_ns(writer->now.snapshot) - writer->stamp_ns;
    if (base != NULL && age_ns == writer->age_ns) {
        writer->alike++;
    } else {
        put_step(writer, base == NULL ? STEP_FRESH : STEP_AGE);
        put_signed(writer, age_ns - writer->age_ns);
    }
    if (base == NULL) {
        put_number(writer, vitals_row_key(row) - writer->key);
        put_number(writer, vitals_row_parent(row));
        put_text(writer, vitals_text_of(label));
    }
    writer->age_ns = age_ns;
    writer->key = vitals_row_key(row);

    for (size_t i = 0; i < writer->count; i++) {
        struct change_cell then = {.text = {"", 0}}, now;
        if (base != NULL)
            change_cell_get(&writer->base_columns[i], base, base_place, &then);
        change_cell_get(&writer->columns[i], row, place, &now);
        write_cell(writer, i, &now, &then);
    }
}

static const vitals_row *row_of(const struct change_table *table, size_t place)
{
    return place < table->count ? vitals_snapshot_row(table->snapshot, table->entity, place) : NULL;
}

static struct change_table table_of(const vitals_snapshot *snapshot, vitals_table entity)
{
    struct change_table table = {.snapshot = snapshot, .entity = entity};
    if (snapshot != NULL)
        table.count = vitals_snapshot_count(snapshot, entity);
    return table;
}

static void write_table(struct change_writer *writer, const vitals_snapshot *base,
                        const vitals_snapshot *snapshot, vitals_table entity)
{
    writer->base = table_of(base, entity);
    writer->now = table_of(snapshot, entity);
    writer->age_ns = writer->key = 0;
    writer->count = change_columns(snapshot, entity, writer->columns);
    memset(writer->readings, 0, writer->count * sizeof *writer->readings);
    if (base != NULL) {
        (void)change_columns(base, entity, writer->base_columns);
    } else {
        put_number(writer, entity);
        put_number(writer, writer->count);
        for (size_t i = 0; i < writer->count; i++) {
            put_number(writer, writer->columns[i].metric & 0xFF);
            put_number(writer, writer->columns[i].type);
        }
    }
    put_signed(writer, (uint64_t)(int64_t)vitals_snapshot_state(snapshot, entity));
    /* Both tables are sorted by key. */
    size_t old = 0;
    for (size_t place = 0; place < writer->now.count; place++) {
        const vitals_row *row = row_of(&writer->now, place), *was;
        size_t gone = 0;
        while ((was = row_of(&writer->base, old)) != NULL &&
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
        writer->row = row;
        write_row(writer, known ? was : NULL, old, place);
        old += known;
    }
    put_step(writer, STEP_END);
}

bool change_write(const vitals_snapshot *base, const vitals_snapshot *snapshot, struct buffer *out)
{
    struct change_writer writer = {.out = out};
    buffer_reset(out);
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
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;)
        if (vitals_snapshot_has_table(snapshot, entity))
            write_table(&writer, base, snapshot, entity);
    if (base == NULL)
        put_number(&writer, 0);
    return !writer.failed;
}

/* ---- reading ---- */

/* The most cells of one snapshot; a row counts as some. A few bytes may stand for many cells. */
enum { CELLS_MAX = 16 * 1024 * 1024, CELLS_OF_ROW = 16 };

struct change_reader {
    const unsigned char *bytes;
    size_t size, at;
    vitals_builder *builder;
    bool broken; /* from there on every number is 0 */
    bool newer;  /* likewise: the bytes hold what this version does not define */

    /* The table that is being read. */
    struct change_table base;
    size_t old; /* the base's next row */
    size_t count;
    struct change_column columns[CHANGE_COLUMNS]; /* the base's, if there is one */
    struct change_reading readings[CHANGE_COLUMNS];
    uint64_t monotonic_ns, age_ns, key;
    size_t cells; /* of all tables so far */

    /* The row that is being read. */
    const vitals_row *row; /* the base's, at `place`; NULL: a new row */
    size_t place, slot;    /* the next column; `count`: the row is complete */
    uint64_t stamp_ns;
};

static uint64_t get_number(struct change_reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && reader->at < reader->size; shift += 7) {
        unsigned char byte = reader->bytes[reader->at++];
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return reader->broken ? 0 : number;
    }
    reader->broken = true;
    return 0;
}

static uint64_t get_signed(struct change_reader *reader)
{
    uint64_t number = get_number(reader);
    return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

/* Returns the next bytes, or NULL if fewer are left. */
static const char *get_bytes(struct change_reader *reader, uint64_t size)
{
    if (reader->broken || size > reader->size - reader->at) {
        reader->broken = true;
        return NULL;
    }
    const char *bytes = (const char *)reader->bytes + reader->at;
    reader->at += (size_t)size;
    return bytes;
}

static vitals_text get_text(struct change_reader *reader)
{
    uint64_t size = get_number(reader);
    const char *bytes = get_bytes(reader, size);
    return bytes != NULL ? (vitals_text){bytes, (size_t)size} : (vitals_text){"", 0};
}

/* ---- a table ---- */

static void begin_row(struct change_reader *reader, uint64_t parent, vitals_text label)
{
    reader->stamp_ns = reader->monotonic_ns - reader->age_ns;
    reader->slot = 0;
    reader->cells += reader->count + CELLS_OF_ROW;
    if (reader->cells > CELLS_MAX) {
        reader->broken = true;
        return;
    }
    vitals_builder_row(reader->builder, reader->base.entity, reader->key, parent, label,
                       reader->stamp_ns);
}

static void open_next(struct change_reader *reader)
{
    if (reader->old >= reader->base.count) {
        reader->broken = true;
        return;
    }
    reader->place = reader->old++;
    reader->row = vitals_snapshot_row(reader->base.snapshot, reader->base.entity, reader->place);
    const char *label = vitals_row_label(reader->row);
    reader->key = vitals_row_key(reader->row);
    begin_row(reader, vitals_row_parent(reader->row), vitals_text_of(label));
}

/* Reads the next column of the row; `flags` name what differs from the base. */
static void read_cell(struct change_reader *reader, unsigned flags)
{
    vitals_builder *builder = reader->builder;
    const struct change_column *column = &reader->columns[reader->slot];
    struct change_reading *reading = &reader->readings[reader->slot++];
    struct change_cell cell = {.text = {"", 0}};
    if (reader->row != NULL)
        change_cell_get(column, reader->row, reader->place, &cell);
    if (cell.state > 0)
        cell.read_ns = vitals_row_read_ns(reader->row, column->metric);
    const struct change_cell base = cell;
    if (flags & CELL_STATE)
        cell.state = (int)(int64_t)get_signed(reader);
    if (flags & CELL_VALUE && column->type == VITALS_TEXT) {
        cell.text = get_text(reader);
    } else if (flags & CELL_VALUE && column->type == VITALS_F64) {
        const char *bytes = get_bytes(reader, sizeof cell.bits);
        if (bytes != NULL)
            memcpy(&cell.bits, bytes, sizeof cell.bits);
    } else if (flags & CELL_VALUE) {
        cell.bits += get_signed(reader);
    }
    if (flags & CELL_READ)
        reading->way = flags & CELL_READ;
    cell.read_ns = flags & CELL_THEN
                       ? reader->stamp_ns - get_signed(reader)
                       : change_read_ns(reading, reading->way, &base, reader->stamp_ns);
    if (cell.state > 0)
        reading->read_ns = cell.read_ns;
    if (reader->broken)
        return;

    vitals_availability state = (vitals_availability)cell.state;
    double number;
    if (state < 0)
        vitals_builder_missing(builder, column->metric, state);
    if (state <= 0)
        return;
    switch (column->type) {
    case VITALS_U64: vitals_builder_u64(builder, column->metric, cell.bits, state); break;
    case VITALS_I64: vitals_builder_i64(builder, column->metric, (int64_t)cell.bits, state); break;
    case VITALS_F64:
        memcpy(&number, &cell.bits, sizeof number);
        vitals_builder_f64(builder, column->metric, number, state);
        break;
    case VITALS_TEXT: vitals_builder_text(builder, column->metric, cell.text, state); break;
    }
    vitals_builder_read_at(builder, column->metric, cell.read_ns);
}

/* Returns false after the last step. */
static bool read_step(struct change_reader *reader)
{
    for (uint64_t alike = get_number(reader); alike > 0 && !reader->broken; alike--) {
        if (reader->slot < reader->count)
            read_cell(reader, 0);
        else
            open_next(reader);
    }
    const char *byte = get_bytes(reader, 1);
    unsigned step = byte != NULL ? (unsigned char)*byte : STEP_END;
    bool between = reader->slot >= reader->count;
    if (reader->broken)
        return false;
    if (step > STEP_CELL ? between || (step & 7) != STEP_CELL : !between || step == STEP_CELL) {
        reader->broken = true;
    } else if (step == STEP_GONE) {
        uint64_t gone = get_number(reader);
        reader->broken = reader->broken || gone > reader->base.count - reader->old;
        reader->old += reader->broken ? 0 : (size_t)gone;
    } else if (step == STEP_FRESH) {
        reader->row = NULL;
        reader->age_ns += get_signed(reader);
        reader->key += get_number(reader);
        uint64_t parent = get_number(reader);
        vitals_text label = get_text(reader);
        if (!reader->broken)
            begin_row(reader, parent, label);
    } else if (step == STEP_AGE) {
        reader->age_ns += get_signed(reader);
        open_next(reader);
    } else if (step > STEP_CELL) {
        read_cell(reader, step);
    }
    return step != STEP_END;
}

/* ---- a snapshot ---- */

static void read_table(struct change_reader *reader, const vitals_snapshot *base,
                       vitals_table entity)
{
    vitals_metric metrics[CHANGE_COLUMNS];
    reader->base = table_of(base, entity);
    reader->old = 0;
    reader->age_ns = reader->key = 0;
    reader->count = base != NULL ? change_columns(base, entity, reader->columns) : 0;
    uint64_t told = base == NULL ? get_number(reader) : 0;
    reader->broken = reader->broken || told > CHANGE_COLUMNS;
    for (uint64_t i = 0; i < told && !reader->broken; i++) {
        vitals_metric metric = (vitals_metric)(entity << 8 | (get_number(reader) & 0xFF));
        uint64_t type = get_number(reader);
        reader->columns[reader->count++] = (struct change_column){
            .metric = metric, .type = vitals_metric_type(metric)};
        reader->newer = !reader->broken && (vitals_metric_table(metric) != entity ||
                                            vitals_metric_type(metric) != type);
        reader->broken = reader->broken || reader->newer;
    }

    memset(reader->readings, 0, reader->count * sizeof *reader->readings);
    for (size_t i = 0; i < reader->count; i++)
        metrics[i] = reader->columns[i].metric;
    int state = (int)(int64_t)get_signed(reader);
    if (reader->broken)
        return;
    reader->slot = reader->count;
    vitals_builder_table(reader->builder, entity, metrics, reader->count);
    vitals_builder_state(reader->builder, entity, (vitals_availability)state);
    while (read_step(reader) && !reader->broken)
        ;
}

int change_read(const vitals_snapshot *base, const char *bytes, size_t size,
                vitals_builder *builder, vitals_snapshot **out)
{
    struct change_reader reader = {
        .bytes = (const unsigned char *)bytes, .size = size, .builder = builder};
    vitals_builder_begin(builder);
    uint64_t realtime_ns = get_number(&reader), boottime_ns = get_number(&reader);
    reader.monotonic_ns = get_number(&reader);
    vitals_builder_moment(builder, realtime_ns, boottime_ns, reader.monotonic_ns,
                          get_number(&reader));

    if (base != NULL) {
        vitals_builder_stream(builder, vitals_snapshot_stream(base));
        vitals_builder_origin(builder, vitals_snapshot_host(base), vitals_snapshot_boot_id(base),
                              vitals_snapshot_pid_namespace(base));
        for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0 && !reader.broken;)
            if (vitals_snapshot_has_table(base, entity))
                read_table(&reader, base, entity);
    } else {
        vitals_builder_stream(builder, get_number(&reader));
        uint64_t pid_namespace = get_number(&reader);
        vitals_text host = get_text(&reader), boot_id = get_text(&reader);
        vitals_builder_origin(builder, host, boot_id, pid_namespace);
        for (uint64_t entity; (entity = get_number(&reader)) != 0 && !reader.broken;) {
            reader.newer = entity > UINT8_MAX || vitals_table_name((vitals_table)entity) == NULL;
            reader.broken = reader.newer;
            if (!reader.broken)
                read_table(&reader, NULL, (vitals_table)entity);
        }
    }
    if (reader.newer)
        return VITALS_EUNSUPPORTED;
    if (reader.broken || reader.at != size)
        return VITALS_EFORMAT;
    vitals_error error;
    int code = vitals_builder_finish(builder, out, &error);
    return code == VITALS_EARGUMENT ? VITALS_EFORMAT : code;
}
