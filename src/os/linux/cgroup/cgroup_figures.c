/* cgroup_figures.c: which file of a cgroup counts what (Documentation/admin-guide/cgroup-v2.rst and
 * cgroup-v1/).
 *
 * Peaks of memory are those of what was charged: page cache and kernel memory too. Counts of page
 * faults are whole; times of pressure are those in which at least one task waited.
 * Thread rule: pure but for the reading of files. */
#include "os/linux/cgroup/cgroup_own.h"

#include <fcntl.h>
#include <string.h>

enum { TEXT_BYTES = 16 * 1024 };

static const double MICRO = 1e-6, NANO = 1e-9;

#define PEAK ", with page cache and kernel memory"

const struct own_figure own_figures_v2[] = {
    {COUNTED_CPU_SECONDS, "", "cpu.stat", OWN_FIELD, "usage_usec", MICRO, "cgroup v2 cpu.stat"},
    {COUNTED_CPU_USER_SECONDS, "", "cpu.stat", OWN_FIELD, "user_usec", MICRO, "cgroup v2 cpu.stat"},
    {COUNTED_CPU_SYSTEM_SECONDS, "", "cpu.stat", OWN_FIELD, "system_usec", MICRO,
     "cgroup v2 cpu.stat"},
    {COUNTED_MEMORY_PEAK_BYTES, "memory", "memory.peak", OWN_NUMBER, "", 1,
     "cgroup v2 memory.peak" PEAK},
    {COUNTED_SWAP_PEAK_BYTES, "memory", "memory.swap.peak", OWN_NUMBER, "", 1,
     "cgroup v2 memory.swap.peak"},
    {COUNTED_OOM_KILLS, "memory", "memory.events", OWN_FIELD, "oom_kill", 1,
     "cgroup v2 memory.events"},
    {COUNTED_MINOR_FAULTS, "memory", "memory.stat", OWN_LESS, "pgfault-pgmajfault", 1,
     "cgroup v2 memory.stat"},
    {COUNTED_MAJOR_FAULTS, "memory", "memory.stat", OWN_FIELD, "pgmajfault", 1,
     "cgroup v2 memory.stat"},
    {COUNTED_READ_BYTES, "io", "io.stat", OWN_READS, "", 1, "cgroup v2 io.stat"},
    {COUNTED_WRITTEN_BYTES, "io", "io.stat", OWN_WRITES, "", 1, "cgroup v2 io.stat"},
    {COUNTED_TASKS_PEAK, "pids", "pids.peak", OWN_NUMBER, "", 1, "cgroup v2 pids.peak"},
    {COUNTED_CPU_PRESSURE_SECONDS, "", "cpu.pressure", OWN_PRESSURE, "", MICRO,
     "cgroup v2 cpu.pressure"},
    {COUNTED_MEMORY_PRESSURE_SECONDS, "", "memory.pressure", OWN_PRESSURE, "", MICRO,
     "cgroup v2 memory.pressure"},
    {COUNTED_IO_PRESSURE_SECONDS, "", "io.pressure", OWN_PRESSURE, "", MICRO,
     "cgroup v2 io.pressure"},
    {.file = NULL},
};

/* cpuacct's own split into user and system is made by ticks: wait4 knows better. A blkio file is
 * without a line where this kernel does not count. */
const struct own_figure own_figures_v1[] = {
    {COUNTED_CPU_SECONDS, "cpuacct", "cpuacct.usage", OWN_NUMBER, "", NANO,
     "cgroup v1 cpuacct.usage"},
    {COUNTED_MEMORY_PEAK_BYTES, "memory", "memory.max_usage_in_bytes", OWN_NUMBER, "", 1,
     "cgroup v1 memory.max_usage_in_bytes, in steps of 64 pages" PEAK},
    {COUNTED_OOM_KILLS, "memory", "memory.oom_control", OWN_ALONE, "oom_kill", 1,
     "cgroup v1 memory.oom_control"},
    {COUNTED_TASKS_PEAK, "pids", "pids.peak", OWN_NUMBER, "", 1, "cgroup v1 pids.peak"},
    {COUNTED_READ_BYTES, "blkio", "blkio.throttle.io_service_bytes_recursive", OWN_READS, "", 1,
     "cgroup v1 blkio.throttle.io_service_bytes_recursive"},
    {COUNTED_WRITTEN_BYTES, "blkio", "blkio.throttle.io_service_bytes_recursive", OWN_WRITES, "", 1,
     "cgroup v1 blkio.throttle.io_service_bytes_recursive"},
    {.file = NULL},
};

/* A key less another, "pgfault-pgmajfault". */
static bool parse_less(struct span key, const char *bytes, size_t size, uint64_t *out)
{
    struct cursor keys = cursor_over(key.bytes, key.size);
    struct span all;
    uint64_t whole, part;
    if (!cursor_until(&keys, '-', &all) || !cgroup_parse_field(bytes, size, all, &whole) ||
        !cgroup_parse_field(bytes, size, (struct span){keys.at, (size_t)(keys.end - keys.at)},
                            &part))
        return false;
    *out = whole > part ? whole - part : 0;
    return true;
}

static bool parse_pressure(const char *bytes, size_t size, uint64_t *out)
{
    struct cursor at = cursor_over(bytes, size);
    struct span line, word;
    while (cursor_line(&at, &line)) {
        struct cursor words = cursor_over(line.bytes, line.size);
        if (!cursor_word(&words, &word) || !span_equal(word, "some"))
            continue;
        while (cursor_word(&words, &word)) {
            struct cursor total = cursor_over(word.bytes, word.size);
            if (cursor_literal(&total, "total="))
                return cursor_u64(&total, out);
        }
    }
    return false;
}

/* Version 2 has an empty file where nothing was read or written yet. In version 1 that of a kernel
 * which does not count looks the same, so that nothing can be said. */
static bool parse_disks(const struct os *os, const struct own_figure *figure, const char *bytes,
                        size_t size, uint64_t *out)
{
    struct cursor at = cursor_over(bytes, size);
    struct span line;
    uint64_t reads = 0, writes = 0;
    bool any = figure->controller[0] == 'i';
    while (cursor_line(&at, &line))
        any |= cgroup_add_io(os, line, &reads, &writes);
    *out = figure->shape == OWN_READS ? reads : writes;
    return any;
}

bool own_group_held(const struct os *os, const struct own_group *group, uint64_t *bytes)
{
    /* Version 1 has both its own and, with "total_", those of all groups below it. */
    static const char *const NAMES[][2] = {{"total_rss", "total_shmem"}, {"anon", "shmem"}};
    char text[TEXT_BYTES];
    int64_t size = linux_read_line(os, group->folder, "memory.stat", text, sizeof text);
    for (size_t i = 0; size > 0 && i < ARRAY_COUNT(NAMES); i++) {
        const struct span anonymous = {NAMES[i][0], strlen(NAMES[i][0])};
        const struct span shared = {NAMES[i][1], strlen(NAMES[i][1])};
        uint64_t own, files;
        if (cgroup_parse_field(text, (size_t)size, anonymous, &own) &&
            cgroup_parse_field(text, (size_t)size, shared, &files)) {
            *bytes = saturating_add(own, files);
            return true;
        }
    }
    return false;
}

static bool parse_shape(const struct os *os, const struct own_figure *figure, const char *bytes,
                        size_t size, uint64_t *out)
{
    struct cursor at = cursor_over(bytes, size);
    const struct span key = {figure->key, strlen(figure->key)};
    switch (figure->shape) {
    case OWN_NUMBER: return cursor_u64(&at, out);
    case OWN_FIELD:
    case OWN_ALONE: return cgroup_parse_field(bytes, size, key, out);
    case OWN_LESS: return parse_less(key, bytes, size, out);
    case OWN_PRESSURE: return parse_pressure(bytes, size, out);
    case OWN_READS:
    case OWN_WRITES: return parse_disks(os, figure, bytes, size, out);
    }
    return false;
}

bool own_figure_parse(const struct os *os, const struct own_figure *figure, const char *bytes,
                      size_t size, double *out)
{
    uint64_t number;
    if (!parse_shape(os, figure, bytes, size, &number))
        return false;
    *out = (double)number * figure->scale;
    return true;
}

_Static_assert(ARRAY_COUNT(own_figures_v2) <= OWN_FIGURES, "a group can hold all files");
_Static_assert(ARRAY_COUNT(own_figures_v1) <= OWN_FIGURES, "a group can hold all files");

os_quantities own_figures_found(struct own_group *group, const struct own_figure *figures,
                                const char *controllers)
{
    os_quantities found = 0;
    const char *seen = "";
    bool has = false;
    for (size_t i = 0; figures[i].file != NULL; i++) {
        struct cursor at = cursor_over(controllers, strlen(controllers));
        bool listed = figures[i].controller[0] == '\0';
        for (struct span word; !listed && cursor_word(&at, &word);)
            listed = span_equal(word, figures[i].controller);
        if (!listed)
            continue;
        bool is_new = strcmp(seen, figures[i].file) != 0;
        seen = figures[i].file;
        if (is_new && group->parent < 0) {
            has = own_group_has(group, seen);
        } else if (is_new) {
            // One of a group that we made is opened and kept: asking alone costs as much.
            group->files[i] = openat(group->folder, seen, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
            has = group->files[i] >= 0;
            group->held |= has ? 1u << i : 0;
        }
        found |= has ? os_quantity(figures[i].quantity) : 0;
    }
    return found;
}

os_quantities own_figures_found_v2(const struct os *os, struct own_group *group)
{
    char controllers[TEXT_BYTES];
    (void)linux_read_line(os, group->folder, "cgroup.controllers", controllers, sizeof controllers);
    return own_figures_found(group, own_figures_v2, controllers);
}

void own_figures_read(const struct os *os, const struct own_group *group,
                      const struct own_figure *figures, os_quantities counts, struct counted *out)
{
    char text[TEXT_BYTES];
    const char *file = "", *seen = "";
    size_t first = 0; /* figure of the file */
    int64_t size = 0;
    for (size_t i = 0; figures[i].file != NULL; i++) {
        const struct own_figure *figure = &figures[i];
        double value;
        if (strcmp(file, figure->file) != 0)
            first = i;
        file = figure->file;
        if ((counts & os_quantity(figure->quantity)) == 0)
            continue;
        if (strcmp(seen, file) != 0)
            size = (group->held >> first & 1) != 0
                       ? os_read_kept(group->files[first], text, sizeof text - 1)
                       : linux_read_line(os, group->folder, file, text, sizeof text);
        seen = file;
        bool cut = size + 1 >= (int64_t)sizeof text; /* more disks than there was room for */
        /* The kernel may know by ticks only what was the user's and what its own. Their sum is
         * exact. */
        bool split = figure->quantity == COUNTED_CPU_USER_SECONDS ||
                     figure->quantity == COUNTED_CPU_SYSTEM_SECONDS;
        if (size >= 0 && own_figure_parse(os, figure, text, (size_t)size, &value))
            os_count(out, figure->quantity, value,
                     cut || figure->shape == OWN_ALONE ? VITALS_LOWER_BOUND
                     : split                           ? VITALS_ESTIMATE
                                                       : VITALS_HAVE,
                     figure->source);
    }
}
