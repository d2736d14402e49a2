/* select_lock.c: see select.h.
 *
 * The folder is shared and untrusted: others may have put links, pipes or files there. So no link
 * is followed, only a plain file with one name is accepted, and every user that may open it may
 * lock it: as with any shared lock, a user can keep others off a device. In a sticky folder the
 * kernel refuses O_CREAT for an existing file of another user (fs.protected_regular), so the file
 * is first opened and only then created. */
#include "command/devices/select.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int lock_folder_open(const struct settings *settings)
{
    const char *path = settings->select.lock_folder;
    struct stat status;
    if (path == NULL) {
        bool shared = lstat("/run/lock", &status) == 0 && S_ISDIR(status.st_mode) &&
                      status.st_uid == 0 && (status.st_mode & S_ISVTX) &&
                      (status.st_mode & S_IWOTH);
        path = shared ? "/run/lock" : "/tmp";
    }
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        (void)command_fail(0, "%s: %s; --lock-folder names another place for locks",
                           command_safe(path), strerror(errno));
    return folder;
}

/* Writes a name such as "vitals-GPU-8932f937.lock"; characters that are invalid in a file name
 * become dashes. */
static void name_of(const char *uuid, char out[static LOCK_NAME])
{
    static const char FINE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t used = (size_t)snprintf(out, LOCK_NAME, "vitals-%.96s.lock", uuid);
    for (size_t i = 0; i + sizeof ".lock" - 1 < used; i++)
        out[i] = strchr(FINE, out[i]) != NULL ? out[i] : '-';
}

void lock_complain(const char *uuid, int error)
{
    char name[LOCK_NAME];
    name_of(uuid, name);
    const char *why = error == -ELOOP    ? "a link, where a lock should be"
                      : error == -EINVAL ? "not a plain file, as a lock should be"
                                         : strerror(-error);
    (void)command_fail(0, "%s: %s", name, why);
}

/* Accepts a plain file that has no other name. */
static int check(int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1)
        return descriptor;
    close(descriptor);
    return -EINVAL;
}

/* O_NONBLOCK: opening a pipe must not wait for its other end. */
static int open_there(int folder, const char *name)
{
    return openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

int lock_is_held(int folder, const char *uuid)
{
    char name[LOCK_NAME];
    struct flock lock = whole_file();
    name_of(uuid, name);
    int descriptor = open_there(folder, name);
    if (descriptor < 0)
        return errno == ENOENT ? 0 : -errno;
    descriptor = check(descriptor);
    if (descriptor < 0)
        return descriptor;
    int held = fcntl(descriptor, F_OFD_GETLK, &lock) == 0 ? lock.l_type != F_UNLCK : -errno;
    close(descriptor);
    return held;
}

int lock_take(int folder, const char *uuid)
{
    char name[LOCK_NAME];
    struct flock lock = whole_file();
    struct stat own, named;
    name_of(uuid, name);
    int descriptor = open_there(folder, name);
    if (descriptor < 0 && errno == ENOENT) {
        descriptor = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor >= 0)
            (void)fchmod(descriptor, 0666); /* for all users, whatever the umask */
        else if (errno == EEXIST)
            descriptor = open_there(folder, name);
    }
    descriptor = descriptor < 0 ? -errno : check(descriptor);
    if (descriptor < 0)
        return descriptor;

    /* Checks that the name still leads to this file: its owner may have replaced it in between. */
    int result = fcntl(descriptor, F_OFD_SETLK, &lock);
    if (result == 0 && fstat(descriptor, &own) == 0 &&
        fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && own.st_dev == named.st_dev &&
        own.st_ino == named.st_ino)
        return descriptor;
    bool taken = result == 0 || errno == EAGAIN || errno == EACCES;
    result = taken ? -EAGAIN : -errno;
    close(descriptor);
    return result;
}

bool lock_keep(int descriptor)
{
    int flags = fcntl(descriptor, F_GETFD);
    return flags >= 0 && fcntl(descriptor, F_SETFD, flags & ~FD_CLOEXEC) == 0;
}
