#include "fake_clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#define MS UINT64_C(1000000)
#define S  (1000 * MS)

uint64_t real_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * S + (uint64_t)now.tv_nsec;
}

void real_sleep_ns(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / S), .tv_nsec = (long)(ns % S)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

uint64_t fake_clock_now(struct fake_clock *fake)
{
    return atomic_load(&fake->now_ns);
}

void fake_clock_advance(struct fake_clock *fake, uint64_t by_ns)
{
    atomic_fetch_add(&fake->now_ns, by_ns);
}

static uint64_t monotonic_ns(void *data)
{
    return fake_clock_now(data);
}

static uint64_t realtime_ns(void *data)
{
    return fake_clock_now(data) + UINT64_C(1700000000) * S;
}

/* Whether the descriptor can be read, waiting for so many real milliseconds (-1: for ever). */
static bool readable(int descriptor, int milliseconds)
{
    struct pollfd watched = {.fd = descriptor, .events = POLLIN};
    int ready;
    do {
        ready = poll(&watched, descriptor < 0 ? 0 : 1, milliseconds);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

static void jump(struct fake_clock *fake, uint64_t to_ns)
{
    uint_fast64_t now = fake_clock_now(fake);
    while (now < to_ns && !atomic_compare_exchange_weak(&fake->now_ns, &now, to_ns))
        ;
}

static int wait_manually(struct fake_clock *fake, int descriptor, uint64_t deadline_ns)
{
    bool ready = false;
    atomic_store(&fake->awaited_ns, deadline_ns);
    while (!ready && fake_clock_now(fake) < deadline_ns && atomic_load(&fake->manual))
        ready = readable(descriptor, 1);
    atomic_store(&fake->awaited_ns, 0);
    return ready || readable(descriptor, 0);
}

void fake_clock_wait_for_waiter(struct fake_clock *fake)
{
    while (atomic_load(&fake->awaited_ns) <= fake_clock_now(fake))
        real_sleep_ns(MS / 10);
}

static int wait_until(void *data, int descriptor, uint64_t deadline_ns)
{
    struct fake_clock *fake = data;
    if (deadline_ns == UINT64_MAX)
        return readable(descriptor, -1);
    if (atomic_load(&fake->manual))
        return wait_manually(fake, descriptor, deadline_ns);
    uint64_t now = fake_clock_now(fake);
    bool near = deadline_ns > now && deadline_ns - now <= atomic_load(&fake->near_ns) &&
                descriptor >= 0;
    if (descriptor >= 0 && readable(descriptor, near ? (int)(fake->grace_ns / MS) : 0))
        return 1;
    jump(fake, deadline_ns);
    return 0;
}

void fake_clock_init(struct fake_clock *fake)
{
    *fake = (struct fake_clock){.grace_ns = 200 * MS};
    fake->clock = (vitals_clock){.size = sizeof fake->clock,
                                 .data = fake,
                                 .monotonic_ns = monotonic_ns,
                                 .boottime_ns = monotonic_ns,
                                 .realtime_ns = realtime_ns,
                                 .wait_until = wait_until};
    atomic_init(&fake->now_ns, 3600 * S);
    atomic_init(&fake->near_ns, 4 * S);
    atomic_init(&fake->manual, false);
    atomic_init(&fake->awaited_ns, 0);
}

struct fake_clock *fake_clock_new(void)
{
    static struct fake_clock clocks[128];
    static atomic_size_t used;
    size_t at = atomic_fetch_add(&used, 1);
    if (at >= sizeof clocks / sizeof clocks[0])
        abort();
    fake_clock_init(&clocks[at]);
    return &clocks[at];
}
