/* cgroup_usage.c: what is charged to our own cgroup, what it was refused, and the lesser limits.
 *
 * What is used is that of our own cgroup alone and of those below it; where only its ancestors can
 * be seen (a container without a view of itself) nothing is told, for theirs is not ours.
 * Thread rule: workers only; no memory is asked for. */
#include "os/linux/cgroup/cgroup.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 8192 };

/* One way to a number: the file by version (NULL: that version has none), and in it a key (NULL: it
 * is the number alone). */
struct cgroup_usage_figure {
    vitals_metric metric;
    enum cgroup_controller controller;
    const char *file[3], *key[3];
    double scale[3]; /* of seconds; 0: a count */
};

static const struct cgroup_usage_figure FIGURES[] = {
    {VITALS_HOST_CGROUP_MEMORY_PEAK_BYTES,
     CGROUP_MEMORY,
     {NULL, "memory.max_usage_in_bytes", "memory.peak"},
     {NULL},
     {0}},
    {VITALS_HOST_CGROUP_OOM_KILLS,
     CGROUP_MEMORY,
     {NULL, "memory.oom_control", "memory.events"},
     {NULL, "oom_kill", "oom_kill"},
     {0}},
    {VITALS_HOST_CGROUP_CPU_SECONDS,
     CGROUP_CPUACCT,
     {NULL, "cpuacct.usage", "cpu.stat"},
     {NULL, NULL, "usage_usec"},
     {0, 1e9, 1e6}},
    {VITALS_HOST_CGROUP_CPU_THROTTLED_SECONDS,
     CGROUP_CPU,
     {NULL, "cpu.stat", "cpu.stat"},
     {NULL, "throttled_time", "throttled_usec"},
     {0, 1e9, 1e6}},
    {VITALS_HOST_CGROUP_CPU_THROTTLED_PERIODS,
     CGROUP_CPU,
     {NULL, "cpu.stat", "cpu.stat"},
     {NULL, "nr_throttled", "nr_throttled"},
     {0}},
    {VITALS_HOST_CGROUP_PROCESSES,
     CGROUP_PIDS,
     {NULL, "pids.current", "pids.current"},
     {NULL},
     {0}},
};

bool cgroup_field_here(struct cgroup_walk *walk, const char *file, const char *key, uint64_t *out)
{
    char text[TEXT_BYTES];
    struct span line, word;
    if (!cgroup_read_here(walk, file, text, sizeof text))
        return false;
    struct cursor at = cursor_over(text, strlen(text));
    while (cursor_line(&at, &line)) {
        struct cursor field = cursor_over(line.bytes, line.size);
        if (cursor_word(&field, &word) && span_equal(word, key))
            return cursor_u64(&field, out);
    }
    return false;
}

/* Why a number of our own cgroup is not there. */
static struct value missing_here(const struct cgroup_walk *walk)
{
    return value_missing(walk->trouble != VITALS_UNSET ? walk->trouble : VITALS_UNSUPPORTED);
}

static struct value read_figure(const struct cgroups *cgroups,
                                const struct cgroup_usage_figure *figure)
{
    struct cgroup_walk walk;
    uint64_t number;
    if (!cgroup_walk_begin(&walk, cgroups, figure->controller) || walk.place->outer)
        return value_missing(VITALS_UNSUPPORTED);
    const char *file = figure->file[walk.version], *key = figure->key[walk.version];
    bool known = file != NULL && (key != NULL ? cgroup_field_here(&walk, file, key, &number)
                                              : cgroup_number_here(&walk, file, &number));
    if (!known)
        return missing_here(&walk);
    double scale = figure->scale[walk.version];
    struct value value = scale > 0 ? value_f64((double)number / scale) : value_u64(number);
    if (walk.version == 1 && figure->metric == VITALS_HOST_CGROUP_OOM_KILLS)
        value.state = VITALS_LOWER_BOUND; // of our own cgroup, not of those below it
    return value;
}

/* ---- memory ---- */

static struct value read_working_set(const struct cgroups *cgroups)
{
    static const char *const USED[] = {NULL, "memory.usage_in_bytes", "memory.current"};
    static const char *const DROPPED[] = {NULL, "total_inactive_file", "inactive_file"};
    struct cgroup_walk walk;
    uint64_t used, inactive;
    if (!cgroup_walk_begin(&walk, cgroups, CGROUP_MEMORY) || walk.place->outer)
        return value_missing(VITALS_UNSUPPORTED);
    if (!cgroup_number_here(&walk, USED[walk.version], &used))
        return missing_here(&walk);
    if (cgroup_field_here(&walk, "memory.stat", DROPPED[walk.version], &inactive))
        return value_u64(used > inactive ? used - inactive : 0);
    struct value most = value_u64(used);
    most.state = VITALS_UPPER_BOUND;
    return most;
}

/* ---- limits: the least of all levels ---- */

typedef bool read_limit(struct cgroup_walk *walk, uint64_t *out);

static struct value least_of(const struct cgroups *cgroups, enum cgroup_controller controller,
                             read_limit *read)
{
    struct cgroup_walk walk;
    struct value least = value_missing(VITALS_UNSUPPORTED);
    uint64_t number;
    if (!cgroup_walk_begin(&walk, cgroups, controller))
        return least;
    do {
        if (!read(&walk, &number) || (walk.found && number > least.as.u64))
            continue;
        walk.found = true;
        least.as.u64 = number;
    } while (cgroup_walk_up(&walk));
    least.state = cgroup_limit_state(&walk);
    return least;
}

static bool read_high(struct cgroup_walk *walk, uint64_t *out)
{
    return walk->version == 2 && cgroup_number_here(walk, "memory.high", out);
}

static bool read_swap(struct cgroup_walk *walk, uint64_t *out)
{
    uint64_t memory, both;
    if (walk->version == 2)
        return cgroup_number_here(walk, "memory.swap.max", out);
    if (!cgroup_number_here(walk, "memory.memsw.limit_in_bytes", &both) ||
        both >= CGROUP_UNLIMITED_V1 || !cgroup_number_here(walk, "memory.limit_in_bytes", &memory))
        return false;
    *out = both > memory ? both - memory : 0;
    return true;
}

static bool read_tasks(struct cgroup_walk *walk, uint64_t *out)
{
    return cgroup_number_here(walk, "pids.max", out);
}

/* ---- CPUs ---- */

uint64_t cgroup_count_cpus(const char *text)
{
    struct cursor at = cursor_over(text, strlen(text));
    uint64_t count = 0, first, last;
    while (cursor_u64(&at, &first)) {
        last = first;
        if (cursor_literal(&at, "-") && !cursor_u64(&at, &last))
            return 0;
        if (last < first || last >= HOST_CPUS_MAX)
            return 0;
        count += last - first + 1;
        if (!cursor_literal(&at, ","))
            break;
    }
    cursor_blanks(&at);
    return cursor_done(&at) || *at.at == '\n' ? count : 0;
}

/* Those of the nearest level that says so: without the controller our own cgroup does not. */
static struct value read_cpus(const struct cgroups *cgroups)
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
            count = cgroup_count_cpus(text);
        if (count != 0)
            return (struct value){.as.u64 = count,
                                  .state = walk.place->outer ? VITALS_UPPER_BOUND : VITALS_HAVE};
    } while (cgroup_walk_up(&walk));
    return missing_here(&walk);
}

/* ---- disks ---- */

/* Whether a disk is counted, by its numbers: what stands on others is not, as in the machine's
 * sums. */
static bool is_counted(const struct os *os, uint64_t major, uint64_t minor)
{
    char path[96], text[1024];
    struct span line;
    snprintf(path, sizeof path, "dev/block/%llu:%llu/uevent", (unsigned long long)major,
             (unsigned long long)minor);
    int64_t size = linux_read_line(os, os->sys, path, text, sizeof text);
    struct cursor at = cursor_over(text, size > 0 ? (size_t)size : 0);
    while (cursor_line(&at, &line)) {
        struct cursor name = cursor_over(line.bytes, line.size);
        if (!cursor_literal(&name, "DEVNAME="))
            continue;
        char device[OS_DEVICE_NAME];
        bool partition;
        struct os_device_kind kind;
        size_t length = (size_t)(name.end - name.at);
        if (length >= sizeof device)
            return true;
        memcpy(device, name.at, length);
        device[length] = '\0';
        os_disk_kind(os, device, NULL, &partition, &kind);
        return kind.rank != 0;
    }
    return true;
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

static struct value read_version(const struct cgroups *cgroups)
{
    enum { HYBRID = 12 };
    if (!cgroups->first && !cgroups->second)
        return value_missing(VITALS_UNSUPPORTED);
    return value_u64(!cgroups->second ? 1 : cgroups->first ? HYBRID : 2);
}

static void set(struct values *machine, const struct metric_set *wanted, vitals_metric metric,
                struct value value)
{
    if (metric_set_has(wanted, metric))
        values_set(machine, metric, value);
}

static void read_usage(const struct cgroups *cgroups, const struct metric_set *wanted,
                       struct values *machine)
{
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++)
        if (metric_set_has(wanted, FIGURES[i].metric))
            values_set(machine, FIGURES[i].metric, read_figure(cgroups, &FIGURES[i]));
    set(machine, wanted, VITALS_HOST_CGROUP_VERSION, read_version(cgroups));
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_MEMORY_WORKING_BYTES))
        values_set(machine, VITALS_HOST_CGROUP_MEMORY_WORKING_BYTES, read_working_set(cgroups));
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_MEMORY_HIGH_BYTES))
        values_set(machine, VITALS_HOST_CGROUP_MEMORY_HIGH_BYTES,
                   least_of(cgroups, CGROUP_MEMORY, read_high));
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_SWAP_LIMIT_BYTES))
        values_set(machine, VITALS_HOST_CGROUP_SWAP_LIMIT_BYTES,
                   least_of(cgroups, CGROUP_MEMORY, read_swap));
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_PROCESSES_LIMIT))
        values_set(machine, VITALS_HOST_CGROUP_PROCESSES_LIMIT,
                   least_of(cgroups, CGROUP_PIDS, read_tasks));
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_CPUS))
        values_set(machine, VITALS_HOST_CGROUP_CPUS, read_cpus(cgroups));
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_READ_BYTES) ||
        metric_set_has(wanted, VITALS_HOST_CGROUP_WRITTEN_BYTES)) {
        struct value read, written;
        read_disks(cgroups, &read, &written);
        set(machine, wanted, VITALS_HOST_CGROUP_READ_BYTES, read);
        set(machine, wanted, VITALS_HOST_CGROUP_WRITTEN_BYTES, written);
    }
}

/* Which controllers a range of metrics needs. */
static const struct {
    vitals_metric first, last;
    unsigned controllers;
} NEEDS[] = {
    {VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, VITALS_HOST_CGROUP_MEMORY_USED_BYTES,
     1u << CGROUP_MEMORY},
    {VITALS_HOST_CGROUP_CPU_LIMIT_CORES, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, 1u << CGROUP_CPU},
    {VITALS_HOST_CGROUP_VERSION, VITALS_HOST_CGROUP_VERSION, 1u << CGROUP_CPU},
    {VITALS_HOST_CGROUP_MEMORY_HIGH_BYTES, VITALS_HOST_CGROUP_OOM_KILLS, 1u << CGROUP_MEMORY},
    {VITALS_HOST_CGROUP_CPU_SECONDS, VITALS_HOST_CGROUP_CPU_SECONDS, 1u << CGROUP_CPUACCT},
    {VITALS_HOST_CGROUP_CPU_THROTTLED_SECONDS, VITALS_HOST_CGROUP_CPU_THROTTLED_PERIODS,
     1u << CGROUP_CPU},
    {VITALS_HOST_CGROUP_CPUS, VITALS_HOST_CGROUP_CPUS, 1u << CGROUP_CPUSET},
    {VITALS_HOST_CGROUP_PROCESSES, VITALS_HOST_CGROUP_PROCESSES_LIMIT, 1u << CGROUP_PIDS},
    {VITALS_HOST_CGROUP_READ_BYTES, VITALS_HOST_CGROUP_WRITTEN_BYTES, 1u << CGROUP_IO},
};

static unsigned controllers_for(const struct metric_set *wanted)
{
    unsigned controllers = 0;
    for (size_t i = 0; i < ARRAY_COUNT(NEEDS); i++)
        for (unsigned metric = NEEDS[i].first; metric <= NEEDS[i].last; metric++)
            if (metric_set_has(wanted, (vitals_metric)metric))
                controllers |= NEEDS[i].controllers;
    return controllers;
}

void os_read_own_cgroup(const struct os *os, const struct metric_set *wanted,
                        struct values *machine)
{
    struct cgroups cgroups;
    unsigned controllers = controllers_for(wanted);
    if (controllers == 0)
        return;
    cgroups_find(&cgroups, os, controllers);
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES) ||
        metric_set_has(wanted, VITALS_HOST_CGROUP_MEMORY_USED_BYTES))
        cgroup_read_memory(&cgroups, wanted, machine);
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_CPU_LIMIT_CORES))
        cgroup_read_cores(&cgroups, machine);
    read_usage(&cgroups, wanted, machine);
}
