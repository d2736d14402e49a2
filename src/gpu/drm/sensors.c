/* sensors.c: temperatures, clocks, fans, voltages and power that a driver reports through hwmon.
 * The sensors are looked up once, and again after the device was away; a sensor without a label is
 * named by its position: the first temperature is the device's. Thread rule: the sampling thread of
 * the device. */
#include "gpu/drm/state.h"

#include "util/number.h"

#include <stdio.h>
#include <string.h>

/* Documentation/hwmon/sysfs-interface.rst. nouveau lowers its clocks from _max on; _crit is only
 * an alarm there (drivers/gpu/drm/nouveau/nouveau_hwmon.c). */
static const struct drm_sensor_kind {
    const char *stem, *input;
    vitals_metric metric;
    double factor, most;
} KINDS[] = {
    {"temp", "_input", VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, 1e-3, 250},
    {"temp", "_crit", VITALS_GPU_SENSOR_HIGH_CELSIUS, 1e-3, 250},
    {"temp", "_max", VITALS_GPU_SENSOR_HIGH_CELSIUS, 1e-3, 250}, // of nouveau
    {"temp", "_emergency", VITALS_GPU_SENSOR_CRITICAL_CELSIUS, 1e-3, 250},
    {"freq", "_input", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, 1, 1e10},
    {"fan", "_input", VITALS_GPU_SENSOR_FAN_RPM, 1, 50000},
    {"in", "_input", VITALS_GPU_SENSOR_VOLTAGE_VOLTS, 1e-3, 1000},
    {"power", "_average", VITALS_GPU_SENSOR_POWER_WATTS, 1e-6, 10000},
    {"power", "_input", VITALS_GPU_SENSOR_POWER_WATTS, 1e-6, 10000},
};

/* Adds the sensors of one file of a chip. */
static void take_file(const struct os *os, struct drm_slot *slot, const char *folder,
                      const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(KINDS); i++) {
        const struct drm_sensor_kind *kind = &KINDS[i];
        if (kind->metric == VITALS_GPU_SENSOR_HIGH_CELSIUS &&
            (strcmp(kind->input, "_max") == 0) != (strcmp(slot->driver, "nouveau") == 0))
            continue;
        const char *at = name + strlen(kind->stem), *end = name + strlen(name);
        uint64_t number;
        if (strncmp(name, kind->stem, strlen(kind->stem)) != 0 || !number_u64(&at, end, &number) ||
            strcmp(at, kind->input) != 0)
            continue;
        struct drm_sensor sensor = {
            .metric = kind->metric, .factor = kind->factor, .most = kind->most};
        int size = snprintf(sensor.path, sizeof sensor.path, "%s/%.60s", folder, name);

        char path[DRM_FOLDER + 64], text[64] = "";
        snprintf(path, sizeof path, "%s/%s%llu_label", folder, kind->stem,
                 (unsigned long long)number);
        (void)os_sys_text(os, path, text, sizeof text);
        if (text[0] != '\0' && strchr(text, '\n') == NULL)
            snprintf(sensor.label, sizeof sensor.label, "%.*s", GPU_LABEL - 1, text);
        else if (number == 1 && strcmp(kind->stem, "temp") == 0)
            snprintf(sensor.label, sizeof sensor.label, "gpu");
        else if (number == 1 && strcmp(kind->stem, "freq") == 0)
            snprintf(sensor.label, sizeof sensor.label, "graphics");
        else if (kind->metric == VITALS_GPU_SENSOR_FAN_RPM && number > 0)
            snprintf(sensor.label, sizeof sensor.label, "fan%u", (unsigned)(number - 1) % 1000);
        else
            snprintf(sensor.label, sizeof sensor.label, "%s%u", kind->stem,
                     (unsigned)number % 1000);

        /* Skip duplicate labels. */
        bool known = false;
        for (uint32_t j = 0; j < slot->sensor_count; j++)
            known |= slot->sensors[j].metric == sensor.metric &&
                     strcmp(slot->sensors[j].label, sensor.label) == 0;
        if (size > 0 && (size_t)size < sizeof sensor.path && slot->sensor_count < DRM_SENSORS &&
            !known)
            slot->sensors[slot->sensor_count++] = sensor;
    }
}

void drm_find_sensors(const struct os *os, struct drm_slot *slot)
{
    enum { TRIES = 3 }; // a driver that has just been loaded may not have them yet
    if (slot->sensor_count > 0 || slot->looked_for == TRIES)
        return;
    slot->looked_for++;
    struct os_sys_names chips, files;
    os_sys_names(&chips, os, "%s/hwmon", slot->folder);
    for (const char *chip, *name; (chip = os_sys_next(&chips)) != NULL;) {
        char folder[DRM_FOLDER];
        int size = snprintf(folder, sizeof folder, "%.150s/hwmon/%s", slot->folder, chip);
        os_sys_names(&files, os, "%s", folder);
        while (size > 0 && (size_t)size < sizeof folder && (name = os_sys_next(&files)) != NULL)
            take_file(os, slot, folder, name);
    }
}

void drm_forget_sensors(struct drm_slot *slot)
{
    slot->sensor_count = slot->looked_for = 0;
}

void drm_fill_sensors(const struct os *os, const struct drm_slot *slot, bool is_asleep,
                      struct gpu_sample *sample)
{
    for (uint32_t i = 0; i < slot->sensor_count; i++) {
        const struct drm_sensor *sensor = &slot->sensors[i];
        bool is_clock = sensor->metric == VITALS_GPU_CLOCK_FREQUENCY_HERTZ;
        bool table = gpu_fill_wants_table(sample, is_clock ? VITALS_TABLE_GPU_CLOCK
                                                           : VITALS_TABLE_GPU_SENSOR);
        vitals_metric whole = 0; /* the device's metric, if this is its only temperature or power */
        if (sensor->metric == VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS)
            whole = VITALS_GPU_TEMPERATURE_CELSIUS;
        else if (sensor->metric == VITALS_GPU_SENSOR_POWER_WATTS)
            whole = VITALS_GPU_POWER_WATTS;
        bool of_device = whole != 0 && gpu_fill_wants(sample, whole) &&
                         !gpu_fill_has(sample, whole);
        bool of_table = table && gpu_fill_wants(sample, sensor->metric);
        struct value value = value_missing(VITALS_SUSPENDED);
        if (!is_asleep && (of_device || of_table)) {
            int64_t number = 0;
            int result = os_sys_i64(os, sensor->path, &number);
            double reading = result < 0 ? 0 : (double)number * sensor->factor;
            bool is_reading = reading <= sensor->most && reading >= -sensor->most;
            value = is_reading ? value_f64(reading) : value_missing(VITALS_FAILED);
            if (is_clock && number == 0) /* radeon's of a card whose clock it cannot read */
                value = value_missing(VITALS_UNSUPPORTED);
            if (result < 0)
                value = value_missing(os_availability(result));
        }
        if (of_device)
            gpu_fill(sample, whole, value);
        if (table) /* the table is listed whole; a value that is not wanted is skipped */
            gpu_fill_child(sample, sensor->metric, sensor->label, value);
    }
}
