/* clock.c: the machine's clocks, and waiting for a deadline or a descriptor.
 *
 * The clock keeps no state; an event is an eventfd. Thread rule: any thread. */
#include "os/linux/linux.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_clock(clockid_t id)
{
    struct timespec now;
    if (clock_gettime(id, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t monotonic_ns(void *data UNUSED)
{
    return read_clock(CLOCK_MONOTONIC);
}

static uint64_t boottime_ns(void *data UNUSED)
{
    return read_clock(CLOCK_BOOTTIME);
}

static uint64_t realtime_ns(void *data UNUSED)
{
    return read_clock(CLOCK_REALTIME);
}

static int wait_until(void *data UNUSED, int descriptor, uint64_t deadline_ns)
{
    struct pollfd watched = {.fd = descriptor, .events = POLLIN};
    for (;;) {
        uint64_t now = read_clock(CLOCK_MONOTONIC);
        uint64_t left_ns = deadline_ns > now ? deadline_ns - now : 0;
        struct timespec left = {.tv_sec = (time_t)(left_ns / NS_PER_SECOND),
                                .tv_nsec = (long)(left_ns % NS_PER_SECOND)};
        int ready = ppoll(&watched, descriptor < 0 ? 0 : 1,
                          deadline_ns == UINT64_MAX ? NULL : &left, NULL);
        if (ready < 0 && errno != EINTR)
            return -errno;
        if (ready > 0)
            return (watched.revents & POLLNVAL) != 0 ? -EBADF : 1;
        // Interrupted, or woken a little early: the deadline itself does not move.
        if (ready == 0 && read_clock(CLOCK_MONOTONIC) >= deadline_ns)
            return 0;
    }
}

const vitals_clock *os_clock(void)
{
    static const vitals_clock clock = {
        .size = sizeof(clock),
        .monotonic_ns = monotonic_ns,
        .boottime_ns = boottime_ns,
        .realtime_ns = realtime_ns,
        .wait_until = wait_until,
    };
    return &clock;
}

int os_event_new(void)
{
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return event < 0 ? -errno : event;
}

void os_event_set(int event)
{
    // EAGAIN means that it is set 2^64 - 2 times over: set it is.
    ssize_t written = write(event, &(uint64_t){1}, sizeof(uint64_t));
    (void)written;
}

void os_event_clear(int event)
{
    uint64_t count;
    ssize_t taken = read(event, &count, sizeof count);
    (void)taken;
}
