/* mlflow_points.c: see mlflow.h. */
#include "export/mlflow/mlflow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

#define MEGABYTE 1e6       /* MLflow's megabyte */
#define MEBIBYTE 1048576.0 /* ProcessMetricsMonitor's megabyte */

enum { KEY = 300, DEVICE_NAME = 64 };

/* One measure of one subject. */
struct mlflow_series {
    bool known;     /* there was a value */
    unsigned count; /* samples of this window that have the value */
    double sum, most, last;
    double account; /* of a counter, if it is above the last sample; else 0 */
};

struct mlflow_subject {
    vitals_scope scope;
    char *subject;
    char name[DEVICE_NAME]; /* of a device: "gpu_0", or "gpu_1_0" for a partition, as the label of
                               its row; "" until it is named */
    struct mlflow_series series[USAGE_MEASURES];
};

struct mlflow_points {
    struct mlflow_points_options options;
    double group_memory_bytes, group_cpus; /* limits of our cgroup, as far as known; 0: none */
    bool group_known, group_late;          /* late: there may be limits that were not read yet */
    bool group_written, cores_written;
    struct mlflow_subject *subjects;
    size_t count, capacity;
    unsigned samples;                    /* in this window */
    bool counted;                        /* the account has more than was written */
    uint64_t begin_ns, last_ns, last_ms; /* the last point and the newest sample; monotonic; 1970 */
    double cpu_seconds;                  /* of the processes, at the last point */
    bool has_cpu_seconds;
    double cores;        /* 100 % of the CPU usage, the same for all points; 0: not known yet */
    uint64_t written_ms; /* of the last point */
    uint64_t step;       /* of the next */
};

struct mlflow_points *mlflow_points_new(const struct mlflow_points_options *options)
{
    struct mlflow_points *points = calloc(1, sizeof *points);
    if (points != NULL)
        points->options = *options;
    return points;
}

void mlflow_points_free(struct mlflow_points *points)
{
    if (points == NULL)
        return;
    for (size_t i = 0; i < points->count; i++)
        free(points->subjects[i].subject);
    memory_free(points->subjects);
    free(points);
}

/* ---- adding samples ---- */

/* Returns the subject, which is added if it is new. NULL if there are too many, or memory is out.
 */
static struct mlflow_subject *take_subject(struct mlflow_points *points,
                                           const struct usage_line_subject *from)
{
    for (size_t i = 0; i < points->count; i++) {
        struct mlflow_subject *subject = &points->subjects[i];
        if (subject->scope == from->scope && strcmp(subject->subject, from->subject) == 0)
            return subject;
    }
    if (points->count == USAGE_SUBJECTS ||
        MEMORY_GROW(points->subjects, points->capacity, points->count) != 0)
        return NULL;
    char *copy = strdup(from->subject);
    if (copy == NULL)
        return NULL;
    struct mlflow_subject *added = &points->subjects[points->count++];
    *added = (struct mlflow_subject){.scope = from->scope, .subject = copy};
    return added;
}

/* Returns the series of the only subject of a scope; NULL if this window has no value of it. */
static const struct mlflow_series *find(const struct mlflow_points *points, vitals_scope scope,
                                        vitals_measure measure)
{
    for (size_t i = 0; i < points->count; i++) {
        const struct mlflow_series *series = &points->subjects[i].series[measure];
        if (points->subjects[i].scope == scope)
            return series->count > 0 ? series : NULL;
    }
    return NULL;
}

bool mlflow_points_add(struct mlflow_points *points, const struct usage_line *usage)
{
    /* A sampler is a few ms early or late: a window that is short by less is complete. */
    enum { SLACK_PARTS = 20, SLACK_MOST_NS = 50000000 };
    uint64_t now = usage->monotonic_ns, ms = usage->realtime_ns / 1000000;
    if (now == 0 || ms == 0 || now <= points->last_ns)
        return false;
    for (size_t i = 0; i < usage->count; i++) {
        struct mlflow_subject *subject = take_subject(points, &usage->subjects[i]);
        for (size_t m = 0; subject != NULL && m < USAGE_MEASURES; m++) {
            const struct usage_figure *figure = &usage->subjects[i].figures[m];
            struct mlflow_series *series = &subject->series[m];
            if (!usage_is_new(figure->state))
                continue;
            series->most = series->count == 0 || figure->value > series->most ? figure->value
                                                                              : series->most;
            series->sum += figure->value;
            series->last = figure->value;
            series->count++;
            series->known = true;
        }
    }
    points->last_ns = now;
    points->last_ms = ms;
    points->samples++;
    uint64_t slack = points->options.period_ns / SLACK_PARTS;
    slack = slack < SLACK_MOST_NS ? slack : SLACK_MOST_NS;
    return points->begin_ns == 0 || now - points->begin_ns + slack >= points->options.period_ns;
}

void mlflow_points_end(struct mlflow_points *points, const json_t *figures, uint64_t ms)
{
    for (size_t i = 0; i < json_array_size(figures); i++) {
        const json_t *figure = json_array_get(figures, i),
                     *value = json_object_get(figure, "value");
        const char *name = json_string_value(json_object_get(figure, "name"));
        double number = json_number_value(value);
        if (name == NULL || json_object_get(figure, "subject") != NULL || !json_is_number(value))
            continue;
        size_t measure = (size_t)vitals_measure_find(name);
        for (size_t s = 0; s < points->count && measure < USAGE_MEASURES; s++) {
            struct mlflow_series *series = &points->subjects[s].series[measure];
            if (points->subjects[s].scope == VITALS_SCOPE_TREE && series->known &&
                vitals_measure_is_counter((vitals_measure)measure) && number > series->last) {
                series->account = number;
                points->counted = true;
            }
        }
    }
    if (points->samples == 0 && ms > points->last_ms)
        points->last_ms = ms;
    if (ms == 0 || ms >= points->last_ms)
        return;
    uint64_t late_ns = (points->last_ms - ms) * 1000000;
    if (points->last_ns < late_ns || points->last_ns - late_ns <= points->begin_ns)
        return;
    points->last_ns -= late_ns;
    points->last_ms = ms;
}

bool mlflow_points_waiting(const struct mlflow_points *points)
{
    return points->samples > 0 || points->counted;
}

uint64_t mlflow_points_newest_ms(const struct mlflow_points *points)
{
    return points->last_ms;
}

/* ---- writing ---- */

/* One point of a window. */
struct mlflow_point {
    const struct mlflow_points *points;
    struct mlflow_batch *batch;
    const vitals_snapshot *snapshot; /* NULL if there is none */
    uint64_t ms, step;
};

/* Writes a metric: of the processes below the prefix, of the machine at MLflow's own place. */
static void put(const struct mlflow_point *point, bool processes, const char *name, double value)
{
    char key[2 * KEY];
    const struct mlflow_points_options *options = &point->points->options;
    if (processes)
        (void)snprintf(key, sizeof key, "%s%s", options->prefix, name);
    else
        (void)snprintf(key, sizeof key, "system/%s%s%s", options->node != NULL ? options->node : "",
                       options->node != NULL ? "/" : "", name);
    mlflow_batch_metric(point->batch, key, value, point->ms, point->step);
}

static void put_gauge(const struct mlflow_point *point, bool processes, const char *name,
                      const struct mlflow_series *series, double scale, bool peak)
{
    char with_peak[KEY + sizeof "_max"];
    put(point, processes, name, series->sum / series->count * scale);
    if (!peak)
        return;
    (void)snprintf(with_peak, sizeof with_peak, "%s_max", name);
    put(point, processes, with_peak, series->most * scale);
}

/* Measures with a name and unit of MLflow's or of ProcessMetricsMonitor's. The name of a device's
 * metric begins with the device's. */
// clang-format off
static const struct mlflow_rule {
    vitals_scope scope;
    vitals_measure measure;
    const char *name;
    double scale;
} RULES[] = {
    {VITALS_SCOPE_SYSTEM, VITALS_MEASURE_CPU_RATIO, "cpu_utilization_percentage", 100},
    {VITALS_SCOPE_SYSTEM, VITALS_MEASURE_MEMORY_USED_BYTES, "system_memory_usage_megabytes", 1 / MEGABYTE},
    {VITALS_SCOPE_SYSTEM, VITALS_MEASURE_NETWORK_RECEIVED_BYTES, "network_receive_megabytes", 1 / MEGABYTE},
    {VITALS_SCOPE_SYSTEM, VITALS_MEASURE_NETWORK_TRANSMITTED_BYTES, "network_transmit_megabytes", 1 / MEGABYTE},
    {VITALS_SCOPE_GPU, VITALS_MEASURE_DEVICE_UTILIZATION_RATIO, "utilization_percentage", 100},
    {VITALS_SCOPE_GPU, VITALS_MEASURE_DEVICE_MEMORY_USED_BYTES, "memory_usage_megabytes", 1 / MEGABYTE},
    {VITALS_SCOPE_GPU, VITALS_MEASURE_DEVICE_POWER_WATTS, "power_usage_watts", 1},
    {VITALS_SCOPE_TREE, VITALS_MEASURE_MEMORY_RESIDENT_BYTES, "memory_rss_megabytes", 1 / MEBIBYTE},
    {VITALS_SCOPE_TREE, VITALS_MEASURE_MEMORY_VIRTUAL_BYTES, "memory_vms_megabytes", 1 / MEBIBYTE},
    {VITALS_SCOPE_TREE, VITALS_MEASURE_MEMORY_PRIVATE_BYTES, "memory_uss_megabytes", 1 / MEBIBYTE},
    {VITALS_SCOPE_TREE, VITALS_MEASURE_THREADS, "num_threads", 1},
    {VITALS_SCOPE_TREE, VITALS_MEASURE_DESCRIPTORS, "num_fds", 1},
    {VITALS_SCOPE_TREE, VITALS_MEASURE_DISK_READ_BYTES, "io_read_megabytes", 1 / MEBIBYTE},
    {VITALS_SCOPE_TREE, VITALS_MEASURE_DISK_WRITTEN_BYTES, "io_write_megabytes", 1 / MEBIBYTE},
};
// clang-format on

/* Writes the value of a counter, or the mean and peak of a gauge. */
static void put_series(const struct mlflow_point *point, const struct mlflow_subject *subject,
                       vitals_measure measure)
{
    const struct mlflow_series *series = &subject->series[measure];
    const struct mlflow_rule *rule = NULL;
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0] && rule == NULL; i++) {
        if (RULES[i].measure == measure && RULES[i].scope == subject->scope)
            rule = &RULES[i];
    }

    /* Examples: gpu_0_utilization_percentage, gpu_0_energy_joules; of the processes, on devices
     * measures named gpu_…: gpu_0_memory_bytes. */
    const char *plain = rule != NULL ? rule->name : vitals_measure_name(measure);
    bool of_gpu = subject->scope == VITALS_SCOPE_GPU, begins = strncmp(plain, "gpu_", 4) == 0;
    bool processes = subject->scope == VITALS_SCOPE_TREE || (rule == NULL && of_gpu && begins);
    char name[KEY];
    if (rule == NULL && of_gpu)
        plain += begins ? 4 : strncmp(plain, "device_", 7) == 0 ? 7 : 0;
    (void)snprintf(name, sizeof name, "%s%s%s", subject->name, of_gpu ? "_" : "", plain);

    double scale = rule != NULL ? rule->scale : 1;
    double newest = series->account > series->last ? series->account : series->last;
    if (vitals_measure_is_counter(measure))
        put(point, processes, name, newest * scale);
    else
        put_gauge(point, processes, name, series, scale,
                  rule != NULL ||
                      (subject->scope != VITALS_SCOPE_SYSTEM && strstr(plain, "_total_") == NULL));
}

/* ---- shares ---- */

/* A late value is not known yet; a known one stays until another is read. */
static bool take_limit(vitals_availability is, double value, double *limit)
{
    if (is == VITALS_NOT_YET || is == VITALS_TIMED_OUT)
        return false;
    *limit = is > 0 ? value : 0;
    return true;
}

/* Reads the limits of our cgroup, if they apply to the processes too. */
static void look_at_group(struct mlflow_points *points, const struct mlflow_point *point)
{
    const vitals_row *host = NULL, *row = NULL;
    vitals_text ours, theirs;
    uint64_t bytes = 0;
    double cores = 0;
    if (point->snapshot != NULL)
        host = vitals_snapshot_next(point->snapshot, VITALS_TABLE_HOST, NULL);
    if (host == NULL)
        return;
    if (points->options.pid != 0) {
        row = vitals_snapshot_find_pid(point->snapshot, points->options.pid);
        if (row == NULL || vitals_row_text(host, VITALS_HOST_CGROUP_PATH, &ours) <= 0 ||
            vitals_row_text(row, VITALS_PROCESS_CGROUP, &theirs) <= 0)
            return;
        if (ours.size > 0 && ours.bytes[ours.size - 1] == '/')
            ours.size--;
        if (theirs.size < ours.size || memcmp(theirs.bytes, ours.bytes, ours.size) != 0 ||
            (theirs.size > ours.size && theirs.bytes[ours.size] != '/'))
            return; /* not below ours */
    }

    vitals_availability memory = vitals_row_u64(host, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES,
                                                &bytes);
    vitals_availability cpus = vitals_row_f64(host, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, &cores);
    bool both = take_limit(memory, (double)bytes, &points->group_memory_bytes);
    both = take_limit(cpus, cores, &points->group_cpus) && both;
    points->group_known |= both;
    points->group_late = !points->group_known;
}

static void put_share(const struct mlflow_point *point, bool processes, const char *name,
                      const struct mlflow_series *of, double whole)
{
    if (of != NULL && whole > 0)
        put_gauge(point, processes, name, of, 100 / whole, true);
}

/* Writes the CPU time over the window, and the peak of the samples, of the requested cores, else
 * the cgroup's, else one. Uses samples only: the account's additional time may be of any part of
 * the run. */
static void put_cpu(struct mlflow_points *points, const struct mlflow_point *point)
{
    const struct mlflow_series *seconds = find(points, VITALS_SCOPE_TREE,
                                               VITALS_MEASURE_CPU_SECONDS);
    const struct mlflow_series *cores = find(points, VITALS_SCOPE_TREE, VITALS_MEASURE_CPU_CORES);
    double wall = (double)(points->last_ns - points->begin_ns) * 1e-9;
    if (points->cores <= 0 && points->options.cpus <= 0 && points->group_late)
        return;
    if (points->cores <= 0)
        points->cores = points->options.cpus > 0 ? points->options.cpus
                        : points->group_cpus > 0 ? points->group_cpus
                                                 : 1;
    double whole = points->cores;
    if (seconds != NULL && points->has_cpu_seconds && points->begin_ns > 0 && wall > 0 &&
        seconds->last >= points->cpu_seconds)
        put(point, true, "cpu_usage_percentage",
            (seconds->last - points->cpu_seconds) / wall * (100 / whole));
    if (cores != NULL)
        put(point, true, "cpu_usage_percentage_max", cores->most * (100 / whole));
}

/* Writes shares of memory and power. */
static void put_shares(const struct mlflow_point *point)
{
    const struct mlflow_points *points = point->points;
    const struct mlflow_series *total = find(points, VITALS_SCOPE_SYSTEM,
                                             VITALS_MEASURE_MEMORY_TOTAL_BYTES);
    double machine = total != NULL ? total->last : 0;
    put_share(point, false, "system_memory_usage_percentage",
              find(points, VITALS_SCOPE_SYSTEM, VITALS_MEASURE_MEMORY_USED_BYTES), machine);

    /* A share of the requested limit, else of the lower of the cgroup's limit and the machine's
     * memory. */
    double group = points->group_memory_bytes, memory = points->options.memory_bytes;
    if (memory <= 0 && !points->group_late)
        memory = group > 0 && (machine <= 0 || group < machine) ? group : machine;
    put_share(point, true, "memory_usage_percentage",
              find(points, VITALS_SCOPE_TREE, VITALS_MEASURE_MEMORY_RESIDENT_BYTES), memory);

    for (size_t i = 0; i < points->count; i++) {
        const struct mlflow_subject *gpu = &points->subjects[i];
        const struct mlflow_series *used = &gpu->series[VITALS_MEASURE_DEVICE_MEMORY_USED_BYTES];
        const struct mlflow_series *power = &gpu->series[VITALS_MEASURE_DEVICE_POWER_WATTS];
        const vitals_row *row;
        char name[KEY];
        double limit = 0;
        if (gpu->scope != VITALS_SCOPE_GPU)
            continue;
        total = &gpu->series[VITALS_MEASURE_DEVICE_MEMORY_TOTAL_BYTES];
        (void)snprintf(name, sizeof name, "%s_memory_usage_percentage", gpu->name);
        put_share(point, false, name, used->count > 0 ? used : NULL,
                  total->count > 0 ? total->last : 0);

        row = power->count > 0 ? usage_line_gpu(point->snapshot, gpu->subject) : NULL;
        (void)snprintf(name, sizeof name, "%s_power_usage_percentage", gpu->name);
        if (row != NULL && vitals_row_f64(row, VITALS_GPU_POWER_LIMIT_WATTS, &limit) > 0)
            put_share(point, false, name, power, limit);
    }
}

/* Writes the root file system, as df counts it. */
static void put_disk(const struct mlflow_point *point)
{
    const vitals_row *row = NULL;
    uint64_t used, available;
    vitals_text mount;
    while (point->snapshot != NULL &&
           (row = vitals_snapshot_next(point->snapshot, VITALS_TABLE_FILESYSTEM, row)) != NULL) {
        if (vitals_row_text(row, VITALS_FILESYSTEM_MOUNT_POINT, &mount) > 0 && mount.size == 1 &&
            mount.bytes[0] == '/')
            break;
    }
    if (row == NULL || vitals_row_u64(row, VITALS_FILESYSTEM_USED_BYTES, &used) <= 0 ||
        vitals_row_u64(row, VITALS_FILESYSTEM_AVAILABLE_BYTES, &available) <= 0)
        return;
    double all = (double)used + (double)available;
    put(point, false, "disk_usage_megabytes", (double)used / MEGABYTE);
    put(point, false, "disk_available_megabytes", (double)available / MEGABYTE);
    if (all > 0)
        put(point, false, "disk_usage_percentage", (double)used * 100 / all);
}

/* Writes what shares are of, once it is known. */
static void put_settings(struct mlflow_points *points, struct mlflow_batch *batch)
{
    if (points->cores > 0 && !points->cores_written)
        mlflow_batch_limit(batch, "vitals.cpu_usage_cores", points->cores);
    mlflow_batch_flush(batch);
    points->cores_written = points->cores > 0;
    if (points->group_known && !points->group_written) {
        mlflow_batch_limit(batch, "vitals.cgroup_memory_limit_bytes", points->group_memory_bytes);
        mlflow_batch_limit(batch, "vitals.cgroup_cpu_limit_cores", points->group_cpus);
    }
    mlflow_batch_flush(batch);
    points->group_written = points->group_known;
}

void mlflow_points_write(struct mlflow_points *points, struct sample *sample,
                         struct mlflow_batch *batch)
{
    struct mlflow_point point = {.points = points, .batch = batch, .step = points->step++};
    point.snapshot = sample_snapshot(sample);
    /* A clock that was set back must not give two points the same time. */
    point.ms = points->last_ms > points->written_ms ? points->last_ms : points->written_ms + 1;
    points->written_ms = point.ms;
    look_at_group(points, &point);
    size_t devices = 0;
    for (size_t i = 0; i < points->count; i++) {
        /* A device is named by its row's label, which is the driver's number however few devices
         * were chosen; by its own name if it has no row; by the order of the lines without a
         * snapshot. It keeps its first name. */
        struct mlflow_subject *gpu = &points->subjects[i];
        if (gpu->scope != VITALS_SCOPE_GPU)
            continue;
        size_t number = devices++;
        if (gpu->name[0] == '\0' && point.snapshot == NULL)
            (void)snprintf(gpu->name, DEVICE_NAME, "gpu_%zu", number);
        else if (gpu->name[0] == '\0')
            usage_line_gpu_name(point.snapshot, gpu->subject, gpu->name, DEVICE_NAME);
    }
    put_cpu(points, &point);
    for (size_t i = 0; i < points->count; i++) {
        const struct mlflow_subject *subject = &points->subjects[i];
        bool part = subject->scope == VITALS_SCOPE_ROOT ||
                    subject->scope == VITALS_SCOPE_DESCENDANTS;
        for (size_t m = 0; m < USAGE_MEASURES && !part; m++) {
            if (subject->series[m].count > 0 || subject->series[m].account > 0)
                put_series(&point, subject, (vitals_measure)m);
        }
    }
    put_shares(&point);
    if (points->samples > 0)
        put_disk(&point);
    mlflow_batch_flush(batch);
    put_settings(points, batch);

    const struct mlflow_series *seconds = find(points, VITALS_SCOPE_TREE,
                                               VITALS_MEASURE_CPU_SECONDS);
    if (seconds != NULL) {
        points->cpu_seconds = seconds->last;
        points->has_cpu_seconds = true;
    }
    points->begin_ns = points->last_ns;
    points->samples = 0;
    points->counted = false;
    for (size_t i = 0; i < points->count; i++) {
        for (size_t m = 0; m < USAGE_MEASURES; m++) {
            points->subjects[i].series[m].count = 0;
            points->subjects[i].series[m].sum = 0;
        }
    }
}
