/* A file of marks on an operating system that runs no commands. See launch.c.
 * Thread rule: as os/marks.h says. */
#include "os/marks.h"

#include <errno.h>

int os_marks_make(struct os_marks *out, const char *runtime_folder)
{
    (void)runtime_folder;
    *out = (struct os_marks){.held = -1};
    return -ENOTSUP;
}

void os_marks_tidy(const struct os_marks *marks)
{
    (void)marks;
}

void os_marks_remove(struct os_marks *marks)
{
    (void)marks;
}

const char **os_marks_environment(const struct os_marks *marks, const char *const *base)
{
    (void)marks;
    (void)base;
    return NULL;
}

void os_marks_environment_free(const char **environment)
{
    (void)environment;
}

int os_marks_open(const struct os_marks *marks, struct os_marks_reader *out)
{
    (void)marks;
    *out = (struct os_marks_reader){.file = -1, .watch = -1};
    return -ENOTSUP;
}

void os_marks_close(struct os_marks_reader *reader)
{
    (void)reader;
}

struct os_marks_reading os_marks_read(struct os_marks_reader *reader, char *out, size_t capacity)
{
    (void)reader;
    (void)out;
    (void)capacity;
    return (struct os_marks_reading){.size = -ENOTSUP};
}

int os_marks_watch(struct os_marks_reader *reader)
{
    (void)reader;
    return -1;
}
