/* demo.h: devices that are not there, for trying vitals out, for pictures and for tests.
 *
 * Everything is a function of the context's seed and clock, so that the same seed and clock give
 * the same screen. Scenarios are in scenarios.c. Back end "demo", only on demand. */
#ifndef VITALS_GPU_DEMO_DEMO_H
#define VITALS_GPU_DEMO_DEMO_H

#include "gpu/backend.h"

extern const struct gpu_backend gpu_backend_demo;

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
 * the machine: see demo_processes.c. */
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

#endif
