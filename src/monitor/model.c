/* model.c: readings, histories, and the machine's own values. See model.h. */
#include "monitor/model.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "view/cell_text.h"
#include "view/device_panel.h"
#include "view/host_bars.h"

static void replace(vitals_snapshot **place, vitals_snapshot *snapshot)
{
    vitals_snapshot_unref(*place);
    *place = snapshot;
}

static uint64_t age_ns(const vitals_snapshot *now, const vitals_snapshot *then)
{
    uint64_t a = vitals_snapshot_monotonic_ns(now), b = vitals_snapshot_monotonic_ns(then);
    return a > b ? a - b : 0;
}

/* Snapshots of another stream are not compared. */
static bool goes_on(const vitals_snapshot *then, const vitals_snapshot *now)
{
    return vitals_snapshot_stream(then) == vitals_snapshot_stream(now);
}

void readings_add(struct readings *readings, vitals_snapshot *snapshot, uint64_t window_ns)
{
    if (readings->now != NULL && !goes_on(readings->now, snapshot))
        readings_done(readings);
    replace(&readings->previous, readings->now);
    readings->now = snapshot;
    burst_step(&readings->burst, vitals_snapshot_count(snapshot, VITALS_TABLE_PROCESS));
    if (readings->previous != NULL && readings->older == NULL)
        readings->older = vitals_snapshot_ref(readings->previous);
    /* Deadlines jitter: what is nearly a window old is one old. */
    if (readings->next_older == NULL) {
        readings->next_older = vitals_snapshot_ref(snapshot);
    } else if (age_ns(snapshot, readings->next_older) >= window_ns - window_ns / 8) {
        replace(&readings->older, readings->next_older);
        readings->next_older = vitals_snapshot_ref(snapshot);
    }
}

void readings_done(struct readings *readings)
{
    vitals_snapshot_unref(readings->now);
    vitals_snapshot_unref(readings->previous);
    vitals_snapshot_unref(readings->older);
    vitals_snapshot_unref(readings->next_older);
    *readings = (struct readings){0};
}

void model_say(struct model *model, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(model->message, sizeof model->message, format, arguments);
    va_end(arguments);
}

uint64_t model_window_ns(const struct model *model)
{
    uint64_t interval_ns = model->options->interval_ns;
    return interval_ns == 0 ? 2 * NS_PER_SECOND : uint64_max(interval_ns, NS_PER_SECOND);
}

static struct device_history *find_history(const struct model *model, uint64_t key)
{
    for (size_t i = 0; i < model->history->device_count; i++) {
        if (model->history->devices[i].key == key)
            return &model->history->devices[i];
    }
    return NULL;
}

/* The history of a device, perhaps a new one; NULL: there is no room. */
static struct device_history *add_history(struct model *model, const vitals_snapshot *snapshot,
                                          uint64_t key)
{
    struct model_history *history = model->history;
    struct device_history *own = find_history(model, key);
    if (own == NULL && history->device_count < MODEL_DEVICES)
        own = &history->devices[history->device_count++];
    for (size_t i = 0; i < MODEL_DEVICES && own == NULL; i++) { /* in place of one that has left */
        if (vitals_snapshot_find(snapshot, VITALS_TABLE_GPU, history->devices[i].key) != NULL)
            continue;
        own = &history->devices[i];
        memset(own, 0, sizeof *own);
    }
    if (own != NULL)
        own->key = key;
    return own;
}

const struct device_history *model_device_history(const struct model *model, uint64_t key)
{
    return find_history(model, key);
}

/* history_add, or history_add_before. */
typedef void add_value(struct history *history, uint64_t time_ns, double value);

/* A snapshot on its way into histories, and the one beside it that these have already. */
struct model_recording {
    const vitals_snapshot *snapshot;
    const vitals_snapshot *known; /* NULL: none */
    add_value *add;
};

/* A value made of a metric of a row; NaN if there is none. A stale value belongs to the time when
 * it was read, and counts once; this time has none. */
static void record(const struct model_recording *recording, struct history *history,
                   const vitals_row *row, vitals_metric metric, double value)
{
    uint64_t now_ns = vitals_snapshot_monotonic_ns(recording->snapshot);
    bool stale = vitals_row_availability(row, metric) == VITALS_STALE;
    recording->add(history, now_ns, stale ? (double)NAN : value);
    if (!stale)
        return;
    const vitals_row *other = recording->known != NULL
                                  ? vitals_snapshot_find(recording->known, vitals_row_table(row),
                                                         vitals_row_key(row))
                                  : NULL;
    bool is_known = vitals_row_availability(other, metric) > 0 &&
                    vitals_row_read_ns(other, metric) == vitals_row_read_ns(row, metric);
    if (!is_known)
        history_add_late(history, vitals_row_read_ns(row, metric), value);
}

static double value_or_nan(const vitals_row *row, vitals_metric metric)
{
    double value;
    return cell_value(row, metric, &value) ? value : (double)NAN;
}

static double share_or_nan(const vitals_row *row, vitals_metric part, vitals_metric whole)
{
    double value;
    return cell_ratio(row, part, whole, &value) ? value : (double)NAN;
}

struct mean {
    double sum;
    unsigned count;
    bool incomplete; /* a value of this moment should be there and is not */
};

/* A value that may be known at another time makes the mean incomplete; a device that does not have
 * it, or not while it sleeps or is lost, is in no mean. */
static void mean_add(struct mean *mean, const vitals_row *row, vitals_metric metric, double value)
{
    vitals_availability state = vitals_row_availability(row, metric);
    bool late = state == VITALS_STALE || state == VITALS_TIMED_OUT || state == VITALS_NOT_YET ||
                state == VITALS_FAILED;
    mean->incomplete |= late;
    if (late || isnan(value))
        return;
    mean->sum += value;
    mean->count++;
}

static double mean_of(const struct mean *mean)
{
    return mean->count > 0 && !mean->incomplete ? mean->sum / mean->count : (double)NAN;
}

/* Values that need no older snapshot. */
static void record_gauges(struct model *model, const struct model_recording *recording)
{
    const vitals_snapshot *snapshot = recording->snapshot;
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL), *gpu = NULL;
    uint64_t time_ns = vitals_snapshot_monotonic_ns(snapshot);
    struct mean memory_mean = {0}, busy_mean = {0};
    record(recording, &model->history->memory, host, VITALS_HOST_MEMORY_USED_BYTES,
           share_or_nan(host, VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES));
    record(recording, &model->history->swap, host, VITALS_HOST_SWAP_USED_BYTES,
           share_or_nan(host, VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES));
    while ((gpu = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, gpu)) != NULL) {
        if (!model_shows_device(model, gpu))
            continue;
        uint64_t key = vitals_row_key(gpu);
        double busy = value_or_nan(gpu, VITALS_GPU_UTILIZATION_RATIO);
        double memory = share_or_nan(gpu, VITALS_GPU_MEMORY_USED_BYTES,
                                     VITALS_GPU_MEMORY_TOTAL_BYTES);
        if (vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU, key, NULL) ==
            NULL) { /* no parts */
            mean_add(&memory_mean, gpu, VITALS_GPU_MEMORY_USED_BYTES, memory);
            mean_add(&busy_mean, gpu, VITALS_GPU_UTILIZATION_RATIO, busy);
        }
        struct device_history *own = add_history(model, snapshot, key);
        if (own == NULL)
            continue;
        record(recording, &own->memory, gpu, VITALS_GPU_MEMORY_USED_BYTES, memory);
        record(recording, &own->busy, gpu, VITALS_GPU_UTILIZATION_RATIO, busy);
        record(recording, &own->power, gpu, VITALS_GPU_POWER_WATTS,
               value_or_nan(gpu, VITALS_GPU_POWER_WATTS));
        record(recording, &own->temperature, gpu, VITALS_GPU_TEMPERATURE_CELSIUS,
               value_or_nan(gpu, VITALS_GPU_TEMPERATURE_CELSIUS));
    }
    recording->add(&model->history->gpu_memory, time_ns, mean_of(&memory_mean));
    recording->add(&model->history->gpu_busy, time_ns, mean_of(&busy_mean));
}

const vitals_metric traffic_metrics[TRAFFIC_KINDS] = {
    VITALS_HOST_DISK_READ_BYTES, VITALS_HOST_DISK_WRITTEN_BYTES, VITALS_HOST_NETWORK_RECEIVED_BYTES,
    VITALS_HOST_NETWORK_TRANSMITTED_BYTES};

/* Values that are made with an older snapshot. */
static void record_rates(struct model *model, const vitals_snapshot *now,
                         const vitals_snapshot *then, add_value *add)
{
    double value;
    uint64_t now_ns = vitals_snapshot_monotonic_ns(now);
    const vitals_row *host = row_next(now, VITALS_TABLE_HOST, NULL);
    add(&model->history->cpu, now_ns, host_cpu_ratio(now, then, &value) ? value : (double)NAN);
    for (size_t i = 0; i < TRAFFIC_KINDS; i++) {
        /* Read every other second: what is between two values is filled in. */
        if (vitals_row_rate(host, then, traffic_metrics[i], &value) > 0)
            add(&model->history->traffic[i], now_ns, value);
    }
}

void model_graphs_add(struct model *model, const vitals_snapshot *snapshot)
{
    record_rates(model, snapshot, model->recorded, history_add);
    record_gauges(model, &(struct model_recording){snapshot, model->recorded, history_add});
    idle_gpus_update(&model->idle, snapshot);
    replace(&model->recorded, vitals_snapshot_ref(snapshot));
}

void model_graphs_begin(struct model *model, const vitals_snapshot *previous,
                        const vitals_snapshot *now)
{
    struct model_history *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        memset(model->history, 0, sizeof *model->history);
    else {
        free(model->history);
        model->history = fresh;
    }
    idle_gpus_done(&model->idle);
    replace(&model->recorded, previous != NULL ? vitals_snapshot_ref(previous) : NULL);
    model_graphs_add(model, now);
}

void model_graphs_add_before(struct model *model, const vitals_snapshot *known,
                             const vitals_snapshot *older)
{
    record_rates(model, known, older, history_add_before);
    record_gauges(model, &(struct model_recording){older, known, history_add_before});
    idle_gpus_update_before(&model->idle, older);
}

size_t model_ago(const struct model *model)
{
    if ((!model->paused && !model->away) || model->machine.now == NULL)
        return 0;
    uint64_t shown = history_second(vitals_snapshot_monotonic_ns(model->machine.now));
    return model->history->cpu.newest > shown ? (size_t)(model->history->cpu.newest - shown) : 0;
}

int model_init(struct model *model, const struct monitor_options *options)
{
    memset(model, 0, sizeof *model);
    model->history = calloc(1, sizeof *model->history);
    model->options = options;
    model->mode = options->mode;
    model->view = VIEW_DEVICES;
    model->width = 80;
    model->height = 24;
    return model->history != NULL ? 0 : -1;
}

void model_done(struct model *model)
{
    readings_done(&model->machine);
    readings_done(&model->all);
    readings_done(&model->aside_machine);
    readings_done(&model->aside_all);
    vitals_snapshot_unref(model->held_machine);
    vitals_snapshot_unref(model->held_all);
    vitals_snapshot_unref(model->held_first);
    vitals_snapshot_unref(model->recorded);
    free(model->history);
    idle_gpus_done(&model->idle);
    trends_done(&model->trends[0]);
    trends_done(&model->trends[1]);
    memory_free(model->list.items);
    memory_free(model->list.spare);
    memory_free(model->list.groups);
    memory_free(model->folds.ids);
    memory_free(model->tags);
    memset(model, 0, sizeof *model);
}

/* Without a device there is only one list to look at, unless a driver is still being loaded. */
static void choose_view(struct model *model)
{
    const vitals_snapshot *now = model->machine.now;
    bool devices = model_device_count(model) > 0;
    if (model->view_chosen)
        return;
    for (const vitals_row *row = NULL;
         !devices && (row = row_next(now, VITALS_TABLE_SOURCE, row)) != NULL;) {
        char state[WORDS];
        (void)cell_text(row, VITALS_SOURCE_STATE, true, state, sizeof state);
        if (vitals_row_key(row) >= VITALS_SOURCE_BACK_ENDS && strcmp(state, "not_yet") == 0)
            return;
    }
    model->view = devices ? VIEW_DEVICES : VIEW_ALL;
}

void model_add_machine(struct model *model, vitals_snapshot *snapshot)
{
    const struct monitor_options *options = model->options;
    if (options->selection.only_visible) {
        const vitals_row *rows[MODEL_DEVICES];
        size_t count = vitals_cuda_visible_devices(snapshot, options->visible, options->order, rows,
                                                   MODEL_DEVICES);
        model->visible_count = size_min(count, MODEL_DEVICES);
        for (size_t i = 0; i < model->visible_count; i++)
            model->visible[i] = selection_device_index(rows[i]);
    }
    model_graphs_add(model, snapshot);
    if (model->away) {
        readings_add(&model->aside_machine, snapshot, model_window_ns(model));
        return;
    }
    if (model->paused && model->machine.now != NULL) {
        replace(&model->held_machine, snapshot);
        return;
    }
    readings_add(&model->machine, snapshot, model_window_ns(model));
    if (!model->arranged.nvitop)
        trends_update(&model->trends[0], &model->machine, options->context);
    model->traffic_left -= model->traffic_left > 0;
    choose_view(model);

    /* All processes come by themselves, as often, and are listed then: once, not twice. The list
     * has rows of the machine's reading before this one, which `previous` holds until the next;
     * where the readings begin anew nothing holds them. */
    if (model->view == VIEW_ALL && !model->same && !model->list_waits &&
        model->machine.previous != NULL && model->all.previous != NULL && model->list.count > 0 &&
        age_ns(model->machine.now, model->all.now) < model_window_ns(model)) {
        model->list_waits = true;
        return;
    }
    /* The list of every process changes only if a device reports one. */
    if (model->view == VIEW_DEVICES || model->same || model->list_of_users ||
        vitals_snapshot_count(snapshot, VITALS_TABLE_GPU_PROCESS) > 0)
        (void)model_list(model);
}

void model_add_all(struct model *model, vitals_snapshot *snapshot)
{
    if (model->away) {
        readings_add(&model->aside_all, snapshot, model_window_ns(model));
        return;
    }
    if (model->paused && model->all.now != NULL) {
        /* The first snapshot of another stream is kept too: rates need it. */
        if (!goes_on(model->held_all != NULL ? model->held_all : model->all.now, snapshot))
            replace(&model->held_first, vitals_snapshot_ref(snapshot));
        replace(&model->held_all, snapshot);
        return;
    }
    readings_add(&model->all, snapshot, model_window_ns(model));
    if (!model->arranged.nvitop)
        trends_update(&model->trends[1], &model->all, model->options->context);
    (void)model_list(model);
}

void model_forget_all(struct model *model)
{
    readings_done(model->away ? &model->aside_all : &model->all);
    replace(&model->held_all, NULL);
    replace(&model->held_first, NULL);
    (void)model_list(model);
}

void model_pause(struct model *model, bool paused)
{
    uint64_t window_ns = model_window_ns(model);
    bool ends = model->paused && !paused;
    model->paused = paused;
    if (!ends)
        return;
    if (model->held_machine != NULL)
        readings_add(&model->machine, model->held_machine, window_ns);
    if (model->held_first != NULL && model->held_first != model->held_all)
        readings_add(&model->all, vitals_snapshot_ref(model->held_first), window_ns);
    if (model->held_all != NULL)
        readings_add(&model->all, model->held_all, window_ns);
    replace(&model->held_first, NULL);
    model->held_machine = model->held_all = NULL;
    (void)model_list(model);
}

/* ---- the past ---- */

void model_leave(struct model *model)
{
    if (model->away)
        return;
    model_pause(model, false);
    model->aside_machine = model->machine;
    model->aside_all = model->all;
    model->machine = model->all = (struct readings){0};
    model->away = true;
}

void model_return(struct model *model)
{
    if (!model->away)
        return;
    readings_done(&model->machine);
    readings_done(&model->all);
    model->machine = model->aside_machine;
    model->all = model->aside_all;
    model->aside_machine = model->aside_all = (struct readings){0};
    model->away = false;
    model->epoch++;
    (void)model_list(model);
}

void model_show(struct model *model, struct readings *machine, struct readings *all)
{
    readings_done(&model->machine);
    readings_done(&model->all);
    model->machine = *machine;
    model->all = *all;
    model->traffic_left = 0;
    if (model->same)
        choose_view(model);
    (void)model_list(model);
}

/* ---- the machine and its devices in the newest readings ---- */

const vitals_row *model_host(const struct model *model)
{
    return row_next(model->machine.now, VITALS_TABLE_HOST, NULL);
}

size_t model_device_count(const struct model *model)
{
    size_t count = 0;
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL;)
        count += vitals_row_parent(gpu) == 0;
    return count;
}

struct selection model_selection(const struct model *model)
{
    struct selection selection = model->options->selection;
    if (selection.only_visible) {
        selection.devices = model->visible;
        selection.device_count = model->visible_count;
    }
    return selection;
}

bool model_shows_device(const struct model *model, const vitals_row *gpu)
{
    const struct selection selection = model_selection(model);
    return selection_has_device(&selection, gpu);
}

const vitals_row *model_next_device(const struct model *model, const vitals_row *previous)
{
    do {
        previous = row_next(model->machine.now, VITALS_TABLE_GPU, previous);
    } while (previous != NULL && !model_shows_device(model, previous));
    return previous;
}

uint64_t model_held_after_ns(const struct model *model)
{
    static const uint64_t USUAL_NS = 900000000000u; /* 15 min */
    return model->options->held_after_ns > 0 ? model->options->held_after_ns : USUAL_NS;
}

bool model_idle(const struct model *model, const vitals_row *row, double *seconds)
{
    if (row == NULL || model->machine.now == NULL)
        return false;
    uint64_t now_ns = vitals_snapshot_monotonic_ns(model->machine.now);
    bool device = vitals_row_table(row) == VITALS_TABLE_GPU;
    return idle_rows_find(device ? &model->idle.devices : &model->idle.users, vitals_row_key(row),
                          now_ns, seconds) &&
           *seconds >= (double)model_held_after_ns(model) / 1e9;
}

bool model_is_demo(const struct model *model)
{
    return model->machine.now != NULL && device_panel_is_demo(model->machine.now);
}

bool model_cpu_ratio(const struct model *model, double *out)
{
    return host_cpu_ratio(model->machine.now, model->machine.previous, out) ||
           host_cpu_ratio(model->machine.now, model->machine.older, out);
}

bool model_rate(const struct model *model, const vitals_row *row, vitals_metric metric, double *out)
{
    return vitals_row_rate(row, model->machine.previous, metric, out) > 0 ||
           vitals_row_rate(row, model->machine.older, metric, out) > 0;
}
