/* zfs.h: ZFS pools: what the kernel module tells below /proc/spl, and the space that the pool's
 * mounted datasets see. No tool of ZFS is run.
 *
 * Thread rule: workers only. */
#ifndef VITALS_OS_LINUX_MACHINE_ZFS_H
#define VITALS_OS_LINUX_MACHINE_ZFS_H

#include "os/linux/linux.h"
#include "os/linux/machine/mounts.h"

#include <sys/statvfs.h>

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
