/* exposition_devices.c: the families of devices and partitions that need a writer of their own. */
#include "export/prometheus/family_writer.h"

#include <string.h>

/* Appends the number at the end of /dev/nvidia0. */
static void label_minor(struct exposition_page *page, const vitals_row *row)
{
    static const char NODE[] = "/dev/nvidia";
    vitals_text node;
    if (!page_text(row, VITALS_GPU_DEVICE_NODE, &node) || node.size < sizeof NODE ||
        node.size > sizeof NODE + 8 || memcmp(node.bytes, NODE, sizeof NODE - 1) != 0)
        return;
    page_label(page, "minor",
               (vitals_text){node.bytes + sizeof NODE - 1, node.size - (sizeof NODE - 1)});
}

void family_write_gpu_info(struct exposition_page *page, const struct metric_family *family,
                           const struct family_sources *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)family, (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const vitals_row *row = table->rows[i].row;
        double node;
        if (family_is_partition(&table->rows[i]))
            continue;
        page_sample_of(page, &table->rows[i]);
        family_label_text(page, "vendor", row, VITALS_GPU_VENDOR);
        family_label_text(page, "name", row, VITALS_GPU_NAME);
        family_label_text(page, "driver", row, VITALS_GPU_KERNEL_DRIVER);
        family_label_text(page, "driver_version", row, VITALS_GPU_DRIVER_VERSION);
        family_label_text(page, "pci_bus_id", row, VITALS_GPU_PCI_BUS_ID);
        label_minor(page, row);
        if (page_number(page, row, VITALS_GPU_NUMA_NODE, &node))
            family_label_number(page, "numa_node", node);
        page_value(page, 1);
    }
}

static bool has_letter(vitals_text text, const char *letters)
{
    for (size_t i = 0; i < text.size; i++) {
        if (strchr(letters, text.bytes[i]) != NULL && text.bytes[i] != '\0')
            return true;
    }
    return false;
}

static const struct {
    const char *name, *letters;
} PROCESS_TYPES[] = {{"compute", "CM"}, {"graphics", "G"}};

enum { PROCESS_TYPES_COUNT = sizeof PROCESS_TYPES / sizeof PROCESS_TYPES[0] };

struct process_counts {
    double all, of_type[PROCESS_TYPES_COUNT];
};

/* Counts the processes on one device; returns false if the type of one is not known. */
static bool count_on(const struct exposition_page *page, uint64_t gpu,
                     struct process_counts *counts)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next_child(page->snapshot, VITALS_GPU_PROCESS, gpu, row)) !=
           NULL) {
        vitals_text type;
        if (!page_text(row, VITALS_GPU_PROCESS_TYPE, &type))
            return false;
        counts->all++;
        for (size_t i = 0; i < PROCESS_TYPES_COUNT; i++)
            counts->of_type[i] += has_letter(type, PROCESS_TYPES[i].letters);
    }
    return true;
}

/* Counts those on a device and on its partitions. */
static bool count_processes(const struct exposition_page *page, uint64_t gpu,
                            struct process_counts *counts)
{
    const vitals_row *part = NULL;
    *counts = (struct process_counts){0};
    bool known = count_on(page, gpu, counts);
    while (known &&
           (part = vitals_snapshot_next_child(page->snapshot, VITALS_GPU, gpu, part)) != NULL)
        known = count_on(page, vitals_row_key(part), counts);
    return known;
}

/* Writes nothing if the driver counts more or fewer processes than have a row. */

void family_write_gpu_processes(struct exposition_page *page, const struct metric_family *family,
                                const struct family_sources *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)family, (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const struct exposition_row *row = &table->rows[i];
        struct process_counts counts;
        double all;
        if (family_is_partition(row) || !page_number(page, row->row, VITALS_GPU_PROCESSES, &all) ||
            !count_processes(page, vitals_row_key(row->row), &counts) || counts.all != all)
            continue;
        for (size_t t = 0; t < PROCESS_TYPES_COUNT; t++) {
            page_sample_of(page, row);
            page_label_word(page, "type", PROCESS_TYPES[t].name);
            page_value(page, counts.of_type[t]);
        }
    }
}

/* Sums all metrics over the links of a device; returns false if a value of an active link is
 * missing, or there is no link. */
static bool sum_links(const struct exposition_page *page, const struct metric_family *family,
                      uint64_t gpu, double *sum)
{
    const vitals_row *row = NULL;
    size_t links = 0;
    *sum = 0;
    while ((row = vitals_snapshot_next_child(page->snapshot, VITALS_GPU_LINK, gpu, row)) != NULL) {
        uint64_t active;
        if (vitals_row_u64(row, VITALS_GPU_LINK_ACTIVE, &active) > 0 && active == 0)
            continue;
        for (size_t i = 0; i < FAMILY_PARTS && family->parts[i].metric != 0; i++) {
            double value;
            if (!page_number(page, row, family->parts[i].metric, &value))
                return false;
            *sum += value;
        }
        links++;
    }
    return links > 0;
}

void family_write_links(struct exposition_page *page, const struct metric_family *family,
                        const struct family_sources *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const struct exposition_row *row = &table->rows[i];
        double sum;
        if (family_is_partition(row) || !sum_links(page, family, vitals_row_key(row->row), &sum))
            continue;
        page_sample_of(page, row);
        page_value(page, sum);
    }
}

void family_write_xid(struct exposition_page *page, const struct metric_family *family,
                      const struct family_sources *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)family;
    for (size_t i = 0; i < table->count; i++) {
        const struct counter_map_entry *entry = counter_map_find(
            &from->sums->errors, vitals_row_key(table->rows[i].row), 0);
        if (entry == NULL || entry->at <= 0 || family_is_partition(&table->rows[i]))
            continue;
        page_sample_of(page, &table->rows[i]);
        family_label_number(page, "xid", entry->value);
        page_value(page, entry->at);
    }
}

/* ---- partitions ---- */

static void label_partition(struct exposition_page *page, const struct exposition_row *row)
{
    const struct exposition_row *parent = page_find(page, VITALS_GPU, vitals_row_parent(row->row));
    family_label_text(page, "uuid", row->row, VITALS_GPU_UUID);
    if (parent != NULL)
        family_label_text(page, "parent_uuid", parent->row, VITALS_GPU_UUID);
}

void family_write_partition_info(struct exposition_page *page, const struct metric_family *family,
                                 const struct family_sources *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)family, (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const vitals_row *row = table->rows[i].row;
        double instance;
        if (!family_is_partition(&table->rows[i]))
            continue;
        page_sample(page);
        label_partition(page, &table->rows[i]);
        if (page_number(page, row, VITALS_GPU_GPU_INSTANCE_ID, &instance))
            family_label_number(page, "gi", instance);
        if (page_number(page, row, VITALS_GPU_COMPUTE_INSTANCE_ID, &instance))
            family_label_number(page, "ci", instance);
        family_label_text(page, "profile", row, VITALS_GPU_NAME);
        page_value(page, 1);
    }
}

void family_write_partition(struct exposition_page *page, const struct metric_family *family,
                            const struct family_sources *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)from;
    for (size_t i = 0; i < table->count; i++) {
        double value;
        if (!family_is_partition(&table->rows[i]) ||
            !page_number(page, table->rows[i].row, family->parts[0].metric, &value))
            continue;
        page_sample(page);
        label_partition(page, &table->rows[i]);
        page_value(page, value);
    }
}
