/* cgroup.c: our own cgroup and its ancestors: what they allow, and what is charged to ours. Version
 * 1, version 2 and both at once.
 *
 * A limit anywhere above holds for us, so the least one counts, and the memory charged against it
 * is that of the cgroup which sets it. A container sees its ancestors only up to the mount; version
 * 1 tells the limits beyond it in memory.stat. Other figures are those of our own cgroup and of
 * those below it; where only its ancestors can be seen nothing is told, for theirs is not ours.
 * Nothing is kept: our cgroup may be another one next time. Thread rule: workers only; no memory is
 * asked for. */
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/process/process_metrics.h"

#include "util/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 8192 };

/* No limit is written as LONG_MAX in whole pages, of 4 KiB or 64 KiB. */
static const uint64_t UNLIMITED_V1 = UINT64_C(0x7fffffffffff0000);

/* ---- a walk from our own cgroup to the mount ---- */

bool cgroup_walk_begin(struct cgroup_walk *walk, const struct cgroups *cgroups,
                       enum cgroup_controller controller)
{
    const struct cgroup_found *found = &cgroups->found[controller];
    *walk = (struct cgroup_walk){.os = cgroups->os,
                                 .place = &found->place,
                                 .version = found->version,
                                 .level = found->place.path.size};
    return found->version != 0;
}

/* To the parent; false at the mount. */
static bool walk_up(struct cgroup_walk *walk)
{
    const struct cgroup_place *place = walk->place;
    if (walk->level <= place->mount_size)
        return false;
    do
        walk->level--;
    while (walk->level > place->mount_size && place->path.bytes[walk->level] != '/');
    return true;
}

bool cgroup_read_here(struct cgroup_walk *walk, const char *file, char *out, size_t capacity)
{
    char path[CGROUP_PATH_MAX + 64];
    size_t size = strlen(file);
    int64_t read = -ENAMETOOLONG;
    if (walk->level + 1 + size < sizeof path) {
        memcpy(path, walk->place->path.bytes, walk->level);
        path[walk->level] = '/';
        memcpy(path + walk->level + 1, file, size + 1);
        read = linux_read_line(walk->os, walk->os->sys, path, out, capacity);
    }
    if (read < 0 && read != -ENOENT && walk->trouble == VITALS_UNSET)
        walk->trouble = os_availability((int)read);
    return read >= 0;
}

/* A number; false for "max" and -1 too. */
static bool number_here(struct cgroup_walk *walk, const char *file, uint64_t *out)
{
    char text[64];
    if (!cgroup_read_here(walk, file, text, sizeof text))
        return false;
    if (number_is_u64(text, out))
        return true;
    if (strcmp(text, "max") != 0 && strcmp(text, "-1") != 0 && walk->trouble == VITALS_UNSET)
        walk->trouble = VITALS_FAILED;
    return false;
}

static bool field_here(struct cgroup_walk *walk, const char *file, const char *key, uint64_t *out)
{
    char text[TEXT_BYTES];
    return cgroup_read_here(walk, file, text, sizeof text) &&
           cgroup_parse_field(text, strlen(text), (struct span){key, strlen(key)}, out);
}

/* Why a number of our own cgroup is not there. */
static struct value missing_here(const struct cgroup_walk *walk)
{
    return value_missing(walk->trouble != VITALS_UNSET ? walk->trouble : VITALS_UNSUPPORTED);
}

/* How good the limit is that was found, or why there is none. */
static signed char limit_state(const struct cgroup_walk *walk)
{
    if (!walk->found)
        return missing_here(walk).state;
    bool doubtful = walk->place->outer || walk->trouble != VITALS_UNSET;
    return doubtful ? VITALS_UPPER_BOUND : VITALS_HAVE;
}

/* A metric that is read alone. */
struct own_metric {
    vitals_metric metric;
    enum cgroup_controller controller;
    struct value (*read)(const struct cgroups *cgroups, const struct own_metric *own);
    bool (*limit)(struct cgroup_walk *walk, uint64_t *out); /* of read_least: of one level */

    /* Of read_figure, by version: the file (NULL: that version has none), in it a key (NULL: it is
     * the number alone), and how many units are a second (0: a count). */
    const char *file1, *file2, *key1, *key2;
    double scale1, scale2;
};

/* ---- limits: the least of all levels ---- */

/* If limits are equal the outermost counts, as more is charged to it. If version 1 reports a higher
 * one for the hierarchy, smaller limits do not apply to us (memory.use_hierarchy is 0). */
static void read_memory(const struct cgroups *cgroups, struct value *limit, struct value *charged)
{
    static const char *const LIMIT[] = {NULL, "memory.limit_in_bytes", "memory.max"};
    static const char *const USAGE[] = {NULL, "memory.usage_in_bytes", "memory.current"};
    struct cgroup_walk walk;
    uint64_t least = 0, bytes, all = 0; // what version 1 says of all ancestors, seen or not
    *limit = *charged = value_missing(VITALS_UNSUPPORTED);
    if (!cgroup_walk_begin(&walk, cgroups, CGROUP_MEMORY))
        return;
    if (walk.version == 1 && !field_here(&walk, "memory.stat", "hierarchical_memory_limit", &all))
        all = 0;
    do {
        if (!number_here(&walk, LIMIT[walk.version], &bytes) || bytes < all ||
            (walk.version == 1 && bytes >= UNLIMITED_V1) || (walk.found && bytes > least))
            continue;
        walk.found = true;
        walk.limit_level = walk.level;
        least = bytes;
    } while (walk_up(&walk));
    if (all != 0 && all < UNLIMITED_V1 && !(walk.found && least == all)) {
        walk.found = walk.unseen = true;
        least = all;
    }
    *limit = (struct value){.as.u64 = least, .state = limit_state(&walk)};

    // Charged to the cgroup that sets the limit; without a limit, to ours. Above us where version 2
    // does not count memory for ours, and at least what we see where it is set beyond.
    if (!walk.found && walk.place->outer)
        return;
    walk.trouble = VITALS_UNSET;
    walk.level = !walk.found   ? walk.place->path.size
                 : walk.unseen ? walk.place->mount_size
                               : walk.limit_level;
    do {
        if (number_here(&walk, USAGE[walk.version], &bytes)) {
            *charged = value_u64(bytes);
            charged->state = walk.unseen ? VITALS_LOWER_BOUND : VITALS_HAVE;
            return;
        }
    } while (walk.trouble == VITALS_UNSET && !walk.found && walk_up(&walk));
    *charged = missing_here(&walk);
}

/* In CPUs. */
static struct value read_cores(const struct cgroups *cgroups, const struct own_metric *own UNUSED)
{
    struct cgroup_walk walk;
    struct value least = value_missing(VITALS_UNSUPPORTED);
    if (!cgroup_walk_begin(&walk, cgroups, CGROUP_CPU))
        return least;
    do {
        char text[64];
        uint64_t quota, period;
        if (walk.version == 1) {
            if (!number_here(&walk, "cpu.cfs_quota_us", &quota) ||
                !number_here(&walk, "cpu.cfs_period_us", &period))
                continue;
        } else {
            if (!cgroup_read_here(&walk, "cpu.max", text, sizeof text))
                continue;
            struct cursor at = cursor_over(text, strlen(text));
            if (cursor_literal(&at, "max"))
                continue;
            if (!cursor_u64(&at, &quota) || !cursor_u64(&at, &period))
                period = 0;
        }
        double cores = period != 0 ? (double)quota / (double)period : 0;
        if (period == 0) {
            walk.trouble = VITALS_FAILED;
        } else if (!walk.found || cores <= least.as.f64) {
            walk.found = true;
            least.as.f64 = cores;
        }
    } while (walk_up(&walk));
    least.state = limit_state(&walk);
    return least;
}

static struct value read_least(const struct cgroups *cgroups, const struct own_metric *own)
{
    struct cgroup_walk walk;
    struct value least = value_missing(VITALS_UNSUPPORTED);
    uint64_t number;
    if (!cgroup_walk_begin(&walk, cgroups, own->controller))
        return least;
    do {
        if (!own->limit(&walk, &number) || (walk.found && number > least.as.u64))
            continue;
        walk.found = true;
        least.as.u64 = number;
    } while (walk_up(&walk));
    least.state = limit_state(&walk);
    return least;
}

static bool high_here(struct cgroup_walk *walk, uint64_t *out)
{
    return walk->version == 2 && number_here(walk, "memory.high", out);
}

static bool swap_here(struct cgroup_walk *walk, uint64_t *out)
{
    uint64_t memory, both;
    if (walk->version == 2)
        return number_here(walk, "memory.swap.max", out);
    if (!number_here(walk, "memory.memsw.limit_in_bytes", &both) || both >= UNLIMITED_V1 ||
        !number_here(walk, "memory.limit_in_bytes", &memory))
        return false;
    *out = both > memory ? both - memory : 0;
    return true;
}

static bool tasks_here(struct cgroup_walk *walk, uint64_t *out)
{
    return number_here(walk, "pids.max", out);
}

/* Those of the nearest level that says so: without the controller our own cgroup does not. */
static struct value read_cpus(const struct cgroups *cgroups, const struct own_metric *own UNUSED)
{
    static const char *const FILES[] = {NULL, "cpuset.effective_cpus", "cpuset.cpus.effective"};
    char text[TEXT_BYTES];
    struct cgroup_walk walk;
    if (!cgroup_walk_begin(&walk, cgroups, CGROUP_CPUSET))
        return value_missing(VITALS_UNSUPPORTED);
    do {
        uint64_t count = 0;
        if (cgroup_read_here(&walk, FILES[walk.version], text, sizeof text) ||
            (walk.version == 1 && cgroup_read_here(&walk, "cpuset.cpus", text, sizeof text)))
            (void)linux_count_cpus((struct span){text, strlen(text)}, &count);
        if (count != 0)
            return (struct value){.as.u64 = count,
                                  .state = walk.place->outer ? VITALS_UPPER_BOUND : VITALS_HAVE};
    } while (walk_up(&walk));
    return missing_here(&walk);
}

/* ---- what is charged to our own ---- */

static struct value read_figure(const struct cgroups *cgroups, const struct own_metric *figure)
{
    struct cgroup_walk walk;
    uint64_t number;
    if (!cgroup_walk_begin(&walk, cgroups, figure->controller) || walk.place->outer)
        return value_missing(VITALS_UNSUPPORTED);
    bool first = walk.version == 1;
    const char *file = first ? figure->file1 : figure->file2;
    const char *key = first ? figure->key1 : figure->key2;
    bool known = key != NULL ? field_here(&walk, file, key, &number)
                             : number_here(&walk, file, &number);
    if (!known)
        return missing_here(&walk);
    double scale = first ? figure->scale1 : figure->scale2;
    struct value value = scale > 0 ? value_f64((double)number / scale) : value_u64(number);
    if (first && figure->metric == VITALS_HOST_CGROUP_OOM_KILLS)
        value.state = VITALS_LOWER_BOUND; // of our own cgroup, not of those below it
    return value;
}

static struct value read_working_set(const struct cgroups *cgroups,
                                     const struct own_metric *own UNUSED)
{
    static const char *const USED[] = {NULL, "memory.usage_in_bytes", "memory.current"};
    static const char *const DROPPED[] = {NULL, "total_inactive_file", "inactive_file"};
    struct cgroup_walk walk;
    uint64_t used, inactive;
    if (!cgroup_walk_begin(&walk, cgroups, CGROUP_MEMORY) || walk.place->outer)
        return value_missing(VITALS_UNSUPPORTED);
    if (!number_here(&walk, USED[walk.version], &used))
        return missing_here(&walk);
    if (field_here(&walk, "memory.stat", DROPPED[walk.version], &inactive))
        return value_u64(used > inactive ? used - inactive : 0);
    struct value most = value_u64(used);
    most.state = VITALS_UPPER_BOUND;
    return most;
}

/* ---- disks ---- */

/* Whether a disk is counted, by its numbers: what stands on others is not, as in the machine's
 * sums. */
static bool is_counted(const struct os *os, uint64_t major, uint64_t minor)
{
    char path[96], text[UEVENT_TEXT], device[OS_DEVICE_NAME];
    bool partition;
    struct os_device_kind kind;
    snprintf(path, sizeof path, "dev/block/%llu:%llu/uevent", (unsigned long long)major,
             (unsigned long long)minor);
    struct span name = linux_uevent(os, path, "DEVNAME", text);
    if (name.size == 0 || name.size >= sizeof device)
        return true;
    memcpy(device, name.bytes, name.size);
    device[name.size] = '\0';
    os_disk_kind(os, device, NULL, &partition, &kind);
    return kind.rank != 0;
}

bool cgroup_add_io(const struct os *os, struct span line, uint64_t *read, uint64_t *written)
{
    struct cursor at = cursor_over(line.bytes, line.size);
    uint64_t major, minor, number;
    struct span word;
    if (!cursor_u64(&at, &major) || !cursor_literal(&at, ":") || !cursor_u64(&at, &minor))
        return false;
    bool any = false, counted = is_counted(os, major, minor);
    while (cursor_word(&at, &word)) {
        struct cursor key = cursor_over(word.bytes, word.size);
        bool reads = cursor_literal(&key, "rbytes=") || span_equal(word, "Read");
        bool writes = cursor_literal(&key, "wbytes=") || span_equal(word, "Write");
        bool inside = key.at != word.bytes;
        if ((!reads && !writes) || !cursor_u64(inside ? &key : &at, &number))
            continue;
        any = true;
        uint64_t *sum = reads ? read : written;
        if (counted)
            *sum = saturating_add(*sum, number);
    }
    return any;
}

/* A cgroup that did nothing has an empty file in version 2. In version 1 a file that lists no
 * device is that of a kernel that does not count (new ones only once a limit of blkio is set), or
 * of a cgroup that did nothing: these cannot be told apart. */
static void read_disks(const struct cgroups *cgroups, struct value *read, struct value *written)
{
    static const char *const FILES[][3] = {
        {NULL, "blkio.throttle.io_service_bytes_recursive", "io.stat"},
        {NULL, "blkio.throttle.io_service_bytes", NULL},
    };
    char text[TEXT_BYTES];
    struct cgroup_walk walk;
    struct span line;
    *read = *written = value_missing(VITALS_UNSUPPORTED);
    if (!cgroup_walk_begin(&walk, cgroups, CGROUP_IO) || walk.place->outer)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(FILES); i++) {
        const char *file = FILES[i][walk.version];
        if (file == NULL || !cgroup_read_here(&walk, file, text, sizeof text))
            continue;
        bool cut = strlen(text) + 1 == sizeof text;
        bool any = walk.version == 2;
        uint64_t reads = 0, writes = 0;
        struct cursor at = cursor_over(text, strlen(text));
        while (cursor_line(&at, &line))
            any |= cgroup_add_io(cgroups->os, line, &reads, &writes);
        if (!any)
            return;
        signed char state = cut ? VITALS_LOWER_BOUND : VITALS_HAVE;
        *read = (struct value){.as.u64 = reads, .state = state};
        *written = (struct value){.as.u64 = writes, .state = state};
        return;
    }
    *read = *written = missing_here(&walk);
}

/* ---- all of it ---- */

#define NUMBER(file1, file2)          .read = read_figure, NULL, file1, file2
#define KEY(file1, key1, file2, key2) .read = read_figure, NULL, file1, file2, key1, key2

static const struct own_metric METRICS[] = {
    {VITALS_HOST_CGROUP_CPU_LIMIT_CORES, CGROUP_CPU, .read = read_cores},
    {VITALS_HOST_CGROUP_MEMORY_HIGH_BYTES, CGROUP_MEMORY, .read = read_least, high_here},
    {VITALS_HOST_CGROUP_SWAP_LIMIT_BYTES, CGROUP_MEMORY, .read = read_least, swap_here},
    {VITALS_HOST_CGROUP_PROCESSES_LIMIT, CGROUP_PIDS, .read = read_least, tasks_here},
    {VITALS_HOST_CGROUP_CPUS, CGROUP_CPUSET, .read = read_cpus},
    {VITALS_HOST_CGROUP_MEMORY_WORKING_BYTES, CGROUP_MEMORY, .read = read_working_set},
    {VITALS_HOST_CGROUP_MEMORY_PEAK_BYTES, CGROUP_MEMORY,
     NUMBER("memory.max_usage_in_bytes", "memory.peak")},
    {VITALS_HOST_CGROUP_OOM_KILLS, CGROUP_MEMORY,
     KEY("memory.oom_control", "oom_kill", "memory.events", "oom_kill")},
    {VITALS_HOST_CGROUP_CPU_SECONDS, CGROUP_CPUACCT,
     KEY("cpuacct.usage", NULL, "cpu.stat", "usage_usec"), 1e9, 1e6},
    {VITALS_HOST_CGROUP_CPU_THROTTLED_SECONDS, CGROUP_CPU,
     KEY("cpu.stat", "throttled_time", "cpu.stat", "throttled_usec"), 1e9, 1e6},
    {VITALS_HOST_CGROUP_CPU_THROTTLED_PERIODS, CGROUP_CPU,
     KEY("cpu.stat", "nr_throttled", "cpu.stat", "nr_throttled")},
    {VITALS_HOST_CGROUP_PROCESSES, CGROUP_PIDS, NUMBER("pids.current", "pids.current")},

    /* These are read below. */
    {VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, CGROUP_MEMORY, .read = NULL},
    {VITALS_HOST_CGROUP_MEMORY_USED_BYTES, CGROUP_MEMORY, .read = NULL},
    {VITALS_HOST_CGROUP_VERSION, CGROUP_CPU, .read = NULL},
    {VITALS_HOST_CGROUP_READ_BYTES, CGROUP_IO, .read = NULL},
    {VITALS_HOST_CGROUP_WRITTEN_BYTES, CGROUP_IO, .read = NULL},
};

static void set(struct values *machine, const struct metric_set *wanted, vitals_metric metric,
                struct value value)
{
    if (metric_set_has(wanted, metric))
        values_set(machine, metric, value);
}

void os_read_own_cgroup(const struct os *os, const struct metric_set *wanted,
                        struct values *machine)
{
    enum { HYBRID = 12 }; // the version where both are mounted
    struct cgroups cgroups;
    struct value one, other;
    unsigned controllers = 0;
    for (size_t i = 0; i < ARRAY_COUNT(METRICS); i++)
        if (metric_set_has(wanted, METRICS[i].metric))
            controllers |= 1u << METRICS[i].controller;
    if (controllers == 0)
        return;
    cgroups_find(&cgroups, os, 0, controllers);

    for (size_t i = 0; i < ARRAY_COUNT(METRICS); i++)
        if (METRICS[i].read != NULL && metric_set_has(wanted, METRICS[i].metric))
            values_set(machine, METRICS[i].metric, METRICS[i].read(&cgroups, &METRICS[i]));
    one = value_u64(!cgroups.second ? 1 : cgroups.first ? HYBRID : 2);
    set(machine, wanted, VITALS_HOST_CGROUP_VERSION,
        cgroups.first || cgroups.second ? one : value_missing(VITALS_UNSUPPORTED));
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES) ||
        metric_set_has(wanted, VITALS_HOST_CGROUP_MEMORY_USED_BYTES)) {
        read_memory(&cgroups, &one, &other);
        set(machine, wanted, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, one);
        set(machine, wanted, VITALS_HOST_CGROUP_MEMORY_USED_BYTES, other);
    }
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_READ_BYTES) ||
        metric_set_has(wanted, VITALS_HOST_CGROUP_WRITTEN_BYTES)) {
        read_disks(&cgroups, &one, &other);
        set(machine, wanted, VITALS_HOST_CGROUP_READ_BYTES, one);
        set(machine, wanted, VITALS_HOST_CGROUP_WRITTEN_BYTES, other);
    }
}
