/* Any bytes as one of the machine's files, the first byte says which, from '0' on: no read past the
 * end, no value without a state, and what must hold between values holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os/linux/cgroup/cgroup.h"
#include "os/linux/machine/machine.h"
#include "os/linux/machine/mounts.h"
#include "util/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static const struct value *at(const struct values *values, vitals_metric metric)
{
    return &values->at[metric_number(metric)];
}

static bool known(const struct values *values, vitals_metric metric)
{
    return at(values, metric)->state > 0;
}

/* a <= b, where both are known. */
static void require_within(const struct values *values, vitals_metric a, vitals_metric b)
{
    if (known(values, a) && known(values, b))
        require(at(values, a)->as.u64 <= at(values, b)->as.u64);
}

static void require_times(const struct values *values, vitals_metric busy, vitals_metric total)
{
    require(known(values, busy) == known(values, total));
    if (!known(values, busy))
        return;
    require(isfinite(at(values, total)->as.f64) && at(values, busy)->as.f64 >= 0);
    require(at(values, busy)->as.f64 <= at(values, total)->as.f64);
}

static void stat_file(const char *bytes, size_t size)
{
    struct values machine = {0};
    struct os_cpus cpus = {0};
    require(host_parse_stat(bytes, size, 0.01, &machine, &cpus) == 0);
    require_times(&machine, VITALS_HOST_CPU_BUSY_SECONDS, VITALS_HOST_CPU_TOTAL_SECONDS);
    require(known(&machine, VITALS_HOST_CPUS) == (cpus.count != 0));
    for (size_t i = 0; i < cpus.count; i++) {
        const struct os_cpu *cpu = &cpus.items[i];
        require(cpu->index < HOST_CPUS_MAX && (i == 0 || cpu->index > cpu[-1].index));
        require(at(&cpu->values, VITALS_CPU_INDEX)->as.u64 == cpu->index);
        require_times(&cpu->values, VITALS_CPU_BUSY_SECONDS, VITALS_CPU_TOTAL_SECONDS);
    }
    uint64_t count = cpus.count;
    memory_free(cpus.items);

    struct values again = {0};
    require(host_parse_stat(bytes, size, 0.01, &again, NULL) == 0);
    require(count == 0 || at(&again, VITALS_HOST_CPUS)->as.u64 == count);
}

static void meminfo_file(const char *bytes, size_t size)
{
    struct values machine = {0};
    uint64_t pages = 0;
    bool zones = host_parse_zoneinfo(bytes, size, &pages);
    host_parse_meminfo(bytes, size, &machine);
    uint64_t low = saturating_mul(pages, 4096);
    host_derive_memory(&machine, zones ? &low : NULL);
    require_within(&machine, VITALS_HOST_MEMORY_AVAILABLE_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES);
    require_within(&machine, VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES);
    require_within(&machine, VITALS_HOST_MEMORY_PAGE_CACHE_BYTES, VITALS_HOST_MEMORY_CACHED_BYTES);
    require_within(&machine, VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES);
}

static void loadavg_file(const char *bytes, size_t size)
{
    struct values machine = {0};
    host_parse_loadavg(bytes, size, &machine);
    if (known(&machine, VITALS_HOST_LOAD_1M))
        require(isfinite(at(&machine, VITALS_HOST_LOAD_1M)->as.f64));
    require(!known(&machine, VITALS_HOST_TASKS) || known(&machine, VITALS_HOST_LOAD_15M));
}

static void require_devices(const struct os_devices *devices)
{
    require(devices->state != VITALS_UNSET);
    require(devices->count == 0 || devices->state > 0);
    for (size_t i = 0; i < devices->count; i++) {
        const struct os_device *device = &devices->items[i];
        require(memchr(device->name, '\0', sizeof device->name) != NULL);
        require(device->has != 0 && device->has < 1u << OS_DEVICE_NUMBERS);
    }
    memory_free(devices->items);
}

static void diskstats_file(const char *bytes, size_t size)
{
    struct os_devices devices = {0};
    require(host_parse_diskstats(bytes, size, &devices) == 0);
    require_devices(&devices);
}

static void netdev_file(const char *bytes, size_t size)
{
    struct os_devices devices = {0};
    require(host_parse_netdev(bytes, size, &devices) == 0);
    require_devices(&devices);
}

static void pressure_file(const char *bytes, size_t size)
{
    struct values values = {0};
    bool any = host_parse_pressure(bytes, size, &values);
    bool some = known(&values, VITALS_PRESSURE_SOME_10S_RATIO);
    bool full = known(&values, VITALS_PRESSURE_FULL_10S_RATIO);
    require(any == (some || full));
    if (some)
        require(at(&values, VITALS_PRESSURE_SOME_10S_RATIO)->as.f64 >= 0 &&
                at(&values, VITALS_PRESSURE_SOME_10S_RATIO)->as.f64 <= 1);
    require(!known(&values, VITALS_PRESSURE_FULL_SECONDS) || full);
}

static void vmstat_file(const char *bytes, size_t size)
{
    struct values machine = {0};
    host_parse_vmstat(bytes, size, 4096, &machine);
    if (known(&machine, VITALS_HOST_SWAP_IN_BYTES))
        require(at(&machine, VITALS_HOST_SWAP_IN_BYTES)->as.u64 % 4096 == 0 ||
                at(&machine, VITALS_HOST_SWAP_IN_BYTES)->as.u64 == UINT64_MAX);
}

static void mountinfo_file(const char *bytes, size_t size)
{
    static struct mount mount; /* too large for some fuzzers' stacks */
    struct cursor text = cursor_over(bytes, size);
    struct span line;
    while (cursor_line(&text, &line)) {
        if (!mount_parse(line, &mount))
            continue;
        require(mount.point.size > 0 && mount.point.bytes[0] == '/');
        require(mount.point.size == strlen(mount.point.bytes));
        require(mount.source.size == strlen(mount.source.bytes));
        require(mount.options_size >= 2 && mount.options_size <= sizeof mount.options);
        require(mount.type.bytes >= line.bytes &&
                mount.type.bytes + mount.type.size <= line.bytes + line.size);
        (void)mount_stores_nothing(mount.type);
        (void)mount_is_remote(&mount);
    }
}

static void zfs_file(const char *bytes, size_t size)
{
    uint64_t read, written;
    (void)zfs_parse_io(bytes, size, &read, &written);
    (void)zfs_parse_objset(bytes, size, &read, &written);
}

/* os-release, cpuinfo, and lists of CPUs. */
static void names_file(const char *bytes, size_t size)
{
    char name[64];
    require(machine_parse_release(bytes, size, name, sizeof name) <= sizeof name);
    struct cursor text = cursor_over(bytes, size);
    struct span line, key, value;
    while (cursor_line(&text, &line))
        if (machine_parse_cpuinfo(line, &key, &value))
            require(value.bytes + value.size <= line.bytes + line.size);
}

/* Each line is tried as both; the path that comes out never leads upwards. */
static void cgroup_files(const char *bytes, size_t size)
{
    static struct cgroup_mount mount; /* too large for some fuzzers' stacks */
    static struct cgroup_place place;
    struct cursor text = cursor_over(bytes, size);
    struct span line, cgroup = {"/", 1};
    unsigned version = 0;
    place.found = false;
    while (cursor_line(&text, &line)) {
        if (host_parse_membership(line, "memory", &version, &cgroup))
            require(cgroup.size > 0 && cgroup.bytes[0] == '/' && version != 0);
        if (!host_parse_cgroup_mount(line, &mount))
            continue;
        require(mount.root.bytes[0] == '/' && mount.root.bytes[mount.root.size] == '\0');
        (void)host_mount_has(&mount, 1, "memory");
        host_place_cgroup(&mount, cgroup, &place);
    }
    if (!place.found)
        return;
    require(place.mount_size > 0 && place.mount_size <= place.path.size);
    require(place.path.size < CGROUP_PATH_MAX && place.path.bytes[place.path.size] == '\0');
    require(strncmp(place.path.bytes + place.mount_size, "/../", 4) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const files[])(const char *bytes, size_t size) = {
        stat_file,     meminfo_file, loadavg_file,   diskstats_file, netdev_file, cgroup_files,
        pressure_file, vmstat_file,  mountinfo_file, zfs_file,       names_file,
    };
    if (size > 0)
        files[(uint8_t)(data[0] - '0') % ARRAY_COUNT(files)]((const char *)data + 1, size - 1);
    return 0;
}
