/* gpu_tracker.c: see foreign.h. Writes its CSV too, and a sub-tracking file beside it
 * (FILE.sub.csv) after the first mark. */
#include "record/foreign/foreign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/text.h"
#include "record/format.h"

#define PERCENT 100.0
#define GB      1e-9

// One column, one line.
// clang-format off
const struct gpu_tracker_column GPU_TRACKER_STATIC_COLUMNS[GPU_TRACKER_STATIC] = {
    {"ram_unit",                GPU_TRACKER_TEXT,  NULL, 0, 0, GT_AS_IT_IS, "gigabytes"},
    {"gpu_ram_unit",            GPU_TRACKER_TEXT,  NULL, 0, 0, GT_AS_IT_IS, "gigabytes"},
    {"time_unit",               GPU_TRACKER_TEXT,  NULL, 0, 0, GT_AS_IT_IS, "hours"},
    {"ram_system_capacity",     GPU_TRACKER_REAL,  "memory_total_bytes", VITALS_SCOPE_SYSTEM, GB, GT_RAM, NULL},
    {"gpu_ram_system_capacity", GPU_TRACKER_REAL,  "device_memory_total_bytes", VITALS_SCOPE_SYSTEM, GB, GT_GPU_RAM, NULL},
    {"system_core_count",       GPU_TRACKER_WHOLE, NULL, 0, 1, GT_SYSTEM_CORES, NULL},
    {"n_expected_cores",        GPU_TRACKER_WHOLE, NULL, 0, 1, GT_CORES, NULL},
    {"system_gpu_count",        GPU_TRACKER_WHOLE, "devices", VITALS_SCOPE_SYSTEM, 1, GT_AS_IT_IS, NULL},
    {"n_expected_gpus",         GPU_TRACKER_WHOLE, NULL, 0, 1, GT_EXPECTED_GPUS, NULL},
};

const struct gpu_tracker_column GPU_TRACKER_DATA_COLUMNS[GPU_TRACKER_DATA] = {
    {"main_ram",            GPU_TRACKER_REAL,  "memory_both_bytes", VITALS_SCOPE_ROOT, GB, GT_RAM, NULL},
    {"descendants_ram",     GPU_TRACKER_REAL,  "memory_both_bytes", VITALS_SCOPE_DESCENDANTS, GB, GT_RAM, NULL},
    {"combined_ram",        GPU_TRACKER_REAL,  "memory_both_bytes", VITALS_SCOPE_TREE, GB, GT_RAM, NULL},
    {"system_ram",          GPU_TRACKER_REAL,  "memory_used_bytes", VITALS_SCOPE_SYSTEM, GB, GT_RAM, NULL},
    {"main_gpu_ram",        GPU_TRACKER_REAL,  "gpu_memory_bytes", VITALS_SCOPE_ROOT, GB, GT_GPU_RAM, NULL},
    {"descendants_gpu_ram", GPU_TRACKER_REAL,  "gpu_memory_bytes", VITALS_SCOPE_DESCENDANTS, GB, GT_GPU_RAM, NULL},
    {"combined_gpu_ram",    GPU_TRACKER_REAL,  "gpu_memory_bytes", VITALS_SCOPE_TREE, GB, GT_GPU_RAM, NULL},
    {"system_gpu_ram",      GPU_TRACKER_REAL,  "device_memory_used_bytes", VITALS_SCOPE_SYSTEM, GB, GT_GPU_RAM, NULL},
    {"gpu_sum_utilization_percent",      GPU_TRACKER_REAL, "device_utilization_ratio", VITALS_SCOPE_SYSTEM, PERCENT, GT_AS_IT_IS, NULL},
    {"gpu_hardware_utilization_percent", GPU_TRACKER_REAL, "device_utilization_ratio", VITALS_SCOPE_SYSTEM, PERCENT, GT_GPUS, NULL},
    {"main_n_threads",        GPU_TRACKER_WHOLE, "threads", VITALS_SCOPE_ROOT, 1, GT_AS_IT_IS, NULL},
    {"descendants_n_threads", GPU_TRACKER_WHOLE, "threads", VITALS_SCOPE_DESCENDANTS, 1, GT_AS_IT_IS, NULL},
    {"combined_n_threads",    GPU_TRACKER_WHOLE, "threads", VITALS_SCOPE_TREE, 1, GT_AS_IT_IS, NULL},
    {"cpu_system_sum_utilization_percent",           GPU_TRACKER_REAL, "cpu_cores", VITALS_SCOPE_SYSTEM, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_system_hardware_utilization_percent",      GPU_TRACKER_REAL, "cpu_ratio", VITALS_SCOPE_SYSTEM, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_main_sum_utilization_percent",             GPU_TRACKER_REAL, "cpu_cores", VITALS_SCOPE_ROOT, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_main_hardware_utilization_percent",        GPU_TRACKER_REAL, "cpu_ratio", VITALS_SCOPE_ROOT, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_descendants_sum_utilization_percent",      GPU_TRACKER_REAL, "cpu_cores", VITALS_SCOPE_DESCENDANTS, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_descendants_hardware_utilization_percent", GPU_TRACKER_REAL, "cpu_ratio", VITALS_SCOPE_DESCENDANTS, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_combined_sum_utilization_percent",         GPU_TRACKER_REAL, "cpu_cores", VITALS_SCOPE_TREE, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_combined_hardware_utilization_percent",    GPU_TRACKER_REAL, "cpu_ratio", VITALS_SCOPE_TREE, PERCENT, GT_AS_IT_IS, NULL},
    {"timestamp",             GPU_TRACKER_REAL, NULL, 0, 0, GT_TIME, NULL},
};
// clang-format on

const char *const GPU_TRACKER_SUB_COLUMNS[4] = {"process_id", "code_block_name", "position",
                                                "timestamp"};

static double measured(const char *measure, vitals_scope scope, const struct record_sample *sample)
{
    const vitals_usage_value *value = sample_find(sample, measure, scope);
    return value != NULL && value->state > 0 ? value->value : 0;
}

/* Reads the host's row; returns 0 if the sample has no snapshot. The cores that are expected are
 * those that a share "of all" is of: as in usage_machine.c. */
static double cores_of(const struct record_sample *sample, bool expected)
{
    double cores = 0;
    const vitals_row *host = sample->snapshot != NULL
                                 ? vitals_snapshot_next(sample->snapshot, VITALS_TABLE_HOST, NULL)
                                 : NULL;
    bool known = host != NULL &&
                 ((expected && (vitals_row_number(host, VITALS_HOST_CPUS_ELIGIBLE, &cores) > 0 ||
                                vitals_row_number(host, VITALS_HOST_CPUS_USABLE, &cores) > 0)) ||
                  vitals_row_number(host, VITALS_HOST_CPUS, &cores) > 0);
    return known ? cores : 0;
}

/* The devices that are told of one by one (--devices), without their partitions. */
static double expected_gpus(const struct record_sample *sample)
{
    double count = 0;
    for (size_t i = 0; i < sample->count; i++) {
        const vitals_usage_value *value = sample->values[i];
        count += value->scope == VITALS_SCOPE_GPU && strncmp(value->subject, "MIG-", 4) != 0 &&
                 strcmp(vitals_measure_name(value->measure), "device_memory_total_bytes") == 0;
    }
    return count;
}

double gpu_tracker_value(const struct gpu_tracker_column *column,
                         const struct record_sample *sample, double expected_cores)
{
    double devices;
    switch (column->kind) {
    case GT_TIME: return (double)(sample->realtime_ns / 1000) / 1e6;
    case GT_CORES: return expected_cores > 0 ? expected_cores : cores_of(sample, true);
    case GT_SYSTEM_CORES: return cores_of(sample, false);
    case GT_EXPECTED_GPUS: return expected_gpus(sample);
    case GT_GPUS:
        devices = expected_gpus(sample);
        return devices > 0 ? measured(column->measure, column->scope, sample) * PERCENT / devices
                           : 0;
    case GT_AS_IT_IS:
    case GT_RAM:
    case GT_GPU_RAM: break;
    }
    return measured(column->measure, column->scope, sample) * column->scale;
}

void gpu_tracker_beside(const char *path, char *out, size_t capacity)
{
    const char *base = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot != NULL && (base == NULL || dot > base) ? (size_t)(dot - path) : strlen(path);
    (void)snprintf(out, capacity, "%.*s.sub%s", (int)stem, path, path + stem);
}

/* ---- writing ---- */

struct tracking_state {
    bool begun;
    struct text_file sub; /* valid only if `sub_open` */
    bool sub_open;
    char sub_path[4096];
};

static void put_titles(struct text_file *file, const struct gpu_tracker_column *columns,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_file_put(file, i > 0 ? "," : "");
        text_file_put(file, columns[i].name);
    }
}

static void put_values(struct recorder *recorder, const struct gpu_tracker_column *columns,
                       size_t count, const struct record_sample *sample)
{
    char words[NUMBER_WORDS];
    double cores = atof(recorder_attribute_text(recorder, "expected_cores"));
    for (size_t i = 0; i < count; i++) {
        const struct gpu_tracker_column *column = &columns[i];
        text_file_put(&recorder->file, i > 0 ? "," : "");
        if (column->type == GPU_TRACKER_TEXT) {
            text_file_put(&recorder->file, column->text);
            continue;
        }
        number_shortest(gpu_tracker_value(column, sample, cores), words);
        text_file_put(&recorder->file, words);
        if (column->type == GPU_TRACKER_REAL && strpbrk(words, ".e") == NULL)
            text_file_put(&recorder->file, ".0");
    }
}

/* Rates need two samples, so the first gives no row; gpu_tracker does the same. */
static int tracking_sample(struct recorder *recorder, const struct record_sample *sample,
                           vitals_error *error)
{
    struct tracking_state *state = recorder->state;
    if (state->begun) {
        put_values(recorder, GPU_TRACKER_DATA_COLUMNS, GPU_TRACKER_DATA, sample);
        return text_file_end_line(&recorder->file, error);
    }
    state->begun = true;
    put_titles(&recorder->file, GPU_TRACKER_STATIC_COLUMNS, GPU_TRACKER_STATIC);
    int code = text_file_end_line(&recorder->file, error);
    if (code < 0)
        return code;
    put_values(recorder, GPU_TRACKER_STATIC_COLUMNS, GPU_TRACKER_STATIC, sample);
    code = text_file_end_line(&recorder->file, error);
    if (code < 0)
        return code;
    put_titles(&recorder->file, GPU_TRACKER_DATA_COLUMNS, GPU_TRACKER_DATA);
    return text_file_end_line(&recorder->file, error);
}

static int tracking_mark(struct recorder *recorder, const vitals_mark *mark, uint64_t realtime_ns,
                         vitals_error *error)
{
    struct tracking_state *state = recorder->state;
    char words[64], safe[256];
    int code = 0;
    if (recorder->path == NULL)
        return 0; /* standard output has no place beside it */
    if (!state->sub_open) {
        gpu_tracker_beside(recorder->path, state->sub_path, sizeof state->sub_path);
        code = text_file_open(&state->sub, state->sub_path, recorder->options.overwrite, error);
        state->sub_open = code == 0;
        for (size_t i = 0; i < 4 && code == 0; i++) {
            text_file_put(&state->sub, i > 0 ? "," : "");
            text_file_put(&state->sub, GPU_TRACKER_SUB_COLUMNS[i]);
        }
        if (code == 0)
            code = text_file_end_line(&state->sub, error);
    }
    if (code < 0)
        return code;
    (void)vitals_text_format(vitals_text_of(mark->name), VITALS_TEXT_TERMINAL, safe, sizeof safe);
    (void)snprintf(words, sizeof words, "%lld,", (long long)mark->pid);
    text_file_put(&state->sub, words);
    text_file_field(&state->sub, safe, false);
    (void)snprintf(words, sizeof words, ",%d,%llu.%06llu", mark->begins ? 0 : 1,
                   (unsigned long long)(realtime_ns / 1000000000u),
                   (unsigned long long)(realtime_ns % 1000000000u / 1000u));
    text_file_put(&state->sub, words);
    return text_file_end_line(&state->sub, error);
}

static int tracking_end(struct recorder *recorder, vitals_error *error UNUSED)
{
    struct tracking_state *state = recorder->state;
    if (state->sub_open)
        text_file_close(&state->sub);
    state->sub_open = false;
    return 0;
}

const struct format FORMAT_GPU_TRACKER = {.name = "gpu-tracker",
                                          .state_size = sizeof(struct tracking_state),
                                          .text = true,
                                          .machine = true,
                                          .sample = tracking_sample,
                                          .end = tracking_end,
                                          .mark = tracking_mark,
                                          .beside = gpu_tracker_beside};
