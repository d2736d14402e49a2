/* mark.h: phases of a run, told by the program itself: a header alone, nothing to link.
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
 * Any thread; not from a signal handler. Cost: six system calls, some 4 µs. Needs what POSIX.1-2008
 * and BSD declare: -std=gnu11, or _DEFAULT_SOURCE. */
#ifndef VITALS_MARK_H
#define VITALS_MARK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One mark as it was read. */
typedef struct vitals_mark {
    int begins; /* not 0: a phase begins; 0: it ends */
    const char *name;
    uint64_t monotonic_ns;
    int64_t pid, tid; /* 0: not told */
    int told;         /* not 0: the writer gave the time itself */
} vitals_mark;

#ifdef __cplusplus
}
#endif

#ifndef VITALS_BINDINGS

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

#if defined(__USE_MISC) || defined(_BSD_SOURCE) || defined(_GNU_SOURCE)

#define VITALS_BEGIN(name) vitals_mark_write("begin", (name))
#define VITALS_END(name)   vitals_mark_write("end", (name))

#ifdef __cplusplus
extern "C" {
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
    struct timespec now = {0, 0};
    int kept = errno, length = 0;
    if (path == NULL || path[0] != '/' || getauxval(AT_SECURE) != 0)
        return;
    for (; name != NULL && length < NAME_MOST && name[length] != '\0'; length++)
        safe[length] = (unsigned char)name[length] < 0x20 || name[length] == 0x7F ? ' '
                                                                                  : name[length];
    safe[length] = '\0';
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    int size = snprintf(
        line, sizeof line, "%s\t%s\t%llu\t%ld\t%ld\n", what, length > 0 ? safe : "unnamed",
        (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec,
        (long)getpid(), (long)syscall(SYS_gettid));
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
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
#endif

#else /* The functions that the writer needs are not declared; the linker's message says why. */

#define VITALS_BEGIN(name) vitals_mark_needs_std_gnu11_or_DEFAULT_SOURCE(name)
#define VITALS_END(name)   vitals_mark_needs_std_gnu11_or_DEFAULT_SOURCE(name)

#endif
#endif
#endif
