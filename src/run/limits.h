/* limits.h: the limits of a run, and the actions if one is passed.
 *
 *     going on ──(a limit is passed, or what was left behind must go)──► asked ──(grace)──► killed
 *
 * Decides; the launcher does it. Samples come from the watcher and may be late; time is measured
 * here. A limit that was passed stays passed: the first one is named. Thread rule: pure but for its
 * own memory. */
#pragma once

#include "model/values.h"
#include <vitals/run.h>

enum limit { LIMIT_NONE, LIMIT_TIME, LIMIT_MEMORY, LIMIT_GPU_MEMORY, LIMIT_PROCESSES };

/* The newest that is known; what is not has no state above 0. Memory is that which the job held at
 * one moment for certain, and no estimate: a job that stays below its limit is never ended. A
 * cgroup tells what the processes in it hold now; samples, what they have proven of all: the job
 * may have left the cgroup, or never joined it. Either is enough. */
struct limits_seen {
    uint64_t run_ns; /* since the command began */
    struct value held_bytes, memory_bytes, gpu_memory_bytes, processes;
};

enum limits_order { LIMITS_NOTHING, LIMITS_ASK, LIMITS_KILL };

struct limits {
    uint64_t ns, memory_bytes, gpu_memory_bytes, processes, grace_ns;
    enum limit passed;
    uint64_t reached; /* what was seen of it */
    bool by_kernel;   /* which ended it before we saw it */
    bool survived;    /* the command itself, of which the kernel ended another process */
    bool asked;
    uint64_t kill_ns; /* of run_ns, once asked */
    uint64_t replace_ns,
        pause_ns; /* when a sampler may be replaced next, and how long after that */
};

void limits_init(struct limits *limits, const vitals_run_options *options);

/* Whether anything but time must be sampled for it. */
bool limits_are_sampled(const struct limits *limits);

/* The next action. ASK comes once, KILL again and again. */
enum limits_order limits_step(struct limits *limits, const struct limits_seen *seen);

/* Whether a sampler that has died is to be replaced now: of limits that need one, at once, and then
 * ever more rarely, so that one that dies of its driver each time costs little. */
bool limits_replace(struct limits *limits, uint64_t run_ns);

/* That it be ended without having passed a limit: ASK comes next. */
void limits_end(struct limits *limits, uint64_t run_ns);

/* That there be no grace any more. */
void limits_hurry(struct limits *limits, uint64_t run_ns);

/* The kernel ended one for want of memory. The limit is the reason where so much was used at most
 * (0: that is not known); below it the memory of the machine, or of a cgroup above, ran out, which
 * is none of our limits. `survived`: it was not the command that the kernel ended. */
void limits_held(struct limits *limits, uint64_t peak_bytes, bool survived);

/* Until when nothing need be done, of run_ns; UINT64_MAX: for ever. */
uint64_t limits_next_ns(const struct limits *limits);

/* "time", "memory", "gpu_memory", "processes"; "" for none. */
const char *limits_name(enum limit limit);

/* Describes the limit that was passed, for a person: "it used more than 512MiB of memory:
 * 612.3MiB". */
void limits_words(const struct limits *limits, char *out, size_t capacity);
