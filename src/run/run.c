/* run.c: the launcher: starts the command, waits, passes signals on, and counts.
 *
 *     launcher ── fork ──► watcher (samples; run/watcher.c)
 *        └──────── fork ──► the command, held back until it is counted
 *
 * It runs no thread and loads no vendor library, so nothing of it can hang: when the command ends,
 * the watcher has GRACE_NS for its last report and is then left behind. Thread rule: a process with
 * one thread. */
#include "model/request.h"
#include "os/launch.h"
#include "os/marks.h"
#include "run/about.h"
#include "run/account.h"
#include "run/limits.h"
#include "run/methods.h"
#include "run/run_options.h"
#include "run/track_child.h"
#include "run/tree.h"
#include "run/watcher.h"
#include "sampler/context.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* With what comes before and after, less than the 500 ms that are promised. */
static const uint64_t GRACE_NS = 400 * NS_PER_MS;

/* Who sleeps in the kernel does not even end when killed. */
static const uint64_t LAST_NS = 5 * NS_PER_SECOND;

/* How often it is looked whether a limit of what is sampled was passed. */
static const uint64_t LIMITS_NS = 100 * NS_PER_MS;

/* For the watcher's own end; one that sleeps in a driver cannot even be killed. */
static const uint64_t FAREWELL_NS = 50 * NS_PER_MS;

/* Who has said nothing for so long hangs: it tells of every tick. Where it need not be often, for
 * so many intervals. */
static const uint64_t HUNG_NS = 5 * NS_PER_SECOND;
enum { HUNG_INTERVALS = 10 };

/* Of one round no more counts as silence: it may be us who were stopped. */
static const uint64_t ROUND_MOST_NS = 2 * NS_PER_SECOND;

/* What is over by then is not worth a watcher: counting it needs none. */
static const uint64_t WATCH_AFTER_NS = 4 * NS_PER_MS;

/* What dies together with the command is gone by then. */
static const uint64_t DYING_NS = 10 * NS_PER_MS;

enum { SIGNAL_EXIT = 128 };

enum { CHILDREN_FIRST = 64, METHODS_TEXT = 96 };

struct launcher {
    vitals_run_options options;
    vitals_context *context; /* for /proc and the clock; no sampler is made of it */
    struct os_signals signals;
    struct os_child command;
    const char **environment; /* the command's */
    bool command_ended, told_to_end;
    int64_t watcher;
    int watcher_pidfd, channel;
    bool watched, watcher_ended; /* whether there ever was one; whether there is none */
    struct watch_area *area;     /* its figures; NULL: there is no such memory */
    struct watch_report report;  /* the newest */
    bool reported;
    int64_t *excluded_pids; /* children from before; room for the watcher */
    size_t excluded_count;
    bool excluded_known; /* else only what is below the command is known to be the job's */
    int64_t *children;   /* room for one more than excluded_pids and the watcher */
    size_t child_capacity;
    bool asked_last; /* for its last report; one that comes unasked says that it failed */
    uint64_t listened_ns, silent_ns; /* of run_ns, and how long it has said nothing since */
    bool watcher_hung;               /* and was killed for it */
    unsigned watcher_deaths;         /* without a last report */
    const char *watcher_fate;        /* of the first that died */
    bool watcher_is_second;          /* for limits alone: it records and tells nothing */
    uint64_t watcher_died_ns;        /* the first, of run_ns */
    struct accounting *accounting;   /* NULL: there was no memory for it */
    bool listens;                    /* who of it waits for a job to last was told that it does */
    struct counted counted[COUNTED_COUNT];
    char methods[METHODS_TEXT];
    struct run_facts facts;
    vitals_account *account;
    uint64_t begin_ns;
    struct os_marks marks;
    struct limits limits;
    uint64_t ended_ns; /* when the command had ended and the rest was to be; 0: not yet */
};

static const vitals_clock *clock_of(const struct launcher *launcher)
{
    return &launcher->context->os.clock;
}

static uint64_t now_ns(const struct launcher *launcher)
{
    const vitals_clock *clock = clock_of(launcher);
    return clock->monotonic_ns(clock->data);
}

/* A clock that a caller handed us may go back. */
static uint64_t run_ns(const struct launcher *launcher)
{
    uint64_t now = now_ns(launcher);
    return now > launcher->begin_ns ? now - launcher->begin_ns : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Until the descriptor can be read or the time is over. A clock that cannot wait must not cost the
 * job anything: the machine's own waits in its place. */
static void wait_for(const struct launcher *launcher, int descriptor, uint64_t ns)
{
    const vitals_clock *clock = clock_of(launcher), *machine = vitals_clock_system();
    if (clock->wait_until(clock->data, descriptor, saturating_add(now_ns(launcher), ns)) >= 0)
        return;
    uint64_t now = machine->monotonic_ns(machine->data);
    (void)machine->wait_until(machine->data, descriptor, saturating_add(now, ns));
}

/* ---- the watcher ---- */

static struct watcher_setup watcher_setup(const struct launcher *launcher, int channel)
{
    struct watcher_setup setup = {
        .world = launcher->options.world,
        .clock = clock_of(launcher),
        .interval_ns = launcher->options.interval_ns,
        .launcher = os_self(),
        .excluded_pids = launcher->excluded_pids,
        .excluded_count = launcher->excluded_count,
        .channel = channel,
        .begin_ns = launcher->begin_ns,
        .usage = launcher->options.usage,
        .argv = launcher->options.argv,
        .memory_counted = accounting_counts(launcher->accounting, COUNTED_MEMORY_PEAK_BYTES),
        .limits_watched = limits_are_sampled(&launcher->limits)};
    if (!launcher->watcher_is_second) {
        setup.area = launcher->area;
        setup.observer = launcher->options.observer;
        setup.marks = &launcher->marks;
        setup.totals_path = launcher->options.totals_path;
    }
    return setup;
}

static void start_watcher(struct launcher *launcher)
{
    int ends[2];
    if (!launcher->watched)
        os_marks_tidy(&launcher->marks); /* what ends sooner leaves it to the next */
    launcher->watched = true;
    if (launcher->area == NULL)
        launcher->area = watch_area_new();
    if (os_channel(ends) < 0)
        return;
    struct watcher_setup setup = watcher_setup(launcher, ends[1]);
    setup.activity = accounting_activity(launcher->accounting, &setup.activity_folder);
    struct os_helper helper = {.main = watcher_main,
                               .data = &setup,
                               .channel = ends[1],
                               .kept = {setup.activity, setup.activity_folder}};
    if (setup.observer != NULL) {
        helper.kept[2] = setup.observer->descriptor;
        helper.kept[3] = setup.observer->other_descriptor;
    }
    int code = os_fork_helper(&helper, &launcher->watcher, &launcher->watcher_pidfd);
    os_close_descriptor(ends[1]);
    if (setup.activity > 0)
        os_close_descriptor(setup.activity);
    if (code < 0) {
        os_close_descriptor(ends[0]);
        return;
    }
    launcher->channel = ends[0];
    launcher->watcher_ended = launcher->watcher_hung = false;
    launcher->report.final = false;
    launcher->silent_ns = 0;
}

/* Who observes a run sees its beginning, and a limit of what is sampled holds from the beginning:
 * their watcher is there before the command. */
static bool is_watched_at_once(const struct launcher *launcher)
{
    return launcher->options.observer != NULL || limits_are_sampled(&launcher->limits);
}

/* How long until it is to be watched; UINT64_MAX where it is, or was. */
static uint64_t unwatched_ns(const struct launcher *launcher)
{
    uint64_t lived = now_ns(launcher) - launcher->begin_ns;
    if (launcher->watched)
        return UINT64_MAX;
    return lived < WATCH_AFTER_NS ? WATCH_AFTER_NS - lived : 0;
}

/* How long until a method that is not worth it for what is over at once may begin, which it does in
 * a tick: where nobody is to be started then, that would be much later. */
static uint64_t unlistened_ns(const struct launcher *launcher)
{
    uint64_t lived = now_ns(launcher) - launcher->begin_ns;
    if (launcher->listens)
        return UINT64_MAX;
    return lived < WATCH_AFTER_NS ? WATCH_AFTER_NS - lived : 0;
}

static void tick_accounting(struct launcher *launcher)
{
    launcher->listens |= now_ns(launcher) - launcher->begin_ns >= WATCH_AFTER_NS;
    accounting_tick(launcher->accounting);
}

/* Takes every report that is there; false once no more can come. */
static bool take_reports(struct launcher *launcher)
{
    struct watch_report report;
    int64_t size;
    while ((size = os_channel_receive(launcher->channel, &report, sizeof(report))) > 0) {
        if (size != (int64_t)sizeof(report) || report.size != sizeof(report))
            continue;
        launcher->report = report;
        launcher->reported = true;
        launcher->silent_ns = 0;
    }
    return size == -EAGAIN && !(launcher->reported && launcher->report.final);
}

/* Asks for the last report and waits for it a little; then the watcher is nobody's concern. */
static void end_watcher(struct launcher *launcher)
{
    if (launcher->channel < 0)
        return;
    const vitals_clock *clock = clock_of(launcher);
    uint64_t deadline = saturating_add(now_ns(launcher), GRACE_NS);
    launcher->asked_last = true;
    (void)os_channel_send(launcher->channel, "", 1);
    while (take_reports(launcher)) {
        if (clock->wait_until(clock->data, launcher->channel, deadline) != 1)
            break;
    }
    if (!launcher->watcher_ended) {
        (void)os_child_signal(launcher->watcher, launcher->watcher_pidfd, OS_SIGNAL_KILL);
        wait_for(launcher, launcher->watcher_pidfd, FAREWELL_NS);
        os_reap_one(launcher->watcher);
    }
    os_close_descriptor(launcher->watcher_pidfd);
    os_close_descriptor(launcher->channel);
    launcher->watcher_pidfd = launcher->channel = -1;
}

static bool has_final(const struct launcher *launcher)
{
    return launcher->asked_last && launcher->reported && launcher->report.final;
}

static bool is_hung(const struct launcher *launcher)
{
    uint64_t most = limits_are_sampled(&launcher->limits)
                        ? 0
                        : saturating_mul(launcher->options.interval_ns, HUNG_INTERVALS);
    return launcher->channel >= 0 && !launcher->watcher_ended &&
           launcher->silent_ns >= (most > HUNG_NS ? most : HUNG_NS);
}

static void note_fate(struct launcher *launcher, const char *fate, uint64_t since_ns)
{
    if (launcher->watcher_fate != NULL)
        return;
    launcher->watcher_fate = fate;
    launcher->watcher_died_ns = since_ns;
}

static void note_hung(struct launcher *launcher)
{
    uint64_t now = run_ns(launcher), silent = launcher->silent_ns;
    note_fate(launcher, "hung", now > silent ? now - silent : 0);
}

static void watcher_died(struct launcher *launcher)
{
    launcher->watcher_ended = true;
    if (launcher->channel >= 0)
        (void)take_reports(launcher);
    if (has_final(launcher))
        return;
    launcher->watcher_deaths++;
    bool gave_up = launcher->reported && launcher->report.final;
    note_fate(launcher, gave_up ? "gave up" : "was killed", run_ns(launcher));
}

/* Takes what the watcher has told. One that hangs while limits depend on it is as good as dead. */
static void listen(struct launcher *launcher)
{
    uint64_t now = run_ns(launcher), before = launcher->listened_ns;
    launcher->silent_ns += now > before ? least(now - before, ROUND_MOST_NS) : 0;
    launcher->listened_ns = now;
    if (launcher->channel >= 0)
        (void)take_reports(launcher);
    if (launcher->watcher_hung || !limits_are_sampled(&launcher->limits) || !is_hung(launcher))
        return;
    launcher->watcher_hung = true;
    note_hung(launcher);
    (void)os_child_signal(launcher->watcher, launcher->watcher_pidfd, OS_SIGNAL_KILL);
}

/* A limit that depends on samples is not given up with the sampler. */
static void replace_watcher(struct launcher *launcher)
{
    if (launcher->watcher_deaths == 0 || !launcher->watcher_ended || launcher->command_ended ||
        has_final(launcher) || !limits_replace(&launcher->limits, run_ns(launcher)))
        return;
    os_close_descriptor(launcher->watcher_pidfd);
    os_close_descriptor(launcher->channel);
    launcher->watcher_pidfd = launcher->channel = -1;
    launcher->watcher_is_second = true;
    start_watcher(launcher);
}

/* ---- the tree ---- */

/* Calls for what is below us but the watcher, and what was there before. */
static struct tree tree_of(struct launcher *launcher)
{
    size_t watchers = launcher->watcher_ended ? 0 : 1;
    if (launcher->excluded_pids == NULL)
        return (struct tree){.context = launcher->context, .below = launcher->command.pid};
    launcher->excluded_pids[launcher->excluded_count] = launcher->watcher;
    return (struct tree){.context = launcher->context,
                         .below = launcher->excluded_known ? 0 : launcher->command.pid,
                         .not_ours = launcher->excluded_pids,
                         .not_ours_count = launcher->excluded_count + watchers};
}

/* All of it, and the command even where /proc does not show it. One that is stopped is continued,
 * so that it can do what it was asked. */
static void ask_to_end(struct launcher *launcher)
{
    struct tree tree = tree_of(launcher);
    if (tree_signal(&tree, OS_SIGNAL_TERM) <= 0 && !launcher->command_ended)
        (void)os_child_signal(launcher->command.pid, launcher->command.pidfd, OS_SIGNAL_TERM);
    if (tree_signal(&tree, os_signal_continue) <= 0 && !launcher->command_ended)
        (void)os_child_signal(launcher->command.pid, launcher->command.pidfd, os_signal_continue);
}

static void kill_all(struct launcher *launcher)
{
    struct tree tree = tree_of(launcher);
    if (accounting_kill(launcher->accounting))
        return;
    if (tree_signal(&tree, OS_SIGNAL_KILL) <= 0 && !launcher->command_ended)
        (void)os_child_signal(launcher->command.pid, launcher->command.pidfd, OS_SIGNAL_KILL);
}

static void obey_limits(struct launcher *launcher)
{
    const struct limits_seen seen = {
        .run_ns = run_ns(launcher),
        .memory_bytes = launcher->report.memory_bytes,
        .gpu_memory_bytes = launcher->report.gpu_memory_bytes,
        .processes = launcher->report.living,
    };
    switch (limits_step(&launcher->limits, &seen)) {
    case LIMITS_NOTHING: return;
    case LIMITS_ASK: ask_to_end(launcher); return;
    case LIMITS_KILL: kill_all(launcher); return;
    }
}

/* ---- children and signals ---- */

static void add_usage(struct os_usage *sum, const struct os_usage *usage)
{
    sum->user_seconds += usage->user_seconds;
    sum->system_seconds += usage->system_seconds;
    sum->read_bytes = saturating_add(sum->read_bytes, usage->read_bytes);
    sum->written_bytes = saturating_add(sum->written_bytes, usage->written_bytes);
    sum->minor_faults = saturating_add(sum->minor_faults, usage->minor_faults);
    sum->major_faults = saturating_add(sum->major_faults, usage->major_faults);
    sum->voluntary_switches = saturating_add(sum->voluntary_switches, usage->voluntary_switches);
    sum->involuntary_switches = saturating_add(sum->involuntary_switches,
                                               usage->involuntary_switches);
}

/* Somebody who became us by exec may have had children before: what they use is not the job's. */
static bool is_excluded(const struct launcher *launcher, int64_t pid)
{
    for (size_t i = 0; i < launcher->excluded_count; i++) {
        if (launcher->excluded_pids[i] == pid)
            return true;
    }
    return false;
}

/* All of them, however many there are. */
static void note_excluded(struct launcher *launcher)
{
    enum { TRIES = 4 };
    size_t capacity = CHILDREN_FIRST;
    bool none = os_child_is_none();
    for (int i = 0; i < TRIES; i++) {
        int64_t *pids = memory_array(capacity + 1, sizeof(*pids));
        int64_t count = pids == NULL ? -ENOMEM
                        : none       ? 0
                                     : os_children(&launcher->context->os, pids, capacity);
        if (count >= 0 && (size_t)count <= capacity) {
            launcher->excluded_pids = pids;
            launcher->excluded_count = (size_t)count;
            launcher->excluded_known = true;
            break;
        }
        memory_free(pids);
        if (count < 0)
            break;
        capacity = 2 * (size_t)count; /* more may come until it is read again */
    }
    launcher->children = memory_array(launcher->excluded_count + 2, sizeof(*launcher->children));
    if (launcher->children != NULL)
        launcher->child_capacity = launcher->excluded_count + 2;
}

/* Whether a child of ours is the job's. */
static bool is_ours(const struct launcher *launcher, int64_t pid)
{
    return pid != launcher->watcher && !is_excluded(launcher, pid);
}

static void child_ended(struct launcher *launcher, const struct os_reaped *child)
{
    if (is_excluded(launcher, child->pid))
        return;
    if (child->pid == launcher->watcher) {
        watcher_died(launcher);
        launcher->watcher = 0; /* its pid may be one of the job's next */
        return;
    }
    struct run_facts *facts = &launcher->facts;
    accounting_reaped(launcher->accounting, child);
    add_usage(&facts->usage, &child->usage);
    facts->reaped++;
    if (child->pid != launcher->command.pid)
        return;
    launcher->command_ended = true;
    facts->wall_seconds = (double)run_ns(launcher) / 1e9;
    facts->signal = child->signal;
    if (facts->failure[0] == '\0')
        facts->exit_code = child->signal != 0 ? SIGNAL_EXIT + child->signal : child->exit_code;
}

/* Whether something of the job still runs beside the command. */
enum left { LEFT_NOTHING, LEFT_SOMETHING, LEFT_UNKNOWN };

static enum left descendants_left(const struct launcher *launcher)
{
    if (launcher->watcher_ended && os_child_is_none())
        return LEFT_NOTHING;
    int64_t *pids = launcher->children;
    int64_t count = pids == NULL
                        ? -1
                        : os_children(&launcher->context->os, pids, launcher->child_capacity);
    if (count < 0)
        return LEFT_UNKNOWN;
    for (size_t i = 0; i < (size_t)count && i < launcher->child_capacity; i++) {
        bool ours = !launcher->watcher_ended && pids[i] == launcher->watcher;
        if (!ours && !is_excluded(launcher, pids[i]))
            return LEFT_SOMETHING;
    }
    return LEFT_NOTHING;
}

/* Ends what the command left behind: true while something of it is there and can be hoped to go. */
static bool ends_rest(struct launcher *launcher)
{
    struct tree tree = tree_of(launcher);
    struct tree_sum sum;
    enum left left = descendants_left(launcher);
    if (left == LEFT_UNKNOWN)
        left = tree_sum(&tree, &sum) == 0 && sum.processes > 0 ? LEFT_SOMETHING : LEFT_NOTHING;
    if (left == LEFT_NOTHING)
        return false;
    uint64_t now = run_ns(launcher);
    if (!launcher->limits.asked) {
        limits_end(&launcher->limits, now);
        ask_to_end(launcher);
    }
    if (launcher->ended_ns == 0)
        launcher->ended_ns = now;
    uint64_t most = saturating_add(launcher->limits.grace_ns, LAST_NS);
    return now - launcher->ended_ns < most;
}

/* Whether to wait on for what the command left behind. Where the kernel does not list our children,
 * the end of all of them can be waited for, and so the watcher goes first. */
static bool waits_for_rest(struct launcher *launcher)
{
    if (launcher->limits.asked || launcher->options.kill_tree != 0)
        return ends_rest(launcher);
    if (launcher->options.wait_for_descendants == 0)
        return false;
    enum left left = descendants_left(launcher);
    if (left == LEFT_UNKNOWN && !launcher->watcher_ended) {
        end_watcher(launcher);
        launcher->watcher_ended = true;
    }
    return left != LEFT_NOTHING;
}

/* Everything that changed; false where we have no child any more. */
static bool reap_ended(struct launcher *launcher)
{
    struct os_reaped child;
    int64_t pid;
    for (enum os_child_change change; (change = os_child_next(&pid)) != OS_CHILD_NONE;) {
        if (change == OS_CHILD_LAST)
            return false;
        if (change == OS_CHILD_ENDED && is_ours(launcher, pid))
            accounting_reaping(launcher->accounting, pid);
        change = os_reap(pid, &child);
        if (change == OS_CHILD_NONE)
            break;
        if (change == OS_CHILD_ENDED)
            child_ended(launcher, &child);
        else if (change == OS_CHILD_STOPPED && pid == launcher->command.pid &&
                 os_child_stops_us(&launcher->signals, pid, child.signal))
            os_stop_self(&launcher->signals, child.signal);
    }
    return true;
}

/* True while there is something to wait for. */
static bool reap(struct launcher *launcher)
{
    bool any = reap_ended(launcher);
    return any && (!launcher->command_ended || waits_for_rest(launcher));
}

/* One who is impatient: waiting for the rest is over, or its grace is. */
static void end_sooner(struct launcher *launcher)
{
    if (launcher->limits.asked)
        limits_hurry(&launcher->limits, run_ns(launcher));
    else
        launcher->told_to_end = true;
}

static void pass_signals(struct launcher *launcher)
{
    bool forward;
    for (int signal;
         (signal = os_signals_next(&launcher->signals, launcher->command.pid, &forward)) != 0;) {
        if (launcher->command_ended && os_signal_is_end(signal))
            end_sooner(launcher);
        else if (!launcher->command_ended && forward &&
                 !os_child_goes_on(launcher->command.pid, signal))
            (void)os_child_signal(launcher->command.pid, launcher->command.pidfd, signal);
    }
}

/* How long nothing has to be done that no signal tells of. */
static uint64_t idle_ns(const struct launcher *launcher)
{
    uint64_t idle = least(launcher->options.interval_ns, ACCOUNTING_TICK_NS);
    uint64_t now = run_ns(launcher), next = limits_next_ns(&launcher->limits);
    if (limits_are_sampled(&launcher->limits))
        idle = least(idle, LIMITS_NS);
    idle = least(idle, unwatched_ns(launcher));
    idle = least(idle, unlistened_ns(launcher));
    return least(idle, next > now ? next - now : 0);
}

/* Until the command has ended, and what it left behind where that is wanted. */
static void wait_for_end(struct launcher *launcher)
{
    while (reap(launcher) && !launcher->told_to_end) {
        obey_limits(launcher); /* behind reap: who ended in time did so, however late we are */
        if (unwatched_ns(launcher) == 0)
            start_watcher(launcher);
        /* Reports lie in the channel until then: nothing of the job waits for them. But it is of
         * limited size, so they are taken with each signal and at least every interval. */
        wait_for(launcher, launcher->signals.descriptor, idle_ns(launcher));
        pass_signals(launcher);
        tick_accounting(launcher);
        listen(launcher);
        replace_watcher(launcher);
    }
}

/* ---- what still runs at the end ---- */

/* Reads the CPU clocks of everything below us, in this thread. */
static int count_left(struct launcher *launcher)
{
    struct run_facts *facts = &launcher->facts;
    struct tree tree = tree_of(launcher);
    struct tree_sum sum;
    int code = tree_sum(&tree, &sum);
    if (code < 0)
        return code;
    facts->left = sum.processes;
    facts->left_cpu_seconds = sum.cpu_seconds;
    facts->left_unknown = sum.cut;
    return 0;
}

/* What ended with the command, or is just about to, may not be reaped yet: it is no longer among
 * what runs, and not among what was counted. It is waited for a moment. */
static enum left settle(struct launcher *launcher)
{
    uint64_t end = saturating_add(run_ns(launcher), DYING_NS);
    for (;;) {
        enum left left = reap_ended(launcher) ? descendants_left(launcher) : LEFT_NOTHING;
        uint64_t now = run_ns(launcher);
        if (left != LEFT_SOMETHING || now >= end || launcher->told_to_end)
            return left;
        wait_for(launcher, launcher->signals.descriptor, end - now);
        pass_signals(launcher);
    }
}

/* ---- the whole ---- */

static int start_command(struct launcher *launcher, vitals_error *error)
{
    struct os_places places;
    accounting_places(launcher->accounting, &places);
    launcher->environment = os_marks_environment(&launcher->marks, launcher->options.environment);
    struct os_command command = {.argv = launcher->options.argv,
                                 .environment = launcher->environment,
                                 .descriptors = launcher->options.child_descriptors,
                                 .signals = &launcher->signals,
                                 .places = &places,
                                 .shares_memory = true};
    int code = launcher->environment != NULL ? os_spawn(&command, &launcher->command) : -ENOMEM;
    if (code < 0)
        return error_system(error, -code, "cannot start a process for the command");
    os_signals_missed(&launcher->signals);
    accounting_child(launcher->accounting, launcher->command.pid);
    launcher->begin_ns = now_ns(launcher);
    int failed = os_spawn_go(&launcher->command);
    if (failed != 0)
        track_child_failure(launcher->options.argv[0], failed, &launcher->facts);
    return 0;
}

static void open_accounting(struct launcher *launcher)
{
    const struct accounting_options options = {
        .os = &launcher->context->os,
        .methods = launcher->options.methods,
        .limit_memory_bytes = launcher->options.limit_memory_bytes,
        .limit_processes = launcher->options.limit_processes,
        .make_scope = launcher->options.make_scope,
        .scope_data = launcher->options.scope_data,
    };
    launcher->accounting = accounting_open(&options);
}

static void set_text(vitals_account *account, const char *name, const char *text)
{
    /* Without memory it is missing. */
    (void)!vitals_account_set(account, name, (vitals_text){text, strlen(text)}, NULL);
}

/* Which limit was passed, if any. Who the kernel ended for want of memory was killed: a command
 * that was not has lost another of its processes. */
static void tell_limit(struct launcher *launcher)
{
    struct limits *limits = &launcher->limits;
    bool survived = launcher->facts.signal != OS_SIGNAL_KILL;
    const struct value *killed = &launcher->counted[COUNTED_OOM_KILLS].value;
    const struct value *peak = &launcher->counted[COUNTED_MEMORY_PEAK_BYTES].value;
    char words[160];
    if (killed->state > 0 && killed->as.f64 > 0)
        limits_held(limits, peak->state > 0 ? (uint64_t)peak->as.f64 : 0, survived);
    if (limits->passed == LIMIT_NONE)
        return;
    limits_words(limits, words, sizeof(words));
    set_text(launcher->account, "limit", limits_name(limits->passed));
    set_text(launcher->account, "limit_words", words);
}

/* Beside what the sampler itself complained of. */
static void tell_sampler(struct launcher *launcher)
{
    char words[1024];
    vitals_text known = vitals_account_attribute(launcher->account, "missing");
    bool limited = limits_are_sampled(&launcher->limits);
    if (launcher->watcher_fate == NULL)
        return; /* that it did not answer is told elsewhere */
    int size = snprintf(words, sizeof(words), "%.*s%s", (int)size_min(known.size, 600), known.bytes,
                        known.size > 0 ? "; " : "");
    char *rest = words + size;
    size_t room = sizeof(words) - (size_t)size;
    (void)snprintf(rest, room, "the sampler %s after %.1f s: samples end there%s%s",
                   launcher->watcher_fate, (double)launcher->watcher_died_ns / 1e9,
                   launcher->options.observer != NULL ? "; recording stopped" : "",
                   !limited ? ""
                   : !has_final(launcher) && (launcher->watcher_ended || launcher->watcher_hung)
                       ? "; limits of what is sampled were not watched any more"
                   : launcher->watcher_deaths > 1 ? "; others watched the limits, with gaps"
                                                  : "; another watched the limits");
    set_text(launcher->account, "missing", words);
}

/* What its watcher saw, or what one would tell of a run that was over before there was anything to
 * see. */
static vitals_account *watched_account(struct launcher *launcher)
{
    if (launcher->watched)
        return watch_area_read(launcher->area);
    const struct watcher_setup setup = watcher_setup(launcher, -1);
    return watcher_account_of_nothing(&setup);
}

static void account_for(struct launcher *launcher)
{
    launcher->facts.counted_seconds = (double)run_ns(launcher) / 1e9;
    enum left left = settle(launcher);
    bool counted = left == LEFT_NOTHING || count_left(launcher) == 0;
    bool unseen = left == LEFT_SOMETHING && launcher->facts.left == 0; /* it ends this moment */
    if (!counted || unseen || (left == LEFT_UNKNOWN && launcher->options.wait_for_descendants == 0))
        launcher->facts.left_unknown = true;
    const struct accounting_left rest = {.any = launcher->facts.left > 0 ||
                                                launcher->facts.left_unknown,
                                         .cpu_seconds = launcher->facts.left_cpu_seconds};
    accounting_read(launcher->accounting, &rest, launcher->counted);
    accounting_names(launcher->accounting, launcher->methods, sizeof(launcher->methods));
    launcher->facts.counted = launcher->counted;
    launcher->facts.methods = launcher->methods;
    if (is_hung(launcher))
        note_hung(launcher);
    end_watcher(launcher);
    const vitals_options *world = launcher->options.world;
    launcher->facts.invented = world != NULL && world->backends != NULL &&
                               strcmp(world->backends, "demo") == 0;
    launcher->facts.interval_ns = launcher->options.interval_ns;
    vitals_account *watched = watched_account(launcher);
    launcher->facts.watched = watched;
    account_fill(launcher->account, &launcher->facts);
    tell_sampler(launcher);
    vitals_account_free(watched);
    launcher->facts.watched = NULL;
    about_fill(launcher->account, launcher->context, launcher->options.argv, launcher->begin_ns);
    tell_limit(launcher);
    account_shrink(launcher->account);
}

static int check_options(const vitals_run_options *options, vitals_error *error)
{
    if (options->argv == NULL || options->argv[0] == NULL)
        return error_set(error, VITALS_EARGUMENT, 0, "no command to run");
    int code = run_options_check_interval(options->interval_ns, error);
    if (code < 0)
        return code;
    return 0;
}

static int run(struct launcher *launcher, vitals_error *error)
{
    launcher->account = account_new();
    if (launcher->account == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    int code = os_become_subreaper();
    if (code == 0)
        code = os_signals_take(&launcher->signals);
    if (code < 0)
        return error_system(error, -code, "cannot become a launcher");
    open_accounting(launcher); /* before note_excluded: a method may keep a process of its own */
    note_excluded(launcher);
    (void)os_marks_make(&launcher->marks,
                        launcher->options.runtime_folder); /* without it, no phases */
    launcher->begin_ns = now_ns(launcher);
    if (is_watched_at_once(launcher))
        start_watcher(launcher);
    code = start_command(launcher, error);
    if (code < 0) {
        end_watcher(launcher);
        return code;
    }
    wait_for_end(launcher);
    os_child_done(&launcher->command);
    account_for(launcher);
    return 0;
}

int vitals_run_command(const vitals_run_options *options, vitals_account **out, vitals_error *error)
{
    vitals_run_options taken;
    int code = options_take(&run_options_form, options, &taken, error);
    if (code == 0)
        code = check_options(&taken, error);
    if (code < 0)
        return code;
    struct launcher *launcher = memory_alloc(sizeof(*launcher));
    if (launcher == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    launcher->options = taken;
    launcher->watcher_pidfd = launcher->channel = -1;
    launcher->watcher_ended = true;
    launcher->marks.held = -1;
    limits_init(&launcher->limits, &taken);
    code = vitals_context_new(taken.world, &launcher->context, error);
    if (code == 0)
        code = run(launcher, error);
    if (code == 0)
        *out = launcher->account;
    else
        vitals_account_free(launcher->account);
    accounting_close(launcher->accounting);
    os_marks_remove(&launcher->marks);
    os_marks_environment_free(launcher->environment);
    os_signals_restore(&launcher->signals);
    vitals_context_free(launcher->context);
    watch_area_free(launcher->area);
    memory_free(launcher->excluded_pids);
    memory_free(launcher->children);
    memory_free(launcher);
    return code;
}
