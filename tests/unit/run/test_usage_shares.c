/* What a tree is given of what only the machine counts: energy of the processor, traffic of network
 * namespaces; and that a device's reading counts once, by its own moment. */
#include "usage_world.h"

static struct world world;

static void begin(void)
{
    world_init(&world);
    world.host_network = 1;
    world_add(&world, 1, 0, 10, 5)->network = 1;
}

static vitals_availability figure(const vitals_usage *usage, const char *name, const char *subject,
                                  double *value)
{
    vitals_error error;
    vitals_account *account = NULL;
    CHECK_OK(vitals_usage_account(usage, &account, &error), error);
    const vitals_figure *found = vitals_account_find(account, name, subject);
    vitals_availability state = found != NULL ? vitals_figure_value(found, value) : VITALS_UNSET;
    vitals_account_free(account);
    return state;
}

/* ---- energy ---- */

static void step(vitals_usage *usage, double tree_cpu, double busy, double joules)
{
    world.processes[0].cpu += tree_cpu;
    world.host_busy += busy;
    world.host_energy += joules;
    world_tick(&world, usage);
}

static void energy_is_shared_by_cpu_time(void)
{
    double value = 0;
    begin();
    world.host_energy = 5000;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    step(usage, 0.5, 2, 40); /* a quarter */
    step(usage, 1, 1, 30);   /* all of it */
    step(usage, 0, 3, 100);  /* nothing */
    step(usage, 1.1, 1, 10); /* clocks of ticks: no more than all */
    CHECK_NEAR(tree(usage, "cpu_energy_joules"), 10 + 30 + 10, 1e-9);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_SYSTEM, "package_energy_joules", NULL), 180, 1e-9);
    CHECK_INT(figure(usage, "cpu_energy_joules", "", &value), VITALS_ESTIMATE);
    CHECK_NEAR(value, 50, 1e-9);
    CHECK_INT(figure(usage, "package_energy_joules", "system", &value), VITALS_HAVE);
    CHECK_NEAR(value, 180, 1e-9);
    world_done(&world, usage);
}

static void a_reading_that_was_not_due_is_shared_once(void)
{
    begin();
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world.host_read = world.seconds;
    step(usage, 0.5, 1, 10);
    world.processes[0].cpu += 0.5; /* goes on, while the machine is not read */
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "cpu_energy_joules"), 5, 1e-9);
    world.host_read = 0;
    step(usage, 0, 1, 10);
    CHECK_NEAR(tree(usage, "cpu_energy_joules"), 10, 1e-9);
    world_done(&world, usage);
}

static void energy_that_is_denied_is_said_and_never_nought(void)
{
    double value = -1;
    vitals_error error;
    vitals_account *account = NULL;
    begin();
    world.host_energy = (double)NAN;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world_tick(&world, usage);
    CHECK_INT(figure(usage, "package_energy_joules", "system", &value), VITALS_DENIED);
    CHECK_INT(figure(usage, "cpu_energy_joules", "", &value), VITALS_DENIED);
    CHECK_NEAR(value, -1, 0);
    CHECK_OK(vitals_usage_account(usage, &account, &error), error);
    const vitals_figure *found = vitals_account_find(account, "package_energy_joules", "system");
    CHECK(strstr(vitals_figure_source(found), "root") != NULL);
    vitals_account_free(account);
    world_done(&world, usage);
}

static void one_reading_says_nothing_of_energy(void)
{
    double value;
    begin();
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    CHECK_INT(figure(usage, "package_energy_joules", "system", &value), VITALS_UNSET);
    CHECK_INT(figure(usage, "cpu_energy_joules", "", &value), VITALS_UNSET);
    world_done(&world, usage);
}

/* ---- network ---- */

static void traffic_in_our_namespace_is_at_most_the_machines(void)
{
    vitals_availability state;
    begin();
    world.host_received = 1000;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world.host_received = 1700;
    world.host_sent = 40;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "network_received_bytes", &state), 700, 0);
    CHECK_INT(state, VITALS_UPPER_BOUND);
    CHECK_NEAR(tree(usage, "network_transmitted_bytes"), 40, 0);
    world_done(&world, usage);
}

/* The last sample of a run finds no process any more, and covers their work since the one before.
 */
static void what_went_through_at_the_end_counts(void)
{
    vitals_availability state;
    begin();
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world.host_received = 300;
    world_tick(&world, usage);
    world.process_count = 0;
    world.host_received = 700;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "network_received_bytes", &state), 700, 0);
    CHECK_INT(state, VITALS_UPPER_BOUND);
    for (const vitals_usage_value *value = NULL;
         (value = vitals_usage_next(usage, value)) != NULL;) {
        bool is_it = value->scope == VITALS_SCOPE_TREE &&
                     strcmp(vitals_measure_name(value->measure), "network_received_bytes") == 0;
        CHECK(!is_it || value->read_ns != 0);
    }
    world_done(&world, usage);
}

/* Two processes in one namespace: its counter counts once; and what it had counted before is not
 * the run's. */
static void a_namespace_of_its_own_counts_once(void)
{
    vitals_availability state;
    begin();
    world_add(&world, 2, 1, 11, 10);
    for (size_t i = 0; i < world.process_count; i++) {
        world.processes[i].network = 2;
        world.processes[i].received = 5000;
    }
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    for (size_t i = 0; i < world.process_count; i++)
        world.processes[i].received = 5300;
    world.host_received = 90000; /* is not ours */
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "network_received_bytes", &state), 300, 0);
    CHECK_INT(state, VITALS_SAMPLED);
    world_done(&world, usage);
}

/* As in a pod: what went through is at most the tree's. */
static void a_namespace_that_others_are_in_is_at_most_that(void)
{
    vitals_availability state;
    begin();
    world_add(&world, 2, 0, 50, 1);
    for (size_t i = 0; i < world.process_count; i++)
        world.processes[i].network = 2;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    for (size_t i = 0; i < world.process_count; i++)
        world.processes[i].received += 300;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "network_received_bytes", &state), 300, 0);
    CHECK_INT(state, VITALS_UPPER_BOUND);
    world_done(&world, usage);
}

/* An interface that went takes its count along; a namespace that was left keeps its share. */
static void what_went_through_stays(void)
{
    begin();
    struct world_process *process = world_find(&world, 1);
    process->network = 2;
    process->received = 1000;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    process->received = 1500;
    world_tick(&world, usage);
    process->received = 20; /* another interface */
    world_tick(&world, usage);
    process->received = 50;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "network_received_bytes"), 530, 0);
    process->network = 3;
    process->received = 7;
    world_tick(&world, usage);
    process->received = 8;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "network_received_bytes"), 531, 0);
    world_done(&world, usage);
}

static void whose_namespace_is_not_known_is_no_figure(void)
{
    vitals_availability state;
    begin();
    world_find(&world, 1)->network = (double)NAN;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    world_tick(&world, usage);
    (void)newest(usage, VITALS_SCOPE_TREE, "network_received_bytes", &state);
    CHECK_INT(state, VITALS_DENIED);
    world_done(&world, usage);
}

/* ---- a device's own moments ---- */

/* A device that is read every other snapshot: 0.2 and 0.8 each stand once. */
static void a_reading_of_a_device_counts_once(void)
{
    double value = 0;
    vitals_availability state;
    begin();
    world.gpus[world.gpu_count++] = (struct world_gpu){
        .key = 50, .label = "0", .uuid = "GPU-a", .vendor = "nvidia", .utilization = 0.2};
    vitals_usage *usage = usage_of_launcher(5);
    world.gpus[0].read = world.seconds;
    world_tick(&world, usage);
    world_tick(&world, usage);
    (void)newest(usage, VITALS_SCOPE_GPU, "device_utilization_ratio", &state);
    CHECK_INT(state, VITALS_STALE);
    world_tick(&world, usage);
    world.gpus[0].read = world.seconds;
    world.gpus[0].utilization = 0.8;
    world_tick(&world, usage);
    /* Held by both ends: had each snapshot been one, it were (0.2 + 0.2 + 0.2 + 0.5) … */
    CHECK(figure(usage, "device_utilization_mean_ratio", "GPU-a", &value) == VITALS_SAMPLED);
    CHECK_NEAR(value, 0.5, 1e-9);
    world_done(&world, usage);
}

/* Of what it drew between two of its readings the tree gets its part of the busy time between
 * them, not of that since the last snapshot. */
static void energy_of_a_device_is_shared_between_its_readings(void)
{
    begin();
    world.gpus[world.gpu_count++] = (struct world_gpu){
        .key = 50, .label = "0", .uuid = "GPU-a", .vendor = "nvidia", .energy = 100};
    world.clients[0] = (struct world_client){.key = 70, .gpu = 50, .process = 1};
    world.clients[1] = (struct world_client){.key = 71, .gpu = 50};
    world.client_count = 2;
    vitals_usage *usage = usage_of_launcher(5);
    world.gpus[0].read = world.seconds;
    world_tick(&world, usage);
    world.clients[0].busy = 3; /* the energy is not read anew */
    world_tick(&world, usage);
    world.clients[1].busy = 1;
    world.gpus[0].read = world.seconds;
    world.gpus[0].energy = 180;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "gpu_energy_joules"), 60, 1e-9);
    world_done(&world, usage);
}

/* gpu_tracker's main and descendants: over all devices. */
static void memory_of_devices_is_told_of_root_and_descendants(void)
{
    double value = 0;
    begin();
    world_add(&world, 2, 1, 11, 10)->network = 1;
    for (uint64_t gpu = 0; gpu < 2; gpu++)
        world.gpus[world.gpu_count++] = (struct world_gpu){
            .key = 50 + gpu, .label = gpu == 0 ? "0" : "1", .vendor = "nvidia"};
    world.clients[0] = (struct world_client){.key = 70, .gpu = 50, .process = 1, .memory = 100};
    world.clients[1] = (struct world_client){.key = 71, .gpu = 50, .process = 2, .memory = 30};
    world.clients[2] = (struct world_client){.key = 72, .gpu = 51, .process = 2, .memory = 7};
    world.clients[3] = (struct world_client){.key = 73, .gpu = 51, .memory = 4000}; /* others */
    world.client_count = 4;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "gpu_memory_bytes"), 137, 0);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_ROOT, "gpu_memory_bytes", NULL), 100, 0);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_DESCENDANTS, "gpu_memory_bytes", NULL), 37, 0);
    CHECK_INT(figure(usage, "gpu_memory_peak_bytes", "root", &value), VITALS_SAMPLED);
    CHECK_NEAR(value, 100, 0);
    world_done(&world, usage);
}

static void whose_the_devices_are_is_told(void)
{
    vitals_error error;
    vitals_account *account = NULL;
    begin();
    world.gpus[0] = (struct world_gpu){.key = 50, .label = "0", .uuid = "GPU-a", .vendor = "amd"};
    world.gpus[1] = (struct world_gpu){.key = 51, .label = "1", .vendor = "intel"};
    world.gpu_count = 2;
    world.clients[0] = (struct world_client){.key = 70, .gpu = 50, .process = 1, .memory = 100};
    world.client_count = 1;
    vitals_usage *usage = usage_of_launcher(5);
    world_tick(&world, usage);
    CHECK_OK(vitals_usage_account(usage, &account, &error), error);
    vitals_text lines = vitals_account_attribute(account, "gpu_drivers");
    CHECK_INT((long long)lines.size, 11); /* that it did not use the other is no line */
    CHECK(memcmp(lines.bytes, "amd - GPU-a", 11) == 0);
    vitals_account_free(account);
    world_done(&world, usage);
}

static const struct check_test tests[] = {
    {"energy is shared by CPU time", energy_is_shared_by_cpu_time},
    {"a reading that was not due is shared once", a_reading_that_was_not_due_is_shared_once},
    {"energy that is denied is said and never nought",
     energy_that_is_denied_is_said_and_never_nought},
    {"one reading says nothing of energy", one_reading_says_nothing_of_energy},
    {"traffic in our namespace is at most the machine's",
     traffic_in_our_namespace_is_at_most_the_machines},
    {"what went through at the end counts", what_went_through_at_the_end_counts},
    {"a namespace of its own counts once", a_namespace_of_its_own_counts_once},
    {"a namespace that others are in is at most that",
     a_namespace_that_others_are_in_is_at_most_that},
    {"what went through stays", what_went_through_stays},
    {"whose namespace is not known is no figure", whose_namespace_is_not_known_is_no_figure},
    {"a reading of a device counts once", a_reading_of_a_device_counts_once},
    {"energy of a device is shared between its readings",
     energy_of_a_device_is_shared_between_its_readings},
    {"memory of devices is told of root and descendants",
     memory_of_devices_is_told_of_root_and_descendants},
    {"whose the devices are is told", whose_the_devices_are_is_told},
};
CHECK_TESTS(tests)
