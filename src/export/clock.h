/* clock.h: the clocks of the machine. Any thread. */
#pragma once

#include <vitals/clock.h>

/* Returns monotonic time. */
static inline uint64_t clock_now_ns(void)
{
    const vitals_clock *clock = vitals_clock_system();
    return clock->monotonic_ns(clock->data);
}

/* Returns time since 1970. */
static inline uint64_t clock_realtime_ns(void)
{
    const vitals_clock *clock = vitals_clock_system();
    return clock->realtime_ns(clock->data);
}
