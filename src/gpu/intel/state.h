/* state.h: the state of the Intel back end. A slot is a device, or a tile of one. Its identity is
 * written once, when a scan finds it, and read by all threads; the other fields belong to its
 * sampling thread, except for the clients, which that thread and the one of `processes` never use
 * at once. */
#pragma once

#include "gpu/clients.h"
#include "gpu/fill.h"
#include "gpu/pci.h"

#include <stdatomic.h>

enum {
    INTEL_GTS = 16,
    INTEL_CHANNELS = 48,
    INTEL_FOLDER = 160,
    INTEL_WINDOW_NS = 10 * 1000 * 1000 /* a shorter window is too coarse for a rate */
};

/* ---- differences of the drivers ---- */

/* Files below the folder of a GT; NULL: the driver has none. */
struct intel_dialect {
    const char *driver;
    const char *clocks[4];        /* MHz: actual, requested, minimum, maximum */
    const char *hardware_maximum; /* likewise, where there is no maximum */
    const char *idle;             /* ms */
    const char *throttle_folder, *throttle_status, *throttle_prefix;
    const char *engines;      /* a folder with a subfolder for each class of engine */
    bool counters_keep_awake; /* while one is open, the device does not sleep */
};

/* ---- part of a slot ---- */

/* A GT: engines with a common clock and sleep state. */
struct intel_gt {
    const struct intel_dialect *dialect;
    unsigned tile, number;
    char folder[INTEL_FOLDER];
    struct intel_idle {
        uint64_t stamp_ns, ms; /* 0: not read yet */
        struct value awake;    /* share of the last window; NOT_YET, or why it is not known */
    } idle;
};

enum intel_channel_kind {
    CHANNEL_ENERGY,
    CHANNEL_POWER,
    CHANNEL_TEMPERATURE,
    CHANNEL_FAN,
    CHANNEL_VOLTAGE,
    CHANNEL_KINDS
};

/* One sensor of the hwmon chips. */
struct intel_channel {
    enum intel_channel_kind kind;
    char path[INTEL_FOLDER + 32]; /* without "_input" */
    char label[GPU_LABEL];
    /* for energy: */
    const char *input; /* suffix that is appended to the path to read it */
    uint64_t range;    /* where the counter wraps around; 0: at 64 bits */
    uint64_t stamp_ns, microjoules;
    double rounds_joules; /* of all wraparounds so far */
    struct value joules, watts;
    bool dead; /* it stays at 0 while others count: not connected */
};

/* An engine with a perf counter. */
struct intel_engine {
    enum engine_kind kind;
    uint32_t active, total; /* indices of the counters; total == active: counts ns */
    uint64_t last_active, last_total;
};

struct intel_pmu {
    signed char state; /* UNSET: not tried; HAVE: counting; SUSPENDED: closed, so that the device
                        * can sleep; or why it does not count */
    int error;         /* of the first counter that could not be opened */
    bool was_open, lost_time;
    bool cut;          /* there are more engines than slots */
    unsigned failures; /* consecutive failed readings */
    struct os_perf perf;
    uint32_t engine_count;
    struct intel_engine engines[OS_PERF_EVENTS];
    uint64_t stamp_ns, still_since_ns; /* still: nearly idle */
    struct intel_class {
        uint32_t capacity;
        struct value ratio;
        double busy_seconds;
    } classes[ENGINE_KINDS];
};

/* The card's own memory, read by an ioctl on the open node. */
struct intel_memory {
    struct value total, used; /* UNSET: not reported */
    uint64_t asked_ns;        /* 0: not asked yet */
    int error;                /* of the last query */
};

struct intel_slot {
    /* its identity */
    struct gpu_identity who;   /* but for `index` and `swept` */
    char folder[INTEL_FOLDER]; /* of the device */
    char card[24];             /* "card0" */
    const char *driver;        /* i915 or xe */
    int32_t tile;              /* -1: the whole device */
    bool integrated, is_virtual;
    char render[24]; /* "renderD128"; "": none */
    struct gpu_node render_node;
    /* used by the sampling thread */
    bool found; /* some GTs and channels were found */
    uint32_t gt_count;
    struct intel_gt gts[INTEL_GTS];
    uint32_t channel_count;
    struct intel_channel channels[INTEL_CHANNELS];
    struct intel_pmu pmu;
    struct value utilization;
    uint64_t utilization_ns; /* when it was measured; 0: not yet */
    double busy_seconds;
    signed char busy_state; /* UNSET: nothing added yet */
    struct intel_memory memory;
    atomic_uint swept; /* bits GPU_SWEPT_…, as far as readings have shown; for the next scan */
    /* used by `processes` and, between its calls, by the sampling thread */
    struct clients clients;
};

/* Provides the counters: the operating system, or a simulation in tests. */
struct intel_counting {
    int (*add)(const struct os *os, struct os_perf *perf, uint32_t type, unsigned cpu,
               const struct os_perf_event *event);
    int (*read)(const struct os_perf *perf, uint64_t *values);
    void (*close)(struct os_perf *perf);
};

/* Opens a card's node and queries its driver; likewise replaced in tests. */
struct intel_asking {
    int (*open)(const struct os *os, const char *name, uint32_t major, uint32_t minor);
    int (*ask)(int descriptor, unsigned command, void *argument, size_t size);
    void (*close)(int descriptor);
};

struct intel {
    const vitals_context *context;
    const struct intel_counting *counting;
    const struct intel_asking *asking;
    uint32_t count; /* used by the scanning thread */
    struct intel_slot *slots[GPU_DEVICES_MAX];
};

/* For tests, before the first sample; the caller owns `counting`. */
void intel_count_with(void *state, const struct intel_counting *counting);
void intel_ask_with(void *state, const struct intel_asking *asking);

/* ---- readers ---- */

/* True if i915 or xe has a card; *error says why cards cannot be listed, or 0. */
bool intel_has_card(const struct os *os, int *error);

void intel_scan(void *state, struct gpu_scan *out);

void intel_sample(void *state, uint32_t slot, struct gpu_sample *out);

/* Converts a negative errno to the reason why a file of /sys has no value. */
vitals_availability intel_reason(int error);

/* Reads a number from a file of the folder, or returns why there is none. */
struct value intel_number(const struct os *os, const char *folder, const char *file);

/* Looks for GTs (gts.c) and hwmon channels (channels.c), once. */
void intel_find_gts(const struct os *os, struct intel_slot *slot);
void intel_find_channels(const struct os *os, struct intel_slot *slot);

/* False if their chip no longer exists: a driver that is bound again has another number. */
bool intel_channels_stand(const struct os *os, const struct intel_slot *slot);

void intel_fill_clocks(const struct os *os, struct intel_slot *slot, struct gpu_sample *sample);
void intel_fill_throttling(const struct os *os, struct intel_slot *slot, struct gpu_sample *sample);

/* intel_read_idle reads how long the GTs slept; intel_awake then returns the largest share of the
 * last window in which one of them was awake. */
void intel_read_idle(const struct os *os, struct intel_slot *slot, uint64_t now_ns);
struct value intel_awake(const struct intel_slot *slot);
void intel_fill_idle(const struct intel_slot *slot, struct gpu_sample *sample);

/* Returns which values of the device would come from the sweep, before the first reading
 * (sample.c). */
unsigned intel_guess_swept(const struct os *os, const struct intel_slot *slot);

/* Read and fill in the size and use of memory (memory.c). The first may open the device: do not
 * call it while the device is asleep. */
void intel_read_memory(struct intel *intel, struct intel_slot *slot, uint64_t now_ns,
                       const struct gpu_sample *sample);
void intel_fill_window(const struct os *os, const struct intel_slot *slot,
                       struct gpu_sample *sample);
void intel_fill_memory(const struct intel_slot *slot, struct gpu_sample *sample);

/* True if the memory in use is that of the processes; before the first query, if it must be. */
bool intel_memory_is_swept(const struct os *os, const struct intel_slot *slot);

/* Parses the answer of xe or i915: the memory of all regions of the card. Returns false if the
 * bytes are no such answer; `used` is UNSET if it is not reported. Pure. */
bool intel_parse_memory(const void *bytes, size_t size, bool is_xe, struct intel_memory *out);

void intel_fill_channels(const struct os *os, struct intel_slot *slot, struct gpu_sample *sample);

/* Opens the permitted counters, reads them, and closes those that must not stay open (pmu.c). */
void intel_read_pmu(struct intel *intel, struct intel_slot *slot, uint64_t now_ns);
void intel_close_pmu(struct intel *intel, struct intel_slot *slot);

/* Returns HAVE if the device's engines may be counted, or why not. Closes what it opens and does
 * not touch the slot. Not for a suspended device. */
vitals_availability intel_probe_pmu(struct intel *intel, const struct intel_slot *slot);
struct value intel_busiest(const struct intel_slot *slot);
void intel_fill_engines(const struct intel_slot *slot, struct gpu_sample *sample);
