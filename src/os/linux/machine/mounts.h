/* mounts.h: a line of /proc/self/mountinfo, what kind of file system it mounts, and ZFS pools.
 *
 * Thread rule: pure, but for ZFS. */
#ifndef VITALS_OS_LINUX_MACHINE_MOUNTS_H
#define VITALS_OS_LINUX_MACHINE_MOUNTS_H

#include "os/linux/linux.h"

#include <sys/statvfs.h>

enum { MOUNT_TEXT = 4096, MOUNT_OPTIONS = 8192 };

/* Unescaped: the kernel writes blanks, newlines and backslashes as \ooo. */
struct mount_text {
    size_t size;
    char bytes[MOUNT_TEXT]; /* NUL-terminated; what does not fit is cut, and `cut` set */
    bool cut;
};

struct mount {
    uint64_t major, minor;
    struct mount_text point, source;
    struct span type; /* borrowed from the line */
    size_t options_size;
    char options[MOUNT_OPTIONS]; /* as /proc/mounts has them: rw or ro, then all others */
    bool read_only;              /* the file system, not this mount of it alone */
};

/* One byte of an escaped word. */
char mount_unescape(struct cursor *at);

/* False where the line is none. */
bool mount_parse(struct span line, struct mount *out);

/* File systems that store nothing: proc, cgroup, and so on. */
bool mount_stores_nothing(struct span type);

/* Over a network, or another machine's for another reason. */
bool mount_is_remote(const struct mount *mount);

/* ZFS pools: what the kernel module tells below /proc/spl, and the space that the pool's
 * mounted datasets see. No tool of ZFS is run. Workers only. */

enum { ZFS_POOLS_MAX = 64, ZFS_NAME = 256, ZFS_POINT = 256 };

struct zfs_pool {
    char name[ZFS_NAME];
    char point[ZFS_POINT];    /* where its own dataset is mounted; "": nowhere */
    bool has_space;           /* at least one of its datasets is mounted */
    uint64_t used, available; /* bytes */
};

struct zfs_pools {
    size_t count; /* set to 0 */
    struct zfs_pool items[ZFS_POOLS_MAX];
};

/* Names, in the order of names. */
void zfs_list_pools(const struct os *os, struct zfs_pools *pools);

/* Each dataset once, however often it is mounted. */
void zfs_add_dataset(struct zfs_pools *pools, const struct mount *mount,
                     const struct statvfs *space);

/* Appends a row for each pool; whether there are any. */
bool zfs_write_pools(const struct os *os, const struct zfs_pools *pools, struct row_batch *out);

/* The counts of a pool's file "io" (a line of names, then one of numbers), or of a dataset's
 * "objset-…" (a line for each); false where they are not there. */
bool zfs_parse_io(const char *bytes, size_t size, uint64_t *read, uint64_t *written);
bool zfs_parse_objset(const char *bytes, size_t size, uint64_t *read, uint64_t *written);

#endif
