/* Every reading of an NVIDIA device on the simulated driver library (tests/nvml): what comes out,
 * and how many calls of the driver it costs. */
#include "nvidia_world.h"

static void readings_are_in_base_units(void)
{
    static const struct {
        vitals_metric metric;
        double value;
    } cases[] = {
        {VITALS_GPU_MEMORY_TOTAL_BYTES, 80.0 * (1 << 30)},
        {VITALS_GPU_MEMORY_USED_BYTES, 20.0 * (1 << 30)},
        {VITALS_GPU_MEMORY_RESERVED_BYTES, 512.0 * (1 << 20)},
        {VITALS_GPU_MEMORY_FREE_BYTES, 59.5 * (1 << 30)},
        {VITALS_GPU_UTILIZATION_RATIO, 0.42},
        {VITALS_GPU_MEMORY_BUSY_RATIO, 0.17},
        {VITALS_GPU_BUSY_SECONDS, 0},
        {VITALS_GPU_POWER_WATTS, 312},
        {VITALS_GPU_POWER_LIMIT_WATTS, 700},
        {VITALS_GPU_ENERGY_JOULES, 1000},
        {VITALS_GPU_TEMPERATURE_CELSIUS, 41},
        {VITALS_GPU_FAN_RATIO, 0.31},
        {VITALS_GPU_PERFORMANCE_STATE, 0},
        {VITALS_GPU_PERSISTENCE_MODE, 1},
        {VITALS_GPU_DISPLAY_ACTIVE, 0},
        {VITALS_GPU_MIG_MODE, 0},
        {VITALS_GPU_ECC_ERRORS_UNCORRECTED, 0},
        {VITALS_GPU_ECC_ERRORS_CORRECTED, 2},
        {VITALS_GPU_ECC_ERRORS_UNCORRECTED_EVER, 1},
        {VITALS_GPU_ECC_ERRORS_CORRECTED_EVER, 12},
        {VITALS_GPU_MULTIPROCESSORS, 132},
        {VITALS_GPU_MEMORY_BUS_BITS, 5120},
        {VITALS_GPU_UNIFIED_MEMORY, 0},
        {VITALS_GPU_DISPLAY_ATTACHED, 0},
        {VITALS_GPU_ECC_MODE, 1},
        {VITALS_GPU_ECC_MODE_PENDING, 1},
        {VITALS_GPU_MIG_MODE_PENDING, 0},
        {VITALS_GPU_ACCOUNTING_MODE, 1},
        {VITALS_GPU_POWER_LIMIT_SET_WATTS, 700},
        {VITALS_GPU_POWER_LIMIT_DEFAULT_WATTS, 700},
        {VITALS_GPU_POWER_LIMIT_MIN_WATTS, 200},
        {VITALS_GPU_POWER_LIMIT_MAX_WATTS, 700},
        {VITALS_GPU_THROTTLED_BY_POWER, 1},
        {VITALS_GPU_THROTTLED_BY_TEMPERATURE, 0},
        {VITALS_GPU_THROTTLED_OTHERWISE, 0},
        {VITALS_GPU_THROTTLED_POWER_SECONDS, 1e-6},
        {VITALS_GPU_THROTTLED_THERMAL_SECONDS, 0},
        {VITALS_GPU_REMAPPED_ROWS_CORRECTED, 1},
        {VITALS_GPU_REMAPPED_ROWS_UNCORRECTED, 0},
        {VITALS_GPU_REMAPPED_ROWS_PENDING, 0},
        {VITALS_GPU_REMAPPED_ROWS_FAILED, 0},
        {VITALS_GPU_XID_ERRORS, 0},
        {VITALS_GPU_PCIE_GENERATION, 5},
        {VITALS_GPU_PCIE_GENERATION_MAX, 5},
        {VITALS_GPU_PCIE_WIDTH, 16},
        {VITALS_GPU_PCIE_WIDTH_MAX, 16},
        {VITALS_GPU_PCIE_REPLAYS, 3},
        {VITALS_GPU_ACCOUNTING_PIDS, 0},
    };
    static const struct {
        vitals_metric metric;
        const char *text;
    } texts[] = {
        {VITALS_GPU_SERIAL, "1650023000000"},
        {VITALS_GPU_VBIOS_VERSION, "96.00.74.00.01"},
        {VITALS_GPU_BOARD_PART_NUMBER, "692-2G520-0200-000"},
        {VITALS_GPU_ARCHITECTURE, "hopper"},
        {VITALS_GPU_BRAND, "nvidia"},
        {VITALS_GPU_COMPUTE_CAPABILITY, "9.0"},
        {VITALS_GPU_DEVICE_NODE, "/dev/nvidia0"},
        {VITALS_GPU_COMPUTE_MODE, "default"},
        {VITALS_GPU_THROTTLE_REASONS, "sw_power_cap"},
    };
    static const struct {
        vitals_metric metric;
        const char *label;
        double value;
    } children[] = {
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "encoder", 0.03},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "decoder", 0.04},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "jpeg", 0.05},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, "optical_flow", 0.06},
        {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", 41},
        {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory", 53},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "graphics", 1755e6},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm", 1740e6},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "memory", 2619e6},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "video", 1545e6},
        {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "sm", 1980e6},
        {VITALS_GPU_CLOCK_FREQUENCY_REQUESTED_HERTZ, "memory", 2619e6},
        {VITALS_GPU_SENSOR_HIGH_CELSIUS, "gpu", 92},
        {VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "gpu", 95},
        {VITALS_GPU_SENSOR_HIGH_CELSIUS, "memory", 105},
        {VITALS_GPU_SENSOR_FAN_RATIO, "fan0", 0.31},
        {VITALS_GPU_SENSOR_FAN_RATIO, "fan1", 0.33},
        {VITALS_GPU_SENSOR_FAN_RPM, "fan1", 1450},
        {VITALS_GPU_LINK_SPEED_BYTES_PER_SECOND, "nvlink3", 26562e6},
    };
    static const struct {
        vitals_metric metric;
        const char *label;
        uint64_t value;
    } counts[] = {
        {VITALS_GPU_POOL_TOTAL_BYTES, "bar1", UINT64_C(128) << 30},
        {VITALS_GPU_POOL_USED_BYTES, "bar1", UINT64_C(16) << 20},
        {VITALS_GPU_LINK_ACTIVE, "nvlink0", 1},
        {VITALS_GPU_LINK_VERSION, "nvlink0", 6},
        {VITALS_GPU_LINK_TRANSMITTED_BYTES, "nvlink0", 4000 << 10},
        {VITALS_GPU_LINK_RECEIVED_BYTES, "nvlink0", 8000 << 10},
        {VITALS_GPU_LINK_RECEIVED_BYTES, "nvlink3", 8600 << 10}, /* it moves from read to read */
        {VITALS_GPU_LINK_CRC_ERRORS, "nvlink2", 0},
        {VITALS_GPU_ERROR_CORRECTED, "device_memory", 2},
        {VITALS_GPU_ERROR_UNCORRECTED_EVER, "device_memory", 1},
        {VITALS_GPU_ERROR_CORRECTED, "l2_cache", 0},
    };
    open_driver("r580", NULL);
    sample_all(0);
    for (size_t i = 0; i < CHECK_COUNT(cases); i++)
        check_number(cases[i].metric, cases[i].value);
    for (size_t i = 0; i < CHECK_COUNT(texts); i++)
        CHECK_STR(gpu_world_text(&world, texts[i].metric), texts[i].text);
    for (size_t i = 0; i < CHECK_COUNT(children); i++) {
        CHECK_CASE(children[i].label);
        struct value value = gpu_world_child(&world, children[i].metric, children[i].label);
        CHECK_INT(value.state, VITALS_HAVE);
        CHECK_NEAR(value.as.f64, children[i].value, 1e-6);
    }
    for (size_t i = 0; i < CHECK_COUNT(counts); i++) {
        CHECK_CASE(vitals_metric_name(counts[i].metric));
        struct value value = gpu_world_child(&world, counts[i].metric, counts[i].label);
        CHECK_INT(value.state, VITALS_HAVE);
        CHECK_UINT(value.as.u64, counts[i].value);
    }
    check_missing(VITALS_GPU_XID_LAST, VITALS_NOT_YET);
    check_missing(VITALS_GPU_DRIVER_MODEL, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_RETIRED_PAGES_CORRECTED, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_RETIRED_PAGES_PENDING, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_THROTTLED_BY_CURRENT, VITALS_UNSUPPORTED);
    close_driver();
}

static void compute_mode_is_a_word(void)
{
    static const char *const words[] = {"default", "exclusive_thread", "prohibited",
                                        "exclusive_process"};
    open_driver("r580", NULL);
    for (unsigned i = 0; i < CHECK_COUNT(words); i++) {
        char number[8];
        snprintf(number, sizeof number, "%u", i);
        gpu_world_set(&world, "gpu 0", "compute_mode", number);
        sample_all(0);
        CHECK_INT(reading(VITALS_GPU_COMPUTE_MODE).state, VITALS_HAVE);
        CHECK_STR(gpu_world_text(&world, VITALS_GPU_COMPUTE_MODE), words[i]);
    }
    gpu_world_set(&world, "gpu 0", "compute_mode", "9");
    sample_all(0);
    CHECK_INT(reading(VITALS_GPU_COMPUTE_MODE).state, VITALS_FAILED);
    close_driver();
}

static void busy_time_is_the_integral_of_utilization(void)
{
    open_driver("r580", NULL);
    sample_all(0);
    world.now_ns += 10 * NS_PER_SECOND;
    sample_all(0);
    check_number(VITALS_GPU_BUSY_SECONDS, 4.2);
    CHECK_INT(reading(VITALS_GPU_BUSY_SECONDS).state, VITALS_SAMPLED);
    gpu_world_set(&world, "gpu 0", "utilization_gpu_percent", "error:999");
    world.now_ns += 10 * NS_PER_SECOND;
    sample_all(0);
    check_missing(VITALS_GPU_BUSY_SECONDS, VITALS_FAILED);
    gpu_world_set(&world, "gpu 0", "utilization_gpu_percent", "100");
    world.now_ns += 10 * NS_PER_SECOND;
    sample_all(0);
    check_number(VITALS_GPU_BUSY_SECONDS, 4.2);
    world.now_ns += NS_PER_SECOND;
    sample_all(0);
    check_number(VITALS_GPU_BUSY_SECONDS, 5.2);
    close_driver();
}

static void nonsense_is_failed(void)
{
    open_driver("r580", NULL);
    gpu_world_set(&world, "gpu 0", "utilization_gpu_percent", "3735928559");
    gpu_world_set(&world, "gpu 0", "memory_used_bytes", "90GiB");
    gpu_world_set(&world, "gpu 0", "memory_free_bytes", "1GiB");
    gpu_world_set(&world, "gpu 0", "performance_state", "32");
    sample_all(0);
    check_missing(VITALS_GPU_UTILIZATION_RATIO, VITALS_FAILED);
    check_missing(VITALS_GPU_BUSY_SECONDS, VITALS_FAILED);
    check_missing(VITALS_GPU_MEMORY_USED_BYTES, VITALS_FAILED);
    check_number(VITALS_GPU_MEMORY_TOTAL_BYTES, 80.0 * (1 << 30));
    check_missing(VITALS_GPU_PERFORMANCE_STATE, VITALS_UNSUPPORTED); /* the driver's "unknown" */
    check_number(VITALS_GPU_POWER_WATTS, 312);
    close_driver();
}

/* ---- how often the driver is called ---- */

static uint64_t calls_of_sample(const struct metric_set *wanted)
{
    uint64_t before = gpu_world_calls(&world, NULL);
    for (uint32_t i = 0; i < world.scan.count; i++)
        gpu_world_sample(&world, world.scan.devices[i].slot, wanted);
    return gpu_world_calls(&world, NULL) - before;
}

static void a_metric_costs_one_call(void)
{
    static const struct {
        vitals_metric metric;
        unsigned calls;
    } cases[] = {
        {VITALS_GPU_INDEX, 0},
        {VITALS_GPU_NAME, 0},
        {VITALS_GPU_PROCESSES, 0},
        {VITALS_GPU_MEMORY_USED_BYTES, 1},
        {VITALS_GPU_UTILIZATION_RATIO, 1},
        {VITALS_GPU_BUSY_SECONDS, 1},
        {VITALS_GPU_POWER_WATTS, 1},
        {VITALS_GPU_POWER_LIMIT_WATTS, 1},
        {VITALS_GPU_ENERGY_JOULES, 1},
        {VITALS_GPU_TEMPERATURE_CELSIUS, 1},
        {VITALS_GPU_FAN_RATIO, 1},
        {VITALS_GPU_PERFORMANCE_STATE, 1},
        {VITALS_GPU_COMPUTE_MODE, 1},
        {VITALS_GPU_PERSISTENCE_MODE, 1},
        {VITALS_GPU_DISPLAY_ACTIVE, 1},
        {VITALS_GPU_MIG_MODE, 1},
        {VITALS_GPU_ECC_ERRORS_UNCORRECTED, 1},
        {VITALS_GPU_ENGINE_UTILIZATION_RATIO, 4},
        {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, 2},
        {VITALS_GPU_SENSOR_HIGH_CELSIUS, 2},
        {VITALS_GPU_SENSOR_FAN_RPM, 2},
        {VITALS_GPU_SENSOR_FAN_RATIO, 2},
        {VITALS_GPU_THROTTLE_REASONS, 1},
        {VITALS_GPU_THROTTLED_BY_POWER, 1},
        {VITALS_GPU_REMAPPED_ROWS_FAILED, 1},
        {VITALS_GPU_XID_ERRORS, 1},
        {VITALS_GPU_MULTIPROCESSORS, 1},
        {VITALS_GPU_COMPUTE_CAPABILITY, 0},
        {VITALS_GPU_DEVICE_NODE, 0},
        {VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, 1},
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, 4},
        {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, 4},
        {VITALS_GPU_POOL_USED_BYTES, 1},
        {VITALS_GPU_PROCESS_MEMORY_USED_BYTES, 0},
    };
    open_driver("r580", "eight");
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(vitals_metric_name(cases[i].metric));
        struct metric_set only = gpu_world_only(cases[i].metric);
        CHECK_UINT(calls_of_sample(&only), 8 * cases[i].calls);
    }
    close_driver();
}

/* Of a default request; every_ns: those that are read at each tick, or also the slower ones. */
static struct metric_set usual(uint64_t every_ns)
{
    struct metric_set set = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        if (metric_in_sets(m, VITALS_SET_GPUS) && vitals_metric_every_ns(m) <= every_ns)
            metric_set_add(&set, m);
    }
    return set;
}

/* What a monitor asks for at each tick, and what it asks for every five seconds, and once a
 * minute. docs/decisions.md cites these. */
static void a_tick_costs_what_it_must(void)
{
    static const struct {
        uint64_t every_ns;
        unsigned calls;
    } cases[] = {{0, 24}, {5 * NS_PER_SECOND, 37}, {60 * NS_PER_SECOND, 49}};
    open_driver("r580", "eight");
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct metric_set set = usual(cases[i].every_ns);
        (void)calls_of_sample(&set); /* now it knows what there is not */
        CHECK_UINT(calls_of_sample(&set), 8 * cases[i].calls);
    }
    close_driver();
}

/* ---- never more calls than values ---- */

static unsigned count_shown(void)
{
    unsigned shown = 0;
    for (size_t i = 0; i < world.sample.batch.count; i++) {
        signed char state = world.sample.batch.items[i].state;
        shown += state > 0 || state == VITALS_NOT_YET;
    }
    return shown;
}

/* Of a partition it alone knows how busy it is. */
static bool is_of_monitor(const struct gpu_identity *who, vitals_metric metric)
{
    if (who->parent_slot >= 0 &&
        (metric == VITALS_GPU_UTILIZATION_RATIO || metric == VITALS_GPU_BUSY_SECONDS))
        return true;
    return metric == VITALS_GPU_SM_ACTIVE_RATIO || metric == VITALS_GPU_SM_OCCUPANCY_RATIO ||
           metric == VITALS_GPU_TENSOR_ACTIVE_RATIO || metric == VITALS_GPU_MEMORY_BANDWIDTH_RATIO;
}

static void check_price(uint32_t slot, const struct metric_set *wanted, unsigned least)
{
    for (int i = 0; i < 2; i++) { /* what is begun once, and the first of two samples */
        gpu_world_sample(&world, slot, wanted);
        world.now_ns += 110 * NS_PER_MS;
    }
    uint64_t before = gpu_world_calls(&world, NULL);
    gpu_world_sample(&world, slot, wanted);
    uint64_t calls = gpu_world_calls(&world, NULL) - before;
    if (calls > count_shown() && calls > least)
        CHECK_FAIL("%u calls for %u values of slot %u of %s", (unsigned)calls, count_shown(), slot,
                   world.nvml_path);
}

/* All that it tells together costs the same two calls. */
static void check_monitor(const struct gpu_identity *who)
{
    struct metric_set all = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        struct metric_set only = gpu_world_only(m);
        if (!is_of_monitor(who, m))
            continue;
        CHECK_CASE(vitals_metric_name(m));
        check_price(who->slot, &only, 2);
        metric_set_add(&all, m);
    }
    CHECK_CASE("the monitor");
    check_price(who->slot, &all, 0);
}

/* The monitor alone takes two calls: a sample, and what stands between two of them. */
static void calls_are_never_more_than_values(void)
{
    static const char *const scenarios[] = {
        "two-healthy", "mig", "mig-hopper", "ailing", "not-available", "unified-memory", "eight"};
    for (size_t v = 0; v < CHECK_COUNT(variants); v++) {
        for (size_t i = 0; i < CHECK_COUNT(scenarios); i++) {
            open_driver(variants[v], scenarios[i]);
            struct metric_set everything = gpu_world_wanted(0);
            for (uint32_t d = 0; d < world.scan.count; d++) {
                const struct gpu_identity *who = &world.scan.devices[d];
                CHECK_CASE(scenarios[i]);
                check_price(who->slot, &everything, 0);
                for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
                    struct metric_set only = gpu_world_only(m);
                    CHECK_CASE(vitals_metric_name(m));
                    if (metric_set_has(&everything, m) && !is_of_monitor(who, m))
                        check_price(who->slot, &only, 0);
                }
                check_monitor(who);
            }
            close_driver();
        }
    }
}

static uint64_t calls_of_processes(const struct metric_set *wanted)
{
    uint64_t before = gpu_world_calls(&world, NULL);
    gpu_world_processes(&world, 0, wanted);
    return gpu_world_calls(&world, NULL) - before;
}

/* Compute and graphics; MPS clients if the type is wanted and a process computes; samples. */
static void processes_cost_two_calls_and_their_shares_a_third(void)
{
    struct metric_set lists = gpu_world_only(VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    struct metric_set types = gpu_world_only(VITALS_GPU_PROCESS_TYPE);
    struct metric_set shares = usual(0);
    open_driver("r580", "eight");
    CHECK_UINT(calls_of_processes(&lists), 2);
    CHECK_UINT(calls_of_processes(&types), 3);
    CHECK_UINT(calls_of_processes(&shares), 4);
    close_driver();
    open_driver("r580", NULL); /* no processes: no shares to ask for */
    CHECK_UINT(calls_of_processes(&shares), 2);
    close_driver();
}

/* ---- what is beside the common ---- */

static void reasons_are_causes_and_words(void)
{
    static const struct {
        const char *bits, *words;
        unsigned power, temperature, otherwise;
    } cases[] = {
        {"0", "", 0, 0, 0},
        {"0x1", "", 0, 0, 0}, /* idle */
        {"0x2", "", 0, 0, 0}, /* set by a person */
        {"0x80", "hw_power_brake_slowdown", 1, 0, 0},
        {"0x48", "hw_thermal_slowdown", 0, 1, 0}, /* the hardware's, and which of them */
        {"0x8", "hw_slowdown", 0, 0, 1},
        {"0x24", "sw_power_cap,sw_thermal_slowdown", 1, 1, 0},
        {"0x110", "sync_boost,display_clock_setting", 0, 0, 1},
        {"0x100000000000", "0x100000000000", 0, 0, 1}, /* of a newer driver */
    };
    static const char *const drivers[] = {"r580", "r470"};
    for (size_t d = 0; d < CHECK_COUNT(drivers); d++) {
        open_driver(drivers[d], NULL);
        for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
            CHECK_CASE(cases[i].bits);
            gpu_world_set(&world, "gpu 0", "clocks_event_reasons", cases[i].bits);
            sample_all(0);
            CHECK_STR(gpu_world_text(&world, VITALS_GPU_THROTTLE_REASONS), cases[i].words);
            check_number(VITALS_GPU_THROTTLED_BY_POWER, cases[i].power);
            check_number(VITALS_GPU_THROTTLED_BY_TEMPERATURE, cases[i].temperature);
            check_number(VITALS_GPU_THROTTLED_OTHERWISE, cases[i].otherwise);
        }
        close_driver();
    }
}

static void an_ailing_device_tells_what_it_lost(void)
{
    open_driver("r580", "ailing");
    sample_all(0);
    check_number(VITALS_GPU_ECC_ERRORS_UNCORRECTED, 2);
    check_number(VITALS_GPU_ECC_ERRORS_UNCORRECTED_EVER, 17);
    check_number(VITALS_GPU_ECC_ERRORS_CORRECTED_EVER, 123456789012.0);
    check_number(VITALS_GPU_RETIRED_PAGES_CORRECTED, 3);
    check_number(VITALS_GPU_RETIRED_PAGES_UNCORRECTED, 2);
    check_number(VITALS_GPU_RETIRED_PAGES_PENDING, 1);
    check_number(VITALS_GPU_REMAPPED_ROWS_UNCORRECTED, 8);
    check_number(VITALS_GPU_REMAPPED_ROWS_FAILED, 1);
    check_number(VITALS_GPU_THROTTLED_THERMAL_SECONDS, 1);
    check_number(VITALS_GPU_PCIE_WIDTH, 4);
    CHECK_UINT(gpu_world_child(&world, VITALS_GPU_LINK_ACTIVE, "nvlink0").as.u64, 0);
    CHECK_UINT(gpu_world_child(&world, VITALS_GPU_LINK_ACTIVE, "nvlink1").as.u64, 1);
    CHECK_UINT(gpu_world_child(&world, VITALS_GPU_LINK_ACTIVE, "nvlink11").as.u64, 1);
    CHECK_INT(gpu_world_child(&world, VITALS_GPU_LINK_ACTIVE, "nvlink12").state, VITALS_UNSET);
    close_driver();
}

static void traffic_of_the_bus_is_asked_for_alone(void)
{
    struct metric_set slow = {0}, all = gpu_world_wanted(0);
    metric_set_add(&slow, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
    metric_set_add(&slow, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND);
    open_driver("r580", NULL);
    gpu_world_sample(&world, 0, &slow);
    check_number(VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, 250000.0 * 1024);
    check_number(VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, 125000.0 * 1024);
    CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetPcieThroughput"), 2);
    gpu_world_sample(&world, 0, &all);
    CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetPcieThroughput"), 2);
    close_driver();
}

static void the_other_end_of_a_link_is_named(void)
{
    static const struct {
        const char *number, *kind;
    } cases[] = {{"0", "gpu"}, {"1", "cpu"}, {"2", "switch"}, {"255", ""}};
    struct metric_set links = gpu_world_wanted(VITALS_TABLE_GPU_LINK);
    open_driver("r580", NULL);
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        gpu_world_set(&world, "gpu 0", "nvlink_remote_kind", cases[i].number);
        world.now_ns += 120 * NS_PER_SECOND;
        gpu_world_sample(&world, 0, &links);
        const struct batch_row *row = gpu_sample_row(&world.sample, VITALS_TABLE_GPU_LINK,
                                                     "nvlink1");
        CHECK_NOT_NULL(row);
        const struct batch_cell *kind = batch_find(&world.sample.batch, row,
                                                   VITALS_GPU_LINK_REMOTE_KIND);
        const struct batch_cell *bus = batch_find(&world.sample.batch, row,
                                                  VITALS_GPU_LINK_REMOTE_PCI_BUS_ID);
        CHECK(span_equal(batch_span(&world.sample.batch, bus), "00000000:C5:00.0"));
        CHECK_INT(kind->state, cases[i].kind[0] ? VITALS_HAVE : VITALS_UNSUPPORTED);
        if (kind->state > 0)
            CHECK(span_equal(batch_span(&world.sample.batch, kind), cases[i].kind));
    }
    close_driver();
}

static void the_speed_of_all_links_stands_for_each(void)
{
    struct metric_set speed = gpu_world_only(VITALS_GPU_LINK_SPEED_BYTES_PER_SECOND);
    open_driver("r580", write_scenario("[gpu 0]\nfield_164 = N/A\n"));
    for (int i = 0; i < 2; i++) {
        gpu_world_sample(&world, 0, &speed);
        struct value value = gpu_world_child(&world, VITALS_GPU_LINK_SPEED_BYTES_PER_SECOND,
                                             "nvlink3");
        CHECK_INT(value.state, VITALS_HAVE);
        CHECK_NEAR(value.as.f64, 26562e6, 1);
    }
    /* how many links; of each and of all; then of all alone */
    CHECK_UINT(gpu_world_calls(&world, "nvmlDeviceGetFieldValues"), 4);
    close_driver();
    write_scenario(NULL);
}

static void rows_stay_whatever_is_wanted_of_them(void)
{
    static const struct {
        vitals_metric metric;
        const char *label;
    } cases[] = {{VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "fan1"},
                 {VITALS_GPU_SENSOR_FAN_RPM, "memory"},
                 {VITALS_GPU_SENSOR_HIGH_CELSIUS, "fan0"},
                 {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "video"},
                 {VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ, "sm"},
                 {VITALS_GPU_ENGINE_CAPACITY, "jpeg"},
                 {VITALS_GPU_LINK_KIND, "nvlink3"},
                 {VITALS_GPU_POOL_TOTAL_BYTES, "bar1"},
                 {VITALS_GPU_ERROR_DEFERRED, "device_memory"}};
    open_driver("r580", NULL);
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct metric_set only = gpu_world_only(cases[i].metric);
        CHECK_CASE(vitals_metric_name(cases[i].metric));
        gpu_world_sample(&world, 0, &only);
        CHECK_NOT_NULL(
            gpu_sample_row(&world.sample, vitals_metric_table(cases[i].metric), cases[i].label));
    }
    close_driver();
}

/* ---- Xids ---- */

static void xids_are_counted_from_the_first_scan_on(void)
{
    struct metric_set xids = gpu_world_only(VITALS_GPU_XID_ERRORS);
    metric_set_add(&xids, VITALS_GPU_XID_LAST);
    open_driver("r580", write_scenario("[gpu 0]\nxids = 5\n[gpu 1]\n"));
    gpu_world_sample(&world, 0, &xids);
    check_number(VITALS_GPU_XID_ERRORS, 0);
    check_missing(VITALS_GPU_XID_LAST, VITALS_NOT_YET);
    gpu_world_set(&world, "gpu 0", "xids", "8");
    gpu_world_set(&world, "gpu 0", "xid", "48");
    gpu_world_sample(&world, 1, &xids);
    check_number(VITALS_GPU_XID_ERRORS, 0);
    gpu_world_sample(&world, 0, &xids);
    check_number(VITALS_GPU_XID_ERRORS, 3);
    check_number(VITALS_GPU_XID_LAST, 48);
    gpu_world_set(&world, "gpu 0", "xids", "108"); /* a storm takes several samples */
    for (unsigned seen = 3; seen < 103; seen = (unsigned)reading(VITALS_GPU_XID_ERRORS).as.u64)
        gpu_world_sample(&world, 0, &xids);
    check_number(VITALS_GPU_XID_ERRORS, 103);
    close_driver();
    write_scenario(NULL);
}

static void a_device_without_events_says_so(void)
{
    open_driver("r580", write_scenario("[gpu 0]\nsupported_events = 0\n[gpu 1]\n"
                                       "supported_events = error:4\n"));
    sample_all(0);
    check_missing(VITALS_GPU_XID_ERRORS, VITALS_UNSUPPORTED);
    check_missing(VITALS_GPU_XID_LAST, VITALS_UNSUPPORTED);
    sample_all(1);
    check_missing(VITALS_GPU_XID_ERRORS, VITALS_DENIED);
    close_driver();
    write_scenario(NULL);
}

/* ---- the performance monitor ---- */

static void sample_monitor(uint32_t slot)
{
    struct metric_set set = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        if (is_of_monitor(&world.scan.devices[slot], m))
            metric_set_add(&set, m);
    }
    gpu_world_sample(&world, slot, &set);
}

static void the_monitor_stands_between_two_samples(void)
{
    open_driver("r580", NULL);
    struct metric_set usually = usual(UINT64_MAX);
    gpu_world_sample(&world, 0, &usually);
    CHECK_UINT(gpu_world_calls(&world, "nvmlGpmSampleGet"), 0); /* only by name */
    sample_monitor(0);
    check_missing(VITALS_GPU_SM_ACTIVE_RATIO, VITALS_NOT_YET);
    sample_monitor(0);
    check_missing(VITALS_GPU_SM_ACTIVE_RATIO, VITALS_NOT_YET); /* too soon */
    CHECK_UINT(gpu_world_calls(&world, "nvmlGpmSampleGet"), 1);
    for (int i = 0; i < 3; i++) {
        world.now_ns += NS_PER_SECOND;
        sample_monitor(0);
        check_number(VITALS_GPU_SM_ACTIVE_RATIO, 0.38);
        check_number(VITALS_GPU_SM_OCCUPANCY_RATIO, 0.21);
        check_number(VITALS_GPU_TENSOR_ACTIVE_RATIO, 0.12);
        check_number(VITALS_GPU_MEMORY_BANDWIDTH_RATIO, 0.33);
    }
    CHECK_UINT(gpu_world_calls(&world, "nvmlGpmSampleGet"), 4);
    CHECK_UINT(gpu_world_calls(&world, "nvmlGpmMetricsGet"), 3);
    gpu_world_set(&world, "gpu 0", "gpm_sm_active_percent", "4000");
    gpu_world_set(&world, "gpu 0", "gpm_tensor_percent", "N/A");
    world.now_ns += NS_PER_SECOND;
    sample_monitor(0);
    check_missing(VITALS_GPU_SM_ACTIVE_RATIO, VITALS_FAILED);
    check_missing(VITALS_GPU_TENSOR_ACTIVE_RATIO, VITALS_UNSUPPORTED);
    close_driver();
}

static void an_older_device_has_no_monitor(void)
{
    open_driver("r580", write_scenario("[gpu 0]\ngpm_supported = 0\n"));
    for (int i = 0; i < 3; i++) {
        sample_monitor(0);
        check_missing(VITALS_GPU_SM_ACTIVE_RATIO, VITALS_UNSUPPORTED);
        world.now_ns += NS_PER_SECOND;
    }
    CHECK_UINT(gpu_world_calls(&world, "nvmlGpmQueryDeviceSupport"), 1);
    close_driver();
    open_driver("r470", NULL);
    sample_monitor(0);
    check_missing(VITALS_GPU_SM_ACTIVE_RATIO, VITALS_UNSUPPORTED);
    close_driver();
    write_scenario(NULL);
}

static void an_instance_has_the_monitor_of_its_own(void)
{
    open_driver("r580", write_scenario("[gpu 0]\nmig_mode = 1\n[mig 0:0]\ngi = 3\n"
                                       "gpm_sm_active_percent = 77\n"));
    uint32_t slot = world.scan.devices[1].slot;
    sample_monitor(slot);
    world.now_ns += NS_PER_SECOND;
    sample_monitor(slot);
    check_number(VITALS_GPU_SM_ACTIVE_RATIO, 0.77);
    check_missing(VITALS_GPU_TENSOR_ACTIVE_RATIO, VITALS_UNSUPPORTED);
    CHECK_UINT(gpu_world_calls(&world, "nvmlGpmMigSampleGet"), 2);
    close_driver();
    write_scenario(NULL);
}

static void check_busy(double ratio, double seconds)
{
    const struct batch_cell *cell = gpu_sample_fact(&world.sample, VITALS_GPU_UTILIZATION_RATIO,
                                                    "");
    CHECK_NOT_NULL(cell);
    CHECK_INT(cell->state, VITALS_ESTIMATE);
    CHECK_NEAR(cell->as.f64, ratio, 1e-9);
    cell = gpu_sample_fact(&world.sample, VITALS_GPU_BUSY_SECONDS, "");
    CHECK_INT(cell->state, VITALS_ESTIMATE);
    CHECK_NEAR(cell->as.f64, seconds, 1e-9);
}

/* The driver has no utilization of instances; the monitor of a Hopper has. */
static void an_instance_is_as_busy_as_the_monitor_says(void)
{
    open_driver("r580", "mig-hopper");
    struct metric_set usually = usual(UINT64_MAX);
    uint32_t busy = world.scan.devices[1].slot, idle = world.scan.devices[2].slot;
    gpu_world_sample(&world, busy, &usually);
    check_missing(VITALS_GPU_UTILIZATION_RATIO, VITALS_NOT_YET);
    check_missing(VITALS_GPU_BUSY_SECONDS, VITALS_NOT_YET);
    gpu_world_sample(&world, idle, &usually);
    world.now_ns += 2 * NS_PER_SECOND;
    gpu_world_sample(&world, busy, &usually);
    check_busy(0.8, 1.6);
    CHECK_NULL(gpu_sample_fact(&world.sample, VITALS_GPU_SM_ACTIVE_RATIO, "")); /* by name only */
    world.now_ns += NS_PER_MS;
    gpu_world_sample(&world, busy, &usually);
    check_busy(0.8, 1.6); /* too soon for another */
    world.now_ns += NS_PER_SECOND - NS_PER_MS;
    gpu_world_sample(&world, busy, &usually);
    check_busy(0.8, 2.4);
    gpu_world_sample(&world, idle, &usually);
    check_busy(0, 0);
    gpu_world_sample(&world, 0, &usually); /* the whole has none, and is not measured unasked */
    check_missing(VITALS_GPU_UTILIZATION_RATIO, VITALS_UNSUPPORTED);
    CHECK_UINT(gpu_world_calls(&world, "nvmlGpmSampleGet"), 0);
    gpu_world_set(&world, "mig 0:0", "gpm_graphics_percent", "170");
    world.now_ns += NS_PER_SECOND;
    gpu_world_sample(&world, busy, &usually);
    check_missing(VITALS_GPU_UTILIZATION_RATIO, VITALS_FAILED);
    close_driver();
}

static void an_instance_of_an_older_device_has_no_utilization(void)
{
    open_driver("r580", "mig");
    struct metric_set usually = usual(UINT64_MAX);
    for (int i = 0; i < 3; i++) {
        gpu_world_sample(&world, world.scan.devices[1].slot, &usually);
        check_missing(VITALS_GPU_UTILIZATION_RATIO, VITALS_UNSUPPORTED);
        check_missing(VITALS_GPU_BUSY_SECONDS, VITALS_UNSUPPORTED);
        world.now_ns += NS_PER_SECOND;
    }
    CHECK_UINT(gpu_world_calls(&world, "nvmlGpmQueryDeviceSupport"), 1);
    close_driver();
}

static const check_test tests[] = {
    {"an instance is as busy as the monitor says", an_instance_is_as_busy_as_the_monitor_says},
    {"an instance of an older device has no utilization",
     an_instance_of_an_older_device_has_no_utilization},
    {"readings are in base units", readings_are_in_base_units},
    {"compute mode is a word", compute_mode_is_a_word},
    {"busy time is the integral of utilization", busy_time_is_the_integral_of_utilization},
    {"nonsense is failed", nonsense_is_failed},
    {"a metric costs one call", a_metric_costs_one_call},
    {"a tick costs what it must", a_tick_costs_what_it_must},
    {"processes cost two calls and their shares a third",
     processes_cost_two_calls_and_their_shares_a_third},
    {"calls are never more than values", calls_are_never_more_than_values},
    {"reasons are causes and words", reasons_are_causes_and_words},
    {"an ailing device tells what it lost", an_ailing_device_tells_what_it_lost},
    {"traffic of the bus is asked for alone", traffic_of_the_bus_is_asked_for_alone},
    {"the other end of a link is named", the_other_end_of_a_link_is_named},
    {"the speed of all links stands for each", the_speed_of_all_links_stands_for_each},
    {"rows stay whatever is wanted of them", rows_stay_whatever_is_wanted_of_them},
    {"Xids are counted from the first scan on", xids_are_counted_from_the_first_scan_on},
    {"a device without events says so", a_device_without_events_says_so},
    {"the monitor stands between two samples", the_monitor_stands_between_two_samples},
    {"an older device has no monitor", an_older_device_has_no_monitor},
    {"an instance has the monitor of its own", an_instance_has_the_monitor_of_its_own},
};
CHECK_TESTS(tests)
