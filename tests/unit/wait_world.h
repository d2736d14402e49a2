/* wait_world.h: processes that end when they are told to, of our own and of others, and a clock
 * that counts how often it is waited. */
#ifndef TESTS_UNIT_WAIT_WORLD_H
#define TESTS_UNIT_WAIT_WORLD_H

#include "process_world.h"

#include "fake_clock.h"
#include "process/live.h"

#include <sys/utsname.h>
#include <vitals/process.h>

#define SECOND UINT64_C(1000000000)

/* ---- a world whose waits are counted ---- */

struct counted {
    struct world world;
    struct fake_clock fake;
    vitals_clock clock;
    int waits;
    uint64_t last_deadline_ns;
    pid_t victims[4]; /* children that end, one after the other, while it is waited next */
};

static inline uint64_t counted_now(void *data)
{
    struct counted *counted = data;
    return counted->fake.clock.monotonic_ns(&counted->fake);
}

static inline int counted_wait(void *data, int descriptor, uint64_t deadline_ns)
{
    struct counted *counted = data;
    counted->waits++;
    counted->last_deadline_ns = deadline_ns;
    for (size_t i = 0; i < CHECK_COUNT(counted->victims) && counted->victims[i] != 0; i++) {
        siginfo_t info;
        kill(counted->victims[i], i == 0 ? SIGTERM : SIGKILL);
        waitid(P_PID, (id_t)counted->victims[i], &info, WEXITED | WNOWAIT);
        counted->victims[i] = 0;
    }
    return counted->fake.clock.wait_until(&counted->fake, descriptor, deadline_ns);
}

/* A wait with a deadline that is far away is over at once, unless something can be read. */
static inline void counted_open(struct counted *counted)
{
    *counted = (struct counted){0};
    world_open(&counted->world, NULL, 0);
    fake_clock_init(&counted->fake);
    counted->world.context.os.clock = (vitals_clock){.size = sizeof(vitals_clock),
                                                     .data = counted,
                                                     .monotonic_ns = counted_now,
                                                     .boottime_ns = counted_now,
                                                     .realtime_ns = counted_now,
                                                     .wait_until = counted_wait};
}

static inline vitals_process *opened(struct world *world, int64_t pid)
{
    vitals_process *process = NULL;
    vitals_error error;
    CHECK_OK(vitals_process_open(&world->context, pid, &process, &error), error);
    return process;
}

/* ---- children, and children of another ---- */

static inline pid_t child_exits(int code)
{
    pid_t pid = child_fork();
    if (pid == 0)
        _exit(code);
    return pid;
}

static inline void await_zombie(pid_t child)
{
    siginfo_t info;
    CHECK_INT(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

/* A process whose parent is another child of ours. It ends when it reads a byte, with that as its
 * code; 'K' kills it. */
struct stranger {
    pid_t parent, pid;
    int end;    /* to the stranger */
    int order;  /* to its parent: 'z' wait until it is a zombie, 'r' reap it */
    int answer; /* from its parent: its pid, then one byte for each order */
};

static inline void stranger_live(int end)
{
    char byte = 0;
    ssize_t size = read(end, &byte, 1);
    if (byte == 'K')
        raise(SIGKILL);
    _exit(size == 1 ? byte : 99);
}

static inline _Noreturn void parent_live(int end, int order, int answer)
{
    pid_t pid = child_fork();
    if (pid == 0)
        stranger_live(end);
    if (write(answer, &pid, sizeof pid) != sizeof pid)
        _exit(1);
    for (char byte; read(order, &byte, 1) == 1;) {
        siginfo_t info;
        waitid(P_PID, (id_t)pid, &info, byte == 'z' ? WEXITED | WNOWAIT : WEXITED);
        if (write(answer, &byte, 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static inline struct stranger stranger_new(void)
{
    int end[2], order[2], answer[2];
    CHECK(pipe2(end, O_CLOEXEC) == 0 && pipe2(order, O_CLOEXEC) == 0 &&
          pipe2(answer, O_CLOEXEC) == 0);
    pid_t parent = child_fork();
    if (parent == 0) {
        close(order[1]); // so that its end is seen
        parent_live(end[0], order[0], answer[1]);
    }
    close(end[0]);
    close(order[0]);
    close(answer[1]);
    struct stranger stranger = {parent, 0, end[1], order[1], answer[0]};
    CHECK_INT(read(stranger.answer, &stranger.pid, sizeof stranger.pid), sizeof stranger.pid);
    return stranger;
}

static inline void stranger_end(const struct stranger *stranger, char code)
{
    CHECK_INT(write(stranger->end, &code, 1), 1);
}

static inline void stranger_order(const struct stranger *stranger, char order)
{
    CHECK_INT(write(stranger->order, &order, 1), 1);
    CHECK_INT(read(stranger->answer, &order, 1), 1);
}

static inline void stranger_done(const struct stranger *stranger)
{
    kill(stranger->pid, SIGKILL); // not reaped before its parent ends, so still its own
    close(stranger->end);
    close(stranger->order);
    close(stranger->answer);
    child_end(stranger->parent);
}

/* PIDFD_INFO_EXIT, Linux 6.15. */
static inline bool kernel_tells_everybody(void)
{
    struct utsname name;
    int major = 0, minor = 0;
    CHECK_INT(uname(&name), 0);
    CHECK_INT(sscanf(name.release, "%d.%d", &major, &minor), 2);
    return major > 6 || (major == 6 && minor >= 15);
}

/* Code and signal are 9 where nothing is told: untouched. */
#define CHECK_EXIT(process, state_, code_, signal_)                                           \
    do {                                                                                      \
        int got_code_ = 9, got_signal_ = 9;                                                   \
        CHECK_INT(vitals_process_exit_status((process), &got_code_, &got_signal_), (state_)); \
        CHECK_INT(got_code_, (code_));                                                        \
        CHECK_INT(got_signal_, (signal_));                                                    \
        CHECK_INT(vitals_process_exit_status((process), NULL, NULL), (state_));               \
    } while (0)

static inline vitals_wait wait_of(uint64_t timeout_ns, vitals_ended_fn *ended, void *data)
{
    vitals_wait how;
    vitals_wait_init(&how, sizeof how);
    how.timeout_ns = timeout_ns;
    how.ended = ended;
    how.data = data;
    return how;
}

#endif
