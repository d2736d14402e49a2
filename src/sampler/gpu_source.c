/* gpu_source.c: see gpu_source.h.
 *
 * A device query is what one device is asked for on one worker: its readings, its slow readings,
 * its users (gpu_jobs.h). Each has its own turn and its own price. */
#include "sampler/gpu_source.h"

#include "sampler/gpu_source_data.h"
#include "sampler/sweep_source.h"
#include "util/error.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>

enum { RESCAN_SECONDS = 10 }; /* at least, until devices are listed anew */

const enum gpu_job_kind gpu_query_kinds[DEVICE_QUERIES] = {GPU_JOB_READ, GPU_JOB_SLOW,
                                                           GPU_JOB_USERS, GPU_JOB_CLAIM};

/* ---- workers ---- */

struct worker *gpu_source_worker(struct gpu_source *source)
{
    return source_worker(&source->base, &source->world->base, NULL);
}

static int add_job(struct worker *worker, enum gpu_job_kind kind)
{
    void *data = gpu_job_new(kind);
    int job = data != NULL ? worker_add(worker, data) : -1;
    if (job < 0)
        gpu_job_free(data);
    return job;
}

static void gpu_done(struct source *base)
{
    struct gpu_source *source = (struct gpu_source *)base;
    if (source->world != NULL)
        worker_world_unref(&source->world->base);
    cache_done(&source->diagnosis);
    identities_done(&source->subjects);
    memory_free(source->devices);
}

/* ---- asking ---- */

static void ask(struct gpu_source *source, size_t number, const struct metric_set *question,
                struct gpu_sweep *swept, uint64_t now_ns)
{
    const struct queried_device *device = &source->devices[number / DEVICE_QUERIES];
    struct device_query *query = gpu_query_at(source, number);
    enum gpu_job_kind kind = gpu_query_kinds[number % DEVICE_QUERIES];
    if (query->worker == NULL) {
        /* A job on the newest worker of those that serve its kind. */
        struct worker **newest = kind == GPU_JOB_SLOW    ? &source->newest_slow
                                 : kind == GPU_JOB_CLAIM ? &source->notes
                                                         : &source->base.worker;
        if (*newest == NULL)
            *newest = gpu_source_worker(source);
        query->job = *newest != NULL ? add_job(*newest, kind) : -1;
        if (query->job < 0)
            return;
        query->worker = *newest;
    }
    struct gpu_device_job *job = worker_data(query->worker, query->job);
    job->slot = device->slot;
    job->node_count = device->node_count;
    memcpy(job->nodes, device->nodes, sizeof job->nodes);
    job->called = device->called;
    job->wanted = query->question = *question;
    gpu_sweep_unref(job->swept);
    job->swept = swept != NULL ? gpu_sweep_ref(swept) : NULL;
    query->pending = (struct metric_set){0};
    query->asked_ns = now_ns;
    query->asked = true;
    query->waits = false;
    worker_ask(query->worker, query->job);
}

/* The metrics of `set` that the device query is asked for; false where none. */
static bool part_of(const struct gpu_source *source, size_t number, const struct metric_set *set,
                    struct metric_set *out)
{
    static const struct {
        unsigned swept;
        vitals_metric metric;
    } own[] = {
        {GPU_SWEPT_LOAD, VITALS_GPU_UTILIZATION_RATIO},
        {GPU_SWEPT_LOAD, VITALS_GPU_BUSY_SECONDS},
        {GPU_SWEPT_ENGINES, VITALS_GPU_ENGINE_UTILIZATION_RATIO},
        {GPU_SWEPT_ENGINES, VITALS_GPU_ENGINE_BUSY_SECONDS},
        {GPU_SWEPT_ENGINES, VITALS_GPU_ENGINE_CAPACITY},
        {GPU_SWEPT_MEMORY, VITALS_GPU_MEMORY_USED_BYTES},
    };
    const struct queried_device *device = &source->devices[number / DEVICE_QUERIES];
    size_t which = number % DEVICE_QUERIES;
    const struct metric_set *part = &source->parts[which];
    for (size_t i = 0; i < ARRAY_COUNT(set->bits); i++)
        for (size_t j = 0; j < ARRAY_COUNT(set->bits[i]); j++)
            out->bits[i][j] = set->bits[i][j] & part->bits[i][j];

    /* What of the device comes with its users is theirs to ask for, and no more of its reading. */
    for (size_t i = 0; i < ARRAY_COUNT(own); i++) {
        if ((own[i].swept & device->swept) == 0 || !metric_set_has(set, own[i].metric))
            continue;
        if (gpu_query_kinds[which] == GPU_JOB_USERS)
            metric_set_add(out, own[i].metric);
        else
            metric_set_remove(out, own[i].metric);
    }
    uint64_t any = 0;
    for (size_t i = 0; i < ARRAY_COUNT(out->bits); i++)
        for (size_t j = 0; j < ARRAY_COUNT(out->bits[i]); j++)
            any |= out->bits[i][j];
    return any != 0;
}

bool gpu_source_wants_devices(const struct metric_set *set)
{
    for (vitals_entity entity = 0; (entity = vitals_entity_next(entity)) != 0;) {
        bool of_gpu = entity == VITALS_GPU || vitals_entity_parent(entity) == VITALS_GPU;
        if (of_gpu && metric_set_has_entity(set, entity))
            return true;
    }
    return false;
}

static void ask_query(struct gpu_source *source, size_t number, const struct source_tick *tick)
{
    struct device_query *query = gpu_query_at(source, number);
    uint64_t now_ns = tick->begin_ns;
    struct metric_set part;
    if (source->devices[number / DEVICE_QUERIES].gone)
        return;
    if (part_of(source, number, tick->due, &part))
        for (size_t i = 0; i < ARRAY_COUNT(part.bits); i++)
            for (size_t j = 0; j < ARRAY_COUNT(part.bits[i]); j++)
                query->pending.bits[i][j] |= part.bits[i][j];
    /* A quarter of an interval early is on time: deadlines are absolute, answers are not. */
    bool paid = now_ns + tick->interval_ns / 4 >= query->paid_until_ns;
    query->held = !paid && query->hung > 0;
    if (!paid || query->asked || !gpu_source_wants_devices(&query->pending))
        return;
    if (gpu_query_kinds[number % DEVICE_QUERIES] == GPU_JOB_USERS) {
        query->waits = true;
        return;
    }
    if (!query->known || query->lost) /* what was read before it was lost holds no more */
        part_of(source, number, tick->wanted, &part);
    else
        part = query->pending;
    ask(source, number, &part, NULL, now_ns);
}

static void gpu_begin(struct source *base, const struct source_tick *tick)
{
    struct gpu_source *source = (struct gpu_source *)base;
    uint64_t now_ns = tick->begin_ns;
    if (!gpu_source_wants_devices(tick->wanted) &&
        !metric_set_has_entity(tick->wanted, VITALS_DIAGNOSIS))
        return;

    if (!source->scan_asked && now_ns >= source->next_scan_ns) {
        source->next_scan_ns = now_ns + RESCAN_SECONDS * NS_PER_SECOND;
        source->scan_asked = true;
        worker_ask(source->scan_worker, source->scan_job);
    }

    /* Behind the scan, on its worker. */
    bool diagnose = !source->diagnosis_asked && metric_set_has_entity(tick->due, VITALS_DIAGNOSIS);
    if (diagnose && source->diagnosis_job < 0) {
        source->diagnosis_worker = source->scan_worker;
        source->diagnosis_job = add_job(source->diagnosis_worker, GPU_JOB_DIAGNOSIS);
    }
    if (diagnose && source->diagnosis_job >= 0) {
        struct gpu_diagnosis_job *job = worker_data(source->diagnosis_worker,
                                                    source->diagnosis_job);
        job->wanted = *tick->due;
        metric_set_add_identities(&job->wanted, VITALS_DIAGNOSIS);
        source->diagnosis_asked = true;
        worker_ask(source->diagnosis_worker, source->diagnosis_job);
    }
    for (size_t i = 0; i < gpu_query_count(source); i++)
        ask_query(source, i, tick);
}

static int gpu_collect(struct source *base, const struct source_tick *tick)
{
    struct gpu_source *source = (struct gpu_source *)base;
    int code = gpu_source_take(source, tick->devices);

    /* Devices that were found since the tick began are asked, so that they are in it already. */
    uint64_t now_ns = source_now(base);
    struct metric_set part;
    for (size_t i = 0; i < gpu_query_count(source); i++) {
        struct device_query *query = gpu_query_at(source, i);
        if (query->known || query->asked || query->waits ||
            !part_of(source, i, tick->wanted, &part))
            continue;
        if (gpu_query_kinds[i % DEVICE_QUERIES] == GPU_JOB_USERS)
            query->waits = true;
        else
            ask(source, i, &part, NULL, now_ns);
    }
    if (code < 0 || tick->sweeps == NULL || !gpu_source_waits(base))
        return code;

    struct gpu_sweep *swept;
    enum sweep_answer answer = sweep_source_take(tick->sweeps, &swept);
    if (answer != SWEEP_NONE)
        gpu_source_ask_users(base, tick->wanted, swept, answer == SWEEP_OLD, source_now(base));
    return 0;
}

bool gpu_source_waits(const struct source *base)
{
    const struct gpu_source *source = (const struct gpu_source *)base;
    bool waits = false;
    for (size_t i = 0; i < gpu_query_count(source); i++)
        waits |= gpu_query_at(source, i)->waits;
    return waits;
}

void gpu_source_ask_users(struct source *base, const struct metric_set *wanted,
                          struct gpu_sweep *swept, bool is_old, uint64_t now_ns)
{
    struct gpu_source *source = (struct gpu_source *)base;
    struct metric_set part;
    for (size_t i = 0; i < gpu_query_count(source); i++) {
        struct device_query *query = gpu_query_at(source, i);
        if (!query->waits || !part_of(source, i, wanted, &part))
            continue;
        query->is_old = is_old;
        ask(source, i, &part, swept, now_ns);
    }
}

/* ---- its rows ---- */

/* Every back end counts its own; a number of its own in front keeps keys apart. */
enum { DIAGNOSIS_KEYS = 1 << 20 };

/* If it has not answered in time a row says so, its older findings are stale, and the table is
 * LOWER_BOUND. */
static void gpu_write_diagnosis(const struct source *base, vitals_builder *builder,
                                uint64_t stamp_ns)
{
    const struct gpu_source *source = (const struct gpu_source *)base;
    const struct row_batch *batch = &source->diagnosis.kept;
    for (size_t i = 0; i < batch->row_count; i++) {
        const struct batch_row *row = &batch->rows[i];
        struct span label = batch_label(batch, row);
        vitals_builder_row(builder, VITALS_DIAGNOSIS,
                           (source->number + 1) * DIAGNOSIS_KEYS + row->key, 0,
                           (vitals_text){label.bytes, label.size}, stamp_ns);
        builder_batch(builder, batch, row);
        builder_rest(builder, VITALS_DIAGNOSIS, VITALS_UNSUPPORTED);
    }
    if (!source->diagnosis.overdue)
        return;

    /* That a driver does not answer is the most that is known of it. */
    char subject[64];
    int size = snprintf(subject, sizeof subject, "%s driver", source->world->backend->name);
    bool hangs = source->diagnosis_hangs;
    const struct {
        vitals_metric metric;
        const char *text;
    } texts[] = {
        {VITALS_DIAGNOSIS_SUBJECT, subject},
        {VITALS_DIAGNOSIS_SEVERITY, hangs ? "problem" : "notice"},
        {VITALS_DIAGNOSIS_FINDING,
         hangs ? "it does not answer: a call into it hangs" : "it has not answered in time"},
        {VITALS_DIAGNOSIS_REMEDY, "sudo dmesg | tail -n 50"},
    };
    vitals_builder_row(builder, VITALS_DIAGNOSIS, (source->number + 2) * DIAGNOSIS_KEYS - 1, 0,
                       (vitals_text){subject, (size_t)size}, stamp_ns);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        vitals_builder_text(builder, texts[i].metric, source_text(texts[i].text), VITALS_HAVE);
    builder_rest(builder, VITALS_DIAGNOSIS, VITALS_TIMED_OUT);
    vitals_builder_state(builder, VITALS_DIAGNOSIS, VITALS_LOWER_BOUND);
}

static void gpu_write(const struct source *base, vitals_builder *builder, uint64_t stamp_ns)
{
    const struct gpu_source *source = (const struct gpu_source *)base;
    uint64_t hanging = source->scan_hangs || source->diagnosis_hangs;
    for (size_t i = 0; i < source->device_count; i++) {
        bool any = false;
        for (size_t which = 0; which < DEVICE_QUERIES; which++)
            any |= source->devices[i].queries[which].hangs &&
                   gpu_query_kinds[which] != GPU_JOB_CLAIM;
        hanging += any;
    }
    struct source_row row = {
        .key = VITALS_SOURCE_BACK_ENDS + source->number,
        .name = source->world->backend->name,
        .message = source->message,
        .state = (vitals_availability)source->state,
        .quarantined = value_u64(hanging),
    };
    source_write_row(base, &row, builder, stamp_ns);
}

/* ---- life ---- */

static const struct source_ops OPS = {.size = sizeof(struct gpu_source),
                                      .done = gpu_done,
                                      .begin = gpu_begin,
                                      .collect = gpu_collect,
                                      .settled = gpu_source_settled,
                                      .patience = gpu_source_patience,
                                      .late = gpu_source_late,
                                      .write_diagnosis = gpu_write_diagnosis,
                                      .write = gpu_write};

int gpu_source_add(struct sources *sources, const struct gpu_backend *backend, unsigned number)
{
    struct gpu_source *source = sources_add(sources, &OPS, &GPU_SERVICE, 0);
    if (source == NULL)
        return VITALS_EMEMORY;

    source->number = number;
    source->state = VITALS_NOT_YET;
    source->diagnosis_job = -1;
    source->world = gpu_world_new(sources->context, backend);
    if (source->world == NULL)
        return VITALS_EMEMORY;

    /* Which device query asks for what of a device of which nothing is swept. */
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        vitals_entity entity = vitals_metric_entity(m);
        if (entity != VITALS_GPU && vitals_entity_parent(entity) != VITALS_GPU)
            continue;
        bool of_users = entity == VITALS_GPU_PROCESS || m == VITALS_GPU_PROCESSES;
        enum gpu_job_kind kind = vitals_metric_price(m) == VITALS_PRICE_SLOW ? GPU_JOB_SLOW
                                 : entity == VITALS_GPU_JOB                  ? GPU_JOB_CLAIM
                                 : backend->sweeps && of_users               ? GPU_JOB_USERS
                                                                             : GPU_JOB_READ;
        for (size_t i = 0; i < DEVICE_QUERIES; i++)
            if (gpu_query_kinds[i] == kind)
                metric_set_add(&source->parts[i], m);
    }
    source->base.worker = source->scan_worker = gpu_source_worker(source);
    source->scan_job = source->scan_worker != NULL ? add_job(source->scan_worker, GPU_JOB_SCAN)
                                                   : -1;
    return source->scan_job < 0 ? VITALS_EMEMORY : 0;
}
