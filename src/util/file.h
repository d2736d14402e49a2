/* file.h: reads a whole small file that decides what the program does: a configuration, a layout, a
 * login. Also the check of its owner, for files that are read in parts, and reading and writing
 * that goes on over signals.
 *
 * Thread rule: any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum file_rule {
    FILE_ANY_KIND = 1,  /* a pipe too: "-" is standard input, and opening or reading may block */
    FILE_OUR_OWN = 2,   /* refused if file_distrust() objects */
    FILE_PRIVILEGED = 4 /* the same, but only in a process with more rights than its files' owners:
                           one of root, or of a set-user-ID program */
};

/* Returns NULL if only this user and root can have written the file or folder, else a message. In a
 * folder with the sticky bit others cannot replace our files. */
const char *file_distrust(const struct stat *status);

/* Whether FILE_PRIVILEGED holds for this process. */
bool file_is_privileged(void);

struct file_text {
    char *bytes; /* the caller's, for memory_free; a NUL follows the last byte */
    size_t size;
    struct stat status;
    char why[96]; /* the failure, without the file's name */
};

/* Reads a file of at most `most` bytes. Returns 0, or a negative errno and `why`: EPERM if its
 * owner or its mode is refused, EFBIG if it is larger, EINVAL if it is no regular file. */
int file_read_whole(const char *path, size_t most, unsigned rules, struct file_text *out);

/* Opens a file for writing, close-on-exec, and makes it if it is missing; but not behind a symbolic
 * link that leads nowhere, which another user may have made (ENOENT). Returns -1 and sets errno. */
int file_open_or_make(const char *path, int flags);

/* Makes a folder and those above it that are missing. Returns false and sets errno. */
bool file_make_folders(const char *path, mode_t mode);

/* Write or read all of the bytes. Return false and set errno: ENOSPC if nothing more was taken, EIO
 * if the file ends before. */
bool file_write_all(int descriptor, const void *bytes, size_t size);
bool file_write_at(int descriptor, const void *bytes, size_t size, uint64_t offset);
bool file_read_at(int descriptor, void *bytes, size_t size, uint64_t offset);
