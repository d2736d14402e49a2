/* clients.h: from a sweep to the processes of one device, for every driver that speaks the kernel's
 * drm-usage-stats.
 *
 * Two descriptors of one client (passed on, inherited, duplicated) have the same client id and
 * count once: the process that began first is charged. PID 1 and systemd-logind, which open devices
 * for others, are charged only if no other process holds it. The other holders are listed with the
 * charged pid and without figures. A ratio needs two sweeps. A counter that goes backwards has not
 * moved. Usage of a client stays with its process when it closes. Thread rule: one thread at a
 * time; pure but for memory. A steady update allocates none. */
#ifndef VITALS_GPU_CLIENTS_H
#define VITALS_GPU_CLIENTS_H

#include "gpu/fill.h"
#include "gpu/sweep.h"

/* ---- what drivers call things ---- */

enum engine_kind {
    ENGINE_OTHER, /* keeps the driver's name */
    ENGINE_GRAPHICS,
    ENGINE_COMPUTE,
    ENGINE_COPY,
    ENGINE_ENCODER,
    ENGINE_DECODER,
    ENGINE_VIDEO, /* encodes and decodes */
    ENGINE_JPEG,
    ENGINE_VIDEO_ENHANCE,
    ENGINE_OPTICAL_FLOW,
    ENGINE_KINDS
};

/* "graphics"; NULL for ENGINE_OTHER. */
const char *engine_label(enum engine_kind kind);

enum region_kind {
    REGION_OTHER,  /* not counted */
    REGION_DEVICE, /* the device's own memory */
    REGION_SYSTEM  /* the machine's, which the device may use */
};

/* A driver's name → kind. A name of the table stands for itself and for itself with a number behind
 * it: "vram" for vram and vram0, "enc" for enc, enc1 and enc_1. */
struct client_name {
    const char *name;
    int kind;
};

/* What all drivers mean by a name, unless a back end says otherwise in front of it. */
enum engine_kind client_engine(const struct client_name *names, size_t count, const char *name);
enum region_kind client_region(const struct client_name *names, size_t count, const char *name);

/* ---- a device ---- */

/* Which clients are the device's, and how to read them. Borrowed for the call. */
struct clients_device {
    const char *pci_bus_id; /* as drm-pdev; "": it has none */
    const struct gpu_node *nodes;
    uint32_t node_count;
    bool by_node; /* of a partition and of a divided device: the address is that of all of them, so
                   * the node alone tells. Else one of both must agree */
    bool unified; /* it has no memory of its own: memory_used_bytes is then what of the machine's
                   * memory it may use, an estimate */
    const struct client_name *engines; /* in front of what all mean; may be NULL */
    const struct client_name *regions; /* likewise */
    size_t engine_names, region_names;
};

/* ---- what is kept from sweep to sweep ---- */

/* All processes that we may see together, on one kind of engine. */
struct clients_engine {
    char label[GPU_LABEL];
    enum engine_kind kind;
    uint32_t capacity;
    double busy;                                  /* seconds so far */
    struct value utilization_ratio, busy_seconds; /* LOWER_BOUND */
};

struct clients {
    struct client_record *records, *spare; /* in the order of ids */
    size_t count, capacity, spare_capacity;
    struct user_record *users, *spare_users; /* in the order of pids */
    size_t user_count, user_capacity, spare_user_capacity;
    struct client_holder *holders; /* of one update */
    size_t holder_count, holder_capacity;
    /* Of the last update: */
    uint64_t stamp_ns; /* of the sweep; 0: there was none yet */
    uint32_t engine_count;
    struct clients_engine engines[SWEEP_ENGINES];
    struct value memory_bytes, system_memory_bytes; /* of all processes that we may see; LOWER_BOUND
                                                       UNSET: no driver reports such memory */
};

/* One of zeros is empty. */
void clients_done(struct clients *clients);

/* Fills *out with everything but `stamp_ns` of a list that is not there: state NOT_YET without a
 * sweep, that of the sweep where it has none, else HAVE; cut where there are more, or processes
 * that we may not see. FAILED where memory is out. The same sweep once more gives the same answer.
 */
void clients_update(struct clients *clients, const struct clients_device *device,
                    const struct gpu_sweep *sweep, struct gpu_processes *out);

/* Fills in rows of gpu_engine from the sums over processes, for those labels that are not filled in
 * yet; capacity too. */
void clients_fill_engines(const struct clients *clients, struct gpu_sample *sample);

/* The process in the list, put in where it belongs; NULL where there is no room, and `cut` then. */
struct gpu_process *gpu_processes_put(struct gpu_processes *list, int64_t pid);

#endif
