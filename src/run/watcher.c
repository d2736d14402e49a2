/* watcher.c: see watcher.h. */
#include "run/watcher.h"

#include "model/request.h"
#include "os/launch.h"
#include "os/shared.h"
#include "run/account.h"
#include "run/marks.h"
#include "run/measure.h"
#include "run/run_observer.h"
#include "run/run_options.h"
#include "run/usage/usage_data.h"
#include "sampler/context.h"
#include "util/number.h"
#include <vitals/gpu.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The first ticks come fast, so that a short job is seen at all; then the interval holds. */
static const uint64_t FIRST_INTERVAL_NS = 10 * NS_PER_MS;

/* The longest interval if a limit depends on samples. */
static const uint64_t LIMITED_INTERVAL_NS = 200 * NS_PER_MS;

/* The interval at which the machine is read while the tree is idle. */
static const uint64_t RESTING_NS = 5 * NS_PER_SECOND;

static const uint64_t MARKS_AFTER_NS = 100 * NS_PER_MS;

enum { WAKE_CHANNEL = 1, WAKE_MARKS = 2 };

struct watcher {
    const struct watcher_setup *setup;
    const vitals_clock *clock;
    vitals_context *context;
    vitals_sampler *sampler;
    vitals_usage *usage;
    struct marks *marks;
    int watch; /* the channel and the marks in one descriptor; -1: the channel alone */
    uint64_t interval_ns, begin_ns, told_ns;
    double told_cpu_seconds;    /* of the tree, when that was */
    const char *device_missing; /* the first that is named and was never there */
    bool devices_found;
    bool device_seen, devices_listed; /* by any driver; whether some snapshot had the whole list */
    bool watch_failed;                /* or was tried */
    bool marks_left;                  /* more of them than one reading takes */
    struct run_observer observer;
    struct watch_report report;
};

static uint64_t now_ns(const struct watcher *watcher)
{
    return watcher->clock->monotonic_ns(watcher->clock->data);
}

/* ---- the shared memory ---- */

enum { AREA_FIGURES = 4096, AREA_ATTRIBUTES = 16, AREA_TEXT = 512, AREA_TRIES = 3 };

struct area_attribute {
    char name[ACCOUNT_ATTRIBUTE];
    char text[AREA_TEXT];
};

struct area_report {
    uint32_t figure_count, attribute_count;
    struct area_attribute attributes[AREA_ATTRIBUTES];
    vitals_figure figures[AREA_FIGURES];
};

struct watch_area {
    atomic_uint_fast64_t told; /* number of the newest report; it stands in reports[told % 2] */
    struct area_report reports[2];
};

struct watch_area *watch_area_new(void)
{
    return os_shared_new(sizeof(struct watch_area));
}

void watch_area_free(struct watch_area *area)
{
    os_shared_free(area, sizeof(*area));
}

/* ---- the watcher's side ---- */

void watch_area_write(struct watch_area *area, const vitals_account *account)
{
    if (area == NULL)
        return;
    uint64_t number = atomic_load(&area->told) + 1;
    struct area_report *report = &area->reports[number % 2];
    size_t count = size_min(account->count, AREA_FIGURES);
    memcpy(report->figures, account->figures, count * sizeof(vitals_figure));
    report->figure_count = (uint32_t)count;
    if (count < account->count && count > 0)
        report->figures[count - 1] = (vitals_figure){.name = VITALS_FIGURE_FIGURES_LEFT_OUT,
                                                     .source = "more than a run has room for",
                                                     .state = VITALS_HAVE,
                                                     .value = (double)(account->count - count + 1)};

    report->attribute_count = 0;
    for (const char *name = NULL; (name = vitals_account_next_attribute(account, name)) != NULL &&
                                  report->attribute_count < AREA_ATTRIBUTES;) {
        struct area_attribute *attribute = &report->attributes[report->attribute_count++];
        vitals_text text = vitals_account_attribute(account, name);
        size_t size = size_min(text.size, AREA_TEXT - 1);
        (void)snprintf(attribute->name, sizeof(attribute->name), "%s", name);
        memcpy(attribute->text, text.bytes, size);
        attribute->text[size] = '\0';
    }
    atomic_store(&area->told, number);
}

/* ---- the launcher's ---- */

/* Each is copied to memory of our own, where its texts are ended. Entries that are no figure or
 * attribute are left out. */
static vitals_account *read_report(const struct area_report *report)
{
    vitals_account *account = account_new();
    if (account == NULL)
        return NULL;
    size_t figures = size_min(report->figure_count, AREA_FIGURES);
    size_t attributes = size_min(report->attribute_count, AREA_ATTRIBUTES);
    for (size_t i = 0; i < figures; i++) {
        vitals_figure figure = report->figures[i];
        figure.name[FIGURE_NAME - 1] = figure.unit[FIGURE_UNIT - 1] = '\0';
        figure.subject[FIGURE_SUBJECT - 1] = figure.label[FIGURE_LABEL - 1] = '\0';
        figure.source[FIGURE_SOURCE - 1] = '\0';
        const vitals_figure_form form = {.size = sizeof(vitals_figure_form),
                                         .name = figure.name,
                                         .unit = figure.unit,
                                         .subject = figure.subject,
                                         .label = figure.label,
                                         .source = figure.source,
                                         .state = (vitals_availability)figure.state,
                                         .value = figure.value};
        (void)!vitals_account_add(account, &form, NULL);
    }
    for (size_t i = 0; i < attributes; i++) {
        struct area_attribute attribute = report->attributes[i];
        attribute.name[ACCOUNT_ATTRIBUTE - 1] = attribute.text[AREA_TEXT - 1] = '\0';
        vitals_text text = {attribute.text, strlen(attribute.text)};
        (void)!vitals_account_set(account, attribute.name, text, NULL);
    }
    return account;
}

vitals_account *watch_area_read(struct watch_area *area)
{
    for (int i = 0; area != NULL && i < AREA_TRIES; i++) {
        uint64_t number = atomic_load(&area->told);
        vitals_account *account = number != 0 ? read_report(&area->reports[number % 2]) : NULL;
        if (account == NULL || atomic_load(&area->told) == number)
            return account;
        vitals_account_free(account); /* it may have been written over meanwhile */
    }
    return NULL;
}

/* ---- beginning ---- */

static int open_usage(struct watcher *watcher, vitals_error *error)
{
    const struct watcher_setup *setup = watcher->setup;
    vitals_usage_options options;
    int code = usage_options_take(setup->options.usage, &options, error);
    if (code < 0)
        return code;
    options.pids = NULL;
    options.pid_count = 0;
    options.launcher = setup->launcher;
    options.excluded_pids = setup->excluded_pids;
    options.excluded_count = setup->excluded_count;
    options.details = options.details != 0 || setup->limits_watched;
    if (setup->options.observer == NULL) /* no observer sees a row: only the end counts */
        options.machine_pace = VITALS_MACHINE_SELDOM;
    code = vitals_usage_new(&options, &watcher->usage, error);
    return code == 0 ? usage_exclude(watcher->usage, os_self(), error) : code;
}

static int open_sampler(struct watcher *watcher, vitals_error *error)
{
    const struct watcher_setup *setup = watcher->setup;
    vitals_request *request = NULL;
    vitals_options options;
    int code = open_usage(watcher, error);
    if (code == 0)
        code = run_observer_request(setup->options.observer, watcher->usage, !setup->memory_counted,
                                    watcher->interval_ns, &request, error);
    if (code == 0) {
        request->watcher = os_self();
        request->activity = setup->activity;
        request->activity_folder = setup->activity_folder;
        request->resting_ns = setup->options.observer == NULL ? RESTING_NS
                                                              : 0; /* else it sees each row */
    }

    /* Giving the kernel a program of ours takes 10 ms of CPU and more, which the few processes of a
     * tree do not bring back for hours: they are asked one by one. */
    vitals_options_init(&options, sizeof(options));
    if (setup->options.world != NULL)
        memcpy(&options, setup->options.world,
               size_min(setup->options.world->size, sizeof(options)));
    options.size = sizeof(options);
    options.bpf = 0;
    if (code == 0)
        code = vitals_context_new(&options, &watcher->context, error);
    if (code == 0)
        code = vitals_sampler_new(watcher->context, request, &watcher->sampler, error);
    if (code == 0 && !setup->memory_counted)
        watcher->usage->os = &watcher->context->os;
    if (code == 0)
        watcher->usage->shared_is_held = !setup->memory_counted;
    vitals_request_free(request);
    return code;
}

static void observe_marks(struct watcher *watcher)
{
    vitals_mark mark;
    if (watcher->marks == NULL)
        return;
    watcher->marks_left = marks_read(watcher->marks, now_ns(watcher));
    while (marks_next(watcher->marks, &mark))
        run_observer_mark(&watcher->observer, &mark);
}

/* ---- telling ---- */

static struct value newest(const struct watcher *watcher, enum measure_place place)
{
    const struct usage_cell *cell = usage_cell(watcher->usage, SUBJECT_TREE, place);
    struct value value = value_u64(cell->state > 0 ? (uint64_t)cell->value : 0);
    value.state = cell->state != VITALS_UNSET ? cell->state : (signed char)VITALS_NOT_YET;
    return value;
}

/* CPU time of the tree so far; negative if it is not known. */
static double cpu_seconds(const struct watcher *watcher)
{
    const struct usage_cell *cpu = usage_cell(watcher->usage, SUBJECT_TREE, MEASURE_AT_cpu_seconds);
    return cpu->state > 0 ? cpu->value : -1;
}

/* Where the channel is full, the next report says it all; the last has no next. */
static void send_report(struct watcher *watcher, bool final)
{
    enum { TRIES = 40 };
    struct watch_report *report = &watcher->report;
    report->size = (uint32_t)sizeof(*report);
    report->final = final;
    for (int i = 0; i < TRIES; i++) {
        int code = os_channel_send(watcher->setup->channel, report, sizeof(*report));
        if (code != -EAGAIN || !final)
            return;
        (void)watcher->clock->wait_until(watcher->clock->data, -1, now_ns(watcher) + 5 * NS_PER_MS);
    }
}

/* Figures into the shared memory, and into the file of totals where that is due. */
static void tell(struct watcher *watcher, bool last)
{
    vitals_account *account = NULL;
    char interval[NUMBER_TEXT];
    uint64_t now = now_ns(watcher);
    if (vitals_usage_account(watcher->usage, &account, NULL) < 0)
        return;
    run_observer_explain(&watcher->observer, account);
    watch_area_write(watcher->setup->area, account);
    if (!last && run_observer_totals_due(&watcher->observer, now)) {
        (void)number_print_u64(interval, watcher->interval_ns);
        account_set_string(account, VITALS_ATTRIBUTE_STATE, VITALS_RUN_RUNNING);
        account_set_string(account, VITALS_ATTRIBUTE_INTERVAL_NS, interval);
        account_describe(account, watcher->context, watcher->setup->options.argv,
                         watcher->begin_ns);
        run_observer_totals(&watcher->observer, account, now);
    }
    vitals_account_free(account);
    watcher->told_ns = now;
    watcher->told_cpu_seconds = cpu_seconds(watcher);
}

/* ---- the loop ---- */

static void tick(struct watcher *watcher, bool last)
{
    struct watch_report *report = &watcher->report;
    const vitals_usage_options *usage = watcher->setup->options.usage;
    vitals_snapshot *snapshot = NULL;
    const vitals_row *found;
    vitals_error error;
    int code = last ? sampler_take_last(watcher->sampler, &snapshot)
                    : sampler_take_soon(watcher->sampler, &snapshot);
    if (code < 0)
        return;
    if (vitals_usage_add(watcher->usage, snapshot, &error) < 0)
        run_observer_complain(&watcher->observer, "a sample is not whole", error.message);
    report->ticks++;
    double held = usage_memory_firm(watcher->usage);
    report->memory_bytes = value_u64((uint64_t)held);
    report->memory_bytes.state = held > 0 ? VITALS_LOWER_BOUND : VITALS_NOT_YET;
    report->gpu_memory_bytes = newest(watcher, MEASURE_AT_gpu_memory_bytes);
    report->living = newest(watcher, MEASURE_AT_processes);
    watcher->device_seen |= vitals_snapshot_count(snapshot, VITALS_TABLE_GPU) != 0;
    watcher->devices_listed |= vitals_snapshot_state(snapshot, VITALS_TABLE_GPU) > 0;

    /* A device that was asked for may come late, its driver being slow: what counts is the end. */
    if (usage != NULL && usage->devices != NULL && !watcher->devices_found) {
        watcher->device_missing = NULL;
        for (size_t i = 0; usage->devices[i] != NULL && watcher->device_missing == NULL; i++) {
            if (vitals_gpu_find(snapshot, usage->devices[i], &found, NULL) < 0)
                watcher->device_missing = usage->devices[i];
        }
        watcher->devices_found = watcher->device_missing == NULL;
    }
    run_observer_sample(&watcher->observer, snapshot, watcher->usage);
    vitals_snapshot_unref(snapshot);
}

/* Until the deadline; false when it is over, or the clock cannot wait. */
static bool wait_until(struct watcher *watcher, uint64_t deadline)
{
    bool both = watcher->watch >= 0;
    int channel = watcher->setup->channel;
    char message[16];
    for (;;) {
        int woken = watcher->clock->wait_until(watcher->clock->data,
                                               both ? watcher->watch : channel, deadline);
        if (woken == 0)
            return true;
        /* Else the launcher has spoken, or is gone. */
        if (woken < 0 || !both || os_channel_receive(channel, message, sizeof(message)) != -EAGAIN)
            return false;
        observe_marks(watcher);
        if (now_ns(watcher) >= deadline) /* an endless stream of marks must not stop the sampling */
            return true;
    }
}

/* To be woken by marks is worth its price only to a run that lasts; before, each tick reads them.
 */
static void watch_marks(struct watcher *watcher)
{
    if (watcher->marks == NULL || watcher->watch >= 0 || watcher->watch_failed ||
        now_ns(watcher) < saturating_add(watcher->begin_ns, MARKS_AFTER_NS))
        return;
    watcher->watch_failed = true;
    int descriptor = marks_descriptor(watcher->marks), watch = os_watch_new();
    bool watches = descriptor >= 0 && watch >= 0 &&
                   os_watch_add(watch, watcher->setup->channel, WAKE_CHANNEL) == 0 &&
                   os_watch_add(watch, descriptor, WAKE_MARKS) == 0;
    if (watches) {
        watcher->watch = watch;
        watcher->marks_left = true; /* marks from before it watched wake nothing */
    } else if (watch >= 0) {
        os_close_descriptor(watch);
    }
}

static void watch(struct watcher *watcher)
{
    /* Times of the machine are counted in steps of 10 ms: of less than a few there is nothing to
     * say. */
    const vitals_usage_options *usage = watcher->setup->options.usage;
    const struct value *held = &watcher->report.gpu_memory_bytes;
    bool close = usage != NULL && usage->machine_pace == VITALS_MACHINE_CLOSELY;
    uint64_t interval = close ? watcher->interval_ns
                              : uint64_min(FIRST_INTERVAL_NS, watcher->interval_ns);
    uint64_t deadline = now_ns(watcher);
    while (wait_until(watcher, deadline)) {
        tick(watcher, false);
        watch_marks(watcher);
        if (watcher->watch < 0 || watcher->marks_left) /* else they wake us */
            observe_marks(watcher);
        send_report(watcher, false);

        /* The tree rests if it used no CPU time since the last totals and holds no device memory: a
         * process that holds some may have the device work while it sleeps. */
        uint64_t now = now_ns(watcher);
        double seconds = cpu_seconds(watcher);
        watcher->observer.rests = seconds >= 0 && !(seconds > watcher->told_cpu_seconds) &&
                                  !(held->state > 0 && held->as.u64 > 0);
        uint64_t patience = run_observer_patience_ns(&watcher->observer, now);
        if (now >= saturating_add(watcher->told_ns, patience) || watcher->report.ticks == 1)
            tell(watcher, false);
        deadline = pace_next(deadline, interval, now);
        interval = uint64_min(interval * 2, watcher->interval_ns);
    }
}

vitals_account *watcher_account_of_nothing(const struct watcher_setup *setup)
{
    struct watcher watcher = {.setup = setup};
    vitals_account *account = NULL;
    if (open_usage(&watcher, NULL) < 0 || vitals_usage_account(watcher.usage, &account, NULL) < 0)
        account = NULL;
    vitals_usage_free(watcher.usage);
    return account;
}

void watcher_main(void *argument)
{
    struct watcher watcher = {.setup = argument, .watch = -1};
    vitals_error error = {.message = ""};
    watcher.clock = watcher.setup->clock;
    watcher.begin_ns = watcher.setup->begin_ns;
    watcher.told_ns = watcher.begin_ns;
    watcher.interval_ns = watcher.setup->options.interval_ns;
    if (watcher.setup->limits_watched && watcher.interval_ns > LIMITED_INTERVAL_NS)
        watcher.interval_ns = LIMITED_INTERVAL_NS;
    if (open_sampler(&watcher, &error) < 0) {
        send_report(&watcher, true);
        return;
    }
    const struct os_marks *marks = watcher.setup->marks;
    if (marks != NULL && marks->held >= 0 &&
        marks_open(marks, watcher.begin_ns, &watcher.marks) < 0)
        watcher.marks = NULL;
    run_observer_init(&watcher.observer, watcher.setup->options.observer,
                      watcher.setup->options.totals_path);
    run_observer_begin(&watcher.observer, watcher.begin_ns);
    watch(&watcher);
    /* If a run was over before the first look, nothing is left to see. */
    if (watcher.report.ticks > 0 || watcher.observer.observed)
        tick(&watcher, true);
    observe_marks(&watcher);
    if (watcher.device_missing != NULL)
        run_observer_complain(&watcher.observer, "no such device", watcher.device_missing);
    if (watcher.setup->options.limit_gpu_memory_bytes != 0 && !watcher.device_seen)
        run_observer_complain(&watcher.observer, "GPU memory was not limited",
                              watcher.devices_listed ? "no GPU was found"
                                                     : "no driver had listed its GPUs yet");
    tell(&watcher, true);
    bool observed = watcher.observer.observed;
    run_observer_end(
        &watcher.observer); /* also where the launcher was killed: what was seen is not lost */
    if (observed && !watcher.observer.observed)
        tell(&watcher, true);
    send_report(&watcher, true); /* what is open the end of the process closes */
}
