/* sweep.h: the processes that have a GPU's device node open, with the kernel's counters: one pass
 * over /proc for all vendors.
 *
 * A descriptor of a DRM or accel device (majors 226 and 261) reports in /proc/PID/fdinfo the usage
 * of its client (the kernel's document drm-usage-stats). A sweep has every such descriptor that
 * this user may read; the back ends match clients to processes and count each once (clients.h). The
 * list of a process's descriptors is read again only now and then. A sweep is immutable and
 * reference-counted; any thread. */
#pragma once

#include "os/world.h"

enum {
    SWEEP_ENGINES = 16,
    SWEEP_REGIONS = 12,
    SWEEP_NAME = 24,
    SWEEP_CLIENTS_MAX = 16384 /* more are dropped, and `cut` is set */
};

/* Usage of one engine (or kind of engine) by the client. */
struct sweep_engine {
    char name[SWEEP_NAME]; /* the driver's name: render, gfx, rcs */
    uint32_t capacity;     /* number of engines of the kind; 1 unless reported */
    bool has_busy, has_cycles, has_total, has_percent;
    uint64_t busy_ns;              /* drm-engine-NAME */
    uint64_t cycles, total_cycles; /* drm-cycles-NAME, drm-total-cycles-NAME */
    double percent;                /* amdgpu of 5.14 to 5.18: the driver's own percentage */
};

/* Memory of the client in one region; UNSET if not reported. */
struct sweep_region {
    char name[SWEEP_NAME]; /* vram0, gtt, system */
    struct value total, shared, resident;
};

/* One open descriptor. */
struct sweep_client {
    uint64_t stamp_ns; /* monotonic, directly before it was read */
    int64_t pid;
    uint64_t start_ticks; /* of the process, read after the descriptor */
    bool is_broker;       /* PID 1 or systemd-logind, which open devices for others */
    uint32_t major, minor;
    char driver[SWEEP_NAME]; /* drm-driver; "" if not reported */
    char pdev[32];           /* drm-pdev: the PCI address; "" if there is none */
    bool has_id;
    uint64_t id; /* drm-client-id: equal in all descriptors of one client of the device */
    uint32_t engine_count, region_count;
    struct sweep_engine engines[SWEEP_ENGINES];
    struct sweep_region regions[SWEEP_REGIONS];
};

struct gpu_sweep {
    uint64_t stamp_ns; /* start of the sweep */
    signed char state; /* VITALS_HAVE, or why there is no sweep */
    bool cut;
    uint32_t processes, denied; /* number of processes read; of them, those whose descriptors are
                                 * denied */
    size_t count;
    struct sweep_client *clients; /* in the order of pids, then of descriptors */
};

struct gpu_sweep *gpu_sweep_ref(struct gpu_sweep *sweep);
void gpu_sweep_unref(struct gpu_sweep *sweep); /* accepts NULL */

/* Makes sweeps: the state of processes is kept between them. One thread at a time. */
struct gpu_sweeper;
struct gpu_sweeper *gpu_sweeper_new(const vitals_context *context);
void gpu_sweeper_free(struct gpu_sweeper *sweeper);

/* Takes a new sweep; NULL: memory is exhausted. May block. The items of the gate are devices, made
 * with sweep_device; a driver that hangs keeps the thread inside its gate, and a device that the
 * gate refuses is left out: the sweep is `cut`. A gate of NULL: none. */
struct gpu_sweep *gpu_sweeper_take(struct gpu_sweeper *sweeper, const struct os_gate *gate);

/* Never 0, because there is no major 0. */
static inline uint64_t sweep_device(uint32_t major, uint32_t minor)
{
    return (uint64_t)major << 32 | minor;
}

/* Parses one fdinfo into *out, whose stamp, pid, start, broker and device numbers are set by the
 * caller and kept. Returns false if the text is not from a DRM driver: *out is then undefined.
 * Unknown keys, invalid values and items beyond SWEEP_ENGINES and SWEEP_REGIONS are skipped; if a
 * key occurs twice the last one counts. Pure; the text may be anything. */
bool sweep_parse(struct span text, struct sweep_client *out);
