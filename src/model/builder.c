/* builder.c: fills snapshots, and reuses the memory of those that have no other reference.
 *
 * The first mistake or failed allocation is kept in `problem` and told by finish; from then on
 * every call does nothing. The catalogue's entry of a column is looked up once, when its table is
 * opened; setting a value looks nothing up. Thread rule: one thread at a time per builder; the
 * snapshots that it gave away are read by any thread meanwhile, and are written again only once the
 * builder's reference is the last. */
#include "model/builder.h"

#include "model/snapshot.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/utf8.h"

#include <math.h>
#include <string.h>

enum { KEPT = 4, ROWS_MIN = 8, TEXTS_MIN = 64 };

struct vitals_builder {
    vitals_snapshot *building;   /* NULL: not begun, or no memory */
    vitals_snapshot *kept[KEPT]; /* one reference each, NULL where there is none */
    size_t oldest;               /* the place in `kept` that is reused, or given up, next */
    vitals_error problem;        /* the first; VITALS_OK: none */
    /* The sizes of the last snapshot: the next one starts with as much room. */
    size_t rows_before[ENTITY_MAX + 1];
    size_t texts_before;
};

int vitals_builder_new(vitals_builder **out, vitals_error *error)
{
    vitals_builder *builder = memory_alloc(sizeof *builder);
    if (builder == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "snapshot builder: out of memory");
    *out = builder;
    return 0;
}

void vitals_builder_free(vitals_builder *builder)
{
    if (builder == NULL)
        return;
    snapshot_drop(builder->building);
    for (size_t i = 0; i < KEPT; i++)
        snapshot_drop(builder->kept[i]);
    memory_free(builder);
}

static bool usable(const vitals_builder *builder)
{
    return builder->building != NULL && builder->problem.code == VITALS_OK;
}

static void out_of_memory(vitals_builder *builder)
{
    error_set(&builder->problem, VITALS_EMEMORY, 0, "snapshot: out of memory");
}

void vitals_builder_begin(vitals_builder *builder)
{
    builder->problem.code = VITALS_OK;
    /* In turn, so that none keeps the memory and the texts of processes that have gone. */
    for (size_t i = 0; i < KEPT && builder->building == NULL; i++) {
        vitals_snapshot **place = &builder->kept[(builder->oldest + i) % KEPT];
        vitals_snapshot *snapshot = *place;
        /* One that only we hold. Acquire: the reads of the last holder come before our writes. Only
         * a holder can make the count grow, and there is none but us. */
        if (snapshot != NULL &&
            atomic_load_explicit(&snapshot->refs, memory_order_acquire) == SNAPSHOT_OURS) {
            *place = NULL;
            builder->building = snapshot;
        }
    }
    if (builder->building != NULL)
        snapshot_reset(builder->building);
    else
        builder->building = snapshot_new();
    if (builder->building == NULL)
        out_of_memory(builder);
}

static const char REPLACEMENT[] = "\xEF\xBF\xBD";
static const char ELLIPSIS[] = "\xE2\x80\xA6";

enum { LABEL_MAX = 255, MARK_SIZE = 3 };
_Static_assert(sizeof REPLACEMENT == MARK_SIZE + 1 && sizeof ELLIPSIS == MARK_SIZE + 1, "UTF-8");

/* A copy of text from outside as a label: what may not be printed is replaced. Not escaped: an
 * escape cannot be told from a label that looks like one, so a label that is read back from JSON
 * and made safe again would change. Made safe twice is the same as once. */
static vitals_text copy_safe(vitals_builder *builder, vitals_text text)
{
    char label[LABEL_MAX];
    const char *at = text.size != 0 ? text.bytes : "";
    const char *end = at + text.size;
    size_t used = 0, taken;
    size_t fits = 0; /* bytes that leave room for an ellipsis */
    for (; at < end; at += taken) {
        bool plain = *at >= ' ' && *at <= '~';
        uint32_t character = plain ? (uint32_t)*at : utf8_decode(at, end, &taken);
        if (plain)
            taken = 1;
        int width = plain ? 1 : character == UTF8_BROKEN ? WIDTH_HIDDEN : width_of(character);
        bool stands = width != WIDTH_HIDDEN && !(width == 0 && used == 0);
        size_t piece_size = stands ? taken : MARK_SIZE;
        if (piece_size > LABEL_MAX - used) {
            memcpy(label + fits, ELLIPSIS, MARK_SIZE);
            used = fits + MARK_SIZE;
            break;
        }
        memcpy(label + used, stands ? at : REPLACEMENT, piece_size);
        used += piece_size;
        if (used <= LABEL_MAX - MARK_SIZE)
            fits = used;
    }
    char *copy = used != 0 ? arena_copy(&builder->building->arena, label, used) : NULL;
    if (used != 0 && copy == NULL)
        out_of_memory(builder);
    return copy != NULL ? (vitals_text){copy, used} : (vitals_text){"", 0};
}

void vitals_builder_origin(vitals_builder *builder, vitals_text host, vitals_text boot_id,
                           uint64_t pid_namespace)
{
    if (!usable(builder))
        return;
    builder->building->host = copy_safe(builder, host);
    builder->building->boot_id = copy_safe(builder, boot_id);
    /* No kernel gives such a number; cut, it could be another's. */
    builder->building->pid_namespace = pid_namespace <= EXACT_MAX ? pid_namespace : 0;
}

void vitals_builder_stream(vitals_builder *builder, uint64_t stream)
{
    if (usable(builder))
        builder->building->stream = stream <= EXACT_MAX ? stream
                                                        : 0; /* cut, it could be another's */
}

void vitals_builder_moment(vitals_builder *builder, uint64_t realtime_ns, uint64_t boottime_ns,
                           uint64_t monotonic_ns, uint64_t sequence)
{
    if (!usable(builder))
        return;
    builder->building->realtime_ns = realtime_ns;
    builder->building->boottime_ns = boottime_ns;
    builder->building->monotonic_ns = monotonic_ns;
    builder->building->sequence = sequence < EXACT_MAX ? sequence : EXACT_MAX;
}

/* ---- tables ---- */

/* Returns an array of that capacity with the items of an old one, or NULL. */
static void *larger(struct arena *arena, const void *items, size_t count, size_t capacity,
                    size_t size)
{
    void *array = arena_array(arena, capacity, size);
    if (array != NULL && count != 0)
        memcpy(array, items, count * size);
    return array;
}

/* Makes room for `capacity` rows. */
static bool table_reserve(struct arena *arena, struct table *table, size_t capacity)
{
    size_t count = table->count;
    table->capacity = capacity;
    table->rows = larger(arena, table->rows, count, capacity, sizeof *table->rows);
    table->keys = larger(arena, table->keys, count, capacity, sizeof *table->keys);
    bool memory = table->rows != NULL && table->keys != NULL;
    for (size_t i = 0; i < table->column_count && memory; i++) {
        struct snapshot_column *column = &table->columns[i];
        if (column->type == VITALS_TEXT)
            column->texts = larger(arena, column->texts, count, capacity, sizeof *column->texts);
        else
            column->cells = larger(arena, column->cells, count, capacity, sizeof *column->cells);
        column->states = larger(arena, column->states, count, capacity, 1);
        memory = (column->texts != NULL || column->cells != NULL) && column->states != NULL;
        if (column->lags != NULL && memory) {
            column->lags = larger(arena, column->lags, count, capacity, sizeof *column->lags);
            memory = column->lags != NULL;
        }
    }
    return memory;
}

void vitals_builder_table(vitals_builder *builder, vitals_table entity,
                          const vitals_metric *metrics, size_t count)
{
    if (!usable(builder))
        return;
    const char *name = vitals_table_name(entity);
    if (name == NULL || builder->building->tables[entity].open) {
        error_set(&builder->problem, VITALS_EARGUMENT, 0, "snapshot: table %s %s",
                  name != NULL ? name : "?", name != NULL ? "is opened twice" : "does not exist");
        return;
    }
    bool marked[METRIC_NUMBERS] = {false};
    for (size_t i = 0; i < count; i++) {
        if (vitals_metric_table(metrics[i]) != entity) {
            error_set(&builder->problem, VITALS_EARGUMENT, 0,
                      "snapshot: table %s has no metric 0x%04x", name, metrics[i]);
            return;
        }
        marked[metric_number(metrics[i])] = true;
    }
    struct arena *arena = &builder->building->arena;
    struct table *table = &builder->building->tables[entity];
    table->snapshot = builder->building;
    table->entity = entity;
    table->ordered = true;
    table->state = VITALS_HAVE;

    /* Columns for the numbers that are marked, in their order. */
    for (unsigned number = 0; number < METRIC_NUMBERS; number++)
        table->column_count += marked[number];
    table->columns = arena_array(arena, table->column_count, sizeof *table->columns);
    unsigned char place = 0;
    for (unsigned number = 0; number < METRIC_NUMBERS && table->columns != NULL; number++) {
        vitals_metric metric = metric_of(entity, number);
        if (!marked[number])
            continue;
        table->columns[place] = (struct snapshot_column){.metric = metric,
                                                         .type = vitals_metric_type(metric),
                                                         .kind = vitals_metric_kind(metric),
                                                         .name = vitals_metric_name(metric)};
        table->columns[place].name_size = strlen(table->columns[place].name);
        table->places[number] = ++place;
    }
    size_t before = builder->rows_before[entity];
    table->open = table->columns != NULL &&
                  table_reserve(arena, table, size_max(before + before / 8, ROWS_MIN));
    if (!table->open)
        out_of_memory(builder);
}

void vitals_builder_state(vitals_builder *builder, vitals_table entity, vitals_availability state)
{
    if (!usable(builder) || entity > ENTITY_MAX || !builder->building->tables[entity].open)
        return;
    int number = state;
    if (number < VITALS_AVAILABILITY_MIN || number > VITALS_AVAILABILITY_MAX || number == 0)
        error_set(&builder->problem, VITALS_EARGUMENT, 0,
                  "snapshot: table %s gets an invalid availability", vitals_table_name(entity));
    else
        builder->building->tables[entity].state = (signed char)state;
}

void builder_table_of(vitals_builder *builder, vitals_table entity, const struct metric_set *set)
{
    vitals_metric metrics[METRIC_NUMBERS];
    size_t count = metric_set_list(set, entity, metrics);
    if (count != 0)
        vitals_builder_table(builder, entity, metrics, count);
}

/* The open table, to be written; NULL also after a problem. */
static struct table *open_table(const vitals_builder *builder, vitals_table entity)
{
    if (!usable(builder) || entity > ENTITY_MAX || !builder->building->tables[entity].open)
        return NULL;
    return &builder->building->tables[entity];
}

void vitals_builder_row(vitals_builder *builder, vitals_table entity, uint64_t key, uint64_t parent,
                        vitals_text label, uint64_t stamp_ns)
{
    struct table *table = open_table(builder, entity);
    if (table == NULL)
        return; /* a source may offer rows that the request does not ask for */

    /* JSON keeps integers up to 2^53 exact, and 0 is the parent of those at the top. */
    const char *what = NULL;
    if (key == 0)
        what = "gets the key 0";
    else if (key > EXACT_MAX || parent > EXACT_MAX)
        what = "gets a key above 2^53";
    else if (parent != 0 && vitals_table_parent(entity) == 0)
        what = "has no parent, and a row names one";
    if (what != NULL) {
        error_set(&builder->problem, VITALS_EARGUMENT, 0, "snapshot: table %s %s",
                  vitals_table_name(entity), what);
        return;
    }
    if (table->count == table->capacity &&
        !table_reserve(&builder->building->arena, table, table->capacity * 2)) {
        out_of_memory(builder);
        return;
    }
    if (table->count != 0 && table->keys[table->count - 1] >= key)
        table->ordered = false;
    table->keys[table->count] = key;
    table->rows[table->count++] = (struct vitals_row){.table = table,
                                                      .parent = parent,
                                                      .stamp_ns = stamp_ns,
                                                      .label = copy_safe(builder, label).bytes};
}

/* ---- values ---- */

vitals_metric builder_next(const vitals_builder *builder, vitals_table entity, size_t *place)
{
    const struct table *table = open_table(builder, entity);
    return table != NULL && *place < table->column_count ? table->columns[(*place)++].metric : 0;
}

static void refuse(vitals_builder *builder, vitals_metric metric, const char *what)
{
    const char *table = vitals_table_name(vitals_metric_table(metric));
    const char *name = vitals_metric_name(metric);
    error_set(&builder->problem, VITALS_EARGUMENT, 0, "snapshot: %s %s %s",
              table != NULL ? table : "?", name != NULL ? name : "?", what);
}

/* The column, and in *index the newest row's place. NULL where the value is to be passed over: its
 * column is not open, it is UNSET, or there is a problem, which then is remembered. */
static struct snapshot_column *slot(vitals_builder *builder, vitals_metric metric, int state,
                                    size_t *index)
{
    const struct table *table = open_table(builder, metric >> 8);
    struct snapshot_column *column = table != NULL ? table_column(table, metric) : NULL;
    if (column == NULL || state == VITALS_UNSET)
        return NULL;
    if (table->count == 0)
        refuse(builder, metric, "is set before there is a row");
    else if (state < VITALS_AVAILABILITY_MIN || state > VITALS_AVAILABILITY_MAX)
        refuse(builder, metric, "is set with an invalid availability");
    if (builder->problem.code != VITALS_OK)
        return NULL;
    *index = table->count - 1;
    return column;
}

/* The same for a value of the type. */
static struct snapshot_column *typed_slot(vitals_builder *builder, vitals_metric metric,
                                          vitals_type type, int state, size_t *index)
{
    struct snapshot_column *column = slot(builder, metric, state, index);
    if (column == NULL || column->type == type)
        return column;
    refuse(builder, metric, "is set with a value of another type");
    return NULL;
}

void vitals_builder_u64(vitals_builder *builder, vitals_metric metric, uint64_t value,
                        vitals_availability availability)
{
    size_t index;
    struct snapshot_column *column = typed_slot(builder, metric, VITALS_U64, availability, &index);
    if (column == NULL)
        return;
    if (value > EXACT_MAX && availability > 0) {
        value = EXACT_MAX;
        availability = VITALS_LOWER_BOUND;
    }
    column->cells[index].u64 = value;
    column->states[index] = (signed char)availability;
}

void vitals_builder_i64(vitals_builder *builder, vitals_metric metric, int64_t value,
                        vitals_availability availability)
{
    size_t index;
    struct snapshot_column *column = typed_slot(builder, metric, VITALS_I64, availability, &index);
    if (column == NULL)
        return;
    int64_t most = (int64_t)EXACT_MAX;
    if (availability > 0 && (value > most || value < -most)) {
        availability = value > 0 ? VITALS_LOWER_BOUND : VITALS_UPPER_BOUND;
        value = value > 0 ? most : -most;
    }
    column->cells[index].i64 = value;
    column->states[index] = (signed char)availability;
}

void vitals_builder_f64(vitals_builder *builder, vitals_metric metric, double value,
                        vitals_availability availability)
{
    size_t index;
    struct snapshot_column *column = typed_slot(builder, metric, VITALS_F64, availability, &index);
    if (column == NULL)
        return;
    if (availability > 0 && !isfinite(value))
        availability = VITALS_FAILED;
    column->cells[index].f64 = value +
                               0.0; /* -0 becomes 0: JSON readers take "-0" for an integer */
    column->states[index] = (signed char)availability;
}

/* There is no value, and no text of one that was set before. */
static void column_miss(struct snapshot_column *column, size_t index, vitals_availability reason)
{
    column->states[index] = (signed char)reason;
    if (column->texts != NULL)
        column->texts[index] = (vitals_text){"", 0};
}

void vitals_builder_missing(vitals_builder *builder, vitals_metric metric,
                            vitals_availability reason)
{
    size_t index;
    struct snapshot_column *column = slot(builder, metric, reason, &index);
    if (column != NULL && reason > 0)
        refuse(builder, metric, "is missing for an invalid reason");
    else if (column != NULL)
        column_miss(column, index, reason);
}

void vitals_builder_read_at(vitals_builder *builder, vitals_metric metric, uint64_t read_ns)
{
    size_t index;
    struct snapshot_column *column = slot(builder, metric, VITALS_HAVE, &index);
    if (column == NULL)
        return;
    const struct table *table = open_table(builder, metric >> 8);
    uint64_t lag = table->rows[index].stamp_ns - read_ns;
    if (lag == 0 && column->lags == NULL)
        return;
    if (column->lags == NULL)
        column->lags = arena_array(&builder->building->arena, table->capacity, sizeof lag);
    if (column->lags != NULL)
        column->lags[index] = lag;
    else
        out_of_memory(builder);
}

void vitals_builder_text(vitals_builder *builder, vitals_metric metric, vitals_text value,
                         vitals_availability availability)
{
    size_t index, size = value.size;
    struct snapshot_column *column = typed_slot(builder, metric, VITALS_TEXT, availability, &index);
    if (column == NULL)
        return;
    if (availability < 0) {
        column_miss(column, index, availability);
        return;
    }

    /* A long text is cut to SHARED_TEXT_MAX characters; each broken byte counts as one. Counted so
     * because a broken byte takes three bytes of JSON, and what is read back from there must not be
     * cut again. */
    if (size > SHARED_TEXT_MAX) {
        const char *at = value.bytes, *end = at + value.size;
        for (size_t left = SHARED_TEXT_MAX; left != 0 && at < end; left--) {
            utf8_decode(at, end, &size);
            at += size;
        }
        size = (size_t)(at - value.bytes);
    }

    /* Rows that follow each other often have the same text: a snapshot keeps its texts until it
     * ends, so both may point to it. */
    vitals_text kept = index > 0 ? column->texts[index - 1] : (vitals_text){"", 0};
    if (kept.size != size || (size != 0 && memcmp(kept.bytes, value.bytes, size) != 0)) {
        kept = (vitals_text){arena_copy(&builder->building->arena, value.bytes, size), size};
        if (kept.bytes == NULL) {
            out_of_memory(builder);
            return;
        }
    }
    column->texts[index] = size != 0 ? kept : (vitals_text){"", 0};
    column->states[index] = (signed char)(size < value.size ? VITALS_LOWER_BOUND : availability);
}

void builder_shared(vitals_builder *builder, vitals_metric metric, struct shared_text *text,
                    vitals_availability state)
{
    size_t index;
    if (text == NULL && state > 0)
        state = VITALS_FAILED;
    struct snapshot_column *column = typed_slot(builder, metric, VITALS_TEXT, state, &index);
    if (column == NULL)
        return;

    if (state < 0) {
        column_miss(column, index, state);
        return;
    }

    /* A reference is given back when the snapshot is reused or freed. */
    struct shared_texts *texts = &builder->building->shared;
    if (texts->count == texts->capacity) {
        size_t capacity = size_max(builder->texts_before + builder->texts_before / 8, TEXTS_MIN);
        capacity = size_max(capacity, texts->capacity * 2);
        struct shared_text **items = arena_array(&builder->building->arena, capacity,
                                                 sizeof(struct shared_text *));
        if (items == NULL) {
            out_of_memory(builder);
            return;
        }
        if (texts->count != 0)
            memcpy(items, texts->items, texts->count * sizeof(struct shared_text *));
        texts->items = items;
        texts->capacity = capacity;
    }
    texts->items[texts->count++] = shared_text_ref(text);
    column->texts[index] = (vitals_text){text->bytes, text->size};
    column->states[index] = (signed char)state;
}

void builder_value(vitals_builder *builder, vitals_metric metric, struct value value)
{
    vitals_availability state = (vitals_availability)value.state;
    if (state < 0) {
        vitals_builder_missing(builder, metric, state);
        return;
    }
    const struct table *table = open_table(builder, metric >> 8);
    switch (vitals_metric_type(metric)) {
    case VITALS_U64: vitals_builder_u64(builder, metric, value.as.u64, state); break;
    case VITALS_I64: vitals_builder_i64(builder, metric, value.as.i64, state); break;
    case VITALS_F64: vitals_builder_f64(builder, metric, value.as.f64, state); break;
    case VITALS_TEXT:
        if (table != NULL && table_column(table, metric) != NULL)
            refuse(builder, metric, "is text and is set as a number");
        break;
    }
}

void builder_values(vitals_builder *builder, vitals_table entity, const struct values *values)
{
    const struct table *table = open_table(builder, entity);
    for (size_t i = 0; table != NULL && i < table->column_count; i++) {
        vitals_metric metric = table->columns[i].metric;
        const struct value *value = &values->at[metric_number(metric)];
        if (value->state != VITALS_UNSET)
            builder_value(builder, metric, *value);
    }
}

void builder_rest(vitals_builder *builder, vitals_table entity, vitals_availability reason)
{
    const struct table *table = open_table(builder, entity);
    for (size_t i = 0; table != NULL && table->count != 0 && i < table->column_count; i++)
        if (table->columns[i].states[table->count - 1] == VITALS_UNSET)
            vitals_builder_missing(builder, table->columns[i].metric, reason);
}

void builder_batch(vitals_builder *builder, const struct row_batch *batch,
                   const struct batch_row *row)
{
    for (size_t i = row->first; i < row->first + row->count; i++) {
        const struct batch_cell *cell = &batch->items[i];
        if (vitals_metric_type(cell->metric) != VITALS_TEXT || cell->state < 0) {
            builder_value(builder, cell->metric,
                          (struct value){.as.u64 = cell->as.u64, .state = cell->state});
            continue;
        }
        struct span text = batch_span(batch, cell);
        vitals_builder_text(builder, cell->metric, (vitals_text){text.bytes, text.size},
                            (vitals_availability)cell->state);
    }
}

void builder_batch_rows(vitals_builder *builder, const struct row_batch *batch, vitals_table entity,
                        uint64_t stamp_ns)
{
    /* Room for all the rows that come, instead of for twice as many again and again. */
    struct table *table = open_table(builder, entity);
    size_t wanted = table != NULL ? table->count : 0;
    for (size_t i = 0; table != NULL && i < batch->row_count; i++)
        wanted += batch->rows[i].entity == entity;
    if (table != NULL && wanted > table->capacity &&
        !table_reserve(&builder->building->arena, table, wanted))
        out_of_memory(builder);

    vitals_builder_state(builder, entity, (vitals_availability)batch->states[entity]);
    for (size_t i = 0; i < batch->row_count; i++) {
        const struct batch_row *row = &batch->rows[i];
        if (row->entity != entity)
            continue;
        struct span label = batch_label(batch, row);
        vitals_builder_row(builder, entity, row->key, row->parent,
                           (vitals_text){label.bytes, label.size}, stamp_ns);
        builder_batch(builder, batch, row);
        builder_rest(builder, entity, VITALS_UNSUPPORTED);
    }
}

/* ---- the end ---- */

int vitals_builder_finish(vitals_builder *builder, vitals_snapshot **out, vitals_error *error)
{
    vitals_snapshot *snapshot = builder->building;
    if (snapshot == NULL && builder->problem.code == VITALS_OK)
        return error_set(error, VITALS_EARGUMENT, 0, "snapshot: finished before it was begun");

    /* Keys must be unique; they stand in their order. */
    for (size_t i = 0; usable(builder) && i <= ENTITY_MAX; i++) {
        struct table *table = &snapshot->tables[i];
        if (!table->open)
            continue;
        if (!table->ordered && table_order(&snapshot->arena, table) < 0)
            out_of_memory(builder);
        for (size_t k = 1; k < table->count && !table->ordered && usable(builder); k++) {
            if (table->keys[k - 1] == table->keys[k])
                error_set(&builder->problem, VITALS_EARGUMENT, 0,
                          "snapshot: table %s has key %llu twice", vitals_table_name(table->entity),
                          (unsigned long long)table->keys[k]);
        }
        if (usable(builder) && table_index_parents(&snapshot->arena, table) < 0)
            out_of_memory(builder);
    }
    if (builder->problem.code != VITALS_OK) {
        if (error != NULL)
            *error = builder->problem;
        return builder->problem.code;
    }
    for (size_t i = 0; i <= ENTITY_MAX; i++)
        builder->rows_before[i] = snapshot->tables[i].count;
    builder->texts_before = snapshot->shared.count;
    builder->building = NULL;
    *out = vitals_snapshot_ref(snapshot);

    /* Keeps it, if need be in the place of the oldest, which lives on with its other holders. */
    size_t place = builder->oldest;
    for (size_t i = 0; i < KEPT && builder->kept[place] != NULL; i++)
        place = (place + 1) % KEPT;
    builder->oldest = (place + 1) % KEPT;
    snapshot_drop(builder->kept[place]);
    builder->kept[place] = snapshot;
    return 0;
}
