/* machine.c: os_read_machine: the row of host, and in what order the rest comes.
 *
 * Thread rule: workers only. */
#include "os/linux/machine/machine.h"
#include "os/linux/linux.h"

#include <errno.h>
#include <string.h>

enum { CGROUP_TEXT = 16 * 1024 };

static bool wants_any(const struct row_batch *out, const vitals_metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (batch_wants(out, metrics[i]))
            return true;
    return false;
}

/* ---- what we may use ---- */

static void take_total(struct span line, void *data)
{
    struct cursor at = cursor_over(line.bytes, line.size);
    uint64_t kilo;
    if (cursor_literal(&at, "MemTotal:") && cursor_u64(&at, &kilo))
        *(struct value *)data = value_u64(saturating_mul(kilo, 1024));
}

/* The lesser of two counts; one that is missing does not count. */
static struct value least(struct value a, struct value b)
{
    if (a.state <= 0 || b.state <= 0)
        return a.state > 0 ? a : b;
    return b.as.u64 < a.as.u64 ? b : a;
}

static struct value memory_effective(const struct os *os, const struct values *host)
{
    struct value total = value_missing(VITALS_UNSUPPORTED);
    (void)lines_each(os, os->proc, "meminfo", take_total, &total);
    struct value limit = host->at[metric_number(VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES)];
    return total.state > 0 ? least(total, limit) : total;
}

/* A quota of one and a half CPUs keeps two of them busy. */
static struct value cpus_eligible(const struct os *os, const struct values *host)
{
    struct value eligible = linux_count_usable(os);
    eligible = least(eligible, host->at[metric_number(VITALS_HOST_CGROUP_CPUS)]);
    struct value cores = host->at[metric_number(VITALS_HOST_CGROUP_CPU_LIMIT_CORES)];
    if (cores.state > 0 && cores.as.f64 < 1e6) {
        uint64_t whole = (uint64_t)cores.as.f64;
        whole += (double)whole < cores.as.f64 || whole == 0;
        eligible = least(eligible, (struct value){.as.u64 = whole, .state = cores.state});
    }
    return eligible;
}

/* What follows from limits asks for those too. */
static void read_limits(const struct os *os, struct row_batch *out, struct values *host)
{
    struct metric_set wanted = out->wanted;
    bool memory = batch_wants(out, VITALS_HOST_MEMORY_EFFECTIVE_BYTES);
    bool cpus = batch_wants(out, VITALS_HOST_CPUS_ELIGIBLE);
    if (memory)
        metric_set_add(&wanted, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES);
    if (cpus) {
        metric_set_add(&wanted, VITALS_HOST_CGROUP_CPU_LIMIT_CORES);
        metric_set_add(&wanted, VITALS_HOST_CGROUP_CPUS);
    }
    os_read_own_cgroup(os, &wanted, host);
    if (memory)
        values_set(host, VITALS_HOST_MEMORY_EFFECTIVE_BYTES, memory_effective(os, host));
    if (cpus)
        values_set(host, VITALS_HOST_CPUS_ELIGIBLE, cpus_eligible(os, host));
}

static void read_path(const struct os *os, struct row_batch *out)
{
    char text[CGROUP_TEXT];
    int error;
    if (!batch_wants(out, VITALS_HOST_CGROUP_PATH))
        return;
    struct span whole = lines_read(os, os->proc, "self/cgroup", text, sizeof text, &error);
    struct span path = os_parse_cgroup(whole.bytes, whole.size);
    if (path.size > 0)
        batch_set_text(out, VITALS_HOST_CGROUP_PATH, path);
    else
        batch_set_missing(out, VITALS_HOST_CGROUP_PATH,
                          error == 0 || error == -ENOENT ? VITALS_UNSUPPORTED
                                                         : os_availability(error));
}

static void read_network_namespace(const struct os *os, struct row_batch *out)
{
    uint64_t inode;
    if (!batch_wants(out, VITALS_HOST_NETWORK_NAMESPACE))
        return;
    int code = linux_namespace(os, "self/ns/net", &inode);
    if (code < 0)
        batch_set_missing(out, VITALS_HOST_NETWORK_NAMESPACE, os_availability(code));
    else
        batch_set_u64(out, VITALS_HOST_NETWORK_NAMESPACE, inode);
}

/* ---- memory of ZFS ---- */

static void take_arc(struct span line, void *data)
{
    struct cursor at = cursor_over(line.bytes, line.size);
    struct span key;
    uint64_t type, bytes;
    if (cursor_word(&at, &key) && span_equal(key, "size") && cursor_u64(&at, &type) &&
        cursor_u64(&at, &bytes))
        *(struct value *)data = value_u64(bytes);
}

static struct value zfs_cache(const struct os *os)
{
    struct value bytes = value_missing(VITALS_UNSUPPORTED);
    int error = lines_each(os, os->proc, "spl/kstat/zfs/arcstats", take_arc, &bytes);
    if (error < 0 && error != -ENOENT)
        bytes = value_missing(os_availability(error));
    return bytes;
}

/* ---- all of it ---- */

void os_read_machine(const struct os *os, struct row_batch *out)
{
    static const vitals_metric PROCESSORS[] = {VITALS_HOST_CPUS_PHYSICAL, VITALS_HOST_CPU_PACKAGES,
                                               VITALS_HOST_CPU_FREQUENCY_HERTZ};
    struct values host = {0};
    bool machine = metric_set_has_entity(&out->wanted, VITALS_HOST);
    if (metric_set_has_entity(&out->wanted, VITALS_CPU) ||
        wants_any(out, PROCESSORS, ARRAY_COUNT(PROCESSORS)))
        machine_read_cpus(os, out, &host);
    if (metric_set_has_entity(&out->wanted, VITALS_ENERGY_ZONE))
        machine_read_energy(os, out);
    if (machine && batch_add_row(out, VITALS_HOST, 1, (struct span){"host", 4}) != NULL) {
        read_limits(os, out, &host);
        if (batch_wants(out, VITALS_HOST_MEMORY_ZFS_CACHE_BYTES))
            values_set(&host, VITALS_HOST_MEMORY_ZFS_CACHE_BYTES, zfs_cache(os));
        /* Places for the sums over the rows of energy_zone. */
        values_set(&host, VITALS_HOST_PACKAGE_ENERGY_JOULES, value_missing(VITALS_UNSUPPORTED));
        values_set(&host, VITALS_HOST_DRAM_ENERGY_JOULES, value_missing(VITALS_UNSUPPORTED));
        for (unsigned number = 1; number < METRIC_NUMBERS; number++)
            batch_set_value(out, metric_of(VITALS_HOST, number), host.at[number]);
        read_path(os, out);
        read_network_namespace(os, out);
        machine_read_names(os, out);
    }
    if (metric_set_has_entity(&out->wanted, VITALS_DISK))
        machine_read_disks(os, out);
    if (metric_set_has_entity(&out->wanted, VITALS_NETWORK))
        machine_read_networks(os, out);
    if (metric_set_has_entity(&out->wanted, VITALS_PRESSURE))
        machine_read_pressure(os, out);
}
