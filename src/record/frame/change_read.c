/* change_read.c: reads a snapshot from any bytes. See change_layout.h. */
#include <string.h>

#include "record/frame/change_layout.h"

struct change_reader {
    const unsigned char *bytes;
    size_t size, at;
    bool broken; /* from there on every number is 0 */
    bool newer;  /* likewise: the bytes hold what this version does not define */
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

/* The most cells of one snapshot; a row counts as some. A few bytes may stand for many cells. */
enum { CELLS_MAX = 16 * 1024 * 1024, CELLS_OF_ROW = 16 };

struct hearing {
    struct change_reader *reader;
    vitals_builder *builder;
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

static void begin_row(struct hearing *hearing, uint64_t parent, vitals_text label)
{
    hearing->stamp_ns = hearing->monotonic_ns - hearing->age_ns;
    hearing->slot = 0;
    hearing->cells += hearing->count + CELLS_OF_ROW;
    if (hearing->cells > CELLS_MAX) {
        hearing->reader->broken = true;
        return;
    }
    vitals_builder_row(hearing->builder, hearing->base.entity, hearing->key, parent, label,
                       hearing->stamp_ns);
}

static void open_next(struct hearing *hearing)
{
    if (hearing->old >= hearing->base.count) {
        hearing->reader->broken = true;
        return;
    }
    hearing->place = hearing->old++;
    hearing->row = vitals_snapshot_row(hearing->base.snapshot, hearing->base.entity,
                                       hearing->place);
    const char *label = vitals_row_label(hearing->row);
    hearing->key = vitals_row_key(hearing->row);
    begin_row(hearing, vitals_row_parent(hearing->row), (vitals_text){label, strlen(label)});
}

/* Reads the next column of the row; `flags` name what differs from the base. */
static void hear_cell(struct hearing *hearing, unsigned flags)
{
    struct change_reader *reader = hearing->reader;
    vitals_builder *builder = hearing->builder;
    const struct change_column *column = &hearing->columns[hearing->slot];
    struct change_reading *reading = &hearing->readings[hearing->slot++];
    struct change_cell cell = {.text = {"", 0}};
    if (hearing->row != NULL)
        change_cell_get(column, hearing->row, hearing->place, &cell);
    if (cell.state > 0)
        cell.read_ns = vitals_row_read_ns(hearing->row, column->metric);
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
                       ? hearing->stamp_ns - get_signed(reader)
                       : change_read_ns(reading, reading->way, &base, hearing->stamp_ns);
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
static bool hear_step(struct hearing *hearing)
{
    struct change_reader *reader = hearing->reader;
    for (uint64_t alike = get_number(reader); alike > 0 && !reader->broken; alike--) {
        if (hearing->slot < hearing->count)
            hear_cell(hearing, 0);
        else
            open_next(hearing);
    }
    const char *byte = get_bytes(reader, 1);
    unsigned step = byte != NULL ? (unsigned char)*byte : STEP_END;
    bool between = hearing->slot >= hearing->count;
    if (reader->broken)
        return false;
    if (step > STEP_CELL ? between || (step & 7) != STEP_CELL : !between || step == STEP_CELL) {
        reader->broken = true;
    } else if (step == STEP_GONE) {
        uint64_t gone = get_number(reader);
        reader->broken = reader->broken || gone > hearing->base.count - hearing->old;
        hearing->old += reader->broken ? 0 : (size_t)gone;
    } else if (step == STEP_FRESH) {
        hearing->row = NULL;
        hearing->age_ns += get_signed(reader);
        hearing->key += get_number(reader);
        uint64_t parent = get_number(reader);
        vitals_text label = get_text(reader);
        if (!reader->broken)
            begin_row(hearing, parent, label);
    } else if (step == STEP_AGE) {
        hearing->age_ns += get_signed(reader);
        open_next(hearing);
    } else if (step > STEP_CELL) {
        hear_cell(hearing, step);
    }
    return step != STEP_END;
}

/* ---- a snapshot ---- */

static void hear_table(struct hearing *hearing, const vitals_snapshot *base, vitals_entity entity)
{
    struct change_reader *reader = hearing->reader;
    vitals_metric metrics[CHANGE_COLUMNS];
    hearing->base = (struct change_table){.snapshot = base, .entity = entity};
    hearing->old = hearing->count = 0;
    hearing->age_ns = hearing->key = 0;
    if (base != NULL) {
        hearing->base.count = vitals_snapshot_count(base, entity);
        hearing->count = change_columns(base, entity, hearing->columns);
    }
    uint64_t told = base == NULL ? get_number(reader) : 0;
    reader->broken = reader->broken || told > CHANGE_COLUMNS;
    for (uint64_t i = 0; i < told && !reader->broken; i++) {
        vitals_metric metric = (vitals_metric)(entity << 8 | (get_number(reader) & 0xFF));
        uint64_t type = get_number(reader);
        hearing->columns[hearing->count++] = (struct change_column){
            .metric = metric, .type = vitals_metric_type(metric)};
        reader->newer = !reader->broken && (vitals_metric_entity(metric) != entity ||
                                            vitals_metric_type(metric) != type);
        reader->broken = reader->broken || reader->newer;
    }

    memset(hearing->readings, 0, hearing->count * sizeof *hearing->readings);
    for (size_t i = 0; i < hearing->count; i++)
        metrics[i] = hearing->columns[i].metric;
    int state = (int)(int64_t)get_signed(reader);
    if (reader->broken)
        return;
    hearing->slot = hearing->count;
    vitals_builder_table(hearing->builder, entity, metrics, hearing->count);
    vitals_builder_state(hearing->builder, entity, (vitals_availability)state);
    while (hear_step(hearing) && !reader->broken)
        ;
}

int change_read(const vitals_snapshot *base, const char *bytes, size_t size,
                vitals_builder *builder, vitals_snapshot **out)
{
    struct change_reader reader = {.bytes = (const unsigned char *)bytes, .size = size};
    struct hearing hearing = {.reader = &reader, .builder = builder};
    vitals_builder_begin(builder);
    uint64_t realtime_ns = get_number(&reader), boottime_ns = get_number(&reader);
    hearing.monotonic_ns = get_number(&reader);
    vitals_builder_moment(builder, realtime_ns, boottime_ns, hearing.monotonic_ns,
                          get_number(&reader));

    if (base != NULL) {
        vitals_builder_stream(builder, vitals_snapshot_stream(base));
        vitals_builder_origin(builder, vitals_snapshot_host(base), vitals_snapshot_boot_id(base),
                              vitals_snapshot_pid_namespace(base));
        for (vitals_entity entity = 0;
             (entity = vitals_entity_next(entity)) != 0 && !reader.broken;)
            if (vitals_snapshot_has_entity(base, entity))
                hear_table(&hearing, base, entity);
    } else {
        vitals_builder_stream(builder, get_number(&reader));
        uint64_t pid_namespace = get_number(&reader);
        vitals_text host = get_text(&reader), boot_id = get_text(&reader);
        vitals_builder_origin(builder, host, boot_id, pid_namespace);
        for (uint64_t entity; (entity = get_number(&reader)) != 0 && !reader.broken;) {
            reader.newer = entity > UINT8_MAX || vitals_entity_name((vitals_entity)entity) == NULL;
            reader.broken = reader.newer;
            if (!reader.broken)
                hear_table(&hearing, NULL, (vitals_entity)entity);
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
