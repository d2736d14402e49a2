/* files.c: reads one file of a card and interprets its errors; readings that have a file of their
 * own, and the constant properties of the card. Thread rule: a worker's; the driver may ask the
 * card's firmware. */
#include "gpu/amd/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

vitals_availability amd_availability(struct amd_reader *reader, int error)
{
    switch (error < 0 ? -error : error) {
    case ENOENT:
    case ENAMETOOLONG:
    case ENODATA:
    case EINVAL:
    case ENOSYS:
    case EOPNOTSUPP: return VITALS_UNSUPPORTED;
    case EPERM:
    case EBUSY: reader->refused = true; return VITALS_FAILED;
    default: return os_availability(error);
    }
}

struct value amd_read_number(struct amd_reader *reader, const char *file)
{
    uint64_t number;
    int result = pci_number(reader->os, reader->device->folder, file, &number);
    return result == 0 ? value_u64(number) : value_missing(amd_availability(reader, result));
}

struct value amd_read_scaled(struct amd_reader *reader, const char *file, double factor,
                             uint64_t most)
{
    struct value number = amd_read_number(reader, file);
    return number.state > 0 ? gpu_fill_scaled(number.as.u64, factor, most) : number;
}

struct span amd_read_text(struct amd_reader *reader, const char *file, char *out, size_t capacity,
                          signed char *state)
{
    int result = pci_text(reader->os, reader->device->folder, file, out, capacity);
    *state = VITALS_HAVE;
    if (result == -EFBIG)
        *state = VITALS_LOWER_BOUND;
    else if (result < 0)
        *state = (signed char)amd_availability(reader, result);
    else if (out[0] == '\0') /* the driver reports nothing */
        *state = VITALS_UNSUPPORTED;
    return (struct span){out, *state > 0 ? strlen(out) : 0};
}

/* Van Gogh counts activity in percent, other processors in hundredths of it (the kernel's
 * vangogh_ppt.c divides for its first firmware alone, which wrote no record 2.4). A record does not
 * tell the firmware, so that a number up to 100 is an estimate before 2.4. */
static void scale_activity(struct amd_reader *reader)
{
    static const enum amd_number RATIOS[] = {AMD_GFX_RATIO, AMD_VIDEO_RATIO};
    struct value device = amd_read_number(reader, "device");
    if (reader->room.format != 2 || device.state <= 0 ||
        (device.as.u64 != 0x163f && device.as.u64 != 0x1435))
        return;
    bool percent = reader->room.content >= 4;
    for (size_t i = 0; i < ARRAY_COUNT(RATIOS); i++) {
        struct value *ratio = &reader->room.numbers[RATIOS[i]];
        if (ratio->state <= 0 || (!percent && ratio->as.f64 > 0.01))
            continue;
        ratio->as.f64 *= 100;
        ratio->state = ratio->as.f64 > 1 ? VITALS_FAILED : percent ? VITALS_HAVE : VITALS_ESTIMATE;
    }
}

/* Firmware of revision 3.0 counts the graphics engine's activity in percent, up to 0x5d4600 in
 * hundredths of it. */
static void scale_graphics(struct amd_reader *reader)
{
    static const uint64_t LAST_IN_HUNDREDTHS = 0x5d4600;
    struct value *ratio = &reader->room.numbers[AMD_GFX_RATIO];
    if (reader->room.format != 3 || ratio->state <= 0)
        return;
    struct value firmware = amd_read_number(reader, "fw_version/smc_fw_version");
    if (firmware.state > 0 && firmware.as.u64 <= LAST_IN_HUNDREDTHS)
        return;
    ratio->as.f64 *= 100;
    if (ratio->as.f64 > 1)
        ratio->state = VITALS_FAILED;
    else if (firmware.state <= 0)
        ratio->state = VITALS_ESTIMATE;
}

const struct amd_metrics *amd_record(struct amd_reader *reader)
{
    char path[OS_SYS_PATH], bytes[4096];
    size_t size;
    if (reader->record_known)
        return reader->record;
    reader->record_known = true;
    if (!pci_path(path, reader->device->folder, "gpu_metrics"))
        return NULL;
    int result = os_sys_bytes(reader->os, path, bytes, sizeof bytes, &size);
    if (result < 0 && result != -EFBIG) {
        (void)amd_availability(reader, result);
    } else if (amd_metrics_parse(bytes, size, &reader->room)) {
        scale_activity(reader);
        scale_graphics(reader);
        reader->record = &reader->room;
    }
    return reader->record;
}

bool amd_has_child(const struct amd_reader *reader, vitals_metric metric, const char *label)
{
    const struct batch_cell *cell = gpu_fill_find(reader->sample, metric, label);
    return cell != NULL && cell->state > 0;
}

void amd_list_child(struct amd_reader *reader, vitals_metric metric, const char *label)
{
    if (!amd_wants(reader, metric))
        gpu_fill_child(reader->sample, metric, label, value_missing(VITALS_NOT_REQUESTED));
}

/* ---- readings ---- */

static const struct {
    vitals_metric metric;
    const char *file;
    double factor;
    uint64_t most;
} ratios[] = {
    {VITALS_GPU_UTILIZATION_RATIO, "gpu_busy_percent", 0.01, 100},
    {VITALS_GPU_MEMORY_BUSY_RATIO, "mem_busy_percent", 0.01, 100},
};

static const struct {
    vitals_metric metric;
    const char *file;
} texts[] = {
    {VITALS_GPU_SERIAL, "serial_number"},
    {VITALS_GPU_VBIOS_VERSION, "vbios_version"},
    {VITALS_GPU_BOARD_PART_NUMBER, "product_number"},
    {VITALS_GPU_PERFORMANCE_LEVEL, "power_dpm_force_performance_level"},
    {VITALS_GPU_COMPUTE_PARTITION, "current_compute_partition"},
    {VITALS_GPU_MEMORY_PARTITION, "current_memory_partition"},
};

static void fill_u64(struct amd_reader *reader, vitals_metric metric, uint64_t number)
{
    if (number > 0)
        gpu_fill(reader->sample, metric, value_u64(number));
}

static void fill_node(struct amd_reader *reader)
{
    const struct amd_device *device = reader->device;
    char path[64], architecture[KFD_ARCHITECTURE];
    uint32_t minor = 0;
    uint64_t units = 0;
    for (uint32_t i = 0; i < device->who.node_count; i++)
        if (device->who.nodes[i].minor > minor) /* render nodes come after card nodes */
            minor = device->who.nodes[i].minor;
    if (device->who.node_count > 0) {
        snprintf(path, sizeof path, "/dev/dri/%s%u", minor >= 128 ? "renderD" : "card", minor);
        gpu_fill_text(reader->sample, VITALS_GPU_DEVICE_NODE, path);
    }

    if (device->node_count == 0)
        return;
    for (uint32_t i = 0; i < device->node_count; i++)
        units = saturating_add(units, kfd_compute_units(&device->nodes[i].properties));
    fill_u64(reader, VITALS_GPU_MULTIPROCESSORS, units);
    kfd_architecture(device->nodes[0].properties.gfx_target_version, architecture);
    if (architecture[0] != '\0')
        gpu_fill_text(reader->sample, VITALS_GPU_ARCHITECTURE, architecture);
    if (amd_wants(reader, VITALS_GPU_MEMORY_BUS_BITS)) {
        struct kfd_memory memory;
        kfd_read_memory(reader->os, device->nodes[0].number, &memory);
        fill_u64(reader, VITALS_GPU_MEMORY_BUS_BITS, memory.bits);
    }
}

/* The connectors of the first card: "card0-DP-1" below drm/card0. */
static void fill_displays(struct amd_reader *reader)
{
    const char *folder = reader->device->folder;
    struct os_sys_names cards, names;
    const char *card, *name;
    bool any = false, attached = false, active = false;
    if (!amd_wants(reader, VITALS_GPU_DISPLAY_ATTACHED) &&
        !amd_wants(reader, VITALS_GPU_DISPLAY_ACTIVE))
        return;
    os_sys_names(&cards, reader->os, "%s/drm", folder);
    while ((card = os_sys_next(&cards)) != NULL && strncmp(card, "card", 4) != 0)
        continue;
    if (card == NULL)
        return;
    os_sys_names(&names, reader->os, "%s/drm/%s", folder, card);
    while ((name = os_sys_next(&names)) != NULL) {
        char file[OS_SYS_NAME * 3], text[32];
        signed char state;
        if (strncmp(name, "card", 4) != 0 || strchr(name, '-') == NULL)
            continue;
        any = true;
        snprintf(file, sizeof file, "drm/%s/%s/status", card, name);
        attached |= span_equal(amd_read_text(reader, file, text, sizeof text, &state), "connected");
        snprintf(file, sizeof file, "drm/%s/%s/enabled", card, name);
        active |= span_equal(amd_read_text(reader, file, text, sizeof text, &state), "enabled");
    }
    if (!any)
        return;
    gpu_fill(reader->sample, VITALS_GPU_DISPLAY_ATTACHED, value_u64(attached));
    gpu_fill(reader->sample, VITALS_GPU_DISPLAY_ACTIVE, value_u64(active));
}

void amd_read_files(struct amd_reader *reader)
{
    fill_node(reader);
    if (reader->device->partition >= 0) {
        gpu_fill_text(reader->sample, VITALS_GPU_PARTITION_KIND, "xcp");
        return;
    }

    bool of_engine = gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_ENGINE);
    bool of_busy = amd_wants(reader, VITALS_GPU_BUSY_SECONDS);
    for (size_t i = 0; i < ARRAY_COUNT(ratios); i++) {
        bool first = i == 0 && (of_engine || of_busy);
        if (!first && !amd_wants(reader, ratios[i].metric))
            continue;
        struct value value = amd_read_scaled(reader, ratios[i].file, ratios[i].factor,
                                             ratios[i].most);
        if (i == 0 && value.state > 0 && value.as.f64 >= 1.0) {
            /* Raven, Raven 2 and Picasso report 100 % even when idle (seen by users of nvtop and
             * btop). */
            struct value device = amd_read_number(reader, "device");
            if (device.state > 0 && (device.as.u64 == 0x15dd || device.as.u64 == 0x15d8))
                value.state = VITALS_UPPER_BOUND;
        }
        if (i == 0)
            reader->utilization = value;
        if (value.state != VITALS_UNSUPPORTED)
            gpu_fill(reader->sample, ratios[i].metric, value);
    }

    if (amd_wants(reader, VITALS_GPU_PCIE_REPLAYS)) {
        struct value replays = amd_read_number(reader, "pcie_replay_count");
        if (replays.state != VITALS_UNSUPPORTED)
            gpu_fill(reader->sample, VITALS_GPU_PCIE_REPLAYS, replays);
    }

    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        char text[GPU_NAME];
        signed char state;
        if (!amd_wants(reader, texts[i].metric))
            continue;
        (void)amd_read_text(reader, texts[i].file, text, sizeof text, &state);
        if (state > 0)
            gpu_fill_text(reader->sample, texts[i].metric, text);
        else
            gpu_fill(reader->sample, texts[i].metric, value_missing(state));
    }
    fill_displays(reader);
}
