/* sweep.h: the processes that have a GPU's device node open, with the kernel's counters: one pass
 * over /proc for all vendors.
 *
 * A descriptor of a DRM or accel device (majors 226 and 261) reports in /proc/PID/fdinfo the usage
 * of its client (the kernel's document drm-usage-stats). A sweep holds every such descriptor that
 * we may read; the back ends match clients to processes and count each once (clients.h). The list
 * of a process's descriptors is read again only now and then. A sweep is immutable and counted; any
 * thread. */
#ifndef VITALS_GPU_SWEEP_H
#define VITALS_GPU_SWEEP_H

#include "os/world.h"

enum {
    SWEEP_ENGINES = 16,
    SWEEP_REGIONS = 12,
    SWEEP_NAME = 24,
    SWEEP_CLIENTS_MAX = 16384 /* beyond, `cut` */
};

/* What the client did on one engine (or kind of engine). */
struct sweep_engine {
    char name[SWEEP_NAME]; /* as the driver calls it: render, gfx, rcs */
    uint32_t capacity;     /* how many there are of the kind; 1 unless told */
    bool has_busy, has_cycles, has_total, has_percent;
    uint64_t busy_ns;              /* drm-engine-NAME */
    uint64_t cycles, total_cycles; /* drm-cycles-NAME, drm-total-cycles-NAME */
    uint64_t frequency_max_hertz;  /* drm-maxfreq-NAME; 0: not told */
    double percent;                /* amdgpu of 5.14 to 5.18: its own percentage */
};

/* Memory of the client in one region; UNSET where it is not told. */
struct sweep_region {
    char name[SWEEP_NAME]; /* vram0, gtt, system */
    struct value total, shared, resident, purgeable, active;
};

/* One open descriptor. */
struct sweep_client {
    uint64_t stamp_ns; /* monotonic, right before it was read */
    int64_t pid;
    uint64_t start_ticks; /* of the process, read behind the descriptor */
    bool is_broker;       /* PID 1 or systemd-logind, which open devices for others */
    uint32_t major, minor;
    char driver[SWEEP_NAME]; /* drm-driver; "" where it is not told */
    char pdev[32];           /* drm-pdev: the PCI address; "" where there is none */
    bool has_id;
    uint64_t id; /* drm-client-id: the same client in all descriptors of that device */
    uint32_t engine_count, region_count;
    struct sweep_engine engines[SWEEP_ENGINES];
    struct sweep_region regions[SWEEP_REGIONS];
};

struct gpu_sweep {
    uint64_t stamp_ns; /* when it began */
    signed char state; /* VITALS_HAVE, or why there is none */
    bool cut;
    uint32_t processes, denied; /* looked at; of them, those whose descriptors we may not see */
    size_t count;
    struct sweep_client *clients; /* in the order of pids, then of descriptors */
};

struct gpu_sweep *gpu_sweep_ref(struct gpu_sweep *sweep);
void gpu_sweep_unref(struct gpu_sweep *sweep); /* NULL is harmless */

/* Makes sweeps: what it knows of processes is kept from one to the next. One thread at a time. */
struct gpu_sweeper;
struct gpu_sweeper *gpu_sweeper_new(const vitals_context *context);
void gpu_sweeper_free(struct gpu_sweeper *sweeper);

/* A new one; NULL: no memory. May block. The items of the gate are devices, made with sweep_device;
 * a driver that hangs keeps the thread inside its gate, and a device that the gate refuses is left
 * out: the sweep is `cut`. NULL: no gate. */
struct gpu_sweep *gpu_sweeper_take(struct gpu_sweeper *sweeper, const struct os_gate *gate);

/* Never 0: there is no major 0. */
static inline uint64_t sweep_device(uint32_t major, uint32_t minor)
{
    return (uint64_t)major << 32 | minor;
}

/* Reads one fdinfo into *out, whose stamp, pid, start, broker and numbers are the caller's and
 * stand as they are. False where it is none of a DRM driver's: then *out tells nothing. A key that
 * is not known, a value that is none and what is beyond SWEEP_ENGINES and SWEEP_REGIONS is passed
 * over; of a key that stands twice the last one counts. Pure; the text may be anything. */
bool sweep_parse(struct span text, struct sweep_client *out);

#endif
