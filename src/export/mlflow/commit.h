/* commit.h: the commit that a working folder is at, read from git's files.
 *
 * Runs no git and reads no configuration, so a folder of another user cannot run anything. Anything
 * that does not look like a commit gives none, and so does a repository with reftables. May wait
 * for a disk. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { COMMIT_SIZE = 65, COMMIT_NAME_SIZE = 256 }; /* SHA-256 and NUL; "refs/heads/…" */

/* Finds the commit of the folder (an absolute path), or of the nearest folder above it that is a
 * working tree. */
bool commit_find(const char *folder, char commit[static COMMIT_SIZE]);

/* Parses HEAD or a reference's file: a commit, or the name of another reference. Returns false if
 * it is neither. Pure. */
bool commit_parse(const char *bytes, size_t size, char commit[static COMMIT_SIZE],
                  char name[static COMMIT_NAME_SIZE]);

/* Finds the commit of a reference in packed-refs. Pure. */
bool commit_parse_packed(const char *bytes, size_t size, const char *name,
                         char commit[static COMMIT_SIZE]);
