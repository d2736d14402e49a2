/* host.c: the machine's files, each with a descriptor that is kept and read again from its start.
 *
 * A table says which file has which metrics; a file without a wanted metric is not read. A file
 * that could not be opened is tried again at the next tick. parse_*.c parses the files, and
 * cgroup.c reads our own cgroup. Thread rule: a struct os_host belongs to one thread at a time. */
#include "os/linux/machine/host_files.h"
#include "os/linux/machine/machine.h"

#include "util/memory.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* The initial size of a buffer, enough for most machines; and the most that is read of a file:
 * /proc/stat has a number for every interrupt, /proc/net/dev a line for every container. */
enum { TEXT_START = 16 * 1024, TEXT_MAX = 4 * 1024 * 1024 };

/* A read below this size was the last one, which saves the read that returns 0: for text that the
 * kernel makes as a whole (single_open), every short read; for a list that it makes line by line
 * into a page (seq_file), only one that left room for another line. */
enum { WHOLE = TEXT_MAX, LIST = 4096 - 512, UNTIL_END = 0 };

/* The largest affinity mask that is tried. */
enum { MASK_BYTES_START = 128, MASK_BYTES_MAX = HOST_CPUS_MAX / 8 };

struct host_reading {
    struct os_host *host;
    const struct os *os;
    const struct metric_set *wanted;
    struct os_machine *out;
    bool short_of_memory;
};

/* Reads the text of a kept descriptor. Returns 0 or a negative errno. */
static int read_text(int descriptor, size_t last_below, struct buffer *text)
{
    buffer_reset(text);
    while (text->size < TEXT_MAX) {
        char *at = buffer_reserve(text, text->size == 0 ? TEXT_START : 1);
        if (at == NULL)
            return -ENOMEM;
        size_t room = size_min(text->capacity - text->size - 1, TEXT_MAX - text->size);
        int64_t size = linux_read(descriptor, at, room, text->size);
        if (size <= 0)
            return (int)size;
        buffer_advance(text, (size_t)size);
        if ((size_t)size < room && (size_t)size < last_below)
            return 0;
    }
    return 0;
}

static void take_stat(struct host_reading *reading)
{
    const struct buffer *text = &reading->host->text;
    bool cpus = metric_set_has_entity(reading->wanted, VITALS_TABLE_CPU);
    if (host_parse_stat(text->bytes, text->size, reading->os->ticks_per_second,
                        &reading->out->values, cpus ? &reading->out->cpus : NULL) != 0)
        reading->short_of_memory = true;
}

/* The watermarks are read only if the kernel does not report available memory; the text of meminfo
 * is no longer needed then. */
static void take_memory(struct host_reading *reading)
{
    struct buffer *text = &reading->host->text;
    struct values *machine = &reading->out->values;
    host_parse_meminfo(text->bytes, text->size, machine);
    uint64_t low = 0;
    bool known = false;
    if (machine->at[metric_number(VITALS_HOST_MEMORY_AVAILABLE_BYTES)].state == VITALS_UNSET) {
        int descriptor = linux_open(reading->os, reading->os->proc, "zoneinfo", 0);
        int error = descriptor < 0 ? descriptor : read_text(descriptor, UNTIL_END, text);
        if (error == 0)
            known = host_parse_zoneinfo(text->bytes, text->size, &low);
        if (error == -ENOMEM)
            reading->short_of_memory = true;
        os_close_descriptor(descriptor);
        low = saturating_mul(low, reading->os->page_bytes);
    }
    host_derive_memory(machine, known ? &low : NULL);
}

static void take_load(struct host_reading *reading)
{
    const struct buffer *text = &reading->host->text;
    host_parse_loadavg(text->bytes, text->size, &reading->out->values);
}

static void take_disks(struct host_reading *reading)
{
    const struct buffer *text = &reading->host->text;
    if (host_parse_diskstats(text->bytes, text->size, &reading->out->disks) != 0)
        reading->short_of_memory = true;
}

static void take_networks(struct host_reading *reading)
{
    const struct buffer *text = &reading->host->text;
    if (host_parse_netdev(text->bytes, text->size, &reading->out->networks) != 0)
        reading->short_of_memory = true;
}

static void take_vmstat(struct host_reading *reading)
{
    const struct buffer *text = &reading->host->text;
    host_parse_vmstat(text->bytes, text->size, reading->os->page_bytes, &reading->out->values);
}

static const struct host_file {
    const char *path;
    size_t descriptor; /* offset within struct os_host */
    size_t last_below; /* WHOLE, LIST or UNTIL_END */
    void (*take)(struct host_reading *reading);
    vitals_table table; /* table whose rows the file also has; 0: none */
    size_t devices;     /* offset of that table's list within struct os_machine; 0: none */
    struct {
        vitals_metric first, last;
    } serves[5]; /* ends with zeros */
} FILES[] = {
    // clang-format off
    {"stat", offsetof(struct os_host, stat), WHOLE, take_stat, VITALS_TABLE_CPU, 0,
     {{VITALS_HOST_CPUS, VITALS_HOST_CPUS},
      {VITALS_HOST_SOFT_INTERRUPTS, VITALS_HOST_SOFT_INTERRUPTS},
      {VITALS_HOST_FORKS, VITALS_HOST_TASKS_BLOCKED},
      {VITALS_HOST_CPU_USER_SECONDS, VITALS_HOST_CPU_TOTAL_SECONDS}}},
    {"meminfo", offsetof(struct os_host, meminfo), WHOLE, take_memory, 0, 0,
     {{VITALS_HOST_MEMORY_TOTAL_BYTES, VITALS_HOST_SWAP_USED_BYTES},
      {VITALS_HOST_MEMORY_HUGE_TOTAL_BYTES, VITALS_HOST_MEMORY_HUGE_FREE_BYTES}}},
    {"loadavg", offsetof(struct os_host, loadavg), WHOLE, take_load, 0, 0,
     {{VITALS_HOST_LOAD_1M, VITALS_HOST_TASKS}}},
    {"vmstat", offsetof(struct os_host, vmstat), LIST, take_vmstat, 0, 0,
     {{VITALS_HOST_SWAP_IN_BYTES, VITALS_HOST_OOM_KILLS}}},
    {"diskstats", offsetof(struct os_host, diskstats), LIST, take_disks, VITALS_TABLE_DISK,
     offsetof(struct os_machine, disks),
     {{VITALS_HOST_DISK_READ_BYTES, VITALS_HOST_DISK_WRITES},
      {VITALS_HOST_DISK_BUSY_SECONDS, VITALS_HOST_DISK_BUSY_SECONDS}}},
    {"net/dev", offsetof(struct os_host, netdev), LIST, take_networks, VITALS_TABLE_NETWORK,
     offsetof(struct os_machine, networks),
     {{VITALS_HOST_NETWORK_RECEIVED_BYTES, VITALS_HOST_NETWORK_TRANSMITTED_BYTES},
      {VITALS_HOST_NETWORK_RECEIVED_PACKETS, VITALS_HOST_NETWORK_TRANSMITTED_PACKETS}}},
    // clang-format on
};

static int *descriptor_of(struct os_host *host, const struct host_file *file)
{
    return (int *)(void *)((char *)host + file->descriptor);
}

static int take_file(struct host_reading *reading, const struct host_file *file)
{
    int *descriptor = descriptor_of(reading->host, file);
    if (*descriptor < 0) {
        int opened = linux_open(reading->os, reading->os->proc, file->path, 0);
        if (opened < 0)
            return opened;
        *descriptor = opened;
    }
    int error = read_text(*descriptor, file->last_below, &reading->host->text);
    reading->short_of_memory |= error == -ENOMEM;
    if (error < 0 && error != -ENOMEM) {
        linux_trace(reading->os, file->path, -error);
        os_close_descriptor(*descriptor);
        *descriptor = -1;
    }
    if (error < 0)
        return error;
    file->take(reading);
    return reading->short_of_memory ? -ENOMEM : 0;
}

/* Counts the CPUs on which the calling thread may run; the kernel refuses a mask that is too
 * short. */
struct value linux_count_usable(const struct os *os)
{
    if (!os->live)
        return value_missing(VITALS_UNSUPPORTED);
    unsigned long mask[MASK_BYTES_MAX / sizeof(unsigned long)];
    size_t size = MASK_BYTES_START;
    while (sched_getaffinity(0, size, (cpu_set_t *)(void *)mask) != 0) {
        if (errno != EINVAL || size == MASK_BYTES_MAX)
            return value_missing(os_availability(errno));
        size *= 2;
    }
    unsigned count = 0;
    for (size_t i = 0; i < size / sizeof mask[0]; i++)
        count += (unsigned)__builtin_popcountl(mask[i]);
    return value_u64(count);
}

size_t os_cpus_usable(const struct os *os)
{
    struct value count = linux_count_usable(os);
    return count.state > 0 && count.as.u64 > 0 ? (size_t)count.as.u64 : 1;
}

/* ---- pressure ---- */

/* A kernel without pressure, or booted without it, is not asked again. */
static void take_pressures(struct host_reading *reading)
{
    static const char *const PRESSURES[OS_PRESSURES] = {"pressure/cpu", "pressure/memory",
                                                        "pressure/io", "pressure/irq"};
    enum { NONE = -2 };
    struct buffer *text = &reading->host->text;
    for (unsigned i = 0; i < OS_PRESSURES; i++) {
        int *descriptor = &reading->host->pressure[i];
        if (*descriptor == NONE)
            continue;
        if (*descriptor < 0)
            *descriptor = linux_open(reading->os, reading->os->proc, PRESSURES[i], 0);
        int error = *descriptor < 0 ? *descriptor : read_text(*descriptor, WHOLE, text);
        if (error == 0) {
            (void)host_parse_pressure(text->bytes, text->size, &reading->out->pressures[i]);
            continue;
        }
        os_close_descriptor(*descriptor);
        *descriptor = error == -ENOENT || error == -EOPNOTSUPP ? NONE : -1;
        reading->short_of_memory |= error == -ENOMEM;
    }
}

/* ---- all of it ---- */

void os_host_init(struct os_host *host)
{
    *host = (struct os_host){.stat = -1,
                             .meminfo = -1,
                             .loadavg = -1,
                             .vmstat = -1,
                             .diskstats = -1,
                             .netdev = -1,
                             .pressure = {-1, -1, -1, -1}};
}

void os_host_done(struct os_host *host)
{
    for (size_t i = 0; i < ARRAY_COUNT(FILES); i++)
        os_close_descriptor(*descriptor_of(host, &FILES[i]));
    for (unsigned i = 0; i < OS_PRESSURES; i++)
        os_close_descriptor(host->pressure[i]);
    buffer_done(&host->text);
    os_host_init(host);
}

void os_machine_done(struct os_machine *machine)
{
    memory_free(machine->cpus.items);
    memory_free(machine->disks.items);
    memory_free(machine->networks.items);
    *machine = (struct os_machine){0};
}

void os_host_read(struct os_host *host, const struct os *os, const struct metric_set *wanted,
                  struct os_machine *out)
{
    struct values *machine = &out->values;
    struct host_reading reading = {host, os, wanted, out, false};
    *machine = (struct values){0};
    out->cpus.count = 0;
    out->disks.state = out->networks.state = VITALS_UNSET;
    memset(out->pressures, 0, sizeof out->pressures);
    for (size_t i = 0; i < ARRAY_COUNT(FILES); i++) {
        const struct host_file *file = &FILES[i];
        bool is_wanted = file->table != 0 && metric_set_has_entity(wanted, file->table);
        for (size_t k = 0; file->serves[k].first != 0 && !is_wanted; k++)
            for (unsigned metric = file->serves[k].first; metric <= file->serves[k].last; metric++)
                is_wanted |= metric_set_has(wanted, (vitals_metric)metric);
        if (!is_wanted)
            continue;

        /* A missing file means that the kernel lacks the feature; VITALS_GONE does not apply. */
        int error = take_file(&reading, file);
        vitals_availability reason = error == 0 || error == -ENOENT ? VITALS_UNSUPPORTED
                                                                    : os_availability(error);
        if (file->devices != 0 && error < 0) {
            struct os_devices *devices = (struct os_devices *)(void *)((char *)out + file->devices);
            devices->count = 0;
            devices->state = (signed char)reason;
        }
        for (size_t k = 0; file->serves[k].first != 0 && file->devices == 0; k++)
            for (unsigned metric = file->serves[k].first; metric <= file->serves[k].last;
                 metric++) {
                struct value *value = &machine->at[metric_number((vitals_metric)metric)];
                if (value->state == VITALS_UNSET)
                    *value = value_missing(reason);
            }
    }
    if (metric_set_has_entity(wanted, VITALS_TABLE_PRESSURE))
        take_pressures(&reading);
    if (metric_set_has(wanted, VITALS_HOST_CPUS_USABLE))
        values_set(machine, VITALS_HOST_CPUS_USABLE, linux_count_usable(os));
    if (metric_set_has(wanted, VITALS_HOST_UPTIME_SECONDS))
        values_set(machine, VITALS_HOST_UPTIME_SECONDS,
                   value_f64((double)os->clock.boottime_ns(os->clock.data) / 1e9));
    if (metric_set_has(wanted, VITALS_HOST_BOOT_TIME_SECONDS)) {
        /* From the clock: /proc/stat has whole seconds, truncated. */
        uint64_t now_ns = os->clock.realtime_ns(os->clock.data);
        uint64_t since_ns = os->clock.boottime_ns(os->clock.data);
        values_set(machine, VITALS_HOST_BOOT_TIME_SECONDS,
                   value_f64((double)(int64_t)(now_ns - since_ns) / 1e9));
    }
    host->text.failed = reading.short_of_memory;
}

void os_read_kernel(const struct os *os, char *out, size_t capacity)
{
    linux_read_line(os, os->proc, "sys/kernel/osrelease", out, capacity);
}
