/* zfs.c: pools of ZFS. See mounts.h. */
#include "os/linux/machine/mounts.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const char FOLDER[] = "spl/kstat/zfs";

enum { TEXT_BYTES = 8192, PATH_BYTES = 640 };

static DIR *open_folder(const struct os *os, const char *path)
{
    int descriptor = linux_open(os, os->proc, path, O_DIRECTORY);
    DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (folder == NULL)
        os_close_descriptor(descriptor);
    return folder;
}

void zfs_list_pools(const struct os *os, struct zfs_pools *pools)
{
    DIR *folder = open_folder(os, FOLDER);
    if (folder == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        /* Pools are folders; files beside them belong to the whole module. */
        const char *name = entry->d_name;
        char path[PATH_BYTES];
        if (name[0] == '.' || pools->count == ZFS_POOLS_MAX || strlen(name) >= ZFS_NAME)
            continue;
        snprintf(path, sizeof path, "%s/%s", FOLDER, name);
        int descriptor = linux_open(os, os->proc, path, O_DIRECTORY | O_PATH);
        os_close_descriptor(descriptor);
        if (descriptor < 0)
            continue;
        size_t place = pools->count++;
        for (; place > 0 && strcmp(pools->items[place - 1].name, name) > 0; place--)
            pools->items[place] = pools->items[place - 1];
        pools->items[place] = (struct zfs_pool){0};
        memcpy(pools->items[place].name, name, strlen(name) + 1);
    }
    closedir(folder);
}

/* A dataset's size is its used space plus the available space of the pool. */
void zfs_add_dataset(struct zfs_pools *pools, const struct mount *mount,
                     const struct statvfs *space)
{
    const char *dataset = mount->source.bytes; // "pool/a/b"
    size_t size = strcspn(dataset, "/@"), found = 0;
    while (found < pools->count && (strlen(pools->items[found].name) != size ||
                                    memcmp(pools->items[found].name, dataset, size) != 0))
        found++;
    if (found == pools->count)
        return;
    struct zfs_pool *pool = &pools->items[found];
    uint64_t unit = space->f_frsize;
    uint64_t used = space->f_blocks > space->f_bfree ? space->f_blocks - space->f_bfree : 0;
    uint64_t available = saturating_mul(space->f_bavail, unit);
    pool->used = saturating_add(pool->used, saturating_mul(used, unit));
    pool->available = available > pool->available ? available : pool->available;
    pool->has_space = true;
    bool own = strcmp(pool->name, dataset) == 0;
    if (own && mount->point.size < sizeof pool->point && !mount->point.cut)
        memcpy(pool->point, mount->point.bytes, mount->point.size + 1);
}

bool zfs_parse_io(const char *bytes, size_t size, uint64_t *read, uint64_t *written)
{
    struct cursor text = cursor_over(bytes, size);
    struct span line, names = {"", 0}, name;
    while (cursor_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (cursor_literal(&at, "nread")) {
            names = line;
            continue;
        }
        if (names.size == 0)
            continue;
        struct cursor titles = cursor_over(names.bytes, names.size);
        uint64_t number;
        unsigned found = 0;
        while (cursor_word(&titles, &name) && cursor_u64(&at, &number)) {
            if (span_equal(name, "nread"))
                *read = number;
            else if (span_equal(name, "nwritten"))
                *written = number;
            else
                continue;
            found++;
        }
        return found == 2;
    }
    return false;
}

bool zfs_parse_objset(const char *bytes, size_t size, uint64_t *read, uint64_t *written)
{
    struct cursor text = cursor_over(bytes, size);
    struct span line, key;
    uint64_t type, number;
    unsigned found = 0;
    while (cursor_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (!cursor_word(&at, &key) || !cursor_u64(&at, &type) || !cursor_u64(&at, &number))
            continue;
        if (span_equal(key, "nread"))
            *read = number;
        else if (span_equal(key, "nwritten"))
            *written = number;
        else
            continue;
        found++;
    }
    return found == 2;
}

static bool read_file(const struct os *os, const char *pool, const char *file,
                      bool (*parse)(const char *, size_t, uint64_t *, uint64_t *), uint64_t *read,
                      uint64_t *written)
{
    char path[PATH_BYTES], text[TEXT_BYTES];
    snprintf(path, sizeof path, "%s/%s/%s", FOLDER, pool, file);
    int64_t size = linux_read_line(os, os->proc, path, text, sizeof text);
    return size > 0 && parse(text, (size_t)size, read, written);
}

/* Reads the counts: up to ZFS 0.8 those of the whole pool; later those of each mounted dataset. */
static bool read_io(const struct os *os, const char *pool, uint64_t *read, uint64_t *written)
{
    char path[PATH_BYTES];
    if (read_file(os, pool, "io", zfs_parse_io, read, written))
        return true;
    snprintf(path, sizeof path, "%s/%s", FOLDER, pool);
    DIR *folder = open_folder(os, path);
    if (folder == NULL)
        return false;
    bool any = false;
    *read = *written = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        uint64_t r, w;
        if (strncmp(entry->d_name, "objset-", 7) != 0 ||
            !read_file(os, pool, entry->d_name, zfs_parse_objset, &r, &w))
            continue;
        any = true;
        *read = saturating_add(*read, r);
        *written = saturating_add(*written, w);
    }
    closedir(folder);
    return any;
}

/* Returns a lower bound: space held by snapshots and unmounted datasets is not visible. */
static struct value at_least(uint64_t number)
{
    return (struct value){.as.u64 = number, .state = VITALS_LOWER_BOUND};
}

bool zfs_write_pools(const struct os *os, const struct zfs_pools *pools, struct row_batch *out)
{
    bool space = false;
    for (size_t i = 0; i < pools->count; i++) {
        const struct zfs_pool *pool = &pools->items[i];
        uint64_t read, written;
        space |= pool->has_space;
        if (batch_add_row(out, VITALS_TABLE_FILESYSTEM, 0,
                          (struct span){pool->name, strlen(pool->name)}) == NULL)
            continue;
        batch_set_string(out, VITALS_FILESYSTEM_MOUNT_POINT, pool->point);
        batch_set_string(out, VITALS_FILESYSTEM_DEVICE, pool->name);
        batch_set_string(out, VITALS_FILESYSTEM_TYPE, "zfs_pool");
        batch_set_u64(out, VITALS_FILESYSTEM_REMOTE, 0);
        batch_set_u64(out, VITALS_FILESYSTEM_PSEUDO, 0);
        batch_set_u64(out, VITALS_FILESYSTEM_COUNTED, pool->has_space);
        if (pool->has_space) {
            uint64_t total = saturating_add(pool->used, pool->available);
            batch_set_value(out, VITALS_FILESYSTEM_TOTAL_BYTES, at_least(total));
            batch_set_value(out, VITALS_FILESYSTEM_USED_BYTES, at_least(pool->used));
            batch_set_value(out, VITALS_FILESYSTEM_FREE_BYTES, at_least(pool->available));
            batch_set_value(out, VITALS_FILESYSTEM_AVAILABLE_BYTES, at_least(pool->available));
        }
        if ((batch_wants(out, VITALS_FILESYSTEM_READ_BYTES) ||
             batch_wants(out, VITALS_FILESYSTEM_WRITTEN_BYTES)) &&
            read_io(os, pool->name, &read, &written)) {
            batch_set_u64(out, VITALS_FILESYSTEM_READ_BYTES, read);
            batch_set_u64(out, VITALS_FILESYSTEM_WRITTEN_BYTES, written);
        }
    }
    return space;
}
