/* The NVIDIA driver comes and goes: unloaded and loaded again, all devices lost, one plugged in or
 * out, partitioned anew, asleep; on the simulated driver library (tests/nvml), with a /sys of our
 * own. */
#include "nvidia_world.h"

#include "gpu/nvidia/state.h"

#include <pthread.h>
#include <unistd.h>

static void *held; /* the library stays loaded while it is not in use */

static void open_held(const char *text)
{
    open_driver("r580", write_scenario(text));
    gpu_world_plant(&world, "");
    held = dlopen(world.nvml_path, RTLD_LAZY);
    CHECK_NOT_NULL(held);
}

static void close_held(void)
{
    close_driver();
    dlclose(held);
    write_scenario(NULL);
}

/* What the driver is when it is opened the next time. */
static void become(const char *text)
{
    setenv("VITALS_NVML_SCENARIO", write_scenario(text), 1);
}

static void lose_driver(void)
{
    gpu_world_set(&world, "call nvmlDeviceGetCount_v2", "result", "9");
    gpu_world_scan(&world);
}

static uint64_t openings(void)
{
    return gpu_world_calls(&world, "nvmlInit_v2");
}

static void check_alive(uint32_t place, const struct gpu_identity *before)
{
    const struct gpu_identity *who = &world.scan.devices[place];
    CHECK_STR(who->uuid, before->uuid);
    CHECK_STR(who->name, before->name);
    CHECK_UINT(who->slot, before->slot);
    sample_all(who->slot);
    CHECK_INT(world.sample.state, VITALS_HAVE);
    check_number(VITALS_GPU_POWER_WATTS, 312);
}

static void a_driver_that_was_unloaded_is_opened_again(void)
{
    open_held("[gpu 0]\n[gpu 1]\n");
    const struct gpu_identity before = world.scan.devices[1];
    lose_driver();
    sample_all(before.slot);
    CHECK_INT(world.sample.state, VITALS_GONE);
    list_all(before.slot);
    CHECK_INT(world.processes.state, VITALS_GONE);

    become("[library]\ninit_result = 9\n");
    gpu_world_scan(&world); /* it is not there yet */
    CHECK_UINT(world.scan.count, 2);
    CHECK_STR(world.scan.devices[1].uuid, before.uuid);
    CHECK_CONTAINS(world.scan.message, "driver not loaded");
    sample_all(before.slot);
    CHECK_INT(world.sample.state, VITALS_GONE);

    become("[library]\ndriver_version = 590.11\n[gpu 0]\n[gpu 1]\n");
    gpu_world_scan(&world);
    CHECK_UINT(world.scan.count, 2);
    CHECK_STR(world.scan.message, "driver 590.11, 2 devices");
    CHECK_STR(world.scan.devices[1].driver_version, "590.11");
    check_alive(1, &before);
    check_number(VITALS_GPU_XID_ERRORS, 0); /* a new set of events */
    close_held();
}

static void who_is_inside_is_waited_for_by_nobody(void)
{
    open_held("[gpu 0]\n");
    const struct gpu_identity before = world.scan.devices[0];
    struct nvidia *nvidia = world.state;
    CHECK(nvidia_enter(nvidia)); /* a thread that hangs in the driver */
    uint64_t opened = openings(), closed = gpu_world_calls(&world, "nvmlShutdown");
    lose_driver();
    for (int i = 0; i < 3; i++)
        gpu_world_scan(&world);
    CHECK_UINT(openings(), opened);
    CHECK_UINT(gpu_world_calls(&world, "nvmlShutdown"), closed);
    CHECK_FALSE(nvidia_enter(nvidia));
    nvidia_leave(nvidia);
    gpu_world_scan(&world); /* closes */
    CHECK_UINT(gpu_world_calls(&world, "nvmlShutdown"), closed + 1);
    gpu_world_scan(&world); /* opens */
    CHECK_UINT(openings(), opened + 1);
    check_alive(0, &before);
    close_held();
}

static void when_all_devices_are_lost_the_driver_is_opened_anew_now_and_then(void)
{
    static const char lost[] = "[gpu 0]\n[gpu 1]\n[call *]\nresult = 15\n";
    open_held("[gpu 0]\n[gpu 1]\n");
    const struct gpu_identity before = world.scan.devices[0];
    become(lost);
    gpu_world_set(&world, "call *", "result", "15");
    uint64_t opened = openings();
    for (int i = 0; i < 12; i++) { /* a minute of scans */
        gpu_world_scan(&world);
        CHECK_UINT(world.scan.count, 2);
        CHECK_STR(world.scan.devices[0].uuid, before.uuid);
        sample_all(before.slot);
        CHECK_INT(world.sample.state, VITALS_GONE);
        world.now_ns += 5 * NS_PER_SECOND;
    }
    CHECK_UINT(openings(), opened + 2);
    become("[gpu 0]\n[gpu 1]\n");
    for (int i = 0; i < 12; i++) {
        gpu_world_scan(&world);
        world.now_ns += 5 * NS_PER_SECOND;
    }
    check_alive(0, &before);
    close_held();
}

static void one_lost_device_does_not_close_the_driver(void)
{
    open_held("[gpu 0]\n[gpu 1]\n[call *]\ngpu = 1\nfrom_call = 40\nresult = 15\n");
    uint64_t opened = openings();
    for (int i = 0; i < 20; i++) {
        gpu_world_scan(&world);
        world.now_ns += 5 * NS_PER_SECOND;
    }
    sample_all(world.scan.devices[1].slot);
    CHECK_INT(world.sample.state, VITALS_GONE);
    sample_all(world.scan.devices[0].slot);
    CHECK_INT(world.sample.state, VITALS_HAVE);
    CHECK_UINT(openings(), opened);
    close_held();
}

static void a_device_that_is_plugged_in_is_found_and_one_that_is_pulled_out_leaves(void)
{
    open_held("[gpu 0]\n");
    const struct gpu_identity before = world.scan.devices[0];
    gpu_tree_parents(&world.tree, "sys/bus/pci/drivers/nvidia/0000:17:00.0/");
    gpu_world_scan(&world);
    uint64_t opened = openings();
    gpu_world_scan(&world);
    CHECK_UINT(openings(), opened);

    gpu_tree_parents(&world.tree, "sys/bus/pci/drivers/nvidia/0000:18:00.0/");
    become("[gpu 0]\n[gpu 1]\n");
    gpu_world_scan(&world);
    CHECK_UINT(world.scan.count, 2);
    check_alive(0, &before);
    const struct gpu_identity second = world.scan.devices[1];
    check_alive(1, &second);

    gpu_tree_remove(&world.tree, "sys/bus/pci/drivers/nvidia/0000:17:00.0");
    become("[gpu 0]\nuuid = GPU-5e4f0000-0001-4a10-8000-000000000000\nbus_id = 00000000:18:00.0\n");
    gpu_world_scan(&world);
    CHECK_UINT(world.scan.count, 1);
    check_alive(0, &second);
    CHECK_UINT(world.scan.devices[0].index, 0);
    close_held();
}

static void a_device_may_be_partitioned_while_we_look(void)
{
    open_held("[gpu 0]\n[mig 0:0]\ngi = 3\nmemory_total_bytes = 10GiB\nmemory_used_bytes = 1GiB\n"
              "[process a]\ngpu = 0\ngi = 3\nci = 0\npid = 77\nmemory = 1GiB\n");
    CHECK_UINT(world.scan.count, 1);
    list_all(0);
    CHECK_UINT(world.processes.count, 1);
    gpu_world_set(&world, "gpu 0", "mig_mode", "1");
    gpu_world_scan(&world);
    CHECK_UINT(world.scan.count, 2);
    uint32_t slot = world.scan.devices[1].slot;
    list_all(slot);
    CHECK_UINT(world.processes.count, 1);
    list_all(0);
    CHECK_UINT(world.processes.count, 0);
    gpu_world_set(&world, "mig 0:0", "uuid", "MIG-another");
    gpu_world_scan(&world);
    CHECK_UINT(world.scan.count, 2);
    CHECK(world.scan.devices[1].slot != slot);
    uint64_t calls = gpu_world_calls(&world, NULL);
    sample_all(slot); /* asked for while it was destroyed */
    CHECK_INT(world.sample.state, VITALS_GONE);
    CHECK_UINT(gpu_world_calls(&world, NULL), calls);
    close_held();
}

static void a_sleeping_device_is_left_asleep(void)
{
    open_held("[gpu 0]\n[gpu 1]\n");
    gpu_tree_text(&world.tree, "sys/bus/pci/devices/0000:17:00.0/power/runtime_status",
                  "suspended\n");
    uint64_t scans = gpu_world_calls(&world, NULL);
    gpu_world_scan(&world);
    CHECK_UINT(world.scan.count, 2);
    CHECK_UINT(gpu_world_calls(&world, NULL) - scans, 1 + 3); /* of the other one */
    uint64_t calls = gpu_world_calls(&world, NULL);
    sample_all(0);
    CHECK_INT(world.sample.state, VITALS_SUSPENDED);
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_RUNTIME_STATUS), "suspended");
    CHECK_INT(reading(VITALS_GPU_POWER_WATTS).state, VITALS_UNSET);
    list_all(0);
    CHECK_INT(world.processes.state, VITALS_SUSPENDED);
    CHECK_UINT(gpu_world_calls(&world, NULL), calls);
    sample_all(1);
    CHECK_INT(world.sample.state, VITALS_HAVE);
    gpu_tree_text(&world.tree, "sys/bus/pci/devices/0000:17:00.0/power/runtime_status", "active\n");
    sample_all(0);
    CHECK_INT(world.sample.state, VITALS_HAVE);
    CHECK_STR(gpu_world_text(&world, VITALS_GPU_RUNTIME_STATUS), "active");
    close_held();
}

/* ---- several threads ---- */

struct thread {
    pthread_t id;
    uint32_t slot;
    bool lists;
    struct metric_set wanted;
    struct gpu_sample sample;
    struct gpu_processes processes;
    atomic_bool *ends;
    atomic_uint rounds;
    unsigned wrong;
};

static bool is_possible(signed char state)
{
    return state == VITALS_HAVE || state == VITALS_GONE;
}

static void *read_on(void *data)
{
    struct thread *thread = data;
    while (!atomic_load(thread->ends)) {
        gpu_world_sample_into(&world, thread->slot, &thread->wanted, &thread->sample);
        thread->wrong += !is_possible(thread->sample.state);
        if (thread->lists) {
            memset(&thread->processes, 0, offsetof(struct gpu_processes, items));
            world.backend->processes(world.state, thread->slot, NULL, &thread->wanted,
                                     &thread->processes);
            thread->wrong += !is_possible(thread->processes.state);
        }
        thread->rounds++;
    }
    batch_done(&thread->sample.batch);
    return NULL;
}

static void threads_may_read_while_the_driver_goes_and_comes(void)
{
    static struct thread threads[3];
    atomic_bool ends = false;
    open_held("[gpu 0]\n[gpu 1]\n[process a]\ngpu = 1\npid = 77\nsm = 20\nmemory = 1GiB\n");
    const struct gpu_identity before = world.scan.devices[0];
    for (uint32_t i = 0; i < CHECK_COUNT(threads); i++) {
        threads[i] = (struct thread){.slot = i % 2, .lists = i == 1, .ends = &ends};
        threads[i].wanted = i < 2 ? gpu_world_wanted(0)
                                  : gpu_world_only(VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
        CHECK_INT(pthread_create(&threads[i].id, NULL, read_on, &threads[i]), 0);
    }
    uint64_t opened = openings();
    for (size_t i = 0; i < CHECK_COUNT(threads); i++) { /* each has begun before the driver goes */
        for (int ms = 0; atomic_load(&threads[i].rounds) == 0 && ms < 20000; ms++)
            usleep(1000);
    }
    for (int i = 0; i < 400 || (openings() < opened + 5 && i < 100000); i++) {
        struct nvidia *nvidia = world.state;
        if (i % 20 == 0 && nvidia->nvml.library && !atomic_load(&nvidia->shut))
            lose_driver();
        gpu_world_scan(&world);
    }
    atomic_store(&ends, true);
    unsigned wrong = 0;
    for (size_t i = 0; i < CHECK_COUNT(threads); i++) {
        pthread_join(threads[i].id, NULL);
        CHECK(threads[i].rounds > 0);
        wrong += threads[i].wrong;
    }
    CHECK_UINT(wrong, 0);
    CHECK(openings() >= opened + 5);
    for (int i = 0; i < 3; i++)
        gpu_world_scan(&world);
    check_alive(0, &before);
    close_held();
}

/* ---- what the driver holds for us ---- */

static unsigned live(void)
{
    unsigned (*count)(void);
    void *symbol = gpu_world_symbol(&world, "simulated_nvml_live");
    memcpy(&count, &symbol, sizeof count);
    return count();
}

static void what_was_made_is_given_back(void)
{
    static struct gpu_world other;
    open_held("[gpu 0]\n[gpu 1]\n");
    CHECK_INT(gpu_world_open(&other, "nvidia", "r580", getenv("VITALS_NVML_SCENARIO")), 0);
    CHECK_UINT(live(), 2); /* sets of events */
    struct metric_set monitor = gpu_world_only(VITALS_GPU_SM_ACTIVE_RATIO);
    gpu_world_sample(&world, 0, &monitor);
    CHECK_UINT(live(), 4);
    char path[sizeof world.nvml_path];
    snprintf(path, sizeof path, "%s", world.nvml_path);
    close_driver();
    snprintf(world.nvml_path, sizeof world.nvml_path, "%s", path);
    CHECK_UINT(live(), 0);
    gpu_world_close(&other);
    dlclose(held);
    write_scenario(NULL);
}

static void nv_hostengine_has_the_monitor_for_itself(void)
{
    struct metric_set monitor = gpu_world_only(VITALS_GPU_SM_ACTIVE_RATIO);
    open_held("[gpu 0]\n");
    gpu_tree_text(&world.tree, "proc/1/comm", "systemd\n");
    gpu_tree_text(&world.tree, "proc/4711/comm", "nv-hostengine\n");
    uint64_t before = gpu_world_calls(&world, "nvmlGpmSampleGet");
    for (int i = 0; i < 3; i++) {
        gpu_world_sample(&world, 0, &monitor);
        check_missing(VITALS_GPU_SM_ACTIVE_RATIO, VITALS_DENIED);
        world.now_ns += NS_PER_SECOND;
    }
    CHECK_UINT(gpu_world_calls(&world, "nvmlGpmSampleGet"), before);
    gpu_tree_remove(&world.tree, "proc/4711");
    world.now_ns += 60 * NS_PER_SECOND;
    gpu_world_sample(&world, 0, &monitor);
    check_missing(VITALS_GPU_SM_ACTIVE_RATIO, VITALS_NOT_YET);
    world.now_ns += NS_PER_SECOND;
    gpu_world_sample(&world, 0, &monitor);
    check_number(VITALS_GPU_SM_ACTIVE_RATIO, 0.38);
    close_held();
}

/* ---- memory that is the machine's ---- */

static void memory_that_is_the_machines_is_an_estimate(void)
{
    static const char *const scenarios[] = {"unified-memory", "memory-unknown"};
    for (size_t i = 0; i < CHECK_COUNT(scenarios); i++) {
        CHECK_CASE(scenarios[i]);
        open_driver("r580", scenarios[i]);
        gpu_world_plant(&world, "");
        gpu_tree_text(&world.tree, "proc/meminfo",
                      "MemTotal:       8388608 kB\nMemFree:        1048576 kB\n"
                      "MemAvailable:   2097152 kB\n");
        sample_all(0);
        check_number(VITALS_GPU_MEMORY_TOTAL_BYTES, 8.0 * (1 << 30));
        check_number(VITALS_GPU_MEMORY_USED_BYTES, 6.0 * (1 << 30));
        check_number(VITALS_GPU_MEMORY_FREE_BYTES, 2.0 * (1 << 30));
        CHECK_INT(reading(VITALS_GPU_MEMORY_TOTAL_BYTES).state, VITALS_ESTIMATE);
        check_missing(VITALS_GPU_MEMORY_RESERVED_BYTES, VITALS_UNSUPPORTED);
        check_number(VITALS_GPU_UNIFIED_MEMORY, 1);
        close_driver();
    }
}

static const check_test tests[] = {
    {"a driver that was unloaded is opened again", a_driver_that_was_unloaded_is_opened_again},
    {"who is inside is waited for by nobody", who_is_inside_is_waited_for_by_nobody},
    {"when all devices are lost, the driver is opened anew now and then",
     when_all_devices_are_lost_the_driver_is_opened_anew_now_and_then},
    {"one lost device does not close the driver", one_lost_device_does_not_close_the_driver},
    {"a device that is plugged in is found, and one that is pulled out leaves",
     a_device_that_is_plugged_in_is_found_and_one_that_is_pulled_out_leaves},
    {"a device may be partitioned while we look", a_device_may_be_partitioned_while_we_look},
    {"a sleeping device is left asleep", a_sleeping_device_is_left_asleep},
    {"threads may read while the driver goes and comes",
     threads_may_read_while_the_driver_goes_and_comes},
    {"what was made is given back", what_was_made_is_given_back},
    {"nv-hostengine has the monitor for itself", nv_hostengine_has_the_monitor_for_itself},
    {"memory that is the machine's is an estimate", memory_that_is_the_machines_is_an_estimate},
};
CHECK_TESTS(tests)
