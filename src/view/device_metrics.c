/* device_metrics.c: see device_metrics.h. */
#include "view/device_metrics.h"

#include <stdio.h>
#include <string.h>

#include "util/base.h"

#define G(suffix) VITALS_GPU_##suffix

// clang-format off
#define ENGINE(suffix) VITALS_GPU_ENGINE_##suffix
#define CLOCK(suffix)  VITALS_GPU_CLOCK_##suffix
#define SENSOR(suffix) VITALS_GPU_SENSOR_##suffix
#define LINK(suffix)   VITALS_GPU_LINK_##suffix
#define ERROR(suffix)  VITALS_GPU_ERROR_##suffix
const struct device_section_form device_sections[DEVICE_SECTIONS] = {
    [DEVICE_IDENTITY] = {.title = "Identity"},
    [DEVICE_DRIVER] = {.title = "Driver"},
    [DEVICE_LOAD] = {"Load", VITALS_TABLE_GPU_ENGINE,
                     {ENGINE(UTILIZATION_RATIO), ENGINE(BUSY_SECONDS), ENGINE(CAPACITY)}},
    [DEVICE_MEMORY] = {"Memory", VITALS_TABLE_GPU_POOL, {G(POOL_TOTAL_BYTES), G(POOL_USED_BYTES)}},
    [DEVICE_CLOCKS] = {"Clocks", VITALS_TABLE_GPU_CLOCK,
                       {CLOCK(FREQUENCY_HERTZ), CLOCK(FREQUENCY_REQUESTED_HERTZ),
                        CLOCK(FREQUENCY_MIN_HERTZ), CLOCK(FREQUENCY_MAX_HERTZ)}},
    [DEVICE_POWER] = {.title = "Power"},
    [DEVICE_SENSORS] = {"Temperature and sensors", VITALS_TABLE_GPU_SENSOR,
                        {SENSOR(TEMPERATURE_CELSIUS), SENSOR(HIGH_CELSIUS),
                         SENSOR(CRITICAL_CELSIUS), SENSOR(FAN_RPM), SENSOR(FAN_RATIO),
                         SENSOR(VOLTAGE_VOLTS), SENSOR(POWER_WATTS), SENSOR(POWER_LIMIT_WATTS),
                         SENSOR(POWER_BURST_LIMIT_WATTS),
                         SENSOR(ENERGY_JOULES)}},
    [DEVICE_PCIE] = {.title = "PCI Express"},
    [DEVICE_LINKS] = {"Links", VITALS_TABLE_GPU_LINK,
                      {LINK(ACTIVE), LINK(KIND), LINK(VERSION), LINK(REMOTE_KIND),
                       LINK(REMOTE_PCI_BUS_ID), LINK(SPEED_BYTES_PER_SECOND), LINK(RECEIVED_BYTES),
                       LINK(TRANSMITTED_BYTES), LINK(REPLAY_ERRORS), LINK(RECOVERY_ERRORS),
                       LINK(CRC_ERRORS)}},
    [DEVICE_ERRORS] = {"Errors", VITALS_TABLE_GPU_ERROR,
                       {ERROR(CORRECTED), ERROR(UNCORRECTED), ERROR(DEFERRED),
                        ERROR(CORRECTED_EVER), ERROR(UNCORRECTED_EVER)}},
};

// One metric, one row.
const struct device_metric device_metrics[] = {
    {DEVICE_IDENTITY, G(VENDOR), .brief = "vendor"},
    {DEVICE_IDENTITY, G(UUID), .label = "UUID", .brief = "UUID"},
    {DEVICE_IDENTITY, G(PCI_BUS_ID), .label = "PCI address", .brief = "PCI"},
    {DEVICE_IDENTITY, G(DEVICE_NODE), .brief = "node"},
    {DEVICE_IDENTITY, G(INDEX), .label = "number among its vendor's"},
    {DEVICE_IDENTITY, G(SERIAL), .brief = "serial"},
    {DEVICE_IDENTITY, G(BOARD_PART_NUMBER), .brief = "board"},
    {DEVICE_IDENTITY, G(VBIOS_VERSION), .label = "firmware (VBIOS)", .brief = "firmware"},
    {DEVICE_IDENTITY, G(BRAND), .owner = "nvidia"},
    {DEVICE_IDENTITY, G(ARCHITECTURE), .brief = "architecture"},
    {DEVICE_IDENTITY, G(COMPUTE_CAPABILITY), .brief = "capability", .owner = "nvidia"},
    {DEVICE_IDENTITY, G(MULTIPROCESSORS), .brief = "processors"},
    {DEVICE_IDENTITY, G(PCI_ID), .label = "PCI vendor and device"},
    {DEVICE_IDENTITY, G(PCI_SUBSYSTEM_ID), .label = "PCI subsystem"},
    {DEVICE_IDENTITY, G(PARTITION_KIND), .brief = "kind", .owner = ""},
    {DEVICE_IDENTITY, G(GPU_INSTANCE_ID), .label = "GPU instance", .brief = "GPU instance",
     .owner = ""},
    {DEVICE_IDENTITY, G(COMPUTE_INSTANCE_ID), .label = "compute instance", .brief = "compute inst.",
     .owner = ""},
    {DEVICE_IDENTITY, G(COMPUTE_PARTITION), .brief = "compute part.", .owner = "amd"},
    {DEVICE_IDENTITY, G(MEMORY_PARTITION), .brief = "memory part.", .owner = "amd"},
    {DEVICE_IDENTITY, G(NUMA_NODE), .label = "NUMA node", .brief = "NUMA node"},
    {DEVICE_IDENTITY, G(LOCAL_CPUS), .label = "nearest CPUs", .brief = "nearest CPUs"},
    {DEVICE_DRIVER, G(KERNEL_DRIVER), .brief = "kernel driver"},
    {DEVICE_DRIVER, G(DRIVER_VERSION), .brief = "driver"},
    {DEVICE_DRIVER, G(CUDA_VERSION), .label = "newest CUDA served", .brief = "CUDA",
     .owner = "nvidia"},
    {DEVICE_DRIVER, G(DRIVER_MODEL), .owner = ""},
    {DEVICE_DRIVER, G(PERSISTENCE_MODE), .brief = "persistence",
     .flags = DEVICE_ON_OFF, .owner = "nvidia"},
    {DEVICE_DRIVER, G(COMPUTE_MODE), .brief = "compute mode", .owner = "nvidia"},
    {DEVICE_DRIVER, G(MIG_MODE), .label = "MIG mode", .brief = "MIG",
     .flags = DEVICE_ON_OFF, .owner = "nvidia"},
    {DEVICE_DRIVER, G(MIG_MODE_PENDING), .label = "MIG mode after a reset", .brief = "MIG next",
     .flags = DEVICE_ON_OFF, .owner = "nvidia"},
    {DEVICE_DRIVER, G(ACCOUNTING_MODE), .flags = DEVICE_ON_OFF, .owner = "nvidia"},
    {DEVICE_DRIVER, G(ACCOUNTING_PIDS), .owner = "nvidia"},
    {DEVICE_DRIVER, G(DISPLAY_ATTACHED), .flags = DEVICE_YES_NO},
    {DEVICE_DRIVER, G(DISPLAY_ACTIVE), .brief = "display", .flags = DEVICE_YES_NO},
    {DEVICE_LOAD, G(UTILIZATION_RATIO), .label = "utilization", .brief = "utilization",
     .flags = DEVICE_ALWAYS},
    {DEVICE_LOAD, G(MEMORY_BUSY_RATIO), .label = "memory busy", .brief = "memory busy"},
    {DEVICE_LOAD, G(SM_ACTIVE_RATIO), .label = "SMs active", .brief = "SMs active",
     .owner = "nvidia"},
    {DEVICE_LOAD, G(SM_OCCUPANCY_RATIO), .label = "SM occupancy", .brief = "SM occupancy",
     .owner = "nvidia"},
    {DEVICE_LOAD, G(TENSOR_ACTIVE_RATIO), .label = "tensor cores active", .brief = "tensor cores",
     .owner = "nvidia"},
    {DEVICE_LOAD, G(MEMORY_BANDWIDTH_RATIO), .label = "memory bandwidth", .brief = "bandwidth",
     .owner = "nvidia"},
    {DEVICE_LOAD, G(BUSY_SECONDS), .label = "busy since first seen", .brief = "busy in all"},
    {DEVICE_LOAD, G(PROCESSES), .brief = "processes"},
    {DEVICE_LOAD, G(RUNTIME_STATUS), .brief = "runtime"},
    {DEVICE_LOAD, G(IDLE_RESIDENCY_SECONDS), .label = "asleep in all", .brief = "asleep in all"},
    {DEVICE_MEMORY, G(MEMORY_TOTAL_BYTES), .label = "total"},
    {DEVICE_MEMORY, G(MEMORY_USED_BYTES), .label = "used", .brief = "used",
     .flags = DEVICE_ALWAYS, .of = G(MEMORY_TOTAL_BYTES)},
    {DEVICE_MEMORY, G(MEMORY_FREE_BYTES), .label = "free", .brief = "free"},
    {DEVICE_MEMORY, G(MEMORY_RESERVED_BYTES), .label = "kept by the driver", .brief = "reserved"},
    {DEVICE_MEMORY, G(MEMORY_BUS_BITS), .label = "memory bus (bits)", .brief = "bus bits"},
    {DEVICE_MEMORY, G(UNIFIED_MEMORY), .brief = "unified", .flags = DEVICE_YES_NO},
    {DEVICE_CLOCKS, G(PERFORMANCE_STATE), .brief = "state", .owner = "nvidia"},
    {DEVICE_CLOCKS, G(PERFORMANCE_LEVEL), .brief = "level", .owner = "amd"},
    {DEVICE_CLOCKS, G(THROTTLED_BY_POWER), .label = "throttled by power",
     .flags = DEVICE_YES_NO | DEVICE_WARNING},
    {DEVICE_CLOCKS, G(THROTTLED_BY_TEMPERATURE), .label = "throttled by heat",
     .flags = DEVICE_YES_NO | DEVICE_WARNING},
    {DEVICE_CLOCKS, G(THROTTLED_BY_CURRENT), .label = "throttled by current",
     .flags = DEVICE_YES_NO | DEVICE_WARNING},
    {DEVICE_CLOCKS, G(THROTTLED_OTHERWISE), .label = "throttled otherwise",
     .flags = DEVICE_YES_NO | DEVICE_WARNING},
    {DEVICE_CLOCKS, G(THROTTLE_REASONS), .label = "the driver's reasons"},
    {DEVICE_CLOCKS, G(THROTTLED_POWER_SECONDS), .label = "so long by power", .owner = "nvidia"},
    {DEVICE_CLOCKS, G(THROTTLED_THERMAL_SECONDS), .label = "so long by heat", .owner = "nvidia"},
    {DEVICE_POWER, G(POWER_WATTS), .label = "now", .brief = "now",
     .flags = DEVICE_ALWAYS, .of = G(POWER_LIMIT_WATTS)},
    {DEVICE_POWER, G(POWER_LIMIT_WATTS), .label = "limit in force"},
    {DEVICE_POWER, G(POWER_LIMIT_SET_WATTS), .label = "limit that was set", .brief = "limit set"},
    {DEVICE_POWER, G(POWER_LIMIT_DEFAULT_WATTS), .label = "limit after a start",
     .brief = "limit usual"},
    {DEVICE_POWER, G(POWER_LIMIT_MIN_WATTS), .label = "lowest limit", .brief = "limit from"},
    {DEVICE_POWER, G(POWER_LIMIT_MAX_WATTS), .label = "highest limit", .brief = "limit up to"},
    {DEVICE_POWER, G(ENERGY_JOULES), .label = "energy (driver's life)", .brief = "energy",
     .flags = DEVICE_ALWAYS},
    {DEVICE_SENSORS, G(TEMPERATURE_CELSIUS), .label = "core", .brief = "core",
     .flags = DEVICE_ALWAYS},
    {DEVICE_SENSORS, G(FAN_RATIO), .label = "fan (as intended)", .brief = "fan"},
    {DEVICE_PCIE, G(PCIE_GENERATION), .label = "generation", .brief = "generation",
     .of = G(PCIE_GENERATION_MAX)},
    {DEVICE_PCIE, G(PCIE_GENERATION_MAX), .label = "highest generation"},
    {DEVICE_PCIE, G(PCIE_WIDTH), .label = "lanes", .brief = "lanes", .of = G(PCIE_WIDTH_MAX)},
    {DEVICE_PCIE, G(PCIE_WIDTH_MAX), .label = "most lanes"},
    {DEVICE_PCIE, G(PCIE_RECEIVED_BYTES_PER_SECOND), .label = "received", .brief = "received",
     .flags = DEVICE_ALWAYS},
    {DEVICE_PCIE, G(PCIE_TRANSMITTED_BYTES_PER_SECOND), .label = "sent", .brief = "sent",
     .flags = DEVICE_ALWAYS},
    {DEVICE_PCIE, G(PCIE_REPLAYS), .label = "packets sent again", .brief = "replays"},
    {DEVICE_ERRORS, G(ECC_MODE), .label = "ECC", .brief = "ECC", .flags = DEVICE_ON_OFF},
    {DEVICE_ERRORS, G(ECC_MODE_PENDING), .label = "ECC after a restart", .flags = DEVICE_ON_OFF},
    {DEVICE_ERRORS, G(ECC_ERRORS_CORRECTED), .label = "corrected (driver's life)",
     .brief = "corrected"},
    {DEVICE_ERRORS, G(ECC_ERRORS_UNCORRECTED), .label = "uncorrected (driver's life)", .brief = "uncorrected",
     .flags = DEVICE_ALARM},
    {DEVICE_ERRORS, G(ECC_ERRORS_CORRECTED_EVER), .label = "corrected (ever)",
     .brief = "corr. ever"},
    {DEVICE_ERRORS, G(ECC_ERRORS_UNCORRECTED_EVER), .label = "uncorrected (ever)",
     .brief = "uncorr. ever"},
    {DEVICE_ERRORS, G(RETIRED_PAGES_CORRECTED), .label = "retired for corrected", .brief = "retired corr.",
     .owner = "nvidia"},
    {DEVICE_ERRORS, G(RETIRED_PAGES_UNCORRECTED), .label = "retired for uncorrected",
     .brief = "retired"},
    {DEVICE_ERRORS, G(RETIRED_PAGES_PENDING), .label = "pages to be retired", .brief = "to be retired",
     .flags = DEVICE_YES_NO | DEVICE_ALARM},
    {DEVICE_ERRORS, G(REMAPPED_ROWS_CORRECTED), .label = "remapped for corrected", .brief = "remapped corr.",
     .owner = "nvidia"},
    {DEVICE_ERRORS, G(REMAPPED_ROWS_UNCORRECTED), .label = "remapped for uncorrected", .brief = "remapped",
     .owner = "nvidia"},
    {DEVICE_ERRORS, G(REMAPPED_ROWS_PENDING), .label = "rows to be remapped", .brief = "to be remapped",
     .flags = DEVICE_YES_NO | DEVICE_ALARM, .owner = "nvidia"},
    {DEVICE_ERRORS, G(REMAPPED_ROWS_FAILED), .label = "a remapping has failed", .brief = "remap failed",
     .flags = DEVICE_YES_NO | DEVICE_ALARM, .owner = "nvidia"},
    {DEVICE_ERRORS, G(XID_ERRORS), .label = "Xid errors since opened", .brief = "Xid errors",
     .flags = DEVICE_ALARM, .owner = "nvidia"},
    {DEVICE_ERRORS, G(XID_LAST), .label = "newest Xid", .brief = "newest Xid", .owner = "nvidia"},
};
// clang-format on
const size_t device_metric_count = sizeof device_metrics / sizeof device_metrics[0];

const struct device_metric *device_metric_find(vitals_metric metric)
{
    for (size_t i = 0; i < device_metric_count; i++) {
        if (device_metrics[i].metric == metric)
            return &device_metrics[i];
    }
    return NULL;
}

void device_label(vitals_metric metric, char out[static DEVICE_LABEL])
{
    const struct device_metric *own = device_metric_find(metric);
    if (own != NULL && own->label != NULL) {
        (void)snprintf(out, DEVICE_LABEL, "%s", own->label);
        return;
    }
    /* The name without its unit. */
    const char *name = vitals_metric_name(metric), *unit = vitals_metric_unit(metric);
    size_t size = strlen(name), last = strlen(unit);
    if (last > 0 && size > last + 1 && strcmp(name + size - last, unit) == 0)
        size -= last + 1;
    (void)snprintf(out, DEVICE_LABEL, "%.*s", (int)size, name);
    for (char *c = out; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
}

void device_number_words(vitals_metric metric, double number, const struct device_form *form,
                         char out[static DEVICE_VALUE])
{
    const struct device_metric *own = device_metric_find(metric);
    const char *unit = vitals_metric_unit(metric);
    bool ratio = strcmp(unit, "ratio") == 0, seconds = strcmp(unit, "seconds") == 0;
    unsigned flags = own != NULL                        ? own->flags
                     : metric == VITALS_GPU_LINK_ACTIVE ? DEVICE_YES_NO
                                                        : 0;
    if ((number == 0 || number == 1) && (flags & (DEVICE_YES_NO | DEVICE_ON_OFF)))
        (void)snprintf(out, DEVICE_VALUE, "%s",
                       flags & DEVICE_YES_NO ? (number > 0 ? "yes" : "no")
                                             : (number > 0 ? "on" : "off"));
    else if (strcmp(unit, "bytes") == 0 && form->bytes)
        (void)snprintf(out, DEVICE_VALUE, "%.0f", number);
    else if (ratio && form->compact)
        (void)snprintf(out, DEVICE_VALUE, number > 0 && number < 0.0995 ? "%.1f%%" : "%.0f%%",
                       number * 100);
    else if (seconds && form->compact && number < 10)
        (void)snprintf(out, DEVICE_VALUE, "%.1f s", number);
    else if (strcmp(unit, "celsius") == 0 && form->compact)
        (void)snprintf(out, DEVICE_VALUE, "%.0f%s", number, form->ascii ? "C" : "°C");
    else if (metric == G(PERFORMANCE_STATE))
        (void)snprintf(out, DEVICE_VALUE, "P%.0f", number);
    else
        (void)vitals_metric_format(metric, number,
                                   form->ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out);
}

vitals_availability device_metric_number(const vitals_row *row, const vitals_snapshot *older,
                                         vitals_metric metric, double *out)
{
    /* Shares, and the counter that each can be made of. */
    static const vitals_metric PAIRS[][2] = {
        {G(UTILIZATION_RATIO), G(BUSY_SECONDS)},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, VITALS_GPU_ENGINE_BUSY_SECONDS},
        {VITALS_GPU_PROCESS_UTILIZATION_RATIO, VITALS_GPU_PROCESS_BUSY_SECONDS},
    };
    vitals_availability own = vitals_row_number(row, metric, out);
    for (size_t i = 0; own <= 0 && older != NULL && i < ARRAY_COUNT(PAIRS); i++) {
        vitals_availability rate = PAIRS[i][0] == metric
                                       ? vitals_row_rate(row, older, PAIRS[i][1], out)
                                       : 0;
        if (rate > 0)
            return rate;
    }
    return own;
}

vitals_availability device_value(const vitals_row *row, const vitals_snapshot *older,
                                 vitals_metric metric, const struct device_form *form,
                                 char out[static DEVICE_VALUE])
{
    vitals_availability availability;
    if (vitals_metric_type(metric) == VITALS_TEXT) {
        vitals_text text;
        availability = vitals_row_text(row, metric, &text);
        vitals_text_form safe = form->ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL;
        if (availability > 0 && text.size > 0)
            (void)vitals_text_format(text, safe, out, DEVICE_VALUE);
        else if (availability > 0)
            snprintf(out, DEVICE_VALUE, "none");
    } else {
        double number;
        availability = device_metric_number(row, older, metric, &number);
        if (availability > 0)
            device_number_words(metric, number, form, out);
    }
    if (availability <= 0)
        snprintf(out, DEVICE_VALUE, "N/A");
    return availability;
}
