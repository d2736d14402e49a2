/* Usages: a tree's share of devices, of those that are lost too, and which are chosen. */
#include "usage_world.h"

static struct world world;

/* ---- shares ---- */

static void the_trees_share_of_a_device_is_told_apart(void)
{
    world_init(&world);
    world_add(&world, 1, 0, 10, 5);
    world_add_gpu(&world, "0", "GPU-a");
    world_add_gpu(&world, "1", "GPU-b");
    struct world_client *ours = world_add_client(&world, 70, 50, 1),
                        *others = world_add_client(&world, 71, 50, 0);
    ours->memory = 1000;
    ours->busy = 0.5;
    ours->utilization = 0.3;
    others->memory = 9000;
    others->busy = 100;
    vitals_usage *usage = usage_of_launcher(5);
    world.seconds += 1;
    world_tick(&world, usage);
    ours->busy = 1.5;
    ours->memory = 800;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "gpu_memory_bytes"), 800, 0);
    CHECK_NEAR(tree(usage, "gpu_busy_seconds"), 1.5, 1e-9);
    CHECK_NEAR(figure_of(usage, "gpu_memory_peak_bytes", "GPU-a", NULL), 1000, 0);
    CHECK_NEAR(figure_of(usage, "gpu_utilization_peak_ratio", "GPU-a", NULL), 0.3, 1e-9);
    vitals_availability state;
    (void)figure_of(usage, "gpu_memory_peak_bytes", "GPU-b", &state);
    CHECK_INT(state, VITALS_UNSET); /* it was not used: no figure */
    (void)figure_of(usage, "device_memory_used_peak_bytes", "GPU-b", &state);
    CHECK_INT(state, VITALS_SAMPLED);
    world.client_count = 1;
    world.clients[0] = *others;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "gpu_busy_seconds"), 1.5, 1e-9);
    world_done(&world, usage);
}

/* A driver's counter may be older than the process that the run began. */
static void busy_time_from_before_is_not_the_runs(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    world_add_gpu(&world, "0", "GPU-a");
    struct world_client *ours = world_add_client(&world, 70, 50, 1);
    ours->busy = 2428;
    vitals_usage *usage = usage_of_launcher(5);
    world.seconds += 1;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "gpu_busy_seconds"), 0, 0);
    ours->busy += 0.5;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "gpu_busy_seconds", &state), 0.5, 1e-9);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    CHECK_NEAR(figure_of(usage, "gpu_busy_ratio", "GPU-a", NULL), 0.5, 1e-9);
    struct world_client *late = world_add_client(&world, 71, 50, 2);
    world_add(&world, 2, 1, 11, 10)->start = 3600 + world.seconds - 0.5;
    late->busy = 0.25; /* as much as it can have done */
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "gpu_busy_seconds"), 0.75, 1e-9);
    world_done(&world, usage);
}

/* Several that use a device at a time each have a share; together it is busy once. */
static void a_device_is_never_busier_than_all_the_time(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    world_add(&world, 2, 1, 11, 10);
    world_add_gpu(&world, "0", "GPU-a");
    struct world_client *first = world_add_client(&world, 70, 50, 1),
                        *second = world_add_client(&world, 71, 50, 2);
    vitals_usage *usage = usage_of_launcher(5);
    for (int i = 0; i < 3; i++) {
        world_tick(&world, usage);
        first->busy += 1;
        second->busy += 1;
    }
    CHECK_NEAR(tree(usage, "gpu_busy_seconds"), 4, 1e-9);
    CHECK_NEAR(figure_of(usage, "gpu_busy_ratio", "GPU-a", &state), 1, 0);
    CHECK_INT(state, VITALS_ESTIMATE);
    world_done(&world, usage);
}

static void energy_is_shared_by_busy_time(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    world_add_gpu(&world, "0", "GPU-a");
    world.gpus[0].energy = 10000;
    struct world_client *ours = world_add_client(&world, 70, 50, 1);
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world.gpus[0].energy = 10100; /* alone: all of it */
    ours->busy = 0.1;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "gpu_energy_joules", &state), 100, 1e-9);
    CHECK_INT(state, VITALS_SAMPLED);
    struct world_client *others = world_add_client(&world, 71, 50, 0);
    others->busy = 0.3;
    ours->busy = 0.2;
    world.gpus[0].energy = 10200;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "gpu_energy_joules", &state), 125, 1e-9);
    CHECK_INT(state, VITALS_ESTIMATE);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_GPU, "device_energy_joules", NULL), 200, 1e-9);
    world_done(&world, usage);
}

static void a_lost_device_keeps_what_it_had_told(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    world_add_gpu(&world, "0", "GPU-a");
    world_add_client(&world, 70, 50, 1)->busy = 2;
    vitals_usage *usage = usage_of_launcher(5);
    world.seconds += 3;
    world_tick(&world, usage);
    world.gpu_count = world.client_count = 0;
    world_tick(&world, usage);
    (void)newest(usage, VITALS_SCOPE_GPU, "gpu_busy_seconds", &state);
    CHECK_INT(state, VITALS_GONE);
    CHECK_NEAR(figure_of(usage, "gpu_busy_seconds", "GPU-a", &state), 2, 1e-9);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    world_done(&world, usage);
}

static void what_a_lost_device_did_not_tell_is_not_nothing(void)
{
    static const struct {
        double seen;
        vitals_availability peak;
    } CASES[] = {{0, VITALS_GONE}, {50, VITALS_LOWER_BOUND}};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        world_init(&world);
        vitals_availability state;
        world_add(&world, 1, 0, 10, 5);
        world_add_gpu(&world, "0", "GPU-a");
        if (CASES[i].seen > 0)
            world_add_client(&world, 70, 50, 1)->memory = CASES[i].seen;
        vitals_usage *usage = usage_of_launcher(5);
        world_tick(&world, usage);
        world.seconds += 1;
        world.gpu_count = world.client_count = 0;
        world_tick(&world, usage);
        double peak = figure_of(usage, "gpu_memory_peak_bytes", "", &state);
        CHECK_INT(state, CASES[i].peak);
        if (state > 0)
            CHECK_NEAR(peak, CASES[i].seen, 0);
        world_done(&world, usage);
    }
}

static void who_tells_nothing_of_its_users_is_said(void)
{
    world_init(&world);
    vitals_availability state;
    world_add(&world, 1, 0, 10, 5);
    world_add_gpu(&world, "0", "GPU-a");
    world.gpus[0].processes = VITALS_DENIED;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    (void)figure_of(usage, "gpu_memory_peak_bytes", "GPU-a", &state);
    CHECK_INT(state, VITALS_DENIED);
    (void)newest(usage, VITALS_SCOPE_TREE, "gpu_memory_bytes", &state);
    CHECK_INT(state, VITALS_DENIED);
    world_done(&world, usage);
}

static void devices_are_chosen_by_name_and_by_brand(void)
{
    static const char *const FIRST[] = {"GPU-aaaa", NULL};
    world_init(&world);
    vitals_usage_options options;
    vitals_usage_options_init(&options, sizeof options);
    options.devices = FIRST;
    world_add_gpu(&world, "0", "GPU-aaaa-1");
    world_add_gpu(&world, "1", "GPU-bbbb-2");
    world.gpus[1].vendor = "amd";
    vitals_usage *usage = usage_of(&options);
    world_tick(&world, usage);
    /* the machine has both, with the memory of both; of one it is told what it does */
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "devices", NULL), 2, 0);
    CHECK_NEAR(figure_of(usage, "device_memory_used_peak_bytes", "system", NULL), 2 * 5000, 0);
    CHECK_NEAR(figure_of(usage, "device_memory_used_peak_bytes", "GPU-aaaa-1", NULL), 5000, 0);
    vitals_usage_free(usage);
    options.devices = NULL;
    options.brand = "amd";
    usage = usage_of(&options);
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "devices", NULL), 1, 0);
    CHECK_NEAR(figure_of(usage, "device_memory_used_peak_bytes", "GPU-bbbb-2", NULL), 5000, 0);
    world_done(&world, usage);
}

static const check_test tests[] = {
    {"the tree's share of a device is told apart", the_trees_share_of_a_device_is_told_apart},
    {"busy time from before is not the run's", busy_time_from_before_is_not_the_runs},
    {"a device is never busier than all the time", a_device_is_never_busier_than_all_the_time},
    {"energy is shared by busy time", energy_is_shared_by_busy_time},
    {"a lost device keeps what it had told", a_lost_device_keeps_what_it_had_told},
    {"what a lost device did not tell is not nothing",
     what_a_lost_device_did_not_tell_is_not_nothing},
    {"who tells nothing of its users is said", who_tells_nothing_of_its_users_is_said},
    {"devices are chosen by name and by brand", devices_are_chosen_by_name_and_by_brand},
};
CHECK_TESTS(tests)
