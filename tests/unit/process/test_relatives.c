/* The relatives of a process: on trees of files that cannot be, and on trees of children that fork
 * and die while they are counted. */
#include "process_world.h"

#include <sys/mman.h>
#include <sys/mount.h>
#include <vitals/process.h>

static vitals_process *opened(struct world *world, int64_t pid)
{
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_open(&world->context, pid, &process, &error), error);
    return process;
}

static vitals_snapshot *related(vitals_process *process, vitals_relation relation)
{
    vitals_snapshot *answer = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_relatives(process, relation, NULL, &answer, &error), error);
    return answer;
}

static const vitals_row *row_with_pid(const vitals_snapshot *answer, int64_t pid)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(answer, VITALS_TABLE_PROCESS, row)) != NULL)
        if (row_u64(row, VITALS_PROCESS_PID) == (uint64_t)pid)
            return row;
    return NULL;
}

/* The pids of the answer, in its order, as "10 11 ". */
static const char *pids_of(const vitals_snapshot *answer)
{
    static char text[4096];
    size_t size = 0;
    text[0] = '\0';
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(answer, VITALS_TABLE_PROCESS, row)) != NULL)
        size += (size_t)snprintf(text + size, sizeof text - size, "%llu ",
                                 (unsigned long long)row_u64(row, VITALS_PROCESS_PID));
    return text;
}

/* ---- on files ---- */

static void a_tree_of_files_is_walked(void)
{
    static const struct {
        int64_t pid;
        vitals_relation relation;
        const char *pids;
    } CASES[] = {
        {20, VITALS_CHILDREN, "15 30 40 "},
        {20, VITALS_DESCENDANTS, "12 15 30 31 40 "},
        {20, VITALS_PARENT, "10 "},
        {20, VITALS_ANCESTORS, "10 1 "},
        {31, VITALS_ANCESTORS, "30 20 10 1 "},
        {12, VITALS_ANCESTORS, "15 20 10 1 "}, // pids have wrapped
        {1, VITALS_PARENT, ""},
        {1, VITALS_CHILDREN, "10 60 "},
        {12, VITALS_CHILDREN, ""},
        {50, VITALS_PARENT, ""},       // its parent is younger than it
        {60, VITALS_CHILDREN, ""},     // its own parent is not its own child
        {70, VITALS_ANCESTORS, "71 "}, // a ring
        {70, VITALS_DESCENDANTS, "71 "},
        {80, VITALS_PARENT, ""}, // no process has that number
    };
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 1, "init", 0, 1);
    tree_process(&tree, 10, "shell", 1, 50);
    tree_process(&tree, 20, "root) (", 10, 100);
    tree_process(&tree, 30, "child", 20, 100);
    tree_process(&tree, 31, "grandchild", 30, 110);
    tree_process(&tree, 40, "child", 20, 101);
    tree_process(&tree, 15, "child, pids wrapped", 20, 500);
    tree_process(&tree, 12, "its child", 15, 500);
    tree_process(&tree, 50, "older than its parent", 20, 99);
    tree_process(&tree, 51, "its child", 50, 200);
    tree_process(&tree, 60, "its child is itself", 1, 70);
    tree_process(&tree, 61, "its own parent", 61, 80);
    tree_process(&tree, 70, "ring", 71, 80);
    tree_process(&tree, 71, "ring", 70, 80);
    tree_process(&tree, 80, "orphan", 79, 80);
    world_open(&world, tree.path, 0);
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        char name[32];
        snprintf(name, sizeof name, "%lld, %d", (long long)CASES[i].pid, CASES[i].relation);
        CHECK_CASE(name);
        vitals_process *process = opened(&world, CASES[i].pid);
        vitals_snapshot *answer = related(process, CASES[i].relation);
        CHECK_STR(pids_of(answer), CASES[i].pids);
        if (CASES[i].pid != 80)
            CHECK_INT(vitals_snapshot_state(answer, VITALS_TABLE_PROCESS), VITALS_HAVE);
        vitals_snapshot_unref(answer);
        vitals_process_close(process);
    }
    CHECK_CASE(NULL);
    world_close(&world);
    tree_free(&tree);
}

static void rows_know_their_parents(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 20, "root", 1, 100);
    tree_process(&tree, 30, "child", 20, 100);
    tree_process(&tree, 25, "grandchild", 30, 110);
    world_open(&world, tree.path, 0);
    vitals_process *process = opened(&world, 20);
    vitals_snapshot *answer = related(process, VITALS_DESCENDANTS);
    const vitals_row *child = row_with_pid(answer, 30), *grandchild = row_with_pid(answer, 25);
    CHECK_UINT(vitals_row_parent(grandchild), vitals_row_key(child));
    CHECK(vitals_row_key(grandchild) < vitals_row_key(child)); // in the order of pids
    CHECK_UINT(row_u64(grandchild, VITALS_PROCESS_PARENT_PID), 30);
    CHECK_STR(vitals_row_label(grandchild), "grandchild");

    // The keys of all answers of a handle agree.
    vitals_request *request;
    vitals_snapshot *own;
    CHECK_INT(vitals_request_new(0, &request, NULL), 0);
    CHECK_INT(vitals_request_add(request, VITALS_PROCESS_NAME, NULL), 0);
    CHECK_INT(vitals_process_ask(process, request, &own, NULL), 0);
    CHECK_UINT(vitals_row_parent(child),
               vitals_row_key(vitals_snapshot_row(own, VITALS_TABLE_PROCESS, 0)));
    CHECK_UINT(vitals_snapshot_stream(own), vitals_snapshot_stream(answer));

    // Those of ancestors are places, which other processes may have in the next answer.
    vitals_snapshot *up = related(process, VITALS_ANCESTORS),
                    *again = related(process, VITALS_ANCESTORS);
    CHECK(vitals_snapshot_stream(up) != vitals_snapshot_stream(own));
    CHECK(vitals_snapshot_stream(up) != vitals_snapshot_stream(again));
    vitals_snapshot_unref(up);
    vitals_snapshot_unref(again);
    vitals_request_free(request);
    vitals_snapshot_unref(own);
    vitals_snapshot_unref(answer);
    vitals_process_close(process);
    world_close(&world);
    tree_free(&tree);
}

/* ---- another process has the pid when it is read again ---- */

static struct {
    const vitals_clock *real;
    const struct tree *tree;
    int asked, change_at;
} moving;

/* The clock is read for every process that is read. */
static uint64_t moving_now(void *data)
{
    (void)data;
    if (++moving.asked == moving.change_at)
        tree_process(moving.tree, 30, "impostor", 1, 100); // of the same clock tick
    return moving.real->monotonic_ns(moving.real->data);
}

static void an_impostor_of_the_same_clock_tick_is_no_relative(void)
{
    struct tree tree = tree_new();
    struct world world;
    vitals_request *request;
    vitals_snapshot *answer = NULL;
    vitals_error error;
    tree_process(&tree, 20, "root", 1, 100);
    tree_process(&tree, 30, "child", 20, 100);
    tree_process(&tree, 40, "child", 20, 100);
    world_open(&world, tree.path, 0);
    vitals_process *process = opened(&world, 20);
    CHECK_INT(vitals_request_new(0, &request, NULL), 0);
    CHECK_INT(vitals_request_add(request, VITALS_PROCESS_RESIDENT_BYTES, NULL), 0);
    vitals_clock real = world.context.os.clock;
    moving.real = &real;
    moving.tree = &tree;
    moving.change_at = 4; // after the three of the scan
    world.context.os.clock.monotonic_ns = moving_now;
    CHECK_OK(vitals_process_relatives(process, VITALS_CHILDREN, request, &answer, &error), error);
    world.context.os.clock = real;
    CHECK(moving.asked >= moving.change_at);
    CHECK_STR(pids_of(answer), "40 ");
    CHECK_INT(vitals_snapshot_state(answer, VITALS_TABLE_PROCESS), VITALS_LOWER_BOUND);
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
    tree_free(&tree);
}

static void ancestors_are_found_however_many(void)
{
    enum { DEPTH = 2000 };
    struct tree tree = tree_new();
    struct world world;
    for (int i = 1; i <= DEPTH; i++)
        tree_process(&tree, i, "one", i - 1, 100);
    world_open(&world, tree.path, 0);
    vitals_process *process = opened(&world, DEPTH);
    vitals_snapshot *answer = related(process, VITALS_ANCESTORS);
    CHECK_UINT(vitals_snapshot_count(answer, VITALS_TABLE_PROCESS), DEPTH - 1);
    CHECK_INT(vitals_snapshot_state(answer, VITALS_TABLE_PROCESS), VITALS_HAVE);
    vitals_snapshot_unref(answer);
    vitals_process_close(process);
    world_close(&world);
    tree_free(&tree);
}

static void who_cannot_be_read_is_passed_over(void)
{
    struct tree tree = tree_new();
    struct world world;
    char path[128];
    tree_process(&tree, 20, "root", 1, 100);
    tree_process(&tree, 30, "child", 20, 100);
    tree_text(&tree, 31, "status", "one that ends while it is looked at has no stat");
    world_open(&world, tree.path, 0);
    vitals_process *process = opened(&world, 20);
    vitals_snapshot *answer = related(process, VITALS_CHILDREN);
    CHECK_STR(pids_of(answer), "30 ");
    CHECK_INT(vitals_snapshot_state(answer, VITALS_TABLE_PROCESS), VITALS_HAVE);
    vitals_snapshot_unref(answer);

    snprintf(path, sizeof path, "%s/31/stat", tree.path);
    CHECK_INT(mkdir(path, 0755), 0); // cannot be read, by root neither
    tree_text(&tree, 32, "stat", "32 (cut) S 2");
    static const vitals_relation DOWN[] = {VITALS_CHILDREN, VITALS_DESCENDANTS};
    for (size_t i = 0; i < CHECK_COUNT(DOWN); i++) {
        answer = related(process, DOWN[i]);
        CHECK_STR(pids_of(answer), "30 ");
        CHECK_INT(vitals_snapshot_state(answer, VITALS_TABLE_PROCESS), VITALS_LOWER_BOUND);
        vitals_snapshot_unref(answer);
    }
    vitals_process_close(process);
    world_close(&world);
    tree_free(&tree);
}

static void mistakes_are_said(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 20, "root", 1, 100);
    world_open(&world, tree.path, 0);
    vitals_process *process = opened(&world, 20);
    vitals_snapshot *answer = NULL;
    vitals_error error;
    CHECK_INT(vitals_process_relatives(process, (vitals_relation)5, NULL, &answer, &error),
              VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "relation 5");
    tree_process(&tree, 20, "somebody else", 1, 101);
    for (vitals_relation relation = VITALS_PARENT; relation <= VITALS_DESCENDANTS; relation++)
        CHECK_INT(vitals_process_relatives(process, relation, NULL, &answer, &error), VITALS_EGONE);
    CHECK_NULL(answer);
    vitals_process_close(process);
    world_close(&world);
    tree_free(&tree);
}

/* ---- on the machine ---- */

static void our_ancestors_are_those_of_the_kernel(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    vitals_snapshot *answer = related(process, VITALS_PARENT);
    if (getppid() == 0) {
        CHECK_UINT(vitals_snapshot_count(answer, VITALS_TABLE_PROCESS), 0);
    } else {
        CHECK_UINT(
            row_u64(vitals_snapshot_row(answer, VITALS_TABLE_PROCESS, 0), VITALS_PROCESS_PID),
            (uint64_t)getppid());
        vitals_snapshot_unref(answer);
        answer = related(process, VITALS_ANCESTORS);
        CHECK_NOT_NULL(row_with_pid(answer, getppid()));
        CHECK_NOT_NULL(row_with_pid(answer, 1));
    }
    vitals_snapshot_unref(answer);
    vitals_process_close(process);
    world_close(&world);
}

/* A tree of random form: each member tells its pid and its parent's, and waits. */
enum { FAMILY_MAX = 64 };

struct family {
    atomic_size_t count;
    struct {
        pid_t pid, parent;
    } members[FAMILY_MAX];
};

static void grow(struct family *family, uint64_t *random, unsigned depth)
{
    size_t children = depth == 0 ? 5 : depth < 5 ? (*random >> 33) % 4 : 0;
    for (size_t i = 0; i < children; i++) {
        *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t place = atomic_fetch_add(&family->count, 1);
        if (place >= FAMILY_MAX) {
            atomic_fetch_sub(&family->count, 1);
            return;
        }
        pid_t pid = child_fork();
        if (pid == 0) {
            *random += place;
            family->members[place].parent = getppid();
            grow(family, random, depth + 1);
            family->members[place].pid = getpid(); // last: its children are told
            for (;;)
                pause();
        }
    }
}

static struct family *family_new(uint64_t seed)
{
    struct family *family = mmap(NULL, sizeof *family, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(family != MAP_FAILED);
    grow(family, &seed, 0);
    for (size_t i = 0; i < atomic_load(&family->count); i++)
        while (*(volatile pid_t *)&family->members[i].pid == 0)
            sched_yield();
    return family;
}

/* They end with their parents (PR_SET_PDEATHSIG), and fall to us or to init. */
static void family_end(struct family *family)
{
    size_t count = atomic_load(&family->count);
    for (size_t i = 0; i < count; i++)
        kill(family->members[i].pid, SIGKILL);
    for (size_t i = 0; i < count; i++)
        if (family->members[i].parent == getpid())
            waitpid(family->members[i].pid, NULL, 0);
    munmap(family, sizeof *family);
}

static void a_family_is_found_whole(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct family *family = family_new(seed);
        size_t all = atomic_load(&family->count), children = 0;
        vitals_snapshot *descendants = related(process, VITALS_DESCENDANTS);
        CHECK_UINT(vitals_snapshot_count(descendants, VITALS_TABLE_PROCESS), all);
        for (size_t i = 0; i < all; i++) {
            const vitals_row *row = row_with_pid(descendants, family->members[i].pid);
            CHECK_NOT_NULL(row);
            CHECK_UINT(row_u64(row, VITALS_PROCESS_PARENT_PID),
                       (uint64_t)family->members[i].parent);
            children += family->members[i].parent == getpid();
        }
        vitals_snapshot *direct = related(process, VITALS_CHILDREN);
        CHECK_UINT(vitals_snapshot_count(direct, VITALS_TABLE_PROCESS), children);
        CHECK(children < all);
        vitals_snapshot_unref(direct);
        vitals_snapshot_unref(descendants);
        family_end(family);
    }
    vitals_process_close(process);
    world_close(&world);
}

static void the_columns_are_those_of_any_row(void)
{
    static const vitals_metric COLUMNS[] = {
        VITALS_PROCESS_NAME, VITALS_PROCESS_COMMAND_LINE, VITALS_PROCESS_RESIDENT_BYTES,
        VITALS_PROCESS_UID,  VITALS_PROCESS_CPU_SECONDS,  VITALS_PROCESS_DESCRIPTORS,
        VITALS_LIMIT_NAME, // passed over
    };
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    vitals_request *request;
    CHECK_INT(vitals_request_new(0, &request, NULL), 0);
    for (size_t i = 0; i < CHECK_COUNT(COLUMNS); i++)
        CHECK_INT(vitals_request_add(request, COLUMNS[i], NULL), 0);
    pid_t pid = child_new();
    vitals_snapshot *answer = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_relatives(process, VITALS_CHILDREN, request, &answer, &error), error);
    CHECK_UINT(vitals_snapshot_count(answer, VITALS_TABLE_PROCESS), 1);
    CHECK_FALSE(vitals_snapshot_has_table(answer, VITALS_TABLE_LIMIT));
    const vitals_row *row = row_with_pid(answer, pid);
    CHECK_UINT(row_u64(row, VITALS_PROCESS_UID), getuid());
    CHECK(row_u64(row, VITALS_PROCESS_RESIDENT_BYTES) > 0);
    CHECK(row_u64(row, VITALS_PROCESS_DESCRIPTORS) > 0);
    CHECK(row_text(row, VITALS_PROCESS_COMMAND_LINE).size > 0);
    vitals_process *child = NULL;
    CHECK_OK(vitals_process_of(&world.context, row, &child, &error), error);
    CHECK_INT(vitals_process_pid(child), pid);
    vitals_process_close(child);
    vitals_snapshot_unref(answer);
    child_end(pid);
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
}

/* While a child of ours forks and reaps without pause, those that stay are found every time. */
static void death_during_a_scan_loses_nobody_else(void)
{
    enum { SCANS = 200 };
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *process = opened(&world, getpid());
    pid_t before = child_new();
    pid_t busy = child_fork();
    if (busy == 0)
        for (;;) {
            pid_t pid = fork();
            if (pid == 0)
                _exit(0);
            if (pid > 0)
                waitpid(pid, NULL, 0);
        }
    pid_t after = child_new();
    size_t most = 0;
    for (int i = 0; i < SCANS; i++) {
        vitals_snapshot *answer = related(process, VITALS_DESCENDANTS);
        CHECK_INT(vitals_snapshot_state(answer, VITALS_TABLE_PROCESS), VITALS_HAVE);
        CHECK_NOT_NULL(row_with_pid(answer, before));
        CHECK_NOT_NULL(row_with_pid(answer, busy));
        CHECK_NOT_NULL(row_with_pid(answer, after));
        most = size_max(most, vitals_snapshot_count(answer, VITALS_TABLE_PROCESS));
        vitals_snapshot_unref(answer);
    }
    CHECK(most <= 4);
    child_end(before), child_end(busy), child_end(after);
    vitals_process_close(process);
    world_close(&world);
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    for (int descriptor = 0; descriptor < 1024; descriptor++)
        count += fcntl(descriptor, F_GETFD) >= 0;
    return count;
}

static void many_answers_leave_nothing(void)
{
    enum { ANSWERS = 300 };
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    vitals_process *process = opened(&world, pid);
    vitals_snapshot *answer = NULL;
    size_t descriptors = open_descriptors();
    int64_t live = memory_live();
    for (vitals_relation relation = VITALS_PARENT; relation <= VITALS_DESCENDANTS; relation++)
        for (int i = 0; i < ANSWERS; i++)
            vitals_snapshot_unref(related(process, relation));
    child_end(pid);
    for (vitals_relation relation = VITALS_PARENT; relation <= VITALS_DESCENDANTS; relation++)
        for (int i = 0; i < ANSWERS; i++)
            CHECK_INT(vitals_process_relatives(process, relation, NULL, &answer, NULL),
                      VITALS_EGONE);
    CHECK_UINT(open_descriptors(), descriptors);
    CHECK_INT(memory_live(), live);
    vitals_process_close(process);
    world_close(&world);
}

/* ---- hidden ---- */

enum { HIDDEN_SKIP = -1 };

/* The first process of a pid namespace of its own, with a /proc that hides others' processes. */
static int first_of_a_namespace(const char *proc)
{
    if (mount("proc", proc, "proc", 0, "hidepid=2") != 0)
        return HIDDEN_SKIP;
    pid_t pid = child_fork(); // root's, as we are: it is not hidden
    if (pid == 0)
        for (;;)
            pause();
    pid = fork();
    if (pid == 0) {
        struct world world;
        vitals_process *process;
        vitals_snapshot *answer;
        // A process that has changed its user is hidden even from that user, unless it says
        // otherwise.
        if (setgid(65534) != 0 || setuid(65534) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0 ||
            fork() < 0)
            _exit(2);
        if (getpid() != 3)
            pause(); // the child that the third must see
        world_open(&world, proc, 0);
        if (vitals_process_open(&world.context, 3, &process, NULL) != 0)
            _exit(3);
        if (vitals_process_relatives(process, VITALS_PARENT, NULL, &answer, NULL) != 0 ||
            vitals_snapshot_count(answer, VITALS_TABLE_PROCESS) != 0 ||
            vitals_snapshot_state(answer, VITALS_TABLE_PROCESS) != VITALS_LOWER_BOUND)
            _exit(4);
        if (vitals_process_relatives(process, VITALS_CHILDREN, NULL, &answer, NULL) != 0 ||
            vitals_snapshot_count(answer, VITALS_TABLE_PROCESS) != 1 ||
            vitals_snapshot_state(answer, VITALS_TABLE_PROCESS) != VITALS_LOWER_BOUND)
            _exit(5);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void hidden_processes_are_said(void)
{
    if (geteuid() != 0)
        CHECK_SKIP("only root can mount a /proc that hides processes");
    if (CHECK_SANITIZED)
        CHECK_SKIP("a forked child of a sanitized program ends with its leaks");
    struct tree tree = tree_new();
    chmod(tree.path, 0755);
    pid_t pid = child_fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0 ||
            mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
            _exit(77);
        pid_t first = fork();
        if (first == 0) {
            int result = first_of_a_namespace(tree.path);
            _exit(result == HIDDEN_SKIP ? 77 : result);
        }
        int status;
        waitpid(first, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    tree_free(&tree);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        CHECK_SKIP("may not make a pid namespace and mount /proc");
    CHECK_INT(WEXITSTATUS(status), 0);
}

static void running_out_of_memory_is_said(void)
{
    struct tree tree = tree_new();
    struct world world;
    for (int64_t pid = 20; pid < 40; pid++)
        tree_process(&tree, pid, "p", pid - 1, 100);
    world_open(&world, tree.path, 0);
    vitals_process *process = opened(&world, 22);
    vitals_request *request;
    CHECK_INT(vitals_request_new(0, &request, NULL), 0);
    CHECK_INT(vitals_request_add(request, VITALS_PROCESS_USER, NULL), 0);
    CHECK_INT(vitals_request_add(request, VITALS_PROCESS_RESIDENT_BYTES, NULL), 0);
    vitals_snapshot *answer = NULL;
    CHECK_INT(vitals_process_relatives(process, VITALS_CHILDREN, request, &answer, NULL), 0);
    vitals_snapshot_unref(answer);
    int64_t live = memory_live();
    static const vitals_relation BOTH[] = {VITALS_ANCESTORS, VITALS_DESCENDANTS};
    for (size_t i = 0; i < CHECK_COUNT(BOTH); i++) {
        int code = VITALS_EMEMORY;
        uint64_t nth;
        for (nth = 1; code != 0; nth++) {
            CHECK(nth < 1000);
            answer = NULL;
            memory_fail_at(nth);
            code = vitals_process_relatives(process, BOTH[i], request, &answer, NULL);
            memory_fail_at(0);
            CHECK(code == 0 || (code == VITALS_EMEMORY && answer == NULL));
            vitals_snapshot_unref(answer);
            CHECK_INT(memory_live(), live);
        }
        CHECK(nth > 5);
    }
    vitals_request_free(request);
    vitals_process_close(process);
    world_close(&world);
    tree_free(&tree);
}

static const check_test tests[] = {
    {"a tree of files is walked", a_tree_of_files_is_walked},
    {"rows know their parents", rows_know_their_parents},
    {"who cannot be read is passed over", who_cannot_be_read_is_passed_over},
    {"an impostor of the same clock tick is no relative",
     an_impostor_of_the_same_clock_tick_is_no_relative},
    {"ancestors are found however many", ancestors_are_found_however_many},
    {"mistakes are said", mistakes_are_said},
    {"our ancestors are those of the kernel", our_ancestors_are_those_of_the_kernel},
    {"a family is found whole", a_family_is_found_whole},
    {"the columns are those of any row", the_columns_are_those_of_any_row},
    {"death during a scan loses nobody else", death_during_a_scan_loses_nobody_else},
    {"many answers leave nothing", many_answers_leave_nothing},
    {"hidden processes are said", hidden_processes_are_said},
    {"running out of memory is said", running_out_of_memory_is_said},
};
CHECK_TESTS(tests)
