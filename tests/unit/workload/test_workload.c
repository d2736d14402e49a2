/* What a cgroup's path, an environment and a node's log folder say of the work that a process
 * belongs to. */
#include "check.h"
#include "gpu_tree.h"

#include "os/world.h"
#include "process/reader.h"
#include "process/table.h"
#include "util/memory.h"
#include "workload/workload.h"

#define ID_A  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B  "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define HASH  "0123456789abcdef0123456789abcdef"
#define UID   "11112222-3333-4444-5555-66667777888a"
#define UNIT  "11112222_3333_4444_5555_66667777888a"
#define SLUID "s01JXQ5ZK4M7PT"

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

/* ---- paths ---- */

static const struct {
    const char *path, *unit, *pod, *job, *step;
} CASES[] = {
    // units: the last service or scope counts
    {"/system.slice/ssh.service", "ssh.service", "", "", ""},
    {"/init.scope", "init.scope", "", "", ""},
    {"/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "", "", ""},
    {"/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox\\x2desr-42.scope",
     "app-firefox\\x2desr-42.scope", "", "", ""},
    {"/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope", "", "", ""},
    {"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "", "", ""},
    {"/system.slice/web.service/worker/7", "web.service", "", "", ""},
    {"/system.slice/_cpu.service", "cpu.service", "", "", ""}, // systemd's own escape
    {"/system.slice/docker-" ID_A ".scope", "docker-" ID_A ".scope", "", "", ""},
    {"/../../system.slice/cron.service", "cron.service", "", "", ""},
    {"/system.slice", "", "", "", ""},
    {"/", "", "", "", ""},
    {"", "", "", "", ""},
    {"/.service", "", "", "", ""},
    {"/_.scope", "", "", "", ""},
    {"/system.slice/two words.service", "", "", "", ""},
    {"/system.slice/esc\x1b[31m.service", "", "", "", ""},
    {"/system.slice/\xff\xfe.service", "", "", "", ""},
    {"/system.slice/new\nline.service", "", "", "", ""},
    // Slurm on version 1, with a slurmd for each of several nodes too
    {"/slurm/uid_1000/job_123/step_0/task_3", "", "", "123", "0"},
    {"/slurm/uid_1000/job_123/step_batch", "", "", "123", "batch"},
    {"/slurm/uid_1000/job_123", "", "", "123", ""},
    {"/slurm_node7/uid_0/job_9/step_extern/task_0", "", "", "9", "extern"},
    {"/slurm/uid_1000/job_123/step_interactive/task_0", "", "", "123", "interactive"},
    // and on version 2
    {"/system.slice/slurmstepd.scope/job_42/step_1/user/task_0", "slurmstepd.scope", "", "42", "1"},
    {"/system.slice/node7_slurmstepd.scope/job_42/step_extern/user/task_special",
     "node7_slurmstepd.scope", "", "42", "extern"},
    {"/system.slice/slurmstepd.scope/job_42/step_batch/slurm", "slurmstepd.scope", "", "42",
     "batch"},
    {"/system.slice/slurmstepd.scope/job_" SLUID "/step_0/user/task_0", "slurmstepd.scope", "",
     SLUID, "0"},
    {"/system.slice/slurmstepd.scope/system", "slurmstepd.scope", "", "", ""},
    // seen from another cgroup namespace
    {"/../../job_42/step_0/user/task_0", "", "", "42", "0"},
    {"/../job_42/step_0/slurm", "", "", "42", "0"},
    {"/job_42/step_0/user/task_0", "", "", "42", "0"},
    {"/../../../slurmstepd.scope/job_42/step_0", "slurmstepd.scope", "", "42", "0"},
    // not Slurm's, whatever it is called
    {"/user.slice/user-1000.slice/user@1000.service/job_42/step_0", "user@1000.service", "", "",
     ""},
    {"/job_42", "", "", "", ""},
    {"/../job_42/nothing", "", "", "", ""},
    {"/slurm/uid_x/job_1/step_0", "", "", "", ""},
    {"/slurmish/uid_1/job_1/step_0", "", "", "", ""},
    {"/system.slice/slurmstepd.scope/job_/step_0", "slurmstepd.scope", "", "", ""},
    {"/system.slice/slurmstepd.scope/job_12x/step_0", "slurmstepd.scope", "", "", ""},
    {"/system.slice/slurmstepd.scope/job_123456789012345678901/step_0", "slurmstepd.scope", "", "",
     ""},
    {"/system.slice/slurmstepd.scope/job_s01JXQ5ZK4M7PI/step_0", "slurmstepd.scope", "", "", ""},
    {"/system.slice/slurmstepd.scope/job_s01jxq5zk4m7pt/step_0", "slurmstepd.scope", "", "", ""},
    {"/system.slice/slurmstepd.scope/job_42/step_other/user", "slurmstepd.scope", "", "42", ""},
    {"/system.slice/slurmstepd.scope/job_42/step_0/user/task_0/job_7/step_9", "slurmstepd.scope",
     "", "42", "0"},
    // pods: both drivers, every class, static ones, nested ones, containerd that was told wrong
    {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UNIT
     ".slice/cri-containerd-" ID_A ".scope",
     "cri-containerd-" ID_A ".scope", UID, "", ""},
    {"/kubepods.slice/kubepods-pod" UNIT ".slice/crio-" ID_A ".scope/container",
     "crio-" ID_A ".scope", UID, "", ""},
    {"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UNIT ".slice/docker-" ID_A
     ".scope",
     "docker-" ID_A ".scope", UID, "", ""},
    {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" HASH ".slice/crio-" ID_A
     ".scope",
     "crio-" ID_A ".scope", HASH, "", ""},
    {"/kubepods/burstable/pod" UID "/" ID_A, "", UID, "", ""},
    {"/kubepods/besteffort/pod" UID, "", UID, "", ""},
    {"/kubepods/guaranteed/pod" UID "/" ID_A, "", UID, "", ""},
    {"/kubepods/pod" HASH "/" ID_A, "", HASH, "", ""},
    {"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
     "kubelet-kubepods-besteffort-pod" UNIT ".slice/cri-containerd-" ID_A ".scope",
     "cri-containerd-" ID_A ".scope", UID, "", ""},
    {"/docker/" ID_B "/kubelet/kubepods/burstable/pod" UID "/" ID_A, "", UID, "", ""},
    {"/system.slice/containerd.service/kubepods-burstable-pod" UNIT ".slice:cri-containerd:" ID_A,
     "containerd.service", UID, "", ""},
    {"/../pod" UID "/" ID_A, "", UID, "", ""},
    {"/../../kubepods-pod" UNIT ".slice/cri-containerd-" ID_A ".scope",
     "cri-containerd-" ID_A ".scope", UID, "", ""},
    {"/kubepods/pod" UID "/" ID_A "/kubepods/pod" HASH "/" ID_B, "", HASH, "", ""},
    // no pod
    {"/user.slice/pod" UID "/x", "", "", "", ""},
    {"/burstable/pod" UID, "", "", "", ""},
    {"/kubepods/pod" UNIT, "", "", "", ""},
    {"/kubepods/pod" UID "0", "", "", "", ""},
    {"/kubepods/pod", "", "", "", ""},
    {"/kubepods.slice/kubepods-pod" UID ".slice", "", "", "", ""},
    {"/kubepods.slice/kubepods-pod" UNIT ".slice.d", "", "", "", ""},
    {"/kubepods.slice/kubepods-pod11112222_3333_4444_5555_6666.slice", "", "", "", ""},
    {"/kubepods.slice/kubepods-pod1111222g_3333_4444_5555_66667777888a.slice", "", "", "", ""},
};

static void every_form_is_read(void)
{
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct span path = span_of(CASES[i].path), unit = unit_of_cgroup(path);
        char pod[POD_UID];
        struct slurm slurm;
        CHECK_CASE(CASES[i].path);
        CHECK_BYTES(unit.bytes, unit.size, CASES[i].unit, strlen(CASES[i].unit));
        CHECK_INT(pod_of_cgroup(path, pod) != 0, CASES[i].pod[0] != '\0');
        CHECK_STR(pod, CASES[i].pod);
        CHECK_INT(slurm_of_cgroup(path, &slurm), CASES[i].job[0] != '\0');
        CHECK_STR(slurm.job, CASES[i].job);
        CHECK_STR(slurm.step, CASES[i].step);
    }
}

static void nothing_is_read_behind_the_end(void)
{
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].path);
        for (size_t cut = 0; cut < strlen(CASES[i].path); cut++) {
            char *copy = malloc(cut + 1), pod[POD_UID]; // so that a sanitizer sees a byte too many
            struct slurm slurm;
            CHECK_NOT_NULL(copy);
            memcpy(copy, CASES[i].path, cut);
            struct span path = {copy, cut}, unit = unit_of_cgroup(path);
            CHECK(unit.bytes >= copy && unit.bytes + unit.size <= copy + cut);
            (void)pod_of_cgroup(path, pod);
            (void)slurm_of_cgroup(path, &slurm);
            free(copy);
        }
    }
}

/* ---- environments ---- */

static void an_environment_names_a_job(void)
{
#define ENVIRONMENT(text)        \
    {                            \
        (text), sizeof(text) - 1 \
    } // each string ends with a NUL
    static const struct {
        struct span strings;
        const char *job, *step, *sluid;
    } cases[] = {
        {ENVIRONMENT("PATH=/bin\0SLURM_JOB_ID=77\0SLURM_STEP_ID=2\0"), "77", "2", ""},
        {ENVIRONMENT("SLURM_JOBID=77\0SLURM_STEPID=4294967291\0"), "77", "batch", ""},
        {ENVIRONMENT("SLURM_JOBID=1\0SLURM_JOB_ID=77\0"), "77", "", ""},
        {ENVIRONMENT("SLURM_JOB_ID=77\0SLURM_JOBID=1\0SLURM_STEP_ID=4294967292\0"), "77", "extern",
         ""},
        {ENVIRONMENT("SLURM_JOB_ID=77\0SLURM_STEP_ID=4294967290\0"), "77", "interactive", ""},
        {ENVIRONMENT("SLURM_JOB_SLUID=" SLUID "\0SLURM_JOB_ID=77\0"), "77", "", SLUID},
        {ENVIRONMENT("SLURM_JOB_SLUID=" SLUID "\0"), SLUID, "", SLUID},
        {ENVIRONMENT("SLURM_JOB_ID=\0"), "", "", ""},
        {ENVIRONMENT("SLURM_JOB_ID=7\n7\0"), "", "", ""},
        {ENVIRONMENT("SLURM_JOB_ID=-1\0SLURM_STEP_ID=../../x\0"), "", "", ""},
        {ENVIRONMENT("XSLURM_JOB_ID=7\0SLURM_JOB_IDS=7\0"), "", "", ""},
        {ENVIRONMENT("SLURM_JOB_ID\0=\0\0\0"), "", "", ""},
        {{"SLURM_JOB_ID=77", 15}, "", "", ""}, // cut: the number may go on
        {{"", 0}, "", "", ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct slurm slurm;
        char name[16];
        snprintf(name, sizeof name, "%zu", i);
        CHECK_CASE(name);
        CHECK_INT(slurm_of_environment(cases[i].strings, &slurm), cases[i].job[0] != '\0');
        CHECK_STR(slurm.job, cases[i].job);
        CHECK_STR(slurm.step, cases[i].step);
        CHECK_STR(slurm.sluid, cases[i].sluid);
    }
}

static void a_daemons_title_names_its_step(void)
{
    static const struct {
        const char *title, *job, *step;
    } cases[] = {
        {"slurmstepd: [123.0]", "123", "0"},
        {"slurmstepd: [123.batch]", "123", "batch"},
        {"slurmstepd: [123.extern stepmgr]", "123", "extern"},
        {"slurmstepd: [123.]", "", ""},
        {"slurmstepd: [.0]", "", ""},
        {"slurmstepd: [123.0", "", ""},
        {"slurmstepd: [123]", "", ""},
        {"slurmstepd: [123. 0]", "", ""},
        {"slurmstepd: [12x.0]", "", ""},
        {"/usr/sbin/slurmstepd infinity", "", ""},
        {"", "", ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct slurm slurm;
        CHECK_CASE(cases[i].title);
        CHECK_INT(slurm_of_title(span_of(cases[i].title), &slurm), cases[i].job[0] != '\0');
        CHECK_STR(slurm.job, cases[i].job);
        CHECK_STR(slurm.step, cases[i].step);
    }
}

/* ---- names ---- */

static void a_link_names_a_container(void)
{
    struct workload_name name;
    struct span id;
    CHECK(workload_name_parse(span_of("web-0_shop_nginx-" ID_A ".log"), &name, &id));
    CHECK(span_equal(name.pod, "web-0"));
    CHECK(span_equal(name.space, "shop"));
    CHECK(span_equal(name.container, "nginx"));
    CHECK(span_equal(id, ID_A));
    static const char *const none[] = {
        "",
        ".log",
        "-" ID_A ".log",
        ID_A ".log",
        "a_b-" ID_A ".log",
        "a_b_-" ID_A ".log",
        "_b_c-" ID_A ".log",
        "a__c-" ID_A ".log",
        "a_b_c_d-" ID_A ".log",
        "a_b_c" ID_A ".log",
        "a_b_c-" ID_A,
        "a_b_c-" ID_A ".log.1",
        "a_b_c-0" HASH ".log",
        "A_b_c-" ID_A ".log",
        "a\n_b_c-" ID_A ".log",
        "a_b_c\x1b-" ID_A ".log",
    };
    for (size_t i = 0; i < CHECK_COUNT(none); i++) {
        CHECK_CASE(none[i]);
        CHECK_FALSE(workload_name_parse(span_of(none[i]), &name, &id));
    }
}

/* ---- a machine ---- */

struct machine {
    struct gpu_tree tree;
    uint64_t now_ns;
    vitals_context context;
    struct user_cache *cache;
    struct row_batch batch;
};

static struct machine machine;

static uint64_t machine_now(void *data)
{
    return ((struct machine *)data)->now_ns;
}

static void machine_begin(void)
{
    machine = (struct machine){.tree = gpu_tree_empty(), .now_ns = 1000 * NS_PER_SECOND};
    gpu_tree_open(&machine.tree, &machine.context.os);
    gpu_tree_parents(&machine.tree, "var/");
    machine.context.os.var = gpu_tree_root(&machine.tree, "var");
    machine.context.os.clock = (vitals_clock){
        .data = &machine, .monotonic_ns = machine_now, .boottime_ns = machine_now};
    machine.cache = user_cache_new();
    CHECK_NOT_NULL(machine.cache);
}

static void machine_end(void)
{
    batch_done(&machine.batch);
    user_cache_free(machine.cache);
    gpu_tree_close(&machine.context.os);
    gpu_tree_free(&machine.tree);
}

static void put_process(unsigned pid, const char *cgroup)
{
    char name[64], text[1024];
    snprintf(name, sizeof name, "proc/%u/cgroup", pid);
    snprintf(text, sizeof text, "%s\n", cgroup);
    gpu_tree_text(&machine.tree, name, text);
}

static void read_process(unsigned pid)
{
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_PROCESS_CONTAINER);
    for (vitals_metric m = VITALS_PROCESS_UNIT; m <= VITALS_PROCESS_CONTAINER_NAME; m++)
        metric_set_add(&wanted, m);
    detail_reset(&machine.batch, &wanted);
    const struct process_want want = {.key = pid, .pid = (int64_t)pid};
    CHECK_INT(detail_read(&machine.context, machine.cache, &want, &machine.batch), 0);
}

static void check_text(vitals_metric metric, vitals_availability state, const char *text)
{
    const struct batch_cell *cell = batch_find(&machine.batch, &machine.batch.rows[0], metric);
    CHECK_CASE(vitals_metric_name(metric));
    CHECK_NOT_NULL(cell);
    CHECK_STR(vitals_availability_name((vitals_availability)cell->state),
              vitals_availability_name(state));
    if (state > 0) {
        struct span span = batch_span(&machine.batch, cell);
        CHECK_BYTES(span.bytes, span.size, text, strlen(text));
    }
    CHECK_CASE(NULL);
}

static void a_process_tells_its_work_by_its_cgroup(void)
{
    machine_begin();
    put_process(7, "12:memory:/\n0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0");
    read_process(7);
    check_text(VITALS_PROCESS_UNIT, VITALS_HAVE, "slurmstepd.scope");
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, "42");
    check_text(VITALS_PROCESS_SLURM_STEP, VITALS_HAVE, "0");
    check_text(VITALS_PROCESS_POD, VITALS_HAVE, "");
    check_text(VITALS_PROCESS_POD_NAME, VITALS_HAVE, "");
    check_text(VITALS_PROCESS_CONTAINER, VITALS_HAVE, "");
    // A hybrid machine: version 2 says nothing, version 1 does.
    put_process(8, "4:memory:/slurm/uid_1/job_5/step_batch/task_0\n1:name=systemd:/x\n0::/");
    read_process(8);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, "5");
    check_text(VITALS_PROCESS_SLURM_STEP, VITALS_HAVE, "batch");
    read_process(9); // it is no more
    check_text(VITALS_PROCESS_UNIT, VITALS_GONE, NULL);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_GONE, NULL);
    machine_end();
}

static void a_cgroup_that_a_user_may_have_made_is_a_claim(void)
{
    static const char JOB[] = "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0";
    char folder[GPU_TREE_PATH];
    machine_begin();
    put_process(7, "0::/user.slice/user-4242.slice/user@4242.service/slurm/uid_0/job_4711/step_0");
    read_process(7);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_ESTIMATE, "4711");
    check_text(VITALS_PROCESS_SLURM_STEP, VITALS_ESTIMATE, "0");
    check_text(VITALS_PROCESS_UNIT, VITALS_HAVE, "user@4242.service");
    put_process(8,
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice/docker-" ID_A ".scope");
    read_process(8);
    check_text(VITALS_PROCESS_CONTAINER, VITALS_ESTIMATE, ID_A);

    // Elsewhere the folder that it was made in tells.
    put_process(9, JOB);
    gpu_tree_text(&machine.tree,
                  "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/cgroup.procs", "");
    read_process(9);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, "42");
    gpu_tree_path(&machine.tree, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42", folder);
    CHECK_INT(chmod(folder, 0757), 0);
    read_process(9);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_ESTIMATE, "42");
    CHECK_INT(chmod(folder, 0755), 0);
    if (geteuid() == 0) {
        CHECK_INT(chown(folder, 4242, 4242), 0);
        read_process(9);
        check_text(VITALS_PROCESS_SLURM_JOB, VITALS_ESTIMATE, "42");
        CHECK_INT(chown(folder, 0, 0), 0);
    }
    // The step's own folder may be its user's: jobs that it makes in there are claims.
    gpu_tree_path(&machine.tree, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0",
                  folder);
    CHECK_INT(chmod(folder, 0777), 0);
    read_process(9);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, "42");

    // A container behind a job's folder is as sure as the folder that it is in, and so is a pod.
    put_process(10, "0::/system.slice/slurmstepd.scope/job_42/step_0/user/kubepods-pod" UNIT
                    ".slice/docker-" ID_A ".scope");
    gpu_tree_text(&machine.tree,
                  "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user/kubepods-pod" UNIT
                  ".slice/cgroup.procs",
                  "");
    read_process(10);
    check_text(VITALS_PROCESS_CONTAINER, VITALS_HAVE, ID_A);
    gpu_tree_path(&machine.tree,
                  "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user/kubepods-pod" UNIT
                  ".slice",
                  folder);
    CHECK_INT(chmod(folder, 0777), 0);
    read_process(10);
    check_text(VITALS_PROCESS_CONTAINER, VITALS_ESTIMATE, ID_A);
    check_text(VITALS_PROCESS_POD, VITALS_HAVE, UID);
    gpu_tree_path(&machine.tree, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user",
                  folder);
    CHECK_INT(chmod(folder, 0777), 0);
    read_process(10);
    check_text(VITALS_PROCESS_POD, VITALS_ESTIMATE, UID);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, "42");
    machine_end();
}

/* The folder of a container may be its user's, and so is all that is made in there. */
static void a_pod_in_the_folder_of_a_container_is_a_claim(void)
{
#define OUTER "system.slice/docker-" ID_A ".scope"
    char folder[GPU_TREE_PATH];
    machine_begin();
    put_process(7, "0::/" OUTER "/kubepods/pod" UID);
    gpu_tree_text(&machine.tree, "sys/fs/cgroup/" OUTER "/kubepods/cgroup.procs", "");
    read_process(7);
    check_text(VITALS_PROCESS_CONTAINER, VITALS_HAVE, ID_A);
    check_text(VITALS_PROCESS_POD, VITALS_HAVE, UID);

    gpu_tree_path(&machine.tree, "sys/fs/cgroup/" OUTER "/kubepods", folder);
    CHECK_INT(chmod(folder, 0777), 0);
    read_process(7);
    check_text(VITALS_PROCESS_CONTAINER, VITALS_HAVE, ID_A);
    check_text(VITALS_PROCESS_POD, VITALS_ESTIMATE, UID);
    machine_end();
#undef OUTER
}

static void an_environment_is_an_estimate(void)
{
    static const char job[] = "SLURM_JOB_ID=77\0SLURM_STEP_ID=3\0";
    static const char other[] = "SLURM_JOB_ID=77\0SLURM_JOB_SLUID=s01JXQ5ZK4M7PV\0";
    machine_begin();
    put_process(7, "0::/system.slice/slurmd.service");
    gpu_tree_put(&machine.tree, "proc/7/environ", job, sizeof job - 1);
    read_process(7);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_ESTIMATE, "77");
    check_text(VITALS_PROCESS_SLURM_STEP, VITALS_ESTIMATE, "3");
    // The cgroup's own number is not doubted.
    put_process(7, "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0");
    read_process(7);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, "42");
    check_text(VITALS_PROCESS_SLURM_STEP, VITALS_HAVE, "0");
    // A SLUID gets a number, the step stays the cgroup's.
    put_process(7, "0::/system.slice/slurmstepd.scope/job_" SLUID "/step_0/user/task_0");
    read_process(7);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_ESTIMATE, "77");
    check_text(VITALS_PROCESS_SLURM_STEP, VITALS_ESTIMATE, "0");
    // But not from the environment of another job.
    gpu_tree_put(&machine.tree, "proc/7/environ", other, sizeof other - 1);
    read_process(7);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, SLUID);
    gpu_tree_remove(&machine.tree, "proc/7/environ");
    read_process(7);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, SLUID);
    put_process(7, "0::/system.slice/cron.service");
    read_process(7);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, "");
    machine_end();
}

static void the_daemon_of_a_step_knows_its_number(void)
{
    static const char procs[] = "sys/fs/cgroup/system.slice/slurmstepd.scope/job_" SLUID
                                "/step_0/slurm/cgroup.procs";
    static const char job[] = "SLURM_JOB_ID=99\0";
    machine_begin();
    put_process(7, "0::/system.slice/slurmstepd.scope/job_" SLUID "/step_0/user/task_0");
    gpu_tree_put(&machine.tree, "proc/7/environ", job, sizeof job - 1);
    gpu_tree_text(&machine.tree, procs, "5\n");
    gpu_tree_put(&machine.tree, "proc/5/cmdline", "slurmstepd: [42.0]\0", 19);
    read_process(7);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, "42"); // whatever its environment says
    check_text(VITALS_PROCESS_SLURM_STEP, VITALS_HAVE, "0");
    gpu_tree_put(&machine.tree, "proc/5/cmdline", "slurmstepd: [42.1]\0", 19); // of another step
    read_process(7);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_ESTIMATE, "99");
    gpu_tree_text(&machine.tree, procs, "nobody\n");
    read_process(7);
    check_text(VITALS_PROCESS_SLURM_JOB, VITALS_ESTIMATE, "99");
    machine_end();
}

static void the_log_folder_names_pods(void)
{
    machine_begin();
    put_process(7, "0::/kubepods.slice/kubepods-pod" UNIT ".slice/cri-containerd-" ID_A ".scope");
    put_process(8, "0::/system.slice/docker-" ID_B ".scope");
    read_process(7);
    check_text(VITALS_PROCESS_POD, VITALS_HAVE, UID);
    check_text(VITALS_PROCESS_CONTAINER, VITALS_HAVE, ID_A);
    check_text(VITALS_PROCESS_POD_NAME, VITALS_UNSUPPORTED, NULL); // no folder
    gpu_tree_link(&machine.tree, "var/log/containers/web-0_shop_nginx-" ID_A ".log",
                  "/var/log/pods/none");
    gpu_tree_link(&machine.tree, "var/log/containers/db-0_shop_pg-" ID_B ".log", "/none");
    gpu_tree_text(&machine.tree, "var/log/containers/rubbish\n", "");
    read_process(7);
    check_text(VITALS_PROCESS_POD_NAME, VITALS_HAVE, "web-0");
    check_text(VITALS_PROCESS_POD_NAMESPACE, VITALS_HAVE, "shop");
    check_text(VITALS_PROCESS_CONTAINER_NAME, VITALS_HAVE, "nginx");
    read_process(8); // a container of docker's own: in no pod
    check_text(VITALS_PROCESS_CONTAINER, VITALS_HAVE, ID_B);
    check_text(VITALS_PROCESS_POD_NAME, VITALS_HAVE, "");
    gpu_tree_remove(&machine.tree, "var/log/containers/web-0_shop_nginx-" ID_A ".log");
    machine.now_ns += 11 * NS_PER_SECOND;
    read_process(7);
    check_text(VITALS_PROCESS_POD_NAME, VITALS_UNSUPPORTED, NULL);
    machine_end();
}

static void the_folder_is_below_a_root_that_can_be_chosen(void)
{
    char path[GPU_TREE_PATH];
    vitals_error error;
    struct os os;
    struct workload_name name;
    struct workload_names *names = workload_names_new();
    machine_begin();
    CHECK_NOT_NULL(names);
    gpu_tree_link(&machine.tree, "var/log/containers/a_b_c-" ID_A ".log", "/none");
    gpu_tree_path(&machine.tree, "var", path);
    vitals_options options = {.size = sizeof options, .var_root = path};
    CHECK_OK(os_open(&os, &options, &error), error);
    CHECK_INT(workload_names_find(names, &os, span_of(ID_A), &name), VITALS_HAVE);
    CHECK(span_equal(name.container, "c"));
    os_close(&os);
    workload_names_free(names);
    machine_end();
}

static void what_is_not_in_the_folder_is_looked_for_now_and_then(void)
{
    struct workload_names *names = workload_names_new();
    struct workload_name name;
    machine_begin();
    gpu_tree_link(&machine.tree, "var/log/containers/a_b_c-" ID_A ".log", "/none");
    CHECK_NOT_NULL(names);
    CHECK_INT(workload_names_find(names, &machine.context.os, span_of(ID_A), &name), VITALS_HAVE);
    CHECK_INT(workload_names_find(names, &machine.context.os, span_of(ID_B), &name),
              VITALS_UNSUPPORTED);
    // A link that came within the same tick of the folder's clock: its time is set back.
    struct timespec times[2];
    char path[GPU_TREE_PATH];
    struct stat status;
    gpu_tree_path(&machine.tree, "var/log/containers", path);
    CHECK_INT(stat(path, &status), 0);
    gpu_tree_link(&machine.tree, "var/log/containers/d_e_f-" ID_B ".log", "/none");
    times[0] = status.st_atim;
    times[1] = status.st_mtim;
    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
    CHECK_INT(workload_names_find(names, &machine.context.os, span_of(ID_B), &name),
              VITALS_UNSUPPORTED);
    machine.now_ns += 10 * NS_PER_SECOND;
    CHECK_INT(workload_names_find(names, &machine.context.os, span_of(ID_B), &name), VITALS_HAVE);
    CHECK(span_equal(name.pod, "d"));
    CHECK_INT(workload_names_find(names, &machine.context.os, span_of("x"), &name),
              VITALS_UNSUPPORTED);
    workload_names_free(names);
    machine_end();
}

static void a_failed_allocation_says_so(void)
{
    machine_begin();
    gpu_tree_link(&machine.tree, "var/log/containers/a_b_c-" ID_A ".log", "/none");
    for (uint64_t nth = 1; nth < 8; nth++) {
        int64_t live = memory_live();
        struct workload_name name;
        memory_fail_at(nth);
        struct workload_names *names = workload_names_new();
        vitals_availability state = VITALS_FAILED;
        if (names != NULL)
            state = workload_names_find(names, &machine.context.os, span_of(ID_A), &name);
        CHECK(state == VITALS_FAILED || state == VITALS_HAVE);
        CHECK(state == VITALS_HAVE || nth < 4);
        memory_fail_at(0);
        if (names != NULL) // it is asked again
            CHECK_INT(workload_names_find(names, &machine.context.os, span_of(ID_A), &name),
                      VITALS_HAVE);
        workload_names_free(names);
        CHECK_INT(memory_live(), live);
    }
    machine_end();
}

/* The demo makes up the work of a process, not of a later one with its pid. */
static void work_is_made_up_for_one_process_only(void)
{
    static const char STAT[] =
        "7 (x) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %u 4096 0 0 0 0 "
        "0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0\n";
    struct world_player player = {.pid = 7,
                                  .start_ticks = 50,
                                  .cgroup = "/system.slice/slurmstepd.scope/job_42/step_0",
                                  .pod = "",
                                  .space = "",
                                  .container = ""};
    machine_begin();
    machine.context.players = &player;
    machine.context.player_count = 1;
    put_process(7, "0::/system.slice/web.service");
    for (unsigned start = 50; start < 52; start++) {
        char text[256];
        snprintf(text, sizeof text, STAT, start);
        gpu_tree_text(&machine.tree, "proc/7/stat", text);
        read_process(7);
        check_text(VITALS_PROCESS_UNIT, VITALS_HAVE,
                   start == 50 ? "slurmstepd.scope" : "web.service");
        check_text(VITALS_PROCESS_SLURM_JOB, VITALS_HAVE, start == 50 ? "42" : "");
    }
    machine_end();
}

static const check_test tests[] = {
    {"work is made up for one process only", work_is_made_up_for_one_process_only},
    {"every form is read", every_form_is_read},
    {"nothing is read behind the end", nothing_is_read_behind_the_end},
    {"an environment names a job", an_environment_names_a_job},
    {"a daemon's title names its step", a_daemons_title_names_its_step},
    {"a link names a container", a_link_names_a_container},
    {"a process tells its work by its cgroup", a_process_tells_its_work_by_its_cgroup},
    {"a cgroup that a user may have made is a claim",
     a_cgroup_that_a_user_may_have_made_is_a_claim},
    {"a pod in the folder of a container is a claim",
     a_pod_in_the_folder_of_a_container_is_a_claim},
    {"an environment is an estimate", an_environment_is_an_estimate},
    {"the daemon of a step knows its number", the_daemon_of_a_step_knows_its_number},
    {"the log folder names pods", the_log_folder_names_pods},
    {"the folder is below a root that can be chosen",
     the_folder_is_below_a_root_that_can_be_chosen},
    {"what is not in the folder is looked for now and then",
     what_is_not_in_the_folder_is_looked_for_now_and_then},
    {"a failed allocation says so", a_failed_allocation_says_so},
};
CHECK_TESTS(tests)
