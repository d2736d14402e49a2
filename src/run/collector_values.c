/* collector_values.c: see collector_values.h. */
#include "run/collector_values.h"

#include "util/memory.h"

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

/* ---- what is asked ---- */

static const vitals_metric WANTED[] = {
    VITALS_HOST_SWAP_TOTAL_BYTES, VITALS_HOST_LOAD_5M,
    VITALS_HOST_LOAD_15M,         VITALS_GPU_MEMORY_FREE_BYTES,
    VITALS_GPU_FAN_RATIO,         VITALS_GPU_MEMORY_BUSY_RATIO,
    VITALS_PROCESS_NAME,          VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO,
};

int collector_values_init(struct collector_values *values, vitals_error *error)
{
    *values = (struct collector_values){.count = 0};
    int code = vitals_request_new(0, &values->request, error);
    for (size_t i = 0; i < ARRAY_COUNT(WANTED) && code == 0; i++)
        code = vitals_request_add(values->request, WANTED[i], error);
    return code;
}

void collector_values_done(struct collector_values *values)
{
    usage_index_done(&values->subjects);
    memory_free(values->items);
    vitals_snapshot_unref(values->older);
    vitals_request_free(values->request);
}

/* ---- values ---- */

static vitals_usage_value *room(struct collector_values *values)
{
    if (memory_grow((void **)&values->items, &values->capacity, values->count,
                    sizeof(*values->items)) < 0) {
        values->failed = true;
        return NULL;
    }
    return &values->items[values->count++];
}

/* Whose a value is. */
struct owner {
    vitals_scope scope;
    const char *text, *label;
};

static void put(struct collector_values *values, struct owner owner, vitals_measure measure,
                struct collector_reading reading)
{
    vitals_usage_value *value = room(values);
    if (value == NULL)
        return;
    *value = (vitals_usage_value){.measure = measure,
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

/* A part of a whole. Of nothing there is no share. */
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

void collector_subject_hold(const char *subject)
{
    subject_of(subject)->holders++;
}

void collector_subject_release(const char *subject)
{
    subject_of(subject)->holders--;
}

uint64_t collector_subject_began_ns(const char *subject)
{
    return subject_of(subject)->began_ns;
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
        if (subject == NULL) {
            values->failed = true;
            return NULL;
        }
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
         (row = vitals_snapshot_next_child(snapshot, VITALS_GPU_PROCESS, vitals_row_key(gpu),
                                           row)) != NULL;) {
        uint64_t key = 0;
        bool ours = vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) > 0 &&
                    usage_is_member(usage, key);
        const vitals_row *process = ours ? vitals_snapshot_find(snapshot, VITALS_PROCESS, key)
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

void collector_values_take(struct collector_values *values, const vitals_snapshot *snapshot,
                           const vitals_usage *usage)
{
    const struct owner machine = {VITALS_SCOPE_SYSTEM, "system", ""};
    size_t count;
    const vitals_usage_value *known = vitals_usage_values(usage, &count);
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_HOST, NULL), *row = NULL;
    values->count = 0;
    values->seen_count = 0;
    values->failed = false;
    values->sample++;
    for (size_t i = 0; i < count; i++) {
        vitals_usage_value *value = room(values);
        if (value != NULL)
            *value = known[i];
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
                                    ? vitals_snapshot_find(snapshot, VITALS_GPU, device->key)
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

void collector_values_forget(struct collector_values *values)
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
