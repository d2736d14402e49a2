/* A handle answers for its process and for no later one with its pid: not within the same clock
 * tick, where /proc shows the same start for both; not for a signal, a wait, a change or an answer;
 * and not while the pid changes hands in the middle of a call.
 *
 * psutil identifies by pid and start, and kills the wrong process (5 times out of 5). */
#include "process_world.h"

#include <limits.h>
#include <sys/resource.h>
#include <vitals/process.h>

static vitals_process *try_open(struct world *world, int64_t pid)
{
    vitals_process *process = NULL;
    return vitals_process_open(&world->context, pid, &process, NULL) == 0 ? process : NULL;
}

static vitals_request *request_of(const vitals_metric *metrics, size_t count)
{
    vitals_request *request = NULL;
    vitals_error error;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    for (size_t i = 0; i < count; i++)
        CHECK_OK(vitals_request_add(request, metrics[i], &error), error);
    return request;
}

/* ---- one pid, two processes, one clock tick ---- */

struct reuse {
    struct world world;
    pid_t pid;
    vitals_process *first;  /* it has ended */
    vitals_process *second; /* it lives, has the pid, and started in the same tick */
    bool waited;            /* for the first, while it lived */
};

/* Gives back what there is. */
static void reuse_close(struct reuse *reuse)
{
    vitals_process_close(reuse->first);
    vitals_process_close(reuse->second);
    if (reuse->pid > 0)
        child_end(reuse->pid);
    world_close(&reuse->world);
}

/* Whether both came about within one tick; else they are gone again. */
static bool reuse_try(struct reuse *reuse)
{
    vitals_error error;
    pid_t pid = child_new();
    reuse->first = try_open(&reuse->world, pid);
    CHECK_NOT_NULL(reuse->first);
    CHECK_INT(vitals_process_is_running(reuse->first), 1);
    if (reuse->waited)
        CHECK_INT(vitals_process_wait(reuse->first, 0, &error), VITALS_ETIMEOUT);
    child_end(pid);
    if (child_with_pid(pid) != pid) {
        reuse_close(reuse);
        CHECK_SKIP("may not choose a pid (clone3 set_tid), or somebody else got it");
    }
    reuse->pid = pid;
    reuse->second = try_open(&reuse->world, pid);
    CHECK_NOT_NULL(reuse->second);
    double apart = vitals_process_start_seconds(reuse->second) -
                   vitals_process_start_seconds(reuse->first);
    if (apart <= 0 && apart >= 0)
        return true;
    vitals_process_close(reuse->first);
    vitals_process_close(reuse->second);
    child_end(pid);
    reuse->first = reuse->second = NULL;
    reuse->pid = 0;
    return false;
}

static void reuse_open(struct reuse *reuse, bool waited)
{
    enum { TRIES = 200 }; // a tick is 10 ms, and each takes one or two
    *reuse = (struct reuse){.waited = waited};
    world_open(&reuse->world, NULL, 0);
    for (int i = 0; i < TRIES; i++)
        if (reuse_try(reuse))
            return;
    reuse_close(reuse);
    CHECK_SKIP("this machine is too slow to use a pid twice in one clock tick");
}

/* The second one is as it was born. */
static void check_untouched(struct reuse *reuse)
{
    struct rlimit own, limit;
    cpu_set_t own_cpus, cpus;
    CHECK_INT(waitpid(reuse->pid, NULL, WNOHANG | WUNTRACED), 0); // lives, and is not stopped
    CHECK_INT(vitals_process_is_running(reuse->second), 1);
    CHECK_INT(getpriority(PRIO_PROCESS, (id_t)reuse->pid), getpriority(PRIO_PROCESS, 0));
    CHECK_INT(syscall(SYS_ioprio_get, 1, reuse->pid), syscall(SYS_ioprio_get, 1, 0));
    CHECK(getrlimit(RLIMIT_NOFILE, &own) == 0 &&
          prlimit(reuse->pid, RLIMIT_NOFILE, NULL, &limit) == 0);
    CHECK_UINT(limit.rlim_cur, own.rlim_cur);
    CHECK_UINT(limit.rlim_max, own.rlim_max);
    CHECK(sched_getaffinity(0, sizeof own_cpus, &own_cpus) == 0 &&
          sched_getaffinity(reuse->pid, sizeof cpus, &cpus) == 0);
    CHECK(CPU_EQUAL(&own_cpus, &cpus));
}

static void it_does_not_run(void)
{
    struct reuse reuse;
    reuse_open(&reuse, false);
    CHECK_INT(vitals_process_is_running(reuse.first), 0);
    CHECK_INT(vitals_process_is_running(reuse.second), 1);
    reuse_close(&reuse);
}

static void no_signal_reaches_who_has_the_pid_now(void)
{
    static const int signals[] = {0, SIGKILL, SIGTERM, SIGSTOP, SIGCONT, SIGHUP, SIGUSR1};
    for (int waited = 0; waited < 2; waited++) {
        struct reuse reuse;
        reuse_open(&reuse, waited != 0);
        for (size_t i = 0; i < CHECK_COUNT(signals); i++) {
            vitals_error error;
            CHECK_INT(vitals_process_signal(reuse.first, signals[i], &error), VITALS_EGONE);
            CHECK_CONTAINS(error.message, "has ended");
        }
        check_untouched(&reuse);
        CHECK_INT(vitals_process_signal(reuse.second, SIGKILL, NULL), 0); // its own does
        siginfo_t info;
        CHECK_INT(waitid(P_PID, (id_t)reuse.pid, &info, WEXITED | WNOWAIT), 0);
        reuse_close(&reuse);
    }
}

static void nobody_waits_for_who_has_the_pid_now(void)
{
    const uint64_t AT_MOST_NS = UINT64_C(20000000000);
    for (int waited = 0; waited < 2; waited++) {
        struct reuse reuse;
        reuse_open(&reuse, waited != 0);
        vitals_error error;
        int code = 0, signal = SIGKILL;
        CHECK_OK(vitals_process_wait(reuse.first, AT_MOST_NS, &error), error);
        vitals_availability how = vitals_process_exit_status(reuse.first, &code, &signal);
        CHECK(how == VITALS_HAVE || how == VITALS_UNSUPPORTED); // where the kernel tells
        CHECK_INT(code, 0);
        CHECK_INT(signal, SIGKILL); // of the first
        CHECK_INT(vitals_process_wait(reuse.second, 0, &error), VITALS_ETIMEOUT);
        CHECK_INT(vitals_process_exit_status(reuse.second, NULL, NULL), VITALS_NOT_YET);
        check_untouched(&reuse);
        reuse_close(&reuse);
    }
}

static void several_are_told_apart(void)
{
    for (int waited = 0; waited < 2; waited++) {
        struct reuse reuse;
        reuse_open(&reuse, waited != 0);
        vitals_process *both[] = {reuse.second, reuse.first};
        vitals_error error;
        size_t remaining = 77;
        vitals_wait look;
        vitals_wait_init(&look, sizeof look);
        look.timeout_ns = 0;
        CHECK_OK(vitals_process_wait_several(both, 2, &look, &remaining, &error), error);
        CHECK_UINT(remaining, 1);
        CHECK_INT(vitals_process_wait(reuse.first, 0, NULL), 0);
        CHECK_INT(vitals_process_wait(reuse.second, 0, NULL), VITALS_ETIMEOUT);
        check_untouched(&reuse);
        reuse_close(&reuse);
    }
}

static void nothing_is_changed_of_who_has_the_pid_now(void)
{
    struct reuse reuse;
    reuse_open(&reuse, false);
    vitals_process *first = reuse.first;
    vitals_error error;
    CHECK_INT(vitals_process_set_nice(first, 7, &error), VITALS_EGONE);
    CHECK_CONTAINS(error.message, "has ended");
    CHECK_INT(vitals_process_set_io_priority(first, VITALS_IO_IDLE, 0, &error), VITALS_EGONE);
    CHECK_INT(vitals_process_set_affinity(first, &(unsigned){0}, 1, &error), VITALS_EGONE);
    CHECK_INT(vitals_process_set_affinity(first, NULL, 0, &error), VITALS_EGONE);
    CHECK_INT(vitals_process_set_limit(first, "nofile", 3, 3, &error), VITALS_EGONE);
    check_untouched(&reuse);
    reuse_close(&reuse);
}

/* ---- data ---- */

/* Every table of a process alone, and everything together: none is lent. */
static void nothing_is_told_of_who_has_the_pid_now(void)
{
    struct reuse reuse;
    reuse_open(&reuse, false);
    vitals_error error;
    vitals_request *all = request_of(NULL, 0);
    for (vitals_metric metric = (vitals_metric)0; (metric = vitals_metric_next(metric)) != 0;) {
        vitals_table entity = vitals_metric_table(metric);
        if (entity != VITALS_TABLE_PROCESS && entity != VITALS_TABLE_SOCKET &&
            vitals_table_parent(entity) != VITALS_TABLE_PROCESS)
            continue;
        vitals_request *one = request_of(&metric, 1);
        CHECK_CASE(vitals_metric_name(metric));
        vitals_snapshot *answer = NULL;
        CHECK_INT(vitals_process_ask(reuse.first, one, &answer, &error), VITALS_EGONE);
        CHECK_NULL(answer);
        vitals_request_free(one);
        CHECK_OK(vitals_request_add(all, metric, &error), error);
    }
    CHECK_CASE("everything");
    vitals_snapshot *answer = NULL;
    CHECK_INT(vitals_process_ask(reuse.first, all, &answer, &error), VITALS_EGONE);
    CHECK_NULL(answer);
    CHECK_OK(vitals_process_ask(reuse.second, all, &answer, &error), error);
    CHECK_UINT(vitals_snapshot_count(answer, VITALS_TABLE_PROCESS), 1);
    vitals_snapshot_unref(answer);
    vitals_request_free(all);
    reuse_close(&reuse);
}

static void no_relatives_are_told_of_who_has_the_pid_now(void)
{
    struct reuse reuse;
    reuse_open(&reuse, false);
    for (int relation = VITALS_PARENT; relation <= VITALS_DESCENDANTS; relation++) {
        vitals_snapshot *answer = NULL;
        vitals_error error;
        CHECK_INT(
            vitals_process_relatives(reuse.first, (vitals_relation)relation, NULL, &answer, &error),
            VITALS_EGONE);
        CHECK_NULL(answer);
        CHECK_OK(vitals_process_relatives(reuse.second, (vitals_relation)relation, NULL, &answer,
                                          &error),
                 error);
        vitals_snapshot_unref(answer);
    }
    reuse_close(&reuse);
}

/* ---- while the pid changes hands ---- */

/* A child of ours that gives one pid to one process after the other. Each wears its number, which
 * it has from birth, in two places: its name, and its umask, which is in another file. */
enum { GENERATIONS = 512 }; /* a umask has nine bits */

static _Noreturn void pass_the_pid_on(pid_t pid, int stop)
{
    for (unsigned generation = 0;; generation = (generation + 1) % GENERATIONS) {
        char name[16], byte;
        snprintf(name, sizeof name, "%u", generation);
        prctl(PR_SET_NAME, name);
        umask(generation);
        pid_t child = child_with_pid(pid);
        if (child < 0 && errno != EEXIST)
            _exit(errno == EPERM ? 2 : 3);
        for (unsigned i = 0; i < generation % 8; i++)
            sched_yield();
        if (child == pid)
            child_end(pid);
        if (read(stop, &byte, 1) == 0)
            _exit(0);
    }
}

struct relay {
    struct world world;
    pid_t parent, pid;
    int stop;
};

static void relay_open(struct relay *relay)
{
    int stop[2];
    world_open(&relay->world, NULL, 0);
    relay->pid = child_fork(); // a pid that was free a moment ago
    if (relay->pid == 0)
        _exit(0);
    waitpid(relay->pid, NULL, 0);
    CHECK_INT(pipe2(stop, O_CLOEXEC | O_NONBLOCK), 0);
    relay->parent = child_fork();
    if (relay->parent == 0) {
        close(stop[1]);
        pass_the_pid_on(relay->pid, stop[0]);
    }
    close(stop[0]);
    relay->stop = stop[1];
}

/* Whether it has given up, and why is told at the end. */
static bool relay_over(const struct relay *relay)
{
    siginfo_t info = {0};
    waitid(P_PID, (id_t)relay->parent, &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid != 0;
}

static void relay_close(struct relay *relay)
{
    int status;
    close(relay->stop);
    CHECK_INT(waitpid(relay->parent, &status, 0), relay->parent);
    world_close(&relay->world);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        CHECK_SKIP("may not choose a pid (clone3 set_tid)");
    CHECK_INT(status, 0);
}

static unsigned long number_of(vitals_text text)
{
    char copy[32] = "";
    memcpy(copy, text.bytes, text.size < sizeof copy ? text.size : sizeof copy - 1);
    return strtoul(copy, NULL, 10);
}

struct tally {
    size_t whole;   /* answers with both numbers, which are one */
    size_t mixed;   /* of two processes */
    size_t refused; /* EGONE */
    size_t revived; /* an answer after that */
};

/* Name and umask of one answer are of one process, and so are those of all answers of a handle. */
static void tally_answer(struct tally *tally, const vitals_snapshot *answer, unsigned long *who)
{
    const vitals_row *row = vitals_snapshot_next(answer, VITALS_TABLE_PROCESS, NULL);
    unsigned long number = number_of(row_text(row, VITALS_PROCESS_NAME));
    uint64_t mask;
    bool told = vitals_row_u64(row, VITALS_PROCESS_UMASK, &mask) > 0; // a zombie has none
    bool same = *who == ULONG_MAX || *who == number;
    tally->mixed += !same || (told && mask != number);
    tally->whole += same && told && mask == number;
    *who = number;
}

static void tally_handle(struct tally *tally, vitals_process *process,
                         const vitals_request *request)
{
    enum { TIMES = 4 };
    unsigned long who = ULONG_MAX;
    bool gone = false;
    for (int i = 0; i < TIMES; i++) {
        vitals_snapshot *answer = NULL;
        int code = vitals_process_ask(process, request, &answer, NULL);
        tally->revived += code == 0 && gone;
        gone = code == VITALS_EGONE;
        tally->refused += gone;
        if (code == 0)
            tally_answer(tally, answer, &who);
        vitals_snapshot_unref(answer);
    }
}

static void answers_are_of_one_process_whoever_has_the_pid(void)
{
    static const vitals_metric metrics[] = {VITALS_PROCESS_NAME, VITALS_PROCESS_UMASK};
    // With the proof before the reading instead of behind it, one answer in 400 is mixed.
    enum { ENOUGH = 3000, TRIES = 200000 };
    struct relay relay;
    relay_open(&relay);
    vitals_request *request = request_of(metrics, CHECK_COUNT(metrics));
    struct tally tally = {0};
    for (int i = 0; i < TRIES && (tally.whole < ENOUGH || tally.refused < ENOUGH); i++) {
        if (relay_over(&relay))
            break;
        vitals_process *process = try_open(&relay.world, relay.pid);
        if (process != NULL)
            tally_handle(&tally, process, request);
        vitals_process_close(process);
    }
    vitals_request_free(request);
    relay_close(&relay);
    CHECK_UINT(tally.mixed, 0);
    CHECK_UINT(tally.revived, 0);
    CHECK(tally.whole > 0);
    CHECK(tally.refused > 0);
}

/* A handle whose process has ended never says that it lives again, and signals no later process
 * with its pid. */
static void who_is_gone_stays_gone(void)
{
    enum { ENOUGH = 300, TRIES = 100000 };
    struct relay relay;
    relay_open(&relay);
    size_t ended = 0, revived = 0;
    for (int i = 0; i < TRIES && ended < ENOUGH; i++) {
        if (relay_over(&relay))
            break;
        vitals_process *process = try_open(&relay.world, relay.pid);
        if (process == NULL)
            continue;
        int running = vitals_process_is_running(process);
        for (int again = 0; again < 6; again++) {
            int now = again % 2 != 0 ? vitals_process_is_running(process)
                                     : vitals_process_signal(process, 0, NULL) == 0;
            ended += running && !now;
            revived += !running && now;
            running = now;
        }
        vitals_process_close(process);
    }
    relay_close(&relay);
    CHECK(ended > 0);
    CHECK_UINT(revived, 0);
}

static const check_test tests[] = {
    {"it does not run", it_does_not_run},
    {"no signal reaches who has the pid now", no_signal_reaches_who_has_the_pid_now},
    {"nobody waits for who has the pid now", nobody_waits_for_who_has_the_pid_now},
    {"several are told apart", several_are_told_apart},
    {"nothing is changed of who has the pid now", nothing_is_changed_of_who_has_the_pid_now},
    {"nothing is told of who has the pid now", nothing_is_told_of_who_has_the_pid_now},
    {"no relatives are told of who has the pid now", no_relatives_are_told_of_who_has_the_pid_now},
    {"answers are of one process, whoever has the pid",
     answers_are_of_one_process_whoever_has_the_pid},
    {"who is gone stays gone", who_is_gone_stays_gone},
};
CHECK_TESTS(tests)
