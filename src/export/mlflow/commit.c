/* commit.c: see mlflow.h. */
#include "export/mlflow/mlflow.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed/text.h"

enum { SMALL = 4096, PACKED_MOST = 16 * 1024 * 1024, LEVELS_MOST = 128, NAMES_MOST = 5 };

/* ---- parsing ---- */

/* Returns the line at `bytes`, without its line ending. */
static size_t line_size(const char *bytes, size_t size)
{
    const char *newline = memchr(bytes, '\n', size);
    size_t length = newline != NULL ? (size_t)(newline - bytes) : size;
    return length > 0 && bytes[length - 1] == '\r' ? length - 1 : length;
}

/* Returns whether it has the length of a SHA-1 or SHA-256 digest. */
static bool take_commit(const char *bytes, size_t size, char commit[static COMMIT_SIZE])
{
    static const size_t SIZES[] = {40, 64};
    size_t digits = 0;
    while (digits < size && bytes[digits] != '\0' &&
           strchr("0123456789abcdef", bytes[digits]) != NULL)
        digits++;
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        if (digits != SIZES[i] || size != digits)
            continue;
        memcpy(commit, bytes, digits);
        commit[digits] = '\0';
        return true;
    }
    return false;
}

bool commit_parse(const char *bytes, size_t size, char commit[static COMMIT_SIZE],
                  char name[static COMMIT_NAME_SIZE])
{
    static const char WORD[] = "ref: ", BEGIN[] = "refs/";
    size_t length = line_size(bytes, size), skipped = sizeof WORD - 1;
    memset(name, 0, COMMIT_NAME_SIZE);
    commit[0] = '\0';
    if (length <= skipped || memcmp(bytes, WORD, skipped) != 0)
        return take_commit(bytes, length, commit);

    /* Accepts only names inside the repository. */
    bytes += skipped;
    length -= skipped;
    if (length < sizeof BEGIN || length >= COMMIT_NAME_SIZE ||
        memchr(bytes, '\0', length) != NULL || memcmp(bytes, BEGIN, sizeof BEGIN - 1) != 0 ||
        memmem(bytes, length, "..", 2) != NULL)
        return false;
    memcpy(name, bytes, length);
    name[length] = '\0';
    return true;
}

bool commit_parse_packed(const char *bytes, size_t size, const char *name,
                         char commit[static COMMIT_SIZE])
{
    size_t wanted = strlen(name);
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(bytes + at, '\n', size - at);
        size_t length = line_size(bytes + at, size - at);
        const char *space = memchr(bytes + at, ' ', length);
        size_t digits = space != NULL ? (size_t)(space - (bytes + at)) : length;
        if (length - digits == wanted + 1 && memcmp(space + 1, name, wanted) == 0 &&
            take_commit(bytes + at, digits, commit))
            return true;
        at = newline != NULL ? (size_t)(newline - bytes) + 1 : size;
    }
    return false;
}

/* ---- finding the files ---- */

/* Returns whether the file is owned by this user or by root. Anyone may create a .git in a
 * directory above that all may write to; what another user's files name is not exported. */
static bool is_trusted(const struct stat *about)
{
    return about->st_uid == geteuid() || about->st_uid == 0;
}

static bool is_trusted_folder(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && is_trusted(&about);
}

/* Reads a regular file of at most `most` bytes, following no link. The caller frees `out`. */
static bool read_file(const char *folder, const char *name, size_t most, struct buffer *out)
{
    char path[PATH_MAX];
    struct stat about;
    int size = snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = size > 0 && (size_t)size < sizeof path
                   ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
                   : -1;
    bool whole = file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
                 is_trusted(&about) && about.st_size >= 0 && (uint64_t)about.st_size <= most;
    char *place = whole ? buffer_reserve(out, (size_t)about.st_size) : NULL;
    ssize_t got = place != NULL ? read(file, place, (size_t)about.st_size) : -1;
    if (got > 0)
        buffer_advance(out, (size_t)got);
    if (file >= 0)
        close(file);
    return got > 0;
}

/* Reads the path after `word` in the first line of a file, relative to the folder. */
static bool read_path(const char *folder, const char *name, const char *word, char *out)
{
    struct buffer text = {.bytes = NULL};
    char path[PATH_MAX];
    size_t skipped = strlen(word);
    bool is = read_file(folder, name, SMALL, &text) && text.size > skipped &&
              memcmp(text.bytes, word, skipped) == 0;
    int length = is ? (int)line_size(text.bytes + skipped, text.size - skipped) : 0;
    int size = 0;
    if (length > 0 && text.bytes[skipped] == '/')
        size = snprintf(path, sizeof path, "%.*s", length, text.bytes + skipped);
    else if (length > 0)
        size = snprintf(path, sizeof path, "%s/%.*s", folder, length, text.bytes + skipped);
    is = size > 0 && (size_t)size < sizeof path;
    if (is)
        memcpy(out, path, (size_t)size + 1);
    buffer_done(&text);
    return is;
}

/* A reference has a file of its own, which may name another one, or a line in packed-refs. */
static bool read_name(const char *repository, char name[static COMMIT_NAME_SIZE],
                      char commit[static COMMIT_SIZE])
{
    char next[COMMIT_NAME_SIZE];
    struct buffer text = {.bytes = NULL};
    bool found = read_file(repository, name, SMALL, &text) &&
                 commit_parse(text.bytes, text.size, commit, next);
    if (found)
        memcpy(name, next, sizeof next);
    buffer_reset(&text);
    if (!found)
        found = read_file(repository, "packed-refs", PACKED_MOST, &text) &&
                commit_parse_packed(text.bytes, text.size, name, commit);
    buffer_done(&text);
    return found;
}

bool commit_find(const char *folder, char commit[static COMMIT_SIZE])
{
    char path[PATH_MAX], repository[PATH_MAX], common[PATH_MAX], name[COMMIT_NAME_SIZE];
    struct stat about;
    int size = snprintf(path, sizeof path, "%s", folder);
    bool there = false;
    if (folder[0] != '/' || size >= (int)sizeof path)
        return false;
    for (int i = 0; i < LEVELS_MOST && !there; i++) {
        size = snprintf(repository, sizeof repository, "%s/.git", path);
        there = size > 0 && (size_t)size < sizeof repository && lstat(repository, &about) == 0;
        if (there)
            break;
        *strrchr(path, '/') = '\0';
        if (path[0] != '/')
            return false;
    }

    /* The folder that holds HEAD: that of the working tree, or of a linked one. */
    if (!there ||
        !(is_trusted_folder(repository) ||
          (read_path(path, ".git", "gitdir: ", repository) && is_trusted_folder(repository))))
        return false;
    struct buffer head = {.bytes = NULL};
    bool found = read_file(repository, "HEAD", SMALL, &head) &&
                 commit_parse(head.bytes, head.size, commit, name);
    buffer_done(&head);
    bool shares = read_path(repository, "commondir", "", common) && is_trusted_folder(common);
    for (int i = 0; i < NAMES_MOST && found && commit[0] == '\0'; i++)
        found = read_name(repository, name, commit) || (shares && read_name(common, name, commit));
    return found && commit[0] != '\0';
}
