/* accounting_work.c: work whose use of the CPU and of memory is known, done in every way that
 * sampling misses. For bench/accounting.
 *
 *     accounting_work FILE WAY NUMBER MILLISECONDS
 *
 * Every process adds a line to FILE as it ends: "cpu SECONDS", by its own clock, or by getrusage
 * for itself and the children that it has waited for; "memory BYTES": its VmHWM. The cost of its
 * own exit, some 0.1 ms, is missing from each line. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int file;
static char **arguments;
static unsigned number;
static double seconds;

static double clock_now(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void tell(const char *what, double value)
{
    char line[64];
    int size = snprintf(line, sizeof line, "%s %.9f\n", what, value);
    if (size > 0 && write(file, line, (size_t)size) != size)
        abort();
}

static double seconds_of(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Uses the CPU until the process has used so much of it, and tells nothing. */
static void burn(double until)
{
    while (clock_now(CLOCK_PROCESS_CPUTIME_ID) < until)
        ;
}

static _Noreturn void burn_and_tell(double until)
{
    burn(until);
    tell("cpu", clock_now(CLOCK_PROCESS_CPUTIME_ID));
    _exit(0);
}

static void wait_for_all(void)
{
    while (wait(NULL) > 0)
        ;
}

/* ---- ways ---- */

/* One after the other, all waited for: then getrusage knows. */
static void way_children(void)
{
    for (unsigned i = 0; i < number; i++) {
        if (fork() == 0) {
            burn(seconds);
            _exit(0);
        }
        wait_for_all();
    }
    tell("cpu", seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN));
}

static void way_ignored(void)
{
    signal(SIGCHLD, SIG_IGN);
    for (unsigned i = 0; i < number; i++) {
        if (fork() == 0)
            burn_and_tell(seconds);
        wait_for_all();
    }
    tell("cpu", clock_now(CLOCK_PROCESS_CPUTIME_ID));
}

static void leave_daemon(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            burn_and_tell(seconds);
        _exit(0);
    }
    wait_for_all();
}

static void way_daemon(void)
{
    leave_daemon();
    tell("cpu", clock_now(CLOCK_PROCESS_CPUTIME_ID));
    sleep(1); /* gives a polling tool a chance */
}

static void way_both(void)
{
    leave_daemon();
    if (fork() == 0) {
        way_ignored();
        _exit(0);
    }
    wait_for_all();
    tell("cpu", clock_now(CLOCK_PROCESS_CPUTIME_ID));
}

static void *fork_and_burn(void *data)
{
    (void)data;
    if (fork() == 0)
        burn_and_tell(seconds);
    wait_for_all();
    return NULL;
}

static void way_threads(void)
{
    pthread_t threads[64];
    unsigned count = number < 64 ? number : 64;
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, fork_and_burn, NULL) != 0)
            abort();
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    tell("cpu", clock_now(CLOCK_PROCESS_CPUTIME_ID));
}

/* The process that burns becomes another program again and again. */
static void way_chain(void)
{
    char left[16];
    burn(clock_now(CLOCK_PROCESS_CPUTIME_ID) + seconds);
    if (number > 1) {
        (void)snprintf(left, sizeof left, "%u", number - 1);
        arguments[3] = left;
        execv("/proc/self/exe", arguments);
        abort();
    }
    tell("cpu", clock_now(CLOCK_PROCESS_CPUTIME_ID));
}

static void way_sessions(void)
{
    for (unsigned i = 0; i < number; i++) {
        if (fork() == 0) {
            setsid();
            burn_and_tell(seconds);
        }
    }
    wait_for_all();
    tell("cpu", clock_now(CLOCK_PROCESS_CPUTIME_ID));
}

static double high_water_bytes(void)
{
    char line[256];
    double kib = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtod(line + 6, NULL);
    if (status != NULL)
        fclose(status);
    return kib * 1024;
}

/* A child has so many MiB for so long. */
static void way_spike(void)
{
    if (fork() == 0) {
        size_t bytes = (size_t)number << 20;
        char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                            0);
        if (memory == MAP_FAILED)
            abort();
        for (size_t i = 0; i < bytes; i += 4096)
            memory[i] = 1;
        usleep((useconds_t)(seconds * 1e6));
        tell("memory", high_water_bytes());
        _exit(0);
    }
    wait_for_all();
    tell("cpu", seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN));
}

static const struct {
    const char *name;
    void (*run)(void);
} WAYS[] = {
    {"children", way_children}, {"ignored", way_ignored}, {"daemon", way_daemon},
    {"both", way_both},         {"threads", way_threads}, {"chain", way_chain},
    {"sessions", way_sessions}, {"spike", way_spike},
};

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    arguments = argv;
    file = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    number = (unsigned)strtoul(argv[3], NULL, 10);
    seconds = strtod(argv[4], NULL) / 1000;
    for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) {
        if (file >= 0 && strcmp(argv[2], WAYS[i].name) == 0) {
            WAYS[i].run();
            return 0;
        }
    }
    return 2;
}
