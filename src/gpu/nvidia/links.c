/* links.c: the NVLinks of a device, one row each. Their number is queried once. The traffic of all
 * of them is read in one call. */
#include "gpu/nvidia/reader.h"

#include <stdio.h>
#include <string.h>

enum { KIB = 1024, MEGA = 1000000, SPEED_MAX = 1 << 24, LABELS = NVIDIA_LINKS_MAX };

struct links {
    unsigned count;
    char labels[LABELS][GPU_LABEL];
};

static void read_choice(struct nvidia_reader *reader, const struct links *links,
                        vitals_metric metric, size_t function, unsigned most)
{
    for (unsigned i = 0; i < links->count && !reader->lost; i++) {
        unsigned number;
        nvml_return code = reader_call_choice(reader, function, i, &number);
        /* 0 is off; active, sleeping and idle links are all up */
        uint64_t shown = metric == VITALS_GPU_LINK_ACTIVE && number <= most ? number != 0 : number;
        reader_set_child(reader, metric, links->labels[i], code, nvml_count(shown, most));
    }
}

static void set_text(struct nvidia_reader *reader, vitals_metric metric, const char *label,
                     nvml_return code, const char *text)
{
    if (reader_check(reader, code) == NVML_SUCCESS)
        gpu_fill_child_text(reader->sample, metric, label, text);
    else
        gpu_fill_child(reader->sample, metric, label, value_missing(nvml_availability(code)));
}

static void read_errors(struct nvidia_reader *reader, unsigned link, const char *label)
{
    static const struct {
        vitals_metric metric;
        unsigned counter;
    } rows[] = {{VITALS_GPU_LINK_REPLAY_ERRORS, NVML_LINK_REPLAY},
                {VITALS_GPU_LINK_RECOVERY_ERRORS, NVML_LINK_RECOVERY},
                {VITALS_GPU_LINK_CRC_ERRORS, NVML_LINK_CRC_FLIT}};
    for (size_t i = 0; i < ARRAY_COUNT(rows) && !reader->lost; i++) {
        if (!reader_wants(reader, rows[i].metric))
            continue;
        uint64_t errors = 0;
        nvml_return code = READER_ASK(reader, link * 3 + rows[i].counter,
                                      nvmlDeviceGetNvLinkErrorCounter, link, rows[i].counter,
                                      &errors);
        reader_set_child(reader, rows[i].metric, label, code, nvml_count(errors, EXACT_MAX));
    }
}

static const struct link_column {
    vitals_metric metric;
    unsigned field;
    double factor;
    uint64_t most;
} columns[] = {
    {VITALS_GPU_LINK_TRANSMITTED_BYTES, NVML_FIELD_LINK_TRANSMITTED, KIB, EXACT_MAX / KIB},
    {VITALS_GPU_LINK_RECEIVED_BYTES, NVML_FIELD_LINK_RECEIVED, KIB, EXACT_MAX / KIB},
    {VITALS_GPU_LINK_SPEED_BYTES_PER_SECOND, NVML_FIELD_LINK_SPEED, MEGA, SPEED_MAX},
};

static void read_traffic(struct nvidia_reader *reader, const struct links *links)
{
    struct nvml_field_value fields[ARRAY_COUNT(columns) * LABELS + 1];
    const struct link_column *of[ARRAY_COUNT(columns) * LABELS];
    int count = 0;
    for (size_t c = 0; c < ARRAY_COUNT(columns); c++) {
        for (unsigned i = 0; i < links->count && reader_wants(reader, columns[c].metric); i++) {
            of[count] = &columns[c];
            fields[count++] = (struct nvml_field_value){.field = columns[c].field, .scope = i};
        }
    }
    if (count == 0)
        return;
    bool no_speed = false;
    reader_call_fields(reader, fields, count);
    for (int i = 0; i < count; i++) {
        nvml_return code;
        uint64_t number = nvml_field_number(&fields[i], &code);
        struct value value = nvml_amount(number, of[i]->factor, of[i]->most);
        if (vitals_metric_type(of[i]->metric) == VITALS_U64) {
            value = nvml_count(number, of[i]->most);
            value.as.u64 *= KIB;
        }
        if (fields[i].scope < links->count)
            reader_set_child(reader, of[i]->metric, links->labels[fields[i].scope], code, value);
        no_speed = no_speed || (of[i]->field == NVML_FIELD_LINK_SPEED &&
                                nvml_availability(code) == VITALS_UNSUPPORTED);
    }
    if (!no_speed || reader->lost)
        return;

    /* A driver that does not report the speed of each link reports a common one for all links that
     * are up. */
    nvml_return code;
    fields[0] = (struct nvml_field_value){.field = NVML_FIELD_LINK_SPEED_COMMON};
    reader_call_fields(reader, fields, 1);
    uint64_t number = nvml_field_number(&fields[0], &code);
    for (unsigned i = 0; i < links->count; i++)
        reader_set_child(reader, VITALS_GPU_LINK_SPEED_BYTES_PER_SECOND, links->labels[i], code,
                         nvml_amount(number, MEGA, SPEED_MAX));
}

void nvidia_read_links(struct nvidia_reader *reader)
{
    struct links links;
    if (reader->device->links < 0) {
        struct nvml_field_value fields[2] = {{.field = NVML_FIELD_LINK_COUNT}};
        nvml_return code;
        reader_call_fields(reader, fields, 1);
        uint64_t count = nvml_field_number(&fields[0], &code);
        unsigned active;
        if (code != NVML_SUCCESS || count > LABELS) {
            /* A driver that lacks the field is asked for each link if it exists. */
            count = 0;
            while (count < LABELS && !reader->lost &&
                   NVML_CALL(reader->nvml, nvmlDeviceGetNvLinkState, reader->handle,
                             (unsigned)count, &active) == NVML_SUCCESS)
                count++;
        }
        if (!reader->lost)
            reader->device->links = (int)count;
    }
    links.count = reader->device->links > 0 ? (unsigned)reader->device->links : 0;
    for (unsigned i = 0; i < links.count && !reader->lost; i++) {
        snprintf(links.labels[i], sizeof links.labels[i], "nvlink%u", i);
        set_text(reader, VITALS_GPU_LINK_KIND, links.labels[i], NVML_SUCCESS, "nvlink");

        static const char *const kinds[] = {"gpu", "cpu", "switch"};
        if (reader_wants(reader, VITALS_GPU_LINK_REMOTE_KIND)) {
            unsigned kind = NVML_NOT_AVAILABLE_32;
            nvml_return code = READER_ASK(reader, i, nvmlDeviceGetNvLinkRemoteDeviceType, i, &kind);
            if (code == NVML_SUCCESS && kind >= ARRAY_COUNT(kinds))
                code = NVML_NOT_SUPPORTED; /* 255: not known to the driver */
            set_text(reader, VITALS_GPU_LINK_REMOTE_KIND, links.labels[i], code,
                     code == NVML_SUCCESS ? kinds[kind] : "");
        }
        if (reader_wants(reader, VITALS_GPU_LINK_REMOTE_PCI_BUS_ID) && !reader->lost) {
            struct nvml_pci_info info = {0};
            nvml_return code = READER_ASK(reader, i, nvmlDeviceGetNvLinkRemotePciInfo_v2, i, &info);
            info.bus_id[sizeof info.bus_id - 1] = '\0';
            if (code == NVML_SUCCESS && !info.bus_id[0])
                code = NVML_NOT_SUPPORTED;
            set_text(reader, VITALS_GPU_LINK_REMOTE_PCI_BUS_ID, links.labels[i], code, info.bus_id);
        }

        read_errors(reader, i, links.labels[i]);
    }
    if (reader_wants(reader, VITALS_GPU_LINK_ACTIVE))
        read_choice(reader, &links, VITALS_GPU_LINK_ACTIVE,
                    offsetof(struct nvml, nvmlDeviceGetNvLinkState), 3);
    if (reader_wants(reader, VITALS_GPU_LINK_VERSION))
        read_choice(reader, &links, VITALS_GPU_LINK_VERSION,
                    offsetof(struct nvml, nvmlDeviceGetNvLinkVersion), 255);
    if (!reader->lost)
        read_traffic(reader, &links);
}
