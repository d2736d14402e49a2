/* floor.c: the least cost of watching every process: the calls that cannot be avoided.
 *
 *     floor CASE SWEEPS TICKS
 *
 *     plain      stat
 *     usual      stat, statm and the CPU clock (resident set size, CPU time in nanoseconds)
 *     processes  usual, and at first sight status, cmdline and cgroup
 *
 * Each sweep meets all processes of /proc anew (opens and reads), then reads them again for so many
 * ticks (reads what it kept open). The text is only parsed into numbers: no identity is proven, no
 * process that starts later is seen, and no row is written. Prints microseconds and system calls
 * per process; those of listing /proc are `calls_list`. */
#include "measure.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 2048, FILE_TEXT = 64 * 1024, PROCESSES_MAX = 65536 };

struct process {
    int pid, stat, statm;
};

static struct process processes[PROCESSES_MAX];
static size_t count;
static int proc = -1;

/* Every system call goes through here, so that they are counted and not guessed. */
static uint64_t calls;
#define CALL(expression) (calls++, (expression))

/* What was read ends here, so that no compiler leaves the reading out. */
static volatile uint64_t sink;

/* ---- listing ---- */

struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    unsigned char type;
    char name[];
};

/* The pids of /proc; those beyond PROCESSES_MAX are left out. */
static size_t list(struct process *out)
{
    static _Alignas(struct entry) char entries[64 * 1024];
    size_t found = 0;
    if (CALL(lseek(proc, 0, SEEK_SET)) < 0)
        return 0;
    for (long size; (size = CALL(syscall(SYS_getdents64, proc, entries, sizeof entries))) > 0;) {
        for (long at = 0; at < size;) {
            const struct entry *entry = (const void *)(entries + at);
            int pid = atoi(entry->name);
            if (pid > 0 && found < PROCESSES_MAX)
                out[found++] = (struct process){pid, -1, -1};
            at += entry->size;
        }
    }
    return found;
}

/* ---- reading ---- */

/* All whole numbers of a text: one pass, no check, no field has a meaning. */
static void take_numbers(const char *text, size_t size)
{
    uint64_t number = 0, all = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned char)text[i] - (unsigned)'0';
        if (digit <= 9) {
            number = number * 10 + digit;
        } else {
            all ^= number;
            number = 0;
        }
    }
    sink = all ^ number;
}

/* A process that ended reads as nothing. */
static void read_kept(int descriptor)
{
    char text[TEXT];
    ssize_t size = CALL(pread(descriptor, text, sizeof text, 0));
    if (size > 0)
        take_numbers(text, (size_t)size);
}

static void read_clock(int pid)
{
    struct timespec time;
    clockid_t clock = (clockid_t)((~(unsigned)pid << 3) | 2u);
    if (CALL(clock_gettime(clock, &time)) == 0)
        sink = (uint64_t)time.tv_sec + (uint64_t)time.tv_nsec;
}

static int open_of(int pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%d/%s", pid, name);
    return CALL(openat(proc, path, O_RDONLY | O_CLOEXEC));
}

static void read_once(int pid, const char *name)
{
    static char text[FILE_TEXT];
    int file = open_of(pid, name);
    if (file < 0)
        return;
    ssize_t size = CALL(read(file, text, sizeof text));
    sink = (uint64_t)size;
    CALL(close(file));
}

/* ---- the cases ---- */

struct plan {
    const char *name;
    bool statm_and_clock, details;
};

static const struct plan plans[] = {
    {"plain", false, false},
    {"usual", true, false},
    {"processes", true, true},
};

static void meet(const struct plan *plan)
{
    count = list(processes);
    for (size_t i = 0; i < count; i++) {
        struct process *process = &processes[i];
        process->stat = open_of(process->pid, "stat");
        read_kept(process->stat);
        if (plan->statm_and_clock) {
            process->statm = open_of(process->pid, "statm");
            read_kept(process->statm);
            read_clock(process->pid);
        }
        if (plan->details) {
            read_once(process->pid, "status");
            read_once(process->pid, "cmdline");
            read_once(process->pid, "cgroup");
        }
    }
}

static void tick(const struct plan *plan)
{
    static struct process listed[PROCESSES_MAX];
    sink = list(listed);
    for (size_t i = 0; i < count; i++) {
        const struct process *process = &processes[i];
        read_kept(process->stat);
        if (plan->statm_and_clock) {
            read_kept(process->statm);
            read_clock(process->pid);
        }
    }
}

static void forget(void)
{
    for (size_t i = 0; i < count; i++) {
        if (processes[i].stat >= 0)
            close(processes[i].stat);
        if (processes[i].statm >= 0)
            close(processes[i].statm);
    }
}

/* ---- the program ---- */

static void print(struct measure *measure, const char *name, const char *phase, uint64_t made,
                  uint64_t listing)
{
    measure_print(measure, name, phase, count);
    printf(" calls=%.4f calls_list=%llu\n", (double)(made - listing) / (double)count,
           (unsigned long long)listing);
}

static uint64_t calls_of_listing(void)
{
    static struct process listed[PROCESSES_MAX];
    uint64_t before = calls;
    sink = list(listed);
    return calls - before;
}

static const struct plan *plan_of(const char *name)
{
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        if (strcmp(plans[i].name, name) == 0)
            return &plans[i];
    return NULL;
}

int main(int argc, char **argv)
{
    static struct measure first, steady;
    const struct plan *plan = argc == 4 ? plan_of(argv[1]) : NULL;
    if (plan == NULL) {
        fprintf(stderr, "usage: floor plain|usual|processes SWEEPS TICKS\n");
        return 2;
    }
    size_t sweeps = measure_argument("floor", argv[2], 1000);
    size_t ticks = measure_argument("floor", argv[3], 1000);
    measure_raise_descriptors();
    proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0) {
        perror("floor: /proc");
        return 1;
    }
    uint64_t met = 0, read = 0;
    for (size_t sweep = 0; sweep < sweeps; sweep++) {
        uint64_t before = calls;
        measure_begin(&first);
        meet(plan);
        measure_end(&first);
        met = calls - before;
        for (size_t i = 0; i < ticks; i++) {
            before = calls;
            measure_begin(&steady);
            tick(plan);
            measure_end(&steady);
            read = calls - before;
        }
        if (sweep + 1 < sweeps)
            forget(); // the last is left to exit, so that a tracer counts no closing
    }
    uint64_t listing = ticks > 0 && sweeps > 0 ? calls_of_listing() : 0;
    if (ticks == 0)
        return 0; // under a tracer: nothing but what is counted
    print(&first, plan->name, "first", met, listing);
    print(&steady, plan->name, "steady", read, listing);
    return 0;
}
