/* process_metrics_network.c: what went through the network namespace of a process, where it is not
 * ours: /proc/PID/net/dev. Ours is told of once, by the tables host and network.
 *
 * Thread rule: any thread. */
#include "os/linux/machine/host_files.h"
#include "os/linux/process/process_metrics.h"

#include "util/memory.h"

#include <errno.h>
#include <string.h>

static const char LOOPBACK[] = "lo";

/* Of every interface but loopback. In a namespace of its own there is seldom more than one. */
static uint64_t sum_of(const struct os_devices *devices, unsigned number)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < devices->count; i++) {
        const struct os_device *device = &devices->items[i];
        if (strcmp(device->name, LOOPBACK) != 0 && (device->has >> number & 1) != 0)
            sum = saturating_add(sum, device->numbers[number]);
    }
    return sum;
}

static void tell(struct metrics_reading *reading, const vitals_metric *metrics)
{
    enum { NETDEV_LIMIT = 1 << 20 };
    struct os_devices devices = {.items = NULL};
    bool cut;
    int result = metrics_file(reading, "net/dev", NETDEV_LIMIT, &cut);
    if (result == 0 && host_parse_netdev(reading->text.bytes, reading->text.size, &devices) == 0 &&
        devices.state > 0) {
        vitals_availability state = cut ? VITALS_LOWER_BOUND : (vitals_availability)devices.state;
        fact_u64_as(reading->out, VITALS_PROCESS_NETWORK_RECEIVED_BYTES,
                    sum_of(&devices, OS_NETWORK_RECEIVED_BYTES), state);
        fact_u64_as(reading->out, VITALS_PROCESS_NETWORK_TRANSMITTED_BYTES,
                    sum_of(&devices, OS_NETWORK_TRANSMITTED_BYTES), state);
    } else {
        batch_missing_all(reading->out, metrics,
                          result < 0 ? batch_reason(reading, result) : VITALS_FAILED);
    }
    memory_free(devices.items);
}

void metrics_read_network(struct metrics_reading *reading, const vitals_metric *metrics)
{
    char path[PROCESS_PATH];
    uint64_t theirs, ours;
    int result = -EINVAL;
    if (linux_process_path(path, reading->pid, "ns/net"))
        result = linux_namespace(reading->os, path, &theirs);
    if (result < 0)
        batch_missing_all(reading->out, metrics, batch_reason(reading, result));
    else if (linux_namespace(reading->os, "self/ns/net", &ours) == 0 && ours == theirs)
        batch_missing_all(reading->out, metrics, VITALS_UNSUPPORTED);
    else
        tell(reading, metrics);
}
