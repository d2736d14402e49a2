/* links.c: XGMI: the links of a card, from KFD's topology, and the traffic of its ports, from its
 * firmware's counters.
 *
 * No source says which port leads where, so links and ports are separate rows: "xgmi0" to another
 * device, "xgmi_port0" with the counters. */
#include "gpu/amd/state.h"

#include <stdio.h>
#include <string.h>

/* Adds one link to another card, however many partitions it has; none to the card itself. */
static void add_link(struct amd_reader *reader, const struct kfd_link *found)
{
    struct amd_device *device = reader->device;
    struct amd_link *link = &device->links[device->link_count];
    struct kfd_node node;
    *link = (struct amd_link){.megabytes_per_second = found->max_bandwidth};
    if (kfd_read_node(reader->os, found->node_to, &node)) {
        bool gpu = node.properties.simd_count > 0;
        snprintf(link->remote_kind, sizeof link->remote_kind, gpu ? "gpu" : "cpu");
        if (gpu) {
            node.properties.location_id &= ~UINT64_C(7); // its function is that of a partition
            kfd_bus_id(&node.properties, link->remote_pci_bus_id);
        }
        bool known = gpu && kfd_is_on(&node, device->who.pci_bus_id);
        for (uint32_t i = 0; gpu && i < device->link_count; i++)
            known |= strcmp(device->links[i].remote_pci_bus_id, link->remote_pci_bus_id) == 0;
        if (known)
            return;
    }
    device->link_count++;
}

static void fill_text(struct amd_reader *reader, vitals_metric metric, const char *label,
                      const char *text)
{
    if (text[0] != '\0')
        gpu_fill_child_text(reader->sample, metric, label, text);
}

void amd_read_links(struct amd_reader *reader)
{
    struct amd_device *device = reader->device;
    if (!gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_LINK))
        return;
    uint64_t generation = kfd_generation(reader->os);
    if (device->node_count != 0 && (generation == 0 || generation != device->links_generation)) {
        struct kfd_link found[KFD_LINKS_MAX];
        device->links_generation = generation;
        device->link_count = 0;
        size_t count = kfd_read_links(reader->os, device->nodes[0].number, found);
        for (size_t i = 0; i < count; i++)
            add_link(reader, &found[i]);
    }

    for (uint32_t i = 0; i < device->link_count; i++) {
        const struct amd_link *link = &device->links[i];
        char label[GPU_LABEL];
        snprintf(label, sizeof label, "xgmi%u", i);
        gpu_fill_child(reader->sample, VITALS_GPU_LINK_ACTIVE, label, value_u64(1));
        fill_text(reader, VITALS_GPU_LINK_KIND, label, "xgmi");
        fill_text(reader, VITALS_GPU_LINK_REMOTE_KIND, label, link->remote_kind);
        fill_text(reader, VITALS_GPU_LINK_REMOTE_PCI_BUS_ID, label, link->remote_pci_bus_id);
        if (link->megabytes_per_second > 0)
            gpu_fill_child(reader->sample, VITALS_GPU_LINK_SPEED_BYTES_PER_SECOND, label,
                           value_f64((double)link->megabytes_per_second * 1e6));
    }
    const struct amd_metrics *record = amd_record(reader);
    for (uint32_t i = 0; i < AMD_XGMI_LINKS && record != NULL; i++) {
        const struct {
            vitals_metric metric;
            struct value value;
        } counts[] = {
            {VITALS_GPU_LINK_RECEIVED_BYTES, record->received[i]},
            {VITALS_GPU_LINK_TRANSMITTED_BYTES, record->transmitted[i]},
            {VITALS_GPU_LINK_ACTIVE, record->link_active[i]},
        };
        char label[GPU_LABEL];
        snprintf(label, sizeof label, "xgmi_port%u", i);
        bool told = false;
        for (size_t j = 0; j < ARRAY_COUNT(counts); j++) {
            if (counts[j].value.state == VITALS_UNSET)
                continue;
            gpu_fill_child(reader->sample, counts[j].metric, label, counts[j].value);
            told = true;
        }
        if (told)
            fill_text(reader, VITALS_GPU_LINK_KIND, label, "xgmi");
    }
}
