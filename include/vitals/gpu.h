/* gpu.h: which row of a snapshot a person or CUDA means by a device's name.
 *
 * Pure functions over a snapshot, which any thread may call, but for vitals_cuda_enumerate, which
 * loads a driver. They look for these columns of the table gpu: uuid, vendor, name, pci_bus_id,
 * gpu_instance_id and compute_instance_id. VITALS_SET_GPUS asks for them; a device without a column
 * is one of which that is not known. Rows live as long as their snapshot. */
#ifndef VITALS_GPU_H
#define VITALS_GPU_H

#include <stddef.h>

#include <vitals/error.h>
#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the device or partition with a name. The name is one of
 *     "0", "0:1"                     its label: the number of a device, and of its partition
 *     "0000:17:00.0", "17:00.0"      its PCI address, with a domain of any length or without; upper
 *                                    or lower case. Of a partition's address, its device
 *     "GPU-8932f937-d72c-…"          its UUID or the beginning of it, upper or lower case; four
 *     "MIG-…"                        characters at least. A UUID that is another one's beginning
 *                                    means itself
 *     "MIG-GPU-8932f937-…/1/0"       a MIG device as older drivers call it: the UUID of its GPU
 *                                    (or the beginning), its GPU instance, its compute instance.
 * Errors: EARGUMENT (that is no name of any kind; or several devices have it: the message lists
 * them), EGONE (no device has that name; the message repeats it). */
VITALS_API VITALS_CHECKED int vitals_gpu_find(const vitals_snapshot *snapshot, const char *name,
                                              const vitals_row **out, vitals_error *error)
    VITALS_NONNULL(1, 2, 3);

/* Lists the devices that a CUDA program sees, in its order: the n-th of them is its device n.
 * Writes at most `capacity` rows and returns how many there are. Devices count as NVIDIA's by
 * vendor, which the snapshot must have; uuid, pci_bus_id and, of MIG devices, gpu_instance_id and
 * compute_instance_id are needed for names of that kind, name for vitals_cuda_order.
 *
 * `visible` is CUDA_VISIBLE_DEVICES, NULL where that is not set: then all. A list of numbers or of
 * UUIDs, which may be abbreviated; the first word says which, the two do not mix. As CUDA does,
 * this reads up to the first word that names no device and leaves out the rest; blanks around a
 * word, a plus before a number and what follows its digits do not count ("+1x" is 1); a device that
 * is named twice makes the list empty. Of MIG devices a program sees one at most, and the device
 * that is divided into them stands for its first.
 *
 * `order` is CUDA_DEVICE_ORDER, in which the numbers count: "PCI_BUS_ID", by address; NULL or
 * anything else, the fastest first. Which that is only CUDA knows: write what vitals_cuda_enumerate
 * gives here. Without it devices stand in the order of their addresses, and vitals_cuda_order says
 * whether that is right. */
VITALS_API VITALS_CHECKED size_t vitals_cuda_visible_devices(const vitals_snapshot *snapshot,
                                                             const char *visible, const char *order,
                                                             const vitals_row **rows,
                                                             size_t capacity) VITALS_NONNULL(1);

/* Returns HAVE if the numbers that CUDA gives to devices are known: by address, as asked for or
 * because all of NVIDIA's devices are of one model and so equally fast, or because CUDA itself was
 * asked; ESTIMATE if the models differ and the order of addresses is a guess; UNSUPPORTED if there
 * is no device for CUDA. */
VITALS_API VITALS_CHECKED vitals_availability vitals_cuda_order(const vitals_snapshot *snapshot,
                                                                const char *order)
    VITALS_NONNULL(1);

/* Checks whether the whole of CUDA_VISIBLE_DEVICES is used; of NULL and "" it is. Errors: EFORMAT
 * (the message names the first word that CUDA stops at, or that is named twice, and says why). */
VITALS_API VITALS_CHECKED int vitals_cuda_visible_check(const vitals_snapshot *snapshot,
                                                        const char *visible, const char *order,
                                                        vitals_error *error) VITALS_NONNULL(1);

/* Asks CUDA itself for its devices: loads `library` (NULL: libcuda.so.1) into this process for good
 * and calls cuInit, which opens the devices, reads CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER of
 * this process's environment as it was, and may block as long as a driver likes. Writes the UUIDs
 * of what this process would see, "GPU-…,GPU-…" in CUDA's order; of a MIG device too it says
 * "GPU-". Needed only where vitals_cuda_order says ESTIMATE, and with a CUDA_VISIBLE_DEVICES that
 * is not set. Errors: EUNSUPPORTED (no library, or one without these functions), ESYSTEM (detail is
 * CUDA's number), EARGUMENT (`capacity` is too small). Thread: any, one at a time. */
VITALS_API VITALS_CHECKED int vitals_cuda_enumerate(const char *library, char *out, size_t capacity,
                                                    vitals_error *error) VITALS_NONNULL(2);

#ifdef __cplusplus
}
#endif

#endif
