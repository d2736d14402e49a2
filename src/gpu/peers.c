/* peers.c: the table gpu_peer of a snapshot: topology.c's rows, cached until devices come or go or
 * a link changes. */
#include "gpu/table_data.h"

#include "gpu/topology.h"
#include "util/hash.h"
#include "util/memory.h"

#include <string.h>

/* The input of topology.c. Texts are borrowed from the table. */
struct peers_question {
    struct topology_device devices[TOPOLOGY_DEVICES];
    struct topology_link links[TOPOLOGY_LINKS];
    size_t device_count, link_count;
    uint64_t hash;
};

static void mix(struct peers_question *question, const char *text)
{
    question->hash = (question->hash * 31) ^ hash_bytes(text, strlen(text) + 1);
}

static struct span text_at(const struct row_batch *batch, const struct batch_row *row,
                           vitals_metric metric)
{
    const struct batch_cell *cell = batch_find(batch, row, metric);
    return cell && cell->state > 0 ? batch_span(batch, cell) : (struct span){"", 0};
}

static void keep(struct peers_question *question, char out[static TOPOLOGY_ADDRESS],
                 struct span text)
{
    size_t size = size_min(text.size, TOPOLOGY_ADDRESS - 1);
    memcpy(out, text.bytes, size);
    out[size] = '\0';
    mix(question, out);
}

static struct gpu_device *device_of(const struct gpu_table *table, uint64_t key)
{
    return key > 0 && key <= table->count ? table->devices[key - 1] : NULL;
}

/* Runs topology.c again, and gives each row a key. */
static void look(struct gpu_table *table, const struct os *os,
                 const struct peers_question *question, const struct metric_set *wanted)
{
    struct row_batch *peers = &table->peers;
    batch_reset(peers, wanted);
    gpu_topology_write(os,
                       &(struct topology){.devices = question->devices,
                                          .links = question->links,
                                          .device_count = question->device_count,
                                          .link_count = question->link_count},
                       peers);
    for (size_t i = 0; i < peers->row_count && !peers->failed; i++) {
        struct gpu_device *device = device_of(table, peers->rows[i].parent);
        if (device && gpu_part_add(table, device, peers, &peers->rows[i]) < 0)
            peers->failed = true;
    }
    for (size_t i = 0; i < question->device_count; i++)
        gpu_parts_forget(table, device_of(table, question->devices[i].key));
}

int gpu_table_look_around(struct gpu_table *table, const struct os *os,
                          const struct metric_set *wanted)
{
    struct peers_question *question = memory_alloc(sizeof *question);
    if (!question)
        return VITALS_EMEMORY;

    for (size_t i = 0; i < table->count; i++) {
        const struct gpu_device *device = table->devices[i];
        if (!device->present || device->identity.parent_slot >= 0 ||
            question->device_count == TOPOLOGY_DEVICES)
            continue;
        question->devices[question->device_count++] = (struct topology_device){
            .key = device->key,
            .label = device->label,
            .address = device->identity.pci_state > 0 ? device->identity.pci_bus_id : "",
        };
        question->hash = hash_join(question->hash, device->key);
        mix(question, device->label);
        mix(question, device->identity.uuid);

        /* Adds its active links. */
        const struct row_batch *batch = &device->readings.kept;
        for (size_t j = 0; j < batch->row_count; j++) {
            const struct batch_row *row = &batch->rows[j];
            const struct batch_cell *active = batch_find(batch, row, VITALS_GPU_LINK_ACTIVE);
            if (row->entity != VITALS_TABLE_GPU_LINK || !active || active->state <= 0 ||
                active->as.u64 == 0 || question->link_count == TOPOLOGY_LINKS)
                continue;
            struct topology_link *link = &question->links[question->link_count++];
            link->device = question->device_count - 1;
            link->to_switch = span_equal(text_at(batch, row, VITALS_GPU_LINK_REMOTE_KIND),
                                         "switch");
            keep(question, link->kind, text_at(batch, row, VITALS_GPU_LINK_KIND));
            keep(question, link->remote, text_at(batch, row, VITALS_GPU_LINK_REMOTE_PCI_BUS_ID));
        }
    }

    uint64_t hash = question->hash | 1; /* 0: never run */
    if (table->peers_hash != hash || table->peers.failed)
        look(table, os, question, wanted);
    table->peers_hash = hash;
    memory_free(question);
    return table->peers.failed ? VITALS_EMEMORY : 0;
}

void gpu_table_write_peers(const struct gpu_table *table, vitals_builder *builder,
                           uint64_t stamp_ns)
{
    const struct row_batch *peers = &table->peers;
    vitals_builder_state(
        builder, VITALS_TABLE_GPU_PEER,
        table->peers_hash == 0
            ? VITALS_NOT_YET
            : gpu_table_state(table, (vitals_availability)peers->states[VITALS_TABLE_GPU_PEER]));
    for (size_t i = 0; i < peers->row_count; i++) {
        const struct batch_row *row = &peers->rows[i];
        const struct gpu_device *device = device_of(table, row->parent);
        struct span label = batch_label(peers, row);
        const struct gpu_part *part = device ? gpu_part_find(device, peers, row) : NULL;
        if (!part || device->is_left_out)
            continue;
        vitals_builder_row(builder, VITALS_TABLE_GPU_PEER, part->key, device->key,
                           (vitals_text){label.bytes, label.size}, stamp_ns);
        builder_batch(builder, peers, row);
        builder_rest(builder, VITALS_TABLE_GPU_PEER, VITALS_UNSUPPORTED);
    }
}
