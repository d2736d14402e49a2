/*
 * scenario.h - what is simulated: the library, its GPUs and MIG instances, processes, faulty calls.
 *
 * A scenario is read from text in one go and belongs to the simulation's state afterwards. Moving
 * values and rule counters inside it change at every call: guarded by the simulation's mutex.
 */
#ifndef SIMULATED_SCENARIO_H
#define SIMULATED_SCENARIO_H

#include "value.h"

#include <stdio.h>

enum device_field {
#define FIELD(symbol, key, kind, initial) FIELD_##symbol,
#define FIELD_END_OF_IDENTITY
#include "fields.def"
#undef FIELD
#undef FIELD_END_OF_IDENTITY
    FIELD_COUNT
};

enum {
    GPUS_MAX = 64,
    MIGS_MAX = 16, /* instances of one GPU */
    EXTRA_FIELDS_MAX = 32,
    NAMES_MAX = 32, /* missing functions */
    NAME_SIZE = 64,
};

/* A GPU (mig < 0) or a MIG instance of it. */
struct device {
    int gpu, mig;
    struct value fields[FIELD_COUNT];
    struct extra_field { /* field_<number>: what nvmlDeviceGetFieldValues says of that number */
        unsigned number;
        struct value value;
    } extra[EXTRA_FIELDS_MAX];
    unsigned extra_count;
};

enum { ENGINE_SM, ENGINE_MEMORY, ENGINE_ENCODER, ENGINE_DECODER, ENGINE_JPEG, ENGINE_OFA, ENGINES };
enum { PROCESS_COMPUTE = 1, PROCESS_GRAPHICS = 2, PROCESS_MPS = 4 };

struct process {
    char label[NAME_SIZE];
    int gpu;
    unsigned pid, kinds;
    bool running, listed;
    struct value memory, protected_memory, max_memory;
    struct value gpu_instance, compute_instance;
    struct value engines[ENGINES];
    struct value time_ms, start_us;
    struct value name;
};

/* [call NAME]: from its from_call-th to its until_call-th match, calls take longer or fail. */
struct rule {
    char call[NAME_SIZE]; /* or "*": every call that concerns a device */
    int gpu, mig;         /* -1: any */
    uint64_t latency_ns, from_call, until_call;
    nvml_return result;
    uint64_t matches;
};

enum process_layout {
    LAYOUT_DRIVER, /* whatever the function's name promises */
    LAYOUT_V1,
    LAYOUT_V2,
    LAYOUT_V3,
    LAYOUT_V3_CONFIDENTIAL
};

/* What programs make, and give back: free where `used` is not set. */
enum { EVENT_SETS_MAX = 256, GPM_SAMPLES_MAX = 256 };
struct event_set {
    bool used;
    uint64_t registered;     /* GPUs, by bit */
    uint64_t told[GPUS_MAX]; /* how many Xids of each */
};
struct gpm_sample {
    bool used;
    const struct device *device; /* NULL: not taken yet */
};

struct scenario {
    struct value driver_version, nvml_version, driver_branch;
    struct value cuda_version; /* 13000 for 13.0 */
    nvml_return init_result;
    enum process_layout process_layout;
    uint64_t sample_period_ns;
    unsigned sample_slots; /* what a size query answers at least */
    bool field_values_overrun;
    unsigned topology_level;
    char missing[NAMES_MAX][NAME_SIZE];
    unsigned missing_count;

    struct device **devices; /* in the order of (gpu, mig) once finished */
    size_t device_count;
    struct process *processes;
    size_t process_count;
    struct rule *rules;
    size_t rule_count;
    unsigned gpu_count;

    struct event_set event_sets[EVENT_SETS_MAX];
    struct gpm_sample gpm_samples[GPM_SAMPLES_MAX];
};

/* A whole scenario from text; name stands in the messages. NULL, and one message on standard error
 * with the line and what is accepted there, if the text is malformed. */
struct scenario *scenario_parse(const char *name, const char *text);
/* One more "key = value" of a section, e.g. "gpu 0", after parsing. */
bool scenario_set(struct scenario *scenario, const char *section, const char *key,
                  const char *value);
void scenario_free(struct scenario *scenario);

/* NULL where there is none. */
struct device *scenario_find(const struct scenario *scenario, int gpu, int mig);

/* Whether the row is a text, and the row's key. */
bool field_is_text(enum device_field field);
const char *field_key(enum device_field field);

#endif
