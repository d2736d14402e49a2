/* collector.c: see <vitals/collector.h>. It watches a run of its own (track.c) as its observer. A
 * sample is what a usage knows, and values that no account needs: each process by itself, in total
 * and per device, and shares of a whole. It is added to every open window. `mutex` guards these.
 */
#include <vitals/collector.h>

#include "os/launch.h"
#include "os/os.h"
#include "run/run_options.h"
#include "run/usage/usage_data.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/hash.h"
#include "util/memory.h"
#include "util/thread.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { PROCESSES_MAX = 512, SUBJECTS_SPARE = 64 };

struct collector_subject {
    uint64_t key;  /* of its row and its device's together; the device's is 0 where it is of none */
    uint64_t seen; /* the sample in which it was there last */
    uint64_t began_ns; /* monotonic; 0: not known */
    size_t holders;
    char text[SUBJECT_TEXT];
    char label[SUBJECT_LABEL];
};

/* A number that may be missing. */
struct collector_reading {
    vitals_availability state;
    double value;
    uint64_t read_ns;
};

struct collector_values {
    vitals_usage_value *items; /* of the newest sample */
    size_t count, capacity;
    struct usage_index subjects; /* processes, and processes on devices, by their keys together */
    size_t seen_count;
    uint64_t sample;         /* number of the newest */
    vitals_snapshot *older;  /* the one before: shares of a CPU are since then */
    vitals_request *request; /* what a snapshot must hold for it */
};

/* Whether a value is of a process by itself. */
static inline bool is_of_process(vitals_scope scope)
{
    return scope == VITALS_SCOPE_PROCESS || scope == VITALS_SCOPE_PROCESS_GPU;
}

/* ---- what is asked ---- */

static const vitals_metric WANTED[] = {
    VITALS_HOST_SWAP_TOTAL_BYTES, VITALS_HOST_LOAD_5M,
    VITALS_HOST_LOAD_15M,         VITALS_GPU_MEMORY_FREE_BYTES,
    VITALS_GPU_FAN_RATIO,         VITALS_GPU_MEMORY_BUSY_RATIO,
    VITALS_PROCESS_NAME,          VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO,
};

/* ---- values ---- */

/* NULL when memory is out: the value is missing. */
static vitals_usage_value *room(struct collector_values *values)
{
    return MEMORY_GROW(values->items, values->capacity, values->count) == 0
               ? &values->items[values->count++]
               : NULL;
}

/* Whose a value is. */
struct owner {
    vitals_scope scope;
    const char *text, *label;
};

static void put(struct collector_values *values, struct owner owner, enum measure_number measure,
                struct collector_reading reading)
{
    vitals_usage_value *value = room(values);
    if (value == NULL)
        return;
    *value = (vitals_usage_value){.measure = (vitals_measure)measure,
                                  .scope = owner.scope,
                                  .subject = owner.text,
                                  .label = owner.label,
                                  .state = reading.state,
                                  .value = reading.state > 0 ? reading.value : 0,
                                  .read_ns = reading.state > 0 ? reading.read_ns : 0};
}

static struct collector_reading reading_of(const vitals_row *row, vitals_metric metric)
{
    struct collector_reading reading = {.state = VITALS_NOT_YET};
    if (row == NULL)
        return reading;
    reading.state = vitals_row_number(row, metric, &reading.value);
    reading.read_ns = vitals_row_read_ns(row, metric);
    return reading;
}

/* A part of a whole. If the whole is 0 there is no share. */
static struct collector_reading share(struct collector_reading part, struct collector_reading whole)
{
    if (part.state <= 0 || whole.state <= 0)
        return (struct collector_reading){.state = part.state <= 0 ? part.state : whole.state};
    if (whole.value <= 0)
        return (struct collector_reading){.state = VITALS_UNSUPPORTED};
    return (struct collector_reading){.state = state_worse(part.state, whole.state),
                                      .value = part.value / whole.value,
                                      .read_ns = uint64_max(part.read_ns, whole.read_ns)};
}

/* ---- devices and processes ---- */

static struct collector_subject *subject_of(const char *text)
{
    return (struct collector_subject *)(text - offsetof(struct collector_subject, text));
}

/* Its text stays what it was; its label is the name that it has now. NULL when memory is out, or
 * the process tells no pid. */
static struct collector_subject *meet(struct collector_values *values, const vitals_row *process,
                                      const struct usage_device *device)
{
    uint64_t joined = hash_join(vitals_row_key(process), device != NULL ? device->key : 0), pid;
    struct collector_subject *subject = usage_index_find(&values->subjects, joined);
    vitals_text name;
    if (subject == NULL) {
        if (vitals_row_u64(process, VITALS_PROCESS_PID, &pid) <= 0)
            return NULL;
        subject = usage_index_add(&values->subjects, joined, sizeof(*subject));
        if (subject == NULL)
            return NULL;
        subject->key = joined;
        (void)snprintf(subject->text, sizeof(subject->text), "pid:%llu%s%.60s",
                       (unsigned long long)pid, device != NULL ? "/" : "",
                       device != NULL ? device->subject->text : "");
    }
    if (device != NULL)
        (void)snprintf(subject->label, sizeof(subject->label), "%s", device->subject->label);
    else if (vitals_row_text(process, VITALS_PROCESS_NAME, &name) > 0)
        vitals_text_format(name, VITALS_TEXT_TERMINAL, subject->label, sizeof(subject->label));
    subject->seen = values->sample;
    values->seen_count++;
    return subject;
}

static void take_process(struct collector_values *values, const vitals_snapshot *snapshot,
                         const vitals_row *host, const vitals_row *process)
{
    struct collector_reading resident = reading_of(process, VITALS_PROCESS_RESIDENT_BYTES);
    struct collector_reading age = reading_of(process, VITALS_PROCESS_START_SECONDS);
    struct collector_reading cpu = reading_of(process, VITALS_PROCESS_CPU_SECONDS), cores = cpu;
    struct collector_subject *subject = meet(values, process, NULL);
    if (subject == NULL)
        return;
    age.value = (double)vitals_snapshot_boottime_ns(snapshot) / (double)NS_PER_SECOND - age.value;
    age.value = age.value > 0 ? age.value : 0;
    age.read_ns = vitals_snapshot_monotonic_ns(snapshot);
    double since_ns = age.value * (double)NS_PER_SECOND;
    if (subject->began_ns == 0 && age.state > 0)
        subject->began_ns = since_ns < (double)age.read_ns ? age.read_ns - (uint64_t)since_ns : 0;
    cores.state = vitals_row_rate(process, values->older, VITALS_PROCESS_CPU_SECONDS, &cores.value);

    const struct owner owner = {VITALS_SCOPE_PROCESS, subject->text, subject->label};
    put(values, owner, MEASURE_cpu_seconds, cpu);
    put(values, owner, MEASURE_cpu_cores, cores);
    put(values, owner, MEASURE_memory_resident_bytes, resident);
    put(values, owner, MEASURE_memory_ratio,
        share(resident, reading_of(host, VITALS_HOST_MEMORY_TOTAL_BYTES)));
    put(values, owner, MEASURE_running_seconds, age);
}

/* A device, and the processes of the tree on it. */
static void take_device(struct collector_values *values, const vitals_snapshot *snapshot,
                        const vitals_usage *usage, const struct usage_device *device,
                        const vitals_row *gpu)
{
    const struct owner whole = {VITALS_SCOPE_GPU, device->subject->text, device->subject->label};
    struct collector_reading total = reading_of(gpu, VITALS_GPU_MEMORY_TOTAL_BYTES);
    put(values, whole, MEASURE_device_memory_free_bytes,
        reading_of(gpu, VITALS_GPU_MEMORY_FREE_BYTES));
    put(values, whole, MEASURE_device_memory_ratio,
        share(reading_of(gpu, VITALS_GPU_MEMORY_USED_BYTES), total));
    put(values, whole, MEASURE_device_memory_busy_ratio,
        reading_of(gpu, VITALS_GPU_MEMORY_BUSY_RATIO));
    put(values, whole, MEASURE_device_fan_ratio, reading_of(gpu, VITALS_GPU_FAN_RATIO));

    size_t taken = 0;
    for (const vitals_row *row = NULL;
         taken < PROCESSES_MAX &&
         (row = vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU_PROCESS, vitals_row_key(gpu),
                                           row)) != NULL;) {
        uint64_t key = 0;
        bool ours = vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) > 0 &&
                    usage_member_of(usage, key) != NULL;
        const vitals_row *process = ours ? vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, key)
                                         : NULL;
        const struct collector_subject *subject = process != NULL ? meet(values, process, device)
                                                                  : NULL;
        if (subject == NULL)
            continue;
        const struct owner owner = {VITALS_SCOPE_PROCESS_GPU, subject->text, subject->label};
        struct collector_reading used = reading_of(row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
        put(values, owner, MEASURE_gpu_memory_bytes, used);
        put(values, owner, MEASURE_gpu_memory_share_ratio, share(used, total));
        put(values, owner, MEASURE_gpu_memory_busy_ratio,
            reading_of(row, VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO));
        put(values, owner, MEASURE_gpu_utilization_ratio,
            reading_of(row, VITALS_GPU_PROCESS_UTILIZATION_RATIO));
        taken++;
    }
}

/* ---- a sample ---- */

static void take_values(struct collector_values *values, const vitals_snapshot *snapshot,
                        const vitals_usage *usage)
{
    const struct owner machine = {VITALS_SCOPE_SYSTEM, "system", ""};
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL), *row = NULL;
    values->count = 0;
    values->seen_count = 0;
    values->sample++;
    for (const vitals_usage_value *known = NULL;
         (known = vitals_usage_next(usage, known)) != NULL;) {
        vitals_usage_value *value = room(values);
        if (value != NULL)
            *value = *known;
    }

    struct collector_reading swap = reading_of(host, VITALS_HOST_SWAP_TOTAL_BYTES);
    put(values, machine, MEASURE_memory_ratio,
        share(reading_of(host, VITALS_HOST_MEMORY_USED_BYTES),
              reading_of(host, VITALS_HOST_MEMORY_TOTAL_BYTES)));
    put(values, machine, MEASURE_swap_total_bytes, swap);
    put(values, machine, MEASURE_swap_ratio,
        share(reading_of(host, VITALS_HOST_SWAP_USED_BYTES), swap));
    put(values, machine, MEASURE_load_5m, reading_of(host, VITALS_HOST_LOAD_5M));
    put(values, machine, MEASURE_load_15m, reading_of(host, VITALS_HOST_LOAD_15M));

    for (size_t i = 0; i < usage->device_count; i++) {
        const struct usage_device *device = usage->devices[i];
        const vitals_row *gpu = device->key != 0
                                    ? vitals_snapshot_find(snapshot, VITALS_TABLE_GPU, device->key)
                                    : NULL;
        if (gpu != NULL)
            take_device(values, snapshot, usage, device, gpu);
    }
    for (size_t taken = 0;
         taken < PROCESSES_MAX && usage_next_member(usage, snapshot, &row) != NULL; taken++)
        take_process(values, snapshot, host, row);
    vitals_snapshot_unref(values->older);
    values->older = vitals_snapshot_ref(snapshot);
}

/* Frees texts that neither the newest sample nor a window uses, if there are many. */
static void forget_subjects(struct collector_values *values)
{
    size_t kept = 0;
    if (values->subjects.count <= 2 * values->seen_count + SUBJECTS_SPARE)
        return;
    for (size_t i = 0; i < values->subjects.count; i++) {
        struct collector_subject *subject = values->subjects.items[i];
        if (subject->seen == values->sample || subject->holders > 0) {
            values->subjects.items[kept++] = subject;
            continue;
        }
        hash_remove(&values->subjects.of, subject->key);
        memory_free(subject);
    }
    values->subjects.count = kept;
}

enum { WINDOWS_MAX = 32, TAG_MAX = 64, PATH_MAX_BYTES = WINDOWS_MAX * TAG_MAX };
enum { SUBJECTS_MAX = 4096, PROCESS_MEASURES = 5 }; /* processes in a window, and what each tells */

/* One measure of one subject in one window. */
struct collector_track {
    vitals_measure measure;
    vitals_scope scope;
    const char *subject, *label; /* valid while a collected value refers to them */
    uint64_t seen_ns;            /* when it was told last */
    bool counter;
    double base; /* of a counter */
    struct usage_cell cell;
};

struct window {
    char tag[TAG_MAX];
    char path[PATH_MAX_BYTES];
    uint64_t begin_ns, realtime_ns; /* monotonic, and the same by the calendar */
    struct collector_track *tracks;
    size_t count, capacity;
    struct hash track_of; /* place in `tracks` */
    size_t of_processes;  /* of the tracks */
};

struct vitals_collector {
    vitals_run_observer observer;
    vitals_context *context;
    vitals_run *run;
    bool started;
    int64_t owner; /* after a fork, the child may only free */

    pthread_mutex_t mutex;
    struct window *windows[WINDOWS_MAX]; /* guarded by mutex, and so is all below */
    size_t window_count;
    struct collector_values newest; /* of the last sample; a window that begins knows it */
    uint64_t newest_ns, newest_realtime_ns;

    pthread_t thread; /* the caller's, as is what follows */
    bool told_runs;
    int stop;
    uint64_t interval_ns;
    vitals_collect_fn *told;
    void *data;
    void (*began)(void *data), (*ended)(void *data);
};

struct vitals_collection {
    size_t count;
    vitals_collected *items;
    struct arena texts; /* copies of paths, subjects and labels */
};

static const vitals_clock *clock_of(const vitals_collector *collector)
{
    return &collector->context->os.clock;
}

static uint64_t now_ns(const vitals_collector *collector)
{
    return os_now_ns(&collector->context->os);
}

/* ---- windows ---- */

static struct collector_track *find_track(struct window *window, const vitals_usage_value *value)
{
    uint64_t key = hash_join(hash_join((uintptr_t)value->subject, value->measure), value->scope);
    const uintptr_t *place = hash_find(&window->track_of, key);
    if (place != NULL)
        return &window->tracks[*place];
    bool of_process = is_of_process(value->scope);
    if (of_process && window->of_processes >= SUBJECTS_MAX * PROCESS_MEASURES)
        return NULL;
    if (MEMORY_GROW(window->tracks, window->capacity, window->count) < 0 ||
        hash_set(&window->track_of, key, window->count) < 0)
        return NULL;
    window->of_processes += of_process;
    if (of_process)
        subject_of(value->subject)->holders++;
    struct collector_track *track = &window->tracks[window->count++];
    *track = (struct collector_track){.measure = value->measure,
                                      .scope = value->scope,
                                      .subject = value->subject,
                                      .label = value->label,
                                      .counter = vitals_measure_is_counter(value->measure) != 0};
    return track;
}

/* False when memory is out: then some measures of the window are missing. Processes may be too
 * many, and are left out. */
static bool add_values(struct window *window, const vitals_usage_value *values, size_t count,
                       uint64_t at_ns)
{
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        const vitals_usage_value *value = &values[i];
        struct collector_track *track = find_track(window, value);
        if (track == NULL) {
            whole = whole && is_of_process(value->scope);
            continue;
        }
        struct usage_cell *cell = &track->cell;
        track->seen_ns = at_ns;
        if (value->state == VITALS_STALE && cell->readings > 0)
            continue; /* nothing was read since */
        vitals_availability state = value->state == VITALS_STALE ? VITALS_SAMPLED : value->state;
        if (!track->counter) {
            usage_cell_gauge(cell, at_ns, value->value, state);
            continue;
        }
        /* The value of a counter before its window began does not count. For a process that began
         * later it is 0. */
        bool born = track->scope == VITALS_SCOPE_PROCESS &&
                    subject_of(track->subject)->began_ns > window->begin_ns;
        if (state > 0 && cell->readings == 0)
            track->base = born ? 0 : value->value;
        usage_cell_counter(cell, at_ns, value->value - track->base, state);
    }
    return whole;
}

static void window_empty(struct window *window)
{
    for (size_t i = 0; i < window->count; i++)
        if (is_of_process(window->tracks[i].scope))
            subject_of(window->tracks[i].subject)->holders--;
    window->count = 0;
    window->of_processes = 0;
    hash_reset(&window->track_of);
}

static void window_free(struct window *window)
{
    if (window == NULL)
        return;
    window_empty(window);
    hash_done(&window->track_of);
    memory_free(window->tracks);
    memory_free(window);
}

/* Beginning, with what was sampled last. */
static bool window_begin(vitals_collector *collector, struct window *window)
{
    const vitals_clock *clock = clock_of(collector);
    window->begin_ns = now_ns(collector);
    window->realtime_ns = clock->realtime_ns(clock->data);
    window_empty(window);
    return add_values(window, collector->newest.items, collector->newest.count, window->begin_ns);
}

/* ---- samples ---- */

/* In the run's thread. A track for which there is no memory is missing in its window, and is made
 * later. */
static int on_sample(void *data, const vitals_snapshot *snapshot, const vitals_usage *usage,
                     vitals_error *error)
{
    vitals_collector *collector = data;
    struct collector_values *newest = &collector->newest;
    (void)error;
    pthread_mutex_lock(&collector->mutex);
    take_values(newest, snapshot, usage);
    collector->newest_ns = vitals_snapshot_monotonic_ns(snapshot);
    collector->newest_realtime_ns = vitals_snapshot_realtime_ns(snapshot);
    for (size_t i = 0; i < collector->window_count; i++) {
        struct window *window = collector->windows[i];
        if (collector->newest_ns > window->begin_ns)
            (void)add_values(window, newest->items, newest->count, collector->newest_ns);
    }
    forget_subjects(newest);
    pthread_mutex_unlock(&collector->mutex);
    return 0;
}

/* ---- the collector itself ---- */

int vitals_collector_new(const vitals_run_options *options, vitals_collector **out,
                         vitals_error *error)
{
    vitals_run_options taken;
    vitals_run_observer observer;
    vitals_usage_options usage;
    int code = run_options_take(options, &taken, &observer, error);
    if (code == 0)
        code = usage_options_take(taken.usage, &usage, error);
    if (code < 0)
        return code;
    /* A window may be shorter than the pace at which the machine is read beside a tree: then it
     * would be told of a time before it. */
    if (usage.machine_pace == VITALS_MACHINE_EACH_SECOND)
        usage.machine_pace = VITALS_MACHINE_CLOSELY;
    taken.usage = &usage;

    vitals_collector *collector = memory_alloc(sizeof(*collector));
    if (collector == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    collector->stop = -1;
    collector->owner = os_self();
    pthread_mutex_init(&collector->mutex, NULL);
    code = vitals_request_new(0, &collector->newest.request, error);
    for (size_t i = 0; i < ARRAY_COUNT(WANTED) && code == 0; i++)
        code = vitals_request_add(collector->newest.request, WANTED[i], error);
    collector->observer = (vitals_run_observer){.size = sizeof(vitals_run_observer),
                                                .data = collector,
                                                .request = collector->newest.request,
                                                .sample = on_sample};
    taken.observer = &collector->observer;
    if (code == 0)
        code = vitals_context_new(taken.world, &collector->context, error);
    if (code == 0)
        code = vitals_run_open(&taken, &collector->run, error);
    if (code == 0)
        *out = collector;
    else
        vitals_collector_free(collector);
    return code;
}

void vitals_collector_free(vitals_collector *collector)
{
    if (collector == NULL || (collector->owner != os_self() && collector->started))
        return; /* a fork, perhaps amid a sample: the memory is the price, as of a sampler */
    if (collector->told_runs) {
        os_event_set(collector->stop);
        pthread_join(collector->thread, NULL);
    }
    os_close_descriptor(collector->stop);
    vitals_run_close(collector->run);
    for (size_t i = 0; i < collector->window_count; i++)
        window_free(collector->windows[i]);
    usage_index_done(&collector->newest.subjects);
    memory_free(collector->newest.items);
    vitals_snapshot_unref(collector->newest.older);
    vitals_request_free(collector->newest.request);
    vitals_context_free(collector->context);
    pthread_mutex_destroy(&collector->mutex);
    memory_free(collector);
}

/* With the mutex held: its place, or window_count. */
static size_t place_of(const vitals_collector *collector, const char *tag)
{
    for (size_t i = 0; i < collector->window_count; i++) {
        if (strcmp(collector->windows[i]->tag, tag) == 0)
            return i;
    }
    return collector->window_count;
}

/* With the mutex held. */
static int open_window(vitals_collector *collector, const char *tag, vitals_error *error)
{
    if (collector->window_count == WINDOWS_MAX)
        return error_set(error, VITALS_EARGUMENT, 0, "more than %d windows", WINDOWS_MAX);
    if (place_of(collector, tag) < collector->window_count)
        return error_set(error, VITALS_EARGUMENT, 0, "the window %s is open already", tag);
    struct window *window = memory_alloc(sizeof(*window));
    if (window == NULL || !window_begin(collector, window)) {
        window_free(window);
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    }
    size_t count = collector->window_count;
    (void)snprintf(window->tag, sizeof(window->tag), "%s", tag);
    if (count > 0)
        (void)snprintf(window->path, sizeof(window->path), "%.1900s/%s",
                       collector->windows[count - 1]->path, tag);
    else
        (void)snprintf(window->path, sizeof(window->path), "%s", tag);
    collector->windows[collector->window_count++] = window;
    return 0;
}

int vitals_collector_begin(vitals_collector *collector, const char *tag, vitals_error *error)
{
    size_t size = strlen(tag);
    if (collector->owner != os_self())
        return error_forked(error, "collector");
    if (size == 0 || size >= TAG_MAX || strchr(tag, '/') != NULL)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "\"%.80s\" is not a tag; give 1 to %d bytes without a slash", tag,
                         TAG_MAX - 1);
    pthread_mutex_lock(&collector->mutex);
    int code = open_window(collector, tag, error);
    bool start = code == 0 && !collector->started;
    collector->started = collector->started || start;
    pthread_mutex_unlock(&collector->mutex);
    return start ? vitals_run_start(collector->run, error) : code;
}

/* ---- collections ---- */

static void fill(const vitals_collector *collector, const struct window *window,
                 const struct collector_track *track, vitals_collected *out)
{
    const struct usage_cell *cell = &track->cell;
    const vitals_clock *clock = clock_of(collector);
    uint64_t now = now_ns(collector);
    double seconds = (double)(now - window->begin_ns) / 1e9;
    *out = (vitals_collected){.seconds = seconds,
                              .begin_ns = window->realtime_ns,
                              .end_ns = clock->realtime_ns(clock->data),
                              .sampled_ns = collector->newest_realtime_ns,
                              .measure = track->measure,
                              .scope = track->scope};
    if (cell->readings == 0) {
        out->state = cell->state < 0 ? (vitals_availability)cell->state : VITALS_NOT_YET;
        return;
    }
    out->state = state_worse((vitals_availability)cell->worst, VITALS_SAMPLED);
    out->last = cell->value;
    out->most = cell->most;
    if (track->counter) {
        out->mean = seconds > 0 ? cell->value / seconds : 0;
        return;
    }
    uint64_t until = is_of_process(track->scope) && track->seen_ns < collector->newest_ns
                         ? track->seen_ns /* it has ended */
                         : now;
    double held = cell->read_ns != 0 && until > cell->read_ns
                      ? (double)(until - cell->read_ns) / 1e9
                      : 0;
    out->least = cell->least;
    out->mean = usage_cell_average(cell, held);
}

/* With the mutex held: the windows from that place on. */
static int collect(const vitals_collector *collector, size_t from, vitals_collection **out,
                   vitals_error *error)
{
    size_t count = 0;
    for (size_t i = from; i < collector->window_count; i++)
        count += collector->windows[i]->count;
    vitals_collection *collection = memory_alloc(sizeof(*collection));
    if (collection != NULL)
        collection->items = memory_array(count, sizeof(*collection->items));
    bool whole = collection != NULL && collection->items != NULL;
    for (size_t i = from; whole && i < collector->window_count; i++) {
        const struct window *window = collector->windows[i];
        const char *path = arena_copy(&collection->texts, window->path, strlen(window->path));
        for (size_t k = 0; whole && k < window->count; k++) {
            const struct collector_track *track = &window->tracks[k];
            vitals_collected *item = &collection->items[collection->count++];
            fill(collector, window, track, item);
            item->window = path;
            item->subject = arena_copy(&collection->texts, track->subject, strlen(track->subject));
            item->label = arena_copy(&collection->texts, track->label, strlen(track->label));
            whole = path != NULL && item->subject != NULL && item->label != NULL;
        }
    }
    if (!whole) {
        vitals_collection_free(collection);
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    }
    *out = collection;
    return 0;
}

static int no_window(const char *tag, vitals_error *error)
{
    return tag != NULL ? error_set(error, VITALS_EARGUMENT, 0, "no window %.80s is open", tag)
                       : error_set(error, VITALS_EARGUMENT, 0, "no window is open");
}

int vitals_collector_end(vitals_collector *collector, const char *tag, vitals_collection **last,
                         vitals_error *error)
{
    int code = 0;
    if (collector->owner != os_self())
        return error_forked(error, "collector");
    pthread_mutex_lock(&collector->mutex);
    size_t count = collector->window_count;
    size_t place = tag != NULL ? place_of(collector, tag) : count - (count > 0);
    if (place == count)
        code = no_window(tag, error);
    else if (last != NULL)
        code = collect(collector, place, last, error);
    for (size_t i = place; i < count && code == 0; i++)
        window_free(collector->windows[i]);
    if (code == 0)
        collector->window_count = place;
    pthread_mutex_unlock(&collector->mutex);
    return code;
}

int vitals_collector_reset(vitals_collector *collector, const char *tag, vitals_error *error)
{
    bool whole = true;
    if (collector->owner != os_self())
        return error_forked(error, "collector");
    pthread_mutex_lock(&collector->mutex);
    size_t count = collector->window_count, place = tag != NULL ? place_of(collector, tag) : 0;
    for (size_t i = place; i < count; i++)
        whole = window_begin(collector, collector->windows[i]) && whole;
    pthread_mutex_unlock(&collector->mutex);
    if (place == count)
        return no_window(tag, error);
    return whole ? 0 : error_set(error, VITALS_EMEMORY, 0, "out of memory");
}

int vitals_collector_collect(vitals_collector *collector, vitals_collection **out,
                             vitals_error *error)
{
    if (collector->owner != os_self())
        return error_forked(error, "collector");
    pthread_mutex_lock(&collector->mutex);
    int code = collect(collector, 0, out, error);
    pthread_mutex_unlock(&collector->mutex);
    return code;
}

const vitals_collected *vitals_collection_next(const vitals_collection *collection,
                                               const vitals_collected *previous)
{
    const vitals_collected *next = previous == NULL ? collection->items : previous + 1;
    return next < collection->items + collection->count ? next : NULL;
}

const vitals_collected *vitals_collection_find(const vitals_collection *collection,
                                               const char *window, vitals_measure measure,
                                               vitals_scope scope, const char *subject)
{
    for (size_t i = collection->count; i-- > 0;) { /* of two processes of one pid the newer */
        const vitals_collected *item = &collection->items[i];
        if (item->measure == measure && item->scope == scope && strcmp(item->window, window) == 0 &&
            strcmp(item->subject, subject) == 0)
            return item;
    }
    return NULL;
}

void vitals_collection_free(vitals_collection *collection)
{
    if (collection == NULL)
        return;
    memory_free(collection->items);
    arena_done(&collection->texts);
    memory_free(collection);
}

/* ---- in the background ---- */

/* Deadlines are absolute; those that went by are skipped. */
static void *told_main(void *argument)
{
    vitals_collector *collector = argument;
    const vitals_clock *clock = clock_of(collector);
    uint64_t interval = collector->interval_ns;
    uint64_t deadline = saturating_add(now_ns(collector), interval);
    if (collector->began != NULL)
        collector->began(collector->data);
    while (clock->wait_until(clock->data, collector->stop, deadline) == 0) {
        vitals_collection *collection = NULL;
        bool over = false;
        if (vitals_collector_collect(collector, &collection, NULL) == 0)
            over = collector->told(collector->data, collection) != 0;
        vitals_collection_free(collection);
        if (over)
            break;
        uint64_t now = now_ns(collector);
        deadline = pace_next(deadline, interval, now);
    }
    if (collector->ended != NULL)
        collector->ended(collector->data);
    return NULL;
}

void vitals_collector_set_around(vitals_collector *collector, void (*began)(void *data),
                                 void (*ended)(void *data))
{
    if (collector->told_runs)
        return; /* its thread has them */
    collector->began = began;
    collector->ended = ended;
}

int vitals_collector_set_every(vitals_collector *collector, const char *tag, uint64_t interval_ns,
                               vitals_collect_fn *told, void *data, vitals_error *error)
{
    if (collector->owner != os_self())
        return error_forked(error, "collector");
    if (collector->told_runs)
        return error_set(error, VITALS_EARGUMENT, 0, "there is a callback already");
    if (interval_ns < NS_PER_MS)
        return error_set(error, VITALS_EARGUMENT, 0, "the interval must be at least 1 ms");
    if (collector->stop < 0)
        collector->stop = os_event_new();
    if (collector->stop < 0)
        return error_set(error, VITALS_ESYSTEM, 0, "no descriptor for a thread");
    int code = vitals_collector_begin(collector, tag, error);
    if (code < 0)
        return code;
    collector->interval_ns = interval_ns;
    collector->told = told;
    collector->data = data;
    int failed = thread_start(&collector->thread, "vitals-collect", 0, told_main, collector);
    if (failed != 0)
        return error_system(error, failed, "cannot start a thread");
    collector->told_runs = true;
    return 0;
}
