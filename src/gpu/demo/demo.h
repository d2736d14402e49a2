/* demo.h: simulated devices, for trying vitals out, for screenshots and for tests.
 *
 * Everything is a function of the context's seed and clock, so that the same seed and clock give
 * the same screen. Scenarios are in scenarios.c. Back end "demo", only on demand. */
#pragma once

#include "gpu/fill.h"

/* A product that the demo simulates. */
struct demo_model {
    const char *vendor, *name, *driver, *cuda; /* cuda: NULL if there is none */
    uint64_t memory_bytes;
    double idle_watts, limit_watts;
    double calm, strain; /* utilization moves between these */
    unsigned processes;  /* on each device or partition */
    unsigned partitions;
    const char *profile, *partition_kind;  /* of the partitions */
    const char *architecture, *capability; /* capability: NULL if there is none */
    unsigned multiprocessors, bus_bits, pcie_generation;
    unsigned links; /* NVLink or XGMI, to a switch */
};

/* The activity of a process on the demo's devices, and its workload. The process itself is a real
 * one: see scenarios.c. */
struct demo_program {
    bool compute, graphics;
    double memory_share; /* fraction of the device's memory */
    double share;        /* fraction of the device's utilization; at most 1 for all processes of a
                          * device */
    const char *cgroup;
    const char *pod, *space, *container; /* NULL outside Kubernetes */
};

enum { DEMO_PROGRAMS = 6, DEMO_FIRST_PID = 4242 };

struct demo_scenario {
    const char *name, *help;
    const struct demo_model *models[9]; /* one for each device; ends with NULL */
    bool idle;                          /* no load and no process */
    bool self;                          /* the first device's process is vitals itself */
    bool strangers;                     /* no process is one of this machine's */
    bool bare;                          /* drivers report only the identity of the devices */
    bool first_is_lost;
    bool second_hangs;   /* for five seconds, at each query */
    bool first_is_hot;   /* temperature and the power limit reduce its clocks */
    bool second_ails;    /* its memory has errors */
    bool third_sleeps;   /* it is suspended */
    bool second_is_away; /* for the second half of each twenty seconds */
    bool story;          /* devices fail and jobs come and go, as readings.c has it */
};

extern const struct demo_program demo_programs[DEMO_PROGRAMS];

/* Returns NULL if there is none. */
const struct demo_scenario *demo_scenario_find(const char *name);

/* Number of processes in the scenario; process n behaves like demo_programs[n % DEMO_PROGRAMS], and
 * has pid DEMO_FIRST_PID + n if there is no real process to take. */
unsigned demo_process_count(const struct demo_scenario *scenario);

/* ---- curves ---- */

/* A varying load that depends only on a seed: a closed curve of straight lines between random
 * points. So its integral (busy time, energy) is exact at any time and needs no memory, and no last
 * digit depends on libm. */
enum { DEMO_POINTS = 64, DEMO_POINT_SECONDS = 6 };

/* A curve of zeros is flat and 0. */
struct demo_curve {
    double points[DEMO_POINTS];
};

/* Makes a curve between two values. */
void demo_curve_init(struct demo_curve *curve, uint64_t seed, double low, double high);
double demo_curve_at(const struct demo_curve *curve, double seconds);

/* Returns the integral from 0 to that time. */
double demo_curve_integral(const struct demo_curve *curve, double seconds);

/* ---- state of the back end ---- */

enum { DEMO_SLOTS = 24 };

/* A device or a partition. */
struct demo_device {
    const struct demo_model *model;
    uint32_t index;
    int32_t parent_slot;
    unsigned first_process, process_count; /* indices in the scenario */
    struct demo_curve load;
};

struct demo {
    const vitals_context *context;
    const struct demo_scenario *scenario;
    uint32_t count;
    struct demo_device devices[DEMO_SLOTS];
};

/* ---- readings.c ---- */

/* Returns the time since boot, in steps, so that screens can be compared. */
double demo_seconds(const struct demo *demo);

/* How much a device works, between 0 and 1. */
double demo_load(const struct demo *demo, uint32_t slot);

/* The processes that are on a device now. */
unsigned demo_process_count_now(const struct demo *demo, uint32_t slot);

/* True if the device that comes and goes is away now. */
bool demo_is_away(const struct demo *demo);

/* Returns why the device cannot be read, or HAVE. */
signed char demo_is_silent(const struct demo *demo, uint32_t slot);

uint64_t demo_process_bytes(const struct demo_device *device, unsigned n);

/* Fills in every reading of the device. */
void demo_read(const struct demo *demo, uint32_t slot, struct gpu_sample *sample);
