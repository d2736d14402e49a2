/* watcher.c: see watcher.h. */
#include "run/watcher.h"

#include "core/hash.h"
#include "core/memory.h"
#include "os/launch.h"
#include "sample/sampler.h"

#include <string.h>

/* The first ticks come fast, so that a short job is seen at all; then the interval holds. */
static const uint64_t FIRST_INTERVAL_NS = 10 * NS_PER_MS;

struct watcher {
    const struct watcher_setup *setup;
    vitals_context *context;
    vitals_sampler *sampler;
    vitals_snapshot *before;
    int64_t self;
    struct hash peaks; /* process key → its largest VmHWM */
    uint64_t resident_sum;
    bool resident_cut; /* a process whose VmHWM could not be read */
    struct watch_report report;
};

static const vitals_metric WANTED[] = {
    VITALS_PROCESS_PID,
    VITALS_PROCESS_PARENT_PID,
    VITALS_PROCESS_RESIDENT_BYTES,
    VITALS_PROCESS_RESIDENT_PEAK_BYTES,
    VITALS_GPU_UUID,
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

/* The launcher and the watcher are in the tree, but not of the job. */
static bool is_ours(const struct watcher *watcher, const vitals_row *row)
{
    uint64_t pid;
    return vitals_row_u64(row, VITALS_PROCESS_PID, &pid) <= 0 || (int64_t)pid == watcher->self ||
           (int64_t)pid == watcher->setup->launcher;
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

static struct watch_gpu *find_gpu(struct watch_report *report, const vitals_row *gpu)
{
    uint64_t key = vitals_row_key(gpu);
    for (uint32_t i = 0; i < report->gpu_count; i++) {
        if (report->gpus[i].key == key)
            return &report->gpus[i];
    }
    if (report->gpu_count == WATCH_GPUS_MAX)
        return NULL;
    struct watch_gpu *found = &report->gpus[report->gpu_count++];
    *found = (struct watch_gpu){.key = key};
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

static void sum_process(struct gpu_sums *sums, const vitals_snapshot *snapshot,
                        const vitals_snapshot *before, const vitals_row *user)
{
    uint64_t process, bytes;
    double grown;
    if (vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &process) <= 0 ||
        vitals_snapshot_find(snapshot, VITALS_PROCESS, process) == NULL)
        return; /* not of the job's tree */
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

static void add_gpu(struct watcher *watcher, const vitals_snapshot *snapshot, const vitals_row *gpu)
{
    struct gpu_sums sums = {0};
    for (const vitals_row *user = NULL;
         (user = vitals_snapshot_next_child(snapshot, VITALS_GPU_PROCESS, vitals_row_key(gpu),
                                            user)) != NULL;)
        sum_process(&sums, snapshot, watcher->before, user);
    struct watch_gpu *found = sums.any ? find_gpu(&watcher->report, gpu) : NULL;
    if (found == NULL)
        return;
    name_gpu(found, gpu);
    if (sums.any_memory)
        raise_value(&found->memory_peak_bytes, sums.memory_bytes, VITALS_SAMPLED);
    else if (found->memory_peak_bytes.state == VITALS_UNSET)
        found->memory_peak_bytes = value_missing(VITALS_UNSUPPORTED);
    if (sums.any_busy) {
        double known = found->busy_seconds.state > 0 ? found->busy_seconds.as.f64 : 0;
        found->busy_seconds = (struct value){.as.f64 = known + sums.busy_seconds,
                                             .state = VITALS_SAMPLED};
    } else if (found->busy_seconds.state == VITALS_UNSET) {
        found->busy_seconds = value_missing(VITALS_NOT_YET);
    }
}

static void tick(struct watcher *watcher)
{
    vitals_snapshot *snapshot = NULL;
    if (sampler_take_soon(watcher->sampler, &snapshot) < 0)
        return;
    watcher->report.ticks++;
    add_processes(watcher, snapshot);
    for (const vitals_row *gpu = NULL;
         (gpu = vitals_snapshot_next(snapshot, VITALS_GPU, gpu)) != NULL;)
        add_gpu(watcher, snapshot, gpu);
    vitals_snapshot_unref(watcher->before);
    watcher->before = snapshot;
}

/* ---- the process ---- */

static void send_report(struct watcher *watcher, bool final)
{
    watcher->report.size = (uint32_t)sizeof(watcher->report);
    watcher->report.final = final;
    (void)os_channel_send(watcher->setup->channel, &watcher->report, sizeof(watcher->report));
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
