/* row_batch.c: see row_batch.h. */
#include "model/row_batch.h"

#include "util/memory.h"

#include <string.h>

_Static_assert(sizeof(struct batch_cell) == 16, "a table may have millions");

void batch_reset(struct row_batch *batch, const struct metric_set *wanted)
{
    batch->wanted = *wanted;
    batch->count = batch->row_count = 0;
    batch->failed = false;
    memset(batch->states, VITALS_HAVE, sizeof batch->states);
    buffer_reset(&batch->text);
}

void batch_done(struct row_batch *batch)
{
    memory_free(batch->items);
    memory_free(batch->rows);
    buffer_done(&batch->text);
    *batch = (struct row_batch){0};
}

void batch_state(struct row_batch *batch, vitals_table entity, vitals_availability state)
{
    batch->states[entity] = (signed char)state;
}

void batch_rewind(struct row_batch *batch, struct batch_mark mark)
{
    batch->count = mark.count;
    batch->row_count = mark.row_count;
    size_t kept = mark.text_size;
    if (kept > batch->text.size || batch->text.failed)
        return;
    batch->text.size = kept;
    if (batch->text.bytes != NULL)
        batch->text.bytes[kept] = '\0';
}

/* ---- text ---- */

static bool is_at(const struct row_batch *batch, size_t at, size_t size, struct span text)
{
    return size == text.size && text.size != 0 &&
           memcmp(batch->text.bytes + at, text.bytes, size) == 0;
}

/* Says where the text is, copied in where it is not there yet. *text is cut to what is kept. */
static size_t keep_text(struct row_batch *batch, struct span *text)
{
    size_t most = batch->text_max != 0 ? batch->text_max : BATCH_TEXT_MAX;
    size_t at = batch->text.size;
    text->size = size_min(text->size, most - size_min(at, most));
    buffer_append(&batch->text, text->bytes, text->size);
    batch->failed |= batch->text.failed;
    return at;
}

/* ---- rows ---- */

void batch_reserve_like(struct row_batch *batch, const struct row_batch *like)
{
    (void)MEMORY_GROW(batch->rows, batch->row_capacity, like->row_count);
    (void)MEMORY_GROW(batch->items, batch->capacity, like->count);
    if (like->text.size > batch->text.size)
        buffer_reserve(&batch->text, like->text.size - batch->text.size);
    batch->text.failed = false;
}

struct batch_row *batch_add_row(struct row_batch *batch, vitals_table entity, uint64_t key,
                                struct span label)
{
    if (!batch->failed && MEMORY_GROW(batch->rows, batch->row_capacity, batch->row_count) < 0)
        batch->failed = true;
    label.size = size_min(label.size, BATCH_LABEL_MAX);
    size_t whole = label.size;
    const struct batch_row *before = !batch->failed && batch->row_count > 0
                                         ? &batch->rows[batch->row_count - 1]
                                         : NULL;
    size_t at = before != NULL ? before->label_at : 0;
    if (!batch->failed && (before == NULL || !is_at(batch, at, before->label_size, label)))
        at = keep_text(batch, &label);
    if (batch->failed)
        return NULL;
    if (label.size < whole)
        batch_state(batch, entity, VITALS_LOWER_BOUND);
    struct batch_row *row = &batch->rows[batch->row_count++];
    *row = (struct batch_row){.entity = entity,
                              .key = key,
                              .label_at = at,
                              .label_size = label.size,
                              .first = batch->count};
    return row;
}

/* A place for a value of the newest row; NULL where it is not wanted or nothing can be kept. */
static struct batch_cell *place(struct row_batch *batch, vitals_metric metric)
{
    if (batch->failed || batch->row_count == 0 || !batch_wants(batch, metric))
        return NULL;
    if (MEMORY_GROW(batch->items, batch->capacity, batch->count) < 0) {
        batch->failed = true;
        return NULL;
    }
    batch->rows[batch->row_count - 1].count++;
    struct batch_cell *cell = &batch->items[batch->count++];
    *cell = (struct batch_cell){.metric = metric, .state = VITALS_HAVE};
    return cell;
}

void batch_set_value(struct row_batch *batch, vitals_metric metric, struct value value)
{
    struct batch_cell *cell = value.state != VITALS_UNSET ? place(batch, metric) : NULL;
    if (cell == NULL)
        return;
    cell->as.u64 = value.as.u64; // the numbers share their bytes
    cell->state = value.state;
}

void batch_set_u64(struct row_batch *batch, vitals_metric metric, uint64_t number)
{
    batch_set_value(batch, metric, value_u64(number));
}

void batch_set_i64(struct row_batch *batch, vitals_metric metric, int64_t number)
{
    batch_set_value(batch, metric, value_i64(number));
}

void batch_set_f64(struct row_batch *batch, vitals_metric metric, double number)
{
    batch_set_value(batch, metric, value_f64(number));
}

void batch_set_text_as(struct row_batch *batch, vitals_metric metric, struct span text,
                       vitals_availability state)
{
    struct batch_cell *cell = place(batch, metric);
    if (cell == NULL)
        return;

    /* Finds a cell that has the same text already, as rows that follow each other often do: the
     * newest row's label, or the value of this metric in the row before, at the same place or near
     * it. */
    const struct batch_row *row = &batch->rows[batch->row_count - 1];
    const struct batch_cell *before = NULL;
    size_t at = row->label_at, whole = text.size;
    bool same = is_at(batch, row->label_at, row->label_size, text);
    if (!same && batch->row_count > 1 && row[-1].entity == row->entity)
        before = batch_find(batch, &row[-1], metric);
    if (before != NULL && before->state > 0 &&
        is_at(batch, before->as.text.at, before->as.text.size, text)) {
        same = true;
        at = before->as.text.at;
    }
    if (!same)
        at = keep_text(batch, &text);
    if (text.size < whole) {
        state = VITALS_LOWER_BOUND;
        batch_state(batch, row->entity, state);
    }
    cell->state = (signed char)state;
    cell->as.text.at = (uint32_t)at; /* of at most BATCH_TEXT_MAX bytes */
    cell->as.text.size = (uint32_t)text.size;
}

void batch_set_text(struct row_batch *batch, vitals_metric metric, struct span text)
{
    batch_set_text_as(batch, metric, text, VITALS_HAVE);
}

void batch_set_string(struct row_batch *batch, vitals_metric metric, const char *string)
{
    batch_set_text(batch, metric, (struct span){string, strlen(string)});
}

void batch_set_missing(struct row_batch *batch, vitals_metric metric, vitals_availability reason)
{
    batch_set_value(batch, metric, value_missing(reason));
}

const struct batch_cell *batch_find(const struct row_batch *batch, const struct batch_row *row,
                                    vitals_metric metric)
{
    for (size_t i = row->first; i < row->first + row->count; i++)
        if (batch->items[i].metric == metric)
            return &batch->items[i];
    return NULL;
}

/* ---- rows for a caller ---- */

vitals_table batch_want(struct row_batch *batch, const vitals_metric *metrics, size_t count)
{
    struct metric_set wanted = {0};
    vitals_table entity = count != 0 && count <= METRIC_NUMBERS ? vitals_metric_table(metrics[0])
                                                                : 0;
    for (size_t i = 0; i < count && entity != 0; i++) {
        if (vitals_metric_table(metrics[i]) != entity)
            entity = 0;
        else
            metric_set_add(&wanted, metrics[i]);
    }
    batch_reset(batch, &wanted);
    return entity;
}

/* The value of a cell; a text is whole. What was not set, the row does not have. */
static vitals_value value_of(const struct row_batch *batch, const struct batch_row *row,
                             vitals_metric metric)
{
    const struct batch_cell *cell = batch_find(batch, row, metric);
    vitals_value value = {.availability = VITALS_UNSUPPORTED, .text = {"", 0}};
    if (cell != NULL)
        value.availability = (vitals_availability)cell->state;
    if (value.availability <= 0)
        return value;
    struct span text;
    switch (vitals_metric_type(metric)) {
    case VITALS_U64: value.u64 = cell->as.u64 < EXACT_MAX ? cell->as.u64 : EXACT_MAX; break;
    case VITALS_I64: value.i64 = cell->as.i64; break;
    case VITALS_F64: value.f64 = cell->as.f64; break;
    default:
        text = batch_span(batch, cell);
        value.text = (vitals_text){text.size != 0 ? text.bytes : "", text.size};
    }
    return value;
}

int batch_hand_over(const struct row_batch *batch, const vitals_metric *metrics, size_t count,
                    vitals_row_fn *row, void *data)
{
    vitals_value values[METRIC_NUMBERS];
    vitals_table entity = vitals_metric_table(metrics[0]);
    bool more = true;
    for (size_t i = 0; i < batch->row_count && more; i++) {
        if (batch->rows[i].entity != entity)
            continue;
        for (size_t k = 0; k < count; k++)
            values[k] = value_of(batch, &batch->rows[i], metrics[k]);
        more = row(data, values, count) == 0;
    }
    return batch->states[entity] == VITALS_HAVE ? 0 : 1;
}
