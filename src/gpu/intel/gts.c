/* gts.c: the GTs of a device: their clocks, sleep states and throttling. i915 keeps them in the
 * folder of the card (a single GT before kernel 5.18 has no folder of its own), xe in that of the
 * tile. A frequency of 0 is a sleeping GT. */
#include "gpu/intel/state.h"

#include "util/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A higher frequency is invalid: xe reports 627200 MHz as the most efficient one of an A380. */
static const uint64_t MEGAHERTZ_MAX = 10000;

// clang-format off
static const struct intel_dialect I915 = {
    .driver = "i915",
    .clocks = {"rps_act_freq_mhz", "rps_cur_freq_mhz", "rps_min_freq_mhz", "rps_max_freq_mhz"},
    .hardware_maximum = "rps_RP0_freq_mhz", .idle = "rc6_residency_ms", .throttle_folder = ".",
    .throttle_status = "throttle_reason_status", .throttle_prefix = "throttle_reason_",
};

static const struct intel_dialect I915_OLD = {
    .driver = "i915",
    .clocks = {"gt_act_freq_mhz", "gt_cur_freq_mhz", "gt_min_freq_mhz", "gt_max_freq_mhz"},
    .hardware_maximum = "gt_RP0_freq_mhz", .idle = "power/rc6_residency_ms",
};

static const struct intel_dialect XE = {
    .driver = "xe",
    .clocks = {"freq0/act_freq", "freq0/cur_freq", "freq0/min_freq", "freq0/max_freq"},
    .hardware_maximum = "freq0/rp0_freq", .idle = "gtidle/idle_residency_ms",
    .throttle_folder = "freq0/throttle", .throttle_status = "freq0/throttle/status",
    .throttle_prefix = "reason_", .engines = "engines", .counters_keep_awake = true,
};
// clang-format on

/* ---- reading ---- */

vitals_availability intel_reason(int error)
{
    switch (error) {
    case -ENOENT:
    case -ENOTDIR: return VITALS_UNSUPPORTED; // this driver, or this kernel, has no such file
    case -ENODATA:
    case -EBADMSG: return VITALS_FAILED;
    default: return os_availability(error);
    }
}

struct value intel_number(const struct os *os, const char *folder, const char *file)
{
    uint64_t number;
    int result = pci_number(os, folder, file, &number);
    return result < 0 ? value_missing(intel_reason(result)) : value_u64(number);
}

/* ---- discovery ---- */

/* Parses "gt12" → 12; returns false if anything but a number follows the prefix. */
static bool numbered(const char *name, const char *prefix, unsigned *number)
{
    uint64_t found;
    size_t size = strlen(prefix);
    if (strncmp(name, prefix, size) != 0 || !number_is_u64(name + size, &found) || found > 255)
        return false;
    *number = (unsigned)found;
    return true;
}

static void add_gt(struct intel_slot *slot, const struct intel_dialect *dialect, unsigned tile,
                   unsigned number, const char *folder)
{
    if (slot->gt_count == INTEL_GTS || strlen(folder) >= INTEL_FOLDER)
        return;
    struct intel_gt *gt = &slot->gts[slot->gt_count++];
    *gt = (struct intel_gt){.dialect = dialect, .tile = tile, .number = number};
    gt->idle.awake = value_missing(VITALS_NOT_YET);
    memcpy(gt->folder, folder, strlen(folder) + 1);
}

static void add_gts(const struct os *os, struct intel_slot *slot,
                    const struct intel_dialect *dialect, unsigned tile, const char *folder)
{
    struct os_sys_names names;
    unsigned number;
    os_sys_names(&names, os, "%s", folder);
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        char path[OS_SYS_PATH];
        if (numbered(name, "gt", &number) && pci_path(path, folder, name))
            add_gt(slot, dialect, tile, number, path);
    }
}

void intel_find_gts(const struct os *os, struct intel_slot *slot)
{
    char folder[OS_SYS_PATH];
    slot->gt_count = 0;
    if (strcmp(slot->driver, XE.driver) == 0) {
        struct os_sys_names names;
        unsigned tile;
        os_sys_names(&names, os, "%s", slot->folder);
        for (const char *name; (name = os_sys_next(&names)) != NULL;) {
            if (numbered(name, "tile", &tile) && (slot->tile < 0 || (unsigned)slot->tile == tile) &&
                pci_path(folder, slot->folder, name))
                add_gts(os, slot, &XE, tile, folder);
        }
        return;
    }
    snprintf(folder, sizeof folder, "class/drm/%s/gt", slot->card);
    add_gts(os, slot, &I915, 0, folder);
    if (slot->gt_count > 0)
        return;
    snprintf(folder, sizeof folder, "class/drm/%s", slot->card);
    if (intel_number(os, folder, I915_OLD.clocks[0]).state != VITALS_UNSUPPORTED)
        add_gt(slot, &I915_OLD, 0, 0, folder);
}

/* ---- clocks ---- */

static const struct {
    vitals_metric metric;
    bool is_limit; /* 0 means none */
} CLOCKS[] = {
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, false},
    {VITALS_GPU_CLOCK_FREQUENCY_REQUESTED_HERTZ, false},
    {VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ, true},
    {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, true},
};

static struct value read_hertz(const struct os *os, const struct intel_gt *gt, const char *file,
                               bool is_limit)
{
    struct value value = intel_number(os, gt->folder, file);
    if (value.state > 0 && is_limit && value.as.u64 == 0)
        return value_missing(VITALS_UNSUPPORTED);
    return value.state > 0 ? gpu_fill_scaled(value.as.u64, 1e6, MEGAHERTZ_MAX) : value;
}

void intel_fill_clocks(const struct os *os, struct intel_slot *slot, struct gpu_sample *sample)
{
    if (!gpu_fill_wants_table(sample, VITALS_TABLE_GPU_CLOCK))
        return;
    for (uint32_t i = 0; i < slot->gt_count; i++) {
        const struct intel_gt *gt = &slot->gts[i];
        char label[GPU_LABEL] = "graphics";
        if (slot->gt_count > 1)
            snprintf(label, sizeof label, "gt%u", gt->number);
        for (size_t c = 0; c < ARRAY_COUNT(CLOCKS); c++) {
            vitals_metric metric = CLOCKS[c].metric;
            struct value value = value_missing(VITALS_UNSET); /* the row is listed nevertheless */
            if (gpu_fill_wants(sample, metric))
                value = read_hertz(os, gt, gt->dialect->clocks[c], CLOCKS[c].is_limit);
            if (value.state < 0 && metric == VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ)
                value = read_hertz(os, gt, gt->dialect->hardware_maximum, true);
            gpu_fill_child(sample, metric, label, value);
        }
    }
}

/* ---- sleep ---- */

void intel_read_idle(const struct os *os, struct intel_slot *slot, uint64_t now_ns)
{
    for (uint32_t i = 0; i < slot->gt_count; i++) {
        struct intel_idle *idle = &slot->gts[i].idle;
        struct value now = intel_number(os, slot->gts[i].folder, slot->gts[i].dialect->idle);
        if (now.state <= 0) {
            *idle = (struct intel_idle){.awake = now};
            continue;
        }
        bool goes_on = idle->stamp_ns != 0 && now.as.u64 >= idle->ms;
        if (goes_on && now_ns - idle->stamp_ns < INTEL_WINDOW_NS)
            continue;
        if (goes_on) {
            double passed = (double)(now_ns - idle->stamp_ns);
            double asleep = (double)(now.as.u64 - idle->ms) * NS_PER_MS;
            idle->awake = value_f64(asleep < passed ? 1.0 - asleep / passed : 0.0);
            idle->awake.state = VITALS_UPPER_BOUND;
        } else {
            idle->awake = value_missing(VITALS_NOT_YET);
        }
        idle->ms = now.as.u64;
        idle->stamp_ns = now_ns;
    }
}

struct value intel_awake(const struct intel_slot *slot)
{
    struct value most = value_missing(VITALS_UNSUPPORTED);
    for (uint32_t i = 0; i < slot->gt_count; i++) {
        struct value awake = slot->gts[i].idle.awake;
        if (awake.state <= 0) /* if one GT is unknown, so is the maximum */
            return awake;
        if (most.state <= 0 || awake.as.f64 > most.as.f64)
            most = awake;
    }
    return most;
}

void intel_fill_idle(const struct intel_slot *slot, struct gpu_sample *sample)
{
    struct value least = value_missing(VITALS_UNSUPPORTED);
    for (uint32_t i = 0; i < slot->gt_count; i++) {
        const struct intel_idle *idle = &slot->gts[i].idle;
        if (idle->stamp_ns == 0) {
            least = value_missing(idle->awake.state);
            break;
        }
        double seconds = (double)idle->ms / 1e3;
        if (least.state <= 0 || seconds < least.as.f64)
            least = value_f64(seconds);
    }
    /* Several GTs were asleep together for at most the shortest of their times. */
    if (least.state > 0 && slot->gt_count > 1)
        least.state = VITALS_UPPER_BOUND;
    gpu_fill(sample, VITALS_GPU_IDLE_RESIDENCY_SECONDS, least);
}

/* ---- throttling ---- */

/* Parts of a reason's name, the first that fits: pl1, psys_pl2, vr_thermalert, soc_avg_thermal. */
static const struct {
    const char *part;
    vitals_metric metric;
} REASONS[] = {
    {"therm", VITALS_GPU_THROTTLED_BY_TEMPERATURE},
    {"prochot", VITALS_GPU_THROTTLED_BY_TEMPERATURE},
    {"ratl", VITALS_GPU_THROTTLED_BY_TEMPERATURE},
    {"tdc", VITALS_GPU_THROTTLED_BY_CURRENT},
    {"iccmax", VITALS_GPU_THROTTLED_BY_CURRENT},
    {"fastvmode", VITALS_GPU_THROTTLED_BY_CURRENT},
    {"pl1", VITALS_GPU_THROTTLED_BY_POWER},
    {"pl2", VITALS_GPU_THROTTLED_BY_POWER},
    {"pl4", VITALS_GPU_THROTTLED_BY_POWER},
    {"psys", VITALS_GPU_THROTTLED_BY_POWER},
    {"", VITALS_GPU_THROTTLED_OTHERWISE},
};

static const vitals_metric THROTTLED[] = {
    VITALS_GPU_THROTTLED_BY_POWER, VITALS_GPU_THROTTLED_BY_TEMPERATURE,
    VITALS_GPU_THROTTLED_BY_CURRENT, VITALS_GPU_THROTTLED_OTHERWISE, VITALS_GPU_THROTTLE_REASONS};

/* Reasons why one or several GTs are throttled. */
struct throttling {
    bool known, failed; /* some of them could be read; some could not */
    vitals_availability reason;
    struct metric_set held;
    size_t size;
    char words[GPU_NAME];
};

/* Adds a reason that holds, once. */
static void add_reason(struct throttling *throttling, const char *word)
{
    size_t i = 0;
    while (strstr(word, REASONS[i].part) == NULL)
        i++;
    metric_set_add(&throttling->held, REASONS[i].metric);
    for (const char *at = throttling->words; (at = strstr(at, word)) != NULL; at++) {
        bool starts = at == throttling->words || at[-1] == ',';
        if (starts && (at[strlen(word)] == ',' || at[strlen(word)] == '\0'))
            return;
    }
    size_t room = sizeof throttling->words - throttling->size;
    int size = snprintf(throttling->words + throttling->size, room, "%s%s",
                        throttling->size > 0 ? "," : "", word);
    if (size > 0 && (size_t)size < room)
        throttling->size += (size_t)size;
    else
        throttling->words[throttling->size] = '\0';
}

static void read_reasons(const struct os *os, const struct intel_gt *gt,
                         struct throttling *throttling)
{
    const char *prefix = gt->dialect->throttle_prefix;
    char folder[OS_SYS_PATH];
    if (!pci_path(folder, gt->folder, gt->dialect->throttle_folder))
        return;
    struct os_sys_names names;
    os_sys_names(&names, os, "%s", folder);
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        const char *word = name + strlen(prefix);
        if (strncmp(name, prefix, strlen(prefix)) != 0 || strcmp(word, "status") == 0)
            continue;
        struct value held = intel_number(os, folder, name);
        if (held.state > 0 && held.as.u64 != 0)
            add_reason(throttling, word);
    }
}

void intel_fill_throttling(const struct os *os, struct intel_slot *slot, struct gpu_sample *sample)
{
    bool wanted = false;
    for (size_t i = 0; i < ARRAY_COUNT(THROTTLED); i++)
        wanted |= gpu_fill_wants(sample, THROTTLED[i]);
    if (!wanted)
        return;
    struct throttling throttling = {.reason = VITALS_UNSUPPORTED};
    for (uint32_t i = 0; i < slot->gt_count; i++) {
        const struct intel_gt *gt = &slot->gts[i];
        const struct intel_dialect *dialect = gt->dialect;
        struct value status = value_missing(VITALS_UNSUPPORTED);
        if (dialect->throttle_status != NULL)
            status = intel_number(os, gt->folder, dialect->throttle_status);
        if (status.state <= 0) {
            throttling.failed = true;
            throttling.reason = (vitals_availability)status.state;
            continue;
        }
        throttling.known = true;
        if (status.as.u64 == 0)
            continue; /* not throttled */
        read_reasons(os, gt, &throttling);
        if (throttling.size == 0) /* throttled without a reason */
            metric_set_add(&throttling.held, VITALS_GPU_THROTTLED_OTHERWISE);
    }
    for (size_t i = 0; i < ARRAY_COUNT(THROTTLED); i++) {
        vitals_metric metric = THROTTLED[i];
        bool held = metric_set_has(&throttling.held, metric);
        if (!throttling.known || (throttling.failed && !held))
            gpu_fill(sample, metric, value_missing(throttling.reason));
        else if (metric == VITALS_GPU_THROTTLE_REASONS)
            gpu_fill_text(sample, metric, throttling.words);
        else
            gpu_fill(sample, metric, value_u64(held));
    }
}
