/* text_file.c: see format.h. */
#include "record/format.h"
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAST_PATIENCE_MS = 1000 };

static int refuse(struct text_file *file, int code, const char *what, vitals_error *error)
{
    text_file_close(file);
    return record_fail(code, file->path, error, "%s", what);
}

int text_file_open(struct text_file *file, const char *path, bool overwrite, vitals_error *error)
{
    struct stat status;
    *file = (struct text_file){.descriptor = -1, .crlf = file->crlf, .stop = file->stop};
    file->standard = path == NULL || strcmp(path, "-") == 0;
    file->path = file->standard ? "standard output" : path;
    file->descriptor = file->standard ? STDOUT_FILENO : file_open_or_make(path, O_APPEND);
    if (file->descriptor < 0)
        return record_fail_errno(errno, path, error);
    bool known = fstat(file->descriptor, &status) == 0;
    file->waits = !known || !S_ISREG(status.st_mode);
    if (file->standard)
        return 0;
    if (!known)
        return refuse(file, VITALS_ESYSTEM, strerror(errno), error);
    if (S_ISREG(status.st_mode) && status.st_size > 0 && !overwrite)
        return refuse(file, VITALS_EARGUMENT, "exists and is not empty", error);
    if (S_ISREG(status.st_mode) && ftruncate(file->descriptor, 0) != 0)
        return refuse(file, VITALS_ESYSTEM, strerror(errno), error);
    return 0;
}

void text_file_put(struct text_file *file, const char *string)
{
    buffer_string(&file->line, string);
}

void text_file_field(struct text_file *file, const char *string, bool quote)
{
    if (!quote && strpbrk(string, ",\"\r\n") == NULL) {
        text_file_put(file, string);
        return;
    }
    buffer_byte(&file->line, '"');
    for (const char *at = string; *at != '\0'; at++) {
        if (*at == '"')
            buffer_byte(&file->line, '"');
        buffer_byte(&file->line, *at);
    }
    buffer_byte(&file->line, '"');
}

/* Waits until the descriptor can be written; at most LAST_PATIENCE_MS after `stop` has become
 * readable. Returns 0, or ETIMEDOUT if the reader took nothing. */
static int wait_for_room(const struct text_file *file)
{
    struct pollfd either[] = {{.fd = file->descriptor, .events = POLLOUT},
                              {.fd = file->stop, .events = POLLIN}};
    int ready;
    do
        ready = poll(either, 2, -1);
    while (ready < 0 && errno == EINTR);
    if (ready < 0 || either[0].revents != 0)
        return 0;
    do
        ready = poll(either, 1, LAST_PATIENCE_MS);
    while (ready < 0 && errno == EINTR);
    return ready == 0 ? ETIMEDOUT : 0;
}

int text_file_end_line(struct text_file *file, vitals_error *error)
{
    const bool waits = file->waits && file->stop > 0;
    text_file_put(file, file->crlf ? "\r\n" : "\n");
    size_t size = file->line.failed ? 0 : file->line.size, done = 0;
    bool failed = file->line.failed;
    int number = 0;
    while (done < size && number == 0) {
        number = waits ? wait_for_room(file) : 0;
        /* A pipe with room takes PIPE_BUF bytes without blocking. */
        size_t most = waits && size - done > PIPE_BUF ? PIPE_BUF : size - done;
        ssize_t written = number == 0 ? write(file->descriptor, file->line.bytes + done, most) : 0;
        if (written < 0 && errno != EINTR)
            number = errno;
        done += written > 0 ? (size_t)written : 0;
    }
    buffer_reset(&file->line);
    if (failed)
        return record_no_memory(file->path, error);
    if (number == 0) {
        file->size += size;
        return 0;
    }
    if (number == ETIMEDOUT && file->waits)
        return record_fail(VITALS_ESYSTEM, file->path, error, "accepts no more data");
    if (!file->standard && ftruncate(file->descriptor, (off_t)file->size) != 0)
        return record_fail(VITALS_ESYSTEM, file->path, error, "%s, and its last line is cut off",
                           strerror(number));
    return record_fail_errno(number, file->path, error);
}

/* ---- a file that gets more columns ---- */

int text_file_beside(const char *path, unsigned mode, char *out, size_t capacity)
{
    if ((size_t)snprintf(out, capacity, "%s.XXXXXX", path) >= capacity) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int descriptor = mkostemp(out, O_CLOEXEC | O_APPEND);
    if (descriptor < 0 || fchmod(descriptor, mode & 0777) == 0)
        return descriptor;
    int number = errno;
    close(descriptor);
    (void)unlink(out);
    errno = number;
    return -1;
}

/* True if the path still names the open file: it may be a link to it, or another file may have
 * taken its place. */
static bool is_named(const struct text_file *file, struct stat *status)
{
    struct stat named;
    return fstat(file->descriptor, status) == 0 && lstat(file->path, &named) == 0 &&
           S_ISREG(named.st_mode) && named.st_dev == status->st_dev &&
           named.st_ino == status->st_ino;
}

/* Drops the first line, writes another for it, and copies the others with more fields. Returns 0 or
 * an errno. The descriptor stays open. */
static int copy_wider(const struct text_file *file, int descriptor, size_t fields)
{
    int copy = dup(descriptor), number = 0;
    FILE *from = fopen(file->path, "re"), *to = copy >= 0 ? fdopen(copy, "w") : NULL;
    bool failed = from == NULL || to == NULL;
    if (failed) {
        number = errno;
    } else {
        /* A line break may stand in a quoted field of the first line alone: names are made safe
         * before they are written. */
        bool quoted = false;
        for (int byte; (byte = getc_unlocked(from)) != EOF && (byte != '\n' || quoted);)
            quoted = quoted != (byte == '"');
        (void)fwrite(file->line.bytes, 1, file->line.size, to);
        (void)putc('\n', to);
        for (int byte; (byte = getc_unlocked(from)) != EOF;) {
            for (size_t i = 0; i < fields && byte == '\n'; i++)
                (void)putc_unlocked(',', to);
            (void)putc_unlocked(byte, to);
        }
        failed = ferror(from) || ferror(to);
        number = failed ? errno : 0;
    }

    if (from != NULL)
        (void)fclose(from);
    if (to == NULL && copy >= 0)
        close(copy);
    if (to != NULL && fclose(to) != 0 && !failed) {
        failed = true;
        number = errno;
    }
    return !failed ? 0 : number != 0 ? number : EIO;
}

int text_file_widen(struct text_file *file, size_t fields)
{
    char fresh[4096];
    struct stat old, status;
    int descriptor = -1;
    int number = file->line.failed ? ENOMEM : is_named(file, &old) ? 0 : ESTALE;
    if (number == 0)
        descriptor = text_file_beside(file->path, old.st_mode, fresh, sizeof fresh);
    if (number == 0)
        number = descriptor < 0 ? errno : copy_wider(file, descriptor, fields);
    if (number == 0 && !is_named(file, &status))
        number = ESTALE;
    if (number == 0 && (fstat(descriptor, &status) != 0 || rename(fresh, file->path) != 0))
        number = errno;
    buffer_reset(&file->line);

    if (number == 0) {
        close(file->descriptor);
        file->descriptor = descriptor;
        file->size = (uint64_t)status.st_size;
    } else if (descriptor >= 0) {
        close(descriptor);
        (void)unlink(fresh);
    }
    return number;
}

void text_file_close(struct text_file *file)
{
    if (file->descriptor >= 0 && !file->standard)
        close(file->descriptor);
    buffer_done(&file->line);
    *file = (struct text_file){
        .path = file->path, .descriptor = -1, .crlf = file->crlf, .stop = file->stop};
}
