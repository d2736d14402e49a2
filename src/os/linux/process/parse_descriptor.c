/* parse_descriptor.c: what /proc/PID/fd and fdinfo say of a descriptor. Pure. */
#include "os/linux/process/process_tables.h"

#include <fcntl.h>
#include <string.h>

static bool take_octal(struct cursor *cursor, uint64_t *out)
{
    cursor_blanks(cursor);
    const char *from = cursor->at;
    uint64_t number = 0;
    for (; !cursor_done(cursor) && *cursor->at >= '0' && *cursor->at <= '7'; cursor->at++) {
        if (number >> 61 != 0)
            return false;
        number = number << 3 | (uint64_t)(*cursor->at - '0');
    }
    *out = number;
    return cursor->at != from && cursor_done(cursor);
}

/* Signed as the kernel prints it: an address in /proc/PID/mem may lie in the upper half. */
static bool take_position(struct cursor *cursor, uint64_t *out)
{
    if (cursor_u64(cursor, out))
        return cursor_done(cursor);
    int64_t below;
    if (!cursor_i64(cursor, &below) || !cursor_done(cursor))
        return false;
    *out = (uint64_t)below;
    return true;
}

static bool take_number(struct cursor *cursor, uint64_t *out)
{
    return cursor_u64(cursor, out) && cursor_done(cursor);
}

static const struct {
    const char *label;
    bool (*take)(struct cursor *cursor, uint64_t *out);
    size_t place;
    unsigned bit;
} LINES[] = {
    {"pos:", take_position, offsetof(struct linux_fdinfo, position), FDINFO_POSITION},
    {"flags:", take_octal, offsetof(struct linux_fdinfo, flags), FDINFO_FLAGS},
    {"size:", take_number, offsetof(struct linux_fdinfo, size), FDINFO_SIZE},
    {"ino:", take_number, offsetof(struct linux_fdinfo, inode), FDINFO_INODE},
};

/* The first line of each: what a driver adds comes behind the kernel's own. */
void linux_parse_fdinfo(const char *bytes, size_t size, struct linux_fdinfo *out)
{
    *out = (struct linux_fdinfo){0};
    struct cursor cursor = cursor_over(bytes, size);
    for (struct span line; cursor_line(&cursor, &line);) {
        if (line.bytes + line.size == bytes + size)
            return; // no newline: it may have been cut
        for (size_t i = 0; i < ARRAY_COUNT(LINES); i++) {
            struct cursor rest = cursor_over(line.bytes, line.size);
            uint64_t number;
            if ((out->has & LINES[i].bit) != 0 || !cursor_literal(&rest, LINES[i].label) ||
                !LINES[i].take(&rest, &number))
                continue;
            memcpy((char *)out + LINES[i].place, &number, sizeof number);
            out->has |= LINES[i].bit;
        }
    }
}

const char *linux_descriptor_mode(uint64_t flags)
{
    bool appends = (flags & O_APPEND) != 0;
    if ((flags & O_PATH) != 0)
        return "-";
    switch (flags & O_ACCMODE) {
    case O_RDONLY: return "r";
    case O_WRONLY: return appends ? "a" : "w";
    case O_RDWR: return appends ? "a+" : "r+";
    default: return "-"; // 3: only ioctl, as some drivers want it
    }
}

struct descriptor_kind {
    const char *text; /* how it begins */
    const char *type;
};

/* Files without a path. Kernels write "anon_inode:[eventfd]" and "anon_inode:inotify" alike. */
static const struct descriptor_kind KINDS[] = {
    {"pipe:[", "pipe"},        {"socket:[", "socket"}, {"pidfd:[", "pidfd"},
    {"cgroup:[", "namespace"}, {"ipc:[", "namespace"}, {"mnt:[", "namespace"},
    {"net:[", "namespace"},    {"pid:[", "namespace"}, {"time:[", "namespace"},
    {"user:[", "namespace"},   {"uts:[", "namespace"},
};

static const struct descriptor_kind ANONYMOUS[] = {
    {"eventfd", "eventfd"},   {"eventpoll", "eventpoll"},   {"timerfd", "timerfd"},
    {"signalfd", "signalfd"}, {"inotify", "inotify"},       {"fanotify", "fanotify"},
    {"pidfd", "pidfd"},       {"io_uring", "io_uring"},     {"bpf", "bpf"},
    {"btf", "bpf"},           {"perf_event", "perf_event"},
};

static const char *type_in(const struct descriptor_kind *kinds, size_t count, struct span text)
{
    for (size_t i = 0; i < count; i++)
        if (span_starts(text, kinds[i].text))
            return kinds[i].type;
    return "other";
}

const char *linux_descriptor_type(struct span text)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    struct span path;
    if (span_starts(text, "/dmabuf:"))
        return "dmabuf";
    // Always "deleted", and its name is what follows.
    if (span_starts(text, "/memfd:") && linux_ends_deleted(text, &path))
        return "memfd";
    if (span_starts(text, "/"))
        return NULL;
    if (!cursor_literal(&cursor, "anon_inode:"))
        return type_in(KINDS, ARRAY_COUNT(KINDS), text);
    cursor_literal(&cursor, "[");
    struct span name = {cursor.at, (size_t)(cursor.end - cursor.at)};
    return type_in(ANONYMOUS, ARRAY_COUNT(ANONYMOUS), name);
}

bool linux_descriptor_inode(struct span text, uint64_t *inode)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    if (!cursor_literal(&cursor, "socket:[") && !cursor_literal(&cursor, "pipe:["))
        return false;
    return cursor_u64(&cursor, inode) && cursor_literal(&cursor, "]") && cursor_done(&cursor);
}
