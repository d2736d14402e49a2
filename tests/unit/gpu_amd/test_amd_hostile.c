/* The AMD back end and a machine that lies, files that vanish, memory that is out; and what a
 * doctor says of each. */
#include "amd_world.h"

#include <sys/stat.h>
#include <unistd.h>

static struct amd_world world;

#define SLEEPER "sys/devices/pci0000:00/0000:03:00.0/"

/* ---- hostile ---- */

static void a_hostile_machine_breaks_nothing(void)
{
    amd_world_begin(&world, "hostile");
    CHECK_UINT(world.scan.count, 3);
    CHECK_STR(world.scan.devices[0].uuid, "AMD-1111111111111111");
    CHECK_STR(world.scan.devices[1].uuid, "AMD-0000:02:00.0");
    CHECK_STR(world.scan.devices[2].uuid, "AMD-0000:04:00.0");
    for (uint32_t i = 0; i < world.scan.count; i++) {
        amd_world_sample(&world, i);
        amd_world_processes(&world, i, true);
    }
    CHECK_UINT(world.processes.count, 2); /* 1, whose number is none, and 2 */
    CHECK_NEAR(amd_world_of(&world, 2, VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 1, 0);
    amd_world_end(&world);
}

/* Whatever file is a folder, or gone: nothing breaks, and no number comes from nowhere. */
static void files_that_vanish_break_nothing(void)
{
    static const char *const files[] = {"vendor",
                                        "device",
                                        "driver",
                                        "power",
                                        "unique_id",
                                        "gpu_busy_percent",
                                        "hwmon",
                                        "drm",
                                        "gpu_metrics",
                                        "ras",
                                        "pp_dpm_sclk",
                                        "mem_info_vram_total",
                                        "mem_info_gtt_used"};
    for (size_t i = 0; i < CHECK_COUNT(files); i++) {
        char path[96];
        CHECK_CASE(files[i]);
        amd_world_begin(&world, "mi300x-6.12");
        amd_world_sample(&world, 0);
        snprintf(path, sizeof path, "sys/bus/pci/devices/0000:05:00.0/%s", files[i]);
        gpu_tree_remove(&world.tree, path);
        amd_world_sample(&world, 0);
        CHECK_INT(world.sample.state, i == 0 ? VITALS_GONE : VITALS_HAVE);
        amd_world_scan(&world);
        CHECK_UINT(world.scan.count, 2);
        amd_world_processes(&world, 0, true);
        amd_world_end(&world);
    }
}

static void read_all_without_memory(void)
{
    struct metric_set all = amd_world_all();
    amd_world_scan(&world);
    CHECK(world.scan.count <= 9);
    for (uint32_t i = 0; i < 2 * world.scan.count; i++) {
        uint32_t slot = world.scan.devices[i / 2].slot;
        batch_reset(&world.sample.batch, &all);
        gpu_backend_amd.sample(world.state, slot, &world.sample);
        memset(&world.processes, 0, offsetof(struct gpu_processes, items));
        gpu_backend_amd.processes(world.state, slot, NULL, &all, &world.processes);
    }
}

static void a_failed_allocation_breaks_nothing(void)
{
    static const char *const fixtures[] = {"mi300x-cpx-6.14", "vega10-5.19"};
    for (uint64_t nth = 1; nth < 80; nth++) {
        int64_t live = memory_live();
        memory_fail_at(nth / 2 + 1);
        int result = amd_world_open(&world, fixtures[nth % 2]);
        if (result == 0) {
            if (nth % 2 == 1) /* it is idle, and may sleep */
                gpu_tree_text(&world.tree, "sys/bus/pci/devices/0000:0b:00.0/power/control",
                              "auto\n");
            read_all_without_memory();
        } else {
            CHECK(world.scan.state < 0);
        }
        memory_fail_at(0);
        amd_world_end(&world);
        CHECK_INT(memory_live(), live);
    }
}

/* ---- a doctor's questions ---- */

static void a_diagnosis_says_what_would_mend_it(void)
{
    amd_world_begin(&world, "suspended");
    CHECK_STR(amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_FINDING),
              "amdgpu has 1 device, of which 1 sleeps and is left asleep");
    CHECK_CONTAINS(amd_world_diagnosis(&world, "amd kfd", VITALS_DIAGNOSIS_FINDING),
                   "the compute driver is not loaded");
    gpu_tree_remove(&world.tree, SLEEPER "driver");
    CHECK_STR(amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_FINDING),
              "1 of AMD's devices has no driver");
    CHECK_STR(amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_REMEDY), "sudo modprobe amdgpu");
    gpu_tree_link(&world.tree, SLEEPER "driver", "../../../bus/pci/drivers/vfio-pci");
    CHECK_STR(amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_FINDING),
              "1 of AMD's devices is with the driver vfio-pci, not with amdgpu");
    amd_world_end(&world);
    amd_world_begin(&world, "navi48-6.14");
    CHECK_STR(amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_FINDING), "amdgpu has 1 device");
    CHECK_CONTAINS(amd_world_diagnosis(&world, "amd kfd", VITALS_DIAGNOSIS_REMEDY),
                   "--device=/dev/kfd");
    gpu_tree_text(&world.tree, "dev/kfd", "");
    CHECK_STR(amd_world_diagnosis(&world, "amd kfd", VITALS_DIAGNOSIS_SEVERITY), "good");
    amd_world_end(&world);
    CHECK(amd_world_open(&world, "") < 0);
    CHECK_STR(amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_SEVERITY),
              "problem"); /* no /sys */
    gpu_tree_text(&world.tree, "sys/class/none", "");
    CHECK_STR(amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_FINDING), "no AMD device");
    amd_world_end(&world);
}

/* What may not be read may hide a card: that is no good news. Root reads it all the same. */
static void a_folder_that_may_not_be_read_is_no_machine_without_a_card(void)
{
    char path[GPU_TREE_PATH];
    uid_t self = geteuid();
    CHECK(amd_world_open(&world, "") < 0);
    gpu_tree_parents(&world.tree, "sys/bus/pci/drivers/amdgpu/");
    gpu_tree_path(&world.tree, "sys/bus", path);
    CHECK_INT(chmod(path, 0), 0);
    CHECK_INT(chmod(world.tree.path, 0755), 0);
    if (self == 0)
        CHECK_INT(seteuid(65534), 0);
    CHECK(gpu_backend_amd.open(&world.context, &world.state, &world.scan) < 0);
    CHECK_INT(world.scan.state, VITALS_DENIED);
    CHECK_CONTAINS(world.scan.message, "permission denied");
    CHECK_STR(amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_SEVERITY), "problem");
    CHECK_CONTAINS(amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_FINDING),
                   "permission denied");
    CHECK_CONTAINS(amd_world_diagnosis(&world, "amd", VITALS_DIAGNOSIS_REMEDY), "sandbox");
    CHECK_INT(seteuid(self), 0);
    CHECK_INT(chmod(path, 0755), 0);
    amd_world_end(&world);
}

static const check_test tests[] = {
    {"a folder that may not be read is no machine without a card",
     a_folder_that_may_not_be_read_is_no_machine_without_a_card},
    {"a hostile machine breaks nothing", a_hostile_machine_breaks_nothing},
    {"files that vanish break nothing", files_that_vanish_break_nothing},
    {"a failed allocation breaks nothing", a_failed_allocation_breaks_nothing},
    {"a diagnosis says what would mend it", a_diagnosis_says_what_would_mend_it},
};
CHECK_TESTS(tests)
