/* runtime_suspend.c: does not keep an idle card from runtime suspend.
 *
 * Each read of one of amdgpu's files restarts the five seconds after which an idle card is
 * suspended: a monitor that reads every two seconds keeps a laptop's card awake. So the last
 * readings of an idle card that may suspend are repeated, marked stale, for long enough that it can
 * suspend; then it is read once more. Thread rule: the thread that reads the device; never that of
 * its slow readings. */
#include "gpu/amd/state.h"

#include "util/memory.h"

#include <string.h>

#define REST_NS (12 * NS_PER_SECOND)

/* Keeps a cell of the row, or, if it is NULL, only that the row exists. */
static void keep(struct amd_kept *kept, const struct row_batch *batch, const struct batch_row *row,
                 const struct batch_cell *cell)
{
    vitals_metric metric = cell != NULL ? cell->metric : metric_of(row->entity, 0);
    struct span label = batch_label(batch, row);
    uint32_t at = 0;
    while (at < kept->count &&
           (kept->values[at].metric != metric || !span_equal(label, kept->values[at].label)))
        at++;
    if (at == GPU_FILL_MAX)
        return;
    kept->count += at == kept->count;
    struct amd_kept_value *value = &kept->values[at];
    *value = (struct amd_kept_value){.metric = metric};
    memcpy(value->label, label.bytes, label.size);
    if (cell == NULL)
        return;
    value->value = (struct value){.as.u64 = cell->as.u64, .state = cell->state};
    if (cell->state > 0 && vitals_metric_type(metric) == VITALS_TEXT) {
        struct span text = batch_span(batch, cell);
        memcpy(value->text, text.bytes, text.size);
    }
}

void amd_keep(struct amd_reader *reader)
{
    struct amd_device *device = reader->device;
    const struct value busy = reader->utilization;
    device->kept_ns = 0;
    char text[16];
    signed char state;
    if (busy.state <= 0 || busy.as.f64 > 0 || reader->refused ||
        !span_equal(amd_read_text(reader, "power/control", text, sizeof text, &state), "auto"))
        return;
    if (device->kept == NULL)
        device->kept = memory_alloc(sizeof *device->kept);
    if (device->kept == NULL)
        return;
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;)
        if (amd_wants(reader, m))
            metric_set_add(&device->kept_metrics, m);
    const struct row_batch *batch = &reader->sample->batch;
    for (size_t i = 0; i < batch->row_count; i++) {
        const struct batch_row *row = &batch->rows[i];
        keep(device->kept, batch, row, NULL);
        for (size_t c = row->first; c < row->first + row->count; c++)
            keep(device->kept, batch, row, &batch->items[c]);
    }
    device->kept_ns = reader->sample->stamp_ns;
}

bool amd_runtime_suspended(struct amd_reader *reader)
{
    const struct amd_device *device = reader->device;
    struct gpu_sample *sample = reader->sample;
    uint64_t now_ns = sample->stamp_ns;
    if (device->kept_ns == 0 || now_ns - device->kept_ns >= REST_NS)
        return false;
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;)
        if (amd_wants(reader, m) && !metric_set_has(&device->kept_metrics, m))
            return false;
    for (uint32_t i = 0; i < device->kept->count; i++) {
        const struct amd_kept_value *kept = &device->kept->values[i];
        struct value value = kept->value;
        if (kept->label[0] == '\0' &&
            (!amd_wants(reader, kept->metric) || gpu_fill_has(sample, kept->metric)))
            continue;
        if (value.state > 0 && vitals_metric_type(kept->metric) == VITALS_TEXT) {
            gpu_fill_child_text(sample, kept->metric, kept->label, kept->text);
            const struct batch_cell *cell = gpu_fill_find(sample, kept->metric, kept->label);
            value.as.u64 = cell != NULL ? cell->as.u64 : 0;
        }
        /* Repeated values are stale, except for constants. */
        if (value.state > 0 && vitals_metric_kind(kept->metric) != VITALS_IDENTITY)
            value.state = VITALS_STALE;
        gpu_fill_child(sample, kept->metric, kept->label, value);
    }
    sample->stamp_ns = device->kept_ns; /* time of the original reading */
    return true;
}
