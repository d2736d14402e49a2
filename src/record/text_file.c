/* text_file.c: see text_file.h. */
#include "record/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(struct text_file *file, int code, const char *what, vitals_error *error)
{
    text_file_close(file);
    return record_fail(code, file->path, error, "%s", what);
}

int text_file_open(struct text_file *file, const char *path, bool overwrite, vitals_error *error)
{
    struct stat status;
    bool crlf = file->crlf;
    *file = (struct text_file){.descriptor = -1, .crlf = crlf};
    file->standard = path == NULL || strcmp(path, "-") == 0;
    file->path = file->standard ? "standard output" : path;
    file->descriptor = file->standard
                           ? STDOUT_FILENO
                           : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (file->descriptor < 0)
        return record_fail_errno(errno, path, error);
    if (file->standard)
        return 0;
    if (fstat(file->descriptor, &status) != 0)
        return refuse(file, VITALS_ESYSTEM, strerror(errno), error);
    if (S_ISREG(status.st_mode) && status.st_size > 0 && !overwrite)
        return refuse(file, VITALS_EARGUMENT, "is there already and not empty", error);
    if (S_ISREG(status.st_mode) && ftruncate(file->descriptor, 0) != 0)
        return refuse(file, VITALS_ESYSTEM, strerror(errno), error);
    return 0;
}

static bool make_room(struct text_file *file, size_t size)
{
    if (file->capacity - file->used > size)
        return true;
    size_t capacity = (file->used + size + 1) * 2;
    char *line = realloc(file->line, capacity);
    file->failed = file->failed || line == NULL;
    if (line == NULL)
        return false;
    file->line = line;
    file->capacity = capacity;
    return true;
}

static void put_bytes(struct text_file *file, const char *bytes, size_t size)
{
    if (!make_room(file, size))
        return;
    memcpy(file->line + file->used, bytes, size);
    file->used += size;
}

void text_file_put(struct text_file *file, const char *string)
{
    put_bytes(file, string, strlen(string));
}

void text_file_field(struct text_file *file, const char *string, bool quote)
{
    if (!quote && strpbrk(string, ",\"\r\n") == NULL) {
        text_file_put(file, string);
        return;
    }
    put_bytes(file, "\"", 1);
    for (const char *at = string; *at != '\0'; at++) {
        if (*at == '"')
            put_bytes(file, "\"", 1);
        put_bytes(file, at, 1);
    }
    put_bytes(file, "\"", 1);
}

/* 0 or an errno. */
static int write_whole(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

int text_file_end_line(struct text_file *file, vitals_error *error)
{
    text_file_put(file, file->crlf ? "\r\n" : "\n");
    size_t size = file->used;
    file->used = 0;
    if (file->failed) {
        file->failed = false;
        return record_fail(VITALS_EMEMORY, file->path, error, "out of memory");
    }
    int number = write_whole(file->descriptor, file->line, size);
    if (number == 0) {
        file->size += size;
        return 0;
    }
    if (!file->standard && ftruncate(file->descriptor, (off_t)file->size) != 0)
        return record_fail(VITALS_ESYSTEM, file->path, error, "%s, and its last line is cut off",
                           strerror(number));
    return record_fail_errno(number, file->path, error);
}

void text_file_close(struct text_file *file)
{
    if (file->descriptor >= 0 && !file->standard)
        close(file->descriptor);
    free(file->line);
    *file = (struct text_file){.path = file->path, .descriptor = -1, .crlf = file->crlf};
}
