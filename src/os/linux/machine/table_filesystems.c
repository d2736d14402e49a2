/* table_filesystems.c: mounted file systems and their space, and ZFS pools.
 *
 * Counted in the machine's sums: what has a device of its own here, each device once, but for loop
 * devices, whose files lie on another; of ZFS the pools and not their datasets, which share the
 * space. Where nothing is left, as in a container, its root is counted.
 * Thread rule: workers, and callers of vitals_table_read. */
#include "os/linux/lines.h"
#include "os/linux/machine/mounts.h"
#include "os/linux/machine/space.h"
#include "os/linux/tables.h"

#include "util/hash.h"
#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

enum { SEEN_FEW = 256, SEEN_MAX = 1 << 16, NODEV_MAX = 128 };

struct filesystems {
    const struct os *os;
    const struct os_gate *gate; /* may be NULL */
    struct row_batch *out;
    struct space_reader reader;
    struct mount mount; /* the current line */
    uint64_t mount_id;  /* 0: every one; else that one alone, without its space */
    struct zfs_pools pools;
    uint64_t seen[SEEN_FEW]; /* devices already counted: as many as most machines have … */
    size_t seen_count;
    struct hash seen_more; /* … and further ones, in memory that is allocated for each reading */
    uint64_t nodev[NODEV_MAX]; /* types without a device of their own */
    size_t nodev_count;
    bool nodev_known;
    bool any_counted;
    size_t root_fact; /* index of the root's `counted` in out->items, plus one; 0: none */
};

static void take_type(struct span line, void *data)
{
    struct filesystems *all = data;
    struct cursor at = cursor_over(line.bytes, line.size);
    struct span type;
    all->nodev_known = true;
    if (cursor_literal(&at, "nodev") && cursor_word(&at, &type) && all->nodev_count < NODEV_MAX)
        all->nodev[all->nodev_count++] = hash_bytes(type.bytes, type.size);
}

/* True if the device was seen. If there is no room to remember it, it is left out of the sums,
 * which are then lower bounds. */
static bool is_seen(struct filesystems *all, const void *bytes, size_t size)
{
    uint64_t hash = hash_bytes(bytes, size);
    for (size_t i = 0; i < all->seen_count; i++)
        if (all->seen[i] == hash)
            return true;
    if (hash_find(&all->seen_more, hash) != NULL)
        return true;
    if (all->seen_count < SEEN_FEW) {
        all->seen[all->seen_count++] = hash;
        return false;
    }
    if (all->seen_more.count == SEEN_MAX) {
        batch_state(all->out, VITALS_TABLE_FILESYSTEM, VITALS_LOWER_BOUND);
        return true;
    }
    all->out->failed |= hash_set(&all->seen_more, hash, 1) != 0;
    return false;
}

static struct span text_of(const struct mount_text *text)
{
    return (struct span){text->bytes, text->size};
}

static void fact_cut(struct row_batch *out, vitals_metric metric, const struct mount_text *text)
{
    batch_set_text_as(out, metric, text_of(text), text->cut ? VITALS_LOWER_BOUND : VITALS_HAVE);
}

static void fact_options(struct row_batch *out, vitals_metric metric, const struct mount *mount)
{
    batch_set_text_as(out, metric, (struct span){mount->options, mount->options_size},
                      mount->options_cut ? VITALS_LOWER_BOUND : VITALS_HAVE);
}

static void write_mount(struct filesystems *all)
{
    struct row_batch *out = all->out;
    const struct mount *mount = &all->mount;
    bool zfs = span_equal(mount->type, "zfs"), remote = mount_is_remote(mount);
    bool pseudo = !remote && !zfs;
    if (pseudo && all->nodev_known) {
        /* A type with a subtype, such as fuse.sshfs, is listed without it. */
        const char *point = memchr(mount->type.bytes, '.', mount->type.size);
        uint64_t type = hash_bytes(mount->type.bytes, mount->type.size), stem = type;
        if (point != NULL)
            stem = hash_bytes(mount->type.bytes, (size_t)(point - mount->type.bytes));
        pseudo = false;
        for (size_t i = 0; i < all->nodev_count; i++)
            pseudo |= all->nodev[i] == type || all->nodev[i] == stem;
    } else if (pseudo) {
        pseudo = mount->source.bytes[0] != '/';
    }

    /* Compared by source too: subvolumes of btrfs have one device and several numbers. */
    bool counted = false;
    if (!pseudo && !remote && !zfs && strncmp(mount->source.bytes, "/dev/loop", 9) != 0) {
        const uint64_t device[] = {mount->major, mount->minor};
        bool source = mount->source.bytes[0] == '/' &&
                      is_seen(all, mount->source.bytes, mount->source.size);
        counted = !is_seen(all, device, sizeof device) && !source;
    }
    all->any_counted |= counted;
    if (batch_add_row(out, VITALS_TABLE_FILESYSTEM, 0, text_of(&mount->point)) == NULL)
        return;
    fact_cut(out, VITALS_FILESYSTEM_MOUNT_POINT, &mount->point);
    fact_cut(out, VITALS_FILESYSTEM_DEVICE, &mount->source);
    batch_set_text(out, VITALS_FILESYSTEM_TYPE, mount->type);
    fact_options(out, VITALS_FILESYSTEM_OPTIONS, mount);
    batch_set_u64(out, VITALS_FILESYSTEM_READ_ONLY, mount->read_only);
    batch_set_u64(out, VITALS_FILESYSTEM_REMOTE, remote);
    batch_set_u64(out, VITALS_FILESYSTEM_PSEUDO, pseudo);
    size_t before = out->count;
    batch_set_u64(out, VITALS_FILESYSTEM_COUNTED, counted);
    if (out->count > before && mount->point.size == 1 && !remote)
        all->root_fact = out->count;
}

static void write_space(struct row_batch *out, const struct statvfs *space)
{
    uint64_t unit = space->f_frsize != 0 ? space->f_frsize : space->f_bsize;
    uint64_t used = space->f_blocks > space->f_bfree ? space->f_blocks - space->f_bfree : 0;
    batch_set_u64(out, VITALS_FILESYSTEM_TOTAL_BYTES, saturating_mul(space->f_blocks, unit));
    batch_set_u64(out, VITALS_FILESYSTEM_USED_BYTES, saturating_mul(used, unit));
    batch_set_u64(out, VITALS_FILESYSTEM_FREE_BYTES, saturating_mul(space->f_bfree, unit));
    batch_set_u64(out, VITALS_FILESYSTEM_AVAILABLE_BYTES, saturating_mul(space->f_bavail, unit));
    if (space->f_files != 0) {
        batch_set_u64(out, VITALS_FILESYSTEM_INODES, space->f_files);
        batch_set_u64(out, VITALS_FILESYSTEM_INODES_FREE, space->f_ffree);
    }
}

static void take_mount(struct span line, void *data)
{
    const unsigned first = VITALS_FILESYSTEM_TOTAL_BYTES, last = VITALS_FILESYSTEM_INODES_FREE;
    struct filesystems *all = data;
    struct row_batch *out = all->out;
    const struct mount *mount = &all->mount;
    const struct os_gate *gate = all->gate;
    struct statvfs space = {0};
    bool asked = false;
    int error = 0;
    if (!mount_parse(line, &all->mount)) {
        if (line.size >= LINES_BYTES) /* a mount that has no row */
            batch_state(out, VITALS_TABLE_FILESYSTEM, VITALS_LOWER_BOUND);
        return;
    }
    if (all->mount_id == mount->id)
        write_mount(all);
    if (all->mount_id != 0 || mount_stores_nothing(mount->type))
        return;
    for (unsigned metric = first; metric <= last; metric++)
        asked |= batch_wants(out, (vitals_metric)metric);
    if (asked) {
        const uint64_t both[] = {hash_bytes(mount->point.bytes, mount->point.size),
                                 hash_bytes(mount->source.bytes, mount->source.size)};
        uint64_t item = hash_bytes(both, sizeof both);
        item = item != 0 ? item : 1;
        bool entered = gate == NULL || gate->enter(gate->data, item);
        error = entered ? space_read(&all->reader, all->os, &all->mount, &space) : -ETIMEDOUT;
        if (gate != NULL && entered)
            gate->leave(gate->data, item);
    }
    /* Hidden under another mount, or of size 0. */
    if (error == -ESTALE || (asked && error == 0 && space.f_blocks == 0))
        return;
    write_mount(all);
    for (unsigned metric = first; error < 0 && metric <= last; metric++)
        batch_set_missing(out, (vitals_metric)metric,
                          error == -ETIMEDOUT ? VITALS_TIMED_OUT : os_availability(error));
    if (!asked || error < 0)
        return;
    write_space(out, &space);
    if (span_equal(mount->type, "zfs") && !is_seen(all, mount->source.bytes, mount->source.size))
        zfs_add_dataset(&all->pools, mount, &space);
}

int table_filesystems(const struct os *os, struct row_batch *out)
{
    return os_read_filesystems(os, NULL, out);
}

/* Not all of it: its tables are large. */
static void begin(struct filesystems *all, const struct os *os, struct row_batch *out)
{
    all->os = os;
    all->gate = NULL;
    all->out = out;
    all->reader = (struct space_reader){0};
    all->mount_id = 0;
    all->seen_more = (struct hash){0};
    all->seen_count = all->nodev_count = all->root_fact = 0;
    all->nodev_known = all->any_counted = false;
    all->pools.count = 0;
    (void)lines_each(os, os->proc, "filesystems", take_type, all);
}

/* The mount that our descriptor is of (Linux 3.15); 0: not known. */
static uint64_t mount_of(const struct os *os, int descriptor)
{
    enum { FDINFO_TEXT = 512 };
    char path[sizeof "self/fdinfo/" + NUMBER_TEXT], text[FDINFO_TEXT];
    (void)snprintf(path, sizeof path, "self/fdinfo/%d", descriptor);
    int64_t size = linux_read_line(os, os->proc, path, text, sizeof text);
    struct cursor at = cursor_over(text, size > 0 ? (size_t)size : 0);
    for (struct span line; cursor_line(&at, &line);) {
        struct cursor word = cursor_over(line.bytes, line.size);
        uint64_t id;
        if (cursor_literal(&word, "mnt_id:"))
            return cursor_u64(&word, &id) ? id : 0;
    }
    return 0;
}

int os_read_filesystem_of(const struct os *os, const char *path, struct row_batch *out)
{
    struct filesystems all;
    struct statvfs space;
    if (statvfs(path, &space) != 0) /* mounts what an automounter has there, as O_PATH does not */
        return -errno;
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    if (descriptor < 0)
        return -errno;
    uint64_t mount_id = os->live ? mount_of(os, descriptor) : 0;
    os_close_descriptor(descriptor);
    begin(&all, os, out);
    all.mount_id = mount_id;
    int error = mount_id != 0 ? lines_each_part(os, os->proc, "self/mountinfo", take_mount, &all)
                              : 0;
    hash_done(&all.seen_more);
    if (error < 0)
        return error;
    if (out->row_count == 0) {
        batch_add_row(out, VITALS_TABLE_FILESYSTEM, 0, (struct span){path, strlen(path)});
        for (unsigned metric = VITALS_FILESYSTEM_MOUNT_POINT;
             mount_id != 0 && metric <= VITALS_FILESYSTEM_PSEUDO; metric++)
            batch_set_missing(out, (vitals_metric)metric, VITALS_FAILED);
    }
    write_space(out, &space);
    return 0;
}

int os_read_filesystems(const struct os *os, const struct os_gate *gate, struct row_batch *out)
{
    struct filesystems all;
    begin(&all, os, out);
    all.gate = gate;
    zfs_list_pools(os, &all.pools);
    int error = lines_each_part(os, os->proc, "self/mountinfo", take_mount, &all);
    space_done(&all.reader);
    hash_done(&all.seen_more);
    if (error < 0)
        return error;
    bool pools = zfs_write_pools(os, &all.pools, out);
    if (!all.any_counted && !pools && all.root_fact != 0 && !out->failed)
        out->items[all.root_fact - 1].as.u64 = 1;
    return 0;
}

/* ---- all mounts ---- */

struct mounts {
    struct row_batch *out;
    struct mount mount; /* the line being taken */
};

static void take_any_mount(struct span line, void *data)
{
    struct mounts *all = data;
    struct row_batch *out = all->out;
    const struct mount *mount = &all->mount;
    bool valid = mount_parse(line, &all->mount);
    if (!valid && line.size >= LINES_BYTES) /* a mount that has no row */
        batch_state(out, VITALS_TABLE_MOUNT, VITALS_LOWER_BOUND);
    if (!valid || batch_add_row(out, VITALS_TABLE_MOUNT, 0, text_of(&mount->point)) == NULL)
        return;
    fact_cut(out, VITALS_MOUNT_MOUNT_POINT, &mount->point);
    fact_cut(out, VITALS_MOUNT_DEVICE, &mount->source);
    batch_set_text(out, VITALS_MOUNT_TYPE, mount->type);
    fact_options(out, VITALS_MOUNT_OPTIONS, mount);
}

int table_mounts(const struct os *os, struct row_batch *out)
{
    struct mounts all;
    all.out = out;
    return lines_each_part(os, os->proc, "self/mountinfo", take_any_mount, &all);
}
