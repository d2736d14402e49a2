/* process_metrics_links.c: where a process is and what it holds: its program, directories,
 * namespaces (and what went through that of the network) and descriptors.
 *
 * Links are read and never followed by their text: that is a path as the process sees it, and the
 * process may have chosen it to lead us there. Thread rule: any thread. */
#include "os/linux/machine/host_files.h"
#include "os/linux/process/process_metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/memory.h"

enum { LINK_BYTES = 4096, NAMESPACE_BYTES = 64 };

/* The text of a link; negative errno, else 0. */
static int read_link(const struct metrics_reading *reading, const char *name,
                     char text[static LINK_BYTES], struct span *out)
{
    char path[PROCESS_PATH];
    if (!linux_process_path(path, reading->pid, name))
        return -EINVAL;
    ssize_t size = readlinkat(reading->os->proc, path, text, LINK_BYTES);
    if (size < 0) {
        int number = errno;
        linux_trace(reading->os, path, number);
        return -number;
    }
    *out = (struct span){text, (size_t)size};
    return 0;
}

/* Takes the kernel's " (deleted)" away. Returns whether it was the kernel's: whether the file that
 * the link stands for has lost the name that the text gives it. */
static struct value strip(const struct metrics_reading *reading, const char *name,
                          struct span *text)
{
    char path[PROCESS_PATH];
    struct statx status;
    struct span before;
    struct value deleted = value_u64(1);
    if (!linux_ends_deleted(*text, &before))
        return value_u64(0);
    if (!linux_process_path(path, reading->pid, name) ||
        linux_statx(reading->os->proc, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
                    STATX_NLINK | STATX_INO, &status) < 0) {
        deleted.state = VITALS_ESTIMATE;
    } else if (status.stx_nlink != 0) {
        const struct linux_file file = {status.stx_ino, true, status.stx_dev_major,
                                        status.stx_dev_minor};
        int named = linux_process_names(reading->os, reading->pid, *text, &file);
        deleted.as.u64 = named != 1;
        deleted.state = named < 0 ? VITALS_ESTIMATE : VITALS_HAVE;
    }
    if (deleted.as.u64 != 0)
        *text = before;
    return deleted;
}

static void set_path(struct row_batch *out, vitals_metric metric, struct span text)
{
    batch_set_text_as(out, metric, text, text.size < LINK_BYTES ? VITALS_HAVE : VITALS_LOWER_BOUND);
}

/* A process without a program or a directory is one that is ending. */
static vitals_availability link_reason(struct metrics_reading *reading, int error)
{
    bool ends = error == -ENOENT && metrics_kind_of(reading) == PROCESS_ORDINARY;
    return ends ? VITALS_GONE : batch_reason(reading, error);
}

void metrics_read_executable(struct metrics_reading *reading, const vitals_metric *metrics)
{
    struct row_batch *out = reading->out;
    char bytes[LINK_BYTES];
    struct span text;
    int result = read_link(reading, "exe", bytes, &text);
    if (result == 0) {
        struct value deleted = strip(reading, "exe", &text);
        set_path(out, VITALS_PROCESS_EXECUTABLE, text);
        batch_set_value(out, VITALS_PROCESS_EXECUTABLE_DELETED, deleted);
        return;
    }
    if (result == -ENOENT && metrics_kind_of(reading) == PROCESS_KERNEL_THREAD) {
        batch_set_string(out, VITALS_PROCESS_EXECUTABLE, "");
        batch_set_missing(out, VITALS_PROCESS_EXECUTABLE_DELETED, VITALS_UNSUPPORTED);
        return;
    }
    batch_missing_all(out, metrics, link_reason(reading, result));
}

static void set_directory(struct metrics_reading *reading, vitals_metric metric, const char *name)
{
    if (!batch_wants(reading->out, metric))
        return;
    char bytes[LINK_BYTES];
    struct span text;
    int result = read_link(reading, name, bytes, &text);
    if (result == 0) {
        strip(reading, name, &text);
        set_path(reading->out, metric, text);
    } else {
        batch_set_missing(reading->out, metric, link_reason(reading, result));
    }
}

void metrics_read_directory(struct metrics_reading *reading, const vitals_metric *metrics UNUSED)
{
    set_directory(reading, VITALS_PROCESS_WORKING_DIRECTORY, "cwd");
    set_directory(reading, VITALS_PROCESS_ROOT_DIRECTORY, "root");
}

static const struct {
    vitals_metric metric;
    const char *name;
} NAMESPACES[] = {
    {VITALS_PROCESS_PID_NAMESPACE, "ns/pid"},       {VITALS_PROCESS_NETWORK_NAMESPACE, "ns/net"},
    {VITALS_PROCESS_MOUNT_NAMESPACE, "ns/mnt"},     {VITALS_PROCESS_USER_NAMESPACE, "ns/user"},
    {VITALS_PROCESS_CGROUP_NAMESPACE, "ns/cgroup"}, {VITALS_PROCESS_IPC_NAMESPACE, "ns/ipc"},
    {VITALS_PROCESS_UTS_NAMESPACE, "ns/uts"},       {VITALS_PROCESS_TIME_NAMESPACE, "ns/time"},
};

/* "pid:[4026531836]" */
static bool inode_of(struct span text, uint64_t *out)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    struct span kind;
    return cursor_until(&cursor, '[', &kind) && cursor_u64(&cursor, out) &&
           cursor_literal(&cursor, "]") && cursor_done(&cursor);
}

int linux_namespace(const struct os *os, const char *path, uint64_t *inode)
{
    char bytes[NAMESPACE_BYTES];
    ssize_t size = readlinkat(os->proc, path, bytes, sizeof bytes);
    if (size < 0)
        return -errno;
    return inode_of((struct span){bytes, (size_t)size}, inode) ? 0 : -EBADMSG;
}

void metrics_read_namespaces(struct metrics_reading *reading, const vitals_metric *metrics UNUSED)
{
    for (size_t i = 0; i < ARRAY_COUNT(NAMESPACES); i++) {
        if (!batch_wants(reading->out, NAMESPACES[i].metric))
            continue;
        char bytes[LINK_BYTES];
        struct span text = {0};
        uint64_t inode;
        int result = read_link(reading, NAMESPACES[i].name, bytes, &text);
        if (result == 0 && inode_of(text, &inode))
            batch_set_u64(reading->out, NAMESPACES[i].metric, inode);
        else
            batch_set_missing(reading->out, NAMESPACES[i].metric,
                              result < 0 ? batch_reason(reading, result) : VITALS_FAILED);
    }
}

/* Sums over every interface but loopback. A namespace of its own seldom has more than one. */
static uint64_t sum_of(const struct os_devices *devices, unsigned number)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < devices->count; i++) {
        const struct os_device *device = &devices->items[i];
        if (strcmp(device->name, "lo") != 0 && (device->has >> number & 1) != 0)
            sum = saturating_add(sum, device->numbers[number]);
    }
    return sum;
}

/* The traffic of the process's network namespace, if that is not ours: the tables host and network
 * have ours. */
void metrics_read_network(struct metrics_reading *reading, const vitals_metric *metrics)
{
    enum { NETDEV_LIMIT = 1 << 20 };
    struct os_devices devices = {.items = NULL};
    char path[PROCESS_PATH];
    uint64_t theirs, ours;
    bool cut;
    int result = -EINVAL;
    if (linux_process_path(path, reading->pid, "ns/net"))
        result = linux_namespace(reading->os, path, &theirs);
    if (result == 0 && linux_namespace(reading->os, "self/ns/net", &ours) == 0 && ours == theirs) {
        batch_missing_all(reading->out, metrics, VITALS_UNSUPPORTED);
        return;
    }
    if (result == 0)
        result = metrics_file(reading, "net/dev", NETDEV_LIMIT, &cut);
    if (result == 0 && host_parse_netdev(reading->text.bytes, reading->text.size, &devices) == 0 &&
        devices.state > 0) {
        vitals_availability state = cut ? VITALS_LOWER_BOUND : (vitals_availability)devices.state;
        batch_set_u64_as(reading->out, VITALS_PROCESS_NETWORK_RECEIVED_BYTES,
                         sum_of(&devices, OS_NETWORK_RECEIVED_BYTES), state);
        batch_set_u64_as(reading->out, VITALS_PROCESS_NETWORK_TRANSMITTED_BYTES,
                         sum_of(&devices, OS_NETWORK_TRANSMITTED_BYTES), state);
    } else {
        batch_missing_all(reading->out, metrics,
                          result < 0 ? batch_reason(reading, result) : VITALS_FAILED);
    }
    memory_free(devices.items);
}

void metrics_read_descriptors(struct metrics_reading *reading, const vitals_metric *metrics)
{
    enum { DESCRIPTORS_MAX = 1 << 24 };
    char path[PROCESS_PATH];
    struct stat status;
    // Their number is the size of the folder since Linux 6.2, for every reader; 0 there may be an
    // older kernel. Other file systems mean something else by it.
    if (reading->os->live && linux_process_path(path, reading->pid, "fd") &&
        fstatat(reading->os->proc, path, &status, 0) == 0 && status.st_size > 0) {
        batch_set_u64(reading->out, VITALS_PROCESS_DESCRIPTORS, (uint64_t)status.st_size);
        return;
    }
    int folder = linux_process_open(reading->os, reading->pid, "fd", O_DIRECTORY);
    struct os_pids numbers = {0};
    bool cut;
    int result = folder < 0 ? folder : linux_numbers_read(folder, DESCRIPTORS_MAX, &numbers, &cut);
    os_close_descriptor(folder);
    if (result < 0)
        batch_missing_all(reading->out, metrics, batch_reason(reading, result));
    else
        batch_set_u64_as(reading->out, VITALS_PROCESS_DESCRIPTORS, numbers.count,
                         cut ? VITALS_LOWER_BOUND : VITALS_HAVE);
    os_pids_done(&numbers);
}
