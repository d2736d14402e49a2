/* commit.h: the commit that a working folder stands at, as the files of git say it.
 *
 * No git is run and no configuration read, so nothing of a folder that is not ours is obeyed: what
 * does not look like a commit is none. Repositories whose names are in a reftable have none here.
 * May wait for a disk. Any thread. */
#ifndef VITALS_EXPORT_MLFLOW_COMMIT_H
#define VITALS_EXPORT_MLFLOW_COMMIT_H

#include <stdbool.h>
#include <stddef.h>

enum { COMMIT_SIZE = 65, COMMIT_NAME_SIZE = 256 }; /* SHA-256 and a zero; "refs/heads/…" */

/* Of the folder (an absolute path), or the nearest above it that is a working tree. */
bool commit_find(const char *folder, char commit[static COMMIT_SIZE]);

/* HEAD, or the file of a name: a commit, or else the name where it stands. False: neither. Pure. */
bool commit_parse(const char *bytes, size_t size, char commit[static COMMIT_SIZE],
                  char name[static COMMIT_NAME_SIZE]);

/* packed-refs: the commit of a name. Pure. */
bool commit_parse_packed(const char *bytes, size_t size, const char *name,
                         char commit[static COMMIT_SIZE]);

#endif
