/* Counters of Intel's devices: engines that perf counts, where it may and as long as it may. */
#include "intel_world.h"

#define GT "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:03:00.0/tile0/gt"

static struct intel_world world;

static void engines_are_counted_where_that_is_permitted(void)
{
    intel_world_begin(&world, "i915-a380");
    intel_kernel.refusal = 0;
    intel_world_sample(&world, 0, 0);
    CHECK_UINT(intel_kernel_open(), 7); // of 21 events and 7 others, those of busy time
    CHECK_UINT(intel_kernel.counters[0].type, 24);
    CHECK_MISSING(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics", VITALS_NOT_YET);
    intel_kernel_wind(0x0000, 1500000000); // rcs0
    intel_kernel_wind(0x2000, 2000000000); // vcs0
    intel_kernel_wind(0x2010, 1000000000); // vcs1
    intel_kernel_wind(0x4000, 500000000);  // ccs0
    intel_world_sample(&world, 0, 2);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics", VITALS_HAVE, 0.75);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "video", VITALS_HAVE, 0.75);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "compute", VITALS_HAVE, 0.25);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "copy", VITALS_HAVE, 0);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_CAPACITY, "video", VITALS_HAVE, 2);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_CAPACITY, "video_enhance", VITALS_HAVE, 2);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_BUSY_SECONDS, "video", VITALS_HAVE, 3);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_BUSY_SECONDS, "graphics", VITALS_HAVE, 1.5);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0.75);
    CHECK_VALUE(&world, VITALS_GPU_BUSY_SECONDS, "", VITALS_HAVE, 1.5);
    CHECK_UINT(intel_world_rows(&world, VITALS_TABLE_GPU_ENGINE), 5);
    // It stays open while the device is still: counting does not keep this one awake.
    intel_world_sample(&world, 0, 60);
    CHECK_UINT(intel_kernel_open(), 7);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0);
    intel_world_end(&world);
    CHECK_UINT(intel_kernel_open(), 0);
}

static void counting_that_is_denied_is_tried_once(void)
{
    intel_world_begin(&world, "i915-igpu");
    intel_world_sample(&world, 0, 0);
    size_t tried = intel_kernel.adds;
    CHECK_UINT(tried, 5);
    intel_world_sample(&world, 0, 1);
    CHECK_UINT(intel_kernel.adds, tried);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND, 1);
    CHECK_UINT(intel_world_rows(&world, VITALS_TABLE_GPU_ENGINE), 0);
    struct row_batch found = {0};
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_DIAGNOSIS_SUBJECT);
    metric_set_add(&wanted, VITALS_DIAGNOSIS_SEVERITY);
    batch_reset(&found, &wanted);
    gpu_backend_intel.diagnose(&world.context, world.state, &found);
    CHECK_UINT(found.row_count, 2);
    const struct batch_cell *subject = batch_find(&found, &found.rows[1], VITALS_DIAGNOSIS_SUBJECT);
    CHECK_NOT_NULL(subject);
    CHECK(span_equal(batch_span(&found, subject), "0000:00:02.0 engine counters"));
    const struct batch_cell *severity = batch_find(&found, &found.rows[1],
                                                   VITALS_DIAGNOSIS_SEVERITY);
    CHECK_NOT_NULL(severity);
    CHECK(span_equal(batch_span(&found, severity), "notice"));
    intel_kernel.refusal = 0; // it is looked at anew, and nothing stays open
    batch_reset(&found, &wanted);
    gpu_backend_intel.diagnose(&world.context, world.state, &found);
    severity = batch_find(&found, &found.rows[1], VITALS_DIAGNOSIS_SEVERITY);
    CHECK_NOT_NULL(severity);
    CHECK(span_equal(batch_span(&found, severity), "good"));
    CHECK_UINT(intel_kernel_open(), 0);
    batch_done(&found);
    intel_world_end(&world);
}

static void nonsense_of_a_counter_is_failed(void)
{
    intel_world_begin(&world, "i915-igpu");
    intel_kernel.refusal = 0;
    intel_world_sample(&world, 0, 0);
    intel_kernel_wind(0x0000, 5000000000); // five seconds of one
    intel_world_sample(&world, 0, 1);
    CHECK_MISSING(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics", VITALS_FAILED);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "copy", VITALS_HAVE, 0);
    CHECK_MISSING(&world, VITALS_GPU_ENGINE_BUSY_SECONDS, "graphics", VITALS_LOWER_BOUND);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND, 1);
    intel_kernel_wind(0x0000, (uint64_t)-1000); // and backwards
    intel_world_sample(&world, 0, 1);
    CHECK_MISSING(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics", VITALS_FAILED);
    intel_kernel_wind(0x0000, 250000000);
    intel_world_sample(&world, 0, 1);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics", VITALS_HAVE, 0.25);
    intel_world_end(&world);
}

static void a_unit_that_goes_away_is_opened_again(void)
{
    intel_world_begin(&world, "i915-igpu");
    intel_kernel.refusal = 0;
    intel_world_sample(&world, 0, 0);
    intel_kernel.gone = true;
    intel_world_sample(&world, 0, 1);
    CHECK_UINT(intel_kernel_open(), 0);
    CHECK_MISSING(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "copy", VITALS_UPPER_BOUND);
    intel_kernel.gone = false;
    intel_world_sample(&world, 0, 1);
    CHECK_UINT(intel_kernel_open(), 5);
    intel_kernel_wind(0x1000, 100000000);
    intel_world_sample(&world, 0, 1);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "copy", VITALS_HAVE, 0.1);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_BUSY_SECONDS, "copy", VITALS_LOWER_BOUND, 0.1);
    intel_kernel.gone = true; // for good: it is given up
    for (unsigned i = 0; i < 9; i++)
        intel_world_sample(&world, 0, 1);
    size_t adds = intel_kernel.adds;
    intel_world_sample(&world, 0, 1);
    CHECK_UINT(intel_kernel.adds, adds);
    CHECK_UINT(intel_kernel_open(), 0);
    intel_world_end(&world);
}

/* event 2 or 3 of an engine of the B580. */
static uint64_t ticks(unsigned event, unsigned class, unsigned gt)
{
    return event | (uint64_t) class << 20 | (uint64_t)gt << 60;
}

static void begin_b580(void)
{
    static const struct {
        unsigned class, gt;
    } engines[] = {{0, 0}, {1, 0}, {4, 0}, {2, 1}, {3, 1}};
    intel_world_begin(&world, "xe-b580");
    intel_kernel.refusal = 0;
    for (size_t i = 0; i < CHECK_COUNT(engines); i++)
        for (unsigned event = 2; event < 4; event++)
            intel_kernel.configs[intel_kernel.config_count++] = ticks(event, engines[i].class,
                                                                      engines[i].gt);
}

static void counters_that_keep_it_awake_are_open_only_while_it_works(void)
{
    begin_b580();
    intel_world_sample(&world, 0, 0);
    CHECK_UINT(intel_kernel.adds, 0); // not known yet whether it works
    gpu_tree_text(&world.tree, GT "0/gtidle/idle_residency_ms", "1500\n");
    gpu_tree_text(&world.tree, GT "1/gtidle/idle_residency_ms", "10000\n");
    intel_world_sample(&world, 0, 1);
    CHECK_UINT(intel_kernel_open(), 10);
    CHECK_UINT(intel_kernel.counters[0].type, 40);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND, 0.5);
    intel_kernel_wind(ticks(2, 0, 0), 300);
    intel_kernel_wind(ticks(3, 0, 0), 1000);
    intel_kernel_wind(ticks(2, 2, 1), 20);
    intel_kernel_wind(ticks(3, 2, 1), 1000);
    intel_world_sample(&world, 0, 1);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_HAVE, 0.3);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics", VITALS_HAVE, 0.3);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_BUSY_SECONDS, "graphics", VITALS_HAVE, 0.3);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "video", VITALS_HAVE, 0.02);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "compute", VITALS_HAVE, 0);
    for (unsigned i = 0; i < 4; i++) {
        intel_kernel_wind(ticks(2, 0, 0), i); // a blinking cursor
        intel_kernel_wind(ticks(3, 0, 0), 1000);
        intel_world_sample(&world, 0, 1);
    }
    CHECK_UINT(intel_kernel_open(), 10);
    intel_world_sample(&world, 0, 1); // five seconds of hardly anything
    CHECK_UINT(intel_kernel_open(), 0);
    // It sleeps now, and they are not opened again.
    gpu_tree_text(&world.tree, GT "0/gtidle/idle_residency_ms", "2500\n");
    gpu_tree_text(&world.tree, GT "1/gtidle/idle_residency_ms", "11000\n");
    intel_world_sample(&world, 0, 1);
    CHECK_UINT(intel_kernel_open(), 0);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND, 0);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "graphics", VITALS_UPPER_BOUND, 0);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_BUSY_SECONDS, "graphics", VITALS_HAVE, 0.306);
    intel_world_sample(&world, 0, 1); // awake: what it did before the counters were open is lost
    CHECK_UINT(intel_kernel_open(), 10);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_BUSY_SECONDS, "graphics", VITALS_LOWER_BOUND, 0.306);
    intel_world_end(&world);
}

static void more_engines_than_are_counted_make_an_estimate(void)
{
    static const char idle[] = "sys/devices/pci0000:97/0000:97:01.0/0000:98:00.0/0000:99:01.0/"
                               "0000:9a:00.0/tile1/gt1/gtidle/idle_residency_ms";
    intel_world_begin(&world, "xe-tiles");
    intel_kernel.refusal = 0; // whatever is asked for is there
    intel_world_sample(&world, 0, 0);
    gpu_tree_text(&world.tree, idle, "90100\n");
    intel_world_sample(&world, 0, 1);
    CHECK_UINT(intel_kernel_open(), OS_PERF_EVENTS);
    intel_world_sample(&world, 0, 1);
    CHECK_MISSING(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "copy", VITALS_ESTIMATE);
    CHECK_MISSING(&world, VITALS_GPU_ENGINE_BUSY_SECONDS, "copy", VITALS_LOWER_BOUND);
    CHECK_MISSING(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_ESTIMATE);
    intel_world_end(&world);
}

static void a_tile_has_its_own_engines_and_clock(void)
{
    static const char idle[] = "sys/devices/pci0000:97/0000:97:01.0/0000:98:00.0/0000:99:01.0/"
                               "0000:9a:00.0/tile1/gt1/gtidle/idle_residency_ms";
    intel_world_begin(&world, "xe-tiles");
    intel_kernel.refusal = 0;
    for (unsigned gt = 0; gt < 2; gt++)
        for (unsigned instance = 0; instance < 4; instance++)
            for (unsigned event = 2; event < 4; event++)
                intel_kernel.configs[intel_kernel.config_count++] = ticks(event, 4, gt) |
                                                                    (uint64_t)instance << 12;
    intel_world_sample(&world, 2, 0);
    gpu_tree_text(&world.tree, idle, "90100\n");
    intel_world_sample(&world, 2, 1);
    CHECK_WORDS(&world, VITALS_GPU_PARTITION_KIND, "tile");
    CHECK_VALUE(&world, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", VITALS_HAVE, 0);
    CHECK_VALUE(&world, VITALS_GPU_CLOCK_FREQUENCY_REQUESTED_HERTZ, "graphics", VITALS_HAVE, 900e6);
    CHECK_VALUE(&world, VITALS_GPU_IDLE_RESIDENCY_SECONDS, "", VITALS_HAVE, 90.1);
    CHECK_VALUE(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND, 0.9);
    CHECK_UINT(intel_world_rows(&world, VITALS_TABLE_GPU_SENSOR), 0);
    CHECK_UINT(intel_kernel_open(), 8); // those of its own GT
    intel_kernel_wind(ticks(2, 4, 1) | 3 << 12, 50);
    intel_kernel_wind(ticks(3, 4, 1) | 3 << 12, 100);
    intel_world_sample(&world, 2, 1);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "compute", VITALS_HAVE, 0.125);
    CHECK_VALUE(&world, VITALS_GPU_ENGINE_CAPACITY, "compute", VITALS_HAVE, 4);
    intel_world_end(&world);
}

static const check_test tests[] = {
    {"engines are counted where that is permitted", engines_are_counted_where_that_is_permitted},
    {"counting that is denied is tried once", counting_that_is_denied_is_tried_once},
    {"nonsense of a counter is failed", nonsense_of_a_counter_is_failed},
    {"a unit that goes away is opened again", a_unit_that_goes_away_is_opened_again},
    {"counters that keep it awake are open only while it works",
     counters_that_keep_it_awake_are_open_only_while_it_works},
    {"more engines than are counted make an estimate",
     more_engines_than_are_counted_make_an_estimate},
    {"a tile has its own engines and clock", a_tile_has_its_own_engines_and_clock},
};
CHECK_TESTS(tests)
