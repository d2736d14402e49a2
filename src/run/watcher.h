/* watcher.h: the second process of a run: samples the job's tree while the launcher only waits.
 *
 * It may hang in a driver, be killed, or come late; the job and its exit status do not depend on
 * it. What it has seen so far it tells in messages of one fixed form, each of which replaces the
 * one before. Thread rule: a process of its own. */
#ifndef VITALS_RUN_WATCHER_H
#define VITALS_RUN_WATCHER_H

#include "metric/values.h"
#include <vitals/context.h>

enum { WATCH_GPUS_MAX = 32, WATCH_LABEL = 24, WATCH_UUID = 96 };

struct watch_gpu {
    uint64_t key;
    char label[WATCH_LABEL];
    char uuid[WATCH_UUID];          /* "" where the driver gives none */
    struct value memory_peak_bytes; /* largest sum over the job's processes */
    struct value busy_seconds;      /* of the job's processes */
};

/* Everything the watcher knows, so far. */
struct watch_report {
    uint32_t size; /* sizeof, as a check */
    bool final;    /* no more will come */
    uint64_t ticks;
    uint64_t processes;               /* of the tree, that were seen */
    struct value resident_peak_bytes; /* largest sum of resident set sizes at one tick */
    struct value resident_sum_bytes;  /* sum of every process's own VmHWM */
    uint32_t gpu_count;
    struct watch_gpu gpus[WATCH_GPUS_MAX];
};

struct watcher_setup {
    const vitals_options *world;
    const vitals_clock *clock;
    uint64_t interval_ns;
    int64_t launcher; /* its pid: everything below it but ourselves is the job's */
    int channel;      /* reports go out; a message that comes, or the end of the channel, ends it */
};

/* Runs until the channel can be read; then reads once more and sends a last report. */
void watcher_main(void *setup);

#endif
