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

/* ---- the launcher's side (watcher_handle.c): starts the process, takes its reports, notices that
 * it hangs or has died, and ends it:
 *
 *     start ──► listen … ──► end           a watcher that died may be replaced: start again
 *
 * Nothing here waits for the watcher for longer than is said. Thread rule: the launcher's. ---- */

struct watcher_handle {
    const vitals_clock *clock;
    int64_t pid; /* 0: none, or it was reaped */
    int pidfd, channel;
    bool started; /* at least once */
    bool ended;   /* there is none now */
    bool second;  /* it replaced one that died, for limits alone: it records and exports nothing */
    bool hung;    /* and was killed for it */

    struct watch_area *area;    /* its figures; NULL: no such memory could be had */
    struct watch_report report; /* the newest; zeros: none has come */
    bool asked_last; /* for its last report; a last report that was not asked for means a failure */

    uint64_t listened_ns, silent_ns; /* since begin; how long it has reported nothing since then */
    unsigned deaths;                 /* without a last report */
    const char *fate;                /* of the first that died; NULL: none did */
    uint64_t fate_ns;                /* when, since begin */
};

void watcher_handle_init(struct watcher_handle *watcher, const vitals_clock *clock);

/* Makes the shared memory for its figures if there is none yet, and starts the process. `setup`
 * lives until this returns; its channel and area are set here. If the process cannot be started the
 * run goes on without samples. */
void watcher_handle_start(struct watcher_handle *watcher, struct watcher_setup *setup);

/* Takes all reports. `run_ns` is the time since the begin of the run. */
void watcher_handle_listen(struct watcher_handle *watcher, uint64_t run_ns);

/* True if it has reported nothing for 5 s or 10 intervals, whichever is longer; an interval of 0
 * means 5 s. A round in which the launcher itself was stopped counts as 2 s at most. */
bool watcher_handle_is_hung(const struct watcher_handle *watcher, uint64_t interval_ns);
void watcher_handle_note_hung(struct watcher_handle *watcher, uint64_t run_ns);
void watcher_handle_kill_hung(struct watcher_handle *watcher, uint64_t run_ns);

/* The launcher has reaped it. */
void watcher_handle_died(struct watcher_handle *watcher, uint64_t run_ns);

/* True if the last report, which was asked for, has come. */
bool watcher_handle_has_final(const struct watcher_handle *watcher);

/* Asks for the last report and waits for it up to 400 ms; what hangs then is killed and left. */
void watcher_handle_end(struct watcher_handle *watcher);

/* Closes what a dead one has left, so that another can be started. */
void watcher_handle_close(struct watcher_handle *watcher);
