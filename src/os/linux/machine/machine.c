/* machine.c: os_read_machine: reads the row of host, and calls the other parts in order. Thread
 * rule: workers only. */
#include "os/linux/machine/machine.h"

#include "os/linux/cgroup/cgroup.h"

#include <errno.h>
#include <string.h>

enum { CGROUP_TEXT = 16 * 1024 };

static void take_total(struct span line, void *data)
{
    struct cursor at = cursor_over(line.bytes, line.size);
    uint64_t kilo;
    if (cursor_literal(&at, "MemTotal:") && cursor_u64(&at, &kilo))
        *(struct value *)data = value_u64(saturating_mul(kilo, 1024));
}

/* Returns the smaller of two counts; a missing one is ignored. */
static struct value least(struct value a, struct value b)
{
    if (a.state <= 0 || b.state <= 0)
        return a.state > 0 ? a : b;
    return b.as.u64 < a.as.u64 ? b : a;
}

/* Reads the limits of this process, if they or values derived from them are wanted. */
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
    if (memory) {
        struct value total = value_missing(VITALS_UNSUPPORTED);
        struct value limit = host->at[metric_number(VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES)];
        (void)lines_each(os, os->proc, "meminfo", take_total, &total);
        values_set(host, VITALS_HOST_MEMORY_EFFECTIVE_BYTES,
                   total.state > 0 ? least(total, limit) : total);
    }
    if (cpus) {
        struct value eligible = linux_count_usable(os);
        eligible = least(eligible, host->at[metric_number(VITALS_HOST_CGROUP_CPUS)]);
        struct value cores = host->at[metric_number(VITALS_HOST_CGROUP_CPU_LIMIT_CORES)];
        if (cores.state > 0 && cores.as.f64 < 1e6) {
            /* A quota of 1.5 CPUs can keep two CPUs busy. */
            uint64_t whole = (uint64_t)cores.as.f64;
            whole += (double)whole < cores.as.f64 || whole == 0;
            eligible = least(eligible, (struct value){.as.u64 = whole, .state = cores.state});
        }
        values_set(host, VITALS_HOST_CPUS_ELIGIBLE, eligible);
    }
}

static void take_arc(struct span line, void *data)
{
    struct cursor at = cursor_over(line.bytes, line.size);
    struct span key;
    uint64_t type, bytes;
    if (cursor_word(&at, &key) && span_equal(key, "size") && cursor_u64(&at, &type) &&
        cursor_u64(&at, &bytes))
        *(struct value *)data = value_u64(bytes);
}

static void read_host(const struct os *os, struct row_batch *out, struct values *host)
{
    read_limits(os, out, host);
    if (batch_wants(out, VITALS_HOST_MEMORY_ZFS_CACHE_BYTES)) {
        struct value bytes = value_missing(VITALS_UNSUPPORTED);
        int error = lines_each(os, os->proc, "spl/kstat/zfs/arcstats", take_arc, &bytes);
        if (error < 0 && error != -ENOENT)
            bytes = value_missing(os_availability(error));
        values_set(host, VITALS_HOST_MEMORY_ZFS_CACHE_BYTES, bytes);
    }
    /* Reserves cells for the sums over the rows of energy_zone. */
    values_set(host, VITALS_HOST_PACKAGE_ENERGY_JOULES, value_missing(VITALS_UNSUPPORTED));
    values_set(host, VITALS_HOST_DRAM_ENERGY_JOULES, value_missing(VITALS_UNSUPPORTED));
    for (unsigned number = 1; number < METRIC_NUMBERS; number++)
        batch_set_value(out, metric_of(VITALS_TABLE_HOST, number), host->at[number]);

    if (batch_wants(out, VITALS_HOST_CGROUP_PATH)) {
        char text[CGROUP_TEXT];
        int error;
        struct span whole = lines_read(os, os->proc, "self/cgroup", text, sizeof text, &error);
        struct span path = os_parse_cgroup(whole.bytes, whole.size);
        if (path.size > 0)
            batch_set_text(out, VITALS_HOST_CGROUP_PATH, path);
        else
            batch_set_missing(out, VITALS_HOST_CGROUP_PATH,
                              error == 0 || error == -ENOENT ? VITALS_UNSUPPORTED
                                                             : os_availability(error));
    }
    if (batch_wants(out, VITALS_HOST_NETWORK_NAMESPACE)) {
        uint64_t inode;
        int code = linux_namespace(os, "self/ns/net", &inode);
        if (code < 0)
            batch_set_missing(out, VITALS_HOST_NETWORK_NAMESPACE, os_availability(code));
        else
            batch_set_u64(out, VITALS_HOST_NETWORK_NAMESPACE, inode);
    }
    machine_read_names(os, out);
}

/* Pressure of our own cgroup, if version 2 is mounted, with keys after those of the machine. The
 * files of the root cgroup equal /proc/pressure, so it has no rows: only a cgroup that is not the
 * root has a type. */
static void read_pressure(const struct os *os, struct row_batch *out)
{
    static const struct {
        const char *resource, *file, *label;
    } PRESSURES[OS_PRESSURES] = {
        {"cpu", "cpu.pressure", "cgroup cpu"},
        {"memory", "memory.pressure", "cgroup memory"},
        {"io", "io.pressure", "cgroup io"},
        {"irq", "irq.pressure", "cgroup irq"},
    };
    enum { TEXT_BYTES = 512 };
    struct cgroups cgroups;
    struct cgroup_walk walk;
    char text[TEXT_BYTES];
    cgroups_find(&cgroups, os, 0, 1u << CGROUP_SECOND);
    if (!cgroup_walk_begin(&walk, &cgroups, CGROUP_SECOND) || walk.version != 2 ||
        walk.place->outer || !cgroup_read_here(&walk, "cgroup.type", text, sizeof text))
        return;
    for (unsigned i = 0; i < OS_PRESSURES; i++) {
        struct values values = {0};
        if (!cgroup_read_here(&walk, PRESSURES[i].file, text, sizeof text - 1))
            continue;
        /* The last newline was removed at the end of the text. */
        size_t size = strlen(text);
        text[size++] = '\n';
        if (!host_parse_pressure(text, size, &values))
            continue;
        const char *label = PRESSURES[i].label;
        if (batch_add_row(out, VITALS_TABLE_PRESSURE, OS_PRESSURES + 1 + i,
                          (struct span){label, strlen(label)}) == NULL)
            return;
        batch_set_string(out, VITALS_PRESSURE_RESOURCE, PRESSURES[i].resource);
        batch_set_string(out, VITALS_PRESSURE_SCOPE, "cgroup");
        for (unsigned number = 1; number < METRIC_NUMBERS; number++)
            batch_set_value(out, metric_of(VITALS_TABLE_PRESSURE, number), values.at[number]);
    }
}

void os_read_machine(const struct os *os, struct row_batch *out)
{
    struct values host = {0};
    if (metric_set_has_entity(&out->wanted, VITALS_TABLE_CPU) ||
        batch_wants(out, VITALS_HOST_CPUS_PHYSICAL) || batch_wants(out, VITALS_HOST_CPU_PACKAGES) ||
        batch_wants(out, VITALS_HOST_CPU_FREQUENCY_HERTZ))
        machine_read_cpus(os, out, &host);
    if (metric_set_has_entity(&out->wanted, VITALS_TABLE_ENERGY_ZONE))
        machine_read_energy(os, out);
    if (metric_set_has_entity(&out->wanted, VITALS_TABLE_HOST) &&
        batch_add_row(out, VITALS_TABLE_HOST, 1, (struct span){"host", 4}) != NULL)
        read_host(os, out, &host);
    if (metric_set_has_entity(&out->wanted, VITALS_TABLE_DISK))
        machine_read_disks(os, out);
    if (metric_set_has_entity(&out->wanted, VITALS_TABLE_NETWORK))
        machine_read_networks(os, out);
    if (metric_set_has_entity(&out->wanted, VITALS_TABLE_PRESSURE))
        read_pressure(os, out);
}
