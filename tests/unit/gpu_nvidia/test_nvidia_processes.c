/* The processes on an NVIDIA device, and how much of it each uses: every layout of the driver's
 * lists, and samples good and bad, on the simulated driver library (tests/nvml). */
#include "nvidia_world.h"

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
            CHECK_UINT(gpu_world_of(item, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64,
                       (uint64_t)(j + 1) << 30);
            CHECK_UINT(item->uses, j < 3 ? GPU_COMPUTE : GPU_GRAPHICS);
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
    CHECK_UINT(
        gpu_world_of(gpu_world_process(&world, getpid()), VITALS_GPU_PROCESS_MEMORY_USED_BYTES)
            .as.u64,
        1 << 30);
    close_driver();
}

static void impossible_pids_are_no_processes(void)
{
    open_driver("r580", write_scenario("[gpu 0]\n[process a]\ngpu = 0\npid = 4294967295\n"
                                       "memory = 1GiB\n[process b]\ngpu = 0\npid = 12\n"));
    list_all(0);
    CHECK_INT(world.processes.state, VITALS_HAVE);
    CHECK_UINT(world.processes.count, 1); /* the other one is listed all the same, */
    CHECK_INT(world.processes.items[0].pid, 12);
    CHECK(world.processes.cut); /* and the list is not whole */
    close_driver();
    open_driver("r580", write_scenario("[gpu 0]\n[process a]\ngpu = 0\npid = 4294967295\n"));
    list_all(0);
    CHECK_INT(world.processes.state, VITALS_HAVE); /* of graphics there are none */
    CHECK_UINT(world.processes.count, 0);
    CHECK(world.processes.cut);
    close_driver();
    write_scenario(NULL);
}

static void a_list_that_fails_does_not_drop_the_other(void)
{
    static const char *const names[] = {"Compute", "Graphics"};
    for (size_t i = 0; i < CHECK_COUNT(names); i++) {
        char text[400];
        CHECK_CASE(names[i]);
        snprintf(text, sizeof text,
                 "[gpu 0]\n[process a]\ngpu = 0\npid = 5\nkind = C\n[process b]\ngpu = 0\n"
                 "pid = 6\nkind = G\n[call nvmlDeviceGet%sRunningProcesses_v3]\nresult = 999\n",
                 names[i]);
        open_driver("r580", write_scenario(text));
        list_all(0);
        CHECK_INT(world.processes.state, VITALS_HAVE);
        CHECK_UINT(world.processes.count, 1);
        CHECK_INT(world.processes.items[0].pid, i == 0 ? 6 : 5);
        CHECK(world.processes.cut);
        CHECK_UINT(world.processes.unread, i == 0 ? GPU_COMPUTE : GPU_GRAPHICS);
        close_driver();
    }
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
    CHECK_UINT(both->uses, GPU_COMPUTE | GPU_GRAPHICS);
    CHECK_UINT(gpu_world_of(both, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, UINT64_C(3) << 30);
    CHECK_INT(
        gpu_world_of(gpu_world_process(&world, 5), VITALS_GPU_PROCESS_MEMORY_USED_BYTES).state,
        VITALS_UNSUPPORTED);
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
        CHECK_INT(
            gpu_world_of(&world.processes.items[0], VITALS_GPU_PROCESS_UTILIZATION_RATIO).state,
            VITALS_HAVE);
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
        CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.35, 1e-9);
        CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO).as.f64, 0.10, 1e-9);
        CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_ENCODER_RATIO).as.f64, 0.20, 1e-9);
        CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_DECODER_RATIO).as.f64, 0.30, 1e-9);
        CHECK_INT(gpu_world_of(busy(), VITALS_GPU_PROCESS_UTILIZATION_RATIO).state, VITALS_HAVE);
        const struct gpu_process *quiet = gpu_world_process(&world, 78);
        CHECK_INT(gpu_world_of(quiet, VITALS_GPU_PROCESS_UTILIZATION_RATIO).state, VITALS_HAVE);
        CHECK_NEAR(gpu_world_of(quiet, VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0, 0);
        CHECK_NEAR(gpu_world_of(quiet, VITALS_GPU_PROCESS_BUSY_SECONDS).as.f64, 0, 0);
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
    CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_BUSY_SECONDS).as.f64, 0, 0);
    CHECK_INT(gpu_world_of(busy(), VITALS_GPU_PROCESS_BUSY_SECONDS).state, VITALS_SAMPLED);
    for (int i = 0; i < 200; i++)
        list_all(0);
    uint64_t until_ns = gpu_world_realtime(NULL);
    double seconds = gpu_world_of(busy(), VITALS_GPU_PROCESS_BUSY_SECONDS).as.f64 / 0.35;
    CHECK(seconds > 0);
    CHECK(seconds <= (double)(until_ns - from_ns) / 1e9 + 1e-5);
    for (int i = 0; i < 1000; i++)
        list_all(0);
    CHECK(gpu_world_of(busy(), VITALS_GPU_PROCESS_BUSY_SECONDS).as.f64 / 0.35 > seconds);
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
    CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.35, 1e-9);
    world.now_ns += NS_PER_SECOND;
    list_all(0);
    CHECK_INT(gpu_world_of(busy(), VITALS_GPU_PROCESS_UTILIZATION_RATIO).state, VITALS_HAVE);
    CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0, 0);
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
        CHECK_NEAR(
            gpu_world_of(gpu_world_process(&world, getpid()), VITALS_GPU_PROCESS_UTILIZATION_RATIO)
                .as.f64,
            0.35, 1e-9);
        CHECK_NEAR(
            gpu_world_of(gpu_world_process(&world, 4000001), VITALS_GPU_PROCESS_UTILIZATION_RATIO)
                .as.f64,
            0, 0);
        world.now_ns += NS_PER_SECOND;
    }
    close_driver();
}

static void shares_that_are_denied_leave_the_list(void)
{
    open_driver("r580",
                write_scenario("[gpu 0]\n[process a]\ngpu = 0\npid = 77\nmemory = 1GiB\n"
                               "[call nvmlDeviceGetProcessesUtilizationInfo]\nresult = 4\n"));
    list_all(0);
    CHECK_INT(world.processes.state, VITALS_HAVE);
    CHECK_INT(gpu_world_of(busy(), VITALS_GPU_PROCESS_MEMORY_USED_BYTES).state, VITALS_HAVE);
    CHECK_INT(gpu_world_of(busy(), VITALS_GPU_PROCESS_UTILIZATION_RATIO).state, VITALS_DENIED);
    CHECK_INT(gpu_world_of(busy(), VITALS_GPU_PROCESS_BUSY_SECONDS).state, VITALS_DENIED);
    close_driver();
    write_scenario(NULL);
}

static void a_pid_that_comes_back_begins_anew(void)
{
    open_driver("r580", write_scenario(one_busy));
    for (int i = 0; i < 100; i++)
        list_all(0);
    CHECK(gpu_world_of(busy(), VITALS_GPU_PROCESS_BUSY_SECONDS).as.f64 > 0);
    gpu_world_set(&world, "process busy", "running", "no");
    list_all(0);
    CHECK_NULL(gpu_world_process(&world, 77));
    gpu_world_set(&world, "process busy", "running", "yes");
    struct metric_set lists = gpu_world_only(VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    gpu_world_processes(&world, 0, &lists);
    CHECK_INT(gpu_world_of(busy(), VITALS_GPU_PROCESS_BUSY_SECONDS).state,
              VITALS_UNSET); /* not asked for */
    close_driver();
    write_scenario(NULL);
}

/* ---- what newer drivers tell ---- */

static const char all_engines[] = "[library]\nsample_period = 0\n[gpu 0]\n"
                                  "[process busy]\ngpu = 0\npid = 77\nmemory = 1GiB\n"
                                  "sm = 35\njpeg = 40\nofa = 50\n";

static void from_r550_on_all_engines_are_told_in_one_call(void)
{
    open_driver("r580", write_scenario(all_engines));
    for (int i = 0; i < 3; i++) {
        wait_for_a_sample();
        list_all(0);
        CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_JPEG_RATIO).as.f64, 0.4, 1e-9);
        CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_OPTICAL_FLOW_RATIO).as.f64, 0.5, 1e-9);
        CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.35, 1e-9);
    }
    CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetProcessesUtilizationInfo"), 3);
    CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetProcessUtilization"), 0);
    close_driver();
    write_scenario(NULL);
}

static void before_it_is_four_engines(void)
{
    static const char *const older[] = {"r390", "r470", "r535_54", "r535"};
    for (size_t i = 0; i < CHECK_COUNT(older); i++) {
        CHECK_CASE(older[i]);
        open_driver(older[i], write_scenario(all_engines));
        list_all(0);
        CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.35, 1e-9);
        CHECK_INT(gpu_world_of(busy(), VITALS_GPU_PROCESS_JPEG_RATIO).state, VITALS_UNSUPPORTED);
        CHECK_INT(gpu_world_of(busy(), VITALS_GPU_PROCESS_OPTICAL_FLOW_RATIO).state,
                  VITALS_UNSUPPORTED);
        close_driver();
    }
    write_scenario(NULL);
}

/* Once, and not at each tick. */
static void a_driver_that_lacks_the_newer_function_has_the_older(void)
{
    static const char *const codes[] = {"3", "13", "25"};
    for (size_t i = 0; i < CHECK_COUNT(codes); i++) {
        CHECK_CASE(codes[i]);
        open_driver("r580", write_scenario(all_engines));
        gpu_world_set(&world, "call nvmlDeviceGetProcessesUtilizationInfo", "result", codes[i]);
        for (int n = 0; n < 3; n++) {
            wait_for_a_sample();
            list_all(0);
            CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.35,
                       1e-9);
        }
        CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetProcessesUtilizationInfo"), 1);
        CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetProcessUtilization"), 3);
        close_driver();
    }
    write_scenario(NULL);
}

static void clients_of_mps_are_marked(void)
{
    for (size_t i = 1; i < CHECK_COUNT(variants); i++) { /* r390 does not know of them */
        CHECK_CASE(variants[i]);
        open_driver(variants[i],
                    write_scenario("[gpu 0]\n[process server]\ngpu = 0\npid = 76\nmemory = 30MiB\n"
                                   "[process client]\ngpu = 0\npid = 77\nkind = C+M\n"
                                   "memory = 1GiB\n[process other]\ngpu = 0\npid = 78\n"
                                   "kind = M+G\nmemory = 2GiB\n"));
        list_all(0);
        CHECK_UINT(world.processes.count, 3);
        CHECK_UINT(gpu_world_process(&world, 76)->uses, GPU_COMPUTE);
        CHECK_UINT(busy()->uses, GPU_COMPUTE | GPU_MPS);
        CHECK_UINT(gpu_world_process(&world, 78)->uses, GPU_MPS | GPU_GRAPHICS);
        CHECK_UINT(gpu_world_of(busy(), VITALS_GPU_PROCESS_MEMORY_USED_BYTES).as.u64, 1 << 30);
        close_driver();
    }
    write_scenario(NULL);
}

static void instances_are_told_where_there_are_any(void)
{
    open_driver("r580", "mig");
    for (uint32_t i = 0; i < world.scan.count; i++) {
        if (world.scan.devices[i].parent_slot < 0 || world.scan.devices[i].index != 0)
            continue;
        list_all(world.scan.devices[i].slot);
        const struct gpu_process *big = gpu_world_process(&world, getpid());
        CHECK_NOT_NULL(big);
        CHECK_UINT(gpu_world_of(big, VITALS_GPU_PROCESS_GPU_INSTANCE_ID).as.u64, 2);
        CHECK_UINT(gpu_world_of(big, VITALS_GPU_PROCESS_COMPUTE_INSTANCE_ID).as.u64, 0);
        CHECK_INT(gpu_world_of(big, VITALS_GPU_PROCESS_COMPUTE_INSTANCE_ID).state, VITALS_HAVE);
    }
    list_all(world.scan.devices[world.scan.count - 1].slot); /* the whole one */
    const struct gpu_process *whole = gpu_world_process(&world, 4000003);
    CHECK_NOT_NULL(whole);
    CHECK_INT(gpu_world_of(whole, VITALS_GPU_PROCESS_GPU_INSTANCE_ID).state, VITALS_UNSET);
    close_driver();
}

/* ---- accounts ---- */

static const char accounted[] = "[gpu 0]\n[process a]\ngpu = 0\npid = 77\nmemory = 1GiB\n"
                                "max_memory = 5GiB\nsm = 35\nmem = 12\ntime_ms = 90000\n"
                                "start_us = 1700000000000000\n"
                                "[process b]\ngpu = 0\npid = 78\nmemory = 1GiB\n";

static void the_drivers_accounts_are_read_by_name(void)
{
    struct metric_set peak = gpu_world_only(VITALS_GPU_PROCESS_MEMORY_PEAK_BYTES);
    open_driver("r580", write_scenario(accounted));
    gpu_world_processes(&world, 0, &peak);
    CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetAccountingStats"), 2);
    CHECK_UINT(gpu_world_of(busy(), VITALS_GPU_PROCESS_MEMORY_PEAK_BYTES).as.u64, UINT64_C(5)
                                                                                      << 30);
    CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_MEAN_UTILIZATION_RATIO).as.f64, 0.35, 1e-9);
    CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_MEAN_MEMORY_BUSY_RATIO).as.f64, 0.12, 1e-9);
    struct value seconds = gpu_world_of(busy(), VITALS_GPU_PROCESS_ACCOUNTED_SECONDS);
    CHECK_INT(seconds.state, VITALS_ESTIMATE); /* it runs: since it began */
    CHECK(seconds.as.f64 > 1e6 && seconds.as.f64 < 1e10);
    const struct gpu_process *other = gpu_world_process(&world, 78);
    CHECK_INT(gpu_world_of(other, VITALS_GPU_PROCESS_ACCOUNTED_SECONDS).state, VITALS_NOT_YET);
    struct metric_set lists = gpu_world_only(VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    gpu_world_processes(&world, 0, &lists);
    CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetAccountingStats"), 2);
    close_driver();
    write_scenario(NULL);
}

static void where_accounting_is_off_one_is_asked_for(void)
{
    struct metric_set peak = gpu_world_only(VITALS_GPU_PROCESS_MEMORY_PEAK_BYTES);
    open_driver("r580", write_scenario(accounted));
    gpu_world_set(&world, "gpu 0", "accounting_mode", "0");
    gpu_world_processes(&world, 0, &peak);
    CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetAccountingStats"), 1);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_INT(
            gpu_world_of(&world.processes.items[i], VITALS_GPU_PROCESS_MEMORY_PEAK_BYTES).state,
            VITALS_UNSUPPORTED);
    close_driver();
    write_scenario(NULL);
}

/* ---- containers ---- */

/* A driver that translates pids lists only ours, but samples of the others keep their outside pids:
 * one of them may equal the pid of a process inside that did nothing. */
static void samples_of_strangers_are_dropped(void)
{
    static const char *const drivers[] = {"r535", "r580"};
    struct metric_set all = gpu_world_wanted(VITALS_TABLE_GPU_PROCESS);
    for (size_t i = 0; i < CHECK_COUNT(drivers); i++) {
        CHECK_CASE(drivers[i]);
        open_driver(drivers[i], "container-translated");
        for (int n = 0; n < 3; n++) {
            wait_for_a_sample();
            gpu_world_processes(&world, 0, &all);
            CHECK_UINT(world.processes.count, 1);
            CHECK_NEAR(gpu_world_of(busy(), VITALS_GPU_PROCESS_UTILIZATION_RATIO).as.f64, 0.35,
                       1e-9);
        }
        close_driver();
    }
}

/* A driver of the machine's pids: they are listed as it gives them, and whose they are is for
 * pid_namespace.h to find out, by the node. */
static void pids_of_the_machine_are_believed_by_nobody(void)
{
    open_driver("r470", "container");
    const struct gpu_identity *who = &world.scan.devices[0];
    CHECK_UINT(who->node_count, 1);
    CHECK_UINT(who->nodes[0].major, 195);
    CHECK_UINT(who->nodes[0].minor, 0);
    list_all(0);
    CHECK_UINT(world.processes.count, 2);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_INT(world.processes.items[i].is_ours, VITALS_UNSET);
    close_driver();
}

static const check_test tests[] = {
    {"every driver lists the same processes", every_driver_lists_the_same_processes},
    {"every layout is found out under every name", every_layout_is_found_out_under_every_name},
    {"a single process has its layout too", a_single_process_has_its_layout_too},
    {"a list that fails does not drop the other", a_list_that_fails_does_not_drop_the_other},
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
    {"from R550 on all engines are told in one call",
     from_r550_on_all_engines_are_told_in_one_call},
    {"before it, it is four engines", before_it_is_four_engines},
    {"a driver that lacks the newer function has the older",
     a_driver_that_lacks_the_newer_function_has_the_older},
    {"clients of MPS are marked", clients_of_mps_are_marked},
    {"instances are told where there are any", instances_are_told_where_there_are_any},
    {"the driver's accounts are read by name", the_drivers_accounts_are_read_by_name},
    {"where accounting is off, one is asked for", where_accounting_is_off_one_is_asked_for},
    {"samples of strangers are dropped", samples_of_strangers_are_dropped},
    {"pids of the machine are believed by nobody", pids_of_the_machine_are_believed_by_nobody},
};
CHECK_TESTS(tests)
