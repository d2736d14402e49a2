/* The table workload from tick to tick: which rows stay, which counters go on, and what must not
 * grow. */
#include "workload_world.h"

#include "sampler/tick.h"

static const uint64_t PATIENCE_NS = 5 * NS_PER_SECOND;

static struct tick ticking;
static vitals_request *request;

/* At each tick what a process works for too, where that is asked for `often`. */
static bool often = true;

static void begin_ticks(unsigned rows, const int64_t *pids, size_t count)
{
    static const vitals_metric OF_PROCESS[] = {VITALS_PROCESS_WORKLOAD, VITALS_PROCESS_CGROUP,
                                               VITALS_PROCESS_USER};
    vitals_error error;
    open_context();
    request = request_of(rows, pids, count);
    for (size_t i = 0; often && i < CHECK_COUNT(OF_PROCESS); i++)
        CHECK_OK(vitals_request_set_every(request, OF_PROCESS[i], 0, &error), error);
    CHECK_OK(vitals_request_add(request, VITALS_PROCESS_WORKLOAD, &error), error);
    CHECK_OK(tick_init(&ticking, context, request, &error), error);
}

static vitals_snapshot *next_tick(void)
{
    vitals_error error;
    vitals_snapshot *snapshot;
    CHECK_OK(tick_run(&ticking, PATIENCE_NS, &snapshot, &error), error);
    return snapshot;
}

static void end_ticks(void)
{
    tick_done(&ticking, PATIENCE_NS);
    vitals_request_free(request);
    end();
}

static void remove_process(unsigned pid)
{
    char name[64];
    snprintf(name, sizeof name, "proc/%u", pid);
    gpu_tree_remove(&tree, name);
}

static void put_ticks(unsigned pid, unsigned user_ticks)
{
    char text[512];
    snprintf(text, sizeof text,
             "%u (x) S 1 1 1 0 -1 4194304 11 0 2 0 %u 0 0 0 20 0 3 0 %u 8192 7 0 1 1 0 0 0 0 0 0 "
             "0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             pid, user_ticks, 100 + pid);
    put(text, "proc/%u/stat", pid);
}

static double cpu_of(const vitals_snapshot *snapshot, const char *id)
{
    double seconds = -1;
    CHECK(vitals_row_number(row_of(snapshot, id), VITALS_WORKLOAD_CPU_SECONDS, &seconds) > 0);
    return seconds;
}

/* No cgroup of a user counts the use of processes that have ended. */
static void cpu_time_of_the_ended_is_kept(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::/");
    put_process(8, "0::/");
    put_ticks(7, 500);
    put_ticks(8, 100);
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    vitals_snapshot *snapshot = next_tick();
    uint64_t key = vitals_row_key(row_of(snapshot, "user:4242"));
    CHECK_NEAR(cpu_of(snapshot, "user:4242"), 6, 1e-9);
    vitals_snapshot_unref(snapshot);
    put_ticks(7, 700);
    snapshot = next_tick();
    CHECK_NEAR(cpu_of(snapshot, "user:4242"), 8, 1e-9);
    vitals_snapshot_unref(snapshot);
    remove_process(7);
    put_ticks(8, 150);
    snapshot = next_tick();
    CHECK_NEAR(cpu_of(snapshot, "user:4242"), 8.5, 1e-9);
    check_number(row_of(snapshot, "user:4242"), VITALS_WORKLOAD_PROCESSES, VITALS_HAVE, 1);
    CHECK_UINT(vitals_row_key(row_of(snapshot, "user:4242")), key);
    vitals_snapshot_unref(snapshot);
    end_ticks();
}

/* A workload without processes loses its key, which is not reused. */
static void a_key_is_never_given_again(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/a.service");
    put_process(8, "0::/system.slice/b.service");
    put_v2("/system.slice/a.service");
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    vitals_snapshot *snapshot = next_tick();
    uint64_t a = vitals_row_key(row_of(snapshot, "unit:a.service"));
    uint64_t b = vitals_row_key(row_of(snapshot, "unit:b.service"));
    vitals_snapshot_unref(snapshot);
    remove_process(7);
    snapshot = next_tick();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_WORKLOAD), 1);
    CHECK_UINT(vitals_row_key(row_of(snapshot, "unit:b.service")), b);
    vitals_snapshot_unref(snapshot);
    put_process(9, "0::/system.slice/a.service");
    snapshot = next_tick();
    CHECK(vitals_row_key(row_of(snapshot, "unit:a.service")) > b);
    CHECK(a != vitals_row_key(row_of(snapshot, "unit:a.service")));
    check_number(row_of(snapshot, "unit:a.service"), VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE, 2.5);
    vitals_snapshot_unref(snapshot);
    end_ticks();
}

/* The cgroup counts for both, whichever of them lives. */
static void figures_survive_a_process(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/a.service/worker");
    put_process(8, "0::/system.slice/a.service");
    put_v2("/system.slice/a.service");
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    vitals_snapshot_unref(next_tick());
    remove_process(7);
    put("usage_usec 9000000\n", "sys/fs/cgroup/system.slice/a.service/cpu.stat");
    vitals_snapshot *snapshot = next_tick();
    check_number(row_of(snapshot, "unit:a.service"), VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE, 9);
    check_number(row_of(snapshot, "unit:a.service"), VITALS_WORKLOAD_PROCESSES, VITALS_HAVE, 1);
    vitals_snapshot_unref(snapshot);
    end_ticks();
}

/* Two nodes of Slurm on one machine run the same step: the figures are those of the older. */
static void what_is_in_two_cgroups_is_a_lower_bound(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/n1_slurmstepd.scope/job_42/step_0/user/task_0");
    put_process(8, "0::/system.slice/n2_slurmstepd.scope/job_42/step_0/user/task_1");
    put_v2("/system.slice/n1_slurmstepd.scope/job_42/step_0");
    put_v2("/system.slice/n2_slurmstepd.scope/job_42/step_0");
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    vitals_snapshot *snapshot = next_tick();
    const vitals_row *row = row_of(snapshot, "slurm:42.0");
    check_number(row, VITALS_WORKLOAD_PROCESSES, VITALS_HAVE, 2);
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_LOWER_BOUND, 2.5);
    vitals_snapshot_unref(snapshot);
    end_ticks();
}

static void a_process_says_what_it_works_for(void)
{
    static const int64_t LISTED[] = {7};
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/a.service");
    put_process(8, "0::/system.slice/b.service");
    begin_ticks(VITALS_ROWS_LISTED, LISTED, 1);
    vitals_snapshot *snapshot = next_tick();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_WORKLOAD), 1);
    const vitals_row *process = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, NULL);
    CHECK_NOT_NULL(process);
    check_text(process, VITALS_PROCESS_WORKLOAD, "unit:a.service");
    (void)row_of(snapshot, "unit:a.service");
    vitals_text text; // was read, but not asked for
    CHECK(vitals_row_text(process, VITALS_PROCESS_CGROUP, &text) <= 0);
    vitals_snapshot_unref(snapshot);
    end_ticks();
}

/* A user that may make cgroups may make any number of them. */
static void there_is_an_end_to_rows(void)
{
    enum { MOST = 1024, MANY = MOST + 20 };
    begin(MOUNTS[V2]);
    for (unsigned i = 0; i < MANY; i++) {
        char cgroup[64];
        snprintf(cgroup, sizeof cgroup, "0::/system.slice/u%u.service", i);
        put_process(10 + i, cgroup);
    }
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    vitals_snapshot *snapshot = next_tick();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_WORKLOAD), MOST);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_WORKLOAD), VITALS_LOWER_BOUND);
    vitals_snapshot_unref(snapshot);
    end_ticks();
}

/* If a cgroup cannot be read, its workload is unknown. */
static void what_is_hidden_is_said(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/a.service");
    put_process(8, "nothing that is a cgroup");
    gpu_tree_remove(&tree, "proc/8/status");
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    vitals_snapshot *snapshot = next_tick();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_WORKLOAD), 1);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_WORKLOAD), VITALS_LOWER_BOUND);
    // It may be of this one too.
    const vitals_row *row = row_of(snapshot, "unit:a.service");
    check_number(row, VITALS_WORKLOAD_PROCESSES, VITALS_LOWER_BOUND, 1);
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_GONE, 0);
    vitals_snapshot_unref(snapshot);
    end_ticks();
}

/* As with hidepid=1: a process is there, and nothing more may be known of it. */
static void who_may_not_be_read_may_be_of_any(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::/");
    put("nothing that is a stat", "proc/8/stat");
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    vitals_snapshot *snapshot = next_tick();
    const vitals_row *row = row_of(snapshot, "user:4242");
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_WORKLOAD), VITALS_LOWER_BOUND);
    check_number(row, VITALS_WORKLOAD_PROCESSES, VITALS_LOWER_BOUND, 1);
    check_number(row, VITALS_WORKLOAD_TASKS, VITALS_LOWER_BOUND, 3);
    check_number(row, VITALS_WORKLOAD_MEMORY_USED_BYTES, VITALS_ESTIMATE,
                 7.0 * (double)sysconf(_SC_PAGESIZE));
    vitals_snapshot_unref(snapshot);
    remove_process(8);
    snapshot = next_tick();
    row = row_of(snapshot, "user:4242");
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_WORKLOAD), VITALS_HAVE);
    check_number(row, VITALS_WORKLOAD_PROCESSES, VITALS_HAVE, 1);
    check_number(row, VITALS_WORKLOAD_TASKS, VITALS_HAVE, 3);
    vitals_snapshot_unref(snapshot);
    end_ticks();
}

/* A unit that was restarted between two ticks has a new cgroup, which counts from 0. */
static void a_counter_that_steps_back_is_anothers(void)
{
    static const char *const FALLS[][2] = {
        {"usage_usec 100000\n", "oom_kill 2\n"},
        {"usage_usec 200000\n", "oom_kill 1\n"},
    };
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/a.service");
    put_process(8, "0::/system.slice/b.service");
    put_v2("/system.slice/a.service");
    put_v2("/system.slice/b.service");
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    vitals_snapshot *snapshot = next_tick();
    uint64_t key = vitals_row_key(row_of(snapshot, "unit:a.service"));
    uint64_t other = vitals_row_key(row_of(snapshot, "unit:b.service"));
    vitals_snapshot_unref(snapshot);
    for (size_t i = 0; i < CHECK_COUNT(FALLS); i++) {
        remove_process(7 + 2 * (unsigned)i);
        put_process(9 + 2 * (unsigned)i, "0::/system.slice/a.service");
        put(FALLS[i][0], "sys/fs/cgroup/system.slice/a.service/cpu.stat");
        put(FALLS[i][1], "sys/fs/cgroup/system.slice/a.service/memory.events");
        snapshot = next_tick();
        const vitals_row *row = row_of(snapshot, "unit:a.service");
        check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE, 0.1 * (double)(i + 1));
        check_number(row, VITALS_WORKLOAD_OOM_KILLS, VITALS_HAVE, 2 - (double)i);
        CHECK(vitals_row_key(row) > key);
        CHECK(vitals_row_key(row) > other);
        key = vitals_row_key(row);
        vitals_snapshot_unref(snapshot);
        snapshot = next_tick(); // and stays so
        CHECK_UINT(vitals_row_key(row_of(snapshot, "unit:a.service")), key);
        CHECK_UINT(vitals_row_key(row_of(snapshot, "unit:b.service")), other);
        vitals_snapshot_unref(snapshot);
    }
    end_ticks();
}

/* Of the sum over its processes the cgroup's is no continuation. */
static void another_who_counts_has_another_row(void)
{
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/a.service");
    put("5\n", "sys/fs/cgroup/system.slice/a.service/pids.current");
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    vitals_snapshot *snapshot = next_tick();
    const vitals_row *row = row_of(snapshot, "unit:a.service");
    uint64_t key = vitals_row_key(row);
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_ESTIMATE, 1.5);
    vitals_snapshot_unref(snapshot);
    put("usage_usec 900000000\n", "sys/fs/cgroup/system.slice/a.service/cpu.stat");
    snapshot = next_tick();
    row = row_of(snapshot, "unit:a.service");
    check_number(row, VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE, 900);
    CHECK(vitals_row_key(row) > key);
    vitals_snapshot_unref(snapshot);
    end_ticks();
}

/* Three snapshots take turns, as a client that shows rates holds the newest and the one before. */
static void a_steady_tick_asks_for_no_memory(void)
{
    enum { TICKS = 12 };
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/a.service");
    put_process(8, "0::/");
    put_v2("/system.slice/a.service");
    often = false;
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    often = true;
    vitals_snapshot *held[2] = {NULL, NULL};
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < 2 * TICKS; i++) {
        uint64_t before = memory_asked();
        vitals_snapshot *snapshot = next_tick();
        if (i >= TICKS && memory_asked() - before < least)
            least = memory_asked() - before;
        vitals_snapshot_unref(held[i % 2]);
        held[i % 2] = snapshot;
    }
    CHECK_UINT(least, 0);
    check_number(row_of(held[1], "unit:a.service"), VITALS_WORKLOAD_CPU_SECONDS, VITALS_HAVE, 2.5);
    vitals_snapshot_unref(held[0]);
    vitals_snapshot_unref(held[1]);
    end_ticks();
}

/* Names become known when a new process is read: its neighbors have them in the same tick. */
static void a_name_is_that_of_the_whole_container(void)
{
    static const char PATH[] = "/kubepods/pod11112222-3333-4444-5555-66667777888a/" ID_A;
    char cgroup[256];
    begin(MOUNTS[V2]);
    snprintf(cgroup, sizeof cgroup, "0::%s", PATH);
    put_process(7, cgroup);
    put_v2(PATH);
    often = false;
    begin_ticks(VITALS_ROWS_ALL, NULL, 0);
    often = true;
    vitals_snapshot *snapshot = next_tick();
    (void)row_of(snapshot, "ctr:0123456789ab");
    vitals_snapshot_unref(snapshot);
    gpu_tree_link(&tree, "var/log/containers/chat-0_inference_server-" ID_A ".log", "/none");
    put_process(8, cgroup);
    snapshot = next_tick();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_WORKLOAD), 1);
    check_number(row_of(snapshot, "k8s:inference/chat-0/server"), VITALS_WORKLOAD_PROCESSES,
                 VITALS_HAVE, 2);
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL;)
        check_text(row, VITALS_PROCESS_WORKLOAD, "k8s:inference/chat-0/server");
    vitals_snapshot_unref(snapshot);
    end_ticks();
}

static int take_once(vitals_error *error)
{
    vitals_snapshot *snapshot;
    vitals_request *all = NULL;
    int code = vitals_request_new(0, &all, error);
    if (code == 0)
        code = vitals_request_add_table(all, VITALS_TABLE_WORKLOAD, error);
    if (code == 0)
        code = vitals_snapshot_take_request(context, all, &snapshot, error);
    if (code == 0)
        vitals_snapshot_unref(snapshot);
    vitals_request_free(all);
    return code;
}

static void a_failed_allocation_leaves_nothing(void)
{
    vitals_error error;
    begin(MOUNTS[V2]);
    put_process(7, "0::/system.slice/a.service");
    put_v2("/system.slice/a.service");
    open_context();
    uint64_t before = memory_asked();
    CHECK_OK(take_once(&error), error);
    uint64_t all = memory_asked() - before;
    int64_t live = memory_live();
    for (uint64_t nth = 1; nth <= all; nth++) {
        memory_fail_at(nth);
        int code = take_once(&error);
        memory_fail_at(0);
        CHECK(code == 0 || code == VITALS_EMEMORY);
        CHECK_INT(memory_live(), live);
    }
    end();
}

static const check_test tests[] = {
    {"CPU time of the ended is kept", cpu_time_of_the_ended_is_kept},
    {"a key is never given again", a_key_is_never_given_again},
    {"figures survive a process", figures_survive_a_process},
    {"what is in two cgroups is a lower bound", what_is_in_two_cgroups_is_a_lower_bound},
    {"a process says what it works for", a_process_says_what_it_works_for},
    {"there is an end to rows", there_is_an_end_to_rows},
    {"what is hidden is said", what_is_hidden_is_said},
    {"who may not be read may be of any", who_may_not_be_read_may_be_of_any},
    {"a counter that steps back is another's", a_counter_that_steps_back_is_anothers},
    {"another who counts has another row", another_who_counts_has_another_row},
    {"a name is that of the whole container", a_name_is_that_of_the_whole_container},
    {"a steady tick asks for no memory", a_steady_tick_asks_for_no_memory},
    {"a failed allocation leaves nothing", a_failed_allocation_leaves_nothing},
};
CHECK_TESTS(tests)
