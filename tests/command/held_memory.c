/* held_memory.c: for LD_PRELOAD: whoever opens a command line waits until the pipe that
 * $HELD_MEMORY names is opened for writing, as one waits for a process that holds the lock of its
 * memory. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int openat(int folder, const char *path, int flags, ...)
{
    const char *pipe = getenv("HELD_MEMORY");
    va_list arguments;
    va_start(arguments, flags);
    unsigned mode = va_arg(arguments, unsigned);
    va_end(arguments);
    if (pipe != NULL && strstr(path, "cmdline") != NULL)
        close((int)syscall(SYS_openat, AT_FDCWD, pipe, O_RDONLY | O_CLOEXEC, 0));
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* What a call becomes where the compiler checks it (_FORTIFY_SOURCE). */
int __openat_2(int folder, const char *path, int flags);

int __openat_2(int folder, const char *path, int flags)
{
    return openat(folder, path, flags, 0);
}
