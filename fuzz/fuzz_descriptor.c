/* The text of /proc/PID/fd/N and of fdinfo/N, and schedstat and status of a thread: all over the
 * same bytes. What was not found is zero, and what is borrowed lies within. */
#include "os/linux/process/process_tables.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_thread(const char *bytes, size_t size)
{
    struct linux_schedstat schedule = {1, 2, 3};
    if (!linux_parse_schedstat(bytes, size, &schedule) &&
        (schedule.run_ns != 1 || schedule.delay_ns != 2))
        abort();
    struct linux_task_status status;
    linux_parse_task_status(bytes, size, &status);
    if ((status.has & TASK_CPUS) != 0 && (status.cpus.size == 0 || status.cpus.bytes < bytes ||
                                          status.cpus.bytes + status.cpus.size > bytes + size))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct span text = {bytes, size};
    const char *type = linux_descriptor_type(text);
    if (type == NULL && (size == 0 || bytes[0] != '/'))
        abort();
    struct linux_fdinfo info;
    linux_parse_fdinfo(bytes, size, &info);
    if (((info.has & FDINFO_POSITION) == 0 && info.position != 0) ||
        ((info.has & FDINFO_FLAGS) == 0 && info.flags != 0) ||
        ((info.has & FDINFO_SIZE) == 0 && info.size != 0))
        abort();
    if (strlen(linux_descriptor_mode(info.flags)) > 2)
        abort();
    check_thread(bytes, size);
    return 0;
}
