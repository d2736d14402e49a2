/* The AMD back end over fixtures of what amdgpu and KFD tell, with the values that must come out.
 * What sleeps, what is hostile and what a doctor asks have files of their own. */
#include "amd_world.h"

#include "gpu/amd/state.h"

static struct amd_world world;

/* ---- devices ---- */

static void a_scan_says_who_is_there(void)
{
    static const struct {
        const char *fixture, *uuid, *name, *bus_id, *driver;
        uint32_t count, nodes, card, render;
    } cases[] = {
        {"navi21-5.14", "AMD-9d1c4a3fe0a55b21", "AMD Radeon RX 6900 XT", "0000:03:00.0", "5.14.21",
         1, 2, 0, 128},
        {"vega10-5.19", "AMD-0000:0b:00.0", "Vega 10 XL/XT [Radeon RX Vega 56/64]", "0000:0b:00.0",
         "5.19.17", 1, 2, 1, 129},
        {"navi48-6.14", "AMD-00c0ffee00c0ffee", "AMD GPU [1002:7550]", "0000:03:00.0", "6.12.12", 1,
         2, 1, 128},
        {"phoenix-6.8", "AMD-0000:c4:00.0", "AMD GPU [1002:15bf]", "0000:c4:00.0", "6.8.12", 1, 2,
         0, 128},
        {"strix-6.14", "AMD-0000:c4:00.0", "AMD GPU [1002:150e]", "0000:c4:00.0", "6.14.2", 1, 2, 1,
         128},
        {"mi300x-6.12", "AMD-a1b2c3d4e5f60000", "AMD Instinct MI300X OAM", "0000:05:00.0", "6.10.5",
         2, 2, 1, 128},
        {"mi300x-cpx-6.14", "AMD-a1b2c3d4e5f60000", "AMD Instinct MI300X OAM", "0000:05:00.0",
         "6.14.0", 9, 2, 1, 128},
        {"suspended", "AMD-1234abcd1234abcd", "AMD GPU [1002:73ff]", "0000:03:00.0", "6.1.90", 1, 2,
         1, 129},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].fixture);
        amd_world_begin(&world, cases[i].fixture);
        const struct gpu_identity *device = &world.scan.devices[0];
        CHECK_INT(world.scan.state, VITALS_HAVE);
        CHECK_UINT(world.scan.count, cases[i].count);
        CHECK_STR(device->uuid, cases[i].uuid);
        CHECK_STR(device->name, cases[i].name);
        CHECK_STR(device->vendor, "amd");
        CHECK_STR(device->pci_bus_id, cases[i].bus_id);
        CHECK_STR(device->driver_version, cases[i].driver);
        CHECK_INT(device->cuda_state, VITALS_UNSUPPORTED);
        CHECK_INT(device->parent_slot, -1);
        CHECK_UINT(device->node_count, cases[i].nodes);
        CHECK_UINT(device->nodes[0].major, 226);
        CHECK_UINT(device->nodes[0].minor, cases[i].card);
        CHECK_UINT(device->nodes[1].minor, cases[i].render);
        amd_world_end(&world);
    }
}

static void a_divided_card_has_a_partition_for_each_node(void)
{
    amd_world_begin(&world, "mi300x-cpx-6.14");
    for (uint32_t i = 1; i < 9; i++) {
        const struct gpu_identity *part = &world.scan.devices[i];
        char uuid[GPU_NAME];
        snprintf(uuid, sizeof uuid, "AMD-a1b2c3d4e5f60000-xcp%u", i - 1);
        CHECK_INT(part->parent_slot, (intmax_t)world.scan.devices[0].slot);
        CHECK_STR(part->uuid, uuid);
        CHECK_STR(part->name, "CPX");
        CHECK_UINT(part->index, i - 1);
        CHECK_UINT(part->node_count, i == 1 ? 2 : 1); /* the first has the card's own */
        CHECK_UINT(part->nodes[part->node_count - 1].minor, 127 + i);
    }
    amd_world_end(&world);
}

static void a_machine_without_a_card_says_so(void)
{
    CHECK(amd_world_open(&world, "") < 0);
    CHECK_INT(world.scan.state, VITALS_UNSUPPORTED);
    CHECK_STR(world.scan.message, "the driver amdgpu has no device here");
    amd_world_end(&world);
}

static void who_is_reset_is_who_it_was(void)
{
    amd_world_begin(&world, "navi21-5.14");
    gpu_tree_remove(&world.tree, "sys/bus/pci/devices/0000:03:00.0/unique_id");
    amd_world_scan(&world);
    CHECK_UINT(world.scan.count, 1);
    CHECK_STR(world.scan.devices[0].uuid, "AMD-9d1c4a3fe0a55b21");
    CHECK_UINT(world.scan.devices[0].slot, 0);
    amd_world_end(&world);
}

static void a_card_that_is_divided_anew_is_the_same_device_in_another_slot(void)
{
    amd_world_begin(&world, "mi300x-cpx-6.14");
    CHECK_UINT(world.scan.count, 9);
    for (unsigned node = 2; node <= 8; node++) {
        char path[96];
        snprintf(path, sizeof path, "sys/class/kfd/kfd/topology/nodes/%u", node);
        gpu_tree_remove(&world.tree, path);
    }
    gpu_tree_text(&world.tree, "sys/class/kfd/kfd/topology/generation_id", "4\n");
    amd_world_scan(&world);
    CHECK_UINT(world.scan.count, 1);
    CHECK_STR(world.scan.devices[0].uuid, "AMD-a1b2c3d4e5f60000");
    CHECK_UINT(world.scan.devices[0].slot, 9);
    amd_world_scan(&world);
    CHECK_UINT(world.scan.devices[0].slot, 9);
    amd_world_end(&world);
}

/* ---- what the files say ---- */

static const double NONE = -12345;

/* Of the fixture's device at that place, the second of two readings a second apart. */
static void files_become_values(void)
{
    static const struct {
        const char *fixture;
        uint32_t device;
        vitals_metric metric;
        const char *label;
        vitals_availability state;
        double number;
    } cases[] = {
        {"navi21-5.14", 0, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0.99},
        {"navi21-5.14", 0, VITALS_GPU_MEMORY_BUSY_RATIO, "", VITALS_HAVE, 0.43},
        {"navi21-5.14", 0, VITALS_GPU_BUSY_SECONDS, "", VITALS_SAMPLED, 0.99},
        {"navi21-5.14", 0, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_HAVE, 17163091968},
        {"navi21-5.14", 0, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_HAVE, 9663676416},
        {"navi21-5.14", 0, VITALS_GPU_MEMORY_FREE_BYTES, "", VITALS_HAVE, 7499415552},
        {"navi21-5.14", 0, VITALS_GPU_UNIFIED_MEMORY, "", VITALS_HAVE, 0},
        {"navi21-5.14", 0, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 302},
        {"navi21-5.14", 0, VITALS_GPU_POWER_LIMIT_WATTS, "", VITALS_HAVE, 303},
        {"navi21-5.14", 0, VITALS_GPU_POWER_LIMIT_DEFAULT_WATTS, "", VITALS_HAVE, 303},
        {"navi21-5.14", 0, VITALS_GPU_POWER_LIMIT_MIN_WATTS, "", VITALS_HAVE, 0},
        {"navi21-5.14", 0, VITALS_GPU_POWER_LIMIT_MAX_WATTS, "", VITALS_HAVE, 348},
        {"navi21-5.14", 0, VITALS_GPU_ENERGY_JOULES, "", VITALS_UNSUPPORTED, NONE},
        {"navi21-5.14", 0, VITALS_GPU_TEMPERATURE_CELSIUS, "", VITALS_HAVE, 55},
        {"navi21-5.14", 0, VITALS_GPU_FAN_RATIO, "", VITALS_HAVE, 0.4},
        {"navi21-5.14", 0, VITALS_GPU_PCIE_GENERATION, "", VITALS_HAVE, 3},
        {"navi21-5.14", 0, VITALS_GPU_PCIE_WIDTH, "", VITALS_HAVE, 8},
        {"navi21-5.14", 0, VITALS_GPU_PCIE_GENERATION_MAX, "", VITALS_HAVE, 4},
        {"navi21-5.14", 0, VITALS_GPU_PCIE_WIDTH_MAX, "", VITALS_HAVE, 16},
        {"navi21-5.14", 0, VITALS_GPU_PCIE_REPLAYS, "", VITALS_HAVE, 2},
        {"navi21-5.14", 0, VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_HAVE, 1},
        {"navi21-5.14", 0, VITALS_GPU_THROTTLED_BY_TEMPERATURE, "", VITALS_HAVE, 1},
        {"navi21-5.14", 0, VITALS_GPU_THROTTLED_BY_CURRENT, "", VITALS_HAVE, 1},
        {"navi21-5.14", 0, VITALS_GPU_THROTTLED_OTHERWISE, "", VITALS_HAVE, 0},
        {"navi21-5.14", 0, VITALS_GPU_DISPLAY_ATTACHED, "", VITALS_HAVE, 1},
        {"navi21-5.14", 0, VITALS_GPU_DISPLAY_ACTIVE, "", VITALS_HAVE, 1},
        {"navi21-5.14", 0, VITALS_GPU_NUMA_NODE, "", VITALS_UNSUPPORTED, NONE},
        {"navi21-5.14", 0, VITALS_GPU_MULTIPROCESSORS, "", VITALS_UNSUPPORTED, NONE},
        {"navi21-5.14", 0, VITALS_GPU_ECC_ERRORS_UNCORRECTED, "", VITALS_UNSUPPORTED, NONE},
        {"navi21-5.14", 0, VITALS_GPU_ECC_MODE, "", VITALS_UNSUPPORTED, NONE},
        {"navi21-5.14", 0, VITALS_GPU_RETIRED_PAGES_UNCORRECTED, "", VITALS_UNSUPPORTED, NONE},
        {"navi21-5.14", 0, VITALS_GPU_POOL_TOTAL_BYTES, "vram_visible", VITALS_HAVE, 268435456},
        {"navi21-5.14", 0, VITALS_GPU_POOL_USED_BYTES, "gtt", VITALS_HAVE, 117440512},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", VITALS_HAVE, 55},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "junction", VITALS_HAVE, 70},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory", VITALS_HAVE, 64},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_HIGH_CELSIUS, "junction", VITALS_HAVE, 110},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "junction", VITALS_HAVE, 115},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "vr_soc", VITALS_HAVE, 58},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "vr_mem", VITALS_UNSET, NONE},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_FAN_RPM, "fan0", VITALS_HAVE, 1779},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_FAN_RATIO, "fan0", VITALS_HAVE, 0.4},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_VOLTAGE_VOLTS, "vddgfx", VITALS_HAVE, 1.068},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_VOLTAGE_VOLTS, "vddmem", VITALS_HAVE, 1.35},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_POWER_WATTS, "PPT", VITALS_HAVE, 302},
        {"navi21-5.14", 0, VITALS_GPU_SENSOR_POWER_LIMIT_WATTS, "PPT", VITALS_HAVE, 303},
        {"navi21-5.14", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", VITALS_HAVE, 2504e6},
        {"navi21-5.14", 0, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "graphics", VITALS_HAVE, 2505e6},
        {"navi21-5.14", 0, VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ, "memory", VITALS_HAVE, 96e6},
        {"navi21-5.14", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "soc", VITALS_HAVE, 1200e6},
        {"navi21-5.14", 0, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics", VITALS_HAVE, 0.99},
        {"navi21-5.14", 0, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "video", VITALS_HAVE, 0.07},

        /* its gpu_metrics is of a revision that we do not read */
        {"vega10-5.19", 0, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0},
        {"vega10-5.19", 0, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 3},
        {"vega10-5.19", 0, VITALS_GPU_POWER_LIMIT_WATTS, "", VITALS_HAVE, 165},
        {"vega10-5.19", 0, VITALS_GPU_POWER_LIMIT_MAX_WATTS, "", VITALS_UNSUPPORTED, NONE},
        {"vega10-5.19", 0, VITALS_GPU_SENSOR_POWER_WATTS, "power1", VITALS_HAVE, 3},
        {"vega10-5.19", 0, VITALS_GPU_SENSOR_FAN_RPM, "fan0", VITALS_HAVE, 0},
        {"vega10-5.19", 0, VITALS_GPU_FAN_RATIO, "", VITALS_HAVE, 0},
        {"vega10-5.19", 0, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "junction", VITALS_UNSET, NONE},
        {"vega10-5.19", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", VITALS_HAVE, 0},
        {"vega10-5.19", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "memory", VITALS_HAVE, 167e6},
        {"vega10-5.19", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "dcefclk", VITALS_HAVE, 600e6},
        {"vega10-5.19", 0, VITALS_GPU_PCIE_GENERATION, "", VITALS_HAVE, 3},
        {"vega10-5.19", 0, VITALS_GPU_PCIE_WIDTH, "", VITALS_HAVE, 16},
        {"vega10-5.19", 0, VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_UNSUPPORTED, NONE},

        {"navi48-6.14", 0, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 21},
        {"navi48-6.14", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", VITALS_HAVE, 19e6},
        {"navi48-6.14", 0, VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ, "graphics", VITALS_HAVE, 500e6},
        {"navi48-6.14", 0, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "graphics", VITALS_HAVE, 3100e6},
        {"navi48-6.14", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "video", VITALS_ESTIMATE, 800e6},
        {"navi48-6.14", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "memory", VITALS_HAVE, 1249e6},
        {"navi48-6.14", 0, VITALS_GPU_PCIE_GENERATION, "", VITALS_HAVE, 1},
        {"navi48-6.14", 0, VITALS_GPU_PCIE_WIDTH, "", VITALS_HAVE, 16},
        {"navi48-6.14", 0, VITALS_GPU_MULTIPROCESSORS, "", VITALS_HAVE, 64},
        {"navi48-6.14", 0, VITALS_GPU_MEMORY_BUS_BITS, "", VITALS_HAVE, 256},
        {"navi48-6.14", 0, VITALS_GPU_ENERGY_JOULES, "", VITALS_UNSUPPORTED, NONE},
        {"navi48-6.14", 0, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "junction", VITALS_HAVE, 71},

        /* a processor: what it may use is more than the machine has */
        {"phoenix-6.8", 0, VITALS_GPU_UNIFIED_MEMORY, "", VITALS_HAVE, 1},
        {"phoenix-6.8", 0, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_ESTIMATE, 16106127360},
        {"phoenix-6.8", 0, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_ESTIMATE, 1479671808},
        {"phoenix-6.8", 0, VITALS_GPU_MEMORY_FREE_BYTES, "", VITALS_ESTIMATE, 14626455552},
        {"phoenix-6.8", 0, VITALS_GPU_POOL_TOTAL_BYTES, "vram", VITALS_HAVE, 536870912},
        {"phoenix-6.8", 0, VITALS_GPU_POOL_TOTAL_BYTES, "gtt", VITALS_HAVE, 17179869184},
        {"phoenix-6.8", 0, VITALS_GPU_POOL_TOTAL_BYTES, "vram_visible", VITALS_UNSET, NONE},
        {"phoenix-6.8", 0, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 3.1},
        {"phoenix-6.8", 0, VITALS_GPU_SENSOR_VOLTAGE_VOLTS, "vddnb", VITALS_HAVE, 0.812},
        {"phoenix-6.8", 0, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "soc", VITALS_HAVE, 24.31},
        {"phoenix-6.8", 0, VITALS_GPU_PCIE_GENERATION, "", VITALS_UNSUPPORTED, NONE},
        {"phoenix-6.8", 0, VITALS_GPU_FAN_RATIO, "", VITALS_UNSUPPORTED, NONE},
        {"phoenix-6.8", 0, VITALS_GPU_POWER_LIMIT_WATTS, "", VITALS_UNSUPPORTED, NONE},
        {"phoenix-6.8", 0, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0.05},
        {"phoenix-6.8", 0, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "video", VITALS_HAVE, 0.0125},
        {"phoenix-6.8", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "video", VITALS_HAVE, 400e6},
        {"phoenix-6.8", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "fclk", VITALS_HAVE, 2000e6},
        {"phoenix-6.8", 0, VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_UNSUPPORTED, NONE},

        /* percent, where others count hundredths; the first firmware may have done so too */
        {"vangogh-6.1", 0, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0.63},
        {"vangogh-6.1", 0, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "video", VITALS_ESTIMATE, 0.12},
        {"vangogh-6.8", 0, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0.64},
        {"vangogh-6.8", 0, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "video", VITALS_HAVE, 0.12},

        {"strix-6.14", 0, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 9.839},
        {"strix-6.14", 0, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "video", VITALS_HAVE, 0.17},
        {"strix-6.14", 0, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_ESTIMATE, 9126805504},
        {"strix-6.14", 0, VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_HAVE, 0},
        {"strix-6.14", 0, VITALS_GPU_THROTTLED_BY_TEMPERATURE, "", VITALS_HAVE, 0},
        {"strix-6.14", 0, VITALS_GPU_THROTTLED_BY_CURRENT, "", VITALS_UNSUPPORTED, NONE},
        {"strix-6.14", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", VITALS_HAVE, 603e6},
        {"strix-6.14", 0, VITALS_GPU_POOL_TOTAL_BYTES, "gtt", VITALS_HAVE, 8589934592},

        {"mi300x-6.12", 0, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0.37},
        {"mi300x-6.12", 0, VITALS_GPU_MEMORY_BUSY_RATIO, "", VITALS_HAVE, 0.12},
        {"mi300x-6.12", 0, VITALS_GPU_TEMPERATURE_CELSIUS, "", VITALS_HAVE, 52},
        {"mi300x-6.12", 0, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 140},
        {"mi300x-6.12", 0, VITALS_GPU_ENERGY_JOULES, "", VITALS_HAVE, 16},
        {"mi300x-6.12", 0, VITALS_GPU_FAN_RATIO, "", VITALS_UNSUPPORTED, NONE},
        {"mi300x-6.12", 0, VITALS_GPU_MULTIPROCESSORS, "", VITALS_HAVE, 304},
        {"mi300x-6.12", 0, VITALS_GPU_MEMORY_BUS_BITS, "", VITALS_HAVE, 8192},
        {"mi300x-6.12", 0, VITALS_GPU_PCIE_GENERATION, "", VITALS_HAVE, 5},
        {"mi300x-6.12", 0, VITALS_GPU_PCIE_WIDTH, "", VITALS_HAVE, 16},
        {"mi300x-6.12", 0, VITALS_GPU_ECC_MODE, "", VITALS_HAVE, 1},
        {"mi300x-6.12", 0, VITALS_GPU_ECC_ERRORS_UNCORRECTED, "", VITALS_HAVE, 1},
        {"mi300x-6.12", 0, VITALS_GPU_ECC_ERRORS_CORRECTED, "", VITALS_HAVE, 5},
        {"mi300x-6.12", 0, VITALS_GPU_RETIRED_PAGES_UNCORRECTED, "", VITALS_HAVE, 1},
        {"mi300x-6.12", 0, VITALS_GPU_RETIRED_PAGES_PENDING, "", VITALS_HAVE, 1},
        {"mi300x-6.12", 0, VITALS_GPU_ERROR_CORRECTED, "umc", VITALS_HAVE, 3},
        {"mi300x-6.12", 0, VITALS_GPU_ERROR_DEFERRED, "umc", VITALS_HAVE, 1},
        {"mi300x-6.12", 0, VITALS_GPU_ERROR_UNCORRECTED, "gfx", VITALS_HAVE, 1},
        {"mi300x-6.12", 0, VITALS_GPU_ERROR_DEFERRED, "gfx", VITALS_UNSUPPORTED, NONE},
        {"mi300x-6.12", 0, VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_HAVE, 0},
        {"mi300x-6.12", 0, VITALS_GPU_LINK_ACTIVE, "xgmi0", VITALS_HAVE, 1},
        {"mi300x-6.12", 0, VITALS_GPU_LINK_SPEED_BYTES_PER_SECOND, "xgmi0", VITALS_HAVE, 50e9},
        {"mi300x-6.12", 0, VITALS_GPU_LINK_ACTIVE, "xgmi1", VITALS_UNSET, NONE},
        {"mi300x-6.12", 0, VITALS_GPU_LINK_RECEIVED_BYTES, "xgmi_port0", VITALS_ESTIMATE, 1024000},
        {"mi300x-6.12", 0, VITALS_GPU_LINK_ACTIVE, "xgmi_port1", VITALS_HAVE, 0},
        {"mi300x-6.12", 0, VITALS_GPU_LINK_TRANSMITTED_BYTES, "xgmi_port1", VITALS_UNSUPPORTED,
         NONE},
        {"mi300x-6.12", 0, VITALS_GPU_LINK_ACTIVE, "xgmi_port3", VITALS_UNSET, NONE},
        {"mi300x-6.12", 0, VITALS_GPU_NUMA_NODE, "", VITALS_HAVE, 0},
        {"mi300x-6.12", 1, VITALS_GPU_NUMA_NODE, "", VITALS_HAVE, 1},

        /* the whole card has the sensors, its partitions what they do */
        {"mi300x-cpx-6.14", 0, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 140},
        {"mi300x-cpx-6.14", 0, VITALS_GPU_MULTIPROCESSORS, "", VITALS_HAVE, 304},
        {"mi300x-cpx-6.14", 0, VITALS_GPU_LINK_ACTIVE, "xgmi0", VITALS_UNSET, NONE},
        {"mi300x-cpx-6.14", 1, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0.8},
        {"mi300x-cpx-6.14", 1, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "video", VITALS_HAVE, 0.2},
        {"mi300x-cpx-6.14", 1, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "jpeg", VITALS_HAVE, 0.03},
        {"mi300x-cpx-6.14", 1, VITALS_GPU_BUSY_SECONDS, "", VITALS_SAMPLED, 0.8},
        {"mi300x-cpx-6.14", 2, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0.1},
        {"mi300x-cpx-6.14", 2, VITALS_GPU_MULTIPROCESSORS, "", VITALS_HAVE, 38},
        {"mi300x-cpx-6.14", 2, VITALS_GPU_POWER_WATTS, "", VITALS_UNSUPPORTED, NONE},
        {"mi300x-cpx-6.14", 2, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_HAVE, 51535413248},
        {"mi300x-cpx-6.14", 2, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_LOWER_BOUND, 5000000000},
        {"mi300x-cpx-6.14", 2, VITALS_GPU_MEMORY_FREE_BYTES, "", VITALS_UNSUPPORTED, NONE},
        {"mi300x-cpx-6.14", 3, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_LOWER_BOUND, 0},
        {"mi300x-cpx-6.14", 3, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0},
        {"mi300x-cpx-6.14", 8, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UNSUPPORTED, NONE},

        /* what cannot be is failed */
        {"hostile", 0, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_FAILED, NONE},
        {"hostile", 0, VITALS_GPU_MEMORY_BUSY_RATIO, "", VITALS_FAILED, NONE},
        {"hostile", 0, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_HAVE, 1000},
        {"hostile", 0, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_FAILED, NONE},
        {"hostile", 0, VITALS_GPU_MEMORY_FREE_BYTES, "", VITALS_UNSUPPORTED, NONE},
        {"hostile", 0, VITALS_GPU_POWER_WATTS, "", VITALS_FAILED, NONE},
        {"hostile", 0, VITALS_GPU_TEMPERATURE_CELSIUS, "", VITALS_FAILED, NONE},
        {"hostile", 0, VITALS_GPU_FAN_RATIO, "", VITALS_FAILED, NONE},
        {"hostile", 0, VITALS_GPU_SENSOR_FAN_RPM, "fan0", VITALS_HAVE, 1780},
        {"hostile", 0, VITALS_GPU_PCIE_GENERATION, "", VITALS_HAVE, 4},
        {"hostile", 0, VITALS_GPU_ECC_ERRORS_CORRECTED, "", VITALS_UNSUPPORTED, NONE},
        {"hostile", 0, VITALS_GPU_ERROR_CORRECTED, "umc", VITALS_FAILED, NONE},
        {"hostile", 0, VITALS_GPU_ECC_MODE, "", VITALS_FAILED, NONE},
        {"hostile", 0, VITALS_GPU_RETIRED_PAGES_UNCORRECTED, "", VITALS_HAVE, 0},
        {"hostile", 0, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", VITALS_FAILED, NONE},
        {"hostile", 2, VITALS_GPU_MULTIPROCESSORS, "", VITALS_HAVE, 1},
    };
    const char *open = "";
    uint32_t device = UINT32_MAX;
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char name[160];
        snprintf(name, sizeof name, "%s device %u %s of \"%s\"", cases[i].fixture, cases[i].device,
                 vitals_metric_name(cases[i].metric), cases[i].label);
        CHECK_CASE(name);
        if (strcmp(open, cases[i].fixture) != 0 || device != cases[i].device) {
            if (open[0] != '\0')
                amd_world_end(&world);
            amd_world_begin(&world, open = cases[i].fixture);
            amd_world_sample(&world, device = cases[i].device);
            world.now_ns += NS_PER_SECOND;
            amd_world_sample(&world, device);
            CHECK_INT(world.sample.state, VITALS_HAVE);
        }
        CHECK_INT(amd_world_state(&world, cases[i].metric, cases[i].label), cases[i].state);
        if (cases[i].state > 0)
            CHECK_NEAR(amd_world_number(&world, cases[i].metric, cases[i].label), cases[i].number,
                       1e-9 * (1 + cases[i].number));
    }
    amd_world_end(&world);
}

static void files_become_texts(void)
{
    static const struct {
        const char *fixture;
        uint32_t device;
        vitals_metric metric;
        const char *label, *text;
    } cases[] = {
        {"navi21-5.14", 0, VITALS_GPU_VBIOS_VERSION, "", "113-EXT800241-L01"},
        {"navi21-5.14", 0, VITALS_GPU_PERFORMANCE_LEVEL, "", "auto"},
        {"navi21-5.14", 0, VITALS_GPU_KERNEL_DRIVER, "", "amdgpu"},
        {"navi21-5.14", 0, VITALS_GPU_DEVICE_NODE, "", "/dev/dri/renderD128"},
        {"navi21-5.14", 0, VITALS_GPU_PCI_ID, "", "1002:73bf"},
        {"navi21-5.14", 0, VITALS_GPU_PCI_SUBSYSTEM_ID, "", "1da2:e438"},
        {"navi21-5.14", 0, VITALS_GPU_LOCAL_CPUS, "", "0-31"},
        {"navi21-5.14", 0, VITALS_GPU_RUNTIME_STATUS, "", "active"},
        {"navi21-5.14", 0, VITALS_GPU_THROTTLE_REASONS, "", "ppt0,edc_gfx,temp_hotspot"},
        {"navi21-5.14", 0, VITALS_GPU_SERIAL, "", ""},
        {"navi21-5.14", 0, VITALS_GPU_PARTITION_KIND, "", ""},
        {"navi48-6.14", 0, VITALS_GPU_ARCHITECTURE, "", "gfx1201"},
        {"mi300x-6.12", 0, VITALS_GPU_ARCHITECTURE, "", "gfx942"},
        {"mi300x-6.12", 0, VITALS_GPU_SERIAL, "", "692340000000"},
        {"mi300x-6.12", 0, VITALS_GPU_BOARD_PART_NUMBER, "", "102-G30211-00"},
        {"mi300x-6.12", 0, VITALS_GPU_COMPUTE_PARTITION, "", "SPX"},
        {"mi300x-6.12", 0, VITALS_GPU_MEMORY_PARTITION, "", "NPS1"},
        {"mi300x-6.12", 0, VITALS_GPU_LINK_KIND, "xgmi0", "xgmi"},
        {"mi300x-6.12", 0, VITALS_GPU_LINK_REMOTE_KIND, "xgmi0", "gpu"},
        {"mi300x-6.12", 0, VITALS_GPU_LINK_REMOTE_PCI_BUS_ID, "xgmi0", "0000:26:00.0"},
        {"mi300x-6.12", 1, VITALS_GPU_LINK_REMOTE_PCI_BUS_ID, "xgmi0", "0000:05:00.0"},
        {"mi300x-cpx-6.14", 0, VITALS_GPU_COMPUTE_PARTITION, "", "CPX"},
        {"mi300x-cpx-6.14", 3, VITALS_GPU_PARTITION_KIND, "", "xcp"},
        {"mi300x-cpx-6.14", 3, VITALS_GPU_ARCHITECTURE, "", "gfx942"},
        {"mi300x-cpx-6.14", 3, VITALS_GPU_DEVICE_NODE, "", "/dev/dri/renderD130"},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char name[160];
        snprintf(name, sizeof name, "%s device %u %s", cases[i].fixture, cases[i].device,
                 vitals_metric_name(cases[i].metric));
        CHECK_CASE(name);
        amd_world_begin(&world, cases[i].fixture);
        amd_world_sample(&world, cases[i].device);
        CHECK_STR(amd_world_text(&world, cases[i].metric, cases[i].label), cases[i].text);
        amd_world_end(&world);
    }
}

static void counters_of_throttling_need_two_readings(void)
{
    amd_world_begin(&world, "mi300x-6.12");
    amd_world_sample(&world, 0);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_THROTTLED_BY_POWER, ""), VITALS_NOT_YET);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_THROTTLE_REASONS, ""), VITALS_NOT_YET);
    size_t size;
    char *record = check_read("gpu/amd_metrics/v1_7.bin", &size);
    record[48]++; /* ppt_residency_acc */
    gpu_tree_put(&world.tree, "sys/bus/pci/devices/0000:05:00.0/gpu_metrics", record, size);
    free(record);
    amd_world_sample(&world, 0);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_THROTTLED_BY_POWER, ""), 1, 0);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_THROTTLED_BY_TEMPERATURE, ""), 0, 0);
    CHECK_STR(amd_world_text(&world, VITALS_GPU_THROTTLE_REASONS, ""), "ppt");
    amd_world_sample(&world, 0);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_THROTTLED_BY_POWER, ""), 0, 0);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_THROTTLE_REASONS, ""), VITALS_HAVE);
    amd_world_end(&world);
}

/* A folder in place of a file: reading it fails. */
static void a_refused_file_is_no_zero(void)
{
    static const struct {
        const char *file;
        vitals_metric metric;
        const char *label;
    } cases[] = {
        {"ras/gpu_vram_bad_pages", VITALS_GPU_RETIRED_PAGES_UNCORRECTED, ""},
        {"ras/umc_err_count", VITALS_GPU_ERROR_CORRECTED, "umc"},
        {"ras/features", VITALS_GPU_ECC_MODE, ""},
        {"mem_info_vram_used", VITALS_GPU_MEMORY_USED_BYTES, ""},
        {"mem_info_gtt_used", VITALS_GPU_POOL_USED_BYTES, "gtt"},
        {"gpu_busy_percent", VITALS_GPU_UTILIZATION_RATIO, ""},
        {"hwmon/hwmon4/power1_cap", VITALS_GPU_POWER_LIMIT_WATTS, ""},
        {"hwmon/hwmon4/temp3_crit", VITALS_GPU_SENSOR_HIGH_CELSIUS, "memory"},
        {"current_compute_partition", VITALS_GPU_COMPUTE_PARTITION, ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char path[128];
        CHECK_CASE(cases[i].file);
        amd_world_begin(&world, "mi300x-6.12");
        snprintf(path, sizeof path, "sys/bus/pci/devices/0000:05:00.0/%s", cases[i].file);
        gpu_tree_remove(&world.tree, path);
        snprintf(path, sizeof path, "sys/bus/pci/devices/0000:05:00.0/%s/", cases[i].file);
        gpu_tree_parents(&world.tree, path);
        amd_world_sample(&world, 0);
        CHECK_INT(amd_world_state(&world, cases[i].metric, cases[i].label), VITALS_FAILED);
        amd_world_end(&world);
    }
}

static void a_fan_that_nothing_counts_has_a_share(void)
{
    static const char FAN[] = "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon3/fan1_input";
    amd_world_begin(&world, "navi21-5.14");
    gpu_tree_remove(&world.tree, FAN);
    amd_world_sample(&world, 0);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_FAN_RATIO, ""), VITALS_HAVE);
    amd_world_end(&world);
}

static void a_processor_that_always_says_100_percent_is_doubted(void)
{
    amd_world_begin(&world, "phoenix-6.8");
    gpu_tree_text(&world.tree, "sys/bus/pci/devices/0000:c4:00.0/gpu_busy_percent", "100\n");
    amd_world_sample(&world, 0);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_UTILIZATION_RATIO, ""), VITALS_HAVE);
    gpu_tree_text(&world.tree, "sys/bus/pci/devices/0000:c4:00.0/device", "0x15dd\n");
    amd_world_sample(&world, 0);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_UTILIZATION_RATIO, ""), VITALS_UPPER_BOUND);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_BUSY_SECONDS, ""), VITALS_UPPER_BOUND);
    gpu_tree_text(&world.tree, "sys/bus/pci/devices/0000:c4:00.0/gpu_busy_percent", "99\n");
    amd_world_sample(&world, 0);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_UTILIZATION_RATIO, ""), VITALS_HAVE);
    amd_world_end(&world);
}

static void traffic_is_an_upper_bound(void)
{
    struct metric_set slow = {0};
    metric_set_add(&slow, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
    metric_set_add(&slow, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND);
    amd_world_begin(&world, "navi21-5.14");
    amd_world_ask(&world, 0, &slow);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, ""),
              VITALS_UPPER_BOUND);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, ""), 2560000, 0);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, ""), 5120000,
               0);
    CHECK_UINT(world.sample.batch.row_count, 1);
    amd_world_end(&world);
    amd_world_begin(&world, "vega10-5.19");
    amd_world_ask(&world, 0, &slow);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, ""),
              VITALS_UNSUPPORTED);
    amd_world_end(&world);
    amd_world_begin(&world, "hostile");
    amd_world_ask(&world, 0, &slow);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, ""),
              VITALS_FAILED);
    amd_world_end(&world);
}

/* ---- what is asked for, and no more ---- */

/* One metric of a table lists all of the table's rows, with that metric alone. */
static void a_table_is_listed_whole_whatever_is_wanted_of_it(void)
{
    static const char *const fixtures[] = {"navi21-5.14", "phoenix-6.8", "mi300x-6.12",
                                           "mi300x-cpx-6.14", "strix-6.14"};
    for (size_t i = 0; i < CHECK_COUNT(fixtures); i++) {
        size_t rows[ENTITY_MAX + 1] = {0};
        CHECK_CASE(fixtures[i]);
        amd_world_begin(&world, fixtures[i]);
        amd_world_sample(&world, 0);
        for (vitals_table e = 0; (e = vitals_table_next(e)) != 0;)
            rows[e] = amd_world_rows(&world, e);
        CHECK(rows[VITALS_TABLE_GPU_SENSOR] > 1 && rows[VITALS_TABLE_GPU_CLOCK] > 1);
        for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
            vitals_table entity = vitals_metric_table(m);
            if (vitals_table_parent(entity) != VITALS_TABLE_GPU || entity == VITALS_TABLE_GPU ||
                entity == VITALS_TABLE_GPU_PROCESS)
                continue;
            amd_world_only(&world, 0, m);
            if (amd_world_rows(&world, entity) != rows[entity])
                CHECK_FAIL("%s alone lists %zu rows of %zu", vitals_metric_name(m),
                           amd_world_rows(&world, entity), rows[entity]);
            for (size_t j = 0; j < world.sample.batch.count; j++)
                CHECK_UINT(world.sample.batch.items[j].metric, m);
        }
        amd_world_end(&world);
    }
}

static void the_record_is_read_where_something_is_wanted_of_it(void)
{
    amd_world_begin(&world, "navi21-5.14");
    gpu_tree_text(&world.tree, "sys/bus/pci/devices/0000:03:00.0/gpu_metrics", "none");
    static const vitals_metric without[] = {
        VITALS_GPU_UTILIZATION_RATIO,   VITALS_GPU_MEMORY_BUSY_RATIO, VITALS_GPU_POWER_WATTS,
        VITALS_GPU_TEMPERATURE_CELSIUS, VITALS_GPU_PCIE_REPLAYS,      VITALS_GPU_PCIE_WIDTH};
    for (size_t i = 0; i < CHECK_COUNT(without); i++) {
        CHECK_CASE(vitals_metric_name(without[i]));
        amd_world_only(&world, 0, without[i]);
        CHECK_INT(amd_world_state(&world, without[i], ""), VITALS_HAVE);
    }
    amd_world_end(&world);
    amd_world_begin(&world, "navi21-5.14");
    static const char *const files[] = {"gpu_busy_percent", "hwmon", "pcie_replay_count",
                                        "mem_busy_percent", "pp_dpm_pcie"};
    for (size_t i = 0; i < CHECK_COUNT(files); i++) {
        char path[96];
        snprintf(path, sizeof path, "sys/bus/pci/devices/0000:03:00.0/%s", files[i]);
        gpu_tree_remove(&world.tree, path);
    }
    amd_world_sample(&world, 0);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_UTILIZATION_RATIO, ""), 0.99, 1e-9);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_POWER_WATTS, ""), 302, 1e-9);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_TEMPERATURE_CELSIUS, ""), 56, 1e-9);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_SENSOR_FAN_RPM, "fan0"), 1780, 1e-9);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_PCIE_GENERATION, ""), 4, 1e-9);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_PCIE_REPLAYS, ""), VITALS_UNSUPPORTED);
    amd_world_end(&world);
}

static const check_test tests[] = {
    {"a fan that nothing counts has a share", a_fan_that_nothing_counts_has_a_share},
    {"a scan says who is there", a_scan_says_who_is_there},
    {"a divided card has a partition for each node", a_divided_card_has_a_partition_for_each_node},
    {"a machine without a card says so", a_machine_without_a_card_says_so},
    {"who is reset is who it was", who_is_reset_is_who_it_was},
    {"a card that is divided anew is the same device in another slot",
     a_card_that_is_divided_anew_is_the_same_device_in_another_slot},
    {"files become values", files_become_values},
    {"files become texts", files_become_texts},
    {"counters of throttling need two readings", counters_of_throttling_need_two_readings},
    {"a refused file is no zero", a_refused_file_is_no_zero},
    {"a processor that always says 100 % is doubted",
     a_processor_that_always_says_100_percent_is_doubted},
    {"traffic is an upper bound", traffic_is_an_upper_bound},
    {"a table is listed whole, whatever is wanted of it",
     a_table_is_listed_whole_whatever_is_wanted_of_it},
    {"the record is read where something is wanted of it",
     the_record_is_read_where_something_is_wanted_of_it},
};
CHECK_TESTS(tests)
