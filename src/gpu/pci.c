/* pci.c: see pci.h. The files are documented in the kernel's
 * Documentation/ABI/testing/sysfs-bus-pci and sysfs-devices-power. */
#include "gpu/pci.h"

#include "gpu/find.h"

#include "util/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- addresses ---- */

bool pci_parse_bus_id(struct span text, char out[static PCI_BUS_ID])
{
    uint64_t address;
    out[0] = '\0';
    if (!gpu_parse_address(text, &address))
        return false;
    snprintf(out, PCI_BUS_ID, "%04x:%02x:%02x.%x", (unsigned)(address >> 16),
             (unsigned)(address >> 8 & 0xff), (unsigned)(address >> 3 & 31),
             (unsigned)(address & 7));
    return true;
}

void pci_folder(char out[static OS_SYS_PATH], const char *bus_id)
{
    snprintf(out, OS_SYS_PATH, "bus/pci/devices/%s", bus_id);
}

bool pci_path(char out[static OS_SYS_PATH], const char *folder, const char *file)
{
    int size = snprintf(out, OS_SYS_PATH, "%s/%s", folder, file);
    return size > 0 && size < OS_SYS_PATH;
}

static struct span last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *from = slash != NULL ? slash + 1 : path;
    return (struct span){from, strlen(from)};
}

bool pci_read_bus_id(const struct os *os, const char *folder, char out[static PCI_BUS_ID])
{
    char real[OS_SYS_PATH];
    out[0] = '\0';
    return os_sys_real(os, folder, real, sizeof real) == 0 &&
           pci_parse_bus_id(last_part(real), out);
}

/* ---- files ---- */

int pci_text(const struct os *os, const char *folder, const char *file, char *out, size_t capacity)
{
    char path[OS_SYS_PATH];
    out[0] = '\0';
    return pci_path(path, folder, file) ? os_sys_text(os, path, out, capacity) : -ENAMETOOLONG;
}

int pci_number(const struct os *os, const char *folder, const char *file, uint64_t *out)
{
    char path[OS_SYS_PATH];
    return pci_path(path, folder, file) ? os_sys_u64(os, path, out) : -ENAMETOOLONG;
}

bool pci_exists(const struct os *os, const char *folder, const char *file)
{
    char path[OS_SYS_PATH];
    return pci_path(path, folder, file) && os_sys_exists(os, path);
}

bool pci_is_asleep(const struct os *os, const char *folder, char status[PCI_STATUS])
{
    /* Every other state is awake: active; unsupported and error, without power management; no
     * file. */
    static const char *const ASLEEP[] = {"suspended", "suspending", "resuming"};
    char text[PCI_STATUS];
    int result = pci_text(os, folder, "power/runtime_status", text, sizeof text);
    if (result < 0)
        text[0] = '\0';
    if (status != NULL)
        memcpy(status, text, sizeof text);
    for (size_t i = 0; i < ARRAY_COUNT(ASLEEP); i++) {
        if (strcmp(text, ASLEEP[i]) == 0)
            return true;
    }
    return false;
}

bool pci_read_numbers(const struct os *os, const char *folder, struct pci_numbers *out)
{
    *out = (struct pci_numbers){0};
    (void)pci_number(os, folder, "subsystem_vendor", &out->subsystem_vendor);
    (void)pci_number(os, folder, "subsystem_device", &out->subsystem_device);
    (void)pci_number(os, folder, "revision", &out->revision);
    return pci_number(os, folder, "vendor", &out->vendor) == 0 &&
           pci_number(os, folder, "device", &out->device) == 0;
}

bool pci_read_driver(const struct os *os, const char *folder, char *out, size_t capacity)
{
    char path[OS_SYS_PATH], target[OS_SYS_PATH];
    out[0] = '\0';
    if (!pci_path(path, folder, "driver") || os_sys_link(os, path, target, sizeof target) < 0)
        return false;
    struct span name = last_part(target);
    if (name.size == 0 || name.size >= capacity)
        return false;
    memcpy(out, name.bytes, name.size + 1);
    return true;
}

void pci_add_node(const struct os *os, const char *path,
                  struct gpu_node nodes[static GPU_NODES_MAX], uint32_t *count)
{
    char text[32];
    uint64_t major, minor;
    if (*count == GPU_NODES_MAX || os_sys_text(os, path, text, sizeof text) < 0)
        return;
    struct cursor cursor = cursor_over(text, strlen(text));
    if (cursor_u64(&cursor, &major) && cursor_literal(&cursor, ":") &&
        cursor_u64(&cursor, &minor) && major <= UINT32_MAX && minor <= UINT32_MAX)
        nodes[(*count)++] = (struct gpu_node){(uint32_t)major, (uint32_t)minor};
}

void pci_read_version(const struct os *os, const char *driver, char *out, size_t capacity)
{
    char path[OS_SYS_PATH];
    snprintf(path, sizeof path, "module/%s/version", driver);
    if (os_sys_text(os, path, out, capacity) < 0 || out[0] == '\0')
        os_read_kernel(os, out, capacity);
}

void pci_identify(const struct os *os, const char *vendor, const char *driver, const char *bus_id,
                  struct gpu_identity *out)
{
    *out = (struct gpu_identity){
        .parent_slot = -1,
        .name_state = VITALS_HAVE,
        .pci_state = bus_id[0] != '\0' ? VITALS_HAVE : VITALS_UNSUPPORTED,
        .driver_state = VITALS_HAVE,
        .cuda_state = VITALS_UNSUPPORTED,
        .gpu_instance_id = value_missing(VITALS_UNSUPPORTED),
        .compute_instance_id = value_missing(VITALS_UNSUPPORTED),
    };
    snprintf(out->vendor, sizeof out->vendor, "%.*s", (int)sizeof out->vendor - 1, vendor);
    snprintf(out->pci_bus_id, sizeof out->pci_bus_id, "%s", bus_id);
    pci_read_version(os, driver, out->driver_version, sizeof out->driver_version);
    if (out->driver_version[0] == '\0')
        out->driver_state = VITALS_UNSUPPORTED;
}

/* ---- the link ---- */

unsigned pci_generation(struct span text)
{
    static const struct {
        const char *speed;
        unsigned generation;
    } SPEEDS[] = {{"2.5", 1},  {"5", 2},  {"5.0", 2},  {"8", 3},  {"8.0", 3},  {"16", 4},
                  {"16.0", 4}, {"32", 5}, {"32.0", 5}, {"64", 6}, {"64.0", 6}, {"128.0", 7}};
    struct cursor cursor = cursor_over(text.bytes, text.size);
    struct span speed;
    if (!cursor_word(&cursor, &speed))
        return 0;
    for (size_t i = 0; i < ARRAY_COUNT(SPEEDS); i++) {
        if (span_equal(speed, SPEEDS[i].speed))
            return SPEEDS[i].generation;
    }
    return 0;
}

static struct value read_generation(const struct os *os, const char *folder, const char *file)
{
    char text[64];
    int result = pci_text(os, folder, file, text, sizeof text);
    if (result < 0 && result != -ENOENT)
        return value_missing(os_availability(result));
    unsigned generation = pci_generation((struct span){text, strlen(text)});
    return generation != 0 ? value_u64(generation) : value_missing(VITALS_UNSUPPORTED);
}

/* 0 and 255 mean that there is no link. */
static struct value read_width(const struct os *os, const char *folder, const char *file)
{
    enum { WIDTH_MAX = 32 };
    uint64_t width;
    int result = pci_number(os, folder, file, &width);
    if (result < 0 && result != -ENOENT)
        return value_missing(os_availability(result));
    bool is_width = result == 0 && width > 0 && width <= WIDTH_MAX;
    return is_width ? value_u64(width) : value_missing(VITALS_UNSUPPORTED);
}

/* Cuts the last part off the path of a device; returns false if its parent is not a PCI device. */
static bool cut_to_parent(char path[static OS_SYS_PATH])
{
    char bus_id[PCI_BUS_ID];
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return pci_parse_bus_id(last_part(path), bus_id);
}

static void take_less(struct value *value, struct value other)
{
    if (value->state > 0 && other.state > 0 && other.as.u64 < value->as.u64)
        *value = other;
}

void pci_read_link(const struct os *os, const char *folder, struct pci_link *out)
{
    enum { BRIDGES = 2, BRIDGE = 0x0604 };
    char path[OS_SYS_PATH] = "", above[OS_SYS_PATH];
    struct value missing = value_missing(VITALS_UNSUPPORTED);
    uint64_t vendor, class, its;
    *out = (struct pci_link){missing, missing, missing, missing};
    if (os_sys_real(os, folder, path, sizeof path) < 0)
        return;

    /* Go from the device up to the outermost bridge that belongs to the card. */
    bool has_vendor = pci_number(os, path, "vendor", &vendor) == 0;
    for (int i = 0; has_vendor && i < BRIDGES; i++) {
        memcpy(above, path, sizeof above);
        if (!cut_to_parent(above) || pci_number(os, above, "class", &class) < 0 ||
            class >> 8 != BRIDGE || pci_number(os, above, "vendor", &its) < 0 || its != vendor)
            break;
        memcpy(path, above, sizeof above);
    }

    out->generation = read_generation(os, path, "current_link_speed");
    out->generation_max = read_generation(os, path, "max_link_speed");
    out->width = read_width(os, path, "current_link_width");
    out->width_max = read_width(os, path, "max_link_width");
    if (!cut_to_parent(path))
        return;
    take_less(&out->generation_max, read_generation(os, path, "max_link_speed"));
    take_less(&out->width_max, read_width(os, path, "max_link_width"));
}

/* ---- into a sample ---- */

static bool is_asked(const struct gpu_sample *sample, vitals_metric metric)
{
    return gpu_fill_wants(sample, metric) && !gpu_fill_has(sample, metric);
}

static void fill_string(struct gpu_sample *sample, vitals_metric metric, const char *text)
{
    if (text[0] != '\0')
        gpu_fill_text(sample, metric, text);
    else
        gpu_fill(sample, metric, value_missing(VITALS_UNSUPPORTED));
}

static void fill_pair(struct gpu_sample *sample, vitals_metric metric, uint64_t vendor,
                      uint64_t device)
{
    char text[48] = "";
    if (vendor != 0)
        snprintf(text, sizeof text, "%04llx:%04llx", (unsigned long long)vendor,
                 (unsigned long long)device);
    fill_string(sample, metric, text);
}

void pci_fill(const struct os *os, const char *folder, const char *status,
              struct gpu_sample *sample)
{
    char text[GPU_TEXT]; /* every second of many CPUs is long */
    struct pci_numbers numbers = {0};
    if (is_asked(sample, VITALS_GPU_KERNEL_DRIVER)) {
        (void)pci_read_driver(os, folder, text, sizeof text);
        fill_string(sample, VITALS_GPU_KERNEL_DRIVER, text);
    }
    bool pci_id = is_asked(sample, VITALS_GPU_PCI_ID);
    bool subsystem_id = is_asked(sample, VITALS_GPU_PCI_SUBSYSTEM_ID);
    if (pci_id || subsystem_id)
        (void)pci_read_numbers(os, folder, &numbers);
    if (pci_id)
        fill_pair(sample, VITALS_GPU_PCI_ID, numbers.vendor, numbers.device);
    if (subsystem_id)
        fill_pair(sample, VITALS_GPU_PCI_SUBSYSTEM_ID, numbers.subsystem_vendor,
                  numbers.subsystem_device);
    if (is_asked(sample, VITALS_GPU_NUMA_NODE)) {
        uint64_t node; /* -1, and no file: the machine has only one node */
        bool found = pci_number(os, folder, "numa_node", &node) == 0;
        gpu_fill(sample, VITALS_GPU_NUMA_NODE,
                 found ? value_u64(node) : value_missing(VITALS_UNSUPPORTED));
    }
    if (is_asked(sample, VITALS_GPU_LOCAL_CPUS)) {
        (void)pci_text(os, folder, "local_cpulist", text, sizeof text);
        fill_string(sample, VITALS_GPU_LOCAL_CPUS, text);
    }
    if (is_asked(sample, VITALS_GPU_RUNTIME_STATUS))
        fill_string(sample, VITALS_GPU_RUNTIME_STATUS, status);
}

void pci_fill_link(const struct os *os, const char *folder, struct gpu_sample *sample)
{
    static const struct {
        vitals_metric metric;
        size_t value;
    } LINKS[] = {
        {VITALS_GPU_PCIE_GENERATION, offsetof(struct pci_link, generation)},
        {VITALS_GPU_PCIE_GENERATION_MAX, offsetof(struct pci_link, generation_max)},
        {VITALS_GPU_PCIE_WIDTH, offsetof(struct pci_link, width)},
        {VITALS_GPU_PCIE_WIDTH_MAX, offsetof(struct pci_link, width_max)},
    };
    struct pci_link link;
    bool is_read = false;
    for (size_t i = 0; i < ARRAY_COUNT(LINKS); i++) {
        struct value value;
        if (!is_asked(sample, LINKS[i].metric))
            continue;
        if (!is_read)
            pci_read_link(os, folder, &link);
        is_read = true;
        memcpy(&value, (const char *)&link + LINKS[i].value, sizeof value);
        gpu_fill(sample, LINKS[i].metric, value);
    }
}

/* ---- names ----
 *
 * pci.ids has a line "1002  Vendor" for each vendor and below it lines that begin with a tab:
 * "\t73df  Device"; two tabs begin a line of a board. amdgpu.ids has lines "73DF,\tC1,\tName". "#"
 * begins a comment in both. */

static void copy_rest(struct cursor *cursor, char out[static NAMES_TEXT])
{
    cursor_blanks(cursor);
    size_t size = (size_t)(cursor->end - cursor->at);
    while (size > 0 && (unsigned char)cursor->at[size - 1] <= ' ')
        size--;
    size = size_min(size, NAMES_TEXT - 1);
    memcpy(out, cursor->at, size);
    out[size] = '\0';
}

/* True for four digits followed by a blank. */
static bool id_here(struct cursor *cursor, uint64_t *id)
{
    const char *from = cursor->at;
    return number_hex(&cursor->at, cursor->end, id) && cursor->at - from == 4 &&
           !cursor_done(cursor) && *cursor->at == ' ';
}

void names_pci_line(struct span line, void *data)
{
    struct names_pci_search *search = data;
    struct cursor cursor = cursor_over(line.bytes, line.size);
    uint64_t id;
    if (search->found || cursor_done(&cursor) || *cursor.at == '#')
        return;
    if (!cursor_literal(&cursor, "\t")) {
        search->in_vendor = id_here(&cursor, &id) && id == search->vendor;
        if (search->in_vendor)
            copy_rest(&cursor, search->out->vendor);
        return;
    }
    if (!search->in_vendor || !id_here(&cursor, &id) || id != search->device)
        return;
    copy_rest(&cursor, search->out->device);
    search->found = search->out->device[0] != '\0';
}

bool names_find_pci(const struct os *os, uint64_t vendor, uint64_t device, struct names_pci *out)
{
    static const char *const FILES[] = {"hwdata/pci.ids", "misc/pci.ids"};
    for (size_t i = 0; i < ARRAY_COUNT(FILES); i++) {
        *out = (struct names_pci){0};
        struct names_pci_search search = {.vendor = vendor, .device = device, .out = out};
        (void)os_share_lines(os, FILES[i], names_pci_line, &search);
        if (search.found)
            return true;
    }
    return false;
}

void names_device(const struct os *os, uint64_t vendor, uint64_t device, const char *fallback,
                  char out[static GPU_NAME])
{
    struct names_pci names;
    if (names_find_pci(os, vendor, device, &names))
        snprintf(out, GPU_NAME, "%.*s", GPU_NAME - 1, names.device);
    else
        snprintf(out, GPU_NAME, "%s [%04x:%04x]", fallback, (unsigned)(vendor & 0xffff),
                 (unsigned)(device & 0xffff));
}

/* True for a hexadecimal number followed by a comma. */
static bool number_and_comma(struct cursor *cursor, uint64_t *out)
{
    cursor_blanks(cursor);
    return number_hex(&cursor->at, cursor->end, out) && cursor_literal(cursor, ",");
}

void names_amdgpu_line(struct span line, void *data)
{
    struct names_amdgpu_search *search = data;
    struct cursor cursor = cursor_over(line.bytes, line.size);
    uint64_t device, revision;
    if (search->found || !number_and_comma(&cursor, &device) ||
        !number_and_comma(&cursor, &revision))
        return;
    if (device != search->device || revision != search->revision)
        return;
    copy_rest(&cursor, search->out);
    search->found = search->out[0] != '\0';
}

bool names_find_amdgpu(const struct os *os, uint64_t device, uint64_t revision,
                       char out[static NAMES_TEXT])
{
    struct names_amdgpu_search search = {.device = device, .revision = revision, .out = out};
    out[0] = '\0';
    (void)os_share_lines(os, "libdrm/amdgpu.ids", names_amdgpu_line, &search);
    return search.found;
}
