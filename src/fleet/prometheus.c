/* prometheus.c: see fleet.h: what a Prometheus knows of many machines. The answer to one query
 * becomes a snapshot of each machine, of the series that `vitals serve` exports
 * (docs/prometheus.md).
 *
 * Everything in it is untrusted. A series that is not of a machine's newest scrape is left out: it
 * has ended. */
#include "fleet/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "export/clock.h"
#include "feed/built_without.h"
#include "record/error.h"
#include "util/hash.h"
#include "util/memory.h"
#include "util/number.h"

/* How far the query looks back: at least one scrape is within it. */
#define LOOK_BACK "[75s]"

enum series_kind {
    SERIES_UP,
    SERIES_BUILD,
    SERIES_LOAD,
    SERIES_DEVICE,
    SERIES_PART,
    SERIES_VALUE, /* of a device or a part */
    SERIES_CORE,  /* likewise, of the sensor gpu */
    SERIES_COUNT, /* of processes on a device */
    SERIES_SHARE, /* of a workload */
    SERIES_WORK,
    SERIES_JOB
};

struct series_form {
    const char *name;
    enum series_kind kind;
    vitals_metric metric; /* 0: none */
};

static const struct series_form FORMS[] = {
    {"up", SERIES_UP, 0},
    {"vitals_build_info", SERIES_BUILD, 0},
    {"vitals_host_load1", SERIES_LOAD, VITALS_HOST_LOAD_1M},
    {"vitals_gpu_info", SERIES_DEVICE, 0},
    {"vitals_gpu_partition_info", SERIES_PART, 0},
    {"vitals_gpu_utilization_ratio", SERIES_VALUE, VITALS_GPU_UTILIZATION_RATIO},
    {"vitals_gpu_memory_total_bytes", SERIES_VALUE, VITALS_GPU_MEMORY_TOTAL_BYTES},
    {"vitals_gpu_memory_used_bytes", SERIES_VALUE, VITALS_GPU_MEMORY_USED_BYTES},
    {"vitals_gpu_partition_memory_total_bytes", SERIES_VALUE, VITALS_GPU_MEMORY_TOTAL_BYTES},
    {"vitals_gpu_partition_memory_used_bytes", SERIES_VALUE, VITALS_GPU_MEMORY_USED_BYTES},
    {"vitals_gpu_power_watts", SERIES_VALUE, VITALS_GPU_POWER_WATTS},
    {"vitals_gpu_temperature_celsius", SERIES_CORE, VITALS_GPU_TEMPERATURE_CELSIUS},
    {"vitals_gpu_processes", SERIES_COUNT, 0},
    {"vitals_workload_gpu_memory_used_bytes", SERIES_SHARE, VITALS_GPU_PROCESS_MEMORY_USED_BYTES},
    {"vitals_workload_gpu_utilization_ratio", SERIES_SHARE, VITALS_GPU_PROCESS_UTILIZATION_RATIO},
    {"vitals_workload_info", SERIES_WORK, 0},
    {"vitals_gpu_job_info", SERIES_JOB, 0},
};

/* ---- the query ---- */

void fleet_prometheus_query(const struct fleet *fleet, struct buffer *out)
{
    enum { NAMES_MOST = 64 * 1024 };
    size_t size = 0;
    buffer_string(out, "{__name__=~\"");
    for (size_t i = 0; i < ARRAY_COUNT(FORMS); i++)
        buffer_format(out, "%s%s", i > 0 ? "|" : "", FORMS[i].name);
    buffer_byte(out, '"');
    for (size_t i = 0; i < fleet->count; i++)
        size += strlen(fleet->hosts[i].place.name);
    /* Of a long list all is asked for, and what it does not name is left out here. */
    for (size_t i = 0; size < NAMES_MOST && i < fleet->count; i++) {
        buffer_string(out, i == 0 ? ",instance=~\"(" : "|");
        for (const char *at = fleet->hosts[i].place.name; *at != '\0'; at++) {
            if (strchr(".[]", *at) != NULL)
                buffer_string(out, "\\\\");
            buffer_byte(out, *at);
        }
    }
    buffer_string(out, size > 0 && size < NAMES_MOST ? ")(:[0-9]+)?\"}" LOOK_BACK : "}" LOOK_BACK);
}

#if VITALS_WITH_JANSSON
#include <jansson.h>

/* The newest sample of a series. */
struct scraped_series {
    const struct series_form *form;
    const json_t *labels, *samples;
    const char *instance, *job;
    double at, value; /* seconds since 1970 */
};

/* A figure that may be missing. */
struct scraped_figure {
    double value;
    bool known;
};

enum { FIGURES = 5 };
static const vitals_metric FIGURE_METRICS[FIGURES] = {
    VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_GPU_MEMORY_USED_BYTES,
    VITALS_GPU_POWER_WATTS, VITALS_GPU_TEMPERATURE_CELSIUS};

/* A device, a part of one; what a workload has of one; a workload: what has a key of its own. */
struct scraped_item {
    uint64_t key, gpu; /* gpu: of a share or a job its device, of a part the whole */
    uint64_t row;      /* key of a device's row */
    const struct scraped_series *series;
    struct scraped_figure figures[FIGURES]; /* of a share: its utilization, then its memory */
    struct scraped_figure compute;          /* processes that compute on it */
    bool divided, used;
};

struct scraped_items {
    struct scraped_item *items;
    size_t count;
};

/* The series of one machine. */
struct scraped_machine {
    const struct scraped_series *series;
    size_t count;
    uint64_t at_ns;
    struct scraped_items devices, shares, works, jobs;
    struct scraped_figure load;
};

static const char *label_of(const struct scraped_series *series, const char *name)
{
    const char *text = json_string_value(json_object_get(series->labels, name));
    return text != NULL ? text : "";
}

/* Keys of rows are 1 … 2^53, and stay the same from answer to answer. */
static uint64_t key_of(const char *text, uint64_t seed)
{
    return (hash_join(hash_bytes(text, strlen(text)), seed) & ((UINT64_C(1) << 52) - 1)) + 1;
}

/* ---- reading the answer ---- */

static bool read_sample(const json_t *pair, double *at, double *value)
{
    const char *words = json_string_value(json_array_get(pair, 1));
    const char *end = words != NULL ? words + strlen(words) : NULL;
    *at = json_number_value(json_array_get(pair, 0));
    return words != NULL && *at > 0 && *at < 1e10 && number_f64(&words, end, value) && words == end;
}

/* Returns false for a series that is of no use. */
static bool read_series(const json_t *result, struct scraped_series *out)
{
    *out = (struct scraped_series){.labels = json_object_get(result, "metric"),
                                   .samples = json_object_get(result, "values")};
    const char *name = label_of(out, "__name__");
    for (size_t i = 0; i < ARRAY_COUNT(FORMS) && out->form == NULL; i++)
        out->form = strcmp(FORMS[i].name, name) == 0 ? &FORMS[i] : NULL;
    out->instance = label_of(out, "instance");
    out->job = label_of(out, "job");
    size_t count = json_array_size(out->samples);
    return out->form != NULL && count > 0 && host_list_is_name(out->instance) &&
           read_sample(json_array_get(out->samples, count - 1), &out->at, &out->value);
}

static int by_instance(const void *a, const void *b)
{
    const struct scraped_series *x = a, *y = b;
    int order = strcmp(x->instance, y->instance);
    return order != 0 ? order : (x->form > y->form) - (x->form < y->form);
}

static int by_key(const void *a, const void *b)
{
    const struct scraped_item *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static struct scraped_item *find(const struct scraped_items *items, uint64_t key)
{
    const struct scraped_item wanted = {.key = key};
    return items->count > 0 ? bsearch(&wanted, items->items, items->count, sizeof wanted, by_key)
                            : NULL;
}

/* Sorts items; of two with one key the first gets what the second knows more. */
static void sort_items(struct scraped_items *items)
{
    size_t kept = 0;
    if (items->count > 1)
        qsort(items->items, items->count, sizeof *items->items, by_key);
    for (size_t i = 0; i < items->count; i++) {
        struct scraped_item *before = kept > 0 ? &items->items[kept - 1] : NULL;
        if (before == NULL || before->key != items->items[i].key) {
            items->items[kept++] = items->items[i];
            continue;
        }
        for (size_t j = 0; j < FIGURES; j++) {
            if (!before->figures[j].known)
                before->figures[j] = items->items[i].figures[j];
        }
    }
    items->count = kept;
}

static void add_item(struct scraped_machine *machine, const struct scraped_series *series)
{
    const char *uuid = label_of(series, "uuid"), *workload = label_of(series, "workload");
    struct scraped_item item = {.series = series, .key = key_of(uuid, 0)};
    struct scraped_items *items = &machine->devices;
    switch (series->form->kind) {
    case SERIES_DEVICE: break;
    case SERIES_PART: item.gpu = key_of(label_of(series, "parent_uuid"), 0); break;
    case SERIES_WORK:
        items = &machine->works;
        item.key = key_of(workload, 0);
        break;
    case SERIES_SHARE:
        items = &machine->shares;
        item.gpu = item.key;
        item.key = key_of(workload, item.gpu);
        item.figures[series->form->metric == VITALS_GPU_PROCESS_MEMORY_USED_BYTES] =
            (struct scraped_figure){series->value, true};
        break;
    case SERIES_JOB:
        if (strcmp(label_of(series, "by"), "prolog") != 0)
            return; /* the process says it itself */
        items = &machine->jobs;
        item.gpu = item.key;
        item.key = key_of(label_of(series, "job_id"), item.gpu);
        break;
    default: return;
    }
    items->items[items->count++] = item;
}

/* The key of a device's row: by the number of the device, then by that of the part. */
static uint64_t row_of(const struct scraped_item *item, const struct scraped_item *whole)
{
    enum { HASH_BITS = 35, PART_BITS = 6, DEVICES = 2000, PARTS = 60 };
    const char *words[] = {label_of(whole != NULL ? whole->series : item->series, "gpu"),
                           label_of(item->series, "gi")};
    static const uint64_t MOST[] = {DEVICES, PARTS};
    uint64_t numbers[2];
    for (size_t i = 0; i < 2; i++) {
        if (!number_is_u64(words[i], &numbers[i]) || numbers[i] > MOST[i])
            numbers[i] = MOST[i];
    }
    uint64_t part = item->series->form->kind == SERIES_PART ? numbers[1] + 1 : 0;
    return ((numbers[0] + 1) << (HASH_BITS + PART_BITS)) + (part << HASH_BITS) +
           (item->key & ((UINT64_C(1) << HASH_BITS) - 1));
}

/* Puts values where they belong, and notes which devices are used and divided. */
static void join(struct scraped_machine *machine)
{
    for (size_t i = 0; i < machine->count; i++) {
        const struct scraped_series *series = &machine->series[i];
        const struct scraped_figure figure = {series->value, true};
        struct scraped_item *device = find(&machine->devices, key_of(label_of(series, "uuid"), 0));
        enum series_kind kind = series->form->kind;
        if (series->at * 1e9 + 1e8 < (double)machine->at_ns)
            continue;
        if (kind == SERIES_LOAD)
            machine->load = figure;
        if (device == NULL)
            continue;
        if (kind == SERIES_COUNT && strcmp(label_of(series, "type"), "compute") == 0)
            device->compute = figure;
        bool core = kind == SERIES_CORE && strcmp(label_of(series, "sensor"), "gpu") == 0;
        for (size_t j = 0; (core || kind == SERIES_VALUE) && j < FIGURES; j++) {
            if (FIGURE_METRICS[j] == series->form->metric)
                device->figures[j] = figure;
        }
    }
    for (size_t i = 0; i < machine->shares.count; i++) {
        struct scraped_item *device = find(&machine->devices, machine->shares.items[i].gpu);
        if (device != NULL)
            device->used = true;
    }
    for (size_t i = 0; i < machine->devices.count; i++) {
        struct scraped_item *item = &machine->devices.items[i];
        struct scraped_item *whole = find(&machine->devices, item->gpu);
        if (whole != NULL)
            whole->divided = true;
        item->row = row_of(item, whole);
    }
}

/* ---- the snapshot ---- */

static void put_figure(vitals_builder *builder, vitals_metric metric,
                       const struct scraped_figure *figure)
{
    if (!figure->known)
        vitals_builder_missing(builder, metric, VITALS_UNSUPPORTED);
    else if (vitals_metric_type(metric) != VITALS_U64)
        vitals_builder_f64(builder, metric, figure->value, VITALS_HAVE);
    else if (figure->value >= 0 && figure->value <= (double)EXACT_MAX)
        vitals_builder_u64(builder, metric, (uint64_t)figure->value, VITALS_HAVE);
    else
        vitals_builder_missing(builder, metric, VITALS_FAILED);
}

static void put_label(vitals_builder *builder, vitals_metric metric,
                      const struct scraped_series *series, const char *name)
{
    const char *text = label_of(series, name);
    vitals_builder_text(builder, metric, vitals_text_of(text),
                        text[0] != '\0' ? VITALS_HAVE : VITALS_UNSUPPORTED);
}

static void put_devices(vitals_builder *builder, const struct scraped_machine *machine)
{
    vitals_metric columns[FIGURES + 1] = {VITALS_GPU_NAME};
    memcpy(columns + 1, FIGURE_METRICS, sizeof FIGURE_METRICS);
    vitals_builder_table(builder, VITALS_TABLE_GPU, columns, FIGURES + 1);
    for (size_t i = 0; i < machine->devices.count; i++) {
        const struct scraped_item *item = &machine->devices.items[i];
        const struct scraped_item *whole = find(&machine->devices, item->gpu);
        bool part = item->series->form->kind == SERIES_PART;
        struct buffer label = {.bytes = NULL};
        buffer_string(&label, label_of(whole != NULL ? whole->series : item->series, "gpu"));
        if (part)
            buffer_format(&label, ":%s:%s", label_of(item->series, "gi"),
                          label_of(item->series, "ci"));
        vitals_builder_row(builder, VITALS_TABLE_GPU, item->row, whole != NULL ? whole->row : 0,
                           vitals_text_of(label.failed ? "?" : label.bytes), machine->at_ns);
        buffer_done(&label);
        put_label(builder, VITALS_GPU_NAME, item->series, part ? "profile" : "name");
        for (size_t j = 0; j < FIGURES; j++)
            put_figure(builder, FIGURE_METRICS[j], &item->figures[j]);
    }
}

/* A workload becomes a process that uses its devices. A device with a count of processes and no
 * workload gets one use by an unknown process; so does a part, as only the whole device has a
 * count. Without workloads and counts it is not known which devices are in use. */
static void put_uses(vitals_builder *builder, const struct scraped_machine *machine)
{
    static const vitals_metric PROCESS[] = {VITALS_PROCESS_USER, VITALS_PROCESS_WORKLOAD};
    static const vitals_metric USE[] = {VITALS_GPU_PROCESS_PROCESS, VITALS_GPU_PROCESS_TYPE,
                                        VITALS_GPU_PROCESS_UTILIZATION_RATIO,
                                        VITALS_GPU_PROCESS_MEMORY_USED_BYTES};
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, PROCESS, ARRAY_COUNT(PROCESS));
    for (size_t i = 0; i < machine->works.count; i++) {
        const struct scraped_item *item = &machine->works.items[i];
        vitals_builder_row(builder, VITALS_TABLE_PROCESS, item->key, 0,
                           vitals_text_of(label_of(item->series, "workload")), machine->at_ns);
        put_label(builder, VITALS_PROCESS_USER, item->series, "user");
        put_label(builder, VITALS_PROCESS_WORKLOAD, item->series, "workload");
    }
    vitals_builder_table(builder, VITALS_TABLE_GPU_PROCESS, USE, ARRAY_COUNT(USE));
    for (size_t i = 0; i < machine->shares.count + machine->devices.count; i++) {
        bool share = i < machine->shares.count;
        const struct scraped_item *item = share
                                              ? &machine->shares.items[i]
                                              : &machine->devices.items[i - machine->shares.count];
        const struct scraped_item *whole = share ? NULL : find(&machine->devices, item->gpu);
        const struct scraped_figure *compute = whole != NULL ? &whole->compute : &item->compute;
        const struct scraped_item *work = NULL;
        const struct scraped_item *device = share ? find(&machine->devices, item->gpu) : item;
        if (device == NULL)
            continue;
        if (share)
            work = find(&machine->works, key_of(label_of(item->series, "workload"), 0));
        else if (item->used || item->divided || (compute->known && compute->value <= 0))
            continue;
        else if (!compute->known) {
            vitals_builder_state(builder, VITALS_TABLE_GPU_PROCESS, VITALS_UNSUPPORTED);
            continue;
        }
        vitals_builder_row(builder, VITALS_TABLE_GPU_PROCESS,
                           share ? item->key : key_of("", item->key), device->row,
                           vitals_text_of(""), machine->at_ns);
        if (work != NULL)
            vitals_builder_u64(builder, VITALS_GPU_PROCESS_PROCESS, work->key, VITALS_HAVE);
        else
            vitals_builder_missing(builder, VITALS_GPU_PROCESS_PROCESS, VITALS_UNSUPPORTED);
        vitals_builder_text(builder, VITALS_GPU_PROCESS_TYPE, vitals_text_of("C"), VITALS_HAVE);
        for (size_t j = 0; j < 2; j++)
            put_figure(builder, USE[2 + j],
                       share ? &item->figures[j] : &(struct scraped_figure){0, false});
    }
}

static int put_machine(vitals_builder *builder, const struct scraped_machine *machine,
                       vitals_snapshot **out, vitals_error *error)
{
    static const vitals_metric LOAD = VITALS_HOST_LOAD_1M, JOB = VITALS_GPU_JOB_JOB_ID;
    vitals_builder_begin(builder);
    vitals_builder_stream(builder, 1);
    vitals_builder_moment(builder, machine->at_ns, machine->at_ns, machine->at_ns, 1);
    vitals_builder_table(builder, VITALS_TABLE_HOST, &LOAD, 1);
    vitals_builder_row(builder, VITALS_TABLE_HOST, 1, 0, vitals_text_of(""), machine->at_ns);
    put_figure(builder, LOAD, &machine->load);
    put_devices(builder, machine);
    put_uses(builder, machine);
    vitals_builder_table(builder, VITALS_TABLE_GPU_JOB, &JOB, 1);
    for (size_t i = 0; i < machine->jobs.count; i++) {
        const struct scraped_item *item = &machine->jobs.items[i];
        const struct scraped_item *device = find(&machine->devices, item->gpu);
        if (device == NULL)
            continue;
        vitals_builder_row(builder, VITALS_TABLE_GPU_JOB, item->key, device->row,
                           vitals_text_of(""), machine->at_ns);
        put_label(builder, JOB, item->series, "job_id");
    }
    return vitals_builder_finish(builder, out, error);
}

/* ---- one machine ---- */

/* When its newest scrape was, and whether that failed: since when. */
static double newest_scrape(const struct scraped_machine *machine, double *down_since)
{
    double at = 0, up = 0;
    *down_since = 0;
    for (size_t i = 0; i < machine->count; i++) {
        const struct scraped_series *series = &machine->series[i];
        if (series->form->kind != SERIES_UP) {
            at = series->at > at ? series->at : at;
            continue;
        }
        if (series->at < up)
            continue;
        up = series->at;
        *down_since = 0;
        double then, value;
        for (size_t j = json_array_size(series->samples); j-- > 0;) {
            if (!read_sample(json_array_get(series->samples, j), &then, &value) || value != 0)
                break;
            *down_since = then;
        }
    }
    return up > 0 ? up : at;
}

/* Converts a time of Prometheus, in seconds since 1970, into monotonic time. A time in the future
 * (its clock is ahead of ours) is now. */
static uint64_t then_of(double at, uint64_t now_ns)
{
    double ago_ns = (double)clock_realtime_ns() - at * 1e9;
    return ago_ns <= 0 ? now_ns : ago_ns >= (double)now_ns ? 1 : now_ns - (uint64_t)ago_ns;
}

static void read_machine(struct fleet *fleet, size_t place, struct scraped_machine *machine,
                         uint64_t now_ns)
{
    double down_since, at = newest_scrape(machine, &down_since);
    struct scraped_items *const LISTS[] = {&machine->devices, &machine->shares, &machine->works,
                                           &machine->jobs};
    struct scraped_item *items = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {.message = "out of memory"};
    bool any = false;
    if (down_since > 0) {
        fleet_fail(fleet, place, FLEET_SILENT, then_of(down_since, now_ns),
                   "Prometheus cannot reach it");
        return;
    }
    machine->at_ns = (uint64_t)(at * 1e9);
    const vitals_snapshot *newest = fleet_newest(fleet, place);
    if (newest != NULL && vitals_snapshot_realtime_ns(newest) == machine->at_ns) {
        fleet_answered(fleet, place, NULL, then_of(at, now_ns));
        return;
    }
    /* Room for each series in each list. */
    items = memory_array(machine->count * ARRAY_COUNT(LISTS), sizeof *items);
    for (size_t i = 0; i < ARRAY_COUNT(LISTS); i++)
        *LISTS[i] = (struct scraped_items){.items = items != NULL ? items + i * machine->count
                                                                  : NULL};
    for (size_t i = 0; items != NULL && i < machine->count; i++) {
        const struct scraped_series *series = &machine->series[i];
        bool current = series->at + 0.1 >= at && series->form->kind != SERIES_UP;
        any = any || current;
        if (current)
            add_item(machine, series);
    }
    if (items != NULL && !any) {
        fleet_fail(fleet, place, FLEET_OTHER, now_ns, "Prometheus has nothing of vitals from it");
    } else {
        for (size_t i = 0; items != NULL && i < ARRAY_COUNT(LISTS); i++)
            sort_items(LISTS[i]);
        if (items != NULL)
            join(machine);
        if (items == NULL || put_machine(fleet->builder, machine, &snapshot, &error) < 0)
            fleet_fail(fleet, place, FLEET_OTHER, now_ns, error.message);
        else
            fleet_answered(fleet, place, snapshot, then_of(at, now_ns));
    }
    memory_free(items);
}

/* ---- all of them ---- */

static uint64_t job_key(const char *job)
{
    return hash_bytes(job, strlen(job));
}

/* Leaves out series that say whether targets of other jobs are up. A job scrapes vitals serve if
 * there are series of vitals from it, or if it is named so. Returns 0 or EMEMORY. */
static int drop_others(struct scraped_series *series, size_t *count)
{
    struct hash jobs = {.slots = NULL};
    size_t kept = 0;
    bool failed = hash_set(&jobs, job_key("vitals"), true) < 0;
    for (size_t i = 0; i < *count && !failed; i++)
        failed = series[i].form->kind != SERIES_UP &&
                 hash_set(&jobs, job_key(series[i].job), true) < 0;
    for (size_t i = 0; i < *count && !failed; i++) {
        if (series[i].form->kind != SERIES_UP || hash_find(&jobs, job_key(series[i].job)) != NULL)
            series[kept++] = series[i];
    }
    hash_done(&jobs);
    *count = kept;
    return failed ? VITALS_EMEMORY : 0;
}

static size_t gather(const json_t *results, struct scraped_series *out)
{
    const json_t *result;
    size_t i, count = 0;
    json_array_foreach(results, i, result)
    {
        count += read_series(result, &out[count]);
    }
    return count;
}

int fleet_prometheus_read(struct fleet *fleet, vitals_text json, uint64_t now_ns,
                          vitals_error *error)
{
    json_t *root = json_loadb(json.bytes, json.size, 0, NULL);
    const json_t *data = json_object_get(root, "data"), *results = json_object_get(data, "result");
    const char *type = json_string_value(json_object_get(data, "resultType"));
    struct scraped_series *series = NULL;
    int code = 0;
    if (root == NULL || !json_is_array(results) || type == NULL || strcmp(type, "matrix") != 0)
        code = record_fail(VITALS_EFORMAT, "Prometheus", error, "its answer has an unknown form");
    else if ((series = memory_array(json_array_size(results) + 1, sizeof *series)) == NULL)
        code = record_no_memory("Prometheus", error);
    if (code == 0) {
        size_t count = gather(results, series);
        if (count > 1)
            qsort(series, count, sizeof *series, by_instance);
        if (drop_others(series, &count) < 0)
            code = record_no_memory("Prometheus", error);
        for (size_t from = 0, end; from < count; from = end) {
            for (end = from + 1;
                 end < count && strcmp(series[from].instance, series[end].instance) == 0;)
                end++;
            struct scraped_machine machine = {.series = &series[from], .count = end - from};
            long place = fleet_place_of(fleet, series[from].instance);
            if (place >= 0)
                read_machine(fleet, (size_t)place, &machine, now_ns);
        }
    }
    memory_free(series);
    json_decref(root);
    return code;
}
#else
int fleet_prometheus_read(struct fleet *fleet, vitals_text json, uint64_t now_ns,
                          vitals_error *error)
{
    (void)fleet, (void)json, (void)now_ns;
    return record_fail(VITALS_EUNSUPPORTED, "--prometheus", error, BUILT_WITHOUT_JSON);
}
#endif
