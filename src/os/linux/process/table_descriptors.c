/* table_descriptors.c: what a process has open.
 *
 * Of each descriptor: the text of its link, statx through the link, and fdinfo, as columns want
 * them. statx through a link of /proc reaches the file itself, in whatever mount namespace and
 * deleted or not, and with AT_STATX_DONT_SYNC asks no server; what a descriptor stands for is never
 * opened. fdinfo is left closed where it can be: of an epoll, an inotify or a ring the kernel
 * prints all that it holds. Each of these asks by number, and the process may put another file
 * there in between: inodes and links are compared, and what goes on changing is left out. A
 * descriptor that is closed while we read has no row; a zombie and a kernel thread have none at
 * all. Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    DESCRIPTOR_ROWS_MAX = 1 << 18,
    LINK_BYTES = 4096, /* the kernel gives no more than a page */
    INFO_BYTES = 2048, /* its own lines stand first */
};

struct descriptors_reader {
    const struct os *os;
    int64_t pid;
    int links, infos; /* folders; infos -1: not opened yet, below: negative errno */
    int root;         /* as infos */
    bool wants_link, wants_status, wants_info, wants_type, wants_size, wants_deleted;
    bool has_own_device; /* of this /proc */
    uint32_t own_major, own_minor;
};

struct descriptor {
    uint64_t number;
    char name[NUMBER_TEXT];
    char link[LINK_BYTES];
    struct span path; /* in link */
    const char *type; /* NULL: by the file's mode */
    int path_error;   /* 0: path is there; NOT_READ; else negative errno */
    struct statx status;
    int status_error; /* likewise */
    struct linux_fdinfo info;
    int info_error; /* likewise */
    struct value deleted;
};

enum { NOT_READ = 1 };

/* ---- reading ---- */

/* Reads the status of the file, or of the link itself. */
static int read_status(const struct descriptors_reader *reader, struct descriptor *one, int flags)
{
    const unsigned mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO | STATX_SIZE;
    flags |= AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
    return linux_statx(reader->links, one->name, flags, mask, &one->status) < 0 ? -errno : 0;
}

/* A folder of the process, opened once: *kept is -1 before, below that negative errno. */
static void keep_folder(int *kept, int opened)
{
    *kept = opened == -1 ? -EACCES : opened; // -1 is EPERM
}

static int read_info_at(const struct os *os, int folder, const char *name, struct linux_fdinfo *out)
{
    int file = linux_open(os, folder, name, 0);
    if (file < 0)
        return file;
    char text[INFO_BYTES];
    int64_t size = linux_read(file, text, sizeof text, 0);
    os_close_descriptor(file);
    if (size < 0)
        return (int)size;
    linux_parse_fdinfo(text, (size_t)size, out);
    return 0;
}

static bool is_dmabuf(const struct descriptor *one)
{
    return one->type != NULL && strcmp(one->type, "dmabuf") == 0;
}

static bool is_memfd(const struct descriptor *one)
{
    return one->type != NULL && strcmp(one->type, "memfd") == 0;
}

static bool is_opened_as_path(const struct descriptor *one)
{
    return (one->info.has & FDINFO_FLAGS) != 0 && (one->info.flags & O_PATH) != 0;
}

/* ---- what it is called, and whether it still is ---- */

static struct value perhaps_deleted(void)
{
    struct value deleted = value_u64(1);
    deleted.state = VITALS_ESTIMATE;
    return deleted;
}

/* As linux_process_names, of what statx told of. */
static int names_it(struct descriptors_reader *reader, const struct descriptor *one)
{
    const struct statx *status = &one->status;
    const struct linux_file file = {status->stx_ino, true, status->stx_dev_major,
                                    status->stx_dev_minor};
    if (reader->root == -1)
        keep_folder(&reader->root, linux_process_root(reader->os, reader->pid));
    return linux_root_names(reader->root, one->path, &file);
}

static void settle_name(struct descriptors_reader *reader, struct descriptor *one)
{
    struct span cut = {0};
    bool is_marked = one->path_error == 0 && linux_ends_deleted(one->path, &cut);
    one->deleted = value_u64(0);
    if (one->type != NULL) { // what never had a name; a memfd is marked always
        one->path = is_marked && is_memfd(one) ? cut : one->path;
        return;
    }
    if (is_marked && one->status_error == NOT_READ)
        one->status_error = read_status(reader, one, 0);

    const struct statx *status = &one->status;
    if (one->status_error != 0) { // the mark alone
        one->deleted = is_marked               ? perhaps_deleted()
                       : one->status_error < 0 ? value_missing(os_availability(one->status_error))
                                               : value_u64(0);
    } else if (status->stx_nlink == 0) { // without the mark: as some file systems count
        one->deleted = is_marked ? value_u64(1) : perhaps_deleted();
    } else if (is_marked) {
        // It is called so, or it has another name and this one was removed. But the kernel makes a
        // name in /proc when it is looked up, and forgets it again: the mark tells nothing there.
        int named = names_it(reader, one);
        bool is_in_own_proc = reader->has_own_device &&
                              status->stx_dev_major == reader->own_major &&
                              status->stx_dev_minor == reader->own_minor;
        is_marked = named != 1;
        if (is_marked && !is_in_own_proc)
            one->deleted = named == 0 ? value_u64(1) : perhaps_deleted();
    }
    one->path = is_marked ? cut : one->path;
}

/* ---- is it one file that all of it tells of? ---- */

enum tie { CLOSED, CHANGED, LOOSE, TIED };

static bool has_link(int folder, const char *name, const struct descriptor *one)
{
    char link[LINK_BYTES];
    ssize_t size = readlinkat(folder, name, link, sizeof link);
    if (size < 0)
        return one->path_error == -errno;
    return one->path_error == 0 && (size_t)size == one->path.size &&
           memcmp(link, one->path.bytes, one->path.size) == 0;
}

/* The file behind the number now, held by O_PATH (which opens nothing) so that it cannot change,
 * and asked once more. LOOSE: it cannot be held. */
static enum tie tie_by_holding(const struct descriptors_reader *reader,
                               const struct descriptor *one)
{
    int held = reader->os->live ? openat(reader->links, one->name, O_PATH | O_CLOEXEC) : -1;
    if (held < 0)
        return LOOSE;
    char name[sizeof "self/fdinfo/" + NUMBER_TEXT] = "self/fd/";
    number_print_u64(name + strlen(name), (uint64_t)held);
    bool same = has_link(reader->os->proc, name, one);
    if (same && one->status_error == 0) {
        struct statx status;
        same = linux_statx(held, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &status) == 0 &&
               status.stx_ino == one->status.stx_ino &&
               status.stx_dev_major == one->status.stx_dev_major &&
               status.stx_dev_minor == one->status.stx_dev_minor;
    }
    if (same && (one->info.has & FDINFO_INODE) != 0) {
        struct linux_fdinfo info = {0};
        strcpy(name, "self/fdinfo/");
        number_print_u64(name + strlen(name), (uint64_t)held);
        same = read_info_at(reader->os, reader->os->proc, name, &info) == 0 &&
               (info.has & FDINFO_INODE) != 0 && info.inode == one->info.inode;
    }
    os_close_descriptor(held);
    return same ? TIED : CHANGED;
}

/* By inodes where they can be had: of a pipe it stands in the link, of a path the process's own
 * root knows it. They differ, though, where a file system counts its inodes twice (overlayfs), and
 * the root says nothing of what was deleted or has something mounted above it: such a file is held
 * and asked again. Else by the link, which must not have changed: that says less, as it may have
 * been another one for a moment. LOOSE: none of it. */
static enum tie tie_of(struct descriptors_reader *reader, const struct descriptor *one)
{
    bool has_status = one->status_error == 0, has_info = (one->info.has & FDINFO_INODE) != 0;
    bool is_path = one->path_error == 0 && one->type == NULL;
    uint64_t linked, known = has_status ? one->status.stx_ino : one->info.inode;
    struct span cut;
    if (one->status_error == NOT_READ && one->info_error == NOT_READ)
        return TIED;
    if (has_status && has_info && one->status.stx_ino != one->info.inode)
        return is_path ? tie_by_holding(reader, one) : LOOSE;
    if (one->path_error == 0 && linux_descriptor_inode(one->path, &linked) &&
        (has_status || has_info))
        return linked == known ? TIED : CHANGED;
    int named = -1;
    if (is_path && has_status) {
        if (!linux_ends_deleted(one->path, &cut))
            named = names_it(reader, one);
        enum tie tie = named == 1 ? TIED : tie_by_holding(reader, one);
        if (tie != LOOSE)
            return tie;
    }
    if (named == 0)
        return LOOSE;
    return has_link(reader->links, one->name, one) ? TIED : CHANGED;
}

/* `early`: statx before fdinfo, else behind it. */
static enum tie read_once(struct descriptors_reader *reader, uint64_t number, bool early,
                          struct descriptor *one)
{
    one->number = number;
    number_print_u64(one->name, number);
    one->info = (struct linux_fdinfo){0};
    one->status = (struct statx){0};
    one->status_error = one->info_error = one->path_error = NOT_READ;
    one->path = (struct span){one->link, 0};
    if (!reader->wants_link)
        return TIED;
    ssize_t size = readlinkat(reader->links, one->name, one->link, sizeof one->link);
    one->path_error = size < 0 ? -errno : 0;
    one->path.size = size < 0 ? 0 : (size_t)size;
    one->type = size < 0 ? NULL : linux_descriptor_type(one->path);
    if (one->path_error == -ENOENT || one->path_error == -ESRCH)
        return CLOSED;

    // The link's own permissions are what the descriptor may do: where that is nothing, it may be
    // one of O_PATH, which only fdinfo tells.
    bool info = reader->wants_info || (reader->wants_size && is_dmabuf(one)) ||
                (reader->wants_type && read_status(reader, one, AT_SYMLINK_NOFOLLOW) == 0 &&
                 (one->status.stx_mode & 0600) == 0);
    bool status = reader->wants_status ||
                  (one->type == NULL && (reader->wants_type || reader->wants_deleted));
    if (status && early)
        one->status_error = read_status(reader, one, 0);
    if (info && reader->infos == -1)
        keep_folder(&reader->infos,
                    linux_process_open(reader->os, reader->pid, "fdinfo", O_DIRECTORY));
    if (info)
        one->info_error = reader->infos < 0
                              ? reader->infos
                              : read_info_at(reader->os, reader->infos, one->name, &one->info);
    if (status && !early)
        one->status_error = read_status(reader, one, 0);
    return tie_of(reader, one);
}

/* False where it was closed, or is another file again and again (*changes). If the reads cannot be
 * tied together but agree every time, in either order, it is one file. */
static bool read_descriptor(struct descriptors_reader *reader, uint64_t number,
                            struct descriptor *one, bool *changes)
{
    enum { TIMES = 8 };
    enum tie tie = read_once(reader, number, false, one);
    bool steady = tie == LOOSE;
    for (int i = 1; i < TIMES && (tie == LOOSE || tie == CHANGED); i++) {
        const struct descriptor a = *one;
        tie = read_once(reader, number, i % 2 != 0, one);
        steady = steady && tie == LOOSE && a.path_error == one->path_error &&
                 a.path.size == one->path.size && memcmp(a.link, one->link, a.path.size) == 0 &&
                 a.status_error == one->status_error && a.status.stx_ino == one->status.stx_ino &&
                 a.status.stx_dev_major == one->status.stx_dev_major &&
                 a.status.stx_dev_minor == one->status.stx_dev_minor &&
                 a.info.has == one->info.has && a.info.inode == one->info.inode;
    }
    if (steady)
        tie = TIED;
    *changes |= tie == LOOSE || tie == CHANGED;
    if (tie == TIED)
        settle_name(reader, one);
    return tie == TIED;
}

/* ---- a row ---- */

/* By its O_PATH, its link, its file's mode; NULL: statx has failed, or was not wanted. */
static const char *type_of(const struct descriptor *one)
{
    if (is_opened_as_path(one))
        return "path";
    if (one->type != NULL || one->status_error != 0)
        return one->type;
    switch (one->status.stx_mode & S_IFMT) {
    case S_IFREG: return "file";
    case S_IFDIR: return "directory";
    case S_IFCHR: return "character_device";
    case S_IFBLK: return "block_device";
    case S_IFIFO: return "pipe";
    case S_IFSOCK: return "socket";
    default: return "other";
    }
}

/* Sets the values of statx. Only files have a size; that of a dmabuf comes from its driver. */
static void set_status(struct row_batch *out, const struct descriptor *one)
{
    static const vitals_metric METRICS[] = {VITALS_DESCRIPTOR_DEVICE, VITALS_DESCRIPTOR_INODE,
                                            VITALS_DESCRIPTOR_SIZE_BYTES};
    const struct statx *status = &one->status;
    bool is_file = one->type == NULL || is_memfd(one);
    bool has_size = is_dmabuf(one) && (one->info.has & FDINFO_SIZE) != 0;
    if (has_size)
        batch_set_u64(out, VITALS_DESCRIPTOR_SIZE_BYTES, one->info.size);
    if (one->status_error < 0)
        for (size_t i = 0; i < ARRAY_COUNT(METRICS) - !is_file; i++)
            batch_set_missing(out, METRICS[i], os_availability(one->status_error));
    if (one->status_error != 0)
        return;
    char device[2 * NUMBER_TEXT];
    size_t size = number_print_u64(device, status->stx_dev_major);
    device[size++] = ':';
    size += number_print_u64(device + size, status->stx_dev_minor);
    batch_set_text(out, VITALS_DESCRIPTOR_DEVICE, (struct span){device, size});
    batch_set_u64(out, VITALS_DESCRIPTOR_INODE, status->stx_ino);
    if (is_file && S_ISREG(status->stx_mode))
        batch_set_u64(out, VITALS_DESCRIPTOR_SIZE_BYTES, status->stx_size);
}

static void add_row(struct row_batch *out, const struct descriptor *one)
{
    static const vitals_metric INFO[] = {VITALS_DESCRIPTOR_POSITION_BYTES, VITALS_DESCRIPTOR_FLAGS,
                                         VITALS_DESCRIPTOR_MODE, VITALS_DESCRIPTOR_CLOSE_ON_EXEC};
    const struct linux_fdinfo *info = &one->info;
    const char *type = type_of(one);
    struct span label = one->path;
    if (label.size == 0)
        label = (struct span){one->name, strlen(one->name)};
    batch_add_row(out, VITALS_TABLE_DESCRIPTOR, one->number + 1, label);
    batch_set_u64(out, VITALS_DESCRIPTOR_NUMBER, one->number);
    if (one->path_error == NOT_READ)
        return; // nothing but the number
    if (one->path_error < 0)
        batch_set_missing(out, VITALS_DESCRIPTOR_PATH, os_availability(one->path_error));
    else
        batch_set_text(out, VITALS_DESCRIPTOR_PATH, one->path);
    if (type != NULL)
        batch_set_string(out, VITALS_DESCRIPTOR_TYPE, type);
    else if (one->status_error < 0)
        batch_set_missing(out, VITALS_DESCRIPTOR_TYPE, os_availability(one->status_error));
    batch_set_value(out, VITALS_DESCRIPTOR_DELETED, one->deleted);
    set_status(out, one);

    for (size_t i = 0; i < ARRAY_COUNT(INFO) && one->info_error < 0; i++)
        batch_set_missing(out, INFO[i], os_availability(one->info_error));
    // Pipes, sockets, events and descriptors of O_PATH have no position.
    bool has_place = one->type == NULL || is_memfd(one) || is_dmabuf(one);
    if ((info->has & FDINFO_POSITION) != 0 && has_place && !is_opened_as_path(one))
        batch_set_u64(out, VITALS_DESCRIPTOR_POSITION_BYTES, info->position);
    if ((info->has & FDINFO_FLAGS) == 0)
        return;
    batch_set_u64(out, VITALS_DESCRIPTOR_FLAGS, info->flags);
    batch_set_string(out, VITALS_DESCRIPTOR_MODE, linux_descriptor_mode(info->flags));
    batch_set_u64(out, VITALS_DESCRIPTOR_CLOSE_ON_EXEC, (info->flags & O_CLOEXEC) != 0);
}

static int read_table(const struct os *os, int64_t pid, struct row_batch *out)
{
    static const vitals_metric STATUS[] = {VITALS_DESCRIPTOR_DEVICE, VITALS_DESCRIPTOR_INODE,
                                           VITALS_DESCRIPTOR_SIZE_BYTES, 0};
    static const vitals_metric INFO[] = {VITALS_DESCRIPTOR_POSITION_BYTES, VITALS_DESCRIPTOR_FLAGS,
                                         VITALS_DESCRIPTOR_MODE, VITALS_DESCRIPTOR_CLOSE_ON_EXEC,
                                         0};
    struct descriptors_reader reader = {
        .os = os,
        .pid = pid,
        .links = linux_process_open(os, pid, "fd", O_DIRECTORY),
        .infos = -1,
        .root = -1,
        .wants_status = batch_wants_any(out, STATUS),
        .wants_info = batch_wants_any(out, INFO),
        .wants_type = batch_wants(out, VITALS_DESCRIPTOR_TYPE),
        .wants_size = batch_wants(out, VITALS_DESCRIPTOR_SIZE_BYTES),
        .wants_deleted = batch_wants(out, VITALS_DESCRIPTOR_DELETED),
    };
    if (reader.links < 0)
        return reader.links;
    reader.wants_link = reader.wants_status || reader.wants_info || reader.wants_type ||
                        reader.wants_deleted || batch_wants(out, VITALS_DESCRIPTOR_PATH);
    struct stat proc;
    if (os->live && fstat(os->proc, &proc) == 0) {
        reader.has_own_device = true;
        reader.own_major = major(proc.st_dev);
        reader.own_minor = minor(proc.st_dev);
    }

    struct os_pids numbers = {0};
    bool cut;
    int result = linux_numbers_read(reader.links, DESCRIPTOR_ROWS_MAX, &numbers, &cut);
    bool incomplete = result == 0 && cut;
    for (size_t i = 0; result == 0 && i < numbers.count && !out->failed; i++) {
        struct descriptor one;
        if (read_descriptor(&reader, (uint64_t)numbers.items[i], &one, &incomplete))
            add_row(out, &one);
    }
    if (incomplete)
        batch_state(out, VITALS_TABLE_DESCRIPTOR, VITALS_LOWER_BOUND);
    os_pids_done(&numbers);
    os_close_descriptor(reader.links);
    os_close_descriptor(reader.infos);
    os_close_descriptor(reader.root);
    return result;
}

int table_descriptors(const struct os *os, int64_t pid, struct row_batch *out)
{
    return linux_read_owned(os, pid, read_table, 0, out);
}
