/* The columns of one process that are read beside the ticks, from trees of files, and the parsers
 * behind them. test_process_metrics_live.c asks the live /proc. */
#include "facts_world.h"

#include "util/memory.h"

/* ---- trees of files ---- */

static void every_file_is_read(void)
{
    struct os os = open_os(check_fixture("proc/facts"), NULL);
    struct row_batch batch = read_all(&os, 800);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_UID), 1000); // and not what its name says
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_EFFECTIVE_UID), 1001);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_SAVED_UID), 1002);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_GID), 100);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_EFFECTIVE_GID), 101);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_SAVED_GID), 102);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_NAMESPACE_PID), 3);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_TRACER_PID), 77);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_UMASK), 027);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_NO_NEW_PRIVILEGES), 1);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_VIRTUAL_PEAK_BYTES), 9001 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_LOCKED_BYTES), 64 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_RESIDENT_ANON_BYTES), 1000 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_RESIDENT_FILE_BYTES), 900 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_RESIDENT_SHMEM_BYTES), 100 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_SWAPPED_BYTES), 12 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_HUGETLB_BYTES), 2048 * 1024);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_CAPABILITIES, "net_admin,sys_admin");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_CAPABILITIES_PERMITTED, "all");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_SECCOMP, "filter");
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_FILESYSTEM_UID), 1003);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_FILESYSTEM_GID), 103);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_SUPPLEMENTARY_GIDS, "100,101");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_SIGNALS_BLOCKED, "CHLD");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_SIGNALS_IGNORED, "INT,QUIT");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_SIGNALS_CAUGHT,
                    "HUP,INT,QUIT,USR1,USR2,TERM,CHLD,32,33");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_SIGNALS_PENDING, "SEGV,RTMIN+1");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_SECURITY_LABEL, "docker-default (enforce)");
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_CPUS_ALLOWED), 5);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_CPUS_ALLOWED_LIST, "0-3,8");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_COMMAND_LINE, "worker: serving /a b");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_CGROUP, "/docker/0123456789abcdef");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_WAIT_CHANNEL, "do_sys_poll");
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_LOGIN_UID), 1000);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_OOM_SCORE), 667);
    CHECK_INT(value_of(&batch, VITALS_PROCESS_OOM_SCORE_ADJUST)->as.i64, -998);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_READ_CALLS), 13);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_WRITE_CALLS), 14);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_CALL_READ_BYTES), 5001);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_CALL_WRITTEN_BYTES), 6002);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_CANCELLED_WRITE_BYTES), 4096);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_PSS_BYTES), 266 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_PSS_ANON_BYTES), 116 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_PSS_FILE_BYTES), 110 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_PSS_SHMEM_BYTES), 40 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_USS_BYTES), (44 + 116 + 4096) * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_SWAP_PSS_BYTES), 20 * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_THP_BYTES), 2048 * 1024);
    CHECK_UINT(batch.count, asked_count());
    batch_done(&batch);
    os_close(&os);
}

/* Two threads, of which the second calls itself like a line of its status. */
static void threads_are_added_up(void)
{
    struct os os = open_os(check_fixture("proc/facts"), NULL);
    struct row_batch batch = read_all(&os, 800);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES), 170);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES), 10);
    CHECK_STATE(&batch, VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES, VITALS_LOWER_BOUND);
    CHECK_STATE(&batch, VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES, VITALS_LOWER_BOUND);
    CHECK_NEAR(value_of(&batch, VITALS_PROCESS_RUN_DELAY_SECONDS)->as.f64, 0.75, 1e-12);
    CHECK_STATE(&batch, VITALS_PROCESS_RUN_DELAY_SECONDS, VITALS_LOWER_BOUND);
    CHECK_STATE(&batch, VITALS_PROCESS_BLOCK_DELAY_SECONDS, VITALS_LOWER_BOUND);
    CHECK_NEAR(value_of(&batch, VITALS_PROCESS_BLOCK_DELAY_SECONDS)->as.f64,
               250 / os.ticks_per_second, 1e-12);
    // Pids of a /proc of files are none to ask the kernel for.
    CHECK_STATE(&batch, VITALS_PROCESS_SWAP_DELAY_SECONDS, VITALS_UNSUPPORTED);
    CHECK_STATE(&batch, VITALS_PROCESS_IO_CLASS, VITALS_UNSUPPORTED);
    batch_done(&batch);
    os_close(&os);
}

/* A thread that ended while we read has no files, and is not a kernel without them; three zeros are
 * a kernel that does not count, and two are a thread that never waited. */
static void a_thread_that_ended_is_left_out(void)
{
    static const struct {
        const char *schedstat;
        vitals_availability state;
    } CASES[] = {
        {"0 0 0\n", VITALS_UNSUPPORTED},    {"0 0 2\n", VITALS_HAVE},   {"5 0 2\n", VITALS_HAVE},
        {"nonsense\n", VITALS_UNSUPPORTED}, {NULL, VITALS_UNSUPPORTED},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].schedstat);
        struct tree tree = tree_new();
        tree_text(&tree, "7/task/7/status", "Name:\tp\nvoluntary_ctxt_switches:\t5\n");
        if (CASES[i].schedstat != NULL)
            tree_text(&tree, "7/task/7/schedstat", CASES[i].schedstat);
        tree_link(&tree, "7/task/8", "nowhere");
        struct os os = open_os(tree.path, NULL);
        struct row_batch batch = read_all(&os, 7);
        CHECK_STATE(&batch, VITALS_PROCESS_RUN_DELAY_SECONDS, CASES[i].state);
        CHECK_UINT(u64_of(&batch, VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES), 5);
        CHECK_STATE(&batch, VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES, VITALS_UNSUPPORTED);
        batch_done(&batch);
        batch = read_one(&os, 7, VITALS_PROCESS_RUN_DELAY_SECONDS);
        CHECK_STATE(&batch, VITALS_PROCESS_RUN_DELAY_SECONDS, CASES[i].state);
        batch_done(&batch);
        os_close(&os);
        tree_free(&tree);
    }
}

static void an_old_kernel_tells_less(void)
{
    struct os os = open_os(check_fixture("proc/facts"), NULL);
    struct row_batch batch = read_all(&os, 810);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_PSS_BYTES), (350 + 8) * 1024); // from smaps
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_USS_BYTES), (4 + 8) * 1024);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_THP_BYTES), 2048 * 1024);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_CAPABILITIES, "");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_SECCOMP, "disabled");
    static const vitals_metric MISSING[] = {
        VITALS_PROCESS_SWAP_PSS_BYTES,    VITALS_PROCESS_UMASK,
        VITALS_PROCESS_NO_NEW_PRIVILEGES, VITALS_PROCESS_RESIDENT_ANON_BYTES,
        VITALS_PROCESS_HUGETLB_BYTES,     VITALS_PROCESS_NAMESPACE_PID,
        VITALS_PROCESS_LOGIN_UID,         VITALS_PROCESS_READ_CALLS,
        VITALS_PROCESS_WAIT_CHANNEL,      VITALS_PROCESS_CGROUP,
        VITALS_PROCESS_PID_NAMESPACE,     VITALS_PROCESS_OOM_SCORE_ADJUST,
    };
    for (size_t i = 0; i < CHECK_COUNT(MISSING); i++) {
        CHECK_CASE(vitals_metric_name(MISSING[i]));
        CHECK_STATE(&batch, MISSING[i], VITALS_UNSUPPORTED);
    }
    batch_done(&batch);
    os_close(&os);
}

/* What the kernel would have to count, or pids of another /proc, are unsupported before that. */
static void a_process_that_is_not_there_is_gone(void)
{
    static const vitals_metric ASKED[] = {
        VITALS_PROCESS_IO_CLASS,
        VITALS_PROCESS_IO_LEVEL,
        VITALS_PROCESS_BLOCK_DELAY_SECONDS,
        VITALS_PROCESS_SWAP_DELAY_SECONDS,
        VITALS_PROCESS_RECLAIM_DELAY_SECONDS,
    };
    struct tree tree = tree_new();
    struct os trees[] = {open_os(tree.path, NULL), open_os(NULL, NULL)};
    for (size_t i = 0; i < CHECK_COUNT(trees); i++) {
        struct row_batch batch = read_all(&trees[i], INT32_MAX);
        for (size_t j = 0; j < batch.count; j++) {
            const struct batch_cell *cell = &batch.items[j];
            CHECK_CASE(vitals_metric_name(cell->metric));
            bool asked = false;
            for (size_t k = 0; k < CHECK_COUNT(ASKED); k++)
                asked |= ASKED[k] == cell->metric;
            CHECK(cell->state == VITALS_GONE || (asked && cell->state == VITALS_UNSUPPORTED));
        }
        CHECK_UINT(batch.count, asked_count());
        batch_done(&batch);
        os_close(&trees[i]);
    }
    tree_free(&tree);
}

/* What a zombie and a kernel thread lack is not the same. */
static void what_is_missing_says_of_whom(void)
{
    static const struct {
        char state;
        unsigned flags;
        vitals_availability executable, locked, command, pss;
    } CASES[] = {
        {'Z', 0x400000, VITALS_GONE, VITALS_GONE, VITALS_GONE, VITALS_GONE},
        {'S', 0x200000, VITALS_HAVE, VITALS_HAVE, VITALS_HAVE, VITALS_HAVE},
        {'S', 0x400000, VITALS_GONE, VITALS_UNSUPPORTED, VITALS_HAVE, VITALS_GONE},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct tree tree = tree_new();
        tree_stat(&tree, CASES[i].state, CASES[i].flags, "0");
        char status[64];
        snprintf(status, sizeof status, "Name:\tp\nState:\t%c (x)\n", CASES[i].state);
        tree_text(&tree, "7/status", status);
        tree_text(&tree, "7/cmdline", "");
        tree_text(&tree, "7/smaps_rollup", "");
        struct os os = open_os(tree.path, NULL);
        struct row_batch batch = read_all(&os, 7);
        CHECK_STATE(&batch, VITALS_PROCESS_EXECUTABLE, CASES[i].executable);
        CHECK_STATE(&batch, VITALS_PROCESS_LOCKED_BYTES, CASES[i].locked);
        CHECK_STATE(&batch, VITALS_PROCESS_COMMAND_LINE, CASES[i].command);
        CHECK_STATE(&batch, VITALS_PROCESS_PSS_BYTES, CASES[i].pss);
        if (CASES[i].pss > 0) {
            CHECK_UINT(u64_of(&batch, VITALS_PROCESS_USS_BYTES), 0);
            CHECK_UINT(u64_of(&batch, VITALS_PROCESS_SWAPPED_BYTES), 0);
            CHECK_STATE(&batch, VITALS_PROCESS_VIRTUAL_PEAK_BYTES, VITALS_UNSUPPORTED);
        }
        if (CASES[i].executable > 0)
            CHECK_FACT_TEXT(&batch, VITALS_PROCESS_EXECUTABLE, "");
        batch_done(&batch);
        os_close(&os);
        tree_free(&tree);
    }
}

/* A line of groups may be half a megabyte; what a cap cuts off is not said to be unsupported. */
static void a_huge_status_is_read_and_one_beyond_the_cap_says_so(void)
{
    static const struct {
        size_t groups;
        vitals_availability state;
    } CASES[] = {{65536, VITALS_HAVE}, {200000, VITALS_FAILED}};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct tree tree = tree_new();
        struct buffer text = {0};
        buffer_string(&text, "Name:\tp\nUid:\t5\t6\t7\t8\nGroups:\t");
        for (size_t j = 0; j < CASES[i].groups; j++)
            buffer_string(&text, "1234567 ");
        buffer_string(&text, "\nVmSwap:\t  3 kB\nCpus_allowed_list:\t0\n");
        tree_put(&tree, "7/status", text.bytes, text.size);
        buffer_done(&text);
        struct os os = open_os(tree.path, NULL);
        struct row_batch batch = read_all(&os, 7);
        CHECK_UINT(u64_of(&batch, VITALS_PROCESS_SAVED_UID), 7);
        CHECK_STATE(&batch, VITALS_PROCESS_SWAPPED_BYTES, CASES[i].state);
        CHECK_STATE(&batch, VITALS_PROCESS_CPUS_ALLOWED, CASES[i].state);
        batch_done(&batch);
        os_close(&os);
        tree_free(&tree);
    }
}

static void a_command_line_that_was_cut_says_so(void)
{
    enum { LIMIT = 1 << 20 };
    char *text = malloc(LIMIT + 1);
    CHECK_NOT_NULL(text);
    memset(text, 'x', LIMIT + 1);
    for (size_t more = 0; more < 2; more++) {
        struct tree tree = tree_new();
        tree_put(&tree, "7/cmdline", text, LIMIT + more);
        struct os os = open_os(tree.path, NULL);
        struct row_batch batch = read_one(&os, 7, VITALS_PROCESS_COMMAND_LINE);
        const struct batch_cell *cell = value_of(&batch, VITALS_PROCESS_COMMAND_LINE);
        CHECK_INT(cell->state, more ? VITALS_LOWER_BOUND : VITALS_HAVE);
        CHECK_UINT(cell->as.text.size, (size_t)LIMIT);
        batch_done(&batch);
        os_close(&os);
        tree_free(&tree);
    }
    free(text);
}

static void files_of_nonsense_fail(void)
{
    static const struct {
        const char *name, *text;
        vitals_metric metric;
        vitals_availability state;
    } CASES[] = {
        {"7/loginuid", "4294967295", VITALS_PROCESS_LOGIN_UID, VITALS_UNSUPPORTED},
        {"7/loginuid", "0", VITALS_PROCESS_LOGIN_UID, VITALS_HAVE},
        {"7/loginuid", "-1", VITALS_PROCESS_LOGIN_UID, VITALS_FAILED},
        {"7/loginuid", "", VITALS_PROCESS_LOGIN_UID, VITALS_FAILED},
        {"7/oom_score", "12 13\n", VITALS_PROCESS_OOM_SCORE, VITALS_FAILED},
        {"7/oom_score_adj", "x\n", VITALS_PROCESS_OOM_SCORE_ADJUST, VITALS_FAILED},
        {"7/wchan", "0", VITALS_PROCESS_WAIT_CHANNEL, VITALS_HAVE},
        {"7/io", "nothing\n", VITALS_PROCESS_READ_CALLS, VITALS_FAILED},
        {"7/io", "syscr: 1\n", VITALS_PROCESS_WRITE_CALLS, VITALS_FAILED},
        {"7/status", "Uid:\t0\t0\t0\t0\n", VITALS_PROCESS_UID, VITALS_FAILED},
        {"7/status", "", VITALS_PROCESS_UID, VITALS_FAILED},
        {"7/status", "Name:\tp\nSeccomp:\t9\n", VITALS_PROCESS_SECCOMP, VITALS_FAILED},
        {"7/status", "Name:\tp\nCpus_allowed_list:\t3-1\n", VITALS_PROCESS_CPUS_ALLOWED,
         VITALS_FAILED},
        {"7/cgroup", "nonsense\n", VITALS_PROCESS_CGROUP, VITALS_UNSUPPORTED},
        {"7/smaps_rollup", "Pss: 5 kB\nPrivate_Clean: 1 kB\n", VITALS_PROCESS_USS_BYTES,
         VITALS_UNSUPPORTED},
        {"7/smaps_rollup", "Pss: 99999999999999999999 kB\n", VITALS_PROCESS_PSS_BYTES, VITALS_HAVE},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].text);
        struct tree tree = tree_new();
        tree_text(&tree, CASES[i].name, CASES[i].text);
        struct os os = open_os(tree.path, NULL);
        struct row_batch batch = read_one(&os, 7, CASES[i].metric);
        CHECK_STATE(&batch, CASES[i].metric, CASES[i].state);
        batch_done(&batch);
        os_close(&os);
        tree_free(&tree);
    }
}

static void links_are_read_and_not_followed(void)
{
    struct tree tree = tree_new();
    tree_stat(&tree, 'S', 0, "0");
    tree_link(&tree, "7/exe", "/nowhere/a (deleted)");
    tree_link(&tree, "7/cwd", "(unreachable)/x");
    tree_link(&tree, "7/root", "/nowhere\n\xff (deleted)");
    tree_link(&tree, "7/ns/pid", "pid:[4026531836]");
    tree_link(&tree, "7/ns/net", "net:[x]");
    tree_link(&tree, "7/ns/mnt", "mnt:[12");
    tree_link(&tree, "7/ns/user", "/etc/passwd");
    struct os os = open_os(tree.path, NULL);
    struct row_batch batch = read_all(&os, 7);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_EXECUTABLE, "/nowhere/a");
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_EXECUTABLE_DELETED), 1);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_WORKING_DIRECTORY, "(unreachable)/x");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_ROOT_DIRECTORY, "/nowhere\n\xff");
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_PID_NAMESPACE), 4026531836);
    CHECK_STATE(&batch, VITALS_PROCESS_NETWORK_NAMESPACE, VITALS_FAILED);
    CHECK_STATE(&batch, VITALS_PROCESS_MOUNT_NAMESPACE, VITALS_FAILED);
    CHECK_STATE(&batch, VITALS_PROCESS_USER_NAMESPACE, VITALS_FAILED);
    CHECK_STATE(&batch, VITALS_PROCESS_TIME_NAMESPACE, VITALS_UNSUPPORTED);
    batch_done(&batch);
    os_close(&os);
    tree_free(&tree);
}

static void terminals_have_the_names_of_their_devices(void)
{
    static const struct {
        int64_t device;
        const char *name;
    } CASES[] = {
        {0, ""},
        {34816, "pts/0"},
        {34819, "pts/3"},
        {35072, "pts/256"},
        {1025, "tty1"},
        {1088, "ttyS0"},
        {1281, "console"},
        {1049604, "4:260"},
        {52288, "ttyAMA0"},
        {52289, "204:65"},
        {52290, "204:66"},
        {58624, "229:0"},
        {-2147448829, "pts/524291"}, // above 2^31, as stat writes it
        {1083436, "pts/300"},        // minor 300 of 136, as newer kernels count
    };
    struct tree tree = tree_new(), sys = tree_new();
    tree_text(&sys, "dev/char/204:64/uevent", "MAJOR=204\nMINOR=64\nDEVNAME=ttyAMA0\n");
    tree_text(&sys, "dev/char/204:65/uevent", "MAJOR=204\nDEVNAME=\n");
    tree_text(&sys, "dev/char/204:66/uevent",
              "DEVNAME=0123456789012345678901234567890123456789012345678901234567890123\n");
    struct os os = open_os(tree.path, sys.path);
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].name);
        char name[OS_TERMINAL_TEXT];
        CHECK_UINT(os_terminal_name(&os, CASES[i].device, name), strlen(CASES[i].name));
        CHECK_STR(name, CASES[i].name);
    }
    os_close(&os);
    tree_free(&tree);
    tree_free(&sys);
}

/* Delays are counted where the machine was told to; a kernel before 5.14 does not say. */
static void delays_are_not_zero_where_nobody_counts(void)
{
    static const struct {
        const char *accounting, *ticks;
        vitals_availability state;
    } CASES[] = {
        {"1\n", "0", VITALS_HAVE},        {"0\n", "0", VITALS_UNSUPPORTED},
        {"0\n", "5", VITALS_UNSUPPORTED}, {NULL, "0", VITALS_UNSUPPORTED},
        {NULL, "5", VITALS_HAVE},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct tree tree = tree_new();
        char text[256];
        snprintf(
            text, sizeof text,
            "7 (p) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 8192 5 0 1 1 0 0 0 0 0 0 0 0 0 0 "
            "17 1 0 0 %s 0\n",
            CASES[i].ticks);
        tree_text(&tree, "7/stat", text);
        if (CASES[i].accounting != NULL)
            tree_text(&tree, "sys/kernel/task_delayacct", CASES[i].accounting);
        struct os os = open_os(tree.path, NULL);
        struct row_batch batch = read_one(&os, 7, VITALS_PROCESS_BLOCK_DELAY_SECONDS);
        CHECK_STATE(&batch, VITALS_PROCESS_BLOCK_DELAY_SECONDS, CASES[i].state);
        batch_done(&batch);
        os_close(&os);
        tree_free(&tree);
    }
}

static void descriptors_of_a_tree_are_counted(void)
{
    struct tree tree = tree_new();
    tree_text(&tree, "7/fd/0", "");
    tree_text(&tree, "7/fd/17", "");
    tree_text(&tree, "7/fd/no-number", "");
    struct os os = open_os(tree.path, NULL);
    struct row_batch batch = read_one(&os, 7, VITALS_PROCESS_DESCRIPTORS);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_DESCRIPTORS), 2);
    batch_done(&batch);
    os_close(&os);
    tree_free(&tree);
}

/* ---- nothing is opened that is not wanted ---- */

struct opened {
    struct buffer paths; /* one per line: what could not be opened */
};

static void note(void *data, const char *line)
{
    struct opened *opened = data;
    buffer_string(&opened->paths, line);
    buffer_byte(&opened->paths, '\n');
}

/* In a /proc without a file each attempt is told to the trace: a metric tries its own, and stat to
 * find out whether there is such a process. */
static void a_metric_opens_its_own_files_and_no_others(void)
{
    static const struct {
        vitals_metric metric;
        const char *files[4];
    } CASES[] = {
        {VITALS_PROCESS_UID, {"7/status"}},
        {VITALS_PROCESS_CPUS_ALLOWED, {"7/status"}},
        {VITALS_PROCESS_COMMAND_LINE, {"7/cmdline"}},
        {VITALS_PROCESS_CGROUP, {"7/cgroup"}},
        {VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES, {"7/task"}},
        {VITALS_PROCESS_RUN_DELAY_SECONDS, {"7/task"}},
        {VITALS_PROCESS_BLOCK_DELAY_SECONDS, {"sys/kernel/task_delayacct"}},
        {VITALS_PROCESS_SWAP_DELAY_SECONDS, {"sys/kernel/task_delayacct"}},
        {VITALS_PROCESS_PSS_BYTES, {"7/smaps_rollup", "7/smaps"}},
        {VITALS_PROCESS_EXECUTABLE, {"7/exe"}},
        {VITALS_PROCESS_WORKING_DIRECTORY, {"7/cwd"}},
        {VITALS_PROCESS_ROOT_DIRECTORY, {"7/root"}},
        {VITALS_PROCESS_UTS_NAMESPACE, {"7/ns/uts"}},
        {VITALS_PROCESS_DESCRIPTORS, {"7/fd"}},
        {VITALS_PROCESS_LOGIN_UID, {"7/loginuid"}},
        {VITALS_PROCESS_OOM_SCORE, {"7/oom_score"}},
        {VITALS_PROCESS_OOM_SCORE_ADJUST, {"7/oom_score_adj"}},
        {VITALS_PROCESS_WAIT_CHANNEL, {"7/wchan"}},
        {VITALS_PROCESS_READ_CALLS, {"7/io"}},
    };
    struct tree tree = tree_new();
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(vitals_metric_name(CASES[i].metric));
        struct opened opened = {0};
        struct os os = open_os(tree.path, NULL);
        os.trace = note;
        os.trace_data = &opened;
        struct row_batch batch = read_one(&os, 7, CASES[i].metric);
        char expected[256] = "";
        for (size_t j = 0; j < CHECK_COUNT(CASES[i].files) && CASES[i].files[j] != NULL; j++)
            snprintf(expected + strlen(expected), sizeof expected - strlen(expected),
                     "%s: No such file or directory\n", CASES[i].files[j]);
        if (CASES[i].metric != VITALS_PROCESS_SWAP_DELAY_SECONDS)
            strcat(expected, "7/stat: No such file or directory\n");
        CHECK_STR(opened.paths.bytes, expected);
        buffer_done(&opened.paths);
        batch_done(&batch);
        os_close(&os);
    }
    struct opened opened = {0};
    struct os os = open_os(tree.path, NULL);
    os.trace = note;
    os.trace_data = &opened;
    struct row_batch batch = read_one(&os, 7, VITALS_PROCESS_USER); // not ours
    CHECK_NULL(opened.paths.bytes);
    CHECK_UINT(batch.count, (size_t)0);
    batch_done(&batch);
    os_close(&os);
    tree_free(&tree);
}

static void running_out_of_memory_is_survived(void)
{
    struct os os = open_os(check_fixture("proc/facts"), NULL);
    struct metric_set wanted = every_metric();
    int64_t live = memory_live();
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        CHECK(nth < 200);
        struct row_batch batch = {0};
        batch_reset(&batch, &wanted);
        memory_fail_at(nth);
        batch_add_row(&batch, VITALS_TABLE_PROCESS, 1, (struct span){"x", 1});
        os_process_metrics(&os, 800, &batch);
        memory_fail_at(0);
        failed = batch.failed;
        for (size_t i = 0; i < batch.count; i++)
            failed |= batch.items[i].state == VITALS_FAILED;
        batch_done(&batch);
        CHECK_INT(memory_live(), live);
    }
    os_close(&os);
}

/* ---- parsers ---- */

static void capabilities_have_names(void)
{
    static const struct {
        uint64_t mask;
        unsigned last;
        const char *names;
    } CASES[] = {
        {0, 40, ""},
        {1, 40, "chown"},
        {0x201000, 40, "net_admin,sys_admin"},
        {0x1ffffffffff, 40, "all"},
        {0x3fffffffff, 37, "all"},
        {UINT64_MAX, 63, "all"},
        {(uint64_t)1 << 40 | (uint64_t)1 << 41 | (uint64_t)1 << 63, 40, "checkpoint_restore,41,63"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].names);
        struct buffer names = {0};
        linux_format_capabilities(CASES[i].mask, CASES[i].last, &names);
        CHECK_BYTES(names.bytes, names.size, CASES[i].names, strlen(CASES[i].names));
        buffer_done(&names);
    }
}

static void lists_of_cpus_are_counted(void)
{
    static const struct {
        const char *list;
        uint64_t count; /* 0: none */
    } CASES[] = {
        {"0", 1},         {"0-3,8", 5},
        {"0-1023", 1024}, {"1,3,5-6", 4},
        {"", 0},          {"3-1", 0},
        {"0-", 0},        {"0,", 0},
        {",0", 0},        {"0,0", 0},
        {"0-3,2", 0},     {"a", 0},
        {"0 ", 0},        {"0-18446744073709551615", 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].list);
        uint64_t count = 0;
        struct span list = {CASES[i].list, strlen(CASES[i].list)};
        CHECK_INT(linux_count_cpus(list, &count), CASES[i].count != 0);
        CHECK_UINT(count, CASES[i].count);
    }
}

/* However smaps is cut into pieces, the sum is the same. */
static void pieces_of_smaps_add_up(void)
{
    size_t size;
    char *text = check_read("proc/facts/810/smaps", &size);
    struct linux_smaps whole = {0};
    CHECK_UINT(linux_add_smaps(text, size, &whole), size);
    for (size_t piece = 1; piece < size; piece++) {
        struct linux_smaps sum = {0};
        size_t taken = 0;
        for (size_t end = piece; end < size + piece; end += piece)
            taken += linux_add_smaps(text + taken, (end < size ? end : size) - taken, &sum);
        CHECK_UINT(taken, size);
        CHECK_BYTES(&sum, sizeof sum, &whole, sizeof whole);
    }
    free(text);
}

/* Every prefix of an answer is refused or says the same. */
static void answers_of_netlink_are_bounded(void)
{
    size_t size;
    char *text = check_read("netlink/taskstats-v16", &size);
    struct linux_taskstats stats;
    CHECK_INT(linux_parse_taskstats(text, size, &stats), 0);
    CHECK_UINT(stats.voluntary, 904);
    CHECK_UINT(stats.involuntary, 1);
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut + 1);
        CHECK_NOT_NULL(copy);
        memcpy(copy, text, cut);
        CHECK_INT(linux_parse_taskstats(copy, cut, &stats), -EBADMSG);
        free(copy);
    }
    uint16_t family;
    CHECK_INT(linux_parse_family(text, size, &family), -EBADMSG);
    free(text);
    text = check_read("netlink/family", &size);
    CHECK_INT(linux_parse_family(text, size, &family), 0);
    CHECK_UINT(family, 31);
    free(text);
    text = check_read("netlink/denied", &size);
    CHECK_INT(linux_parse_taskstats(text, size, &stats), -EPERM);
    free(text);
}

/* A line that lies across the end of a piece counts, with its first byte. */
static void a_long_smaps_is_added_up_whole(void)
{
    enum { MAPPINGS = 20000 };
    struct tree tree = tree_new();
    struct buffer text = {0};
    for (int i = 0; i < MAPPINGS; i++)
        buffer_format(&text, "Pss: %s1 kB\n", i % 7 == 0 ? " " : "");
    tree_put(&tree, "7/smaps", text.bytes, text.size);
    buffer_done(&text);
    struct os os = open_os(tree.path, NULL);
    struct row_batch batch = read_one(&os, 7, VITALS_PROCESS_PSS_BYTES);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_PSS_BYTES), (uint64_t)MAPPINGS * 1024);
    CHECK_STATE(&batch, VITALS_PROCESS_PSS_BYTES, VITALS_HAVE);
    batch_done(&batch);
    os_close(&os);
    tree_free(&tree);
}

static const check_test tests[] = {
    {"a long smaps is added up whole", a_long_smaps_is_added_up_whole},
    {"every file is read", every_file_is_read},
    {"threads are added up", threads_are_added_up},
    {"a thread that ended is left out", a_thread_that_ended_is_left_out},
    {"an old kernel tells less", an_old_kernel_tells_less},
    {"a process that is not there is gone", a_process_that_is_not_there_is_gone},
    {"what is missing says of whom", what_is_missing_says_of_whom},
    {"a huge status is read and one beyond the cap says so",
     a_huge_status_is_read_and_one_beyond_the_cap_says_so},
    {"a command line that was cut says so", a_command_line_that_was_cut_says_so},
    {"files of nonsense fail", files_of_nonsense_fail},
    {"links are read and not followed", links_are_read_and_not_followed},
    {"terminals have the names of their devices", terminals_have_the_names_of_their_devices},
    {"delays are not zero where nobody counts", delays_are_not_zero_where_nobody_counts},
    {"descriptors of a tree are counted", descriptors_of_a_tree_are_counted},
    {"a metric opens its own files and no others", a_metric_opens_its_own_files_and_no_others},
    {"running out of memory is survived", running_out_of_memory_is_survived},
    {"capabilities have names", capabilities_have_names},
    {"lists of CPUs are counted", lists_of_cpus_are_counted},
    {"pieces of smaps add up", pieces_of_smaps_add_up},
    {"answers of netlink are bounded", answers_of_netlink_are_bounded},
};
CHECK_TESTS(tests)
