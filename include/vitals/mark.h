/* mark.h: phases of a run, written by the program itself: a header alone, nothing to link.
 *
 *     VITALS_BEGIN("epoch 1");
 *     …
 *     VITALS_END("epoch 1");
 *
 * Where the program was not started by `vitals run` both do nothing. They append one line to the
 * file that VITALS_MARKS names (one write, O_APPEND: threads and processes may write at once), so a
 * script can do the same:
 *
 *     echo "begin epoch 1" >> "$VITALS_MARKS"
 *
 * A line is: begin|end TAB name TAB monotonic nanoseconds TAB pid TAB tid LF; what stands behind
 * the name may be missing, and a space may stand for the first tab: the moment is then that at
 * which the file was last written to, when it is read. Names are of at most 200 bytes; longer ones
 * are cut, and controls in them become spaces. A phase of one thread nests in those that the thread
 * began before; `end` ends the newest of that name of its thread, else of its process, else of all.
 *
 * A mark never harms the program: errno stays, nothing is written but to a plain file, no signal
 * can come of it (SIGPIPE, SIGXFSZ), and a program that runs with rights of others writes none.
 * Any thread; not from a signal handler. Cost: six system calls, some 4 µs. C99 and C++11, with and
 * without extensions (-std=c11). vitals.h does not include it. */
#ifndef VITALS_MARK_H
#define VITALS_MARK_H

#ifndef VITALS_BINDINGS /* nothing here is of the library */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

#define VITALS_BEGIN(name) vitals_mark_write("begin", (name))
#define VITALS_END(name)   vitals_mark_write("end", (name))

#ifdef __cplusplus
extern "C" {
#endif

/* Under -std=c11 the headers of glibc hide what C has not: these are there all the same. */
#if !defined(__USE_MISC) && defined(__GLIBC__)
extern long syscall(long number, ...);
struct vitals_mark_time {
    long tv_sec, tv_nsec;
};
#define VITALS_MARK_FLAGS      (O_WRONLY | O_APPEND | __O_CLOEXEC | O_NOCTTY | __O_NOFOLLOW | O_NONBLOCK)
#define VITALS_MARK_CLOCK(now) syscall(SYS_clock_gettime, 1L /* CLOCK_MONOTONIC */, now)
#else
#define vitals_mark_time       timespec
#define VITALS_MARK_FLAGS      (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
#define VITALS_MARK_CLOCK(now) clock_gettime(CLOCK_MONOTONIC, now)
#endif

/* True if `size` more bytes can be written safely: the file is a regular one and stays below
 * RLIMIT_FSIZE, past which the kernel sends SIGXFSZ. */
static inline int vitals_mark_fits(int file, int size)
{
    struct stat is;
    struct rlimit limit;
    return fstat(file, &is) == 0 && S_ISREG(is.st_mode) && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || (rlim_t)is.st_size + (rlim_t)size <= limit.rlim_cur);
}

static inline void vitals_mark_write(const char *what, const char *name)
{
    enum { NAME_MOST = 200 };
    char line[320], safe[NAME_MOST + 1];
    const char *path = getenv("VITALS_MARKS");
    struct vitals_mark_time now = {0, 0};
    int kept = errno, length = 0;
    if (path == NULL || path[0] != '/' || getauxval(AT_SECURE) != 0)
        return;
    for (; name != NULL && length < NAME_MOST && name[length] != '\0'; length++)
        safe[length] = (unsigned char)name[length] < 0x20 || name[length] == 0x7F ? ' '
                                                                                  : name[length];
    safe[length] = '\0';
    (void)VITALS_MARK_CLOCK(&now);
    int size = snprintf(
        line, sizeof line, "%s\t%s\t%llu\t%ld\t%ld\n", what, length > 0 ? safe : "unnamed",
        (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec,
        (long)getpid(), (long)syscall(SYS_gettid));
    int file = open(path, VITALS_MARK_FLAGS);
    if (file >= 0) {
        if (size > 0 && size < (int)sizeof line && vitals_mark_fits(file, size) &&
            write(file, line, (size_t)size) < 0)
            length = 0; /* a mark must never harm the program */
        (void)close(file);
    }
    errno = kept;
}

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
#endif
