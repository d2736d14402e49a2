/* readings.c: the readings of the demo's devices. */
#include "gpu/demo/demo.h"

#include <stdio.h>
#include <string.h>

#define STEP_NS (100 * NS_PER_MS) /* values move in steps of this */
#define MIB     (UINT64_C(1) << 20)
enum { AWAY_SECONDS = 10, HOT_CELSIUS = 88, SLOWDOWN_CELSIUS = 87, SHUTDOWN_CELSIUS = 92 };

/* ---- curves ---- */

void demo_curve_init(struct demo_curve *curve, uint64_t seed, double low, double high)
{
    for (unsigned i = 0; i < DEMO_POINTS; i++) {
        /* A pseudo-random number between 0 and 1, the same for the same seed and number. */
        uint64_t x = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + i * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ (x >> 31)) * UINT64_C(0x94d049bb133111eb);
        x = (x ^ (x >> 29)) * UINT64_C(0xd6e8feb86659fd93);
        x ^= x >> 32;
        double chance = (double)(x >> 11) / (double)(UINT64_C(1) << 53);
        curve->points[i] = low + (high - low) * chance;
    }
}

static double point(const struct demo_curve *curve, uint64_t number)
{
    return curve->points[number % DEMO_POINTS];
}

double demo_curve_at(const struct demo_curve *curve, double seconds)
{
    double place = seconds / DEMO_POINT_SECONDS;
    uint64_t before = (uint64_t)place;
    double part = place - (double)before;
    return point(curve, before) * (1 - part) + point(curve, before + 1) * part;
}

double demo_curve_integral(const struct demo_curve *curve, double seconds)
{
    uint64_t before = (uint64_t)(seconds / DEMO_POINT_SECONDS);
    double round = 0, sum = 0;
    for (unsigned i = 0; i < DEMO_POINTS; i++) {
        double piece = (point(curve, i) + point(curve, i + 1)) / 2 * DEMO_POINT_SECONDS;
        round += piece;
        if (i < before % DEMO_POINTS)
            sum += piece;
    }
    double rest = seconds - (double)(before * DEMO_POINT_SECONDS);
    double last = (point(curve, before) + demo_curve_at(curve, seconds)) / 2 * rest;
    return (double)(before / DEMO_POINTS) * round + sum + last;
}

/* ---- time ---- */

double demo_seconds(const struct demo *demo)
{
    const vitals_clock *clock = &demo->context->os.clock;
    return (double)(clock->boottime_ns(clock->data) / STEP_NS) / (double)(NS_PER_SECOND / STEP_NS);
}

bool demo_is_away(const struct demo *demo)
{
    return demo->scenario->second_is_away && (uint64_t)demo_seconds(demo) / AWAY_SECONDS % 2 == 1;
}

/* ---- the story: the first device is throttled twice, the second holds memory and does nothing,
 * the third is lost twice, the job of the fourth ends and another begins ---- */

struct story_part {
    double begin, end; /* seconds of a round */
};

static bool in_story(const struct demo *demo, const struct story_part *spans, size_t count)
{
    enum { ROUND = 180 };
    double t = demo_seconds(demo), at = t - (double)((uint64_t)t / ROUND * ROUND);
    bool inside = false;
    for (size_t i = 0; i < count; i++)
        inside = inside || (at >= spans[i].begin && at < spans[i].end);
    return demo->scenario->story && inside;
}

static const struct story_part HOT[] = {{25, 60}, {125, 170}}, LOST[] = {{70, 95}, {140, 160}},
                               JOBLESS[] = {{40, 60}, {105, 125}}, ALWAYS[] = {{0, 180}};
#define IN_STORY(demo, spans) in_story(demo, spans, ARRAY_COUNT(spans))

static bool is_hot(const struct demo *demo, uint32_t slot)
{
    return slot == 0 && (demo->scenario->first_is_hot || IN_STORY(demo, HOT));
}

double demo_load(const struct demo *demo, uint32_t slot)
{
    if ((slot == 1 && IN_STORY(demo, ALWAYS)) || (slot == 3 && IN_STORY(demo, JOBLESS)))
        return 0;
    return is_hot(demo, slot) ? 0.97 : demo_curve_at(&demo->devices[slot].load, demo_seconds(demo));
}

unsigned demo_process_count_now(const struct demo *demo, uint32_t slot)
{
    return slot == 3 && IN_STORY(demo, JOBLESS) ? 0 : demo->devices[slot].process_count;
}

signed char demo_is_silent(const struct demo *demo, uint32_t slot)
{
    if (slot == 0 && demo->scenario->first_is_lost)
        return VITALS_GONE;
    if (slot == 1 && demo_is_away(demo))
        return VITALS_GONE;
    if (slot == 2 && IN_STORY(demo, LOST))
        return VITALS_GONE;
    if (slot == 2 && demo->scenario->third_sleeps)
        return VITALS_SUSPENDED;
    return VITALS_HAVE;
}

/* ---- memory ---- */

static uint64_t memory_of(const struct demo_device *device)
{
    uint64_t whole = device->model->memory_bytes;
    return device->parent_slot < 0 ? whole : whole / device->model->partitions;
}

uint64_t demo_process_bytes(const struct demo_device *device, unsigned n)
{
    return (uint64_t)((double)memory_of(device) * demo_programs[n % DEMO_PROGRAMS].memory_share);
}

static uint64_t memory_used(const struct demo *demo, uint32_t slot)
{
    const struct demo_device *device = &demo->devices[slot];
    uint64_t used = 37 * MIB;
    for (unsigned i = 0; i < demo_process_count_now(demo, slot); i++)
        used += demo_process_bytes(device, device->first_process + i);
    for (uint32_t part = slot + 1; part < demo->count; part++) {
        if (demo->devices[part].parent_slot == (int32_t)slot)
            used += memory_used(demo, part);
    }
    return used;
}

/* ---- all readings ---- */

struct demo_reading {
    vitals_metric metric;
    const char *label; /* NULL: a value of the device */
    double number;
};

static void fill(struct gpu_sample *sample, const struct demo_reading *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double number = rows[i].number;
        bool whole = vitals_metric_type(rows[i].metric) != VITALS_F64;
        struct value value = whole ? value_u64((uint64_t)number) : value_f64(number);
        if (rows[i].label)
            gpu_fill_child(sample, rows[i].metric, rows[i].label, value);
        else
            gpu_fill(sample, rows[i].metric, value);
    }
}

static void fill_text(struct gpu_sample *sample, vitals_metric metric, const char *text)
{
    if (text)
        gpu_fill_text(sample, metric, text);
}

static void fill_links(const struct demo_model *model, double moved, struct gpu_sample *sample)
{
    const char *kind = model->capability ? "nvlink" : "xgmi";
    for (unsigned i = 0; i < model->links; i++) {
        char label[GPU_LABEL];
        snprintf(label, sizeof label, "%s%u", kind, i);
        const struct demo_reading rows[] = {
            {VITALS_GPU_LINK_ACTIVE, label, 1},
            {VITALS_GPU_LINK_RECEIVED_BYTES, label, moved},
            {VITALS_GPU_LINK_TRANSMITTED_BYTES, label, moved * 0.8},
        };
        fill(sample, rows, ARRAY_COUNT(rows));
        gpu_fill_child_text(sample, VITALS_GPU_LINK_KIND, label, kind);
        gpu_fill_child_text(sample, VITALS_GPU_LINK_REMOTE_KIND, label, "switch");
    }
}

/* Fills in modes that only NVIDIA devices have. */
static void fill_modes(const struct demo_model *model, struct gpu_sample *sample)
{
    bool divided = model->partitions > 0;
    const struct demo_reading rows[] = {
        {VITALS_GPU_PERFORMANCE_STATE, NULL, 0}, {VITALS_GPU_PERSISTENCE_MODE, NULL, 1},
        {VITALS_GPU_DISPLAY_ACTIVE, NULL, 0},    {VITALS_GPU_DISPLAY_ATTACHED, NULL, 0},
        {VITALS_GPU_MIG_MODE, NULL, divided},    {VITALS_GPU_MIG_MODE_PENDING, NULL, divided},
        {VITALS_GPU_ACCOUNTING_MODE, NULL, 0},
    };
    fill(sample, rows, ARRAY_COUNT(rows));
    fill_text(sample, VITALS_GPU_COMPUTE_MODE, "default");
}

static void fill_memory(const struct demo *demo, uint32_t slot, struct gpu_sample *sample)
{
    uint64_t total = memory_of(&demo->devices[slot]), used = memory_used(demo, slot);
    uint64_t reserved = total / 128;
    const struct demo_reading rows[] = {
        {VITALS_GPU_MEMORY_TOTAL_BYTES, NULL, (double)total},
        {VITALS_GPU_MEMORY_USED_BYTES, NULL, (double)used},
        {VITALS_GPU_MEMORY_RESERVED_BYTES, NULL, (double)reserved},
        {VITALS_GPU_MEMORY_FREE_BYTES, NULL, (double)(total - used - reserved)},
        {VITALS_GPU_UNIFIED_MEMORY, NULL, 0},
        {VITALS_GPU_POOL_TOTAL_BYTES, "bar1", (double)total},
        {VITALS_GPU_POOL_USED_BYTES, "bar1", (double)(reserved / 32)},
    };
    fill(sample, rows, ARRAY_COUNT(rows));
}

void demo_read(const struct demo *demo, uint32_t slot, struct gpu_sample *sample)
{
    const struct demo_device *device = &demo->devices[slot];
    const struct demo_model *model = device->model;
    if (demo->scenario->bare)
        return;
    fill_memory(demo, slot, sample);
    if (device->parent_slot >= 0) {
        fill_text(sample, VITALS_GPU_PARTITION_KIND, model->partition_kind);
        return;
    }

    /* The hot device is hot because it always works. */
    bool hot = is_hot(demo, slot);
    bool ails = slot == 1 && demo->scenario->second_ails;
    double t = demo_seconds(demo), load = demo_load(demo, slot);
    double busy = demo_curve_integral(&device->load, t);
    double celsius = hot ? HOT_CELSIUS : (int)(33 + 44 * load);
    double span = (model->limit_watts - model->idle_watts) * 0.9, limit = model->limit_watts;
    const struct demo_reading utilization[] = {
        {VITALS_GPU_UTILIZATION_RATIO, NULL, load},
        {VITALS_GPU_MEMORY_BUSY_RATIO, NULL, load * 0.45},
        {VITALS_GPU_BUSY_SECONDS, NULL, busy},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "encoder", load * 0.08},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "decoder", load * 0.12},
    };
    const struct demo_reading rows[] = {
        {VITALS_GPU_POWER_WATTS, NULL, model->idle_watts + span * load},
        {VITALS_GPU_POWER_LIMIT_WATTS, NULL, limit},
        {VITALS_GPU_POWER_LIMIT_SET_WATTS, NULL, limit},
        {VITALS_GPU_POWER_LIMIT_DEFAULT_WATTS, NULL, limit},
        {VITALS_GPU_POWER_LIMIT_MIN_WATTS, NULL, limit / 4},
        {VITALS_GPU_POWER_LIMIT_MAX_WATTS, NULL, limit},
        {VITALS_GPU_ENERGY_JOULES, NULL, model->idle_watts * t + span * busy},
        {VITALS_GPU_TEMPERATURE_CELSIUS, NULL, celsius},
        {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", celsius},
        {VITALS_GPU_SENSOR_HIGH_CELSIUS, "gpu", SLOWDOWN_CELSIUS},
        {VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "gpu", SHUTDOWN_CELSIUS},
        {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory", (int)(40 + 40 * load)},
        {VITALS_GPU_THROTTLED_BY_POWER, NULL, hot},
        {VITALS_GPU_THROTTLED_BY_TEMPERATURE, NULL, hot},
        {VITALS_GPU_THROTTLED_BY_CURRENT, NULL, 0},
        {VITALS_GPU_THROTTLED_OTHERWISE, NULL, 0},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm", hot ? 1200e6 : 345e6 + 1635e6 * load},
        {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "sm", 1980e6},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "memory", 2619e6},
        {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "memory", 2619e6},
        {VITALS_GPU_ECC_MODE, NULL, 1},
        {VITALS_GPU_ECC_ERRORS_UNCORRECTED, NULL, ails ? 2 : 0},
        {VITALS_GPU_ECC_ERRORS_CORRECTED, NULL, ails ? 1841 : 0},
        {VITALS_GPU_REMAPPED_ROWS_CORRECTED, NULL, 0},
        {VITALS_GPU_REMAPPED_ROWS_UNCORRECTED, NULL, ails ? 3 : 0},
        {VITALS_GPU_REMAPPED_ROWS_PENDING, NULL, ails},
        {VITALS_GPU_REMAPPED_ROWS_FAILED, NULL, 0},
        {VITALS_GPU_XID_ERRORS, NULL, ails},
        {VITALS_GPU_ERROR_CORRECTED, "dram", ails ? 1841 : 0},
        {VITALS_GPU_ERROR_UNCORRECTED, "dram", ails ? 2 : 0},
        {VITALS_GPU_ERROR_CORRECTED, "sram", 0},
        {VITALS_GPU_ERROR_UNCORRECTED, "sram", 0},
        {VITALS_GPU_PCIE_GENERATION, NULL, model->pcie_generation},
        {VITALS_GPU_PCIE_GENERATION_MAX, NULL, model->pcie_generation},
        {VITALS_GPU_PCIE_WIDTH, NULL, 16},
        {VITALS_GPU_PCIE_WIDTH_MAX, NULL, 16},
        {VITALS_GPU_PCIE_REPLAYS, NULL, 0},
        {VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, NULL, load * 2e9},
        {VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, NULL, load * 2e9 / 3},
        {VITALS_GPU_MULTIPROCESSORS, NULL, model->multiprocessors},
        {VITALS_GPU_MEMORY_BUS_BITS, NULL, model->bus_bits},
    };
    char serial[16];
    snprintf(serial, sizeof serial, "165022%07u", slot);
    if (model->partitions == 0) /* else the driver does not report its utilization */
        fill(sample, utilization, ARRAY_COUNT(utilization));
    fill(sample, rows, ARRAY_COUNT(rows));
    gpu_fill(sample, VITALS_GPU_XID_LAST, ails ? value_u64(63) : value_missing(VITALS_NOT_YET));
    fill_text(sample, VITALS_GPU_THROTTLE_REASONS, hot ? "hw_thermal_slowdown,sw_power_cap" : "");
    fill_text(sample, VITALS_GPU_SERIAL, serial);
    fill_text(sample, VITALS_GPU_ARCHITECTURE, model->architecture);
    fill_text(sample, VITALS_GPU_COMPUTE_CAPABILITY, model->capability);
    fill_text(sample, VITALS_GPU_RUNTIME_STATUS, "active");
    fill_links(model, busy * 1.2e9, sample);
    if (model->cuda)
        fill_modes(model, sample);
}
