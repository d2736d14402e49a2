/* kfd.c: see kfd.h. */
#include "gpu/amd/kfd.h"

#include "util/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KFD           "class/kfd/kfd"
#define KFD_PROCESSES "class/kfd/kfd/proc"

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

struct topology_walk {
    const struct os *os;
    struct kfd_topology *out;
};

static bool add_node(const char *name, void *data)
{
    struct topology_walk *walk = data;
    uint64_t number;
    if (!number_is_u64(name, &number))
        return true;
    struct kfd_node *node = &walk->out->nodes[walk->out->count];
    if (kfd_read_node(walk->os, number, node) && node->properties.simd_count > 0 &&
        node->gpu_id != 0)
        walk->out->count++;
    return walk->out->count < KFD_NODES_MAX;
}

void kfd_read_topology(const struct os *os, struct kfd_topology *out)
{
    *out = (struct kfd_topology){.generation = kfd_generation(os)};
    if (out->generation != 0)
        os_sys_list(os, KFD "/topology/nodes", add_node, &(struct topology_walk){os, out});
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

struct bank_walk {
    const struct os *os;
    uint32_t number;
    struct kfd_memory *out;
};

static bool add_bank(const char *name, void *data)
{
    struct bank_walk *walk = data;
    char path[OS_SYS_PATH], text[TEXT];
    struct kfd_bank bank;
    snprintf(path, sizeof path, KFD "/topology/nodes/%u/mem_banks/%s/properties", walk->number,
             name);
    kfd_parse_bank(read_text(walk->os, path, text), &bank);
    if (bank.heap_type != KFD_HEAP_PUBLIC && bank.heap_type != KFD_HEAP_PRIVATE)
        return true;
    walk->out->bytes = saturating_add(walk->out->bytes, bank.size_in_bytes);
    if (bank.width > walk->out->bits)
        walk->out->bits = bank.width;
    return true;
}

void kfd_read_memory(const struct os *os, uint32_t number, struct kfd_memory *out)
{
    char path[OS_SYS_PATH];
    *out = (struct kfd_memory){0};
    snprintf(path, sizeof path, KFD "/topology/nodes/%u/mem_banks", number);
    os_sys_list(os, path, add_bank, &(struct bank_walk){os, number, out});
}

struct link_walk {
    const struct os *os;
    uint32_t number;
    size_t count;
    struct kfd_link *out;
};

static bool add_link(const char *name, void *data)
{
    struct link_walk *walk = data;
    char path[OS_SYS_PATH], text[TEXT];
    struct kfd_link *link = &walk->out[walk->count];
    snprintf(path, sizeof path, KFD "/topology/nodes/%u/io_links/%s/properties", walk->number,
             name);
    kfd_parse_link(read_text(walk->os, path, text), link);
    walk->count += link->type == KFD_LINK_XGMI;
    return walk->count < KFD_LINKS_MAX;
}

size_t kfd_read_links(const struct os *os, uint32_t number, struct kfd_link out[KFD_LINKS_MAX])
{
    char path[OS_SYS_PATH];
    struct link_walk walk = {os, number, 0, out};
    snprintf(path, sizeof path, KFD "/topology/nodes/%u/io_links", number);
    os_sys_list(os, path, add_link, &walk);
    return walk.count;
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

int kfd_list_processes(const struct os *os, os_sys_visit *visit, void *data)
{
    return os_sys_list(os, KFD_PROCESSES, visit, data);
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
