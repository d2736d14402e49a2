/* otlp_describe.c: see otlp.h. */
#include "export/otlp/otlp.h"

#include <stdio.h>
#include <string.h>

#include "export/keyed_hash.h"
#include "feed/rows.h"

static void add_text(struct otlp_attributes *attributes, const char *key, const vitals_row *row,
                     vitals_metric metric)
{
    vitals_text text;
    if (row != NULL && vitals_row_text(row, metric, &text) > 0)
        otlp_attribute_safe(attributes, key, text);
}

static void add_number(struct otlp_attributes *attributes, const char *key, const vitals_row *row,
                       vitals_metric metric)
{
    uint64_t number;
    if (row != NULL && vitals_row_u64(row, metric, &number) > 0)
        otlp_attribute_number(attributes, key, (int64_t)number);
}

static const vitals_row *parent_of(const vitals_row *row)
{
    uint64_t parent = vitals_row_parent(row);
    vitals_table entity = vitals_table_parent(vitals_row_table(row));
    return parent > 0 ? vitals_snapshot_find(vitals_row_snapshot(row), entity, parent) : NULL;
}

bool otlp_describe_device(struct otlp_attributes *attributes, const char *key,
                          const vitals_row *gpu)
{
    size_t before = attributes->count;
    add_text(attributes, key, gpu, VITALS_GPU_UUID);
    if (attributes->count == before)
        add_text(attributes, key, gpu, VITALS_GPU_PCI_BUS_ID);
    return attributes->count > before;
}

static void describe_device(struct otlp_attributes *attributes, const vitals_row *gpu)
{
    const vitals_row *parent = parent_of(gpu);
    char name[80];
    (void)otlp_describe_device(attributes, "hw.id", gpu);
    (void)snprintf(name, sizeof name, "GPU %.60s", vitals_row_label(gpu));
    otlp_attribute_safe(attributes, "hw.name", vitals_text_of(name));
    if (parent != NULL)
        (void)otlp_describe_device(attributes, "hw.parent", parent);
}

void otlp_describe_workload(struct otlp_attributes *attributes, const vitals_row *row,
                            vitals_metric metric, const struct otlp_look *look)
{
    static const char USER[] = "user:";
    enum { WHOLE = 120, KEPT = 100, USER_SIZE = sizeof USER - 1 };
    char words[KEPT + 32];
    vitals_text id;
    if (row == NULL || vitals_row_text(row, metric, &id) <= 0)
        return;
    unsigned long long hash = keyed_hash(id.bytes, id.size);
    if (look->options.user != EXPOSITION_USER_NAME && id.size > USER_SIZE &&
        memcmp(id.bytes, USER, USER_SIZE) == 0)
        id = (vitals_text){words, (size_t)snprintf(words, sizeof words, "%s%016llx", USER, hash)};
    else if (id.size > WHOLE)
        id = (vitals_text){
            words, (size_t)snprintf(words, sizeof words, "%.*s~%016llx", KEPT, id.bytes, hash)};
    otlp_attribute_safe(attributes, "vitals.workload", id);
}

/* A sensor is hardware whose parent is the device; so is the device's own temperature. */
static void describe_sensor(struct otlp_attributes *attributes, const vitals_row *row)
{
    bool whole = vitals_row_table(row) == VITALS_TABLE_GPU;
    const char *place = whole ? "gpu" : vitals_row_label(row);
    const vitals_row *gpu = whole ? row : parent_of(row);
    struct otlp_attributes device = {.count = 0};
    char id[200], name[200];
    if (gpu == NULL || !otlp_describe_device(&device, "hw.parent", gpu))
        return;
    (void)snprintf(id, sizeof id, "%.100s/%.24s", device.list[0].text, place);
    (void)snprintf(name, sizeof name, "GPU %.60s %.60s", vitals_row_label(gpu), place);
    otlp_attribute_safe(attributes, "hw.id", vitals_text_of(id));
    otlp_attribute_safe(attributes, "hw.name", vitals_text_of(name));
    (void)otlp_describe_device(attributes, "hw.parent", gpu);
    otlp_attribute_safe(attributes, "hw.sensor_location", vitals_text_of(place));
}

static void describe_gpu_process(struct otlp_attributes *attributes, const vitals_row *row,
                                 const struct otlp_look *look)
{
    const vitals_row *gpu = parent_of(row);
    if (gpu != NULL)
        (void)otlp_describe_device(attributes, "hw.id", gpu);
    add_number(attributes, "process.pid", row, VITALS_GPU_PROCESS_PID);
    otlp_describe_workload(attributes, row_process(row), VITALS_PROCESS_WORKLOAD, look);
    add_text(attributes, "vitals.gpu.process.type", row, VITALS_GPU_PROCESS_TYPE);
}

static void describe_workload(struct otlp_attributes *attributes, const vitals_row *row,
                              const struct otlp_look *look)
{
    static const struct {
        const char *key;
        vitals_metric metric;
    } PARTS[] = {
        {"vitals.workload.kind", VITALS_WORKLOAD_KIND},
        {"k8s.namespace.name", VITALS_WORKLOAD_K8S_NAMESPACE_NAME},
        {"k8s.pod.name", VITALS_WORKLOAD_K8S_POD_NAME},
        {"k8s.container.name", VITALS_WORKLOAD_K8S_CONTAINER_NAME},
        {"container.id", VITALS_WORKLOAD_CONTAINER_ID},
        {"vitals.slurm.job_id", VITALS_WORKLOAD_SLURM_JOB_ID},
        {"vitals.slurm.step_id", VITALS_WORKLOAD_SLURM_STEP_ID},
        {"vitals.slurm.sluid", VITALS_WORKLOAD_SLURM_SLUID},
        {"vitals.unit", VITALS_WORKLOAD_UNIT},
    };
    otlp_describe_workload(attributes, row, VITALS_WORKLOAD_ID, look);
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        add_text(attributes, PARTS[i].key, row, PARTS[i].metric);
}

void otlp_describe_job(struct otlp_attributes *attributes, const vitals_row *process,
                       const struct otlp_look *look)
{
    const vitals_row *row = NULL;
    vitals_text work, id;
    if (vitals_row_text(process, VITALS_PROCESS_WORKLOAD, &work) <= 0 || work.size == 0)
        return;
    while ((row = vitals_snapshot_next(vitals_row_snapshot(process), VITALS_TABLE_WORKLOAD, row)) !=
           NULL) {
        if (vitals_row_text(row, VITALS_WORKLOAD_ID, &id) > 0 && id.size == work.size &&
            memcmp(id.bytes, work.bytes, id.size) == 0)
            break;
    }
    if (row != NULL)
        describe_workload(attributes, row, look);
    else
        otlp_describe_workload(attributes, process, VITALS_PROCESS_WORKLOAD, look);
}

static void describe_subject(struct otlp_attributes *attributes, const vitals_row *row,
                             const struct otlp_source *source, const struct otlp_look *look)
{
    vitals_text label = vitals_text_of(vitals_row_label(row));
    const vitals_row *gpu;
    uint64_t read_only;
    switch (source->subject) {
    case OTLP_HOST: break;
    case OTLP_CPU: add_number(attributes, "cpu.logical_number", row, VITALS_CPU_INDEX); break;
    case OTLP_DISK:
    case OTLP_NETWORK_DEVICE: otlp_attribute_safe(attributes, "system.device", label); break;
    case OTLP_INTERFACE: otlp_attribute_safe(attributes, "network.interface.name", label); break;
    case OTLP_FILESYSTEM:
        add_text(attributes, "system.device", row, VITALS_FILESYSTEM_DEVICE);
        add_text(attributes, "system.filesystem.mountpoint", row, VITALS_FILESYSTEM_MOUNT_POINT);
        add_text(attributes, "system.filesystem.type", row, VITALS_FILESYSTEM_TYPE);
        if (vitals_row_u64(row, VITALS_FILESYSTEM_READ_ONLY, &read_only) > 0)
            otlp_attribute_text(attributes, "system.filesystem.mode", read_only > 0 ? "ro" : "rw");
        break;
    case OTLP_PRESSURE:
        add_text(attributes, "vitals.resource", row, VITALS_PRESSURE_RESOURCE);
        add_text(attributes, "vitals.scope", row, VITALS_PRESSURE_SCOPE);
        break;
    case OTLP_GPU:
        gpu = source->only != NULL ? parent_of(row) : row;
        if (gpu == NULL)
            break;
        describe_device(attributes, gpu);
        add_text(attributes, "hw.model", gpu, VITALS_GPU_NAME);
        add_text(attributes, "hw.vendor", gpu, VITALS_GPU_VENDOR);
        add_text(attributes, "hw.driver_version", gpu, VITALS_GPU_DRIVER_VERSION);
        break;
    case OTLP_HARDWARE: otlp_attribute_text(attributes, "hw.type", "gpu"); /* fall through */
    case OTLP_OUR_GPU: describe_device(attributes, row); break;
    case OTLP_GPU_PART:
        gpu = parent_of(row);
        if (gpu != NULL)
            describe_device(attributes, gpu);
        otlp_attribute_safe(attributes, source->part, label);
        break;
    case OTLP_GPU_SENSOR: describe_sensor(attributes, row); break;
    case OTLP_PROCESS:
        add_number(attributes, "process.pid", row, VITALS_PROCESS_PID);
        add_text(attributes, "process.executable.name", row, VITALS_PROCESS_NAME);
        otlp_describe_workload(attributes, row, VITALS_PROCESS_WORKLOAD, look);
        break;
    case OTLP_GPU_PROCESS: describe_gpu_process(attributes, row, look); break;
    case OTLP_WORKLOAD: describe_workload(attributes, row, look); break;
    }
}

void otlp_describe(struct otlp_attributes *attributes, const vitals_row *row,
                   const struct otlp_source *source, const struct otlp_look *look)
{
    describe_subject(attributes, row, source, look);

    /* A user's name is exported only if that was requested. Its hash is the same until this program
     * ends, and its key is random, so names cannot be tried. */
    vitals_table entity = vitals_row_table(row);
    vitals_metric user = entity == VITALS_TABLE_PROCESS    ? VITALS_PROCESS_USER
                         : entity == VITALS_TABLE_WORKLOAD ? VITALS_WORKLOAD_USER
                                                           : 0;
    vitals_text name;
    char hash[32];
    if (user != 0 && look->options.user == EXPOSITION_USER_NAME)
        add_text(attributes, "process.owner", row, user);
    if (user != 0 && look->options.user == EXPOSITION_USER_HASH &&
        vitals_row_text(row, user, &name) > 0 && name.size > 0) {
        (void)snprintf(hash, sizeof hash, "%016llx",
                       (unsigned long long)keyed_hash(name.bytes, name.size));
        otlp_attribute_safe(attributes, "process.owner", vitals_text_of(hash));
    }
    if (entity == VITALS_TABLE_PROCESS && look->options.user == EXPOSITION_USER_UID)
        add_number(attributes, "process.owner", row, VITALS_PROCESS_UID);
    otlp_attribute_text(attributes, source->key, source->constant);
}
