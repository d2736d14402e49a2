/* mlflow_points.c: see mlflow_points.h. */
#include "export/mlflow/mlflow_points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/usage_line.h"
#include "util/memory.h"

#define MEGABYTE 1e6       /* MLflow's megabyte */
#define MEBIBYTE 1048576.0 /* ProcessMetricsMonitor's megabyte */

enum { MOST_SERIES = 4096, MOST_DEVICES = 256, KEY = 300, DEVICE_NAME = 64 };

/* One measure of one scope and subject. */
struct mlflow_series {
    char *scope, *subject, *measure;
    const struct mlflow_device *device; /* NULL if it is not of a device */
    bool counter;
    unsigned count; /* samples of this window that have the value */
    double sum, most, last;
    double account; /* of a counter, if it is above the last sample; else 0 */
};

/* "gpu_0", or "gpu_1_0" for a partition, as the label of its row; "" until it is named. */
struct mlflow_device {
    char *subject, name[DEVICE_NAME];
};

struct mlflow_points {
    struct mlflow_points_options options; /* its texts are not kept */
    char *prefix, *host;                  /* "system/process/", "system/" */
    struct mlflow_limits group;           /* of our cgroup, as far as known */
    bool group_known, group_late;         /* late: there may be limits that were not read yet */
    struct mlflow_series *series;
    size_t count, capacity;
    struct mlflow_device devices[MOST_DEVICES];
    size_t device_count;
    unsigned samples;                    /* in this window */
    bool counted;                        /* the account has more than was written */
    uint64_t begin_ns, last_ns, last_ms; /* the last point and the newest sample; monotonic; 1970 */
    double cpu_seconds;                  /* of the processes, at the last point */
    bool has_cpu_seconds;
    double cores;        /* 100 % of the CPU usage; 0: not known yet */
    uint64_t written_ms; /* of the last point */
    uint64_t step;       /* of the next */
};

/* ---- creation ---- */

struct mlflow_points *mlflow_points_new(const struct mlflow_points_options *options)
{
    struct mlflow_points *points = calloc(1, sizeof *points);
    struct buffer host = {.bytes = NULL};
    if (points == NULL)
        return NULL;

    points->prefix = strdup(options->prefix);
    buffer_string(&host, "system/");
    if (options->node != NULL)
        buffer_format(&host, "%s/", options->node);
    if (host.failed)
        buffer_done(&host);
    points->host = host.bytes;
    points->options = *options;
    if (points->prefix == NULL || points->host == NULL) {
        mlflow_points_free(points);
        return NULL;
    }
    return points;
}

void mlflow_points_free(struct mlflow_points *points)
{
    if (points == NULL)
        return;
    for (size_t i = 0; i < points->count; i++) {
        free(points->series[i].scope);
        free(points->series[i].subject);
        free(points->series[i].measure);
    }
    for (size_t i = 0; i < points->device_count; i++)
        free(points->devices[i].subject);
    memory_free(points->series);
    free(points->prefix);
    free(points->host);
    free(points);
}

/* ---- adding samples ---- */

static bool is(const struct mlflow_series *series, const char *scope, const char *subject,
               const char *measure)
{
    return strcmp(series->measure, measure) == 0 && strcmp(series->subject, subject) == 0 &&
           strcmp(series->scope, scope) == 0;
}

/* Returns the series, which is added if it is new. Lines keep their order, so the position in the
 * last line is tried first. NULL if there are too many, or memory is out. */
static struct mlflow_series *take_series(struct mlflow_points *points, size_t hint,
                                         const char *scope, const char *subject,
                                         const char *measure)
{
    if (hint < points->count && is(&points->series[hint], scope, subject, measure))
        return &points->series[hint];
    for (size_t i = 0; i < points->count; i++) {
        if (is(&points->series[i], scope, subject, measure))
            return &points->series[i];
    }

    if (points->count == MOST_SERIES ||
        MEMORY_GROW(points->series, points->capacity, points->count) != 0)
        return NULL;
    struct mlflow_device *device = NULL;
    if (strcmp(scope, "gpu") == 0) {
        size_t i = 0;
        while (i < points->device_count && strcmp(points->devices[i].subject, subject) != 0)
            i++;
        if (i == points->device_count) {
            char *copy = i < MOST_DEVICES ? strdup(subject) : NULL;
            if (copy == NULL)
                return NULL;
            points->devices[points->device_count++] = (struct mlflow_device){.subject = copy};
        }
        device = &points->devices[i];
    }
    vitals_measure number = vitals_measure_find(measure);
    struct mlflow_series series = {.scope = strdup(scope),
                                   .subject = strdup(subject),
                                   .measure = strdup(measure),
                                   .device = device,
                                   .counter = number != 0 && vitals_measure_is_counter(number)};
    if (series.scope == NULL || series.subject == NULL || series.measure == NULL) {
        free(series.scope);
        free(series.subject);
        free(series.measure);
        return NULL;
    }
    points->series[points->count] = series;
    return &points->series[points->count++];
}

static const struct mlflow_series *find(const struct mlflow_points *points, const char *scope,
                                        const char *subject, const char *measure)
{
    for (size_t i = 0; i < points->count; i++) {
        const struct mlflow_series *series = &points->series[i];
        if (is(series, scope, subject, measure))
            return series->count > 0 ? series : NULL;
    }
    return NULL;
}

bool mlflow_points_add(struct mlflow_points *points, const json_t *usage)
{
    /* A sampler is a few ms early or late: a window that is short by less is complete. */
    enum { SLACK_PARTS = 20, SLACK_MOST_NS = 50000000 };
    uint64_t now = usage_line_ns(usage, "monotonic_ns");
    uint64_t ms = usage_line_realtime_ns(usage) / 1000000;
    if (now == 0 || ms == 0 || now <= points->last_ns)
        return false;
    const json_t *values = json_object_get(usage, "values");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i); /* [SCOPE,SUBJECT,MEASURE,STATE,VALUE] */
        const char *scope = json_string_value(json_array_get(value, 0));
        const char *subject = json_string_value(json_array_get(value, 1));
        const char *measure = json_string_value(json_array_get(value, 2));
        const char *state = json_string_value(json_array_get(value, 3));
        const json_t *number = json_array_get(value, 4);
        if (scope == NULL || subject == NULL || measure == NULL || state == NULL ||
            !json_is_number(number) || !usage_line_is_new(vitals_availability_from_name(state)))
            continue;
        struct mlflow_series *series = take_series(points, i, scope, subject, measure);
        if (series == NULL)
            continue;
        double reading = json_number_value(number);
        series->most = series->count == 0 || reading > series->most ? reading : series->most;
        series->sum += reading;
        series->last = reading;
        series->count++;
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
        for (size_t s = 0; s < points->count; s++) {
            struct mlflow_series *series = &points->series[s];
            if (series->counter && is(series, "tree", "", name) && number > series->last) {
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
    const char *before = processes ? point->points->prefix : point->points->host;
    (void)snprintf(key, sizeof key, "%s%s", before, name);
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
static const struct mlflow_rule {
    const char *scope, *measure, *name;
    bool processes;
    double scale;
} RULES[] = {
    {"system", "cpu_ratio", "cpu_utilization_percentage", false, 100},
    {"system", "memory_used_bytes", "system_memory_usage_megabytes", false, 1 / MEGABYTE},
    {"system", "network_received_bytes", "network_receive_megabytes", false, 1 / MEGABYTE},
    {"system", "network_transmitted_bytes", "network_transmit_megabytes", false, 1 / MEGABYTE},
    {"gpu", "device_utilization_ratio", "utilization_percentage", false, 100},
    {"gpu", "device_memory_used_bytes", "memory_usage_megabytes", false, 1 / MEGABYTE},
    {"gpu", "device_power_watts", "power_usage_watts", false, 1},
    {"tree", "memory_resident_bytes", "memory_rss_megabytes", true, 1 / MEBIBYTE},
    {"tree", "memory_virtual_bytes", "memory_vms_megabytes", true, 1 / MEBIBYTE},
    {"tree", "memory_private_bytes", "memory_uss_megabytes", true, 1 / MEBIBYTE},
    {"tree", "threads", "num_threads", true, 1},
    {"tree", "descriptors", "num_fds", true, 1},
    {"tree", "disk_read_bytes", "io_read_megabytes", true, 1 / MEBIBYTE},
    {"tree", "disk_written_bytes", "io_write_megabytes", true, 1 / MEBIBYTE},
};

/* Writes the value of a counter, or the mean and peak of a gauge. */
static void put_series(const struct mlflow_point *point, const struct mlflow_series *series)
{
    const struct mlflow_rule *rule = NULL;
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0] && rule == NULL; i++) {
        if (strcmp(RULES[i].measure, series->measure) == 0 &&
            strcmp(RULES[i].scope, series->scope) == 0)
            rule = &RULES[i];
    }

    /* Examples: gpu_0_utilization_percentage, gpu_0_energy_joules; of the processes, on devices
     * measures named gpu_…: gpu_0_memory_bytes. */
    const char *plain = rule != NULL ? rule->name : series->measure;
    bool of_gpu = strcmp(series->scope, "gpu") == 0, begins = strncmp(plain, "gpu_", 4) == 0;
    bool processes = rule != NULL ? rule->processes
                                  : strcmp(series->scope, "tree") == 0 || (of_gpu && begins);
    char name[KEY];
    if (rule == NULL && series->device != NULL)
        plain += begins ? 4 : strncmp(plain, "device_", 7) == 0 ? 7 : 0;
    if (series->device != NULL)
        (void)snprintf(name, sizeof name, "%s_%s", series->device->name, plain);
    else
        (void)snprintf(name, sizeof name, "%s", plain);

    double scale = rule != NULL ? rule->scale : 1;
    double newest = series->account > series->last ? series->account : series->last;
    if (series->counter)
        put(point, processes, name, newest * scale);
    else
        put_gauge(point, processes, name, series, scale,
                  rule != NULL || (strcmp(series->scope, "system") != 0 &&
                                   strstr(series->measure, "_total_") == NULL));
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
    bool both = take_limit(memory, (double)bytes, &points->group.memory_bytes);
    both = take_limit(cpus, cores, &points->group.cpus) && both;
    points->group_known |= both;
    points->group_late = !points->group_known;
}

bool mlflow_points_limits(const struct mlflow_points *points, struct mlflow_limits *limits)
{
    *limits = points->group;
    return points->group_known;
}

double mlflow_points_cores(const struct mlflow_points *points)
{
    return points->cores;
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
    const struct mlflow_series *seconds = find(points, "tree", "", "cpu_seconds");
    const struct mlflow_series *cores = find(points, "tree", "", "cpu_cores");
    double wall = (double)(points->last_ns - points->begin_ns) * 1e-9;
    if (points->cores <= 0 && points->options.cpus <= 0 && points->group_late)
        return;
    if (points->cores <= 0)
        points->cores = points->options.cpus > 0 ? points->options.cpus
                        : points->group.cpus > 0 ? points->group.cpus
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
    const struct mlflow_series *total = find(points, "system", "system", "memory_total_bytes");
    double machine = total != NULL ? total->last : 0;
    put_share(point, false, "system_memory_usage_percentage",
              find(points, "system", "system", "memory_used_bytes"), machine);

    /* A share of the requested limit, else of the lower of the cgroup's limit and the machine's
     * memory. */
    double group = points->group.memory_bytes, memory = points->options.memory_bytes;
    if (memory <= 0 && !points->group_late)
        memory = group > 0 && (machine <= 0 || group < machine) ? group : machine;
    put_share(point, true, "memory_usage_percentage",
              find(points, "tree", "", "memory_resident_bytes"), memory);

    for (size_t i = 0; i < points->count; i++) {
        const struct mlflow_series *series = &points->series[i];
        char name[KEY];
        double limit = 0;
        if (series->count == 0 || series->device == NULL)
            continue;
        if (strcmp(series->measure, "device_memory_used_bytes") == 0) {
            total = find(points, "gpu", series->subject, "device_memory_total_bytes");
            (void)snprintf(name, sizeof name, "%s_memory_usage_percentage", series->device->name);
            put_share(point, false, name, series, total != NULL ? total->last : 0);
        } else if (strcmp(series->measure, "device_power_watts") == 0) {
            const vitals_row *row = usage_line_gpu(point->snapshot, series->subject);
            (void)snprintf(name, sizeof name, "%s_power_usage_percentage", series->device->name);
            if (row != NULL && vitals_row_f64(row, VITALS_GPU_POWER_LIMIT_WATTS, &limit) > 0)
                put_share(point, false, name, series, limit);
        }
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

void mlflow_points_write(struct mlflow_points *points, struct sample *sample,
                         struct mlflow_batch *batch)
{
    struct mlflow_point point = {.points = points, .batch = batch, .step = points->step++};
    point.snapshot = sample_snapshot(sample);
    /* A clock that was set back must not give two points the same time. */
    point.ms = points->last_ms > points->written_ms ? points->last_ms : points->written_ms + 1;
    points->written_ms = point.ms;
    look_at_group(points, &point);
    for (size_t i = 0; i < points->device_count; i++) {
        /* A device is named by its row's label, which is the driver's number however few devices
         * were chosen; by its own name if it has no row; by the order of the lines without a
         * snapshot. It keeps its first name. */
        struct mlflow_device *device = &points->devices[i];
        if (device->name[0] != '\0')
            continue;
        if (point.snapshot == NULL)
            (void)snprintf(device->name, DEVICE_NAME, "gpu_%zu", i);
        else
            usage_line_gpu_name(point.snapshot, device->subject, device->name, DEVICE_NAME);
    }
    put_cpu(points, &point);
    for (size_t i = 0; i < points->count; i++) {
        const struct mlflow_series *series = &points->series[i];
        if ((series->count > 0 || series->account > 0) && strcmp(series->scope, "root") != 0 &&
            strcmp(series->scope, "descendants") != 0)
            put_series(&point, series);
    }
    put_shares(&point);
    if (points->samples > 0)
        put_disk(&point);
    mlflow_batch_flush(batch);

    const struct mlflow_series *seconds = find(points, "tree", "", "cpu_seconds");
    if (seconds != NULL) {
        points->cpu_seconds = seconds->last;
        points->has_cpu_seconds = true;
    }
    points->begin_ns = points->last_ns;
    points->samples = 0;
    points->counted = false;
    for (size_t i = 0; i < points->count; i++) {
        points->series[i].count = 0;
        points->series[i].sum = 0;
    }
}
