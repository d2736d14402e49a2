/* The demo back end: the same seed and clock give the same numbers, and the numbers agree with
 * each other. */
#include "gpu_world.h"

#include "gpu/demo/demo.h"

#include <unistd.h>
#include <vitals/vitals.h>

static struct gpu_world world;

static void open_demo(const char *scenario, uint64_t seed)
{
    CHECK_INT(gpu_world_open(&world, "demo", NULL, scenario), 0);
    gpu_world_close(&world);
    world.context.seed = seed; /* before it opens */
    CHECK_INT(world.backend->open(&world.context, &world.state, &world.scan), 0);
    gpu_world_scan(&world);
}

static double watts_after(uint64_t seed, uint64_t ns)
{
    struct metric_set power = gpu_world_only(VITALS_GPU_POWER_WATTS);
    open_demo("default", seed);
    world.now_ns += ns;
    gpu_world_sample(&world, 0, &power);
    double watts = gpu_world_value(&world, VITALS_GPU_POWER_WATTS).as.f64;
    gpu_world_close(&world);
    return watts;
}

static void the_same_seed_and_clock_give_the_same_numbers(void)
{
    double watts = watts_after(1, 0);
    CHECK(watts > 71 && watts < 700);
    CHECK_NEAR(watts_after(1, 0), watts, 0);
    CHECK_NEAR(watts_after(1, 50 * NS_PER_MS), watts, 0); /* within one step */
    CHECK_FALSE(watts_after(2, 0) == watts);
    CHECK_FALSE(watts_after(1, 60 * NS_PER_SECOND) == watts);
}

static void the_integral_is_that_of_the_curve(void)
{
    struct demo_curve curve;
    demo_curve_init(&curve, 7, 0.2, 0.9);
    double sum = 0;
    for (int i = 0; i < 8000; i++) { /* more than twice round */
        double at = demo_curve_at(&curve, i * 0.1 + 0.05);
        CHECK(at >= 0.2 && at <= 0.9);
        sum += at * 0.1;
        if (i % 100 == 0)
            CHECK_NEAR(demo_curve_integral(&curve, (i + 1) * 0.1), sum, 1e-6);
    }
}

static void processes_share_what_their_device_has(void)
{
    struct metric_set all = gpu_world_wanted(0);
    open_demo("many", 3);
    CHECK_UINT(world.scan.count, 8);
    unsigned total = 0;
    for (uint32_t slot = 0; slot < world.scan.count; slot++) {
        gpu_world_sample(&world, slot, &all);
        gpu_world_processes(&world, slot, &all);
        double share = 0;
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < world.processes.count; i++) {
            share += gpu_world_of(&world.processes.items[i], VITALS_GPU_PROCESS_UTILIZATION_RATIO)
                         .as.f64;
            bytes += gpu_world_of(&world.processes.items[i], VITALS_GPU_PROCESS_MEMORY_USED_BYTES)
                         .as.u64;
        }
        total += world.processes.count;
        CHECK(share <= gpu_world_value(&world, VITALS_GPU_UTILIZATION_RATIO).as.f64);
        CHECK(bytes <= gpu_world_value(&world, VITALS_GPU_MEMORY_USED_BYTES).as.u64);
    }
    CHECK_UINT(total, 32);
    CHECK_UINT(total, demo_process_count(demo_scenario_find("many")));
    gpu_world_close(&world);
}

static void self_is_on_the_first_device(void)
{
    struct metric_set all = gpu_world_wanted(0);
    open_demo("self", 0);
    gpu_world_processes(&world, 0, &all);
    CHECK_UINT(world.processes.count, 1);
    CHECK_NOT_NULL(gpu_world_process(&world, getpid()));
    gpu_world_close(&world);
}

static void the_hanging_device_waits_by_the_contexts_clock(void)
{
    struct metric_set all = gpu_world_wanted(0);
    open_demo("hang", 0);
    uint64_t before_ns = world.now_ns;
    gpu_world_sample(&world, 0, &all);
    CHECK_UINT(world.now_ns, before_ns);
    gpu_world_sample(&world, 1, &all);
    CHECK_UINT(world.now_ns - before_ns, 5 * NS_PER_SECOND);
    gpu_world_close(&world);
}

/* The devices of a context with these options; -1 where it is refused. */
static long devices_of(const char *demo, const char *backends, vitals_error *error)
{
    vitals_context *context = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.demo = demo;
    options.backends = backends;
    if (vitals_context_new(&options, &context, error) < 0) {
        CHECK_INT(error->code, VITALS_EARGUMENT);
        return -1;
    }
    int code = vitals_snapshot_take(context, VITALS_SET_GPUS, &snapshot, error);
    if (code == VITALS_EMEMORY) {
        vitals_context_free(context);
        CHECK_SKIP("this system starts no thread");
    }
    CHECK_OK(code, *error);
    size_t count = vitals_snapshot_count(snapshot, VITALS_TABLE_GPU);
    vitals_snapshot_unref(snapshot);
    vitals_context_free(context);
    return (long)count;
}

static void an_unknown_scenario_names_those_that_are(void)
{
    vitals_error error;
    CHECK(gpu_world_open(&world, "demo", NULL, "nonsense") < 0);
    CHECK_INT(world.scan.state, VITALS_FAILED);
    CHECK_INT(devices_of("nonsense", NULL, &error), -1);
    size_t count = 0;
    for (const char *name; (name = vitals_demo_name(count)) != NULL; count++) {
        CHECK_CONTAINS(error.message, name);
        CHECK_NOT_NULL(vitals_demo_help(count));
    }
    CHECK_UINT(count, 11);
    CHECK_NULL(vitals_demo_help(count));
    CHECK_NULL(vitals_demo_name(SIZE_MAX));
}

/* A scenario is never passed over: it brings its back end, or is refused without it. */
static void a_scenario_implies_its_back_end(void)
{
    vitals_error error = {.message = ""};
    CHECK_INT(devices_of("many", NULL, &error), 8);
    CHECK_INT(devices_of("many", "nvidia,demo", &error), 8);
    CHECK_INT(devices_of("empty", NULL, &error), 0);
    CHECK_INT(devices_of("many", "nvidia", &error), -1);
    CHECK_CONTAINS(error.message, "needs the back end demo");
    CHECK_INT(devices_of("many", "", &error), -1);
    CHECK(devices_of(NULL, "demo", &error) > 4);
}

static const check_test tests[] = {
    {"the same seed and clock give the same numbers",
     the_same_seed_and_clock_give_the_same_numbers},
    {"the integral is that of the curve", the_integral_is_that_of_the_curve},
    {"processes share what their device has", processes_share_what_their_device_has},
    {"self is on the first device", self_is_on_the_first_device},
    {"the hanging device waits by the context's clock",
     the_hanging_device_waits_by_the_contexts_clock},
    {"an unknown scenario names those that are", an_unknown_scenario_names_those_that_are},
    {"a scenario implies its back end", a_scenario_implies_its_back_end},
};
CHECK_TESTS(tests)
