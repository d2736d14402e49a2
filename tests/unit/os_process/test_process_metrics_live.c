/* The columns of one process that are read beside the ticks, from the live /proc, compared with
 * what the kernel says of a child in a known state: as root, as an ordinary user, of zombies and of
 * kernel threads. */
#include "facts_world.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { NOBODY = 65534 };

/* ---- children ---- */

/* A child that did what it was told and now waits to be killed. */
static pid_t child_new(void (*prepare)(int told), int *from_child)
{
    int told[2];
    if (pipe2(told, O_CLOEXEC) != 0)
        CHECK_FAIL("pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        CHECK_FAIL("fork: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prepare(told[1]);
        for (;;)
            pause();
    }
    close(told[1]);
    *from_child = told[0];
    return pid;
}

/* What the child wrote when it was ready; -1 where it could not do it. */
static ssize_t child_ready(int from_child, void *out, size_t size)
{
    ssize_t got = read(from_child, out, size);
    close(from_child);
    return got == (ssize_t)size ? got : -1;
}

static void child_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* A child that has ended and was not waited for. */
static pid_t zombie_new(void)
{
    pid_t pid = fork();
    if (pid < 0)
        CHECK_FAIL("fork: %s", strerror(errno));
    if (pid == 0) {
        poll(NULL, 0, 1); // gives the CPU up, which is counted
        _exit(0);
    }
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    return pid;
}

static bool sleeps(pid_t pid, const char *tid)
{
    char path[128], text[OS_STAT_TEXT];
    struct os_stat stat = {0};
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", (int)pid, tid);
    FILE *file = fopen(path, "re");
    size_t size = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    if (file != NULL)
        fclose(file);
    return os_parse_stat(text, size, &stat) && stat.state == 'S';
}

/* Until every thread of it sleeps: what it does on its way there is more than it told. */
static void wait_asleep(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    for (bool asleep = false; !asleep; sched_yield()) {
        DIR *tasks = opendir(path);
        CHECK_NOT_NULL(tasks);
        asleep = true;
        for (struct dirent *entry; (entry = readdir(tasks)) != NULL;)
            if (entry->d_name[0] != '.')
                asleep &= sleeps(pid, entry->d_name);
        closedir(tasks);
    }
}

/* ---- the live /proc ---- */

/* What a child was told to be, and what it answered about itself. */
struct known {
    char folder[64];
};

static struct known known;

static void become_known(int told)
{
    prctl(PR_SET_NAME, "Uid:\t7\t8\t9");
    umask(027);
    bool done = chdir(known.folder) == 0;
    FILE *adjust = fopen("/proc/self/oom_score_adj", "we");
    done &= adjust != NULL && fputs("321", adjust) >= 0 && fclose(adjust) == 0;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    done &= sched_setaffinity(0, sizeof cpus, &cpus) == 0;
    // Best effort, level 4, and a hint, which newer kernels take.
    if (syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 1 << 3 | 4) != 0)
        done &= syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 4) == 0;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    done &= page != MAP_FAILED && syscall(SYS_mlock, page, 4096) == 0;
    done &= prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    for (int i = 0; i < 5; i++)
        done &= dup(told) >= 0;
    done &= setresgid(1001, 1002, 1003) == 0 && setresuid(1004, 1005, 1006) == 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL); // the change of user took it away
    char answer = done ? 'y' : 'n';
    if (write(told, &answer, 1) != 1)
        _exit(1);
}

static void a_child_is_what_it_was_told_to_be(void)
{
    if (geteuid() != 0)
        CHECK_SKIP("only root can make a child with these ids");
    snprintf(known.folder, sizeof known.folder, "/tmp/vitals-facts-XXXXXX");
    CHECK_NOT_NULL(mkdtemp(known.folder));
    int from_child;
    char answer = 'n';
    pid_t pid = child_new(become_known, &from_child);
    CHECK_INT(child_ready(from_child, &answer, 1), 1);
    rmdir(known.folder);
    CHECK_INT(answer, 'y');
    struct os os = open_os(NULL, NULL);
    struct row_batch batch = read_all(&os, pid);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_UID), 1004);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_EFFECTIVE_UID), 1005);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_SAVED_UID), 1006);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_GID), 1001);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_EFFECTIVE_GID), 1002);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_SAVED_GID), 1003);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_UMASK), 027);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_LOCKED_BYTES), 4096);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_NO_NEW_PRIVILEGES), 1);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_CAPABILITIES, "");
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_CPUS_ALLOWED_LIST, "0");
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_CPUS_ALLOWED), 1);
    CHECK_INT(value_of(&batch, VITALS_PROCESS_OOM_SCORE_ADJUST)->as.i64, 321);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_IO_CLASS, "best_effort");
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_IO_LEVEL), 4);                  // without the hint
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_WORKING_DIRECTORY, known.folder); // removed since
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_NAMESPACE_PID), (uint64_t)pid);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_RESIDENT_ANON_BYTES) != 0, true);
    CHECK(u64_of(&batch, VITALS_PROCESS_DESCRIPTORS) >= 6);
    batch_done(&batch);
    // Asked for alone, these are the owner of its folder, though tracing it is not permitted.
    batch = read_one(&os, pid, VITALS_PROCESS_EFFECTIVE_UID);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_EFFECTIVE_UID), 1005);
    batch_done(&batch);
    batch = read_one(&os, pid, VITALS_PROCESS_EFFECTIVE_GID);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_EFFECTIVE_GID), 1002);
    batch_done(&batch);
    os_close(&os);
    child_end(pid);
}

static void a_descriptor_more_is_one_more(void)
{
    struct os os = open_os(NULL, NULL);
    struct row_batch batch = read_one(&os, getpid(), VITALS_PROCESS_DESCRIPTORS);
    uint64_t before = u64_of(&batch, VITALS_PROCESS_DESCRIPTORS);
    batch_done(&batch);
    int more = dup(0);
    CHECK(more >= 0);
    batch = read_one(&os, getpid(), VITALS_PROCESS_DESCRIPTORS);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_DESCRIPTORS), before + 1);
    close(more);
    batch_done(&batch);
    os_close(&os);
}

static char terminal_path[64];

static void take_terminal(int told)
{
    setsid();
    int terminal = open(terminal_path, O_RDWR | O_CLOEXEC);
    char answer = terminal >= 0 && ioctl(terminal, TIOCSCTTY, 0) == 0 ? 'y' : 'n';
    if (write(told, &answer, 1) != 1)
        _exit(1);
}

static void a_terminal_opened_later_is_known(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        CHECK_SKIP("no pseudoterminals here");
    CHECK_INT(ptsname_r(master, terminal_path, sizeof terminal_path), 0);
    int from_child;
    char answer = 'n';
    pid_t pid = child_new(take_terminal, &from_child);
    CHECK_INT(child_ready(from_child, &answer, 1), 1);
    CHECK_INT(answer, 'y');
    struct os os = open_os(NULL, NULL);
    struct os_process process;
    char text[OS_STAT_TEXT], name[OS_TERMINAL_TEXT];
    struct os_stat stat;
    CHECK_INT(os_process_open(&os, pid, false, &process), 0);
    CHECK_INT(os_process_stat(&process, text, &stat), 0);
    os_process_close(&process);
    os_terminal_name(&os, stat.terminal, name);
    CHECK_STR(name, terminal_path + strlen("/dev/"));
    CHECK_INT(stat.foreground_group, pid);
    os_close(&os);
    child_end(pid);
    close(master);
}

/* The program that a child runs; it has begun when the pipe is closed by its exec. */
static const char *program;

static void run_program(int told)
{
    (void)told; // closed by exec
    execl(program, program, "1000", (char *)NULL);
    _exit(127);
}

static pid_t program_new(const char *path)
{
    program = path;
    int from_child;
    pid_t pid = child_new(run_program, &from_child);
    char answer;
    CHECK_INT(child_ready(from_child, &answer, 1), -1);
    return pid;
}

static bool copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    char bytes[65536];
    ssize_t got = -1;
    while (in >= 0 && out >= 0 && (got = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, (size_t)got) != got)
            got = -1;
    close(in);
    close(out);
    return got == 0;
}

/* "prog (deleted)" is the name of a file, or that of a "prog" which is no more, whatever lies
 * beside it. */
static void a_deleted_program_is_told_from_one_that_is_called_so(void)
{
    struct tree tree = tree_new();
    char plain[128], named[128], other[128];
    snprintf(plain, sizeof plain, "%s/prog", tree.path);
    snprintf(named, sizeof named, "%s/prog (deleted)", tree.path);
    snprintf(other, sizeof other, "%s/other", tree.path);
    if (!copy_file("/bin/sleep", plain) || !copy_file("/bin/sleep", other))
        CHECK_SKIP("no /bin/sleep to copy");
    struct os os = open_os(NULL, NULL);
    pid_t pid = program_new(plain);
    struct row_batch batch = read_all(&os, pid);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_EXECUTABLE, plain);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_EXECUTABLE_DELETED), 0);
    batch_done(&batch);

    // A second name keeps the file alive, and not the one that it was started by.
    char second[128];
    snprintf(second, sizeof second, "%s/second", tree.path);
    for (int links = 1; links >= 0; links--) {
        if (links == 1)
            CHECK_INT(link(plain, second), 0);
        else
            CHECK_INT(unlink(second), 0);
        unlink(plain);
        batch = read_all(&os, pid);
        CHECK_FACT_TEXT(&batch, VITALS_PROCESS_EXECUTABLE, plain);
        CHECK_UINT(u64_of(&batch, VITALS_PROCESS_EXECUTABLE_DELETED), 1);
        batch_done(&batch);
    }
    CHECK_INT(rename(other, named), 0);
    batch = read_all(&os, pid);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_EXECUTABLE, plain);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_EXECUTABLE_DELETED), 1);
    batch_done(&batch);
    child_end(pid);

    pid = program_new(named);
    batch = read_all(&os, pid);
    if (u64_of(&batch, VITALS_PROCESS_EXECUTABLE_DELETED) == 0)
        CHECK_FACT_TEXT(&batch, VITALS_PROCESS_EXECUTABLE, named);
    bool told = u64_of(&batch, VITALS_PROCESS_EXECUTABLE_DELETED) == 0;
    batch_done(&batch);
    child_end(pid);
    os_close(&os);
    tree_free(&tree);
    if (!told)
        CHECK_SKIP("a kernel before 5.12 cannot tell a file that is called so");
}

static void a_zombie_keeps_what_it_has_and_has_lost_the_rest(void)
{
    pid_t pid = zombie_new();
    struct os os = open_os(NULL, NULL);
    struct row_batch batch = read_all(&os, pid);
    CHECK_UINT(batch.count, asked_count());
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_UID), getuid());
    static const vitals_metric LOST[] = {
        VITALS_PROCESS_EXECUTABLE,
        VITALS_PROCESS_EXECUTABLE_DELETED,
        VITALS_PROCESS_WORKING_DIRECTORY,
        VITALS_PROCESS_ROOT_DIRECTORY,
        VITALS_PROCESS_COMMAND_LINE,
        VITALS_PROCESS_PSS_BYTES,
        VITALS_PROCESS_USS_BYTES,
        VITALS_PROCESS_SWAP_PSS_BYTES,
        VITALS_PROCESS_THP_BYTES,
        VITALS_PROCESS_VIRTUAL_PEAK_BYTES,
        VITALS_PROCESS_RESIDENT_ANON_BYTES,
        VITALS_PROCESS_NETWORK_NAMESPACE,
        VITALS_PROCESS_UMASK,
    };
    for (size_t i = 0; i < CHECK_COUNT(LOST); i++) {
        CHECK_CASE(vitals_metric_name(LOST[i]));
        CHECK_STATE(&batch, LOST[i], VITALS_GONE);
    }
    CHECK_CASE(NULL);
    CHECK(u64_of(&batch, VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES) +
              u64_of(&batch, VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES) >
          0); // the kernel's sums have none of it
    batch_done(&batch);
    os_close(&os);
    child_end(pid);
}

static void a_kernel_thread_has_no_program_and_no_memory(void)
{
    struct os os = open_os(NULL, NULL);
    struct os_process process;
    char text[OS_STAT_TEXT];
    struct os_stat stat = {0};
    if (geteuid() != 0)
        CHECK_SKIP("only root may ask a kernel thread for its program");
    if (os_process_open(&os, 2, false, &process) == 0) {
        CHECK_INT(os_process_stat(&process, text, &stat), 0);
        os_process_close(&process);
    }
    if ((stat.flags & OS_KERNEL_THREAD) == 0) {
        os_close(&os);
        CHECK_SKIP("process 2 is no kernel thread in this pid namespace");
    }
    struct row_batch batch = read_all(&os, 2);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_EXECUTABLE, "");
    CHECK_STATE(&batch, VITALS_PROCESS_EXECUTABLE_DELETED, VITALS_UNSUPPORTED);
    CHECK_FACT_TEXT(&batch, VITALS_PROCESS_COMMAND_LINE, "");
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_PSS_BYTES), 0);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_USS_BYTES), 0);
    CHECK_UINT(u64_of(&batch, VITALS_PROCESS_DESCRIPTORS), 0);
    CHECK_STATE(&batch, VITALS_PROCESS_VIRTUAL_PEAK_BYTES, VITALS_UNSUPPORTED);
    batch_done(&batch);
    os_close(&os);
}

/* Adds the whole file; the number of its lines, 0 where there is none. */
static uint64_t add_file(pid_t pid, const char *name, struct linux_smaps *sum)
{
    char path[64], line[8192];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    *sum = (struct linux_smaps){0};
    FILE *file = fopen(path, "re");
    uint64_t lines = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        linux_add_smaps(line, strlen(line), sum);
        lines++;
    }
    if (file != NULL)
        fclose(file);
    return lines;
}

/* Both walk the same pages; only PSS is rounded per mapping. What others share with the process
 * changes all the while, so the two are compared when nothing moved. */
static void a_rollup_is_the_sum_of_the_mappings(void)
{
    pid_t pid = program_new("/bin/sleep");
    wait_asleep(pid);
    struct linux_smaps before, maps, after;
    uint64_t lines;
    bool still = false, there = true;
    for (int i = 0; i < 100 && there && !still; i++) {
        there = add_file(pid, "smaps_rollup", &before) != 0;
        lines = add_file(pid, "smaps", &maps);
        add_file(pid, "smaps_rollup", &after);
        still = memcmp(&before, &after, sizeof before) == 0;
    }
    child_end(pid);
    if (!there)
        CHECK_SKIP("no smaps_rollup in this kernel");
    if (!still)
        CHECK_SKIP("what processes share did not stand still here");
    CHECK(before.has != 0);
    CHECK_UINT(maps.private_dirty_bytes, before.private_dirty_bytes);
    CHECK_UINT(maps.private_clean_bytes, before.private_clean_bytes);
    CHECK(maps.pss_bytes <= before.pss_bytes);
    CHECK(maps.pss_bytes + lines * 1024 >= before.pss_bytes);
}

/* ---- as another user ---- */

/* A fact that crosses a pipe. */
struct query_result {
    vitals_metric metric;
    int state;
    uint64_t number;
};

enum { ANSWERS_MAX = 128 };

/* What an ordinary user reads of the process; returns how many facts. */
static size_t read_as_nobody(pid_t pid, struct query_result out[static ANSWERS_MAX])
{
    int answers[2];
    if (pipe2(answers, O_CLOEXEC) != 0)
        CHECK_FAIL("pipe: %s", strerror(errno));
    pid_t reader = fork();
    if (reader < 0)
        CHECK_FAIL("fork: %s", strerror(errno));
    if (reader == 0) {
        if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
                               setresuid(NOBODY, NOBODY, NOBODY) != 0))
            _exit(1);
        struct os os = open_os(NULL, NULL);
        struct row_batch batch = read_all(&os, pid);
        for (size_t i = 0; i < batch.count; i++) {
            struct query_result answer = {batch.items[i].metric, batch.items[i].state,
                                          batch.items[i].as.u64};
            if (write(answers[1], &answer, sizeof answer) != (ssize_t)sizeof answer)
                _exit(1);
        }
        _exit(0);
    }
    close(answers[1]);
    size_t count = 0;
    while (count < ANSWERS_MAX &&
           read(answers[0], &out[count], sizeof out[count]) == (ssize_t)sizeof out[count])
        count++;
    close(answers[0]);
    waitpid(reader, NULL, 0);
    return count;
}

static const struct query_result *answer_of(const struct query_result *answers, size_t count,
                                            vitals_metric metric)
{
    for (size_t i = 0; i < count; i++)
        if (answers[i].metric == metric)
            return &answers[i];
    CHECK_FAIL("%s has no value and no reason", vitals_metric_name(metric));
}

static void what_is_denied_says_so(void)
{
    if (geteuid() != 0)
        CHECK_SKIP("only root has what another user is denied");
    struct query_result answers[ANSWERS_MAX];
    size_t count = read_as_nobody(getpid(), answers);
    CHECK_UINT(count, asked_count());
    static const vitals_metric DENIED[] = {
        VITALS_PROCESS_PSS_BYTES,         VITALS_PROCESS_USS_BYTES,
        VITALS_PROCESS_SWAP_PSS_BYTES,    VITALS_PROCESS_THP_BYTES,
        VITALS_PROCESS_EXECUTABLE,        VITALS_PROCESS_EXECUTABLE_DELETED,
        VITALS_PROCESS_WORKING_DIRECTORY, VITALS_PROCESS_ROOT_DIRECTORY,
        VITALS_PROCESS_PID_NAMESPACE,     VITALS_PROCESS_NETWORK_NAMESPACE,
        VITALS_PROCESS_READ_CALLS,        VITALS_PROCESS_CANCELLED_WRITE_BYTES,
    };
    for (size_t i = 0; i < CHECK_COUNT(DENIED); i++) {
        CHECK_CASE(vitals_metric_name(DENIED[i]));
        CHECK_INT(answer_of(answers, count, DENIED[i])->state, VITALS_DENIED);
    }
    static const vitals_metric OPEN[] = {
        VITALS_PROCESS_UID,          VITALS_PROCESS_SECCOMP,      VITALS_PROCESS_COMMAND_LINE,
        VITALS_PROCESS_CGROUP,       VITALS_PROCESS_OOM_SCORE,    VITALS_PROCESS_IO_CLASS,
        VITALS_PROCESS_WAIT_CHANNEL, VITALS_PROCESS_CAPABILITIES, VITALS_PROCESS_CPUS_ALLOWED,
    };
    for (size_t i = 0; i < CHECK_COUNT(OPEN); i++) {
        CHECK_CASE(vitals_metric_name(OPEN[i]));
        CHECK_INT(answer_of(answers, count, OPEN[i])->state, VITALS_HAVE);
    }
    CHECK_CASE(NULL);
    // Since 6.2 the size of the folder is the count, for any user.
    struct stat status;
    CHECK_INT(stat("/proc/self/fd", &status), 0);
    CHECK_INT(answer_of(answers, count, VITALS_PROCESS_DESCRIPTORS)->state,
              status.st_size > 0 ? VITALS_HAVE : VITALS_DENIED);
    for (size_t i = 0; i < count; i++) {
        CHECK_CASE(vitals_metric_name(answers[i].metric));
        CHECK(answers[i].state != VITALS_UNSET && answers[i].state != VITALS_FAILED);
    }
}

/* ---- context switches of the whole process ---- */

enum { SWITCHES = 200 };

/* Gives the CPU up, until the kernel says that it did so often enough. */
static void *switch_a_lot(void *data)
{
    (void)data;
    struct timespec moment = {.tv_nsec = 1000};
    struct rusage usage;
    do
        nanosleep(&moment, NULL);
    while (getrusage(RUSAGE_THREAD, &usage) == 0 && usage.ru_nvcsw < SWITCHES);
    return NULL;
}

static void *switch_and_stay(void *data)
{
    switch_a_lot(NULL);
    // Only the first thread may go on; this one is seen asleep.
    if (write(*(int *)data, "r", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* Threads that end, and one that stays. */
static bool with_dead, with_living;

static void switch_in_threads(int told)
{
    int ready[2];
    pthread_t thread;
    char byte;
    bool done = pipe2(ready, O_CLOEXEC) == 0;
    switch_a_lot(NULL);
    if (with_dead)
        done &= pthread_create(&thread, NULL, switch_a_lot, NULL) == 0 &&
                pthread_join(thread, NULL) == 0;
    if (with_living)
        done &= pthread_create(&thread, NULL, switch_and_stay, &ready[1]) == 0 &&
                read(ready[0], &byte, 1) == 1;
    struct rusage usage;
    done &= getrusage(RUSAGE_SELF, &usage) == 0;
    uint64_t answer[2] = {done ? (uint64_t)usage.ru_nvcsw : 0, (uint64_t)usage.ru_nivcsw};
    if (write(told, answer, sizeof answer) != (ssize_t)sizeof answer)
        _exit(1);
}

/* The child itself knows by getrusage. `as_root` is by taskstats, the other by files. */
static void check_switches(bool dead, bool living, vitals_availability nobody_state)
{
    with_dead = dead;
    with_living = living;
    int from_child;
    uint64_t truth[2];
    pid_t pid = child_new(switch_in_threads, &from_child);
    CHECK_INT(child_ready(from_child, truth, sizeof truth), sizeof truth);
    CHECK(truth[0] >= SWITCHES);
    struct os os = open_os(NULL, NULL);
    wait_asleep(pid);
    // Going to sleep, and being waited for while it wrote, may be some more of either kind.
    enum { MORE = 8 };
    struct row_batch batch = read_all(&os, pid);
    uint64_t all = truth[0] + truth[1];
    uint64_t found = u64_of(&batch, VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES) +
                     u64_of(&batch, VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES);
    if (state_of(&batch, VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES) == VITALS_HAVE)
        CHECK(found >= all);
    CHECK(found <= all + MORE);
    struct query_result answers[ANSWERS_MAX];
    size_t count = read_as_nobody(pid, answers);
    const struct query_result *voluntary = answer_of(answers, count,
                                                     VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES);
    const struct query_result *involuntary = answer_of(answers, count,
                                                       VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES);
    const struct query_result *delay = answer_of(answers, count, VITALS_PROCESS_RUN_DELAY_SECONDS);
    CHECK_INT(voluntary->state, nobody_state);
    CHECK_INT(involuntary->state, nobody_state);
    CHECK_INT(delay->state, nobody_state); // whole or not, as the switches are
    found = voluntary->number + involuntary->number;
    CHECK(found <= all + MORE);
    CHECK(dead ? found + SWITCHES - MORE <= all : found >= all);
    batch_done(&batch);
    os_close(&os);
    child_end(pid);
}

static void switches_are_those_of_all_threads(void)
{
    check_switches(false, false, VITALS_HAVE);
    check_switches(false, true, VITALS_HAVE);
}

static void what_threads_did_that_ended_is_missed_and_said(void)
{
    check_switches(true, false, VITALS_LOWER_BOUND);
    check_switches(true, true, VITALS_LOWER_BOUND);
}

static const check_test tests[] = {
    {"a child is what it was told to be", a_child_is_what_it_was_told_to_be},
    {"a descriptor more is one more", a_descriptor_more_is_one_more},
    {"a terminal opened later is known", a_terminal_opened_later_is_known},
    {"a deleted program is told from one that is called so",
     a_deleted_program_is_told_from_one_that_is_called_so},
    {"a zombie keeps what it has and has lost the rest",
     a_zombie_keeps_what_it_has_and_has_lost_the_rest},
    {"a kernel thread has no program and no memory", a_kernel_thread_has_no_program_and_no_memory},
    {"a rollup is the sum of the mappings", a_rollup_is_the_sum_of_the_mappings},
    {"what is denied says so", what_is_denied_says_so},
    {"switches are those of all threads", switches_are_those_of_all_threads},
    {"what threads did that ended is missed and said",
     what_threads_did_that_ended_is_missed_and_said},
};
CHECK_TESTS(tests)
