/* The generic back end over machines of files: which devices are its own, and what must come out of
 * each dialect. */
#include "gpu_world.h"

#include "util/memory.h"

static struct gpu_world world;
static struct metric_set all;

static void begin(const char *tree)
{
    all = gpu_world_wanted(0);
    CHECK_INT(gpu_world_open(&world, "drm", "tree", tree), 0);
    gpu_world_scan(&world);
    CHECK_INT(world.scan.state, VITALS_HAVE);
}

/* Processes first: engines are made of them. */
static void read_device(uint32_t slot)
{
    gpu_world_processes(&world, slot, &all);
    gpu_world_sample(&world, slot, &all);
}

static void later(void)
{
    world.now_ns += NS_PER_SECOND;
}

static void check_f64(struct value value, double number, vitals_availability state)
{
    CHECK_INT(value.state, state);
    CHECK_NEAR(value.as.f64, number, 1e-9);
}

static void check_u64(struct value value, uint64_t number, vitals_availability state)
{
    CHECK_INT(value.state, state);
    CHECK_UINT(value.as.u64, number);
}

static struct value of(int64_t pid, vitals_metric metric)
{
    const struct gpu_process *process = gpu_world_process(&world, pid);
    if (process == NULL)
        CHECK_FAIL("no process %lld", (long long)pid);
    return gpu_world_of(process, metric);
}

/* ---- msm ---- */

static void msm_is_read(void)
{
    begin("drm/msm");
    CHECK_UINT(world.scan.count, 1);
    const struct gpu_identity *who = &world.scan.devices[0];
    CHECK_STR(who->vendor, "qualcomm");
    CHECK_STR(who->name, "qcom,adreno-635.0"); // and not the display controller's
    CHECK_CONTAINS(who->uuid, "drm-ae01000.display-controller-");
    CHECK_STR(who->pci_bus_id, "");
    CHECK_INT(who->pci_state, VITALS_UNSUPPORTED);
    CHECK_STR(who->driver_version, "6.6.30");
    CHECK_UINT(who->node_count, 2);
    CHECK_UINT(who->nodes[0].minor, 0);
    CHECK_UINT(who->nodes[1].minor, 128);

    read_device(0);
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_KERNEL_DRIVER), "msm_dpu");
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_DEVICE_NODE), "/dev/dri/renderD128");
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_RUNTIME_STATUS), "active");
    check_u64(gpu_world_value(&world, VITALS_GPU_UNIFIED_MEMORY), 1, VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics"), 315e6,
              VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "graphics"), 812e6,
              VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_REQUESTED_HERTZ, "graphics"),
              450e6, VITALS_HAVE);
    CHECK_INT(gpu_world_value(&world, VITALS_GPU_UTILIZATION_RATIO).state, VITALS_NOT_YET);
    check_u64(gpu_world_value(&world, VITALS_GPU_MEMORY_USED_BYTES), (8100 + 116376) << 10,
              VITALS_LOWER_BOUND);
    gpu_world_close(&world);
}

static void processes_of_msm_are_charged_once(void)
{
    begin("drm/msm");
    read_device(0);
    CHECK_INT(world.processes.state, VITALS_HAVE);
    CHECK_UINT(world.processes.count, 3);
    // systemd-logind opened the card for the compositor.
    check_u64(of(411, VITALS_GPU_PROCESS_CHARGED_PID), 900, VITALS_HAVE);
    CHECK_INT(of(411, VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES).state, VITALS_UNSET);
    check_u64(of(900, VITALS_GPU_PROCESS_CHARGED_PID), 900, VITALS_HAVE);
    check_u64(of(900, VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES), (8100 + 116376) << 10, VITALS_HAVE);
    check_u64(of(900, VITALS_GPU_PROCESS_MEMORY_USED_BYTES), (8100 + 116376) << 10,
              VITALS_ESTIMATE);
    CHECK_INT(of(1500, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).state, VITALS_UNSUPPORTED);
    CHECK_INT(of(1500, VITALS_GPU_PROCESS_UTILIZATION_RATIO).state, VITALS_NOT_YET);

    gpu_tree_text(&world.tree, "proc/1500/fdinfo/6",
                  "drm-driver: msm\ndrm-client-id: 7\ndrm-engine-gpu: 2234371319 ns\n");
    gpu_tree_text(&world.tree, "proc/900/fdinfo/12",
                  "drm-driver: msm\ndrm-client-id: 6\ndrm-engine-gpu: 26106942606 ns\n"
                  "drm-resident-memory: 116376 KiB\n");
    later();
    read_device(0);
    check_f64(of(1500, VITALS_GPU_PROCESS_UTILIZATION_RATIO), 0.5, VITALS_HAVE);
    check_f64(of(900, VITALS_GPU_PROCESS_UTILIZATION_RATIO), 0.1, VITALS_HAVE);
    check_f64(of(900, VITALS_GPU_PROCESS_BUSY_SECONDS), 0.1, VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "gpu"), 0.6,
              VITALS_LOWER_BOUND);
    check_f64(gpu_world_child(&world, VITALS_GPU_ENGINE_BUSY_SECONDS, "gpu"), 28.341313925,
              VITALS_LOWER_BOUND);
    check_f64(gpu_world_value(&world, VITALS_GPU_UTILIZATION_RATIO), 0.6, VITALS_LOWER_BOUND);
    check_f64(gpu_world_value(&world, VITALS_GPU_BUSY_SECONDS), 0.6, VITALS_LOWER_BOUND);
    gpu_world_close(&world);
}

/* ---- radeon ---- */

static void radeon_has_limits_and_a_clock(void)
{
    char path[128];
    begin("drm/radeon");
    CHECK_STR(world.scan.devices[0].vendor, "amd");
    read_device(0);
    check_f64(gpu_world_child(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu"), 61,
              VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_SENSOR_HIGH_CELSIUS, "gpu"), 120, VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_SENSOR_VOLTAGE_VOLTS, "in0"), 1.175, VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics"), 860e6,
              VITALS_HAVE);
    snprintf(path, sizeof path, "%s/hwmon/hwmon3/freq1_input",
             "sys/devices/pci0000:00/0000:01:00.0");
    gpu_tree_text(&world.tree, path, "0\n");
    later();
    read_device(0);
    CHECK_INT(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics").state,
              VITALS_UNSUPPORTED);
    gpu_world_close(&world);
}

/* ---- nouveau ---- */

static void nouveau_lowers_its_clocks_from_max_on(void)
{
    begin("drm/nouveau");
    read_device(0);
    check_f64(gpu_world_child(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu"), 47,
              VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_SENSOR_HIGH_CELSIUS, "gpu"), 95, VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "gpu"), 135, VITALS_HAVE);
    gpu_world_close(&world);
}

/* ---- panthor ---- */

static void panthor_is_read_and_its_display_is_not(void)
{
    begin("drm/panthor");
    CHECK_UINT(world.scan.count, 1);
    CHECK_STR(world.scan.devices[0].vendor, "arm");
    CHECK_STR(world.scan.devices[0].name, "rockchip,rk3588-mali");
    CHECK_UINT(world.scan.devices[0].nodes[0].minor, 1);
    read_device(0);
    later();
    gpu_tree_text(&world.tree, "proc/700/fdinfo/9",
                  "drm-driver: panthor\ndrm-client-id: 10\ndrm-engine-panthor: 111360952750 ns\n"
                  "drm-resident-memory: 16480 KiB\ndrm-total-memory: 20000 KiB\n");
    read_device(0);
    check_f64(of(700, VITALS_GPU_PROCESS_UTILIZATION_RATIO), 0.25, VITALS_HAVE);
    check_u64(of(700, VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES), 16480 << 10, VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "panthor"), 0.25,
              VITALS_LOWER_BOUND);
    check_f64(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics"), 800e6,
              VITALS_HAVE);
    gpu_world_close(&world);
}

/* Its hardware is asked nothing; what processes did is the kernel's own count. */
static void a_sleeping_device_is_left_asleep(void)
{
    begin("drm/panthor");
    static const char FOLDER[] = "sys/devices/platform/fb000000.gpu/";
    char path[256];
    snprintf(path, sizeof path, "%spower/runtime_status", FOLDER);
    gpu_tree_text(&world.tree, path, "suspended\n");
    snprintf(path, sizeof path, "%shwmon/hwmon0/temp1_input", FOLDER);
    gpu_tree_text(&world.tree, path, "50000\n");
    read_device(0);
    CHECK_INT(world.sample.state, VITALS_HAVE);
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_RUNTIME_STATUS), "suspended");
    CHECK_INT(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics").state,
              VITALS_SUSPENDED);
    check_f64(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "graphics"), 1e9,
              VITALS_HAVE);
    CHECK_UINT(world.processes.count, 1);
    CHECK_NULL(gpu_sample_row(&world.sample, VITALS_TABLE_GPU_SENSOR, "gpu")); // not looked for yet
    snprintf(path, sizeof path, "%spower/runtime_status", FOLDER);
    gpu_tree_text(&world.tree, path, "active\n");
    read_device(0);
    check_f64(gpu_world_value(&world, VITALS_GPU_TEMPERATURE_CELSIUS), 50, VITALS_HAVE);
    gpu_tree_text(&world.tree, path, "suspended\n");
    read_device(0);
    CHECK_INT(gpu_world_value(&world, VITALS_GPU_TEMPERATURE_CELSIUS).state, VITALS_SUSPENDED);
    CHECK_INT(gpu_world_child(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu").state,
              VITALS_SUSPENDED);
    gpu_world_close(&world);
}

static void a_driver_that_counts_no_time_is_told_of(void)
{
    begin("drm/panthor");
    struct metric_set wanted = gpu_world_wanted(VITALS_TABLE_DIAGNOSIS);
    struct row_batch batch = {0};
    batch_reset(&batch, &wanted);
    world.backend->diagnose(&world.context, world.state, &batch);
    CHECK_UINT(batch.row_count, 1); // all is well
    gpu_tree_text(&world.tree, "sys/devices/platform/fb000000.gpu/profiling", "0\n");
    batch_reset(&batch, &wanted);
    world.backend->diagnose(&world.context, world.state, &batch);
    CHECK_UINT(batch.row_count, 2);
    const struct batch_cell *remedy = batch_find(&batch, &batch.rows[1], VITALS_DIAGNOSIS_REMEDY);
    CHECK_NOT_NULL(remedy);
    struct span text = batch_span(&batch, remedy);
    static const char WANTED[] = "echo 3 | sudo tee /sys/devices/platform/fb000000.gpu/profiling";
    CHECK_BYTES(text.bytes, text.size, WANTED, sizeof WANTED - 1);
    batch_done(&batch);
    gpu_world_close(&world);
}

/* ---- v3d ---- */

static void v3d_has_an_engine_for_each_queue(void)
{
    begin("drm/v3d");
    CHECK_STR(world.scan.devices[0].vendor, "broadcom");
    CHECK_STR(world.scan.devices[0].name, "brcm,2712-v3d");
    read_device(0);
    later();
    gpu_tree_text(&world.tree, "proc/812/fdinfo/15",
                  "drm-driver:\tv3d\ndrm-client-id:\t12\ndrm-engine-bin: \t1100000000 ns\n"
                  "drm-engine-render: \t4400000000 ns\ndrm-engine-csd: \t200000000 ns\n"
                  "drm-resident-memory:\t32768 KiB\ndrm-shared-memory:\t8192 KiB\n");
    read_device(0);
    check_f64(gpu_world_child(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics"), 0.4,
              VITALS_LOWER_BOUND);
    check_f64(gpu_world_child(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "bin"), 0.1,
              VITALS_LOWER_BOUND);
    check_f64(gpu_world_child(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "compute"), 0.2,
              VITALS_LOWER_BOUND);
    check_f64(gpu_world_child(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "tfu"), 0,
              VITALS_LOWER_BOUND);
    check_f64(of(812, VITALS_GPU_PROCESS_UTILIZATION_RATIO), 0.4, VITALS_HAVE);
    check_f64(of(812, VITALS_GPU_PROCESS_GRAPHICS_SECONDS), 4.4, VITALS_HAVE);
    check_f64(of(812, VITALS_GPU_PROCESS_COMPUTE_SECONDS), 0.2, VITALS_HAVE);
    check_u64(of(812, VITALS_GPU_PROCESS_SHARED_MEMORY_BYTES), 8192 << 10, VITALS_HAVE);
    CHECK_UINT(gpu_world_process(&world, 812)->uses, GPU_GRAPHICS | GPU_COMPUTE);
    CHECK_NULL(gpu_sample_row(&world.sample, VITALS_TABLE_GPU_CLOCK, "graphics"));
    gpu_world_close(&world);
}

/* ---- an NPU ---- */

static void an_npu_is_read_and_the_graphics_beside_it_are_not(void)
{
    begin("drm/ivpu");
    CHECK_UINT(world.scan.count, 1);
    const struct gpu_identity *who = &world.scan.devices[0];
    CHECK_STR(who->vendor, "intel");
    CHECK_STR(who->name, "Meteor Lake NPU");
    CHECK_STR(who->uuid, "drm-0000:00:0b.0");
    CHECK_STR(who->pci_bus_id, "0000:00:0b.0");
    CHECK_UINT(who->nodes[0].major, 261);
    read_device(0);
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_DEVICE_NODE), "/dev/accel/accel0");
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_PCI_ID), "8086:7d1d");
    check_f64(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "npu"), 1.4e9, VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "npu"), 1.85e9,
              VITALS_HAVE);
    check_u64(gpu_world_value(&world, VITALS_GPU_MEMORY_USED_BYTES), 104857600, VITALS_HAVE);
    CHECK_INT(gpu_world_value(&world, VITALS_GPU_UTILIZATION_RATIO).state, VITALS_NOT_YET);
    check_u64(of(3000, VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES), 49152 << 10, VITALS_HAVE);
    later();
    gpu_tree_text(&world.tree, "sys/devices/pci0000:00/0000:00:0b.0/npu_busy_time_us", "5300000\n");
    read_device(0);
    check_f64(gpu_world_value(&world, VITALS_GPU_UTILIZATION_RATIO), 0.3, VITALS_HAVE);
    check_f64(gpu_world_value(&world, VITALS_GPU_BUSY_SECONDS), 0.3, VITALS_HAVE);
    later(); // backwards: the driver was loaded anew
    gpu_tree_text(&world.tree, "sys/devices/pci0000:00/0000:00:0b.0/npu_busy_time_us", "0\n");
    read_device(0);
    check_f64(gpu_world_value(&world, VITALS_GPU_UTILIZATION_RATIO), 0, VITALS_HAVE);
    check_f64(gpu_world_value(&world, VITALS_GPU_BUSY_SECONDS), 0.3, VITALS_HAVE);
    gpu_world_close(&world);
}

/* ---- what should not be ---- */

static void nonsense_is_not_shown(void)
{
    begin("drm/hostile");
    CHECK_UINT(world.scan.count, 1);
    CHECK_STR(world.scan.devices[0].name, "nouveau");
    CHECK_STR(world.scan.devices[0].pci_bus_id, "0000:01:00.0");
    CHECK_UINT(world.scan.devices[0].node_count, 1); // the other one's number is none
    read_device(0);
    check_f64(gpu_world_value(&world, VITALS_GPU_TEMPERATURE_CELSIUS), 47, VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu"), 47,
              VITALS_HAVE);
    CHECK_INT(gpu_world_child(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "temp2").state,
              VITALS_FAILED);
    CHECK_INT(gpu_world_child(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "temp3").state,
              VITALS_FAILED);
    check_f64(
        gpu_world_child(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "label-that-is-longer-th"),
        -5, VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_SENSOR_FAN_RPM, "fan0"), 1850, VITALS_HAVE);
    check_f64(gpu_world_child(&world, VITALS_GPU_SENSOR_VOLTAGE_VOLTS, "GPU core"), 0.9,
              VITALS_HAVE);
    check_f64(gpu_world_value(&world, VITALS_GPU_POWER_WATTS), 19, VITALS_HAVE);
    CHECK_INT(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics").state,
              VITALS_FAILED);
    CHECK_INT(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ, "graphics").state,
              VITALS_FAILED);
    CHECK_INT(gpu_world_value(&world, VITALS_GPU_PCIE_WIDTH).state, VITALS_UNSUPPORTED);
    check_u64(gpu_world_value(&world, VITALS_GPU_PCIE_WIDTH_MAX), 8, VITALS_HAVE);
    CHECK_INT(gpu_world_value(&world, VITALS_GPU_UTILIZATION_RATIO).state, VITALS_UNSUPPORTED);
    CHECK_UINT(world.processes.count, 1); // the other's stat is cut: its owner is unknown
    check_u64(of(55, VITALS_GPU_PROCESS_MEMORY_USED_BYTES), UINT64_MAX, VITALS_ESTIMATE);
    gpu_world_close(&world);
}

static void a_device_that_is_taken_out_is_gone(void)
{
    begin("drm/v3d");
    read_device(0);
    gpu_tree_remove(&world.tree, "sys/devices/platform/soc@107c000000");
    read_device(0);
    CHECK_INT(world.sample.state, VITALS_GONE);
    CHECK_INT(world.processes.state, VITALS_GONE);
    CHECK_UINT(world.processes.count, 0);
    gpu_world_scan(&world);
    CHECK_INT(world.scan.state, VITALS_HAVE);
    CHECK_UINT(world.scan.count, 0);
    gpu_tree_add(&world.tree, "drm/v3d"); // and put in again: the same slot
    gpu_world_scan(&world);
    CHECK_UINT(world.scan.count, 1);
    CHECK_UINT(world.scan.devices[0].slot, 0);
    gpu_world_close(&world);
}

/* The chip of a device that comes back has another number. */
static void sensors_of_a_device_that_comes_back_are_found_anew(void)
{
    begin("drm/hostile");
    static const char DEVICE[] = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";
    char path[256];
    read_device(0);
    check_f64(gpu_world_value(&world, VITALS_GPU_TEMPERATURE_CELSIUS), 47, VITALS_HAVE);
    gpu_tree_remove(&world.tree, DEVICE);
    read_device(0);
    CHECK_INT(world.sample.state, VITALS_GONE);
    gpu_tree_add(&world.tree, "drm/hostile");
    snprintf(path, sizeof path, "%s/hwmon/hwmon3", DEVICE);
    gpu_tree_remove(&world.tree, path);
    snprintf(path, sizeof path, "%s/hwmon/hwmon9/temp1_input", DEVICE);
    gpu_tree_text(&world.tree, path, "51000\n");
    read_device(0);
    check_f64(gpu_world_value(&world, VITALS_GPU_TEMPERATURE_CELSIUS), 51, VITALS_HAVE);
    CHECK_NULL(gpu_sample_row(&world.sample, VITALS_TABLE_GPU_SENSOR, "fan0"));
    gpu_world_close(&world);
}

static void without_a_device_there_is_no_back_end(void)
{
    static const char *const TREES[] = {"", "intel/i915-igpu"};
    for (size_t i = 0; i < CHECK_COUNT(TREES); i++) {
        CHECK_CASE(TREES[i]);
        CHECK(gpu_world_open(&world, "drm", "tree", TREES[i]) < 0);
        CHECK_INT(world.scan.state, VITALS_UNSUPPORTED);
        CHECK_STR(world.scan.message, "no device of another DRM or accel driver");
        struct metric_set wanted = gpu_world_wanted(VITALS_TABLE_DIAGNOSIS);
        batch_reset(&world.sample.batch, &wanted);
        world.backend->diagnose(&world.context, NULL, &world.sample.batch);
        CHECK_UINT(world.sample.batch.row_count, 1);
        gpu_world_close(&world);
    }
}

/* Nothing is read that is not wanted, and a steady reading allocates nothing. */
static void a_steady_reading_asks_for_no_memory(void)
{
    begin("drm/msm");
    for (int i = 0; i < 20; i++) {
        read_device(0);
        later();
    }
    uint64_t asked = memory_asked();
    for (int i = 0; i < 10; i++) {
        read_device(0);
        later();
    }
    CHECK_UINT(memory_asked() - asked, 0);
    gpu_world_close(&world);
}

static const check_test tests[] = {
    {"msm is read", msm_is_read},
    {"processes of msm are charged once", processes_of_msm_are_charged_once},
    {"panthor is read, and its display is not", panthor_is_read_and_its_display_is_not},
    {"a sleeping device is left asleep", a_sleeping_device_is_left_asleep},
    {"a driver that counts no time is told of", a_driver_that_counts_no_time_is_told_of},
    {"radeon has limits and a clock", radeon_has_limits_and_a_clock},
    {"nouveau lowers its clocks from max on", nouveau_lowers_its_clocks_from_max_on},
    {"v3d has an engine for each queue", v3d_has_an_engine_for_each_queue},
    {"an NPU is read, and the graphics beside it are not",
     an_npu_is_read_and_the_graphics_beside_it_are_not},
    {"nonsense is not shown", nonsense_is_not_shown},
    {"a device that is taken out is gone", a_device_that_is_taken_out_is_gone},
    {"sensors of a device that comes back are found anew",
     sensors_of_a_device_that_comes_back_are_found_anew},
    {"without a device there is no back end", without_a_device_there_is_no_back_end},
    {"a steady reading asks for no memory", a_steady_reading_asks_for_no_memory},
};

CHECK_TESTS(tests)
