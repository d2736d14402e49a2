/* linux.h: what the files of this folder share: opening and reading below a root.
 *
 * EINTR is retried here and nowhere else; every open is close-on-exec and told to the trace when it
 * fails. Thread rule: any thread. */
#pragma once

#include "os/os.h"

/* Tells the trace what could not be read, and the errno (positive) that says why. */
void linux_trace(const struct os *os, const char *path, int number);

/* "123/stat"; false for a pid that is none and a name that is too long. */
enum { PROCESS_PATH = 64 };
bool linux_process_path(char out[static PROCESS_PATH], int64_t pid, const char *name);

/* For reading, below one of the roots; `flags` are added. A descriptor, or negative errno. */
int linux_open(const struct os *os, int root, const char *path, int flags);

/* Closes all descriptors from `first` to `last`; for a child after fork. */
void linux_close_from(unsigned first, unsigned last);

/* Bytes read from `offset` on (0: the end), or negative errno. One system call. */
int64_t linux_read(int descriptor, char *out, size_t capacity, uint64_t offset);

/* Everything to the end of the file, at most `limit` bytes, behind what `out` holds. Returns 0 or
 * negative errno; *cut says whether there was more. `at_once`: the kernel gives this file whole as
 * long as there is room, so that a short read is its end and saves the one that says so. */
int linux_read_all(int descriptor, size_t limit, bool at_once, struct buffer *out, bool *cut);

/* The same of a file below one of the roots, opened with `flags`. */
int linux_read_file(const struct os *os, int root, const char *path, int flags, size_t limit,
                    struct buffer *out, bool *cut);

/* As many bytes of a file as there is room for, `at_once` as of linux_read_all. 0 or negative
 * errno, -EFBIG where there are more; *size is set in any case. */
int linux_read_bytes(int descriptor, bool at_once, char *out, size_t capacity, size_t *size);

/* The whole of a small file, NUL-terminated and without a last newline; what does not fit is cut.
 * Returns its size, or negative errno (and "" in out). */
int64_t linux_read_line(const struct os *os, int root, const char *path, char *out,
                        size_t capacity);

/* The same of "PID/name" below /proc. */
int64_t linux_process_line(const struct os *os, int64_t pid, const char *name, char *out,
                           size_t capacity);

/* The value of a line "key=value" of a file uevent, by its path below /sys; in `text`, size 0 where
 * there is none. */
enum { UEVENT_TEXT = 1024 };
struct span linux_uevent(const struct os *os, const char *path, const char *key,
                         char text[static UEVENT_TEXT]);

/* The inode that a link of /proc/PID/ns tells, by its path below /proc. 0 or negative errno. */
int linux_namespace(const struct os *os, const char *path, uint64_t *inode);

/* As statx(2), which C libraries before glibc 2.28 lack. On a kernel that lacks it too
 * (before 4.11), status->stx_mask has the basic fields alone. Returns 0, or -1 with errno set. */
struct statx;
int linux_statx(int folder, const char *path, int flags, unsigned mask, struct statx *status);

/* The number of the cgroup (version 2) that a pidfd's process is in, a zombie's too. 0 or negative
 * errno: what is older than Linux 6.13 does not tell. */
int linux_pidfd_cgroup(int pidfd, uint64_t *id);

/* Calls `visit` with the name of each entry of a folder, from where its descriptor stands, until
 * that returns anything but 0. `entries` is working memory of `capacity` bytes, aligned to 8.
 * Returns 0 at the end of the folder, what `visit` returned, or a negative errno. Does not call
 * readdir, which allocates with malloc. */
typedef int linux_entry_visit(struct span name, void *data);
int linux_entries_each(int folder, char *entries, size_t capacity, linux_entry_visit *visit,
                       void *data);
