/* What processes work for: the grammar of ids, the cgroup that is a workload's own, and the table
 * that a sampler makes of a /proc and a /sys of files. */
#include "workload_world.h"

#include "workload/workload.h"

#define POD   "11112222_3333_4444_5555_66667777888a"
#define SLUID "s01JXQ5ZK4M7PT"

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

/* ---- paths ---- */

static const struct {
    const char *path;
    enum workload_kind kind;
    const char *own; /* its own cgroup */
} PATHS[] = {
    {"/system.slice/slurmstepd.scope/job_42/step_1/user/task_0", WORKLOAD_SLURM,
     "/system.slice/slurmstepd.scope/job_42/step_1"},
    {"/slurm/uid_1000/job_123/step_0/task_3", WORKLOAD_SLURM, "/slurm/uid_1000/job_123/step_0"},
    {"/slurm_n7/uid_1000/job_123", WORKLOAD_SLURM, "/slurm_n7/uid_1000/job_123"},
    {"/system.slice/slurmstepd.scope/job_" SLUID "/step_0/user/task_0", WORKLOAD_SLURM,
     "/system.slice/slurmstepd.scope/job_" SLUID "/step_0"},
    // a job that starts a container, and a container that runs jobs
    {"/system.slice/slurmstepd.scope/job_42/step_1/user/libpod-" ID_A ".scope", WORKLOAD_SLURM,
     "/system.slice/slurmstepd.scope/job_42/step_1"},
    {"/system.slice/docker-" ID_A ".scope/system.slice/slurmstepd.scope/job_4/step_1/user/task_0",
     WORKLOAD_SLURM,
     "/system.slice/docker-" ID_A ".scope/system.slice/slurmstepd.scope/job_4/step_1"},
    {"/kubepods.slice/kubepods-pod" POD ".slice/cri-containerd-" ID_A ".scope", WORKLOAD_CONTAINER,
     "/kubepods.slice/kubepods-pod" POD ".slice/cri-containerd-" ID_A ".scope"},
    {"/kubepods/burstable/pod11112222-3333-4444-5555-66667777888a/" ID_A "/init.scope",
     WORKLOAD_CONTAINER, "/kubepods/burstable/pod11112222-3333-4444-5555-66667777888a/" ID_A},
    {"/docker/" ID_A, WORKLOAD_CONTAINER, "/docker/" ID_A},
    {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID_A ".scope/container",
     WORKLOAD_CONTAINER,
     "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID_A ".scope"},
    {"/lxc.payload.web/system.slice/ssh.service", WORKLOAD_CONTAINER, "/lxc.payload.web"},
    {"/machine.slice/machine-deb.scope/payload", WORKLOAD_CONTAINER,
     "/machine.slice/machine-deb.scope"},
    // nspawn's supervisor is beside what it contains, and in the container that it runs in
    {"/machine.slice/machine-deb.scope//supervisor/x", WORKLOAD_UNIT,
     "/machine.slice/machine-deb.scope//supervisor"},
    {"/lxc.payload.a/x.scope/machine.slice/machine-b.scope/supervisor", WORKLOAD_CONTAINER,
     "/lxc.payload.a"},
    {"/lxc.payload.a/x.scope/lxc.payload.b/supervisor", WORKLOAD_CONTAINER,
     "/lxc.payload.a/x.scope/lxc.payload.b"},
    {"/system.slice/web.service/worker/7", WORKLOAD_UNIT, "/system.slice/web.service"},
    {"/system.slice/_cpu.service", WORKLOAD_UNIT, "/system.slice/_cpu.service"},
    {"/init.scope", WORKLOAD_UNIT, "/init.scope"},
    {"/../../system.slice/cron.service/x", WORKLOAD_UNIT, "/../../system.slice/cron.service"},
    // what a login started
    {"/user.slice/user-1000.slice/session-3.scope", WORKLOAD_USER, ""},
    {"/user.slice/user-1000.slice/user@1000.service/app.slice/web.service", WORKLOAD_USER, ""},
    {"/user.slice/user-x.slice/session-3.scope", WORKLOAD_UNIT,
     "/user.slice/user-x.slice/session-3.scope"},
    {"/", WORKLOAD_USER, ""},
    {"", WORKLOAD_USER, ""},
    {"/job_42/step_x", WORKLOAD_USER, ""},
    {"/system.slice/new\nline.service", WORKLOAD_USER, ""},
};

static void a_path_tells_the_kind_and_the_own_cgroup(void)
{
    for (size_t i = 0; i < CHECK_COUNT(PATHS); i++) {
        CHECK_CASE(PATHS[i].path);
        size_t place = 99;
        CHECK_STR(workload_word(workload_of_cgroup(span_of(PATHS[i].path), &place)),
                  workload_word(PATHS[i].kind));
        CHECK_BYTES(PATHS[i].path, place, PATHS[i].own, strlen(PATHS[i].own));
        if (PATHS[i].own[0] != '\0') { // the path up to there says the same
            CHECK_INT(workload_of_cgroup(span_of(PATHS[i].own), &place), PATHS[i].kind);
            CHECK_UINT(place, strlen(PATHS[i].own));
        }
    }
}

/* ---- ids ---- */

static const struct {
    struct workload parts;
    const char *id;
} IDS[] = {
    {{.kind = WORKLOAD_SLURM, .job = {"42", 2}, .step = {"batch", 5}}, "slurm:42.batch"},
    {{.kind = WORKLOAD_SLURM, .job = {"42", 2}}, "slurm:42"},
    {{.kind = WORKLOAD_POD, .space = {"a", 1}, .pod = {"b.c", 3}, .container = {"d", 1}},
     "k8s:a/b.c/d"},
    {{.kind = WORKLOAD_CONTAINER, .name = {"web", 3}}, "ctr:web"},
    {{.kind = WORKLOAD_CONTAINER, .name = {"0123456789ab", 12}}, "ctr:0123456789ab"},
    {{.kind = WORKLOAD_UNIT, .name = {"a:b.service", 11}}, "unit:a:b.service"},
    {{.kind = WORKLOAD_USER, .name = {"4242", 4}}, "user:4242"},
};

static void check_span(struct span span, struct span expected)
{
    CHECK_BYTES(span.bytes != NULL ? span.bytes : "", span.size,
                expected.bytes != NULL ? expected.bytes : "", expected.size);
}

static void an_id_is_read_as_it_was_written(void)
{
    for (size_t i = 0; i < CHECK_COUNT(IDS); i++) {
        struct buffer text = {0};
        struct workload parts;
        CHECK_CASE(IDS[i].id);
        workload_format(&IDS[i].parts, &text);
        CHECK_STR(text.bytes, IDS[i].id);
        CHECK(workload_parse((struct span){text.bytes, text.size}, &parts));
        CHECK_INT(parts.kind, IDS[i].parts.kind);
        CHECK_FALSE(parts.claimed);
        check_span(parts.job, IDS[i].parts.job);
        check_span(parts.step, IDS[i].parts.step);
        check_span(parts.space, IDS[i].parts.space);
        check_span(parts.pod, IDS[i].parts.pod);
        check_span(parts.container, IDS[i].parts.container);
        check_span(parts.name, IDS[i].parts.name);
        buffer_done(&text);
    }
    struct buffer text = {0};
    workload_format(&(struct workload){.kind = WORKLOAD_CONTAINER, .name = span_of(ID_A)}, &text);
    CHECK_STR(text.bytes, "ctr:0123456789ab");
    buffer_done(&text);
    struct workload claimed = {
        .kind = WORKLOAD_SLURM, .job = span_of("7"), .step = span_of("0"), .claimed = true};
    struct workload parts;
    text = (struct buffer){0};
    workload_format(&claimed, &text);
    CHECK_STR(text.bytes, "claimed:slurm:7.0");
    CHECK(workload_parse((struct span){text.bytes, text.size}, &parts));
    CHECK(parts.claimed);
    CHECK_INT(parts.kind, WORKLOAD_SLURM);
    check_span(parts.job, span_of("7"));
    buffer_done(&text);
}

static void what_is_no_id_is_none(void)
{
    static const char *const NONE[] = {"",       "slurm", "slurm:",  ":x",      "none:x", "k8s:a/b",
                                       "k8s:a/", "k8s:",  "k8s://x", "k8s:a//", "user:",  "Unit:x"};
    for (size_t i = 0; i < CHECK_COUNT(NONE); i++) {
        struct workload parts;
        CHECK_CASE(NONE[i]);
        CHECK_FALSE(workload_parse(span_of(NONE[i]), &parts));
    }
}

/* ---- figures ---- */

#define STEP "/system.slice/slurmstepd.scope/job_42/step_0"

static void version_2_counts_for_a_step(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::" STEP "/user/task_0");
    put_process(8, "0::" STEP "/user/task_1");
    put_v2(STEP);
    vitals_snapshot *snapshot = take();
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_WORKLOAD), VITALS_HAVE);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_WORKLOAD), 1);
    CHECK_FALSE(vitals_snapshot_has_table(snapshot, VITALS_TABLE_PROCESS)); // it was not asked for
    const vitals_row *row = row_of(snapshot, "slurm:42.0");
    check_text(row, VITALS_WORKLOAD_KIND, "slurm");
    check_text(row, VITALS_WORKLOAD_USER, "4242");
    check_text(row, VITALS_WORKLOAD_SLURM_JOB_ID, "42");
    check_text(row, VITALS_WORKLOAD_SLURM_STEP_ID, "0");
    check_text(row, VITALS_WORKLOAD_SLURM_SLUID, "");
    check_text(row, VITALS_WORKLOAD_UNIT, "");
    check_text(row, VITALS_WORKLOAD_CGROUP, STEP);
    check_number(row, VITALS_WORKLOAD_PROCESSES, VITALS_HAVE, 2);
    check_number(row, VITALS_WORKLOAD_TASKS, VITALS_HAVE, 5);
    check_number(row, VITALS_WORKLOAD_MEMORY_USED_BYTES, VITALS_HAVE, 4096);
    check_number(row, VITALS_WORKLOAD_MEMORY_PEAK_BYTES, VITALS_HAVE, 8192);
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE, 2.5);
    check_number(row, VITALS_WORKLOAD_OOM_KILLS, VITALS_HAVE, 2);
    vitals_snapshot_unref(snapshot);
    end();
}

static void version_1_counts_by_controller(void)
{
    static const char PATH[] = "/slurm/uid_4242/job_9/step_batch";
    begin(MOUNTS[V1]);
    put_process(7, "4:memory:/slurm/uid_4242/job_9/step_batch/task_0\n1:name=systemd:/x\n0::/");
    put("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
        "sys/fs/cgroup/memory%s/task_0/memory.oom_control", PATH);
    put("4096\n", "sys/fs/cgroup/memory%s/memory.usage_in_bytes", PATH);
    put("8192\n", "sys/fs/cgroup/memory%s/memory.max_usage_in_bytes", PATH);
    put("oom_kill_disable 0\nunder_oom 0\noom_kill 4\n",
        "sys/fs/cgroup/memory%s/memory.oom_control", PATH);
    put("2500000000\n", "sys/fs/cgroup/cpu,cpuacct%s/cpuacct.usage", PATH);
    vitals_snapshot *snapshot = take();
    const vitals_row *row = row_of(snapshot, "slurm:9.batch");
    check_number(row, VITALS_WORKLOAD_MEMORY_USED_BYTES, VITALS_HAVE, 4096);
    check_number(row, VITALS_WORKLOAD_MEMORY_PEAK_BYTES, VITALS_HAVE, 8192);
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE, 2.5);
    check_number(row, VITALS_WORKLOAD_OOM_KILLS, VITALS_LOWER_BOUND, 4); // not the task's own
    // It has no such cgroup among those that count tasks: the threads of its process stand in.
    check_number(row, VITALS_WORKLOAD_TASKS, VITALS_HAVE, 3);
    vitals_snapshot_unref(snapshot);
    // Before Linux 5.11 a cgroup may be charged for itself alone.
    put("0\n", "sys/fs/cgroup/memory%s/memory.use_hierarchy", PATH);
    snapshot = take();
    row = row_of(snapshot, "slurm:9.batch");
    check_number(row, VITALS_WORKLOAD_MEMORY_USED_BYTES, VITALS_LOWER_BOUND, 4096);
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE, 2.5);
    vitals_snapshot_unref(snapshot);
    end();
}

/* Memory is on version 1, the rest on version 2. */
static void a_hybrid_machine_counts_on_both(void)
{
    begin(MOUNTS[HYBRID]);
    put_process(7, "4:memory:/system.slice/web.service\n0::/system.slice/web.service");
    put("70\n", "sys/fs/cgroup/memory/system.slice/web.service/memory.usage_in_bytes");
    put("usage_usec 3000000\n", "sys/fs/cgroup/unified/system.slice/web.service/cpu.stat");
    put("3\n", "sys/fs/cgroup/unified/system.slice/web.service/pids.current");
    vitals_snapshot *snapshot = take();
    const vitals_row *row = row_of(snapshot, "unit:web.service");
    check_text(row, VITALS_WORKLOAD_UNIT, "web.service");
    check_number(row, VITALS_WORKLOAD_MEMORY_USED_BYTES, VITALS_HAVE, 70);
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE, 3);
    check_number(row, VITALS_WORKLOAD_TASKS, VITALS_HAVE, 3);
    check_number(row, VITALS_WORKLOAD_MEMORY_PEAK_BYTES, VITALS_UNSUPPORTED, 0);
    vitals_snapshot_unref(snapshot);
    end();
}

/* In a cgroup namespace paths begin with the way up, and what is mounted with its root. */
static void a_namespace_hides_what_lies_beside_it(void)
{
    begin("30 23 0:26 /../../kubepods /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put_process(7, "0::/../../kubepods/pod11112222-3333-4444-5555-66667777888a/" ID_A);
    put_process(8, "0::/../../system.slice/web.service");
    put_process(9, "0::/../../kubepods/../../system.slice/evil.service");
    put_v2("/pod11112222-3333-4444-5555-66667777888a/" ID_A);
    put_v2("/../../system.slice/evil.service"); // beside the mount: it is not to be read
    vitals_snapshot *snapshot = take();
    check_number(row_of(snapshot, "ctr:0123456789ab"), VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE,
                 2.5);
    check_number(row_of(snapshot, "unit:web.service"), VITALS_WORKLOAD_CPU_SECONDS, VITALS_ESTIMATE,
                 1.5);
    check_number(row_of(snapshot, "unit:evil.service"), VITALS_WORKLOAD_CPU_SECONDS,
                 VITALS_ESTIMATE, 1.5);
    vitals_snapshot_unref(snapshot);
    end();
}

/* As a container of Kubernetes is given the host's /sys: at another place. */
static void another_machines_sys_has_its_own_mounts(void)
{
    char text[2 * GPU_TREE_PATH], sys[GPU_TREE_PATH];
    begin("");
    gpu_tree_path(&tree, "sys", sys);
    snprintf(text, sizeof text,
             "30 23 0:26 /kubepods/mine /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
             "31 23 0:26 / %s/fs/cgroup rw - cgroup2 cgroup2 rw\n",
             sys);
    put(text, "proc/self/mountinfo");
    put_process(7, "0::/system.slice/web.service");
    put_v2("/system.slice/web.service");
    char link[64];
    open_context();
    snprintf(link, sizeof link, "proc/self/fd/%d", context->os.sys);
    gpu_tree_link(&tree, link, sys);
    vitals_snapshot *snapshot = take();
    check_number(row_of(snapshot, "unit:web.service"), VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE,
                 2.5);
    vitals_snapshot_unref(snapshot);
    end();
}

static void a_cgroup_that_vanished_is_gone(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/web.service");
    put_process(8, "0::/system.slice/odd.service");
    put("not a number\n", "sys/fs/cgroup/system.slice/odd.service/memory.current");
    put("", "sys/fs/cgroup/system.slice/odd.service/memory.peak");
    put("oom_kill x\n", "sys/fs/cgroup/system.slice/odd.service/memory.events");
    put("99999999999999999999999\n", "sys/fs/cgroup/system.slice/odd.service/pids.current");
    vitals_snapshot *snapshot = take();
    const vitals_row *row = row_of(snapshot, "unit:web.service");
    check_number(row, VITALS_WORKLOAD_MEMORY_USED_BYTES, VITALS_GONE, 0);
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_GONE, 0);
    row = row_of(snapshot, "unit:odd.service");
    check_number(row, VITALS_WORKLOAD_MEMORY_USED_BYTES, VITALS_FAILED, 0);
    check_number(row, VITALS_WORKLOAD_MEMORY_PEAK_BYTES, VITALS_FAILED, 0);
    check_number(row, VITALS_WORKLOAD_OOM_KILLS, VITALS_UNSUPPORTED, 0);
    check_number(row, VITALS_WORKLOAD_TASKS, VITALS_LOWER_BOUND, 9007199254740992.0);
    // It has no such file: what its processes used stands in.
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_ESTIMATE, 1.5);
    vitals_snapshot_unref(snapshot);
    end();
}

/* ---- sums ---- */

static void a_user_is_the_sum_of_his_processes(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::/user.slice/user-1000.slice/session-3.scope");
    put_process(8, "0::/");
    put_v2("/user.slice/user-1000.slice/session-3.scope");
    vitals_snapshot *snapshot = take();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_WORKLOAD), 1);
    const vitals_row *row = row_of(snapshot, "user:4242");
    double page = (double)sysconf(_SC_PAGESIZE);
    vitals_text text;
    check_number(row, VITALS_WORKLOAD_PROCESSES, VITALS_HAVE, 2);
    check_number(row, VITALS_WORKLOAD_TASKS, VITALS_HAVE, 6);
    check_number(row, VITALS_WORKLOAD_MEMORY_USED_BYTES, VITALS_ESTIMATE, 14 * page);
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_ESTIMATE, 3);
    check_number(row, VITALS_WORKLOAD_MEMORY_PEAK_BYTES, VITALS_UNSUPPORTED, 0);
    check_number(row, VITALS_WORKLOAD_OOM_KILLS, VITALS_UNSUPPORTED, 0);
    CHECK_INT(vitals_row_text(row, VITALS_WORKLOAD_CGROUP, &text), VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);

    // Of one process alone it says less.
    snapshot = take_rows(VITALS_ROWS_LISTED, (const int64_t[]){8}, 1);
    row = row_of(snapshot, "user:4242");
    check_number(row, VITALS_WORKLOAD_PROCESSES, VITALS_LOWER_BOUND, 1);
    check_number(row, VITALS_WORKLOAD_TASKS, VITALS_LOWER_BOUND, 3);
    check_number(row, VITALS_WORKLOAD_MEMORY_USED_BYTES, VITALS_ESTIMATE, 7 * page);
    vitals_snapshot_unref(snapshot);
    end();
}

/* ---- names ---- */

static void a_pod_has_its_names_where_the_node_tells_them(void)
{
    static const char PATH[] = "/kubepods/pod11112222-3333-4444-5555-66667777888a/" ID_A;
    char cgroup[256];
    begin(MOUNTS[V2]);
    snprintf(cgroup, sizeof cgroup, "0::%s/init.scope", PATH);
    put_process(7, cgroup);
    put_v2(PATH);
    vitals_snapshot *snapshot = take();
    check_text(row_of(snapshot, "ctr:0123456789ab"), VITALS_WORKLOAD_CONTAINER_ID, ID_A);
    vitals_snapshot_unref(snapshot);
    gpu_tree_link(&tree, "var/log/containers/chat-0_inference_server-" ID_A ".log", "/none");
    snapshot = take();
    const vitals_row *row = row_of(snapshot, "k8s:inference/chat-0/server");
    check_text(row, VITALS_WORKLOAD_KIND, "k8s");
    check_text(row, VITALS_WORKLOAD_K8S_NAMESPACE_NAME, "inference");
    check_text(row, VITALS_WORKLOAD_K8S_POD_NAME, "chat-0");
    check_text(row, VITALS_WORKLOAD_K8S_CONTAINER_NAME, "server");
    check_text(row, VITALS_WORKLOAD_CONTAINER_ID, ID_A);
    check_text(row, VITALS_WORKLOAD_CGROUP, PATH);
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE, 2.5);
    vitals_snapshot_unref(snapshot);
    end();
}

/* The step's daemon knows the number; else the environment; else it is unknown. */
static void a_sluid_becomes_a_number_where_one_is_known(void)
{
    static const char PATH[] = "/system.slice/slurmstepd.scope/job_" SLUID "/step_0";
    vitals_text text;
    char cgroup[256];
    begin(MOUNTS[V2]);
    snprintf(cgroup, sizeof cgroup, "0::%s/user/task_0", PATH);
    put_process(7, cgroup);
    put_v2(PATH);
    vitals_snapshot *snapshot = take();
    const vitals_row *row = row_of(snapshot, "slurm:" SLUID ".0");
    check_text(row, VITALS_WORKLOAD_SLURM_JOB_ID, SLUID);
    check_text(row, VITALS_WORKLOAD_SLURM_SLUID, SLUID);
    vitals_snapshot_unref(snapshot);

    gpu_tree_put(&tree, "proc/7/environ", "SLURM_JOB_ID=77", sizeof "SLURM_JOB_ID=77");
    snapshot = take();
    row = row_of(snapshot, "slurm:77.0");
    CHECK_INT(vitals_row_text(row, VITALS_WORKLOAD_SLURM_JOB_ID, &text), VITALS_ESTIMATE);
    vitals_snapshot_unref(snapshot);

    put("3\n", "sys/fs/cgroup%s/slurm/cgroup.procs", PATH);
    put("slurmstepd: [4711.0 stepmgr]", "proc/3/cmdline");
    snapshot = take();
    row = row_of(snapshot, "slurm:4711.0");
    CHECK_INT(vitals_row_text(row, VITALS_WORKLOAD_SLURM_JOB_ID, &text), VITALS_HAVE);
    check_text(row, VITALS_WORKLOAD_SLURM_SLUID, SLUID);
    vitals_snapshot_unref(snapshot);
    end();
}

/* Any process may have another job's number in its environment. */
static void an_environment_alone_makes_no_job(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/web.service");
    gpu_tree_put(&tree, "proc/7/environ", "SLURM_JOB_ID=77", sizeof "SLURM_JOB_ID=77");
    vitals_snapshot *snapshot = take();
    (void)row_of(snapshot, "unit:web.service");
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_WORKLOAD), 1);
    vitals_snapshot_unref(snapshot);
    end();
}

static const check_test tests[] = {
    {"a path tells the kind and the own cgroup", a_path_tells_the_kind_and_the_own_cgroup},
    {"an id is read as it was written", an_id_is_read_as_it_was_written},
    {"what is no id is none", what_is_no_id_is_none},
    {"version 2 counts for a step", version_2_counts_for_a_step},
    {"version 1 counts by controller", version_1_counts_by_controller},
    {"a hybrid machine counts on both", a_hybrid_machine_counts_on_both},
    {"a namespace hides what lies beside it", a_namespace_hides_what_lies_beside_it},
    {"another machine's /sys has its own mounts", another_machines_sys_has_its_own_mounts},
    {"a cgroup that vanished is gone", a_cgroup_that_vanished_is_gone},
    {"a user is the sum of his processes", a_user_is_the_sum_of_his_processes},
    {"a pod has its names where the node tells them",
     a_pod_has_its_names_where_the_node_tells_them},
    {"a SLUID becomes a number where one is known", a_sluid_becomes_a_number_where_one_is_known},
    {"an environment alone makes no job", an_environment_alone_makes_no_job},
};
CHECK_TESTS(tests)
