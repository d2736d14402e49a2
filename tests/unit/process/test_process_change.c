/* What a handle sets of its process, and everything that it refuses to. The kernel's own calls say
 * what became of it. */
#include "process_world.h"

#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>
#include <vitals/process.h>

/* In the place of the C library's: the nth call from now and those after it are refused. */
static int refuse_from;

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
    if (refuse_from == 1) {
        errno = EPERM;
        return -1;
    }
    if (refuse_from > 1)
        refuse_from--;
    return (int)syscall(SYS_sched_setaffinity, pid, size, mask);
}

static vitals_process *opened(struct world *world, int64_t pid)
{
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_open(&world->context, pid, &process, &error), error);
    return process;
}

/* A world, a child that waits, and its handle. */
struct scene {
    struct world world;
    pid_t pid;
    vitals_process *process;
};

static void scene_open(struct scene *scene)
{
    world_open(&scene->world, NULL, 0);
    scene->pid = child_new();
    scene->process = opened(&scene->world, scene->pid);
}

static void scene_close(struct scene *scene)
{
    vitals_process_close(scene->process);
    child_end(scene->pid);
    world_close(&scene->world);
}

static int io_priority(pid_t pid)
{
    return (int)syscall(SYS_ioprio_get, 1, pid);
}

/* ---- nice ---- */

static void nice_is_set(void)
{
    struct scene scene;
    scene_open(&scene);
    vitals_error error;
    int lower = getpriority(PRIO_PROCESS, 0) < 19 ? getpriority(PRIO_PROCESS, 0) + 1 : 19;
    CHECK_OK(vitals_process_set_nice(scene.process, lower, &error), error);
    CHECK_INT(getpriority(PRIO_PROCESS, (id_t)scene.pid), lower);
    CHECK_OK(vitals_process_set_nice(scene.process, 19, NULL), error);
    CHECK_INT(getpriority(PRIO_PROCESS, (id_t)scene.pid), 19);
    static const int beyond[] = {-21, 20, INT_MAX, INT_MIN}; // the kernel would clamp them
    for (size_t i = 0; i < CHECK_COUNT(beyond); i++)
        CHECK_INT(vitals_process_set_nice(scene.process, beyond[i], &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "-20 to 19");
    CHECK_INT(getpriority(PRIO_PROCESS, (id_t)scene.pid), 19);
    scene_close(&scene);
}

/* ---- I/O ---- */

static void io_priority_is_set(void)
{
    enum { SHIFT = 13 };
    struct scene scene;
    scene_open(&scene);
    vitals_error error;
    CHECK_OK(vitals_process_set_io_priority(scene.process, VITALS_IO_BEST_EFFORT, 3, &error),
             error);
    CHECK_INT(io_priority(scene.pid), 2 << SHIFT | 3);
    CHECK_OK(vitals_process_set_io_priority(scene.process, VITALS_IO_IDLE, 0, &error), error);
    CHECK_INT(io_priority(scene.pid) >> SHIFT, 3);
    CHECK_OK(vitals_process_set_io_priority(scene.process, VITALS_IO_BEST_EFFORT, 7, &error),
             error);
    static const struct {
        int io_class, level;
        const char *part;
    } wrong[] = {
        {VITALS_IO_BEST_EFFORT, 8, "best_effort is 0 to 7, not 8"},
        {VITALS_IO_BEST_EFFORT, -1, "not -1"},
        {VITALS_IO_NONE, 1, "none is 0, not 1"},
        {VITALS_IO_IDLE, 4, "idle is 0, not 4"},
        {4, 0, "no I/O class 4"},
        {-1, 0, "no I/O class -1"},
    };
    for (size_t i = 0; i < CHECK_COUNT(wrong); i++) {
        CHECK_CASE(wrong[i].part);
        CHECK_INT(vitals_process_set_io_priority(scene.process, (vitals_io_class)wrong[i].io_class,
                                                 wrong[i].level, &error),
                  VITALS_EARGUMENT);
        CHECK_CONTAINS(error.message, wrong[i].part);
    }
    CHECK_CASE(NULL);
    CHECK_INT(io_priority(scene.pid), 2 << SHIFT | 7);
    CHECK_OK(vitals_process_set_io_priority(scene.process, VITALS_IO_NONE, 0, &error), error);
    if (geteuid() == 0) {
        CHECK_OK(vitals_process_set_io_priority(scene.process, VITALS_IO_REALTIME, 4, &error),
                 error);
        CHECK_INT(io_priority(scene.pid), 1 << SHIFT | 4);
    }
    scene_close(&scene);
}

/* ---- CPUs ---- */

struct cpus {
    unsigned numbers[CPU_SETSIZE];
    size_t count;
};

static struct cpus cpus_of(pid_t pid)
{
    static cpu_set_t set;
    struct cpus cpus = {.count = 0};
    if (sched_getaffinity(pid, sizeof set, &set) != 0)
        CHECK_SKIP("more CPUs than this test has room for");
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            cpus.numbers[cpus.count++] = cpu;
    return cpus;
}

/* ---- one thread ---- */

static void *wait_for_end(void *data)
{
    int *ends = data;
    char byte = 0;
    pid_t tid = (pid_t)syscall(SYS_gettid);
    CHECK_INT(write(ends[1], &tid, sizeof tid), sizeof tid);
    (void)!read(ends[2], &byte, 1);
    return NULL;
}

/* A second thread of this process is changed, and the first one is not. */
static void one_thread_is_changed(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *own = opened(&world, getpid()), *thread = NULL, *none = NULL;
    vitals_error error;
    pthread_t second;
    int told[2], end[2];
    CHECK_INT(pipe(told) | pipe(end), 0);
    int ends[] = {told[0], told[1], end[0]};
    CHECK_INT(pthread_create(&second, NULL, wait_for_end, ends), 0);
    pid_t tid = 0;
    CHECK_INT(read(told[0], &tid, sizeof tid), sizeof tid);

    int nice = getpriority(PRIO_PROCESS, (id_t)getpid());
    struct cpus before = cpus_of(getpid());
    CHECK_OK(vitals_process_thread(own, tid, &thread, &error), error);
    CHECK_INT(vitals_process_pid(thread), tid);
    CHECK_OK(vitals_process_set_nice(thread, 19, &error), error);
    CHECK_OK(vitals_process_set_io_priority(thread, VITALS_IO_IDLE, 0, &error), error);
    CHECK_OK(vitals_process_set_affinity(thread, before.numbers, 1, &error), error);
    CHECK_INT(getpriority(PRIO_PROCESS, (id_t)tid), 19);
    CHECK_INT(io_priority(tid) >> 13, 3);
    CHECK(cpus_of(tid).count == 1);
    CHECK_INT(getpriority(PRIO_PROCESS, (id_t)getpid()), nice);
    CHECK(cpus_of(getpid()).count == before.count);
    CHECK_INT(vitals_process_signal(thread, 0, &error), VITALS_EUNSUPPORTED);

    CHECK_INT(vitals_process_thread(own, 0, &none, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_process_thread(own, getppid(), &none, &error), VITALS_EGONE);
    CHECK_CONTAINS(error.message, "has no thread");
    CHECK_INT(close(end[1]), 0);
    CHECK_INT(pthread_join(second, NULL), 0);
    while (vitals_process_is_running(thread)) /* the kernel removes it a moment later */
        (void)sched_yield();
    CHECK_INT(vitals_process_set_nice(thread, 19, &error), VITALS_EGONE);
    CHECK(none == NULL);
    vitals_process_close(thread);
    vitals_process_close(own);
    (void)close(told[0]);
    (void)close(told[1]);
    (void)close(end[0]);
    world_close(&world);
}

#define CHECK_CPUS(pid, expected, expected_count)                                  \
    do {                                                                           \
        struct cpus now_ = cpus_of(pid);                                           \
        CHECK_BYTES(now_.numbers, now_.count * sizeof now_.numbers[0], (expected), \
                    (expected_count) * sizeof now_.numbers[0]);                    \
    } while (0)

static void affinity_is_set_and_given_back(void)
{
    struct scene scene;
    scene_open(&scene);
    struct cpus all = cpus_of(scene.pid);
    unsigned last = all.numbers[all.count - 1];
    vitals_error error;
    CHECK_OK(vitals_process_set_affinity(scene.process, &last, 1, &error), error);
    CHECK_CPUS(scene.pid, &last, 1);
    unsigned twice[] = {last, last};
    CHECK_OK(vitals_process_set_affinity(scene.process, twice, 2, &error), error);
    CHECK_CPUS(scene.pid, &last, 1);
    // psutil takes what the mask is now for all that it may have.
    CHECK_OK(vitals_process_set_affinity(scene.process, NULL, 0, &error), error);
    CHECK_CPUS(scene.pid, all.numbers, all.count);
    CHECK_INT(vitals_process_set_affinity(scene.process, NULL, 1, &error), VITALS_EARGUMENT);
    CHECK_CPUS(scene.pid, all.numbers, all.count);
    scene_close(&scene);
}

/* The kernel passes over CPUs that there are not as long as one is left. */
static void a_cpu_that_there_is_not_is_named(void)
{
    struct scene scene;
    scene_open(&scene);
    struct cpus all = cpus_of(scene.pid);
    unsigned last = all.numbers[all.count - 1];
    vitals_error error;
    CHECK_OK(vitals_process_set_affinity(scene.process, &last, 1, &error), error);
    static const unsigned none[] = {1023, 1024, 5000, 4194304, UINT_MAX};
    for (size_t i = 0; i < CHECK_COUNT(none); i++) {
        char part[64];
        unsigned some[] = {all.numbers[0], none[i], last};
        snprintf(part, sizeof part, "cannot use CPU %u; it may use %u", none[i], all.numbers[0]);
        CHECK_CASE(part);
        if (none[i] == last)
            continue; // this machine has it
        CHECK_INT(vitals_process_set_affinity(scene.process, some, 3, &error), VITALS_EARGUMENT);
        CHECK_CONTAINS(error.message, part);
        CHECK_CPUS(scene.pid, &last, 1);
        CHECK_INT(vitals_process_set_affinity(scene.process, &none[i], 1, &error),
                  VITALS_EARGUMENT);
        CHECK_CONTAINS(error.message, part);
        CHECK_CPUS(scene.pid, &last, 1);
    }
    scene_close(&scene);
}

/* The kernel takes the first list in part; then asking for all is refused, or giving back is. */
static void what_could_not_be_given_back_is_said(void)
{
    struct scene scene;
    scene_open(&scene);
    struct cpus all = cpus_of(scene.pid);
    if (all.count < 2) {
        scene_close(&scene);
        CHECK_SKIP("needs two CPUs, to have others than before");
    }
    unsigned some[] = {all.numbers[0], 1023}, last = all.numbers[all.count - 1];
    static const int codes[] = {0, VITALS_EDENIED, VITALS_EARGUMENT};
    vitals_error error;
    for (int nth = 2; nth <= 3; nth++) {
        CHECK_OK(vitals_process_set_affinity(scene.process, &last, 1, &error), error);
        refuse_from = nth;
        int code = vitals_process_set_affinity(scene.process, some, 2, &error);
        refuse_from = 0;
        CHECK_INT(code, codes[nth - 1]);
        CHECK_CONTAINS(error.message, "what it had before could not be given back (errno 1)");
        struct cpus now = cpus_of(scene.pid);
        CHECK(now.count != 1 || now.numbers[0] != last); // it is true
    }
    // Where nothing was changed there is nothing to give back.
    CHECK_OK(vitals_process_set_affinity(scene.process, &last, 1, &error), error);
    refuse_from = 1;
    CHECK_INT(vitals_process_set_affinity(scene.process, some, 2, &error), VITALS_EDENIED);
    refuse_from = 0;
    CHECK(strstr(error.message, "given back") == NULL);
    CHECK_CPUS(scene.pid, &last, 1);
    scene_close(&scene);
}

static vitals_text text_of(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

static void lists_of_cpus_are_read(void)
{
    static const struct {
        const char *text;
        int count; /* or the error */
        unsigned first[4];
    } rows[] = {
        {"0", 1, {0}},
        {"0-3", 4, {0, 1, 2, 3}},
        {"0-1,8", 3, {0, 1, 8}},
        {"9,3,3", 3, {9, 3, 3}},
        {"4194303", 1, {4194303}},
        {"0-4194303", 4194304, {0, 1, 2, 3}},
        {"", VITALS_EARGUMENT, {0}},
        {",", VITALS_EARGUMENT, {0}},
        {"0,", VITALS_EARGUMENT, {0}},
        {"0-", VITALS_EARGUMENT, {0}},
        {"-1", VITALS_EARGUMENT, {0}},
        {"3-2", VITALS_EARGUMENT, {0}},
        {"0-3x", VITALS_EARGUMENT, {0}},
        {"0-3:1/2", VITALS_EARGUMENT, {0}},
        {"4194304", VITALS_EARGUMENT, {0}},
        {"18446744073709551616", VITALS_EARGUMENT, {0}},
        {"all", VITALS_EARGUMENT, {0}},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].text);
        unsigned cpus[4] = {77, 77, 77, 77};
        CHECK_INT(vitals_cpus_parse(text_of(rows[i].text), cpus, 4), rows[i].count);
        for (int j = 0; j < 4; j++)
            CHECK_UINT(cpus[j], j < rows[i].count ? rows[i].first[j] : 77);
        CHECK_INT(vitals_cpus_parse(text_of(rows[i].text), NULL, 0), rows[i].count);
    }
    CHECK_CASE("more than an int");
    char many[6000] = "";
    for (int i = 0; i < 512; i++)
        strcat(many, i == 0 ? "0-4194303" : ",0-4194303");
    CHECK_INT(vitals_cpus_parse(text_of(many), NULL, 0), VITALS_EARGUMENT);
    many[strlen(many) - strlen(",0-4194303")] = '\0';
    CHECK_INT(vitals_cpus_parse(text_of(many), NULL, 0), 511 * 4194304);
}

/* What was read of one is set of another, in its own words. */
static void what_is_read_can_be_set(void)
{
    struct scene one, other;
    scene_open(&one);
    scene_open(&other);
    struct cpus all = cpus_of(one.pid);
    vitals_error error;
    vitals_request *request = NULL;
    vitals_snapshot *answer = NULL;
    CHECK_OK(vitals_process_set_io_priority(one.process, VITALS_IO_IDLE, 0, &error), error);
    CHECK_OK(vitals_process_set_affinity(one.process, all.numbers, 1, &error), error);
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_request_add(request, VITALS_PROCESS_IO_CLASS, &error), error);
    CHECK_OK(vitals_request_add(request, VITALS_PROCESS_CPUS_ALLOWED_LIST, &error), error);
    CHECK_OK(vitals_process_ask(one.process, request, &answer, &error), error);
    const vitals_row *row = vitals_snapshot_next(answer, VITALS_TABLE_PROCESS, NULL);
    vitals_text word, list;
    CHECK_INT(vitals_row_text(row, VITALS_PROCESS_IO_CLASS, &word), VITALS_HAVE);
    CHECK_INT(vitals_row_text(row, VITALS_PROCESS_CPUS_ALLOWED_LIST, &list), VITALS_HAVE);
    int io_class = vitals_io_class_find(word);
    CHECK_INT(io_class, VITALS_IO_IDLE);
    CHECK_OK(vitals_process_set_io_priority(other.process, (vitals_io_class)io_class, 0, &error),
             error);
    unsigned cpus[8];
    int count = vitals_cpus_parse(list, cpus, CHECK_COUNT(cpus));
    CHECK_INT(count, 1);
    CHECK_OK(vitals_process_set_affinity(other.process, cpus, (size_t)count, &error), error);
    CHECK_INT(io_priority(other.pid), io_priority(one.pid));
    CHECK_CPUS(other.pid, all.numbers, 1);
    for (int i = 0; i < 4; i++)
        CHECK_INT(vitals_io_class_find(text_of(vitals_io_class_name((vitals_io_class)i))), i);
    CHECK_NULL(vitals_io_class_name((vitals_io_class)4));
    CHECK_NULL(vitals_io_class_name((vitals_io_class)-1));
    CHECK_INT(vitals_io_class_find(text_of("Idle")), -1);
    CHECK_INT(vitals_io_class_find(text_of("")), -1);
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    scene_close(&one);
    scene_close(&other);
}

/* A thread of the kernel that has one CPU for its own, as ksoftirqd/0; 0 where none is seen. */
static int64_t bound_thread(struct world *world)
{
    world_tick(world);
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(world->snapshot, VITALS_TABLE_PROCESS, row)) != NULL) {
        vitals_text name;
        uint64_t pid;
        if (vitals_row_text(row, VITALS_PROCESS_NAME, &name) > 0 &&
            vitals_row_u64(row, VITALS_PROCESS_PID, &pid) > 0 && name.size == 11 &&
            memcmp(name.bytes, "ksoftirqd/0", 11) == 0)
            return (int64_t)pid;
    }
    return 0;
}

static void a_bound_thread_of_the_kernel_is_left_alone(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    int64_t pid = geteuid() == 0 ? bound_thread(&world) : 0;
    if (pid == 0) {
        world_close(&world);
        CHECK_SKIP("no thread of the kernel that may be asked to move");
    }
    vitals_process *process = opened(&world, pid);
    vitals_error error;
    CHECK_INT(vitals_process_set_affinity(process, &(unsigned){0}, 1, &error), VITALS_EDENIED);
    CHECK_CONTAINS(error.message, "kernel");
    CHECK_INT(vitals_process_set_affinity(process, NULL, 0, &error), VITALS_EDENIED);
    vitals_process_close(process);
    world_close(&world);
}

/* ---- limits ---- */

static const struct {
    const char *name;
    int resource;
} limits[] = {
    {"cpu", RLIMIT_CPU},           {"fsize", RLIMIT_FSIZE},
    {"data", RLIMIT_DATA},         {"stack", RLIMIT_STACK},
    {"core", RLIMIT_CORE},         {"rss", RLIMIT_RSS},
    {"nproc", RLIMIT_NPROC},       {"nofile", RLIMIT_NOFILE},
    {"memlock", RLIMIT_MEMLOCK},   {"as", RLIMIT_AS},
    {"locks", RLIMIT_LOCKS},       {"sigpending", RLIMIT_SIGPENDING},
    {"msgqueue", RLIMIT_MSGQUEUE}, {"nice", RLIMIT_NICE},
    {"rtprio", RLIMIT_RTPRIO},     {"rttime", RLIMIT_RTTIME},
};

static struct rlimit limit_of(pid_t pid, int resource)
{
    struct rlimit limit = {77, 77};
    CHECK_INT(prlimit(pid, (enum __rlimit_resource)resource, NULL, &limit), 0);
    return limit;
}

static void every_limit_is_set(void)
{
    struct scene scene;
    scene_open(&scene);
    vitals_error error;
    for (size_t i = 0; i < CHECK_COUNT(limits); i++) {
        CHECK_CASE(limits[i].name);
        struct rlimit before = limit_of(scene.pid, limits[i].resource);
        rlim_t soft = before.rlim_cur > 1 ? before.rlim_cur / 2 : before.rlim_cur;
        CHECK_OK(
            vitals_process_set_limit(scene.process, limits[i].name, soft, before.rlim_max, &error),
            error);
        struct rlimit now = limit_of(scene.pid, limits[i].resource);
        CHECK_UINT(now.rlim_cur, soft);
        CHECK_UINT(now.rlim_max, before.rlim_max);
    }
    CHECK_CASE(NULL);
    CHECK_OK(vitals_process_set_limit(scene.process, "core", 0, VITALS_UNLIMITED, &error), error);
    CHECK_UINT(limit_of(scene.pid, RLIMIT_CORE).rlim_max, RLIM_INFINITY);
    scene_close(&scene);
}

static void limits_that_are_none_are_refused(void)
{
    struct scene scene;
    scene_open(&scene);
    vitals_error error;
    struct rlimit before = limit_of(scene.pid, RLIMIT_NOFILE);
    CHECK_INT(vitals_process_set_limit(scene.process, "nofile", 9, 8, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "9 is above the hard limit 8");
    CHECK_INT(vitals_process_set_limit(scene.process, "nofile", VITALS_UNLIMITED, 8, &error),
              VITALS_EARGUMENT);
    static const char *const names[] = {"",
                                        "NOFILE",
                                        "nofile ",
                                        "RLIMIT_NOFILE",
                                        "nofil",
                                        "\x1b[31m",
                                        "a name that is far longer than any limit's"};
    for (size_t i = 0; i < CHECK_COUNT(names); i++) {
        CHECK_INT(vitals_process_set_limit(scene.process, names[i], 1, 1, &error),
                  VITALS_EARGUMENT);
        CHECK_CONTAINS(error.message, "cpu fsize data");
        CHECK_CONTAINS(error.message, "rttime");
    }
    struct rlimit now = limit_of(scene.pid, RLIMIT_NOFILE);
    CHECK_UINT(now.rlim_cur, before.rlim_cur);
    CHECK_UINT(now.rlim_max, before.rlim_max);
    scene_close(&scene);
}

/* ---- without permission, and after the end ---- */

/* Every change that is a value: 0 where `expected` came each time, else which did not. */
static int change_everything(vitals_process *process, int expected)
{
    vitals_error error;
    if (vitals_process_set_nice(process, 3, &error) != expected)
        return 1;
    if (vitals_process_set_io_priority(process, VITALS_IO_BEST_EFFORT, 1, &error) != expected)
        return 2;
    if (vitals_process_set_affinity(process, &(unsigned){0}, 1, &error) != expected)
        return 3;
    if (vitals_process_set_affinity(process, NULL, 0, &error) != expected)
        return 4;
    if (vitals_process_set_limit(process, "nofile", 10, 10, &error) != expected)
        return 5;
    return vitals_process_signal(process, 0, &error) == expected ? 0 : 6;
}

static void what_belongs_to_others_is_denied(void)
{
    if (geteuid() != 0)
        CHECK_SKIP("needs root, to become somebody else");
    struct scene scene;
    scene_open(&scene);
    pid_t other = child_fork();
    if (other == 0) {
        if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
            _exit(90);
        vitals_process *process;
        if (vitals_process_open(&scene.world.context, scene.pid, &process, NULL) < 0)
            _exit(91);
        _exit(change_everything(process, VITALS_EDENIED));
    }
    int status;
    CHECK_INT(waitpid(other, &status, 0), other);
    CHECK_INT(getpriority(PRIO_PROCESS, (id_t)scene.pid), getpriority(PRIO_PROCESS, 0));
    scene_close(&scene);
    if (WEXITSTATUS(status) == 91)
        CHECK_SKIP("/proc hides the processes of others");
    CHECK_INT(status, 0);
}

static void what_is_gone_is_not_changed(void)
{
    struct scene scene;
    scene_open(&scene);
    child_end(scene.pid);
    CHECK_INT(change_everything(scene.process, VITALS_EGONE), 0);
    CHECK_INT(vitals_process_set_nice(scene.process, 99, NULL), VITALS_EARGUMENT);
    vitals_process_close(scene.process);
    world_close(&scene.world);
}

static void processes_of_another_proc_are_not_changed(void)
{
    struct world world;
    world_open(&world, check_fixture("proc/linux-6.18"), 0);
    vitals_process *process = opened(&world, 700);
    CHECK_INT(change_everything(process, VITALS_EUNSUPPORTED), 0);
    vitals_process_close(process);
    world_close(&world);
}

static void running_out_of_memory_changes_nothing(void)
{
    struct scene scene;
    scene_open(&scene);
    struct cpus all = cpus_of(scene.pid);
    unsigned some[] = {all.numbers[0], 1023}; // the kernel would set the first
    int64_t live = memory_live();
    int code = VITALS_EMEMORY;
    for (uint64_t nth = 1; code == VITALS_EMEMORY; nth++) {
        CHECK(nth < 50);
        memory_fail_at(nth);
        code = vitals_process_set_affinity(scene.process, some, 2, NULL);
        memory_fail_at(0);
        CHECK(code == VITALS_EMEMORY || code == VITALS_EARGUMENT);
        CHECK_CPUS(scene.pid, all.numbers, all.count);
        CHECK_INT(memory_live(), live);
    }
    memory_fail_at(1);
    CHECK_INT(vitals_process_set_limit(scene.process, "none", 0, 0, NULL), VITALS_EARGUMENT);
    memory_fail_at(0);
    CHECK_INT(memory_live(), live);
    scene_close(&scene);
}

static const check_test tests[] = {
    {"nice is set", nice_is_set},
    {"I/O priority is set", io_priority_is_set},
    {"one thread is changed", one_thread_is_changed},
    {"affinity is set and given back", affinity_is_set_and_given_back},
    {"a CPU that there is not is named", a_cpu_that_there_is_not_is_named},
    {"what could not be given back is said", what_could_not_be_given_back_is_said},
    {"lists of CPUs are read", lists_of_cpus_are_read},
    {"what is read can be set", what_is_read_can_be_set},
    {"a bound thread of the kernel is left alone", a_bound_thread_of_the_kernel_is_left_alone},
    {"every limit is set", every_limit_is_set},
    {"limits that are none are refused", limits_that_are_none_are_refused},
    {"what belongs to others is denied", what_belongs_to_others_is_denied},
    {"what is gone is not changed", what_is_gone_is_not_changed},
    {"processes of another /proc are not changed", processes_of_another_proc_are_not_changed},
    {"running out of memory changes nothing", running_out_of_memory_changes_nothing},
};
CHECK_TESTS(tests)
