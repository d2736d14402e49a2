/* The NVIDIA back end on the simulated driver library (tests/nvml): what it makes of healthy, odd
 * and broken drivers, and how often it calls them. */
#include "nvidia_world.h"

#include "util/memory.h"

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
    close_driver();
}

/* ---- how often the driver is called ---- */

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
    CHECK_INT(reading(VITALS_GPU_COMPUTE_MODE).state, VITALS_UNSUPPORTED);
    CHECK_INT(gpu_world_child(&world, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm").state,
              VITALS_UNSUPPORTED);
    list_all(0);
    const struct gpu_process *silent = gpu_world_process(&world, getpid());
    CHECK_NOT_NULL(silent);
    CHECK_INT(gpu_world_of(silent, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).state, VITALS_UNSUPPORTED);
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

/* The first version of the call may be there where the second is not, as for an H100 in a guest. */
static void memory_without_the_second_version_is_its_own(void)
{
    open_driver("r580", write_scenario("[gpu 0]\nmemory_total_bytes = 80GiB\n"
                                       "memory_used_bytes = 20GiB\n"
                                       "[call nvmlDeviceGetMemoryInfo_v2]\nresult = 3\n"));
    sample_all(0);
    check_number(VITALS_GPU_MEMORY_TOTAL_BYTES, (double)(UINT64_C(80) << 30));
    check_number(VITALS_GPU_UNIFIED_MEMORY, 0);
    check_missing(VITALS_GPU_MEMORY_RESERVED_BYTES, VITALS_UNSUPPORTED);
    close_driver();
    write_scenario(NULL);
}

static void instances_are_found_without_a_count_of_them(void)
{
    open_driver("r580", "mig");
    uint32_t count = world.scan.count;
    CHECK(count > 2);
    gpu_world_set(&world, "call nvmlDeviceGetMaxMigDeviceCount", "result", "3");
    gpu_world_scan(&world);
    CHECK_UINT(world.scan.count, count);
    close_driver();
}

/* In a container without sysfs. */
static void a_place_that_sysfs_does_not_have_is_the_driver_s(void)
{
    open_driver("r580", write_scenario("[gpu 0]\npci_device_id = 0x233010de\n"
                                       "cpu_affinity_mask = 0xf0ff\n"));
    sample_all(0);
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_PCI_ID), "10de:2330");
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_LOCAL_CPUS), "0-7,12-15");
    close_driver();

    CHECK_CASE("every second of 256 CPUs");
    char expected[1024];
    size_t used = 0;
    for (unsigned i = 0; i < 256; i += 2)
        used += (size_t)snprintf(expected + used, sizeof expected - used, i > 0 ? ",%u" : "%u", i);
    open_driver("r580", write_scenario("[gpu 0]\ncpu_affinity_mask = 0x5555555555555555\n"
                                       "cpu_affinity_words = 4\n"));
    sample_all(0);
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_LOCAL_CPUS), expected);
    close_driver();
    write_scenario(NULL);
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
    struct metric_set all = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        if (metric_in_sets(m, VITALS_SET_GPUS))
            metric_set_add(&all, m);
    }
    open_driver("r580", "mig");
    uint64_t before = gpu_world_calls(&world, NULL);
    gpu_world_sample(&world, part(1)->slot, &all);
    /* memory, BAR1, attributes, and once whether the device has a performance monitor */
    CHECK_UINT(gpu_world_calls(&world, NULL) - before, 4);
    check_number(VITALS_GPU_MEMORY_TOTAL_BYTES, 10.0 * (1 << 30));
    check_number(VITALS_GPU_MEMORY_USED_BYTES, 5.0 * (1 << 30));
    check_missing(VITALS_GPU_UTILIZATION_RATIO, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_BUSY_SECONDS, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_POWER_WATTS, VITALS_UNSUPPORTED);
    check_number(VITALS_GPU_MULTIPROCESSORS, 14);
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_PARTITION_KIND), "mig");
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
    CHECK_UINT(gpu_world_of(big, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, UINT64_C(15) << 30);
    CHECK_INT(gpu_world_of(big, VITALS_GPU_PROCESS_UTILIZATION_RATIO).state, VITALS_UNSUPPORTED);
    CHECK_INT(gpu_world_of(big, VITALS_GPU_PROCESS_BUSY_SECONDS).state, VITALS_UNSUPPORTED);
    list_all(part(1)->slot);
    CHECK_INT(gpu_world_of(gpu_world_process(&world, 4000002), VITALS_GPU_PROCESS_MEMORY_USED_BYTES)
                  .state,
              VITALS_UNSUPPORTED);
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
    CHECK_UINT(world.sample.batch.count, 0);
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

static const check_test tests[] = {
    {"identity is the driver's", identity_is_the_drivers},
    {"a scan asks only once who a device is", a_scan_asks_only_once_who_a_device_is},
    {"a steady tick allocates nothing", a_steady_tick_allocates_nothing},
    {"what a driver does not have is unsupported", what_a_driver_does_not_have_is_unsupported},
    {"memory that is the host's is unsupported", memory_that_is_the_hosts_is_unsupported},
    {"an old driver counts reserved memory as used", an_old_driver_counts_reserved_memory_as_used},
    {"memory without the second version is its own", memory_without_the_second_version_is_its_own},
    {"instances are found without a count of them", instances_are_found_without_a_count_of_them},
    {"a place that sysfs does not have is the driver's",
     a_place_that_sysfs_does_not_have_is_the_driver_s},
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
};
CHECK_TESTS(tests)
