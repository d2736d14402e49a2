/* gpu_opens.c: which descriptors of a process are those of DRM and accel devices, and their fdinfo.
 *
 * The major number identifies such a device, for a container may name its nodes as it likes. But a
 * stat of a link of /proc/PID/fd goes to the file system that it lies on, and some (9p) then ask a
 * server: so the link's text is read first, which needs no server, and only a path below /dev or
 * with the name of such a device is looked at, with AT_STATX_DONT_SYNC. A node that was put
 * elsewhere under another name is not found. In a tree of files the links lead nowhere: there /sys
 * maps the name to its numbers. Thread rule: any thread; a struct os_gpu_opens belongs to one. */
#include "os/linux/process/process_tables.h"

#include "util/memory.h"
#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum { DESCRIPTORS_MAX = 1 << 18, LINK_TEXT = 256 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* By its name. */
static bool may_be_device(const char *path)
{
    static const char *const NAMES[] = {"card", "renderD", "controlD", "accel"};
    static const char *const OTHERS[] = {"/dev/null", "/dev/pts/", "/dev/tty", "/dev/shm/",
                                         "/dev/urandom"};
    if (path[0] != '/')
        return false; // socket:[1], anon_inode:…
    for (size_t i = 0; i < ARRAY_COUNT(OTHERS); i++)
        if (strncmp(path, OTHERS[i], strlen(OTHERS[i])) == 0)
            return false;
    if (strncmp(path, "/dev/", 5) == 0)
        return true;
    const char *name = last_part(path);
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        size_t size = strlen(NAMES[i]);
        if (strncmp(name, NAMES[i], size) == 0 && name[size] >= '0' && name[size] <= '9')
            return true;
    }
    return false;
}

static bool is_procfs(const struct os *os, struct os_gpu_opens *opens)
{
    struct statfs status;
    if (!opens->is_asked)
        opens->is_procfs = fstatfs(os->proc, &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
    opens->is_asked = true;
    return opens->is_procfs;
}

/* "226:128". */
static bool ask_sys(const struct os *os, const char *class, const char *path,
                    struct os_gpu_open *out)
{
    char file[LINK_TEXT + 32], text[NUMBER_TEXT * 2];
    snprintf(file, sizeof file, "class/%s/%s/dev", class, last_part(path));
    if (os_sys_text(os, file, text, sizeof text) < 0)
        return false;
    struct cursor cursor = cursor_over(text, strlen(text));
    uint64_t major, minor;
    if (!number_u64(&cursor.at, cursor.end, &major) || !cursor_literal(&cursor, ":") ||
        !number_u64(&cursor.at, cursor.end, &minor) || major > UINT32_MAX || minor > UINT32_MAX)
        return false;
    out->major = (uint32_t)major;
    out->minor = (uint32_t)minor;
    return true;
}

int os_gpu_opens_read(const struct os *os, int64_t pid, struct os_gpu_opens *out)
{
    out->count = out->numbers.count = 0;
    int folder = linux_process_open(os, pid, "fd", O_DIRECTORY);
    if (folder < 0)
        return folder;
    bool cut; // beyond the cap a process is not listed whole, which costs it its newest descriptors
    int result = linux_numbers_read(folder, DESCRIPTORS_MAX, &out->numbers, &cut);

    size_t denied = 0;
    for (size_t i = 0; i < out->numbers.count && result == 0; i++) {
        char name[NUMBER_TEXT], path[LINK_TEXT];
        struct os_gpu_open open = {.descriptor = (uint64_t)out->numbers.items[i]};
        number_print_u64(name, open.descriptor);
        ssize_t size = readlinkat(folder, name, path, sizeof path - 1);
        denied += size < 0 && os_availability(errno) == VITALS_DENIED;
        if (size <= 0)
            continue; // one that is closed meanwhile is none
        path[size] = '\0';
        if (!may_be_device(path))
            continue;
        struct statx status;
        bool found;
        if (!is_procfs(os, out)) {
            found = ask_sys(os, "drm", path, &open) || ask_sys(os, "accel", path, &open);
        } else {
            found = linux_statx(folder, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE,
                                &status) == 0 &&
                    S_ISCHR(status.stx_mode);
            open.major = status.stx_rdev_major;
            open.minor = status.stx_rdev_minor;
        }
        if (!found || (open.major != OS_DRM_MAJOR && open.major != OS_ACCEL_MAJOR))
            continue;
        if (MEMORY_GROW(out->items, out->capacity, out->count) < 0) {
            result = -ENOMEM;
            break;
        }
        out->items[out->count++] = open;
    }
    // The folder may be listed where none of its links may be read: a process that is protected
    // even from root.
    if (result == 0 && denied != 0 && denied == out->numbers.count)
        result = -EACCES;
    os_close_descriptor(folder);
    return result;
}

uint64_t os_descriptor_count(const struct os *os, int64_t pid, struct os_gpu_opens *opens)
{
    char path[PROCESS_PATH];
    struct stat status;
    bool told = is_procfs(os, opens) && linux_process_path(path, pid, "fd") &&
                fstatat(os->proc, path, &status, 0) == 0 && status.st_size > 0;
    return told ? (uint64_t)status.st_size : 0;
}

void os_gpu_opens_done(struct os_gpu_opens *opens)
{
    memory_free(opens->items);
    os_pids_done(&opens->numbers);
    *opens = (struct os_gpu_opens){0};
}

int os_gpu_fdinfo(const struct os *os, int64_t pid, uint64_t descriptor, char *out, size_t capacity,
                  size_t *size)
{
    char name[NUMBER_TEXT + 8] = "fdinfo/";
    number_print_u64(name + strlen(name), descriptor);
    *size = 0;
    int file = linux_process_open(os, pid, name, 0);
    if (file < 0)
        return file;
    int64_t got = linux_read(file, out, capacity, 0);
    os_close_descriptor(file);
    if (got < 0)
        return (int)got;
    *size = (size_t)got;
    bool is_cut = *size == capacity;
    while (is_cut && *size > 0 && out[*size - 1] != '\n')
        --*size; // half a number would be a wrong one
    return 0;
}
