/* run.c: the launcher: starts the command, waits, passes signals on, and counts.
 *
 *     launcher ── fork ──► watcher (samples; run/watcher.c)
 *        └──────── fork ──► the command, held back until it is counted
 *
 * It runs no thread and loads no vendor library, so nothing of it can hang: when the command ends,
 * the watcher has GRACE_NS for its last report and is then left behind. Thread rule: a process with
 * one thread. */
#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "os/launch.h"
#include "process/table.h"
#include "run/account.h"
#include "sample/context.h"
#include "snapshot/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* With what comes before and after, less than the 500 ms that are promised. */
static const uint64_t GRACE_NS = 400 * NS_PER_MS;

/* For the watcher's own end; one that sleeps in a driver cannot even be killed. */
static const uint64_t FAREWELL_NS = 50 * NS_PER_MS;

enum { SIGNAL_EXIT = 128, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

enum { STRANGERS_MAX = 64 };

struct launcher {
    vitals_run_options options;
    vitals_context *context; /* for /proc and the clock; no sampler is made of it */
    struct os_signals signals;
    struct os_child command;
    bool command_ended, told_to_end;
    int64_t watcher;
    int watcher_pidfd, channel;
    bool watcher_ended;
    struct watch_report report; /* the newest */
    bool reported;
    int64_t strangers[STRANGERS_MAX]; /* children from before */
    size_t stranger_count;
    struct run_facts facts;
    vitals_account *account;
    uint64_t begin_ns;
};

/* Of version 0.1.0. It stays what it is when the struct grows. */
enum { OPTIONS_FIRST = offsetof(vitals_run_options, child_descriptors) + sizeof(uint64_t) };
_Static_assert(sizeof(void *) != 8 || OPTIONS_FIRST == 48, "options grow at their end only");

static const vitals_run_options DEFAULTS = {.interval_ns = NS_PER_SECOND};

static const struct options_form FORM = {.name = "vitals_run_options",
                                         .defaults = &DEFAULTS,
                                         .size = sizeof(vitals_run_options),
                                         .first = OPTIONS_FIRST};

void vitals_run_options_init(vitals_run_options *options, size_t size)
{
    options_init(&FORM, options, size);
}

static const vitals_clock *clock_of(const struct launcher *launcher)
{
    return &launcher->context->os.clock;
}

static uint64_t now_ns(const struct launcher *launcher)
{
    const vitals_clock *clock = clock_of(launcher);
    return clock->monotonic_ns(clock->data);
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

static void start_watcher(struct launcher *launcher)
{
    int ends[2];
    launcher->channel = -1;
    launcher->watcher_ended = true;
    if (os_channel(ends) < 0)
        return;
    struct watcher_setup setup = {.world = launcher->options.world,
                                  .clock = clock_of(launcher),
                                  .interval_ns = launcher->options.interval_ns,
                                  .launcher = os_self(),
                                  .strangers = launcher->strangers,
                                  .stranger_count = launcher->stranger_count,
                                  .channel = ends[1]};
    struct os_helper helper = {.main = watcher_main, .data = &setup, .channel = ends[1]};
    int code = os_fork_helper(&helper, &launcher->watcher, &launcher->watcher_pidfd);
    os_close_descriptor(ends[1]);
    if (code < 0) {
        os_close_descriptor(ends[0]);
        return;
    }
    launcher->channel = ends[0];
    launcher->watcher_ended = false;
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
static bool is_stranger(const struct launcher *launcher, int64_t pid)
{
    for (size_t i = 0; i < launcher->stranger_count; i++) {
        if (launcher->strangers[i] == pid)
            return true;
    }
    return false;
}

static void note_strangers(struct launcher *launcher)
{
    int64_t count = os_children(&launcher->context->os, launcher->strangers,
                                ARRAY_COUNT(launcher->strangers));
    if (count > 0)
        launcher->stranger_count = size_min((size_t)count, ARRAY_COUNT(launcher->strangers));
}

static void child_ended(struct launcher *launcher, const struct os_reaped *child)
{
    if (is_stranger(launcher, child->pid))
        return;
    if (child->pid == launcher->watcher) {
        launcher->watcher_ended = true;
        return;
    }
    struct run_facts *facts = &launcher->facts;
    add_usage(&facts->usage, &child->usage);
    facts->reaped++;
    if (child->pid != launcher->command.pid)
        return;
    launcher->command_ended = true;
    facts->wall_seconds = (double)(now_ns(launcher) - launcher->begin_ns) / 1e9;
    facts->signal = child->signal;
    if (facts->failure[0] == '\0')
        facts->exit_code = child->signal != 0 ? SIGNAL_EXIT + child->signal : child->exit_code;
}

/* Whether something of the job still runs beside the command. */
enum left { LEFT_NOTHING, LEFT_SOMETHING, LEFT_UNKNOWN };

static enum left descendants_left(const struct launcher *launcher)
{
    int64_t pids[2 * STRANGERS_MAX];
    int64_t count = os_children(&launcher->context->os, pids, ARRAY_COUNT(pids));
    if (count < 0)
        return LEFT_UNKNOWN;
    for (size_t i = 0; i < (size_t)count && i < ARRAY_COUNT(pids); i++) {
        bool ours = !launcher->watcher_ended && pids[i] == launcher->watcher;
        if (!ours && !is_stranger(launcher, pids[i]))
            return LEFT_SOMETHING;
    }
    return LEFT_NOTHING;
}

/* Whether to wait on for what the command left behind. Where the kernel does not list our children,
 * the end of all of them can be waited for, and so the watcher goes first. */
static bool waits_for_rest(struct launcher *launcher)
{
    if (launcher->options.wait_for_descendants == 0)
        return false;
    enum left left = descendants_left(launcher);
    if (left == LEFT_UNKNOWN && !launcher->watcher_ended) {
        end_watcher(launcher);
        launcher->watcher_ended = true;
    }
    return left != LEFT_NOTHING;
}

/* Everything that changed; true while there is something to wait for. */
static bool reap(struct launcher *launcher)
{
    struct os_reaped child;
    for (enum os_child_change change; (change = os_reap(&child)) != OS_CHILD_NONE;) {
        if (change == OS_CHILD_LAST)
            return false;
        if (change == OS_CHILD_ENDED)
            child_ended(launcher, &child);
        else if (child.pid == launcher->command.pid && os_signal_is_job_control(child.signal))
            os_stop_self();
    }
    if (!launcher->command_ended)
        return true;
    return waits_for_rest(launcher);
}

static void pass_signals(struct launcher *launcher)
{
    bool forward;
    for (int signal;
         (signal = os_signals_next(&launcher->signals, launcher->command.pid, &forward)) != 0;) {
        if (launcher->command_ended)
            launcher->told_to_end |= os_signal_is_end(signal); /* waiting for the rest is over */
        else if (forward && !os_child_goes_on(launcher->command.pid, signal))
            (void)os_child_signal(launcher->command.pid, launcher->command.pidfd, signal);
    }
}

/* Until the command has ended, and what it left behind where that is wanted. */
static void wait_for_end(struct launcher *launcher)
{
    while (reap(launcher) && !launcher->told_to_end) {
        /* Reports lie in the channel until then: nothing of the job waits for them. But it is of
         * limited size, so they are taken with each signal and at least every interval. */
        wait_for(launcher, launcher->signals.descriptor, launcher->options.interval_ns);
        pass_signals(launcher);
        if (launcher->channel >= 0)
            (void)take_reports(launcher);
    }
}

/* ---- what still runs at the end ---- */

static void add_left(struct run_facts *facts, const vitals_row *row)
{
    double seconds;
    facts->left++;
    if (vitals_row_f64(row, VITALS_PROCESS_CPU_SECONDS, &seconds) > 0)
        facts->left_cpu_seconds += seconds;
    else
        facts->left_unknown = true;
}

static void sum_left(struct launcher *launcher, const vitals_snapshot *snapshot)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        uint64_t pid;
        if (vitals_row_u64(row, VITALS_PROCESS_PID, &pid) > 0 &&
            (int64_t)pid != launcher->watcher && (int64_t)pid != os_self() &&
            !is_stranger(launcher, (int64_t)pid))
            add_left(&launcher->facts, row);
    }
}

/* Reads the CPU clocks of everything below us, in this thread. */
static int count_left(struct launcher *launcher)
{
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_PROCESS_PID);
    metric_set_add(&wanted, VITALS_PROCESS_CPU_SECONDS);
    int64_t root = os_self();
    struct process_table *table = process_table_new(launcher->context);
    vitals_builder *builder = NULL;
    vitals_snapshot *snapshot = NULL;
    int code = table == NULL ? VITALS_EMEMORY : vitals_builder_new(&builder, NULL);
    if (code == 0) {
        process_table_select(table, VITALS_ROWS_TREE, &root, 1);
        code = process_table_tick(table, &wanted);
    }
    if (code == 0) {
        vitals_builder_begin(builder);
        process_table_write(table, builder, &wanted);
        code = vitals_builder_finish(builder, &snapshot, NULL);
    }
    if (code == 0)
        sum_left(launcher, snapshot);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
    process_table_free(table);
    return code;
}

/* ---- the whole ---- */

static void explain_failure(struct launcher *launcher, int failed)
{
    struct run_facts *facts = &launcher->facts;
    char name[64];
    const char *argument = launcher->options.argv[0];
    vitals_text_format((vitals_text){argument, strlen(argument)}, VITALS_TEXT_TERMINAL, name,
                       sizeof(name));
    vitals_error error;
    (void)error_system(&error, failed, "%s", name);
    bool missing = failed == ENOENT;
    const char *why = strchr(argument, '/') != NULL
                          ? ": no such file, or its interpreter is missing"
                          : ": command not found";
    facts->exit_code = missing ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
    (void)snprintf(facts->failure, sizeof(facts->failure), "%.100s%s",
                   missing ? name : error.message, missing ? why : "");
}

static int start_command(struct launcher *launcher, vitals_error *error)
{
    struct os_command command = {.argv = launcher->options.argv,
                                 .descriptors = launcher->options.child_descriptors,
                                 .signals = &launcher->signals};
    int code = os_spawn(&command, &launcher->command);
    if (code < 0)
        return error_system(error, -code, "cannot start a process for the command");
    launcher->begin_ns = now_ns(launcher);
    int failed = os_spawn_go(&launcher->command);
    if (failed != 0)
        explain_failure(launcher, failed);
    return 0;
}

static void account_for(struct launcher *launcher)
{
    launcher->facts.counted_seconds = (double)(now_ns(launcher) - launcher->begin_ns) / 1e9;
    enum left left = descendants_left(launcher);
    bool counted = left == LEFT_NOTHING || count_left(launcher) == 0;
    if (!counted || (left == LEFT_UNKNOWN && launcher->options.wait_for_descendants == 0))
        launcher->facts.left_unknown = true;
    end_watcher(launcher);
    const vitals_options *world = launcher->options.world;
    launcher->facts.invented = world != NULL && world->backends != NULL &&
                               strcmp(world->backends, "demo") == 0;
    launcher->facts.interval_ns = launcher->options.interval_ns;
    launcher->facts.watched = launcher->reported ? &launcher->report : NULL;
    account_fill(launcher->account, &launcher->facts);
}

static int check_options(const vitals_run_options *options, vitals_error *error)
{
    if (options->argv == NULL || options->argv[0] == NULL)
        return error_set(error, VITALS_EARGUMENT, 0, "no command to run");
    if (options->interval_ns < INTERVAL_MIN_NS || options->interval_ns > INTERVAL_MAX_NS)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "interval of %llu ns: accepted is 10 ms to 1 day",
                         (unsigned long long)options->interval_ns);
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
    note_strangers(launcher);
    start_watcher(launcher);
    code = start_command(launcher, error);
    if (code < 0) {
        end_watcher(launcher);
        return code;
    }
    wait_for_end(launcher);
    os_close_descriptor(launcher->command.pidfd);
    account_for(launcher);
    return 0;
}

int vitals_run_command(const vitals_run_options *options, vitals_account **out, vitals_error *error)
{
    vitals_run_options taken;
    int code = options_take(&FORM, options, &taken, error);
    if (code == 0)
        code = check_options(&taken, error);
    if (code < 0)
        return code;
    struct launcher *launcher = memory_alloc(sizeof(*launcher));
    if (launcher == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    launcher->options = taken;
    launcher->watcher_pidfd = -1;
    code = vitals_context_new(taken.world, &launcher->context, error);
    if (code == 0)
        code = run(launcher, error);
    if (code == 0)
        *out = launcher->account;
    else
        vitals_account_free(launcher->account);
    os_signals_restore(&launcher->signals);
    vitals_context_free(launcher->context);
    memory_free(launcher);
    return code;
}
