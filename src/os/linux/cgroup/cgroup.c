/* cgroup.c: what our own cgroup and its ancestors allow. Version 1, version 2 and both at once.
 *
 * A limit anywhere above holds for us, so the least one counts, and what is charged is that of the
 * cgroup which sets it. A container sees its ancestors only up to the mount; version 1 tells the
 * limits beyond it in memory.stat. Nothing is kept: our cgroup may be another one next time.
 * Thread rule: workers only; no memory is asked for. */
#include "os/linux/cgroup/cgroup.h"

#include "util/number.h"

#include <errno.h>
#include <string.h>

enum { STAT_BYTES = 4096 };

/* ---- one file of one level ---- */

/* As linux_read_line, of the cgroup that is named by the first `level` bytes of the place. */
static int64_t read_level(const struct os *os, const struct cgroup_place *place, size_t level,
                          const char *file, char *out, size_t capacity)
{
    char path[CGROUP_PATH_MAX + 64];
    size_t size = strlen(file);
    if (level + 1 + size >= sizeof path)
        return -ENAMETOOLONG;
    memcpy(path, place->path.bytes, level);
    path[level] = '/';
    memcpy(path + level + 1, file, size + 1);
    return linux_read_line(os, os->sys, path, out, capacity);
}

bool cgroup_walk_up(struct cgroup_walk *walk)
{
    const struct cgroup_place *place = walk->place;
    if (walk->level <= place->mount_size)
        return false;
    do
        walk->level--;
    while (walk->level > place->mount_size && place->path.bytes[walk->level] != '/');
    return true;
}

/* ---- limits ---- */

/* Files by version. */
static const char *const MEMORY_LIMIT[] = {NULL, "memory.limit_in_bytes", "memory.max"};
static const char *const MEMORY_USAGE[] = {NULL, "memory.usage_in_bytes", "memory.current"};

bool cgroup_read_here(struct cgroup_walk *walk, const char *file, char *out, size_t capacity)
{
    int64_t size = read_level(walk->os, walk->place, walk->level, file, out, capacity);
    if (size < 0 && size != -ENOENT && walk->trouble == VITALS_UNSET)
        walk->trouble = os_availability((int)size);
    return size >= 0;
}

bool cgroup_number_here(struct cgroup_walk *walk, const char *file, uint64_t *out)
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

signed char cgroup_limit_state(const struct cgroup_walk *walk)
{
    bool doubtful = walk->place->outer || walk->trouble != VITALS_UNSET;
    if (walk->found)
        return doubtful ? VITALS_UPPER_BOUND : VITALS_HAVE;
    return walk->trouble != VITALS_UNSET ? (signed char)walk->trouble : VITALS_UNSUPPORTED;
}

/* What version 1 says of the limits of all ancestors, seen or not; 0 where it does not. */
static uint64_t limit_of_all(struct cgroup_walk *walk)
{
    char text[STAT_BYTES];
    struct span line;
    uint64_t bytes;
    if (walk->version != 1 || !cgroup_read_here(walk, "memory.stat", text, sizeof text))
        return 0;
    struct cursor at = cursor_over(text, strlen(text));
    while (cursor_line(&at, &line)) {
        struct cursor number = cursor_over(line.bytes, line.size);
        if (cursor_literal(&number, "hierarchical_memory_limit ") && cursor_u64(&number, &bytes))
            return bytes;
    }
    return 0;
}

/* The least limit of all levels; of equal ones the outermost, which more is charged to. Where
 * version 1 knows better, limits below its own do not hold for us (memory.use_hierarchy is 0). */
static uint64_t find_memory_limit(struct cgroup_walk *walk)
{
    uint64_t least = 0, bytes;
    uint64_t all = limit_of_all(walk);
    do {
        if (!cgroup_number_here(walk, MEMORY_LIMIT[walk->version], &bytes) || bytes < all ||
            (walk->version == 1 && bytes >= CGROUP_UNLIMITED_V1) || (walk->found && bytes > least))
            continue;
        walk->found = true;
        walk->limit_level = walk->level;
        least = bytes;
    } while (cgroup_walk_up(walk));
    if (all == 0 || all >= CGROUP_UNLIMITED_V1 || (walk->found && least == all))
        return least;
    walk->found = walk->unseen = true;
    return all;
}

/* What is charged to the cgroup that sets the limit; without a limit, to ours. Above us where
 * version 2 does not count memory for ours, and at least what we see where it is set beyond. */
static struct value read_memory_used(struct cgroup_walk *walk)
{
    uint64_t bytes;
    if (!walk->found && walk->place->outer)
        return value_missing(VITALS_UNSUPPORTED);
    walk->trouble = VITALS_UNSET;
    walk->level = !walk->found   ? walk->place->path.size
                  : walk->unseen ? walk->place->mount_size
                                 : walk->limit_level;
    do {
        if (!cgroup_number_here(walk, MEMORY_USAGE[walk->version], &bytes))
            continue;
        struct value value = value_u64(bytes);
        value.state = walk->unseen ? VITALS_LOWER_BOUND : VITALS_HAVE;
        return value;
    } while (walk->trouble == VITALS_UNSET && !walk->found && cgroup_walk_up(walk));
    return value_missing(walk->trouble != VITALS_UNSET ? walk->trouble : VITALS_UNSUPPORTED);
}

/* The limit of one level in CPUs; false where it sets none. */
static bool read_cores_here(struct cgroup_walk *walk, double *cores)
{
    char text[64];
    uint64_t quota, period;
    if (walk->version == 1) {
        if (!cgroup_number_here(walk, "cpu.cfs_quota_us", &quota) ||
            !cgroup_number_here(walk, "cpu.cfs_period_us", &period))
            return false;
    } else {
        if (!cgroup_read_here(walk, "cpu.max", text, sizeof text))
            return false;
        struct cursor at = cursor_over(text, strlen(text));
        if (cursor_literal(&at, "max"))
            return false;
        if (!cursor_u64(&at, &quota) || !cursor_u64(&at, &period))
            period = 0;
    }
    if (period == 0) {
        walk->trouble = VITALS_FAILED;
        return false;
    }
    *cores = (double)quota / (double)period;
    return true;
}

static double find_cpu_limit(struct cgroup_walk *walk)
{
    double least = 0.0, cores;
    do {
        if (!read_cores_here(walk, &cores) || (walk->found && cores > least))
            continue;
        walk->found = true;
        least = cores;
    } while (cgroup_walk_up(walk));
    return least;
}

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

void cgroup_read_memory(const struct cgroups *cgroups, const struct metric_set *wanted,
                        struct values *machine)
{
    struct cgroup_walk walk;
    struct value limit = value_missing(VITALS_UNSUPPORTED), charged = limit;
    if (cgroup_walk_begin(&walk, cgroups, CGROUP_MEMORY)) {
        limit.as.u64 = find_memory_limit(&walk);
        limit.state = cgroup_limit_state(&walk);
        charged = read_memory_used(&walk);
    }
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES))
        values_set(machine, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, limit);
    if (metric_set_has(wanted, VITALS_HOST_CGROUP_MEMORY_USED_BYTES))
        values_set(machine, VITALS_HOST_CGROUP_MEMORY_USED_BYTES, charged);
}

void cgroup_read_cores(const struct cgroups *cgroups, struct values *machine)
{
    struct cgroup_walk walk;
    struct value value = value_missing(VITALS_UNSUPPORTED);
    if (cgroup_walk_begin(&walk, cgroups, CGROUP_CPU)) {
        value.as.f64 = find_cpu_limit(&walk);
        value.state = cgroup_limit_state(&walk);
    }
    values_set(machine, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, value);
}
