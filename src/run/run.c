/* run.c: the launcher: starts the command, waits for its end, passes signals on, and counts.
 *
 *     launcher ── fork ──► watcher (samples; run/watcher.c)
 *        └──────── fork ──► the command, held back until it is counted
 *
 * It runs no thread and loads no vendor library, so nothing of it can hang; the watcher may, and is
 * left behind then (watcher_handle.c). Thread rule: a process with one thread. */
#include "model/request.h"
#include "os/launch.h"
#include "os/marks.h"
#include "process/table.h"
#include "run/account.h"
#include "run/limits.h"
#include "run/methods.h"
#include "run/run_options.h"
#include "run/track_child.h"
#include "run/watcher.h"
#include "util/error.h"
#include "util/memory.h"
#include <vitals/process.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A task in uninterruptible sleep ignores even SIGKILL: the wait for it ends after this. */
static const uint64_t KILLED_NS = 5 * NS_PER_SECOND;

/* How often limits that depend on samples are checked. */
static const uint64_t LIMITS_NS = 100 * NS_PER_MS;

/* A command that ends sooner is counted without a watcher. */
static const uint64_t WATCH_AFTER_NS = 4 * NS_PER_MS;

/* Less than a clock tick: two starts that are further apart are not of one process. */
static const double START_APART = 0.001;

/* Grace for children that exit together with the command. */
static const uint64_t DYING_NS = 10 * NS_PER_MS;

static const char NO_GROUP_HOLDS[] = "the memory limit is checked by samples, as no cgroup counts "
                                     "this command's memory: it ends the "
                                     "command if one process, or several that do not change, hold "
                                     "more; files in /dev/shm and huge pages of hugetlbfs do "
                                     "not count";

enum { SIGNAL_EXIT = 128, CHILDREN_FIRST = 64, METHODS_TEXT = 96 };

struct launcher {
    vitals_run_options options;
    vitals_run_observer observer; /* the copy to which options.observer points */
    vitals_context *context;      /* for /proc and the clock; no sampler is made of it */
    uint64_t begin_ns;
    bool adopts; /* orphans, which it did not before */
    struct os_signals signals;
    struct os_marks marks;

    struct os_child command;
    const char **environment; /* of the command */
    bool command_ended, told_to_end;
    uint64_t ended_ns; /* when the wait for the end of descendants began; 0: not yet */

    struct watcher_handle watcher;
    struct limits limits;

    /* Children from before the run. Not known: only what is below the command is certainly the
     * job's. */
    int64_t *excluded_pids;
    size_t excluded_count;
    bool excluded_known;
    int64_t *children; /* room for one more than excluded_pids and the watcher */
    size_t child_capacity;

    struct accounting *accounting; /* NULL: there was no memory for it */
    bool accounting_lasts; /* its methods for runs that last have been told that this does */
    struct counted counted[COUNTED_COUNT];
    char methods[METHODS_TEXT];
    struct run_outcome outcome;
    vitals_account *account;
};

static uint64_t now_ns(const struct launcher *launcher)
{
    return os_now_ns(&launcher->context->os);
}

/* Time since the begin. A clock that a caller handed us may go back. */
static uint64_t run_ns(const struct launcher *launcher)
{
    uint64_t now = now_ns(launcher);
    return now > launcher->begin_ns ? now - launcher->begin_ns : 0;
}

static void wait_for_signal(const struct launcher *launcher, uint64_t ns)
{
    pace_wait(&launcher->context->os.clock, launcher->signals.descriptor, ns);
}

/* ---- the watcher ---- */

static struct watcher_setup watcher_setup(const struct launcher *launcher)
{
    struct watcher_setup setup = {
        .options = launcher->options,
        .clock = &launcher->context->os.clock,
        .launcher = os_self(),
        .excluded_pids = launcher->excluded_pids,
        .excluded_count = launcher->excluded_count,
        .channel = -1,
        .begin_ns = launcher->begin_ns,
        .marks = launcher->watcher.second ? NULL : &launcher->marks,
        .memory_counted = accounting_counts(launcher->accounting, COUNTED_MEMORY_PEAK_BYTES),
        .limits_watched = limits_are_sampled(&launcher->limits)};
    if (launcher->watcher.second) {
        setup.options.observer = NULL;
        setup.options.totals_path = NULL;
    }
    return setup;
}

static void start_watcher(struct launcher *launcher)
{
    if (!launcher->watcher.started)
        os_marks_tidy(&launcher->marks); /* a run that ends sooner leaves it to the next */
    struct watcher_setup setup = watcher_setup(launcher);
    setup.activity = accounting_activity(launcher->accounting, &setup.activity_folder);
    watcher_handle_start(&launcher->watcher, &setup);
    if (setup.activity > 0)
        os_close_descriptor(setup.activity);
}

/* Takes the watcher's reports. A watcher that hangs is killed if limits depend on it, and one that
 * died is replaced if they do. */
static void listen(struct launcher *launcher)
{
    struct watcher_handle *watcher = &launcher->watcher;
    uint64_t now = run_ns(launcher);
    watcher_handle_listen(watcher, now);
    if (!limits_are_sampled(&launcher->limits))
        return;
    if (!watcher->hung && watcher_handle_is_hung(watcher, 0))
        watcher_handle_kill_hung(watcher, now);
    if (watcher->deaths == 0 || !watcher->ended || launcher->command_ended ||
        watcher_handle_has_final(watcher) || !limits_replace(&launcher->limits, now))
        return;
    watcher_handle_close(watcher);
    watcher->second = true;
    start_watcher(launcher);
}

/* ---- the tree ---- */

/* A program that became vitals by exec may have had children before: they are not the job's. */
static bool is_excluded(const struct launcher *launcher, int64_t pid)
{
    for (size_t i = 0; i < launcher->excluded_count; i++) {
        if (launcher->excluded_pids[i] == pid)
            return true;
    }
    return false;
}

/* True if the chain of parents leads to the command or to us without passing the watcher or an
 * excluded process. Parents may change while they are listed, so the length of the chain is
 * limited. */
static bool is_ours(const struct launcher *launcher, const vitals_row *row)
{
    enum { DEPTH_MOST = 4096 };
    const vitals_snapshot *snapshot = vitals_row_snapshot(row);
    int64_t pid;
    for (int depth = 0; depth < DEPTH_MOST && row != NULL && vitals_row_pid(row, &pid) > 0 &&
                        !is_excluded(launcher, pid);
         depth++) {
        if (pid == os_self())
            return depth > 0 && launcher->excluded_known;
        if (!launcher->watcher.ended && pid == launcher->watcher.pid)
            return false;
        if (!launcher->excluded_known && pid == launcher->command.pid)
            return true;
        row = vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, vitals_row_parent(row));
    }
    return false;
}

/* A row of everything below us, ourselves included. All of /proc is listed for it, so it is asked
 * seldom: at the end, and when all are to be ended. */
static int list_tree(const struct launcher *launcher, vitals_snapshot **out)
{
    static const vitals_metric WANTED[] = {VITALS_PROCESS_PID, VITALS_PROCESS_PARENT_PID,
                                           VITALS_PROCESS_STATE, VITALS_PROCESS_CPU_SECONDS,
                                           VITALS_PROCESS_START_SECONDS};
    int64_t root = os_self();
    struct metric_set wanted = {0};
    vitals_builder *builder = NULL;
    struct process_table *table = process_table_new(launcher->context);
    for (size_t i = 0; i < ARRAY_COUNT(WANTED); i++)
        metric_set_add(&wanted, WANTED[i]);
    int code = table == NULL ? VITALS_EMEMORY : vitals_builder_new(&builder, NULL);
    if (code == 0) {
        process_table_select(table, VITALS_ROWS_TREE, &root, 1);
        code = process_table_tick(table, &wanted);
    }
    if (code == 0) {
        vitals_builder_begin(builder);
        process_table_write(table, builder, &wanted);
        code = vitals_builder_finish(builder, out, NULL);
    }
    vitals_builder_free(builder);
    process_table_free(table);
    return code;
}

/* Signals the process of the row, and no later one that was given its pid: it is signalled through
 * its pidfd after it has proven to be the one that was listed. */
static bool signal_row(const struct launcher *launcher, const vitals_row *row, int64_t pid,
                       int signal)
{
    vitals_process *process = NULL;
    double start;
    if (vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &start) <= 0 ||
        vitals_process_open(launcher->context, pid, &process, NULL) < 0)
        return false; /* it has ended */
    bool same = fabs(vitals_process_start_seconds(process) - start) < START_APART;
    bool signalled = same && vitals_process_signal(process, signal, NULL) == 0;
    vitals_process_close(process);
    return signalled;
}

/* The living processes of the job. */
struct living {
    uint64_t processes; /* or those that were signalled */
    double cpu_seconds; /* of those whose time could be read */
};

/* Looks at everything below the launcher that lives but the watcher and excluded_pids, and sends it
 * a signal, if that is not 0. Returns 0, or a negative VITALS_E…: nothing is known, and `out` is
 * zeros. */
static int visit_tree(const struct launcher *launcher, int signal, struct living *out)
{
    vitals_snapshot *snapshot = NULL;
    int64_t pid;
    const vitals_row *row = NULL;
    *out = (struct living){0};
    int code = list_tree(launcher, &snapshot);
    while (code == 0 && (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL) {
        vitals_text state;
        double seconds;
        bool zombie = vitals_row_text(row, VITALS_PROCESS_STATE, &state) > 0 &&
                      strcmp(state.bytes, "zombie") == 0;
        if (zombie || vitals_row_pid(row, &pid) <= 0 || !is_ours(launcher, row))
            continue;
        if (signal != 0) {
            out->processes += signal_row(launcher, row, pid, signal);
            continue;
        }
        out->processes++;
        if (vitals_row_f64(row, VITALS_PROCESS_CPU_SECONDS, &seconds) > 0)
            out->cpu_seconds += seconds;
    }
    vitals_snapshot_unref(snapshot);
    return code;
}

/* Signals the tree, and the command even if /proc does not show it. */
static void signal_all(struct launcher *launcher, int signal)
{
    struct living living;
    (void)visit_tree(launcher, signal, &living);
    if (living.processes == 0 && !launcher->command_ended)
        (void)os_child_signal(launcher->command.pid, launcher->command.pidfd, signal);
}

/* A stopped process is continued, so that it can end. */
static void ask_to_end(struct launcher *launcher)
{
    signal_all(launcher, OS_SIGNAL_TERM);
    signal_all(launcher, os_signal_continue);
}

/* ---- children and signals ---- */

/* Lists the children that there are before the run. */
static void note_excluded(struct launcher *launcher)
{
    enum { TRIES = 4 };
    size_t capacity = CHILDREN_FIRST;
    bool none = os_child_is_none();
    for (int i = 0; i < TRIES; i++) {
        int64_t *pids = memory_array(capacity, sizeof(*pids));
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

static void child_ended(struct launcher *launcher, const struct os_reaped *child)
{
    if (is_excluded(launcher, child->pid))
        return;
    if (child->pid == launcher->watcher.pid) {
        watcher_handle_died(&launcher->watcher, run_ns(launcher));
        return;
    }
    struct run_outcome *outcome = &launcher->outcome;
    accounting_reaped(launcher->accounting, child);
    outcome->reaped++;
    if (child->pid != launcher->command.pid)
        return;
    launcher->command_ended = true;
    outcome->wall_seconds = (double)run_ns(launcher) / 1e9;
    outcome->signal = child->signal;
    if (child->dumped)
        account_set_string(launcher->account, ACCOUNT_CORE_DUMPED, "1");
    if (outcome->failure[0] == '\0')
        outcome->exit_code = child->signal != 0 ? SIGNAL_EXIT + child->signal : child->exit_code;
}

/* The processes of the job that still run beside the command. */
enum left { LEFT_NOTHING, LEFT_SOMETHING, LEFT_UNKNOWN };

static enum left descendants_left(const struct launcher *launcher)
{
    if (launcher->watcher.ended && os_child_is_none())
        return LEFT_NOTHING;
    int64_t *pids = launcher->children;
    int64_t count = pids == NULL
                        ? -1
                        : os_children(&launcher->context->os, pids, launcher->child_capacity);
    if (count < 0)
        return LEFT_UNKNOWN;
    for (size_t i = 0; i < (size_t)count && i < launcher->child_capacity; i++) {
        bool is_watcher = !launcher->watcher.ended && pids[i] == launcher->watcher.pid;
        if (!is_watcher && !is_excluded(launcher, pids[i]))
            return LEFT_SOMETHING;
    }
    return LEFT_NOTHING;
}

/* Whether to wait on for what the command left behind, which is ended if it shall not outlive it.
 */
static bool waits_for_rest(struct launcher *launcher)
{
    bool ends = launcher->limits.asked || launcher->options.kill_tree != 0;
    if (!ends && launcher->options.wait_for_descendants == 0)
        return false;
    enum left left = descendants_left(launcher);
    if (!ends) {
        /* If the kernel does not list the launcher's children, only the end of all of them can be
         * waited for, so the watcher is ended first. */
        if (left == LEFT_UNKNOWN && !launcher->watcher.ended) {
            watcher_handle_end(&launcher->watcher);
            launcher->watcher.ended = true;
        }
        return left != LEFT_NOTHING;
    }

    struct living living;
    if (left == LEFT_UNKNOWN)
        left = visit_tree(launcher, 0, &living) == 0 && living.processes > 0 ? LEFT_SOMETHING
                                                                             : LEFT_NOTHING;
    if (left == LEFT_NOTHING)
        return false;
    uint64_t now = run_ns(launcher);
    if (!launcher->limits.asked) {
        limits_end(&launcher->limits, now);
        ask_to_end(launcher);
    }
    if (launcher->ended_ns == 0)
        launcher->ended_ns = now;
    uint64_t most = saturating_add(launcher->limits.grace_ns, KILLED_NS);
    return now - launcher->ended_ns < most;
}

/* Takes note of every child that ended or stopped; false if there is no child any more. */
static bool reap_ended(struct launcher *launcher)
{
    struct os_reaped child;
    int64_t pid;
    for (enum os_child_change change; (change = os_child_next(&pid)) != OS_CHILD_NONE;) {
        if (change == OS_CHILD_LAST)
            return false;
        if (change == OS_CHILD_ENDED && pid != launcher->watcher.pid && !is_excluded(launcher, pid))
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

static void pass_signals(struct launcher *launcher)
{
    bool forward;
    for (int signal;
         (signal = os_signals_next(&launcher->signals, launcher->command.pid, &forward)) != 0;) {
        if (launcher->command_ended && os_signal_is_end(signal)) {
            /* The user is impatient: ends the wait for descendants, or their grace. */
            if (launcher->limits.asked)
                limits_hurry(&launcher->limits, run_ns(launcher));
            else
                launcher->told_to_end = true;
        } else if (!launcher->command_ended && forward &&
                   !os_child_goes_on(launcher->command.pid, signal)) {
            (void)os_child_signal(launcher->command.pid, launcher->command.pidfd, signal);
        }
    }
}

/* Waits for the end of the command and, if that is wanted, of what it left behind. */
static void wait_for_end(struct launcher *launcher)
{
    const struct watch_report *report = &launcher->watcher.report;
    while (reap_ended(launcher) && (!launcher->command_ended || waits_for_rest(launcher)) &&
           !launcher->told_to_end) {
        /* After reaping: a command that ended in time did so, however late the launcher is. */
        bool counted = launcher->limits.memory_bytes != 0;
        const struct limits_seen seen = {.run_ns = run_ns(launcher),
                                         .held_bytes = counted
                                                           ? accounting_held(launcher->accounting)
                                                           : value_missing(VITALS_NOT_REQUESTED),
                                         .memory_bytes = report->memory_bytes,
                                         .gpu_memory_bytes = report->gpu_memory_bytes,
                                         .processes = report->living};
        enum limits_order order = limits_step(&launcher->limits, &seen);
        if (order == LIMITS_ASK)
            ask_to_end(launcher);
        else if (order == LIMITS_KILL && !accounting_kill(launcher->accounting))
            signal_all(launcher, OS_SIGNAL_KILL);
        uint64_t lived = now_ns(launcher) - launcher->begin_ns;
        if (!launcher->watcher.started && lived >= WATCH_AFTER_NS)
            start_watcher(launcher);

        /* Until something has to be done that no signal announces. Reports wait in the channel,
         * which is of limited size: they are taken with each signal and at least every interval. */
        uint64_t idle = uint64_min(launcher->options.interval_ns, ACCOUNTING_TICK_NS);
        if (limits_are_sampled(&launcher->limits))
            idle = uint64_min(idle, LIMITS_NS);
        lived = now_ns(launcher) - launcher->begin_ns;
        if (!launcher->watcher.started || !launcher->accounting_lasts)
            idle = uint64_min(idle, lived < WATCH_AFTER_NS ? WATCH_AFTER_NS - lived : 0);
        uint64_t now = run_ns(launcher), next = limits_next_ns(&launcher->limits);
        wait_for_signal(launcher, uint64_min(idle, next > now ? next - now : 0));
        pass_signals(launcher);
        launcher->accounting_lasts |= now_ns(launcher) - launcher->begin_ns >= WATCH_AFTER_NS;
        accounting_tick(launcher->accounting);
        listen(launcher);
    }
}

/* ---- what still runs at the end ---- */

/* Waits a moment for processes that end together with the command: until they are reaped they are
 * neither among what runs nor among what was counted. */
static enum left settle(struct launcher *launcher)
{
    uint64_t end = saturating_add(run_ns(launcher), DYING_NS);
    for (;;) {
        enum left left = reap_ended(launcher) ? descendants_left(launcher) : LEFT_NOTHING;
        uint64_t now = run_ns(launcher);
        if (left != LEFT_SOMETHING || now >= end || launcher->told_to_end)
            return left;
        wait_for_signal(launcher, end - now);
        pass_signals(launcher);
    }
}

/* ---- the whole ---- */

/* Says why samples are missing, after what the sampler itself complained of. */
static void tell_sampler(struct launcher *launcher)
{
    char words[1024];
    vitals_text known = vitals_account_attribute(launcher->account, VITALS_ATTRIBUTE_MISSING);
    bool limited = limits_are_sampled(&launcher->limits);
    const struct watcher_handle *watcher = &launcher->watcher;
    if (watcher->fate == NULL)
        return; /* account_fill says that it did not answer */
    int size = snprintf(words, sizeof(words), "%.*s%s", (int)size_min(known.size, 600), known.bytes,
                        known.size > 0 ? "; " : "");
    char *rest = words + size;
    size_t room = sizeof(words) - (size_t)size;
    (void)snprintf(rest, room, "the sampler %s after %.1f s: samples end there%s%s", watcher->fate,
                   (double)watcher->fate_ns / 1e9,
                   launcher->options.observer != NULL ? "; recording stopped" : "",
                   !limited ? ""
                   : !watcher_handle_has_final(watcher) && (watcher->ended || watcher->hung)
                       ? "; limits of what is sampled were not watched any more"
                   : watcher->deaths > 1 ? "; others watched the limits, with gaps"
                                         : "; another watched the limits");
    account_set_string(launcher->account, VITALS_ATTRIBUTE_MISSING, words);
}

static void account_for(struct launcher *launcher)
{
    struct run_outcome *outcome = &launcher->outcome;
    struct limits *limits = &launcher->limits;
    outcome->counted_seconds = (double)run_ns(launcher) / 1e9;
    outcome->interval_ns = launcher->options.interval_ns;
    outcome->invented = run_options_are_invented(&launcher->options);

    /* The CPU clocks of everything that still runs. */
    enum left left = settle(launcher);
    struct living living = {0};
    bool counted = left == LEFT_NOTHING || visit_tree(launcher, 0, &living) == 0;
    bool unseen = left == LEFT_SOMETHING && living.processes == 0; /* it ends this moment */
    bool unknown = left == LEFT_UNKNOWN && launcher->options.wait_for_descendants == 0;
    const struct accounting_left rest = {.any = !counted || unseen || unknown ||
                                                living.processes > 0,
                                         .cpu_seconds = living.cpu_seconds};
    outcome->left = living.processes;
    accounting_read(launcher->accounting, &rest, launcher->counted);
    accounting_names(launcher->accounting, launcher->methods, sizeof(launcher->methods));
    outcome->counted = launcher->counted;
    outcome->methods = launcher->methods;

    /* The report of the watcher; or the one that it would make of a run that was over before it was
     * started. */
    uint64_t limited_ns = limits_are_sampled(limits) ? 0 : outcome->interval_ns;
    if (watcher_handle_is_hung(&launcher->watcher, limited_ns))
        watcher_handle_note_hung(&launcher->watcher, run_ns(launcher));
    watcher_handle_end(&launcher->watcher);
    const struct watcher_setup setup = watcher_setup(launcher);
    vitals_account *watched = launcher->watcher.started ? watch_area_read(launcher->watcher.area)
                                                        : watcher_account_of_nothing(&setup);
    outcome->watched = watched;
    account_fill(launcher->account, outcome);
    tell_sampler(launcher);
    vitals_account_free(watched);
    outcome->watched = NULL;
    account_describe(launcher->account, launcher->context, launcher->options.argv,
                     launcher->begin_ns);

    /* Which limit was passed, if any. If the kernel's OOM killer ended a process but the command
     * did not end by SIGKILL, it was another process of the tree. */
    const struct value *killed = &launcher->counted[COUNTED_OOM_KILLS].value;
    const struct value *peak = &launcher->counted[COUNTED_MEMORY_PEAK_BYTES].value;
    char words[160];
    if (killed->state > 0 && killed->as.f64 > 0)
        limits_held(limits, peak->state > 0 ? (uint64_t)peak->as.f64 : 0,
                    outcome->signal != OS_SIGNAL_KILL);
    if (limits->passed != LIMIT_NONE) {
        limits_words(limits, words, sizeof(words));
        account_set_string(launcher->account, VITALS_ATTRIBUTE_LIMIT, limits_name(limits->passed));
        account_set_string(launcher->account, VITALS_ATTRIBUTE_LIMIT_WORDS, words);
    }
    account_shrink(launcher->account);
}

static int run(struct launcher *launcher, vitals_error *error)
{
    const vitals_run_options *options = &launcher->options;
    struct os_places places;
    launcher->account = account_new();
    if (launcher->account == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    bool before;
    int code = os_become_subreaper(&before);
    launcher->adopts = code == 0 && !before;
    if (code == 0)
        code = os_signals_take(&launcher->signals);
    if (code < 0)
        return error_system(error, -code, "cannot become a launcher");

    /* Before note_excluded: a method may keep a process of its own. */
    launcher->accounting = accounting_open(
        &(struct accounting_options){.count.os = &launcher->context->os,
                                     .methods = options->methods,
                                     .count.limit_memory_bytes = options->limit_memory_bytes,
                                     .count.limit_processes = options->limit_processes,
                                     .count.make_scope = options->make_scope,
                                     .count.scope_data = options->scope_data});
    note_excluded(launcher);
    (void)os_marks_make(&launcher->marks, options->runtime_folder); /* without it, no phases */
    launcher->begin_ns = now_ns(launcher);

    /* An observer sees the beginning, and limits that depend on samples hold from there on. */
    if (options->observer != NULL || limits_are_sampled(&launcher->limits))
        start_watcher(launcher);

    accounting_places(launcher->accounting, &places);
    launcher->environment = os_marks_environment(&launcher->marks,
                                                 (const char *const *)options->environment);
    const struct os_command command = {.argv = (const char *const *)options->argv,
                                       .environment = launcher->environment,
                                       .descriptors = options->child_descriptors,
                                       .signals = &launcher->signals,
                                       .places = &places,
                                       .shares_memory = true};
    code = launcher->environment != NULL ? os_spawn(&command, &launcher->command) : -ENOMEM;
    if (code < 0) {
        watcher_handle_end(&launcher->watcher);
        return error_system(error, -code, "cannot start a process for the command");
    }
    os_signals_missed(&launcher->signals);
    accounting_child(launcher->accounting, launcher->command.pid);
    if (options->limit_memory_bytes != 0 && options->notice != NULL &&
        !accounting_counts(launcher->accounting, COUNTED_MEMORY_PEAK_BYTES))
        options->notice(options->notice_data, NO_GROUP_HOLDS);
    launcher->begin_ns = now_ns(launcher);
    int failed = os_spawn_go(&launcher->command);
    if (failed != 0)
        track_child_failure(options->argv[0], failed, &launcher->outcome);
    wait_for_end(launcher);
    if (options->wait_for_descendants != 0)
        launcher->outcome.wall_seconds = (double)run_ns(launcher) / 1e9;
    os_child_done(&launcher->command);
    account_for(launcher);
    return 0;
}

int vitals_run_command(const vitals_run_options *options, vitals_account **out, vitals_error *error)
{
    struct launcher *launcher = memory_alloc(sizeof(*launcher));
    if (launcher == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    const vitals_run_options *taken = &launcher->options;
    launcher->marks.held = -1;
    int code = run_options_take(options, &launcher->options, &launcher->observer, error);
    if (code == 0 && (taken->argv == NULL || taken->argv[0] == NULL))
        code = error_set(error, VITALS_EARGUMENT, 0, "no command to run");
    if (code == 0 && !os_is_single_thread())
        code = error_set(
            error, VITALS_EARGUMENT, 0,
            "a launcher must have one thread, and this process has more; use vitals_run_open");
    if (code == 0)
        code = request_check_interval(taken->interval_ns, error);
    if (code == 0)
        code = vitals_context_new(taken->world, &launcher->context, error);
    if (code == 0) {
        limits_init(&launcher->limits, taken);
        watcher_handle_init(&launcher->watcher, &launcher->context->os.clock);
        code = run(launcher, error);
    }
    if (code == 0)
        *out = launcher->account;
    else
        vitals_account_free(launcher->account);
    accounting_close(launcher->accounting);
    os_marks_remove(&launcher->marks);
    memory_free((void *)launcher->environment);
    os_signals_restore(&launcher->signals);
    if (launcher->adopts)
        os_end_subreaper();
    vitals_context_free(launcher->context);
    watch_area_free(launcher->watcher.area);
    memory_free(launcher->excluded_pids);
    memory_free(launcher->children);
    memory_free(launcher);
    return code;
}
