/* pci.h: the kernel's files for a device on the PCI bus, for all vendors.
 *
 * A folder is the device's below /sys: "bus/pci/devices/0000:03:00.0", "class/drm/card0/device" or
 * the targets of these links; for a device on another bus, missing files are unsupported. Thread
 * rule: workers only; pure without a struct os. Allocates nothing. */
#pragma once

#include "gpu/fill.h"
#include "os/os.h"

enum { PCI_BUS_ID = 32, PCI_STATUS = 16 };

/* Writes "0000:03:00.0" for "0000:03:00.0", "00000000:03:00.0" or "03:00.0", case-insensitive;
 * returns false for any other text, and out is then "". */
bool pci_parse_bus_id(struct span text, char out[static PCI_BUS_ID]);

/* Writes "bus/pci/devices/0000:03:00.0". */
void pci_folder(char out[static OS_SYS_PATH], const char *bus_id);

/* Writes "FOLDER/FILE"; returns false if it is too long. */
bool pci_path(char out[static OS_SYS_PATH], const char *folder, const char *file);

/* Read a file of the folder: a text, or a number. Return 0 or a negative errno; a text is then
 * "". */
int pci_text(const struct os *os, const char *folder, const char *file, char *out, size_t capacity);
int pci_number(const struct os *os, const char *folder, const char *file, uint64_t *out);
bool pci_exists(const struct os *os, const char *folder, const char *file);

/* True if the device is suspended, suspending or resuming: then no file may be read that it would
 * have to answer, because that wakes it. A device without runtime power management is awake.
 * `status` (may be NULL) gets the kernel's word; "" if there is none. Reads one file, which wakes
 * nothing. */
bool pci_is_asleep(const struct os *os, const char *folder, char status[PCI_STATUS]);

/* Reads the identification numbers; returns false if one of the first two cannot be read. */
struct pci_numbers {
    uint64_t vendor, device;
    uint64_t subsystem_vendor, subsystem_device; /* 0: not reported */
    uint64_t revision;                           /* likewise */
};
bool pci_read_numbers(const struct os *os, const char *folder, struct pci_numbers *out);

/* Reads the address that the folder leads to; returns false, with out "", if there is none. */
bool pci_read_bus_id(const struct os *os, const char *folder, char out[static PCI_BUS_ID]);

/* Reads the kernel module's name, such as "amdgpu"; returns false if no driver is bound. */
bool pci_read_driver(const struct os *os, const char *folder, char *out, size_t capacity);

/* The PCIe link that connects the card: that of the outermost bridge that belongs to the card (same
 * vendor, at most two of them), because a device behind such a switch reports the link inside the
 * card. The maximum is the lower one of both ends. Unreported values are missing. Not for a
 * suspended device. */
struct pci_link {
    struct value generation, generation_max, width, width_max;
};
void pci_read_link(const struct os *os, const char *folder, struct pci_link *out);

/* Adds the device node whose numbers are in the file `path` below /sys ("226:128"). Does nothing if
 * the file has another form, or there are GPU_NODES_MAX already. */
void pci_add_node(const struct os *os, const char *path,
                  struct gpu_node nodes[static GPU_NODES_MAX], uint32_t *count);

/* Reads the version of a driver's module, which modules built outside the kernel have; else that of
 * the kernel. "" if neither is reported. */
void pci_read_version(const struct os *os, const char *driver, char *out, size_t capacity);

/* Begins the identity of a whole device: vendor, address ("": none) and the driver's version. */
void pci_identify(const struct os *os, const char *vendor, const char *driver, const char *bus_id,
                  struct gpu_identity *out);

/* "16.0 GT/s PCIe" → 4; 0: not known. Pure. */
unsigned pci_generation(struct span text);

/* Fills in the wanted ones of kernel_driver, pci_id, pci_subsystem_id, numa_node, local_cpus and
 * runtime_status that are not filled in yet; wakes nothing. `status`: the word of pci_is_asleep. */
void pci_fill(const struct os *os, const char *folder, const char *status,
              struct gpu_sample *sample);

/* Likewise for pcie_generation, pcie_generation_max, pcie_width, pcie_width_max. */
void pci_fill_link(const struct os *os, const char *folder, struct gpu_sample *sample);

/* ---- what a device is called, by the lists that distributions ship below /usr/share ----
 *
 * A list is read through once per question (a megabyte): ask when a device is found, not when it is
 * sampled. */

enum { NAMES_TEXT = 128 };

/* Looks up pci.ids: in hwdata/, then misc/. Gets the names of the vendor and the device; each is ""
 * if it is not listed. Returns false if the device is not listed. */
struct names_pci {
    char vendor[NAMES_TEXT], device[NAMES_TEXT];
};
bool names_find_pci(const struct os *os, uint64_t vendor, uint64_t device, struct names_pci *out);

/* Writes the device's name from pci.ids, else "FALLBACK [8086:56a0]". */
void names_device(const struct os *os, uint64_t vendor, uint64_t device, const char *fallback,
                  char out[static GPU_NAME]);

/* Looks up libdrm/amdgpu.ids, which distinguishes revisions. */
bool names_find_amdgpu(const struct os *os, uint64_t device, uint64_t revision,
                       char out[static NAMES_TEXT]);

/* Parsers of their lines: pure. */
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
