/* filesystem.h: the file system of a path, as df(1) tells it.
 *
 * All mounted file systems are the tables filesystem and mount of a snapshot. */
#ifndef VITALS_FILESYSTEM_H
#define VITALS_FILESYSTEM_H

#include <vitals/error.h>
#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the file system on which a path lies, and its space: one row of the table filesystem in a
 * snapshot, *out, which is yours to unref. The path is looked up as by open(2): below the working
 * directory unless it begins with a slash, links followed. It may be any path, also one of a file
 * system that the table leaves out, such as /proc, which has a size of 0. Columns: mount_point,
 * device, type, options, read_only, remote, pseudo, and those of space and inodes; the first seven
 * are missing where proc_root (context.h) is not this process's /proc.
 * Errors: EGONE (no such path), EDENIED, ESYSTEM, EMEMORY, EUNSUPPORTED. Thread: any. Cost: some
 * 14 system calls; more where /proc/self/mountinfo is long. May block while a file server is away.
 */
VITALS_API VITALS_CHECKED int vitals_filesystem_of(vitals_context *context, const char *path,
                                                   vitals_snapshot **out, vitals_error *error)
    VITALS_NONNULL(1, 2, 3);

#ifdef __cplusplus
}
#endif

#endif
