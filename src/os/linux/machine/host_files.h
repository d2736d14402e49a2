/* host_files.h: parsers for the machine's files.
 *
 * They take (bytes, size) and are pure, total and fuzzed. Each sets the values that it finds and
 * leaves the others unchanged, so that values which a kernel does not report stay unset. A line
 * that is cut by the end of the text is ignored: a part of a number would be wrong. Thread rule:
 * pure. */
#pragma once

#include "os/os.h"
#include "util/cursor.h"

/* The kernel numbers CPUs below NR_CPUS, at most 8192; a line with a larger number is ignored. */
enum { HOST_CPUS_MAX = 16384 };

/* Maps a line "key number" to a metric. */
struct host_field {
    const char *key;
    vitals_metric metric;
    uint64_t scale;
};

/* Takes the next line that ends in a newline, without it. */
static inline bool host_line(struct cursor *text, struct span *line)
{
    return cursor_line(text, line) && line->bytes + line->size < text->end;
}

/* Sets the metric of the field whose key this is, from the number at the cursor. */
static inline void host_field_set(const struct host_field *fields, size_t count, struct span key,
                                  struct cursor *at, struct values *out)
{
    uint64_t number;
    for (size_t i = 0; i < count; i++) {
        if (!span_equal(key, fields[i].key))
            continue;
        if (cursor_u64(at, &number))
            values_set(out, fields[i].metric, value_u64(saturating_mul(number, fields[i].scale)));
        return;
    }
}

/* Parses /proc/stat. `cpus` may be NULL. Returns 0, or -1 if memory is exhausted. */
int host_parse_stat(const char *bytes, size_t size, double ticks_per_second, struct values *machine,
                    struct os_cpus *cpus);

void host_parse_loadavg(const char *bytes, size_t size, struct values *machine);

/* Parses the values of /proc/meminfo. memory_available_bytes stays unset if it is missing or 0. */
void host_parse_meminfo(const char *bytes, size_t size, struct values *machine);

/* Parses the low watermarks of all zones of /proc/zoneinfo, in pages; returns false if there are
 * none. */
bool host_parse_zoneinfo(const char *bytes, size_t size, uint64_t *pages);

/* Derives used, cached and, if the kernel did not report it, available memory. `low_bytes`: the
 * watermarks, or NULL. */
void host_derive_memory(struct values *machine, const uint64_t *low_bytes);

void host_parse_vmstat(const char *bytes, size_t size, uint64_t page_bytes, struct values *machine);

/* Parse the lists of devices. Return 0, or -1 if memory is exhausted. */
int host_parse_diskstats(const char *bytes, size_t size, struct os_devices *out);
int host_parse_netdev(const char *bytes, size_t size, struct os_devices *out);

/* Parses values of VITALS_TABLE_PRESSURE; returns false if there are none. */
bool host_parse_pressure(const char *bytes, size_t size, struct values *out);

/* ---- place of our own cgroup (parse_cgroup.c) ---- */

enum { CGROUP_PATH_MAX = 4096 };

/* A path of a cgroup or a mount; longer ones are treated as unknown. */
struct cgroup_path {
    size_t size;
    char bytes[CGROUP_PATH_MAX];
};

/* Parses a line of /proc/self/cgroup with our cgroup in the controller's hierarchy. If both
 * versions are mounted, version 1 has priority: it has the controller. */
bool host_parse_membership(struct span line, const char *controller, unsigned *version,
                           struct span *path);

/* A line of /proc/self/mountinfo that mounts a cgroup hierarchy. */
struct cgroup_mount {
    unsigned version;
    struct span options;     /* has the controllers of version 1 */
    struct cgroup_path root; /* the cgroup that is visible at the mount point */
    struct cgroup_path point;
};
bool host_parse_cgroup_mount(struct span line, struct cgroup_mount *out);
bool host_mount_has(const struct cgroup_mount *mount, unsigned version, const char *controller);

/* The place of a cgroup below the root of /sys. */
struct cgroup_place {
    bool found;
    bool outer;              /* only ancestors are visible: path is that of the mount */
    size_t mount_size;       /* length of the mount point at the beginning of path */
    struct cgroup_path path; /* "fs/cgroup/memory/a/b", NUL-terminated */
};

/* Takes the mount for a cgroup's place if it shows more of its ancestors than `place` does. */
void host_place_cgroup(const struct cgroup_mount *mount, struct span cgroup,
                       struct cgroup_place *place);
