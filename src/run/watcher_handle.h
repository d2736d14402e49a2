/* watcher_handle.h: the launcher's side of the watcher process (watcher.h): starts it, takes its
 * reports, notices that it hangs or has died, and ends it.
 *
 *     start ──► listen … ──► end           a watcher that died may be replaced: start again
 *
 * Nothing here waits for the watcher for longer than is said. Thread rule: the launcher's. */
#pragma once

#include "run/watcher.h"

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
