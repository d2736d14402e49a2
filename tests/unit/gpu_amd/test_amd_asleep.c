/* The AMD back end and a card that sleeps, that is pulled out, that is back under another number.
 */
#include "amd_world.h"

#include <sys/inotify.h>
#include <unistd.h>

static struct amd_world world;

#define SLEEPER "sys/devices/pci0000:00/0000:03:00.0/"

/* What is opened of its folder, and of what is below it, while it sleeps. */
static void check_opened(int watch)
{
    static const char *const harmless[] = {"",
                                           "vendor",
                                           "device",
                                           "revision",
                                           "subsystem_vendor",
                                           "subsystem_device",
                                           "unique_id",
                                           "product_name",
                                           "numa_node",
                                           "local_cpulist",
                                           "runtime_status",
                                           "drm",
                                           "power",
                                           "class"};
    _Alignas(struct inotify_event) char buffer[4096];
    size_t seen = 0;
    for (ssize_t size; (size = read(watch, buffer, sizeof buffer)) > 0;) {
        for (char *at = buffer; at < buffer + size;) {
            const struct inotify_event *event = (const void *)at;
            const char *name = event->len > 0 ? event->name : "";
            bool known = false;
            for (size_t i = 0; i < CHECK_COUNT(harmless); i++)
                known |= strcmp(name, harmless[i]) == 0;
            if (!known)
                CHECK_FAIL("%s was opened, which wakes the card", name);
            at += sizeof *event + event->len;
            seen++;
        }
    }
    CHECK(seen > 0);
}

static void no_file_that_wakes_a_sleeping_card_is_opened(void)
{
    static const char *const folders[] = {"", "hwmon/hwmon4", "power"};
    CHECK(amd_world_open(&world, "suspended") == 0);
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch < 0)
        CHECK_SKIP("this machine has no inotify left");
    for (size_t i = 0; i < CHECK_COUNT(folders); i++) {
        char name[96], path[GPU_TREE_PATH];
        snprintf(name, sizeof name, SLEEPER "%s", folders[i]);
        gpu_tree_path(&world.tree, name, path);
        CHECK(inotify_add_watch(watch, path, IN_OPEN) >= 0);
    }
    amd_world_scan(&world);
    amd_world_sample(&world, 0);
    amd_world_processes(&world, 0, true);
    amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_FINDING);
    check_opened(watch);
    close(watch);
    amd_world_end(&world);
}

static void a_sleeping_card_is_left_asleep(void)
{
    amd_world_begin(&world, "suspended");
    amd_world_sample(&world, 0);
    CHECK_INT(world.sample.state, VITALS_SUSPENDED);
    CHECK_STR(amd_world_text(&world, VITALS_GPU_RUNTIME_STATUS, ""), "suspended");
    CHECK_STR(amd_world_text(&world, VITALS_GPU_KERNEL_DRIVER, ""), "amdgpu");
    CHECK_INT(amd_world_state(&world, VITALS_GPU_UTILIZATION_RATIO, ""), VITALS_UNSUPPORTED);
    CHECK_UINT(amd_world_rows(&world, VITALS_TABLE_GPU_SENSOR), 0);
    struct metric_set slow = {0};
    metric_set_add(&slow, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
    amd_world_ask(&world, 0, &slow);
    CHECK_INT(world.sample.state, VITALS_SUSPENDED);

    gpu_tree_text(&world.tree, SLEEPER "power/runtime_status", "active\n");
    amd_world_sample(&world, 0);
    CHECK_INT(world.sample.state, VITALS_HAVE);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_UTILIZATION_RATIO, ""), 0.66, 1e-9);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu"), 66, 1e-9);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_BUSY_SECONDS, ""), 0, 1e-9);
    amd_world_end(&world);
}

/* A card that is awake and idle, and may sleep, is not kept awake by being asked. */
static void an_idle_card_that_may_sleep_is_left_alone_for_a_while(void)
{
    amd_world_begin(&world, "suspended");
    gpu_tree_text(&world.tree, SLEEPER "power/runtime_status", "active\n");
    gpu_tree_text(&world.tree, SLEEPER "power/control", "auto\n");
    amd_world_sample(&world, 0); /* busy */
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_UTILIZATION_RATIO, ""), 0.66, 1e-9);
    gpu_tree_text(&world.tree, SLEEPER "gpu_busy_percent", "0\n");
    amd_world_sample(&world, 0);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_UTILIZATION_RATIO, ""), VITALS_HAVE);
    size_t rows = world.sample.batch.row_count, values = world.sample.batch.count;
    uint64_t read_ns = world.sample.stamp_ns;

    gpu_tree_text(&world.tree, SLEEPER "gpu_busy_percent", "50\n");
    gpu_tree_text(&world.tree, SLEEPER "hwmon/hwmon4/temp1_input", "77000\n");
    for (int second = 1; second < 12; second++) {
        world.now_ns += NS_PER_SECOND;
        amd_world_sample(&world, 0);
        CHECK_INT(world.sample.state, VITALS_HAVE);
        CHECK_UINT(world.sample.stamp_ns, read_ns); /* as old as they are */
        CHECK_INT(amd_world_state(&world, VITALS_GPU_UTILIZATION_RATIO, ""), VITALS_STALE);
        CHECK_NEAR(amd_world_number(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu"), 66, 0);
        CHECK_STR(amd_world_text(&world, VITALS_GPU_RUNTIME_STATUS, ""), "active");
        CHECK_STR(amd_world_text(&world, VITALS_GPU_PCI_ID, ""), "1002:73ff");
        CHECK_UINT(world.sample.batch.row_count, rows);
        CHECK_UINT(world.sample.batch.count, values);
    }
    world.now_ns += NS_PER_SECOND;
    amd_world_sample(&world, 0);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_UTILIZATION_RATIO, ""), 0.5, 1e-9);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu"), 77, 0);
    world.now_ns += NS_PER_SECOND;
    amd_world_sample(&world, 0); /* it works: it is asked each time */
    CHECK_INT(amd_world_state(&world, VITALS_GPU_UTILIZATION_RATIO, ""), VITALS_HAVE);
    amd_world_end(&world);
}

static void what_was_never_read_of_an_idle_card_is_read(void)
{
    amd_world_begin(&world, "suspended");
    gpu_tree_text(&world.tree, SLEEPER "power/runtime_status", "active\n");
    gpu_tree_text(&world.tree, SLEEPER "power/control", "auto\n");
    gpu_tree_text(&world.tree, SLEEPER "gpu_busy_percent", "0\n");
    amd_world_only(&world, 0, VITALS_GPU_UTILIZATION_RATIO);
    world.now_ns += NS_PER_SECOND;
    amd_world_only(&world, 0, VITALS_GPU_UTILIZATION_RATIO);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_UTILIZATION_RATIO, ""), VITALS_STALE);
    amd_world_only(&world, 0, VITALS_GPU_TEMPERATURE_CELSIUS);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_TEMPERATURE_CELSIUS, ""), VITALS_HAVE);
    gpu_tree_text(&world.tree, SLEEPER "power/control", "on\n"); /* it may not sleep */
    amd_world_sample(&world, 0);
    amd_world_sample(&world, 0);
    CHECK_INT(amd_world_state(&world, VITALS_GPU_UTILIZATION_RATIO, ""), VITALS_HAVE);
    amd_world_end(&world);
}

static void a_card_that_is_pulled_out_is_gone(void)
{
    amd_world_begin(&world, "navi21-5.14");
    amd_world_sample(&world, 0);
    CHECK_INT(world.sample.state, VITALS_HAVE);
    gpu_tree_remove(&world.tree, "sys/devices/pci0000:00/0000:00:01.1");
    amd_world_sample(&world, 0);
    CHECK_INT(world.sample.state, VITALS_GONE);
    amd_world_processes(&world, 0, true);
    CHECK_INT(world.processes.state, VITALS_GONE);
    gpu_tree_remove(&world.tree, "sys/bus/pci/drivers/amdgpu/0000:03:00.0");
    amd_world_scan(&world);
    CHECK_UINT(world.scan.count, 0);
    CHECK_INT(world.scan.state, VITALS_HAVE);
    amd_world_end(&world);
}

static void sensors_are_found_again_under_another_number(void)
{
    char from[GPU_TREE_PATH], to[GPU_TREE_PATH];
    amd_world_begin(&world, "navi21-5.14");
    amd_world_sample(&world, 0);
    gpu_tree_path(&world.tree, "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon3", from);
    gpu_tree_path(&world.tree, "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon9", to);
    CHECK_INT(rename(from, to), 0);
    amd_world_sample(&world, 0);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu"), 55, 1e-9);
    amd_world_end(&world);
}

static const check_test tests[] = {
    {"no file that wakes a sleeping card is opened", no_file_that_wakes_a_sleeping_card_is_opened},
    {"a sleeping card is left asleep", a_sleeping_card_is_left_asleep},
    {"an idle card that may sleep is left alone for a while",
     an_idle_card_that_may_sleep_is_left_alone_for_a_while},
    {"what was never read of an idle card is read", what_was_never_read_of_an_idle_card_is_read},
    {"a card that is pulled out is gone", a_card_that_is_pulled_out_is_gone},
    {"sensors are found again under another number", sensors_are_found_again_under_another_number},
};
CHECK_TESTS(tests)
