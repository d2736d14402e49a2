/* clients.h: computes the processes of one device from a sweep, for every driver that supports the
 * kernel's drm-usage-stats.
 *
 * Two descriptors of one client (passed on, inherited, duplicated) have the same client identifier
 * and count once: the process that began first is charged. PID 1 and systemd-logind, which open
 * devices for others, are charged only if no other process holds the client. The other holders are
 * listed with the charged pid and without figures. A ratio needs two sweeps. A counter that goes
 * backwards counts as unchanged. Usage of a client stays with its process when the client closes.
 *
 * Thread rule: one thread at a time; pure except for memory. A steady update allocates none. */
#pragma once

#include "gpu/fill.h"
#include "gpu/sweep.h"

/* ---- drivers' names ---- */

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
    REGION_SYSTEM  /* the machine's memory, which the device may use */
};

/* The kind of a driver's name, which may have a number appended: vram, vram0; enc, enc1, enc_1. */
enum engine_kind client_engine(const char *name);
enum region_kind client_region(const char *name);

/* ---- state kept between sweeps ---- */

/* The sum over all visible processes, on one kind of engine. */
struct clients_engine {
    char label[GPU_LABEL];
    enum engine_kind kind;
    uint32_t capacity;
    double busy;                                  /* seconds so far */
    struct value utilization_ratio, busy_seconds; /* LOWER_BOUND */
};

struct clients {
    struct client_record *records, *spare; /* in the order of identifiers */
    size_t count, capacity, spare_capacity;
    struct user_record *users, *spare_users; /* in the order of pids */
    size_t user_count, user_capacity, spare_user_capacity;
    struct client_holder *holders; /* of one update */
    size_t holder_count, holder_capacity;
    /* Values of the last update: */
    uint64_t stamp_ns; /* of the sweep; 0: none yet */
    uint32_t engine_count;
    struct clients_engine engines[SWEEP_ENGINES];
    struct value memory_bytes, system_memory_bytes; /* of all visible processes; LOWER_BOUND. UNSET:
                                                     * no driver reports such memory */
};

/* An object of zeros is empty. */
void clients_done(struct clients *clients);

/* Fills *out except `stamp_ns`. The state is NOT_YET without a sweep, that of the sweep if it has
 * none, FAILED if memory is exhausted, else HAVE. `cut` is set if there are more processes, or some
 * that this user may not see. The same sweep again gives the same result. `unified`: the device has
 * no memory of its own, and memory_used_bytes is the part of the machine's that it uses, an
 * estimate. */
void clients_update(struct clients *clients, const struct gpu_identity *device, bool unified,
                    const struct gpu_sweep *sweep, struct gpu_processes *out);

/* Fills in rows of gpu_engine from the sums over processes, for labels that have no value yet;
 * capacity too. */
void clients_fill_engines(const struct clients *clients, struct gpu_sample *sample);

/* Returns the process in the list, inserted if it is missing. Returns NULL and sets `cut` if there
 * is no room. */
struct gpu_process *gpu_processes_put(struct gpu_processes *list, int64_t pid);
