/* mounts.h: a line of /proc/self/mountinfo, and what kind of file system it mounts.
 *
 * Thread rule: pure. */
#ifndef VITALS_OS_LINUX_MACHINE_MOUNTS_H
#define VITALS_OS_LINUX_MACHINE_MOUNTS_H

#include "util/cursor.h"

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

#endif
