/* host_files.h: the machine's files as text → values.
 *
 * Parsers of (bytes, size): pure, total, fuzzed. Each writes the values that it found and leaves
 * the others as they are, so that what a kernel does not tell stays unset. A line that the end of
 * the text cuts is not a line: half a number would be a wrong one.
 * Thread rule: pure. */
#ifndef VITALS_OS_LINUX_MACHINE_HOST_FILES_H
#define VITALS_OS_LINUX_MACHINE_HOST_FILES_H

#include "os/os.h"
#include "util/cursor.h"

/* The kernel numbers CPUs below NR_CPUS, at most 8192; a line beyond this is none. */
enum { HOST_CPUS_MAX = 16384 };

/* A line "key number" becomes a value. */
struct host_field {
    const char *key;
    vitals_metric metric;
    uint64_t scale;
};

/* The next line that ends in a newline, without it. */
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

/* Parses /proc/stat. `cpus` may be NULL. Returns 0, or -1 when memory for them is out. */
int host_parse_stat(const char *bytes, size_t size, double ticks_per_second, struct values *machine,
                    struct os_cpus *cpus);

void host_parse_loadavg(const char *bytes, size_t size, struct values *machine);

/* What /proc/meminfo says itself. memory_available_bytes stays unset where it says nothing, or 0.
 */
void host_parse_meminfo(const char *bytes, size_t size, struct values *machine);

/* The low watermarks of all zones of /proc/zoneinfo, in pages; false where there is none. */
bool host_parse_zoneinfo(const char *bytes, size_t size, uint64_t *pages);

/* What follows from it: used, cached, and available where the kernel did not tell. `low_bytes`:
 * the watermarks, or NULL. */
void host_derive_memory(struct values *machine, const uint64_t *low_bytes);

void host_parse_vmstat(const char *bytes, size_t size, uint64_t page_bytes, struct values *machine);

/* The lists of devices. Return 0, or -1 when memory is out. */
int host_parse_diskstats(const char *bytes, size_t size, struct os_devices *out);
int host_parse_netdev(const char *bytes, size_t size, struct os_devices *out);

/* Values of VITALS_TABLE_PRESSURE; false where there are none. */
bool host_parse_pressure(const char *bytes, size_t size, struct values *out);

/* ---- where our own cgroup is (parse_cgroup.c) ---- */

enum { CGROUP_PATH_MAX = 4096 };

/* A path of a cgroup, or of a mount; longer ones are not known. */
struct cgroup_path {
    size_t size;
    char bytes[CGROUP_PATH_MAX];
};

/* A line of /proc/self/cgroup that says where we are in the hierarchy of the controller. Of both
 * versions that of version 1 counts: there the controller is. */
bool host_parse_membership(struct span line, const char *controller, unsigned *version,
                           struct span *path);

/* A line of /proc/self/mountinfo that mounts a hierarchy of cgroups. */
struct cgroup_mount {
    unsigned version;
    struct span options;     /* names the controllers of version 1 */
    struct cgroup_path root; /* the cgroup that is seen at the mount point */
    struct cgroup_path point;
};
bool host_parse_cgroup_mount(struct span line, struct cgroup_mount *out);
bool host_mount_has(const struct cgroup_mount *mount, unsigned version, const char *controller);

/* Where a cgroup is found below the root of /sys. */
struct cgroup_place {
    bool found;
    bool outer;              /* only ancestors can be seen: path is that of the mount */
    size_t mount_size;       /* as much of path is the mount point */
    struct cgroup_path path; /* "fs/cgroup/memory/a/b" */
};

/* Takes the mount for a cgroup's place if it shows more of its ancestors than `place` does. */
void host_place_cgroup(const struct cgroup_mount *mount, struct span cgroup,
                       struct cgroup_place *place);

#endif
