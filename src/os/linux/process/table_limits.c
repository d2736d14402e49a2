/* table_limits.c: the resource limits of a process.
 *
 * prlimit(2) tells them exactly but asks for the same user even to read; /proc/PID/limits any user
 * may read, and it is what another /proc has. Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>

_Static_assert(sizeof(rlim_t) == sizeof(uint64_t), "limits of 64 bits, unlimited is all ones");

static bool take_limit(struct cursor *cursor, uint64_t *out)
{
    cursor_blanks(cursor);
    if (cursor_literal(cursor, "unlimited"))
        *out = LINUX_UNLIMITED;
    else if (!cursor_u64(cursor, out))
        return false;
    return !cursor_done(cursor) && *cursor->at == ' '; // padded: else it may have been cut
}

/*     Max open files            1024                 524288               files */
size_t linux_parse_limits(const char *bytes, size_t size,
                          struct linux_limit_values out[static LINUX_LIMITS])
{
    size_t found = 0;
    memset(out, 0, LINUX_LIMITS * sizeof *out);
    struct cursor cursor = cursor_over(bytes, size);
    for (struct span line; cursor_line(&cursor, &line);)
        for (size_t i = 0; i < LINUX_LIMITS; i++) {
            struct cursor rest = cursor_over(line.bytes, line.size);
            struct linux_limit_values values = {.known = true};
            if (!out[i].known && cursor_literal(&rest, LINUX_LIMIT[i].title) &&
                !cursor_done(&rest) && *rest.at == ' ' && take_limit(&rest, &values.soft) &&
                take_limit(&rest, &values.hard)) {
                out[i] = values;
                found++;
                break;
            }
        }
    return found;
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
    enum { FILE_LIMIT = 16 * 1024 };
    struct linux_limit_values values[LINUX_LIMITS] = {{0}};
    int result = os->live && pid <= INT32_MAX ? 0 : -EPERM;
    for (size_t i = 0; i < LINUX_LIMITS && result == 0; i++) {
        struct rlimit limit;
        // The kinds that this kernel does not have are missing, not wrong.
        if (prlimit((pid_t)pid, (__rlimit_resource_t)LINUX_LIMIT[i].resource, NULL, &limit) == 0)
            values[i] = (struct linux_limit_values){true, limit.rlim_cur, limit.rlim_max};
        else if (errno != EINVAL)
            result = -errno;
    }
    if (result == -EPERM || result == -EACCES || result == -ENOSYS) {
        struct buffer text = {0};
        bool cut;
        result = os_process_file(os, pid, "limits", FILE_LIMIT, &text, &cut);
        size_t found = result == 0 ? linux_parse_limits(text.bytes, text.size, values) : 0;
        if (result == 0 && found == 0)
            result = -EBADMSG;
        // It lacks some of what we know: it was cut, or is of a kernel that does not know it.
        if (result == 0 && (cut || found < LINUX_LIMITS))
            batch_state(out, VITALS_TABLE_LIMIT, VITALS_LOWER_BOUND);
        buffer_done(&text);
    }
    if (result < 0)
        return result;

    for (size_t i = 0; i < LINUX_LIMITS; i++) {
        const struct linux_limit *limit = &LINUX_LIMIT[i];
        if (!values[i].known)
            continue;
        batch_add_row(out, VITALS_TABLE_LIMIT, i + 1,
                      (struct span){limit->name, strlen(limit->name)});
        batch_set_string(out, VITALS_LIMIT_NAME, limit->name);
        set_limit(out, VITALS_LIMIT_SOFT, VITALS_LIMIT_SOFT_UNLIMITED, values[i].soft);
        set_limit(out, VITALS_LIMIT_HARD, VITALS_LIMIT_HARD_UNLIMITED, values[i].hard);
        batch_set_string(out, VITALS_LIMIT_UNIT, limit->unit);
    }
    return 0;
}
