/* file.c: see linux.h. Nothing here knows what a file holds. */
#include "os/linux/linux.h"

#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <vitals/text.h>

enum { READ_STEP = 4096 };

void os_trace(const struct os *os, const char *format, ...)
{
    if (os->trace == NULL)
        return;
    char line[512], safe[2048];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size < 0)
        return;
    vitals_text text = {line, size_min((size_t)size, sizeof line - 1)};
    vitals_text_format(text, VITALS_TEXT_TERMINAL, safe, sizeof safe);
    os->trace(os->trace_data, safe);
}

void linux_trace(const struct os *os, const char *path, int number)
{
    if (os->lacking != NULL && (number == EMFILE || number == ENFILE))
        *os->lacking = true;
    if (os->trace != NULL) // errno's text costs a look-up
        os_trace(os, "%s: %s", path, strerror(number));
}

void os_close_descriptor(int descriptor)
{
    // Not retried: Linux has released it even where close says EINTR.
    if (descriptor >= 0)
        close(descriptor);
}

void linux_close_from(unsigned first, unsigned last)
{
    if (first > last)
        return;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0) == 0)
        return;
#endif
    enum { HIGHEST = 65536 }; /* a kernel before 5.9: one by one */
    struct rlimit limit;
    unsigned end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < HIGHEST
                       ? (unsigned)limit.rlim_cur
                       : HIGHEST;
    for (unsigned i = first; i <= last && i < end; i++)
        close((int)i);
}

bool linux_process_path(char out[static PROCESS_PATH], int64_t pid, const char *name)
{
    size_t length = strlen(name);
    if (pid < 1 || length > PROCESS_PATH - NUMBER_TEXT - 2)
        return false;
    size_t used = number_print_i64(out, pid);
    out[used++] = '/';
    memcpy(out + used, name, length + 1);
    return true;
}

int linux_open(const struct os *os, int root, const char *path, int flags)
{
    int descriptor;
    do
        // If a FIFO was put in a file's place, opening and reading return at once.
        descriptor = openat(root, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor >= 0)
        return descriptor;
    int number = errno;
    linux_trace(os, path, number);
    return -number;
}

int64_t linux_read(int descriptor, char *out, size_t capacity, uint64_t offset)
{
    ssize_t size;
    do
        size = pread(descriptor, out, capacity, (off_t)offset);
    while (size < 0 && errno == EINTR);
    return size < 0 ? -errno : size;
}

int64_t os_read_kept(int descriptor, char *out, size_t capacity)
{
    return linux_read(descriptor, out, capacity, 0);
}

int linux_read_all(int descriptor, size_t limit, bool at_once, struct buffer *out, bool *cut)
{
    *cut = false;
    for (uint64_t offset = 0;;) {
        char *at = buffer_reserve(out, READ_STEP);
        if (at == NULL)
            return -ENOMEM;
        // All the room there is, but for the NUL: a long file then takes few calls.
        size_t room = out->capacity - out->size - 1;
        int64_t size = linux_read(descriptor, at, room, offset);
        if (size <= 0)
            return (int)size;
        if ((uint64_t)size > limit - offset) {
            *cut = true;
            buffer_advance(out, limit - (size_t)offset);
            return 0;
        }
        buffer_advance(out, (size_t)size);
        offset += (uint64_t)size;
        if (at_once && (size_t)size < room)
            return 0;
    }
}

int linux_read_file(const struct os *os, int root, const char *path, int flags, size_t limit,
                    struct buffer *out, bool *cut)
{
    int descriptor = linux_open(os, root, path, flags);
    if (descriptor < 0)
        return descriptor;
    int result = linux_read_all(descriptor, limit, false, out, cut);
    os_close_descriptor(descriptor);
    return result;
}

int linux_read_bytes(int descriptor, bool at_once, char *out, size_t capacity, size_t *size)
{
    *size = 0;
    for (;;) {
        char beyond;
        bool full = *size == capacity;
        int64_t got = linux_read(descriptor, full ? &beyond : out + *size,
                                 full ? 1 : capacity - *size, *size);
        if (got <= 0)
            return (int)got;
        if (full)
            return -EFBIG;
        *size += (size_t)got;
        if (at_once && *size < capacity)
            return 0;
    }
}

int64_t linux_read_line(const struct os *os, int root, const char *path, char *out, size_t capacity)
{
    out[0] = '\0';
    int descriptor = linux_open(os, root, path, 0);
    if (descriptor < 0)
        return descriptor;
    int64_t size = linux_read(descriptor, out, capacity - 1, 0);
    os_close_descriptor(descriptor);
    if (size < 0) {
        out[0] = '\0';
        return size;
    }
    if (size > 0 && out[size - 1] == '\n')
        size--;
    out[size] = '\0';
    return size;
}

int64_t linux_process_line(const struct os *os, int64_t pid, const char *name, char *out,
                           size_t capacity)
{
    char path[PROCESS_PATH];
    out[0] = '\0';
    return linux_process_path(path, pid, name) ? linux_read_line(os, os->proc, path, out, capacity)
                                               : -EINVAL;
}

/* An entry as getdents64(2) writes it; the name follows and ends with NUL. */
struct file_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    unsigned char type;
};

enum { ENTRY_NAME = 19 };
_Static_assert(offsetof(struct file_entry, type) == ENTRY_NAME - 1, "the kernel's layout");

int linux_statx(int folder, const char *path, int flags, unsigned mask, struct statx *status)
{
    if (syscall(SYS_statx, folder, path, flags, mask, status) == 0)
        return 0;
    enum { OLD_FLAGS = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT };
    struct stat old;
    if (errno != ENOSYS || fstatat(folder, path, &old, flags & OLD_FLAGS) < 0)
        return -1;
    *status = (struct statx){
        .stx_mask = STATX_BASIC_STATS,
        .stx_mode = (uint16_t)old.st_mode,
        .stx_nlink = (uint32_t)old.st_nlink,
        .stx_uid = old.st_uid,
        .stx_gid = old.st_gid,
        .stx_ino = old.st_ino,
        .stx_size = (uint64_t)old.st_size,
        .stx_blocks = (uint64_t)old.st_blocks,
        .stx_blksize = (uint32_t)old.st_blksize,
        .stx_dev_major = major(old.st_dev),
        .stx_dev_minor = minor(old.st_dev),
        .stx_rdev_major = major(old.st_rdev),
        .stx_rdev_minor = minor(old.st_rdev),
    };
    return 0;
}

int linux_entries_each(int folder, char *entries, size_t capacity, linux_entry_visit *visit,
                       void *data)
{
    for (;;) {
        long size = syscall(SYS_getdents64, folder, entries, capacity);
        if (size <= 0)
            return size < 0 ? -errno : 0;
        const char *at = entries, *end = entries + size;
        while (end - at > ENTRY_NAME) {
            struct file_entry entry;
            memcpy(&entry, at, ENTRY_NAME);
            if (entry.size <= ENTRY_NAME || entry.size > end - at)
                return -EBADMSG;
            const char *name = at + ENTRY_NAME;
            int result = visit((struct span){name, strnlen(name, entry.size - (size_t)ENTRY_NAME)},
                               data);
            if (result != 0)
                return result;
            at += entry.size;
        }
    }
}
