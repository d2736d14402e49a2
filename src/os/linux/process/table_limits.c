/* table_limits.c: the resource limits of a process.
 *
 * prlimit(2) tells them exactly but asks for the same user even to read; /proc/PID/limits anybody
 * may read, and it is what another /proc has. Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { FILE_LIMIT = 16 * 1024 };

_Static_assert(sizeof(rlim_t) == sizeof(uint64_t), "limits of 64 bits, unlimited is all ones");

static int ask(int64_t pid, struct linux_limit_values values[static LINUX_LIMITS])
{
    for (size_t i = 0; i < LINUX_LIMITS; i++) {
        struct rlimit limit;
        // The kinds that this kernel does not have are missing, not wrong.
        if (prlimit((pid_t)pid, (__rlimit_resource_t)LINUX_LIMIT[i].resource, NULL, &limit) == 0)
            values[i] = (struct linux_limit_values){true, limit.rlim_cur, limit.rlim_max};
        else if (errno != EINVAL)
            return -errno;
    }
    return 0;
}

/* A file that lacks some of what we know was cut, or is of a kernel that does not know it. */
static int read_file(const struct os *os, int64_t pid,
                     struct linux_limit_values values[static LINUX_LIMITS], struct row_batch *out)
{
    struct buffer text = {0};
    bool cut;
    int result = os_process_file(os, pid, "limits", FILE_LIMIT, &text, &cut);
    size_t found = result == 0 ? linux_parse_limits(text.bytes, text.size, values) : 0;
    if (result == 0 && found == 0)
        result = -EBADMSG;
    if (result == 0 && (cut || found < LINUX_LIMITS))
        batch_state(out, VITALS_LIMIT, VITALS_LOWER_BOUND);
    buffer_done(&text);
    return result;
}

/* `unlimited` tells no limit from one that this kernel does not have. */
static void set_limit(struct row_batch *out, vitals_metric metric, vitals_metric unlimited,
                      uint64_t limit)
{
    bool none = limit == LINUX_UNLIMITED;
    batch_set_u64(out, unlimited, none);
    if (none)
        batch_set_missing(out, metric, VITALS_UNSUPPORTED);
    else
        batch_set_u64(out, metric, limit);
}

int table_limits(const struct os *os, int64_t pid, struct row_batch *out)
{
    struct linux_limit_values values[LINUX_LIMITS] = {{0}};
    int result = os->live && pid <= INT32_MAX ? ask(pid, values) : -EPERM;
    if (result == -EPERM || result == -EACCES || result == -ENOSYS)
        result = read_file(os, pid, values, out);
    if (result < 0)
        return result;
    for (size_t i = 0; i < LINUX_LIMITS; i++) {
        const struct linux_limit *limit = &LINUX_LIMIT[i];
        if (!values[i].known)
            continue;
        batch_add_row(out, VITALS_LIMIT, i + 1, (struct span){limit->name, strlen(limit->name)});
        batch_set_string(out, VITALS_LIMIT_NAME, limit->name);
        set_limit(out, VITALS_LIMIT_SOFT, VITALS_LIMIT_SOFT_UNLIMITED, values[i].soft);
        set_limit(out, VITALS_LIMIT_HARD, VITALS_LIMIT_HARD_UNLIMITED, values[i].hard);
        batch_set_string(out, VITALS_LIMIT_UNIT, limit->unit);
    }
    return 0;
}
