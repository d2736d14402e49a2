/*
 * identity.c - answers about what is there: the library, counts, places on the bus, instances,
 * topology. No measurement.
 */
#include "call.h"

#include <stdio.h>
#include <string.h>

/* -- the library ----------------------------------------------------------------------------------
 */

nvml_return answer_nvmlSystemGetDriverVersion(struct call *call, char *text, unsigned size)
{
    return answer_text(call, &call->scenario->driver_version, text, size);
}

nvml_return answer_nvmlSystemGetNVMLVersion(struct call *call, char *text, unsigned size)
{
    return answer_text(call, &call->scenario->nvml_version, text, size);
}

nvml_return answer_nvmlSystemGetCudaDriverVersion(struct call *call, int *version)
{
    uint64_t number;
    if (!version)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = value_peek(&call->scenario->cuda_version, 0, &number);
    if (result == NVML_SUCCESS)
        *version = (int)number;
    return result;
}

nvml_return answer_nvmlSystemGetCudaDriverVersion_v2(struct call *call, int *version)
{
    return answer_nvmlSystemGetCudaDriverVersion(call, version);
}

nvml_return answer_nvmlSystemGetDriverBranch(struct call *call, struct nvml_driver_branch *branch,
                                             unsigned size)
{
    if (!branch || size > sizeof branch->branch)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (branch->version != NVML_STRUCT_VERSION(struct nvml_driver_branch, 1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return answer_text(call, &call->scenario->driver_branch, branch->branch, size);
}

/* The scenario's name of the process, else the first word of its command line. */
nvml_return answer_nvmlSystemGetProcessName(struct call *call, unsigned pid, char *text,
                                            unsigned size)
{
    for (size_t i = 0; i < call->scenario->process_count; i++) {
        struct process *process = &call->scenario->processes[i];
        if (process->pid == pid && process->name.kind != VALUE_UNSET)
            return answer_text(call, &process->name, text, size);
    }
    char path[64], name[1024] = "";
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return NVML_ERROR_NOT_FOUND;
    size_t got = fread(name, 1, sizeof name - 1, file);
    name[got] = '\0';
    fclose(file);
    return answer_text(call, &(struct value){.kind = VALUE_TEXT, .text = name}, text, size);
}

nvml_return answer_nvmlUnitGetCount(struct call *call, unsigned *count)
{
    (void)call;
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetCount(struct call *call, unsigned *count)
{
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = call->scenario->gpu_count;
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetCount_v2(struct call *call, unsigned *count)
{
    return answer_nvmlDeviceGetCount(call, count);
}

/* -- places ---------------------------------------------------------------------------------------
 */

nvml_return answer_nvmlDeviceGetIndex(struct call *call, unsigned *index)
{
    if (!index)
        return NVML_ERROR_INVALID_ARGUMENT;
    *index = (unsigned)(call->mig < 0 ? call->gpu : call->mig);
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetPciInfoExt(struct call *call, struct nvml_pci_info_extended *info)
{
    const struct value *bus_id = &call->device->fields[FIELD_BUS_ID];
    if (!info)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (info->version != NVML_STRUCT_VERSION(struct nvml_pci_info_extended, 1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvml_return result = answer_text(call, bus_id, info->bus_id, sizeof info->bus_id);
    if (result != NVML_SUCCESS)
        return result;
    info->domain = info->bus = info->device = info->pci_device_id = info->pci_subsystem_id = 0;
    sscanf(bus_id->text, "%x:%x:%x", &info->domain, &info->bus, &info->device);
    answer_number(call, FIELD_PCI_DEVICE_ID, &info->pci_device_id);
    answer_number(call, FIELD_PCI_SUBSYSTEM_ID, &info->pci_subsystem_id);
    info->base_class = 3; /* a display controller */
    info->sub_class = 2;  /* without a display */
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetPciInfo_v3(struct call *call, struct nvml_pci_info *info)
{
    struct nvml_pci_info_extended all = {
        .version = NVML_STRUCT_VERSION(struct nvml_pci_info_extended, 1)};
    if (!info)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = answer_nvmlDeviceGetPciInfoExt(call, &all);
    if (result != NVML_SUCCESS)
        return result;
    *info = (struct nvml_pci_info){.domain = all.domain,
                                   .bus = all.bus,
                                   .device = all.device,
                                   .pci_device_id = all.pci_device_id,
                                   .pci_subsystem_id = all.pci_subsystem_id};
    memcpy(info->bus_id, all.bus_id, sizeof info->bus_id);
    snprintf(info->bus_id_short, sizeof info->bus_id_short, "%04X:%02X:%02X.0", all.domain & 0xffff,
             all.bus & 0xff, all.device & 0xff);
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetPciInfo_v2(struct call *call, struct nvml_pci_info_v2 *info)
{
    struct nvml_pci_info all;
    if (!info)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = answer_nvmlDeviceGetPciInfo_v3(call, &all);
    if (result != NVML_SUCCESS)
        return result;
    *info = (struct nvml_pci_info_v2){.domain = all.domain,
                                      .bus = all.bus,
                                      .device = all.device,
                                      .pci_device_id = all.pci_device_id,
                                      .pci_subsystem_id = all.pci_subsystem_id};
    memcpy(info->bus_id, all.bus_id_short, sizeof info->bus_id);
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetPciInfo(struct call *call, struct nvml_pci_info_v2 *info)
{
    return answer_nvmlDeviceGetPciInfo_v2(call, info);
}

nvml_return answer_nvmlDeviceGetGspFirmwareVersion(struct call *call, char *text)
{
    return answer_text(call, &call->device->fields[FIELD_GSP_VERSION], text, 64);
}

nvml_return answer_nvmlDeviceGetCpuAffinity(struct call *call, unsigned size, unsigned long *set)
{
    uint64_t mask, words = 1;
    if (!set || size == 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = read_field(call, FIELD_CPU_AFFINITY, &mask);
    if (result == NVML_SUCCESS)
        result = read_field(call, FIELD_CPU_AFFINITY_WORDS, &words);
    for (unsigned i = 0; i < size && result == NVML_SUCCESS; i++)
        set[i] = i < words ? (unsigned long)mask : 0;
    return result;
}

/* -- instances ------------------------------------------------------------------------------------
 */

nvml_return answer_nvmlDeviceIsMigDeviceHandle(struct call *call, unsigned *yes)
{
    if (!yes)
        return NVML_ERROR_INVALID_ARGUMENT;
    *yes = call->mig >= 0;
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetMigDeviceHandleByIndex(struct call *call, unsigned index,
                                                       nvml_device *instance)
{
    uint64_t limit;
    if (!instance || call->mig >= 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = read_field(call, FIELD_MIG_MAX, &limit);
    if (result != NVML_SUCCESS)
        return result;
    if (index >= limit || index >= MIGS_MAX)
        return NVML_ERROR_INVALID_ARGUMENT;
    const struct device *device = scenario_find(call->scenario, call->gpu, (int)index);
    if (!device)
        return NVML_ERROR_NOT_FOUND;
    *instance = handle_of(device);
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct call *call,
                                                                nvml_device *parent)
{
    if (!parent || call->mig < 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    *parent = handle_of(scenario_find(call->scenario, call->gpu, -1));
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetAttributes_v2(struct call *call, struct nvml_attributes *attributes)
{
    struct nvml_attributes all = {.memory_mib = 0};
    const struct {
        enum device_field field;
        unsigned *out;
    } rows[] = {
        {FIELD_ATTRIBUTE_MULTIPROCESSORS, &all.multiprocessors},
        {FIELD_ATTRIBUTE_COPY_ENGINES, &all.copy_engines},
        {FIELD_ATTRIBUTE_DECODERS, &all.decoders},
        {FIELD_ATTRIBUTE_ENCODERS, &all.encoders},
        {FIELD_ATTRIBUTE_JPEGS, &all.jpegs},
        {FIELD_ATTRIBUTE_OFAS, &all.ofas},
        {FIELD_ATTRIBUTE_GPU_SLICES, &all.gpu_slices},
        {FIELD_ATTRIBUTE_COMPUTE_SLICES, &all.compute_slices},
    };
    if (!attributes)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nvml_return result = answer_number(call, rows[i].field, rows[i].out);
        if (result != NVML_SUCCESS)
            return result;
    }
    if (read_field(call, FIELD_MEMORY_TOTAL, &all.memory_mib) == NVML_SUCCESS)
        all.memory_mib >>= 20;
    *attributes = all;
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetAttributes(struct call *call, struct nvml_attributes *attributes)
{
    return answer_nvmlDeviceGetAttributes_v2(call, attributes);
}

/* -- topology: one level between any two GPUs
 * ------------------------------------------------------ */

nvml_return answer_nvmlDeviceGetTopologyCommonAncestor(struct call *call, nvml_device other,
                                                       unsigned *level)
{
    const struct device *device = device_of(call->scenario, other);
    if (!level || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    *level = device == call->device ? 0 : call->scenario->topology_level;
    return NVML_SUCCESS;
}

/* Every GPU but `except`, by the two-call pattern whose size query succeeds. */
static nvml_return list_gpus(struct call *call, int except, unsigned *count, nvml_device *devices)
{
    unsigned found = 0;
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < call->scenario->device_count; i++) {
        const struct device *device = call->scenario->devices[i];
        if (device->mig >= 0 || device->gpu == except)
            continue;
        if (devices && found < *count)
            devices[found] = handle_of(device);
        found++;
    }
    *count = found;
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetTopologyNearestGpus(struct call *call, unsigned level,
                                                    unsigned *count, nvml_device *devices)
{
    if (count && level != call->scenario->topology_level) {
        *count = 0;
        return NVML_SUCCESS;
    }
    return list_gpus(call, call->gpu, count, devices);
}

nvml_return answer_nvmlSystemGetTopologyGpuSet(struct call *call, unsigned cpu, unsigned *count,
                                               nvml_device *devices)
{
    (void)cpu;
    return list_gpus(call, -1, count, devices);
}

nvml_return answer_nvmlDeviceGetP2PStatus(struct call *call, nvml_device other, unsigned capability,
                                          unsigned *status)
{
    if (!status || !device_of(call->scenario, other) || capability > 4)
        return NVML_ERROR_INVALID_ARGUMENT;
    *status = 0;
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceOnSameBoard(struct call *call, nvml_device other, int *same)
{
    const struct device *device = device_of(call->scenario, other);
    if (!same || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    *same = device == call->device;
    return NVML_SUCCESS;
}
