/* perf_pmu.c: counters of a device's performance monitoring unit, by perf_event_open(2).
 *
 * System-wide and only counting: the first of them leads a group, so that one read gives all as of
 * one moment. Their types and numbers are in /sys; the caller reads them there and passes them in.
 * Thread rule: a struct os_perf belongs to one thread at a time. */
#include "os/linux/linux.h"

#include <errno.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int os_perf_add(const struct os *os, struct os_perf *perf, uint32_t type, unsigned cpu,
                const struct os_perf_event *event)
{
    /* A type from files of another kernel would be a different unit here. */
    struct statfs status;
    if (!os->live || os->sys < 0 || fstatfs(os->sys, &status) != 0 || status.f_type != SYSFS_MAGIC)
        return -ENOTSUP;
    if (perf->count == OS_PERF_EVENTS)
        return -E2BIG;
    struct perf_event_attr attributes = {
        .type = type,
        .size = sizeof attributes,
        .config = event->config[0],
        .config1 = event->config[1],
        .config2 = event->config[2],
        .read_format = PERF_FORMAT_GROUP,
    };
    int leader = perf->count > 0 ? perf->descriptors[0] : -1;
    long descriptor;
    do
        descriptor = syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, leader,
                             PERF_FLAG_FD_CLOEXEC);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0)
        return -errno;
    perf->descriptors[perf->count++] = (int)descriptor;
    return 0;
}

int os_perf_read(const struct os_perf *perf, uint64_t *values)
{
    uint64_t answer[1 + OS_PERF_EVENTS]; /* the number of values, and each of them */
    if (perf->count == 0)
        return -ENODATA;
    size_t size = (1 + (size_t)perf->count) * sizeof answer[0];
    ssize_t got;
    do
        got = read(perf->descriptors[0], answer, size);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    if ((size_t)got != size || answer[0] != perf->count) /* the device was removed meanwhile */
        return -ENODEV;
    memcpy(values, answer + 1, perf->count * sizeof values[0]);
    return 0;
}

void os_perf_close(struct os_perf *perf)
{
    while (perf->count > 0)
        os_close_descriptor(perf->descriptors[--perf->count]);
}
