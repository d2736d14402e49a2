/* clock.h: what the machine's clocks say. Any thread. */
#ifndef VITALS_EXPORT_CLOCK_H
#define VITALS_EXPORT_CLOCK_H

#include <vitals/clock.h>

/* Monotonic. */
static inline uint64_t clock_now_ns(void)
{
    const vitals_clock *clock = vitals_clock_system();
    return clock->monotonic_ns(clock->data);
}

/* Since 1970. */
static inline uint64_t clock_realtime_ns(void)
{
    const vitals_clock *clock = vitals_clock_system();
    return clock->realtime_ns(clock->data);
}

#endif
