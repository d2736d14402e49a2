/* process_change.c: settings of a process, by its pid. The caller proves that the pid is still the
 * same process.
 *
 * Masks of CPUs are as long as this kernel wants them: cpu_set_t ends at 1024. Thread rule: any
 * thread. */
#include "os/linux/process/process_tables.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/memory.h"

static int of_call(long result)
{
    return result < 0 ? -errno : 0;
}

int os_process_set_nice(const struct os *os, int64_t pid, int nice)
{
    if (!os->live)
        return -ENOTSUP;
    return of_call(setpriority(PRIO_PROCESS, (id_t)pid, nice));
}

int os_process_set_io_priority(const struct os *os, int64_t pid, unsigned io_class, unsigned level)
{
    enum { WHO_PROCESS = 1, CLASS_SHIFT = 13 }; // linux/ioprio.h
    if (!os->live)
        return -ENOTSUP;
    return of_call(
        syscall(SYS_ioprio_set, WHO_PROCESS, (int)pid, (int)(io_class << CLASS_SHIFT | level)));
}

/* A mask as the kernel has it: an array of long, so that byte order does not matter. */
struct mask {
    unsigned long *words;
    size_t count;
};

enum { WORD_BITS = 8 * sizeof(unsigned long), MASK_WORDS_MAX = 1 << 16 };

static bool mask_has(const struct mask *mask, size_t cpu)
{
    return cpu / WORD_BITS < mask->count &&
           (mask->words[cpu / WORD_BITS] >> cpu % WORD_BITS & 1) != 0;
}

static int mask_set(const struct mask *mask, int64_t pid)
{
    return of_call(sched_setaffinity((pid_t)pid, mask->count * sizeof(unsigned long),
                                     (const cpu_set_t *)mask->words));
}

/* Its mask, of the size that the kernel wants. *out is to be freed. */
static int mask_get(int64_t pid, struct mask *out)
{
    for (size_t count = 16; count <= MASK_WORDS_MAX; count *= 2) {
        unsigned long *words = memory_array(count, sizeof(*words));
        if (words == NULL)
            return -ENOMEM;
        size_t bytes = count * sizeof(*words);
        int result = of_call(sched_getaffinity((pid_t)pid, bytes, (cpu_set_t *)words));
        if (result == 0) {
            *out = (struct mask){words, count};
            return 0;
        }
        memory_free(words);
        if (result != -EINVAL) // too short a mask
            return result;
    }
    return -EINVAL;
}

/* Sets those of the list (no list: all), in a mask of the same size; -EINVAL also where that has no
 * room for one of them. */
static int mask_ask(const struct mask *size, int64_t pid, const unsigned *cpus, size_t count)
{
    struct mask asked = {memory_array(size->count, sizeof(unsigned long)), size->count};
    if (asked.words == NULL)
        return -ENOMEM;
    int result = 0;
    if (count == 0)
        memset(asked.words, 0xFF, asked.count * sizeof(unsigned long));
    for (size_t i = 0; i < count; i++) {
        if (cpus[i] / WORD_BITS < asked.count)
            asked.words[cpus[i] / WORD_BITS] |= 1ul << cpus[i] % WORD_BITS;
        else
            result = -EINVAL;
    }
    if (result == 0)
        result = mask_set(&asked, pid);
    memory_free(asked.words);
    return result;
}

/* "0-3,8"; what does not fit is left out, and says so. */
static void mask_list(const struct mask *mask, char *out, size_t capacity)
{
    static const char ELLIPSIS[] = "\xE2\x80\xA6";
    size_t used = 0, end = mask->count * WORD_BITS;
    out[0] = '\0';
    for (size_t first = 0; first < end; first++) {
        if (!mask_has(mask, first))
            continue;
        size_t last = first;
        while (mask_has(mask, last + 1))
            last++;
        char piece[48];
        int size = last > first ? snprintf(piece, sizeof piece, ",%zu-%zu", first, last)
                                : snprintf(piece, sizeof piece, ",%zu", first);
        const char *from = used == 0 ? piece + 1 : piece;
        if (used + (size_t)size + sizeof ELLIPSIS > capacity) {
            memcpy(out + used, ELLIPSIS, sizeof ELLIPSIS);
            return;
        }
        memcpy(out + used, from, strlen(from) + 1);
        used += strlen(from);
        first = last;
    }
}

/* Gives it back what it had, unless it has that; to a process that has ended, nothing. */
static void give_back(int64_t pid, const struct mask *before, struct os_affinity *why)
{
    struct mask now = {0};
    int result = mask_get(pid, &now);
    bool has_it = result == 0 && now.count == before->count &&
                  memcmp(now.words, before->words, now.count * sizeof *now.words) == 0;
    memory_free(now.words);
    if (!has_it)
        result = mask_set(before, pid);
    why->not_restored = result == -ESRCH ? 0 : result;
}

int os_process_set_affinity(const struct os *os, int64_t pid, const unsigned *cpus, size_t count,
                            struct os_affinity *why)
{
    *why = (struct os_affinity){.missing = count != 0 ? cpus[0] : 0};
    if (!os->live)
        return -ENOTSUP;
    struct mask before = {0}, got = {0}, all = {0};
    int result = mask_get(pid, &before);
    if (result < 0)
        return result;
    result = mask_ask(&before, pid, cpus, count);
    if (result == 0) {
        // The kernel passes over CPUs that there are not, or that the cpuset does not have, and
        // refuses only where nothing is left: so each is looked for in what it got.
        result = mask_get(pid, &got);
        if (result < 0 && result != -EINVAL)
            give_back(pid, &before, why);
        for (size_t i = 0; result == 0 && i < count; i++)
            result = mask_has(&got, cpus[i]) ? 0 : -EINVAL;
        memory_free(got.words);
    }
    if (result != -EINVAL)
        goto done;

    // Refused: finds what it could have had, and gives it back what it had. Where it had all, it
    // keeps that: CPUs that come later are then its own too.
    result = mask_ask(&before, pid, NULL, 0);
    if (result == 0)
        result = mask_get(pid, &all);
    give_back(pid, &before, why);
    if (result < 0)
        goto done; // -EINVAL: the kernel does not let it be moved
    mask_list(&all, why->eligible, sizeof why->eligible);
    for (size_t i = count; i-- > 0;)
        if (!mask_has(&all, cpus[i]))
            why->missing = cpus[i];
    memory_free(all.words);
    result = -EINVAL;
done:
    memory_free(before.words);
    return result;
}

const struct linux_limit LINUX_LIMIT[LINUX_LIMITS] = {
    {"cpu", RLIMIT_CPU, "seconds", "Max cpu time"},
    {"fsize", RLIMIT_FSIZE, "bytes", "Max file size"},
    {"data", RLIMIT_DATA, "bytes", "Max data size"},
    {"stack", RLIMIT_STACK, "bytes", "Max stack size"},
    {"core", RLIMIT_CORE, "bytes", "Max core file size"},
    {"rss", RLIMIT_RSS, "bytes", "Max resident set"},
    {"nproc", RLIMIT_NPROC, "", "Max processes"},
    {"nofile", RLIMIT_NOFILE, "", "Max open files"},
    {"memlock", RLIMIT_MEMLOCK, "bytes", "Max locked memory"},
    {"as", RLIMIT_AS, "bytes", "Max address space"},
    {"locks", RLIMIT_LOCKS, "", "Max file locks"},
    {"sigpending", RLIMIT_SIGPENDING, "", "Max pending signals"},
    {"msgqueue", RLIMIT_MSGQUEUE, "bytes", "Max msgqueue size"},
    {"nice", RLIMIT_NICE, "", "Max nice priority"},
    {"rtprio", RLIMIT_RTPRIO, "", "Max realtime priority"},
    {"rttime", RLIMIT_RTTIME, "microseconds", "Max realtime timeout"},
};

_Static_assert((int)RLIM_NLIMITS == (int)LINUX_LIMITS, "a limit that we do not know");
_Static_assert(RLIM64_INFINITY == UINT64_MAX, "no limit, as vitals says it");

const struct linux_limit *linux_limit_find(struct span name)
{
    for (size_t i = 0; i < LINUX_LIMITS; i++)
        if (span_equal(name, LINUX_LIMIT[i].name))
            return &LINUX_LIMIT[i];
    return NULL;
}

const char *os_limit_name(size_t index)
{
    return index < LINUX_LIMITS ? LINUX_LIMIT[index].name : NULL;
}

int os_process_set_limit(const struct os *os, int64_t pid, const char *name, uint64_t soft,
                         uint64_t hard)
{
    const struct linux_limit *limit = linux_limit_find((struct span){name, strlen(name)});
    if (limit == NULL)
        return -ENOENT;
    if (!os->live)
        return -ENOTSUP;
    struct {
        uint64_t soft, hard;
    } wanted = {soft, hard}; // struct rlimit64, the same on every machine
    return of_call(syscall(SYS_prlimit64, (int)pid, limit->resource, &wanted, NULL));
}
