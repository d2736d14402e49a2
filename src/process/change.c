/* change.c: what a handle may set of its process, and the words for it.
 *
 * The kernel takes these by pid and knows no pidfd for them, so each is proven before and after: a
 * pid that was given away is not touched, and one that is given away in the very moment is told.
 * Thread rule: one thread at a time per handle. */
#include "process/live.h"

#include "model/words.h"
#include "util/cursor.h"
#include "util/error.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

/* The proof after, and what became of the call. */
static int concluded(const vitals_process *process, const char *what, int result,
                     vitals_error *error)
{
    long long pid = process->files.pid;
    int code = result == -ENOTSUP ? 0 : live_prove(process, error);
    if (code < 0 || result >= 0)
        return code;
    if (result == -ENOTSUP)
        return error_set(error, VITALS_EUNSUPPORTED, ENOTSUP,
                         "process %lld is of another /proc and cannot be changed", pid);
    if (result == -ESRCH)
        return error_set(error, VITALS_EGONE, ESRCH, "process %lld has ended", pid);
    return error_system(error, -result, "setting %s of process %lld", what, pid);
}

int vitals_process_set_nice(vitals_process *process, int nice, vitals_error *error)
{
    enum { NICE_MIN = -20, NICE_MAX = 19 }; // the kernel would clamp
    if (nice < NICE_MIN || nice > NICE_MAX)
        return error_set(error, VITALS_EARGUMENT, 0, "nice is %d to %d, not %d", NICE_MIN, NICE_MAX,
                         nice);
    int code = live_prove(process, error);
    if (code < 0)
        return code;
    int result = os_process_set_nice(&process->context->os, process->files.pid, nice);
    return concluded(process, "nice", result, error);
}

int vitals_process_set_io_priority(vitals_process *process, vitals_io_class io_class, int level,
                                   vitals_error *error)
{
    static const int LEVEL_MAX[] = {
        [VITALS_IO_REALTIME] = 7, [VITALS_IO_BEST_EFFORT] = 7, [VITALS_IO_IDLE] = 0};
    const char *name = vitals_io_class_name(io_class);
    if (name == NULL)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "there is no I/O class %d; there are 0 none, 1 realtime, 2 best_effort "
                         "and 3 idle",
                         (int)io_class);
    if (level < 0 || level > LEVEL_MAX[io_class])
        return error_set(error, VITALS_EARGUMENT, 0, "the level of I/O class %s is 0%s, not %d",
                         name, LEVEL_MAX[io_class] != 0 ? " to 7" : "", level);
    int code = live_prove(process, error);
    if (code < 0)
        return code;
    int result = os_process_set_io_priority(&process->context->os, process->files.pid,
                                            (unsigned)io_class, (unsigned)level);
    return concluded(process, "the I/O priority", result, error);
}

int vitals_process_set_affinity(vitals_process *process, const unsigned *cpus, size_t count,
                                vitals_error *error)
{
    if (cpus == NULL && count > 0)
        return error_set(error, VITALS_EARGUMENT, 0, "%zu CPUs, and no list of them", count);
    int code = live_prove(process, error);
    if (code < 0)
        return code;
    struct os_affinity why;
    int result = os_process_set_affinity(&process->context->os, process->files.pid, cpus, count,
                                         &why);
    if (result == 0 || result == -ENOTSUP || result == -ESRCH)
        return concluded(process, "the CPUs", result, error);
    code = live_prove(process, error);
    if (code < 0)
        return code;

    long long pid = process->files.pid;
    char lost[80] = "";
    if (why.not_restored != 0)
        snprintf(lost, sizeof lost, "; what it had before could not be given back (errno %d)",
                 -why.not_restored);
    if (result != -EINVAL)
        return error_system(error, -result, "setting the CPUs of process %lld%s", pid, lost);
    if (why.eligible[0] == '\0')
        return error_set(error, VITALS_EDENIED, EINVAL,
                         "the kernel lets nobody choose the CPUs of process %lld%s", pid, lost);
    return error_set(error, VITALS_EARGUMENT, EINVAL,
                     "process %lld cannot have CPU %u; those that it may have are %s%s", pid,
                     why.missing, why.eligible, lost);
}

int vitals_process_set_limit(vitals_process *process, const char *name, uint64_t soft,
                             uint64_t hard, vitals_error *error)
{
    if (soft > hard)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "the soft limit is at most the hard one, and %llu is above %llu",
                         (unsigned long long)soft, (unsigned long long)hard);
    int code = live_prove(process, error);
    if (code < 0)
        return code;
    int result = os_process_set_limit(&process->context->os, process->files.pid, name, soft, hard);
    if (result == -ENOENT) {
        struct buffer names = {0};
        for (size_t i = 0; os_limit_name(i) != NULL; i++) {
            buffer_string(&names, i != 0 ? " " : "");
            buffer_string(&names, os_limit_name(i));
        }
        code = error_set(error, VITALS_EARGUMENT, 0, "there is no limit \"%.32s\"; there are %s",
                         name, names.bytes != NULL ? names.bytes : "none here");
        buffer_done(&names);
        return code;
    }
    char what[48];
    snprintf(what, sizeof what, "the limit %s", name);
    return concluded(process, what, result, error);
}

/* ---- I/O classes ---- */

_Static_assert(VITALS_IO_REALTIME == 1 && VITALS_IO_IDLE == 3, "the kernel's numbers");

const char *vitals_io_class_name(vitals_io_class io_class)
{
    return words_io_class((unsigned)io_class);
}

int vitals_io_class_find(vitals_text name)
{
    const char *word;
    for (unsigned i = 0; (word = words_io_class(i)) != NULL; i++)
        if (span_equal((struct span){name.bytes, name.size}, word))
            return (int)i;
    return -1;
}

/* ---- lists of CPUs ---- */

/* "0-3,7": how many there are, of which the first `capacity` are written; or VITALS_EARGUMENT. */
static int read_list(vitals_text list, unsigned *cpus, size_t capacity)
{
    /* Above what any kernel can be built for; what os_process_set_affinity has room for. */
    enum { CPU_MAX = (1 << 22) - 1 };
    struct cursor cursor = cursor_over(list.bytes, list.size);
    size_t count = 0;
    do {
        uint64_t first, last;
        if (!cursor_u64(&cursor, &first))
            return VITALS_EARGUMENT;
        last = first;
        if (cursor_literal(&cursor, "-") && !cursor_u64(&cursor, &last))
            return VITALS_EARGUMENT;
        if (first > last || last > CPU_MAX || last - first >= INT_MAX - count)
            return VITALS_EARGUMENT;
        for (uint64_t cpu = first; cpu <= last && count + (cpu - first) < capacity; cpu++)
            cpus[count + (cpu - first)] = (unsigned)cpu;
        count += last - first + 1;
    } while (cursor_literal(&cursor, ","));
    return cursor_done(&cursor) ? (int)count : VITALS_EARGUMENT;
}

int vitals_cpus_parse(vitals_text list, unsigned *cpus, size_t capacity)
{
    int count = read_list(list, NULL, 0); // what is no list writes nothing
    return count < 0 ? count : read_list(list, cpus, capacity);
}
