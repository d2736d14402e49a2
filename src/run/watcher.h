/* watcher.h: the second process of a run: samples the job's tree while the launcher only waits.
 *
 * It may hang in a driver, be killed, or come late; the job and its exit status do not depend on
 * it. Values for limits are sent in messages of one small form, each of which replaces the one
 * before; figures stand in memory that both share. Thread rule: a process of its own. */
#pragma once

#include "model/values.h"
#include "os/marks.h"
#include <vitals/account.h>
#include <vitals/context.h>
#include <vitals/run.h>

/* The figures of the watcher, in memory that was made before it was forked. One of two reports is
 * kept while the other is written, so that a watcher that is killed has reported all but the last.
 * The reader believes nothing of it: counts are bounded, texts are ended, numbers checked. One
 * writer, one reader, a process each. */
struct watch_area;

/* NULL where there is no such memory: then there are no figures of samples. */
struct watch_area *watch_area_new(void);
void watch_area_free(struct watch_area *area); /* accepts NULL */

/* Tells this account; figures beyond what there is room for are left out, and it says so. */
void watch_area_write(struct watch_area *area, const vitals_account *account);

/* Returns the last report, yours to free; NULL if there is none, or memory is out. */
vitals_account *watch_area_read(struct watch_area *area);

/* Values of the newest tick. */
struct watch_report {
    uint32_t size; /* sizeof, as a check */
    bool final;    /* no more will come */
    uint64_t ticks;
    struct value memory_bytes;     /* of the tree for certain, without pages of files */
    struct value gpu_memory_bytes; /* of the tree on all devices together */
    struct value living;           /* processes of the tree */
};

struct watcher_setup {
    vitals_run_options options; /* its observer and file of totals are NULL for a second watcher */
    const vitals_clock *clock;
    uint64_t begin_ns;            /* of the run, monotonic */
    int64_t launcher;             /* its pid: everything below it but ourselves is the job's */
    const int64_t *excluded_pids; /* and but these, which it had before */
    size_t excluded_count;
    int activity, activity_folder; /* see accounting_activity */
    int channel; /* reports go out; a message that comes, or the end of the channel, ends it */
    struct watch_area *area;      /* NULL: figures go nowhere */
    const struct os_marks *marks; /* NULL, or one that was not made: none */
    bool memory_counted;          /* the kernel counts the memory of the tree */
    bool limits_watched; /* a limit depends on samples: often, and memory as the tree has it */
};

/* Runs until the channel can be read; then reads once more and sends a last report. */
void watcher_main(void *setup);

/* The account of a run that was over before there was anything to see: what is sampled is not
 * there, and each figure says why. Reads nothing; NULL when memory is out. Any thread. */
vitals_account *watcher_account_of_nothing(const struct watcher_setup *setup);
