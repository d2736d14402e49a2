/* Drivers that fail: every function of symbols.def is absent once, and every return code that there
 * is is injected at every call, on the simulated driver library (tests/nvml). Nothing may crash,
 * nothing absurd may be shown, and what is missing has the reason of its code. */
#include "nvidia_world.h"

#include "gpu/nvidia/library.h"
#include "gpu/nvidia/state.h"
#include "util/memory.h"

/* Of everything; the monitor needs two readings, and partitions have calls of their own. */
static const char busy[] = "[library]\nsample_period = 0\n"
                           "[gpu 0]\n[gpu 1]\nmig_mode = 1\n[mig 1:0]\ngi = 3\nci = 0\n"
                           "memory_total_bytes = 10GiB\nmemory_used_bytes = 1GiB\n"
                           "multiprocessors = 14\ngpm_sm_active_percent = 50\n"
                           "[process a]\ngpu = 0\npid = 77\nmemory = 1GiB\nsm = 20\n"
                           "kind = C+M\n"
                           "[process b]\ngpu = 0\npid = 78\nkind = G\nmemory = 2GiB\n"
                           "[process c]\ngpu = 1\npid = 79\ngi = 3\nci = 0\nmemory = 1GiB\n";

static const char *const functions[] = {
#define SYMBOL(need, name, ...) #name,
#include "gpu/nvidia/symbols.def"
#undef SYMBOL
};

static const unsigned codes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 999};

/* ---- nothing absurd ---- */

static void check_ratio(vitals_metric metric, const struct batch_cell *cell)
{
    static const char end[] = "_ratio";
    const char *name = vitals_metric_name(metric);
    size_t size = strlen(name);
    bool ratio = size >= sizeof end && strcmp(name + size - strlen(end), end) == 0;
    bool fan = metric == VITALS_GPU_FAN_RATIO || metric == VITALS_GPU_SENSOR_FAN_RATIO;
    if (ratio && !(cell->as.f64 >= 0 && cell->as.f64 <= (fan ? 10 : 1)))
        CHECK_FAIL("%s is %f", name, cell->as.f64);
}

static void check_fact(const struct batch_cell *cell)
{
    vitals_metric metric = cell->metric;
    CHECK(cell->state != VITALS_UNSET);
    CHECK(cell->state >= VITALS_AVAILABILITY_MIN && cell->state <= VITALS_AVAILABILITY_MAX);
    if (cell->state <= 0)
        return;
    if (vitals_metric_type(metric) == VITALS_F64)
        check_ratio(metric, cell);
    if (vitals_metric_type(metric) == VITALS_F64 && vitals_metric_kind(metric) == VITALS_COUNTER)
        CHECK(cell->as.f64 >= 0);
    if (vitals_metric_type(metric) == VITALS_U64)
        CHECK(cell->as.u64 <= EXACT_MAX);
}

static void check_sample(void)
{
    CHECK(world.sample.state != VITALS_UNSET);
    for (size_t i = 0; i < world.sample.batch.count; i++)
        check_fact(&world.sample.batch.items[i]);
    struct value total = reading(VITALS_GPU_MEMORY_TOTAL_BYTES);
    struct value used = reading(VITALS_GPU_MEMORY_USED_BYTES);
    CHECK(total.state <= 0 || used.state <= 0 || used.as.u64 <= total.as.u64);
    if (world.sample.state < 0)
        CHECK_UINT(world.sample.batch.count, 0);
}

static void check_processes(void)
{
    CHECK(world.processes.state != VITALS_UNSET);
    CHECK(world.processes.state > 0 || world.processes.count == 0);
    for (uint32_t i = 0; i < world.processes.count; i++) {
        const struct gpu_process *item = &world.processes.items[i];
        CHECK(item->pid == 77 || item->pid == 78 || item->pid == 79);
        CHECK(item->uses != 0);
        for (unsigned n = 1; n < GPU_PROCESS_NUMBERS; n++) {
            const struct batch_cell cell = {.metric = metric_of(VITALS_TABLE_GPU_PROCESS, n),
                                            .state = item->at[n].state,
                                            .as.u64 = item->at[n].as.u64};
            if (cell.state != VITALS_UNSET)
                check_fact(&cell);
        }
    }
}

static void read_everything(void)
{
    struct metric_set slow = gpu_world_only(VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
    metric_set_add(&slow, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND);
    for (int round = 0; round < 2; round++) {
        gpu_world_scan(&world);
        for (uint32_t i = 0; i < world.scan.count; i++) {
            uint32_t slot = world.scan.devices[i].slot;
            sample_all(slot);
            check_sample();
            gpu_world_sample(&world, slot, &slow);
            check_sample();
            list_all(slot);
            check_processes();
        }
        world.now_ns += NS_PER_SECOND;
    }
}

/* ---- functions that are not there ---- */

static void every_function_may_be_absent(void)
{
    static const char *const required[] = {"nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetCount_v2",
                                           "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID"};
    for (size_t i = 0; i < CHECK_COUNT(functions); i++) {
        char text[sizeof busy + 128];
        bool needed = false;
        CHECK_CASE(functions[i]);
        for (size_t r = 0; r < CHECK_COUNT(required); r++)
            needed = needed || strcmp(functions[i], required[r]) == 0;
        snprintf(text, sizeof text, "[library]\nmissing = %s\n%s", functions[i], busy);
        int opened = gpu_world_open(&world, "nvidia", "r580", write_scenario(text));
        if (!needed)
            CHECK_INT(opened, 0);
        if (opened == 0)
            read_everything();
        close_driver();
    }
    write_scenario(NULL);
}

/* An older library does not have the name. Those that are needed are looked for when it is opened:
 * without them it is none of NVIDIA's. */
static void every_optional_name_may_be_missing(void)
{
    enum { REQUIRED, OPTIONAL };
    static const struct {
        int need;
        size_t place;
    } symbols[] = {
#define SYMBOL(need, name, ...) {need, offsetof(struct nvml, name)},
#include "gpu/nvidia/symbols.def"
#undef SYMBOL
    };
    nvml_plain_call *none = NULL;
    for (size_t i = 0; i < CHECK_COUNT(symbols); i++) {
        if (symbols[i].need == REQUIRED)
            continue;
        CHECK_CASE(functions[i]);
        CHECK_INT(gpu_world_open(&world, "nvidia", "r580", write_scenario(busy)), 0);
        memcpy((char *)&((struct nvidia *)world.state)->nvml + symbols[i].place, &none,
               sizeof none);
        read_everything();
        CHECK(world.scan.count >= 2);
        close_driver();
    }
    write_scenario(NULL);
}

/* ---- codes ---- */

static void inject(const char *function, unsigned code)
{
    char section[96], number[16];
    snprintf(section, sizeof section, "call %s", function);
    snprintf(number, sizeof number, "%u", code);
    gpu_world_set(&world, section, "result", number);
}

/* The library stays where the driver is opened anew for a code; that forgets what was injected. */
static void *hold_library(void)
{
    void *held = dlopen(world.nvml_path, RTLD_LAZY);
    CHECK_NOT_NULL(held);
    return held;
}

static void withdraw(const char *function)
{
    world.now_ns += 61 * NS_PER_SECOND; /* what was absent is asked for anew */
    for (int i = 0; i < 2; i++)
        gpu_world_scan(&world); /* opens it again */
    inject(function, 0);
}

/* Each code at every function of a driver that worked before. */
static void every_code_may_come_at_every_call(void)
{
    open_driver("r580", write_scenario(busy));
    void *held = hold_library();
    read_everything();
    for (size_t i = 0; i < CHECK_COUNT(functions); i++) {
        if (strcmp(functions[i], "nvmlInit_v2") == 0 || strcmp(functions[i], "nvmlShutdown") == 0)
            continue;
        for (size_t c = 0; c < CHECK_COUNT(codes); c++) {
            static char name[128];
            snprintf(name, sizeof name, "%s gives %u", functions[i], codes[c]);
            CHECK_CASE(name);
            inject(functions[i], codes[c]);
            world.now_ns += 61 * NS_PER_SECOND;
            read_everything();
            withdraw(functions[i]);
        }
    }
    world.now_ns += 61 * NS_PER_SECOND;
    read_everything();
    CHECK_UINT(world.scan.count, 3);
    sample_all(world.scan.devices[0].slot);
    check_number(VITALS_GPU_POWER_WATTS, 312);
    close_driver();
    dlclose(held);
    write_scenario(NULL);
}

static void every_code_may_come_at_the_first_call(void)
{
    for (size_t i = 0; i < CHECK_COUNT(functions); i++) {
        for (size_t c = 0; c < CHECK_COUNT(codes); c++) {
            char text[sizeof busy + 128];
            static char name[128];
            snprintf(name, sizeof name, "%s gives %u", functions[i], codes[c]);
            CHECK_CASE(name);
            snprintf(text, sizeof text, "[call %s]\nresult = %u\n%s", functions[i], codes[c], busy);
            if (gpu_world_open(&world, "nvidia", "r580", write_scenario(text)) < 0) {
                CHECK_STR(functions[i], "nvmlInit_v2");
                CHECK(world.scan.state < 0);
                CHECK(world.scan.message[0] != '\0');
                continue;
            }
            read_everything();
            close_driver();
        }
    }
    write_scenario(NULL);
}

/* A number that fails by itself says why. */
static void a_code_is_the_reason_of_its_value(void)
{
    static const struct {
        const char *function;
        vitals_metric metric;
    } cases[] = {
        {"nvmlDeviceGetPowerUsage", VITALS_GPU_POWER_WATTS},
        {"nvmlDeviceGetMemoryInfo_v2", VITALS_GPU_MEMORY_USED_BYTES},
        {"nvmlDeviceGetUtilizationRates", VITALS_GPU_UTILIZATION_RATIO},
        {"nvmlDeviceGetTotalEnergyConsumption", VITALS_GPU_ENERGY_JOULES},
        {"nvmlDeviceGetTemperatureV", VITALS_GPU_TEMPERATURE_CELSIUS},
        {"nvmlDeviceGetComputeMode", VITALS_GPU_COMPUTE_MODE},
        {"nvmlDeviceGetEccMode", VITALS_GPU_ECC_MODE},
        {"nvmlDeviceGetRemappedRows", VITALS_GPU_REMAPPED_ROWS_FAILED},
        {"nvmlDeviceGetCurrentClocksEventReasons", VITALS_GPU_THROTTLED_BY_POWER},
        {"nvmlDeviceGetSerial", VITALS_GPU_SERIAL},
        {"nvmlDeviceGetArchitecture", VITALS_GPU_ARCHITECTURE},
        {"nvmlEventSetWait_v2", VITALS_GPU_XID_ERRORS},
    };
    open_driver("r580", NULL);
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct metric_set only = gpu_world_only(cases[i].metric);
        for (size_t c = 0; c < CHECK_COUNT(codes); c++) {
            vitals_availability expected = nvml_availability(codes[c]);
            bool other = nvml_lacks(codes[c]) || codes[c] == NVML_GPU_IS_LOST ||
                         (codes[c] == NVML_TIMEOUT && cases[i].metric == VITALS_GPU_XID_ERRORS) ||
                         (codes[c] == NVML_NOT_SUPPORTED &&
                          cases[i].metric == VITALS_GPU_MEMORY_USED_BYTES);
            CHECK_CASE(cases[i].function);
            if (other)
                continue; /* an older function, the whole device, no event */
            inject(cases[i].function, codes[c]);
            world.now_ns += 61 * NS_PER_SECOND;
            gpu_world_sample(&world, 0, &only);
            check_missing(cases[i].metric, expected);
            inject(cases[i].function, 0);
        }
    }
    close_driver();
}

/* ---- numbers that no device can have ---- */

static void nonsense_in_every_field_is_never_shown(void)
{
    static const char *const numbers[] = {"max",        "0xffffffff",           "0xfffffffe",
                                          "0x7fffffff", "18446744073709551614", "0"};
    for (size_t v = 0; v < CHECK_COUNT(variants); v++) {
        for (size_t i = 0; i < CHECK_COUNT(numbers); i++) {
            CHECK_CASE(numbers[i]);
            open_driver(variants[v], write_scenario(busy));
            gpu_world_set(&world, "gpu 0", "everything", numbers[i]);
            gpu_world_set(&world, "gpu 1", "everything", numbers[i]);
            gpu_world_set(&world, "mig 1:0", "everything", numbers[i]);
            gpu_world_set(&world, "gpu 0", "garbage_samples", "3");
            gpu_world_set(&world, "gpu 1", "garbage_samples", "3");
            for (uint32_t d = 0; d < world.scan.count; d++) {
                sample_all(world.scan.devices[d].slot);
                check_sample();
                list_all(world.scan.devices[d].slot);
                check_processes();
            }
            close_driver();
        }
    }
    write_scenario(NULL);
}

/* ---- memory ---- */

static void no_memory_is_no_crash(void)
{
    close_driver(); /* left open by a test that failed */
    int64_t live = memory_live();
    for (uint64_t nth = 1; nth < 60; nth++) {
        memory_fail_at(nth);
        if (gpu_world_open(&world, "nvidia", "r580", write_scenario(busy)) == 0) {
            gpu_world_scan(&world);
            for (uint32_t i = 0; i < world.scan.count; i++) {
                sample_all(world.scan.devices[i].slot);
                list_all(world.scan.devices[i].slot);
                CHECK(world.processes.state > 0 || world.processes.count == 0);
            }
        }
        memory_fail_at(0);
        close_driver();
    }
    CHECK_INT(memory_live(), live);
    write_scenario(NULL);
}

static const check_test tests[] = {
    {"every function may be absent", every_function_may_be_absent},
    {"every optional name may be missing", every_optional_name_may_be_missing},
    {"every code may come at every call", every_code_may_come_at_every_call},
    {"every code may come at the first call", every_code_may_come_at_the_first_call},
    {"a code is the reason of its value", a_code_is_the_reason_of_its_value},
    {"nonsense in every field is never shown", nonsense_in_every_field_is_never_shown},
    {"no memory is no crash", no_memory_is_no_crash},
};
CHECK_TESTS(tests)
