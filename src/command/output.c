/* output.c: buffered writing that reports its first failure once. */
#include "command/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "util/file.h"

struct output *output_begin(int descriptor)
{
    static struct output output; /* 32 KiB, too large for the stack */
    output.descriptor = descriptor;
    output.error = 0;
    output.used = 0;
    return &output;
}

int output_create(const char *path)
{
    if (strcmp(path, "-") == 0)
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

static void write_all(struct output *output, const char *bytes, size_t size)
{
    if (output->error == 0 && !file_write_all(output->descriptor, bytes, size))
        output->error = errno;
}

int output_flush(struct output *output)
{
    write_all(output, output->buffer, output->used);
    output->used = 0;
    return output->error == 0 ? 0 : -1;
}

int output_write(void *data, const char *bytes, size_t size)
{
    struct output *output = data;
    if (size > sizeof output->buffer - output->used && output_flush(output) < 0)
        return -1;
    if (size > sizeof output->buffer) {
        write_all(output, bytes, size);
    } else if (size > 0) {
        memcpy(output->buffer + output->used, bytes, size);
        output->used += size;
    }
    return output->error == 0 ? 0 : -1;
}

void output_text(struct output *output, const char *string)
{
    (void)output_write(output, string, strlen(string));
}

void output_format(struct output *output, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size >= 0) {
        (void)output_write(output, text, (size_t)size);
        free(text);
    } else if (output->error == 0) {
        output->error = ENOMEM;
    }
}

bool output_open(const struct output *output)
{
    return output->error == 0;
}

int output_done(struct output *output, int code)
{
    (void)output_flush(output);
    if (output->error == 0 || output->error == EPIPE)
        return code;
    return command_fail(EXIT_CANNOT, "%s cannot be written: %s",
                        output->descriptor == STDOUT_FILENO ? "standard output" : "the output",
                        strerror(output->error));
}
