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

/* A row that was only listed takes nothing from one that was read. */
static void keep(struct gpu_fill *kept, const struct gpu_reading *reading)
{
    for (uint32_t i = 0; i < kept->count; i++) {
        if (kept->readings[i].metric != reading->metric ||
            strcmp(kept->readings[i].label, reading->label) != 0)
            continue;
        if (reading->value.state != VITALS_NOT_REQUESTED)
            kept->readings[i] = *reading;
        return;
    }
    if (kept->count < GPU_FILL_MAX)
        kept->readings[kept->count++] = *reading;
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
    for (uint32_t i = 0; i < reader->fill->count; i++)
        keep(device->kept, &reader->fill->readings[i]);
    device->kept_ns = reader->fill->sample->stamp_ns;
}

/* What was read then is old now, but for what does not move. */
static void tell(struct amd_reader *reader, const struct gpu_reading *kept)
{
    struct gpu_fill *fill = reader->fill;
    uint32_t before = fill->count;
    if (kept->label[0] == '\0' &&
        (!amd_wants(reader, kept->metric) || gpu_fill_has(fill, kept->metric)))
        return;
    gpu_fill_child(fill, kept->metric, kept->label, kept->value);
    if (fill->count == before)
        return;
    struct gpu_reading *reading = &fill->readings[before];
    *reading = *kept;
    if (reading->value.state > 0 && vitals_metric_kind(kept->metric) != VITALS_IDENTITY)
        reading->value.state = VITALS_STALE;
}

bool amd_runtime_suspended(struct amd_reader *reader)
{
    const struct amd_device *device = reader->device;
    uint64_t now_ns = reader->fill->sample->stamp_ns;
    if (device->kept_ns == 0 || now_ns - device->kept_ns >= REST_NS)
        return false;
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;)
        if (amd_wants(reader, m) && !metric_set_has(&device->kept_metrics, m))
            return false;
    for (uint32_t i = 0; i < device->kept->count; i++)
        tell(reader, &device->kept->readings[i]);
    reader->fill->sample->stamp_ns = device->kept_ns; /* when they were read */
    return true;
}
