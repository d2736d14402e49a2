/* watcher_handle.c: see watcher.h. */
#include "run/watcher.h"

#include "os/launch.h"
#include "run/run_options.h"

#include <errno.h>

/* With what comes before and after, less than the 500 ms that run.h promises. */
static const uint64_t GRACE_NS = 400 * NS_PER_MS;

/* For its end after a kill; a process that sleeps in a driver does not even end then. */
static const uint64_t END_NS = 50 * NS_PER_MS;

static const uint64_t HUNG_NS = 5 * NS_PER_SECOND;
enum { HUNG_INTERVALS = 10 };

/* In one round of the launcher no more counts as silence: the launcher may have been stopped. */
static const uint64_t ROUND_MOST_NS = 2 * NS_PER_SECOND;

void watcher_handle_init(struct watcher_handle *watcher, const vitals_clock *clock)
{
    *watcher = (struct watcher_handle){.clock = clock, .pidfd = -1, .channel = -1, .ended = true};
}

void watcher_handle_start(struct watcher_handle *watcher, struct watcher_setup *setup)
{
    int ends[2];
    watcher->started = true;
    if (watcher->area == NULL)
        watcher->area = watch_area_new();
    if (os_channel(ends) < 0)
        return;
    setup->area = watcher->second ? NULL : watcher->area;
    setup->channel = ends[1];
    struct os_helper helper = {.main = watcher_main,
                               .data = setup,
                               .channel = ends[1],
                               .kept = {setup->activity, setup->activity_folder}};
    if (setup->options.observer != NULL) {
        helper.kept[2] = setup->options.observer->descriptor;
        helper.kept[3] = setup->options.observer->other_descriptor;
    }
    int code = os_fork_helper(&helper, &watcher->pid, &watcher->pidfd);
    os_close_descriptor(ends[1]);
    if (code < 0) {
        os_close_descriptor(ends[0]);
        return;
    }
    watcher->channel = ends[0];
    watcher->ended = watcher->hung = false;
    watcher->report.final = false;
    watcher->silent_ns = 0;
}

/* Takes every report that is there; false once no more can come. */
static bool take_reports(struct watcher_handle *watcher)
{
    struct watch_report report;
    int64_t size;
    while ((size = os_channel_receive(watcher->channel, &report, sizeof(report))) > 0) {
        if (size != (int64_t)sizeof(report) || report.size != sizeof(report))
            continue;
        watcher->report = report;
        watcher->silent_ns = 0;
    }
    return size == -EAGAIN && !watcher->report.final;
}

void watcher_handle_listen(struct watcher_handle *watcher, uint64_t run_ns)
{
    uint64_t before = watcher->listened_ns;
    uint64_t round = run_ns > before ? run_ns - before : 0;
    watcher->silent_ns += round < ROUND_MOST_NS ? round : ROUND_MOST_NS;
    watcher->listened_ns = run_ns;
    if (watcher->channel >= 0)
        (void)take_reports(watcher);
}

bool watcher_handle_is_hung(const struct watcher_handle *watcher, uint64_t interval_ns)
{
    uint64_t most = saturating_mul(interval_ns, HUNG_INTERVALS);
    return watcher->channel >= 0 && !watcher->ended &&
           watcher->silent_ns >= (most > HUNG_NS ? most : HUNG_NS);
}

static void note_fate(struct watcher_handle *watcher, const char *fate, uint64_t run_ns)
{
    if (watcher->fate != NULL)
        return;
    watcher->fate = fate;
    watcher->fate_ns = run_ns;
}

void watcher_handle_note_hung(struct watcher_handle *watcher, uint64_t run_ns)
{
    note_fate(watcher, "hung", run_ns > watcher->silent_ns ? run_ns - watcher->silent_ns : 0);
}

void watcher_handle_kill_hung(struct watcher_handle *watcher, uint64_t run_ns)
{
    watcher->hung = true;
    watcher_handle_note_hung(watcher, run_ns);
    (void)os_child_signal(watcher->pid, watcher->pidfd, OS_SIGNAL_KILL);
}

void watcher_handle_died(struct watcher_handle *watcher, uint64_t run_ns)
{
    watcher->ended = true;
    watcher->pid = 0; /* one of the job's processes may get it next */
    if (watcher->channel >= 0)
        (void)take_reports(watcher);
    if (watcher_handle_has_final(watcher))
        return;
    watcher->deaths++;
    note_fate(watcher, watcher->report.final ? "gave up" : "was killed", run_ns);
}

bool watcher_handle_has_final(const struct watcher_handle *watcher)
{
    return watcher->asked_last && watcher->report.final;
}

void watcher_handle_end(struct watcher_handle *watcher)
{
    const vitals_clock *clock = watcher->clock;
    if (watcher->channel < 0)
        return;
    uint64_t deadline = saturating_add(clock->monotonic_ns(clock->data), GRACE_NS);
    watcher->asked_last = true;
    (void)os_channel_send(watcher->channel, "", 1);
    while (take_reports(watcher)) {
        if (clock->wait_until(clock->data, watcher->channel, deadline) != 1)
            break;
    }
    if (!watcher->ended) {
        (void)os_child_signal(watcher->pid, watcher->pidfd, OS_SIGNAL_KILL);
        pace_wait(clock, watcher->pidfd, END_NS);
        os_reap_one(watcher->pid);
    }
    watcher_handle_close(watcher);
}

void watcher_handle_close(struct watcher_handle *watcher)
{
    os_close_descriptor(watcher->pidfd);
    os_close_descriptor(watcher->channel);
    watcher->pidfd = watcher->channel = -1;
}
