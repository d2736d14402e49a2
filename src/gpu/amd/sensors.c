/* sensors.c: the card's folder hwmon: temperatures, fans, voltages, power, and two clocks. The
 * sensors and their labels are read once; file numbers differ between cards. Power is in
 * powerN_average, or on newer kernels of some cards in powerN_input. */
#include "gpu/amd/state.h"

#include <stdio.h>
#include <string.h>

enum { NUMBERS = 6 };

/* Name and unit of a kind of sensor. */
static const struct amd_hwmon_kind {
    const char *stem;
    const char *files[2]; /* files of its reading: the first that exists is used */
    vitals_metric metric;
    double factor;
    int64_t least, most; /* in the file's unit */
} kinds[AMD_SENSOR_KINDS] = {
    [AMD_SENSOR_TEMPERATURE] =
        {"temp", {"input"}, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, 1e-3, -100000, 250000},
    [AMD_SENSOR_FAN] = {"fan", {"input"}, VITALS_GPU_SENSOR_FAN_RPM, 1.0, 0, 30000},
    [AMD_SENSOR_VOLTAGE] = {"in", {"input"}, VITALS_GPU_SENSOR_VOLTAGE_VOLTS, 1e-3, 0, 10000},
    [AMD_SENSOR_POWER] =
        {"power", {"average", "input"}, VITALS_GPU_SENSOR_POWER_WATTS, 1e-6, 0, 5000000000},
    [AMD_SENSOR_CLOCK] = {"freq", {"input"}, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, 1.0, 0, 10000000000},
};

/* The driver's labels, and the common labels of all vendors for the same thing. */
static const struct {
    const char *theirs, *ours;
} words[] = {
    {"edge", "gpu"},
    {"mem", "memory"},
    {"sclk", "graphics"},
    {"mclk", "memory"},
};

/* ---- files of the folder ---- */

static struct value read_file(struct amd_reader *reader, const char *stem, const char *what,
                              const struct amd_hwmon_kind *kind)
{
    char path[OS_SYS_PATH + 32];
    int64_t number;
    snprintf(path, sizeof path, "%s/%s%s%s", reader->device->hwmon, stem, what[0] ? "_" : "", what);
    int result = os_sys_i64(reader->os, path, &number);
    if (result < 0)
        return value_missing(amd_availability(reader, result));
    if (number < kind->least || number > kind->most)
        return value_missing(VITALS_FAILED);
    return value_f64((double)number * kind->factor);
}

static struct value read_sensor(struct amd_reader *reader, const struct amd_sensor *sensor)
{
    const struct amd_hwmon_kind *kind = &kinds[sensor->kind];
    struct value value = value_missing(VITALS_UNSUPPORTED);
    for (size_t i = 0; i < ARRAY_COUNT(kind->files) && kind->files[i] != NULL; i++) {
        value = read_file(reader, sensor->stem, kind->files[i], kind);
        if (value.state != VITALS_UNSUPPORTED)
            break;
    }
    return value;
}

/* ---- sensor discovery ---- */

static void learn_sensor(struct amd_reader *reader, enum amd_sensor_kind which, unsigned number)
{
    struct amd_device *device = reader->device;
    const struct amd_hwmon_kind *kind = &kinds[which];
    struct amd_sensor sensor = {.kind = which};
    char path[OS_SYS_PATH + 32], label[64] = "";
    bool there = false;
    snprintf(sensor.stem, sizeof sensor.stem, "%s%u", kind->stem, number);
    for (size_t i = 0; i < ARRAY_COUNT(kind->files) && kind->files[i] != NULL && !there; i++) {
        snprintf(path, sizeof path, "%s/%s_%s", device->hwmon, sensor.stem, kind->files[i]);
        there = os_sys_exists(reader->os, path);
    }
    if (!there || device->sensor_count == AMD_SENSORS_MAX)
        return;
    snprintf(path, sizeof path, "%s/%s_label", device->hwmon, sensor.stem);
    if (os_sys_text(reader->os, path, label, sizeof label) < 0)
        label[0] = '\0';

    if (sensor.kind == AMD_SENSOR_FAN)
        snprintf(sensor.label, sizeof sensor.label, "fan%u", number - 1);
    else
        snprintf(sensor.label, sizeof sensor.label, "%.*s", GPU_LABEL - 1,
                 label[0] != '\0' ? label : sensor.stem);
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        if (sensor.kind != AMD_SENSOR_FAN && strcmp(sensor.label, words[i].theirs) == 0)
            snprintf(sensor.label, sizeof sensor.label, "%s", words[i].ours);
    if (sensor.kind == AMD_SENSOR_VOLTAGE && strcmp(label, "vddnb") == 0)
        device->unified = true; /* only processors with graphics have this voltage */

    device->sensors[device->sensor_count++] = sensor;
}

void amd_learn_sensors(struct amd_reader *reader)
{
    struct amd_device *device = reader->device;
    if (device->sensors_known)
        return;
    device->sensor_count = 0;
    device->unified = false;
    device->hwmon[0] = '\0';
    struct os_sys_names names;
    os_sys_names(&names, reader->os, "%s/hwmon", device->folder);
    for (const char *name; (name = os_sys_next(&names)) != NULL && device->hwmon[0] == '\0';) {
        char path[OS_SYS_PATH + OS_SYS_NAME], text[32];
        snprintf(path, sizeof path, "%s/hwmon/%s", device->folder, name);
        if (strlen(path) < OS_SYS_PATH - 32 &&
            pci_text(reader->os, path, "name", text, sizeof text) == 0 &&
            strcmp(text, "amdgpu") == 0)
            memcpy(device->hwmon, path, strlen(path) + 1);
    }
    if (device->hwmon[0] == '\0')
        return; /* the driver may not be ready yet */
    device->sensors_known = true;
    for (unsigned kind = 0; kind < AMD_SENSOR_KINDS; kind++)
        for (unsigned number = 0; number < NUMBERS; number++)
            learn_sensor(reader, (enum amd_sensor_kind)kind, number);
}

static const struct amd_sensor *find(const struct amd_device *device, enum amd_sensor_kind kind,
                                     const char *label)
{
    for (uint32_t i = 0; i < device->sensor_count; i++)
        if (device->sensors[i].kind == kind &&
            (label == NULL || strcmp(device->sensors[i].label, label) == 0))
            return &device->sensors[i];
    return NULL;
}

/* ---- rows ---- */

/* pwmN is relative to pwmN_max, which is 255 if the driver does not report it. */
static struct value read_fan_ratio(struct amd_reader *reader, const struct amd_sensor *sensor)
{
    static const struct amd_hwmon_kind pwm = {.factor = 1.0, .least = 0, .most = 100000},
                                       pwm_max = {.factor = 1.0, .least = 1, .most = 100000};
    char stem[16];
    snprintf(stem, sizeof stem, "pwm%s", sensor->stem + strlen("fan"));
    struct value now = read_file(reader, stem, "", &pwm);
    struct value most = now.state > 0 ? read_file(reader, stem, "max", &pwm_max) : now;
    if (now.state <= 0)
        return now;
    double whole = most.state > 0 ? most.as.f64 : 255.0;
    return now.as.f64 <= whole ? value_f64(now.as.f64 / whole) : value_missing(VITALS_FAILED);
}

static void fill_extra(struct amd_reader *reader, const struct amd_sensor *sensor,
                       vitals_metric metric, const char *what)
{
    if (amd_wants(reader, metric))
        gpu_fill_child(reader->sample, metric, sensor->label,
                       read_file(reader, sensor->stem, what, &kinds[sensor->kind]));
}

static void fill_row(struct amd_reader *reader, const struct amd_sensor *sensor)
{
    vitals_metric metric = kinds[sensor->kind].metric;
    amd_list_child(reader, metric, sensor->label);
    if (amd_wants(reader, metric))
        gpu_fill_child(reader->sample, metric, sensor->label, read_sensor(reader, sensor));
    if (sensor->kind == AMD_SENSOR_TEMPERATURE) {
        fill_extra(reader, sensor, VITALS_GPU_SENSOR_HIGH_CELSIUS, "crit");
        fill_extra(reader, sensor, VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "emergency");
    } else if (sensor->kind == AMD_SENSOR_POWER) {
        fill_extra(reader, sensor, VITALS_GPU_SENSOR_POWER_LIMIT_WATTS, "cap");
    } else if (sensor->kind == AMD_SENSOR_FAN && amd_wants(reader, VITALS_GPU_SENSOR_FAN_RATIO)) {
        gpu_fill_child(reader->sample, VITALS_GPU_SENSOR_FAN_RATIO, sensor->label,
                       read_fan_ratio(reader, sensor));
    }
}

/* ---- values of the device ---- */

/* Copies a reading from its sensor's row, if that has it already, instead of reading it twice. */
static void fill_from(struct amd_reader *reader, vitals_metric metric,
                      const struct amd_sensor *sensor)
{
    if (sensor == NULL || !amd_wants(reader, metric) || gpu_fill_has(reader->sample, metric))
        return;
    const struct batch_cell *cell = gpu_fill_find(reader->sample, kinds[sensor->kind].metric,
                                                  sensor->label);
    gpu_fill(reader->sample, metric,
             cell != NULL ? (struct value){.as.f64 = cell->as.f64, .state = cell->state}
                          : read_sensor(reader, sensor));
}

static const struct {
    vitals_metric metric;
    const char *what;
} caps[] = {
    {VITALS_GPU_POWER_LIMIT_WATTS, "cap"},
    {VITALS_GPU_POWER_LIMIT_SET_WATTS, "cap"},
    {VITALS_GPU_POWER_LIMIT_DEFAULT_WATTS, "cap_default"},
    {VITALS_GPU_POWER_LIMIT_MIN_WATTS, "cap_min"},
    {VITALS_GPU_POWER_LIMIT_MAX_WATTS, "cap_max"},
};

void amd_read_sensors(struct amd_reader *reader)
{
    struct amd_device *device = reader->device;
    bool is_wanted = gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_SENSOR) ||
                     gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_CLOCK) ||
                     amd_wants(reader, VITALS_GPU_TEMPERATURE_CELSIUS) ||
                     amd_wants(reader, VITALS_GPU_POWER_WATTS) ||
                     amd_wants(reader, VITALS_GPU_FAN_RATIO);
    for (size_t i = 0; i < ARRAY_COUNT(caps); i++)
        is_wanted |= amd_wants(reader, caps[i].metric);
    if (!is_wanted)
        return;

    /* The folder's number changes when the driver is bound again. */
    char path[OS_SYS_PATH + 32];
    snprintf(path, sizeof path, "%s/name", device->hwmon);
    if (device->sensors_known && !os_sys_exists(reader->os, path))
        device->sensors_known = false;
    amd_learn_sensors(reader);

    for (uint32_t i = 0; i < device->sensor_count; i++)
        if (gpu_fill_wants_table(reader->sample,
                                 vitals_metric_table(kinds[device->sensors[i].kind].metric)))
            fill_row(reader, &device->sensors[i]);

    const struct amd_sensor *temperature = find(device, AMD_SENSOR_TEMPERATURE, "gpu");
    const struct amd_sensor *power = find(device, AMD_SENSOR_POWER, NULL);
    const struct amd_sensor *fan = find(device, AMD_SENSOR_FAN, NULL);
    if (temperature == NULL)
        temperature = find(device, AMD_SENSOR_TEMPERATURE, "junction");
    fill_from(reader, VITALS_GPU_TEMPERATURE_CELSIUS, temperature);
    fill_from(reader, VITALS_GPU_POWER_WATTS, power);
    for (size_t i = 0; i < ARRAY_COUNT(caps) && power != NULL; i++)
        if (amd_wants(reader, caps[i].metric))
            gpu_fill(reader->sample, caps[i].metric,
                     read_file(reader, power->stem, caps[i].what, &kinds[AMD_SENSOR_POWER]));
    /* Some boards have a pwm and nothing that counts the turns. */
    static const struct amd_sensor first = {.kind = AMD_SENSOR_FAN, .stem = "fan1"};
    if (device->hwmon[0] != '\0' && amd_wants(reader, VITALS_GPU_FAN_RATIO)) {
        struct value ratio = read_fan_ratio(reader, fan != NULL ? fan : &first);
        if (fan != NULL || ratio.state > 0)
            gpu_fill(reader->sample, VITALS_GPU_FAN_RATIO, ratio);
    }
}
