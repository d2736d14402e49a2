/* otlp_usage.c: see otlp.h. */
#include "export/otlp/otlp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "feed/rows.h"

enum { NAME = 96, FIGURES_MAX = 5000 };

void otlp_job_read(const json_t *job, uint64_t now_ns, struct otlp_job *out)
{
    json_int_t pid = json_integer_value(json_object_get(job, "pid"));
    uint64_t ns = usage_line_ns(job, "started_ns");
    *out = (struct otlp_job){.pid = pid > 0 ? pid : 0,
                             .started_ns = ns > 0 && ns <= now_ns ? ns : now_ns};
}

/* ---- the first process, by the conventions' names ---- */

static uint64_t number_of(const vitals_row *row, vitals_metric metric)
{
    uint64_t number;
    return vitals_row_u64(row, metric, &number) > 0 ? number : 0;
}

const vitals_row *otlp_job_process(struct otlp_job *job, const vitals_snapshot *snapshot)
{
    const vitals_row *first = NULL;
    double start, earliest = (double)INFINITY;
    if (job->pid > 0)
        return vitals_snapshot_find_pid(snapshot, job->pid);
    EACH_ROW(row, snapshot, VITALS_TABLE_PROCESS) {
        int64_t parent = (int64_t)number_of(row, VITALS_PROCESS_PARENT_PID);
        if (vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &start) <= 0 || start >= earliest ||
            (parent > 0 && vitals_snapshot_find_pid(snapshot, parent) != NULL))
            continue;
        earliest = start;
        first = row;
    }
    job->pid = first != NULL ? (int64_t)number_of(first, VITALS_PROCESS_PID) : 0;
    return first;
}

// One measure, one line.
// clang-format off
static const struct {
    struct otlp_metric as;
    vitals_measure measure;
    const char *key, *value;
} ROOT[] = {
    {{"process.cpu.time", "s", NULL, OTLP_COUNTER}, VITALS_MEASURE_CPU_USER_SECONDS, "cpu.mode", "user"},
    {{"process.cpu.time", "s", NULL, OTLP_COUNTER}, VITALS_MEASURE_CPU_SYSTEM_SECONDS, "cpu.mode", "system"},
    {{"process.memory.usage", "By", NULL, OTLP_UP_DOWN}, VITALS_MEASURE_MEMORY_RESIDENT_BYTES, NULL, NULL},
    {{"process.memory.virtual", "By", NULL, OTLP_UP_DOWN}, VITALS_MEASURE_MEMORY_VIRTUAL_BYTES, NULL, NULL},
    {{"process.disk.io", "By", NULL, OTLP_COUNTER}, VITALS_MEASURE_DISK_READ_BYTES, "disk.io.direction", "read"},
    {{"process.disk.io", "By", NULL, OTLP_COUNTER}, VITALS_MEASURE_DISK_WRITTEN_BYTES, "disk.io.direction", "write"},
    {{"process.thread.count", "{thread}", NULL, OTLP_UP_DOWN}, VITALS_MEASURE_THREADS, NULL, NULL},
    {{"process.unix.file_descriptor.count", "{file_descriptor}", NULL, OTLP_UP_DOWN}, VITALS_MEASURE_DESCRIPTORS, NULL, NULL},
    {{"process.context_switches", "{context_switch}", NULL, OTLP_COUNTER}, VITALS_MEASURE_VOLUNTARY_SWITCHES, "process.context_switch.type", "voluntary"},
    {{"process.context_switches", "{context_switch}", NULL, OTLP_COUNTER}, VITALS_MEASURE_INVOLUNTARY_SWITCHES, "process.context_switch.type", "involuntary"},
    {{"process.paging.faults", "{fault}", NULL, OTLP_COUNTER}, VITALS_MEASURE_MINOR_FAULTS, "system.paging.fault.type", "minor"},
    {{"process.paging.faults", "{fault}", NULL, OTLP_COUNTER}, VITALS_MEASURE_MAJOR_FAULTS, "system.paging.fault.type", "major"},
};
// clang-format on

struct usage_writing {
    struct otlp_writer *writer;
    struct counter_map *sums; /* NULL: sums count from the start of the job */
    const struct otlp_job *job;
    uint64_t time_ns;
};

/* `id` identifies a sum. Bytes and counts are integers. */
static void write_value(const struct usage_writing *writing, uint64_t id, double value,
                        const struct otlp_attributes *attributes)
{
    const struct otlp_metric *metric = &writing->writer->metric;
    struct otlp_point point = {
        .time_ns = writing->time_ns, .value = value, .attributes = attributes};
    bool counted = strcmp(metric->unit, "By") == 0 || metric->unit[0] == '{';
    point.whole = counted && strcmp(metric->unit, "{cpu}") != 0 && fabs(value) <= 0x1p53 &&
                  floor(value) == value;
    if (point.whole)
        point.integer = (int64_t)value;
    point.start_ns = writing->job->started_ns;
    if (metric->kind == OTLP_COUNTER && writing->sums != NULL)
        point.start_ns = otlp_sum_start(writing->sums, id, value, point.time_ns, point.start_ns);
    if (point.start_ns > point.time_ns)
        point.start_ns = point.time_ns;
    otlp_writer_point(writing->writer, &point);
}

static void write_root(const struct usage_writing *writing, const struct usage_line *line)
{
    const struct usage_line_subject *root = usage_line_find(line, VITALS_SCOPE_ROOT, NULL);
    for (size_t i = 0; i < sizeof ROOT / sizeof ROOT[0]; i++) {
        struct otlp_attributes attributes = {.count = 0};
        struct otlp_metric as = ROOT[i].as;
        double value;
        as.help = vitals_measure_help(ROOT[i].measure);
        if (i == 0 || strcmp(as.name, ROOT[i - 1].as.name) != 0)
            otlp_writer_metric(writing->writer, &as);
        if (usage_value(root, ROOT[i].measure, &value) <= 0)
            continue;
        if (writing->job->pid > 0)
            otlp_attribute_number(&attributes, "process.pid", writing->job->pid);
        if (ROOT[i].key != NULL)
            otlp_attribute_text(&attributes, ROOT[i].key, ROOT[i].value);
        write_value(writing, hash_join(i + 1, 1), value, &attributes);
    }
}

/* ---- the tree and its devices, by our own names ---- */

struct our_name {
    char name[NAME], unit[NAME];
};

static struct otlp_metric ours(struct our_name *made, const char *name, const char *unit,
                               const char *help, bool counter)
{
    (void)snprintf(made->name, sizeof made->name, "vitals.run.%.*s", (int)otlp_stem(name, unit),
                   name);
    return (struct otlp_metric){.name = made->name,
                                .unit = otlp_unit(unit, name, made->unit, sizeof made->unit),
                                .help = help,
                                .kind = counter ? OTLP_COUNTER : OTLP_GAUGE};
}

/* Exports per device only, if the line has values per device: their sum would count twice. */
static void write_measure(const struct usage_writing *writing, const struct usage_line *line,
                          vitals_measure measure)
{
    const char *name = vitals_measure_name(measure);
    struct our_name made;
    struct otlp_metric as = ours(&made, name, vitals_measure_unit(measure),
                                 vitals_measure_help(measure), vitals_measure_is_counter(measure));
    size_t devices = 0;
    bool by_device = false;
    double value;
    otlp_writer_metric(writing->writer, &as);
    for (size_t i = 0; i < line->count; i++) {
        struct otlp_attributes attributes = {.count = 0};
        const struct usage_line_subject *device = &line->subjects[i];
        if (device->scope != VITALS_SCOPE_GPU)
            continue;
        devices++;
        if (usage_value(device, measure, &value) <= 0)
            continue;
        by_device = true;
        otlp_attribute_safe(&attributes, "hw.id", vitals_text_of(device->subject));
        write_value(writing, hash_join(measure, 1 + devices), value, &attributes);
    }
    if (!by_device &&
        usage_value(usage_line_find(line, VITALS_SCOPE_TREE, NULL), measure, &value) > 0) {
        struct otlp_attributes attributes = {.count = 0};
        write_value(writing, hash_join(measure, 0), value, &attributes);
    }
}

void otlp_usage_write(struct otlp_writer *writer, struct counter_map *sums,
                      const struct usage_line *usage, const struct otlp_job *job)
{
    struct usage_writing writing = {
        .writer = writer, .sums = sums, .job = job, .time_ns = usage->realtime_ns};
    if (writing.time_ns == 0)
        return;
    write_root(&writing, usage);
    for (vitals_measure measure = 0; (measure = vitals_measure_next(measure)) != 0;)
        write_measure(&writing, usage, measure);
}

/* ---- the end ---- */

static bool has_name(const json_t *figure, const char *name)
{
    const char *own = json_string_value(json_object_get(figure, "name"));
    return own != NULL && strcmp(own, name) == 0;
}

/* Exports all figures of the name of the one at `first`, unless an earlier one has that name. */
static void write_figures(const struct usage_writing *writing, const json_t *figures, size_t first,
                          const struct usage_line *last)
{
    const json_t *figure = json_array_get(figures, first);
    const char *name = json_string_value(json_object_get(figure, "name"));
    const char *unit = json_string_value(json_object_get(figure, "unit"));
    vitals_measure measure = name != NULL ? vitals_measure_find(name) : 0;
    bool counter = measure != 0 && vitals_measure_is_counter(measure);
    /* The figure of the whole run differs from the gauge of that name. */
    bool valid = name != NULL && unit != NULL && (measure == 0 || counter);
    for (size_t i = 0; i < first && valid; i++)
        valid = !has_name(json_array_get(figures, i), name);
    if (!valid)
        return;
    struct our_name made;
    struct otlp_metric as = ours(&made, name, unit, vitals_measure_help(measure), counter);
    bool of_device = strncmp(name, "gpu_", 4) == 0 || strncmp(name, "device_", 7) == 0;
    otlp_writer_metric(writing->writer, &as);
    for (size_t i = first; i < json_array_size(figures); i++) {
        const json_t *one = json_array_get(figures, i), *number = json_object_get(one, "value");
        const char *subject = json_string_value(json_object_get(one, "subject"));
        struct otlp_attributes attributes = {.count = 0};
        double value = json_number_value(number), before;
        /* Writes the values of the tree, or of a device. */
        if (!has_name(one, name) || !json_is_number(number) ||
            (subject != NULL &&
             (!of_device || strcmp(subject, "system") == 0 || strcmp(subject, "root") == 0 ||
              strcmp(subject, "descendants") == 0)))
            continue;
        if (subject != NULL)
            otlp_attribute_safe(&attributes, "hw.id", vitals_text_of(subject));
        if (counter &&
            usage_value(usage_line_find(
                            last, subject != NULL ? VITALS_SCOPE_GPU : VITALS_SCOPE_TREE, subject),
                        measure, &before) > 0 &&
            before > value)
            value = before;
        write_value(writing, 0, value, &attributes);
    }
}

static void write_gauge(const struct usage_writing *writing, const char *name, const char *unit,
                        double value)
{
    static const struct otlp_attributes NONE = {.count = 0};
    struct otlp_metric as = {.name = name, .unit = unit, .kind = OTLP_GAUGE};
    otlp_writer_metric(writing->writer, &as);
    write_value(writing, 0, value, &NONE);
}

void otlp_account_write(struct otlp_writer *writer, const json_t *account,
                        const struct usage_line *last, const struct otlp_job *job, uint64_t now_ns)
{
    struct usage_writing writing = {.writer = writer, .job = job, .time_ns = now_ns};
    const json_t *figures = json_object_get(account, "figures");
    const json_t *code = json_object_get(account, "exit_code");
    for (size_t i = 0; i < json_array_size(figures) && i < FIGURES_MAX; i++)
        write_figures(&writing, figures, i, last);
    if (json_is_integer(code))
        write_gauge(&writing, "vitals.run.exit_code", "{code}", json_number_value(code));
    write_gauge(&writing, "vitals.run.start_time", "s", (double)job->started_ns / 1e9);
    write_gauge(&writing, "vitals.run.end_time", "s", (double)now_ns / 1e9);
}
