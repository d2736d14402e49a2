/* Which job a device is allotted to, by the files of prologs: what they say, which file is a
 * device's, and what a snapshot makes of it, with the simulated driver. */
#include "check.h"
#include "gpu_world.h"

#include "util/memory.h"
#include "workload/gpu_job_claim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <vitals/vitals.h>

#define UUID  "GPU-11111111-2222-3333-4444-555555555555"
#define SLUID "s6CDS80QJ9W000"

/* ---- what a file says ---- */

static void check_said_of(enum job_claim_form form, struct span text, const char *expected,
                          bool bad)
{
    char said[512] = "";
    bool is_bad = false;
    struct cursor cursor = cursor_over(text.bytes, text.size);
    struct job_claim job;
    CHECK_CASE(text.bytes);
    while (job_claim_next(form, &cursor, &job, &is_bad)) {
        size_t at = strlen(said);
        snprintf(said + at, sizeof said - at, "%.*s%s/%d ", (int)job.job.size, job.job.bytes,
                 job.of_slurm ? "" : "?", (int)job.uid);
    }
    CHECK_STR(said, expected);
    CHECK_INT(is_bad, bad);
}

static void check_said(enum job_claim_form form, const char *text, const char *expected, bool bad)
{
    check_said_of(form, (struct span){text, strlen(text)}, expected, bad);
}

static void gpustat_holds_a_job_and_whose(void)
{
    check_said(JOB_CLAIM_GPUSTAT, "1234 1000\n", "1234/1000 ", false);
    check_said(JOB_CLAIM_GPUSTAT, "  1234\t0", "1234/0 ", false);
    check_said(JOB_CLAIM_GPUSTAT, "1234\r\n", "1234/-1 ", false);
    check_said(JOB_CLAIM_GPUSTAT, SLUID " 7\n", SLUID "/7 ", false);
    check_said(JOB_CLAIM_GPUSTAT, "1234 ann\n", "1234/-1 ", false);
    check_said(JOB_CLAIM_GPUSTAT, "1234 4294967295\n", "1234/-1 ", false);
    check_said(JOB_CLAIM_GPUSTAT, "1234 99999999999999999999999\n", "1234/-1 ", false);
    check_said(JOB_CLAIM_GPUSTAT, "1234 1000\n5678 1000\n", "1234/1000 ", false);
    check_said(JOB_CLAIM_GPUSTAT, "", "", false);
    check_said(JOB_CLAIM_GPUSTAT, "\n", "", false);
    check_said(JOB_CLAIM_GPUSTAT, "0 0\n", "", true);
    check_said(JOB_CLAIM_GPUSTAT, "../../etc 0\n", "", true);
    check_said(JOB_CLAIM_GPUSTAT, "12345678901234567890123456789 0\n", "", true);
    check_said_of(JOB_CLAIM_GPUSTAT, (struct span){SLUID "\0\n", sizeof SLUID + 1}, "", true);
}

static void dcgm_holds_jobs(void)
{
    check_said(JOB_CLAIM_DCGM, "5\n", "5/-1 ", false);
    check_said(JOB_CLAIM_DCGM, "5 6\n7", "5/-1 6/-1 7/-1 ", false);
    check_said(JOB_CLAIM_DCGM, "123.pbs-server\n", "123.pbs-server?/-1 ", false);
    check_said(JOB_CLAIM_DCGM, "", "", false);
    check_said(JOB_CLAIM_DCGM, "a\x1b[31m 6\n", "6/-1 ", true);
    check_said(JOB_CLAIM_DCGM, "... 6\n", "6/-1 ", true);
}

/* ---- which file ---- */

static struct gpu_tree tree;
static struct os os;
static struct row_batch batch;

static void begin(void)
{
    char path[GPU_TREE_PATH];
    tree = gpu_tree_empty();
    os = (struct os){.proc = -1, .sys = -1, .dev = -1};
    gpu_tree_parents(&tree, "run/");
    gpu_tree_parents(&tree, "var/");
    gpu_tree_path(&tree, "run", path);
    os.run = open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
    gpu_tree_path(&tree, "var", path);
    os.var = open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
    CHECK(os.run >= 0 && os.var >= 0);
}

static void end(void)
{
    close(os.run);
    close(os.var);
    batch_done(&batch);
    gpu_tree_free(&tree);
}

static void put(const char *name, const char *text)
{
    gpu_tree_text(&tree, name, text);
}

#define GPUSTAT(name) "run/gpustat/" name
#define DCGM(name)    "var/lib/dcgm-exporter/job-mapping/" name

/* What is told of a device: rows as JOB:convention, then the state of the table. */
static void check_told(const struct job_claim_device *device, const char *expected)
{
    char told[1024] = "";
    struct metric_set wanted = gpu_world_wanted(VITALS_TABLE_GPU_JOB);
    batch_reset(&batch, &wanted);
    job_claim_read(&os, device, &batch);
    for (size_t i = 0; i < batch.row_count; i++) {
        const struct batch_cell *by = batch_find(&batch, &batch.rows[i], VITALS_GPU_JOB_CONVENTION);
        struct span job = batch_label(&batch, &batch.rows[i]), words = batch_span(&batch, by);
        size_t at = strlen(told);
        snprintf(told + at, sizeof told - at, "%.*s:%.*s ", (int)job.size, job.bytes,
                 (int)words.size, words.bytes);
    }
    size_t at = strlen(told);
    snprintf(told + at, sizeof told - at, "%s",
             vitals_availability_name((vitals_availability)batch.states[VITALS_TABLE_GPU_JOB]));
    CHECK_STR(told, expected);
}

static const struct job_claim_device FIRST = {UUID, 0, 0, false, -1};
static const struct job_claim_device SWAPPED = {UUID, 1, 0, false, -1};
static const struct job_claim_device NODELESS = {UUID, 1, -1, false, -1};
static const struct job_claim_device PART = {"MIG-a", 0, 0, true, 3};

static void without_a_folder_nothing_is_known(void)
{
    begin();
    check_told(&FIRST, "unsupported");
    put(GPUSTAT("7"), "12 0\n");
    check_told(&FIRST, "have"); // a folder, and no file: it is free
    end();
}

static void a_file_is_called_by_the_uuid_or_by_a_number(void)
{
    begin();
    put(GPUSTAT("0"), "12 0\n");
    check_told(&FIRST, "12:gpustat have");
    put(GPUSTAT(UUID), "13 0\n");
    check_told(&FIRST, "13:gpustat have");
    put(DCGM("0"), "13\n14\n");
    check_told(&FIRST, "13:gpustat 14:dcgm have"); // each job once
    end();
}

/* Slurm's 1 may be the driver's 0. */
static void a_number_that_may_be_anothers_is_not_believed(void)
{
    begin();
    put(GPUSTAT("1"), "12 0\n");
    check_told(&NODELESS, "12:gpustat have");
    check_told(&SWAPPED, "failed");
    put(GPUSTAT("0"), "13 0\n");
    check_told(&SWAPPED, "failed");
    put(GPUSTAT("0"), "12 0\n");
    check_told(&SWAPPED, "12:gpustat have"); // a job that has both
    put(GPUSTAT(UUID), "14 0\n");
    check_told(&SWAPPED, "14:gpustat have");
    put(DCGM("1"), "15\n");
    check_told(&SWAPPED, "14:gpustat lower_bound");
    end();
}

/* Every vendor has a device 0, and the files of numbers are of one. */
static void without_a_number_only_the_uuid_counts(void)
{
    static const struct job_claim_device other = {UUID, -1, 0, false, -1};
    begin();
    put(GPUSTAT("0"), "12 0\n");
    put(DCGM("0"), "12\n");
    check_told(&other, "unsupported");
    put(GPUSTAT(UUID), "13 0\n");
    check_told(&other, "13:gpustat have");
    end();
}

static void a_partition_has_a_name_of_its_own(void)
{
    begin();
    put(GPUSTAT("0"), "12 0\n");
    put(DCGM("0"), "12\n");
    check_told(&PART, "have");
    put(DCGM("0.3"), "15\n");
    check_told(&PART, "15:dcgm have");
    check_told(&FIRST, "12:gpustat have");
    put(GPUSTAT("MIG-a"), "16 0\n");
    check_told(&PART, "16:gpustat 15:dcgm have");
    end();
}

static void what_is_no_file_is_not_read(void)
{
    char path[GPU_TREE_PATH];
    begin();
    put("secret", "12 0\n");
    gpu_tree_path(&tree, "secret", path);
    gpu_tree_link(&tree, GPUSTAT("0"), path);
    check_told(&FIRST, "failed");
    gpu_tree_remove(&tree, GPUSTAT("0"));
    gpu_tree_path(&tree, GPUSTAT("0"), path);
    CHECK_INT(mkfifo(path, 0600), 0);
    check_told(&FIRST, "failed"); // without waiting for a writer
    gpu_tree_remove(&tree, GPUSTAT("0"));
    gpu_tree_parents(&tree, GPUSTAT("0/x"));
    check_told(&FIRST, "failed");
    end();
}

static void a_uuid_leads_nowhere(void)
{
    static const char *const names[] = {"", ".", "..", "../secret", "/secret", "a/b"};
    begin();
    put("run/secret", "12 0\n");
    put(GPUSTAT("x"), "13 0\n");
    for (size_t i = 0; i < CHECK_COUNT(names); i++) {
        struct job_claim_device device = {.index = 5, .minor = 5, .instance = -1};
        CHECK_CASE(names[i]);
        snprintf(device.uuid, sizeof device.uuid, "%s", names[i]);
        check_told(&device, "have");
    }
    end();
}

static void what_is_huge_is_cut(void)
{
    static char text[1 << 20];
    begin();
    memset(text, '1', sizeof text - 1);
    put(GPUSTAT("0"), text);
    check_told(&FIRST, "lower_bound"); // one word without an end
    for (size_t i = 0; i + 3 < sizeof text; i += 3)
        memcpy(text + i, "71\n", 3);
    put(DCGM("0"), text);
    gpu_tree_remove(&tree, GPUSTAT("0"));
    check_told(&FIRST, "71:dcgm lower_bound");
    size_t size = 0;
    for (unsigned i = 100; i < 200; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%u\n", i);
    put(DCGM("0"), text);
    struct metric_set wanted = gpu_world_wanted(VITALS_TABLE_GPU_JOB);
    batch_reset(&batch, &wanted);
    job_claim_read(&os, &FIRST, &batch);
    CHECK_UINT(batch.row_count, 16);
    CHECK_INT(batch.states[VITALS_TABLE_GPU_JOB], VITALS_LOWER_BOUND);
    end();
}

static void who_may_not_look_says_so(void)
{
    char path[GPU_TREE_PATH];
    if (geteuid() == 0)
        CHECK_SKIP("root may look everywhere");
    begin();
    put(GPUSTAT("0"), "12 0\n");
    gpu_tree_path(&tree, GPUSTAT("0"), path);
    CHECK_INT(chmod(path, 0), 0);
    check_told(&FIRST, "denied");
    end();
}

/* ---- in a snapshot ---- */

static void check_text(const vitals_row *row, vitals_metric metric, const char *expected)
{
    vitals_text text;
    CHECK_INT(vitals_row_text(row, metric, &text), VITALS_HAVE);
    CHECK_BYTES(text.bytes, text.size, expected, strlen(expected));
}

static vitals_snapshot *snapshot_of(const char *driver)
{
    char run[GPU_TREE_PATH], var[GPU_TREE_PATH];
    vitals_options options;
    vitals_context *context;
    vitals_request *request;
    vitals_snapshot *snapshot;
    vitals_error error;
    vitals_options_init(&options, sizeof options);
    gpu_tree_path(&tree, "run", run);
    gpu_tree_path(&tree, "var", var);
    options.run_root = run;
    options.var_root = var;
    options.nvml_path = driver;
    options.backends = driver != NULL ? "nvidia" : "demo";
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_request_add(request, VITALS_GPU_UUID, &error), error);
    CHECK_OK(vitals_request_add_table(request, VITALS_TABLE_GPU_JOB, &error), error);
    CHECK_OK(vitals_snapshot_take_request(context, request, &snapshot, &error), error);
    vitals_request_free(request);
    vitals_context_free(context);
    return snapshot;
}

static void a_snapshot_has_the_jobs_of_its_devices(void)
{
    char driver[512], scenario[512], name[256];
    uint64_t uid;
    vitals_text uuid;
    snprintf(driver, sizeof driver, "%s/tests/nvml/r580/libnvidia-ml.so.1",
             gpu_world_path("VITALS_BUILD"));
    snprintf(scenario, sizeof scenario, "%s/tests/nvml/scenarios/two-healthy.conf",
             gpu_world_path("VITALS_SOURCE"));
    setenv("VITALS_NVML_SCENARIO", scenario, 1);
    begin();
    vitals_snapshot *snapshot = snapshot_of(driver);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_JOB), VITALS_UNSUPPORTED);
    const vitals_row *gpu = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, NULL);
    gpu = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, gpu);
    CHECK_NOT_NULL(gpu);
    CHECK_INT(vitals_row_text(gpu, VITALS_GPU_UUID, &uuid), VITALS_HAVE);
    snprintf(name, sizeof name, "run/gpustat/%.*s", (int)uuid.size, uuid.bytes);
    vitals_snapshot_unref(snapshot);
    put(name, "4711 1000\n");
    snapshot = snapshot_of(driver);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_JOB), VITALS_HAVE);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU_JOB), 1);
    gpu = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, NULL);
    gpu = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, gpu);
    const vitals_row *job = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU_JOB, NULL);
    CHECK_UINT(vitals_row_parent(job), vitals_row_key(gpu));
    CHECK_STR(vitals_row_label(job), "4711");
    check_text(job, VITALS_GPU_JOB_JOB_ID, "4711");
    check_text(job, VITALS_GPU_JOB_WORKLOAD, "slurm:4711");
    check_text(job, VITALS_GPU_JOB_CONVENTION, "gpustat");
    CHECK_INT(vitals_row_u64(job, VITALS_GPU_JOB_UID, &uid), VITALS_HAVE);
    CHECK_UINT(uid, 1000);
    vitals_snapshot_unref(snapshot);
    end();
}

/* What a real scheduler's files say is of no device of the demo. */
static void devices_that_are_made_up_have_none(void)
{
    begin();
    put(GPUSTAT("0"), "4711 1000\n");
    vitals_snapshot *snapshot = snapshot_of(NULL);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU_JOB), 0);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_JOB), VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);
    end();
}

static void a_failed_allocation_is_said(void)
{
    struct metric_set wanted = gpu_world_wanted(VITALS_TABLE_GPU_JOB);
    begin();
    put(GPUSTAT("0"), "12 0\n");
    put(DCGM("0"), "12 13 14\n");
    for (unsigned nth = 1; nth < 20; nth++) {
        struct row_batch out = {0};
        batch_reset(&out, &wanted);
        memory_fail_at(nth);
        job_claim_read(&os, &FIRST, &out);
        memory_fail_at(0);
        CHECK(out.failed || out.row_count == 3);
        batch_done(&out);
    }
    end();
}

static const check_test tests[] = {
    {"gpustat holds a job, and whose", gpustat_holds_a_job_and_whose},
    {"dcgm holds jobs", dcgm_holds_jobs},
    {"without a folder nothing is known", without_a_folder_nothing_is_known},
    {"a file is called by the UUID, or by a number", a_file_is_called_by_the_uuid_or_by_a_number},
    {"a number that may be another's is not believed",
     a_number_that_may_be_anothers_is_not_believed},
    {"without a number only the UUID counts", without_a_number_only_the_uuid_counts},
    {"a partition has a name of its own", a_partition_has_a_name_of_its_own},
    {"what is no file is not read", what_is_no_file_is_not_read},
    {"a UUID leads nowhere", a_uuid_leads_nowhere},
    {"what is huge is cut", what_is_huge_is_cut},
    {"who may not look says so", who_may_not_look_says_so},
    {"a snapshot has the jobs of its devices", a_snapshot_has_the_jobs_of_its_devices},
    {"devices that are made up have none", devices_that_are_made_up_have_none},
    {"a failed allocation is said", a_failed_allocation_is_said},
};
CHECK_TESTS(tests)
