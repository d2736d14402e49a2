/* readings.c: what the demo's devices say of themselves: one function for each topic. */
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
        /* Between 0 and 1, the same for the same seed and number. */
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

uint64_t demo_stamp_ns(const struct demo *demo)
{
    const vitals_clock *clock = &demo->context->os.clock;
    return clock->monotonic_ns(clock->data);
}

bool demo_is_away(const struct demo *demo)
{
    return demo->scenario->second_is_away && (uint64_t)demo_seconds(demo) / AWAY_SECONDS % 2 == 1;
}

signed char demo_is_silent(const struct demo *demo, uint32_t slot)
{
    if (slot == 0 && demo->scenario->first_is_lost)
        return VITALS_GONE;
    if (slot == 1 && demo_is_away(demo))
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
    for (unsigned i = 0; i < device->process_count; i++)
        used += demo_process_bytes(device, device->first_process + i);
    for (uint32_t part = slot + 1; part < demo->count; part++) {
        if (demo->devices[part].parent_slot == (int32_t)slot)
            used += memory_used(demo, part);
    }
    return used;
}

/* ---- load, power, heat ---- */

/* How busy it is; a device that is too hot is so because it always works. */
static double load_of(const struct demo *demo, uint32_t slot)
{
    double load = demo_curve_at(&demo->devices[slot].load, demo_seconds(demo));
    return slot == 0 && demo->scenario->first_is_hot ? 0.97 : load;
}

/* Of a partitioned device the driver does not know how busy it is; it knows what it draws. */
static void read_utilization(const struct demo *demo, uint32_t slot, struct gpu_sample *sample)
{
    double load = load_of(demo, slot);
    if (demo->devices[slot].model->partitions > 0)
        return;
    gpu_fill(sample, VITALS_GPU_UTILIZATION_RATIO, value_f64(load));
    gpu_fill(sample, VITALS_GPU_MEMORY_BUSY_RATIO, value_f64(load * 0.45));
    gpu_fill(sample, VITALS_GPU_BUSY_SECONDS,
             value_f64(demo_curve_integral(&demo->devices[slot].load, demo_seconds(demo))));
    gpu_fill_child(sample, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "encoder", value_f64(load * 0.08));
    gpu_fill_child(sample, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "decoder", value_f64(load * 0.12));
}

static void read_power(const struct demo *demo, uint32_t slot, struct gpu_sample *sample)
{
    const struct demo_model *model = demo->devices[slot].model;
    double t = demo_seconds(demo), span = (model->limit_watts - model->idle_watts) * 0.9;
    double busy = demo_curve_integral(&demo->devices[slot].load, t);
    gpu_fill(sample, VITALS_GPU_POWER_WATTS,
             value_f64(model->idle_watts + span * load_of(demo, slot)));
    gpu_fill(sample, VITALS_GPU_POWER_LIMIT_WATTS, value_f64(model->limit_watts));
    gpu_fill(sample, VITALS_GPU_POWER_LIMIT_SET_WATTS, value_f64(model->limit_watts));
    gpu_fill(sample, VITALS_GPU_POWER_LIMIT_DEFAULT_WATTS, value_f64(model->limit_watts));
    gpu_fill(sample, VITALS_GPU_POWER_LIMIT_MIN_WATTS, value_f64(model->limit_watts / 4));
    gpu_fill(sample, VITALS_GPU_POWER_LIMIT_MAX_WATTS, value_f64(model->limit_watts));
    gpu_fill(sample, VITALS_GPU_ENERGY_JOULES, value_f64(model->idle_watts * t + span * busy));
}

static void read_heat(const struct demo *demo, uint32_t slot, struct gpu_sample *sample)
{
    static const char reasons[] = "hw_thermal_slowdown,sw_power_cap";
    bool hot = slot == 0 && demo->scenario->first_is_hot;
    double load = load_of(demo, slot), celsius = hot ? HOT_CELSIUS : (int)(33 + 44 * load);
    gpu_fill(sample, VITALS_GPU_TEMPERATURE_CELSIUS, value_f64(celsius));
    gpu_fill_child(sample, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", value_f64(celsius));
    gpu_fill_child(sample, VITALS_GPU_SENSOR_HIGH_CELSIUS, "gpu", value_f64(SLOWDOWN_CELSIUS));
    gpu_fill_child(sample, VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "gpu", value_f64(SHUTDOWN_CELSIUS));
    gpu_fill_child(sample, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory",
                   value_f64((int)(40 + 40 * load)));
    gpu_fill(sample, VITALS_GPU_THROTTLED_BY_POWER, value_u64(hot));
    gpu_fill(sample, VITALS_GPU_THROTTLED_BY_TEMPERATURE, value_u64(hot));
    gpu_fill(sample, VITALS_GPU_THROTTLED_BY_CURRENT, value_u64(0));
    gpu_fill(sample, VITALS_GPU_THROTTLED_OTHERWISE, value_u64(0));
    gpu_fill_text(sample, VITALS_GPU_THROTTLE_REASONS,
                  (struct span){reasons, hot ? sizeof reasons - 1 : 0});
    double mhz = hot ? 1200e6 : 345e6 + 1635e6 * load;
    gpu_fill_child(sample, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm", value_f64(mhz));
    gpu_fill_child(sample, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "sm", value_f64(1980e6));
    gpu_fill_child(sample, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "memory", value_f64(2619e6));
    gpu_fill_child(sample, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "memory", value_f64(2619e6));
}

static void read_errors(const struct demo *demo, uint32_t slot, struct gpu_sample *sample)
{
    bool ails = slot == 1 && demo->scenario->second_ails;
    gpu_fill(sample, VITALS_GPU_ECC_MODE, value_u64(1));
    gpu_fill(sample, VITALS_GPU_ECC_ERRORS_UNCORRECTED, value_u64(ails ? 2 : 0));
    gpu_fill(sample, VITALS_GPU_ECC_ERRORS_CORRECTED, value_u64(ails ? 1841 : 0));
    gpu_fill(sample, VITALS_GPU_REMAPPED_ROWS_CORRECTED, value_u64(0));
    gpu_fill(sample, VITALS_GPU_REMAPPED_ROWS_UNCORRECTED, value_u64(ails ? 3 : 0));
    gpu_fill(sample, VITALS_GPU_REMAPPED_ROWS_PENDING, value_u64(ails));
    gpu_fill(sample, VITALS_GPU_REMAPPED_ROWS_FAILED, value_u64(0));
    gpu_fill(sample, VITALS_GPU_XID_ERRORS, value_u64(ails ? 1 : 0));
    gpu_fill(sample, VITALS_GPU_XID_LAST, ails ? value_u64(63) : value_missing(VITALS_NOT_YET));
    gpu_fill_child(sample, VITALS_GPU_ERROR_CORRECTED, "dram", value_u64(ails ? 1841 : 0));
    gpu_fill_child(sample, VITALS_GPU_ERROR_UNCORRECTED, "dram", value_u64(ails ? 2 : 0));
    gpu_fill_child(sample, VITALS_GPU_ERROR_CORRECTED, "sram", value_u64(0));
    gpu_fill_child(sample, VITALS_GPU_ERROR_UNCORRECTED, "sram", value_u64(0));
}

static void read_links(const struct demo *demo, uint32_t slot, struct gpu_sample *sample)
{
    const struct demo_model *model = demo->devices[slot].model;
    gpu_fill(sample, VITALS_GPU_PCIE_GENERATION, value_u64(model->pcie_generation));
    gpu_fill(sample, VITALS_GPU_PCIE_GENERATION_MAX, value_u64(model->pcie_generation));
    gpu_fill(sample, VITALS_GPU_PCIE_WIDTH, value_u64(16));
    gpu_fill(sample, VITALS_GPU_PCIE_WIDTH_MAX, value_u64(16));
    gpu_fill(sample, VITALS_GPU_PCIE_REPLAYS, value_u64(0));
    double rate = load_of(demo, slot) * 2e9;
    gpu_fill(sample, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, value_f64(rate));
    gpu_fill(sample, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, value_f64(rate / 3));
    const char *kind = model->capability ? "nvlink" : "xgmi";
    double moved = demo_curve_integral(&demo->devices[slot].load, demo_seconds(demo)) * 1.2e9;
    for (unsigned i = 0; i < model->links; i++) {
        char label[GPU_LABEL];
        snprintf(label, sizeof label, "%s%u", kind, i);
        gpu_fill_child(sample, VITALS_GPU_LINK_ACTIVE, label, value_u64(1));
        gpu_fill_child(sample, VITALS_GPU_LINK_RECEIVED_BYTES, label, value_u64((uint64_t)moved));
        gpu_fill_child(sample, VITALS_GPU_LINK_TRANSMITTED_BYTES, label,
                       value_u64((uint64_t)(moved * 0.8)));
        gpu_fill_child_text(sample, VITALS_GPU_LINK_KIND, label, (struct span){kind, strlen(kind)});
        gpu_fill_child_text(sample, VITALS_GPU_LINK_REMOTE_KIND, label, (struct span){"switch", 6});
    }
}

/* ---- identity and configuration ---- */

static void read_identity(const struct demo *demo, uint32_t slot, struct gpu_sample *sample)
{
    const struct demo_model *model = demo->devices[slot].model;
    char serial[16];
    snprintf(serial, sizeof serial, "165022%07u", slot);
    const struct {
        vitals_metric metric;
        const char *text;
    } texts[] = {
        {VITALS_GPU_SERIAL, serial},
        {VITALS_GPU_ARCHITECTURE, model->architecture},
        {VITALS_GPU_COMPUTE_CAPABILITY, model->capability},
        {VITALS_GPU_RUNTIME_STATUS, "active"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        if (texts[i].text)
            gpu_fill_text(sample, texts[i].metric,
                          (struct span){texts[i].text, strlen(texts[i].text)});
    }
    gpu_fill(sample, VITALS_GPU_MULTIPROCESSORS, value_u64(model->multiprocessors));
    gpu_fill(sample, VITALS_GPU_MEMORY_BUS_BITS, value_u64(model->bus_bits));
}

/* What only NVIDIA's devices have. */
static void read_modes(const struct demo *demo, uint32_t slot, struct gpu_sample *sample)
{
    const struct demo_model *model = demo->devices[slot].model;
    if (!model->cuda)
        return;
    gpu_fill_text(sample, VITALS_GPU_COMPUTE_MODE, (struct span){"default", 7});
    gpu_fill(sample, VITALS_GPU_PERFORMANCE_STATE, value_u64(0));
    gpu_fill(sample, VITALS_GPU_PERSISTENCE_MODE, value_u64(1));
    gpu_fill(sample, VITALS_GPU_DISPLAY_ACTIVE, value_u64(0));
    gpu_fill(sample, VITALS_GPU_DISPLAY_ATTACHED, value_u64(0));
    gpu_fill(sample, VITALS_GPU_MIG_MODE, value_u64(model->partitions > 0));
    gpu_fill(sample, VITALS_GPU_MIG_MODE_PENDING, value_u64(model->partitions > 0));
    gpu_fill(sample, VITALS_GPU_ACCOUNTING_MODE, value_u64(0));
}

void demo_read(const struct demo *demo, uint32_t slot, struct gpu_sample *sample)
{
    static void (*const topics[])(const struct demo *, uint32_t, struct gpu_sample *) = {
        read_utilization, read_power, read_heat, read_errors, read_links, read_identity, read_modes,
    };
    const struct demo_device *device = &demo->devices[slot];
    if (demo->scenario->bare)
        return;

    uint64_t total = memory_of(&demo->devices[slot]), used = memory_used(demo, slot);
    uint64_t reserved = total / 128;
    gpu_fill(sample, VITALS_GPU_MEMORY_TOTAL_BYTES, value_u64(total));
    gpu_fill(sample, VITALS_GPU_MEMORY_USED_BYTES, value_u64(used));
    gpu_fill(sample, VITALS_GPU_MEMORY_RESERVED_BYTES, value_u64(reserved));
    gpu_fill(sample, VITALS_GPU_MEMORY_FREE_BYTES, value_u64(total - used - reserved));
    gpu_fill(sample, VITALS_GPU_UNIFIED_MEMORY, value_u64(0));
    gpu_fill_child(sample, VITALS_GPU_POOL_TOTAL_BYTES, "bar1", value_u64(total));
    gpu_fill_child(sample, VITALS_GPU_POOL_USED_BYTES, "bar1", value_u64(reserved / 32));

    if (device->parent_slot >= 0) {
        const char *kind = device->model->partition_kind;
        gpu_fill_text(sample, VITALS_GPU_PARTITION_KIND, (struct span){kind, strlen(kind)});
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(topics); i++)
        topics[i](demo, slot, sample);
}
