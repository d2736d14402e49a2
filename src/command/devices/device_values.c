/* device_values.c: see device_values.h. */
#include "command/devices/device_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define G(suffix) VITALS_GPU_##suffix

/* ---- labels ---- */

/* Where the metric's own name is not what a person would say. */
static const struct {
    vitals_metric metric;
    const char *label;
} LABELS[] = {
    {G(UUID), "UUID"},
    {G(PCI_BUS_ID), "PCI address"},
    {G(PCI_ID), "PCI vendor and device"},
    {G(PCI_SUBSYSTEM_ID), "PCI subsystem"},
    {G(VBIOS_VERSION), "firmware (VBIOS)"},
    {G(CUDA_VERSION), "newest CUDA served"},
    {G(NUMA_NODE), "NUMA node"},
    {G(LOCAL_CPUS), "nearest CPUs"},
    {G(MEMORY_BUS_BITS), "memory bus (bits)"},
    {G(INDEX), "number among its vendor's"},
    {G(MIG_MODE), "MIG mode"},
    {G(MIG_MODE_PENDING), "MIG mode after a reset"},
    {G(ECC_MODE), "ECC"},
    {G(ECC_MODE_PENDING), "ECC after a restart"},
    {G(GPU_INSTANCE_ID), "GPU instance"},
    {G(COMPUTE_INSTANCE_ID), "compute instance"},
    {G(MEMORY_TOTAL_BYTES), "total"},
    {G(MEMORY_USED_BYTES), "used"},
    {G(MEMORY_FREE_BYTES), "free"},
    {G(MEMORY_RESERVED_BYTES), "kept by the driver"},
    {G(UTILIZATION_RATIO), "utilization"},
    {G(MEMORY_BUSY_RATIO), "memory busy"},
    {G(BUSY_SECONDS), "busy since first seen"},
    {G(SM_ACTIVE_RATIO), "SMs active"},
    {G(SM_OCCUPANCY_RATIO), "SM occupancy"},
    {G(TENSOR_ACTIVE_RATIO), "tensor cores active"},
    {G(MEMORY_BANDWIDTH_RATIO), "memory bandwidth"},
    {G(POWER_WATTS), "now"},
    {G(POWER_LIMIT_WATTS), "limit in force"},
    {G(POWER_LIMIT_SET_WATTS), "limit that was set"},
    {G(POWER_LIMIT_DEFAULT_WATTS), "limit after a start"},
    {G(POWER_LIMIT_MIN_WATTS), "lowest limit"},
    {G(POWER_LIMIT_MAX_WATTS), "highest limit"},
    {G(ENERGY_JOULES), "energy (driver's life)"},
    {G(TEMPERATURE_CELSIUS), "core"},
    {G(FAN_RATIO), "fan (as intended)"},
    {G(THROTTLED_BY_POWER), "held down by power"},
    {G(THROTTLED_BY_TEMPERATURE), "held down by heat"},
    {G(THROTTLED_BY_CURRENT), "held down by current"},
    {G(THROTTLED_OTHERWISE), "held down otherwise"},
    {G(THROTTLE_REASONS), "the driver's reasons"},
    {G(THROTTLED_POWER_SECONDS), "so long by power"},
    {G(THROTTLED_THERMAL_SECONDS), "so long by heat"},
    {G(IDLE_RESIDENCY_SECONDS), "asleep in all"},
    {G(PCIE_GENERATION), "generation"},
    {G(PCIE_GENERATION_MAX), "highest generation"},
    {G(PCIE_WIDTH), "lanes"},
    {G(PCIE_WIDTH_MAX), "most lanes"},
    {G(PCIE_REPLAYS), "packets sent again"},
    {G(PCIE_RECEIVED_BYTES_PER_SECOND), "received"},
    {G(PCIE_TRANSMITTED_BYTES_PER_SECOND), "sent"},
    {G(ECC_ERRORS_CORRECTED), "corrected (driver's life)"},
    {G(ECC_ERRORS_UNCORRECTED), "uncorrected (driver's life)"},
    {G(ECC_ERRORS_CORRECTED_EVER), "corrected (ever)"},
    {G(ECC_ERRORS_UNCORRECTED_EVER), "uncorrected (ever)"},
    {G(RETIRED_PAGES_CORRECTED), "retired for corrected"},
    {G(RETIRED_PAGES_UNCORRECTED), "retired for uncorrected"},
    {G(RETIRED_PAGES_PENDING), "pages to be retired"},
    {G(REMAPPED_ROWS_CORRECTED), "remapped for corrected"},
    {G(REMAPPED_ROWS_UNCORRECTED), "remapped for uncorrected"},
    {G(REMAPPED_ROWS_PENDING), "rows to be remapped"},
    {G(REMAPPED_ROWS_FAILED), "a remapping has failed"},
    {G(XID_ERRORS), "Xid errors since opened"},
    {G(XID_LAST), "newest Xid"},
};

void device_label(vitals_metric metric, char out[static DEVICE_LABEL])
{
    static const char *const UNITS[] = {"bytes_per_second", "bytes", "seconds", "celsius", "watts",
                                        "joules",           "hertz", "volts",   "ratio",   "rpm"};
    for (size_t i = 0; i < sizeof LABELS / sizeof LABELS[0]; i++) {
        if (LABELS[i].metric == metric) {
            snprintf(out, DEVICE_LABEL, "%s", LABELS[i].label);
            return;
        }
    }
    const char *name = vitals_metric_name(metric);
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        size_t unit = strlen(UNITS[i]);
        if (strcmp(vitals_metric_unit(metric), UNITS[i]) == 0 && size > unit + 1 &&
            strcmp(name + size - unit, UNITS[i]) == 0)
            size -= unit + 1;
    }
    snprintf(out, DEVICE_LABEL, "%.*s", (int)size, name);
    for (char *c = out; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
}

/* ---- values ---- */

/* What is 0 or 1 and no count. */
static const struct {
    vitals_metric metric;
    const char *words[2];
} SWITCHES[] = {
    {G(PERSISTENCE_MODE), {"off", "on"}},         {G(DISPLAY_ACTIVE), {"no", "yes"}},
    {G(DISPLAY_ATTACHED), {"no", "yes"}},         {G(MIG_MODE), {"off", "on"}},
    {G(MIG_MODE_PENDING), {"off", "on"}},         {G(ECC_MODE), {"off", "on"}},
    {G(ECC_MODE_PENDING), {"off", "on"}},         {G(ACCOUNTING_MODE), {"off", "on"}},
    {G(UNIFIED_MEMORY), {"no", "yes"}},           {G(THROTTLED_BY_POWER), {"no", "yes"}},
    {G(THROTTLED_BY_TEMPERATURE), {"no", "yes"}}, {G(THROTTLED_BY_CURRENT), {"no", "yes"}},
    {G(THROTTLED_OTHERWISE), {"no", "yes"}},      {G(RETIRED_PAGES_PENDING), {"no", "yes"}},
    {G(REMAPPED_ROWS_PENDING), {"no", "yes"}},    {G(REMAPPED_ROWS_FAILED), {"no", "yes"}},
    {VITALS_GPU_LINK_ACTIVE, {"no", "yes"}},
};

static const char *switch_word(vitals_metric metric, double number)
{
    for (size_t i = 0; i < sizeof SWITCHES / sizeof SWITCHES[0]; i++) {
        if (SWITCHES[i].metric == metric && (number == 0 || number == 1))
            return SWITCHES[i].words[number > 0];
    }
    return NULL;
}

/* How much of a unit a person wants to see. */
static void put_bytes(double number, bool ascii, char *out)
{
    (void)ascii;
    (void)vitals_human_bytes(number > 0 ? (uint64_t)number : 0, out);
}

static void put_rate(double number, bool ascii, char *out)
{
    put_bytes(number, ascii, out);
    size_t size = strlen(out);
    snprintf(out + size, DEVICE_VALUE - size, "/s");
}

static void put_percent(double number, bool ascii, char *out)
{
    (void)ascii;
    snprintf(out, DEVICE_VALUE, number < 0.0995 && number > 0 ? "%.1f %%" : "%.0f %%",
             number * 100);
}

static void put_duration(double number, bool ascii, char *out)
{
    (void)ascii;
    if (number < 60)
        snprintf(out, DEVICE_VALUE, number < 10 ? "%.3f s" : "%.1f s", number);
    else
        (void)vitals_human_duration(number, out);
}

static void put_celsius(double number, bool ascii, char *out)
{
    snprintf(out, DEVICE_VALUE, ascii ? "%.0f C" : "%.0f °C", number);
}

static void put_watts(double number, bool ascii, char *out)
{
    (void)ascii;
    snprintf(out, DEVICE_VALUE, number > 0 && number < 10 ? "%.1f W" : "%.0f W", number);
}

static void put_joules(double number, bool ascii, char *out)
{
    (void)ascii;
    const double KWH = 3600000;
    if (number >= KWH / 100)
        snprintf(out, DEVICE_VALUE, number < KWH * 100 ? "%.2f kWh" : "%.0f kWh", number / KWH);
    else
        snprintf(out, DEVICE_VALUE, "%.0f J", number);
}

static void put_hertz(double number, bool ascii, char *out)
{
    (void)ascii;
    snprintf(out, DEVICE_VALUE, "%.0f MHz", number / 1e6);
}

static void put_volts(double number, bool ascii, char *out)
{
    (void)ascii;
    snprintf(out, DEVICE_VALUE, "%.3f V", number);
}

static void put_rpm(double number, bool ascii, char *out)
{
    (void)ascii;
    snprintf(out, DEVICE_VALUE, "%.0f rpm", number);
}

static const struct {
    const char *unit;
    void (*put)(double number, bool ascii, char *out);
} UNITS[] = {
    {"bytes", put_bytes},      {"bytes_per_second", put_rate}, {"ratio", put_percent},
    {"seconds", put_duration}, {"celsius", put_celsius},       {"watts", put_watts},
    {"joules", put_joules},    {"hertz", put_hertz},           {"volts", put_volts},
    {"rpm", put_rpm},
};

static void put_number(vitals_metric metric, double number, const struct settings *settings,
                       char out[static DEVICE_VALUE])
{
    const char *word = switch_word(metric, number);
    const char *unit = vitals_metric_unit(metric);
    if (word != NULL) {
        snprintf(out, DEVICE_VALUE, "%s", word);
        return;
    }
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (strcmp(UNITS[i].unit, unit) != 0)
            continue;
        if (settings->table.bytes && strcmp(unit, "bytes") == 0)
            break;
        UNITS[i].put(number, settings->look.ascii, out);
        return;
    }
    snprintf(out, DEVICE_VALUE, metric == G(PERFORMANCE_STATE) ? "P%.0f" : "%.0f", number);
}

/* What the driver only counts. */
static vitals_metric counter_of(vitals_metric metric)
{
    static const struct {
        vitals_metric share, counter;
    } PAIRS[] = {
        {G(UTILIZATION_RATIO), G(BUSY_SECONDS)},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, VITALS_GPU_ENGINE_BUSY_SECONDS},
        {VITALS_GPU_PROCESS_UTILIZATION_RATIO, VITALS_GPU_PROCESS_BUSY_SECONDS},
    };
    for (size_t i = 0; i < sizeof PAIRS / sizeof PAIRS[0]; i++) {
        if (PAIRS[i].share == metric)
            return PAIRS[i].counter;
    }
    return 0;
}

vitals_availability device_print_number(const vitals_row *row, const vitals_snapshot *older,
                                        vitals_metric metric, double *out)
{
    vitals_availability own = vitals_row_number(row, metric, out);
    vitals_metric counter = counter_of(metric);
    if (own > 0 || counter == 0 || older == NULL)
        return own;
    vitals_availability rate = vitals_row_rate(row, older, counter, out);
    return rate > 0 ? rate : own;
}

vitals_availability device_value(const vitals_row *row, const vitals_snapshot *older,
                                 vitals_metric metric, const struct settings *settings,
                                 char out[static DEVICE_VALUE])
{
    vitals_availability availability;
    if (vitals_metric_type(metric) == VITALS_TEXT) {
        vitals_text text;
        availability = vitals_row_text(row, metric, &text);
        vitals_text_form form = settings->look.ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL;
        if (availability > 0 && text.size > 0)
            (void)vitals_text_format(text, form, out, DEVICE_VALUE);
        else if (availability > 0)
            snprintf(out, DEVICE_VALUE, "none");
    } else {
        double number;
        availability = device_print_number(row, older, metric, &number);
        if (availability > 0)
            put_number(metric, number, settings, out);
    }
    if (availability <= 0)
        snprintf(out, DEVICE_VALUE, "N/A");
    return availability;
}

bool device_is_number(vitals_metric metric)
{
    return vitals_metric_type(metric) != VITALS_TEXT;
}

/* ---- which devices ---- */

static void add_key(struct device_list *list, uint64_t key)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->keys[i] == key)
            return;
    }
    list->keys[list->count++] = key;
}

int device_list(const vitals_snapshot *snapshot, const struct settings_words *words,
                struct device_list *out)
{
    size_t most = words->count + vitals_snapshot_count(snapshot, VITALS_GPU) + 1;
    int code = EXIT_DONE;
    *out = (struct device_list){.keys = calloc(most, sizeof *out->keys), .all = words->count == 0};
    if (out->keys == NULL)
        return command_fail(EXIT_CANNOT, "out of memory");
    for (const vitals_row *row = NULL;
         out->all && (row = vitals_snapshot_next(snapshot, VITALS_GPU, row)) != NULL;)
        out->keys[out->count++] = vitals_row_key(row);
    for (size_t i = 0; i < words->count; i++) {
        const vitals_row *row;
        vitals_error error;
        if (vitals_gpu_find(snapshot, words->items[i], &row, &error) == 0)
            add_key(out, vitals_row_key(row));
        else
            code = command_fail(EXIT_CANNOT, "%s", error.message);
    }
    return code;
}

void device_list_done(struct device_list *list)
{
    free(list->keys);
    *list = (struct device_list){0};
}

static bool has_key(const struct device_list *list, uint64_t key)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->keys[i] == key)
            return true;
    }
    return false;
}

static bool has_device(const struct device_list *list, const vitals_row *device)
{
    return has_key(list, vitals_row_key(device)) || has_key(list, vitals_row_parent(device));
}

bool device_list_has(const struct device_list *list, const vitals_row *row)
{
    if (list->all)
        return true;
    if (vitals_row_entity(row) == VITALS_GPU)
        return has_device(list, row);
    const vitals_row *device = vitals_snapshot_find(vitals_row_snapshot(row), VITALS_GPU,
                                                    vitals_row_parent(row));
    return device != NULL && has_device(list, device);
}
