/* channels.c: the card's own sensors: energy, power limits, temperatures, fans and voltages of its
 * hwmon chips; for a device in the processor, the energy that RAPL counts for it.
 *
 * Channels are identified by their labels, not by their numbers: energy1 on one card is energy2 on
 * another. No file has the power; it is the difference of two energy readings divided by the time
 * between them. A counter of the card that stays at 0 while another one counts is not connected
 * (B580 on kernel 6.16): the package is then used for the card, as a lower bound. */
#include "gpu/intel/state.h"

#include <stdio.h>
#include <string.h>

/* Larger values are invalid. */
static const double CELSIUS_MAX = 1000.0, WATTS_MAX = 10000.0;
static const uint64_t RPM_MAX = 100000, MILLIVOLTS_MAX = 100000, MICROWATTS_MAX = 10000000000;

static const struct {
    const char *prefix;
    const char *suffix; /* of the file whose existence shows the channel */
} KINDS[CHANNEL_KINDS] = {
    [CHANNEL_ENERGY] = {"energy", "_input"},    [CHANNEL_POWER] = {"power", "_max"},
    [CHANNEL_TEMPERATURE] = {"temp", "_input"}, [CHANNEL_FAN] = {"fan", "_input"},
    [CHANNEL_VOLTAGE] = {"in", "_input"},
};

/* Names of channels without a label, from the ABI documents of both drivers. */
static const struct {
    enum intel_channel_kind kind;
    unsigned number;
    const char *label;
} UNLABELLED[] = {
    {CHANNEL_ENERGY, 1, "card"},      {CHANNEL_ENERGY, 2, "pkg"},
    {CHANNEL_POWER, 1, "card"},       {CHANNEL_POWER, 2, "pkg"},
    {CHANNEL_VOLTAGE, 0, "gpu"},      {CHANNEL_VOLTAGE, 1, "pkg"},
    {CHANNEL_TEMPERATURE, 1, "gpu"},  {CHANNEL_TEMPERATURE, 2, "pkg"},
    {CHANNEL_TEMPERATURE, 3, "vram"},
};

/* Common labels of all vendors for the same sensor. */
static const struct {
    enum intel_channel_kind kind;
    const char *theirs, *ours;
} COMMON[] = {
    {CHANNEL_TEMPERATURE, "pkg", "gpu"},
    {CHANNEL_TEMPERATURE, "vram", "memory"},
};

/* ---- discovery ---- */

static void name_channel(const struct os *os, const char *chip, struct intel_channel *channel,
                         unsigned number)
{
    char path[OS_SYS_PATH], theirs[GPU_LABEL];
    int result = -1;
    snprintf(channel->label, sizeof channel->label, "%.12s%u", KINDS[channel->kind].prefix, number);
    if (channel->kind == CHANNEL_FAN) { /* fan labels of all vendors count from 0 */
        snprintf(channel->label, sizeof channel->label, "fan%u", number > 0 ? number - 1 : 0);
        return;
    }
    if ((size_t)snprintf(path, sizeof path, "%s_label", channel->path) < sizeof path)
        result = os_sys_text(os, path, theirs, sizeof theirs);
    if (result < 0 || theirs[0] == '\0') {
        const char *known = "";
        for (size_t i = 0; i < ARRAY_COUNT(UNLABELLED); i++) {
            if (UNLABELLED[i].kind == channel->kind && UNLABELLED[i].number == number)
                known = UNLABELLED[i].label;
        }
        if (strncmp(chip, "i915_gt", strlen("i915_gt")) == 0) // the energy of one GT
            known = chip + strlen("i915_");
        snprintf(theirs, sizeof theirs, "%.*s", (int)sizeof theirs - 1, known);
    }
    if (theirs[0] != '\0')
        memcpy(channel->label, theirs, sizeof channel->label);
    for (size_t i = 0; i < ARRAY_COUNT(COMMON); i++) {
        if (COMMON[i].kind == channel->kind && strcmp(COMMON[i].theirs, theirs) == 0)
            snprintf(channel->label, sizeof channel->label, "%s", COMMON[i].ours);
    }
}

static struct intel_channel *add_channel(struct intel_slot *slot, enum intel_channel_kind kind)
{
    if (slot->channel_count == INTEL_CHANNELS)
        return NULL;
    struct intel_channel *channel = &slot->channels[slot->channel_count++];
    *channel = (struct intel_channel){.kind = kind,
                                      .input = "_input",
                                      .joules = value_missing(VITALS_NOT_YET),
                                      .watts = value_missing(VITALS_NOT_YET)};
    return channel;
}

/* Adds the channels of the chip in that folder. */
static void find_in_chip(const struct os *os, struct intel_slot *slot, const char *folder)
{
    struct os_sys_names names;
    char chip[32];
    (void)pci_text(os, folder, "name", chip, sizeof chip);
    os_sys_names(&names, os, "%s", folder);
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        for (enum intel_channel_kind kind = 0; kind < CHANNEL_KINDS; kind++) {
            /* "temp12_input" → 12 */
            struct cursor cursor = cursor_over(name, strlen(name));
            uint64_t number;
            if (!cursor_literal(&cursor, KINDS[kind].prefix) || cursor_done(&cursor) ||
                *cursor.at < '0' || *cursor.at > '9' || !cursor_u64(&cursor, &number) ||
                number > 999 || !cursor_literal(&cursor, KINDS[kind].suffix) ||
                !cursor_done(&cursor))
                continue;
            struct intel_channel *channel = add_channel(slot, kind);
            if (channel == NULL)
                return;
            snprintf(channel->path, sizeof channel->path, "%s/%s%u", folder, KINDS[kind].prefix,
                     (unsigned)number);
            name_channel(os, chip, channel, (unsigned)number);
        }
    }
}

/* Finds RAPL's zone for the graphics in the processor. */
static void find_zone(const struct os *os, struct intel_slot *slot)
{
    struct os_sys_names names;
    os_sys_names(&names, os, "class/powercap");
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        char path[OS_SYS_PATH], zone[32];
        if (strncmp(name, "intel-rapl:", strlen("intel-rapl:")) != 0)
            continue;
        snprintf(path, sizeof path, "class/powercap/%s/name", name);
        if (os_sys_text(os, path, zone, sizeof zone) < 0 || strcmp(zone, "uncore") != 0)
            continue;
        struct intel_channel *channel = add_channel(slot, CHANNEL_ENERGY);
        if (channel == NULL)
            return;
        snprintf(channel->path, sizeof channel->path, "class/powercap/%.80s", name);
        snprintf(channel->label, sizeof channel->label, "uncore");
        channel->input = "/energy_uj";
        struct value range = intel_number(os, channel->path, "max_energy_range_uj");
        channel->range = range.state > 0 ? range.as.u64 : 0;
        return;
    }
}

void intel_find_channels(const struct os *os, struct intel_slot *slot)
{
    slot->channel_count = 0;
    if (slot->tile >= 0) /* the chips belong to the card */
        return;
    struct os_sys_names chips;
    os_sys_names(&chips, os, "%s/hwmon", slot->folder);
    for (const char *chip; (chip = os_sys_next(&chips)) != NULL;) {
        char folder[INTEL_FOLDER];
        int size = snprintf(folder, sizeof folder, "%s/hwmon/%s", slot->folder, chip);
        if (size > 0 && (size_t)size < sizeof folder)
            find_in_chip(os, slot, folder);
    }
    bool has_energy = false;
    for (uint32_t i = 0; i < slot->channel_count; i++)
        has_energy |= slot->channels[i].kind == CHANNEL_ENERGY;
    if (slot->integrated && !has_energy)
        find_zone(os, slot);
}

bool intel_channels_stand(const struct os *os, const struct intel_slot *slot)
{
    char path[OS_SYS_PATH];
    if (slot->channel_count == 0)
        return true;
    const struct intel_channel *first = &slot->channels[0];
    bool energy = first->kind == CHANNEL_ENERGY;
    int size = snprintf(path, sizeof path, "%s%s", first->path,
                        energy ? first->input : KINDS[first->kind].suffix);
    return size > 0 && (size_t)size < sizeof path && os_sys_exists(os, path);
}

/* ---- reading ---- */

static struct value read_file(const struct os *os, const struct intel_channel *channel,
                              const char *suffix)
{
    char path[OS_SYS_PATH];
    uint64_t number = 0;
    int size = snprintf(path, sizeof path, "%s%s", channel->path, suffix);
    if (size < 0 || (size_t)size >= sizeof path)
        return value_missing(VITALS_UNSUPPORTED);
    int result = os_sys_u64(os, path, &number);
    return result < 0 ? value_missing(intel_reason(result)) : value_u64(number);
}

static struct value read_scaled(const struct os *os, const struct intel_channel *channel,
                                const char *suffix, double factor, uint64_t most)
{
    struct value value = read_file(os, channel, suffix);
    return value.state > 0 ? gpu_fill_scaled(value.as.u64, factor, most) : value;
}

static struct value read_celsius(const struct os *os, const struct intel_channel *channel,
                                 const char *suffix)
{
    char path[OS_SYS_PATH];
    int64_t number = 0;
    int size = snprintf(path, sizeof path, "%s%s", channel->path, suffix);
    if (size < 0 || (size_t)size >= sizeof path)
        return value_missing(VITALS_UNSUPPORTED);
    int result = os_sys_i64(os, path, &number);
    if (result < 0)
        return value_missing(intel_reason(result));
    double celsius = (double)number / 1e3;
    bool possible = celsius > -CELSIUS_MAX && celsius < CELSIUS_MAX;
    return possible ? value_f64(celsius) : value_missing(VITALS_FAILED);
}

/* A limit of 0 means none. */
static struct value read_watts(const struct os *os, const struct intel_channel *channel,
                               const char *suffix)
{
    struct value value = read_scaled(os, channel, suffix, 1e-6, MICROWATTS_MAX);
    return value.state > 0 && value.as.f64 <= 0 ? value_missing(VITALS_UNSUPPORTED) : value;
}

static void read_energy(const struct os *os, struct intel_channel *channel, uint64_t now_ns)
{
    struct value now = read_file(os, channel, channel->input);
    if (now.state <= 0) {
        channel->stamp_ns = 0;
        channel->joules = channel->watts = now;
        return;
    }
    bool known = channel->stamp_ns != 0;
    if (known && now.as.u64 >= channel->microjoules && now_ns - channel->stamp_ns < INTEL_WINDOW_NS)
        return;

    /* Adds the counter's increase, and the joules of each wraparound. If the increase is more than
     * a device can have drawn, the counter was reset, as it is with the driver. */
    static const double two_to_64 = 18446744073709551616.0;
    double seconds = (double)(now_ns - channel->stamp_ns) / (double)NS_PER_SECOND, round = 0;
    bool around = now.as.u64 < channel->microjoules;
    uint64_t step = now.as.u64 - channel->microjoules;
    if (around && channel->range != 0)
        step += channel->range;
    if (around)
        round = (channel->range != 0 ? (double)channel->range : two_to_64) / 1e6;
    if (known && (double)step <= WATTS_MAX * 1e6 * seconds) {
        channel->rounds_joules += round;
        channel->watts = value_f64((double)step / 1e6 / seconds);
    } else {
        channel->rounds_joules = 0;
        channel->watts = value_missing(VITALS_NOT_YET);
    }
    channel->microjoules = now.as.u64;
    channel->stamp_ns = now_ns;
    channel->joules = value_f64(channel->rounds_joules + (double)now.as.u64 / 1e6);
}

struct intel_attribute {
    vitals_metric metric;
    enum intel_channel_kind kind;
    const char *suffix;
};

static void fill_sensor(const struct os *os, const struct intel_channel *channel,
                        struct gpu_sample *sample)
{
    static const struct intel_attribute attributes[] = {
        {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, CHANNEL_TEMPERATURE, "_input"},
        {VITALS_GPU_SENSOR_HIGH_CELSIUS, CHANNEL_TEMPERATURE, "_crit"},
        {VITALS_GPU_SENSOR_CRITICAL_CELSIUS, CHANNEL_TEMPERATURE, "_emergency"},
        {VITALS_GPU_SENSOR_FAN_RPM, CHANNEL_FAN, "_input"},
        {VITALS_GPU_SENSOR_VOLTAGE_VOLTS, CHANNEL_VOLTAGE, "_input"},
        {VITALS_GPU_SENSOR_POWER_LIMIT_WATTS, CHANNEL_POWER, "_max"},
        {VITALS_GPU_SENSOR_POWER_BURST_LIMIT_WATTS, CHANNEL_POWER, "_cap"},
        {VITALS_GPU_SENSOR_POWER_WATTS, CHANNEL_ENERGY, NULL},
        {VITALS_GPU_SENSOR_ENERGY_JOULES, CHANNEL_ENERGY, NULL},
    };
    for (size_t i = 0; i < ARRAY_COUNT(attributes); i++) {
        const struct intel_attribute *attribute = &attributes[i];
        if (attribute->kind != channel->kind)
            continue;
        /* The row is listed whatever is wanted of it. */
        struct value value = value_missing(VITALS_UNSUPPORTED);
        bool dead = channel->dead && channel->joules.state > 0;
        bool wanted = gpu_fill_wants(sample, attribute->metric);
        if (attribute->kind == CHANNEL_ENERGY && !dead)
            value = attribute->metric == VITALS_GPU_SENSOR_POWER_WATTS ? channel->watts
                                                                       : channel->joules;
        else if (attribute->kind == CHANNEL_POWER && wanted)
            value = read_watts(os, channel, attribute->suffix);
        else if (attribute->kind == CHANNEL_TEMPERATURE && wanted)
            value = read_celsius(os, channel, attribute->suffix);
        else if (attribute->kind == CHANNEL_FAN && wanted)
            value = read_scaled(os, channel, attribute->suffix, 1, RPM_MAX);
        else if (attribute->kind == CHANNEL_VOLTAGE && wanted)
            value = read_scaled(os, channel, attribute->suffix, 1e-3, MILLIVOLTS_MAX);
        gpu_fill_child(sample, attribute->metric, channel->label, value);
    }
}

/* ---- values of the device ---- */

static struct intel_channel *find(struct intel_slot *slot, enum intel_channel_kind kind,
                                  const char *label)
{
    for (uint32_t i = 0; i < slot->channel_count; i++) {
        if (slot->channels[i].kind == kind && strcmp(slot->channels[i].label, label) == 0)
            return &slot->channels[i];
    }
    return NULL;
}

/* Returns the widest counter that has counted; else the widest that can be read, or exists. */
static const struct intel_channel *choose_energy(struct intel_slot *slot)
{
    static const char *const labels[] = {"card", "pkg", "uncore"};
    const struct intel_channel *readable = NULL, *any = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(labels); i++) {
        const struct intel_channel *channel = find(slot, CHANNEL_ENERGY, labels[i]);
        if (channel == NULL)
            continue;
        if (channel->joules.state > 0 && channel->joules.as.f64 > 0)
            return channel;
        if (readable == NULL && channel->joules.state > 0)
            readable = channel;
        any = any != NULL ? any : channel;
    }
    return readable != NULL ? readable : any;
}

static bool is_counted(const struct intel_channel *channel)
{
    return channel->kind == CHANNEL_ENERGY && channel->joules.state > 0 &&
           channel->joules.as.f64 > 0;
}

void intel_fill_channels(const struct os *os, struct intel_slot *slot, struct gpu_sample *sample)
{
    bool energy = gpu_fill_wants(sample, VITALS_GPU_POWER_WATTS) ||
                  gpu_fill_wants(sample, VITALS_GPU_ENERGY_JOULES) ||
                  gpu_fill_wants(sample, VITALS_GPU_SENSOR_POWER_WATTS) ||
                  gpu_fill_wants(sample, VITALS_GPU_SENSOR_ENERGY_JOULES);
    if (energy) {
        bool counted = false;
        for (uint32_t i = 0; i < slot->channel_count; i++) {
            struct intel_channel *channel = &slot->channels[i];
            if (channel->kind == CHANNEL_ENERGY)
                read_energy(os, channel, sample->stamp_ns);
            counted |= is_counted(channel);
        }
        for (uint32_t i = 0; i < slot->channel_count; i++)
            slot->channels[i].dead = counted && !is_counted(&slot->channels[i]);
    }
    for (uint32_t i = 0;
         i < slot->channel_count && gpu_fill_wants_table(sample, VITALS_TABLE_GPU_SENSOR); i++)
        fill_sensor(os, &slot->channels[i], sample);
    if (energy) {
        const struct intel_channel *chosen = choose_energy(slot);
        if (chosen != NULL) {
            struct value watts = chosen->watts, joules = chosen->joules;
            /* a lower bound: the memory and the board draw power too */
            if (strcmp(chosen->label, "pkg") == 0) {
                watts.state = watts.state > 0 ? VITALS_LOWER_BOUND : watts.state;
                joules.state = joules.state > 0 ? VITALS_LOWER_BOUND : joules.state;
            }
            gpu_fill(sample, VITALS_GPU_POWER_WATTS, watts);
            gpu_fill(sample, VITALS_GPU_ENERGY_JOULES, joules);
        }
    }

    /* Where the sustained limit is off, the one of bursts (xe's cap) is what holds. */
    static const struct intel_attribute attributes[] = {
        {VITALS_GPU_POWER_LIMIT_WATTS, CHANNEL_POWER, "_max"},
        {VITALS_GPU_POWER_LIMIT_SET_WATTS, CHANNEL_POWER, "_max"},
        {VITALS_GPU_POWER_LIMIT_DEFAULT_WATTS, CHANNEL_POWER, "_rated_max"},
    };
    const struct intel_channel *card = find(slot, CHANNEL_POWER, "card");
    const struct intel_channel *package = find(slot, CHANNEL_POWER, "pkg");
    for (size_t i = 0; i < ARRAY_COUNT(attributes); i++) {
        if (!gpu_fill_wants(sample, attributes[i].metric))
            continue;
        struct value limit = value_missing(VITALS_UNSUPPORTED);
        if (card != NULL)
            limit = read_watts(os, card, attributes[i].suffix);
        if (package != NULL && limit.state <= 0)
            limit = read_watts(os, package, attributes[i].suffix);
        bool is_limit = attributes[i].metric == VITALS_GPU_POWER_LIMIT_WATTS;
        if (card != NULL && limit.state == VITALS_UNSUPPORTED && is_limit)
            limit = read_watts(os, card, "_cap");
        gpu_fill(sample, attributes[i].metric, limit);
    }

    const struct intel_channel *core = find(slot, CHANNEL_TEMPERATURE, "gpu");
    if (core != NULL && gpu_fill_wants(sample, VITALS_GPU_TEMPERATURE_CELSIUS))
        gpu_fill(sample, VITALS_GPU_TEMPERATURE_CELSIUS, read_celsius(os, core, "_input"));
}
