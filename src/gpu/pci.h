/* pci.h: what the kernel tells of a device on the PCI bus, whatever its vendor.
 *
 * A folder is the device's below /sys: "bus/pci/devices/0000:03:00.0", "class/drm/card0/device" or
 * where those lead to; of a device that is on no such bus, what it lacks is unsupported.
 * Thread rule: workers only; pure where there is no struct os. No memory is asked for. */
#ifndef VITALS_GPU_PCI_H
#define VITALS_GPU_PCI_H

#include "gpu/fill.h"
#include "os/os.h"

enum { PCI_BUS_ID = 32, PCI_STATUS = 16 };

/* "0000:03:00.0" of "0000:03:00.0", "00000000:03:00.0", "03:00.0", in capitals or not; false for
 * what is no address, and out is "" then. */
bool pci_parse_bus_id(struct span text, char out[static PCI_BUS_ID]);

/* "bus/pci/devices/0000:03:00.0". */
void pci_folder(char out[static OS_SYS_PATH], const char *bus_id);

/* "FOLDER/FILE"; false where it is too long. */
bool pci_path(char out[static OS_SYS_PATH], const char *folder, const char *file);

/* A file of the folder: a text, or a number. 0 or negative errno; a text is "" then. */
int pci_text(const struct os *os, const char *folder, const char *file, char *out, size_t capacity);
int pci_number(const struct os *os, const char *folder, const char *file, uint64_t *out);

/* Whether the device sleeps, falls asleep or wakes up: then no file is read that it would have to
 * answer, for that wakes it. A device without runtime power management is awake. `status` may be
 * NULL, else the kernel's word; "" where it has none. Reads one file, which wakes nothing. */
bool pci_is_asleep(const struct os *os, const char *folder, char status[PCI_STATUS]);

/* The numbers that say what it is; false where one of the first two cannot be read. */
struct pci_numbers {
    uint64_t vendor, device;
    uint64_t subsystem_vendor, subsystem_device; /* 0: not told */
    uint64_t revision;                           /* likewise */
};
bool pci_read_numbers(const struct os *os, const char *folder, struct pci_numbers *out);

/* The address that the folder leads to, or false; out is "" then. */
bool pci_read_bus_id(const struct os *os, const char *folder, char out[static PCI_BUS_ID]);

/* The kernel module's name: "amdgpu"; false where no driver is bound. */
bool pci_read_driver(const struct os *os, const char *folder, char *out, size_t capacity);

/* The PCIe link that connects the card: of the outermost bridge that is the card's own (the same
 * vendor's, at most two of them), because a device behind such a switch tells of the link inside
 * the card; the most that it can do is the less of both its ends. What is not told is missing. Not
 * of a device that is asleep. */
struct pci_link {
    struct value generation, generation_max, width, width_max;
};
void pci_read_link(const struct os *os, const char *folder, struct pci_link *out);

/* Adds the device node whose numbers stand in the file `path` below /sys ("226:128"). Nothing where
 * the file says something else, or there are GPU_NODES_MAX already. */
void pci_add_node(const struct os *os, const char *path,
                  struct gpu_node nodes[static GPU_NODES_MAX], uint32_t *count);

/* The version of a driver's module, which those have that are built beside the kernel; else the
 * kernel's. "" where neither is told. */
void pci_read_version(const struct os *os, const char *driver, char *out, size_t capacity);

/* "16.0 GT/s PCIe" → 4; 0: not known. Pure. */
unsigned pci_generation(struct span text);

/* Fills in what of this is wanted and not filled in yet: kernel_driver, pci_id, pci_subsystem_id,
 * numa_node, local_cpus and runtime_status, for which nothing is woken; false where the device is
 * asleep. */
bool pci_fill(const struct os *os, const char *folder, struct gpu_sample *sample);

/* Likewise pcie_generation, pcie_generation_max, pcie_width, pcie_width_max. */
void pci_fill_link(const struct os *os, const char *folder, struct gpu_sample *sample);

/* ---- what a device is called, by the lists that distributions ship below /usr/share ----
 *
 * A list is read through once per question (a megabyte): ask when a device is found, not when it is
 * sampled. */

enum { NAMES_TEXT = 128 };

/* Of pci.ids: hwdata/, then misc/. The vendor's name and the device's; each is "" where it is not
 * listed. False where the device is not. */
struct names_pci {
    char vendor[NAMES_TEXT], device[NAMES_TEXT];
};
bool names_find_pci(const struct os *os, uint64_t vendor, uint64_t device, struct names_pci *out);

/* What pci.ids calls a device, else "FALLBACK [8086:56a0]". */
void names_device(const struct os *os, uint64_t vendor, uint64_t device, const char *fallback,
                  char out[static GPU_NAME]);

/* Of libdrm/amdgpu.ids, which tells revisions apart. */
bool names_find_amdgpu(const struct os *os, uint64_t device, uint64_t revision,
                       char out[static NAMES_TEXT]);

/* Their lines: pure. */
struct names_pci_search {
    uint64_t vendor, device;
    bool in_vendor, found;
    struct names_pci *out;
};
void names_pci_line(struct span line, void *search);

struct names_amdgpu_search {
    uint64_t device, revision;
    bool found;
    char *out; /* NAMES_TEXT bytes */
};
void names_amdgpu_line(struct span line, void *search);

#endif
