/* A scheduler's folder that hangs delays its own values, and no device; a driver that hangs is
 * reported so, whatever else answers for its device.
 *
 * The folder really hangs: it is not in the tree, so opening it fails, and the trace callback
 * blocks the thread until the test lets it go. */
#include "check.h"
#include "fake_clock.h"
#include "gpu_world.h"

#include <stdatomic.h>
#include <vitals/vitals.h>

static const uint64_t LONG_NS = 120 * NS_PER_SECOND; /* on a machine that is busy with others */

static atomic_bool hangs;
static atomic_int inside;

static void trace(void *data, const char *line)
{
    (void)data;
    if (strstr(line, "job-mapping") == NULL)
        return;
    atomic_fetch_add(&inside, 1);
    while (atomic_load(&hangs))
        real_sleep_ns(NS_PER_MS);
    atomic_fetch_sub(&inside, 1);
}

/* With a driver that acts the scenario, and asked for one metric more. */
static vitals_sampler *open_sampler(const struct gpu_tree *tree, const char *act,
                                    vitals_metric more, vitals_context **context)
{
    char driver[512], scenario[512], run[GPU_TREE_PATH], var[GPU_TREE_PATH];
    vitals_options options;
    vitals_request *request;
    vitals_sampler *sampler;
    vitals_error error;
    snprintf(driver, sizeof driver, "%s/tests/nvml/r580/libnvidia-ml.so.1",
             gpu_world_path("VITALS_BUILD"));
    snprintf(scenario, sizeof scenario, "%s/tests/nvml/scenarios/%s",
             gpu_world_path("VITALS_SOURCE"), act);
    setenv("VITALS_NVML_SCENARIO", scenario, 1);
    gpu_tree_path(tree, "run", run);
    gpu_tree_path(tree, "var", var);
    vitals_options_init(&options, sizeof options);
    options.run_root = run;
    options.var_root = var;
    options.nvml_path = driver;
    options.backends = "nvidia";
    options.trace = trace;
    CHECK_OK(vitals_context_new(&options, context, &error), error);
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_request_add(request, VITALS_GPU_POWER_WATTS, &error), error);
    CHECK_OK(vitals_request_add(request, more, &error), error);
    CHECK_OK(vitals_request_add_table(request, VITALS_TABLE_SOURCE, &error), error);
    CHECK_OK(vitals_sampler_new(*context, request, &sampler, &error), error);
    vitals_request_free(request);
    return sampler;
}

static vitals_snapshot *take(vitals_sampler *sampler)
{
    vitals_snapshot *snapshot;
    vitals_error error;
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    return snapshot;
}

/* How many devices say what they draw, as of now. */
static int devices_that_say(const vitals_snapshot *snapshot)
{
    int count = 0;
    double watts;
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row)) != NULL)
        count += vitals_row_number(row, VITALS_GPU_POWER_WATTS, &watts) == VITALS_HAVE;
    return count;
}

static uint64_t hanging_of(const vitals_snapshot *snapshot)
{
    const vitals_row *row = NULL;
    uint64_t count, all = 0;
    while ((row = vitals_snapshot_next(snapshot, VITALS_TABLE_SOURCE, row)) != NULL) {
        if (vitals_row_u64(row, VITALS_SOURCE_QUARANTINED, &count) > 0)
            all += count;
    }
    return all;
}

/* Until two devices say it while the folder hangs, for longer than what counts as hanging. */
static void devices_are_read_while_the_folder_hangs(void)
{
    struct gpu_tree tree = gpu_tree_empty();
    vitals_context *context;
    uint64_t begin = real_now_ns();
    int whole = 0, takes = 0;
    vitals_availability state = VITALS_NOT_YET;
    gpu_tree_text(&tree, "run/gpustat/0", "4711 1000\n");
    gpu_tree_parents(&tree, "var/");
    atomic_store(&hangs, true);
    vitals_sampler *sampler = open_sampler(&tree, "two-healthy.conf", VITALS_GPU_JOB_JOB_ID,
                                           &context);
    while ((whole < 3 || state != VITALS_TIMED_OUT || real_now_ns() < begin + 4 * NS_PER_SECOND) &&
           real_now_ns() < begin + LONG_NS) {
        vitals_snapshot *snapshot = take(sampler);
        whole += atomic_load(&inside) > 0 && devices_that_say(snapshot) == 2;
        CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU_JOB), 0);
        state = vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_JOB);
        CHECK(state <= 0);
        if (takes++ == 0 && devices_that_say(snapshot) == 2) /* it was not waited for that long */
            CHECK_INT(state, VITALS_NOT_YET);
        CHECK_UINT(hanging_of(snapshot), 0); /* no driver is to blame */
        vitals_snapshot_unref(snapshot);
        real_sleep_ns(20 * NS_PER_MS);
    }
    CHECK(whole >= 3);
    CHECK_INT(state, VITALS_TIMED_OUT);
    CHECK_INT(atomic_load(&inside), 1); /* one thread for both devices: another would hang too */
    atomic_store(&hangs, false);
    size_t jobs = 0;
    for (begin = real_now_ns(); jobs == 0 && real_now_ns() < begin + LONG_NS;) {
        vitals_snapshot *snapshot = take(sampler);
        jobs = vitals_snapshot_count(snapshot, VITALS_TABLE_GPU_JOB);
        vitals_snapshot_unref(snapshot);
        real_sleep_ns(20 * NS_PER_MS);
    }
    CHECK_UINT(jobs, 1);
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    gpu_tree_free(&tree);
}

/* What the second device draws, which is the one that hangs; UNSET: it has no row yet. */
static vitals_availability hung_power(const vitals_snapshot *snapshot)
{
    double watts;
    const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, NULL);
    row = row != NULL ? vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row) : NULL;
    return row != NULL ? vitals_row_number(row, VITALS_GPU_POWER_WATTS, &watts) : VITALS_UNSET;
}

/* Whether another worker's answer is there: the jobs, or the row's slow reading. */
static bool has_other(const vitals_snapshot *snapshot, vitals_metric metric)
{
    double number;
    if (vitals_metric_table(metric) == VITALS_TABLE_GPU_JOB)
        return vitals_snapshot_count(snapshot, VITALS_TABLE_GPU_JOB) == 1;
    const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, NULL);
    row = row != NULL ? vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row) : NULL;
    return row != NULL && vitals_row_number(row, metric, &number) > 0;
}

/* Until both are seen in one snapshot, that the driver hangs and what another worker answered; or
 * until the driver has answered after all. */
static bool is_seen_beside(const struct gpu_tree *tree, vitals_metric metric)
{
    vitals_context *context;
    vitals_availability power = VITALS_UNSET;
    uint64_t begin = real_now_ns();
    bool beside = false;
    vitals_sampler *sampler = open_sampler(tree, "hanging.conf", metric, &context);
    while (!beside && power <= 0 && real_now_ns() < begin + LONG_NS) {
        vitals_snapshot *snapshot = take(sampler);
        power = hung_power(snapshot);
        CHECK(power != VITALS_NOT_YET);
        beside = power == VITALS_TIMED_OUT && has_other(snapshot, metric);
        vitals_snapshot_unref(snapshot);
        real_sleep_ns(20 * NS_PER_MS);
    }
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    return beside;
}

/* Again, should the machine have stood still for as long as the driver hangs. */
static void check_hung_beside(vitals_metric metric)
{
    struct gpu_tree tree = gpu_tree_empty();
    bool beside = false;
    gpu_tree_text(&tree, "run/gpustat/1", "4711 1000\n");
    gpu_tree_parents(&tree, "var/");
    for (int i = 0; i < 4 && !beside; i++)
        beside = is_seen_beside(&tree, metric);
    CHECK(beside);
    gpu_tree_free(&tree);
}

static void a_driver_that_hangs_is_timed_out_beside_its_jobs(void)
{
    check_hung_beside(VITALS_GPU_JOB_JOB_ID);
}

static void a_driver_that_hangs_is_timed_out_beside_its_slow_readings(void)
{
    check_hung_beside(VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
}

/* A thread that hangs stays in the driver, and the driver with its scenario in the process: those
 * tests are last. */
static const check_test tests[] = {
    {"devices are read while the folder hangs", devices_are_read_while_the_folder_hangs},
    {"a driver that hangs is timed out beside its jobs",
     a_driver_that_hangs_is_timed_out_beside_its_jobs},
    {"a driver that hangs is timed out beside its slow readings",
     a_driver_that_hangs_is_timed_out_beside_its_slow_readings},
};
CHECK_TESTS(tests)
