/* kfd.c: see kfd.h. */
#include "gpu/amd/kfd.h"

#include "util/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KFD "class/kfd/kfd"

enum { TEXT = 4096 };

/* ---- lines of a name and a number ---- */

struct property {
    const char *name;
    size_t at; /* offset of a uint64_t in the record */
};

static void parse(struct span text, const struct property *properties, size_t count, void *out)
{
    struct cursor lines = cursor_over(text.bytes, text.size);
    for (struct span line; cursor_line(&lines, &line);) {
        struct cursor cursor = cursor_over(line.bytes, line.size);
        struct span word;
        uint64_t number;
        if (!cursor_word(&cursor, &word) || !cursor_u64(&cursor, &number))
            continue;
        for (size_t i = 0; i < count; i++)
            if (span_equal(word, properties[i].name))
                memcpy((char *)out + properties[i].at, &number, sizeof number);
    }
}

#define PROPERTY(record, name)               \
    {                                        \
#name, offsetof(struct record, name) \
    }

static const struct property node_properties[] = {
    PROPERTY(kfd_properties, simd_count),         PROPERTY(kfd_properties, simd_per_cu),
    PROPERTY(kfd_properties, gfx_target_version), PROPERTY(kfd_properties, domain),
    PROPERTY(kfd_properties, location_id),        PROPERTY(kfd_properties, drm_render_minor),
    PROPERTY(kfd_properties, unique_id),          PROPERTY(kfd_properties, num_xcc),
};

static const struct property link_properties[] = {
    PROPERTY(kfd_link, type),
    PROPERTY(kfd_link, node_to),
    PROPERTY(kfd_link, weight),
    PROPERTY(kfd_link, max_bandwidth),
};

static const struct property bank_properties[] = {
    PROPERTY(kfd_bank, heap_type),
    PROPERTY(kfd_bank, size_in_bytes),
    PROPERTY(kfd_bank, width),
};

void kfd_parse_properties(struct span text, struct kfd_properties *out)
{
    *out = (struct kfd_properties){0};
    parse(text, node_properties, ARRAY_COUNT(node_properties), out);
}

void kfd_parse_link(struct span text, struct kfd_link *out)
{
    *out = (struct kfd_link){0};
    parse(text, link_properties, ARRAY_COUNT(link_properties), out);
}

void kfd_parse_bank(struct span text, struct kfd_bank *out)
{
    *out = (struct kfd_bank){0};
    parse(text, bank_properties, ARRAY_COUNT(bank_properties), out);
}

void kfd_architecture(uint64_t gfx_target_version, char out[static KFD_ARCHITECTURE])
{
    unsigned major = (unsigned)(gfx_target_version / 10000 % 100);
    unsigned minor = (unsigned)(gfx_target_version / 100 % 100);
    unsigned stepping = (unsigned)(gfx_target_version % 100);
    out[0] = '\0';
    if (major != 0 && minor < 16 && stepping < 16 && gfx_target_version < 1000000)
        snprintf(out, KFD_ARCHITECTURE, "gfx%u%x%x", major, minor, stepping);
}

uint64_t kfd_compute_units(const struct kfd_properties *node)
{
    return node->simd_per_cu == 0 ? 0 : node->simd_count / node->simd_per_cu;
}

/* ---- the topology ---- */

static struct span read_text(const struct os *os, const char *path, char text[static TEXT])
{
    int result = os_sys_text(os, path, text, TEXT);
    return (struct span){text, result == 0 ? strlen(text) : 0};
}

uint64_t kfd_generation(const struct os *os)
{
    uint64_t generation = 0;
    return os_sys_u64(os, KFD "/topology/generation_id", &generation) == 0 ? generation : 0;
}

bool kfd_read_node(const struct os *os, uint64_t number, struct kfd_node *out)
{
    char path[OS_SYS_PATH], text[TEXT];
    if (number > UINT32_MAX)
        return false;
    *out = (struct kfd_node){.number = (uint32_t)number};
    snprintf(path, sizeof path, KFD "/topology/nodes/%u/properties", out->number);
    struct span properties = read_text(os, path, text);
    if (properties.size == 0)
        return false;
    kfd_parse_properties(properties, &out->properties);
    snprintf(path, sizeof path, KFD "/topology/nodes/%u/gpu_id", out->number);
    return os_sys_u64(os, path, &out->gpu_id) == 0;
}

void kfd_read_topology(const struct os *os, struct kfd_topology *out)
{
    struct os_sys_names names;
    *out = (struct kfd_topology){.generation = kfd_generation(os)};
    os_sys_names(&names, os, KFD "/topology/nodes");
    for (const char *name; out->generation != 0 && out->count < KFD_NODES_MAX &&
                           (name = os_sys_next(&names)) != NULL;) {
        struct kfd_node *node = &out->nodes[out->count];
        uint64_t number;
        if (number_is_u64(name, &number) && kfd_read_node(os, number, node) &&
            node->properties.simd_count > 0 && node->gpu_id != 0)
            out->count++;
    }
}

void kfd_bus_id(const struct kfd_properties *node, char out[static 32])
{
    unsigned location = (unsigned)(node->location_id & 0xFFFF);
    snprintf(out, 32, "%04x:%02x:%02x.%x", (unsigned)(node->domain & UINT32_MAX), location >> 8,
             location >> 3 & 0x1F, location & 7);
}

bool kfd_is_on(const struct kfd_node *node, const char *pci_bus_id)
{
    char own[32];
    kfd_bus_id(&node->properties, own);
    const char *point = strrchr(own, '.');
    size_t size = (size_t)(point - own);
    return strncmp(own, pci_bus_id, size) == 0 && pci_bus_id[size] == '.';
}

/* ---- folders of a node ---- */

void kfd_read_memory(const struct os *os, uint32_t number, struct kfd_memory *out)
{
    struct os_sys_names names;
    *out = (struct kfd_memory){0};
    os_sys_names(&names, os, KFD "/topology/nodes/%u/mem_banks", number);
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        char path[OS_SYS_PATH], text[TEXT];
        struct kfd_bank bank;
        snprintf(path, sizeof path, KFD "/topology/nodes/%u/mem_banks/%s/properties", number, name);
        kfd_parse_bank(read_text(os, path, text), &bank);
        if (bank.heap_type != KFD_HEAP_PUBLIC && bank.heap_type != KFD_HEAP_PRIVATE)
            continue;
        out->bytes = saturating_add(out->bytes, bank.size_in_bytes);
        out->bits = uint64_max(out->bits, bank.width);
    }
}

size_t kfd_read_links(const struct os *os, uint32_t number, struct kfd_link out[KFD_LINKS_MAX])
{
    struct os_sys_names names;
    size_t count = 0;
    os_sys_names(&names, os, KFD "/topology/nodes/%u/io_links", number);
    for (const char *name; count < KFD_LINKS_MAX && (name = os_sys_next(&names)) != NULL;) {
        char path[OS_SYS_PATH], text[TEXT];
        snprintf(path, sizeof path, KFD "/topology/nodes/%u/io_links/%s/properties", number, name);
        kfd_parse_link(read_text(os, path, text), &out[count]);
        count += out[count].type == KFD_LINK_XGMI;
    }
    return count;
}

/* ---- processes ---- */

bool kfd_parse_pid(const char *name, int64_t *pid)
{
    const char *at = name;
    uint64_t number;
    if (!number_u64(&at, name + strlen(name), &number) || number == 0 || number > INT32_MAX)
        return false;
    *pid = (int64_t)number;
    return true;
}

const char *kfd_next_process(struct os_sys_names *names, int64_t *pid)
{
    const char *name;
    while ((name = os_sys_next(names)) != NULL && !kfd_parse_pid(name, pid))
        continue;
    return name;
}

static struct value read_count(const struct os *os, const char *process, const char *file)
{
    char path[OS_SYS_PATH];
    uint64_t number;
    snprintf(path, sizeof path, KFD_PROCESSES "/%s/%s", process, file);
    int result = os_sys_u64(os, path, &number);
    if (result == 0)
        return value_u64(number);
    return value_missing(result == -ENOENT || result == -EINVAL ? VITALS_UNSUPPORTED
                                                                : os_availability(result));
}

bool kfd_read_usage(const struct os *os, const char *process, uint64_t gpu_id, unsigned what,
                    struct kfd_usage *out)
{
    char id[NUMBER_TEXT], file[NUMBER_TEXT + 32];
    *out = (struct kfd_usage){0};
    number_print_u64(id, gpu_id);
    snprintf(file, sizeof file, "vram_%s", id);
    out->memory_bytes = read_count(os, process, file);
    if (out->memory_bytes.state == VITALS_UNSUPPORTED || out->memory_bytes.state == VITALS_GONE)
        return false;
    if (what & KFD_COPY) {
        snprintf(file, sizeof file, "sdma_%s", id);
        struct value microseconds = read_count(os, process, file);
        out->copy_seconds = microseconds.state > 0 ? value_f64((double)microseconds.as.u64 / 1e6)
                                                   : microseconds;
    }
    if (what & KFD_UNITS) {
        snprintf(file, sizeof file, "stats_%s/cu_occupancy", id);
        out->compute_units = read_count(os, process, file);
    }
    return true;
}
