/* file.c: see file.h. */
#include "util/file.h"

#include "util/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *file_distrust(const struct stat *status)
{
    bool kept = S_ISCHR(status->st_mode) /* /dev/null */ ||
                (S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX) != 0);
    if (status->st_uid != geteuid() && status->st_uid != 0)
        return "it belongs to another user";
    if ((status->st_mode & (S_IWGRP | S_IWOTH)) != 0 && !kept)
        return "other users may write to it (chmod go-w)";
    return NULL;
}

bool file_is_privileged(void)
{
    return geteuid() == 0 || getauxval(AT_SECURE) != 0;
}

int file_open_or_make(const char *path, int flags)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
    if (descriptor < 0 && errno == ENOENT)
        descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_CREAT | O_EXCL | flags, 0666);
    if (descriptor < 0 && errno == EEXIST) /* made meanwhile, or a link that leads nowhere */
        descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
    return descriptor;
}

static int fail(struct file_text *out, int number, const char *why)
{
    (void)snprintf(out->why, sizeof out->why, "%s", why != NULL ? why : strerror(number));
    return -number;
}

/* Reads to the end of the file, or one byte more than `most`. */
static int read_bytes(int descriptor, size_t most, struct file_text *out)
{
    size_t room = 0;
    ssize_t got = 1;
    while (got > 0 && out->size <= most) {
        if (out->size == room) {
            size_t guess = S_ISREG(out->status.st_mode) ? (size_t)out->status.st_size + 1 : 4096;
            room = room > 0 ? 2 * room : guess;
            room = room > most ? most + 1 : room;
            char *larger = memory_resize(out->bytes, room + 1, 1);
            if (larger == NULL)
                return fail(out, ENOMEM, "out of memory");
            out->bytes = larger;
        }
        do
            got = read(descriptor, out->bytes + out->size, room - out->size);
        while (got < 0 && errno == EINTR);
        out->size += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        return fail(out, errno, NULL);
    if (out->size > most) {
        (void)snprintf(out->why, sizeof out->why, "larger than %zu KiB, which none is",
                       most / 1024);
        return -EFBIG;
    }
    out->bytes[out->size] = '\0';
    return 0;
}

int file_read_whole(const char *path, size_t most, unsigned rules, struct file_text *out)
{
    bool any = (rules & FILE_ANY_KIND) != 0, standard = any && strcmp(path, "-") == 0;
    bool checked = (rules & FILE_OUR_OWN) != 0 ||
                   ((rules & FILE_PRIVILEGED) != 0 && file_is_privileged());
    *out = (struct file_text){.bytes = NULL};
    int descriptor = standard
                         ? STDIN_FILENO
                         : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (any ? 0 : O_NONBLOCK));
    if (descriptor < 0)
        return fail(out, errno, NULL);

    int code = 0;
    const char *distrust = NULL;
    if (fstat(descriptor, &out->status) != 0)
        code = fail(out, errno, NULL);
    else if (!any && !S_ISREG(out->status.st_mode))
        code = fail(out, EINVAL, "not a regular file");
    else if (checked && !standard && (distrust = file_distrust(&out->status)) != NULL)
        code = fail(out, EPERM, distrust);
    else
        code = read_bytes(descriptor, most, out);
    if (!standard)
        (void)close(descriptor);
    if (code < 0) {
        memory_free(out->bytes);
        out->bytes = NULL;
        out->size = 0;
    }
    return code;
}

/* Counts what one call did. Returns false if it failed, with errno: `none` if it did nothing. */
static bool take_part(ssize_t count, int none, size_t *done)
{
    if (count == 0)
        errno = none;
    *done += count > 0 ? (size_t)count : 0;
    return count > 0 || (count < 0 && errno == EINTR);
}

bool file_make_folders(const char *path, mode_t mode)
{
    char folder[PATH_MAX];
    if (*path == '\0' || snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder) {
        errno = *path == '\0' ? ENOENT : ENAMETOOLONG;
        return false;
    }
    for (char *end = folder; end != NULL;) {
        struct stat status;
        end = strchr(end + 1, '/');
        if (end != NULL)
            *end = '\0';
        if (mkdir(folder, mode) < 0 && errno != EEXIST) {
            int number = errno; /* a file system that is only read may say this of what is there */
            if (stat(folder, &status) < 0 || !S_ISDIR(status.st_mode)) {
                errno = number;
                return false;
            }
        }
        if (end != NULL)
            *end = '/';
    }
    return true;
}

bool file_write_all(int descriptor, const void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size)
        if (!take_part(write(descriptor, (const char *)bytes + done, size - done), ENOSPC, &done))
            return false;
    return true;
}

bool file_write_at(int descriptor, const void *bytes, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size)
        if (!take_part(
                pwrite(descriptor, (const char *)bytes + done, size - done, (off_t)(offset + done)),
                ENOSPC, &done))
            return false;
    return true;
}

bool file_read_at(int descriptor, void *bytes, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size)
        if (!take_part(pread(descriptor, (char *)bytes + done, size - done, (off_t)(offset + done)),
                       EIO, &done))
            return false;
    return true;
}
