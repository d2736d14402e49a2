/* Each method alone, over processes that burn a known time in every way that other methods miss:
 * against the processes' own clocks, as root and as an ordinary user. The work is done by this
 * program, executed anew with "--work". A method that the machine does not permit is skipped with
 * its name. */
#include "check.h"

#include "run/methods.h"
#include "sampler/context.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534, TRUTH = 9 }; /* the descriptor that work tells its own clock to */

/* ---- the work ---- */

static double clock_of_process(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static _Noreturn void burn(double seconds)
{
    while (clock_of_process() < seconds)
        ;
    double used = clock_of_process();
    (void)!write(TRUTH, &used, sizeof used);
    _exit(0);
}

static void work_children(double seconds)
{
    for (int i = 0; i < 2; i++) {
        if (fork() == 0)
            burn(seconds / 2);
        while (wait(NULL) < 0)
            ;
    }
}

/* A child that ignores the ends of its own: the launcher's child does not. */
static void work_ignored(double seconds)
{
    if (fork() == 0) {
        signal(SIGCHLD, SIG_IGN);
        for (int i = 0; i < 2; i++) {
            if (fork() == 0)
                burn(seconds / 2);
        }
        while (wait(NULL) > 0)
            ;
        _exit(0);
    }
    (void)wait(NULL);
}

static void work_daemon(double seconds)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            burn(seconds);
        _exit(0);
    }
    (void)wait(NULL);
}

static void *fork_in_thread(void *data)
{
    if (fork() == 0)
        burn(*(double *)data);
    (void)wait(NULL);
    return NULL;
}

static void work_thread(double seconds)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, fork_in_thread, &seconds) == 0)
        pthread_join(thread, NULL);
}

static void touch(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; memory != MAP_FAILED && i < bytes; i += 4096)
        memory[i] = 1;
}

static const size_t SPIKE_BYTES = 64u << 20;

static void work_spike(double seconds)
{
    (void)seconds;
    if (fork() == 0) {
        touch(SPIKE_BYTES);
        _exit(0);
    }
    (void)wait(NULL);
}

enum { FORKS = 100 };

static void work_forks(double seconds)
{
    (void)seconds;
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            usleep(300000);
            _exit(0);
        }
        double failed = pid < 0 ? 1 : 0;
        (void)!write(TRUTH, &failed, sizeof failed);
    }
    while (wait(NULL) > 0)
        ;
}

/* Leaves a process behind that lives until the other end of TRUTH's pipe is closed. */
static void work_leave(double seconds)
{
    (void)seconds;
    if (fork() == 0) {
        setsid();
        struct pollfd end = {.fd = TRUTH, .events = 0};
        while (poll(&end, 1, -1) < 0)
            ;
        _exit(0);
    }
}

static const struct {
    const char *name;
    void (*run)(double seconds);
} WORK[] = {
    {"children", work_children}, {"ignored", work_ignored}, {"daemon", work_daemon},
    {"thread", work_thread},     {"spike", work_spike},     {"forks", work_forks},
    {"leave", work_leave},
};

/* Before main: the C library passes the arguments to constructors. */
__attribute__((constructor)) static void work(int argc, char **argv)
{
    if (argc < 4 || strcmp(argv[1], "--work") != 0)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(WORK); i++) {
        if (strcmp(argv[2], WORK[i].name) == 0)
            WORK[i].run(strtod(argv[3], NULL));
    }
    _exit(0);
}

/* ---- a small launcher, in a process of its own ---- */

struct job {
    const char *methods, *work;
    double seconds;
    bool as_nobody;
    bool leaves; /* do not wait for the rest */
    uint64_t limit_memory_bytes, limit_processes, timeout_ns;
    int (*make_scope)(void *data, const char *name, const int64_t *pids, size_t pid_count,
                      uint64_t memory_max_bytes, uint64_t processes_max);
};

struct told {
    char methods[96];
    struct counted counted[COUNTED_COUNT];
    int signal;   /* of the command */
    double truth; /* what the work itself told, summed */
    int64_t pid;  /* of the launcher */
};

static int64_t children(const struct os *os)
{
    int64_t pids[16];
    return os_children(os, pids, ARRAY_COUNT(pids));
}

/* Until all have ended except those that were there before: a method may keep one of its own. */
static void reap_all(struct accounting *accounting, const struct os *os, int64_t before,
                     const struct os_child *child, struct os_signals *signals,
                     const struct job *job, struct told *told)
{
    bool ended = false, forward;
    int64_t pid;
    while (!ended || (!job->leaves && children(os) > before)) {
        enum os_child_change change = os_child_next(&pid);
        struct os_reaped reaped;
        if (change == OS_CHILD_LAST)
            return;
        if (change == OS_CHILD_NONE) {
            struct pollfd descriptor = {.fd = signals->descriptor, .events = POLLIN};
            (void)poll(&descriptor, 1, 100);
            while (os_signals_next(signals, 0, &forward) != 0)
                ;
            accounting_tick(accounting);
            continue;
        }
        accounting_reaping(accounting, pid);
        if (os_reap(pid, &reaped) != OS_CHILD_ENDED)
            continue;
        accounting_reaped(accounting, &reaped);
        ended |= pid == child->pid;
        if (pid == child->pid)
            told->signal = reaped.signal;
    }
}

static void launch(const struct job *job, struct told *told)
{
    char seconds[32];
    vitals_context *context;
    (void)snprintf(seconds, sizeof seconds, "%f", job->seconds);
    const char *const argv[] = {"/proc/self/exe", "--work", job->work, seconds, NULL};
    if (vitals_context_new(NULL, &context, NULL) < 0)
        _exit(1);
    struct os_signals signals;
    struct os_places places;
    struct os_child child;
    (void)os_become_subreaper(&(bool){false});
    (void)os_signals_take(&signals);
    const struct accounting_options options = {
        .count.os = &context->os,
        .methods = job->methods,
        .count.timeout_ns = job->timeout_ns != 0 ? job->timeout_ns : 10 * NS_PER_SECOND,
        .count.make_scope = job->make_scope,
        .count.limit_memory_bytes = job->limit_memory_bytes,
        .count.limit_processes = job->limit_processes};
    struct accounting *accounting = accounting_open(&options);
    int64_t before = children(&context->os);
    accounting_places(accounting, &places);
    const struct os_command command = {.argv = argv, .signals = &signals, .places = &places};
    if (os_spawn(&command, &child) < 0)
        _exit(2);
    accounting_child(accounting, child.pid);
    if (os_spawn_go(&child) != 0)
        _exit(3);
    reap_all(accounting, &context->os, before, &child, &signals, job, told);
    const struct accounting_left left = {.any = job->leaves};
    accounting_read(accounting, &left, told->counted);
    accounting_names(accounting, told->methods, sizeof told->methods);
    told->pid = os_self();
    accounting_close(accounting);
    vitals_context_free(context);
}

static void become_nobody(void)
{
    if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
                           setresuid(NOBODY, NOBODY, NOBODY) != 0))
        _exit(4);
    (void)prctl(PR_SET_DUMPABLE, 1); /* as a program that was started by that user */
}

/* Runs the job; *truth_end is the read end of the work's pipe, which the caller closes. */
static void run_job(const struct job *job, struct told *told, int *truth_end)
{
    int truth[2], answer[2], status;
    CHECK(pipe(truth) == 0 && pipe(answer) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        if (dup2(truth[1], TRUTH) != TRUTH)
            _exit(5);
        (void)close(truth[0]);
        if (truth[1] != TRUTH)
            (void)close(truth[1]);
        (void)fcntl(answer[1], F_SETFD, FD_CLOEXEC);
        (void)fcntl(answer[0], F_SETFD, FD_CLOEXEC);
        if (job->as_nobody)
            become_nobody();
        struct told own = {.methods = ""};
        launch(job, &own);
        (void)!write(answer[1], &own, sizeof own);
        _exit(0);
    }
    close(truth[1]);
    close(answer[1]);
    struct pollfd answered = {.fd = answer[0], .events = POLLIN};
    if (poll(&answered, 1, 40000) != 1)
        (void)kill(pid, SIGKILL); /* what hangs must not keep the others */
    CHECK_INT(read(answer[0], told, sizeof *told), (ssize_t)sizeof *told);
    close(answer[0]);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    double used;
    (void)fcntl(truth[0], F_SETFL, O_NONBLOCK);
    for (told->truth = 0; read(truth[0], &used, sizeof used) == (ssize_t)sizeof used;)
        told->truth += used;
    *truth_end = truth[0];
}

static struct told do_job(struct job job)
{
    struct told told;
    int end;
    run_job(&job, &told, &end);
    close(end);
    return told;
}

static bool has_word(const char *words, const char *word)
{
    return strstr(words, word) != NULL;
}

/* ---- CPU time ---- */

/* What is between a process's own clock and the kernel's account of it: its start and its end. */
static const double TICK_SECONDS = 0.01, STEP_SECONDS = 0.03, SHARE = 0.005;
/* A sanitizer's work at the end of a process comes after the process has read its own CPU time. */
static const double END_SECONDS = CHECK_SANITIZED ? 0.2 : 0;

/* What the hypervisor took of this machine (/proc/stat): perf's clock counts it, wait4 does not. */
static double stolen_seconds(void)
{
    unsigned long long steal = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (file != NULL && fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1)
        steal = 0;
    if (file != NULL)
        (void)fclose(file);
    return (double)steal / (double)sysconf(_SC_CLK_TCK);
}

/* One job of a method; skips the test if the method is not permitted here. The figure's state. */
static int counts_cpu_of(const char *method, const char *way, bool as_nobody)
{
    double stolen = stolen_seconds();
    struct told told = do_job(
        (struct job){.methods = method, .work = way, .seconds = 0.2, .as_nobody = as_nobody});
    if (!has_word(told.methods, method))
        CHECK_SKIP("this method is not permitted here");
    CHECK_CASE(way);
    const struct counted *cpu = &told.counted[COUNTED_CPU_SECONDS];
    /* perf sees no exits: if wait4 missed none, wait4's figure is shown. */
    bool perf = strcmp(method, "perf") == 0, bound = cpu->value.state == VITALS_LOWER_BOUND;
    stolen = perf ? stolen_seconds() - stolen : 0;
    CHECK(told.truth >= 0.2);
    CHECK(cpu->value.as.f64 >=
          told.truth * (1 - SHARE) - (bound ? STEP_SECONDS / 3 + TICK_SECONDS + stolen : 0));
    /* On a busy machine that is a good part of it. */
    double share = perf ? 5 * SHARE : SHARE;
    CHECK(cpu->value.as.f64 <= told.truth * (1 + share) + STEP_SECONDS + END_SECONDS + stolen);
    return cpu->value.state;
}

static void counts_cpu(const char *method, bool as_nobody)
{
    static const char *const WAYS[] = {"children", "ignored", "daemon", "thread"};
    bool perf = strcmp(method, "perf") == 0;
    for (size_t i = 0; i < ARRAY_COUNT(WAYS); i++) {
        int state = counts_cpu_of(method, WAYS[i], as_nobody);
        /* Its clock counts interrupts and stolen time too: where it is so far ahead of wait4's that
         * a process may be missing, the figure is a bound. test_accounting.c has both cases. */
        if (perf && (state == VITALS_LOWER_BOUND || strcmp(WAYS[i], "ignored") == 0))
            CHECK_INT(state, VITALS_LOWER_BOUND);
        else
            CHECK_INT(state, VITALS_HAVE);
    }
}

static void cgroup2_counts_all_cpu_time(void)
{
    counts_cpu("cgroup2", false);
}

static void perf_counts_all_cpu_time(void)
{
    counts_cpu("perf", false);
}

static void perf_counts_all_cpu_time_of_nobody(void)
{
    counts_cpu("perf", true);
}

static void cgroup1_counts_all_cpu_time(void)
{
    counts_cpu("cgroup1", false);
}

static void wait4_counts_who_was_waited_for(void)
{
    static const char *const WAYS[] = {"children", "daemon", "thread"};
    for (size_t i = 0; i < ARRAY_COUNT(WAYS); i++) {
        struct told told = do_job(
            (struct job){.methods = "wait4", .work = WAYS[i], .seconds = 0.2});
        CHECK_CASE(WAYS[i]);
        const struct counted *cpu = &told.counted[COUNTED_CPU_SECONDS];
        CHECK_STR(cpu->source, "wait4");
        CHECK(cpu->value.as.f64 >= told.truth * (1 - SHARE));
        CHECK(cpu->value.as.f64 <= told.truth * (1 + SHARE) + STEP_SECONDS);
    }
}

/* Alone it cannot know that it lost them: it never says that it has all. */
static void wait4_alone_claims_nothing_of_a_tree(void)
{
    struct told told = do_job((struct job){.methods = "wait4", .work = "ignored", .seconds = 0.2});
    static const enum quantity FIGURES[] = {COUNTED_CPU_SECONDS, COUNTED_CPU_USER_SECONDS,
                                            COUNTED_READ_BYTES, COUNTED_MINOR_FAULTS};
    CHECK(told.counted[COUNTED_CPU_SECONDS].value.as.f64 < told.truth);
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++)
        CHECK_INT(told.counted[FIGURES[i]].value.state, VITALS_LOWER_BOUND);
}

/* A method that counted all of it shows that wait4 did not: no figure of wait4 is then exact. */
static void what_wait4_lost_is_noticed(void)
{
    struct told told = do_job((struct job){.methods = "perf", .work = "ignored", .seconds = 0.2});
    if (!has_word(told.methods, "perf"))
        CHECK_SKIP("perf is not permitted here");
    CHECK_INT(told.counted[COUNTED_VOLUNTARY_SWITCHES].value.state, VITALS_LOWER_BOUND);
    CHECK_INT(told.counted[COUNTED_CPU_USER_SECONDS].value.state, VITALS_LOWER_BOUND);
}

/* ---- records of ends ---- */

static void taskstats_counts_every_process(void)
{
    static const struct {
        const char *work;
        double processes;
    } ROWS[] = {{"children", 3}, {"ignored", 4}, {"daemon", 3}, {"thread", 2}};
    for (size_t i = 0; i < ARRAY_COUNT(ROWS); i++) {
        struct told told = do_job(
            (struct job){.methods = "taskstats", .work = ROWS[i].work, .seconds = 0.1});
        if (!has_word(told.methods, "taskstats"))
            CHECK_SKIP("needs CAP_NET_ADMIN in the first namespaces");
        CHECK_CASE(ROWS[i].work);
        CHECK_INT(told.counted[COUNTED_PROCESSES].value.state, VITALS_HAVE);
        CHECK_NEAR(told.counted[COUNTED_PROCESSES].value.as.f64, ROWS[i].processes, 0);
        CHECK(told.counted[COUNTED_CPU_SECONDS].value.as.f64 >= told.truth * (1 - SHARE));
    }
}

static void taskstats_knows_the_largest_process(void)
{
    struct told told = do_job((struct job){.methods = "taskstats", .work = "spike"});
    if (!has_word(told.methods, "taskstats"))
        CHECK_SKIP("needs CAP_NET_ADMIN in the first namespaces");
    if (CHECK_SANITIZED)
        CHECK_SKIP("a sanitizer has memory of its own");
    double largest = told.counted[COUNTED_MEMORY_LARGEST_BYTES].value.as.f64;
    CHECK(largest >= (double)SPIKE_BYTES);
    CHECK(largest <= (double)SPIKE_BYTES + (32 << 20));
    CHECK(told.counted[COUNTED_MEMORY_SUM_BYTES].value.as.f64 >= largest);
}

/* ---- cgroups ---- */

static void a_cgroup_knows_the_peak_of_memory(void)
{
    struct told told = do_job((struct job){.methods = "cgroup2 cgroup1", .work = "spike"});
    const struct counted *peak = &told.counted[COUNTED_MEMORY_PEAK_BYTES];
    if (peak->value.state <= 0)
        CHECK_SKIP("no cgroup of our own counts memory here");
    if (CHECK_SANITIZED)
        CHECK_SKIP("a sanitizer has memory of its own");
    CHECK_INT(peak->value.state, VITALS_HAVE);
    CHECK(peak->value.as.f64 >= (double)SPIKE_BYTES);
    CHECK(peak->value.as.f64 <= (double)SPIKE_BYTES + (32 << 20));
}

static void a_cgroup_holds_the_number_of_processes(void)
{
    struct told free = do_job((struct job){.methods = "cgroup2 cgroup1", .work = "forks"});
    struct told held = do_job(
        (struct job){.methods = "cgroup2 cgroup1", .work = "forks", .limit_processes = 1});
    const struct counted *peak = &held.counted[COUNTED_TASKS_PEAK];
    if (peak->value.state <= 0)
        CHECK_SKIP("no cgroup of our own counts processes here");
    if (CHECK_SANITIZED)
        CHECK_SKIP("a sanitizer has threads of its own, and they count");
    CHECK_NEAR(free.truth, 0, 0);
    const double room = 8 * 1 + 64; /* threads count too, and an end by asking comes first */
    CHECK_NEAR(free.counted[COUNTED_TASKS_PEAK].value.as.f64, FORKS + 1, 0);
    CHECK_NEAR(held.truth, FORKS + 1 - room, 0); /* forks that failed */
    CHECK_NEAR(peak->value.as.f64, room, 0);
}

static void a_cgroup_holds_memory(void)
{
    struct told told = do_job((struct job){
        .methods = "cgroup2 cgroup1", .work = "spike", .limit_memory_bytes = SPIKE_BYTES / 4});
    const struct counted *kills = &told.counted[COUNTED_OOM_KILLS];
    if (kills->value.state <= 0)
        CHECK_SKIP("no cgroup of our own counts memory here");
    if (CHECK_SANITIZED)
        CHECK_SKIP("a sanitizer has memory of its own");
    CHECK(kills->value.as.f64 >= 1);
    CHECK(told.counted[COUNTED_MEMORY_PEAK_BYTES].value.as.f64 <=
          (double)SPIKE_BYTES / 2); /* a quarter, and 16 MiB */
}

/* How many folders below the mounts of cgroups are called so; -1: there are none to look at. */
static int groups_called(const char *name)
{
    char line[512], path[512], kind[64];
    int found = -1;
    FILE *mounts = fopen("/proc/self/mounts", "re");
    while (mounts != NULL && fgets(line, sizeof line, mounts) != NULL) {
        if (sscanf(line, "%*s %400s %60s", path, kind) != 2 || strncmp(kind, "cgroup", 6) != 0)
            continue;
        char command[1200];
        (void)snprintf(command, sizeof command, "find %s -maxdepth 6 -name '%s' 2>/dev/null", path,
                       name);
        FILE *listing = popen(command, "re");
        found = found < 0 ? 0 : found;
        while (listing != NULL && fgets(line, sizeof line, listing) != NULL)
            found++;
        if (listing != NULL)
            (void)pclose(listing);
    }
    if (mounts != NULL)
        (void)fclose(mounts);
    return found;
}

static void nothing_is_left_of_a_cgroup(void)
{
    char name[64];
    struct told told = do_job((struct job){.work = "children", .seconds = 0.01});
    if (!has_word(told.methods, "cgroup"))
        CHECK_SKIP("no cgroup of our own can be made here");
    (void)snprintf(name, sizeof name, "vitals-%lld-*", (long long)told.pid);
    CHECK_INT(groups_called(name), 0);
}

/* It stays where it is, figures are bounds, and the next run removes what is empty then. */
static void a_daemon_keeps_its_cgroup_until_the_next_run(void)
{
    char name[64];
    struct told left;
    const struct job job = {.methods = "cgroup2", .work = "leave", .leaves = true};
    int end;
    run_job(&job, &left, &end);
    bool possible = has_word(left.methods, "cgroup2");
    (void)snprintf(name, sizeof name, "vitals-%lld-*", (long long)left.pid);
    int while_it_lives = possible ? groups_called(name) : 0;
    close(end); /* the daemon ends */
    if (!possible)
        CHECK_SKIP("no cgroup of our own can be made here");
    CHECK_INT(left.counted[COUNTED_CPU_SECONDS].value.state, VITALS_LOWER_BOUND);
    CHECK_INT(while_it_lives, 1);
    int still = 1;
    for (int i = 0; i < 100 && still != 0; i++) { /* its end takes the time that it takes */
        (void)do_job((struct job){.methods = "cgroup2", .work = "children"});
        still = groups_called(name);
        usleep(20000);
    }
    CHECK_INT(still, 0);
}

/* ---- a scope that a service manager makes, for which functions stand in ---- */

static bool find_mount(char out[static 256])
{
    char line[512], kind[64];
    FILE *mounts = fopen("/proc/self/mounts", "re");
    bool found = false;
    while (mounts != NULL && !found && fgets(line, sizeof line, mounts) != NULL)
        found = sscanf(line, "%*s %255s %63s", out, kind) == 2 && strcmp(kind, "cgroup2") == 0;
    if (mounts != NULL)
        (void)fclose(mounts);
    return found;
}

static int make_group(void *data, const char *name, const int64_t *pids, size_t pid_count,
                      uint64_t memory_max_bytes, uint64_t processes_max)
{
    char mount[256], path[512];
    (void)data;
    if (pid_count != 2 || memory_max_bytes != 0 || processes_max != 0 || !find_mount(mount))
        return -1;
    (void)snprintf(path, sizeof path, "%s/%s", mount, name);
    if (mkdir(path, 0755) != 0)
        return -1;
    (void)snprintf(path, sizeof path, "%s/%s/cgroup.procs", mount, name);
    for (size_t i = 0; i < pid_count; i++) {
        FILE *file = fopen(path, "we");
        if (file == NULL || fprintf(file, "%lld", (long long)pids[i]) < 0 || fclose(file) != 0)
            return -1;
    }
    return 0;
}

static int refuse(void *data, const char *name, const int64_t *pids, size_t pid_count,
                  uint64_t memory_max_bytes, uint64_t processes_max)
{
    (void)data, (void)name, (void)pids, (void)pid_count;
    (void)memory_max_bytes, (void)processes_max;
    return -1;
}

static int promise_only(void *data, const char *name, const int64_t *pids, size_t pid_count,
                        uint64_t memory_max_bytes, uint64_t processes_max)
{
    (void)refuse(data, name, pids, pid_count, memory_max_bytes, processes_max);
    return 0;
}

/* As systemd does when a scope is empty. */
static void remove_scopes(void)
{
    char mount[256], path[600];
    DIR *folder = find_mount(mount) ? opendir(mount) : NULL;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        const char *end = strstr(entry->d_name, ".scope");
        if (strncmp(entry->d_name, "vitals-", 7) != 0 || end == NULL || end[6] != '\0')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", mount, entry->d_name);
        (void)rmdir(path);
    }
    if (folder != NULL)
        (void)closedir(folder);
}

static void a_scope_counts_too(void)
{
    if (geteuid() != 0 || groups_called("cgroup.procs") <= 0)
        CHECK_SKIP("the stand-in needs to be root, and a hierarchy of version 2");
    struct told told = do_job((struct job){
        .methods = "systemd", .work = "ignored", .seconds = 0.05, .make_scope = make_group});
    remove_scopes();
    CHECK_CONTAINS(told.methods, "systemd");
    const struct counted *cpu = &told.counted[COUNTED_CPU_SECONDS];
    CHECK_STR(cpu->source, "cgroup v2 cpu.stat");
    CHECK(cpu->value.as.f64 >= told.truth * (1 - SHARE));
    CHECK(cpu->value.as.f64 <= told.truth * (1 + SHARE) + STEP_SECONDS);
}

static void a_manager_that_fails_or_lies_is_done_without(void)
{
    struct told told = do_job(
        (struct job){.methods = "systemd", .work = "children", .make_scope = refuse});
    CHECK_STR(told.methods, "wait4");
    CHECK_INT(told.signal, 0);
    told = do_job((struct job){.methods = "systemd",
                               .work = "children",
                               .make_scope = promise_only,
                               .timeout_ns = 20 * NS_PER_MS});
    CHECK_STR(told.methods, "wait4");
    CHECK_INT(told.signal, 0);
    told = do_job((struct job){.methods = "systemd", .work = "children"});
    CHECK_STR(told.methods, "wait4");
}

/* ---- as an ordinary user ---- */

static void nobody_gets_what_it_may_have(void)
{
    struct told told = do_job((struct job){.work = "children", .seconds = 0.1, .as_nobody = true});
    CHECK_CONTAINS(told.methods, "wait4");
    CHECK(told.counted[COUNTED_CPU_SECONDS].value.state > 0);
    CHECK(told.counted[COUNTED_CPU_SECONDS].value.as.f64 >= told.truth * (1 - SHARE));
    CHECK(told.counted[COUNTED_READ_BYTES].value.state > 0);
}

static const check_test tests[] = {
    {"cgroup2 counts all CPU time", cgroup2_counts_all_cpu_time},
    {"perf counts all CPU time", perf_counts_all_cpu_time},
    {"perf counts all CPU time of nobody", perf_counts_all_cpu_time_of_nobody},
    {"cgroup1 counts all CPU time", cgroup1_counts_all_cpu_time},
    {"wait4 counts who was waited for", wait4_counts_who_was_waited_for},
    {"wait4 alone claims nothing of a tree", wait4_alone_claims_nothing_of_a_tree},
    {"what wait4 lost is noticed", what_wait4_lost_is_noticed},
    {"taskstats counts every process", taskstats_counts_every_process},
    {"taskstats knows the largest process", taskstats_knows_the_largest_process},
    {"a cgroup knows the peak of memory", a_cgroup_knows_the_peak_of_memory},
    {"a cgroup holds the number of processes", a_cgroup_holds_the_number_of_processes},
    {"a cgroup holds memory", a_cgroup_holds_memory},
    {"nothing is left of a cgroup", nothing_is_left_of_a_cgroup},
    {"a daemon keeps its cgroup until the next run", a_daemon_keeps_its_cgroup_until_the_next_run},
    {"a scope counts too", a_scope_counts_too},
    {"a manager that fails or lies is done without", a_manager_that_fails_or_lies_is_done_without},
    {"nobody gets what it may have", nobody_gets_what_it_may_have},
};
CHECK_TESTS(tests)
