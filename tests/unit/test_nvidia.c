/* The NVIDIA back end on the simulated driver library (tests/nvml): what it makes of healthy, odd
 * and broken drivers, and how often it calls them. */
#include "gpu_world.h"

#include "core/memory.h"

#include <unistd.h>

static struct gpu_world world;

static const char *const variants[] = {"r390", "r470", "r535_54", "r535", "r550", "r580"};

static void open_driver(const char *variant, const char *scenario)
{
    if (gpu_world_open(&world, "nvidia", variant, scenario) < 0)
        CHECK_FAIL("%s", world.scan.message);
    gpu_world_scan(&world);
    CHECK_INT(world.scan.state, VITALS_HAVE);
}

static void close_driver(void)
{
    gpu_world_close(&world);
}

static void sample_all(uint32_t slot)
{
    struct metric_set all = gpu_world_wanted(0);
    gpu_world_sample(&world, slot, &all);
}

static void list_all(uint32_t slot)
{
    struct metric_set all = gpu_world_wanted(0);
    gpu_world_processes(&world, slot, &all);
}

static struct value reading(vitals_metric metric)
{
    return gpu_world_value(&world, metric);
}

static void check_number(vitals_metric metric, double expected)
{
    struct value value = reading(metric);
    if (value.state <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric), vitals_availability_name(value.state));
    double number = vitals_metric_type(metric) == VITALS_U64 ? (double)value.as.u64 : value.as.f64;
    if (number < expected - 1e-9 || number > expected + 1e-9)
        CHECK_FAIL("%s is %f, not %f", vitals_metric_name(metric), number, expected);
}

static void check_missing(vitals_metric metric, vitals_availability reason)
{
    struct value value = reading(metric);
    if (value.state != reason)
        CHECK_FAIL("%s is %s, not %s", vitals_metric_name(metric),
                   vitals_availability_name(value.state), vitals_availability_name(reason));
}

/* A scenario of our own; the file is removed at the next call and with NULL. */
static const char *write_scenario(const char *text)
{
    static char path[64];
    if (path[0])
        unlink(path);
    path[0] = '\0';
    if (!text)
        return NULL;
    snprintf(path, sizeof path, "/tmp/vitals-scenario-XXXXXX");
    int file = mkstemp(path);
    CHECK(file >= 0);
    CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    return path;
}

/* ---- a healthy driver ---- */

static void identity_is_the_drivers(void)
{
    open_driver("r580", "two-healthy");
    CHECK_UINT(world.scan.count, 2);
    CHECK_STR(world.scan.message, "driver 580.65.06, 2 devices");
    const struct gpu_identity *who = &world.scan.devices[1];
    CHECK_UINT(who->index, 1);
    CHECK_INT(who->parent_slot, -1);
    CHECK_STR(who->vendor, "nvidia");
    CHECK_CONTAINS(who->uuid, "GPU-");
    CHECK_STR(who->driver_version, "580.65.06");
    CHECK_STR(who->cuda_version, "13.0");
    CHECK_CONTAINS(who->pci_bus_id, ":00.0");
    CHECK_INT(who->gpu_instance_id.state, VITALS_UNSUPPORTED);
    char line[256];
    world.backend->diagnose(world.state, line, sizeof line);
    CHECK_CONTAINS(line, "functions");
    CHECK_CONTAINS(line, "driver 580.65.06");
    close_driver();
}

static void readings_are_in_base_units(void)
{
    static const struct {
        vitals_metric metric;
        double value;
    } cases[] = {
        {VITALS_GPU_MEMORY_TOTAL_BYTES, 80.0 * (1 << 30)},
        {VITALS_GPU_MEMORY_USED_BYTES, 20.0 * (1 << 30)},
        {VITALS_GPU_MEMORY_RESERVED_BYTES, 512.0 * (1 << 20)},
        {VITALS_GPU_MEMORY_FREE_BYTES, 59.5 * (1 << 30)},
        {VITALS_GPU_UTILIZATION_RATIO, 0.42},
        {VITALS_GPU_MEMORY_BUSY_RATIO, 0.17},
        {VITALS_GPU_BUSY_SECONDS, 0},
        {VITALS_GPU_POWER_WATTS, 312},
        {VITALS_GPU_POWER_LIMIT_WATTS, 700},
        {VITALS_GPU_ENERGY_JOULES, 1000},
        {VITALS_GPU_TEMPERATURE_CELSIUS, 41},
        {VITALS_GPU_FAN_RATIO, 0.31},
        {VITALS_GPU_PERFORMANCE_STATE, 0},
        {VITALS_GPU_PERSISTENCE_MODE, 1},
        {VITALS_GPU_DISPLAY_ACTIVE, 0},
        {VITALS_GPU_MIG_MODE, 0},
        {VITALS_GPU_ECC_ERRORS_UNCORRECTED, 0},
    };
    static const struct {
        vitals_metric metric;
        const char *label;
        double value;
    } children[] = {
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "encoder", 0.03},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "decoder", 0.04},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "jpeg", 0.05},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "optical_flow", 0.06},
        {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", 41},
        {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory", 53},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", 1755e6},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm", 1740e6},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "memory", 2619e6},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "video", 1545e6},
        {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "sm", 1980e6},
    };
    open_driver("r580", NULL);
    sample_all(0);
    for (size_t i = 0; i < CHECK_COUNT(cases); i++)
        check_number(cases[i].metric, cases[i].value);
    CHECK_STR(world.sample.compute_mode, "default");
    for (size_t i = 0; i < CHECK_COUNT(children); i++) {
        CHECK_CASE(children[i].label);
        struct value value = gpu_world_child(&world, children[i].metric, children[i].label);
        CHECK_INT(value.state, VITALS_HAVE);
        CHECK_NEAR(value.as.f64, children[i].value, 1e-6);
    }
    CHECK_UINT(gpu_world_child(&world, VITALS_GPU_POOL_TOTAL_BYTES, "bar1").as.u64, UINT64_C(128)
                                                                                        << 30);
    CHECK_UINT(gpu_world_child(&world, VITALS_GPU_POOL_USED_BYTES, "bar1").as.u64, UINT64_C(16)
                                                                                       << 20);
    close_driver();
}

static void compute_mode_is_a_word(void)
{
    static const char *const words[] = {"default", "exclusive_thread", "prohibited",
                                        "exclusive_process"};
    open_driver("r580", NULL);
    for (unsigned i = 0; i < CHECK_COUNT(words); i++) {
        char number[8];
        snprintf(number, sizeof number, "%u", i);
        gpu_world_set(&world, "gpu 0", "compute_mode", number);
        sample_all(0);
        CHECK_INT(world.sample.compute_mode_state, VITALS_HAVE);
        CHECK_STR(world.sample.compute_mode, words[i]);
    }
    gpu_world_set(&world, "gpu 0", "compute_mode", "9");
    sample_all(0);
    CHECK_INT(world.sample.compute_mode_state, VITALS_FAILED);
    close_driver();
}

static void busy_time_is_the_integral_of_utilization(void)
{
    open_driver("r580", NULL);
    sample_all(0);
    world.now_ns += 10 * NS_PER_SECOND;
    sample_all(0);
    check_number(VITALS_GPU_BUSY_SECONDS, 4.2);
    CHECK_INT(reading(VITALS_GPU_BUSY_SECONDS).state, VITALS_SAMPLED);
    gpu_world_set(&world, "gpu 0", "utilization_gpu_percent", "error:999");
    world.now_ns += 10 * NS_PER_SECOND;
    sample_all(0);
    check_missing(VITALS_GPU_BUSY_SECONDS, VITALS_FAILED);
    gpu_world_set(&world, "gpu 0", "utilization_gpu_percent", "100");
    world.now_ns += 10 * NS_PER_SECOND;
    sample_all(0);
    check_number(VITALS_GPU_BUSY_SECONDS, 4.2);
    world.now_ns += NS_PER_SECOND;
    sample_all(0);
    check_number(VITALS_GPU_BUSY_SECONDS, 5.2);
    close_driver();
}

static void nonsense_is_failed(void)
{
    open_driver("r580", NULL);
    gpu_world_set(&world, "gpu 0", "utilization_gpu_percent", "3735928559");
    gpu_world_set(&world, "gpu 0", "memory_used_bytes", "90GiB");
    gpu_world_set(&world, "gpu 0", "memory_free_bytes", "1GiB");
    gpu_world_set(&world, "gpu 0", "performance_state", "32");
    sample_all(0);
    check_missing(VITALS_GPU_UTILIZATION_RATIO, VITALS_FAILED);
    check_missing(VITALS_GPU_BUSY_SECONDS, VITALS_FAILED);
    check_missing(VITALS_GPU_MEMORY_USED_BYTES, VITALS_FAILED);
    check_number(VITALS_GPU_MEMORY_TOTAL_BYTES, 80.0 * (1 << 30));
    check_missing(VITALS_GPU_PERFORMANCE_STATE, VITALS_UNSUPPORTED); /* the driver's "unknown" */
    check_number(VITALS_GPU_POWER_WATTS, 312);
    close_driver();
}

/* ---- how often the driver is called ---- */

static uint64_t calls_of_sample(const struct metric_set *wanted)
{
    uint64_t before = gpu_world_calls(&world, NULL);
    for (uint32_t i = 0; i < world.scan.count; i++)
        gpu_world_sample(&world, world.scan.devices[i].slot, wanted);
    return gpu_world_calls(&world, NULL) - before;
}

static void a_metric_costs_one_call(void)
{
    static const struct {
        vitals_metric metric;
        unsigned calls;
    } cases[] = {
        {VITALS_GPU_INDEX, 0},
        {VITALS_GPU_NAME, 0},
        {VITALS_GPU_PROCESSES, 0},
        {VITALS_GPU_MEMORY_USED_BYTES, 1},
        {VITALS_GPU_UTILIZATION_RATIO, 1},
        {VITALS_GPU_BUSY_SECONDS, 1},
        {VITALS_GPU_POWER_WATTS, 1},
        {VITALS_GPU_POWER_LIMIT_WATTS, 1},
        {VITALS_GPU_ENERGY_JOULES, 1},
        {VITALS_GPU_TEMPERATURE_CELSIUS, 1},
        {VITALS_GPU_FAN_RATIO, 1},
        {VITALS_GPU_PERFORMANCE_STATE, 1},
        {VITALS_GPU_COMPUTE_MODE, 1},
        {VITALS_GPU_PERSISTENCE_MODE, 1},
        {VITALS_GPU_DISPLAY_ACTIVE, 1},
        {VITALS_GPU_MIG_MODE, 1},
        {VITALS_GPU_ECC_ERRORS_UNCORRECTED, 1},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, 4},
        {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, 2},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, 4},
        {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, 4},
        {VITALS_GPU_POOL_USED_BYTES, 1},
        {VITALS_GPU_PROCESS_MEMORY_USED_BYTES, 0},
    };
    open_driver("r580", "eight");
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(vitals_metric_name(cases[i].metric));
        struct metric_set only = gpu_world_only(cases[i].metric);
        CHECK_UINT(calls_of_sample(&only), 8 * cases[i].calls);
    }
    close_driver();
}

/* What a monitor asks for at each tick, and what it asks for every five seconds, and once a
 * minute. docs/decisions.md cites these. */
static void a_tick_costs_what_it_must(void)
{
    struct metric_set tick = {0}, all = gpu_world_wanted(0);
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        if (metric_set_has(&all, m) && vitals_metric_every_ns(m) == 0)
            metric_set_add(&tick, m);
    }
    struct metric_set gpu = gpu_world_wanted(VITALS_GPU);
    open_driver("r580", "eight");
    CHECK_UINT(calls_of_sample(&tick), 8 * 15);
    CHECK_UINT(calls_of_sample(&all), 8 * 27);
    CHECK_UINT(calls_of_sample(&gpu), 8 * 13);
    close_driver();
}

static uint64_t calls_of_processes(const struct metric_set *wanted)
{
    uint64_t before = gpu_world_calls(&world, NULL);
    gpu_world_processes(&world, 0, wanted);
    return gpu_world_calls(&world, NULL) - before;
}

static void processes_cost_two_calls_and_their_shares_a_third(void)
{
    struct metric_set lists = gpu_world_only(VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    struct metric_set shares = gpu_world_wanted(VITALS_GPU_PROCESS);
    open_driver("r580", "eight");
    CHECK_UINT(calls_of_processes(&lists), 2);
    CHECK_UINT(calls_of_processes(&shares), 3);
    close_driver();
    open_driver("r580", NULL); /* nobody there: no shares to ask for */
    CHECK_UINT(calls_of_processes(&shares), 2);
    close_driver();
}

static void a_scan_asks_only_once_who_a_device_is(void)
{
    open_driver("r580", "eight");
    uint64_t names = gpu_world_calls(&world, "nvmlDeviceGetName");
    uint64_t all = gpu_world_calls(&world, NULL);
    CHECK_UINT(names, 8);
    gpu_world_scan(&world);
    CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetName"), names);
    CHECK_UINT(gpu_world_calls(&world, NULL) - all, 1 + 8 * 3); /* handle, UUID, MIG mode */
    close_driver();
}

static void a_steady_tick_allocates_nothing(void)
{
    open_driver("r580", "eight");
    for (int i = 0; i < 3; i++) {
        sample_all(0);
        list_all(0);
    }
    uint64_t asked = memory_asked();
    sample_all(0);
    list_all(0);
    CHECK_UINT(memory_asked(), asked);
    close_driver();
}

/* ---- drivers that know less ---- */

static void what_a_driver_does_not_have_is_unsupported(void)
{
    open_driver("r580", "not-available");
    sample_all(0);
    check_missing(VITALS_GPU_POWER_WATTS, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_UTILIZATION_RATIO, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_BUSY_SECONDS, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_FAN_RATIO, VITALS_UNSUPPORTED);
    CHECK_INT(world.sample.compute_mode_state, VITALS_UNSUPPORTED);
    CHECK_INT(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm").state,
              VITALS_UNSUPPORTED);
    list_all(0);
    const struct gpu_process *silent = gpu_world_process(&world, getpid());
    CHECK_NOT_NULL(silent);
    CHECK_INT(silent->memory_used_bytes.state, VITALS_UNSUPPORTED);
    sample_all(1);
    check_number(VITALS_GPU_MEMORY_TOTAL_BYTES, 16.0 * (1 << 30));
    close_driver();
}

static void memory_that_is_the_hosts_is_unsupported(void)
{
    static const char *const scenarios[] = {"unified-memory", "memory-unknown"};
    for (size_t i = 0; i < CHECK_COUNT(scenarios); i++) {
        CHECK_CASE(scenarios[i]);
        open_driver("r580", scenarios[i]);
        sample_all(0);
        check_missing(VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_UNSUPPORTED);
        check_missing(VITALS_GPU_MEMORY_USED_BYTES, VITALS_UNSUPPORTED);
        check_missing(VITALS_GPU_MEMORY_FREE_BYTES, VITALS_UNSUPPORTED);
        check_missing(VITALS_GPU_MEMORY_RESERVED_BYTES, VITALS_UNSUPPORTED);
        close_driver();
    }
}

static void an_old_driver_counts_reserved_memory_as_used(void)
{
    open_driver("r470", NULL);
    sample_all(0);
    check_number(VITALS_GPU_MEMORY_TOTAL_BYTES, 80.0 * (1 << 30));
    check_number(VITALS_GPU_MEMORY_USED_BYTES, 20.5 * (1 << 30));
    check_missing(VITALS_GPU_MEMORY_RESERVED_BYTES, VITALS_UNSUPPORTED);
    check_number(VITALS_GPU_TEMPERATURE_CELSIUS, 41);
    close_driver();
}

static void a_function_that_answers_not_found_has_an_older_one(void)
{
    open_driver("r580", write_scenario("[library]\nmissing = nvmlDeviceGetMemoryInfo_v2 "
                                       "nvmlDeviceGetTemperatureV "
                                       "nvmlDeviceGetComputeRunningProcesses_v3\n"
                                       "[gpu 0]\n[process a]\ngpu = 0\npid = 77\nmemory = 1GiB\n"));
    sample_all(0);
    check_number(VITALS_GPU_MEMORY_USED_BYTES, 20.5 * (1 << 30));
    check_number(VITALS_GPU_TEMPERATURE_CELSIUS, 41);
    list_all(0);
    CHECK_NOT_NULL(gpu_world_process(&world, 77));
    close_driver();
    write_scenario(NULL);
}

/* ---- MIG ---- */

static const struct gpu_identity *part(uint32_t index)
{
    for (uint32_t i = 0; i < world.scan.count; i++) {
        const struct gpu_identity *who = &world.scan.devices[i];
        if (who->parent_slot >= 0 && who->index == index)
            return who;
    }
    CHECK_FAIL("no instance %u", index);
}

static void instances_are_devices_under_theirs_and_holes_are_passed(void)
{
    open_driver("r580", "mig");
    CHECK_UINT(world.scan.count, 5);
    CHECK_STR(world.scan.message, "driver 580.65.06, 2 devices, 3 MIG instances");
    CHECK_STR(part(0)->name, "3g.40gb");
    CHECK_STR(part(1)->name, "1g.10gb");
    CHECK_STR(part(3)->name, "1g.10gb");
    CHECK_UINT(part(0)->gpu_instance_id.as.u64, 2);
    CHECK_INT(part(0)->gpu_instance_id.state, VITALS_HAVE);
    CHECK_UINT(part(3)->gpu_instance_id.as.u64, 10);
    CHECK_INT(part(3)->parent_slot, (int)world.scan.devices[0].slot);
    CHECK_STR(part(3)->pci_bus_id, world.scan.devices[0].pci_bus_id);
    close_driver();
}

static void an_instance_has_memory_and_no_utilization(void)
{
    struct metric_set all = gpu_world_wanted(0);
    open_driver("r580", "mig");
    uint64_t before = gpu_world_calls(&world, NULL);
    gpu_world_sample(&world, part(1)->slot, &all);
    CHECK_UINT(gpu_world_calls(&world, NULL) - before, 2); /* memory and BAR1 */
    check_number(VITALS_GPU_MEMORY_TOTAL_BYTES, 10.0 * (1 << 30));
    check_number(VITALS_GPU_MEMORY_USED_BYTES, 5.0 * (1 << 30));
    check_missing(VITALS_GPU_UTILIZATION_RATIO, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_BUSY_SECONDS, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_POWER_WATTS, VITALS_UNSUPPORTED);
    CHECK_UINT(gpu_world_child(&world, VITALS_GPU_POOL_USED_BYTES, "bar1").as.u64, 4 << 20);
    sample_all(0);
    check_number(VITALS_GPU_MIG_MODE, 1);
    check_missing(VITALS_GPU_UTILIZATION_RATIO, VITALS_UNSUPPORTED);
    close_driver();
}

static void processes_of_instances_are_listed_with_them(void)
{
    open_driver("r580", "mig");
    uint64_t before = gpu_world_calls(&world, NULL);
    list_all(0);
    CHECK_INT(world.processes.state, VITALS_HAVE);
    CHECK_UINT(world.processes.count, 0);
    CHECK_UINT(gpu_world_calls(&world, NULL), before);
    list_all(part(0)->slot);
    CHECK_UINT(world.processes.count, 1);
    const struct gpu_process *big = gpu_world_process(&world, getpid());
    CHECK_NOT_NULL(big);
    CHECK_UINT(big->memory_used_bytes.as.u64, UINT64_C(15) << 30);
    CHECK_INT(big->utilization_ratio.state, VITALS_UNSUPPORTED);
    CHECK_INT(big->busy_seconds.state, VITALS_UNSUPPORTED);
    list_all(part(1)->slot);
    CHECK_INT(gpu_world_process(&world, 4000002)->memory_used_bytes.state, VITALS_UNSUPPORTED);
    list_all(part(3)->slot);
    CHECK_UINT(world.processes.count, 0);
    close_driver();
}

static void a_profile_is_made_of_attributes_where_the_name_lacks_it(void)
{
    open_driver("r580", write_scenario("[gpu 0]\nmig_mode = 1\n[mig 0:0]\nname = NVIDIA Unnamed\n"
                                       "gi = 1\nci = 0\nmemory_total_bytes = 9984MiB\n"
                                       "multiprocessors = 14\ncopy_engines = 1\ndecoders = 0\n"
                                       "encoders = 0\njpeg_engines = 0\nofa_engines = 0\n"
                                       "gpu_slices = 2\ncompute_slices = 1\n"));
    CHECK_UINT(world.scan.count, 2);
    CHECK_STR(part(0)->name, "1c.2g.10gb");
    close_driver();
    write_scenario(NULL);
}

static void a_device_that_is_no_longer_partitioned_loses_its_instances(void)
{
    open_driver("r580", "mig");
    gpu_world_set(&world, "gpu 0", "mig_mode", "0");
    gpu_world_scan(&world);
    CHECK_UINT(world.scan.count, 2);
    list_all(0);
    CHECK_UINT(world.processes.count, 2); /* listed with the device itself now */
    close_driver();
}

/* ---- lost devices ---- */

static void a_lost_device_keeps_its_place_and_is_not_asked_again(void)
{
    open_driver("r580", "lost-half-way");
    struct gpu_identity before = world.scan.devices[1];
    int samples = 0;
    do {
        sample_all(before.slot);
        CHECK(++samples < 30);
    } while (world.sample.state != VITALS_GONE);
    CHECK_UINT(world.sample.child_count, 0);
    uint64_t calls = gpu_world_calls(&world, NULL);
    sample_all(before.slot);
    CHECK_INT(world.sample.state, VITALS_GONE);
    list_all(before.slot);
    CHECK_INT(world.processes.state, VITALS_GONE);
    CHECK_UINT(gpu_world_calls(&world, NULL), calls);

    gpu_world_scan(&world);
    CHECK_UINT(world.scan.count, 2);
    CHECK_STR(world.scan.devices[1].uuid, before.uuid);
    CHECK_STR(world.scan.devices[1].name, before.name);
    CHECK_UINT(world.scan.devices[1].slot, before.slot);
    sample_all(before.slot);
    CHECK_INT(world.sample.state, VITALS_GONE);
    sample_all(world.scan.devices[0].slot);
    CHECK_INT(world.sample.state, VITALS_HAVE);
    close_driver();
}

static void a_device_lost_from_the_start_has_a_row(void)
{
    open_driver("r580", write_scenario("[gpu 0]\n[gpu 1]\n[call *]\ngpu = 1\nresult = 15\n"));
    CHECK_UINT(world.scan.count, 2);
    CHECK_STR(world.scan.devices[1].uuid, "nvidia-1");
    CHECK_INT(world.scan.devices[1].name_state, VITALS_GONE);
    sample_all(world.scan.devices[1].slot);
    CHECK_INT(world.sample.state, VITALS_GONE);
    close_driver();
    write_scenario(NULL);
}

static void a_device_that_is_denied_says_so(void)
{
    open_driver("r580", write_scenario("[gpu 0]\n[call nvmlDeviceGetHandleByIndex_v2]\ngpu = 0\n"
                                       "result = 4\n"));
    CHECK_UINT(world.scan.count, 1);
    sample_all(world.scan.devices[0].slot);
    CHECK_INT(world.sample.state, VITALS_DENIED);
    list_all(world.scan.devices[0].slot);
    CHECK_INT(world.processes.state, VITALS_DENIED);
    close_driver();
    write_scenario(NULL);
}

/* ---- drivers that do not start ---- */

static void what_hinders_the_driver_is_told_to_a_person(void)
{
    static const struct {
        const char *scenario;
        vitals_availability state;
        const char *message;
    } cases[] = {
        {"init-driver-not-loaded", VITALS_UNSUPPORTED, "driver not loaded"},
        {"init-library-not-found", VITALS_FAILED, "reinstall the driver"},
        {"init-no-permission", VITALS_DENIED, "no permission to /dev/nvidia*"},
        {"init-unknown", VITALS_FAILED, "nvmlInit says 999"},
        {"init-version-mismatch", VITALS_FAILED,
         "does not match the kernel module; reboot or reload the module"},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].scenario);
        CHECK(gpu_world_open(&world, "nvidia", "r580", cases[i].scenario) < 0);
        CHECK_INT(world.scan.state, cases[i].state);
        CHECK_CONTAINS(world.scan.message, cases[i].message);
    }
}

static void a_driver_that_is_loaded_later_can_be_opened_later(void)
{
    static const bool opens[] = {false, false, true};
    char path[sizeof world.nvml_path];
    snprintf(path, sizeof path, "%s/tests/nvml/r580/libnvidia-ml.so.1",
             gpu_world_path("VITALS_BUILD"));
    void *held = dlopen(path, RTLD_LAZY); /* the scenario counts how often it was asked */
    CHECK_NOT_NULL(held);
    for (size_t i = 0; i < CHECK_COUNT(opens); i++)
        CHECK_INT(gpu_world_open(&world, "nvidia", "r580", "init-late") == 0, opens[i]);
    close_driver();
    dlclose(held);
}

static void where_no_driver_is_there_are_no_devices(void)
{
    CHECK(gpu_world_open(&world, "nvidia", "no-such-variant", NULL) < 0);
    CHECK_INT(world.scan.state, VITALS_UNSUPPORTED);
    CHECK_CONTAINS(world.scan.message, "not NVIDIA's driver library");
}

static void a_library_that_is_another_is_refused(void)
{
    memset(&world, 0, sizeof world);
    world.context.nvml_path = strcpy(world.nvml_path, "libm.so.6");
    world.context.os.clock = (vitals_clock){.data = &world, .monotonic_ns = gpu_world_now};
    void *state;
    const struct gpu_backend *nvidia = gpu_world_backend("nvidia");
    CHECK(nvidia->open(&world.context, &state, &world.scan) < 0);
    CHECK_INT(world.scan.state, VITALS_UNSUPPORTED);
    CHECK_CONTAINS(world.scan.message, "lacks nvmlInit_v2");
}

static bool is_loaded(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library != NULL;
}

static void the_last_to_close_unloads_the_library(void)
{
    static struct gpu_world second;
    open_driver("r580", NULL);
    CHECK_INT(gpu_world_open(&second, "nvidia", "r580", NULL), 0);
    gpu_world_scan(&second);
    close_driver();
    CHECK(is_loaded(second.nvml_path));
    struct metric_set power = gpu_world_only(VITALS_GPU_POWER_WATTS);
    gpu_world_sample(&second, 0, &power);
    CHECK_NEAR(gpu_world_value(&second, VITALS_GPU_POWER_WATTS).as.f64, 312, 1e-9);
    gpu_world_close(&second);
    CHECK_FALSE(is_loaded(second.nvml_path));
}

static void names_pass_as_they_are(void)
{
    open_driver("r580", "hostile-names");
    CHECK_STR(world.scan.devices[0].name, "NVIDIA \033]0;owned\007\033[2J\033[31mRed\033[0m");
    CHECK_STR(world.scan.devices[1].name, "NVIDIA \xff\xfe\xc3(");
    CHECK_STR(world.scan.devices[4].name, "");
    close_driver();
}

/* ---- processes ---- */

static void check_eight(void)
{
    for (uint32_t i = 0; i < 8; i++) {
        list_all(world.scan.devices[i].slot);
        CHECK_INT(world.processes.state, VITALS_HAVE);
        CHECK_UINT(world.processes.count, 4);
        for (uint32_t j = 0; j < 4; j++) {
            const struct gpu_process *item = &world.processes.items[j];
            CHECK_INT(item->pid, 4000100 + 4 * (int)i + (int)j);
            CHECK_UINT(item->memory_used_bytes.as.u64, (uint64_t)(j + 1) << 30);
            CHECK_INT(item->compute, j < 3);
            CHECK_INT(item->graphics, j == 3);
        }
    }
}

static void every_driver_lists_the_same_processes(void)
{
    for (size_t i = 0; i < CHECK_COUNT(variants); i++) {
        CHECK_CASE(variants[i]);
        open_driver(variants[i], "eight");
        check_eight();
        close_driver();
    }
}

static void every_layout_is_found_out_under_every_name(void)
{
    static const char *const layouts[] = {"v1", "v2", "v3", "v3_confcompute"};
    static char name[32];
    for (size_t i = 0; i < CHECK_COUNT(variants); i++) {
        open_driver(variants[i], "eight");
        for (size_t j = 0; j < CHECK_COUNT(layouts); j++) {
            snprintf(name, sizeof name, "%s as %s", variants[i], layouts[j]);
            CHECK_CASE(name);
            gpu_world_set(&world, "library", "process_layout", layouts[j]);
            check_eight();
        }
        close_driver();
    }
}

static void a_single_process_has_its_layout_too(void)
{
    open_driver("r580", "wrong-layout");
    gpu_world_set(&world, "process second", "running", "no");
    list_all(0);
    CHECK_UINT(world.processes.count, 2);
    CHECK_NOT_NULL(gpu_world_process(&world, 4000003));
    gpu_world_set(&world, "process third", "running", "no");
    list_all(0);
    CHECK_UINT(world.processes.count, 1);
    CHECK_UINT(gpu_world_process(&world, getpid())->memory_used_bytes.as.u64, 1 << 30);
    close_driver();
}

static void impossible_pids_are_no_processes(void)
{
    open_driver("r580", write_scenario("[gpu 0]\n[process a]\ngpu = 0\npid = 4294967295\n"
                                       "memory = 1GiB\n[process b]\ngpu = 0\npid = 12\n"));
    list_all(0);
    CHECK_INT(world.processes.state, VITALS_FAILED);
    CHECK_UINT(world.processes.count, 0);
    close_driver();
    write_scenario(NULL);
}

static void compute_and_graphics_are_one_process_and_its_memory_counts_once(void)
{
    open_driver("r580", write_scenario("[gpu 0]\n[process a]\ngpu = 0\npid = 77\nkind = C+G\n"
                                       "memory = 3GiB\n[process b]\ngpu = 0\npid = 5\nkind = G\n"
                                       "memory = N/A\n"));
    list_all(0);
    CHECK_UINT(world.processes.count, 2);
    CHECK_INT(world.processes.items[0].pid, 5);
    const struct gpu_process *both = gpu_world_process(&world, 77);
    CHECK(both->compute && both->graphics);
    CHECK_UINT(both->memory_used_bytes.as.u64, UINT64_C(3) << 30);
    CHECK_INT(gpu_world_process(&world, 5)->memory_used_bytes.state, VITALS_UNSUPPORTED);
    close_driver();
    write_scenario(NULL);
}

static const char *crowd(unsigned count)
{
    size_t capacity = 64 * (size_t)count + 64, size = 0;
    char *text = malloc(capacity);
    CHECK_NOT_NULL(text);
    size += (size_t)snprintf(text, capacity, "[gpu 0]\n");
    for (unsigned i = 0; i < count; i++)
        size += (size_t)snprintf(text + size, capacity - size,
                                 "[process %u]\ngpu = 0\npid = %u\nmemory = 1MiB\nsm = 1\n", i,
                                 1 + (i * 7919) % 1000003);
    const char *path = write_scenario(text);
    free(text);
    return path;
}

static void many_processes_are_listed_and_too_many_are_cut(void)
{
    static const struct {
        unsigned there, listed;
        bool cut;
    } cases[] = {{31, 31, false}, {33, 33, false}, {950, 950, false}, {1100, 1024, true}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        open_driver("r580", crowd(cases[i].there));
        list_all(0);
        CHECK_INT(world.processes.state, VITALS_HAVE);
        CHECK_UINT(world.processes.count, cases[i].listed);
        CHECK_INT(world.processes.cut, cases[i].cut);
        CHECK_INT(world.processes.items[0].utilization_ratio.state, VITALS_HAVE);
        close_driver();
    }
    write_scenario(NULL);
}

static void a_list_that_is_denied_is_not_an_empty_one(void)
{
    open_driver("r580", "no-permission");
    list_all(0);
    CHECK_INT(world.processes.state, VITALS_DENIED);
    CHECK_UINT(world.processes.count, 0);
    sample_all(0);
    check_number(VITALS_GPU_POWER_WATTS, 312);
    close_driver();
}

/* ---- shares ---- */

static const char one_busy[] = "[library]\nsample_period = 0\n[gpu 0]\n"
                               "[process busy]\ngpu = 0\npid = 77\nmemory = 1GiB\n"
                               "sm = 35\nmem = 10\nenc = 20\ndec = 30\n"
                               "[process quiet]\ngpu = 0\npid = 78\nmemory = 1GiB\n";

/* The simulated driver has a new sample each microsecond. */
static void wait_for_a_sample(void)
{
    uint64_t from_ns = gpu_world_realtime(NULL);
    while (gpu_world_realtime(NULL) / 1000 < from_ns / 1000 + 2)
        continue;
}

static const struct gpu_process *busy(void)
{
    const struct gpu_process *found = gpu_world_process(&world, 77);
    CHECK_NOT_NULL(found);
    return found;
}

static void shares_are_the_drivers_and_silence_is_idle(void)
{
    open_driver("r580", write_scenario(one_busy));
    for (int i = 0; i < 3; i++) {
        wait_for_a_sample();
        list_all(0);
        CHECK_NEAR(busy()->utilization_ratio.as.f64, 0.35, 1e-9);
        CHECK_NEAR(busy()->memory_busy_ratio.as.f64, 0.10, 1e-9);
        CHECK_NEAR(busy()->encoder_ratio.as.f64, 0.20, 1e-9);
        CHECK_NEAR(busy()->decoder_ratio.as.f64, 0.30, 1e-9);
        CHECK_INT(busy()->utilization_ratio.state, VITALS_HAVE);
        const struct gpu_process *quiet = gpu_world_process(&world, 78);
        CHECK_INT(quiet->utilization_ratio.state, VITALS_HAVE);
        CHECK_NEAR(quiet->utilization_ratio.as.f64, 0, 0);
        CHECK_NEAR(quiet->busy_seconds.as.f64, 0, 0);
        world.now_ns += NS_PER_SECOND;
    }
    close_driver();
    write_scenario(NULL);
}

/* The simulated driver dates samples by the wall clock: what is counted is the time between two
 * readings, which we can only bound. */
static void busy_time_of_a_process_is_the_integral_of_its_samples(void)
{
    open_driver("r580", write_scenario(one_busy));
    uint64_t from_ns = gpu_world_realtime(NULL);
    list_all(0);
    CHECK_NEAR(busy()->busy_seconds.as.f64, 0, 0);
    CHECK_INT(busy()->busy_seconds.state, VITALS_SAMPLED);
    for (int i = 0; i < 200; i++)
        list_all(0);
    uint64_t until_ns = gpu_world_realtime(NULL);
    double seconds = busy()->busy_seconds.as.f64 / 0.35;
    CHECK(seconds > 0);
    CHECK(seconds <= (double)(until_ns - from_ns) / 1e9 + 1e-5);
    for (int i = 0; i < 1000; i++)
        list_all(0);
    CHECK(busy()->busy_seconds.as.f64 / 0.35 > seconds);
    close_driver();
    write_scenario(NULL);
}

static void between_two_samples_the_share_holds_and_then_is_idle(void)
{
    open_driver("r580", write_scenario(one_busy));
    list_all(0);
    gpu_world_set(&world, "process busy", "sm", "0");
    gpu_world_set(&world, "process busy", "mem", "0");
    gpu_world_set(&world, "process busy", "enc", "0");
    gpu_world_set(&world, "process busy", "dec", "0");
    world.now_ns += 100 * NS_PER_MS; /* faster than the driver samples */
    list_all(0);
    CHECK_NEAR(busy()->utilization_ratio.as.f64, 0.35, 1e-9);
    world.now_ns += NS_PER_SECOND;
    list_all(0);
    CHECK_INT(busy()->utilization_ratio.state, VITALS_HAVE);
    CHECK_NEAR(busy()->utilization_ratio.as.f64, 0, 0);
    close_driver();
    write_scenario(NULL);
}

static void garbage_among_the_samples_is_not_counted(void)
{
    open_driver("r580", "garbage-samples");
    for (int i = 0; i < 5; i++) {
        wait_for_a_sample();
        list_all(0);
        CHECK_UINT(world.processes.count, 2);
        CHECK_NEAR(gpu_world_process(&world, getpid())->utilization_ratio.as.f64, 0.35, 1e-9);
        CHECK_NEAR(gpu_world_process(&world, 4000001)->utilization_ratio.as.f64, 0, 0);
        world.now_ns += NS_PER_SECOND;
    }
    close_driver();
}

static void shares_that_are_denied_leave_the_list(void)
{
    open_driver("r580", write_scenario("[gpu 0]\n[process a]\ngpu = 0\npid = 77\nmemory = 1GiB\n"
                                       "[call nvmlDeviceGetProcessUtilization]\nresult = 4\n"));
    list_all(0);
    CHECK_INT(world.processes.state, VITALS_HAVE);
    CHECK_INT(busy()->memory_used_bytes.state, VITALS_HAVE);
    CHECK_INT(busy()->utilization_ratio.state, VITALS_DENIED);
    CHECK_INT(busy()->busy_seconds.state, VITALS_DENIED);
    close_driver();
    write_scenario(NULL);
}

static void a_pid_that_comes_back_begins_anew(void)
{
    open_driver("r580", write_scenario(one_busy));
    for (int i = 0; i < 100; i++)
        list_all(0);
    CHECK(busy()->busy_seconds.as.f64 > 0);
    gpu_world_set(&world, "process busy", "running", "no");
    list_all(0);
    CHECK_NULL(gpu_world_process(&world, 77));
    gpu_world_set(&world, "process busy", "running", "yes");
    struct metric_set lists = gpu_world_only(VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    gpu_world_processes(&world, 0, &lists);
    CHECK_INT(busy()->busy_seconds.state, VITALS_UNSET); /* not asked for */
    close_driver();
    write_scenario(NULL);
}

static const check_test tests[] = {
    {"identity is the driver's", identity_is_the_drivers},
    {"readings are in base units", readings_are_in_base_units},
    {"compute mode is a word", compute_mode_is_a_word},
    {"busy time is the integral of utilization", busy_time_is_the_integral_of_utilization},
    {"nonsense is failed", nonsense_is_failed},
    {"a metric costs one call", a_metric_costs_one_call},
    {"a tick costs what it must", a_tick_costs_what_it_must},
    {"processes cost two calls and their shares a third",
     processes_cost_two_calls_and_their_shares_a_third},
    {"a scan asks only once who a device is", a_scan_asks_only_once_who_a_device_is},
    {"a steady tick allocates nothing", a_steady_tick_allocates_nothing},
    {"what a driver does not have is unsupported", what_a_driver_does_not_have_is_unsupported},
    {"memory that is the host's is unsupported", memory_that_is_the_hosts_is_unsupported},
    {"an old driver counts reserved memory as used", an_old_driver_counts_reserved_memory_as_used},
    {"a function that answers not found has an older one",
     a_function_that_answers_not_found_has_an_older_one},
    {"instances are devices under theirs, and holes are passed",
     instances_are_devices_under_theirs_and_holes_are_passed},
    {"an instance has memory and no utilization", an_instance_has_memory_and_no_utilization},
    {"processes of instances are listed with them", processes_of_instances_are_listed_with_them},
    {"a profile is made of attributes where the name lacks it",
     a_profile_is_made_of_attributes_where_the_name_lacks_it},
    {"a device that is no longer partitioned loses its instances",
     a_device_that_is_no_longer_partitioned_loses_its_instances},
    {"a lost device keeps its place and is not asked again",
     a_lost_device_keeps_its_place_and_is_not_asked_again},
    {"a device lost from the start has a row", a_device_lost_from_the_start_has_a_row},
    {"a device that is denied says so", a_device_that_is_denied_says_so},
    {"what hinders the driver is told to a person", what_hinders_the_driver_is_told_to_a_person},
    {"a driver that is loaded later can be opened later",
     a_driver_that_is_loaded_later_can_be_opened_later},
    {"where no driver is there are no devices", where_no_driver_is_there_are_no_devices},
    {"a library that is another is refused", a_library_that_is_another_is_refused},
    {"the last to close unloads the library", the_last_to_close_unloads_the_library},
    {"names pass as they are", names_pass_as_they_are},
    {"every driver lists the same processes", every_driver_lists_the_same_processes},
    {"every layout is found out under every name", every_layout_is_found_out_under_every_name},
    {"a single process has its layout too", a_single_process_has_its_layout_too},
    {"impossible pids are no processes", impossible_pids_are_no_processes},
    {"compute and graphics are one process, and its memory counts once",
     compute_and_graphics_are_one_process_and_its_memory_counts_once},
    {"many processes are listed, and too many are cut",
     many_processes_are_listed_and_too_many_are_cut},
    {"a list that is denied is not an empty one", a_list_that_is_denied_is_not_an_empty_one},
    {"shares are the driver's, and silence is idle", shares_are_the_drivers_and_silence_is_idle},
    {"busy time of a process is the integral of its samples",
     busy_time_of_a_process_is_the_integral_of_its_samples},
    {"between two samples the share holds, and then is idle",
     between_two_samples_the_share_holds_and_then_is_idle},
    {"garbage among the samples is not counted", garbage_among_the_samples_is_not_counted},
    {"shares that are denied leave the list", shares_that_are_denied_leave_the_list},
    {"a pid that comes back begins anew", a_pid_that_comes_back_begins_anew},
};
CHECK_MAIN(tests)
