/* sample.c: one reading of a card or of a partition.
 *
 * It first checks if the card sleeps: most of amdgpu's files wake a card when they are read, and a
 * card that is read at every tick never sleeps. For a sleeping card only values that the kernel
 * knows without it are read. */
#include "gpu/amd/state.h"

#include <string.h>

/* The engines that have a file of their own. */
static void fill_engine(struct amd_reader *reader, const char *label, struct value value)
{
    if (value.state != VITALS_UNSET && value.state != VITALS_UNSUPPORTED)
        gpu_fill_child(reader->sample, VITALS_GPU_ENGINE_UTILIZATION_RATIO, label, value);
}

/* Adds what the visible processes used of each engine. The thread of slow readings requests no
 * engines: another thread may be updating them. */
static void fill_client_engines(struct amd_reader *reader)
{
    const struct clients *clients = &reader->device->clients;
    if (!gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_ENGINE))
        return;
    for (uint32_t i = 0; i < clients->engine_count; i++) {
        const struct clients_engine *engine = &clients->engines[i];
        if (!amd_has_child(reader, VITALS_GPU_ENGINE_UTILIZATION_RATIO, engine->label))
            gpu_fill_child(reader->sample, VITALS_GPU_ENGINE_UTILIZATION_RATIO, engine->label,
                           engine->utilization_ratio);
        gpu_fill_child(reader->sample, VITALS_GPU_ENGINE_BUSY_SECONDS, engine->label,
                       engine->busy_seconds);
        gpu_fill_child(reader->sample, VITALS_GPU_ENGINE_CAPACITY, engine->label,
                       value_u64(engine->capacity));
    }
}

/* The integral of utilization_ratio. */
static void fill_busy_seconds(struct amd_reader *reader)
{
    struct amd_device *device = reader->device;
    struct value now = reader->utilization;
    uint64_t stamp_ns = reader->sample->stamp_ns;
    if (!amd_wants(reader, VITALS_GPU_BUSY_SECONDS))
        return;
    if (now.state <= 0) {
        device->busy_ns = 0;
        if (now.state != VITALS_UNSET)
            gpu_fill(reader->sample, VITALS_GPU_BUSY_SECONDS, now);
        return;
    }
    if (device->busy_ns != 0 && stamp_ns > device->busy_ns)
        device->busy_seconds += now.as.f64 * (double)(stamp_ns - device->busy_ns) / 1e9;
    device->busy_ns = stamp_ns;
    struct value seconds = value_f64(device->busy_seconds);
    device->busy_doubted |= now.state == VITALS_UPPER_BOUND;
    seconds.state = device->busy_doubted ? VITALS_UPPER_BOUND : VITALS_SAMPLED;
    gpu_fill(reader->sample, VITALS_GPU_BUSY_SECONDS, seconds);
}

static void read_card(struct amd_reader *reader)
{
    amd_read_files(reader);

    if (gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_ENGINE)) {
        fill_engine(reader, "graphics", reader->utilization);
        fill_engine(reader, "video", amd_read_scaled(reader, "vcn_busy_percent", 0.01, 100));
    }

    amd_read_memory(reader);
    amd_read_sensors(reader);
    amd_read_clocks(reader);
    amd_read_pcie(reader);
    amd_read_errors(reader);
    amd_read_links(reader);
    amd_read_record(reader);
    fill_busy_seconds(reader);
    fill_client_engines(reader);
}

/* Marks the whole device as unreadable, for that reason. */
static void lose(struct amd_reader *reader, vitals_availability reason)
{
    if (amd_wants(reader, VITALS_GPU_BUSY_SECONDS)) /* not on the slow thread */
        reader->device->busy_ns = 0;
    gpu_fill_lose(reader->sample, reason);
}

/* Slow readings run on a thread of their own, which does not touch the state of other readings. */
static void read_awake(struct amd_reader *reader)
{
    bool slow = amd_wants(reader, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND) ||
                amd_wants(reader, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND);
    if (slow) {
        /* "received sent payload": packets of the last second, and the most bytes in one; the
         * kernel counts for a second before it answers. */
        char text[64];
        signed char state;
        uint64_t received, sent, payload;
        struct span span = amd_read_text(reader, "pcie_bw", text, sizeof text, &state);
        struct cursor cursor = cursor_over(span.bytes, span.size);
        struct value in = value_missing(state > 0 ? VITALS_FAILED : state), out = in;
        if (state > 0 && cursor_u64(&cursor, &received) && cursor_u64(&cursor, &sent) &&
            cursor_u64(&cursor, &payload) && payload <= 4096) {
            in = value_f64((double)received * (double)payload);
            out = value_f64((double)sent * (double)payload);
            in.state = out.state = VITALS_UPPER_BOUND;
        }
        gpu_fill(reader->sample, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, in);
        gpu_fill(reader->sample, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, out);
    }
    if (reader->device->partition >= 0) {
        amd_read_files(reader);
        amd_read_memory(reader);
        amd_read_partition(reader);
        fill_busy_seconds(reader);
        fill_client_engines(reader);
    } else if (slow) {
        read_card(reader);
    } else if (!amd_runtime_suspended(reader)) {
        read_card(reader);
        amd_keep(reader);
    }
}

void amd_sample(void *state, uint32_t slot, struct gpu_sample *out)
{
    struct amd *amd = state;
    struct amd_reader reader = {
        .os = &amd->context->os, .device = amd->devices[slot], .sample = out};
    const char *folder = reader.device->folder;
    char status[PCI_STATUS];
    gpu_fill_begin(out, os_now_ns(reader.os));
    if (!pci_exists(reader.os, folder, "vendor")) {
        gpu_fill_lose(out, VITALS_GONE);
    } else {
        bool is_asleep = pci_is_asleep(reader.os, folder, status);
        if (!is_asleep) {
            pci_fill(reader.os, folder, status, out);
            read_awake(&reader);
        }
        /* The driver may have refused a read because the card fell asleep during the sample. */
        if (is_asleep || (reader.refused && pci_is_asleep(reader.os, folder, status))) {
            lose(&reader, VITALS_SUSPENDED);
            pci_fill(reader.os, folder, status, out);
        }
    }
    gpu_fill_end(out);
}
