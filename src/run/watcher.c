/* watcher.c: see watcher.h. */
#include "run/watcher.h"

#include "core/hash.h"
#include "core/memory.h"
#include "os/launch.h"
#include "sample/sampler.h"

#include <errno.h>
#include <string.h>

/* The first ticks come fast, so that a short job is seen at all; then the interval holds. */
static const uint64_t FIRST_INTERVAL_NS = 10 * NS_PER_MS;

struct watcher {
    const struct watcher_setup *setup;
    vitals_context *context;
    vitals_sampler *sampler;
    vitals_snapshot *before;
    int64_t self;
    struct hash peaks;  /* process key → its largest VmHWM */
    struct hash clocks; /* process key → its CPU time in nanoseconds */
    uint64_t resident_sum;
    bool resident_cut; /* a process whose VmHWM could not be read */
    uint64_t left_out; /* devices, in this tick */
    struct watch_report report;
};

static const vitals_metric WANTED[] = {
    VITALS_PROCESS_PID,
    VITALS_PROCESS_PARENT_PID,
    VITALS_PROCESS_CPU_SECONDS,
    VITALS_PROCESS_RESIDENT_BYTES,
    VITALS_PROCESS_RESIDENT_PEAK_BYTES,
    VITALS_SOURCE_STATE,
    VITALS_SOURCE_MESSAGE,
    VITALS_GPU_UUID,
    VITALS_GPU_PROCESSES,
    VITALS_GPU_PROCESS_PROCESS,
    VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
    VITALS_GPU_PROCESS_BUSY_SECONDS,
};

static int open_sampler(struct watcher *watcher)
{
    int64_t root = watcher->setup->launcher;
    vitals_request *request = NULL;
    int code = vitals_request_new(0, &request, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(WANTED) && code == 0; i++)
        code = vitals_request_add(request, WANTED[i], NULL);
    if (code == 0)
        code = vitals_request_rows(request, VITALS_ROWS_TREE, &root, 1, NULL);
    if (code == 0)
        code = vitals_request_interval(request, watcher->setup->interval_ns, NULL);
    if (code == 0)
        code = vitals_context_new(watcher->setup->world, &watcher->context, NULL);
    if (code == 0)
        code = vitals_sampler_new(watcher->context, request, &watcher->sampler, NULL);
    vitals_request_free(request);
    return code;
}

/* ---- what one snapshot adds ---- */

static void raise_value(struct value *peak, uint64_t number, vitals_availability state)
{
    if (peak->state <= 0 || number > peak->as.u64)
        peak->as.u64 = number;
    peak->state = (signed char)state;
}

/* What each process itself used, as far as it was seen: children that nobody waited for included.
 */
static void add_cpu(struct watcher *watcher, const vitals_row *row)
{
    double seconds;
    uint64_t key = vitals_row_key(row);
    if (vitals_row_f64(row, VITALS_PROCESS_CPU_SECONDS, &seconds) <= 0)
        return;
    uintptr_t now = (uintptr_t)(seconds * 1e9);
    const uintptr_t *known = hash_find(&watcher->clocks, key);
    uintptr_t before = known != NULL ? *known : 0;
    if (now > before && hash_set(&watcher->clocks, key, now) == 0)
        watcher->report.cpu_seconds += (double)(now - before) / 1e9;
}

static void add_process(struct watcher *watcher, const vitals_row *row)
{
    uint64_t key = vitals_row_key(row), peak = 0;
    uintptr_t *known = hash_find(&watcher->peaks, key);
    if (known == NULL) {
        if (hash_set(&watcher->peaks, key, 0) < 0)
            return;
        known = hash_find(&watcher->peaks, key);
        watcher->report.processes++;
    }
    if (vitals_row_u64(row, VITALS_PROCESS_RESIDENT_PEAK_BYTES, &peak) <= 0) {
        watcher->resident_cut |= *known == 0;
        return;
    }
    if (peak > *known) {
        watcher->resident_sum += peak - *known;
        *known = (uintptr_t)peak;
    }
}

/* The launcher, the watcher and children from before are in the tree, but not of the job. */
static bool is_ours(const struct watcher *watcher, const vitals_row *row)
{
    uint64_t pid;
    const struct watcher_setup *setup = watcher->setup;
    if (vitals_row_u64(row, VITALS_PROCESS_PID, &pid) <= 0 || (int64_t)pid == watcher->self ||
        (int64_t)pid == setup->launcher)
        return true;
    for (size_t i = 0; i < setup->stranger_count; i++) {
        if ((int64_t)pid == setup->strangers[i])
            return true;
    }
    return false;
}

static void add_processes(struct watcher *watcher, const vitals_snapshot *snapshot)
{
    uint64_t sum = 0, resident;
    bool any = false;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        if (is_ours(watcher, row))
            continue;
        add_process(watcher, row);
        add_cpu(watcher, row);
        /* Nothing is resident of one that is about to become a program, or has ended. */
        if (vitals_row_u64(row, VITALS_PROCESS_RESIDENT_BYTES, &resident) > 0 && resident > 0) {
            sum = saturating_add(sum, resident);
            any = true;
        }
    }
    struct watch_report *report = &watcher->report;
    if (any)
        raise_value(&report->resident_peak_bytes, sum, VITALS_SAMPLED);
    if (watcher->resident_sum > 0)
        report->resident_sum_bytes = (struct value){
            .as.u64 = watcher->resident_sum,
            .state = watcher->resident_cut ? VITALS_ESTIMATE : VITALS_UPPER_BOUND};
}

/* What the back ends say of themselves; the other sources have the lower keys. */
static void add_sources(struct watch_report *report, const vitals_snapshot *snapshot)
{
    enum { FIRST_BACKEND_KEY = 16 };
    report->source_count = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_SOURCE, row)) != NULL;) {
        vitals_text state, message;
        char word[32] = "";
        if (vitals_row_key(row) < FIRST_BACKEND_KEY || report->source_count == WATCH_SOURCES_MAX ||
            vitals_row_text(row, VITALS_SOURCE_STATE, &state) <= 0)
            continue;
        struct watch_source *source = &report->sources[report->source_count++];
        *source = (struct watch_source){0};
        strncpy(source->label, vitals_row_label(row), sizeof(source->label) - 1);
        vitals_text_format(state, VITALS_TEXT_TERMINAL, word, sizeof(word));
        source->state = (signed char)vitals_availability_from_name(word);
        if (vitals_row_text(row, VITALS_SOURCE_MESSAGE, &message) > 0)
            vitals_text_format(message, VITALS_TEXT_TERMINAL, source->message,
                               sizeof(source->message));
    }
}

static struct watch_gpu *known_gpu(struct watch_report *report, const vitals_row *gpu)
{
    for (uint32_t i = 0; i < report->gpu_count; i++) {
        if (report->gpus[i].key == vitals_row_key(gpu))
            return &report->gpus[i];
    }
    return NULL;
}

static struct watch_gpu *find_gpu(struct watcher *watcher, const vitals_row *gpu)
{
    struct watch_report *report = &watcher->report;
    struct watch_gpu *found = known_gpu(report, gpu);
    if (found != NULL)
        return found;
    if (report->gpu_count == WATCH_GPUS_MAX) {
        watcher->left_out++;
        return NULL;
    }
    found = &report->gpus[report->gpu_count++];
    *found = (struct watch_gpu){.key = vitals_row_key(gpu)};
    strncpy(found->label, vitals_row_label(gpu), sizeof(found->label) - 1);
    return found;
}

/* A device may tell its UUID later than its first process. */
static void name_gpu(struct watch_gpu *found, const vitals_row *gpu)
{
    vitals_text uuid;
    if (found->uuid[0] == '\0' && vitals_row_text(gpu, VITALS_GPU_UUID, &uuid) > 0)
        vitals_text_format(uuid, VITALS_TEXT_TERMINAL, found->uuid, sizeof(found->uuid));
}

/* Sums over the job's processes on one device. */
struct gpu_sums {
    uint64_t memory_bytes;
    double busy_seconds;
    bool any_memory, any_busy, any;
};

static bool is_of_job(const struct watcher *watcher, const vitals_snapshot *snapshot,
                      const vitals_row *user)
{
    uint64_t key;
    if (vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
        return false;
    const vitals_row *process = vitals_snapshot_find(snapshot, VITALS_PROCESS, key);
    return process != NULL && !is_ours(watcher, process);
}

static void sum_process(struct gpu_sums *sums, const vitals_snapshot *before,
                        const vitals_row *user)
{
    uint64_t bytes;
    double grown;
    sums->any = true;
    if (vitals_row_u64(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &bytes) > 0) {
        sums->memory_bytes = saturating_add(sums->memory_bytes, bytes);
        sums->any_memory = true;
    }
    if (vitals_row_growth(user, before, VITALS_GPU_PROCESS_BUSY_SECONDS, &grown, NULL) > 0) {
        sums->busy_seconds += grown;
        sums->any_busy = true;
    }
}

/* Why it cannot be said who uses a device; 0 where it can, or its kind has no list. A partitioned
 * device speaks for its partitions. */
static vitals_availability unread(const vitals_row *gpu)
{
    uint64_t count;
    vitals_availability state = vitals_row_u64(gpu, VITALS_GPU_PROCESSES, &count);
    bool told = state > 0 || state == VITALS_UNSUPPORTED || state == VITALS_NOT_REQUESTED;
    return told || vitals_row_parent(gpu) != 0 ? VITALS_UNSET : state;
}

static void add_sums(struct watch_gpu *found, const struct gpu_sums *sums)
{
    found->used = true;
    if (sums->any_memory)
        raise_value(&found->memory_peak_bytes, sums->memory_bytes, VITALS_SAMPLED);
    else if (found->memory_peak_bytes.state == VITALS_UNSET)
        found->memory_peak_bytes = value_missing(VITALS_UNSUPPORTED);
    if (sums->any_busy) {
        double known = found->busy_seconds.state > 0 ? found->busy_seconds.as.f64 : 0;
        found->busy_seconds = (struct value){.as.f64 = known + sums->busy_seconds,
                                             .state = VITALS_SAMPLED};
    } else if (found->busy_seconds.state == VITALS_UNSET) {
        found->busy_seconds = value_missing(VITALS_NOT_YET);
    }
}

static void add_gpu(struct watcher *watcher, const vitals_snapshot *snapshot, const vitals_row *gpu)
{
    struct gpu_sums sums = {0};
    for (const vitals_row *user = NULL;
         (user = vitals_snapshot_next_child(snapshot, VITALS_GPU_PROCESS, vitals_row_key(gpu),
                                            user)) != NULL;) {
        if (is_of_job(watcher, snapshot, user))
            sum_process(&sums, watcher->before, user);
    }
    vitals_availability why = unread(gpu);
    struct watch_gpu *found = sums.any || why != VITALS_UNSET ? find_gpu(watcher, gpu)
                                                              : known_gpu(&watcher->report, gpu);
    if (found == NULL)
        return;
    name_gpu(found, gpu);
    found->unread = (signed char)why;
    if (sums.any)
        add_sums(found, &sums);
}

static void tick(struct watcher *watcher)
{
    vitals_snapshot *snapshot = NULL;
    if (sampler_take_soon(watcher->sampler, &snapshot) < 0)
        return;
    watcher->report.ticks++;
    add_processes(watcher, snapshot);
    add_sources(&watcher->report, snapshot);
    watcher->left_out = 0;
    for (const vitals_row *gpu = NULL;
         (gpu = vitals_snapshot_next(snapshot, VITALS_GPU, gpu)) != NULL;)
        add_gpu(watcher, snapshot, gpu);
    if (watcher->left_out > watcher->report.gpus_left_out)
        watcher->report.gpus_left_out = watcher->left_out;
    vitals_snapshot_unref(watcher->before);
    watcher->before = snapshot;
}

/* ---- the process ---- */

/* Where the channel is full, the next report says it all; the last has no next. */
static void send_report(struct watcher *watcher, bool final)
{
    enum { TRIES = 40 };
    const vitals_clock *clock = watcher->setup->clock;
    struct watch_report *report = &watcher->report;
    report->size = (uint32_t)sizeof(*report);
    report->final = final;
    for (int i = 0; i < TRIES; i++) {
        int code = os_channel_send(watcher->setup->channel, report, sizeof(*report));
        if (code != -EAGAIN || !final)
            return;
        (void)clock->wait_until(clock->data, -1, clock->monotonic_ns(clock->data) + 5 * NS_PER_MS);
    }
}

/* Until the launcher says so, or the clock cannot wait. */
static void watch(struct watcher *watcher)
{
    const vitals_clock *clock = watcher->setup->clock;
    uint64_t interval = FIRST_INTERVAL_NS, deadline = clock->monotonic_ns(clock->data);
    while (clock->wait_until(clock->data, watcher->setup->channel, deadline) == 0) {
        tick(watcher);
        send_report(watcher, false);
        uint64_t now = clock->monotonic_ns(clock->data), late = now > deadline ? now - deadline : 0;
        deadline = saturating_add(deadline, saturating_add(late - late % interval, interval));
        if (interval < watcher->setup->interval_ns)
            interval = interval * 2 < watcher->setup->interval_ns ? interval * 2
                                                                  : watcher->setup->interval_ns;
    }
}

void watcher_main(void *argument)
{
    struct watcher watcher = {.setup = argument};
    watcher.self = os_self();
    if (open_sampler(&watcher) < 0)
        return;
    watch(&watcher);
    tick(&watcher);
    send_report(&watcher, true);
}
