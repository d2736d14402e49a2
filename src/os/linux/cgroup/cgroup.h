/* cgroup.h: our own cgroup: where it is, and a walk from it to the top of what we see; and where
 * those of others are.
 *
 * Thread rule: workers only; no memory is asked for. */
#pragma once

#include "os/linux/linux.h"
#include "os/linux/machine/host_files.h"

/* The controllers that are asked; on version 2 they are all at one place. */
enum cgroup_controller {
    CGROUP_MEMORY,
    CGROUP_CPU,
    CGROUP_CPUACCT,
    CGROUP_CPUSET,
    CGROUP_PIDS,
    CGROUP_IO,
    CGROUP_SECOND, /* none: the hierarchy of version 2, whatever is on it */
    CGROUP_CONTROLLERS
};

/* As the kernel calls them. */
enum { CGROUP_NAME = 8 };
extern const char cgroup_names[CGROUP_CONTROLLERS][CGROUP_NAME];

/* Where our cgroup is for a controller. */
struct cgroup_found {
    unsigned version;          /* 0: nowhere */
    struct cgroup_path cgroup; /* ours */
    struct cgroup_place place;
};

struct cgroups {
    const struct os *os;
    unsigned wanted; /* a bit for each controller that is to be found */
    bool first,
        second; /* hierarchies of version 1 with controllers are mounted, one of version 2 */
    struct cgroup_found found[CGROUP_CONTROLLERS];
};

/* Finds the wanted controllers (bits) of a process; 0: ours. Two files are read; for the paths in
 * its cgroup file alone, one. Negative errno if that cannot be read. */
void cgroups_find(struct cgroups *cgroups, const struct os *os, int64_t pid, unsigned wanted);
int cgroups_find_paths(struct cgroups *cgroups, const struct os *os, int64_t pid, unsigned wanted);

/* The same without the list of mounts, which the kernel makes slowly (cgroup_find.c). The text of
 * /proc/self/cgroup; 0 where it does not say where we are, or is longer. */
size_t cgroup_usual_read(const struct os *os, char *out, size_t capacity);

/* Finds one controller in that text. Returns false if only the list of mounts can answer. */
bool cgroup_usual_find(const struct os *os, struct span memberships,
                       enum cgroup_controller controller, struct cgroup_found *out);

/* A walk from our own cgroup to the mount. */
struct cgroup_walk {
    const struct os *os;
    const struct cgroup_place *place;
    unsigned version;
    size_t level;                /* where it stands: as many bytes of the place's path */
    bool found;                  /* a limit */
    bool unseen;                 /* it is set above what we see */
    size_t limit_level;          /* where it is set */
    vitals_availability trouble; /* a level that could not be read */
};

/* False where the controller is nowhere. */
bool cgroup_walk_begin(struct cgroup_walk *walk, const struct cgroups *cgroups,
                       enum cgroup_controller controller);

/* The file's text at this level, as linux_read_line. A file that is not there sets no limit; one
 * that cannot be read leaves a doubt. */
bool cgroup_read_here(struct cgroup_walk *walk, const char *file, char *out, size_t capacity);

/* A line "key number" of a file's text. Pure. */
bool cgroup_parse_field(const char *bytes, size_t size, struct span key, uint64_t *out);

/* Adds what a line "8:0 rbytes=1 wbytes=2 …" of io.stat, or "8:0 Read 1" of blkio, says; nothing
 * for a disk that stands on others. False where it is none. */
bool cgroup_add_io(const struct os *os, struct span line, uint64_t *read, uint64_t *written);

/* ---- cgroups of others (groups.c) ---- */

enum { GROUP_MEMORY, GROUP_CPUACCT, GROUP_PIDS, GROUP_CONTROLLERS };

enum { GROUP_MOUNTS = 16 };

struct group_mount {
    struct cgroup_mount mount; /* without its options */
    unsigned controllers;      /* a bit for each; of version 2 all */
};

struct os_groups {
    size_t count;
    struct group_mount mounts[GROUP_MOUNTS];
    size_t prefix_size; /* of `prefix`, the path of our root of /sys; 0: it is /sys, or not known */
    bool foreign;       /* mounts below that root were found: no others count */
    char prefix[CGROUP_PATH_MAX];
};

/* Takes a line of mountinfo, where it mounts a hierarchy that counts something. Pure. */
void groups_take_mount(struct span line, void *groups);

/* Where the cgroup with that path is for a controller, and of which version (0: nowhere). Pure. */
unsigned groups_place(const struct os_groups *groups, unsigned controller, struct span path,
                      struct cgroup_place *out);
