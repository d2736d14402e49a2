/* fill.c: see fill.h. A row's cells are adjacent in a batch, so a later cell of a row is moved
 * there from the end. */
#include "gpu/fill.h"

#include <stdio.h>
#include <string.h>

void gpu_fill_begin(struct gpu_sample *sample, uint64_t stamp_ns)
{
    sample->stamp_ns = stamp_ns;
    sample->state = VITALS_HAVE;
}

bool gpu_fill_wants_table(const struct gpu_sample *sample, vitals_table entity)
{
    return metric_set_has_entity(&sample->batch.wanted, entity);
}

static struct span label_of(const char *label)
{
    return (struct span){label, strnlen(label, GPU_LABEL - 1)};
}

/* Returns the index of the row; the count if there is none. */
static size_t find_row(const struct row_batch *batch, vitals_table entity, struct span label)
{
    for (size_t i = 0; i < batch->row_count; i++) {
        struct span own = batch_label(batch, &batch->rows[i]);
        if (batch->rows[i].entity == entity && own.size == label.size &&
            (own.size == 0 || memcmp(own.bytes, label.bytes, own.size) == 0))
            return i;
    }
    return batch->row_count;
}

/* Makes the row. Returns the metric's cell in it, or NULL if the metric is not wanted or there is
 * no room. */
static struct batch_cell *place(struct gpu_sample *sample, vitals_metric metric, const char *label)
{
    struct row_batch *batch = &sample->batch;
    vitals_table entity = metric >> 8; /* of the number 0 too, which is no metric */
    struct span kept = label_of(label);
    size_t at = find_row(batch, entity, kept), before = batch->count;
    if (!gpu_fill_wants_table(sample, entity))
        return NULL;
    for (size_t i = 0; at < batch->row_count && i < batch->rows[at].count; i++) {
        struct batch_cell *cell = &batch->items[batch->rows[at].first + i];
        if (cell->metric == metric)
            return cell;
    }
    if (at == GPU_FILL_MAX || before == GPU_FILL_MAX) {
        for (vitals_table e = 0; (e = vitals_table_next(e)) != 0;) {
            if (vitals_table_parent(e) == VITALS_TABLE_GPU && e != VITALS_TABLE_GPU)
                batch_state(batch, e, VITALS_LOWER_BOUND);
        }
        return NULL;
    }
    if (at == batch->row_count && !batch_add_row(batch, entity, 0, kept))
        return NULL;
    struct batch_row *row = &batch->rows[at];
    batch_set_missing(batch, metric, VITALS_UNSUPPORTED); /* into the newest row */
    if (batch->count == before)
        return NULL;
    struct batch_cell cell = batch->items[before];
    size_t to = at + 1 == batch->row_count ? before : row->first + row->count;
    memmove(&batch->items[to + 1], &batch->items[to], (before - to) * sizeof cell);
    batch->items[to] = cell;
    batch->rows[batch->row_count - 1].count--;
    row->count++;
    for (size_t i = at + 1; i < batch->row_count; i++)
        batch->rows[i].first++;
    return &batch->items[to];
}

void gpu_fill_child(struct gpu_sample *sample, vitals_metric metric, const char *label,
                    struct value value)
{
    bool is_row = value.state == VITALS_UNSET; /* no value: metric number 0 makes only the row */
    struct batch_cell *cell = place(sample, is_row ? metric_of(metric >> 8, 0) : metric, label);
    if (!cell)
        return;
    cell->as.u64 = value.as.u64; /* all number types share these bytes */
    cell->state = value.state;
}

void gpu_fill_child_text(struct gpu_sample *sample, vitals_metric metric, const char *label,
                         const char *text)
{
    struct batch_cell *cell = place(sample, metric, label);
    struct buffer *texts = &sample->batch.text;
    size_t full = strlen(text), size = size_min(full, GPU_TEXT - 1), at = texts->size;
    if (!cell)
        return;
    buffer_append(texts, text, size);
    sample->batch.failed |= texts->failed;
    cell->as.text.at = (uint32_t)at;
    cell->as.text.size = (uint32_t)size;
    cell->state = size == full ? VITALS_HAVE : VITALS_LOWER_BOUND;
}

void gpu_fill(struct gpu_sample *sample, vitals_metric metric, struct value value)
{
    if (gpu_fill_wants(sample, metric))
        gpu_fill_child(sample, metric, "", value);
}

void gpu_fill_text(struct gpu_sample *sample, vitals_metric metric, const char *text)
{
    if (gpu_fill_wants(sample, metric))
        gpu_fill_child_text(sample, metric, "", text);
}

const struct batch_cell *gpu_fill_find(const struct gpu_sample *sample, vitals_metric metric,
                                       const char *label)
{
    const struct row_batch *batch = &sample->batch;
    size_t at = find_row(batch, vitals_metric_table(metric), label_of(label));
    return at < batch->row_count ? batch_find(batch, &batch->rows[at], metric) : NULL;
}

bool gpu_fill_has_row(const struct gpu_sample *sample, vitals_table entity, const char *label)
{
    return find_row(&sample->batch, entity, label_of(label)) < sample->batch.row_count;
}

void gpu_fill_end(struct gpu_sample *sample)
{
    struct row_batch *batch = &sample->batch;
    if (gpu_fill_wants_table(sample, VITALS_TABLE_GPU) &&
        !gpu_fill_has_row(sample, VITALS_TABLE_GPU, ""))
        batch_add_row(batch, VITALS_TABLE_GPU, 0, (struct span){"", 0});
}

void gpu_fill_lose(struct gpu_sample *sample, vitals_availability reason)
{
    struct metric_set wanted = sample->batch.wanted;
    batch_reset(&sample->batch, &wanted);
    sample->state = (signed char)reason;
}

struct value gpu_fill_percent(uint64_t percent, uint64_t most)
{
    return percent <= most ? value_f64((double)percent / 100.0) : value_missing(VITALS_FAILED);
}

struct value gpu_fill_scaled(uint64_t number, double factor, uint64_t most)
{
    return number <= most ? value_f64((double)number * factor) : value_missing(VITALS_FAILED);
}

int gpu_backend_refuse(struct gpu_scan *why, vitals_availability state, const char *message)
{
    why->state = (signed char)state;
    snprintf(why->message, sizeof why->message, "%s", message);
    return -1;
}
