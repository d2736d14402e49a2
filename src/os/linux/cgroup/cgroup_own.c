/* cgroup_own.c: makes, asks and removes a cgroup of our own. See cgroup_own.h.
 *
 * It is called vitals-PID-NUMBER, the number being that of the group in this process, and lies in
 * the cgroup that we are in, so that what limits us limits it.
 * Where daemons live on in it, it stays: moving them would be meddling. The next vitals that ends
 * in the same place removes it, once it is empty. */
#include "os/linux/cgroup/cgroup_own.h"

#include "util/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char PREFIX[] = "vitals-";

enum { MODE = 0755, FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW };

/* How many this process made, or one that it was forked of. */
static atomic_uint number_made;

static void close_files(struct own_group *group)
{
    for (size_t i = 0; i < OWN_FIGURES; i++) {
        if ((group->held >> i & 1) != 0)
            os_close_descriptor(group->files[i]);
    }
    group->held = 0;
}

static void close_all(struct own_group *group)
{
    close_files(group);
    os_close_descriptor(group->parent);
    os_close_descriptor(group->folder);
    group->parent = group->folder = -1;
}

int own_group_make(const struct os *os, const struct cgroup_place *place, struct own_group *out)
{
    struct own_group made = {.folder = -1, .maker = os_self()};
    if (!place->found || place->outer || os->sys < 0)
        return -ENOENT;
    made.parent = openat(os->sys, place->path.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (made.parent < 0)
        return -errno;
    (void)snprintf(made.name, sizeof made.name, "%s%lld-%u", PREFIX, (long long)made.maker,
                   atomic_fetch_add(&number_made, 1) + 1);
    int failed = mkdirat(made.parent, made.name, MODE) != 0 ? errno : 0;
    /* No other process has our pid, and no number comes twice: an earlier process with this pid
     * left it. */
    if (failed == EEXIST && unlinkat(made.parent, made.name, AT_REMOVEDIR) == 0)
        failed = mkdirat(made.parent, made.name, MODE) != 0 ? errno : 0;
    if (failed == 0) {
        made.folder = openat(made.parent, made.name, FOLDER);
        failed = made.folder < 0 ? errno : 0;
        if (failed != 0)
            (void)unlinkat(made.parent, made.name, AT_REMOVEDIR);
    }
    if (failed != 0) {
        linux_trace(os, "a cgroup of our own", failed);
        close_all(&made);
        return -failed;
    }
    *out = made;
    return 0;
}

int own_group_open(const struct os *os, const char *path, struct own_group *out)
{
    int folder = os->sys < 0 ? -1 : openat(os->sys, path, FOLDER);
    if (folder < 0)
        return -errno;
    *out = (struct own_group){.parent = -1, .folder = folder};
    return 0;
}

bool own_group_has(const struct own_group *group, const char *file)
{
    return faccessat(group->folder, file, R_OK, 0) == 0;
}

static int write_file(const struct os *os, const struct own_group *group, const char *file,
                      const char *text)
{
    int descriptor = openat(group->folder, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    int failed = 0;
    if (descriptor < 0 || write(descriptor, text, strlen(text)) < 0)
        failed = errno;
    os_close_descriptor(descriptor);
    if (failed != 0)
        linux_trace(os, file, failed);
    return -failed;
}

int own_group_limit(const struct os *os, const struct own_group *group, const char *file,
                    uint64_t number)
{
    char text[NUMBER_TEXT];
    number_print_u64(text, number);
    return write_file(os, group, file, text);
}

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * (long)NS_PER_MS};
    (void)nanosleep(&time, NULL);
}

bool own_group_kill(const struct os *os, const struct own_group *group)
{
    enum { ROUNDS = 20 };
    if (own_group_has(group, "cgroup.kill") && write_file(os, group, "cgroup.kill", "1") == 0)
        return true;
    /* A kernel before 5.14 has no cgroup.kill: each is signalled. The next round finds processes
     * that fork meanwhile. */
    for (int i = 0; i < ROUNDS; i++) {
        char text[16 * 1024];
        int64_t size = linux_read_line(os, group->folder, "cgroup.procs", text, sizeof text), pid;
        struct cursor at = cursor_over(text, size > 0 ? (size_t)size : 0);
        bool any = false;
        for (struct span line; cursor_line(&at, &line);) {
            struct cursor number = cursor_over(line.bytes, line.size);
            if (cursor_i64(&number, &pid) && pid > 1 && pid != os_self())
                any |= kill((pid_t)pid, SIGKILL) == 0;
        }
        if (!any)
            return true;
        pause_ms(1);
    }
    return false;
}

/* A folder has a link of each that is in it, and two of its own; some file systems count none. */
static bool has_folders(int folder)
{
    enum { OWN_LINKS = 2 };
    struct stat is;
    return fstat(folder, &is) != 0 || is.st_nlink != OWN_LINKS;
}

/* Removes a folder and the folders in it; the files of cgroups go with them. */
static int remove_tree(int parent, const char *name, unsigned depth)
{
    enum { DEPTH_MAX = 8 };
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
        return 0;
    int failed = errno;
    if (failed != EBUSY && failed != ENOTEMPTY)
        return -failed;
    int folder = depth < DEPTH_MAX ? openat(parent, name, FOLDER) : -1;
    DIR *stream = folder < 0 || !has_folders(folder) ? NULL : fdopendir(folder);
    if (stream == NULL) {
        os_close_descriptor(folder);
        return -failed;
    }
    bool any = false;
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            any |= remove_tree(folder, entry->d_name, depth + 1) == 0;
    }
    closedir(stream);
    if (any && unlinkat(parent, name, AT_REMOVEDIR) == 0)
        return 0;
    return -failed;
}

/* Removes those of a vitals that is no more: "vitals-PID-NUMBER", or "vitals-PID", which was a name
 * too. One that is not empty cannot be removed. */
static void remove_left(int parent)
{
    const size_t prefix = sizeof PREFIX - 1;
    if (!has_folders(parent))
        return; /* a list of its files costs as much as the group did */
    int copy = openat(parent, ".", FOLDER);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (stream == NULL) {
        os_close_descriptor(copy);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        const char *name = entry->d_name, *at = name + prefix;
        if (entry->d_type != DT_DIR || strncmp(name, PREFIX, prefix) != 0)
            continue;
        const char *end = at + strlen(at);
        uint64_t pid, number;
        bool is_ours = number_u64(&at, end, &pid) && pid > 0 && pid <= INT32_MAX &&
                       (at == end || (*at == '-' && number_is_u64(at + 1, &number)));
        if (is_ours && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            (void)remove_tree(parent, name, 0);
    }
    closedir(stream);
}

void own_group_remove(const struct os *os, struct own_group *group)
{
    enum { ROUNDS = 5 };
    close_files(group); /* sooner gone */
    if (group->parent >= 0 && group->maker == os_self()) {
        int code = remove_tree(group->parent, group->name, 0);
        for (int i = 0; i < ROUNDS && code == -EBUSY; i++) {
            char text[64];
            if (linux_read_line(os, group->folder, "cgroup.procs", text, sizeof text) > 0)
                break; /* a process lives in it */
            pause_ms(1);
            code = remove_tree(group->parent, group->name, 0);
        }
        if (code < 0)
            linux_trace(os, "the run's cgroup is left behind", -code);
        remove_left(group->parent);
    }
    close_all(group);
}
