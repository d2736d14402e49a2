/* state.h: what the demo keeps. Private to this folder. */
#ifndef VITALS_GPU_DEMO_STATE_H
#define VITALS_GPU_DEMO_STATE_H

#include "gpu/demo/curve.h"
#include "gpu/demo/demo.h"
#include "gpu/fill.h"

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
uint64_t demo_stamp_ns(const struct demo *demo);

/* Whether the device that comes and goes is away now. */
bool demo_is_away(const struct demo *demo);

/* Why nothing can be read of the device; HAVE: it can. */
signed char demo_is_silent(const struct demo *demo, uint32_t slot);

uint64_t demo_process_bytes(const struct demo_device *device, unsigned n);

/* Every reading of the device. */
void demo_read(const struct demo *demo, uint32_t slot, struct gpu_fill *fill);

#endif
