/* cgroup.c: what our own cgroup and its ancestors allow. Version 1, version 2 and both at once.
 *
 * A limit anywhere above holds for us, so the least one counts, and what is charged is that of the
 * cgroup which sets it. A container sees its ancestors only up to the mount; version 1 tells the
 * limits beyond it in memory.stat. Nothing is kept: our cgroup may be another one next time.
 * Thread rule: lanes only; no memory is asked for. */
#include "os/linux/host_files.h"
#include "os/linux/linux.h"

#include "core/number.h"

#include <errno.h>
#include <string.h>

/* No limit is written as LONG_MAX in whole pages, of 4 KiB or 64 KiB. */
static const uint64_t UNLIMITED_V1 = UINT64_C(0x7fffffffffff0000);

enum { LINES_BYTES = 8192, STAT_BYTES = 4096 };

typedef void line_function(struct span line, void *data);

/* Hands each line of a file over. One that is longer than the buffer is passed over: lines of
 * cgroups are short, those of overlays need not be. */
static void each_line(const struct os *os, const char *path, line_function *take, void *data)
{
    char bytes[LINES_BYTES];
    size_t held = 0;
    uint64_t offset = 0;
    bool skipping = false;
    int64_t size;
    int descriptor = linux_open(os, os->proc, path, 0);
    if (descriptor < 0)
        return;
    while ((size = linux_read(descriptor, bytes + held, sizeof bytes - held, offset)) > 0) {
        offset += (uint64_t)size;
        held += (size_t)size;
        struct cursor text = cursor_over(bytes, held);
        const char *rest = bytes;
        for (struct span line; host_line(&text, &line); rest = text.at) {
            if (!skipping)
                take(line, data);
            skipping = false;
        }
        held = (size_t)(bytes + held - rest);
        if (held == sizeof bytes) {
            held = 0;
            skipping = true;
        }
        memmove(bytes, rest, held);
    }
    os_close_descriptor(descriptor);
}

/* ---- where we are ---- */

struct search {
    const char *controller;
    unsigned version;          /* 0: not found yet */
    struct cgroup_path cgroup; /* ours */
    struct cgroup_place *place;
};

static void take_membership(struct span line, void *data)
{
    struct search *search = data;
    unsigned version;
    struct span path;
    if (!host_parse_membership(line, search->controller, &version, &path) ||
        path.size > sizeof search->cgroup.bytes || (search->version == 1 && version == 2))
        return;
    search->version = version;
    search->cgroup.size = path.size;
    memcpy(search->cgroup.bytes, path.bytes, path.size);
}

static void take_mount(struct span line, void *data)
{
    struct search *search = data;
    struct cgroup_mount mount;
    if (host_parse_cgroup_mount(line, &mount) &&
        host_mount_has(&mount, search->version, search->controller))
        host_place_cgroup(&mount, (struct span){search->cgroup.bytes, search->cgroup.size},
                          search->place);
}

/* The version of the controller's hierarchy, or 0 where it cannot be found. */
static unsigned find_place(const struct os *os, const char *controller, struct cgroup_place *place)
{
    struct search search;
    search.controller = controller;
    search.version = 0;
    search.cgroup.size = 0;
    search.place = place;
    place->found = false;
    if (os->sys < 0)
        return 0;
    each_line(os, "self/cgroup", take_membership, &search);
    if (search.version != 0)
        each_line(os, "self/mountinfo", take_mount, &search);
    return place->found ? search.version : 0;
}

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

/* The parent's level; false at the mount. */
static bool level_up(const struct cgroup_place *place, size_t *level)
{
    if (*level <= place->mount_size)
        return false;
    do
        (*level)--;
    while (*level > place->mount_size && place->path.bytes[*level] != '/');
    return true;
}

/* ---- limits ---- */

/* Files by version. */
static const char *const MEMORY_LIMIT[] = {NULL, "memory.limit_in_bytes", "memory.max"};
static const char *const MEMORY_USAGE[] = {NULL, "memory.usage_in_bytes", "memory.current"};

/* A walk from our own cgroup to the mount. */
struct walk {
    const struct os *os;
    struct cgroup_place place;
    unsigned version;
    size_t level;                /* where it stands */
    bool found;                  /* a limit */
    bool unseen;                 /* it is set above what we see */
    size_t limit_level;          /* where it is set */
    vitals_availability trouble; /* a level that could not be read */
};

/* The file's text at this level. A file that is not there sets no limit; one that cannot be read
 * leaves a doubt. */
static bool read_here(struct walk *walk, const char *file, char *out, size_t capacity)
{
    int64_t size = read_level(walk->os, &walk->place, walk->level, file, out, capacity);
    if (size < 0 && size != -ENOENT && walk->trouble == VITALS_UNSET)
        walk->trouble = os_availability((int)size);
    return size >= 0;
}

static bool read_number_here(struct walk *walk, const char *file, uint64_t *out)
{
    char text[64];
    if (!read_here(walk, file, text, sizeof text))
        return false;
    if (number_is_u64(text, out))
        return true;
    if (strcmp(text, "max") != 0 && strcmp(text, "-1") != 0 && walk->trouble == VITALS_UNSET)
        walk->trouble = VITALS_FAILED;
    return false;
}

/* How good the limit is that was found, or why there is none. */
static signed char limit_state(const struct walk *walk)
{
    bool doubtful = walk->place.outer || walk->trouble != VITALS_UNSET;
    if (walk->found)
        return doubtful ? VITALS_UPPER_BOUND : VITALS_HAVE;
    return walk->trouble != VITALS_UNSET ? (signed char)walk->trouble : VITALS_UNSUPPORTED;
}

/* What version 1 says of the limits of all ancestors, seen or not; 0 where it does not. */
static uint64_t limit_of_all(struct walk *walk)
{
    char text[STAT_BYTES];
    struct span line;
    uint64_t bytes;
    if (walk->version != 1 || !read_here(walk, "memory.stat", text, sizeof text))
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
static uint64_t find_memory_limit(struct walk *walk)
{
    uint64_t least = 0, bytes;
    uint64_t all = limit_of_all(walk);
    do {
        if (!read_number_here(walk, MEMORY_LIMIT[walk->version], &bytes) || bytes < all ||
            (walk->version == 1 && bytes >= UNLIMITED_V1) || (walk->found && bytes > least))
            continue;
        walk->found = true;
        walk->limit_level = walk->level;
        least = bytes;
    } while (level_up(&walk->place, &walk->level));
    if (all == 0 || all >= UNLIMITED_V1 || (walk->found && least == all))
        return least;
    walk->found = walk->unseen = true;
    return all;
}

/* What is charged to the cgroup that sets the limit; without a limit, to ours. Above us where
 * version 2 does not count memory for ours, and at least what we see where it is set beyond. */
static struct value read_memory_used(struct walk *walk)
{
    uint64_t bytes;
    if (!walk->found && walk->place.outer)
        return value_missing(VITALS_UNSUPPORTED);
    walk->trouble = VITALS_UNSET;
    walk->level = !walk->found   ? walk->place.path.size
                  : walk->unseen ? walk->place.mount_size
                                 : walk->limit_level;
    do {
        if (!read_number_here(walk, MEMORY_USAGE[walk->version], &bytes))
            continue;
        struct value value = value_u64(bytes);
        value.state = walk->unseen ? VITALS_LOWER_BOUND : VITALS_HAVE;
        return value;
    } while (walk->trouble == VITALS_UNSET && !walk->found && level_up(&walk->place, &walk->level));
    return value_missing(walk->trouble != VITALS_UNSET ? walk->trouble : VITALS_UNSUPPORTED);
}

/* The limit of one level in CPUs; false where it sets none. */
static bool read_cores_here(struct walk *walk, double *cores)
{
    char text[64];
    uint64_t quota, period;
    if (walk->version == 1) {
        if (!read_number_here(walk, "cpu.cfs_quota_us", &quota) ||
            !read_number_here(walk, "cpu.cfs_period_us", &period))
            return false;
    } else {
        if (!read_here(walk, "cpu.max", text, sizeof text))
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

static double find_cpu_limit(struct walk *walk)
{
    double least = 0.0, cores;
    do {
        if (!read_cores_here(walk, &cores) || (walk->found && cores > least))
            continue;
        walk->found = true;
        least = cores;
    } while (level_up(&walk->place, &walk->level));
    return least;
}

static bool walk_begin(struct walk *walk, const struct os *os, const char *controller)
{
    *walk = (struct walk){.os = os};
    walk->version = find_place(os, controller, &walk->place);
    walk->level = walk->place.path.size;
    return walk->version != 0;
}

void os_read_own_cgroup(const struct os *os, const struct metric_set *wanted,
                        struct values *machine)
{
    struct walk walk;
    bool limit = metric_set_has(wanted, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES);
    bool used = metric_set_has(wanted, VITALS_HOST_CGROUP_MEMORY_USED_BYTES);
    struct value value = value_missing(VITALS_UNSUPPORTED);
    struct value charged = value_missing(VITALS_UNSUPPORTED);
    if ((limit || used) && walk_begin(&walk, os, "memory")) {
        value.as.u64 = find_memory_limit(&walk);
        value.state = limit_state(&walk);
        charged = read_memory_used(&walk);
    }
    if (limit)
        values_set(machine, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, value);
    if (used)
        values_set(machine, VITALS_HOST_CGROUP_MEMORY_USED_BYTES, charged);

    if (!metric_set_has(wanted, VITALS_HOST_CGROUP_CPU_LIMIT_CORES))
        return;
    value = value_missing(VITALS_UNSUPPORTED);
    if (walk_begin(&walk, os, "cpu")) {
        value.as.f64 = find_cpu_limit(&walk);
        value.state = limit_state(&walk);
    }
    values_set(machine, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, value);
}
