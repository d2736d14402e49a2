/* sys_files.c: files, folders and links below the root of /sys, as text and numbers; the lists
 * below /usr/share; what a driver has in /proc and /dev.
 *
 * Callers interpret the files. Nothing here allocates memory: a folder is listed in passes, each of
 * which finds the next names in order. Thread rule: workers only, since a driver may block. */
#include "os/linux/lines.h"

#include "util/number.h"
#include "util/search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_below(const struct os *os, const char *path, int flags)
{
    return os->sys < 0 ? -ENOENT : linux_open(os, os->sys, path, flags);
}

/* ---- files ---- */

/* As much as there is room for. `at_once`: text comes whole where there is room, so that a short
 * read is its end; binary files come a page at a time. */
static int read_file(const struct os *os, const char *path, bool at_once, char *out,
                     size_t capacity, size_t *size)
{
    *size = 0;
    int descriptor = open_below(os, path, 0);
    if (descriptor < 0)
        return descriptor;
    int result = linux_read_bytes(descriptor, at_once, out, capacity, size);
    os_close_descriptor(descriptor);
    return result;
}

int os_sys_bytes(const struct os *os, const char *path, void *out, size_t capacity, size_t *size)
{
    return read_file(os, path, false, out, capacity, size);
}

static bool is_padding(char byte)
{
    return byte == '\n' || byte == '\0' || byte == ' ' || byte == '\t' || byte == '\r';
}

int os_sys_text(const struct os *os, const char *path, char *out, size_t capacity)
{
    size_t size;
    int result = read_file(os, path, true, out, capacity - 1, &size);
    if (result < 0 && result != -EFBIG)
        size = 0;
    while (size > 0 && is_padding(out[size - 1]))
        size--;
    out[size] = '\0';
    return result;
}

/* A number, and nothing but blanks behind it before the text goes on. */
enum { NUMBER_FILE = 64 };

static int read_number(const struct os *os, const char *path, char text[static NUMBER_FILE],
                       struct cursor *cursor)
{
    int result = os_sys_text(os, path, text, NUMBER_FILE);
    if (result < 0 && result != -EFBIG) // a number that is cut is none, one before other text is
        return result;
    *cursor = cursor_over(text, strlen(text));
    cursor_blanks(cursor);
    return 0;
}

static bool ends_here(const struct cursor *cursor)
{
    return cursor_done(cursor) || is_padding(*cursor->at);
}

int os_sys_u64(const struct os *os, const char *path, uint64_t *out)
{
    char text[NUMBER_FILE];
    struct cursor cursor;
    int result = read_number(os, path, text, &cursor);
    if (result < 0)
        return result;
    uint64_t number;
    bool hex = cursor.end - cursor.at > 2 && cursor.at[0] == '0' && cursor.at[1] == 'x';
    bool found = hex ? number_hex(&cursor.at, cursor.end, &number)
                     : number_u64(&cursor.at, cursor.end, &number);
    if (!found || !ends_here(&cursor))
        return -EBADMSG;
    *out = number;
    return 0;
}

int os_sys_i64(const struct os *os, const char *path, int64_t *out)
{
    char text[NUMBER_FILE];
    struct cursor cursor;
    int result = read_number(os, path, text, &cursor);
    if (result < 0)
        return result;
    int64_t number;
    if (!number_i64(&cursor.at, cursor.end, &number) || !ends_here(&cursor))
        return -EBADMSG;
    *out = number;
    return 0;
}

struct span linux_uevent(const struct os *os, const char *path, const char *key,
                         char text[static UEVENT_TEXT])
{
    int64_t size = os->sys < 0 ? 0 : linux_read_line(os, os->sys, path, text, UEVENT_TEXT);
    struct cursor at = cursor_over(text, size > 0 ? (size_t)size : 0);
    for (struct span line; cursor_line(&at, &line);) {
        struct cursor rest = cursor_over(line.bytes, line.size);
        if (cursor_literal(&rest, key) && cursor_literal(&rest, "="))
            return (struct span){rest.at, (size_t)(rest.end - rest.at)};
    }
    return (struct span){text, 0};
}

bool os_sys_exists(const struct os *os, const char *path)
{
    return os->sys >= 0 && faccessat(os->sys, path, F_OK, 0) == 0;
}

int os_sys_is_kept(const struct os *os, const char *root, const char *path)
{
    struct stat top, folder;
    if (os->sys < 0)
        return -ENOENT;
    if (fstatat(os->sys, path, &folder, 0) != 0 || fstatat(os->sys, root, &top, 0) != 0)
        return -errno;
    bool group = (folder.st_mode & S_IWGRP) != 0 && folder.st_gid != top.st_gid;
    return folder.st_uid == top.st_uid && !group && (folder.st_mode & S_IWOTH) == 0;
}

bool os_sys_hides(const struct os *os, int error)
{
    return error < 0 && error != -EFBIG && (error != -ENOENT || !os_sys_exists(os, "class"));
}

/* ---- folders ---- */

enum { ENTRIES_BYTES = 8 * 1024, NAMES_MAX = 16 * 1024 };

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The run of digits at *text, without zeros in front. */
static size_t digits(const char **text)
{
    while (**text == '0')
        (*text)++;
    size_t size = 0;
    while (is_digit((*text)[size]))
        size++;
    return size;
}

/* Runs of digits count as numbers; bytes decide between names that differ in zeros only. */
static int compare_names(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x != '\0' && *y != '\0') {
        if (!is_digit(*x) || !is_digit(*y)) {
            if (*x != *y)
                return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
            x++, y++;
            continue;
        }
        size_t left = digits(&x), right = digits(&y);
        int order = left != right ? (left < right ? -1 : 1) : memcmp(x, y, left);
        if (order != 0)
            return order;
        x += left, y += right;
    }
    if (*x != *y)
        return *x == '\0' ? -1 : 1;
    return strcmp(a, b);
}

static bool is_name_before(const void *item, const void *name)
{
    return compare_names(item, name) < 0;
}

static int keep_name(struct span name, void *data)
{
    struct os_sys_names *pass = data;
    char text[OS_SYS_NAME];
    if (name.size == 0 || name.bytes[0] == '.')
        return 0;
    if (name.size >= sizeof text) {
        pass->skipped = true;
        return 0;
    }
    memcpy(text, name.bytes, name.size);
    text[name.size] = '\0';
    if (pass->last[0] != '\0' && compare_names(text, pass->last) <= 0)
        return 0;

    size_t place = search_place(pass->names, pass->count, OS_SYS_NAME, text, is_name_before);
    if (place < pass->count && compare_names(pass->names[place], text) == 0)
        return 0; // listed twice while the folder changed
    pass->more |= pass->count == OS_SYS_PASS;
    if (place == OS_SYS_PASS)
        return 0;

    size_t kept = size_min(pass->count, OS_SYS_PASS - 1);
    memmove(pass->names[place + 1], pass->names[place], (kept - place) * OS_SYS_NAME);
    memcpy(pass->names[place], text, name.size + 1);
    pass->count = kept + 1;
    return 0;
}

/* Reads the next names, which come behind `last`. */
static void read_pass(struct os_sys_names *names)
{
    alignas(8) char entries[ENTRIES_BYTES];
    if (names->seen >= NAMES_MAX) {
        names->result = -EFBIG;
        return;
    }
    names->count = names->at = 0;
    names->more = false;
    int folder = open_below(names->os, names->path, O_DIRECTORY);
    names->result = folder < 0
                        ? folder
                        : linux_entries_each(folder, entries, sizeof entries, keep_name, names);
    os_close_descriptor(folder);
    if (names->result < 0)
        names->count = 0;
    if (names->count > 0)
        memcpy(names->last, names->names[names->count - 1], OS_SYS_NAME);
    names->seen += names->count;
}

void os_sys_names(struct os_sys_names *names, const struct os *os, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(names->path, sizeof names->path, format, arguments);
    va_end(arguments);
    names->os = os;
    names->more = true;
    names->skipped = false;
    names->at = names->count = names->seen = 0;
    names->last[0] = '\0';
    names->result = size < 0 || (size_t)size >= sizeof names->path ? -ENAMETOOLONG : 0;
}

const char *os_sys_next(struct os_sys_names *names)
{
    if (names->at == names->count && names->more && names->result == 0)
        read_pass(names);
    if (names->at < names->count)
        return names->names[names->at++];
    if (names->result == 0 && names->skipped)
        names->result = -EFBIG;
    return NULL;
}

/* ---- links ---- */

int os_sys_link(const struct os *os, const char *path, char *out, size_t capacity)
{
    out[0] = '\0';
    if (os->sys < 0)
        return -ENOENT;
    ssize_t size = readlinkat(os->sys, path, out, capacity);
    if (size < 0 || (size_t)size >= capacity) {
        int number = size < 0 ? errno : ENAMETOOLONG;
        out[0] = '\0';
        return -number;
    }
    out[size] = '\0';
    return 0;
}

enum { LINKS_MAX = 40 };

/* A path on its way: what is resolved, and what is still to be walked. */
struct sys_files_walk {
    size_t size;
    char done[OS_SYS_PATH];
    char rest[OS_SYS_PATH];
};

static int go_up(struct sys_files_walk *walk)
{
    if (walk->size == 0)
        return -EXDEV;
    while (walk->size > 0 && walk->done[--walk->size] != '/')
        continue;
    walk->done[walk->size] = '\0';
    return 0;
}

int os_sys_real(const struct os *os, const char *path, char *out, size_t capacity)
{
    struct sys_files_walk walk = {0};
    char part[OS_SYS_PATH], target[OS_SYS_PATH];
    unsigned links = 0;
    int result = 0;
    out[0] = '\0';
    if (strlen(path) >= sizeof walk.rest)
        return -ENAMETOOLONG;
    memcpy(walk.rest, path, strlen(path) + 1);
    while (result == 0) {
        // Takes the first part off the rest.
        const char *at = walk.rest + strspn(walk.rest, "/");
        size_t size = strcspn(at, "/"), slash = walk.size > 0;
        if (size == 0)
            break;
        memcpy(part, at, size);
        part[size] = '\0';
        memmove(walk.rest, at + size, strlen(at + size) + 1);
        if (strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0) {
            result = go_up(&walk);
            continue;
        }
        if (walk.size + slash + size >= sizeof walk.done)
            return -ENAMETOOLONG;
        if (slash)
            walk.done[walk.size] = '/';
        memcpy(walk.done + walk.size + slash, part, size + 1);
        walk.size += slash + size;

        // A link's text takes the place of the part.
        int linked = os_sys_link(os, walk.done, target, sizeof target);
        if (linked == -EINVAL) // it is there, and no link
            continue;
        if (linked < 0 || ++links > LINKS_MAX)
            return linked < 0 ? linked : -ELOOP;
        size_t length = strlen(target), rest = strlen(walk.rest);
        if (target[0] == '/')
            return -EXDEV;
        if (length + 1 + rest >= sizeof walk.rest)
            return -ENAMETOOLONG;
        memmove(walk.rest + length + 1, walk.rest, rest + 1);
        memcpy(walk.rest, target, length);
        walk.rest[length] = '/';
        result = go_up(&walk);
    }
    if (result == 0 && walk.size >= capacity)
        result = -ENAMETOOLONG;
    if (result == 0)
        memcpy(out, walk.done, walk.size + 1);
    return result;
}

/* ---- other trees ---- */

int os_proc_text(const struct os *os, const char *path, char *out, size_t capacity)
{
    int64_t size = linux_read_line(os, os->proc, path, out, capacity);
    return size < 0 ? (int)size : 0;
}

int os_dev_access(const struct os *os, const char *path)
{
    if (os->dev < 0)
        return -ENOENT;
    return faccessat(os->dev, path, R_OK | W_OK, AT_EACCESS) < 0 ? -errno : 0;
}

int os_share_lines(const struct os *os, const char *path,
                   void (*take)(struct span line, void *data), void *data)
{
    return os->share < 0 ? -ENOENT : lines_each(os, os->share, path, take, data);
}
