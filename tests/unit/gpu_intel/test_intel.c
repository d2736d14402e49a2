/* The Intel back end over fixtures of what i915 and xe tell, with the values that must come out. */
#include "intel_world.h"

#include "gpu/clients.h"

#include <sys/wait.h>

static struct intel_world world;

/* ---- devices ---- */

static void a_scan_says_who_is_there(void)
{
    static const struct {
        const char *fixture, *uuid, *name, *bus_id, *driver;
        uint32_t count, major, minor;
    } cases[] = {
        {"i915-igpu", "intel-0000:00:02.0", "Alder Lake-P GT2 [Iris Xe Graphics]", "0000:00:02.0",
         "6.12.43", 1, 226, 1},
        {"i915-old", "intel-0000:00:02.0", "Intel GPU [8086:3e92]", "0000:00:02.0", "5.10.0", 1,
         226, 0},
        {"i915-a380", "intel-0000:03:00.0", "DG2 [Arc A380]", "0000:03:00.0", "6.13.2", 1, 226, 0},
        {"xe-a380", "intel-0000:03:00.0", "DG2 [Arc A380]", "0000:03:00.0", "6.12.43", 1, 226, 0},
        {"xe-b580", "intel-0000:03:00.0", "Battlemage G21 [Arc B580]", "0000:03:00.0", "6.16.3", 1,
         226, 1},
        {"xe-tiles", "intel-0000:9a:00.0", "Ponte Vecchio 1T [Data Center GPU Max 1550]",
         "0000:9a:00.0", "6.12.43", 3, 226, 2},
        {"xe-asleep", "intel-0000:03:00.0", "DG2 [Arc A380]", "0000:03:00.0", "6.12.43", 1, 226, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].fixture);
        intel_world_begin(&world, cases[i].fixture);
        const struct gpu_identity *device = &world.scan.devices[0];
        CHECK_INT(world.scan.state, VITALS_HAVE);
        CHECK_UINT(world.scan.count, cases[i].count);
        CHECK_STR(device->uuid, cases[i].uuid);
        CHECK_STR(device->name, cases[i].name);
        CHECK_STR(device->vendor, "intel");
        CHECK_STR(device->pci_bus_id, cases[i].bus_id);
        CHECK_STR(device->driver_version, cases[i].driver);
        CHECK_INT(device->parent_slot, -1);
        CHECK_UINT(device->node_count, 2); // the card and its render node
        CHECK_UINT(device->nodes[0].major, cases[i].major);
        CHECK_UINT(device->nodes[0].minor, cases[i].minor);
        intel_world_end(&world);
    }
}

static void tiles_are_partitions_of_their_card(void)
{
    intel_world_begin(&world, "xe-tiles");
    for (uint32_t i = 1; i < 3; i++) {
        const struct gpu_identity *tile = &world.scan.devices[i];
        CHECK_INT(tile->parent_slot, (intmax_t)world.scan.devices[0].slot);
        CHECK_UINT(tile->index, i - 1);
        CHECK_STR(tile->name, i == 1 ? "tile 0" : "tile 1");
        CHECK_STR(tile->uuid, i == 1 ? "intel-0000:9a:00.0-tile0" : "intel-0000:9a:00.0-tile1");
    }
    intel_world_end(&world);
}

static void virtual_functions_are_partitions_where_their_device_is_ours(void)
{
    intel_world_begin(&world, "xe-functions");
    CHECK_UINT(world.scan.count, 3);
    CHECK_INT(world.scan.devices[1].parent_slot, (intmax_t)world.scan.devices[0].slot);
    CHECK_INT(world.scan.devices[2].parent_slot, (intmax_t)world.scan.devices[0].slot);
    CHECK(world.scan.devices[1].index != world.scan.devices[2].index);
    CHECK_STR(world.scan.devices[2].pci_bus_id, "0000:03:00.2");
    intel_world_sample(&world, 1, 0);
    CHECK_WORDS(&world, VITALS_GPU_PARTITION_KIND, "vf");
    CHECK_UINT(intel_world_rows(&world, VITALS_TABLE_GPU_CLOCK), 0); // absent, not zero
    CHECK_UINT(intel_world_rows(&world, VITALS_TABLE_GPU_SENSOR), 0);
    CHECK_MISSING(&world, VITALS_GPU_POWER_WATTS, "", VITALS_UNSUPPORTED);
    CHECK_MISSING(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UNSUPPORTED);
    CHECK_MISSING(&world, VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_UNSUPPORTED);
    intel_world_end(&world);
}

static void without_a_card_it_says_why(void)
{
    CHECK(intel_world_open(&world, "") < 0);
    CHECK_INT(world.scan.state, VITALS_UNSUPPORTED);
    CHECK_STR(world.scan.message, "no device of the drivers i915 and xe");
    intel_world_end(&world);
}

static void who_is_bound_anew_is_the_same_device_in_another_slot(void)
{
    intel_world_begin(&world, "xe-a380");
    char uuid[GPU_NAME];
    snprintf(uuid, sizeof uuid, "%s", world.scan.devices[0].uuid);
    intel_world_scan(&world);
    CHECK_UINT(world.scan.devices[0].slot, 0);
    gpu_tree_remove(&world.tree, "sys/class/drm/card0");
    intel_world_scan(&world);
    CHECK_UINT(world.scan.count, 0);
    CHECK_INT(world.scan.state, VITALS_HAVE);
    gpu_tree_link(
        &world.tree, "sys/class/drm/card7",
        "../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:03:00.0/drm/"
        "card0");
    intel_world_scan(&world);
    CHECK_UINT(world.scan.count, 1);
    CHECK_UINT(world.scan.devices[0].slot, 1);
    CHECK_STR(world.scan.devices[0].uuid, uuid);
    intel_world_end(&world);
}

/* ---- what the files say ---- */

/* Of each fixture's first device, two readings a second apart. */
static void files_become_values(void)
{
    static const double NONE = -12345;
    static const struct {
        const char *fixture;
        vitals_metric metric;
        const char *label;
        vitals_availability state;
        double number;
    } cases[] = {
        /* an integrated one, asleep all the second */
        {"i915-igpu", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", VITALS_HAVE, 0},
        {"i915-igpu", VITALS_GPU_CLOCK_FREQUENCY_REQUESTED_HERTZ, "graphics", VITALS_HAVE, 350e6},
        {"i915-igpu", VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ, "graphics", VITALS_HAVE, 100e6},
        {"i915-igpu", VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "graphics", VITALS_HAVE, 1400e6},
        {"i915-igpu", VITALS_GPU_IDLE_RESIDENCY_SECONDS, "", VITALS_HAVE, 100},
        {"i915-igpu", VITALS_GPU_UNIFIED_MEMORY, "", VITALS_HAVE, 1},
        {"i915-igpu", VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_UNSUPPORTED, NONE},
        {"i915-igpu", VITALS_GPU_DISPLAY_ATTACHED, "", VITALS_HAVE, 1},
        {"i915-igpu", VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_HAVE, 0},
        {"i915-igpu", VITALS_GPU_THROTTLED_OTHERWISE, "", VITALS_HAVE, 0},
        {"i915-igpu", VITALS_GPU_ENERGY_JOULES, "", VITALS_HAVE, 262143},
        {"i915-igpu", VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 0},
        {"i915-igpu", VITALS_GPU_SENSOR_ENERGY_JOULES, "uncore", VITALS_HAVE, 262143},
        {"i915-igpu", VITALS_GPU_POWER_LIMIT_WATTS, "", VITALS_UNSUPPORTED, NONE},
        {"i915-igpu", VITALS_GPU_TEMPERATURE_CELSIUS, "", VITALS_UNSUPPORTED, NONE},
        /* before GTs had folders */
        {"i915-old", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", VITALS_HAVE, 1100e6},
        {"i915-old", VITALS_GPU_IDLE_RESIDENCY_SECONDS, "", VITALS_HAVE, 5},
        {"i915-old", VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_UNSUPPORTED, NONE},
        {"i915-old", VITALS_GPU_POWER_WATTS, "", VITALS_UNSUPPORTED, NONE},
        {"i915-old", VITALS_GPU_DISPLAY_ATTACHED, "", VITALS_UNSUPPORTED, NONE},
        /* discrete, on i915 */
        {"i915-a380", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", VITALS_HAVE, 2000e6},
        {"i915-a380", VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_HAVE, 1},
        {"i915-a380", VITALS_GPU_THROTTLED_BY_CURRENT, "", VITALS_HAVE, 1},
        {"i915-a380", VITALS_GPU_THROTTLED_BY_TEMPERATURE, "", VITALS_HAVE, 0},
        {"i915-a380", VITALS_GPU_THROTTLED_OTHERWISE, "", VITALS_HAVE, 0},
        {"i915-a380", VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_ESTIMATE, 8589934592.0},
        {"i915-a380", VITALS_GPU_POOL_TOTAL_BYTES, "vram_visible", VITALS_HAVE, 8589934592.0},
        {"i915-a380", VITALS_GPU_UNIFIED_MEMORY, "", VITALS_HAVE, 0},
        {"i915-a380", VITALS_GPU_ENERGY_JOULES, "", VITALS_HAVE, 1234.56789},
        {"i915-a380", VITALS_GPU_SENSOR_ENERGY_JOULES, "card", VITALS_HAVE, 1234.56789},
        {"i915-a380", VITALS_GPU_SENSOR_ENERGY_JOULES, "gt0", VITALS_HAVE, 600},
        {"i915-a380", VITALS_GPU_POWER_LIMIT_WATTS, "", VITALS_HAVE, 55},
        {"i915-a380", VITALS_GPU_POWER_LIMIT_SET_WATTS, "", VITALS_HAVE, 55},
        {"i915-a380", VITALS_GPU_POWER_LIMIT_DEFAULT_WATTS, "", VITALS_UNSUPPORTED, NONE},
        {"i915-a380", VITALS_GPU_SENSOR_POWER_LIMIT_WATTS, "card", VITALS_HAVE, 55},
        {"i915-a380", VITALS_GPU_TEMPERATURE_CELSIUS, "", VITALS_HAVE, 61},
        {"i915-a380", VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", VITALS_HAVE, 61},
        {"i915-a380", VITALS_GPU_SENSOR_HIGH_CELSIUS, "gpu", VITALS_UNSUPPORTED, NONE},
        {"i915-a380", VITALS_GPU_SENSOR_FAN_RPM, "fan0", VITALS_HAVE, 1200},
        {"i915-a380", VITALS_GPU_SENSOR_VOLTAGE_VOLTS, "gpu", VITALS_HAVE, 0.98},
        {"i915-a380", VITALS_GPU_PCIE_GENERATION, "", VITALS_HAVE, 4},
        {"i915-a380", VITALS_GPU_PCIE_WIDTH, "", VITALS_HAVE, 8},
        {"i915-a380", VITALS_GPU_PCIE_GENERATION_MAX, "", VITALS_HAVE, 4},
        {"i915-a380", VITALS_GPU_PCIE_WIDTH_MAX, "", VITALS_HAVE, 8},
        /* the same card on xe; what is told of its package is the least that the card draws */
        {"xe-a380", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", VITALS_HAVE, 0},
        {"xe-a380", VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "graphics", VITALS_HAVE, 2450e6},
        {"xe-a380", VITALS_GPU_IDLE_RESIDENCY_SECONDS, "", VITALS_HAVE, 50},
        {"xe-a380", VITALS_GPU_ENERGY_JOULES, "", VITALS_LOWER_BOUND, 777},
        {"xe-a380", VITALS_GPU_POWER_WATTS, "", VITALS_LOWER_BOUND, 0},
        {"xe-a380", VITALS_GPU_POWER_LIMIT_WATTS, "", VITALS_HAVE, 66},
        {"xe-a380", VITALS_GPU_SENSOR_VOLTAGE_VOLTS, "pkg", VITALS_HAVE, 0.712},
        {"xe-a380", VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_UNSUPPORTED, NONE},
        {"xe-a380", VITALS_GPU_POOL_TOTAL_BYTES, "vram_visible", VITALS_HAVE, 268435456.0},
        {"xe-a380", VITALS_GPU_TEMPERATURE_CELSIUS, "", VITALS_UNSUPPORTED, NONE},
        /* a card whose own counter of energy is not connected */
        {"xe-b580", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "gt0", VITALS_HAVE, 2850e6},
        {"xe-b580", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "gt1", VITALS_HAVE, 0},
        {"xe-b580", VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "gt1", VITALS_HAVE, 1500e6},
        {"xe-b580", VITALS_GPU_IDLE_RESIDENCY_SECONDS, "", VITALS_UPPER_BOUND, 1},
        {"xe-b580", VITALS_GPU_ENERGY_JOULES, "", VITALS_LOWER_BOUND, 5000},
        {"xe-b580", VITALS_GPU_SENSOR_ENERGY_JOULES, "card", VITALS_UNSUPPORTED, NONE},
        {"xe-b580", VITALS_GPU_SENSOR_POWER_WATTS, "card", VITALS_UNSUPPORTED, NONE},
        {"xe-b580", VITALS_GPU_SENSOR_ENERGY_JOULES, "pkg", VITALS_HAVE, 5000},
        {"xe-b580", VITALS_GPU_POWER_LIMIT_WATTS, "", VITALS_HAVE, 190},
        {"xe-b580", VITALS_GPU_SENSOR_POWER_LIMIT_WATTS, "pkg", VITALS_HAVE, 150},
        {"xe-b580", VITALS_GPU_SENSOR_POWER_BURST_LIMIT_WATTS, "card", VITALS_HAVE, 228},
        {"xe-b580", VITALS_GPU_SENSOR_POWER_BURST_LIMIT_WATTS, "pkg", VITALS_UNSUPPORTED, NONE},
        {"xe-b580", VITALS_GPU_TEMPERATURE_CELSIUS, "", VITALS_HAVE, 64},
        {"xe-b580", VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory", VITALS_HAVE, 72},
        {"xe-b580", VITALS_GPU_SENSOR_HIGH_CELSIUS, "gpu", VITALS_HAVE, 100},
        {"xe-b580", VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "gpu", VITALS_HAVE, 110},
        {"xe-b580", VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "memory", VITALS_UNSUPPORTED, NONE},
        {"xe-b580", VITALS_GPU_SENSOR_FAN_RPM, "fan0", VITALS_HAVE, 1650},
        {"xe-b580", VITALS_GPU_SENSOR_FAN_RPM, "fan1", VITALS_HAVE, 0},
        {"xe-b580", VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_HAVE, 1},
        {"xe-b580", VITALS_GPU_THROTTLED_BY_TEMPERATURE, "", VITALS_HAVE, 1},
        {"xe-b580", VITALS_GPU_THROTTLED_BY_CURRENT, "", VITALS_HAVE, 0},
        {"xe-b580", VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_ESTIMATE, 17179869184.0},
        /* two tiles */
        {"xe-tiles", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "gt0", VITALS_HAVE, 1600e6},
        {"xe-tiles", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "gt1", VITALS_HAVE, 0},
        {"xe-tiles", VITALS_GPU_NUMA_NODE, "", VITALS_HAVE, 1},
        /* hardly a file holds what its name promises */
        {"hostile", VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "gt0", VITALS_FAILED, NONE},
        {"hostile", VITALS_GPU_CLOCK_FREQUENCY_REQUESTED_HERTZ, "gt0", VITALS_FAILED, NONE},
        {"hostile", VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ, "gt0", VITALS_UNSUPPORTED, NONE},
        {"hostile", VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "gt0", VITALS_FAILED, NONE},
        {"hostile", VITALS_GPU_THROTTLED_OTHERWISE, "", VITALS_HAVE, 1},
        {"hostile", VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", VITALS_FAILED, NONE},
        {"hostile", VITALS_GPU_TEMPERATURE_CELSIUS, "", VITALS_FAILED, NONE},
        {"hostile", VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory", VITALS_HAVE, -40},
        {"hostile", VITALS_GPU_SENSOR_FAN_RPM, "fan0", VITALS_FAILED, NONE},
        {"hostile", VITALS_GPU_POWER_LIMIT_WATTS, "", VITALS_FAILED, NONE},
        {"hostile", VITALS_GPU_ENERGY_JOULES, "", VITALS_FAILED, NONE},
        {"hostile", VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_UNSUPPORTED, NONE},
    };
    const char *fixture = "";
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char name[160];
        if (strcmp(fixture, cases[i].fixture) != 0) {
            if (fixture[0] != '\0')
                intel_world_end(&world);
            fixture = cases[i].fixture;
            intel_world_begin(&world, fixture);
            intel_world_sample(&world, 0, 0);
            intel_world_sample(&world, 0, 1);
        }
        snprintf(name, sizeof name, "%s %s of \"%s\"", fixture, vitals_metric_name(cases[i].metric),
                 cases[i].label);
        CHECK_CASE(name);
        CHECK_MISSING(&world, cases[i].metric, cases[i].label, cases[i].state);
        if (cases[i].state > 0)
            CHECK_NEAR(intel_world_number(&world, cases[i].metric, cases[i].label), cases[i].number,
                       1e-6);
    }
    intel_world_end(&world);
}

static void throttling_is_told_in_the_drivers_words(void)
{
    intel_world_begin(&world, "i915-a380");
    intel_world_sample(&world, 0, 0);
    CHECK_WORDS(&world, VITALS_GPU_THROTTLE_REASONS, "pl1,vr_tdc");
    CHECK_WORDS(&world, VITALS_GPU_KERNEL_DRIVER, "i915");
    CHECK_WORDS(&world, VITALS_GPU_DEVICE_NODE, "/dev/dri/renderD129");
    CHECK_WORDS(&world, VITALS_GPU_PCI_ID, "8086:56a5");
    intel_world_end(&world);
    intel_world_begin(&world, "i915-igpu");
    intel_world_sample(&world, 0, 0);
    CHECK_WORDS(&world, VITALS_GPU_THROTTLE_REASONS, "");
    intel_world_end(&world);
}

static void hostile_folders_have_bounds(void)
{
    intel_world_begin(&world, "hostile");
    CHECK_UINT(world.scan.count, 1);
    intel_world_sample(&world, 0, 1);
    CHECK_UINT(intel_world_rows(&world, VITALS_TABLE_GPU_CLOCK), 16);
    CHECK(intel_world_rows(&world, VITALS_TABLE_GPU_SENSOR) <= 48);
    CHECK_NULL(intel_world_row(&world, VITALS_TABLE_GPU_CLOCK, "gt999"));
    // The other GTs do not say whether anything holds them: the words would not be all.
    CHECK_MISSING(&world, VITALS_GPU_THROTTLE_REASONS, "", VITALS_UNSUPPORTED);
    intel_world_end(&world);
}

#define GT "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:03:00.0/tile0/gt"

static void reasons_that_do_not_fit_are_left_out_whole(void)
{
    char file[256], word[81] = {0};
    intel_world_begin(&world, "xe-a380");
    gpu_tree_text(&world.tree, GT "0/freq0/throttle/status", "1\n");
    for (char letter = 'x'; letter < 'z'; letter++) {
        memset(word, letter, 80);
        snprintf(file, sizeof file, "%s0/freq0/throttle/reason_%s", GT, word);
        gpu_tree_text(&world.tree, file, "1\n");
    }
    intel_world_sample(&world, 0, 0);
    memset(word, 'x', 80);
    CHECK_WORDS(&world, VITALS_GPU_THROTTLE_REASONS, word);
    CHECK_VALUE(&world, VITALS_GPU_THROTTLED_OTHERWISE, "", VITALS_HAVE, 1);
    CHECK_VALUE(&world, VITALS_GPU_THROTTLED_BY_POWER, "", VITALS_HAVE, 0);
    intel_world_end(&world);
}

/* ---- power ---- */

#define HWMON \
    "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:03:00.0/hwmon/hwmon"

static void power_is_the_energy_of_two_readings(void)
{
    intel_world_begin(&world, "i915-a380");
    intel_world_sample(&world, 0, 0);
    CHECK_MISSING(&world, VITALS_GPU_POWER_WATTS, "", VITALS_NOT_YET);
    CHECK_MISSING(&world, VITALS_GPU_SENSOR_POWER_WATTS, "card", VITALS_NOT_YET);
    CHECK_VALUE(&world, VITALS_GPU_ENERGY_JOULES, "", VITALS_HAVE, 1234.56789);
    gpu_tree_text(&world.tree, HWMON "2/energy1_input", "1334567890\n");
    intel_world_sample(&world, 0, 2);
    CHECK_VALUE(&world, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 50);
    CHECK_VALUE(&world, VITALS_GPU_SENSOR_POWER_WATTS, "gt0", VITALS_HAVE, 0);
    // Another millisecond is too little for a new figure, and not lost.
    gpu_tree_text(&world.tree, HWMON "2/energy1_input", "1334600000\n");
    intel_world_sample(&world, 0, 0.001);
    CHECK_VALUE(&world, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 50);
    gpu_tree_text(&world.tree, HWMON "2/energy1_input", "1344567890\n");
    intel_world_sample(&world, 0, 0.999);
    CHECK_VALUE(&world, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 10);
    intel_world_end(&world);
}

static void chips_that_are_numbered_anew_are_found_again(void)
{
    intel_world_begin(&world, "i915-a380");
    intel_world_sample(&world, 0, 0);
    CHECK_VALUE(&world, VITALS_GPU_TEMPERATURE_CELSIUS, "", VITALS_HAVE, 61);
    gpu_tree_remove(&world.tree, HWMON "2");
    gpu_tree_text(&world.tree, HWMON "9/name", "i915\n");
    gpu_tree_text(&world.tree, HWMON "9/temp1_input", "47000\n");
    gpu_tree_text(&world.tree, HWMON "9/energy1_input", "5000000\n");
    intel_world_sample(&world, 0, 1);
    CHECK_VALUE(&world, VITALS_GPU_TEMPERATURE_CELSIUS, "", VITALS_HAVE, 47);
    CHECK_VALUE(&world, VITALS_GPU_ENERGY_JOULES, "", VITALS_HAVE, 5);
    CHECK_MISSING(&world, VITALS_GPU_POWER_WATTS, "", VITALS_NOT_YET);
    CHECK_VALUE(&world, VITALS_GPU_SENSOR_ENERGY_JOULES, "gt0", VITALS_HAVE, 600);
    intel_world_end(&world);
}

static void an_energy_counter_may_go_round_or_begin_anew(void)
{
    intel_world_begin(&world, "i915-a380");
    gpu_tree_text(&world.tree, HWMON "2/energy1_input", "18446744073709000000\n");
    intel_world_sample(&world, 0, 0);
    double before = intel_world_number(&world, VITALS_GPU_ENERGY_JOULES, "");
    gpu_tree_text(&world.tree, HWMON "2/energy1_input", "29448384\n"); // 30 J later
    intel_world_sample(&world, 0, 1);
    CHECK_NEAR(intel_world_number(&world, VITALS_GPU_POWER_WATTS, ""), 30, 1e-3);
    CHECK_NEAR(intel_world_number(&world, VITALS_GPU_ENERGY_JOULES, "") - before, 30, 0.01);
    gpu_tree_text(&world.tree, HWMON "2/energy1_input", "1000000\n"); // the driver was loaded anew
    intel_world_sample(&world, 0, 1);
    CHECK_MISSING(&world, VITALS_GPU_POWER_WATTS, "", VITALS_NOT_YET);
    CHECK_VALUE(&world, VITALS_GPU_ENERGY_JOULES, "", VITALS_HAVE, 1);
    intel_world_end(&world);

    static const char uncore[] =
        "sys/devices/virtual/powercap/intel-rapl/intel-rapl:0/intel-rapl:0:1/energy_uj";
    intel_world_begin(&world, "i915-igpu"); // 0.32885 J before its end
    intel_world_sample(&world, 0, 0);
    gpu_tree_text(&world.tree, uncore, "671150\n");
    intel_world_sample(&world, 0, 0.5);
    CHECK_NEAR(intel_world_number(&world, VITALS_GPU_POWER_WATTS, ""), 2, 1e-6);
    CHECK_NEAR(intel_world_number(&world, VITALS_GPU_ENERGY_JOULES, ""), 262144, 1e-3);
    intel_world_end(&world);
}

static void the_package_stands_for_a_card_that_does_not_count(void)
{
    intel_world_begin(&world, "xe-b580");
    intel_world_sample(&world, 0, 0);
    gpu_tree_text(&world.tree, HWMON "4/energy2_input", "5090000000\n");
    intel_world_sample(&world, 0, 1);
    CHECK_VALUE(&world, VITALS_GPU_POWER_WATTS, "", VITALS_LOWER_BOUND, 90);
    CHECK_VALUE(&world, VITALS_GPU_SENSOR_POWER_WATTS, "pkg", VITALS_HAVE, 90);
    gpu_tree_text(&world.tree, HWMON "4/energy1_input",
                  "120000000\n"); // a later kernel connects it
    intel_world_sample(&world, 0, 1);
    CHECK_VALUE(&world, VITALS_GPU_POWER_WATTS, "", VITALS_HAVE, 120);
    intel_world_end(&world);
}

/* As another user, where we are root. */
static int power_state_of_another_user(void)
{
    pid_t child = fork();
    if (child == 0) {
        bool dropped = geteuid() != 0 || setresuid(65534, 65534, 65534) == 0;
        struct metric_set only = {0};
        metric_set_add(&only, VITALS_GPU_POWER_WATTS);
        intel_world_read(&world, 0, &only);
        _exit(dropped ? -intel_world_state(&world, VITALS_GPU_POWER_WATTS, "") : 255);
    }
    int status;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

static void energy_that_only_root_may_read_is_denied(void)
{
    intel_world_begin(&world, "i915-igpu");
    char path[GPU_TREE_PATH];
    gpu_tree_path(&world.tree,
                  "sys/devices/virtual/powercap/intel-rapl/intel-rapl:0/intel-rapl:0:1/energy_uj",
                  path);
    CHECK_INT(chmod(path, 0), 0);
    CHECK_INT(power_state_of_another_user(), VITALS_DENIED);
    intel_world_end(&world);
}

/* ---- how busy ---- */

static void a_device_is_no_busier_than_it_is_awake(void)
{
    intel_world_begin(&world, "xe-a380");
    intel_world_sample(&world, 0, 0);
    CHECK_MISSING(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_NOT_YET);
    CHECK_MISSING(&world, VITALS_GPU_BUSY_SECONDS, "", VITALS_NOT_YET);
    gpu_tree_text(&world.tree, GT "0/gtidle/idle_residency_ms", "51500\n");
    intel_world_sample(&world, 0, 2);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND, 0.25);
    CHECK_VALUE(&world, VITALS_GPU_BUSY_SECONDS, "", VITALS_UPPER_BOUND, 0.5);
    CHECK_VALUE(&world, VITALS_GPU_IDLE_RESIDENCY_SECONDS, "", VITALS_HAVE, 51.5);
    // More sleep than time, by a clock that is not ours: none of it was busy.
    gpu_tree_text(&world.tree, GT "0/gtidle/idle_residency_ms", "52600\n");
    intel_world_sample(&world, 0, 1);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND, 0);
    CHECK_VALUE(&world, VITALS_GPU_BUSY_SECONDS, "", VITALS_UPPER_BOUND, 0.5);
    // It began anew.
    gpu_tree_text(&world.tree, GT "0/gtidle/idle_residency_ms", "5\n");
    intel_world_sample(&world, 0, 1);
    CHECK_MISSING(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_NOT_YET);
    CHECK_VALUE(&world, VITALS_GPU_BUSY_SECONDS, "", VITALS_UPPER_BOUND, 0.5);
    intel_world_end(&world);
}

static void the_gt_that_is_most_awake_counts(void)
{
    intel_world_begin(&world, "xe-b580");
    intel_world_sample(&world, 0, 0);
    gpu_tree_text(&world.tree, GT "0/gtidle/idle_residency_ms", "1100\n");
    gpu_tree_text(&world.tree, GT "1/gtidle/idle_residency_ms", "9900\n");
    intel_world_sample(&world, 0, 1);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND, 0.9);
    gpu_tree_remove(&world.tree, GT "1/gtidle/idle_residency_ms"); // then it is unknown
    intel_world_sample(&world, 0, 1);
    CHECK_MISSING(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UNSUPPORTED);
    CHECK_MISSING(&world, VITALS_GPU_IDLE_RESIDENCY_SECONDS, "", VITALS_UNSUPPORTED);
    intel_world_end(&world);
}

/* ---- asleep, and away ---- */

static void a_sleeping_device_is_left_asleep(void)
{
    static const char status[] =
        "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:03:00.0/power/"
        "runtime_status";
    intel_world_begin(&world, "xe-asleep");
    intel_kernel.refusal = 0;
    intel_world_sample(&world, 0, 0);
    intel_world_sample(&world, 0, 1);
    CHECK_INT(world.sample.state, VITALS_SUSPENDED);
    CHECK_UINT(intel_kernel.adds, 0);
    // What it is stands, and wakes nothing.
    CHECK_WORDS(&world, VITALS_GPU_RUNTIME_STATUS, "suspended");
    CHECK_WORDS(&world, VITALS_GPU_KERNEL_DRIVER, "xe");
    CHECK_WORDS(&world, VITALS_GPU_DEVICE_NODE, "/dev/dri/renderD128");
    CHECK_VALUE(&world, VITALS_GPU_UNIFIED_MEMORY, "", VITALS_HAVE, 0);
    CHECK_UINT(world.sample.batch.row_count, 1);
    static const vitals_metric asked_of_it[] = {
        VITALS_GPU_UTILIZATION_RATIO,      VITALS_GPU_POWER_WATTS,
        VITALS_GPU_IDLE_RESIDENCY_SECONDS, VITALS_GPU_THROTTLED_BY_POWER,
        VITALS_GPU_PCIE_GENERATION,        VITALS_GPU_DISPLAY_ATTACHED};
    for (size_t i = 0; i < CHECK_COUNT(asked_of_it); i++)
        CHECK_NULL(intel_world_fact(&world, asked_of_it[i], ""));
    gpu_tree_text(&world.tree, status, "active\n");
    intel_world_sample(&world, 0, 1);
    CHECK_INT(world.sample.state, VITALS_HAVE);
    CHECK_MISSING(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_NOT_YET);
    intel_world_sample(&world, 0, 1);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND, 1);
    // What it did across a sleep is not said: the counter of sleep stood still meanwhile.
    gpu_tree_text(&world.tree, status, "suspending\n");
    intel_world_sample(&world, 0, 100);
    CHECK_INT(world.sample.state, VITALS_SUSPENDED);
    gpu_tree_text(&world.tree, status, "active\n");
    intel_world_sample(&world, 0, 1);
    CHECK_MISSING(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_NOT_YET);
    intel_world_end(&world);
}

/* It is asked for on a thread of its own, beside the other readings. */
static void what_is_slow_touches_nothing(void)
{
    struct metric_set slow = {0};
    metric_set_add(&slow, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
    metric_set_add(&slow, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND);
    intel_world_begin(&world, "i915-a380");
    intel_kernel.refusal = 0;
    intel_world_read(&world, 0, &slow);
    CHECK_UINT(intel_world_rows(&world, VITALS_TABLE_GPU), 1);
    CHECK_MISSING(&world, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, "", VITALS_UNSUPPORTED);
    CHECK_UINT(intel_kernel.adds, 0);
    intel_world_sample(&world, 0, 1);
    CHECK_MISSING(&world, VITALS_GPU_POWER_WATTS, "", VITALS_NOT_YET);
    intel_world_end(&world);
}

static void a_device_that_is_away_is_gone(void)
{
    intel_world_begin(&world, "i915-a380");
    intel_kernel.refusal = 0;
    intel_world_sample(&world, 0, 0);
    CHECK(intel_kernel_open() > 0);
    gpu_tree_remove(&world.tree, "sys/bus/pci/devices/0000:03:00.0");
    intel_world_sample(&world, 0, 1);
    CHECK_INT(world.sample.state, VITALS_GONE);
    CHECK_UINT(world.sample.batch.count, 0);
    CHECK_UINT(intel_kernel_open(), 0);
    intel_world_end(&world);
}

static void each_metric_can_be_asked_for_alone(void)
{
    static const char *const fixtures[] = {"i915-igpu", "i915-a380", "xe-b580", "xe-tiles",
                                           "hostile"};
    for (size_t i = 0; i < CHECK_COUNT(fixtures); i++) {
        CHECK_CASE(fixtures[i]);
        intel_world_begin(&world, fixtures[i]);
        for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
            struct metric_set only = {0}, all = intel_world_all();
            if (!metric_set_has(&all, m))
                continue;
            metric_set_add(&only, m);
            intel_world_read(&world, 0, &only);
            for (size_t j = 0; j < world.sample.batch.count; j++)
                CHECK_UINT(world.sample.batch.items[j].metric, m);
            CHECK(vitals_metric_table(m) != VITALS_TABLE_GPU || world.sample.batch.row_count == 1);
        }
        intel_world_end(&world);
    }
}

/* ---- processes ---- */

/* A sweep of one client, as its fdinfo has it in the fixture. */
static struct gpu_sweep sweep_of(struct sweep_client *client, const char *file)
{
    char path[GPU_TREE_PATH], text[4096];
    gpu_tree_path(&world.tree, file, path);
    FILE *stream = fopen(path, "re");
    CHECK_NOT_NULL(stream);
    size_t size = fread(text, 1, sizeof text, stream);
    fclose(stream);
    *client = (struct sweep_client){.stamp_ns = world.now_ns, .start_ticks = 5};
    CHECK(sweep_parse((struct span){text, size}, client));
    return (struct gpu_sweep){.stamp_ns = world.now_ns,
                              .state = VITALS_HAVE,
                              .processes = 1,
                              .count = 1,
                              .clients = client};
}

static struct value of_process(vitals_metric metric)
{
    return world.processes.items[0].at[metric_number(metric)];
}

static void processes_come_from_the_sweep(void)
{
    struct sweep_client client;
    struct metric_set wanted = {0};
    intel_world_begin(&world, "i915-a380");
    gpu_backend_intel.processes(world.state, 0, NULL, &wanted, &world.processes);
    CHECK_INT(world.processes.state, VITALS_NOT_YET);
    struct gpu_sweep sweep = sweep_of(&client, "proc/4321/fdinfo/5");
    client.pid = 4321;
    gpu_backend_intel.processes(world.state, 0, &sweep, &wanted, &world.processes);
    CHECK_INT(world.processes.state, VITALS_HAVE);
    CHECK_UINT(world.processes.count, 1);
    CHECK_INT(world.processes.items[0].pid, 4321);
    CHECK_UINT(of_process(VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, UINT64_C(1) << 30);
    CHECK_UINT(of_process(VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES).as.u64, 4 << 20);
    CHECK_INT(of_process(VITALS_GPU_PROCESS_UTILIZATION_RATIO).state, VITALS_NOT_YET);
    intel_world_sample(&world, 0, 0);
    CHECK_VALUE(&world, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_LOWER_BOUND, 1073741824.0);
    world.now_ns += NS_PER_SECOND;
    sweep = sweep_of(&client, "proc/4321/fdinfo/5");
    client.pid = 4321;
    client.engines[0].busy_ns += 400 * NS_PER_MS; // render
    client.engines[2].busy_ns += 500 * NS_PER_MS; // video, of which there are two
    client.engines[3].busy_ns += 200 * NS_PER_MS; // video-enhance
    gpu_backend_intel.processes(world.state, 0, &sweep, &wanted, &world.processes);
    CHECK_NEAR(of_process(VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.4, 1e-9);
    CHECK_NEAR(of_process(VITALS_GPU_PROCESS_VIDEO_RATIO).as.f64, 0.25, 1e-9);
    CHECK_NEAR(of_process(VITALS_GPU_PROCESS_VIDEO_SECONDS).as.f64, 3.5, 1e-9);
    CHECK_NEAR(of_process(VITALS_GPU_PROCESS_VIDEO_ENHANCE_RATIO).as.f64, 0.2, 1e-9);
    CHECK_NEAR(of_process(VITALS_GPU_PROCESS_VIDEO_ENHANCE_SECONDS).as.f64, 0.2, 1e-9);
    intel_world_sample(&world, 0, 0);
    // Counting is not permitted here: the sum of the processes that we see is the least.
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics", VITALS_LOWER_BOUND, 0.4);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_CAPACITY, "video", VITALS_HAVE, 2);
    // And never stands for the device where a bound of all users is known.
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND, 1);
    intel_world_end(&world);
}

/* From the files of a process to its row, by the sweep that all vendors share. */
static void a_sweep_of_proc_finds_the_users(void)
{
    static const struct {
        const char *fixture;
        int64_t pid;
        uint64_t start, memory;
    } cases[] = {{"i915-a380", 4321, 500, UINT64_C(1) << 30}, {"xe-b580", 900, 700, 384 << 20}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct metric_set wanted = {0};
        CHECK_CASE(cases[i].fixture);
        intel_world_begin(&world, cases[i].fixture);
        struct gpu_sweeper *sweeper = gpu_sweeper_new(&world.context);
        CHECK_NOT_NULL(sweeper);
        struct gpu_sweep *sweep = gpu_sweeper_take(sweeper, NULL);
        CHECK_NOT_NULL(sweep);
        gpu_backend_intel.processes(world.state, 0, sweep, &wanted, &world.processes);
        CHECK_UINT(world.processes.count, 1);
        CHECK_INT(world.processes.items[0].pid, cases[i].pid);
        CHECK_UINT(world.processes.items[0].start_ticks, cases[i].start);
        CHECK_UINT(of_process(VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, cases[i].memory);
        gpu_sweep_unref(sweep);
        gpu_sweeper_free(sweeper);
        intel_world_end(&world);
    }
}

static void ticks_of_xe_are_shares_of_all_ticks(void)
{
    struct sweep_client client;
    struct metric_set wanted = {0};
    intel_world_begin(&world, "xe-b580");
    struct gpu_sweep sweep = sweep_of(&client, "proc/900/fdinfo/11");
    client.pid = 900;
    gpu_backend_intel.processes(world.state, 0, &sweep, &wanted, &world.processes);
    CHECK_UINT(of_process(VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, 384 << 20);
    world.now_ns += NS_PER_SECOND;
    sweep = sweep_of(&client, "proc/900/fdinfo/11");
    client.pid = 900;
    client.engines[0].cycles += 600;
    client.engines[0].total_cycles += 1000;
    gpu_backend_intel.processes(world.state, 0, &sweep, &wanted, &world.processes);
    CHECK_NEAR(of_process(VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.6, 1e-9);
    intel_world_end(&world);
}

static void of_a_tile_processes_are_not_told(void)
{
    struct metric_set wanted = {0};
    intel_world_begin(&world, "xe-tiles");
    gpu_backend_intel.processes(world.state, world.scan.devices[1].slot, NULL, &wanted,
                                &world.processes);
    CHECK_INT(world.processes.state, VITALS_UNSUPPORTED);
    CHECK_UINT(world.processes.count, 0);
    intel_world_end(&world);
}

/* ---- no memory ---- */

static void a_failed_allocation_breaks_nothing(void)
{
    int64_t live = memory_live();
    for (uint64_t nth = 1; nth < 12; nth++) {
        struct metric_set all = intel_world_all();
        memory_fail_at(nth);
        if (intel_world_open(&world, "xe-tiles") == 0) {
            intel_world_scan(&world);
            for (uint32_t i = 0; i < world.scan.count; i++) {
                batch_reset(&world.sample.batch, &all);
                gpu_backend_intel.sample(world.state, world.scan.devices[i].slot, &world.sample);
            }
        } else {
            CHECK_INT(world.scan.state, VITALS_FAILED);
        }
        memory_fail_at(0);
        intel_world_end(&world);
        CHECK_INT(memory_live(), live);
    }
}

static const check_test tests[] = {
    {"a scan says who is there", a_scan_says_who_is_there},
    {"tiles are partitions of their card", tiles_are_partitions_of_their_card},
    {"virtual functions are partitions where their device is ours",
     virtual_functions_are_partitions_where_their_device_is_ours},
    {"without a card it says why", without_a_card_it_says_why},
    {"who is bound anew is the same device in another slot",
     who_is_bound_anew_is_the_same_device_in_another_slot},
    {"files become values", files_become_values},
    {"throttling is told in the driver's words", throttling_is_told_in_the_drivers_words},
    {"hostile folders have bounds", hostile_folders_have_bounds},
    {"reasons that do not fit are left out whole", reasons_that_do_not_fit_are_left_out_whole},
    {"power is the energy of two readings", power_is_the_energy_of_two_readings},
    {"chips that are numbered anew are found again", chips_that_are_numbered_anew_are_found_again},
    {"an energy counter may go round or begin anew", an_energy_counter_may_go_round_or_begin_anew},
    {"the package stands for a card that does not count",
     the_package_stands_for_a_card_that_does_not_count},
    {"energy that only root may read is denied", energy_that_only_root_may_read_is_denied},
    {"a device is no busier than it is awake", a_device_is_no_busier_than_it_is_awake},
    {"the gt that is most awake counts", the_gt_that_is_most_awake_counts},
    {"a sleeping device is left asleep", a_sleeping_device_is_left_asleep},
    {"what is slow touches nothing", what_is_slow_touches_nothing},
    {"a device that is away is gone", a_device_that_is_away_is_gone},
    {"each metric can be asked for alone", each_metric_can_be_asked_for_alone},
    {"processes come from the sweep", processes_come_from_the_sweep},
    {"a sweep of /proc finds the users", a_sweep_of_proc_finds_the_users},
    {"ticks of xe are shares of all ticks", ticks_of_xe_are_shares_of_all_ticks},
    {"of a tile processes are not told", of_a_tile_processes_are_not_told},
    {"a failed allocation breaks nothing", a_failed_allocation_breaks_nothing},
};
CHECK_TESTS(tests)
