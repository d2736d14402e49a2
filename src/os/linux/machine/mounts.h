/* mounts.h: parses a line of /proc/self/mountinfo, classifies file systems, and reads ZFS pools.
 * Thread rule: pure, except for ZFS. */
#pragma once

#include "os/linux/linux.h"

#include <sys/statvfs.h>

enum { MOUNT_TEXT = 4096, MOUNT_OPTIONS = 8192 };

/* An unescaped text: the kernel writes blanks, newlines and backslashes as \ooo. */
struct mount_text {
    size_t size;
    char bytes[MOUNT_TEXT]; /* NUL-terminated; longer text is cut, and `cut` set */
    bool cut;
};

struct mount {
    uint64_t id, major, minor;
    struct mount_text point, source;
    struct span type; /* borrowed from the line */
    size_t options_size;
    char options[MOUNT_OPTIONS]; /* as in /proc/mounts: rw or ro, then all others */
    bool options_cut;            /* there are more */
    bool read_only;              /* the file system is read-only, not just this mount */
};

/* Takes one byte of an escaped word. */
char mount_unescape(struct cursor *at);

/* A line's fields that are always there, and behind the optional ones the file system's type; *rest
 * stands behind it. Returns false if the line is invalid. */
struct mount_fields {
    struct span id, parent, device, root, point, options, type;
};
bool mount_split(struct span line, struct mount_fields *out, struct cursor *rest);

/* Returns false if the line is invalid. One that was cut (lines_each_part) is valid if it reaches
 * to the file system's options, of which it then lacks some. */
bool mount_parse(struct span line, struct mount *out);

/* True for file systems that store nothing: proc, cgroup, and so on. */
bool mount_stores_nothing(struct span type);

/* True for a network file system, or one of another machine. */
bool mount_is_remote(const struct mount *mount);

/* ZFS pools: the kernel module's files below /proc/spl, and the space of the pool's mounted
 * datasets. No ZFS program is run. Workers only. */

enum { ZFS_POOLS_MAX = 64, ZFS_NAME = 256, ZFS_POINT = 256 };

struct zfs_pool {
    char name[ZFS_NAME];
    char point[ZFS_POINT];    /* mount point of its own dataset; "": not mounted */
    bool has_space;           /* at least one of its datasets is mounted */
    uint64_t used, available; /* bytes */
};

struct zfs_pools {
    size_t count; /* set to 0 */
    struct zfs_pool items[ZFS_POOLS_MAX];
};

/* Lists the pools, sorted by name. */
void zfs_list_pools(const struct os *os, struct zfs_pools *pools);

/* Adds each dataset once, however often it is mounted. */
void zfs_add_dataset(struct zfs_pools *pools, const struct mount *mount,
                     const struct statvfs *space);

/* Appends a row for each pool; returns true if there are any. */
bool zfs_write_pools(const struct os *os, const struct zfs_pools *pools, struct row_batch *out);

/* Parses the counts of a pool's file "io" (a line of names, then one of numbers), or of a dataset's
 * "objset-…" (one per line); returns false if they are missing. */
bool zfs_parse_io(const char *bytes, size_t size, uint64_t *read, uint64_t *written);
bool zfs_parse_objset(const char *bytes, size_t size, uint64_t *read, uint64_t *written);
