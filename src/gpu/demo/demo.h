/* demo.h: devices that are not there, for trying vitals out, for pictures and for tests.
 *
 * Everything is a function of the context's seed and clock, so that the same seed and clock give
 * the same screen. Scenarios are in scenarios.c. Back end "demo", only on demand. */
#ifndef VITALS_GPU_DEMO_DEMO_H
#define VITALS_GPU_DEMO_DEMO_H

#include "gpu/fill.h"

/* A product that the demo makes devices of. */
struct demo_model {
    const char *vendor, *name, *driver, *cuda; /* cuda: NULL where there is none */
    uint64_t memory_bytes;
    double idle_watts, limit_watts;
    double calm, strain; /* its utilization moves between them */
    unsigned processes;  /* on each device or partition */
    unsigned partitions;
    const char *profile, *partition_kind;  /* of those */
    const char *architecture, *capability; /* capability: NULL where there is none */
    unsigned multiprocessors, bus_bits, pcie_generation;
    unsigned links; /* NVLink or XGMI, to a switch */
};

/* The activity of a process on the demo's devices, and its workload. The process itself is one of
 * the machine: see scenarios.c. */
struct demo_program {
    bool compute, graphics;
    double memory_share; /* of its device's memory */
    double share;        /* of its device's utilization; those of one device sum to 1 at most */
    const char *cgroup;
    const char *pod, *space, *container; /* NULL outside of Kubernetes */
};

enum { DEMO_PROGRAMS = 6, DEMO_FIRST_PID = 4242 };

struct demo_scenario {
    const char *name, *help;
    const struct demo_model *models[9]; /* one a device; ends with NULL */
    bool idle;                          /* no load and no process */
    bool self;                          /* the first device's process is our own */
    bool strangers;                     /* no process is one of this machine's */
    bool bare;                          /* drivers tell only the identity of the devices */
    bool first_is_lost;
    bool second_hangs;   /* for five seconds, each time it is asked */
    bool first_is_hot;   /* heat and its power limit hold its clocks down */
    bool second_ails;    /* its memory has errors */
    bool third_sleeps;   /* it is suspended */
    bool second_is_away; /* for the second half of each twenty seconds */
};

extern const struct demo_program demo_programs[DEMO_PROGRAMS];
extern const struct demo_scenario demo_scenarios[]; /* ends with name NULL */

/* NULL where there is none. */
const struct demo_scenario *demo_scenario_find(const char *name);

/* How many processes the scenario has; the n-th does what demo_programs[n % DEMO_PROGRAMS] says,
 * and has pid DEMO_FIRST_PID + n where there is no process to take. */
unsigned demo_process_count(const struct demo_scenario *scenario);

/* ---- curves ---- */

/* A load that moves, made of nothing but a seed: a closed curve through made-up points: straight
 * between two, the same again after the last. So its integral (busy time, energy) is exact at any
 * moment and needs no memory, and no libm decides a last digit. */
enum { DEMO_POINTS = 64, DEMO_POINT_SECONDS = 6 };

/* A curve of zeros is flat and 0. */
struct demo_curve {
    double points[DEMO_POINTS];
};

/* A curve between two heights. */
void demo_curve_init(struct demo_curve *curve, uint64_t seed, double low, double high);
double demo_curve_at(const struct demo_curve *curve, double seconds);

/* From 0 to then. */
double demo_curve_integral(const struct demo_curve *curve, double seconds);

/* ---- what the back end keeps ---- */

enum { DEMO_SLOTS = 24 };

/* A device or a partition. */
struct demo_device {
    const struct demo_model *model;
    uint32_t index;
    int32_t parent_slot;
    unsigned first_process, process_count; /* in the scenario's counting */
    struct demo_curve load;
};

struct demo {
    const vitals_context *context;
    const struct demo_scenario *scenario;
    uint32_t count;
    struct demo_device devices[DEMO_SLOTS];
};

/* ---- readings.c ---- */

/* Time since boot, in steps, so that screens can be compared. */
double demo_seconds(const struct demo *demo);

/* Whether the device that comes and goes is away now. */
bool demo_is_away(const struct demo *demo);

/* Why nothing can be read of the device; HAVE: it can. */
signed char demo_is_silent(const struct demo *demo, uint32_t slot);

uint64_t demo_process_bytes(const struct demo_device *device, unsigned n);

/* Every reading of the device. */
void demo_read(const struct demo *demo, uint32_t slot, struct gpu_sample *sample);

#endif
