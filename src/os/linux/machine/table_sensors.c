/* table_sensors.c: temperatures, fans, batteries and power adapters.
 *
 * Chips are those of /sys/class/hwmon; if none of them has a temperature, the thermal zones are
 * used. Some drivers keep their files in the folder "device" (kernels before 3.15). An entry that
 * cannot be read is left out, as a sensor that is not connected. Sensors on a 1-wire bus are left
 * out too: each takes most of a second, and reading disturbs other users of the bus. So are devices
 * that sleep, such as a GPU: reading some of them wakes them up. Thread rule: workers, and callers
 * of vitals_table_read: a driver may ask its hardware. */
#include "os/linux/lines.h"
#include "os/linux/tables.h"

#include "util/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 256, TEXT_BYTES = 128, FILE_BYTES = OS_SYS_NAME + 16 };

/* A larger value is not a temperature: it means that there is none. */
static const double CELSIUS_MAX = 1000.0;

/* ---- one sensor ---- */

struct sensor {
    const struct os *os;
    struct row_batch *out;
    char folder[PATH_BYTES];
    char chip[TEXT_BYTES];
    size_t chip_size;
};

/* The entries of a folder that begin and end so. */
struct listing {
    struct sensor *sensor;
    const char *prefix, *suffix;
    void (*take)(struct sensor *sensor, const char *name);
    size_t count;
};

/* Takes each in natural order. Returns 0, or a negative errno; a list that was cut is 0. */
static int list_names(struct listing *listing, const char *path)
{
    struct os_sys_names names;
    os_sys_names(&names, listing->sensor->os, "%s", path);
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        size_t size = strlen(name), head = strlen(listing->prefix), tail = strlen(listing->suffix);
        if (size < head + tail || strncmp(name, listing->prefix, head) != 0 ||
            strcmp(name + size - tail, listing->suffix) != 0)
            continue;
        listing->count++;
        listing->take(listing->sensor, name);
    }
    if (names.result != -EFBIG)
        return names.result;
    batch_state(listing->sensor->out, VITALS_TABLE_SENSOR, VITALS_LOWER_BOUND);
    return 0;
}

static struct span read_line(const struct sensor *sensor, const char *file,
                             char text[static TEXT_BYTES])
{
    char path[PATH_BYTES + FILE_BYTES];
    snprintf(path, sizeof path, "%s/%s", sensor->folder, file);
    return lines_trim(lines_read(sensor->os, sensor->os->sys, path, text, TEXT_BYTES, NULL));
}

static bool read_number(const struct sensor *sensor, const char *file, double *out)
{
    char text[TEXT_BYTES];
    struct span line = read_line(sensor, file, text);
    const char *at = line.bytes;
    return number_f64(&at, line.bytes + line.size, out);
}

static bool read_celsius(const struct sensor *sensor, const char *file, double *out)
{
    double thousandths;
    if (!read_number(sensor, file, &thousandths))
        return false;
    *out = thousandths / 1e3;
    return *out<CELSIUS_MAX && * out> - CELSIUS_MAX;
}

static void read_threshold(const struct sensor *sensor, vitals_metric metric, const char *file)
{
    double celsius;
    if (batch_wants(sensor->out, metric) && read_celsius(sensor, file, &celsius))
        batch_set_f64(sensor->out, metric, celsius);
}

static bool begin_row(const struct sensor *sensor, struct span name, const char *kind)
{
    char label[2 * TEXT_BYTES + 1];
    size_t size = sensor->chip_size;
    memcpy(label, sensor->chip, size);
    if (name.size > 0)
        label[size++] = ' ';
    memcpy(label + size, name.bytes, name.size);
    size += name.size;
    if (batch_add_row(sensor->out, VITALS_TABLE_SENSOR, 0, (struct span){label, size}) == NULL)
        return false;
    batch_set_text(sensor->out, VITALS_SENSOR_CHIP, (struct span){sensor->chip, sensor->chip_size});
    batch_set_text(sensor->out, VITALS_SENSOR_NAME, name);
    batch_set_string(sensor->out, VITALS_SENSOR_KIND, kind);
    return true;
}

static void set_chip(struct sensor *sensor, struct span name)
{
    sensor->chip_size = size_min(name.size, sizeof sensor->chip);
    memcpy(sensor->chip, name.bytes, sensor->chip_size);
}

/* Writes the name of another file of the same sensor: temp1_input → temp1_max. */
static const char *beside(const char *input, const char *what, char out[static FILE_BYTES])
{
    size_t stem = strlen(input) - strlen("input");
    memcpy(out, input, stem);
    memcpy(out + stem, what, strlen(what) + 1);
    return out;
}

/* ---- hwmon ---- */

static void take_temperature(struct sensor *sensor, const char *input)
{
    char file[FILE_BYTES], text[TEXT_BYTES];
    double celsius;
    if (!read_celsius(sensor, input, &celsius))
        return;
    struct span name = read_line(sensor, beside(input, "label", file), text);
    if (!begin_row(sensor, name, "temperature"))
        return;
    batch_set_f64(sensor->out, VITALS_SENSOR_TEMPERATURE_CELSIUS, celsius);
    read_threshold(sensor, VITALS_SENSOR_HIGH_CELSIUS, beside(input, "max", file));
    read_threshold(sensor, VITALS_SENSOR_CRITICAL_CELSIUS, beside(input, "crit", file));
}

static void take_fan(struct sensor *sensor, const char *input)
{
    char file[FILE_BYTES], text[TEXT_BYTES];
    double rpm;
    if (!read_number(sensor, input, &rpm) || rpm < 0)
        return;
    struct span name = read_line(sensor, beside(input, "label", file), text);
    if (begin_row(sensor, name, "fan"))
        batch_set_f64(sensor->out, VITALS_SENSOR_FAN_RPM, rpm);
}

/* Takes the files of one kind, in the chip's folder or in "device". */
static void take_files(struct sensor *sensor, const char *prefix,
                       void (*take)(struct sensor *sensor, const char *input))
{
    size_t size = strlen(sensor->folder);
    struct listing files = {sensor, prefix, "_input", take, 0};
    (void)list_names(&files, sensor->folder);
    if (files.count == 0 && size + sizeof "/device" <= sizeof sensor->folder) {
        memcpy(sensor->folder + size, "/device", sizeof "/device");
        (void)list_names(&files, sensor->folder);
    }
    sensor->folder[size] = '\0';
}

static void take_chip(struct sensor *sensor, const char *name)
{
    char text[TEXT_BYTES], power[TEXT_BYTES];
    snprintf(sensor->folder, sizeof sensor->folder, "class/hwmon/%s", name);
    struct span chip = read_line(sensor, "name", text);
    if (chip.size == 0)
        chip = read_line(sensor, "device/name", text);
    if (span_starts(chip, "w1_") ||
        span_equal(read_line(sensor, "device/power/runtime_status", power), "suspended"))
        return;
    set_chip(sensor, chip.size > 0 ? chip : (struct span){name, strlen(name)});
    take_files(sensor, "temp", take_temperature);
    take_files(sensor, "fan", take_fan);
}

static void take_trip(struct sensor *sensor, const char *name)
{
    char text[TEXT_BYTES], file[FILE_BYTES];
    struct span type = read_line(sensor, name, text);
    snprintf(file, sizeof file, "%.*stemp", (int)(strlen(name) - strlen("type")), name);
    if (span_equal(type, "critical"))
        read_threshold(sensor, VITALS_SENSOR_CRITICAL_CELSIUS, file);
    else if (span_equal(type, "high") || span_equal(type, "hot"))
        read_threshold(sensor, VITALS_SENSOR_HIGH_CELSIUS, file);
}

static void take_zone(struct sensor *sensor, const char *name)
{
    struct row_batch *out = sensor->out;
    char text[TEXT_BYTES];
    double celsius;
    snprintf(sensor->folder, sizeof sensor->folder, "class/thermal/%s", name);
    if (!read_celsius(sensor, "temp", &celsius))
        return;
    struct span type = read_line(sensor, "type", text);
    set_chip(sensor, type.size > 0 ? type : (struct span){name, strlen(name)});
    if (!begin_row(sensor, (struct span){"", 0}, "temperature"))
        return;
    batch_set_f64(out, VITALS_SENSOR_TEMPERATURE_CELSIUS, celsius);
    struct listing trips = {sensor, "trip_point_", "_type", take_trip, 0};
    if (batch_wants(out, VITALS_SENSOR_HIGH_CELSIUS) ||
        batch_wants(out, VITALS_SENSOR_CRITICAL_CELSIUS))
        (void)list_names(&trips, sensor->folder);
}

/* Reads the first of two files that can be read. */
static bool read_either(const struct sensor *sensor, const char *first, const char *second,
                        double *out)
{
    return read_number(sensor, first, out) || read_number(sensor, second, out);
}

/* ---- all of it ---- */

/* Writes the charge of a battery, and its remaining time. */
static void write_charge(const struct sensor *sensor, bool discharging)
{
    struct row_batch *out = sensor->out;
    double now, full, rate, percent, seconds;
    bool known = read_either(sensor, "energy_now", "charge_now", &now) && now >= 0;
    if (known && read_either(sensor, "energy_full", "charge_full", &full) && full > 0)
        batch_set_f64(out, VITALS_SENSOR_CHARGE_RATIO, now < full ? now / full : 1.0);
    else if (read_number(sensor, "capacity", &percent) && percent >= 0 && percent <= 100)
        batch_set_f64(out, VITALS_SENSOR_CHARGE_RATIO, percent / 100);
    if (!discharging || !batch_wants(out, VITALS_SENSOR_REMAINING_SECONDS))
        return;
    /* Some drivers report a discharge as a negative number. */
    bool drawn = read_either(sensor, "power_now", "current_now", &rate) && rate != 0;
    if (known && drawn)
        batch_set_f64(out, VITALS_SENSOR_REMAINING_SECONDS, now / (rate < 0 ? -rate : rate) * 3600);
    else if (read_number(sensor, "time_to_empty_now", &seconds) && seconds >= 0)
        batch_set_f64(out, VITALS_SENSOR_REMAINING_SECONDS, seconds);
}

static void take_supply(struct sensor *sensor, const char *name)
{
    char text[TEXT_BYTES], word[TEXT_BYTES];
    double online;
    snprintf(sensor->folder, sizeof sensor->folder, "class/power_supply/%s", name);
    set_chip(sensor, (struct span){name, strlen(name)});
    struct span type = read_line(sensor, "type", text);
    if (span_equal(type, "Battery") || span_equal(type, "UPS")) {
        struct span status = read_line(sensor, "status", text);
        if (!begin_row(sensor, (struct span){"", 0}, "battery"))
            return;
        for (size_t i = 0; i < status.size; i++) { // "Not charging" → not_charging
            char byte = status.bytes[i];
            word[i] = byte == ' '                  ? '_'
                      : byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A'))
                                                   : byte;
        }
        if (status.size > 0)
            batch_set_text(sensor->out, VITALS_SENSOR_STATE, (struct span){word, status.size});
        write_charge(sensor, span_equal(status, "Discharging"));
    } else if (type.size > 0 && read_number(sensor, "online", &online) &&
               begin_row(sensor, (struct span){"", 0}, "power_adapter")) {
        batch_set_string(sensor->out, VITALS_SENSOR_STATE, online > 0 ? "online" : "offline");
    }
}

int table_sensors(const struct os *os, struct row_batch *out)
{
    struct sensor sensor = {.os = os, .out = out};
    struct listing chips = {&sensor, "", "", take_chip, 0};
    struct listing zones = {&sensor, "thermal_zone", "", take_zone, 0};
    struct listing supplies = {&sensor, "", "", take_supply, 0};
    bool has_temperature = false;
    int error = list_names(&chips, "class/hwmon");
    for (size_t i = 0; i < out->row_count && !has_temperature; i++)
        has_temperature = out->rows[i].entity == VITALS_TABLE_SENSOR &&
                          batch_find(out, &out->rows[i], VITALS_SENSOR_TEMPERATURE_CELSIUS) != NULL;
    if (!has_temperature) {
        int result = list_names(&zones, "class/thermal");
        error = error < 0 ? result : error;
    }
    int result = list_names(&supplies, "class/power_supply");
    /* A machine that has one of the folders has reported everything, even if that is nothing. */
    return error < 0 && result < 0 ? error : 0;
}
