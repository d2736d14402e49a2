/* fill.c: see fill.h. */
#include "gpu/fill.h"

#include <stdio.h>
#include <string.h>

void gpu_fill_begin(struct gpu_fill *fill, struct gpu_sample *sample, uint64_t stamp_ns)
{
    fill->sample = sample;
    fill->count = 0;
    fill->cut = false;
    sample->stamp_ns = stamp_ns;
    sample->state = VITALS_HAVE;
}

bool gpu_fill_wants_table(const struct gpu_fill *fill, vitals_entity entity)
{
    return metric_set_has_entity(&fill->sample->batch.wanted, entity);
}

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static struct gpu_reading *find(struct gpu_fill *fill, vitals_metric metric, const char *label)
{
    for (uint32_t i = 0; i < fill->count; i++) {
        struct gpu_reading *reading = &fill->readings[i];
        if (reading->metric == metric && strcmp(reading->label, label) == 0)
            return reading;
    }
    return NULL;
}

static struct gpu_reading *place(struct gpu_fill *fill, vitals_metric metric, const char *label)
{
    char kept[GPU_LABEL];
    snprintf(kept, sizeof kept, "%s", label);
    struct gpu_reading *reading = find(fill, metric, kept);
    if (reading)
        return reading;
    if (fill->count == GPU_FILL_MAX) {
        fill->cut = true;
        return NULL;
    }
    reading = &fill->readings[fill->count++];
    reading->metric = metric;
    memcpy(reading->label, kept, sizeof kept);
    return reading;
}

void gpu_fill_child(struct gpu_fill *fill, vitals_metric metric, const char *label,
                    struct value value)
{
    if (!gpu_fill_wants_table(fill, vitals_metric_entity(metric)))
        return;
    struct gpu_reading *reading = place(fill, metric, label);
    if (reading)
        reading->value = value;
}

void gpu_fill_child_text(struct gpu_fill *fill, vitals_metric metric, const char *label,
                         struct span text)
{
    if (!gpu_fill_wants_table(fill, vitals_metric_entity(metric)))
        return;
    struct gpu_reading *reading = place(fill, metric, label);
    if (!reading)
        return;
    bool fits = text.size < sizeof reading->text;
    size_t size = fits ? text.size : sizeof reading->text - 1;
    memcpy(reading->text, text.bytes, size);
    reading->text[size] = '\0';
    reading->value = (struct value){.as.u64 = size,
                                    .state = fits ? VITALS_HAVE : VITALS_LOWER_BOUND};
}

void gpu_fill(struct gpu_fill *fill, vitals_metric metric, struct value value)
{
    if (gpu_fill_wants(fill, metric))
        gpu_fill_child(fill, metric, "", value);
}

void gpu_fill_text(struct gpu_fill *fill, vitals_metric metric, struct span text)
{
    if (gpu_fill_wants(fill, metric))
        gpu_fill_child_text(fill, metric, "", text);
}

bool gpu_fill_has(const struct gpu_fill *fill, vitals_metric metric)
{
    for (uint32_t i = 0; i < fill->count; i++) {
        if (fill->readings[i].metric == metric && fill->readings[i].label[0] == '\0')
            return true;
    }
    return false;
}

/* Of the readings from `first` on, those of its row into the newest row of facts. */
static void end_row(const struct gpu_fill *fill, uint32_t first, struct row_batch *batch)
{
    const struct gpu_reading *row = &fill->readings[first];
    vitals_entity entity = vitals_metric_entity(row->metric);
    batch_add_row(batch, entity, 0, span_of(row->label));
    for (uint32_t i = first; i < fill->count; i++) {
        const struct gpu_reading *reading = &fill->readings[i];
        if (vitals_metric_entity(reading->metric) != entity ||
            strcmp(reading->label, row->label) != 0)
            continue;
        bool text = vitals_metric_type(reading->metric) == VITALS_TEXT;
        if (text && reading->value.state > 0)
            batch_set_text_as(batch, reading->metric,
                              (struct span){reading->text, (size_t)reading->value.as.u64},
                              (vitals_availability)reading->value.state);
        else
            batch_set_value(batch, reading->metric, reading->value);
    }
}

/* Whether an earlier reading is of the same row. */
static bool is_begun(const struct gpu_fill *fill, uint32_t at)
{
    const struct gpu_reading *reading = &fill->readings[at];
    for (uint32_t i = 0; i < at; i++) {
        if (vitals_metric_entity(fill->readings[i].metric) ==
                vitals_metric_entity(reading->metric) &&
            strcmp(fill->readings[i].label, reading->label) == 0)
            return true;
    }
    return false;
}

static bool has_device(const struct gpu_fill *fill)
{
    for (uint32_t i = 0; i < fill->count; i++) {
        if (vitals_metric_entity(fill->readings[i].metric) == VITALS_GPU)
            return true;
    }
    return false;
}

void gpu_fill_end(struct gpu_fill *fill)
{
    struct row_batch *batch = &fill->sample->batch;
    /* The device is there even where it has nothing of what was asked for. */
    if (gpu_fill_wants_table(fill, VITALS_GPU) && !has_device(fill))
        batch_add_row(batch, VITALS_GPU, 0, (struct span){"", 0});
    for (uint32_t i = 0; i < fill->count; i++) {
        if (!is_begun(fill, i))
            end_row(fill, i, batch);
    }
    for (vitals_entity e = 0; fill->cut && (e = vitals_entity_next(e)) != 0;) {
        if (vitals_entity_parent(e) == VITALS_GPU && e != VITALS_GPU)
            batch_state(batch, e, VITALS_LOWER_BOUND);
    }
}

void gpu_fill_lose(struct gpu_fill *fill, vitals_availability reason)
{
    fill->count = 0;
    fill->cut = false;
    fill->sample->state = (signed char)reason;
}

struct value gpu_fill_percent(uint64_t percent, uint64_t most)
{
    return percent <= most ? value_f64((double)percent / 100.0) : value_missing(VITALS_FAILED);
}

struct value gpu_fill_scaled(uint64_t number, double factor, uint64_t most)
{
    return number <= most ? value_f64((double)number * factor) : value_missing(VITALS_FAILED);
}
