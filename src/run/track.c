/* track.c: runs without a launcher: existing processes, the calling process, or a command that is
 * its child. See <vitals/run.h>.
 *
 * A thread samples at absolute deadlines. It also wakes when a root ends, to read what a zombie
 * still shows. `mutex` guards usage and counts, because an account can be made at any moment. If
 * the target has a cgroup of its own, or is our child, the kernel counts what samples miss
 * (track_cgroup.c, track_child.c); for others it may report births and ends (os/ends.h).
 * Nothing here changes the calling process. */
#include "model/request.h"
#include "os/ends.h"
#include "os/launch.h"
#include "os/marks.h"
#include "process/live.h"
#include "run/account.h"
#include "run/marks.h"
#include "run/run_observer.h"
#include "run/run_options.h"
#include "run/track_cgroup.h"
#include "run/track_child.h"
#include "run/usage/usage_data.h"
#include "sampler/context.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <vitals/process.h>

enum { WAKE_STOP = UINT16_MAX, WAKE_NEWS = WAKE_STOP - 1, COMMAND_TEXT = 4096, METHODS_TEXT = 160 };

/* Births and ends are taken so often, and so long after the first of them woke us. */
static const uint64_t ENDS_TICK_NS = NS_PER_SECOND, ENDS_NEWS_NS = 20 * NS_PER_MS;

struct root {
    vitals_process *process;
    bool ended;
    bool watched; /* its end wakes us; else each tick looks */
};

/* Threads of vitals in this process. */
struct own_threads {
    vitals_availability state; /* UNSET: not read yet */
    size_t count;
    double cpu_seconds;
};

struct vitals_run {
    enum vitals_run_state state; /* the caller's thread */
    vitals_run_options options;
    vitals_run_observer observed; /* the copy to which options.observer points */
    vitals_context *context;
    vitals_sampler *sampler; /* the run's thread, while it runs */
    struct root *roots;      /* likewise */
    size_t root_count;
    size_t root_left; /* likewise */
    pthread_t thread;
    int stop, ended; /* events: the caller wants to stop; every root has ended */
    int watch;
    struct run_observer observer;
    struct os_marks marks_file;
    const char **environment; /* of the command */
    struct marks *marks;      /* of the run's thread, while it runs; NULL: none are read */
    int64_t self;             /* a child that was forked of us has no thread */
    char command[COMMAND_TEXT];
    uint64_t begin_ns;
    uint64_t news_ns; /* the run's thread: when news are taken; 0: none are waiting */

    pthread_mutex_t mutex;
    vitals_usage *usage;               /* guarded by mutex; so is all below */
    struct track_cgroup *cgroup;       /* NULL: there is no such cgroup */
    bool living;                       /* others than ourselves, with what is below them */
    struct os_ends *ends;              /* NULL: the kernel reports no births and ends */
    struct track_child *child;         /* NULL: it is no command of ours */
    vitals_process *ourselves;         /* NULL: we are no root */
    struct own_threads own_begin, own; /* at the start; the newest */
    bool own_over;                     /* the run's thread has read them for the last time */
    uint64_t end_ns;                   /* when all roots had ended; 0: not yet */
    struct os_exit exit;               /* of the first root; HAVE where the kernel tells it */
};

/* ---- opening ---- */

static uint64_t now_ns(const vitals_run *run)
{
    return os_now_ns(&run->context->os);
}

static int open_roots(vitals_run *run, const vitals_usage_options *usage, vitals_error *error)
{
    run->roots = memory_array(usage->pid_count, sizeof(*run->roots));
    if (run->roots == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    for (size_t i = 0; i < usage->pid_count; i++) {
        int code = vitals_process_open(run->context, usage->pids[i], &run->roots[i].process, error);
        if (code < 0)
            return code;
        run->root_count++;
    }
    run->root_left = run->root_count;
    for (size_t i = 0; i < usage->pid_count && run->ourselves == NULL; i++) {
        if (usage->pids[i] == run->self)
            (void)!vitals_process_open(run->context, run->self, &run->ourselves, NULL);
    }

    /* The command as /proc has it, for people. */
    vitals_request *request = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_text text;
    int code = vitals_request_new(0, &request, NULL);
    if (code == 0)
        code = vitals_request_add(request, VITALS_PROCESS_COMMAND_LINE, NULL);
    if (code == 0)
        code = vitals_process_ask(run->roots[0].process, request, &snapshot, NULL);
    const vitals_row *row = code == 0 ? vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, NULL)
                                      : NULL;
    if (row != NULL && vitals_row_text(row, VITALS_PROCESS_COMMAND_LINE, &text) > 0)
        vitals_text_command(text, run->command, sizeof(run->command));
    vitals_snapshot_unref(snapshot);
    vitals_request_free(request);
    return 0;
}

static int open_events(vitals_run *run, vitals_error *error)
{
    run->stop = os_event_new();
    run->ended = os_event_new();
    run->watch = os_watch_new();
    if (run->stop < 0 || run->ended < 0 || run->watch < 0 ||
        os_watch_add(run->watch, run->stop, WAKE_STOP) < 0)
        return error_set(error, VITALS_ESYSTEM, 0, "no descriptors for a run");
    for (size_t i = 0; i < run->root_count; i++) {
        struct root *root = &run->roots[i];
        int descriptor = vitals_process_descriptor(root->process);
        root->watched = descriptor >= 0 && os_watch_add(run->watch, descriptor, i) == 0;
    }
    return 0;
}

static int open_marks(vitals_run *run, vitals_error *error)
{
    const char *path = run->options.marks_path;
    if (path == NULL)
        return 0;
    int code = path[0] != '\0' ? os_marks_use(&run->marks_file, path)
                               : os_marks_make(&run->marks_file, run->options.runtime_folder);
    if (code == -EPERM)
        return error_set(error, VITALS_EDENIED, EPERM,
                         "file of marks %s: another user owns it or may write to it", path);
    if (code < 0)
        return error_system(error, -code, "file of marks %s", path);
    code = marks_open(&run->marks_file, now_ns(run), &run->marks);
    return code < 0 ? error_set(error, code, 0, "file of marks %s cannot be read", path) : 0;
}

/* The command, with VITALS_MARKS in its environment where marks are read. */
static int open_child(vitals_run *run, vitals_error *error)
{
    const char *const *base = (const char *const *)run->options.environment;
    run->environment = os_marks_environment(&run->marks_file, base);
    if (run->environment == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    run->options.environment = (char *const *)run->environment;
    return track_child_new(&run->context->os, &run->options, &run->child, error);
}

static int open_all(vitals_run *run, vitals_error *error)
{
    vitals_usage_options usage;
    vitals_request *request = NULL;
    int64_t pid = os_self();
    int code = vitals_context_new(run->options.world, &run->context, error);
    if (code == 0)
        code = open_marks(run, error);
    if (code == 0 && run->options.argv != NULL)
        code = open_child(run, error);
    if (code < 0)
        return code;

    /* The measured processes: the named pids, the command, or the calling process. */
    code = usage_options_take(run->options.usage, &usage, error);
    if (code < 0)
        return code;
    bool named = usage.pid_count > 0;
    if (run->child != NULL)
        pid = track_child_pid(run->child);
    if (!named) {
        usage.pids = &pid;
        usage.pid_count = 1;
    }
    code = vitals_usage_new(&usage, &run->usage, error);
    if (code == 0)
        code = open_roots(run, &usage, error);
    if (code == 0)
        code = open_events(run, error);
    if (code == 0) /* whether a cgroup counts memory is known with the first sample */
        code = run_observer_request(run->options.observer, run->usage, true,
                                    run->options.interval_ns, &request, error);
    if (code == 0)
        code = vitals_sampler_new(run->context, request, &run->sampler, error);
    vitals_request_free(request);
    if (run->usage != NULL)
        run->usage->os = &run->context->os;

    /* With several trees no cgroup holds one tree alone, and vitals is in its own. */
    run->living = code == 0 && run->child == NULL && named && usage.no_children == 0;
    if (code == 0 && run->child == NULL && named && usage.pid_count == 1)
        run->cgroup = track_cgroup_new(&run->context->os, usage.pids[0]);
    run->options.usage = NULL; /* the caller's, and taken */
    return code;
}

int vitals_run_open(const vitals_run_options *options, vitals_run **out, vitals_error *error)
{
    vitals_run *run = memory_alloc(sizeof(*run));
    if (run == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    int code = run_options_take(options, &run->options, &run->observed, error);
    if (code == 0)
        code = request_check_interval(run->options.interval_ns, error);
    if (code < 0) {
        memory_free(run);
        return code;
    }
    run->stop = run->ended = run->watch = -1;
    run->marks_file.held = -1;
    run_observer_init(&run->observer, run->options.observer, run->options.totals_path);
    run->self = os_self();
    pthread_mutex_init(&run->mutex, NULL);
    code = open_all(run, error);
    if (code == 0)
        *out = run;
    else
        vitals_run_close(run);
    return code;
}

/* ---- our own threads ---- */

static void own_threads_read(const vitals_run *run, struct own_threads *out)
{
    vitals_request *request = NULL;
    vitals_snapshot *snapshot = NULL;
    uint64_t tid;
    double seconds;
    struct own_threads own = {.state = VITALS_HAVE};
    int code = vitals_request_new(0, &request, NULL);
    if (code == 0)
        code = vitals_request_add(request, VITALS_THREAD_TID, NULL);
    if (code == 0)
        code = vitals_request_add(request, VITALS_THREAD_CPU_SECONDS, NULL);
    if (code == 0)
        code = vitals_process_ask(run->ourselves, request, &snapshot, NULL);
    for (const vitals_row *row = NULL;
         code == 0 && (row = vitals_snapshot_next(snapshot, VITALS_TABLE_THREAD, row)) != NULL;) {
        if (vitals_row_u64(row, VITALS_THREAD_TID, &tid) <= 0 || !thread_is_ours((int64_t)tid))
            continue;
        vitals_availability state = vitals_row_number(row, VITALS_THREAD_CPU_SECONDS, &seconds);
        own.count++;
        if (state > 0)
            own.cpu_seconds += seconds;
        else
            own.state = VITALS_LOWER_BOUND;
    }
    vitals_snapshot_unref(snapshot);
    vitals_request_free(request);
    if (code < 0)
        return;
    /* The usage of a thread that has ended is in no row. */
    bool ended = own.count < out->count || own.cpu_seconds < out->cpu_seconds;
    if (out->state == VITALS_LOWER_BOUND || ended)
        own.state = VITALS_LOWER_BOUND;
    if (own.cpu_seconds < out->cpu_seconds)
        own.cpu_seconds = out->cpu_seconds;
    *out = own;
}

/* Under the mutex. */
static void own_threads_update(vitals_run *run)
{
    if (run->ourselves != NULL && run->own.state != VITALS_UNSET)
        own_threads_read(run, &run->own);
}

static void put_own_threads(const vitals_run *run, vitals_account *account)
{
    const vitals_figure_form cpu = {.size = sizeof(vitals_figure_form),
                                    .name = VITALS_FIGURE_OWN_CPU_SECONDS,
                                    .unit = "seconds",
                                    .source = "vitals' own threads, each by its clock",
                                    .state = run->own.state,
                                    .value = run->own.cpu_seconds - run->own_begin.cpu_seconds};
    const vitals_figure_form threads = {.size = sizeof(vitals_figure_form),
                                        .name = VITALS_FIGURE_OWN_THREADS,
                                        .source = "threads that vitals started",
                                        .state = VITALS_HAVE,
                                        .value = (double)run->own.count};
    if (run->own.state == VITALS_UNSET)
        return;
    (void)!vitals_account_put(account, &cpu, NULL); /* without memory it is missing */
    (void)!vitals_account_put(account, &threads, NULL);
}

/* ---- the thread ---- */

/* A few readings in a tick; at the stop, what the file holds by then. A file that grows faster than
 * it is read must not hold us. */
static void observe_marks(vitals_run *run, bool to_end)
{
    uint64_t readings = 16;
    vitals_mark mark;
    bool more = run->marks != NULL;
    for (uint64_t i = 0; i < readings && more; i++) {
        more = marks_read(run->marks, now_ns(run));
        if (to_end && i == 0)
            readings = marks_left(run->marks) / MARKS_READING + 2;
        while (marks_next(run->marks, &mark))
            run_observer_mark(&run->observer, &mark);
    }
}

/* The last tick before a root ends reads every counter, however rarely it is read otherwise. */
static void tick(vitals_run *run, bool last)
{
    vitals_snapshot *snapshot = NULL;
    vitals_account *account = NULL;
    vitals_error error = {.message = ""};
    int taken = last ? sampler_take_last(run->sampler, &snapshot)
                     : sampler_take_soon(run->sampler, &snapshot);
    if (taken < 0)
        return;
    pthread_mutex_lock(&run->mutex);
    int code = vitals_usage_add(run->usage, snapshot, &error);
    if (run->cgroup != NULL)
        track_cgroup_look(run->cgroup, run->usage, snapshot);
    if (run->child != NULL)
        track_child_tick(run->child);
    if (run->ends != NULL)
        os_ends_drain(run->ends);
    pthread_mutex_unlock(&run->mutex);
    if (code < 0)
        run_observer_complain(&run->observer, "a sample is not whole", error.message);
    /* Only this thread changes the usage: to read it needs no lock. */
    run_observer_sample(&run->observer, snapshot, run->usage);
    vitals_snapshot_unref(snapshot);
    observe_marks(run, false);

    uint64_t now = now_ns(run);
    if (run_observer_totals_due(&run->observer, now) &&
        vitals_run_account(run, &account, NULL) == 0) {
        run_observer_totals(&run->observer, account, now);
        vitals_account_free(account);
    }
}

static void end_root(vitals_run *run, struct root *root)
{
    struct os_exit how = {0};
    if (root->ended)
        return;
    root->ended = true;
    if (root->watched)
        os_watch_remove(run->watch, vitals_process_descriptor(root->process));
    /* The exit status of the first, if the kernel tells it. A child of this process, of whatever
     * thread, stays a zombie for the code that started it. */
    if (run->child == NULL && root == run->roots)
        (void)live_how_ended(root->process, &how);
    pthread_mutex_lock(&run->mutex);
    if (run->child != NULL)
        track_child_reap(run->child);
    if (root == run->roots)
        run->exit = how;
    bool last = --run->root_left == 0;
    if (last)
        run->end_ns = now_ns(run);
    pthread_mutex_unlock(&run->mutex);
    if (last)
        os_event_set(run->ended);
}

/* Where the kernel keeps little of what it tells, each first of it wakes us. */
static void listen_for_news(vitals_run *run)
{
    pthread_mutex_lock(&run->mutex);
    int news = run->ends != NULL ? os_ends_news(run->ends) : -1;
    if (news >= 0)
        (void)!os_watch_add(run->watch, news, WAKE_NEWS); /* else what comes each second is taken */
    pthread_mutex_unlock(&run->mutex);
    run->news_ns = 0;
}

/* Handles the reason for waking up; returns false if tracking is to stop. A tick first: a zombie
 * tells of itself until it is waited for. */
static bool settle_woken(vitals_run *run)
{
    uint64_t tags[32];
    int count = os_watch_ready(run->watch, tags, ARRAY_COUNT(tags));
    bool stopped = count < 0;
    int ended = 0;
    for (int i = 0; i < count; i++) {
        stopped = stopped || tags[i] == WAKE_STOP;
        if (tags[i] != WAKE_NEWS) {
            tags[ended++] = tags[i];
            continue;
        }
        /* Not each by itself: more will come. */
        pthread_mutex_lock(&run->mutex);
        os_watch_remove(run->watch, os_ends_news(run->ends));
        pthread_mutex_unlock(&run->mutex);
        run->news_ns = saturating_add(now_ns(run), ENDS_NEWS_NS);
    }
    if (stopped || ended == 0)
        return !stopped;
    tick(run, true);
    for (int i = 0; i < ended; i++)
        end_root(run, &run->roots[tags[i]]);
    return true;
}

/* The kernel keeps its events for a while only. */
static int wait_for_tick(vitals_run *run, uint64_t deadline)
{
    const vitals_clock *clock = &run->context->os.clock;
    for (;;) {
        uint64_t next = run->ends != NULL ? saturating_add(now_ns(run), ENDS_TICK_NS) : deadline;
        if (run->news_ns != 0 && run->news_ns < next)
            next = run->news_ns;
        bool last = next >= deadline;
        int woken = clock->wait_until(clock->data, run->watch, last ? deadline : next);
        if (woken != 0 || last)
            return woken;
        pthread_mutex_lock(&run->mutex);
        if (run->ends != NULL)
            os_ends_drain(run->ends);
        pthread_mutex_unlock(&run->mutex);
        if (run->news_ns != 0)
            listen_for_news(run);
    }
}

static void *run_main(void *argument)
{
    vitals_run *run = argument;
    uint64_t interval = run->options.interval_ns, deadline = now_ns(run);
    listen_for_news(run);
    run_observer_begin(&run->observer, run->begin_ns);
    for (;;) {
        int woken = wait_for_tick(run, deadline);
        if (woken < 0 || (woken > 0 && !settle_woken(run)))
            break;
        if (woken > 0)
            continue;
        tick(run, false);
        /* Used if there are no pidfds, or no room to watch them. */
        for (size_t i = 0; i < run->root_count; i++) {
            struct root *root = &run->roots[i];
            int descriptor = vitals_process_descriptor(root->process);
            if (root->watched || root->ended)
                continue;
            if (descriptor >= 0 ? os_pidfd_ended(descriptor) > 0
                                : vitals_process_is_running(root->process) == 0)
                end_root(run, root);
        }
        deadline = pace_next(deadline, interval, now_ns(run));
    }
    if (run->root_left > 0)
        tick(run, true); /* what was done since the last */
    observe_marks(run, true);
    pthread_mutex_lock(&run->mutex);
    own_threads_update(run);
    run->own_over = true;
    pthread_mutex_unlock(&run->mutex);
    run_observer_end(&run->observer);
    return NULL;
}

/* ---- the public face ---- */

const char *vitals_run_marks_path(const vitals_run *run)
{
    return run->marks_file.path;
}

int64_t vitals_run_pid(const vitals_run *run)
{
    return run->child == NULL ? 0 : track_child_pid(run->child);
}

int vitals_run_exclude(vitals_run *run, int64_t pid, vitals_error *error)
{
    if (run->self != os_self())
        return error_forked(error, "run");
    if (run->state != VITALS_RUN_NEW)
        return error_set(error, VITALS_EARGUMENT, 0, "the run was started already");
    return usage_exclude(run->usage, pid, error);
}

int vitals_run_start(vitals_run *run, vitals_error *error)
{
    if (run->self != os_self())
        return error_forked(error, "run");
    if (run->state != VITALS_RUN_NEW)
        return error_set(error, VITALS_EARGUMENT, 0, "the run was started already");

    /* Births and ends are followed from the beginning on, as all else is counted. */
    const vitals_usage_options *usage = &run->usage->options;
    const struct os_trees trees = {.roots = usage->pids,
                                   .root_count = usage->pid_count,
                                   .excluded_pids = usage->excluded_pids,
                                   .excluded_count = usage->excluded_count};
    if (run->living)
        (void)!os_ends_open(&run->context->os, &trees, &run->ends);

    if (run->ourselves != NULL)
        own_threads_read(run, &run->own_begin);
    run->own = run->own_begin;
    run->begin_ns = now_ns(run);
    int failed = thread_start(&run->thread, "vitals-run", 0, run_main, run);
    /* The command may end before we know that it began: the thread runs already. */
    int not_begun = failed == 0 && run->child != NULL ? track_child_go(run->child) : 0;
    if (not_begun != 0) {
        pthread_mutex_lock(&run->mutex);
        track_child_failed(run->child, not_begun);
        pthread_mutex_unlock(&run->mutex);
    }
    if (failed != 0)
        return error_system(error, failed, "cannot start the run's thread");
    run->state = VITALS_RUN_STARTED;
    return 0;
}

int vitals_run_stop(vitals_run *run, vitals_error *error)
{
    if (run->self != os_self())
        return error_forked(error, "run");
    if (run->state != VITALS_RUN_STARTED)
        return error_set(error, VITALS_EARGUMENT, 0,
                         run->state == VITALS_RUN_NEW ? "the run was not started"
                                                      : "the run was stopped already");
    run->state = VITALS_RUN_STOPPED;
    os_event_set(run->stop);
    pthread_join(run->thread, NULL);
    return 0;
}

enum vitals_run_state vitals_run_state(const vitals_run *run)
{
    return run->state;
}

int vitals_run_wait(vitals_run *run, uint64_t timeout_ns, vitals_error *error)
{
    const vitals_clock *clock = &run->context->os.clock;
    if (run->self != os_self())
        return error_forked(error, "run");
    if (run->state == VITALS_RUN_NEW)
        return error_set(error, VITALS_EARGUMENT, 0, "the run was not started");
    uint64_t deadline_ns = saturating_add(now_ns(run), timeout_ns);
    int woken = clock->wait_until(clock->data, run->ended, deadline_ns);
    return woken < 0 ? error_system(error, -woken, "waiting for processes") : woken > 0;
}

/* The same quantities from samples. */
static const struct {
    enum quantity quantity;
    enum measure_place measure;
} SAMPLED[] = {
    {COUNTED_CPU_SECONDS, MEASURE_AT_cpu_seconds},
    {COUNTED_READ_BYTES, MEASURE_AT_disk_read_bytes},
    {COUNTED_WRITTEN_BYTES, MEASURE_AT_disk_written_bytes},
    {COUNTED_MINOR_FAULTS, MEASURE_AT_minor_faults},
    {COUNTED_MAJOR_FAULTS, MEASURE_AT_major_faults},
    {COUNTED_VOLUNTARY_SWITCHES, MEASURE_AT_voluntary_switches},
    {COUNTED_INVOLUNTARY_SWITCHES, MEASURE_AT_involuntary_switches},
};

/* Samples know what living processes have waited for, including the time of children that ended;
 * the kernel's records also know of children that were never waited for. */
static bool samples_know_more(const vitals_usage *usage, enum quantity quantity, double value)
{
    const struct usage_subject *tree = usage->subjects[SUBJECT_TREE];
    for (size_t i = 0; i < ARRAY_COUNT(SAMPLED); i++) {
        const struct usage_cell *cell = &tree->cells[SAMPLED[i].measure];
        if (SAMPLED[i].quantity == quantity)
            return cell->readings > 0 && cell->most >= value;
    }
    return false;
}

/* Fills in what no better method counted and samples missed of processes that came and went between
 * two samples: a lower bound, as samples are. True if there was any. */
static bool read_ends(struct os_ends *ends, const vitals_usage *usage, struct counted *out)
{
    static const struct {
        enum quantity quantity;
        enum measure_place measure;
    } PARTS[] = {{COUNTED_CPU_USER_SECONDS, MEASURE_AT_cpu_user_seconds},
                 {COUNTED_CPU_SYSTEM_SECONDS, MEASURE_AT_cpu_system_seconds}};
    struct counted told[COUNTED_COUNT] = {0};
    bool any = false;
    if (ends == NULL)
        return false;
    os_ends_read(ends, told);

    /* Records split the time of those that have ended alone, samples that of those that they saw:
     * whichever part is more. Where samples tell the whole, they tell its parts. */
    const struct usage_subject *tree = usage->subjects[SUBJECT_TREE];
    bool sampled = samples_know_more(usage, COUNTED_CPU_SECONDS,
                                     told[COUNTED_CPU_SECONDS].value.as.f64);
    for (size_t i = 0; i < ARRAY_COUNT(PARTS); i++) {
        struct counted *part = &told[PARTS[i].quantity];
        const struct usage_cell *cell = &tree->cells[PARTS[i].measure];
        if (sampled)
            part->value.state = VITALS_UNSUPPORTED;
        if (part->value.state <= 0 || cell->readings == 0 || cell->most <= part->value.as.f64)
            continue;
        part->value.as.f64 = cell->most;
        (void)snprintf(part->source, sizeof part->source, "sampled; ends tell less of it");
    }

    /* Each process's own peak: of those that have ended by their records, of the others as sampled.
     */
    struct counted *sum = &told[COUNTED_MEMORY_SUM_BYTES];
    if (sum->value.state > 0) {
        for (size_t i = 0; i < usage->processes.count; i++) {
            const struct usage_process *process = usage->processes.items[i];
            sum->value.as.f64 += process->member ? process->resident_peak : 0;
        }
        size_t size = strlen(sum->source);
        (void)snprintf(sum->source + size, sizeof sum->source - size, "; VmHWM of those that live");
    }

    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        double value = told[quantity].value.as.f64;
        if (told[quantity].value.state <= 0 || out[quantity].value.state > 0 ||
            samples_know_more(usage, (enum quantity)quantity, value))
            continue;
        out[quantity] = told[quantity];
        any = true;
    }
    return any;
}

/* Joins counts and samples, as the launcher does; NULL if nothing was counted. */
static vitals_account *counted_account(vitals_run *run, const vitals_account *sampled)
{
    struct counted counted[COUNTED_COUNT];
    const uint64_t end_ns = run->end_ns != 0 ? run->end_ns : now_ns(run);
    double seconds = run->begin_ns != 0 ? (double)(end_ns - run->begin_ns) / 1e9 : 0;
    struct run_outcome outcome = {.wall_seconds = seconds,
                                  .counted_seconds = seconds,
                                  .end_unknown = true,
                                  .interval_ns = run->options.interval_ns,
                                  .invented = run_options_are_invented(&run->options),
                                  .counted = counted,
                                  .watched = sampled};
    if (run->child != NULL)
        track_child_metrics(run->child, usage_has_descendants(run->usage), &outcome);
    else {
        bool any = track_cgroup_read(run->cgroup, counted);
        if (!read_ends(run->ends, run->usage, counted) && !any)
            return NULL;
    }
    vitals_account *account = account_new();
    if (account == NULL)
        return NULL;
    account_fill(account, &outcome);
    account_shrink(account);
    return account;
}

int vitals_run_account(vitals_run *run, vitals_account **out, vitals_error *error)
{
    char interval[NUMBER_TEXT], methods[METHODS_TEXT];
    vitals_account *account = NULL;
    if (run->self != os_self())
        return error_forked(error, "run");
    pthread_mutex_lock(&run->mutex);
    int code = vitals_usage_account(run->usage, &account, error);
    if (code < 0) {
        pthread_mutex_unlock(&run->mutex);
        return code;
    }
    vitals_account *counted = counted_account(run, account);
    if (counted != NULL) {
        vitals_account_free(account);
        account = counted;
    }

    if (!run->own_over)
        own_threads_update(run);
    put_own_threads(run, account);
    (void)number_print_u64(interval, run->options.interval_ns);
    account_set_string(account, VITALS_ATTRIBUTE_INTERVAL_NS, interval);
    account_set_string(account, VITALS_ATTRIBUTE_COMMAND, run->command);
    run_observer_explain(&run->observer, account);
    if (run->child == NULL) {
        track_cgroup_names(run->cgroup, methods, sizeof(methods));
        size_t size = size_min(strlen(methods), sizeof(methods) - 1);
        (void)snprintf(methods + size, sizeof(methods) - size, "%ssampling",
                       run->ends != NULL ? os_ends_names(run->ends) : "");
        account_set_string(account, VITALS_ATTRIBUTE_METHODS, methods);
    }
    account_set_string(account, VITALS_ATTRIBUTE_STATE,
                       run->end_ns != 0 ? VITALS_RUN_COMPLETE : VITALS_RUN_RUNNING);
    if (run->exit.state == VITALS_HAVE)
        vitals_account_ended(account,
                             run->exit.signal != 0 ? 128 + run->exit.signal : run->exit.code,
                             run->exit.signal);
    pthread_mutex_unlock(&run->mutex);
    account_describe(account, run->context, run->options.argv,
                     run->begin_ns != 0 ? run->begin_ns : now_ns(run));
    *out = account;
    return 0;
}

void vitals_run_close(vitals_run *run)
{
    if (run == NULL)
        return;
    if (run->state == VITALS_RUN_STARTED && vitals_run_stop(run, NULL) < 0)
        return; /* a fork, perhaps amid a tick: the memory is the price, as of a sampler */
    marks_close(run->marks);
    if (run->self == os_self())
        os_marks_remove(&run->marks_file);
    else
        os_close_descriptor(run->marks_file.held);
    vitals_sampler_free(run->sampler);
    for (size_t i = 0; i < run->root_count; i++)
        vitals_process_close(run->roots[i].process);
    vitals_process_close(run->ourselves);
    memory_free(run->roots);
    vitals_usage_free(run->usage);
    track_cgroup_free(run->cgroup);
    os_ends_free(run->ends);
    track_child_free(run->child);
    memory_free((void *)run->environment);
    vitals_context_free(run->context);
    os_close_descriptor(run->stop);
    os_close_descriptor(run->ended);
    os_close_descriptor(run->watch);
    pthread_mutex_destroy(&run->mutex);
    run_observer_done(&run->observer);
    memory_free(run);
}
