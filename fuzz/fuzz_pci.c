/* Addresses, speeds, and the lists of names: all over the same bytes. What is found is a string
 * within its room. */
#include "gpu/pci.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lists(const char *bytes, size_t size)
{
    struct names_pci names = {0};
    char name[NAMES_TEXT] = "";
    struct names_pci_search pci = {.vendor = 0x1002, .device = 0x73ff, .out = &names};
    struct names_amdgpu_search amdgpu = {.device = 0x73ff, .revision = 0xc7, .out = name};
    struct cursor cursor = cursor_over(bytes, size);
    for (struct span line; cursor_line(&cursor, &line);) {
        names_pci_line(line, &pci);
        names_amdgpu_line(line, &amdgpu);
    }
    if (pci.found != (names.device[0] != '\0') || amdgpu.found != (name[0] != '\0') ||
        memchr(names.vendor, '\0', sizeof names.vendor) == NULL ||
        memchr(names.device, '\0', sizeof names.device) == NULL ||
        memchr(name, '\0', sizeof name) == NULL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    char bus_id[PCI_BUS_ID], again[PCI_BUS_ID];
    if (pci_parse_bus_id((struct span){bytes, size}, bus_id)) {
        // What is written is read as the same.
        if (!pci_parse_bus_id((struct span){bus_id, strlen(bus_id)}, again) ||
            strcmp(bus_id, again) != 0)
            abort();
    } else if (bus_id[0] != '\0') {
        abort();
    }
    if (pci_generation((struct span){bytes, size}) > 7)
        abort();
    check_lists(bytes, size);
    return 0;
}
