/* names.h: what a device is called, by the lists that distributions ship below /usr/share.
 *
 * A list is read through once per question (a megabyte): ask when a device is found, not when it is
 * sampled. Thread rule: workers only; the parsers are pure. No memory is asked for. */
#ifndef VITALS_GPU_NAMES_H
#define VITALS_GPU_NAMES_H

#include "gpu/backend.h"
#include "os/os.h"
#include "util/cursor.h"

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

/* ---- the lists, line by line ---- */

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
