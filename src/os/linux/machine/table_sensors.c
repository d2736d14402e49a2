/* table_sensors.c: temperatures, fans, batteries and power adapters.
 *
 * Chips are those of /sys/class/hwmon; if none of them has a temperature, the thermal zones are
 * used. Some drivers keep their files in the folder "device" (kernels before 3.15). An entry that
 * cannot be read is left out, as a sensor that is not connected. Sensors on a 1-wire bus are left
 * out too: each takes most of a second, and reading disturbs other users of the bus. So are devices
 * that sleep, such as a GPU: reading some of them wakes them up. Thread rule: workers only: a
 * driver may ask its hardware. */
#include "os/linux/lines.h"
#include "os/linux/tables.h"

#include "util/number.h"
#include "util/search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 512, NAME_BYTES = 64, PATH_BYTES = 256, TEXT_BYTES = 128 };

/* A larger value is not a temperature: it means that there is none. */
static const double CELSIUS_MAX = 1000.0;

/* Entries of a folder, sorted by the number in their name: the first ones if there are too many. */
struct names {
    struct row_batch *out; /* its table is then marked as cut */
    size_t count;
    char items[NAMES_MAX][NAME_BYTES];
};

static unsigned number_in(const char *name)
{
    unsigned number = 0;
    const char *at = name + strcspn(name, "0123456789");
    while (*at >= '0' && *at <= '9' && number < 1000000)
        number = number * 10 + (unsigned)(*at++ - '0');
    return number;
}

static bool is_not_behind(const void *item, const void *name)
{
    unsigned first = number_in(item), second = number_in(name);
    return first != second ? first < second : strcmp(item, name) <= 0;
}

/* Returns 0, or a negative errno. */
static int list_names(const struct os *os, const char *path, const char *prefix, const char *suffix,
                      struct names *names)
{
    size_t head = strlen(prefix), tail = strlen(suffix);
    names->count = 0;
    int descriptor = os->sys >= 0 ? linux_open(os, os->sys, path, O_DIRECTORY) : -ENOENT;
    if (descriptor < 0)
        return descriptor;
    DIR *folder = fdopendir(descriptor);
    if (folder == NULL) {
        os_close_descriptor(descriptor);
        return -ENOMEM;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *name = entry->d_name;
        size_t size = strlen(name);
        if (name[0] == '.' || strncmp(name, prefix, head) != 0 || size < head + tail ||
            strcmp(name + size - tail, suffix) != 0)
            continue;
        size_t place = search_place(names->items, names->count, NAME_BYTES, name, is_not_behind);
        if (names->count == NAMES_MAX || size >= NAME_BYTES)
            batch_state(names->out, VITALS_TABLE_SENSOR, VITALS_LOWER_BOUND);
        if (place == NAMES_MAX || size >= NAME_BYTES)
            continue;
        size_t kept = size_min(names->count, NAMES_MAX - 1);
        memmove(names->items[place + 1], names->items[place], (kept - place) * NAME_BYTES);
        memcpy(names->items[place], name, size + 1);
        names->count = kept + 1;
    }
    closedir(folder);
    return 0;
}

/* ---- one sensor ---- */

struct sensor {
    const struct os *os;
    struct row_batch *out;
    char folder[PATH_BYTES];
    char chip[TEXT_BYTES];
    size_t chip_size;
};

static struct span read_line(const struct sensor *sensor, const char *file,
                             char text[static TEXT_BYTES])
{
    char path[PATH_BYTES + 2 * NAME_BYTES];
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
static const char *beside(const char *input, const char *what, char out[static 2 * NAME_BYTES])
{
    size_t stem = strlen(input) - strlen("input");
    memcpy(out, input, stem);
    memcpy(out + stem, what, strlen(what) + 1);
    return out;
}

/* ---- hwmon ---- */

static void take_temperature(const struct sensor *sensor, const char *input)
{
    char file[2 * NAME_BYTES], text[TEXT_BYTES];
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

static void take_fan(const struct sensor *sensor, const char *input)
{
    char file[2 * NAME_BYTES], text[TEXT_BYTES];
    double rpm;
    if (!read_number(sensor, input, &rpm) || rpm < 0)
        return;
    struct span name = read_line(sensor, beside(input, "label", file), text);
    if (begin_row(sensor, name, "fan"))
        batch_set_f64(sensor->out, VITALS_SENSOR_FAN_RPM, rpm);
}

/* Takes the files of one kind, in the chip's folder or in "device". */
static void take_files(struct sensor *sensor, const char *prefix, struct names *files,
                       void (*take)(const struct sensor *sensor, const char *input))
{
    size_t size = strlen(sensor->folder);
    (void)list_names(sensor->os, sensor->folder, prefix, "_input", files);
    if (files->count == 0 && size + sizeof "/device" <= sizeof sensor->folder) {
        memcpy(sensor->folder + size, "/device", sizeof "/device");
        (void)list_names(sensor->os, sensor->folder, prefix, "_input", files);
    }
    for (size_t i = 0; i < files->count; i++)
        take(sensor, files->items[i]);
    sensor->folder[size] = '\0';
}

static void take_chip(struct sensor *sensor, const char *name, struct names *files)
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
    take_files(sensor, "temp", files, take_temperature);
    take_files(sensor, "fan", files, take_fan);
}

static void take_zone(struct sensor *sensor, const char *name, struct names *trips)
{
    struct row_batch *out = sensor->out;
    char text[TEXT_BYTES], file[2 * NAME_BYTES];
    double celsius;
    snprintf(sensor->folder, sizeof sensor->folder, "class/thermal/%s", name);
    if (!read_celsius(sensor, "temp", &celsius))
        return;
    struct span type = read_line(sensor, "type", text);
    set_chip(sensor, type.size > 0 ? type : (struct span){name, strlen(name)});
    if (!begin_row(sensor, (struct span){"", 0}, "temperature"))
        return;
    batch_set_f64(out, VITALS_SENSOR_TEMPERATURE_CELSIUS, celsius);
    if (!batch_wants(out, VITALS_SENSOR_HIGH_CELSIUS) &&
        !batch_wants(out, VITALS_SENSOR_CRITICAL_CELSIUS))
        return;
    (void)list_names(sensor->os, sensor->folder, "trip_point_", "_type", trips);
    for (size_t i = 0; i < trips->count; i++) {
        type = read_line(sensor, trips->items[i], text);
        size_t stem = strlen(trips->items[i]) - strlen("type");
        snprintf(file, sizeof file, "%.*stemp", (int)stem, trips->items[i]);
        if (span_equal(type, "critical"))
            read_threshold(sensor, VITALS_SENSOR_CRITICAL_CELSIUS, file);
        else if (span_equal(type, "high") || span_equal(type, "hot"))
            read_threshold(sensor, VITALS_SENSOR_HIGH_CELSIUS, file);
    }
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
    struct names chips, files;
    bool has_temperature = false;
    chips.out = files.out = out;
    int error = list_names(os, "class/hwmon", "", "", &chips);
    for (size_t i = 0; i < chips.count; i++)
        take_chip(&sensor, chips.items[i], &files);
    for (size_t i = 0; i < out->row_count && !has_temperature; i++)
        has_temperature = out->rows[i].entity == VITALS_TABLE_SENSOR &&
                          batch_find(out, &out->rows[i], VITALS_SENSOR_TEMPERATURE_CELSIUS) != NULL;
    if (!has_temperature) {
        int zones = list_names(os, "class/thermal", "thermal_zone", "", &chips);
        error = error < 0 ? zones : error;
        for (size_t i = 0; i < chips.count; i++)
            take_zone(&sensor, chips.items[i], &files);
    }
    int supplies = list_names(os, "class/power_supply", "", "", &chips);
    for (size_t i = 0; i < chips.count; i++)
        take_supply(&sensor, chips.items[i]);
    /* A machine that has one of the folders has reported everything, even if that is nothing. */
    return error < 0 && supplies < 0 ? error : 0;
}
