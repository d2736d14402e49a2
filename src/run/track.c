/* track.c: runs of which we are no launcher: processes that live already, or ourselves. See
 * <vitals/run.h>.
 *
 * A thread samples at absolute deadlines and folds what it sees; it wakes too when a root ends, to
 * read once more what a zombie still tells. `mutex` guards what is folded: an account is made of it
 * at any moment. Nothing here changes the process that calls. */
#include "core/buffer.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/number.h"
#include "os/launch.h"
#include "os/shared.h"
#include "run/about.h"
#include "run/account.h"
#include "run/run_options.h"
#include "run/usage_data.h"
#include "sample/context.h"
#include "sample/sampler.h"
#include "snapshot/request.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <vitals/process.h>

enum { WAKE_STOP = UINT16_MAX, COMPLAINT = 400, COMMAND_TEXT = 4096 };

static const uint64_t TOTALS_NS = NS_PER_SECOND;

struct root {
    vitals_process *process;
    bool ended;
    bool ours; /* a child of ours, whose end is its parent's to be told */
};

struct vitals_run {
    enum vitals_run_state state; /* the caller's thread */
    vitals_run_options options;
    vitals_context *context;
    vitals_sampler *sampler; /* the run's thread, while it runs */
    struct root *roots;      /* likewise */
    size_t root_count;
    size_t root_left; /* likewise */
    pthread_t thread;
    int stop, ended; /* events: the caller wants to stop; every root has ended */
    int watch;
    bool observed, totals_written;
    uint64_t totals_ns;
    int64_t self; /* a child that was forked of us has no thread */
    char command[COMMAND_TEXT];
    uint64_t begin_ns;

    pthread_mutex_t mutex;
    vitals_usage *usage; /* guarded by mutex; so is all below */
    uint64_t end_ns;     /* when all roots had ended; 0: not yet */
    bool exit_known;
    int exit_code, exit_signal; /* of the first root */
    char complaint[COMPLAINT];
};

/* ---- opening ---- */

static uint64_t now_ns(const vitals_run *run)
{
    const vitals_clock *clock = &run->context->os.clock;
    return clock->monotonic_ns(clock->data);
}

static int check_options(const vitals_run_options *options, vitals_error *error)
{
    if (options->argv != NULL)
        return error_set(error, VITALS_EUNSUPPORTED, 0,
                         "a command needs a launcher of its own: vitals_run_command");
    return run_options_check_interval(options->interval_ns, error);
}

/* What /proc tells of the command, for people. */
static void read_command(vitals_run *run)
{
    vitals_request *request = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_text text;
    int code = vitals_request_new(0, &request, NULL);
    if (code == 0)
        code = vitals_request_add(request, VITALS_PROCESS_COMMAND_LINE, NULL);
    if (code == 0)
        code = vitals_process_ask(run->roots[0].process, request, &snapshot, NULL);
    const vitals_row *row = code == 0 ? vitals_snapshot_next(snapshot, VITALS_PROCESS, NULL) : NULL;
    if (row != NULL && vitals_row_text(row, VITALS_PROCESS_COMMAND_LINE, &text) > 0)
        vitals_text_command(text, run->command, sizeof(run->command));
    vitals_snapshot_unref(snapshot);
    vitals_request_free(request);
}

static bool is_our_child(const vitals_run *run, int64_t pid)
{
    enum { CHILDREN = 256 };
    int64_t pids[CHILDREN];
    int64_t count = os_children(&run->context->os, pids, CHILDREN);
    for (size_t i = 0; count > 0 && i < size_min((size_t)count, CHILDREN); i++) {
        if (pids[i] == pid)
            return true;
    }
    return count < 0 || count > CHILDREN; /* not known: then nothing of it is taken */
}

static int open_roots(vitals_run *run, const vitals_usage_options *usage, vitals_error *error)
{
    int code = 0;
    run->roots = memory_array(usage->pid_count, sizeof(*run->roots));
    if (run->roots == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    for (size_t i = 0; i < usage->pid_count && code == 0; i++) {
        struct root *root = &run->roots[i];
        code = vitals_process_open(run->context, usage->pids[i], &root->process, error);
        if (code < 0)
            break;
        run->root_count++;
        root->ours = is_our_child(run, usage->pids[i]);
    }
    run->root_left = run->root_count;
    if (code == 0)
        read_command(run);
    return code;
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
        int descriptor = vitals_process_descriptor(run->roots[i].process);
        if (descriptor >= 0)
            (void)os_watch_add(run->watch, descriptor, i); /* else each tick looks */
    }
    return 0;
}

static int open_sampler(vitals_run *run, vitals_error *error)
{
    const vitals_run_observer *observer = run->options.observer;
    vitals_request *request = NULL;
    int code = 0;
    if (observer != NULL && observer->request != NULL)
        request = request_copy(observer->request);
    if (request == NULL)
        code = vitals_request_new(0, &request, error);
    if (code == 0)
        code = vitals_usage_request(run->usage, request, error);
    if (code == 0)
        code = vitals_request_interval(request, run->options.interval_ns, error);
    if (code == 0)
        code = vitals_sampler_new(run->context, request, &run->sampler, error);
    vitals_request_free(request);
    return code;
}

static int open_all(vitals_run *run, vitals_error *error)
{
    vitals_usage_options usage;
    vitals_usage_options_init(&usage, sizeof(usage));
    if (run->options.usage != NULL)
        memcpy(&usage, run->options.usage, size_min(run->options.usage->size, sizeof(usage)));
    usage.size = sizeof(usage);
    const int64_t self = os_self();
    if (usage.pid_count == 0) {
        usage.pids = &self;
        usage.pid_count = 1;
    }
    int code = vitals_usage_new(&usage, &run->usage, error);
    if (code == 0)
        code = vitals_context_new(run->options.world, &run->context, error);
    if (code == 0)
        code = open_roots(run, &usage, error);
    if (code == 0)
        code = open_events(run, error);
    if (code == 0)
        code = open_sampler(run, error);
    return code;
}

int vitals_run_open(const vitals_run_options *options, vitals_run **out, vitals_error *error)
{
    vitals_run_options taken;
    int code = options_take(&run_options_form, options, &taken, error);
    if (code == 0)
        code = check_options(&taken, error);
    if (code < 0)
        return code;
    vitals_run *run = memory_alloc(sizeof(*run));
    if (run == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    run->options = taken;
    run->stop = run->ended = run->watch = -1;
    run->totals_written = true;
    run->self = os_self();
    pthread_mutex_init(&run->mutex, NULL);
    code = open_all(run, error);
    if (code == 0)
        *out = run;
    else
        vitals_run_free(run);
    return code;
}

/* ---- the thread ---- */

static void complain(vitals_run *run, const char *what, const char *why)
{
    pthread_mutex_lock(&run->mutex);
    if (run->complaint[0] == '\0')
        (void)snprintf(run->complaint, sizeof(run->complaint), "%s: %s", what, why);
    pthread_mutex_unlock(&run->mutex);
}

static void check_observer(vitals_run *run, int code, const vitals_error *error)
{
    if (code >= 0)
        return;
    run->observed = false;
    complain(run, "recording stopped", error->message);
}

static int append(void *data, const char *bytes, size_t size)
{
    struct buffer *buffer = data;
    buffer_append(buffer, bytes, size);
    return buffer->failed ? -1 : 0;
}

static void write_totals(vitals_run *run)
{
    vitals_account *account = NULL;
    struct buffer buffer = {.bytes = NULL};
    uint64_t now = now_ns(run);
    if (run->options.totals_path == NULL || !run->totals_written ||
        now < saturating_add(run->totals_ns, TOTALS_NS) ||
        vitals_run_account(run, &account, NULL) < 0)
        return;
    run->totals_ns = now;
    int code = vitals_account_json(account, append, &buffer);
    vitals_account_free(account);
    if (code == 0 && !buffer.failed)
        code = os_replace_file(run->options.totals_path, buffer.bytes, buffer.size);
    buffer_done(&buffer);
    if (code < 0) {
        vitals_error error;
        (void)error_system(&error, -code, "%s", run->options.totals_path);
        complain(run, "no file of totals", error.message);
        run->totals_written = false;
    }
}

static void tick(vitals_run *run)
{
    const vitals_run_observer *observer = run->options.observer;
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {.message = ""};
    if (sampler_take_soon(run->sampler, &snapshot) < 0)
        return;
    pthread_mutex_lock(&run->mutex);
    int code = vitals_usage_add(run->usage, snapshot, &error);
    pthread_mutex_unlock(&run->mutex);
    if (code < 0)
        complain(run, "a sample is not whole", error.message);
    /* Only this thread changes the usage: to read it needs no lock. */
    if (run->observed && observer->sample != NULL)
        check_observer(run, observer->sample(observer->data, snapshot, run->usage, &error), &error);
    vitals_snapshot_unref(snapshot);
    write_totals(run);
}

/* How it ended, where the kernel tells. A child of ours stays a zombie for who started it. */
static void learn(vitals_run *run, struct root *root)
{
    int code, signal;
    if (root->ours || root != run->roots || vitals_process_wait(root->process, 0, NULL) < 0 ||
        vitals_process_exit_status(root->process, &code, &signal) <= 0)
        return;
    pthread_mutex_lock(&run->mutex);
    run->exit_known = true;
    run->exit_code = code;
    run->exit_signal = signal;
    pthread_mutex_unlock(&run->mutex);
}

static void end_root(vitals_run *run, struct root *root)
{
    int descriptor = vitals_process_descriptor(root->process);
    if (root->ended)
        return;
    root->ended = true;
    if (descriptor >= 0)
        os_watch_remove(run->watch, descriptor);
    learn(run, root);
    if (--run->root_left > 0)
        return;
    pthread_mutex_lock(&run->mutex);
    run->end_ns = now_ns(run);
    pthread_mutex_unlock(&run->mutex);
    os_event_set(run->ended);
}

/* Where there are no pidfds. */
static void look_for_ends(vitals_run *run)
{
    for (size_t i = 0; i < run->root_count; i++) {
        struct root *root = &run->roots[i];
        if (vitals_process_descriptor(root->process) < 0 &&
            vitals_process_is_running(root->process) == 0)
            end_root(run, root);
    }
}

/* What woke us; false where we are to stop. A tick first: a zombie tells of itself until it is
 * waited for. */
static bool settle_woken(vitals_run *run)
{
    uint64_t tags[32];
    int count = os_watch_ready(run->watch, tags, ARRAY_COUNT(tags));
    bool stopped = count < 0;
    for (int i = 0; i < count; i++)
        stopped = stopped || tags[i] == WAKE_STOP;
    if (stopped)
        return false;
    tick(run);
    for (int i = 0; i < count; i++)
        end_root(run, &run->roots[tags[i]]);
    return true;
}

static void *run_main(void *argument)
{
    vitals_run *run = argument;
    const vitals_run_observer *observer = run->options.observer;
    const vitals_clock *clock = &run->context->os.clock;
    uint64_t interval = run->options.interval_ns, deadline = now_ns(run);
    vitals_error error = {.message = ""};
    if (run->observed && observer->begin != NULL)
        check_observer(run, observer->begin(observer->data, &error), &error);
    for (;;) {
        int woken = clock->wait_until(clock->data, run->watch, deadline);
        if (woken < 0 || (woken > 0 && !settle_woken(run)))
            break;
        if (woken > 0)
            continue;
        tick(run);
        look_for_ends(run);
        uint64_t now = now_ns(run), late = now > deadline ? now - deadline : 0;
        deadline = saturating_add(deadline, saturating_add(late - late % interval, interval));
    }
    if (run->root_left > 0)
        tick(run); /* what was done since the last */
    if (run->observed && observer->end != NULL)
        check_observer(run, observer->end(observer->data, &error), &error);
    return NULL;
}

/* ---- the public face ---- */

int vitals_run_start(vitals_run *run, vitals_error *error)
{
    sigset_t all, before;
    if (run->state != VITALS_RUN_NEW)
        return error_set(error, VITALS_EARGUMENT, 0, "the run was started already");
    run->begin_ns = run->totals_ns = now_ns(run);
    run->observed = run->options.observer != NULL;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&run->thread, NULL, run_main, run);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0)
        return error_system(error, failed, "cannot start the run's thread");
    pthread_setname_np(run->thread, "vitals-run");
    run->state = VITALS_RUN_STARTED;
    return 0;
}

int vitals_run_stop(vitals_run *run, vitals_error *error)
{
    if (run->state != VITALS_RUN_STARTED)
        return error_set(error, VITALS_EARGUMENT, 0,
                         run->state == VITALS_RUN_NEW ? "the run was not started"
                                                      : "the run was stopped already");
    run->state = VITALS_RUN_STOPPED;
    if (run->self != os_self())
        return 0; /* a fork: the thread is our parent's */
    os_event_set(run->stop);
    pthread_join(run->thread, NULL);
    return 0;
}

enum vitals_run_state vitals_run_state(const vitals_run *run)
{
    return run->state;
}

int vitals_run_wait(vitals_run *run, double seconds, vitals_error *error)
{
    const vitals_clock *clock = &run->context->os.clock;
    if (run->state == VITALS_RUN_NEW)
        return error_set(error, VITALS_EARGUMENT, 0, "the run was not started");
    bool ever = !(seconds < 1e9);
    uint64_t span = ever ? UINT64_MAX : seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
    int woken = clock->wait_until(clock->data, run->ended, saturating_add(now_ns(run), span));
    return woken < 0 ? error_system(error, -woken, "waiting for processes") : woken > 0;
}

static void set_text(vitals_account *account, const char *name, const char *text)
{
    int code = text[0] != '\0'
                   ? vitals_account_set(account, name, (vitals_text){text, strlen(text)}, NULL)
                   : 0;
    (void)code; /* without memory it is missing */
}

static void set_attributes(vitals_run *run, vitals_account *account)
{
    char interval[NUMBER_TEXT];
    (void)number_print_u64(interval, run->options.interval_ns);
    set_text(account, "interval_ns", interval);
    set_text(account, "command", run->command);
    set_text(account, "missing", run->complaint);
    set_text(account, "rungs", "sampling");
    set_text(account, "state", run->end_ns != 0 ? "complete" : "running");
    if (run->exit_known)
        vitals_account_ended(account,
                             run->exit_signal != 0 ? 128 + run->exit_signal : run->exit_code,
                             run->exit_signal);
}

int vitals_run_account(vitals_run *run, vitals_account **out, vitals_error *error)
{
    vitals_account *account = NULL;
    pthread_mutex_lock(&run->mutex);
    int code = vitals_usage_account(run->usage, &account, error);
    if (code == 0)
        set_attributes(run, account);
    pthread_mutex_unlock(&run->mutex);
    if (code < 0)
        return code;
    about_fill(account, run->context, NULL, run->begin_ns != 0 ? run->begin_ns : now_ns(run));
    *out = account;
    return 0;
}

void vitals_run_free(vitals_run *run)
{
    if (run == NULL)
        return;
    if (run->state == VITALS_RUN_STARTED && vitals_run_stop(run, NULL) < 0)
        return;
    vitals_sampler_free(run->sampler);
    for (size_t i = 0; i < run->root_count; i++)
        vitals_process_free(run->roots[i].process);
    memory_free(run->roots);
    vitals_usage_free(run->usage);
    vitals_context_free(run->context);
    if (run->stop >= 0)
        os_close_descriptor(run->stop);
    if (run->ended >= 0)
        os_close_descriptor(run->ended);
    if (run->watch >= 0)
        os_close_descriptor(run->watch);
    pthread_mutex_destroy(&run->mutex);
    memory_free(run);
}
