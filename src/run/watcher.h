/* watcher.h: the second process of a run: samples the job's tree while the launcher only waits.
 *
 * It may hang in a driver, be killed, or come late; the job and its exit status do not depend on
 * it. What a limit may need it tells in messages of one small form, each of which replaces the one
 * before; figures stand in memory that is shared (watch_area.h). Thread rule: a process of its own.
 */
#ifndef VITALS_RUN_WATCHER_H
#define VITALS_RUN_WATCHER_H

#include "model/values.h"
#include "os/marks.h"
#include "run/watch_area.h"
#include <vitals/context.h>
#include <vitals/run.h>

/* Of the newest tick. */
struct watch_report {
    uint32_t size; /* sizeof, as a check */
    bool final;    /* no more will come */
    uint64_t ticks;
    struct value memory_bytes;     /* of the tree: PSS where it is read, else resident */
    struct value gpu_memory_bytes; /* of the tree on all devices together */
    struct value living;           /* processes of the tree */
};

struct watcher_setup {
    const vitals_options *world;
    const vitals_clock *clock;
    uint64_t interval_ns;
    uint64_t begin_ns;            /* of the run, monotonic; 0: now */
    int64_t launcher;             /* its pid: everything below it but ourselves is the job's */
    const int64_t *excluded_pids; /* and but these, which it had before */
    size_t excluded_count;
    int activity, activity_folder; /* see accounting_activity */
    int channel; /* reports go out; a message that comes, or the end of the channel, ends it */
    struct watch_area *area;             /* NULL: figures go nowhere */
    const vitals_usage_options *usage;   /* NULL: defaults */
    const vitals_run_observer *observer; /* NULL: none */
    const struct os_marks *marks;        /* NULL, or one that was not made: none */
    const char *const *argv;             /* of the command, for the file of totals */
    const char *totals_path;             /* NULL: none */
    bool memory_counted;                 /* the kernel counts the memory of the tree */
    bool limits_watched; /* a limit depends on samples: often, and memory as the tree has it */
};

/* Runs until the channel can be read; then reads once more and sends a last report. */
void watcher_main(void *setup);

/* The account of a run that was over before there was anything to see: what is sampled is not
 * there, and each figure says why. Reads nothing; NULL when memory is out. Any thread. */
vitals_account *watcher_account_of_nothing(const struct watcher_setup *setup);

#endif
