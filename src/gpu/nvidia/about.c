/* about.c: constant properties of a device that are not part of its identity. */
#include "gpu/nvidia/reader.h"

#include "gpu/pci.h"

#include <stdio.h>
#include <string.h>

enum { MULTIPROCESSORS_MAX = 4096 };

struct about_text {
    vitals_metric metric;
    size_t function; /* in struct nvml: an nvml_text_call */
};
static const struct about_text texts[] = {
    {VITALS_GPU_SERIAL, offsetof(struct nvml, nvmlDeviceGetSerial)},
    {VITALS_GPU_VBIOS_VERSION, offsetof(struct nvml, nvmlDeviceGetVbiosVersion)},
    {VITALS_GPU_BOARD_PART_NUMBER, offsetof(struct nvml, nvmlDeviceGetBoardPartNumber)},
};

struct about_words {
    vitals_metric metric;
    size_t function; /* in struct nvml: an nvml_u32_call */
    const char *const *words;
    size_t count;
};
static const char *const architectures[] = {
    [2] = "kepler", [3] = "maxwell", [4] = "pascal", [5] = "volta",      [6] = "turing",
    [7] = "ampere", [8] = "ada",     [9] = "hopper", [10] = "blackwell", [13] = "rubin"};
static const char *const brands[] = {
    [1] = "quadro",      [2] = "tesla",   [3] = "nvs",          [4] = "grid",
    [5] = "geforce",     [6] = "titan",   [7] = "vapps",        [8] = "vpc",
    [9] = "vcs",         [10] = "vws",    [11] = "vgaming",     [12] = "quadro_rtx",
    [13] = "nvidia_rtx", [14] = "nvidia", [15] = "geforce_rtx", [16] = "titan_rtx",
    [18] = "vgamedev"};
static const struct about_words words[] = {
    {VITALS_GPU_ARCHITECTURE, offsetof(struct nvml, nvmlDeviceGetArchitecture), architectures,
     ARRAY_COUNT(architectures)},
    {VITALS_GPU_BRAND, offsetof(struct nvml, nvmlDeviceGetBrand), brands, ARRAY_COUNT(brands)},
};

void nvidia_read_texts(struct nvidia_reader *reader)
{
    for (size_t i = 0; i < ARRAY_COUNT(texts) && !reader->lost; i++) {
        nvml_text_call *call;
        char bytes[GPU_NAME] = "";
        if (!reader_wants(reader, texts[i].metric))
            continue;
        memcpy(&call, (const char *)reader->nvml + texts[i].function, sizeof call);
        nvml_return code = nvidia_absence(reader->device, texts[i].function, 0);
        if (code == NVML_SUCCESS)
            code = call ? call(reader->handle, bytes, sizeof bytes)
                        : (nvml_return)NVML_FUNCTION_NOT_FOUND;
        (void)nvidia_note(reader->device, texts[i].function, 0, code);
        bytes[sizeof bytes - 1] = '\0';
        reader_set_text(reader, texts[i].metric, code, bytes);
    }
    for (size_t i = 0; i < ARRAY_COUNT(words) && !reader->lost; i++) {
        unsigned number;
        char text[16]; /* a number without a name stays a number */
        if (!reader_wants(reader, words[i].metric))
            continue;
        nvml_return code = reader_call_u32(reader, words[i].function, &number);
        if (code == NVML_SUCCESS && (number == NVML_NOT_AVAILABLE_32 || number == 0))
            code = NVML_NOT_SUPPORTED;
        bool known = number < words[i].count && words[i].words[number];
        snprintf(text, sizeof text, "%u", number);
        reader_set_text(reader, words[i].metric, code, known ? words[i].words[number] : text);
    }
}

/* A number of cores that is not the expected multiple of the multiprocessors is implausible. */
void nvidia_read_multiprocessors(struct nvidia_reader *reader)
{
    /* Cores for each multiprocessor: NVIDIA's table by compute capability. */
    static const struct {
        unsigned major, minor, cores;
    } rows[] = {{3, 0, 192},  {3, 5, 192},  {3, 7, 192},  {5, 0, 128},  {5, 2, 128}, {5, 3, 128},
                {6, 0, 64},   {6, 1, 128},  {6, 2, 128},  {7, 0, 64},   {7, 2, 64},  {7, 5, 64},
                {8, 0, 64},   {8, 6, 128},  {8, 7, 128},  {8, 9, 128},  {9, 0, 128}, {10, 0, 128},
                {10, 1, 128}, {10, 3, 128}, {11, 0, 128}, {12, 0, 128}, {12, 1, 128}};
    const unsigned *capability = reader->device->capability;
    unsigned cores = 0, each = 0;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (rows[i].major == capability[0] && rows[i].minor == capability[1])
            each = rows[i].cores;
    }
    if (each == 0) /* a newer capability */
        return;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetNumGpuCores, &cores);
    bool fits = cores != 0 && cores % each == 0 && cores / each <= MULTIPROCESSORS_MAX;
    reader_set(reader, VITALS_GPU_MULTIPROCESSORS, code,
               fits ? value_u64(cores / each) : value_missing(VITALS_FAILED));
}

/* Fills in values that the scan read, and those that the kernel reports. */
void nvidia_read_place(struct nvidia_reader *reader)
{
    const struct nvidia_device *device = reader->device;
    char text[32], folder[OS_SYS_PATH];
    if (device->capability[0] != 0) {
        snprintf(text, sizeof text, "%u.%u", device->capability[0], device->capability[1]);
        reader_set_text(reader, VITALS_GPU_COMPUTE_CAPABILITY, NVML_SUCCESS, text);
    }
    if (device->has_node) {
        snprintf(text, sizeof text, "/dev/nvidia%u", device->minor);
        reader_set_text(reader, VITALS_GPU_DEVICE_NODE, NVML_SUCCESS, text);
    }
    if (device->partition || !device->bus_id[0])
        return;
    pci_folder(folder, device->bus_id);
    pci_fill(&reader->nvidia->context->os, folder, reader->status, reader->sample);
}

static bool is_missing(const struct nvidia_reader *reader, vitals_metric metric)
{
    const struct batch_cell *cell = gpu_fill_find(reader->sample, metric, "");
    return reader_wants(reader, metric) && (!cell || cell->state <= 0);
}

/* Writes the numbers of the set bits: "0-15,32-47". Returns false if there is no room for all. */
static bool print_set(const unsigned long *set, unsigned bits, char *out, size_t capacity)
{
    enum { WORD = 8 * sizeof *set };
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < bits; i++) {
        unsigned first = i;
        while (i < bits && (set[i / WORD] >> i % WORD & 1) != 0)
            i++;
        if (i == first)
            continue;
        int size = snprintf(out + used, capacity - used, i - first > 1 ? "%s%u-%u" : "%s%u",
                            used > 0 ? "," : "", first, i - 1);
        used += (size_t)size;
        if (used >= capacity)
            return false;
    }
    return true;
}

/* Where sysfs is not there, as in some containers, the driver knows these too. */
void nvidia_read_place_of_driver(struct nvidia_reader *reader)
{
    enum { CPUS_MAX = 1024 };
    const struct {
        vitals_metric metric;
        unsigned both;
    } pairs[] = {{VITALS_GPU_PCI_ID, reader->device->pci_id},
                 {VITALS_GPU_PCI_SUBSYSTEM_ID, reader->device->pci_subsystem_id}};
    char text[16], cpus[GPU_TEXT];
    for (size_t i = 0; i < ARRAY_COUNT(pairs); i++) {
        if (pairs[i].both == 0 || !is_missing(reader, pairs[i].metric))
            continue;
        snprintf(text, sizeof text, "%04x:%04x", pairs[i].both & 0xffff, pairs[i].both >> 16);
        reader_set_text(reader, pairs[i].metric, NVML_SUCCESS, text);
    }
    if (!is_missing(reader, VITALS_GPU_LOCAL_CPUS))
        return;
    unsigned long set[CPUS_MAX / 8 / sizeof(unsigned long)] = {0};
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetCpuAffinity, ARRAY_COUNT(set), set);
    if (code == NVML_SUCCESS && print_set(set, CPUS_MAX, cpus, sizeof cpus) && cpus[0] != '\0')
        reader_set_text(reader, VITALS_GPU_LOCAL_CPUS, code, cpus);
}

void nvidia_read_partition(struct nvidia_reader *reader)
{
    if (!reader->device->partition)
        return;
    reader_set_text(reader, VITALS_GPU_PARTITION_KIND, NVML_SUCCESS, "mig");
    if (!reader_wants(reader, VITALS_GPU_MULTIPROCESSORS))
        return;
    struct nvml_attributes has = {0};
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetAttributes_v2, &has);
    reader_set(reader, VITALS_GPU_MULTIPROCESSORS, code,
               nvml_count(has.multiprocessors, MULTIPROCESSORS_MAX));
}
