/* clock.h: the clocks of the machine. Any thread. */
#pragma once

#include <vitals/clock.h>

/* Returns monotonic time. */
static inline uint64_t clock_now_ns(void)
{
    const vitals_clock *clock = vitals_clock_system();
    return clock->monotonic_ns(clock->data);
}

/* Returns the time until a moment of monotonic time; 0 if it is over. */
static inline uint64_t clock_left_ns(uint64_t deadline_ns)
{
    uint64_t now = clock_now_ns();
    return deadline_ns > now ? deadline_ns - now : 0;
}

/* Returns time since 1970. */
static inline uint64_t clock_realtime_ns(void)
{
    const vitals_clock *clock = vitals_clock_system();
    return clock->realtime_ns(clock->data);
}
