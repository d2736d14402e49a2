/* watcher.h: the second process of a run: samples the job's tree while the launcher only waits.
 *
 * It may hang in a driver, be killed, or come late; the job and its exit status do not depend on
 * it. What it has seen so far it tells in messages of one fixed form, each of which replaces the
 * one before. Thread rule: a process of its own. */
#ifndef VITALS_RUN_WATCHER_H
#define VITALS_RUN_WATCHER_H

#include "metric/values.h"
#include <vitals/context.h>

/* A report is one message: some seven of this size fit into the channel at once. */
enum {
    WATCH_GPUS_MAX = 128,
    WATCH_SOURCES_MAX = 8,
    WATCH_LABEL = 24,
    WATCH_UUID = 96,
    WATCH_MESSAGE = 160
};

/* A device that the job used, or of which that cannot be said. */
struct watch_gpu {
    uint64_t key;
    bool used;
    signed char unread; /* why its processes could not be listed last; else 0 */
    char label[WATCH_LABEL];
    char uuid[WATCH_UUID];          /* "" where the driver gives none */
    struct value memory_peak_bytes; /* largest sum over the job's processes */
    struct value busy_seconds;      /* of the job's processes */
};

/* What a back end said last; `have` where it found its devices. */
struct watch_source {
    char label[WATCH_LABEL];
    char message[WATCH_MESSAGE];
    signed char state; /* a vitals_availability */
};

/* Everything the watcher knows, so far. */
struct watch_report {
    uint32_t size; /* sizeof, as a check */
    bool final;    /* no more will come */
    uint64_t ticks;
    uint64_t processes;               /* of the tree, that were seen */
    double cpu_seconds;               /* of their CPU clocks, as last read */
    struct value resident_peak_bytes; /* largest sum of resident set sizes at one tick */
    struct value resident_sum_bytes;  /* sum of every process's own VmHWM */
    uint32_t source_count, gpu_count;
    uint64_t gpus_left_out; /* at most at one tick: there was no room for them */
    struct watch_source sources[WATCH_SOURCES_MAX];
    struct watch_gpu gpus[WATCH_GPUS_MAX];
};
_Static_assert(sizeof(struct watch_report) < 32768, "several must fit into the channel");

struct watcher_setup {
    const vitals_options *world;
    const vitals_clock *clock;
    uint64_t interval_ns;
    int64_t launcher;         /* its pid: everything below it but ourselves is the job's */
    const int64_t *strangers; /* and but these, which it had before */
    size_t stranger_count;
    int channel; /* reports go out; a message that comes, or the end of the channel, ends it */
};

/* Runs until the channel can be read; then reads once more and sends a last report. */
void watcher_main(void *setup);

#endif
