/* attack_preload.c: for LD_PRELOAD: makes chosen calls of vitals, vitals-full and tell fail; other
 * programs, as the job of `vitals run`, are left alone. bench/attack and test_run_faults.py use it.
 *
 * VITALS_ATTACK is "FAMILY FIRST EVERY ERRNO": in each process the FIRST call of the family fails,
 * and each EVERY-th after it (0: none after it). "none 0 0 0" only counts. In the folder that
 * VITALS_ATTACK_FOLDER names, `calls` holds a row for each family, and `crashes` gets the stack of
 * a process that a fault or abort() ends.
 *
 * But for malloc, all wrappers have one signature: seven machine words, and a word is returned.
 * The calling conventions of x86-64 and aarch64 pass integers and pointers so, whatever their
 * number. Names are given by asm labels, because the headers declare other signatures. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAMILIES(X) \
    X(malloc)       \
    X(open)         \
    X(read)         \
    X(write)        \
    X(close)        \
    X(stat)         \
    X(statx)        \
    X(socket)       \
    X(connect)      \
    X(send)         \
    X(recv)         \
    X(poll)         \
    X(mmap)         \
    X(fork)         \
    X(thread)       \
    X(pidfd)        \
    X(readlink)     \
    X(opendir)      \
    X(readdir)      \
    X(epoll)        \
    X(eventfd)      \
    X(timerfd)      \
    X(prctl)        \
    X(socketpair)   \
    X(pipe)         \
    X(signalfd)     \
    X(perf)

#define CONSTANT(name) FAMILY_##name,
enum family { FAMILIES(CONSTANT) FAMILY_COUNT };

#define NAME(name) #name,
static const char *const NAMES[] = {FAMILIES(NAME)};

/* bench/attack reads these as "16sQQ". */
struct row {
    char name[16];
    _Atomic uint64_t calls;  /* the most of one process */
    _Atomic uint64_t failed; /* of all processes */
};

static struct row unshared[FAMILY_COUNT], *rows = unshared;
static _Atomic uint64_t called[FAMILY_COUNT];
static atomic_bool active;
static enum family chosen = FAMILY_COUNT;
static unsigned long long first, every;
static int error, crashes = -1;

/* Counts a call. True if it is to fail; errno is set then. */
static bool fails(enum family family)
{
    if (!active)
        return false;
    uint64_t n = atomic_fetch_add(&called[family], 1) + 1, most = rows[family].calls;
    while (n > most && !atomic_compare_exchange_weak(&rows[family].calls, &most, n))
        continue;
    if (family != chosen || n < first || (n > first && (every == 0 || (n - first) % every != 0)))
        return false;
    atomic_fetch_add(&rows[family].failed, 1);
    errno = error;
    return true;
}

/* ---- malloc ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

void *malloc(size_t size)
{
    return fails(FAMILY_malloc) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(FAMILY_malloc) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails(FAMILY_malloc) ? NULL : __libc_realloc(block, size);
}

/* ---- Calls ---- */

#define WORDS long a, long b, long c, long d, long e, long f, long g
typedef long word_call(WORDS);

static word_call *next(const char *name)
{
    word_call *call;
    *(void **)&call = dlsym(RTLD_NEXT, name);
    return call;
}

#define DECLARE(name)                           \
    long attacked_##name(WORDS) __asm__(#name); \
    long attacked_##name(WORDS)

#define REAL(name)                  \
    static word_call *_Atomic real; \
    if (real == NULL)               \
        real = next(#name);

#define WRAP(family, name, failure)                                          \
    DECLARE(name)                                                            \
    {                                                                        \
        REAL(name)                                                           \
        return fails(FAMILY_##family) ? failure : real(a, b, c, d, e, f, g); \
    }

WRAP(open, open64, -1)
WRAP(open, openat64, -1)
WRAP(open, __open64_2, -1)
WRAP(open, __openat64_2, -1)
WRAP(open, fopen64, 0)
WRAP(read, read, -1)
WRAP(read, __read_chk, -1)
WRAP(read, pread64, -1)
WRAP(read, __pread64_chk, -1)
WRAP(write, pwrite64, -1)
WRAP(stat, stat64, -1)
WRAP(stat, fstat64, -1)
WRAP(stat, fstatat64, -1)
WRAP(socket, socket, -1)
WRAP(connect, connect, -1)
WRAP(send, send, -1)
WRAP(send, sendto, -1)
WRAP(send, sendmsg, -1)
WRAP(recv, recv, -1)
WRAP(recv, recvfrom, -1)
WRAP(recv, recvmsg, -1)
WRAP(recv, recvmmsg, -1)
WRAP(poll, poll, -1)
WRAP(poll, ppoll, -1)
WRAP(poll, __poll_chk, -1)
WRAP(poll, __ppoll_chk, -1)
WRAP(mmap, mmap64, -1)
WRAP(fork, fork, -1)
WRAP(fork, posix_spawn, error)
WRAP(thread, pthread_create, error)
WRAP(readlink, readlink, -1)
WRAP(readlink, readlinkat, -1)
WRAP(readlink, __readlink_chk, -1)
WRAP(readlink, __readlinkat_chk, -1)
WRAP(opendir, opendir, 0)
WRAP(opendir, fdopendir, 0)
WRAP(opendir, scandir64, -1)
WRAP(readdir, readdir64, 0)
WRAP(epoll, epoll_create1, -1)
WRAP(epoll, epoll_ctl, -1)
WRAP(eventfd, eventfd, -1)
WRAP(timerfd, timerfd_create, -1)
WRAP(timerfd, timerfd_settime, -1)
WRAP(prctl, prctl, -1)
WRAP(socketpair, socketpair, -1)
WRAP(pipe, pipe, -1)
WRAP(pipe, pipe2, -1)
WRAP(signalfd, signalfd, -1)

/* Eight bytes are for an eventfd, which takes each number. */
DECLARE(write)
{
    REAL(write)
    return c != sizeof(uint64_t) && fails(FAMILY_write) ? -1 : real(a, b, c, d, e, f, g);
}

/* Linux closes a descriptor also if it reports an error. */
DECLARE(close)
{
    REAL(close)
    long result = real(a, b, c, d, e, f, g);
    return fails(FAMILY_close) ? -1 : result;
}

DECLARE(syscall)
{
    REAL(syscall)
    static const struct {
        long number;
        enum family family;
    } CALLS[] = {{SYS_openat2, FAMILY_open},        {SYS_statx, FAMILY_statx},
                 {SYS_clone, FAMILY_fork},          {SYS_getdents64, FAMILY_readdir},
                 {SYS_pidfd_open, FAMILY_pidfd},    {SYS_pidfd_send_signal, FAMILY_pidfd},
                 {SYS_perf_event_open, FAMILY_perf}};
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++)
        if (CALLS[i].number == a && fails(CALLS[i].family))
            return -1;
    return real(a, b, c, d, e, f, g);
}

/* ---- Begin and crash ---- */

static void on_crash(int number)
{
    void *frames[64];
    const char head[] = {
        'c', 'r', 'a', 's', 'h', ' ', (char)('0' + number / 10), (char)('0' + number % 10), '\n'};
    active = false;
    if (write(crashes, head, sizeof head) == (ssize_t)sizeof head)
        backtrace_symbols_fd(frames, backtrace(frames, 64), crashes);
    raise(number); /* once this handler has returned, with the default action */
}

static bool is_ours(void)
{
    static const char *const OURS[] = {"vitals", "vitals-full", "tell"};
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    path[size < 0 ? 0 : size] = '\0';
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; slash != NULL && i < sizeof OURS / sizeof OURS[0]; i++)
        if (strcmp(slash + 1, OURS[i]) == 0)
            return true;
    return false;
}

static int open_in(const char *folder, const char *name, int flags)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return open(path, flags | O_CREAT | O_CLOEXEC, 0600);
}

__attribute__((constructor)) static void begin(void)
{
    const char *attack = getenv("VITALS_ATTACK"), *folder = getenv("VITALS_ATTACK_FOLDER");
    char family[16] = "";
    if (attack == NULL || folder == NULL || !is_ours() ||
        sscanf(attack, "%15s %llu %llu %d", family, &first, &every, &error) != 4)
        return;
    void *frame;
    (void)backtrace(&frame, 1); /* loads what it needs, which a handler may not do */
    int calls = open_in(folder, "calls", O_RDWR);
    if (calls < 0 || ftruncate(calls, sizeof unshared) != 0)
        return;
    void *shared = mmap(NULL, sizeof unshared, PROT_READ | PROT_WRITE, MAP_SHARED, calls, 0);
    close(calls);
    if (shared != MAP_FAILED)
        rows = shared;
    for (int i = 0; i < FAMILY_COUNT; i++) {
        snprintf(rows[i].name, sizeof rows[i].name, "%s", NAMES[i]);
        if (strcmp(family, NAMES[i]) == 0)
            chosen = (enum family)i;
    }

    /* High, since vitals expects its first descriptors at the lowest numbers. */
    int low = open_in(folder, "crashes", O_WRONLY | O_APPEND);
    crashes = fcntl(low, F_DUPFD_CLOEXEC, 500);
    close(low);
    static const int CRASHES[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    const struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof CRASHES / sizeof CRASHES[0]; i++)
        sigaction(CRASHES[i], &action, NULL);
    active = true;
}
