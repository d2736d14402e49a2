/* marks.c: the file of marks. See os/marks.h.
 *
 * A run holds a lock of its file (flock), which the kernel lets go of when it dies: what is not
 * locked was left behind. Thread rule: one thread at a time. */
#include "os/marks.h"
#include "os/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/memory.h"

static const char PREFIX[] = "marks-";

/* A folder of our user that no other user can write to; negative errno. */
static int open_folder(const char *path)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    struct stat is;
    int folder = open(path, flags); /* mostly it is there */
    if (folder < 0 && errno == ENOENT && (mkdir(path, 0700) == 0 || errno == EEXIST))
        folder = open(path, flags);
    if (folder < 0)
        return -errno;
    if (fstat(folder, &is) == 0 && is.st_uid == geteuid() && (is.st_mode & 0077) == 0)
        return folder;
    close(folder);
    return -EACCES;
}

/* Its path goes to `out`; *alone: it is of this run alone. */
static int find_folder(const char *runtime, char *out, size_t capacity, bool *alone)
{
    int folder = -ENOENT;
    *alone = false;
    struct stat is; /* sudo may leave us another user's */
    if (runtime != NULL && runtime[0] == '/' && stat(runtime, &is) == 0 && is.st_uid == geteuid() &&
        snprintf(out, capacity, "%s/vitals", runtime) < (int)capacity)
        folder = open_folder(out);
    if (folder < 0) {
        (void)snprintf(out, capacity, "/tmp/vitals-%lu", (unsigned long)geteuid());
        folder = open_folder(out);
    }
    if (folder >= 0 || folder == -EMFILE || folder == -ENFILE)
        return folder;
    /* Another user has that name: make one for this run alone. */
    (void)snprintf(out, capacity, "/tmp/vitals-XXXXXX");
    *alone = true;
    folder = mkdtemp(out) != NULL ? open_folder(out) : -errno;
    if (folder < 0)
        (void)rmdir(out);
    return folder;
}

/* 0 where the clock was set meanwhile. */
static uint64_t age_of(struct timespec written)
{
    const vitals_clock *clock = os_clock();
    uint64_t now = clock->realtime_ns(clock->data);
    uint64_t then = (uint64_t)written.tv_sec * NS_PER_SECOND + (uint64_t)written.tv_nsec;
    return now > then ? now - then : 0;
}

/* EEXIST: before it was locked, another run took it for a stale one and removed it. */
static int make_file(int folder, const char *name, struct stat *is)
{
    int file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return -errno;
    int failed = flock(file, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
    if (failed == EWOULDBLOCK)
        failed = EEXIST;
    if (failed == 0 && (fstat(file, is) != 0 || is->st_nlink == 0))
        failed = EEXIST;
    if (failed == 0)
        return file;
    if (failed != EEXIST)
        (void)unlinkat(folder, name, 0);
    close(file);
    return -failed;
}

int os_marks_make(struct os_marks *out, const char *runtime_folder)
{
    enum { ROOM = 64 /* for the file's own name */, TRIES = 16 };
    const struct os nowhere = {.clock = *os_clock()};
    *out = (struct os_marks){.held = -1};
    int folder = find_folder(runtime_folder, out->path, sizeof(out->path) - ROOM, &out->alone);
    if (folder < 0)
        return folder;
    size_t used = strlen(out->path);
    struct stat is;
    int file = -EEXIST;
    for (int i = 0; i < TRIES && file == -EEXIST; i++) {
        char name[48];
        (void)snprintf(name, sizeof(name), "%s%ld-%016llx", PREFIX, (long)getpid(),
                       (unsigned long long)os_random(&nowhere));
        int more = snprintf(out->path + used, sizeof(out->path) - used, "/%s", name);
        bool fits = more >= 0 && used + (size_t)more < sizeof(out->path);
        file = fits ? make_file(folder, name, &is) : -ENAMETOOLONG;
    }
    close(folder);
    if (file < 0) {
        out->path[0] = '\0';
        return file;
    }
    out->device = is.st_dev;
    out->inode = is.st_ino;
    out->held = file;
    return 0;
}

int os_marks_use(struct os_marks *out, const char *path)
{
    const int flags = O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat is;
    *out = (struct os_marks){.held = -1};
    if (strlen(path) >= sizeof(out->path))
        return -ENAMETOOLONG;
    int file = open(path, flags, 0600);
    if (file < 0)
        return -errno;
    int failed = fstat(file, &is) != 0 ? errno : S_ISREG(is.st_mode) ? 0 : EINVAL;
    if (failed == 0 && file_is_privileged() && file_distrust(&is) != NULL)
        failed = EPERM;
    if (failed != 0) {
        close(file);
        return -failed;
    }
    (void)snprintf(out->path, sizeof(out->path), "%s", path);
    out->borrowed = true;
    out->begins_at = (uint64_t)is.st_size;
    out->device = is.st_dev;
    out->inode = is.st_ino;
    out->held = file;
    return 0;
}

void os_marks_tidy(const struct os_marks *marks)
{
    enum { LOOKED_AT = 256 }; // the rest is for the next run
    char path[OS_MARKS_PATH];
    const char *slash = strrchr(marks->path, '/');
    if (marks->held < 0 || slash == NULL)
        return;
    (void)snprintf(path, sizeof(path), "%.*s", (int)(slash - marks->path), marks->path);
    int folder = open_folder(path);
    DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
    if (entries == NULL) {
        os_close_descriptor(folder);
        return;
    }
    const struct dirent *entry;
    for (int i = 0; i < LOOKED_AT && (entry = readdir(entries)) != NULL; i++) {
        const char *name = entry->d_name;
        bool hidden = name[0] == '.';
        if (strncmp(name + hidden, PREFIX, sizeof(PREFIX) - 1) != 0)
            continue;
        int file = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (file < 0)
            continue;
        /* The lock of a killed run is free. A hidden file was left by an earlier vitals, which
         * locked it under that name before it renamed it. */
        struct stat is;
        bool in_the_making = hidden &&
                             (fstat(file, &is) != 0 || age_of(is.st_mtim) < 60 * NS_PER_SECOND);
        if (!in_the_making && flock(file, LOCK_EX | LOCK_NB) == 0)
            (void)unlinkat(folder, name, 0);
        close(file);
    }
    closedir(entries);
}

void os_marks_remove(struct os_marks *marks)
{
    struct stat is;
    if (marks->held < 0)
        return;
    if (!marks->borrowed && lstat(marks->path, &is) == 0 && S_ISREG(is.st_mode))
        (void)unlink(marks->path);
    close(marks->held);
    marks->held = -1;
    char *name = strrchr(marks->path, '/');
    if (marks->alone && name != NULL) {
        *name = '\0';
        (void)rmdir(marks->path);
        *name = '/';
    }
}

static const char VARIABLE[] = "VITALS_MARKS=";

/* The text of the variable stands behind the array. */
const char **os_marks_environment(const struct os_marks *marks, const char *const *base)
{
    size_t count = 0, size = sizeof(VARIABLE) + sizeof(marks->path), used = 0;
    if (base == NULL)
        base = (const char *const *)environ;
    while (base[count] != NULL)
        count++;
    const char **result = memory_alloc((count + 2) * sizeof(*result) + size);
    if (result == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_old = strncmp(base[i], VARIABLE, sizeof(VARIABLE) - 1) == 0;
        if (!is_old || marks->held < 0)
            result[used++] = base[i];
    }
    char *text = (char *)(result + count + 2);
    if (marks->held >= 0) {
        (void)snprintf(text, size, "%s%s", VARIABLE, marks->path);
        result[used++] = text;
    }
    result[used] = NULL;
    return result;
}

int os_marks_open(const struct os_marks *marks, struct os_marks_reader *out)
{
    struct stat is;
    *out = (struct os_marks_reader){.file = -1, .watch = -1};
    /* A borrowed file is only read: its pages are not given back. */
    int rights = marks->borrowed ? O_RDONLY : O_RDWR;
    int file = open(marks->path, rights | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    if (fstat(file, &is) != 0 || is.st_dev != marks->device || is.st_ino != marks->inode) {
        close(file);
        return -ESTALE;
    }
    out->file = file;
    out->at = out->freed = marks->begins_at;
    return 0;
}

int os_marks_watch(struct os_marks_reader *reader)
{
    char path[32];
    if (reader->watch >= 0 || reader->file < 0)
        return reader->watch;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", reader->file);
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch >= 0 && inotify_add_watch(watch, path, IN_MODIFY) < 0) {
        close(watch);
        watch = -1;
    }
    reader->watch = watch;
    return watch;
}

void os_marks_close(struct os_marks_reader *reader)
{
    os_close_descriptor(reader->file);
    os_close_descriptor(reader->watch);
    reader->file = reader->watch = -1;
}

struct os_marks_reading os_marks_read(struct os_marks_reader *reader, char *out, size_t capacity)
{
    enum { AT_ONCE = 1 << 20, KEPT = 1 << 16 };
    struct stat is;
    struct os_marks_reading reading = {0};
    char events[4096], now[OS_MARKS_TAIL];
    while (reader->watch >= 0 && read(reader->watch, events, sizeof(events)) > 0)
        ; /* they say no more than that there is something */
    if (fstat(reader->file, &is) != 0)
        return (struct os_marks_reading){.size = -errno};
    reading.age_ns = age_of(is.st_mtim);

    /* The bytes that were read last are still at the same place, unless the file was truncated by >
     * instead of >>. */
    size_t tail = reader->tail_size;
    if ((uint64_t)is.st_size < reader->at ||
        pread(reader->file, now, tail, (off_t)(reader->at - tail)) != (ssize_t)tail ||
        memcmp(now, reader->tail, tail) != 0) {
        reading.again = true;
        reader->at = reader->freed = 0;
        reader->tail_size = 0;
    }
    do
        reading.size = pread(reader->file, out, capacity, (off_t)reader->at);
    while (reading.size < 0 && errno == EINTR);
    if (reading.size < 0)
        return (struct os_marks_reading){.size = -errno};
    size_t size = (size_t)reading.size, new = size_min(size, OS_MARKS_TAIL);
    size_t kept = size_min(reader->tail_size, OS_MARKS_TAIL - new);
    reader->at += size;
    reading.left = (uint64_t)is.st_size > reader->at ? (uint64_t)is.st_size - reader->at : 0;
    memmove(reader->tail, reader->tail + reader->tail_size - kept, kept);
    memcpy(reader->tail + kept, out + size - new, new);
    reader->tail_size = kept + new;

    /* Frees the blocks of marks that were read, as the folder is often in memory and a run may make
     * marks for days. If the file system cannot do that, the file grows. */
    if (reader->at - reader->freed >= AT_ONCE + KEPT) {
        uint64_t until = (reader->at - KEPT) / KEPT * KEPT;
        (void)fallocate(reader->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)reader->freed, (off_t)(until - reader->freed));
        reader->freed = until;
    }
    return reading;
}
