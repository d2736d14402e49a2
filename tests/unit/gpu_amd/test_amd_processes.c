/* The processes on AMD's cards, on recorded machines: from descriptors and from KFD. */
#include "amd_world.h"

#include "gpu/amd/state.h"

static struct amd_world world;

static void old_kernels_tell_a_percentage(void)
{
    amd_world_begin(&world, "navi21-5.14");
    amd_world_processes(&world, 0, false);
    CHECK_INT(world.processes.state, VITALS_NOT_YET);
    amd_world_processes(&world, 0, true);
    CHECK_INT(world.processes.state, VITALS_HAVE);
    CHECK_UINT(world.processes.count, 1);
    CHECK_UINT(amd_world_of(&world, 4242, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, 1073741824);
    CHECK_UINT(amd_world_of(&world, 4242, VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES).as.u64, 2097152);
    struct value ratio = amd_world_of(&world, 4242, VITALS_GPU_PROCESS_UTILIZATION_RATIO);
    CHECK(ratio.state > 0);
    CHECK_NEAR(ratio.as.f64, 0.375, 1e-9);
    CHECK_INT(amd_world_process(&world, 4242)->is_ours, VITALS_HAVE);
    amd_world_end(&world);
}

static void engines_are_counted_from_sweep_to_sweep(void)
{
    amd_world_begin(&world, "vega10-5.19");
    amd_world_processes(&world, 0, true);
    CHECK_UINT(amd_world_process(&world, 77)->uses, GPU_GRAPHICS);
    CHECK_INT(amd_world_of(&world, 77, VITALS_GPU_PROCESS_UTILIZATION_RATIO).state, VITALS_NOT_YET);
    CHECK_NEAR(amd_world_of(&world, 77, VITALS_GPU_PROCESS_GRAPHICS_SECONDS).as.f64, 3, 1e-9);
    CHECK_NEAR(amd_world_of(&world, 77, VITALS_GPU_PROCESS_COPY_SECONDS).as.f64, 0.005, 1e-9);
    gpu_tree_text(&world.tree, "proc/77/fdinfo/9",
                  "drm-driver:\tamdgpu\ndrm-pdev:\t0000:0b:00.0\ndrm-client-id:\t12\n"
                  "drm-memory-vram:\t8192 KiB\ndrm-engine-gfx:\t3250000000 ns\n");
    world.now_ns += NS_PER_SECOND;
    amd_world_processes(&world, 0, true);
    CHECK_NEAR(amd_world_of(&world, 77, VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.25, 1e-6);
    amd_world_sample(&world, 0);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics"), 0, 1e-9);
    CHECK_NEAR(amd_world_number(&world, VITALS_GPU_ENGINE_BUSY_SECONDS, "graphics"), 3.25, 1e-9);
    amd_world_end(&world);
}

static void who_computes_is_told_by_kfd(void)
{
    amd_world_begin(&world, "navi48-6.14");
    amd_world_processes(&world, 0, true);
    CHECK_INT(world.processes.state, VITALS_HAVE);
    CHECK_UINT(world.processes.count, 3); /* 912 is on another device */
    CHECK_UINT(amd_world_process(&world, 910)->uses & GPU_COMPUTE, GPU_COMPUTE);
    CHECK_INT(amd_world_process(&world, 910)->is_ours, VITALS_HAVE);
    CHECK_UINT(amd_world_of(&world, 910, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, 2000000000);
    struct value ratio = amd_world_of(&world, 910, VITALS_GPU_PROCESS_UTILIZATION_RATIO);
    CHECK_INT(ratio.state, VITALS_SAMPLED);
    CHECK_NEAR(ratio.as.f64, 0.5, 1e-9);
    CHECK_NEAR(amd_world_of(&world, 910, VITALS_GPU_PROCESS_COPY_SECONDS).as.f64, 1.5, 1e-9);
    CHECK_UINT(amd_world_process(&world, 911)->uses, GPU_COMPUTE);
    CHECK_INT(amd_world_process(&world, 911)->is_ours, VITALS_UNSET); /* pid_namespace.h says */
    CHECK_UINT(amd_world_of(&world, 911, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, 1000);
    CHECK_UINT(amd_world_process(&world, 1200)->uses, GPU_GRAPHICS);
    CHECK_UINT(amd_world_of(&world, 1200, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, 32768000);
    CHECK_UINT(amd_world_of(&world, 1200, VITALS_GPU_PROCESS_SHARED_MEMORY_BYTES).as.u64, 12288000);
    CHECK_NEAR(amd_world_of(&world, 1200, VITALS_GPU_PROCESS_ENCODER_SECONDS).as.f64, 0.5, 1e-9);
    amd_world_end(&world);
}

static void without_a_sweep_those_who_compute_are_known_all_the_same(void)
{
    amd_world_begin(&world, "mi300x-6.12");
    amd_world_processes(&world, 0, false);
    CHECK_INT(world.processes.state, VITALS_HAVE);
    CHECK_UINT(world.processes.count, 1);
    CHECK_UINT(amd_world_of(&world, 4001, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64,
               80000000000);
    CHECK_NEAR(amd_world_of(&world, 4001, VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.5, 1e-9);
    amd_world_processes(&world, 1, true);
    CHECK_UINT(amd_world_of(&world, 4001, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, 1000000000);
    CHECK_NEAR(amd_world_of(&world, 4001, VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0, 1e-9);
    amd_world_end(&world);
}

static void what_kfd_does_not_tell_takes_nothing_away(void)
{
    amd_world_begin(&world, "navi48-6.14");
    gpu_tree_remove(&world.tree, "sys/class/kfd/kfd/proc/910/stats_41208");
    gpu_tree_text(&world.tree, "sys/class/kfd/kfd/proc/910/vram_41208", "none\n");
    amd_world_processes(&world, 0, true);
    CHECK_UINT(amd_world_of(&world, 910, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, 1024000000);
    CHECK_INT(amd_world_of(&world, 910, VITALS_GPU_PROCESS_UTILIZATION_RATIO).state,
              VITALS_NOT_YET);
    CHECK_INT(amd_world_of(&world, 911, VITALS_GPU_PROCESS_UTILIZATION_RATIO).state,
              VITALS_UNSUPPORTED);
    amd_world_end(&world);
}

static void a_processors_memory_is_the_machines_from_the_first_list_on(void)
{
    amd_world_begin(&world, "phoenix-6.8");
    gpu_tree_link(&world.tree, "proc/50/fd/3", "/dev/dri/renderD128");
    gpu_tree_text(&world.tree, "proc/50/stat",
                  "50 (program) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5000 0 0 0 0 0 0 0 0 0 0 0 "
                  "0 0 0 0 17 0 0 0\n");
    gpu_tree_text(&world.tree, "proc/50/fdinfo/3",
                  "drm-driver:\tamdgpu\ndrm-pdev:\t0000:c4:00.0\ndrm-client-id:\t3\n"
                  "drm-resident-vram:\t5348 KiB\ndrm-resident-gtt:\t25258000 KiB\n");
    amd_world_processes(&world, 0, true);
    struct value used = amd_world_of(&world, 50, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    CHECK_INT(used.state, VITALS_ESTIMATE);
    CHECK(used.as.u64 >= UINT64_C(25258000) * 1024);
    amd_world_end(&world);
}

static void in_another_pid_namespace_a_stranger_is_not_taken_for_ours(void)
{
    amd_world_begin(&world, "navi48-6.14");
    world.context.origin.pid_namespace = 4026532000;
    amd_world_processes(&world, 0, true);
    CHECK_UINT(amd_world_of(&world, 910, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, 1024000000);
    CHECK_INT(amd_world_process(&world, 911)->is_ours, VITALS_UNSET);
    amd_world_end(&world);
}

static void a_partitions_processes_are_its_own(void)
{
    amd_world_begin(&world, "mi300x-cpx-6.14");
    for (uint32_t i = 0; i < world.scan.count; i++) {
        amd_world_processes(&world, i, true);
        CHECK_INT(world.processes.state, VITALS_HAVE);
        CHECK_UINT(world.processes.count, i == 2);
    }
    amd_world_processes(&world, 2, true);
    CHECK_UINT(amd_world_of(&world, 4001, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, 5000000000);
    CHECK_NEAR(amd_world_of(&world, 4001, VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.5, 1e-9);
    amd_world_end(&world);
}

static const check_test tests[] = {
    {"old kernels tell a percentage", old_kernels_tell_a_percentage},
    {"engines are counted from sweep to sweep", engines_are_counted_from_sweep_to_sweep},
    {"who computes is told by KFD", who_computes_is_told_by_kfd},
    {"without a sweep those who compute are known all the same",
     without_a_sweep_those_who_compute_are_known_all_the_same},
    {"what KFD does not tell takes nothing away", what_kfd_does_not_tell_takes_nothing_away},
    {"a processor's memory is the machine's, from the first list on",
     a_processors_memory_is_the_machines_from_the_first_list_on},
    {"in another pid namespace a stranger is not taken for ours",
     in_another_pid_namespace_a_stranger_is_not_taken_for_ours},
    {"a partition's processes are its own", a_partitions_processes_are_its_own},
};
CHECK_TESTS(tests)
